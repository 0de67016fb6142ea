// Nothing that a job writes may be what it reads: a dead letter that is read back makes the next
// one, and the user's own file is gone.
//
// Compared are the files of every source (by device and number, so that links do not deceive) with
// dead-letter files, conflict samples and standard output, and watched folders with the folders of
// sinks. A file that is not there yet counts by where it would be. Likewise topics of dead letters
// with the topics that the job reads.
#pragma once

#include "planner/session.h"

namespace rowtide {

// A file that is written, and why.
struct OutputFile {
  std::string path;
  std::string purpose;  // "the dead letters of t"
};

// RT5002 names both. Opens nothing. `beside`: what is written while the job runs that the plan does
// not know of; nor may it be, or lie among, what the job writes.
Status CheckOutputs(const PlannedJob& job, const std::vector<OutputFile>& beside = {});

}  // namespace rowtide
