#include "cli/script/unit_run.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <set>

#include "cli/script/state_below.h"
#include "engine/runtime/job.h"
#include "engine/value_text.h"
#include "planner/exec/build_job.h"
#include "planner/sql/parser.h"

namespace rowtide {

namespace {

namespace fs = std::filesystem;

constexpr int kLongestCut = 7;
// A source that makes rows by the clock has some within a millisecond or so; none after these waits
// means that the script's tables wait for each other.
constexpr int kWaitsMax = 2000;
constexpr int kWaitsAtOnce = 100;
constexpr useconds_t kWaitMicros = 1000;
// A restore takes as long as there is state: of longer input, so many of them suffice.
constexpr size_t kRowsAllRestored = 256;
constexpr const char* kQueryTable = "";  // the name under which a query's rows are collected

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = text->find(from); at != std::string::npos;
       at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

// Rows of a query, as of a collect table.
class QueryRows final : public Sink {
 public:
  QueryRows(Schema schema, std::vector<CollectedRow>* rows)
      : schema_(std::move(schema)), rows_(rows) {}
  Status Write(const RowBatch& batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      std::string text;
      AppendScriptRow(batch, row, schema_, &text);
      rows_->push_back({batch.kind(row), text.substr(3)});
    }
    return Status::Ok();
  }

 private:
  Schema schema_;
  std::vector<CollectedRow>* rows_;
};

// One way to run a job over the script's rows.
struct Way {
  std::string name;
  uint64_t seed = 0;
  bool cuts = false;
  bool restores = false;
  bool defers_watermarks = false;
  bool threads = false;                          // sources are read on threads of their own
  ExpectKind compares = ExpectKind::kChangelog;  // with the plain way
  StateBelow::Kind below = StateBelow::Kind::kNone;
  int lanes = 1;
  bool lane_threads = false;     // else the lanes take turns, row by row
  bool rescales = false;         // restores bring another number of lanes, at random rows
  bool restores_rarely = false;  // twice or so in a script
  // Restores at one row of so many, at random.
  unsigned restores_one_of = 1;
};

class JobRun {
 public:
  JobRun(const PlannedJob& planned, const std::vector<ScriptEvent>& input, const Way& way,
         const Clock& clock)
      : planned_(planned),
        feed_(input),
        way_(way),
        clock_(clock),
        random_(way.seed),
        below_(way.below),
        lanes_(way.lanes) {
    feed_.SetCuts([this] { return NextRowsMax(); });
  }

  Status Run() {
    RT_ASSIGN(std::unique_ptr<Job> job, Build());
    if (way_.lane_threads) return job->RunToEnd().status();
    int64_t rows_seen = 0;
    int waits = 0;
    while (true) {
      RT_ASSIGN(const SourceState state, job->Step());
      RT_TRY(below_.Work());
      if (state == SourceState::kEnd) break;
      waits = state == SourceState::kWait ? waits + 1 : 0;
      if (waits > kWaitsAtOnce) usleep(kWaitMicros);
      if (waits > kWaitsMax) return Status::Internal("every source waits for another one");
      if (!way_.restores || job->rows_read() == rows_seen) continue;
      rows_seen = job->rows_read();
      if (RestoresNow()) RT_TRY(Rebuild(&job));
    }
    return job->Finish();
  }

  // Of a job that ran with something below.
  bool has_state() const { return has_state_; }

  CollectedRows& collected() { return collected_; }

 private:
  int NextRowsMax() {
    if (!way_.cuts) return 1;
    return std::uniform_int_distribution<int>(1, kLongestCut)(random_);
  }

  bool RestoresNow() {
    if (way_.restores_rarely) return random_() % (feed_.events().size() / 2 + 1) == 0;
    return random_() % (way_.rescales ? 4 * way_.restores_one_of : way_.restores_one_of) == 0;
  }

