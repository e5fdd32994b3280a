/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "display/display.h"
#include "runs/gate/internal.h"

#define PATH_STEPS 8u

/* A measure of all contexts, computed once for all limits that use it. */
struct measured {
    enum fm_measure_id id;
    struct fm_compare_values values;
    struct fm_compare_totals totals[FM_SIDES];
    struct fm_causes causes;
    bool has_causes;
    int64_t left_out[FM_SIDES]; /* calls that one build counts and the other inlines */
};

struct judging {
    const struct fm_limits *limits;
    const struct fm_gate_options *options;
    const struct fm_profile *given[FM_SIDES]; /* before NULL: no base */
    struct fm_compare *compare; /* comparison of before (or after itself) with after */
    struct fm_places places;
    GPtrArray *measured;
    guint number;  /* index of the limit that is judged */
    GArray *timed; /* struct fm_timed */
    struct fm_gate *ret;
};

static void free_measured(void *data)
{
    struct measured *m = data;
    fm_compare_values_done(&m->values);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_compare_totals_done(&m->totals[side]);
    if (m->has_causes)
        fm_causes_done(&m->causes);
    g_free(m);
}

static struct measured *measured(struct judging *j, enum fm_measure_id id)
{
    for (guint i = 0; i < j->measured->len; i++) {
        struct measured *known = g_ptr_array_index(j->measured, i);
        if (known->id == id)
            return known;
    }
    struct measured *m = g_new0(struct measured, 1);
    m->id = id;
    fm_compare_values_init(&m->values, j->compare, id);
    if (id == FM_COMPARE_CALLS)
        fm_compare_values_leave_out(&m->values, j->compare, m->left_out);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_compare_totals_init(&m->totals[side], j->compare, (enum fm_side)side, id, &m->values);
    g_ptr_array_add(j->measured, m);
    return m;
}

static void set_error(struct fm_judgement *it, char *why)
{
    g_free(it->why);
    it->why = why;
    it->verdict = FM_VERDICT_ERROR;
}

/* --- amounts --- */

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void sum_contexts(const struct fm_compare *c, const struct fm_limit *limit,
                         const struct measured *m, const struct fm_stacks *stacks,
                         struct fm_amount *ret)
{
    const GArray *of = stacks->pds;
    *ret = (struct fm_amount){.calls = {1, 1}};
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        const struct fm_compare_totals *totals = &m->totals[side];
        int64_t calls = 0;
        if (!limit->self) {
            ret->value[side] = fm_stacks_sum(stacks, c, totals->adds, m->values.total[side]);
            ret->at_most[side] = fm_stacks_is_at_most(stacks, c, totals->at_most);
        }
        for (guint i = 0; i < of->len; i++) {
            uint32_t pd = g_array_index(of, uint32_t, i);
            if (limit->self)
                ret->value[side] = plus(ret->value[side], m->values.own[side][pd]);
            calls = plus(calls, m->values.calls[side][pd]);
        }
        if (limit->per_call && calls > 0)
            ret->calls[side] = calls;
        for (guint i = 0; limit->per_call && i < of->len; i++)
            ret->uncounted = ret->uncounted || !m->values.known[g_array_index(of, uint32_t, i)];
    }
}

/* A function's cost below one frame, whatever line or inlined body it is called from there. */
struct of_frame {
    int64_t value[FM_SIDES], most; /* most: that one context has more than before */
    uint32_t pd;                   /* which */
};

static GHashTable *sum_frames(const struct judging *j, const struct measured *m)
{
    const struct fm_compare *c = j->compare;
    GHashTable *sums = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (uint32_t at = 0; at < c->order_count; at++) {
        uint32_t pd = c->order[at];
        const uint64_t key = (uint64_t)c->frame[pd] << 32 | c->side[FM_BEFORE]->pd_ps[pd];
        struct of_frame *sum = g_hash_table_lookup(sums, &key);
        int64_t before = m->values.own[FM_BEFORE][pd], after = m->values.own[FM_AFTER][pd];
        if (sum == NULL) {
            sum = g_new0(struct of_frame, 1);
            g_hash_table_insert(sums, g_memdup2(&key, sizeof key), sum);
        }
        sum->value[FM_BEFORE] = plus(sum->value[FM_BEFORE], before);
        sum->value[FM_AFTER] = plus(sum->value[FM_AFTER], after);
        if (sum->pd == 0 || after - before > sum->most) {
            sum->most = after - before;
            sum->pd = pd;
        }
    }
    return sums;
}

