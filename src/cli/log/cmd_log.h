/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of `fathom log`. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "eventlog/input/source.h"
#include "eventlog/transport/transport.h"

fm_cli_run fm_cmd_log_stat;
fm_cli_run fm_cmd_log_cat;
fm_cli_run fm_cmd_log_follow;
fm_cli_run fm_cmd_log_cut;
fm_cli_run fm_cmd_log_send;
fm_cli_run fm_cmd_log_recover;
fm_cli_run fm_cmd_log_recv;
fm_cli_run fm_cmd_log_control;
fm_cli_run fm_cmd_log_validate;
fm_cli_run fm_cmd_log_types;
fm_cli_run fm_cmd_log_sync;
fm_cli_run fm_cmd_log_latency;
fm_cli_run fm_cmd_log_critical_path;
fm_cli_run fm_cmd_log_query;

/* cmd_log_stat_by.c: the statistics tree as tables. */
struct fm_log_stat_by {
    const char *by;          /* a word of fm_trace_statistics_words() */
    uint64_t from_ns, to_ns; /* [from, to) */
    bool json, csv;
};
int fm_cmd_log_stat_by(const char *path, const struct fm_log_stat_by *options);

/* "1.5", "1.5s", "200ms", "3us", "17ns" since the log's begin, as nanoseconds. */
bool fm_cmd_log_parse_time(const char *text, uint64_t *ret_ns, GError **error);
/* --from and --to, each NULL when it is not given: then its number stays. A range that ends before
 * it begins is an error. */
bool fm_cmd_log_parse_range(const char *from, const char *to, uint64_t *ret_from_ns,
                            uint64_t *ret_to_ns, GError **error);

/* One line on standard error for a gap. */
void fm_cmd_log_report_gap(const char *command, const char *name,
                           const struct fm_eventlog_gap *gap);

/* The line of --listen: "listening on port N", or the path of a Unix socket. */
void fm_cmd_log_say_listening(FILE *out, const struct fm_transport_address *address, uint16_t port);

/* Set by SIGINT and SIGTERM after fm_cmd_log_catch_signals(). */
extern volatile int fm_cmd_log_stop;
void fm_cmd_log_catch_signals(void);
