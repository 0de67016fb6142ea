#include "engine/status.h"

#include <cstdio>
#include <cstdlib>

namespace rowtide {
namespace {
const std::string kNothing;
}

const char* Name(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "Ok";
    case StatusCode::kInvalidArgument: return "InvalidArgument";
    case StatusCode::kDataError: return "DataError";
    case StatusCode::kExternal: return "External";
    case StatusCode::kCorruption: return "Corruption";
    case StatusCode::kUnsupported: return "Unsupported";
    case StatusCode::kNotFound: return "NotFound";
    case StatusCode::kInternal: return "Internal";
  }
  return "?";
}

const char* Name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNone: return "none";
    case ErrorKind::kParse: return "parse";
    case ErrorKind::kValidate: return "validate";
    case ErrorKind::kPlan: return "plan";
    case ErrorKind::kRun: return "run";
  }
  return "?";
}

Status::Status(StatusCode code, ErrorKind kind, std::string message)
    : detail_(Detail{code, kind, std::move(message), {}, {}, {}}) {}

const std::string& Status::message() const { return detail_ ? detail_->message : kNothing; }
const std::string& Status::hint() const { return detail_ ? detail_->hint : kNothing; }
const std::string& Status::error_code() const { return detail_ ? detail_->error_code : kNothing; }

Status Status::At(SourcePosition position) && {
  if (detail_ && !detail_->position.known()) detail_->position = position;
  return std::move(*this);
}

Status Status::MovedTo(SourcePosition position) && {
  if (detail_) detail_->position = position;
  return std::move(*this);
}

Status Status::WithKind(ErrorKind kind) && {
  if (detail_) detail_->kind = kind;
  return std::move(*this);
}

Status Status::WithHint(std::string hint) && {
  if (detail_) detail_->hint = std::move(hint);
  return std::move(*this);
}

Status Status::WithErrorCode(std::string code) && {
  if (detail_) detail_->error_code = std::move(code);
  return std::move(*this);
}

Status Status::WithContext(std::string context) && {
  if (detail_) detail_->message = std::move(context) + ": " + detail_->message;
  return std::move(*this);
}

std::string Status::ToString() const {
  if (ok()) return "Ok";
  return std::string(Name(code())) + ": " + message();
}

void FailCheck(const char* file, int line, const char* text, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, text,
               detail.empty() ? "" : ": ", detail.c_str());
  std::abort();
}

}  // namespace rowtide
