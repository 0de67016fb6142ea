#include "cli/script/runner.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "cli/error.h"
#include "cli/script/deviations.h"

namespace rowtide {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCompatKey = "rowtide.flink-compat";

// An empty folder, gone with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "rowtide-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Result<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Status::NotFound("{} cannot be read", path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Whether only Flink may record the plain blocks of this script.
bool IsRecordedByFlink(const fs::path& script) {
  fs::path folder = fs::absolute(script).lexically_normal().parent_path();
  while (true) {
    if (fs::exists(folder / "recorded-by-flink")) return true;
    if (folder == folder.parent_path()) return false;
    folder = folder.parent_path();
  }
}

class ScriptRunner {
 public:
  ScriptRunner(const fs::path& path, const SkipList& skips, const RunnerOptions& options)
      : path_(path), skips_(skips), options_(options) {
    report_.script = path;
    place_ = {fs::absolute(path).lexically_normal().parent_path(), scratch_.path()};
  }

  ScriptReport Run() {
    const Status status = RunBlocks();
    if (!status.ok()) {
      const auto reached = static_cast<std::ptrdiff_t>(report_.units.size());
      FailTheRest();
      // A script whose construct is missing already in its tables is skipped without a word.
      const bool skipped =
          reached < static_cast<std::ptrdiff_t>(report_.units.size()) &&
          std::all_of(
              report_.units.begin() + reached, report_.units.end(),
              [](const UnitReport& unit) { return unit.verdict == UnitVerdict::kSkipped; });
      if (!skipped) {
        report_.text += fmt::format("FAILED {}\n    {}\n", path_.string(), status.message());
      }
    }
    if (status.ok() && options_.mode == RunMode::kRecord) Record();
    return std::move(report_);
  }

 private:
  Status RunBlocks() {
    RT_ASSIGN(const std::string text, ReadFile(path_));
    RT_ASSIGN(script_, ParseTestScript(path_.string(), text));
    units_ = script_.units();
    RT_TRY(skips_.Check(path_, units_));
    for (size_t i = 0; i < script_.blocks.size(); ++i) {
      RT_TRY(RunBlock(script_.blocks[i], i > 0 && script_.blocks[i - 1].kind == BlockKind::kRows));
    }
    return Status::Ok();
  }

  Status RunBlock(ScriptBlock& block, bool follows_rows) {
    switch (block.kind) {
      case BlockKind::kSql: return RunSql(block);
      case BlockKind::kInput: return ReadInput(block);
      case BlockKind::kRows:
        if (!follows_rows) input_.clear();
        return ReadRows(block);
      case BlockKind::kQuery:
      case BlockKind::kInsert:
      case BlockKind::kWrite:
      case BlockKind::kExplain:
      case BlockKind::kError: RunOneUnit(block); return Status::Ok();
    }
    return Status::Ok();
  }

  Status RunSql(const ScriptBlock& block) {
    const std::string sql = place_.Expand(block.text());
    const Status status = ExecuteSql(sql, session_);
    if (status.ok()) return status;
    return Status::InvalidArgument("the sql block in line {} fails\n{}", block.line,
                                   ErrorText(status, "sql", sql));
  }

  Status ReadInput(const ScriptBlock& block) {
    input_.clear();
    for (size_t i = 0; i < block.lines.size(); ++i) {
      const std::string& line = block.lines[i];
      if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '#') continue;
      RT_ASSIGN(ScriptEvent event, ParseScriptEvent(line, block.line + static_cast<int>(i) + 1));
      input_.push_back(std::move(event));
    }
    return Status::Ok();
  }

  Status ReadRows(const ScriptBlock& block) {
    const size_t gap = block.arguments.find_first_of(" \t");
    if (gap == std::string::npos)
      return Status::InvalidArgument("line {}: rows needs TABLE FILE", block.line);
    const std::string file = block.arguments.substr(block.arguments.find_first_not_of(" \t", gap));
    RT_ASSIGN(const std::string csv, ReadFile(place_.folder / file));
    AppendCsvEvents(block.arguments.substr(0, gap), csv, &input_);
    return Status::Ok();
  }

