// JSON_VALUE, JSON_QUERY, JSON_EXISTS, IS JSON, JSON_OBJECT, JSON_ARRAY, JSON_STRING.
//
//   strict   invalid text, a missing key, a JSON null, a value of the wrong shape: ERROR (default)
//   lax      all of that is EMPTY
#include <map>

#include "engine/base64.h"
#include "engine/value_text.h"
#include "operators/expressions/casts.h"
#include "operators/expressions/hashes.h"
#include "operators/expressions/json_path.h"
#include "operators/expressions/json_text.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/registry.h"

namespace rowtide {
namespace {

// What the path of a call found in a text.
struct Found {
  bool is_error = false;
  const Json* value = nullptr;  // null: nothing, or a JSON null
};

class PathSearch {
 public:
  static Result<PathSearch> Make(const CallSite& site) {
    const std::string* text = site.LiteralText(1);
    if (!text) return Status::Unsupported("{} with a path that is no literal", site.call.function);
    PathSearch search;
    if (!search.path_.Parse(*text))
      return Status::InvalidArgument("{} is no JSON path of the kind $.name[0].*", Quote(*text))
          .WithErrorCode("RT2025");
    return search;
  }

  Found In(std::string_view text) {
    json_ = Json();
    if (!ParseJson(text, &json_, false)) return {!path_.is_lax(), nullptr};
    if (json_.kind == Json::Kind::kNull) return {!path_.is_lax(), nullptr};
    const JsonPath::Found found = path_.Find(json_);
    if (found.is_missing || found.value == nullptr || found.value->kind == Json::Kind::kNull)
      return {!path_.is_lax(), nullptr};
    return {false, found.value};
  }
  bool is_lax() const { return path_.is_lax(); }

 private:
  JsonPath path_;
  Json json_;
};

enum class Behavior : uint8_t { kNull, kError, kDefault, kEmptyArray, kEmptyObject, kTrue, kFalse };

std::string ScalarText(const Json& json) {
  if (json.kind == Json::Kind::kTrue) return "true";
  return json.kind == Json::Kind::kFalse ? "false" : json.text;
}

// --- JSON_VALUE ----------------------------------------------------------------------------------

// What happens ON EMPTY or ON ERROR: `argument` is the value of DEFAULT.
struct ValueBehavior {
  Behavior behavior = Behavior::kNull;
  size_t argument = 0;
};

class JsonValueNode final : public Node {
 public:
  JsonValueNode(Type type, std::string label, Nodes arguments, PathSearch search,
                ValueBehavior on_empty, ValueBehavior on_error)
      : Node(type),
        label_(std::move(label)),
        arguments_(std::move(arguments)),
        views_(arguments_.size()),
        search_(std::move(search)),
        on_empty_(on_empty),
        on_error_(on_error) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    for (size_t i = 0; i < arguments_.size(); ++i)
      RT_TRY(arguments_[i]->Compute(frame, rows, &views_[i]));
    width_ = static_cast<size_t>(WidthOf(LayoutOf(type_)));
    char* const slots = buffer_.Bytes(width_ * static_cast<size_t>(frame.rows));
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    for (int i = 0; i < rows.count; ++i) {
      const int row = rows.index != nullptr ? rows.index[i] : i;
      nulls[row] = 1;
      if (views_[0].IsNull(row)) continue;
      const std::string_view text = views_[0].slots<StringView>()[row].view();
      const Found found = search_.In(text);
      const bool wrong_shape = found.value != nullptr && !found.value->is_scalar();
      char* const slot = slots + static_cast<size_t>(row) * width_;
      if (!found.is_error && found.value != nullptr && !wrong_shape) {
        if (!Write(frame, *found.value, slot)) {
          return Status::DataError("{} is no {} in {}", Quote(ScalarText(*found.value)),
                                   ToString(type_), label_);
        }
        nulls[row] = 0;
        continue;
      }
      const bool empty =
          !found.is_error && (found.value == nullptr || (wrong_shape && search_.is_lax()));
      RT_TRY(Otherwise(empty ? on_empty_ : on_error_, row, slot, &nulls[row]));
    }
    *out = {slots, nulls};
    return Status::Ok();
  }

