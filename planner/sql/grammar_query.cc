#include "engine/schema.h"
#include "planner/sql/grammar.h"
#include "planner/sql/parser.h"

namespace rowtide {

using ast::ExprPointer;
using ast::QueryPointer;
using ast::Span;
using ast::TablePointer;

namespace {

template <typename Body>
QueryPointer MakeQuery(Body body, SourcePosition position) {
  auto query = std::make_shared<ast::Query>();
  query->body = std::move(body);
  query->position = position;
  return query;
}

template <typename Node>
TablePointer MakeTable(Node node, SourcePosition position) {
  auto table = std::make_shared<ast::TableRef>();
  table->node = std::move(node);
  table->position = position;
  return table;
}

bool IsPlain(const ast::Query& query) {
  return query.with.empty() && query.order.empty() && !query.offset && !query.fetch;
}

}  // namespace

bool Grammar::StartsQuery() const { return Is("SELECT") || Is("VALUES") || Is("WITH"); }

bool Grammar::ContinuesQuery() const {
  return Is("UNION") || Is("INTERSECT") || Is("EXCEPT") || Is("MINUS") || Is("ORDER") ||
         Is("LIMIT") || Is("OFFSET") || Is("FETCH");
}

Result<QueryPointer> Grammar::ParseQuery() {
  RT_TRY(Fill(0));
  return QueryExpression(true);
}

Result<QueryPointer> Grammar::QueryExpression(bool with_order) {
  RT_TRY(Enter());
  const SourcePosition start = Here().position;
  std::vector<ast::WithItem> with;
  if (Is("WITH")) {
    RT_TRY(Step());
    if (Is("RECURSIVE")) return Status::Unsupported("WITH RECURSIVE").At(Here().position);
    while (true) {
      ast::WithItem item;
      RT_ASSIGN(item.name, SimpleName());
      if (Is("(")) {
        RT_ASSIGN(item.columns, NameList());
      }
      RT_TRY(Expect("AS"));
      RT_TRY(Expect("("));
      RT_ASSIGN(item.query, QueryExpression(true));
      RT_TRY(Expect(")"));
      with.push_back(std::move(item));
      RT_ASSIGN(const bool more, Accept(","));
      if (!more) break;
    }
  }
  RT_ASSIGN(QueryPointer first, QueryPrimary());
  RT_ASSIGN(QueryPointer body, SetExpression(std::move(first)));
  Leave();
  if (with.empty() && (!with_order || !ContinuesQuery())) return body;
  auto query = std::make_shared<ast::Query>();
  if (IsPlain(*body)) {
    query->body = body->body;
  } else {
    query->body = body;
  }
  query->with = std::move(with);
  query->position = Span(start, LastPosition());
  if (with_order) RT_TRY(OrderAndLimit(query.get()));
  return QueryPointer(query);
}

// What follows a query that was found in parentheses.
Result<QueryPointer> Grammar::QueryTail(QueryPointer first) {
  RT_ASSIGN(QueryPointer body, SetExpression(std::move(first)));
  if (!ContinuesQuery()) return body;
  auto query = std::make_shared<ast::Query>();
  if (IsPlain(*body)) {
    query->body = body->body;
  } else {
    query->body = body;
  }
  query->position = body->position;
  RT_TRY(OrderAndLimit(query.get()));
  return QueryPointer(query);
}

// UNION and EXCEPT, from the left.
Result<QueryPointer> Grammar::SetExpression(QueryPointer first) {
  RT_ASSIGN(QueryPointer left, SetTerm(std::move(first)));
  for (int links = 0; Is("UNION") || Is("EXCEPT") || Is("MINUS"); ++links) {
    RT_TRY(CheckChain(links));
    ast::SetOperation operation;
    operation.kind =
        Is("UNION") ? ast::SetOperation::Kind::kUnion : ast::SetOperation::Kind::kExcept;
    RT_TRY(Step());
    RT_ASSIGN(operation.all, Accept("ALL"));
    if (!operation.all) RT_TRY(Accept("DISTINCT").status());
    RT_ASSIGN(QueryPointer next, QueryPrimary());
    RT_ASSIGN(operation.right, SetTerm(std::move(next)));
    operation.left = left;
    const SourcePosition position = Span(left->position, operation.right->position);
    left = MakeQuery(std::move(operation), position);
  }
  return left;
}

// INTERSECT binds closer.
Result<QueryPointer> Grammar::SetTerm(QueryPointer first) {
  QueryPointer left = std::move(first);
  for (int links = 0; Is("INTERSECT"); ++links) {
    RT_TRY(CheckChain(links));
    ast::SetOperation operation;
    operation.kind = ast::SetOperation::Kind::kIntersect;
    RT_TRY(Step());
    RT_ASSIGN(operation.all, Accept("ALL"));
    if (!operation.all) RT_TRY(Accept("DISTINCT").status());
    operation.left = left;
    RT_ASSIGN(operation.right, QueryPrimary());
    const SourcePosition position = Span(left->position, operation.right->position);
    left = MakeQuery(std::move(operation), position);
  }
  return left;
}

Result<QueryPointer> Grammar::QueryPrimary() {
  const SourcePosition start = Here().position;
  if (Is("SELECT")) return SelectBlock();
  if (Is("VALUES")) return ValuesBlock();
  if (Is("TABLE")) {
    RT_TRY(Step());
    ast::TableQuery table;
    RT_ASSIGN(table.table, CompoundName());
    return MakeQuery(std::move(table), Span(start, LastPosition()));
  }
  if (!Is("(")) return Unexpected("SELECT, VALUES, WITH or (");
  RT_TRY(Enter());
  RT_TRY(Step());
  RT_ASSIGN(QueryPointer inner, QueryExpression(true));
  RT_TRY(Expect(")"));
  Leave();
  return inner;
}

Result<QueryPointer> Grammar::ValuesBlock() {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  ast::Values values;
  while (true) {
    const SourcePosition row_start = Here().position;
    RT_ASSIGN(ExprPointer row, Or());
    const auto* call = row->as<ast::Call>();
    if (call && call->function == "ROW") {
      values.rows.push_back(call->operands);
    } else {
      values.rows.push_back({row});
    }
    values.positions.push_back(Span(row_start, LastPosition()));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) break;
  }
  return MakeQuery(std::move(values), Span(start, LastPosition()));
}

