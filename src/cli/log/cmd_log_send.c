/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "live/token.h"
#include "cli/log/cmd_log.h"
#include "eventlog/reader/eventlog.h"
#include "eventlog/monitor/monitor.h"
#include "eventlog/transport/transport.h"
#include "eventlog/output/writer.h"

enum {
    TOKEN_WAIT_MS = 10000,
    HELD_BYTES = 64 << 10,
    DATAGRAM_PAYLOAD = 1400,
    BURST = 64, /* datagrams between pauses: UDP has no way to say "slower" */
};

struct sender {
    const char *file;
    struct fm_transport_address address;
    char *token, *token_file;
    int payload_max;
    gboolean single_events;
    uint64_t from_ns; /* messages: what is over by then is told by the state */
};

/* One peer. */
struct link {
    const struct sender *sender;
    int fd;
    GByteArray *held;
    uint64_t datagrams;
};

static bool flush_link(struct link *link, GError **error)
{
    bool sent = fm_eventlog_write_fd(&link->fd, link->held->data, link->held->len, error);
    g_byte_array_set_size(link->held, 0);
    return sent;
}

static bool send_message(void *user, const struct fm_monitor_message *message, GError **error)
{
    struct link *link = user;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    fm_monitor_encode(bytes, message);
    if (link->sender->address.kind == FM_TRANSPORT_UDP) {
        if (++link->datagrams % BURST == 0)
            g_usleep(1000);
        return fm_eventlog_write_fd(&link->fd, bytes->data, bytes->len, error);
    }
    fm_frame_append(link->held, bytes->data, bytes->len);
    return link->held->len < HELD_BYTES || flush_link(link, error);
}

/* Sends what a monitor sends: the state after the earlier events, the header, then events. */
struct message_stream {
    struct fm_monitor_splitter splitter;
    struct fm_monitor_state *state;
    struct fm_eventlog_header *header; /* NULL = not read yet */
    uint64_t from_ns;
    bool begun; /* state and header have been sent */
};

static bool begin_messages(struct message_stream *stream, GError **error)
{
    g_assert(!stream->begun);
    g_autoptr(GByteArray) encoded = g_byte_array_new();
    fm_monitor_state_encode(stream->state, encoded);
    stream->begun = true;
    return fm_monitor_split_state(&stream->splitter, encoded->data, encoded->len, error) &&
           (stream->header == NULL ||
            fm_monitor_split_header(&stream->splitter, stream->header, error));
}

/* Whole blocks: the first that ends at from_ns or later, or has no end, begins the stream. */
static bool send_event(struct message_stream *stream, const struct fm_eventlog_event *event,
                       GError **error)
{
    bool marker = event->number == FM_EVENTLOG_BLOCK_MARKER && event->payload_length >= 14;
    uint64_t end_ns = marker ? fm_eventlog_u64(event, 4) : event->time_ns;
    bool over = end_ns < stream->from_ns && !(marker && end_ns < event->time_ns);
    if (!stream->begun && over) {
        fm_monitor_state_event(stream->state, event);
        return true;
    }
    return (stream->begun || begin_messages(stream, error)) &&
           fm_monitor_split_event(&stream->splitter, event, error);
}

static bool read_messages(struct message_stream *stream, struct fm_eventlog_source *source,
                          GError **error)
{
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    for (;;) {
        struct fm_eventlog_event event;
        switch (fm_eventlog_source_next(source, &event, error)) {
        case FM_EVENTLOG_HAS_EVENT:
            if (!send_event(stream, &event, error))
                return false;
            break;
        case FM_EVENTLOG_HAS_HEADER:
            if (stream->header != NULL) /* one connection carries one log */
                return true;
            stream->header = fm_eventlog_header_ref(fm_eventlog_reader_header(reader));
            break;
        case FM_EVENTLOG_FINISHED:
            return true;
        case FM_EVENTLOG_FAILED:
            return false;
        default:
            break;
        }
    }
}

/* The file as the monitor's messages. */
static bool send_messages(struct link *link, struct fm_eventlog_source *source, GError **error)
{
    const struct sender *sender = link->sender;
    struct message_stream stream = {.from_ns = sender->from_ns, .state = fm_monitor_state_new()};
    bool datagrams = sender->address.kind == FM_TRANSPORT_UDP;
    size_t most =
        sender->payload_max > 0 ? (size_t)sender->payload_max : (datagrams ? DATAGRAM_PAYLOAD : 0);
    fm_monitor_splitter_init(&stream.splitter, most, send_message, link);
    stream.splitter.single_events = sender->single_events;
    bool good =
        read_messages(&stream, source, error) && (stream.begun || begin_messages(&stream, error)) &&
        fm_monitor_split_flush(&stream.splitter, error) && (datagrams || flush_link(link, error));
    fm_monitor_splitter_done(&stream.splitter);
    fm_monitor_state_free(stream.state);
    fm_eventlog_header_unref(stream.header);
    return good;
}

