// 'properties.sasl.jaas.config': Java's login module with a name and a password, as librdkafka's.
//
//   …plain.PlainLoginModule required username="ann" password="p;w";    ann, p;w
//   …scram.ScramLoginModule required username=ann password='x';        ann, x
//   …Krb5LoginModule required keyTab="k" …                             refused: what to set here
//
// Which mechanism is used says 'properties.sasl.mechanism'. The password is hidden from here on
// (engine/secrets.h), however it was quoted.
#pragma once

#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

struct KafkaLogin {
  std::string username;
  std::string password;
};

// The error says why alone: whose option it is knows the caller.
Result<KafkaLogin> ReadKafkaLogin(std::string_view jaas);

}  // namespace rowtide
