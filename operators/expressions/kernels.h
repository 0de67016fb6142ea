// The builders of the table of functions (registry.cc): each turns a call into a node. One group a
// file, named alike.
#pragma once

#include "operators/expressions/node.h"

namespace rowtide {

using Builder = Result<NodePointer> (*)(CallSite& site);

// arithmetic.cc
Result<NodePointer> BuildAdd(CallSite& site);
Result<NodePointer> BuildSubtract(CallSite& site);
Result<NodePointer> BuildMultiply(CallSite& site);
Result<NodePointer> BuildDivide(CallSite& site);
Result<NodePointer> BuildRemainder(CallSite& site);
Result<NodePointer> BuildWholeDivide(CallSite& site);  // /INT
Result<NodePointer> BuildReinterpret(CallSite& site);
// math.cc
Result<NodePointer> BuildAbs(CallSite& site);
Result<NodePointer> BuildSign(CallSite& site);
Result<NodePointer> BuildRound(CallSite& site);
Result<NodePointer> BuildTruncate(CallSite& site);
Result<NodePointer> BuildFloor(CallSite& site);
Result<NodePointer> BuildCeil(CallSite& site);
Result<NodePointer> BuildMath(CallSite& site);    // POWER, SQRT, EXP, LN, SIN, …
Result<NodePointer> BuildRandom(CallSite& site);  // RAND, RAND_INTEGER, UUID
// comparison.cc, search.cc
Result<NodePointer> BuildComparison(CallSite& site);
Result<NodePointer> BuildDistinct(CallSite& site);  // IS [NOT] DISTINCT FROM
Result<NodePointer> BuildGreatest(CallSite& site);
Result<NodePointer> BuildLeast(CallSite& site);
Result<NodePointer> BuildSearch(CallSite& site);
// logic.cc
Result<NodePointer> BuildAnd(CallSite& site);
Result<NodePointer> BuildOr(CallSite& site);
Result<NodePointer> BuildNot(CallSite& site);
Result<NodePointer> BuildTruth(CallSite& site);  // IS NULL, IS TRUE, IS NOT FALSE, …
Result<NodePointer> BuildCase(CallSite& site);
Result<NodePointer> BuildIf(CallSite& site);
Result<NodePointer> BuildCoalesce(CallSite& site);
// casts.cc
Result<NodePointer> BuildCast(CallSite& site);
Result<NodePointer> BuildTryCast(CallSite& site);
Result<NodePointer> BuildTypeOf(CallSite& site);
// strings.cc
Result<NodePointer> BuildConcatenation(CallSite& site);  // ||
Result<NodePointer> BuildChangeCase(CallSite& site);     // UPPER, LOWER, INITCAP
Result<NodePointer> BuildReverse(CallSite& site);
Result<NodePointer> BuildRepeat(CallSite& site);
Result<NodePointer> BuildCharacter(CallSite& site);  // ASCII, CHR
Result<NodePointer> BuildLength(CallSite& site);
Result<NodePointer> BuildTrim(CallSite& site);
Result<NodePointer> BuildTrimSide(CallSite& site);  // LTRIM, RTRIM, BTRIM
Result<NodePointer> BuildSubstring(CallSite& site);
Result<NodePointer> BuildLeft(CallSite& site);
Result<NodePointer> BuildRight(CallSite& site);
Result<NodePointer> BuildConcat(CallSite& site);
Result<NodePointer> BuildConcatWs(CallSite& site);
Result<NodePointer> BuildPad(CallSite& site);
Result<NodePointer> BuildOverlay(CallSite& site);
Result<NodePointer> BuildReplace(CallSite& site);
Result<NodePointer> BuildTranslate(CallSite& site);
// strings_find.cc
Result<NodePointer> BuildPosition(CallSite& site);  // POSITION, LOCATE
Result<NodePointer> BuildInstr(CallSite& site);
Result<NodePointer> BuildSplitIndex(CallSite& site);
Result<NodePointer> BuildStartsOrEnds(CallSite& site);
Result<NodePointer> BuildLike(CallSite& site);
// similar.cc
Result<NodePointer> BuildSimilar(CallSite& site);  // SIMILAR TO
// regex.cc
Result<NodePointer> BuildRegexp(CallSite& site);
Result<NodePointer> BuildRegexpExtract(CallSite& site);
Result<NodePointer> BuildRegexpReplace(CallSite& site);
Result<NodePointer> BuildRegexpCount(CallSite& site);
Result<NodePointer> BuildRegexpInstr(CallSite& site);
Result<NodePointer> BuildRegexpSubstr(CallSite& site);
// encodings.cc
Result<NodePointer> BuildHash(CallSite& site);  // MD5, SHA1, SHA2, SHA256, …
Result<NodePointer> BuildToBase64(CallSite& site);
Result<NodePointer> BuildFromBase64(CallSite& site);
Result<NodePointer> BuildEncode(CallSite& site);
Result<NodePointer> BuildDecode(CallSite& site);
Result<NodePointer> BuildHex(CallSite& site);
Result<NodePointer> BuildUnhex(CallSite& site);
Result<NodePointer> BuildBin(CallSite& site);
Result<NodePointer> BuildUrlEncode(CallSite& site);
Result<NodePointer> BuildUrlDecode(CallSite& site);
// json.cc
Result<NodePointer> BuildJsonValue(CallSite& site);
Result<NodePointer> BuildJsonQuery(CallSite& site);
Result<NodePointer> BuildJsonExists(CallSite& site);
Result<NodePointer> BuildIsJson(CallSite& site);
Result<NodePointer> BuildJsonObject(CallSite& site);
Result<NodePointer> BuildJsonArray(CallSite& site);
Result<NodePointer> BuildJsonString(CallSite& site);
// times.cc
Result<NodePointer> BuildExtract(CallSite& site);
Result<NodePointer> BuildNow(
    CallSite& site);  // CURRENT_TIMESTAMP, LOCALTIMESTAMP, CURRENT_DATE, PROCTIME, …
Result<NodePointer> BuildWatermark(CallSite& site);
Result<NodePointer> BuildMaterialize(CallSite& site);
Result<NodePointer> BuildTimeFloor(CallSite& site, bool ceil);  // FLOOR and CEIL TO unit
// time_arithmetic.cc
bool IsTimeArithmetic(const CallSite& site);
Result<NodePointer> BuildTimeArithmetic(CallSite& site);
// time_texts.cc
Result<NodePointer> BuildDateFormat(CallSite& site);
Result<NodePointer> BuildToTimestamp(CallSite& site);
Result<NodePointer> BuildToTimestampLtz(CallSite& site);
Result<NodePointer> BuildToDate(CallSite& site);
Result<NodePointer> BuildFromUnixtime(CallSite& site);
Result<NodePointer> BuildUnixTimestamp(CallSite& site);
Result<NodePointer> BuildConvertTz(CallSite& site);

}  // namespace rowtide
