/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile in memory, node by node: for the finisher of recordings, for generators and for
 * tests.
 *
 *   struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "btree");
 *   fm_build_header(build)->ticks_per_second = 100;
 *   unsigned frees = fm_build_own_measure(build, FM_FREES);
 *   uint32_t runtime = fm_build_ps(build, &(struct fm_ps){.name = "runtime", ...});
 *   uint32_t site = fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK, ...});
 *   uint32_t root = fm_build_pd(build, runtime);               the first pd is the root
 *   uint32_t main_pd = fm_build_pd(build, main_ps);
 *   uint32_t csd = fm_build_csd(build, root, 0, main_pd);      slot 0 = first site of the ps
 *   fm_build_add(build, csd, FM_EXITS, 1);
 *   if (!fm_build_finish(build, &profile, &error)) ...
 *
 * Ids are handed out from 1 in the order of the calls. A css or ps may be added, and a css's callee
 * changed, as late as just before finish. Strings are copied; NULL counts as "". Mistakes (an id
 * that does not exist, a second csd in a slot of a normal site) are reported by finish. */
#pragma once

#include "profile/file/profile.h"

struct fm_build;

struct fm_build *fm_build_new(enum fm_flavour flavour, const char *program_name);
/* For a profile with the nodes of another one, which it shares, and counts and facts of its own: no
 * node may be added, and its measures are those of the other in the end. No coverage.
 * fm_build_finish_recount() ends it. */
struct fm_build *fm_build_new_recount(struct fm_profile *base);
void fm_build_free(struct fm_build *build); /* NULL is allowed; for a build without finish */

/* The header of the profile; change it at any time before finish. */
struct fm_build_header {
    unsigned word_size;             /* 8 for Mercury, 1 for C until changed */
    bool canonical;                 /* true until changed */
    enum fm_coverage_kind coverage; /* FM_COVERAGE_NONE until changed */
    uint64_t ticks_per_second;      /* 100 until changed */
    uint64_t instrumentation_quanta;
    bool has_totals; /* false: finish sets the two below to the sums over all csds */
    uint64_t user_quanta;
    uint64_t callseqs;
    /* C only; struct fm_run_info */
    uint64_t duration_ns, peak_bytes, sample_count, sample_squares;
};
struct fm_build_header *fm_build_header(struct fm_build *build); /* belongs to build */

/* A further measure of a C profile, to be used as index from now on: FM_MEASURES_MERCURY, ...; 0
 * when there is no room left (FM_MEASURES_MAX) or the flavour is Mercury's. name: [a-z][a-z0-9_]*,
 * at most 32 characters. */
unsigned fm_build_measure(struct fm_build *build, const char *name, const char *unit, double scale);
/* Adds a measure that fathom knows; without room the building fails. */
unsigned fm_build_own_measure(struct fm_build *build, enum fm_further_measure further);
/* Changes name, unit and scale of one of the first eight: C flavour only, ignored otherwise. */
void fm_build_rename_measure(struct fm_build *build, enum fm_measure_id measure, const char *name,
                             const char *unit, double scale);

/* Copied: label_kind, decl_module, def_module, name, type_name, arity, mode, file, line,
 * in_interface, variadic, inlined and, for C, raw_name (the linker's name). All else is derived. */
uint32_t fm_build_ps(struct fm_build *build, const struct fm_ps *ps);
/* Appends a call site to a ps; its slot is the number of sites added to the ps before. Copied:
 * kind, callee_ps, type_subst, file, line, goal_path, inlined. */
uint32_t fm_build_css(struct fm_build *build, uint32_t ps, const struct fm_css *css);
/* So that all proc dynamics together have at most so many slots, the call sites of procedures that
 * would leave most of them empty become one of FM_SITE_UNKNOWN each. Returns of how many; ids of
 * call sites and numbers of slots from before then say nothing. C flavour, nothing but nodes and
 * their measurements; with slots_max of less than a slot a proc dynamic as near as it gets. */
uint32_t fm_build_fold_sites(struct fm_build *build, uint64_t slots_max);
/* Appends a coverage point to a ps; the header's coverage must not be FM_COVERAGE_NONE. */
void fm_build_point(struct fm_build *build, uint32_t ps, const struct fm_coverage_point *point);

