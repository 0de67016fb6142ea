#include "cli/state_compare.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>

#include "cli/error.h"
#include "cli/state_key.h"
#include "cli/state_look.h"
#include "cli/state_paths.h"
#include "cli/state_rows.h"
#include "cli/terminal.h"

namespace rowtide {
namespace {

constexpr int kKeysAtOnce = 512;
constexpr int64_t kRowsOnTerminal = 1000;
constexpr const char* kUsageCode = "RT2800";

OutputMode ModeOf(std::optional<OutputMode> asked) {
  return asked.value_or(IsTerminal(STDOUT_FILENO) ? OutputMode::kTable : OutputMode::kJson);
}

// By its number, or by its name: of several nodes of one name, all.
Result<std::set<int>> ChosenNodes(const std::vector<LookedNode>& nodes, const std::string& wanted) {
  std::set<int> chosen;
  std::vector<std::string> names;
  for (const LookedNode& node : nodes) {
    if (wanted.empty() || wanted == std::to_string(node.number) || wanted == node.identity.kind)
      chosen.insert(node.number);
    names.push_back(node.identity.kind);
  }
  if (!chosen.empty()) return chosen;
  const std::string nearest = Nearest(wanted, names);
  return Status::InvalidArgument("the checkpoint has no operator {}", Quote(wanted))
      .WithErrorCode(kUsageCode)
      .WithHint(nearest.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                                : "did you mean " + Quote(nearest) + "?");
}

std::string Title(const LookedNode& node) {
  return fmt::format("{} {}", node.number, node.identity.kind);
}

// What there is besides rows: in one line, and what cannot be shown with the reason.
void SayWhatIsNotShown(const std::vector<LookedNode>& nodes, const std::set<int>& chosen) {
  std::string others;
  for (const LookedNode& node : nodes) {
    if (!chosen.contains(node.number)) continue;
    if (!node.fault.empty()) {
      PrintNote("not shown", fmt::format("{}: {}", Title(node), node.fault));
    } else if (node.states.empty() && !node.bytes.empty()) {
      others += fmt::format("{}{} ({} bytes)", others.empty() ? "" : ", ", Title(node),
                            node.bytes.size());
    }
  }
  if (!others.empty()) PrintNote("no rows", "in the state of " + others);
}

// --- get ---

class Getter {
 public:
  Getter(StateLook* look, StateKey key, StateRows* rows, int64_t limit)
      : look_(look), key_(std::move(key)), rows_(rows), limit_(limit) {}

  Status Get(LookedNode& node) {
    for (LookedState& state : node.states) {
      if (is_full()) return Status::Ok();
      if (!key_.Fits(state.key_schema())) continue;
      fits_ = true;
      rows_->Begin(node, state);
      RT_ASSIGN(const std::vector<std::optional<Value>> wanted, key_.ValuesOf(state.key_schema()));
      const bool is_whole = !key_.empty() && std::all_of(wanted.begin(), wanted.end(),
                                                         [](const auto& v) { return !!v; });
      RT_TRY(is_whole ? LookUp(state, wanted) : GoThrough(state, wanted));
      rows_->End();
    }
    return Status::Ok();
  }
  // Some state has the columns of the key.
  bool fits() const { return fits_; }
  bool is_full() const { return rows_->rows() >= limit_; }

 private:
  Status LookUp(LookedState& state, const std::vector<std::optional<Value>>& wanted) {
    std::vector<Value> values;
    for (const std::optional<Value>& value : wanted) values.push_back(*value);
    KeyBatch keys;
    RT_TRY(
        state.key_codec().Encode(BatchOf(state.key_schema(), {{RowKind::kInsert, values}}), &keys));
    return Print(state, keys, {});
  }

  Status GoThrough(LookedState& state, const std::vector<std::optional<Value>>& wanted) {
    KeyBatch keys;
    while (!is_full()) {
      RT_TRY(state.NextKeys(kKeysAtOnce, &keys));
      if (keys.rows() == 0) break;
      RT_TRY(Print(state, keys, wanted));
      RT_TRY(look_->MakeRoom());
    }
    return Status::Ok();
  }

  Status Print(LookedState& state, const KeyBatch& keys,
               const std::vector<std::optional<Value>>& wanted) {
    KeyBatch matching;
    std::vector<std::vector<Value>> values;
    for (int i = 0; i < keys.rows(); ++i) {
      RT_ASSIGN(std::vector<Value> key, state.key_codec().Decode(keys.key(i)));
      bool matches = true;
      for (size_t k = 0; k < wanted.size(); ++k) matches &= !wanted[k] || *wanted[k] == key[k];
      if (!matches) continue;
      matching.Add(keys.key(i), keys.hash(i));
      values.push_back(std::move(key));
    }
    RT_ASSIGN(const auto rows, rows_->RowsOf(state, matching));
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const RowText& row : rows[i]) {
        if (is_full()) return Status::Ok();
        rows_->Print(' ', values[i], row);
      }
    }
    return Status::Ok();
  }

