#include <algorithm>

#include "engine/schema.h"
#include "planner/sql/grammar.h"
#include "planner/sql/parser.h"

namespace rowtide {

using ast::Span;

namespace {

// Statements of Flink that Rowtide understands well enough to refuse: by their first words.
struct RefusedWords {
  const char* first;
  const char* second;
};
constexpr RefusedWords kRefused[] = {
    {"ADD", "JAR"},        {"REMOVE", "JAR"},   {"ANALYZE", "TABLE"}, {"TRUNCATE", "TABLE"},
    {"DELETE", "FROM"},    {"UPDATE", nullptr}, {"CALL", nullptr},    {"LOAD", "MODULE"},
    {"UNLOAD", "MODULE"},  {"STOP", "JOB"},     {"COMPILE", nullptr}, {"EXECUTE", "PLAN"},
    {"CREATE", "CATALOG"}, {"ALTER", nullptr},  {"UPSERT", nullptr},  {"MERGE", nullptr}};

const std::vector<std::string>& FirstWords() {
  static const std::vector<std::string> kWords = {
      "SELECT",   "INSERT", "CREATE", "DROP",  "ALTER",  "EXPLAIN", "SHOW",
      "DESCRIBE", "DESC",   "SET",    "RESET", "USE",    "EXECUTE", "BEGIN",
      "WITH",     "VALUES", "TABLE",  "ADD",   "REMOVE", "ANALYZE", "TRUNCATE",
      "DELETE",   "UPDATE", "CALL",   "LOAD",  "UNLOAD", "STOP",    "COMPILE"};
  return kWords;
}

}  // namespace

bool Grammar::StartsStatement(const std::string& upper) {
  return upper != "WITH" && upper != "TABLE" && upper != "VALUES" &&
         std::find(FirstWords().begin(), FirstWords().end(), upper) != FirstWords().end();
}

Result<bool> Grammar::AtEnd() {
  RT_TRY(Fill(0));
  while (Is(";")) {
    begin_ = Here().end;
    RT_TRY(Step());
  }
  begin_ = Here().begin;
  first_ = at_;
  return Here().kind == Token::Kind::kEnd;
}

Status Grammar::ExpectEnd() {
  if (Here().kind == Token::Kind::kEnd || Is(";")) return Status::Ok();
  return Unexpected(kEndOfStatement);
}

ast::Statement Grammar::Made(decltype(ast::Statement::node) node) const {
  ast::Statement statement;
  statement.node = std::move(node);
  return statement;
}

Result<ast::Statement> Grammar::ParseStatement() {
  const SourcePosition start = Here().position;
  RT_ASSIGN(ast::Statement statement, StatementBody());
  statement.begin = begin_;
  statement.end = last_end_;
  statement.position = Span(start, LastPosition());
  RT_TRY(ExpectEnd());
  return statement;
}

Result<ast::Statement> Grammar::StatementBody() {
  if (StartsQuery() || Is("(") || Is("TABLE")) {
    RT_ASSIGN(ast::QueryPointer query, QueryExpression(true));
    return Made(std::move(query));
  }
  for (const RefusedWords& refused : kRefused) {
    if (!Is(refused.first) || (refused.second && !IsAhead(1, refused.second))) continue;
    if (IsSequence({"ALTER", "TABLE"}) || IsSequence({"ALTER", "VIEW"})) {
      return RefusedStatement("ALTER " + Ahead(1).upper);
    }
    return RefusedStatement(refused.second ? fmt::format("{} {}", refused.first, refused.second)
                                           : refused.first);
  }
  if (Is("INSERT") || IsSequence({"EXECUTE", "INSERT"})) {
    if (Is("EXECUTE")) RT_TRY(Step());
    RT_ASSIGN(ast::Insert insert, InsertStatement());
    return Made(std::move(insert));
  }
  if (IsSequence({"EXECUTE", "STATEMENT"}) || IsSequence({"BEGIN", "STATEMENT"})) {
    RT_ASSIGN(ast::StatementSet set, StatementSetBody());
    return Made(std::move(set));
  }
  if (Is("EXECUTE") && (IsAhead(1, "SELECT") || IsAhead(1, "WITH") || IsAhead(1, "VALUES"))) {
    RT_TRY(Step());
    RT_ASSIGN(ast::QueryPointer query, QueryExpression(true));
    return Made(std::move(query));
  }
  if (Is("CREATE")) return Create();
  if (Is("DROP")) return Drop();
  if (Is("EXPLAIN")) return ExplainStatement();
  if (Is("SHOW")) return ShowStatement();
  if (Is("SET")) return SetStatement();
  if (Is("RESET")) return ResetStatement();
  if (Is("DESCRIBE") || Is("DESC")) {
    RT_TRY(Step());
    if (Is("JOB")) return RefusedStatement("DESCRIBE JOB");
    if (Is("CATALOG") || Is("FUNCTION")) return RefusedStatement("DESCRIBE " + Here().upper);
    ast::Describe describe;
    RT_ASSIGN(describe.extended, Accept("EXTENDED"));
    RT_ASSIGN(describe.name, CompoundName());
    return Made(std::move(describe));
  }
  if (Is("USE")) {
    RT_TRY(Step());
    if (Is("MODULES")) return RefusedStatement("USE MODULES");
    ast::Use use;
    RT_ASSIGN(use.catalog, Accept("CATALOG"));
    if (use.catalog) {
      RT_ASSIGN(use.name, SimpleName());
    } else {
      RT_ASSIGN(use.name, CompoundName());
    }
    return Made(std::move(use));
  }
  Status status = Unexpected("a statement, such as SELECT or INSERT");
  const std::string nearest = Nearest(Here().upper, FirstWords());
  if (!nearest.empty() && nearest != Here().upper) {
    return std::move(status).WithHint(fmt::format("Did you mean {}?", nearest));
  }
  return status;
}

// Read to its end, so that the session can refuse it by name.
Result<ast::Statement> Grammar::RefusedStatement(std::string construct) {
  while (Here().kind != Token::Kind::kEnd && !Is(";")) RT_TRY(Step());
  return Made(ast::Refused{std::move(construct)});
}

// --- CREATE and DROP -------------------------------------------------------------------------

Result<ast::Statement> Grammar::Create() {
  RT_TRY(Step());
  if (IsSequence({"OR", "REPLACE"}) || IsSequence({"OR", "ALTER"})) {
    return RefusedStatement("CREATE OR " + Ahead(1).upper);
  }
  RT_ASSIGN(const bool temporary, Accept("TEMPORARY"));
  if (Is("TABLE")) return CreateTable(temporary);
  if (Is("VIEW")) return CreateView(temporary);
  if (Is("DATABASE") && !temporary) return CreateDatabase();
  for (const char* object : {"FUNCTION", "MODEL", "MATERIALIZED", "CONNECTION", "SYSTEM"}) {
    if (Is(object))
      return RefusedStatement(Is("MATERIALIZED") ? "CREATE MATERIALIZED TABLE"
                                                 : fmt::format("CREATE {}", object));
  }
  return Unexpected("TABLE, VIEW or DATABASE");
}

Result<std::vector<ast::OptionEntry>> Grammar::Options() {
  std::vector<ast::OptionEntry> options;
  RT_TRY(Expect("("));
  while (!Is(")") || !options.empty()) {
    ast::OptionEntry option;
    option.position = Here().position;
    RT_ASSIGN(option.key, StringLiteral());
    RT_TRY(Expect("="));
    option.value_position = Here().position;
    RT_ASSIGN(option.value, StringLiteral());
    options.push_back(std::move(option));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) break;
  }
  RT_TRY(Expect(")"));
  return options;
}

