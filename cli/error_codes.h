// The stable codes of errors, `error[RT2031]: …`, and what `rowtide help RT2031` says about each.
//
//   RT1…  the text is no statement        RT4…  rows, expressions, constraints
//   RT2…  names, types, options, sinks    RT5…  files and network
//   RT3…  what Rowtide does not have      RT9…  a bug
//
// An error that has no code of its own gets that of its kind, which ends in 000. The one table is
// in error_codes.cc.
#pragma once

#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

struct ErrorCode {
  const char* code;
  const char* title;
  const char* explanation;
};

std::string CodeOf(const Status& error);
// Null when there is no such code.
const ErrorCode* FindErrorCode(std::string_view code);
// All codes with their titles, a line each.
std::string ErrorCodeList();

}  // namespace rowtide
