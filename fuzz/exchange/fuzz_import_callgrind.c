/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of callgrind: refused with a message that names it, or a profile that can be
 * analysed and goes out again. */
#include "exchange/exchange.h"
#include "importing.h"

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
    g_autoptr(FmAnalysis) analysis = importing_analysis(data, size, &options, &profile);
    if (analysis != NULL)
        export(analysis);
    return 0;
}