Result<ast::Statement> Grammar::CreateTable(bool temporary) {
  RT_TRY(Step());
  ast::CreateTable table;
  table.temporary = temporary;
  RT_ASSIGN(table.if_not_exists, AcceptSequence({"IF", "NOT", "EXISTS"}));
  RT_ASSIGN(table.name, CompoundName());
  if (Is("(")) RT_TRY(TableElements(&table));
  RT_ASSIGN(const bool comment, Accept("COMMENT"));
  if (comment) {
    RT_ASSIGN(table.comment, StringLiteral());
  }
  if (Is("DISTRIBUTED")) {
    const size_t begin = Here().begin;
    while (Here().kind != Token::Kind::kEnd && !Is(";") && !Is("WITH") && !Is("PARTITIONED") &&
           !Is("LIKE") && !Is("AS")) {
      RT_TRY(Step());
    }
    table.distribution = TextBetween(begin, last_end_);
  }
  if (Is("PARTITIONED")) {
    RT_TRY(ExpectSequence({"PARTITIONED", "BY"}));
    RT_ASSIGN(table.partitioned_by, NameList());
  }
  RT_ASSIGN(const bool with, Accept("WITH"));
  if (with) {
    RT_ASSIGN(table.options, Options());
  }
  if (Is("LIKE")) RT_TRY(LikeClause(&table));
  if (Is("AS")) {
    RT_TRY(Step());
    RT_ASSIGN(table.as_query, QueryExpression(true));
  }
  return Made(std::move(table));
}

