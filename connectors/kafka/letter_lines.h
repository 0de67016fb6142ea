// The letters of a file (connectors/letter_file.h) as the records that they were, and which of them
// have been put back:
//
//   rejects.ndjson            {…,"topic":"orders","partition":0,"offset":42,"key":…,…}
//   rejects.ndjson.requeued   {"topic":"orders","partition":0,"offset":42,"xxh3":"9d0c…"}
//
// A record is known again by its place and its bytes, so the file of letters may be cut, rewritten
// or begun anew. One thread.
#pragma once

#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "connectors/kafka/letter.h"

namespace rowtide {

class LetterLines {
 public:
  static Result<LetterLines> Open(const std::string& path);

  struct Line {
    int64_t number = 0;
    std::optional<KafkaLetter> letter;  // none: …
    std::string fault;                  // why not
  };
  // None: there is no further one. A last line without an end is being written.
  Result<std::optional<Line>> Next();
  // It has not been put back; from now on it counts as if it had.
  bool IsNew(const KafkaLetter& letter);
  // Those that were new are back: survives a crash.
  Status MarkBack();

 private:
  explicit LetterLines(const std::string& path) : path_(path), in_(path, std::ios::binary) {}

  std::string path_;
  std::ifstream in_;
  int64_t number_ = 0;
  std::set<std::string> back_;
  std::string new_;  // lines for the file of those that are back
};

}  // namespace rowtide
