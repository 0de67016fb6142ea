#include "cli/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/completions.h"
#include "cli/error.h"
#include "cli/error_codes.h"
#include "cli/help_topics.h"
#include "cli/monitor/http_server.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "engine/key_group.h"

namespace rowtide {

namespace {

// `-o` is most likely `--output`.
std::string NearestOption(const std::string& word, const std::vector<std::string>& names) {
  if (word.size() != 2) return Nearest(word, names);
  for (const std::string& name : names) {
    if (name.starts_with("-" + word)) return name;
  }
  return "";
}

constexpr const char* kUsageCode = "RT2800";

const std::vector<std::string> kForms = {"changelog", "tableau", "table", "json", "csv"};

// "" when the text is a whole number from `lowest` on, else what is wrong with it.
std::string NumberFault(const std::string& text, int64_t lowest) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fmt::format("{} is no whole number", Quote(text));
  }
  return number < lowest ? fmt::format("{} is below {}", number, lowest) : "";
}

// "" when it is one of them, else what is wrong with it.
std::string ChoiceFault(const std::string& word, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return "";
  const std::string nearest = Nearest(word, choices);
  return fmt::format("{} is none of {}{}", Quote(word), fmt::join(choices, ", "),
                     nearest.empty() ? "" : "; did you mean " + Quote(nearest) + "?");
}

// Whether it could be written is asked once, at the end (CommandLine::Run).
void Print(const std::string& text) { std::fputs(text.c_str(), stdout); }

int WithOutputWritten(int code) {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || code != 0) return code;
  const std::string reason =
      errno != 0 ? std::strerror(errno) : "standard output is full or closed";
  return PrintError(Status::External("the output cannot be written: {}", reason), "", "");
}

}  // namespace

struct CommandLine::Parser {
  CLI::App app{"", "rowtide"};
  std::vector<std::pair<std::string, CLI::App*>> verbs;
};

// One verb while it is declared: for the parser and for the texts at once.
class CommandLine::Verb {
 public:
  Verb(CommandLine& owner, CLI::App& parent, const std::string& word, VerbText text)
      : text_((owner.text_.verbs.push_back(std::move(text)), owner.text_.verbs.back())),
        app_(parent.add_subcommand(word, text_.summary)) {
    owner.parser_->verbs.emplace_back(text_.name, app_);
  }

  template <typename T>
  CLI::Option* Add(OptionText option, T* target) {
    CLI::Option* added = app_->add_option(option.names, *target, option.text);
    if (option.required) added->required();
    if (!option.choices.empty()) {
      added->check([choices = option.choices](const std::string& word) {
        return ChoiceFault(word, choices);
      });
    }
    text_.options.push_back(std::move(option));
    return added;
  }
  template <typename T>
  CLI::Option* Number(OptionText option, int64_t lowest, T* target) {
    return Add(std::move(option), target)->check([lowest](const std::string& text) {
      return NumberFault(text, lowest);
    });
  }
  void Flag(const std::string& names, const std::string& text, bool* target) {
    app_->add_flag(names, *target, text);
    text_.options.push_back({names, "", text});
  }
  void Help() { text_.options.push_back({"-h,--help", "", "Print this help"}); }
  void Example(const std::string& command, const std::string& text) {
    text_.examples.push_back({command, text});
  }
  CLI::App& app() { return *app_; }

 private:
  VerbText& text_;
  CLI::App* app_;
};

CommandLine::CommandLine() : parser_(std::make_unique<Parser>()) {
  text_.version = std::string("rowtide ") + Version();
  text_.summary = "streaming SQL over changelogs: what Flink SQL says, on one machine";
  text_.verbs.reserve(24);  // a Verb refers to its text
  text_.exit_codes = {{"0", "", "done; also an endless job that a first Ctrl-C ended"},
                      {"1", "", "the job failed; `rowtide test` with failures"},
                      {"2", "", "wrong arguments or SQL"},
                      {"3", "", "bad data: a record, an expression on a row, a constraint"},
                      {"4", "", "files or network"},
                      {"130/143", "",
                       "ended by SIGINT or SIGTERM before all of the input was read, or by a "
                       "second one"}};
  text_.environment = {{"NO_COLOR", "", "when set, no colour unless --color always"},
                       {"ROWTIDE_HISTORY", "",
                        "the shell's history; ~/.rowtide_history without it, none when empty"}};
  parser_->app.set_version_flag("--version", text_.version);
  AddRun();
  AddExplain();
  AddShell();
  AddState();
  AddSavepoint();
  AddRequeue();
  AddTest();
  AddGenerate();
  AddHelp();
  AddCompletion();
}

