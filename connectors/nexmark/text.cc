#include "connectors/nexmark/text.h"

#include <charconv>
#include <string>

#include "connectors/nexmark/fields.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// Appends one line field by field.
class LineWriter {
 public:
  LineWriter(NexmarkFormat format, std::string* out)
      : is_json_(format == NexmarkFormat::kJson), out_(out) {}

  void Number(std::string_view name, int64_t value) {
    Begin(name);
    char digits[20];
    out_->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void Text(std::string_view name, std::string_view value) {
    Begin(name);
    Quoted([&] { *out_ += value; });
  }
  void Time(std::string_view name, int64_t time_ms) {
    Begin(name);
    Quoted([&] { AppendTimestamp(time_ms, 0, 3, out_); });
  }
  void End() { *out_ += is_json_ ? "}\n" : "\n"; }

 private:
  void Begin(std::string_view name) {
    if (!is_first_) *out_ += ',';
    if (is_json_) (((*out_ += is_first_ ? "{\"" : "\"") += name) += "\":");
    is_first_ = false;
  }
  template <typename Append>
  void Quoted(Append&& append) {
    if (is_json_) *out_ += '"';
    append();
    if (is_json_) *out_ += '"';
  }

  bool is_json_;
  bool is_first_ = true;
  std::string* out_;
};

void AppendLine(const NexmarkGenerator& generator, NexmarkFormat format, NexmarkKind kind,
                int64_t event, std::string* out) {
  if (kind == NexmarkKind::kBid && format == NexmarkFormat::kCsv) {
    const size_t begin = out->size();
    out->resize(begin + NexmarkGenerator::kBidCsvBytesMax);
    char* const text = out->data() + begin;
    out->resize(begin + static_cast<size_t>(generator.AppendBidCsv(event, text) - text));
    return;
  }
  LineWriter line(format, out);
  VisitEvent(generator, kind, event, line);
  line.End();
}

}  // namespace

int64_t WriteNexmark(const NexmarkGenerator& generator, NexmarkFormat format, NexmarkRange range,
                     const std::function<bool(std::string_view)>& sink) {
  constexpr size_t kBlockBytes = 1 << 20;
  std::string block;
  block.reserve(kBlockBytes + 4096);
  int64_t event = range.first_event;
  for (int64_t left = range.rows; left > 0; ++event) {
    if (generator.KindOf(event) != range.kind) continue;
    AppendLine(generator, format, range.kind, event, &block);
    --left;
    if (block.size() < kBlockBytes && left > 0) continue;
    if (!sink(block)) return event + 1;
    block.clear();
  }
  return event;
}

}  // namespace rowtide
