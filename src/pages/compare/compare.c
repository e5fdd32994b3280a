/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/compare.h"
#include "pages/compare/difference.h"
#include "pages/compare/runs.h"
#include "pages/compare/times.h"

#include <math.h>
#include <string.h>

/* maximum number of a path's innermost functions */
#define PATH_MAX_STEPS 8u
#define MANY_MEMBERS 10u
#define INLINED_NAMED 5u

struct view {
    const struct fm_compare *c;
    const struct fm_compare_page_options *options;
    struct fm_causes causes;
    struct fm_display *display;
    struct fm_list *body;
    struct fm_table *table;
};

static const struct fm_profile *graph(const struct view *v)
{
    return v->c->side[FM_BEFORE];
}

/* --- measures --- */

static void cell_value(struct view *v, enum fm_measure_id measure, double value)
{
    value *= fm_compare_scale(v->c, measure);
    if (measure == FM_QUANTA && graph(v)->ticks_per_second > 0)
        fm_cell_time(v->table, value);
    else
        fm_cell_int(v->table, llround(value));
}

/* --- totals --- */

static void add_total(struct view *v, enum fm_measure_id measure)
{
    double before = (double)fm_compare_total(v->c, measure, FM_BEFORE);
    double after = (double)fm_compare_total(v->c, measure, FM_AFTER);
    double scale = fm_compare_scale(v->c, measure), clock[FM_SIDES];
    bool is_clock = measure == FM_QUANTA &&
                    fm_timing_mean_seconds(v->c, FM_BEFORE, &clock[FM_BEFORE]) &&
                    fm_timing_mean_seconds(v->c, FM_AFTER, &clock[FM_AFTER]);
    if (is_clock) {
        before = clock[FM_BEFORE] / scale;
        after = clock[FM_AFTER] / scale;
    }
    fm_table_row(v->table, "total", false);
    fm_cell_string(v->table, fm_compare_measure_words(v->c, measure), FM_STYLE_PLAIN);
    cell_value(v, measure, before);
    cell_value(v, measure, after);
    cell_value(v, measure, after - before);
    if (before > 0)
        fm_cell_percent(v->table, after / before - 1);
    else if (after > 0)
        fm_cell_string(v->table, "new", FM_STYLE_PLAIN);
    else
        fm_cell_empty(v->table);
    fm_cell_string(v->table, is_clock ? "clock" : fm_compare_certainty(v->c, measure),
                   FM_STYLE_PLAIN);
}

