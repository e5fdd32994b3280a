/* SPDX-License-Identifier: Apache-2.0 */
#include "mercury/body/internal.h"

#include <math.h>

#include "base/error.h"

struct kept_pd {
    struct fm_pd_body *pd; /* NULL: error */
    GError *error;
};

static void pd_body_free(struct fm_pd_body *pd)
{
    if (pd == NULL)
        return;
    fm_body_index_free(pd->index);
    fm_coverage_free(pd->coverage);
    fm_body_free(pd->body);
    g_free(pd->sites);
    g_free(pd->goal_site);
    g_free(pd);
}

static void kept_pd_free(gpointer data)
{
    struct kept_pd *kept = data;
    pd_body_free(kept->pd);
    g_clear_error(&kept->error);
    g_free(kept);
}

struct fm_bodies *fm_bodies_new(const struct fm_analysis *a, const struct fm_procrep *procrep,
                                const char *message)
{
    g_return_val_if_fail(a != NULL, NULL);
    struct fm_bodies *bodies = g_new0(struct fm_bodies, 1);
    bodies->a = a;
    bodies->procrep = procrep;
    bodies->message = message;
    bodies->pds = g_hash_table_new_full(NULL, NULL, NULL, kept_pd_free);
    return bodies;
}

void fm_bodies_free(struct fm_bodies *bodies)
{
    if (bodies == NULL)
        return;
    g_hash_table_unref(bodies->pds);
    g_clear_pointer(&bodies->recursions, g_hash_table_unref);
    g_free(bodies);
}

const struct fm_analysis *fm_bodies_analysis(const struct fm_bodies *bodies)
{
    return bodies->a;
}

static bool find_proc(const struct fm_bodies *bodies, uint32_t ps, uint32_t *ret, GError **error)
{
    if (bodies->procrep == NULL && bodies->message == NULL) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                            "There is no readable procedure representation information file.");
        return false;
    }
    if (bodies->procrep == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "Error reading procedure representation information file: %s", bodies->message);
        return false;
    }
    int64_t proc = fm_procrep_find_ps(bodies->procrep, &bodies->a->profile->ps[ps]);
    if (proc < 0) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                            "Cannot find procedure representation");
        return false;
    }
    *ret = (uint32_t)proc;
    return true;
}

bool fm_bodies_body(const struct fm_bodies *bodies, uint32_t ps, struct fm_body **ret,
                    GError **error)
{
    g_return_val_if_fail(ps >= 1 && ps <= bodies->a->profile->ps_count, false);
    uint32_t proc;
    return find_proc(bodies, ps, &proc, error) &&
           fm_procrep_body(bodies->procrep, proc, ret, error);
}

double fm_site_per_call(const struct fm_site_cost *site)
{
    return site->calls == 0 ? 0 : (double)site->total / (double)site->calls;
}

static void add_csd(const struct fm_bodies *bodies, struct fm_pd_body *pd,
                    struct fm_site_cost *site, uint32_t csd)
{
    const struct fm_analysis *a = bodies->a;
    struct fm_cost cost;
    fm_analysis_csd_cost(a, csd, &cost);
    site->calls = (int64_t)((uint64_t)site->calls + (uint64_t)cost.calls);
    site->exits = (int64_t)((uint64_t)site->exits + (uint64_t)cost.own[FM_EXITS]);
    site->total = (int64_t)((uint64_t)site->total + (uint64_t)fm_cost_total(&cost, FM_CALLSEQS));
    site->recursive = site->recursive || a->pd_clique[a->profile->csd_callee[csd]] == pd->clique;
    if (site->csd_count++ == 0)
        site->csd = csd;
}

static void measure_sites(const struct fm_bodies *bodies, struct fm_pd_body *pd)
{
    const struct fm_profile *profile = bodies->a->profile;
    const struct fm_ps *ps = &profile->ps[pd->ps];
    pd->site_count = ps->css_count;
    pd->sites = g_new0(struct fm_site_cost, ps->css_count + 1u);
    pd->goal_site = g_new(uint32_t, pd->body->goal_count);
    for (uint32_t goal = 0; goal < pd->body->goal_count; goal++)
        pd->goal_site[goal] = FM_NO_SITE;
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        struct fm_site_cost *site = &pd->sites[slot];
        const struct fm_css *css = &profile->css[profile->css_of_ps[ps->css_first + slot]];
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd->pd, slot, &count);
        site->slot = slot;
        site->higher_order = css->kind != FM_SITE_NORMAL && css->kind != FM_SITE_CALLBACK;
        for (uint32_t i = 0; i < count; i++)
            add_csd(bodies, pd, site, csds[i]);
        uint32_t goal = fm_body_index_find(pd->index, css->goal_path);
        if (goal != FM_NO_GOAL && fm_goal_is_call(&pd->body->goals[goal]))
            pd->goal_site[goal] = slot;
    }
}

/* Contradictory counts: nothing can be computed. */
static bool is_sound(const struct fm_bodies *bodies, const struct fm_pd_body *pd, GError **error)
{
    const struct fm_coverage *coverage = pd->coverage;
    if (coverage->contradiction_count == 0)
        return true;
    const struct fm_contradiction *first = &coverage->contradictions[coverage->cause];
    g_autoptr(GString) path = g_string_new(NULL);
    fm_body_append_path(path, pd->body, first->goal);
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "coverage of proc dynamic %u (%s) contradicts itself: %s%s: %s", pd->pd,
                bodies->a->profile->ps[pd->ps].qualified_name, path->len == 0 ? "body" : "goal ",
                path->str, first->text);
    return false;
}

static struct fm_pd_body *make_pd(const struct fm_bodies *bodies, uint32_t id, GError **error)
{
    struct fm_pd_body *pd = g_new0(struct fm_pd_body, 1);
    pd->pd = id;
    pd->ps = bodies->a->profile->pd_ps[id];
    pd->clique = bodies->a->pd_clique[id];
    bool ok = bodies->a->profile->coverage == FM_COVERAGE_DYNAMIC;
    if (!ok)
        g_set_error_literal(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                            "No coverage information available");
    ok = ok && find_proc(bodies, pd->ps, &pd->proc, error) &&
         fm_procrep_body(bodies->procrep, pd->proc, &pd->body, error);
    if (ok) {
        pd->index = fm_body_index_new(pd->body);
        measure_sites(bodies, pd);
        fm_analysis_pd_cost(bodies->a, id, &pd->cost);
        ok = fm_coverage_of_pd(bodies->a, pd->body, id, &pd->coverage, error) &&
             is_sound(bodies, pd, error);
    }
    if (ok)
        return pd;
    pd_body_free(pd);
    return NULL;
}

bool fm_bodies_pd(struct fm_bodies *bodies, uint32_t pd, const struct fm_pd_body **ret,
                  GError **error)
{
    g_return_val_if_fail(pd >= 1 && pd <= bodies->a->profile->pd_count, false);
    struct kept_pd *kept = g_hash_table_lookup(bodies->pds, GUINT_TO_POINTER(pd));
    if (kept == NULL) {
        kept = g_new0(struct kept_pd, 1);
        kept->pd = make_pd(bodies, pd, &kept->error);
        g_hash_table_insert(bodies->pds, GUINT_TO_POINTER(pd), kept);
    }
    *ret = kept->pd;
    if (kept->pd == NULL && error != NULL)
        *error = g_error_copy(kept->error);
    return kept->pd != NULL;
}

double fm_round_half_up(double value)
{
    return floor(value + 0.5);
}
