/* SPDX-License-Identifier: Apache-2.0 */
/* Compares counts with bounds in integers: 105 % of 20 is 21, not 21.000000000000004. */
#include <math.h>

#include "runs/gate/internal.h"

static int64_t ten_to(unsigned decimals)
{
    g_assert(decimals <= 18);
    int64_t power = 1;
    while (decimals-- > 0)
        power *= 10;
    return power;
}

/* A product of factors, exact while it fits into 128 bits. */
struct product {
    __int128 exact;
    long double about; /* approximate value when it does not fit */
    bool fits;
};

static struct product product(int64_t a, int64_t b, int64_t c, int64_t d)
{
    struct product p = {.fits = true, .about = (long double)a * b * c * d};
    p.fits = !__builtin_mul_overflow((__int128)a * b, (__int128)c, &p.exact) &&
             !__builtin_mul_overflow(p.exact, (__int128)d, &p.exact);
    return p;
}

static int compare_sums(struct product left, struct product more, struct product right)
{
    __int128 sum;
    if (left.fits && more.fits && right.fits &&
        !__builtin_add_overflow(right.exact, more.exact, &sum))
        return left.exact < sum ? -1 : left.exact > sum;
    long double about = right.about + more.about;
    return left.about < about ? -1 : left.about > about;
}

/* Compares the value after with its bound: after / n_after with bound + before / n_before, or the
 * like. */
static int compare_bound(const struct fm_limit *limit, const struct fm_amount *amount,
                         int64_t scale)
{
    const int64_t *v = amount->value, *n = amount->calls;
    int64_t ten = ten_to(limit->decimals);
    struct product none = {.fits = true};
    switch (limit->bound) {
    case FM_BOUND_ABSOLUTE:
        return compare_sums(product(v[FM_AFTER], scale, ten, 1), none,
                            product(limit->number, n[FM_AFTER], 1, 1));
    case FM_BOUND_DIFFERENCE:
        return compare_sums(product(v[FM_AFTER], n[FM_BEFORE], scale, ten),
                            product(v[FM_BEFORE], n[FM_AFTER], scale, ten),
                            product(limit->number, n[FM_BEFORE], n[FM_AFTER], 1));
    case FM_BOUND_PERCENT:
        return compare_sums(product(v[FM_AFTER], n[FM_BEFORE], 100 * ten, 1), none,
                            product(v[FM_BEFORE], n[FM_AFTER], 100 * ten + limit->number, 1));
    }
    g_assert_not_reached();
}

bool fm_bound_holds(const struct fm_limit *limit, const struct fm_amount *amount, int64_t scale)
{
    g_assert(amount->calls[FM_BEFORE] > 0 && amount->calls[FM_AFTER] > 0);
    int order = compare_bound(limit, amount, scale);
    switch (limit->op) {
    case FM_AT_MOST:
        return order <= 0;
    case FM_BELOW:
        return order < 0;
    case FM_EQUAL:
        return order == 0;
    case FM_AT_LEAST:
        return order >= 0;
    case FM_ABOVE:
        return order > 0;
    }
    g_assert_not_reached();
}

double fm_bound_allowed(const struct fm_limit *limit, double before)
{
    double number = (double)limit->number / (double)ten_to(limit->decimals);
    if (limit->bound == FM_BOUND_PERCENT)
        return before * (1 + number / 100);
    if (limit->unit == FM_LIMIT_SECONDS)
        number /= 1e9;
    return limit->bound == FM_BOUND_DIFFERENCE ? before + number : number;
}

double fm_bound_percent(const struct fm_limit *limit)
{
    g_assert(limit->bound == FM_BOUND_PERCENT);
    return (double)limit->number / (double)ten_to(limit->decimals);
}
