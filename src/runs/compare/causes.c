/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of a difference. For each context p below u, with n calls, w own cost a call and c
 * total cost a call, before (A) and after (B):
 *
 *   calls   (n_B - n_B(u) n_A / n_A(u)) c_A     more from here than the caller's own calls explain
 *   self    n_B (w_B - w_A)
 *   a new context: its total; a vanished one: calls with n_B = 0; nothing below either
 *
 * A function that one build inlines (compare.h: uncounted) has no number of calls: it ran as
 * often as its caller. If it is a context in one build only, its own costs count as its caller's
 * own. Calls that the builds inline differently (uneven) are told apart from all others.
 *
 * These add up to the difference of the whole, exactly, since total = own + the children's
 * totals and the terms telescope. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs/compare/internal.h"

/* An appeared context takes the place of a vanished one when its calls agree this well. */
#define SAME_CALLS 0.1

struct term {
    enum fm_cause_kind kind;
    uint32_t pd, old_pd; /* old_pd: REPLACED */
    uint32_t css;
    bool deeper, taken; /* taken: VANISHED, is part of a REPLACED one */
    double value, net;
    uint32_t against;
};

struct search {
    const struct fm_compare *c;
    struct fm_compare_values v;
    int64_t *left[FM_SIDES];                   /* [pd + 1] calls: with those that are left out */
    struct fm_compare_totals totals[FM_SIDES]; /* to be shown: terms are made of the tree's */
    enum fm_measure_id measure;
    GArray *terms;
    uint32_t *up, *down; /* [pd + 1] the outermost CALLS, APPEARED or VANISHED term above it that
                            is positive, negative: index + 1 */
    bool *settled;       /* [pd + 1] within a new or vanished context */
};

static uint32_t parent_of(const struct fm_compare *c, uint32_t pd)
{
    g_assert(pd >= 1);
    return c->side[FM_BEFORE]->csd_caller[c->tree_csd[pd]];
}

static void add_term(struct search *s, struct term term)
{
    /* A new or old context without cost may be another's replacement. */
    bool may_be_replacement = term.kind == FM_CAUSE_APPEARED || term.kind == FM_CAUSE_VANISHED;
    if (term.value == 0 && !may_be_replacement)
        return;
    term.net = term.value;
    g_array_append_val(s->terms, term);
}

/* The calls into p whose number changed most: the reader should look at their line. */
static uint32_t changed_csd(const struct search *s, uint32_t pd, uint32_t u)
{
    const struct fm_compare *c = s->c;
    uint32_t best = c->tree_csd[pd];
    double most = -1;
    double n_a = (double)s->v.calls[FM_BEFORE][u], n_b = (double)s->v.calls[FM_AFTER][u];
    for (uint32_t i = c->into_first[pd]; i < c->into_first[pd + 1]; i++) {
        uint32_t csd = c->into[i];
        double a = (double)fm_profile_calls(c->side[FM_BEFORE], csd);
        double b = (double)fm_profile_calls(c->side[FM_AFTER], csd);
        double part = fabs(n_a > 0 ? b - n_b * a / n_a : b);
        if (part > most) {
            most = part;
            best = csd;
        }
    }
    return best;
}

/* a * b - c * d, exactly: equal products differ by 0. */
static double cross(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (double)((__int128)a * b - (__int128)c * d);
}

static uint32_t tree_css(const struct search *s, uint32_t pd)
{
    uint32_t csd = s->c->tree_csd[pd];
    return csd == 0 ? 0 : s->c->side[FM_BEFORE]->csd_css[csd];
}

static void explain_calls(struct search *s, uint32_t pd, uint32_t u)
{
    int64_t n_a = s->v.calls[FM_BEFORE][pd], n_b = s->v.calls[FM_AFTER][pd];
    int64_t u_a = s->v.calls[FM_BEFORE][u], u_b = s->v.calls[FM_AFTER][u];
    double total = (double)s->v.total[FM_BEFORE][pd];
    double factor = cross(n_b, u_a, u_b, n_a) / (double)u_a / (double)n_a;
    uint32_t csd = changed_csd(s, pd, u);
    add_term(s, (struct term){
                    .kind = n_b > 0 ? FM_CAUSE_CALLS : FM_CAUSE_VANISHED,
                    .pd = pd,
                    .css = s->c->side[FM_BEFORE]->csd_css[csd],
                    .deeper = csd != s->c->tree_csd[pd],
                    .value = factor * total,
                });
}

