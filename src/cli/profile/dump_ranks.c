/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over ranks, as they stand in the file: sums of several words, least significant first.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/profile/dump_facts.h"

static uint32_t rank_at(const struct fm_profile *profile, const uint32_t *places, uint32_t place)
{
    return profile->run_info.parts[places[place]].process.rank;
}

static void print_moments(const struct fm_profile *profile, const uint32_t *places, uint32_t row,
                          unsigned m)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    const struct fm_rank_moments *of = fm_rank_moments(info, row, m);
    uint32_t strip = fm_rank_info_strip(info, row), rank = rank_at(profile, places, of->place);
    printf("\t%s: sum %.0f, minimum %" PRIu64 ", maximum %" PRIu64,
           profile->measures[info->measures[m]].name, fm_rank_sum(of), of->least, of->greatest);
    if (rank != 0)
        printf(" of rank %" PRIu32, rank - 1);
    printf(", mean %g, deviation %g\n", fm_rank_mean(of, info->count),
           fm_rank_deviation(of, info->count));
    for (uint32_t i = 0; strip != UINT32_MAX && i < info->part_count; i++)
        printf("%s%" PRIu64 "%s", i == 0 ? "\t\t" : " ", fm_rank_strip(info, strip, m)[i],
               i + 1 == info->part_count ? "\n" : "");
}

void fm_dump_ranks_print(const struct fm_profile *profile)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    if (info->count == 0)
        return;
    g_autofree uint32_t *places = fm_profile_rank_places(profile);
    printf("statistics over %" PRIu64 " ranks:\n", info->count);
    for (uint32_t row = 0; row < info->row_count; row++) {
        printf("ranks of proc dynamic %" PRIu32 ":\n", info->pds[row]);
        for (unsigned m = 0; m < info->measure_count; m++)
            print_moments(profile, places, row, m);
    }
}

static void json_words(struct fm_json *json, const char *name, const uint64_t *words,
                       uint32_t count)
{
    fm_json_array(json, name);
    for (uint32_t i = 0; i < count; i++)
        fm_json_uint(json, NULL, words[i]);
    fm_json_end(json);
}

static void json_moments(struct fm_json *json, const struct fm_profile *profile,
                         const uint32_t *places, uint32_t row, unsigned m)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    const struct fm_rank_moments *of = fm_rank_moments(info, row, m);
    uint32_t strip = fm_rank_info_strip(info, row), rank = rank_at(profile, places, of->place);
    fm_json_object(json, profile->measures[info->measures[m]].name);
    json_words(json, "sum", of->sum, G_N_ELEMENTS(of->sum));
    json_words(json, "squares", of->squares, G_N_ELEMENTS(of->squares));
    fm_json_uint(json, "least", of->least);
    fm_json_uint(json, "greatest", of->greatest);
    fm_json_uint(json, "greatest_part", places[of->place] + 1u);
    if (rank == 0)
        fm_json_null(json, "greatest_rank");
    else
        fm_json_uint(json, "greatest_rank", rank - 1);
    if (strip == UINT32_MAX)
        fm_json_null(json, "values");
    else
        json_words(json, "values", fm_rank_strip(info, strip, m), info->part_count);
    fm_json_end(json);
}

void fm_dump_ranks_json(struct fm_json *json, const struct fm_profile *profile)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    if (info->count == 0) {
        fm_json_null(json, "ranks");
        return;
    }
    g_autofree uint32_t *places = fm_profile_rank_places(profile);
    fm_json_object(json, "ranks");
    fm_json_uint(json, "count", info->count);
    fm_json_array(json, "contexts");
    for (uint32_t row = 0; row < info->row_count; row++) {
        fm_json_line(json, 0);
        fm_json_object(json, NULL);
        fm_json_uint(json, "pd", info->pds[row]);
        for (unsigned m = 0; m < info->measure_count; m++)
            json_moments(json, profile, places, row, m);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_end(json);
}
