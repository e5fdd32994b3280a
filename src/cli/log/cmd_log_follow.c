/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "live/token.h"
#include "cli/log/cmd_log.h"
#include "cli/log/cmd_log_print.h"
#include "eventlog/log/reorder.h"
#include "eventlog/transport/transport.h"

enum { POLL_MS = 50, PRINT_BYTES = 1 << 20 };

struct follow {
    struct fm_cmd_log_printer printer;
    gboolean keep;
    double wait_s, idle_s, hold_s;
    struct fm_eventlog_reorder *reorder;
    struct fm_eventlog_header *header; /* header for the events that reorder holds */
    uint64_t late;
    char *token, *token_file;
    gint64 heard_us; /* when the last bytes came */
    int status;
};

static void report_tail(const char *name, const struct fm_eventlog_tail *tail)
{
    if (tail->length > 0)
        fprintf(stderr, "fathom log follow: %s: offset %" PRIu64 ": %" PRIu64 " bytes %s\n", name,
                tail->offset, tail->length,
                tail->end_mark ? "follow the end mark" : "of an incomplete event");
}

static void print_due(struct follow *follow)
{
    struct fm_eventlog_event event;
    uint64_t now = (uint64_t)g_get_monotonic_time();
    while (!follow->printer.failed && fm_eventlog_reorder_pop(follow->reorder, now, &event))
        fm_cmd_log_printer_event(&follow->printer, &event, follow->header);
}

/* All that is held back; another log, with its own header and times, may follow. */
static void print_rest(struct follow *follow)
{
    if (follow->reorder != NULL) {
        fm_eventlog_reorder_release(follow->reorder);
        print_due(follow);
        follow->late += fm_eventlog_reorder_late(follow->reorder);
    }
    g_clear_pointer(&follow->reorder, fm_eventlog_reorder_free);
    g_clear_pointer(&follow->header, fm_eventlog_header_unref);
}

static void begin_log(struct follow *follow, struct fm_eventlog_header *header)
{
    print_rest(follow);
    follow->reorder = fm_eventlog_reorder_new((uint64_t)(follow->hold_s * 1e6), 0);
    follow->header = fm_eventlog_header_ref(header);
}

/* Takes names from definitions as they arrive: a definition may have a later time than its first
 * use. */
static void take_event(struct follow *follow, const struct fm_eventlog_event *event)
{
    if (follow->hold_s <= 0) { /* in the order of arrival */
        fm_cmd_log_printer_event(&follow->printer, event, follow->header);
        return;
    }
    fm_eventlog_names_learn(follow->printer.names, event);
    fm_eventlog_reorder_push(follow->reorder, event, (uint64_t)g_get_monotonic_time());
}

/* Prints the items that the reader has. Returns false at the end of the log. */
static bool print_items(struct follow *follow, struct fm_eventlog_source *source, GError **error)
{
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    const char *name = fm_eventlog_source_name(source);
    while (!follow->printer.failed) {
        struct fm_eventlog_event event;
        switch (fm_eventlog_reader_next(reader, &event, error)) {
        case FM_EVENTLOG_HAS_EVENT:
            take_event(follow, &event);
            if (fm_eventlog_reorder_bytes(follow->reorder) > PRINT_BYTES)
                print_due(follow);
            break;
        case FM_EVENTLOG_HAS_HEADER:
            begin_log(follow, fm_eventlog_reader_header(reader));
            break;
        case FM_EVENTLOG_HAS_GAP:
            fm_cmd_log_printer_flush(&follow->printer);
            fm_cmd_log_report_gap("log follow", name, fm_eventlog_reader_gap(reader));
            follow->status = FM_EXIT_FAILED;
            break;
        case FM_EVENTLOG_HAS_END:
            if (!follow->keep)
                return false;
            break;
        case FM_EVENTLOG_FINISHED:
            report_tail(name, fm_eventlog_reader_tail(reader));
            return false;
        case FM_EVENTLOG_FAILED:
            return false;
        case FM_EVENTLOG_MORE:
            if (follow->reorder != NULL)
                print_due(follow);
            return true;
        }
    }
    return false;
}

/* Waits for more bytes. Returns false when none will come, or when this process was asked to
 * stop. */
