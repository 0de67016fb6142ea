// One JSON value as a value of each SQL type, by the rules of Flink's json format
// (tests/changelog/flink/files has each).
//
//   INT, BIGINT        1  1.9 -> 1  1e2 -> 100  " 1 "; exact, from the digits of the token
//   TINYINT, SMALLINT  1  " 1 "
//   FLOAT, DOUBLE      what Java's parseDouble takes, quoted or not
//   DECIMAL            any number, rounded half up; too many digits are NULL
//   BOOLEAN            true or "true"; everything else is false
//   STRING             a string, or the token as it stands
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "connectors/formats/column_slots.h"
#include "connectors/formats/json_options.h"
#include "connectors/formats/quick_values.h"
#include "engine/batch_builder.h"

namespace rowtide {

// Which wanted column a name is for.
using JsonNames = std::map<std::string, int, std::less<>>;

struct JsonScalar {
  enum class Kind : uint8_t { kString, kNumber, kWord, kNull };  // a word: true or false
  Kind kind = Kind::kNull;
  bool has_escapes = false;    // a string that is still to be unescaped
  bool stays = true;           // in a block: lives as long as the batch, 64 readable bytes behind
  std::string_view text = {};  // of a string: without quotes
};

enum class JsonCast : uint8_t { kValue, kNull, kBad };

// A column of a batch that JSON values are written into, a slot a row.
class JsonColumn {
 public:
  JsonColumn(const Type& type, const JsonOptions& options);

  const Type& type() const { return type_; }
  ColumnSlots& slots() { return slots_; }

  // Writes the value into the slot. kNull and kBad write nothing. Requires: no escapes, not kNull.
  [[gnu::noinline]] JsonCast Store(const JsonScalar& scalar, int row, StringBlocks* strings);

  // The same for usual spellings of usual types; false: it wrote nothing, Store knows. Requires:
  // the text stays.
  __attribute__((always_inline)) bool StoreQuickly(const JsonScalar& scalar, int row) {
    const char* const text = scalar.text.data();
    const size_t bytes = scalar.text.size();
    int64_t value;
    switch (quick_) {
      case Quick::kText:
        if (scalar.kind != JsonScalar::Kind::kString) return false;
        MakeView(text, static_cast<uint32_t>(bytes), slots_.Slot<StringView>(row));
        return true;
      case Quick::kLong:
        if (!QuickInteger(text, bytes, &value)) return false;
        slots_.Set(row, value);
        return true;
      case Quick::kInt:
        if (!QuickInteger(text, bytes, &value) || value != static_cast<int32_t>(value))
          return false;
        slots_.Set(row, static_cast<int32_t>(value));
        return true;
      case Quick::kMillis:
        if (!millis_.Parse(text, bytes, zoned_, &value)) return false;
        slots_.Set(row, value);
        return true;
      case Quick::kNone: return false;
    }
    return false;
  }

 private:
  enum class Quick : uint8_t { kNone, kText, kLong, kInt, kMillis };

  static Quick QuickOf(const Type& type);

  template <typename T>
  JsonCast StoreInteger(const JsonScalar& scalar, int row);
  JsonCast StoreDecimal(const JsonScalar& scalar, int row);
  JsonCast StoreString(const JsonScalar& scalar, int row, StringBlocks* strings);
  JsonCast StoreBytes(const JsonScalar& scalar, int row, StringBlocks* strings);
  JsonCast StoreDate(std::string_view text, int row);
  JsonCast StoreTime(std::string_view text, int row);
  JsonCast StoreTimestamp(std::string_view text, int row);

  Type type_;
  bool keeps_numbers_;
  bool zoned_;
  bool iso_;
  bool strict_days_;
  Quick quick_;
  ColumnSlots slots_;
  QuickMillis millis_;
};

}  // namespace rowtide