/* The file as it is. */
static bool send_plain(struct link *link, struct fm_eventlog_source *source, GError **error)
{
    FILE *file = fopen(fm_eventlog_source_name(source), "re");
    if (file == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", fm_eventlog_source_name(source),
                    g_strerror(errno));
        return false;
    }
    g_autofree uint8_t *bytes = g_malloc(HELD_BYTES);
    size_t got;
    bool good = true;
    while (good && (got = fread(bytes, 1, HELD_BYTES, file)) > 0)
        good = fm_eventlog_write_fd(&link->fd, bytes, got, error);
    fclose(file);
    return good;
}

static bool carries_messages(const struct fm_transport_address *address)
{
    return address->kind == FM_TRANSPORT_MONITOR || address->kind == FM_TRANSPORT_UDP;
}

static bool send_file(struct link *link, GError **error)
{
    struct fm_eventlog_source *source = fm_eventlog_source_open(link->sender->file, error);
    if (source == NULL)
        return false;
    bool messages = carries_messages(&link->sender->address);
    bool good = messages ? send_messages(link, source, error) : send_plain(link, source, error);
    fm_eventlog_source_free(source);
    return good;
}

static void refuse(int fd, uint8_t status)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    fm_refusal_append(bytes, status);
    if (send(fd, bytes->data, bytes->len, MSG_NOSIGNAL) == (ssize_t)bytes->len)
        shutdown(fd, SHUT_WR);
}

/* Waits for the token, which clients must send first; reports a client that sends a wrong one. */
static bool has_token(int fd, const char *token, GError **error)
{
    uint8_t status = FM_REFUSAL_TOKEN_NEEDED;
    g_autofree char *wanted = g_strdup_printf("token=%s", token);
    struct fm_control_parser parser = {0};
    gint64 give_up = g_get_monotonic_time() + TOKEN_WAIT_MS * G_GINT64_CONSTANT(1000);
    while (g_get_monotonic_time() < give_up && !fm_cmd_log_stop && parser.skipped == 0) {
        struct pollfd poll_fd = {fd, POLLIN, 0};
        uint8_t byte;
        struct fm_control_message message;
        bool found;
        if (poll(&poll_fd, 1, 100) <= 0)
            continue;
        if (read(fd, &byte, 1) != 1)
            break;
        fm_control_parse(&parser, &byte, 1, &message, &found);
        if (found && message.number == 0 && strcmp(message.space, wanted) == 0)
            return true;
        if (found) {
            status = FM_REFUSAL_WRONG_TOKEN;
            break;
        }
    }
    refuse(fd, status);
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "a client did not send the token");
    return false;
}

static void *serve_client(void *data)
{
    struct link *link = data;
    GError *error = NULL;
    bool datagrams = link->sender->address.kind == FM_TRANSPORT_UDP;
    if ((datagrams || link->sender->token == NULL ||
         has_token(link->fd, link->sender->token, &error)) &&
        send_file(link, &error)) {
        /* The peer reads to the end before the connection is closed. */
        shutdown(link->fd, SHUT_WR);
    } else if (error != NULL) {
        fm_console_print_error("fathom log send: %s", error->message);
        g_error_free(error);
    }
    g_byte_array_unref(link->held);
    close(link->fd);
    g_free(link);
    return NULL;
}

static struct link *link_new(const struct sender *sender, int fd)
{
    struct link *link = g_new0(struct link, 1);
    link->sender = sender;
    link->fd = fd;
    link->held = g_byte_array_new();
    return link;
}

static bool wait_readable(int fd)
{
    struct pollfd poll_fd = {fd, POLLIN, 0};
    while (!fm_cmd_log_stop) {
        if (poll(&poll_fd, 1, 100) > 0)
            return true;
    }
    return false;
}

/* The first datagram tells where to send; with a token it must be the token. */
static bool wait_peer(const struct sender *sender, int fd, GError **error)
{
    while (wait_readable(fd)) {
        uint8_t bytes[FM_CONTROL_LENGTH_MAX];
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        ssize_t got = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&peer, &length);
        struct fm_control_parser parser = {0};
        struct fm_control_message message = {0};
        bool found = false;
        g_autofree char *wanted = g_strdup_printf("token=%s", sender->token);
        if (got > 0 && sender->token != NULL)
            fm_control_parse(&parser, bytes, (size_t)got, &message, &found);
        if (got < 0)
            continue;
        if (sender->token != NULL && !(found && strcmp(message.space, wanted) == 0)) {
            g_autoptr(GByteArray) told = g_byte_array_new();
            fm_refusal_append(told, found ? FM_REFUSAL_WRONG_TOKEN : FM_REFUSAL_TOKEN_NEEDED);
            sendto(fd, told->data, told->len, MSG_NOSIGNAL, (struct sockaddr *)&peer, length);
            continue;
        }
        if (connect(fd, (struct sockaddr *)&peer, length) == 0)
            return true;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "no receiver sent a message");
    return false;
}

