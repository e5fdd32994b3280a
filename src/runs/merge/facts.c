/* SPDX-License-Identifier: Apache-2.0 */
/* Facts by context: waits, locks, threads, the heap, durations. Each input's are appended with the
 * edges of its csds; entries with equal keys are added up from time to time, so that the lists are
 * not much longer than the sum's own. Contexts in here are edges + 1, 0 = none. */
#include <string.h>

#include "profile/file/build.h"
#include "profile/file/facts/durations.h"
#include "runs/merge/internal.h"

struct blame {
    struct fm_blame of; /* lock is not used: */
    const char *lock;   /* its name; "" = one without a name, or of many */
};

enum list {
    WAITING,
    BLAMES,
    LOCKS,
    THREADS,
    SLEEPS,
    FLOWS,
    REALLOCS,
    DURATIONS,
    LIFETIMES,
    UNHOOKED,
    LIST_COUNT
};

struct fm_merged_facts {
    GArray *lists[LIST_COUNT];
    guint kept[LIST_COUNT]; /* how long each was when it was last added up */
    struct fm_heap_whole heap;
    unsigned heap_inputs;
    bool waits_lost, heap_lost; /* an input has the measures, and nothing beside them */
    bool lifetimes_lost;        /* an input tells what was given back, and not when */
    uint64_t unknown_quanta;    /* whose code is not known */
    unsigned unhooked_inputs;
    bool unhooked_lost; /* an input has time, and does not tell in which code */
};

/* --- one list of each --- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_waiting(const void *a, const void *b)
{
    const struct fm_waiting *p = a, *q = b;
    int order = compare_numbers(p->csd, q->csd);
    return order != 0 ? order : strcmp(p->kind, q->kind);
}

static void add_waiting(void *to, const void *from)
{
    struct fm_waiting *sum = to;
    const struct fm_waiting *w = from;
    sum->calls = fm_merge_sum(sum->calls, w->calls);
    sum->waits = fm_merge_sum(sum->waits, w->waits);
    sum->ns = fm_merge_sum(sum->ns, w->ns);
    sum->longest_ns = MAX(sum->longest_ns, w->longest_ns);
    sum->short_ns = fm_merge_sum(sum->short_ns, w->short_ns);
    sum->cpu_quanta = fm_merge_sum(sum->cpu_quanta, w->cpu_quanta);
    sum->left = fm_merge_sum(sum->left, w->left);
    sum->open = fm_merge_sum(sum->open, w->open);
}

static int compare_blames(const void *a, const void *b)
{
    const struct blame *p = a, *q = b;
    int order = compare_numbers(p->of.csd, q->of.csd);
    order = order != 0 ? order : strcmp(p->of.kind, q->of.kind);
    order = order != 0 ? order : strcmp(p->lock, q->lock);
    return order != 0 ? order : compare_numbers(p->of.holder, q->of.holder);
}

static void add_blame(void *to, const void *from)
{
    struct fm_blame *sum = &((struct blame *)to)->of;
    const struct fm_blame *b = &((const struct blame *)from)->of;
    sum->waits = fm_merge_sum(sum->waits, b->waits);
    sum->ns = fm_merge_sum(sum->ns, b->ns);
    sum->longest_ns = MAX(sum->longest_ns, b->longest_ns);
}

static int compare_locks(const void *a, const void *b)
{
    return strcmp(((const struct fm_lock *)a)->name, ((const struct fm_lock *)b)->name);
}

static void add_lock(void *to, const void *from)
{
    struct fm_lock *sum = to;
    if (sum->address != ((const struct fm_lock *)from)->address)
        sum->address = 0; /* another in each run */
}

static int compare_threads(const void *a, const void *b)
{
    const struct fm_thread_time *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order != 0 ? order : p->queue_known - q->queue_known;
}

/* Threads of one name are one line of a sum; those with unknown run queue time are a line of their
 * own. */
