/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of events, with a sink in memory for a door. */
#include <string.h>

#include "serve/stream.h"

struct door {
    GString *got;
    unsigned ends;
};

static void door_write(void *user, const char *bytes, size_t size)
{
    struct door *door = user;
    g_assert_cmpuint(door->ends, ==, 0);
    g_string_append_len(door->got, bytes, (gssize)size);
}

static size_t door_backlog(void *user)
{
    return ((struct door *)user)->got->len;
}

static void door_end(void *user)
{
    ((struct door *)user)->ends++;
}

static const struct fm_stream_sink door_sink = {door_write, door_backlog, door_end};

static void note_end(struct fm_stream *stream, void *user)
{
    g_assert_nonnull(fm_stream_id(stream));
    g_string_append(user, "end ");
}

static void note_last(struct fm_stream *stream, void *user)
{
    fm_stream_send(stream, "late", "nobody hears it");
    g_string_append(user, "last ");
}

static void events_are_written_as_the_standard_says(void)
{
    struct fm_server *server = fm_server_new(NULL);
    struct door door = {g_string_new(NULL), 0};
    struct fm_stream *stream = fm_stream_new(server);
    fm_stream_send(stream, "hello", "{\"a\":1}"); /* before the door is there */
    g_assert_cmpuint(fm_stream_backlog(stream), >, 0);
    fm_stream_attach(stream, &door_sink, &door);
    fm_stream_send(stream, "lines", "one\ntwo\r\n\rfour");
    fm_stream_send(stream, "empty", "");
    g_assert_cmpstr(door.got->str, ==,
                    "retry: 1000\n\n"
                    "event: hello\ndata: {\"a\":1}\n\n"
                    "event: lines\ndata: one\ndata: two\ndata: \ndata: four\n\n"
                    "event: empty\ndata: \n\n");
    g_assert_cmpuint(fm_stream_backlog(stream), ==, door.got->len);
    fm_stream_gone(stream);
    g_assert_cmpuint(door.ends, ==, 0); /* the door knows it already */
    g_string_free(door.got, TRUE);
    fm_server_free(server);
}

static void every_end_is_told_once(void)
{
    g_autoptr(GString) log = g_string_new(NULL);
    struct fm_server *server = fm_server_new(NULL);
    struct door door = {g_string_new(NULL), 0};
    struct fm_stream *stream = fm_stream_new(server);
    fm_stream_on_end(stream, note_end, log);
    fm_stream_on_end(stream, note_last, log);
    fm_stream_attach(stream, &door_sink, &door);
    fm_stream_end(stream); /* by this side */
    g_assert_cmpstr(log->str, ==, "end last ");
    g_assert_cmpuint(door.ends, ==, 1);
    g_assert_null(strstr(door.got->str, "late"));

    stream = fm_stream_new(server); /* by the reader */
    fm_stream_on_end(stream, note_end, log);
    fm_stream_gone(stream);
    g_assert_cmpstr(log->str, ==, "end last end ");

    stream = fm_stream_new(server); /* before the door takes it */
    fm_stream_on_end(stream, note_end, log);
    fm_stream_send(stream, "all", "of it");
    fm_stream_end(stream);
    g_assert_null(fm_server_stream(server, fm_stream_id(stream)));
    door.ends = 0;
    g_string_truncate(door.got, 0);
    fm_stream_attach(stream, &door_sink, &door);
    g_assert_cmpstr(log->str, ==, "end last end end ");
    g_assert_nonnull(strstr(door.got->str, "event: all\ndata: of it\n\n"));
    g_assert_cmpuint(door.ends, ==, 1);

    stream = fm_stream_new(server); /* with the server */
    fm_stream_on_end(stream, note_end, log);
    fm_server_free(server);
    g_assert_cmpstr(log->str, ==, "end last end end end ");
    g_string_free(door.got, TRUE);
}

static void streams_are_found_and_bounded(void)
{
    struct fm_server *server = fm_server_new(NULL);
    struct fm_stream *streams[FM_STREAMS_MAX];
    for (unsigned i = 0; i < FM_STREAMS_MAX; i++) {
        streams[i] = fm_stream_new(server);
        g_assert_nonnull(streams[i]);
        g_assert_cmpuint(strlen(fm_stream_id(streams[i])), ==, 32);
        g_assert_true(fm_server_stream(server, fm_stream_id(streams[i])) == streams[i]);
    }
    g_assert_null(fm_stream_new(server));
    g_assert_null(fm_server_stream(server, "no such stream"));
    fm_stream_gone(streams[3]);
    struct fm_stream *again = fm_stream_new(server);
    g_assert_nonnull(again);
    g_assert_true(fm_server_stream(server, fm_stream_id(again)) == again);
    fm_server_free(server);
}

/* What waits for a door that never comes is bounded. */
static void a_backlog_is_bounded(void)
{
    struct fm_server *server = fm_server_new(NULL);
    struct fm_stream *stream = fm_stream_new(server);
    g_autofree char *much = g_strnfill(1 << 20, 'x');
    for (unsigned i = 0; i < 10; i++)
        fm_stream_send(stream, "much", much);
    g_assert_cmpuint(fm_stream_backlog(stream), <=, FM_STREAM_BACKLOG_MAX);
    g_assert_cmpuint(fm_stream_backlog(stream), >, FM_STREAM_BACKLOG_MAX / 2);
    fm_server_free(server);
}

static void a_response_without_a_door_ends_it(void)
{
    g_autoptr(GString) log = g_string_new(NULL);
    struct fm_server *server = fm_server_new(NULL);
    struct fm_stream *stream = fm_stream_new(server);
    fm_stream_on_end(stream, note_end, log);
    struct fm_response response = fm_stream_response(stream);
    g_assert_cmpstr(response.content_type, ==, "text/event-stream");
    fm_response_done(&response);
    g_assert_cmpstr(log->str, ==, "end ");
    fm_server_free(server);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/stream/format", events_are_written_as_the_standard_says);
    g_test_add_func("/serve/stream/ends", every_end_is_told_once);
    g_test_add_func("/serve/stream/bounded", streams_are_found_and_bounded);
    g_test_add_func("/serve/stream/backlog", a_backlog_is_bounded);
    g_test_add_func("/serve/stream/no-door", a_response_without_a_door_ends_it);
    return g_test_run();
}
