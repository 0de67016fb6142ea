#include "cli/state_verbs.h"

#include <date/date.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "cli/control_socket.h"
#include "cli/error.h"
#include "cli/restore_rehearsal.h"
#include "cli/run.h"
#include "cli/state_paths.h"
#include "planner/exec/build_job.h"
#include "planner/session.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

std::string TimeText(int64_t millis) {
  const date::sys_time<std::chrono::seconds> time{std::chrono::seconds(millis / 1000)};
  return date::format("%F %T", time);
}

std::string_view KindText(CheckpointKind kind) {
  switch (kind) {
    case CheckpointKind::kPeriodic: return "checkpoint";
    case CheckpointKind::kSavepoint: return "savepoint";
    case CheckpointKind::kFinal: return "end of input";
  }
  return "";
}

uint64_t BytesOf(const Manifest& manifest) {
  uint64_t bytes = 0;
  for (const ManifestLane& lane : manifest.lanes) {
    bytes += lane.nodes.bytes;
    for (const ManifestFile& file : lane.files) bytes += file.bytes;
  }
  return bytes;
}

using Rows = std::vector<std::vector<std::string>>;

Result<Rows> CheckpointRows(const std::string& path) {
  Rows rows;
  RT_ASSIGN(const std::vector<std::string> folders, JobFoldersOf(path));
  for (const std::string& folder : folders) {
    RT_ASSIGN(const std::vector<CheckpointEntry> entries, ListCheckpoints(folder));
    for (const CheckpointEntry& entry : entries) {
      const std::string name = fs::path(folder).filename().string();
      const Result<Manifest> manifest = LoadManifest(entry.path);
      if (!manifest.ok()) {
        rows.push_back({name, entry.path, std::to_string(entry.epoch), "", "damaged", "", ""});
        continue;
      }
      std::string kind(KindText(manifest->kind));
      if (!entry.is_decided) kind = "not decided";
      rows.push_back({name, entry.path, std::to_string(entry.epoch), TimeText(manifest->millis),
                      kind, std::to_string(manifest->lanes.size()),
                      std::to_string(BytesOf(*manifest))});
    }
  }
  return rows;
}

Result<Rows> NodeRows(const std::string& path) {
  RT_ASSIGN(const Manifest manifest, LoadManifest(path));
  Rows rows;
  for (size_t i = 0; i < manifest.nodes.size(); ++i) {
    uint64_t bytes = 0;
    for (const ManifestLane& lane : manifest.lanes) bytes += lane.node_bytes[i].bytes;
    const NodeIdentity& node = manifest.nodes[i];
    rows.push_back({std::to_string(i), node.kind, std::to_string(bytes), node.description});
  }
  return rows;
}

int PrintRows(const std::vector<std::string>& names, const Result<Rows>& rows,
              std::optional<OutputMode> mode) {
  if (!rows.ok()) return PrintError(rows.status(), "", "");
  std::cout << TextRows(mode.value_or(OutputMode::kTable), names, *rows) << std::flush;
  return 0;
}

// What can be said of one INSERT and the state that there is for it.
Status CheckJob(const PlannedJob& planned, const StateSettings& settings, int occurrence) {
  const auto say = [&](const std::string& text) {
    std::cout << planned.name << ": " << text << "\n" << std::flush;
  };
  RT_ASSIGN(const std::optional<LoadedCheckpoint> kept,
            DurableJob::Find(planned, settings, occurrence, say));
  if (!kept) {
    say("nothing is kept: it would start from the first record");
    return Status::Ok();
  }
  const SystemClock clock;
  BuildContext context;
  context.connectors.clock = &clock;
  RT_ASSIGN(std::vector<JobGraph> graphs, BuildJob(planned, std::move(context)));
  const Job job(std::move(graphs));
  RT_ASSIGN(const RestorePlan plan,
            PlanRestore(job.Identities(), kept->checkpoint,
                        DurableJob::AllowsLost(planned, settings)));
  RT_TRY(RehearseRestore(planned, kept->checkpoint, plan));
  for (const std::string& note : plan.notes) say(note);
  say((kept->checkpoint.kind == CheckpointKind::kFinal ? "has read all of its input: "
                                                       : "goes on from ") +
      kept->path);
  return Status::Ok();
}

Status CheckAll(std::string_view sql, const StateSettings& settings) {
  Session session;
  ScriptParser parser(sql);
  std::map<std::string, int> jobs_of_name;
  while (true) {
    RT_ASSIGN(const std::optional<ast::Statement> statement, parser.NextStatement());
    if (!statement) return Status::Ok();
    RT_ASSIGN(const Outcome outcome, session.Execute(*statement));
    const auto* planned = std::get_if<PlannedJob>(&outcome);
    if (planned == nullptr || planned->is_query) continue;
    RT_TRY(CheckJob(*planned, settings, ++jobs_of_name[planned->name]));
  }
}

// The one job of the path that runs.
Result<std::string> RunningJobOf(const std::string& path) {
  RT_ASSIGN(const std::vector<std::string> folders, JobFoldersOf(path));
  std::vector<std::string> running;
  for (const std::string& folder : folders) {
    if (fs::exists(folder + "/control")) running.push_back(folder);
  }
  if (running.size() == 1) return running[0];
  if (running.empty())
    return Status::External("no process runs a job of {}", path).WithErrorCode("RT6005");
  return Status::InvalidArgument("several jobs of {} run: {}", path, fmt::join(running, ", "))
      .WithHint("name one of these folders");
}

Result<std::string> Ask(const AskArguments& arguments, const std::string& verb) {
  RT_ASSIGN(const std::string folder, RunningJobOf(arguments.path));
  std::string request = verb;
  if (!arguments.savepoint.empty())
    request += " " + fs::absolute(arguments.savepoint).lexically_normal().string();
  return AskJob(folder, request);
}

int PrintAnswer(const Result<std::string>& answer) {
  if (!answer.ok()) return PrintError(answer.status(), "", "");
  std::cout << *answer << "\n" << std::flush;
  return 0;
}

}  // namespace

int ListState(const StateListArguments& arguments, std::optional<OutputMode> mode) {
  if (IsCheckpoint(arguments.path))
    return PrintRows({"node", "operator", "bytes", "description"}, NodeRows(arguments.path), mode);
  return PrintRows({"job", "path", "epoch", "taken", "kind", "lanes", "bytes"},
                   CheckpointRows(arguments.path), mode);
}

int CheckState(const StateCheckArguments& arguments) {
  const Result<SqlText> sql = ReadSql(arguments.file, "");
  if (!sql.ok()) return PrintError(sql.status(), "", "");
  const Status status = CheckAll(sql->text, arguments.state);
  return status.ok() ? 0 : PrintError(status, sql->origin, sql->text);
}

int Savepoint(const AskArguments& arguments) { return PrintAnswer(Ask(arguments, "savepoint")); }

int Stop(const AskArguments& arguments) { return PrintAnswer(Ask(arguments, "stop")); }

}  // namespace rowtide
