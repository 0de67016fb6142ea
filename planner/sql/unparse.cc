#include "planner/sql/unparse.h"

#include <algorithm>

#include "planner/sql/reserved_words.h"
#include "planner/sql/lexer.h"

namespace rowtide {
namespace {

template <typename Items, typename Print>
std::string Joined(const Items& items, const char* separator, const Print& print) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    first = false;
    text += print(item);
  }
  return text;
}

std::string Quoted(const std::string& text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == quote) quoted += quote;
    quoted += c;
  }
  return quoted + quote;
}
std::string String(const std::string& text) { return Quoted(text, '\''); }

bool NeedsQuotes(const std::string& part) {
  if (part.empty() || IsReservedWord(UpperCase(part))) return true;
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (!letter(part[0])) return true;
  for (const char c : part) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return true;
  }
  return false;
}

std::string Part(const std::string& part) { return NeedsQuotes(part) ? Quoted(part, '`') : part; }
std::string Text(const ast::Name& name) { return Joined(name.parts, ".", Part); }
std::string List(const std::vector<ast::Name>& names) {
  return "(" + Joined(names, ", ", Text) + ")";
}

std::string Text(const ast::DataType& type) {
  if (!type.unsupported.empty()) return type.text;
  return ToString(type.type);
}

std::string Expressions(const std::vector<ast::ExprPointer>& items) {
  return Joined(items, ", ", [](const ast::ExprPointer& item) { return Unparse(*item); });
}

// DAY(3) TO SECOND; two digits are not said.
std::string IntervalUnit(const ast::Literal& literal) {
  if (literal.precision == 2) return literal.unit;
  const size_t end = std::min(literal.unit.find(' '), literal.unit.size());
  return literal.unit.substr(0, end) + "(" + std::to_string(literal.precision) + ")" +
         literal.unit.substr(end);
}

std::string Text(const ast::Literal& literal) {
  using K = ast::Literal::Kind;
  switch (literal.kind) {
    case K::kNull: return "NULL";
    case K::kTrue: return "TRUE";
    case K::kFalse: return "FALSE";
    case K::kUnknown: return "UNKNOWN";
    case K::kExact:
    case K::kApproximate:
    case K::kSymbol: return literal.text;
    case K::kString: return String(literal.text);
    case K::kBinary: return "X" + String(literal.text);
    case K::kDate: return "DATE " + String(literal.text);
    case K::kTime: return "TIME " + String(literal.text);
    case K::kTimestamp: return "TIMESTAMP " + String(literal.text);
    case K::kInterval:
      return std::string("INTERVAL ") + (literal.negative ? "-" : "") + String(literal.text) + " " +
             IntervalUnit(literal);
  }
  RT_CHECK(false);
}

std::string Text(const std::vector<ast::OrderItem>& items) {
  return Joined(items, ", ", [](const ast::OrderItem& item) {
    std::string text = Unparse(*item.key) + (item.descending ? " DESC" : "");
    if (item.nulls_first) text += *item.nulls_first ? " NULLS FIRST" : " NULLS LAST";
    return text;
  });
}

std::string Text(const ast::WindowBound& bound) {
  using K = ast::WindowBound::Kind;
  switch (bound.kind) {
    case K::kUnboundedPreceding: return "UNBOUNDED PRECEDING";
    case K::kUnboundedFollowing: return "UNBOUNDED FOLLOWING";
    case K::kCurrentRow: return "CURRENT ROW";
    case K::kPreceding: return Unparse(*bound.offset) + " PRECEDING";
    case K::kFollowing: return Unparse(*bound.offset) + " FOLLOWING";
  }
  RT_CHECK(false);
}

std::string Text(const ast::WindowSpec& window) {
  if (window.name_only) return Part(window.base);
  std::string text = window.base.empty() ? "" : Part(window.base);
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  if (!window.partition.empty()) add("PARTITION BY " + Expressions(window.partition));
  if (!window.order.empty()) add("ORDER BY " + Text(window.order));
  if (window.has_frame) {
    const std::string unit = window.rows ? "ROWS " : "RANGE ";
    add(window.upper ? unit + "BETWEEN " + Text(window.lower) + " AND " + Text(*window.upper)
                     : unit + Text(window.lower));
  }
  return "(" + text + ")";
}

