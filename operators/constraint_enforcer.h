// What a sink's declaration promises, held against its rows: NOT NULL columns, and the lengths of
// CHAR, VARCHAR, BINARY and VARBINARY columns.
//
//   table.exec.sink.not-null-enforcer      ERROR: a NULL fails the job   DROP: the row is left out
//   table.exec.sink.type-length-enforcer   IGNORE   TRIM_PAD: 'abcd' -> 'abc', 'a' -> 'a  '   ERROR
//
// Lengths count characters of strings, bytes of binaries. Deletions that hold the key alone are not
// checked for NULL. No state. Counters of rows that are left out: `null_key`, a NULL in a column of
// the primary key, and `not_null`, in another one.
#pragma once

#include <memory>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/operator.h"

namespace rowtide {

enum class NotNullEnforcer : uint8_t { kError, kDrop };
enum class TypeLengthEnforcer : uint8_t { kIgnore, kTrimPad, kError };

struct ConstraintEnforcerSpec {
  Schema target;         // the sink's columns, one for one
  std::vector<int> key;  // those of its primary key
  NotNullEnforcer not_null = NotNullEnforcer::kError;
  TypeLengthEnforcer type_length = TypeLengthEnforcer::kIgnore;
  bool key_only_deletes = false;
};

class ConstraintEnforcer final : public Operator {
 public:
  static Result<std::unique_ptr<Operator>> Create(ConstraintEnforcerSpec spec, const Schema& input,
                                                  const OperatorContext& context);
  // False when there is nothing to enforce: the operator may be left out.
  static bool IsNeeded(const ConstraintEnforcerSpec& spec);

  const Schema& output_schema() const override { return schema_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override;

 private:
  ConstraintEnforcer(ConstraintEnforcerSpec spec, const Schema& input,
                     const OperatorContext& context);
  // The rows without a NULL where none may be; `kept_` when not all are.
  Result<bool> CheckNotNull(const RowBatch& batch);
  Result<Column> Fitted(const RowBatch& batch, int column, StringBlocks* strings) const;
  Status CheckLength(const RowBatch& batch, int column) const;

  ConstraintEnforcerSpec spec_;
  Schema schema_;
  int64_t* null_keys_;
  int64_t* not_nulls_;
  std::vector<int> not_null_columns_;
  std::vector<int> sized_columns_;
  std::vector<int32_t> kept_;
};

}  // namespace rowtide
