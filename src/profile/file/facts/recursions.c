/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the contexts that belong to recursions of several functions: those between the ends of a
 * call that closes a cycle, in the tree by which contexts are reached from the root. */
#include "profile/file/facts/inclusive.h"

#include "profile/file/profile.h"

struct walk {
    const struct fm_profile *profile;
    uint32_t *order, count; /* callers before what was reached from them */
    uint32_t *above;        /* by pd: from where it was reached; the root: itself; 0 = not yet */
    uint32_t *depth;
    uint32_t *groups; /* union-find: the root of a group is its outermost */
    bool *several;    /* by group */
    GArray *closing;  /* uint32_t: csds that led to a pd that had been reached */
};

static uint32_t group_of(struct walk *walk, uint32_t pd)
{
    uint32_t at = pd;
    while (walk->groups[at] != at)
        at = walk->groups[at];
    while (pd != at) {
        uint32_t next = walk->groups[pd];
        walk->groups[pd] = at;
        pd = next;
    }
    return at;
}

static void reach(struct walk *walk, uint32_t pd, uint32_t from)
{
    walk->above[pd] = from;
    walk->depth[pd] = pd == from ? 0 : walk->depth[from] + 1;
    walk->groups[pd] = pd;
    walk->order[walk->count++] = pd;
}

static void reach_all(struct walk *walk)
{
    const struct fm_profile *profile = walk->profile;
    reach(walk, profile->root_pd, profile->root_pd);
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t pd = walk->order[i];
        uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t c = 0; c < count; c++) {
                uint32_t callee = profile->csd_callee[csds[c]];
                if (walk->above[callee] == 0)
                    reach(walk, callee, pd);
                else if (callee != pd)
                    g_array_append_val(walk->closing, csds[c]);
            }
        }
    }
}

static void join(struct walk *walk, uint32_t csd)
{
    uint32_t a = group_of(walk, walk->profile->csd_caller[csd]);
    uint32_t b = group_of(walk, walk->profile->csd_callee[csd]);
    while (a != b) {
        uint32_t *deeper = walk->depth[a] > walk->depth[b] ? &a : &b;
        uint32_t outer = group_of(walk, walk->above[*deeper]);
        walk->groups[*deeper] = outer;
        walk->several[outer] = true;
        *deeper = outer;
    }
}

void fm_profile_tree_init(struct fm_tree *tree, const struct fm_profile *profile)
{
    size_t pds = profile->pd_count + (size_t)1;
    struct walk walk = {.profile = profile,
                        .order = g_new(uint32_t, pds),
                        .above = g_new0(uint32_t, pds),
                        .depth = g_new0(uint32_t, pds),
                        .groups = g_new0(uint32_t, pds),
                        .several = g_new0(bool, pds),
                        .closing = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    reach_all(&walk);
    for (guint i = 0; i < walk.closing->len; i++)
        join(&walk, g_array_index(walk.closing, uint32_t, i));
    *tree = (struct fm_tree){walk.order, walk.count, walk.above, g_new0(uint32_t, pds)};
    for (uint32_t i = 0; i < walk.count; i++) {
        uint32_t group = group_of(&walk, walk.order[i]);
        tree->heads[walk.order[i]] = walk.several[group] ? group : 0;
    }
    g_free(walk.depth);
    g_free(walk.groups);
    g_free(walk.several);
    g_array_unref(walk.closing);
}

void fm_profile_tree_done(struct fm_tree *tree)
{
    g_clear_pointer(&tree->order, g_free);
    g_clear_pointer(&tree->above, g_free);
    g_clear_pointer(&tree->heads, g_free);
}

uint32_t *fm_profile_recursion_heads(const struct fm_profile *profile)
{
    struct fm_tree tree;
    fm_profile_tree_init(&tree, profile);
    uint32_t *ret = g_steal_pointer(&tree.heads);
    fm_profile_tree_done(&tree);
    return ret;
}

bool *fm_profile_recursions(const struct fm_profile *profile)
{
    g_autofree uint32_t *heads = fm_profile_recursion_heads(profile);
    bool *ret = g_new(bool, profile->pd_count + (size_t)1);
    for (size_t pd = 0; pd <= profile->pd_count; pd++)
        ret[pd] = heads[pd] != 0;
    return ret;
}
