/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the coverage points and call sites of a body's goals in the profile, by goal path. */
#include "base/error.h"
#include "mercury/body/coverage.h"

/* Sums wrap around: a damaged file may hold any numbers. */
static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct measuring {
    const struct fm_analysis *a;
    const struct fm_body *body;
    struct fm_body_index *index;
    struct fm_goal_facts *facts;
};

static void begin(struct measuring *m, const struct fm_analysis *a, const struct fm_body *body)
{
    m->a = a;
    m->body = body;
    m->index = fm_body_index_new(body);
    m->facts = fm_goal_facts_new(body);
}

static struct fm_coverage *finish(struct measuring *m, int64_t calls, int64_t exits)
{
    struct fm_coverage *coverage = fm_coverage_infer(m->body, calls, exits, m->facts);
    fm_body_index_free(m->index);
    g_free(m->facts);
    return coverage;
}

/* Several points of one goal are added. */
static void add_point(struct measuring *m, const struct fm_coverage_point *point, uint64_t count)
{
    uint32_t goal = fm_body_index_find(m->index, point->goal_path);
    if (goal == FM_NO_GOAL)
        return; /* Mercury's tool ignores this silently, too */
    struct fm_known_count *to =
        point->type == FM_POINT_AFTER ? &m->facts[goal].after : &m->facts[goal].arm;
    to->known = true;
    to->count = (int64_t)((uint64_t)to->count + count);
}

static void add_pd_points(struct measuring *m, uint32_t pd)
{
    const struct fm_profile *profile = m->a->profile;
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    uint64_t first = profile->pd_point_first[pd];
    uint64_t count = profile->pd_point_first[pd + 1] - first;
    for (uint32_t i = 0; i < ps->point_count && i < count; i++)
        add_point(m, &profile->points[ps->point_first + i],
                  fm_column_get(&profile->pd_points, (size_t)(first + i)));
}

static void add_site(struct measuring *m, uint32_t css, int64_t calls, int64_t exits)
{
    uint32_t goal = fm_body_index_find(m->index, m->a->profile->css[css].goal_path);
    if (goal == FM_NO_GOAL)
        return;
    m->facts[goal].has_site = true;
    m->facts[goal].site_calls = wrap_add(m->facts[goal].site_calls, calls);
    m->facts[goal].site_exits = wrap_add(m->facts[goal].site_exits, exits);
}

static bool unavailable(GError **error)
{
    g_set_error_literal(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "No coverage information available");
    return false;
}

bool fm_coverage_of_pd(const struct fm_analysis *a, const struct fm_body *body, uint32_t pd,
                       struct fm_coverage **ret, GError **error)
{
    g_return_val_if_fail(pd >= 1 && pd <= a->profile->pd_count, false);
    const struct fm_profile *profile = a->profile;
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    struct measuring m;
    struct fm_cost cost;
    if (profile->coverage != FM_COVERAGE_DYNAMIC)
        return unavailable(error);
    begin(&m, a, body);
    add_pd_points(&m, pd);
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        int64_t calls = 0, exits = 0;
        for (uint32_t i = 0; i < count; i++) {
            calls = wrap_add(calls, fm_profile_calls(profile, csds[i]));
            exits = wrap_add(exits, (int64_t)fm_profile_own(profile, csds[i], FM_EXITS));
        }
        add_site(&m, profile->css_of_ps[ps->css_first + slot], calls, exits);
    }
    fm_analysis_pd_cost(a, pd, &cost);
    *ret = finish(&m, cost.calls, cost.own[FM_EXITS]);
    return true;
}

bool fm_coverage_of_ps(const struct fm_analysis *a, const struct fm_body *body, uint32_t ps_id,
                       struct fm_coverage **ret, GError **error)
{
    g_return_val_if_fail(ps_id >= 1 && ps_id <= a->profile->ps_count, false);
    const struct fm_profile *profile = a->profile;
    const struct fm_ps *ps = &profile->ps[ps_id];
    uint32_t first = a->ps_pd_first[ps_id], end = a->ps_pd_first[ps_id + 1];
    struct measuring m;
    struct fm_cost cost;
    if (profile->coverage == FM_COVERAGE_NONE ||
        (profile->coverage == FM_COVERAGE_DYNAMIC && first == end))
        return unavailable(error);
    begin(&m, a, body);
    if (profile->coverage == FM_COVERAGE_STATIC) {
        for (uint32_t i = 0; i < ps->point_count; i++)
            add_point(&m, &profile->points[ps->point_first + i],
                      profile->points[ps->point_first + i].count);
    }
    for (uint32_t i = first; profile->coverage == FM_COVERAGE_DYNAMIC && i < end; i++)
        add_pd_points(&m, a->ps_pds[i]);
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        uint32_t css = profile->css_of_ps[ps->css_first + slot];
        fm_analysis_css_cost(a, css, &cost);
        add_site(&m, css, cost.calls, cost.own[FM_EXITS]);
    }
    fm_analysis_ps_cost(a, ps_id, &cost);
    *ret = finish(&m, cost.calls, cost.own[FM_EXITS]);
    return true;
}
