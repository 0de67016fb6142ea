#include "connectors/formats/raw.h"

#include <algorithm>
#include <cstring>

#include "connectors/formats/column_slots.h"
#include "engine/batch_builder.h"

namespace rowtide {
namespace {

constexpr OptionSpec kSpecs[] = {
    {"charset"}, {"endianness", OptionKind::kText, false, "big-endian|little-endian"}};

bool IsLittle(const TableSpec& table) {
  return TextOption(table, "raw.endianness").value_or("big-endian") == "little-endian";
}

bool IsText(const Type& type) { return IsCharacter(type); }
bool IsFixed(const Type& type) { return !IsCharacter(type) && !IsBinary(type); }

// `bytes` in the order of the file from or to that of the machine, which is little-endian.
void Swap(bool little, size_t size, char* bytes) {
  if (!little) std::reverse(bytes, bytes + size);
}

class RawDecoder final : public Decoder, public RecordDecoder {
 public:
  RawDecoder(const TableSpec& table, size_t wanted, InputLimits limits, Rejects* rejects,
             std::unique_ptr<Charset> charset)
      : field_(table.schema.field(0)),
        wanted_(wanted),
        little_(IsLittle(table)),
        limits_(limits),
        rejects_(rejects),
        charset_(std::move(charset)),
        slots_(field_.type) {}

  Status Begin(RecordPlace place, std::string_view /*header*/) override {
    place_ = place;
    skips_line_ = false;
    return Status::Ok();
  }

  Result<size_t> Decode(const BlockPointer& block, size_t begin, size_t end, bool at_end) override {
    BeginBatch(block);
    const char* next = block->data() + begin;
    const char* const stop = block->data() + end;
    while (rows_ < kBatchRows && next < stop) {
      const auto* line_end =
          static_cast<const char*>(std::memchr(next, '\n', static_cast<size_t>(stop - next)));
      const bool is_whole = line_end != nullptr || at_end;
      const char* const behind = line_end != nullptr ? line_end + 1 : stop;
      if (line_end == nullptr) line_end = stop;
      std::string_view line(next, static_cast<size_t>(line_end - next));
      const bool is_too_large = static_cast<int64_t>(line.size()) > limits_.record_bytes;
      if (!is_whole && !is_too_large && !skips_line_) break;
      if (!skips_line_) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (is_too_large) {
          RT_TRY(rejects_->Take(
              {RejectReason::kTooLarge, place_, "", TooLargeText(limits_), "", line}));
        } else {
          const int before = rows_;
          RT_TRY(TakeLine(line));
          if (rows_ > before)
            reinterpret_cast<RowPlace*>(row_places_->data())[before] = {place_.line, place_.byte};
        }
        rejects_->CountRead(1);
      }
      skips_line_ = !is_whole;
      place_.byte += behind - next;
      place_.line += is_whole;
      place_.record += is_whole;
      next = behind;
    }
    return static_cast<size_t>(next - block->data()) - begin;
  }

  Status Decode(const Records& records, RecordCursor* at) override {
    BeginBatch(records.block);
    const auto count = static_cast<int32_t>(records.bytes.size());
    for (; rows_ < kBatchRows && at->record < count; ++at->record, at->rows = 0) {
      const RecordBytes& one = records.bytes[static_cast<size_t>(at->record)];
      if (at->rows > 0 || one.kind == RecordBytes::Kind::kPassedOver) continue;
      place_ = PlaceOfRecord(records, at->record);
      const int before = rows_;
      RT_TRY(TakeMessage(one, {records.block->data() + one.begin, one.bytes}));
      if (rows_ > before)
        reinterpret_cast<RowPlace*>(row_places_->data())[before] = {place_.line, place_.byte};
      rejects_->CountRead(1);
    }
    return Status::Ok();
  }

