#include "cli/test.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "cli/error.h"
#include "cli/script/runner.h"
#include "cli/text_table.h"

namespace rowtide {

namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> ScriptsUnder(const std::vector<std::string>& paths) {
  std::vector<fs::path> scripts;
  for (const std::string& path : paths) {
    if (fs::is_regular_file(path)) {
      scripts.emplace_back(path);
      continue;
    }
    if (!fs::is_directory(path)) return Status::NotFound("there is no script or folder {}", path);
    const size_t first = scripts.size();
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.path().extension() == ".test")
        scripts.push_back(entry.path());
    }
    std::sort(scripts.begin() + static_cast<std::ptrdiff_t>(first), scripts.end());
  }
  return scripts;
}

RunnerOptions OptionsOf(const TestArguments& arguments) {
  RunnerOptions options;
  if (arguments.record) options.mode = RunMode::kRecord;
  if (arguments.print) options.mode = RunMode::kPrint;
  const auto wanted = [&](const char* stage) {
    return std::find(arguments.stages.begin(), arguments.stages.end(), stage) !=
           arguments.stages.end();
  };
  if (!arguments.stages.empty())
    options.stages = {wanted("ast"), wanted("physical"), wanted("exec")};
  options.ways.plain_only = arguments.ways == "plain" || arguments.print;
  options.ways.rocksdb_at_every_row = arguments.ways == "rocksdb";
  options.ways.seed = arguments.seed;
  return options;
}

// Runs the scripts on some threads; prints each one's failures when it is done, in the order of the
// scripts.
class ScriptPool {
 public:
  ScriptPool(const std::vector<fs::path>& scripts, const SkipList& skips,
             const RunnerOptions& options)
      : scripts_(scripts),
        skips_(skips),
        options_(options),
        reports_(scripts.size()),
        done_(scripts.size()) {}

  std::vector<ScriptReport> Run(int threads) {
    std::vector<std::thread> workers;
    for (int i = 1; i < threads; ++i) workers.emplace_back([this] { Work(); });
    Work();
    for (std::thread& worker : workers) worker.join();
    return std::move(reports_);
  }

 private:
  void Work() {
    for (size_t i = next_++; i < scripts_.size(); i = next_++) {
      ScriptReport report = RunScript(scripts_[i], skips_, options_);
      const std::lock_guard<std::mutex> lock(mutex_);
      reports_[i] = std::move(report);
      done_[i] = true;
      for (; printed_ < scripts_.size() && done_[printed_]; ++printed_)
        std::cout << reports_[printed_].text;
      std::cout << std::flush;
    }
  }

  const std::vector<fs::path>& scripts_;
  const SkipList& skips_;
  const RunnerOptions& options_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::vector<ScriptReport> reports_;
  std::vector<bool> done_;
  size_t printed_ = 0;
};

struct Tally {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  int asts = 0;
  int same_asts = 0;

  void Add(const UnitReport& unit) {
    passed += unit.verdict == UnitVerdict::kPassed;
    failed += unit.verdict == UnitVerdict::kFailed;
    skipped += unit.verdict == UnitVerdict::kSkipped;
    asts += unit.has_ast;
    same_asts += unit.same_ast;
  }
  std::vector<std::string> Row(const std::string& name) const {
    return {name, std::to_string(passed), std::to_string(failed), std::to_string(skipped),
            fmt::format("{} of {}", same_asts, asts)};
  }
};

std::string Summary(const std::vector<ScriptReport>& reports) {
  std::map<std::string, Tally> folders;
  std::map<std::string, int> constructs;
  for (const ScriptReport& report : reports) {
    for (const UnitReport& unit : report.units) {
      folders[report.script.parent_path().string()].Add(unit);
      if (unit.verdict == UnitVerdict::kSkipped) ++constructs[unit.construct];
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [folder, tally] : folders) rows.push_back(tally.Row(folder));
  std::string text =
      PlainTable({"folder", "passed", "failed", "skipped", "equal syntax trees"}, rows) + "\n";
  rows.clear();
  for (const auto& [construct, units] : constructs)
    rows.push_back({construct, std::to_string(units)});
  if (!rows.empty()) text += PlainTable({"skipped for want of", "units"}, rows) + "\n";
  return text;
}

Result<Tally> RunAll(const TestArguments& arguments) {
  RT_ASSIGN(const std::vector<fs::path> scripts, ScriptsUnder(arguments.paths));
  SkipList skips;
  if (!arguments.skip_list.empty()) RT_TRY(skips.Read(arguments.skip_list));
  for (const fs::path& script : scripts) RT_TRY(skips.ReadAround(script));
  RT_TRY(skips.CheckScriptsExist());
  const RunnerOptions options = OptionsOf(arguments);
  const std::vector<ScriptReport> reports =
      ScriptPool(scripts, skips, options).Run(std::max(arguments.threads, 1));
  Tally total;
  for (const ScriptReport& report : reports) {
    for (const UnitReport& unit : report.units) total.Add(unit);
  }
  if (arguments.summary) std::cout << Summary(reports);
  return total;
}

}  // namespace

int Test(const TestArguments& arguments) {
  const Result<Tally> total = RunAll(arguments);
  if (!total.ok()) return PrintError(total.status(), "", "");
  std::cout << fmt::format("{} passed, {} failed, {} skipped\n", total->passed, total->failed,
                           total->skipped);
  return total->failed == 0 ? 0 : kExitJobFailed;
}

}  // namespace rowtide
