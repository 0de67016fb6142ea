#include "tests/oracle/cases.h"

#include "tests/oracle/models.h"

namespace rowtide {
namespace {

// g: the key. id: a name, by which upserts know a row. v, s, d: what is ordered by. ts: row time.
// n: an end.
Schema Things() {
  return Schema({{"g", Type::Int()},
                 {"id", Type::String()},
                 {"v", Type::BigInt()},
                 {"s", Type::String()},
                 {"d", Type::Double()},
                 {"ts", Type::Timestamp(3).NotNull().WithTimeAttribute(TimeAttribute::kRowtime)},
                 {"n", Type::BigInt()}});
}
constexpr int kG = 0, kId = 1, kV = 2, kS = 3, kD = 4, kTs = 5, kN = 6;

bool OneIn(Random& random, uint64_t n) { return random() % n == 0; }
int64_t Below(Random& random, int64_t n) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
}

Value MaybeNull(Random& random, Value value) { return OneIn(random, 12) ? Value() : value; }

TestRow RandomThing(Random& random, int64_t time) {
  static const double kFloats[] = {0.0,  -0.0, 1.5, -2.25, std::numeric_limits<double>::quiet_NaN(),
                                   1e300};
  static const std::string kTexts[] = {"",
                                       "a",
                                       std::string("a\0b", 3),
                                       "b",
                                       "a text of more than twelve bytes",
                                       "a text of more than twelve bytes, and then some"};
  TestRow row;
  row.values = {
      MaybeNull(random, Below(random, 4)),
      "id" + std::to_string(Below(random, 7)) + (OneIn(random, 3) ? " with a long name" : ""),
      MaybeNull(random, Below(random, 9) - 4),
      MaybeNull(random, kTexts[Below(random, 6)]),
      MaybeNull(random, kFloats[Below(random, 6)]),
      Value(std::max<int64_t>(0, time - Below(random, 40))),
      MaybeNull(random, Below(random, 6))};
  return row;
}

std::vector<Event> Appends(Random& random) {
  std::vector<Event> events;
  int64_t watermark = -1;
  const int rows = 20 + static_cast<int>(Below(random, 100));
  for (int64_t i = 0; i < rows; ++i) {
    events.push_back({false, 0, RandomThing(random, 10 * i), 0});
    if (OneIn(random, 8) && 10 * i - 25 > watermark) {
      watermark = 10 * i - 25;
      events.push_back({true, watermark, {}, 0});
    }
  }
  return events;
}

// Adds, takes back, now and then takes back what is not there; in the end takes back everything.
std::vector<Event> Changes(Random& random) {
  std::vector<Event> events;
  std::vector<TestRow> live;
  const auto take_back = [&](size_t at) {
    TestRow row = live[at];
    live.erase(live.begin() + static_cast<ptrdiff_t>(at));
    row.kind = OneIn(random, 2) ? RowKind::kDelete : RowKind::kUpdateBefore;
    events.push_back({false, 0, row, 0});
  };
  const int rows = 20 + static_cast<int>(Below(random, 120));
  for (int i = 0; i < rows; ++i) {
    TestRow row = RandomThing(random, 10 * i);
    if (OneIn(random, 20)) {
      row.kind = RowKind::kDelete;
      row.values[kId] = std::string("nobody");
    } else if (!live.empty() && OneIn(random, 3)) {
      take_back(static_cast<size_t>(Below(random, static_cast<int64_t>(live.size()))));
      continue;
    } else {
      if (!live.empty() && OneIn(random, 6)) row = live[0];
      row.kind = OneIn(random, 2) ? RowKind::kInsert : RowKind::kUpdateAfter;
      live.push_back(row);
    }
    events.push_back({false, 0, row, 0});
  }
  while (!live.empty())
    take_back(static_cast<size_t>(Below(random, static_cast<int64_t>(live.size()))));
  return events;
}

// Upserts by (g, id) whose v never gets worse, ascending or descending.
std::function<std::vector<Event>(Random&)> Upserts(bool descending) {
  return [descending](Random& random) {
    std::vector<Event> events;
    std::map<std::string, int64_t> best;
    const int rows = 20 + static_cast<int>(Below(random, 120));
    for (int i = 0; i < rows; ++i) {
      TestRow row = RandomThing(random, 10 * i);
      row.values[kG] = Below(random, 3);
      const std::string key = std::to_string(std::get<int64_t>(row.values[kG])) +
                              std::get<std::string>(row.values[kId]);
      const auto at = best.find(key);
      int64_t value = at == best.end() ? Below(random, 60) : at->second;
      if (at != best.end() && !OneIn(random, 4)) value += (descending ? 1 : -1) * Below(random, 12);
      best[key] = value;
      row.values[kV] = value;
      row.kind = at == best.end() ? RowKind::kInsert : RowKind::kUpdateAfter;
      events.push_back({false, 0, row, 0});
    }
    return events;
  };
}

OracleCase Case(std::string name, const DeduplicateSpec& spec) {
  OracleCase oracle;
  oracle.name = "deduplicate " + std::move(name);
  oracle.input = spec.schema;
  oracle.factory = [spec](const OperatorContext& context) { return Create(spec, context); };
  oracle.stream = Appends;
  oracle.model = [spec] { return std::make_unique<DeduplicateModel>(spec); };
  oracle.key = spec.keys;
  if (!spec.emits_update_before) oracle.upsert_key = spec.keys;
  oracle.compares_after_each_row = !spec.mini_batch.enabled();
  return oracle;
}

}  // namespace

