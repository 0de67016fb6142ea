#include "connectors/kafka/options.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "connectors/formats/formats.h"
#include "connectors/kafka/option_names.h"

namespace rowtide {
namespace {

constexpr std::string_view kProperties = "properties.";

std::string Text(const TableSpec& table, const std::string& key,
                 const std::string& otherwise = "") {
  return TextOption(table, key).value_or(otherwise);
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

template <typename... Args>
Status Invalid(const TableSpec& table, fmt::format_string<Args...> text, Args&&... args) {
  return Status::InvalidArgument("table {}: {}", table.name,
                                 fmt::format(text, std::forward<Args>(args)...));
}

// --- formats ---

// Where the options of the value's format stand, and its name.
struct FormatOption {
  std::string key;     // format, value.format, key.format
  std::string prefix;  // "", "value.", "key."
  std::string name;
};

Result<FormatOption> ValueFormatOf(const TableSpec& table) {
  const auto format = TextOption(table, "format"), value = TextOption(table, "value.format");
  if (format && value)
    return Invalid(table, "options 'format' and 'value.format' mean the same; only one may be set");
  if (format) return FormatOption{"format", "", *format};
  if (value) return FormatOption{"value.format", "value.", *value};
  return Status::InvalidArgument("table {} lacks the option {}", table.name,
                                 IsUpsertKafka(table) ? "'value.format'" : "'format'")
      .WithErrorCode("RT2013");
}

std::optional<FormatOption> KeyFormatOf(const TableSpec& table) {
  const auto format = TextOption(table, "key.format");
  if (!format) return std::nullopt;
  return FormatOption{"key.format", "key.", *format};
}

// The options of a format as a table of its own would have them.
TableOptions OptionsOf(const TableSpec& table, const FormatOption& format) {
  TableOptions options{{"format", format.name}};
  const std::string prefix = format.prefix + format.name + ".";
  for (const auto& [key, value] : table.options) {
    if (key.starts_with(prefix)) options[key.substr(format.prefix.size())] = value;
  }
  // The subject of a topic's schemas has the topic's name.
  const std::string topic = Text(table, "topic");
  const bool has_subject = options.contains("avro-confluent.schema-registry.subject");
  const bool has_one_topic = !topic.empty() && topic.find(';') == std::string::npos;
  if (format.name == "avro-confluent" && has_one_topic && !has_subject) {
    const char* const part = format.prefix == "key." ? "-key" : "-value";
    options.emplace("avro-confluent.subject", topic + part);
  }
  return options;
}

Result<std::vector<std::string>> FormatOptionNames(const TableSpec& table,
                                                   const FormatOption& format,
                                                   std::vector<OptionSpec>* specs) {
  RT_ASSIGN(const std::span<const OptionSpec> of_format,
            FormatOptionSpecs({table.name, OptionsOf(table, format), table.schema}));
  specs->assign(of_format.begin(), of_format.end());
  std::vector<std::string> names;
  for (const OptionSpec& spec : of_format)
    names.push_back(fmt::format("{}{}.{}", format.prefix, format.name, spec.key));
  return names;
}

bool IsInsertOnly(const std::string& format) {
  return FormatMode({"", {{"format", format}}, Schema()}).insert_only();
}

// --- keys ---

bool IsMetadata(const TableSpec& table, int column) {
  return static_cast<size_t>(column) < table.metadata.size() &&
         !table.metadata[static_cast<size_t>(column)].empty();
}

Result<std::vector<int>> ColumnsNamed(const TableSpec& table,
                                      const std::vector<std::string>& names) {
  std::vector<int> columns;
  for (const std::string& name : names) {
    const int column = table.schema.Find(name);
    if (column < 0 || IsMetadata(table, column)) {
      return Invalid(table,
                     "could not find the field {} in the table schema for usage in the key format. "
                     "A key field must be a regular, physical column. The following columns can be "
                     "selected in the 'key.fields' option: {}",
                     Quote(name), fmt::join(table.schema.names(), ", "))
          .WithErrorCode("RT2002");
    }
    columns.push_back(column);
  }
  return columns;
}

Result<std::vector<int>> KeyColumnsOf(const TableSpec& table) {
  if (IsUpsertKafka(table)) {
    if (table.primary_key.empty()) {
      return Invalid(
                 table,
                 "'upsert-kafka' tables require to define a PRIMARY KEY constraint. The PRIMARY "
                 "KEY specifies which columns should be read from or write to the Kafka message "
                 "key. The PRIMARY KEY also defines records in the 'upsert-kafka' table should "
                 "update or delete on which keys.")
          .WithErrorCode("RT2015");
    }
    return ColumnsNamed(table, table.primary_key);
  }
  const std::vector<std::string> names = Split(Text(table, "key.fields"), ';');
  const bool has_format = table.options.contains("key.format");
  if (!has_format && !names.empty())
    return Invalid(table,
                   "the option 'key.fields' can only be declared if a key format is defined using "
                   "'key.format'");
  if (has_format && names.empty())
    return Invalid(
        table,
        "a key format 'key.format' requires the declaration of one or more of key fields "
        "using 'key.fields'");
  return ColumnsNamed(table, names);
}

// The part of these columns; `prefix` is not in the names that its format sees.
Result<KafkaPart> PartOf(const TableSpec& table, const FormatOption& format,
                         std::vector<int> columns, const std::string& prefix) {
  KafkaPart part;
  part.table.name = table.name;
  part.table.options = OptionsOf(table, format);
  part.columns = std::move(columns);
  for (const int column : part.columns) {
    Field field = table.schema.field(column);
    if (!field.name.starts_with(prefix)) {
      return Invalid(table,
                     "all fields in 'key.fields' must be prefixed with {} when option "
                     "'key.fields-prefix' is set but field {} is not prefixed",
                     Quote(prefix), Quote(field.name));
    }
    field.name.erase(0, prefix.size());
    part.table.schema.Add(std::move(field));
  }
  return part;
}

// --- offsets and topics ---

Result<KafkaOffsets> OffsetsOf(const TableSpec& table, const std::string& key) {
  const std::string text = Text(table, key);
  const auto bad = [&] {
    return Invalid(table,
                   "invalid properties '{}' should follow the format "
                   "'partition:0,offset:42;partition:1,offset:300', but is {}",
                   key, Quote(text));
  };
  KafkaOffsets offsets;
  for (const std::string& pair : Split(text, ';')) {
    const std::vector<std::string> sides = Split(pair, ',');
    if (sides.size() != 2 || !sides[0].starts_with("partition:") ||
        !sides[1].starts_with("offset:")) {
      return bad();
    }
    const auto number = [](std::string_view digits, auto* value) {
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), *value);
      return error == std::errc() && end == digits.data() + digits.size() && *value >= 0;
    };
    int32_t partition = 0;
    int64_t offset = 0;
    if (!number(std::string_view(sides[0]).substr(10), &partition) ||
        !number(std::string_view(sides[1]).substr(7), &offset)) {
      return bad();
    }
    offsets[partition] = offset;
  }
  if (offsets.empty()) return bad();
  return offsets;
}

Result<KafkaTopics> TopicsOf(const TableSpec& table) {
  KafkaTopics topics{Split(Text(table, "topic"), ';'), TextOption(table, "topic-pattern")};
  if (!topics.names.empty() && topics.pattern)
    return Invalid(table, "option 'topic' and 'topic-pattern' shouldn't be set together");
  if (topics.names.empty() && !topics.pattern)
    return Invalid(table, "either 'topic' or 'topic-pattern' must be set").WithErrorCode("RT2013");
  return topics;
}

// What a mode needs besides its name: a time, or offsets of a single topic.
template <typename Bound>
Status ReadBound(const TableSpec& table, const std::string& scan, const std::string& kind,
                 const KafkaTopics& topics, Bound* bound) {
  const std::string mode = Text(table, scan + ".mode");
  const auto need = [&](const std::string& key) {
    if (table.options.contains(key)) return Status::Ok();
    return Invalid(table, "'{}' is required in '{}' {} mode but missing", key, mode, kind);
  };
  if (mode == "timestamp") {
    RT_TRY(need(scan + ".timestamp-millis"));
    const std::string digits = Text(table, scan + ".timestamp-millis");
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bound->timestamp_millis);
    if (error != std::errc() || end != digits.data() + digits.size())
      return Invalid(table, "'{}.timestamp-millis' is no number of milliseconds", scan);
    bound->mode = Bound::Mode::kTimestamp;
  } else if (mode == "specific-offsets") {
    RT_TRY(need(scan + ".specific-offsets"));
    if (topics.names.size() != 1)
      return Invalid(table,
                     "Currently Kafka source only supports specific offset for single topic");
    RT_ASSIGN(bound->offsets, OffsetsOf(table, scan + ".specific-offsets"));
    bound->mode = Bound::Mode::kOffsets;
  } else if (mode == "latest-offset") {
    bound->mode = Bound::Mode::kLatest;
  } else if (mode == "group-offsets") {
    bound->mode = Bound::Mode::kGroup;
  }
  return Status::Ok();
}