static void sum_new(struct judging *j, const struct fm_limit *limit, const struct measured *m,
                    struct fm_amount *ret, uint32_t *ret_pd)
{
    const uint32_t *pd_ps = j->compare->side[FM_BEFORE]->pd_ps;
    g_autoptr(GHashTable) sums = sum_frames(j, m);
    GHashTableIter iter;
    struct of_frame *sum;
    int64_t most = 0;
    *ret = (struct fm_amount){.calls = {1, 1}};
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, NULL, (void **)&sum)) {
        int64_t more = sum->value[FM_AFTER] - sum->value[FM_BEFORE];
        if (more <= 0 || !fm_places_is_in(&j->places, pd_ps[sum->pd], limit->place))
            continue;
        ret->value[FM_AFTER] = plus(ret->value[FM_AFTER], more);
        if (more > most || (more == most && sum->pd < *ret_pd)) {
            most = more;
            *ret_pd = sum->pd;
        }
    }
}

static bool is_place_known(const struct judging *j, const char *place)
{
    const struct fm_profile *p = j->compare->side[FM_BEFORE];
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        if (fm_places_is_in(&j->places, ps, place))
            return true;
    }
    return false;
}

/* --- explanation of a broken limit --- */

/* The largest cause that is told, of a context below those; contexts NULL = all of the program.
 * ret_pd: its first context, left alone without a cause. */
static char *first_cause(struct judging *j, enum fm_measure_id id, const GArray *contexts,
                         uint32_t *ret_pd)
{
    struct measured *m = measured(j, id);
    if (!m->has_causes) {
        fm_causes_find(j->compare, id, &m->causes);
        m->has_causes = true;
    }
    for (guint i = 0; i < m->causes.causes->len; i++) {
        const struct fm_cause *cause = &g_array_index(m->causes.causes, struct fm_cause, i);
        bool here = contexts == NULL;
        for (guint k = 0; k < cause->contexts->len && !here; k++)
            here = fm_places_is_within(
                &j->places, g_array_index(cause->contexts, struct fm_cause_context, k).pd,
                contexts);
        if (!here || !cause->told)
            continue;
        *ret_pd = g_array_index(cause->contexts, struct fm_cause_context, 0).pd;
        g_autofree char *what = fm_cause_what(j->compare, cause);
        g_autofree char *place = fm_cause_place(j->compare, cause);
        return *place == '\0' ? g_steal_pointer(&what) : g_strdup_printf("%s (%s)", what, place);
    }
    return NULL;
}

static void show_context(struct judging *j, struct fm_judgement *it, uint32_t pd)
{
    const struct fm_profile *p = j->compare->side[FM_BEFORE];
    g_free(it->path);
    it->path = fm_compare_path(j->compare, pd, PATH_STEPS);
    g_free(it->file);
    it->file = g_strdup(p->ps[p->pd_ps[pd]].file);
    it->line = p->ps[p->pd_ps[pd]].line;
}

static uint32_t most_changed(const struct fm_limit *limit, const struct measured *m,
                             const GArray *found)
{
    uint32_t best = g_array_index(found, uint32_t, 0);
    double most = -1;
    for (guint i = 0; i < found->len; i++) {
        uint32_t pd = g_array_index(found, uint32_t, i);
        const int64_t *before = limit->self ? m->values.own[FM_BEFORE] : m->totals[FM_BEFORE].of;
        const int64_t *after = limit->self ? m->values.own[FM_AFTER] : m->totals[FM_AFTER].of;
        double change = fabs((double)after[pd] - (double)before[pd]);
        if (change > most) {
            most = change;
            best = pd;
        }
    }
    return best;
}

/* --- one limit --- */

static void take_values(struct fm_judgement *it, const struct fm_amount *amount, double scale)
{
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        it->value[side] = (double)amount->value[side] / (double)amount->calls[side] * scale;
    it->allowed = fm_bound_allowed(it->limit, it->value[FM_BEFORE]);
}

/* An upper bound does not tell by how much an absolute limit is exceeded, nor a change from what
 * is no bound, or the other way round. Else both are compared as they are. */
static bool is_undecided(const struct fm_judgement *it)
{
    bool lower = it->limit->op == FM_AT_MOST || it->limit->op == FM_BELOW;
    if (it->limit->bound != FM_BOUND_ABSOLUTE && it->has_before)
        return it->at_most[FM_BEFORE] != it->at_most[FM_AFTER];
    return it->at_most[FM_AFTER] && !(lower && it->verdict == FM_VERDICT_KEPT);
}

