#include "connectors/formats/csv_options.h"

namespace rowtide {
namespace {

constexpr OptionSpec kSpecs[] = {
    {"field-delimiter", OptionKind::kCharacter},
    {"quote-character", OptionKind::kCharacter},
    {"disable-quote-character", OptionKind::kBool},
    {"escape-character", OptionKind::kCharacter},
    {"allow-comments", OptionKind::kBool},
    {"ignore-parse-errors", OptionKind::kBool},
    {"array-element-delimiter"},
    {"null-literal"},
    {"write-bigdecimal-in-scientific-notation", OptionKind::kBool},
    {"trim-spaces", OptionKind::kBool},
    {"ignore-trailing-unmappable", OptionKind::kBool},
    {"allow-trailing-comma", OptionKind::kBool},
    {"fail-on-missing-columns", OptionKind::kBool},
    {"empty-string-as-null", OptionKind::kBool},
};

// A character that the scanner looks for byte by byte.
Result<char> OneByte(const TableSpec& table, const std::string& key, char otherwise) {
  const auto text = CharacterOption(table, key);
  if (!text) return otherwise;
  if (text->size() > 1)
    return Status::Unsupported("option {} of table {} beyond ASCII", Quote(key), table.name);
  return text->front();
}

}  // namespace

std::span<const OptionSpec> CsvOptionSpecs() { return kSpecs; }

Result<CsvOptions> ReadCsvOptions(const TableSpec& table) {
  CsvOptions options;
  const bool no_quotes = BoolOption(table, "csv.disable-quote-character", false);
  if (no_quotes && table.options.contains("csv.quote-character")) {
    return Status::InvalidArgument(
        "table {} sets both 'csv.quote-character' and 'csv.disable-quote-character'", table.name);
  }
  options.delimiter = CharacterOption(table, "csv.field-delimiter").value_or(",");
  RT_ASSIGN(options.quote, OneByte(table, "csv.quote-character", '"'));
  if (no_quotes) options.quote = '\0';
  RT_ASSIGN(options.escape, OneByte(table, "csv.escape-character", '\0'));
  options.array_delimiter = TextOption(table, "csv.array-element-delimiter").value_or(";");
  options.null_literal = TextOption(table, "csv.null-literal");
  options.allow_comments = BoolOption(table, "csv.allow-comments", false);
  options.ignore_parse_errors = BoolOption(table, "csv.ignore-parse-errors", false);
  options.trim_spaces = BoolOption(table, "csv.trim-spaces", false);
  options.ignore_trailing_unmappable = BoolOption(table, "csv.ignore-trailing-unmappable", false);
  options.allow_trailing_comma = BoolOption(table, "csv.allow-trailing-comma", true);
  options.fail_on_missing_columns = BoolOption(table, "csv.fail-on-missing-columns", false);
  options.empty_string_as_null = BoolOption(table, "csv.empty-string-as-null", false);
  const char delimiter = options.delimiter.front();
  if (delimiter == '\n' || delimiter == '\r' || delimiter == options.quote ||
      delimiter == options.escape) {
    return Status::InvalidArgument(
        "the field delimiter of table {} is a line end, quote or escape character", table.name);
  }
  return options;
}

}  // namespace rowtide
