/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of fact has a table of what is in it, which both forms are written by. */
#include "cli/profile/dump_measured.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum form { TEXT, CSD, NUMBER32, NUMBER, FLAG };

struct field {
    const char *name;
    enum form form;
    size_t offset;
};

#define FIELD(of, form, member)                    \
    {                                              \
#member, form, offsetof(struct of, member) \
    }

static const struct field waiting_fields[] = {
    FIELD(fm_waiting, CSD, csd),         FIELD(fm_waiting, TEXT, kind),
    FIELD(fm_waiting, NUMBER, calls),    FIELD(fm_waiting, NUMBER, waits),
    FIELD(fm_waiting, NUMBER, ns),       FIELD(fm_waiting, NUMBER, longest_ns),
    FIELD(fm_waiting, NUMBER, short_ns), FIELD(fm_waiting, NUMBER, cpu_quanta),
    FIELD(fm_waiting, NUMBER, left),     FIELD(fm_waiting, NUMBER, open),
};
static const struct field lock_fields[] = {
    FIELD(fm_lock, TEXT, name),
    FIELD(fm_lock, NUMBER, address),
};
static const struct field blame_fields[] = {
    FIELD(fm_blame, CSD, csd),           FIELD(fm_blame, TEXT, kind),
    FIELD(fm_blame, NUMBER32, lock),     FIELD(fm_blame, CSD, holder),
    FIELD(fm_blame, NUMBER, waits),      FIELD(fm_blame, NUMBER, ns),
    FIELD(fm_blame, NUMBER, longest_ns),
};
static const struct field thread_fields[] = {
    FIELD(fm_thread_time, TEXT, name),        FIELD(fm_thread_time, NUMBER, wall_ns),
    FIELD(fm_thread_time, NUMBER, cpu_ns),    FIELD(fm_thread_time, NUMBER, wait_ns),
    FIELD(fm_thread_time, NUMBER, inside_ns), FIELD(fm_thread_time, NUMBER, queued_ns),
    FIELD(fm_thread_time, FLAG, queue_known),
};
static const struct field sleep_fields[] = {
    FIELD(fm_sleep, CSD, csd),
    FIELD(fm_sleep, NUMBER, samples),
    FIELD(fm_sleep, NUMBER, ns),
};
static const struct field flow_fields[] = {
    FIELD(fm_flow, CSD, from),       FIELD(fm_flow, CSD, to),
    FIELD(fm_flow, NUMBER, blocks),  FIELD(fm_flow, NUMBER, bytes),
    FIELD(fm_flow, NUMBER, held_ns), FIELD(fm_flow, NUMBER, longest_ns),
};
static const struct field realloc_fields[] = {
    FIELD(fm_realloc, CSD, csd),
    FIELD(fm_realloc, NUMBER, moved),
    FIELD(fm_realloc, NUMBER, kept),
};
static const struct field duration_fields[] = {
    FIELD(fm_durations, CSD, csd),           FIELD(fm_durations, NUMBER, timed),
    FIELD(fm_durations, NUMBER, ns),         FIELD(fm_durations, NUMBER, shortest_ns),
    FIELD(fm_durations, NUMBER, longest_ns), FIELD(fm_durations, NUMBER, left),
};
static const struct field heap_fields[] = {
    FIELD(fm_heap_whole, NUMBER, peak_ns),          FIELD(fm_heap_whole, NUMBER, peak_error),
    FIELD(fm_heap_whole, NUMBER, unknown_blocks),   FIELD(fm_heap_whole, NUMBER, unknown_bytes),
    FIELD(fm_heap_whole, NUMBER, unseen_blocks),    FIELD(fm_heap_whole, NUMBER, unseen_bytes),
    FIELD(fm_heap_whole, NUMBER, inherited_blocks), FIELD(fm_heap_whole, NUMBER, inherited_bytes),
    FIELD(fm_heap_whole, NUMBER, untold_blocks),    FIELD(fm_heap_whole, NUMBER, untold_bytes),
    FIELD(fm_heap_whole, NUMBER, dropped),
};
#undef FIELD

/* The facts of one kind. */
struct facts {
    const char *one, *all;
    const struct field *fields;
    size_t field_count;
    const void *first;
    size_t size;
    uint32_t count;
};

enum { KINDS = 10 };

