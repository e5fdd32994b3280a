/* SPDX-License-Identifier: Apache-2.0 */
/* The server of one data file: steps S2 to S9, and its end T0 to T6. One process with one poll
 * loop; a slow reader delays only itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve/cgi/internal.h"
#include "serve/response.h"

#define IDLE_MS (30L * 60 * 1000)
#define REPLY_MS 10000
#define ENDING_SOON_MS 5000
#define TICK_MS 1000
#define CLEANUP_STRANGERS_MS (60L * 60 * 1000)
#define INPUT_BYTES_MAX (64 * 1024)
#define QUERY_READS_MAX 16 /* reads between two checks of pending replies */
/* time that a signal leaves for readers, and for the holder of the mutex */
#define TOLD_TO_END_MS 200

struct reply {
    int fd;
    GByteArray *bytes;
    size_t written;
    uint64_t deadline_ms;
};

struct server {
    const struct fm_cgi_options *options;
    const struct fm_cgi_backend *backend;
    struct fm_cgi_place *place;
    struct fm_cgi_log *log;
    int life_fd;   /* KEY.server, write-locked for life */
    int query_fd;  /* the FIFO's read end */
    int keep_fd;   /* its write end, so that the FIFO never reports end of file */
    int signal_fd; /* self-pipe */
    int spare_fd;  /* closed to get a descriptor for reporting that none is left */
    char instance[FM_CGI_INSTANCE_SIZE];
    uint64_t instance_number;
    off_t answered_at; /* offset of the last line of KEY.server */
    GByteArray *input;
    GPtrArray *replies; /* elements: struct reply */
    uint64_t idle_ms, idle_deadline_ms;
    uint64_t tick_ms, cleanup_strangers_ms;
    uint64_t forced_end_ms; /* set by a signal: ends then, whatever is pending; 0 = no signal */
    bool quitting, changed, ending_soon;
    bool working; /* the data file is being read */
};

static int self_pipe_fd = -1;

static void note_signal(int signal_number)
{
    int saved_errno = errno;
    uint8_t byte = (uint8_t)signal_number;
    ssize_t written = write(self_pipe_fd, &byte, 1);
    (void)written; /* a full pipe already contains a signal */
    errno = saved_errno;
}

static void free_reply(void *data)
{
    struct reply *reply = data;
    close(reply->fd);
    g_byte_array_unref(reply->bytes);
    g_free(reply);
}

static void tell_strangers(const struct server *server, const char *name, mode_t expected)
{
    int saved_errno = errno;
    g_autofree char *what = fm_cgi_describe_stranger(server->place->dir_fd, name, expected);
    if (what != NULL)
        fm_cgi_log(server->log, FM_CGI_LOG_ERRORS, "%s", what);
    errno = saved_errno;
}

/* Steps S2 and S3: takes the life lock, then writes the server's identity. */
static bool take_life(struct server *server)
{
    struct fm_cgi_place *place = server->place;
    server->life_fd =
        fm_cgi_open_ours(place->dir_fd, place->server_name, O_RDWR | O_CREAT, S_IFREG);
    if (server->life_fd < 0) {
        tell_strangers(server, place->server_name, S_IFREG);
        return false;
    }
    if (!fm_cgi_lock_fd(place->dir_fd, place->server_name, server->life_fd))
        return false; /* another server runs */
    fm_cgi_stop_point("S2");
    uint64_t chance[2];
    fm_cgi_random(chance, sizeof chance);
    g_snprintf(server->instance, sizeof server->instance,
               "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", chance[0], chance[1]);
    server->instance_number = chance[0];
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *when = g_date_time_format_iso8601(now);
    /* a single line, whatever the path contains */
    g_autofree char *path = g_strescape(place->data_path, NULL);
    g_autofree char *text = g_strdup_printf(
        "%s\npid %d\nstarted %s\nbuild %s\ndata %s\n", server->instance, (int)getpid(), when,
        server->options->build_id != NULL ? server->options->build_id : "", path);
    size_t length = strlen(text);
    server->answered_at = (off_t)length;
    if (fm_cgi_fail_point("S3.write") != 0 || ftruncate(server->life_fd, 0) != 0 ||
        pwrite(server->life_fd, text, length, 0) != (ssize_t)length) {
        unlinkat(place->dir_fd, place->server_name, 0);
        return false;
    }
    fm_cgi_stop_point("S3");
    return true;
}