Result<std::vector<ast::Hint>> Grammar::Hints() {
  std::vector<ast::Hint> hints;
  if (!Is("/*+")) return hints;
  RT_TRY(Step());
  while (!Is("*/")) {
    ast::Hint hint;
    hint.position = Here().position;
    if (Here().kind != Token::Kind::kWord) return Unexpected("the name of a hint");
    hint.name = Here().upper;
    RT_TRY(Step());
    if (Is("(")) {
      RT_TRY(Step());
      while (!Is(")")) {
        std::string key;
        if (Here().kind == Token::Kind::kString || Here().kind == Token::Kind::kWord ||
            Here().kind == Token::Kind::kQuoted || Here().kind == Token::Kind::kInteger) {
          key = Here().text;
        } else {
          return Unexpected("an argument of the hint");
        }
        RT_TRY(Step());
        while (Is(".")) {
          RT_TRY(Step());
          key += "." + Here().text;
          RT_TRY(Step());
        }
        RT_ASSIGN(const bool option, Accept("="));
        if (option) {
          RT_ASSIGN(std::string value, StringLiteral());
          hint.options.emplace_back(std::move(key), std::move(value));
        } else {
          hint.arguments.push_back(std::move(key));
        }
        RT_ASSIGN(const bool more, Accept(","));
        if (!more) break;
      }
      RT_TRY(Expect(")"));
    }
    hints.push_back(std::move(hint));
    RT_TRY(Accept(",").status());
  }
  RT_TRY(Expect("*/"));
  return hints;
}

