/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "live/token.h"
#include "cli/log/cmd_log.h"
#include "eventlog/transport/transport.h"
#include "eventlog/output/writer.h"

enum { POLL_MS = 100, UDP_IDLE_S = 5 };

struct receiver {
    char *output, *token, *token_file;
    double wait_s, idle_s;
    gboolean listening;
    struct fm_eventlog_writer *writer;
    uint64_t events;
    int status;
};

/* Writes the items that the reader has. Returns false when the log is over. */
static bool write_items(struct receiver *receiver, struct fm_eventlog_source *source,
                        GError **error)
{
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    for (;;) {
        struct fm_eventlog_event event;
        bool written = true;
        switch (fm_eventlog_reader_next(reader, &event, error)) {
        case FM_EVENTLOG_HAS_EVENT:
            receiver->events += event.number != FM_EVENTLOG_BLOCK_MARKER;
            written = fm_eventlog_writer_raw(receiver->writer, &event, error);
            break;
        case FM_EVENTLOG_HAS_HEADER:
            written = fm_eventlog_writer_header(receiver->writer, fm_eventlog_reader_header(reader),
                                                error);
            break;
        case FM_EVENTLOG_HAS_GAP:
            fm_cmd_log_report_gap("log recv", fm_eventlog_source_name(source),
                                  fm_eventlog_reader_gap(reader));
            receiver->status = FM_EXIT_FAILED;
            break;
        case FM_EVENTLOG_HAS_END:
            written = fm_eventlog_writer_end(receiver->writer, error);
            break;
        case FM_EVENTLOG_MORE:
            return fm_eventlog_writer_flush(receiver->writer, error);
        case FM_EVENTLOG_FINISHED:
            fm_eventlog_writer_flush(receiver->writer, error);
            return false;
        case FM_EVENTLOG_FAILED:
            return false;
        }
        if (!written)
            return false;
    }
}

static void receive(struct receiver *receiver, struct fm_eventlog_source *source, GError **error)
{
    gint64 heard_us = g_get_monotonic_time();
    while (write_items(receiver, source, error)) {
        enum fm_eventlog_fill fill;
        do {
            fill = fm_eventlog_source_fill(source, POLL_MS, NULL, error);
            if (fill != FM_EVENTLOG_FILL_TIMEOUT)
                heard_us = g_get_monotonic_time();
            else if (receiver->idle_s > 0 &&
                     (double)(g_get_monotonic_time() - heard_us) / 1e6 >= receiver->idle_s)
                return;
        } while (fill == FM_EVENTLOG_FILL_TIMEOUT && !fm_cmd_log_stop);
        if (fill == FM_EVENTLOG_FILL_FAILED || fm_cmd_log_stop)
            return;
    }
}

/* Listens and takes the first peer. */
static struct fm_eventlog_source *accept_source(const struct receiver *receiver, const char *place,
                                                const struct fm_transport_address *address,
                                                GError **error)
{
    uint16_t port;
    int fd = fm_transport_listen(address, receiver->token, &port, error);
    if (fd < 0)
        return NULL;
    fm_cmd_log_say_listening(stderr, address, port);
    if (address->kind == FM_TRANSPORT_UDP)
        return fm_eventlog_source_take_monitor(fd, place, true, NULL);
    struct pollfd poll_fd = {fd, POLLIN, 0};
    gint64 give_up = g_get_monotonic_time() + (gint64)(receiver->wait_s * 1e6);
    int peer = -1;
    while (peer < 0 && !fm_cmd_log_stop &&
           (receiver->wait_s <= 0 || g_get_monotonic_time() < give_up)) {
        if (poll(&poll_fd, 1, POLL_MS) > 0)
            peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    }
    close(fd);
    if (address->kind == FM_TRANSPORT_UNIX)
        unlink(address->path);
    if (peer < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: no sender connected", place);
        return NULL;
    }
    return address->kind == FM_TRANSPORT_MONITOR
               ? fm_eventlog_source_take_monitor(peer, place, false, NULL)
               : fm_eventlog_source_take(peer, place);
}

static int run(struct receiver *receiver, const char *place)
{
    GError *error = NULL;
    struct fm_transport_address address;
    if (!fm_transport_parse(place, &address, &error))
        return fm_console_fail("log recv", error);
    if (receiver->idle_s <= 0 && address.kind == FM_TRANSPORT_UDP)
        receiver->idle_s = UDP_IDLE_S; /* datagrams have no end of their own */
    fm_cmd_log_catch_signals();
    struct fm_eventlog_source *source =
        receiver->listening ? accept_source(receiver, place, &address, &error)
                            : fm_eventlog_source_connect(place, (int)(receiver->wait_s * 1000),
                                                         receiver->token, &error);
    fm_transport_done(&address);
    if (source == NULL)
        return fm_console_fail("log recv", error);
    int fd = receiver->output == NULL
                 ? dup(STDOUT_FILENO)
                 : open(receiver->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        g_set_error(&error, FM_ERROR, FM_ERROR_IO, "%s: %s", receiver->output, g_strerror(errno));
    } else {
        receiver->writer = fm_eventlog_writer_new(fm_eventlog_write_fd, &fd);
        receive(receiver, source, &error);
        if (error == NULL)
            fm_eventlog_writer_flush(receiver->writer, &error);
        fm_eventlog_writer_free(receiver->writer);
        close(fd);
    }
    fm_eventlog_source_free(source);
    fprintf(stderr, "%" PRIu64 " events received\n", receiver->events);
    return error != NULL ? fm_console_fail("log recv", error) : receiver->status;
}

