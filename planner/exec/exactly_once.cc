#include "planner/exec/exactly_once.h"

#include "planner/exec/node_operators.h"

namespace rowtide {
namespace {

struct ExactlyOnceSink {
  std::string table;
  KafkaSinkSpec spec;
};

// Settings that only one of two tables has, or has otherwise. Values may be secrets.
std::string DifferingSetting(const KafkaSettings& a, const KafkaSettings& b) {
  for (const auto& [left, right] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const auto& [name, value] : *left) {
      const auto other = right->find(name);
      if (name == "bootstrap.servers" || name == "client.id") continue;
      if (other == right->end() || other->second != value) return name;
    }
  }
  return "";
}

Status CheckTogether(const ExactlyOnceSink& a, const ExactlyOnceSink& b) {
  const std::string both = fmt::format("tables {} and {} are written exactly once, by one job",
                                       Quote(a.table), Quote(b.table));
  if (!AreSameBrokers(a.spec.properties.bootstrap, b.spec.properties.bootstrap)) {
    return Status::Plan("{}, but lie on two clusters ({} and {}): no transaction spans both", both,
                        a.spec.properties.bootstrap, b.spec.properties.bootstrap)
        .WithErrorCode("RT2041")
        .WithHint(
            "write one of them with 'sink.delivery-guarantee' = 'at-least-once', or in a job of "
            "its own");
  }
  if (a.spec.transactional_id_prefix != b.spec.transactional_id_prefix) {
    return Status::Plan("{}, but have two values of 'sink.transactional-id-prefix', {} and {}",
                        both, Quote(a.spec.transactional_id_prefix),
                        Quote(b.spec.transactional_id_prefix))
        .WithErrorCode("RT2041")
        .WithHint("a job has one transaction: give both the same");
  }
  const std::string setting =
      DifferingSetting(a.spec.properties.settings, b.spec.properties.settings);
  if (setting.empty()) return Status::Ok();
  return Status::Plan("{}, but differ in 'properties.*' ({})", both, setting)
      .WithErrorCode("RT2041")
      .WithHint("a job has one transaction and so one producer: give both the same");
}

}  // namespace

Result<std::optional<ExactlyOnceSinks>> ExactlyOnceSinksOf(const ExecPlan& plan) {
  std::optional<ExactlyOnceSink> first;
  ExactlyOnceSinks sinks;
  for (const ExecPointer& root : plan.roots) {
    const auto* sink = root->as<PhysicalSink>();
    if (sink == nullptr) continue;
    const TableSpec table = SinkSpecOf(*sink->table, sink->hint_options);
    if (!IsKafka(table)) continue;
    RT_ASSIGN(KafkaSinkSpec spec, ReadKafkaSink(table));
    if (spec.guarantee != KafkaGuarantee::kExactlyOnce) continue;
    for (const std::string& topic : spec.topics.names) sinks.topics.emplace_back(table.name, topic);
    ExactlyOnceSink here{sink->table->path.name, std::move(spec)};
    if (first) RT_TRY(CheckTogether(*first, here));
    if (!first) first = std::move(here);
  }
  if (!first) return std::optional<ExactlyOnceSinks>();
  sinks.spec = std::move(first->spec);
  return std::optional<ExactlyOnceSinks>(std::move(sinks));
}

}  // namespace rowtide
