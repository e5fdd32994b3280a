/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the graph of a recording that is being written. */
#include "record/running/followed.h"

#include <string.h>

struct fm_followed_moment *fm_followed_moment_new(const struct fm_followed *watch)
{
    struct fm_followed_moment *moment = g_new0(struct fm_followed_moment, 1);
    moment->edge_count = watch->edge_count;
    moment->edges = g_new(struct fm_followed_counts, watch->edge_count + 1);
    for (uint32_t i = 0; i < watch->edge_count; i++)
        moment->edges[i] = watch->edges[i].counts;
    return moment;
}

void fm_followed_moment_free(struct fm_followed_moment *moment)
{
    if (moment == NULL)
        return;
    g_free(moment->edges);
    g_free(moment);
}

static void add(struct fm_followed_counts *sum, const struct fm_followed_counts *more)
{
    for (int m = 0; m < FM_FOLLOWED_MEASURES; m++)
        sum->of[m] += more->of[m];
}

static struct fm_followed_counts counts_since(const struct fm_followed *watch,
                                              const struct fm_followed_moment *since, uint32_t edge)
{
    struct fm_followed_counts counts = watch->edges[edge].counts;
    for (int m = 0; since != NULL && edge < since->edge_count && m < FM_FOLLOWED_MEASURES; m++)
        counts.of[m] -= since->edges[edge].of[m];
    return counts;
}

static uint32_t parent_of(const struct fm_followed *watch, uint32_t context)
{
    uint32_t maker = watch->contexts[context].maker;
    return maker == FM_FOLLOWED_NONE ? FM_FOLLOWED_NONE : watch->edges[maker].caller;
}

/* For each context, its own counts, and those with all below. Usually the context from which it was
 * created has a lower number; when it has a higher one, it and those above it have been visited
 * already. */
static void sum_contexts(const struct fm_followed *watch, const struct fm_followed_moment *since,
                         struct fm_followed_counts *self, struct fm_followed_counts *total)
{
    for (uint32_t i = 0; i < watch->edge_count; i++) {
        struct fm_followed_counts counts = counts_since(watch, since, i);
        add(&self[watch->edges[i].callee], &counts);
    }
    memcpy(total, self, watch->context_count * sizeof *total);
    for (uint32_t i = watch->context_count; i-- > 0;) {
        uint32_t above = parent_of(watch, i);
        for (; above != FM_FOLLOWED_NONE && above > i; above = parent_of(watch, above))
            add(&total[above], &total[i]);
        if (above != FM_FOLLOWED_NONE)
            add(&total[above], &total[i]);
    }
}

static bool is_below_itself(const struct fm_followed *watch, uint32_t context)
{
    uint32_t function = watch->contexts[context].function, above = parent_of(watch, context);
    while (above != FM_FOLLOWED_NONE && watch->contexts[above].function != function)
        above = parent_of(watch, above);
    return above != FM_FOLLOWED_NONE;
}

/* The edge that made the context has some of it. */
static bool has_charges(const struct fm_followed *watch)
{
    if (watch->header.version <= 2 || (watch->header.totals & FM_REC_TOTALS_CHARGED) == 0)
        return false;
    for (uint32_t i = 0; i < watch->edge_count; i++) {
        const struct fm_followed_counts *counts = &watch->edges[i].counts;
        if (counts->of[FM_FOLLOWED_CHARGED] != 0 || counts->of[FM_FOLLOWED_MOVED] != 0)
            return true;
    }
    return false;
}

/* Time in totals: for plain stacks, that of contexts created below a context; for others, what was
 * charged, which few contexts have. A context may be found before the one from which it was
 * created. */