 private:
  bool Write(const Frame& frame, const Json& json, char* slot) {
    const std::string text = ScalarText(json);
    if (type_.kind == TypeKind::kVarChar || type_.kind == TypeKind::kChar) {
      const StringView view = frame.strings->Copy(text);
      std::memcpy(slot, &view, sizeof(view));
      return true;
    }
    // Java's classes do not change: 1 is no DOUBLE, 1.5 no INTEGER, "1" neither.
    const bool is_number = json.kind == Json::Kind::kNumber;
    if (is_number != IsNumber(type_) || json.kind == Json::Kind::kString) return false;
    const bool is_whole = text.find_first_of(".E") == std::string::npos;
    if (is_number && is_whole != IsInteger(type_)) return false;
    Value value;
    std::string reason;
    if (TextToValue(text, type_, "UTC", &value, &reason) != Outcome::kValue) return false;
    if (const bool* truth = std::get_if<bool>(&value)) {
      *slot = *truth ? 1 : 0;
    } else if (const double* number = std::get_if<double>(&value)) {
      std::memcpy(slot, number, sizeof(*number));
    } else {
      std::memcpy(slot, &std::get<int64_t>(value), width_);  // little endian: the low bytes
    }
    return true;
  }

  Status Otherwise(ValueBehavior otherwise, int row, char* slot, uint8_t* is_null) {
    if (otherwise.behavior == Behavior::kError)
      return Status::DataError("no such value in {}", label_);
    if (otherwise.behavior != Behavior::kDefault) return Status::Ok();
    const View& view = views_[otherwise.argument];
    *is_null = view.IsNull(row) ? 1 : 0;
    std::memcpy(slot, view.data + static_cast<size_t>(row) * width_, width_);
    return Status::Ok();
  }

  std::string label_;
  Nodes arguments_;
  std::vector<View> views_;
  PathSearch search_;
  ValueBehavior on_empty_;
  ValueBehavior on_error_;
  size_t width_ = 0;
};

// --- making JSON ---------------------------------------------------------------------------------

// Calls whose result is JSON already are put in as they are.
bool MakesJson(const Expression& e) {
  return e.is_call("JSON_OBJECT") || e.is_call("JSON_ARRAY") || e.is_call("JSON_QUERY") ||
         e.is_call("JSON");
}

// As Java's BigDecimal.toString: an exponent when the first digit stands seven places behind the
// point.
void AppendBigDecimal(const Value& value, const Type& type, std::string* out) {
  std::string text;
  AppendCastText(value, type, "UTC", &text);
  const size_t first = text.find_first_of("123456789");
  const size_t point = text.find('.');
  const bool zero = first == std::string::npos;
  if (point == std::string::npos || (!zero && (first < point || first - point <= 6)) ||
      (zero && type.scale <= 6)) {
    *out += text;
    return;
  }
  if (zero) {
    *out += "0E-" + std::to_string(type.scale);
    return;
  }
  std::string digits = text.substr(first);
  if (digits.size() > 1) digits.insert(1, ".");
  *out += (text[0] == '-' ? "-" : "") + digits + "E-" + std::to_string(first - point);
}

void AppendAsJson(const Value& value, const Type& type, const std::string& zone, std::string* out) {
  if (IsNull(value)) {
    out->append("null");
  } else if (type.kind == TypeKind::kBoolean) {
    out->append(std::get<bool>(value) ? "true" : "false");
  } else if (IsApproximate(type)) {
    std::string text;  // a FLOAT with the digits of the DOUBLE that it is
    AppendCastText(value, Type::Double(), zone, &text);
    const bool finite = text.find_first_of("Ny") == std::string::npos;
    out->append(finite ? BigDecimalText(text) : "\"" + text + "\"");
  } else if (type.kind == TypeKind::kDecimal) {
    AppendBigDecimal(value, type, out);
  } else if (IsNumber(type)) {
    AppendCastText(value, type, zone, out);
  } else if (IsTimestamp(type)) {
    // ISO: a T in the middle, no zeros at the end of the fraction.
    std::string text;
    AppendCastText(value, type, "UTC", &text);
    text[text.find(' ')] = 'T';
    if (text.find('.') != std::string::npos) {
      text.erase(text.find_last_not_of('0') + 1);
      if (text.ends_with('.')) text.pop_back();
    }
    *out += '"' + text + (type.kind == TypeKind::kTimestampLtz ? "Z\"" : "\"");
  } else if (IsBinary(type)) {
    *out += '"';
    AppendBase64(std::get<std::string>(value), out);
    *out += '"';
  } else {
    std::string text;
    AppendCastText(value, type, zone, &text);
    AppendJsonString(text, out);
  }
}

// JSON_OBJECT, JSON_ARRAY: operand 0 says what becomes of NULL.
class MakeJsonNode final : public Node {
 public:
  MakeJsonNode(Type type, Nodes arguments, std::vector<bool> raw, bool object, bool skips_nulls,
               std::string zone)
      : Node(type),
        arguments_(std::move(arguments)),
        views_(arguments_.size()),
        raw_(std::move(raw)),
        object_(object),
        skips_nulls_(skips_nulls),
        zone_(std::move(zone)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    for (size_t i = 0; i < arguments_.size(); ++i)
      RT_TRY(arguments_[i]->Compute(frame, rows, &views_[i]));
    StringView* const slots = buffer_.Slots<StringView>(frame.rows);
    ForEach(rows, [&](int row) {
      text_.clear();
      Write(row);
      slots[row] = frame.strings->Copy(text_);
    });
    *out = {reinterpret_cast<const char*>(slots), nullptr};
    return Status::Ok();
  }

