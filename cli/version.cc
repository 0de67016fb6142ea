#include "cli/version.h"

namespace rowtide {

const char* Version() { return RT_VERSION; }

}  // namespace rowtide
