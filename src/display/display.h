/* SPDX-License-Identifier: Apache-2.0 */
/* A page as a tree that knows no output format: headings, tables, links as queries. Reports build
 * it; html.c, text.c, json.c and csv.c write it. Only the writers know markup and escape.
 *
 * The tree owns everything below it; strings given to builders are copied. Builders return the
 * new item, borrowed from the tree. Nothing here fails. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"

struct fm_display; /* a page */
struct fm_list;    /* a list of items on it; the page's body is one */
struct fm_table;

struct fm_display *fm_display_new(const char *title); /* NULL = no title */
void fm_display_free(struct fm_display *display);
typedef struct fm_display FmDisplay;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmDisplay, fm_display_free)
struct fm_list *fm_display_body(struct fm_display *display);
/* The path to this page from enclosing ones: links, the page itself last as text. Pages only. */
struct fm_list *fm_display_crumbs(struct fm_display *display);

/* JSON's name of the page ("clique") and named facts for scripts, in addition to what is shown. */
void fm_display_set_name(struct fm_display *display, const char *name);
void fm_display_fact_int(struct fm_display *display, const char *name, int64_t value);
void fm_display_fact_double(struct fm_display *display, const char *name, double value);
void fm_display_fact_string(struct fm_display *display, const char *name, const char *value);
void fm_display_fact_bool(struct fm_display *display, const char *name, bool value);
/* The fact does not exist here, but on other pages of the kind. */
void fm_display_fact_null(struct fm_display *display, const char *name);
/* More is being computed: the page says so and is redrawn when it is known. */
void fm_display_set_incomplete(struct fm_display *display, const char *what);
/* Renames links: it changes a copy of each command; its name is in the buffer or permanent. Active
 * until set to NULL. */
#define FM_DISPLAY_NAME_BYTES 32
typedef bool (*fm_display_namer)(const void *user, struct fm_command *command,
                                 char buffer[FM_DISPLAY_NAME_BYTES]);
void fm_display_set_namer(struct fm_display *display, fm_display_namer namer, const void *user);
/* Shows a notice first, that the page is not the requested one. */
void fm_display_set_notice(struct fm_display *display, const char *text);

/* --- items --- */

enum fm_list_class {
    FM_LIST_PLAIN,
    FM_LIST_BULLETS,
    FM_LIST_HORIZONTAL,
    FM_LIST_HORIZONTAL_EXCEPT_TITLE,
    /* Its items, each a list of the next class, are columns in a wide window; elsewhere, and in
     * other formats, their items belong to the enclosing list. */
    FM_LIST_COLUMNS,
    FM_LIST_COLUMN,
};

/* An item added to a developer list is shown in developer mode only. */
struct fm_list *fm_add_list(struct fm_list *to, enum fm_list_class list_class, const char *title);
/* In HTML; for scripts and styles. */
void fm_list_set_id(struct fm_list *list, const char *id);
/* In HTML: collapsed until its title is clicked. It must have a title. */
void fm_list_fold(struct fm_list *list);
struct fm_list *fm_add_developer(struct fm_list *to);
void fm_add_heading(struct fm_list *to, const char *text);
void fm_add_text(struct fm_list *to, const char *text);
void fm_add_paragraph_break(struct fm_list *to);
void fm_add_verbatim(struct fm_list *to, const char *text);
/* id: stable identifier of the control in HTML ("box", "sort-callseqs-self"), may be NULL. */
void fm_add_link(struct fm_list *to, const struct fm_query *query, const char *label);
/* A link to a page outside of this recording; url is written unchanged, escaped for the format. */
void fm_add_href(struct fm_list *to, const char *url, const char *label);
void fm_add_control(struct fm_list *to, const struct fm_query *query, const char *label,
                    const char *id);

/* --- source code (for C recordings) --- */