  Result<std::unique_ptr<Job>> Build() {
    feed_.Reset();
    BuildContext context;
    RT_TRY(below_.Open(lanes_));
    context.tiers = below_.tiers();
    context.connectors.clock = &clock_;
    context.connectors.feed = &feed_;
    context.connectors.collected = &collected_;
    context.connectors.error = notes_.get();
    context.defers_watermarks = way_.defers_watermarks;
    context.on_threads = way_.threads;
    context.lanes = lanes_;
    if (planned_.is_query) {
      context.result = std::make_unique<QueryRows>(planned_.schema, &collected_.of(kQueryTable));
    }
    RT_ASSIGN(std::vector<JobGraph> graphs, BuildJob(planned_, std::move(context)));
    has_state_ = below_.has_states();
    RT_TRY(below_.TakeIn(
        [&](int lane, uint32_t table) { return KeyGroupsOfTable(graphs, lane, table); }));
    return std::make_unique<Job>(std::move(graphs));
  }

  Status Rebuild(std::unique_ptr<Job>* job) {
    RT_ASSIGN(const Checkpoint kept, (*job)->Snapshot());
    RT_TRY(below_.Keep());
    const std::vector<NodeStats> before = (*job)->Stats();
    job->reset();
    below_.Close();
    if (way_.rescales) lanes_ = lanes_ % 3 + 1;  // 2, 3, 1
    RT_ASSIGN(*job, Build());
    RT_TRY((*job)->Restore(kept));
    const std::vector<NodeStats> after = (*job)->Stats();
    if (way_.below != StateBelow::Kind::kNone) return Status::Ok();  // nothing is in memory
    if (way_.rescales) return CompareEntries(before, after);
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i].state_entries == after[i].state_entries) continue;
      return Status::Internal("{} has {} state entries after a restore, {} before", before[i].name,
                              after[i].state_entries, before[i].state_entries);
    }
    return Status::Ok();
  }

  // Other lanes, other nodes: only the sum is the same.
  static Status CompareEntries(const std::vector<NodeStats>& before,
                               const std::vector<NodeStats>& after) {
    const auto sum = [](const std::vector<NodeStats>& nodes) {
      return std::accumulate(
          nodes.begin(), nodes.end(), int64_t{0},
          [](int64_t entries, const NodeStats& node) { return entries + node.state_entries; });
    };
    if (sum(before) == sum(after)) return Status::Ok();
    return Status::Internal("{} state entries after a restore with other lanes, {} before",
                            sum(after), sum(before));
  }

  const PlannedJob& planned_;
  RowsFeed feed_;
  CollectedRows collected_;
  const Way& way_;
  const Clock& clock_;
  std::mt19937_64 random_;
  StateBelow below_;
  bool has_state_ = false;
  int lanes_;
  // What sinks say to a person is no part of an answer.
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, CloseFile> notes_{std::fopen("/dev/null", "w")};
};

bool IsUpsert(const ChangelogMode& mode) { return !mode.update_before; }

// Positions, in the sink's schema, of the key of an upsert collect table; empty for others.
std::vector<int> UpsertKeyOf(const CatalogTable& table) {
  if (!table.sink || !table.sink->mode || !IsUpsert(*table.sink->mode)) return {};
  std::vector<int> key;
  const Schema schema = table.SinkSchema();
  for (const int column : table.primary_key) {
    key.push_back(schema.Find(table.columns[static_cast<size_t>(column)].name));
  }
  return key;
}

class UnitRunner {
 public:
  UnitRunner(const ScriptBlock& unit, const std::vector<ScriptEvent>& input,
             const ScriptPlace& place, const WaysOptions& ways, Session& session)
      : unit_(unit), input_(input), place_(place), ways_(ways), session_(session) {}

  UnitRun Run() {
    const Status status = unit_.kind == BlockKind::kExplain ? ExplainUnit() : ExecuteUnit();
    if (!status.ok()) run_.answer.failure = status;
    return std::move(run_);
  }

 private:
  Status ExplainUnit() {
    const std::string sql = place_.Expand(unit_.text());
    RT_ASSIGN(const std::vector<ast::Statement> statements, ParseScript(sql));
    if (statements.size() != 1) return Status::InvalidArgument("explain takes one statement");
    RT_ASSIGN(const ExplainText explained, session_.Explain(statements[0]));
    run_.answer.lines[ExpectKind::kPlan] = SplitLines(place_.Contract(explained.text));
    return Status::Ok();
  }

