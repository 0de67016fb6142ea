// The completions of the command for bash, zsh and fish, made from what the verbs say about
// themselves (cli/verb_text.h): verbs, options, the choices of an option, files.
#pragma once

#include <string>

#include "cli/verb_text.h"

namespace rowtide {

std::string BashCompletion(const CommandText& command);
std::string ZshCompletion(const CommandText& command);
std::string FishCompletion(const CommandText& command);

}  // namespace rowtide
