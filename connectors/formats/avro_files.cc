#include "connectors/formats/avro_files.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "connectors/formats/avro_bytes.h"
#include "connectors/formats/avro_codec.h"
#include "connectors/formats/hints.h"

namespace rowtide {
namespace {

constexpr size_t kShownBytes = 16;  // of what is no Avro file

// Reads numbers and texts of a head or of a frame that may not be here as a whole.
class Piece {
 public:
  explicit Piece(std::string_view bytes)
      : begin_(bytes.data()), at_(begin_), end_(at_ + bytes.size()) {}

  enum class State : uint8_t { kFine, kShort, kBad };
  State state() const { return state_; }
  bool is_fine() const { return state_ == State::kFine; }
  size_t taken() const { return static_cast<size_t>(at_ - begin_); }

  int64_t Long() {
    const char* number_end = at_;
    while (number_end < end_ && number_end - at_ < 10 && (*number_end & 0x80) != 0) ++number_end;
    if (number_end == end_) return Fail(State::kShort);
    char copy[16] = {};  // nothing behind the bytes is looked at
    std::memcpy(copy, at_, std::min<size_t>(10, static_cast<size_t>(end_ - at_)));
    int64_t value = 0;
    const char* const next = is_fine() ? ReadAvroLong(copy, &value) : nullptr;
    if (next == nullptr) return Fail(State::kBad);
    at_ += next - copy;
    return value;
  }

  std::string_view Bytes(int64_t bytes) {
    if (bytes < 0) Fail(State::kBad);
    if (is_fine() && bytes > end_ - at_) Fail(State::kShort);
    if (!is_fine()) return {};
    const char* const from = at_;
    at_ += bytes;
    return {from, static_cast<size_t>(bytes)};
  }
  std::string_view Text() {
    const int64_t bytes = Long();
    return is_fine() ? Bytes(bytes) : std::string_view();
  }

 private:
  int64_t Fail(State state) {
    if (is_fine()) state_ = state;
    return 0;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  State state_ = State::kFine;
};

struct Head {
  std::string_view schema;
  std::string_view codec;
  std::string_view sync;
};

// Reads the head in front of the bytes.
Piece::State ReadHead(std::string_view bytes, Head* head, size_t* taken) {
  Piece piece(bytes);
  if (piece.Bytes(kAvroMagic.size()) != kAvroMagic && piece.is_fine()) return Piece::State::kBad;
  while (piece.is_fine()) {
    int64_t entries = piece.Long();
    if (!piece.is_fine() || entries == 0) break;
    if (entries < 0) {
      piece.Long();  // how many bytes they have
      if (entries == INT64_MIN) return Piece::State::kBad;
      entries = -entries;
    }
    for (; entries > 0 && piece.is_fine(); --entries) {
      const std::string_view key = piece.Text();
      const std::string_view value = piece.Text();
      if (key == "avro.schema") head->schema = value;
      if (key == "avro.codec") head->codec = value;
    }
  }
  head->sync = piece.Bytes(kAvroSyncBytes);
  *taken = piece.taken();
  return piece.state();
}

class AvroFileDecoder final : public Decoder {
 public:
  AvroFileDecoder(AvroRowsSpec spec, InputLimits limits, Rejects* rejects)
      : limits_(limits), rejects_(rejects), reader_(std::move(spec), rejects) {}

  Status Begin(RecordPlace place, std::string_view header) override {
    place_ = place;
    place_.line = 0;  // there are none
    is_open_ = false;
    skips_to_sync_ = place.rows < 0;
    head_.clear();
    if (header.empty()) return Status::Ok();
    size_t taken = 0;
    Head head;
    if (ReadHead(header, &head, &taken) != Piece::State::kFine || taken != header.size())
      return Status::Corruption("the snapshot has no head of an Avro file");
    return TakeHead(header, head);
  }

  std::string_view header() const override { return head_; }

