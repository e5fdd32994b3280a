/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime distinguishes edges by machine addresses, the reader of a profile by source sites.
 * Two edges that leave one pd by one source site for one procedure are one edge; then the pds that
 * they lead to are one pd, and so on below: congruence closure by union-find. Edges and pds of
 * different threads are never joined, since their roots are not. */
#include "record/finish/merge.h"

struct merger {
    struct fm_raw_recording *recording;
    const uint32_t *pd_ps;
    uint32_t *classes; /* union-find over pds */
    struct fm_raw_csd *csds;
    GArray *unions; /* struct pair: pds to be joined */
    GArray *steps;  /* struct fm_merge_step; NULL: not needed */
    /* Edges by caller, site and callee's procedure: index + 1, open addressing, a power of two. An
     * edge whose caller was joined is also in a second slot. */
    uint32_t *table;
    size_t table_size, table_used;
    /* The edges that leave each pd, in order: lists by index + 1, 0 = the end. */
    uint32_t *first, *last, *length; /* per pd (class) */
    uint32_t *next;                  /* per edge */
};

struct pair {
    uint32_t left, right;
};

uint32_t fm_merge_class(uint32_t *classes, uint32_t pd)
{
    while (classes[pd] != pd) {
        classes[pd] = classes[classes[pd]];
        pd = classes[pd];
    }
    return pd;
}

static bool same_edge(const struct merger *merger, uint32_t left, uint32_t right)
{
    const struct fm_raw_csd *a = &merger->csds[left], *b = &merger->csds[right];
    const uint32_t *pd_ps = merger->pd_ps;
    return a->caller == b->caller && a->css == b->css && pd_ps[a->callee] == pd_ps[b->callee];
}

/* Finds the slot of an edge equal to this one, or a free slot. past_itself: the edge itself may be
 * there since its caller was another one, and an equal edge further on. */
static uint32_t *find_place(const struct merger *merger, uint32_t index, bool past_itself)
{
    const struct fm_raw_csd *csd = &merger->csds[index];
    uint64_t mix = csd->caller * UINT64_C(0x9e3779b97f4a7c15);
    mix = (mix ^ csd->css) * UINT64_C(0xbf58476d1ce4e5b9);
    mix = (mix ^ merger->pd_ps[csd->callee]) * UINT64_C(0x94d049bb133111eb);
    size_t at = (size_t)(mix >> 32) & (merger->table_size - 1);
    while (merger->table[at] != 0 && ((merger->table[at] - 1 == index && past_itself) ||
                                      !same_edge(merger, merger->table[at] - 1, index)))
        at = (at + 1) & (merger->table_size - 1);
    return &merger->table[at];
}

static void enter(struct merger *merger, uint32_t *place, uint32_t index)
{
    *place = index + 1;
    merger->table_used++;
    if (merger->table_used <= merger->table_size / 4 * 3)
        return;
    uint32_t *old = merger->table;
    size_t old_size = merger->table_size;
    merger->table_size *= 2;
    merger->table_used = 0;
    merger->table = g_new0(uint32_t, merger->table_size);
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] == 0 || merger->csds[old[i] - 1].caller == FM_RAW_NONE)
            continue;
        uint32_t *again = find_place(merger, old[i] - 1, false);
        if (*again == 0) {
            *again = old[i];
            merger->table_used++;
        }
    }
    g_free(old);
}

static void note_step(struct merger *merger, uint32_t from, uint32_t to)
{
    const struct fm_merge_step step = {from, to};
    if (merger->steps != NULL)
        g_array_append_val(merger->steps, step);
}

static void merge_into(struct fm_raw_recording *recording, struct fm_raw_csd *first,
                       struct fm_raw_csd *csd)
{
    first->calls += csd->calls;
    first->excps += csd->excps;
    fm_raw_recording_move_costs(recording, first, csd);
}

