// Dead letters as lines of a file, which a json table can read:
//
//   {"code":"RT4001","reason":"cast","message":…,"table_name":…,"file":…,"line":2,
//    "byte":4,"raw_bytes":"eCxi","text":"x,b"}           base64: any bytes come back
//
// Of a topic, a letter has "topic", "partition", "offset", "key" and "headers" in place of file,
// line and byte, and its raw bytes are the message's value, null where it had none. Of a record
// that is too large only the beginning is kept ("truncated").
//
// In a job with checkpoints a letter also says which life of the job wrote it ("job"). When that
// goes on from a checkpoint, the letters that it wrote later leave the file, since their records
// are read again: each is there once, whatever happens in between.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "connectors/dead_letters.h"

namespace rowtide {

class LetterFile final : public DeadLetters {
 public:
  // `table` as messages show it; `job_id`: "" without checkpoints. Makes the file.
  static Result<std::unique_ptr<LetterFile>> Create(std::string table, std::string path,
                                                    std::string job_id);
  ~LetterFile() override;
  LetterFile(const LetterFile&) = delete;
  LetterFile& operator=(const LetterFile&) = delete;

  Status Append(const DeadLetter& letter) override;
  Status Flush() override;
  Status Sync() override;
  Status ForgetUnread(const IsRead& is_read) override;

 private:
  LetterFile(std::string table, std::string path, std::string job_id)
      : table_(std::move(table)), path_(std::move(path)), job_id_(std::move(job_id)) {}
  Status Open();
  void AppendField(const char* name, std::string_view value);
  bool IsForgotten(const std::string& letter, const IsRead& is_read) const;

  const std::string table_;
  const std::string path_;
  const std::string job_id_;
  int descriptor_ = -1;  // from the first letter on
  bool synced_ = true;
  std::string buffer_;
};

}  // namespace rowtide
