/* SPDX-License-Identifier: Apache-2.0 */
/* Listings of source text with what its lines cost. */
#include <math.h>
#include <string.h>
#include "display/html/html_internal.h"
#include "display/ranked.h"

static void append_share(GString *out, double percent)
{
    if (!(percent >= 0)) {
        g_string_append(out, "<td></td>");
        return;
    }
    if (percent < 0.005)
        g_string_append(out, "<td class=\"zero\">");
    else
        g_string_append_printf(out, "<td class=\"pct p%d\">", (int)(MIN(percent, 100) + 0.5));
    fm_append_percent(out, percent / 100);
    g_string_append(out, "</td>");
}

/* Code that never ran says so in a word too: colour alone is not seen by all. */
static void append_runs(GString *out, const struct fm_source_line *line)
{
    if (!line->runs_known) {
        g_string_append(out, "<td></td>");
        return;
    }
    g_string_append(out, line->runs == 0 ? "<td class=\"zero\">" : "<td>");
    if (line->runs == 0)
        g_string_append(out, "never");
    else
        fm_append_int(out, (int64_t)MIN(line->runs, (uint64_t)INT64_MAX));
    g_string_append(out, "</td>");
}

static void append_line_time(GString *out, double seconds)
{
    int64_t ms = (int64_t)(seconds * 1e3 + 0.5);
    g_string_append(out, "<td>");
    if (seconds > 0 && ms > 0)
        fm_append_int(out, ms);
    else if (seconds > 0)
        g_string_append(out, "&lt;1");
    g_string_append(out, "</td>");
}

static void append_line_calls(GString *out, int64_t calls)
{
    if (calls > 0)
        fm_append_int(out, calls);
    else if (calls == 0)
        g_string_append(out, "never");
}

static void append_shares(GString *out, const struct fm_source_line *line)
{
    append_share(out, line->self_percent);
    append_share(out, line->total_percent);
}

static void append_line_bytes(GString *out, const struct fm_source_line *line)
{
    g_string_append(out, "<td>");
    if (line->bytes > 0) {
        g_autofree char *bytes = fm_format_bytes(line->bytes);
        g_string_append(out, bytes);
    }
    g_string_append(out, "</td>");
}

/* Appends the callees of the line. */
static void append_callees(const struct html *html, const struct link *links, unsigned count)
{
    bool any = false;

    for (unsigned i = 0; i < count; i++) {
        if (!fm_html_leads(html, &links[i]))
            continue;
        g_string_append(html->out, any ? ", <a" : " <small>\u2192 <a");
        fm_html_href(html, &links[i]);
        g_string_append_c(html->out, '>');
        fm_html_escape(html->out, links[i].label, HTML_TEXT);
        g_string_append(html->out, "</a>");
        any = true;
    }
    g_string_append(html->out, any ? "</small>" : "");
}

static void begin_row(GString *out, const struct fm_source_line *line, bool never, bool dead)
{
    char heat[sizeof "h5"] = "";

    if (line->heat > 0 && !never)
        g_snprintf(heat, sizeof heat, "h%u", MIN(line->heat, 5u));
    const char *kind = heat[0] ? heat : never ? "never" : dead ? "dead" : "";
    if (line->hottest)
        g_string_append_printf(out, "<tr class=\"%s%shottest\">", kind, kind[0] ? " " : "");
    else if (kind[0])
        g_string_append_printf(out, "<tr class=\"%s\">", kind);
    else
        g_string_append(out, "<tr>");
}

void fm_html_source(struct html *html, const struct source *source)
{
    GString *out = html->out;
    bool anchors = html->source_count++ == 0; /* ids must be unique on the page */

    g_string_append(out, "<div class=\"wide\" tabindex=\"0\">\n<table class=\"source");
    g_string_append(out, source->has_times ? " timed" : "");
    g_string_append(out, source->has_bytes ? " bytes\">\n<caption>" : "\">\n<caption>");
    fm_html_escape(out, source->file ? source->file : "source", HTML_TEXT);
    g_string_append_printf(
        out, "</caption>\n<thead><tr><th scope=\"col\">Line</th>%s%s",
        source->has_runs ? "<th scope=\"col\">Runs</th>" : "",
        source->has_times ? "<th scope=\"col\" title=\"Time in the line's own code\">Self ms</th>"
                          : "");
    g_string_append_printf(
        out,
        "<th scope=\"col\">Calls</th>%s%s<th scope=\"col\" class=\"code\">Source</th></tr>"
        "</thead>\n<tbody>\n",
        source->has_times ? "<th scope=\"col\" title=\"Time in callees of the line\">Below ms</th>"
                          : "<th scope=\"col\">Self %</th><th scope=\"col\">Total %</th>",
        source->has_bytes
            ? "<th scope=\"col\" title=\"Allocated by callees of the line\">Bytes</th>"
            : "");
    for (uint32_t i = 0; i < source->count; i++) {
        const struct fm_source_line *line = &source->lines[i];

        bool dead = source->has_runs ? !line->runs_known : line->calls < 0;
        bool never = line->runs_known && line->runs == 0;
        begin_row(out, line, never, dead);
        g_string_append(out, "<th scope=\"row\"");
        if (anchors)
            g_string_append_printf(out, " id=\"L%u\"", line->line);
        g_string_append_printf(out, ">%u</th>", line->line);
        if (source->has_runs)
            append_runs(out, line);
        if (source->has_times)
            append_line_time(out, line->line_seconds);
        g_string_append(out, line->calls == 0 ? "<td class=\"zero\">" : "<td>");
        append_line_calls(out, line->calls);
        g_string_append(out, "</td>");
        if (source->has_times)
            append_line_time(out, line->below_seconds);
        else
            append_shares(out, line);
        if (source->has_bytes)
            append_line_bytes(out, line);
        g_string_append(out, "<td class=\"code\"><code>");
        fm_html_escape(out, line->text ? line->text : "", HTML_VERBATIM);
        g_string_append(out, "</code>");
        append_callees(html, source->callees[i], line->callee_count);
        g_string_append(out, "</td></tr>\n");
    }
    g_string_append(out, "</tbody>\n</table>\n</div>\n");
}
