/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/difference.h"

#include "runs/compare/timing.h"
#include "runs/compare/totals.h"

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
    struct fm_compare_totals totals[FM_SIDES];
    /* Contexts in the spanning tree by those above; of a recursion, only those outside of it. */
    uint32_t *child_first, *children;
    uint32_t *member_first, *members; /* contexts of recursions, by those that entered them */
    double *width;                    /* [pd + 1]: the larger total, or that of the boxes below */
    double *part_width;               /* [pd + 1]: of its part in its recursion */
    double whole, program;
    int64_t parts; /* common unit of both sides: this number of parts is one unit of the measure */
    /* [pd + 1], for sampled measures: chance does not explain the change; NULL = exact */
    bool *told, *told_parts;
    unsigned boxes;
    bool cut;
};

static uint32_t parent_of(const struct picture *p, uint32_t pd)
{
    uint32_t csd = p->c->tree_csd[pd];
    return csd == 0 ? 0 : p->c->side[FM_BEFORE]->csd_caller[csd];
}

/* A box: a context with all below it, or its part in its recursion. */
struct box {
    uint32_t pd;
    bool part;
};

static int64_t value_of(const struct picture *p, struct box box, enum fm_side side)
{
    return (box.part ? p->totals[side].part : p->values.total[side])[box.pd];
}

static double amount_of(const struct picture *p, struct box box, enum fm_side side)
{
    return (double)value_of(p, box, side);
}

static double larger(const struct picture *p, struct box box)
{
    return MAX(amount_of(p, box, FM_BEFORE), amount_of(p, box, FM_AFTER));
}

/* Contexts by their keys, in the order of the tree. */
static void index_by(const struct fm_compare *c, const uint32_t *keys, uint32_t **ret_first,
                     uint32_t **ret)
{
    uint32_t count = c->side[FM_BEFORE]->pd_count, *first = g_new0(uint32_t, count + 2u);
    uint32_t *by = g_new0(uint32_t, count + 1u);
    for (uint32_t i = 0; i < c->order_count; i++)
        first[keys[c->order[i]] + 1]++;
    for (uint32_t pd = 1; pd <= count + 1u; pd++)
        first[pd] += first[pd - 1];
    g_autofree uint32_t *at = g_memdup2(first, (count + 2u) * sizeof *at);
    for (uint32_t i = 0; i < c->order_count; i++)
        by[at[keys[c->order[i]]]++] = c->order[i];
    *ret_first = first;
    *ret = by;
}

/* Widths from the leaves up. */
static void measure_tree(struct picture *p)
{
    const struct fm_compare *c = p->c;
    uint32_t count = c->side[FM_BEFORE]->pd_count;
    g_autofree uint32_t *above = g_new0(uint32_t, count + 1u);
    p->width = g_new0(double, count + 1u);
    p->part_width = g_new0(double, count + 1u);
    for (uint32_t i = c->order_count; i > 0; i--) {
        uint32_t pd = c->order[i - 1], head = c->head[pd];
        above[pd] = fm_compare_crosses(c, pd) ? parent_of(p, pd) : 0;
        p->part_width[pd] = MAX(p->part_width[pd], larger(p, (struct box){pd, head != 0}));
        p->width[head == 0 ? pd : head] += p->part_width[pd];
        if (above[pd] != 0) {
            p->width[pd] = MAX(p->width[pd], larger(p, (struct box){pd, false}));
            p->part_width[above[pd]] += p->width[pd];
        }
    }
    uint32_t root = c->side[FM_BEFORE]->root_pd;
    p->width[root] = MAX(p->width[root], larger(p, (struct box){root, false}));
    index_by(c, above, &p->child_first, &p->children);
    index_by(c, c->head, &p->member_first, &p->members);
}

static double width_of(const struct picture *p, struct box box)
{
    return (box.part ? p->part_width : p->width)[box.pd];
}