static void decide_at_most(struct judging *j, struct fm_judgement *it)
{
    if (it->verdict == FM_VERDICT_ERROR || (!it->at_most[FM_BEFORE] && !it->at_most[FM_AFTER]))
        return;
    if (is_undecided(it)) {
        it->verdict = j->options->strict ? FM_VERDICT_BROKEN : FM_VERDICT_NOT_TOLD;
        g_free(it->why);
        it->why = g_strdup("its total inside a recursion was not recorded; the recursion's is an "
                           "upper bound");
    } else if (it->note == NULL) {
        it->note = g_strdup("judged by the total of its recursion: its own was not recorded");
    }
}

/* Judges exactly; sampled measures are judged later, when all limits are known. stacks: contexts
 * of the amount; NULL = the whole program. */
static void judge_amount(struct judging *j, struct fm_judgement *it, enum fm_measure_id id,
                         const struct fm_amount *amount, const struct fm_stacks *stacks)
{
    double scale = fm_compare_scale(j->compare, id);
    take_values(it, amount, scale);
    memcpy(it->at_most, amount->at_most, sizeof it->at_most);
    it->estimated = fm_compare_sample(j->compare, id, FM_BEFORE) > 0 ||
                    fm_compare_sample(j->compare, id, FM_AFTER) > 0;
    if (it->estimated && it->limit->op == FM_EQUAL) {
        set_error(it, g_strdup_printf("\"%s\" is estimated from samples: nothing says that it is "
                                      "equal to a number",
                                      it->limit->measure));
    } else if (it->estimated && it->limit->subject != FM_LIMIT_NEW) {
        struct fm_timed timed = {
            .number = j->number,
            .id = id,
            .contexts = stacks != NULL ? g_array_copy(stacks->pds) : NULL,
            .overlap = stacks != NULL && stacks->overlap,
            .self = it->limit->self,
            .calls = {(double)amount->calls[FM_BEFORE], (double)amount->calls[FM_AFTER]}};
        g_array_append_val(j->timed, timed);
    } else if (!fm_bound_holds(it->limit, amount, (int64_t)scale)) {
        it->verdict = FM_VERDICT_BROKEN;
    }
}

static void judge_path(struct judging *j, struct fm_judgement *it, enum fm_measure_id id)
{
    struct measured *m = measured(j, id);
    struct fm_amount amount;
    struct fm_stacks stacks;
    g_autoptr(GArray) found = fm_places_match(&j->places, it->limit);
    if (found->len == 0) {
        if (!it->limit->optional)
            set_error(it, g_strdup("no context of either profile has this path"));
        return;
    }
    if (it->limit->self)
        stacks = (struct fm_stacks){.pds = g_array_ref(found)};
    else
        fm_places_stacks(&j->places, found, &stacks);
    sum_contexts(j->compare, it->limit, m, &stacks, &amount);
    if (amount.uncounted) {
        set_error(it, g_strdup("how often it runs is not counted: it is inlined"));
    } else {
        uint32_t pd;
        judge_amount(j, it, id, &amount, &stacks);
        show_context(j, it, most_changed(it->limit, m, stacks.pds));
        if ((it->verdict == FM_VERDICT_BROKEN || it->estimated) && j->given[FM_BEFORE] != NULL)
            it->cause = first_cause(j, id, found, &pd);
    }
    g_array_unref(stacks.pds);
}

static void judge_new(struct judging *j, struct fm_judgement *it, enum fm_measure_id id)
{
    struct fm_amount amount;
    uint32_t pd = 0;
    if (!it->limit->optional && !is_place_known(j, it->limit->place)) {
        set_error(it,
                  g_strdup_printf("no function of either profile lies in %s", it->limit->place));
        return;
    }
    sum_new(j, it->limit, measured(j, id), &amount, &pd);
    judge_amount(j, it, id, &amount, NULL);
    if (pd == 0)
        return;
    show_context(j, it, pd);
    g_autoptr(GArray) here = g_array_new(FALSE, FALSE, sizeof pd);
    uint32_t first;
    g_array_append_val(here, pd);
    it->cause = first_cause(j, id, here, &first);
}

