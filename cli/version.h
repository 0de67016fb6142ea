// The version of this build, from CMakeLists.txt.
#pragma once

namespace rowtide {

const char* Version();  // "0.1.0"

}  // namespace rowtide