Result<KafkaWatermarks> WatermarksOf(const TableSpec& table) {
  KafkaWatermarks watermarks;
  watermarks.on_event = Text(table, "scan.watermark.emit.strategy") == "on-event";
  if (table.options.contains("scan.watermark.idle-timeout"))
    watermarks.idle_millis = DurationOption(table, "scan.watermark.idle-timeout", 0);
  const bool has_group = table.options.contains("scan.watermark.alignment.group");
  if (has_group != table.options.contains("scan.watermark.alignment.max-drift")) {
    return Invalid(table,
                   "'scan.watermark.alignment.group' and 'scan.watermark.alignment.max-drift' are "
                   "set together or not at all");
  }
  watermarks.alignment_group = Text(table, "scan.watermark.alignment.group");
  watermarks.max_drift_millis = DurationOption(table, "scan.watermark.alignment.max-drift", 0);
  watermarks.update_millis =
      DurationOption(table, "scan.watermark.alignment.update-interval", 1000);
  return watermarks;
}

// The last part of a table's name.
std::string LastName(const std::string& name) {
  const size_t dot = name.rfind('.');
  std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
  last.erase(std::remove(last.begin(), last.end(), '`'), last.end());
  return last;
}

}  // namespace

bool IsKafka(const TableSpec& table) {
  return Text(table, "connector") == "kafka" || IsUpsertKafka(table);
}
bool IsUpsertKafka(const TableSpec& table) { return Text(table, "connector") == "upsert-kafka"; }

