/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/cli.h"
#include "cli/record/starting/attaching.h"
#include "cli/record/starting/preloading.h"
#include "cli/record/starting/recorded_times.h"
#include "cli/record/starting/running.h"
#include "exchange/hint/hint.h"
#include "live/run.h"
#include "live/token.h"
#include "record/run/call_log.h"
#include "record/run/joining.h"
#include "record/run/kept.h"
#include "record/run/rotating.h"
#include "record/run/run_end.h"
#include "record/run/tick_event.h"
#include "record/raw/of_run.h"
#include "record/running/looks.h"

#define RUNS_MAX 100000u

/* Launchers of MPI programs tell each process its rank: many are started with one name, which would
 * take each other's recordings for processes of their own. NULL: there is none. */
static const char *rank_of_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *rank = g_getenv(names[i]);
        size_t digits = rank == NULL ? 0 : strspn(rank, "0123456789");
        if (digits > 0 && digits <= 9 && rank[digits] == '\0')
            return rank;
    }
    return NULL;
}

/* A run whose program has ended, to be finished. */
struct ended_run {
    struct fm_finishing *how;
    const char *base, *program;
    GPtrArray *before;
};

static int finish_ended(void *user)
{
    const struct ended_run *run = user;
    return fm_run_end(run->how, run->base, run->before, run->program);
}

/* The prefix of the files of NAME; g_free(). */
static char *base_of(const char *name)
{
    g_autofree char *trimmed = g_strdup(name);
    if (g_str_has_suffix(trimmed, ".data") || g_str_has_suffix(trimmed, ".rec"))
        *strrchr(trimmed, '.') = '\0';
    const char *rank = rank_of_process();
    g_autofree char *own =
        rank == NULL ? g_strdup(trimmed) : g_strdup_printf("%s.rank%s", trimmed, rank);
    return g_canonicalize_filename(own, NULL);
}

/* How the runs of a service are kept. */
struct keeping {
    const char *name;            /* NAME, with its folder */
    unsigned keep;               /* number of runs to keep; 0: only one, which replaces the last */
    struct fm_rotation rotation; /* keep 0: a run is one */
    bool whole;                  /* recorded from start to end */
    bool outside;                /* sampled from outside in any case */
};

