/* SPDX-License-Identifier: Apache-2.0 */
/* Compares time with bounds, by the method of runs/sampled/model.h. */
#include <math.h>

#include "runs/gate/internal.h"

/* The placement of code by the linker alone causes such differences, so smaller ones are never
 * claimed. */
#define FLOOR 0.02
#define MARGIN_OF_ABSOLUTE 0.05

static double moved(double ratio, double by, bool at_most)
{
    return at_most ? ratio + by : fmax(ratio - by, 0);
}

static double margin_of(const struct fm_limit *limit, double usual)
{
    return limit->margin >= 0 ? limit->margin / 100 : usual;
}

void fm_time_against_bound(const struct fm_sampled *model, const struct fm_sampled_row *row,
                           const struct fm_limit *limit, double before, double allowed,
                           const double calls[FM_SIDES], struct fm_told *ret)
{
    bool at_most = limit->op == FM_AT_MOST || limit->op == FM_BELOW;
    struct fm_sampled_limit it;
    g_assert(limit->op != FM_EQUAL);
    *ret = (struct fm_told){.absolute = limit->bound == FM_BOUND_ABSOLUTE ||
                                        (limit->bound == FM_BOUND_DIFFERENCE && before <= 0)};
    if (ret->absolute) {
        ret->allowed = allowed * calls[FM_AFTER];
        double margin = margin_of(limit, MARGIN_OF_ABSOLUTE) * ret->allowed;
        ret->tolerated = moved(ret->allowed, margin, at_most);
        fm_sampled_limit_absolute(model, row, ret->allowed, ret->tolerated, !at_most, &it);
    } else {
        double ratio =
            limit->bound == FM_BOUND_PERCENT ? 1 + fm_bound_percent(limit) / 100 : allowed / before;
        double more = calls[FM_AFTER] / calls[FM_BEFORE];
        double margin = margin_of(limit, fmax(fabs(ratio - 1) / 2, FLOOR));
        ret->tolerated = moved(ratio, margin, at_most) * more;
        /* A bound within the floor is broken only beyond it. */
        if (fabs(ratio - 1) < FLOOR)
            ratio = at_most ? 1 + FLOOR : 1 - FLOOR;
        ret->allowed = fmax(ratio, 0) * more;
        fm_sampled_limit_relative(model, row, ret->allowed, ret->tolerated, !at_most, &it);
    }
    ret->p_fail = it.p_fail;
    ret->p_pass = it.p_pass;
}
