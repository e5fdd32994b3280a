/* SPDX-License-Identifier: Apache-2.0 */
/* Clients over sockets: the plain log, control messages and answers, the monitor's messages. */
#include "check.h"
#include "collect.h"
#include "dial.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/patience.h"

static void two_clients_get_whole_logs_of_their_own(void)
{
    struct reading r[2];
    struct check *c[2];
    struct stat st;
    serve(NULL, NULL, 4096);
    g_assert_cmpint(stat(socket_path, &st), ==, 0);
    g_assert_cmpint(st.st_mode & 0777, ==, 0600);
    r[0] = (struct reading){dial_unix(), g_byte_array_new()};
    wait_clients(1);
    log_numbers(0, 0, 1000);
    fm_eventlog_flush(-1);
    r[1] = (struct reading){dial_unix(), g_byte_array_new()};
    wait_clients(2);
    log_numbers(0, 1000, 2000);
    finish_reading(r, 2, c);
    g_assert_cmpuint(c[0]->counts[522], ==, 3000);
    g_assert_cmpuint(c[1]->counts[522], ==, 2000);
    g_assert_cmpuint(c[1]->next[0], ==, 3000);
    g_assert_cmpuint(c[1]->replayed[16], ==, 2);
    g_assert_cmpuint(g_hash_table_size(c[1]->caps), >=, 1);
    check_free(c[0]);
    check_free(c[1]);
    g_assert_cmpint(access(socket_path, F_OK), !=, 0);
}

static void client_that_comes_again_gets_a_header_again(void)
{
    serve("tcp:127.0.0.1:0", NULL, 4096);
    int fd = dial_inet(SOCK_STREAM);
    g_autoptr(GByteArray) first = g_byte_array_new();
    wait_clients(1);
    log_numbers(0, 0, 60000); /* 1 MB */
    fm_eventlog_flush(-1);
    read_on(fd, first, 1000000);
    close(fd);
    struct check *c = check_stream(first->data, first->len);
    g_assert_cmpuint(c->gaps, ==, 0);
    g_assert_cmpuint(c->counts[522], >, 50000);
    check_free(c);
    wait_clients(0);
    g_assert_false(fm_eventlog_on());
    log_numbers(0, 60000, 100); /* nobody is there: not logged */
    struct reading r = {dial_inet(SOCK_STREAM), g_byte_array_new()};
    wait_clients(1);
    log_numbers(0, 70000, 100);
    finish_reading(&r, 1, &c);
    g_assert_cmpuint(c->counts[522], ==, 100);
    g_assert_cmpuint(c->next[0], ==, 70100);
    check_free(c);
}

/* Logs a hundred numbers, reads on, and says whether the client's queue took them. */
static bool has_room(struct reading *r, uint32_t *next)
{
    struct fm_eventlog_stats before, after;
    fm_eventlog_stats(&before);
    log_numbers(0, *next, 100);
    *next += 100;
    fm_eventlog_flush(-1);
    fm_eventlog_stats(&after);
    read_on(r->fd, r->all, r->all->len + 500);
    return after.client_dropped_events == before.client_dropped_events;
}

static void slow_client_misses_whole_blocks_and_is_told(void)
{
    struct fm_eventlog_listen_options o = {.queue_limit_bytes = 100000};
    struct fm_eventlog_stats before, after;
    struct check *c;
    serve(NULL, &o, 4096);
    fm_eventlog_stats(&before);
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(1);
    log_numbers(0, 0, 200000); /* 3.6 MB; the client reads nothing yet */
    fm_eventlog_flush(-1);
    read_on(r.fd, r.all, 80000); /* now the queue moves */
    uint32_t next = 200000;
    check_until(has_room(&r, &next));
    for (int i = 0; i < 50; i++)
        has_room(&r, &next);
    finish_reading(&r, 1, &c);
    fm_eventlog_stats(&after);
    uint64_t dropped = after.client_dropped_events - before.client_dropped_events;
    g_assert_cmpuint(dropped, >, 100000);
    g_assert_cmpuint(c->missing_events, ==, dropped);
    g_assert_cmpuint(c->events + dropped, ==, after.produced_events - before.produced_events);
    g_assert_cmpuint(c->replayed[16], >=, 2); /* the state came again behind the gap */
    check_free(c);
}

