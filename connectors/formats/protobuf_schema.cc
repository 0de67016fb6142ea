#include "connectors/formats/protobuf_schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace rowtide {
namespace {

namespace pb = google::protobuf;

constexpr std::uintmax_t kFileBytesMax = 16 << 20;
constexpr int kFilesMax = 10000;

class Complaints final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& /*file*/, const std::string& element,
                const pb::Message* /*descriptor*/, ErrorLocation /*location*/,
                const std::string& message) override {
    if (text_.empty()) text_ = element + ": " + message;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Result<std::string> ReadAll(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return Status::External("cannot read {}: {}", path, error.message());
  if (bytes > kFileBytesMax)
    return Status::InvalidArgument("{} has {} bytes; a descriptor set may have {}", path, bytes,
                                   kFileBytesMax);
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.good() && !in.eof()) return Status::External("cannot read {}", path);
  return text;
}

// Files in an order in which each comes behind what it imports.
Status BuildFiles(const pb::FileDescriptorSet& set, pb::DescriptorPool* pool) {
  std::map<std::string, const pb::FileDescriptorProto*> left;
  for (const pb::FileDescriptorProto& file : set.file()) left.emplace(file.name(), &file);
  std::set<std::string> built;
  for (bool goes_on = true; goes_on && !left.empty();) {
    goes_on = false;
    for (auto at = left.begin(); at != left.end();) {
      const auto& imports = at->second->dependency();
      const bool is_due = std::all_of(imports.begin(), imports.end(),
                                      [&](const std::string& one) { return built.contains(one); });
      if (!is_due) {
        ++at;
        continue;
      }
      Complaints complaints;
      if (pool->BuildFileCollectingErrors(*at->second, &complaints) == nullptr)
        return Status::InvalidArgument("{}: {}", at->first, complaints.text());
      built.insert(at->first);
      at = left.erase(at);
      goes_on = true;
    }
  }
  if (left.empty()) return Status::Ok();
  for (const std::string& one : left.begin()->second->dependency()) {
    if (!built.contains(one))
      return Status::InvalidArgument("{} imports {}, which is not in the set", left.begin()->first,
                                     one)
          .WithHint("protoc --include_imports puts it there");
  }
  return Status::Ok();
}

// As protoc names the class around those of a file: order_item.proto -> OrderItem.
std::string OuterClassOf(const pb::FileDescriptor& file) {
  if (file.options().has_java_outer_classname()) return file.options().java_outer_classname();
  std::string stem = file.name().substr(file.name().rfind('/') + 1);
  stem = stem.substr(0, stem.rfind(".proto"));
  std::string name;
  bool is_upper = true;
  for (const char c : stem) {
    if (!std::isalnum(static_cast<unsigned char>(c))) {
      is_upper = true;
      continue;
    }
    name.push_back(is_upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c);
    is_upper = std::isdigit(static_cast<unsigned char>(c)) != 0;
  }
  const bool is_taken = file.FindMessageTypeByName(name) != nullptr ||
                        file.FindEnumTypeByName(name) != nullptr ||
                        file.FindServiceByName(name) != nullptr;
  return is_taken ? name + "OuterClass" : name;
}

std::string JavaNameOf(const pb::Descriptor& message) {
  const pb::FileDescriptor& file = *message.file();
  std::string name = message.name();
  for (const pb::Descriptor* outer = message.containing_type(); outer != nullptr;
       outer = outer->containing_type())
    name = outer->name() + "$" + name;
  if (!file.options().java_multiple_files()) name = OuterClassOf(file) + "$" + name;
  const std::string package =
      file.options().has_java_package() ? file.options().java_package() : file.package();
  return package.empty() ? name : package + "." + name;
}

void Collect(const pb::Descriptor& message, std::vector<const pb::Descriptor*>* all) {
  all->push_back(&message);
  for (int i = 0; i < message.nested_type_count(); ++i) Collect(*message.nested_type(i), all);
}

