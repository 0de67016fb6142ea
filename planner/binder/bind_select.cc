// One SELECT block, in Calcite's order: FROM, WHERE, the aggregate with the projection below it,
// HAVING, QUALIFY, the SELECT list, DISTINCT, ORDER BY with the columns it needs beside the list.
#include <algorithm>
#include <set>

#include "engine/value_text.h"
#include "operators/expressions/aggregate_types.h"
#include "planner/binder/bind_query.h"
#include "planner/binder/relational.h"

namespace rowtide {

struct QueryBinder::Item {
  ast::ExprPointer expr;  // none: `bound` is given (from *)
  Expression bound;
  std::string name;    // of the output column; "" until settled
  bool named = false;  // by an alias or a column, not EXPR$n
  std::string alias;   // AS …
  SourcePosition position;
};

struct QueryBinder::Block {
  const ast::Select& select;
  LogicalPointer node;
  Scope scope;
  std::vector<Item> items;
  NamedWindows windows;
  std::map<std::string, ast::ExprPointer> aliases;
  AggregateCollector aggregates;
  std::vector<Expression> groups;
  std::optional<Expression> having;
  std::optional<Expression> qualify;
  bool qualify_names_items = false;  // by their aliases: it stands above the SELECT list
  struct Order {
    int item = -1;  // -1: `key` is no item
    Expression key;
    std::string name;
    SortKey sort;
  };
  std::vector<Order> order;
  std::vector<std::pair<std::string, std::string>> ttl_hints;

  bool aggregated() const {
    return select.has_group_by || select.having || !aggregates.calls.empty();
  }
  ExpressionBinder Binder(const char* clause) {
    return std::move(
        ExpressionBinder(scope).WithAggregates(&aggregates).WithWindows(&windows).Naming(clause));
  }
};

namespace {

// What an expression over the rows of FROM is over the rows of the aggregate. Group keys first,
// then calls.
// `calls`: where each call collected ended up among those of the aggregate.
Result<Expression> AfterAggregate(const Expression& e, const std::vector<Expression>& groups,
                                  const std::vector<int>& calls, const Scope& scope) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == e) {
      Expression column = Expression::Input(static_cast<int>(i), groups[i].type);
      column.position = e.position;
      return column;
    }
  }
  if (e.is_input() && e.column >= AggregateCollector::kFirstCall) {
    Expression call = e;
    call.column = calls[static_cast<size_t>(e.column - AggregateCollector::kFirstCall)] +
                  static_cast<int>(groups.size());
    return call;
  }
  if (e.is_input()) {
    std::string name;
    for (const ScopeTable& table : scope.tables) {
      const int offset = e.column - table.first;
      if (offset >= 0 && offset < static_cast<int>(table.columns.size()))
        name = table.columns[static_cast<size_t>(offset)].name;
    }
    return Status::Validate(e.position, "column {} is not in GROUP BY", Quote(name))
        .WithErrorCode("RT2005")
        .WithHint("Add it to GROUP BY, or put it into an aggregate such as MAX.");
  }
  Expression copy = e;
  for (Expression& operand : copy.operands) {
    RT_ASSIGN(operand, AfterAggregate(operand, groups, calls, scope));
  }
  if (e.over) {
    OverWindow over = *e.over;
    for (Expression& part : over.partition) {
      RT_ASSIGN(part, AfterAggregate(part, groups, calls, scope));
    }
    for (OverWindow::Order& order : over.order) {
      RT_ASSIGN(order.key, AfterAggregate(order.key, groups, calls, scope));
    }
    copy.over = std::make_shared<const OverWindow>(std::move(over));
  }
  return copy;
}

// FILTER takes a column that is TRUE or FALSE.
Expression IsTrue(Expression condition) {
  if (!condition.type.nullable) return condition;
  return Expression::Call("IS TRUE", {std::move(condition)}, Type::Boolean().NotNull());
}

// The columns of the projection below an aggregate, each once.
struct PreColumns {
  std::vector<Expression> expressions;
  std::vector<std::string> names;

