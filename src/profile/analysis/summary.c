/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over procedures, call sites and modules. */
#include "profile/analysis/analysis_internal.h"

#include <string.h>

#define CSDS_A_STRETCH 16384u /* number of csds that a thread takes at a time */
#define CSDS_AHEAD 16u        /* distance of memory prefetch */
#define ROWS_A_NODE 4         /* rows of sums that are added in the time for one node */

static void *zeros(struct fm_analysis_job *job, size_t count, size_t bytes)
{
    void *array = g_try_malloc0_n(count, bytes);
    job->failed |= array == NULL;
    return array;
}

static void alloc_sums(struct fm_analysis_job *job)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    struct fm_analysis_storage *storage = a->storage;
    size_t own = profile->measure_count, desc = storage->inherited;
    size_t ps = profile->ps_count + 1u, css = profile->css_count + 1u;
    storage->ps_own = zeros(job, ps * own, sizeof(int64_t));
    storage->ps_desc = zeros(job, ps * desc, sizeof(int64_t));
    storage->css_own = zeros(job, css * own, sizeof(int64_t));
    storage->css_desc = zeros(job, css * desc, sizeof(int64_t));
    storage->ps_paid = zeros(job, ps * desc, sizeof(int64_t));
    storage->ps_recursive = zeros(job, ps, sizeof(bool));
    storage->ps_of_recursion = zeros(job, ps, sizeof(uint32_t));
    storage->ps_recursion = zeros(job, ps, sizeof(uint32_t));
    job->sums = (struct fm_csd_sums){storage->ps_own, storage->css_own, storage->css_desc,
                                     storage->arcs, storage->ps_recursive};
}

bool fm_csd_sums_init(const struct fm_analysis *a, struct fm_csd_sums *sums)
{
    const struct fm_profile *profile = a->profile;
    size_t ps = profile->ps_count + 1u, css = profile->css_count + 1u;
    *sums = (struct fm_csd_sums){
        .ps_own = g_try_new0(int64_t, ps * profile->measure_count),
        .css_own = g_try_new0(int64_t, css * profile->measure_count),
        .css_desc = g_try_new0(int64_t, css * a->storage->inherited),
        .arcs = g_new0(struct fm_sparse_costs, 2),
        .ps_recursive = g_try_new0(bool, ps),
    };
    return sums->ps_own && sums->css_own && sums->css_desc && sums->ps_recursive;
}

void fm_csd_sums_done(struct fm_csd_sums *sums)
{
    g_free(sums->ps_own);
    g_free(sums->css_own);
    g_free(sums->css_desc);
    for (int inside = 0; inside < 2 && sums->arcs != NULL; inside++)
        fm_sparse_done(&sums->arcs[inside]);
    g_free(sums->arcs);
    g_free(sums->ps_recursive);
    *sums = (struct fm_csd_sums){0};
}

/* Measures that are not 0 in some csd: own, and total. */
struct present {
    unsigned own[FM_MEASURES_MAX], own_count;
    unsigned total[FM_MEASURES_MAX], total_count;
};

static struct present present_measures(const struct fm_analysis *a)
{
    struct present present = {.own_count = 0};
    for (unsigned m = 0; m < a->profile->measure_count; m++) {
        if (a->profile->csd_own[m].width != 0)
            present.own[present.own_count++] = m;
        if (a->storage->total_place[m] != 0)
            present.total[present.total_count++] = m;
    }
    return present;
}

