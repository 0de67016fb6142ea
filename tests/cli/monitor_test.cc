#include <gtest/gtest.h>

#include "cli/monitor/exposition.h"
#include "cli/monitor/http_server.h"
#include "cli/monitor/job_shape.h"
#include "cli/monitor/metrics_text.h"
#include "cli/monitor/status_json.h"
#include "cli/monitor/status_page.h"
#include "engine/gauges.h"

namespace rowtide {
namespace {

TEST(Exposition, FamiliesHaveHeadsAndLabelsAreEscaped) {
  Exposition out;
  out.Family("a_total", "counter", "A\\B\nC");
  out.Sample({{"x", "say \"hi\"\\\n"}, {"y", "z"}}, int64_t{3});
  out.Sample({}, 0.25);
  out.Family("empty", "gauge", "Nobody has any");
  EXPECT_EQ(out.Take(),
            "# HELP a_total A\\\\B\\nC\n# TYPE a_total counter\n"
            "a_total{x=\"say \\\"hi\\\"\\\\\\n\",y=\"z\"} 3\na_total 0.25\n");
}

TEST(HttpAddress, Forms) {
  const auto read = [](const std::string& text) {
    const Result<HttpAddress> address = ParseHttpAddress(text);
    return address.ok() ? fmt::format("{} {}", address->host, address->port) : "refused";
  };
  EXPECT_EQ(read(":9249"), "127.0.0.1 9249");
  EXPECT_EQ(read("9249"), "127.0.0.1 9249");
  EXPECT_EQ(read("0.0.0.0:0"), "0.0.0.0 0");
  EXPECT_EQ(read("[::1]:80"), "::1 80");
  EXPECT_EQ(read("localhost:80"), "localhost 80");
  for (const std::string text :
       {"", ":", "host", "host:", ":-1", ":65536", ":80x", "::1:80", "a/b:80"})
    EXPECT_EQ(read(text), "refused") << text;
}

// A look at a job with a source, an operator and a sink.
JobLook MadeUp() {
  JobLook look;
  look.name = "insert-into_s";
  look.state = JobState::kRunning;
  look.lanes = 1;
  look.shape.resize(3);
  look.nodes.resize(3);
  const char* const names[] = {"TableSourceScan", "Deduplicate", "Sink"};
  for (int i = 0; i < 3; ++i) {
    ShownNode& node = look.shape[static_cast<size_t>(i)];
    node.number = i;
    node.operation = names[i];
    if (i < 2) node.outputs = {i + 1};
  }
  look.shape[0].is_source = look.shape[2].is_sink = true;
  look.shape[0].table = "t";
  look.shape[2].table = "s\"\\";
  look.shape[1].mode = "I,UB,UA";
  look.nodes[0].rows_out = {10, 0, 0, 0};
  look.nodes[0].counters = {
      {"records_read", 12}, {"rejected", 2}, {"cast", 2}, {"cast_to_null", 1}};
  look.nodes[0].bytes = 500;
  look.nodes[1].rows_in = 10;
  look.nodes[1].rows_out = {4, 6, 6, 0};
  look.nodes[1].counters = {{"late", 3}};
  look.nodes[1].state_entries = 4;
  look.nodes[1].state_bytes = 400;
  look.nodes[2].rows_in = 16;
  look.nodes[2].time = StreamTime{1'000};
  look.checkpoint_millis = 5'000;
  look.checkpoints.completed = 2;
  look.checkpoints.recent = {
      {7, CheckpointKind::kPeriodic, 900, std::chrono::milliseconds(250), 123, ""},
      {8, CheckpointKind::kPeriodic, 950, {}, 0, "the disk is full"}};
  look.gauges = {{{"consumer_lag_records", "Records that wait"}, {{"partition", "0"}}, 42}};
  look.waits = {{"t", "broker localhost:9092 (try 3)", std::chrono::steady_clock::now()}};
  return look;
}

TEST(MetricsText, SaysWhatIsKnown) {
  const std::string text = MetricsText(MadeUp(), 3'000);
  for (const char* const line : {
           "rowtide_records_in_total{job=\"insert-into_s\",node=\"0\",operator=\"TableSourceScan\","
           "table=\"t\"} 12",
           "rowtide_bytes_in_total{job=\"insert-into_s\",node=\"0\",operator=\"TableSourceScan\","
           "table=\"t\"} 500",
           "table=\"t\",reason=\"cast\"} 2",
           "rowtide_node_counted_rows_total{job=\"insert-into_s\",node=\"1\",operator="
           "\"Deduplicate\",reason=\"late\"} 3",
           "rowtide_records_out_total{job=\"insert-into_s\",node=\"2\",operator=\"Sink\",table="
           "\"s\\\"\\\\\"} 16",
           "operator=\"Deduplicate\",kind=\"-U\"} 6",
           "rowtide_node_amplification_ratio{job=\"insert-into_s\",node=\"1\",operator="
           "\"Deduplicate\"} 1.6",
           "rowtide_node_state_bytes{job=\"insert-into_s\",node=\"1\",operator=\"Deduplicate\"} "
           "400",
           "rowtide_watermark_lag_seconds{job=\"insert-into_s\"} 2",
           "rowtide_checkpoints_completed_total{job=\"insert-into_s\"} 2",
           "rowtide_checkpoint_epoch{job=\"insert-into_s\"} 7",
           "rowtide_checkpoint_duration_seconds{job=\"insert-into_s\"} 0.25",
           "rowtide_checkpoint_bytes{job=\"insert-into_s\"} 123",
           "rowtide_job_state{job=\"insert-into_s\",state=\"running\"} 1",
           "rowtide_job_state{job=\"insert-into_s\",state=\"failed\"} 0",
           "rowtide_consumer_lag_records{job=\"insert-into_s\",partition=\"0\"} 42",
           "rowtide_waiting{job=\"insert-into_s\",table=\"t\"} 1",
       })
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(text.find("\"rejected\""), std::string::npos);  // the sum of the reasons
  EXPECT_EQ(text.find("localhost"), std::string::npos);     // texts are no labels
}

TEST(MetricsText, WithoutAJobTheProcessIsThere) {
  const std::string text = MetricsText(JobLook(), 3'000);
  EXPECT_NE(text.find("rowtide_build_info{version="), std::string::npos);
  EXPECT_EQ(text.find("rowtide_job_state"), std::string::npos);
}

TEST(StatusJson, RatesComeFromSamples) {
  JobLook look = MadeUp();
  const auto now = std::chrono::steady_clock::now();
  const auto sample = [&](int seconds_ago, int64_t rows, int64_t busy) {
    return JobSample{now - std::chrono::seconds(seconds_ago),
                     {{0, rows, 0, 0}, {rows, 2 * rows, 0, busy}, {2 * rows, 0, 0, 0}},
                     0,
                     busy};
  };
  EXPECT_NE(StatusJson(look, 3'000).find("\"rows_in_per_second\":null"), std::string::npos);
  look.samples = {sample(30, 0, 0), sample(5, 1'000, 0), sample(0, 2'000, 1'000'000'000)};
  const std::string json = StatusJson(look, 3'000);
  EXPECT_NE(json.find("\"rows_in_per_second\":200.0"), std::string::npos) << json;
  EXPECT_NE(json.find("\"busy\":0.2,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"blocked\":0.2,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"failure\":\"the disk is full\""), std::string::npos);
  EXPECT_NE(json.find("broker localhost:9092 (try 3)"), std::string::npos);
  EXPECT_NE(json.find("\"rejected\":{\"cast\":2}"), std::string::npos);
}

TEST(JobShape, WhatCrossesLanesIsLeftOut) {
  JobGraph graph;
  const int source = graph.AddNode("TableSourceScan(a.b.t)");
  const int exchange = graph.AddNode("Exchange");
  const int gate = graph.AddNode("InputGate");
  const int rank = graph.AddNode("Rank");
  const int sink = graph.AddNode("Sink(a.b.s)");
  graph.SetCrossing(exchange);
  graph.SetCrossing(gate);
  graph.Connect(source, exchange, 0);
  graph.SetGate(gate, std::make_unique<InputGate>(1), source);
  graph.Connect(gate, rank, 0);
  graph.Connect(rank, sink, 0);
  graph.SetMode(rank, ChangelogMode::All());
  const std::vector<ShownNode> shape = ShapeOf(graph);
  ASSERT_EQ(shape.size(), 3u);
  EXPECT_EQ(shape[0].outputs, std::vector<int>{1});
  EXPECT_EQ(shape[1].operation, "Rank");
  EXPECT_EQ(shape[1].mode, "I,UB,UA,D");
  EXPECT_EQ(shape[1].number, rank);
  EXPECT_EQ(shape[2].inputs, std::vector<int>{1});
}

TEST(StatusPage, IsOneDocument) {
  const std::string_view page = StatusPage();
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(page.find("https://"), std::string_view::npos);
  for (size_t at = page.find("http://"); at != page.npos; at = page.find("http://", at + 1))
    EXPECT_TRUE(page.substr(at).starts_with("http://www.w3.org/2000/svg"));  // a name
}

}  // namespace
}  // namespace rowtide