/* A function that a line calls. */
struct fm_source_callee {
    const char *name;
    struct fm_query query; /* borrows its name */
};
#define FM_SOURCE_CALLEES_MAX 6
struct fm_source_line {
    uint32_t line;
    const char *text;                   /* NULL when the source is not at hand */
    int64_t calls;                      /* negative = no code on this line */
    double self_percent, total_percent; /* negative = not known; of the calls made there */
    bool time_known, bytes_known;
    double line_seconds;  /* time of the line's own code */
    double below_seconds; /* time of the calls made there; shown beside it where it is known */
    int64_t bytes;        /* allocated by its calls and below */
    unsigned heat;        /* its part of the whole, 1 to 5; 0 = no cost */
    bool hottest;         /* a script scrolls the listing to it */
    bool runs_known;      /* coverage: how often the code on the line ran */
    uint64_t runs;
    const struct fm_source_callee *callees; /* links behind the text; NULL = none */
    unsigned callee_count;                  /* at most FM_SOURCE_CALLEES_MAX */
};
/* The columns of runs, of time and of bytes are shown when one line has a known number of them. */
void fm_add_source(struct fm_list *to, const char *file, const struct fm_source_line *lines,
                   uint32_t count);

/* --- tables --- */

enum fm_table_box { FM_BOX_NEVER, FM_BOX_ALWAYS, FM_BOX_IF_PREFERRED };
enum fm_colour { FM_COLOUR_NEVER, FM_COLOUR_ALWAYS, FM_COLOUR_IF_PREFERRED };
enum fm_column_class {
    FM_COLUMN_DEFAULT,
    FM_COLUMN_ALLOCATIONS,
    FM_COLUMN_CALLSEQS,
    FM_COLUMN_CLIQUE,
    FM_COLUMN_FIELD_NAME,
    FM_COLUMN_MEMORY,
    FM_COLUMN_MODULE_NAME,
    FM_COLUMN_NUMBER,
    FM_COLUMN_ORDINAL_RANK,
    FM_COLUMN_PORT_COUNTS,
    FM_COLUMN_PROC,
    FM_COLUMN_SOURCE_CONTEXT,
    FM_COLUMN_TICKS_AND_TIMES,
};

struct fm_table *fm_add_table(struct fm_list *to, enum fm_table_box box, const char *name);
/* Header groups: first the group, then its columns. A group of one untitled column shows one
 * title over both header rows. A table none of whose groups and columns has a title shows no
 * header (key and value tables); its columns still want names. name: the JSON and CSV field, with
 * its unit ("callseqs_self_count"), unique in the table; query: the heading is a link that sorts,
 * may be NULL. */
void fm_table_group(struct fm_table *table, const char *title, enum fm_column_class column_class,
                    enum fm_colour colour);
void fm_table_column(struct fm_table *table, const char *title, const char *name,
                     const struct fm_query *query);

/* Groups of one column each, as in most tables: the title spans both header rows. columns: count of
 * them, copied. */
struct fm_column_head {
    const char *title, *name;
    enum fm_column_class column_class;
};
void fm_table_columns(struct fm_table *table, const struct fm_column_head *columns, size_t count,
                      enum fm_colour colour);

enum fm_row_kind { FM_ROW_DATA, FM_ROW_SEPARATOR, FM_ROW_SECTION };
/* Begins a row; the cells that follow belong to it. section names the row's role in JSON
 * ("ancestor", "proc", "call_site"), may be NULL. */
void fm_table_row(struct fm_table *table, const char *role, bool developer);
void fm_table_separator(struct fm_table *table);
void fm_table_section(struct fm_table *table, const char *text, bool bold);

enum fm_style {
    FM_STYLE_PLAIN = 0,
    FM_STYLE_BOLD = 1,
    FM_STYLE_ITALIC = 2,
    FM_STYLE_UNDERLINE = 4
};
enum fm_memory_unit { FM_UNIT_WORDS, FM_UNIT_BYTES };

void fm_cell_empty(struct fm_table *table);
void fm_cell_int(struct fm_table *table, int64_t value);
/* "1,234 + MORE", as a string also in JSON: a further amount is not known. */
void fm_cell_int_and(struct fm_table *table, int64_t value, const char *more);
void fm_cell_float(struct fm_table *table, double value);
void fm_cell_percent(struct fm_table *table, double fraction); /* 1.0 = all */
void fm_cell_time(struct fm_table *table, double seconds);
/* words: amount in words; shown as words, or as bytes = words * word_size. */
void fm_cell_memory(struct fm_table *table, double words, unsigned word_size,
                    enum fm_memory_unit unit, unsigned decimals);
void fm_cell_string(struct fm_table *table, const char *text, unsigned style);
void fm_cell_link(struct fm_table *table, const struct fm_query *query, const char *label,
                  unsigned style);
