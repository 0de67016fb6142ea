// What the parser makes of SQL text: syntax only, nothing is looked up.
//
//   SELECT k, COUNT(*) FROM t WHERE v > 1 GROUP BY k
//     Query -> Select { items: Name k, Call COUNT(*); from: NamedTable t; where: Call > (Name v,
//     Literal 1); … }
//
// Trees are immutable once parsed and shared by pointer, so that the binder can put one expression
// in two places (GROUP BY 1, ORDER BY alias). Every expression, table and statement carries its
// place in the text; names keep their case. Function and operator names are in upper case.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/status.h"
#include "engine/types.h"

namespace rowtide::ast {

struct Expr;
struct Query;
struct TableRef;
using ExprPointer = std::shared_ptr<const Expr>;
using QueryPointer = std::shared_ptr<const Query>;
using TablePointer = std::shared_ptr<const TableRef>;

struct Name {
  std::vector<std::string> parts;
  std::vector<bool> quoted;  // per part: was in back-ticks
  SourcePosition position;
  bool empty() const { return parts.empty(); }
  std::string ToString() const;  // a.b.c
};

// --- types -----------------------------------------------------------------------------------

struct DataType {
  Type type;  // nullable unless NOT NULL was said
  // `ARRAY`, `MAP`, `ROW`, …: the kinds without a value form yet; else empty.
  std::string unsupported;
  std::string text;  // of an unsupported type, as written
  SourcePosition position;
};

// --- expressions -----------------------------------------------------------------------------

struct Literal {
  enum class Kind : uint8_t {
    kNull,
    kTrue,
    kFalse,
    kUnknown,
    kExact,
    kApproximate,
    kString,
    kBinary,
    kDate,
    kTime,
    kTimestamp,
    kInterval,
    kSymbol
  };
  Kind kind = Kind::kNull;
  // Digits as written; the unquoted string; kBinary: hex digits; kSymbol: `BOTH`, `YEAR`.
  std::string text;
  // kInterval: `DAY`, `DAY TO SECOND`; the text may start with a sign
  std::string unit;
  bool negative = false;  // INTERVAL -'5' SECOND
  int precision = 2;      // kInterval: digits of the first field, DAY(3)
};

struct NameRef {
  Name name;
};

struct Star {  // * and t.*; also inside COUNT(*)
  Name qualifier;
};

struct OrderItem {
  ExprPointer key;
  bool descending = false;
  std::optional<bool> nulls_first;
};

struct WindowBound {
  enum class Kind : uint8_t {
    kUnboundedPreceding,
    kPreceding,
    kCurrentRow,
    kFollowing,
    kUnboundedFollowing
  };
  Kind kind = Kind::kCurrentRow;
  ExprPointer offset;
};

struct WindowSpec {
  std::string base;  // OVER w, or (w ORDER BY …)
  bool name_only = false;
  std::vector<ExprPointer> partition;
  std::vector<OrderItem> order;
  bool has_frame = false;
  bool rows = false;
  WindowBound lower;
  std::optional<WindowBound> upper;
  SourcePosition position;
};

// Functions and operators: `+`, `AND`, `LIKE`, `NOT LIKE` is NOT over LIKE, `IS NULL`, `ITEM` for
// a[i], `DOT` for (x).f, `ARRAY`, `MAP`, `ROW`.
struct Call {
  std::string function;
  std::vector<ExprPointer> operands;
  bool infix = false;       // written as an operator; for printing and messages
  bool parentheses = true;  // false: CURRENT_TIMESTAMP
  bool distinct = false;
  ExprPointer filter;
  std::optional<WindowSpec> over;
  std::vector<OrderItem> within_group;
  std::string nulls;  // `IGNORE NULLS`, `RESPECT NULLS`
};

struct Case {
  ExprPointer operand;  // CASE x WHEN …
  std::vector<std::pair<ExprPointer, ExprPointer>> whens;
  ExprPointer otherwise;
};

struct Cast {
  ExprPointer operand;
  DataType type;
  bool tries = false;  // TRY_CAST
};

struct Between {
  ExprPointer operand, low, high;
  bool negated = false;
  bool symmetric = false;
};

struct In {
  ExprPointer operand;
  std::vector<ExprPointer> list;
  QueryPointer query;  // instead of the list
  bool negated = false;
};

struct Subquery {
  enum class Kind : uint8_t { kScalar, kExists, kTable, kArray };
  Kind kind = Kind::kScalar;
  QueryPointer query;
};

struct QuantifiedComparison {  // x > ALL (…), x = ANY (…)
  ExprPointer operand;
  std::string comparison;
  std::string quantifier;
  QueryPointer query;
  std::vector<ExprPointer> list;
};

struct NamedArgument {  // input => TABLE t
  Name name;
  ExprPointer value;
};

struct TableArgument {  // TABLE t [PARTITION BY …]
  Name table;
  QueryPointer query;
  std::vector<ExprPointer> partition;
};

struct Descriptor {
  std::vector<Name> columns;
};

struct Expr {
  std::variant<Literal, NameRef, Star, Call, Case, Cast, Between, In, Subquery,
               QuantifiedComparison, NamedArgument, TableArgument, Descriptor>
      node;
  SourcePosition position;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

// --- queries ---------------------------------------------------------------------------------

struct Hint {
  std::string name;                                          // upper case
  std::vector<std::pair<std::string, std::string>> options;  // 'k'='v'
  std::vector<std::string> arguments;                        // (a, b)
  SourcePosition position;
};

struct NamedTable {
  Name name;
  std::vector<Hint> hints;
  ExprPointer system_time;  // FOR SYSTEM_TIME AS OF …
};
struct DerivedTable {
  QueryPointer query;
  bool lateral = false;
};
struct FunctionTable {  // TABLE(f(…)), LATERAL TABLE(f(…)), f(…)
  ExprPointer call;
  bool lateral = false;
};
struct UnnestTable {
  std::vector<ExprPointer> operands;
  bool ordinality = false;
};
struct MatchRecognize {  // skipped over, for its refusal
  TablePointer input;
};
struct JoinTable {
  enum class Kind : uint8_t { kComma, kCross, kInner, kLeft, kRight, kFull };
  Kind kind = Kind::kInner;
  bool natural = false;
  TablePointer left, right;
  ExprPointer condition;
  std::vector<Name> using_columns;
};

struct TableRef {
  std::variant<NamedTable, DerivedTable, FunctionTable, UnnestTable, MatchRecognize, JoinTable>
      node;
  Name alias;
  std::vector<Name> columns;
  SourcePosition position;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

struct SelectItem {
  ExprPointer expression;
  Name alias;
};

struct GroupItem {
  enum class Kind : uint8_t { kExpression, kSet, kSets, kRollup, kCube };
  Kind kind = Kind::kExpression;
  std::vector<ExprPointer> expressions;  // kExpression: one; kSet: (a, b)
  std::vector<GroupItem> items;          // kSets, kRollup, kCube
};

struct Select {
  std::vector<Hint> hints;
  bool distinct = false;
  std::vector<SelectItem> items;
  TablePointer from;  // null: no FROM
  ExprPointer where;
  bool has_group_by = false;
  std::vector<GroupItem> group_by;
  ExprPointer having;
  std::vector<std::pair<Name, WindowSpec>> windows;
  ExprPointer qualify;
};

struct Values {
  std::vector<std::vector<ExprPointer>> rows;
  std::vector<SourcePosition> positions;  // of the rows
};

struct SetOperation {
  enum class Kind : uint8_t { kUnion, kIntersect, kExcept };
  Kind kind = Kind::kUnion;
  bool all = false;
  QueryPointer left, right;
};

struct TableQuery {  // TABLE t
  Name table;
};

struct WithItem {
  Name name;
  std::vector<Name> columns;
  QueryPointer query;
};

struct Query {
  std::vector<WithItem> with;
  // QueryPointer: in parentheses.
  std::variant<Select, Values, SetOperation, TableQuery, QueryPointer> body;
  std::vector<OrderItem> order;
  ExprPointer offset;
  ExprPointer fetch;
  SourcePosition position;
};

// --- statements ------------------------------------------------------------------------------

struct Column {
  enum class Kind : uint8_t { kPhysical, kMetadata, kComputed };
  Name name;
  Kind kind = Kind::kPhysical;
  DataType type;
  bool primary_key = false;
  std::optional<std::string> metadata_key;
  bool is_virtual = false;
  ExprPointer expression;
  std::string expression_sql;  // as written
  std::optional<std::string> comment;
};

struct Watermark {
  Name column;
  ExprPointer expression;
  std::string expression_sql;
  SourcePosition position;
};

struct Constraint {
  std::string name;
  bool unique = false;  // UNIQUE, else PRIMARY KEY
  bool enforced = false;
  std::vector<Name> columns;
  SourcePosition position;
};

struct LikeOption {
  std::string mode;     // INCLUDING, EXCLUDING, OVERWRITING
  std::string feature;  // ALL, CONSTRAINTS, …
  SourcePosition position;
};

struct OptionEntry {
  std::string key, value;
  SourcePosition position;
  SourcePosition value_position;
};

struct CreateTable {
  Name name;
  bool temporary = false, if_not_exists = false;
  std::vector<Column> columns;
  std::vector<Watermark> watermarks;
  std::vector<Constraint> constraints;
  std::string comment;
  std::vector<Name> partitioned_by;
  std::string distribution;  // as written; DISTRIBUTED BY …
  std::vector<OptionEntry> options;
  bool has_like = false;
  Name like;
  std::vector<LikeOption> like_options;
  QueryPointer as_query;
};

struct CreateView {
  Name name;
  bool temporary = false, if_not_exists = false;
  std::vector<Name> columns;
  std::string comment;
  QueryPointer query;
  std::string query_sql;  // as written
};

struct CreateDatabase {
  Name name;
  bool if_not_exists = false;
  std::string comment;
  std::vector<OptionEntry> options;
};

struct Drop {
  enum class Kind : uint8_t { kTable, kView, kDatabase, kCatalog, kFunction };
  Kind kind = Kind::kTable;
  Name name;
  bool temporary = false, if_exists = false, cascade = false;
};

struct Alter {  // ALTER TABLE and ALTER VIEW: read as a whole, refused later
  std::string object;
  Name name;
};

struct Insert {
  Name table;
  std::vector<Hint> hints;
  std::vector<Name> columns;
  std::vector<std::pair<Name, ExprPointer>> partition;
  bool overwrite = false;
  QueryPointer query;
  std::string on_conflict;  // NOTHING, ERROR, DEDUPLICATE; empty = unsaid
  SourcePosition conflict_position;
  SourcePosition position;
};

struct StatementSet {
  std::vector<Insert> inserts;
};

struct Explain {
  std::vector<std::string> details;  // CHANGELOG_MODE, PLAN_ADVICE, …
  std::variant<QueryPointer, Insert, StatementSet> statement;
};

struct Set {
  std::optional<std::string> key;  // none: list
  std::string value;
  SourcePosition value_position;
};
struct Reset {
  std::optional<std::string> key;
};
struct Show {
  // TABLES, VIEWS, CATALOGS, DATABASES, FUNCTIONS, CURRENT CATALOG, COLUMNS, CREATE TABLE, JOBS, …
  std::string what;
  Name name;  // FROM
  std::optional<std::string> like;
  bool negated = false;       // NOT LIKE
  bool ignores_case = false;  // ILIKE
  bool only_users = false;    // USER FUNCTIONS
};
struct Describe {
  Name name;
  bool extended = false;
};
struct Use {
  bool catalog = false;
  Name name;
};
// Understood as a statement of Flink that Rowtide refuses; `construct` says which.
struct Refused {
  std::string construct;
};

struct Statement {
  std::variant<QueryPointer, Insert, StatementSet, Explain, CreateTable, CreateView, CreateDatabase,
               Drop, Alter, Set, Reset, Show, Describe, Use, Refused>
      node;
  SourcePosition position;
  size_t begin = 0;  // of its text in the script, in bytes; without the `;`
  size_t end = 0;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

template <typename Node>
ExprPointer MakeExpr(Node node, SourcePosition position) {
  auto expr = std::make_shared<Expr>();
  expr->node = std::move(node);
  expr->position = position;
  return expr;
}

// From the start of `a` to the end of `b`.
SourcePosition Span(const SourcePosition& a, const SourcePosition& b);

}  // namespace rowtide::ast
