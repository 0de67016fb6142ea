#include "planner/rules/sargs.h"

#include <algorithm>

namespace rowtide {
namespace {

using Range = Sarg::Range;

// One term as ranges over one column.
struct Term {
  int column = -1;
  Type column_type;
  Type type;  // of the points
  std::vector<Range> ranges;
  bool null_is_true = false;  // `OR x IS NULL`
};

Range Point(const Value& value) { return {value, value, true, true}; }

bool IsPoint(const Range& range) {
  return range.lower && range.upper && range.lower_inclusive && range.upper_inclusive &&
         CompareValues(*range.lower, *range.upper) == 0;
}

bool IsEmpty(const Range& range) {
  if (!range.lower || !range.upper) return false;
  const int order = CompareValues(*range.lower, *range.upper);
  return order > 0 || (order == 0 && !(range.lower_inclusive && range.upper_inclusive));
}

// Orders lower bounds; no bound comes first, an inclusive one before an exclusive one.
int CompareLower(const Range& a, const Range& b) {
  if (!a.lower || !b.lower) return static_cast<int>(a.lower.has_value()) - static_cast<int>(b.lower.has_value());
  const int order = CompareValues(*a.lower, *b.lower);
  if (order != 0) return order;
  return static_cast<int>(b.lower_inclusive) - static_cast<int>(a.lower_inclusive);
}

int CompareUpper(const Range& a, const Range& b) {
  if (!a.upper || !b.upper) return static_cast<int>(b.upper.has_value()) - static_cast<int>(a.upper.has_value());
  const int order = CompareValues(*a.upper, *b.upper);
  if (order != 0) return order;
  return static_cast<int>(a.upper_inclusive) - static_cast<int>(b.upper_inclusive);
}

// Whether `next`, which does not start before `range`, touches or overlaps it.
bool Connected(const Range& range, const Range& next) {
  if (!range.upper || !next.lower) return true;
  const int order = CompareValues(*range.upper, *next.lower);
  return order > 0 || (order == 0 && (range.upper_inclusive || next.lower_inclusive));
}

std::vector<Range> United(std::vector<Range> ranges) {
  ranges.erase(std::remove_if(ranges.begin(), ranges.end(), IsEmpty), ranges.end());
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return CompareLower(a, b) < 0; });
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (merged.empty() || !Connected(merged.back(), range)) {
      merged.push_back(range);
    } else if (CompareUpper(merged.back(), range) < 0) {
      merged.back().upper = range.upper;
      merged.back().upper_inclusive = range.upper_inclusive;
    }
  }
  return merged;
}

std::vector<Range> Intersected(const std::vector<Range>& a, const std::vector<Range>& b) {
  std::vector<Range> both;
  for (const Range& x : a) {
    for (const Range& y : b) {
      const Range& lower = CompareLower(x, y) >= 0 ? x : y;
      const Range& upper = CompareUpper(x, y) <= 0 ? x : y;
      const Range range{lower.lower, upper.upper, lower.lower_inclusive, upper.upper_inclusive};
      if (!IsEmpty(range)) both.push_back(range);
    }
  }
  return United(std::move(both));
}

bool IsComparable(const Value& value) {
  return !IsNull(value) && (!std::holds_alternative<double>(value) || std::get<double>(value) == std::get<double>(value));
}

// column <op> literal as ranges.
bool RangesOf(const std::string& op, const Value& value, std::vector<Range>* ranges) {
  if (op == "=") {
    *ranges = {Point(value)};
  } else if (op == "<>") {
    *ranges = {{std::nullopt, value, false, false}, {value, std::nullopt, false, false}};
  } else if (op == "<" || op == "<=") {
    *ranges = {{std::nullopt, value, false, op == "<="}};
  } else if (op == ">" || op == ">=") {
    *ranges = {{value, std::nullopt, op == ">=", false}};
  } else {
    return false;
  }
  return true;
}

std::string Mirrored(const std::string& op) {
  if (op == "<") return ">";
  if (op == "<=") return ">=";
  if (op == ">") return "<";
  if (op == ">=") return "<=";
  return op;
}

std::optional<Term> TermOf(const Expression& e, bool conjunction) {
  Term term;
  if (e.is_call("SEARCH") && e.sarg && e.operands[0].is_input()) {
    term.column = e.operands[0].column;
    term.column_type = e.operands[0].type;
    term.type = e.sarg->type;
    term.ranges = e.sarg->ranges;
    term.null_is_true = e.sarg->null_as == Sarg::NullAs::kTrue;
    return term;
  }
  if (!conjunction && e.is_call("IS NULL") && e.operands[0].is_input()) {
    term.column = e.operands[0].column;
    term.column_type = e.operands[0].type;
    term.null_is_true = true;
    return term;
  }
  if (!e.is_call() || e.operands.size() != 2) return std::nullopt;
  const bool straight = e.operands[0].is_input() && e.operands[1].is_literal();
  const bool mirrored = e.operands[1].is_input() && e.operands[0].is_literal();
  if (!straight && !mirrored) return std::nullopt;
  const Expression& input = e.operands[straight ? 0 : 1];
  const Expression& literal = e.operands[straight ? 1 : 0];
  if (!IsComparable(literal.literal)) return std::nullopt;
  if (!RangesOf(straight ? e.function : Mirrored(e.function), literal.literal, &term.ranges)) return std::nullopt;
  term.column = input.column;
  term.column_type = input.type;
  term.type = literal.type;
  return term;
}

