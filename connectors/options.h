// The options that a connector or a format knows, and the reading of their values.
//
// A connector lists its options once, as data; checking, "nearest" hints and documentation derive
// from the list. After Check has passed, the readers cannot fail.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "connectors/registry.h"

namespace rowtide {

enum class OptionKind : uint8_t { kText, kBool, kNumber, kCharacter, kDuration, kBytes };

struct OptionSpec {
  std::string_view key;
  OptionKind kind = OptionKind::kText;
  bool required = false;
  std::string_view values = "";  // kText: what is allowed, separated by |; "" = anything
};

// Every option of the table is in one of the lists and has a value of its kind, and the required
// ones are there. `connector` is allowed anyway. Keys of `format` stand behind `format_prefix` and
// a dot in the table's options.
Status CheckOptions(const TableSpec& table, std::span<const OptionSpec> connector,
                    std::string_view format_prefix, std::span<const OptionSpec> format);

std::optional<std::string> TextOption(const TableSpec& table, const std::string& key);
bool BoolOption(const TableSpec& table, const std::string& key, bool otherwise);
// One character, which may be written as `\t`, `\001` or `\u0001`; UTF-8.
std::optional<std::string> CharacterOption(const TableSpec& table, const std::string& key);
// `128MB`, `20b` as bytes, -1 when it is no size; and that of an option.
int64_t SizeOf(std::string_view text);
int64_t DurationOption(const TableSpec& table, const std::string& key, int64_t otherwise);  // ms
int64_t BytesOption(const TableSpec& table, const std::string& key, int64_t otherwise);

}  // namespace rowtide
