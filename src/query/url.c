/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding (RFC 3986 section 2), by part and of whole texts. */
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
    append_encoded(out, text, "/");
}

char *fm_query_percent_encode(const char *text)
{
    GString *out = g_string_sized_new(strlen(text) + 16);

    append_encoded(out, text, "/&=");
    return g_string_free(out, FALSE);
}

static char *decode(const char *text, size_t size, GError **error)
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
    return decode(text, strlen(text), error);
}

char *fm_query_to_url(const struct fm_query *query)
{
    g_autofree char *command = fm_command_print(&query->command);
    GString *out = g_string_sized_new(128);

    fm_query_append_part(out, command);
    if (query->has_preferences) {
        g_autofree char *preferences = fm_preferences_print(&query->preferences);

        g_string_append_c(out, '&');
        fm_query_append_part(out, preferences);
    }
    return g_string_free(out, FALSE);
}

bool fm_query_from_url(const char *url, struct fm_query *ret, GError **error)
{
    const char *ampersand = strchr(url, '&');
    size_t size = ampersand ? (size_t)(ampersand - url) : strlen(url);
    struct fm_query query = {0};
    g_autofree char *command = decode(url, size, error);
    g_autofree char *preferences = NULL;

    if (!command || !fm_command_parse(command, &query.command, error))
        return false;
    if (ampersand && ampersand[1]) {
        preferences = fm_query_percent_decode(ampersand + 1, error);
        query.has_preferences = true;
        if (!preferences || !fm_preferences_parse(preferences, &query.preferences, error)) {
            fm_query_clear(&query);
            return false;
        }
    }
    *ret = query;
    return true;
}
