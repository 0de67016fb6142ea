#include "connectors/files/bytes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "connectors/files/list.h"

namespace rowtide {
namespace {

constexpr size_t kPackedBytes = 128 << 10;

class PlainFile final : public ByteStream {
 public:
  PlainFile(int file, std::string path) : file_(file), path_(std::move(path)) {
    struct stat status = {};
    is_regular_ = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    bytes_at_open_ = status.st_size;
  }
  ~PlainFile() override {
    if (file_ != STDIN_FILENO) ::close(file_);
  }
  Result<size_t> Read(char* to, size_t bytes) override {
    ssize_t count;
    do {
      count = ::read(file_, to, bytes);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return Status::External("cannot read {}: {}", path_, std::strerror(errno));
    if (count == 0 && bytes > 0 && is_regular_ && taken_ < bytes_at_open_ && file_ != STDIN_FILENO)
      return Status::External("{} became shorter while it was read: {} bytes of {}", path_, taken_,
                              bytes_at_open_);
    taken_ += count;
    return static_cast<size_t>(count);
  }
  int64_t taken() const override { return taken_; }
  bool would_wait() const override {
    pollfd input = {file_, POLLIN, 0};
    return !is_regular_ && ::poll(&input, 1, 0) == 0;
  }
  int descriptor() const override { return file_; }

 private:
  int64_t taken_ = 0;
  int64_t bytes_at_open_ = 0;
  bool is_regular_ = false;
  int file_;
  std::string path_;
};

// Any number of members, one after the other; zeros behind the last one pad it, as in archives.
// Whatever else stands there is an error: Java's reader, and so Flink, leaves it out silently.
class GzipFile final : public ByteStream {
 public:
  GzipFile(std::unique_ptr<ByteStream> packed, std::string path)
      : packed_(std::move(packed)), path_(std::move(path)), buffer_(kPackedBytes) {
    constexpr int kWindowBits = 15 + 16;  // with the head of a gzip file
    RT_CHECK(inflateInit2(&stream_, kWindowBits) == Z_OK);
  }
  ~GzipFile() override { inflateEnd(&stream_); }
  Result<size_t> Read(char* to, size_t bytes) override {
    const auto wanted = static_cast<uInt>(std::min<size_t>(bytes, 1 << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = wanted;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        RT_ASSIGN(const size_t count, packed_->Read(buffer_.data(), buffer_.size()));
        if (count == 0 && within_member_)
          return Status::DataError("cannot unpack {}: it is cut short", path_);
        if (count == 0) return size_t{0};
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      if (!within_member_ && members_ > 0) SkipZeros();
      if (stream_.avail_in > 0) RT_TRY(Inflate());
    }
    has_more_ = stream_.avail_in > 0 || stream_.avail_out == 0;
    return static_cast<size_t>(wanted - stream_.avail_out);
  }
  int64_t taken() const override { return packed_->taken(); }
  bool would_wait() const override { return !has_more_ && packed_->would_wait(); }
  int descriptor() const override { return packed_->descriptor(); }

 private:
  void SkipZeros() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
  }
  Status Inflate() {
    within_member_ = true;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      within_member_ = false;
      ++members_;
      inflateReset(&stream_);
      return Status::Ok();
    }
    if (result == Z_OK || result == Z_BUF_ERROR) return Status::Ok();
    const bool at_head = stream_.total_in < 10 && stream_.total_out == 0;
    const std::string where = members_ > 0 ? fmt::format(", behind its part {}", members_) : "";
    return Status::DataError("cannot unpack {}{}: {}", path_, where,
                             at_head ? "it is not in gzip format" : ReasonOf(result));
  }
  std::string ReasonOf(int result) const {
    return stream_.msg != nullptr ? stream_.msg : zError(result);
  }

