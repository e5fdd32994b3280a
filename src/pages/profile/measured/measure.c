/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/measure.h"

#include <math.h>
#include <string.h>

#include "digest/waiting.h"

#define SAMPLES_DOMINANT 100
#define SAMPLES_FEW 10
#define WAITED_WORTH_SAYING 0.05 /* seconds */

static enum fm_measure_id measure_id(const struct fm_profile *profile,
                                     enum fm_query_measure measure)
{
    switch (measure) {
    case FM_QUERY_BY_TIME:
        return FM_QUANTA;
    case FM_QUERY_BY_CALLS:
    case FM_QUERY_BY_CALLSEQS:
        return FM_CALLSEQS;
    case FM_QUERY_BY_ALLOCS:
        return FM_ALLOCS;
    case FM_QUERY_BY_BYTES:
    case FM_QUERY_BY_WORDS:
        return FM_WORDS;
    case FM_QUERY_BY_WAITING:
        return fm_wait_measure(profile, "wait_ns");
    case FM_QUERY_BY_LIVE:
        return (enum fm_measure_id)fm_profile_measure(profile, "live_bytes");
    case FM_QUERY_BY_PEAK:
        return (enum fm_measure_id)fm_profile_measure(profile, "peak_bytes");
    case FM_QUERY_BY_AUTO:
        break;
    }
    g_assert_not_reached();
}

const char *fm_measure_label(const struct fm_deep_recording *recording,
                             enum fm_query_measure measure)
{
    static const char *const labels[] = {
        [FM_QUERY_BY_TIME] = "Time",
        [FM_QUERY_BY_CALLS] = "Calls",
        [FM_QUERY_BY_BYTES] = "Bytes",
        [FM_QUERY_BY_ALLOCS] = "Allocations",
        [FM_QUERY_BY_WAITING] = "Waiting",
        [FM_QUERY_BY_CALLSEQS] = "Call sequence numbers",
        [FM_QUERY_BY_WORDS] = "Words",
        [FM_QUERY_BY_LIVE] = "Live at the end",
        [FM_QUERY_BY_PEAK] = "Live at the peak",
        [FM_QUERY_BY_AUTO] = "Automatic",
    };
    g_assert((unsigned)measure < G_N_ELEMENTS(labels) && labels[measure] != NULL);
    bool of_time = measure != FM_QUERY_BY_TIME || recording->profile->ticks_per_second > 0;
    return of_time ? labels[measure] : fm_profile_tick_words(recording->profile);
}

unsigned fm_measures_of(const struct fm_deep_recording *recording,
                        const enum fm_query_measure **ret)
{
    static const enum fm_query_measure c[] = {
        FM_QUERY_BY_TIME,    FM_QUERY_BY_CALLS, FM_QUERY_BY_BYTES, FM_QUERY_BY_ALLOCS,
        FM_QUERY_BY_WAITING, FM_QUERY_BY_LIVE,  FM_QUERY_BY_PEAK};
    static const enum fm_query_measure mercury[] = {FM_QUERY_BY_TIME, FM_QUERY_BY_CALLSEQS,
                                                    FM_QUERY_BY_WORDS, FM_QUERY_BY_ALLOCS};
    bool is_c = recording->profile->flavour == FM_FLAVOUR_C;
    *ret = is_c ? c : mercury;
    return is_c ? G_N_ELEMENTS(c) : G_N_ELEMENTS(mercury);
}

bool fm_measure_is_recorded(const struct fm_deep_recording *recording,
                            enum fm_query_measure measure)
{
    enum fm_measure_id id = measure_id(recording->profile, measure);
    return recording->known >= FM_KNOWN_COSTS && id != FM_EXITS &&
           fm_profile_knows(recording->profile, id) &&
           fm_cost_total(&recording->analysis->root_total, id) > 0;
}

bool fm_waiting_dominates(const struct fm_deep_recording *recording)
{
    const struct fm_profile *profile = recording->profile;
    if (recording->known < FM_KNOWN_COSTS || profile->ticks_per_second == 0 ||
        !fm_measure_is_recorded(recording, FM_QUERY_BY_WAITING))
        return false;
    enum fm_measure_id measure = measure_id(profile, FM_QUERY_BY_WAITING);
    double waited = (double)fm_cost_total(&recording->analysis->root_total, measure) / 1e9;
    double worked = (double)profile->user_quanta / (double)profile->ticks_per_second;
    return waited >= WAITED_WORTH_SAYING && waited > 2 * worked;
}