int fm_cmd_log_recv(int argc, char **argv)
{
    struct receiver receiver = {0};
    const GOptionEntry options[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &receiver.output,
         "Write to FILE (default: standard output)", "FILE"},
        {"listen", 'l', 0, G_OPTION_ARG_NONE, &receiver.listening,
         "Wait for one sender instead of connecting; port 0: any free port, printed on standard "
         "error",
         NULL},
        {"wait", 0, 0, G_OPTION_ARG_DOUBLE, &receiver.wait_s, "Wait SECONDS for the sender",
         "SECONDS"},
        {"idle", 'i', 0, G_OPTION_ARG_DOUBLE, &receiver.idle_s,
         "Stop after SECONDS without data (default: never, 5 with udp:)", "SECONDS"},
        FM_CLI_TOKEN_OPTIONS(receiver.token, receiver.token_file, "Send TOKEN to the server"),
        {NULL},
    };
    int status =
        fm_cli_parse(&argc, &argv, options, "ADDRESS",
                     "Receives a log and writes it as a plain log of whole events. ADDRESS "
                     "is unix:PATH, tcp:HOST:PORT, monitor:HOST:PORT or udp:HOST:PORT.",
                     "fathom log recv -o program.eventlog tcp:127.0.0.1:4242");
    if (status < 0 && argc != 2)
        status = fm_console_usage("log recv", "expected one ADDRESS, got %d arguments", argc - 1);
    GError *error = NULL;
    if (status < 0 && !fm_live_token_find(&receiver.token, receiver.token_file, &error))
        status = fm_console_fail("log recv", error);
    if (status < 0)
        status = run(&receiver, argv[1]);
    g_free(receiver.output);
    g_free(receiver.token);
    g_free(receiver.token_file);
    return status;
}

struct answer {
    bool got;
    struct fm_control_message message;
};

static void take_answer(void *user, const struct fm_control_message *message)
{
    struct answer *answer = user;
    answer->got = true;
    answer->message = *message;
}

/* Reads the stream until the answer comes. */
static int wait_answer(struct fm_eventlog_source *source, double timeout_s)
{
    g_assert(timeout_s >= 0);
    struct answer answer = {0};
    GError *error = NULL;
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    gint64 give_up = g_get_monotonic_time() + (gint64)(timeout_s * 1e6);
    fm_eventlog_reader_expect_answers(reader, take_answer, &answer);
    while (!answer.got && g_get_monotonic_time() < give_up && !fm_cmd_log_stop) {
        struct fm_eventlog_event event;
        enum fm_eventlog_status status = fm_eventlog_reader_next(reader, &event, &error);
        if (status == FM_EVENTLOG_FINISHED || status == FM_EVENTLOG_FAILED)
            break;
        if (status == FM_EVENTLOG_MORE &&
            fm_eventlog_source_fill(source, POLL_MS, NULL, &error) == FM_EVENTLOG_FILL_FAILED)
            break;
    }
    if (error != NULL)
        return fm_console_fail("log control", error);
    if (!answer.got) {
        fprintf(stderr, "fathom log control: no answer came\n");
        return FM_EXIT_FAILED;
    }
    static const struct {
        uint8_t status;
        const char *text;
    } words[] = {
        {0, "done"}, {250, "unknown name space"}, {251, "unknown number"}, {252, "refused"}};
    const char *word = "status of the command's own";
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (words[i].status == answer.message.status)
            word = words[i].text;
    }
    printf("%s/%u: %u (%s)\n", answer.message.space, answer.message.number, answer.message.status,
           word);
    return answer.message.status == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

int fm_cmd_log_control(int argc, char **argv)
{
    g_autofree char *token = NULL, *token_file = NULL;
    double timeout_s = 5;
    gboolean silent = FALSE;
    const GOptionEntry options[] = {
        FM_CLI_TOKEN_OPTIONS(token, token_file, "Send TOKEN to the server"),
        {"timeout", 0, 0, G_OPTION_ARG_DOUBLE, &timeout_s,
         "Wait SECONDS for the answer (default 5)", "SECONDS"},
        {"silent", 0, 0, G_OPTION_ARG_NONE, &silent,
         "Request no answer, for programs that use eventlog-socket, which sends none", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "ADDRESS COMMAND",
                              "Sends a control message to a program that serves its log at "
                              "unix:PATH or tcp:HOST:PORT. COMMAND is start-profiling, "
                              "stop-profiling, start-heap-profiling, stop-heap-profiling, "
                              "request-heap-census, flush, pause, resume or SPACE/NUMBER.",
                              "fathom log control unix:/tmp/program.sock flush");
    if (status >= 0)
        return status;
    if (argc != 3)
        return fm_console_usage("log control", "expected ADDRESS and COMMAND, got %d arguments",
                                argc - 1);
    GError *error = NULL;
    if (!fm_live_token_find(&token, token_file, &error))
        return fm_console_fail("log control", error);
    struct fm_control_message message;
    if (!fm_control_named(argv[2], &message, &error))
        return fm_console_fail("log control", error);
    message.version = silent ? FM_CONTROL_SILENT : FM_CONTROL_ANSWERED;
    struct fm_transport_address address;
    if (!fm_transport_parse(argv[1], &address, &error))
        return fm_console_fail("log control", error);
    fm_cmd_log_catch_signals();
    int fd = fm_transport_connect(&address, 0, token, &error);
    fm_transport_done(&address);
    if (fd < 0)
        return fm_console_fail("log control", error);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    fm_control_append(bytes, &message, false);
    struct fm_eventlog_source *source = fm_eventlog_source_take_connection(fd, argv[1]);
    if (!fm_eventlog_write_fd(&fd, bytes->data, bytes->len, &error))
        status = fm_console_fail("log control", error);
    else
        status = silent ? FM_EXIT_DONE : wait_answer(source, timeout_s);
    fm_eventlog_source_free(source);
    return status;
}
