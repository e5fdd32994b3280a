/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces that all pages share. A page is made in one go by one thread: report.c fills in
 * struct fm_page, the page's function adds to its body. */
#pragma once

#include <assert.h>
#include <inttypes.h>

#include "body/var_use.h"
#include "report/report.h"

/* --- the page being made (report.c) --- */

struct fm_page {
    const struct fm_recording *recording;
    const struct fm_profile *profile;
    const struct fm_analysis *analysis;
    const struct fm_words *words;
    struct fm_query query;        /* as asked, always with preferences; borrows its module name */
    bool links_carry_preferences; /* the request had preferences: ordinary links keep them */
    const char *module;           /* names of this module stand unqualified; NULL = none do */
    struct fm_display *display;
    struct fm_list *body;
    char focus[32]; /* of trees and flame graphs: "all", "clique/N" or "proc/N"; the command's name
                     */
};

typedef bool (*fm_page_function)(struct fm_page *page, GError **error);

/* Sets the display's JSON name and title. Takes the title. */
void fm_page_begin(struct fm_page *page, const char *name, char *title);
/* A link from this page; it owns nothing, so it needs no clearing. */
struct fm_query fm_page_link(const struct fm_page *page, enum fm_command_id id, uint32_t number);
/* The same page with other preferences, for controls and headings that sort. */
struct fm_query fm_page_same(const struct fm_page *page);
/* The same page with another command: with preferences only if the request had some. */
struct fm_query fm_page_like(const struct fm_page *page);
/* FM_ERROR_NOT_FOUND unless 1 <= number <= count; what: "proc_static". */
FM_MUST_USE bool fm_page_check_id(const struct fm_page *page, const char *what, uint32_t number,
                                  uint32_t count, GError **error);
/* With few ticks the times say nothing: pages then lead with call sequence numbers. */
bool fm_times_tell(const struct fm_profile *profile);
FM_MUST_USE bool fm_page_check_module(const struct fm_page *page, const struct fm_module **ret,
                                      GError **error);

/* --- pages of what is known so far --- */

/* The table of the menu: what the file's header says, and what has been counted (report_menu.c). */
void fm_add_summary(struct fm_page *page);
/* Notes, phases and snapshots of a C program's recording (report_facts.c). */
void fm_add_facts(struct fm_page *page);
/* Instead of a page that cannot be made yet (report_unfinished.c). */
bool fm_report_unfinished(struct fm_page *page, GError **error);

/* --- words of the two flavours (words.c) --- */

struct fm_words {
    const char *proc, *procs, *proc_title; /* "procedure", "procedures", "Procedure" */
    const char *module, *modules, *module_title, *modules_title;
    const char *runtime;        /* who calls the program's entry: "the runtime" */
    const char *runtime_module; /* not listed as a module of the program */
    const char *site_kinds[FM_SITE_KINDS];
    const char *callseqs_title; /* heading of the columns */
    const char *callseqs_order; /* as in "By self callseqs" */
    const char *callseqs_kind;  /* as in "ordered by total call sequence numbers" */
    const char *words_kind;     /* "words allocated" */
    const char *excps_title;
    const char *qualify; /* "module qualify predicate and function names" */
    const char *higher_order_calls;
    const char *explore_root, *explore_modules;
    /* Rows of the menu: csds, pds, csss, pss. */
    const char *csd_count, *pd_count, *css_count, *ps_count;
    bool has_fails; /* fails and redos exist */
};
const struct fm_words *fm_words_of(enum fm_flavour flavour);
const char *fm_words_cost_kind(const struct fm_words *words, enum fm_query_cost kind);

/* --- names and places (names.c) --- */

/* As the page's preferences qualify it. Belongs to the profile. */
const char *fm_name_ps(const struct fm_page *page, uint32_t ps);
/* All of a name that is shown shortened, for fm_cell_full(); NULL = nothing is left out. */
const char *fm_full_name_ps(const struct fm_page *page, uint32_t ps);
const char *fm_css_file(const struct fm_profile *profile, uint32_t css);
/* What is said of calls whose callee is not named by the call site: "higher order call"; C names
 * who is called or calls back, where the recording knows. The caller frees. */
char *fm_name_site(const struct fm_page *page, uint32_t css, bool called);
/* "file:line"; C shows only the last part of the file's path. The caller frees. */
char *fm_name_place(const struct fm_page *page, const char *file, uint32_t line);

/* --- performance columns (perf_columns.c) --- */

enum fm_perf_value {
    FM_PERF_CALLS,
    FM_PERF_PORT,
    FM_PERF_COUNT,
    FM_PERF_PERCENT,
    FM_PERF_COUNT_PER_CALL,
    FM_PERF_TIME,
    FM_PERF_TIME_PER_CALL,
    FM_PERF_MEMORY,
    FM_PERF_MEMORY_PER_CALL,
};

struct fm_perf_column {
    enum fm_perf_value value;
    enum fm_measure_id measure;
    bool total;        /* own + descendants */
    const char *group; /* heading; equal neighbours form one group */
    enum fm_column_class column_class;
    const char *title;
    char name[64];
    bool sorts; /* the heading is a link that sorts by order */
    struct fm_cost_order order;
};