bool IsSymbol(const ast::ExprPointer& expr) {
  const auto* literal = expr->as<ast::Literal>();
  return literal && literal->kind == ast::Literal::Kind::kSymbol;
}

// `DEFAULT 1 ON EMPTY`, `RETURNING INT`: the clauses behind the arguments of JSON functions.
std::string JsonClauses(const ast::Call& call, size_t from) {
  std::string text;
  for (size_t i = from; i < call.operands.size(); ++i) {
    const auto* cast = call.operands[i]->as<ast::Cast>();
    text += " " + (cast && IsSymbol(cast->operand) ? Text(cast->type) : Unparse(*call.operands[i]));
  }
  return text;
}

// Functions with a syntax of their own; "" for all others.
std::string SpecialText(const ast::Call& call) {
  const std::string& f = call.function;
  const auto operand = [&](size_t i) { return Unparse(*call.operands[i]); };
  if (f == "EXTRACT") return "EXTRACT(" + operand(0) + " FROM " + operand(1) + ")";
  if ((f == "FLOOR" || f == "CEIL") && call.operands.size() == 2 && IsSymbol(call.operands[1])) {
    return f + "(" + operand(0) + " TO " + operand(1) + ")";
  }
  if (f == "TRIM" && call.operands.size() == 3)
    return "TRIM(" + operand(0) + " " + operand(1) + " FROM " + operand(2) + ")";
  if (f == "POSITION" && call.operands.size() == 2)
    return "POSITION(" + operand(0) + " IN " + operand(1) + ")";
  if (f == "JSON_VALUE" || f == "JSON_QUERY" || f == "JSON_EXISTS") {
    return f + "(" + operand(0) + ", " + operand(1) + JsonClauses(call, 2) + ")";
  }
  if (f == "JSON_OBJECT" || f == "JSON_OBJECTAGG") {
    std::string text = f + "(";
    for (size_t i = 1; i + 1 < call.operands.size(); i += 2) {
      text += (i > 1 ? ", KEY " : "KEY ") + operand(i) + " VALUE " + operand(i + 1);
    }
    return text + " " + operand(0) + ")";
  }
  if (f == "JSON_ARRAY" || f == "JSON_ARRAYAGG") {
    std::string text = f + "(";
    for (size_t i = 1; i < call.operands.size(); ++i) text += (i > 1 ? ", " : "") + operand(i);
    return text + " " + operand(0) + ")";
  }
  if ((f == "ARRAY" || f == "MAP" || f == "MULTISET") && !call.infix)
    return f + "[" + Expressions(call.operands) + "]";
  if (f == "MINUS_DATE") return "(" + operand(0) + " - " + operand(1) + ") " + operand(2);
  if (f == "INTERVAL") return "INTERVAL " + operand(0) + " " + operand(1);
  return "";
}

std::string OperatorText(const ast::Call& call) {
  const std::string& f = call.function;
  const auto operand = [&](size_t i) { return Unparse(*call.operands[i]); };
  if (f == "NEGATE") return "(- " + operand(0) + ")";
  if (f == "PLUS") return "(+ " + operand(0) + ")";
  if (f == "NOT") return "(NOT " + operand(0) + ")";
  if (f == "ITEM") return operand(0) + "[" + operand(1) + "]";
  if (f == "DOT") return "(" + operand(0) + ")." + operand(1);
  if (f == "MOD") return "(" + operand(0) + " % " + operand(1) + ")";
  if (f.starts_with("IS ") && call.operands.size() == 1) return "(" + operand(0) + " " + f + ")";
  if ((f == "LIKE" || f == "SIMILAR TO" || f == "RLIKE" || f == "ILIKE") &&
      call.operands.size() == 3) {
    return "(" + operand(0) + " " + f + " " + operand(1) + " ESCAPE " + operand(2) + ")";
  }
  return "(" +
         Joined(call.operands, (" " + f + " ").c_str(),
                [](const ast::ExprPointer& e) { return Unparse(*e); }) +
         ")";
}

