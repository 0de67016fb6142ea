#include "planner/rules/sargs.h"

#include <algorithm>
#include <unordered_map>

#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

using Range = Sarg::Range;

// One term as ranges over one operand, which is nearly always a column.
struct Term {
  Expression operand;
  Type type;  // of the points
  std::vector<Range> ranges;
  bool null_is_true = false;   // `OR x IS NULL`
  bool null_is_false = false;  // `AND x IS NOT NULL`
};

Range Point(const Value& value) { return {value, value, true, true}; }

bool IsPoint(const Range& range) {
  return range.lower && range.upper && range.lower_inclusive && range.upper_inclusive &&
         CompareConstants(*range.lower, *range.upper) == 0;
}

bool IsEmpty(const Range& range) {
  if (!range.lower || !range.upper) return false;
  const int order = CompareConstants(*range.lower, *range.upper);
  return order > 0 || (order == 0 && !(range.lower_inclusive && range.upper_inclusive));
}

// Orders lower bounds; no bound comes first, an inclusive one before an exclusive one.
int CompareLower(const Range& a, const Range& b) {
  if (!a.lower || !b.lower)
    return static_cast<int>(a.lower.has_value()) - static_cast<int>(b.lower.has_value());
  const int order = CompareConstants(*a.lower, *b.lower);
  if (order != 0) return order;
  return static_cast<int>(b.lower_inclusive) - static_cast<int>(a.lower_inclusive);
}

int CompareUpper(const Range& a, const Range& b) {
  if (!a.upper || !b.upper)
    return static_cast<int>(b.upper.has_value()) - static_cast<int>(a.upper.has_value());
  const int order = CompareConstants(*a.upper, *b.upper);
  if (order != 0) return order;
  return static_cast<int>(a.upper_inclusive) - static_cast<int>(b.upper_inclusive);
}

// Whether `next`, which does not start before `range`, touches or overlaps it.
bool Connected(const Range& range, const Range& next) {
  if (!range.upper || !next.lower) return true;
  const int order = CompareConstants(*range.upper, *next.lower);
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

// Requires: both united, so ascending and disjoint.
std::vector<Range> Intersected(const std::vector<Range>& a, const std::vector<Range>& b) {
  std::vector<Range> both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Range& lower = CompareLower(a[i], b[j]) >= 0 ? a[i] : b[j];
    const bool a_ends_first = CompareUpper(a[i], b[j]) <= 0;
    const Range& upper = a_ends_first ? a[i] : b[j];
    const Range range{lower.lower, upper.upper, lower.lower_inclusive, upper.upper_inclusive};
    if (!IsEmpty(range)) both.push_back(range);
    ++(a_ends_first ? i : j);
  }
  return both;
}

// Halves first: the sets stay small until the end.
std::vector<Range> IntersectedAll(std::vector<std::vector<Range>> sets) {
  while (sets.size() > 1) {
    std::vector<std::vector<Range>> halved;
    for (size_t i = 0; i + 1 < sets.size(); i += 2) {
      halved.push_back(Intersected(sets[i], sets[i + 1]));
    }
    if (sets.size() % 2 == 1) halved.push_back(std::move(sets.back()));
    sets = std::move(halved);
  }
  return std::move(sets[0]);
}