/* *ret_wait_status: the program's; -1: not started. view: NULL, or how its pages are served. */
static int record(struct fm_finishing *how, const char *base, const struct keeping *keeping,
                  const struct fm_live_options *view, char **command, int *ret_wait_status)
{
    GError *error = NULL;
    *ret_wait_status = -1;
    if (!fm_raw_recording_make_room(base, &error))
        return fm_console_fail("record", error);
    g_autoptr(GPtrArray) before = fm_raw_recordings_of_run(base, NULL);
    g_setenv("FATHOM_OUTPUT", base, TRUE);
    struct fm_attached attached = {.quiet = how->quiet, .is_wanted = keeping->outside};
    bool *outside =
        view == NULL && keeping->rotation.keep == 0 && keeping->whole ? &attached.is_wanted : NULL;
    g_auto(GStrv) environment =
        fm_preloading_environment(command, !how->alone, &how->told, outside);
    fm_cli_ask_no_server(); /* the program's environment has what was set */
    struct fm_live_run *live = NULL;
    if (view != NULL && !fm_live_run_new(view, base, before, &live, &error))
        return fm_console_fail("record", error);
    struct fm_rotating *rotating = NULL;
    if (keeping->rotation.keep > 0 &&
        !fm_rotating_begin(how, &keeping->rotation, keeping->name, base, before, &rotating, &error))
        return fm_console_fail("record", error);
    int status = FM_EXIT_FAILED;
    struct fm_running with = {.looks = fm_looks_new(base, before),
                              .live = live,
                              .rotating = rotating,
                              .attached = attached.is_wanted ? &attached : NULL};
    how->began_ns = (uint64_t)g_get_real_time() * 1000;
    int wait_status = fm_running_run(command, environment, &with, &status);
    fm_looks_free(with.looks);
    g_unsetenv("FATHOM_OUTPUT");
    if (wait_status < 0) {
        fm_live_run_free(live);
        if (rotating != NULL)
            (void)fm_rotating_end(rotating, 0);
        return status;
    }
    if (WIFSIGNALED(wait_status) && !how->quiet) {
        g_autofree char *shown = fm_text_escaped(command[0]);
        fprintf(stderr, "fathom record: %s was ended by signal %d (%s)\n", shown,
                WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    }
    how->ended_ns = (uint64_t)g_get_monotonic_time() * 1000;
    how->pid = (uint32_t)with.pid;
    *ret_wait_status = wait_status;
    if (rotating != NULL)
        return fm_rotating_end(rotating, how->ended_ns) ? FM_EXIT_DONE : FM_EXIT_FAILED;
    if (attached.outside != NULL) {
        g_autoptr(GPtrArray) others = fm_raw_recordings_of_run(base, before);
        if (others->len == 0)
            (void)fm_run_take_astray(how, base, others);
        g_autofree char *name = g_path_get_basename(command[0]);
        g_autofree char *own =
            others->len == 0 ? g_strdup(base) : g_strdup_printf("%s.%s", base, name);
        if (!fm_attaching_write(&attached, own))
            return FM_EXIT_FAILED;
        if (others->len == 0) /* else programs that it started are finished, too */
            return FM_EXIT_DONE;
    }
    struct ended_run ended_run = {how, base, command[0], before};
    g_autoptr(GHashTable) profiles = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    how->profiles = profiles;
    status = live == NULL ? finish_ended(&ended_run)
                          : fm_live_run_finish(live, finish_ended, &ended_run, profiles);
    how->profiles = NULL;
    fm_live_run_free(live);
    return status;
}

static int record_run(struct fm_finishing *how, const char *name, unsigned keep,
                      const struct fm_rotation *rotation, bool whole, bool outside,
                      const struct fm_live_options *view, char **command)
{
    g_autofree char *base = base_of(name);
    const struct keeping keeping = {base, keep, *rotation, whole, outside};
    struct fm_kept_run kept = {0};
    GError *error = NULL;
    int wait_status;
    if (keep > 0 && !fm_kept_begin(base, &kept, &error))
        return fm_console_fail("record", error);
    gint64 began_us = g_get_monotonic_time();
    int status = record(how, keep > 0 ? kept.base : base, &keeping, view, command, &wait_status);
    if (keep > 0) {
        gint64 ended_us = how->ended_ns > 0 ? (gint64)(how->ended_ns / 1000) : began_us;
        g_autofree char *failure = fm_running_early_failure(wait_status, ended_us - began_us);
        fm_kept_end(base, keep, failure, &kept);
    }
    int ended = wait_status == -1 ? 0 : fm_running_end_like(wait_status);
    return ended != 0 ? ended : status;
}

static bool takes_value(const char *option)
{
    static const char *const names[] = {
        "-o",      "--output",     "--debug-path", "--after", "--for",    "--when",
        "--trace", "--port",       "--tick",       "-p",      "--rotate", "--listen",
        "--token", "--token-file", "--join",       "--pid",   NULL};
    return g_strv_contains(names, option);
}

/* Options end at the program's name: what follows is the program's, also without "--". */
static int own_options(int argc, char **argv)
{
    int own = 1;
    while (own < argc && argv[own][0] == '-' && strcmp(argv[own], "--") != 0)
        own += takes_value(argv[own]) ? 2 : 1;
    return own;
}

struct record_options {
    char *output, *debug_path, *trace, *tick, *when, *join_text, *rotate, *pid;
    enum fm_join join;
    unsigned runs; /* that are kept; 0 = one, without a time in its name */
    struct fm_rotation rotation;
    gboolean keep, quiet, all, keep_sources, no_heap, no_waiting, lifetimes, live, no_children,
        outside;
    struct fm_recorded_times times;
    struct fm_live_options view;
};

static void record_options_clear(struct record_options *options)
{
    char *texts[] = {
        options->output,     options->debug_path,      options->trace,      options->tick,
        options->when,       options->times.after,     options->times.for_, options->view.listen,
        options->view.token, options->view.token_file, options->join_text,  options->rotate,
        options->pid};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
}

/* --keep=N, which is not --keep, is taken out of the words; the last one counts. Returns an exit
 * status, or -1. */
static int take_runs(int *count, char **words, unsigned *ret)
{
    static const char option[] = "--keep=";
    int left = 0;
    for (int i = 0; i < *count; i++) {
        if (!g_str_has_prefix(words[i], option)) {
            words[left++] = words[i];
            continue;
        }
        guint64 number;
        if (!g_ascii_string_to_unsigned(words[i] + strlen(option), 10, 1, RUNS_MAX, &number, NULL))
            return fm_console_usage("record", "%s: expected the number of runs to keep, 1 to %u",
                                    words[i], RUNS_MAX);
        *ret = (unsigned)number;
    }
    *count = left;
    words[left] = NULL;
    return -1;
}

static const char summary[] = "Runs a program and makes its profile: with exact counts if it is "
                              "built with `fathom cc`, else by "
                              "samples of its stacks. Signals and the exit status pass through.";
static const char examples[] = "fathom record -- git log --stat\n"
                               "  fathom record -o lua -- ./lua script.lua\n"
                               "  fathom record --live -- ./server\n"
                               "  fathom record --pid 1234 --for 10s\n"
                               "  fathom record --keep=7 -o web -- ./server";

/* Returns an exit status, or -1 to go on with the program at *ret_command. */
static int parse(int argc, char **argv, struct record_options *ret, int *ret_command)
{
    const GOptionEntry options[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &ret->output,
         "Write NAME.data, and NAME.PROGRAM.data for further programs (default: Deep)", "NAME"},
        FM_ATTACHING_OPTIONS(ret->pid, ret->outside),
        {"keep", 'k', 0, G_OPTION_ARG_NONE, &ret->keep,
         "Keep the raw recordings (NAME.rec). --keep=N: keep the profiles of the last N runs, "
         "NAME.TIME.data",
         NULL},
        {"rotate", 0, 0, G_OPTION_ARG_STRING, &ret->rotate,
         "With --keep=N: start a new profile every TIME (10m) or at each snapshot; keep the last N",
         "TIME|snapshot"},
        {"keep-sources", 0, 0, G_OPTION_ARG_NONE, &ret->keep_sources,
         "Store the source files beside the profile (NAME.sources)", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &ret->quiet, "Print no summary", NULL},
        {"all", 'a', 0, G_OPTION_ARG_NONE, &ret->all, "Also profile children between fork and exec",
         NULL},
        {"no-children", 0, 0, G_OPTION_ARG_NONE, &ret->no_children,
         "Do not record programs that PROGRAM starts, unless they are built with `fathom cc`",
         NULL},
        {"no-heap", 0, 0, G_OPTION_ARG_NONE, &ret->no_heap,
         "Count allocations only; do not track live blocks", NULL},
        {"lifetimes", 0, 0, G_OPTION_ARG_NONE, &ret->lifetimes,
         "Also record the lifetime of each block", NULL},
        {"no-waiting", 0, 0, G_OPTION_ARG_NONE, &ret->no_waiting,
         "Do not record waits for locks, reads, sleeps, ...", NULL},
        {"begin-stopped", 0, 0, G_OPTION_ARG_NONE, &ret->times.begin_stopped,
         "Record nothing until `fathom ctl ... start`, or fathom_start()", NULL},
        {"after", 0, 0, G_OPTION_ARG_STRING, &ret->times.after,
         "Record nothing before TIME has passed: 2s, 500ms", "TIME"},
        {"for", 0, 0, G_OPTION_ARG_STRING, &ret->times.for_, "Record for at most TIME: 10s",
         "TIME"},
        {"when", 0, 0, G_OPTION_ARG_STRING, &ret->when,
         "Keep only what happens within calls of FUNCTION", "FUNCTION"},
        {"trace", 0, 0, G_OPTION_ARG_STRING, &ret->trace,
         "Time each call of these functions, and write NAME.calls.eventlog", "NAME[,NAME...]"},
        {"tick", 0, 0, G_OPTION_ARG_STRING, &ret->tick,
         "Sample by EVENT instead of CPU time: page-faults, context-switches, cycles, ...",
         "EVENT[:PERIOD]"},
        {"join", 0, 0, G_OPTION_ARG_STRING, &ret->join_text,
         "Make one profile for each program (default), one for all, or one for each process: "
         "program, all, none",
         "HOW"},
        {"debug-path", 0, 0, G_OPTION_ARG_FILENAME, &ret->debug_path,
         "Also look for separate debug files in FOLDERS, separated by ':'", "FOLDERS"},
        {"live", 0, 0, G_OPTION_ARG_NONE, &ret->live,
         "Serve the pages while the program runs, and afterwards until Ctrl-C", NULL},
        {"port", 'p', 0, G_OPTION_ARG_INT, &ret->view.port,
         "With --live: listen at port N; 0 = any free one", "N"},
        {"no-open", 'n', 0, G_OPTION_ARG_NONE, &ret->view.no_open,
         "With --live: do not start a browser", NULL},
        {"listen", 0, 0, G_OPTION_ARG_STRING, &ret->view.listen,
         "With --live: listen at ADDRESS instead of loopback; needs --token", "ADDRESS"},
        FM_CLI_TOKEN_OPTIONS(ret->view.token, ret->view.token_file,
                             "With --live: answer only clients that send the secret TOKEN"),
        {NULL},
    };
    int own = own_options(argc, argv);
    *ret_command = own < argc && strcmp(argv[own], "--") == 0 ? own + 1 : own;
    int own_count = MIN(own, argc);
    g_autofree char **own_arguments = g_new0(char *, (gsize)own_count + 1);
    memcpy(own_arguments, argv, (size_t)own_count * sizeof *argv);
    char **parsed = own_arguments;
    int status = take_runs(&own_count, own_arguments, &ret->runs);
    if (status >= 0)
        return status;
    return fm_cli_parse(&own_count, &parsed, options, "[--] PROGRAM [ARGUMENT...]", summary,
                        examples);
}

