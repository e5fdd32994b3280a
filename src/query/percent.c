/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding (RFC 3986 section 2). */
#include <string.h>

#include "base/error.h"
#include "query/query_internal.h"

static bool is_unreserved(char c)
{
    return g_ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static void append_encoded(GString *out, const char *text, const char *kept)
{
    static const char hex[] = "0123456789ABCDEF";

    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;

        if (is_unreserved(*c) || strchr(kept, *c)) {
            g_string_append_c(out, *c);
        } else {
            char escape[3] = {'%', hex[byte >> 4], hex[byte & 15]};
            g_string_append_len(out, escape, 3);
        }
    }
}

void fm_query_append_part(GString *out, const char *text)
{
    g_return_if_fail(out != NULL && text != NULL);
    append_encoded(out, text, "/");
}

char *fm_query_percent_encode(const char *text)
{
    GString *out = g_string_sized_new(strlen(text) + 16);

    append_encoded(out, text, "/&=");
    return g_string_free(out, FALSE);
}

char *fm_query_decode_bytes(const char *text, size_t size, GError **error)
{
    GString *out = g_string_sized_new(size);

    for (size_t i = 0; i < size; i++) {
        if (text[i] != '%') {
            g_string_append_c(out, text[i]);
            continue;
        }
        int high = i + 2 < size ? g_ascii_xdigit_value(text[i + 1]) : -1;
        int low = i + 2 < size ? g_ascii_xdigit_value(text[i + 2]) : -1;
        if (high < 0 || low < 0 || (high == 0 && low == 0)) {
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                        "percent-encoding: offset %zu: expected %% and two hexadecimal digits, "
                        "not 00",
                        i);
            g_string_free(out, TRUE);
            return NULL;
        }
        g_string_append_c(out, (char)(high << 4 | low));
        i += 2;
    }
    return g_string_free(out, FALSE);
}

char *fm_query_percent_decode(const char *text, GError **error)
{
    return fm_query_decode_bytes(text, strlen(text), error);
}
