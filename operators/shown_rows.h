// How operators show what they keep as rows: the forms that several of them share.
//
//   ShowRow     a row a key, at some place in its entry          Deduplicate, ChangelogNormalize, …
//   ShowKeys    that a key is there                              keep-first, whose rows are out
//   ShowRows    rows in their order, each a BinaryRow            Rank, OverRowNumber, …
//   ShowNumber  a BIGINT a key
//   ShowBundle  what waits for the next flush, with the kind of each change in front
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "operators/mini_batch.h"
#include "state/ordered_state.h"
#include "state/row_codec.h"
#include "state/shown_state.h"
#include "state/value_state.h"

namespace rowtide {

// `row_of`: the row in a value; an empty one has nothing to show. Borrows state and codec, as all
// of these do.
using RowOf = std::function<std::string_view(std::string_view value)>;
std::unique_ptr<ShownState> ShowRow(
    const ShownForm& form, ValueState* state, const RowCodec* codec,
    RowOf row_of = [](std::string_view value) { return value; });
std::unique_ptr<ShownState> ShowKeys(const ShownForm& form, ValueState* state);
std::unique_ptr<ShownState> ShowRows(const ShownForm& form, OrderedState* state,
                                     const RowCodec* codec);
std::unique_ptr<ShownState> ShowNumber(const ShownForm& form, ValueState* state);
// `form.rows`: of the bundle's rows.
std::unique_ptr<ShownState> ShowBundle(const ShownForm& form, const Bundle* bundle,
                                       const RowCodec* codec);

// One BIGINT column of that name.
Schema NumberColumn(const std::string& name);

}  // namespace rowtide
