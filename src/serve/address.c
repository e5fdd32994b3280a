/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of pages: the three parts of /deep's queries; links to a recording's first page. */
#include <string.h>

#include "base/error.h"
#include "query/query.h"
#include "query/trace_query.h"
#include "serve/serve_internal.h"

void fm_deep_query_done(struct fm_deep_query *query)
{
    g_free(query->command);
    g_free(query->preferences);
    g_free(query->file);
}

bool fm_deep_query_split(const char *raw, struct fm_deep_query *ret, GError **error)
{
    g_return_val_if_fail(raw != NULL, false);
    *ret = (struct fm_deep_query){0};
    if (strlen(raw) > FM_QUERY_BYTES_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "the query is longer than %d bytes",
                    FM_QUERY_BYTES_MAX);
        return false;
    }
    g_auto(GStrv) parts = g_strsplit(raw, "&", 5);
    unsigned count = g_strv_length(parts);
    if (count < 1 || count > 3 || parts[count - 1][0] == '\0') {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "bad address: expected FILE, COMMAND&FILE or COMMAND&PREFERENCES&FILE after "
                    "the question mark");
        return false;
    }
    char **wanted[] = {&ret->command, &ret->preferences};
    for (unsigned i = 0; i < count; i++) {
        char **to = i + 1 == count ? &ret->file : wanted[i];
        *to = fm_query_percent_decode(parts[i], error);
        if (*to == NULL) {
            fm_deep_query_done(ret);
            return false;
        }
    }
    return true;
}

char *fm_server_menu_url(const char *path)
{
    g_assert(path != NULL);
    GString *url = g_string_new("deep?menu&");
    fm_query_append_part(url, path);
    return g_string_free(url, FALSE);
}

char *fm_server_trace_url(const char *name)
{
    g_assert(name != NULL);
    GString *url = g_string_new("trace?file=");
    fm_query_append_part(url, name);
    return g_string_free(url, FALSE);
}

char *fm_server_traces_url(const struct fm_server *server)
{
    GString *url = g_string_new("trace?");
    unsigned count = 0;
    for (unsigned i = 0; i < fm_server_trace_count(server); i++) {
        const struct fm_open_file *recording =
            fm_open_files_at(server->recordings, &fm_trace_entry_class, i);
        if (!recording->added || count++ >= FM_TRACE_FILES_MAX)
            continue;
        g_string_append(url, count > 1 ? "&file=" : "file=");
        fm_query_append_part(url, recording->name);
    }
    return g_string_free(url, FALSE);
}
