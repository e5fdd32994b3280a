/* SPDX-License-Identifier: Apache-2.0 */
/* Private to raw: a recording, an earlier copy of it, and which nodes of both are one. */
#pragma once

#include "record/raw/storage.h"

struct fm_raw_since {
    struct fm_raw_recording *now; /* becomes the difference */
    const struct fm_raw_recording *then;
    uint32_t *then_csd, *then_pd; /* for each of now; FM_RAW_NONE: it is new */
    uint32_t *now_csd;            /* for each of then */
};

/* since_lists.c: data stored in lists of its own. */
void fm_raw_since_waits(const struct fm_raw_since *since);
void fm_raw_since_sleeps(const struct fm_raw_since *since);
void fm_raw_since_flows(const struct fm_raw_since *since);
void fm_raw_since_foreigns(const struct fm_raw_since *since);
void fm_raw_since_samples(const struct fm_raw_since *since);
void fm_raw_since_points(const struct fm_raw_since *since);
void fm_raw_since_durations(const struct fm_raw_since *since);
