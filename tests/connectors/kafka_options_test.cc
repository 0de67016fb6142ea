// What the Kafka connectors accept, translate and refuse, without a broker.
#include <gtest/gtest.h>

#include "connectors/kafka/options.h"
#include "engine/secrets.h"

namespace rowtide {
namespace {

const Schema kOrders({{"id", Type::BigInt()}, {"name", Type::String()}});

TableSpec Kafka(TableOptions more, std::vector<std::string> primary_key = {}) {
  TableSpec table{"cat.db.orders",
                  {{"connector", "kafka"},
                   {"topic", "orders"},
                   {"properties.bootstrap.servers", "127.0.0.1:9092"},
                   {"format", "json"}},
                  kOrders,
                  std::move(primary_key)};
  for (auto& [key, value] : more) {
    if (value == "-") {
      table.options.erase(key);
    } else {
      table.options[key] = value;
    }
  }
  return table;
}

TableSpec Upsert(TableOptions more) {
  more.insert({{"connector", "upsert-kafka"},
               {"format", "-"},
               {"key.format", "json"},
               {"value.format", "json"}});
  return Kafka(std::move(more), {"id"});
}

std::string MessageOf(const Status& status) {
  return status.ok() ? "ok"
                     : status.message() + (status.hint().empty() ? "" : "; " + status.hint());
}
std::string Check(const TableSpec& table) { return MessageOf(CheckKafkaOptions(table)); }
std::string CheckSource(const TableSpec& table) {
  return MessageOf(ReadKafkaSource(table).status());
}
std::string CheckSink(const TableSpec& table) { return MessageOf(ReadKafkaSink(table).status()); }

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(KafkaOptions, Defaults) {
  ASSERT_EQ(Check(Kafka({})), "ok");
  const Result<KafkaSourceSpec> source = ReadKafkaSource(Kafka({}));
  ASSERT_TRUE(source.ok()) << source.status().ToString();
  EXPECT_EQ(source->start.mode, KafkaStart::Mode::kGroup);
  EXPECT_EQ(source->stop.mode, KafkaStop::Mode::kNever);
  EXPECT_EQ(source->group, "KafkaSource-orders");
  EXPECT_EQ(source->discovery_millis, 300000);
  EXPECT_FALSE(source->parts.key.has_value());
  EXPECT_EQ(source->parts.value.columns, (std::vector<int>{0, 1}));
  const KafkaSettings& settings = source->properties.settings;
  EXPECT_EQ(settings.at("isolation.level"), "read_committed");
  EXPECT_EQ(settings.at("auto.offset.reset"), "error");
  EXPECT_EQ(settings.at("allow.auto.create.topics"), "false");

  const Result<KafkaSinkSpec> sink = ReadKafkaSink(Kafka({}));
  ASSERT_TRUE(sink.ok()) << sink.status().ToString();
  EXPECT_EQ(sink->guarantee, KafkaGuarantee::kAtLeastOnce);
  EXPECT_EQ(sink->partitioning, KafkaPartitioning::kDefault);
  EXPECT_EQ(sink->properties.settings.at("partitioner"), "murmur2_random");
  EXPECT_EQ(sink->properties.settings.at("enable.idempotence"), "true");
}

TEST(KafkaOptions, TopicsAndModes) {
  EXPECT_TRUE(Has(Check(Kafka({{"topic-pattern", "o.*"}})), "shouldn't be set together"));
  EXPECT_TRUE(Has(Check(Kafka({{"topic", "-"}})), "either 'topic' or 'topic-pattern'"));
  const Result<KafkaSourceSpec> both = ReadKafkaSource(Kafka({{"topic", "a;b"}}));
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->topics.names, (std::vector<std::string>{"a", "b"}));

