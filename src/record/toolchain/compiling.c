/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/compiling.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/console/say.h"
#include "record/toolchain/note_filter.h"

#define NOT_RUN 127 /* as shells say it */

struct compiling {
    const char *name; /* the command's, in messages */
    char **arguments;
    int ours, its; /* ends of the compiler's standard error; -1: it has ours */
    int signals;
    sigset_t masked; /* signals that were blocked before */
    pid_t child;
    struct fm_note_filter filter;
};

/* Gives the compiler a terminal if colours and line width depend on one; its output is passed on
 * unchanged. */
static bool open_terminal(struct compiling *self)
{
    struct termios settings;
    struct winsize size;
    char path[64];
    if (tcgetattr(STDERR_FILENO, &settings) != 0)
        return false;
    self->ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (self->ours < 0)
        return false;
    if (grantpt(self->ours) == 0 && unlockpt(self->ours) == 0 &&
        ptsname_r(self->ours, path, sizeof path) == 0)
        self->its = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    cfmakeraw(&settings);
    if (self->its >= 0 && tcsetattr(self->its, TCSANOW, &settings) == 0) {
        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
            (void)ioctl(self->its, TIOCSWINSZ, &size);
        return true;
    }
    if (self->its >= 0)
        close(self->its);
    close(self->ours);
    self->ours = self->its = -1;
    return false;
}

static void open_channel(struct compiling *self)
{
    int ends[2];
    self->ours = self->its = -1;
    if (!fm_note_filter_is_needed((const char *const *)self->arguments) ||
        fcntl(STDERR_FILENO, F_GETFD) < 0)
        return;
    if (!open_terminal(self) && pipe2(ends, O_CLOEXEC) == 0) {
        self->ours = ends[0];
        self->its = ends[1];
    }
    if (self->ours >= 0)
        fcntl(self->ours, F_SETFL, O_NONBLOCK);
}

/* The compiler's own death is waited for: it removes its temporary files. */
static void open_signals(struct compiling *self)
{
    sigset_t set;
    signal(SIGCHLD, SIG_DFL); /* where it is ignored nobody can wait for a child */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &self->masked);
    self->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Not fork(), which would copy what a hundred pages hold. */
static bool start(struct compiling *self)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &self->masked);
    if (self->its >= 0)
        posix_spawn_file_actions_adddup2(&actions, self->its, STDERR_FILENO);
    int failure = posix_spawnp(&self->child, self->arguments[0], &actions, &attributes,
                               self->arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        fprintf(stderr, "fathom %s: %s: %s\n", self->name, self->arguments[0], g_strerror(failure));
    return failure == 0;
}

static void write_all(const GString *text)
{
    for (gsize at = 0; at < text->len;) {
        ssize_t done = write(STDERR_FILENO, text->str + at, text->len - at);
        if (done >= 0) {
            at += (gsize)done;
        } else if (errno == EAGAIN) {
            struct pollfd full = {.fd = STDERR_FILENO, .events = POLLOUT};
            (void)poll(&full, 1, -1);
        } else if (errno != EINTR) {
            return; /* nobody reads the output any more */
        }
    }
}

/* Passes on the available output; false at its end. */
static bool hand_on(struct compiling *self)
{
    char bytes[16384];
    ssize_t got = read(self->ours, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    g_autoptr(GString) out = g_string_new(NULL);
    if (got > 0)
        fm_note_filter_pass(&self->filter, bytes, (gsize)got, out);
    write_all(out);
    return got > 0;
}

/* Passes on the compiler's remaining output after its end. Does not wait for processes that still
 * have its standard error, such as a server that it started. */
static void hand_on_rest(struct compiling *self)
{
    struct pollfd more = {.fd = self->ours, .events = POLLIN};
    while (self->ours >= 0 && poll(&more, 1, 0) > 0 && hand_on(self))
        ;
    g_autoptr(GString) out = g_string_new(NULL);
    fm_note_filter_end(&self->filter, out);
    write_all(out);
}

/* Passes signals from the terminal on to the compiler. */
static void pass_signals(struct compiling *self)
{
    struct signalfd_siginfo info;
    while (read(self->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
            kill(self->child, (int)info.ssi_signo);
    }
}

static int wait_for_end(struct compiling *self)
{
    struct pollfd both[2] = {{.fd = self->signals, .events = POLLIN},
                             {.fd = self->ours, .events = POLLIN}};
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(self->child, &status, self->signals < 0 ? 0 : WNOHANG);
        if (ended == self->child)
            return status;
        if (ended < 0 && errno != EINTR)
            return FM_EXIT_FAILED << 8;
        if (self->signals < 0 || poll(both, 2, -1) < 0)
            continue;
        if (both[0].revents != 0)
            pass_signals(self);
        if (both[1].revents != 0 && !hand_on(self))
            both[1].fd = -1;
    }
}

static void end_by(int number)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    raise(number);
}

int fm_compiling_run(const char *name, char **arguments)
{
    struct compiling self = {.name = name, .arguments = arguments};
    g_return_val_if_fail(arguments != NULL && arguments[0] != NULL, FM_EXIT_FAILED);
    open_channel(&self);
    open_signals(&self);
    fm_note_filter_init(&self.filter);
    bool started = start(&self);
    if (self.its >= 0)
        close(self.its);
    int status = started ? wait_for_end(&self) : NOT_RUN << 8;
    hand_on_rest(&self);
    fm_note_filter_done(&self.filter);
    if (self.ours >= 0)
        close(self.ours);
    if (self.signals >= 0)
        close(self.signals);
    sigprocmask(SIG_SETMASK, &self.masked, NULL);
    if (WIFSIGNALED(status))
        end_by(WTERMSIG(status));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
