/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/shell.h"
#include "cli/log/cmd_log.h"
#include "exchange/hint/hint.h"
#include "eventlog/log/validate.h"

struct report {
    const char *path; /* as it is printed */
    int shown, shown_max;
    bool quiet;
};

static void show(void *user, enum fm_eventlog_severity severity, uint64_t offset,
                 const char *message)
{
    struct report *report = user;
    if (report->quiet || (report->shown_max > 0 && report->shown >= report->shown_max))
        return;
    report->shown++;
    printf("%s: offset %" PRIu64 ": %s%s\n", report->path, offset,
           severity == FM_EVENTLOG_NOTE ? "note: " : "", message);
}

int fm_cmd_log_validate(int argc, char **argv)
{
    gboolean quiet = FALSE;
    int shown_max = 100;
    const GOptionEntry options[] = {
        {"max", 0, 0, G_OPTION_ARG_INT, &shown_max, "Print at most N problems (0 = all)", "N"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Print nothing; only set the exit status",
         NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "FILE",
                              "Checks a log against every rule of the format: header, chain of "
                              "blocks, sizes, times, fields, end. Exit status 1 when a rule is "
                              "broken; notes do not count. FILE may be - for standard input.",
                              "fathom log validate program.eventlog");
    if (status >= 0)
        return status;
    if (argc != 2)
        return fm_console_usage("log validate", "expected one FILE, got %d arguments", argc - 1);
    GError *error = NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_open(argv[1], &error);
    if (source == NULL)
        return fm_hint_fail_file("log validate", argv[1], FM_FILE_EVENT_LOG, error);
    g_autofree char *path = fm_text_escaped(argv[1]);
    struct report report = {.path = path, .shown_max = shown_max, .quiet = quiet};
    struct fm_eventlog_verdict verdict;
    bool read = fm_eventlog_validate(source, show, &report, &verdict, &error);
    fm_eventlog_source_free(source);
    if (!read)
        return fm_hint_fail_file("log validate", argv[1], FM_FILE_EVENT_LOG, error);
    if (!quiet)
        printf("%s: %" PRIu64 " events in %" PRIu64 " blocks, %" PRIu64 " problems, %" PRIu64
               " notes\n",
               path, verdict.events, verdict.blocks, verdict.wrong, verdict.notes);
    return verdict.wrong > 0 ? FM_EXIT_FAILED : FM_EXIT_DONE;
}
