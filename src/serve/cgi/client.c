/* SPDX-License-Identifier: Apache-2.0 */
/* One CGI request: C1 to C8. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/cgi/internal.h"
#include "serve/response.h"

#define DEADLINE_MS 60000
#define READ_SIZE 65536

enum send_outcome { SENT, NO_SERVER, TRY_AGAIN, BUSY, UNUSABLE, EXHAUSTED };

/* The server that a query was sent to. */
struct peer {
    int server_fd; /* KEY.server, for its lock */
    pid_t holder;
    char instance[FM_CGI_INSTANCE_SIZE];
};

static bool read_instance(int server_fd, char instance[FM_CGI_INSTANCE_SIZE])
{
    ssize_t got = pread(server_fd, instance, FM_CGI_INSTANCE_SIZE - 1, 0);
    instance[FM_CGI_INSTANCE_SIZE - 1] = '\0';
    return got == FM_CGI_INSTANCE_SIZE - 1 &&
           strspn(instance, "0123456789abcdef") == FM_CGI_INSTANCE_SIZE - 1;
}

/* Step C2: a want file gets its name only when it is locked and complete. */
static bool make_want(struct fm_cgi_client *client)
{
    g_autofree char *temporary = fm_cgi_place_name(client->place, ".tmp.", client->token);
    int dir_fd = client->place->dir_fd;
    int fd = openat(dir_fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    g_autoptr(GByteArray) bytes = fm_cgi_want_encode(client->request);
    fm_cgi_stop_point("C2");
    int wanted_errno = fm_cgi_fail_point("C2.write");
    if (!fm_cgi_lock_fd(dir_fd, temporary, fd) || wanted_errno != 0 ||
        write(fd, bytes->data, bytes->len) != (ssize_t)bytes->len ||
        renameat(dir_fd, temporary, dir_fd, client->want_name) != 0) {
        unlinkat(dir_fd, temporary, 0);
        close(fd);
        return false;
    }
    client->want_fd = fd;
    return true;
}

/* Step C3, repeated for each attempt, because a new FIFO cannot contain an older reply. */
static bool make_reply_fifo(struct fm_cgi_client *client)
{
    int dir_fd = client->place->dir_fd;
    if (client->reply_fd >= 0)
        close(client->reply_fd);
    client->reply_fd = -1;
    if (unlinkat(dir_fd, client->reply_name, 0) != 0 && errno != ENOENT)
        return false;
    if (mkfifoat(dir_fd, client->reply_name, 0600) != 0)
        return false;
    client->reply_fd = fm_cgi_open_ours(dir_fd, client->reply_name, O_RDONLY, S_IFIFO);
    return client->reply_fd >= 0;
}

static int finish_with_error(struct fm_cgi_client *client, unsigned status, const char *text)
{
    struct fm_response response;
    fm_response_message(client->request, status, text, &response);
    fm_cgi_client_finish(client, &response);
    return status < 400 || status == 503 ? 0 : 1;
}

/* Reports, once a request, that a foreign file has one of the protocol's names. True when there is
 * one. */
static bool tell_stranger(struct fm_cgi_client *client, const char *name, mode_t expected)
{
    g_autofree char *what = fm_cgi_describe_stranger(client->place->dir_fd, name, expected);
    if (what != NULL && !client->stranger_told)
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "%s/%s", client->place->dir_path, what);
    client->stranger_told |= what != NULL;
    return what != NULL;
}