  Result<size_t> Decode(const BlockPointer& block, size_t begin, size_t end, bool at_end) override {
    if (rows_ == 0) BeginBatch();
    block_ = block;
    next_ = begin;
    end_ = end;
    at_end_ = at_end;
    if (head_.empty()) RT_TRY(ReadOwnHead());
    while (!head_.empty() && rows_ < kBatchRows && next_ < end_) {
      const size_t before = next_;
      const int rows = rows_;
      if (skips_to_sync_) {
        SkipToSync();
      } else if (is_open_) {
        RT_TRY(TakeRecords());
      } else {
        RT_TRY(OpenBlock());
      }
      if (next_ == before && rows_ == rows && !is_open_ && !skips_to_sync_) break;
      if (next_ == before && skips_to_sync_ && !at_end_) break;
    }
    block_ = nullptr;
    return next_ - begin;
  }

  int rows() const override { return rows_; }

  RowBatch Finish() override {
    RowBatch batch;
    batch.rows = rows_;
    batch.first_record = first_record_;
    batch.places = std::move(row_places_);
    batch.columns = reader_.FinishColumns();
    batch.blocks = std::move(blocks_);
    blocks_.clear();
    for (BlockPointer& strings : reader_.FinishStrings())
      batch.blocks.push_back(std::move(strings));
    rows_ = 0;
    has_batch_ = false;
    return batch;
  }

  const RecordPlace& place() const override { return place_; }

 private:
  void BeginBatch() {
    blocks_.clear();  // no row points into what was read so far
    first_record_ = place_.record;
    if (has_batch_) return;
    has_batch_ = true;
    row_places_ = std::make_shared<Block>(kBatchRows * sizeof(RowPlace));
    reader_.Begin();
  }

  std::string_view rest() const { return {block_->data() + next_, end_ - next_}; }

  // --- the head ---
  Status ReadOwnHead() {
    if (place_.byte > 0) return Status::Corruption("the snapshot lacks the head of an Avro file");
    Head head;
    size_t taken = 0;
    const std::string_view bytes = block_ ? rest() : std::string_view();
    const Piece::State state = ReadHead(bytes, &head, &taken);
    const size_t seen = state == Piece::State::kShort ? bytes.size() : taken;
    const bool is_long = static_cast<int64_t>(seen) > limits_.record_bytes;
    if (state == Piece::State::kShort && !at_end_ && !is_long) return Status::Ok();
    if (is_long)
      return Status::DataError(
          "the head of the Avro file has more than {} bytes "
          "('rowtide.limits.record-bytes')",
          limits_.record_bytes);
    if (state != Piece::State::kFine) {
      // What the message shows shall not depend on how much has been read so far.
      if (!at_end_ && bytes.size() <= kShownBytes) return Status::Ok();
      return NoHead(bytes, state);
    }
    RT_TRY(TakeHead(bytes.substr(0, taken), head));
    next_ += taken;
    place_.byte += static_cast<int64_t>(taken);
    return Status::Ok();
  }

  static Status NoHead(std::string_view bytes, Piece::State state) {
    if (bytes.empty()) return Status::DataError("it is empty, and no Avro file");
    const bool begins_well = bytes.starts_with(kAvroMagic);
    Status status =
        begins_well && state == Piece::State::kShort
            ? Status::DataError("the head of the Avro file is cut short: {} bytes", bytes.size())
        : begins_well
            ? Status::DataError("the head of the Avro file is damaged")
            : Status::DataError("it is no Avro file: it begins with {}",
                                Excerpt(bytes, kShownBytes));
    const std::string hint = begins_well ? "" : PackedHint(bytes);
    return hint.empty() ? status : std::move(status).WithHint(hint);
  }

  Status TakeHead(std::string_view bytes, const Head& head) {
    RT_ASSIGN(codec_, CreateAvroCodec(head.codec));
    RT_ASSIGN(AvroSchema schema, AvroSchema::Parse(head.schema));
    reader_.Bind(std::move(schema));
    sync_ = head.sync;
    head_ = bytes;
    return Status::Ok();
  }

