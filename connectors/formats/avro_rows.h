// One record of Avro's binary encoding as one row of a batch.
//
//   writer    {id: long, tags: array, name: [null, string]}      columns   name, id
//   steps     long -> column 1 | pass over | 00: NULL, 02: text -> column 0
//
// The schema that the bytes were written with becomes a list of steps once (Bind), by Avro's rules
// of resolution: fields by name, int to BIGINT and DOUBLE and so on, a branch of a union as it
// comes, NULL for a nullable column that the record does not have. Then records are walked step by
// step. Units follow the writer's logical type: microseconds become the column's milliseconds,
// 12.3 becomes 12.30. Flink takes the number as it stands, and so does flink_compat.
//
// A value that its column cannot take rejects the record; the walk goes on to its end. Bytes that
// are no value end it: where the next record begins is not known.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connectors/formats/avro_schema.h"
#include "connectors/formats/column_slots.h"
#include "connectors/rejects.h"
#include "engine/batch_builder.h"

namespace rowtide {

// A column as a reader's schema has it.
struct AvroColumn {
  Field field;
  std::vector<std::string> aliases;     // other names of the writer's field
  std::optional<std::string> fallback;  // what it is where the writer has no such field: JSON
};

struct AvroRowsSpec {
  std::vector<AvroColumn> columns;  // the wanted ones, in output order
  int64_t depth_max = 1000;
  bool flink_compat = false;
};

class AvroRows {
 public:
  // `rejects` outlives it.
  AvroRows(AvroRowsSpec spec, Rejects* rejects);
  ~AvroRows();

  // The records that follow are of this schema. fit() says whether the columns can be read from it;
  // a file without records may have any.
  void Bind(AvroSchema schema) { Bind(0, std::move(schema)); }
  // The same where schemas have numbers; one that has been bound is used again by its own.
  void Bind(int64_t number, AvroSchema schema);
  bool Use(int64_t number);

  void Begin();
  std::vector<Column> FinishColumns();
  std::vector<BlockPointer> FinishStrings() { return strings_.Finish(); }

  enum class Outcome : uint8_t { kRow, kRejected, kBroken };
  // Writes the record at `*at` into the row's slots and moves behind it. Strings stay where they
  // are. Requires: 64 readable bytes behind `end`; the records are of a schema that fits.
  Outcome Take(const char** at, const char* end, int row);
  // Why the last record is no row.
  struct Trouble {
    RejectReason reason = RejectReason::kUndecodable;
    std::string column;
    std::string message;
  };
  const Trouble& trouble() const { return trouble_; }

  const Status& fit() const { return program_->fit; }
  // Whether records take no bytes.
  bool is_empty() const { return program_->writer.root().is_empty; }

 private:
  enum class How : uint8_t;
  struct Step;
  // How the records of one type are walked.
  struct Walk {
    const AvroType* type = nullptr;
    std::vector<Step> steps;
    std::vector<int> absent;  // columns that are NULL in each row
    std::vector<std::pair<int, Value>> fallbacks;
  };
  // What a schema has become.
  struct Program {
    AvroSchema writer;
    Status fit;
    std::vector<Walk> walks;                 // one; of a union as many as it has branches
    std::vector<std::vector<Step>> choices;  // steps of unions of more than null and a type
  };

  Result<Walk> WalkOf(const AvroType& record);
  Status AddFallback(size_t wanted, const AvroType& record, Walk* walk);
  void LookForOtherCase(const AvroColumn& column, const AvroType& record);
  Result<Step> StepOf(const AvroType& writer, int wanted);
  bool ScalarStep(const AvroType& writer, Step* step) const;
  bool LongStep(const AvroType& writer, Step* step) const;
  Step RefusalOf(const AvroType& writer, int wanted) const;
  std::string MismatchText(const AvroType& writer, int wanted) const;
  const Type& type_of(int wanted) const {
    return spec_.columns[static_cast<size_t>(wanted)].field.type;
  }

  const char* TakeWalk(const Walk& walk, const char* at, const char* end, int row);
  const char* TakeStep(const Step& step, const char* at, const char* end, int row);
  const char* TakeBranch(const Step& step, const char* at, const char* end, int row);
  const char* TakeLong(const Step& step, const char* at, int row);
  void StoreLong(const Step& step, int64_t value, int row);
  void StoreDecimal(const Step& step, std::string_view bytes, int row);
  void StoreText(const Step& step, const char* text, int64_t bytes, int row);
  void StoreNull(const Step& step, int row);
  void StoreValue(int wanted, const Value& value, int row);
  void Refuse(int wanted, RejectReason reason, std::string message);

  AvroRowsSpec spec_;
  Rejects* rejects_;
  std::vector<ColumnSlots> slots_;
  StringBlocks strings_;

  std::map<int64_t, std::unique_ptr<Program>> programs_;
  Program* program_ = nullptr;  // of the schema that records have
  bool is_refused_ = false;     // the record at hand
  Trouble trouble_;
};

}  // namespace rowtide
