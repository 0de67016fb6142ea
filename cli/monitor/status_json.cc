#include "cli/monitor/status_json.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/monitor/counts.h"
#include "cli/version.h"
#include "engine/changelog_mode.h"

namespace rowtide {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kRateWindow{5};

double Seconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

Json Counted(const std::vector<std::pair<std::string, int64_t>>& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) {
    if (count != 0) json[name] = count;
  }
  return json;
}

Json WatermarkOf(const NodeStats& stats) {
  const bool has_one = stats.time && stats.time->watermark != Time::kNoWatermark &&
                       stats.time->watermark != Time::kMaxWatermark;
  return has_one ? Json(stats.time->watermark) : Json(nullptr);
}

class StatusWriter {
 public:
  StatusWriter(const JobLook& look, int64_t now_millis) : look_(look), now_millis_(now_millis) {
    if (look.samples.size() < 2) return;
    newest_ = &look.samples.back();
    for (const JobSample& sample : look.samples) {
      if (newest_->at - sample.at < kRateWindow + std::chrono::milliseconds(500)) {
        before_ = &sample;
        break;
      }
    }
    if (before_ == newest_) before_ = &look.samples[look.samples.size() - 2];
  }

  std::string Write() const {
    Json json = {{"version", Version()},
                 {"now_millis", now_millis_},
                 {"uptime_seconds", Since(look_.started)},
                 {"job", look_.state == JobState::kNone ? Json(nullptr) : Job()}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  static double Since(steady_clock::time_point moment) {
    return Seconds(steady_clock::now() - moment);
  }

  // How much a number of a node has grown, a second.
  template <typename Number>
  Json Rate(const ShownNode& node, Number JobSample::Node::* number) const {
    const auto at = static_cast<size_t>(node.number);
    if (newest_ == nullptr || at >= newest_->nodes.size() || at >= before_->nodes.size())
      return nullptr;
    const auto grown = newest_->nodes[at].*number - before_->nodes[at].*number;
    return static_cast<double>(grown) / Seconds(newest_->at - before_->at);
  }
  // A time of all lanes as a share of theirs.
  Json Share(int64_t nanos_now, int64_t nanos_before) const {
    if (look_.lanes == 0) return nullptr;
    const double whole =
        static_cast<double>((newest_->at - before_->at).count()) * static_cast<double>(look_.lanes);
    return std::clamp(static_cast<double>(nanos_now - nanos_before) / whole, 0.0, 1.0);
  }
  Json Busy(const ShownNode& node) const {
    const auto at = static_cast<size_t>(node.number);
    if (newest_ == nullptr || at >= newest_->nodes.size() || at >= before_->nodes.size())
      return nullptr;
    return Share(newest_->nodes[at].busy_nanos, before_->nodes[at].busy_nanos);
  }

  Json Node(const ShownNode& node) const {
    Json json = {{"number", node.number},  {"operator", node.operation},
                 {"table", node.table},    {"description", node.description},
                 {"changelog", node.mode}, {"source", node.is_source},
                 {"sink", node.is_sink},   {"outputs", node.outputs}};
    const NodeStats* const stats = look_.stats(node);
    if (stats == nullptr) return json;
    const ShownCounts counts = CountsOf(*stats, node.is_source);
    json["rows_in"] = stats->rows_in;
    json["rows_out"] = stats->total_out();
    for (size_t kind = 0; kind < stats->rows_out.size(); ++kind)
      json["kinds"][Text(static_cast<RowKind>(kind))] = stats->rows_out[kind];
    json["rows_in_per_second"] = Rate(node, &JobSample::Node::rows_in);
    json["rows_out_per_second"] = Rate(node, &JobSample::Node::rows_out);
    if (stats->rows_in > 0 && !node.is_sink) json["amplification"] = stats->amplification();
    json["state_entries"] = stats->state_entries;
    json["state_bytes"] = stats->state_bytes;
    json["busy"] = Busy(node);
    json["watermark_millis"] = WatermarkOf(*stats);
    if (node.is_source) json["records"] = counts.records;
    if (node.is_source || node.is_sink) {
      json["bytes"] = stats->bytes;
      json["bytes_per_second"] = Rate(node, &JobSample::Node::bytes);
    }
    json["rejected"] = Counted(counts.rejected);
    json["counters"] = Counted(counts.others);
    if (counts.offsets_skipped > 0) json["counters"]["offsets skipped"] = counts.offsets_skipped;
    return json;
  }

  // Rows a second of all sources and into all sinks, for each second of the last minute.
  Json Series() const {
    Json in = Json::array(), out = Json::array();
    for (size_t i = 1; i < look_.samples.size(); ++i) {
      const JobSample& now = look_.samples[i];
      const JobSample& before = look_.samples[i - 1];
      int64_t read = 0, written = 0;
      for (const ShownNode& node : look_.shape) {
        const auto at = static_cast<size_t>(node.number);
        if (at >= now.nodes.size() || at >= before.nodes.size()) continue;
        if (node.is_source) read += now.nodes[at].rows_out - before.nodes[at].rows_out;
        if (node.is_sink) written += now.nodes[at].rows_in - before.nodes[at].rows_in;
      }
      const double seconds = Seconds(now.at - before.at);
      in.push_back(static_cast<double>(read) / seconds);
      out.push_back(static_cast<double>(written) / seconds);
    }
    return {{"in", in}, {"out", out}};
  }

  Json Checkpoints() const {
    if (!look_.checkpoint_millis) return nullptr;
    const CheckpointReport& all = look_.checkpoints;
    Json recent = Json::array();
    for (auto record = all.recent.rbegin(); record != all.recent.rend(); ++record) {
      recent.push_back({{"epoch", record->epoch},
                        {"at_millis", record->millis},
                        {"seconds", Seconds(record->took)},
                        {"bytes", record->bytes},
                        {"failure", record->failure}});
    }
    return {{"interval_seconds", static_cast<double>(*look_.checkpoint_millis) / 1e3},
            {"completed", all.completed},
            {"failed", all.failed},
            {"writing_seconds", all.writes ? Json(Since(*all.writes)) : Json(nullptr)},
            {"age_seconds", all.decided ? Json(Since(*all.decided)) : Json(nullptr)},
            {"longest_pause_seconds", Seconds(look_.longest_stop)},
            {"recent", recent}};
  }

  Json Job() const {
    Json json = {{"name", look_.name},         {"state", Text(look_.state)},
                 {"detail", look_.detail},     {"uptime_seconds", Since(look_.job_started)},
                 {"restarts", look_.restarts}, {"lanes", look_.lanes}};
    if (!look_.nodes.empty()) json["report_age_seconds"] = Since(look_.oldest_report);
    if (newest_ != nullptr) {
      json["idle"] = Share(newest_->idle_nanos, before_->idle_nanos);
      json["blocked"] = Share(newest_->blocked_nanos, before_->blocked_nanos);
    }
    json["waits"] = Json::array();
    for (const Wait& wait : look_.waits) {
      json["waits"].push_back(
          {{"table", wait.who}, {"what", wait.what}, {"seconds", Since(wait.since)}});
    }
    json["nodes"] = Json::array();
    for (const ShownNode& node : look_.shape) json["nodes"].push_back(Node(node));
    json["series"] = Series();
    json["checkpoints"] = Checkpoints();
    json["gauges"] = Json::array();
    for (const GaugeReading& reading : look_.gauges) {
      Json labels = Json::object();
      for (const auto& [name, value] : reading.labels) labels[name] = value;
      json["gauges"].push_back(
          {{"name", reading.name.name}, {"labels", labels}, {"value", reading.value}});
    }
    return json;
  }

  const JobLook& look_;
  const int64_t now_millis_;
  const JobSample* newest_ = nullptr;  // null: there are no rates yet
  const JobSample* before_ = nullptr;
};

}  // namespace

std::string StatusJson(const JobLook& look, int64_t now_millis) {
  return StatusWriter(look, now_millis).Write();
}

}  // namespace rowtide
