/* SPDX-License-Identifier: Apache-2.0 */
/* Each part is walked in parallel with the sum (runs/merge/locate.h). Costs of its edges are added
 * to the sum's cliques and then, callees first, to their callers'. The resulting totals of the part
 * are added to the statistical moments. Only cliques that a part has are touched. A part that is
 * itself a sum with statistics contributes its moments. */
#include "runs/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "profile/analysis/analysis.h"
#include "base/error.h"
#include "runs/merge/locate.h"
#include "runs/ranks/places.h"

struct fm_ranks {
    const struct fm_profile *sum;
    bool other_root; /* the sum's root is above those of its parts */
    struct fm_analysis *analysis;
    struct fm_locate *locate;
    struct fm_rank_places places;
    uint32_t place; /* place of the files in question; FM_NO_PLACE = none yet */
    struct fm_rank_files files;
    char *why; /* error: the files of a place are of several runs; NULL */
    struct fm_rank_info info;
    uint32_t *row_of;    /* by clique; UINT32_MAX = none */
    uint32_t *strip_of;  /* by row, likewise */
    uint64_t *present;   /* by row: number of profiles with it */
    uint64_t *totals;    /* [clique][info.measure_count], of the current place */
    bool *touched;       /* by clique */
    GArray *cliques;     /* uint32_t: touched cliques, callers first */
    bool *row_unknown;   /* by row: a sum does not have its ranks' values there */
    bool *strip_unknown; /* by strip, likewise */
};

/* --- choice of contexts --- */

static uint32_t entry_of(const struct fm_analysis *a, uint32_t clique)
{
    uint32_t entry = fm_analysis_clique_entry(a, clique);
    return entry == 0 ? a->profile->root_pd : entry;
}

struct choice {
    double share; /* share of the total of the measure that it has most of */
    uint32_t pd, clique;
};

static int compare_shares(const void *a, const void *b)
{
    const struct choice *one = a, *other = b;
    if (one->share > other->share || one->share < other->share)
        return one->share > other->share ? -1 : 1;
    return one->pd < other->pd ? -1 : one->pd > other->pd;
}

static int compare_pds(const void *a, const void *b)
{
    const struct choice *one = a, *other = b;
    return one->pd < other->pd ? -1 : one->pd > other->pd;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static void choose_measures(struct fm_ranks *r)
{
    const struct fm_analysis *a = r->analysis;
    uint32_t root = a->pd_clique[r->sum->root_pd];
    for (unsigned m = FM_FIRST_INHERITED; m < r->sum->measure_count; m++) {
        if (fm_profile_knows(r->sum, m) &&
            fm_analysis_clique_total(a, root, (enum fm_measure_id)m) != 0)
            r->info.measures[r->info.measure_count++] = (uint8_t)m;
    }
}

static GArray *shares_of_cliques(const struct fm_ranks *r)
{
    const struct fm_analysis *a = r->analysis;
    uint32_t root = a->pd_clique[r->sum->root_pd];
    GArray *choices = g_array_sized_new(FALSE, FALSE, sizeof(struct choice), a->clique_count + 1u);
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        struct choice choice = {.pd = entry_of(a, clique), .clique = clique};
        for (unsigned i = 0; i < r->info.measure_count; i++) {
            enum fm_measure_id m = (enum fm_measure_id)r->info.measures[i];
            double share = (double)(uint64_t)fm_analysis_clique_total(a, clique, m) /
                           (double)(uint64_t)fm_analysis_clique_total(a, root, m);
            choice.share = MAX(choice.share, share);
        }
        g_array_append_val(choices, choice);
    }
    g_array_sort(choices, compare_shares);
    return choices;
}

static uint32_t strips_wanted(const struct fm_ranks *r)
{
    size_t values = (size_t)r->info.part_count * MAX(r->info.measure_count, 1u);
    size_t strips = MAX(FM_RANKS_VALUES_MAX / values, (size_t)1);
    return (uint32_t)MIN(strips, MIN((size_t)FM_RANKS_STRIPS_MAX, (size_t)r->info.row_count));
}