  EXPECT_TRUE(Has(CheckSource(Kafka({{"scan.startup.mode", "timestamp"}})),
                  "'scan.startup.timestamp-millis' is required in 'timestamp' startup mode"));
  EXPECT_TRUE(
      Has(CheckSource(Kafka({{"scan.bounded.mode", "specific-offsets"}})),
          "'scan.bounded.specific-offsets' is required in 'specific-offsets' bounded mode"));
  const TableOptions offsets = {
      {"scan.startup.mode", "specific-offsets"},
      {"scan.startup.specific-offsets", "partition:0,offset:42;partition:1,offset:300"}};
  const Result<KafkaSourceSpec> source = ReadKafkaSource(Kafka(offsets));
  ASSERT_TRUE(source.ok()) << source.status().ToString();
  EXPECT_EQ(source->start.offsets, (KafkaOffsets{{0, 42}, {1, 300}}));
  for (const char* bad :
       {"", "0:42", "partition:0", "partition:x,offset:1", "partition:0,offset:-1",
        "partition:0,offset:1x", "offset:1,partition:0"}) {
    TableOptions wrong = offsets;
    wrong["scan.startup.specific-offsets"] = bad;
    EXPECT_TRUE(Has(CheckSource(Kafka(wrong)), "should follow the format")) << bad;
  }
  TableOptions two = offsets;
  two["topic"] = "a;b";
  EXPECT_TRUE(Has(CheckSource(Kafka(two)), "specific offset for single topic"));
  EXPECT_TRUE(Has(Check(Kafka({{"scan.startup.mode", "earliest"}})), "earliest-offset"));
  EXPECT_TRUE(Has(Check(Kafka({{"scan.startup.mod", "x"}})), "did you mean 'scan.startup.mode'"));
}

TEST(KafkaOptions, Keys) {
  EXPECT_TRUE(Has(Check(Kafka({{"key.format", "json"}})),
                  "requires the declaration of one or more of key fields using 'key.fields'"));
  EXPECT_TRUE(Has(Check(Kafka({{"key.fields", "id"}})),
                  "can only be declared if a key format is defined using 'key.format'"));
  EXPECT_TRUE(Has(Check(Kafka({{"key.format", "json"}, {"key.fields", "no"}})),
                  "could not find the field 'no'"));
  EXPECT_TRUE(Has(Check(Kafka({{"key.format", "json"},
                               {"key.fields", "id"},
                               {"key.fields-prefix", "k_"},
                               {"value.fields-include", "EXCEPT_KEY"}})),
                  "must be prefixed with 'k_'"));
  EXPECT_TRUE(
      Has(Check(Kafka({{"key.format", "json"}, {"key.fields", "id"}, {"key.fields-prefix", "i"}})),
          "a key prefix is not allowed"));
  TableSpec table = Kafka({{"key.format", "json"},
                           {"key.fields", "id"},
                           {"key.fields-prefix", "i"},
                           {"value.fields-include", "EXCEPT_KEY"},
                           {"key.json.ignore-parse-errors", "true"},
                           {"json.fail-on-missing-field", "true"}});
  ASSERT_EQ(Check(table), "ok");
  const Result<KafkaParts> parts = KafkaPartsOf(table);
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->key->table.schema.name(0), "d");
  EXPECT_EQ(parts->key->table.options,
            (TableOptions{{"format", "json"}, {"json.ignore-parse-errors", "true"}}));
  EXPECT_EQ(parts->value.columns, (std::vector<int>{1}));
  EXPECT_EQ(parts->value.table.options,
            (TableOptions{{"format", "json"}, {"json.fail-on-missing-field", "true"}}));
  EXPECT_TRUE(Has(Check(Kafka({{"key.format", "json"}, {"key.fields", "id"}, {"key.csv.x", "1"}})),
                  "unknown option 'key.csv.x'"));
  EXPECT_TRUE(Has(Check(Kafka({}, {"id"})), "can't guarantee the semantic of primary key"));
  EXPECT_EQ(Check(Kafka({{"format", "debezium-json"}}, {"id"})), "ok");
}

