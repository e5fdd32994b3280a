/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/difference.h"

#include "runs/compare/timing.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH_PX 1200.0
#define SEPARATE_PX 2.0 /* narrower neighbours become one box */
#define NARROWEST_PX 0.5
#define BOXES_MAX 3000u
#define ROWS_MAX 120u
#define STEPS_MAX 12u

struct picture {
    const struct fm_compare *c;
    const struct fm_difference_options *options;
    enum fm_measure_id measure;
    struct fm_compare_values values;
    struct fm_flame *flame;
    uint32_t *child_first, *children; /* children in the spanning tree */
    double *width;                    /* [pd + 1]: the larger total, or that of the boxes below */
    double whole, program;
    int64_t parts; /* common unit of both sides: this number of parts is one unit of the measure */
    /* [pd + 1], for sampled measures: chance does not explain the change; NULL = exact */
    bool *told;
    unsigned boxes;
    bool cut;
};

static uint32_t parent_of(const struct picture *p, uint32_t pd)
{
    uint32_t csd = p->c->tree_csd[pd];
    return csd == 0 ? 0 : p->c->side[FM_BEFORE]->csd_caller[csd];
}

static double larger(const struct picture *p, uint32_t pd)
{
    return (double)MAX(p->values.total[FM_BEFORE][pd], p->values.total[FM_AFTER][pd]);
}

/* Children by parent, and widths from the leaves up. */
static void measure_tree(struct picture *p)
{
    const struct fm_compare *c = p->c;
    uint32_t count = c->side[FM_BEFORE]->pd_count;
    p->child_first = g_new0(uint32_t, count + 2u);
    p->children = g_new0(uint32_t, count + 1u);
    p->width = g_new0(double, count + 1u);
    g_autofree uint32_t *at = g_new0(uint32_t, count + 2u);
    for (uint32_t i = 0; i < c->order_count; i++)
        p->child_first[parent_of(p, c->order[i]) + 1]++;
    for (uint32_t pd = 1; pd <= count + 1u; pd++)
        p->child_first[pd] += p->child_first[pd - 1];
    for (uint32_t pd = 0; pd <= count; pd++)
        at[pd] = p->child_first[pd];
    for (uint32_t i = 0; i < c->order_count; i++)
        p->children[at[parent_of(p, c->order[i])]++] = c->order[i];
    for (uint32_t i = c->order_count; i > 0; i--) {
        uint32_t pd = c->order[i - 1], parent = parent_of(p, pd);
        p->width[pd] = MAX(p->width[pd], larger(p, pd));
        if (parent != 0)
            p->width[parent] += p->width[pd];
    }
}

static int compare_widths(const void *a, const void *b, void *user)
{
    const struct picture *p = user;
    uint32_t pa = *(const uint32_t *)a, pb = *(const uint32_t *)b;
    if (p->width[pa] > p->width[pb])
        return -1;
    if (p->width[pa] < p->width[pb])
        return 1;
    return pa < pb ? -1 : pa > pb;
}

static bool is_told(const struct picture *p, uint32_t pd, double before, double after)
{
    return p->told != NULL ? p->told[pd] : after > before || after < before;
}

/* Steps of a thousandth, a hundredth and a twentieth of the program. */
static int step_of(const struct picture *p, uint32_t pd, double before, double after)
{
    double points = p->program > 0 ? 100 * fabs(after - before) / p->program : 0;
    int step = points >= 5 ? 3 : points >= 1 ? 2 : points >= 0.1 ? 1 : 0;
    g_assert(step >= 0 && step <= 3);
    if (!is_told(p, pd, before, after))
        return 0;
    return after > before ? step : -step;
}

static char *amount(const struct picture *p, double value)
{
    double scaled = value * fm_compare_scale(p->c, p->measure);
    return p->measure == FM_QUANTA && p->c->side[FM_BEFORE]->ticks_per_second > 0
               ? fm_format_time(scaled)
               : fm_format_int(llround(scaled));
}

