// A syntax tree back to SQL: for SHOW CREATE VIEW, messages, and the test that parsing loses
// nothing (parse, print, parse, print gives the same text).
#pragma once

#include <string>

#include "planner/sql/ast.h"

namespace rowtide {

std::string Unparse(const ast::Query& query);
std::string Unparse(const ast::Expr& expr);
std::string Unparse(const ast::Statement& statement);

}  // namespace rowtide