ProtoKind KindOf(const pb::FieldDescriptor& field) {
  if (field.is_repeated()) return ProtoKind::kOther;
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_INT32: return ProtoKind::kInt32;
    case pb::FieldDescriptor::TYPE_INT64: return ProtoKind::kInt64;
    case pb::FieldDescriptor::TYPE_UINT32: return ProtoKind::kUInt32;
    case pb::FieldDescriptor::TYPE_UINT64: return ProtoKind::kUInt64;
    case pb::FieldDescriptor::TYPE_SINT32: return ProtoKind::kSInt32;
    case pb::FieldDescriptor::TYPE_SINT64: return ProtoKind::kSInt64;
    case pb::FieldDescriptor::TYPE_FIXED32:
    case pb::FieldDescriptor::TYPE_SFIXED32: return ProtoKind::kFixed32;
    case pb::FieldDescriptor::TYPE_FIXED64:
    case pb::FieldDescriptor::TYPE_SFIXED64: return ProtoKind::kFixed64;
    case pb::FieldDescriptor::TYPE_FLOAT: return ProtoKind::kFloat;
    case pb::FieldDescriptor::TYPE_DOUBLE: return ProtoKind::kDouble;
    case pb::FieldDescriptor::TYPE_BOOL: return ProtoKind::kBool;
    case pb::FieldDescriptor::TYPE_ENUM: return ProtoKind::kEnum;
    case pb::FieldDescriptor::TYPE_STRING: return ProtoKind::kString;
    case pb::FieldDescriptor::TYPE_BYTES: return ProtoKind::kBytes;
    case pb::FieldDescriptor::TYPE_MESSAGE:
    case pb::FieldDescriptor::TYPE_GROUP: break;
  }
  return ProtoKind::kOther;
}

Value FallbackOf(const pb::FieldDescriptor& field) {
  if (field.is_repeated()) return {};
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32: return int64_t{field.default_value_int32()};
    case pb::FieldDescriptor::CPPTYPE_INT64: return field.default_value_int64();
    case pb::FieldDescriptor::CPPTYPE_UINT32:  // Java has no unsigned numbers
      return int64_t{static_cast<int32_t>(field.default_value_uint32())};
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<int64_t>(field.default_value_uint64());
    case pb::FieldDescriptor::CPPTYPE_FLOAT: return double{field.default_value_float()};
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: return field.default_value_double();
    case pb::FieldDescriptor::CPPTYPE_BOOL: return field.default_value_bool();
    case pb::FieldDescriptor::CPPTYPE_ENUM: return int64_t{field.default_value_enum()->number()};
    case pb::FieldDescriptor::CPPTYPE_STRING: return std::string(field.default_value_string());
    case pb::FieldDescriptor::CPPTYPE_MESSAGE: break;
  }
  return {};
}

ProtoField FieldOf(const pb::FieldDescriptor& field) {
  ProtoField made;
  made.name = field.name();
  made.number = static_cast<uint32_t>(field.number());
  made.kind = KindOf(field);
  made.type_text = field.is_map()
                       ? "map"
                       : std::string(field.is_repeated() ? "repeated " : "") + field.type_name();
  made.has_presence = field.has_presence();
  made.is_required = field.is_required();
  if (field.real_containing_oneof() != nullptr) made.group = field.real_containing_oneof()->index();
  made.fallback = FallbackOf(field);
  if (const pb::EnumDescriptor* names = field.enum_type()) {
    for (int i = 0; i < names->value_count(); ++i)
      made.names.emplace_back(names->value(i)->number(), names->value(i)->name());
    std::stable_sort(made.names.begin(), made.names.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    made.is_closed = names->file()->syntax() != pb::FileDescriptor::SYNTAX_PROTO3;
  }
  return made;
}

Result<const pb::Descriptor*> FindMessage(const pb::FileDescriptorSet& set,
                                          const pb::DescriptorPool& pool, const std::string& name) {
  std::vector<const pb::Descriptor*> all;
  for (const pb::FileDescriptorProto& file : set.file()) {
    const pb::FileDescriptor& built = *pool.FindFileByName(file.name());
    for (int i = 0; i < built.message_type_count(); ++i) Collect(*built.message_type(i), &all);
  }
  std::vector<std::string> names;
  for (const pb::Descriptor* message : all) {
    if (message->full_name() == name || JavaNameOf(*message) == name) return message;
    names.push_back(message->full_name());
  }
  const std::string nearest = Nearest(name, names);
  if (names.size() > 8) names.resize(8);
  return Status::InvalidArgument("no message {} in it", Quote(name))
      .WithHint(nearest.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                                : fmt::format("is {} meant?", Quote(nearest)));
}

}  // namespace

const std::string* ProtoField::NameOf(int32_t value) const {
  const auto at =
      std::lower_bound(names.begin(), names.end(), value,
                       [](const auto& one, int32_t number) { return one.first < number; });
  return at != names.end() && at->first == value ? &at->second : nullptr;
}

