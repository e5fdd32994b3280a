/* SPDX-License-Identifier: Apache-2.0 */
/* A page of a recording in one of the formats, for the server and the commands. */
#pragma once

#include "pages/report.h"

enum fm_format {
    FM_FORMAT_HTML,
    FM_FORMAT_TEXT,
    FM_FORMAT_JSON,
    FM_FORMAT_CSV,
    FM_FORMAT_SVG,
    FM_FORMAT_DOT
};

/* Information on a page that is still incomplete. */
struct fm_render_incomplete {
    const char *text;
    unsigned stage;  /* pages made at different stages differ */
    double fraction; /* fraction of the current work */
    bool silent;     /* there is no event stream: the reader must reload */
};

/* HTML: data for a page that has its own address. */
struct fm_render_page {
    const char *path;  /* "deep": the same in other formats is deep.json, ... */
    const char *query; /* "?...", as in addresses */
    /* Address that announces the next profile of a running program; NULL = none. */
    const char *live_url;
    /* Address of a stream with news while the page is incomplete; NULL = none. */
    const char *events_url;
    bool has_picture;       /* available as SVG */
    bool has_graph;         /* available for Graphviz */
    bool keeps_preferences; /* its links contain the preferences of the request */
    bool no_navigation;
    const char *const *scripts, *const *styles; /* NULL-terminated; NULL = none */
    const char *const *modules;                 /* modules that the scripts need; unchanged */
    const char *body_class;
};

struct fm_render_options {
    enum fm_format format;
    const char *file;   /* the name that links in HTML carry; NULL: the recording's path */
    const char *notice; /* shown above the page; NULL = none */
    const struct fm_render_incomplete *incomplete; /* NULL: in the report's own words */
    bool inline_assets;                            /* HTML */
    bool grows;      /* HTML: its program runs, and "live?..." announces new versions */
    bool searchable; /* HTML: the server answers the search field */
    /* HTML; NULL: it has no address. Set by fm_render() */
    const struct fm_render_page *page;
    bool of_c; /* HTML: the profile's language; set by fm_render() */
    struct fm_text_options text;
};

/* Appends the page of a query to out. Errors: those of fm_pages_make(). */
FM_MUST_USE bool fm_render(const struct fm_open_profile *recording, const struct fm_query *query,
                           const struct fm_render_options *options, GString *out, GError **error);
/* As above, for a page that has been made. */
void fm_render_display(const struct fm_display *display, const struct fm_preferences *preferences,
                       const char *recording_name, const struct fm_render_options *options,
                       GString *out);

/* The ways at the top of each page of a recording, ended by label NULL; static. */
const struct fm_command_tab *fm_render_tabs(const struct fm_open_profile *recording);
const char *fm_format_content_type(enum fm_format format);
/* By the word of options and paths: "html", "txt" or "text", "json", "csv", "svg", "dot". */
bool fm_format_from_name(const char *name, enum fm_format *ret);
/* By the first type in an Accept header (NULL = none); HTML for others, as browsers name many. */
enum fm_format fm_format_from_accept(const char *accept);
