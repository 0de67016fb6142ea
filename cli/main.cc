// The command `rowtide`.
#include "cli/command_line.h"

int main(int count, char** words) { return rowtide::CommandLine().Run(count, words); }
