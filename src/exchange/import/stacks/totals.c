/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/stacks/totals.h"

#include <string.h>

#include "exchange/groups.h"

struct sums {
    uint64_t of[FM_MEASURES_MAX];
    uint32_t any; /* bit m: of[m] is not 0 */
};

struct fm_import_totals {
    bool any;
    GArray *frames; /* struct sums: what is not given to the frame below yet */
    /* By context, int64_t, NULL = all 0. charged: to its function, of stacks that are not plain.
     * moved: what its plain stacks have more than its own cost says. */
    GArray *charged[FM_MEASURES_MAX], *moved[FM_MEASURES_MAX];
    GByteArray *below_itself; /* by context */
};

struct fm_import_totals *fm_import_totals_new(void)
{
    struct fm_import_totals *totals = g_new0(struct fm_import_totals, 1);
    totals->frames = g_array_new(FALSE, TRUE, sizeof(struct sums));
    totals->below_itself = g_byte_array_new();
    return totals;
}

void fm_import_totals_free(struct fm_import_totals *totals)
{
    if (totals == NULL)
        return;
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++) {
        g_clear_pointer(&totals->charged[m], g_array_unref);
        g_clear_pointer(&totals->moved[m], g_array_unref);
    }
    g_array_unref(totals->frames);
    g_byte_array_unref(totals->below_itself);
    g_free(totals);
}

void fm_import_totals_begin(struct fm_import_totals *totals)
{
    totals->any = true;
}

void fm_import_totals_below_itself(struct fm_import_totals *totals, uint32_t pd)
{
    guint before = totals->below_itself->len;
    totals->any = true;
    if (before <= pd) {
        g_byte_array_set_size(totals->below_itself, MAX(pd + 1, 2 * before));
        memset(totals->below_itself->data + before, 0, totals->below_itself->len - before);
    }
    totals->below_itself->data[pd] = 1;
}

/* Sums wrap around: what is moved may be less than 0. */
static void add_to(GArray **sums, uint32_t pd, uint64_t value)
{
    if (*sums == NULL)
        *sums = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    if ((*sums)->len <= pd)
        g_array_set_size(*sums, pd + 1);
    g_array_index(*sums, uint64_t, pd) += value;
}

static uint64_t at(const GArray *sums, uint32_t pd)
{
    return sums == NULL || sums->len <= pd ? 0 : g_array_index(sums, uint64_t, pd);
}

static void add_to_frame(struct fm_import_totals *totals, uint32_t index, unsigned measure,
                         uint64_t value)
{
    if (totals->frames->len <= index)
        g_array_set_size(totals->frames, index + 1);
    struct sums *sums = &g_array_index(totals->frames, struct sums, index);
    sums->of[measure] += value;
    sums->any |= 1u << measure;
}

void fm_import_totals_add(struct fm_import_totals *totals, uint32_t index, uint32_t made,
                          unsigned measure, uint64_t value)
{
    if (measure < FM_FIRST_INHERITED || value == 0)
        return;
    add_to_frame(totals, index, measure, value);
    if (made != 0)
        add_to(&totals->moved[measure], made, -value);
}

void fm_import_totals_leave(struct fm_import_totals *totals, uint32_t index, uint32_t outermost,
                            uint32_t plain)
{
    if (totals->frames->len <= index)
        return;
    struct sums sums = g_array_index(totals->frames, struct sums, index);
    for (unsigned m = FM_FIRST_INHERITED; m < FM_MEASURES_MAX; m++) {
        if ((sums.any >> m & 1u) == 0)
            continue;
        if (outermost != 0)
            add_to(&totals->charged[m], outermost, sums.of[m]);
        if (plain != 0)
            add_to(&totals->moved[m], plain, sums.of[m]);
        else
            add_to_frame(totals, index - 1, m, sums.of[m]);
    }
    g_array_index(totals->frames, struct sums, index) = (struct sums){.any = 0};
}

/* --- what follows at the end --- */

/* Calls by caller: those of pd are at[first[pd] ..], which calls, and to whom. */
struct calls {
    size_t *first;
    uint32_t *csd, *to;
};

static void calls_init(struct calls *calls, const struct fm_profile *profile)
{
    size_t count = (size_t)profile->csd_count + 1;
    calls->first = g_new0(size_t, (size_t)profile->pd_count + 4);
    calls->csd = g_new(uint32_t, count);
    calls->to = g_new(uint32_t, count);
    /* Two ahead while they are counted, so that each is where it belongs after they are put. */
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        calls->first[profile->csd_caller[csd] + 2]++;
    for (uint32_t pd = 1; pd <= profile->pd_count + 2; pd++)
        calls->first[pd + 1] += calls->first[pd];
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        size_t place = calls->first[profile->csd_caller[csd] + 1]++;
        calls->csd[place] = csd;
        calls->to[place] = profile->csd_callee[csd];
    }
}

static void calls_clear(struct calls *calls)
{
    g_free(calls->first);
    g_free(calls->csd);
    g_free(calls->to);
}

/* Which contexts belong to recursions of several functions; [pd_count + 1], g_free. */
static bool *find_recursions(const struct fm_profile *profile, const struct calls *calls)
{
    uint32_t groups, pds = profile->pd_count + 1;
    g_autofree uint32_t *group = fm_exchange_groups(pds, calls->first, calls->to, &groups);
    g_autofree uint32_t *sizes = g_new0(uint32_t, (size_t)groups + 1);
    bool *ret = g_new0(bool, pds);
    for (uint32_t pd = 0; pd < pds; pd++)
        sizes[group[pd]]++;
    for (uint32_t pd = 0; pd < pds; pd++)
        ret[pd] = sizes[group[pd]] > 1;
    return ret;
}