  int Find(const Expression& e) const {
    for (size_t i = 0; i < expressions.size(); ++i) {
      if (expressions[i] == e) return static_cast<int>(i);
    }
    return -1;
  }
  int FindOrAdd(const Expression& e, const Schema& input) {
    if (const int found = Find(e); found >= 0) return found;
    expressions.push_back(e);
    names.push_back(e.is_input() ? input.name(e.column) : "");
    return static_cast<int>(expressions.size()) - 1;
  }
};

// COUNT of what is never NULL counts rows; its column is made all the same, and pruned later.
AggregateCall CallOver(const CollectedCall& call, const Schema& input, PreColumns* pre) {
  AggregateCall made;
  made.function = call.function;
  made.distinct = call.distinct;
  made.type = call.type;
  for (const Expression& argument : call.arguments) {
    const int column = pre->FindOrAdd(argument, input);
    const bool counts_rows = call.function == "COUNT" && !call.distinct && !argument.type.nullable;
    if (!counts_rows) made.arguments.push_back(column);
  }
  if (call.filter) made.filter = pre->FindOrAdd(IsTrue(*call.filter), input);
  return made;
}

bool SameCall(const AggregateCall& a, const AggregateCall& b) {
  return a.function == b.function && a.arguments == b.arguments && a.distinct == b.distinct &&
         a.filter == b.filter;
}

// The projection below an aggregate loses the columns that no key and no call uses. `below` is what
// stood there before it: where nothing is used, it stands again.
LogicalPointer WithoutUnused(const LogicalPointer& node, const LogicalPointer& below,
                             LogicalAggregate* aggregate) {
  const auto* project = node->as<LogicalProject>();
  if (!project) return node;
  std::set<int> used(aggregate->group.begin(), aggregate->group.end());
  for (const AggregateCall& call : aggregate->calls) {
    used.insert(call.arguments.begin(), call.arguments.end());
    if (call.filter >= 0) used.insert(call.filter);
  }
  if (static_cast<int>(used.size()) == node->schema.size()) return node;
  if (used.empty()) return node == below ? node : below;
  std::vector<int> mapping(static_cast<size_t>(node->schema.size()), -1);
  LogicalProject pruned;
  pruned.ttl_hints = project->ttl_hints;
  Schema schema;
  for (const int column : used) {
    mapping[static_cast<size_t>(column)] = schema.size();
    pruned.expressions.push_back(project->expressions[static_cast<size_t>(column)]);
    schema.Add(node->schema.field(column));
  }
  const auto move = [&](int* column) { *column = mapping[static_cast<size_t>(*column)]; };
  for (int& column : aggregate->group) move(&column);
  for (AggregateCall& call : aggregate->calls) {
    for (int& column : call.arguments) move(&column);
    if (call.filter >= 0) move(&call.filter);
  }
  return MakeLogical(std::move(pruned), node->inputs, std::move(schema));
}

Status Flatten(const std::vector<ast::GroupItem>& items, std::vector<ast::ExprPointer>* keys) {
  for (const ast::GroupItem& item : items) {
    if (item.kind != ast::GroupItem::Kind::kExpression && item.kind != ast::GroupItem::Kind::kSet) {
      return Status::Unsupported("GROUP BY with GROUPING SETS, ROLLUP or CUBE");
    }
    keys->insert(keys->end(), item.expressions.begin(), item.expressions.end());
  }
  return Status::Ok();
}

// The name a SELECT item gives its column without an alias, or "".
std::string OwnName(const ast::Expr& expr) {
  if (const auto* ref = expr.as<ast::NameRef>()) return ref->name.parts.back();
  const auto* call = expr.as<ast::Call>();
  if (call && !call->parentheses && call->operands.empty()) return call->function;
  if (call && call->function == "DOT") return OwnName(*call->operands[1]);
  return "";
}

