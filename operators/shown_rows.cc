#include "operators/shown_rows.h"

#include <cstring>

namespace rowtide {
namespace {

Schema WithChange(const Schema& rows) {
  Schema schema;
  schema.Add({"change", Type::String().NotNull()});
  for (const Field& field : rows.fields()) schema.Add(field);
  return schema;
}

class ShownBundle final : public ShownState {
 public:
  ShownBundle(const ShownForm& form, const Bundle* bundle, const RowCodec* codec)
      : ShownState({form.name, form.input, form.key, WithChange(form.rows)}),
        bundle_(bundle),
        codec_(codec) {}

  Status NextKeys(int keys_max, KeyBatch* keys) override {
    Begin();
    keys->Clear();
    while (keys->rows() < keys_max && !list_.empty()) list_.TakeFirst(keys);
    return Status::Ok();
  }

  Status Rows(const KeyBatch& keys, const Visit& visit) override {
    Begin();
    ShownRows rows(row_schema(), visit);
    for (int32_t i = 0; i < keys.rows(); ++i) {
      const auto found = numbers_.find(std::string(keys.key(i)));
      if (found == numbers_.end() || !bundle_->HasRows(found->second)) continue;
      rows.BeginKey(i);
      for (Bundle::Row row = bundle_->First(found->second);; row = bundle_->At(row.next)) {
        RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
        builder->AppendValue(0, row_schema().type(0), std::string(Text(row.kind)));
        codec_->AppendTo(row.bytes.data(), builder, 1);
        if (row.next == Bundle::kNone) break;
      }
    }
    return rows.Finish();
  }

 private:
  void Begin() {
    if (has_begun_) return;
    has_begun_ = true;
    KeyBatch keys;
    bundle_->KeysFrom(0, bundle_->keys(), &keys);
    for (int i = 0; i < keys.rows(); ++i) {
      list_.Add(keys.key(i));
      numbers_.emplace(keys.key(i), static_cast<uint32_t>(i));
    }
    list_.Sort();
  }

  const Bundle* bundle_;
  const RowCodec* codec_;
  bool has_begun_ = false;
  KeyList list_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

std::unique_ptr<ShownState> ShowRow(const ShownForm& form, ValueState* state, const RowCodec* codec,
                                    RowOf row_of) {
  return ShowEntries<ValueState>(
      form, state,
      [state, codec, row_of = std::move(row_of)](Entry entry, ShownRows& rows) -> Status {
        if (!state->Has(entry) || state->IsMarked(entry)) return Status::Ok();
        const std::string_view row = row_of(state->Value(entry));
        if (row.empty()) return Status::Ok();
        RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
        codec->AppendTo(row.data(), builder);
        return Status::Ok();
      });
}

std::unique_ptr<ShownState> ShowKeys(const ShownForm& form, ValueState* state) {
  return ShowEntries<ValueState>(form, state, [state](Entry entry, ShownRows& rows) -> Status {
    if (!state->Has(entry) || state->IsMarked(entry)) return Status::Ok();
    return rows.BeginRow().status();
  });
}

std::unique_ptr<ShownState> ShowRows(const ShownForm& form, OrderedState* state,
                                     const RowCodec* codec) {
  return ShowEntries<OrderedState>(
      form, state, [state, codec](Entry entry, ShownRows& rows) -> Status {
        for (OrderedState::Cursor cursor = state->Begin(entry); cursor.valid(); cursor.Next()) {
          RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
          codec->AppendTo(cursor.row().data(), builder);
        }
        return Status::Ok();
      });
}

std::unique_ptr<ShownState> ShowNumber(const ShownForm& form, ValueState* state) {
  const Type type = form.rows.type(0);
  return ShowEntries<ValueState>(form, state,
                                 [state, type](Entry entry, ShownRows& rows) -> Status {
                                   if (!state->Has(entry)) return Status::Ok();
                                   int64_t number;
                                   std::memcpy(&number, state->Value(entry).data(), sizeof(number));
                                   RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
                                   builder->AppendValue(0, type, number);
                                   return Status::Ok();
                                 });
}

std::unique_ptr<ShownState> ShowBundle(const ShownForm& form, const Bundle* bundle,
                                       const RowCodec* codec) {
  return std::make_unique<ShownBundle>(form, bundle, codec);
}

Schema NumberColumn(const std::string& name) {
  Schema schema;
  schema.Add({name, Type::BigInt().NotNull()});
  return schema;
}

}  // namespace rowtide
