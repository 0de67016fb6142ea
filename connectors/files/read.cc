#include "connectors/files/read.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connectors/files/bytes.h"
#include "connectors/files/list.h"
#include "connectors/files/splits.h"
#include "connectors/formats/formats.h"
#include "connectors/options.h"
#include "connectors/rejects.h"
#include "engine/batch_builder.h"
#include "engine/snapshot.h"

namespace rowtide {
namespace {

constexpr size_t kBlockBytes = 256 << 10;
// Where a thread of its own decodes ahead, so many are on their way.
constexpr size_t kBlocksKept = 16;
// What a pipe holds, as a rule.
constexpr size_t kPipeBytes = 64 << 10;

Value MetadataOf(const FileEntry& file, const std::string& key) {
  if (key == "file.path") return file.path;
  if (key == "file.name") return file.name();
  if (key == "file.size") return file.bytes;
  return file.modified_ms;
}

// Where files come from, and how often it is looked at again.
struct Watched {
  std::string path;
  std::optional<std::string> regex;
  int64_t interval_millis = 0;  // 0 = once
  const Clock* clock = nullptr;
};

class FileSource final : public Source {
 public:
  FileSource(Schema schema, Watched watched, ScanSpec scan, bool reads_text,
             const ConnectorContext& context, std::unique_ptr<Rejects> rejects,
             std::unique_ptr<Decoder> decoder)
      : schema_(std::move(schema)),
        watched_(std::move(watched)),
        splits_(context.lane, context.lanes, watched_.interval_millis > 0),
        lane_(context.lane),
        lanes_(context.lanes),
        scan_(std::move(scan)),
        reads_text_(reads_text),
        record_bytes_max_(static_cast<size_t>(context.limits.record_bytes)),
        rejects_(std::move(rejects)),
        decoder_(std::move(decoder)) {}

  const Schema& output_schema() const override { return schema_; }

  // Adds the files that are new. Where a folder is watched, it may be empty or not there yet.
  Status List(FileListing* listing) {
    if (listing != nullptr && listing->files) {
      splits_.Add(*listing->files);
      return Status::Ok();
    }
    Result<std::vector<FileEntry>> found = ListFiles(watched_.path, watched_.regex);
    if (!found.ok() && !is_watched()) return found.status();
    std::vector<FileEntry> files;
    if (found.ok()) files = std::move(*found);
    splits_.Add(files);
    if (listing != nullptr) listing->files = std::move(files);
    return Status::Ok();
  }

  Result<SourceState> Poll(Collector& out) override {
    if (is_watched() && splits_.at_end()) RT_TRY(ListIfDue());
    while (!splits_.at_end() && !has_enough()) {
      if (!stream_) RT_TRY(OpenFile());
      const Status filled = Fill();
      const auto split = static_cast<int32_t>(splits_.number());
      const bool is_file_over = filled.ok() && at_end_ && begin_ == end_;
      if (filled.ok() && !is_file_over && decoder_->rows() == 0) return SourceState::kWait;
      RowBatch batch;
      if (decoder_->rows() > 0) {
        batch = decoder_->Finish();
        is_handed_out_ = true;
        batch.split = split;
        batch.file = file_name_;
        AddMetadata(&batch);
      }
      if (is_file_over) NextFile();
      if (batch.rows > 0) {
        emitted_ += batch.rows;
        is_idle_ = false;
        RT_TRY(out.Emit(std::move(batch)));
      }
      if (!filled.ok()) return filled;
      if (batch.rows > 0) break;
    }
    if (has_enough()) return SourceState::kEnd;
    if (!splits_.at_end()) return SourceState::kMore;
    if (!is_watched()) return SourceState::kEnd;
    // Other lanes' files may have rows: what is behind does not wait for this lane.
    if (lanes_ > 1 && !std::exchange(is_idle_, true)) RT_TRY(out.Advance(Time::Idle()));
    return SourceState::kWait;
  }

  SourceWakeup wakeup() const override {
    if (stream_) return {stream_->descriptor(), std::nullopt};
    const int64_t millis = next_list_millis_ - (watched_.clock ? watched_.clock->NowMillis() : 0);
    return {-1, std::clamp<int64_t>(millis, 0, watched_.interval_millis)};
  }

  // | rows | splits (connectors/files/splits.h) |
  Status Snapshot(SnapshotWriter& writer) const override {
    RT_TRY(rejects_->Sync());
    writer.PutI64(emitted_);
    FileSplits::Begun current;
    if (stream_) current = {decoder_->place(), std::string(decoder_->header())};
    splits_.Snapshot(stream_ ? &current : nullptr, writer);
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(emitted_, reader.I64("rows"));
    return splits_.Restore(reader);
  }

