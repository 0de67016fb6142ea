#include "connectors/kafka/properties.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "connectors/kafka/login.h"

namespace rowtide {
namespace {

constexpr std::string_view kPrefix = "properties.";

struct Twin {
  std::string_view java;
  std::string_view ours;
};

// Settings with another name, and the same values.
constexpr Twin kTwins[] = {
    {"sasl.mechanism", "sasl.mechanisms"},
    {"fetch.max.wait.ms", "fetch.wait.max.ms"},
    {"max.partition.fetch.bytes", "fetch.message.max.bytes"},
    {"request.timeout.ms", "socket.timeout.ms"},
    {"max.request.size", "message.max.bytes"},
    {"compression.type", "compression.codec"},
    {"delivery.timeout.ms", "message.timeout.ms"},
    {"ssl.truststore.certificates", "ssl.ca.pem"},
    {"ssl.keystore.certificate.chain", "ssl.certificate.pem"},
    {"ssl.keystore.key", "ssl.key.pem"},
};

// What Java's client or Flink alone has, and what to do instead.
constexpr Twin kJavaOnly[] = {
    {"key.serializer", "formats write keys and values"},
    {"value.serializer", "formats write keys and values"},
    {"key.deserializer", "formats read keys and values"},
    {"value.deserializer", "formats read keys and values"},
    {"max.poll.records", "a batch has up to 1,024 records"},
    {"max.block.ms", "a full queue holds the job back"},
    {"default.api.timeout.ms", ""},
    {"auto.commit.interval.ms", "offsets are committed with checkpoints"},
    {"enable.metrics.push", ""},
    {"exclude.internal.topics", ""},
    {"interceptor.classes", ""},
    {"metric.reporters", ""},
    {"metrics.num.samples", ""},
    {"metrics.recording.level", ""},
    {"metrics.sample.window.ms", ""},
    {"partition.assignment.strategy", "partitions are assigned by their numbers"},
    {"partitioner.class", "'sink.partitioner' chooses"},
    {"partitioner.ignore.keys", "'sink.partitioner' chooses"},
    {"partitioner.adaptive.partitioning.enable", "'sink.partitioner' chooses"},
    {"partitioner.availability.timeout.ms", "'sink.partitioner' chooses"},
    {"partition.discovery.interval.ms", "see 'scan.topic-partition-discovery.interval'"},
    {"client.id.prefix", "see 'properties.client.id'"},
    {"register.consumer.metrics", ""},
    {"register.producer.metrics", ""},
    {"auto.include.jmx.reporter", ""},
    {"ssl.protocol", "OpenSSL chooses"},
    {"ssl.enabled.protocols", "OpenSSL chooses"},
    {"ssl.provider", "OpenSSL is used"},
    {"ssl.keymanager.algorithm", ""},
    {"ssl.trustmanager.algorithm", ""},
    {"ssl.secure.random.implementation", ""},
    {"security.providers", ""},
    {"sasl.login.refresh.window.factor", ""},
    {"sasl.login.refresh.window.jitter", ""},
    {"sasl.login.refresh.min.period.seconds", ""},
    {"sasl.login.refresh.buffer.seconds", ""},
    {"sasl.kerberos.ticket.renew.jitter", ""},
    {"sasl.kerberos.ticket.renew.window.factor", ""},
    {"client.dns.lookup", "all addresses of a name are tried"},
    {"metadata.max.idle.ms", ""},
    {"group.protocol", "no group assigns partitions"},
};

// What would break a promise, or run code that is not ours.
constexpr Twin kRefused[] = {
    {"plugin.library.paths", "it runs code that is not Rowtide's"},
    {"ssl.engine.location", "it runs code that is not Rowtide's"},
    {"ssl.engine.factory.class", "it runs code that is not Rowtide's"},
    {"sasl.login.class", "it runs code that is not Rowtide's"},
    {"sasl.kerberos.kinit.cmd", "it runs a command"},
    {"enable.auto.offset.store", "offsets are in the checkpoint"},
    {"auto.commit.enable", "offsets are in the checkpoint"},
    {"offset.store.method", "offsets are in the checkpoint"},
    {"offset.store.path", "offsets are in the checkpoint"},
    {"enable.partition.eof", "the source relies on it"},
    {"transactional.id", "see 'sink.transactional-id-prefix'"},
    {"partitioner", "see 'sink.partitioner'"},
    {"debug", "what librdkafka logs goes nowhere"},
    {"builtin.features", "it can only be read"},
    {"allow.auto.create.topics", "a wrong name must not make a topic"},
    {"test.mock.num.brokers", "it replaces the brokers"},
};

constexpr Twin kSourceSettings[] = {
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "error"},
    {"queued.min.messages", "100000"},
    {"fetch.wait.max.ms", "50"},
    {"queued.max.messages.kbytes", "65536"},
    {"check.crcs", "true"},
    {"fetch.message.max.bytes", "4194304"},
    {"enable.partition.eof", "true"},
    {"isolation.level", "read_committed"},
    {"allow.auto.create.topics", "false"},
    {"socket.nagle.disable", "true"},
    {"client.id", "rowtide"},
};

constexpr Twin kSinkSettings[] = {
    {"enable.idempotence", "true"},
    {"partitioner", "murmur2_random"},
    {"linger.ms", "5"},
    {"batch.size", "1000000"},
    {"batch.num.messages", "10000"},
    {"compression.codec", "lz4"},
    {"queue.buffering.max.messages", "1000000"},
    {"allow.auto.create.topics", "false"},
    {"socket.nagle.disable", "true"},
    {"client.id", "rowtide"},
};

const Twin* Find(std::span<const Twin> list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Twin& twin) { return twin.java == name; });
  return found == list.end() ? nullptr : &*found;
}