enum fm_query_measure fm_dominant_measure(const struct fm_deep_recording *recording)
{
    const struct fm_profile *profile = recording->profile;
    if (fm_profile_samples(profile, (double)profile->user_quanta) >= SAMPLES_DOMINANT &&
        profile->ticks_per_second > 0)
        return FM_QUERY_BY_TIME;
    if (profile->run_info.tick_event.recorded && profile->user_quanta > 0) /* it was asked for */
        return FM_QUERY_BY_TIME;
    if (fm_waiting_dominates(recording))
        return FM_QUERY_BY_WAITING;
    if (!fm_profile_knows(profile, FM_CALLSEQS))
        return fm_profile_knows(profile, FM_QUANTA)  ? FM_QUERY_BY_TIME
               : fm_profile_knows(profile, FM_WORDS) ? FM_QUERY_BY_BYTES
                                                     : FM_QUERY_BY_ALLOCS;
    return profile->flavour == FM_FLAVOUR_C ? FM_QUERY_BY_CALLS : FM_QUERY_BY_CALLSEQS;
}

void fm_measured_init(struct fm_measured *ret, const struct fm_deep_recording *recording,
                      enum fm_query_measure asked)
{
    g_return_if_fail(ret != NULL && recording->profile != NULL);
    const struct fm_profile *profile = recording->profile;
    bool c = profile->flavour == FM_FLAVOUR_C;
    if (asked == FM_QUERY_BY_AUTO)
        asked = fm_dominant_measure(recording);
    if ((asked == FM_QUERY_BY_LIVE || asked == FM_QUERY_BY_PEAK) && measure_id(profile, asked) == 0)
        asked = FM_QUERY_BY_BYTES;
    if (c && (asked == FM_QUERY_BY_CALLSEQS || asked == FM_QUERY_BY_WORDS))
        asked = asked == FM_QUERY_BY_WORDS ? FM_QUERY_BY_BYTES : FM_QUERY_BY_CALLS;
    if (!c && (asked == FM_QUERY_BY_CALLS || asked == FM_QUERY_BY_BYTES))
        asked = asked == FM_QUERY_BY_CALLS ? FM_QUERY_BY_CALLSEQS : FM_QUERY_BY_WORDS;
    bool waiting = asked == FM_QUERY_BY_WAITING;
    if (waiting && measure_id(profile, asked) == FM_EXITS) /* not recorded */
        asked = fm_dominant_measure(recording);
    waiting = waiting && asked == FM_QUERY_BY_WAITING;
    *ret = (struct fm_measured){
        .asked = asked,
        .measure = measure_id(profile, asked),
        .is_time = waiting || (asked == FM_QUERY_BY_TIME && profile->ticks_per_second > 0),
        .is_bytes = asked == FM_QUERY_BY_BYTES || asked == FM_QUERY_BY_LIVE ||
                    asked == FM_QUERY_BY_PEAK ||
                    (asked == FM_QUERY_BY_TIME && profile->ticks_per_second == 0 &&
                     strcmp(profile->measures[FM_QUANTA].unit, "bytes") == 0),
        .tick = waiting                         ? 1e-9
                : profile->ticks_per_second > 0 ? 1.0 / (double)profile->ticks_per_second
                                                : 0,
        .sample = waiting ? 0 : fm_profile_sample_quanta(profile),
        .unit = !waiting && profile->ticks_per_second > 1000 ? FM_TIME_UNIT_US : FM_TIME_UNIT_MS,
        .scale = c ? 1 : profile->word_size,
        .name = asked == FM_QUERY_BY_CALLSEQS ? "call sequence numbers"
                : asked == FM_QUERY_BY_ALLOCS ? "allocations"
                : asked == FM_QUERY_BY_LIVE   ? "bytes live at the end"
                : asked == FM_QUERY_BY_PEAK   ? "bytes live at the peak"
                : asked == FM_QUERY_BY_TIME && profile->ticks_per_second == 0
                    ? fm_profile_tick_words(profile)
                    : fm_query_measure_word(asked),
    };
    ret->whole = fm_cost_total(&recording->analysis->root_total, ret->measure);
    if ((double)ret->whole * ret->tick >= 10)
        ret->unit = FM_TIME_UNIT_S;
}