std::string Text(const ast::Call& call) {
  if (call.infix) return OperatorText(call);
  if (!call.parentheses) return call.function;
  std::string text = SpecialText(call);
  if (text.empty()) {
    text =
        call.function + "(" + (call.distinct ? "DISTINCT " : "") + Expressions(call.operands) + ")";
  }
  if (!call.within_group.empty())
    text += " WITHIN GROUP (ORDER BY " + Text(call.within_group) + ")";
  if (call.filter) text += " FILTER (WHERE " + Unparse(*call.filter) + ")";
  if (!call.nulls.empty()) text += " " + call.nulls;
  if (call.over) text += " OVER " + Text(*call.over);
  return text;
}

std::string Text(const ast::Case& node) {
  std::string text = "CASE";
  if (node.operand) text += " " + Unparse(*node.operand);
  for (const auto& [when, then] : node.whens)
    text += " WHEN " + Unparse(*when) + " THEN " + Unparse(*then);
  if (node.otherwise) text += " ELSE " + Unparse(*node.otherwise);
  return text + " END";
}

std::string Text(const ast::NameRef& ref) { return Text(ref.name); }
std::string Text(const ast::Star& star) {
  return star.qualifier.empty() ? "*" : Text(star.qualifier) + ".*";
}
std::string Text(const ast::Cast& cast) {
  return std::string(cast.tries ? "TRY_CAST(" : "CAST(") + Unparse(*cast.operand) + " AS " +
         Text(cast.type) + ")";
}
std::string Text(const ast::Between& between) {
  return "(" + Unparse(*between.operand) + (between.negated ? " NOT BETWEEN " : " BETWEEN ") +
         (between.symmetric ? "SYMMETRIC " : "") + Unparse(*between.low) + " AND " +
         Unparse(*between.high) + ")";
}
std::string Text(const ast::In& in) {
  return "(" + Unparse(*in.operand) + (in.negated ? " NOT IN (" : " IN (") +
         (in.query ? Unparse(*in.query) : Expressions(in.list)) + "))";
}
std::string Text(const ast::Subquery& subquery) {
  const bool exists = subquery.kind == ast::Subquery::Kind::kExists;
  return (exists ? "EXISTS (" : "(") + Unparse(*subquery.query) + ")";
}
std::string Text(const ast::QuantifiedComparison& node) {
  return "(" + Unparse(*node.operand) + " " + node.comparison + " " + node.quantifier + " (" +
         (node.query ? Unparse(*node.query) : Expressions(node.list)) + "))";
}
std::string Text(const ast::NamedArgument& argument) {
  return Text(argument.name) + " => " + Unparse(*argument.value);
}
std::string Text(const ast::TableArgument& argument) {
  std::string text =
      "TABLE " + (argument.query ? "(" + Unparse(*argument.query) + ")" : Text(argument.table));
  if (!argument.partition.empty())
    text += " PARTITION BY (" + Expressions(argument.partition) + ")";
  return text;
}
std::string Text(const ast::Descriptor& descriptor) {
  return "DESCRIPTOR" + List(descriptor.columns);
}

// --- queries ---------------------------------------------------------------------------------

std::string Text(const std::vector<ast::Hint>& hints) {
  if (hints.empty()) return "";
  return " /*+ " +
         Joined(hints, ", ",
                [](const ast::Hint& hint) {
                  std::string inside = Joined(hint.options, ", ", [](const auto& option) {
                    return String(option.first) + " = " + String(option.second);
                  });
                  if (hint.options.empty()) inside = Joined(hint.arguments, ", ", Part);
                  return hint.name + (inside.empty() ? "" : "(" + inside + ")");
                }) +
         " */";
}

std::string Text(const ast::TableRef& table);

