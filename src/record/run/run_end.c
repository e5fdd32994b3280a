/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/run_end.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text/shell.h"
#include "base/console/say.h"
#include "record/run/joining.h"
#include "record/known/known.h"
#include "record/raw/of_run.h"
#include "record/raw/recording.h"
#include "record/statics/statics.h"
#include "record/toolchain/toolchain.h"

/* number of processes whose summary is printed in full; of more processes, only the first one's */
#define WHOLE_SUMMARIES 3

/* A child that tells nobody of its end (clone without a signal) is no process of the program's, but
 * a helper in the memory of one, as the runtime of older recordings had. */
static bool is_part_of_another(int pid)
{
    g_autofree char *stat = fm_process_text(pid, "stat");
    const char *signal = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_EXIT_SIGNAL);
    return signal != NULL && atoi(signal) == 0;
}

/* Whether a process lives that has the run's environment, and not that of an earlier run of the
 * same name. */
static bool is_of_run(int pid, const char *base)
{
    g_assert(pid > 0);
    if (fm_raw_process_start(pid) < fm_raw_process_start(getpid()) || is_part_of_another(pid))
        return false;
    g_autofree char *wanted = g_strdup_printf("FATHOM_OUTPUT=%s", base);
    g_autofree char *path = g_strdup_printf("/proc/%d/environ", pid);
    g_autofree char *environment = NULL;
    gsize size = 0;
    if (!g_file_get_contents(path, &environment, &size, NULL))
        return false;
    for (const char *at = environment; at < environment + size; at += strlen(at) + 1)
        if (strcmp(at, wanted) == 0)
            return true;
    return false;
}

/* Process number in BASE.PID.N.rec; 0 = the program's own. */
static int process_in_name(const char *path, const char *base)
{
    return path[strlen(base)] == '.' ? atoi(path + strlen(base) + 1) : 0;
}

/* A child that was forked just now may have made its file and written nothing into it. Nothing is
 * lost: it is told of as one that has recorded nothing yet. One that was killed then has no
 * profile.
 */
static unsigned leave_out_begun(const struct fm_finishing *how, const char *base, GPtrArray *found)
{
    unsigned count = 0, ended = 0;
    for (guint i = found->len; i-- > 0;) {
        const char *path = g_ptr_array_index(found, i);
        int pid = process_in_name(path, base);
        if (pid == 0 || fm_raw_recording_has_header(path))
            continue;
        bool lives = is_of_run(pid, base);
        if (!lives && !fm_raw_recording_is_void(path)) /* also: it got on, and then ended */
            continue;
        if (!lives && !how->keep)
            g_unlink(path);
        g_ptr_array_remove_index(found, i);
        count += lives;
        ended += !lives;
    }
    if (ended > 0 && !how->quiet)
        fprintf(stderr,
                "fathom record: note: %u process%s ended while %s began to record: nothing is "
                "known of %s\n",
                ended, ended == 1 ? "" : "es", ended == 1 ? "it" : "they",
                ended == 1 ? "it" : "them");
    return count;
}

/* The processes of the run that live on and have no recording yet: they have not called any
 * function with hooks since their fork, or not yet. */
static void tell_of_others(enum fm_join join, const char *base, GPtrArray *found)
{
    g_autofree char *joined = join == FM_JOIN_NONE ? NULL : fm_run_join_command(join, base, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < found->len; i++) {
        const char *path = g_ptr_array_index(found, i);
        int writer = fm_raw_recording_writer(path);
        if (writer == 0) /* it may just end */
            writer = process_in_name(path, base);
        g_hash_table_add(known, GINT_TO_POINTER(writer));
    }
    GDir *processes = g_dir_open("/proc", 0, NULL);
    for (const char *name; processes != NULL && (name = g_dir_read_name(processes)) != NULL;) {
        int pid = atoi(name);
        if (pid <= 0 || g_hash_table_contains(known, GINT_TO_POINTER(pid)) || !is_of_run(pid, base))
            continue;
        g_autofree char *alone = g_strdup_printf("fathom finish %s.%d.*.rec", base, pid);
        fprintf(stderr,
                "fathom record: note: process %d of this run still runs and has recorded nothing "
                "yet; when it has ended, `%s` %s\n",
                pid, joined == NULL ? alone : joined,
                joined == NULL ? "makes its profile" : "adds what it did");
    }
    if (processes != NULL)
        g_dir_close(processes);
}

/* The first process that records has BASE.rec, all others names with numbers. */
static void tell_of_vanished(const char *base, const GPtrArray *found)
{
    g_autofree char *first = g_strdup_printf("%s.rec", base);
    if (strcmp(g_ptr_array_index(found, 0), first) != 0)
        fprintf(stderr,
                "fathom record: note: %s, the recording of the first process, was removed while "
                "the program ran: that process is in no profile\n",
                first);
}