/* Enters an edge under its key, or merges it into the one that is there. */
static void place_edge(struct merger *merger, uint32_t index)
{
    struct fm_raw_csd *csd = &merger->csds[index];
    uint32_t *place = find_place(merger, index, true);
    if (*place != 0) {
        struct fm_raw_csd *first = &merger->csds[*place - 1];
        note_step(merger, index, *place - 1);
        merge_into(merger->recording, first, csd);
        csd->caller = FM_RAW_NONE;
        struct pair pair = {first->callee, csd->callee};
        g_array_append_val(merger->unions, pair);
        return;
    }
    enter(merger, place, index);
    uint32_t caller = csd->caller;
    if (merger->length[caller]++ == 0)
        merger->first[caller] = index + 1;
    else
        merger->next[merger->last[caller] - 1] = index + 1;
    merger->last[caller] = index + 1;
    merger->next[index] = 0;
}

static void join(struct merger *merger, uint32_t left, uint32_t right)
{
    left = fm_merge_class(merger->classes, left);
    right = fm_merge_class(merger->classes, right);
    if (left == right)
        return;
    if (merger->length[left] < merger->length[right]) {
        uint32_t swap = left;
        left = right;
        right = swap;
    }
    merger->classes[right] = left;
    uint32_t moved = merger->first[right];
    merger->first[right] = merger->length[right] = 0;
    while (moved != 0) {
        uint32_t index = moved - 1;
        moved = merger->next[index];
        merger->csds[index].caller = left;
        place_edge(merger, index);
    }
}

/* Frames that are open when the recording is finished count as left without exit. A live recording
 * may be read between the two counts of one call; then the number of calls is right. */
static void close_frames(struct fm_raw_csd *csd)
{
    csd->excps = MIN(csd->calls, csd->excps + csd->open);
    csd->open = 0;
}

static void add_edge(struct merger *merger, uint32_t index)
{
    struct fm_raw_csd *csd = &merger->csds[index];
    if (csd->caller == FM_RAW_NONE)
        return;
    close_frames(csd);
    place_edge(merger, index);
}

/* Discards the depths of a pd that is found to be recursive: they are those of a part of its
 * clique.
 */
static void forget_depths(struct fm_raw_recording *recording, uint32_t pd)
{
    struct fm_raw_pd *forgotten = &recording->pds[pd];
    forgotten->depths_unknown += recording->csds[forgotten->maker].calls;
    if (forgotten->depths == 0)
        return;
    const struct fm_rec_depths *depths = &recording->depths[forgotten->depths];
    forgotten->depths_unknown += depths->unknown;
    for (unsigned i = 0; i < FM_REC_DEPTH_CLASSES; i++)
        forgotten->depths_unknown += depths->calls[i];
    forgotten->depths = 0;
}

/* Per procedure: does its code exist more than once, as the compiler made clones of it? */
static bool *find_cloned(const struct merger *merger)
{
    const struct fm_raw_recording *recording = merger->recording;
    uint32_t ps_count = 0;
    for (uint32_t i = 0; i < recording->pd_count; i++)
        if (merger->pd_ps[i] != FM_RAW_NONE)
            ps_count = MAX(ps_count, merger->pd_ps[i] + 1);
    g_autofree uint64_t *fns = g_new0(uint64_t, ps_count + 1);
    bool *cloned = g_new0(bool, ps_count + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        uint32_t ps = merger->pd_ps[i];
        uint64_t fn = recording->pds[i].fn;
        if (ps == FM_RAW_NONE || fn == 0 || fn == FM_RAW_FN_INSERTED)
            continue;
        cloned[ps] |= fns[ps] != 0 && fns[ps] != fn;
        fns[ps] = fn;
    }
    return cloned;
}

/* A procedure that is active in its context is entered again under the same node. The runtime has
 * seen to that for each piece of code; here for clones of one procedure that call one another. */
