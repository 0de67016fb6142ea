// A message type out of a descriptor set, the file that
//   protoc --include_imports --descriptor_set_out=orders.desc orders.proto
// writes. Protobuf's library reads it; what is left of it is plain data.
//
//   message Order { string id = 1; optional int64 cents = 2; oneof who { string user = 3; … } }
//     -> id      kString  number 1   no presence: absent is ""
//        cents   kInt64   number 2   presence: absent is absent
//        user    kString  number 3   one of group 0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/schema.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rowtide {

enum class ProtoKind : uint8_t {
  kInt32,  // varints …
  kInt64,
  kUInt32,
  kUInt64,
  kSInt32,  // … zigzag
  kSInt64,
  kFixed32,  // four and eight bytes, signed or not
  kFixed64,
  kFloat,
  kDouble,
  kBool,
  kEnum,
  kString,
  kBytes,
  kOther  // a message, a group, and all that is repeated
};

struct ProtoField {
  std::string name;
  uint32_t number = 0;
  ProtoKind kind = ProtoKind::kOther;
  std::string type_text;      // `repeated int32`: for messages
  bool has_presence = false;  // an absent value is not the default
  bool is_required = false;
  int group = -1;  // oneof: a later one takes an earlier one away
  Value fallback;  // the default
  // Of an enum, by number, the first name first. A closed one does not have other numbers.
  std::vector<std::pair<int32_t, std::string>> names;
  bool is_closed = false;

  const std::string* NameOf(int32_t value) const;
};

struct ProtoMessage {
  std::string name;
  std::vector<ProtoField> fields;
  int groups = 0;

  const ProtoField* Find(std::string_view field) const;
};

// `name`: the message's own (`shop.Order`), or that of the class that protoc makes of it for Java
// (`com.shop.OrderOuterClass$Order`).
Result<ProtoMessage> LoadProtoMessage(const std::string& path, const std::string& name);

// Each column is a field of a type that fits it.
Status CheckProtoColumns(const Schema& schema, const ProtoMessage& message);

}  // namespace rowtide
