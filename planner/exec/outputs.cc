#include "planner/exec/outputs.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "connectors/dead_letters.h"
#include "connectors/files/list.h"
#include "connectors/kafka/options.h"
#include "connectors/options.h"
#include "planner/exec/node_operators.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

// A `filesystem` table as it is read.
struct Input {
  std::string table;
  std::string path;
  std::optional<std::string> regex;
  bool watched = false;
};

// A topic of dead letters.
struct OutputTopic {
  std::string name;
  std::string brokers;
  std::string purpose;
};

using FileId = std::pair<dev_t, ino_t>;

FileId IdOf(const struct stat& status) { return {status.st_dev, status.st_ino}; }
std::optional<FileId> IdOf(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return IdOf(status);
}

std::string Canonical(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  std::string text = error ? path : canonical.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

bool IsWithin(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

bool HasHiddenPart(const std::string& relative) {
  for (const fs::path& part : fs::path(relative)) {
    const std::string name = part.string();
    if (name.starts_with('.') || name.starts_with('_')) return true;
  }
  return false;
}

// Would a file of that name be among those that the source lists?
bool WouldRead(const Input& input, const std::string& path) {
  const std::string source = Canonical(input.path), file = Canonical(path);
  if (IsWithin(file, source)) return !HasHiddenPart(file.substr(source.size()));
  if (input.path.find_first_of("*?[") == std::string::npos) return false;
  const std::string pattern = fs::absolute(input.path).string();
  for (fs::path part = file; part.has_relative_path(); part = part.parent_path()) {
    if (::fnmatch(pattern.c_str(), part.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) return true;
  }
  return false;
}

class Check {
 public:
  Check(const PlannedJob& job, const std::vector<OutputFile>& beside) : job_(job), beside_(beside) {
    for (const ExecPointer& root : job.plan.roots) Collect(*root);
  }

  Status Run() {
    if (standard_inputs_ > 1) {
      return Status::InvalidArgument(
                 "the plan reads standard input ('path' = '-') in {} places, and it can be read "
                 "once only",
                 standard_inputs_)
          .WithHint("keep it in a file first: cat > rows.csv");
    }
    for (const OutputFile& file : beside_) RT_TRY(NotAmongOutputs(file));
    files_.insert(files_.end(), beside_.begin(), beside_.end());
    for (const OutputFile& file : files_) RT_TRY(NotStandardOutput(file));
    for (const Input& input : inputs_) RT_TRY(OfInput(input));
    for (const TableSpec& scan : scans_) RT_TRY(OfTopics(scan));
    return Status::Ok();
  }

 private:
  void Collect(const ExecNode& node) {
    if (!visited_.insert(&node).second) return;
    if (const auto* scan = node.as<PhysicalScan>()) AddScan(*scan);
    if (const auto* sink = node.as<PhysicalSink>()) AddSink(*sink);
    const auto conflicts = job_.conflict_paths.find(&node);
    if (conflicts != job_.conflict_paths.end())
      files_.push_back({LocalPath(conflicts->second), "samples of conflicts"});
    for (const ExecPointer& input : node.inputs) Collect(*input);
  }

  void AddScan(const PhysicalScan& scan) {
    const std::string& name = scan.table->path.name;
    const TableSpec spec = TableSpecOf(*scan.table, scan.hint_options);
    if (job_.options.Get("rowtide.bad-data." + name) == "dead-letter") {
      const std::string letters = job_.options.Get("rowtide.dead-letter." + name);
      const std::string purpose = "the dead letters of " + Quote(name);
      if (const std::optional<std::string> topic = LetterTopicOf(letters)) {
        topics_.push_back({*topic, BrokersOf(spec), purpose});
      } else if (!letters.empty()) {
        files_.push_back({LocalPath(letters), purpose});
      }
    }
    if (IsKafka(spec)) scans_.push_back(spec);
    if (scan.table->connector() != "filesystem") return;
    Input input;
    input.table = name;
    input.path = LocalPath(TextOption(spec, "path").value_or(""));
    input.regex = TextOption(spec, "source.path.regex-pattern");
    input.watched = TextOption(spec, "source.monitor-interval").has_value();
    if (input.path == kStandardStream) ++standard_inputs_;
    if (!input.path.empty() && input.path != kStandardStream) inputs_.push_back(std::move(input));
  }

  static std::string BrokersOf(const TableSpec& table) {
    return TextOption(table, "properties.bootstrap.servers").value_or("");
  }

  // What is wrong with the table's options is the source's to say.
  Status OfTopics(const TableSpec& scan) const {
    const Result<KafkaSourceSpec> read = ReadKafkaSource(scan);
    if (!read.ok()) return Status::Ok();
    for (const OutputTopic& topic : topics_) {
      if (!read->topics.Has(topic.name) || !AreSameBrokers(topic.brokers, BrokersOf(scan)))
        continue;
      return Status::InvalidArgument("{} would go to topic {}, which table {} reads", topic.purpose,
                                     Quote(topic.name), scan.name)
          .WithErrorCode("RT5002")
          .WithHint("name a topic that the job does not read");
    }
    return Status::Ok();
  }

  void AddSink(const PhysicalSink& sink) {
    if (sink.table->connector() != "filesystem") return;
    const TableSpec spec = TableSpecOf(*sink.table, sink.hint_options);
    const std::string path = LocalPath(TextOption(spec, "path").value_or(""));
    if (!path.empty() && path != kStandardStream)
      folders_.push_back({path, "the rows of " + Quote(sink.table->path.name)});
  }

  Status OfInput(const Input& input) const {
    struct stat stream;
    const bool prints_to_file = ::fstat(STDOUT_FILENO, &stream) == 0 && S_ISREG(stream.st_mode);
    if (files_.empty() && !input.watched && !prints_to_file) return Status::Ok();
    std::set<FileId> read;
    // What is wrong with the path is the source's to say.
    if (const auto listed = ListFiles(input.path, input.regex); listed.ok()) {
      for (const FileEntry& file : *listed) {
        if (const auto id = IdOf(file.path)) read.insert(*id);
      }
    }
    for (const OutputFile& file : files_) {
      const std::optional<FileId> id = IdOf(file.path);
      const bool is_read = id ? read.contains(*id) : WouldRead(input, file.path);
      if (is_read) return Refuse(input, file);
    }
    for (const OutputFile& folder : folders_) {
      if (input.watched && WouldRead(input, folder.path + "/part-")) return Refuse(input, folder);
    }
    if (prints_to_file && read.contains(IdOf(stream)))
      return Refuse(input, {"standard output", "what the job prints"});
    return Status::Ok();
  }

  Status NotAmongOutputs(const OutputFile& output) const {
    const auto refuse = [&](const OutputFile& other) {
      return Status::InvalidArgument("{} would go to {}, where the job writes {}", output.purpose,
                                     output.path, other.purpose)
          .WithErrorCode("RT5002")
          .WithHint("name a file of its own");
    };
    const std::string path = Canonical(output.path);
    for (const OutputFile& file : files_) {
      const std::optional<FileId> id = IdOf(file.path);
      if (Canonical(file.path) == path || (id && id == IdOf(output.path))) return refuse(file);
    }
    for (const OutputFile& folder : folders_) {
      if (IsWithin(path, Canonical(folder.path))) return refuse(folder);
    }
    return Status::Ok();
  }

  // Opened twice, the file would have its lines written over each other.
  static Status NotStandardOutput(const OutputFile& output) {
    struct stat file, stream;
    if (::stat(output.path.c_str(), &file) != 0 || ::fstat(STDOUT_FILENO, &stream) != 0)
      return Status::Ok();
    if (!S_ISREG(file.st_mode) || IdOf(file) != IdOf(stream)) return Status::Ok();
    return Status::InvalidArgument("{} would go into the file of standard output", output.purpose)
        .WithErrorCode("RT5002")
        .WithHint("name a file of its own");
  }

  static Status Refuse(const Input& input, const OutputFile& output) {
    return Status::InvalidArgument("{} would go to {}, which table {} reads ({})", output.purpose,
                                   output.path, Quote(input.table), input.path)
        .WithErrorCode("RT5002")
        .WithHint("name a file or folder outside of what the job reads");
  }

  const PlannedJob& job_;
  const std::vector<OutputFile>& beside_;
  std::set<const ExecNode*> visited_;
  std::vector<Input> inputs_;
  int standard_inputs_ = 0;
  std::vector<OutputFile> files_;
  std::vector<OutputFile> folders_;
  std::vector<OutputTopic> topics_;
  std::vector<TableSpec> scans_;  // of topics
};

}  // namespace

Status CheckOutputs(const PlannedJob& job, const std::vector<OutputFile>& beside) {
  return Check(job, beside).Run();
}

}  // namespace rowtide