bool IsTrue(const std::string& value) {
  return value == "true" || value == "TRUE" || value == "True";
}
bool EndsWith(std::string_view text, std::string_view end) { return text.ends_with(end); }

// Names that librdkafka knows.
std::set<std::string> KnownNames() {
  std::set<std::string> names;
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  size_t count = 0;
  const char** dump = rd_kafka_conf_dump(conf, &count);
  for (size_t i = 0; i + 1 < count; i += 2) names.insert(dump[i]);
  rd_kafka_conf_dump_free(dump, count);
  rd_kafka_topic_conf_t* topic = rd_kafka_topic_conf_new();
  dump = rd_kafka_topic_conf_dump(topic, &count);
  for (size_t i = 0; i + 1 < count; i += 2) names.insert(dump[i]);
  rd_kafka_conf_dump_free(dump, count);
  rd_kafka_topic_conf_destroy(topic);
  rd_kafka_conf_destroy(conf);
  return names;
}

// As a set: the order of brokers says nothing.
std::set<std::string> BrokersOf(const std::string& bootstrap) {
  std::set<std::string> brokers;
  std::string one;
  for (const char c : bootstrap + ",") {
    if (c != ',' && c != ' ') {
      one += c;
    } else if (!one.empty()) {
      brokers.insert(std::exchange(one, {}));
    }
  }
  return brokers;
}

class Translator {
 public:
  Translator(const TableSpec& table, KafkaRole role) : table_(table), role_(role) {}

  Result<KafkaProperties> Translate() {
    const std::span<const Twin> defaults =
        role_ == KafkaRole::kSource ? std::span<const Twin>(kSourceSettings) : kSinkSettings;
    for (const Twin& setting : defaults)
      made_.settings[std::string(setting.java)] = std::string(setting.ours);
    for (const auto& [key, value] : table_.options) {
      if (key.starts_with(kPrefix)) given_[key.substr(kPrefix.size())] = value;
    }
    const auto bootstrap = given_.find("bootstrap.servers");
    if (bootstrap == given_.end() || bootstrap->second.empty()) {
      return Status::InvalidArgument("table {} lacks the option 'properties.bootstrap.servers'",
                                     table_.name)
          .WithErrorCode("RT2013");
    }
    made_.bootstrap = bootstrap->second;
    RT_TRY(TakeStores());
    for (const auto& [name, value] : given_) RT_TRY(Take(name, value));
    RT_TRY(CheckLogin());
    RT_TRY(CheckEncryption());
    return std::move(made_);
  }

 private:
  std::string Named(std::string_view name) const {
    return Quote(std::string(kPrefix) + std::string(name));
  }
  // Of a value that came from a reference, the reference.
  std::string Shown(const std::string& name) const {
    return Quote(table_.Shown(std::string(kPrefix) + name));
  }
  Status Refuse(std::string_view name, std::string_view why) const {
    return Status::InvalidArgument("option {} of table {} is refused: {}", Named(name), table_.name,
                                   why)
        .WithErrorCode("RT2018");
  }
  void Warn(std::string_view name, std::string_view instead) {
    made_.warnings.push_back(
        fmt::format("option {} of table {} has no effect here: Java's client alone has it{}{}",
                    Named(name), table_.name, instead.empty() ? "" : "; ", instead));
  }

