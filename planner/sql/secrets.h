// Secrets in SQL text: what is written down of a statement must not hold passwords.
//
//   WITH ('connector'='kafka', 'properties.sasl.jaas.config'='…password…')
//   ->   'properties.sasl.jaas.config'='******'
//
// A key is secret when it has one of the words that Flink hides in its own configuration.
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

bool IsSecretKey(std::string_view key);
// One statement with the values of secret keys replaced, and nothing else changed. "" when it is
// no SQL.
std::string WithoutSecrets(std::string_view statement);

}  // namespace rowtide