static void facts_of(const struct fm_profile *profile, struct facts ret[KINDS])
{
    const struct fm_run_info *info = &profile->run_info;
    const struct fm_wait_info *waits = &info->wait_info;
    const struct fm_heap_info *heap = &info->heap_info;
#define FACTS(one, all, fields, first, count)                                 \
    {                                                                         \
        one, all, fields, G_N_ELEMENTS(fields), first, sizeof *(first), count \
    }
    const struct facts all[KINDS] = {
        FACTS("waiting", "waiting", waiting_fields, waits->waiting, waits->waiting_count),
        FACTS("lock", "locks", lock_fields, waits->locks, waits->lock_count),
        FACTS("blame", "blames", blame_fields, waits->blames, waits->blame_count),
        FACTS("thread", "threads", thread_fields, waits->threads, waits->thread_count),
        FACTS("sleep", "sleeps", sleep_fields, waits->sleeps, waits->sleep_count),
        FACTS("heap", "heap", heap_fields, &heap->whole, heap->recorded ? 1u : 0u),
        FACTS("realloc", "reallocs", realloc_fields, heap->reallocs, heap->realloc_count),
        FACTS("flow", "flows", flow_fields, heap->flows, heap->flow_count),
        FACTS("durations", "durations", duration_fields, info->durations.of, info->durations.count),
        FACTS("lifetimes", "lifetimes", duration_fields, heap->lifetimes.of, heap->lifetimes.count),
    };
#undef FACTS
    memcpy(ret, all, sizeof all);
}

static uint64_t number_of(const struct field *field, const char *fact)
{
    const char *at = fact + field->offset;
    if (field->form == NUMBER)
        return *(const uint64_t *)(const void *)at;
    return field->form == FLAG ? *(const bool *)(const void *)at
                               : *(const uint32_t *)(const void *)at;
}

static const char *text_of(const struct field *field, const char *fact)
{
    return *(const char *const *)(const void *)(fact + field->offset);
}

static void print_field(const struct field *field, const char *fact)
{
    if (field->form == TEXT) { /* the file's bytes: nothing of them may steer the terminal */
        g_autofree char *safe = g_strescape(text_of(field, fact), "\"");
        printf("\t%s = %s\n", field->name, safe[0] == '\0' ? "not known" : safe);
        return;
    }
    uint64_t number = number_of(field, fact);
    if (field->form == CSD && number == 0)
        printf("\t%s = not known\n", field->name);
    else
        printf("\t%s = %s%" PRIu64 "\n", field->name, field->form == CSD ? "csd" : "", number);
}

/* Step after step: the first is 0. */
static void print_steps(const struct fm_durations *durations)
{
    printf("\tsteps =");
    for (uint32_t i = 0; i < durations->step_count; i++)
        printf(" %" PRIu32 ":%" PRIu64, durations->steps[i].step, durations->steps[i].calls);
    printf("\n");
}

void fm_dump_measured(const struct fm_profile *profile)
{
    g_return_if_fail(profile != NULL);
    struct facts all[KINDS];
    facts_of(profile, all);
    for (unsigned k = 0; k < KINDS; k++) {
        const char *fact = all[k].first;
        for (uint32_t i = 0; i < all[k].count; i++, fact += all[k].size) {
            printf("%s %" PRIu32 ":\n", all[k].one, i + 1);
            for (size_t f = 0; f < all[k].field_count; f++)
                print_field(&all[k].fields[f], fact);
            if (all[k].fields == duration_fields)
                print_steps((const struct fm_durations *)(const void *)fact);
        }
    }
}

static void json_field(struct fm_json *json, const struct field *field, const char *fact)
{
    if (field->form == TEXT)
        fm_json_text(json, field->name, text_of(field, fact));
    else if (field->form == FLAG)
        fm_json_bool(json, field->name, number_of(field, fact) != 0);
    else if (field->form == CSD && number_of(field, fact) == 0)
        fm_json_null(json, field->name);
    else
        fm_json_uint(json, field->name, number_of(field, fact));
}

static void json_steps(struct fm_json *json, const struct fm_durations *durations)
{
    fm_json_array(json, "steps");
    for (uint32_t i = 0; i < durations->step_count; i++) {
        fm_json_object(json, NULL);
        fm_json_uint(json, "step", durations->steps[i].step);
        fm_json_uint(json, "calls", durations->steps[i].calls);
        fm_json_end(json);
    }
    fm_json_end(json);
}

void fm_dump_measured_json(struct fm_json *json, const struct fm_profile *profile)
{
    g_return_if_fail(json != NULL && profile != NULL);
    struct facts all[KINDS];
    facts_of(profile, all);
    for (unsigned k = 0; k < KINDS; k++) {
        const char *fact = all[k].first;
        fm_json_array(json, all[k].all);
        for (uint32_t i = 0; i < all[k].count; i++, fact += all[k].size) {
            fm_json_object(json, NULL);
            for (size_t f = 0; f < all[k].field_count; f++)
                json_field(json, &all[k].fields[f], fact);
            if (all[k].fields == duration_fields)
                json_steps(json, (const struct fm_durations *)(const void *)fact);
            fm_json_end(json);
        }
        fm_json_end(json);
    }
}
