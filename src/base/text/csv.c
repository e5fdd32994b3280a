/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/csv.h"

#include <string.h>

#include "base/text/utf8.h"

void fm_csv_append_text(GString *out, const char *text)
{
    g_return_if_fail(out != NULL && text != NULL);
    g_autoptr(GString) clean = g_string_new(NULL);
    if (text[0] != '\0' && strchr("=+-@", text[0]) != NULL)
        g_string_append_c(clean, '\'');
    fm_utf8_append_clean(clean, text);
    if (strpbrk(clean->str, "\",") == NULL) {
        g_string_append_len(out, clean->str, (gssize)clean->len);
        return;
    }
    g_string_append_c(out, '"');
    for (const char *c = clean->str; *c != '\0'; c++) {
        if (*c == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
}
