#include "cli/requeue.h"

#include <algorithm>
#include <cstdio>

#include "cli/error.h"
#include "cli/run.h"
#include "connectors/dead_letters.h"
#include "connectors/files/list.h"
#include "connectors/kafka/requeue.h"
#include "planner/exec/node_operators.h"
#include "planner/session.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

constexpr const char* kUsageCode = "RT2800";

Status ReadScript(std::string_view sql, Session* session) {
  session->LookOnly();
  ScriptParser parser(sql);
  while (true) {
    RT_ASSIGN(const std::optional<ast::Statement> statement, parser.NextStatement());
    if (!statement) return Status::Ok();
    RT_TRY(session->Execute(*statement).status());
  }
}

std::string PlaceOf(Session& session, const std::string& table) {
  return session.options().Get("rowtide.dead-letter." + table);
}

Status HasNoLetters(const std::string& what) {
  return Status::InvalidArgument("{} has no dead letters", what)
      .WithErrorCode(kUsageCode)
      .WithHint(
          "SET 'rowtide.dead-letter.TABLE' says where they are; the script of the job has it");
}

// The name of the table whose letters are meant.
Result<std::string> ChosenTable(Session& session, const RequeueArguments& arguments) {
  const std::vector<std::string> tables = session.catalog().TableNames();
  std::vector<std::string> with_letters;
  for (const std::string& table : tables) {
    if (!PlaceOf(session, table).empty()) with_letters.push_back(table);
  }
  const std::string& wanted = arguments.table;
  if (wanted.empty()) {
    if (with_letters.size() == 1) return with_letters.front();
    if (with_letters.empty()) return HasNoLetters("no table of " + Quote(arguments.file));
    return Status::InvalidArgument("several tables have dead letters: {}",
                                   fmt::join(with_letters, ", "))
        .WithErrorCode(kUsageCode)
        .WithHint("name one of them behind the script");
  }
  if (std::find(tables.begin(), tables.end(), wanted) == tables.end()) {
    const std::string nearest = Nearest(wanted, tables);
    return Status::NotFound("{} makes no table {}", Quote(arguments.file), Quote(wanted))
        .WithErrorCode(kUsageCode)
        .WithHint(nearest.empty() ? fmt::format("it makes {}", fmt::join(tables, ", "))
                                  : fmt::format("did you mean {}?", Quote(nearest)));
  }
  if (PlaceOf(session, wanted).empty()) return HasNoLetters("table " + Quote(wanted));
  return wanted;
}

Result<KafkaRequeued> PutBack(Session& session, const std::string& name, bool dry_run) {
  const TablePointer table = session.catalog().FindTable(session.catalog().Resolve({name}));
  RT_CHECK(table != nullptr);
  RT_TRY(CheckReferencesOf(*table, {}));
  const TableSpec spec = TableSpecOf(*table, {});
  if (!IsKafka(spec)) {
    return Status::InvalidArgument(
               "table {} is read by connector {}: only records of Kafka's topics can be put back",
               Quote(name), Quote(table->connector()))
        .WithErrorCode(kUsageCode);
  }
  RT_TRY(CheckOptions(spec));
  RT_ASSIGN(const KafkaSourceSpec source, ReadKafkaSource(spec));
  RT_ASSIGN(const KafkaProperties sink, TranslateKafkaProperties(spec, KafkaRole::kSink));
  const KafkaRequeueSpec requeue{spec.name, source.topics, source.properties.settings,
                                 sink.settings, dry_run};
  const std::string place = PlaceOf(session, name);
  if (const std::optional<std::string> topic = LetterTopicOf(place))
    return RequeueTopic(requeue, *topic);
  return RequeueFile(requeue, LocalPath(place));
}

std::string Counted(int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void Say(const KafkaRequeued& done, const std::string& table, bool dry_run) {
  for (const auto& [topic, count] : done.records) {
    const char* const is_back = count == 1 ? "is back in" : "are back in";
    const char* const verb = dry_run ? "would go back into" : is_back;
    std::printf("%s of table %s %s topic %s\n", Counted(count, "record", "records").c_str(),
                Quote(table).c_str(), verb, Quote(topic).c_str());
  }
  if (done.records.empty())
    std::printf("no record of table %s to put back\n", Quote(table).c_str());
  if (done.earlier > 0) {
    PrintNote("requeue", Counted(done.earlier, "record was", "records were") +
                             " put back before, and not again");
  }
  if (done.others > 0) {
    PrintNote("requeue", Counted(done.others, "letter is", "letters are") +
                             " about records of topics that the table is not read from, and left");
  }
  if (done.unusable > 0) {
    PrintNote("requeue", fmt::format("{} cannot be put back; the first: {}",
                                     Counted(done.unusable, "letter", "letters"),
                                     done.first_unusable));
  }
}

}  // namespace

int Requeue(const RequeueArguments& arguments) {
  const Result<SqlText> sql = ReadSql(arguments.file, "");
  if (!sql.ok()) return PrintError(sql.status(), "", "");
  Session session;
  const Status read = ReadScript(sql->text, &session);
  if (!read.ok()) return PrintError(read, sql->origin, sql->text);
  const Result<std::string> table = ChosenTable(session, arguments);
  if (!table.ok()) return PrintError(table.status(), "", "");
  const Result<KafkaRequeued> done = PutBack(session, *table, arguments.dry_run);
  if (!done.ok()) return PrintError(done.status(), "", "");
  Say(*done, *table, arguments.dry_run);
  return 0;
}

}  // namespace rowtide
