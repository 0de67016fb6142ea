// The `nexmark` table and the lines of `rowtide bench generate` hold the same events.
#include <gtest/gtest.h>

#include <cmath>

#include "connectors/nexmark/text.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kBidColumns({{"auction", Type::BigInt()},
                          {"bidder", Type::BigInt()},
                          {"price", Type::BigInt()},
                          {"channel", Type::String()},
                          {"url", Type::String()},
                          {"dateTime", Type::Timestamp(3)},
                          {"extra", Type::String()}});

TableSpec TableOf(Schema schema, const std::string& kind, int64_t events) {
  return {
      "t",
      {{"connector", "nexmark"}, {"nexmark.kind", kind}, {"events.num", std::to_string(events)}},
      std::move(schema)};
}

std::string Lines(NexmarkFormat format, NexmarkKind kind, int64_t rows) {
  std::string text;
  WriteNexmark(NexmarkGenerator(NexmarkOptions{}), format, {kind, 0, rows},
               [&](std::string_view lines) {
                 text += lines;
                 return true;
               });
  return text;
}

std::unique_ptr<Source> Open(const TableSpec& table, std::vector<int> columns) {
  ScanSpec scan;
  scan.columns = std::move(columns);
  Result<std::unique_ptr<Source>> source = CreateSource(table, scan, {});
  EXPECT_TRUE(source.ok()) << source.status().ToString();
  return source.ok() ? std::move(*source) : nullptr;
}

// Script rows of the rest of the source.
std::vector<std::string> ReadRest(Source& source) {
  RowCollector out(source.output_schema());
  for (SourceState state = SourceState::kMore; state == SourceState::kMore;) {
    const Result<SourceState> polled = source.Poll(out);
    EXPECT_TRUE(polled.ok());
    state = polled.ok() ? *polled : SourceState::kEnd;
  }
  return out.rows;
}

TEST(NexmarkSource, TellsWhatTheGeneratorWrites) {
  const auto source = Open(TableOf(kBidColumns, "bid", 5000), {0, 1, 2, 3, 4, 5, 6});
  const std::vector<std::string> rows = ReadRest(*source);
  ASSERT_EQ(rows.size(), 4600u);
  std::string json = Lines(NexmarkFormat::kJson, NexmarkKind::kBid, 4600);
  for (size_t i = 0, begin = 0; i < rows.size(); ++i) {
    const size_t end = json.find('\n', begin);
    std::string line = json.substr(begin, end - begin);
    for (const Field& field : kBidColumns.fields()) {  // {"a":1,"b":2} -> [1,2]
      const std::string name = "\"" + field.name + "\":";
      line.erase(line.find(name), name.size());
    }
    line.front() = '[';
    line.back() = ']';
    ASSERT_EQ(rows[i], "+I " + line);
    begin = end + 1;
  }
}

TEST(NexmarkSource, AnyColumnsInAnyOrder) {
  const auto all = ReadRest(*Open(TableOf(kBidColumns, "bid", 100), {2, 0}));
  Schema swapped({{"price", Type::BigInt()}, {"auction", Type::BigInt()}});
  EXPECT_EQ(all, ReadRest(*Open(TableOf(std::move(swapped), "bid", 100), {0, 1})));
  EXPECT_EQ(all.size(), 92u);
}

TEST(NexmarkSource, GoesOnWhereItWas) {
  const TableSpec table = TableOf(kBidColumns, "bid", 10000);
  const auto whole = ReadRest(*Open(table, {0, 1, 5, 6}));
  const auto source = Open(table, {0, 1, 5, 6});
  RowCollector first(source->output_schema());
  ASSERT_TRUE(source->Poll(first).ok());
  SnapshotWriter writer;
  ASSERT_TRUE(source->Snapshot(writer).ok());
  const auto restored = Open(table, {0, 1, 5, 6});
  SnapshotReader reader(writer.bytes());
  ASSERT_TRUE(restored->Restore(reader).ok());
  std::vector<std::string> rows = first.rows;
  for (const std::string& row : ReadRest(*restored)) rows.push_back(row);
  EXPECT_EQ(rows, whole);
}

TEST(NexmarkSource, EveryKindHasItsShare) {
  const Schema id({{"id", Type::BigInt()}, {"extra", Type::String()}});
  EXPECT_EQ(ReadRest(*Open(TableOf(id, "person", 50000), {0})).size(), 1000u);
  EXPECT_EQ(ReadRest(*Open(TableOf(id, "auction", 50000), {0})).size(), 3000u);
}

TEST(NexmarkSource, WrongTablesAreRefused) {
  const auto refuse = [](Schema schema, const std::string& kind) {
    return CreateSource(TableOf(std::move(schema), kind, 1), {{0}, {}, {}}, {}).status().ToString();
  };
  EXPECT_NE(refuse(Schema({{"Price", Type::BigInt()}}), "bid").find("none of a Nexmark bid"),
            std::string::npos);
  EXPECT_NE(refuse(Schema({{"price", Type::Int()}}), "bid").find("BIGINT"), std::string::npos);
  EXPECT_NE(refuse(Schema({{"price", Type::BigInt()}}), "bit").find("nexmark.kind"),
            std::string::npos);
}

TEST(NexmarkText, PeopleAndAuctionsAsLines) {
  const std::string person = Lines(NexmarkFormat::kCsv, NexmarkKind::kPerson, 1);
  EXPECT_EQ(std::count(person.begin(), person.end(), ','), 7);
  EXPECT_EQ(person.substr(0, 5), "1000,");
  const std::string auction = Lines(NexmarkFormat::kJson, NexmarkKind::kAuction, 1);
  EXPECT_EQ(auction.substr(0, 24), "{\"id\":1000,\"itemName\":\"" + auction.substr(23, 1));
  EXPECT_NE(auction.find("\"expires\":\"2026-01-01 "), std::string::npos);
  EXPECT_EQ(auction.substr(auction.size() - 3), "\"}\n");
}

// Three quarters of the auctions are the hot seller's; categories are uniform.
TEST(NexmarkSource, SellersAndCategories) {
  const NexmarkGenerator generator{NexmarkOptions{}};
  int64_t auctions = 0, hot = 0, categories[5] = {};
  for (int64_t event = 500000; event < 1000000; ++event) {
    if (generator.KindOf(event) != NexmarkKind::kAuction) continue;
    const NexmarkAuction auction = generator.Auction(event);
    ++auctions;
    hot += auction.seller == event / 50 / 100 * 100 + 1000;
    ++categories[auction.category - 10];
  }
  const auto count = static_cast<double>(auctions);
  const auto three_sigma = [&](double share) { return 3 * std::sqrt(share * (1 - share) / count); };
  const double hot_share = 0.75 + 0.25 / 1010;  // a cold one meets the hot one by chance
  EXPECT_NEAR(static_cast<double>(hot) / count, hot_share, three_sigma(hot_share));
  for (const int64_t in_category : categories)
    EXPECT_NEAR(static_cast<double>(in_category) / count, 0.2, three_sigma(0.2));
}

}  // namespace
}  // namespace rowtide