TEST(KafkaOptions, Upsert) {
  ASSERT_EQ(Check(Upsert({})), "ok");
  const Result<KafkaSourceSpec> source = ReadKafkaSource(Upsert({}));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->start.mode, KafkaStart::Mode::kEarliest);
  EXPECT_EQ(source->parts.key->columns, (std::vector<int>{0}));
  TableSpec without_key = Upsert({});
  without_key.primary_key.clear();
  EXPECT_TRUE(Has(Check(without_key), "require to define a PRIMARY KEY"));
  EXPECT_TRUE(Has(Check(Upsert({{"value.format", "debezium-json"}})),
                  "doesn't support 'debezium-json' as value format"));
  EXPECT_TRUE(Has(Check(Upsert({{"key.fields", "id"}})), "unknown option 'key.fields'"));
  EXPECT_TRUE(Has(Check(Upsert({{"scan.startup.mode", "latest-offset"}})), "unknown option"));
  EXPECT_TRUE(Has(Check(Upsert({{"key.format", "-"}})), "lacks the option 'key.format'"));
  EXPECT_TRUE(Has(CheckSink(Upsert({{"sink.buffer-flush.max-rows", "10"}})), "together"));
}

TEST(KafkaOptions, Sinks) {
  EXPECT_TRUE(Has(CheckSink(Kafka({{"sink.delivery-guarantee", "exactly-once"}})),
                  "sink.transactional-id-prefix must be specified"));
  EXPECT_TRUE(Has(CheckSink(Kafka({{"sink.partitioner", "org.example.Mine"}})),
                  "default, fixed, round-robin"));
  EXPECT_TRUE(
      Has(CheckSink(Kafka(
              {{"sink.partitioner", "round-robin"}, {"key.format", "json"}, {"key.fields", "id"}})),
          "only works when option 'key.fields' is not specified"));
  EXPECT_TRUE(Has(CheckSink(Kafka({{"topic", "a;b"}})), "metadata column 'topic'"));
  const Result<KafkaSinkSpec> old = ReadKafkaSink(Kafka({{"sink.semantic", "none"}}));
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->guarantee, KafkaGuarantee::kNone);
  EXPECT_EQ(old->warnings.size(), 1u);
}

// --- properties.* ---

Result<KafkaProperties> Translate(const std::string& name, const std::string& value,
                                  KafkaRole role = KafkaRole::kSource) {
  return TranslateKafkaProperties(Kafka({{"properties." + name, value}}), role);
}
std::string Setting(const std::string& name, const std::string& value, const std::string& ours,
                    KafkaRole role = KafkaRole::kSource) {
  const Result<KafkaProperties> made = Translate(name, value, role);
  if (!made.ok()) return made.status().ToString();
  const auto found = made->settings.find(ours);
  return found == made->settings.end() ? "none" : found->second;
}

TEST(KafkaProperties, JavaNames) {
  EXPECT_EQ(Setting("sasl.mechanism", "PLAIN", "sasl.mechanisms"), "PLAIN");
  EXPECT_EQ(Setting("fetch.max.wait.ms", "10", "fetch.wait.max.ms"), "10");
  EXPECT_EQ(Setting("fetch.wait.max.ms", "10", "fetch.wait.max.ms"), "10");
  EXPECT_EQ(Setting("compression.type", "gzip", "compression.codec", KafkaRole::kSink), "gzip");
  EXPECT_EQ(Setting("buffer.memory", "33554432", "queue.buffering.max.kbytes", KafkaRole::kSink),
            "32768");
  EXPECT_EQ(Setting("send.buffer.bytes", "-1", "socket.send.buffer.bytes"), "0");
  EXPECT_EQ(Setting("linger.ms", "50", "linger.ms", KafkaRole::kSink), "50");
  EXPECT_EQ(Setting("auto.offset.reset", "latest", "auto.offset.reset"), "error");
  EXPECT_EQ(*Translate("auto.offset.reset", "latest")->auto_offset_reset, "latest");
  const Result<KafkaProperties> only = Translate("max.poll.records", "500");
  ASSERT_TRUE(only.ok());
  ASSERT_EQ(only->warnings.size(), 1u);
  EXPECT_TRUE(Has(only->warnings[0], "'properties.max.poll.records'"));
}