static void add_thread(void *to, const void *from)
{
    struct fm_thread_time *sum = to;
    const struct fm_thread_time *t = from;
    sum->wall_ns = fm_merge_sum(sum->wall_ns, t->wall_ns);
    sum->cpu_ns = fm_merge_sum(sum->cpu_ns, t->cpu_ns);
    sum->wait_ns = fm_merge_sum(sum->wait_ns, t->wait_ns);
    sum->inside_ns = fm_merge_sum(sum->inside_ns, t->inside_ns);
    sum->queued_ns = fm_merge_sum(sum->queued_ns, t->queued_ns);
}

static int compare_sleeps(const void *a, const void *b)
{
    return compare_numbers(((const struct fm_sleep *)a)->csd, ((const struct fm_sleep *)b)->csd);
}

static void add_sleep(void *to, const void *from)
{
    struct fm_sleep *sum = to;
    const struct fm_sleep *s = from;
    sum->samples = fm_merge_sum(sum->samples, s->samples);
    sum->ns = fm_merge_sum(sum->ns, s->ns);
}

static int compare_flows(const void *a, const void *b)
{
    const struct fm_flow *p = a, *q = b;
    int order = compare_numbers(p->from, q->from);
    return order != 0 ? order : compare_numbers(p->to, q->to);
}

static void add_flow(void *to, const void *from)
{
    struct fm_flow *sum = to;
    const struct fm_flow *f = from;
    sum->blocks = fm_merge_sum(sum->blocks, f->blocks);
    sum->bytes = fm_merge_sum(sum->bytes, f->bytes);
    sum->held_ns = fm_merge_sum(sum->held_ns, f->held_ns);
    sum->longest_ns = MAX(sum->longest_ns, f->longest_ns);
}

static int compare_reallocs(const void *a, const void *b)
{
    return compare_numbers(((const struct fm_realloc *)a)->csd,
                           ((const struct fm_realloc *)b)->csd);
}

static void add_realloc(void *to, const void *from)
{
    struct fm_realloc *sum = to;
    const struct fm_realloc *r = from;
    sum->moved = fm_merge_sum(sum->moved, r->moved);
    sum->kept = fm_merge_sum(sum->kept, r->kept);
}

static int compare_durations(const void *a, const void *b)
{
    return compare_numbers(((const struct fm_durations *)a)->csd,
                           ((const struct fm_durations *)b)->csd);
}

static void add_durations(void *to, const void *from)
{
    const struct fm_durations *d = from;
    fm_durations_add(to, d);
    g_free(d->steps);
}

static int compare_unhooked(const void *a, const void *b)
{
    const struct fm_unhooked *p = a, *q = b;
    int order = compare_numbers(p->csd, q->csd);
    order = order != 0 ? order : compare_numbers(p->kind, q->kind);
    order = order != 0 ? order : strcmp(p->object, q->object);
    return order != 0 ? order : strcmp(p->function, q->function);
}

static void add_unhooked(void *to, const void *from)
{
    struct fm_unhooked *sum = to;
    sum->quanta = fm_merge_sum(sum->quanta, ((const struct fm_unhooked *)from)->quanta);
}

static const struct {
    guint size;
    int (*compare)(const void *a, const void *b);
    void (*add)(void *to, const void *from); /* takes what from owns */
} kinds[LIST_COUNT] = {
    [WAITING] = {sizeof(struct fm_waiting), compare_waiting, add_waiting},
    [BLAMES] = {sizeof(struct blame), compare_blames, add_blame},
    [LOCKS] = {sizeof(struct fm_lock), compare_locks, add_lock},
    [THREADS] = {sizeof(struct fm_thread_time), compare_threads, add_thread},
    [SLEEPS] = {sizeof(struct fm_sleep), compare_sleeps, add_sleep},
    [FLOWS] = {sizeof(struct fm_flow), compare_flows, add_flow},
    [REALLOCS] = {sizeof(struct fm_realloc), compare_reallocs, add_realloc},
    [DURATIONS] = {sizeof(struct fm_durations), compare_durations, add_durations},
    [LIFETIMES] = {sizeof(struct fm_durations), compare_durations, add_durations},
    [UNHOOKED] = {sizeof(struct fm_unhooked), compare_unhooked, add_unhooked},
};

static void *item(const GArray *array, guint size, guint at)
{
    return array->data + (gsize)size * at;
}

