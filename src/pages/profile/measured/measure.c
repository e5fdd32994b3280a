/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/measure.h"

#include <math.h>
#include <string.h>

#include "profile/digest/run/held.h"

#define SAMPLES_DOMINANT 20
#define HELD_DOMINANT (16 << 20) /* bytes; and at least half of the peak */
#define SAMPLES_FEW 10
#define WAITED_WORTH_SAYING 0.02 /* seconds */

/* FM_EXITS, by which no tree is drawn: the profile does not have it. */
static enum fm_measure_id measure_id(const struct fm_profile *profile,
                                     enum fm_query_measure measure)
{
    g_assert((unsigned)measure < FM_QUERY_BY_AUTO);
    unsigned of = fm_tree_measures[measure].measure;
    return (enum fm_measure_id)(
        of < FM_FURTHER_FIRST ? of : fm_profile_measure(profile, (enum fm_further_measure)of));
}

const char *fm_measure_label(const struct fm_open_profile *recording, enum fm_query_measure measure)
{
    if (measure == FM_QUERY_BY_AUTO)
        return "Automatic";
    bool of_time = measure != FM_QUERY_BY_TIME || recording->profile->ticks_per_second > 0;
    return of_time ? fm_tree_measures[measure].label : fm_profile_tick_words(recording->profile);
}

bool fm_measure_is_offered(const struct fm_open_profile *recording, enum fm_query_measure measure)
{
    const struct fm_tree_measure *of = &fm_tree_measures[measure];
    return recording->profile->flavour == FM_FLAVOUR_C ? of->c : of->mercury;
}

bool fm_measure_is_recorded(const struct fm_open_profile *recording, enum fm_query_measure measure)
{
    enum fm_measure_id id = measure_id(recording->profile, measure);
    return recording->known >= FM_KNOWN_COSTS && id != FM_EXITS &&
           fm_profile_knows(recording->profile, id) &&
           fm_cost_total(&recording->analysis->root_total, id) > 0;
}

bool fm_waiting_dominates(const struct fm_open_profile *recording)
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

bool fm_held_dominates(const struct fm_open_profile *recording)
{
    const struct fm_profile *profile = recording->profile;
    uint64_t least = MAX(HELD_DOMINANT, profile->run_info.peak_bytes / 2);
    if (!fm_measure_is_recorded(recording, FM_QUERY_BY_LIVE) ||
        (uint64_t)fm_cost_total(&recording->analysis->root_total,
                                measure_id(profile, FM_QUERY_BY_LIVE)) < least)
        return false;
    g_autoptr(FmHeldDigest) held = fm_held_digest_new(profile, NULL);
    return held->bytes >= least;
}

enum fm_query_measure fm_dominant_measure(const struct fm_open_profile *recording)
{
    const struct fm_profile *profile = recording->profile;
    /* events were requested */
    if (profile->run_info.tick_event.recorded && profile->user_quanta > 0)
        return FM_QUERY_BY_TIME;
    if (fm_waiting_dominates(recording))
        return FM_QUERY_BY_WAITING;
    if (fm_profile_samples(profile, (double)profile->user_quanta) >= SAMPLES_DOMINANT &&
        profile->ticks_per_second > 0)
        return FM_QUERY_BY_TIME;
    if (fm_held_dominates(recording))
        return FM_QUERY_BY_LIVE;
    if (!fm_profile_knows(profile, FM_CALLSEQS))
        return fm_profile_knows(profile, FM_QUANTA)  ? FM_QUERY_BY_TIME
               : fm_profile_knows(profile, FM_WORDS) ? FM_QUERY_BY_BYTES
                                                     : FM_QUERY_BY_ALLOCS;
    return profile->flavour == FM_FLAVOUR_C ? FM_QUERY_BY_CALLS : FM_QUERY_BY_CALLSEQS;
}

