/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about profiles, the front page and assets. README.md in this folder tells what is checked
 * and why. */
#include <string.h>

#include "base/error.h"
#include "display/html/assets.h"
#include "serve/growing/growing.h"
#include "serve/serve_internal.h"
#include "serve/profile_live.h"
#include "profile/digest/names.h"

static void answer_error(const struct fm_exchange *exchange, GError *error)
{
    fm_response_error(exchange->request, error, exchange->ret);
}

/* Quotes the checksum of a text: a strong validator. */
static char *make_etag(const char *text, size_t size)
{
    g_autofree char *sum =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, size);
    return g_strdup_printf("\"%.32s\"", sum);
}

/* Whether the list of validators contains this one, or is "*"; a leading "W/" makes no difference
 * for GET. */
static bool etag_matches(const char *if_none_match, const char *etag)
{
    if (if_none_match == NULL)
        return false;
    g_auto(GStrv) tags = g_strsplit(if_none_match, ",", 64);
    for (char **tag = tags; *tag != NULL; tag++) {
        const char *at = g_strstrip(*tag);
        if (g_str_has_prefix(at, "W/"))
            at += 2;
        if (strcmp(at, etag) == 0 || strcmp(at, "*") == 0)
            return true;
    }
    return false;
}

/* Takes body and etag. With a matching If-None-Match the body is left out. */
static void answer(const struct fm_exchange *exchange, const char *type, char *etag, GString *body)
{
    bool known = etag != NULL && etag_matches(exchange->request->if_none_match, etag);
    *exchange->ret = (struct fm_response){
        .status = known ? 304 : 200,
        .content_type = known ? NULL : type,
        .etag = etag,
    };
    if (known) {
        exchange->ret->body = g_bytes_new_static("", 0);
        if (body != NULL)
            g_string_free(body, TRUE);
    } else {
        exchange->ret->body = g_string_free_to_bytes(body);
    }
}

/* --- pages other than reports --- */

/* The name of the only recording of a running program, or of its final profile. */
static const char *only_one(const struct fm_server *server, unsigned *ret_count)
{
    const char *name = NULL;
    *ret_count = 0;
    for (unsigned i = 0; i < fm_server_count(server); i++) {
        const char *path = fm_server_path(server, i);
        const struct fm_growing *growing = fm_growing_find(server, path);
        if (growing != NULL && fm_growing_finished(growing) != NULL)
            continue; /* the whole profile is listed instead */
        name = path;
        ++*ret_count;
    }
    return *ret_count == 1 ? name : NULL;
}

void fm_answer_front(const struct fm_exchange *exchange)
{
    unsigned count = 0;
    const char *only =
        exchange->server->awaited == NULL ? NULL : only_one(exchange->server, &count);
    if (only != NULL && exchange->format == FM_FORMAT_HTML) {
        fm_response_message(exchange->request, 303, "The recording.", exchange->ret);
        exchange->ret->location = fm_server_menu_url(only);
        return;
    }
    g_autoptr(FmDisplay) display = fm_front_page(exchange->server);
    if (exchange->server->awaited != NULL && count == 0)
        fm_display_set_incomplete(display, exchange->server->awaited);
    struct fm_preferences preferences;
    fm_preferences_default(&preferences, true, false);
    const struct fm_render_options options = {
        .format = exchange->format,
    };
    GString *body = g_string_new(NULL);
    fm_render_display(display, &preferences, NULL, &options, body);
    answer(exchange, fm_format_content_type(exchange->format), make_etag(body->str, body->len),
           body);
}

void fm_answer_asset(const struct fm_exchange *exchange)
{
    struct fm_asset asset;
    if (!fm_asset_get(exchange->rest, &asset)) {
        fm_response_message(exchange->request, 404, "there is no such file", exchange->ret);
        return;
    }
    char *etag = g_strdup_printf("\"%s\"", asset.etag);
    bool known = etag_matches(exchange->request->if_none_match, etag);
    *exchange->ret = (struct fm_response){
        .status = known ? 304 : 200,
        .content_type = known ? NULL : asset.type,
        .etag = etag,
        .body = known ? g_bytes_new_static("", 0) : g_bytes_ref(asset.data),
    };
    fm_asset_done(&asset);
}

/* --- /deep --- */

static void add_notice(GString *notice, const char *text)
{
    if (notice->len > 0)
        g_string_append_c(notice, ' ');
    g_string_append(notice, text);
}

