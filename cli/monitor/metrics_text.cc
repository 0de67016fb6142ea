#include "cli/monitor/metrics_text.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/monitor/counts.h"
#include "cli/monitor/exposition.h"
#include "cli/version.h"
#include "engine/changelog_mode.h"

namespace rowtide {
namespace {

double Seconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

double SecondsSince(std::chrono::steady_clock::time_point moment) {
  return Seconds(std::chrono::steady_clock::now() - moment);
}

std::optional<int64_t> WatermarkOf(const NodeStats& node) {
  if (!node.time || node.time->watermark == Time::kNoWatermark ||
      node.time->watermark == Time::kMaxWatermark)
    return std::nullopt;
  return node.time->watermark;
}

class MetricsWriter {
 public:
  MetricsWriter(const JobLook& look, int64_t now_millis) : look_(look), now_millis_(now_millis) {}

  std::string Write() {
    WriteProcess();
    if (look_.state == JobState::kNone) return out_.Take();
    WriteJob();
    WriteTables();
    WriteNodes();
    WriteTimes();
    WriteCheckpoints();
    WriteGauges();
    return out_.Take();
  }

 private:
  MetricLabels Job() const { return {{"job", look_.name}}; }
  MetricLabels Of(const ShownNode& node) const {
    MetricLabels labels = {
        {"job", look_.name}, {"node", std::to_string(node.number)}, {"operator", node.operation}};
    if (!node.table.empty()) labels.emplace_back("table", node.table);
    return labels;
  }
  static MetricLabels With(MetricLabels labels, const std::string& name, const std::string& value) {
    labels.emplace_back(name, value);
    return labels;
  }
  // Calls `write(node, stats)` for each node that something is known of.
  template <typename Write>
  void ForEach(Write write) {
    for (const ShownNode& node : look_.shape) {
      if (const NodeStats* stats = look_.stats(node)) write(node, *stats);
    }
  }

  void WriteProcess() {
    out_.Family("rowtide_build_info", "gauge", "The version that runs");
    out_.Sample({{"version", Version()}}, int64_t{1});
    out_.Family("rowtide_uptime_seconds", "gauge", "How long the process has run");
    out_.Sample({}, SecondsSince(look_.started));
    out_.Family("process_start_time_seconds", "gauge", "When the process began, since 1970");
    out_.Sample({}, static_cast<double>(now_millis_) / 1e3 - SecondsSince(look_.started));
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    out_.Family("process_cpu_seconds_total", "counter", "User and system time of the process");
    out_.Sample({}, seconds(used.ru_utime) + seconds(used.ru_stime));
    long pages = 0, resident = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
      std::fclose(file);
    }
    out_.Family("process_resident_memory_bytes", "gauge", "Memory that the process holds");
    out_.Sample({}, int64_t{resident} * ::sysconf(_SC_PAGESIZE));
    int64_t files = 0;
    if (DIR* const folder = ::opendir("/proc/self/fd")) {
      while (const dirent* entry = ::readdir(folder)) files += entry->d_name[0] != '.';
      ::closedir(folder);
      --files;  // the one that reads the folder
    }
    out_.Family("process_open_fds", "gauge", "Files and sockets that are open");
    out_.Sample({}, files);
  }

  void WriteJob() {
    out_.Family("rowtide_job_state", "gauge", "1 for the state that the job is in, 0 for others");
    for (const JobState state : kJobStates)
      out_.Sample(With(Job(), "state", Text(state)), int64_t{state == look_.state});
    out_.Family("rowtide_job_uptime_seconds", "gauge", "Time since the job's first start");
    out_.Sample(Job(), SecondsSince(look_.job_started));
    out_.Family("rowtide_restarts_total", "counter", "Starts of the job after a failure");
    out_.Sample(Job(), look_.restarts);
    out_.Family("rowtide_waiting", "gauge", "1 while a table waits for something outside");
    for (const Wait& wait : look_.waits) out_.Sample(With(Job(), "table", wait.who), int64_t{1});
    if (look_.nodes.empty()) return;
    out_.Family("rowtide_lanes", "gauge", "Lanes that the job runs on");
    out_.Sample(Job(), static_cast<int64_t>(look_.lanes));
    out_.Family("rowtide_report_age_seconds", "gauge",
                "Time since the slowest lane has told its counts");
    out_.Sample(Job(), SecondsSince(look_.oldest_report));
    out_.Family("rowtide_idle_seconds_total", "counter",
                "Time that lanes have waited for input, over all lanes of this start");
    out_.Sample(Job(), Seconds(look_.idle));
    out_.Family("rowtide_backpressured_seconds_total", "counter",
                "Time that lanes have waited for others or for room on the disk");
    out_.Sample(Job(), Seconds(look_.blocked));
  }

