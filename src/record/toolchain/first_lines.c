/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/first_lines.h"

#include <string.h>

static void add(GPtrArray *arguments, const char *line)
{
    g_ptr_array_add(arguments, g_strdup("-Xassembler"));
    g_ptr_array_add(arguments, g_strconcat("--fathom-first=", line, NULL));
}

/* entry_hooks.h and called_hooks.h write these lines. */
void fm_first_lines_add_grade(const struct fm_command_line *line, struct fm_first_lines lines,
                              GPtrArray *arguments)
{
    if (!line->shared && !line->position_independent)
        add(arguments, "# fathom: executable");
    if (lines.told)
        add(arguments, "# fathom: entries are told");
    if (lines.called)
        add(arguments, "# fathom: hooks are called");
    if (lines.blocks) {
        add(arguments, ""); /* the front looks for a whole line behind another */
        add(arguments, "\t# fathom: blocks");
    }
}

void fm_first_lines_add_strings(const char *section, const char *flags, const char *text,
                                GPtrArray *arguments)
{
    g_autoptr(GString) lines = g_string_new(text);
    g_string_replace(lines, "\\\"", "\"", 0);
    g_string_replace(lines, "\\n", "\n", 0);
    g_auto(GStrv) each = g_strsplit(lines->str, "\n", -1);
    g_autofree char *begin = g_strdup_printf(".pushsection %s,\"%s\",@progbits,1", section, flags);
    add(arguments, begin);
    for (char **line = each; *line != NULL; line++)
        add(arguments, *line);
    add(arguments, ".popsection");
}

void fm_first_lines_drop_headers(GPtrArray *arguments, guint first)
{
    for (guint i = first; i < arguments->len;) {
        const char *argument = g_ptr_array_index(arguments, i);
        if (strcmp(argument, "-include") == 0 && i + 1 < arguments->len)
            g_ptr_array_remove_range(arguments, i, 2);
        else if (g_str_has_prefix(argument, "-D"))
            g_ptr_array_remove_index(arguments, i);
        else
            i++;
    }
}
