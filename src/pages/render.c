/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/render.h"

#include "base/error.h"
#include "display/flame.h"
#include "display/graph.h"
#include "query/commands.h"

#include <string.h>

const char *fm_format_content_type(enum fm_format format)
{
    static const char *const types[] = {
        [FM_FORMAT_HTML] = "text/html; charset=utf-8",
        [FM_FORMAT_TEXT] = "text/plain; charset=utf-8",
        [FM_FORMAT_JSON] = "application/json",
        [FM_FORMAT_CSV] = "text/csv; charset=utf-8",
        [FM_FORMAT_SVG] = "image/svg+xml",
        [FM_FORMAT_DOT] = "text/vnd.graphviz; charset=utf-8",
    };
    return types[format];
}

bool fm_format_from_name(const char *name, enum fm_format *ret)
{
    static const struct {
        const char *name;
        enum fm_format format;
    } names[] = {{"html", FM_FORMAT_HTML}, {"txt", FM_FORMAT_TEXT}, {"text", FM_FORMAT_TEXT},
                 {"json", FM_FORMAT_JSON}, {"csv", FM_FORMAT_CSV},  {"svg", FM_FORMAT_SVG},
                 {"dot", FM_FORMAT_DOT}};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(name, names[i].name) == 0) {
            *ret = names[i].format;
            return true;
        }
    }
    return false;
}

enum fm_format fm_format_from_accept(const char *accept)
{
    static const struct {
        const char *type;
        enum fm_format format;
    } types[] = {{"application/json", FM_FORMAT_JSON},
                 {"text/plain", FM_FORMAT_TEXT},
                 {"text/csv", FM_FORMAT_CSV}};
    size_t size = accept == NULL ? 0 : strcspn(accept, " \t;,");
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        if (size == strlen(types[i].type) && g_ascii_strncasecmp(accept, types[i].type, size) == 0)
            return types[i].format;
    }
    return FM_FORMAT_HTML;
}

const struct fm_command_tab *fm_render_tabs(const struct fm_open_profile *recording)
{
    return recording->profile->flavour == FM_FLAVOUR_C ? fm_command_tabs_of_c
                                                       : fm_command_tabs_of_mercury;
}

/* All addresses in a page are relative, and links of queries have no path at all: so the same page
 * is right at /deep and below /cgi-bin/program/deep. */
static void write_html(const struct fm_display *display, const struct fm_preferences *preferences,
                       const char *recording_name, const struct fm_render_options *options,
                       GString *out)
{
    static const struct {
        const char *label, *ending;
        enum fm_format format;
    } formats[] = {{"JSON", "json", FM_FORMAT_JSON},
                   {"CSV", "csv", FM_FORMAT_CSV},
                   {"text", "txt", FM_FORMAT_TEXT},
                   {"SVG", "svg", FM_FORMAT_SVG},
                   {"Graphviz", "dot", FM_FORMAT_DOT}};
    size_t count = 0;
    g_autoptr(GString) suffix = g_string_new(NULL);
    if (options->file != NULL) {
        g_string_append_c(suffix, '&');
        fm_query_append_part(suffix, options->file);
    }
    static const struct fm_render_page no_page;
    const struct fm_render_page *page = options->page == NULL ? &no_page : options->page;
    struct fm_html_alternate alternates[G_N_ELEMENTS(formats) + 1] = {0};
    g_autoptr(GPtrArray) urls = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; page->path != NULL && i < G_N_ELEMENTS(formats); i++) {
        if ((formats[i].format == FM_FORMAT_SVG && !page->has_picture) ||
            (formats[i].format == FM_FORMAT_DOT && !page->has_graph))
            continue;
        char *url = g_strconcat(page->path, ".", formats[i].ending, page->query, NULL);
        g_ptr_array_add(urls, url);
        alternates[count++] = (struct fm_html_alternate){
            formats[i].label, fm_format_content_type(formats[i].format), url};
    }
    const struct fm_render_incomplete *incomplete = options->incomplete;
    const struct fm_html_options html = {
        .recording_name = recording_name,
        .url_prefix = "?",
        .url_suffix = suffix->str,
        .asset_prefix = "assets/",
        .inline_assets = options->inline_assets,
        .no_navigation = recording_name == NULL || page->no_navigation,
        .tabs = options->of_c ? fm_command_tabs_of_c : NULL,
        .keep_preferences = page->keeps_preferences,
        .search_file = options->searchable && recording_name ? options->file : NULL,
        .home_url = "./",
        .alternates = alternates,
        .events_url = incomplete == NULL || incomplete->silent ? NULL : page->events_url,
        .live_url = page->live_url,
        .stage = incomplete == NULL ? 0 : incomplete->stage,
        .fraction = incomplete == NULL ? 0 : incomplete->fraction,
        .scripts = page->scripts,
        .modules = page->modules,
        .styles = page->styles,
        .body_class = page->body_class,
    };
    fm_html_write(display, preferences, &html, out);
}