static int compare_widths(const void *a, const void *b, void *user)
{
    const double *width = user;
    uint32_t pa = *(const uint32_t *)a, pb = *(const uint32_t *)b;
    if (width[pa] > width[pb])
        return -1;
    if (width[pa] < width[pb])
        return 1;
    return pa < pb ? -1 : pa > pb;
}

static bool is_told(const struct picture *p, struct box box, double before, double after)
{
    const bool *told = box.part ? p->told_parts : p->told;
    return told != NULL ? told[box.pd] : after > before || after < before;
}

/* Steps of a thousandth, a hundredth and a twentieth of the program. */
static int step_of(const struct picture *p, struct box box, double before, double after)
{
    double points = p->program > 0 ? 100 * fabs(after - before) / p->program : 0;
    int step = points >= 5 ? 3 : points >= 1 ? 2 : points >= 0.1 ? 1 : 0;
    g_assert(step >= 0 && step <= 3);
    if (!is_told(p, box, before, after))
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

/* "90 ms", or "≤ 90 ms" where it is only known of the recursion. */
static char *total_of(const struct picture *p, uint32_t pd, enum fm_side side)
{
    g_autofree char *text = amount(p, (double)p->totals[side].of[pd]);
    return fm_format_at_most(text, p->totals[side].at_most[pd]);
}

static void append_change(const struct picture *p, struct box box, GString *text)
{
    double before = amount_of(p, box, FM_BEFORE), after = amount_of(p, box, FM_AFTER);
    g_autofree char *difference = amount(p, fabs(after - before));
    if (is_told(p, box, before, after)) {
        g_string_append_printf(text, ": %s%s", after > before ? "+" : "\u2212", difference);
        if (before > 0)
            g_string_append_printf(text, ", %+.1f %%", 100 * (after / before - 1));
    } else {
        g_string_append(text, before < after || before > after ? ": within chance" : ": the same");
    }
}

static char *title_of(const struct picture *p, struct box box, const char *label)
{
    uint32_t pd = box.pd;
    g_autofree char *was = amount(p, amount_of(p, box, FM_BEFORE));
    g_autofree char *is = amount(p, amount_of(p, box, FM_AFTER));
    g_autofree char *calls_before = fm_format_int(p->values.calls[FM_BEFORE][pd]);
    g_autofree char *calls_after = fm_format_int(p->values.calls[FM_AFTER][pd]);
    g_autoptr(GString) text = g_string_new(label);
    bool overlaps = box.part && p->c->side[FM_BEFORE]->flavour == FM_FLAVOUR_C;
    g_string_append_printf(text, "\n%s%s before, %s after",
                           overlaps ? "its part of the recursion: " : "", was, is);
    append_change(p, box, text);
    if (overlaps) {
        g_autofree char *total_before = total_of(p, pd, FM_BEFORE);
        g_autofree char *total_after = total_of(p, pd, FM_AFTER);
        g_string_append_printf(text, "\ntotal: %s before, %s after", total_before, total_after);
    }
    if (p->values.known[pd])
        g_string_append_printf(text, "\n%s calls before, %s after", calls_before, calls_after);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool is_recursion(const struct picture *p, struct box box)
{
    return !box.part && p->c->head[box.pd] == box.pd;
}

/* As in the flame graph of one profile: the function that entered a recursion, and how many others
 * are in it. */
static char *name_of(const struct picture *p, struct box box)
{
    const struct fm_profile *graph = p->c->side[FM_BEFORE];
    const char *name = fm_profile_short_name(graph, graph->pd_ps[box.pd]);
    if (!is_recursion(p, box))
        return g_strdup(name);
    g_autoptr(GHashTable) others = g_hash_table_new(NULL, NULL);
    for (uint32_t i = p->member_first[box.pd]; i < p->member_first[box.pd + 1]; i++)
        g_hash_table_add(others, GUINT_TO_POINTER(graph->pd_ps[p->members[i]]));
    return g_strdup_printf("\u27f2\u00a0%s\u00a0+%u", name, g_hash_table_size(others) - 1);
}

static void add_box(struct picture *p, struct box box, double x, double width, unsigned row)
{
    uint32_t pd = box.pd;
    double before = amount_of(p, box, FM_BEFORE), after = amount_of(p, box, FM_AFTER);
    bool fresh = p->values.calls[FM_BEFORE][pd] == 0 && before <= 0;
    bool gone = p->values.calls[FM_AFTER][pd] == 0 && after <= 0;
    g_autofree char *name = name_of(p, box);
    g_autofree char *label = g_strdup_printf("%s%s", gone ? "\u2212" : fresh ? "+" : "", name);
    g_autofree char *title = title_of(p, box, name);
    g_autofree char *url = p->options->address ? p->options->address(p->options->user, pd) : NULL;
    fm_flame_add_box(p->flame,
                     &(struct fm_flame_box){
                         .row = row,
                         .x = x,
                         .width = width,
                         .label = label,
                         .title = title,
                         .url = url,
                         .colour = (unsigned)(FM_FLAME_SAME + step_of(p, box, before, after)),
                         .flags = (gone    ? FM_BOX_GONE
                                   : fresh ? FM_BOX_NEW
                                           : 0) |
                                  (box.part               ? FM_BOX_MEMBER
                                   : is_recursion(p, box) ? FM_BOX_RECURSION
                                                          : 0),
                         .own = p->values.own[FM_AFTER][pd] / p->parts,
                         .total = value_of(p, box, FM_AFTER) / p->parts,
                         .active = value_of(p, box, FM_AFTER) / p->parts,
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

static void place(struct picture *p, struct box box, double x, unsigned row);

/* Places boxes beside each other, widest first. */
static void place_row(struct picture *p, uint32_t *pds, uint32_t count, bool parts, double x,
                      unsigned row)
{
    uint32_t joined = 0;
    double rest = 0;
    if (count > 1)
        g_qsort_with_data(pds, (int)count, sizeof *pds, compare_widths,
                          parts ? p->part_width : p->width);
    for (uint32_t i = 0; i < count; i++) {
        const struct box box = {pds[i], parts};
        double width = width_of(p, box) / p->whole;
        if (width * WIDTH_PX >= SEPARATE_PX) {
            place(p, box, x, row);
            x += width;
        } else if (width > 0) {
            joined++;
            rest += width;
        }
    }
    if (rest * WIDTH_PX >= NARROWEST_PX && row < ROWS_MAX)
        add_joined(p, joined, x, rest, row);
}

/* Places a context, then its callees, or the functions of its recursion. Its own cost is the free
 * part at the right. */
static void place(struct picture *p, struct box box, double x, unsigned row)
{
    bool members = is_recursion(p, box);
    const uint32_t *index = members ? p->member_first : p->child_first;
    uint32_t first = index[box.pd], count = index[box.pd + 1] - first;
    if (row >= ROWS_MAX || p->boxes >= BOXES_MAX) {
        p->cut = true;
        return;
    }
    add_box(p, box, x, width_of(p, box) / p->whole, row);
    place_row(p, &(members ? p->members : p->children)[first], count, members, x, row + 1);
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
        fm_add_href(list, url, fm_profile_short_name(graph, graph->pd_ps[way[i - 1]]));
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
        p.told = fm_timing_contexts(&timing, &p.told_parts);
        fm_timing_done(&timing);
    }
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_compare_totals_init(&p.totals[side], compare, (enum fm_side)side, p.measure, &p.values);
    measure_tree(&p);
    uint32_t root = root_of(&p);
    const struct box top = {root, fm_compare_is_inside(compare, root)};
    p.whole = width_of(&p, top);
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
        place(&p, top, 0, 0);
        add_legend(p.flame);
        if (p.cut)
            fm_add_text(to, "What lies deeper is left out.");
    }
    fm_compare_values_done(&p.values);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_compare_totals_done(&p.totals[side]);
    g_free(p.told);
    g_free(p.told_parts);
    g_free(p.child_first);
    g_free(p.children);
    g_free(p.member_first);
    g_free(p.members);
    g_free(p.width);
    g_free(p.part_width);
    return any;
}