  StateLook* look_;
  StateKey key_;
  StateRows* rows_;
  int64_t limit_;
  bool fits_ = false;
};

Status NoSuchKey(const StateKey& key, const std::vector<LookedNode>& nodes,
                 const std::set<int>& chosen) {
  std::vector<std::string> columns;
  std::string keys;
  for (const LookedNode& node : nodes) {
    if (!chosen.contains(node.number) || node.states.empty()) continue;
    const std::vector<std::string> names = node.states[0].key_schema().names();
    columns.insert(columns.end(), names.begin(), names.end());
    keys +=
        fmt::format("{}{} has ({})", keys.empty() ? "" : ", ", Title(node), fmt::join(names, ", "));
  }
  for (const std::string& name : key.names()) {
    if (std::find(columns.begin(), columns.end(), name) != columns.end()) continue;
    const std::string nearest = Nearest(name, columns);
    return Status::InvalidArgument("no operator has the key column {}{}", Quote(name),
                                   nearest.empty() ? "" : "; the nearest is " + Quote(nearest))
        .WithErrorCode(kUsageCode)
        .WithHint("keys: " + keys);
  }
  return Status::InvalidArgument("no operator has a key of these columns")
      .WithErrorCode(kUsageCode)
      .WithHint("keys: " + keys);
}

Status Get(const StateGetArguments& arguments, OutputMode mode) {
  RT_ASSIGN(StateKey key, StateKey::Parse(arguments.key));
  RT_ASSIGN(const std::unique_ptr<StateLook> look, StateLook::Open(arguments.path));
  RT_ASSIGN(const std::set<int> chosen, ChosenNodes(look->nodes(), arguments.node));
  const bool by_default = !arguments.limit && mode == OutputMode::kTable;
  const int64_t limit =
      by_default ? kRowsOnTerminal : arguments.limit.value_or(std::numeric_limits<int64_t>::max());
  StateRows rows(mode, look->local_time_zone(), false);
  Getter getter(look.get(), key, &rows, limit);
  if (key.empty()) SayWhatIsNotShown(look->nodes(), chosen);
  for (LookedNode& node : look->nodes()) {
    if (!chosen.contains(node.number)) continue;
    RT_TRY(getter.Get(node));
  }
  if (!key.empty() && !getter.fits()) return NoSuchKey(key, look->nodes(), chosen);
  if (!key.empty() && rows.rows() == 0) PrintNote("note", "no operator keeps rows of this key");
  if (getter.is_full() && by_default)
    PrintNote("note",
              fmt::format("the first {} rows; --limit N for more, --output json for all", limit));
  return Status::Ok();
}

// --- diff ---

// The keys of one side, a slice at a time, with their rows.
class Side {
 public:
  Side(StateLook* look, LookedState* state, const StateRows* rows)
      : look_(look), state_(state), rows_(rows) {}

  // Makes the first key that is left the one at hand. False: none is.
  Result<bool> Ready() {
    while (at_ == keys_.rows()) {
      RT_TRY(look_->MakeRoom());
      RT_TRY(state_->NextKeys(kKeysAtOnce, &keys_));
      at_ = 0;
      if (keys_.rows() == 0) return false;
      RT_ASSIGN(texts_, rows_->RowsOf(*state_, keys_));
    }
    place_ = WalkPlace(key());
    return true;
  }
  std::string_view key() const { return keys_.key(at_); }
  const std::string& place() const { return place_; }
  const std::vector<RowText>& texts() const { return texts_[static_cast<size_t>(at_)]; }
  void Next() { ++at_; }

 private:
  StateLook* look_;
  LookedState* state_;
  const StateRows* rows_;
  KeyBatch keys_;
  int at_ = 0;
  std::vector<std::vector<RowText>> texts_;
  std::string place_;
};

// Of one state, by keys that have rows.
struct KeyCounts {
  int64_t added = 0;
  int64_t gone = 0;
  int64_t changed = 0;
  int64_t same = 0;
  bool any() const { return added + gone + changed > 0; }
};

class Differ {
 public:
  Differ(StateLook* before, StateLook* after, OutputMode mode)
      : before_(before), after_(after), rows_(mode, after->local_time_zone(), true) {}

  Status Compare(LookedNode& was, LookedNode& is) {
    for (const LookedNode* node : {&was, &is}) {
      if (!node->fault.empty())
        PrintNote("not shown", fmt::format("{}: {}", Title(*node), node->fault));
    }
    if (is.states.empty() && was.bytes != is.bytes && was.fault.empty() && is.fault.empty())
      PrintNote("note", Title(is) + ": what it keeps is not the same");
    for (size_t i = 0; i < std::min(was.states.size(), is.states.size()); ++i) {
      RT_ASSIGN(const KeyCounts counts, CompareStates(is, was.states[i], is.states[i]));
      differs_ |= counts.any();
      if (!counts.any() && counts.same == 0) continue;
      PrintNote("keys", fmt::format("{}, {}: {} added, {} gone, {} changed, {} the same", Title(is),
                                    is.states[i].name(), counts.added, counts.gone, counts.changed,
                                    counts.same));
    }
    return Status::Ok();
  }
  // An operator that the other checkpoint does not have.
  void NoteAlone(const LookedNode& node, bool is_new) {
    if (node.states.empty()) return;
    differs_ = true;
    PrintNote("note", fmt::format("{} is {}: {}", Title(node), is_new ? "new" : "gone",
                                  node.identity.description));
  }
  bool differs() const { return differs_; }

