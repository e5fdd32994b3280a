/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a sum over its profiles, usually the ranks of an MPI program: for a context and a
 * measure, the distribution of the profiles' values. A profile that never reached the context has
 * 0. All are integer sums, minima or maxima, so they do not depend on the order. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/files/reader.h"
#include "base/files/writer.h"

#define FM_RANK_MEASURES_MAX 16u

/* Profiles are numbered by place: by rank, those of no known rank last, equal ones in the order of
 * the sum's parts. If all have a rank and some share one, such as its children, their costs are
 * added, and each rank has one place (fm_profile_rank_places()). */
struct fm_rank_moments {
    uint64_t sum[2];     /* least significant first */
    uint64_t squares[3]; /* likewise */
    uint64_t least, greatest;
    uint32_t place; /* place of the maximum, the first of equal ones; 0 when all are 0 */
};

struct fm_rank_info {
    uint64_t
        count; /* profiles, those that are in the sum twice twice, or ranks; 0 = no statistics */
    uint32_t part_count; /* places */
    unsigned measure_count;
    uint8_t
        measures[FM_RANK_MEASURES_MAX]; /* ascending; of all own cost and descendants together */
    uint32_t row_count;
    uint32_t *pds; /* [row_count] entries of cliques, the root among them; ascending */
    struct fm_rank_moments *moments; /* [row_count][measure_count] */
    uint32_t strip_count;
    uint32_t *strip_rows; /* [strip_count] rows of which each profile's own value is kept; ascending
                           */
    uint64_t *strips;     /* [strip_count][measure_count][part_count], by place */
};

static inline struct fm_rank_moments *fm_rank_moments(const struct fm_rank_info *info, uint32_t row,
                                                      unsigned measure)
{
    return &info->moments[(size_t)row * info->measure_count + measure];
}
static inline uint64_t *fm_rank_strip(const struct fm_rank_info *info, uint32_t strip,
                                      unsigned measure)
{
    return &info->strips[((size_t)strip * info->measure_count + measure) * info->part_count];
}

/* Copies rows, measures and strips, with empty values. */
void fm_rank_info_init_like(struct fm_rank_info *info, const struct fm_rank_info *other);
void fm_rank_info_done(struct fm_rank_info *info);
/* One more profile's value. */
void fm_rank_moments_see(struct fm_rank_moments *moments, uint64_t value, uint32_t place);
/* Adds moments of other profiles; place: where their maximum is. */
void fm_rank_moments_add(struct fm_rank_moments *moments, const struct fm_rank_moments *more,
                         uint32_t place);
/* Keeps the rows and strips whose flags are set: [row_count], [strip_count]. */
void fm_rank_info_keep(struct fm_rank_info *info, const bool *rows, const bool *strips);
/* Adds statistics over other profiles. Rows and strips that only one of both has are dropped.
 * False: they are of other measures or places. */
FM_MUST_USE bool fm_rank_info_add(struct fm_rank_info *info, const struct fm_rank_info *other);

/* UINT32_MAX: it has none. */
uint32_t fm_rank_info_row(const struct fm_rank_info *info, uint32_t pd);
uint32_t fm_rank_info_strip(const struct fm_rank_info *info, uint32_t row);
double fm_rank_sum(const struct fm_rank_moments *moments);
/* Mean and deviation over all `count` profiles; exact except one rounding each. */
double fm_rank_mean(const struct fm_rank_moments *moments, uint64_t count);
double fm_rank_deviation(const struct fm_rank_moments *moments, uint64_t count);
/* Imbalance, the cost lost while the others wait for the maximum: (maximum - mean) x
 * count. */
double fm_rank_lost(const struct fm_rank_moments *moments, uint64_t count);
/* Whether minimum <= mean <= maximum, and the squares are at least those of equal values. */
bool fm_rank_moments_hold(const struct fm_rank_moments *moments, uint64_t count);

/* The bytes of fact 41 behind its kind (docs/format-data.md). pd_max, measure_end: of the profile
 * that they are about. Errors: FM_ERROR_FORMAT, _TRUNCATED; *ret is empty then. */
FM_MUST_USE bool fm_rank_info_read(struct fm_reader *in, uint32_t pd_max, unsigned measure_end,
                                   struct fm_rank_info *ret, GError **error);
void fm_rank_info_write(struct fm_writer *writer, const struct fm_rank_info *info);
