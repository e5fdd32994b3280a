/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one reading: read_job.c (the steps), read.c (header) and read_nodes.c. */
#pragma once

#include "base/prefault.h"
#include "profile/file/deep_internal.h"

struct fm_profile_reading {
    struct fm_reader in;
    struct fm_profile *profile;

    /* Filled while nodes come in any order of ids; made into the profile's arrays at the end. */
    struct fm_u32s slots, multi, css_of_ps;
    uint32_t *pd_slot_count;  /* [pd_count + 1]; NULL while the pds come in order */
    uint32_t *pd_point_count; /* [pd_count + 1]; also NULL unless coverage is dynamic */
    GArray *points;           /* struct fm_coverage_point */
    struct fm_column counts;  /* coverage counts */
    size_t counts_used, counts_capacity;
    uint32_t last_pd;
    bool in_order; /* the pds came as 1, 2, 3, ... so far */

    struct fm_prefault *prefault; /* only for a large file, else NULL */
    size_t slots_asked_for;       /* bytes from the beginning; and of columns: */
    size_t own_asked_for[FM_MEASURES_MAX];
    uint32_t last_csd;

    uint16_t measures_of_mask[512]; /* bit set of measures for the low nine bits of a csd's mask */
    uint32_t mask_allowed;

    /* Token of the node read last. */
    enum fm_node_token token;
    uint32_t id;
    const uint8_t *node;
};

FM_MUST_USE bool fm_read_css(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_csd(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_ps(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_pd(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_string(struct fm_profile_reading *reading, const char *what,
                                const char **ret, GError **error);
FM_MUST_USE bool fm_read_no_memory(struct fm_profile_reading *reading, GError **error);
/* run_info.c: what follows the nodes, to the end of the file. C flavour only. */
FM_MUST_USE bool fm_read_facts(struct fm_profile_reading *reading, GError **error);
/* read.c */
FM_MUST_USE bool fm_read_header(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_alloc_tables(struct fm_profile_reading *reading, GError **error);
/* Prefaults pages that the next nodes will need, if a second thread does that. */
void fm_read_prefault(struct fm_profile_reading *reading);
/* One node; *ret_end at the end of the data. */
FM_MUST_USE bool fm_read_node(struct fm_profile_reading *reading, bool *ret_end, GError **error);
