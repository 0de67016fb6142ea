#include "connectors/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace rowtide {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xc0 | code >> 6));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xe0 | code >> 12));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

// Java's escapes: \t \n \r \b \f \\ \" \' \uXXXX and up to three octal digits.
std::string UnescapeJava(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    uint32_t code = 0;
    if (c == 'u' && i + 4 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 4, code, 16).ptr == &text[i + 1] + 4) {
      AppendUtf8(code, &out);
      i += 4;
    } else if (c >= '0' && c <= '7') {
      size_t digits = 0;
      while (digits < 3 && i + digits < text.size() && text[i + digits] >= '0' &&
             text[i + digits] <= '7') {
        code = code * 8 + static_cast<uint32_t>(text[i + digits++] - '0');
      }
      AppendUtf8(code & 0xff, &out);
      i += digits - 1;
    } else {
      constexpr std::string_view kNames = "tnrbf", kValues = "\t\n\r\b\f";
      const size_t place = kNames.find(c);
      out.push_back(place == std::string_view::npos ? c : kValues[place]);
    }
  }
  return out;
}

size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

bool IsOneCharacter(const std::string& text) {
  const std::string plain = UnescapeJava(text);
  return !plain.empty() && plain.size() == CharacterBytes(plain);
}

// A number and what stands behind it, without the blanks between.
bool SplitNumber(std::string_view text, int64_t* number, std::string* unit) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc() || *number < 0) return false;
  std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  *unit = Lower(rest);
  return true;
}

// Milliseconds of `1 s`, `5min`, `500`; -1 when it is no duration.
int64_t MillisOf(std::string_view text) {
  int64_t number;
  std::string unit;
  if (!SplitNumber(text, &number, &unit)) return -1;
  struct Unit {
    std::string_view names;  // between blanks
    int64_t millis;
  };
  static constexpr Unit kUnits[] = {{"  ms milli millis millisecond milliseconds ", 1},
                                    {" s sec secs second seconds ", 1000},
                                    {" m min minute minutes ", 60000},
                                    {" h hour hours ", 3600000},
                                    {" d day days ", 86400000}};
  for (const Unit& known : kUnits) {
    if (known.names.find(" " + unit + " ") == std::string_view::npos) continue;
    int64_t millis = 0;
    return __builtin_mul_overflow(number, known.millis, &millis) ? -1 : millis;
  }
  if (unit == "us" || unit == "micros" || unit == "microseconds") return number / 1000;
  return unit == "ns" || unit == "nanos" || unit == "nanoseconds" ? number / 1000000 : -1;
}

bool IsListed(std::string_view values, std::string_view value) {
  while (!values.empty()) {
    const size_t bar = std::min(values.find('|'), values.size());
    if (values.substr(0, bar) == value) return true;
    values.remove_prefix(std::min(bar + 1, values.size()));
  }
  return false;
}

Status CheckValue(const TableSpec& table, const std::string& key, const OptionSpec& spec) {
  const std::string& value = table.options.at(key);
  int64_t number;
  std::string unit;
  switch (spec.kind) {
    case OptionKind::kText:
      if (spec.values.empty() || IsListed(spec.values, value)) return Status::Ok();
      return Status::InvalidArgument("option {} of table {} is one of {}, not {}", Quote(key),
                                     table.name, spec.values, Quote(table.Shown(key)));
    case OptionKind::kBool:
      if (Lower(value) == "true" || Lower(value) == "false") return Status::Ok();
      return Status::InvalidArgument("option {} of table {} is true or false, not {}", Quote(key),
                                     table.name, Quote(table.Shown(key)));
    case OptionKind::kNumber:
      if (SplitNumber(value, &number, &unit) && unit.empty()) return Status::Ok();
      return Status::InvalidArgument("option {} of table {} is a whole number, not {}", Quote(key),
                                     table.name, Quote(table.Shown(key)));
    case OptionKind::kCharacter:
      if (IsOneCharacter(value)) return Status::Ok();
      return Status::InvalidArgument("option {} of table {} is one character, not {}", Quote(key),
                                     table.name, Quote(table.Shown(key)));
    case OptionKind::kDuration:
      if (MillisOf(value) >= 0) return Status::Ok();
      return Status::InvalidArgument("option {} of table {} is a duration such as '1 s', not {}",
                                     Quote(key), table.name, Quote(table.Shown(key)));
    case OptionKind::kBytes:
      if (SizeOf(value) >= 0) return Status::Ok();
      return Status::InvalidArgument("option {} of table {} is a size such as '128MB', not {}",
                                     Quote(key), table.name, Quote(table.Shown(key)));
  }
  return Status::Ok();
}

}  // namespace