  Status Take(const std::string& name, const std::string& value) {
    if (taken_.contains(name)) return Status::Ok();
    if (name.find("callback") != std::string::npos || EndsWith(name, "_cb"))
      return Refuse(name, "it runs code that is not Rowtide's");
    if (const Twin* refused = Find(kRefused, name)) return Refuse(name, refused->ours);
    if (name == "auto.offset.reset") return TakeReset(value);
    if (name == "group.id") {
      made_.group = value;
      return Set(name, name, value);
    }
    if (name == "enable.auto.commit") {
      return IsTrue(value) ? Refuse(name, "offsets are committed with checkpoints") : Status::Ok();
    }
    if (name == "commit.offsets.on.checkpoint") {
      made_.commits_offsets = IsTrue(value);
      return Status::Ok();
    }
    if (name == "enable.idempotence" || name == "enable.gapless.guarantee") {
      if (name == "enable.idempotence" && !IsTrue(value))
        return Refuse(name, "a retry could then write a record twice or out of order");
      return Status::Ok();
    }
    if (name == "acks" || name == "request.required.acks") {
      if (value == "all" || value == "-1") return Status::Ok();
      return Refuse(name, "a record counts as written when all replicas have it: 'all'");
    }
    if (name == "sasl.jaas.config") return TakeLogin(value);
    if (name == "buffer.memory") return TakeMemory(name, value);
    if (name == "receive.buffer.bytes" || name == "send.buffer.bytes")
      return Set(name, "socket." + name, value == "-1" ? "0" : value);
    if (name == "ssl.endpoint.identification.algorithm")
      return Set(name, name, value.empty() ? "none" : value);
    if (const Twin* twin = Find(kTwins, name)) return Set(name, std::string(twin->ours), value);
    if (const Twin* only = Find(kJavaOnly, name)) {
      Warn(name, only->ours);
      return Status::Ok();
    }
    return Set(name, name, value);
  }

  // Checked by librdkafka itself.
  Status Set(const std::string& given, const std::string& name, const std::string& value) {
    char reason[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const rd_kafka_conf_res_t set =
        rd_kafka_conf_set(conf, name.c_str(), value.c_str(), reason, sizeof(reason));
    rd_kafka_conf_destroy(conf);
    if (set == RD_KAFKA_CONF_UNKNOWN) return Unknown(given);
    if (set == RD_KAFKA_CONF_INVALID) {
      // librdkafka's words have the value in them.
      const bool may_show = table_.Shown(std::string(kPrefix) + given) == value;
      const std::string why =
          may_show ? std::string(reason) : fmt::format("{} is not accepted", Shown(given));
      return Status::InvalidArgument("option {} of table {}: {}", Named(given), table_.name, why)
          .WithErrorCode("RT2018");
    }
    made_.settings[name] = value;
    return Status::Ok();
  }

  Status Unknown(const std::string& name) const {
    const std::set<std::string> known = KnownNames();
    std::vector<std::string> names(known.begin(), known.end());
    for (const Twin& twin : kTwins) names.emplace_back(twin.java);
    for (const Twin& twin : kJavaOnly) names.emplace_back(twin.java);
    const std::string nearest = Nearest(name, names);
    Status status =
        Status::InvalidArgument("unknown option {} of table {}", Named(name), table_.name)
            .WithErrorCode("RT2010");
    if (nearest.empty()) return status;
    return std::move(status).WithHint("did you mean " + Named(nearest) + "?");
  }

  Status TakeReset(const std::string& value) {
    if (value == "earliest" || value == "latest" || value == "none") {
      made_.auto_offset_reset = value;
      return Status::Ok();
    }
    return Status::InvalidArgument("option {} of table {} is earliest, latest or none, not {}",
                                   Named("auto.offset.reset"), table_.name,
                                   Shown("auto.offset.reset"));
  }

  // Bytes there, kilobytes here.
  Status TakeMemory(const std::string& name, const std::string& value) {
    const bool is_number = !value.empty() && value.size() < 16 &&
                           value.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number)
      return Status::InvalidArgument("option {} of table {} is a number of bytes, not {}",
                                     Named(name), table_.name, Shown(name));
    return Set(name, "queue.buffering.max.kbytes",
               std::to_string(std::max<int64_t>(std::stoll(value) >> 10, 1)));
  }