  Status ExecuteUnit() {
    const std::set<fs::path> before = FilesOf(place_.scratch);
    const std::string sql = place_.Expand(unit_.text());
    ScriptParser parser(sql);
    while (true) {
      RT_ASSIGN(const std::optional<ast::Statement> statement, parser.NextStatement());
      if (!statement) break;
      RT_ASSIGN(const Outcome outcome, session_.Execute(*statement));
      const auto* job = std::get_if<PlannedJob>(&outcome);
      if (!job) continue;
      RT_TRY(RunAllWays(*job));
      if (!ways_.plain_only && job->is_query) RT_TRY(RunInBatchMode(*statement));
    }
    AddChangelog(sinks_, &run_.answer);
    for (std::string& line : run_.answer.lines[ExpectKind::kChangelog])
      line = place_.Contract(line);
    for (std::string& line : run_.answer.lines[ExpectKind::kTable]) line = place_.Contract(line);
    run_.answer.lines[ExpectKind::kFiles] = NewLines(before);
    return Status::Ok();
  }

  // Files are written once: a second way would write them again.
  Status RunAllWays(const PlannedJob& planned) {
    const Way plain{"plain"};
    std::vector<SinkChangelog> answer;
    const Status status = RunWay(planned, plain, &answer);
    if (!ways_.plain_only && !planned.writes_files()) {
      for (const Way& way : OtherWays(planned)) {
        const bool repeats = way.below != StateBelow::Kind::kNone && way.lanes > 1;
        if ((repeats || way.below == StateBelow::Kind::kRocksDb) && !has_state_) continue;
        CompareWay(planned, way, status, answer);
      }
    }
    std::move(answer.begin(), answer.end(), std::back_inserter(sinks_));
    return status;
  }

  // What the changelog folds to is what batch mode gives.
  Status RunInBatchMode(const ast::Statement& query) {
    RT_TRY(ExecuteSql("SET 'execution.runtime-mode' = 'batch'", session_));
    const Result<Outcome> outcome = session_.Execute(query);
    RT_TRY(ExecuteSql("RESET 'execution.runtime-mode'", session_));
    if (!outcome.ok()) return outcome.status();
    Way batch{"batch mode, restored", 0, false, true, false, false, ExpectKind::kTable};
    batch.restores_one_of = RestoresOneOf();
    CompareWay(std::get<PlannedJob>(*outcome), batch, Status::Ok(), {sinks_.back()});
    return Status::Ok();
  }

  std::vector<Way> OtherWays(const PlannedJob& planned) const {
    std::vector<Way> ways;
    std::mt19937_64 seeds(ways_.seed * 1000003 + static_cast<uint64_t>(unit_.line));
    for (int i = 0; i < ways_.cuts; ++i) ways.push_back({"cuts", seeds(), true});
    ways.push_back({"restored", 0, false, true});
    Way below{"state below, restored", 0, false, true};
    below.below = StateBelow::Kind::kMap;
    ways.push_back(below);
    below = {"state in RocksDB, restored now and then", seeds(), true, true};
    below.below = StateBelow::Kind::kRocksDb;
    below.restores_rarely = !ways_.rocksdb_at_every_row;
    ways.push_back(below);
    ways.push_back({"read on a thread of its own", seeds(), true, false, false, true});
    ways.push_back({"… and restored", seeds(), true, true, false, true});
    AddLaneWays(planned, &ways, seeds());
    if (!ReadsWatermarks(planned.plan))
      ways.push_back({"deferred watermarks", seeds(), true, false, true});
    for (Way& way : ways) way.restores_one_of = RestoresOneOf();
    return ways;
  }

  unsigned RestoresOneOf() const {
    if (ways_.rocksdb_at_every_row) return 1;
    return 1 + static_cast<unsigned>(input_.size() / kRowsAllRestored);
  }

