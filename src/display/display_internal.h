/* SPDX-License-Identifier: Apache-2.0 */
/* The tree itself, for the writers of this folder. Strings, links, lists and items are in the
 * page's arena; rows and cells in growing arrays, one pair for each table. */
#pragma once

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "display/display.h"

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks;
    char *at;
    size_t left;
};

/* A link as the writers need it: the query's two parts as plain text. Many links share one
 * preferences text, so writers may compare and cache by that pointer. */
struct link {
    const char *label;
    const char *command;
    const char *preferences; /* NULL: none */
    const char *url;         /* instead of a query; else NULL */
    uint32_t line;           /* line of the source on that page; 0 = none */
};

enum item_kind {
    ITEM_LIST,
    ITEM_HEADING,
    ITEM_TEXT,
    ITEM_BREAK,
    ITEM_VERBATIM,
    ITEM_LINK,
    ITEM_CONTROL,
    ITEM_SOURCE,
    ITEM_TABLE,
    ITEM_DRAWING, /* drawing_internal.h; HTML only, as are forms */
    ITEM_FORM,
    ITEM_FLAME, /* flame_internal.h; HTML and JSON */
    ITEM_GRAPH, /* graph_internal.h; HTML */
    ITEM_CHART, /* chart_internal.h; HTML */
};

struct fm_chart;
struct fm_drawing;
struct fm_flame;
struct fm_form;
struct fm_graph;

struct source {
    const char *file; /* may be NULL */
    const struct fm_source_line *lines;
    uint32_t count;
    const struct link *const *callees;   /* per line, as many as the line has */
    bool has_runs, has_times, has_bytes; /* one line at least */
};

struct item {
    struct item *next;
    enum item_kind kind;
    const char *id; /* id of controls, drawings and forms; may be NULL */
    union {
        const char *text;
        struct link link;
        struct fm_list *list;
        struct fm_table *table;
        struct source source;
        struct fm_drawing *drawing;
        struct fm_form *form;
        struct fm_flame *flame;
        struct fm_graph *graph;
        struct fm_chart *chart;
    };
};

struct fm_list {
    struct fm_display *display;
    enum fm_list_class list_class;
    const char *title, *id; /* may be NULL */
    /* Its items belong to the list around it, and are shown in developer mode only. */
    bool developer;
    bool folded;
    struct item *first, *last;
};

struct column {
    const char *title; /* may be NULL */
    const char *name;
    const struct link *link; /* may be NULL */
    const char *help;        /* may be NULL */
    unsigned group;
    uint8_t priority; /* 0 = not of a ranked table */
};

struct group {
    const char *title; /* may be NULL */
    enum fm_column_class column_class;
    enum fm_colour colour;
    unsigned first, count; /* columns */
};

enum cell_kind {
    CELL_EMPTY,
    CELL_INT,
    CELL_FLOAT,
    CELL_PERCENT,
    CELL_TIME,
    CELL_MEMORY,
    CELL_STRING,
    CELL_LINK,
    CELL_PATH,
    CELL_FOLDED, /* links below a title */
};

/* How a number is shown, where not in the usual way; of a path its depth in a tree. */
enum cell_form {
    FORM_USUAL,
    TIME_S = 1, /* CELL_TIME: in this unit, without its name */
    TIME_MS,
    TIME_US,
    TIME_SHORT,        /* three digits and the unit */
    PERCENT_SHARE = 1, /* one decimal */
    FLOAT_SHORT = 1,   /* three digits */
    INT_BYTES = 1,     /* scaled, with a unit */
    EMPTY_FEW = 1,     /* the word */
    EMPTY_UNKNOWN,     /* a dash: not recorded */
};

struct path_part {
    struct link link; /* command NULL: only its label */
    unsigned flags;   /* enum fm_path_flags */
    const char *full; /* NULL = nothing */
};
struct path {
    struct path_part *parts;
    unsigned count;
    const char *title; /* CELL_FOLDED */
};

#define FM_AT_MOST "\u2264"

struct cell {
    uint8_t kind;               /* enum cell_kind */
    uint8_t style;              /* bits of enum fm_style */
    uint8_t decimals;           /* CELL_MEMORY */
    uint8_t form;               /* enum cell_form */
    uint16_t span;              /* columns, at least 1 */
    uint8_t bar_own, bar_total; /* percent + 1; 0 = there is no bar */
    const char *full;           /* fm_cell_full(); NULL = nothing */
    const struct link *most;    /* fm_cell_at_most(); NULL = nothing */
    union {
        int64_t integer;
        double number; /* percent: 1.0 = all; time: seconds; memory: in its unit */
        const char *text;
        const struct link *link;
        const struct path *path;
    };
};

