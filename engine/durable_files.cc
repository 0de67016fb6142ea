#include "engine/durable_files.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

namespace rowtide {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 1 << 20;

Status Failed(std::string_view what, const std::string& path) {
  return Status::External("cannot {} {}: {}", what, path, std::strerror(errno));
}

class File {
 public:
  File(const std::string& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  bool Close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

Status WriteAll(const File& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("write", path);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Status::Ok();
}

// Calls `visit` with piece after piece.
template <typename Visit>
Status ReadPieces(const std::string& path, const Visit& visit) {
  const File file(path, O_RDONLY);
  if (!file) return Failed("open", path);
  std::vector<char> piece(kPieceBytes);
  while (true) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("read", path);
    if (count == 0) return Status::Ok();
    RT_TRY(visit(std::string_view(piece.data(), static_cast<size_t>(count))));
  }
}

Status SyncAndClose(File* file, const std::string& path) {
  if (::fsync(file->get()) != 0) return Failed("sync", path);
  return file->Close() ? Status::Ok() : Failed("close", path);
}

}  // namespace

Status WriteFileDurably(const std::string& path, std::string_view bytes) {
  File file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return Failed("make", path);
  RT_TRY(WriteAll(file, bytes, path));
  return SyncAndClose(&file, path);
}

Result<std::string> ReadWholeFile(const std::string& path) {
  std::string bytes;
  RT_TRY(ReadPieces(path, [&](std::string_view piece) {
    bytes += piece;
    return Status::Ok();
  }));
  return bytes;
}

Status SyncFile(const std::string& path) {
  const File file(path, O_RDONLY);
  if (!file) return Failed("open", path);
  return ::fsync(file.get()) == 0 ? Status::Ok() : Failed("sync", path);
}

Status RenameDurably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return Status::External("cannot rename {} to {}: {}", from, to, std::strerror(errno));
  const fs::path folder = fs::path(to).parent_path();
  return SyncFolder(folder.empty() ? "." : folder.string());
}

Status RemoveTree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return Status::External("cannot remove {}: {}", path, error.message());
  return Status::Ok();
}

Status LinkOrCopy(const std::string& from, const std::string& to, bool copies) {
  if (!copies && ::link(from.c_str(), to.c_str()) == 0) return Status::Ok();
  File file(to, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return Failed("make", to);
  RT_TRY(ReadPieces(from, [&](std::string_view piece) { return WriteAll(file, piece, to); }));
  return SyncAndClose(&file, to);
}

Result<FileDigest> DigestOf(const std::string& path) {
  const std::unique_ptr<XXH3_state_t, void (*)(XXH3_state_t*)> state(
      XXH3_createState(), [](XXH3_state_t* made) { XXH3_freeState(made); });
  XXH3_64bits_reset(state.get());
  FileDigest digest;
  RT_TRY(ReadPieces(path, [&](std::string_view piece) {
    digest.bytes += piece.size();
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
    return Status::Ok();
  }));
  digest.xxh3 = XXH3_64bits_digest(state.get());
  return digest;
}

}  // namespace rowtide