/* If the callee is fixed, the procedure gets its part from the site, see fm_phase_merge(). */
static void sum_csd(const struct fm_analysis *a, const struct fm_csd_sums *sums,
                    const struct present *present, uint32_t csd)
{
    const struct fm_profile *profile = a->profile;
    const struct fm_analysis_storage *storage = a->storage;
    uint32_t css = profile->csd_css[csd], ps = storage->css_callee[css];
    bool fixed = ps != 0, inside = !fm_csd_enters(a, csd);
    int64_t *css_own = &sums->css_own[(size_t)css * profile->measure_count];
    int64_t own[FM_MEASURES_MAX];
    for (unsigned i = 0; i < present->total_count; i++)
        own[present->total[i]] = 0; /* for calls of which only the total was recorded */
    for (unsigned i = 0; i < present->own_count; i++) {
        unsigned m = present->own[i];
        own[m] = (int64_t)fm_profile_own(profile, csd, (enum fm_measure_id)m);
        css_own[m] = fm_wrap_add(css_own[m], own[m]);
    }
    int64_t *css_desc = &sums->css_desc[(size_t)css * storage->inherited];
    for (unsigned i = 0; i < present->total_count && !inside; i++) {
        unsigned m = present->total[i];
        int64_t *desc = &css_desc[m - FM_FIRST_INHERITED];
        *desc = fm_wrap_add(*desc, fm_wrap_sub((int64_t)fm_csd_total(a, csd, m), own[m]));
    }
    if (FM_LIKELY(fixed && !inside))
        return;
    if (fixed) {
        fm_arcs_add(a, sums, csd, ps);
    } else {
        ps = profile->pd_ps[profile->csd_callee[csd]];
        int64_t *ps_own = &sums->ps_own[(size_t)ps * profile->measure_count];
        for (unsigned i = 0; i < present->own_count; i++)
            ps_own[present->own[i]] = fm_wrap_add(ps_own[present->own[i]], own[present->own[i]]);
        fm_arcs_add_loose(a, sums, csd, ps);
    }
    if (inside)
        sums->ps_recursive[ps] = true;
}

/* Prefetches, because sites and callees come in any order. */
static inline void ask_for(const struct fm_analysis *a, const struct fm_csd_sums *sums,
                           uint32_t csd)
{
    const struct fm_analysis_storage *storage = a->storage;
    size_t css = a->profile->csd_css[csd], callee = a->profile->csd_callee[csd];
    const int64_t *own = &sums->css_own[css * a->profile->measure_count];
    __builtin_prefetch(own, 1);
    __builtin_prefetch(own + a->profile->measure_count - 1, 1);
    __builtin_prefetch(&sums->css_desc[css * storage->inherited], 1);
    __builtin_prefetch(&storage->pd_totals[callee * storage->total_width]);
}

/* Sums own costs by procedure and site, and descendants by site, for the ranges of csds that this
 * thread takes. */
bool fm_phase_sum_csds(struct fm_analysis_job *job, uint32_t budget)
{
    const struct fm_analysis *a = job->analysis;
    uint32_t count = a->profile->csd_count;
    const struct present present = present_measures(a);
    for (; budget > 0; budget--) {
        if (job->cursor == job->inner) {
            uint32_t first = __atomic_load_n(job->next_csd, __ATOMIC_RELAXED);
            do {
                if (first == count)
                    return true;
                job->inner = first + MIN(CSDS_A_STRETCH, count - first);
            } while (!__atomic_compare_exchange_n(job->next_csd, &first, job->inner, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED));
            job->cursor = first;
        }
        ask_for(a, &job->sums, MIN(job->cursor + CSDS_AHEAD, count));
        sum_csd(a, &job->sums, &present, ++job->cursor);
    }
    return false;
}

static void add_rows(int64_t *to, const int64_t *from, size_t row, unsigned width)
{
    for (size_t i = row * width; i < (row + 1) * width; i++)
        to[i] = fm_wrap_add(to[i], from[i]);
}

