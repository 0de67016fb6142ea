// A small fuzzer for compilers without libFuzzer: runs the seeds, then mutations of them, the same
// in every run.
//
//   fuzz_csv [-seconds=20] [-seed=1] [-max_len=4096] FILE-OR-FOLDER...
//
// It knows nothing of coverage: it is the check that CI repeats, not the search. Ends with 0 and a
// line that says how many inputs ran. The input at hand is written to the file that -crash names
// before the process ends of it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.h"

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSlow(2);

struct Arguments {
  double seconds = 20;
  uint64_t seed = 1;
  size_t length_max = 4096;
  std::string crash = "fuzz-crash";
  std::vector<std::string> paths;
};

Bytes current;
std::string crash_path;

// Async-signal-safe but for the stream, which nothing uses any more.
void KeepInput() {
  std::FILE* file = std::fopen(crash_path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(current.data(), 1, current.size(), file);
  std::fclose(file);
  std::fprintf(stderr, "the input is in %s\n", crash_path.c_str());
}

void OnSignal(int number) {
  KeepInput();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

bool Run(const Bytes& input) {
  current = input;
  const auto begin = Clock::now();
  LLVMFuzzerTestOneInput(current.data(), current.size());
  if (Clock::now() - begin <= kSlow) return true;
  std::fprintf(stderr, "an input took more than two seconds\n");
  KeepInput();
  return false;
}

std::vector<Bytes> ReadSeeds(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) seeds.push_back({'0'});
  return seeds;
}

class Mutator {
 public:
  Mutator(std::vector<Bytes> seeds, uint64_t seed, size_t length_max)
      : seeds_(std::move(seeds)), random_(seed), length_max_(length_max) {}

  Bytes Next() {
    Bytes input = seeds_[Below(seeds_.size())];
    for (size_t changes = 1 + Below(6); changes > 0; --changes) Change(&input);
    if (input.size() > length_max_) input.resize(length_max_);
    return input;
  }

 private:
  size_t Below(size_t n) { return static_cast<size_t>(random_() % n); }
  ptrdiff_t Place(const Bytes& input) { return static_cast<ptrdiff_t>(Below(input.size() + 1)); }

  void Change(Bytes* input) {
    static constexpr char kText[] = "\0\n\r\t \"'`\\,;:()[]{}<>=-+*/.%_0129aZ\x7f\x80\xc3\xff";
    static constexpr std::string_view kBytes(kText, sizeof(kText) - 1);
    switch (Below(7)) {
      case 0:  // another byte
        if (!input->empty()) (*input)[Below(input->size())] = static_cast<uint8_t>(random_());
        return;
      case 1:  // a byte that means something
        if (!input->empty())
          (*input)[Below(input->size())] = static_cast<uint8_t>(kBytes[Below(kBytes.size())]);
        return;
      case 2:
        input->insert(input->begin() + Place(*input),
                      static_cast<uint8_t>(kBytes[Below(kBytes.size())]));
        return;
      case 3: {  // a piece is left out
        const ptrdiff_t begin = Place(*input);
        const ptrdiff_t most = static_cast<ptrdiff_t>(input->size()) - begin;
        input->erase(input->begin() + begin,
                     input->begin() + begin +
                         std::min<ptrdiff_t>(most, 1 + static_cast<ptrdiff_t>(Below(8))));
        return;
      }
      case 4: {  // a piece of another seed
        const Bytes& other = seeds_[Below(seeds_.size())];
        const ptrdiff_t begin = Place(other);
        const ptrdiff_t most = static_cast<ptrdiff_t>(other.size()) - begin;
        const ptrdiff_t end = begin + std::min<ptrdiff_t>(most, static_cast<ptrdiff_t>(Below(40)));
        input->insert(input->begin() + Place(*input), other.begin() + begin, other.begin() + end);
        return;
      }
      case 5: {  // a piece once more
        const ptrdiff_t begin = Place(*input);
        const ptrdiff_t most = static_cast<ptrdiff_t>(input->size()) - begin;
        const Bytes piece(
            input->begin() + begin,
            input->begin() + begin + std::min<ptrdiff_t>(most, static_cast<ptrdiff_t>(Below(24))));
        input->insert(input->begin() + Place(*input), piece.begin(), piece.end());
        return;
      }
      default:  // one bit
        if (!input->empty()) (*input)[Below(input->size())] ^= static_cast<uint8_t>(1u << Below(8));
    }
  }

  std::vector<Bytes> seeds_;
  std::mt19937_64 random_;
  size_t length_max_;
};

Arguments Read(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    if (value.starts_with("-seconds=")) {
      arguments.seconds = std::atof(value.c_str() + 9);
    } else if (value.starts_with("-seed=")) {
      arguments.seed = std::strtoull(value.c_str() + 6, nullptr, 10);
    } else if (value.starts_with("-max_len=")) {
      arguments.length_max = std::strtoull(value.c_str() + 9, nullptr, 10);
    } else if (value.starts_with("-crash=")) {
      arguments.crash = value.substr(7);
    } else {
      arguments.paths.push_back(value);
    }
  }
  return arguments;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments = Read(count, values);
  crash_path = arguments.crash;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(KeepInput);
#else
  std::signal(SIGSEGV, OnSignal);
#endif
  std::signal(SIGABRT, OnSignal);
  const std::vector<Bytes> seeds = ReadSeeds(arguments.paths);
  const auto begin = Clock::now();
  int64_t inputs = 0;
  for (const Bytes& seed : seeds) {
    if (!Run(seed)) return 1;
    ++inputs;
  }
  Mutator mutator(seeds, arguments.seed, arguments.length_max);
  while (std::chrono::duration<double>(Clock::now() - begin).count() < arguments.seconds) {
    if (!Run(mutator.Next())) return 1;
    ++inputs;
  }
  std::printf("%lld inputs from %zu seeds\n", static_cast<long long>(inputs), seeds.size());
  return 0;
}
