#include "planner/rules/simplify.h"

#include <algorithm>
#include <map>
#include <set>

#include "planner/rules/sargs.h"

namespace rowtide {
namespace {

bool HasInputs(const Expression& e) {
  bool found = false;
  Walk(e, [&found](const Expression& part) {
    found |= part.kind != Expression::Kind::kCall && part.kind != Expression::Kind::kLiteral;
  });
  return found;
}

bool IsComparison(const Expression& e) {
  return e.is_call("=") || e.is_call("<>") || e.is_call("<") || e.is_call("<=") || e.is_call(">") ||
         e.is_call(">=");
}

const char* NegatedComparison(const std::string& op) {
  if (op == "=") return "<>";
  if (op == "<>") return "=";
  if (op == "<") return ">=";
  if (op == "<=") return ">";
  if (op == ">") return "<=";
  if (op == ">=") return "<";
  return nullptr;
}

Expression IsPredicate(const char* name, const Expression& operand) {
  return Expression::Call(name, {operand}, Type::Boolean().NotNull());
}

Expression Connective(const char* name, std::vector<Expression> operands) {
  const bool nullable = std::any_of(operands.begin(), operands.end(),
                                    [](const Expression& e) { return e.type.nullable; });
  return Expression::Call(name, std::move(operands), Type::Boolean().WithNullable(nullable));
}

bool IsNumberLiteral(const Expression& e, int64_t number) {
  if (!e.is_literal()) return false;
  if (const int64_t* i = std::get_if<int64_t>(&e.literal)) return *i == number;
  return false;
}

class Simplifier {
 public:
  explicit Simplifier(const EvaluationContext& context) : context_(context) {}

  Result<Expression> Run(const Expression& e, bool unknown_is_false) {
    if (e.kind != Expression::Kind::kCall) {
      if (e.kind == Expression::Kind::kOver) return Operands(e, false);
      if (unknown_is_false && e.is_null_literal()) return Expression::Bool(false);
      return e;
    }
    if (IsFoldable(e)) {
      RT_ASSIGN(std::optional<Expression> folded, Fold(e));
      if (folded) {
        if (unknown_is_false && folded->is_null_literal()) return Expression::Bool(false);
        return *std::move(folded);
      }
    }
    if (e.function == "AND" || e.function == "OR") return AndOr(e, unknown_is_false);
    if (e.function == "NOT") return Not(e.operands[0], unknown_is_false);
    if (e.function == "CASE") return Case(e, unknown_is_false);
    if (e.function == "IS TRUE") {
      RT_ASSIGN(Expression condition, Run(e.operands[0], true));
      return unknown_is_false ? std::move(condition)
                              : Call(IsPredicate("IS TRUE", std::move(condition)), false);
    }
    if (e.function == "LIKE" && IsAnyText(e.operands[1])) {
      RT_ASSIGN(const Expression text, Run(e.operands[0], false));
      return Comparison(Expression::Call("=", {text, text}, e.type), unknown_is_false);
    }
    RT_ASSIGN(Expression simple, Operands(e, false));
    return Call(std::move(simple), unknown_is_false);
  }

 private:
  // LIKE '%' holds for every text that there is.
  static bool IsAnyText(const Expression& pattern) {
    const std::string* text = std::get_if<std::string>(&pattern.literal);
    return pattern.is_literal() && text && *text == "%";
  }

  bool IsFoldable(const Expression& e) const {
    if (HasInputs(e) || !IsDeterministic(e)) return false;
    // Flink leaves them; inside another one a literal would be quoted as a string.
    if (e.function == "JSON_OBJECT" || e.function == "JSON_ARRAY") return false;
    if (e.function == "CAST" && e.operands[0].is_literal() && !e.operands[0].is_null_literal() &&
        e.operands[0].type.SameButNullability(e.type) && e.type.nullable) {
      return false;  // already the form of a nullable constant
    }
    return e.type.kind != TypeKind::kSymbol &&
           e.function != "UNIX_TIMESTAMP";  // Flink leaves that to run time
  }

