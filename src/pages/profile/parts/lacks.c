/* SPDX-License-Identifier: Apache-2.0 */
/* A table in an order that nobody recorded would be one of zeros. */
#include "pages/profile/parts/lacks.h"

static const char *lacks(const struct fm_profile *p, unsigned measure)
{
    static const char *const unknown[FM_MEASURES_MERCURY] = {
        [FM_EXITS] = "numbers of calls were not recorded",
        [FM_FAILS] = "how calls ended was not recorded",
        [FM_REDOS] = "how calls ended was not recorded",
        [FM_EXCPS] = "how calls ended was not recorded",
        [FM_QUANTA] = "time was not recorded",
        [FM_CALLSEQS] = "numbers of calls below each call were not recorded",
        [FM_ALLOCS] = "allocations were not recorded",
        [FM_WORDS] = "allocated memory was not recorded",
    };
    if (fm_profile_knows(p, measure))
        return NULL;
    if (measure == FM_CALLSEQS && !fm_profile_knows(p, FM_EXITS))
        measure = FM_EXITS;
    return unknown[measure];
}

static const char *lacks_further(const struct fm_profile *p, const char *name, const char *sentence)
{
    unsigned measure = fm_profile_measure(p, name);
    return measure == 0 || !fm_profile_knows(p, measure) ? sentence : NULL;
}

const char *fm_order_lacks(const struct fm_profile *profile, const struct fm_cost_order *order)
{
    static const unsigned measures[] = {
        [FM_BY_CALLS] = FM_EXITS,       [FM_BY_REDOS] = FM_REDOS,   [FM_BY_TIME] = FM_QUANTA,
        [FM_BY_CALLSEQS] = FM_CALLSEQS, [FM_BY_ALLOCS] = FM_ALLOCS, [FM_BY_WORDS] = FM_WORDS,
    };
    const char *text = order->kind == FM_BY_TIME ? NULL : lacks(profile, measures[order->kind]);
    return text == NULL && order->per_call ? lacks(profile, FM_EXITS) : text;
}

const char *fm_measure_lacks(const struct fm_profile *profile, enum fm_query_measure measure)
{
    switch (measure) {
    case FM_QUERY_BY_TIME:
        return lacks(profile, FM_QUANTA);
    case FM_QUERY_BY_CALLS:
    case FM_QUERY_BY_CALLSEQS:
        return lacks(profile, FM_CALLSEQS);
    case FM_QUERY_BY_BYTES:
    case FM_QUERY_BY_WORDS:
        return lacks(profile, FM_WORDS);
    case FM_QUERY_BY_ALLOCS:
        return lacks(profile, FM_ALLOCS);
    case FM_QUERY_BY_WAITING:
        return lacks_further(profile, "wait_ns", "waits were not recorded");
    case FM_QUERY_BY_LIVE:
        return lacks_further(profile, "live_bytes", "live memory at the end was not recorded");
    case FM_QUERY_BY_PEAK:
        return lacks_further(profile, "peak_bytes", "peak memory was not recorded");
    case FM_QUERY_BY_AUTO:
        break; /* what the page chooses is there */
    }
    return NULL;
}
