// Secrets: which options hold one, and what must not be shown whoever shows it.
//
//   IsSecretKey("properties.sasl.jaas.config")     by its name
//   HideSecret("hunter2")                          this text, from now on, for the whole process
//   Redacted("no login for hunter2")         -> "no login for ******"
//
// What is printed, logged, served or written into a manifest goes through Redacted: messages
// of libraries may quote what they were given. Rows are data, and no messages. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

inline constexpr std::string_view kHidden = "******";

// By the words that Flink hides in its configuration, and a few more.
bool IsSecretKey(std::string_view key);
// What may be shown of an option whose value is written so: of a secret only that it is one, unless
// all of it is one reference, ${…}.
std::string ShownValue(std::string_view key, std::string_view value);

// Shorter texts than this are in everything.
inline constexpr size_t kSecretBytesMin = 4;
void HideSecret(std::string_view secret);
// The value of a secret option: all of it, and each text in quotes in it, such as the password in a
// login module's settings.
void HideSecretValue(std::string_view value);
std::string Redacted(std::string_view text);

}  // namespace rowtide