/* Adds up entries of one thing. */
static void add_up(GArray *array, enum list list)
{
    guint size = kinds[list].size, kept = 0;
    if (array->len < 2)
        return;
    g_array_sort(array, kinds[list].compare);
    for (guint i = 1; i < array->len; i++) {
        void *last = item(array, size, kept), *next = item(array, size, i);
        if (kinds[list].compare(last, next) == 0)
            kinds[list].add(last, next);
        else if (++kept != i)
            memcpy(item(array, size, kept), next, size);
    }
    g_array_set_size(array, kept + 1);
}

struct fm_merged_facts *fm_merged_facts_new(void)
{
    struct fm_merged_facts *facts = g_new0(struct fm_merged_facts, 1);
    for (int list = 0; list < LIST_COUNT; list++)
        facts->lists[list] = g_array_new(FALSE, FALSE, kinds[list].size);
    return facts;
}

static void free_durations(GArray *array)
{
    for (guint i = 0; i < array->len; i++)
        g_free(g_array_index(array, struct fm_durations, i).steps);
    g_array_set_size(array, 0);
}

void fm_merged_facts_free(struct fm_merged_facts *facts)
{
    free_durations(facts->lists[DURATIONS]);
    free_durations(facts->lists[LIFETIMES]);
    for (int list = 0; list < LIST_COUNT; list++)
        g_array_unref(facts->lists[list]);
    g_free(facts);
}

/* --- an input's --- */

struct input {
    struct fm_merge *m;
    struct fm_merged_facts *facts;
    const struct fm_run_info *info;
    const uint32_t *edges; /* by csd */
    uint64_t factor;       /* factor of quanta */
};

/* False: nothing leads there. */
static bool place(const struct input *in, uint32_t *csd)
{
    uint32_t edge = *csd == 0 ? FM_NO_EDGE : in->edges[*csd];
    *csd = edge == FM_NO_EDGE ? 0 : edge + 1;
    return edge != FM_NO_EDGE;
}

static void append_waits(const struct input *in)
{
    const struct fm_wait_info *info = &in->info->wait_info;
    GArray *const *lists = in->facts->lists;
    for (uint32_t i = 0; i < info->waiting_count; i++) {
        struct fm_waiting w = info->waiting[i];
        w.kind = fm_strings_add(in->m->strings, w.kind);
        w.cpu_quanta = fm_merge_scaled(w.cpu_quanta, in->factor);
        if (place(in, &w.csd))
            g_array_append_val(lists[WAITING], w);
    }
    for (uint32_t i = 0; i < info->blame_count; i++) {
        struct blame b = {.of = info->blames[i], .lock = ""};
        if (b.of.lock != 0)
            b.lock = fm_strings_add(in->m->strings, info->locks[b.of.lock - 1].name);
        b.of.kind = fm_strings_add(in->m->strings, b.of.kind);
        place(in, &b.of.holder);
        if (place(in, &b.of.csd))
            g_array_append_val(lists[BLAMES], b);
    }
    for (uint32_t i = 0; i < info->lock_count; i++) {
        struct fm_lock lock = info->locks[i];
        lock.name = fm_strings_add(in->m->strings, lock.name);
        if (lock.name[0] != '\0')
            g_array_append_val(lists[LOCKS], lock);
    }
    for (uint32_t i = 0; i < info->thread_count; i++) {
        struct fm_thread_time time = info->threads[i];
        time.name = fm_strings_add(in->m->strings, time.name);
        g_array_append_val(lists[THREADS], time);
    }
    for (uint32_t i = 0; i < info->sleep_count; i++) {
        struct fm_sleep sleep = info->sleeps[i];
        if (place(in, &sleep.csd))
            g_array_append_val(lists[SLEEPS], sleep);
    }
}