  // Bundles hold the rows of a lane, and of two keyed nodes the second one meets rows of several
  // keys of the first in any order: only what all changes come to is the same.
  void AddLaneWays(const PlannedJob& planned, std::vector<Way>* ways, uint64_t seed) const {
    Way way{"2 lanes"};
    way.lanes = 2;
    const bool is_nested =
        std::any_of(planned.plan.roots.begin(), planned.plan.roots.end(),
                    [](const ExecPointer& root) { return ExchangesAbove(*root) > 1; });
    if (is_nested || planned.options.GetBool("table.exec.mini-batch.enabled"))
      way.compares = ExpectKind::kTable;
    ways->push_back(way);
    Way restored = way;
    restored.restores = true;
    for (const auto below :
         {StateBelow::Kind::kNone, StateBelow::Kind::kMap, StateBelow::Kind::kRocksDb}) {
      if (below == StateBelow::Kind::kRocksDb && !ways_.rocksdb_at_every_row) continue;
      restored.below = below;
      restored.name = "2 lanes" + Below(below) + ", restored";
      ways->push_back(restored);
    }
    Way rescaled = restored;
    rescaled.rescales = true;
    for (const auto below :
         {StateBelow::Kind::kNone, StateBelow::Kind::kMap, StateBelow::Kind::kRocksDb}) {
      rescaled.below = below;
      rescaled.restores_rarely = below == StateBelow::Kind::kRocksDb && !ways_.rocksdb_at_every_row;
      rescaled.name = "rescaled 2 -> 3 -> 1" + Below(below);
      rescaled.seed = ++seed;
      ways->push_back(rescaled);
    }
    // What passes whom between two tables, and who comes first under a sink's key, is a matter of
    // luck.
    if (SourcesOf(planned) > 1 || RowsMeetInASink(planned)) return;
    way.name = "2 lanes on threads";
    way.seed = ++seed;
    way.cuts = way.lane_threads = true;
    ways->push_back(way);
  }

  static std::string Below(StateBelow::Kind kind) {
    if (kind == StateBelow::Kind::kNone) return "";
    return kind == StateBelow::Kind::kMap ? ", state below" : ", state in RocksDB";
  }

  // On the way of a row that meets most.
  static int ExchangesAbove(const ExecNode& node) {
    int most = 0;
    for (const ExecPointer& input : node.inputs) most = std::max(most, ExchangesAbove(*input));
    const auto* sink = node.as<PhysicalSink>();
    return most + (node.as<PhysicalExchange>() || (sink && sink->upsert_materialize) ? 1 : 0);
  }

  // Rows of several keys of the query under one of the sink.
  static bool RowsMeetInASink(const PlannedJob& planned) {
    return std::any_of(planned.plan.roots.begin(), planned.plan.roots.end(),
                       [](const ExecPointer& root) {
                         const auto* sink = root->as<PhysicalSink>();
                         return sink && sink->upsert_materialize;
                       });
  }

  static size_t SourcesOf(const PlannedJob& planned) {
    std::set<const ExecNode*> sources;
    const std::function<void(const ExecNode&)> visit = [&](const ExecNode& node) {
      if (node.inputs.empty()) sources.insert(&node);
      for (const ExecPointer& input : node.inputs) visit(*input);
    };
    for (const ExecPointer& root : planned.plan.roots) visit(*root);
    return sources.size();
  }

  void CompareWay(const PlannedJob& planned, const Way& way, const Status& want,
                  std::vector<SinkChangelog> rows) {
    if (run_.ways_differ) return;
    std::vector<SinkChangelog> got;
    const Status status = RunWay(planned, way, &got);
    if (way.lanes > 1) {
      for (SinkChangelog& sink : rows) GroupByKey(&sink);
      for (SinkChangelog& sink : got) GroupByKey(&sink);
    }
    UnitAnswer expected;
    UnitAnswer answer;
    if (!want.ok()) expected.failure = want;
    if (!status.ok()) answer.failure = status;
    if (want.ok() && status.ok()) {
      AddChangelog(rows, &expected);
      AddChangelog(got, &answer);
    } else if (want.kind() == status.kind()) {
      return;
    }
    Expectation lines;
    lines.kind = way.compares;
    lines.lines = expected.Lines(way.compares);
    const std::optional<std::string> difference = Compare(lines, answer, {});
    if (!difference) return;
    run_.ways_differ = fmt::format("    way: {}, seed {}; the plain way gives what is wanted\n{}",
                                   way.name, way.seed, *difference);
  }