  Result<std::optional<Expression>> Fold(const Expression& e) {
    Result<Value> value = EvaluateConstant(e, context_);
    if (!value.ok()) {
      if (value.status().code() == StatusCode::kUnsupported) return std::optional<Expression>();
      return value.status();
    }
    if (IsNull(*value)) return std::optional<Expression>(Expression::Null(e.type));
    // Flink's constants are BigDecimals, which have no -0.0.
    if (double* const number = std::get_if<double>(&*value); number && *number == 0) *number = 0;
    return std::optional<Expression>(
        ConstantOfType(Expression::Literal(*value, e.type.NotNull()), e.type));
  }

  Result<Expression> Operands(const Expression& e, bool unknown_is_false) {
    Expression copy = e;
    for (Expression& operand : copy.operands) {
      RT_ASSIGN(operand, Run(operand, unknown_is_false));
    }
    if (e.over) {
      OverWindow over = *e.over;
      for (Expression& part : over.partition) {
        RT_ASSIGN(part, Run(part, false));
      }
      for (OverWindow::Order& order : over.order) {
        RT_ASSIGN(order.key, Run(order.key, false));
      }
      copy.over = std::make_shared<const OverWindow>(std::move(over));
    }
    return copy;
  }

  Result<Expression> AndOr(const Expression& e, bool unknown_is_false) {
    const bool conjunction = e.function == "AND";
    std::vector<Expression> terms;
    std::set<std::string> seen;
    bool unknown = false;
    for (const Expression& operand : e.operands) {
      RT_ASSIGN(Expression simple, Run(operand, unknown_is_false));
      std::vector<Expression> parts;
      if (simple.is_call(e.function.c_str())) {
        parts = simple.operands;
      } else {
        parts.push_back(std::move(simple));
      }
      for (Expression& part : parts) {
        if (conjunction ? part.is_false() : part.is_true()) return Expression::Bool(!conjunction);
        if (conjunction ? part.is_true() : part.is_false()) continue;
        if (part.is_null_literal()) {
          unknown = true;
          continue;
        }
        if (seen.insert(Digest(part)).second) terms.push_back(std::move(part));
      }
    }
    if (unknown) {
      if (conjunction && unknown_is_false) return Expression::Bool(false);
      const auto is_null_test = [](const Expression& term) {
        return term.is_call("IS NULL") || term.is_call("IS NOT NULL");
      };
      terms.insert(std::find_if(terms.begin(), terms.end(), is_null_test),
                   Expression::Null(Type::Boolean()));
    }
    if (conjunction && unknown_is_false) {
      RT_ASSIGN(terms, WithKnown(std::move(terms)));
    }
    const size_t before = terms.size();
    terms = MergeRanges(std::move(terms), conjunction, unknown_is_false);
    if (!conjunction) {
      if (std::optional<Expression> factored = Factored(terms))
        return Run(*factored, unknown_is_false);
      if (terms.size() != before || terms.size() != e.operands.size()) {
        std::stable_partition(terms.begin(), terms.end(),
                              [](const Expression& term) { return term.is_call("IS NULL"); });
      }
      if (unknown_is_false) ExcludedMiddle(&terms);
    }
    std::vector<Expression> kept;
    for (Expression& term : terms) {
      if (conjunction ? term.is_false() : term.is_true()) return Expression::Bool(!conjunction);
      if (!(conjunction ? term.is_true() : term.is_false())) kept.push_back(std::move(term));
    }
    if (conjunction && unknown_is_false) {
      if (Contradictory(kept)) return Expression::Bool(false);
      Settle(&kept);
    }
    if (kept.empty()) return Expression::Bool(conjunction);
    if (kept.size() == 1) return kept[0];
    return Connective(conjunction ? "AND" : "OR", std::move(kept));
  }

