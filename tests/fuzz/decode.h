// What holds for every format: the same bytes give the same rows and the same error wherever the
// blocks are cut and whichever way a decoder takes, and what is read is emitted or rejected.
//
//   data   | options | how blocks are cut, 3 bytes | text of the file |
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "connectors/formats/formats.h"
#include "engine/value_text.h"
#include "tests/fuzz/fuzz.h"

namespace rowtide::fuzz {

// A decoder of the columns that the schema of Decode names.
using MakeDecoder =
    std::function<Result<std::unique_ptr<Decoder>>(const ConnectorContext& context, Rejects*)>;

struct Decoded {
  std::string rows;  // each with its place
  std::string error;
  int64_t emitted = 0;
};

// Feeds a decoder as the file source does: what it leaves comes again with more behind it.
// `cut()` is the size of the next piece.
template <typename Cut>
Decoded Decode(const MakeDecoder& make, const Schema& schema, const ConnectorContext& context,
               std::string_view text, const Cut& cut) {
  Decoded decoded;
  Result<std::unique_ptr<Rejects>> rejects = Rejects::Create("t", context);
  if (!rejects.ok()) Fail("rejects can be made", rejects.status().ToString());
  (*rejects)->BeginFile("file");
  Result<std::unique_ptr<Decoder>> made = make(context, rejects->get());
  if (!made.ok()) Fail("a decoder can be made", made.status().ToString());
  Decoder& decoder = **made;
  Status status = decoder.Begin({}, "");
  std::shared_ptr<Block> block;
  size_t begin = 0, end = 0, fed = 0;
  bool at_end = false;
  while (status.ok()) {
    if (begin < end || at_end) {
      const Result<size_t> taken = decoder.Decode(block, begin, end, at_end);
      status = taken.status();
      if (status.ok() && *taken > end - begin) Fail("a decoder takes what there is");
      if (status.ok()) begin += *taken;
    }
    const bool over = at_end && begin == end;
    if (decoder.rows() == kBatchRows || over || !status.ok()) {
      const RowBatch batch = decoder.Finish();
      for (int row = 0; row < batch.rows; ++row) {
        const RowPlace& place = reinterpret_cast<const RowPlace*>(batch.places->data())[row];
        AppendScriptRow(batch, row, schema, &decoded.rows);
        decoded.rows += fmt::format(" line {}, byte {}\n", place.line, place.byte);
      }
      decoded.emitted += batch.rows;
      if (over) break;
      if (begin < end && decoder.rows() == 0 && batch.rows == kBatchRows) continue;
    }
    if (!status.ok()) break;
    if (at_end) Fail("nothing is left at the end of a file");
    const size_t rest = end - begin;
    const size_t more = std::min(cut(), text.size() - fed);
    auto next = std::make_shared<Block>(rest + more);
    if (rest > 0) std::memcpy(next->data(), block->data() + begin, rest);
    std::memcpy(next->data() + rest, text.data() + fed, more);
    at_end = fed == text.size();
    fed += more;
    block = std::move(next);
    begin = 0;
    end = rest + more;
  }
  if (!status.ok()) {
    decoded.error = status.ToString();
    if (status.code() == StatusCode::kInternal)
      Fail("decoding has no internal error", decoded.error);
  }
  return decoded;
}

inline std::string TextOf(const Counters& counters) {
  std::string text;
  for (const Counters::Named& counter : counters.all())
    text += fmt::format("{} {}\n", counter.name, *counter.value);
  return text;
}

// The ways read whole text; the first one also reads it in pieces.
inline void CheckDecoding(const Schema& schema, std::span<const MakeDecoder> ways,
                          Choices& choices) {
  const size_t cuts[3] = {1 + choices.Below(16), 1 + choices.Below(64), 1 + choices.Below(256)};
  const std::string_view text = choices.Rest();
  for (const BadData policy : {BadData::kFail, BadData::kSkip}) {
    ConnectorContext context;
    context.settings.bad_data = policy;
    Counters counters;
    context.counters = &counters;
    const auto at_once = [&] { return text.size() + 1; };
    const Decoded whole = Decode(ways.front(), schema, context, text, at_once);
    if (policy == BadData::kSkip &&
        *counters.Find("records_read") != whole.emitted + *counters.Find("rejected"))
      Fail("records read are rows emitted and records rejected", whole.rows);
    const std::string counted = TextOf(counters);
    for (const MakeDecoder& way : ways.subspan(1)) {
      Counters others;
      context.counters = &others;
      const Decoded other = Decode(way, schema, context, text, at_once);
      if (whole.rows != other.rows) Fail("all ways read the same rows", whole.rows, other.rows);
      if (whole.error != other.error) Fail("and the same error", whole.error, other.error);
      if (counted != TextOf(others)) Fail("and count the same", counted, TextOf(others));
    }
    Counters others;
    context.counters = &others;
    size_t next = 0;
    const Decoded cut =
        Decode(ways.front(), schema, context, text, [&] { return cuts[next++ % 3]; });
    if (whole.rows != cut.rows) Fail("cuts change no row", whole.rows, cut.rows);
    if (whole.error != cut.error) Fail("cuts change no error", whole.error, cut.error);
  }
}

}  // namespace rowtide::fuzz
