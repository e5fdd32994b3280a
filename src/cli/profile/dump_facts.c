/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a profile as text and as JSON. */
#include "cli/profile/dump_facts.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/profile/dump_measured.h"

static void append_hash(GString *out, const uint8_t hash[FM_PART_HASH_BYTES])
{
    for (size_t i = 0; i < FM_PART_HASH_BYTES; i++)
        g_string_append_printf(out, "%02x", hash[i]);
}

/* Commands and notes are the file's bytes: nothing of them may steer the terminal. */
static void print_text(const char *name, const char *text)
{
    g_autofree char *safe = g_strescape(text, "\"");
    printf("\t%s = %s\n", name, text[0] == '\0' ? "not recorded" : safe);
}

static void print_known(const char *name, uint64_t value)
{
    if (value == 0)
        printf("\t%s = not recorded\n", name);
    else
        printf("\t%s = %" PRIu64 "\n", name, value);
}

static void print_process(const struct fm_process_fact *process)
{
    print_text("command", process->command);
    print_text("folder", process->folder);
    print_known("pid", process->pid);
    print_known("parent_pid", process->parent_pid);
    print_known("start_ns", process->start_ns);
    if (process->rank == 0)
        return;
    printf("\trank = %" PRIu32 "\n", process->rank - 1);
    print_known("ranks", process->rank_count);
    print_text("host", process->host == NULL ? "" : process->host);
}

static void print_depths(const struct fm_depths *depths)
{
    printf("pd%" PRIu32 " recursed:\n", depths->pd);
    print_known("greatest_depth", depths->greatest);
    if (depths->unknown != 0)
        printf("\tcalls of depths not recorded = %" PRIu64 "\n", depths->unknown);
    for (unsigned i = 0; i < FM_DEPTH_CLASSES; i++) {
        if (depths->calls[i] != 0)
            printf("\tcalls at depths %u to %u = %" PRIu64 "\n", 1u << i, (2u << i) - 1,
                   depths->calls[i]);
    }
}

static void print_totals(const struct fm_profile *profile)
{
    const struct fm_inclusive_info *info = &profile->run_info.inclusive;
    for (uint32_t i = 0; i < info->count; i++) {
        printf("pd%" PRIu32 " in recursions, total:\n", info->pds[i]);
        for (unsigned m = 0; m < profile->measure_count; m++) {
            int place = fm_inclusive_place(info, m);
            if (place >= 0)
                printf("\t%s = %" PRIu64 "\n", profile->measures[m].name,
                       info->values[(size_t)i * info->width + (unsigned)place]);
        }
    }
}

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