Status Grammar::TableElements(ast::CreateTable* table) {
  RT_TRY(Expect("("));
  while (true) {
    RT_TRY(TableElement(table));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) break;
  }
  return Expect(")");
}

Status Grammar::TableElement(ast::CreateTable* table) {
  const SourcePosition start = Here().position;
  if (IsSequence({"WATERMARK", "FOR"})) {
    RT_TRY(Step());
    RT_TRY(Step());
    ast::Watermark watermark;
    RT_ASSIGN(watermark.column, CompoundName());
    RT_TRY(Expect("AS"));
    const size_t begin = Here().begin;
    RT_ASSIGN(watermark.expression, Or());
    watermark.expression_sql = TextBetween(begin, last_end_);
    watermark.position = Span(start, LastPosition());
    table->watermarks.push_back(std::move(watermark));
    return Status::Ok();
  }
  if (Is("CONSTRAINT") || Is("PRIMARY") || (Is("UNIQUE") && IsAhead(1, "("))) {
    std::string name;
    RT_ASSIGN(const bool named, Accept("CONSTRAINT"));
    if (named) {
      RT_ASSIGN(const ast::Name constraint_name, SimpleName());
      name = constraint_name.parts[0];
    }
    RT_ASSIGN(ast::Constraint constraint, ConstraintRest(std::move(name)));
    constraint.position = Span(start, LastPosition());
    table->constraints.push_back(std::move(constraint));
    return Status::Ok();
  }
  ast::Column column;
  RT_ASSIGN(column.name, SimpleName());
  RT_TRY(ColumnRest(&column, table));
  table->columns.push_back(std::move(column));
  return Status::Ok();
}

Status Grammar::ColumnRest(ast::Column* column, ast::CreateTable* table) {
  if (Is("AS")) {
    RT_TRY(Step());
    column->kind = ast::Column::Kind::kComputed;
    const size_t begin = Here().begin;
    RT_ASSIGN(column->expression, Or());
    column->expression_sql = TextBetween(begin, last_end_);
  } else {
    RT_ASSIGN(column->type, DataType());
    if (Is("METADATA")) {
      RT_TRY(Step());
      column->kind = ast::Column::Kind::kMetadata;
      RT_ASSIGN(const bool from, Accept("FROM"));
      if (from) {
        RT_ASSIGN(column->metadata_key, StringLiteral());
      }
      RT_ASSIGN(column->is_virtual, Accept("VIRTUAL"));
    }
    if (Is("CONSTRAINT") || Is("PRIMARY") || Is("UNIQUE")) {
      const SourcePosition start = Here().position;
      std::string name;
      RT_ASSIGN(const bool named, Accept("CONSTRAINT"));
      if (named) {
        RT_ASSIGN(const ast::Name constraint_name, SimpleName());
        name = constraint_name.parts[0];
      }
      ast::Constraint constraint;
      constraint.name = std::move(name);
      constraint.unique = Is("UNIQUE");
      RT_TRY(Step());
      if (!constraint.unique) RT_TRY(Expect("KEY"));
      constraint.columns = {column->name};
      RT_ASSIGN(const bool unenforced, AcceptSequence({"NOT", "ENFORCED"}));
      if (!unenforced) RT_TRY(Accept("ENFORCED").status());
      constraint.enforced = !unenforced;
      constraint.position = Span(start, LastPosition());
      column->primary_key = !constraint.unique;
      table->constraints.push_back(std::move(constraint));
    }
  }
  RT_ASSIGN(const bool comment, Accept("COMMENT"));
  if (comment) {
    RT_ASSIGN(column->comment, StringLiteral());
  }
  return Status::Ok();
}