// `twice`: a name that two columns behind the star have; "" when there is none.
Status OnceEach(const std::string& twice, SourcePosition position) {
  if (twice.empty()) return Status::Ok();
  return Status::Validate(position, "column {} is twice in its table", Quote(twice))
      .WithErrorCode("RT2014")
      .WithHint("Give the columns different names with AS.");
}

}  // namespace

Status QueryBinder::ExpandStar(const ast::Star& star, SourcePosition position, Block* block) {
  std::set<std::string> met;  // in one table
  std::string twice;
  const auto add = [&](const ScopeTable& table, size_t i) {
    if (i == 0) met.clear();
    if (!met.insert(table.columns[i].name).second) twice = table.columns[i].name;
    Item item;
    item.bound = Expression::Input(table.first + static_cast<int>(i), table.columns[i].type);
    item.name = table.columns[i].name;
    item.named = true;
    item.position = position;
    block->items.push_back(std::move(item));
  };
  if (!star.qualifier.empty()) {
    RT_ASSIGN(const ScopeTable* table, block->scope.FindTable(star.qualifier));
    for (size_t i = 0; i < table->columns.size(); ++i) add(*table, i);
    return OnceEach(twice, position);
  }
  if (block->scope.tables.empty()) return Status::Validate(position, "* needs a FROM");
  for (const Scope::Merged& merged : block->scope.merged) {
    auto ref = ast::NameRef{};
    ref.name.parts = {merged.name};
    ref.name.quoted = {false};
    ref.name.position = position;
    Item item;
    RT_ASSIGN(item.bound, ExpressionBinder(block->scope).Bind(*ast::MakeExpr(ref, position)));
    item.name = merged.name;
    item.named = true;
    block->items.push_back(std::move(item));
  }
  for (const ScopeTable& table : block->scope.tables) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const int column = table.first + static_cast<int>(i);
      const bool merged = std::any_of(
          block->scope.merged.begin(), block->scope.merged.end(),
          [&](const Scope::Merged& pair) { return pair.left == column || pair.right == column; });
      if (!merged) add(table, i);
    }
  }
  return OnceEach(twice, position);
}

Status QueryBinder::ExpandItems(Block* block) {
  for (const ast::SelectItem& item : block->select.items) {
    if (const auto* star = item.expression->as<ast::Star>()) {
      RT_TRY(ExpandStar(*star, item.expression->position, block));
      continue;
    }
    Item expanded;
    expanded.expr = item.expression;
    expanded.position = item.expression->position;
    expanded.name = item.alias.empty() ? OwnName(*item.expression) : item.alias.parts[0];
    expanded.named = !expanded.name.empty();
    if (!item.alias.empty()) {
      expanded.alias = item.alias.parts[0];
      block->aliases.emplace(expanded.alias, item.expression);
    }
    block->items.push_back(std::move(expanded));
  }
  return Status::Ok();
}

Status QueryBinder::ShapeItems(const InsertShape& shape, SourcePosition position, Block* block) {
  std::vector<Item> shaped;
  size_t wanted = 0;
  for (size_t i = 0; i < shape.sources.size(); ++i) {
    const int source = shape.sources[i];
    if (source < 0) {
      Item null;
      null.bound = Expression::Null(shape.types[i]);
      null.position = position;
      shaped.push_back(std::move(null));
      continue;
    }
    ++wanted;
    if (source < static_cast<int>(block->items.size()))
      shaped.push_back(block->items[static_cast<size_t>(source)]);
  }
  if (wanted != block->items.size()) {
    return Status::Validate(position, "the query gives {} columns, INSERT names {}",
                            block->items.size(), wanted)
        .WithErrorCode("RT2019");
  }
  block->items = std::move(shaped);
  return Status::Ok();
}

Status QueryBinder::BindItems(Block* block) {
  for (size_t i = 0; i < block->items.size(); ++i) {
    Item& item = block->items[i];
    if (item.name.empty()) item.name = "EXPR$" + std::to_string(i);
    if (!item.expr) continue;
    RT_ASSIGN(item.bound, block->Binder("SELECT").Bind(*item.expr));
    if (item.bound.type.kind == TypeKind::kNull) {
      return Status::Validate(item.position, "illegal use of NULL: write CAST(NULL AS type)")
          .WithErrorCode("RT2009");
    }
  }
  return Status::Ok();
}

