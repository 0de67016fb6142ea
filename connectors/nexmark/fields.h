// The columns of each kind of event, said once: their names, their order and their types, as the
// views `person`, `auction` and `bid` of the Nexmark suite for Flink have them.
//
//   VisitFields(bid, visitor)   ->   visitor.Number("auction", 1001)   BIGINT
//                                    visitor.Text("channel", "Google") STRING
//                                    visitor.Time("dateTime", 17672…)  TIMESTAMP(3), milliseconds
//
// Who writes lines, fills columns or names types is a visitor (text.cc, source.cc).
#pragma once

#include "connectors/nexmark/generator.h"

namespace rowtide {

template <typename Visitor>
void VisitFields(const NexmarkPerson& person, Visitor&& visitor) {
  visitor.Number("id", person.id);
  visitor.Text("name", person.name);
  visitor.Text("emailAddress", person.email);
  visitor.Text("creditCard", person.credit_card);
  visitor.Text("city", person.city);
  visitor.Text("state", person.state);
  visitor.Time("dateTime", person.time_ms);
  visitor.Text("extra", person.extra);
}

template <typename Visitor>
void VisitFields(const NexmarkAuction& auction, Visitor&& visitor) {
  visitor.Number("id", auction.id);
  visitor.Text("itemName", auction.item_name);
  visitor.Text("description", auction.description);
  visitor.Number("initialBid", auction.initial_bid);
  visitor.Number("reserve", auction.reserve);
  visitor.Time("dateTime", auction.time_ms);
  visitor.Time("expires", auction.expires_ms);
  visitor.Number("seller", auction.seller);
  visitor.Number("category", auction.category);
  visitor.Text("extra", auction.extra);
}

template <typename Visitor>
void VisitFields(const NexmarkBid& bid, Visitor&& visitor) {
  visitor.Number("auction", bid.auction);
  visitor.Number("bidder", bid.bidder);
  visitor.Number("price", bid.price);
  visitor.Text("channel", bid.channel);
  visitor.Text("url", bid.url);
  visitor.Time("dateTime", bid.time_ms);
  visitor.Text("extra", bid.extra);
}

// Requires: the event is of that kind.
template <typename Visitor>
void VisitEvent(const NexmarkGenerator& generator, NexmarkKind kind, int64_t event,
                Visitor&& visitor) {
  switch (kind) {
    case NexmarkKind::kPerson: return VisitFields(generator.Person(event), visitor);
    case NexmarkKind::kAuction: return VisitFields(generator.Auction(event), visitor);
    case NexmarkKind::kBid: return VisitFields(generator.Bid(event), visitor);
  }
}

}  // namespace rowtide
