/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a gmon.out of this program: refused with a message that names it, or a profile that
 * can be analysed. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fm_import_options options = {.format = "gmon", .program = "/proc/self/exe"};
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = importing_analysis(data, size, &options, &profile);
    (void)analysis;
    return 0;
}
