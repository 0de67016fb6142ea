// ABS, SIGN, ROUND, FLOOR, CEIL and the functions of DOUBLE.
#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"

namespace rowtide {
namespace {

template <typename T, typename F>
NodePointer Unary(CallSite& site, F f) {
  return Pure<T, T>(site.type(), std::move(site.arguments), f);
}

// f(value) of any number; f is generic over the C++ type.
template <typename F>
Result<NodePointer> OfAnyNumber(CallSite& site, F f) {
  switch (LayoutOf(site.argument_type(0))) {
    case Layout::kInt8: return Unary<int8_t>(site, f);
    case Layout::kInt16: return Unary<int16_t>(site, f);
    case Layout::kInt32: return Unary<int32_t>(site, f);
    case Layout::kInt64: return Unary<int64_t>(site, f);
    case Layout::kFloat: return Unary<float>(site, f);
    case Layout::kDouble: return Unary<double>(site, f);
    case Layout::kInt128: return Unary<int128>(site, f);
    default:
      return Status::Unsupported("{} of {}", site.call.function, ToString(site.argument_type(0)));
  }
}

// f(unscaled, scale, digits) -> a DECIMAL of the call's type.
template <typename F>
Result<NodePointer> OfDecimal(CallSite& site, F f) {
  const Type from = site.argument_type(0);
  const Type to = site.type();
  RT_TRY(CastArgument(&site, 0, Type::Decimal(38, from.scale)));
  const auto run = [f, from, to](int128 value, int64_t digits) -> std::optional<int128> {
    return f(value, from.scale, static_cast<int>(std::clamp<int64_t>(digits, -38, 38)), to);
  };
  if (site.size() == 1) site.arguments.push_back(LiteralNode(int64_t{0}, Type::Int().NotNull()));
  RT_TRY(CastArgument(&site, 1, Type::BigInt()));
  const auto row = [run](auto* out, int128 value, int64_t digits) {
    const std::optional<int128> result = run(value, digits);
    if (!result) return Outcome::kNull;
    *out = static_cast<std::remove_pointer_t<decltype(out)>>(*result);
    return Outcome::kValue;
  };
  if (to.precision <= 18) {
    return PerRow<int64_t, int128, int64_t>(
        site, [row](RowCall&, int128 value, int64_t digits, int64_t* out) {
          return row(out, value, digits);
        });
  }
  return PerRow<int128, int128, int64_t>(
      site, [row](RowCall&, int128 value, int64_t digits, int128* out) {
        return row(out, value, digits);
      });
}

// Brings value to a multiple of 10^(scale - digits), then to the scale of `to`.
enum class Mode : uint8_t { kHalfUp, kCut, kFloor, kCeil };

std::optional<int128> RoundDecimal(int128 value, int scale, int digits, const Type& to, Mode mode) {
  if (digits < scale) {
    const int drop = scale - digits;
    if (drop > 38) return int128{0};
    const int128 unit = PowerOfTen(drop);
    const int128 rest = value % unit;
    int128 rounded = value - rest;
    const int128 magnitude = rest < 0 ? -rest : rest;
    const bool away = mode == Mode::kHalfUp  ? magnitude >= unit - magnitude
                      : mode == Mode::kFloor ? rest < 0
                      : mode == Mode::kCeil  ? rest > 0
                                             : false;
    if (away) rounded += value < 0 ? -unit : unit;
    value = rounded;
  }
  return Rescaled(value, scale, to.precision, to.scale);
}

double RoundDouble(double value, int64_t digits, Mode mode) {
  if (!std::isfinite(value)) return value;
  const int scale = static_cast<int>(std::clamp<int64_t>(digits, -38, 38));
  const std::optional<int128> exact =
      DecimalFromDouble(value, 38, std::max(scale, 0) + (scale < 17 ? 17 : 0));
  const int exact_scale = std::max(scale, 0) + (scale < 17 ? 17 : 0);
  if (!exact) return value;
  const std::optional<int128> rounded =
      RoundDecimal(*exact, exact_scale, scale, Type::Decimal(38, exact_scale), mode);
  return rounded ? DecimalToDouble(*rounded, exact_scale) : value;
}

Result<NodePointer> BuildRounding(CallSite& site, Mode mode) {
  const Type type = site.argument_type(0);
  if (type.kind == TypeKind::kDecimal) {
    return OfDecimal(site, [mode](int128 value, int scale, int digits, const Type& to) {
      return RoundDecimal(value, scale, digits, to, mode);
    });
  }
  if (site.size() == 1) site.arguments.push_back(LiteralNode(int64_t{0}, Type::Int().NotNull()));
  RT_TRY(CastArgument(&site, 1, Type::BigInt()));
  if (IsInteger(type)) {
    RT_TRY(CastArgument(&site, 0, Type::BigInt()));
    NodePointer rounded = Pure<int64_t, int64_t, int64_t>(
        Type::BigInt().WithNullable(site.type().nullable), std::move(site.arguments),
        [mode](int64_t value, int64_t digits) {
          if (digits >= 0 || digits < -19) return digits >= 0 ? value : int64_t{0};
          const std::optional<int128> result =
              RoundDecimal(value, 0, static_cast<int>(digits), Type::Decimal(38, 0), mode);
          return static_cast<int64_t>(*result);
        });
    return CastNode(std::move(rounded), site.type(), false, site.context, site.label);
  }
  RT_TRY(CastArgument(&site, 0, Type::Double()));
  NodePointer rounded = Pure<double, double, int64_t>(
      Type::Double().WithNullable(site.type().nullable), std::move(site.arguments),
      [mode](double value, int64_t digits) { return RoundDouble(value, digits, mode); });
  return CastNode(std::move(rounded), site.type(), false, site.context, site.label);
}

Result<NodePointer> BuildFloorOrCeil(CallSite& site, Mode mode) {
  if (site.size() == 2) return BuildTimeFloor(site, mode == Mode::kCeil);
  const Type type = site.argument_type(0);
  if (type.kind == TypeKind::kDecimal) {
    return OfDecimal(site, [mode](int128 value, int scale, int digits, const Type& to) {
      return RoundDecimal(value, scale, digits, to, mode);
    });
  }
  const bool ceil = mode == Mode::kCeil;
  return OfAnyNumber(site, [ceil](auto value) {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<T>) return ceil ? std::ceil(value) : std::floor(value);
    return value;
  });
}

using MathFunction = double (*)(double);

const std::unordered_map<std::string_view, MathFunction>& MathFunctions() {
  constexpr double kDegree = 3.14159265358979323846 / 180;
  static const std::unordered_map<std::string_view, MathFunction> functions{
      {"SQRT", [](double x) { return std::sqrt(x); }},
      {"EXP", [](double x) { return std::exp(x); }},
      {"LN", [](double x) { return std::log(x); }},
      {"LOG", [](double x) { return std::log(x); }},
      {"LOG10", [](double x) { return std::log10(x); }},
      {"LOG2", [](double x) { return std::log(x) / std::log(2.0); }},
      {"SIN", [](double x) { return std::sin(x); }},
      {"COS", [](double x) { return std::cos(x); }},
      {"TAN", [](double x) { return std::tan(x); }},
      {"COT", [](double x) { return 1.0 / std::tan(x); }},
      {"ASIN", [](double x) { return std::asin(x); }},
      {"ACOS", [](double x) { return std::acos(x); }},
      {"ATAN", [](double x) { return std::atan(x); }},
      {"SINH", [](double x) { return std::sinh(x); }},
      {"COSH", [](double x) { return std::cosh(x); }},
      {"TANH", [](double x) { return std::tanh(x); }},
      {"DEGREES", [](double x) { return x / kDegree; }},
      {"RADIANS", [](double x) { return x * kDegree; }},
  };
  return functions;
}

// LOG(base, x)
double Logarithm(double base, double x) { return std::log(x) / std::log(base); }

}  // namespace

