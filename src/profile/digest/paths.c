/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/paths.h"

#include <stdlib.h>
#include <string.h>

#include "profile/digest/names.h"

#define STEPS_MAX 64          /* names in a path */
#define JOINED_MAX 3          /* maximum number of slashes in a name, + 1 */
#define SEARCH_MAX (1u << 22) /* maximum number of proc dynamics visited for one path */
#define SAMPLES_THAT_TELL 30
#define COMPARED_MAX 500u /* rows that are compared for equal paths */

/* --- procedures of a clique --- */

#define FEW_PROCS 32u

/* The procedures of a clique, each once. Paths need it at every step, and nearly all recursions
 * have few procedures, which need no table. */
struct procs {
    uint32_t few[FEW_PROCS];
    uint32_t count;
    GHashTable *seen; /* NULL = they are few */
    GArray *all;      /* elements: uint32_t; NULL = they are few */
};

static bool is_known(const struct procs *procs, uint32_t ps)
{
    if (procs->seen != NULL)
        return g_hash_table_contains(procs->seen, GUINT_TO_POINTER(ps));
    for (uint32_t i = 0; i < procs->count; i++) {
        if (procs->few[i] == ps)
            return true;
    }
    return false;
}

static void add_proc(struct procs *procs, uint32_t ps)
{
    if (procs->seen == NULL && procs->count < FEW_PROCS) {
        procs->few[procs->count++] = ps;
        return;
    }
    if (procs->seen == NULL) {
        procs->seen = g_hash_table_new(NULL, NULL);
        procs->all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_array_append_vals(procs->all, procs->few, FEW_PROCS);
        for (uint32_t i = 0; i < FEW_PROCS; i++)
            g_hash_table_add(procs->seen, GUINT_TO_POINTER(procs->few[i]));
    }
    g_hash_table_add(procs->seen, GUINT_TO_POINTER(ps));
    g_array_append_val(procs->all, ps);
    procs->count++;
}

static void find_procs(const struct fm_analysis *a, uint32_t clique, struct procs *ret)
{
    ret->count = 0;
    ret->seen = NULL;
    ret->all = NULL;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t ps = a->profile->pd_ps[a->clique_pds[i]];
        if (!is_known(ret, ps))
            add_proc(ret, ps);
    }
}

static void clear_procs(struct procs *procs)
{
    g_clear_pointer(&procs->seen, g_hash_table_unref);
    if (procs->all != NULL)
        g_array_unref(procs->all);
}

uint32_t fm_digest_clique_procs(const struct fm_analysis *a, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 0);
    if (a->clique_first[clique + 1] - a->clique_first[clique] == 1)
        return 1;
    struct procs procs;
    find_procs(a, clique, &procs);
    clear_procs(&procs);
    return procs.count;
}

/* Names a recursion by the function with most of the time or, if time says too little, with most
 * calls. */
static uint32_t name_of(const struct fm_analysis *a, const uint32_t *procs, uint32_t count)
{
    int64_t time = 0, most_time = -1, most_calls = -1;
    uint32_t dearest = 0, busiest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ps = procs[i];
        struct fm_cost cost;
        fm_analysis_ps_cost(a, ps, &cost);
        time += cost.own[FM_QUANTA];
        if (cost.own[FM_QUANTA] > most_time || (cost.own[FM_QUANTA] == most_time && ps < dearest)) {
            most_time = cost.own[FM_QUANTA];
            dearest = ps;
        }
        if (cost.calls > most_calls || (cost.calls == most_calls && ps < busiest)) {
            most_calls = cost.calls;
            busiest = ps;
        }
    }
    return fm_profile_samples(a->profile, (double)time) >= SAMPLES_THAT_TELL &&
                   most_time >= time - most_time
               ? dearest
               : busiest;
}

uint32_t fm_digest_clique_name(const struct fm_analysis *a, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 0);
    uint32_t first = a->clique_first[clique];
    uint32_t name = a->profile->pd_ps[a->clique_pds[first]];
    if (a->clique_first[clique + 1] - first == 1)
        return name;
    struct procs procs;
    find_procs(a, clique, &procs);
    if (procs.count > 1)
        name = name_of(
            a, procs.all == NULL ? procs.few : (const uint32_t *)(const void *)procs.all->data,
            procs.count);
    clear_procs(&procs);
    return name;
}

bool fm_digest_clique_recurses(const struct fm_analysis *a, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, false);
    uint32_t first = a->clique_first[clique];
    if (a->clique_first[clique + 1] - first > 1)
        return true;
    uint32_t pd = a->clique_pds[first];
    const struct fm_profile *profile = a->profile;
    uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (profile->csd_callee[csds[i]] == pd)
                return true;
        }
    }
    return false;
}

bool fm_digest_is_outside(const struct fm_analysis *a, uint32_t clique)
{
    const struct fm_profile *profile = a->profile;
    uint32_t csd = a->clique_parent[clique];
    if (clique == a->pd_clique[profile->root_pd] || csd == 0)
        return true;
    if (profile->flavour != FM_FLAVOUR_C || profile->csd_caller[csd] != profile->root_pd)
        return false;
    const struct fm_ps *proc = &profile->ps[profile->pd_ps[profile->csd_callee[csd]]];
    return !proc->file[0] && !proc->decl_module[0];
}

uint32_t fm_digest_path(const struct fm_analysis *a, uint32_t clique, uint32_t *cliques,
                        uint32_t max)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 0);
    uint32_t count = 0;
    for (uint32_t at = clique; !fm_digest_is_outside(a, at);
         at = fm_analysis_clique_of_csd_caller(a, a->clique_parent[at])) {
        if (count < max)
            cliques[count] = at;
        count++;
    }
    uint32_t stored = MIN(count, max);
    for (uint32_t i = 0; i < stored / 2; i++) {
        uint32_t other = cliques[i];
        cliques[i] = cliques[stored - 1 - i];
        cliques[stored - 1 - i] = other;
    }
    return count;
}

