#include "operators/expressions/hashes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rowtide {
namespace {

std::string Hex(const uint8_t* bytes, size_t size) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kHex[bytes[i] >> 4];
    text += kHex[bytes[i] & 15];
  }
  return text;
}

template <typename Word>
Word LoadBig(const uint8_t* at) {
  Word word = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) word = static_cast<Word>(word << 8) | at[i];
  return word;
}

template <typename Word>
std::string HexOfWords(const Word* words, size_t bytes) {
  std::vector<uint8_t> all;
  for (size_t i = 0; i * sizeof(Word) < bytes; ++i) {
    for (size_t b = sizeof(Word); b-- > 0;)
      all.push_back(static_cast<uint8_t>(words[i] >> (8 * b)));
  }
  return Hex(all.data(), bytes);
}

// The message with its padding: 0x80, zeros, and its length in bits in the last 8 or 16 bytes of a
// block.
std::vector<uint8_t> Padded(std::string_view bytes, size_t block, size_t length_bytes,
                            bool little_endian) {
  std::vector<uint8_t> message(bytes.begin(), bytes.end());
  message.push_back(0x80);
  while ((message.size() + length_bytes) % block != 0) message.push_back(0);
  message.resize(message.size() + length_bytes - 8, 0);
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (int i = 0; i < 8; ++i)
    message.push_back(static_cast<uint8_t>(bits >> (8 * (little_endian ? i : 7 - i))));
  return message;
}

// SHA-2's constants are the first bits of the fractional parts of roots of primes, found here by
// integer Newton steps in 128 bits: floor(frac(root) * 2^64).
using uint128 = unsigned __int128;

bool IsPrime(uint32_t n) {
  for (uint32_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

// A bit a step: the largest r (below 2^68) with r^power <= prime * 2^(64 * power), compared in
// 32-bit limbs.
bool PowerAtMost(uint128 root, int power, uint32_t prime) {
  std::array<uint32_t, 12> product{};
  product[0] = 1;
  std::array<uint32_t, 4> limbs{};
  for (size_t i = 0; i < 4; ++i) limbs[i] = static_cast<uint32_t>(root >> (32 * i));
  for (int p = 0; p < power; ++p) {
    std::array<uint32_t, 12> next{};
    for (size_t i = 0; i < 8; ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; j < 4; ++j) {
        const uint64_t sum = uint64_t{product[i]} * limbs[j] + next[i + j] + carry;
        next[i + j] = static_cast<uint32_t>(sum);
        carry = sum >> 32;
      }
      if (i + 4 < 12) next[i + 4] = static_cast<uint32_t>(next[i + 4] + carry);
    }
    product = next;
  }
  const size_t top = static_cast<size_t>(2 * power);
  for (size_t i = 11; i > top; --i) {
    if (product[i] != 0) return false;
  }
  if (product[top] != prime) return product[top] < prime;
  for (size_t i = 0; i < top; ++i) {
    if (product[i] != 0) return false;
  }
  return true;
}

uint64_t RootFraction(uint32_t prime, int power) {
  uint128 root = 0;
  for (int bit = 68; bit >= 0; --bit) {
    const uint128 candidate = root | (uint128{1} << bit);
    if (PowerAtMost(candidate, power, prime)) root = candidate;
  }
  return static_cast<uint64_t>(root);
}

struct Constants {
  std::array<uint64_t, 80> cube;    // of the first 80 primes
  std::array<uint64_t, 16> square;  // of the first 16
};

const Constants& Roots() {
  static const Constants roots = [] {
    Constants constants{};
    uint32_t n = 2;
    for (size_t i = 0; i < 80; ++n) {
      if (!IsPrime(n)) continue;
      constants.cube[i] = RootFraction(n, 3);
      if (i < 16) constants.square[i] = RootFraction(n, 2);
      ++i;
    }
    return constants;
  }();
  return roots;
}

// What differs between SHA-256 and SHA-512: the word, the rounds, the rotations.
template <typename Word>
struct Shape;
template <>
struct Shape<uint32_t> {
  static constexpr int kRounds = 64;
  static constexpr int kBig0[] = {2, 13, 22}, kBig1[] = {6, 11, 25}, kSmall0[] = {7, 18, 3},
                       kSmall1[] = {17, 19, 10};
};
template <>
struct Shape<uint64_t> {
  static constexpr int kRounds = 80;
  static constexpr int kBig0[] = {28, 34, 39}, kBig1[] = {14, 18, 41}, kSmall0[] = {1, 8, 7},
                       kSmall1[] = {19, 61, 6};
};

template <typename Word>
Word Big(Word x, const int* r) {
  return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ std::rotr(x, r[2]);
}
template <typename Word>
Word Small(Word x, const int* r) {
  return std::rotr(x, r[0]) ^ std::rotr(x, r[1]) ^ (x >> r[2]);
}

template <typename Word>
void Sha2Block(const uint8_t* block, Word* state) {
  using S = Shape<Word>;
  constexpr int kWordBits = 8 * sizeof(Word);
  std::array<Word, S::kRounds> w;
  for (size_t i = 0; i < 16; ++i) w[i] = LoadBig<Word>(block + i * sizeof(Word));
  for (size_t i = 16; i < w.size(); ++i)
    w[i] = Small(w[i - 2], S::kSmall1) + w[i - 7] + Small(w[i - 15], S::kSmall0) + w[i - 16];
  std::array<Word, 8> v;
  std::memcpy(v.data(), state, sizeof(v));
  for (size_t i = 0; i < w.size(); ++i) {
    const Word k = static_cast<Word>(Roots().cube[i] >> (64 - kWordBits));
    const Word t1 = v[7] + Big(v[4], S::kBig1) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k + w[i];
    const Word t2 = Big(v[0], S::kBig0) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    v = {static_cast<Word>(t1 + t2),   v[0], v[1], v[2],
         static_cast<Word>(v[3] + t1), v[4], v[5], v[6]};
  }
  for (size_t i = 0; i < 8; ++i) state[i] += v[i];
}

template <typename Word>
std::string Sha2(std::string_view bytes, const std::array<Word, 8>& start, size_t digest_bytes) {
  std::array<Word, 8> state = start;
  const size_t block = 16 * sizeof(Word);
  const std::vector<uint8_t> message = Padded(bytes, block, 2 * sizeof(Word), false);
  for (size_t at = 0; at < message.size(); at += block)
    Sha2Block<Word>(message.data() + at, state.data());
  return HexOfWords(state.data(), digest_bytes);
}

// Where each SHA-2 starts: square roots of primes, the first eight or the second.
template <typename Word>
std::array<Word, 8> Start(size_t first_prime, int shift) {
  std::array<Word, 8> start;
  for (size_t i = 0; i < 8; ++i)
    start[i] = static_cast<Word>(Roots().square[first_prime + i] >> shift);
  return start;
}

}  // namespace