/* A name of the run that no file has, for a recording of that process; g_free(). */
static char *free_name(const char *base, int pid)
{
    for (unsigned number = 0;; number++) {
        char *name = g_strdup_printf("%s.%d.%u.rec", base, pid, number);
        if (!g_file_test(name, G_FILE_TEST_EXISTS))
            return name;
        g_free(name);
    }
}

guint fm_run_take_astray(const struct fm_finishing *how, const char *base, GPtrArray *found)
{
    g_autofree char *folder = g_get_current_dir();
    g_autofree char *prefix = g_build_filename(folder, "Deep", NULL);
    g_autoptr(GPtrArray) of_run = NULL;
    g_autoptr(GPtrArray) others = NULL;
    guint taken = 0;
    fm_raw_recordings_astray(folder, how->began_ns, how->pid, found, &of_run, &others);
    for (guint i = 0; i < of_run->len; i++) {
        const char *path = of_run->pdata[i];
        g_autofree char *name = free_name(base, process_in_name(path, prefix));
        if (fm_raw_recording_writer(path) != 0 || g_rename(path, name) != 0) {
            /* the path that the writing process knows it by */
            g_ptr_array_add(others, g_strdup(path));
            continue;
        }
        g_ptr_array_add(found, g_steal_pointer(&name));
        taken++;
    }
    if (taken > 0 && !how->quiet)
        fprintf(stderr,
                "fathom record: note: %u process%s started without this run's environment (env -i, "
                "sudo): the recordings, %s.*.rec, are taken into the run\n",
                taken, taken == 1 ? " was" : "es were", prefix);
    if (others->len > 0)
        fprintf(stderr,
                "fathom record: note: %u recording%s began in this folder meanwhile, perhaps of "
                "processes that were started without this run's environment (env -i, sudo): "
                "`fathom finish %s%s` makes the profile%s\n",
                others->len, others->len == 1 ? "" : "s", (const char *)others->pdata[0],
                others->len == 1 ? "" : " ...", others->len == 1 ? "" : "s");
    return others->len;
}

static void say_nothing_recorded(const char *program, const char *base)
{
    g_autofree char *path = g_find_program_in_path(program);
    bool instrumented = path != NULL && fm_toolchain_is_instrumented(path);
    if (instrumented && !fm_statics_file_has_hooks(path))
        fprintf(stderr,
                "fathom record: %s was linked with `fathom cc`, but no function of it is "
                "instrumented: its objects were compiled without it, perhaps in an earlier build. "
                "Rebuild from clean.\n",
                program);
    else if (instrumented)
        fprintf(
            stderr,
            "fathom record: %s is built with `fathom cc` but made no recording: perhaps it could "
            "not write to this folder, never started, or %s.rec was removed while it ran\n",
            program, base);
    else if (g_strcmp0(g_getenv("FATHOM_PRELOAD"), "off") == 0)
        fprintf(
            stderr,
            "fathom record: %s is not built with `fathom cc`, and FATHOM_PRELOAD=off keeps fathom "
            "from recording it as it is: unset it\n",
            program);
    else
        fprintf(stderr,
                "fathom record: %s made no recording: perhaps it could not write to this folder, "
                "never started, or started other programs without this run's environment, which "
                "write Deep.PID.N.rec in their own folders\n",
                program);
}

#define FEW_CALLS 1000

/* A child that has only become another program: what it did between fork and exec is hardly worth a
 * profile. Removes the recording then, unless it is to be kept. */
static bool is_only_exec(const struct fm_finishing *how, const char *path)
{
    g_autoptr(FmRawRecording) recording = NULL;
    if (how->all || !fm_raw_recording_load(path, &recording, NULL))
        return false;
    const struct fm_rec_header *header = &recording->header;
    if (header->state != FM_REC_EXECED || (header->grade_flags & FM_REC_FORKED) == 0)
        return false;
    uint64_t calls = 0;
    for (uint32_t i = 0; i < recording->csd_count; i++)
        if (recording->csds[i].caller != FM_RAW_NONE)
            calls += recording->csds[i].calls;
    if (calls > FEW_CALLS)
        return false;
    if (!how->keep)
        g_unlink(path);
    return true;
}

static bool is_unwound(const char *path)
{
    return (fm_raw_recording_grade(path, NULL) & FM_REC_UNWOUND) != 0;
}

/* The first process gets the run's name, if it has ended. */
static void name_first(const char *base, GPtrArray *found)
{
    g_autofree char *name = g_strdup_printf("%s.rec", base);
    uint64_t least = UINT64_MAX;
    guint first = 0;
    for (guint i = 0; i < found->len; i++) {
        uint64_t start;
        fm_raw_recording_grade(found->pdata[i], &start);
        if (strcmp(found->pdata[i], name) == 0)
            return;
        first = start < least ? i : first;
        least = MIN(least, start);
    }
    if (found->len == 0 || fm_raw_recording_writer(found->pdata[first]) != 0 ||
        g_rename(found->pdata[first], name) != 0)
        return;
    g_ptr_array_remove_index(found, first);
    g_ptr_array_insert(found, 0, g_steal_pointer(&name));
}

