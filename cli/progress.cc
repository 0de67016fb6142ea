#include "cli/progress.h"

#include <fmt/format.h>

#include <array>

#include "cli/terminal.h"
#include "engine/value_text.h"

namespace rowtide {

namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(200);

std::string Grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

// 999 | 1.2 k | 34.5 M
std::string Scaled(double number, double step, const std::array<const char*, 5>& units) {
  size_t unit = 0;
  while (number >= step && unit + 1 < units.size()) {
    number /= step;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 1, units[unit]);
}

std::string WatermarkText(int64_t millis) {
  std::string text;
  AppendCastText(Value(millis), Type::Of(TypeKind::kTimestamp, 3), "UTC", &text);
  return text;
}

}  // namespace

std::string ProgressText(const JobProgress& progress, double seconds, int columns,
                         const std::string& waits_for) {
  const double rate = seconds > 0 ? static_cast<double>(progress.rows_read) / seconds : 0;
  std::string text = fmt::format("{} rows  {}rows/s", Grouped(progress.rows_read),
                                 Scaled(rate, 1000, {"", "k ", "M ", "G ", "T "}));
  if (progress.share() >= 0) text += fmt::format("  {:.0f} %", progress.share() * 100);
  const bool has_watermark =
      progress.watermark != Time::kNoWatermark && progress.watermark != Time::kMaxWatermark;
  if (has_watermark) text += "  watermark " + WatermarkText(progress.watermark);
  if (progress.state_bytes > 0) {
    text += "  state " + Scaled(static_cast<double>(progress.state_bytes), 1024,
                                {"bytes", "KiB", "MiB", "GiB", "TiB"});
  }
  if (!waits_for.empty()) text += "  waiting for " + waits_for;
  if (columns > 1 && text.size() >= static_cast<size_t>(columns)) {
    text.resize(static_cast<size_t>(columns) - 1);  // a full line would wrap
  }
  return text;
}

bool ProgressLine::IsDue() const { return shown_ && Clock::now() >= next_; }

void ProgressLine::Draw(const JobProgress& progress, const std::string& waits_for) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  next_ = now + kRedrawEvery;
  drawn_ = true;
  const std::chrono::duration<double> took = now - begin_;
  std::fprintf(
      to_, "\r\x1b[K%s",
      ProgressText(progress, took.count(), TerminalColumns(fileno(to_)), waits_for).c_str());
  std::fflush(to_);
}

void ProgressLine::Clear() {
  const std::lock_guard lock(mutex_);
  if (!drawn_) return;
  drawn_ = false;
  std::fputs("\r\x1b[K", to_);
  std::fflush(to_);
}

}  // namespace rowtide
