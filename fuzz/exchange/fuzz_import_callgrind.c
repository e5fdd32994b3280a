/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of callgrind: refused with a message that names it, or a profile that can be
 * analysed and goes out again. */
#include <string.h>

#include "exchange/exchange.h"
#include "exchange/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void export(const struct fm_analysis *a)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    static const struct fm_export_options options = {0};
    struct fm_writer *out = fm_writer_new_memory();
    bool done = fm_export(fm_export_format_named("callgrind"), a, &options, out, notes, &error);
    g_bytes_unref(fm_writer_finish_memory(out));
    if (done != (error == NULL))
        g_error("an export that says neither that it is done nor why not");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fm_import_options options = {.format = "callgrind"};
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    if (fm_import_bytes("in", data, size, &options, &profile, &error)) {
        if (!fm_analysis_new(profile, NULL, &analysis, &error))
            g_error("what was accepted is not analysed: %s", error->message);
        export(analysis);
    } else if (error == NULL || strncmp(error->message, "in: ", 4) != 0) {
        g_error("refused without naming the file");
    }
    return 0;
}