  Status RunWay(const PlannedJob& planned, const Way& way, std::vector<SinkChangelog>* sinks) {
    JobRun run(planned, input_, way, clock_);
    const Status status = run.Run();
    if (way.below == StateBelow::Kind::kMap) has_state_ = run.has_state();
    for (const auto& [table, rows] : run.collected().all()) {
      SinkChangelog sink{table, rows, {}};
      for (const ExecPointer& root : planned.plan.roots) {
        const auto* written = root->as<PhysicalSink>();
        if (written && written->table->path.ToString() == table)
          sink.upsert_key = UpsertKeyOf(*written->table);
      }
      sinks->push_back(std::move(sink));
    }
    return status;
  }

  // --- files ---
  static std::set<fs::path> FilesOf(const fs::path& folder) {
    std::set<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.insert(entry.path());
    }
    return files;
  }

  std::vector<std::string> NewLines(const std::set<fs::path>& before) const;

  const ScriptBlock& unit_;
  const std::vector<ScriptEvent>& input_;
  const ScriptPlace& place_;
  const WaysOptions& ways_;
  Session& session_;
  SystemClock clock_;
  std::vector<SinkChangelog> sinks_;
  bool has_state_ = false;  // of the job that ran last with something below
  UnitRun run_;
};

bool IsUtf8(std::string_view bytes) {
  size_t left = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (left > 0) {
      if ((byte & 0xc0) != 0x80) return false;
      --left;
    } else if (byte >= 0x80) {
      if (byte < 0xc2 || byte > 0xf4) return false;
      left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    }
  }
  return left == 0;
}

// Control characters and bytes that are no UTF-8 as \xNN.
std::string Visible(std::string_view bytes) {
  const bool utf8 = IsUtf8(bytes);
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (!utf8 && byte > 0x7f)) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text.push_back(c);
    }
  }
  return text;
}

// `part-UUID-task-number` to `part-*`.
std::string ShortName(const std::string& name) {
  const size_t part = name.rfind("part-");
  const bool begins_name = part == 0 || (part != std::string::npos && name[part - 1] == '/');
  return begins_name ? name.substr(0, part) + "part-*" : name;
}

std::vector<std::string> UnitRunner::NewLines(const std::set<fs::path>& before) const {
  std::vector<std::string> lines;
  for (const fs::path& file : FilesOf(place_.scratch)) {
    if (before.contains(file)) continue;
    const std::string name = ShortName(file.lexically_relative(place_.scratch).string());
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (bytes.empty()) lines.push_back(name + " is empty");
    const bool ends_line = bytes.ends_with('\n');
    std::vector<std::string> parts = SplitLines(bytes);
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool unfinished = !ends_line && i + 1 == parts.size();
      lines.push_back(fmt::format("{}: {}{}", name, Visible(place_.Contract(parts[i])),
                                  unfinished ? " (no newline)" : ""));
    }
  }
  std::sort(lines.begin(), lines.end(), Utf16Less);
  return lines;
}

}  // namespace

std::string ScriptPlace::Expand(std::string text) const {
  ReplaceAll(&text, "${DIR}", folder.string());
  ReplaceAll(&text, "${TMP}", scratch.string());
  return text;
}

std::string ScriptPlace::Contract(std::string text) const {
  ReplaceAll(&text, scratch.string(), "${TMP}");
  ReplaceAll(&text, folder.string(), "${DIR}");
  return text;
}

UnitRun RunUnit(const ScriptBlock& unit, const std::vector<ScriptEvent>& input,
                const ScriptPlace& place, const WaysOptions& ways, Session& session) {
  return UnitRunner(unit, input, place, ways, session).Run();
}

Status ExecuteSql(const std::string& sql, Session& session) {
  ScriptParser parser(sql);
  while (true) {
    RT_ASSIGN(const std::optional<ast::Statement> statement, parser.NextStatement());
    if (!statement) return Status::Ok();
    RT_ASSIGN(const Outcome outcome, session.Execute(*statement));
    if (std::holds_alternative<PlannedJob>(outcome)) {
      return Status::Validate(statement->position, "an sql block runs no jobs");
    }
  }
}

}  // namespace rowtide
