#include "cli/shell/completion.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "operators/expressions/aggregate_types.h"
#include "operators/expressions/registry.h"
#include "planner/sql/lexer.h"
#include "planner/sql/parser.h"
#include "planner/sql/reserved_words.h"

namespace rowtide {

namespace {

// What people type; the grammar has some 400 more.
const std::set<std::string>& Keywords() {
  static const std::set<std::string> words = {"ALL",
                                              "AND",
                                              "AS",
                                              "ASC",
                                              "BEGIN",
                                              "BETWEEN",
                                              "BIGINT",
                                              "BOOLEAN",
                                              "BY",
                                              "BYTES",
                                              "CASE",
                                              "CAST",
                                              "COLUMNS",
                                              "CONFLICT",
                                              "CREATE",
                                              "CROSS",
                                              "DATE",
                                              "DAY",
                                              "DECIMAL",
                                              "DESC",
                                              "DESCRIBE",
                                              "DISTINCT",
                                              "DO",
                                              "DOUBLE",
                                              "DROP",
                                              "ELSE",
                                              "END",
                                              "ENFORCED",
                                              "EXCEPT",
                                              "EXECUTE",
                                              "EXISTS",
                                              "EXPLAIN",
                                              "FALSE",
                                              "FETCH",
                                              "FILTER",
                                              "FIRST",
                                              "FLOAT",
                                              "FOR",
                                              "FROM",
                                              "GROUP",
                                              "HAVING",
                                              "HOUR",
                                              "IN",
                                              "INNER",
                                              "INSERT",
                                              "INT",
                                              "INTERSECT",
                                              "INTERVAL",
                                              "INTO",
                                              "IS",
                                              "JOIN",
                                              "KEY",
                                              "LAST",
                                              "LEFT",
                                              "LIKE",
                                              "LIMIT",
                                              "METADATA",
                                              "MINUTE",
                                              "NOT",
                                              "NOTHING",
                                              "NULL",
                                              "NULLS",
                                              "OFFSET",
                                              "ON",
                                              "OR",
                                              "ORDER",
                                              "OUTER",
                                              "OVER",
                                              "PARTITION",
                                              "PARTITIONED",
                                              "PRIMARY",
                                              "QUALIFY",
                                              "RESET",
                                              "RIGHT",
                                              "ROWS",
                                              "SECOND",
                                              "SELECT",
                                              "SET",
                                              "SHOW",
                                              "SMALLINT",
                                              "STATEMENT",
                                              "STRING",
                                              "TABLE",
                                              "TABLES",
                                              "TEMPORARY",
                                              "THEN",
                                              "TIME",
                                              "TIMESTAMP",
                                              "TIMESTAMP_LTZ",
                                              "TINYINT",
                                              "TRUE",
                                              "TRY_CAST",
                                              "UNION",
                                              "USE",
                                              "VALUES",
                                              "VARCHAR",
                                              "VIEW",
                                              "VIEWS",
                                              "VIRTUAL",
                                              "WATERMARK",
                                              "WHEN",
                                              "WHERE",
                                              "WITH",
                                              "CHANGELOG_MODE",
                                              "DEDUPLICATE",
                                              "ERROR"};
  return words;
}

const std::set<std::string>& WordsBeforeTables() {
  static const std::set<std::string> words = {"FROM", "JOIN",     "INTO", "TABLE",
                                              "VIEW", "DESCRIBE", "DESC", "COLUMNS"};
  return words;
}

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

size_t NameLength(std::string_view before) {
  size_t length = 0;
  while (length < before.size() && IsNameCharacter(before[before.size() - 1 - length])) ++length;
  return length;
}

bool StartsWith(const std::string& candidate, std::string_view typed) {
  return candidate.size() >= typed.size() &&
         UpperCase(candidate.substr(0, typed.size())) == UpperCase(typed);
}

// Tokens as far as the text has any; an open quote at its end is left out.
std::vector<Token> TokensOf(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  while (true) {
    Result<Token> token = lexer.Next();
    if (!token.ok() || token->kind == Token::Kind::kEnd) return tokens;
    tokens.push_back(std::move(*token));
  }
}

bool IsName(const Token& token) {
  return token.kind == Token::Kind::kQuoted ||
         (token.kind == Token::Kind::kWord && !IsReservedWord(token.upper));
}

// Tables of the statement by the names they go by in it.
std::map<std::string, std::string> TablesNamedIn(const std::vector<Token>& tokens) {
  std::map<std::string, std::string> tables;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string& word = tokens[i].upper;
    if (tokens[i].kind != Token::Kind::kWord ||
        (word != "FROM" && word != "JOIN" && word != "INTO"))
      continue;
    if (!IsName(tokens[i + 1])) continue;
    const std::string& table = tokens[i + 1].text;
    tables[table] = table;
    size_t alias = i + 2;
    if (alias < tokens.size() && tokens[alias].upper == "AS") ++alias;
    if (alias < tokens.size() && IsName(tokens[alias])) tables[tokens[alias].text] = table;
  }
  return tables;
}

std::vector<std::string> ColumnsOf(const std::string& table, Session& session) {
  std::vector<std::string> columns;
  Result<std::vector<ast::Statement>> describe = ParseScript("DESCRIBE `" + table + "`");
  if (!describe.ok()) return columns;
  const Result<Outcome> outcome = session.Execute((*describe)[0]);
  if (!outcome.ok()) return columns;
  if (const auto* rows = std::get_if<TextTable>(&*outcome)) {
    for (const std::vector<std::string>& row : rows->rows) columns.push_back(row[0]);
  }
  return columns;
}

std::string LowerCase(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

class Candidates {
 public:
  explicit Candidates(std::string_view typed) : typed_(typed) {
    in_lower_case_ = !typed.empty() && std::islower(static_cast<unsigned char>(typed.back())) != 0;
  }
  void Add(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (StartsWith(name, typed_)) found_.insert(name);
    }
  }
  // Keywords follow the case that was begun.
  void AddWord(const std::string& word) {
    if (StartsWith(word, typed_)) found_.insert(in_lower_case_ ? LowerCase(word) : word);
  }
  Completion Done() const { return {typed_.size(), {found_.begin(), found_.end()}}; }

 private:
  std::string_view typed_;
  bool in_lower_case_ = false;
  std::set<std::string> found_;
};

Completion ShellWords(std::string_view before, Session& session) {
  const size_t blank = before.rfind(' ');
  if (blank == std::string_view::npos) {
    Candidates commands(before);
    commands.Add({"\\?", "\\q", "\\d", "\\dt", "\\dv", "\\output", "\\limit", "\\stats", "\\i",
                  "\\set", "\\help"});
    return commands.Done();
  }
  Candidates words(before.substr(blank + 1));
  if (before.starts_with("\\output ")) {
    words.Add({"changelog", "tableau", "table", "json", "csv", "auto"});
  }
  if (before.starts_with("\\stats ")) words.Add({"on", "off"});
  if (before.starts_with("\\d")) words.Add(session.catalog().TableNames());
  return words.Done();
}

// Within the first string of SET or RESET: a key.
bool IsOptionKey(std::string_view before, std::string_view* typed) {
  const size_t quote = before.rfind('\'');
  if (quote == std::string_view::npos) return false;
  const std::vector<Token> tokens = TokensOf(before.substr(0, quote));
  if (tokens.size() != 1 || (tokens[0].upper != "SET" && tokens[0].upper != "RESET")) return false;
  *typed = before.substr(quote + 1);
  return true;
}

}  // namespace