static void judge_total(struct judging *j, struct fm_judgement *it, enum fm_measure_id id)
{
    struct fm_amount amount = {.calls = {1, 1}};
    const int64_t *out = measured(j, id)->left_out;
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        amount.value[side] = plus(fm_compare_total(j->compare, id, (enum fm_side)side), -out[side]);
    if (out[FM_BEFORE] != out[FM_AFTER]) {
        g_autofree char *before = fm_format_int(out[FM_BEFORE]);
        g_autofree char *after = fm_format_int(out[FM_AFTER]);
        it->note = g_strdup_printf("without calls that one build inlines (%s before, %s after)",
                                   before, after);
    }
    judge_amount(j, it, id, &amount, NULL);
    uint32_t pd = 0;
    if ((it->verdict == FM_VERDICT_BROKEN || it->estimated) && j->given[FM_BEFORE] != NULL)
        it->cause = first_cause(j, id, NULL, &pd);
    if (pd != 0)
        show_context(j, it, pd);
}

static void judge_peak(struct judging *j, struct fm_judgement *it)
{
    struct fm_amount amount = {.calls = {1, 1}};
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        const struct fm_profile *p = j->given[side] != NULL ? j->given[side] : j->given[FM_AFTER];
        g_assert(p != NULL); /* after always exists */
        uint64_t peak = p->run_info.peak_bytes;
        if (peak == 0 && (side == FM_AFTER || it->limit->bound != FM_BOUND_ABSOLUTE)) {
            set_error(it, g_strdup("the most heap memory at once was not recorded"));
            return;
        }
        amount.value[side] = (int64_t)MIN(peak, (uint64_t)INT64_MAX);
    }
    take_values(it, &amount, 1);
    if (!fm_bound_holds(it->limit, &amount, 1))
        it->verdict = FM_VERDICT_BROKEN;
}

static void judge_limit(struct judging *j, struct fm_judgement *it)
{
    const struct fm_limit *limit = it->limit;
    enum fm_measure_id id;
    it->has_before = j->given[FM_BEFORE] != NULL && limit->subject != FM_LIMIT_NEW;
    if (j->given[FM_BEFORE] == NULL &&
        (limit->bound != FM_BOUND_ABSOLUTE || limit->subject == FM_LIMIT_NEW)) {
        set_error(it, g_strdup("it is relative to a base, and none was given"));
        return;
    }
    if (strcmp(limit->measure, "peak bytes") == 0) {
        judge_peak(j, it);
        return;
    }
    if (!fm_compare_parse_measure(j->compare, limit->measure, &id)) {
        set_error(it, g_strdup_printf("\"%s\" is not known of both profiles", limit->measure));
        return;
    }
    if (limit->per_call && !fm_compare_has(j->compare, FM_COMPARE_CALLS)) {
        set_error(it, g_strdup("calls are not known of both profiles"));
        return;
    }
    switch (limit->subject) {
    case FM_LIMIT_TOTAL:
        judge_total(j, it, id);
        return;
    case FM_LIMIT_PATH:
        judge_path(j, it, id);
        return;
    case FM_LIMIT_NEW:
        judge_new(j, it, id);
        return;
    }
    g_assert_not_reached();
}

static void clear_judgement(void *data)
{
    struct fm_judgement *it = data;
    g_free(it->why);
    g_free(it->note);
    g_free(it->path);
    g_free(it->cause);
    g_free(it->file);
}

static GArray *new_timed(void)
{
    GArray *timed = g_array_new(FALSE, FALSE, sizeof(struct fm_timed));
    g_array_set_clear_func(timed, fm_timed_done);
    return timed;
}

/* --- programs whose runs differ --- */

static bool has_tolerance(const struct fm_limit *limit)
{
    return limit->bound == FM_BOUND_ABSOLUTE || limit->number != 0;
}

/* Judges the limits between two runs of one build: a measure that differs there is not exact for
 * this program. */
static bool check_repeats(struct judging *j, GError **error)
{
    const struct fm_compare_options options = {0};
    struct judging runs = {.limits = j->limits,
                           .options = j->options,
                           .given = {j->given[FM_AFTER], j->options->again},
                           .measured = g_ptr_array_new_with_free_func(free_measured),
                           .timed = new_timed()};
    bool done =
        fm_compare_new(runs.given[FM_BEFORE], runs.given[FM_AFTER], &options, &runs.compare, error);
    if (done)
        fm_places_init(&runs.places, runs.compare);
    for (guint i = 0; done && i < j->limits->all->len; i++) {
        struct fm_judgement *it = &g_array_index(j->ret->judgements, struct fm_judgement, i);
        struct fm_judgement again = {.limit = it->limit};
        judge_limit(&runs, &again);
        if (it->verdict != FM_VERDICT_ERROR && again.verdict != FM_VERDICT_ERROR &&
            !again.estimated && !has_tolerance(it->limit) &&
            again.value[FM_BEFORE] != again.value[FM_AFTER])
            set_error(it, g_strdup_printf("it differs between two runs of this build (%.15g and "
                                          "%.15g), so the limit needs a tolerance",
                                          again.value[FM_BEFORE], again.value[FM_AFTER]));
        clear_judgement(&again);
    }
    g_ptr_array_unref(runs.measured);
    g_array_unref(runs.timed);
    fm_places_done(&runs.places);
    fm_compare_free(runs.compare);
    return done;
}

