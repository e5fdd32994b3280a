/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/record/finishing.h"
#include "record/known/known.h"
#include "record/raw/of_run.h"
#include "record/raw/recording.h"
#include "record/statics/statics.h"
#include "record/toolchain/toolchain.h"

/* The shell's statuses for what could not be run. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

/* Of more processes only the first has all of its summary printed. */
#define WHOLE_SUMMARIES 3

static volatile sig_atomic_t child_pid;

/* The terminal sends its signals to the program too; those sent to us alone are for the program. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code <= 0 && child_pid > 0)
        kill((pid_t)child_pid, number);
    errno = saved;
}

static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};

static void catch_signals(struct sigaction *ret_old)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < G_N_ELEMENTS(passed); i++)
        sigaction(passed[i], &action, &ret_old[i]);
}

static void restore_signals(const struct sigaction *old)
{
    for (size_t i = 0; i < G_N_ELEMENTS(passed); i++)
        sigaction(passed[i], &old[i], NULL);
}

/* Runs the program and waits for it; its wait status, or -1 after a message. */
static int run(char **argv, int *ret_exit)
{
    struct sigaction old[G_N_ELEMENTS(passed)];
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        *ret_exit = FM_EXIT_FAILED;
        fprintf(stderr, "fathom record: %s\n", g_strerror(errno));
        return -1;
    }
    /* One that comes before the program's number is known waits. */
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    catch_signals(old);
    pid_t pid = fork();
    if (pid == 0) {
        restore_signals(old);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        execvp(argv[0], argv);
        int failure = errno;
        ssize_t written = write(report[1], &failure, sizeof failure);
        _exit(written == (ssize_t)sizeof failure ? CANNOT_RUN : NOT_FOUND);
    }
    child_pid = pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    int failure = pid < 0 ? errno : 0, status = -1;
    if (pid > 0 && read(report[0], &failure, sizeof failure) != (ssize_t)sizeof failure)
        failure = 0;
    close(report[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child_pid = 0;
    restore_signals(old);
    if (failure != 0) {
        fprintf(stderr, "fathom record: %s: %s\n", argv[0], g_strerror(failure));
        *ret_exit = failure == ENOENT ? NOT_FOUND : CANNOT_RUN;
        return -1;
    }
    return status;
}

/* The processes of the run that live on and have no recording yet: they have not called any
 * function with hooks since their fork, or not yet. */
static void tell_of_others(const char *base, GPtrArray *found)
{
    g_autofree char *wanted = g_strdup_printf("FATHOM_OUTPUT=%s", base);
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < found->len; i++) {
        const char *path = g_ptr_array_index(found, i);
        int writer = fm_raw_recording_writer(path);
        if (writer == 0 && path[strlen(base)] == '.') /* it may just begin: BASE.PID.N.rec */
            writer = atoi(path + strlen(base) + 1);
        g_hash_table_add(known, GINT_TO_POINTER(writer));
    }
    GDir *processes = g_dir_open("/proc", 0, NULL);
    for (const char *name; processes != NULL && (name = g_dir_read_name(processes)) != NULL;) {
        int pid = atoi(name);
        if (pid <= 0 || g_hash_table_contains(known, GINT_TO_POINTER(pid)))
            continue;
        g_autofree char *path = g_strdup_printf("/proc/%d/environ", pid);
        g_autofree char *environment = NULL;
        gsize size = 0;
        if (!g_file_get_contents(path, &environment, &size, NULL))
            continue;
        bool ours = false;
        for (const char *at = environment; at < environment + size && !ours; at += strlen(at) + 1)
            ours = strcmp(at, wanted) == 0;
        if (ours)
            fprintf(
                stderr,
                "fathom record: note: process %d of this run still runs and has recorded nothing "
                "yet; when it has ended, `fathom finish %s.%d.*.rec` makes its profile\n",
                pid, base, pid);
    }
    if (processes != NULL)
        g_dir_close(processes);
}

