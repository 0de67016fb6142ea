#include "state/durable/manifest.h"

#include <xxhash.h>

#include <cstring>

#include "engine/key_group.h"
#include "state/durable/manifest.pb.h"

namespace rowtide {
namespace {

constexpr std::string_view kMagic = "RTMANIF\n";
constexpr size_t kHeadBytes = 8 + 4 + 8;
constexpr size_t kTailBytes = 8;

template <typename T>
void Put(T number, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename T>
T Get(const char* from) {
  T number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}

void Fill(const ManifestFile& file, manifest::File* to) {
  to->set_name(file.name);
  to->set_bytes(file.bytes);
  to->set_xxh3(file.xxh3);
}

// A name that could lead out of the checkpoint's folder is damage.
Result<ManifestFile> Read(const manifest::File& file) {
  const std::string& name = file.name();
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.'))
    return Status::Corruption("the manifest names a file {}", name);
  return ManifestFile{name, file.bytes(), file.xxh3()};
}

Result<ManifestLane> Read(const manifest::Lane& lane, int nodes) {
  ManifestLane read;
  RT_ASSIGN(read.nodes, Read(lane.nodes()));
  if (lane.node_bytes_size() != nodes)
    return Status::Corruption("a lane of the manifest has {} nodes of {}", lane.node_bytes_size(),
                              nodes);
  for (const manifest::NodeBytes& place : lane.node_bytes()) {
    if (place.bytes() > read.nodes.bytes || place.begin() > read.nodes.bytes - place.bytes())
      return Status::Corruption("the state of a node lies outside of {}", read.nodes.name);
    read.node_bytes.push_back({place.begin(), place.bytes()});
  }
  for (const manifest::File& file : lane.files()) {
    RT_ASSIGN(ManifestFile one, Read(file));
    read.files.push_back(std::move(one));
  }
  return read;
}

std::string VersionsRead() {
  if (Manifest::kOldestVersion == Manifest::kFormatVersion)
    return fmt::format("{} alone", Manifest::kFormatVersion);
  return fmt::format("{} to {}", Manifest::kOldestVersion, Manifest::kFormatVersion);
}

}  // namespace

std::string Manifest::ToBytes() const {
  manifest::Manifest to;
  to.set_format_version(kFormatVersion);
  to.set_epoch(epoch);
  to.set_kind(static_cast<manifest::Kind>(kind));
  to.set_job_id(job_id);
  to.set_job_name(job_name);
  to.set_run_id(run_id);
  to.set_rowtide_version(rowtide_version);
  to.set_millis(millis);
  to.set_plan(plan);
  to.set_plan_digest(XXH3_64bits(plan.data(), plan.size()));
  for (const std::string& statement : script.statements) to.add_statements(statement);
  for (const auto& [key, value] : script.settings) {
    manifest::Setting* one = to.add_settings();
    one->set_key(key);
    one->set_value(value);
  }
  to.set_key_groups(key_groups);
  to.set_state_ttl_millis(state_ttl_millis);
  to.set_next_source(next_source);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeIdentity& node = nodes[i];
    manifest::Node* one = to.add_nodes();
    one->set_table(tables[i]);
    one->set_kind(node.kind);
    one->set_description(node.description);
    for (const std::string& column : node.columns) one->add_columns(column);
  }
  for (const ManifestLane& lane : lanes) {
    manifest::Lane* one = to.add_lanes();
    Fill(lane.nodes, one->mutable_nodes());
    for (const ManifestLane::Place& place : lane.node_bytes) {
      manifest::NodeBytes* bytes = one->add_node_bytes();
      bytes->set_begin(place.begin);
      bytes->set_bytes(place.bytes);
    }
    for (const ManifestFile& file : lane.files) Fill(file, one->add_files());
  }
  const std::string body = to.SerializeAsString();
  std::string bytes(kMagic);
  Put(kFormatVersion, &bytes);
  Put(static_cast<uint64_t>(body.size()), &bytes);
  bytes += body;
  Put(static_cast<uint64_t>(XXH3_64bits(bytes.data(), bytes.size())), &bytes);
  return bytes;
}

Result<Manifest> Manifest::FromBytes(std::string_view bytes) {
  if (bytes.size() < kHeadBytes + kTailBytes || !bytes.starts_with(kMagic))
    return Status::Corruption("it is no manifest of a checkpoint, or only the beginning of one");
  const auto version = Get<uint32_t>(bytes.data() + kMagic.size());
  if (version > kFormatVersion || version < kOldestVersion)
    return Status::Unsupported("the checkpoint has format version {}; this program reads {}",
                               version, VersionsRead());
  const auto size = Get<uint64_t>(bytes.data() + kMagic.size() + 4);
  if (size != bytes.size() - kHeadBytes - kTailBytes)
    return Status::Corruption("the manifest has {} bytes and claims {}",
                              bytes.size() - kHeadBytes - kTailBytes, size);
  const std::string_view covered = bytes.substr(0, bytes.size() - kTailBytes);
  if (XXH3_64bits(covered.data(), covered.size()) != Get<uint64_t>(bytes.data() + covered.size())) {
    return Status::Corruption("the checksum of the manifest is wrong");
  }
  if (size > kBytesMax)
    return Status::Corruption("the manifest has {} bytes; at most {}", size, kBytesMax);
  manifest::Manifest from;
  if (!from.ParseFromArray(bytes.data() + kHeadBytes, static_cast<int>(size)))
    return Status::Corruption("the manifest cannot be read");
  Manifest read;
  read.epoch = from.epoch();
  if (from.kind() < manifest::PERIODIC || from.kind() > manifest::FINAL)
    return Status::Corruption("the manifest has kind {}", static_cast<int>(from.kind()));
  read.kind = static_cast<CheckpointKind>(from.kind());
  read.job_id = from.job_id();
  read.job_name = from.job_name();
  read.run_id = from.run_id();
  read.rowtide_version = from.rowtide_version();
  read.millis = from.millis();
  read.plan = from.plan();
  read.script.statements.assign(from.statements().begin(), from.statements().end());
  for (const manifest::Setting& one : from.settings())
    read.script.settings.emplace_back(one.key(), one.value());
  read.key_groups = from.key_groups();
  read.state_ttl_millis = from.state_ttl_millis();
  read.next_source = from.next_source();
  for (const manifest::Node& node : from.nodes()) {
    read.nodes.push_back(
        {node.kind(), node.description(), {node.columns().begin(), node.columns().end()}});
    read.tables.push_back(node.table());
  }
  for (const manifest::Lane& lane : from.lanes()) {
    RT_ASSIGN(ManifestLane one, Read(lane, from.nodes_size()));
    read.lanes.push_back(std::move(one));
  }
  if (read.lanes.size() > size_t{kKeyGroups})
    return Status::Corruption("the manifest has {} lanes; at most {}", read.lanes.size(),
                              kKeyGroups);
  if (read.lanes.empty()) return Status::Corruption("the manifest has no lanes");
  return read;
}

}  // namespace rowtide
