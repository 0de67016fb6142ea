// The parts of CAST, one group a file: numbers (casts.cc), strings (casts_text.cc), dates and times
// (casts_time.cc).
//
// Every one may assume that CanCast allows it, and that the type changes. With is_try a value that
// does not convert is NULL, else it is an error that quotes it.
#pragma once

#include "operators/expressions/node.h"

namespace rowtide {

struct CastSite {
  NodePointer operand;
  Type to;
  bool is_try;
  const EvaluationContext& context;
  const std::string& label;

  const Type& from() const { return operand->type(); }
  Nodes TakeOperand() {
    Nodes nodes;
    nodes.push_back(std::move(operand));
    return nodes;
  }
};

// f(call, in, &out) -> Outcome, with an error turned into NULL by TRY_CAST.
template <typename R, typename A, typename F>
NodePointer CastRow(CastSite& site, F f) {
  const Type to = site.to;
  std::string label = site.label;
  if (!site.is_try) return PerRow<R, A>(to, std::move(label), site.TakeOperand(), std::move(f));
  return PerRow<R, A>(to, std::move(label), site.TakeOperand(),
                      [f](RowCall& call, const A& in, R* out) {
                        const Outcome outcome = f(call, in, out);
                        return outcome == Outcome::kError ? Outcome::kNull : outcome;
                      });
}

Result<NodePointer> CastToText(CastSite& site);
Result<NodePointer> CastFromText(CastSite& site);
Result<NodePointer> CastTime(CastSite& site);  // between DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ

// String to a value of the type as CAST reads it; `reason` after kError.
Outcome TextToValue(std::string_view text, const Type& type, const std::string& zone, Value* value,
                    std::string* reason);

// Reads and writes a timestamp slot of any precision as milliseconds and nanoseconds.
template <typename Slot>
WideTime LoadTime(const Slot& slot, int precision) {
  if constexpr (std::is_same_v<Slot, WideTime>) {
    return slot;
  } else {
    if (precision <= 3) return {slot, 0};
    const int64_t millis = slot >= 0 ? slot / 1000 : -((-slot + 999) / 1000);
    return {millis, static_cast<int32_t>(slot - millis * 1000) * 1000};
  }
}
// Cuts what is beyond the precision.
void StoreTime(WideTime time, int precision, int64_t* slot);
void StoreTime(WideTime time, int precision, WideTime* slot);

}  // namespace rowtide