Status CheckKafkaOptions(const TableSpec& table) {
  RT_ASSIGN(const FormatOption value, ValueFormatOf(table));
  const std::optional<FormatOption> key = KeyFormatOf(table);
  if (IsUpsertKafka(table) && !key) {
    return Status::InvalidArgument("table {} lacks the option 'key.format'", table.name)
        .WithErrorCode("RT2013");
  }
  // Names first, so that a typo is told before what it leads to.
  const std::span<const OptionSpec> own =
      IsUpsertKafka(table) ? std::span<const OptionSpec>(kUpsertKafkaOptions) : kKafkaOptions;
  std::vector<OptionSpec> specs(own.begin(), own.end()), value_specs, key_specs;
  RT_ASSIGN(const std::vector<std::string> value_names,
            FormatOptionNames(table, value, &value_specs));
  std::vector<std::string> key_names;
  if (key) {
    RT_ASSIGN(key_names, FormatOptionNames(table, *key, &key_specs));
  }
  const auto add = [&specs](const std::vector<std::string>& names, std::vector<OptionSpec>& more) {
    for (size_t i = 0; i < names.size(); ++i) {
      more[i].key = names[i];
      specs.push_back(more[i]);
    }
  };
  add(value_names, value_specs);
  add(key_names, key_specs);
  TableSpec without_properties = table;
  std::erase_if(without_properties.options,
                [](const auto& option) { return option.first.starts_with(kProperties); });
  RT_TRY(CheckOptions(without_properties, specs, "", {}));

  RT_TRY(TopicsOf(table).status());
  RT_ASSIGN(const KafkaParts parts, KafkaPartsOf(table));
  if (parts.key) RT_TRY(CheckFormat(parts.key->table));
  RT_TRY(CheckFormat(parts.value.table));
  if (IsUpsertKafka(table)) {
    for (const auto& [what, format] :
         {std::pair("key", key->name), std::pair("value", value.name)}) {
      if (IsInsertOnly(format)) continue;
      return Invalid(table,
                     "'upsert-kafka' connector doesn't support '{}' as {} format, because '{}' is "
                     "not in insert-only mode",
                     format, what, format);
    }
  } else if (!table.primary_key.empty() && IsInsertOnly(value.name)) {
    return Invalid(
               table,
               "the Kafka table with '{}' format doesn't support defining PRIMARY KEY "
               "constraint on the table, because it can't guarantee the semantic of primary key",
               value.name)
        .WithErrorCode("RT2015")
        .WithHint("'connector' = 'upsert-kafka' keeps one row per key");
  }
  RT_TRY(TranslateKafkaProperties(table, KafkaRole::kSource).status());
  return WatermarksOf(table).status();
}