static char *title_of(const struct picture *p, uint32_t pd, const char *name, double before,
                      double after)
{
    g_autofree char *was = amount(p, before), *is = amount(p, after);
    g_autofree char *difference = amount(p, fabs(after - before));
    const int64_t *calls[FM_SIDES] = {p->values.calls[FM_BEFORE], p->values.calls[FM_AFTER]};
    g_autofree char *calls_before = fm_format_int(calls[FM_BEFORE][pd]);
    g_autofree char *calls_after = fm_format_int(calls[FM_AFTER][pd]);
    g_autoptr(GString) text = g_string_new(name);
    g_string_append_printf(text, "\n%s before, %s after", was, is);
    if (is_told(p, pd, before, after)) {
        g_string_append_printf(text, ": %s%s", after > before ? "+" : "\u2212", difference);
        if (before > 0)
            g_string_append_printf(text, ", %+.1f %%", 100 * (after / before - 1));
    } else {
        g_string_append(text, before < after || before > after ? ": within chance" : ": the same");
    }
    if (p->values.known[pd])
        g_string_append_printf(text, "\n%s calls before, %s after", calls_before, calls_after);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void add_box(struct picture *p, uint32_t pd, double x, double width, unsigned row)
{
    const struct fm_profile *graph = p->c->side[FM_BEFORE];
    double before = (double)p->values.total[FM_BEFORE][pd];
    double after = (double)p->values.total[FM_AFTER][pd];
    bool fresh = p->values.calls[FM_BEFORE][pd] == 0 && before <= 0;
    bool gone = p->values.calls[FM_AFTER][pd] == 0 && after <= 0;
    const char *name = graph->ps[graph->pd_ps[pd]].unqualified_name;
    g_autofree char *label = g_strdup_printf("%s%s", gone ? "\u2212" : fresh ? "+" : "", name);
    g_autofree char *title = title_of(p, pd, name, before, after);
    g_autofree char *url = p->options->address ? p->options->address(p->options->user, pd) : NULL;
    fm_flame_add_box(p->flame,
                     &(struct fm_flame_box){
                         .row = row,
                         .x = x,
                         .width = width,
                         .label = label,
                         .title = title,
                         .url = url,
                         .colour = (unsigned)(FM_FLAME_SAME + step_of(p, pd, before, after)),
                         .flags = gone    ? FM_BOX_GONE
                                  : fresh ? FM_BOX_NEW
                                          : 0,
                         .own = p->values.own[FM_AFTER][pd] / p->parts,
                         .total = p->values.total[FM_AFTER][pd] / p->parts,
                         .calls = p->values.known[pd] ? p->values.calls[FM_AFTER][pd] : 0,
                     });
    p->boxes++;
}

static void add_joined(struct picture *p, unsigned count, double x, double width, unsigned row)
{
    g_autofree char *label = g_strdup_printf("%u more", count);
    fm_flame_add_box(p->flame, &(struct fm_flame_box){.row = row,
                                                      .x = x,
                                                      .width = width,
                                                      .label = label,
                                                      .title = label,
                                                      .colour = FM_FLAME_SAME,
                                                      .flags = FM_BOX_JOINED});
    p->boxes++;
}

/* Places a context, then its callees, widest first. Its own cost is the free part at the right. */
static void place(struct picture *p, uint32_t pd, double x, unsigned row)
{
    uint32_t first = p->child_first[pd], count = p->child_first[pd + 1] - first, joined = 0;
    double rest = 0;
    if (row >= ROWS_MAX || p->boxes >= BOXES_MAX) {
        p->cut = true;
        return;
    }
    add_box(p, pd, x, p->width[pd] / p->whole, row);
    if (count > 1)
        g_qsort_with_data(&p->children[first], (int)count, sizeof(uint32_t), compare_widths, p);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = p->children[first + i];
        double width = p->width[child] / p->whole;
        if (width * WIDTH_PX >= SEPARATE_PX) {
            place(p, child, x, row + 1);
            x += width;
        } else if (width > 0) {
            joined++;
            rest += width;
        }
    }
    if (rest * WIDTH_PX >= NARROWEST_PX && row + 1 < ROWS_MAX)
        add_joined(p, joined, x, rest, row + 1);
}