  Status Merge(SnapshotReader& reader) override {
    RT_ASSIGN(const int64_t emitted, reader.I64("rows"));
    emitted_ += emitted;
    return splits_.Merge(reader);
  }

  // Every lane has been told of all files, so the first one speaks for all of them.
  Status Begin() override {
    if (lane_ > 0) return Status::Ok();
    return rejects_->ForgetUnread([this](const LetterPlace& place) {
      const bool is_stream = place.source == "standard input";
      return splits_.IsRead(is_stream ? kStandardStream : place.source, place.position);
    });
  }

  SourceProgress progress() const override {
    SourceProgress progress;
    for (size_t i = 0; i < splits_.files().size(); ++i) {
      progress.bytes_total += splits_.files()[i].bytes;
      if (i < splits_.number()) progress.bytes_read += splits_.files()[i].bytes;
    }
    if (stream_) progress.bytes_read += stream_->taken();
    return progress;
  }

 private:
  Status ListIfDue() {
    const int64_t now = watched_.clock->NowMillis();
    // Further away than an interval: somebody has set the clock back.
    if (now < next_list_millis_ && next_list_millis_ - now <= watched_.interval_millis)
      return Status::Ok();
    next_list_millis_ = now + watched_.interval_millis;
    return List(nullptr);
  }

  bool is_watched() const { return watched_.interval_millis > 0; }
  bool has_enough() const { return scan_.limit && emitted_ >= *scan_.limit; }

  Status OpenFile() {
    const std::string& path = splits_.current().path;
    const auto [place, header] = splits_.TakeBegun();
    RT_ASSIGN(stream_, reads_text_ ? OpenText(path) : OpenBytes(path));
    const std::string name = path == kStandardStream ? "standard input" : path;
    const auto file_name = std::make_shared<Block>(name.size());
    std::memcpy(file_name->data(), name.data(), name.size());
    file_name_ = file_name;
    rejects_->BeginFile(name);
    RT_TRY(decoder_->Begin(place, header));
    begin_ = end_ = 0;
    at_end_ = false;
    block_ = nullptr;
    for (int64_t skipped = 0; skipped < place.byte;) {
      TakeBlock(kBlockBytes);
      RT_ASSIGN(
          const size_t count,
          stream_->Read(block_->data(),
                        std::min<size_t>(kBlockBytes, static_cast<size_t>(place.byte - skipped))));
      if (count == 0)
        return Status::External("{} is shorter than at the snapshot", splits_.current().path);
      skipped += static_cast<int64_t>(count);
    }
    return Status::Ok();
  }

  void NextFile() {
    stream_ = nullptr;
    splits_.Next();
  }

  // Decodes until a batch is full, the file is over, or a pipe holds nothing more.
  Status Fill() {
    while (true) {
      if (begin_ < end_ || at_end_) {
        Result<size_t> taken = decoder_->Decode(block_, begin_, end_, at_end_);
        if (!taken.ok()) return InFile(taken.status());
        RT_TRY(rejects_->Flush());
        begin_ += *taken;
        if (decoder_->rows() == kBatchRows || (at_end_ && begin_ == end_)) return Status::Ok();
        // A long record is on its way: the rows before it need not keep their blocks for it.
        if (decoder_->rows() > 0 && end_ - begin_ > kBlockBytes) return Status::Ok();
        if (at_end_)
          return Status::Internal("the decoder left {} bytes at the end of the file",
                                  end_ - begin_);
      }
      if (stream_->would_wait()) return Status::Ok();
      RT_TRY(ReadOn());
    }
  }

  // An error that is of the file as a whole, and of no record, does not name it.
  Status InFile(const Status& error) const {
    const std::string& path = splits_.current().path;
    if (error.message().starts_with("table ")) return error;
    Status status = Status(error).WithContext("file " + path);
    const bool undecodable = status.code() == StatusCode::kDataError && status.error_code().empty();
    return undecodable ? std::move(status).WithErrorCode("RT4001") : status;
  }

  // More bytes behind the rest of the block, which moves to another one unless there is room and no
  // batch has been handed out that points into this one.
  Status ReadOn() {
    const size_t rest = end_ - begin_;
    const bool stays = block_ != nullptr && !is_handed_out_ && rest < kBlockBytes &&
                       block_->size() - end_ >= kPipeBytes;
    if (!stays) MoveRest(rest);
    // A long record is looked at again only when there is twice as much of it.
    const size_t wanted = rest < kBlockBytes ? 1 : block_->size() - rest;
    for (const size_t before = end_; !at_end_ && end_ - before < wanted;) {
      RT_ASSIGN(const size_t count, stream_->Read(block_->data() + end_, block_->size() - end_));
      at_end_ = count == 0;
      end_ += count;
    }
    return Status::Ok();
  }

