/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a gmon.out of this program: refused with a message that names it, or a profile that
 * can be analysed. */
#include <string.h>

#include "profile/analysis/analysis.h"
#include "exchange/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fm_import_options options = {.format = "gmon", .program = "/proc/self/exe"};
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    if (fm_import_bytes("in", data, size, &options, &profile, &error)) {
        if (!fm_analysis_new(profile, NULL, &analysis, &error))
            g_error("what was accepted is not analysed: %s", error->message);
    } else if (error == NULL || strncmp(error->message, "in: ", 4) != 0) {
        g_error("refused without naming the file");
    }
    return 0;
}