/* A program that starts one with hooks (a shell, make) is recorded by unwinding: where there are
 * exact counts, those are what was asked for. */
static void leave_out_unwound(const struct fm_finishing *how, const char *base, GPtrArray *found)
{
    bool counted = false;
    guint before = found->len;
    for (guint i = 0; i < found->len; i++)
        counted |= !is_unwound(found->pdata[i]);
    for (guint i = found->len; counted && i-- > 0;) {
        if (!is_unwound(found->pdata[i]))
            continue;
        if (!how->keep)
            g_unlink(found->pdata[i]);
        g_ptr_array_remove_index(found, i);
    }
    if (found->len < before)
        name_first(base, found);
}

static unsigned leave_out_execs(const struct fm_finishing *how, GPtrArray *found)
{
    unsigned count = 0;
    for (guint i = found->len; i-- > 1;) { /* the first is the program itself */
        if (!is_only_exec(how, g_ptr_array_index(found, i)))
            continue;
        g_ptr_array_remove_index(found, i);
        count++;
    }
    return count;
}

/* Each by itself. */
static bool finish_each(const struct fm_finishing *how, const GPtrArray *found, uint64_t *calls)
{
    bool ok = true;
    for (guint i = 0; i < found->len; i++) {
        struct fm_finished done = {0};
        struct fm_finishing one = *how;
        one.ended_ns = i == 0 ? how->ended_ns : 0; /* the others may have ended before */
        one.lost = i == 0 ? how->lost : 0;
        one.several = found->len > 1;
        one.brief = found->len > WHOLE_SUMMARIES && i > 0;
        if (one.several && !one.brief && !how->quiet) {
            g_autofree char *shown = fm_text_escaped(g_ptr_array_index(found, i));
            fprintf(stderr, "%s%s:\n", i > 0 ? "\n" : "", shown);
        }
        if (!fm_run_finish(&one, g_ptr_array_index(found, i), NULL, &done))
            ok = false;
        *calls += done.calls;
    }
    return ok;
}

static void say_no_calls(const char *program)
{
    if (g_strcmp0(g_getenv("FATHOM_RECORDING"), "off") == 0 ||
        g_getenv("FATHOM_START_AT") != NULL || g_getenv("FATHOM_STOP_AT") != NULL)
        fprintf(stderr,
                "fathom record: not one call was recorded: recording was stopped while %s made its "
                "calls\n",
                program);
    else
        fprintf(stderr,
                "fathom record: not one call was recorded: the functions of %s are not "
                "built with `fathom cc`\n",
                program);
}

int fm_run_end(const struct fm_finishing *how, const char *base, GPtrArray *before,
               const char *program)
{
    g_autoptr(GPtrArray) found = fm_raw_recordings_of_run(base, before);
    int status = FM_EXIT_DONE;
    unsigned lost = fm_raw_recordings_lost(found);
    unsigned begun = leave_out_begun(how, base, found);
    if (!how->quiet)
        tell_of_others(how->join, base, found);
    if (found->len > 0)
        tell_of_vanished(base, found);
    guint others = fm_run_take_astray(how, base, found);
    leave_out_unwound(how, base, found);
    if (found->len == 0) {
        if (begun == 0 && others == 0 && !how->told)
            say_nothing_recorded(program, base);
        return FM_EXIT_FAILED;
    }
    unsigned execs = leave_out_execs(how, found);
    if (execs > 0 && !how->quiet)
        fprintf(stderr,
                "fathom record: %u child process%s made few calls between fork and exec and got no "
                "profile (--all makes one)\n",
                execs, execs == 1 ? "" : "es");
    if (how->apart && found->len > 1 && !how->quiet)
        fputs("fathom record: --trace keeps each process's profile apart, as their logs of calls "
              "are (as --join=none)\n",
              stderr);
    uint64_t calls = 0;
    struct fm_known *known = fm_known_new();
    struct fm_finishing knowing = *how;
    g_autofree char *again =
        how->join == FM_JOIN_NONE ? NULL : fm_run_join_command(how->join, base, NULL);
    knowing.known = known;
    knowing.lost = lost;
    knowing.again = again;
    if (how->join == FM_JOIN_NONE ? !finish_each(&knowing, found, &calls)
                                  : !fm_run_join(&knowing, how->join, base, found, true, &calls))
        status = FM_EXIT_FAILED;
    fm_known_free(known);
    if (status == FM_EXIT_DONE && calls == 0)
        say_no_calls(program);
    return status;
}
