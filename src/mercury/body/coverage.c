/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the goals in order of execution: `before` is computed when a goal is entered,
 * `after` when it is left. Open goals are kept on an explicit stack. */
#include "mercury/body/coverage.h"

#include <inttypes.h>

static const struct fm_known_count unknown = {false, 0};
static const struct fm_known_count zero = {true, 0};

struct open_goal {
    uint32_t goal;
    uint32_t child, number; /* the next child to enter */
    struct fm_known_count before;
    struct fm_known_count last_after; /* count after the child that was left last */
    /* sums over the children, as the goal's kind needs them */
    struct fm_known_count sum_before, sum_after;
    struct fm_known_count condition_after, then_before;
};

struct inferring {
    const struct fm_body *body;
    const struct fm_goal_facts *facts;
    struct fm_coverage *coverage;
    GArray *open, *found;
};

/* Counts in a damaged file may be anything, so sums wrap around. */
static struct fm_known_count sum(struct fm_known_count a, struct fm_known_count b)
{
    struct fm_known_count result = {a.known && b.known,
                                    (int64_t)((uint64_t)a.count + (uint64_t)b.count)};
    return result.known ? result : unknown;
}

static struct fm_known_count difference(struct fm_known_count a, struct fm_known_count b)
{
    struct fm_known_count result = {a.known && b.known,
                                    (int64_t)((uint64_t)a.count - (uint64_t)b.count)};
    return result.known ? result : unknown;
}

static void contradict(struct inferring *in, uint32_t goal, const char *format, ...)
    FM_PRINTF(3, 4);
