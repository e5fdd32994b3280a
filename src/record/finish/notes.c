/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/notes.h"

#include <stdarg.h>

void fm_notes_add(struct fm_finish_notes *notes, const char *format, ...)
{
    g_assert(notes->lines != NULL);
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(notes->lines, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

void fm_finish_notes_done(struct fm_finish_notes *notes)
{
    if (notes->lines != NULL)
        g_ptr_array_unref(notes->lines);
    notes->lines = NULL;
    g_clear_pointer(&notes->spans, g_array_unref);
    g_clear_pointer(&notes->source_map, fm_source_map_free);
    g_clear_pointer(&notes->machine_code, fm_machine_code_free);
}