#define FM_PERF_COLUMNS_MAX 72
struct fm_perf {
    struct fm_perf_column columns[FM_PERF_COLUMNS_MAX];
    unsigned count;
    char further_titles[FM_MEASURES_MAX][32]; /* "Freed bytes" */
};
/* Which columns this page shows, by its preferences; totals: also own + descendants. */
void fm_perf_init(struct fm_perf *perf, const struct fm_page *page, bool totals);
void fm_perf_header(const struct fm_perf *perf, const struct fm_page *page, struct fm_table *table);
void fm_perf_cells(const struct fm_perf *perf, const struct fm_page *page, struct fm_table *table,
                   const struct fm_cost *cost);
/* Totals are left empty: of calls that have none. */
void fm_perf_self_cells(const struct fm_perf *perf, const struct fm_page *page,
                        struct fm_table *table, const struct fm_cost *cost);
void fm_perf_empty_cells(const struct fm_perf *perf, struct fm_table *table);

/* --- recursion: from what callers paid to what a procedure cost (recursion.c) --- */

struct fm_recursion_row {
    const char *role;
    unsigned before; /* empty cells before the label */
    const char *label;
    unsigned style;
    const struct fm_cost *cost;
};
void fm_recursion_row(struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                      const struct fm_recursion_row *row);
/* Nothing when the others cost nothing. */
void fm_recursion_others_row(struct fm_page *page, struct fm_table *table,
                             const struct fm_perf *perf, unsigned before,
                             const struct fm_callers_sum *sum);
/* The sentence above the table; where: "below the callers". */
void fm_recursion_text(struct fm_page *page, const char *where);

/* --- rows and their order (order.c) --- */

struct fm_row {
    struct fm_cost cost;
    const char *file; /* order by context: file, then line */
    uint32_t line;
    const char *name;        /* order by name; borrowed */
    const char *full;        /* fm_full_name_ps() of what is named; borrowed */
    enum fm_command_id link; /* where the name leads, with link_number; FM_CMD_COUNT = nowhere */
    uint32_t link_number;
    uint32_t id; /* what the page wants to remember: a ps, css, index */
};
/* Sorts by the page's order preference; fallback, when not NULL, replaces orders that are not by
 * cost. Cost: most expensive first, equal rows in reverse order of input; else stable. */
void fm_rows_sort(const struct fm_page *page, struct fm_row *rows, uint32_t count,
                  const struct fm_cost_order *fallback);
/* Most expensive first: negative when a comes before b. Time that is equal is decided by call
 * sequence numbers. */
int fm_cost_compare(const struct fm_cost *a, const struct fm_cost *b,
                    const struct fm_cost_order *order);
/* What that comparison looks at first and second. */
void fm_cost_key(const struct fm_cost *cost, const struct fm_cost_order *order, double *ret_value,
                 double *ret_tie);
/* Sort by this when nothing is asked for: total call sequence numbers. */
extern const struct fm_cost_order fm_default_cost_order;
void fm_preferences_set_order(struct fm_preferences *preferences, enum fm_order order,
                              const struct fm_cost_order *cost);
/* A cell with the row's name, as a link when it leads somewhere. */
void fm_row_name_cell(const struct fm_page *page, struct fm_table *table, const struct fm_row *row,
                      unsigned style);
/* Costs that pages leave out by default: never called, or, for a file that ends in the middle of
 * things, entered but never left and without any cost. */
bool fm_cost_is_hidden(const struct fm_cost *cost);

/* --- tables of procedures (proc_table.c): module, top_procs --- */

/* sorted: the procedures stand in the order that the preferences ask for already. */
void fm_proc_table(struct fm_page *page, const char *name, const uint32_t *ps, uint32_t count,
                   bool sorted);

/* --- call sites with their callees (sites.c): clique, proc --- */

struct fm_site {
    struct fm_row row;
    char *label;            /* owned; what the row shows as its name */
    struct fm_row *callees; /* owned; NULL for a normal call */
    uint32_t callee_count;
    bool called;
};
void fm_sites_free(struct fm_site *sites, uint32_t count);
/* Sorts sites and their callees and adds their rows: location, name, performance. */
void fm_sites_print(const struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                    struct fm_site *sites, uint32_t count);

/* --- controls (controls.c) --- */

/* A list of controls that is begun when the first one is offered. */
struct fm_controls {
    struct fm_page *page;
    const char *title;
    struct fm_list *in; /* NULL = the page's body */
    struct fm_list *list;
};
/* Adds the control unless it leads to the page that we are on. */
void fm_controls_offer(struct fm_controls *controls, const struct fm_query *query,
                       const char *label, const char *id);
