/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over ranks, as they stand in the file: sums of several words, least significant first.
 */
#include <inttypes.h>

#include "profile/dump/dump_internal.h"

static void print_moments(struct fm_dump_out *out, const char *name,
                          const struct fm_rank_info *info, const struct fm_rank_moments *of,
                          uint32_t rank)
{
    fm_dump_print(out, "\t%s: sum %.0f, minimum %" PRIu64 ", maximum %" PRIu64, name,
                  fm_rank_sum(of), of->least, of->greatest);
    if (rank != 0)
        fm_dump_print(out, " of rank %" PRIu32, rank - 1);
    fm_dump_print(out, ", mean %g, deviation %g\n", fm_rank_mean(of, info->count),
                  fm_rank_deviation(of, info->count));
}

static void json_moments(struct fm_dump_out *out, const struct fm_rank_moments *of, uint32_t part,
                         uint32_t rank)
{
    fm_dump_uints(out, "sum", of->sum, G_N_ELEMENTS(of->sum));
    fm_dump_uints(out, "squares", of->squares, G_N_ELEMENTS(of->squares));
    fm_json_uint(out->json, "least", of->least);
    fm_json_uint(out->json, "greatest", of->greatest);
    fm_json_uint(out->json, "greatest_part", part);
    if (rank == 0)
        fm_json_null(out->json, "greatest_rank");
    else
        fm_json_uint(out->json, "greatest_rank", rank - 1);
}

static void dump_moments(struct fm_dump_out *out, const struct fm_profile *profile,
                         const uint32_t *places, uint32_t row, unsigned m)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    const struct fm_rank_moments *of = fm_rank_moments(info, row, m);
    const char *name = profile->measures[info->measures[m]].name;
    uint32_t strip = fm_rank_info_strip(info, row);
    uint32_t rank = profile->run_info.parts[places[of->place]].process.rank;
    print_moments(out, name, info, of, rank);
    fm_dump_object(out, name, false);
    if (out->json != NULL)
        json_moments(out, of, places[of->place] + 1u, rank);
    if (strip != UINT32_MAX) {
        const uint64_t *values = fm_rank_strip(info, strip, m);
        for (uint32_t i = 0; i < info->part_count; i++)
            fm_dump_print(out, "%s%" PRIu64 "%s", i == 0 ? "\t\t" : " ", values[i],
                          i + 1 == info->part_count ? "\n" : "");
        fm_dump_uints(out, "values", values, info->part_count);
    } else if (out->json != NULL) {
        fm_json_null(out->json, "values");
    }
    fm_dump_end(out);
}

void fm_dump_ranks(struct fm_dump_out *out, const struct fm_profile *profile)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    if (info->count == 0) {
        if (out->json != NULL)
            fm_json_null(out->json, "ranks");
        return;
    }
    g_autofree uint32_t *places = fm_profile_rank_places(profile);
    fm_dump_print(out, "statistics over %" PRIu64 " ranks:\n", info->count);
    fm_dump_object(out, "ranks", false);
    fm_dump_uint(out, NULL, "count", info->count);
    fm_dump_array(out, "contexts", false);
    for (uint32_t row = 0; row < info->row_count; row++) {
        fm_dump_print(out, "ranks of proc dynamic %" PRIu32 ":\n", info->pds[row]);
        fm_dump_object(out, NULL, true);
        fm_dump_uint(out, NULL, "pd", info->pds[row]);
        for (unsigned m = 0; m < info->measure_count; m++)
            dump_moments(out, profile, places, row, m);
        fm_dump_end(out);
    }
    fm_dump_end(out);
    fm_dump_end(out);
}
