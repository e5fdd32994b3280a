/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of merge.c, in which nothing is added: a sum is closed, so each edge of a part is there
 * and leads to one class. */
#include "runs/merge/locate.h"

#include <string.h>

#include "base/error.h"
#include "runs/merge/internal.h"

struct fm_locate {
    struct fm_merge *merge; /* the sum is all that was added */
    uint32_t *pd_of;        /* the sum's, by node */
    uint32_t *nodes;        /* nodes of the current profile, by pd; UINT32_MAX = not seen */
    uint32_t *pds;
    uint32_t *order, order_count; /* pds as they came; */
    uint32_t *open, open_count;   /* nodes to be walked: each comes once */
};

static bool is_strange(const char *name, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "%s: one of its contexts is not in the sum: it is not one of the added profiles",
                name);
    return false;
}

struct walk {
    struct fm_locate *l;
    const struct fm_profile *profile;
    const uint32_t *procs, *sites;
    const char *name;
};

static void see(struct fm_locate *l, uint32_t pd, uint32_t node)
{
    l->nodes[pd] = node;
    l->order[l->order_count++] = pd;
    l->open[l->open_count++] = pd;
}

static bool follow(const struct walk *w, uint32_t pd, uint32_t csd, uint32_t *guess, GError **error)
{
    struct fm_merge *m = w->l->merge;
    const struct fm_profile *profile = w->profile;
    uint32_t callee = profile->csd_callee[csd];
    uint32_t edge = fm_merge_find_edge(m, w->l->nodes[pd], w->sites[profile->csd_css[csd]],
                                       w->procs[profile->pd_ps[callee]], guess);
    if (edge == FM_NO_EDGE)
        return is_strange(w->name, error);
    uint32_t node = fm_merge_class_of(m, fm_merge_edge(m, edge)->callee);
    if (w->l->nodes[callee] == UINT32_MAX)
        see(w->l, callee, node);
    return w->l->nodes[callee] == node || is_strange(w->name, error);
}

static bool walk_graph(const struct walk *w, GError **error)
{
    struct fm_locate *l = w->l;
    const struct fm_profile *profile = w->profile;
    bool ok = true;
    while (ok && l->open_count > 0) {
        uint32_t pd = l->open[--l->open_count];
        uint32_t guess = fm_merge_node(l->merge, l->nodes[pd])->first;
        for (uint32_t slot = 0; ok && slot < profile->ps[profile->pd_ps[pd]].css_count; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t i = 0; ok && i < count; i++)
                ok = follow(w, pd, csds[i], &guess, error);
        }
    }
    return ok;
}

/* The root, or below it the procedure that stands for the program. */
static bool root_of(const struct walk *w, uint32_t *ret, GError **error)
{
    struct fm_merge *m = w->l->merge;
    const struct fm_profile *profile = w->profile;
    uint32_t ps = w->procs[profile->pd_ps[profile->root_pd]];
    bool is_union = strcmp(profile->program_name, FM_MERGE_UNION_NAME) == 0;
    *ret = fm_merge_class_of(m, m->root);
    if (is_union || !m->options.union_programs)
        return fm_merge_node(m, *ret)->ps == ps || is_strange(w->name, error);
    const GArray *sites = fm_merge_proc(m, fm_merge_node(m, *ret)->ps)->sites;
    uint32_t guess = FM_NO_EDGE;
    uint32_t edge = sites->len == 0 ? FM_NO_EDGE
                                    : fm_merge_find_edge(m, *ret, g_array_index(sites, uint32_t, 0),
                                                         ps, &guess);
    if (edge == FM_NO_EDGE)
        return is_strange(w->name, error);
    *ret = fm_merge_class_of(m, fm_merge_edge(m, edge)->callee);
    return true;
}

/* Sets nodes and order. */
static bool walk(struct fm_locate *l, const struct fm_profile *profile, const char *name,
                 GError **error)
{
    uint32_t *procs, *sites, root;
    l->nodes = g_renew(uint32_t, l->nodes, profile->pd_count + 1u);
    memset(l->nodes, 0xff, sizeof *l->nodes * (profile->pd_count + 1u));
    l->order = g_renew(uint32_t, l->order, profile->pd_count + 1u);
    l->open = g_renew(uint32_t, l->open, profile->pd_count + 1u);
    l->order_count = l->open_count = 0;
    if (!fm_merge_statics(l->merge, profile, name, &procs, &sites, error))
        return false;
    const struct walk w = {l, profile, procs, sites, name};
    bool ok = root_of(&w, &root, error);
    if (ok)
        see(l, profile->root_pd, root);
    ok = ok && walk_graph(&w, error);
    g_free(procs);
    g_free(sites);
    return ok;
}

bool fm_locate_new(const struct fm_merge_options *options, const struct fm_profile *sum,
                   struct fm_locate **ret, GError **error)
{
    g_return_val_if_fail(options != NULL && sum != NULL && ret != NULL, false);
    struct fm_locate *l = g_new0(struct fm_locate, 1);
    struct fm_merge_options without_costs = *options;
    without_costs.places = true;
    l->merge = fm_merge_new(&without_costs);
    if (!fm_merge_add(l->merge, sum, sum->program_name, error) ||
        !walk(l, sum, sum->program_name, error)) {
        fm_locate_free(l);
        return false;
    }
    l->pd_of = g_new0(uint32_t, l->merge->nodes->len + 1u);
    for (uint32_t i = 0; i < l->order_count; i++) {
        uint32_t pd = l->order[i];
        l->pd_of[l->nodes[pd]] = pd;
    }
    *ret = l;
    return true;
}

void fm_locate_free(struct fm_locate *l)
{
    if (l == NULL)
        return;
    fm_merge_free(l->merge);
    g_free(l->order);
    g_free(l->open);
    g_free(l->pd_of);
    g_free(l->nodes);
    g_free(l->pds);
    g_free(l);
}

bool fm_locate(struct fm_locate *l, const struct fm_profile *profile, const char *name,
               struct fm_located *ret, GError **error)
{
    g_return_val_if_fail(l != NULL && profile != NULL && name != NULL, false);
    if (!walk(l, profile, name, error))
        return false;
    l->pds = g_renew(uint32_t, l->pds, profile->pd_count + 1u);
    for (uint32_t pd = 0; pd <= profile->pd_count; pd++)
        l->pds[pd] = l->nodes[pd] == UINT32_MAX ? 0 : l->pd_of[l->nodes[pd]];
    *ret = (struct fm_located){l->pds, l->order, l->order_count};
    return true;
}
