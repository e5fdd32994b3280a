/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log/cmd_log.h"

#include <stdio.h>
#include <string.h>

#include "eventlog/input/live.h"

static const struct {
    const char *name;
    fm_cli_run *run;
    const char *summary;
    bool reads; /* a log as it is now */
} parts[] = {
    {"stat", fm_cmd_log_stat, "count events by type and capability", true},
    {"cat", fm_cmd_log_cat, "print events as text, JSON or CSV", true},
    {"latency", fm_cmd_log_latency, "print how long spans and states took, with percentiles", true},
    {"critical-path", fm_cmd_log_critical_path,
     "print why a thread took so long, and who made it wait", true},
    {"query", fm_cmd_log_query, "group spans, states or events: counts, sums, percentiles", true},
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

/* Reports the files that lack events which a LOG.live file beside them has. */
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
        fprintf(stream, "  %-13s %s\n", parts[i].name, parts[i].summary);
    fprintf(stream, "\n`fathom log COMMAND --help` explains a command.\n\n"
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
    return fm_console_usage("log", "there is no command '%s'; `fathom log --help` lists them",
                            argv[1]);
}