  // What one comparison of a conjunction says is used in the others: (v > 1 OR b) AND v > 5.
  Result<std::vector<Expression>> WithKnown(std::vector<Expression> terms) {
    std::set<size_t> facts;
    const auto note_fact = [&](size_t i) {
      if (IsComparison(terms[i]) || terms[i].is_call("SEARCH")) facts.insert(i);
    };
    for (size_t i = 0; i < terms.size(); ++i) note_fact(i);
    for (size_t i = 0; i < terms.size() && !facts.empty(); ++i) {
      if (!terms[i].is_call("OR") && !terms[i].is_call("NOT") && !terms[i].is_call("CASE"))
        continue;
      Expression term = terms[i];
      for (const size_t fact : facts) term = Knowing(terms[fact], term);
      if (!(term == terms[i])) {
        RT_ASSIGN(terms[i], Run(term, true));
        note_fact(i);
      }
    }
    std::vector<Expression> flat;
    for (Expression& term : terms) {
      for (Expression& part : Conjuncts(term)) flat.push_back(std::move(part));
      if (term.is_true()) flat.push_back(term);
    }
    return flat;
  }

  static Expression Knowing(const Expression& known, const Expression& term) {
    if (const std::optional<bool> implied = Implied(known, term)) {
      if (!*implied) return Expression::Bool(false);
      const Expression& operand =
          term.operands[0].is_literal() ? term.operands[1] : term.operands[0];
      return operand.type.nullable ? IsPredicate("IS NOT NULL", operand) : Expression::Bool(true);
    }
    if (!term.is_call("OR") && !term.is_call("AND") && !term.is_call("NOT")) return term;
    Expression copy = term;
    for (Expression& operand : copy.operands) operand = Knowing(known, operand);
    return copy;
  }

  // (a AND b) OR (a AND c)  ->  a AND (b OR c)
  static std::optional<Expression> Factored(const std::vector<Expression>& alternatives) {
    if (alternatives.size() < 2) return std::nullopt;
    std::vector<std::vector<Expression>> parts;
    for (const Expression& alternative : alternatives) parts.push_back(Conjuncts(alternative));
    std::vector<Expression> common;
    std::set<std::string> common_digests;
    for (const Expression& part : parts[0]) {
      const bool everywhere =
          std::all_of(parts.begin(), parts.end(), [&](const std::vector<Expression>& others) {
            return std::find(others.begin(), others.end(), part) != others.end();
          });
      if (everywhere && common_digests.insert(Digest(part)).second) common.push_back(part);
    }
    if (common.empty()) return std::nullopt;
    std::vector<Expression> rest;
    for (const std::vector<Expression>& others : parts) {
      std::vector<Expression> left;
      for (const Expression& part : others) {
        if (common_digests.count(Digest(part)) == 0) left.push_back(part);
      }
      rest.push_back(AndOf(std::move(left)));
    }
    common.push_back(Connective("OR", std::move(rest)));
    return Connective("AND", std::move(common));
  }

  // x OR NOT x is TRUE unless x is unknown.
  static void ExcludedMiddle(std::vector<Expression>* terms) {
    std::map<std::string, size_t> places;
    for (size_t i = 0; i < terms->size(); ++i) places.emplace(Digest((*terms)[i]), i);
    for (size_t i = 0; i < terms->size(); ++i) {
      if (!(*terms)[i].is_call("NOT")) continue;
      const Expression operand = (*terms)[i].operands[0];
      const auto place = places.find(Digest(operand));
      if (place == places.end()) continue;
      Expression* const found = &(*terms)[place->second];
      *found = operand.type.nullable ? IsPredicate("IS NOT NULL", operand) : Expression::Bool(true);
      terms->erase(terms->begin() + static_cast<long>(i));
      return;
    }
  }

  // x AND NOT x, x > 1 AND x IS NULL.
  static bool Contradictory(const std::vector<Expression>& terms) {
    std::set<std::string> all, compared;
    for (const Expression& term : terms) {
      all.insert(Digest(term));
      if (IsComparison(term) || term.is_call("SEARCH")) {
        for (const Expression& operand : term.operands) {
          if (operand.is_input()) compared.insert(Digest(operand));
        }
      }
    }
    return std::any_of(terms.begin(), terms.end(), [&](const Expression& term) {
      if (term.is_call("NOT")) return all.count(Digest(term.operands[0])) > 0;
      return term.is_call("IS NULL") && compared.count(Digest(term.operands[0])) > 0;
    });
  }