void fm_measured_init(struct fm_measured *ret, const struct fm_open_profile *recording,
                      enum fm_query_measure asked)
{
    g_return_if_fail(ret != NULL && recording->profile != NULL);
    const struct fm_profile *profile = recording->profile;
    if (asked == FM_QUERY_BY_AUTO)
        asked = fm_dominant_measure(recording);
    while (!fm_measure_is_offered(recording, asked) || measure_id(profile, asked) == FM_EXITS) {
        enum fm_query_measure instead = fm_tree_measures[asked].instead;
        asked = instead == FM_QUERY_BY_AUTO ? fm_dominant_measure(recording) : instead;
    }
    const struct fm_tree_measure *of = &fm_tree_measures[asked];
    uint64_t ticks = profile->ticks_per_second;
    bool by_quanta = of->measure == FM_QUANTA, in_seconds = strcmp(of->unit, "seconds") == 0;
    bool by_clock = in_seconds && !by_quanta;
    const char *unit = by_quanta && ticks == 0 ? profile->measures[FM_QUANTA].unit : of->unit;
    *ret = (struct fm_measured){
        .asked = asked,
        .measure = measure_id(profile, asked),
        .is_time = by_clock || (by_quanta && ticks > 0),
        .is_bytes = strcmp(unit, "bytes") == 0,
        .tick = by_clock    ? fm_known_measure(of->measure)->file.scale
                : ticks > 0 ? 1.0 / (double)ticks
                            : 0,
        .sample = by_clock ? 0 : fm_profile_sample_quanta(profile),
        .unit = !by_clock && ticks > 1000 ? FM_TIME_UNIT_US : FM_TIME_UNIT_MS,
        .scale = profile->flavour == FM_FLAVOUR_C ? 1 : profile->word_size,
        .name = by_quanta && ticks == 0 ? fm_profile_tick_words(profile) : of->name,
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
    const char *unit = fm_tree_measures[measured->asked].unit;
    if (measured->asked == FM_QUERY_BY_TIME && !measured->is_time)
        unit = measured->is_bytes ? "bytes" : "count";
    g_autofree char *name = g_strdup_printf("%s_%s_%s", fm_tree_words[measured->asked], part, unit);
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

static bool has_spread(const struct fm_measured *measured)
{
    return measured->is_time && measured->sample > 0;
}

void fm_measured_spread_column(struct fm_table *table, const struct fm_measured *measured,
                               const char *part, unsigned priority)
{
    g_autofree char *spread = g_strconcat(part, "_spread", NULL);
    if (!has_spread(measured))
        return;
    fm_measured_column(table, measured, "\u00b1", spread, priority);
    fm_column_help(table, "It is sampled: in 19 of 20 runs it is at most so much more or less");
}

void fm_measured_spread_cell(struct fm_table *table, const struct fm_measured *measured,
                             int64_t amount)
{
    if (has_spread(measured))
        fm_cell_time_in(table, fm_measured_spread(measured, amount) * measured->tick,
                        measured->unit);
}

void fm_calls_cell(struct fm_table *table, const struct fm_profile *profile, int64_t calls,
                   bool inlined)
{
    if (!fm_profile_knows(profile, FM_EXITS))
        fm_cell_unknown(table);
    else if (!inlined)
        fm_cell_int(table, calls);
    else if (calls == 0 && fm_profile_is(profile, FM_NATURE_ARCS))
        fm_cell_unknown(table); /* the caller is not known */
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

/* Of one: "call", "page fault", "cache miss". */
static char *name_of_one(const char *name)
{
    size_t size = strlen(name);
    if (g_str_has_suffix(name, "sses"))
        return g_strndup(name, size - 2);
    return g_strndup(name, size - g_str_has_suffix(name, "s"));
}

char *fm_measured_text(const struct fm_measured *measured, int64_t amount)
{
    g_autofree char *number = fm_format_int(amount);
    if (measured->is_bytes && amount < 10L * 1024)
        return g_strdup_printf("%s byte%s", number, amount == 1 ? "" : "s");
    if (measured->is_bytes)
        return fm_format_bytes(amount);
    if (measured->is_time) {
        double seconds = (double)amount * measured->tick;
        if (seconds > 0 && seconds < 1e-3)
            return g_strdup_printf("%.0f \u00b5s", MAX(seconds * 1e6, 1));
        g_autofree char *ms = fm_format_int((int64_t)(seconds * 1e3 + 0.5));
        g_autofree char *s = fm_format_float(seconds, 2);
        return seconds >= 10 ? g_strdup_printf("%s s", s) : g_strdup_printf("%s ms", ms);
    }
    g_autofree char *name = amount == 1 ? name_of_one(measured->name) : g_strdup(measured->name);
    return g_strdup_printf("%s %s", number, name);
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