/* Step S4: both ends are open before the FIFO gets its name. */
static bool make_query_fifo(struct server *server)
{
    struct fm_cgi_place *place = server->place;
    tell_strangers(server, place->query_name, S_IFIFO);
    fm_cgi_cleanup_query_fifos(place);
    g_autofree char *temporary = g_strconcat(place->query_name, ".", server->instance, NULL);
    if (mkfifoat(place->dir_fd, temporary, 0600) != 0)
        return false;
    server->query_fd = fm_cgi_open_ours(place->dir_fd, temporary, O_RDONLY, S_IFIFO);
    if (server->query_fd >= 0)
        server->keep_fd = fm_cgi_open_ours(place->dir_fd, temporary, O_WRONLY, S_IFIFO);
    fm_cgi_stop_point("S4");
    if (server->keep_fd < 0 || fm_cgi_fail_point("S4.rename") != 0 ||
        renameat(place->dir_fd, temporary, place->dir_fd, place->query_name) != 0) {
        unlinkat(place->dir_fd, temporary, 0);
        unlinkat(place->dir_fd, place->server_name, 0);
        return false;
    }
    fm_cgi_stop_point("S4.renamed");
    return true;
}

static void take_spare(struct server *server)
{
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool catch_signals(struct server *server)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    server->signal_fd = ends[0];
    self_pipe_fd = ends[1];
    signal(SIGPIPE, SIG_IGN);
    take_spare(server);
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    return true;
}

/* Notes the time of an answer for processes that look for the servers needed least. */
static void note_answer(const struct server *server)
{
    char line[64];
    int length = g_snprintf(line, sizeof line, FM_CGI_ANSWERED "%020" G_GUINT64_FORMAT "\n",
                            fm_cgi_now_ms());
    ssize_t written = pwrite(server->life_fd, line, (size_t)length, server->answered_at);
    (void)written; /* on a full disk the server counts as just started */
}

static void restart_idle(struct server *server)
{
    uint64_t idle_ms = server->changed || server->ending_soon ? ENDING_SOON_MS : server->idle_ms;
    server->idle_deadline_ms = fm_cgi_now_ms() + idle_ms;
}

/* Reads the query for a token from its want file. On failure errno; 0 = it is not a query. */
static bool read_want(struct server *server, const char *token, struct fm_cgi_request *ret)
{
    g_autofree char *name = fm_cgi_place_name(server->place, ".want.", token);
    int fd = fm_cgi_open_ours(server->place->dir_fd, name, O_RDONLY, S_IFREG);
    if (fd < 0)
        return false;
    struct stat status;
    bool read_all = false;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    if (fstat(fd, &status) == 0 && status.st_size <= FM_CGI_QUERY_BYTES_MAX) {
        g_byte_array_set_size(bytes, (guint)status.st_size);
        read_all = pread(fd, bytes->data, bytes->len, 0) == (ssize_t)bytes->len;
    }
    close(fd);
    errno = 0;
    return read_all && fm_cgi_want_decode(bytes->data, bytes->len, ret);
}

/* Writes as much as the FIFO takes. True when the reply is done. */
static bool write_reply(struct reply *reply)
{
    while (reply->written < reply->bytes->len) {
        size_t left = reply->bytes->len - reply->written;
        ssize_t wrote = write(reply->fd, reply->bytes->data + reply->written, left);
        if (wrote < 0)
            return errno != EAGAIN && errno != EINTR;
        reply->written += (size_t)wrote;
        fm_cgi_stop_point("S7.written");
    }
    return true;
}

static void note_changed_data(struct server *server)
{
    if (server->changed || fm_cgi_place_is_current(server->place))
        return;
    fm_cgi_log(server->log, FM_CGI_LOG_STARTUP, "the data file changed: ending soon");
    server->changed = true;
    restart_idle(server);
}

/* Computes the answer to a query; handles timeout and quit. */
static void compute(struct server *server, const struct fm_cgi_frame *frame,
                    const struct fm_request *request, struct fm_response *ret)
{
    if (frame->op == FM_CGI_OP_QUIT) {
        fm_response_message(request, 200, "The server is ending.", ret);
        ret->quit = true;
    } else {
        server->backend->handle(server->backend->user, request, ret);
    }
    if (ret->quit)
        server->quitting = true;
    if (ret->timeout_minutes > 0)
        server->idle_ms = (uint64_t)ret->timeout_minutes * 60 * 1000;
}