/* As fm_add_href(). */
void fm_cell_href(struct fm_table *table, const char *url, const char *label, unsigned style);
/* Links that a page shows when the title is clicked; other formats have all of them. count > 0. */
struct fm_href {
    const char *url, *label; /* as of fm_add_href() */
};
void fm_cell_folded(struct fm_table *table, const char *title, const struct fm_href *links,
                    unsigned count);
/* More about the cell just added, shown where the reader points at it; in JSON a field of its own,
 * the column's name with "_full" behind. NULL = nothing. */
void fm_cell_full(struct fm_table *table, const char *text);
/* After a cell: its number is unknown and at most this one, which is that of the page to which
 * query links. why: a sentence. In JSON a member named like the column with "_at_most", whose value
 * is the query. NULL: there is no such page; in JSON `true`. */
void fm_cell_at_most(struct fm_table *table, const struct fm_query *query, const char *why);
/* The cell just added spans this many columns. */
void fm_cell_span(struct fm_table *table, unsigned columns);

/* --- writers --- */

/* The page in another format, at another address. */
struct fm_html_alternate {
    const char *label; /* "JSON" */
    const char *type;  /* "application/json" */
    const char *url;   /* percent-encoded */
};
/* Pages that are read without a server, as files or in one file: which queries have one. */
struct fm_html_kept {
    /* The address of a query's page; NULL = it is not kept, and links to it become text.
     * preferences: NULL = none. The address is borrowed until the next call. */
    const char *(*address)(void *user, const char *command, const char *preferences);
    void *user;
};
struct fm_html_options {
    const char *recording_name; /* shown at the top and in the page title; may be NULL */
    const char *url_prefix;     /* links are url_prefix + encoded query + url_suffix */
    const char *url_suffix;     /* e.g. "&/data/Deep.data"; percent-encoded by the caller */
    const char *asset_prefix;   /* prefix of style.css and scripts: "/assets/"; NULL = none */
    bool inline_assets;         /* put the stylesheet into the page (CGI, saved pages) */
    bool no_navigation;         /* the page belongs to no recording: no tabs */
    const struct fm_command_tab *tabs; /* NULL = those of a Mercury profile */
    bool keep_preferences;             /* the tabs carry the preferences */
    const char *search_file; /* the recording's file, for a field that searches it: a form sends it
                                to "find", as fields "text" and "file"; NULL = no field */
    const char *home_url;    /* the list of recordings, behind the program's name; or NULL */
    /* More scripts (modules) and stylesheets, below asset_prefix; ended by NULL. */
    const char *const *scripts, *const *styles;
    const char *const *modules; /* that those scripts ask for: fetched with them; NULL = none */
    const char *body_class;     /* NULL = none */
    const struct fm_html_alternate *alternates; /* linked at the bottom; ended by label NULL */
    const struct fm_html_kept *kept; /* instead of url_prefix and url_suffix; may be NULL */
    const char *events_url;          /* stream of an incomplete page, for its script; or NULL */
    const char *live_url; /* stream of a running program, for the notice's script; or NULL */
    unsigned stage;       /* stage of reading, as events have it: another number, another page */
    double fraction;      /* 0 to 1, of what is being computed */
};
struct fm_text_options {
    unsigned width; /* columns of the terminal, 0 = unlimited */
    bool colour;
};

/* A page among several in one document. */
struct fm_html_part {
    const struct fm_display *display;
    const struct fm_preferences *preferences;
    const char *id; /* id of its section: links to it are "#ID" */
};

/* Each appends to out. Preferences decide boxes, colours and developer items. */
void fm_html_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   const struct fm_html_options *options, GString *out);
/* All of them as one document, the first on top; at least one. */
void fm_html_write_parts(const struct fm_html_part *parts, unsigned count,
                         const struct fm_html_options *options, GString *out);
void fm_text_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   const struct fm_text_options *options, GString *out);
void fm_json_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   GString *out);
/* All tables of the page; one after another with a blank line between when there are several. */
void fm_csv_write(const struct fm_display *display, const struct fm_preferences *preferences,
                  GString *out);

/* Numbers as the text forms show them (number.c): "1,234", "12.35", "10.0ms". Caller frees. */
char *fm_format_int(int64_t value);
/* "≤ 90 ms" for an upper bound, else the text: as fm_cell_at_most() marks cells. */
char *fm_format_at_most(const char *text, bool at_most);
char *fm_format_float(double value, unsigned decimals);
char *fm_format_percent(double fraction);
char *fm_format_time(double seconds);
