// The status page: cli/monitor/status_page.html, which the build puts into the binary
// (cmake/EmbedText.cmake). One document that asks for /status.json and needs nothing else.
#pragma once

#include <string_view>

namespace rowtide {

std::string_view StatusPage();

}  // namespace rowtide
