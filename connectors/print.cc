#include "connectors/print.h"

#include "connectors/java_text.h"
#include "connectors/options.h"
#include "engine/batch_builder.h"
#include "engine/gauges.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

void AppendPrinted(const Value& value, const Type& type, std::string* out) {
  if (IsNull(value)) {
    *out += "null";
    return;
  }
  switch (type.kind) {
    case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
    case TypeKind::kDecimal: return AppendJavaDecimal(std::get<int128>(value), type.scale, out);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      *out += '[';
      for (const char byte : std::get<std::string>(value)) {
        fmt::format_to(std::back_inserter(*out), "{}{}", out->back() == '[' ? "" : ", ",
                       static_cast<int>(static_cast<signed char>(byte)));
      }
      *out += ']';
      return;
    }
    case TypeKind::kTime: return AppendJavaTime(std::get<int64_t>(value), out);
    case TypeKind::kTimestamp: {
      const WideTime time = ToWideTime(value, type);
      return AppendJavaDateTime(time.millis, time.nanos, out);
    }
    case TypeKind::kTimestampLtz: {
      const WideTime time = ToWideTime(value, type);
      return AppendJavaInstant(time.millis, time.nanos, out);
    }
    default: return AppendCastText(value, type, "UTC", out);
  }
}

class PrintSink final : public Sink {
 public:
  PrintSink(Schema schema, std::string prefix, std::FILE* file, ByteMeter* meter)
      : schema_(std::move(schema)), prefix_(std::move(prefix)), file_(file), meter_(meter) {}

  Status Write(const RowBatch& batch) override {
    text_.clear();
    for (int row = 0; row < batch.rows; ++row) {
      text_ += prefix_;
      text_ += Text(batch.kind(row));
      text_ += '[';
      for (int column = 0; column < schema_.size(); ++column) {
        if (column > 0) text_ += ", ";
        AppendPrinted(ValueAt(batch, column, row, schema_.type(column)), schema_.type(column),
                      &text_);
      }
      text_ += "]\n";
    }
    const bool written = std::fwrite(text_.data(), 1, text_.size(), file_) == text_.size() &&
                         std::fflush(file_) == 0;
    if (written && meter_ != nullptr) meter_->Add(text_.size());
    return written ? Status::Ok() : Status::External("cannot print: {}", std::strerror(errno));
  }

 private:
  Schema schema_;
  std::string prefix_;
  std::FILE* file_;
  ByteMeter* meter_;  // null: nobody looks
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Sink>> CreatePrintSink(const TableSpec& table,
                                              const ConnectorContext& context) {
  const std::string ident = TextOption(table, "print-identifier").value_or("");
  const bool to_error = BoolOption(table, "standard-error", false);
  // As in Flink: `identifier:lane> `, the lane only where there are several.
  std::string prefix = ident;
  if (context.lanes > 1) prefix += (ident.empty() ? "" : ":") + std::to_string(context.lane + 1);
  return std::unique_ptr<Sink>(std::make_unique<PrintSink>(
      table.schema, prefix.empty() ? "" : prefix + "> ", to_error ? context.error : context.output,
      context.bytes_written));
}

}  // namespace rowtide