static void append_heap(const struct input *in)
{
    const struct fm_heap_info *info = &in->info->heap_info;
    const struct fm_heap_whole *whole = &info->whole;
    struct fm_heap_whole *sum = &in->facts->heap;
    for (uint32_t i = 0; i < info->flow_count; i++) {
        struct fm_flow flow = info->flows[i];
        bool is_known = flow.from == 0 || place(in, &flow.from);
        if (place(in, &flow.to) && is_known)
            g_array_append_val(in->facts->lists[FLOWS], flow);
    }
    for (uint32_t i = 0; i < info->realloc_count; i++) {
        struct fm_realloc of = info->reallocs[i];
        if (place(in, &of.csd))
            g_array_append_val(in->facts->lists[REALLOCS], of);
    }
    if (!info->recorded)
        return;
    *sum = (struct fm_heap_whole){
        .peak_ns = in->facts->heap_inputs++ == 0 ? whole->peak_ns : 0, /* only for one run */
        .peak_error = fm_merge_sum(sum->peak_error, whole->peak_error),
        .unknown_blocks = fm_merge_sum(sum->unknown_blocks, whole->unknown_blocks),
        .unknown_bytes = fm_merge_sum(sum->unknown_bytes, whole->unknown_bytes),
        .unseen_blocks = fm_merge_sum(sum->unseen_blocks, whole->unseen_blocks),
        .unseen_bytes = fm_merge_sum(sum->unseen_bytes, whole->unseen_bytes),
        .inherited_blocks = fm_merge_sum(sum->inherited_blocks, whole->inherited_blocks),
        .inherited_bytes = fm_merge_sum(sum->inherited_bytes, whole->inherited_bytes),
        .untold_blocks = fm_merge_sum(sum->untold_blocks, whole->untold_blocks),
        .untold_bytes = fm_merge_sum(sum->untold_bytes, whole->untold_bytes),
        .dropped = fm_merge_sum(sum->dropped, whole->dropped),
    };
}

static void append_durations(const struct input *in, const struct fm_duration_info *from,
                             enum list list)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct fm_durations d = from->of[i];
        if (!place(in, &d.csd))
            continue;
        d.steps = g_memdup2(d.steps, (d.step_count + (gsize)1) * sizeof *d.steps);
        g_array_append_val(in->facts->lists[list], d);
    }
}

static void append_unhooked(const struct input *in)
{
    const struct fm_unhooked_info *info = &in->info->unhooked;
    struct fm_merged_facts *facts = in->facts;
    if (!info->recorded)
        return;
    facts->unhooked_inputs++;
    facts->unknown_quanta =
        fm_merge_sum(facts->unknown_quanta, fm_merge_scaled(info->unknown_quanta, in->factor));
    for (uint32_t i = 0; i < info->count; i++) {
        struct fm_unhooked of = info->of[i];
        of.object = fm_strings_add(in->m->strings, of.object);
        of.function = fm_strings_add(in->m->strings, of.function);
        of.quanta = fm_merge_scaled(of.quanta, in->factor);
        if (place(in, &of.csd))
            g_array_append_val(facts->lists[UNHOOKED], of);
    }
}

/* Is there any of the measure, which facts should tell more of? */
static bool has_any(const struct fm_profile *profile, enum fm_further_measure measure)
{
    unsigned of = fm_profile_measure(profile, measure);
    return of != 0 && profile->csd_own[of].width != 0;
}

static void tell_lost(struct fm_merge *m)
{
    const struct fm_merged_facts *facts = m->facts;
    if (facts->waits_lost && facts->lists[THREADS]->len > 0)
        fm_merge_lose(m, "kinds of waits and locks are left out: not all profiles have them");
    if (facts->heap_lost && facts->heap_inputs > 0)
        fm_merge_lose(
            m, "the contexts that freed blocks of others are left out: not all profiles have them");
    else if (facts->lifetimes_lost && facts->lists[LIFETIMES]->len > 0)
        fm_merge_lose(m, "lifetimes of blocks are left out: not all profiles have them");
    if (facts->unhooked_lost && facts->unhooked_inputs > 0)
        fm_merge_lose(m, "the time in code without hooks is left out: not all profiles have it");
}

bool fm_merge_has_facts(const struct fm_profile *profile)
{
    const struct fm_run_info *info = &profile->run_info;
    return info->wait_info.thread_count > 0 || info->wait_info.waiting_count > 0 ||
           info->heap_info.recorded || info->durations.count > 0 || info->unhooked.recorded;
}