  // --- units ---
  void RunOneUnit(ScriptBlock& unit) {
    const int number = static_cast<int>(report_.units.size()) + 1;
    UnitReport report;
    if (const std::string* construct = skips_.Find(path_, number)) {
      report.verdict = UnitVerdict::kSkipped;
      report.construct = *construct;
    } else {
      report = RunUnskipped(unit);
    }
    report_.units.push_back(std::move(report));
  }

  UnitReport RunUnskipped(ScriptBlock& unit) {
    UnitReport report;
    const UnitRun run = RunUnit(unit, input_, place_, options_.ways, session_);
    if (options_.mode == RunMode::kPrint) {
      Print(unit, run.answer);
      return report;
    }
    if (options_.mode == RunMode::kRecord) Refresh(&unit, run.answer);
    std::string trouble = run.ways_differ.value_or("");
    if (run.answer.failure && run.answer.failure->code() == StatusCode::kInternal) {
      trouble += "    " + run.answer.failure->message() + "\n";
    }
    trouble +=
        unit.differs ? CompareBoth(unit, run.answer) : CompareBlocks(unit, false, run.answer);
    const Expectation* plan =
        unit.Find(ExpectKind::kPlan, unit.differs && unit.Find(ExpectKind::kPlan, true));
    report.has_ast = plan != nullptr;
    report.same_ast = plan != nullptr && SameAst(*plan, run.answer);
    if (trouble.empty()) return report;
    report.verdict = UnitVerdict::kFailed;
    report_.text += Header(unit) + SqlOf(unit) + trouble;
    return report;
  }

  std::string Header(const ScriptBlock& unit) const {
    return fmt::format("FAILED {}:{} {}{}{}\n", path_.string(), unit.line, Name(unit.kind),
                       unit.arguments.empty() ? "" : " ", unit.arguments);
  }

  static std::string SqlOf(const ScriptBlock& unit) {
    std::string text;
    for (const std::string& line : unit.lines) text += "    " + line + "\n";
    return text;
  }

  // What differs from the blocks of Flink's, or of Rowtide's own, answer.
  std::string CompareBlocks(const ScriptBlock& unit, bool rowtide, const UnitAnswer& answer,
                            bool message_counts = true) const {
    std::string trouble;
    bool any = false;
    for (const Expectation& expected : unit.expected) {
      if (expected.rowtide != rowtide) continue;
      any = true;
      if (expected.kind == ExpectKind::kMessage && !message_counts) continue;
      if (const auto difference = Compare(expected, answer, options_.stages)) {
        trouble +=
            fmt::format("  {}{}\n{}", rowtide ? "rowtide " : "", Name(expected.kind), *difference);
      }
    }
    if (!any && !rowtide) trouble += "  nothing is expected of this unit\n";
    if (!trouble.empty() && answer.failure) {
      trouble += "  " + ErrorText(*answer.failure, "sql", place_.Expand(unit.text()));
    }
    return trouble;
  }

  // A unit in which Rowtide means to differ: by default and under compat.
  std::string CompareBoth(const ScriptBlock& unit, const UnitAnswer& by_default) {
    const Result<CompatAnswer> compat = CompatAnswerOf(*unit.differs);
    if (!compat.ok()) return "  " + compat.status().message() + "\n";
    std::string trouble = CompareBlocks(unit, true, by_default);
    Options saved = session_.options();
    const Status set = session_.options().Set(kCompatKey, "true", nullptr);
    if (!set.ok()) return trouble + "  " + set.message() + "\n";
    const UnitRun run = RunUnit(unit, input_, place_, options_.ways, session_);
    session_.options() = std::move(saved);
    std::string under_compat =
        run.ways_differ.value_or("") + CompareCompat(unit, *compat, by_default, run.answer);
    if (!under_compat.empty()) trouble += fmt::format("  under {}\n{}", kCompatKey, under_compat);
    return trouble;
  }

  std::string CompareCompat(const ScriptBlock& unit, CompatAnswer compat,
                            const UnitAnswer& by_default, const UnitAnswer& answer) const {
    switch (compat) {
      case CompatAnswer::kFlink: return CompareBlocks(unit, false, answer, false);
      case CompatAnswer::kRefused: return CompareBlocks(unit, false, answer);
      case CompatAnswer::kSame: return CompareSame(by_default, answer);
      case CompatAnswer::kUnasked: return "";
    }
    return "";
  }

