/* SPDX-License-Identifier: Apache-2.0 */
/* Facts beside the graph. An unknown one is "not recorded" or null; lists of JSON are there even if
 * they are empty.
 */
#include <inttypes.h>

#include "profile/dump/dump_internal.h"

static const struct {
    enum fm_nature bit;
    const char *text;
} natures[] = {
    {FM_NATURE_ARCS, "arcs"},
    {FM_NATURE_CLOCK, "clock"},
    {FM_NATURE_HEAP_SAMPLED, "heap_sampled"},
    {FM_NATURE_TIME_EXACT, "time_exact"},
    {FM_NATURE_AVERAGED, "averaged"},
};

/* Names that both forms share. */
#define BOTH(type, name, form, member) FM_DUMP_FIELD(type, name, name, form, member)
#define RUN(name, form, member) BOTH(struct fm_run_info, name, form, member)
#define PROCESS(name, form, member) BOTH(struct fm_process_fact, name, form, member)
#define MARK(name, form, member) BOTH(struct fm_mark, name, form, member)
#define PART(name, form, member) BOTH(struct fm_part, name, form, member)

static const struct fm_dump_field run_times[] = {
    RUN("duration_ns", KNOWN, duration_ns),
    RUN("recorded_ns", KNOWN, extent.recorded_ns),
};
static const struct fm_dump_field run_amounts[] = {
    RUN("peak_bytes", KNOWN, peak_bytes),
    RUN("sample_count", KNOWN, sample_count),
    RUN("sample_squares", KNOWN, sample_squares),
};
static const struct fm_dump_field heap_period[] = {RUN("heap_period", KNOWN, heap_period)};
static const struct fm_dump_field process_fields[] = {
    PROCESS("command", TEXT_KNOWN, command),
    PROCESS("folder", TEXT_KNOWN, folder),
    PROCESS("pid", KNOWN32, pid),
    PROCESS("parent_pid", KNOWN32, parent_pid),
    PROCESS("start_ns", KNOWN, start_ns),
};
static const struct fm_dump_field rank_fields[] = {
    PROCESS("ranks", KNOWN32, rank_count),
    PROCESS("host", TEXT_KNOWN, host),
};
static const struct fm_dump_field mark_fields[] = {
    MARK("name", TEXT_KNOWN, name),
    MARK("ns", NUMBER, ns),
    MARK("quanta", NUMBER, quanta),
};
static const struct fm_dump_field part_fields[] = {
    PART("duration_ns", KNOWN, duration_ns),
    PART("peak_bytes", KNOWN, peak_bytes),
};
static const struct fm_dump_field cost_fields[] = {
    PART("calls", NUMBER, calls),
    PART("cpu_ns", NUMBER, cpu_ns),
};

/* Text of this program, not of a file. */
static void say(struct fm_dump_out *out, const char *name, const char *text)
{
    fm_dump_print(out, "\t%s = %s\n", name, text);
    if (out->json != NULL)
        fm_json_text(out->json, NULL, text);
}

static void dump_flag(struct fm_dump_out *out, const char *name, bool is_so)
{
    if (is_so)
        fm_dump_print(out, "\textent = %s\n", name);
    if (out->json != NULL)
        fm_json_bool(out->json, name, is_so);
}

static void dump_process(struct fm_dump_out *out, const struct fm_process_fact *process)
{
    FM_DUMP_FIELDS(out, process_fields, process);
    if (process->forked && out->json != NULL)
        fm_json_text(out->json, "forked_in", process->forked_in == NULL ? "" : process->forked_in);
    if (process->rank == 0)
        return;
    fm_dump_uint(out, "rank", "rank", process->rank - 1);
    FM_DUMP_FIELDS(out, rank_fields, process);
}

