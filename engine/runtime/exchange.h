// Shares rows out among the lanes: where a lane's way ends and those of all lanes begin.
//
//   lane 0   … -> Exchange ──┬──> gate of lane 0      a row goes to the lane that owns its key
//   lane 1   … -> Exchange ──┴──> gate of lane 1      times and barriers go to all of them
//
// Rows of one key stay in order: they take one channel. Which lane owns a row is the partitioner's
// to say; without one all rows go to the only target. Used by its lane's thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/operator.h"
#include "engine/runtime/channel.h"

namespace rowtide {

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  // One number per row, each below the number of lanes.
  virtual Status LanesOf(const RowBatch& batch, std::vector<uint8_t>* lanes) = 0;
};

class Exchange final : public Operator {
 public:
  // `targets`: of the gates, by lane; borrowed. Requires: a partitioner, or one target.
  Exchange(std::unique_ptr<Partitioner> partitioner, std::vector<Channel*> targets);

  const Schema& output_schema() const override { return no_columns_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override;
  Status Advance(int input, Time time, Collector& out) override;
  void Send(Barrier barrier);

  // Some lane is behind: no more rows should be let in.
  bool is_over_limit() const;
  void SetProducer(LaneSignal* producer);

 private:
  std::unique_ptr<Partitioner> partitioner_;
  std::vector<Channel*> targets_;
  std::vector<uint8_t> lanes_;                      // scratch
  std::vector<std::vector<int32_t>> rows_of_lane_;  // scratch
  Schema no_columns_;
};

}  // namespace rowtide
