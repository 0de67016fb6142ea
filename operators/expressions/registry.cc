#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "operators/expressions/function_table.h"
#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

using A = Arguments;
using R = Result<Type>;

R Boolean(A) { return Type::Boolean(); }
R Int(A) { return Type::Int(); }
R BigInt(A) { return Type::BigInt(); }
R Double(A) { return Type::Double(); }
R String(A) { return Type::String(); }
R Bytes(A) { return Type::Bytes(); }
R Date(A) { return Type::Date(); }
R Char32(A) { return Type::Char(32); }
R Char36(A) { return Type::Char(36); }
R Char40(A) { return Type::Char(40); }
R Char56(A) { return Type::Char(56); }
R Char64(A) { return Type::Char(64); }
R Char96(A) { return Type::Char(96); }
R Char128(A) { return Type::Char(128); }
R VarChar128(A) { return Type::VarChar(128); }
R Time0(A) { return Type::Of(TypeKind::kTime, 0); }
R Timestamp3(A) { return Type::Timestamp(3); }
R Ltz3(A) { return Type::TimestampLtz(3); }
R Proctime(A) { return Type::TimestampLtz(3).WithTimeAttribute(TimeAttribute::kProctime); }

R First(A a) { return a[0].type.WithoutTimeAttribute(); }
R Last(A a) { return First(a.last(1)); }

int SumOfLengths(A a) {
  int64_t sum = 0;
  for (const Expression& e : a) sum += e.type.precision;
  return static_cast<int>(std::min<int64_t>(sum, kMaxLength));
}

// VARCHAR or VARBINARY of the first argument's length.
R Varying(A a) {
  return Type::Of(IsBinary(a[0].type) ? TypeKind::kVarBinary : TypeKind::kVarChar,
                  a[0].type.precision);
}
R VaryingOfLast(A a) { return Varying(a.last(1)); }
R Overlay(A a) { return Type::VarChar(SumOfLengths(a.first(2))); }

R Concatenation(A a) {
  if (IsBinary(a[0].type) != IsBinary(a[1].type)) {
    return Status::InvalidArgument("|| does not join {} and {}", ToString(a[0].type),
                                   ToString(a[1].type))
        .WithErrorCode("RT2006");
  }
  const bool fixed = a[0].type.kind == a[1].type.kind &&
                     (a[0].type.kind == TypeKind::kChar || a[0].type.kind == TypeKind::kBinary);
  if (fixed) return Type::Of(a[0].type.kind, SumOfLengths(a));
  return Type::Of(IsBinary(a[0].type) ? TypeKind::kVarBinary : TypeKind::kVarChar, SumOfLengths(a));
}

Status NoSuchOperator(const char* name, A a) {
  return Status::InvalidArgument("{} does not take {} and {}", name, ToString(a[0].type),
                                 ToString(a[1].type))
      .WithErrorCode("RT2006");
}

// INTERVAL DAY + INTERVAL HOUR = INTERVAL DAY TO HOUR.
Type SpannedInterval(const Type& a, const Type& b) {
  return Type::Of(a.kind, std::min(a.precision, b.precision), std::max(a.scale, b.scale));
}

R SumOrDifference(A a, Arithmetic operation, const char* name) {
  if (a.size() == 1) {
    if (operation == Arithmetic::kSubtract && (IsNumber(a[0].type) || IsInterval(a[0].type)))
      return a[0].type;
    return Status::InvalidArgument("{} does not take {}", name, ToString(a[0].type))
        .WithErrorCode("RT2006");
  }
  const Type& left = a[0].type;
  const Type& right = a[1].type;
  if (IsNumber(left) && IsNumber(right)) return ArithmeticType(operation, left, right);
  if (IsTemporal(left) && IsInterval(right)) return left.WithoutTimeAttribute();
  if (IsInterval(left) && IsTemporal(right) && operation == Arithmetic::kAdd)
    return right.WithoutTimeAttribute();
  if (IsInterval(left) && left.kind == right.kind) return SpannedInterval(left, right);
  return NoSuchOperator(name, a);
}
R Sum(A a) { return SumOrDifference(a, Arithmetic::kAdd, "+"); }
R Difference(A a) { return SumOrDifference(a, Arithmetic::kSubtract, "-"); }