  // The columns that must not be NULL for `e` to be anything but NULL, as far as Calcite knows.
  static void AddStrict(const Expression& e, std::set<std::string>* columns) {
    static const std::set<std::string> kStrict = {"=",    "<>",  "<",    "<=",         ">",
                                                  ">=",   "+",   "-",    "*",          "/",
                                                  "CAST", "NOT", "LIKE", "SIMILAR TO", "SEARCH"};
    if (e.is_input()) columns->insert(Digest(e));
    if (!e.is_call() || kStrict.count(e.function) == 0) return;
    if (e.sarg && e.sarg->null_as == Sarg::NullAs::kTrue) return;
    for (const Expression& operand : e.operands) AddStrict(operand, columns);
  }

  // IS NOT NULL goes where a comparison of the same column implies it; what is left of it comes
  // last, NOT terms before it.
  static void Settle(std::vector<Expression>* terms) {
    std::set<std::string> compared;
    for (const Expression& term : *terms) {
      if (!term.is_call("IS NOT NULL")) AddStrict(term, &compared);
    }
    terms->erase(std::remove_if(terms->begin(), terms->end(),
                                [&](const Expression& term) {
                                  return term.is_call("IS NOT NULL") &&
                                         compared.count(Digest(term.operands[0])) > 0;
                                }),
                 terms->end());
    const auto rank = [](const Expression& term) {
      return term.is_call("IS NOT NULL") ? 2 : term.is_call("NOT") ? 1 : 0;
    };
    std::stable_sort(terms->begin(), terms->end(),
                     [&](const Expression& a, const Expression& b) { return rank(a) < rank(b); });
  }

  Result<Expression> Not(const Expression& operand, bool unknown_is_false) {
    if (operand.is_literal()) {
      if (operand.is_null_literal()) return unknown_is_false ? Expression::Bool(false) : operand;
      return Expression::Bool(!operand.is_true());
    }
    if (operand.is_call("NOT")) return Run(operand.operands[0], unknown_is_false);
    if (operand.is_call("AND") || operand.is_call("OR")) {
      std::vector<Expression> negated;
      for (const Expression& term : operand.operands) {
        negated.push_back(Expression::Call("NOT", {term}, term.type));
      }
      return Run(Connective(operand.is_call("AND") ? "OR" : "AND", std::move(negated)),
                 unknown_is_false);
    }
    if (operand.is_call() && operand.operands.size() == 2) {
      if (const char* negated = NegatedComparison(operand.function)) {
        return Run(Expression::Call(negated, operand.operands, operand.type), unknown_is_false);
      }
    }
    static const std::pair<const char*, const char*> kOpposites[] = {
        {"IS NULL", "IS NOT NULL"},
        {"IS TRUE", "IS NOT TRUE"},
        {"IS FALSE", "IS NOT FALSE"},
        {"IS UNKNOWN", "IS NOT UNKNOWN"},
        {"IS DISTINCT FROM", "IS NOT DISTINCT FROM"}};
    for (const auto& [a, b] : kOpposites) {
      if (operand.is_call(a))
        return Run(Expression::Call(b, operand.operands, operand.type), unknown_is_false);
      if (operand.is_call(b))
        return Run(Expression::Call(a, operand.operands, operand.type), unknown_is_false);
    }
    RT_ASSIGN(Expression simple, Run(operand, false));
    if (!(simple == operand)) return Not(simple, unknown_is_false);
    return Expression::Call("NOT", {std::move(simple)}, operand.type);
  }

  // CASE: constant conditions are settled; as a condition it turns into OR and AND.
  Result<Expression> Case(const Expression& e, bool unknown_is_false) {
    std::vector<Expression> kept;
    bool done = false;
    for (size_t i = 0; i + 1 < e.operands.size() && !done; i += 2) {
      RT_ASSIGN(Expression when, Run(e.operands[i], true));
      if (when.is_false()) continue;
      RT_ASSIGN(Expression then, Run(e.operands[i + 1], false));
      if (when.is_true()) {
        kept.push_back(std::move(then));
        done = true;
      } else {
        kept.push_back(std::move(when));
        kept.push_back(std::move(then));
      }
    }
    if (!done) {
      RT_ASSIGN(Expression otherwise, Run(e.operands.back(), false));
      kept.push_back(std::move(otherwise));
    }
    if (kept.size() == 1) return kept[0].type == e.type ? kept[0] : Retyped(kept[0], e.type);
    if (unknown_is_false && e.type.kind == TypeKind::kBoolean) return CaseAsCondition(kept);
    MergeEqualBranches(&kept);
    if (kept.size() == 1) return kept[0].type == e.type ? kept[0] : Retyped(kept[0], e.type);
    if (kept.size() == 3 && kept[1].is_literal() && kept[2].is_literal() &&
        e.type.kind == TypeKind::kBoolean) {
      if (kept[1].is_true() && kept[2].is_false())
        return Call(IsPredicate("IS TRUE", kept[0]), false);
      if (kept[1].is_false() && kept[2].is_true())
        return Call(IsPredicate("IS NOT TRUE", kept[0]), false);
    }
    Expression copy = e;
    copy.operands = std::move(kept);
    return copy;
  }