static void choose_rows(struct fm_ranks *r)
{
    g_autoptr(GArray) choices = shares_of_cliques(r);
    struct choice *of = (struct choice *)(void *)choices->data;
    struct fm_rank_info *info = &r->info;
    info->row_count = MIN(choices->len, FM_RANKS_CONTEXTS_MAX);
    info->strip_count = strips_wanted(r);
    g_autofree uint32_t *strips = g_new0(uint32_t, info->strip_count + 1u);
    for (uint32_t i = 0; i < info->strip_count; i++)
        strips[i] = of[i].clique;
    if (info->row_count > 1)
        qsort(of, info->row_count, sizeof *of, compare_pds);
    g_autofree uint32_t *pds = g_new0(uint32_t, info->row_count + 1u);
    for (uint32_t row = 0; row < info->row_count; row++) {
        pds[row] = of[row].pd;
        r->row_of[of[row].clique] = row;
    }
    for (uint32_t i = 0; i < info->strip_count; i++)
        strips[i] = r->row_of[strips[i]];
    if (info->strip_count > 1)
        qsort(strips, info->strip_count, sizeof *strips, compare_numbers);
    const struct fm_rank_info shape = {.part_count = info->part_count,
                                       .measure_count = info->measure_count,
                                       .row_count = info->row_count,
                                       .pds = pds,
                                       .strip_count = info->strip_count,
                                       .strip_rows = strips};
    uint8_t measures[FM_RANK_MEASURES_MAX];
    memcpy(measures, info->measures, sizeof measures);
    fm_rank_info_init_like(info, &shape);
    memcpy(info->measures, measures, sizeof measures);
    r->strip_of = g_new(uint32_t, info->row_count + 1u);
    memset(r->strip_of, 0xff, sizeof *r->strip_of * (info->row_count + 1u));
    for (uint32_t strip = 0; strip < info->strip_count; strip++)
        r->strip_of[strips[strip]] = strip;
}

/* Notes what is known of each row. */
static void note_rows(struct fm_ranks *r)
{
    r->present = g_new0(uint64_t, r->info.row_count + 1u);
    r->row_unknown = g_new0(bool, r->info.row_count + 1u);
    r->strip_unknown = g_new0(bool, r->info.strip_count + 1u);
}

bool fm_ranks_new(const struct fm_merge_options *options, const struct fm_profile *sum,
                  struct fm_ranks **ret, GError **error)
{
    g_return_val_if_fail(options != NULL && sum != NULL && ret != NULL, false);
    struct fm_ranks *r = g_new0(struct fm_ranks, 1);
    r->sum = sum;
    r->other_root = options->union_programs;
    r->cliques = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    r->place = FM_NO_PLACE;
    fm_rank_files_init(&r->files);
    fm_rank_places_init(&r->places, sum);
    if (!fm_locate_new(options, sum, &r->locate, error) ||
        !fm_analysis_new(sum, NULL, &r->analysis, error)) {
        fm_ranks_free(r);
        return false;
    }
    uint32_t cliques = r->analysis->clique_count + 1u;
    r->row_of = g_new(uint32_t, cliques);
    memset(r->row_of, 0xff, sizeof *r->row_of * cliques);
    r->touched = g_new0(bool, cliques);
    r->info.part_count = r->places.count;
    choose_measures(r);
    r->totals = g_new0(uint64_t, (size_t)cliques * r->info.measure_count + 1);
    choose_rows(r);
    note_rows(r);
    *ret = r;
    return true;
}

void fm_ranks_free(struct fm_ranks *r)
{
    if (r == NULL)
        return;
    fm_locate_free(r->locate);
    fm_analysis_free(r->analysis);
    fm_rank_places_done(&r->places);
    fm_rank_files_done(&r->files);
    g_free(r->why);
    fm_rank_info_done(&r->info);
    g_free(r->row_of);
    g_free(r->strip_of);
    g_free(r->present);
    g_free(r->row_unknown);
    g_free(r->strip_unknown);
    g_free(r->totals);
    g_free(r->touched);
    g_array_unref(r->cliques);
    g_free(r);
}

