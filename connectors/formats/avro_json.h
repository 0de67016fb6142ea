// Avro's JSON encoding, turned into the binary one and back: what a schema says is the same.
//
//   {"id":7,"name":{"string":"Ann"},"x":null}   <->   | 0e | 02 06 Ann | 00 |
//
// A value of a union but null is an object whose one name is the branch; bytes are text of one
// character a byte. For messages that people read: nothing here is fast.
#pragma once

#include <string>
#include <string_view>

#include "connectors/formats/avro_schema.h"
#include "engine/status.h"

namespace rowtide {

// Appends the value. Fields may come in any order; all must be there, and no others.
Status AvroFromJson(const AvroType& type, std::string_view json, std::string* out);
// Requires: `bytes` is a value of the type.
void AppendAvroJson(const AvroType& type, std::string_view bytes, std::string* out);

}  // namespace rowtide
