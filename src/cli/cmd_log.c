/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_log.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eventlog/live.h"

volatile int fm_cmd_log_stop;

static void on_signal(int number)
{
    (void)number;
    fm_cmd_log_stop = 1;
}

void fm_cmd_log_catch_signals(void)
{
    /* Without SA_RESTART, so that a read that waits returns. */
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool fm_cmd_log_parse_time(const char *text, uint64_t *ret_ns, GError **error)
{
    static const struct {
        const char *suffix;
        double scale;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    char *end;
    errno = 0;
    /* Whole nanoseconds stay exact; a double would lose them after 104 days. */
    uint64_t whole = strtoull(text, &end, 10);
    if (errno == 0 && end != text && text[0] != '-' && strcmp(end, "ns") == 0) {
        *ret_ns = whole;
        return true;
    }
    double value = g_ascii_strtod(text, &end);
    for (size_t i = 0; i < G_N_ELEMENTS(units) && end != text; i++) {
        if (strcmp(end, units[i].suffix) == 0 && value >= 0 && value * units[i].scale < 1.8e19) {
            *ret_ns = (uint64_t)(value * units[i].scale + 0.5);
            return true;
        }
    }
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "'%s' is not a time; expected for example 1.5, 200ms or 17000ns", text);
    return false;
}

void fm_cmd_log_report_gap(const char *command, const char *name, const struct fm_eventlog_gap *gap)
{
    fprintf(stderr,
            "fathom %s: %s: offset %" G_GUINT64_FORMAT ": %s; %" G_GUINT64_FORMAT
            " bytes left out, with an unknown number of events\n",
            command, name, gap->offset, gap->reason, gap->length);
}

static const struct {
    const char *name;
    fm_cli_run *run;
    const char *summary;
    bool reads; /* a log as it is now */
} parts[] = {
    {"stat", fm_cmd_log_stat, "count events by type and capability", true},
    {"cat", fm_cmd_log_cat, "print events as text, JSON or CSV", true},
    {"follow", fm_cmd_log_follow, "print events as they come: file, pipe, socket", false},
    {"cut", fm_cmd_log_cut, "cut a range of time into a log of its own", true},
    {"send", fm_cmd_log_send, "send a log over a socket, or serve it", true},
    {"recv", fm_cmd_log_recv, "receive a log from a socket into a file", false},
    {"control", fm_cmd_log_control, "send a control message to a program that logs", false},
    {"recover", fm_cmd_log_recover, "add the last events of a program that was killed or crashed",
     false},
    {"sync", fm_cmd_log_sync, "find drift and offset of clocks of several hosts", false},
    {"validate", fm_cmd_log_validate, "check a log against every rule of the format", true},
    {"types", fm_cmd_log_types, "list the known event types with fields and units", false},
};

/* Which of the files lack events that stand beside them. */
static void tell_of_live(const char *command, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (fm_eventlog_live_look(argv[i]) == FM_EVENTLOG_LIVE_ENDED)
            fprintf(stderr,
                    "fathom log %s: %s: its program ended without stopping the log; `fathom log "
                    "recover %s` adds its last events\n",
                    command, argv[i], argv[i]);
    }
}

static void print_help(FILE *stream)
{
    fprintf(stream, "Usage: fathom log COMMAND [OPTION...] [ARGUMENT...]\n\n"
                    "Event logs in the format of GHC's runtime.\n\nCommands:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        fprintf(stream, "  %-10s %s\n", parts[i].name, parts[i].summary);
    fprintf(stream, "\n`fathom log COMMAND --help` tells more.\n\n"
                    "Example:\n  fathom log stat --json program.eventlog\n");
}

int fm_cmd_log(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return FM_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return FM_EXIT_DONE;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (strcmp(argv[1], parts[i].name) == 0) {
            if (parts[i].reads)
                tell_of_live(argv[1], argc, argv);
            g_autofree char *name = g_strdup_printf("log %s", parts[i].name);
            argv[1] = name;
            return parts[i].run(argc - 1, argv + 1);
        }
    }
    return fm_cli_usage("log", "there is no command '%s'; `fathom log --help` lists them", argv[1]);
}
