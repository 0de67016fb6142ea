#include "cli/bench.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cli/error.h"
#include "connectors/nexmark/generator.h"

namespace rowtide {

namespace {

Status WriteBids(const GenerateArguments& arguments, std::FILE* out) {
  NexmarkOptions options;
  options.seed = arguments.seed;
  bool written = true;
  NexmarkGenerator(options).WriteBidsCsv(
      arguments.first_event, arguments.rows, [&](std::string_view lines) {
        written = std::fwrite(lines.data(), 1, lines.size(), out) == lines.size();
        return written;
      });
  if (written && std::fflush(out) == 0) return Status::Ok();
  return Status::External("{} cannot be written: {}", arguments.file, std::strerror(errno));
}

}  // namespace

int GenerateBids(const GenerateArguments& arguments) {
  std::FILE* out = arguments.file == "-" ? stdout : std::fopen(arguments.file.c_str(), "wb");
  if (out == nullptr) {
    return PrintError(
        Status::External("{} cannot be written: {}", arguments.file, std::strerror(errno)), "", "");
  }
  const Status status = WriteBids(arguments, out);
  if (out != stdout) std::fclose(out);
  return status.ok() ? 0 : PrintError(status, "", "");
}

}  // namespace rowtide