Result<QueryPointer> Grammar::SelectBlock() {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  ast::Select select;
  RT_ASSIGN(select.hints, Hints());
  RT_TRY(Accept("STREAM").status());
  RT_ASSIGN(select.distinct, Accept("DISTINCT"));
  if (!select.distinct) RT_TRY(Accept("ALL").status());
  while (true) {
    RT_ASSIGN(ast::SelectItem item, SelectItem());
    select.items.push_back(std::move(item));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) break;
  }
  RT_ASSIGN(const bool from, Accept("FROM"));
  if (from) {
    RT_ASSIGN(select.from, FromClause());
    RT_ASSIGN(const bool where, Accept("WHERE"));
    if (where) {
      RT_ASSIGN(select.where, Or());
    }
    if (Is("GROUP")) {
      RT_TRY(ExpectSequence({"GROUP", "BY"}));
      RT_TRY(Accept("DISTINCT").status());
      select.has_group_by = true;
      RT_ASSIGN(select.group_by, GroupItems());
    }
    RT_ASSIGN(const bool having, Accept("HAVING"));
    if (having) {
      RT_ASSIGN(select.having, Or());
    }
    if (Is("WINDOW")) {
      RT_TRY(Step());
      while (true) {
        RT_ASSIGN(ast::Name name, SimpleName());
        RT_TRY(Expect("AS"));
        RT_ASSIGN(ast::WindowSpec window, WindowDefinition());
        select.windows.emplace_back(std::move(name), std::move(window));
        RT_ASSIGN(const bool more, Accept(","));
        if (!more) break;
      }
    }
    RT_ASSIGN(const bool qualify, Accept("QUALIFY"));
    if (qualify) {
      RT_ASSIGN(select.qualify, Or());
    }
  }
  return MakeQuery(std::move(select), Span(start, LastPosition()));
}

Result<ast::SelectItem> Grammar::SelectItem() {
  ast::SelectItem item;
  if (Is("*")) {
    item.expression = ast::MakeExpr(ast::Star{}, Here().position);
    RT_TRY(Step());
    return item;
  }
  RT_ASSIGN(item.expression, Or());
  RT_ASSIGN(const bool as, Accept("AS"));
  if (as || (IsName() && !Is("(") && item.expression->as<ast::Star>() == nullptr)) {
    RT_ASSIGN(item.alias, SimpleName());
  }
  return item;
}

Result<std::vector<ast::GroupItem>> Grammar::GroupItems() {
  std::vector<ast::GroupItem> items;
  while (true) {
    RT_ASSIGN(ast::GroupItem item, GroupItem());
    items.push_back(std::move(item));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) return items;
  }
}

Result<ast::GroupItem> Grammar::GroupItem() {
  RT_TRY(Enter());
  ast::GroupItem item;
  using K = ast::GroupItem::Kind;
  if (Is("ROLLUP") || Is("CUBE") || IsSequence({"GROUPING", "SETS"})) {
    item.kind = Is("ROLLUP") ? K::kRollup : Is("CUBE") ? K::kCube : K::kSets;
    if (item.kind == K::kSets) RT_TRY(Step());
    RT_TRY(Step());
    RT_TRY(Expect("("));
    RT_ASSIGN(item.items, GroupItems());
    RT_TRY(Expect(")"));
    Leave();
    return item;
  }
  if (IsSequence({"(", ")"})) {
    RT_TRY(Step());
    RT_TRY(Step());
    item.kind = K::kSet;
    Leave();
    return item;
  }
  RT_ASSIGN(ExprPointer expression, Or());
  const auto* row = expression->as<ast::Call>();
  if (row && row->function == "ROW") {
    item.kind = K::kSet;
    item.expressions = row->operands;
  } else {
    item.expressions = {std::move(expression)};
  }
  Leave();
  return item;
}

