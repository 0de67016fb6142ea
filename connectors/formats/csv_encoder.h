// Rows as csv records, as Flink writes them: quotes where a text is long or holds a character that
// might need them, floats and decimals as Java prints them, times with a blank, NULL as
// 'null-literal'. The row kind is not written: the format takes inserts only.
#pragma once

#include <string>

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
  bool NeedsQuotes(std::string_view text) const;

  Schema schema_;
  CsvOptions options_;
  unsigned char safe_from_;  // characters below it make quotes necessary
  std::string scratch_;
};

}  // namespace rowtide