static int serve(const struct sender *sender, int clients)
{
    GError *error = NULL;
    uint16_t port;
    int fd = fm_transport_listen(&sender->address, sender->token, &port, &error);
    if (fd < 0)
        return fm_console_fail("log send", error);
    fm_cmd_log_say_listening(stdout, &sender->address, port);
    if (sender->address.kind == FM_TRANSPORT_UDP) {
        if (!wait_peer(sender, fd, &error)) {
            close(fd);
            return fm_console_fail("log send", error);
        }
        serve_client(link_new(sender, fd));
        return FM_EXIT_DONE;
    }
    g_autoptr(GPtrArray) threads = g_ptr_array_new();
    for (int served = 0; (clients == 0 || served < clients) && wait_readable(fd); served++) {
        int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            g_ptr_array_add(threads,
                            g_thread_new("client", serve_client, link_new(sender, client)));
    }
    close(fd);
    if (sender->address.kind == FM_TRANSPORT_UNIX)
        unlink(sender->address.path);
    for (guint i = 0; i < threads->len; i++)
        g_thread_join(threads->pdata[i]);
    return FM_EXIT_DONE;
}

static int send_to(const struct sender *sender, double wait_s)
{
    g_assert(wait_s >= 0);
    GError *error = NULL;
    int fd = fm_transport_connect(&sender->address, (int)(wait_s * 1000), sender->token, &error);
    if (fd < 0)
        return fm_console_fail("log send", error);
    struct link *link = link_new(sender, fd);
    bool sent = send_file(link, &error);
    g_byte_array_unref(link->held);
    g_free(link);
    close(fd);
    return sent ? FM_EXIT_DONE : fm_console_fail("log send", error);
}

int fm_cmd_log_send(int argc, char **argv)
{
    struct sender sender = {0};
    gboolean listening = FALSE;
    int clients = 1;
    double wait_s = 0;
    g_autofree char *from = NULL;
    const GOptionEntry options[] = {
        {"listen", 'l', 0, G_OPTION_ARG_NONE, &listening,
         "Wait for clients instead of connecting; port 0: any free port, which is printed", NULL},
        {"clients", 0, 0, G_OPTION_ARG_INT, &clients,
         "With --listen: end after N clients (default 1, 0 = never)", "N"},
        {"wait", 0, 0, G_OPTION_ARG_DOUBLE, &wait_s, "Wait SECONDS for the receiver", "SECONDS"},
        FM_CLI_TOKEN_OPTIONS(sender.token, sender.token_file,
                             "Require TOKEN from clients; needed for addresses beyond loopback"),
        {"payload-max", 0, 0, G_OPTION_ARG_INT, &sender.payload_max,
         "Messages: split payloads longer than BYTES (default: never over TCP, 1400 over UDP)",
         "BYTES"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &from,
         "Messages: start with the state before TIME, then the first block that ends at TIME or "
         "later",
         "TIME"},
        {"single-events", 0, 0, G_OPTION_ARG_NONE, &sender.single_events,
         "Messages: send one event per message (2016 protocol)", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "FILE ADDRESS",
                              "Sends a log. ADDRESS is unix:PATH or tcp:HOST:PORT for the plain "
                              "log, monitor:HOST:PORT or udp:HOST:PORT for the monitor's messages.",
                              "fathom log send --listen program.eventlog tcp:127.0.0.1:4242");
    GError *error = NULL;
    if (status < 0 && argc != 3)
        status =
            fm_console_usage("log send", "expected FILE and ADDRESS, got %d arguments", argc - 1);
    if (status < 0 && !fm_live_token_find(&sender.token, sender.token_file, &error))
        status = fm_console_fail("log send", error);
    if (status < 0 && !fm_transport_parse(argv[2], &sender.address, &error))
        status = fm_console_fail("log send", error);
    if (status < 0 && from != NULL && !fm_cmd_log_parse_time(from, &sender.from_ns, &error))
        status = fm_console_fail("log send", error);
    if (status < 0 && from != NULL && !carries_messages(&sender.address))
        status = fm_console_usage(
            "log send",
            "--from needs monitor:HOST:PORT or udp:HOST:PORT, whose messages have the state");
    if (status < 0) {
        sender.file = argv[1];
        fm_cmd_log_catch_signals();
        struct fm_eventlog_source *source = fm_eventlog_source_open(argv[1], &error);
        if (source == NULL) {
            status = fm_console_fail("log send", error);
        } else {
            fm_eventlog_source_free(source);
            status = listening ? serve(&sender, clients) : send_to(&sender, wait_s);
        }
    }
    fm_transport_done(&sender.address);
    g_free(sender.token);
    g_free(sender.token_file);
    return status;
}