void fm_measured_column(struct fm_table *table, const struct fm_measured *measured,
                        const char *title, const char *part, unsigned priority)
{
    static const char *const units[] = {
        [FM_TIME_UNIT_S] = "s", [FM_TIME_UNIT_MS] = "ms", [FM_TIME_UNIT_US] = "\u00b5s"};
    const char *unit = measured->is_time                      ? "seconds"
                       : measured->is_bytes                   ? "bytes"
                       : measured->asked == FM_QUERY_BY_WORDS ? "words"
                                                              : "count";
    g_autofree char *name = g_strdup_printf(
        "%s_%s_%s",
        measured->asked == FM_QUERY_BY_CALLS ? "calls" : fm_query_measure_word(measured->asked),
        part, unit);
    g_autofree char *shown = measured->is_time
                                 ? g_strdup_printf("%s %s", title, units[measured->unit])
                                 : g_strdup(title);
    fm_table_group(table, shown, FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, name, NULL);
    fm_column_priority(table, priority);
}

void fm_measured_cell(struct fm_table *table, const struct fm_measured *measured, int64_t amount)
{
    if (measured->is_time)
        fm_cell_time_in(table, (double)amount * measured->tick, measured->unit);
    else if (measured->is_bytes)
        fm_cell_bytes(table, amount);
    else
        fm_cell_int(table, amount);
}

void fm_calls_cell(struct fm_table *table, const struct fm_profile *profile, int64_t calls,
                   bool inlined)
{
    if (!fm_profile_knows(profile, FM_EXITS))
        fm_cell_unknown(table);
    else if (!inlined)
        fm_cell_int(table, calls);
    else if (calls == 0 && fm_profile_is(profile, FM_NATURE_ARCS))
        fm_cell_unknown(table); /* by nobody that is known */
    else if (calls == 0)
        fm_cell_string(table, "inlined", FM_STYLE_PLAIN);
    else
        fm_cell_int_and(table, calls,
                        fm_profile_is(profile, FM_NATURE_ARCS) ? "unknown" : "inlined");
}

void fm_measured_per_call(struct fm_table *table, const struct fm_measured *measured,
                          int64_t amount, int64_t calls)
{
    double each = calls > 0 ? (double)amount / (double)calls : 0;
    if (calls <= 0)
        fm_cell_empty(table);
    else if (fm_measured_is_soft(measured, amount))
        fm_cell_few(table);
    else if (measured->is_time)
        fm_cell_time_short(table, each * measured->tick);
    else if (measured->is_bytes)
        fm_cell_bytes(table, (int64_t)(each + 0.5));
    else
        fm_cell_ratio(table, each);
}

char *fm_measured_text(const struct fm_measured *measured, int64_t amount)
{
    g_autofree char *number = fm_format_int(amount);
    if (measured->is_bytes && amount < 10L * 1024)
        return g_strdup_printf("%s bytes", number);
    if (measured->is_bytes)
        return fm_format_bytes(amount);
    if (measured->is_time) {
        double seconds = (double)amount * measured->tick;
        g_autofree char *ms = fm_format_int((int64_t)(seconds * 1e3 + 0.5));
        g_autofree char *s = fm_format_float(seconds, 2);
        return seconds >= 10 ? g_strdup_printf("%s s", s) : g_strdup_printf("%s ms", ms);
    }
    return g_strdup_printf("%s %s", number, measured->name);
}

double fm_measured_share(const struct fm_measured *measured, int64_t amount)
{
    return measured->whole > 0 ? (double)amount / (double)measured->whole : 0;
}

bool fm_measured_is_soft(const struct fm_measured *measured, int64_t amount)
{
    return measured->is_time && (double)amount < SAMPLES_FEW * measured->sample;
}

double fm_measured_spread(const struct fm_measured *measured, int64_t amount)
{
    double x = (double)MAX(amount, 0);
    return 2 * sqrt(measured->sample * x * fmax(1 - fm_measured_share(measured, amount), 0));
}
