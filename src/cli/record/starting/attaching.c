/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/starting/attaching.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/cli.h"
#include "cli/record/starting/recorded_times.h"
#include "live/attached.h"
#include "record/run/summary.h"

#define ENDING_LOOKS 20u
#define ENDING_US 5000u

static bool write_profile(struct fm_outside *outside, const char *output, bool quiet,
                          GError **error)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GPtrArray) said = NULL;
    g_autofree char *path = g_strconcat(output, ".data", NULL);
    if (!fm_outside_finish(outside, &profile, &said, error) ||
        !fm_profile_write(profile, path, false, error))
        return false;
    if (quiet)
        return true;
    const struct fm_finish_notes notes = {
        .unwound = true, .samples = profile->run_info.sample_count, .threads_unknown = true};
    for (guint i = 0; i < said->len; i++)
        fprintf(stderr, "%s\n", (const char *)g_ptr_array_index(said, i));
    fm_run_print_summary(profile, &notes, path);
    return true;
}

static void tell_begin(const struct fm_outside *outside, void *user)
{
    const struct fm_attaching *how = user;
    g_autofree char *program = fm_text_escaped(fm_outside_program(outside));
    if (!how->quiet)
        fprintf(stderr, "fathom record: process %s (%s) is %s\n", how->pid, program,
                fm_outside_words(outside));
}

/* --- with pages --- */

/* In the sampler's process. */
static int finish(struct fm_outside *outside, void *user)
{
    const struct fm_attaching *how = user;
    GError *error = NULL;
    return write_profile(outside, how->output, how->quiet, &error)
               ? FM_EXIT_DONE
               : fm_console_fail("record", error);
}

static int record_live(pid_t pid, uint64_t for_ns, enum fm_outside_way way,
                       struct fm_attaching *how)
{
    GError *error = NULL;
    int status = FM_EXIT_FAILED;
    g_autofree char *finished = g_strconcat(how->output, ".data", NULL);
    const struct fm_sampler_options options = {.pid = pid,
                                               .way = way,
                                               .for_ns = for_ns,
                                               .begun = tell_begin,
                                               .finish = finish,
                                               .user = how};
    return fm_live_attached(how->view, &options, finished, &status, &error)
               ? status
               : fm_console_fail("record", error);
}

/* --- without --- */

static int record(pid_t pid, uint64_t for_ns, enum fm_outside_way way, struct fm_attaching *how)
{
    GError *error = NULL;
    struct fm_outside *outside = NULL;
    if (!fm_outside_begin(pid, way, &outside, &error))
        return fm_console_fail("record", error);
    tell_begin(outside, how);
    const volatile sig_atomic_t *asked = fm_outside_catch_signals();
    bool done = fm_outside_run(outside, for_ns, asked, NULL, &error) &&
                write_profile(outside, how->output, how->quiet, &error);
    fm_outside_free(outside);
    return done ? FM_EXIT_DONE : fm_console_fail("record", error);
}

/* --- programs that were started --- */

/* A child that was not waited for yet. One that is just ending has no program any more, and is
 * waited for a moment. */
static bool has_ended(pid_t pid)
{
    for (unsigned i = 0; i < ENDING_LOOKS; i++) {
        siginfo_t child = {.si_pid = 0};
        if (waitid(P_PID, (id_t)pid, &child, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            child.si_pid == pid)
            return true;
        g_usleep(ENDING_US);
    }
    return false;
}

static void cannot_sample(pid_t pid, GError *error)
{
    if (has_ended(pid)) {
        g_clear_error(&error);
        g_set_error_literal(&error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                            "it ended before it could be sampled, so there is no profile: give it "
                            "more to do, or build it with `fathom cc`");
    }
    (void)fm_console_fail("record", error);
}

void fm_attaching_sample(struct fm_attached *attached, pid_t pid)
{
    static const volatile sig_atomic_t never;
    GError *error = NULL;
    enum fm_outside_way way;
    if (!fm_outside_way_wanted(&way, &error)) {
        (void)fm_console_fail("record", error);
        return;
    }
    if (!fm_outside_begin(pid, way, &attached->outside, &error)) {
        cannot_sample(pid, error);
        return;
    }
    g_autofree char *program = fm_text_escaped(fm_outside_program(attached->outside));
    if (!attached->quiet)
        fprintf(stderr, "fathom record: %s is %s\n", program, fm_outside_words(attached->outside));
    if (!fm_outside_run(attached->outside, 0, &never, NULL, &error)) {
        cannot_sample(pid, error);
        fm_outside_free(attached->outside);
        attached->outside = NULL;
    }
}

bool fm_attaching_write(struct fm_attached *attached, const char *output)
{
    GError *error = NULL;
    bool done = write_profile(attached->outside, output, attached->quiet, &error);
    fm_outside_free(attached->outside);
    attached->outside = NULL;
    if (!done)
        (void)fm_console_fail("record", error);
    return done;
}

int fm_attaching_record(struct fm_attaching *how)
{
    guint64 pid;
    uint64_t for_ns = 0;
    enum fm_outside_way way;
    if (!g_ascii_string_to_unsigned(how->pid, 10, 1, INT_MAX, &pid, NULL))
        return fm_console_usage("record", "--pid=%s: expected the number of a process", how->pid);
    if (how->for_ != NULL && (!fm_recorded_duration(how->for_, &for_ns) || for_ns == 0))
        return fm_console_usage("record", "--for=%s: expected a time such as 10s or 500ms",
                                how->for_);
    GError *error = NULL;
    if (!fm_outside_way_wanted(&way, &error))
        return fm_console_fail("record", error);
    return how->view != NULL ? record_live((pid_t)pid, for_ns, way, how)
                             : record((pid_t)pid, for_ns, way, how);
}
