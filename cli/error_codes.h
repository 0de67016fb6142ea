// The stable codes of errors, `error[RT2031]: …`, and what `rowtide help RT2031` says about each.
//
//   RT1…  the text is no statement        RT4…  rows, expressions, constraints
//   RT2…  names, types, options, sinks    RT5…  files and network
//   RT3…  what Rowtide does not have      RT9…  a bug
//
// An error that has no code of its own gets that of its kind, which ends in 00. The one table is in
// error_codes.cc; a test runs every example and looks for its code.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

struct ErrorCode {
  const char* code;
  const char* title;
  const char* cause;
  const char* example;  // SQL that ends in this error; "" where SQL cannot make it
  const char* remedy;
};

std::string CodeOf(const Status& error);
std::span<const ErrorCode> ErrorCodes();
// Null when there is no such code. Case does not matter.
const ErrorCode* FindErrorCode(std::string_view code);
// Title, cause, example, what to do.
std::string ErrorCodeText(const ErrorCode& code);
// All codes with their titles, a line each.
std::string ErrorCodeList();

}  // namespace rowtide
