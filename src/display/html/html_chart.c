/* SPDX-License-Identifier: Apache-2.0 */
/* Charts as what a script draws: hidden until it has. Without scripts what the chart would take the
 * place of stays, and the page's tables tell the same. */
#include "base/text/json.h"
#include "display/chart_internal.h"
#include "display/html/assets.h"
#include "display/html/html_internal.h"

/* Scripts that draw charts, in this order. */
static const char *const scripts[] = {"vendor/uplot/uPlot.iife.min.js", "profile/chart.js"};
static const char style[] = "vendor/uplot/uPlot.min.css";

static void write_points(struct fm_json *json, const struct fm_chart *chart)
{
    fm_json_array(json, "points");
    for (const struct chart_point *at = chart->first; at; at = at->next) {
        fm_json_object(json, NULL);
        fm_json_text(json, "label", at->label);
        if (at->group)
            fm_json_text(json, "group", at->group);
        if (at->seconds > 0)
            fm_json_double(json, "time", at->seconds);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_series(struct fm_json *json, const struct fm_chart *chart)
{
    static const char *const units[] = {
        [FM_CHART_COUNT] = "count", [FM_CHART_SECONDS] = "seconds", [FM_CHART_BYTES] = "bytes"};
    fm_json_array(json, "series");
    for (const struct chart_series *at = chart->first_series; at; at = at->next) {
        fm_json_object(json, NULL);
        fm_json_text(json, "label", at->label);
        fm_json_text(json, "unit", units[at->unit]);
        fm_json_array(json, "values");
        for (unsigned i = 0; i < chart->point_count; i++) {
            if (at->values[i] < 0)
                fm_json_null(json, NULL);
            else
                fm_json_double(json, NULL, at->values[i]);
        }
        fm_json_end(json);
        fm_json_end(json);
    }
    fm_json_end(json);
}

void fm_html_chart(struct html *html, const struct item *item)
{
    GString *out = html->out;
    const struct fm_chart *chart = item->chart;
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, text);
    fm_json_object(&json, NULL);
    write_points(&json, chart);
    write_series(&json, chart);
    fm_json_end(&json);
    g_string_append(out, "<figure class=\"chart\" hidden");
    fm_html_id(html, item->id);
    g_string_append(out, " data-label=\"");
    fm_html_escape(out, chart->label, HTML_TEXT);
    if (chart->instead) {
        g_string_append(out, "\" data-instead=\"");
        fm_html_escape(out, chart->instead, HTML_TEXT);
    }
    g_string_append(out, "\">\n");
    fm_html_data(html, text);
    g_string_append(out, "</figure>\n");
}

bool fm_html_has_chart(const struct fm_display *display)
{
    const struct item *item = display->body.first;
    while (item && item->kind != ITEM_CHART)
        item = item->next;
    return item != NULL;
}

static void append_asset(const struct html *html, const char *name, const char *begin,
                         const char *end)
{
    struct fm_asset asset;
    if (!fm_asset_get(name, &asset))
        return;
    g_string_append(html->out, begin);
    g_string_append_len(html->out, g_bytes_get_data(asset.data, NULL),
                        (gssize)g_bytes_get_size(asset.data));
    g_string_append(html->out, end);
    fm_asset_done(&asset);
}

void fm_html_chart_style(const struct html *html)
{
    if (html->options->inline_assets) {
        append_asset(html, style, "<style>\n", "</style>\n");
    } else if (html->options->asset_prefix) {
        g_string_append(html->out, "<link rel=\"stylesheet\" href=\"");
        fm_html_escape(html->out, html->options->asset_prefix, HTML_TEXT);
        g_string_append_printf(html->out, "%s\">\n", style);
    }
}

void fm_html_chart_scripts(const struct html *html)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(scripts); i++) {
        if (html->options->inline_assets) {
            append_asset(html, scripts[i], "<script>\n", "</script>\n");
        } else if (html->options->asset_prefix) {
            g_string_append(html->out, "<script src=\"");
            fm_html_escape(html->out, html->options->asset_prefix, HTML_TEXT);
            g_string_append_printf(html->out, "%s\"></script>\n", scripts[i]);
        }
    }
}
