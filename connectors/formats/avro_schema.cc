#include "connectors/formats/avro_schema.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/value_text.h"

namespace rowtide {
namespace {

using Json = nlohmann::json;

constexpr size_t kTextBytesMax = 1 << 20;
constexpr int kDepthMax = 100;
constexpr int64_t kFixedBytesMax = 16 << 20;

struct KindName {
  std::string_view name;
  AvroKind kind;
};
constexpr KindName kKinds[] = {
    {"null", AvroKind::kNull},     {"boolean", AvroKind::kBoolean}, {"int", AvroKind::kInt},
    {"long", AvroKind::kLong},     {"float", AvroKind::kFloat},     {"double", AvroKind::kDouble},
    {"bytes", AvroKind::kBytes},   {"string", AvroKind::kString},   {"fixed", AvroKind::kFixed},
    {"enum", AvroKind::kEnum},     {"array", AvroKind::kArray},     {"map", AvroKind::kMap},
    {"record", AvroKind::kRecord}, {"error", AvroKind::kRecord}};

struct LogicalName {
  std::string_view name;
  AvroKind kind;  // which it can be of
  AvroLogical logical;
};
constexpr LogicalName kLogicals[] = {
    {"date", AvroKind::kInt, AvroLogical::kDate},
    {"time-millis", AvroKind::kInt, AvroLogical::kTimeMillis},
    {"time-micros", AvroKind::kLong, AvroLogical::kTimeMicros},
    {"timestamp-millis", AvroKind::kLong, AvroLogical::kMillis},
    {"timestamp-micros", AvroKind::kLong, AvroLogical::kMicros},
    {"timestamp-nanos", AvroKind::kLong, AvroLogical::kNanos},
    {"local-timestamp-millis", AvroKind::kLong, AvroLogical::kMillis},
    {"local-timestamp-micros", AvroKind::kLong, AvroLogical::kMicros},
    {"local-timestamp-nanos", AvroKind::kLong, AvroLogical::kNanos}};

const AvroKind* KindOf(std::string_view name) {
  for (const KindName& known : kKinds) {
    if (known.name == name) return &known.kind;
  }
  return nullptr;
}

std::string_view NameOf(AvroKind kind) {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "union";
}

std::string TextAt(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

int64_t NumberAt(const Json& object, const char* key, int64_t otherwise) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : otherwise;
}

std::string NamespaceOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

}  // namespace

class AvroSchemaParser {
 public:
  Result<AvroSchema> Parse(std::string_view text) {
    if (text.size() > kTextBytesMax)
      return Status::DataError("an Avro schema of {} bytes; {} are allowed", text.size(),
                               kTextBytesMax);
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return Status::DataError("the Avro schema is no JSON");
    RT_ASSIGN(schema_.root_, TypeOf(json, "", 0));
    FindEmpty();
    return std::move(schema_);
  }

 private:
  AvroType* Add(AvroKind kind) {
    AvroType& type = schema_.types_.emplace_back();
    type.kind = kind;
    return &type;
  }

  Result<const AvroType*> TypeOf(const Json& json, const std::string& scope, int depth) {
    if (depth > kDepthMax)
      return Status::DataError("the Avro schema is nested deeper than {}", kDepthMax);
    if (json.is_string()) return Named(json.get<std::string>(), scope);
    if (json.is_array()) return Union(json, scope, depth);
    if (!json.is_object()) return Status::DataError("{} is no Avro type", json.dump());
    const auto type = json.find("type");
    if (type == json.end()) return Status::DataError("an Avro type lacks its \"type\"");
    if (!type->is_string()) return TypeOf(*type, scope, depth + 1);
    const std::string name = type->get<std::string>();
    const AvroKind* const kind = KindOf(name);
    if (kind == nullptr) return Named(name, scope);
    switch (*kind) {
      case AvroKind::kRecord: return Record(json, scope, depth);
      case AvroKind::kEnum: return Enum(json, scope);
      case AvroKind::kFixed: return Fixed(json, scope);
      case AvroKind::kArray: return Collection(json, AvroKind::kArray, "items", scope, depth);
      case AvroKind::kMap: return Collection(json, AvroKind::kMap, "values", scope, depth);
      default: break;
    }
    AvroType* const simple = Add(*kind);
    ReadLogical(json, simple);
    return simple;
  }

