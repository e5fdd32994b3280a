/* SPDX-License-Identifier: Apache-2.0 */
#include "base/console/notices.h"

#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that can be written to takes 4,096 bytes at once. */
#define LINE_BYTES_MAX 4000

static struct {
    bool begun;
    bool socket;  /* standard error is one, and has flags for each call */
    int fd;       /* it, opened a second time so as not to block; -1 = that was not possible */
    char *before; /* the last line */
} notices = {.fd = -1};

/* Whether writing blocks is a flag of the open file description, which other processes (the shell)
 * share: so the file is opened again. */
static void begin(void)
{
    struct stat status;
    notices.begun = true;
    notices.socket = fstat(STDERR_FILENO, &status) == 0 && S_ISSOCK(status.st_mode);
    if (!notices.socket)
        notices.fd =
            open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void write_unless_blocked(const char *bytes, size_t size)
{
    struct pollfd poll_fd = {STDERR_FILENO, POLLOUT, 0};
    ssize_t wrote = 0;
    if (notices.socket)
        wrote = send(STDERR_FILENO, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (notices.fd >= 0)
        wrote = write(notices.fd, bytes, size);
    else if (poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLOUT) != 0)
        wrote = write(STDERR_FILENO, bytes, size);
    (void)wrote; /* a line that nobody reads is lost */
}

void fm_console_notice(const char *command, const char *text)
{
    if (!notices.begun)
        begin();
    g_autofree char *line = g_strdup_printf("fathom %s: %s", command, text);
    size_t size = MIN(strlen(line), LINE_BYTES_MAX - 1);
    for (size_t i = 0; i < size; i++)
        line[i] = line[i] == '\n' ? ' ' : line[i];
    line[size] = '\0';
    if (g_strcmp0(line, notices.before) == 0)
        return;
    g_autofree char *whole = g_strconcat(line, "\n", NULL);
    write_unless_blocked(whole, size + 1);
    g_free(notices.before);
    notices.before = g_steal_pointer(&line);
}

/* libsoup warns of clients that have gone, which they may at any time. */
static bool is_of_no_use(const char *domain, GLogLevelFlags level)
{
    return (level & G_LOG_LEVEL_WARNING) != 0 && g_strcmp0(domain, "libsoup") == 0;
}

static void on_log(const char *domain, GLogLevelFlags level, const char *message, gpointer user)
{
    if (is_of_no_use(domain, level))
        return;
    if ((level & (G_LOG_FLAG_FATAL | G_LOG_LEVEL_ERROR)) != 0)
        g_log_default_handler(domain, level, message, user); /* the end: also if it takes a while */
    else if ((level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) != 0)
        fm_console_notice(user, message != NULL ? message : "");
}

void fm_console_notice_warnings(const char *command)
{
    g_log_set_default_handler(on_log, (gpointer)(uintptr_t)command);
}
