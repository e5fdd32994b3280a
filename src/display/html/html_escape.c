/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping for HTML; links and ids as attributes. */
#include <inttypes.h>
#include <string.h>

#include "display/html/html_internal.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* Bytes that stand for themselves in every mode: printable ASCII but markup and break places. */
static bool is_plain(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte >= 0x20 && byte < 0x7F && !strchr("&<>'\"._/:", c);
}

static bool is_break_place(char c)
{
    return c == '.' || c == '_' || c == '/' || c == ':';
}

static void escape_ascii(GString *out, char c, char next, enum html_mode mode)
{
    switch (c) {
    case '&':
        g_string_append(out, "&amp;");
        return;
    case '<':
        g_string_append(out, "&lt;");
        return;
    case '>':
        g_string_append(out, "&gt;");
        return;
    case '\'':
        g_string_append(out, "&#39;");
        return;
    case '"':
        g_string_append(out, "&quot;");
        return;
    case '.':
    case '_':
    case '/':
    case ':':
        g_string_append_c(out, c);
        if (mode == HTML_NAME && next && !is_break_place(next))
            g_string_append(out, "<wbr>");
        return;
    default:
        break;
    }
    if (mode == HTML_VERBATIM && (c == '\n' || c == '\t')) {
        g_string_append_c(out, c);
    } else if (c == 0x7F) {
        g_string_append(out, "\xE2\x90\xA1");
    } else {
        /* Control characters as their pictures, U+2400 on: HTML forbids them, readers want them. */
        char picture[3] = {(char)0xE2, (char)0x90, (char)(0x80 + c)};
        g_string_append_len(out, picture, 3);
    }
}

void fm_html_escape(GString *out, const char *text, enum html_mode mode)
{
    while (*text) {
        const char *run = text;

        while (is_plain(*text))
            text++;
        if (text > run)
            g_string_append_len(out, run, text - run);
        if (!*text)
            break;
        unsigned size = fm_utf8_size(text);
        if (size == 1) {
            escape_ascii(out, *text, text[1], mode);
            text++;
        } else if (size > 1 && !fm_utf8_is_unsafe(fm_utf8_decode(text, size))) {
            g_string_append_len(out, text, size);
            text += size;
        } else {
            g_string_append(out, REPLACEMENT);
            text += size ? size : 1;
        }
    }
}

static const char *kept_address(const struct html *html, const struct link *link)
{
    const struct fm_html_kept *kept = html->options->kept;

    return link->command ? kept->address(kept->user, link->command, link->preferences) : NULL;
}

bool fm_html_leads(const struct html *html, const struct link *link)
{
    return !html->options->kept || kept_address(html, link);
}

/* The anchor that fm_html_source() gives the line. */
static void append_line(GString *out, const struct link *link)
{
    if (link->line > 0)
        g_string_append_printf(out, "#L%" PRIu32, link->line);
}

void fm_html_href(const struct html *html, const struct link *link)
{
    GString *out = html->out;

    if (html->options->kept) {
        const char *address = kept_address(html, link);
        if (!address)
            return;
        g_string_append(out, " href=\"");
        fm_html_escape(out, address, HTML_TEXT);
        if (address[0] != '#') /* pages of one file share their lines' numbers */
            append_line(out, link);
        g_string_append_c(out, '"');
        return;
    }
    g_string_append(out, " href=\"");
    if (link->url) {
        fm_html_escape(out, link->url, HTML_TEXT);
        g_string_append_c(out, '"');
        return;
    }
    if (html->options->url_prefix)
        fm_html_escape(out, html->options->url_prefix, HTML_TEXT);
    fm_query_append_part(out, link->command);
    if (link->preferences) {
        g_string_append(out, "&amp;");
        fm_query_append_part(out, link->preferences);
    }
    if (html->options->url_suffix)
        fm_html_escape(out, html->options->url_suffix, HTML_TEXT);
    append_line(out, link);
    g_string_append_c(out, '"');
}

void fm_html_id(struct html *html, const char *id)
{
    if (!id || !*id || strpbrk(id, " \t\n\f\r") || !g_hash_table_add(html->ids, g_strdup(id)))
        return;
    g_string_append(html->out, " id=\"");
    fm_html_escape(html->out, id, HTML_TEXT);
    g_string_append_c(html->out, '"');
}

void fm_html_data(const struct html *html, const GString *json)
{
    g_string_append(html->out, "<script type=\"application/json\">");
    for (const char *c = json->str; *c; c++) {
        if (*c == '<')
            g_string_append(html->out, "\\u003c");
        else if (*c != '\n')
            g_string_append_c(html->out, *c);
        else
            c += strspn(c + 1, " ");
    }
    g_string_append(html->out, "</script>\n");
}
