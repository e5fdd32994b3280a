/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of facts behind the nodes of a C program's profile, and their readers
 * (run_info.c has the table). */
#pragma once

#include "base/files/writer.h"
#include "profile/file/read_internal.h"

enum fm_fact {
    FM_FACT_MARK = 1,
    FM_FACT_NOTE,
    FM_FACT_DURATION,
    FM_FACT_PEAK,
    FM_FACT_PROCESS,
    FM_FACT_SAMPLES,
    FM_FACT_PART,
    FM_FACT_DEPTHS,
    FM_FACT_INCLUSIVE,
    FM_FACT_WAITING = 10,
    FM_FACT_LOCK,
    FM_FACT_BLAME,
    FM_FACT_THREAD_TIME,
    FM_FACT_SLEEP,
    FM_FACT_DURATIONS,
    FM_FACT_TICK_EVENT,
    FM_FACT_EXTENT,
    FM_FACT_UNHOOKED,
    FM_FACT_REALLOC = 21,
    FM_FACT_FLOW,
    FM_FACT_HEAP,
    FM_FACT_LIFETIMES,
    FM_FACT_FLOW_TIME,
    FM_FACT_HEAP_CURVE,
    FM_FACT_ORIGIN = 30, /* only of imported profiles */
    FM_FACT_UNKNOWN,
    FM_FACT_NATURE,
    FM_FACT_RANK = 40,
    FM_FACT_RANK_STATISTICS,
    FM_FACT_FORKED = 42,
    FM_FACT_PART_COST,
    FM_FACT_ATTACHED = 50,
};

/* build.c, for the files here */
struct fm_build;
struct fm_profile *fm_build_profile(struct fm_build *build); /* that is being built */
const char *fm_build_keep(struct fm_build *build, const char *text);
struct fm_wait_info *fm_build_wait_info(struct fm_build *build);

/* arcs.c: costs that do not follow from the graph, behind its nature. */
FM_MUST_USE bool fm_read_inclusive(struct fm_profile_reading *reading, GError **error);
void fm_encode_inclusive(struct fm_writer *writer, const struct fm_profile *profile);

/* attached.c */
FM_MUST_USE bool fm_read_attached(struct fm_profile_reading *reading, GError **error);
void fm_encode_attached(struct fm_writer *writer, const struct fm_profile *profile);

/* inclusive.c, inclusive_facts.c */
FM_MUST_USE bool fm_read_pd_inclusive(struct fm_profile_reading *reading, GError **error);
void fm_encode_pd_inclusive(struct fm_writer *writer, const struct fm_inclusive_info *info);
void fm_inclusive_info_done(struct fm_inclusive_info *info);
/* NULL: they are of what the profile has. */
char *fm_inclusive_fault(const struct fm_profile *profile);

/* rank_facts.c */
FM_MUST_USE bool fm_read_rank(struct fm_profile_reading *reading, GError **error);
void fm_encode_ranks(struct fm_writer *writer, const struct fm_run_info *run_info);

/* ranks.c */
FM_MUST_USE bool fm_read_rank_info(struct fm_profile_reading *reading, GError **error);
void fm_encode_rank_info(struct fm_writer *writer, const struct fm_rank_info *info);

/* role_facts.c */
FM_MUST_USE bool fm_read_forked(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_part_cost(struct fm_profile_reading *reading, GError **error);
void fm_encode_roles(struct fm_writer *writer, const struct fm_run_info *run_info);

/* waiting.c. What is added belongs to the profile's strings. */
void fm_wait_info_add(struct fm_wait_info *info, const struct fm_waiting *waiting);
void fm_wait_info_add_lock(struct fm_wait_info *info, const struct fm_lock *lock);
void fm_wait_info_add_blame(struct fm_wait_info *info, const struct fm_blame *blame);
void fm_wait_info_add_thread(struct fm_wait_info *info, const struct fm_thread_time *time);
void fm_wait_info_add_sleep(struct fm_wait_info *info, const struct fm_sleep *sleep);
void fm_wait_info_done(struct fm_wait_info *info);
FM_MUST_USE bool fm_read_waiting(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_lock(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_blame(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_thread_time(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_sleep(struct fm_profile_reading *reading, GError **error);
/* durations.c. Takes the steps. */
void fm_duration_info_add(struct fm_duration_info *info, struct fm_durations *durations);
void fm_duration_info_done(struct fm_duration_info *info);
FM_MUST_USE bool fm_read_durations(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_lifetimes(struct fm_profile_reading *reading, GError **error);
void fm_encode_durations(struct fm_writer *writer, enum fm_fact fact,
                         const struct fm_duration_info *info);
void fm_encode_wait_info(struct fm_writer *writer, const struct fm_wait_info *info);

/* heap.c */
FM_MUST_USE bool fm_read_realloc(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_flow_time(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_flow(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_heap_whole(struct fm_profile_reading *reading, GError **error);
FM_MUST_USE bool fm_read_heap_curve(struct fm_profile_reading *reading, GError **error);
void fm_encode_heap_info(struct fm_writer *writer, const struct fm_heap_info *info);

/* unhooked_facts.c */
FM_MUST_USE bool fm_read_unhooked(struct fm_profile_reading *reading, GError **error);
void fm_encode_unhooked(struct fm_writer *writer, const struct fm_unhooked_info *info);