CommandLine::~CommandLine() = default;

void CommandLine::AddSqlInput(Verb& verb, std::string* file, std::string* command) {
  CLI::Option* by_file = verb.Add(
      {"file", "FILE", "SQL file; - for standard input, as nothing is in a pipe", {}, true}, file);
  CLI::Option* by_text = verb.Add({"-c,--command", "SQL", "SQL text instead of a file"}, command);
  by_file->excludes(by_text);
  verb.app().callback([by_file, by_text, file] {
    if (by_file->count() + by_text->count() > 0) return;
    if (IsTerminal(STDIN_FILENO)) throw CLI::RequiredError("a file, - or -c");
    *file = "-";
  });
}

void CommandLine::AddPrintOptions(Verb& verb) {
  verb.Add({"--output", "FORM",
            "How a SELECT prints its rows; json and csv with the kind of each change, in batch "
            "mode without",
            kForms},
           &output_);
  verb.Number({"--limit", "N", "End a SELECT after this many rows"}, 0, &print_.limit);
  verb.Flag("--stats", "Print counts, state and time per operator on standard error",
            &print_.stats);
}

void CommandLine::AddErrorOptions(Verb& verb) {
  verb.Add({"--color",
            "WHEN",
            "Colour; auto: on a terminal, unless NO_COLOR is set",
            {"auto", "always", "never"}},
           &color_);
  verb.Add(
      {"--errors", "FORM", "How errors are printed; json: one object a line", {"text", "json"}},
      &errors_);
  verb.Help();
}

void CommandLine::AddRun() {
  Verb verb(*this, parser_->app, "run",
            {"run", "Run the statements of a SQL script",
             "The statements run one after the other; the first failure ends the script. A SELECT "
             "prints its rows: a table on a terminal, `+I [\"a\",1]` in a pipe. Ctrl-C ends a job "
             "in good order, a second one at once."});
  AddSqlInput(verb, &run_.file, &run_.command);
  AddPrintOptions(verb);
  verb.Add({"--profile",
            "FILE",
            "Write the time of each operator, in microseconds, as folded stacks for a flame graph",
            {},
            true},
           &print_.profile)
      ->check([](const std::string& file) {
        return file.empty() || file == "-" ? "a file is wanted, such as job.folded" : "";
      });
  verb.Add({"--state",
            "DIR",
            "Keep the state of INSERT jobs in this folder: the same command goes on where the job "
            "ended or died (SET 'execution.checkpointing.dir')",
            {},
            true},
           &run_.state.dir);
  verb.Flag("--fresh", "Begin from the first record, without the state that is kept",
            &run_.state.fresh);
  verb.Add({"--restore",
            "PATH",
            "Where nothing is kept: go on from this savepoint or checkpoint",
            {},
            true},
           &run_.state.restore);
  verb.Flag("--allow-non-restored-state",
            "Drop state that the query has no place for, instead of refusing",
            &run_.state.allows_lost);
  verb.Number({"-p,--parallelism",
               "N",
               "Lanes to run a job on, a thread each: SET "
               "'parallelism.default'",
               {},
               true},
              1, &run_.parallelism)
      ->check([](const std::string& text) {
        return text.size() > 3 || std::stoi(text) > kKeyGroups
                   ? fmt::format("{} is above {}", text, kKeyGroups)
                   : "";
      });
  verb.Add({"--metrics",
            "[HOST]:PORT",
            "Serve a status page and, under /metrics, figures for Prometheus while jobs run; "
            "without a host for this machine alone",
            {},
            false},
           &run_.metrics)
      ->check([](const std::string& text) {
        const Result<HttpAddress> address = ParseHttpAddress(text);
        return address.ok() ? "" : address.status().message() + "; " + address.status().hint();
      });
  AddErrorOptions(verb);
  verb.Example("rowtide run keep_last.sql", "the statements of a file");
  verb.Example("rowtide run -c \"SELECT * FROM (VALUES (1), (2)) AS t(n)\"", "SQL as an argument");
  verb.Example("rowtide run - < keep_first.sql", "from standard input");
  verb.Example("rowtide run --stats top3.sql > top3.changelog",
               "with counts, state and time of each operator on standard error");
  verb.Example("rowtide run --parallelism 2 top3.sql > top3.changelog",
               "on two lanes: the changes of one key come in the same order");
  verb.Example("rowtide run --profile top3.folded top3.sql > top3.changelog",
               "where the time goes: flamegraph.pl top3.folded > top3.svg draws it");
  verb.Example("rowtide run --metrics :9249 top3.sql > top3.changelog",
               "how it goes is shown at http://127.0.0.1:9249/");
  verb.Example(
      "rowtide run --output table --limit 5 -c \"SELECT s, COUNT(*) AS n FROM (VALUES "
      "('a'), ('b'), ('a')) AS t(s) GROUP BY s\"",
      "the rows that are left at the end, not the changes");
}

