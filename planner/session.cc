#include "planner/session.h"

#include <algorithm>

#include "connectors/registry.h"
#include "engine/secrets.h"
#include "planner/binder/bind_statement.h"
#include "planner/exec/node_operators.h"
#include "planner/plan_statement.h"
#include "planner/references.h"
#include "planner/sql/parser.h"
#include "planner/sql/secrets.h"

namespace rowtide {

namespace {

Result<std::vector<LogicalPointer>> BindInserts(const std::vector<ast::Insert>& inserts,
                                                BindContext& context) {
  std::vector<LogicalPointer> roots;
  for (const ast::Insert& insert : inserts) {
    RT_ASSIGN(LogicalPointer root, BindInsert(insert, context));
    roots.push_back(std::move(root));
  }
  return roots;
}

// --- tables that a plan reads and writes
// -------------------------------------------------------------------------

Status CheckTable(const CatalogTable& table, const std::map<std::string, std::string>& hints) {
  if (!table.partition_keys.empty()) {
    return Status::Unsupported("PARTITIONED BY of table {}", Quote(table.path.name))
        .WithHint("leave it out: the columns are then in the files, not in names of folders");
  }
  RT_TRY(CheckReferencesOf(table, hints));
  return CheckOptions(TableSpecOf(table, hints));
}

Status CheckSource(const CatalogTable& table, const std::map<std::string, std::string>& hints) {
  RT_TRY(CheckTable(table, hints));
  const bool has_physical = std::any_of(
      table.columns.begin(), table.columns.end(),
      [](const TableColumn& column) { return column.kind == TableColumn::Kind::kPhysical; });
  if (table.source && !has_physical) {
    return Status::InvalidArgument(
               "the table {} has no physical column, so there is nothing to read of a record",
               Quote(table.path.name))
        .WithHint("declare at least one column of the data, such as `line` STRING");
  }
  if (table.source) return Status::Ok();
  return Status::InvalidArgument(
             "the table {} cannot be read: the connector {} is for writing only",
             Quote(table.path.name), Quote(table.connector()))
      .WithErrorCode("RT2017");
}

Status CheckSink(const CatalogTable& table, const std::map<std::string, std::string>& hints) {
  RT_TRY(CheckTable(table, hints));
  if (table.sink) return Status::Ok();
  return Status::InvalidArgument(
             "the table {} cannot be written: the connector {} is for reading only",
             Quote(table.path.name), Quote(table.connector()))
      .WithErrorCode("RT2017");
}

// Options are checked when a table is used, as in Flink, not when it is declared.
Status CheckTablesBelow(const LogicalNode& node) {
  if (const auto* scan = node.as<LogicalScan>())
    RT_TRY(CheckSource(*scan->table, scan->hint_options));
  if (const auto* sink = node.as<LogicalSink>())
    RT_TRY(CheckSink(*sink->table, sink->hint_options));
  for (const LogicalPointer& input : node.inputs) RT_TRY(CheckTablesBelow(*input));
  return Status::Ok();
}

bool IsBounded(const ExecNode& node) {
  const auto* scan = node.as<PhysicalScan>();
  if (scan && scan->table->source && !scan->table->source->bounded) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const ExecPointer& input) { return IsBounded(*input); });
}

Status FillAbilities(CatalogTable* table) {
  const ConnectorTraits traits = TraitsOf(TableSpecOf(*table, {}));
  if (traits.source) {
    SourceAbilities source;
    source.mode = traits.source->mode;
    source.projection = traits.source->projection;
    source.filter = traits.source->filter;
    source.limit = traits.source->limit;
    source.watermark = traits.source->watermark;
    source.bounded = traits.source->bounded;
    for (const MetadataKey& metadata : traits.source->metadata) {
      source.metadata.push_back(metadata.key);
    }
    table->source = source;
    for (TableColumn& column : table->columns) {
      for (const MetadataKey& metadata : traits.source->metadata) {
        const bool same =
            column.kind == TableColumn::Kind::kMetadata && column.metadata_key == metadata.key;
        if (same) column.metadata_type = metadata.type;
      }
    }
  }
  if (traits.sink)
    table->sink = SinkAbilities{traits.sink->mode, traits.sink->default_without_before,
                                traits.sink->overwrite, traits.sink->metadata};
  return Status::Ok();
}

