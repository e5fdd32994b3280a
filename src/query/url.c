/* SPDX-License-Identifier: Apache-2.0 */
/* Queries as URLs: each part is percent-encoded by itself. */
#include <string.h>

#include "base/error.h"
#include "query/query_internal.h"

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
    g_return_val_if_fail(url != NULL && ret != NULL, false);
    const char *ampersand = strchr(url, '&');
    size_t size = ampersand ? (size_t)(ampersand - url) : strlen(url);
    struct fm_query query = {0};
    g_autofree char *command = fm_query_decode_bytes(url, size, error);
    g_autofree char *preferences = NULL;

    if (!command || !fm_command_parse(command, &query.command, error))
        return false;
    if (ampersand && ampersand[1]) {
        preferences = fm_query_percent_decode(ampersand + 1, error);
        query.has_preferences = true;
        if (!preferences || !fm_preferences_parse(preferences, &query.preferences, error)) {
            fm_query_done(&query);
            return false;
        }
    }
    *ret = query;
    return true;
}