void fm_dump_facts(const struct fm_profile *profile)
{
    g_return_if_fail(profile != NULL);
    const struct fm_run_info *run_info = &profile->run_info;
    if (profile->flavour != FM_FLAVOUR_C)
        return;
    printf("\nSECTION FACTS:\n\n");
    print_known("duration_ns", run_info->duration_ns);
    print_known("recorded_ns", run_info->extent.recorded_ns);
    if (run_info->extent.unfinished)
        print_text("extent", "unfinished");
    if (run_info->extent.later)
        print_text("extent", "later");
    print_known("peak_bytes", run_info->peak_bytes);
    print_known("sample_count", run_info->sample_count);
    print_known("sample_squares", run_info->sample_squares);
    if (run_info->origin != NULL)
        print_text("origin", run_info->origin);
    for (unsigned i = 0; i < G_N_ELEMENTS(natures); i++) {
        if (fm_profile_is(profile, natures[i].bit))
            print_text("nature", natures[i].text);
    }
    print_known("heap_period", run_info->heap_period);
    if (run_info->tick_event.recorded) {
        const struct fm_tick_event *event = &run_info->tick_event;
        printf("ticks are %s:\n\tperiod = %" PRIu64 "%s\n\tof = %s\n",
               fm_profile_tick_words(profile), event->period,
               event->period == 0 ? " (counted at clock ticks and waits)" : "",
               event->user_alone ? "user code alone" : "user code and the kernel");
    }
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++) {
        if ((run_info->unknown >> m & 1u) != 0)
            print_text("measure not known", profile->measures[m].name);
    }
    for (uint32_t i = 0; i < run_info->mark_count; i++) {
        const struct fm_mark *mark = &run_info->marks[i];
        printf("mark %" PRIu32 ":\n", i + 1);
        print_text("name", mark->name);
        printf("\tns = %" PRIu64 "\n\tquanta = %" PRIu64 "\n", mark->ns, mark->quanta);
        if (mark->snapshot != 0)
            printf("\tsnapshot = %" PRIu32 "\n", mark->snapshot);
    }
    for (uint32_t i = 0; i < run_info->note_count; i++) {
        printf("note %" PRIu32 ":\n", i + 1);
        print_text("text", run_info->notes[i]);
    }
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        const struct fm_part *part = &run_info->parts[i];
        g_autoptr(GString) hash = g_string_new(NULL);
        append_hash(hash, part->hash);
        printf("part %" PRIu32 ":\n\tsha256 = %s\n\ttimes = %" PRIu64 "\n", i + 1, hash->str,
               part->times);
        print_process(&part->process);
        print_known("duration_ns", part->duration_ns);
        print_known("peak_bytes", part->peak_bytes);
        if (part->has_cost)
            printf("\tcalls = %" PRIu64 "\n\tcpu_ns = %" PRIu64 "\n", part->calls, part->cpu_ns);
    }
    for (uint32_t i = 0; i < run_info->depths_count; i++)
        print_depths(&run_info->depths[i]);
    print_totals(profile);
    fm_dump_ranks_print(profile);
    fm_dump_measured(profile);
    if (run_info->process.command != NULL) {
        printf("process:\n");
        print_process(&run_info->process);
    }
}

static void json_known(struct fm_json *json, const char *name, uint64_t value)
{
    if (value == 0)
        fm_json_null(json, name);
    else
        fm_json_uint(json, name, value);
}

static void json_text_known(struct fm_json *json, const char *name, const char *text)
{
    fm_json_text(json, name, text[0] == '\0' ? NULL : text);
}

static void json_process(struct fm_json *json, const struct fm_process_fact *process)
{
    json_text_known(json, "command", process->command);
    json_text_known(json, "folder", process->folder);
    json_known(json, "pid", process->pid);
    json_known(json, "parent_pid", process->parent_pid);
    json_known(json, "start_ns", process->start_ns);
    if (process->forked)
        fm_json_text(json, "forked_in", process->forked_in == NULL ? "" : process->forked_in);
    if (process->rank == 0)
        return;
    fm_json_uint(json, "rank", process->rank - 1);
    json_known(json, "ranks", process->rank_count);
    fm_json_text(json, "host", process->host);
}