static void add_totals(struct view *v)
{
    v->table = fm_add_table(v->body, FM_BOX_IF_PREFERRED, "totals");
    static const char *const columns[][2] = {
        {"Measure", "measure"},       {"Before", "before"},         {"After", "after"},
        {"Difference", "difference"}, {"Change", "change_percent"}, {"Certain", "certain"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(columns); i++) {
        fm_table_group(v->table, columns[i][0],
                       i == 0 || i == 5 ? FM_COLUMN_FIELD_NAME : FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
        fm_table_column(v->table, NULL, columns[i][1], NULL);
    }
    if (fm_compare_has(v->c, FM_COMPARE_CALLS))
        add_total(v, FM_COMPARE_CALLS);
    for (unsigned m = FM_QUANTA; m < graph(v)->measure_count; m++) {
        if (m != FM_CALLSEQS && fm_compare_has(v->c, (enum fm_measure_id)m))
            add_total(v, (enum fm_measure_id)m);
    }
}

/* --- causes --- */

static const char *kind_name(enum fm_cause_kind kind)
{
    static const char *const names[] = {"calls",    "self",     "appeared",
                                        "vanished", "replaced", "inlined"};
    return names[kind];
}

static void cause_header(struct view *v)
{
    static const struct fm_column_head columns[] = {
        {"Difference", "difference", FM_COLUMN_NUMBER},
        {"Share", "share_percent", FM_COLUMN_NUMBER},
        {"What", "what", FM_COLUMN_PROC},
        {"Kind", "kind", FM_COLUMN_FIELD_NAME},
        {"Source", "source", FM_COLUMN_SOURCE_CONTEXT},
        {"Calls before", "calls_before_count", FM_COLUMN_NUMBER},
        {"Calls after", "calls_after_count", FM_COLUMN_NUMBER},
        {"Before", "before", FM_COLUMN_NUMBER},
        {"After", "after", FM_COLUMN_NUMBER},
        {"Contexts", "contexts_count", FM_COLUMN_NUMBER},
    };
    v->table = fm_add_table(v->body, FM_BOX_IF_PREFERRED, "causes");
    fm_table_columns(v->table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
}

static void context_cells(struct view *v, const struct fm_cause_context *context)
{
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        context->calls[side] >= 0 ? fm_cell_int(v->table, context->calls[side])
                                  : fm_cell_empty(v->table);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        cell_value(v, v->causes.measure, (double)context->value[side]);
        if (context->at_most[side])
            fm_cell_at_most(v->table, NULL, "Of its recursion: its own was not recorded");
    }
}

/* The sums of a cause, then the paths to the largest of its contexts. */
static void add_cause(struct view *v, const struct fm_cause *cause)
{
    g_autofree char *what = fm_cause_what(v->c, cause), *place = fm_cause_place(v->c, cause);
    struct fm_cause_context sum = {0};
    const struct fm_cause_context *contexts = (void *)cause->contexts->data;
    for (guint i = 0; i < cause->contexts->len; i++) {
        for (int side = FM_BEFORE; side < FM_SIDES; side++) {
            sum.calls[side] = sum.calls[side] < 0 || contexts[i].calls[side] < 0
                                  ? -1
                                  : sum.calls[side] + contexts[i].calls[side];
            sum.value[side] += contexts[i].value[side];
            sum.at_most[side] = sum.at_most[side] || contexts[i].at_most[side];
        }
    }
    fm_table_row(v->table, "cause", false);
    cell_value(v, v->causes.measure, cause->net);
    if (v->causes.difference != 0)
        fm_cell_percent(v->table, cause->net / v->causes.difference);
    else
        fm_cell_empty(v->table);
    fm_cell_string(v->table, what, FM_STYLE_BOLD);
    fm_cell_string(v->table, kind_name(cause->kind), FM_STYLE_PLAIN);
    fm_cell_string(v->table, place, FM_STYLE_PLAIN);
    context_cells(v, &sum);
    fm_cell_int(v->table, cause->contexts->len);
    for (guint i = 0; i < MIN(cause->contexts->len, v->options->contexts_max); i++) {
        g_autofree char *path = fm_compare_path(v->c, contexts[i].pd, PATH_MAX_STEPS);
        fm_table_row(v->table, "context", false);
        cell_value(v, v->causes.measure, contexts[i].net);
        fm_cell_empty(v->table);
        fm_cell_string(v->table, path, FM_STYLE_PLAIN);
        fm_cell_empty(v->table);
        fm_cell_empty(v->table);
        context_cells(v, &contexts[i]);
    }
}

static bool has_large_recursion(const struct view *v, const struct fm_cause *cause)
{
    uint32_t pd = g_array_index(cause->contexts, struct fm_cause_context, 0).pd;
    return v->c->clique_size[pd] > MANY_MEMBERS;
}

static void add_rest(struct view *v, guint from, double more, double less)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (from == 0)
        return;
    g_string_printf(text, "%u smaller causes: +%.0f −%.0f", from, more, less);
    fm_add_text(v->body, text->str);
}

/* Says which calls one build does not count. */
static void add_inlined(struct view *v)
{
    g_autoptr(GString) names = g_string_new(NULL);
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint count = 0;
    for (guint i = 0; i < v->causes.causes->len; i++) {
        const struct fm_cause *cause = &g_array_index(v->causes.causes, struct fm_cause, i);
        if (cause->kind != FM_CAUSE_INLINED)
            continue;
        char *what = fm_cause_what(v->c, cause);
        if (!g_hash_table_add(told, what)) /* one caller, two lines */
            continue;
        if (count++ < INLINED_NAMED)
            g_string_append_printf(names, "%s%s", names->len > 0 ? "; " : "", what);
    }
    if (count == 0)
        return;
    g_autofree char *sum = fm_format_int(llround(v->causes.not_told));
    g_autofree char *text = g_strdup_printf(
        "%s of the difference is no change of the program: the builds do not inline the same "
        "functions, and calls of inlined bodies are not counted (%s%s). Recorded with "
        "--grade=full, both count every call.",
        sum, names->str, count > INLINED_NAMED ? "; …" : "");
    fm_add_text(v->body, text);
}

/* Adds the differences that no row shows. */
static void add_not_told(struct view *v)
{
    if (!v->causes.sampled) {
        add_inlined(v);
        return;
    }
    double scale = fm_compare_scale(v->c, v->causes.measure);
    bool timed = v->causes.measure == FM_QUANTA && graph(v)->ticks_per_second > 0;
    if (v->causes.not_told == 0)
        return;
    g_autofree char *sum = timed ? fm_format_time(v->causes.not_told * scale)
                                 : fm_format_int(llround(v->causes.not_told * scale));
    g_autofree char *text = g_strdup_printf(
        "All other differences together: %s, each of which chance may explain.", sum);
    fm_add_text(v->body, text);
}

static void add_none(struct view *v)
{
    fm_add_text(v->body, v->causes.sampled           ? "No single cause is significant."
                         : v->causes.causes->len > 0 ? "Nothing differs of what both count."
                                                     : "Nothing differs.");
    add_not_told(v);
}

static void add_times(struct view *v)
{
    const struct fm_times_options options = {.rows_max = v->options->causes_max,
                                             .numbers = v->options->numbers};
    struct fm_timing timing;
    if (!fm_timing_init(&timing, v->c, v->options->by))
        return;
    fm_times_add(v->display, v->body, &timing, &options);
    fm_timing_done(&timing);
}

static void add_causes(struct view *v)
{
    g_autofree char *title = g_strdup_printf("What explains the difference of %s",
                                             fm_compare_measure_words(v->c, v->causes.measure));
    double more = 0, less = 0, shown = 0;
    guint rest = 0, rows = 0;
    bool large = false;
    if (!fm_compare_has(v->c, v->causes.measure)) {
        fm_add_text(v->body, "There is nothing to compare: no measure is known of both.");
        return;
    }
    add_times(v);
    fm_add_heading(v->body, title);
    for (guint i = 0; i < v->causes.causes->len; i++)
        rows += g_array_index(v->causes.causes, struct fm_cause, i).told;
    if (rows == 0) {
        add_none(v);
        return;
    }
    cause_header(v);
    for (guint i = 0; i < rows; i++) {
        const struct fm_cause *cause = &g_array_index(v->causes.causes, struct fm_cause, i);
        if (i < v->options->causes_max && shown < 0.99 * v->causes.sum) {
            add_cause(v, cause);
            shown += fabs(cause->net);
            large = large || has_large_recursion(v, cause);
            continue;
        }
        rest++;
        *(cause->net > 0 ? &more : &less) +=
            fabs(cause->net) * fm_compare_scale(v->c, v->causes.measure);
    }
    add_rest(v, rest, more, less);
    add_not_told(v);
    if (large)
        fm_add_text(v->body,
                    "Some rows lie in a recursion of many functions, where a context is an "
                    "average over all depths: they name the functions of the recursion, not "
                    "what made it run.");
}

/* --- functions treated as equal --- */

static void add_matches(struct view *v)
{
    static const char *const how[] = {
        "", "", "", "signature changed", "moved to another file", "renamed?"};
    bool any = false;
    for (guint i = 0; i < v->c->matches->len; i++) {
        const struct fm_match *match = &g_array_index(v->c->matches, struct fm_match, i);
        if (match->how < FM_MATCHED_SIGNATURE)
            continue;
        if (!any) {
            static const char *const columns[][2] = {{"Before", "before"},
                                                     {"After", "after"},
                                                     {"How", "how"},
                                                     {"Similar", "similarity_percent"}};
            fm_add_heading(v->body, "Functions taken for one another");
            v->table = fm_add_table(v->body, FM_BOX_IF_PREFERRED, "renames");
            for (unsigned c = 0; c < G_N_ELEMENTS(columns); c++) {
                fm_table_group(v->table, columns[c][0], FM_COLUMN_PROC, FM_COLOUR_NEVER);
                fm_table_column(v->table, NULL, columns[c][1], NULL);
            }
            any = true;
        }
        fm_table_row(v->table, "rename", false);
        fm_cell_string(v->table, v->c->given[FM_BEFORE]->ps[match->before].brief_name, 0);
        fm_cell_string(v->table, v->c->given[FM_AFTER]->ps[match->after].brief_name, 0);
        fm_cell_string(v->table, how[match->how], 0);
        if (match->how == FM_MATCHED_RENAMED)
            fm_cell_percent(v->table, match->similarity);
        else
            fm_cell_empty(v->table);
    }
}

static void add_notes(struct view *v)
{
    if (v->c->only[FM_BEFORE] + v->c->only[FM_AFTER] > 0) {
        g_autofree char *text =
            g_strdup_printf("Functions that ran in one build alone: %u before, %u after.",
                            v->c->only[FM_BEFORE], v->c->only[FM_AFTER]);
        fm_add_text(v->body, text);
    }
    for (guint i = 0; i < v->c->notes->len; i++)
        fm_add_text(v->body, g_ptr_array_index(v->c->notes, i));
}

/* --- addresses --- */

static char *address_of_focus(void *user, uint32_t focus)
{
    const struct fm_compare_page_options *options = user;
    return options->address(options->user, options->by, focus);
}

static void add_picture(struct view *v)
{
    const struct fm_difference_options options = {
        .by = v->options->by,
        .focus = v->options->focus,
        .address = v->options->address ? address_of_focus : NULL,
        .user = (void *)(uintptr_t)v->options,
    };
    fm_difference_add(v->body, v->c, &options);
}

/* Links to the same comparison by other measures. */
static void add_switch(struct view *v)
{
    if (v->options->address == NULL)
        return;
    struct fm_list *list = fm_add_list(v->body, FM_LIST_HORIZONTAL, "Measure:");
    for (unsigned m = FM_QUANTA; m <= graph(v)->measure_count; m++) {
        enum fm_measure_id by =
            m == graph(v)->measure_count ? FM_COMPARE_CALLS : (enum fm_measure_id)m;
        if (by == FM_CALLSEQS || !fm_compare_has(v->c, by))
            continue;
        g_autofree char *url = v->options->address(v->options->user, by, v->options->focus);
        if (by == v->options->by)
            fm_add_text(list, fm_compare_measure_words(v->c, by));
        else
            fm_add_href(list, url, fm_compare_measure_words(v->c, by));
    }
}

struct fm_display *fm_compare_page(const struct fm_compare *compare,
                                   const struct fm_compare_page_options *options)
{
    g_autofree char *title =
        g_strdup_printf("%s compared with %s", options->names[FM_AFTER], options->names[FM_BEFORE]);
    struct fm_display *display = fm_display_new(title);
    struct view v = {
        .c = compare, .options = options, .display = display, .body = fm_display_body(display)};
    fm_display_set_name(display, "diff");
    fm_display_fact_string(display, "before", options->names[FM_BEFORE]);
    fm_display_fact_string(display, "after", options->names[FM_AFTER]);
    fm_display_fact_string(display, "measure", fm_compare_measure_title(compare, options->by));
    fm_causes_find(compare, options->by, &v.causes);
    fm_display_fact_double(display, "difference",
                           v.causes.difference * fm_compare_scale(compare, options->by));
    add_switch(&v);
    if (options->left_out != NULL)
        fm_add_text(v.body, options->left_out);
    if (compare->run_count[FM_BEFORE] + compare->run_count[FM_AFTER] > FM_SIDES)
        fm_runs_add(v.body, compare);
    add_totals(&v);
    add_causes(&v);
    if (options->picture)
        add_picture(&v);
    add_matches(&v);
    add_notes(&v);
    fm_causes_done(&v.causes);
    return display;
}
