/* SPDX-License-Identifier: Apache-2.0 */
/* Records a process from outside: nothing is loaded into it. Time by samples of its stacks, sleeps
 * by what the kernel counts. Neither calls nor allocations are known. */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "profile/file/profile.h"

enum fm_outside_way {
    FM_OUTSIDE_ANY, /* events where the kernel allows them, else stops */
    FM_OUTSIDE_EVENTS,
    FM_OUTSIDE_STOPS
};

struct fm_outside;

/* As FATHOM_ATTACH says. Errors: FM_ERROR_USAGE. */
FM_MUST_USE bool fm_outside_way_wanted(enum fm_outside_way *ret, GError **error);
/* Errors: those of fm_target_open(); FM_ERROR_UNAVAILABLE with what refuses it. */
FM_MUST_USE bool fm_outside_begin(pid_t pid, enum fm_outside_way way, struct fm_outside **ret,
                                  GError **error);
void fm_outside_free(struct fm_outside *outside); /* NULL is allowed */
/* A sentence: how the process is sampled. */
const char *fm_outside_words(const struct fm_outside *outside);
const char *fm_outside_program(const struct fm_outside *outside);
/* From now on the signals by which users end programs set what is returned, for fm_outside_run().
 */
const volatile sig_atomic_t *fm_outside_catch_signals(void);
/* Called between samples, at least once a second; false: it is to end. */
struct fm_outside_turn {
    bool (*function)(void *user);
    void *user;
};
/* Samples until the process ends, that time has passed (0 = without end), or *asked. turn: NULL =
 * none. */
FM_MUST_USE bool fm_outside_run(struct fm_outside *outside, uint64_t for_ns,
                                const volatile sig_atomic_t *asked,
                                const struct fm_outside_turn *turn, GError **error);
/* The profile of what was sampled. ret_said: sentences (char *) for the user; g_ptr_array_unref(),
 * also on failure. */
FM_MUST_USE bool fm_outside_finish(struct fm_outside *outside, struct fm_profile **ret,
                                   GPtrArray **ret_said, GError **error);
/* As above, of what was sampled up to now, and writes it: in a copy of the process (fork), since
 * nothing more can be sampled then. */
FM_MUST_USE bool fm_outside_write(struct fm_outside *outside, const char *path, GError **error);
