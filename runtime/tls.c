/* SPDX-License-Identifier: Apache-2.0 */
/* Data that hooks check first, before anything else exists. */
#include "slots/slots.h"

/* Neither their frame nor one below, and without function. */
static struct fm_rec_csd no_edge;
struct fm_rec_frame fm_no_frame = {
    .cfa = FM_CFA_GUARD, .csd = (uint64_t)&no_edge, .fn = FM_DEPTH_UNKNOWN};
/* Threads that have met no point look here: nothing is ever found, and nothing put in. */
_Alignas(32) struct fm_point_entry fm_no_points[2];
__thread struct fm_tls fm_tls_v2 FM_EXPORT = {.bound = FM_BOUND_NOT_READY,
                                              .top = &fm_no_frame,
                                              .heap_off = 1,
                                              .points = fm_no_points,
                                              .slot_current = FM_SLOTS_NOWHERE,
                                              .exit_own = FM_BOUND(0),
                                              .exit_any = FM_BOUND(0)};