/* Passes the options to the runtime in the program's environment. -1: success. */
static int tell_runtime(const struct record_options *options)
{
    GError *error = NULL;
    const char *trace = options->trace, *tick = options->tick;
    if (trace != NULL && !fm_call_log_check_names(trace, &error))
        return fm_console_fail("record", error);
    if (tick != NULL && !fm_tick_event_check(tick, &error))
        return fm_console_fail("record", error);
    if (tick != NULL)
        g_setenv("FATHOM_TICKS", tick, TRUE);
    if (trace != NULL)
        g_setenv("FATHOM_TRACE", trace, TRUE);
    if (options->no_heap)
        g_setenv("FATHOM_HEAP", "off", TRUE);
    if (options->lifetimes)
        g_setenv("FATHOM_LIFETIMES", "on", TRUE);
    if (options->no_waiting)
        g_setenv("FATHOM_WAITING", "off", TRUE);
    return -1;
}

#define ROTATE_NS_MIN 100000000u

/* Returns an exit status, or -1 to go on. */
static int take_rotation(struct record_options *options)
{
    const char *text = options->rotate;
    if (text == NULL)
        return -1;
    if (options->runs == 0)
        return fm_console_usage("record", "--rotate needs --keep=N, the number of phases to keep");
    if (options->live || options->trace != NULL)
        return fm_console_usage("record", "--rotate cannot be used with --live or --trace");
    options->rotation.keep = options->runs;
    if (strcmp(text, "snapshot") != 0 &&
        (!fm_recorded_duration(text, &options->rotation.every_ns) ||
         options->rotation.every_ns < ROTATE_NS_MIN))
        return fm_console_usage("record",
                                "--rotate=%s: expected a time such as 10m, at least 100ms, or "
                                "snapshot",
                                text);
    return -1;
}