/* -1: the client has ended, or no descriptor is left (errno). */
static int open_reply(const struct server *server, const char *token)
{
    g_autofree char *name = fm_cgi_place_name(server->place, ".reply.", token);
    return fm_cgi_open_ours(server->place->dir_fd, name, O_WRONLY, S_IFIFO);
}

/* Sends a response and clears it; takes ownership of the descriptor. */
static void begin_reply(struct server *server, const struct fm_cgi_frame *frame, int fd,
                        struct fm_response *response)
{
    struct reply *reply = g_new0(struct reply, 1);
    reply->fd = fd;
    reply->bytes = fm_cgi_reply_encode(response, frame->token, frame->attempt);
    reply->deadline_ms =
        fm_cgi_now_ms() + (server->options->reply_ms != 0 ? server->options->reply_ms : REPLY_MS);
    fm_response_done(response);
    if (write_reply(reply))
        free_reply(reply);
    else
        g_ptr_array_add(server->replies, reply);
}

/* Uses the spare descriptor, writes at once and keeps nothing: what does not fit is lost. */
static void tell_exhausted(struct server *server, const struct fm_cgi_frame *frame)
{
    fm_cgi_log(server->log, FM_CGI_LOG_ERRORS, "no descriptor is left: status 503");
    if (server->spare_fd >= 0)
        close(server->spare_fd);
    int fd = open_reply(server, frame->token);
    if (fd >= 0) {
        const struct fm_request plain = {.method = "GET", .path = "/deep"};
        struct fm_response response;
        fm_response_message(&plain, 503, FM_CGI_EXHAUSTED_TEXT, &response);
        struct reply reply = {
            .fd = fd, .bytes = fm_cgi_reply_encode(&response, frame->token, frame->attempt)};
        fm_response_done(&response);
        write_reply(&reply);
        g_byte_array_unref(reply.bytes);
        close(fd);
    }
    take_spare(server);
}

/* Step S7. */
static void answer_frame(struct server *server, const struct fm_cgi_frame *frame)
{
    if (frame->instance != server->instance_number)
        return;
    struct fm_cgi_request request;
    if (!read_want(server, frame->token, &request)) {
        if (fm_cgi_is_exhaustion(errno))
            tell_exhausted(server, frame);
        return;
    }
    fm_cgi_stop_point("S7.read");
    int fd = open_reply(server, frame->token);
    if (fd >= 0) { /* otherwise the client has ended */
        struct fm_response response;
        compute(server, frame, &request.request, &response);
        fm_cgi_stop_point("S7.computed");
        fm_cgi_log(server->log, FM_CGI_LOG_ALL, "%s: status %u, %zu bytes",
                   request.request.query != NULL ? request.request.query : request.request.path,
                   response.status, g_bytes_get_size(response.body));
        begin_reply(server, frame, fd, &response);
    } else if (fm_cgi_is_exhaustion(errno)) {
        tell_exhausted(server, frame);
    }
    fm_cgi_request_done(&request);
    note_answer(server);
    restart_idle(server);
    note_changed_data(server);
}

/* Takes whole frames from the input; skips other bytes one by one. */
static void answer_input(struct server *server)
{
    size_t at = 0;
    while (server->input->len - at >= FM_CGI_FRAME_SIZE) {
        struct fm_cgi_frame frame;
        if (fm_cgi_frame_decode(server->input->data + at, &frame)) {
            at += FM_CGI_FRAME_SIZE;
            answer_frame(server, &frame);
        } else {
            at++;
        }
    }
    if (at > 0)
        g_byte_array_remove_range(server->input, 0, (guint)at);
}

/* Reads the query FIFO once. True when there was input. */
static bool take_queries(struct server *server)
{
    uint8_t bytes[INPUT_BYTES_MAX];
    ssize_t got = read(server->query_fd, bytes, sizeof bytes);
    if (got <= 0)
        return false;
    g_byte_array_append(server->input, bytes, (guint)got);
    answer_input(server);
    return true;
}

static bool is_forced(const struct server *server)
{
    return server->forced_end_ms != 0 && fm_cgi_now_ms() >= server->forced_end_ms;
}

