// An expression over the columns of a few rows gives the same in batches of one row and in one
// batch of all, or fails both times. Errors are the user's, never internal.
#include "connectors/rows.h"
#include "engine/clock.h"
#include "engine/runtime/job.h"
#include "engine/value_text.h"
#include "planner/exec/build_job.h"
#include "planner/session.h"
#include "planner/sql/parser.h"
#include "tests/fuzz/fuzz.h"

using namespace rowtide;

namespace {

constexpr std::string_view kTable = R"(
CREATE TABLE t (
  b BOOLEAN, i INT, l BIGINT, y TINYINT, e DECIMAL(20, 4), w DECIMAL(38, 10), f FLOAT, d DOUBLE,
  s STRING, c CHAR(5), x BYTES, a DATE, m TIME, ts TIMESTAMP(3), t9 TIMESTAMP(9), z TIMESTAMP_LTZ(3)
) WITH ('connector' = 'rows');
)";

const std::vector<ScriptEvent>& Rows() {
  static const std::vector<ScriptEvent> rows = [] {
    std::vector<ScriptEvent> events;
    for (
        const char* line : {
            R"(t +I [true,1,2,3,"4.5000","6.7",1.5,2.5,"abc","abc  ","YWJj","2026-01-31",)"
            R"("12:34:56","2026-01-31 12:34:56.789","2026-01-31 12:34:56.123456789",)"
            R"("2026-01-31 12:34:56.789Z"])",
            R"(t +I [null,null,null,null,null,null,null,null,null,null,null,null,null,null,)"
            R"(null,null])",
            R"(t +I [false,-2147483648,-9223372036854775808,-128,"-9999999999999999.9999",)"
            R"("-9999999999999999999999999999.9999999999",-0.0,1e300,"","     ","",)"
            R"("0001-01-01","00:00:00","0001-01-01 00:00:00.000",)"
            R"("9999-12-31 23:59:59.999999999","1970-01-01 00:00:00.000Z"])",
            R"(t +I [true,2147483647,9223372036854775807,127,"9999999999999999.9999",)"
            R"("0.0000000001",3.4e38,-1e-300,)"
            R"("{\"k\": [1, \"\\u00e4\"]} \u00e4\u00df\ud83d\ude00 long enough to lie in a block",)"
            R"("\u00e4b","/w==","2024-02-29","23:59:59","2024-02-29 23:59:59.999",)"
            R"("1969-12-31 23:59:59.999999999","2026-10-25 01:30:00.000Z"])",
        }) {
      Result<ScriptEvent> event = ParseScriptEvent(line, 1);
      if (!event.ok()) fuzz::Fail("the rows parse", event.status().ToString());
      events.push_back(std::move(*event));
    }
    return events;
  }();
  return rows;
}

class TextSink final : public Sink {
 public:
  TextSink(Schema schema, std::string* text) : schema_(std::move(schema)), text_(text) {}
  Status Write(const RowBatch& batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      AppendScriptRow(batch, row, schema_, text_);
      *text_ += '\n';
    }
    return Status::Ok();
  }

 private:
  Schema schema_;
  std::string* text_;
};

// The rows as text, or the code of the error.
std::string RunIn(const PlannedJob& planned, int rows_max) {
  ManualClock clock(1'769'862'896'789);
  RowsFeed feed(Rows());
  feed.SetCuts([rows_max] { return rows_max; });
  std::string text;
  BuildContext context;
  context.connectors.clock = &clock;
  context.connectors.feed = &feed;
  context.result = std::make_unique<TextSink>(planned.schema, &text);
  Result<std::vector<JobGraph>> graphs = BuildJob(planned, std::move(context));
  Status status = graphs.status();
  if (graphs.ok()) {
    Job job(std::move(*graphs), {&clock, 0, nullptr});
    status = job.RunToEnd().status();
  }
  if (status.ok()) return text;
  if (status.code() == StatusCode::kInternal)
    fuzz::Fail("an expression has no internal error", status.ToString());
  return Name(status.code());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<ast::Statement> table = *ParseScript(kTable);
  const std::string text = "SELECT " + std::string(fuzz::TextOf(data, size)) + " FROM t";
  const Result<std::vector<ast::Statement>> statements = ParseScript(text);
  if (!statements.ok() || statements->size() != 1) return 0;
  Session session;
  if (!session.Execute(table.front()).ok()) fuzz::Fail("the table can be made");
  const Result<Outcome> outcome = session.Execute(statements->front());
  if (!outcome.ok()) {
    if (outcome.status().code() == StatusCode::kInternal)
      fuzz::Fail("planning has no internal error", outcome.status().ToString());
    return 0;
  }
  const auto* planned = std::get_if<PlannedJob>(&*outcome);
  if (planned == nullptr) return 0;
  const std::string one_by_one = RunIn(*planned, 1);
  const std::string together = RunIn(*planned, 1000);
  if (one_by_one != together)
    fuzz::Fail("batches do not change a value: " + text, one_by_one, together);
  return 0;
}
