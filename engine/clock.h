// Time as the engine sees it: injectable, so that tests decide what time it is.
//
// `NowMillis` is wall-clock time for PROCTIME(), CURRENT_TIMESTAMP and state TTL. Nothing that
// decides the order of rows reads a clock (arrival numbers do that).
#pragma once

#include <cstdint>
#include <limits>

namespace rowtide {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowMillis() const = 0;  // since 1970-01-01 UTC
};

class SystemClock final : public Clock {
 public:
  int64_t NowMillis() const override;
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_millis = 0) : now_millis_(now_millis) {}
  int64_t NowMillis() const override { return now_millis_; }
  void Set(int64_t now_millis) { now_millis_ = now_millis; }
  void Advance(int64_t millis) { now_millis_ += millis; }

 private:
  int64_t now_millis_;
};

// What moves an operator forward besides rows.
//   kWatermark  `millis`: no row with an earlier row time is expected (event time)
//   kTick       `millis`: processing time has come this far
//   kIdle       the input has gone quiet; its watermark is not waited for
//   kEnd        the input is over; a watermark of kMaxWatermark came before
struct Time {
  enum class Kind : uint8_t { kWatermark, kTick, kIdle, kEnd };
  static constexpr int64_t kMaxWatermark = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kNoWatermark = std::numeric_limits<int64_t>::min();

  Kind kind = Kind::kWatermark;
  int64_t millis = kNoWatermark;

  static Time Watermark(int64_t millis) { return {Kind::kWatermark, millis}; }
  static Time Tick(int64_t millis) { return {Kind::kTick, millis}; }
  static Time Idle() { return {Kind::kIdle, 0}; }
  static Time End() { return {Kind::kEnd, kMaxWatermark}; }
};

}  // namespace rowtide