  int rows() const override { return rows_; }
  RowBatch Finish() override {
    RowBatch batch;
    batch.rows = rows_;
    batch.first_record = first_record_;
    batch.places = std::move(row_places_);
    const Column column = slots_.Finish();
    batch.columns.assign(wanted_, column);
    batch.blocks = std::move(blocks_);
    blocks_.clear();
    for (BlockPointer& copies : strings_.Finish()) batch.blocks.push_back(std::move(copies));
    rows_ = 0;
    return batch;
  }
  const RecordPlace& place() const override { return place_; }

 private:
  void BeginBatch(const BlockPointer& block) {
    if (rows_ == 0) blocks_.clear();  // no row points into what was read so far
    if (blocks_.empty()) {
      first_record_ = place_.record;
      row_places_ = std::make_shared<Block>(kBatchRows * sizeof(RowPlace));
      slots_.Begin();
    }
    if (blocks_.empty() || blocks_.back() != block) blocks_.push_back(block);
  }

  Status TakeMessage(const RecordBytes& one, std::string_view text) {
    const bool is_null = one.kind == RecordBytes::Kind::kNull;
    if (is_null && field_.type.nullable) {
      slots_.SetNull(rows_++);
      return Status::Ok();
    }
    if (is_null)
      return rejects_->Take({RejectReason::kNotNull, place_, field_.name,
                             "a message without a value is NULL, in a NOT NULL column", "", text});
    if (static_cast<int64_t>(text.size()) > limits_.record_bytes)
      return rejects_->Take({RejectReason::kTooLarge, place_, "", TooLargeText(limits_), "", text});
    return TakeLine(text);
  }

  Status TakeLine(std::string_view line) {
    if (IsText(field_.type)) {
      charset_->ToUtf8(line, &text_);
      slots_.Set(rows_++, text_ == line ? StringView(line) : strings_.Copy(text_));
      return Status::Ok();
    }
    if (IsBinary(field_.type)) {
      slots_.Set(rows_++, StringView(line));
      return Status::Ok();
    }
    const auto bytes = static_cast<size_t>(WidthOf(slots_.layout()));
    if (line.size() != bytes) {
      return rejects_->Take(
          {RejectReason::kCast, place_, field_.name,
           fmt::format("{} bytes, {} has {}", line.size(), ToString(field_.type.Nullable()), bytes),
           "", line});
    }
    char value[8] = {};
    std::memcpy(value, line.data(), bytes);
    Swap(little_, bytes, value);
    if (field_.type.kind == TypeKind::kBoolean) value[0] = value[0] != 0;
    SetFixed(value, bytes);
    return Status::Ok();
  }

  void SetFixed(const char* value, size_t bytes) {
    const auto set = [&]<typename T>(T number) {
      std::memcpy(&number, value, sizeof(T));
      slots_.Set(rows_++, number);
    };
    if (bytes == 1) set(int8_t{});
    if (bytes == 2) set(int16_t{});
    if (bytes == 4) set(int32_t{});
    if (bytes == 8) set(int64_t{});
  }

  Field field_;
  size_t wanted_;
  bool little_;
  InputLimits limits_;
  Rejects* rejects_;
  std::unique_ptr<Charset> charset_;
  RecordPlace place_;
  bool skips_line_ = false;  // the next bytes are the rest of a record that was too large
  int rows_ = 0;
  int64_t first_record_ = 0;
  std::shared_ptr<Block> row_places_;
  ColumnSlots slots_;
  std::vector<BlockPointer> blocks_;
  StringBlocks strings_;
  std::string text_;
};

class RawEncoder final : public Encoder, public RecordEncoder {
 public:
  RawEncoder(const TableSpec& table, std::unique_ptr<Charset> charset)
      : field_(table.schema.field(0)), little_(IsLittle(table)), charset_(std::move(charset)) {}

  Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) override {
    for (int row = 0; row < batch.rows; ++row) {
      if (batch.columns[0].IsNull(row)) {
        return Status::DataError("column {} is NULL, which the raw format cannot write",
                                 Quote(field_.name));
      }
      AppendValue(batch.columns[0], row, out);
      *out += '\n';
      if (ends != nullptr) ends->push_back(out->size());
    }
    return Status::Ok();
  }

