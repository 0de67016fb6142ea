// The command `rowtide`: arguments to subcommands.
#include <CLI/CLI.hpp>

#include <cstdio>

#include "cli/bench.h"
#include "cli/error.h"
#include "cli/error_codes.h"
#include "cli/explain.h"
#include "cli/run.h"
#include "cli/test.h"

namespace {

using namespace rowtide;  // NOLINT: a main file

constexpr const char* kVersion = "rowtide 0.1.0";

constexpr const char* kExamples = R"help(
Examples:
  rowtide run job.sql                                 run the statements of a file
  rowtide run -c "SELECT * FROM (VALUES (1), (2)) AS t(n)"
  rowtide run - < job.sql                             from standard input
  rowtide run --output table --stats job.sql          the final rows, and counts per operator
  rowtide explain job.sql                             plans, with the changelog mode of every node
  rowtide test tests/changelog                        run test scripts
  rowtide help RT2031                                 explain an error code
  rowtide bench generate 1000000 > bids.csv           made-up events to try things on

Exit codes: 0 done, 1 the job failed, 2 usage or SQL error, 3 bad data, 4 files or network,
130 and 143 ended by a second signal.)help";

void AddSqlInput(CLI::App& command, std::string* file, std::string* text) {
  CLI::Option* by_file = command.add_option("file", *file, "SQL file; - for standard input");
  CLI::Option* by_text = command.add_option("-c,--command", *text, "SQL text");
  by_file->excludes(by_text);
  command.callback([by_file, by_text] {
    if (by_file->count() + by_text->count() == 0) throw CLI::RequiredError("a file, - or -c");
  });
}

CLI::App* AddRun(CLI::App& app, RunArguments* arguments, std::string* output) {
  CLI::App* command = app.add_subcommand("run", "Run the statements of a SQL script");
  AddSqlInput(*command, &arguments->file, &arguments->command);
  command->add_option("--output", *output, "How a SELECT prints its rows")
      ->check(CLI::IsMember({"changelog", "tableau", "table", "json", "csv"}));
  command->add_option("--limit", arguments->limit, "End a SELECT after this many rows")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--stats", arguments->stats,
                    "Print counts, state and time per operator on standard error");
  return command;
}

CLI::App* AddExplain(CLI::App& app, ExplainArguments* arguments) {
  CLI::App* command = app.add_subcommand("explain", "Print the plans of a SQL script");
  AddSqlInput(*command, &arguments->file, &arguments->command);
  return command;
}

CLI::App* AddTest(CLI::App& app, TestArguments* arguments) {
  CLI::App* command = app.add_subcommand("test", "Run test scripts");
  command->add_option("paths", arguments->paths, "Scripts, or folders of scripts")->required();
  command
      ->add_option("--stage", arguments->stages,
                   "Stages of a plan to compare (default: physical and exec)")
      ->check(CLI::IsMember({"ast", "physical", "exec"}));
  command->add_option("--skip-list", arguments->skip_list,
                      "One more list of units that are not run");
  command
      ->add_option("--ways", arguments->ways,
                   "all: also with cuts into batches and restored at every row")
      ->check(CLI::IsMember({"all", "plain"}));
  command->add_option("--seed", arguments->seed, "Of the random cuts");
  command->add_option("--threads", arguments->threads, "Scripts that run at once");
  command->add_flag("--record", arguments->record, "Write what comes out into the scripts");
  command->add_flag("--summary", arguments->summary,
                    "Print counts by folder and by what is skipped");
  command->add_flag("--print", arguments->print,
                    "Print what comes out of every unit instead of comparing");
  return command;
}

CLI::App* AddGenerate(CLI::App& app, GenerateArguments* arguments) {
  CLI::App* bench = app.add_subcommand("bench", "Made-up data");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand("generate", "Write Nexmark bids as CSV");
  command->add_option("rows", arguments->rows, "How many")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", arguments->seed, "Same seed, same bytes");
  command->add_option("--first-event", arguments->first_event, "The event to begin with");
  command->add_option("-o,--file", arguments->file, "Where to; - for standard output");
  return command;
}

int Help(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {  // app.help() would be that of the subcommand
    const auto formatter = app.get_formatter();
    std::fputs(formatter->make_help(&app, "rowtide", CLI::AppFormatMode::Normal).c_str(), stdout);
    return 0;
  }
  if (topic == "codes") {
    std::fputs(ErrorCodeList().c_str(), stdout);
    return 0;
  }
  const ErrorCode* code = FindErrorCode(topic);
  if (code == nullptr) {
    std::fprintf(stderr, "There is no error code %s. All codes:\n%s", topic.c_str(),
                 ErrorCodeList().c_str());
    return kExitUsage;
  }
  std::printf("%s: %s\n\n%s\n", code->code, code->title, code->explanation);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Streaming SQL over changelogs: what Flink SQL says, on one machine.", "rowtide");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all subcommands");
  app.footer(kExamples);

  RunArguments run;
  std::string output;
  ExplainArguments explain;
  TestArguments test;
  GenerateArguments generate;
  const CLI::App* run_command = AddRun(app, &run, &output);
  const CLI::App* explain_command = AddExplain(app, &explain);
  const CLI::App* test_command = AddTest(app, &test);
  const CLI::App* generate_command = AddGenerate(app, &generate);
  std::string topic;
  CLI::App* help_command = app.add_subcommand("help", "Print this help, or explain an error code");
  help_command->add_option("code", topic, "Such as RT2031; codes lists all");
  if (count == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kExitUsage;
  }
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  if (!output.empty()) run.output = OutputModeByName(output);
  if (run_command->parsed()) return Run(run);
  if (explain_command->parsed()) return Explain(explain);
  if (test_command->parsed()) return Test(test);
  if (generate_command->parsed()) return GenerateBids(generate);
  if (help_command->parsed()) return Help(app, topic);
  return 0;
}