Result<ast::Constraint> Grammar::ConstraintRest(std::string name) {
  ast::Constraint constraint;
  constraint.name = std::move(name);
  if (Is("UNIQUE")) {
    constraint.unique = true;
    RT_TRY(Step());
  } else {
    RT_TRY(ExpectSequence({"PRIMARY", "KEY"}));
  }
  RT_ASSIGN(constraint.columns, NameList());
  RT_ASSIGN(const bool unenforced, AcceptSequence({"NOT", "ENFORCED"}));
  if (!unenforced) RT_TRY(Accept("ENFORCED").status());
  constraint.enforced = !unenforced;
  return constraint;
}

Status Grammar::LikeClause(ast::CreateTable* table) {
  RT_TRY(Step());
  table->has_like = true;
  RT_ASSIGN(table->like, CompoundName());
  if (!Is("(")) return Status::Ok();
  RT_TRY(Step());
  do {
    ast::LikeOption option;
    option.position = Here().position;
    if (!Is("INCLUDING") && !Is("EXCLUDING") && !Is("OVERWRITING"))
      return Unexpected("INCLUDING, EXCLUDING or OVERWRITING");
    option.mode = Here().upper;
    RT_TRY(Step());
    static const std::vector<std::string> kFeatures = {"ALL",        "CONSTRAINTS", "DISTRIBUTION",
                                                       "GENERATED",  "METADATA",    "OPTIONS",
                                                       "PARTITIONS", "WATERMARKS"};
    for (const std::string& feature : kFeatures) {
      if (Is(feature)) option.feature = feature;
    }
    if (option.feature.empty())
      return Unexpected("ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS or WATERMARKS");
    RT_TRY(Step());
    table->like_options.push_back(std::move(option));
  } while (!Is(")"));
  return Expect(")");
}

Result<ast::Statement> Grammar::CreateView(bool temporary) {
  RT_TRY(Step());
  ast::CreateView view;
  view.temporary = temporary;
  RT_ASSIGN(view.if_not_exists, AcceptSequence({"IF", "NOT", "EXISTS"}));
  RT_ASSIGN(view.name, CompoundName());
  if (Is("(")) {
    RT_ASSIGN(view.columns, NameList());
  }
  RT_ASSIGN(const bool comment, Accept("COMMENT"));
  if (comment) {
    RT_ASSIGN(view.comment, StringLiteral());
  }
  RT_TRY(Expect("AS"));
  const size_t begin = Here().begin;
  RT_ASSIGN(view.query, QueryExpression(true));
  view.query_sql = TextBetween(begin, last_end_);
  return Made(std::move(view));
}

Result<ast::Statement> Grammar::CreateDatabase() {
  RT_TRY(Step());
  ast::CreateDatabase database;
  RT_ASSIGN(database.if_not_exists, AcceptSequence({"IF", "NOT", "EXISTS"}));
  RT_ASSIGN(database.name, CompoundName());
  RT_ASSIGN(const bool comment, Accept("COMMENT"));
  if (comment) {
    RT_ASSIGN(database.comment, StringLiteral());
  }
  RT_ASSIGN(const bool with, Accept("WITH"));
  if (with) {
    RT_ASSIGN(database.options, Options());
  }
  return Made(std::move(database));
}

