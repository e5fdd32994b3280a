/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log/export_trace.h"

#include "base/error.h"
#include "cli/cli.h"
#include "cli/log/cmd_log_trace.h"

static bool pass(void *user, const struct fm_tracefile_context *at)
{
    (void)user;
    (void)at;
    return false;
}

int fm_export_trace(const struct fm_trace_export_format *format, const char *path,
                    struct fm_writer *out)
{
    GError *error = NULL;
    struct fm_cmd_log_trace reading = {.wants_state = true, .to_ns = UINT64_MAX, .event = pass};
    int status = FM_EXIT_DONE;
    bool opened = fm_cmd_log_trace_open(&reading, path, NULL, &error);
    if (opened && reading.trace->state_model == NULL) {
        g_set_error(&error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: no event gives a thread or CPU a state", path);
        opened = false;
    }
    if (opened && fm_trace_growth(reading.trace) == FM_TRACE_LIVE)
        fm_console_print_error(
            "fathom export: note: %s may still grow; its events so far are exported", path);
    if (opened) {
        struct fm_trace_export *x = fm_trace_export_new(format, reading.state, out);
        fm_cmd_log_trace_read(&reading);
        fm_trace_export_finish(x);
    } else {
        status = fm_console_fail("export", error);
    }
    int read = fm_cmd_log_trace_done(&reading, "export");
    return MAX(status, read);
}
