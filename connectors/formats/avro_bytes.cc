#include "connectors/formats/avro_bytes.h"

namespace rowtide {
namespace {

const char* SkipLength(const char* at, const char* end) {
  int64_t bytes;
  at = ReadAvroLong(at, &bytes);
  return at == nullptr || bytes < 0 || bytes > end - at ? nullptr : at + bytes;
}

// Blocks of items, each with how many there are; a count below zero has the block's size behind it.
const char* SkipItems(const AvroType& type, const char* at, const char* end, int64_t depth) {
  const AvroType& item = *type.branches.front();
  const bool has_keys = type.kind == AvroKind::kMap;
  while (at < end) {
    int64_t items;
    at = ReadAvroLong(at, &items);
    if (at == nullptr || items == 0) return at;
    if (items < 0) {
      if (at >= end || (at = SkipLength(at, end)) == nullptr) return nullptr;
      continue;
    }
    if (item.is_empty && !has_keys) continue;
    for (; items > 0; --items) {
      if (at >= end) return nullptr;
      if (has_keys && (at = SkipLength(at, end)) == nullptr) return nullptr;
      if ((at = SkipAvroValue(item, at, end, depth)) == nullptr) return nullptr;
    }
  }
  return nullptr;
}

}  // namespace

const char* SkipAvroValue(const AvroType& type, const char* at, const char* end, int64_t depth) {
  if (type.is_empty) return at;
  if (depth <= 0 || at >= end) return nullptr;
  int64_t number;
  switch (type.kind) {
    case AvroKind::kNull: return at;
    case AvroKind::kBoolean: return at + 1;
    case AvroKind::kInt:
    case AvroKind::kLong:
    case AvroKind::kEnum: return ReadAvroLong(at, &number);
    case AvroKind::kFloat: return end - at >= 4 ? at + 4 : nullptr;
    case AvroKind::kDouble: return end - at >= 8 ? at + 8 : nullptr;
    case AvroKind::kBytes:
    case AvroKind::kString: return SkipLength(at, end);
    case AvroKind::kFixed: return end - at >= type.bytes ? at + type.bytes : nullptr;
    case AvroKind::kArray:
    case AvroKind::kMap: return SkipItems(type, at, end, depth - 1);
    case AvroKind::kUnion:
      at = ReadAvroLong(at, &number);
      if (at == nullptr || number < 0 || number >= static_cast<int64_t>(type.branches.size()))
        return nullptr;
      return SkipAvroValue(*type.branches[static_cast<size_t>(number)], at, end, depth - 1);
    case AvroKind::kRecord:
      for (const AvroField& field : type.fields) {
        at = SkipAvroValue(*field.type, at, end, depth - 1);
        if (at == nullptr) return nullptr;
      }
      return at;
  }
  return nullptr;
}

}  // namespace rowtide