  // In a topic NULL is a record without a value.
  Status Encode(const RowBatch& batch, EncodedRecords* out) override {
    for (int row = 0; row < batch.rows; ++row) {
      const bool is_null = batch.columns[0].IsNull(row);
      const size_t begin = out->bytes.size();
      if (!is_null) AppendValue(batch.columns[0], row, &out->bytes);
      out->records.push_back({begin, out->bytes.size(), is_null});
    }
    return Status::Ok();
  }

 private:
  void AppendValue(const Column& column, int row, std::string* out) {
    const auto bytes = static_cast<size_t>(WidthOf(column.layout()));
    if (IsFixed(field_.type)) {
      char value[8];
      std::memcpy(value, column.data() + static_cast<size_t>(row) * bytes, bytes);
      Swap(little_, bytes, value);
      out->append(value, bytes);
    } else if (IsText(field_.type)) {
      charset_->FromUtf8(column.values<StringView>()[row].view(), &text_);
      *out += text_;
    } else {
      *out += column.values<StringView>()[row].view();
    }
  }

  Field field_;
  bool little_;
  std::unique_ptr<Charset> charset_;
  std::string text_;
};

Result<std::unique_ptr<Charset>> CharsetOf(const TableSpec& table) {
  return OpenCharset(TextOption(table, "raw.charset").value_or("UTF-8"));
}

}  // namespace

std::span<const OptionSpec> RawOptionSpecs() { return kSpecs; }

Status CheckRawTable(const TableSpec& table) {
  if (table.schema.size() != 1) {
    return Status::InvalidArgument("the raw format takes one physical column; table {} has {}: {}",
                                   table.name, table.schema.size(),
                                   fmt::join(table.schema.names(), ", "));
  }
  const Type& type = table.schema.type(0);
  const bool is_number = IsInteger(type) || IsApproximate(type) || type.kind == TypeKind::kBoolean;
  if (!is_number && IsFixed(type)) {
    return Status::InvalidArgument("the raw format cannot hold column {} of type {}",
                                   Quote(table.schema.name(0)), ToString(type))
        .WithHint("it takes STRING, BYTES, BOOLEAN, integers, FLOAT and DOUBLE");
  }
  return CharsetOf(table).status();
}

Result<std::unique_ptr<Decoder>> CreateRawDecoder(const TableSpec& table, size_t wanted,
                                                  const ConnectorContext& context,
                                                  Rejects* rejects) {
  RT_ASSIGN(std::unique_ptr<Charset> charset, CharsetOf(table));
  return std::unique_ptr<Decoder>(
      std::make_unique<RawDecoder>(table, wanted, context.limits, rejects, std::move(charset)));
}

Result<std::unique_ptr<RecordDecoder>> CreateRawRecordDecoder(const TableSpec& table, size_t wanted,
                                                              const ConnectorContext& context,
                                                              Rejects* rejects) {
  RT_ASSIGN(std::unique_ptr<Charset> charset, CharsetOf(table));
  return std::unique_ptr<RecordDecoder>(
      std::make_unique<RawDecoder>(table, wanted, context.limits, rejects, std::move(charset)));
}

Result<std::unique_ptr<Encoder>> CreateRawEncoder(const TableSpec& table) {
  RT_ASSIGN(std::unique_ptr<Charset> charset, CharsetOf(table));
  return std::unique_ptr<Encoder>(std::make_unique<RawEncoder>(table, std::move(charset)));
}

Result<std::unique_ptr<RecordEncoder>> CreateRawRecordEncoder(const TableSpec& table) {
  RT_ASSIGN(std::unique_ptr<Charset> charset, CharsetOf(table));
  return std::unique_ptr<RecordEncoder>(std::make_unique<RawEncoder>(table, std::move(charset)));
}

}  // namespace rowtide
