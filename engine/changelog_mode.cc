#include "engine/changelog_mode.h"

namespace rowtide {

std::string ChangelogMode::ToString() const {
  std::string text;
  const auto add = [&text](const char* letter) {
    if (!text.empty()) text += ',';
    text += letter;
  };
  if (insert) add("I");
  if (update_before) add("UB");
  if (update_after) add("UA");
  if (deletes) add(key_only_deletes ? "PD" : "D");
  return text.empty() ? "NONE" : text;
}

}  // namespace rowtide
