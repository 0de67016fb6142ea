#include "planner/options.h"

#include <algorithm>
#include <limits>

#include "connectors/options.h"
#include "engine/key_group.h"
#include "engine/schema.h"
#include "engine/secrets.h"
#include "engine/value_text.h"
#include "planner/references.h"

namespace rowtide {
namespace {

enum class Kind : uint8_t { kBool, kInt, kNumber, kBytes, kDuration, kZone, kChoice, kText };

struct Key {
  const char* name;
  Kind kind;
  const char* fallback;
  const char* choices = "";  // kChoice: separated by |; kText: what it is, "" for a file
  bool has_effect = true;
  int64_t lowest = std::numeric_limits<int64_t>::min();  // kInt, kNumber, kBytes, kDuration
  int64_t highest = std::numeric_limits<int64_t>::max();
};

// Deeper JSON would not fit on the stack; longer records would not fit into state.
constexpr int64_t kJsonDepthMax = 10000;
constexpr int64_t kRecordBytesMax = int64_t{1} << 30;
constexpr int64_t kCheckpointsMax = 100'000;
constexpr int64_t kIntMax = std::numeric_limits<int32_t>::max();  // of Java

// The one table of keys. Flink's spec pages say what each does; `rowtide.*` are ours.
constexpr Key kKeys[] = {
    {"execution.checkpointing.interval", Kind::kDuration, ""},
    {"execution.checkpointing.mode", Kind::kChoice, "EXACTLY_ONCE", "EXACTLY_ONCE|AT_LEAST_ONCE"},
    {"execution.checkpointing.timeout", Kind::kDuration, "10 min"},
    {"execution.checkpointing.min-pause", Kind::kDuration, "0 ms"},
    {"execution.checkpointing.num-retained", Kind::kInt, "1", "", true, 1, kCheckpointsMax},
    {"execution.checkpointing.tolerable-failed-checkpoints", Kind::kInt, "0"},
    {"execution.checkpointing.dir", Kind::kText, ""},
    {"execution.checkpointing.savepoint-dir", Kind::kText, ""},
    {"execution.checkpointing.externalized-checkpoint-retention", Kind::kChoice,
     "RETAIN_ON_CANCELLATION",
     "NO_EXTERNALIZED_CHECKPOINTS|DELETE_ON_CANCELLATION|RETAIN_ON_CANCELLATION"},
    {"execution.state-recovery.path", Kind::kText, ""},
    {"execution.state-recovery.ignore-unclaimed-state", Kind::kBool, "false"},
    {"execution.state-recovery.claim-mode", Kind::kChoice, "NO_CLAIM", "NO_CLAIM|CLAIM|LEGACY"},
    {"execution.runtime-mode", Kind::kChoice, "STREAMING", "STREAMING|BATCH"},
    {"state.backend.type", Kind::kChoice, "hashmap", "hashmap|rocksdb|forst"},
    {"table.exec.state.ttl", Kind::kDuration, "0 ms"},
    {"table.exec.deduplicate.insert-update-after-sensitive-enabled", Kind::kBool, "true"},
    {"table.exec.rank.topn-cache-size", Kind::kInt, "10000"},
    {"table.exec.mini-batch.enabled", Kind::kBool, "false"},
    {"table.exec.mini-batch.allow-latency", Kind::kDuration, "0 ms"},
    {"table.exec.mini-batch.size", Kind::kInt, "-1"},
    {"table.exec.deduplicate.mini-batch.compact-changes-enabled", Kind::kBool, "false"},
    {"table.optimizer.agg-phase-strategy", Kind::kChoice, "AUTO", "AUTO|ONE_PHASE|TWO_PHASE"},
    {"table.optimizer.distinct-agg.split.enabled", Kind::kBool, "false"},
    {"table.optimizer.non-deterministic-update.strategy", Kind::kChoice, "IGNORE",
     "IGNORE|TRY_RESOLVE"},
    {"table.exec.sink.not-null-enforcer", Kind::kChoice, "ERROR", "ERROR|DROP"},
    {"table.exec.sink.type-length-enforcer", Kind::kChoice, "IGNORE", "IGNORE|TRIM_PAD|ERROR"},
    {"table.exec.sink.upsert-materialize", Kind::kChoice, "AUTO", "AUTO|NONE|FORCE"},
    {"table.exec.sink.keyed-shuffle", Kind::kChoice, "AUTO", "AUTO|NONE|FORCE"},
    {"table.exec.sink.require-on-conflict", Kind::kBool, "true"},
    {"table.exec.source.idle-timeout", Kind::kDuration, "0 ms"},
    {"table.exec.source.cdc-events-duplicate", Kind::kBool, "false"},
    {"table.local-time-zone", Kind::kZone, ""},
    {"table.dml-sync", Kind::kBool, "false"},
    {"parallelism.default", Kind::kInt, "1", "", true, 1, kKeyGroups},
    {"table.exec.resource.default-parallelism", Kind::kInt, "-1", "", true, -1, kKeyGroups},
    {"pipeline.max-parallelism", Kind::kInt, "128"},
    {"pipeline.auto-watermark-interval", Kind::kDuration, "200 ms"},
    {"pipeline.name", Kind::kText, ""},
    {"restart-strategy.type", Kind::kChoice, "exponential-delay",
     "none|disable|off|fixed-delay|fixeddelay|exponential-delay|exponentialdelay|failure-rate|"
     "failurerate"},
    {"restart-strategy.fixed-delay.attempts", Kind::kInt, "1", "", true, 0, kIntMax},
    {"restart-strategy.fixed-delay.delay", Kind::kDuration, "1 s"},
    {"restart-strategy.exponential-delay.initial-backoff", Kind::kDuration, "1 s", "", true, 1},
    {"restart-strategy.exponential-delay.max-backoff", Kind::kDuration, "1 min", "", true, 1},
    {"restart-strategy.exponential-delay.backoff-multiplier", Kind::kNumber, "1.5", "", true, 1,
     1000},
    {"restart-strategy.exponential-delay.reset-backoff-threshold", Kind::kDuration, "1 h", "", true,
     1},
    {"restart-strategy.exponential-delay.jitter-factor", Kind::kNumber, "0.1", "", true, 0, 1},
    {"restart-strategy.exponential-delay.attempts-before-reset-backoff", Kind::kInt, "2147483647",
     "", true, 1, kIntMax},
    {"restart-strategy.failure-rate.max-failures-per-interval", Kind::kInt, "1", "", true, 1,
     kIntMax},
    {"restart-strategy.failure-rate.failure-rate-interval", Kind::kDuration, "1 min"},
    {"restart-strategy.failure-rate.delay", Kind::kDuration, "1 s"},
    {"sql-client.execution.result-mode", Kind::kChoice, "TABLE", "TABLE|CHANGELOG|TABLEAU"},
    {"sql-client.execution.max-table-result.rows", Kind::kInt, "1000000"},
    {"sql-client.display.max-column-width", Kind::kInt, "30"},
    {"sql-client.display.print-time-cost", Kind::kBool, "true"},
    {"table.display.max-column-width", Kind::kInt, "30"},
    {"rowtide.flink-compat", Kind::kBool, "false"},
    {"rowtide.encode.update-pairs", Kind::kBool, "false"},
    {"rowtide.limits.record-bytes", Kind::kBytes, "16mb", "", true, 1, kRecordBytesMax},
    {"rowtide.limits.json-depth", Kind::kInt, "1000", "", true, 1, kJsonDepthMax},
    {"rowtide.disk.reserve", Kind::kBytes, "256mb"},
    {"rowtide.memory.limit", Kind::kBytes, ""},
    {"rowtide.shutdown.timeout", Kind::kDuration, "30 s", "", true, 1},
    {"rowtide.source-threads", Kind::kInt, "0", "", true, 0, 1},
    {"rowtide.sink-threads", Kind::kInt, "0", "", true, 0, 1},
    {"rowtide.stats.conflicts", Kind::kBool, "true"},
};

// Where a key of Flink may start. What is not in the table above has no effect here.
constexpr std::string_view kFlinkPrefixes[] = {"table.",
                                               "execution.",
                                               "pipeline.",
                                               "state.",
                                               "taskmanager.",
                                               "jobmanager.",
                                               "parallelism.",
                                               "restart-strategy",
                                               "sql-client.",
                                               "high-availability",
                                               "rest.",
                                               "metrics.",
                                               "env.",
                                               "akka.",
                                               "pekko.",
                                               "blob.",
                                               "cluster.",
                                               "heartbeat.",
                                               "io.",
                                               "kubernetes.",
                                               "yarn.",
                                               "security.",
                                               "web.",
                                               "scheduler-mode",
                                               "jobstore.",
                                               "fs.",
                                               "s3.",
                                               "classloader.",
                                               "client.",
                                               "$internal.",
                                               "akka",
                                               "resourcemanager.",
                                               "slot.",
                                               "task.",
                                               "historyserver.",
                                               "process.",
                                               "queryable-state."};

// Families of keys with a free last part, the name of a table or view: `rowtide.bad-data.<table>`.
constexpr Key kFamilies[] = {
    {"rowtide.bad-data.", Kind::kChoice, "fail", "fail|skip|dead-letter"},
    {"rowtide.dead-letter.", Kind::kText, "", "a file, or topic:NAME"},
    {"rowtide.csv.header.", Kind::kBool, "false"},
    {"rowtide.compression.", Kind::kChoice, "none", "none|gzip|zstd"},
    {"rowtide.datagen.seed.", Kind::kInt, ""},
    {"rowtide.conflicts.", Kind::kText, ""},
};

const Key* FindKey(std::string_view name) {
  for (const Key& key : kKeys) {
    if (name == key.name) return &key;
  }
  return nullptr;
}

// The family that a key with a last part belongs to, or null.
const Key* FamilyOf(std::string_view name) {
  for (const Key& family : kFamilies) {
    const std::string_view prefix = family.name;
    if (name.starts_with(prefix) && name.size() > prefix.size()) return &family;
  }
  return nullptr;
}

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto fold = [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
    };
    return fold(x) == fold(y);
  });
}