R Product(A a) {
  if (IsInterval(a[0].type) && IsNumber(a[1].type)) return a[0].type;
  if (IsNumber(a[0].type) && IsInterval(a[1].type)) return a[1].type;
  if (!IsNumber(a[0].type) || !IsNumber(a[1].type)) return NoSuchOperator("*", a);
  return ArithmeticType(Arithmetic::kMultiply, a[0].type, a[1].type);
}
R Quotient(A a) {
  if (IsInterval(a[0].type) && IsNumber(a[1].type)) return a[0].type;
  if (!IsNumber(a[0].type) || !IsNumber(a[1].type)) return NoSuchOperator("/", a);
  return ArithmeticType(Arithmetic::kDivide, a[0].type, a[1].type);
}
R Remainder(A a) { return ArithmeticType(Arithmetic::kRemainder, a[0].type, a[1].type); }

R Round(A a) {
  const Type& type = a[0].type;
  if (type.kind != TypeKind::kDecimal) return type;
  if (a.size() == 1) return DecimalRoundType(type, 0);
  if (!a[1].is_literal()) return type;
  const int64_t* digits = std::get_if<int64_t>(&a[1].literal);
  return DecimalRoundType(type,
                          digits ? static_cast<int>(std::clamp<int64_t>(*digits, -40, 40)) : 0);
}

R FloorOrCeil(A a) {
  if (a[0].type.kind == TypeKind::kDecimal) return Type::Decimal(a[0].type.precision, 0);
  return First(a);
}

R ToTimestampLtz(A a) {
  int precision = 3;
  if (a.size() > 1 && a[1].is_literal()) {
    if (const int64_t* given = std::get_if<int64_t>(&a[1].literal)) {
      precision = static_cast<int>(std::clamp<int64_t>(*given, 3, 9));
    }
  }
  return Type::TimestampLtz(precision);
}

R Comparison(A a) {
  const Type& left = a[0].type;
  const Type& right = a[1].type;
  const auto reads_text = [](const Type& type) {
    return IsTemporal(type) || IsNumber(type) || type.kind == TypeKind::kBoolean;
  };
  const bool text_beside =
      (IsCharacter(left) && reads_text(right)) || (IsCharacter(right) && reads_text(left));
  if (!text_beside && !LeastRestrictive(left, right)) {
    return Status::InvalidArgument("{} and {} cannot be compared", ToString(left), ToString(right))
        .WithErrorCode("RT2006");
  }
  return Type::Boolean();
}

// = is stricter than <: a string beside a number is not cast there.
R Equality(A a) {
  const bool number_and_text = (IsNumber(a[0].type) && IsCharacter(a[1].type)) ||
                               (IsCharacter(a[0].type) && IsNumber(a[1].type));
  if (number_and_text) {
    return Status::InvalidArgument("{} and {} cannot be compared with = or <>", ToString(a[0].type),
                                   ToString(a[1].type))
        .WithErrorCode("RT2006");
  }
  return Comparison(a);
}

R Distinctness(A a) {
  const bool number_and_text = (IsNumber(a[0].type) && IsCharacter(a[1].type)) ||
                               (IsCharacter(a[0].type) && IsNumber(a[1].type));
  if (!number_and_text) return Comparison(a);
  return Status::InvalidArgument("{} and {} cannot be compared with IS DISTINCT FROM",
                                 ToString(a[0].type), ToString(a[1].type))
      .WithErrorCode("RT2006");
}

R Common(std::span<const Type> types, const char* what) {
  const std::optional<Type> common = LeastRestrictive(types);
  if (common) return common->WithoutTimeAttribute();
  std::string list;
  for (const Type& type : types) list += (list.empty() ? "" : ", ") + ToString(type);
  return Status::InvalidArgument("the types of {} do not go together: {}", what, list)
      .WithErrorCode("RT2006");
}