static void killed_client_harms_nobody(void)
{
    struct check *c;
    serve(NULL, NULL, 4096);
    int victim = dial_unix();
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(2);
    log_numbers(0, 0, 100000);
    uint8_t some[5000];
    g_assert_cmpint(recv(victim, some, sizeof(some), 0), >, 0); /* in the middle of a block */
    shutdown(victim, SHUT_RDWR);
    close(victim);
    wait_clients(1);
    log_numbers(0, 100000, 1000);
    finish_reading(&r, 1, &c);
    g_assert_cmpuint(c->counts[522], ==, 101000);
    g_assert_cmpuint(c->gaps, ==, 0);
    check_free(c);
}

/* ---- control messages -------------------------------------------------------------------------
 */

static int calls[3];

static uint8_t handler(void *context, const char *name_space, uint8_t number)
{
    g_atomic_int_inc(&calls[GPOINTER_TO_INT(context)]);
    fm_eventlog_message(name_space); /* may log */
    return number;
}

static void wait_calls(int which, int n)
{
    check_until(g_atomic_int_get(&calls[which]) >= n);
    g_assert_cmpint(g_atomic_int_get(&calls[which]), ==, n);
}

static void commands_reach_the_registered_handler_only(void)
{
    memset(calls, 0, sizeof(calls));
    g_assert_cmpint(fm_eventlog_on_command("ab", 1, handler, GINT_TO_POINTER(0)), ==, 0);
    g_assert_cmpint(fm_eventlog_on_command("abc", 1, handler, GINT_TO_POINTER(1)), ==, 0);
    g_assert_cmpint(fm_eventlog_on_command("abc", 1, handler, NULL), ==, -EEXIST);
    g_assert_cmpint(fm_eventlog_on_command("fathom", 1, handler, NULL), ==, -EEXIST);
    for (uint8_t i = 0; i < 10; i++) /* ten in one name space */
        g_assert_cmpint(fm_eventlog_on_command("ten", i, handler, GINT_TO_POINTER(2)), ==, 0);
    serve(NULL, NULL, 4096);
    int fd = dial_unix();
    wait_clients(1);
    g_autoptr(GByteArray) out = g_byte_array_new();
    control(out, 0, "ab", 1);
    send_all(fd, out->data, out->len, 1); /* one byte at a time */
    wait_calls(0, 1);
    g_byte_array_set_size(out, 0);
    g_byte_array_append(out, (const uint8_t *)"noise \xF0\x9E\xF0 more \xF0\x9E\x97\x8C\x07", 20);
    control(out, 0, "nobody", 1);
    control(out, 0, "abc", 1);
    send_all(fd, out->data, out->len, out->len);
    wait_calls(1, 1);
    wait_calls(0, 1);
    g_byte_array_set_size(out, 0);
    for (uint8_t i = 0; i < 10; i++)
        control(out, 0, "ten", i);
    send_all(fd, out->data, out->len, 7);
    wait_calls(2, 10);
    g_byte_array_set_size(out, 0);
    for (int i = 0; i < 300; i++) /* longer than one read, names across its border */
        control(out, 0, "abc", 1);
    send_all(fd, out->data, out->len, 1000);
    wait_calls(1, 301);
    close(fd);
    serve_end();
    for (uint8_t i = 0; i < 10; i++)
        g_assert_cmpint(fm_eventlog_on_command("ten", i, NULL, NULL), ==, 0);
    fm_eventlog_on_command("ab", 1, NULL, NULL);
    fm_eventlog_on_command("abc", 1, NULL, NULL);
}