  void WriteTables() {
    out_.Family("rowtide_records_in_total", "counter", "Records that a source has read");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (node.is_source) out_.Sample(Of(node), CountsOf(stats, true).records);
    });
    out_.Family("rowtide_bytes_in_total", "counter", "Bytes that a source has read");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (node.is_source) out_.Sample(Of(node), stats.bytes);
    });
    out_.Family("rowtide_rejected_records_total", "counter",
                "Records that a source has rejected, by reason");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (!node.is_source) return;
      for (const auto& [reason, count] : CountsOf(stats, true).rejected)
        out_.Sample(With(Of(node), "reason", reason), count);
    });
    out_.Family("rowtide_skipped_offsets_total", "counter",
                "Offsets that a topic had no more when a source came to them");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      const int64_t skipped = CountsOf(stats, true).offsets_skipped;
      if (node.is_source && skipped > 0) out_.Sample(Of(node), skipped);
    });
    out_.Family("rowtide_records_out_total", "counter", "Rows that have come to a sink");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (node.is_sink) out_.Sample(Of(node), stats.rows_in);
    });
    out_.Family("rowtide_bytes_out_total", "counter", "Bytes that a sink has written");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (node.is_sink) out_.Sample(Of(node), stats.bytes);
    });
  }

  void WriteNodes() {
    out_.Family("rowtide_node_rows_in_total", "counter", "Rows that have come to a node");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (!node.is_source) out_.Sample(Of(node), stats.rows_in);
    });
    out_.Family("rowtide_node_rows_out_total", "counter", "Rows that a node has put out, by kind");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (node.is_sink) return;
      for (size_t kind = 0; kind < stats.rows_out.size(); ++kind)
        out_.Sample(With(Of(node), "kind", Text(static_cast<RowKind>(kind))), stats.rows_out[kind]);
    });
    out_.Family("rowtide_node_amplification_ratio", "gauge", "Rows out per row in");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (stats.rows_in > 0 && !node.is_sink) out_.Sample(Of(node), stats.amplification());
    });
    out_.Family("rowtide_node_counted_rows_total", "counter",
                "Rows that a node has set apart, by reason");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      for (const auto& [reason, count] : CountsOf(stats, node.is_source).others)
        out_.Sample(With(Of(node), "reason", reason), count);
    });
    out_.Family("rowtide_node_state_entries", "gauge", "Keys that a node keeps state of");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (stats.state_bytes > 0) out_.Sample(Of(node), stats.state_entries);
    });
    out_.Family("rowtide_node_state_bytes", "gauge", "Bytes of state that a node keeps");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      if (stats.state_bytes > 0) out_.Sample(Of(node), stats.state_bytes);
    });
    out_.Family("rowtide_node_busy_seconds_total", "counter",
                "Own time of a node, sampled, over all lanes of this start");
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      out_.Sample(Of(node), static_cast<double>(stats.sampled_nanos) / 1e9);
    });
  }

  void WriteTimes() {
    out_.Family("rowtide_node_watermark_seconds", "gauge",
                "Event time that a node has come to, since 1970");
    std::optional<int64_t> lowest;
    ForEach([&](const ShownNode& node, const NodeStats& stats) {
      const std::optional<int64_t> watermark = WatermarkOf(stats);
      if (!watermark) return;
      out_.Sample(Of(node), static_cast<double>(*watermark) / 1e3);
      if (node.is_sink) lowest = std::min(lowest.value_or(*watermark), *watermark);
    });
    if (!lowest) return;
    out_.Family("rowtide_watermark_lag_seconds", "gauge",
                "How far the lowest watermark of the sinks is behind the clock");
    out_.Sample(Job(), static_cast<double>(now_millis_ - *lowest) / 1e3);
  }

  void WriteCheckpoints() {
    if (!look_.checkpoint_millis) return;
    const CheckpointReport& all = look_.checkpoints;
    out_.Family("rowtide_checkpoints_completed_total", "counter", "Checkpoints that were decided");
    out_.Sample(Job(), all.completed);
    out_.Family("rowtide_checkpoints_failed_total", "counter", "Checkpoints that were given up");
    out_.Sample(Job(), all.failed);
    out_.Family("rowtide_checkpoint_interval_seconds", "gauge", "Time between two checkpoints");
    out_.Sample(Job(), static_cast<double>(*look_.checkpoint_millis) / 1e3);
    out_.Family("rowtide_checkpoint_age_seconds", "gauge",
                "Time since the newest checkpoint was decided");
    if (all.decided) out_.Sample(Job(), SecondsSince(*all.decided));
    const auto newest =
        std::find_if(all.recent.rbegin(), all.recent.rend(),
                     [](const CheckpointRecord& record) { return record.failure.empty(); });
    if (newest != all.recent.rend()) {
      out_.Family("rowtide_checkpoint_epoch", "gauge", "Number of the newest checkpoint");
      out_.Sample(Job(), newest->epoch);
      out_.Family("rowtide_checkpoint_duration_seconds", "gauge",
                  "Time that writing the newest checkpoint took");
      out_.Sample(Job(), Seconds(newest->took));
      out_.Family("rowtide_checkpoint_bytes", "gauge",
                  "Size of the newest checkpoint, files that did not change included");
      out_.Sample(Job(), newest->bytes);
    }
    out_.Family("rowtide_checkpoint_pause_seconds", "gauge",
                "Longest time that a lane has stood still for a checkpoint");
    out_.Sample(Job(), Seconds(look_.longest_stop));
    out_.Family("rowtide_checkpoint_pause_seconds_total", "counter",
                "Time that lanes have stood still for checkpoints, over all lanes");
    out_.Sample(Job(), Seconds(look_.stopped));
  }

  // Readings of one name lie together.
  void WriteGauges() {
    std::string_view name;
    for (const GaugeReading& reading : look_.gauges) {
      if (name != reading.name.name)
        out_.Family(fmt::format("rowtide_{}", reading.name.name), "gauge", reading.name.help);
      name = reading.name.name;
      MetricLabels labels = Job();
      labels.insert(labels.end(), reading.labels.begin(), reading.labels.end());
      out_.Sample(labels, reading.value);
    }
  }

  const JobLook& look_;
  const int64_t now_millis_;
  Exposition out_;
};

}  // namespace

std::string MetricsText(const JobLook& look, int64_t now_millis) {
  return MetricsWriter(look, now_millis).Write();
}

}  // namespace rowtide