/* Step C6: sends the frame to the server that holds the life lock. */
static enum send_outcome send_frame(struct fm_cgi_client *client, struct peer *peer)
{
    if (!read_instance(peer->server_fd, peer->instance))
        return TRY_AGAIN;
    int query_fd =
        fm_cgi_open_ours(client->place->dir_fd, client->place->query_name, O_WRONLY, S_IFIFO);
    if (query_fd < 0) {
        if (fm_cgi_is_exhaustion(errno))
            return EXHAUSTED;
        tell_stranger(client, client->place->query_name, S_IFIFO); /* the server will notice, too */
        return TRY_AGAIN;                                          /* it is starting or ending */
    }
    struct fm_cgi_frame frame = {.op = client->op == FM_CGI_OP_QUIT ? FM_CGI_OP_QUIT
                                                                    : FM_CGI_OP_QUERY,
                                 .attempt = client->attempt};
    memcpy(frame.token, client->token, FM_CGI_TOKEN_SIZE);
    char first[17];
    g_strlcpy(first, peer->instance, sizeof first);
    frame.instance = g_ascii_strtoull(first, NULL, 16);
    uint8_t bytes[FM_CGI_FRAME_SIZE];
    fm_cgi_frame_encode(&frame, bytes);
    fm_cgi_stop_point("C6.opened");
    bool sent = write(query_fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    fm_cgi_stop_point("C6.written");
    close(query_fd);
    return sent ? SENT : TRY_AGAIN;
}

/* From now on a client that ends may unlink the mutex, as a server does in T5. */
static void note_serverless(struct fm_cgi_client *client)
{
    client->serverless = true;
    fm_cgi_ending_note_mutex(true);
}

/* Steps C4 to C6. On SENT *peer is open; on NO_SERVER the mutex is held; otherwise neither. */
static enum send_outcome send_query(struct fm_cgi_client *client, struct peer *peer)
{
    client->mutex_fd =
        fm_cgi_lock(client->place->dir_fd, client->place->mutex_name, client->deadline_ms);
    if (client->mutex_fd < 0 && errno == EAGAIN)
        return BUSY;
    if (client->mutex_fd < 0 && fm_cgi_is_exhaustion(errno))
        return EXHAUSTED;
    if (client->mutex_fd < 0) {
        tell_stranger(client, client->place->mutex_name, S_IFREG);
        return UNUSABLE;
    }
    fm_cgi_stop_point("C4");
    peer->server_fd =
        fm_cgi_open_ours(client->place->dir_fd, client->place->server_name, O_RDWR, S_IFREG);
    if (peer->server_fd < 0 && fm_cgi_is_exhaustion(errno)) {
        fm_cgi_client_release_mutex(client); /* it is not known whether a server runs */
        return EXHAUSTED;
    }
    if (peer->server_fd < 0) {
        note_serverless(client);
        return tell_stranger(client, client->place->server_name, S_IFREG) ? UNUSABLE : NO_SERVER;
    }
    peer->holder = fm_cgi_lock_holder(peer->server_fd);
    if (peer->holder == 0) {
        close(peer->server_fd);
        note_serverless(client);
        return NO_SERVER;
    }
    fm_cgi_stop_point("C5");
    enum send_outcome outcome = send_frame(client, peer);
    if (outcome != SENT)
        close(peer->server_fd);
    fm_cgi_client_release_mutex(client);
    return outcome;
}

/* Whether the server still lives. The lock is not enough: a successor may have locked the same
 * inode. */
static bool is_alive(const struct peer *peer)
{
    char instance[FM_CGI_INSTANCE_SIZE];
    return fm_cgi_lock_holder(peer->server_fd) == peer->holder &&
           read_instance(peer->server_fd, instance) && strcmp(instance, peer->instance) == 0;
}

/* Reads all that is available. */
static void read_available(int fd, GByteArray *bytes)
{
    ssize_t got;
    do {
        guint before = bytes->len;
        g_byte_array_set_size(bytes, before + READ_SIZE);
        got = read(fd, bytes->data + before, READ_SIZE);
        g_byte_array_set_size(bytes, before + (guint)MAX(got, 0));
    } while (got > 0 || (got < 0 && errno == EINTR));
}

enum receive_outcome { RECEIVED, LOST, LATE };

/* Step C7. POLLHUP comes only after a writer has opened and closed the FIFO; with an incomplete
 * reply it means that the server dropped this client or died. */
static enum receive_outcome receive_reply(struct fm_cgi_client *client, const struct peer *peer,
                                          struct fm_response *ret)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (;;) {
        struct pollfd poll_fd = {client->reply_fd, POLLIN, 0};
        int ready = poll(&poll_fd, 1, fm_cgi_wait_ms(client->deadline_ms, FM_CGI_SLICE_MS));
        fm_cgi_stop_point("C7");
        bool alive = ready > 0 ? (poll_fd.revents & POLLHUP) == 0 : is_alive(peer);
        /* after checking that it lives, so that nothing is missed */
        read_available(client->reply_fd, bytes);
        switch (fm_cgi_reply_decode(bytes, client->token, client->attempt, ret)) {
        case FM_CGI_REPLY_COMPLETE:
            return RECEIVED;
        case FM_CGI_REPLY_BAD:
            return LOST;
        case FM_CGI_REPLY_PARTIAL:
            break;
        }
        if (!alive)
            return LOST;
        if (fm_cgi_now_ms() >= client->deadline_ms)
            return LATE;
    }
}

