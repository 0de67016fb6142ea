// The keys of SET: which are known, what they default to, and what a session has set.
//
//   keys Rowtide acts on          their values are checked when set
//   other keys of Flink 2.3       kept, reported once as having no effect
//   anything else                 an error that names the nearest key
//
// Copied with each planned job; used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace rowtide {

class Options {
 public:
  // References in the value are resolved (planner/references.h). `note` gets a sentence the first
  // time a key without effect is set, else stays as it is.
  Status Set(const std::string& key, const std::string& value, std::string* note);
  void Reset();  // everything
  Status Reset(const std::string& key);

  // The value set, or the default; "" when there is neither.
  std::string Get(std::string_view key) const;
  bool IsSet(std::string_view key) const { return values_.contains(std::string(key)); }
  // Requires: a known key of that kind.
  bool GetBool(std::string_view key) const;
  int64_t GetInt(std::string_view key) const;
  double GetNumber(std::string_view key) const;
  int64_t GetMillis(std::string_view key) const;  // durations
  int64_t GetBytes(std::string_view key) const;   // sizes
  // table.local-time-zone: what is set, else UTC.
  std::string local_time_zone() const;
  // What has been set, sorted.
  const std::map<std::string, std::string>& all() const { return values_; }
  // What SET without arguments lists: the same, with references as they were written, and without
  // secrets.
  std::map<std::string, std::string> Shown() const;

 private:
  Status SetResolved(const std::string& key, const std::string& value, std::string* note);

  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> written_;  // of values that had references
  std::map<std::string, bool> noted_;
};

// Flink's durations: `5 s`, `1min`, `1 h`, `500` (milliseconds), `1 d`; false when it is none.
bool ParseDurationMillis(std::string_view text, int64_t* millis);
// The name of the table that a key such as `rowtide.bad-data.<table>` is about; "" for others.
std::string_view TableOfKey(std::string_view key);
// Every key that Rowtide acts on: for messages and completion.
const std::vector<std::string>& KnownOptionKeys();

// A key that changes something today, for `rowtide help settings`.
struct OptionHelp {
  std::string key;       // `rowtide.bad-data.<table>` of a family
  std::string values;    // `true or false`, `a duration`, `fail, skip, dead-letter`
  std::string fallback;  // "" = none
  std::string text;
};
std::vector<OptionHelp> OptionHelps();

}  // namespace rowtide
