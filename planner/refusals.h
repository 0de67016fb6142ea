// What Rowtide does not have yet, said so that the reader knows how to go on.
//
//   connector 'kafka'        connector 'kafka' is not supported yet; hint: supported are: …
//   IN sub-query             IN sub-query is not supported yet; hint: Write the values as a list, …
//
// Deep inside, a construct is refused by its short stable name (Status::Unsupported), which scripts
// list in their `skips`. The command line turns the name into a sentence with a way out.
#pragma once

#include "engine/status.h"

namespace rowtide {

// Other statuses stay as they are, and so do messages that are sentences already.
Status AsSentence(const Status& status);

}  // namespace rowtide