TEST(KafkaProperties, Logins) {
  const std::string plain =
      "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\\\"b\" "
      "password='p;w';";
  EXPECT_EQ(Setting("sasl.jaas.config", plain, "sasl.username"), "a\"b");
  EXPECT_EQ(Setting("sasl.jaas.config", plain, "sasl.password"), "p;w");
  EXPECT_EQ(
      Setting("sasl.jaas.config", "x.y.ScramLoginModule required\n username=bob\n password=\"s\";",
              "sasl.password"),
      "s");
  const Status other = Translate("sasl.jaas.config",
                                 "com.sun.JndiLoginModule required user.provider.url=\"x\" "
                                 "password=\"hidden\";")
                           .status();
  EXPECT_TRUE(Has(MessageOf(other), "'com.sun.JndiLoginModule' is not known")) << MessageOf(other);
  EXPECT_FALSE(Has(MessageOf(other), "hidden"));
  for (const char* half : {"", ";", "PlainLoginModule", "PlainLoginModule required",
                           "PlainLoginModule required username",
                           "a.PlainLoginModule required "
                           "username=\"x"}) {
    EXPECT_FALSE(Translate("sasl.jaas.config", half).ok()) << half;
  }
}

// What came from a reference is shown as the reference, and what may be a password not at all.
TEST(KafkaProperties, WrongValuesOfReferencesAreNotShown) {
  for (const char* name : {"auto.offset.reset", "buffer.memory", "isolation.level"}) {
    const std::string option = std::string("properties.") + name;
    TableSpec table = Kafka({{option, "hush"}});
    const auto said = [&] {
      return MessageOf(TranslateKafkaProperties(table, KafkaRole::kSource).status());
    };
    EXPECT_TRUE(Has(said(), "hush"));
    table.written[option] = "${NAME}";
    const std::string message = said();
    EXPECT_TRUE(Has(message, "'${NAME}'")) << message;
    EXPECT_FALSE(Has(message, "hush")) << message;
  }
  const std::string login = MessageOf(Translate("sasl.jaas.config", "hush").status());
  EXPECT_TRUE(Has(login, "its login module is not known")) << login;
  EXPECT_FALSE(Has(login, "hush"));
}

TEST(KafkaProperties, LoginsThatCannotBeCarriedOver) {
  const auto refused = [](const char* jaas) {
    return MessageOf(Translate("sasl.jaas.config", jaas).status());
  };
  EXPECT_TRUE(Has(refused("com.sun.security.auth.module.Krb5LoginModule required keyTab=\"k\";"),
                  "properties.sasl.kerberos.principal"));
  EXPECT_TRUE(Has(refused("a.b.OAuthBearerLoginModule required clientId=\"c\";"),
                  "properties.sasl.oauthbearer.method"));
  EXPECT_TRUE(Has(refused("a.ScramLoginModule required username=\"u\" password=\"pw\" "
                          "tokenauth=true;"),
                  "tokenauth"));
}

// Quotes of either kind: what stands between them is shown nowhere.
TEST(KafkaProperties, PasswordsAreHidden) {
  ASSERT_TRUE(Translate("sasl.jaas.config",
                        "a.PlainLoginModule required username='u' password='single-quoted-pw';")
                  .ok());
  EXPECT_EQ(Redacted("no login with single-quoted-pw"), "no login with ******");
}

// It would be Kerberos, which looks for a ticket and not at the password.
TEST(KafkaProperties, ALoginNeedsAMechanism) {
  TableOptions options{{"properties.security.protocol", "SASL_SSL"},
                       {"properties.sasl.jaas.config",
                        "a.ScramLoginModule required username=\"u\" password=\"pw\";"}};
  const Status without = TranslateKafkaProperties(Kafka(options), KafkaRole::kSink).status();
  EXPECT_TRUE(Has(MessageOf(without), "lacks the option 'properties.sasl.mechanism'"))
      << MessageOf(without);
  options["properties.sasl.mechanism"] = "SCRAM-SHA-256";
  EXPECT_TRUE(TranslateKafkaProperties(Kafka(options), KafkaRole::kSink).ok());
}

