#include "cli/bench.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cli/error.h"
#include "connectors/nexmark/text.h"

namespace rowtide {

namespace {

NexmarkKind KindByName(std::string_view name) {
  if (name == "person") return NexmarkKind::kPerson;
  return name == "auction" ? NexmarkKind::kAuction : NexmarkKind::kBid;
}

Status WriteEvents(const GenerateArguments& arguments, std::FILE* out) {
  NexmarkOptions options;
  options.seed = arguments.seed;
  const NexmarkFormat format =
      arguments.format == "json" ? NexmarkFormat::kJson : NexmarkFormat::kCsv;
  bool written = true;
  WriteNexmark(NexmarkGenerator(options), format,
               {KindByName(arguments.kind), arguments.first_event, arguments.rows},
               [&](std::string_view lines) {
                 written = std::fwrite(lines.data(), 1, lines.size(), out) == lines.size();
                 return written;
               });
  if (written && std::fflush(out) == 0) return Status::Ok();
  return Status::External("{} cannot be written: {}", arguments.file, std::strerror(errno));
}

}  // namespace

int GenerateEvents(const GenerateArguments& arguments) {
  std::FILE* out = arguments.file == "-" ? stdout : std::fopen(arguments.file.c_str(), "wb");
  if (out == nullptr) {
    return PrintError(
        Status::External("{} cannot be written: {}", arguments.file, std::strerror(errno)), "", "");
  }
  const Status status = WriteEvents(arguments, out);
  if (out != stdout) std::fclose(out);
  return status.ok() ? 0 : PrintError(status, "", "");
}

}  // namespace rowtide