 private:
  void Write(int row) {
    if (object_) {
      WriteObject(row);
      return;
    }
    text_ += '[';
    for (size_t i = 0; i < views_.size(); ++i) {
      if (skips_nulls_ && views_[i].IsNull(row)) continue;
      if (text_.size() > 1) text_ += ',';
      WriteItem(row, i);
    }
    text_ += ']';
  }

  // Keys come in order of their text; of two equal ones the last counts.
  void WriteObject(int row) {
    std::map<std::string, size_t> values;
    for (size_t i = 0; i + 1 < views_.size(); i += 2) {
      if (skips_nulls_ && views_[i + 1].IsNull(row)) continue;
      const Value key = SlotValue(views_[i], row, arguments_[i]->type());
      values[std::get<std::string>(key)] = i + 1;
    }
    text_ += '{';
    for (const auto& [key, value] : values) {
      if (text_.size() > 1) text_ += ',';
      AppendJsonString(key, &text_);
      text_ += ':';
      WriteItem(row, value);
    }
    text_ += '}';
  }

  void WriteItem(int row, size_t i) {
    const Value item = SlotValue(views_[i], row, arguments_[i]->type());
    if (raw_[i] && !IsNull(item)) {
      text_ += std::get<std::string>(item);
    } else {
      AppendAsJson(item, arguments_[i]->type(), zone_, &text_);
    }
  }

  Nodes arguments_;
  std::vector<View> views_;
  std::vector<bool> raw_;
  bool object_;
  bool skips_nulls_;
  std::string zone_;
  std::string text_;
};

Status CheckJsonValue(const Type& type) {
  const bool taken = type.kind == TypeKind::kNull || type.kind == TypeKind::kBoolean ||
                     IsNumber(type) || IsCharacter(type) || IsBinary(type) || IsTimestamp(type);
  if (taken) return Status::Ok();
  return Status::InvalidArgument("{} has no form in JSON; cast it to STRING",
                                 ToString(type.Nullable()))
      .WithErrorCode("RT2006")
      .WithKind(ErrorKind::kRun);
}

Result<NodePointer> BuildMakeJson(CallSite& site, bool object) {
  const bool skips_nulls = IsSymbol(site.call.operands[0], "ABSENT_ON_NULL");
  std::vector<bool> raw;
  for (size_t i = 1; i < site.call.operands.size(); ++i)
    raw.push_back(MakesJson(site.call.operands[i]));
  site.arguments.erase(site.arguments.begin());
  if (object && site.size() % 2 != 0)
    return Status::InvalidArgument("JSON_OBJECT needs a value for every key");
  for (size_t i = 0; object && i < site.size(); i += 2) {
    if (site.LiteralText(i + 1) == nullptr)  // operand 0 says what becomes of NULL
      return Status::InvalidArgument("a key of JSON_OBJECT is a string literal");
  }
  for (size_t i = object ? 1 : 0; i < site.size(); i += object ? 2 : 1) {
    if (!object && site.arguments[i]->type().kind == TypeKind::kNull)
      return Status::Plan("illegal use of NULL in JSON_ARRAY: write CAST(NULL AS type)");
    RT_TRY(CheckJsonValue(site.arguments[i]->type()));
  }
  return NodePointer(std::make_unique<MakeJsonNode>(site.type(), std::move(site.arguments),
                                                    std::move(raw), object, skips_nulls,
                                                    site.context.local_time_zone));
}

}  // namespace