uint32_t fm_build_pd(struct fm_build *build, uint32_t ps);
/* Coverage counts of a pd (dynamic coverage): adds to point number `point` of its ps. */
void fm_build_pd_point(struct fm_build *build, uint32_t pd, uint32_t point, uint64_t count);
/* An edge. In slots that hold lists, csds keep the order in which they were added. */
uint32_t fm_build_csd(struct fm_build *build, uint32_t caller_pd, uint32_t slot,
                      uint32_t callee_pd);
void fm_build_add(struct fm_build *build, uint32_t csd, unsigned measure, uint64_t value);
/* fm_profile.csd_inclusive, of a profile that has FM_NATURE_ARCS by now. */
void fm_build_add_inclusive(struct fm_build *build, uint32_t csd, unsigned measure, uint64_t value);
/* Sets the line, when it is known later than the ps. */
void fm_build_set_line(struct fm_build *build, uint32_t ps, uint32_t line);
/* That it was called more often than is known (fm_ps.inlined). */
void fm_build_set_uncounted(struct fm_build *build, uint32_t ps);
/* Marks a call site as uncounted (fm_css.inlined). */
void fm_build_set_site_uncounted(struct fm_build *build, uint32_t css);

/* Facts of a C profile. Marks in order of time; their names, and notes, are copied. */
void fm_build_mark(struct fm_build *build, const struct fm_mark *mark);
void fm_build_note(struct fm_build *build, const char *note);
/* A note that begins so says that figures are not what they look like: it stands in front of them.
 */
#define FM_NOTE_WARNING "warning: "
/* Ascending by fm_part_compare(), each once; what is in them is copied. */
void fm_build_part(struct fm_build *build, const struct fm_part *part);
/* That the profile was made of another tool's file; copied. */
void fm_build_origin(struct fm_build *build, const char *origin);
/* fm_run_info.nature and heap_period: adds bits of enum fm_nature. */
void fm_build_nature(struct fm_build *build, uint32_t nature, uint64_t heap_period);
/* That it is not all of the run. */
void fm_build_extent(struct fm_build *build, const struct fm_extent *extent);
/* That quanta are events; the measure is renamed by the caller. */
void fm_build_tick_event(struct fm_build *build, const struct fm_tick_event *event);
/* That nobody knows a measure, one of the first eight: fm_run_info.unknown. */
void fm_build_unknown(struct fm_build *build, enum fm_measure_id measure);
/* Several calls for one proc dynamic are added up. */
void fm_build_depths(struct fm_build *build, const struct fm_depths *depths);
/* Totals inside recursions (struct fm_inclusive_info): of which measures, before the first; then
 * one of a pd, ascending, of each a value in the order of the measures. */
void fm_build_inclusive(struct fm_build *build, uint32_t measures);
void fm_build_pd_inclusive(struct fm_build *build, uint32_t pd, const uint64_t *values);
/* Facts of waiting; strings are copied, locks have numbers from 1 in the order of the calls. */
void fm_build_waiting(struct fm_build *build, const struct fm_waiting *waiting);
void fm_build_lock(struct fm_build *build, const struct fm_lock *lock);
void fm_build_blame(struct fm_build *build, const struct fm_blame *blame);
/* To be filled in; csds as fm_build_csd() numbers them. Borrowed. */
struct fm_heap_info *fm_build_heap(struct fm_build *build);
void fm_build_thread_time(struct fm_build *build, const struct fm_thread_time *time);
void fm_build_sleep(struct fm_build *build, const struct fm_sleep *sleep);
/* From now on the time in code without hooks is recorded, but for unknown quanta; then each. */
void fm_build_unhooked_begin(struct fm_build *build, uint64_t unknown_quanta);
void fm_build_unhooked(struct fm_build *build, const struct fm_unhooked *of);
/* Takes the steps. Ascending by csd. */
void fm_build_durations(struct fm_build *build, struct fm_durations *durations);
void fm_build_process(struct fm_build *build, const struct fm_process_fact *process);

/* Checks everything that profile.h promises and hands out the profile (caller owns it). Frees the
 * build, also on failure. FM_ERROR_FORMAT names the node that is wrong. */
FM_MUST_USE bool fm_build_finish(struct fm_build *build, struct fm_profile **ret, GError **error);
/* Finishes a build of fm_build_new_recount(): FM_ERROR_FORMAT also when more than counts and facts
 * differ.
 */
FM_MUST_USE bool fm_build_finish_recount(struct fm_build *build, struct fm_profile **ret,
                                         GError **error);