Result<ast::Statement> Grammar::Drop() {
  RT_TRY(Step());
  ast::Drop drop;
  using K = ast::Drop::Kind;
  RT_ASSIGN(drop.temporary, Accept("TEMPORARY"));
  if (Is("SYSTEM")) RT_TRY(Step());
  if (Is("TABLE")) {
    drop.kind = K::kTable;
  } else if (Is("VIEW")) {
    drop.kind = K::kView;
  } else if (Is("DATABASE")) {
    drop.kind = K::kDatabase;
  } else if (Is("CATALOG")) {
    drop.kind = K::kCatalog;
  } else if (Is("FUNCTION")) {
    drop.kind = K::kFunction;
  } else if (Is("MODEL") || Is("MATERIALIZED")) {
    return RefusedStatement("DROP " + Here().upper);
  } else {
    return Unexpected("TABLE, VIEW, DATABASE, CATALOG or FUNCTION");
  }
  RT_TRY(Step());
  RT_ASSIGN(drop.if_exists, AcceptSequence({"IF", "EXISTS"}));
  RT_ASSIGN(drop.name, CompoundName());
  if (Is("CASCADE") || Is("RESTRICT")) {
    drop.cascade = Is("CASCADE");
    RT_TRY(Step());
  }
  return Made(std::move(drop));
}

// --- INSERT and statement sets ---------------------------------------------------------------

Result<ast::Insert> Grammar::InsertStatement() {
  ast::Insert insert;
  const SourcePosition start = Here().position;
  RT_TRY(Expect("INSERT"));
  if (Is("OVERWRITE")) {
    insert.overwrite = true;
    RT_TRY(Step());
    RT_TRY(Accept("INTO").status());
  } else {
    RT_TRY(Expect("INTO"));
  }
  RT_TRY(Accept("TABLE").status());
  RT_ASSIGN(insert.table, CompoundName());
  insert.position = Span(start, LastPosition());
  RT_ASSIGN(insert.hints, Hints());
  if (Is("PARTITION")) {
    RT_TRY(Step());
    RT_TRY(Expect("("));
    while (true) {
      RT_ASSIGN(ast::Name column, SimpleName());
      RT_TRY(Expect("="));
      RT_ASSIGN(ast::ExprPointer value, Sum());
      insert.partition.emplace_back(std::move(column), std::move(value));
      RT_ASSIGN(const bool more, Accept(","));
      if (!more) break;
    }
    RT_TRY(Expect(")"));
  }
  if (Is("(") && (Ahead(1).kind == Token::Kind::kQuoted || Ahead(1).kind == Token::Kind::kWord) &&
      !IsAhead(1, "SELECT") && !IsAhead(1, "WITH") && !IsAhead(1, "VALUES")) {
    RT_ASSIGN(insert.columns, NameList());
  }
  RT_ASSIGN(insert.query, QueryExpression(true));
  if (IsSequence({"ON", "CONFLICT"})) {
    const SourcePosition at = Here().position;
    RT_TRY(ExpectSequence({"ON", "CONFLICT", "DO"}));
    if (!Is("NOTHING") && !Is("ERROR") && !Is("DEDUPLICATE"))
      return Unexpected("NOTHING, ERROR or DEDUPLICATE");
    insert.on_conflict = Here().upper;
    RT_TRY(Step());
    insert.conflict_position = Span(at, LastPosition());
  }
  return insert;
}

Result<ast::StatementSet> Grammar::StatementSetBody() {
  ast::StatementSet set;
  if (Is("EXECUTE")) {
    RT_TRY(ExpectSequence({"EXECUTE", "STATEMENT", "SET", "BEGIN"}));
  } else if (Is("BEGIN")) {
    RT_TRY(ExpectSequence({"BEGIN", "STATEMENT", "SET"}));
    RT_TRY(Expect(";"));
  } else {
    RT_TRY(ExpectSequence({"STATEMENT", "SET", "BEGIN"}));
  }
  do {
    RT_ASSIGN(ast::Insert insert, InsertStatement());
    set.inserts.push_back(std::move(insert));
    RT_TRY(Expect(";"));
  } while (!Is("END"));
  RT_TRY(Expect("END"));
  return set;
}