static void explain_self(struct search *s, uint32_t pd)
{
    int64_t n_a = s->v.calls[FM_BEFORE][pd], n_b = s->v.calls[FM_AFTER][pd];
    int64_t own_a = s->v.own[FM_BEFORE][pd], own_b = s->v.own[FM_AFTER][pd];
    add_term(s, (struct term){
                    .kind = s->measure != FM_COMPARE_CALLS ? FM_CAUSE_SELF
                            : s->c->uncounted[pd]          ? FM_CAUSE_INLINED
                                                           : FM_CAUSE_CALLS,
                    .pd = pd,
                    .css = tree_css(s, pd),
                    .value = cross(own_b, n_a, n_b, own_a) / (double)n_a,
                });
}

/* Calls that are left out. */
static void explain_left_out(struct search *s, uint32_t pd)
{
    add_term(s, (struct term){.kind = FM_CAUSE_INLINED,
                              .pd = pd,
                              .css = tree_css(s, pd),
                              .value = (double)(s->left[FM_AFTER][pd] - s->left[FM_BEFORE][pd])});
}

/* Calls that the builds inline differently are no calls of the program's. */
static void leave_out(struct search *s)
{
    int64_t all[FM_SIDES];
    size_t size = (s->c->side[FM_BEFORE]->pd_count + 1u) * sizeof **s->left;
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        s->left[side] = g_memdup2(s->v.own[side], size);
    fm_compare_values_leave_out(&s->v, s->c, all);
    for (uint32_t pd = 1; pd <= s->c->side[FM_BEFORE]->pd_count; pd++) {
        for (int side = FM_BEFORE; side < FM_SIDES; side++)
            s->left[side][pd] -= s->v.own[side][pd];
    }
}

/* A context that one build has inlined without a name for it is its caller's own code on both
 * sides; it ran as often as that. What it calls is called from there. Inlined bodies have no calls
 * of their own, so by calls that holds of a new function's, too. */
static void give_inlined_to_callers(struct search *s)
{
    const struct fm_compare *c = s->c;
    g_autofree bool *given = g_new0(bool, c->side[FM_BEFORE]->pd_count + 1u);
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at], u = parent_of(c, pd);
        given[pd] =
            (s->v.calls[FM_BEFORE][pd] > 0) != (s->v.calls[FM_AFTER][pd] > 0) &&
            (s->measure == FM_COMPARE_CALLS ? c->uncounted[pd] : fm_compare_is_inlined(c, pd, u));
        for (int side = FM_BEFORE; given[pd] && side < FM_SIDES; side++) {
            s->v.total[side][pd] -= s->v.own[side][pd];
            s->v.own[side][u] += s->v.own[side][pd];
            s->v.own[side][pd] = 0;
        }
    }
    for (uint32_t at = 1; at < c->order_count; at++) {
        uint32_t pd = c->order[at], u = parent_of(c, pd);
        for (int side = FM_BEFORE; given[pd] && side < FM_SIDES; side++)
            s->v.calls[side][pd] = s->v.calls[side][u];
    }
}

static void explain(struct search *s, uint32_t pd)
{
    bool before = s->v.calls[FM_BEFORE][pd] > 0, after = s->v.calls[FM_AFTER][pd] > 0;
    uint32_t u = pd == s->c->side[FM_BEFORE]->root_pd ? 0 : parent_of(s->c, pd);
    s->settled[pd] = u != 0 && s->settled[u];
    if (s->measure == FM_COMPARE_CALLS)
        explain_left_out(s, pd);
    if (s->settled[pd] || (!before && !after))
        return;
    if (before && u != 0)
        explain_calls(s, pd, u);
    if (before && after) {
        explain_self(s, pd);
        return;
    }
    s->settled[pd] = true;
    if (before)
        return;
    double total = (double)s->v.total[FM_AFTER][pd];
    add_term(s, (struct term){
                    .kind = FM_CAUSE_APPEARED, .pd = pd, .css = tree_css(s, pd), .value = total});
}