bool fm_digest_is_same_path(const struct fm_analysis *a, uint32_t clique, uint32_t other)
{
    while (clique != other) {
        bool ends = fm_digest_is_outside(a, clique), other_ends = fm_digest_is_outside(a, other);
        if (ends || other_ends)
            return ends && other_ends;
        if (fm_digest_clique_name(a, clique) != fm_digest_clique_name(a, other) ||
            fm_digest_clique_procs(a, clique) != fm_digest_clique_procs(a, other))
            return false;
        clique = fm_analysis_clique_of_csd_caller(a, a->clique_parent[clique]);
        other = fm_analysis_clique_of_csd_caller(a, a->clique_parent[other]);
    }
    return true;
}

uint32_t fm_digest_join(const struct fm_digest_rows *join)
{
    char *rows = join->rows;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < join->count; i++) {
        char *row = rows + i * join->size;
        uint32_t same = i < COMPARED_MAX ? 0 : kept;
        while (same < kept && !join->is_same(join->user, rows + same * join->size, row))
            same++;
        if (same < kept)
            join->add(rows + same * join->size, row);
        else
            memmove(rows + kept++ * join->size, row, join->size);
    }
    return kept;
}

/* --- paths as text --- */

struct step {
    uint32_t *ps; /* ascending */
    uint32_t count;
};

struct search {
    const struct fm_analysis *a;
    struct step steps[STEPS_MAX];
    uint32_t step_count;
    uint32_t looked_at;
};

/* Each name as long as can be; false when some part is no name. */
static bool read_steps(struct search *search, const char *path)
{
    g_auto(GStrv) parts = g_strsplit(path, "/", STEPS_MAX * JOINED_MAX + 1);
    uint32_t count = g_strv_length(parts);
    for (uint32_t at = 0; at < count;) {
        struct step step = {NULL, 0};
        uint32_t joined = MIN(JOINED_MAX, count - at);
        for (; joined > 0; joined--) {
            g_autoptr(GString) name = g_string_new(parts[at]);
            for (uint32_t i = 1; i < joined; i++)
                g_string_append_printf(name, "/%s", parts[at + i]);
            fm_digest_named_procs(search->a->profile, name->str, &step.ps, &step.count);
            if (step.count > 0)
                break;
            g_clear_pointer(&step.ps, g_free);
        }
        if (joined == 0 || search->step_count == STEPS_MAX) {
            g_free(step.ps);
            return false;
        }
        search->steps[search->step_count++] = step;
        at += joined;
    }
    return search->step_count > 0;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
    return ia < ib ? -1 : ia > ib;
}

static bool clique_has_step(struct search *search, uint32_t clique, const struct step *step)
{
    const struct fm_analysis *a = search->a;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        search->looked_at++;
        if (bsearch(&a->profile->pd_ps[a->clique_pds[i]], step->ps, step->count, sizeof *step->ps,
                    compare_ids))
            return true;
    }
    return false;
}

/* Whether the steps before the last one lead to this clique. gaps: other steps may be between.
 * Names of one recursion may follow one another within it. */
static bool path_leads_to(struct search *search, uint32_t clique, bool gaps)
{
    const struct fm_analysis *a = search->a;
    uint32_t at = clique;
    for (uint32_t left = search->step_count - 1; left > 0; left--) {
        const struct step *step = &search->steps[left - 1];
        bool inside = a->clique_first[at + 1] - a->clique_first[at] > 1;
        if (inside && clique_has_step(search, at, step))
            continue;
        bool has;
        do {
            at = fm_analysis_clique_of_csd_caller(a, a->clique_parent[at]);
            if (fm_digest_is_outside(a, at))
                return false;
            has = clique_has_step(search, at, step);
        } while (!has && gaps && search->looked_at < SEARCH_MAX);
        if (!has)
            return false;
    }
    return true;
}

static void collect(struct search *search, bool gaps, GArray *to)
{
    const struct fm_analysis *a = search->a;
    const struct step *last = &search->steps[search->step_count - 1];
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < last->count; i++) {
        for (uint32_t j = a->ps_pd_first[last->ps[i]]; j < a->ps_pd_first[last->ps[i] + 1]; j++) {
            uint32_t clique = a->pd_clique[a->ps_pds[j]];
            if (search->looked_at >= SEARCH_MAX)
                return;
            if (!fm_digest_is_outside(a, clique) &&
                g_hash_table_add(seen, GUINT_TO_POINTER(clique)) &&
                path_leads_to(search, clique, gaps))
                g_array_append_val(to, clique);
        }
    }
}

void fm_digest_named_paths(const struct fm_analysis *a, const char *path, uint32_t max,
                           uint32_t **ret, uint32_t *ret_count, uint32_t *ret_total)
{
    g_return_if_fail(path != NULL && ret != NULL);
    struct search search = {.a = a};
    GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (read_steps(&search, path)) {
        collect(&search, false, found);
        if (found->len == 0)
            collect(&search, true, found);
    }
    if (found->len > 0)
        qsort(found->data, found->len, sizeof(uint32_t), compare_ids);
    *ret_total = found->len;
    *ret_count = MIN(found->len, max);
    for (uint32_t i = 0; i < search.step_count; i++)
        g_free(search.steps[i].ps);
    *ret = (uint32_t *)(void *)g_array_free(found, FALSE);
}
