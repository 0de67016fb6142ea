#include "cli/help_topics.h"

#include "cli/verb_text.h"
#include "connectors/registry.h"
#include "planner/options.h"

namespace rowtide {
namespace {

std::string ListText(const std::vector<ConnectorHelp>& helps) {
  std::string text;
  for (const ConnectorHelp& help : helps) {
    text += "  " + help.name + "\n" + Wrapped(help.text, 6);
    for (const std::string& option : help.options) text += Wrapped(option, 10);
  }
  return text;
}

std::string ConnectorsText() {
  return "What stands behind 'connector' and 'format' in WITH, and the other options there, which "
         "are Flink's:\n\n"
         "  CREATE TABLE t (id INT, name STRING)\n"
         "  WITH ('connector' = 'filesystem', 'path' = 'people.csv', 'format' = 'csv');\n\n"
         "Connectors:\n" +
         ListText(ConnectorHelps()) + "\nFormats:\n" + ListText(FormatHelps()) +
         "\nA path is a file, a folder, a pattern such as 'in/*.csv', or - for standard input and "
         "output.\n"
         "Files that end in .gz or .zst are unpacked. Watermarks move after every 1,024 rows of a "
         "file, a pipe or\n"
         "a folder (on-periodic), or with each one (on-event: for input that comes slowly).\n"
         "Records of a topic that do not decode can go into another one ('rowtide.dead-letter.t' = "
         "'topic:NAME'),\nand from there back: rowtide help requeue.\n"
         "rowtide help settings: headers, bad records, packing.\n";
}

std::string SettingsText() {
  std::string text =
      "What SET 'key' = 'value' changes; RESET 'key' takes it back. Other settings of Flink are "
      "taken\nand change nothing.\n\n";
  for (const OptionHelp& help : OptionHelps()) {
    text += "  " + help.key + "\n" + Wrapped(help.text, 6);
    text +=
        Wrapped(help.values + (help.fallback.empty() ? "" : "; without it " + help.fallback), 10);
  }
  return text;
}

}  // namespace

const std::vector<std::string>& HelpTopics() {
  static const std::vector<std::string> topics = {"connectors", "settings"};
  return topics;
}

std::optional<std::string> HelpTopicText(const std::string& topic) {
  if (topic == "connectors") return ConnectorsText();
  if (topic == "settings") return SettingsText();
  return std::nullopt;
}

}  // namespace rowtide
