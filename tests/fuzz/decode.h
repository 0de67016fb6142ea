// What holds for every format: the same bytes give the same rows and the same error wherever the
// blocks are cut, and what is read is emitted or rejected.
//
//   data   | options | how blocks are cut, 3 bytes | text of the file |
#pragma once

#include <cstring>
#include <vector>

#include "connectors/formats/formats.h"
#include "engine/value_text.h"
#include "tests/fuzz/fuzz.h"

namespace rowtide::fuzz {

struct Decoded {
  std::string rows;
  std::string error;
  int64_t emitted = 0;
};

// Feeds a decoder as the file source does: what it leaves comes again with more behind it.
// `cut()` is the size of the next piece.
template <typename Cut>
Decoded Decode(const TableSpec& table, const ConnectorContext& context, std::string_view text,
               const Cut& cut) {
  Decoded decoded;
  Result<std::unique_ptr<Rejects>> rejects = Rejects::Create(table.name, context);
  if (!rejects.ok()) Fail("rejects can be made", rejects.status().ToString());
  std::vector<int> columns;
  for (int i = 0; i < table.schema.size(); ++i) columns.push_back(i);
  Result<std::unique_ptr<Decoder>> made = CreateDecoder(table, columns, context, rejects->get());
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
        AppendScriptRow(batch, row, table.schema, &decoded.rows);
        decoded.rows += '\n';
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

inline void CheckDecoding(const TableSpec& table, Choices& choices) {
  const size_t cuts[3] = {1 + choices.Below(16), 1 + choices.Below(64), 1 + choices.Below(256)};
  const std::string_view text = choices.Rest();
  for (const BadData policy : {BadData::kFail, BadData::kSkip}) {
    Counters counters;
    ConnectorContext context;
    context.counters = &counters;
    context.settings.bad_data = policy;
    const Decoded whole = Decode(table, context, text, [&] { return text.size() + 1; });
    if (policy == BadData::kSkip &&
        *counters.Find("records_read") != whole.emitted + *counters.Find("rejected"))
      Fail("records read are rows emitted and records rejected", whole.rows);
    Counters others;
    context.counters = &others;
    size_t next = 0;
    const Decoded cut = Decode(table, context, text, [&] { return cuts[next++ % 3]; });
    if (whole.rows != cut.rows) Fail("cuts change no row", whole.rows, cut.rows);
    if (whole.error != cut.error) Fail("cuts change no error", whole.error, cut.error);
  }
}

}  // namespace rowtide::fuzz
