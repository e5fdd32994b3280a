/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/lines/allocating_lines.h"

#include <string.h>

#include "profile/digest/paths.h"
#include "profile/digest/wrappers.h"

#define INLINED_DEPTH_MAX 100u

struct sum {
    uint64_t amount, blocks;
};

struct search {
    const struct fm_analysis *a;
    struct fm_hot *hot;
    struct sum *by_ps;  /* [ps_count + 1] */
    struct sum *by_css; /* [css_count + 1], calls of wrappers */
    GArray *lines;      /* struct fm_hot_line */
};

/* The call of the outermost wrapper that leads to the csd's callee; 0: it is no wrapper. */
static uint32_t wrapper_call(const struct search *search, uint32_t csd)
{
    const struct fm_analysis *a = search->a;
    const struct fm_profile *profile = a->profile;
    uint32_t call = 0;
    while (fm_hot_is_wrapper(search->hot, profile->pd_ps[profile->csd_callee[csd]])) {
        uint32_t caller = a->pd_clique[profile->csd_caller[csd]];
        if (fm_digest_is_outside(a, caller) || caller == a->pd_clique[profile->csd_callee[csd]])
            break;
        call = profile->csd_css[csd];
        csd = a->clique_parent[caller];
        if (csd == 0)
            break;
    }
    return call;
}

static void add_up(struct search *search, enum fm_measure_id amount, unsigned blocks)
{
    const struct fm_profile *profile = search->a->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint64_t own = fm_profile_own(profile, csd, amount);
        if (own == 0)
            continue;
        uint32_t call = wrapper_call(search, csd);
        struct sum *sum = call != 0 ? &search->by_css[call]
                                    : &search->by_ps[profile->pd_ps[profile->csd_callee[csd]]];
        sum->amount += own;
        sum->blocks += blocks == 0 ? 0 : fm_profile_own(profile, csd, blocks);
    }
}

static const char *file_of(const struct fm_profile *profile, const struct fm_css *site)
{
    return site->file[0] != '\0' ? site->file : profile->ps[site->ps].file;
}

/* Keeps the first place, and counts the others. */
static void add_place(struct fm_hot_line *line, GArray *met, const char *file, uint32_t number)
{
    const struct fm_hot_line place = {.file = file, .line = number};
    for (guint i = 0; i < met->len; i++) {
        const struct fm_hot_line *other = &g_array_index(met, struct fm_hot_line, i);
        if (other->line == number && strcmp(other->file, file) == 0)
            return;
    }
    g_array_append_val(met, place);
    if (met->len > 1) {
        line->more_lines++;
        return;
    }
    line->file = file;
    line->line = number;
}

/* Calls of the allocator in the function and in bodies that are inline in it. */
static void add_calls(const struct search *search, uint32_t ps, unsigned depth,
                      struct fm_hot_line *line, GArray *met)
{
    const struct fm_profile *profile = search->a->profile;
    const struct fm_ps *proc = &profile->ps[ps];
    for (uint32_t i = 0; i < proc->css_count && depth < INLINED_DEPTH_MAX; i++) {
        const struct fm_css *site = &profile->css[profile->css_of_ps[proc->css_first + i]];
        const char *label = fm_css_label(site);
        if (site->line > 0 && fm_digest_is_allocator(label))
            add_place(line, met, file_of(profile, site), site->line);
        else if (site->inlined && site->callee_ps != 0 && site->callee_ps != ps)
            add_calls(search, site->callee_ps, depth + 1, line, met);
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct fm_hot_line *x = a, *y = b;
    if (x->ps != y->ps)
        return (x->ps > y->ps) - (x->ps < y->ps);
    if (x->line != y->line)
        return (x->line > y->line) - (x->line < y->line);
    if (x->more_lines != y->more_lines)
        return (x->more_lines > y->more_lines) - (x->more_lines < y->more_lines);
    return strcmp(x->file, y->file);
}

/* Joins equal places of one function. */
static void join(GArray *lines)
{
    guint kept = 0;
    g_array_sort(lines, compare_places);
    for (guint i = 0; i < lines->len; i++) {
        const struct fm_hot_line one = g_array_index(lines, struct fm_hot_line, i);
        struct fm_hot_line *last =
            kept > 0 ? &g_array_index(lines, struct fm_hot_line, kept - 1) : NULL;
        if (last != NULL && compare_places(last, &one) == 0) {
            last->amount += one.amount;
            last->blocks += one.blocks;
        } else {
            g_array_index(lines, struct fm_hot_line, kept++) = one;
        }
    }
    g_array_set_size(lines, kept);
}

static void list(struct search *search)
{
    const struct fm_profile *profile = search->a->profile;
    g_autoptr(GArray) met = g_array_new(FALSE, FALSE, sizeof(struct fm_hot_line));
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        const struct sum *sum = &search->by_ps[ps];
        struct fm_hot_line line = {.file = profile->ps[ps].file,
                                   .amount = sum->amount,
                                   .blocks = sum->blocks,
                                   .ps = ps,
                                   .functions = 1};
        if (sum->amount == 0)
            continue;
        g_array_set_size(met, 0);
        add_calls(search, ps, 0, &line, met);
        g_array_append_val(search->lines, line);
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        const struct fm_css *site = &profile->css[css];
        const struct fm_hot_line line = {.file = file_of(profile, site),
                                         .line = site->line,
                                         .amount = search->by_css[css].amount,
                                         .blocks = search->by_css[css].blocks,
                                         .ps = site->ps,
                                         .functions = 1};
        if (line.amount > 0)
            g_array_append_val(search->lines, line);
    }
    join(search->lines);
}

uint32_t fm_allocating_lines(const struct fm_analysis *a, struct fm_hot *hot,
                             enum fm_measure_id amount, unsigned blocks, uint32_t max,
                             struct fm_hot_line **ret)
{
    const struct fm_profile *profile = a->profile;
    g_autofree struct sum *by_ps = g_new0(struct sum, profile->ps_count + 1u);
    g_autofree struct sum *by_css = g_new0(struct sum, profile->css_count + 1u);
    struct search search = {a, hot, by_ps, by_css,
                            g_array_new(FALSE, FALSE, sizeof(struct fm_hot_line))};
    add_up(&search, amount, blocks);
    list(&search);
    return fm_hot_lines_rank(search.lines, max, ret);
}