const AbilityLookup kFillAbilities = FillAbilities;

Status CheckBatch(const PlannedJob& job) {
  if (job.bounded || job.options.Get("execution.runtime-mode") != "BATCH") return Status::Ok();
  return Status::Validate({}, "batch mode waits for the end of the input, and this input has none")
      .WithHint(
          "SET 'execution.runtime-mode' = 'streaming', or bound the source (datagen: "
          "'number-of-rows')");
}

std::string JobName(const std::vector<LogicalPointer>& roots) {
  std::string name;
  for (const LogicalPointer& root : roots) {
    const auto* sink = root->as<LogicalSink>();
    if (sink == nullptr) return "collect";
    name += (name.empty() ? "insert-into_" : ",") + sink->table->path.ToString();
  }
  return name;
}

Status Refuse(const std::string& construct, SourcePosition at) {
  return Status::Unsupported("{} is not supported", construct).At(at);
}

Result<ExplainText> ExplainRoots(const std::vector<LogicalPointer>& roots, const Options& options,
                                 const ExplainDetails& details) {
  for (const LogicalPointer& root : roots) RT_TRY(CheckTablesBelow(*root));
  RT_ASSIGN(std::string text, ExplainPlan(roots, options, details));
  return ExplainText{std::move(text)};
}

template <typename T>
constexpr bool kIsPlanned = std::is_same_v<T, ast::QueryPointer> ||
                            std::is_same_v<T, ast::Insert> || std::is_same_v<T, ast::StatementSet>;

Result<std::vector<LogicalPointer>> BindRoots(const ast::QueryPointer& query,
                                              BindContext& context) {
  RT_ASSIGN(LogicalPointer root, BindQuery(*query, context));
  return std::vector<LogicalPointer>{std::move(root)};
}
Result<std::vector<LogicalPointer>> BindRoots(const ast::Insert& insert, BindContext& context) {
  return BindInserts({insert}, context);
}
Result<std::vector<LogicalPointer>> BindRoots(const ast::StatementSet& set, BindContext& context) {
  return BindInserts(set.inserts, context);
}

Result<Schema> SchemaOfView(const CatalogView& view, BindContext context) {
  Catalog home = *context.catalog;
  RT_TRY(home.UseDatabase({view.home_catalog, view.home_database}));
  context.catalog = &home;
  RT_ASSIGN(const ast::QueryPointer query, ParseQuery(view.query_sql));
  Result<LogicalPointer> bound = BindQuery(*query, context);
  if (!bound.ok()) {
    return Status(bound.status()).WithContext("view " + Quote(view.path.name)).MovedTo({});
  }
  const LogicalPointer root = *std::move(bound);
  std::vector<Field> fields = root->schema.fields();
  for (size_t i = 0; i < view.column_names.size() && i < fields.size(); ++i)
    fields[i].name = view.column_names[i];
  return Schema(std::move(fields));
}

// Plans may rename what they compute; the user sees the names of the query.
Schema Named(const Schema& planned, const Schema& query) {
  std::vector<Field> fields = planned.fields();
  for (size_t i = 0; i < fields.size(); ++i) fields[i].name = query.name(static_cast<int>(i));
  return Schema(std::move(fields));
}

Result<ExplainDetails> DetailsOf(const ast::Explain& explain, SourcePosition at) {
  ExplainDetails details;
  for (const std::string& detail : explain.details) {
    if (detail != "CHANGELOG_MODE") return Refuse("EXPLAIN " + detail, at);
    details.changelog_mode = true;
  }
  return details;
}

Status CannotDropCatalog(const ast::Name& name, const Catalog& catalog) {
  const std::string quoted = Quote(name.ToString());
  Status status = catalog.HasCatalog(name.ToString())
                      ? Status::Validate(name.position,
                                         "the catalog {} is in use and cannot be dropped", quoted)
                      : Status::Validate(name.position, "there is no catalog {}", quoted)
                            .WithErrorCode("RT2023");
  return std::move(status).WithKind(ErrorKind::kRun);
}

}  // namespace

std::string PlannedJob::local_time_zone() const { return options.local_time_zone(); }

