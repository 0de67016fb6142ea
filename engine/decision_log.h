// The port of a place outside the state folder that decides which checkpoint counts, together with
// rows that become visible at the same moment (connectors/kafka/transactions.h).
//
//   Begin(run)     older instances can decide nothing any more; the newest decision there is
//   Decide(7)      7 counts, and its rows are visible: both, or neither
//
// A Decide that fails leaves open whether it was decided. Then the job has to end, and the next
// Begin tells. Begin is called while no job runs, Decide from the thread that writes checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/status.h"

namespace rowtide {

struct Decision {
  int64_t epoch = 0;
  std::string run_id;  // of the run that wrote the checkpoint
  std::string digest;  // of its manifest
  friend bool operator==(const Decision&, const Decision&) = default;
};

class DecisionLog {
 public:
  virtual ~DecisionLog() = default;
  virtual Result<std::optional<Decision>> Begin(const std::string& run_id) = 0;
  virtual Status Decide(const Decision& decision) = 0;
  // For messages: `transactional id p.orders on 127.0.0.1:9092`.
  virtual std::string Place() const = 0;
};

}  // namespace rowtide
