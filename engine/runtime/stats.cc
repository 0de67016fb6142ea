#include "engine/runtime/stats.h"

#include <algorithm>
#include <map>

#include "engine/snapshot.h"

namespace rowtide {

void NodeStats::CountOut(const RowKind* kinds, int rows) {
  ++batches_out;
  if (kinds == nullptr) {
    rows_out[0] += rows;
    return;
  }
  // Counted in bytes, so that 32 rows are looked at at once.
  constexpr int kRunRows = 255;
  std::array<int64_t, 4> counts = {rows, 0, 0, 0};
  for (int first = 0; first < rows; first += kRunRows) {
    const int end = std::min(first + kRunRows, rows);
    for (size_t kind = 1; kind < counts.size(); ++kind) {
      uint8_t count = 0;
      for (int row = first; row < end; ++row)
        count = static_cast<uint8_t>(count + (kinds[row] == static_cast<RowKind>(kind)));
      counts[kind] += count;
      counts[0] -= count;
    }
  }
  for (size_t kind = 0; kind < counts.size(); ++kind) rows_out[kind] += counts[kind];
}

// | rows in | rows out by kind | number of counters | name, count ... |     sorted; none is 0
std::string NodeStats::ToBytes(const Counters& counters_now) const {
  SnapshotWriter writer;
  writer.PutI64(rows_in);
  for (const int64_t rows : rows_out) writer.PutI64(rows);
  std::map<std::string_view, int64_t> counts;
  for (const Counters::Named& named : counters_now.all()) {
    if (*named.value != 0) counts.emplace(named.name, *named.value);
  }
  writer.PutU32(static_cast<uint32_t>(counts.size()));
  for (const auto& [name, count] : counts) {
    writer.PutBytes(name);
    writer.PutI64(count);
  }
  return writer.Take();
}

Status NodeStats::AddBytes(std::string_view bytes, Counters* counters_now) {
  if (bytes.empty()) return Status::Ok();
  SnapshotReader reader(bytes);
  RT_ASSIGN(const int64_t in, reader.I64("rows in"));
  rows_in += in;
  for (int64_t& rows : rows_out) {
    RT_ASSIGN(const int64_t out, reader.I64("rows out"));
    rows += out;
  }
  RT_ASSIGN(const uint32_t names, reader.U32("number of counters"));
  for (uint32_t i = 0; i < names; ++i) {
    RT_ASSIGN(const std::string_view name, reader.Bytes("name of a counter"));
    RT_ASSIGN(const int64_t count, reader.I64("count"));
    *counters_now->Find(std::string(name)) += count;
  }
  return Status::Ok();
}

void NodeStats::Add(const NodeStats& other) {
  rows_in += other.rows_in;
  for (size_t kind = 0; kind < rows_out.size(); ++kind) rows_out[kind] += other.rows_out[kind];
  batches_out += other.batches_out;
  sampled_nanos += other.sampled_nanos;
  state_entries += other.state_entries;
  state_bytes += other.state_bytes;
  bytes += other.bytes;
  if (time && other.time) {
    time = StreamTime::Of(std::array{*time, *other.time});
  } else if (other.time) {
    time = other.time;
  }
  for (const auto& [counter, count] : other.counters) {
    const auto known = std::find_if(counters.begin(), counters.end(),
                                    [&](const auto& one) { return one.first == counter; });
    if (known == counters.end()) {
      counters.emplace_back(counter, count);
    } else {
      known->second += count;
    }
  }
}

}  // namespace rowtide