// Operands: text, path, then per ON EMPTY and ON ERROR: NULL | ERROR | DEFAULT value, and the
// words.
Result<NodePointer> BuildJsonValue(CallSite& site) {
  RT_ASSIGN(PathSearch search, PathSearch::Make(site));
  ValueBehavior current, on_empty, on_error;
  Nodes kept;
  kept.push_back(std::move(site.arguments[0]));
  for (size_t i = 2; i < site.call.operands.size(); ++i) {
    const Expression& operand = site.call.operands[i];
    if (IsSymbol(operand, "ON EMPTY")) {
      on_empty = current;
    } else if (IsSymbol(operand, "ON ERROR")) {
      on_error = current;
    } else if (IsSymbol(operand, "NULL")) {
      current = {Behavior::kNull, 0};
    } else if (IsSymbol(operand, "ERROR")) {
      current = {Behavior::kError, 0};
    } else if (!IsSymbol(operand, "DEFAULT")) {
      current = {Behavior::kDefault, kept.size()};
      RT_TRY(CastArgument(&site, i, site.type()));
      kept.push_back(std::move(site.arguments[i]));
    }
  }
  return NodePointer(std::make_unique<JsonValueNode>(site.type(), site.label, std::move(kept),
                                                     std::move(search), on_empty, on_error));
}

namespace {

Behavior QueryBehavior(const CallSite& site, size_t i) {
  const std::string* word = i < site.call.operands.size() ? site.LiteralText(i) : nullptr;
  if (!word) return Behavior::kNull;
  if (word->find("EMPTY_ARRAY") != std::string::npos) return Behavior::kEmptyArray;
  if (word->find("EMPTY_OBJECT") != std::string::npos) return Behavior::kEmptyObject;
  return word->find("ERROR]") != std::string::npos || *word == "ERROR" ? Behavior::kError
                                                                       : Behavior::kNull;
}

Outcome QueryOtherwise(RowCall& call, Behavior behavior, StringView* out) {
  switch (behavior) {
    case Behavior::kError: return call.Fail("no such value");
    case Behavior::kEmptyArray: *out = RowCall::Part("[]"); return Outcome::kValue;
    case Behavior::kEmptyObject: *out = RowCall::Part("{}"); return Outcome::kValue;
    default: return Outcome::kNull;
  }
}

enum class Wrapper : uint8_t { kNone, kAlways, kConditional };

}  // namespace

