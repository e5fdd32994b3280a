/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts on which programs compiled with fathom/eventlog.h rely while the shared library's
 * soversion is 0. They have no size field, so with another member the library would read or write
 * beyond a program's struct. This file need only compile. */
#include <fathom/eventlog.h>

#include <assert.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define SIZE(name, bytes) static_assert(sizeof(struct name) == (bytes), #name " has another size")
#define AT(name, member, place) \
    static_assert(offsetof(struct name, member) == (place), #name "." #member " moved")

SIZE(fm_eventlog_options, 48);
AT(fm_eventlog_options, buffer_bytes, 8);
AT(fm_eventlog_options, memory_limit_bytes, 16);
AT(fm_eventlog_options, policy, 24);
AT(fm_eventlog_options, flush_interval_ms, 28);
AT(fm_eventlog_options, failures_max, 32);
AT(fm_eventlog_options, threads_max, 36);
AT(fm_eventlog_options, fork_path, 40);

SIZE(fm_eventlog_writer, 40);
AT(fm_eventlog_writer, write, 8);
AT(fm_eventlog_writer, flush, 16);
AT(fm_eventlog_writer, stop, 24);
AT(fm_eventlog_writer, context, 32);

SIZE(fm_eventlog_chunk, 24);
AT(fm_eventlog_chunk, bytes, 8);

SIZE(fm_eventlog_stats, 160);
AT(fm_eventlog_stats, stream_errno, 56);
AT(fm_eventlog_stats, memory_events, 64);
AT(fm_eventlog_stats, replayed_events, 104);
AT(fm_eventlog_stats, lanes, 136);
AT(fm_eventlog_stats, clients, 152);

SIZE(fm_eventlog_listen_options, 48);
AT(fm_eventlog_listen_options, clients_max, 8);
AT(fm_eventlog_listen_options, wait_client, 12);
AT(fm_eventlog_listen_options, wait_timeout_ms, 16);
AT(fm_eventlog_listen_options, token, 24);
AT(fm_eventlog_listen_options, datagram_bytes_max, 32);
AT(fm_eventlog_listen_options, monitor_singles, 40);

SIZE(fm_eventlog_head_, 32);
AT(fm_eventlog_head_, limit, 8);
AT(fm_eventlog_head_, busy, 16);
AT(fm_eventlog_head_, copy, 24);

/* Inline functions pass these. */
SIZE(fm_eventlog_event_type_, 24);
SIZE(fm_eventlog_piece_, 16);
#endif

int main(void)
{
    return 0;
}