bool IsComparable(const Value& value) {
  return !IsNull(value) && (!std::holds_alternative<double>(value) ||
                            std::get<double>(value) == std::get<double>(value));
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

std::optional<Term> TermOf(const Expression& e, bool conjunction, bool takes_not_null) {
  Term term;
  if (e.is_call("SEARCH") && e.sarg) {
    term.operand = e.operands[0];
    term.type = e.sarg->type;
    term.ranges = e.sarg->ranges;
    term.null_is_true = e.sarg->null_as == Sarg::NullAs::kTrue;
    term.null_is_false = e.sarg->null_as == Sarg::NullAs::kFalse;
    return term;
  }
  if (!conjunction && e.is_call("IS NULL")) {
    term.operand = e.operands[0];
    term.null_is_true = true;
    return term;
  }
  if (takes_not_null && e.is_call("IS NOT NULL")) {
    term.operand = e.operands[0];
    term.ranges = {Range{std::nullopt, std::nullopt, false, false}};
    term.null_is_false = true;
    return term;
  }
  if (!e.is_call() || e.operands.size() != 2) return std::nullopt;
  const bool straight = e.operands[1].is_literal() && !e.operands[0].is_literal();
  const bool mirrored = e.operands[0].is_literal() && !e.operands[1].is_literal();
  if (!straight && !mirrored) return std::nullopt;
  const Expression& literal = e.operands[straight ? 1 : 0];
  if (!IsComparable(literal.literal)) return std::nullopt;
  if (!RangesOf(straight ? e.function : Mirrored(e.function), literal.literal, &term.ranges))
    return std::nullopt;
  term.operand = e.operands[straight ? 0 : 1];
  term.type = literal.type;
  return term;
}

bool IsScaled(const Type& type) { return IsInteger(type) || type.kind == TypeKind::kDecimal; }

// The type in which both kinds of points are compared and printed; none when they do not mix.
std::optional<Type> CommonType(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kNull) return b;
  if (b.kind == TypeKind::kNull) return a;
  if (a.SameButNullability(b)) return a;
  if (IsInteger(a) && IsInteger(b)) return a.kind >= b.kind ? a : b;
  if (IsCharacter(a) && IsCharacter(b))
    return Type::VarChar(std::max(a.precision, b.precision)).NotNull();
  if (IsScaled(a) && IsScaled(b)) {
    const std::optional<Type> type = LeastRestrictive(a, b);
    return type ? std::optional<Type>(type->NotNull()) : std::nullopt;
  }
  if (a.kind == b.kind && IsTimestamp(a) && a.precision <= 3 && b.precision <= 3)
    return a.precision >= b.precision ? a : b;
  return std::nullopt;
}

Value Converted(const Value& value, const Type& from, const Type& to) {
  if (to.kind != TypeKind::kDecimal || from.SameButNullability(to)) return value;
  int128 unscaled =
      from.kind == TypeKind::kDecimal ? std::get<int128>(value) : std::get<int64_t>(value);
  for (int scale = from.kind == TypeKind::kDecimal ? from.scale : 0; scale < to.scale; ++scale)
    unscaled *= 10;
  return unscaled;
}

void ConvertTo(const Type& to, Term* term) {
  if (term->type.kind != TypeKind::kNull) {
    for (Range& range : term->ranges) {
      if (range.lower) range.lower = Converted(*range.lower, term->type, to);
      if (range.upper) range.upper = Converted(*range.upper, term->type, to);
    }
  }
  term->type = to;
}

Expression Comparison(const char* op, const Term& term, const Value& value) {
  return Expression::Call(op, {term.operand, Expression::Literal(value, term.type.NotNull())},
                          Type::Boolean().WithNullable(term.operand.type.nullable));
}

bool IsHole(const std::vector<Range>& ranges) {  // everything but one point
  return ranges.size() == 2 && !ranges[0].lower && !ranges[1].upper && ranges[0].upper &&
         ranges[1].lower && !ranges[0].upper_inclusive && !ranges[1].lower_inclusive &&
         CompareConstants(*ranges[0].upper, *ranges[1].lower) == 0;
}

