// From the WITH options of a table to a source or a sink. The one table of connectors is in
// registry.cc.
//
//   Describe  what the connector can do, for the planner; checks every option on the way
//   Create    the thing itself, for the job builder
//
// Options are checked when a table is used, not when it is declared (Flink's rule). An unknown
// option, connector or format is an error that names the nearest. Session-wide settings come in the
// ConnectorContext, never in WITH.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/changelog_mode.h"
#include "engine/clock.h"
#include "engine/row_watermarks.h"
#include "engine/schema.h"
#include "engine/sink.h"
#include "engine/source.h"

namespace rowtide {

class ByteMeter;          // engine/gauges.h
class CollectedRows;      // connectors/collect.h
struct FileListing;       // connectors/files/list.h
class Gauges;             // engine/gauges.h
class KafkaProducers;     // connectors/kafka/sink.h
class KafkaTransactions;  // connectors/kafka/transactions.h
class RowsFeed;           // connectors/rows.h
class Waits;              // engine/waits.h

using TableOptions = std::map<std::string, std::string>;

// A table as its connector sees it.
struct TableSpec {
  std::string name;      // as messages show it
  TableOptions options;  // WITH, overlaid with OPTIONS hints
  Schema schema;         // physical columns; for a sink all columns that are written
  std::vector<std::string> primary_key = {};  // names of its columns
  // Of a sink: the metadata key of each column of `schema`, "" for a physical one; may be empty
  // when there are no others.
  std::vector<std::string> metadata = {};
  TableOptions written = {};  // of values that had references: as they stand in SQL