std::string Text(const ast::NamedTable& named) {
  return Text(named.name) + Text(named.hints) +
         (named.system_time ? " FOR SYSTEM_TIME AS OF " + Unparse(*named.system_time) : "");
}
std::string Text(const ast::DerivedTable& derived) {
  return std::string(derived.lateral ? "LATERAL " : "") + "(" + Unparse(*derived.query) + ")";
}
std::string Text(const ast::FunctionTable& function) {
  return std::string(function.lateral ? "LATERAL " : "") + "TABLE(" + Unparse(*function.call) + ")";
}
std::string Text(const ast::UnnestTable& unnest) {
  return "UNNEST(" + Expressions(unnest.operands) + ")" +
         (unnest.ordinality ? " WITH ORDINALITY" : "");
}
std::string Text(const ast::MatchRecognize& match) {
  return Text(*match.input) + " MATCH_RECOGNIZE ()";
}

std::string Text(const ast::JoinTable& join) {
  using K = ast::JoinTable::Kind;
  const char* words = ", ";
  switch (join.kind) {
    case K::kComma: break;
    case K::kCross: words = " CROSS JOIN "; break;
    case K::kInner: words = " JOIN "; break;
    case K::kLeft: words = " LEFT JOIN "; break;
    case K::kRight: words = " RIGHT JOIN "; break;
    case K::kFull: words = " FULL JOIN "; break;
  }
  const bool nested = join.right->as<ast::JoinTable>() != nullptr;
  std::string text = Text(*join.left) + (join.natural ? " NATURAL" : "") + words;
  text += nested ? "(" + Text(*join.right) + ")" : Text(*join.right);
  if (join.condition) text += " ON " + Unparse(*join.condition);
  if (!join.using_columns.empty()) text += " USING " + List(join.using_columns);
  return text;
}

std::string Text(const ast::TableRef& table) {
  std::string text = std::visit([](const auto& node) { return Text(node); }, table.node);
  if (!table.alias.empty()) text += " AS " + Text(table.alias);
  if (!table.columns.empty()) text += " " + List(table.columns);
  return text;
}

std::string Text(const ast::GroupItem& item) {
  using K = ast::GroupItem::Kind;
  const auto inner = [](const ast::GroupItem& i) { return Text(i); };
  switch (item.kind) {
    case K::kExpression: return Unparse(*item.expressions[0]);
    case K::kSet: return "(" + Expressions(item.expressions) + ")";
    case K::kSets: return "GROUPING SETS (" + Joined(item.items, ", ", inner) + ")";
    case K::kRollup: return "ROLLUP (" + Joined(item.items, ", ", inner) + ")";
    case K::kCube: return "CUBE (" + Joined(item.items, ", ", inner) + ")";
  }
  RT_CHECK(false);
}

std::string Text(const ast::Select& select) {
  std::string text = "SELECT" + Text(select.hints) + (select.distinct ? " DISTINCT " : " ");
  text += Joined(select.items, ", ", [](const ast::SelectItem& item) {
    return Unparse(*item.expression) + (item.alias.empty() ? "" : " AS " + Text(item.alias));
  });
  if (select.from) text += " FROM " + Text(*select.from);
  if (select.where) text += " WHERE " + Unparse(*select.where);
  if (select.has_group_by)
    text += " GROUP BY " +
            Joined(select.group_by, ", ", [](const ast::GroupItem& i) { return Text(i); });
  if (select.having) text += " HAVING " + Unparse(*select.having);
  if (!select.windows.empty()) {
    text += " WINDOW " + Joined(select.windows, ", ", [](const auto& w) {
              return Text(w.first) + " AS " + Text(w.second);
            });
  }
  if (select.qualify) text += " QUALIFY " + Unparse(*select.qualify);
  return text;
}

std::string Text(const ast::Values& values) {
  return "VALUES " +
         Joined(values.rows, ", ", [](const auto& row) { return "(" + Expressions(row) + ")"; });
}

std::string Operand(const ast::Query& query) {
  const bool simple = std::holds_alternative<ast::Select>(query.body) && query.order.empty() &&
                      !query.fetch && !query.offset && query.with.empty();
  return simple ? Unparse(query) : "(" + Unparse(query) + ")";
}