bool PlannedJob::gives_final_rows() const {
  return options.Get("execution.runtime-mode") == "BATCH";
}

bool PlannedJob::writes_files() const {
  return std::any_of(plan.roots.begin(), plan.roots.end(), [](const ExecPointer& root) {
    const auto* sink = root->as<PhysicalSink>();
    return sink && sink->table->connector() == "filesystem";
  });
}

BindContext Session::Binding() const {
  return {&catalog_, &options_, &kFillAbilities, !looks_only_};
}

Status Session::CheckTables(const LogicalNode& root) const {
  return looks_only_ ? Status::Ok() : CheckTablesBelow(root);
}

std::vector<std::string> Session::TakeNotes() { return std::exchange(notes_, {}); }

Result<Outcome> Session::Execute(const ast::Statement& statement, std::string_view script) {
  Result<Outcome> outcome = Dispatch(statement);
  if (outcome.ok() && !script.empty()) Note(statement, script, &*outcome);
  return outcome;
}

void Session::Note(const ast::Statement& statement, std::string_view script, Outcome* outcome) {
  const bool defines = statement.as<ast::CreateTable>() || statement.as<ast::CreateView>() ||
                       statement.as<ast::CreateDatabase>() || statement.as<ast::Drop>() ||
                       statement.as<ast::Use>();
  auto* const job = std::get_if<PlannedJob>(outcome);
  if (!defines && (job == nullptr || job->is_query)) return;
  std::string text =
      WithoutSecretValues(script.substr(statement.begin, statement.end - statement.begin));
  if (defines) {
    definitions_.push_back(std::move(text));
    return;
  }
  job->script.statements = definitions_;
  job->script.statements.push_back(std::move(text));
  for (const auto& [key, value] : options_.Shown()) {
    if (!IsSecretKey(key)) job->script.settings.emplace_back(key, value);
  }
}

Result<Outcome> Session::Dispatch(const ast::Statement& statement) {
  const auto as_outcome = [](auto result) -> Result<Outcome> {
    if (!result.ok()) return result.status();
    return Outcome(std::move(*result));
  };
  if (const auto* query = statement.as<ast::QueryPointer>()) return Run(**query);
  if (const auto* insert = statement.as<ast::Insert>())
    return Run(std::vector<ast::Insert>{*insert});
  if (const auto* set = statement.as<ast::StatementSet>()) return Run(set->inserts);
  if (statement.as<ast::Explain>()) return as_outcome(Explain(statement));
  if (const auto* table = statement.as<ast::CreateTable>()) return Create(*table);
  if (const auto* view = statement.as<ast::CreateView>()) return Create(*view);
  if (const auto* database = statement.as<ast::CreateDatabase>()) return Create(*database);
  if (const auto* drop = statement.as<ast::Drop>()) return Drop(*drop);
  if (const auto* set = statement.as<ast::Set>()) return Set(*set);
  if (const auto* reset = statement.as<ast::Reset>()) return Reset(*reset);
  if (const auto* use = statement.as<ast::Use>()) return Use(*use);
  if (const auto* describe = statement.as<ast::Describe>())
    return as_outcome(Describe(describe->name));
  if (const auto* show = statement.as<ast::Show>()) {
    if (show->what == "COLUMNS") {
      RT_ASSIGN(TextTable described, Describe(show->name));
      return Outcome(ColumnsShown(std::move(described), *show));
    }
    if (show->what == "CREATE VIEW") return as_outcome(ShowView(*show));
    return as_outcome(ShowStatement(*show, statement.position, catalog_));
  }
  if (const auto* alter = statement.as<ast::Alter>())
    return Refuse("ALTER " + alter->object, statement.position);
  return Refuse(statement.as<ast::Refused>()->construct, statement.position);
}