Result<NodePointer> BuildJsonQuery(CallSite& site) {
  RT_ASSIGN(PathSearch search, PathSearch::Make(site));
  const std::string* word = site.size() > 2 ? site.LiteralText(2) : nullptr;
  Wrapper wrapper = Wrapper::kNone;
  if (word && *word == "WITH_UNCONDITIONAL_ARRAY") wrapper = Wrapper::kAlways;
  if (word && *word == "WITH_CONDITIONAL_ARRAY") wrapper = Wrapper::kConditional;
  const Behavior on_empty = QueryBehavior(site, 3);
  const Behavior on_error = QueryBehavior(site, 4);
  site.arguments.resize(1);
  return PerRow<StringView, StringView>(
      site, [search, wrapper, on_empty, on_error](RowCall& call, const StringView& text,
                                                  StringView* out) mutable {
        const Found found = search.In(text.view());
        if (found.is_error) return QueryOtherwise(call, on_error, out);
        const bool is_array = found.value != nullptr && found.value->kind == Json::Kind::kArray;
        const bool wraps =
            wrapper == Wrapper::kAlways || (wrapper == Wrapper::kConditional && !is_array);
        if (found.value == nullptr) return QueryOtherwise(call, on_empty, out);
        if (!wraps && found.value->is_scalar())
          return QueryOtherwise(call, search.is_lax() ? on_empty : on_error, out);
        call.text = wraps ? "[" : "";
        AppendJson(*found.value, &call.text);
        if (wraps) call.text += ']';
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildJsonExists(CallSite& site) {
  RT_ASSIGN(PathSearch search, PathSearch::Make(site));
  const std::string word = site.size() > 2 && site.LiteralText(2) ? *site.LiteralText(2) : "FALSE";
  site.arguments.resize(1);
  return PerRow<uint8_t, StringView>(
      site, [search, word](RowCall& call, const StringView& text, uint8_t* out) mutable {
        const Found found = search.In(text.view());
        *out = found.value != nullptr ? 1 : 0;
        if (!found.is_error) return Outcome::kValue;
        if (word == "ERROR") return call.Fail("no such value");
        *out = word == "TRUE" ? 1 : 0;
        return word == "UNKNOWN" ? Outcome::kNull : Outcome::kValue;
      });
}

namespace {

// IS [NOT] JSON …: a NULL is no JSON.
class IsJsonNode final : public Node {
 public:
  IsJsonNode(Type type, NodePointer operand, std::string shape, bool wanted)
      : Node(type), operand_(std::move(operand)), shape_(std::move(shape)), wanted_(wanted) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    View view;
    RT_TRY(operand_->Compute(frame, rows, &view));
    uint8_t* const slots = buffer_.Slots<uint8_t>(frame.rows);
    ForEach(rows, [&](int row) {
      const bool is_json = !view.IsNull(row) && IsOfShape(view.slots<StringView>()[row].view());
      slots[row] = is_json == wanted_;
    });
    *out = {reinterpret_cast<const char*>(slots), nullptr};
    return Status::Ok();
  }

 private:
  bool IsOfShape(std::string_view text) const {
    Json json;
    if (!ParseJson(text, &json, false)) return false;  // what follows the value does not count
    if (shape_ == "OBJECT") return json.kind == Json::Kind::kObject;
    if (shape_ == "ARRAY") return json.kind == Json::Kind::kArray;
    return shape_ == "VALUE" || json.is_scalar();
  }

  NodePointer operand_;
  std::string shape_;
  bool wanted_;
};

}  // namespace

Result<NodePointer> BuildIsJson(CallSite& site) {
  const std::string& name = site.call.function;
  return NodePointer(std::make_unique<IsJsonNode>(site.type(), std::move(site.arguments[0]),
                                                  name.substr(name.rfind(' ') + 1),
                                                  !name.starts_with("IS NOT")));
}

Result<NodePointer> BuildJsonObject(CallSite& site) { return BuildMakeJson(site, true); }
Result<NodePointer> BuildJsonArray(CallSite& site) { return BuildMakeJson(site, false); }

namespace {

class JsonStringNode final : public Node {
 public:
  JsonStringNode(Type type, NodePointer operand, std::string zone)
      : Node(type), operand_(std::move(operand)), zone_(std::move(zone)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    View view;
    RT_TRY(operand_->Compute(frame, rows, &view));
    StringView* const slots = buffer_.Slots<StringView>(frame.rows);
    ForEach(rows, [&](int row) {
      if (view.IsNull(row)) return;
      text_.clear();
      AppendAsJson(SlotValue(view, row, operand_->type()), operand_->type(), zone_, &text_);
      slots[row] = frame.strings->Copy(text_);
    });
    *out = {reinterpret_cast<const char*>(slots), view.nulls};
    return Status::Ok();
  }

 private:
  NodePointer operand_;
  std::string zone_;
  std::string text_;
};

}  // namespace

Result<NodePointer> BuildJsonString(CallSite& site) {
  const Type& type = site.argument_type(0);
  if (!CheckJsonValue(type).ok())
    return Status::InvalidArgument("JSON_STRING does not take {}; cast it to STRING",
                                   ToString(type.Nullable()))
        .WithErrorCode("RT2006");
  return NodePointer(std::make_unique<JsonStringNode>(site.type(), std::move(site.arguments[0]),
                                                      site.context.local_time_zone));
}

}  // namespace rowtide
