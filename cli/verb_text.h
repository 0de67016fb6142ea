// What the command says about itself, as data: the verbs, their arguments and options, examples.
// cli/command_line makes it while it declares the arguments, so that the four texts made from it
// here and in cli/completions cannot tell different things:
//
//   --help, `rowtide help VERB`   HelpText, OverviewText
//   rowtide.1                     ManPage
//   completions of bash, zsh, fish
//
// Every example is run by tests/cli/help_check in a copy of examples/lab.
#pragma once

#include <string>
#include <vector>

namespace rowtide {

struct OptionText {
  std::string names;  // `-c,--command`; of a positional argument its name, `file`
  std::string value;  // what it takes, `SQL`; "" for a flag
  std::string text;
  std::vector<std::string> choices;
  bool takes_file = false;
  bool required = false;
  bool repeats = false;

  bool positional() const { return names[0] != '-'; }
  std::vector<std::string> all_names() const;  // `-c` and `--command`
};

struct ExampleText {
  std::string command;
  std::string text;
};

struct VerbText {
  std::string name;  // `run`, `bench generate`
  std::string summary;
  std::string details;  // paragraphs parted by an empty line; may be ""
  std::vector<OptionText> options;
  std::vector<ExampleText> examples;
};

struct CommandText {
  std::string version;
  std::string summary;
  std::vector<VerbText> verbs;
  std::vector<OptionText> exit_codes;   // names: the code
  std::vector<OptionText> environment;  // names: the variable
};

std::string OverviewText(const CommandText& command);
std::string HelpText(const VerbText& verb);
// In roff, for man(1).
std::string ManPage(const CommandText& command);

// Breaks paragraphs at blanks, each line behind `indent` blanks; lines that begin with a blank stay
// as they are.
std::string Wrapped(const std::string& text, int indent, int columns = 78);

}  // namespace rowtide