Result<NodePointer> BuildAbs(CallSite& site) {
  return OfAnyNumber(site, [](auto value) {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(value);
    } else if constexpr (sizeof(T) == 16) {
      return value < 0 ? -value : value;
    } else {
      return value < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(value)) : value;
    }
  });
}

// Where all of more than 18 digits are behind the point there is no room for a 1: NULL.
NodePointer SignWithoutRoom(CallSite& site) {
  return PerRow<int128, int128>(site, [](RowCall&, int128 value, int128* out) {
    *out = 0;
    return value == 0 ? Outcome::kValue : Outcome::kNull;
  });
}

// SIGN(DECIMAL(p, s)) is a DECIMAL of the same scale: 1.0, not 1.
Result<NodePointer> BuildSign(CallSite& site) {
  const Type type = site.argument_type(0);
  const int scale = type.kind == TypeKind::kDecimal ? type.scale : 0;
  if (type.kind == TypeKind::kDecimal && type.precision > 18 && type.precision == scale)
    return SignWithoutRoom(site);
  const int128 one = PowerOfTen(scale);
  return OfAnyNumber(site, [one](auto value) {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<T>) {
      return value > 0 ? T{1} : value < 0 ? T{-1} : value;
    } else {
      return value > 0 ? static_cast<T>(one) : value < 0 ? static_cast<T>(-one) : T{0};
    }
  });
}

