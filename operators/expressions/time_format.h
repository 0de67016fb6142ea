// Java's date and time patterns (`yyyy-MM-dd HH:mm:ss.SSS`), written and read.
//
// A pattern is cut into fields once; letters repeat to say how wide a field is. Text in single
// quotes stands for itself.
// Reading takes 1970-01-01 00:00:00 for what the pattern does not name, and a day behind the
// month's last for the last.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/types.h"

namespace rowtide {

class TimeFormat {
 public:
  // False: `error` says which letter is not known.
  bool Parse(std::string_view pattern, std::string* error);
  void Append(WideTime local, std::string* out) const;
  // As Java's SimpleDateFormat does: a year of more than four digits has no sign.
  void AppendLeniently(WideTime local, std::string* out) const { AppendFields(local, false, out); }
  // With `whole` the text must end with the pattern.
  bool Read(std::string_view text, bool whole, WideTime* local) const;
  // As Java's SimpleDateFormat does: numbers may be longer or shorter than the pattern, what is too
  // large carries over (month 13 is the next January), and what follows the pattern does not count.
  bool ReadLeniently(std::string_view text, WideTime* local) const;

 private:
  struct Field {
    char letter = 0;  // 0: literal text; '[' and ']': an optional part
    int width = 0;
    std::string text;
  };
  struct Parts;
  void AppendFields(WideTime local, bool signs_years, std::string* out) const;
  bool ReadLenientField(const Field& field, bool next_is_number, std::string_view* text,
                        Parts* parts) const;
  bool ReadField(const Field& field, bool next_is_number, std::string_view* text,
                 Parts* parts) const;
  bool ReadFields(size_t first, size_t last, std::string_view* text, Parts* parts) const;

  std::vector<Field> fields_;
};

}  // namespace rowtide
