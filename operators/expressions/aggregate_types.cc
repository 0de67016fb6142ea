#include "operators/expressions/aggregate_types.h"

#include <algorithm>

#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

enum class Rule : uint8_t { kCount, kSum, kAverage, kSame, kComparable, kText, kSpread };

struct Aggregate {
  const char* name;
  int arguments_min;
  int arguments_max;
  Rule rule;
};

constexpr Aggregate kAggregates[] = {
    {"COUNT", 0, 64, Rule::kCount},      {"SUM", 1, 1, Rule::kSum},
    {"$SUM0", 1, 1, Rule::kSum},         {"AVG", 1, 1, Rule::kAverage},
    {"MIN", 1, 1, Rule::kComparable},    {"MAX", 1, 1, Rule::kComparable},
    {"FIRST_VALUE", 1, 2, Rule::kSame},  {"LAST_VALUE", 1, 2, Rule::kSame},
    {"LAG", 1, 3, Rule::kSame},          {"LEAD", 1, 3, Rule::kSame},
    {"SINGLE_VALUE", 1, 1, Rule::kSame}, {"LISTAGG", 1, 2, Rule::kText},
    {"STDDEV_POP", 1, 1, Rule::kSpread}, {"STDDEV_SAMP", 1, 1, Rule::kSpread},
    {"STDDEV", 1, 1, Rule::kSpread},     {"VAR_POP", 1, 1, Rule::kSpread},
    {"VAR_SAMP", 1, 1, Rule::kSpread},   {"VARIANCE", 1, 1, Rule::kSpread},
};

const Aggregate* Find(std::string_view name) {
  for (const Aggregate& aggregate : kAggregates) {
    if (aggregate.name == name) return &aggregate;
  }
  return nullptr;
}

Type SpreadType(const Type& type) {
  return type.kind == TypeKind::kDecimal ? Type::Decimal(38, std::max(6, type.scale)) : type;
}

Type ResultType(Rule rule, const Type& argument) {
  switch (rule) {
    case Rule::kCount: return Type::BigInt();
    case Rule::kSum:
      return argument.kind == TypeKind::kDecimal ? Type::Decimal(38, argument.scale) : argument;
    case Rule::kAverage:
    case Rule::kSpread: return SpreadType(argument);
    case Rule::kText: return Type::String();
    case Rule::kSame:
    case Rule::kComparable: return argument;
  }
  RT_CHECK(false);
}

Status CheckArgument(const Aggregate& aggregate, const Type& type) {
  const bool number = aggregate.rule == Rule::kSum || aggregate.rule == Rule::kAverage ||
                      aggregate.rule == Rule::kSpread;
  if (number && !IsNumber(type)) {
    return Status::InvalidArgument("{} needs a number, not {}", aggregate.name, ToString(type))
        .WithErrorCode("RT2006");
  }
  if (aggregate.rule == Rule::kText && !IsCharacter(type)) {
    return Status::InvalidArgument("{} needs a string, not {}", aggregate.name, ToString(type))
        .WithErrorCode("RT2006");
  }
  return Status::Ok();
}

}  // namespace

bool IsAggregateFunction(std::string_view name) { return Find(name) != nullptr; }

bool IsRankingFunction(std::string_view name) {
  return name == "ROW_NUMBER" || name == "RANK" || name == "DENSE_RANK";
}

const std::vector<std::string>& AggregateNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list{"ROW_NUMBER", "RANK", "DENSE_RANK"};
    for (const Aggregate& aggregate : kAggregates) list.emplace_back(aggregate.name);
    return list;
  }();
  return names;
}

Result<Type> ResolveAggregate(std::string_view name, std::span<const Expression> arguments,
                              bool may_be_empty) {
  if (IsRankingFunction(name)) {
    if (!arguments.empty())
      return Status::InvalidArgument("{} takes no arguments", name).WithErrorCode("RT2022");
    return Type::BigInt().NotNull();
  }
  const Aggregate* aggregate = Find(name);
  if (!aggregate) return Status::NotFound("no aggregate function {}", name);
  const int count = static_cast<int>(arguments.size());
  if (count < aggregate->arguments_min || count > aggregate->arguments_max) {
    return Status::InvalidArgument("{} does not take {} arguments", name, count)
        .WithErrorCode("RT2022");
  }
  if (aggregate->rule == Rule::kCount) return Type::BigInt().NotNull();
  const Type& argument = arguments[0].type;
  RT_TRY(CheckArgument(*aggregate, argument));
  const bool shifts = name == "LAG" || name == "LEAD";
  return ResultType(aggregate->rule, argument)
      .WithoutTimeAttribute()
      .WithNullable(argument.nullable || may_be_empty || (shifts && count < 3));
}

}  // namespace rowtide