// ORDER BY: a number, an alias, an item's expression, or a column beside the list.
Status QueryBinder::BindOrder(const ast::Query& query, Block* block) {
  for (const ast::OrderItem& given : query.order) {
    Block::Order order;
    order.sort.descending = given.descending;
    order.sort.nulls_first = given.nulls_first.value_or(!given.descending);
    const auto* literal = given.key->as<ast::Literal>();
    const auto* ref = given.key->as<ast::NameRef>();
    int64_t ordinal = 0;
    if (literal && literal->kind == ast::Literal::Kind::kExact &&
        ParseInt64(literal->text, &ordinal)) {
      if (ordinal < 1 || ordinal > static_cast<int64_t>(block->items.size())) {
        return Status::Validate(given.key->position, "ORDER BY {}: SELECT has {} columns", ordinal,
                                block->items.size());
      }
      order.item = static_cast<int>(ordinal) - 1;
    } else if (ref && ref->name.parts.size() == 1) {
      for (size_t i = 0; i < block->items.size() && order.item < 0; ++i) {
        if (block->items[i].alias == ref->name.parts[0]) order.item = static_cast<int>(i);
      }
    }
    if (order.item < 0) {
      RT_ASSIGN(order.key, block->Binder("ORDER BY").WithAliases(&block->aliases).Bind(*given.key));
      if (ref) order.name = ref->name.parts.back();
    }
    block->order.push_back(std::move(order));
  }
  return Status::Ok();
}

Status QueryBinder::Aggregate(Block* block) {
  const Schema& input = block->node->schema;
  AggregateCollector& aggregates = block->aggregates;
  // Names: a group key is called as the SELECT item that is it, a column as itself.
  PreColumns pre;
  for (const Expression& group : block->groups) {
    const int column = pre.FindOrAdd(group, input);
    for (const Item& item : block->items) {
      if (item.bound == group) pre.names[static_cast<size_t>(column)] = item.name;
    }
  }
  LogicalAggregate aggregate;
  aggregate.ttl_hints = block->ttl_hints;
  for (size_t i = 0; i < block->groups.size(); ++i) aggregate.group.push_back(static_cast<int>(i));
  std::vector<int> final_calls;
  for (size_t i = 0; i < aggregates.calls.size(); ++i) {
    AggregateCall made = CallOver(aggregates.calls[i], input, &pre);
    made.name = "agg#" + std::to_string(i);
    for (const Item& item : block->items) {
      const bool is_call =
          item.bound.is_input() &&
          item.bound.column == AggregateCollector::kFirstCall + static_cast<int>(i);
      if (is_call) made.name = item.name;
    }
    const auto same =
        std::find_if(aggregate.calls.begin(), aggregate.calls.end(),
                     [&](const AggregateCall& other) { return SameCall(other, made); });
    final_calls.push_back(static_cast<int>(same - aggregate.calls.begin()));
    if (same == aggregate.calls.end()) aggregate.calls.push_back(std::move(made));
  }
  if (!pre.expressions.empty()) {
    const LogicalPointer below = block->node;
    RT_ASSIGN(block->node, ProjectOrRename(below, pre.expressions, pre.names));
    block->node = WithoutUnused(block->node, below, &aggregate);
  }
  std::vector<std::string> names;
  for (const int group : aggregate.group) names.push_back(block->node->schema.name(group));
  for (const AggregateCall& call : aggregate.calls) names.push_back(call.name);
  std::set<std::string> used;  // a name that is there already: `c_0`
  for (std::string& name : names) {
    const std::string original = name;
    for (int i = 0; !used.insert(name).second; ++i) name = original + "_" + std::to_string(i);
  }
  Schema schema;
  for (size_t i = 0; i < block->groups.size(); ++i) schema.Add({names[i], block->groups[i].type});
  for (size_t i = 0; i < aggregate.calls.size(); ++i) {
    aggregate.calls[i].name = names[block->groups.size() + i];
    schema.Add({aggregate.calls[i].name, aggregate.calls[i].type});
  }
  block->node = MakeLogical(std::move(aggregate), {block->node}, std::move(schema));
  // From here on expressions are over the aggregate.
  for (Item& item : block->items) {
    RT_ASSIGN(item.bound, AfterAggregate(item.bound, block->groups, final_calls, block->scope));
  }
  for (Block::Order& order : block->order) {
    if (order.item >= 0) continue;
    RT_ASSIGN(order.key, AfterAggregate(order.key, block->groups, final_calls, block->scope));
  }
  if (block->qualify) {
    RT_ASSIGN(block->qualify,
              AfterAggregate(*block->qualify, block->groups, final_calls, block->scope));
  }
  if (block->having) {
    RT_ASSIGN(Expression condition,
              AfterAggregate(*block->having, block->groups, final_calls, block->scope));
    RT_ASSIGN(condition, SimplifyFilter(condition));
    if (!condition.is_true()) {
      Schema kept = block->node->schema;
      block->node =
          MakeLogical(LogicalFilter{std::move(condition)}, {block->node}, std::move(kept));
    }
  }
  return Status::Ok();
}

