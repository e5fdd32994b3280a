/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

/* A longer log is truncated, since a server may run for months. */
#define LOG_BYTES_MAX (4 << 20)

void fm_cgi_log_init(struct fm_cgi_log *log, const struct fm_cgi_options *options)
{
    *log = (struct fm_cgi_log){
        .fd = -1,
        .level = options->log_level,
        .all_on_stderr = options->log_on_stderr,
    };
}

/* Whether a file begins like a log: with a time and a process. A user's file that was named by
 * mistake is only appended to. */
static bool is_log(int fd)
{
    char start[] = "0000-00-00T00:00:00Z 0";
    if (pread(fd, start, sizeof start - 1, 0) != (ssize_t)sizeof start - 1)
        return false;
    for (char *c = start; *c != '\0'; c++)
        *c = g_ascii_isdigit(*c) ? '0' : *c;
    return strcmp(start, "0000-00-00T00:00:00Z 0") == 0;
}

void fm_cgi_log_open(struct fm_cgi_log *log, int dir_fd, const char *path)
{
    if (log->fd >= 0 || log->level == FM_CGI_LOG_NONE)
        return;
    /* O_NONBLOCK: opening must not block on a foreign FIFO. */
    int fd = openat(dir_fd, path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                    0600);
    int problem = errno;
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        log->fd = fd;
        if (status.st_size <= LOG_BYTES_MAX || !is_log(fd) || ftruncate(fd, 0) == 0)
            return;
        log->fd = -1;
        problem = errno;
    }
    if (fd >= 0)
        close(fd);
    g_autofree char *what = fm_cgi_describe_stranger(dir_fd, path, S_IFREG);
    if (what != NULL)
        fm_cgi_log(log, FM_CGI_LOG_ERRORS, "%s", what);
    else
        fm_cgi_log(log, FM_CGI_LOG_ERRORS, "%s: %s", path, g_strerror(problem));
}

/* Writes to standard error; dropped when its reader has stopped reading. */
static void say(const char *message)
{
    struct pollfd polled = {STDERR_FILENO, POLLOUT, 0};
    if (poll(&polled, 1, 0) <= 0 || (polled.revents & POLLOUT) == 0)
        return;
    g_autofree char *line = g_strdup_printf("fathom cgi: %.3000s\n", message);
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
}

void fm_cgi_log(const struct fm_cgi_log *log, enum fm_cgi_log_level level, const char *format, ...)
{
    /* Standard error is the web server's log, or the terminal. */
    bool on_stderr = log->all_on_stderr || level == FM_CGI_LOG_ERRORS;
    if (level > log->level || (log->fd < 0 && !on_stderr))
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    /* one line for each entry, whatever the query contains */
    for (char *c = message; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ')
            *c = '?';
    }
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *when = g_date_time_format_iso8601(now);
    g_autofree char *line = g_strdup_printf("%s %d %s\n", when, (int)getpid(), message);
    ssize_t written = log->fd < 0 ? 0 : write(log->fd, line, strlen(line));
    (void)written; /* a full disk must not stop the answer */
    if (on_stderr)
        say(message);
}