int64_t SizeOf(std::string_view text) {
  int64_t number;
  std::string unit;
  if (!SplitNumber(text, &number, &unit)) return -1;
  static const std::map<std::string, int> kShifts = {
      {"", 0},           {"b", 0},   {"bytes", 0},      {"k", 10},        {"kb", 10},
      {"kibibytes", 10}, {"m", 20},  {"mb", 20},        {"g", 30},        {"gb", 30},
      {"t", 40},         {"tb", 40}, {"mebibytes", 20}, {"gibibytes", 30}};
  const auto shift = kShifts.find(unit);
  if (shift == kShifts.end() || number > INT64_MAX >> shift->second) return -1;
  return number << shift->second;
}

Status CheckOptions(const TableSpec& table, std::span<const OptionSpec> connector,
                    std::string_view format_prefix, std::span<const OptionSpec> format) {
  std::map<std::string, OptionSpec> known;
  known["connector"] = {"connector"};
  for (const OptionSpec& spec : connector) known[std::string(spec.key)] = spec;
  for (const OptionSpec& spec : format) known[fmt::format("{}.{}", format_prefix, spec.key)] = spec;
  for (const auto& [key, spec] : known) {
    if (!spec.required || table.options.contains(key)) continue;
    std::vector<std::string> others;
    for (const auto& [other, value] : table.options) {
      if (!known.contains(other)) others.push_back(other);
    }
    const std::string nearest = Nearest(key, others);
    Status status = Status::InvalidArgument("table {} lacks the option {}", table.name, Quote(key))
                        .WithErrorCode("RT2013");
    if (nearest.empty()) return status;
    return std::move(status).WithHint(fmt::format("is {} meant?", Quote(nearest)));
  }
  for (const auto& [key, value] : table.options) {
    const auto found = known.find(key);
    if (found != known.end()) {
      RT_TRY(CheckValue(table, key, found->second));
      continue;
    }
    std::vector<std::string> names;
    for (const auto& entry : known) names.push_back(entry.first);
    const std::string nearest = Nearest(key, names);
    Status status = Status::InvalidArgument("unknown option {} of table {}", Quote(key), table.name)
                        .WithErrorCode("RT2010");
    if (key.find("header") != std::string::npos) {  // Flink has no such option
      const std::string name = table.name.substr(table.name.rfind('.') + 1);
      return std::move(status).WithHint(fmt::format(
          "SET 'rowtide.csv.header.{}' = 'true' reads the names of columns from the first line",
          name));
    }
    return std::move(status).WithHint(nearest.empty()
                                          ? fmt::format("known are: {}", fmt::join(names, ", "))
                                          : fmt::format("did you mean {}?", Quote(nearest)));
  }
  return Status::Ok();
}

std::optional<std::string> TextOption(const TableSpec& table, const std::string& key) {
  const auto found = table.options.find(key);
  if (found == table.options.end()) return std::nullopt;
  return found->second;
}

bool BoolOption(const TableSpec& table, const std::string& key, bool otherwise) {
  const auto found = table.options.find(key);
  return found == table.options.end() ? otherwise : Lower(found->second) == "true";
}

std::optional<std::string> CharacterOption(const TableSpec& table, const std::string& key) {
  const auto found = table.options.find(key);
  if (found == table.options.end()) return std::nullopt;
  return UnescapeJava(found->second);
}

int64_t DurationOption(const TableSpec& table, const std::string& key, int64_t otherwise) {
  const auto found = table.options.find(key);
  return found == table.options.end() ? otherwise : MillisOf(found->second);
}

int64_t BytesOption(const TableSpec& table, const std::string& key, int64_t otherwise) {
  const auto found = table.options.find(key);
  return found == table.options.end() ? otherwise : SizeOf(found->second);
}

}  // namespace rowtide
