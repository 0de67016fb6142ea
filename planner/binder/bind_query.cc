#include "planner/binder/bind_query.h"

#include "engine/value_text.h"
#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"
#include "planner/binder/relational.h"

namespace rowtide {
namespace {

Result<std::optional<int64_t>> RowCount(const ast::ExprPointer& expr, const char* clause) {
  if (!expr) return std::optional<int64_t>();
  const auto* literal = expr->as<ast::Literal>();
  int64_t count = 0;
  if (!literal || literal->kind != ast::Literal::Kind::kExact ||
      !ParseInt64(literal->text, &count)) {
    return Status::Parse(expr->position, "{} takes a number of rows", clause);
  }
  return std::optional<int64_t>(count);
}

bool IsLiteral(const ast::Expr& expr) {
  if (expr.as<ast::Literal>()) return true;
  const auto* call = expr.as<ast::Call>();
  return call && call->infix && call->function == "NEGATE" && IsLiteral(*call->operands[0]);
}

LogicalPointer OneRow() {
  LogicalValues values;
  values.rows.push_back({Expression::Literal(int64_t{0}, Type::Int().NotNull())});
  return MakeLogical(std::move(values), {}, Schema({{"ZERO", Type::Int().NotNull()}}));
}

}  // namespace

const ast::WithItem* WithScope::Find(const std::string& name) const {
  for (const WithScope* scope = this; scope; scope = scope->outer) {
    if (const auto found = scope->items.find(name); found != scope->items.end())
      return found->second;
  }
  return nullptr;
}

Result<LogicalPointer> QueryBinder::Bind(const ast::Query& query, const Scope* outer,
                                         const InsertShape* shape) {
  if (query.with.empty()) return BindBody(query, outer, shape);
  WithScope scope;
  scope.outer = with_;
  for (const ast::WithItem& item : query.with) {
    if (scope.items.contains(item.name.parts[0])) {
      return Status::Validate(item.name.position, "WITH has {} twice", Quote(item.name.parts[0]))
          .WithErrorCode("RT2014");
    }
    // A name sees those before it only, so it is bound once here, for its errors.
    QueryBinder binder(context_, &scope, view_depth_);
    RT_TRY(binder.Bind(*item.query).status());
    scope.items[item.name.parts[0]] = &item;
  }
  QueryBinder binder(context_, &scope, view_depth_);
  return binder.BindBody(query, outer, shape);
}

Result<LogicalPointer> QueryBinder::BindBody(const ast::Query& query, const Scope* outer,
                                             const InsertShape* shape) {
  if (const auto* select = std::get_if<ast::Select>(&query.body))
    return BindSelect(*select, query, outer, shape);
  LogicalPointer node;
  if (const auto* values = std::get_if<ast::Values>(&query.body)) {
    RT_ASSIGN(node, BindValues(*values, shape, query.position));
  } else if (const auto* operation = std::get_if<ast::SetOperation>(&query.body)) {
    RT_ASSIGN(node, BindSetOperation(*operation, outer, shape, query.position));
  } else if (const auto* table = std::get_if<ast::TableQuery>(&query.body)) {
    ast::TableRef ref;
    ref.node = ast::NamedTable{table->table, {}, nullptr};
    ref.position = query.position;
    RT_ASSIGN(Source source, BindTable(ref, nullptr));
    node = source.node;
    RT_ASSIGN(node, ProjectAlways(node, AllColumns(node->schema), node->schema.names()));
  } else {
    RT_ASSIGN(node, Bind(*std::get<ast::QueryPointer>(query.body), outer, shape));
  }
  return OrderOutput(std::move(node), query);
}

// ORDER BY over what is no SELECT block: by name or number of its columns.
Result<LogicalPointer> QueryBinder::OrderOutput(LogicalPointer node, const ast::Query& query) {
  if (query.order.empty() && !query.fetch && !query.offset) return node;
  if (node->as<LogicalUnion>()) {
    RT_ASSIGN(node, ProjectAlways(node, AllColumns(node->schema), node->schema.names()));
  }
  std::vector<SortKey> keys;
  for (const ast::OrderItem& item : query.order) {
    const auto* literal = item.key->as<ast::Literal>();
    const auto* ref = item.key->as<ast::NameRef>();
    int64_t column = -1;
    if (literal && literal->kind == ast::Literal::Kind::kExact &&
        ParseInt64(literal->text, &column)) {
      --column;
    } else if (ref) {
      column = node->schema.Find(ref->name.parts.back());
    }
    if (column < 0 || column >= node->schema.size()) {
      Status status =
          Status::Validate(item.key->position, "ORDER BY takes a column of the result here");
      const std::string nearest = ref ? Nearest(ref->name.parts.back(), node->schema.names()) : "";
      return nearest.empty() ? status
                             : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
    }
    keys.push_back(
        {static_cast<int>(column), item.descending, item.nulls_first.value_or(!item.descending)});
  }
  return Sorted(std::move(node), std::move(keys), query);
}

Result<LogicalPointer> QueryBinder::Sorted(LogicalPointer node, std::vector<SortKey> keys,
                                           const ast::Query& query) {
  RT_ASSIGN(const std::optional<int64_t> offset, RowCount(query.offset, "OFFSET"));
  RT_ASSIGN(const std::optional<int64_t> fetch, RowCount(query.fetch, "LIMIT"));
  if (keys.empty() && !offset && !fetch) return node;
  Schema schema = node->schema;
  LogicalSort sort;
  sort.keys = std::move(keys);
  sort.offset = offset;
  sort.fetch = fetch;
  return MakeLogical(std::move(sort), {std::move(node)}, std::move(schema));
}

Result<LogicalPointer> QueryBinder::BindValues(const ast::Values& values, const InsertShape* shape,
                                               SourcePosition position) {
  const Scope nothing;
  std::vector<std::vector<Expression>> rows;
  bool all_literals = true;
  for (size_t r = 0; r < values.rows.size(); ++r) {
    std::vector<Expression> given;
    for (const ast::ExprPointer& expr : values.rows[r]) {
      const auto* call = expr->as<ast::Call>();
      if (call && call->function == "DEFAULT" && !call->parentheses)
        return Status::Unsupported("DEFAULT in VALUES").At(expr->position);
      RT_ASSIGN(Expression bound, ExpressionBinder(nothing).Naming("VALUES").Bind(*expr));
      if (bound.type.kind == TypeKind::kNull) {
        return Status::Validate(expr->position, "illegal use of NULL: write CAST(NULL AS type)")
            .WithErrorCode("RT2009");
      }
      all_literals = all_literals && IsLiteral(*expr);
      given.push_back(std::move(bound));
    }
    if (given.size() != values.rows[0].size()) {
      return Status::Validate(values.positions[r], "this row has {} values, the first has {}",
                              given.size(), values.rows[0].size())
          .WithErrorCode("RT2019");
    }
    if (!shape) {
      rows.push_back(std::move(given));
      continue;
    }
    std::vector<Expression> row;
    size_t wanted = 0;
    for (size_t i = 0; i < shape->sources.size(); ++i) {
      const int source = shape->sources[i];
      wanted += source >= 0;
      if (source >= static_cast<int>(given.size())) break;
      all_literals = all_literals && source >= 0;
      row.push_back(source < 0 ? Expression::Null(shape->types[i])
                               : given[static_cast<size_t>(source)]);
    }
    if (row.size() != shape->sources.size() || wanted != given.size()) {
      return Status::Validate(values.positions[r], "this row has {} values for {} columns",
                              given.size(), wanted)
          .WithErrorCode("RT2019");
    }
    rows.push_back(std::move(row));
  }
  const size_t width = rows[0].size();
  Schema schema;
  for (size_t i = 0; i < width; ++i) {
    std::vector<Type> types;
    for (const std::vector<Expression>& row : rows) types.push_back(row[i].type);
    const std::optional<Type> common = LeastRestrictive(types);
    if (!common)
      return Status::Validate(position, "the values of column {} do not go together", i + 1)
          .WithErrorCode("RT2019");
    schema.Add({"EXPR$" + std::to_string(i), common->WithoutTimeAttribute()});
  }
  if (all_literals) {
    for (std::vector<Expression>& row : rows) {
      for (size_t i = 0; i < width; ++i) {
        row[i] = CoerceTo(std::move(row[i]), schema.type(static_cast<int>(i)));
        if (row[i].type.kind == TypeKind::kDecimal)
          row[i].literal_text.clear();  // all digits of the scale
      }
    }
    return MakeLogical(LogicalValues{std::move(rows)}, {}, std::move(schema));
  }
  LogicalPointer all;
  std::vector<LogicalPointer> branches;
  for (std::vector<Expression>& row : rows) {
    RT_ASSIGN(LogicalPointer branch, ProjectAlways(OneRow(), std::move(row), schema.names()));
    branches.push_back(std::move(branch));
  }
  if (branches.size() == 1) return branches[0];
  return MakeLogical(LogicalUnion{true}, std::move(branches), std::move(schema));
}

Result<LogicalPointer> QueryBinder::BindSetOperation(const ast::SetOperation& operation,
                                                     const Scope* outer, const InsertShape* shape,
                                                     SourcePosition position) {
  using K = ast::SetOperation::Kind;
  if (operation.kind == K::kIntersect) return Status::Unsupported("INTERSECT").At(position);
  if (operation.kind == K::kExcept) return Status::Unsupported("EXCEPT").At(position);
  RT_ASSIGN(LogicalPointer left, Bind(*operation.left, outer, shape));
  RT_ASSIGN(LogicalPointer right, Bind(*operation.right, outer, shape));
  if (left->schema.size() != right->schema.size()) {
    return Status::Validate(operation.right->position, "UNION of {} and {} columns",
                            left->schema.size(), right->schema.size())
        .WithErrorCode("RT2019");
  }
  Schema schema;
  for (int i = 0; i < left->schema.size(); ++i) {
    const Type& a = left->schema.type(i);
    const Type& b = right->schema.type(i);
    std::optional<Type> common = LeastRestrictive(a, b);
    if (!common) {
      return Status::Validate(operation.right->position,
                              "column {} of UNION is {} on one side and {} on the other", i + 1,
                              ToString(a), ToString(b))
          .WithErrorCode("RT2019");
    }
    const bool same_attribute = a.time_attribute == b.time_attribute && a.SameButNullability(b);
    schema.Add(
        {left->schema.name(i),
         common->WithTimeAttribute(same_attribute ? a.time_attribute : TimeAttribute::kNone)});
  }
  return MakeLogical(LogicalUnion{operation.all}, {std::move(left), std::move(right)},
                     std::move(schema));
}

}  // namespace rowtide