/* --- all --- */

static void explain(struct fm_judgement *it)
{
    if (it->verdict != FM_VERDICT_BROKEN || it->why != NULL)
        return;
    double over = it->value[FM_AFTER] - it->allowed;
    g_autofree char *amount = fm_judgement_text(it, fabs(over));
    it->why = g_strdup_printf("%s %s than allowed", amount, over >= 0 ? "more" : "less");
}

/* A limit that is broken says in all columns why, or why that is not known. */
static void fill_reasons(const struct judging *j, struct fm_judgement *it)
{
    bool peak = strcmp(it->limit->measure, "peak bytes") == 0;
    if (it->verdict != FM_VERDICT_BROKEN)
        return;
    if (it->path == NULL)
        it->path = g_strdup("the whole program");
    if (it->cause != NULL)
        return;
    it->cause = g_strdup(
        peak                          ? "not known: the peak is one number of a run"
        : j->given[FM_BEFORE] == NULL ? "not known: there is no base to compare with"
        : it->estimated               ? "no single cause is significant"
        : it->limit->bound == FM_BOUND_ABSOLUTE && it->value[FM_BEFORE] == it->value[FM_AFTER]
            ? "it was so before"
            : "many small differences, none of which stands out");
}

/* Behind what is said already. */
static void add_note(struct fm_judgement *it)
{
    if (it->note == NULL || it->verdict == FM_VERDICT_ERROR)
        return;
    char *both =
        it->why == NULL ? g_strdup(it->note) : g_strdup_printf("%s; %s", it->why, it->note);
    g_free(it->why);
    it->why = both;
}

static void judge_all(struct judging *j)
{
    for (guint i = 0; i < j->limits->all->len; i++) {
        struct fm_judgement it = {.limit = g_ptr_array_index(j->limits->all, i)};
        j->number = i;
        judge_limit(j, &it);
        g_array_append_val(j->ret->judgements, it);
    }
    fm_timed_judge(j->compare, j->timed, j->ret->judgements, j->options);
    for (guint i = 0; i < j->ret->judgements->len; i++)
        decide_at_most(j, &g_array_index(j->ret->judgements, struct fm_judgement, i));
}

bool fm_gate_judge(const struct fm_limits *limits, const struct fm_compare_runs *before,
                   const struct fm_compare_runs *after, const struct fm_gate_options *options,
                   struct fm_gate *ret, GError **error)
{
    const struct fm_compare_options compare = {0};
    g_assert(limits != NULL && after != NULL && options != NULL && ret != NULL);
    *ret = (struct fm_gate){.names = {options->names[FM_BEFORE], options->names[FM_AFTER]}};
    const struct fm_compare_runs sides[FM_SIDES] = {before != NULL ? *before : *after, *after};
    struct judging j = {.limits = limits, .options = options, .ret = ret};
    j.given[FM_AFTER] = after->profiles[after->middle];
    j.given[FM_BEFORE] = before != NULL ? before->profiles[before->middle] : NULL;
    if (!fm_compare_new_runs(sides, &compare, &j.compare, error))
        return false;
    ret->judgements = g_array_new(FALSE, TRUE, sizeof(struct fm_judgement));
    g_array_set_clear_func(ret->judgements, clear_judgement);
    j.measured = g_ptr_array_new_with_free_func(free_measured);
    j.timed = new_timed();
    fm_places_init(&j.places, j.compare);
    judge_all(&j);
    bool done = options->again == NULL || check_repeats(&j, error);
    for (guint i = 0; i < ret->judgements->len; i++) {
        struct fm_judgement *it = &g_array_index(ret->judgements, struct fm_judgement, i);
        explain(it);
        fill_reasons(&j, it);
        add_note(it);
        ret->count[it->verdict]++;
    }
    g_ptr_array_unref(j.measured);
    g_array_unref(j.timed);
    fm_places_done(&j.places);
    fm_compare_free(j.compare);
    if (!done)
        fm_gate_done(ret);
    return done;
}

void fm_gate_done(struct fm_gate *gate)
{
    g_clear_pointer(&gate->judgements, g_array_unref);
}
