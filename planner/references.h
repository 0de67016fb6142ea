// References in the values of options, so that secrets need not stand in SQL:
//
//   'properties.sasl.jaas.config' = '… username="app" password="${KAFKA_PASSWORD}";'
//   'value.avro-confluent.basic-auth.user-info' = '${file:/run/secrets/registry}'
//   'properties.client.id' = '$${HOST}'                     the text ${HOST}
//
// They stand in the values of WITH, of OPTIONS hints and of SET, and nowhere else: the text of a
// query is never changed. The catalog keeps them as they are written, which is what SHOW CREATE
// TABLE, EXPLAIN and manifests have; what they stand for is looked up each time a job is built, so
// a restart finds a file that was renewed. From then on that text is hidden (engine/secrets.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

// RT2028: a variable that is not set, a file that cannot be read, something else in ${…}.
Result<std::string> ResolveReferences(std::string_view value);
Status CheckReferences(const std::map<std::string, std::string>& options);

}  // namespace rowtide
