// Rows as csv records, as Flink writes them: quotes where a text is long or holds a character that
// might need them, floats and decimals as Java prints them, times with a blank, NULL as
// 'null-literal'. The row kind is not written: the format takes inserts only.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "connectors/formats/csv_options.h"
#include "connectors/formats/format.h"
#include "engine/schema.h"

namespace rowtide {

class CsvEncoder final : public Encoder {
 public:
  static Result<std::unique_ptr<CsvEncoder>> Create(Schema schema, CsvOptions options);

  Status Encode(const RowBatch& batch, std::string* out) override;

 private:
  CsvEncoder(Schema schema, CsvOptions options);

  void AppendValue(const RowBatch& batch, int column, int row, std::string* out);
  void AppendText(std::string_view text, std::string* out) const;
  void AppendQuoted(std::string_view text, std::string* out) const;
  bool NeedsQuotes(std::string_view text) const;
  void AppendMillis(int64_t millis, int column, std::string* out);

  // Rows come in the order of time: most have the second of the row before.
  struct SecondText {
    int64_t second = std::numeric_limits<int64_t>::min();
    std::string text;
  };

  Schema schema_;
  CsvOptions options_;
  std::array<uint8_t, 256> needs_quotes_ = {};  // by byte
  std::vector<SecondText> seconds_;             // by column
  std::string scratch_;
};

}  // namespace rowtide