  // --- blocks ---
  Status OpenBlock() {
    Piece piece(rest());
    const int64_t records = piece.Long();
    const int64_t bytes = piece.Long();
    const bool is_sound = piece.is_fine() && records >= 0 && bytes >= 0;
    if (piece.state() == Piece::State::kShort && !at_end_) return Status::Ok();
    if (piece.state() == Piece::State::kShort) return Damage("the file ends inside it", end_);
    if (!is_sound) return Damage("it does not begin as a block does", next_ + piece.taken());
    if (bytes > limits_.record_bytes)
      return Damage(fmt::format("it has {} bytes; {} are allowed ('rowtide.limits.record-bytes')",
                                bytes, limits_.record_bytes),
                    next_ + piece.taken(), RejectReason::kTooLarge);
    const std::string_view packed = piece.Bytes(bytes);
    const std::string_view sync = piece.Bytes(kAvroSyncBytes);
    if (!piece.is_fine()) return at_end_ ? Damage("the file ends inside it", end_) : Status::Ok();
    frame_bytes_ = piece.taken();
    if (sync != sync_) return Damage("the sync marker is not where it ends", next_ + frame_bytes_);
    return Unpack(packed, records);
  }

  Status Unpack(std::string_view packed, int64_t records) {
    unpacked_ = {};
    data_offset_ = static_cast<size_t>(packed.data() - rest().data());
    size_t bytes = packed.size();
    if (!codec_->is_plain()) {
      Result<AvroCodec::Unpacked> unpacked =
          codec_->Unpack(packed, static_cast<size_t>(limits_.record_bytes));
      if (!unpacked.ok()) return DropBlock(unpacked.status().message(), packed);
      unpacked_ = std::move(*unpacked);
      data_offset_ = 0;
      bytes = unpacked_.bytes;
    }
    const int64_t most = reader_.is_empty() ? kEmptyRecordsMax : static_cast<int64_t>(bytes);
    if (records > most)
      return DropBlock(fmt::format("{} records in {} bytes", records, bytes), packed);
    if (records > 0) RT_TRY(reader_.fit());
    is_open_ = true;
    data_bytes_ = bytes;
    data_next_ = 0;
    records_ = records;
    record_ = 0;
    // A job that goes on in the middle of the block passes over what it has read.
    while (record_ < place_.rows && record_ < records_) {
      const char* at = data() + data_next_;
      if (reader_.Take(&at, data() + data_bytes_, 0) == AvroRows::Outcome::kBroken)
        return Status::Corruption("block at byte {}: the snapshot has {} of its records",
                                  place_.byte, place_.rows);
      data_next_ = static_cast<size_t>(at - data());
      ++record_;
    }
    return Status::Ok();
  }

  const char* data() const {
    const char* const from = codec_->is_plain() ? block_->data() + next_ : unpacked_.block->data();
    return from + data_offset_;
  }

  Status TakeRecords() {
    KeepBlock();
    const char* const base = data();
    const char* const end = base + data_bytes_;
    const char* at = base + data_next_;
    auto* const places = reinterpret_cast<RowPlace*>(row_places_->data());
    while (record_ < records_ && rows_ < kBatchRows) {
      const AvroRows::Outcome outcome = reader_.Take(&at, end, rows_);
      if (outcome == AvroRows::Outcome::kRow) [[likely]] {
        places[rows_++] = {0, place_.byte};
      } else {
        RT_TRY(RejectRecord(outcome, at, end));
        if (outcome == AvroRows::Outcome::kBroken) return CloseBlock();
      }
      ++record_;
      ++place_.record;
      ++place_.rows;
      data_next_ = static_cast<size_t>(at - base);
      rejects_->CountRead(1);
    }
    if (record_ < records_) return Status::Ok();
    if (at != end) {
      RT_TRY(rejects_->Take(
          {RejectReason::kUndecodable,
           place_,
           "",
           fmt::format("{} bytes are left behind the last record of the block", end - at),
           "",
           {at, static_cast<size_t>(end - at)}}));
      rejects_->CountRead(1);
    }
    return CloseBlock();
  }