void CommandLine::AddExplain() {
  Verb verb(*this, parser_->app, "explain",
            {"explain", "Print the plans of a SQL script, and run nothing",
             "For each query and INSERT: the three sections of Flink's EXPLAIN CHANGELOG_MODE, "
             "then what is Rowtide's own, such as what keeps a query from a cheaper plan."});
  AddSqlInput(verb, &explain_.file, &explain_.command);
  AddErrorOptions(verb);
  verb.Example("rowtide explain keep_last.sql", "plans, with the changelog mode of every node");
  verb.Example("rowtide explain -c \"SELECT DISTINCT n FROM (VALUES (1), (1)) AS t(n)\"",
               "of SQL as an argument");
}

void CommandLine::AddShell() {
  Verb verb(*this, parser_->app, "shell",
            {"shell", "Type statements one by one",
             "What `rowtide` alone is on a terminal. A statement ends with `;` and may have many "
             "lines. Tab completes keywords, tables and columns; Ctrl-C stops the statement and "
             "not the shell. \\? lists what else there is. Where standard input is no terminal it "
             "is run as a script."});
  AddPrintOptions(verb);
  AddErrorOptions(verb);
  verb.Example("rowtide shell --output changelog", "rows as text");
}

void CommandLine::AddState() {
  CLI::App* state = parser_->app.add_subcommand("state", "What a state folder holds");
  state->require_subcommand(1);
  {
    Verb verb(*this, *state, "ls",
              {"state ls", "List the jobs and checkpoints of a state folder",
               "Of a folder: each checkpoint, the newest first, with its epoch, time, kind, lanes "
               "and bytes. Of one checkpoint or savepoint: its operators, and how many bytes each "
               "keeps."});
    verb.Add(
        {"path", "DIR", "A state folder, a job's folder in it, or a checkpoint", {}, true, true},
        &state_list_.path);
    verb.Add({"--output", "FORM", "How the rows are printed", {"table", "json", "csv"}}, &output_);
    AddErrorOptions(verb);
    verb.Example("rowtide run --state first keep_first.sql; rowtide state ls first",
                 "of all jobs that keep their state there");
  }
  {
    Verb verb(*this, *state, "check",
              {"state check", "Say what a script would go on from, and run nothing",
               "For each INSERT: the checkpoint that it would be restored from, and what of it "
               "fits. A query that has changed is refused with what has changed."});
    verb.Add({"file", "FILE", "SQL file; - for standard input", {}, true, true},
             &state_check_.file);
    verb.Add({"dir", "DIR", "The state folder", {}, true, true}, &state_check_.state.dir);
    verb.Add({"--restore", "PATH", "Where nothing is kept: a savepoint or checkpoint", {}, true},
             &state_check_.state.restore);
    verb.Flag("--allow-non-restored-state", "Drop state that the query has no place for",
              &state_check_.state.allows_lost);
    AddErrorOptions(verb);
    verb.Example("rowtide state check keep_first.sql first",
                 "before the changed script is started");
  }
  AddStateLook();
}