/* The call that made each context: the first. */
static uint32_t *find_makers(const struct fm_profile *profile)
{
    uint32_t *makers = g_new0(uint32_t, profile->pd_count + 1u);
    for (uint32_t csd = profile->csd_count; csd > 0; csd--)
        makers[profile->csd_callee[csd]] = csd;
    return makers;
}

/* Which contexts have their own function on the path of calls that created them; [pd_count + 1],
 * g_free. */
static bool *find_nested(const struct fm_profile *profile, const struct calls *calls,
                         const uint32_t *makers)
{
    bool *nested = g_new0(bool, profile->pd_count + 1u);
    g_autofree uint32_t *active = g_new0(uint32_t, profile->ps_count + 1u); /* by function */
    g_autofree size_t *next = g_new(size_t, profile->pd_count + (size_t)1);
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t pd = profile->root_pd;
    for (;;) {
        if (pd != 0) {
            nested[pd] = active[profile->pd_ps[pd]]++ > 0;
            next[pd] = calls->first[pd];
            g_array_append_val(path, pd);
        }
        if (path->len == 0)
            return nested;
        uint32_t top = g_array_index(path, uint32_t, path->len - 1);
        pd = 0;
        for (; pd == 0 && next[top] < calls->first[top + 1]; next[top]++) {
            if (makers[calls->to[next[top]]] == calls->csd[next[top]])
                pd = calls->to[next[top]];
        }
        if (pd == 0) {
            active[profile->pd_ps[top]]--;
            g_array_set_size(path, path->len - 1);
        }
    }
}

static uint32_t recorded_measures(const struct fm_profile *profile)
{
    uint32_t measures = 0;
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++)
        measures |= (profile->csd_own[m].width != 0 ? 1u : 0u) << m;
    return measures;
}

static void records_init(struct fm_inclusive_info *info, const struct fm_profile *profile,
                         uint32_t measures, const bool *wanted)
{
    *info = (struct fm_inclusive_info){.measures = measures,
                                       .width = (unsigned)__builtin_popcount(measures)};
    info->pds = g_new(uint32_t, profile->pd_count + (size_t)1);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        if (wanted[pd])
            info->pds[info->count++] = pd;
    }
    info->values = g_new0(uint64_t, (size_t)info->count * info->width + 1);
}

/* Cost of each context on plain stacks: contexts have higher numbers than those that created
 * them. */
static uint64_t *plain_totals(const struct fm_import_totals *totals,
                              const struct fm_profile *profile, const uint32_t *makers,
                              unsigned measure)
{
    uint64_t *plain = g_new0(uint64_t, profile->pd_count + (size_t)1);
    for (uint32_t pd = profile->pd_count; pd > 0; pd--) {
        if (makers[pd] == 0)
            continue;
        plain[pd] += fm_profile_own(profile, makers[pd], (enum fm_measure_id)measure) +
                     at(totals->moved[measure], pd);
        plain[profile->csd_caller[makers[pd]]] += plain[pd];
    }
    return plain;
}

void fm_import_totals_tell(struct fm_import_totals *totals, struct fm_profile *profile)
{
    uint32_t measures = recorded_measures(profile);
    struct fm_inclusive_info info;
    struct calls calls;
    if (!totals->any || measures == 0)
        return;
    calls_init(&calls, profile);
    g_autofree uint32_t *makers = find_makers(profile);
    g_autofree bool *wanted = find_recursions(profile, &calls);
    g_autofree bool *nested = find_nested(profile, &calls, makers);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
        wanted[pd] |=
            nested[pd] || (pd < totals->below_itself->len && totals->below_itself->data[pd] != 0);
    records_init(&info, profile, measures, wanted);
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
        int place = fm_inclusive_place(&info, m);
        if (place < 0)
            continue;
        g_autofree uint64_t *plain = plain_totals(totals, profile, makers, m);
        for (uint32_t i = 0; i < info.count; i++) {
            uint32_t pd = info.pds[i];
            info.values[(size_t)i * info.width + (unsigned)place] =
                (nested[pd] ? 0 : plain[pd]) + at(totals->charged[m], pd);
        }
    }
    calls_clear(&calls);
    fm_profile_set_inclusive(profile, &info);
}

void fm_import_totals_of_arcs(struct fm_profile *profile)
{
    uint32_t measures = recorded_measures(profile);
    struct fm_inclusive_info info;
    struct calls calls;
    if (measures == 0)
        return;
    calls_init(&calls, profile);
    g_autofree bool *wanted = find_recursions(profile, &calls);
    g_autofree uint32_t *record = g_new0(uint32_t, profile->pd_count + (size_t)1); /* + 1 */
    calls_clear(&calls);
    records_init(&info, profile, measures, wanted);
    for (uint32_t i = 0; i < info.count; i++)
        record[info.pds[i]] = i + 1;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd];
        if (record[callee] == 0 || profile->csd_caller[csd] == callee)
            continue;
        for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
            int place = fm_inclusive_place(&info, m);
            if (place >= 0)
                info.values[(size_t)(record[callee] - 1) * info.width + (unsigned)place] +=
                    fm_column_get(&profile->csd_inclusive[m], csd);
        }
    }
    fm_profile_set_inclusive(profile, &info);
}
