// Nexmark events as lines of text, for `rowtide bench generate`.
//
//   csv    1001,1002,345,Google,https://…,2026-01-01 00:00:00.000,abc
//   json   {"auction":1001,"bidder":1002,"price":345,…,"dateTime":"2026-01-01 00:00:00.000",…}
//
// Without quotes and escapes in csv, for no text of an event needs them. One thread.
#pragma once

#include <functional>
#include <string_view>

#include "connectors/nexmark/generator.h"

namespace rowtide {

enum class NexmarkFormat : uint8_t { kCsv, kJson };

struct NexmarkRange {
  NexmarkKind kind = NexmarkKind::kBid;
  int64_t first_event = 0;
  int64_t rows = 0;  // of that kind, beginning with the first one at or after `first_event`
};

// Gives the rows to `sink` in blocks of whole lines. Stops early when the sink returns false.
// Returns the event number after the last row.
int64_t WriteNexmark(const NexmarkGenerator& generator, NexmarkFormat format, NexmarkRange range,
                     const std::function<bool(std::string_view)>& sink);

}  // namespace rowtide