// The choice as the table spells it, or "".
std::string_view MatchChoice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    const size_t bar = choices.find('|');
    const std::string_view choice = choices.substr(0, bar);
    if (SameWord(choice, value)) return choice;
    choices = bar == std::string_view::npos ? "" : choices.substr(bar + 1);
  }
  return "";
}

Status WrongValue(const Key& key, const std::string& value, const char* wanted) {
  return Status::InvalidArgument("the option {} takes {}, not {}", Quote(key.name), wanted,
                                 Quote(value))
      .WithErrorCode("RT2018");
}

bool ParseBytes(std::string_view text, int64_t* bytes) {
  *bytes = SizeOf(text);
  return *bytes > 0;
}

template <typename Number>
Status CheckRange(const Key& key, const std::string& value, Number number) {
  const auto lowest = static_cast<Number>(key.lowest), highest = static_cast<Number>(key.highest);
  if (number >= lowest && number <= highest) return Status::Ok();
  return WrongValue(key, value, fmt::format("{} to {}", key.lowest, key.highest).c_str());
}

Status CheckValue(const Key& key, const std::string& value) {
  int64_t number = 0;
  double fraction = 0;
  switch (key.kind) {
    case Kind::kText: return Status::Ok();
    case Kind::kBool:
      if (!SameWord(value, "true") && !SameWord(value, "false"))
        return WrongValue(key, value, "true or false");
      return Status::Ok();
    case Kind::kInt:
      if (!ParseInt64(value, &number)) return WrongValue(key, value, "an integer");
      return CheckRange(key, value, number);
    case Kind::kNumber:
      if (!ParseDouble(value, &fraction)) return WrongValue(key, value, "a number, such as '1.5'");
      return CheckRange(key, value, fraction);
    case Kind::kBytes:
      if (!ParseBytes(value, &number)) return WrongValue(key, value, "a size, such as '16mb'");
      return CheckRange(key, value, number);
    case Kind::kDuration:
      if (!ParseDurationMillis(value, &number))
        return WrongValue(key, value, "a duration, such as '5 s'");
      if (number < key.lowest) return WrongValue(key, value, "at least '1 ms'");
      return Status::Ok();
    case Kind::kZone:
      if (!ZoneOffsetAtInstant(value, 0, &number))
        return WrongValue(key, value, "a time zone, such as 'UTC'");
      return Status::Ok();
    case Kind::kChoice: {
      if (!MatchChoice(key.choices, value).empty()) return Status::Ok();
      std::string list(key.choices);
      std::replace(list.begin(), list.end(), '|', ' ');
      return WrongValue(key, value, ("one of " + list).c_str());
    }
  }
  RT_CHECK(false);
}

}  // namespace