static bool wait_for_more(struct follow *follow, struct fm_eventlog_source *source, GError **error)
{
    while (!fm_cmd_log_stop) {
        bool restarted = false;
        enum fm_eventlog_fill fill = fm_eventlog_source_fill(source, POLL_MS, &restarted, error);
        if (restarted)
            fprintf(stderr, "fathom log follow: %s: was replaced or cut; begins again\n",
                    fm_eventlog_source_name(source));
        if (fill == FM_EVENTLOG_FILL_FAILED)
            return false;
        gint64 now = g_get_monotonic_time();
        if (fill != FM_EVENTLOG_FILL_TIMEOUT) {
            follow->heard_us = now;
            return true;
        }
        if (follow->reorder != NULL) {
            print_due(follow);
            fm_cmd_log_printer_flush(&follow->printer);
        }
        if (follow->idle_s > 0 && (double)(now - follow->heard_us) / 1e6 >= follow->idle_s)
            return false;
        /* A regular file answers at once that it has no more. */
        if (fm_eventlog_source_grows(source))
            g_usleep(POLL_MS * 1000UL);
    }
    return false;
}

static int follow_source(struct follow *follow, struct fm_eventlog_source *source)
{
    GError *error = NULL;
    follow->heard_us = g_get_monotonic_time();
    while (print_items(follow, source, &error)) {
        fm_cmd_log_printer_flush(&follow->printer);
        if (!wait_for_more(follow, source, &error))
            break;
    }
    print_rest(follow);
    fm_cmd_log_printer_flush(&follow->printer);
    if (follow->late > 0)
        fprintf(stderr,
                "fathom log follow: %s: %" PRIu64 " events came too late for their place in time "
                "(--hold waits longer)\n",
                fm_eventlog_source_name(source), follow->late);
    return error != NULL ? fm_console_fail("log follow", error) : follow->status;
}

static struct fm_eventlog_source *open_source(struct follow *follow, const char *place,
                                              GError **error)
{
    if (fm_transport_is_address(place))
        return fm_eventlog_source_connect(place, (int)(follow->wait_s * 1000), follow->token,
                                          error);
    gint64 give_up = g_get_monotonic_time() + (gint64)(follow->wait_s * 1e6);
    struct fm_eventlog_source *source;
    while ((source = fm_eventlog_source_open_growing(place, error)) == NULL &&
           g_get_monotonic_time() < give_up && !fm_cmd_log_stop) {
        g_clear_error(error);
        g_usleep(POLL_MS * 1000UL);
    }
    return source;
}

static int run(struct follow *follow, const char *place)
{
    GError *error = NULL;
    if (!fm_cmd_log_printer_begin(&follow->printer, &error))
        return fm_console_fail("log follow", error);
    fm_cmd_log_catch_signals();
    struct fm_eventlog_source *source = open_source(follow, place, &error);
    if (source == NULL)
        return fm_console_fail("log follow", error);
    int status = follow_source(follow, source);
    fm_eventlog_source_free(source);
    return status;
}

int fm_cmd_log_follow(int argc, char **argv)
{
    struct follow follow = {.hold_s = 1};
    const GOptionEntry own[] = {
        {"keep", 'k', 0, G_OPTION_ARG_NONE, &follow.keep,
         "Continue after the end mark: another log may be appended", NULL},
        {"wait", 0, 0, G_OPTION_ARG_DOUBLE, &follow.wait_s,
         "Wait SECONDS for the file or the server to appear", "SECONDS"},
        {"idle", 'i', 0, G_OPTION_ARG_DOUBLE, &follow.idle_s, "Stop after SECONDS without data",
         "SECONDS"},
        {"hold", 0, 0, G_OPTION_ARG_DOUBLE, &follow.hold_s,
         "Wait SECONDS for idle lanes, to print in time order (default 1; 0 = order of arrival)",
         "SECONDS"},
        FM_CLI_TOKEN_OPTIONS(follow.token, follow.token_file, "Send TOKEN to the server"),
        {NULL},
    };
    g_autofree GOptionEntry *options = fm_cmd_log_printer_options(&follow.printer, own);
    int status =
        fm_cli_parse(&argc, &argv, options, "PLACE",
                     "Prints events as they come, in time order. PLACE is a growing file, a named "
                     "pipe, - for standard input, unix:PATH or tcp:HOST:PORT. monitor:HOST:PORT "
                     "(framed TCP) and udp:HOST:PORT receive the monitor's messages. Ends at the "
                     "end mark, when the other side closes, or with SIGINT.",
                     "fathom log follow --type UserMarker unix:/tmp/program.sock");
    if (status < 0 && argc != 2)
        status = fm_console_usage("log follow", "expected one PLACE, got %d arguments", argc - 1);
    GError *error = NULL;
    if (status < 0 && !fm_live_token_find(&follow.token, follow.token_file, &error))
        status = fm_console_fail("log follow", error);
    if (status < 0)
        status = run(&follow, argv[1]);
    fm_cmd_log_printer_done(&follow.printer);
    g_free(follow.token);
    g_free(follow.token_file);
    return status;
}