/* Adds the second thread's sums, and transfers sums of sites to procedures. */
static void merge_row(struct fm_analysis_job *job, const struct fm_csd_sums *from, uint32_t row)
{
    const struct fm_analysis *a = job->analysis;
    const struct fm_csd_sums *to = &job->sums;
    unsigned measures = a->profile->measure_count;
    if (from != NULL && row <= a->profile->ps_count) {
        add_rows(to->ps_own, from->ps_own, row, measures);
        to->ps_recursive[row] |= from->ps_recursive[row];
    }
    if (row > a->profile->css_count)
        return;
    if (from != NULL) {
        add_rows(to->css_own, from->css_own, row, measures);
        add_rows(to->css_desc, from->css_desc, row, a->storage->inherited);
    }
    int64_t *callee = &to->ps_own[(size_t)a->storage->css_callee[row] * measures];
    const int64_t *site = &to->css_own[(size_t)row * measures];
    for (unsigned m = 0; m < measures; m++) /* to none's, where the callee is not fixed */
        callee[m] = fm_wrap_add(callee[m], site[m]);
}

bool fm_phase_merge(struct fm_analysis_job *job, uint32_t budget)
{
    const struct fm_analysis *a = job->analysis;
    bool beside = job->beside != NULL && job->beside->sums.ps_own != NULL;
    struct fm_csd_sums *from = beside ? &job->beside->sums : NULL;
    uint32_t rows = MAX(a->profile->ps_count, a->profile->css_count);
    for (; budget > 0 && job->cursor <= rows; budget -= MIN(budget, ROWS_A_NODE), job->cursor++)
        merge_row(job, from, job->cursor);
    for (; from != NULL && budget > 0 && job->stage < 2; job->stage++, job->inner = 0) {
        size_t capacity = from->arcs[job->stage].index.capacity;
        size_t end = MIN(capacity, (size_t)job->inner + budget);
        fm_arcs_merge(a, &job->sums.arcs[job->stage], &from->arcs[job->stage], job->inner, end);
        budget -= (uint32_t)(end - job->inner);
        job->inner = (uint32_t)end;
        if (end < capacity)
            break;
    }
    if (job->cursor <= rows || (from != NULL && job->stage < 2))
        return false;
    if (from != NULL)
        fm_csd_sums_done(from);
    return true;
}

/* Whether the cost of deeper activations of ps in a pd's callees is part of ps's cost: true for its
 * own pds, and for all in a recursion of a C program, where ps costs what others do. */
static bool holds_nested(const struct fm_analysis *a, uint32_t pd, uint32_t ps)
{
    return ps == a->profile->pd_ps[pd] ||
           (a->profile->flavour == FM_FLAVOUR_C && !fm_bit_get(a->storage->pd_alone, pd));
}

/* As fm_pd_is_paid(), for the pds of ps in the pd's clique. */
static bool is_paid_there(const struct fm_analysis *a, uint32_t pd, uint32_t ps)
{
    uint32_t entry = a->clique_parent[a->pd_clique[pd]];
    return entry != 0 && a->profile->pd_ps[a->profile->csd_callee[entry]] == ps;
}

/* Subtracts from the descendants what they contain twice. */
static void compensate(struct fm_analysis *a)
{
    const struct fm_profile *profile = a->profile;
    struct fm_analysis_storage *storage = a->storage;
    for (int by_site = 0; by_site < 2; by_site++) {
        const struct fm_sparse_costs *costs = by_site ? &storage->nested_csd : &storage->nested_pd;
        for (size_t i = 0; i < costs->index.capacity; i++) {
            if (costs->index.keys[i] == 0)
                continue;
            uint32_t id = (uint32_t)(costs->index.keys[i] >> 32);
            uint32_t ps = (uint32_t)costs->index.keys[i];
            uint32_t css = by_site ? profile->csd_css[id] : 0;
            const int64_t *nested = fm_sparse_find(costs, storage->inherited, id, ps);
            if (!by_site)
                fm_arcs_keep_nested(a, id, ps, nested);
            if (by_site ? ps != profile->css[css].ps : !holds_nested(a, id, ps))
                continue;
            int64_t *desc = by_site ? &storage->css_desc[(size_t)css * storage->inherited]
                                    : &storage->ps_desc[(size_t)ps * storage->inherited];
            bool own = !by_site && ps == profile->pd_ps[id];
            int64_t *paid = !by_site && (own ? fm_pd_is_paid(a, id) : is_paid_there(a, id, ps))
                                ? &storage->ps_paid[(size_t)ps * storage->inherited]
                                : NULL;
            for (unsigned m = 0; m < storage->inherited; m++) {
                if (!by_site && fm_counts_once(a, FM_FIRST_INHERITED + m))
                    continue;
                desc[m] = fm_wrap_sub(desc[m], nested[m]);
                if (paid != NULL)
                    paid[m] = fm_wrap_sub(paid[m], nested[m]);
            }
            if (by_site)
                fm_arcs_keep_taken(a, id, nested);
        }
    }
}