std::vector<Type> TypesOf(A a) {
  std::vector<Type> types;
  for (const Expression& e : a) types.push_back(e.type);
  return types;
}

// Where CASE takes the first one of FLOAT and DOUBLE, and of TIMESTAMP and TIMESTAMP_LTZ, functions
// take the second.
R CommonOfFunction(std::span<const Type> types, const char* what) {
  RT_ASSIGN(Type common, Common(types, what));
  for (const Type& type : types) {
    const bool wins = (IsApproximate(common) && type.kind == TypeKind::kDouble) ||
                      (IsTimestamp(common) && type.kind == TypeKind::kTimestampLtz);
    if (wins) common.kind = type.kind;
  }
  return common;
}

R Greatest(A a) { return CommonOfFunction(TypesOf(a), "GREATEST or LEAST"); }

// A DATE beside a TIMESTAMP: the day counts.
bool AreDays(A a) {
  return std::all_of(a.begin(), a.end(), [](const Expression& e) {
    return e.type.kind == TypeKind::kDate || e.type.kind == TypeKind::kTimestamp;
  });
}

R Coalesce(A a) {
  const std::vector<Type> types = TypesOf(a);
  Type common = Type::Date();
  if (!AreDays(a) || LeastRestrictive(types)) {
    RT_ASSIGN(common, CommonOfFunction(types, "COALESCE"));
  }
  return common.WithNullable(
      std::all_of(a.begin(), a.end(), [](const Expression& e) { return e.type.nullable; }));
}

R If(A a) {
  RT_ASSIGN(Type common, Common(TypesOf(a.subspan(1)), "IF"));
  return common.WithNullable(common.nullable || a[0].type.nullable);
}

R Hex(A a) {
  if (IsInteger(a[0].type) || IsCharacter(a[0].type)) return Type::String();
  return Status::InvalidArgument("HEX needs an integer or a string, not {}", ToString(a[0].type))
      .WithErrorCode("RT2006");
}

R Watermark(A a) {
  if (a[0].type.is_rowtime()) return First(a);
  return Status::InvalidArgument("CURRENT_WATERMARK needs a column with a watermark, not {}",
                                 ToString(a[0].type))
      .WithErrorCode("RT2006");
}

R Case(A a) { return Common(CaseBranches(a), "CASE"); }

constexpr Nulls kStrict = Nulls::kStrict;
constexpr Nulls kAlways = Nulls::kAlways;
constexpr Nulls kNever = Nulls::kNever;
constexpr Nulls kByRule = Nulls::kByRule;