static void write_replies(struct server *server)
{
    for (guint i = 0; i < server->replies->len;) {
        struct reply *reply = g_ptr_array_index(server->replies, i);
        bool done = write_reply(reply);
        if (done)
            restart_idle(server);
        if (done || fm_cgi_now_ms() >= reply->deadline_ms || is_forced(server))
            g_ptr_array_remove_index_fast(server->replies, i);
        else
            i++;
    }
}

/* Step S6: sleeps until there is something to do. */
static void wait_for_work(struct server *server)
{
    guint count = server->replies->len;
    g_autofree struct pollfd *polled = g_new0(struct pollfd, count + 2);
    polled[0] = (struct pollfd){server->query_fd, POLLIN, 0};
    polled[1] = (struct pollfd){server->signal_fd, POLLIN, 0};
    uint64_t wake_ms = server->working    ? 0
                       : server->quitting ? fm_cgi_now_ms() + 10
                                          : server->idle_deadline_ms;
    for (guint i = 0; i < count; i++) {
        struct reply *reply = g_ptr_array_index(server->replies, i);
        polled[i + 2] = (struct pollfd){reply->fd, POLLOUT, 0};
        wake_ms = MIN(wake_ms, reply->deadline_ms);
    }
    poll(polled, count + 2, fm_cgi_wait_ms(wake_ms, TICK_MS));
    if ((polled[1].revents & POLLIN) != 0) {
        uint8_t bytes[16];
        if (read(server->signal_fd, bytes, sizeof bytes) > 0 && server->forced_end_ms == 0) {
            server->quitting = true;
            server->forced_end_ms = fm_cgi_now_ms() + TOLD_TO_END_MS;
        }
    }
}

/* Whether clients can find this server: they use names, which may have been removed. */
static void check_names(struct server *server)
{
    const struct fm_cgi_place *place = server->place;
    const char *lost = NULL;
    if (!fm_cgi_place_means_its_folder(place))
        lost = place->dir_path;
    else if (!fm_cgi_name_means(place->dir_fd, place->server_name, server->life_fd))
        lost = place->server_name;
    else if (!fm_cgi_name_means(place->dir_fd, place->query_name, server->query_fd))
        lost = place->query_name;
    if (lost == NULL || server->quitting)
        return;
    fm_cgi_log(server->log, FM_CGI_LOG_ERRORS, "%s: is gone, or another one: ending", lost);
    server->quitting = true;
}

static void tick(struct server *server)
{
    uint64_t now = fm_cgi_now_ms();
    if (now < server->tick_ms)
        return;
    server->tick_ms = now + TICK_MS;
    note_changed_data(server);
    check_names(server);
    fm_cgi_cleanup_wants(server->place);
    if (now >= server->cleanup_strangers_ms) {
        server->cleanup_strangers_ms = now + CLEANUP_STRANGERS_MS;
        fm_cgi_cleanup_strangers(server->place);
    }
}

static bool has_queries(const struct server *server)
{
    struct pollfd polled = {server->query_fd, POLLIN, 0};
    return poll(&polled, 1, 0) > 0;
}

/* Steps T3 and T4; names that refer to other files by now are left alone. */
static void unlink_names(struct server *server)
{
    struct fm_cgi_place *place = server->place;
    fm_cgi_unlink_same(place->dir_fd, place->query_name, server->query_fd);
    fm_cgi_stop_point("T3");
    fm_cgi_unlink_same(place->dir_fd, place->server_name, server->life_fd);
    fm_cgi_stop_point("T4");
}

static void end_life(struct server *server)
{
    close(server->life_fd);
    server->life_fd = -1;
}

/* The mutex cannot be taken although no process holds it: the folder is gone, or a foreign file has
 * its name. Then the server ends without it, as if killed, which each client detects. */
static bool end_without_mutex(struct server *server)
{
    fm_cgi_log(server->log, FM_CGI_LOG_ERRORS, "%s: %s: ending", server->place->mutex_name,
               g_strerror(errno));
    unlink_names(server);
    end_life(server);
    return true;
}

