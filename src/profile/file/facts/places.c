/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a sum by rank. */
#include "profile/file/profile.h"

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_places(const void *a, const void *b, void *user)
{
    const struct fm_part *parts = user;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    /* 0 = not known: it wraps to the last */
    int order = compare_numbers(parts[i].process.rank - 1u, parts[j].process.rank - 1u);
    return order != 0 ? order : compare_numbers(i, j);
}

uint32_t *fm_profile_places(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint32_t *places = g_new(uint32_t, run_info->part_count + 1u);
    for (uint32_t i = 0; i < run_info->part_count; i++)
        places[i] = i;
    g_qsort_with_data(places, (gint)run_info->part_count, sizeof *places, compare_places,
                      run_info->parts);
    return places;
}

uint32_t fm_profile_ranks_shared(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    g_autofree uint32_t *places = fm_profile_places(profile);
    uint32_t count = 0, before = 0;
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        uint32_t rank = run_info->parts[places[i]].process.rank;
        if (rank == 0)
            return 0;
        count += rank != before;
        before = rank;
    }
    return count < run_info->part_count ? count : 0;
}

uint32_t *fm_profile_rank_places(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint32_t *places = fm_profile_places(profile), count = 0;
    if (run_info->rank_info.part_count == run_info->part_count)
        return places;
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        if (count == 0 || run_info->parts[places[i]].process.rank !=
                              run_info->parts[places[count - 1]].process.rank)
            places[count++] = places[i];
    }
    return places;
}

uint32_t fm_profile_rank(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint32_t rank =
        run_info->part_count == 0 ? run_info->process.rank : run_info->parts[0].process.rank;
    for (uint32_t i = 1; i < run_info->part_count; i++)
        rank = run_info->parts[i].process.rank == rank ? rank : 0;
    return rank;
}