  void MoveRest(size_t rest) {
    const std::shared_ptr<Block> before = block_;
    TakeBlock(BytesFor(rest));
    if (rest > 0) std::memcpy(block_->data(), before->data() + begin_, rest);
    begin_ = 0;
    end_ = rest;
    is_handed_out_ = false;
  }

  // Room for twice the rest, but for no record that is longer than the limit: the decoder throws
  // such a one away when it is here up to the limit, and then line by line.
  size_t BytesFor(size_t rest) const {
    if (rest < kBlockBytes / 2) return kBlockBytes;
    const size_t most = std::max(record_bytes_max_, rest) + kBlockBytes;
    return std::min(2 * rest + kBlockBytes, most);
  }

  // A block that no batch points into, not the one at hand. Those of long records are not kept.
  void TakeBlock(size_t bytes) {
    std::shared_ptr<Block> taken;
    for (std::shared_ptr<Block>& free : blocks_) {
      if (free && free.use_count() == 1 && free->size() == bytes) taken = free;
    }
    if (!taken) {
      taken = std::make_shared<Block>(bytes);
    }
    if (bytes == kBlockBytes && std::find(blocks_.begin(), blocks_.end(), taken) == blocks_.end()) {
      blocks_[next_kept_++ % blocks_.size()] = taken;
    }
    block_ = std::move(taken);
  }

  void AddMetadata(RowBatch* batch) const {
    if (scan_.metadata.empty()) return;
    StringBlocks strings;
    for (size_t i = 0; i < scan_.metadata.size(); ++i) {
      const Type& type = schema_.type(static_cast<int>(scan_.columns.size() + i));
      const Value value = MetadataOf(splits_.current(), scan_.metadata[i]);
      ColumnBuilder column(LayoutOf(type));
      column.Reserve(batch->rows);
      const auto* text = std::get_if<std::string>(&value);
      const StringView view = text ? strings.Copy(*text) : StringView();
      for (int row = 0; row < batch->rows; ++row) {
        if (text) {
          column.Append(view);
        } else {
          column.Append(std::get<int64_t>(value));
        }
      }
      batch->columns.push_back(column.Finish());
    }
    for (BlockPointer& block : strings.Finish()) batch->blocks.push_back(std::move(block));
  }

  Schema schema_;
  Watched watched_;
  FileSplits splits_;
  const int lane_;
  const int lanes_;
  bool is_idle_ = false;  // and has said so
  int64_t next_list_millis_ = 0;
  ScanSpec scan_;
  bool reads_text_;
  size_t record_bytes_max_;
  std::unique_ptr<Rejects> rejects_;
  std::unique_ptr<Decoder> decoder_;
  int64_t emitted_ = 0;

  std::unique_ptr<ByteStream> stream_;  // null: the file is not open
  BlockPointer file_name_;              // of messages
  bool at_end_ = false;
  std::shared_ptr<Block> block_;
  bool is_handed_out_ = false;  // a batch that points into the block
  size_t begin_ = 0;
  size_t end_ = 0;
  std::array<std::shared_ptr<Block>, kBlocksKept> blocks_;
  size_t next_kept_ = 0;
};

}  // namespace

std::vector<MetadataKey> FileMetadata() {
  return {{"file.path", Type::String().NotNull()},
          {"file.name", Type::String().NotNull()},
          {"file.size", Type::BigInt().NotNull()},
          {"file.modification-time", Type::TimestampLtz(3).NotNull()}};
}

Result<std::unique_ptr<Source>> CreateFileSource(const TableSpec& table, const ScanSpec& scan,
                                                 const ConnectorContext& context) {
  Schema schema;
  for (const int column : scan.columns) schema.Add(table.schema.field(column));
  for (const std::string& key : scan.metadata) {
    for (const MetadataKey& known : FileMetadata()) {
      if (known.key == key) schema.Add({key, known.type});
    }
  }
  RT_CHECK(schema.size() == static_cast<int>(scan.columns.size() + scan.metadata.size()));
  RT_ASSIGN(std::unique_ptr<Rejects> rejects, Rejects::Create(table.name, context));
  RT_ASSIGN(std::unique_ptr<Decoder> decoder,
            CreateDecoder(table, scan.columns, context, rejects.get()));
  Watched watched{table.options.at("path"), TextOption(table, "source.path.regex-pattern"),
                  DurationOption(table, "source.monitor-interval", 0), context.clock};
  if (watched.interval_millis > 0 && context.clock == nullptr)
    return Status::Internal("a watched folder needs a clock");
  auto source =
      std::make_unique<FileSource>(std::move(schema), std::move(watched), scan, ReadsText(table),
                                   context, std::move(rejects), std::move(decoder));
  RT_TRY(source->List(context.listing));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace rowtide