void fm_merge_add_facts(struct fm_merge *m, const struct fm_profile *profile, const uint32_t *edges,
                        uint64_t factor)
{
    struct fm_merged_facts *facts = m->facts;
    const struct fm_run_info *info = &profile->run_info;
    facts->waits_lost =
        facts->waits_lost || (info->wait_info.thread_count == 0 && has_any(profile, FM_WAITS));
    facts->heap_lost =
        facts->heap_lost || (!info->heap_info.recorded && has_any(profile, FM_LIVE_BLOCKS));
    facts->unhooked_lost =
        facts->unhooked_lost || (!info->unhooked.recorded && profile->user_quanta > 0);
    if (edges == NULL) {
        tell_lost(m);
        return;
    }
    struct input in = {m, facts, info, edges, factor};
    append_waits(&in);
    append_heap(&in);
    append_unhooked(&in);
    append_durations(&in, &info->durations, DURATIONS);
    append_durations(&in, &info->heap_info.lifetimes, LIFETIMES);
    facts->lifetimes_lost = facts->lifetimes_lost || (info->heap_info.flow_count > 0 &&
                                                      info->heap_info.lifetimes.count == 0);
    tell_lost(m);
    for (int list = 0; list < LIST_COUNT; list++) {
        if (facts->lists[list]->len < 2 * facts->kept[list] + 1024)
            continue;
        add_up(facts->lists[list], list);
        facts->kept[list] = facts->lists[list]->len;
    }
}

void fm_merge_rescale_facts(struct fm_merge *m, uint64_t factor)
{
    GArray *waiting = m->facts->lists[WAITING], *unhooked = m->facts->lists[UNHOOKED];
    for (guint i = 0; i < waiting->len; i++) {
        uint64_t *quanta = &g_array_index(waiting, struct fm_waiting, i).cpu_quanta;
        *quanta = fm_merge_scaled(*quanta, factor);
    }
    for (guint i = 0; i < unhooked->len; i++) {
        uint64_t *quanta = &g_array_index(unhooked, struct fm_unhooked, i).quanta;
        *quanta = fm_merge_scaled(*quanta, factor);
    }
    m->facts->unknown_quanta = fm_merge_scaled(m->facts->unknown_quanta, factor);
}

/* --- the sum's --- */

struct telling {
    const struct fm_merge *m;
    const uint32_t *csds; /* csds of the result, by edge */
    struct fm_build *build;
};

/* Edges that were united since are the one that they are part of. */
static void to_csd(const struct telling *t, uint32_t *context)
{
    if (*context == 0)
        return;
    uint32_t edge = *context - 1;
    while (fm_merge_edge(t->m, edge)->site == FM_NO_EDGE)
        edge = fm_merge_edge(t->m, edge)->next;
    *context = t->csds[edge];
}

static void tell_waits(const struct telling *t)
{
    GArray *waiting = t->m->facts->lists[WAITING], *blames = t->m->facts->lists[BLAMES];
    GArray *locks = t->m->facts->lists[LOCKS], *threads = t->m->facts->lists[THREADS];
    g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < waiting->len; i++)
        to_csd(t, &g_array_index(waiting, struct fm_waiting, i).csd);
    for (guint i = 0; i < blames->len; i++) {
        to_csd(t, &g_array_index(blames, struct blame, i).of.csd);
        to_csd(t, &g_array_index(blames, struct blame, i).of.holder);
    }
    GArray *sleeps = t->m->facts->lists[SLEEPS];
    for (guint i = 0; i < sleeps->len; i++)
        to_csd(t, &g_array_index(sleeps, struct fm_sleep, i).csd);
    for (int list = WAITING; list <= SLEEPS; list++)
        add_up(t->m->facts->lists[list], list);
    for (guint i = 0; i < waiting->len; i++)
        fm_build_waiting(t->build, &g_array_index(waiting, struct fm_waiting, i));
    for (guint i = 0; i < locks->len; i++) {
        const struct fm_lock *lock = &g_array_index(locks, struct fm_lock, i);
        fm_build_lock(t->build, lock);
        g_hash_table_insert(numbers, (gpointer)(uintptr_t)lock->name, GUINT_TO_POINTER(i + 1));
    }
    for (guint i = 0; i < blames->len; i++) {
        struct blame *blame = &g_array_index(blames, struct blame, i);
        blame->of.lock = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, blame->lock));
        fm_build_blame(t->build, &blame->of);
    }
    for (guint i = 0; i < threads->len; i++)
        fm_build_thread_time(t->build, &g_array_index(threads, struct fm_thread_time, i));
    for (guint i = 0; i < sleeps->len; i++)
        fm_build_sleep(t->build, &g_array_index(sleeps, struct fm_sleep, i));
}