static void dump_ticks(struct fm_dump_out *out, const struct fm_profile *profile)
{
    const struct fm_tick_event *event = &profile->run_info.tick_event;
    if (!event->recorded) {
        if (out->json != NULL)
            fm_json_null(out->json, "tick_event");
        return;
    }
    fm_dump_print(out, "ticks are %s:\n\tperiod = %" PRIu64 "%s\n\tof = %s\n",
                  fm_profile_tick_words(profile), event->period,
                  event->period == 0 ? " (counted at clock ticks and waits)" : "",
                  event->user_alone ? "user code alone" : "user code and the kernel");
    if (out->json == NULL)
        return;
    fm_json_object(out->json, "tick_event");
    fm_json_text(out->json, "name", profile->measures[FM_QUANTA].name);
    fm_json_uint(out->json, "period", event->period);
    fm_json_bool(out->json, "user_alone", event->user_alone);
    fm_json_end(out->json);
}

static void dump_natures(struct fm_dump_out *out, const struct fm_profile *profile)
{
    fm_dump_array(out, "natures", false);
    for (unsigned i = 0; i < G_N_ELEMENTS(natures); i++) {
        if (fm_profile_is(profile, natures[i].bit))
            say(out, "nature", natures[i].text);
    }
    fm_dump_end(out);
}

static void dump_unknown(struct fm_dump_out *out, const struct fm_profile *profile)
{
    fm_dump_array(out, "unknown_measures", false);
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++) {
        if ((profile->run_info.unknown >> m & 1u) != 0)
            say(out, "measure not known", profile->measures[m].name);
    }
    fm_dump_end(out);
}

static void dump_marks(struct fm_dump_out *out, const struct fm_run_info *info)
{
    fm_dump_array(out, "marks", false);
    for (uint32_t i = 0; i < info->mark_count; i++) {
        const struct fm_mark *mark = &info->marks[i];
        fm_dump_print(out, "mark %" PRIu32 ":\n", i + 1);
        fm_dump_object(out, NULL, false);
        FM_DUMP_FIELDS(out, mark_fields, mark);
        if (mark->snapshot != 0)
            fm_dump_uint(out, "snapshot", "snapshot", mark->snapshot);
        else if (out->json != NULL)
            fm_json_null(out->json, "snapshot");
        fm_dump_end(out);
    }
    fm_dump_end(out);
}

static void dump_notes(struct fm_dump_out *out, const struct fm_run_info *info)
{
    fm_dump_array(out, "notes", false);
    for (uint32_t i = 0; i < info->note_count; i++) {
        g_autofree char *safe = g_strescape(info->notes[i], "\"");
        fm_dump_print(out, "note %" PRIu32 ":\n\ttext = %s\n", i + 1,
                      safe[0] == '\0' ? "not recorded" : safe);
        if (out->json != NULL)
            fm_json_text(out->json, NULL, info->notes[i]);
    }
    fm_dump_end(out);
}

static void dump_parts(struct fm_dump_out *out, const struct fm_run_info *info)
{
    fm_dump_array(out, "parts", false);
    for (uint32_t i = 0; i < info->part_count; i++) {
        const struct fm_part *part = &info->parts[i];
        char hash[2 * FM_PART_HASH_BYTES + 1];
        for (size_t k = 0; k < FM_PART_HASH_BYTES; k++)
            g_snprintf(&hash[2 * k], 3, "%02x", part->hash[k]);
        fm_dump_print(out, "part %" PRIu32 ":\n\tsha256 = %s\n", i + 1, hash);
        fm_dump_object(out, NULL, false);
        if (out->json != NULL)
            fm_json_text(out->json, "sha256", hash);
        fm_dump_uint(out, "times", "times", part->times);
        dump_process(out, &part->process);
        FM_DUMP_FIELDS(out, part_fields, part);
        if (part->has_cost)
            FM_DUMP_FIELDS(out, cost_fields, part);
        fm_dump_end(out);
    }
    fm_dump_end(out);
}

static void dump_depth_classes(struct fm_dump_out *out, const struct fm_depths *depths)
{
    fm_dump_array(out, "calls", false);
    for (unsigned k = 0; k < FM_DEPTH_CLASSES; k++) {
        if (depths->calls[k] == 0)
            continue;
        uint64_t from = UINT64_C(1) << k, to = (UINT64_C(2) << k) - 1;
        fm_dump_print(out, "\tcalls at depths %" PRIu64 " to %" PRIu64 " = %" PRIu64 "\n", from, to,
                      depths->calls[k]);
        fm_dump_object(out, NULL, false);
        fm_dump_uint(out, NULL, "from_depth", from);
        fm_dump_uint(out, NULL, "to_depth", to);
        fm_dump_uint(out, NULL, "calls", depths->calls[k]);
        fm_dump_end(out);
    }
    fm_dump_end(out);
}

