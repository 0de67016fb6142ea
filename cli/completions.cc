#include "cli/completions.h"

#include <fmt/format.h>

#include <algorithm>

namespace rowtide {

namespace {

// `bench` of `bench generate`.
std::string FirstWord(const std::string& name) { return name.substr(0, name.find(' ')); }
std::string SecondWord(const std::string& name) {
  const size_t blank = name.find(' ');
  return blank == std::string::npos ? "" : name.substr(blank + 1);
}

std::string Words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// `state ls` and `state check` become `state ls check`, with the options of both: what is completed
// depends on the first word alone.
std::vector<VerbText> ByFirstWord(const std::vector<VerbText>& verbs) {
  std::vector<VerbText> merged;
  for (const VerbText& verb : verbs) {
    if (merged.empty() || FirstWord(merged.back().name) != FirstWord(verb.name)) {
      merged.push_back(verb);
      continue;
    }
    VerbText& to = merged.back();
    to.name += " " + SecondWord(verb.name);
    for (const OptionText& option : verb.options) {
      const auto same = [&](const OptionText& other) { return other.names == option.names; };
      if (std::none_of(to.options.begin(), to.options.end(), same)) to.options.push_back(option);
    }
  }
  return merged;
}

std::string VerbWords(const std::vector<VerbText>& verbs) {
  std::vector<std::string> words;
  for (const VerbText& verb : verbs) words.push_back(FirstWord(verb.name));
  return Words(words);
}

// What may stand where no option does: a word of the verb, the choices of its arguments.
std::string ArgumentWords(const VerbText& verb) {
  std::vector<std::string> words;
  if (!SecondWord(verb.name).empty()) words.push_back(SecondWord(verb.name));
  for (const OptionText& option : verb.options) {
    if (option.positional())
      words.insert(words.end(), option.choices.begin(), option.choices.end());
  }
  return Words(words);
}

bool TakesFiles(const VerbText& verb) {
  for (const OptionText& option : verb.options) {
    if (option.positional() && option.takes_file) return true;
  }
  return false;
}

// Within '…' of a shell, and of zsh's and fish's descriptions.
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (c == '\'' || c == '[' || c == ']' || c == ':') continue;
    plain.push_back(c);
  }
  return plain;
}

}  // namespace

std::string BashCompletion(const CommandText& command) {
  const std::vector<VerbText> verbs = ByFirstWord(command.verbs);
  std::string text = R"(# Completion of rowtide for bash, written by `rowtide completion bash`.
_rowtide() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ")" +
                     VerbWords(verbs) + R"( --help --version" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]}:$before in
)";
  for (const VerbText& verb : verbs) {
    for (const OptionText& option : verb.options) {
      if (option.positional() || option.value.empty()) continue;
      std::string pattern;
      for (const std::string& name : option.all_names()) {
        pattern += (pattern.empty() ? "" : "|") + FirstWord(verb.name) + ":" + name;
      }
      const std::string what = option.takes_file ? R"($(compgen -f -- "$word"))"
                                                 : fmt::format(R"($(compgen -W "{}" -- "$word"))",
                                                               Words(option.choices));
      text += fmt::format("    {}) COMPREPLY=({}); return ;;\n", pattern, what);
    }
  }
  text += "  esac\n  case ${COMP_WORDS[1]}:$word in\n";
  for (const VerbText& verb : verbs) {
    std::vector<std::string> names;
    for (const OptionText& option : verb.options) {
      if (option.positional()) continue;
      for (const std::string& name : option.all_names()) names.push_back(name);
    }
    text += fmt::format("    {}:-*) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n",
                        FirstWord(verb.name), Words(names));
    text += fmt::format("    {}:*) COMPREPLY=($(compgen -W \"{}\"{} -- \"$word\")) ;;\n",
                        FirstWord(verb.name), ArgumentWords(verb), TakesFiles(verb) ? " -f" : "");
  }
  return text + "  esac\n}\ncomplete -o filenames -F _rowtide rowtide\n";
}

std::string ZshCompletion(const CommandText& command) {
  const std::vector<VerbText> verbs = ByFirstWord(command.verbs);
  std::string text =
      "#compdef rowtide\n# Completion of rowtide for zsh, written by `rowtide completion zsh`.\n"
      "_rowtide() {\n  local -a verbs\n  verbs=(\n";
  for (const VerbText& verb : verbs) {
    text += fmt::format("    '{}:{}'\n", FirstWord(verb.name), Plain(verb.summary));
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe 'verb' verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const VerbText& verb : verbs) {
    text += "    " + FirstWord(verb.name) + ")\n      _arguments";
    if (!SecondWord(verb.name).empty()) {
      text += fmt::format(" \\\n        '1:verb:({})'", SecondWord(verb.name));
    }
    for (const OptionText& option : verb.options) {
      const std::string action = option.takes_file         ? "_files"
                                 : !option.choices.empty() ? "(" + Words(option.choices) + ")"
                                                           : "";
      if (option.positional()) {
        text +=
            fmt::format(" \\\n        '{}:{}:{}'", option.repeats ? "*" : "", option.names, action);
        continue;
      }
      for (const std::string& name : option.all_names()) {
        text += fmt::format(" \\\n        '{}[{}]{}'", name, Plain(option.text),
                            option.value.empty() ? "" : ":" + option.value + ":" + action);
      }
    }
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n_rowtide \"$@\"\n";
}

std::string FishCompletion(const CommandText& command) {
  const std::vector<VerbText> verbs = ByFirstWord(command.verbs);
  std::string text =
      "# Completion of rowtide for fish, written by `rowtide completion fish`.\n"
      "complete -c rowtide -f\n";
  for (const VerbText& verb : verbs) {
    text += fmt::format("complete -c rowtide -n __fish_use_subcommand -a {} -d '{}'\n",
                        FirstWord(verb.name), Plain(verb.summary));
  }
  for (const VerbText& verb : verbs) {
    const std::string seen = fmt::format("complete -c rowtide -n '__fish_seen_subcommand_from {}'",
                                         FirstWord(verb.name));
    if (TakesFiles(verb)) text += seen + " -F\n";
    if (!ArgumentWords(verb).empty()) text += seen + " -a '" + ArgumentWords(verb) + "'\n";
    for (const OptionText& option : verb.options) {
      if (option.positional()) continue;
      text += seen;
      for (const std::string& name : option.all_names()) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) text += option.takes_file ? " -r -F" : " -x";
      if (!option.choices.empty()) text += " -a '" + Words(option.choices) + "'";
      text += " -d '" + Plain(option.text) + "'\n";
    }
  }
  return text;
}

}  // namespace rowtide