static void sum_pd(struct fm_analysis *a, const struct present *present, uint32_t pd)
{
    const struct fm_analysis_storage *storage = a->storage;
    size_t first = (size_t)a->profile->pd_ps[pd] * storage->inherited;
    int64_t *desc = &storage->ps_desc[first];
    int64_t *paid = fm_pd_is_paid(a, pd) ? &storage->ps_paid[first] : NULL;
    for (unsigned i = 0; i < present->total_count; i++) {
        unsigned m = present->total[i] - FM_FIRST_INHERITED;
        int64_t total = (int64_t)fm_pd_counted(a, pd, present->total[i]);
        desc[m] = fm_wrap_add(desc[m], total);
        if (paid != NULL)
            paid[m] = fm_wrap_add(paid[m], total);
    }
}

/* Descendants by procedure: totals of its pds, for now. In recursions of C programs all pds of a
 * procedure are summed together, because they share costs. */
bool fm_phase_sum_pds(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    const struct present present = present_measures(a);
    bool apart = profile->flavour == FM_FLAVOUR_C;
    if (job->sums.ps_own == NULL)
        alloc_sums(job);
    if (job->failed)
        return false;
    for (; budget > 0 && job->cursor < profile->pd_count; budget--) {
        uint32_t pd = ++job->cursor;
        if (!apart || fm_bit_get(a->storage->pd_alone, pd))
            sum_pd(a, &present, pd);
    }
    for (; apart && budget > 0 && job->cursor == profile->pd_count && job->inner < a->clique_count;
         budget--) {
        uint32_t clique = ++job->inner;
        uint32_t members = a->clique_first[clique + 1] - a->clique_first[clique];
        if (members == 1)
            continue;
        fm_sum_recursion(a, clique, present.total, present.total_count);
        budget -= MIN(budget - 1, members);
    }
    return job->cursor == profile->pd_count && (!apart || job->inner == a->clique_count);
}

/* Subtracts own costs, and what is contained twice. */
bool fm_phase_subtract(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    struct fm_analysis_storage *storage = a->storage;
    for (; budget > 0 && job->cursor < profile->ps_count; budget--) {
        uint32_t ps = ++job->cursor;
        int64_t *desc = &storage->ps_desc[(size_t)ps * storage->inherited];
        const int64_t *own = &storage->ps_own[(size_t)ps * profile->measure_count];
        for (unsigned m = 0; m < storage->inherited; m++) {
            uint64_t most = storage->ps_of_recursion[ps] >> (FM_FIRST_INHERITED + m) & 1u
                                ? fm_pd_total(a, profile->root_pd, FM_FIRST_INHERITED + m)
                                : UINT64_MAX; /* also for nested recursions */
            desc[m] = (int64_t)MIN((uint64_t)desc[m], most);
            desc[m] = fm_wrap_sub(desc[m], own[FM_FIRST_INHERITED + m]);
        }
    }
    if (job->cursor < profile->ps_count)
        return false;
    compensate(a);
    fm_analysis_pd_cost(a, profile->root_pd, &a->root_total);
    return true;
}