static void dump_depths(struct fm_dump_out *out, const struct fm_run_info *info)
{
    static const struct fm_dump_field greatest[] = {
        FM_DUMP_FIELD(struct fm_depths, "greatest_depth", "greatest", KNOWN, greatest),
    };
    fm_dump_array(out, "depths", false);
    for (uint32_t i = 0; i < info->depths_count; i++) {
        const struct fm_depths *depths = &info->depths[i];
        fm_dump_print(out, "pd%" PRIu32 " recursed:\n", depths->pd);
        fm_dump_object(out, NULL, false);
        fm_dump_uint(out, NULL, "pd", depths->pd);
        FM_DUMP_FIELDS(out, greatest, depths);
        fm_dump_uint(out, depths->unknown != 0 ? "calls of depths not recorded" : NULL,
                     "unknown_calls", depths->unknown);
        dump_depth_classes(out, depths);
        fm_dump_end(out);
    }
    fm_dump_end(out);
}

static void dump_totals(struct fm_dump_out *out, const struct fm_profile *profile)
{
    const struct fm_inclusive_info *info = &profile->run_info.inclusive;
    fm_dump_array(out, "totals_in_recursions", false);
    for (uint32_t i = 0; i < info->count; i++) {
        fm_dump_print(out, "pd%" PRIu32 " in recursions, total:\n", info->pds[i]);
        fm_dump_object(out, NULL, false);
        fm_dump_uint(out, NULL, "pd", info->pds[i]);
        for (unsigned m = 0; m < profile->measure_count; m++) {
            int place = fm_inclusive_place(info, m);
            const char *name = profile->measures[m].name;
            if (place >= 0)
                fm_dump_uint(out, name, name,
                             info->values[(size_t)i * info->width + (unsigned)place]);
        }
        fm_dump_end(out);
    }
    fm_dump_end(out);
}

void fm_dump_facts(struct fm_dump_out *out, const struct fm_profile *profile)
{
    const struct fm_run_info *info = &profile->run_info;
    if (profile->flavour != FM_FLAVOUR_C && out->json == NULL)
        return;
    fm_dump_print(out, "\nSECTION FACTS:\n\n");
    fm_dump_object(out, "facts", true);
    FM_DUMP_FIELDS(out, run_times, info);
    dump_flag(out, "unfinished", info->extent.unfinished);
    dump_flag(out, "later", info->extent.later);
    FM_DUMP_FIELDS(out, run_amounts, info);
    if (info->unhooked.recorded)
        fm_dump_uint(out, "unhooked_unknown_quanta", "unhooked_unknown_quanta",
                     info->unhooked.unknown_quanta);
    else if (out->json != NULL)
        fm_json_null(out->json, "unhooked_unknown_quanta");
    else
        fm_dump_print(out, "\tunhooked_unknown_quanta = not recorded\n");
    if (info->origin != NULL) {
        g_autofree char *safe = g_strescape(info->origin, "\"");
        fm_dump_print(out, "\torigin = %s\n", safe);
    }
    if (out->json != NULL)
        fm_json_text(out->json, "origin", info->origin);
    dump_natures(out, profile);
    FM_DUMP_FIELDS(out, heap_period, info);
    dump_ticks(out, profile);
    dump_unknown(out, profile);
    dump_marks(out, info);
    dump_notes(out, info);
    dump_parts(out, info);
    dump_depths(out, info);
    dump_totals(out, profile);
    fm_dump_ranks(out, profile);
    fm_dump_measured(out, profile);
    if (info->process.command != NULL) {
        fm_dump_print(out, "process:\n");
        fm_dump_object(out, "process", false);
        dump_process(out, &info->process);
        fm_dump_end(out);
    } else if (out->json != NULL) {
        fm_json_null(out->json, "process");
    }
    fm_dump_end(out);
}