Result<ExplainText> Session::Explain(const ast::Statement& statement) {
  BindContext context = Binding();
  ExplainDetails details;
  details.changelog_mode = true;
  const auto* explain = statement.as<ast::Explain>();
  if (explain != nullptr) {
    RT_ASSIGN(details, DetailsOf(*explain, statement.position));
  }
  const auto explain_one = [&](const auto& planned) -> Result<ExplainText> {
    if constexpr (kIsPlanned<std::decay_t<decltype(planned)>>) {
      RT_ASSIGN(const std::vector<LogicalPointer> roots, BindRoots(planned, context));
      return ExplainRoots(roots, options_, details);
    }
    return Status::Parse(statement.position, "EXPLAIN takes a query, an INSERT or a statement set");
  };
  return explain ? std::visit(explain_one, explain->statement)
                 : std::visit(explain_one, statement.node);
}

Result<Outcome> Session::Run(const ast::Query& query) {
  NoteStraySettings();
  BindContext context = Binding();
  RT_ASSIGN(LogicalPointer root, BindQuery(query, context));
  RT_TRY(CheckTables(*root));
  PlannedJob job;
  job.name = JobName({root});
  job.options = options_;
  job.is_query = true;
  RT_ASSIGN(job.plan, PlanJob({root}, options_));
  job.schema = Named(job.plan.roots[0]->schema, root->schema);
  job.bounded = IsBounded(*job.plan.roots[0]);
  RT_TRY(CheckBatch(job));
  RT_ASSIGN(job.conflict_paths, ConflictPathsOf(job.plan));
  return Outcome(std::move(job));
}

Result<Outcome> Session::Run(const std::vector<ast::Insert>& inserts) {
  NoteStraySettings();
  BindContext context = Binding();
  RT_ASSIGN(const std::vector<LogicalPointer> roots, BindInserts(inserts, context));
  for (const LogicalPointer& root : roots) RT_TRY(CheckTables(*root));
  PlannedJob job;
  job.name = JobName(roots);
  job.options = options_;
  RT_ASSIGN(job.plan, PlanJob(roots, options_));
  for (const ExecPointer& root : job.plan.roots) job.bounded &= IsBounded(*root);
  RT_TRY(CheckBatch(job));
  RT_ASSIGN(job.conflict_paths, ConflictPathsOf(job.plan));
  return Outcome(std::move(job));
}

// A setting of a table that is not there does nothing: a misspelt name is worth a word.
void Session::NoteStraySettings() {
  std::vector<std::string> tables = catalog_.TableNames();
  for (const auto& [key, value] : options_.all()) {
    const std::string table(TableOfKey(key));
    if (key.starts_with("rowtide.dead-letter.") &&
        options_.Get("rowtide.bad-data." + table) != "dead-letter" &&
        stray_settings_.insert(key).second) {
      notes_.push_back(fmt::format(
          "'{}' is set, but nothing goes there: SET 'rowtide.bad-data.{}' = 'dead-letter'", key,
          table));
      continue;
    }
    if (table.empty() || std::find(tables.begin(), tables.end(), table) != tables.end()) continue;
    if (!stray_settings_.insert(key).second) continue;
    const std::string nearest = Nearest(table, tables);
    notes_.push_back(fmt::format("'{}' is set, but there is no table {}{}", key, Quote(table),
                                 nearest.empty() ? "" : "; the nearest is " + Quote(nearest)));
  }
}

Result<ConflictPaths> Session::ConflictPathsOf(const ExecPlan& plan) const {
  return FindConflictPaths(plan, options_,
                           [this](const std::string& name) -> Result<std::optional<ExecPlan>> {
                             const CatalogView* view = catalog_.FindView(catalog_.Resolve({name}));
                             if (view == nullptr) return std::optional<ExecPlan>();
                             BindContext context = Binding();
                             RT_ASSIGN(const ast::QueryPointer query, ParseQuery(view->query_sql));
                             RT_ASSIGN(LogicalPointer root, BindQuery(*query, context));
                             RT_ASSIGN(ExecPlan planned, PlanJob({std::move(root)}, options_));
                             return std::optional<ExecPlan>(std::move(planned));
                           });
}

Result<Outcome> Session::Create(const ast::CreateTable& create) {
  BindContext context = Binding();
  RT_ASSIGN(CatalogTable table, BindCreateTable(create, context, FillAbilities));
  RT_TRY(catalog_.AddTable(std::move(table), create.if_not_exists).At(create.name.position));
  return Outcome(Done{});
}