// What people find out with: no peer has these.
void CommandLine::AddStateLook() {
  CLI::App* const state = parser_->app.get_subcommand("state");
  const OptionText node{"--operator", "NODE",
                        "Only this operator: its number or name, as `state ls` lists them"};
  const OptionText form{"--output",
                        "FORM",
                        "How rows are printed; a table on a terminal, json in a pipe",
                        {"table", "json", "csv"}};
  {
    Verb verb(
        *this, *state, "get",
        {"state get", "Print the rows that a checkpoint keeps of a key, or of all keys",
         "Of each operator that has such a key. A key is column=value pairs, or a JSON object; "
         "of some of the key's columns, all keys that have these values. The job may run "
         "meanwhile. What is no rows, such as the "
         "positions of sources, is named on standard error."});
    verb.Add({"path",
              "DIR",
              "A state folder of one job, a job's folder, or a checkpoint; of a "
              "folder, its newest checkpoint",
              {},
              true,
              true},
             &state_get_.path);
    verb.Add(
        {"key", "KEY", "column=value, or JSON such as '{\"id\":\"o1\"}'", {}, false, false, true},
        &state_get_.key);
    verb.Add(node, &state_get_.node);
    verb.Number({"--limit", "N", "Print at most this many rows; 1,000 on a terminal without it"}, 0,
                &state_get_.limit);
    verb.Add(form, &output_);
    AddErrorOptions(verb);
    verb.Example("rowtide run --state seen keep_first.sql; rowtide state get seen",
                 "all keys of all operators");
    verb.Example("rowtide state get seen order_id=o0152 --operator Deduplicate --output table",
                 "one key of one operator");
    verb.Example("rowtide state get seen '{\"order_id\":\"o0152\"}'", "the key in JSON");
  }
  {
    Verb verb(*this, *state, "diff",
              {"state diff", "Compare what two checkpoints keep, key by key",
               "+ is a row that the second one has and the first has not, - the other way round; "
               "a key that has changed has both. Keys are counted per operator on standard error. "
               "Ends with 0 where all rows are equal, 1 where not, 2 or above where that could "
               "not be found out. What is no rows, such as positions of sources, is named where "
               "it differs and decides nothing."});
    verb.Add({"before",
              "PATH",
              "A checkpoint, or a folder that names one, as for `state get`",
              {},
              true,
              true},
             &state_diff_.before);
    verb.Add({"after",
              "PATH",
              "Another one; without it, the two newest of the first path's job",
              {},
              true},
             &state_diff_.after);
    verb.Add(node, &state_diff_.node);
    verb.Add(form, &output_);
    AddErrorOptions(verb);
    verb.Example(
        "rowtide run --state one keep_first.sql; rowtide run --state two keep_first.sql; rowtide "
        "state diff one two",
        "the newest checkpoints of two folders");
  }
}

void CommandLine::AddSavepoint() {
  const OptionText path{"path", "DIR", "The state folder, or the job's folder in it",
                        {},     true,  true};
  {
    Verb verb(*this, parser_->app, "savepoint",
              {"savepoint", "Have a running job write a savepoint",
               "A savepoint is a checkpoint of your own: it can be moved to another folder or "
               "machine and is never deleted by Rowtide. `rowtide run --restore` goes on from it. "
               "The job runs on. Prints where it lies."});
    verb.Add(path, &ask_.path);
    verb.Add({"target",
              "PATH",
              "Where to, a new folder; without it, a new one in the job's "
              "'execution.checkpointing.savepoint-dir', or beside its checkpoints",
              {},
              true},
             &ask_.savepoint);
    AddErrorOptions(verb);
    verb.Example(
        "rowtide run --state kept watch.sql & sleep 1; rowtide savepoint kept before_upgrade; kill "
        "$!",
        "while the job of another terminal runs");
  }
  {
    Verb verb(*this, parser_->app, "stop",
              {"stop", "Have a running job end in good order",
               "All that was read is in a checkpoint then, and shown by the sinks; the same "
               "command goes on from it. As a first Ctrl-C in the job's terminal."});
    verb.Add(path, &ask_.path);
    verb.Add({"--savepoint", "PATH", "Write a savepoint first, into this new folder", {}, true},
             &ask_.savepoint);
    AddErrorOptions(verb);
    verb.Example("rowtide run --state kept watch.sql & sleep 1; rowtide stop kept",
                 "from another terminal");
  }
}

