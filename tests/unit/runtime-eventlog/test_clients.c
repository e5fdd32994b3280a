/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that behave badly, or that are many. With the argument `slow`: one that reads 1 KB a
 * second, really. */
#include "collect.h"
#include "dial.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/patience.h"

/* B: `nc ... </dev/null` says nothing, and reads. */
static void half_closed_client_is_served(void)
{
    for (int monitor = 0; monitor < 2; monitor++) {
        serve(monitor ? "monitor:127.0.0.1:0" : NULL, NULL, 4096);
        struct reading r = {monitor ? dial_inet(SOCK_STREAM) : dial_unix(), g_byte_array_new()};
        g_assert_cmpint(shutdown(r.fd, SHUT_WR), ==, 0);
        wait_clients(1);
        log_numbers(0, 0, 5000);
        fm_eventlog_flush(-1);
        g_usleep(1200000); /* it is looked at meanwhile, and kept */
        log_numbers(0, 5000, 5000);
        if (monitor) {
            GThread *reader = g_thread_new("client", read_to_end, &r);
            serve_end();
            g_thread_join(reader);
            struct collect *c = collect_frames(r.all->data, r.all->len, true);
            g_assert_cmpuint(c->numbers, ==, 10000);
            collect_free(c);
            g_byte_array_unref(r.all);
        } else {
            struct check *c;
            finish_reading(&r, 1, &c);
            g_assert_cmpuint(c->counts[522], ==, 10000);
            check_free(c);
        }
    }
}

/* A half-closed client that goes away gives up its place though nothing is logged. */
static void half_closed_client_that_went_is_noticed(void)
{
    static const char *const addresses[] = {"tcp:127.0.0.1:0", "monitor:127.0.0.1:0", NULL};
    for (unsigned i = 0; i < G_N_ELEMENTS(addresses); i++) {
        serve(addresses[i], NULL, 4096);
        int fd = addresses[i] ? dial_inet(SOCK_STREAM) : dial_unix();
        wait_clients(1);
        shutdown(fd, SHUT_WR);
        close(fd);
        wait_clients(0);
        serve_end();
    }
}

/* What a connection is told that gets no log: the status, then the end. */
static uint8_t refusal(int fd)
{
    static const uint8_t begin[] = {0xF0, 0x9E, 0x97, 0x8C, 1, 6, 'f', 'a', 't', 'h', 'o', 'm', 0};
    g_autoptr(GByteArray) all = g_byte_array_new();
    read_on(fd, all, SIZE_MAX);
    g_assert_cmpmem(all->data, MIN(all->len, sizeof(begin)), begin, sizeof(begin));
    g_assert_cmpuint(all->len, ==, sizeof(begin) + 1);
    return all->data[sizeof(begin)];
}

static void no_more_clients_than_allowed(void)
{
    struct fm_eventlog_listen_options o = {.clients_max = 2};
    struct check *c[2];
    serve(NULL, &o, 4096);
    struct reading r[2] = {{dial_unix(), g_byte_array_new()}, {dial_unix(), g_byte_array_new()}};
    wait_clients(2);
    int third = dial_unix();
    g_assert_cmpuint(refusal(third), ==, FM_EVENTLOG_ANSWER_FULL);
    close(third);
    log_numbers(0, 0, 100);
    finish_reading(r, 2, c);
    for (int i = 0; i < 2; i++) {
        g_assert_cmpuint(c[i]->counts[522], ==, 100);
        check_free(c[i]);
    }
}

static void say_token(int fd, const char *token)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree char *name = g_strconcat("token=", token, NULL);
    control(out, 0, name, 0);
    send_all(fd, out->data, out->len, out->len);
}

static uint8_t refusal_datagram(const char *token)
{
    uint8_t bytes[64] = {0};
    int fd = dial_inet(SOCK_DGRAM);
    say_token(fd, token);
    g_assert_cmpint(recv(fd, bytes, sizeof(bytes), 0), ==, 14);
    g_assert_cmpuint(bytes[0], ==, 0xF0);
    close(fd);
    return bytes[13];
}