  Result<const AvroType*> Named(const std::string& name, const std::string& scope) {
    const AvroKind* const kind = KindOf(name);
    if (kind != nullptr && *kind <= AvroKind::kString) return Add(*kind);
    const std::string full =
        name.find('.') != std::string::npos || scope.empty() ? name : scope + "." + name;
    auto known = names_.find(full);
    if (known == names_.end()) known = names_.find(name);
    if (known == names_.end())
      return Status::DataError("the Avro schema names the type {}, which it does not define",
                               Quote(name));
    return known->second;
  }

  Result<const AvroType*> Union(const Json& json, const std::string& scope, int depth) {
    AvroType* const type = Add(AvroKind::kUnion);
    for (const Json& branch : json) {
      RT_ASSIGN(const AvroType* const one, TypeOf(branch, scope, depth + 1));
      if (one->kind == AvroKind::kUnion)
        return Status::DataError("the Avro schema has a union in a union");
      type->branches.push_back(one);
    }
    if (type->branches.empty()) return Status::DataError("the Avro schema has an empty union");
    return type;
  }

  Result<const AvroType*> Collection(const Json& json, AvroKind kind, const char* key,
                                     const std::string& scope, int depth) {
    AvroType* const type = Add(kind);
    const auto inner = json.find(key);
    if (inner == json.end())
      return Status::DataError("an Avro {} lacks its \"{}\"", NameOf(kind), key);
    RT_ASSIGN(const AvroType* const held, TypeOf(*inner, scope, depth + 1));
    type->branches.push_back(held);
    return type;
  }

  // Gives a type its name, under which the rest of the schema finds it.
  Status Name(const Json& json, const std::string& scope, AvroType* type) {
    std::string name = TextAt(json, "name");
    if (name.empty()) return Status::DataError("an Avro {} lacks its \"name\"", NameOf(type->kind));
    if (name.find('.') == std::string::npos) {
      const auto given = json.find("namespace");
      const std::string space = given != json.end() ? TextAt(json, "namespace") : scope;
      if (!space.empty()) name = space + "." + name;
    }
    type->name = name;
    if (!names_.emplace(name, type).second)
      return Status::DataError("the Avro schema defines {} twice", Quote(name));
    return Status::Ok();
  }

  Result<const AvroType*> Record(const Json& json, const std::string& scope, int depth) {
    AvroType* const type = Add(AvroKind::kRecord);
    RT_TRY(Name(json, scope, type));
    const auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array())
      return Status::DataError("the Avro record {} lacks its \"fields\"", Quote(type->name));
    const std::string inner = NamespaceOf(type->name);
    for (const Json& one : *fields) {
      AvroField field;
      field.name = one.is_object() ? TextAt(one, "name") : "";
      if (field.name.empty())
        return Status::DataError("a field of the Avro record {} lacks its \"name\"",
                                 Quote(type->name));
      const auto of = one.find("type");
      if (of == one.end())
        return Status::DataError("the field {} of the Avro record {} lacks its \"type\"",
                                 Quote(field.name), Quote(type->name));
      RT_ASSIGN(field.type, TypeOf(*of, inner, depth + 1));
      if (const auto fallback = one.find("default"); fallback != one.end())
        field.fallback = fallback->dump(-1, ' ', false, Json::error_handler_t::replace);
      if (const auto aliases = one.find("aliases"); aliases != one.end() && aliases->is_array()) {
        for (const Json& alias : *aliases) {
          if (alias.is_string()) field.aliases.push_back(alias.get<std::string>());
        }
      }
      type->fields.push_back(std::move(field));
    }
    return type;
  }

