// Avro data made by hand, for tests: values of the binary encoding, and container files of them.
#pragma once

#include <string>
#include <string_view>

#include "connectors/formats/avro_bytes.h"
#include "connectors/formats/avro_codec.h"

namespace rowtide {

inline std::string AvroLong(int64_t value) {
  std::string bytes;
  AppendAvroLong(value, &bytes);
  return bytes;
}

inline std::string AvroText(std::string_view text) {
  return AvroLong(static_cast<int64_t>(text.size())) + std::string(text);
}

template <typename T>
std::string AvroRaw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline const std::string kTestSync = "0123456789abcdef";

inline std::string AvroHead(std::string_view schema, std::string_view codec = "null") {
  return "Obj\x01" + AvroLong(2) + AvroText("avro.schema") + AvroText(schema) +
         AvroText("avro.codec") + AvroText(codec) + AvroLong(0) + kTestSync;
}

inline std::string AvroBlock(int64_t records, std::string_view bytes,
                             const std::string& codec = "null") {
  std::string packed;
  (void)(*CreateAvroCodec(codec))->Pack(bytes, &packed).ok();
  return AvroLong(records) + AvroText(packed) + kTestSync;
}

// The schema of records with these fields, as JSON: `"a":"int"` becomes a field named a.
inline std::string AvroRecord(
    std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  std::string text = R"({"type":"record","name":"r","fields":[)";
  for (const auto& [name, type] : fields) {
    if (text.back() != '[') text += ',';
    text += R"({"name":")" + std::string(name) + R"(","type":)" + std::string(type) + "}";
  }
  return text + "]}";
}

}  // namespace rowtide
