/* SPDX-License-Identifier: Apache-2.0 */
/* /compare?before=FILE&after=FILE&by=MEASURE&focus=CONTEXT: compares two profiles. The last
 * comparison is cached, so that its other measures and parts are fast. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "pages/compare/compare.h"
#include "serve/serve_internal.h"

#define CAUSES_SHOWN 30u
#define CONTEXTS_SHOWN 5u
/* limit for both profiles together: more would delay other pages too long */
#define NODES_MAX 8000000u

struct fm_compared {
    char *key; /* identities of both files */
    struct fm_profile *profiles[FM_SIDES];
    struct fm_compare *compare;
};

void fm_compared_free(struct fm_compared *compared)
{
    if (compared == NULL)
        return;
    fm_compare_free(compared->compare);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_profile_free(compared->profiles[side]);
    g_free(compared->key);
    g_free(compared);
}

/* Parts of the address. */
struct asked {
    GHashTable *fields;
    const char *files[FM_SIDES], *by;
    const struct fm_compare *compare; /* set when it has been made */
    uint32_t focus;
};

/* Makes the rest of the address, for links. */
static char *address(void *user, enum fm_measure_id by, uint32_t focus)
{
    const struct asked *asked = user;
    GString *url = g_string_new("compare?before=");
    fm_query_append_part(url, asked->files[FM_BEFORE]);
    g_string_append(url, "&after=");
    fm_query_append_part(url, asked->files[FM_AFTER]);
    if (asked->compare != NULL) {
        g_string_append(url, "&by=");
        fm_query_append_part(url, fm_compare_measure_title(asked->compare, by));
    }
    if (focus > 0)
        g_string_append_printf(url, "&focus=%u", focus);
    return g_string_free(url, FALSE);
}

static bool understand(const struct fm_request *request, struct asked *ret, GError **error)
{
    const char *raw = request->query == NULL ? "" : request->query;
    *ret = (struct asked){0};
    if (strlen(raw) <= FM_QUERY_BYTES_MAX)
        ret->fields = g_uri_parse_params(raw, -1, "&", G_URI_PARAMS_NONE, NULL);
    if (ret->fields != NULL) {
        const char *focus = g_hash_table_lookup(ret->fields, "focus");
        ret->files[FM_BEFORE] = g_hash_table_lookup(ret->fields, "before");
        ret->files[FM_AFTER] = g_hash_table_lookup(ret->fields, "after");
        ret->by = g_hash_table_lookup(ret->fields, "by");
        ret->focus =
            focus == NULL ? 0 : (uint32_t)MIN(g_ascii_strtoull(focus, NULL, 10), UINT32_MAX);
    }
    if (ret->files[FM_BEFORE] != NULL && ret->files[FM_AFTER] != NULL)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "compare: expected before=FILE&after=FILE, and perhaps by=MEASURE");
    return false;
}

/* Finds the files, if they may be named, and their present identities. */
static bool find_files(struct fm_server *server, const struct asked *asked, GString *key,
                       char *paths[FM_SIDES], GError **error)
{
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        struct fm_profile_entry *profile;
        g_autofree char *notice = NULL;
        if (!fm_open_files_get_profile(server->recordings, asked->files[side], &profile, &notice,
                                       error))
            return false;
        paths[side] = g_strdup(profile->base.path);
        g_string_append_printf(key, "%s\n", paths[side]);
        fm_profile_entry_append_identity(profile, key);
    }
    return true;
}

static bool compare(const char *key, char *const paths[FM_SIDES], struct fm_compared **ret,
                    GError **error)
{
    struct fm_compared *compared = g_new0(struct fm_compared, 1);
    const struct fm_compare_options options = {0};
    uint64_t nodes = 0;
    bool ok = true;
    compared->key = g_strdup(key);
    for (int side = FM_BEFORE; side < FM_SIDES && ok; side++) {
        ok = fm_profile_read(paths[side], NULL, &compared->profiles[side], error);
        nodes +=
            ok ? (uint64_t)compared->profiles[side]->pd_count + compared->profiles[side]->csd_count
               : 0;
    }
    if (ok && nodes > NODES_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "compare: %" G_GUINT64_FORMAT
                    " nodes, expected %u at most, as other pages wait; fathom diff has no limit",
                    (guint64)nodes, NODES_MAX);
        ok = false;
    }
    ok = ok && fm_compare_new(compared->profiles[FM_BEFORE], compared->profiles[FM_AFTER], &options,
                              &compared->compare, error);
    if (ok)
        *ret = compared;
    else
        fm_compared_free(compared);
    return ok;
}

