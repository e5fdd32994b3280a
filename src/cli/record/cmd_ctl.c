/* SPDX-License-Identifier: Apache-2.0 */
/* Steers the recording of a program that runs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/cli.h"
#include "record/running/control.h"

static const struct {
    const char *name;
    enum fm_rec_command command;
    bool has_label;
} commands[] = {
    {"start", FM_REC_COMMAND_START, false},
    {"stop", FM_REC_COMMAND_STOP, false},
    {"mark", FM_REC_COMMAND_MARK, true},
    {"snapshot", FM_REC_COMMAND_SNAPSHOT, true},
};

static const char *state_words(const struct fm_control_status *status)
{
    if (!status->running)
        return status->state == FM_REC_EXECED ? "became another program" : "ended";
    return status->recording ? "recording" : "stopped";
}

static const char *process_words(char state)
{
    switch (state) {
    case 'R':
        return "runs";
    case 'S':
    case 'D':
        return "sleeps";
    case 'T':
    case 't':
        return "is stopped by a signal or a debugger";
    }
    return "";
}

static int print_status(const char *path)
{
    struct fm_control_status status;
    GError *error = NULL;
    if (!fm_control_status(path, &status, &error))
        return fm_console_fail("ctl", error);
    g_autofree char *program = fm_text_escaped(status.program);
    g_autofree char *recording = fm_text_escaped(path);
    printf("recording\t%s\n", recording);
    printf("program\t%s\n", program);
    printf("process\t%u", status.pid);
    if (status.running)
        printf(" %s", process_words(status.process_state));
    printf("\nstate\t%s\n", state_words(&status));
    if (status.seconds_ns > 0)
        printf("seconds\t%.3f\n", (double)status.seconds_ns * 1e-9);
    printf("threads\t%u, %u of them ended\n", status.threads, status.threads_ended);
    printf("bytes\t%" G_GUINT64_FORMAT "\n", (guint64)status.bytes);
    printf("marks\t%u\nsnapshots\t%u\n", status.marks, status.snapshots);
    if (status.listens)
        printf("requests not looked at yet\t%u\n", status.pending);
    else
        printf("requests\tnot possible: the program has an older libfathom\n");
    fm_control_status_done(&status);
    return FM_EXIT_DONE;
}

/* Reports on standard error when the program has not run since the request, which is no failure. */
static int tell(enum fm_control_answer answer, const char *path, const char *what, double seconds,
                GError *error)
{
    if (answer == FM_CONTROL_FAILED)
        return fm_console_fail("ctl", error);
    if (answer != FM_CONTROL_ASKED)
        return FM_EXIT_DONE;
    struct fm_control_status status;
    bool known = fm_control_status(path, &status, NULL);
    if (known && !status.ticks)
        fm_console_print_error(
            "fathom ctl: %s: the program has not acted within %g s: without ticks it sees requests "
            "only when it waits or reaches a new call path; %s will be done then (with "
            "FATHOM_TICKS other than none it also acts while it computes)\n",
            path, seconds, what);
    else
        fm_console_print_error(
            "fathom ctl: %s: the program has not run within %g s (it sleeps, or is "
            "stopped): %s will be done before it goes on\n",
            path, seconds, what);
    if (known)
        fm_control_status_done(&status);
    return FM_EXIT_DONE;
}

static int ask(const char *path, size_t index, const char *label, double seconds)
{
    g_autoptr(FmControl) control = NULL;
    GError *error = NULL;
    uint64_t wait_us = (uint64_t)(seconds * 1e6);
    if ((commands[index].has_label && !fm_control_check_label(label, &error)) ||
        !fm_control_open(path, &control, &error))
        return fm_console_fail("ctl", error);
    if (commands[index].command != FM_REC_COMMAND_SNAPSHOT) {
        enum fm_control_answer answer =
            fm_control_ask(control, commands[index].command, label, wait_us, &error);
        return tell(answer, path, commands[index].name, seconds, error);
    }
    g_autofree char *copy = NULL;
    enum fm_control_answer answer = fm_control_snapshot(control, label, wait_us, &copy, &error);
    if (copy != NULL && isatty(STDOUT_FILENO)) {
        g_autofree char *shown = fm_text_escaped(copy);
        printf("%s\n", shown);
    } else if (copy != NULL) {
        printf("%s\n", copy); /* for scripts, without any other text */
    }
    fflush(stdout);
    return tell(answer, path, "the mark of the snapshot", seconds, error);
}

int fm_cmd_ctl(int argc, char **argv)
{
    double seconds = 2;
    const GOptionEntry options[] = {
        {"wait", 0, 0, G_OPTION_ARG_DOUBLE, &seconds,
         "Wait SECONDS for the program to act (default: 2)", "SECONDS"},
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, options, "pid:N|NAME.rec start|stop|snapshot LABEL|mark LABEL|status",
        "Controls the recording of a running program through its recording file, without a port "
        "or a signal. A sleeping program acts on the request when it wakes.",
        "fathom ctl pid:1234 stop\n"
        "  fathom ctl server.rec snapshot \"after the load\"");
    if (status >= 0)
        return status;
    if (argc < 3)
        return fm_console_usage("ctl", "expected pid:N or NAME.rec, and a command; see --help");
    if (!(seconds >= 0 && seconds <= 1e6))
        return fm_console_usage("ctl", "--wait: expected 0 to 1000000 seconds");
    g_autofree char *path = NULL;
    GError *error = NULL;
    if (strcmp(argv[2], "status") == 0 && argc == 3)
        return fm_control_path(argv[1], &path, &error) ? print_status(path)
                                                       : fm_console_fail("ctl", error);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (strcmp(argv[2], commands[i].name) != 0)
            continue;
        if (argc != (commands[i].has_label ? 4 : 3))
            return fm_console_usage("ctl", "%s: expected %s", argv[2],
                                    commands[i].has_label ? "one LABEL" : "no further argument");
        if (!fm_control_path(argv[1], &path, &error))
            return fm_console_fail("ctl", error);
        return ask(path, i, commands[i].has_label ? argv[3] : "", seconds);
    }
    return fm_console_usage(
        "ctl", "\"%s\": expected start, stop, snapshot LABEL, mark LABEL or status", argv[2]);
}
