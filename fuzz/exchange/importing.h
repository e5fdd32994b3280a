/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of each import, for the targets of this folder. */
#pragma once

#include <string.h>

#include "exchange/import/import.h"
#include "profile/analysis/analysis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes are refused with a message that names the file, or become a profile that can be analysed.
 * NULL: they were refused. The caller frees both. */
static inline struct fm_analysis *importing_analysis(const uint8_t *data, size_t size,
                                                     const struct fm_import_options *options,
                                                     struct fm_profile **ret_profile)
{
    struct fm_analysis *analysis = NULL;
    g_autoptr(GError) error = NULL;
    if (fm_import_bytes("in", data, size, options, ret_profile, &error)) {
        if (!fm_analysis_new(*ret_profile, NULL, &analysis, &error))
            g_error("what was accepted is not analysed: %s", error->message);
    } else if (error == NULL || strncmp(error->message, "in: ", 4) != 0) {
        g_error("refused without naming the file");
    }
    return analysis;
}

/* The first byte chooses one of the formats, NULL: by content; the others are the file. */
static inline void importing_any(const uint8_t *data, size_t size, const char *const *formats,
                                 size_t format_count)
{
    struct fm_import_options options = {0};
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    if (size == 0)
        return;
    options.format = formats[data[0] % format_count];
    analysis = importing_analysis(data + 1, size - 1, &options, &profile);
}
