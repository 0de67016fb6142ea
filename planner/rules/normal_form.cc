#include "planner/rules/normal_form.h"

#include <algorithm>
#include <optional>
#include <set>

#include "planner/rules/sargs.h"

namespace rowtide {
namespace {

Expression Compared(const Expression& operand, const char* comparison, const Value& bound,
                    const Type& type) {
  return Expression::Call(comparison, {operand, Expression::Literal(bound, type.NotNull())},
                          Type::Boolean().WithNullable(operand.type.nullable));
}

Expression Joined(const char* function, std::vector<Expression> terms) {
  if (terms.size() == 1) return std::move(terms[0]);
  const bool nullable =
      std::any_of(terms.begin(), terms.end(), [](const Expression& e) { return e.type.nullable; });
  return Expression::Call(function, std::move(terms), Type::Boolean().WithNullable(nullable));
}

bool IsPoint(const Sarg::Range& range) {
  return range.lower && range.upper && range.lower_inclusive && range.upper_inclusive &&
         CompareConstants(*range.lower, *range.upper) == 0;
}

// `(-∞..1), (1..2), (2..+∞)`: everything but some points.
bool ExcludesPoints(const Sarg& sarg) {
  if (sarg.ranges.size() < 2 || sarg.ranges.front().lower || sarg.ranges.back().upper) return false;
  for (size_t i = 0; i + 1 < sarg.ranges.size(); ++i) {
    const Sarg::Range& below = sarg.ranges[i];
    const Sarg::Range& above = sarg.ranges[i + 1];
    if (!below.upper || !above.lower || below.upper_inclusive || above.lower_inclusive)
      return false;
    if (CompareConstants(*below.upper, *above.lower) != 0) return false;
  }
  return true;
}

Expression Within(const Expression& operand, const Sarg::Range& range, const Type& type) {
  if (IsPoint(range)) return Compared(operand, "=", *range.lower, type);
  std::vector<Expression> sides;
  if (range.lower)
    sides.push_back(Compared(operand, range.lower_inclusive ? ">=" : ">", *range.lower, type));
  if (range.upper)
    sides.push_back(Compared(operand, range.upper_inclusive ? "<=" : "<", *range.upper, type));
  return Joined("AND", std::move(sides));
}

// The terms of nested calls of `function`, each once.
void AddTerms(const char* function, const Expression& e, std::set<std::string>* seen,
              std::vector<Expression>* terms) {
  if (e.is_call(function)) {
    for (const Expression& operand : e.operands) AddTerms(function, operand, seen, terms);
  } else if (seen->insert(Digest(e)).second) {
    terms->push_back(e);
  }
}

Expression Flat(const char* function, const std::vector<Expression>& parts) {
  std::set<std::string> seen;
  std::vector<Expression> terms;
  for (const Expression& part : parts) AddTerms(function, part, &seen, &terms);
  return Joined(function, std::move(terms));
}

size_t CallsIn(const Expression& e) {
  size_t calls = 0;
  Walk(e, [&calls](const Expression& part) { calls += part.is_call() ? 1 : 0; });
  return calls;
}

// None: more than `most` calls.
std::optional<Expression> NormalForm(const Expression& e, size_t most) {
  if (e.is_call("AND")) {
    std::vector<Expression> parts;
    for (const Expression& operand : e.operands) {
      std::optional<Expression> part = NormalForm(operand, most);
      if (!part) return std::nullopt;
      parts.push_back(*std::move(part));
    }
    return Flat("AND", parts);
  }
  if (!e.is_call("OR")) return e;
  const std::optional<Expression> head = NormalForm(e.operands[0], most);
  const std::optional<Expression> tail =
      NormalForm(Joined("OR", {e.operands.begin() + 1, e.operands.end()}), most);
  if (!head || !tail) return std::nullopt;
  std::vector<Expression> pairs;
  for (const Expression& one : Conjuncts(*head)) {
    for (const Expression& other : Conjuncts(*tail)) {
      pairs.push_back(Flat("OR", {one, other}));
      if (pairs.size() > most) return std::nullopt;
    }
  }
  Expression all = Flat("AND", pairs);
  if (CallsIn(all) > most) return std::nullopt;
  return all;
}

}  // namespace

Expression WithoutSearch(Expression e) {
  for (Expression& operand : e.operands) operand = WithoutSearch(std::move(operand));
  if (!e.is_call("SEARCH") || !e.sarg) return e;
  const Expression& operand = e.operands[0];
  const Sarg& sarg = *e.sarg;
  std::vector<Expression> terms;
  if (sarg.null_as == Sarg::NullAs::kTrue)
    terms.push_back(Expression::Call("IS NULL", {operand}, Type::Boolean().NotNull()));
  if (ExcludesPoints(sarg)) {
    std::vector<Expression> excluded;
    for (size_t i = 0; i + 1 < sarg.ranges.size(); ++i) {
      excluded.push_back(Compared(operand, "<>", *sarg.ranges[i].upper, sarg.type));
    }
    terms.push_back(Joined("AND", std::move(excluded)));
  } else {
    for (const Sarg::Range& range : sarg.ranges) terms.push_back(Within(operand, range, sarg.type));
  }
  Expression any = Joined("OR", std::move(terms));
  if (sarg.null_as != Sarg::NullAs::kFalse) return any;
  return Joined("AND", {Expression::Call("IS NOT NULL", {operand}, Type::Boolean().NotNull()),
                        std::move(any)});
}

std::vector<Expression> NormalConjuncts(const Expression& condition) {
  Expression plain = WithoutSearch(condition);
  if (const std::optional<Expression> normal = NormalForm(plain, 2 * CallsIn(plain)))
    return Conjuncts(*normal);
  return plain.is_call("AND") ? std::move(plain.operands) : std::vector<Expression>{plain};
}

Expression NestedAnd(std::vector<Expression> terms) {
  Expression all = std::move(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    all = Joined("AND", {std::move(all), std::move(terms[i])});
  }
  return all;
}

}  // namespace rowtide
