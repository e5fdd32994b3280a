/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of `fathom log`: times, gaps, signals. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/log/cmd_log.h"

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

void fm_cmd_log_say_listening(FILE *out, const struct fm_transport_address *address, uint16_t port)
{
    if (address->kind == FM_TRANSPORT_UNIX) {
        g_autofree char *path = fm_text_escaped(address->path);
        fprintf(out, "listening on %s\n", path);
    } else {
        fprintf(out, "listening on port %u\n", port);
    }
    fflush(out);
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
    bool decimal = strcspn(text, "xX") >= (size_t)(end - text);
    for (size_t i = 0; i < G_N_ELEMENTS(units) && end != text && decimal; i++) {
        if (strcmp(end, units[i].suffix) == 0 && value >= 0 && value * units[i].scale < 1.8e19) {
            *ret_ns = (uint64_t)(value * units[i].scale + 0.5);
            return true;
        }
    }
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "'%s' is not a time; expected for example 1.5, 200ms or 17000ns", text);
    return false;
}

bool fm_cmd_log_parse_range(const char *from, const char *to, uint64_t *ret_from_ns,
                            uint64_t *ret_to_ns, GError **error)
{
    if ((from != NULL && !fm_cmd_log_parse_time(from, ret_from_ns, error)) ||
        (to != NULL && !fm_cmd_log_parse_time(to, ret_to_ns, error)))
        return false;
    if (from == NULL || to == NULL || *ret_from_ns <= *ret_to_ns)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "--from %s is after --to %s, expected a range that ends where it begins or later",
                from, to);
    return false;
}

void fm_cmd_log_report_gap(const char *command, const char *name, const struct fm_eventlog_gap *gap)
{
    fprintf(stderr,
            "fathom %s: %s: offset %" G_GUINT64_FORMAT ": %s; %" G_GUINT64_FORMAT
            " bytes left out, with an unknown number of events\n",
            command, name, gap->offset, gap->reason, gap->length);
}
