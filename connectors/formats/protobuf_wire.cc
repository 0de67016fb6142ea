#include "connectors/formats/protobuf_wire.h"

namespace rowtide {

const char* SkipProtoField(uint64_t tag, const char* at, const char* end, int depth) {
  uint64_t bits = 0;
  switch (static_cast<ProtoWire>(tag & 7)) {
    case kWireVarint: return at < end ? ReadVarint(at, &bits) : nullptr;
    case kWireFixed64: return end - at >= 8 ? at + 8 : nullptr;
    case kWireFixed32: return end - at >= 4 ? at + 4 : nullptr;
    case kWireBytes:
      if (at >= end || (at = ReadVarint(at, &bits)) == nullptr || at > end) return nullptr;
      return bits <= static_cast<uint64_t>(end - at) ? at + bits : nullptr;
    case kWireGroup: {
      if (depth <= 0) return nullptr;
      while (at != nullptr && at < end) {
        uint64_t inner = 0;
        at = ReadVarint(at, &inner);
        inner &= kTagBits;
        if (at == nullptr || inner >> 3 == 0) return nullptr;
        if ((inner & 7) == kWireGroupEnd) return inner >> 3 == tag >> 3 ? at : nullptr;
        at = SkipProtoField(inner, at, end, depth - 1);
      }
      return nullptr;
    }
    case kWireGroupEnd: break;
  }
  return nullptr;
}

}  // namespace rowtide