void CommandLine::AddRequeue() {
  Verb verb(*this, parser_->app, "requeue",
            {"requeue", "Put records out of dead letters back into their topics",
             "For when what was wrong with them has been mended: the table, the job, or what a "
             "record means. The script is that of the job: it says how the topic is reached and "
             "where the letters are (SET 'rowtide.dead-letter.t'), and none of it is run. Key, "
             "value, headers and partition are those of the record that was rejected.\n\n"
             "What was put back is not put back again: of letters in a topic the offsets of the "
             "group rowtide.requeue.TOPIC say how far it is, of letters in a file the file "
             "LETTERS.requeued. Letters stay where they are.\n\n"
             "Letters in a topic, from where the last run stopped:\n\n"
             "  rowtide requeue job.sql orders"});
  verb.Add({"file", "FILE", "SQL file of the job; - for standard input", {}, true, true},
           &requeue_.file);
  verb.Add({"table", "TABLE", "The table; without it, the only one that has letters"},
           &requeue_.table);
  verb.Flag("--dry-run", "Say how many there are, and put nothing back", &requeue_.dry_run);
  AddErrorOptions(verb);
  verb.Example("rowtide requeue --dry-run orders_topic.sql",
               "how many records there are in the letters of a file");
}

void CommandLine::AddTest() {
  Verb verb(*this, parser_->app, "test",
            {"test", "Run test scripts",
             "A script (`.test`) holds SQL, input rows and the changelog or plan that must come "
             "out. The last line is `N passed, N failed, N skipped`."});
  OptionText paths{"paths", "PATH", "Scripts, or folders of scripts", {}, true, true, true};
  verb.Add(std::move(paths), &test_.paths);
  verb.Add({"--stage",
            "STAGE",
            "Stages of a plan to compare; physical and exec without it",
            {"ast", "physical", "exec"}},
           &test_.stages);
  verb.Add({"--skip-list", "FILE", "One more list of units that are not run", {}, true},
           &test_.skip_list);
  verb.Add({"--ways",
            "WAYS",
            "all: also with cuts into batches, restored at every row (of more than 256: at some), "
            "and on 2 and 3 lanes; rocksdb: restored at every row of any script, in RocksDB too",
            {"all", "plain", "rocksdb"}},
           &test_.ways);
  verb.Number({"--seed", "N", "Of the random cuts"}, 0, &test_.seed);
  verb.Number({"--threads", "N", "Scripts that run at once"}, 1, &test_.threads);
  verb.Flag("--record", "Write what comes out into the scripts", &test_.record);
  verb.Flag("--summary", "Print counts by folder and by what is skipped", &test_.summary);
  verb.Flag("--print", "Print what comes out of every unit instead of comparing", &test_.print);
  verb.Help();
  verb.Example("rowtide test keep_first.test", "one script, or all of a folder");
}

void CommandLine::AddGenerate() {
  CLI::App* bench = parser_->app.add_subcommand("bench", "Made-up data");
  bench->require_subcommand(1);
  Verb verb(*this, *bench, "generate",
            {"bench generate", "Write made-up events of an auction site (Nexmark)", ""});
  verb.Number({"rows", "ROWS", "How many", {}, false, true}, 0, &generate_.rows);
  verb.Number({"--seed", "N", "Same seed, same bytes"}, 0, &generate_.seed);
  verb.Number({"--from", "N", "The event to begin with"}, 0, &generate_.first_event);
  verb.Add({"--kind", "KIND", "Which events", {"bid", "auction", "person"}}, &generate_.kind);
  verb.Add({"--format", "FORMAT", "How they are written", {"csv", "json"}}, &generate_.format);
  verb.Add({"-o,--file", "FILE", "Where to; - for standard output", {}, true}, &generate_.file);
  verb.Help();
  verb.Example("rowtide bench generate 1000 > bids.csv", "something to try things on");
}

void CommandLine::AddHelp() {
  Verb verb(*this, parser_->app, "help",
            {"help", "Print help on a verb, or explain an error code", ""});
  verb.Add({"topic", "TOPIC",
            "A verb; connectors; settings; a code such as RT2031; codes: all of them; man: the man "
            "page"},
           &topic_);
  verb.Help();
  verb.Example("rowtide help RT2031", "what an error means, what makes it, what to do");
  verb.Example("rowtide help connectors", "connectors and formats with their options");
  verb.Example("rowtide help settings", "what SET can change");
  verb.Example("rowtide help codes", "all error codes");
  verb.Example("rowtide help run", "the options of a verb");
}