Result<NodePointer> BuildRound(CallSite& site) { return BuildRounding(site, Mode::kHalfUp); }
Result<NodePointer> BuildTruncate(CallSite& site) { return BuildRounding(site, Mode::kCut); }
Result<NodePointer> BuildFloor(CallSite& site) { return BuildFloorOrCeil(site, Mode::kFloor); }
Result<NodePointer> BuildCeil(CallSite& site) { return BuildFloorOrCeil(site, Mode::kCeil); }

Result<NodePointer> BuildMath(CallSite& site) {
  const std::string& name = site.call.function;
  if (name == "PI") return LiteralNode(3.14159265358979323846, site.type());
  if (name == "E") return LiteralNode(2.7182818284590452354, site.type());
  for (size_t i = 0; i < site.size(); ++i) RT_TRY(CastArgument(&site, i, Type::Double()));
  if (site.size() == 2) {
    if (name == "LOG")
      return Pure<double, double, double>(site.type(), std::move(site.arguments), Logarithm);
    const bool power = name == "POWER";
    return Pure<double, double, double>(
        site.type(), std::move(site.arguments),
        [power](double a, double b) { return power ? std::pow(a, b) : std::atan2(a, b); });
  }
  const MathFunction function = MathFunctions().at(name);
  return Pure<double, double>(site.type(), std::move(site.arguments), function);
}

namespace {

// Random values, one a row; a seed makes them repeatable.
class RandomNode final : public Node {
 public:
  RandomNode(Type type, std::mt19937_64 engine, int64_t bound)
      : Node(type), engine_(std::move(engine)), bound_(bound) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    switch (type_.kind) {
      case TypeKind::kDouble:
        Fill<double>(
            frame, rows, [this] { return std::uniform_real_distribution<double>()(engine_); }, out);
        break;
      case TypeKind::kInt:
        Fill<int32_t>(
            frame, rows,
            [this] { return static_cast<int32_t>(engine_() % static_cast<uint64_t>(bound_)); },
            out);
        break;
      default:
        Fill<StringView>(
            frame, rows, [this, &frame] { return frame.strings->Copy(Uuid()); }, out);
        break;
    }
    return Status::Ok();
  }

 private:
  template <typename T, typename F>
  void Fill(const Frame& frame, Rows rows, F f, View* out) {
    T* const slots = buffer_.Slots<T>(frame.rows);
    ForEach(rows, [&](int row) { slots[row] = f(); });
    *out = {reinterpret_cast<const char*>(slots), nullptr};
  }

  // Version 4, variant 1.
  std::string Uuid() {
    const uint64_t high = (engine_() & ~uint64_t{0xF000}) | 0x4000;
    const uint64_t low = (engine_() & ~(uint64_t{3} << 62)) | (uint64_t{1} << 63);
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                       high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
  }

  std::mt19937_64 engine_;
  int64_t bound_;
};

}  // namespace

Result<NodePointer> BuildRandom(CallSite& site) {
  const size_t bounds = site.call.function == "RAND_INTEGER" ? 1 : 0;
  int64_t bound = 1;
  if (bounds == 1) {
    const int64_t* literal = site.LiteralInteger(site.size() - 1);
    if (!literal || *literal <= 0)
      return Status::Unsupported("RAND_INTEGER without a positive literal bound");
    bound = *literal;
  }
  std::mt19937_64 engine(std::random_device{}());
  if (site.size() > bounds) {
    const int64_t* seed = site.LiteralInteger(0);
    if (!seed) return Status::Unsupported("{} with a seed that is no literal", site.call.function);
    engine.seed(static_cast<uint64_t>(*seed));
  }
  return NodePointer(std::make_unique<RandomNode>(site.type(), std::move(engine), bound));
}

}  // namespace rowtide
