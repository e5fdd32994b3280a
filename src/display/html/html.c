/* SPDX-License-Identifier: Apache-2.0 */
/* A page as HTML5: frame, navigation, items and lists. The pages are whole without stylesheet and
 * without script. Controls stand together at the bottom, each list under its title. */
#include <string.h>

#include "display/html/assets.h"
#include "display/html/html_internal.h"
#include "query/commands.h"

#define HEADING_DEPTH_MAX 6
#define CONTROLS_UNFOLDED 12u
#define KEPT_SCRIPT "kept.js" /* tools/bundle_scripts.py */

static void append_items(struct html *html, const struct fm_list *list, unsigned depth,
                         bool in_list);

static void append_text_element(const struct html *html, const char *tag, const char *text)
{
    g_string_append_printf(html->out, "<%s>", tag);
    fm_html_escape(html->out, text, HTML_TEXT);
    g_string_append_printf(html->out, "</%s>\n", tag);
}

static void append_heading(const struct html *html, const char *text, unsigned depth)
{
    char tag[3] = {'h', (char)('0' + MIN(depth, HEADING_DEPTH_MAX)), '\0'};

    append_text_element(html, tag, text);
}

static void append_link(struct html *html, const struct item *item)
{
    GString *out = html->out;

    if (!fm_html_leads(html, &item->link)) {
        g_string_append(out, "<span>");
        fm_html_escape(out, item->link.label, HTML_TEXT);
        g_string_append(out, "</span>");
        return;
    }
    g_string_append(out, item->kind == ITEM_CONTROL ? "<a class=\"control\"" : "<a class=\"link\"");
    fm_html_id(html, item->id);
    fm_html_href(html, &item->link);
    g_string_append_c(out, '>');
    fm_html_escape(out, item->link.label, HTML_TEXT);
    g_string_append(out, "</a>");
}

static void append_list_items(struct html *html, const struct fm_list *list, unsigned depth)
{
    static const char *const classes[] = {
        [FM_LIST_PLAIN] = "vertical",
        [FM_LIST_BULLETS] = "bullets",
        [FM_LIST_HORIZONTAL] = "horizontal",
        [FM_LIST_HORIZONTAL_EXCEPT_TITLE] = "horizontal",
    };

    g_string_append_printf(html->out, "<ul class=\"%s\">\n", classes[list->list_class]);
    append_items(html, list, depth, true);
    g_string_append(html->out, "</ul>\n");
}

static void append_list(struct html *html, const struct fm_list *list, unsigned depth)
{
    bool one_line = list->list_class == FM_LIST_HORIZONTAL;

    if (list->list_class >= FM_LIST_COLUMNS) {
        g_string_append(html->out, list->list_class == FM_LIST_COLUMNS
                                       ? "<div class=\"columns\">\n"
                                       : "<div class=\"column\">\n");
        append_items(html, list, depth, false);
        g_string_append(html->out, "</div>\n");
        return;
    }
    g_string_append(html->out, one_line ? "<div class=\"list line\"" : "<div class=\"list\"");
    fm_html_id(html, list->id);
    g_string_append(html->out, ">\n");
    if (list->folded) {
        g_string_append(html->out, "<details><summary>");
        fm_html_escape(html->out, list->title, HTML_TEXT);
        g_string_append(html->out, "</summary>\n");
    } else if (list->title) {
        append_heading(html, list->title, depth);
    }
    append_list_items(html, list, depth + (list->title ? 1 : 0));
    g_string_append(html->out, list->folded ? "</details></div>\n" : "</div>\n");
}

