/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs as SVG without scripts. Each box is an <svg> of its own with widths in percent: the
 * picture fits any window, and labels end where their box does. */
#include <math.h>
#include <string.h>

#include "display/flame_internal.h"
#include "display/html/html_internal.h"
#include "display/ranked.h"

#define ROW_HEIGHT 19u
#define BOX_HEIGHT 18u
#define WIDTH_USUAL 1160.0 /* pixels; which labels have a chance to be read */
#define LABEL_LEAST 26.0
#define KEPT_ALL 600u           /* boxes: more are thinned out in the picture without scripts */
#define KEPT_WIDTH_LEAST 0.0025 /* share of the picture's width */
#define SHARE_LEAST 0.08 /* share of the picture's width: room for the share behind the name */

static void append_percent(GString *out, const char *name, double fraction)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_assert(fraction >= 0 && fraction <= 1.001);
    double rounded = round(fraction * 1e5) / 1e3;
    g_string_append_printf(out, " %s=\"%s%%\"", name,
                           g_ascii_formatd(text, sizeof text, "%.6g", rounded));
}

static void append_colour_class(GString *out, unsigned colour)
{
    if (colour >= 20)
        g_string_append_printf(out, "v%u", colour - 20);
    else if (colour >= 10)
        g_string_append_printf(out, "h%u", colour - 10);
    else
        g_string_append_printf(out, "m%u", colour);
}

static void append_box(const struct html *html, const struct fm_flame *flame,
                       const struct flame_box *at)
{
    GString *out = html->out;
    const struct fm_flame_box *box = &at->box;
    g_assert(box->row < flame->rows);
    unsigned row = flame->upwards ? flame->rows - 1 - box->row : box->row;
    bool leads = (at->link.command || at->link.url) && fm_html_leads(html, &at->link);
    if (leads) {
        g_string_append(out, "<a");
        fm_html_href(html, &at->link);
        g_string_append_c(out, '>');
    }
    g_string_append(out, "<svg class=\"");
    append_colour_class(out, box->colour);
    g_string_append(out, box->flags & FM_BOX_RECURSION ? " rec"
                         : box->flags & FM_BOX_MEMBER  ? " mem"
                         : box->flags & FM_BOX_JOINED  ? " more"
                                                       : "");
    g_string_append_c(out, '"');
    append_percent(out, "x", box->x);
    append_percent(out, "width", box->width);
    g_string_append_printf(out, " y=\"%u\" height=\"%u\">", row * ROW_HEIGHT, BOX_HEIGHT);
    if (box->title) {
        g_string_append(out, "<title>");
        fm_html_escape(out, box->title, HTML_TEXT);
        g_string_append(out, "</title>");
    }
    g_string_append(out, "<rect width=\"100%\" height=\"100%\"/>");
    if (box->flags & (FM_BOX_NEW | FM_BOX_GONE))
        g_string_append_printf(out,
                               "<path class=\"hatch\" d=\"M0 0h4000v%uH0z\" fill=\"url(#%s)\"/>",
                               BOX_HEIGHT, box->flags & FM_BOX_NEW ? "hatch-new" : "hatch-gone");
    if (box->width * WIDTH_USUAL >= LABEL_LEAST) {
        g_string_append(out, "<text x=\"4\" y=\"13\">");
        fm_html_escape(out, box->label, HTML_TEXT);
        if (box->width > SHARE_LEAST) {
            g_autofree char *share = fm_format_share(box->width);
            g_string_append_printf(out, " %s %%", share);
        }
        g_string_append(out, "</text>");
    }
    g_string_append(out, leads ? "</svg></a>\n" : "</svg>\n");
}

/* Fill patterns of boxes that only one run has, if there are any. */
static void append_hatches(GString *out, const struct fm_flame *flame)
{
    static const char pattern[] =
        "<pattern id=\"%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"line\" d=\"%s\" fill=\"none\" stroke=\"#7f8b97\"/></pattern>";
    unsigned flags = 0;

    for (const struct flame_box *at = flame->first; at; at = at->next)
        flags |= at->box.flags;
    if (!(flags & (FM_BOX_NEW | FM_BOX_GONE)))
        return;
    g_string_append(out, "<defs>");
    g_string_append_printf(out, pattern, "hatch-new", "M0 6L6 0");
    g_string_append_printf(out, pattern, "hatch-gone", "M0 0L6 6");
    g_string_append(out, "</defs>\n");
}

/* Beside boxes for scripts, kept pages have a picture of those that one can see. */
static void append_boxes(const struct html *html, const struct fm_flame *flame)
{
    double least = html->options->kept && flame->count > KEPT_ALL ? KEPT_WIDTH_LEAST : 0;

    for (const struct flame_box *at = flame->first; at; at = at->next) {
        if (at->box.width >= least)
            append_box(html, flame, at);
    }
}

/* The addresses of kept pages of functions, by the functions' numbers. */
static void write_pages(const struct html *html, const struct fm_flame *flame, struct fm_json *json)
{
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    const struct fm_html_kept *kept = html->options->kept;

    fm_json_object(json, "pages");
    for (const struct flame_box *at = flame->first; at; at = at->next) {
        char number[12], command[24];

        if (at->box.proc == 0 || !g_hash_table_add(told, GUINT_TO_POINTER(at->box.proc)))
            continue;
        g_snprintf(number, sizeof number, "%" G_GUINT32_FORMAT, at->box.proc);
        g_snprintf(command, sizeof command, "proc/%s", number);
        const char *address = kept->address(kept->user, command, NULL);
        if (address)
            fm_json_text(json, number, address);
    }
    fm_json_end(json);
}