std::string Text(const ast::SetOperation& operation) {
  using K = ast::SetOperation::Kind;
  const char* words = operation.kind == K::kUnion       ? " UNION "
                      : operation.kind == K::kIntersect ? " INTERSECT "
                                                        : " EXCEPT ";
  return Operand(*operation.left) + words + (operation.all ? "ALL " : "") +
         Operand(*operation.right);
}

std::string Text(const ast::TableQuery& table) { return "TABLE " + Text(table.table); }
std::string Text(const ast::QueryPointer& query) { return "(" + Unparse(*query) + ")"; }

// --- statements ------------------------------------------------------------------------------

std::string Text(const ast::Insert& insert) {
  std::string text = insert.overwrite ? "INSERT OVERWRITE " : "INSERT INTO ";
  text += Text(insert.table) + Text(insert.hints);
  if (!insert.partition.empty()) {
    text += " PARTITION (" +
            Joined(insert.partition, ", ",
                   [](const auto& p) { return Text(p.first) + " = " + Unparse(*p.second); }) +
            ")";
  }
  if (!insert.columns.empty()) text += " " + List(insert.columns);
  text += " " + Unparse(*insert.query);
  if (!insert.on_conflict.empty()) text += " ON CONFLICT DO " + insert.on_conflict;
  return text;
}

std::string Text(const ast::StatementSet& set) {
  return "EXECUTE STATEMENT SET BEGIN " +
         Joined(set.inserts, "", [](const ast::Insert& i) { return Text(i) + "; "; }) + "END";
}

std::string Text(const ast::Explain& explain) {
  std::string text = "EXPLAIN ";
  if (explain.details.empty()) text += "PLAN FOR ";
  if (!explain.details.empty())
    text += Joined(explain.details, ", ", [](const std::string& d) { return d; }) + " ";
  if (const auto* query = std::get_if<ast::QueryPointer>(&explain.statement))
    return text + Unparse(**query);
  if (const auto* insert = std::get_if<ast::Insert>(&explain.statement))
    return text + Text(*insert);
  return text + Text(std::get<ast::StatementSet>(explain.statement));
}

std::string Text(const ast::Column& column) {
  std::string text = Text(column.name);
  if (column.kind == ast::Column::Kind::kComputed) {
    text += " AS " + Unparse(*column.expression);
  } else {
    text += " " + Text(column.type);
  }
  if (column.kind == ast::Column::Kind::kMetadata) {
    text += " METADATA";
    if (column.metadata_key) text += " FROM " + String(*column.metadata_key);
    if (column.is_virtual) text += " VIRTUAL";
  }
  if (column.comment) text += " COMMENT " + String(*column.comment);
  return text;
}

std::string WithClause(const std::vector<ast::OptionEntry>& options) {
  if (options.empty()) return "";
  return " WITH (" +
         Joined(options, ", ",
                [](const ast::OptionEntry& o) { return String(o.key) + " = " + String(o.value); }) +
         ")";
}

std::string Text(const ast::CreateTable& table) {
  std::string text = std::string("CREATE ") + (table.temporary ? "TEMPORARY " : "") + "TABLE ";
  text += (table.if_not_exists ? "IF NOT EXISTS " : "") + Text(table.name);
  std::vector<std::string> elements;
  for (const ast::Column& column : table.columns) elements.push_back(Text(column));
  for (const ast::Watermark& watermark : table.watermarks) {
    elements.push_back("WATERMARK FOR " + Text(watermark.column) + " AS " +
                       Unparse(*watermark.expression));
  }
  for (const ast::Constraint& constraint : table.constraints) {
    elements.push_back(
        (constraint.name.empty() ? "" : "CONSTRAINT " + Part(constraint.name) + " ") +
        (constraint.unique ? "UNIQUE " : "PRIMARY KEY ") + List(constraint.columns) +
        (constraint.enforced ? "" : " NOT ENFORCED"));
  }
  if (!elements.empty())
    text += " (" + Joined(elements, ", ", [](const std::string& e) { return e; }) + ")";
  if (!table.comment.empty()) text += " COMMENT " + String(table.comment);
  if (!table.distribution.empty()) text += " " + table.distribution;
  if (!table.partitioned_by.empty()) text += " PARTITIONED BY " + List(table.partitioned_by);
  text += WithClause(table.options);
  if (table.has_like) {
    text += " LIKE " + Text(table.like);
    if (!table.like_options.empty()) {
      text += " (" +
              Joined(table.like_options, " ",
                     [](const ast::LikeOption& o) { return o.mode + " " + o.feature; }) +
              ")";
    }
  }
  if (table.as_query) text += " AS " + Unparse(*table.as_query);
  return text;
}

