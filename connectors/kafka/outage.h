// Brokers that do not answer, as a source tells of them: that it waits, once, and that it goes on.
// Where nobody shows waits (engine/waits.h) they are lines on standard error. One thread.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "connectors/registry.h"
#include "engine/waits.h"

namespace rowtide {

class KafkaOutage {
 public:
  KafkaOutage(std::string table, std::string bootstrap, const ConnectorContext& context)
      : table_(std::move(table)),
        bootstrap_(std::move(bootstrap)),
        waits_(context.waits),
        error_(context.error) {}

  bool is_on() const { return is_on_; }
  void Note(const std::string& trouble) {
    const bool is_new = !std::exchange(is_on_, true);
    if (waits_ != nullptr) {
      waits_->Begin(table_, fmt::format("{}: {}", bootstrap_, trouble));
    } else if (is_new) {
      Say(fmt::format("waits for {}: {}", bootstrap_, trouble));
    }
  }
  void NoteEnd() {
    if (!std::exchange(is_on_, false)) return;
    if (waits_ != nullptr) {
      waits_->End(table_);
    } else {
      Say("goes on");
    }
  }
  // A line on standard error.
  void Say(const std::string& text) const {
    if (error_ == nullptr) return;
    std::fprintf(error_, "kafka: table %s: %s\n", table_.c_str(), text.c_str());
    std::fflush(error_);
  }

 private:
  const std::string table_;
  const std::string bootstrap_;
  Waits* const waits_;
  std::FILE* const error_;
  bool is_on_ = false;
};

}  // namespace rowtide
