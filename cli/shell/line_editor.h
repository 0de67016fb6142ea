// One line from the terminal, edited with libedit: history, completion with Tab, ~/.editrc.
//
// Ctrl-C and SIGTERM end the line at once (cli/signals.h says which it was); Ctrl-D on an empty
// line is the end of the input. The history goes to a file of mode 0600, an entry at a time, so
// several shells can share it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/shell/completion.h"

namespace rowtide {

class LineEditor {
 public:
  using Completer = std::function<Completion(std::string_view before, std::string_view after)>;
  // `history_file`: "" for none.
  LineEditor(std::string history_file, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Line {
    enum class End : uint8_t { kRead, kInterrupted, kEndOfInput };
    End end = End::kRead;
    std::string text;  // without its newline
  };
  Line Read(const std::string& prompt);
  void Remember(const std::string& entry);

 private:
  struct State;  // libedit's handles and what its callbacks need
  std::unique_ptr<State> state_;
};

}  // namespace rowtide