Result<KafkaParts> KafkaPartsOf(const TableSpec& table) {
  KafkaParts parts;
  RT_ASSIGN(const std::vector<int> key_columns, KeyColumnsOf(table));
  RT_ASSIGN(const FormatOption value, ValueFormatOf(table));
  const bool except_key = Text(table, "value.fields-include", "ALL") == "EXCEPT_KEY";
  const std::string prefix = Text(table, "key.fields-prefix");
  if (!prefix.empty() && !except_key) {
    return Invalid(
        table,
        "a key prefix is not allowed when option 'value.fields-include' is set to 'ALL'. "
        "Set it to 'EXCEPT_KEY' instead to avoid field overlaps");
  }
  if (const std::optional<FormatOption> key = KeyFormatOf(table)) {
    RT_ASSIGN(parts.key, PartOf(table, *key, key_columns, prefix));
  }
  std::vector<int> value_columns;
  for (int column = 0; column < table.schema.size(); ++column) {
    const bool is_key =
        std::find(key_columns.begin(), key_columns.end(), column) != key_columns.end();
    if (!IsMetadata(table, column) && !(is_key && except_key)) value_columns.push_back(column);
  }
  RT_ASSIGN(parts.value, PartOf(table, value, std::move(value_columns), ""));
  return parts;
}

ChangelogMode KafkaSourceMode(const TableSpec& table) {
  if (IsUpsertKafka(table)) return {false, false, true, true, false};
  const Result<FormatOption> value = ValueFormatOf(table);
  return FormatMode({"", {{"format", value.ok() ? value->name : ""}}, Schema()});
}

ChangelogMode KafkaSinkMode(const TableSpec& table) {
  if (IsUpsertKafka(table)) return {true, false, true, true, true};
  return KafkaSourceMode(table);
}

std::string KafkaTopics::ToString() const {
  if (pattern) return fmt::format("topics like {}", Quote(*pattern));
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(Quote(name));
  return fmt::format("topic{} {}", names.size() > 1 ? "s" : "", fmt::join(quoted, ", "));
}

bool KafkaTopics::Has(const std::string& topic) const {
  if (pattern) return RE2::FullMatch(topic, RE2(*pattern, RE2::Quiet));
  return std::find(names.begin(), names.end(), topic) != names.end();
}