void CommandLine::AddCompletion() {
  Verb verb(*this, parser_->app, "completion",
            {"completion", "Print the completion script of a shell", ""});
  verb.Add({"shell", "SHELL", "Whose", {"bash", "zsh", "fish"}, false, true}, &shell_name_);
  verb.Help();
  verb.Example("rowtide completion bash > rowtide.bash", "then: source rowtide.bash");
}

const VerbText* CommandLine::FindVerb(const std::string& name) const {
  const auto found = std::find_if(
      text_.verbs.begin(), text_.verbs.end(),
      [&](const VerbText& verb) { return verb.name == name || verb.name.starts_with(name + " "); });
  return found == text_.verbs.end() ? nullptr : &*found;
}

// Of one word or of two, as `state get`.
const VerbText* CommandLine::VerbOf(int count, char** words) const {
  const VerbText* verb = count > 2 ? FindVerb(std::string(words[1]) + " " + words[2]) : nullptr;
  return verb != nullptr ? verb : FindVerb(words[1]);
}

std::vector<std::string> CommandLine::VerbNames() const {
  std::vector<std::string> names;
  for (const VerbText& verb : text_.verbs)
    names.push_back(verb.name.substr(0, verb.name.find(' ')));
  return names;
}

Status CommandLine::CheckVerb(const std::string& word) const {
  if (word.starts_with('-') || FindVerb(word) != nullptr) return Status::Ok();
  Status error =
      Status::InvalidArgument("there is no verb {}", Quote(word)).WithErrorCode(kUsageCode);
  std::error_code ignored;
  if (word.ends_with(".sql") || std::filesystem::is_regular_file(word, ignored)) {
    return std::move(error).WithHint("to run a script: rowtide run " + word);
  }
  const std::string nearest = Nearest(word, VerbNames());
  if (!nearest.empty()) return std::move(error).WithHint("did you mean " + Quote(nearest) + "?");
  return std::move(error).WithHint("rowtide --help lists the verbs");
}

Status CommandLine::UsageError(const std::string& message, int count, char** words) const {
  const VerbText* verb = VerbOf(count, words);
  if (verb == nullptr) {
    return Status::InvalidArgument("{}", message)
        .WithErrorCode(kUsageCode)
        .WithHint("rowtide --help lists verbs and options");
  }
  std::vector<std::string> names;
  for (const OptionText& option : verb->options) {
    for (const std::string& name : option.all_names()) names.push_back(name);
  }
  const std::string list = "rowtide help " + verb->name + " lists the options";
  for (int i = 2; i < count; ++i) {
    const std::string whole = words[i];
    const std::string word = whole.substr(0, whole.find('='));
    if (!word.starts_with('-') || word == "-" || std::count(names.begin(), names.end(), word) > 0)
      continue;
    if (words[i - 1][0] == '-' && word.find_first_not_of("-0123456789") == std::string::npos)
      continue;  // a number below zero
    const std::string nearest = NearestOption(word, names);
    return Status::InvalidArgument("rowtide {} has no option {}", verb->name, word)
        .WithErrorCode(kUsageCode)
        .WithHint(nearest.empty() ? list : "did you mean " + nearest + "?");
  }
  return Status::InvalidArgument("{}", message).WithErrorCode(kUsageCode).WithHint(list);
}

void CommandLine::PrintAsAsked() const {
  SetErrorForm({errors_ == "json", UsesColor(*ColorWhenByName(color_), STDERR_FILENO)});
}

int CommandLine::Run(int count, char** words) {
  std::vector<char*> all(words, words + count);
  char run[] = "run", shell[] = "shell";
  if (count > 1 && IsOptionOfAVerb(words[1])) {
    const bool has_sql = std::any_of(all.begin() + 1, all.end(), [](std::string_view word) {
      return word == "-c" || word == "--command" || word.starts_with("--command=");
    });
    all.insert(all.begin() + 1, has_sql ? run : shell);
  }
  try {
    return WithOutputWritten(RunVerb(static_cast<int>(all.size()), all.data()));
  } catch (const std::bad_alloc&) {
    return PrintError(Status::External("there is not enough memory"), "", "");
  }
}