/* Step C9', for page requests. */
static int answer_alone(struct fm_cgi_client *client)
{
    if (client->op != FM_CGI_OP_QUERY)
        return finish_with_error(client, 503, "The runtime directory cannot be used.");
    return fm_cgi_answer_alone(client);
}

/* No server of this build runs; one of another build may. */
static int finish_quit(struct fm_cgi_client *client)
{
    return finish_with_error(client, 200,
                             fm_cgi_end_path(client->place) > 0 ? "The server is ending."
                                                                : "No server was running.");
}

static int run_client(struct fm_cgi_client *client)
{
    uint64_t back_off_ms = 10;
    for (;;) {
        struct peer peer;
        switch (send_query(client, &peer)) {
        case NO_SERVER:
            if (client->op == FM_CGI_OP_QUIT)
                return finish_quit(client);
            if (client->op == FM_CGI_OP_COMMAND)
                return finish_with_error(client, client->without_status, client->without_server);
            return fm_cgi_load_and_serve(client);
        case UNUSABLE:
            return answer_alone(client);
        case EXHAUSTED:
            return finish_with_error(client, 503, FM_CGI_EXHAUSTED_TEXT);
        case BUSY:
            return finish_with_error(client, 503,
                                     "The server is busy or loading; reload the page.");
        case TRY_AGAIN:
            if (fm_cgi_now_ms() >= client->deadline_ms)
                return finish_with_error(client, 503, "The server is busy; reload the page.");
            fm_cgi_sleep_ms((uint64_t)fm_cgi_wait_ms(client->deadline_ms, back_off_ms));
            back_off_ms = MIN(back_off_ms * 2, FM_CGI_BUSY_RETRY_MS);
            continue;
        case SENT:
            break;
        }
        struct fm_response response;
        enum receive_outcome outcome = receive_reply(client, &peer, &response);
        close(peer.server_fd);
        if (outcome == RECEIVED && client->op == FM_CGI_OP_QUIT)
            fm_cgi_end_path(client->place);
        if (outcome == RECEIVED)
            return fm_cgi_client_finish(client, &response);
        if (outcome == LATE)
            return finish_with_error(client, 503,
                                     "The server did not answer in time; reload the page.");
        fm_cgi_log(client->log, FM_CGI_LOG_ALL, "attempt %u: the server went away",
                   client->attempt);
        if (++client->attempt > FM_CGI_ATTEMPTS_MAX)
            return finish_with_error(client, 503,
                                     "The server went away three times; reload the page.");
        if (!make_reply_fifo(client))
            return answer_alone(client);
    }
}

/* No runtime directory can be used: the page is made without a server. */
static int answer_without_place(struct fm_cgi_client *client, const char *path)
{
    struct fm_cgi_place nowhere = {.dir_fd = -1, .data_path = g_strdup(path)};
    client->place = &nowhere;
    int status = fm_cgi_answer_alone(client);
    g_free(nowhere.data_path);
    return status;
}

