#include "cli/verb_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace rowtide {

namespace {

constexpr int kTextColumn = 26;

std::vector<std::string> SplitAt(const std::string& text, char c) {
  std::vector<std::string> parts(1);
  for (const char one : text) {
    if (one == c) {
      parts.emplace_back();
    } else {
      parts.back().push_back(one);
    }
  }
  return parts;
}

std::string Joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

// `-c, --command SQL`
std::string Left(const OptionText& option) {
  const std::string names = Joined(option.all_names(), ", ");
  return option.value.empty() || option.positional() ? names : names + " " + option.value;
}

std::string Right(const OptionText& option) {
  if (option.choices.empty()) return option.text;
  return option.text + " (" + Joined(option.choices, ", ") + ")";
}

std::string Entries(const std::vector<OptionText>& options) {
  std::string text;
  for (const OptionText& option : options) {
    std::string left = "  " + Left(option);
    const std::string right = Wrapped(Right(option), kTextColumn);
    if (left.size() + 2 > kTextColumn) {
      text += left + "\n" + right;
    } else {
      left.resize(kTextColumn, ' ');
      text += left + right.substr(kTextColumn);
    }
  }
  return text;
}

std::vector<OptionText> Chosen(const std::vector<OptionText>& options, bool positional) {
  std::vector<OptionText> chosen;
  for (const OptionText& option : options) {
    if (option.positional() == positional) chosen.push_back(option);
  }
  return chosen;
}

std::string Usage(const VerbText& verb) {
  std::string text = "rowtide " + verb.name;
  if (!Chosen(verb.options, false).empty()) text += " [OPTIONS]";
  for (const OptionText& argument : Chosen(verb.options, true)) {
    std::string name = argument.names;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    name += argument.repeats ? "..." : "";
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string ExamplesText(const std::vector<ExampleText>& examples) {
  std::string text;
  for (const ExampleText& example : examples) {
    text += "  " + example.command + "\n" + Wrapped(example.text, 6);
  }
  return text;
}

// --- roff ---
std::string Roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out.push_back(c);
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string RoffEntries(const std::vector<OptionText>& options) {
  std::string text;
  for (const OptionText& option : options) {
    text += ".TP\n.B " + Roff(Left(option)) + "\n" + Roff(Right(option)) + "\n";
  }
  return text;
}

std::string RoffParagraphs(const std::string& text) {
  std::string out;
  for (const std::string& line : SplitAt(text, '\n')) {
    if (line.empty()) {
      out += ".PP\n";
    } else if (line[0] == ' ') {
      out += ".br\n" + Roff(line) + "\n";
    } else {
      out += Roff(line) + "\n";
    }
  }
  return out;
}

std::string RoffVerb(const VerbText& verb) {
  std::string text = ".SS " + Roff(Usage(verb)) + "\n" + Roff(verb.summary) + ".\n";
  if (!verb.details.empty()) text += ".PP\n" + RoffParagraphs(verb.details);
  text += RoffEntries(verb.options);
  return text;
}

}  // namespace

std::vector<std::string> OptionText::all_names() const { return SplitAt(names, ','); }

std::string Wrapped(const std::string& text, int indent, int columns) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out;
  for (const std::string& paragraph : SplitAt(text, '\n')) {
    if (paragraph.starts_with(' ') || paragraph.empty()) {
      out += paragraph.empty() ? "\n" : margin + paragraph + "\n";
      continue;
    }
    std::string line;
    for (const std::string& word : SplitAt(paragraph, ' ')) {
      const size_t width = margin.size() + line.size() + 1 + word.size();
      if (!line.empty() && width > static_cast<size_t>(columns)) {
        out += margin + line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    out += margin + line + "\n";
  }
  return out;
}

std::string OverviewText(const CommandText& command) {
  std::string text = command.summary + "\n\nUsage: rowtide [VERB] [OPTIONS] [ARGUMENTS]\n\n";
  text +=
      Wrapped("Without a verb, rowtide is a shell on a terminal and else runs standard input.", 0);
  text += "\nVerbs:\n";
  std::vector<OptionText> verbs;
  for (const VerbText& verb : command.verbs) verbs.push_back({verb.name, "", verb.summary});
  text += Entries(verbs) + "\nExamples:\n";
  for (const VerbText& verb : command.verbs) {
    if (!verb.examples.empty()) text += ExamplesText({verb.examples[0]});
  }
  text += "\nExit codes:\n" + Entries(command.exit_codes);
  text += "\nEnvironment:\n" + Entries(command.environment);
  return text +
         "\nrowtide help VERB lists the options of a verb; help connectors and help settings "
         "say what\ntables and SET know.\n";
}

std::string HelpText(const VerbText& verb) {
  std::string text = verb.summary + ".\n\nUsage: " + Usage(verb) + "\n";
  if (!verb.details.empty()) text += "\n" + Wrapped(verb.details, 0);
  const std::vector<OptionText> arguments = Chosen(verb.options, true);
  if (!arguments.empty()) text += "\nArguments:\n" + Entries(arguments);
  text += "\nOptions:\n" + Entries(Chosen(verb.options, false));
  if (!verb.examples.empty()) text += "\nExamples:\n" + ExamplesText(verb.examples);
  return text;
}

std::string ManPage(const CommandText& command) {
  std::string text = ".TH ROWTIDE 1 \"\" \"" + command.version + "\" \"User Commands\"\n";
  text += ".SH NAME\nrowtide \\- " + Roff(command.summary) + "\n.SH SYNOPSIS\n.B rowtide\n";
  text += "[VERB] [OPTIONS] [ARGUMENTS]\n.SH DESCRIPTION\n";
  text += "Without a verb, rowtide is a shell on a terminal and else runs standard input.\n";
  text += ".SH VERBS\n";
  for (const VerbText& verb : command.verbs) text += RoffVerb(verb);
  text += ".SH EXAMPLES\n";
  for (const VerbText& verb : command.verbs) {
    for (const ExampleText& example : verb.examples) {
      text += ".TP\n.B " + Roff(example.command) + "\n" + Roff(example.text) + "\n";
    }
  }
  text += ".SH EXIT STATUS\n" + RoffEntries(command.exit_codes);
  return text + ".SH ENVIRONMENT\n" + RoffEntries(command.environment);
}

}  // namespace rowtide