/* Steps T1 to T5. True when the server has released its life lock; false when a client needs it. */
static bool try_to_end(struct server *server)
{
    struct fm_cgi_place *place = server->place;
    int mutex_fd = fm_cgi_lock(place->dir_fd, place->mutex_name, 0);
    if (mutex_fd < 0 && (errno != EAGAIN || is_forced(server)))
        return end_without_mutex(server);
    if (mutex_fd < 0) {
        if (!server->quitting)
            restart_idle(server); /* the mutex is taken: a client is coming */
        return false;
    }
    fm_cgi_stop_point("T1");
    bool wanted = fm_cgi_cleanup_wants(place);
    if (!is_forced(server) && (has_queries(server) || (!server->quitting && wanted))) {
        close(mutex_fd);
        restart_idle(server);
        return false;
    }
    fm_cgi_stop_point("T2");
    unlink_names(server);
    unlinkat(place->dir_fd, place->mutex_name, 0);
    fm_cgi_stop_point("T5");
    end_life(server); /* before the mutex, so that its next holder finds this server dead */
    close(mutex_fd);
    return true;
}

static bool begin(struct server *server)
{
    if (!catch_signals(server))
        return false;
    if (!take_life(server)) {
        bool other_lives = errno == EAGAIN || errno == ESTALE;
        fm_cgi_log(server->log, other_lives ? FM_CGI_LOG_STARTUP : FM_CGI_LOG_ERRORS,
                   "no server: %s", other_lives ? "another one lives" : g_strerror(errno));
        return false;
    }
    if (!make_query_fifo(server)) {
        fm_cgi_log(server->log, FM_CGI_LOG_ERRORS, "no query FIFO: %s", g_strerror(errno));
        return false;
    }
    return true;
}

/* Reads on for some milliseconds. Each page reports a failure. */
static void read_on(struct server *server)
{
    enum fm_cgi_work state = server->backend->work == NULL
                                 ? FM_CGI_WORK_DONE
                                 : server->backend->work(server->backend->user);
    if (server->working && state != FM_CGI_WORK_MORE) {
        bool failed = state == FM_CGI_WORK_FAILED;
        fm_cgi_log(server->log, failed ? FM_CGI_LOG_ERRORS : FM_CGI_LOG_STARTUP, "%s %s",
                   failed ? "cannot read" : "read", server->place->data_path);
        server->ending_soon |=
            failed || !fm_cgi_room_keep(server->place, server->options, server->log);
        restart_idle(server);
    }
    server->working = state == FM_CGI_WORK_MORE;
}

static void run_loop(struct server *server)
{
    note_answer(server);
    restart_idle(server);
    server->working = server->backend->work != NULL;
    for (;;) {
        wait_for_work(server);
        for (int i = 0; i < QUERY_READS_MAX && take_queries(server); i++)
            ;
        write_replies(server);
        tick(server);
        if (!server->quitting)
            read_on(server); /* a query may have found that the file changed */
        bool idle = !server->working && fm_cgi_now_ms() >= server->idle_deadline_ms;
        bool due = server->quitting || idle;
        if (due && server->replies->len == 0 && try_to_end(server)) /* step T0 */
            return;
    }
}

bool fm_cgi_serve(const struct fm_cgi_options *options, const struct fm_cgi_backend *backend,
                  struct fm_cgi_place *place, struct fm_cgi_log *log, void (*ready)(void *user),
                  void *user)
{
    g_assert(place->dir_fd >= 0 && place->data_path != NULL);
    struct server server = {
        .options = options,
        .backend = backend,
        .place = place,
        .log = log,
        .life_fd = -1,
        .query_fd = -1,
        .keep_fd = -1,
        .signal_fd = -1,
        .spare_fd = -1,
        .input = g_byte_array_new(),
        .replies = g_ptr_array_new_with_free_func(free_reply),
        .idle_ms = options->idle_ms != 0 ? options->idle_ms : IDLE_MS,
    };
    bool begun = begin(&server);
    if (begun) {
        fm_cgi_log(log, FM_CGI_LOG_STARTUP, "serving %s", place->data_path);
        ready(user); /* step S5 */
        run_loop(&server);
        fm_cgi_log(log, FM_CGI_LOG_STARTUP, "ended");
    }
    int fds[] = {server.life_fd,   server.query_fd, server.keep_fd,
                 server.signal_fd, server.spare_fd, self_pipe_fd};
    for (size_t i = 0; i < G_N_ELEMENTS(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    self_pipe_fd = -1;
    g_byte_array_unref(server.input);
    g_ptr_array_unref(server.replies);
    return begun;
}