/* --- a new context in the place of an old one --- */

static bool is_replacement(const struct search *s, const struct term *appeared,
                           const struct term *vanished)
{
    const struct fm_compare *c = s->c;
    const uint32_t *ps = c->side[FM_BEFORE]->pd_ps;
    uint32_t u = parent_of(c, appeared->pd);
    double expected = (double)s->v.calls[FM_AFTER][u] *
                      (double)s->v.calls[FM_BEFORE][vanished->pd] /
                      (double)s->v.calls[FM_BEFORE][u];
    return parent_of(c, vanished->pd) == u &&
           (c->ps_only[FM_AFTER][ps[appeared->pd]] || c->ps_only[FM_BEFORE][ps[vanished->pd]]) &&
           fabs((double)s->v.calls[FM_AFTER][appeared->pd] - expected) <= SAME_CALLS * expected;
}

/* Terms of children of one context are adjacent, because contexts come breadth first. */
static void join_replaced(struct search *s)
{
    for (guint i = 0; i < s->terms->len; i++) {
        struct term *appeared = &g_array_index(s->terms, struct term, i);
        if (appeared->kind != FM_CAUSE_APPEARED)
            continue;
        uint32_t u = parent_of(s->c, appeared->pd);
        for (int direction = -1; direction <= 1; direction += 2) {
            for (gint j = (gint)i + direction; j >= 0 && j < (gint)s->terms->len; j += direction) {
                struct term *vanished = &g_array_index(s->terms, struct term, j);
                bool is_root = vanished->pd == s->c->side[FM_BEFORE]->root_pd;
                if (is_root || parent_of(s->c, vanished->pd) != u)
                    break;
                if (appeared->kind != FM_CAUSE_APPEARED || vanished->kind != FM_CAUSE_VANISHED ||
                    vanished->taken || !is_replacement(s, appeared, vanished))
                    continue;
                appeared->kind = FM_CAUSE_REPLACED;
                appeared->old_pd = vanished->pd;
                appeared->value += vanished->value;
                appeared->net = appeared->value;
                vanished->value = vanished->net = 0;
                vanished->taken = true;
            }
        }
    }
}

/* --- lines of one caller --- */

static bool is_of_calls(const struct term *term)
{
    return (term->kind == FM_CAUSE_CALLS && !term->deeper) || term->kind == FM_CAUSE_APPEARED ||
           (term->kind == FM_CAUSE_VANISHED && !term->taken);
}

/* Calls of one function from one frame, in terms. */
struct frame_calls {
    uint32_t css;
    bool more, fewer;
};

static struct frame_calls *calls_from_frame(const struct search *s, GHashTable *index,
                                            const struct term *term)
{
    const struct fm_profile *p = s->c->side[FM_BEFORE];
    if (!is_of_calls(term) || term->pd == p->root_pd)
        return NULL;
    const uint64_t key = (uint64_t)s->c->frame[term->pd] << 32 | p->pd_ps[term->pd];
    struct frame_calls *calls = g_hash_table_lookup(index, &key);
    if (calls == NULL) {
        calls = g_new0(struct frame_calls, 1);
        calls->css = term->css;
        g_hash_table_insert(index, g_memdup2(&key, sizeof key), calls);
    }
    return calls;
}

/* One callee at several lines of one frame, with more calls at one and fewer at another: compilers
 * make one call of two that are alike, or lose the inlined body that calls, and programs move
 * them. Together they are one cause. */
static void join_sites(struct search *s)
{
    g_autoptr(GHashTable) index =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (guint i = 0; i < s->terms->len; i++) {
        const struct term *term = &g_array_index(s->terms, struct term, i);
        struct frame_calls *calls = calls_from_frame(s, index, term);
        if (calls == NULL)
            continue;
        calls->css = MIN(calls->css, term->css);
        calls->more = calls->more || term->value > 0;
        calls->fewer = calls->fewer || term->value < 0;
    }
    for (guint i = 0; i < s->terms->len; i++) {
        struct term *term = &g_array_index(s->terms, struct term, i);
        const struct frame_calls *calls = calls_from_frame(s, index, term);
        if (calls == NULL || !calls->more || !calls->fewer)
            continue;
        term->kind = FM_CAUSE_CALLS;
        term->css = calls->css;
    }
}

