/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/shell.h"
#include "cli/log/cmd_log.h"
#include "eventlog/input/live.h"

int fm_cmd_log_recover(int argc, char **argv)
{
    gboolean quiet = FALSE;
    GOptionEntry entries[] = {
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Print nothing on success", NULL},
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, entries, "FILE",
        "Recovers the last events of a C program that was killed, crashed, or left by _exit or "
        "exec: adds the events in FILE.live to its log FILE, and removes FILE.live.",
        "fathom log recover program.eventlog");
    if (status >= 0)
        return status;
    if (argc != 2)
        return fm_console_usage("log recover", "expected one FILE, got %d arguments", argc - 1);
    struct fm_eventlog_recovered found;
    GError *error = NULL;
    if (!fm_eventlog_live_recover(argv[1], &found, &error))
        return fm_console_fail("log recover", error);
    g_autofree char *shown = fm_text_escaped(argv[1]);
    if (!quiet)
        printf("%s: %" PRIu64 " events recovered, in %" PRIu64 " blocks\n", shown, found.events,
               found.blocks);
    if (found.left_out == 0)
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom log recover: %s: %" PRIu64 " bytes of its buffers are no events\n",
            shown, found.left_out);
    return FM_EXIT_FAILED;
}
