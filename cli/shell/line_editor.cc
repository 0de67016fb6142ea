#include "cli/shell/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cwchar>

#include "cli/signals.h"
#include "cli/terminal.h"
#include "cli/text_table.h"

namespace rowtide {

namespace {

constexpr int kHistoryEntries = 1000;
constexpr int kPollMillis = 200;
constexpr size_t kCandidatesShown = 200;

volatile std::sig_atomic_t window_changed = 0;

void OnWindowChange(int /*signal*/) { window_changed = 1; }

std::string CommonStart(const std::vector<std::string>& words) {
  std::string start = words[0];
  for (const std::string& word : words) {
    size_t same = 0;
    while (same < std::min(start.size(), word.size()) && start[same] == word[same]) ++same;
    start.resize(same);
  }
  while (!start.empty() && (static_cast<unsigned char>(start.back()) & 0xc0) == 0x80) {
    start.pop_back();  // half a character
  }
  return start;
}

int Characters(std::string_view utf8) {
  return static_cast<int>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

void PrintInColumns(const std::vector<std::string>& words) {
  int widest = 0;
  for (const std::string& word : words) widest = std::max(widest, DisplayWidth(word));
  const int columns = std::max(TerminalColumns(STDOUT_FILENO), 20);
  const size_t in_line = static_cast<size_t>(std::max(columns / (widest + 2), 1));
  std::fputs("\n", stdout);
  for (size_t i = 0; i < std::min(words.size(), kCandidatesShown); ++i) {
    std::fputs(words[i].c_str(), stdout);
    const bool ends_line = (i + 1) % in_line == 0 || i + 1 == words.size();
    std::printf("%*s", ends_line ? 0 : widest + 2 - DisplayWidth(words[i]), "");
    if (ends_line) std::fputs("\n", stdout);
  }
  if (words.size() > kCandidatesShown) {
    std::printf("and %zu more\n", words.size() - kCandidatesShown);
  }
  std::fflush(stdout);
}

}  // namespace

struct LineEditor::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string history_file;
  std::string last_entry;  // typed again at once, it stands in the history once
  Completer completer;
  std::string prompt;

  static State& Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }

  static char* Prompt(EditLine* editor) { return Of(editor).prompt.data(); }

  // poll() comes back from a signal even where reads are taken up again.
  static bool WaitForByte(EditLine* editor) {
    while (stop_signal == 0) {
      if (window_changed != 0) {
        window_changed = 0;
        el_resize(editor);
      }
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      if (poll(&input, 1, kPollMillis) > 0) return true;
    }
    return false;
  }

  static int ReadCharacter(EditLine* editor, wchar_t* to) {
    std::mbstate_t state = {};
    while (WaitForByte(editor)) {
      char byte = 0;
      const ssize_t count = read(STDIN_FILENO, &byte, 1);
      if (count == 0) return 0;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return -1;
      const size_t used = std::mbrtowc(to, &byte, 1, &state);
      if (used == static_cast<size_t>(-2)) continue;  // there is more to the character
      if (used == static_cast<size_t>(-1)) {
        state = {};
        continue;
      }
      return 1;
    }
    errno = EINTR;
    return -1;
  }

  static unsigned char OnTab(EditLine* editor, int /*key*/) {
    State& state = Of(editor);
    const LineInfo* line = el_line(editor);
    const std::string_view before(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
    const std::string_view after(line->cursor, static_cast<size_t>(line->lastchar - line->cursor));
    const Completion completion = state.completer(before, after);
    if (completion.candidates.empty()) return CC_REFRESH_BEEP;
    const std::string typed(before.substr(before.size() - completion.length));
    const bool is_only = completion.candidates.size() == 1;
    const std::string start = CommonStart(completion.candidates) + (is_only ? " " : "");
    if (start.size() > typed.size() || (is_only && start != typed)) {
      el_deletestr(editor, Characters(typed));
      el_insertstr(editor, start.c_str());
      return CC_REFRESH;
    }
    PrintInColumns(completion.candidates);
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(std::string history_file, Completer completer)
    : state_(std::make_unique<State>()) {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  std::signal(SIGWINCH, OnWindowChange);
  state_->history_file = std::move(history_file);
  state_->completer = std::move(completer);
  state_->history = history_init();
  HistEvent event;
  history(state_->history, &event, H_SETSIZE, kHistoryEntries);
  history(state_->history, &event, H_SETUNIQUE, 1);
  if (!state_->history_file.empty()) {
    history(state_->history, &event, H_LOAD, state_->history_file.c_str());
  }
  state_->editor = el_init("rowtide", stdin, stdout, stderr);
  EditLine* editor = state_->editor;
  el_set(editor, EL_CLIENTDATA, state_.get());
  el_set(editor, EL_PROMPT, &State::Prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 0);
  el_set(editor, EL_GETCFN, &State::ReadCharacter);
  el_set(editor, EL_HIST, history, state_->history);
  el_set(editor, EL_ADDFN, "rowtide-complete", "Complete what was begun", &State::OnTab);
  el_set(editor, EL_BIND, "\t", "rowtide-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor, nullptr);
}

LineEditor::~LineEditor() {
  el_end(state_->editor);
  history_end(state_->history);
}

LineEditor::Line LineEditor::Read(const std::string& prompt) {
  state_->prompt = prompt;
  int length = 0;
  const char* text = el_gets(state_->editor, &length);
  if (stop_signal != 0) return {Line::End::kInterrupted, ""};
  if (text == nullptr || length <= 0) return {Line::End::kEndOfInput, ""};
  std::string line(text, static_cast<size_t>(length));
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  return {Line::End::kRead, std::move(line)};
}

void LineEditor::Remember(const std::string& entry) {
  if (entry.empty() || entry == state_->last_entry) return;
  state_->last_entry = entry;
  HistEvent event;
  history(state_->history, &event, H_ENTER, entry.c_str());
  if (state_->history_file.empty()) return;
  const int file = open(state_->history_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                        S_IRUSR | S_IWUSR);
  std::FILE* stream = file < 0 ? nullptr : fdopen(file, "a");
  if (stream == nullptr) return;  // a history that cannot be kept is no reason to stop
  std::fseek(stream, 0, SEEK_END);
  history(state_->history, &event, H_NSAVE_FP, static_cast<size_t>(1), stream);
  std::fclose(stream);
}

}  // namespace rowtide