Expression ToExpression(const Term& term, bool unknown_is_false) {
  const Expression& input = term.operand;
  const bool nullable = input.type.nullable;
  if (!term.null_is_true) {
    if (term.ranges.empty() && (unknown_is_false || !nullable)) return Expression::Bool(false);
    if (term.ranges.size() == 1 && !term.ranges[0].lower && !term.ranges[0].upper) {
      if (!nullable) return Expression::Bool(true);
      if (unknown_is_false)
        return Expression::Call("IS NOT NULL", {input}, Type::Boolean().NotNull());
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
  sarg.null_as = term.null_is_true    ? Sarg::NullAs::kTrue
                 : term.null_is_false ? Sarg::NullAs::kFalse
                                      : Sarg::NullAs::kUnknown;
  const bool settled = sarg.null_as != Sarg::NullAs::kUnknown;
  Expression search =
      Expression::Call("SEARCH", {input}, Type::Boolean().WithNullable(nullable && !settled));
  search.sarg = std::make_shared<const Sarg>(std::move(sarg));
  return search;
}

}  // namespace

int CompareConstants(const Value& a, const Value& b) {
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
  if (const std::string* x = std::get_if<std::string>(&a))
    return compare(*x, std::get<std::string>(b));
  return 0;
}

namespace {
bool AreAboutOne(const std::vector<Expression>& terms) {
  std::optional<std::string> about;
  return std::all_of(terms.begin(), terms.end(), [&about](const Expression& e) {
    const std::optional<Term> term = TermOf(e, false, true);
    if (!term) return false;
    const std::string digest = Digest(term->operand);
    if (!about) about = digest;
    return *about == digest;
  });
}

bool IsPlain(const Expression& e) {
  return e.is_input() || (e.is_call("CAST") && e.operands[0].is_input());
}
}  // namespace

std::vector<Expression> MergeRanges(std::vector<Expression> terms, bool conjunction,
                                    bool unknown_is_false) {
  constexpr size_t kFewestOfExpression =
      4;  // below that, Flink leaves terms on anything but a column alone
  // OR takes IS NOT NULL where all its terms are about one column.
  const bool takes_not_null = unknown_is_false && (conjunction || AreAboutOne(terms));
  std::vector<std::optional<Term>> parsed;
  for (const Expression& term : terms) parsed.push_back(TermOf(term, conjunction, takes_not_null));
  // Terms by what they are about; the lists are in the order of the terms.
  std::unordered_map<std::string, std::vector<size_t>> about;
  std::vector<std::string> digests(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!parsed[i]) continue;
    digests[i] = Digest(parsed[i]->operand);
    about[digests[i]].push_back(i);
  }
  std::vector<Expression> out;
  std::vector<bool> used(terms.size(), false);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (used[i]) continue;
    if (!parsed[i] || !IsDeterministic(parsed[i]->operand)) {
      out.push_back(std::move(terms[i]));
      continue;
    }
    std::vector<size_t> same = {i};
    std::optional<Type> type = parsed[i]->type;
    for (const size_t j : about[digests[i]]) {
      if (j <= i || used[j]) continue;
      const std::optional<Type> wider = CommonType(*type, parsed[j]->type);
      if (!wider) continue;
      type = wider;
      same.push_back(j);
    }
    const bool merges = same.size() > 1 && type->kind != TypeKind::kNull &&
                        (IsPlain(parsed[i]->operand) || same.size() >= kFewestOfExpression);
    if (!merges) {
      out.push_back(std::move(terms[i]));
      continue;
    }
    Term merged = *parsed[i];
    ConvertTo(*type, &merged);
    std::vector<std::vector<Range>> sets = {United(merged.ranges)};
    for (size_t k = 1; k < same.size(); ++k) {
      Term next = *parsed[same[k]];
      ConvertTo(*type, &next);
      used[same[k]] = true;
      if (conjunction) {
        sets.push_back(United(std::move(next.ranges)));
        merged.null_is_true &= next.null_is_true;
        merged.null_is_false |= next.null_is_false;
      } else {
        sets[0].insert(sets[0].end(), next.ranges.begin(), next.ranges.end());
        merged.null_is_true |= next.null_is_true;
        merged.null_is_false &= next.null_is_false;
      }
    }
    merged.ranges = conjunction ? IntersectedAll(std::move(sets)) : United(std::move(sets[0]));
    out.push_back(ToExpression(merged, unknown_is_false));
  }
  return out;
}

std::optional<bool> Implied(const Expression& known, const Expression& term) {
  const std::optional<Term> fact = TermOf(known, true, false);
  const std::optional<Term> asked = TermOf(term, true, false);
  if (!fact || !asked || fact->null_is_true || !(fact->operand == asked->operand))
    return std::nullopt;
  const std::optional<Type> type = CommonType(fact->type, asked->type);
  if (!type || type->kind == TypeKind::kNull) return std::nullopt;
  Term a = *fact, b = *asked;
  ConvertTo(*type, &a);
  ConvertTo(*type, &b);
  const std::vector<Range> both = Intersected(United(a.ranges), United(b.ranges));
  if (both.empty()) return false;
  const std::vector<Range> all = United(a.ranges);
  if (both.size() != all.size()) return std::nullopt;
  for (size_t i = 0; i < all.size(); ++i) {
    if (CompareLower(both[i], all[i]) != 0 || CompareUpper(both[i], all[i]) != 0)
      return std::nullopt;
  }
  return true;
}

}  // namespace rowtide
