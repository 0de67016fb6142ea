// The options of the connectors `kafka` and `upsert-kafka`, checked, as plain structs: what to read
// or write, from where, in which formats. Names, defaults and rules are those of Flink's Kafka
// connector.
//
//   'key.format'='json', 'key.fields'='k_id', 'key.fields-prefix'='k_', 'value.format'='csv'
//
//   columns    k_id BIGINT, name STRING        key     id BIGINT      of column 0
//                                              value   name STRING    of column 1
//
// A message's key and its value are each a table of their own to the format that reads or writes
// them (KafkaPart); `properties.*` are in connectors/kafka/properties.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/properties.h"
#include "connectors/options.h"

namespace rowtide {

bool IsKafka(const TableSpec& table);  // kafka or upsert-kafka
bool IsUpsertKafka(const TableSpec& table);

// Every option is known and has a value of its kind, formats fit, and what Flink refuses of a table
// whether it is read or written is refused.
Status CheckKafkaOptions(const TableSpec& table);
// What kinds of changes the value's format reads and writes; of upsert-kafka: I, UA, D.
ChangelogMode KafkaSourceMode(const TableSpec& table);
ChangelogMode KafkaSinkMode(const TableSpec& table);

// A message's key or its value, as its format sees it.
struct KafkaPart {
  TableSpec table;           // 'format' and its options; names without the prefix
  std::vector<int> columns;  // of the whole table's schema, one for each of `table`'s
};

struct KafkaParts {
  std::optional<KafkaPart> key;  // none: keys are neither read nor written
  KafkaPart value;
};
Result<KafkaParts> KafkaPartsOf(const TableSpec& table);

struct KafkaTopics {
  std::vector<std::string> names;      // at least one, or …
  std::optional<std::string> pattern;  // … of whole names

  std::string ToString() const;
  bool Has(const std::string& topic) const;
};

using KafkaOffsets = std::map<int32_t, int64_t>;  // by partition

struct KafkaStart {
  enum class Mode : uint8_t { kEarliest, kLatest, kGroup, kTimestamp, kOffsets };
  Mode mode = Mode::kGroup;
  int64_t timestamp_millis = 0;
  KafkaOffsets offsets;
};

struct KafkaStop {
  enum class Mode : uint8_t { kNever, kLatest, kGroup, kTimestamp, kOffsets };
  Mode mode = Mode::kNever;
  int64_t timestamp_millis = 0;
  KafkaOffsets offsets;
};

struct KafkaWatermarks {
  bool on_event = false;
  std::optional<int64_t> idle_millis;  // of the table; none: the job's
  std::string alignment_group;         // "": none
  int64_t max_drift_millis = 0;
  int64_t update_millis = 1000;
};

struct KafkaSourceSpec {
  bool upsert = false;
  KafkaTopics topics;
  KafkaParts parts;
  KafkaStart start;
  KafkaStop stop;
  std::string group;                  // whose offsets are read and written
  bool names_group = false;           // the user named it
  int64_t discovery_millis = 300000;  // 0: new partitions are not looked for
  KafkaWatermarks watermarks;
  KafkaProperties properties;
};

enum class KafkaPartitioning : uint8_t { kDefault, kFixed, kRoundRobin };
enum class KafkaGuarantee : uint8_t { kNone, kAtLeastOnce, kExactlyOnce };

struct KafkaSinkSpec {
  bool upsert = false;
  KafkaTopics topics;  // several, or a pattern: the metadata column `topic` says which
  KafkaParts parts;
  KafkaPartitioning partitioning = KafkaPartitioning::kDefault;
  KafkaGuarantee guarantee = KafkaGuarantee::kAtLeastOnce;
  std::string transactional_id_prefix;  // not empty with exactly-once
  int64_t buffer_rows = 0;              // both 0, or neither
  int64_t buffer_millis = 0;
  KafkaProperties properties;
  std::vector<std::string> warnings;  // besides those of the properties
};

// Requires: CheckKafkaOptions has passed.
Result<KafkaSourceSpec> ReadKafkaSource(const TableSpec& table);
Result<KafkaSinkSpec> ReadKafkaSink(const TableSpec& table);

}  // namespace rowtide