Result<ast::Statement> Grammar::ExplainStatement() {
  RT_TRY(Step());
  ast::Explain explain;
  if (IsSequence({"PLAN", "FOR"})) {
    RT_TRY(Step());
    RT_TRY(Step());
  } else {
    bool more = true;
    while (more) {
      more = false;
      for (const char* detail :
           {"CHANGELOG_MODE", "ESTIMATED_COST", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"}) {
        if (!Is(detail)) continue;
        explain.details.push_back(detail);
        RT_TRY(Step());
        RT_ASSIGN(more, Accept(","));
        if (more && !Is("CHANGELOG_MODE") && !Is("ESTIMATED_COST") && !Is("JSON_EXECUTION_PLAN") &&
            !Is("PLAN_ADVICE")) {
          return Unexpected("CHANGELOG_MODE, ESTIMATED_COST, JSON_EXECUTION_PLAN or PLAN_ADVICE");
        }
        break;
      }
    }
  }
  if (Is("INSERT")) {
    RT_ASSIGN(ast::Insert insert, InsertStatement());
    explain.statement = std::move(insert);
  } else if (Is("STATEMENT") || Is("EXECUTE") || Is("BEGIN")) {
    RT_ASSIGN(ast::StatementSet set, StatementSetBody());
    explain.statement = std::move(set);
  } else {
    RT_ASSIGN(ast::QueryPointer query, QueryExpression(true));
    explain.statement = std::move(query);
  }
  return Made(std::move(explain));
}

// --- SHOW, SET, RESET ------------------------------------------------------------------------

Result<ast::Statement> Grammar::ShowStatement() {
  RT_TRY(Step());
  ast::Show show;
  if (Is("CURRENT")) {
    RT_TRY(Step());
    if (!Is("CATALOG") && !Is("DATABASE")) return Unexpected("CATALOG or DATABASE");
    show.what = "CURRENT " + Here().upper;
    RT_TRY(Step());
    return Made(std::move(show));
  }
  if (Is("CREATE")) {
    RT_TRY(Step());
    if (!Is("TABLE") && !Is("VIEW")) return Unexpected("TABLE or VIEW");
    show.what = "CREATE " + Here().upper;
    RT_TRY(Step());
    RT_ASSIGN(show.name, CompoundName());
    return Made(std::move(show));
  }
  RT_ASSIGN(show.only_users, Accept("USER"));
  if (show.only_users && !Is("FUNCTIONS")) return Unexpected("FUNCTIONS");
  for (const char* what :
       {"CATALOGS", "DATABASES", "TABLES", "VIEWS", "FUNCTIONS", "COLUMNS", "JOBS"}) {
    if (!Is(what)) continue;
    show.what = what;
    RT_TRY(Step());
    if (Is("FROM") || Is("IN")) {
      RT_TRY(Step());
      RT_ASSIGN(show.name, CompoundName());
    } else if (show.what == "COLUMNS") {
      return Unexpected("FROM");
    }
    RT_ASSIGN(show.negated, Accept("NOT"));
    show.ignores_case =
        Is("ILIKE") && show.what != "TABLES" && show.what != "VIEWS" && show.what != "COLUMNS";
    if (Is("LIKE") || show.ignores_case) {
      RT_TRY(Step());
      RT_ASSIGN(show.like, StringLiteral());
    } else if (show.negated) {
      return Unexpected("LIKE");
    }
    return Made(std::move(show));
  }
  if (Is("JARS") || Is("MODULES") || Is("FULL") || Is("PARTITIONS") || Is("PROCEDURES") ||
      Is("MODELS") || Is("MATERIALIZED")) {
    return RefusedStatement("SHOW " + Here().upper);
  }
  return Unexpected(
      "CATALOGS, DATABASES, TABLES, VIEWS, FUNCTIONS, COLUMNS, CREATE, CURRENT or JOBS");
}

Result<ast::Statement> Grammar::SetStatement() {
  RT_TRY(Step());
  ast::Set set;
  if (Here().kind == Token::Kind::kEnd || Is(";")) return Made(std::move(set));
  RT_ASSIGN(set.key, StringLiteral());
  RT_TRY(Expect("="));
  set.value_position = Here().position;
  RT_ASSIGN(set.value, StringLiteral());
  return Made(std::move(set));
}

Result<ast::Statement> Grammar::ResetStatement() {
  RT_TRY(Step());
  ast::Reset reset;
  if (Here().kind == Token::Kind::kEnd || Is(";")) return Made(std::move(reset));
  RT_ASSIGN(reset.key, StringLiteral());
  return Made(std::move(reset));
}

}  // namespace rowtide
