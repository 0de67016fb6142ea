// A csv file whose first line has the names of its columns: SET 'rowtide.csv.header.<table>'.
//
//   header   note,id,amount          columns of the table   amount  id
//                                    their places           2       1
//
// Names may stand in any order and between others that the table does not have; a column of the
// table that the file lacks is an error. Case is looked at only where two names differ in nothing
// else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/csv_options.h"
#include "connectors/formats/format.h"
#include "engine/schema.h"

namespace rowtide {

struct CsvHeader {
  int fields = 0;           // of a record
  std::vector<int> places;  // of each column of the schema within a record

  // `names`: each with a zero byte behind it.
  static Result<CsvHeader> Of(std::string_view names, const Schema& schema);
};

// Whether the record has the name of a column in each of its cells, as many as there are columns.
bool IsHeader(std::string_view record, const Schema& schema, const CsvOptions& options);
// What to do about a first record that failed because it is a header; "" when it does not look like
// one.
std::string HeaderHint(std::string_view record, const RecordPlace& place, const Schema& schema,
                       const CsvOptions& options, const TableSettings& settings);

}  // namespace rowtide