/* --- a part --- */

bool fm_ranks_has(const struct fm_ranks *r, const uint8_t hash[FM_PART_HASH_BYTES])
{
    g_return_val_if_fail(r != NULL && hash != NULL, false);
    return fm_rank_places_has(&r->places, hash);
}

bool fm_ranks_holds(const struct fm_ranks *r, const struct fm_profile *profile,
                    const uint8_t hash[FM_PART_HASH_BYTES])
{
    g_return_val_if_fail(r != NULL && profile != NULL && hash != NULL, false);
    return fm_rank_places_of(&r->places, profile, hash) != FM_NO_PLACE ||
           (!r->other_root && fm_rank_places_are_of(&r->places, profile));
}

static uint64_t saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct column {
    const struct fm_column *of;
    uint64_t factor;
    unsigned to;
};

/* Columns by measure name; quanta are converted to ticks of the sum. */
static unsigned columns_of(const struct fm_ranks *r, const struct fm_profile *profile,
                           struct column *columns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < r->info.measure_count; i++) {
        unsigned measure = r->info.measures[i];
        for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
            if (profile->csd_own[m].width == 0 ||
                strcmp(profile->measures[m].name, r->sum->measures[measure].name) != 0)
                continue;
            uint64_t ticks = profile->ticks_per_second;
            uint64_t factor = m != FM_QUANTA || ticks == 0 ? 1 : r->sum->ticks_per_second / ticks;
            columns[count++] = (struct column){&profile->csd_own[m], factor, i};
        }
    }
    return count;
}

static uint64_t *totals_of(struct fm_ranks *r, uint32_t clique)
{
    return &r->totals[(size_t)clique * r->info.measure_count];
}

static void touch(struct fm_ranks *r, uint32_t pd)
{
    uint32_t clique = r->analysis->pd_clique[pd];
    if (r->touched[clique])
        return;
    r->touched[clique] = true;
    g_array_append_val(r->cliques, clique);
}

/* Adds own costs by clique of the sum. Each clique is touched after its caller, unless the previous
 * file touched it. */
static void add_own(struct fm_ranks *r, const struct fm_profile *profile,
                    const struct fm_located *where)
{
    struct column columns[FM_MEASURES_MAX];
    unsigned count = columns_of(r, profile, columns);
    touch(r, r->sum->root_pd);
    for (uint32_t i = 0; i < where->order_count; i++)
        touch(r, where->pds[where->order[i]]);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t pd = where->pds[profile->csd_callee[csd]];
        if (pd == 0 || where->pds[profile->csd_caller[csd]] == 0)
            continue; /* no cost was added here either */
        uint64_t *totals = totals_of(r, r->analysis->pd_clique[pd]);
        for (unsigned c = 0; c < count; c++) {
            uint64_t value = fm_column_get(columns[c].of, csd), factor = columns[c].factor;
            bool fits = factor == 0 || value <= UINT64_MAX / factor;
            totals[columns[c].to] =
                saturating(totals[columns[c].to], fits ? value * factor : UINT64_MAX);
        }
    }
}

static void see(struct fm_ranks *r, uint32_t clique, uint32_t place)
{
    const uint64_t *totals = totals_of(r, clique);
    uint32_t row = r->row_of[clique];
    if (row == UINT32_MAX)
        return;
    uint32_t strip = r->strip_of[row];
    for (unsigned m = 0; m < r->info.measure_count; m++) {
        struct fm_rank_moments *moments = fm_rank_moments(&r->info, row, m);
        if (r->present[row] == 0)
            moments->least = UINT64_MAX;
        fm_rank_moments_see(moments, totals[m], place);
        if (strip != UINT32_MAX)
            fm_rank_strip(&r->info, strip, m)[place] = totals[m];
    }
    r->present[row]++;
}

