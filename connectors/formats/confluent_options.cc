#include "connectors/formats/confluent_options.h"

#include "connectors/formats/avro_schema.h"

namespace rowtide {
namespace {

constexpr OptionSpec kSpecs[] = {
    {"url"},
    {"schema-registry.url"},  // its old name
    {"subject"},
    {"schema-registry.subject"},
    {"schema"},
    {"schema-registry.schema"},
    {"basic-auth.credentials-source", OptionKind::kText, false, "URL|USER_INFO|SASL_INHERIT"},
    {"basic-auth.user-info"},
    {"bearer-auth.credentials-source", OptionKind::kText, false, "STATIC_TOKEN"},
    {"bearer-auth.token"},
    {"ssl.truststore.location"},
    {"ssl.truststore.password"},
    {"ssl.keystore.location"},
    {"ssl.keystore.password"},
};

std::string Text(const TableSpec& table, const std::string& key) {
  return TextOption(table, "avro-confluent." + key).value_or("");
}

std::string TextOrOld(const TableSpec& table, const std::string& key) {
  const std::string text = Text(table, key);
  return text.empty() ? Text(table, "schema-registry." + key) : text;
}

bool IsSameKind(const AvroType& a, const AvroType& b) {
  if (a.kind != b.kind || a.logical != b.logical || a.scale != b.scale ||
      a.branches.size() != b.branches.size())
    return false;
  for (size_t i = 0; i < a.branches.size(); ++i) {
    if (!IsSameKind(*a.branches[i], *b.branches[i])) return false;
  }
  return true;
}

// What is written must be what the schema says, field by field.
Status CheckSchema(const TableSpec& table, const std::string& text) {
  Result<AvroSchema> given = AvroSchema::Parse(text);
  if (!given.ok())
    return Status::InvalidArgument("'avro-confluent.schema' of table {}: {}", table.name,
                                   given.status().message());
  RT_ASSIGN(const AvroSchema derived, AvroSchema::Parse(AvroSchemaText(table.schema, true)));
  const std::vector<AvroField>& fields = given->root().fields;
  const std::vector<AvroField>& columns = derived.root().fields;
  for (size_t i = 0; i < std::max(fields.size(), columns.size()); ++i) {
    const std::string has =
        i < fields.size() ? Quote(fields[i].name) + " " + AvroTypeText(*fields[i].type) : "nothing";
    const std::string wants = i < columns.size()
                                  ? Quote(columns[i].name) + " " + AvroTypeText(*columns[i].type)
                                  : "nothing";
    if (i < fields.size() && i < columns.size() && fields[i].name == columns[i].name &&
        IsSameKind(*fields[i].type, *columns[i].type))
      continue;
    return Status::InvalidArgument(
        "'avro-confluent.schema' of table {} has {} where the columns have {}", table.name, has,
        wants);
  }
  return Status::Ok();
}

}  // namespace

std::span<const OptionSpec> ConfluentOptionSpecs() { return kSpecs; }

Result<ConfluentOptions> ReadConfluentOptions(const TableSpec& table) {
  ConfluentOptions options;
  options.url = TextOrOld(table, "url");
  options.subject = TextOrOld(table, "subject");
  options.schema = TextOrOld(table, "schema");
  options.user = Text(table, "basic-auth.user-info");
  options.token = Text(table, "bearer-auth.token");
  options.ca_file = Text(table, "ssl.truststore.location");
  return options;
}

Status CheckConfluentTable(const TableSpec& table) {
  RT_ASSIGN(const ConfluentOptions options, ReadConfluentOptions(table));
  if (options.url.empty())
    return Status::InvalidArgument("table {} lacks the option 'avro-confluent.url'", table.name)
        .WithErrorCode("RT2013");
  if (Text(table, "basic-auth.credentials-source") == "SASL_INHERIT")
    return Status::Unsupported("'avro-confluent.basic-auth.credentials-source' = 'SASL_INHERIT'")
        .WithHint("USER_INFO takes 'avro-confluent.basic-auth.user-info'");
  if (!Text(table, "ssl.keystore.location").empty())
    return Status::Unsupported("'avro-confluent.ssl.keystore.location'")
        .WithHint("certificates of clients are not supported; basic-auth and bearer-auth are");
  if (options.ca_file.ends_with(".jks") || !Text(table, "ssl.truststore.password").empty())
    return Status::Unsupported("'avro-confluent.ssl.truststore.location' of Java's own kind")
        .WithHint("a file of certificates in PEM is wanted");
  RT_TRY(CheckAvroColumns(table.schema, true));
  return options.schema.empty() ? Status::Ok() : CheckSchema(table, options.schema);
}

}  // namespace rowtide