bool ParseDurationMillis(std::string_view text, int64_t* millis) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  int64_t number = 0;
  if (digits == 0 || !ParseInt64(text.substr(0, digits), &number)) return false;
  std::string unit(text.substr(digits));
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  struct Unit {
    std::string_view names;  // between blanks
    int64_t millis;
  };
  constexpr Unit kUnits[] = {{" d day days ", 86400000},
                             {" h hour hours ", 3600000},
                             {" m min minute minutes ", 60000},
                             {" s sec secs second seconds ", 1000},
                             {" ms milli millis millisecond milliseconds ", 1}};
  if (unit.empty()) {
    *millis = number;
    return true;
  }
  for (const Unit& known : kUnits) {
    if (known.names.find(" " + unit + " ") == std::string_view::npos) continue;
    return !__builtin_mul_overflow(number, known.millis, millis);
  }
  if (unit == "µs" || unit == "us" || unit == "micro" || unit == "micros" ||
      unit == "microsecond" || unit == "microseconds") {
    *millis = number / 1000;
    return true;
  }
  if (unit == "ns" || unit == "nano" || unit == "nanos" || unit == "nanosecond" ||
      unit == "nanoseconds") {
    *millis = number / 1000000;
    return true;
  }
  return false;
}

std::string_view TableOfKey(std::string_view key) {
  const Key* family = FamilyOf(key);
  if (family == nullptr || family->name == std::string_view("rowtide.conflicts.")) return {};
  return key.substr(std::string_view(family->name).size());
}