/* Answers stand between blocks: taken out, the rest is a log. */
static unsigned take_answers(GByteArray *all, uint8_t statuses[8])
{
    static const uint8_t magic[5] = {0xF0, 0x9E, 0x97, 0x8C, 1};
    unsigned found = 0;
    for (guint at = 0; at + 8 <= all->len; at++) {
        if (memcmp(all->data + at, magic, 5) != 0)
            continue;
        guint n = 6u + all->data[at + 5] + 2;
        if (n > all->len - at) /* the rest is still to come */
            break;
        statuses[found++] = all->data[at + n - 1];
        g_byte_array_remove_range(all, at--, n);
    }
    return found;
}

static void commands_of_version_1_are_answered_between_blocks(void)
{
    uint8_t statuses[8];
    fm_eventlog_on_command("answering", 7, handler, GINT_TO_POINTER(0));
    serve(NULL, NULL, 4096);
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(1);
    g_autoptr(GByteArray) out = g_byte_array_new();
    log_numbers(0, 0, 3000);
    control(out, 1, "answering", 7);
    control(out, 1, "answering", 8);
    control(out, 1, "unheard of", 7);
    control(out, 1, "fathom", 1);
    send_all(r.fd, out->data, out->len, 5);
    for (unsigned answers = 0; answers < 4;) {
        read_on(r.fd, r.all, r.all->len + 1);
        answers += take_answers(r.all, statuses + answers);
    }
    GThread *reader = g_thread_new("client", read_to_end, &r);
    log_numbers(0, 3000, 3000);
    serve_end();
    g_thread_join(reader);
    g_assert_cmpuint(statuses[0], ==, 7);
    g_assert_cmpuint(statuses[1], ==, FM_EVENTLOG_ANSWER_UNKNOWN_NUMBER);
    g_assert_cmpuint(statuses[2], ==, FM_EVENTLOG_ANSWER_UNKNOWN_SPACE);
    g_assert_cmpuint(statuses[3], ==, FM_EVENTLOG_ANSWER_OK);
    struct check *c = check_stream(r.all->data, r.all->len);
    g_assert_cmpuint(c->counts[522], ==, 6000);
    g_assert_true(c->ended);
    check_free(c);
    g_byte_array_unref(r.all);
    fm_eventlog_on_command("answering", 7, NULL, NULL);
}

/* A command that comes with the connection is answered behind the header. */
static void answer_never_precedes_the_header(void)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    control(out, 1, "fathom", 1);
    serve(NULL, NULL, 4096);
    for (int i = 0; i < 20; i++) {
        int fd = dial_unix();
        g_autoptr(GByteArray) all = g_byte_array_new();
        uint8_t statuses[8];
        send_all(fd, out->data, out->len, out->len);
        unsigned answers = 0;
        while (answers == 0) {
            read_on(fd, all, all->len + 1);
            g_assert_cmpint(all->data[0], ==, 'h');
            answers = take_answers(all, statuses);
        }
        g_assert_cmpuint(statuses[0], ==, FM_EVENTLOG_ANSWER_OK);
        check_free(check_stream(all->data, all->len));
        close(fd);
    }
    serve_end();
}