std::vector<OracleCase> Deduplications() {
  std::vector<OracleCase> cases;
  for (const bool rowtime : {false, true}) {
    for (const bool keeps_last : {false, true}) {
      for (const bool before : {false, true}) {
        for (const int64_t size : {0, 1, 7, 1000}) {
          for (const bool compacts : {false, true}) {
            if (compacts && (size == 0 || !rowtime)) continue;
            DeduplicateSpec spec;
            spec.schema = Things();
            spec.keys = {kG};
            spec.rowtime = rowtime;
            spec.order_column = rowtime ? kTs : -1;
            spec.keeps_last = keeps_last;
            spec.emits_update_before = before;
            spec.mini_batch.size = size;
            spec.compacts_changes = compacts;
            cases.push_back(Case(std::string(rowtime ? "rowtime" : "proctime") +
                                     (keeps_last ? " last" : " first") + (before ? "" : " upsert") +
                                     " bundle " + std::to_string(size) +
                                     (compacts ? " compact" : ""),
                                 spec));
          }
        }
      }
    }
  }
  DeduplicateSpec once;
  once.schema = Things();
  once.keys = {kG, kId};
  once.rowtime = true;
  once.order_column = kTs;
  once.outputs_insert_only = true;
  cases.push_back(Case("rowtime first once", once));
  return cases;
}

namespace {

OracleCase Case(std::string name, const RankSpec& spec) {
  OracleCase oracle;
  oracle.name = "rank " + std::move(name);
  oracle.input = spec.input;
  oracle.factory = [spec](const OperatorContext& context) { return Create(spec, context); };
  oracle.model = [spec] { return std::make_unique<RankModel>(spec); };
  oracle.key = spec.partition;
  switch (spec.strategy) {
    case RankSpec::Strategy::kAppendFast: oracle.stream = Appends; break;
    case RankSpec::Strategy::kUpdateFast: oracle.stream = Upserts(spec.order[0].descending); break;
    case RankSpec::Strategy::kRetract:
      oracle.stream = Changes;
      oracle.leaves_no_state = spec.variable_end < 0;
      break;
  }
  const bool by_number = spec.outputs_number();
  const bool is_top_one =
      spec.start == 1 && spec.end == 1 && spec.strategy != RankSpec::Strategy::kRetract;
  if (!spec.emits_update_before) {
    if (by_number) {
      oracle.upsert_key = {kG, 7};
    } else if (is_top_one) {
      oracle.upsert_key = {kG};
    } else if (spec.strategy == RankSpec::Strategy::kUpdateFast) {
      oracle.upsert_key = {kG, kId};
    }
  }
  return oracle;
}

}  // namespace

std::vector<OracleCase> Ranks() {
  const std::vector<std::vector<SortKey>> orders = {
      {{kV, false, true}},
      {{kV, true, false}},
      {{kS, false, false}, {kV, true, true}},
      {{kD, true, true}, {kS, true, false}},
      {{kTs, true, false}, {kD, false, true}},
  };
  std::vector<OracleCase> cases;
  for (const auto strategy : {RankSpec::Strategy::kAppendFast, RankSpec::Strategy::kUpdateFast,
                              RankSpec::Strategy::kRetract}) {
    for (size_t order = 0; order < orders.size(); ++order) {
      if (strategy == RankSpec::Strategy::kUpdateFast && order > 1) continue;
      for (const auto& [start, end] :
           std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 3}, {2, 4}, {3, 3}, {1, 40}}) {
        for (const bool number : {false, true}) {
          for (const bool before : {false, true}) {
            // Without -U and without a number, an offset range of upserts cannot be folded: the
            // plan never asks for it.
            if (!before && !number && start > 1) continue;
            RankSpec spec;
            spec.input = Things();
            spec.output = spec.input;
            if (number) spec.output.Add({"rn", Type::BigInt().NotNull()});
            spec.partition = {kG};
            spec.order = orders[order];
            spec.start = start;
            spec.end = end;
            spec.strategy = strategy;
            if (strategy == RankSpec::Strategy::kUpdateFast) spec.row_key = {kG, kId};
            spec.emits_update_before = before;
            static const char* kNames[] = {"append", "update", "retract"};
            cases.push_back(Case(std::string(kNames[static_cast<int>(strategy)]) + " order " +
                                     std::to_string(order) + " [" + std::to_string(start) + "," +
                                     std::to_string(end) + "]" + (number ? " number" : "") +
                                     (before ? "" : " no -U"),
                                 spec));
          }
        }
      }
    }
  }
  for (const auto strategy : {RankSpec::Strategy::kAppendFast, RankSpec::Strategy::kUpdateFast,
                              RankSpec::Strategy::kRetract}) {
    for (const bool number : {false, true}) {
      RankSpec spec;
      spec.input = Things();
      spec.output = spec.input;
      if (number) spec.output.Add({"rn", Type::BigInt().NotNull()});
      spec.partition = {kG};
      spec.order = orders[0];
      spec.variable_end = kN;
      spec.strategy = strategy;
      if (strategy == RankSpec::Strategy::kUpdateFast) spec.row_key = {kG, kId};
      cases.push_back(Case(std::string("variable end ") +
                               std::to_string(static_cast<int>(strategy)) +
                               (number ? " number" : ""),
                           spec));
    }
  }
  for (const auto strategy : {RankSpec::Strategy::kAppendFast, RankSpec::Strategy::kRetract}) {
    RankSpec limit;
    limit.input = limit.output = Things();
    limit.end = 5;
    limit.start = strategy == RankSpec::Strategy::kRetract ? 2 : 1;
    limit.strategy = strategy;
    cases.push_back(
        Case(std::string("limit ") + std::to_string(static_cast<int>(strategy)), limit));
  }
  return cases;
}

}  // namespace rowtide
