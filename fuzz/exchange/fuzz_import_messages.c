/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a profile that is a message of protobuf: refused with a message that names the file,
 * or a profile that can be analysed. The first byte chooses the format, the others are the file. */
#include <string.h>

#include "profile/analysis/analysis.h"
#include "exchange/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {NULL, "otlp", "pprof", "perfetto"};
    struct fm_import_options options = {0};
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    if (size == 0)
        return 0;
    options.format = names[data[0] % G_N_ELEMENTS(names)];
    if (fm_import_bytes("in", data + 1, size - 1, &options, &profile, &error)) {
        if (!fm_analysis_new(profile, NULL, &analysis, &error))
            g_error("what was accepted is not analysed: %s", error->message);
    } else if (error == NULL || strncmp(error->message, "in: ", 4) != 0) {
        g_error("refused without naming the file");
    }
    return 0;
}
