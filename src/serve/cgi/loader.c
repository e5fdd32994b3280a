/* SPDX-License-Identifier: Apache-2.0 */
/* Step C9: the client that finds no server loads the file, answers, and leaves a server. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/cgi/internal.h"
#include "serve/response.h"

#define PATIENCE_MS 1000
#define REREADS_MAX 3 /* limit for a file that keeps changing */

/* False: *ret is an error page instead. */
static bool load(struct fm_cgi_client *client, struct fm_response *ret)
{
    g_autoptr(GError) error = NULL;
    fm_cgi_log(client->log, FM_CGI_LOG_STARTUP, "loading %s", client->place->data_path);
    fm_cgi_stop_point("C9.load");
    if (client->backend->load(client->backend->user, client->place->data_path, &error))
        return true;
    fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "%s", error->message);
    bool missing = g_error_matches(error, FM_ERROR, FM_ERROR_IO);
    if (fm_cgi_is_exhausted())
        fm_response_message(client->request, 503, FM_CGI_EXHAUSTED_TEXT, ret);
    else
        fm_response_message(client->request, missing ? 404 : 422, error->message, ret);
    return false;
}

static enum fm_cgi_work work_until(const struct fm_cgi_client *client, uint64_t deadline_ms)
{
    const struct fm_cgi_backend *backend = client->backend;
    enum fm_cgi_work state = backend->work == NULL ? FM_CGI_WORK_DONE : FM_CGI_WORK_MORE;
    while (state == FM_CGI_WORK_MORE && fm_cgi_now_ms() < deadline_ms)
        state = backend->work(backend->user);
    return state;
}

/* Makes the page, and returns whether it is final: the file may have changed and must be read
 * again. */
static bool handle_whole(const struct fm_cgi_client *client, struct fm_response *ret)
{
    const struct fm_cgi_backend *backend = client->backend;
    backend->handle(backend->user, client->request, ret);
    return backend->work == NULL || backend->work(backend->user) != FM_CGI_WORK_MORE;
}

/* Answers from a loaded file without a server. The mutex must not be held during work that serves
 * this client only. */
static int finish_alone(struct fm_cgi_client *client)
{
    struct fm_response response;
    fm_cgi_client_cleanup(client);
    work_until(client, UINT64_MAX);
    for (int i = 0; !handle_whole(client, &response) && i < REREADS_MAX; i++) {
        fm_response_done(&response);
        work_until(client, UINT64_MAX);
    }
    return fm_cgi_client_finish(client, &response);
}

int fm_cgi_answer_alone(struct fm_cgi_client *client)
{
    g_assert(client->backend != NULL && client->request != NULL);
    struct fm_response response;
    fm_cgi_client_cleanup(client);
    if (!load(client, &response))
        return fm_cgi_client_finish(client, &response);
    return finish_alone(client);
}

static void close_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Step S1: closes the web server's descriptors, except standard error until the server is ready. */
static bool detach(struct fm_cgi_client *client)
{
    close_descriptor(&client->want_fd);
    close_descriptor(&client->reply_fd);
    close_descriptor(&client->mutex_fd);
    close_descriptor(&client->room_fd);
    if (client->out_fd > STDERR_FILENO)
        close(client->out_fd);
    setsid();
    if (chdir("/") != 0)
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "chdir /: %s", g_strerror(errno));
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0) {
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "/dev/null: %s", g_strerror(errno));
        return false; /* the web server would wait for the end of the page */
    }
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    if (null_fd > STDERR_FILENO)
        close(null_fd);
    return true;
}

static void write_ready(void *user)
{
    int *fd = user;
    /* until now, it was needed to report why there is no server */
    dup2(STDOUT_FILENO, STDERR_FILENO);
    ssize_t written = write(*fd, "r", 1);
    (void)written; /* if the parent has ended, nobody waits */
    close_descriptor(fd);
}

static void run_child(struct fm_cgi_client *client, int ready_fd)
{
    fm_cgi_stop_point("S1");
    if (detach(client))
        fm_cgi_serve(client->options, client->backend, client->place, client->log, write_ready,
                     &ready_fd);
    close_descriptor(&ready_fd);
}

