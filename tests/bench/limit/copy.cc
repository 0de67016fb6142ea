// The limit of a copy, csv to csv: Nexmark q0, and q1 with every price times 0.908.
//
//   limit_copy copy|decimal BIDS.csv > COPY.csv
//
//   1001,1002,345,Google,https://…,2026-01-01 00:00:00.120,abc
//   1001,1002,345,Google,"https://…","2026-01-01 00:00:00.12","abc"      copy
//   1001,1002,313.26,"2026-01-01 00:00:00.12","abc"                      decimal
//
// Flink quotes texts of more than 24 letters or with a blank, and drops the last zeros of
// fractions. The program knows which columns are long, and that the extra text always is.
#include <algorithm>
#include <charconv>

#include "tests/bench/limit/bids.h"

namespace rowtide::limit {
namespace {

class CsvOut {
 public:
  CsvOut() : buffer_(HugeBytes(kBufferBytes + kRowBytesMax)), out_(buffer_) {}

  void AppendCopy(const Bid& bid) {
    Copy(bid.begin, bid.marks[3] + 1);
    *out_++ = '"';
    Copy(bid.marks[3] + 1, bid.marks[4]);
    EndRow(bid);
  }
  void AppendDecimal(const Bid& bid) {
    Copy(bid.begin, bid.marks[1] + 1);
    AppendThousandths(uint64_t{908} * bid.price());
    std::memcpy(out_, ",\"", 2);
    out_ += 2;
    EndTimeAndExtra(bid);
  }
  void Flush() {
    for (const char* begin = buffer_; begin < out_;) {
      const ssize_t written = write(STDOUT_FILENO, begin, static_cast<size_t>(out_ - begin));
      if (written < 0) Fail("cannot write");
      begin += written;
    }
    out_ = buffer_;
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 20;
  static constexpr size_t kRowBytesMax = 1024;

  // Up to 31 bytes behind the end are overwritten.
  void Copy(const char* from, const char* end) {
    char* const out_end = out_ + (end - from);
    for (char* out = out_; out < out_end; out += 32, from += 32) std::memcpy(out, from, 32);
    out_ = out_end;
  }

  // As BigDecimal's toString after stripTrailingZeros: 313.26, 908, 2.27E+3.
  void AppendThousandths(uint64_t value) {
    const uint64_t whole = value / 1000;
    const auto fraction = static_cast<unsigned>(value % 1000);
    if (fraction == 0 && whole % 10 == 0) return AppendScientific(whole);
    out_ = std::to_chars(out_, out_ + 20, whole).ptr;
    if (fraction == 0) return;
    const char digits[] = {'.', static_cast<char>('0' + fraction / 100),
                           static_cast<char>('0' + fraction / 10 % 10),
                           static_cast<char>('0' + fraction % 10)};
    std::memcpy(out_, digits, 4);
    out_ += fraction % 10 != 0 ? 4 : fraction % 100 != 0 ? 3 : 2;
  }

  void AppendScientific(uint64_t whole) {
    char digits[24];
    char* end = std::to_chars(digits, digits + 20, whole).ptr;
    const auto exponent = end - digits - 1;
    while (end[-1] == '0') --end;
    *out_++ = digits[0];
    if (end - digits > 1) *out_++ = '.';
    out_ = std::copy(digits + 1, end, out_);
    std::memcpy(out_, "E+", 2);
    out_ = std::to_chars(out_ + 2, out_ + 6, exponent).ptr;
  }

  void EndRow(const Bid& bid) {
    std::memcpy(out_, "\",\"", 3);
    out_ += 3;
    EndTimeAndExtra(bid);
  }

  void EndTimeAndExtra(const Bid& bid) {
    const char* time = bid.marks[4] + 1;
    std::memcpy(out_, time, 32);
    int bytes = kTimeBytes;
    if (time[22] == '0') bytes = time[21] != '0' ? 22 : time[20] != '0' ? 21 : 19;
    std::memcpy(out_ + bytes, "\",\"", 3);
    out_ += bytes + 3;
    if (bid.marks[6] - bid.marks[5] - 1 <= 24) Fail("a short extra text");
    Copy(bid.marks[5] + 1, bid.marks[6]);
    std::memcpy(out_, "\"\n", 2);
    out_ += 2;
    if (out_ > buffer_ + kBufferBytes) Flush();
  }

  char* buffer_;
  char* out_;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  const auto start = std::chrono::steady_clock::now();
  const std::string_view job = arguments == 3 ? argument[1] : "";
  if (job != "copy" && job != "decimal") Fail("usage: limit_copy copy|decimal BIDS.csv");
  const BidFile file(argument[2]);
  CsvOut out;
  size_t all_rows = 0;
  const bool is_decimal = job == "decimal";
  file.ForEachBatch([&](const Bid* bids, int rows) {
    for (int i = 0; i < rows; ++i) {
      is_decimal ? out.AppendDecimal(bids[i]) : out.AppendCopy(bids[i]);
    }
    all_rows += static_cast<size_t>(rows);
  });
  out.Flush();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "rows=%zu seconds=%.4f\n", all_rows, seconds.count());
  _exit(0);
}