static void append_item(struct html *html, const struct item *item, unsigned depth)
{
    GString *out = html->out;

    switch (item->kind) {
    case ITEM_LIST:
        append_list(html, item->list, depth);
        break;
    case ITEM_HEADING:
        append_heading(html, item->text, depth);
        break;
    case ITEM_TEXT:
        append_text_element(html, "p", item->text);
        break;
    case ITEM_BREAK:
        g_string_append(out, "<div class=\"break\"></div>\n");
        break;
    case ITEM_VERBATIM:
        /* The parser drops one line break right after the tag. */
        g_string_append(out, "<pre tabindex=\"0\">\n");
        fm_html_escape(out, item->text, HTML_VERBATIM);
        g_string_append(out, "</pre>\n");
        break;
    case ITEM_LINK:
    case ITEM_CONTROL:
        append_link(html, item);
        break;
    case ITEM_SOURCE:
        fm_html_source(html, &item->source);
        break;
    case ITEM_TABLE:
        fm_html_table(html, item->table);
        break;
    case ITEM_DRAWING:
        fm_html_drawing(html, item);
        break;
    case ITEM_FORM:
        fm_html_form(html, item);
        break;
    case ITEM_FLAME:
        fm_html_flame(html, item);
        break;
    case ITEM_GRAPH:
        fm_html_graph(html, item);
        break;
    case ITEM_CHART:
        fm_html_chart(html, item);
        break;
    }
}

static bool list_is_shown(const struct html *html, const struct fm_list *list);

/* Without a server, ways to what is not kept are left out, but for those that tell where one is. */
static bool item_is_shown(const struct html *html, const struct item *item, bool tells_where)
{
    if (!fm_item_is_shown(item, html->developer))
        return false;
    if (!html->options->kept)
        return true;
    switch (item->kind) {
    case ITEM_LINK:
        return tells_where || fm_html_leads(html, &item->link);
    case ITEM_CONTROL:
        return fm_html_leads(html, &item->link);
    case ITEM_LIST:
        return list_is_shown(html, item->list);
    case ITEM_FORM:
        return false;
    default:
        return true;
    }
}

static bool list_is_shown(const struct html *html, const struct fm_list *list)
{
    for (const struct item *item = list->first; item; item = item->next) {
        if (item_is_shown(html, item, list->list_class == FM_LIST_HORIZONTAL))
            return true;
    }
    return false;
}

static bool item_is_control_list(const struct html *html, const struct item *item)
{
    return item->kind == ITEM_LIST && fm_list_is_controls(item->list, html->developer);
}

static unsigned count_controls(const struct html *html, const struct fm_list *list)
{
    unsigned count = 0;

    for (const struct item *item = list->first; item; item = item->next) {
        if (item->kind == ITEM_LIST && item_is_shown(html, item, false))
            count += count_controls(html, item->list);
        count += item->kind == ITEM_CONTROL;
    }
    return count;
}

/* More controls than one wants to see below each page fold up. From the item on. */
static bool folds(const struct html *html, const struct item *item)
{
    unsigned count = 0;

    for (; item; item = item->next) {
        if (item->kind != ITEM_LIST || !item_is_shown(html, item, false))
            continue;
        if (!item_is_control_list(html, item))
            return false;
        count += count_controls(html, item->list);
    }
    return count > CONTROLS_UNFOLDED;
}

static void end_controls(const struct html *html, bool folded)
{
    g_string_append(html->out, folded ? "</div></details></nav>\n" : "</nav>\n");
}

/* Opens the panel of a run of control lists. */
static void begin_controls(struct html *html, bool folded)
{
    unsigned number = ++html->nav_count;

    if (number == 1)
        g_string_append(html->out,
                        "<nav class=\"controls\" id=\"controls\" aria-label=\"Controls\">\n");
    else
        g_string_append_printf(html->out, "<nav class=\"controls\" aria-label=\"Controls %u\">\n",
                               number);
    if (folded)
        g_string_append(html->out, "<details><summary>Other columns, orders and formats</summary>"
                                   "<div>\n");
}

static bool in_crumbs(const struct html *html, const struct fm_list *list)
{
    return list == &html->display->crumbs;
}

static void append_items(struct html *html, const struct fm_list *list, unsigned depth,
                         bool in_list)
{
    bool in_controls = false, folded = false;

    for (const struct item *item = list->first; item; item = item->next) {
        if (!item_is_shown(html, item,
                           list->list_class == FM_LIST_HORIZONTAL || in_crumbs(html, list)))
            continue;
        bool controls = !in_list && item_is_control_list(html, item);
        if (controls != in_controls) {
            if (controls)
                begin_controls(html, folded = folds(html, item));
            else
                end_controls(html, folded);
            in_controls = controls;
        }
        if (item->kind == ITEM_LIST && item->list->developer) {
            append_items(html, item->list, depth, in_list || in_controls);
            continue;
        }
        bool block = item->kind == ITEM_LINK || item->kind == ITEM_CONTROL;
        g_string_append(html->out, in_list ? "<li>" : block ? "<p>" : "");
        append_item(html, item, depth);
        g_string_append(html->out, in_list ? "</li>\n" : block ? "</p>\n" : "");
    }
    if (in_controls)
        end_controls(html, folded);
}

