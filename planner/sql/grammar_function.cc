// Functions with a syntax of their own: EXTRACT(DAY FROM ts), TRIM(BOTH 'x' FROM k), JSON_VALUE(…
// ON EMPTY), … They become plain calls whose keywords are symbol operands, the form that Flink's
// plans print.
#include "planner/sql/grammar.h"

namespace rowtide {

using ast::ExprPointer;
using ast::MakeExpr;
using ast::Span;

Result<ExprPointer> Grammar::SpecialFunction(const std::string& function, SourcePosition start,
                                             bool* special) {
  *special = true;
  ast::Call call;
  call.function = function;
  const auto open = [this]() -> Status {
    RT_TRY(Step());
    return Step();
  };
  const auto close = [&]() -> Result<ExprPointer> {
    RT_TRY(Expect(")"));
    return CallTail(std::move(call), start);
  };
  const auto operand = [&]() -> Status {
    RT_ASSIGN(ExprPointer value, Or());
    call.operands.push_back(std::move(value));
    return Status::Ok();
  };
  if (function == "EXTRACT") {
    RT_TRY(open());
    const SourcePosition at = Here().position;
    RT_ASSIGN(std::string unit, TimeUnit());
    call.operands.push_back(Symbol(std::move(unit), at));
    RT_TRY(Expect("FROM"));
    RT_TRY(operand());
    return close();
  }
  if (function == "TIMESTAMPADD" || function == "TIMESTAMPDIFF") {
    RT_TRY(open());
    const SourcePosition at = Here().position;
    RT_ASSIGN(std::string unit, TimeUnit());
    call.operands.push_back(Symbol(std::move(unit), at));
    for (int i = 0; i < 2; ++i) {
      RT_TRY(Expect(","));
      RT_TRY(operand());
    }
    return close();
  }
  if (function == "FLOOR" || function == "CEIL" || function == "CEILING") {
    if (function == "CEILING") call.function = "CEIL";
    RT_TRY(open());
    RT_TRY(operand());
    RT_ASSIGN(const bool to_unit, Accept("TO"));
    if (to_unit) {
      const SourcePosition at = Here().position;
      RT_ASSIGN(std::string unit, TimeUnit());
      call.operands.push_back(Symbol(std::move(unit), at));
    }
    return close();
  }
  if (function == "POSITION") {
    RT_TRY(open());
    RT_ASSIGN(ExprPointer needle, Concatenation());  // IN belongs to POSITION
    call.operands.push_back(std::move(needle));
    RT_TRY(Expect("IN"));
    RT_TRY(operand());
    RT_ASSIGN(const bool from, Accept("FROM"));
    if (from) RT_TRY(operand());
    return close();
  }
  if (function == "OVERLAY") {
    RT_TRY(open());
    RT_TRY(operand());
    if (Is(",")) {
      while (Is(",")) {
        RT_TRY(Step());
        RT_TRY(operand());
      }
      return close();
    }
    RT_TRY(Expect("PLACING"));
    RT_TRY(operand());
    RT_TRY(Expect("FROM"));
    RT_TRY(operand());
    RT_ASSIGN(const bool length, Accept("FOR"));
    if (length) RT_TRY(operand());
    return close();
  }
  if (function == "SUBSTRING" || function == "SUBSTR") {
    RT_TRY(open());
    RT_TRY(operand());
    const bool words = Is("FROM");
    if (!words && !Is(",")) return Unexpected("FROM or ,");
    RT_TRY(Step());
    RT_TRY(operand());
    RT_ASSIGN(const bool length, Accept(words ? "FOR" : ","));
    if (length) RT_TRY(operand());
    return close();
  }
  if (function == "CONVERT" || function == "TRANSLATE") {
    RT_TRY(open());
    RT_TRY(operand());
    RT_ASSIGN(const bool charset, Accept("USING"));
    if (charset) {
      RT_ASSIGN(const ast::Name name, SimpleName());
      call.operands.push_back(Symbol(name.parts[0], name.position));
    }
    while (Is(",")) {
      RT_TRY(Step());
      RT_TRY(operand());
    }
    return close();
  }
  if (function == "TRIM") {
    RT_TRY(open());
    std::string side = "BOTH";
    const SourcePosition at = Here().position;
    bool words = false;
    for (const char* word : {"BOTH", "LEADING", "TRAILING"}) {
      if (!Is(word)) continue;
      side = word;
      words = true;
      RT_TRY(Step());
      break;
    }
    ExprPointer characters;
    if (words && Is("FROM")) {
      RT_TRY(Step());
    } else {
      RT_ASSIGN(characters, Or());
      RT_ASSIGN(const bool from, Accept("FROM"));
      if (!from) {
        if (words) return Unexpected("FROM");
        call.operands = {Symbol(side, at), nullptr, characters};
        characters = nullptr;
      }
    }
    if (call.operands.empty()) {
      RT_ASSIGN(ExprPointer text, Or());
      call.operands = {Symbol(side, at), characters, std::move(text)};
    }
    if (call.operands[1] == nullptr) {
      ast::Literal blank;
      blank.kind = ast::Literal::Kind::kString;
      blank.text = " ";
      call.operands[1] = MakeExpr(std::move(blank), at);
    }
    return close();
  }
  if (function == "JSON_VALUE" || function == "JSON_QUERY" || function == "JSON_EXISTS")
    return JsonFunction(function, start);
  if (function == "JSON_OBJECT" || function == "JSON_ARRAY" || function == "JSON_OBJECTAGG" ||
      function == "JSON_ARRAYAGG") {
    return JsonConstructor(function, start);
  }
  *special = false;
  return ExprPointer();
}

Result<ExprPointer> Grammar::JsonFunction(const std::string& function, SourcePosition start) {
  RT_TRY(Step());
  RT_TRY(Step());
  ast::Call call;
  call.function = function;
  RT_ASSIGN(ExprPointer document, Or());
  RT_TRY(Expect(","));
  RT_ASSIGN(ExprPointer path, Or());
  call.operands = {std::move(document), std::move(path)};
  RT_TRY(JsonBehaviours(&call, function));
  RT_TRY(Expect(")"));
  return MakeExpr(std::move(call), Span(start, LastPosition()));
}

// RETURNING t, {NULL|ERROR|DEFAULT x} ON {EMPTY|ERROR}, wrappers. As symbols: `RETURNING`, a CAST
// carrying the type; `NULL`, `ERROR`, `DEFAULT` followed by its value, `EMPTY ARRAY`, …, each
// followed by `ON EMPTY` or `ON ERROR`.
Status Grammar::JsonBehaviours(ast::Call* call, const std::string& function) {
  const auto symbol = [&](std::string text) {
    call->operands.push_back(Symbol(std::move(text), LastPosition()));
  };
  while (!Is(")")) {
    if (Is("RETURNING")) {
      RT_TRY(Step());
      ast::Cast cast;
      RT_ASSIGN(cast.type, DataType());
      cast.operand = Symbol("RETURNING", LastPosition());
      symbol("RETURNING");
      call->operands.push_back(MakeExpr(std::move(cast), LastPosition()));
      continue;
    }
    if (Is("WITH") || Is("WITHOUT")) {
      std::string wrapper = Here().upper;
      RT_TRY(Step());
      if (Is("CONDITIONAL") || Is("UNCONDITIONAL")) {
        wrapper += " " + Here().upper;
        RT_TRY(Step());
      }
      RT_TRY(Accept("ARRAY").status());
      RT_TRY(Expect("WRAPPER"));
      symbol(wrapper + " WRAPPER");
      continue;
    }
    std::string behaviour;
    ExprPointer value;
    if (Is("NULL") || Is("ERROR") || Is("TRUE") || Is("FALSE") || Is("UNKNOWN")) {
      behaviour = Here().upper;
      RT_TRY(Step());
    } else if (Is("EMPTY")) {
      RT_TRY(Step());
      if (!Is("ARRAY") && !Is("OBJECT")) return Unexpected("ARRAY or OBJECT");
      behaviour = "EMPTY " + Here().upper;
      RT_TRY(Step());
    } else if (Is("DEFAULT")) {
      RT_TRY(Step());
      behaviour = "DEFAULT";
      RT_ASSIGN(value, Or());
    } else {
      return Unexpected(function == "JSON_VALUE"
                            ? "RETURNING, NULL, ERROR or DEFAULT … ON {EMPTY|ERROR}, or )"
                            : ")");
    }
    RT_TRY(Expect("ON"));
    if (!Is("EMPTY") && !Is("ERROR")) return Unexpected("EMPTY or ERROR");
    symbol(behaviour);
    if (value) call->operands.push_back(std::move(value));
    symbol("ON " + Here().upper);
    RT_TRY(Step());
  }
  return Status::Ok();
}

// JSON_OBJECT(KEY k VALUE v, 'a' : 1 NULL ON NULL), JSON_ARRAY(a, b ABSENT ON NULL): the null
// behaviour comes first.
Result<ExprPointer> Grammar::JsonConstructor(const std::string& function, SourcePosition start) {
  RT_TRY(Step());
  RT_TRY(Step());
  ast::Call call;
  call.function = function;
  std::string on_null =
      function == "JSON_OBJECT" || function == "JSON_OBJECTAGG" ? "NULL ON NULL" : "ABSENT ON NULL";
  const bool object = function.starts_with("JSON_OBJECT");
  const auto null_clause = [&]() -> Status {
    if (!IsSequence({"NULL", "ON", "NULL"}) && !IsSequence({"ABSENT", "ON", "NULL"}))
      return Status::Ok();
    on_null = Here().upper + " ON NULL";
    for (int i = 0; i < 3; ++i) RT_TRY(Step());
    return Status::Ok();
  };
  RT_TRY(null_clause());
  while (!Is(")")) {
    if (object) RT_TRY(Accept("KEY").status());
    RT_ASSIGN(ExprPointer value, Or());
    call.operands.push_back(std::move(value));
    if (object) {
      if (!Is("VALUE") && !Is(":") && !Is(",")) return Unexpected("VALUE");
      RT_TRY(Step());
      RT_ASSIGN(ExprPointer second, Or());
      call.operands.push_back(std::move(second));
    }
    RT_TRY(AcceptSequence({"FORMAT", "JSON"}).status());
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) break;
  }
  RT_TRY(null_clause());
  RT_TRY(Expect(")"));
  call.operands.insert(call.operands.begin(), Symbol(on_null, start));
  return CallTail(std::move(call), start);
}

}  // namespace rowtide