static void json_parts(struct fm_json *json, const struct fm_run_info *run_info)
{
    fm_json_array(json, "parts");
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        const struct fm_part *part = &run_info->parts[i];
        g_autoptr(GString) hash = g_string_new(NULL);
        append_hash(hash, part->hash);
        fm_json_object(json, NULL);
        fm_json_text(json, "sha256", hash->str);
        fm_json_uint(json, "times", part->times);
        json_process(json, &part->process);
        json_known(json, "duration_ns", part->duration_ns);
        json_known(json, "peak_bytes", part->peak_bytes);
        if (part->has_cost) {
            fm_json_uint(json, "calls", part->calls);
            fm_json_uint(json, "cpu_ns", part->cpu_ns);
        }
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void json_depths(struct fm_json *json, const struct fm_run_info *run_info)
{
    fm_json_array(json, "depths");
    for (uint32_t i = 0; i < run_info->depths_count; i++) {
        const struct fm_depths *depths = &run_info->depths[i];
        fm_json_object(json, NULL);
        fm_json_uint(json, "pd", depths->pd);
        json_known(json, "greatest", depths->greatest);
        fm_json_uint(json, "unknown_calls", depths->unknown);
        fm_json_array(json, "calls");
        for (unsigned k = 0; k < FM_DEPTH_CLASSES; k++) {
            if (depths->calls[k] == 0)
                continue;
            fm_json_object(json, NULL);
            fm_json_uint(json, "from_depth", UINT64_C(1) << k);
            fm_json_uint(json, "to_depth", (UINT64_C(2) << k) - 1);
            fm_json_uint(json, "calls", depths->calls[k]);
            fm_json_end(json);
        }
        fm_json_end(json);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void json_totals(struct fm_json *json, const struct fm_profile *profile)
{
    const struct fm_inclusive_info *info = &profile->run_info.inclusive;
    fm_json_array(json, "totals_in_recursions");
    for (uint32_t i = 0; i < info->count; i++) {
        fm_json_object(json, NULL);
        fm_json_uint(json, "pd", info->pds[i]);
        for (unsigned m = 0; m < profile->measure_count; m++) {
            int place = fm_inclusive_place(info, m);
            if (place >= 0)
                fm_json_uint(json, profile->measures[m].name,
                             info->values[(size_t)i * info->width + (unsigned)place]);
        }
        fm_json_end(json);
    }
    fm_json_end(json);
}

void fm_dump_facts_json(struct fm_json *json, const struct fm_profile *profile)
{
    g_return_if_fail(json != NULL && profile != NULL);
    const struct fm_run_info *run_info = &profile->run_info;
    fm_json_line(json, 0);
    fm_json_object(json, "facts");
    json_known(json, "duration_ns", run_info->duration_ns);
    json_known(json, "recorded_ns", run_info->extent.recorded_ns);
    fm_json_bool(json, "unfinished", run_info->extent.unfinished);
    fm_json_bool(json, "later", run_info->extent.later);
    json_known(json, "peak_bytes", run_info->peak_bytes);
    json_known(json, "sample_count", run_info->sample_count);
    json_known(json, "sample_squares", run_info->sample_squares);
    fm_json_text(json, "origin", run_info->origin);
    fm_json_array(json, "unknown_measures");
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++) {
        if ((run_info->unknown >> m & 1u) != 0)
            fm_json_text(json, NULL, profile->measures[m].name);
    }
    fm_json_end(json);
    fm_json_array(json, "natures");
    for (unsigned i = 0; i < G_N_ELEMENTS(natures); i++) {
        if (fm_profile_is(profile, natures[i].bit))
            fm_json_text(json, NULL, natures[i].text);
    }
    fm_json_end(json);
    json_known(json, "heap_period", run_info->heap_period);
    if (run_info->tick_event.recorded) {
        fm_json_object(json, "tick_event");
        fm_json_text(json, "name", profile->measures[FM_QUANTA].name);
        fm_json_uint(json, "period", run_info->tick_event.period);
        fm_json_bool(json, "user_alone", run_info->tick_event.user_alone);
        fm_json_end(json);
    } else {
        fm_json_null(json, "tick_event");
    }
    fm_json_array(json, "marks");
    for (uint32_t i = 0; i < run_info->mark_count; i++) {
        const struct fm_mark *mark = &run_info->marks[i];
        fm_json_object(json, NULL);
        fm_json_text(json, "name", mark->name);
        fm_json_uint(json, "ns", mark->ns);
        fm_json_uint(json, "quanta", mark->quanta);
        json_known(json, "snapshot", mark->snapshot);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_array(json, "notes");
    for (uint32_t i = 0; i < run_info->note_count; i++)
        fm_json_text(json, NULL, run_info->notes[i]);
    fm_json_end(json);
    json_parts(json, run_info);
    json_depths(json, run_info);
    json_totals(json, profile);
    fm_dump_ranks_json(json, profile);
    fm_dump_measured_json(json, profile);
    if (run_info->process.command != NULL) {
        fm_json_object(json, "process");
        json_process(json, &run_info->process);
        fm_json_end(json);
    } else {
        fm_json_null(json, "process");
    }
    fm_json_end(json);
}
