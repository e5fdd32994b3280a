/* SPDX-License-Identifier: Apache-2.0 */
/* A client that gets a signal to end does so in the signal handler, whatever it is doing: reading a
 * file of gigabytes, waiting, or writing to a slow reader. Its locks end with it, its names are
 * unlinked, and a page reports it unless one was begun. All functions here are
 * async-signal-safe. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

#define NAME_SIZE 128

static struct {
    int dir_fd, out_fd; /* -1 = none */
    char want[NAME_SIZE], new_want[NAME_SIZE], reply[NAME_SIZE], mutex[NAME_SIZE];
    volatile sig_atomic_t has_names, holds_mutex, has_printed;
} ending = {.dir_fd = -1, .out_fd = -1};

static const int ending_signals[] = {SIGTERM, SIGINT, SIGHUP};

static void print_that_it_ended(void)
{
    static const char page[] =
        "Status: 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Cache-Control: no-store\r\nRetry-After: 1\r\n\r\nThe program was told to end.\n";
    struct pollfd polled = {ending.out_fd, POLLOUT, 0};
    if (ending.out_fd < 0 || poll(&polled, 1, 0) <= 0 || (polled.revents & POLLOUT) == 0)
        return;
    ssize_t written = write(ending.out_fd, page, sizeof page - 1);
    (void)written;
}

static void end_now(int signal_number)
{
    (void)signal_number;
    if (ending.has_names) {
        unlinkat(ending.dir_fd, ending.new_want, 0);
        unlinkat(ending.dir_fd, ending.reply, 0);
        unlinkat(ending.dir_fd, ending.want, 0);
    }
    if (ending.holds_mutex)
        unlinkat(ending.dir_fd, ending.mutex, 0);
    if (!ending.has_printed)
        print_that_it_ended();
    _exit(1);
}

static void set_handlers(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < G_N_ELEMENTS(ending_signals); i++)
        sigaddset(&action.sa_mask, ending_signals[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(ending_signals); i++)
        sigaction(ending_signals[i], &action, NULL);
}

void fm_cgi_ending_begin(int out_fd)
{
    signal(SIGPIPE, SIG_IGN);
    ending.out_fd = out_fd;
    ending.has_names = ending.holds_mutex = ending.has_printed = false;
    set_handlers(end_now);
}

void fm_cgi_ending_names(int dir_fd, const char *want, const char *new_want, const char *reply,
                         const char *mutex)
{
    ending.has_names = false;
    ending.dir_fd = dir_fd;
    g_strlcpy(ending.want, want, NAME_SIZE);
    g_strlcpy(ending.new_want, new_want, NAME_SIZE);
    g_strlcpy(ending.reply, reply, NAME_SIZE);
    g_strlcpy(ending.mutex, mutex, NAME_SIZE);
    ending.has_names = true;
}

void fm_cgi_ending_note_mutex(bool held)
{
    ending.holds_mutex = held;
}

void fm_cgi_ending_note_printing(void)
{
    ending.has_printed = true;
}

pid_t fm_cgi_ending_fork(void)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (size_t i = 0; i < G_N_ELEMENTS(ending_signals); i++)
        sigaddset(&blocked, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    pid_t child = fork();
    if (child == 0)
        set_handlers(SIG_DFL); /* the names belong to the parent */
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}