  Result<const AvroType*> Enum(const Json& json, const std::string& scope) {
    AvroType* const type = Add(AvroKind::kEnum);
    RT_TRY(Name(json, scope, type));
    const auto symbols = json.find("symbols");
    if (symbols == json.end() || !symbols->is_array())
      return Status::DataError("the Avro enum {} lacks its \"symbols\"", Quote(type->name));
    for (const Json& symbol : *symbols) {
      if (!symbol.is_string())
        return Status::DataError("the Avro enum {} has a symbol that is no text",
                                 Quote(type->name));
      type->symbols.push_back(symbol.get<std::string>());
    }
    return type;
  }

  Result<const AvroType*> Fixed(const Json& json, const std::string& scope) {
    AvroType* const type = Add(AvroKind::kFixed);
    RT_TRY(Name(json, scope, type));
    type->bytes = NumberAt(json, "size", -1);
    if (type->bytes < 0 || type->bytes > kFixedBytesMax)
      return Status::DataError("the Avro fixed {} has no \"size\" between 0 and {}",
                               Quote(type->name), kFixedBytesMax);
    ReadLogical(json, type);
    return type;
  }

  // A logical type that is unknown, or of another type, does not count.
  static void ReadLogical(const Json& json, AvroType* type) {
    const std::string name = TextAt(json, "logicalType");
    if (name == "decimal" && (type->kind == AvroKind::kBytes || type->kind == AvroKind::kFixed)) {
      const int64_t precision = NumberAt(json, "precision", 0), scale = NumberAt(json, "scale", 0);
      if (precision < 1 || precision > 1000000 || scale < 0 || scale > precision) return;
      type->logical = AvroLogical::kDecimal;
      type->precision = static_cast<int>(precision);
      type->scale = static_cast<int>(scale);
    }
    for (const LogicalName& known : kLogicals) {
      if (known.name == name && known.kind == type->kind) type->logical = known.logical;
    }
  }

  // What takes no bytes: null, a fixed of none, and records of nothing else. A record in a circle
  // takes some.
  void FindEmpty() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (auto at = schema_.types_.rbegin(); at != schema_.types_.rend(); ++at) {
        AvroType& type = *at;
        if (type.is_empty) continue;
        bool is_empty =
            type.kind == AvroKind::kNull || (type.kind == AvroKind::kFixed && type.bytes == 0);
        if (type.kind == AvroKind::kRecord) {
          is_empty = true;
          for (const AvroField& field : type.fields) is_empty &= field.type->is_empty;
        }
        type.is_empty = is_empty;
        goes_on |= is_empty;
      }
    }
  }

  AvroSchema schema_;
  std::map<std::string, const AvroType*> names_;
};

Result<AvroSchema> AvroSchema::Parse(std::string_view json) {
  return AvroSchemaParser().Parse(json);
}

std::string AvroTypeText(const AvroType& type) {
  std::string text(NameOf(type.kind));
  if (!type.name.empty()) text += " " + type.name;
  for (size_t i = 0; i < type.branches.size(); ++i) {
    text += i == 0 ? " of " : " and ";
    text += NameOf(type.branches[i]->kind);
  }
  switch (type.logical) {
    case AvroLogical::kNone: return text;
    case AvroLogical::kDecimal:
      return text + fmt::format(" (decimal of {} digits, {} behind the point)", type.precision,
                                type.scale);
    case AvroLogical::kDate: return text + " (date)";
    case AvroLogical::kTimeMillis: return text + " (time-millis)";
    case AvroLogical::kTimeMicros: return text + " (time-micros)";
    case AvroLogical::kMillis: return text + " (milliseconds)";
    case AvroLogical::kMicros: return text + " (microseconds)";
    case AvroLogical::kNanos: return text + " (nanoseconds)";
  }
  return text;
}

// --- from a table ---