struct row {
    size_t first_cell;
    uint32_t cell_count;
    uint16_t role; /* index into roles; 0 = none */
    uint8_t kind;  /* enum fm_row_kind */
    bool developer, bold, soft;
    const char *text; /* FM_ROW_SECTION */
};

struct fm_table {
    struct fm_display *display;
    struct fm_table *next;
    const char *name; /* may be NULL */
    enum fm_table_box box;
    bool has_header; /* some group or column has a title */
    bool has_section;
    bool ranked;
    const char *caption; /* ranked: shown; may be NULL */
    unsigned width;      /* columns: defined, or used by the widest row */
    struct group *groups;
    unsigned group_count;
    struct column *columns;
    unsigned column_count;
    const char **roles;
    unsigned role_count;
    struct row *rows;
    size_t row_count, row_capacity;
    struct cell *cells;
    size_t cell_count, cell_capacity;
    unsigned row_width; /* columns of the last row so far */
};

enum fact_kind { FACT_INT, FACT_DOUBLE, FACT_STRING, FACT_BOOL, FACT_NULL };
struct fact {
    struct fact *next;
    const char *name;
    enum fact_kind kind;
    union {
        int64_t integer;
        double number;
        const char *text;
        bool flag;
    };
};

struct known_preferences {
    struct fm_preferences preferences;
    const char *text;
};

struct fm_display {
    struct arena arena;
    const char *title, *name, *incomplete, *notice; /* each may be NULL */
    bool fits; /* made to fit any window: nothing scrolls sideways */
    struct fact *first_fact, *last_fact;
    struct fm_list body, crumbs;
    struct fm_table *tables; /* all, newest first: they own arrays */
    GArray *known;           /* struct known_preferences */
    GString *scratch;
    fm_display_namer namer; /* NULL: links are written as given */
    const void *namer_user;
};

void *fm_arena_alloc(struct arena *arena, size_t size); /* 8-aligned, zeroed */
const char *fm_arena_copy(struct arena *arena, const char *text, size_t size);
void fm_arena_done(struct arena *arena);

struct item *fm_list_add_item(struct fm_list *to, enum item_kind kind);

struct cell *fm_table_add_cell(struct fm_table *table, enum cell_kind kind);
/* A path as text. */
void fm_append_path(GString *out, const struct path *path, unsigned depth);
/* The links of a folded cell as text: the title is for pages. */
void fm_append_folded(GString *out, const struct path *links);

/* Fills *ret with copies in the page's arena. */
void fm_display_link(struct fm_display *display, const struct fm_query *query, const char *label,
                     struct link *ret);

void fm_display_href(struct fm_display *display, const char *url, const char *label,
                     struct link *ret);

/* Whether all that is shown of the list is controls, and there is one. */
bool fm_list_is_controls(const struct fm_list *list, bool developer);
bool fm_item_is_shown(const struct item *item, bool developer);

static inline bool fm_row_is_shown(const struct row *row, bool developer)
{
    return developer || !row->developer;
}

/* A row's cells, NULL when it has none. */
static inline const struct cell *fm_row_cells(const struct fm_table *table, const struct row *row)
{
    return row->cell_count ? &table->cells[row->first_cell] : NULL;
}

/* The group of a column, NULL when the table does not define the column. */
static inline const struct group *fm_table_group_of(const struct fm_table *table, unsigned column)
{
    return column < table->column_count ? &table->groups[table->columns[column].group] : NULL;
}

/* Whether numbers of this class are right-aligned. */
bool fm_column_class_is_right(enum fm_column_class column_class);
/* The query of a link as plain text. */
void fm_link_append_query(GString *out, const struct link *link);
/* The JSON and CSV name of a column; columns that the table does not define are "column_3". */
void fm_column_append_name(GString *out, const struct fm_table *table, unsigned column);

/* Numbers, appended (number.c). */
void fm_append_int(GString *out, int64_t value);
void fm_append_percent(GString *out, double fraction);
/* A cell of a number kind; false when the cell holds none. */
bool fm_append_cell_number(GString *out, const struct cell *cell);