  // CASE WHEN a THEN x WHEN b THEN x ELSE y  ->  CASE WHEN a OR b THEN x ELSE y
  static void MergeEqualBranches(std::vector<Expression>* branches) {
    std::vector<Expression> kept;
    for (size_t i = 0; i + 1 < branches->size(); i += 2) {
      Expression& when = (*branches)[i];
      Expression& then = (*branches)[i + 1];
      if (!kept.empty() && kept.back() == then) {
        Expression& before = kept[kept.size() - 2];
        before = Connective("OR", {before, std::move(when)});
        continue;
      }
      kept.push_back(std::move(when));
      kept.push_back(std::move(then));
    }
    if (kept.back() == branches->back()) kept.resize(kept.size() - 2);
    kept.push_back(std::move(branches->back()));
    *branches = std::move(kept);
  }

  static Expression Retyped(const Expression& e, const Type& type) {
    if (e.is_null_literal()) return Expression::Null(type);
    return Expression::Cast(e, type);
  }

  Result<Expression> CaseAsCondition(const std::vector<Expression>& branches) {
    std::vector<Expression> alternatives;
    std::vector<Expression> not_before;
    for (size_t i = 0; i < branches.size(); i += 2) {
      const bool last = i + 1 == branches.size();
      std::vector<Expression> all;
      if (!last) all.push_back(branches[i]);
      all.push_back(branches[last ? i : i + 1]);
      all.insert(all.end(), not_before.begin(), not_before.end());
      alternatives.push_back(Connective("AND", std::move(all)));
      if (!last) not_before.push_back(IsPredicate("IS NOT TRUE", branches[i]));
    }
    return Run(Connective("OR", std::move(alternatives)), true);
  }

  Result<Expression> Call(Expression e, bool unknown_is_false) {
    if (IsFoldable(e)) {
      RT_ASSIGN(std::optional<Expression> folded, Fold(e));
      if (folded) return *std::move(folded);
    }
    if (IsComparison(e)) return Comparison(std::move(e), unknown_is_false);
    if (e.function == "IS NOT NULL" || e.function == "IS NULL") {
      const bool positive = e.function == "IS NOT NULL";
      if (!e.operands[0].type.nullable) return Expression::Bool(positive);
      if (e.operands[0].is_null_literal()) return Expression::Bool(!positive);
      return e;
    }
    if (e.function == "IS TRUE" || e.function == "IS NOT FALSE") {
      if (!e.operands[0].type.nullable) return e.operands[0];
    }
    if (e.function == "IS FALSE" || e.function == "IS NOT TRUE") {
      if (!e.operands[0].type.nullable) return Not(e.operands[0], unknown_is_false);
    }
    if (e.function == "COALESCE") return Coalesce(std::move(e));
    const bool arithmetic =
        e.function == "+" || e.function == "-" || e.function == "*" || e.function == "/";
    if (arithmetic &&
        std::any_of(e.operands.begin(), e.operands.end(),
                    [](const Expression& operand) { return operand.is_null_literal(); })) {
      return Expression::Null(e.type);
    }
    if (e.function == "CAST" && e.operands[0].type == e.type &&
        e.operands[0].type.time_attribute == e.type.time_attribute) {
      return e.operands[0];
    }
    return Identity(std::move(e));
  }

