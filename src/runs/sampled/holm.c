/* SPDX-License-Identifier: Apache-2.0 */
#include <glib.h>
#include <stdlib.h>

#include "runs/sampled/model.h"

struct ranked {
    double quotient;
    size_t number;
};

/* Equal rows keep their order. */
static int by_quotient(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->quotient < b->quotient || a->quotient > b->quotient)
        return a->quotient < b->quotient ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

void fm_sampled_holm(const double *p, const double *weight, size_t count, double alpha, bool *told,
                     double *level)
{
    g_autofree struct ranked *order = g_new(struct ranked, count);
    double left = 0;
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        g_assert(weight[i] > 0);
        order[i] = (struct ranked){p[i] / weight[i], i};
        left += weight[i];
    }
    if (count > 1)
        qsort(order, count, sizeof *order, by_quotient);
    for (size_t rank = 0; rank < count; rank++) {
        size_t i = order[rank].number;
        double allowed = alpha * weight[i] / left;
        all = all && p[i] <= allowed;
        told[i] = all;
        if (level != NULL)
            level[i] = allowed;
        if (all)
            left -= weight[i];
    }
}