/* Adds the path to the focus, each step a link. */
static void add_way(struct picture *p, struct fm_list *to)
{
    const struct fm_profile *graph = p->c->side[FM_BEFORE];
    uint32_t way[STEPS_MAX], count = 0;
    if (p->options->focus == 0 || p->options->address == NULL)
        return;
    for (uint32_t pd = parent_of(p, p->options->focus); pd != 0 && count < STEPS_MAX;
         pd = parent_of(p, pd))
        way[count++] = pd;
    struct fm_list *list = fm_add_list(to, FM_LIST_HORIZONTAL, "Above it:");
    g_autofree char *whole = p->options->address(p->options->user, 0);
    fm_add_href(list, whole, "the whole program");
    for (uint32_t i = count; i > 0; i--) {
        g_autofree char *url = p->options->address(p->options->user, way[i - 1]);
        fm_add_href(list, url, graph->ps[graph->pd_ps[way[i - 1]]].unqualified_name);
    }
}

static void add_legend(struct fm_flame *flame)
{
    static const char *const words[] = {"much less",     "less", "a little less", "no change",
                                        "a little more", "more", "much more"};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        fm_flame_add_legend(flame, FM_FLAME_SAME - 3 + i, words[i]);
}

static uint32_t root_of(const struct picture *p)
{
    uint32_t focus = p->options->focus, root = p->c->side[FM_BEFORE]->root_pd;
    bool reached = focus == root || (focus != 0 && parent_of(p, focus) != 0);
    return reached ? focus : root;
}

bool fm_difference_add(struct fm_list *to, const struct fm_compare *compare,
                       const struct fm_difference_options *options)
{
    g_return_val_if_fail(to != NULL && compare != NULL && options != NULL, false);
    g_return_val_if_fail(options->focus <= compare->side[FM_BEFORE]->pd_count, false);
    struct picture p = {
        .c = compare,
        .options = options,
        .measure = options->by == FM_COMPARE_CALLS ? FM_CALLSEQS : options->by,
        .parts = options->by == FM_QUANTA ? (int64_t)compare->quanta_parts : 1,
    };
    fm_compare_values_init(&p.values, compare, p.measure);
    struct fm_timing timing;
    if (fm_timing_init(&timing, compare, p.measure)) {
        p.told = fm_timing_contexts(&timing);
        fm_timing_done(&timing);
    }
    measure_tree(&p);
    uint32_t root = root_of(&p);
    p.whole = p.width[root];
    p.program = (double)MAX(fm_compare_total(compare, p.measure, FM_BEFORE),
                            fm_compare_total(compare, p.measure, FM_AFTER));
    bool any = p.whole > 0;
    if (any) {
        g_autofree char *label = g_strdup_printf("Both runs over one another, by %s",
                                                 fm_compare_measure_words(compare, options->by));
        fm_add_heading(to, label);
        add_way(&p, to);
        fm_add_text(to,
                    "A box is as wide as the larger of its two amounts, coloured by what it has "
                    "more or less, in parts of the program; hatched: of one run alone, + new, "
                    "\u2212 gone.");
        p.flame = fm_add_flame(to, "difference", label);
        place(&p, root, 0, 0);
        add_legend(p.flame);
        if (p.cut)
            fm_add_text(to, "What lies deeper is left out.");
    }
    fm_compare_values_done(&p.values);
    g_free(p.told);
    g_free(p.child_first);
    g_free(p.children);
    g_free(p.width);
    return any;
}
