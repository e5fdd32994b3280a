/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the HTML writer. */
#pragma once

#include "display/display_internal.h"

struct html {
    GString *out;
    const struct fm_display *display;
    const struct fm_preferences *preferences; /* may be NULL */
    const struct fm_html_options *options;
    bool developer, box, colour;
    char *current;      /* the preferences as text, NULL when there are none */
    GHashTable *ids;    /* id attributes given out; keys owned */
    unsigned nav_count; /* control panels so far */
    unsigned source_count;
};

enum html_mode {
    HTML_TEXT,     /* running text */
    HTML_NAME,     /* with places where a long name may be broken */
    HTML_VERBATIM, /* line breaks and tabs are kept */
};

/* The one place that escapes: valid UTF-8, no markup, no control characters. Also right between
 * double quotes of an attribute (HTML_TEXT). */
void fm_html_escape(GString *out, const char *text, enum html_mode mode);
/* Whether a link leads anywhere: without a server only to what is kept. */
bool fm_html_leads(const struct html *html, const struct link *link);
/* href="..." with a blank before it; nothing for a link that leads nowhere, which is text then. */
void fm_html_href(const struct html *html, const struct link *link);
void fm_html_table(const struct html *html, const struct fm_table *table);
void fm_html_source(struct html *html, const struct source *source);
void fm_html_drawing(struct html *html, const struct item *item);
void fm_html_flame(struct html *html, const struct item *item);
void fm_html_graph(struct html *html, const struct item *item);
void fm_html_chart(struct html *html, const struct item *item);
/* Whether one stands in the page's body; what it needs, in the page itself or as links. */
bool fm_html_has_chart(const struct fm_display *display);
void fm_html_chart_style(const struct html *html);
void fm_html_chart_scripts(const struct html *html);
/* JSON as data for scripts: "<" stands within texts only, line ends between values only. */
void fm_html_data(const struct html *html, const GString *json);
void fm_html_form(struct html *html, const struct item *item);
/* An id attribute, unless the id was given out before or cannot be one. */
void fm_html_id(struct html *html, const char *id);