const std::vector<std::string>& KnownOptionKeys() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Key& key : kKeys) names.emplace_back(key.name);
    return names;
  }();
  return kNames;
}

namespace {

bool IsOfFlink(std::string_view key) {
  return std::any_of(std::begin(kFlinkPrefixes), std::end(kFlinkPrefixes),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

Status NoSuchOption(const std::string& key) {
  std::vector<std::string> names = KnownOptionKeys();
  // A table's name stands where the families leave it open.
  const std::string last = key.substr(std::min(key.rfind('.'), key.size() - 1) + 1);
  for (const Key& family : kFamilies) names.push_back(family.name + last);
  const std::string nearest = Nearest(key, names);
  Status status =
      Status::InvalidArgument("there is no option {}", Quote(key)).WithErrorCode("RT2011");
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

// Whether all but three letters at one place are the same. Flink has some hundred options that mean
// nothing here; most are near to one that does.
bool IsSlipOf(std::string_view key, std::string_view known) {
  const size_t longer = std::max(key.size(), known.size());
  const size_t shorter = std::min(key.size(), known.size());
  const auto begins = static_cast<size_t>(
      std::mismatch(key.begin(), key.begin() + static_cast<ptrdiff_t>(shorter), known.begin())
          .first -
      key.begin());
  size_t ends = 0;
  while (ends < shorter - begins && key[key.size() - 1 - ends] == known[known.size() - 1 - ends])
    ++ends;
  return !known.empty() && begins + ends + 3 >= longer;
}

}  // namespace

// A message quotes the reference, not what it stands for.
Status Options::Set(const std::string& key, const std::string& value, std::string* note) {
  RT_ASSIGN(const std::string resolved, ResolveReferences(value));
  if (IsSecretKey(key)) HideSecretValue(resolved);
  Status set = SetResolved(key, resolved, note);
  if (resolved == value) {
    if (set.ok()) written_.erase(key);
    return set;
  }
  if (set.ok()) {
    written_[key] = value;
    return set;
  }
  Options other;
  std::string ignored;
  const Status quoted = other.SetResolved(key, value, &ignored);
  return quoted.ok() ? set : quoted;
}

std::map<std::string, std::string> Options::Shown() const {
  std::map<std::string, std::string> shown;
  for (const auto& [key, value] : values_) {
    const auto written = written_.find(key);
    shown[key] = ShownValue(key, written == written_.end() ? value : written->second);
  }
  return shown;
}

Status Options::SetResolved(const std::string& key, const std::string& value, std::string* note) {
  const std::string trimmed_key = key;
  if (const Key* known = FindKey(trimmed_key)) {
    RT_TRY(CheckValue(*known, value));
    values_[key] =
        known->kind == Kind::kChoice ? std::string(MatchChoice(known->choices, value)) : value;
    if (key == "state.backend.type" && SameWord(value, "forst") && !noted_[key]) {
      noted_[key] = true;
      *note = "Rowtide has no ForSt: 'state.backend.type' = 'forst' is 'rocksdb'.";
    }
    return Status::Ok();
  }
  if (const Key* family = FamilyOf(key)) {
    Key whole = *family;
    whole.name = key.c_str();
    RT_TRY(CheckValue(whole, value));
    values_[key] =
        whole.kind == Kind::kChoice ? std::string(MatchChoice(whole.choices, value)) : value;
    return Status::Ok();
  }
  if (!IsOfFlink(key)) return NoSuchOption(key);
  values_[key] = value;
  if (!noted_[key]) {
    noted_[key] = true;
    *note = fmt::format("The option {} has no effect in Rowtide.", Quote(key));
    const std::string nearest = Nearest(key, KnownOptionKeys());
    if (IsSlipOf(key, nearest)) *note += fmt::format(" Is {} meant?", Quote(nearest));
  }
  return Status::Ok();
}

void Options::Reset() {
  values_.clear();
  written_.clear();
}

Status Options::Reset(const std::string& key) {
  if (FindKey(key) == nullptr && FamilyOf(key) == nullptr && !IsOfFlink(key))
    return NoSuchOption(key);
  values_.erase(key);
  return Status::Ok();
}

std::string Options::Get(std::string_view key) const {
  if (const auto found = values_.find(std::string(key)); found != values_.end())
    return found->second;
  const Key* known = FindKey(key);
  if (known == nullptr) known = FamilyOf(key);
  return known ? known->fallback : "";
}

bool Options::GetBool(std::string_view key) const { return SameWord(Get(key), "true"); }

int64_t Options::GetInt(std::string_view key) const {
  int64_t value = 0;
  ParseInt64(Get(key), &value);
  return value;
}

double Options::GetNumber(std::string_view key) const {
  double value = 0;
  ParseDouble(Get(key), &value);
  return value;
}

int64_t Options::GetBytes(std::string_view key) const { return SizeOf(Get(key)); }

int64_t Options::GetMillis(std::string_view key) const {
  int64_t millis = 0;
  ParseDurationMillis(Get(key), &millis);
  return millis;
}

std::string Options::local_time_zone() const {
  const std::string zone = Get("table.local-time-zone");
  return zone.empty() ? "UTC" : zone;
}

namespace {

struct KeyText {
  std::string_view key;
  const char* text;
};
constexpr KeyText kTexts[] = {
    {"execution.runtime-mode",
     "batch: the final rows alone, when the input has ended; any ORDER BY, any sink"},
    {"table.local-time-zone", "of TIMESTAMP_LTZ and of the current time"},
    {"table.exec.state.ttl", "how long the state of a key is kept after it last changed"},
    {"execution.checkpointing.dir",
     "the folder that keeps the state of INSERT jobs, as --state: they go on from it"},
    {"execution.checkpointing.interval",
     "how often, in a job that has a state folder; 10 s where nothing is said"},
    {"execution.checkpointing.min-pause", "no checkpoint begins sooner after the one before"},
    {"execution.checkpointing.timeout", "one that takes longer is given up"},
    {"execution.checkpointing.num-retained", "how many stay; two at least"},
    {"execution.checkpointing.tolerable-failed-checkpoints",
     "so many may fail in a row before the job does"},
    {"execution.checkpointing.externalized-checkpoint-retention",
     "what SIGINT, SIGTERM and `rowtide stop` leave of a job: its checkpoints, or with the other "
     "two "
     "nothing, so that it begins anew; a job that fails keeps them"},
    {"restart-strategy.type",
     "whether a job with a state folder that fails for a reason which may pass (disk, network) "
     "goes on from its newest checkpoint by itself"},
    {"restart-strategy.exponential-delay.initial-backoff", "… after so long"},
    {"restart-strategy.exponential-delay.max-backoff", "… and at most so long"},
    {"restart-strategy.exponential-delay.backoff-multiplier", "… and so much longer each time"},
    {"restart-strategy.exponential-delay.jitter-factor", "… give or take such a share"},
    {"restart-strategy.exponential-delay.reset-backoff-threshold",
     "what has run for so long begins with the first delay again"},
    {"restart-strategy.exponential-delay.attempts-before-reset-backoff",
     "so many in a row, then the job fails"},
    {"restart-strategy.fixed-delay.attempts", "so many in all, then the job fails"},
    {"restart-strategy.fixed-delay.delay", "… each after so long"},
    {"restart-strategy.failure-rate.max-failures-per-interval", "more of them fail the job"},
    {"restart-strategy.failure-rate.failure-rate-interval", "… within so long"},
    {"restart-strategy.failure-rate.delay", "… each after so long"},
    {"execution.checkpointing.savepoint-dir",
     "where `rowtide savepoint` writes to when it is told no place; beside the checkpoints without "
     "it"},
    {"execution.state-recovery.path",
     "a savepoint to go on from where nothing is kept, as --restore"},
    {"execution.state-recovery.ignore-unclaimed-state",
     "state that the query has no place for is dropped"},
    {"state.backend.type",
     "where the state of a job with a state folder lies: RocksDB, which is the default there, or "
     "memory"},
    {"rowtide.memory.limit",
     "what state in RocksDB may take of memory in all lanes together, caches and buffers included; "
     "half of the machine where nothing is said"},
    {"rowtide.disk.reserve",
     "with less room on the disk of the state folder no input is taken until there is more"},
    {"table.exec.mini-batch.enabled", "rows are gathered by key before they are worked on"},
    {"table.exec.mini-batch.allow-latency", "… for at most so long"},
    {"table.exec.mini-batch.size", "… and at most so many"},
    {"table.exec.deduplicate.insert-update-after-sensitive-enabled",
     "whether +I and +U differ for who reads the result of a deduplication"},
    {"table.exec.deduplicate.mini-batch.compact-changes-enabled",
     "one change a key and mini-batch"},
    {"table.optimizer.agg-phase-strategy", "GROUP BY in one phase or in two, with mini-batch"},
    {"table.exec.sink.not-null-enforcer",
     "a NULL for a NOT NULL column: the job fails, or the row is dropped"},
    {"table.exec.sink.type-length-enforcer", "CHAR(n) and VARCHAR(n) of a sink"},
    {"table.exec.sink.upsert-materialize", "whether a sink keeps the rows that meet under its key"},
    {"table.exec.sink.require-on-conflict", "whether such a sink needs ON CONFLICT in the INSERT"},
    {"table.exec.source.cdc-events-duplicate", "sources with updates may repeat them"},
    {"table.display.max-column-width", "of texts in tables on a terminal"},
    {"parallelism.default",
     "lanes that a job runs on, a thread each; changes of one key come in the same order"},
    {"table.exec.resource.default-parallelism", "the same, and it goes before parallelism.default"},
    {"rowtide.flink-compat", "Flink's rows also where they are known to be wrong"},
    {"rowtide.encode.update-pairs",
     "debezium-json writes both halves of an update as one message with \"op\": \"u\""},
    {"rowtide.limits.record-bytes",
     "no record of a file may be longer; a longer one is a bad record"},
    {"rowtide.limits.json-depth", "how deep JSON may be nested"},
    {"rowtide.source-threads",
     "1: each source reads and decodes on a thread of its own; the rows stay the same"},
    {"rowtide.sink-threads",
     "1: each table that is written is encoded and written on a thread of its own"},
    {"rowtide.shutdown.timeout",
     "how long a job that was asked to stop may take to write what it has; then it leaves"},
    {"rowtide.stats.conflicts", "whether --stats tells resends from rows that differ"},
    {"rowtide.bad-data.",
     "what becomes of records that do not decode; only the columns that a query reads are decoded"},
    {"rowtide.dead-letter.",
     "the file that they are appended to, as JSON lines, or topic:NAME, of the cluster that the "
     "table is read from; `rowtide requeue` puts records of topics back"},
    {"rowtide.csv.header.", "the first line of each file has the names of the columns"},
    {"rowtide.compression.", "of the files that a sink writes"},
    {"rowtide.datagen.seed.", "the same rows in every run"},
    {"rowtide.conflicts.",
     "a file for samples of rows of one key that differ; of a view that deduplicates, or the table "
     "it is written to"},
};

std::string ValuesOf(const Key& key) {
  switch (key.kind) {
    case Kind::kBool: return "true, false";
    case Kind::kInt:
    case Kind::kNumber: return "a number";
    case Kind::kBytes: return "a size, as 16mb";
    case Kind::kDuration: return "a duration, as 5 s";
    case Kind::kZone: return "a zone, as Europe/Vienna";
    case Kind::kText: return key.choices[0] != '\0' ? key.choices : "a file";
    case Kind::kChoice: break;
  }
  std::string values;
  for (const char c : std::string_view(key.choices)) {
    if (c == '|')
      values += ", ";
    else
      values.push_back(c);
  }
  return values;
}

}  // namespace

std::vector<OptionHelp> OptionHelps() {
  std::vector<OptionHelp> helps;
  for (const KeyText& text : kTexts) {
    const Key* key = FindKey(text.key);
    std::string name(text.key);
    if (key == nullptr) {
      for (const Key& family : kFamilies) {
        if (text.key == family.name) key = &family;
      }
      name += text.key == "rowtide.conflicts." ? "<view>" : "<table>";
    }
    helps.push_back({name, ValuesOf(*key), key->fallback, text.text});
  }
  return helps;
}

}  // namespace rowtide