/* Whether the server started. After the deadline that is not known, and counts as started. */
static bool wait_until_ready(int fd)
{
    uint64_t deadline_ms = fm_cgi_now_ms() + FM_CGI_READY_MS;
    struct pollfd poll_fd = {fd, POLLIN, 0};
    int ready;
    do {
        ready = poll(&poll_fd, 1, fm_cgi_wait_ms(deadline_ms, FM_CGI_READY_MS));
    } while ((ready == 0 || (ready < 0 && errno == EINTR)) && fm_cgi_now_ms() < deadline_ms);
    char byte;
    return ready <= 0 || read(fd, &byte, 1) == 1;
}

struct foreground {
    struct fm_cgi_client *client;
    struct fm_response *response;
    int status;
};

static void print_and_go_on(void *user)
{
    struct foreground *foreground = user;
    foreground->client->serverless = false;
    foreground->status = fm_cgi_client_finish(foreground->client, foreground->response);
}

static int serve_in_foreground(struct fm_cgi_client *client, struct fm_response *response)
{
    struct foreground foreground = {client, response, 1};
    if (!fm_cgi_serve(client->options, client->backend, client->place, client->log, print_and_go_on,
                      &foreground))
        print_and_go_on(&foreground);
    return foreground.status;
}

/* Whether a test wants this system call to fail. */
static bool is_failing(const char *point)
{
    int wanted_errno = fm_cgi_fail_point(point);
    if (wanted_errno != 0)
        errno = wanted_errno;
    return wanted_errno != 0;
}

/* Forks the server. True when it has started. */
static bool fork_server(struct fm_cgi_client *client)
{
    int ready[2];
    if (is_failing("C9.pipe") || pipe2(ready, O_CLOEXEC) != 0) {
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "pipe: %s", g_strerror(errno));
        return false;
    }
    fm_cgi_stop_point("C9.fork");
    pid_t child = is_failing("C9.fork") ? -1 : fm_cgi_ending_fork();
    if (child == 0) {
        close(ready[0]);
        run_child(client, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    fm_cgi_stop_point("C9.forked");
    if (child < 0)
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "fork: %s", g_strerror(errno));
    bool lives = child > 0 && wait_until_ready(ready[0]);
    if (child > 0 && !lives)
        fm_cgi_log(client->log, FM_CGI_LOG_ERRORS, "no server was left behind");
    close(ready[0]);
    return lives;
}

static bool leave_server(struct fm_cgi_client *client)
{
    if (!fm_cgi_room_take(client->place, client->options, client->log, &client->room_fd))
        return false;
    bool lives = fork_server(client);
    fm_cgi_room_give(client->room_fd);
    client->room_fd = -1;
    return lives;
}

int fm_cgi_load_and_serve(struct fm_cgi_client *client)
{
    g_assert(client->mutex_fd >= 0); /* held since C9 */
    struct fm_response response;
    if (!load(client, &response))
        return fm_cgi_client_finish(client, &response);
    uint64_t patience_ms =
        client->options->patience_ms != 0 ? client->options->patience_ms : PATIENCE_MS;
    uint64_t now_ms = fm_cgi_now_ms();
    bool waits = client->options->foreground || patience_ms > UINT64_MAX - now_ms;
    enum fm_cgi_work state = work_until(client, waits ? UINT64_MAX : now_ms + patience_ms);
    if (state == FM_CGI_WORK_FAILED || !fm_cgi_place_is_current(client->place))
        return finish_alone(client);
    bool whole = handle_whole(client, &response);
    if (response.quit)
        return fm_cgi_client_finish(client, &response);
    if (client->options->foreground)
        return serve_in_foreground(client, &response);
    client->serverless = !leave_server(client);
    if (client->serverless && !whole) {
        fm_response_done(&response); /* nobody would read the rest */
        return finish_alone(client);
    }
    return fm_cgi_client_finish(client, &response);
}