static void append_more(const struct html *html)
{
    GString *out = html->out;
    const struct fm_html_options *options = html->options;

    for (const char *const *style = options->styles; style && *style; style++) {
        g_string_append(out, "<link rel=\"stylesheet\" href=\"");
        fm_html_escape(out, options->asset_prefix, HTML_TEXT);
        g_string_append_printf(out, "%s\">\n", *style);
    }
    for (const char *const *module = options->modules; module && *module; module++) {
        g_string_append(out, "<link rel=\"modulepreload\" href=\"");
        fm_html_escape(out, options->asset_prefix, HTML_TEXT);
        g_string_append_printf(out, "%s\">\n", *module);
    }
    for (const char *const *script = options->scripts; script && *script; script++) {
        bool module = !g_str_has_suffix(*script, ".min.js");
        g_string_append(out, module ? "<script type=\"module\" src=\"" : "<script defer src=\"");
        fm_html_escape(out, options->asset_prefix, HTML_TEXT);
        g_string_append_printf(out, "%s\"></script>\n", *script);
    }
}

static void append_style(const struct html *html)
{
    const struct fm_html_options *options = html->options;
    GString *out = html->out;
    struct fm_asset style;

    if (options->inline_assets && fm_asset_get("style.css", &style)) {
        g_string_append(out, "<style>\n");
        g_string_append_len(out, g_bytes_get_data(style.data, NULL),
                            (gssize)g_bytes_get_size(style.data));
        g_string_append(out, "</style>\n");
        fm_asset_done(&style);
    } else if (options->asset_prefix) {
        g_string_append(out, "<link rel=\"stylesheet\" href=\"");
        fm_html_escape(out, options->asset_prefix, HTML_TEXT);
        g_string_append(out, "style.css\">\n<script src=\"");
        fm_html_escape(out, options->asset_prefix, HTML_TEXT);
        g_string_append_printf(out, "%s\" defer></script>\n",
                               options->kept ? KEPT_SCRIPT : "fathom.js");
        append_more(html);
    }
}

/* For pages without a server: browsers load no modules from files, so all scripts are one. */
static void append_kept_script(const struct html *html)
{
    struct fm_asset script;

    if (!html->options->kept || !html->options->inline_assets ||
        !fm_asset_get(KEPT_SCRIPT, &script))
        return;
    g_string_append(html->out, "<script>\n");
    g_string_append_len(html->out, g_bytes_get_data(script.data, NULL),
                        (gssize)g_bytes_get_size(script.data));
    g_string_append(html->out, "</script>\n");
    fm_asset_done(&script);
}

/* Each alternate as a link: start, type, address, and end, or its label as the link's text. */
static void append_alternates(const struct html *html, const char *start, const char *end)
{
    GString *out = html->out;
    const struct fm_html_alternate *alternate = html->options->alternates;

    for (; alternate && alternate->label; alternate++) {
        g_string_append(out, start);
        fm_html_escape(out, alternate->type, HTML_TEXT);
        g_string_append(out, "\" href=\"");
        fm_html_escape(out, alternate->url, HTML_TEXT);
        g_string_append_c(out, '"');
        if (end) {
            g_string_append(out, end);
        } else {
            g_string_append_c(out, '>');
            fm_html_escape(out, alternate->label, HTML_TEXT);
            g_string_append(out, "</a></li>\n");
        }
    }
}