/* Fills *ret from what was asked for. For readers of pages what cannot be understood becomes the
 * menu or the default preferences, and the page says so; a script gets an error. */
static bool understand(const struct fm_exchange *exchange, const struct fm_deep_query *asked,
                       struct fm_query *ret, GString *notice, GError **error)
{
    bool forgiving = exchange->format == FM_FORMAT_HTML;
    g_autoptr(GError) problem = NULL;
    *ret = (struct fm_query){.command = {.id = FM_CMD_MENU}};
    if (asked->command != NULL && !fm_command_parse(asked->command, &ret->command, &problem)) {
        if (!forgiving) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return false;
        }
        ret->command = (struct fm_command){.id = FM_CMD_MENU};
        add_notice(notice, "The command was not understood, so this is the menu: ");
        add_notice(notice, problem->message);
        g_clear_error(&problem);
    }
    ret->compact = forgiving;
    if (asked->preferences == NULL || asked->preferences[0] == '\0')
        return true;
    ret->has_preferences = fm_preferences_parse(asked->preferences, &ret->preferences, &problem);
    if (ret->has_preferences)
        return true;
    if (!forgiving) {
        g_propagate_error(error, g_steal_pointer(&problem));
        fm_query_done(ret);
        return false;
    }
    add_notice(notice, "The preferences were not understood, so these are the defaults: ");
    add_notice(notice, problem->message);
    return true;
}

/* A hash of everything that the page's bytes depend on. A C recording's pages show source files,
 * which may change without it: their validator is made of the page itself, later. */
static char *page_etag(const struct fm_exchange *exchange, const struct fm_profile_entry *profile,
                       const struct fm_query *query, const char *notice)
{
    if (profile->recording->profile->flavour == FM_FLAVOUR_C)
        return NULL;
    g_autoptr(GString) text = g_string_new(exchange->server->build_id);
    g_autofree char *printed = fm_query_print(query);
    g_string_append_printf(text, "\n%d\n%s\n%s\n%s\n", exchange->format, profile->base.name,
                           printed, notice);
    fm_profile_entry_append_identity(profile, text);
    return make_etag(text->str, text->len);
}

static void render_page(const struct fm_exchange *exchange, struct fm_profile_entry *profile,
                        const struct fm_query *query, const char *notice,
                        const struct fm_render_incomplete *incomplete, char *etag)
{
    const struct fm_growing *growing = fm_growing_of(exchange->server, profile->base.name);
    const struct fm_render_options options = {
        .format = exchange->format,
        .file = profile->base.name,
        .notice = notice[0] == '\0' ? NULL : notice,
        .incomplete = incomplete,
        .grows = growing != NULL && fm_growing_is_running(growing) && exchange->request->can_stream,
        .searchable = true,
    };
    GString *body = g_string_new(NULL);
    GError *error = NULL;
    if (!fm_render(profile->recording, query, &options, body, &error)) {
        g_string_free(body, TRUE);
        g_free(etag);
        answer_error(exchange, error);
        return;
    }
    if (etag == NULL && incomplete == NULL)
        etag = make_etag(body->str, body->len);
    answer(exchange, fm_format_content_type(exchange->format), etag, body);
}

/* Partial page: no validator. CSV cannot mark itself partial, hence 503. */
static void answer_unfinished(const struct fm_exchange *exchange, struct fm_profile_entry *profile,
                              const struct fm_query *query, const char *notice,
                              const struct fm_how_far *how_far)
{
    const struct fm_render_incomplete page = {
        .text = how_far->text,
        .stage = how_far->stage,
        .fraction = how_far->whole,
        .silent = !exchange->request->can_stream,
    };
    if (exchange->format == FM_FORMAT_CSV || exchange->format == FM_FORMAT_SVG ||
        exchange->format == FM_FORMAT_DOT)
        fm_response_message(exchange->request, 503, how_far->text, exchange->ret);
    else
        render_page(exchange, profile, query, notice, &page, NULL);
}

static void answer_page(const struct fm_exchange *exchange, struct fm_profile_entry *profile,
                        const struct fm_query *query, const char *notice)
{
    struct fm_how_far how_far;
    fm_how_far_get(fm_server_engine(exchange->server), profile->base.trace, query, &how_far);
    char *etag = how_far.complete ? page_etag(exchange, profile, query, notice) : NULL;
    if (!how_far.complete)
        answer_unfinished(exchange, profile, query, notice, &how_far);
    else if (etag != NULL && etag_matches(exchange->request->if_none_match, etag))
        answer(exchange, fm_format_content_type(exchange->format), etag, NULL);
    else
        render_page(exchange, profile, query, notice, NULL, etag);
    g_free(how_far.text);
}

