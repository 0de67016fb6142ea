#include "operators/expressions/expression.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace rowtide {

Expression Expression::Input(int column, Type type) {
  Expression e;
  e.kind = Kind::kInput;
  e.column = column;
  e.type = type;
  return e;
}

Expression Expression::Literal(Value value, Type type) {
  Expression e;
  e.kind = Kind::kLiteral;
  e.literal = std::move(value);
  e.type = type;
  return e;
}

Expression Expression::Call(std::string function, std::vector<Expression> operands, Type type) {
  Expression e;
  e.kind = Kind::kCall;
  e.function = std::move(function);
  e.operands = std::move(operands);
  e.type = type;
  return e;
}

Expression Expression::Cast(Expression operand, Type type) {
  std::vector<Expression> operands;
  operands.push_back(std::move(operand));
  return Call("CAST", std::move(operands), type);
}

bool Expression::is_true() const {
  return is_literal() && std::holds_alternative<bool>(literal) && std::get<bool>(literal);
}

bool Expression::is_false() const {
  return is_literal() && std::holds_alternative<bool>(literal) && !std::get<bool>(literal);
}

namespace {

void AppendNumber(int64_t number, std::string* out) { *out += std::to_string(number); }

void AppendType(const Type& type, std::string* out) {
  *out += ':';
  AppendNumber(static_cast<int>(type.kind), out);
  if (type.precision != 0 || type.scale != 0) {
    *out += '(';
    AppendNumber(type.precision, out);
    *out += ',';
    AppendNumber(type.scale, out);
    *out += ')';
  }
  if (!type.nullable) *out += '!';
}

void AppendValue(const Value& value, std::string* out) {
  AppendNumber(static_cast<int64_t>(value.index()), out);
  *out += '=';
  if (const bool* b = std::get_if<bool>(&value)) {
    *out += *b ? '1' : '0';
  } else if (const int64_t* i = std::get_if<int64_t>(&value)) {
    AppendNumber(*i, out);
  } else if (const double* d = std::get_if<double>(&value)) {
    uint64_t bits;
    std::memcpy(&bits, d, sizeof(bits));
    *out += std::to_string(bits);
  } else if (const int128* n = std::get_if<int128>(&value)) {
    AppendNumber(static_cast<int64_t>(*n >> 64), out);
    *out += '_';
    *out += std::to_string(static_cast<uint64_t>(*n));
  } else if (const std::string* s = std::get_if<std::string>(&value)) {
    AppendNumber(static_cast<int64_t>(s->size()), out);
    *out += '"';
    *out += *s;
  } else if (const WideTime* t = std::get_if<WideTime>(&value)) {
    AppendNumber(t->millis, out);
    *out += '.';
    AppendNumber(t->nanos, out);
  }
}

void AppendSarg(const Sarg& sarg, std::string* out) {
  *out += '{';
  for (const Sarg::Range& range : sarg.ranges) {
    *out += range.lower_inclusive ? '[' : '(';
    if (range.lower) AppendValue(*range.lower, out);
    *out += "..";
    if (range.upper) AppendValue(*range.upper, out);
    *out += range.upper_inclusive ? ']' : ')';
  }
  AppendNumber(static_cast<int>(sarg.null_as), out);
  AppendType(sarg.type, out);
  *out += '}';
}

void AppendDigest(const Expression& e, std::string* out);

void AppendOver(const OverWindow& over, std::string* out) {
  *out += " OVER(";
  for (const Expression& part : over.partition) {
    AppendDigest(part, out);
    *out += ',';
  }
  *out += '|';
  for (const OverWindow::Order& order : over.order) {
    AppendDigest(order.key, out);
    *out += order.descending ? 'd' : 'a';
    *out += order.nulls_first ? 'f' : 'l';
  }
  *out += over.rows ? "|rows" : "|range";
  *out += over.lower_unbounded ? 'u' : 'b';
  if (over.lower_preceding) AppendDigest(*over.lower_preceding, out);
  *out += over.upper_current_row ? 'c' : 'u';
  *out += ')';
}

void AppendDigest(const Expression& e, std::string* out) {
  switch (e.kind) {
    case Expression::Kind::kInput:
      *out += '$';
      AppendNumber(e.column, out);
      break;
    case Expression::Kind::kLiteral:
      *out += '#';
      AppendValue(e.literal, out);
      break;
    case Expression::Kind::kOuter:
      *out += e.function;
      *out += '.';
      AppendNumber(e.column, out);
      break;
    case Expression::Kind::kCall:
    case Expression::Kind::kOver:
    case Expression::Kind::kSubquery:
      *out += e.function;
      if (e.distinct) *out += " DISTINCT";
      *out += '(';
      for (const Expression& operand : e.operands) {
        AppendDigest(operand, out);
        *out += ',';
      }
      *out += ')';
      if (e.sarg) AppendSarg(*e.sarg, out);
      if (e.over) AppendOver(*e.over, out);
      break;
  }
  AppendType(e.type, out);
}

template <typename Replace>
Expression Rebuilt(const Expression& e, const Replace& replace) {
  if (e.is_input()) return replace(e);
  Expression copy = e;
  for (Expression& operand : copy.operands) operand = Rebuilt(operand, replace);
  if (e.over) {
    OverWindow over = *e.over;
    for (Expression& part : over.partition) part = Rebuilt(part, replace);
    for (OverWindow::Order& order : over.order) order.key = Rebuilt(order.key, replace);
    copy.over = std::make_shared<const OverWindow>(std::move(over));
  }
  return copy;
}

}  // namespace

