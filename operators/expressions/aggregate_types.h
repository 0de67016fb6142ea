// The result types of aggregate and ranking functions, as Flink gives them.
//
//   COUNT   BIGINT NOT NULL
//   SUM     the argument's type; DECIMAL(38, s) of a DECIMAL(p, s)
//   AVG     the argument's type; DECIMAL(38, max(6, s))
//   MIN MAX FIRST_VALUE LAST_VALUE     the argument's type
//   LISTAGG STRING                     STDDEV_* VAR_*  the argument's type, DECIMAL(38, max(6, s))
//
// All but COUNT are NULL over no rows: nullable when the argument is, when the query has no group
// keys, and when a FILTER may leave a group empty.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "operators/expressions/expression.h"

namespace rowtide {

bool IsAggregateFunction(std::string_view name);  // COUNT, SUM, …; upper case
bool IsRankingFunction(std::string_view name);    // ROW_NUMBER, RANK, DENSE_RANK
const std::vector<std::string>& AggregateNames();

// `arguments` is empty for COUNT(*). `may_be_empty`: no group keys, or a FILTER.
Result<Type> ResolveAggregate(std::string_view name, std::span<const Expression> arguments,
                              bool may_be_empty);

}  // namespace rowtide
