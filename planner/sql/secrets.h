// Secrets in SQL text: what is written down or shown of a statement must not hold passwords.
//
//   WITH ('connector'='kafka', 'properties.sasl.jaas.config'='…password…')
//   WithoutSecretValues  ->  'properties.sasl.jaas.config'='******'      for manifests and views
//   WithSecretsCovered   ->  'properties.sasl.jaas.config'='**********'  each as long as it was, so
//                                                                        that carets stay in place
//
// Which keys are secret: engine/secrets.h.
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

// One statement with the values of secret keys replaced, and nothing else changed. "" when it is
// no SQL.
std::string WithoutSecretValues(std::string_view statement);
// Any text, also one that is no SQL: what may be a secret is covered then.
std::string WithSecretsCovered(std::string_view text);

}  // namespace rowtide