std::string Digest(const Expression& expression) {
  std::string digest;
  AppendDigest(expression, &digest);
  return digest;
}

bool operator==(const Expression& a, const Expression& b) {
  if (a.kind != b.kind || a.column != b.column || a.operands.size() != b.operands.size())
    return false;
  return Digest(a) == Digest(b);
}

std::vector<int> InputsOf(const Expression& expression) {
  std::set<int> columns;
  Walk(expression, [&columns](const Expression& e) {
    if (e.is_input()) columns.insert(e.column);
  });
  return {columns.begin(), columns.end()};
}

Expression Substitute(const Expression& expression, const std::vector<Expression>& replacements) {
  return Rebuilt(expression, [&replacements](const Expression& input) {
    return replacements[static_cast<size_t>(input.column)];
  });
}

Expression Remap(const Expression& expression, const std::vector<int>& mapping) {
  return Rebuilt(expression, [&mapping](const Expression& input) {
    Expression moved = input;
    moved.column = mapping[static_cast<size_t>(input.column)];
    RT_CHECK(moved.column >= 0);
    return moved;
  });
}

bool HasOver(const Expression& expression) {
  bool found = false;
  Walk(expression, [&found](const Expression& e) { found |= e.kind == Expression::Kind::kOver; });
  return found;
}

bool IsDeterministic(const Expression& expression) {
  static const std::set<std::string> kChanging = {"PROCTIME",
                                                  "CURRENT_TIMESTAMP",
                                                  "NOW",
                                                  "LOCALTIMESTAMP",
                                                  "LOCALTIME",
                                                  "CURRENT_TIME",
                                                  "CURRENT_DATE",
                                                  "CURRENT_ROW_TIMESTAMP",
                                                  "UNIX_TIMESTAMP",
                                                  "UUID",
                                                  "RAND",
                                                  "RAND_INTEGER",
                                                  "CURRENT_WATERMARK"};
  bool deterministic = true;
  Walk(expression, [&deterministic](const Expression& e) {
    if (!e.is_call() || kChanging.count(e.function) == 0) return;
    if (e.function == "UNIX_TIMESTAMP" && !e.operands.empty()) return;
    deterministic = false;
  });
  return deterministic;
}

std::vector<Expression> Conjuncts(const Expression& condition) {
  if (condition.is_true()) return {};
  if (!condition.is_call("AND")) return {condition};
  std::vector<Expression> all;
  for (const Expression& operand : condition.operands) {
    for (Expression& part : Conjuncts(operand)) all.push_back(std::move(part));
  }
  return all;
}

Expression AndOf(std::vector<Expression> conjuncts) {
  if (conjuncts.empty()) return Expression::Bool(true);
  if (conjuncts.size() == 1) return std::move(conjuncts[0]);
  const bool nullable = std::any_of(conjuncts.begin(), conjuncts.end(),
                                    [](const Expression& e) { return e.type.nullable; });
  return Expression::Call("AND", std::move(conjuncts), Type::Boolean().WithNullable(nullable));
}

}  // namespace rowtide
