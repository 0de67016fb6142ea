#include "planner/exec/conflicts.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

namespace rowtide {
namespace {

constexpr std::string_view kFamily = "rowtide.conflicts.";

void CollectDeduplicates(const ExecNode& node, std::set<const ExecNode*>* found) {
  if (node.as<ExecDeduplicate>()) found->insert(&node);
  for (const ExecPointer& input : node.inputs) CollectDeduplicates(*input, found);
}

void CollectTables(const ExecNode& node, std::set<std::string>* tables) {
  if (const auto* scan = node.as<PhysicalScan>()) tables->insert(scan->table->path.ToString());
  for (const ExecPointer& input : node.inputs) CollectTables(*input, tables);
}

// What two plans of one deduplication have in common, whatever columns they need.
std::string SignatureOf(const ExecNode& node) {
  const auto& keep = *node.as<ExecDeduplicate>();
  std::set<std::string> parts;
  CollectTables(node, &parts);
  for (const int key : keep.keys) parts.insert("key " + node.schema.name(key));
  std::string signature = keep.keeps_last ? "last" : "first";
  if (keep.rowtime) signature += " by " + node.schema.name(keep.order_column);
  for (const std::string& part : parts) signature += "\n" + part;
  return signature;
}

class Finder {
 public:
  Finder(const ExecPlan& plan, const ViewPlanner& plan_view) : plan_(plan), plan_view_(plan_view) {}

  Status Add(const std::string& name, const std::string& path) {
    bool is_sink = false;
    for (const ExecPointer& root : plan_.roots) {
      const auto* sink = root->as<PhysicalSink>();
      if (!sink || sink->table->path.name != name) continue;
      is_sink = true;
      std::set<const ExecNode*> below;
      CollectDeduplicates(*root, &below);
      for (const ExecNode* node : below) paths_[node] = path;
    }
    return is_sink ? Status::Ok() : AddView(name, path);
  }

  ConflictPaths Take() { return std::move(paths_); }

 private:
  Status AddView(const std::string& name, const std::string& path) {
    RT_ASSIGN(const std::optional<ExecPlan> view, plan_view_(name));
    if (!view) {
      return Status::InvalidArgument("there is no view {}, which {} names", Quote(name),
                                     Quote(std::string(kFamily) + name))
          .WithErrorCode("RT2001")
          .WithHint(
              "the name is that of a view whose query deduplicates, or of the table that an "
              "INSERT writes");
    }
    std::set<const ExecNode*> of_view;
    for (const ExecPointer& root : view->roots) CollectDeduplicates(*root, &of_view);
    if (of_view.empty()) {
      return Status::InvalidArgument("the view {}, which {} names, has no deduplication",
                                     Quote(name), Quote(std::string(kFamily) + name))
          .WithHint("EXPLAIN shows its plan: a Deduplicate node is needed");
    }
    std::set<std::string> signatures;
    for (const ExecNode* node : of_view) signatures.insert(SignatureOf(*node));
    std::set<const ExecNode*> of_job;
    for (const ExecPointer& root : plan_.roots) CollectDeduplicates(*root, &of_job);
    for (const ExecNode* node : of_job) {
      if (signatures.contains(SignatureOf(*node))) paths_[node] = path;
    }
    return Status::Ok();
  }

  const ExecPlan& plan_;
  const ViewPlanner& plan_view_;
  ConflictPaths paths_;
};

class ConflictFile final : public ConflictLog {
 public:
  ConflictFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  ~ConflictFile() override { std::fclose(file_); }
  Status Write(const std::string& line) override {
    const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size() &&
                         std::fflush(file_) == 0;  // samples are few
    if (written) return Status::Ok();
    return Status::External("cannot write {}: {}", path_, std::strerror(errno));
  }

 private:
  std::FILE* file_;
  std::string path_;
};

}  // namespace

Result<ConflictPaths> FindConflictPaths(const ExecPlan& plan, const Options& options,
                                        const ViewPlanner& plan_view) {
  Finder finder(plan, plan_view);
  for (const auto& [key, value] : options.all()) {
    if (key.starts_with(kFamily)) RT_TRY(finder.Add(key.substr(kFamily.size()), value));
  }
  return finder.Take();
}

Result<std::unique_ptr<ConflictLog>> OpenConflictLog(const std::string& path, bool begins) {
  std::FILE* file = std::fopen(path.c_str(), begins ? "wbe" : "abe");
  // Lines of several lanes follow each other.
  if (file != nullptr && begins) file = std::freopen(path.c_str(), "abe", file);
  if (file == nullptr) {
    return Status::External("cannot write {}: {}", path, std::strerror(errno));
  }
  return std::unique_ptr<ConflictLog>(std::make_unique<ConflictFile>(file, path));
}

}  // namespace rowtide