TEST(KafkaProperties, Stores) {
  EXPECT_TRUE(Has(MessageOf(Translate("ssl.truststore.location", "a.jks").status()),
                  "properties.ssl.ca.location"));
  TableSpec table = Kafka({{"properties.ssl.truststore.location", "ca.pem"},
                           {"properties.ssl.truststore.type", "PEM"},
                           {"properties.ssl.keystore.location", "me.pem"},
                           {"properties.ssl.keystore.type", "PEM"},
                           {"properties.ssl.key.password", "s3cret"}});
  const Result<KafkaProperties> made = TranslateKafkaProperties(table, KafkaRole::kSource);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->settings.at("ssl.ca.location"), "ca.pem");
  EXPECT_EQ(made->settings.at("ssl.key.location"), "me.pem");
  EXPECT_EQ(made->settings.at("ssl.key.password"), "s3cret");
  EXPECT_FALSE(made->settings.contains("ssl.truststore.type"));
}

TEST(KafkaProperties, Refusals) {
  for (const auto& [name, value] : TableOptions{{"plugin.library.paths", "x.so"},
                                                {"sasl.login.callback.handler.class", "x"},
                                                {"enable.auto.commit", "true"},
                                                {"enable.auto.offset.store", "true"},
                                                {"transactional.id", "x"},
                                                {"enable.idempotence", "false"},
                                                {"acks", "1"},
                                                {"enable.partition.eof", "false"},
                                                {"ssl.engine.location", "x"},
                                                {"sasl.login.class", "x"},
                                                {"sasl.kerberos.kinit.cmd", "x"},
                                                {"debug", "all"}}) {
    EXPECT_TRUE(Has(MessageOf(Translate(name, value).status()), "is refused")) << name;
  }
  EXPECT_TRUE(Translate("enable.auto.commit", "false").ok());
  EXPECT_TRUE(Translate("acks", "all").ok());
  EXPECT_TRUE(Has(MessageOf(Translate("linger.millis", "5").status()), "unknown option"));
  EXPECT_TRUE(Has(MessageOf(Translate("isolation.leve", "x").status()),
                  "did you mean 'properties.isolation.level'"));
  EXPECT_TRUE(Has(MessageOf(Translate("isolation.level", "dirty").status()), "isolation.level"));
  EXPECT_TRUE(Has(Check(Kafka({{"properties.bootstrap.servers", "-"}})),
                  "lacks the option 'properties.bootstrap.servers'"));
}

TEST(KafkaProperties, PlaintextWarnsUnlessLocal) {
  TableSpec table = Kafka({{"properties.security.protocol", "SASL_PLAINTEXT"}});
  EXPECT_TRUE(TranslateKafkaProperties(table, KafkaRole::kSource)->warnings.empty());
  table.options["properties.bootstrap.servers"] = "127.0.0.1:1,kafka.example.org:9092";
  EXPECT_EQ(TranslateKafkaProperties(table, KafkaRole::kSource)->warnings.size(), 1u);
}

TEST(KafkaHandle, ErrorsSayWhoseMoveItIs) {
  EXPECT_EQ(KafkaStatus(RD_KAFKA_RESP_ERR__TRANSPORT, "x").code(), StatusCode::kExternal);
  EXPECT_EQ(KafkaStatus(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "x").code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(KafkaMayPass(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION));
  EXPECT_FALSE(KafkaMayPass(RD_KAFKA_RESP_ERR__AUTHENTICATION));
  Result<std::unique_ptr<KafkaHandle>> handle = KafkaHandle::Create(
      KafkaKind::kConsumer, {{"bootstrap.servers", "127.0.0.1:1"}, {"group.id", "g"}});
  ASSERT_TRUE(handle.ok()) << handle.status().ToString();
  const Result<std::vector<int>> counts = (*handle)->PartitionCounts({"t"}, 100);
  ASSERT_FALSE(counts.ok());
  EXPECT_EQ(counts.status().code(), StatusCode::kExternal);
  EXPECT_FALSE(KafkaHandle::Create(KafkaKind::kConsumer, {{"no.such.setting", "1"}}).ok());
}

}  // namespace
}  // namespace rowtide
