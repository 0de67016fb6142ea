// What a function that can fail returns: a Status, or a Result<T> that holds a value or a Status.
//
// The code says whose move it is: the user's SQL (kInvalidArgument, with an ErrorKind that agrees
// with Flink's parse | validate | plan | run), the rows (kDataError), the world (kExternal), and so
// on. Context is added on the way up with `WithContext`. Nothing here throws; a bug stops the
// process through RT_CHECK.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace rowtide {

enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,  // the user's SQL, options or arguments
  kDataError,        // a row that does not decode or on which an expression fails
  kExternal,         // broker, disk, network
  kCorruption,       // a file of ours is damaged
  kUnsupported,      // understood, but not built yet or refused on purpose
  kNotFound,
  kInternal,  // our bug
};

// The moment of a SQL error, as Flink's exception classes tell it (what must agree with Flink).
enum class ErrorKind : uint8_t { kNone, kParse, kValidate, kPlan, kRun };

const char* Name(StatusCode code);
const char* Name(ErrorKind kind);

// A place in SQL text: 1-based line and column, counted in characters; 0 = nowhere.
struct SourcePosition {
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  bool known() const { return line > 0; }
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, ErrorKind kind, std::string message);

  static Status Ok() { return Status(); }
  template <typename... Args>
  static Status InvalidArgument(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kValidate,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  // SQL text that is no statement.
  template <typename... Args>
  static Status Parse(SourcePosition at, fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kParse,
                  fmt::format(text, std::forward<Args>(args)...))
        .At(at);
  }
  // Names, types, options that do not fit.
  template <typename... Args>
  static Status Validate(SourcePosition at, fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kValidate,
                  fmt::format(text, std::forward<Args>(args)...))
        .At(at);
  }
  // A sound statement that cannot be run this way.
  template <typename... Args>
  static Status Plan(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kPlan,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  // A construct of Flink SQL that Rowtide does not have yet. `construct` is a short stable name, as
  // in `skips` files.
  template <typename... Args>
  static Status Unsupported(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kUnsupported, ErrorKind::kPlan,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  static Status DataError(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kDataError, ErrorKind::kRun,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  static Status External(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kExternal, ErrorKind::kRun,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  static Status Corruption(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kCorruption, ErrorKind::kRun,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  static Status NotFound(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kNotFound, ErrorKind::kValidate,
                  fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  static Status Internal(fmt::format_string<Args...> text, Args&&... args) {
    return Status(StatusCode::kInternal, ErrorKind::kRun,
                  fmt::format(text, std::forward<Args>(args)...));
  }

  bool ok() const { return !detail_; }
  StatusCode code() const { return detail_ ? detail_->code : StatusCode::kOk; }
  ErrorKind kind() const { return detail_ ? detail_->kind : ErrorKind::kNone; }
  const std::string& message() const;
  const std::string& hint() const;
  SourcePosition position() const { return detail_ ? detail_->position : SourcePosition{}; }
  // The stable code users look up: `RT2031`. Empty when none was given.
  const std::string& error_code() const;

  Status At(SourcePosition position) &&;       // keeps an inner position if there is one
  Status MovedTo(SourcePosition position) &&;  // instead of an inner one, which is of another text
  Status WithKind(ErrorKind kind) &&;
  Status WithHint(std::string hint) &&;        // what would be right
  Status WithErrorCode(std::string code) &&;   // "RT2031"
  Status WithContext(std::string context) &&;  // "context: message"

  std::string ToString() const;  // "InvalidArgument: message"

 private:
  struct Detail {
    StatusCode code;
    ErrorKind kind;
    std::string message;
    std::string hint;
    std::string error_code;
    SourcePosition position;
  };
  struct Box {  // a deep-copying pointer: an ok Status is one null word
    Box() = default;
    explicit Box(Detail detail) : value(new Detail(std::move(detail))) {}
    Box(const Box& other) : value(other.value ? new Detail(*other.value) : nullptr) {}
    Box(Box&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
    Box& operator=(Box other) noexcept {
      std::swap(value, other.value);
      return *this;
    }
    ~Box() { delete value; }
    explicit operator bool() const { return value != nullptr; }
    Detail* operator->() const { return value; }
    Detail* value = nullptr;
  };
  Box detail_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

[[noreturn]] void FailCheck(const char* file, int line, const char* text,
                            const std::string& detail);

}  // namespace rowtide

#define RT_CONCAT_INNER(a, b) a##b
#define RT_CONCAT(a, b) RT_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression` (a Status) is not ok.
#define RT_TRY(expression)                                      \
  do {                                                          \
    ::rowtide::Status rt_status = (expression);                 \
    if (__builtin_expect(!rt_status.ok(), 0)) return rt_status; \
  } while (false)

// RT_ASSIGN(auto x, Function()): declares or assigns x from a Result, or returns its Status.
#define RT_ASSIGN(target, expression) \
  RT_ASSIGN_INNER(RT_CONCAT(rt_result_, __LINE__), target, expression)
#define RT_ASSIGN_INNER(result, target, expression)              \
  auto result = (expression);                                    \
  if (__builtin_expect(!result.ok(), 0)) return result.status(); \
  target = std::move(*result)

// An invariant: checked in release too. RT_DCHECK is for row loops.
#define RT_CHECK(condition)                                                \
  do {                                                                     \
    if (__builtin_expect(!(condition), 0))                                 \
      ::rowtide::FailCheck(__FILE__, __LINE__, #condition, std::string()); \
  } while (false)
#ifdef NDEBUG
#define RT_DCHECK(condition) static_cast<void>(0)
#else
#define RT_DCHECK(condition) RT_CHECK(condition)
#endif