static bool get(struct fm_server *server, const struct asked *asked, GError **error)
{
    g_autoptr(GString) key = g_string_new(NULL);
    char *paths[FM_SIDES] = {NULL, NULL};
    bool ok = find_files(server, asked, key, paths, error);
    if (ok && (server->compared == NULL || strcmp(server->compared->key, key->str) != 0)) {
        g_clear_pointer(&server->compared, fm_compared_free);
        ok = compare(key->str, paths, &server->compared, error);
    }
    g_free(paths[FM_BEFORE]);
    g_free(paths[FM_AFTER]);
    return ok;
}

/* The page shows names without folders, unless the folders are the only difference. */
static char **names_of(const struct asked *asked)
{
    char **names = g_new0(char *, FM_SIDES + 1);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        names[side] = g_path_get_basename(asked->files[side]);
        if (g_str_has_suffix(names[side], ".data"))
            names[side][strlen(names[side]) - strlen(".data")] = '\0';
    }
    bool alike = strcmp(names[FM_BEFORE], names[FM_AFTER]) == 0;
    for (int side = FM_BEFORE; side < FM_SIDES && alike; side++) {
        g_free(names[side]);
        names[side] = g_strdup(asked->files[side]);
    }
    return names;
}

static void answer(const struct fm_exchange *exchange, struct asked *asked)
{
    const struct fm_compare *c = exchange->server->compared->compare;
    enum fm_format format = exchange->format;
    asked->compare = c;
    g_auto(GStrv) names = names_of(asked);
    struct fm_compare_page_options page = {
        .by = fm_compare_telling_measure(c),
        .causes_max = CAUSES_SHOWN,
        .contexts_max = CONTEXTS_SHOWN,
        .names = {names[FM_BEFORE], names[FM_AFTER]},
        .numbers = format == FM_FORMAT_JSON || format == FM_FORMAT_CSV,
        .picture = format != FM_FORMAT_TEXT && format != FM_FORMAT_CSV,
        .focus = asked->focus <= c->side[FM_BEFORE]->pd_count ? asked->focus : 0,
        .address = address,
        .user = asked,
    };
    if (asked->by != NULL && !fm_compare_parse_measure(c, asked->by, &page.by)) {
        fm_response_message(exchange->request, 400, "the profiles have no such measure",
                            exchange->ret);
        return;
    }
    g_autoptr(FmDisplay) display = fm_compare_page(c, &page);
    struct fm_preferences preferences;
    g_autofree char *query = g_strdup_printf("?%s", exchange->request->query);
    const struct fm_render_page of_html = {
        .path = "compare", .query = query, .has_picture = true, .no_navigation = true};
    const struct fm_render_options options = {.format = format, .page = &of_html, .of_c = true};
    GString *body = g_string_new(NULL);
    fm_preferences_default(&preferences, true, c->given[FM_BEFORE]->flavour == FM_FLAVOUR_C);
    fm_render_display(display, &preferences, NULL, &options, body);
    *exchange->ret = (struct fm_response){.status = 200,
                                          .content_type = fm_format_content_type(format),
                                          .body = g_string_free_to_bytes(body)};
}

void fm_answer_compare(const struct fm_exchange *exchange)
{
    GError *error = NULL;
    struct asked asked;
    if (understand(exchange->request, &asked, &error) && get(exchange->server, &asked, &error))
        answer(exchange, &asked);
    else
        fm_response_error(exchange->request, error, exchange->ret);
    g_clear_pointer(&asked.fields, g_hash_table_unref);
}

char *fm_server_compare_url(const char *before, const char *after)
{
    const struct asked asked = {.files = {before, after}};
    return address((void *)(uintptr_t)&asked, FM_COMPARE_CALLS, 0);
}