void fm_controls_ancestors(struct fm_page *page);
void fm_controls_inactive_call_sites(struct fm_page *page);
void fm_controls_inactive_procs(struct fm_page *page);
void fm_controls_inactive_modules(struct fm_page *page);
void fm_controls_qualify(struct fm_page *page);
void fm_controls_fields(struct fm_page *page);
void fm_controls_format(struct fm_page *page);
void fm_controls_sort(struct fm_page *page);
void fm_controls_summarize(struct fm_page *page);
void fm_controls_proc_reports(struct fm_page *page, uint32_t ps);
void fm_controls_clique_reports(struct fm_page *page, uint32_t clique);
void fm_controls_general(struct fm_page *page);
/* The switch of the measure: the same page by another one. */
void fm_add_measures(struct fm_page *page, enum fm_query_measure now);
void fm_controls_general_options(struct fm_page *page);
/* Group by call site, procedure, module, clique; proc and proc_callers pages. */
void fm_controls_grouping(struct fm_page *page, const char *title, uint32_t ps, uint32_t bunch_size,
                          bool contour);

/* --- tables of one node's fields (dump.c) --- */

struct fm_table *fm_dump_table(struct fm_page *page, const char *name);
/* Each adds a fact, and a row unless label is NULL. */
void fm_dump_string(struct fm_page *page, struct fm_table *table, const char *name,
                    const char *label, const char *value);
void fm_dump_int(struct fm_page *page, struct fm_table *table, const char *name, const char *label,
                 int64_t value);
void fm_dump_link(struct fm_page *page, struct fm_table *table, const char *name, const char *label,
                  enum fm_command_id dump, uint32_t id);
/* A cell with an id that leads to its dump. */
void fm_dump_id_cell(struct fm_page *page, struct fm_table *table, enum fm_command_id dump,
                     uint32_t id);

/* --- source text of C procedures (source.c) --- */

struct fm_source_index; /* procedures by place, to know where one ends */
struct fm_source_index *fm_source_index_new(const struct fm_profile *profile);
void fm_source_index_free(struct fm_source_index *index);
/* pd 0: over all contexts, else in that one. */
void fm_source_add(struct fm_page *page, uint32_t ps, uint32_t pd);
/* Counts of the coverage points of ps, likewise; g_free(). */
uint64_t *fm_source_point_counts(const struct fm_page *page, uint32_t ps, uint32_t pd);
/* proc_static_coverage and proc_dynamic_coverage of C profiles. */
bool fm_report_source_coverage(struct fm_page *page, GError **error);

/* --- bodies of Mercury procedures (bodies.c) --- */

/* The pile of bodies of the recording; fm_bodies_free(). */
struct fm_bodies *fm_page_bodies(const struct fm_page *page);
/* Puts the recording's name, and that it lacks what the page needs, before an error; false. */
bool fm_page_fail(const struct fm_page *page, GError **error);
/* No page without bodies: false with FM_ERROR_UNAVAILABLE. C programs have none and need none. */
FM_MUST_USE bool fm_page_check_bodies(const struct fm_page *page, GError **error);
/* There is something to show: a body, and counts for it. */
bool fm_body_has_coverage(const struct fm_page *page, uint32_t ps);
/* A procedure as text, with the counts before each goal when coverage is not NULL. */
void fm_body_add_text(struct fm_page *page, uint32_t ps, const struct fm_body *body,
                      const struct fm_coverage *coverage);
/* The body, with counts where there are some, on the procedure's page; nothing without a body. */
void fm_body_add(struct fm_page *page, uint32_t ps);

/* --- pages, one file each: report_<first word of the command>.c --- */

bool fm_report_menu(struct fm_page *page, GError **error);
bool fm_report_about(struct fm_page *page, GError **error);
bool fm_report_recursions(struct fm_page *page, GError **error);
bool fm_report_flame(struct fm_page *page, GError **error);
bool fm_report_tree(struct fm_page *page, GError **error);
bool fm_report_find(struct fm_page *page, GError **error);
/* Instead of a page that is about one of several (report_find.c). */
struct fm_subject;
bool fm_report_which(struct fm_page *page, const struct fm_subject *subject);
bool fm_report_root(struct fm_page *page, GError **error);
bool fm_report_clique(struct fm_page *page, GError **error);
void fm_clique_page(struct fm_page *page, uint32_t clique); /* root's page is a clique's too */
bool fm_report_proc(struct fm_page *page, GError **error);
bool fm_report_proc_callers(struct fm_page *page, GError **error);
bool fm_report_program_modules(struct fm_page *page, GError **error);
bool fm_report_module(struct fm_page *page, GError **error);
bool fm_report_module_getter_setters(struct fm_page *page, GError **error);
bool fm_report_top_procs(struct fm_page *page, GError **error);
bool fm_report_module_rep(struct fm_page *page, GError **error);
bool fm_report_body_coverage(struct fm_page *page, GError **error);
bool fm_report_clique_rc(struct fm_page *page, GError **error);
bool fm_report_recursion_type_freq(struct fm_page *page, GError **error);
bool fm_report_var_use(struct fm_page *page, GError **error);
bool fm_report_dump_proc_static(struct fm_page *page, GError **error);
bool fm_report_dump_proc_dynamic(struct fm_page *page, GError **error);
bool fm_report_dump_call_site_static(struct fm_page *page, GError **error);
bool fm_report_dump_call_site_dynamic(struct fm_page *page, GError **error);
bool fm_report_dump_raw_clique(struct fm_page *page, GError **error);
