// An operator with keyed state: names the parts of its state once, and is snapshotted and restored
// here for good.
//
// The constructor of a subclass registers every StatePart (value state, ordered state, timers,
// bundle, numbers); whatever is not registered is scratch. A snapshot is the operator's name and
// the parts in the order of registration; Restore and Merge refuse bytes of another operator.
// Requires: parts are members of the subclass, so they live as long.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/operator.h"
#include "state/shown_state.h"
#include "state/state_part.h"

namespace rowtide {

// Numbers of an operator that belong to no key: the watermark seen so far, the next arrival. They
// say how those of several lanes become one: `void Numbers::Merge(const Numbers& other)`.
template <typename Numbers>
class SavedNumbers final : public StatePart {
 public:
  Numbers* operator->() { return &numbers_; }
  const Numbers* operator->() const { return &numbers_; }
  void Snapshot(SnapshotWriter& writer) const override {
    writer.PutBytes({reinterpret_cast<const char*>(&numbers_), sizeof(numbers_)});
  }
  Status Restore(SnapshotReader& reader) override { return Read(reader, &numbers_); }
  Status Merge(SnapshotReader& reader) override {
    Numbers other;
    RT_TRY(Read(reader, &other));
    numbers_.Merge(other);
    return Status::Ok();
  }

 private:
  static Status Read(SnapshotReader& reader, Numbers* numbers) {
    RT_ASSIGN(const std::string_view bytes, reader.Bytes("numbers"));
    if (bytes.size() != sizeof(*numbers))
      return Status::Corruption("snapshot numbers have {} bytes", bytes.size());
    std::memcpy(numbers, bytes.data(), sizeof(*numbers));
    return Status::Ok();
  }
  Numbers numbers_{};
};

class KeyedOperator : public Operator {
 public:
  const Schema& output_schema() const override { return output_schema_; }
  Status Snapshot(SnapshotWriter& writer) const final;
  Status Restore(SnapshotReader& reader) final;
  Status Merge(SnapshotReader& reader) final;
  // What of its state has keys, for people to look at; borrows it.
  virtual ShownStates Shown();

 protected:
  KeyedOperator(std::string name, Schema output_schema)
      : output_schema_(std::move(output_schema)), name_(std::move(name)) {}
  void Register(StatePart* part) { parts_.push_back(part); }

  Schema output_schema_;

 private:
  Status ReadHead(SnapshotReader& reader) const;
  std::string name_;
  std::vector<StatePart*> parts_;
};

}  // namespace rowtide