/* While it is being read the page is asked for again: that must not begin the reading anew. */
static void answer_menu_later(const struct fm_exchange *exchange,
                              const struct fm_profile_entry *profile, const struct fm_query *query)
{
    g_autofree char *menu = fm_query_to_url(query);
    GString *location = g_string_new(NULL);
    g_string_append_printf(location, "?%s&", menu);
    fm_query_append_part(location, profile->base.name);
    fm_response_message(exchange->request, 303, "The file is being read again.", exchange->ret);
    exchange->ret->location = g_string_free(location, FALSE);
}

/* quit and timeout answer with one message; restart goes on to the menu. */
static void answer_server_command(const struct fm_exchange *exchange,
                                  struct fm_profile_entry *profile, struct fm_query *query)
{
    enum fm_command_id id = query->command.id;
    bool act = strcmp(exchange->request->method, "HEAD") != 0;
    if (exchange->request->foreign) {
        fm_response_message(exchange->request, 403,
                            "only a page of this server, or an address typed in, may quit or "
                            "restart it or set its time-out",
                            exchange->ret);
        return;
    }
    if (id == FM_CMD_RESTART) {
        GError *error = NULL;
        if (act && !fm_profile_entry_restart(profile, &error)) {
            answer_error(exchange, error);
            return;
        }
        fm_command_done(&query->command);
        query->command = (struct fm_command){.id = FM_CMD_MENU};
        if (fm_pages_is_complete(profile->recording, query))
            answer_page(exchange, profile, query, "The file was read again.");
        else
            answer_menu_later(exchange, profile, query);
        return;
    }
    g_autofree char *text =
        id == FM_CMD_QUIT
            ? g_strdup_printf("Shutting down deep profile server for %s.", profile->base.name)
            : g_strdup_printf("Timeout set to %u minutes.", query->command.number);
    fm_response_message(exchange->request, 200, text, exchange->ret);
    exchange->ret->quit = act && id == FM_CMD_QUIT;
    exchange->ret->timeout_minutes = act && id == FM_CMD_TIMEOUT ? (int)query->command.number : 0;
}

/* Answers for the whole profile. */
static void answer_finished(const struct fm_exchange *exchange, const struct fm_deep_query *asked,
                            const char *finished)
{
    GString *location = g_string_new("?");
    const char *parts[] = {asked->command, asked->command == NULL ? NULL : asked->preferences};
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i] == NULL)
            continue;
        fm_query_append_part(location, parts[i]);
        g_string_append_c(location, '&');
    }
    fm_query_append_part(location, finished);
    fm_response_message(exchange->request, 303, "The program has ended.", exchange->ret);
    exchange->ret->location = g_string_free(location, FALSE);
}

/* A profile that is being made for the first time. */
static void answer_promised(const struct fm_exchange *exchange, const struct fm_growing *growing)
{
    if (exchange->format != FM_FORMAT_HTML) {
        fm_response_message(exchange->request, 503, fm_growing_text(growing), exchange->ret);
        return;
    }
    g_autoptr(FmDisplay) display = fm_display_new("Not there yet");
    struct fm_preferences preferences;
    fm_preferences_default(&preferences, true, false);
    fm_display_set_incomplete(display, fm_growing_text(growing));
    GString *body = g_string_new(NULL);
    fm_render_display(display, &preferences, NULL,
                      &(struct fm_render_options){.format = exchange->format}, body);
    answer(exchange, fm_format_content_type(exchange->format), NULL, body);
}

/* A reader who came by a number goes on by what stays the same when there is more. */
static bool answer_lasting(const struct fm_exchange *exchange,
                           const struct fm_profile_entry *profile, const struct fm_query *query)
{
    g_autofree char *command =
        exchange->format == FM_FORMAT_HTML ? fm_pages_lasting(profile->recording, query) : NULL;
    if (command == NULL)
        return false;
    GString *location = g_string_new(NULL);
    g_string_append_printf(location, "?%s&", command);
    fm_query_append_part(location, profile->base.name);
    fm_response_message(exchange->request, 303, "The program runs.", exchange->ret);
    exchange->ret->location = g_string_free(location, FALSE);
    return true;
}