/* --- opposite signs --- */

/* A smaller difference with the opposite sign below a change of calls is part of that change: a
 * function that is called twice as often but initialises once. */
static void set_term_against(struct search *s, guint number)
{
    struct term *term = &g_array_index(s->terms, struct term, number);
    if (term->kind == FM_CAUSE_INLINED)
        return;
    uint32_t other = term->net > 0 ? s->down[term->pd] : s->up[term->pd];
    if (other != 0) {
        struct term *outer = &g_array_index(s->terms, struct term, other - 1);
        if (fabs(outer->net) >= fabs(term->net) && outer->net * term->net < 0) {
            outer->net += term->net;
            outer->against++;
            term->net = 0;
            return;
        }
    }
    if (term->kind == FM_CAUSE_SELF || term->net == 0)
        return;
    uint32_t *outermost = term->net > 0 ? &s->up[term->pd] : &s->down[term->pd];
    if (*outermost == 0)
        *outermost = number + 1;
}

/* Terms are in the order of their contexts: those above come first. */
static void set_against(struct search *s)
{
    guint next = 0;
    for (uint32_t at = 0; at < s->c->order_count; at++) {
        uint32_t pd = s->c->order[at];
        if (at > 0) {
            s->up[pd] = s->up[parent_of(s->c, pd)];
            s->down[pd] = s->down[parent_of(s->c, pd)];
        }
        while (next < s->terms->len && g_array_index(s->terms, struct term, next).pd == pd)
            set_term_against(s, next++);
    }
}

/* --- terms of one cause --- */

static struct fm_cause cause_of(const struct search *s, const struct term *term)
{
    const struct fm_profile *p = s->c->side[FM_BEFORE];
    struct fm_cause cause = {.kind = term->kind, .ps = p->pd_ps[term->pd]};
    if (term->kind == FM_CAUSE_SELF || term->css == 0)
        return cause;
    cause.css = term->css;
    cause.caller = p->css[term->css].ps;
    cause.deeper = term->deeper;
    if (term->kind == FM_CAUSE_REPLACED)
        cause.old_ps = p->pd_ps[term->old_pd];
    return cause;
}

static struct fm_cause_context context_of(const struct search *s, const struct term *term)
{
    struct fm_cause_context context = {.pd = term->pd, .net = term->net, .against = term->against};
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        uint32_t pd =
            term->kind == FM_CAUSE_REPLACED && side == FM_BEFORE ? term->old_pd : term->pd;
        context.of[side] = pd;
        context.calls[side] = s->v.known[pd] ? s->v.calls[side][pd] : -1;
        bool own = term->kind == FM_CAUSE_SELF;
        context.value[side] = own ? s->v.own[side][pd] : s->totals[side].adds[pd];
        context.at_most[side] = !own && s->totals[side].at_most[pd];
    }
    return context;
}

static GArray *group(const struct search *s)
{
    GArray *causes = g_array_new(FALSE, FALSE, sizeof(struct fm_cause));
    g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < s->terms->len; i++) {
        const struct term *term = &g_array_index(s->terms, struct term, i);
        if (term->net == 0)
            continue;
        struct fm_cause cause = cause_of(s, term);
        char *key = g_strdup_printf("%d %u %u %u %u", (int)cause.kind, cause.caller, cause.css,
                                    cause.ps, cause.old_ps);
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));
        if (number == 0) {
            cause.contexts = g_array_new(FALSE, FALSE, sizeof(struct fm_cause_context));
            g_array_append_val(causes, cause);
            number = causes->len;
            g_hash_table_insert(index, key, GUINT_TO_POINTER(number));
        } else {
            g_free(key);
        }
        struct fm_cause *known = &g_array_index(causes, struct fm_cause, number - 1);
        struct fm_cause_context context = context_of(s, term);
        g_array_append_val(known->contexts, context);
        known->net += term->net;
    }
    return causes;
}

