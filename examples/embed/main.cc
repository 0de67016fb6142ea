// Keeps the last event of each order, in a program that has a stream of its own: no SQL, no
// threads, no runtime. Batches go in by Process, changes come out through a Collector.
//
//   o1 created      +I o1 created
//   o2 created      +I o2 created
//   o1 paid         -U o1 created, +U o1 paid
//   o1 created      nothing: it is older than what is kept
#include <cstdio>
#include <string>

#include "engine/batch_builder.h"
#include "operators/deduplicate.h"

namespace {

using namespace rowtide;  // NOLINT: a main file

// Prints every change; a stream processor would hand them on.
class PrintChanges final : public Collector {
 public:
  explicit PrintChanges(Schema schema) : schema_(std::move(schema)) {}
  Status Emit(RowBatch batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      const Value id = ValueAt(batch, 0, row, schema_.type(0));
      const Value status = ValueAt(batch, 1, row, schema_.type(1));
      std::printf("%s %s %s\n", Text(batch.kind(row)), std::get<std::string>(id).c_str(),
                  std::get<std::string>(status).c_str());
    }
    return Status::Ok();
  }
  Status Advance(Time /*time*/) override { return Status::Ok(); }

 private:
  Schema schema_;
};

Status Run() {
  const Schema events({{"order_id", Type::String()},
                       {"status", Type::String()},
                       {"ts", Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime)}});
  DeduplicateSpec spec;
  spec.schema = events;
  spec.keys = {0};
  spec.rowtime = true;
  spec.order_column = 2;
  spec.keeps_last = true;

  SystemClock clock;
  Counters counters;
  StateSize state;
  OperatorContext context;
  context.clock = &clock;
  context.counters = &counters;
  context.state_size = &state;
  RT_ASSIGN(const std::unique_ptr<Operator> last_event, Create(spec, context));

  PrintChanges changes(events);
  const auto event = [](const char* id, const char* status, int64_t seconds) {
    return std::pair<RowKind, std::vector<Value>>{
        RowKind::kInsert, {std::string(id), std::string(status), seconds * 1000}};
  };
  const RowBatch batch = BatchOf(events, {event("o1", "created", 1), event("o2", "created", 2),
                                          event("o1", "paid", 5), event("o1", "created", 3)});
  RT_TRY(last_event->Process(0, batch, changes));
  std::printf("%lld orders are kept\n", static_cast<long long>(state.entries));
  return Status::Ok();
}

}  // namespace

int main() {
  const Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