bool SameDomain(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kNull || b.kind == TypeKind::kNull) return true;
  if (IsInteger(a) && IsInteger(b)) return true;
  if (IsCharacter(a) && IsCharacter(b)) return true;
  return a.SameButNullability(b);
}

// The type that prints: the wider of two.
Type Wider(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kNull) return b;
  if (b.kind == TypeKind::kNull) return a;
  if (IsCharacter(a) && IsCharacter(b)) {
    if (a.kind == TypeKind::kChar && b.kind == TypeKind::kChar && a.precision == b.precision) return a;
    return Type::VarChar(std::max(a.precision, b.precision)).NotNull();
  }
  return a.kind >= b.kind ? a : b;
}

Expression Comparison(const char* op, const Term& term, const Value& value) {
  return Expression::Call(op, {Expression::Input(term.column, term.column_type),
                               Expression::Literal(value, term.type.NotNull())},
                          Type::Boolean().WithNullable(term.column_type.nullable));
}

bool IsHole(const std::vector<Range>& ranges) {  // everything but one point
  return ranges.size() == 2 && !ranges[0].lower && !ranges[1].upper && ranges[0].upper && ranges[1].lower &&
         !ranges[0].upper_inclusive && !ranges[1].lower_inclusive &&
         CompareValues(*ranges[0].upper, *ranges[1].lower) == 0;
}

Expression ToExpression(const Term& term, bool unknown_is_false) {
  const Expression input = Expression::Input(term.column, term.column_type);
  const bool nullable = term.column_type.nullable;
  if (!term.null_is_true) {
    if (term.ranges.empty() && (unknown_is_false || !nullable)) return Expression::Bool(false);
    if (term.ranges.size() == 1 && !term.ranges[0].lower && !term.ranges[0].upper) {
      if (!nullable) return Expression::Bool(true);
      if (unknown_is_false) return Expression::Call("IS NOT NULL", {input}, Type::Boolean().NotNull());
    } else if (term.ranges.size() == 1) {
      const Range& range = term.ranges[0];
      if (IsPoint(range)) return Comparison("=", term, *range.lower);
      if (!range.lower) return Comparison(range.upper_inclusive ? "<=" : "<", term, *range.upper);
      if (!range.upper) return Comparison(range.lower_inclusive ? ">=" : ">", term, *range.lower);
    } else if (IsHole(term.ranges)) {
      return Comparison("<>", term, *term.ranges[0].upper);
    }
  } else if (term.ranges.empty()) {
    return Expression::Call("IS NULL", {input}, Type::Boolean().NotNull());
  } else if (term.ranges.size() == 1 && !term.ranges[0].lower && !term.ranges[0].upper) {
    return Expression::Bool(true);
  }
  Sarg sarg;
  sarg.ranges = term.ranges;
  sarg.type = term.type.NotNull();
  sarg.null_as = term.null_is_true ? Sarg::NullAs::kTrue : Sarg::NullAs::kUnknown;
  Expression search = Expression::Call("SEARCH", {input}, Type::Boolean().WithNullable(nullable && !term.null_is_true));
  search.sarg = std::make_shared<const Sarg>(std::move(sarg));
  return search;
}

}  // namespace

int CompareValues(const Value& a, const Value& b) {
  if (a.index() != b.index()) return a.index() < b.index() ? -1 : 1;
  if (const WideTime* x = std::get_if<WideTime>(&a)) {
    const WideTime& y = std::get<WideTime>(b);
    if (x->millis != y.millis) return x->millis < y.millis ? -1 : 1;
    return x->nanos < y.nanos ? -1 : x->nanos > y.nanos ? 1 : 0;
  }
  const auto compare = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (const bool* x = std::get_if<bool>(&a)) return compare(*x, std::get<bool>(b));
  if (const int64_t* x = std::get_if<int64_t>(&a)) return compare(*x, std::get<int64_t>(b));
  if (const double* x = std::get_if<double>(&a)) return compare(*x, std::get<double>(b));
  if (const int128* x = std::get_if<int128>(&a)) return compare(*x, std::get<int128>(b));
  if (const std::string* x = std::get_if<std::string>(&a)) return compare(*x, std::get<std::string>(b));
  return 0;
}

std::vector<Expression> MergeRanges(std::vector<Expression> terms, bool conjunction, bool unknown_is_false) {
  std::vector<Expression> out;
  std::vector<bool> used(terms.size(), false);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (used[i]) continue;
    std::optional<Term> merged = TermOf(terms[i], conjunction);
    bool any = false;
    if (merged && !(conjunction && merged->null_is_true)) {
      for (size_t j = i + 1; j < terms.size(); ++j) {
        if (used[j]) continue;
        const std::optional<Term> next = TermOf(terms[j], conjunction);
        if (!next || next->column != merged->column || !SameDomain(next->type, merged->type)) continue;
        if (conjunction && next->null_is_true) continue;
        merged->ranges = conjunction ? Intersected(merged->ranges, next->ranges)
                                     : [&] {
                                         std::vector<Range> all = merged->ranges;
                                         all.insert(all.end(), next->ranges.begin(), next->ranges.end());
                                         return United(std::move(all));
                                       }();
        merged->null_is_true |= next->null_is_true;
        merged->type = Wider(merged->type, next->type);
        used[j] = any = true;
      }
    }
    out.push_back(any ? ToExpression(*merged, unknown_is_false) : std::move(terms[i]));
  }
  return out;
}

}  // namespace rowtide
