#include "planner/physical/keys.h"

#include <algorithm>
#include <map>

namespace rowtide {
namespace {

ColumnSet AllOf(const std::vector<int>& columns) { return {columns.begin(), columns.end()}; }

bool Includes(const ColumnSet& all, const ColumnSet& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

void AddKey(ColumnSet key, std::vector<ColumnSet>* keys) {
  if (std::find(keys->begin(), keys->end(), key) == keys->end()) keys->push_back(std::move(key));
}

// Where each input column comes out: as itself or through an injective cast.
std::multimap<int, int> Forwarded(const PhysicalCalc& calc) {
  std::multimap<int, int> outputs;
  for (size_t i = 0; i < calc.projections.size(); ++i) {
    const Expression* e = &calc.projections[i];
    if (e->is_call("CAST") && KeepsDifferent(e->operands[0].type, e->type))
      e = &e->operands[0];  // one, as in Flink
    if (e->is_input()) outputs.emplace(e->column, static_cast<int>(i));
  }
  return outputs;
}

std::vector<ColumnSet> ThroughCalc(const PhysicalCalc& calc, const std::vector<ColumnSet>& keys) {
  const std::multimap<int, int> outputs = Forwarded(calc);
  std::vector<ColumnSet> mapped;
  for (const ColumnSet& key : keys) {
    std::vector<ColumnSet> variants = {ColumnSet{}};
    for (int column : key) {
      std::vector<ColumnSet> longer;
      const auto range = outputs.equal_range(column);
      for (auto found = range.first; found != range.second; ++found) {
        for (ColumnSet variant : variants) {
          variant.insert(found->second);
          longer.push_back(std::move(variant));
        }
      }
      variants = std::move(longer);
      if (variants.size() > 16)
        variants.resize(16);  // copies of copies of a key column add nothing
    }
    for (ColumnSet& variant : variants) AddKey(std::move(variant), &mapped);
  }
  return mapped;
}

ColumnSet ScanKey(const PhysicalScan& scan) {
  ColumnSet key;
  for (int column : scan.table->primary_key) {
    const auto found = std::find(scan.columns.begin(), scan.columns.end(), column);
    if (found == scan.columns.end()) return {};
    key.insert(static_cast<int>(found - scan.columns.begin()));
  }
  return key;
}

}  // namespace

bool KeepsDifferent(const Type& from, const Type& to) {
  if (from.SameButNullability(to)) return true;
  if (IsInteger(from) && IsInteger(to)) return to.kind >= from.kind;
  const int unlimited = kMaxLength;
  if (IsCharacter(to)) {
    int wanted = unlimited;
    switch (from.kind) {
      case TypeKind::kBoolean: wanted = 5; break;
      case TypeKind::kTinyInt: wanted = 4; break;
      case TypeKind::kSmallInt: wanted = 6; break;
      case TypeKind::kInt: wanted = 11; break;
      case TypeKind::kBigInt: wanted = 20; break;
      case TypeKind::kDate: wanted = 10; break;
      case TypeKind::kTime: wanted = 8 + (from.precision > 0 ? 1 + from.precision : 0); break;
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        wanted = 19 + (from.precision > 0 ? 1 + from.precision : 0);
        break;
      case TypeKind::kChar:
      case TypeKind::kVarChar: wanted = from.precision; break;
      default: return false;
    }
    return to.precision >= wanted;
  }
  if (IsCharacter(from) && IsBinary(to)) return to.precision == unlimited;
  if (IsTimestamp(from) && IsTimestamp(to)) return from.precision == to.precision;
  return false;
}

std::vector<ColumnSet> UpsertKeys(const PhysicalNode& node, const KeyOptions& options) {
  if (const auto* scan = node.as<PhysicalScan>()) {
    ColumnSet key = ScanKey(*scan);
    return key.empty() ? std::vector<ColumnSet>{} : std::vector<ColumnSet>{std::move(key)};
  }
  if (const auto* calc = node.as<PhysicalCalc>())
    return ThroughCalc(*calc, UpsertKeys(node.input(), options));
  if (const auto* exchange = node.as<PhysicalExchange>()) {
    std::vector<ColumnSet> keys = UpsertKeys(node.input(), options);
    if (exchange->keys.empty()) return keys;
    const ColumnSet hashed = AllOf(exchange->keys);
    const ColumnSet immutable = ImmutableColumns(node.input());
    std::erase_if(keys, [&](const ColumnSet& key) {
      ColumnSet fixed = key;
      fixed.insert(immutable.begin(), immutable.end());
      return !Includes(fixed, hashed);
    });
    return keys;
  }
  if (const auto* rank = node.as<PhysicalRank>()) {
    const ColumnSet partition = AllOf(rank->partition);
    const bool is_number = rank->type == RankType::kRowNumber;
    const bool one_row =
        is_number && !rank->range.is_variable() && rank->range.start == 1 && rank->range.end == 1;
    if (one_row && !rank->outputs_number) return {partition};
    std::vector<ColumnSet> keys;
    if (rank->outputs_number && is_number) {
      ColumnSet key = partition;
      key.insert(node.schema.size() - 1);
      keys.push_back(std::move(key));
    }
    if (!rank->outputs_number || options.flink_compat || options.ranks_give_update_before) {
      for (const ColumnSet& key : UpsertKeys(node.input(), options)) {
        if (Includes(key, partition)) AddKey(key, &keys);
      }
    }
    return keys;
  }
  if (const auto* sort = node.as<PhysicalSortLimit>()) {
    std::vector<ColumnSet> keys;
    for (const ColumnSet& key : UpsertKeys(node.input(), options)) AddKey(key, &keys);
    static_cast<void>(sort);
    return keys;
  }
  if (const auto* aggregate = node.as<PhysicalGroupAggregate>()) {
    if (aggregate->phase == AggregatePhase::kLocal) return {};
    ColumnSet key;
    for (int i = 0; i < static_cast<int>(aggregate->group.size()); ++i) key.insert(i);
    return {key};
  }
  if (const auto* normalize = node.as<PhysicalChangelogNormalize>())
    return {AllOf(normalize->keys)};
  if (node.as<PhysicalWatermarkAssigner>() || node.as<PhysicalMiniBatchAssigner>() ||
      node.as<PhysicalDropUpdateBefore>() || node.as<PhysicalLimit>() ||
      node.as<PhysicalFinalRows>()) {
    return UpsertKeys(node.input(), options);
  }
  if (const auto* over = node.as<PhysicalOverAggregate>()) {
    std::vector<ColumnSet> keys;
    ColumnSet partition;
    for (const Expression& part : over->calls[0].over->partition) partition.insert(part.column);
    for (const ColumnSet& key : UpsertKeys(node.input(), options)) {
      if (Includes(key, partition)) AddKey(key, &keys);
    }
    return keys;
  }
  return {};
}

std::vector<ColumnSet> GroupingKeys(const PhysicalNode& node) {
  if (node.as<PhysicalScan>() || node.as<PhysicalGroupAggregate>()) return UpsertKeys(node);
  if (const auto* calc = node.as<PhysicalCalc>())
    return ThroughCalc(*calc, GroupingKeys(node.input()));
  if (node.as<PhysicalWatermarkAssigner>()) return GroupingKeys(node.input());
  return {};
}

ColumnSet ImmutableColumns(const PhysicalNode& node) {
  if (const auto* scan = node.as<PhysicalScan>()) return ScanKey(*scan);
  if (const auto* calc = node.as<PhysicalCalc>()) {
    const ColumnSet below = ImmutableColumns(node.input());
    ColumnSet columns;
    for (const auto& [from, to] : Forwarded(*calc)) {
      if (below.count(from)) columns.insert(to);
    }
    return columns;
  }
  if (node.as<PhysicalExchange>() || node.as<PhysicalWatermarkAssigner>() ||
      node.as<PhysicalDropUpdateBefore>() || node.as<PhysicalMiniBatchAssigner>() ||
      node.as<PhysicalChangelogNormalize>()) {
    return ImmutableColumns(node.input());
  }
  return {};
}

}  // namespace rowtide
