/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers to write formats, and notes on them. */
#include <string.h>

#include "exchange/export/internal.h"

void fm_export_put(struct fm_writer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fm_writer_bytes(out, text, strlen(text));
}

void fm_export_note(GPtrArray *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(notes, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

void fm_export_note_folding(GPtrArray *notes, const struct fm_exchange_nodes *nodes)
{
    if (nodes->recursions > 0 && !fm_profile_is(nodes->a->profile, FM_NATURE_ARCS))
        fm_export_note(notes,
                       "recursions are folded: %u of several functions, the largest of %u; all "
                       "depths stand at one",
                       nodes->recursions, nodes->largest);
}
