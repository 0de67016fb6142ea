// How a time zone goes on after the last change that its file lists.
//
// A zone's file ends with a line like `EST5EDT,M3.2.0,M11.1.0` (POSIX TZ): the name and offset of
// standard time, and when each year daylight-saving time begins and ends. Flink's Java follows it
// for ever; the tables of the date library end in 2037. Offsets are seconds east of UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rowtide {

class ZoneRules {
 public:
  // The last line of the zone's file; none when there is no such file or line.
  static std::optional<ZoneRules> Read(std::string_view zone);
  static std::optional<ZoneRules> Parse(std::string_view line);

  int64_t OffsetAtInstant(int64_t utc_seconds) const;
  // In a gap and in an overlap the offset before the change, as Java takes it.
  int64_t OffsetAtLocal(int64_t local_seconds) const;

 private:
  // Mm.w.d (week 5 is the last), Jn (1..365, no leap day) or n (0..365), and the time of day.
  struct Change {
    char kind = 'M';
    int month = 0, week = 0, weekday = 0;
    int day = 0;
    int64_t seconds = 7200;
  };
  static bool TakeChange(std::string_view* text, Change* change);
  // Local wall-clock seconds since 1970, by the clock before the change.
  static int64_t TimeOf(const Change& change, int64_t year);

  int64_t standard_ = 0;
  int64_t daylight_ = 0;
  bool changes_ = false;
  Change begin_;  // of daylight-saving time
  Change end_;
};

}  // namespace rowtide