Result<LogicalPointer> QueryBinder::BindSelect(const ast::Select& select, const ast::Query& query,
                                               const Scope* outer, const InsertShape* shape) {
  Block block{select, nullptr, {}, {}, {}, {}, {}, {}, {}, {}, false, {}, {}};
  for (const ast::Hint& hint : select.hints) {
    if (hint.name != "STATE_TTL") continue;
    for (const auto& [table, ttl] : hint.options) {
      int64_t millis = 0;
      if (!ParseDurationMillis(ttl, &millis)) {
        return Status::Validate(hint.position,
                                "STATE_TTL takes a duration, such as '1d', and not {}", Quote(ttl))
            .WithErrorCode("RT2018");
      }
      block.ttl_hints.emplace_back(table, ttl);
    }
  }
  if (select.from) {
    RT_ASSIGN(Source source, BindTable(*select.from, outer));
    block.node = std::move(source.node);
    block.scope = std::move(source.scope);
  } else {
    LogicalValues values;
    values.rows.push_back({Expression::Literal(int64_t{0}, Type::Int().NotNull())});
    block.node = MakeLogical(std::move(values), {}, Schema({{"ZERO", Type::Int().NotNull()}}));
  }
  block.scope.outer = outer;
  if (select.where) {
    RT_ASSIGN(Expression condition,
              ExpressionBinder(block.scope).Naming("WHERE").BindCondition(*select.where));
    Schema schema = block.node->schema;
    if (!condition.is_true())
      block.node =
          MakeLogical(LogicalFilter{std::move(condition)}, {block.node}, std::move(schema));
  }
  for (const auto& [name, window] : select.windows) block.windows[name.parts[0]] = &window;
  RT_TRY(ExpandItems(&block));
  if (shape) RT_TRY(ShapeItems(*shape, query.position, &block));
  std::vector<ast::ExprPointer> keys;
  RT_TRY(Flatten(select.group_by, &keys));
  block.aggregates.groups_nothing = keys.empty();
  for (const ast::ExprPointer& key : keys) {
    RT_ASSIGN(Expression group, ExpressionBinder(block.scope).Naming("GROUP BY").Bind(*key));
    if (std::find(block.groups.begin(), block.groups.end(), group) == block.groups.end())
      block.groups.push_back(std::move(group));
  }
  RT_TRY(BindItems(&block));
  if (select.having) {
    RT_ASSIGN(block.having, block.Binder("HAVING").BindCondition(*select.having));
  }
  if (select.qualify) {
    ExpressionBinder binder = block.Binder("QUALIFY");
    RT_ASSIGN(block.qualify, binder.WithAliases(&block.aliases).BindCondition(*select.qualify));
    block.qualify_names_items = binder.used_alias();
    if (!HasOver(*block.qualify))
      return Status::Validate(select.qualify->position, "QUALIFY needs a function with OVER in it")
          .WithErrorCode("RT2008");
  }
  RT_TRY(BindOrder(query, &block));
  if (block.aggregated()) RT_TRY(Aggregate(&block));
  return Output(&block, query);
}