void fm_render_display(const struct fm_display *display, const struct fm_preferences *preferences,
                       const char *recording_name, const struct fm_render_options *options,
                       GString *out)
{
    switch (options->format) {
    case FM_FORMAT_HTML:
        write_html(display, preferences, recording_name, options, out);
        break;
    case FM_FORMAT_TEXT:
        fm_text_write(display, preferences, &options->text, out);
        break;
    case FM_FORMAT_JSON:
        fm_json_write(display, preferences, out);
        break;
    case FM_FORMAT_CSV:
        fm_csv_write(display, preferences, out);
        break;
    case FM_FORMAT_SVG:
        fm_flame_write_svg(display, &(struct fm_html_options){0}, out);
        break;
    case FM_FORMAT_DOT:
        fm_graph_write_dot(display, out);
        break;
    }
}

static bool has_format(enum fm_command_id page, enum fm_format format)
{
    if (format == FM_FORMAT_DOT)
        return page == FM_CMD_GRAPH;
    return format != FM_FORMAT_SVG || page == FM_CMD_FLAME || page == FM_CMD_MENU;
}

bool fm_render(const struct fm_open_profile *recording, const struct fm_query *query,
               const struct fm_render_options *options, GString *out, GError **error)
{
    g_autoptr(FmDisplay) display = NULL;
    struct fm_preferences preferences;
    if (!fm_pages_make(recording, query, &preferences, &display, error))
        return false;
    if (!has_format(query->command.id, options->format)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: this page has no %s has",
                    recording->name,
                    options->format == FM_FORMAT_DOT ? "graph: graph/..." : "picture: flame/...");
        return false;
    }
    if (options->format == FM_FORMAT_DOT) {
        if (fm_graph_write_dot(display, out))
            return true;
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: there is no single graph; the page says why, in another format",
                    recording->name);
        return false;
    }
    if (options->notice != NULL)
        fm_display_set_notice(display, options->notice);
    struct fm_render_options with_file = *options;
    if (fm_pages_is_complete(recording, query))
        with_file.incomplete = NULL;
    else if (options->incomplete != NULL)
        fm_display_set_incomplete(display, options->incomplete->text);
    if (with_file.file == NULL)
        with_file.file = recording->path;
    g_autofree char *asked = fm_query_to_url(query);
    g_autoptr(GString) address = g_string_new(asked);
    g_string_append_c(address, '&');
    fm_query_append_part(address, with_file.file);
    g_autofree char *same = g_strconcat("?", address->str, NULL);
    g_autofree char *events = g_strconcat("events?", address->str, NULL);
    g_autofree char *live = g_strconcat("live?", address->str, NULL);
    const struct fm_render_page page = {
        .path = "deep",
        .query = same,
        .events_url = events,
        .live_url = options->grows ? live : NULL,
        .has_picture = query->command.id == FM_CMD_FLAME,
        .has_graph = query->command.id == FM_CMD_GRAPH,
        .keeps_preferences = query->has_preferences,
    };
    with_file.page = &page;
    with_file.of_c = recording->profile->flavour == FM_FLAVOUR_C;
    fm_render_display(display, &preferences, recording->name, &with_file, out);
    return true;
}