namespace {

// Letters and digits of any script, and _: what Avro for Java takes.
bool IsAvroName(const std::string& name) {
  const auto* const text = reinterpret_cast<const uint8_t*>(name.data());
  const auto size = static_cast<int32_t>(name.size());
  for (int32_t at = 0; at < size;) {
    const bool is_first = at == 0;
    UChar32 c;
    U8_NEXT(text, at, size, c);
    const bool fits = c == '_' || (c >= 0 && (u_isalpha(c) || (!is_first && u_isdigit(c))));
    if (!fits) return false;
  }
  return size > 0;
}

// Of the kind that it is for Flink, which derives the schema when the job begins to run.
Status Refusal(std::string message) {
  return Status(StatusCode::kInvalidArgument, ErrorKind::kRun, std::move(message));
}

Status CheckTime(const Field& field, bool legacy) {
  const Type& type = field.type;
  if (!legacy || !IsTimestamp(type)) return Status::Ok();
  constexpr const char* kHint = "'avro.timestamp_mapping.legacy' = 'false' in WITH has it";
  if (type.kind == TypeKind::kTimestampLtz)
    return Status::Unsupported("avro for column {} of type {}", Quote(field.name),
                               ToString(type.Nullable()))
        .WithHint(kHint);
  if (type.precision > 3)
    return Refusal(fmt::format("column {}: avro has no {}, only TIMESTAMP(0) to TIMESTAMP(3)",
                               Quote(field.name), ToString(type.Nullable())))
        .WithHint(kHint);
  return Status::Ok();
}

std::string LongText(std::string_view head, const Type& type) {
  return fmt::format(R"({{"type":"long","logicalType":"{}timestamp-{}"}})", head,
                     type.precision <= 3   ? "millis"
                     : type.precision <= 6 ? "micros"
                                           : "nanos");
}

std::string TypeTextOf(const Type& type, bool legacy) {
  switch (type.kind) {
    case TypeKind::kBoolean: return R"("boolean")";
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt: return R"("int")";
    case TypeKind::kBigInt: return R"("long")";
    case TypeKind::kFloat: return R"("float")";
    case TypeKind::kDouble: return R"("double")";
    case TypeKind::kChar:
    case TypeKind::kVarChar: return R"("string")";
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return R"("bytes")";
    case TypeKind::kDecimal:
      return fmt::format(R"({{"type":"bytes","logicalType":"decimal","precision":{},"scale":{}}})",
                         type.precision, type.scale);
    case TypeKind::kDate: return R"({"type":"int","logicalType":"date"})";
    case TypeKind::kTime: return R"({"type":"int","logicalType":"time-millis"})";
    case TypeKind::kTimestamp: return LongText(legacy ? "" : "local-", type);
    case TypeKind::kTimestampLtz: return LongText("", type);
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: break;
  }
  return R"("null")";
}

}  // namespace

Status CheckAvroColumns(const Schema& schema, bool legacy) {
  for (const Field& field : schema.fields()) {
    if (!IsAvroName(field.name))
      return Refusal(fmt::format(
          "{} cannot name a field of an Avro record: letters, digits and _ can, and no digit first",
          Quote(field.name)));
    if (IsInterval(field.type) || field.type.kind == TypeKind::kNull ||
        field.type.kind == TypeKind::kSymbol)
      return Status::Plan("avro cannot hold column {} of type {}", Quote(field.name),
                          ToString(field.type));
    RT_TRY(CheckTime(field, legacy));
  }
  return Status::Ok();
}

std::string AvroSchemaText(const Schema& schema, bool legacy) {
  std::string text =
      R"({"type":"record","name":"record","namespace":"org.apache.flink.avro.generated",)"
      R"("fields":[)";
  for (int i = 0; i < schema.size(); ++i) {
    const Field& field = schema.field(i);
    text += i == 0 ? R"({"name":)" : R"(,{"name":)";
    AppendJsonString(field.name, &text);
    const std::string type = TypeTextOf(field.type, legacy);
    text += field.type.nullable ? fmt::format(R"(,"type":["null",{}],"default":null}})", type)
                                : fmt::format(R"(,"type":{}}})", type);
  }
  return text + "]}";
}

}  // namespace rowtide
