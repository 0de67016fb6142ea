// The MANIFEST of a checkpoint as bytes: what it consists of, and checksums of all of it.
//
//   | magic: 8 bytes | format version: u32 | size: u64 | Manifest (manifest.proto) | xxh3: u64 |
//
// The checksum covers all that stands before it. Reading never trusts: sizes first, then the
// checksum, then names (relative, no `..`) and places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/status.h"

namespace rowtide {

struct ManifestFile {
  std::string name;
  uint64_t bytes = 0;
  uint64_t xxh3 = 0;
};

struct ManifestLane {
  ManifestFile nodes;
  struct Place {
    uint64_t begin = 0;
    uint64_t bytes = 0;
  };
  std::vector<Place> node_bytes;  // in the order of Manifest::nodes
  std::vector<ManifestFile> files;
};

struct Manifest {
  static constexpr uint32_t kFormatVersion = 1;
  static constexpr uint32_t kOldestVersion = 1;  // that is read
  static constexpr uint64_t kBytesMax = uint64_t{1} << 30;

  int64_t epoch = 0;
  CheckpointKind kind = CheckpointKind::kPeriodic;
  std::string job_id;
  std::string job_name;
  std::string run_id;
  std::string rowtide_version;
  int64_t millis = 0;
  std::string plan;
  JobScript script;  // empty: an older program did not write it
  uint32_t key_groups = 0;
  int64_t state_ttl_millis = 0;
  uint32_t next_source = 0;
  std::vector<NodeIdentity> nodes;
  std::vector<uint32_t> tables;  // of each node: of its entries in the lane's backend
  std::vector<ManifestLane> lanes;

  std::string ToBytes() const;
  // kCorruption: damaged. kUnsupported: of a version that is not read, with those that are.
  static Result<Manifest> FromBytes(std::string_view bytes);
};

}  // namespace rowtide