static void wrong_and_missing_tokens_are_told(void)
{
    static const char *const addresses[] = {"tcp:127.0.0.1:0", "monitor:127.0.0.1:0", NULL};
    struct fm_eventlog_listen_options o = {.token = "secret"};
    for (unsigned i = 0; i < G_N_ELEMENTS(addresses); i++) {
        serve(addresses[i], &o, 4096);
        for (unsigned k = 0; k < 3; k++) {
            int fd = addresses[i] ? dial_inet(SOCK_STREAM) : dial_unix();
            if (k == 0)
                say_token(fd, "secreT");
            if (k == 1)
                shutdown(fd, SHUT_WR); /* k = 2 says nothing until its time is over */
            g_assert_cmpuint(refusal(fd), ==,
                             k ? FM_EVENTLOG_ANSWER_TOKEN : FM_EVENTLOG_ANSWER_REFUSED);
            close(fd);
        }
        serve_end();
    }
    serve("udp:127.0.0.1:0", &o, 4096);
    g_assert_cmpuint(refusal_datagram("secreT"), ==, FM_EVENTLOG_ANSWER_REFUSED);
    serve_end();
}

static void mute_connections_use_no_places(void)
{
    enum { MUTE = 150 };
    int mute[MUTE];
    struct fm_eventlog_listen_options o = {.token = "secret", .clients_max = 1};
    struct check *c;
    serve("tcp:127.0.0.1:0", &o, 4096);
    for (unsigned i = 0; i < MUTE; i++)
        mute[i] = dial_inet(SOCK_STREAM);
    struct reading r = {dial_inet(SOCK_STREAM), g_byte_array_new()};
    say_token(r.fd, "secret");
    wait_clients(1);
    int another = dial_inet(SOCK_STREAM);
    say_token(another, "secret");
    g_assert_cmpuint(refusal(another), ==, FM_EVENTLOG_ANSWER_FULL);
    close(another);
    for (unsigned i = 0; i < MUTE; i++)
        close(mute[i]);
    log_numbers(0, 0, 100);
    finish_reading(&r, 1, &c);
    g_assert_cmpuint(c->counts[522], ==, 100);
    check_free(c);
}

/* ---- what was before ---------------------------------------------------------------------------
 */

static char *printed(const GByteArray *log)
{
    g_autofree char *path = temp_path("late.eventlog"), *folder = g_path_get_dirname(path);
    g_assert_true(g_file_set_contents(path, (const char *)log->data, (gssize)log->len, NULL));
    const char *argv[] = {g_getenv("FATHOM"), "log", "cat", path, NULL};
    char *out = NULL;
    g_assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, NULL, NULL, NULL));
    unlink(path);
    rmdir(folder);
    return out;
}