Completion Complete(std::string_view before, std::string_view after, Session& session) {
  if (before.starts_with("\\")) return ShellWords(before, session);
  const size_t end = before.rfind(';');
  if (end != std::string_view::npos) before.remove_prefix(end + 1);
  std::string_view key;
  if (IsOptionKey(before, &key)) {
    Candidates keys(key);
    keys.Add(KnownOptionKeys());
    std::vector<std::string> families;
    for (const OptionHelp& help : OptionHelps()) {
      const size_t table = help.key.find('<');
      if (table != std::string::npos) families.push_back(help.key.substr(0, table));
    }
    keys.Add(families);
    return keys.Done();
  }
  const std::string_view typed = before.substr(before.size() - NameLength(before));
  const std::string_view ahead = before.substr(0, before.size() - typed.size());
  const std::vector<Token> tokens = TokensOf(ahead);
  if (tokens.empty() ? !ahead.empty() && ahead.back() == '\''
                     : std::count(ahead.begin(), ahead.end(), '\'') % 2 == 1) {
    return {};  // within a string
  }
  Candidates candidates(typed);
  const std::string whole = std::string(before) + " " + std::string(after);
  const std::map<std::string, std::string> tables = TablesNamedIn(TokensOf(whole));
  if (tokens.size() > 1 && tokens.back().upper == ".") {
    const auto named = tables.find(tokens[tokens.size() - 2].text);
    if (named != tables.end()) candidates.Add(ColumnsOf(named->second, session));
    return candidates.Done();
  }
  if (!tokens.empty() && WordsBeforeTables().contains(tokens.back().upper)) {
    candidates.Add(session.catalog().TableNames());
    return candidates.Done();
  }
  if (!tokens.empty()) {
    for (const auto& [name, table] : tables) candidates.Add(ColumnsOf(table, session));
    if (tables.empty()) {
      for (const std::string& table : session.catalog().TableNames()) {
        candidates.Add(ColumnsOf(table, session));
      }
    }
    candidates.Add(session.catalog().TableNames());
    if (typed.empty()) return candidates.Done();  // keywords would drown the names
    for (const std::string& function : ScalarFunctionNames()) candidates.AddWord(function);
    for (const std::string& function : AggregateNames()) candidates.AddWord(function);
  }
  for (const std::string& word : Keywords()) candidates.AddWord(word);
  return candidates.Done();
}

}  // namespace rowtide