static int answer(struct fm_cgi_client *client, const char *path)
{
    if (client->options->inhibit_fork && client->op == FM_CGI_OP_QUERY)
        return answer_without_place(client, path);
    struct fm_cgi_place place = {.dir_fd = -1};
    g_autoptr(GError) error = NULL;
    if (!fm_cgi_place_init(client->options, client->log, path, &place, &error)) {
        if (fm_cgi_is_exhausted())
            return finish_with_error(client, 503, FM_CGI_EXHAUSTED_TEXT);
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "%s", error->message);
        if (g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE) && client->op == FM_CGI_OP_QUERY)
            return answer_without_place(client, path);
        return finish_with_error(client, 404, error->message);
    }
    client->place = &place;
    if (client->options->log_in_runtime)
        fm_cgi_log_open(client->log, place.dir_fd, FM_CGI_LOG_NAME);
    fm_cgi_log(client->log, FM_CGI_LOG_ALL, "query %s for %s",
               client->request->query != NULL ? client->request->query : "", path);
    fm_cgi_make_token(client->token);
    client->want_name = fm_cgi_place_name(&place, ".want.", client->token);
    client->reply_name = fm_cgi_place_name(&place, ".reply.", client->token);
    g_autofree char *new_want = fm_cgi_place_name(&place, ".tmp.", client->token);
    fm_cgi_ending_names(place.dir_fd, client->want_name, new_want, client->reply_name,
                        place.mutex_name);
    int status;
    if (make_want(client) && make_reply_fifo(client))
        status = run_client(client);
    else if (fm_cgi_is_exhausted())
        status = finish_with_error(client, 503, FM_CGI_EXHAUSTED_TEXT);
    else
        status = answer_alone(client);
    g_free(client->want_name);
    g_free(client->reply_name);
    fm_cgi_place_done(&place);
    return status;
}

/* Sets the fields that all requests need; the caller adds its own. */
static void client_init(struct fm_cgi_client *client, const struct fm_cgi_options *options,
                        const struct fm_request *request, enum fm_cgi_op op, int out_fd)
{
    uint64_t limit_ms = options->deadline_ms != 0 ? options->deadline_ms : DEADLINE_MS;
    *client = (struct fm_cgi_client){
        .options = options,
        .request = request,
        .op = op,
        .out_fd = out_fd,
        .deadline_ms = fm_cgi_now_ms() + limit_ms,
        .attempt = 1,
        .want_fd = -1,
        .reply_fd = -1,
        .mutex_fd = -1,
        .room_fd = -1,
    };
}

static int run(struct fm_cgi_client *client, const char *path)
{
    struct fm_cgi_log log;
    fm_cgi_ending_begin(client->out_fd);
    umask(077);
    fm_cgi_log_init(&log, client->options);
    if (client->options->log_path != NULL)
        fm_cgi_log_open(&log, AT_FDCWD, client->options->log_path);
    client->log = &log;
    int status = answer(client, path);
    if (log.fd >= 0)
        close(log.fd);
    return status;
}

int fm_cgi_answer(const struct fm_cgi_options *options, const struct fm_cgi_backend *backend,
                  const char *path, const struct fm_request *request, int out_fd)
{
    struct fm_cgi_client client;
    client_init(&client, options, request, FM_CGI_OP_QUERY, out_fd);
    client.backend = backend;
    return run(&client, path);
}

int fm_cgi_command(const struct fm_cgi_options *options, const char *path,
                   const struct fm_request *request, unsigned without_status,
                   const char *without_server, int out_fd)
{
    struct fm_cgi_client client;
    client_init(&client, options, request, FM_CGI_OP_COMMAND, out_fd);
    client.without_status = without_status;
    client.without_server = without_server;
    return run(&client, path);
}

int fm_cgi_quit(const struct fm_cgi_options *options, const char *path,
                const struct fm_request *request, int out_fd)
{
    struct fm_cgi_client client;
    client_init(&client, options, request, FM_CGI_OP_QUIT, out_fd);
    return run(&client, path);
}