static void charge_stacks(const struct fm_followed *watch, const struct fm_followed_moment *since,
                          struct fm_followed_counts *total)
{
    g_autofree uint64_t *plain = g_new0(uint64_t, watch->context_count + 1);
    for (uint32_t i = 0; i < watch->context_count; i++) {
        uint32_t maker = watch->contexts[i].maker;
        if (maker == FM_FOLLOWED_NONE)
            continue;
        struct fm_followed_counts counts = counts_since(watch, since, maker);
        uint64_t own = counts.of[FM_FOLLOWED_QUANTA] + counts.of[FM_FOLLOWED_MOVED];
        for (uint32_t above = i; own != 0 && above != FM_FOLLOWED_NONE;
             above = parent_of(watch, above))
            plain[above] += own;
    }
    for (uint32_t i = 0; i < watch->context_count; i++) {
        uint32_t maker = watch->contexts[i].maker;
        if (maker == FM_FOLLOWED_NONE)
            continue;
        uint64_t stacks = counts_since(watch, since, maker).of[FM_FOLLOWED_CHARGED];
        stacks += plain[i] == 0 || is_below_itself(watch, i) ? 0 : plain[i];
        /* The file is not read in one moment: a moved charge may be known on one side only. */
        total[i].of[FM_FOLLOWED_QUANTA] = (int64_t)stacks < 0 ? 0 : stacks;
    }
}

static bool is_nothing(const struct fm_followed_row *row)
{
    static const struct fm_followed_counts none;
    return memcmp(&row->total, &none, sizeof none) == 0;
}

/* Rows that count something, of one for each function. */
static GArray *rows_with_counts(const struct fm_followed *watch, const struct fm_followed_row *rows)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof *rows);
    for (uint32_t i = 0; i < watch->function_count; i++)
        if (!is_nothing(&rows[i]))
            g_array_append_val(found, rows[i]);
    return found;
}

static struct fm_followed_row *rows_new(const struct fm_followed *watch)
{
    struct fm_followed_row *rows = g_new0(struct fm_followed_row, watch->function_count + 1);
    for (uint32_t i = 0; i < watch->function_count; i++)
        rows[i].function = i;
    return rows;
}

GArray *fm_followed_rows(const struct fm_followed *watch, const struct fm_followed_moment *since,
                         struct fm_followed_counts *ret_all)
{
    g_return_val_if_fail(watch != NULL && ret_all != NULL, NULL);
    g_autofree struct fm_followed_counts *self =
        g_new0(struct fm_followed_counts, watch->context_count + 1);
    g_autofree struct fm_followed_counts *total =
        g_new0(struct fm_followed_counts, watch->context_count + 1);
    g_autofree struct fm_followed_row *rows = rows_new(watch);
    memset(ret_all, 0, sizeof *ret_all);
    sum_contexts(watch, since, self, total);
    if (has_charges(watch))
        charge_stacks(watch, since, total);
    for (uint32_t i = 0; i < watch->context_count; i++) {
        struct fm_followed_row *row = &rows[watch->contexts[i].function];
        add(&row->self, &self[i]);
        add(&row->total, &total[i]);
        add(ret_all, &self[i]);
    }
    return rows_with_counts(watch, rows);
}

GArray *fm_followed_neighbours(const struct fm_followed *watch,
                               const struct fm_followed_moment *since, uint32_t function,
                               bool callers)
{
    g_return_val_if_fail(watch != NULL && function < watch->function_count, NULL);
    g_autofree struct fm_followed_counts *self =
        g_new0(struct fm_followed_counts, watch->context_count + 1);
    g_autofree struct fm_followed_counts *total =
        g_new0(struct fm_followed_counts, watch->context_count + 1);
    g_autofree struct fm_followed_row *rows = rows_new(watch);
    sum_contexts(watch, since, self, total);
    for (uint32_t i = 0; i < watch->edge_count; i++) {
        const struct fm_followed_edge *edge = &watch->edges[i];
        if (edge->caller == FM_FOLLOWED_NONE)
            continue;
        uint32_t from = watch->contexts[edge->caller].function;
        uint32_t to = watch->contexts[edge->callee].function;
        if ((callers ? to : from) != function)
            continue;
        struct fm_followed_row *row = &rows[callers ? from : to];
        struct fm_followed_counts counts = counts_since(watch, since, i);
        add(&row->self, &counts);
        struct fm_followed_counts below = {
            .of = {[FM_FOLLOWED_CALLS] = counts.of[FM_FOLLOWED_CALLS]}};
        add(&row->total, edge->made ? &total[edge->callee] : &below);
    }
    return rows_with_counts(watch, rows);
}
