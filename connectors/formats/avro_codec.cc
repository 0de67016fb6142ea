#include "connectors/formats/avro_codec.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "engine/schema.h"

namespace rowtide {
namespace {

constexpr size_t kFirstBytes = 64 << 10;

Status TooLarge(size_t bytes_max) {
  return Status::DataError("it unpacks to more than {} bytes ('rowtide.limits.record-bytes')",
                           bytes_max);
}

// A block that grows while it is filled.
class Growing {
 public:
  explicit Growing(size_t bytes, size_t bytes_max)
      : bytes_max_(bytes_max), block_(std::make_shared<Block>(std::min(bytes, bytes_max))) {}

  char* free() { return block_->data() + used_; }
  size_t room() const { return block_->size() - used_; }
  void Use(size_t bytes) { used_ += bytes; }
  Status Grow() {
    if (block_->size() >= bytes_max_) return TooLarge(bytes_max_);
    auto larger = std::make_shared<Block>(std::min(2 * block_->size(), bytes_max_));
    std::memcpy(larger->data(), block_->data(), used_);
    block_ = std::move(larger);
    return Status::Ok();
  }
  size_t used() const { return used_; }
  AvroCodec::Unpacked Finish() { return {std::move(block_), used_}; }

 private:
  size_t bytes_max_;
  std::shared_ptr<Block> block_;
  size_t used_ = 0;
};

class PlainCodec final : public AvroCodec {
 public:
  std::string_view name() const override { return "null"; }
  bool is_plain() const override { return true; }
  Result<Unpacked> Unpack(std::string_view packed, size_t /*bytes_max*/) override {
    auto block = std::make_shared<Block>(packed.size());
    std::memcpy(block->data(), packed.data(), packed.size());
    return Unpacked{std::move(block), packed.size()};
  }
  Status Pack(std::string_view bytes, std::string* out) override {
    *out += bytes;
    return Status::Ok();
  }
};

class DeflateCodec final : public AvroCodec {
 public:
  DeflateCodec() {
    constexpr int kWindowBits = -15;  // no head
    constexpr int kMemoryLevel = 8;
    RT_CHECK(inflateInit2(&in_, kWindowBits) == Z_OK);
    RT_CHECK(deflateInit2(&out_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~DeflateCodec() override {
    inflateEnd(&in_);
    deflateEnd(&out_);
  }
  std::string_view name() const override { return "deflate"; }

  Result<Unpacked> Unpack(std::string_view packed, size_t bytes_max) override {
    inflateReset(&in_);
    Growing unpacked(std::max(last_bytes_, 4 * packed.size()), bytes_max);
    in_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    in_.avail_in = static_cast<uInt>(packed.size());
    while (true) {
      if (unpacked.room() == 0) RT_TRY(unpacked.Grow());
      const auto room = static_cast<uInt>(unpacked.room());
      in_.next_out = reinterpret_cast<Bytef*>(unpacked.free());
      in_.avail_out = room;
      const int result = inflate(&in_, Z_NO_FLUSH);
      unpacked.Use(room - in_.avail_out);
      if (result == Z_STREAM_END) break;
      if (result != Z_OK && result != Z_BUF_ERROR)
        return Status::DataError("it cannot be unpacked: {}",
                                 in_.msg != nullptr ? in_.msg : zError(result));
      if (in_.avail_in == 0 && in_.avail_out > 0)
        return Status::DataError("it cannot be unpacked: it is cut short");
    }
    last_bytes_ = std::max(unpacked.used(), kFirstBytes);
    return unpacked.Finish();
  }

  Status Pack(std::string_view bytes, std::string* out) override {
    deflateReset(&out_);
    const size_t before = out->size();
    const size_t room = deflateBound(&out_, bytes.size());
    out->resize(before + room);
    out_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    out_.avail_in = static_cast<uInt>(bytes.size());
    out_.next_out = reinterpret_cast<Bytef*>(out->data() + before);
    out_.avail_out = static_cast<uInt>(room);
    if (deflate(&out_, Z_FINISH) != Z_STREAM_END)
      return Status::Internal("deflate left some of {} bytes", bytes.size());
    out->resize(before + room - out_.avail_out);
    return Status::Ok();
  }

 private:
  z_stream in_ = {};
  z_stream out_ = {};
  size_t last_bytes_ = kFirstBytes;
};

class SnappyCodec final : public AvroCodec {
 public:
  std::string_view name() const override { return "snappy"; }

  Result<Unpacked> Unpack(std::string_view packed, size_t bytes_max) override {
    if (packed.size() < kSumBytes) return Status::DataError("it is too short for snappy");
    const std::string_view body = packed.substr(0, packed.size() - kSumBytes);
    size_t bytes = 0;
    if (!snappy::GetUncompressedLength(body.data(), body.size(), &bytes))
      return Status::DataError("it is not packed by snappy");
    if (bytes > bytes_max) return TooLarge(bytes_max);
    auto block = std::make_shared<Block>(bytes);
    if (!snappy::RawUncompress(body.data(), body.size(), block->data()))
      return Status::DataError("it cannot be unpacked by snappy");
    const std::string sum = SumOf({block->data(), bytes});
    if (packed.substr(body.size()) != sum)
      return Status::DataError("the checksum of its bytes is wrong");
    return Unpacked{std::move(block), bytes};
  }

  Status Pack(std::string_view bytes, std::string* out) override {
    const size_t before = out->size();
    size_t packed = snappy::MaxCompressedLength(bytes.size());
    out->resize(before + packed);
    snappy::RawCompress(bytes.data(), bytes.size(), out->data() + before, &packed);
    out->resize(before + packed);
    *out += SumOf(bytes);
    return Status::Ok();
  }

 private:
  static constexpr size_t kSumBytes = 4;

  static std::string SumOf(std::string_view bytes) {
    const uLong sum =
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(sum >> shift));
    return text;
  }
};

class ZstandardCodec final : public AvroCodec {
 public:
  ZstandardCodec() : in_(ZSTD_createDCtx()), out_(ZSTD_createCCtx()) {
    RT_CHECK(in_ != nullptr && out_ != nullptr);
  }
  ~ZstandardCodec() override {
    ZSTD_freeDCtx(in_);
    ZSTD_freeCCtx(out_);
  }
  std::string_view name() const override { return "zstandard"; }

  Result<Unpacked> Unpack(std::string_view packed, size_t bytes_max) override {
    ZSTD_DCtx_reset(in_, ZSTD_reset_session_only);
    const unsigned long long said = ZSTD_getFrameContentSize(packed.data(), packed.size());
    const bool is_said = said != ZSTD_CONTENTSIZE_UNKNOWN && said != ZSTD_CONTENTSIZE_ERROR;
    if (is_said && said > bytes_max) return TooLarge(bytes_max);
    Growing unpacked(is_said ? std::max<size_t>(said, 1) : std::max(last_bytes_, 4 * packed.size()),
                     bytes_max);
    ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
    while (true) {
      ZSTD_outBuffer out = {unpacked.free(), unpacked.room(), 0};
      const size_t left = ZSTD_decompressStream(in_, &out, &in);
      if (ZSTD_isError(left))
        return Status::DataError("it cannot be unpacked: {}", ZSTD_getErrorName(left));
      unpacked.Use(out.pos);
      if (left == 0 && in.pos == in.size) break;
      if (unpacked.room() == 0) {
        RT_TRY(unpacked.Grow());
      } else if (in.pos == in.size) {
        return Status::DataError("it cannot be unpacked: it is cut short");
      }
    }
    last_bytes_ = std::max(unpacked.used(), kFirstBytes);
    return unpacked.Finish();
  }

  Status Pack(std::string_view bytes, std::string* out) override {
    const size_t before = out->size();
    out->resize(before + ZSTD_compressBound(bytes.size()));
    const size_t packed = ZSTD_compressCCtx(out_, out->data() + before, out->size() - before,
                                            bytes.data(), bytes.size(), ZSTD_CLEVEL_DEFAULT);
    if (ZSTD_isError(packed)) return Status::Internal("zstd: {}", ZSTD_getErrorName(packed));
    out->resize(before + packed);
    return Status::Ok();
  }

 private:
  ZSTD_DCtx* in_;
  ZSTD_CCtx* out_;
  size_t last_bytes_ = kFirstBytes;
};

}  // namespace

Result<std::unique_ptr<AvroCodec>> CreateAvroCodec(std::string_view name) {
  using Made = std::unique_ptr<AvroCodec>;
  if (name == "null" || name.empty()) return Made(std::make_unique<PlainCodec>());
  if (name == "deflate") return Made(std::make_unique<DeflateCodec>());
  if (name == "snappy") return Made(std::make_unique<SnappyCodec>());
  if (name == "zstandard") return Made(std::make_unique<ZstandardCodec>());
  return Status::Unsupported("avro codec {}", Quote(name))
      .WithHint("there are null, deflate, snappy, zstandard");
}

}  // namespace rowtide