  std::unique_ptr<ByteStream> packed_;
  std::string path_;
  std::vector<char> buffer_;
  z_stream stream_ = {};
  bool within_member_ = false;
  bool has_more_ = false;  // of what was taken: all the room was filled, or not all was unpacked
  int64_t members_ = 0;    // that are over
};

class ZstdFile final : public ByteStream {
 public:
  ZstdFile(std::unique_ptr<ByteStream> packed, std::string path)
      : packed_(std::move(packed)),
        path_(std::move(path)),
        buffer_(kPackedBytes),
        stream_(ZSTD_createDStream()) {}
  ~ZstdFile() override { ZSTD_freeDStream(stream_); }
  Result<size_t> Read(char* to, size_t bytes) override {
    ZSTD_outBuffer out{to, bytes, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        RT_ASSIGN(const size_t count, packed_->Read(buffer_.data(), buffer_.size()));
        if (count == 0 && !at_frame_end_)
          return Status::DataError("cannot unpack {}: it is cut short", path_);
        if (count == 0) return size_t{0};
        in_ = {buffer_.data(), count, 0};
      }
      const size_t left = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(left))
        return Status::DataError("cannot unpack {}: {}", path_, ZSTD_getErrorName(left));
      at_frame_end_ = left == 0;
    }
    has_more_ = in_.pos < in_.size || out.pos == out.size;
    return out.pos;
  }
  int64_t taken() const override { return packed_->taken(); }
  bool would_wait() const override { return !has_more_ && packed_->would_wait(); }
  int descriptor() const override { return packed_->descriptor(); }

 private:
  std::unique_ptr<ByteStream> packed_;
  std::string path_;
  std::vector<char> buffer_;
  ZSTD_inBuffer in_ = {};
  ZSTD_DStream* stream_;
  bool at_frame_end_ = true;
  bool has_more_ = false;  // of what was taken: all the room was filled, or not all was unpacked
};

