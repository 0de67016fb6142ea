#include "cli/explain.h"

#include <iostream>

#include "cli/error.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "planner/session.h"
#include "planner/sql/parser.h"

namespace rowtide {

namespace {

bool IsPlanned(const ast::Statement& statement) {
  return statement.as<ast::QueryPointer>() || statement.as<ast::Insert>() ||
         statement.as<ast::StatementSet>();
}

Status ExplainStatement(Session& session, const ast::Statement& statement, bool* first) {
  std::string text;
  if (IsPlanned(statement)) {
    RT_ASSIGN(const ExplainText explained, session.Explain(statement));
    text = explained.text;
  } else {
    RT_ASSIGN(const Outcome outcome, session.Execute(statement));
    if (const auto* explained = std::get_if<ExplainText>(&outcome)) text = explained->text;
    if (const auto* table = std::get_if<TextTable>(&outcome)) {
      text = ResultTable(table->columns, table->rows, Align::kRight);
    }
  }
  if (text.empty()) return Status::Ok();
  if (!std::exchange(*first, false)) std::cout << "\n";
  std::cout << Printable(text) << (text.ends_with('\n') ? "" : "\n") << std::flush;
  return Status::Ok();
}

Status ExplainAll(std::string_view sql) {
  Session session;
  ScriptParser parser(sql);
  bool first = true;
  while (true) {
    RT_ASSIGN(const std::optional<ast::Statement> statement, parser.NextStatement());
    if (!statement) return Status::Ok();
    RT_TRY(ExplainStatement(session, *statement, &first));
  }
}

}  // namespace

int Explain(const ExplainArguments& arguments) {
  const Result<SqlText> sql = ReadSql(arguments.file, arguments.command);
  if (!sql.ok()) return PrintError(sql.status(), "", "");
  const Status status = ExplainAll(sql->text);
  return status.ok() ? 0 : PrintError(status, sql->origin, sql->text);
}

}  // namespace rowtide
