/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "profile/dump/dump_internal.h"

#define FIELD(type, form, member) FM_DUMP_FIELD(struct type, #member, #member, form, member)

static const struct fm_dump_field waiting_fields[] = {
    FIELD(fm_waiting, CSD, csd),         FIELD(fm_waiting, TEXT, kind),
    FIELD(fm_waiting, NUMBER, calls),    FIELD(fm_waiting, NUMBER, waits),
    FIELD(fm_waiting, NUMBER, ns),       FIELD(fm_waiting, NUMBER, longest_ns),
    FIELD(fm_waiting, NUMBER, short_ns), FIELD(fm_waiting, NUMBER, cpu_quanta),
    FIELD(fm_waiting, NUMBER, left),     FIELD(fm_waiting, NUMBER, open),
};
static const struct fm_dump_field lock_fields[] = {
    FIELD(fm_lock, TEXT, name),
    FIELD(fm_lock, NUMBER, address),
};
static const struct fm_dump_field blame_fields[] = {
    FIELD(fm_blame, CSD, csd),           FIELD(fm_blame, TEXT, kind),
    FIELD(fm_blame, NUMBER32, lock),     FIELD(fm_blame, CSD, holder),
    FIELD(fm_blame, NUMBER, waits),      FIELD(fm_blame, NUMBER, ns),
    FIELD(fm_blame, NUMBER, longest_ns),
};
static const struct fm_dump_field thread_fields[] = {
    FIELD(fm_thread_time, TEXT, name),        FIELD(fm_thread_time, NUMBER, wall_ns),
    FIELD(fm_thread_time, NUMBER, cpu_ns),    FIELD(fm_thread_time, NUMBER, wait_ns),
    FIELD(fm_thread_time, NUMBER, inside_ns), FIELD(fm_thread_time, NUMBER, queued_ns),
    FIELD(fm_thread_time, FLAG, queue_known),
};
static const struct fm_dump_field sleep_fields[] = {
    FIELD(fm_sleep, CSD, csd),
    FIELD(fm_sleep, NUMBER, samples),
    FIELD(fm_sleep, NUMBER, ns),
};
static const struct fm_dump_field flow_fields[] = {
    FIELD(fm_flow, CSD, from),       FIELD(fm_flow, CSD, to),
    FIELD(fm_flow, NUMBER, blocks),  FIELD(fm_flow, NUMBER, bytes),
    FIELD(fm_flow, NUMBER, held_ns), FIELD(fm_flow, NUMBER, longest_ns),
};
static const struct fm_dump_field realloc_fields[] = {
    FIELD(fm_realloc, CSD, csd),
    FIELD(fm_realloc, NUMBER, moved),
    FIELD(fm_realloc, NUMBER, kept),
};
static const struct fm_dump_field duration_fields[] = {
    FIELD(fm_durations, CSD, csd),           FIELD(fm_durations, NUMBER, timed),
    FIELD(fm_durations, NUMBER, ns),         FIELD(fm_durations, NUMBER, shortest_ns),
    FIELD(fm_durations, NUMBER, longest_ns), FIELD(fm_durations, NUMBER, left),
};
static const struct fm_dump_field heap_fields[] = {
    FIELD(fm_heap_whole, NUMBER, peak_ns),          FIELD(fm_heap_whole, NUMBER, peak_error),
    FIELD(fm_heap_whole, NUMBER, unknown_blocks),   FIELD(fm_heap_whole, NUMBER, unknown_bytes),
    FIELD(fm_heap_whole, NUMBER, unseen_blocks),    FIELD(fm_heap_whole, NUMBER, unseen_bytes),
    FIELD(fm_heap_whole, NUMBER, inherited_blocks), FIELD(fm_heap_whole, NUMBER, inherited_bytes),
    FIELD(fm_heap_whole, NUMBER, untold_blocks),    FIELD(fm_heap_whole, NUMBER, untold_bytes),
    FIELD(fm_heap_whole, NUMBER, dropped),
};
/* A fact with its kind as a word. */
struct unhooked {
    uint32_t csd;
    const char *kind, *object, *function;
    uint64_t quanta;
};
static const struct fm_dump_field unhooked_fields[] = {
    FIELD(unhooked, CSD, csd),       FIELD(unhooked, TEXT, kind),     FIELD(unhooked, TEXT, object),
    FIELD(unhooked, TEXT, function), FIELD(unhooked, NUMBER, quanta),
};
#undef FIELD

/* The facts of one kind. */
struct facts {
    const char *one, *all;
    const struct fm_dump_field *fields;
    size_t field_count;
    const void *first;
    size_t size;
    uint32_t count;
};

enum { KINDS = 11 };

/* struct unhooked; g_array_unref(). */
static GArray *unhooked_of(const struct fm_unhooked_info *info)
{
    static const char *const kinds[FM_UNHOOKED_KINDS] = {
        [FM_UNHOOKED_OBJECT] = "object",
        [FM_UNHOOKED_KERNEL] = "kernel",
        [FM_UNHOOKED_SYSTEM] = "system",
        [FM_UNHOOKED_PART] = "part",
    };
    GArray *all = g_array_new(FALSE, TRUE, sizeof(struct unhooked));
    for (uint32_t i = 0; i < info->count; i++) {
        const struct fm_unhooked *of = &info->of[i];
        const struct unhooked one = {of->csd, kinds[of->kind], of->object, of->function,
                                     of->quanta};
        g_array_append_val(all, one);
    }
    return all;
}

/* unhooked: struct unhooked. */
static void facts_of(const struct fm_profile *profile, const GArray *unhooked,
                     struct facts ret[KINDS])
{
    const struct unhooked *no_hooks = (const struct unhooked *)(const void *)unhooked->data;
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
        FACTS("unhooked", "unhooked", unhooked_fields, no_hooks, unhooked->len),
    };
#undef FACTS
    memcpy(ret, all, sizeof all);
}

/* Step after step: the first is 0. */
static void dump_steps(struct fm_dump_out *out, const struct fm_durations *durations)
{
    fm_dump_print(out, "\tsteps =");
    fm_dump_array(out, "steps", false);
    for (uint32_t i = 0; i < durations->step_count; i++) {
        const struct fm_duration_step *step = &durations->steps[i];
        fm_dump_print(out, " %" PRIu32 ":%" PRIu64, step->step, step->calls);
        fm_dump_object(out, NULL, false);
        fm_dump_uint(out, NULL, "step", step->step);
        fm_dump_uint(out, NULL, "calls", step->calls);
        fm_dump_end(out);
    }
    fm_dump_end(out);
    fm_dump_print(out, "\n");
}

void fm_dump_measured(struct fm_dump_out *out, const struct fm_profile *profile)
{
    struct facts all[KINDS];
    g_autoptr(GArray) unhooked = unhooked_of(&profile->run_info.unhooked);
    facts_of(profile, unhooked, all);
    for (unsigned k = 0; k < KINDS; k++) {
        const char *fact = all[k].first;
        fm_dump_array(out, all[k].all, false);
        for (uint32_t i = 0; i < all[k].count; i++, fact += all[k].size) {
            fm_dump_print(out, "%s %" PRIu32 ":\n", all[k].one, i + 1);
            fm_dump_object(out, NULL, false);
            fm_dump_fields(out, all[k].fields, all[k].field_count, fact);
            if (all[k].fields == duration_fields)
                dump_steps(out, (const struct fm_durations *)(const void *)fact);
            fm_dump_end(out);
        }
        fm_dump_end(out);
    }
}