std::string Sha2Hex(std::string_view bytes, int bits) {
  switch (bits) {
    // SHA-224 takes the second halves of SHA-384's words.
    case 224: return Sha2<uint32_t>(bytes, Start<uint32_t>(8, 0), 28);
    case 256: return Sha2<uint32_t>(bytes, Start<uint32_t>(0, 32), 32);
    case 384: return Sha2<uint64_t>(bytes, Start<uint64_t>(8, 0), 48);
    case 512: return Sha2<uint64_t>(bytes, Start<uint64_t>(0, 0), 64);
    default: return {};
  }
}

std::string Md5Hex(std::string_view bytes) {
  static constexpr int kShifts[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::array<uint32_t, 4> state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::vector<uint8_t> message = Padded(bytes, 64, 8, true);
  for (size_t at = 0; at < message.size(); at += 64) {
    std::array<uint32_t, 16> words;
    std::memcpy(words.data(), message.data() + at, 64);
    auto [a, b, c, d] = state;
    for (uint32_t i = 0; i < 64; ++i) {
      const uint32_t round = i / 16;
      uint32_t f, word;
      switch (round) {
        case 0:
          f = (b & c) | (~b & d);
          word = i;
          break;
        case 1:
          f = (d & b) | (~d & c);
          word = (5 * i + 1) % 16;
          break;
        case 2:
          f = b ^ c ^ d;
          word = (3 * i + 5) % 16;
          break;
        default:
          f = c ^ (b | ~d);
          word = 7 * i % 16;
          break;
      }
      const uint32_t sine =
          static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
      const uint32_t rotated = std::rotl(a + f + sine + words[word], kShifts[round][i % 4]);
      a = d;
      d = c;
      c = b;
      b += rotated;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
  }
  return Hex(reinterpret_cast<const uint8_t*>(state.data()), 16);
}

std::string Sha1Hex(std::string_view bytes) {
  std::array<uint32_t, 5> state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::vector<uint8_t> message = Padded(bytes, 64, 8, false);
  for (size_t at = 0; at < message.size(); at += 64) {
    std::array<uint32_t, 80> w;
    for (size_t i = 0; i < 16; ++i) w[i] = LoadBig<uint32_t>(message.data() + at + 4 * i);
    for (size_t i = 16; i < 80; ++i)
      w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state;
    for (size_t i = 0; i < 80; ++i) {
      uint32_t f, k;
      switch (i / 20) {
        case 0:
          f = (b & c) | (~b & d);
          k = 0x5a827999;
          break;
        case 1:
          f = b ^ c ^ d;
          k = 0x6ed9eba1;
          break;
        case 2:
          f = (b & c) | (b & d) | (c & d);
          k = 0x8f1bbcdc;
          break;
        default:
          f = b ^ c ^ d;
          k = 0xca62c1d6;
          break;
      }
      const uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
  }
  return HexOfWords(state.data(), 20);
}

}  // namespace rowtide