static void say_nothing_recorded(const char *program)
{
    g_autofree char *path = g_find_program_in_path(program);
    bool instrumented = path != NULL && fm_toolchain_is_instrumented(path);
    if (instrumented && !fm_statics_file_has_hooks(path))
        fprintf(stderr,
                "fathom record: %s was linked with `fathom cc`, but no function of it is "
                "instrumented: its objects were compiled without, in an earlier build perhaps. "
                "Rebuild from clean.\n",
                program);
    else if (instrumented)
        fprintf(stderr,
                "fathom record: %s is built with `fathom cc` but made no recording: could it not "
                "write to this folder, or did it never start?\n",
                program);
    else
        fprintf(stderr,
                "fathom record: %s is not built with `fathom cc` (or is a script that runs no "
                "program built so), so there is nothing to record. Build it with, for example, "
                "`make CC=\"fathom cc\" CXX=\"fathom c++\"`.\n",
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

static int finish_all(const struct fm_finishing *how, const char *base, GPtrArray *before,
                      const char *program)
{
    g_autoptr(GPtrArray) found = fm_raw_recordings_of_run(base, before);
    int status = FM_EXIT_DONE;
    if (!how->quiet)
        tell_of_others(base, found);
    if (found->len == 0) {
        say_nothing_recorded(program);
        return FM_EXIT_FAILED;
    }
    unsigned execs = leave_out_execs(how, found);
    if (execs > 0 && !how->quiet)
        fprintf(stderr,
                "fathom record: %u child process%s made few calls between fork and exec and got no "
                "profile (--all makes it)\n",
                execs, execs == 1 ? "" : "es");
    uint64_t calls = 0;
    struct fm_known *known = fm_known_new();
    for (guint i = 0; i < found->len; i++) {
        uint64_t some = 0;
        struct fm_finishing one = *how;
        one.known = known;
        one.several = found->len > 1;
        one.brief = found->len > WHOLE_SUMMARIES && i > 0;
        if (one.several && !one.brief && !how->quiet)
            fprintf(stderr, "%s%s:\n", i > 0 ? "\n" : "",
                    (const char *)g_ptr_array_index(found, i));
        if (!fm_cli_finish(&one, g_ptr_array_index(found, i), NULL, &some))
            status = FM_EXIT_FAILED;
        calls += some;
    }
    fm_known_free(known);
    if (status == FM_EXIT_DONE && calls == 0)
        fprintf(stderr,
                "fathom record: not one call was recorded: the functions of %s are not "
                "built with `fathom cc`\n",
                program);
    return status;
}

/* Ends as the program did, so that who called us sees no difference. */
static int end_like(int wait_status)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int number = WTERMSIG(wait_status);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    fflush(NULL);
    raise(number);
    return 128 + number;
}

static int record(const struct fm_finishing *how, const char *name, char **command)
{
    g_autofree char *trimmed = g_strdup(name);
    if (g_str_has_suffix(trimmed, ".data") || g_str_has_suffix(trimmed, ".rec"))
        *strrchr(trimmed, '.') = '\0';
    g_autofree char *base = g_canonicalize_filename(trimmed, NULL);
    GError *error = NULL;
    if (!fm_raw_recording_make_room(base, &error))
        return fm_cli_fail("record", error);
    g_autoptr(GPtrArray) before = fm_raw_recordings_of_run(base, NULL);
    g_setenv("FATHOM_OUTPUT", base, TRUE);
    int status = FM_EXIT_FAILED;
    int wait_status = run(command, &status);
    g_unsetenv("FATHOM_OUTPUT");
    if (wait_status < 0)
        return status;
    if (WIFSIGNALED(wait_status) && !how->quiet)
        fprintf(stderr, "fathom record: %s was ended by signal %d (%s)\n", command[0],
                WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    status = finish_all(how, base, before, command[0]);
    int own = end_like(wait_status);
    return own != 0 ? own : status;
}

int fm_cmd_record(int argc, char **argv)
{
    g_autofree char *output = NULL, *debug_path = NULL;
    gboolean keep = FALSE, quiet = FALSE, all = FALSE, keep_sources = FALSE;
    const GOptionEntry options[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write NAME.data (and NAME.PID.N.data for further processes); default: Deep", "NAME"},
        {"keep", 'k', 0, G_OPTION_ARG_NONE, &keep, "Keep the raw recordings (NAME.rec)", NULL},
        {"keep-sources", 0, 0, G_OPTION_ARG_NONE, &keep_sources,
         "Store the source files beside the profile (NAME.sources)", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Print no summary", NULL},
        {"all", 'a', 0, G_OPTION_ARG_NONE, &all,
         "A profile also of what children do between fork and exec", NULL},
        {"debug-path", 0, 0, G_OPTION_ARG_FILENAME, &debug_path,
         "Look for separate debug files in these folders too, separated by ':'", "FOLDERS"},
        {NULL},
    };
    /* Options end at the program's name: what follows is the program's, also without "--". */
    int own = 1;
    while (own < argc && argv[own][0] == '-' && strcmp(argv[own], "--") != 0) {
        bool value = strcmp(argv[own], "-o") == 0 || strcmp(argv[own], "--output") == 0 ||
                     strcmp(argv[own], "--debug-path") == 0;
        own += value ? 2 : 1;
    }
    int command = own < argc && strcmp(argv[own], "--") == 0 ? own + 1 : own;
    int own_count = MIN(own, argc);
    g_autofree char **own_arguments = g_new0(char *, (gsize)own_count + 1);
    memcpy(own_arguments, argv, (size_t)own_count * sizeof *argv);
    char **parsed = own_arguments;
    int status = fm_cli_parse(&own_count, &parsed, options, "[--] PROGRAM [ARGUMENT...]",
                              "Runs a program built with `fathom cc` and makes its profile. "
                              "Signals and the exit status pass through.",
                              "fathom record -o lua -- ./lua script.lua");
    if (status >= 0)
        return status;
    if (command >= argc)
        return fm_cli_usage("record", "which program? `fathom record -- PROGRAM [ARGUMENT...]`");
    struct fm_finishing how = {.command = "record",
                               .debug_path = debug_path,
                               .keep = keep,
                               .keep_sources = keep_sources,
                               .quiet = quiet,
                               .all = all};
    return record(&how, output == NULL ? "Deep" : output, argv + command);
}
