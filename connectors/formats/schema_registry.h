// A schema registry that speaks Confluent's protocol: schemas by number.
//
//   GET  /schemas/ids/7                 {"schema":"{\"type\":…}"}            of what is read
//   POST /subjects/orders-value/versions  {"schema":…}  ->  {"id":7}         of what is written
//
// What does not answer, or answers with an error of its own (5xx), is an error that may pass; a
// schema that it does not have is not there. Secrets are in no message. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "connectors/formats/confluent_options.h"
#include "engine/status.h"

namespace rowtide {

class SchemaRegistry {
 public:
  virtual ~SchemaRegistry() = default;

  struct Found {
    bool is_there = false;
    std::string text;  // the schema, or why there is none
  };
  virtual Result<Found> SchemaOf(uint32_t number) = 0;
  // Returns the schema's number; the same for the same one.
  virtual Result<uint32_t> Register(const std::string& subject, const std::string& schema) = 0;
};

// Does not connect yet.
Result<std::unique_ptr<SchemaRegistry>> OpenSchemaRegistry(const ConfluentOptions& options);

}  // namespace rowtide
