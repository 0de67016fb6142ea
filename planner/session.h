// One session: a catalog and options, and what each SQL statement comes to.
//
//   CREATE, DROP, SET, RESET, USE   Done         it has happened
//   SHOW, DESCRIBE, SET             TextTable    rows of text
//   EXPLAIN                         ExplainText  Flink's sections, then the deviations
//   SELECT, INSERT, statement set   PlannedJob   to be built (exec/build_job.h) and run
//
// A statement is planned with the catalog and the options of its moment; a PlannedJob keeps all it
// needs and can be built any number of times. Statements come from planner/sql/parser.h. Used by
// one thread.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/checkpoint.h"
#include "planner/catalog.h"
#include "planner/exec/conflicts.h"
#include "planner/exec/plan.h"
#include "planner/options.h"
#include "planner/show.h"
#include "planner/sql/ast.h"

namespace rowtide {

struct BindContext;  // planner/binder/bind_statement.h

struct Done {};

struct ExplainText {
  std::string text;
};

struct PlannedJob {
  std::string name;  // `insert-into_default_catalog.default_database.s`; of a query `collect`
  ExecPlan plan;
  Options options;        // of the session when it was planned
  bool is_query = false;  // the plan's one root gives `schema` to whoever builds the job
  bool bounded = true;    // all its sources have an end
  Schema schema;
  ConflictPaths conflict_paths;  // of its Deduplicate nodes that write samples
  JobScript script;              // of an INSERT; empty when the session was given no text

  std::string local_time_zone() const;
  // Batch mode: inserts alone, so that their kind says nothing.
  bool gives_final_rows() const;
  bool writes_files() const;
};

using Outcome = std::variant<Done, TextTable, ExplainText, PlannedJob>;

class Session {
 public:
  Session() = default;

  // `script`: the text that the statement's place is in, if jobs are to know what made them.
  Result<Outcome> Execute(const ast::Statement& statement, std::string_view script = {});
  // EXPLAIN CHANGELOG_MODE of a query, an INSERT or a statement set.
  Result<ExplainText> Explain(const ast::Statement& statement);

  // Nothing will be read or written: options of tables, and what they refer to, need not be right.
  void LookOnly() { looks_only_ = true; }

  // What the user should hear about since the last call: options without effect.
  std::vector<std::string> TakeNotes();

  Options& options() { return options_; }
  const Catalog& catalog() const { return catalog_; }

 private:
  Result<Outcome> Dispatch(const ast::Statement& statement);
  // Notes what a later job depends on, or gives a job what was noted.
  void Note(const ast::Statement& statement, std::string_view script, Outcome* outcome);
  Result<Outcome> Run(const ast::Query& query);
  Result<Outcome> Run(const std::vector<ast::Insert>& inserts);
  Result<Outcome> Create(const ast::CreateTable& create);
  Result<Outcome> Create(const ast::CreateView& create);
  Result<Outcome> Create(const ast::CreateDatabase& create);
  Result<Outcome> Drop(const ast::Drop& drop);
  Result<Outcome> Set(const ast::Set& set);
  Result<Outcome> Reset(const ast::Reset& reset);
  Result<Outcome> Use(const ast::Use& use);
  Result<TextTable> Describe(const ast::Name& name) const;
  Result<ConflictPaths> ConflictPathsOf(const ExecPlan& plan) const;
  Result<TextTable> ShowView(const ast::Show& show) const;

  BindContext Binding() const;
  Status CheckTables(const LogicalNode& root) const;

  Catalog catalog_;
  Options options_;
  bool looks_only_ = false;
  void NoteStraySettings();

  std::vector<std::string> definitions_;  // statements that have changed the catalog
  std::vector<std::string> notes_;
  std::set<std::string> stray_settings_;  // that were noted
};

}  // namespace rowtide