static void append_head(const struct html *html)
{
    GString *out = html->out;
    const char *title = html->display->title;
    const char *recording = html->options->recording_name;

    g_string_append(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<title>");
    if (title)
        fm_html_escape(out, title, HTML_TEXT);
    if (recording) {
        g_string_append(out, title ? " - " : "");
        fm_html_escape(out, recording, HTML_TEXT);
    }
    g_string_append(out, title || recording ? " - fathom</title>\n" : "fathom</title>\n");
    g_string_append(out, "<meta name=\"viewport\" content=\"width=device-width, "
                         "initial-scale=1\">\n"
                         "<meta name=\"color-scheme\" content=\"light dark\">\n");
    /* With scripts, the script asks again; see fathom.js. */
    if (html->display->incomplete)
        g_string_append(out, "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>\n");
    append_style(html);
    if (fm_html_has_chart(html->display))
        fm_html_chart_style(html);
    append_alternates(html, "<link rel=\"alternate\" type=\"", ">\n");
    g_string_append(out, "</head>\n");
}

static void append_foot(const struct html *html)
{
    GString *out = html->out;

    if (!html->options->alternates || !html->options->alternates->label)
        return;
    g_string_append(out, "<footer>\n<nav aria-label=\"Formats\">This page as\n<ul>\n");
    append_alternates(html, "<li><a type=\"", NULL);
    g_string_append(out, "</ul>\n</nav>\n</footer>\n");
}

/* The tabs of a recording, at the top of each of its pages. */
static void append_navigation(const struct html *html)
{
    const struct fm_command_tab *tab =
        html->options->tabs ? html->options->tabs : fm_command_tabs_of_mercury;
    GString *out = html->out;

    g_string_append(out, "<nav aria-label=\"Recording\">\n<ul>\n");
    for (; tab->label; tab++) {
        struct link link = {tab->label, tab->address,
                            html->options->keep_preferences ? html->current : NULL};

        if (!fm_html_leads(html, &link))
            continue;
        g_string_append_printf(out, "<li><a id=\"%s\"", tab->element);
        fm_html_href(html, &link);
        if (g_strcmp0(html->display->name, fm_command_forms[tab->id].name) == 0)
            g_string_append(out, " aria-current=\"page\"");
        g_string_append_printf(out, ">%s</a></li>\n", tab->label);
    }
    g_string_append(out, "</ul>\n</nav>\n");
}

static void append_crumbs(struct html *html)
{
    if (!html->display->crumbs.first)
        return;
    g_string_append(html->out, "<nav class=\"crumbs\" aria-label=\"Where this is\">\n<ul>\n");
    append_items(html, &html->display->crumbs, 2, true);
    g_string_append(html->out, "</ul>\n</nav>\n");
}

/* Works without scripts; they offer names while one types. */
static void append_search(const struct html *html)
{
    GString *out = html->out;

    g_string_append(out, "<form class=\"search\" role=\"search\" action=\"find\" method=\"get\">\n"
                         "<input id=\"search\" type=\"search\" name=\"text\" required "
                         "aria-label=\"Search functions and files\" autocomplete=\"off\" "
                         "spellcheck=\"false\" placeholder=\"Function or file   ( / )\">\n"
                         "<input type=\"hidden\" name=\"file\" value=\"");
    fm_html_escape(out, html->options->search_file, HTML_TEXT);
    g_string_append(out, "\">\n</form>\n");
}

static void append_top(const struct html *html)
{
    const struct fm_html_options *options = html->options;
    GString *out = html->out;

    g_string_append(out, "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
    g_string_append(out, "<header>\n");
    if (options->home_url) {
        g_string_append(out, "<a class=\"brand\" href=\"");
        fm_html_escape(out, options->home_url, HTML_TEXT);
        g_string_append(out, "\">fathom</a>\n");
    } else {
        g_string_append(out, "<span class=\"brand\">fathom</span>\n");
    }
    if (options->recording_name) {
        g_string_append(out, "<span class=\"recording\">");
        fm_html_escape(out, options->recording_name, HTML_NAME);
        g_string_append(out, "</span>\n");
    }
    if (options->search_file)
        append_search(html);
    if (!options->no_navigation)
        append_navigation(html);
    g_string_append(out, "</header>\n");
}

/* The script keeps text and bar up to date, and asks for the page again at another stage. */
static void append_incomplete(const struct html *html)
{
    GString *out = html->out;
    g_string_append(out, "<p class=\"incomplete\" role=\"status\"");
    if (html->options->events_url) {
        g_string_append(out, " data-events=\"");
        fm_html_escape(out, html->options->events_url, HTML_TEXT);
        g_string_append_printf(out, "\" data-stage=\"%u\"", html->options->stage);
    }
    g_string_append(out, ">");
    if (html->options->events_url)
        g_string_append_printf(out, "<progress max=\"1000\" value=\"%u\"></progress> <span>",
                               (unsigned)(html->options->fraction * 1000));
    fm_html_escape(out, html->display->incomplete, HTML_TEXT);
    g_string_append(out, html->options->events_url ? "</span></p>\n" : "</p>\n");
}

static void append_page(struct html *html)
{
    GString *out = html->out;
    const struct fm_display *display = html->display;

    append_crumbs(html);
    if (display->title)
        append_heading(html, display->title, 1);
    if (display->notice) {
        g_string_append(out, "<p class=\"notice\" role=\"status\"");
        if (html->options->live_url) {
            g_string_append(out, " data-live=\"");
            fm_html_escape(out, html->options->live_url, HTML_TEXT);
            g_string_append_c(out, '"');
        }
        g_string_append(out, ">");
        fm_html_escape(out, display->notice, HTML_TEXT);
        g_string_append(out, "</p>\n");
    }
    if (display->incomplete) {
        append_incomplete(html);
    }
    append_items(html, &display->body, display->title ? 2 : 1, false);
}

/* Begins the next page; pages of one document share their ids. */
static void turn_to(struct html *html, const struct fm_html_part *part)
{
    const struct fm_preferences *preferences = part->preferences;

    g_free(html->current);
    html->display = part->display;
    html->preferences = preferences;
    html->developer = preferences && preferences->developer;
    html->box = !preferences || preferences->box;
    html->colour = !preferences || preferences->colour;
    html->current = preferences ? fm_preferences_print(preferences) : NULL;
}

static void begin_document(struct html *html, const struct fm_html_options *options, GString *out)
{
    static const struct fm_html_options no_options;
    static const char *const own_ids[] = {"main",      "controls",    "nav-menu", "search",
                                          "nav-flame", "nav-tree",    "nav-help", "nav-about",
                                          "nav-root",  "nav-modules", "nav-top"};
    html->out = out;
    html->options = options ? options : &no_options;
    html->ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(own_ids); i++)
        g_hash_table_add(html->ids, g_strdup(own_ids[i]));
    append_head(html);
    const char *body_class = html->options->body_class;
    if (body_class)
        g_string_append_printf(out, "<body class=\"%s\">\n", body_class);
    else
        g_string_append(out, html->display->fits ? "<body class=\"fits\">\n" : "<body>\n");
    append_top(html);
    g_string_append(out, "<main id=\"main\" tabindex=\"-1\">\n");
}

static void end_document(struct html *html)
{
    g_string_append(html->out, "</main>\n");
    append_foot(html);
    append_kept_script(html);
    if (fm_html_has_chart(html->display))
        fm_html_chart_scripts(html);
    g_string_append(html->out, "</body>\n</html>\n");
    g_hash_table_unref(html->ids);
    g_free(html->current);
}

void fm_html_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   const struct fm_html_options *options, GString *out)
{
    g_return_if_fail(display != NULL && out != NULL);
    struct html html = {0};

    turn_to(&html, &(struct fm_html_part){display, preferences, NULL});
    begin_document(&html, options, out);
    append_page(&html);
    end_document(&html);
}

void fm_html_write_parts(const struct fm_html_part *parts, unsigned count,
                         const struct fm_html_options *options, GString *out)
{
    g_return_if_fail(count > 0 && out != NULL);
    struct html html = {0};

    turn_to(&html, &parts[0]);
    begin_document(&html, options, out);
    for (unsigned i = 0; i < count; i++) {
        turn_to(&html, &parts[i]);
        g_string_append(out, "<section class=\"part\"");
        fm_html_id(&html, parts[i].id);
        g_string_append(out, ">\n");
        append_page(&html);
        g_string_append(out, "</section>\n");
    }
    end_document(&html);
}
