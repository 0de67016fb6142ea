// The arguments of `rowtide`, declared once: what parses them, what each verb runs, and what
// --help, the man page and the completions say (cli/verb_text.h).
//
// `rowtide` alone is a shell where standard input and output are a terminal, else it runs what
// comes from standard input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/bench.h"
#include "cli/explain.h"
#include "cli/requeue.h"
#include "cli/run.h"
#include "cli/shell/shell.h"
#include "cli/state_compare.h"
#include "cli/state_verbs.h"
#include "cli/test.h"
#include "cli/verb_text.h"

namespace rowtide {

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  // Parses and runs; returns the exit code.
  int Run(int count, char** words);
  const CommandText& text() const { return text_; }

 private:
  class Verb;
  void AddRun();
  void AddExplain();
  void AddShell();
  void AddState();
  void AddStateLook();
  void AddSavepoint();
  void AddRequeue();
  void AddTest();
  void AddGenerate();
  void AddHelp();
  void AddCompletion();

  void AddSqlInput(Verb& verb, std::string* file, std::string* command);
  void AddPrintOptions(Verb& verb);
  void AddErrorOptions(Verb& verb);

  static bool IsOptionOfAVerb(std::string_view word);
  int RunVerb(int count, char** words);
  int Dispatch();
  int Alone();
  int Help() const;
  int Completion() const;
  const VerbText* FindVerb(const std::string& name) const;
  const VerbText* VerbOf(int count, char** words) const;
  std::vector<std::string> VerbNames() const;
  Status CheckVerb(const std::string& word) const;
  Status UsageError(const std::string& message, int count, char** words) const;
  void PrintAsAsked() const;  // errors, from here on

  CommandText text_;
  struct Parser;  // CLI11's
  std::unique_ptr<Parser> parser_;

  RunArguments run_;
  ExplainArguments explain_;
  PrintSettings print_;
  StateListArguments state_list_;
  StateCheckArguments state_check_;
  StateGetArguments state_get_;
  StateDiffArguments state_diff_;
  AskArguments ask_;
  RequeueArguments requeue_;
  TestArguments test_;
  GenerateArguments generate_;
  std::string output_;
  std::string color_ = "auto";
  std::string errors_ = "text";
  std::string topic_;
  std::string shell_name_;
};

}  // namespace rowtide
