/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about each hook, by following control flow through the whole text with a stack of open
 * bodies. */
#pragma once

#include <stdint.h>

#include "scan.h"

enum fm_verdict {
    FM_VERDICT_UNKNOWN, /* undecided: to be written as before */
    FM_VERDICT_OWN,     /* own body of a function */
    FM_VERDICT_INLINED, /* a body inlined into one that has hooks */
    FM_VERDICT_DROP,
    FM_VERDICT_LEAF, /* own body of a function that calls nothing */
};

/* A verdict for each of scan's markers, to be freed; NULL: no memory. */
enum fm_verdict *fm_flow_decide(const struct fm_scan *scan);