  Result<Expression> Comparison(Expression e, bool unknown_is_false) {
    if (e.operands[0].is_null_literal() || e.operands[1].is_null_literal()) {
      return unknown_is_false ? Expression::Bool(false) : Expression::Null(Type::Boolean());
    }
    if (e.operands[0] == e.operands[1] && IsDeterministic(e)) {  // v = v, v < v
      const bool holds = e.function == "=" || e.function == "<=" || e.function == ">=";
      if (!e.operands[0].type.nullable || (unknown_is_false && !holds))
        return Expression::Bool(holds);
      Expression is_there = IsPredicate(holds ? "IS NOT NULL" : "IS NULL", e.operands[0]);
      if (unknown_is_false) return is_there;
      return Expression::Call(holds ? "OR" : "AND",
                              {Expression::Null(Type::Boolean()), std::move(is_there)},
                              Type::Boolean());
    }
    const bool equality = e.function == "=" || e.function == "<>";
    if (equality && e.operands[0].is_literal() && e.operands[1].type.kind == TypeKind::kBoolean)
      std::swap(e.operands[0], e.operands[1]);
    if (e.operands[0].type.kind == TypeKind::kBoolean && e.operands[1].is_literal() &&
        e.operands[1].type.kind == TypeKind::kBoolean) {  // b = TRUE
      const bool wanted = e.operands[1].is_true();
      if (e.function == "=") return wanted ? e.operands[0] : *Not(e.operands[0], unknown_is_false);
      if (e.function == "<>") return wanted ? *Not(e.operands[0], unknown_is_false) : e.operands[0];
    }
    // CASE … THEN 'a' ELSE 'b' END = 'a': the comparison moves into the branches.
    if (unknown_is_false && e.operands[0].is_call("CASE") && e.operands[1].is_literal()) {
      Expression moved = e.operands[0];
      moved.type = Type::Boolean();
      bool literals = true;
      for (size_t i = 0; i < moved.operands.size(); ++i) {
        const bool is_value = i % 2 == 1 || i + 1 == moved.operands.size();
        if (!is_value) continue;
        literals &= moved.operands[i].is_literal();
        moved.operands[i] =
            Expression::Call(e.function, {moved.operands[i], e.operands[1]}, Type::Boolean());
      }
      if (literals) return Run(moved, true);
    }
    return e;
  }

  static Result<Expression> Coalesce(Expression e) {
    std::vector<Expression> kept;
    for (Expression& operand : e.operands) {
      if (operand.is_null_literal()) continue;
      kept.push_back(std::move(operand));
      if (!kept.back().type.nullable) break;
    }
    if (kept.empty()) return Expression::Null(e.type);
    if (kept.size() == 1) return kept[0];
    e.operands = std::move(kept);
    return e;
  }

  // v + 0, v - 0, v * 1, v / 1.
  static Result<Expression> Identity(Expression e) {
    if (e.operands.size() != 2) return e;
    const bool zero_right = IsNumberLiteral(e.operands[1], 0);
    const bool one_right = IsNumberLiteral(e.operands[1], 1);
    if (((e.function == "+" || e.function == "-") && zero_right) ||
        ((e.function == "*" || e.function == "/") && one_right)) {
      if (e.operands[0].type == e.type) return e.operands[0];
    }
    if ((e.function == "+" && IsNumberLiteral(e.operands[0], 0)) ||
        (e.function == "*" && IsNumberLiteral(e.operands[0], 1))) {
      if (e.operands[1].type == e.type) return e.operands[1];
    }
    return e;
  }

  const EvaluationContext& context_;
};

}  // namespace

Expression ConstantOfType(const Expression& literal, const Type& type) {
  if (literal.type == type || literal.is_null_literal())
    return Expression::Literal(literal.literal, type);
  Expression plain = literal;
  if (type.kind == TypeKind::kDecimal) plain.literal_text.clear();  // all digits of its scale
  return Expression::Cast(std::move(plain), type);
}

Result<Expression> SimplifyValue(const Expression& expression, const EvaluationContext& context) {
  return Simplifier(context).Run(expression, false);
}

Result<Expression> SimplifyCondition(const Expression& condition,
                                     const EvaluationContext& context) {
  return Simplifier(context).Run(condition, true);
}

}  // namespace rowtide