static void close_recursion_of_clones(struct merger *merger)
{
    struct fm_raw_recording *recording = merger->recording;
    g_autofree bool *cloned = find_cloned(merger);
    for (uint32_t pd = 0; pd < recording->pd_count; pd++) {
        if (merger->pd_ps[pd] == FM_RAW_NONE || !cloned[merger->pd_ps[pd]])
            continue;
        uint32_t above = pd;
        for (uint32_t steps = 0; steps < recording->pd_count; steps++) {
            uint32_t maker = recording->pds[above].maker;
            if (maker == FM_RAW_NONE || recording->csds[maker].caller == FM_RAW_NONE)
                break;
            above = recording->csds[maker].caller;
            if (merger->pd_ps[above] != merger->pd_ps[pd])
                continue;
            struct pair pair = {above, pd};
            g_array_append_val(merger->unions, pair);
            note_step(merger, pd, FM_RAW_NONE);
            forget_depths(recording, pd);
            break;
        }
    }
}

static void begin(struct merger *merger, struct fm_raw_recording *recording, const uint32_t *pd_ps,
                  GArray *steps)
{
    size_t pd_count = recording->pd_count, csd_count = recording->csd_count;
    *merger = (struct merger){
        .recording = recording,
        .pd_ps = pd_ps,
        .classes = g_new(uint32_t, pd_count + 1),
        .csds = recording->csds,
        .unions = g_array_new(FALSE, FALSE, sizeof(struct pair)),
        .steps = steps,
        .table_size = 1024,
        .first = g_new0(uint32_t, pd_count + 1),
        .last = g_new0(uint32_t, pd_count + 1),
        .length = g_new0(uint32_t, pd_count + 1),
        .next = g_new0(uint32_t, csd_count + 1),
    };
    while (merger->table_size / 4 * 3 < csd_count)
        merger->table_size *= 2;
    merger->table = g_new0(uint32_t, merger->table_size);
    for (uint32_t i = 0; i < pd_count; i++)
        merger->classes[i] = i;
    g_assert(csd_count == 0 || pd_ps != NULL);
    close_recursion_of_clones(merger);
    for (uint32_t i = 0; i < csd_count; i++)
        add_edge(merger, i);
}

static void end(struct merger *merger)
{
    g_free(merger->first);
    g_free(merger->last);
    g_free(merger->length);
    g_free(merger->next);
    g_free(merger->table);
    g_array_unref(merger->unions);
}

uint32_t *fm_merge_edges(struct fm_raw_recording *recording, const uint32_t *pd_ps, GArray *steps)
{
    g_return_val_if_fail(recording != NULL && (pd_ps != NULL || recording->pd_count == 0), NULL);
    struct merger merger;
    begin(&merger, recording, pd_ps, steps);
    g_assert(merger.table_used <= merger.table_size / 4 * 3 + 1);
    while (merger.unions->len > 0) {
        struct pair pair = g_array_index(merger.unions, struct pair, merger.unions->len - 1);
        g_array_set_size(merger.unions, merger.unions->len - 1);
        join(&merger, pair.left, pair.right);
    }
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        if (csd->caller == FM_RAW_NONE)
            continue;
        csd->caller = fm_merge_class(merger.classes, csd->caller);
        csd->callee = fm_merge_class(merger.classes, csd->callee);
    }
    end(&merger);
    return merger.classes;
}

void fm_merge_again(struct fm_raw_recording *recording, const GArray *steps)
{
    g_return_if_fail(recording != NULL && steps != NULL);
    const struct fm_merge_step *all = (const struct fm_merge_step *)(const void *)steps->data;
    for (guint i = 0; i < steps->len; i++) /* before there are sums */
        if (all[i].to == FM_RAW_NONE)
            forget_depths(recording, all[i].from);
    /* the threads' csds are not used with these */
    for (uint32_t i = 0; i < recording->csd_count; i++)
        close_frames(&recording->csds[i]);
    for (guint i = 0; i < steps->len; i++)
        if (all[i].to != FM_RAW_NONE)
            merge_into(recording, &recording->csds[all[i].to], &recording->csds[all[i].from]);
}