Result<KafkaSourceSpec> ReadKafkaSource(const TableSpec& table) {
  KafkaSourceSpec spec;
  spec.upsert = IsUpsertKafka(table);
  RT_ASSIGN(spec.topics, TopicsOf(table));
  RT_ASSIGN(spec.parts, KafkaPartsOf(table));
  RT_TRY(ReadBound(table, "scan.startup", "startup", spec.topics, &spec.start));
  if (spec.upsert || Text(table, "scan.startup.mode") == "earliest-offset")
    spec.start.mode = KafkaStart::Mode::kEarliest;
  RT_TRY(ReadBound(table, "scan.bounded", "bounded", spec.topics, &spec.stop));
  RT_ASSIGN(spec.properties, TranslateKafkaProperties(table, KafkaRole::kSource));
  spec.names_group = spec.properties.group.has_value();
  spec.group = spec.properties.group.value_or("KafkaSource-" + LastName(table.name));
  spec.properties.settings["group.id"] = spec.group;
  spec.discovery_millis = DurationOption(table, "scan.topic-partition-discovery.interval", 300000);
  RT_ASSIGN(spec.watermarks, WatermarksOf(table));
  return spec;
}

Result<KafkaSinkSpec> ReadKafkaSink(const TableSpec& table) {
  KafkaSinkSpec spec;
  spec.upsert = IsUpsertKafka(table);
  RT_ASSIGN(spec.topics, TopicsOf(table));
  RT_ASSIGN(spec.parts, KafkaPartsOf(table));
  const bool has_topic_column =
      std::find(table.metadata.begin(), table.metadata.end(), "topic") != table.metadata.end();
  if ((spec.topics.pattern || spec.topics.names.size() > 1) && !has_topic_column) {
    return Invalid(
               table,
               "'topic' names one topic to write to; with {} a metadata column 'topic' must say "
               "which",
               spec.topics.ToString())
        .WithHint("declare `topic` STRING METADATA and set it");
  }
  const std::string partitioner = Text(table, "sink.partitioner", "default");
  if (partitioner == "fixed") {
    spec.partitioning = KafkaPartitioning::kFixed;
  } else if (partitioner == "round-robin") {
    spec.partitioning = KafkaPartitioning::kRoundRobin;
    if (table.options.contains("key.fields"))
      return Invalid(
          table,
          "currently 'round-robin' partitioner only works when option 'key.fields' is not "
          "specified");
  } else if (partitioner != "default") {
    return Invalid(table, "'sink.partitioner' is one of default, fixed, round-robin, not {}",
                   Quote(partitioner))
        .WithHint("a Java class cannot be loaded");
  }
  if (table.options.contains("sink.semantic")) {
    spec.warnings.push_back(fmt::format(
        "table {}: 'sink.semantic' is the old name of 'sink.delivery-guarantee'", table.name));
  }
  const std::string guarantee =
      Text(table, "sink.delivery-guarantee", Text(table, "sink.semantic", "at-least-once"));
  if (guarantee == "none") spec.guarantee = KafkaGuarantee::kNone;
  if (guarantee == "exactly-once") spec.guarantee = KafkaGuarantee::kExactlyOnce;
  spec.transactional_id_prefix = Text(table, "sink.transactional-id-prefix");
  if (spec.guarantee == KafkaGuarantee::kExactlyOnce && spec.transactional_id_prefix.empty()) {
    return Invalid(table,
                   "sink.transactional-id-prefix must be specified when using "
                   "DeliveryGuarantee.EXACTLY_ONCE");
  }
  const std::string rows = Text(table, "sink.buffer-flush.max-rows", "0");
  spec.buffer_rows = std::stoll(rows);
  spec.buffer_millis = DurationOption(table, "sink.buffer-flush.interval", 0);
  if ((spec.buffer_rows > 0) != (spec.buffer_millis > 0)) {
    return Invalid(
        table,
        "'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' must be set to be "
        "greater than zero together to enable sink buffer flushing");
  }
  RT_ASSIGN(spec.properties, TranslateKafkaProperties(table, KafkaRole::kSink));
  return spec;
}

}  // namespace rowtide