static void other_addresses_need_a_token(void)
{
    struct fm_eventlog_listen_options o = {.token = "secret"};
    g_assert_cmpint(fm_eventlog_listen("tcp:0.0.0.0:0", NULL), ==, -EACCES);
    g_assert_cmpint(fm_eventlog_listen("nonsense", NULL), ==, -EINVAL);
    g_assert_cmpint(fm_eventlog_listen("tcp:127.0.0.1", NULL), ==, -EINVAL);
    static const char *const no_ports[] = {"99999", "65536", "-1",         "+80",
                                           " 80",   "80x",   "4294967297", "no such service"};
    for (size_t i = 0; i < G_N_ELEMENTS(no_ports); i++) {
        g_autofree char *address = g_strconcat("tcp:127.0.0.1:", no_ports[i], NULL);
        g_assert_cmpint(fm_eventlog_listen(address, NULL), ==, -EINVAL);
    }
    serve("tcp:0.0.0.0:0", &o, 4096);
    int wrong = dial_inet(SOCK_STREAM);
    g_autoptr(GByteArray) out = g_byte_array_new();
    control(out, 0, "token=secreT", 0);
    send_all(wrong, out->data, out->len, out->len);
    g_autoptr(GByteArray) told = g_byte_array_new();
    read_on(wrong, told, SIZE_MAX);
    g_assert_cmpuint(told->len, ==, 14); /* why, and not a byte of the log */
    g_assert_cmpuint(told->data[13], ==, FM_EVENTLOG_ANSWER_REFUSED);
    close(wrong);
    struct reading r = {dial_inet(SOCK_STREAM), g_byte_array_new()};
    struct check *c;
    g_byte_array_set_size(out, 0);
    control(out, 0, "token=secret", 0);
    send_all(r.fd, out->data, out->len, out->len);
    wait_clients(1);
    log_numbers(0, 0, 10);
    finish_reading(&r, 1, &c);
    g_assert_cmpuint(c->counts[522], ==, 10);
    check_free(c);
}

/* ---- the monitor ------------------------------------------------------------------------------
 */

static void monitor_case(size_t maximum, bool singles)
{
    struct fm_eventlog_listen_options o = {.datagram_bytes_max = maximum,
                                           .monitor_singles = singles};
    serve("monitor:127.0.0.1:0", &o, 4096);
    struct reading r = {dial_inet(SOCK_STREAM), g_byte_array_new()};
    wait_clients(1);
    fm_eventlog_label_thread("the tester");
    log_numbers(0, 0, 500);
    fm_eventlog_message("a message that is longer than sixteen bytes");
    GThread *reader = g_thread_new("client", read_to_end, &r);
    serve_end();
    g_thread_join(reader);
    struct collect *c = collect_frames(r.all->data, r.all->len, true);
    g_assert_cmpuint(c->types, ==, c->types_announced);
    g_assert_cmpuint(c->states, >=, 1);
    g_assert_cmpuint(c->numbers, ==, 500);
    g_assert_cmpuint(c->messages, ==, 1);
    g_assert_cmpuint(c->incomplete, ==, 0);
    g_assert_cmpuint(c->heads, >, 0);
    g_assert_cmpuint(c->largest_payload, <=, maximum ? maximum : SIZE_MAX);
    if (!singles) {
        g_assert_cmpuint(c->parts, ==, c->announced_parts);
        g_assert_cmpuint(c->singles, ==, 0);
    } else {
        g_assert_cmpuint(c->parts, ==, 0);
    }
    collect_free(c);
    g_byte_array_unref(r.all);
}

static void monitor_messages_give_the_same_events_however_split(void)
{
    static const size_t maxima[] = {16, 64, 1500, 0};
    for (unsigned i = 0; i < G_N_ELEMENTS(maxima); i++) {
        monitor_case(maxima[i], false);
        monitor_case(maxima[i], true);
    }
}

/* Logs another event; whether any were dropped for clients since the last time, *dropped then. */
static bool drops_another(uint64_t *dropped, uint32_t *number)
{
    struct fm_eventlog_stats s;
    const uint64_t before = *dropped;
    log_numbers(0, (*number)++, 1);
    fm_eventlog_flush(-1);
    fm_eventlog_stats(&s);
    *dropped = s.client_dropped_events;
    return *dropped > before;
}