static unsigned times(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

static int a_lock, another_lock;

static gpointer hold_a_lock(gpointer data)
{
    (void)data;
    fm_eventlog_lock_acquire(&another_lock);
    fm_eventlog_lock_release(&another_lock);
    FM_SPAN("gone with its thread");
    fm_eventlog_span_begin(fm_eventlog_intern("never ended"));
    return NULL;
}

static void late_client_hears_of_values_and_open_spans(void)
{
    struct fm_eventlog_options o = {.flags = FM_EVENTLOG_VALUES};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    FM_COUNTER("queue", 41);
    FM_COUNTER("queue", 42);
    FM_COUNTER("load", 2.5);
    FM_COUNTER("load", 0.25F);
    fm_eventlog_heap(3000, 2000, 1000);
    FM_SPAN_BEGIN("ended before");
    FM_SPAN_END("ended before");
    FM_SPAN_BEGIN("outer");
    FM_SPAN_BEGIN("inner");
    FM_ASYNC_BEGIN("request", 700007);
    FM_ASYNC_BEGIN("request", 800008);
    FM_ASYNC_END("request", 700007);
    fm_eventlog_lock_acquire(&a_lock);
    g_thread_join(g_thread_new("holder", hold_a_lock, NULL));
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    g_free(socket_path);
    socket_path = temp_path("late.sock");
    g_autofree char *address = g_strconcat("unix:", socket_path, NULL);
    listener = fm_eventlog_listen(address, NULL);
    g_assert_cmpint(listener, >=, 0);
    struct reading r = {dial_unix(), g_byte_array_ref(g_byte_array_new())};
    g_autoptr(GByteArray) all = r.all;
    wait_clients(1);
    FM_COUNTER("queue", 43);
    fm_eventlog_lock_release(&a_lock);
    FM_SPAN_END("inner");
    FM_SPAN_END("outer");
    struct check *c;
    finish_reading(&r, 1, &c);
    g_assert_cmpuint(c->replayed[FM_EVENT_COUNTER], ==, 1);
    g_assert_cmpuint(c->counts[FM_EVENT_COUNTER], ==, 1);
    g_assert_cmpuint(c->replayed[FM_EVENT_COUNTER_REAL], ==, 1);
    g_assert_cmpuint(c->replayed[FM_EVENT_HEAP_LIVE], ==, 1);
    g_assert_cmpuint(c->replayed[FM_EVENT_SPAN_BEGIN], ==, 2);
    g_assert_cmpuint(c->counts[FM_EVENT_SPAN_END], ==, 2);
    g_assert_cmpuint(c->replayed[FM_EVENT_ASYNC_BEGIN], ==, 1);
    g_assert_cmpuint(c->replayed[FM_EVENT_LOCK_ACQUIRE], ==, 1);
    g_assert_cmpuint(c->before_name, ==, 0);
    check_free(c);
    g_autofree char *text = printed(all);
    g_assert_cmpuint(times(text, "value=41"), ==, 0);
    g_assert_cmpuint(times(text, "value=42"), ==, 1);
    g_assert_cmpuint(times(text, "value=0.25"), ==, 1);
    g_assert_cmpuint(times(text, "value=2.5"), ==, 0);
    g_assert_cmpuint(times(text, "id=800008"), ==, 1);
    g_assert_cmpuint(times(text, "id=700007"), ==, 0);
}

/* What ends while nothing takes events is not known to have ended: a client that comes after that
 * hears of nothing that was open before, but of what is begun since, however often that happens. */
static void nothing_is_open_that_may_have_ended_unseen(void)
{
    serve(NULL, NULL, 4096);
    for (int i = 0; i < 70; i++) {
        int fd = dial_unix();
        wait_clients(1);
        FM_SPAN_BEGIN("left open");
        FM_ASYNC_BEGIN("left open", 1000 + i);
        fm_eventlog_lock_acquire(&a_lock);
        if (i % 2)
            g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
        close(fd);
        wait_clients(0);
        FM_SPAN_END("left open"); /* not logged */
        FM_ASYNC_END("left open", 1000 + i);
        fm_eventlog_lock_release(&a_lock);
    }
    struct reading r[2] = {{dial_unix(), g_byte_array_new()}};
    struct check *c[2];
    wait_clients(1);
    FM_SPAN_BEGIN("open now");
    FM_COUNTER("count", 5);
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    r[1] = (struct reading){dial_unix(), g_byte_array_new()};
    wait_clients(2);
    FM_SPAN_END("open now");
    finish_reading(r, 2, c);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(c[i]->replayed[FM_EVENT_SPAN_BEGIN], ==, i);
        g_assert_cmpuint(c[i]->replayed[FM_EVENT_ASYNC_BEGIN], ==, 0);
        g_assert_cmpuint(c[i]->replayed[FM_EVENT_LOCK_ACQUIRE], ==, 0);
        g_assert_cmpuint(c[i]->replayed[FM_EVENT_COUNTER], ==, i);
        g_assert_cmpuint(g_hash_table_size(c[i]->open), ==, 0);
        check_free(c[i]);
    }
}

/* A: each of two monitors' clients gets every event, one that ends inside a frame harms nobody. */
static void every_monitor_client_gets_every_event(void)
{
    static const uint8_t half[] = {0, 0, 0, 5, 0x82, 0};
    serve("monitor:127.0.0.1:0", NULL, 4096);
    int broken = dial_inet(SOCK_STREAM);
    send_all(broken, half, sizeof(half), sizeof(half));
    struct reading r[2] = {{dial_inet(SOCK_STREAM), g_byte_array_new()},
                           {dial_inet(SOCK_STREAM), g_byte_array_new()}};
    wait_clients(3);
    close(broken);
    wait_clients(2);
    log_numbers(0, 0, 3000);
    GThread *threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = g_thread_new("client", read_to_end, &r[i]);
    serve_end();
    for (int i = 0; i < 2; i++) {
        g_thread_join(threads[i]);
        struct collect *c = collect_frames(r[i].all->data, r[i].all->len, true);
        g_assert_cmpuint(c->numbers, ==, 3000);
        collect_free(c);
        g_byte_array_unref(r[i].all);
    }
}