/* All boxes, for the script: there is no server to ask for them. */
static void append_kept_boxes(const struct html *html, const struct fm_flame *flame)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree struct flame_box *boxes = g_new(struct flame_box, flame->count + 1);
    struct fm_flame plain = *flame;
    struct fm_json json;
    unsigned count = 0;

    for (const struct flame_box *at = flame->first; at; at = at->next) {
        boxes[count] = *at;
        boxes[count].link = (struct link){0};
        boxes[count].next = at->next ? &boxes[count + 1] : NULL;
        count++;
    }
    plain.first = count > 0 ? boxes : NULL;
    fm_json_init(&json, text);
    fm_json_object(&json, NULL);
    fm_flame_write_json(&plain, &json, "flame");
    write_pages(html, flame, &json);
    fm_json_end(&json);
    fm_html_data(html, text);
}

static void append_legend(const struct html *html, const struct fm_flame *flame)
{
    GString *out = html->out;
    if (flame->legend_count == 0)
        return;
    g_string_append(out, "<ul class=\"legend\">\n");
    for (unsigned i = 0; i < flame->legend_count; i++) {
        g_string_append(out, "<li><i class=\"");
        append_colour_class(out, flame->legend[i].colour);
        g_string_append(out, "\"></i>");
        fm_html_escape(out, flame->legend[i].label, HTML_NAME);
        g_string_append(out, "</li>\n");
    }
    g_string_append(out, "<li>empty below a box: its own cost</li>\n</ul>\n");
}

void fm_html_flame(struct html *html, const struct item *item)
{
    GString *out = html->out;
    const struct fm_flame *flame = item->flame;
    g_string_append(out, "<figure class=\"flame\"");
    fm_html_id(html, item->id);
    bool zooms = html->options->kept && flame->link.command && !flame->upwards;
    if (zooms) {
        g_string_append(out, " data-kept");
    } else if (flame->link.command && !html->options->kept) {
        g_autoptr(GString) query = g_string_new(NULL);
        fm_link_append_query(query, &flame->link);
        g_string_append(out, " data-query=\"");
        fm_html_escape(out, query->str, HTML_TEXT);
        g_string_append_c(out, '"');
    }
    g_string_append(out, ">\n<svg role=\"group\" aria-label=\"");
    fm_html_escape(out, flame->label, HTML_TEXT);
    g_string_append_printf(out, "\" width=\"100%%\" height=\"%u\">\n", flame->rows * ROW_HEIGHT);
    append_hatches(out, flame);
    append_boxes(html, flame);
    g_string_append(out, "</svg>\n");
    append_legend(html, flame);
    if (zooms)
        append_kept_boxes(html, flame);
    g_string_append(out, "</figure>\n");
}

static const struct item *find_flame(const struct fm_list *list)
{
    for (const struct item *item = list->first; item; item = item->next) {
        const struct item *found = item->kind == ITEM_FLAME && !item->flame->upwards ? item
                                   : item->kind == ITEM_LIST ? find_flame(item->list)
                                                             : NULL;
        if (found)
            return found;
    }
    return NULL;
}

bool fm_flame_write_svg(const struct fm_display *display, const struct fm_html_options *options,
                        GString *out)
{
    static const char style[] =
        "text{font:12px monospace;fill:#16202b}rect{stroke:#7f8b97;stroke-opacity:.45;"
        "stroke-width:.6}.rec rect{stroke-dasharray:4 2;stroke-opacity:1}.m0 rect{fill:#e3e6ea}"
        ".m1 rect{fill:#8ca9ee}.m2 rect{fill:#f1a8c2}.m3 rect{fill:#abe8aa}.m4 rect{fill:#c0c472}"
        ".m5 rect{fill:#e6bdf7}.m6 rect{fill:#c8a18d}.h1 rect{fill:#fff2e8}.h2 rect{fill:#ffe1c7}"
        ".h3 rect{fill:#ffcb9f}.h4 rect{fill:#ffb474}.h5 rect{fill:#f99b44}.v0 rect{fill:#4d97de}"
        ".v1 rect{fill:#8bbcef}.v2 rect{fill:#c5def8}.v3 rect{fill:#e6e8ea}.v4 rect{fill:#f7d7bd}"
        ".v5 rect{fill:#f1b27e}.v6 rect{fill:#e9833d}";
    const struct item *item = find_flame(&display->body);
    if (!item)
        return false;
    struct html html = {.out = out, .display = display, .options = options};
    g_string_append_printf(out,
                           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" "
                           "height=\"%u\">\n<style>%s</style>\n<text x=\"4\" y=\"14\">",
                           item->flame->rows * ROW_HEIGHT + 44, style);
    fm_html_escape(out, display->title ? display->title : item->flame->label, HTML_TEXT);
    g_string_append(out, "</text>\n<svg y=\"22\" width=\"100%\">\n");
    append_hatches(out, item->flame);
    for (struct flame_box *at = item->flame->first; at; at = at->next) {
        struct flame_box plain = *at;
        plain.link = (struct link){0}; /* a file of its own has no pages beside it */
        append_box(&html, item->flame, &plain);
    }
    g_string_append_printf(out, "</svg>\n<g transform=\"translate(0 %u)\">",
                           item->flame->rows * ROW_HEIGHT + 26);
    for (unsigned i = 0; i < item->flame->legend_count; i++) {
        g_string_append_printf(out, "<svg x=\"%u\" class=\"", i * 150 + 4);
        append_colour_class(out, item->flame->legend[i].colour);
        g_string_append(out, "\" width=\"146\" height=\"16\"><rect width=\"12\" height=\"12\"/>"
                             "<text x=\"18\" y=\"11\">");
        fm_html_escape(out, item->flame->legend[i].label, HTML_TEXT);
        g_string_append(out, "</text></svg>");
    }
    g_string_append(out, "</g>\n</svg>\n");
    return true;
}
