#include "connectors/formats/avro_json.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "connectors/formats/avro_bytes.h"
#include "connectors/java_text.h"
#include "connectors/utf8.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

using Json = nlohmann::json;

// By this name the union's object has the branch.
std::string BranchName(const AvroType& type) {
  return type.name.empty() ? AvroTypeText({.kind = type.kind}) : type.name;
}

Status Mismatch(const AvroType& type, const Json& json) {
  const std::string found = json.is_structured()
                                ? json.type_name()
                                : json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Status::DataError("{} where {} is wanted", found.substr(0, 60), AvroTypeText(type));
}

template <typename T>
void AppendRaw(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendText(std::string_view text, std::string* out) {
  AppendAvroLong(static_cast<int64_t>(text.size()), out);
  *out += text;
}

// One byte a character, up to U+00FF.
bool ReadBytes(const std::string& text, std::string* bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes->push_back(text[i]);
    } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
      bytes->push_back(static_cast<char>((lead & 3) << 6 | (text[++i] & 0x3f)));
    } else {
      return false;
    }
  }
  return true;
}

Status Take(const AvroType& type, const Json& json, std::string* out);

Status TakeNumber(const AvroType& type, const Json& json, std::string* out) {
  double number = 0;
  if (json.is_number()) {
    number = json.get<double>();
  } else if (json == "NaN") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "Infinity" || json == "-Infinity") {
    number = json == "Infinity" ? HUGE_VAL : -HUGE_VAL;
  } else {
    return Mismatch(type, json);
  }
  if (type.kind == AvroKind::kFloat) {
    AppendRaw(static_cast<float>(number), out);
  } else {
    AppendRaw(number, out);
  }
  return Status::Ok();
}

Status TakeRecord(const AvroType& type, const Json& json, std::string* out) {
  if (!json.is_object()) return Mismatch(type, json);
  for (const AvroField& field : type.fields) {
    const auto found = json.find(field.name);
    if (found == json.end())
      return Status::DataError("the record lacks the field {}", Quote(field.name));
    if (Status taken = Take(*field.type, *found, out); !taken.ok())
      return std::move(taken).WithContext("field " + Quote(field.name));
  }
  return Status::Ok();
}

Status TakeUnion(const AvroType& type, const Json& json, std::string* out) {
  for (size_t i = 0; i < type.branches.size(); ++i) {
    const AvroType& branch = *type.branches[i];
    const bool is_null = branch.kind == AvroKind::kNull;
    if (is_null ? !json.is_null()
                : !json.is_object() || json.size() != 1 || !json.contains(BranchName(branch)))
      continue;
    AppendAvroLong(static_cast<int64_t>(i), out);
    return is_null ? Status::Ok() : Take(branch, json.begin().value(), out);
  }
  return Mismatch(type, json);
}

// Of the types that tables have: no arrays, no maps.
Status Take(const AvroType& type, const Json& json, std::string* out) {
  switch (type.kind) {
    case AvroKind::kNull: return json.is_null() ? Status::Ok() : Mismatch(type, json);
    case AvroKind::kBoolean:
      if (!json.is_boolean()) return Mismatch(type, json);
      out->push_back(json.get<bool>() ? 1 : 0);
      return Status::Ok();
    case AvroKind::kInt:
    case AvroKind::kLong: {
      if (!json.is_number_integer() ||
          (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX))
        return Mismatch(type, json);
      AppendAvroLong(json.get<int64_t>(), out);
      return Status::Ok();
    }
    case AvroKind::kFloat:
    case AvroKind::kDouble: return TakeNumber(type, json, out);
    case AvroKind::kString:
      if (!json.is_string()) return Mismatch(type, json);
      AppendText(json.get_ref<const std::string&>(), out);
      return Status::Ok();
    case AvroKind::kBytes: {
      std::string bytes;
      if (!json.is_string() || !ReadBytes(json.get_ref<const std::string&>(), &bytes))
        return Mismatch(type, json);
      AppendText(bytes, out);
      return Status::Ok();
    }
    case AvroKind::kUnion: return TakeUnion(type, json, out);
    case AvroKind::kRecord: return TakeRecord(type, json, out);
    case AvroKind::kFixed:
    case AvroKind::kEnum:
    case AvroKind::kArray:
    case AvroKind::kMap: break;
  }
  return Mismatch(type, json);
}

void AppendNumber(double number, bool is_float, std::string* out) {
  const bool is_text = !std::isfinite(number);
  if (is_text) *out += '"';
  if (is_float) {
    AppendJavaFloat(static_cast<float>(number), out);
  } else {
    AppendJavaDouble(number, out);
  }
  if (is_text) *out += '"';
}

const char* Append(const AvroType& type, const char* at, std::string* out) {
  int64_t number = 0;
  switch (type.kind) {
    case AvroKind::kBoolean: *out += *at ? "true" : "false"; return at + 1;
    case AvroKind::kInt:
    case AvroKind::kLong:
      at = ReadAvroLong(at, &number);
      *out += std::to_string(number);
      return at;
    case AvroKind::kFloat: {
      float value;
      std::memcpy(&value, at, 4);
      AppendNumber(value, true, out);
      return at + 4;
    }
    case AvroKind::kDouble: {
      double value;
      std::memcpy(&value, at, 8);
      AppendNumber(value, false, out);
      return at + 8;
    }
    case AvroKind::kString:
    case AvroKind::kBytes: {
      at = ReadAvroLong(at, &number);
      std::string text(at, static_cast<size_t>(number));
      if (type.kind == AvroKind::kBytes) {
        std::string characters;
        for (const char byte : text) AppendUtf8Character(static_cast<uint8_t>(byte), &characters);
        text = std::move(characters);
      }
      AppendJsonString(text, out);
      return at + number;
    }
    case AvroKind::kUnion: {
      at = ReadAvroLong(at, &number);
      const AvroType& branch = *type.branches[static_cast<size_t>(number)];
      if (branch.kind == AvroKind::kNull) {
        *out += "null";
        return at;
      }
      *out += '{';
      AppendJsonString(BranchName(branch), out);
      *out += ':';
      at = Append(branch, at, out);
      *out += '}';
      return at;
    }
    case AvroKind::kRecord:
      *out += '{';
      for (const AvroField& field : type.fields) {
        if (out->back() != '{') *out += ',';
        AppendJsonString(field.name, out);
        *out += ':';
        at = Append(*field.type, at, out);
      }
      *out += '}';
      return at;
    default: *out += "null"; return at;
  }
}

}  // namespace

Status AvroFromJson(const AvroType& type, std::string_view json, std::string* out) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return Status::DataError("it is no JSON");
  return Take(type, parsed, out);
}

void AppendAvroJson(const AvroType& type, std::string_view bytes, std::string* out) {
  // Numbers are read without a look at where the bytes end.
  const std::string padded = std::string(bytes) + std::string(16, '\0');
  Append(type, padded.data(), out);
}

}  // namespace rowtide
