/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of a profile's file, for those who write one node at a time: fm_profile_write(), and
 * generators of profiles that do not fit in memory. What the pieces look like: docs/format-data.md.
 */
#pragma once

#include "base/files/writer.h"
#include "profile/file/profile.h"

/* The form that is written. */
struct fm_encoding {
    enum fm_flavour flavour;
    unsigned version; /* Mercury: 8 or 9 */
    enum fm_coverage_kind coverage;
};

/* Everything before the nodes, counts included. Only the header's fields of profile are used. */
void fm_encode_header(struct fm_writer *writer, const struct fm_encoding *encoding,
                      const struct fm_profile *profile);
/* Ends the nodes, when there is anything to say behind them. */
void fm_encode_run_info(struct fm_writer *writer, const struct fm_profile *profile);
void fm_encode_css(struct fm_writer *writer, const struct fm_encoding *encoding, uint32_t id,
                   const struct fm_css *css);
/* values: one for each measure; zeros are left out. */
void fm_encode_csd(struct fm_writer *writer, uint32_t id, uint32_t callee_pd,
                   const uint64_t *values, unsigned measure_count);
/* css: ids of its ps->css_count sites; points: its ps->point_count coverage points, may be NULL
 * when the encoding has no coverage. */
void fm_encode_ps(struct fm_writer *writer, const struct fm_encoding *encoding, uint32_t id,
                  const struct fm_ps *ps, const uint32_t *css,
                  const struct fm_coverage_point *points);
/* To be followed by the coverage counts (number and nums) when coverage is dynamic, then by the
 * slots. */
void fm_encode_pd_begin(struct fm_writer *writer, uint32_t id, uint32_t ps, uint32_t slots);
/* A slot; of a normal site with at most one csd. */
void fm_encode_slot(struct fm_writer *writer, enum fm_site_kind kind, const uint32_t *csds,
                    uint32_t count);
