/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as another tool's profile. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {NULL,         "folded",     "perf",       "pprof",
                                          "speedscope", "gperftools", "heaptrack",  "dhat",
                                          "massif",     "chrome",     "cpuprofile", "heapprofile",
                                          "firefox",    "perf.data",  "addresses"};
    importing_any(data, size, formats, G_N_ELEMENTS(formats));
    return 0;
}
