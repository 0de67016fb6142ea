// A file system under RocksDB that fails when it is told to: no space for what is appended, or
// errors on reading.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "state/durable/rocksdb_environment.h"

namespace rowtide {

class FaultyFiles final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyFiles"; }

  // Appends that still succeed; then there is no space. Negative: as many as wanted.
  std::atomic<int> appends_left{-1};
  std::atomic<bool> reads_fail{false};

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok()) *file = std::make_unique<Writable>(this, std::move(*file));
    return status;
  }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = target()->NewRandomAccessFile(name, options, file, debug);
    if (status.ok()) *file = std::make_unique<Readable>(this, std::move(*file));
    return status;
  }

 private:
  bool TakeAppend() {
    if (appends_left < 0) return true;
    if (appends_left == 0) return false;
    --appends_left;
    return true;
  }

  class Writable final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    Writable(FaultyFiles* files, std::unique_ptr<rocksdb::FSWritableFile> target)
        : FSWritableFileOwnerWrapper(std::move(target)), files_(files) {}
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      if (!files_->TakeAppend()) return rocksdb::IOStatus::NoSpace("injected");
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo& verification,
                             rocksdb::IODebugContext* debug) override {
      if (!files_->TakeAppend()) return rocksdb::IOStatus::NoSpace("injected");
      return FSWritableFileOwnerWrapper::Append(data, options, verification, debug);
    }

   private:
    FaultyFiles* files_;
  };

  class Readable final : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    Readable(FaultyFiles* files, std::unique_ptr<rocksdb::FSRandomAccessFile> target)
        : FSRandomAccessFileOwnerWrapper(std::move(target)), files_(files) {}
    rocksdb::IOStatus Read(uint64_t offset, size_t bytes, const rocksdb::IOOptions& options,
                           rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* debug) const override {
      if (files_->reads_fail) return rocksdb::IOStatus::IOError("injected");
      return FSRandomAccessFileOwnerWrapper::Read(offset, bytes, options, result, scratch, debug);
    }
    rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count,
                                const rocksdb::IOOptions& options,
                                rocksdb::IODebugContext* debug) override {
      if (files_->reads_fail) return rocksdb::IOStatus::IOError("injected");
      return FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, debug);
    }

   private:
    FaultyFiles* files_;
  };
};

// An environment over such files, which it shares.
struct FaultyDisk {
  std::shared_ptr<FaultyFiles> files = std::make_shared<FaultyFiles>();
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  RocksDbEnvironment environment{env.get()};
};

}  // namespace rowtide