  static std::string CompareSame(const UnitAnswer& by_default, const UnitAnswer& answer) {
    std::string trouble;
    for (const auto& [kind, lines] : by_default.lines) {
      if (kind == ExpectKind::kPlan || kind == ExpectKind::kFiles) continue;
      Expectation same;
      same.kind = kind;
      same.lines = by_default.Lines(kind);
      if (const auto difference = Compare(same, answer, {})) {
        trouble += fmt::format("  {} must be as by default\n{}", Name(kind), *difference);
      }
    }
    return trouble;
  }

  void FailTheRest() {
    while (static_cast<int>(report_.units.size()) < std::max(units_, 1)) {
      UnitReport report;
      report.verdict = UnitVerdict::kFailed;
      const std::string* construct = skips_.Find(path_, static_cast<int>(report_.units.size()) + 1);
      if (construct != nullptr) {
        report.verdict = UnitVerdict::kSkipped;
        report.construct = *construct;
      }
      report_.units.push_back(std::move(report));
    }
  }

  // --- printing and recording ---
  static std::vector<ExpectKind> KindsOf(const ScriptBlock& unit, const UnitAnswer& answer) {
    if (answer.failure) return {ExpectKind::kMessage};
    if (unit.kind == BlockKind::kExplain) return {ExpectKind::kPlan};
    if (unit.kind == BlockKind::kWrite) return {ExpectKind::kFiles};
    const std::vector<std::string> rows = answer.Lines(ExpectKind::kChangelog);
    const bool appends = std::all_of(rows.begin(), rows.end(),
                                     [](const std::string& row) { return row.starts_with("+I"); });
    if (appends) return {ExpectKind::kChangelog};
    return {ExpectKind::kChangelog, ExpectKind::kTable};
  }

  void Print(const ScriptBlock& unit, const UnitAnswer& answer) {
    report_.text += fmt::format("--- {} {}\n", Name(unit.kind), unit.arguments);
    for (const ExpectKind kind : KindsOf(unit, answer)) {
      report_.text += fmt::format("--- {}\n", Name(kind));
      for (const std::string& line : answer.Lines(kind)) report_.text += line + "\n";
    }
  }

  // Writes the answer into the unit's blocks; of a deviation into those of Rowtide's own answer.
  void Refresh(ScriptBlock* unit, const UnitAnswer& answer) const {
    const bool rowtide = unit->differs.has_value();
    if (!rowtide && IsRecordedByFlink(path_)) return;  // only Flink records those
    bool any = false;
    for (Expectation& expected : unit->expected) {
      if (expected.rowtide != rowtide) continue;
      any = true;
      if (answer.failure && !rowtide) expected.kind = ExpectKind::kMessage;
      expected.lines = MessageOr(answer, expected.kind);
      if (expected.unordered) std::sort(expected.lines.begin(), expected.lines.end(), Utf16Less);
    }
    if (any || rowtide) return;
    for (const ExpectKind kind : KindsOf(*unit, answer)) {
      Expectation expected;
      expected.kind = kind;
      expected.lines = MessageOr(answer, kind);
      unit->expected.push_back(std::move(expected));
    }
  }

  // A message names a class of errors in Flink's words, so that its kind can be read back.
  static std::vector<std::string> MessageOr(const UnitAnswer& answer, ExpectKind kind) {
    if (!answer.failure) return answer.Lines(kind);
    return {fmt::format("{}: {}", ClassOfKind(answer.failure->kind()), answer.failure->message())};
  }

  void Record() const { std::ofstream(path_, std::ios::binary) << ToText(script_); }

  const fs::path& path_;
  const SkipList& skips_;
  const RunnerOptions& options_;
  ScratchFolder scratch_;
  ScriptPlace place_;
  Session session_;
  Script script_;
  int units_ = 0;
  std::vector<ScriptEvent> input_;
  ScriptReport report_;
};

}  // namespace

int ScriptReport::Count(UnitVerdict verdict) const {
  return static_cast<int>(std::count_if(
      units.begin(), units.end(), [&](const UnitReport& unit) { return unit.verdict == verdict; }));
}

ScriptReport RunScript(const fs::path& path, const SkipList& skips, const RunnerOptions& options) {
  return ScriptRunner(path, skips, options).Run();
}

}  // namespace rowtide