/* Callees first: in reverse order of touching. */
static void propagate(struct fm_ranks *r, uint32_t place, bool whole)
{
    const struct fm_analysis *a = r->analysis;
    for (guint i = r->cliques->len; i-- > 0;) {
        uint32_t clique = g_array_index(r->cliques, uint32_t, i), by = a->clique_parent[clique];
        uint64_t *totals = totals_of(r, clique);
        if (by != 0) {
            uint64_t *above = totals_of(r, a->pd_clique[r->sum->csd_caller[by]]);
            for (unsigned m = 0; m < r->info.measure_count; m++)
                above[m] = saturating(above[m], totals[m]);
        }
        if (whole)
            see(r, clique, place);
        for (unsigned m = 0; m < r->info.measure_count; m++)
            totals[m] = 0;
        r->touched[clique] = false;
    }
    g_array_set_size(r->cliques, 0);
}

/* All files of the place have been added. */
static void end_place(struct fm_ranks *r)
{
    if (r->place == FM_NO_PLACE)
        return;
    bool whole = !r->places.shared || r->files.parts->len == r->places.parts_at[r->place];
    if (r->places.shared && !fm_rank_files_are_one(&r->files, &r->why))
        whole = false;
    propagate(r, r->place, whole);
    r->info.count += whole;
    r->place = FM_NO_PLACE;
}

/* --- a sum with statistics --- */

#define SEVERAL UINT32_MAX

struct below {
    const struct fm_profile *profile;
    const struct fm_rank_info *info;
    struct fm_rank_places places; /* places of the profile */
    uint32_t *place_of;           /* places in the result, by place in the profile */
    uint32_t *row_of; /* by clique of the result: row of the profile's info + 1; 0: it is not in the
                         profile; SEVERAL: more than one clique, or one without a row */
    unsigned measure_of[FM_RANK_MEASURES_MAX]; /* by measure of the result; SEVERAL: all are 0 */
};

/* The ranks' values for a clique of the result are known where the profile enters it through one
 * clique. With all its callees (further cliques of a recursion that the result merges) that is the
 * same part of the program. */
static void map_rows(const struct fm_ranks *r, const struct fm_analysis *a,
                     const struct fm_located *where, struct below *below)
{
    g_autofree bool *seen = g_new0(bool, a->clique_count + 1u);
    for (uint32_t i = 0; i < where->order_count; i++) {
        uint32_t pd = where->order[i], clique = a->pd_clique[pd], by = a->clique_parent[clique];
        uint32_t to = r->analysis->pd_clique[where->pds[pd]];
        uint32_t caller = by == 0 ? 0 : where->pds[below->profile->csd_caller[by]];
        if (seen[clique])
            continue;
        seen[clique] = true;
        if (caller != 0 && r->analysis->pd_clique[caller] == to)
            continue; /* it is counted at the caller's entry */
        uint32_t row = fm_rank_info_row(below->info, entry_of(a, clique));
        below->row_of[to] = below->row_of[to] != 0 || row == UINT32_MAX ? SEVERAL : row + 1;
    }
}

static void map_measures(const struct fm_ranks *r, struct below *below)
{
    for (unsigned m = 0; m < r->info.measure_count; m++) {
        const char *name = r->sum->measures[r->info.measures[m]].name;
        below->measure_of[m] = SEVERAL;
        for (unsigned i = 0; i < below->info->measure_count; i++)
            if (strcmp(below->profile->measures[below->info->measures[i]].name, name) == 0)
                below->measure_of[m] = i;
    }
}

static void map_places(const struct fm_ranks *r, struct below *below)
{
    fm_rank_places_init(&below->places, below->profile);
    below->place_of = g_new0(uint32_t, below->places.count + 1u);
    const struct fm_run_info *run_info = &below->profile->run_info;
    for (uint32_t part = 0; part < run_info->part_count; part++)
        below->place_of[below->places.place_of[part]] =
            fm_rank_places_of_part(&r->places, run_info->parts[part].hash);
}

