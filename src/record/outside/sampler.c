/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/sampler.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define TEXT_MAX 4096u
#define FAILED 1

/* The first byte of what the sampler says; a text follows. */
enum {
    SAYS_BEGUN = 'b',  /* the program */
    SAYS_MADE = 'm',   /* a profile was written; sampling goes on */
    SAYS_ENDED = 'e',  /* the last profile was written */
    SAYS_FAILED = 'f', /* the last question: why */
};

struct fm_sampler {
    pid_t pid, own; /* the process that is sampled, the sampler; own 0: it was waited for */
    int socket, status;
    bool ended;
    char *program;
};

/* --- in the sampler's process --- */

struct sampling {
    const struct fm_sampler_options *options;
    struct fm_outside *outside;
    int socket;
    pid_t writer; /* a copy that writes a profile; 0 = none */
    bool alone;   /* nobody is there to ask any more */
};

static void say(int socket, char what, const char *text, size_t size)
{
    char message[TEXT_MAX];
    message[0] = what;
    size = MIN(size, sizeof message - 1);
    memcpy(message + 1, text, size);
    (void)send(socket, message, size + 1, MSG_NOSIGNAL);
}

static void say_failure(int socket, GError *error)
{
    say(socket, SAYS_FAILED, error->message, strlen(error->message));
    g_error_free(error);
}

static void begin_to_write(struct sampling *sampling)
{
    GError *error = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        if (fm_outside_write(sampling->outside, sampling->options->path, &error))
            say(sampling->socket, SAYS_MADE, "", 0);
        else
            say_failure(sampling->socket, error);
        _exit(0);
    }
    sampling->writer = MAX(pid, 0);
    if (pid < 0) {
        const char *why = g_strerror(errno);
        say(sampling->socket, SAYS_FAILED, why, strlen(why));
    }
}

/* Between samples. */
static bool on_turn(void *user)
{
    static const char died[] = "the process that makes the profile has died";
    struct sampling *sampling = user;
    int status;
    char byte;
    if (sampling->writer > 0) {
        if (waitpid(sampling->writer, &status, WNOHANG) == 0)
            return true;
        sampling->writer = 0;
        if (!WIFEXITED(status))
            say(sampling->socket, SAYS_FAILED, died, strlen(died));
    }
    ssize_t got = recv(sampling->socket, &byte, sizeof byte, MSG_DONTWAIT);
    if (got == sizeof byte)
        begin_to_write(sampling);
    sampling->alone = got == 0;
    return !sampling->alone;
}

/* It ends with whoever asks it, who has the files removed. */
static const volatile sig_atomic_t *ignore_terminal(void)
{
    static const volatile sig_atomic_t never;
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        signal(numbers[i], SIG_IGN);
    return &never;
}

static int sample(const struct fm_sampler_options *options, int socket)
{
    struct sampling sampling = {.options = options, .socket = socket};
    const struct fm_outside_turn turn = {on_turn, &sampling};
    GError *error = NULL;
    const volatile sig_atomic_t *asked =
        options->finish == NULL ? ignore_terminal() : fm_outside_catch_signals();
    if (!fm_outside_begin(options->pid, options->way, &sampling.outside, &error)) {
        say_failure(socket, error);
        return FAILED;
    }
    if (options->begun != NULL)
        options->begun(sampling.outside, options->user);
    const char *program = fm_outside_program(sampling.outside);
    say(socket, SAYS_BEGUN, program, strlen(program));
    bool done = fm_outside_run(sampling.outside, options->for_ns, asked, &turn, &error);
    if (sampling.writer > 0)
        waitpid(sampling.writer, NULL, 0);
    int status = done ? 0 : FAILED;
    if (done && options->finish != NULL)
        status = options->finish(sampling.outside, options->user);
    else if (done && !sampling.alone)
        done = fm_outside_write(sampling.outside, options->path, &error);
    if (done)
        say(socket, SAYS_ENDED, "", 0);
    else
        say_failure(socket, error);
    fm_outside_free(sampling.outside);
    return status;
}

/* --- in the process that started it --- */

/* What the sampler says next; false: it has ended without a word. */
static bool hear(struct fm_sampler *sampler, char *ret_what, char *text)
{
    char message[TEXT_MAX];
    ssize_t got;
    do
        got = recv(sampler->socket, message, sizeof message, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    *ret_what = message[0];
    memcpy(text, message + 1, (size_t)got - 1);
    text[got - 1] = '\0';
    return true;
}

static bool fail(const struct fm_sampler *sampler, const char *why, GError **error)
{
    if (why != NULL)
        g_set_error_literal(error, FM_ERROR, FM_ERROR_UNAVAILABLE, why);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "the process that sampled process %d has died", (int)sampler->pid);
    return false;
}

bool fm_sampler_start(const struct fm_sampler_options *options, struct fm_sampler **ret,
                      GError **error)
{
    char text[TEXT_MAX], what;
    int ends[2];
    g_return_val_if_fail(options != NULL && options->path != NULL && ret != NULL, false);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "socketpair: %s", g_strerror(errno));
        return false;
    }
    pid_t own = fork();
    if (own == 0) {
        close(ends[0]);
        _exit(sample(options, ends[1]));
    }
    close(ends[1]);
    struct fm_sampler *sampler = g_new0(struct fm_sampler, 1);
    *sampler = (struct fm_sampler){.pid = options->pid, .own = MAX(own, 0), .socket = ends[0]};
    bool heard = own > 0 && hear(sampler, &what, text);
    if (!heard || what != SAYS_BEGUN) {
        fail(sampler, heard ? text : NULL, error);
        fm_sampler_free(sampler);
        return false;
    }
    sampler->program = g_strdup(text);
    *ret = sampler;
    return true;
}

const char *fm_sampler_program(const struct fm_sampler *sampler)
{
    return sampler->program;
}

pid_t fm_sampler_pid(const struct fm_sampler *sampler)
{
    return sampler->pid;
}

bool fm_sampler_write(struct fm_sampler *sampler, bool *ret_running, GError **error)
{
    char text[TEXT_MAX], what = 0;
    *ret_running = false;
    if (sampler->ended)
        return true;
    /* When it has ended meanwhile it has said so. */
    (void)send(sampler->socket, "w", 1, MSG_NOSIGNAL);
    bool heard = hear(sampler, &what, text);
    sampler->ended = !heard || what == SAYS_ENDED;
    if (!heard || what == SAYS_FAILED)
        return fail(sampler, heard ? text : NULL, error);
    *ret_running = what == SAYS_MADE;
    return true;
}

bool fm_sampler_has_ended(const struct fm_sampler *sampler)
{
    char what;
    ssize_t got = recv(sampler->socket, &what, sizeof what, MSG_PEEK | MSG_DONTWAIT);
    return sampler->ended || got == 0 || (got > 0 && what == SAYS_ENDED);
}

int fm_sampler_end(struct fm_sampler *sampler)
{
    int status = 0;
    g_return_val_if_fail(sampler->own > 0, FAILED);
    shutdown(sampler->socket, SHUT_WR); /* it need not be sent a signal, which its own files get */
    while (waitpid(sampler->own, &status, 0) < 0 && errno == EINTR)
        ;
    sampler->own = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

void fm_sampler_free(struct fm_sampler *sampler)
{
    if (sampler == NULL)
        return;
    if (sampler->own > 0)
        (void)fm_sampler_end(sampler);
    close(sampler->socket);
    g_free(sampler->program);
    g_free(sampler);
}