/* B: the file of a program that was killed is taken over; one that is served, or no socket, not. */
static void left_over_socket_is_taken_over(void)
{
    g_autofree char *path = temp_path("left.sock"), *other = temp_path("a-file");
    g_autofree char *address = g_strconcat("unix:", path, NULL);
    g_autofree char *wrong = g_strconcat("unix:", other, NULL);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    g_strlcpy(a.sun_path, path, sizeof(a.sun_path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(fd, (struct sockaddr *)&a, sizeof(a)), ==, 0);
    close(fd);
    g_assert_cmpint(access(path, F_OK), ==, 0);
    serve(address, NULL, 4096);
    g_assert_cmpint(fm_eventlog_listen(address, NULL), ==, -EADDRINUSE);
    g_assert_true(g_file_set_contents(other, "precious", 8, NULL));
    g_assert_cmpint(fm_eventlog_listen(wrong, NULL), ==, -EADDRINUSE);
    g_autofree char *kept = NULL;
    g_assert_true(g_file_get_contents(other, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, "precious");
    g_autofree char *long_path = g_strnfill(200, 'p');
    g_autofree char *too_long = g_strconcat("unix:/tmp/", long_path, NULL);
    g_assert_cmpint(fm_eventlog_listen(too_long, NULL), ==, -ENAMETOOLONG);
    serve_end();
    g_assert_cmpint(access(path, F_OK), !=, 0);
    unlink(other);
}

/* ---- control messages -------------------------------------------------------------------------
 */

static gint second_calls;
static uint8_t second(void *context, const char *name_space, uint8_t number)
{
    (void)context;
    (void)name_space;
    g_atomic_int_inc(&second_calls);
    return number;
}

/* B: no lock is held around a handler: it may register, flush and change the sink. */
static uint8_t first(void *context, const char *name_space, uint8_t number)
{
    (void)context;
    g_assert_cmpint(fm_eventlog_on_command(name_space, 9, second, NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    g_assert_cmpint(fm_eventlog_set_sink(NULL, false, false), ==, 0);
    g_assert_cmpint(fm_eventlog_on_command(name_space, number, NULL, NULL), ==, 0);
    return 0;
}

static void handler_may_register_and_flush(void)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_assert_cmpint(fm_eventlog_on_command("late", 1, first, NULL), ==, 0);
    serve(NULL, NULL, 4096);
    int fd = dial_unix();
    wait_clients(1);
    control(out, 0, "late", 1);
    control(out, 0, "late", 9);
    send_all(fd, out->data, out->len, 3);
    check_until(g_atomic_int_get(&second_calls) != 0);
    close(fd);
    serve_end();
    g_assert_cmpint(fm_eventlog_on_command("late", 1, NULL, NULL), ==, -ENOENT);
    g_assert_cmpint(fm_eventlog_on_command("late", 9, NULL, NULL), ==, 0);
}

/* B: a version that is not known ends the message; what follows begins anew. */
static void unknown_version_is_skipped(void)
{
    static const uint8_t newer[] = {0xF0, 0x9E, 0x97, 0x8C, 2, 4, 'l', 'a', 't', 'e', 1};
    g_autoptr(GByteArray) out = g_byte_array_new();
    second_calls = 0;
    g_assert_cmpint(fm_eventlog_on_command("late", 1, second, NULL), ==, 0);
    serve(NULL, NULL, 4096);
    int fd = dial_unix();
    wait_clients(1);
    g_byte_array_append(out, newer, sizeof(newer));
    control(out, 0, "late", 1);
    send_all(fd, out->data, out->len, out->len);
    check_until(g_atomic_int_get(&second_calls) != 0);
    close(fd);
    serve_end(); /* the service thread is past all that was sent */
    g_assert_cmpint(second_calls, ==, 1);
    fm_eventlog_on_command("late", 1, NULL, NULL);
}

static bool thrown_out_after_asking(int fd, const GByteArray *questions)
{
    struct fm_eventlog_stats s;
    send(fd, questions->data, questions->len, MSG_NOSIGNAL | MSG_DONTWAIT);
    fm_eventlog_stats(&s);
    return s.clients == 0;
}

static void client_that_never_reads_answers_is_cut_off(void)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    for (int i = 0; i < 500; i++)
        control(out, 1, "nobody answers to a name space as long as this one", 1);
    serve(NULL, NULL, 4096);
    int fd = dial_unix();
    wait_clients(1);
    signal(SIGPIPE, SIG_IGN);
    check_until(thrown_out_after_asking(fd, out));
    close(fd);
    serve_end();
}

/* What was dropped is told in the lane of the block behind it, here in that of no lane, and the
 * state that follows is not older. */
static void gap_before_a_definition_keeps_the_order(void)
{
    struct fm_eventlog_listen_options o = {.queue_limit_bytes = 1 << 20};
    struct fm_eventlog_stats before, after;
    struct check *c;
    char name[24];
    serve(NULL, &o, 4096);
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(1);
    fm_eventlog_stats(&before);
    uint32_t logged = 0, names = 0;
    for (int turn = 0; turn < 20; turn++) {
        do { /* until something is dropped, definitions too */
            log_numbers(0, logged, 10000);
            logged += 10000;
            fm_eventlog_flush(-1);
            fm_eventlog_stats(&after);
        } while (after.client_dropped_events - before.client_dropped_events < logged / 2);
        read_on(r.fd, r.all, r.all->len + 900000);
        snprintf(name, sizeof(name), "after a gap %u", names++);
        fm_eventlog_instant(fm_eventlog_intern(name));
    }
    finish_reading(&r, 1, &c);
    fm_eventlog_stats(&after);
    uint64_t dropped = after.client_dropped_events - before.client_dropped_events;
    g_assert_cmpuint(c->missing_events, ==, dropped);
    g_assert_cmpuint(c->events + dropped, ==, after.produced_events - before.produced_events);
    check_free(c);
}

/* ---- 1 KB/s ------------------------------------------------------------------------------------
 */

static size_t resident_bytes(void)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    return (size_t)g_ascii_strtoull(strchr(text, ' '), NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

#define SLOW_READS 9

static gint reading_slowly;
static gpointer read_slowly(gpointer data)
{
    struct reading *r = data;
    uint8_t kilobyte[1024];
    for (int i = 0; i < SLOW_READS; i++) {
        ssize_t n = recv(r->fd, kilobyte, sizeof(kilobyte), MSG_WAITALL);
        g_assert_cmpint(n, ==, sizeof(kilobyte));
        g_byte_array_append(r->all, kilobyte, (guint)n);
        g_usleep(1000000);
    }
    g_atomic_int_set(&reading_slowly, 0);
    return NULL;
}

/* A fast producer and a client that reads a kilobyte a second, nine times; then the client reads
 * what is left, so that all can be counted. */
static void client_of_a_kilobyte_a_second(void)
{
    enum { LIMIT = 4 << 20 };
    struct fm_eventlog_listen_options o = {.queue_limit_bytes = LIMIT};
    struct fm_eventlog_stats before, after;
    struct check *c;
    serve(NULL, &o, 0);
    struct reading r = {dial_unix(), g_byte_array_new()};
    wait_clients(1);
    fm_eventlog_stats(&before);
    log_numbers(0, 0, 2000000); /* 36 MB: the queue is full */
    fm_eventlog_flush(-1);
    size_t at_first = resident_bytes(), most = 0;
    g_atomic_int_set(&reading_slowly, 1);
    GThread *reader = g_thread_new("1 KB/s", read_slowly, &r);
    uint32_t logged = 2000000;
    while (g_atomic_int_get(&reading_slowly)) {
        log_numbers(0, logged, 100000);
        logged += 100000;
        most = MAX(most, resident_bytes());
    }
    g_thread_join(reader);
    g_assert_cmpuint(r.all->len, ==, SLOW_READS * 1024);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need memory too */
    g_assert_cmpuint(most, <, at_first + (2u << 20));
#endif
    finish_reading(&r, 1, &c);
    fm_eventlog_stats(&after);
    uint64_t dropped = after.client_dropped_events - before.client_dropped_events;
    g_test_message("%u events, %lu dropped for the client, memory %+ld bytes", logged,
                   (unsigned long)dropped, (long)(most - at_first));
    g_assert_cmpuint(dropped, >, logged - 2 * LIMIT / 18);
    g_assert_cmpuint(c->missing_events, ==, dropped);
    g_assert_cmpuint(c->events + dropped, ==, after.produced_events - before.produced_events);
    check_free(c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/clients/" #name, name)
    if (argc > 1 && g_str_equal(argv[1], "slow")) {
        T(client_of_a_kilobyte_a_second);
        return g_test_run();
    }
    T(half_closed_client_is_served);
    T(half_closed_client_that_went_is_noticed);
    T(wrong_and_missing_tokens_are_told);
    T(mute_connections_use_no_places);
    T(no_more_clients_than_allowed);
    T(late_client_hears_of_values_and_open_spans);
    T(nothing_is_open_that_may_have_ended_unseen);
    T(every_monitor_client_gets_every_event);
    T(left_over_socket_is_taken_over);
    T(handler_may_register_and_flush);
    T(unknown_version_is_skipped);
    T(client_that_never_reads_answers_is_cut_off);
    T(gap_before_a_definition_keeps_the_order);
#undef T
    return g_test_run();
}