Result<Outcome> Session::Create(const ast::CreateView& create) {
  BindContext context = Binding();
  RT_ASSIGN(CatalogView view, BindCreateView(create, context));
  RT_TRY(catalog_.AddView(std::move(view), create.if_not_exists).At(create.name.position));
  return Outcome(Done{});
}

Result<Outcome> Session::Create(const ast::CreateDatabase& create) {
  RT_TRY(catalog_.AddDatabase(create.name.parts, create.if_not_exists).At(create.name.position));
  return Outcome(Done{});
}

Result<Outcome> Session::Drop(const ast::Drop& drop) {
  const ObjectPath path = catalog_.Resolve(drop.name.parts);
  switch (drop.kind) {
    case ast::Drop::Kind::kTable:
      RT_TRY(catalog_.DropTable(path, drop.temporary, drop.if_exists).At(drop.name.position));
      return Outcome(Done{});
    case ast::Drop::Kind::kView:
      RT_TRY(catalog_.DropView(path, drop.temporary, drop.if_exists).At(drop.name.position));
      return Outcome(Done{});
    case ast::Drop::Kind::kDatabase:
      RT_TRY(catalog_.DropDatabase(drop.name.parts, drop.if_exists, drop.cascade)
                 .At(drop.name.position));
      return Outcome(Done{});
    case ast::Drop::Kind::kCatalog:
      if (drop.if_exists && !catalog_.HasCatalog(drop.name.ToString())) return Outcome(Done{});
      return CannotDropCatalog(drop.name, catalog_);
    case ast::Drop::Kind::kFunction:
      if (drop.if_exists) return Outcome(Done{});
      return Status::Validate(drop.name.position, "there is no function {} of your own to drop",
                              Quote(drop.name.ToString()))
          .WithKind(drop.temporary ? ErrorKind::kValidate : ErrorKind::kRun);
  }
  return Outcome(Done{});
}

Result<Outcome> Session::Set(const ast::Set& set) {
  if (!set.key) {
    TextTable table{{"key", "value"}, {}};
    for (const auto& [key, value] : options_.Shown()) table.rows.push_back({key, value});
    return Outcome(std::move(table));
  }
  std::string note;
  RT_TRY(Status(ResolveReferences(set.value).status()).At(set.value_position));
  RT_TRY(options_.Set(*set.key, set.value, &note));
  if (!note.empty()) notes_.push_back(std::move(note));
  return Outcome(Done{});
}

Result<Outcome> Session::Reset(const ast::Reset& reset) {
  if (reset.key) {
    RT_TRY(options_.Reset(*reset.key));
  } else {
    options_.Reset();
  }
  return Outcome(Done{});
}

Result<Outcome> Session::Use(const ast::Use& use) {
  const Status status = use.catalog ? catalog_.UseCatalog(use.name.parts.back())
                                    : catalog_.UseDatabase(use.name.parts);
  if (!status.ok()) return Status(status).At(use.name.position);
  return Outcome(Done{});
}

// A view has no columns of its own: its query is bound for them.
Result<TextTable> Session::Describe(const ast::Name& name) const {
  const CatalogView* view = catalog_.FindView(catalog_.Resolve(name.parts));
  if (view == nullptr) return DescribeTable(name, catalog_);
  BindContext context = Binding();
  RT_ASSIGN(const Schema schema, SchemaOfView(*view, context));
  return DescribeSchema(schema);
}

Result<TextTable> Session::ShowView(const ast::Show& show) const {
  const ObjectPath path = catalog_.Resolve(show.name.parts);
  const CatalogView* view = catalog_.FindView(path);
  if (view == nullptr && catalog_.FindTable(path)) {
    return Status::Plan("{} is a table", Quote(show.name.ToString()))
        .At(show.name.position)
        .WithHint("Write SHOW CREATE TABLE.");
  }
  if (view == nullptr) {
    Status status = Status::Validate(show.name.position, "there is no view {}", path.ToString())
                        .WithErrorCode("RT2001");
    const std::string nearest = Nearest(path.name, catalog_.ViewNames());
    return nearest.empty() ? status
                           : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
  }
  BindContext context = Binding();
  RT_ASSIGN(const Schema schema, SchemaOfView(*view, context));
  return ShowCreateView(*view, schema);
}

}  // namespace rowtide