static void answer_query(const struct fm_exchange *exchange, const struct fm_deep_query *asked)
{
    GError *error = NULL;
    struct fm_profile_entry *profile;
    const struct fm_growing *known = fm_growing_find(exchange->server, asked->file);
    if (known != NULL && fm_growing_finished(known) != NULL) {
        answer_finished(exchange, asked, fm_growing_finished(known));
        return;
    }
    if (known != NULL && !fm_growing_is_there(known)) {
        answer_promised(exchange, known);
        return;
    }
    g_autofree char *told = NULL;
    if (!fm_open_files_get_profile(exchange->server->recordings, asked->file, &profile, &told,
                                   &error)) {
        answer_error(exchange, error);
        return;
    }
    g_autoptr(GString) notice = g_string_new(told);
    const struct fm_growing *growing = fm_growing_of(exchange->server, profile->base.name);
    if (growing != NULL)
        add_notice(notice, fm_growing_text(growing));
    struct fm_query query;
    if (!understand(exchange, asked, &query, notice, &error)) {
        answer_error(exchange, error);
        return;
    }
    query.lasting = growing != NULL && fm_growing_is_running(growing);
    enum fm_command_id id = query.command.id;
    if (growing != NULL)
        fm_growing_read(exchange->server, profile, &query);
    if (query.lasting && answer_lasting(exchange, profile, &query)) {
        fm_query_done(&query);
        return;
    }
    if (id == FM_CMD_QUIT || id == FM_CMD_RESTART || id == FM_CMD_TIMEOUT)
        answer_server_command(exchange, profile, &query);
    else
        answer_page(exchange, profile, &query, notice->str);
    fm_query_done(&query);
}

void fm_answer_deep(const struct fm_exchange *exchange)
{
    GError *error = NULL;
    struct fm_deep_query asked;
    const char *raw = exchange->request->query;
    if (!fm_deep_query_split(raw == NULL ? "" : raw, &asked, &error)) {
        answer_error(exchange, error);
        return;
    }
    answer_query(exchange, &asked);
    fm_deep_query_done(&asked);
}

/* --- /find --- */

/* Handles the search field: redirects to the page of the function with exactly this name, or to
 * the list of what holds it. */
void fm_answer_find(const struct fm_exchange *exchange)
{
    GError *error = NULL;
    const char *raw = exchange->request->query ? exchange->request->query : "";
    g_autoptr(GHashTable) fields =
        strlen(raw) > FM_QUERY_BYTES_MAX
            ? NULL
            : g_uri_parse_params(raw, -1, "&", G_URI_PARAMS_WWW_FORM, NULL);
    const char *text = fields ? g_hash_table_lookup(fields, "text") : NULL;
    const char *file = fields ? g_hash_table_lookup(fields, "file") : NULL;
    struct fm_profile_entry *profile;
    g_autofree char *told = NULL;
    if (text == NULL || file == NULL) {
        fm_response_message(exchange->request, 400, "expected the fields text and file",
                            exchange->ret);
        return;
    }
    if (!fm_open_files_get_profile(exchange->server->recordings, file, &profile, &told, &error)) {
        answer_error(exchange, error);
        return;
    }
    g_autofree char *trimmed = g_strstrip(g_strdup(text));
    struct fm_query query = {.command = {.id = FM_CMD_FIND, .name = trimmed}};
    uint32_t *ps = NULL, count = 0;
    bool grows = fm_growing_find(exchange->server, file) != NULL;
    if (grows)
        fm_growing_read(exchange->server, profile, &query);
    if (profile->recording != NULL && profile->recording->known >= FM_KNOWN_PROFILE)
        fm_digest_named_procs(profile->recording->profile, trimmed, &ps, &count);
    if (count == 1)
        query.command = (struct fm_command){.id = FM_CMD_PROC, .number = ps[0]};
    g_free(ps);
    g_autofree char *page = grows ? fm_pages_lasting(profile->recording, &query) : NULL;
    if (page == NULL)
        page = fm_query_to_url(&query);
    GString *location = g_string_new(NULL);
    g_string_append_printf(location, "deep?%s&", page);
    fm_query_append_part(location, profile->base.name);
    fm_response_message(exchange->request, 303, "Found.", exchange->ret);
    exchange->ret->location = g_string_free(location, FALSE);
}
