/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime tells edges apart by machine addresses, the reader of a profile by source sites. Two
 * edges that leave one pd by one source site for one procedure are one edge; then the pds that
 * they lead to are one pd, and so on below: congruence closure by union-find. Edges and pds of
 * different threads never meet, as their roots do not. */
#include "record/finish_internal.h"

#include <string.h>

struct merger {
    struct finisher *f;
    GHashTable *edges; /* struct key * -> index into csds, + 1 */
    GArray *unions;    /* struct pair: pds to be joined */
    GArray **leaving;  /* per pd (class): edges that leave it, indices; NULL = none */
};

struct key {
    uint32_t caller, css, callee_ps;
};

struct pair {
    uint32_t left, right;
};

static guint key_hash(gconstpointer data)
{
    const struct key *key = data;
    uint64_t mix = key->caller * UINT64_C(0x9e3779b97f4a7c15);
    mix = (mix ^ key->css) * UINT64_C(0xbf58476d1ce4e5b9);
    mix = (mix ^ key->callee_ps) * UINT64_C(0x94d049bb133111eb);
    return (guint)(mix >> 32);
}

static gboolean key_equal(gconstpointer left, gconstpointer right)
{
    return memcmp(left, right, sizeof(struct key)) == 0;
}

uint32_t fm_merge_class(struct finisher *f, uint32_t pd)
{
    while (f->pd_class[pd] != pd) {
        f->pd_class[pd] = f->pd_class[f->pd_class[pd]];
        pd = f->pd_class[pd];
    }
    return pd;
}

static struct node_csd *csd_at(struct merger *merger, uint32_t index)
{
    return &g_array_index(merger->f->csds, struct node_csd, index);
}

static void add_counts(struct node_csd *to, const struct node_csd *from)
{
    to->exits += from->exits;
    to->excps += from->excps;
    to->quanta += from->quanta;
    to->calls += from->calls;
    to->allocs += from->allocs;
    to->requested_bytes += from->requested_bytes;
    to->bytes += from->bytes;
    to->frees += from->frees;
    to->freed_bytes += from->freed_bytes;
}

/* Enters an edge under its key, or merges it into the one that is there. */
static void place_edge(struct merger *merger, uint32_t index)
{
    struct finisher *f = merger->f;
    struct node_csd *csd = csd_at(merger, index);
    struct key key = {csd->caller, csd->css, f->pd_ps[csd->callee]};
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(merger->edges, &key));
    if (known != 0 && known - 1 != index) {
        struct node_csd *first = csd_at(merger, known - 1);
        add_counts(first, csd);
        csd->dead = true;
        struct pair pair = {first->callee, csd->callee};
        g_array_append_val(merger->unions, pair);
        return;
    }
    g_hash_table_insert(merger->edges, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(index + 1));
    GArray **list = &merger->leaving[csd->caller];
    if (*list == NULL)
        *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_val(*list, index);
}

static guint length_of(const GArray *list)
{
    return list == NULL ? 0 : list->len;
}

static void join(struct merger *merger, uint32_t left, uint32_t right)
{
    left = fm_merge_class(merger->f, left);
    right = fm_merge_class(merger->f, right);
    if (left == right)
        return;
    if (length_of(merger->leaving[left]) < length_of(merger->leaving[right])) {
        uint32_t swap = left;
        left = right;
        right = swap;
    }
    merger->f->pd_class[right] = left;
    GArray *moved = g_steal_pointer(&merger->leaving[right]);
    for (guint i = 0; i < length_of(moved); i++) {
        uint32_t index = g_array_index(moved, uint32_t, i);
        csd_at(merger, index)->caller = left;
        place_edge(merger, index);
    }
    if (moved != NULL)
        g_array_unref(moved);
}

static void add_raw(struct merger *merger, uint32_t index)
{
    struct finisher *f = merger->f;
    const struct fm_raw_csd *raw = &f->recording->csds[index];
    if (raw->caller == FM_RAW_NONE)
        return;
    /* Whatever is open when the recording is finished has been left without an exit. A live
     * recording may be read between the two counts of one call: calls rule. */
    uint64_t excps = MIN(raw->calls, raw->excps + raw->open);
    struct node_csd csd = {
        .caller = raw->caller,
        .callee = raw->callee,
        .css = f->csd_css[index],
        .calls = raw->calls,
        .excps = excps,
        .exits = raw->calls - excps,
        .quanta = raw->quanta,
        .allocs = raw->allocs,
        .requested_bytes = raw->bytes,
        .bytes = raw->usable_bytes,
        .frees = raw->frees,
        .freed_bytes = raw->freed_bytes,
    };
    g_array_append_val(f->csds, csd);
    place_edge(merger, f->csds->len - 1);
}

void fm_merge_edges(struct finisher *f)
{
    const struct fm_raw_recording *recording = f->recording;
    struct merger merger = {
        .f = f,
        .edges = g_hash_table_new_full(key_hash, key_equal, g_free, NULL),
        .unions = g_array_new(FALSE, FALSE, sizeof(struct pair)),
        .leaving = g_new0(GArray *, recording->pd_count + 1),
    };
    f->csds = g_array_new(FALSE, TRUE, sizeof(struct node_csd));
    f->pd_class = g_new(uint32_t, recording->pd_count + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++)
        f->pd_class[i] = i;
    for (uint32_t i = 0; i < recording->csd_count; i++)
        add_raw(&merger, i);
    while (merger.unions->len > 0) {
        struct pair pair = g_array_index(merger.unions, struct pair, merger.unions->len - 1);
        g_array_set_size(merger.unions, merger.unions->len - 1);
        join(&merger, pair.left, pair.right);
    }
    for (guint i = 0; i < f->csds->len; i++) {
        struct node_csd *csd = csd_at(&merger, i);
        csd->caller = fm_merge_class(f, csd->caller);
        csd->callee = fm_merge_class(f, csd->callee);
    }
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        if (merger.leaving[i] != NULL)
            g_array_unref(merger.leaving[i]);
    }
    g_free(merger.leaving);
    g_array_unref(merger.unions);
    g_hash_table_unref(merger.edges);
}