static void monitor_pauses_and_tells_the_state_again(void)
{
    static const uint8_t pause_on[] = {0, 0, 0, 5, 0x82, 0, 0x82, 0, 0xF5};
    static const uint8_t pause_off[] = {0, 0, 0, 5, 0x82, 0, 0x82, 0, 0xF4};
    serve("monitor:127.0.0.1:0", NULL, 4096);
    struct reading r = {dial_inet(SOCK_STREAM), g_byte_array_new()};
    GThread *reader = g_thread_new("client", read_to_end, &r);
    wait_clients(1);
    struct fm_eventlog_stats before, s;
    log_numbers(0, 0, 100);
    fm_eventlog_flush(-1);
    fm_eventlog_stats(&before);
    send_all(r.fd, pause_on, sizeof(pause_on), 2);
    uint32_t paused = 100;
    uint64_t dropped_so_far = before.client_dropped_events;
    check_until(drops_another(&dropped_so_far, &paused));
    send_all(r.fd, pause_off, sizeof(pause_off), sizeof(pause_off));
    check_until(!drops_another(&dropped_so_far, &paused)); /* the pause is over */
    log_numbers(0, paused, 50);
    serve_end();
    g_thread_join(reader);
    struct collect *c = collect_frames(r.all->data, r.all->len, true);
    fm_eventlog_stats(&s);
    uint64_t dropped = s.client_dropped_events - before.client_dropped_events;
    g_assert_cmpuint(dropped, >=, 1);
    g_assert_cmpuint(c->numbers + dropped, ==, paused + 50);
    g_assert_cmpuint(c->states, >=, 3);
    collect_free(c);
    g_byte_array_unref(r.all);
}

static void impossible_frame_closes_the_connection(void)
{
    static const uint8_t huge[4] = {0xEF, 0xFF, 0xFF, 0xFF}, all_ones[4] = {255, 255, 255, 255};
    serve("monitor:127.0.0.1:0", NULL, 4096);
    for (int i = 0; i < 2; i++) {
        int fd = dial_inet(SOCK_STREAM);
        wait_clients(1);
        send_all(fd, i ? huge : all_ones, 4, 4);
        g_autoptr(GByteArray) all = g_byte_array_new();
        read_on(fd, all, SIZE_MAX); /* ends */
        close(fd);
        wait_clients(0);
    }
    serve_end();
}

static void datagrams_reach_who_asked(void)
{
    static const uint8_t hello[] = {0x82, 0, 0x82, 0, 0xF4};
    serve("udp:127.0.0.1:0", NULL, 4096);
    int fd = dial_inet(SOCK_DGRAM);
    int room = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    g_assert_cmpint(send(fd, hello, sizeof(hello), 0), ==, sizeof(hello));
    wait_clients(1);
    log_numbers(0, 0, 1000);
    fm_eventlog_flush(-1);
    struct collect *c = collect_new();
    uint8_t data[4096];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (c->numbers < 1000) {
        g_assert_cmpint(poll(&p, 1, (int)(patience() * 1000)), ==, 1);
        ssize_t n = recv(fd, data, sizeof(data), 0);
        g_assert_cmpint(n, >, 0);
        g_assert_cmpint(n, <=, 1500);
        collect_message(c, data, (size_t)n);
    }
    g_assert_cmpuint(c->numbers, ==, 1000);
    g_assert_cmpuint(c->types, ==, c->types_announced);
    g_assert_cmpuint(c->states, ==, 1);
    collect_free(c);
    close(fd);
    serve_end();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/serve/" #name, name)
    T(two_clients_get_whole_logs_of_their_own);
    T(client_that_comes_again_gets_a_header_again);
    T(slow_client_misses_whole_blocks_and_is_told);
    T(killed_client_harms_nobody);
    T(commands_reach_the_registered_handler_only);
    T(commands_of_version_1_are_answered_between_blocks);
    T(answer_never_precedes_the_header);
    T(other_addresses_need_a_token);
    T(monitor_messages_give_the_same_events_however_split);
    T(monitor_pauses_and_tells_the_state_again);
    T(impossible_frame_closes_the_connection);
    T(datagrams_reach_who_asked);
#undef T
    return g_test_run();
}
