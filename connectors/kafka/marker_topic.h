// The topic in which a job's decisions stand: `__rowtide.<pipeline>.commits`, of one partition,
// compacted, read by its own job alone.
//
//   offset   0    1 2   3    4 5
//            m1   c .   m2   c .       key  <pipeline>
//            ^marker ^commit           value {"epoch":2,"run":"5f3a01bc","checkpoint":"9d…",
//                                             "engine":"0.1.0"}
//
// A marker is written in the transaction that it decides, so it can be read (read_committed) if and
// only if the rows of its epoch can. The newest one counts. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "connectors/kafka/handle.h"
#include "engine/decision_log.h"

namespace rowtide {

class KafkaMarkerTopic {
 public:
  // `settings`: how to reach the cluster.
  KafkaMarkerTopic(KafkaSettings settings, const std::string& pipeline);

  const std::string& name() const { return name_; }
  std::string MarkerOf(const Decision& decision, const std::string& engine) const;

  // Made if it is not there; its settings are those that it needs. Returns how many replicas it
  // has.
  Result<int> Open(const KafkaHandle& handle, std::chrono::milliseconds longest);
  // Requires: Open. The newest decision; none: there is none. A transaction that is still open is
  // waited for, at most so long; then it hangs, and the error says what is known of it.
  Result<std::optional<Decision>> ReadNewest(std::chrono::milliseconds longest);
  // Requires: ReadNewest. Until the marker of the transaction that was committed can be read.
  Status AwaitNext(std::chrono::milliseconds longest);
  // The newest one whether it counts or not; none if that cannot be told soon.
  std::optional<Decision> PeekNewest();

 private:
  struct Found {
    std::optional<Decision> newest;
    bool is_at_end = false;
  };
  Result<std::unique_ptr<KafkaHandle>> Reader(bool committed) const;
  // `counts`: what is read has been decided, so epochs rise.
  Result<Found> Read(KafkaHandle& reader, KafkaOffsetRange range, bool counts,
                     std::chrono::milliseconds longest) const;
  Status Hangs(int64_t end);

  KafkaSettings settings_;
  std::string pipeline_;
  std::string name_;
  std::unique_ptr<KafkaHandle> committed_;
  int64_t end_ = 0;  // behind the newest marker that can be read, and what ends its transaction
};

}  // namespace rowtide
