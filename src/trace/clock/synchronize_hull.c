/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/clock/synchronize_hull.h"

#include <math.h>
#include <stdlib.h>

enum { UNSORTED_MAX = 1 << 15, TRIED_MAX = 80 };

void fm_hulls_init(struct hulls *hulls)
{
    *hulls = (struct hulls){
        .above = g_array_new(FALSE, FALSE, sizeof(struct hull_point)),
        .below = g_array_new(FALSE, FALSE, sizeof(struct hull_point)),
    };
}

void fm_hulls_done(struct hulls *hulls)
{
    g_array_unref(hulls->above);
    g_array_unref(hulls->below);
}

static int compare_points(const void *a, const void *b)
{
    const struct hull_point *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

static double cross(const struct hull_point *a, const struct hull_point *b,
                    const struct hull_point *c)
{
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/* The upper hull of points that a line passes above, the lower one of the others. */
static void reduce(GArray *points, guint *ret_sorted, bool is_above)
{
    struct hull_point *at = (struct hull_point *)(void *)points->data;
    guint count = 0;
    if (points->len > 1)
        qsort(at, points->len, sizeof *at, compare_points);
    for (guint i = 0; i < points->len; i++) {
        struct hull_point point = at[i];
        while (count >= 2) {
            double turn = cross(&at[count - 2], &at[count - 1], &point);
            if (is_above ? turn < 0 : turn > 0)
                break;
            count--;
        }
        /* Keeps for one x only the point that binds. */
        if (count == 1 && at[0].x == point.x && (is_above || at[0].y >= point.y))
            count = 0;
        else if (count >= 1 && at[count - 1].x == point.x && !is_above)
            continue;
        else if (count >= 1 && at[count - 1].x == point.x)
            count--;
        at[count++] = point;
    }
    g_assert(count <= points->len && (count > 0 || points->len == 0));
    g_array_set_size(points, count);
    *ret_sorted = count;
}

void fm_hulls_add(struct hulls *hulls, uint64_t x, uint64_t y, bool is_above)
{
    if (!hulls->has_origin) {
        hulls->has_origin = true;
        hulls->origin_x = x;
        hulls->origin_y = y;
    }
    struct hull_point point = {(double)(int64_t)(x - hulls->origin_x),
                               (double)(int64_t)(y - hulls->origin_y)};
    GArray *points = is_above ? hulls->above : hulls->below;
    guint *sorted = is_above ? &hulls->above_sorted : &hulls->below_sorted;
    g_array_append_val(points, point);
    if (points->len - *sorted >= UNSORTED_MAX)
        reduce(points, sorted, is_above);
}

/* --- the steepest and the flattest line --- */

enum bound { BOUND_NONE, BOUND_FOUND, BOUND_IMPOSSIBLE };

/* Finds the point that is farthest on the wrong side of lines of this slope. */
static const struct hull_point *farthest(const GArray *points, double slope, bool is_above)
{
    const struct hull_point *best = NULL;
    double best_height = 0;
    for (guint i = 0; i < points->len; i++) {
        const struct hull_point *point = &g_array_index(points, struct hull_point, i);
        double height = point->y - slope * point->x;
        if (best == NULL || (is_above ? height > best_height : height < best_height)) {
            best = point;
            best_height = height;
        }
    }
    g_assert(best != NULL || points->len == 0);
    return best;
}

/* By how much the points above reach over those below, for a slope, is a convex function; the bound
 * is where it becomes 0. Newton's method from the side of infinity, where the outermost points
 * count: each step is exact for the pair of points that bind, and there are few such pairs. */
static enum bound find_bound(const struct hulls *hulls, bool greatest, double *ret_slope,
                             double *ret_offset)
{
    const GArray *above = hulls->above, *below = hulls->below;
    if (above->len == 0 || below->len == 0)
        return BOUND_NONE;
    const struct hull_point *u =
        &g_array_index(above, struct hull_point, greatest ? 0 : above->len - 1);
    const struct hull_point *l =
        &g_array_index(below, struct hull_point, greatest ? below->len - 1 : 0);
    double slope = greatest ? INFINITY : -INFINITY;
    for (guint step = 0; step <= above->len + below->len + 2; step++) {
        double width = greatest ? l->x - u->x : u->x - l->x;
        if (width <= 0) {
            bool crossed = isfinite(slope) || (width == 0 && u->y > l->y);
            return crossed ? BOUND_IMPOSSIBLE : BOUND_NONE;
        }
        double next = (l->y - u->y) / (l->x - u->x);
        if (greatest ? next >= slope : next <= slope)
            break;
        slope = next;
        u = farthest(above, slope, true);
        l = farthest(below, slope, false);
        /* Less than a thousandth of a nanosecond is the arithmetic's, not the clocks'. */
        if ((u->y - slope * u->x) - (l->y - slope * l->x) <= 1e-3)
            break;
    }
    g_assert(isfinite(slope));
    *ret_slope = slope;
    *ret_offset = u->y - slope * u->x;
    return BOUND_FOUND;
}

/* --- no line fits --- */

static double inverted_by(const struct hulls *hulls, double slope, double offset)
{
    double sum = 0;
    for (guint i = 0; i < hulls->above->len; i++) {
        const struct hull_point *point = &g_array_index(hulls->above, struct hull_point, i);
        sum += MAX(0, point->y - (slope * point->x + offset));
    }
    for (guint i = 0; i < hulls->below->len; i++) {
        const struct hull_point *point = &g_array_index(hulls->below, struct hull_point, i);
        sum += MAX(0, slope * point->x + offset - point->y);
    }
    return sum;
}

/* Finds the line through a point of each hull that inverts least. Hulls are small; of large
 * ones every so-manieth point is tried. */
static void approximate(const struct hulls *hulls, struct fm_synchronize_pair *ret)
{
    guint above_step = 1 + hulls->above->len / TRIED_MAX;
    guint below_step = 1 + hulls->below->len / TRIED_MAX;
    ret->status = FM_SYNCHRONIZE_FAIL;
    ret->accuracy = INFINITY;
    for (guint i = 0; i < hulls->above->len; i += above_step) {
        const struct hull_point *u = &g_array_index(hulls->above, struct hull_point, i);
        for (guint j = 0; j < hulls->below->len; j += below_step) {
            const struct hull_point *l = &g_array_index(hulls->below, struct hull_point, j);
            double slope = (u->y - l->y) / (u->x - l->x);
            if (!isfinite(slope) || slope <= 0)
                continue;
            double sum = inverted_by(hulls, slope, u->y - slope * u->x);
            if (sum >= ret->accuracy)
                continue;
            ret->status = FM_SYNCHRONIZE_APPROXIMATE;
            ret->accuracy = sum;
            ret->line = (struct fm_correction){slope, u->y - slope * u->x};
        }
    }
}

/* The bisector of the angle between the steepest and the flattest line. */
static struct fm_correction bisect(double b1, double a1, double b2, double a2)
{
    if (b1 + b2 == 0 || b1 == b2)
        return (struct fm_correction){(b1 + b2) / 2, (a1 + a2) / 2};
    double b = (b1 * b2 - 1 + sqrt(1 + b1 * b1 * b2 * b2 + b1 * b1 + b2 * b2)) / (b1 + b2);
    double a = a1 - (a1 - a2) / 2 * (b * b + 1) / (1 + b * b2);
    return (struct fm_correction){b, a};
}

/* From the origin of the points to 0. */
static double move_offset(const struct hulls *hulls, double slope, double offset)
{
    long double moved = (long double)hulls->origin_y + (long double)offset -
                        (long double)slope * (long double)hulls->origin_x;
    return (double)moved;
}

void fm_hulls_solve(struct hulls *hulls, struct fm_synchronize_pair *ret)
{
    double least = -INFINITY, greatest = INFINITY, least_offset = 0, greatest_offset = 0;
    reduce(hulls->above, &hulls->above_sorted, true);
    reduce(hulls->below, &hulls->below_sorted, false);
    enum bound upper = find_bound(hulls, true, &greatest, &greatest_offset);
    enum bound lower = find_bound(hulls, false, &least, &least_offset);
    ret->line = (struct fm_correction){1, 0};
    ret->accuracy = INFINITY;
    if (upper == BOUND_IMPOSSIBLE || lower == BOUND_IMPOSSIBLE || least > greatest) {
        least = -INFINITY;
        greatest = INFINITY;
        approximate(hulls, ret);
    } else if (upper == BOUND_FOUND && lower == BOUND_FOUND) {
        ret->status = FM_SYNCHRONIZE_ACCURATE;
        ret->accuracy = greatest - least;
        ret->line = bisect(least, least_offset, greatest, greatest_offset);
    } else {
        bool one = upper == BOUND_FOUND || lower == BOUND_FOUND;
        ret->status = one ? FM_SYNCHRONIZE_INCOMPLETE : FM_SYNCHRONIZE_ABSENT;
    }
    ret->least_drift = least;
    ret->greatest_drift = greatest;
    ret->least_offset = isfinite(least) ? move_offset(hulls, least, least_offset) : 0;
    ret->greatest_offset = isfinite(greatest) ? move_offset(hulls, greatest, greatest_offset) : 0;
    if (ret->status == FM_SYNCHRONIZE_ACCURATE || ret->status == FM_SYNCHRONIZE_APPROXIMATE)
        ret->line.offset_ns = move_offset(hulls, ret->line.drift, ret->line.offset_ns);
}
