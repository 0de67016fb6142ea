#include "connectors/registry.h"

#include "connectors/blackhole.h"
#include "connectors/checksum.h"
#include "connectors/collect.h"
#include "connectors/datagen.h"
#include "connectors/datagen_fields.h"
#include "connectors/files/read.h"
#include "connectors/files/write.h"
#include "connectors/formats/formats.h"
#include "connectors/kafka/metadata_columns.h"
#include "connectors/kafka/option_names.h"
#include "connectors/kafka/options.h"
#include "connectors/kafka/sink.h"
#include "connectors/kafka/source.h"
#include "connectors/nexmark/source.h"
#include "connectors/options.h"
#include "connectors/print.h"
#include "connectors/rows.h"
#include "engine/secrets.h"

namespace rowtide {
namespace {

using SourceMaker = Result<std::unique_ptr<Source>> (*)(const TableSpec&, const ScanSpec&,
                                                        const ConnectorContext&);
using SinkMaker = Result<std::unique_ptr<Sink>> (*)(const TableSpec&, const ConnectorContext&);

// Options that every source understands.
constexpr OptionSpec kEmitStrategy = {"scan.watermark.emit.strategy", OptionKind::kText, false,
                                      "on-periodic|on-event"};
constexpr OptionSpec kIdleTimeout = {"scan.watermark.idle-timeout", OptionKind::kDuration};
constexpr OptionSpec kSinkParallelism = {"sink.parallelism", OptionKind::kNumber};

constexpr OptionSpec kFileOptions[] = {
    {"path", OptionKind::kText, true},
    {"format", OptionKind::kText, true},
    {"source.path.regex-pattern"},
    {"source.monitor-interval", OptionKind::kDuration},
    {"scan.parallelism", OptionKind::kNumber},
    {"sink.rolling-policy.file-size", OptionKind::kBytes},
    {"sink.rolling-policy.rollover-interval", OptionKind::kDuration},
    {"sink.rolling-policy.inactivity-interval", OptionKind::kDuration},
    {"sink.rolling-policy.check-interval", OptionKind::kDuration},
    kEmitStrategy,
    kIdleTimeout,
    kSinkParallelism,
};
constexpr OptionSpec kPrintOptions[] = {
    {"print-identifier"}, {"standard-error", OptionKind::kBool}, kSinkParallelism};
constexpr OptionSpec kBlackholeOptions[] = {{"property-version", OptionKind::kNumber}};
constexpr OptionSpec kChangelogOptions[] = {{"changelog-mode"}};
constexpr OptionSpec kRowsOptions[] = {{"changelog-mode"}, kEmitStrategy, kIdleTimeout};

constexpr OptionSpec kNexmarkOptions[] = {
    {"nexmark.kind", OptionKind::kText, true, "bid|auction|person"},
    {"nexmark.seed", OptionKind::kNumber},
    {"nexmark.first-event", OptionKind::kNumber},
    {"events.num", OptionKind::kNumber},
    {"next-event.rate", OptionKind::kNumber},
    kEmitStrategy,
    kIdleTimeout,
};

struct Connector {
  std::string_view name;
  const char* text;  // null: for test scripts alone
  std::span<const OptionSpec> options;
  SourceMaker make_source;  // null: cannot be read
  SinkMaker make_sink;      // null: cannot be written
};

constexpr Connector kConnectors[] = {
    {"filesystem", "files and folders, read and written", kFileOptions, CreateFileSource,
     CreateFileSink},
    {"print", "a sink: every change as a line on standard output", kPrintOptions, nullptr,
     CreatePrintSink},
    {"blackhole", "a sink that takes rows and keeps none", kBlackholeOptions, nullptr,
     CreateBlackholeSink},
    {"checksum", "a sink: how many rows there were, and their checksum", kChangelogOptions, nullptr,
     CreateChecksumSink},
    {"datagen",
     "a source of made-up rows of any columns",
     {},
     CreateDatagenSource,
     nullptr},  // its options depend on the columns
    {"nexmark", "a source of made-up events of an auction site", kNexmarkOptions,
     CreateNexmarkSource, nullptr},
    {"kafka", "topics of Apache Kafka, read and written", kKafkaOptions, CreateKafkaSource,
     CreateKafkaSink},
    {"upsert-kafka", "topics of Apache Kafka as tables with a key, read and written",
     kUpsertKafkaOptions, CreateKafkaSource, CreateKafkaSink},
    {"rows", nullptr, kRowsOptions, CreateRowsSource, nullptr},
    {"collect", nullptr, kChangelogOptions, nullptr, CreateCollectSink},
};

// Connectors of Flink that Rowtide does not have; their tables can be declared.
constexpr std::string_view kLaterConnectors[] = {"jdbc", "hbase-2.2", "elasticsearch-7"};

const Connector* Find(const TableSpec& table) {
  const auto option = table.options.find("connector");
  for (const Connector& connector : kConnectors) {
    if (option != table.options.end() && connector.name == option->second) return &connector;
  }
  return nullptr;
}

bool IsOneOf(std::span<const std::string_view> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status UnknownConnector(const TableSpec& table) {
  const auto option = table.options.find("connector");
  if (option == table.options.end())
    return Status::InvalidArgument("table {} lacks the option 'connector'", table.name)
        .WithErrorCode("RT2013");
  std::vector<std::string> names;
  for (const Connector& connector : kConnectors) {
    if (connector.text != nullptr) names.emplace_back(connector.name);
  }
  if (IsOneOf(kLaterConnectors, option->second)) {
    return Status::Unsupported("connector {}", Quote(option->second))
        .WithHint(fmt::format("supported are: {}", fmt::join(names, ", ")));
  }
  const std::string nearest = Nearest(option->second, names);
  return Status::InvalidArgument("table {} names the connector {}, which is unknown", table.name,
                                 Quote(option->second))
      .WithErrorCode("RT2012")
      .WithHint(nearest.empty() ? fmt::format("known are: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean {}?", Quote(nearest)));
}

}  // namespace

std::string TableSpec::Shown(const std::string& key) const {
  const auto as_written = written.find(key);
  if (as_written != written.end()) return ShownValue(key, as_written->second);
  const auto option = options.find(key);
  return option == options.end() ? "" : ShownValue(key, option->second);
}

ConnectorTraits TraitsOf(const TableSpec& table) {
  ConnectorTraits traits;
  const Connector* connector = Find(table);
  if (connector == nullptr) return traits;
  const auto option = table.options.find("changelog-mode");
  Result<ChangelogMode> mode =
      ParseChangelogMode(option == table.options.end() ? "I" : option->second);
  if (connector->make_source != nullptr) {
    SourceTraits& source = traits.source.emplace();
    const bool is_file = connector->name == "filesystem", is_datagen = connector->name == "datagen";
    const bool is_rows = connector->name == "rows", is_nexmark = connector->name == "nexmark";
    const bool is_kafka = IsKafka(table);
    source.mode = mode.ok() && is_rows ? *mode : FormatMode(table);
    if (is_kafka) source.mode = KafkaSourceMode(table);
    source.filter = is_file;
    source.projection = is_file || is_nexmark;
    source.limit = is_file || is_datagen || is_nexmark;
    source.source_watermark = is_rows;
    source.threads = !is_rows;
    source.watermark = is_kafka;
    source.splits =
        is_nexmark || is_kafka || (is_file && TextOption(table, "path").value_or("") != "-");
    source.bounded =
        is_datagen   ? IsDatagenBounded(table)
        : is_nexmark ? TextOption(table, "events.num").value_or("0") != "0"
        : is_kafka   ? TextOption(table, "scan.bounded.mode").value_or("unbounded") != "unbounded"
                     : !table.options.contains("source.monitor-interval");
    const auto strategy = table.options.find(std::string(kEmitStrategy.key));
    source.watermark_on_event =
        is_rows || (strategy != table.options.end() && strategy->second == "on-event");
    if (is_file) source.metadata = FileMetadata();
    if (is_kafka) source.metadata = KafkaMetadata();
  }
  if (connector->make_sink != nullptr) {
    SinkTraits& sink = traits.sink.emplace();
    sink.lanes = connector->name != "collect" && TextOption(table, "path").value_or("") != "-";
    if (IsKafka(table)) {
      sink.mode = KafkaSinkMode(table);
      sink.metadata = KafkaSinkMetadata();
    } else if (connector->name == "filesystem") {
      sink.mode = FormatMode(table);
      sink.overwrite = true;
    } else if (connector->name == "blackhole") {
      sink.default_without_before = true;
      sink.shows_rows = false;
    } else if (option != table.options.end() && mode.ok()) {
      sink.mode = *mode;
    } else if (connector->name == "checksum") {
      sink.mode = ChangelogMode::All();
    }
    // A checksum is of all rows, and said at the end of the job.
    if (connector->name == "checksum") sink.shows_rows = false;
  }
  return traits;
}

Status CheckOptions(const TableSpec& table) {
  const Connector* connector = Find(table);
  if (connector == nullptr) return UnknownConnector(table);
  if (connector->name == "datagen") return CheckDatagenOptions(table);
  if (IsKafka(table)) return CheckKafkaOptions(table);
  std::span<const OptionSpec> format;
  const bool is_file = connector->name == "filesystem";
  if (is_file) {
    RT_ASSIGN(format, FormatOptionSpecs(table));
  }
  const std::string prefix = TextOption(table, "format").value_or("");
  RT_TRY(CheckOptions(table, connector->options, prefix, format));
  const auto mode = table.options.find("changelog-mode");
  if (mode != table.options.end()) RT_TRY(ParseChangelogMode(mode->second).status());
  return is_file ? CheckFormat(table) : Status::Ok();
}

Result<std::unique_ptr<Source>> CreateSource(const TableSpec& table, const ScanSpec& scan,
                                             const ConnectorContext& context) {
  RT_TRY(CheckOptions(table));
  const Connector* connector = Find(table);
  if (connector->make_source != nullptr) return connector->make_source(table, scan, context);
  return Status::InvalidArgument("table {} cannot be read: {} is a sink", table.name,
                                 Quote(connector->name));
}

Result<std::unique_ptr<Sink>> CreateSink(const TableSpec& table, const ConnectorContext& context) {
  RT_TRY(CheckOptions(table));
  const Connector* connector = Find(table);
  if (connector->make_sink != nullptr) return connector->make_sink(table, context);
  return Status::InvalidArgument("table {} cannot be written: {} is a source", table.name,
                                 Quote(connector->name));
}

Result<ChangelogMode> ParseChangelogMode(const std::string& text) {
  ChangelogMode mode{false, false, false, false, false};
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view kind = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (kind == "I")
      mode.insert = true;
    else if (kind == "UB")
      mode.update_before = true;
    else if (kind == "UA")
      mode.update_after = true;
    else if (kind == "D")
      mode.deletes = true;
    else if (kind == "PD")
      mode.deletes = mode.key_only_deletes = true;
    else
      return Status::InvalidArgument(
          "'changelog-mode' {} has {}, which is none of I, UB, UA, D, PD", Quote(text),
          Quote(kind));
  }
  return mode;
}

namespace {

std::vector<std::string> OptionTexts(std::string_view prefix, std::span<const OptionSpec> specs) {
  constexpr const char* kKinds[] = {"",  // as OptionKind
                                    "true, false",
                                    "a number",
                                    "a character",
                                    "a duration, as 5 s",
                                    "a size, as 128mb"};
  std::vector<std::string> texts;
  for (const OptionSpec& spec : specs) {
    std::string text = std::string(prefix) + std::string(spec.key);
    if (spec.required) text += " (required)";
    std::string values(spec.values.empty() ? kKinds[static_cast<size_t>(spec.kind)] : spec.values);
    for (size_t bar = values.find('|'); bar != std::string::npos; bar = values.find('|'))
      values.replace(bar, 1, ", ");
    texts.push_back(values.empty() ? text : text + ": " + values);
  }
  return texts;
}

}  // namespace

std::vector<ConnectorHelp> ConnectorHelps() {
  std::vector<ConnectorHelp> helps;
  for (const Connector& connector : kConnectors) {
    if (connector.text == nullptr) continue;
    helps.push_back(
        {std::string(connector.name), connector.text, OptionTexts("", connector.options)});
    if (connector.name == "datagen")
      helps.back().options = {"number-of-rows: a number; without it the source never ends",
                              "rows-per-second: a number", "fields.<column>.kind: random, sequence",
                              "fields.<column>.min, .max, .start, .end, .length, .null-rate, …"};
  }
  return helps;
}

std::vector<ConnectorHelp> FormatHelps() {
  std::vector<ConnectorHelp> helps;
  for (const FormatText& format : FormatTexts()) {
    const std::string name(format.name);
    helps.push_back({name, format.text, OptionTexts(name + ".", format.options)});
  }
  return helps;
}

}  // namespace rowtide