// `rowtide -c SQL` and `rowtide --output table < job.sql`: as other shells of databases do.
bool CommandLine::IsOptionOfAVerb(std::string_view word) {
  return word.starts_with('-') && word != "-h" && word != "--help" && word != "--version";
}

int CommandLine::RunVerb(int count, char** words) {
  for (int i = 1; i < count; ++i) {  // errors of the arguments themselves are to have the form too
    const std::string_view word = words[i];
    const bool parted =
        word == "--errors" && i + 1 < count && std::string_view(words[i + 1]) == "json";
    if (parted || word == "--errors=json") errors_ = "json";
  }
  PrintAsAsked();
  if (count == 1) return Alone();
  // A verb behind `help` is its topic, which the parser would take for the verb.
  if (std::string_view(words[1]) == "help" && count > 2 && words[2][0] != '-') {
    topic_ = words[2];
    for (int i = 3; i < count; ++i) topic_ += std::string(" ") + words[i];
    return Help();
  }
  const Status verb = CheckVerb(words[1]);
  if (!verb.ok()) return PrintError(verb, "", "");
  try {
    parser_->app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    const VerbText* asked = VerbOf(count, words);
    Print(asked == nullptr ? OverviewText(text_) : HelpText(*asked));
    return 0;
  } catch (const CLI::CallForVersion&) {
    Print(text_.version + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    return PrintError(UsageError(error.what(), count, words), "", "");
  }
  return Dispatch();
}

int CommandLine::Alone() {
  return IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO) ? RunShell(print_)
                                                               : rowtide::Run({"-", "", print_});
}

int CommandLine::Dispatch() {
  PrintAsAsked();
  if (!output_.empty()) print_.output = OutputModeByName(output_);
  print_.color = *ColorWhenByName(color_);
  run_.print = print_;
  for (const auto& [name, app] : parser_->verbs) {
    if (!app->parsed()) continue;
    if (name == "run") return rowtide::Run(run_);
    if (name == "explain") return Explain(explain_);
    if (name == "shell") return Alone();
    if (name == "state ls") return ListState(state_list_, print_.output);
    if (name == "state get") return GetState(state_get_, print_.output);
    if (name == "state diff") return DiffState(state_diff_, print_.output);
    if (name == "state check") return CheckState(state_check_);
    if (name == "savepoint") return Savepoint(ask_);
    if (name == "stop") return Stop(ask_);
    if (name == "requeue") return Requeue(requeue_);
    if (name == "test") return Test(test_);
    if (name == "bench generate") return GenerateEvents(generate_);
    if (name == "help") return Help();
    if (name == "completion") return Completion();
  }
  return 0;
}

int CommandLine::Help() const {
  if (topic_.empty()) {
    Print(OverviewText(text_));
  } else if (topic_ == "man") {
    Print(ManPage(text_));
  } else if (topic_ == "codes") {
    Print(ErrorCodeList());
  } else if (const std::optional<std::string> page = HelpTopicText(topic_)) {
    Print(*page);
  } else if (const ErrorCode* code = FindErrorCode(topic_)) {
    Print(ErrorCodeText(*code));
  } else if (const VerbText* verb = FindVerb(topic_)) {
    Print(HelpText(*verb));
  } else {
    std::vector<std::string> names = VerbNames();
    names.insert(names.end(), HelpTopics().begin(), HelpTopics().end());
    const std::string nearest = Nearest(topic_, names);
    return PrintError(
        Status::InvalidArgument("there is no help on {}", Quote(topic_))
            .WithErrorCode(kUsageCode)
            .WithHint(nearest.empty() ? "rowtide help lists the verbs, rowtide help codes all codes"
                                      : "did you mean " + Quote(nearest) + "?"),
        "", "");
  }
  return 0;
}

int CommandLine::Completion() const {
  if (shell_name_ == "bash") Print(BashCompletion(text_));
  if (shell_name_ == "zsh") Print(ZshCompletion(text_));
  if (shell_name_ == "fish") Print(FishCompletion(text_));
  return 0;
}

}  // namespace rowtide
