// The schema of Avro data: parsed from its JSON text, or derived from a table's columns as Flink
// derives it.
//
//   name STRING, at TIMESTAMP(3) NOT NULL
//     -> {"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":[
//           {"name":"name","type":["null","string"],"default":null},
//           {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}]}
//
// Text is not trusted: its size and its nesting are bounded, and every name is known. Types refer
// to each other, and may do so in a circle; the schema owns them all.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema.h"
#include "engine/status.h"

namespace rowtide {

enum class AvroKind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kRecord
};

enum class AvroLogical : uint8_t {
  kNone,
  kDecimal,
  kDate,
  kTimeMillis,
  kTimeMicros,
  kMillis,  // timestamps, local or not
  kMicros,
  kNanos
};

struct AvroType;

struct AvroField {
  std::string name;
  std::vector<std::string> aliases;
  const AvroType* type = nullptr;
  std::optional<std::string> fallback;  // "default", as JSON text
};

struct AvroType {
  AvroKind kind = AvroKind::kNull;
  AvroLogical logical = AvroLogical::kNone;
  int precision = 0;  // of a decimal
  int scale = 0;
  int64_t bytes = 0;                      // of a fixed
  bool is_empty = false;                  // its values take no bytes at all
  std::string name;                       // with its namespace: of a record, an enum, a fixed
  std::vector<AvroField> fields;          // of a record
  std::vector<const AvroType*> branches;  // of a union; what an array or a map holds
  std::vector<std::string> symbols;       // of an enum
};

// `long (timestamp-millis)`, `record User`, `union of null and string`: for messages.
std::string AvroTypeText(const AvroType& type);

class AvroSchema {
 public:
  static Result<AvroSchema> Parse(std::string_view json);
  const AvroType& root() const { return *root_; }

 private:
  friend class AvroSchemaParser;
  std::deque<AvroType> types_;  // do not move
  const AvroType* root_ = nullptr;
};

// Whether Avro, as Flink uses it, has a type for every column. `legacy`: TIMESTAMP becomes
// timestamp-millis, and there is no TIMESTAMP_LTZ; else it becomes local-timestamp-millis, -micros
// or -nanos.
Status CheckAvroColumns(const Schema& schema, bool legacy);
// Requires: the above was content.
std::string AvroSchemaText(const Schema& schema, bool legacy);

}  // namespace rowtide