  Status RejectRecord(AvroRows::Outcome outcome, const char* at, const char* end) {
    const AvroRows::Trouble& trouble = reader_.trouble();
    const bool is_broken = outcome == AvroRows::Outcome::kBroken;
    std::string message =
        fmt::format("record {} of {} in the block: {}", record_ + 1, records_, trouble.message);
    if (is_broken && record_ + 1 < records_)
      message += fmt::format("; the {} records behind it are lost with it", records_ - record_ - 1);
    const char* const from = is_broken ? at : data() + data_next_;
    const char* const to = is_broken ? end : at;
    RT_TRY(rejects_->Take({trouble.reason,
                           place_,
                           trouble.column,
                           std::move(message),
                           "",
                           {from, static_cast<size_t>(to - from)}}));
    if (is_broken) {
      rejects_->CountRead(1);
      ++place_.record;
    }
    return Status::Ok();
  }

  // What rows of the batch point into.
  void KeepBlock() {
    const BlockPointer& kept = codec_->is_plain() ? block_ : unpacked_.block;
    if (blocks_.empty() || blocks_.back() != kept) blocks_.push_back(kept);
  }

  Status CloseBlock() {
    is_open_ = false;
    unpacked_ = {};
    next_ += frame_bytes_;
    place_.byte += static_cast<int64_t>(frame_bytes_);
    place_.rows = 0;
    return Status::Ok();
  }

  // A block whose end is known.
  Status DropBlock(const std::string& reason, std::string_view packed) {
    RT_TRY(
        rejects_->Take({RejectReason::kUndecodable, place_, "", "a block: " + reason, "", packed}));
    rejects_->CountRead(1);
    ++place_.record;
    return CloseBlock();
  }

  // A block whose end is not known: what follows is looked through for a sync marker. `seen`: how
  // far it was looked at.
  Status Damage(const std::string& reason, size_t seen,
                RejectReason kind = RejectReason::kUndecodable) {
    RT_TRY(rejects_->Take({kind, place_, "", "a block: " + reason, "",
                           rest().substr(0, std::min(seen - next_, kSeenBytesMax))}));
    rejects_->CountRead(1);
    ++place_.record;
    skips_to_sync_ = true;
    place_.rows = -1;  // a job that goes on from here knows it
    return Status::Ok();
  }

  void SkipToSync() {
    const std::string_view bytes = rest();
    const size_t found = bytes.find(sync_);
    size_t taken = 0;
    if (found != std::string_view::npos) {
      skips_to_sync_ = false;
      taken = found + kAvroSyncBytes;
    } else if (at_end_) {
      taken = bytes.size();
    } else {
      taken = bytes.size() - std::min(bytes.size(), kAvroSyncBytes - 1);
    }
    next_ += taken;
    place_.byte += static_cast<int64_t>(taken);
    if (!skips_to_sync_) place_.rows = 0;
  }

  static constexpr size_t kSeenBytesMax = 64 << 10;
  static constexpr int64_t kEmptyRecordsMax = 1 << 20;

  InputLimits limits_;
  Rejects* rejects_;
  AvroRows reader_;
  RecordPlace place_;

  std::string head_;  // "" until it has been read
  std::string sync_;
  std::unique_ptr<AvroCodec> codec_;
  bool skips_to_sync_ = false;

  // The bytes at hand.
  BlockPointer block_;
  size_t next_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;

  // The block at `next_`, while its records are taken.
  bool is_open_ = false;
  size_t frame_bytes_ = 0;  // with its counts and the sync marker
  AvroCodec::Unpacked unpacked_;
  size_t data_offset_ = 0;
  size_t data_bytes_ = 0;
  size_t data_next_ = 0;
  int64_t records_ = 0;
  int64_t record_ = 0;

  // The batch so far.
  bool has_batch_ = false;
  int rows_ = 0;
  int64_t first_record_ = 0;
  std::shared_ptr<Block> row_places_;
  std::vector<BlockPointer> blocks_;
};

}  // namespace

std::unique_ptr<Decoder> CreateAvroFileDecoder(AvroRowsSpec spec, InputLimits limits,
                                               Rejects* rejects) {
  return std::make_unique<AvroFileDecoder>(std::move(spec), limits, rejects);
}

}  // namespace rowtide