static int by_net(const void *left, const void *right)
{
    const struct fm_cause_context *a = left, *b = right;
    double one = fabs(a->net), other = fabs(b->net);
    return one != other ? (one > other ? -1 : 1) : a->pd < b->pd ? -1 : a->pd > b->pd;
}

/* Significant ones first, then by their share of the difference; equal ones by their first
 * context. */
static int by_weight(const void *left, const void *right)
{
    const struct fm_cause *a = left, *b = right;
    double one = fabs(a->net), other = fabs(b->net);
    if (a->told != b->told)
        return a->told ? -1 : 1;
    if (one != other)
        return one > other ? -1 : 1;
    uint32_t first = g_array_index(a->contexts, struct fm_cause_context, 0).pd;
    uint32_t second = g_array_index(b->contexts, struct fm_cause_context, 0).pd;
    return first < second ? -1 : first > second;
}

/* Lines that were joined may make up for one another. */
static void drop_nothings(struct fm_causes *causes)
{
    for (guint i = causes->causes->len; i-- > 0;) {
        const struct fm_cause *cause = &g_array_index(causes->causes, struct fm_cause, i);
        if (cause->net < 0 || cause->net > 0)
            continue;
        g_array_free(cause->contexts, TRUE);
        g_array_remove_index(causes->causes, i);
    }
}

static void finish(struct fm_causes *causes, const struct fm_compare *c)
{
    drop_nothings(causes);
    for (guint i = 0; i < causes->causes->len; i++) {
        struct fm_cause *cause = &g_array_index(causes->causes, struct fm_cause, i);
        g_array_sort(cause->contexts, by_net);
        cause->told = cause->kind != FM_CAUSE_INLINED;
        causes->sum += fabs(cause->net);
    }
    causes->sampled = fm_causes_judge(causes, c);
    for (guint i = 0; i < causes->causes->len; i++) {
        const struct fm_cause *cause = &g_array_index(causes->causes, struct fm_cause, i);
        if (!cause->told)
            causes->not_told += cause->net;
    }
    g_array_sort(causes->causes, by_weight);
}

void fm_causes_find(const struct fm_compare *compare, enum fm_measure_id measure,
                    struct fm_causes *ret)
{
    const struct fm_profile *p = compare->side[FM_BEFORE];
    struct search s = {.c = compare, .measure = measure};
    g_assert(measure == FM_COMPARE_CALLS ||
             (measure >= FM_FIRST_INHERITED && measure < FM_MEASURES_MAX));
    fm_compare_values_init(&s.v, compare, measure);
    s.terms = g_array_new(FALSE, FALSE, sizeof(struct term));
    s.up = g_new0(uint32_t, p->pd_count + 1u);
    s.down = g_new0(uint32_t, p->pd_count + 1u);
    s.settled = g_new0(bool, p->pd_count + 1u);
    double difference =
        (double)s.v.total[FM_AFTER][p->root_pd] - (double)s.v.total[FM_BEFORE][p->root_pd];
    if (measure == FM_COMPARE_CALLS)
        leave_out(&s);
    give_inlined_to_callers(&s);
    for (uint32_t at = 0; at < compare->order_count; at++)
        explain(&s, compare->order[at]);
    join_replaced(&s);
    join_sites(&s);
    set_against(&s);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_compare_totals_init(&s.totals[side], compare, (enum fm_side)side, measure, &s.v);
    *ret = (struct fm_causes){
        .measure = measure,
        .difference = difference,
        .causes = group(&s),
    };
    finish(ret, compare);
    g_array_free(s.terms, TRUE);
    g_free(s.up);
    g_free(s.down);
    g_free(s.settled);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        g_free(s.left[side]);
        fm_compare_totals_done(&s.totals[side]);
    }
    fm_compare_values_done(&s.v);
}

void fm_causes_done(struct fm_causes *causes)
{
    for (guint i = 0; i < causes->causes->len; i++)
        g_array_free(g_array_index(causes->causes, struct fm_cause, i).contexts, TRUE);
    g_array_free(causes->causes, TRUE);
    *causes = (struct fm_causes){0};
}