constexpr Function kFunctions[] = {
    // arithmetic
    {"+", "aa", Sum, BuildAdd, kByRule},
    {"-", "a?a", Difference, BuildSubtract, kByRule},
    {"*", "aa", Product, BuildMultiply},
    {"/", "aa", Quotient, BuildDivide},
    {"MOD", "xx", Remainder, BuildRemainder},
    {"/INT", "aa", First, BuildWholeDivide},
    {"Reinterpret", "a", BigInt, BuildReinterpret},
    {"ABS", "n", First, BuildAbs},
    {"SIGN", "n", First, BuildSign},
    {"ROUND", "n?i", Round, BuildRound},
    {"TRUNCATE", "n?i", Round, BuildTruncate},
    {"FLOOR", "a?f", FloorOrCeil, BuildFloor},
    {"CEIL", "a?f", FloorOrCeil, BuildCeil},
    {"POWER", "nn", Double, BuildMath},
    {"SQRT", "n", Double, BuildMath},
    {"EXP", "n", Double, BuildMath},
    {"LN", "n", Double, BuildMath},
    {"LOG10", "n", Double, BuildMath},
    {"LOG2", "n", Double, BuildMath},
    {"LOG", "n?n", Double, BuildMath},
    {"SIN", "n", Double, BuildMath},
    {"COS", "n", Double, BuildMath},
    {"TAN", "n", Double, BuildMath},
    {"COT", "n", Double, BuildMath},
    {"ASIN", "n", Double, BuildMath},
    {"ACOS", "n", Double, BuildMath},
    {"ATAN", "n", Double, BuildMath},
    {"ATAN2", "nn", Double, BuildMath},
    {"SINH", "n", Double, BuildMath},
    {"COSH", "n", Double, BuildMath},
    {"TANH", "n", Double, BuildMath},
    {"DEGREES", "n", Double, BuildMath},
    {"RADIANS", "n", Double, BuildMath},
    {"PI", "", Double, BuildMath, kNever},
    {"E", "", Double, BuildMath, kNever},
    {"RAND", "?ii", Double, BuildRandom, kNever},
    {"RAND_INTEGER", "i?i", Int, BuildRandom, kStrict},
    {"GREATEST", "a*", Greatest, BuildGreatest},
    {"LEAST", "a*", Greatest, BuildLeast},
    {"CAST", "a", First, BuildCast},
    {"TRY_CAST", "a", First, BuildTryCast, kAlways},
    {"TYPEOF", "a?b", String, BuildTypeOf, kByRule},
    // comparison and logic
    {"=", "aa", Equality, BuildComparison, kStrict, Coercion::kEqual},
    {"<>", "aa", Equality, BuildComparison, kStrict, Coercion::kEqual},
    {"<", "aa", Comparison, BuildComparison, kStrict, Coercion::kOrder},
    {"<=", "aa", Comparison, BuildComparison, kStrict, Coercion::kOrder},
    {">", "aa", Comparison, BuildComparison, kStrict, Coercion::kOrder},
    {">=", "aa", Comparison, BuildComparison, kStrict, Coercion::kOrder},
    {"SEARCH", "aa", Boolean, BuildSearch},
    {"IS NULL", "a", Boolean, BuildTruth, kNever},
    {"IS NOT NULL", "a", Boolean, BuildTruth, kNever},
    {"IS TRUE", "b", Boolean, BuildTruth, kNever},
    {"IS NOT TRUE", "b", Boolean, BuildTruth, kNever},
    {"IS FALSE", "b", Boolean, BuildTruth, kNever},
    {"IS NOT FALSE", "b", Boolean, BuildTruth, kNever},
    {"IS UNKNOWN", "b", Boolean, BuildTruth, kNever},
    {"IS NOT UNKNOWN", "b", Boolean, BuildTruth, kNever},
    {"IS DISTINCT FROM", "aa", Distinctness, BuildDistinct, kNever},
    {"IS NOT DISTINCT FROM", "aa", Distinctness, BuildDistinct, kNever},
    {"AND", "bb*", Boolean, BuildAnd},
    {"OR", "bb*", Boolean, BuildOr},
    {"NOT", "b", Boolean, BuildNot},
    {"CASE", "a*", Case, BuildCase, kByRule, Coercion::kCase},
    {"COALESCE", "a*", Coalesce, BuildCoalesce, kByRule, Coercion::kCommon},
    {"IFNULL", "aa", Coalesce, BuildCoalesce, kByRule, Coercion::kCommon},
    {"IF", "baa", If, BuildIf, kByRule},
    {"NULLIF", "aa", First, nullptr, kAlways},
    // strings
    {"||", "zz", Concatenation, BuildConcatenation},
    {"UPPER", "s", First, BuildChangeCase},
    {"LOWER", "s", First, BuildChangeCase},
    {"INITCAP", "s", First, BuildChangeCase},
    {"REVERSE", "s", String, BuildReverse},
    {"REPEAT", "si", String, BuildRepeat},
    {"ASCII", "s", Int, BuildCharacter},
    {"CHR", "i", String, BuildCharacter, kAlways},
    {"CHAR_LENGTH", "s", Int, BuildLength},
    {"CHARACTER_LENGTH", "s", Int, BuildLength},
    {"TRIM", "fss", VaryingOfLast, BuildTrim},
    {"LTRIM", "s?s", Varying, BuildTrimSide},
    {"RTRIM", "s?s", Varying, BuildTrimSide},
    {"BTRIM", "s?s", String, BuildTrimSide},
    {"SUBSTRING", "si?i", Varying, BuildSubstring, kAlways},
    {"SUBSTR", "si?i", Varying, BuildSubstring, kAlways},
    {"LEFT", "si", Varying, BuildLeft, kAlways},
    {"RIGHT", "si", Varying, BuildRight, kAlways},
    {"CONCAT", "s*", String, BuildConcat},
    {"CONCAT_WS", "ss*", String, BuildConcatWs},
    {"LPAD", "sis", String, BuildPad},
    {"RPAD", "sis", String, BuildPad},
    {"OVERLAY", "ssi?i", Overlay, BuildOverlay},
    {"REPLACE", "sss", String, BuildReplace},
    {"TRANSLATE", "sss", String, BuildTranslate},
    {"POSITION", "ss", Int, BuildPosition},
    {"LOCATE", "ss?i", Int, BuildPosition},
    {"INSTR", "ss", Int, BuildInstr},
    {"SPLIT_INDEX", "sai", String, BuildSplitIndex, kAlways},
    {"STARTSWITH", "zz", Boolean, BuildStartsOrEnds},
    {"ENDSWITH", "zz", Boolean, BuildStartsOrEnds},
    {"LIKE", "ss?s", Boolean, BuildLike},
    {"SIMILAR TO", "ss?s", Boolean, BuildSimilar},
    {"REGEXP", "ss", Boolean, BuildRegexp},
    {"REGEXP_EXTRACT", "ss?i", String, BuildRegexpExtract, kAlways},
    {"REGEXP_REPLACE", "sss", String, BuildRegexpReplace},
    {"REGEXP_COUNT", "ss", Int, BuildRegexpCount, kAlways},
    {"REGEXP_INSTR", "ss", Int, BuildRegexpInstr, kAlways},
    {"REGEXP_SUBSTR", "ss", String, BuildRegexpSubstr, kAlways},
    {"MD5", "z", Char32, BuildHash},
    {"SHA1", "z", Char40, BuildHash},
    {"SHA224", "z", Char56, BuildHash},
    {"SHA256", "z", Char64, BuildHash},
    {"SHA384", "z", Char96, BuildHash},
    {"SHA512", "z", Char128, BuildHash},
    {"SHA2", "zi", VarChar128, BuildHash},
    {"TO_BASE64", "z", String, BuildToBase64},
    {"FROM_BASE64", "z", String, BuildFromBase64},
    {"ENCODE", "ss", Bytes, BuildEncode},
    {"DECODE", "ys", String, BuildDecode},
    {"HEX", "a", Hex, BuildHex},
    {"UNHEX", "s", Bytes, BuildUnhex, kAlways},
    {"BIN", "i", String, BuildBin},
    {"URL_ENCODE", "s", String, BuildUrlEncode, kAlways},
    {"URL_DECODE", "s", String, BuildUrlDecode, kAlways},
    {"UUID", "", Char36, BuildRandom, kNever},
    // json
    {"JSON_VALUE", "ssa*", String, BuildJsonValue, kAlways},
    {"JSON_QUERY", "ssa*", String, BuildJsonQuery, kAlways},
    {"JSON_EXISTS", "ss?f", Boolean, BuildJsonExists},
    {"JSON_OBJECT", "fa*", String, BuildJsonObject, kNever},
    {"JSON_ARRAY", "fa*", String, BuildJsonArray, kNever},
    {"JSON_STRING", "a", String, BuildJsonString},
    {"IS JSON VALUE", "s", Boolean, BuildIsJson, kNever},
    {"IS JSON OBJECT", "s", Boolean, BuildIsJson, kNever},
    {"IS JSON ARRAY", "s", Boolean, BuildIsJson, kNever},
    {"IS JSON SCALAR", "s", Boolean, BuildIsJson, kNever},
    {"IS NOT JSON VALUE", "s", Boolean, BuildIsJson, kNever},
    {"IS NOT JSON OBJECT", "s", Boolean, BuildIsJson, kNever},
    {"IS NOT JSON ARRAY", "s", Boolean, BuildIsJson, kNever},
    {"IS NOT JSON SCALAR", "s", Boolean, BuildIsJson, kNever},
    // dates and times
    {"EXTRACT", "fa", BigInt, BuildExtract},
    // from here to TIMESTAMPDIFF: no kernels, MakeCall writes them as EXTRACT, + and -
    {"YEAR", "e", BigInt, nullptr},
    {"QUARTER", "e", BigInt, nullptr},
    {"MONTH", "e", BigInt, nullptr},
    {"WEEK", "e", BigInt, nullptr},
    {"DAYOFYEAR", "e", BigInt, nullptr},
    {"DAYOFMONTH", "e", BigInt, nullptr},
    {"DAYOFWEEK", "e", BigInt, nullptr},
    {"HOUR", "u", BigInt, nullptr},
    {"MINUTE", "u", BigInt, nullptr},
    {"SECOND", "u", BigInt, nullptr},
    {"TIMESTAMPADD", "fit", Last, nullptr},
    {"TIMESTAMPDIFF", "ftt", Int, nullptr},
    {"DATE_FORMAT", "qs", String, BuildDateFormat, kAlways},
    {"TO_TIMESTAMP", "s?s", Timestamp3, BuildToTimestamp, kAlways},
    {"TO_TIMESTAMP_LTZ", "a?a*", ToTimestampLtz, BuildToTimestampLtz, kAlways},
    {"TO_DATE", "s?s", Date, BuildToDate, kAlways},
    {"FROM_UNIXTIME", "n?s", String, BuildFromUnixtime, kAlways},
    {"UNIX_TIMESTAMP", "?ss", BigInt, BuildUnixTimestamp},
    {"CONVERT_TZ", "sss", String, BuildConvertTz, kAlways},
    {"CURRENT_TIMESTAMP", "", Ltz3, BuildNow, kNever},
    {"CURRENT_ROW_TIMESTAMP", "", Ltz3, BuildNow, kNever},
    {"NOW", "", Ltz3, BuildNow, kNever},
    {"LOCALTIMESTAMP", "", Timestamp3, BuildNow, kNever},
    {"CURRENT_DATE", "", Date, BuildNow, kNever},
    {"CURRENT_TIME", "", Time0, BuildNow, kNever},
    {"LOCALTIME", "", Time0, BuildNow, kNever},
    {"PROCTIME", "", Proctime, BuildNow, kNever},
    {"PROCTIME_MATERIALIZE", "p", Ltz3, BuildMaterialize, kStrict},
    {"CURRENT_WATERMARK", "p", Watermark, BuildWatermark, kAlways},
};

const std::unordered_map<std::string_view, const Function*>& Index() {
  static const auto index = [] {
    std::unordered_map<std::string_view, const Function*> map;
    for (const Function& function : kFunctions) map.emplace(function.name, &function);
    return map;
  }();
  return index;
}

}  // namespace

std::span<const Function> AllFunctions() { return kFunctions; }

const Function* FindFunction(std::string_view name) {
  const auto found = Index().find(name);
  return found == Index().end() ? nullptr : found->second;
}

bool IsScalarFunction(std::string_view name) { return FindFunction(name) != nullptr; }

const std::vector<std::string>& ScalarFunctionNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Function& function : kFunctions) {
      const std::string name = function.name;
      const bool word = std::all_of(name.begin(), name.end(),
                                    [](unsigned char c) { return std::isalnum(c) || c == '_'; });
      if (word && name != "Reinterpret" && name != "CAST" && name != "TRY_CAST")
        list.push_back(name);
    }
    return list;
  }();
  return names;
}

std::vector<Type> CaseBranches(Arguments operands) {
  std::vector<Type> branches;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i % 2 == 1 || i + 1 == operands.size()) branches.push_back(operands[i].type);
  }
  return branches;
}

}  // namespace rowtide
