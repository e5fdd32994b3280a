// SPDX-License-Identifier: Apache-2.0
// re2 at work: patterns searched in each line of a file, and compiled anew for each round.
// Arguments: the file, the number of rounds.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "re2/re2.h"
#include "re2/set.h"

static const char *const patterns[] = {
    "([a-z_]+)\\(([a-z_]+), *([a-z_0-9]+)\\)", "^#\\s*define\\s+(\\w+)", "(?i)sqlite3_(\\w+)",
    "[0-9]+[uUlL]*", "/\\*.*(if|when).*\\*/", "\\bp([A-Z]\\w*)->(\\w+)",
};

int main(int argc, char **argv)
{
    std::vector<std::string> lines;
    std::ifstream in(argc > 1 ? argv[1] : "");
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    unsigned long found = 0, bytes = 0;
    for (int round = argc > 2 ? std::atoi(argv[2]) : 1; round > 0; round--) {
        RE2::Set all(RE2::DefaultOptions, RE2::UNANCHORED);
        for (const char *pattern : patterns) {
            RE2 re(pattern);
            all.Add(pattern, nullptr);
            for (const std::string &line : lines) {
                std::string part;
                if (re.NumberOfCapturingGroups() > 0 ? RE2::PartialMatch(line, re, &part)
                                                     : RE2::PartialMatch(line, re)) {
                    found++;
                    bytes += part.size();
                }
            }
        }
        all.Compile();
        std::vector<int> which;
        for (const std::string &line : lines)
            found += all.Match(line, &which) ? which.size() : 0;
    }
    std::printf("%lu matches, %lu bytes\n", found, bytes);
    return lines.empty();
}
