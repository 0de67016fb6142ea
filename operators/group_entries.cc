#include "operators/group_entries.h"

namespace rowtide {
namespace {

TextCell CellAt(const char* at) {
  TextCell cell;
  std::memcpy(&cell, at, sizeof(cell));
  return cell;
}

void PutCell(char* at, TextCell cell) { std::memcpy(at, &cell, sizeof(cell)); }

}  // namespace

GroupEntries::GroupEntries(const OperatorContext& context, int fixed_bytes,
                           std::vector<int> text_offsets)
    : state_(context),
      fixed_bytes_(static_cast<size_t>(fixed_bytes)),
      text_offsets_(std::move(text_offsets)) {
  state_.CheckValues([this](std::string_view value) { return Check(value); });
}

Status GroupEntries::Check(std::string_view value) const {
  const auto wrong = [size = value.size()] {
    return Status::Corruption("a group in the state has {} bytes", size);
  };
  if (value.size() < fixed_bytes_) return wrong();
  std::string_view texts = value.substr(fixed_bytes_);
  for (size_t i = 0; i < text_offsets_.size(); ++i) {
    uint32_t length;
    if (texts.size() < sizeof(length)) return wrong();
    std::memcpy(&length, texts.data(), sizeof(length));
    texts.remove_prefix(sizeof(length));
    if (texts.size() < length) return wrong();
    texts.remove_prefix(length);
  }
  return texts.empty() ? Status::Ok() : wrong();
}

Status GroupEntries::Find(const KeyBatch& keys) {
  scratches_ = 0;
  scratch_by_slot_.clear();
  return state_.FindOrCreate(keys, &entries_);
}

char* GroupEntries::Create(int unit) {
  if (!text_offsets_.empty()) return ScratchOf(unit, true);
  char* data = state_.Assign(entries_[static_cast<size_t>(unit)], fixed_bytes_);
  std::memset(data, 0, fixed_bytes_);
  return data;
}

char* GroupEntries::ScratchOf(int unit, bool create) {
  const Entry entry = entries_[static_cast<size_t>(unit)];
  Scratch*& scratch = scratch_by_slot_[entry.slot];
  if (!scratch) {
    if (scratches_ == pool_.size()) pool_.emplace_back();
    scratch = &pool_[scratches_++];
    scratch->entry = entry;
    Load(scratch);
  }
  if (create) {
    scratch->exists = true;
    std::memset(scratch->fixed.data(), 0, fixed_bytes_);
    for (size_t i = 0; i < text_offsets_.size(); ++i) {
      scratch->texts[i].clear();
      PutCell(scratch->fixed.data() + text_offsets_[i], {&scratch->texts[i], 0});
    }
  }
  return scratch->exists ? scratch->fixed.data() : nullptr;
}

void GroupEntries::Load(Scratch* scratch) {
  scratch->fixed.resize(fixed_bytes_);
  scratch->texts.resize(text_offsets_.size());
  scratch->exists = state_.Has(scratch->entry);
  if (!scratch->exists) return;
  const char* from = state_.Value(scratch->entry).data();
  std::memcpy(scratch->fixed.data(), from, fixed_bytes_);
  from += fixed_bytes_;
  for (size_t i = 0; i < text_offsets_.size(); ++i) {
    uint32_t length;
    std::memcpy(&length, from, sizeof(length));
    from += sizeof(length);
    scratch->texts[i].assign(from, length);
    from += length;
    char* at = scratch->fixed.data() + text_offsets_[i];
    PutCell(at, {&scratch->texts[i], CellAt(at).present});
  }
}

void GroupEntries::Erase(int unit) {
  const Entry entry = entries_[static_cast<size_t>(unit)];
  if (!text_offsets_.empty()) scratch_by_slot_[entry.slot]->exists = false;
  if (state_.Has(entry)) state_.Erase(entry);
}

void GroupEntries::WriteBack() {
  for (size_t k = 0; k < scratches_; ++k) {
    Scratch& scratch = pool_[k];
    if (!scratch.exists) continue;
    size_t size = fixed_bytes_;
    for (const std::string& text : scratch.texts) size += sizeof(uint32_t) + text.size();
    char* to = state_.Assign(scratch.entry, size);
    std::memcpy(to, scratch.fixed.data(), fixed_bytes_);
    for (int offset : text_offsets_) PutCell(to + offset, {nullptr, CellAt(to + offset).present});
    to += fixed_bytes_;
    for (const std::string& text : scratch.texts) {
      const uint32_t length = static_cast<uint32_t>(text.size());
      std::memcpy(to, &length, sizeof(length));
      std::memcpy(to + sizeof(length), text.data(), length);
      to += sizeof(length) + length;
    }
  }
}

}  // namespace rowtide
