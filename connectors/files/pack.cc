#include "connectors/files/pack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace rowtide {
namespace {

constexpr size_t kStepBytes = 64 << 10;

class GzipPacker final : public Packer {
 public:
  GzipPacker() {
    constexpr int kWindowBits = 15 + 16;  // with the head of a gzip file
    RT_CHECK(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits, 8,
                          Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~GzipPacker() override { deflateEnd(&stream_); }

  Status Pack(std::string_view bytes, std::string* out) override {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kStepBytes))) {
      const std::string_view step = bytes.substr(0, kStepBytes);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(step.data()));
      stream_.avail_in = static_cast<uInt>(step.size());
      RT_TRY(Run(Z_NO_FLUSH, out));
    }
    return Status::Ok();
  }

  Status Finish(std::string* out) override {
    stream_.avail_in = 0;
    RT_TRY(Run(Z_FINISH, out));
    deflateReset(&stream_);
    return Status::Ok();
  }

 private:
  Status Run(int flush, std::string* out) {
    char buffer[kStepBytes];
    int result = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer);
      stream_.avail_out = kStepBytes;
      result = deflate(&stream_, flush);
      if (result == Z_STREAM_ERROR) return Status::Internal("gzip cannot pack");
      out->append(buffer, kStepBytes - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return Status::Ok();
  }

  z_stream stream_ = {};
};

class ZstdPacker final : public Packer {
 public:
  ZstdPacker() : stream_(ZSTD_createCCtx()) {}
  ~ZstdPacker() override { ZSTD_freeCCtx(stream_); }
  Status Pack(std::string_view bytes, std::string* out) override {
    return Run(bytes, ZSTD_e_continue, out);
  }
  Status Finish(std::string* out) override { return Run("", ZSTD_e_end, out); }

 private:
  Status Run(std::string_view bytes, ZSTD_EndDirective directive, std::string* out) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    size_t left = 0;
    do {
      char buffer[kStepBytes];
      ZSTD_outBuffer packed{buffer, kStepBytes, 0};
      left = ZSTD_compressStream2(stream_, &packed, &in, directive);
      if (ZSTD_isError(left)) return Status::Internal("zstd: {}", ZSTD_getErrorName(left));
      out->append(buffer, packed.pos);
    } while (in.pos < in.size || (directive == ZSTD_e_end && left > 0));
    return Status::Ok();
  }

  ZSTD_CCtx* stream_;
};

}  // namespace

std::unique_ptr<Packer> CreatePacker(Compression compression) {
  switch (compression) {
    case Compression::kNone: return nullptr;
    case Compression::kGzip: return std::make_unique<GzipPacker>();
    case Compression::kZstd: return std::make_unique<ZstdPacker>();
  }
  return nullptr;
}

const char* SuffixOf(Compression compression) {
  switch (compression) {
    case Compression::kNone: return "";
    case Compression::kGzip: return ".gz";
    case Compression::kZstd: return ".zst";
  }
  return "";
}

}  // namespace rowtide