const ProtoField* ProtoMessage::Find(std::string_view field) const {
  for (const ProtoField& one : fields) {
    if (one.name == field) return &one;
  }
  return nullptr;
}

Result<ProtoMessage> LoadProtoMessage(const std::string& path, const std::string& name) {
  RT_ASSIGN(const std::string text, ReadAll(path));
  pb::FileDescriptorSet set;
  if (!set.ParseFromString(text) || set.file_size() == 0 || set.file_size() > kFilesMax)
    return Status::InvalidArgument("{} is no descriptor set", path)
        .WithHint("protoc --include_imports --descriptor_set_out=FILE makes one of a .proto file");
  pb::DescriptorPool pool;
  const std::string where = "descriptor set " + path;
  if (Status built = BuildFiles(set, &pool); !built.ok())
    return std::move(built).WithContext(where);
  Result<const pb::Descriptor*> found = FindMessage(set, pool, name);
  if (!found.ok()) return Status(found.status()).WithContext(where);
  ProtoMessage message;
  message.name = (*found)->full_name();
  message.groups = (*found)->real_oneof_decl_count();
  for (int i = 0; i < (*found)->field_count(); ++i)
    message.fields.push_back(FieldOf(*(*found)->field(i)));
  return message;
}

// --- columns ---

namespace {

bool Fits(ProtoKind kind, const Type& type) {
  switch (kind) {
    case ProtoKind::kInt32:
    case ProtoKind::kUInt32:
    case ProtoKind::kSInt32:
    case ProtoKind::kFixed32: return type.kind == TypeKind::kInt;
    case ProtoKind::kInt64:
    case ProtoKind::kUInt64:
    case ProtoKind::kSInt64:
    case ProtoKind::kFixed64: return type.kind == TypeKind::kBigInt;
    case ProtoKind::kFloat: return type.kind == TypeKind::kFloat;
    case ProtoKind::kDouble: return type.kind == TypeKind::kDouble;
    case ProtoKind::kBool: return type.kind == TypeKind::kBoolean;
    case ProtoKind::kEnum: return IsCharacter(type) || IsInteger(type);
    case ProtoKind::kString: return IsCharacter(type);
    case ProtoKind::kBytes: return IsBinary(type);
    case ProtoKind::kOther: return false;
  }
  return false;
}

const char* TypesFor(ProtoKind kind) {
  switch (kind) {
    case ProtoKind::kInt32:
    case ProtoKind::kUInt32:
    case ProtoKind::kSInt32:
    case ProtoKind::kFixed32: return "INT";
    case ProtoKind::kInt64:
    case ProtoKind::kUInt64:
    case ProtoKind::kSInt64:
    case ProtoKind::kFixed64: return "BIGINT";
    case ProtoKind::kFloat: return "FLOAT";
    case ProtoKind::kDouble: return "DOUBLE";
    case ProtoKind::kBool: return "BOOLEAN";
    case ProtoKind::kEnum: return "STRING or an integer";
    case ProtoKind::kString: return "STRING";
    case ProtoKind::kBytes: return "BYTES";
    case ProtoKind::kOther: break;
  }
  return "";
}

}  // namespace

Status CheckProtoColumns(const Schema& schema, const ProtoMessage& message) {
  for (const Field& column : schema.fields()) {
    const ProtoField* const field = message.Find(column.name);
    if (field == nullptr) {
      std::vector<std::string> names;
      for (const ProtoField& one : message.fields) names.push_back(one.name);
      const std::string nearest = Nearest(column.name, names);
      return Status::InvalidArgument("message {} has no field {}", message.name, Quote(column.name))
          .WithHint(nearest.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                                    : fmt::format("is {} meant?", Quote(nearest)));
    }
    if (field->kind == ProtoKind::kOther)
      return Status::Unsupported("protobuf field {} of type {}", Quote(field->name),
                                 field->type_text)
          .WithHint("collections and messages in messages cannot be columns yet");
    if (!Fits(field->kind, column.type))
      return Status::InvalidArgument("column {} is {}, and the field of message {} is {}",
                                     Quote(column.name), ToString(column.type.Nullable()),
                                     message.name, field->type_text)
          .WithHint(fmt::format("declare it {}", TypesFor(field->kind)));
  }
  return Status::Ok();
}

}  // namespace rowtide