/* Returns an exit status, or -1 to go on. */
static int check_view(const struct record_options *options)
{
    const struct fm_live_options *view = &options->view;
    if (view->port < 0 || view->port > 65535)
        return fm_console_usage("record", "--port: expected 0 to 65535");
    if (!options->live &&
        (view->port != 0 || view->no_open || view->listen || view->token || view->token_file))
        return fm_console_usage("record",
                                "--port, --no-open, --listen, --token[-file] need --live");
    return -1;
}

/* Returns an exit status, or -1: the environment of the program is what the options say. */
static int take(struct record_options *options)
{
    const char *join = options->join_text, *trace = options->trace;
    options->join = trace == NULL ? FM_JOIN_PROGRAM : FM_JOIN_NONE;
    if (join != NULL && !fm_join_parse(join, &options->join))
        return fm_console_usage("record", "--join=%s: expected program, all or none", join);
    if (trace != NULL && options->join != FM_JOIN_NONE)
        return fm_console_usage(
            "record",
            "--trace can only be used with --join=none: each process has a log of its own");
    if (options->lifetimes && options->no_heap)
        return fm_console_usage(
            "record", "--lifetimes cannot be used with --no-heap, which does not track blocks");
    const struct fm_recorded_times *times = &options->times;
    if (options->outside && (options->live || options->rotate || options->tick || trace ||
                             times->begin_stopped || times->after || times->for_))
        return fm_console_usage("record", "--outside cannot be used with --live, --rotate, --tick, "
                                          "--trace, --begin-stopped, --after and --for");
    int status = take_rotation(options);
    if (status < 0)
        status = fm_recorded_times_set(&options->times);
    return status >= 0 ? status : tell_runtime(options);
}

