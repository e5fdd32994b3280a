/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of each hook: found by following control through the whole text, with the stack of
 * bodies that are open. */
#pragma once

#include <stdint.h>

#include "scan.h"

enum fm_verdict {
    FM_VERDICT_UNKNOWN, /* undecided: to be written as before */
    FM_VERDICT_OWN,     /* of the function's own body */
    FM_VERDICT_INLINED, /* of a body inlined into one that has its hooks */
    FM_VERDICT_DROP,
    FM_VERDICT_LEAF, /* of the function's own body, which calls nothing */
};

/* A verdict for each of scan's markers, to be freed; NULL: no memory. */
enum fm_verdict *fm_flow_decide(const struct fm_scan *scan);