static void contradict(struct inferring *in, uint32_t goal, const char *format, ...)
{
    in->coverage->contradiction_count++;
    in->coverage->goals[goal].doubtful = true;
    if (in->found->len >= FM_CONTRADICTIONS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    struct fm_contradiction contradiction = {goal, g_strdup_vprintf(format, arguments)};
    va_end(arguments);
    g_array_append_val(in->found, contradiction);
}

/* --- entering: count before a child --- */

static struct fm_known_count arm_before(const struct inferring *in, const struct open_goal *open)
{
    const struct fm_goal *goal = &in->body->goals[open->goal];
    struct fm_known_count arm = in->facts[open->child].arm;
    bool last = open->number == goal->child_count;
    if (arm.known || goal->can_fail || !last)
        return arm;
    return difference(open->before, open->sum_before);
}

static struct fm_known_count branch_before(const struct inferring *in, const struct open_goal *open)
{
    struct fm_known_count arm = in->facts[open->child].arm;
    if (open->number == 1)
        return open->before;
    if (open->number == 2)
        return open->condition_after.known ? open->condition_after : arm;
    const struct fm_goal *condition = &in->body->goals[open->goal + 1];
    if (arm.known || fm_detism_many(condition->detism))
        return arm;
    return difference(open->before, open->then_before);
}

static struct fm_known_count child_before(const struct inferring *in, const struct open_goal *open)
{
    switch (in->body->goals[open->goal].kind) {
    case FM_GOAL_CONJ:
        return open->number == 1 ? open->before : open->last_after;
    case FM_GOAL_DISJ:
        return open->number == 1 && open->before.known ? open->before : in->facts[open->child].arm;
    case FM_GOAL_SWITCH:
        return arm_before(in, open);
    case FM_GOAL_ITE:
        return branch_before(in, open);
    default:
        return open->before;
    }
}

/* --- leaving: count after a goal --- */

static struct fm_known_count call_after(struct inferring *in, uint32_t goal,
                                        struct fm_known_count before)
{
    const struct fm_goal_facts *facts = &in->facts[goal];
    if (!facts->has_site) {
        contradict(in, goal, "there is no call site of this call");
        return unknown;
    }
    if (!before.known)
        contradict(in, goal, "how often the call was reached is not known, its calls are %" PRId64,
                   facts->site_calls);
    else if (before.count != facts->site_calls)
        contradict(in, goal, "reached %" PRId64 " times, but the calls are %" PRId64, before.count,
                   facts->site_calls);
    return (struct fm_known_count){true, facts->site_exits};
}

static struct fm_known_count own_after(struct inferring *in, const struct open_goal *open)
{
    const struct fm_goal *goal = &in->body->goals[open->goal];
    switch (goal->kind) {
    case FM_GOAL_CONJ:
        return goal->child_count == 0 ? open->before : open->last_after;
    case FM_GOAL_DISJ:
    case FM_GOAL_SWITCH:
    case FM_GOAL_ITE:
        return open->sum_after;
    case FM_GOAL_NEGATION:
        return unknown;
    case FM_GOAL_SCOPE:
        return goal->cut ? unknown : open->last_after;
    case FM_GOAL_PLAIN_CALL:
    case FM_GOAL_HIGHER_ORDER:
    case FM_GOAL_METHOD:
        return call_after(in, open->goal, open->before);
    default:
        if (goal->detism == FM_DETISM_DET || goal->detism == FM_DETISM_CC_MULTI)
            return open->before;
        return goal->detism == FM_DETISM_ERRONEOUS || goal->detism == FM_DETISM_FAILURE ? zero
                                                                                        : unknown;
    }
}

/* --- consistency checks --- */

static void check_detism(struct inferring *in, uint32_t goal, struct fm_known_count before,
                         struct fm_known_count after)
{
    enum fm_detism detism = in->body->goals[goal].detism;
    if (!before.known || !after.known) {
        contradict(in, goal, "how often it was %s is not known",
                   before.known ? "left by success" : "reached");
        return;
    }
    bool none = detism == FM_DETISM_ERRONEOUS || detism == FM_DETISM_FAILURE;
    if (none && after.count != 0)
        contradict(in, goal, "%s, but left by success %" PRId64 " times", fm_detism_name(detism),
                   after.count);
    else if (!fm_detism_many(detism) && before.count < after.count)
        contradict(in, goal,
                   "%s, but reached %" PRId64 " times and left by success %" PRId64 " times",
                   fm_detism_name(detism), before.count, after.count);
    else if (before.count < 0 || after.count < 0)
        contradict(in, goal, "counts below 0: %" PRId64 " - %" PRId64, before.count, after.count);
}

static void check_switch(struct inferring *in, const struct open_goal *open)
{
    if (!in->body->goals[open->goal].can_fail && open->before.known && open->sum_before.known &&
        open->before.count != open->sum_before.count)
        contradict(in, open->goal,
                   "a switch that cannot fail was reached %" PRId64 " times, its arms %" PRId64
                   " times",
                   open->before.count, open->sum_before.count);
}

static void check_ite(struct inferring *in, const struct open_goal *open)
{
    enum fm_detism condition = in->body->goals[open->goal + 1].detism;
    if (condition == FM_DETISM_ERRONEOUS || condition == FM_DETISM_FAILURE) {
        if (open->condition_after.known && open->condition_after.count > 0)
            contradict(in, open->goal, "the condition is %s, but succeeded %" PRId64 " times",
                       fm_detism_name(condition), open->condition_after.count);
    }
}

/* --- the walk --- */

static void enter(struct inferring *in, uint32_t goal, struct fm_known_count before)
{
    struct open_goal open = {
        .goal = goal,
        .child = goal + 1,
        .number = 1,
        .before = before,
        .sum_before = zero,
        .sum_after = zero,
    };
    in->coverage->goals[goal].before = before;
    g_array_append_val(in->open, open);
}

static struct fm_known_count leave(struct inferring *in, const struct open_goal *open)
{
    struct fm_known_count point = in->facts[open->goal].after;
    struct fm_known_count after = own_after(in, open);
    enum fm_goal_kind kind = in->body->goals[open->goal].kind;
    if (!after.known)
        after = point;
    else if (point.known && point.count != after.count)
        contradict(in, open->goal,
                   "left by success %" PRId64 " times, but the point after it was passed %" PRId64
                   " times",
                   after.count, point.count);
    if (kind == FM_GOAL_SWITCH)
        check_switch(in, open);
    if (kind == FM_GOAL_ITE)
        check_ite(in, open);
    check_detism(in, open->goal, open->before, after);
    in->coverage->goals[open->goal].after = after;
    return after;
}

/* Updates the goal above when a child is left. */
static void child_left(const struct inferring *in, struct open_goal *open,
                       struct fm_known_count after)
{
    open->last_after = after;
    if (in->body->goals[open->goal].kind != FM_GOAL_ITE) {
        open->sum_after = sum(open->sum_after, after);
        return;
    }
    if (open->number == 2)
        open->condition_after = after;
    else
        open->sum_after = sum(open->sum_after, after);
}

static void walk(struct inferring *in, int64_t calls, int64_t exits)
{
    enter(in, 0, (struct fm_known_count){true, calls});
    for (;;) {
        struct open_goal *top = &g_array_index(in->open, struct open_goal, in->open->len - 1);
        const struct fm_goal *goal = &in->body->goals[top->goal];
        if (top->number <= goal->child_count) {
            struct fm_known_count before = child_before(in, top);
            uint32_t child = top->child;
            if (top->number == 2)
                top->then_before = before;
            top->sum_before = sum(top->sum_before, before);
            top->child = in->body->goals[child].end;
            top->number++;
            enter(in, child, before);
            continue;
        }
        struct fm_known_count after = leave(in, top);
        g_array_set_size(in->open, in->open->len - 1);
        if (in->open->len == 0) {
            if (!after.known || after.count != exits)
                contradict(in, 0,
                           "the body was left by success %" PRId64
                           " times, but the procedure's exits are %" PRId64,
                           after.count, exits);
            return;
        }
        child_left(in, &g_array_index(in->open, struct open_goal, in->open->len - 1), after);
    }
}

static int compare_found(const void *a, const void *b)
{
    const struct fm_contradiction *one = a, *other = b;
    return one->goal < other->goal ? -1 : one->goal > other->goal;
}

/* A contradiction makes the goals after it, and the goals around it, doubtful. */
static void spread_doubt(const struct fm_body *body, struct fm_coverage *coverage)
{
    bool before = false;
    for (uint32_t goal = 0; goal < body->goal_count; goal++) {
        bool own = coverage->goals[goal].doubtful;
        coverage->goals[goal].doubtful = own || before;
        if (!own)
            continue;
        before = before || goal > 0;
        for (uint32_t up = body->goals[goal].parent;
             up != FM_NO_GOAL && !coverage->goals[up].doubtful; up = body->goals[up].parent)
            coverage->goals[up].doubtful = true;
    }
}

struct fm_coverage *fm_coverage_infer(const struct fm_body *body, int64_t calls, int64_t exits,
                                      const struct fm_goal_facts *facts)
{
    g_return_val_if_fail(body != NULL && facts != NULL, NULL);
    struct fm_coverage *coverage = g_new0(struct fm_coverage, 1);
    coverage->goal_count = body->goal_count;
    coverage->goals = g_new0(struct fm_goal_counts, body->goal_count);
    struct inferring in = {
        .body = body,
        .facts = facts,
        .coverage = coverage,
        .open = g_array_new(FALSE, FALSE, sizeof(struct open_goal)),
        .found = g_array_new(FALSE, FALSE, sizeof(struct fm_contradiction)),
    };
    walk(&in, calls, exits);
    const char *first =
        in.found->len == 0 ? NULL : g_array_index(in.found, struct fm_contradiction, 0).text;
    g_array_sort(in.found, compare_found);
    coverage->contradictions_kept = in.found->len;
    coverage->contradictions = (struct fm_contradiction *)(void *)g_array_free(in.found, FALSE);
    while (first != NULL && coverage->contradictions[coverage->cause].text != first)
        coverage->cause++;
    g_array_free(in.open, TRUE);
    if (coverage->contradiction_count > 0)
        spread_doubt(body, coverage);
    return coverage;
}

void fm_coverage_free(struct fm_coverage *coverage)
{
    if (coverage == NULL)
        return;
    for (uint32_t i = 0; i < coverage->contradictions_kept; i++)
        g_free(coverage->contradictions[i].text);
    g_free(coverage->contradictions);
    g_free(coverage->goals);
    g_free(coverage);
}

void fm_coverage_append(GString *out, const struct fm_goal_counts *counts)
{
    if (counts->before.known)
        g_string_append_printf(out, "%" PRId64, counts->before.count);
    else
        g_string_append_c(out, '_');
    g_string_append(out, " - ");
    if (counts->after.known)
        g_string_append_printf(out, "%" PRId64, counts->after.count);
    else
        g_string_append_c(out, '_');
}

struct fm_goal_facts *fm_goal_facts_new(const struct fm_body *body)
{
    return g_new0(struct fm_goal_facts, body->goal_count);
}