static const GArray *sum_durations(const struct telling *t, enum list list)
{
    GArray *durations = t->m->facts->lists[list];
    for (guint i = 0; i < durations->len; i++)
        to_csd(t, &g_array_index(durations, struct fm_durations, i).csd);
    add_up(durations, list);
    return durations;
}

static void tell_durations(const struct telling *t)
{
    const GArray *durations = sum_durations(t, DURATIONS);
    for (guint i = 0; i < durations->len; i++)
        fm_build_durations(t->build, &g_array_index(durations, struct fm_durations, i));
}

static void tell_lifetimes(const struct telling *t, struct fm_heap_info *info)
{
    const GArray *lifetimes = sum_durations(t, LIFETIMES);
    for (guint i = 0; i < lifetimes->len; i++)
        fm_heap_info_add_lifetimes(info, &g_array_index(lifetimes, struct fm_durations, i));
}

static void tell_heap(const struct telling *t)
{
    GArray *flows = t->m->facts->lists[FLOWS], *reallocs = t->m->facts->lists[REALLOCS];
    struct fm_heap_info *info = fm_build_heap(t->build);
    for (guint i = 0; i < flows->len; i++) {
        to_csd(t, &g_array_index(flows, struct fm_flow, i).from);
        to_csd(t, &g_array_index(flows, struct fm_flow, i).to);
    }
    for (guint i = 0; i < reallocs->len; i++)
        to_csd(t, &g_array_index(reallocs, struct fm_realloc, i).csd);
    add_up(flows, FLOWS);
    add_up(reallocs, REALLOCS);
    fm_heap_info_set(info, &t->m->facts->heap);
    bool is_timed = !t->m->facts->lifetimes_lost;
    for (guint i = 0; i < flows->len; i++) {
        struct fm_flow *flow = &g_array_index(flows, struct fm_flow, i);
        flow->held_ns = is_timed ? flow->held_ns : 0;
        flow->longest_ns = is_timed ? flow->longest_ns : 0;
        fm_heap_info_add_flow(info, flow);
    }
    if (is_timed)
        tell_lifetimes(t, info);
    for (guint i = 0; i < reallocs->len; i++)
        fm_heap_info_add_realloc(info, &g_array_index(reallocs, struct fm_realloc, i));
}

static void tell_unhooked(const struct telling *t)
{
    GArray *unhooked = t->m->facts->lists[UNHOOKED];
    for (guint i = 0; i < unhooked->len; i++)
        to_csd(t, &g_array_index(unhooked, struct fm_unhooked, i).csd);
    add_up(unhooked, UNHOOKED);
    fm_build_unhooked_begin(t->build, t->m->facts->unknown_quanta);
    for (guint i = 0; i < unhooked->len; i++)
        fm_build_unhooked(t->build, &g_array_index(unhooked, struct fm_unhooked, i));
}

static bool sums_measure(const struct fm_merge *m, enum fm_further_measure further)
{
    const char *name = fm_known_measure(further)->file.name;
    return fm_merge_measure_of(m->measures, m->measure_count, name) >= 0;
}

void fm_merge_tell_facts(struct fm_merge *m, const uint32_t *csds, struct fm_build *build)
{
    const struct fm_merged_facts *facts = m->facts;
    const struct telling t = {m, csds, build};
    if (sums_measure(m, FM_WAITS) && !facts->waits_lost && facts->lists[THREADS]->len > 0)
        tell_waits(&t);
    if (sums_measure(m, FM_LIVE_BLOCKS) && !facts->heap_lost && facts->heap_inputs > 0)
        tell_heap(&t);
    if (!facts->unhooked_lost && facts->unhooked_inputs > 0)
        tell_unhooked(&t);
    tell_durations(&t);
}
