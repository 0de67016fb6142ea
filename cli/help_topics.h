// Pages of `rowtide help` that are about no verb: which connectors, formats and settings there are.
// Made from the tables that the program itself goes by.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rowtide {

const std::vector<std::string>& HelpTopics();
std::optional<std::string> HelpTopicText(const std::string& topic);

}  // namespace rowtide