Status Grammar::OrderAndLimit(ast::Query* query) {
  if (Is("ORDER")) {
    RT_TRY(ExpectSequence({"ORDER", "BY"}));
    RT_ASSIGN(query->order, OrderItems());
  }
  while (true) {
    if (Is("LIMIT") && !query->fetch) {
      RT_TRY(Step());
      if (Is("ALL")) {
        RT_TRY(Step());
        continue;
      }
      RT_ASSIGN(query->fetch, Sum());
      RT_ASSIGN(const bool two, Accept(","));  // LIMIT start, count
      if (two) {
        query->offset = query->fetch;
        RT_ASSIGN(query->fetch, Sum());
      }
    } else if (Is("OFFSET") && !query->offset) {
      RT_TRY(Step());
      RT_ASSIGN(query->offset, Sum());
      if (Is("ROW") || Is("ROWS")) RT_TRY(Step());
    } else if (Is("FETCH") && !query->fetch) {
      RT_TRY(Step());
      if (!Is("FIRST") && !Is("NEXT")) return Unexpected("FIRST or NEXT");
      RT_TRY(Step());
      RT_ASSIGN(query->fetch, Sum());
      if (!Is("ROW") && !Is("ROWS")) return Unexpected("ROWS");
      RT_TRY(Step());
      RT_TRY(Expect("ONLY"));
    } else {
      return Status::Ok();
    }
  }
}

// --- FROM ------------------------------------------------------------------------------------

Result<TablePointer> Grammar::FromClause() {
  RT_ASSIGN(TablePointer left, JoinTree());
  for (int links = 0; Is(","); ++links) {
    RT_TRY(CheckChain(links));
    RT_TRY(Step());
    ast::JoinTable join;
    join.kind = ast::JoinTable::Kind::kComma;
    join.left = left;
    RT_ASSIGN(join.right, JoinTree());
    const SourcePosition position = Span(left->position, join.right->position);
    left = MakeTable(std::move(join), position);
  }
  return left;
}

Result<TablePointer> Grammar::JoinTree() {
  RT_TRY(Enter());
  RT_ASSIGN(TablePointer left, TablePrimary());
  using K = ast::JoinTable::Kind;
  for (int links = 0;; ++links) {
    RT_TRY(CheckChain(links));
    ast::JoinTable join;
    join.left = left;
    RT_ASSIGN(join.natural, Accept("NATURAL"));
    if (Is("CROSS")) {
      RT_TRY(Step());
      join.kind = K::kCross;
    } else if (Is("INNER")) {
      RT_TRY(Step());
    } else if (Is("LEFT") || Is("RIGHT") || Is("FULL")) {
      join.kind = Is("LEFT") ? K::kLeft : Is("RIGHT") ? K::kRight : K::kFull;
      RT_TRY(Step());
      RT_TRY(Accept("OUTER").status());
    } else if (Is("ASOF") && IsAhead(1, "JOIN")) {
      return Status::Unsupported("ASOF JOIN").At(Here().position);
    } else if (!Is("JOIN")) {
      if (join.natural) return Unexpected("JOIN");
      break;
    }
    RT_TRY(Expect("JOIN"));
    RT_ASSIGN(join.right, TablePrimary());
    if (join.kind != K::kCross && !join.natural) {
      if (Is("ON")) {
        RT_TRY(Step());
        RT_ASSIGN(join.condition, Or());
      } else if (Is("USING")) {
        RT_TRY(Step());
        RT_ASSIGN(join.using_columns, NameList());
      } else {
        return Status::Validate(join.right->position, "this join needs ON or USING")
            .WithHint("CROSS JOIN takes neither.");
      }
    }
    left = MakeTable(std::move(join), Span(left->position, LastPosition()));
  }
  Leave();
  return left;
}