  Status TakeLogin(const std::string& value) {
    Result<KafkaLogin> login = ReadKafkaLogin(value);
    if (!login.ok()) return Refuse("sasl.jaas.config", login.status().message());
    made_.settings["sasl.username"] = login->username;
    made_.settings["sasl.password"] = login->password;
    return Status::Ok();
  }

  std::optional<std::string> Given(const std::string& name) const {
    const auto found = given_.find(name);
    if (found == given_.end()) return std::nullopt;
    return found->second;
  }

  // Java's stores of keys and certificates.
  Status TakeStores() {
    for (const char* name : {"ssl.truststore.location", "ssl.truststore.type",
                             "ssl.truststore.password", "ssl.keystore.type"}) {
      taken_.insert(name);
    }
    if (const auto location = Given("ssl.truststore.location")) {
      if (Given("ssl.truststore.type").value_or("JKS") != "PEM") {
        return Refuse("ssl.truststore.location",
                      "a Java key store cannot be read; 'properties.ssl.ca.location' names a file "
                      "with certificates as PEM, or set 'properties.ssl.truststore.type' = 'PEM' "
                      "(keytool -exportcert -rfc writes one)");
      }
      RT_TRY(Set("ssl.truststore.location", "ssl.ca.location", *location));
    }
    const auto location = Given("ssl.keystore.location");
    if (!location) return Status::Ok();
    const bool is_pkcs12 = EndsWith(*location, ".p12") || EndsWith(*location, ".pfx");
    const std::string type = Given("ssl.keystore.type").value_or(is_pkcs12 ? "PKCS12" : "JKS");
    if (type == "PKCS12") return Status::Ok();
    if (type != "PEM") {
      return Refuse("ssl.keystore.location",
                    "a Java key store cannot be read; 'properties.ssl.certificate.location' and "
                    "'properties.ssl.key.location' name files as PEM (for the other side: "
                    "'properties.ssl.ca.location')");
    }
    taken_.insert({"ssl.keystore.location", "ssl.keystore.password"});
    RT_TRY(Set("ssl.keystore.location", "ssl.certificate.location", *location));
    return Set("ssl.keystore.location", "ssl.key.location", *location);
  }

  // In capital letters; "" = PLAINTEXT.
  std::string Protocol() const {
    const auto protocol = made_.settings.find("security.protocol");
    std::string name = protocol == made_.settings.end() ? "" : protocol->second;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    return name;
  }

  // Without a mechanism it would be Kerberos, which has neither name nor password.
  Status CheckLogin() const {
    if (!Protocol().starts_with("SASL_") || !made_.settings.contains("sasl.password") ||
        made_.settings.contains("sasl.mechanisms")) {
      return Status::Ok();
    }
    return Status::InvalidArgument(
               "table {} lacks the option {}: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", table_.name,
               Named("sasl.mechanism"))
        .WithErrorCode("RT2013");
  }

  Status CheckEncryption() {
    if (Protocol() != "SASL_PLAINTEXT") return Status::Ok();
    std::string_view rest = made_.bootstrap;
    bool is_local = true;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string_view address = rest.substr(0, comma);
      while (address.starts_with(' ')) address.remove_prefix(1);
      is_local &= address.starts_with("127.") || address.starts_with("localhost") ||
                  address.starts_with("[::1]");
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (!is_local) {
      made_.warnings.push_back(fmt::format(
          "table {}: SASL_PLAINTEXT sends user name and password to {} unencrypted; SASL_SSL does "
          "not",
          table_.name, made_.bootstrap));
    }
    return Status::Ok();
  }

  const TableSpec& table_;
  const KafkaRole role_;
  KafkaProperties made_;
  std::map<std::string, std::string> given_;  // without the prefix
  std::set<std::string> taken_;               // read together with another one
};

}  // namespace

bool AreSameBrokers(const std::string& a, const std::string& b) {
  return BrokersOf(a) == BrokersOf(b);
}

Result<KafkaProperties> TranslateKafkaProperties(const TableSpec& table, KafkaRole role) {
  return Translator(table, role).Translate();
}

}  // namespace rowtide