/* A working folder that was removed may pass for writable, but nothing can be created in it.
 * errno says why. */
static bool may_write_to(const char *folder)
{
    char *working = getcwd(NULL, 0);
    bool has_path = working != NULL || g_path_is_absolute(folder);
    free(working);
    return has_path && access(folder, W_OK | X_OK) == 0;
}

/* Checks before the program runs, perhaps for hours. Returns an exit status, or -1 to go on. */
static int check_output(const char *base)
{
    g_autofree char *folder = g_path_get_dirname(base);
    if (may_write_to(folder))
        return -1;
    int code = errno;
    g_autofree char *shown = fm_text_escaped(folder);
    fprintf(stderr, "fathom record: cannot write recordings to %s: %s\n", shown, g_strerror(code));
    return FM_EXIT_FAILED;
}

/* Of a process that runs already: nothing can be told to it. Returns an exit status. */
static int attach(const struct record_options *options, const char *output, bool has_program)
{
    const struct fm_recorded_times *times = &options->times;
    if (has_program)
        return fm_console_usage("record", "--pid records a process that runs: no PROGRAM with it");
    if (options->runs > 0 || options->keep || options->all || options->keep_sources ||
        options->no_heap || options->no_waiting || options->lifetimes || options->no_children ||
        options->outside || options->debug_path || options->trace || options->tick ||
        options->when || options->join_text || options->rotate || times->begin_stopped ||
        times->after)
        return fm_console_usage("record",
                                "with --pid only --output, --for, --quiet and --live apply");
    g_autofree char *base = base_of(output);
    struct fm_attaching how = {options->pid, times->for_, base, options->quiet,
                               options->live ? &options->view : NULL};
    return fm_attaching_record(&how);
}

int fm_cmd_record(int argc, char **argv)
{
    struct record_options options = {0};
    int command, status = parse(argc, argv, &options, &command);
    bool attached = status < 0 && options.pid != NULL;
    if (status < 0 && !attached && command >= argc)
        status = fm_console_usage("record",
                                  "expected a program: `fathom record -- PROGRAM [ARGUMENT...]`");
    if (status < 0)
        status = check_view(&options);
    if (status < 0 && !attached)
        status = take(&options);
    const char *output = options.output == NULL ? "Deep" : options.output;
    if (status < 0)
        status = check_output(output);
    if (status < 0 && attached)
        status = attach(&options, output, command < argc);
    if (status < 0) {
        const struct fm_recorded_times *times = &options.times;
        bool whole = !times->begin_stopped && times->after == NULL && times->for_ == NULL &&
                     options.tick == NULL;
        struct fm_finishing how = {.command = "record",
                                   .debug_path = options.debug_path,
                                   .when = options.when,
                                   .join = options.join,
                                   .apart = options.trace != NULL && options.join_text == NULL,
                                   .keep = options.keep,
                                   .keep_sources = options.keep_sources,
                                   .quiet = options.quiet,
                                   .alone = options.no_children,
                                   .all = options.all};
        status = record_run(&how, output, options.runs, &options.rotation, whole, options.outside,
                            options.live ? &options.view : NULL, argv + command);
    }
    record_options_clear(&options);
    return status;
}