  // What messages may show of an option's value: no secret, and of what came from a reference only
  // the reference.
  std::string Shown(const std::string& key) const;
};

struct MetadataKey {
  std::string key;
  Type type;  // what the source produces; the planner casts to the declared type
};

// What a connector can do as a source.
struct SourceTraits {
  ChangelogMode mode;             // of the rows it produces
  bool projection = false;        // reads only the columns asked for
  bool filter = false;            // is told conditions, for information
  bool limit = false;             // is told a row limit
  bool watermark = false;         // makes WATERMARK FOR watermarks itself
  bool source_watermark = false;  // has watermarks of its own: SOURCE_WATERMARK() is allowed
  bool bounded = true;
  bool threads = true;  // may be read on another thread: looks at no other source
  bool splits = false;  // may be shared out: each lane reads a part (ConnectorContext::lane)
  bool watermark_on_event =
      false;  // 'scan.watermark.emit.strategy' = 'on-event', or a `rows` table
  std::vector<MetadataKey> metadata;  // readable METADATA columns
};

// What a connector can do as a sink.
struct SinkTraits {
  std::optional<ChangelogMode> mode;    // none: takes whatever the query gives
  bool default_without_before = false;  // … but for -U (blackhole)
  bool overwrite = false;               // INSERT OVERWRITE can replace what is there
  bool lanes = false;                   // each lane may have a sink of its own
  bool shows_rows = true;               // somebody else may have seen what was written
  std::vector<std::string> metadata;    // METADATA columns that can be written
};

struct ConnectorTraits {
  std::optional<SourceTraits> source;  // none: cannot be read
  std::optional<SinkTraits> sink;      // none: cannot be written
};

// What of a table is read. The source's rows: `columns` in that order, then `metadata`.
struct ScanSpec {
  std::vector<int> columns;           // positions in TableSpec::schema
  std::vector<std::string> metadata;  // keys
  std::optional<int64_t> limit;       // more rows are not needed
  // Of a source that makes the watermarks of WATERMARK FOR (SourceTraits::watermark) over its rows.
  std::function<Result<std::unique_ptr<RowWatermarks>>()> watermarks = nullptr;
  int64_t watermark_interval_millis = 200;  // 'pipeline.auto-watermark-interval'
  int64_t idle_timeout_millis = 0;          // 'table.exec.source.idle-timeout'; 0 = never
};

// What becomes of a record that does not decode: 'rowtide.bad-data.<table>'.
enum class BadData : uint8_t { kFail, kSkip, kDeadLetter };

// How files are packed: 'rowtide.compression.<table>'.
enum class Compression : uint8_t { kNone, kGzip, kZstd };

// What input may not exceed: 'rowtide.limits.*'.
struct InputLimits {
  int64_t record_bytes = 16 << 20;  // a forgotten quote must not swallow the machine's memory
  int64_t json_depth = 1000;
};

// What SET says about one table, by the last part of its name.
struct TableSettings {
  std::string key;                       // `t` in 'rowtide.bad-data.t'
  std::vector<std::string> primary_key;  // names of its columns
  BadData bad_data = BadData::kFail;
  std::string dead_letter;  // where rejected records are appended; "" = nowhere
  bool csv_header = false;  // the first line of every file has the names of its columns
  Compression compression = Compression::kNone;
  bool overwrite = false;  // INSERT OVERWRITE: what the table holds goes when new rows are there
  bool update_pairs = false;  // debezium-json: -U and +U become one message with both
  std::optional<int64_t> datagen_seed;
};

// Borrowed by what is created. Null members: the connector that needs one refuses.
struct ConnectorContext {
  const Clock* clock = nullptr;
  Counters* counters = nullptr;
  RowsFeed* feed = nullptr;            // what `rows` tables read
  CollectedRows* collected = nullptr;  // what `collect` tables write into
  std::string local_time_zone = "UTC";
  int lane = 0;  // of the lanes that read or write the table beside each other
  int lanes = 1;
  FileListing* listing = nullptr;  // of all of them; only while sources are made
  // What is shown while the job runs; null: nobody looks.
  ByteMeter* bytes_written = nullptr;  // of a sink
  Gauges* gauges = nullptr;            // lag and the like
  Waits* waits = nullptr;              // what keeps rows from coming or going
  std::shared_ptr<KafkaProducers> kafka_producers;  // of the job's Kafka sinks
  // Of a job with checkpoints and exactly-once sinks on a cluster.
  KafkaTransactions* kafka_transactions = nullptr;
  TableSettings settings;
  InputLimits limits;
  // Of a job with checkpoints: what this sink's files are named after, the same in every run, and
  // what they were named after in the job's life before. Empty: names are new each time.
  std::string sink_seed;
  std::string earlier_sink_seed;
  std::string job_id;          // of the life of a job with checkpoints: dead letters carry it
  bool flink_compat = false;   // NULL may stand in NOT NULL columns
  std::FILE* output = stdout;  // `print`, and files named `-`
  std::FILE* error = stderr;   // `print` with 'standard-error'
};

// What the connector is able to do, without a look at formats and other options: for CREATE TABLE.
// An unknown connector has no traits at all.
ConnectorTraits TraitsOf(const TableSpec& table);

// Every option is known and has a value of its kind. Requires nothing of files.
Status CheckOptions(const TableSpec& table);

Result<std::unique_ptr<Source>> CreateSource(const TableSpec& table, const ScanSpec& scan,
                                             const ConnectorContext& context);
// Requires: the batches written have the columns of `table.schema`, in order.
Result<std::unique_ptr<Sink>> CreateSink(const TableSpec& table, const ConnectorContext& context);

// A connector or a format as `rowtide help connectors` shows it. `rows` and `collect`, which exist
// in test scripts alone, are not among them.
struct ConnectorHelp {
  std::string name;
  std::string text;
  std::vector<std::string> options;  // `path (required)`, `nexmark.kind (required): bid, auction`
};
std::vector<ConnectorHelp> ConnectorHelps();
std::vector<ConnectorHelp> FormatHelps();

// "I,UA,D" and the like, as in 'changelog-mode'.
Result<ChangelogMode> ParseChangelogMode(const std::string& text);

}  // namespace rowtide