// What is left of some bytes that were read to look at them, then the rest; UTF-16 on the way to
// UTF-8. Waits for no more bytes than it takes to know a byte order mark or a character.
class TextFile final : public ByteStream {
 public:
  explicit TextFile(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)) {}

  Result<size_t> Read(char* to, size_t bytes) override {
    if (!std::exchange(has_begun_, true)) RT_TRY(TakeMark());
    if (low_byte_ >= 0) return ReadUtf16(to, bytes);
    if (head_.empty()) return bytes_->Read(to, bytes);
    const size_t count = std::min(bytes, head_.size());
    std::memcpy(to, head_.data(), count);
    head_.erase(0, count);
    return count;
  }
  int64_t taken() const override { return bytes_->taken(); }
  bool would_wait() const override {
    const size_t unit = low_byte_ >= 0 ? 2 : 1;
    return head_.size() < unit && bytes_->would_wait();
  }
  int descriptor() const override { return bytes_->descriptor(); }

 private:
  static constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  static constexpr std::string_view kUtf16Marks[] = {"\xff\xfe", "\xfe\xff"};

  Status TakeMark() {
    RT_TRY(Fill(1, 1));
    if (head_.empty()) return Status::Ok();
    if (kUtf8Mark.starts_with(head_)) {
      for (size_t bytes = 2; bytes <= 3 && kUtf8Mark.starts_with(head_); ++bytes)
        RT_TRY(Fill(bytes, bytes));
      if (head_ == kUtf8Mark) head_.clear();
      return Status::Ok();
    }
    for (const std::string_view mark : kUtf16Marks) {
      if (!mark.starts_with(head_)) continue;
      RT_TRY(Fill(2, 2));
      if (head_ != mark) return Status::Ok();
      low_byte_ = mark[0] == '\xff' ? 0 : 1;
      head_.clear();
      return Status::Ok();
    }
    return Status::Ok();
  }

  // Waits for `least` bytes, less only at the end, and takes up to `most` that are there.
  Status Fill(size_t least, size_t most) {
    while (head_.size() < least) {
      const size_t before = head_.size();
      head_.resize(most);
      Result<size_t> count = bytes_->Read(head_.data() + before, most - before);
      head_.resize(before + (count.ok() ? *count : 0));
      if (!count.ok()) return count.status();
      if (*count == 0) break;
    }
    return Status::Ok();
  }

  uint32_t Unit(size_t at) const {
    const auto low = static_cast<unsigned char>(head_[at + static_cast<size_t>(low_byte_)]);
    const auto high = static_cast<unsigned char>(head_[at + 1 - static_cast<size_t>(low_byte_)]);
    return static_cast<uint32_t>(high) << 8 | low;
  }

  Result<size_t> ReadUtf16(char* to, size_t bytes) {
    char* out = to;
    const size_t most = std::max<size_t>(bytes / 3, 4);
    RT_TRY(Fill(2, most));
    if (head_.size() >= 2 && Unit(0) >= 0xd800 && Unit(0) < 0xdc00) RT_TRY(Fill(4, most));
    size_t at = 0;
    while (at + 2 <= head_.size() && static_cast<size_t>(out - to) + 4 <= bytes) {
      uint32_t code = Unit(at);
      size_t used = 2;
      if (code >= 0xd800 && code < 0xdc00 && at + 4 <= head_.size()) {
        const uint32_t low = Unit(at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          used = 4;
        }
      } else if (code >= 0xd800 && code < 0xdc00 && head_.size() >= 4 && at + 2 == head_.size()) {
        break;  // the other half comes with the next read
      }
      at += used;
      out = Utf8(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, out);
    }
    if (at == 0 && head_.size() == 1)
      return Status::DataError("UTF-16 text of an odd number of bytes");
    if (at == 0 && !head_.empty()) {  // half a pair at the very end
      out = Utf8(0xfffd, out);
      at = head_.size();
    }
    head_.erase(0, at);
    return static_cast<size_t>(out - to);
  }

  static char* Utf8(uint32_t code, char* out) {
    if (code < 0x80) {
      *out++ = static_cast<char>(code);
    } else if (code < 0x800) {
      *out++ = static_cast<char>(0xc0 | code >> 6);
      *out++ = static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      *out++ = static_cast<char>(0xe0 | code >> 12);
      *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
      *out++ = static_cast<char>(0x80 | (code & 0x3f));
    } else {
      *out++ = static_cast<char>(0xf0 | code >> 18);
      *out++ = static_cast<char>(0x80 | (code >> 12 & 0x3f));
      *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
      *out++ = static_cast<char>(0x80 | (code & 0x3f));
    }
    return out;
  }

  std::unique_ptr<ByteStream> bytes_;
  bool has_begun_ = false;
  std::string head_;   // read but not handed out
  int low_byte_ = -1;  // UTF-16: which byte of a unit is the lower one
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenBytes(const std::string& path) {
  if (path == kStandardStream) {
    static std::atomic<bool> is_taken = false;
    if (is_taken.exchange(true))
      return Status::External("standard input has been read already, and can be read once only")
          .WithHint("keep it in a file first: cat > rows.csv");
    return std::unique_ptr<ByteStream>(std::make_unique<PlainFile>(STDIN_FILENO, "standard input"));
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Status::External("cannot open {}: {}", path, std::strerror(errno));
  std::unique_ptr<ByteStream> plain = std::make_unique<PlainFile>(file, path);
  if (path.ends_with(".gz")) plain = std::make_unique<GzipFile>(std::move(plain), path);
  if (path.ends_with(".zst")) plain = std::make_unique<ZstdFile>(std::move(plain), path);
  return plain;
}

Result<std::unique_ptr<ByteStream>> OpenText(const std::string& path) {
  RT_ASSIGN(std::unique_ptr<ByteStream> bytes, OpenBytes(path));
  return std::unique_ptr<ByteStream>(std::make_unique<TextFile>(std::move(bytes)));
}

}  // namespace rowtide