Result<TablePointer> Grammar::TablePrimary() {
  auto table = std::make_shared<ast::TableRef>();
  const SourcePosition start = Here().position;
  RT_ASSIGN(const bool lateral, Accept("LATERAL"));
  if (Is("(")) {
    RT_TRY(Step());
    if (StartsQuery()) {
      ast::DerivedTable derived;
      derived.lateral = lateral;
      RT_ASSIGN(derived.query, QueryExpression(true));
      table->node = std::move(derived);
    } else {
      RT_ASSIGN(TablePointer inner, JoinTree());
      const auto* derived = inner->as<ast::DerivedTable>();
      if (derived && inner->alias.empty() && ContinuesQuery()) {  // ((SELECT …) UNION …)
        ast::DerivedTable whole;
        whole.lateral = lateral;
        RT_ASSIGN(whole.query, QueryTail(derived->query));
        table->node = std::move(whole);
      } else {
        *table = *inner;
      }
    }
    RT_TRY(Expect(")"));
  } else if (Is("TABLE")) {
    RT_TRY(Step());
    ast::FunctionTable function;
    function.lateral = lateral;
    if (Is("(")) {
      RT_TRY(Step());
      RT_ASSIGN(function.call, NameOrCall());
      RT_TRY(Expect(")"));
      table->node = std::move(function);
    } else {
      ast::NamedTable named;
      RT_ASSIGN(named.name, CompoundName());
      table->node = std::move(named);
    }
  } else if (Is("UNNEST")) {
    RT_TRY(Step());
    RT_TRY(Expect("("));
    ast::UnnestTable unnest;
    RT_ASSIGN(unnest.operands, ExpressionList());
    RT_TRY(Expect(")"));
    RT_ASSIGN(unnest.ordinality, AcceptSequence({"WITH", "ORDINALITY"}));
    table->node = std::move(unnest);
  } else {
    ast::NamedTable named;
    if (!IsName()) return Unexpected(IsName() ? "a table" : "a name");
    RT_ASSIGN(named.name, CompoundName());
    if (Is("(")) {
      ast::FunctionTable function;
      function.lateral = lateral;
      RT_ASSIGN(function.call, FunctionCall(named.name, start));
      table->node = std::move(function);
    } else {
      RT_ASSIGN(named.hints, Hints());
      if (IsSequence({"FOR", "SYSTEM_TIME"})) {
        RT_TRY(ExpectSequence({"FOR", "SYSTEM_TIME", "AS", "OF"}));
        RT_ASSIGN(named.system_time, Sum());
      }
      table->node = std::move(named);
    }
  }
  if (Is("TABLESAMPLE") || Is("PIVOT") || Is("UNPIVOT"))
    return Status::Unsupported("{}", Here().upper).At(Here().position);
  if (Is("MATCH_RECOGNIZE")) {
    RT_TRY(Step());
    int open = 0;
    do {
      if (Is("(")) ++open;
      if (Is(")")) --open;
      if (Here().kind == Token::Kind::kEnd) return Unexpected(")");
      RT_TRY(Step());
    } while (open > 0);
    ast::MatchRecognize match;
    match.input = table;
    table = std::make_shared<ast::TableRef>();
    table->node = std::move(match);
  }
  RT_TRY(TableAlias(table.get()));
  table->position = Span(start, LastPosition());
  return TablePointer(table);
}

Status Grammar::TableAlias(ast::TableRef* table) {
  RT_ASSIGN(const bool as, Accept("AS"));
  if (!as && !IsName()) return Status::Ok();
  if (!as && Is("ASOF") && IsAhead(1, "JOIN")) return Status::Ok();
  RT_ASSIGN(table->alias, SimpleName());
  if (Is("(")) {
    RT_ASSIGN(table->columns, NameList());
  }
  if (auto* named = std::get_if<ast::NamedTable>(&table->node); named && Is("/*+")) {
    RT_ASSIGN(named->hints, Hints());
  }
  return Status::Ok();
}

}  // namespace rowtide