std::string Text(const ast::CreateView& view) {
  std::string text = std::string("CREATE ") + (view.temporary ? "TEMPORARY " : "") + "VIEW ";
  text += (view.if_not_exists ? "IF NOT EXISTS " : "") + Text(view.name);
  if (!view.columns.empty()) text += " " + List(view.columns);
  if (!view.comment.empty()) text += " COMMENT " + String(view.comment);
  return text + " AS " + Unparse(*view.query);
}

std::string Text(const ast::CreateDatabase& database) {
  std::string text = std::string("CREATE DATABASE ") +
                     (database.if_not_exists ? "IF NOT EXISTS " : "") + Text(database.name);
  if (!database.comment.empty()) text += " COMMENT " + String(database.comment);
  return text + WithClause(database.options);
}

std::string Text(const ast::Drop& drop) {
  constexpr const char* kObjects[] = {"TABLE ", "VIEW ", "DATABASE ", "CATALOG ", "FUNCTION "};
  return std::string("DROP ") + (drop.temporary ? "TEMPORARY " : "") +
         kObjects[static_cast<int>(drop.kind)] + (drop.if_exists ? "IF EXISTS " : "") +
         Text(drop.name) + (drop.cascade ? " CASCADE" : "");
}

std::string Text(const ast::Alter& alter) {
  return "ALTER " + alter.object + " " + Text(alter.name);
}
std::string Text(const ast::Set& set) {
  return set.key ? "SET " + String(*set.key) + " = " + String(set.value) : "SET";
}
std::string Text(const ast::Reset& reset) {
  return reset.key ? "RESET " + String(*reset.key) : "RESET";
}
std::string Text(const ast::Show& show) {
  const bool create = show.what.starts_with("CREATE");
  std::string text = std::string("SHOW ") + (show.only_users ? "USER " : "") + show.what;
  if (!show.name.empty()) text += (create ? " " : " FROM ") + Text(show.name);
  if (show.like) {
    text += std::string(show.negated ? " NOT" : "") + (show.ignores_case ? " ILIKE " : " LIKE ") +
            String(*show.like);
  }
  return text;
}
std::string Text(const ast::Describe& describe) {
  return std::string("DESCRIBE ") + (describe.extended ? "EXTENDED " : "") + Text(describe.name);
}
std::string Text(const ast::Use& use) {
  return std::string("USE ") + (use.catalog ? "CATALOG " : "") + Text(use.name);
}
std::string Text(const ast::Refused& refused) { return refused.construct; }

}  // namespace

std::string Unparse(const ast::Expr& expr) {
  return std::visit([](const auto& node) { return Text(node); }, expr.node);
}

std::string Unparse(const ast::Query& query) {
  std::string text;
  if (!query.with.empty()) {
    text = "WITH " +
           Joined(query.with, ", ",
                  [](const ast::WithItem& item) {
                    return Text(item.name) +
                           (item.columns.empty() ? "" : " " + List(item.columns)) + " AS (" +
                           Unparse(*item.query) + ")";
                  }) +
           " ";
  }
  text += std::visit([](const auto& body) { return Text(body); }, query.body);
  if (!query.order.empty()) text += " ORDER BY " + Text(query.order);
  if (query.fetch) text += " LIMIT " + Unparse(*query.fetch);
  if (query.offset) text += " OFFSET " + Unparse(*query.offset);
  return text;
}

std::string Unparse(const ast::Statement& statement) {
  if (const auto* query = statement.as<ast::QueryPointer>()) return Unparse(**query);
  return std::visit([](const auto& node) { return Text(node); }, statement.node);
}

}  // namespace rowtide
