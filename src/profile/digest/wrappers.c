/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/wrappers.h"

#include <string.h>

struct fm_digest_wrappers {
    bool *is; /* [ps_count + 1] */
    unsigned count;
};

/* Number of calls in it that allocate: those of recorded functions, and all its own calls of the
 * allocator as one. */
static unsigned allocating_sites(const struct fm_analysis *a, uint32_t ps, int64_t own_allocs)
{
    const struct fm_ps *proc = &a->profile->ps[ps];
    unsigned sites = own_allocs > 0;
    for (uint32_t i = 0; i < proc->css_count && sites < 2; i++) {
        struct fm_cost cost;
        fm_analysis_css_cost(a, a->profile->css_of_ps[proc->css_first + i], &cost);
        sites += fm_cost_total(&cost, FM_ALLOCS) > 0;
    }
    return sites;
}

static bool is_called_from_several(const struct fm_analysis *a, uint32_t ps)
{
    uint32_t first = a->ps_caller_first[ps], end = a->ps_caller_first[ps + 1];
    for (uint32_t i = first; i < end; i++) {
        if (a->profile->csd_css[a->ps_callers[i]] != a->profile->csd_css[a->ps_callers[first]])
            return true;
    }
    return false;
}

/* Whether average block sizes differ: objects of one type have equal sizes. */
static bool sizes_differ(const struct fm_analysis *a, uint32_t ps)
{
    double some = -1;
    for (uint32_t i = a->ps_pd_first[ps]; i < a->ps_pd_first[ps + 1]; i++) {
        int64_t allocs = fm_analysis_pd_total(a, a->ps_pds[i], FM_ALLOCS);
        if (allocs <= 0)
            continue;
        double size = (double)fm_analysis_pd_total(a, a->ps_pds[i], FM_WORDS) / (double)allocs;
        if (some >= 0 && (size < some || size > some))
            return true;
        some = size;
    }
    return false;
}

/* That of all types, "operator new(unsigned long)", or of a class, "User::operator new(...)". */
static bool is_operator_new(const char *name)
{
    const char *at = strstr(name, "operator new");
    return at != NULL && (at == name || at[-1] == ':' || at[-1] == ' ') &&
           strstr(at, ")::") == NULL;
}

bool fm_digest_is_allocator(const char *name)
{
    static const char *const names[] = {
        "malloc",        "calloc", "realloc",  "reallocarray", "memalign", "posix_memalign",
        "aligned_alloc", "valloc", "pvalloc",  "strdup",       "strndup",  "__strdup",
        "__strndup",     "wcsdup", "asprintf", "vasprintf"};
    if (g_str_has_prefix(name, "_Znw") || g_str_has_prefix(name, "_Zna") || is_operator_new(name))
        return true;
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_wrapper(const struct fm_analysis *a, uint32_t ps)
{
    const struct fm_ps *proc = &a->profile->ps[ps];
    struct fm_cost cost;
    fm_analysis_ps_cost(a, ps, &cost);
    int64_t allocs = fm_cost_total(&cost, FM_ALLOCS);
    if (allocs > 0 &&
        (fm_digest_is_allocator(proc->raw_name) || fm_digest_is_allocator(proc->name)))
        return true;
    return allocs > 0 && allocs <= cost.calls && proc->file[0] &&
           allocating_sites(a, ps, cost.own[FM_ALLOCS]) == 1 && is_called_from_several(a, ps) &&
           sizes_differ(a, ps);
}

struct fm_digest_wrappers *fm_digest_wrappers_new(const struct fm_analysis *a)
{
    struct fm_digest_wrappers *wrappers = g_new0(struct fm_digest_wrappers, 1);
    wrappers->is = g_new0(bool, a->profile->ps_count + 1u);
    if (a->profile->flavour != FM_FLAVOUR_C)
        return wrappers;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        wrappers->is[ps] = is_wrapper(a, ps);
        wrappers->count += wrappers->is[ps];
    }
    return wrappers;
}

void fm_digest_wrappers_free(struct fm_digest_wrappers *wrappers)
{
    if (!wrappers)
        return;
    g_free(wrappers->is);
    g_free(wrappers);
}

bool fm_digest_is_wrapper(const struct fm_digest_wrappers *wrappers, uint32_t ps)
{
    return wrappers->is[ps];
}

unsigned fm_digest_wrappers_count(const struct fm_digest_wrappers *wrappers)
{
    return wrappers->count;
}