static int compare_modules(const void *a, const void *b)
{
    const struct fm_module *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* While modules are collected: strings are interned, equal names are equal pointers. */
struct fm_module_search {
    GHashTable *numbers; /* name -> number of the module + 1 */
    GArray *modules;     /* struct fm_module; NULL when they are the analysis' */
};

void fm_module_search_free(struct fm_module_search *search)
{
    if (search == NULL)
        return;
    g_hash_table_unref(search->numbers);
    if (search->modules != NULL)
        g_array_unref(search->modules);
    g_free(search);
}

static struct fm_module_search *module_search_new(void)
{
    struct fm_module_search *search = g_new0(struct fm_module_search, 1);
    search->numbers = g_hash_table_new(g_direct_hash, g_direct_equal);
    search->modules = g_array_new(FALSE, TRUE, sizeof(struct fm_module));
    return search;
}

/* Numbers the modules; how many procedures each has. */
static void collect_module(struct fm_module_search *search, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(search->numbers, name));
    if (number == 0) {
        const struct fm_module module = {.name = name};
        g_array_append_val(search->modules, module);
        number = search->modules->len;
        g_hash_table_insert(search->numbers, (void *)(uintptr_t)name, GUINT_TO_POINTER(number));
    }
    g_array_index(search->modules, struct fm_module, number - 1).ps_count++;
}

/* Orders them and gives each room for its procedures. */
static void order_modules(struct fm_analysis *a, struct fm_module_search *search)
{
    uint32_t first = 0;
    a->module_count = search->modules->len;
    a->modules = (struct fm_module *)(void *)g_array_free(g_steal_pointer(&search->modules), FALSE);
    if (a->module_count > 0)
        qsort(a->modules, a->module_count, sizeof(*a->modules), compare_modules);
    for (uint32_t i = 0; i < a->module_count; i++) {
        struct fm_module *module = &a->modules[i];
        g_hash_table_insert(search->numbers, (void *)(uintptr_t)module->name,
                            GUINT_TO_POINTER(i + 1));
        module->ps = a->storage->module_ps + first;
        first += module->ps_count;
        module->ps_count = 0;
    }
}

static void add_to_module(struct fm_analysis *a, const struct fm_module_search *search, uint32_t ps)
{
    const char *name = a->profile->ps[ps].decl_module;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(search->numbers, name));
    struct fm_module *module = &a->modules[number - 1];
    uint32_t *ids = a->storage->module_ps;
    ids[module->ps - ids + module->ps_count++] = ps;
    struct fm_cost cost;
    fm_analysis_ps_cost(a, ps, &cost);
    memset(cost.desc, 0, sizeof(cost.desc));
    cost.of_recursion = cost.recursion = 0;
    module->active = module->active || !fm_cost_is_inactive(&cost);
    fm_cost_add(&module->cost, &cost);
}

void fm_analysis_add_modules(struct fm_analysis *a, const char *const *names, uint32_t count)
{
    uint32_t known = a->module_count;
    a->modules = g_renew(struct fm_module, a->modules, (gsize)known + count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_module module = {.name = names[i], .ps = a->storage->module_ps};
        if (known == 0 ||
            bsearch(&module, a->modules, known, sizeof module, compare_modules) == NULL)
            a->modules[a->module_count++] = module;
    }
    qsort(a->modules, a->module_count, sizeof *a->modules, compare_modules);
}

bool fm_phase_modules(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    uint32_t count = a->profile->ps_count;
    if (job->modules == NULL) {
        a->storage->module_ps = fm_job_numbers(job, count);
        job->modules = module_search_new();
        if (job->failed || fm_job_must_touch(job))
            return false;
    }
    for (; job->stage == 0 && budget > 0 && job->cursor < count; budget--)
        collect_module(job->modules, a->profile->ps[++job->cursor].decl_module);
    if (job->stage == 0) {
        if (job->cursor < count)
            return false;
        order_modules(a, job->modules);
        job->stage = 1;
        job->cursor = 0;
    }
    for (; budget > 0 && job->cursor < count; budget--)
        add_to_module(a, job->modules, count - job->cursor++);
    return job->cursor == count;
}
