// Records out of dead letters, back in the topics that they came from (`rowtide requeue`).
//
//   letters of a topic   read from where the last run stopped; the offsets of the group
//                        `rowtide.requeue.<topics>` are written in the transaction of the records,
//                        so each record is back once, whatever happens in between
//   letters of a file    what is back stands in FILE.requeued, written behind the transaction: a
//                        run that is killed between the two puts up to 1,000 records back again
//
// A record is put back as it was: key, value, headers, partition; its time is that of the moment.
// One that is an array of rows goes back as a whole, with those of its rows that were good.
// Only what came from the topics of one table is; letters of others stay for their own tables. One
// thread; waits for brokers, each time a bounded time.
#pragma once

#include <map>
#include <string>

#include "connectors/kafka/options.h"

namespace rowtide {

struct KafkaRequeueSpec {
  std::string table;       // as messages show it
  KafkaTopics topics;      // that it is read from
  KafkaSettings consumer;  // of letters
  KafkaSettings producer;
  bool only_counts = false;  // nothing is put back
};

struct KafkaRequeued {
  std::map<std::string, int64_t> records;  // put back, by topic
  int64_t earlier = 0;                     // by an earlier run, of a file
  int64_t others = 0;                      // letters of records of other topics
  int64_t unusable = 0;                    // what is no letter, or not the whole record
  std::string first_unusable;              // place and reason
};

// Requires: the topic's name.
Result<KafkaRequeued> RequeueTopic(const KafkaRequeueSpec& spec, const std::string& letters);
Result<KafkaRequeued> RequeueFile(const KafkaRequeueSpec& spec, const std::string& path);

}  // namespace rowtide