Result<LogicalPointer> QueryBinder::Output(Block* block, const ast::Query& query) {
  std::vector<Expression> expressions;
  std::vector<std::string> names;
  for (Item& item : block->items) {
    expressions.push_back(item.bound);
    names.push_back(item.name);
  }
  const size_t width = expressions.size();
  if (block->qualify) {
    if (block->qualify_names_items) {
      const Result<Expression> above =
          AfterAggregate(*block->qualify, expressions, {}, block->scope);
      if (above.ok()) {
        RT_ASSIGN(block->node, ProjectAlways(block->node, expressions, names));
        expressions = AllColumns(block->node->schema);
        block->qualify = *above;
      }
    }
    std::vector<Expression> wide = expressions;
    std::vector<std::string> wide_names = names;
    wide.push_back(*block->qualify);
    wide_names.push_back("QualifyExpression");
    RT_ASSIGN(block->node, ProjectAlways(block->node, std::move(wide), std::move(wide_names)));
    Schema schema = block->node->schema;
    Expression condition =
        Expression::Input(static_cast<int>(width), schema.type(static_cast<int>(width)));
    block->node = MakeLogical(LogicalFilter{std::move(condition)}, {block->node}, schema);
    expressions.clear();
    for (size_t i = 0; i < width; ++i) {
      expressions.push_back(
          Expression::Input(static_cast<int>(i), schema.type(static_cast<int>(i))));
    }
  }
  std::vector<SortKey> keys;
  for (Block::Order& order : block->order) {
    int column = order.item;
    for (size_t i = 0; i < expressions.size() && column < 0; ++i) {
      if (!block->qualify && expressions[i] == order.key) column = static_cast<int>(i);
    }
    if (column < 0) {
      if (block->select.distinct) {
        return Status::Validate(order.key.position,
                                "with SELECT DISTINCT, ORDER BY takes columns of the list only");
      }
      if (block->qualify)
        return Status::Unsupported("QUALIFY with ORDER BY of other columns").At(order.key.position);
      column = static_cast<int>(expressions.size());
      names.push_back(order.name.empty() ? "EXPR$" + std::to_string(column) : order.name);
      expressions.push_back(order.key);
    }
    order.sort.column = column;
    keys.push_back(order.sort);
  }
  const bool hidden = expressions.size() > width;
  LogicalPointer node;
  if (block->aggregated() && !block->qualify) {
    RT_ASSIGN(node, ProjectIfNeeded(block->node, std::move(expressions), std::move(names)));
  } else {
    RT_ASSIGN(node, ProjectAlways(block->node, std::move(expressions), std::move(names)));
  }
  if (!block->ttl_hints.empty()) {
    if (const auto* project = node->as<LogicalProject>()) {
      LogicalProject hinted = *project;
      hinted.ttl_hints = block->ttl_hints;
      node = MakeLogical(std::move(hinted), node->inputs, node->schema);
    }
  }
  if (block->select.distinct) {
    LogicalAggregate distinct;
    for (int i = 0; i < node->schema.size(); ++i) distinct.group.push_back(i);
    distinct.ttl_hints = block->ttl_hints;
    Schema schema = node->schema;
    if (!AreUnique(*node, distinct.group))
      node = MakeLogical(std::move(distinct), {node}, std::move(schema));
  }
  RT_ASSIGN(node, Sorted(std::move(node), std::move(keys), query));
  if (!hidden) return node;
  std::vector<Expression> shown = AllColumns(node->schema);
  std::vector<std::string> shown_names = node->schema.names();
  shown.resize(width);
  shown_names.resize(width);
  return ProjectAlways(std::move(node), std::move(shown), std::move(shown_names));
}

}  // namespace rowtide