static void add_row_below(struct fm_ranks *r, uint32_t row, const struct below *below,
                          uint32_t from)
{
    for (unsigned m = 0; m < r->info.measure_count; m++) {
        struct fm_rank_moments *to = fm_rank_moments(&r->info, row, m);
        struct fm_rank_moments none = {0};
        const struct fm_rank_moments *more =
            below->measure_of[m] == SEVERAL
                ? &none
                : fm_rank_moments(below->info, from, below->measure_of[m]);
        if (r->present[row] == 0)
            to->least = UINT64_MAX;
        fm_rank_moments_add(to, more, more->greatest == 0 ? 0 : below->place_of[more->place]);
    }
    r->present[row] += below->info->count;
    uint32_t strip = r->strip_of[row], from_strip = fm_rank_info_strip(below->info, from);
    if (strip == UINT32_MAX)
        return;
    r->strip_unknown[strip] |= from_strip == UINT32_MAX;
    for (unsigned m = 0; from_strip != UINT32_MAX && m < r->info.measure_count; m++) {
        if (below->measure_of[m] == SEVERAL)
            continue;
        const uint64_t *values = fm_rank_strip(below->info, from_strip, below->measure_of[m]);
        for (uint32_t place = 0; place < below->info->part_count; place++)
            fm_rank_strip(&r->info, strip, m)[below->place_of[place]] = values[place];
    }
}

static bool add_sum(struct fm_ranks *r, const struct fm_profile *profile,
                    const struct fm_located *where, GError **error)
{
    g_autoptr(FmAnalysis) analysis = NULL;
    if (!fm_analysis_new(profile, NULL, &analysis, error))
        return false;
    struct below below = {.profile = profile, .info = &profile->run_info.rank_info};
    below.row_of = g_new0(uint32_t, r->analysis->clique_count + 1u);
    map_rows(r, analysis, where, &below);
    map_measures(r, &below);
    map_places(r, &below);
    for (uint32_t clique = 1; clique <= r->analysis->clique_count; clique++) {
        uint32_t row = r->row_of[clique], from = below.row_of[clique];
        if (row == UINT32_MAX || from == 0)
            continue;
        if (from == SEVERAL)
            r->row_unknown[row] = true;
        else
            add_row_below(r, row, &below, from - 1);
    }
    r->info.count += below.info->count;
    fm_rank_places_done(&below.places);
    g_free(below.place_of);
    g_free(below.row_of);
    return true;
}

static void drop_unknown(struct fm_ranks *r)
{
    for (uint32_t row = 0; row < r->info.row_count; row++)
        r->row_unknown[row] = !r->row_unknown[row];
    for (uint32_t strip = 0; strip < r->info.strip_count; strip++)
        r->strip_unknown[strip] = !r->strip_unknown[strip];
    fm_rank_info_keep(&r->info, r->row_unknown, r->strip_unknown);
}

bool fm_ranks_add(struct fm_ranks *r, const struct fm_profile *profile,
                  const uint8_t hash[FM_PART_HASH_BYTES], const char *name, GError **error)
{
    g_return_val_if_fail(r != NULL && fm_ranks_holds(r, profile, hash), false);
    struct fm_located where;
    uint32_t place = fm_rank_places_of(&r->places, profile, hash);
    if (place != r->place || !r->places.shared)
        end_place(r);
    if (!fm_locate(r->locate, profile, name, &where, error))
        return false;
    if (place == FM_NO_PLACE)
        return add_sum(r, profile, &where, error);
    r->place = place;
    if (r->places.shared)
        fm_rank_files_add(&r->files, &r->places, profile, hash);
    add_own(r, profile, &where);
    return true;
}

bool fm_ranks_finish(struct fm_ranks *r, struct fm_rank_info *ret, char **ret_why)
{
    g_return_val_if_fail(r != NULL && ret != NULL && ret_why != NULL, false);
    end_place(r);
    *ret_why = g_steal_pointer(&r->why);
    for (uint32_t row = 0; row < r->info.row_count; row++) {
        for (unsigned m = 0; r->present[row] < r->info.count && m < r->info.measure_count; m++)
            fm_rank_moments(&r->info, row, m)->least = 0;
    }
    if (*ret_why == NULL) {
        drop_unknown(r);
        *ret = r->info;
        r->info = (struct fm_rank_info){0};
    }
    fm_ranks_free(r);
    return *ret_why == NULL;
}