 private:
  Result<KeyCounts> CompareStates(const LookedNode& node, LookedState& was, LookedState& is) {
    KeyCounts counts;
    rows_.Begin(node, is);
    Side left(before_, &was, &rows_), right(after_, &is, &rows_);
    RT_ASSIGN(bool has_left, left.Ready());
    RT_ASSIGN(bool has_right, right.Ready());
    static const std::vector<RowText> none;
    while (has_left || has_right) {
      const bool takes_left = has_left && (!has_right || left.place() <= right.place());
      const bool takes_right = has_right && (!has_left || right.place() <= left.place());
      RT_TRY(CompareKey(is, takes_left ? left.key() : right.key(), takes_left ? left.texts() : none,
                        takes_right ? right.texts() : none, &counts));
      if (takes_left) {
        left.Next();
        RT_ASSIGN(has_left, left.Ready());
      }
      if (takes_right) {
        right.Next();
        RT_ASSIGN(has_right, right.Ready());
      }
    }
    rows_.End();
    return counts;
  }

  Status CompareKey(const LookedState& state, std::string_view key, const std::vector<RowText>& was,
                    const std::vector<RowText>& is, KeyCounts* counts) {
    if (was == is) {
      counts->same += !is.empty();
      return Status::Ok();
    }
    ++(was.empty() ? counts->added : is.empty() ? counts->gone : counts->changed);
    RT_ASSIGN(const std::vector<Value> values, state.key_codec().Decode(key));
    PrintMissing('-', values, was, is);
    PrintMissing('+', values, is, was);
    return Status::Ok();
  }

  // Those of `rows` that `others` do not have, as often as they do not. Rows that have changed
  // places alone are shown on both sides.
  void PrintMissing(char change, const std::vector<Value>& key, const std::vector<RowText>& rows,
                    const std::vector<RowText>& others) {
    std::multiset<std::string_view> left;
    for (const RowText& row : others) left.insert(row.json);
    bool any = false;
    for (const RowText& row : rows) {
      const auto found = left.find(row.json);
      if (found != left.end()) {
        left.erase(found);
        continue;
      }
      rows_.Print(change, key, row);
      any = true;
    }
    if (any || rows.size() != others.size() || !left.empty()) return;
    for (const RowText& row : rows) rows_.Print(change, key, row);
  }

  StateLook* before_;
  StateLook* after_;
  StateRows rows_;
  bool differs_ = false;
};

Result<bool> Diff(const StateDiffArguments& arguments, OutputMode mode) {
  std::string before_path = arguments.before, after_path = arguments.after;
  if (after_path.empty()) {
    RT_ASSIGN(const std::vector<std::string> paths, CheckpointsOf(before_path));
    if (paths.size() < 2)
      return Status::InvalidArgument("{} is one checkpoint; two are compared", paths[0])
          .WithErrorCode(kUsageCode)
          .WithHint("rowtide state ls lists those of a folder");
    before_path = paths[1];
    after_path = paths[0];
  }
  RT_ASSIGN(const std::unique_ptr<StateLook> before, StateLook::Open(before_path));
  RT_ASSIGN(const std::unique_ptr<StateLook> after, StateLook::Open(after_path));
  RT_ASSIGN(const std::set<int> chosen, ChosenNodes(after->nodes(), arguments.node));
  Differ differ(before.get(), after.get(), mode);
  std::set<int> known;
  for (LookedNode& is : after->nodes()) {
    const auto was =
        std::find_if(before->nodes().begin(), before->nodes().end(), [&](const LookedNode& node) {
          return node.identity == is.identity && !known.contains(node.number);
        });
    if (was != before->nodes().end()) known.insert(was->number);
    if (!chosen.contains(is.number)) continue;
    if (was == before->nodes().end()) {
      differ.NoteAlone(is, true);
    } else {
      RT_TRY(differ.Compare(*was, is));
    }
  }
  for (const LookedNode& was : before->nodes()) {
    if (!known.contains(was.number) && arguments.node.empty()) differ.NoteAlone(was, false);
  }
  return differ.differs();
}

}  // namespace

int GetState(const StateGetArguments& arguments, std::optional<OutputMode> mode) {
  const Status status = Get(arguments, ModeOf(mode));
  return status.ok() ? 0 : PrintError(status, "", "");
}

int DiffState(const StateDiffArguments& arguments, std::optional<OutputMode> mode) {
  const Result<bool> differs = Diff(arguments, ModeOf(mode));
  if (differs.ok()) return *differs ? 1 : 0;
  return std::max(2, PrintError(differs.status(), "", ""));
}

}  // namespace rowtide
