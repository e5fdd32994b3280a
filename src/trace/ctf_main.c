/* SPDX-License-Identifier: Apache-2.0 */
/* fathom-import-ctf FOLDER: writes the CTF traces below FOLDER as one event log to standard output,
 * and what happens, a line each, to descriptor 3:
 *
 *   begun EPOCH     something can be read; ns from 1970 to time 0, or "-"
 *   grown           more can be read
 *   note TEXT       what could not be read
 *   error TEXT      nothing can be read
 *   done            all is written
 *
 * The library ends its process at some kinds of damage. So it has one of its own; when that dies
 * before anything was written, all is tried again carefully. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/ctf_import.h"

enum { STATUS = 3 };

static void tell(const char *word, const char *text)
{
    g_autofree char *line = g_strdup_printf("%s%s%s\n", word, text[0] == '\0' ? "" : " ", text);
    for (size_t at = 0, length = strlen(line); at < length;) {
        ssize_t wrote = write(STATUS, line + at, length - at);
        if (wrote < 0 && errno != EINTR)
            return;
        at += wrote < 0 ? 0 : (size_t)wrote;
    }
}

static void begun(void *user, bool has_epoch, int64_t epoch_ns)
{
    g_autofree char *epoch =
        has_epoch ? g_strdup_printf("%" G_GINT64_FORMAT, (gint64)epoch_ns) : g_strdup("-");
    (void)user;
    tell("begun", epoch);
}

static void grown(void *user)
{
    (void)user;
    tell("grown", "");
}

static void note(void *user, const char *line)
{
    (void)user;
    tell("note", line);
}

/* Ends the process. */
static void import(const char *path, bool careful)
{
    const struct ctf_watcher watcher = {.begun = begun, .grown = grown, .note = note};
    GError *error = NULL;
    /* An end of the parent is ours. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool good = fm_ctf_import(path, STDOUT_FILENO, careful, &watcher, &error);
    tell(good ? "done" : "error", good ? "" : error->message);
    _exit(0);
}

/* The signal that ended it, 0 when it ended itself. */
static int import_apart(const char *path, bool careful)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        import(path, careful);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child < 0 ? -1 : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: fathom-import-ctf FOLDER 3>STATUS >LOG\n", stderr);
        return 2;
    }
    int signal = import_apart(argv[1], false);
    off_t written = lseek(STDOUT_FILENO, 0, SEEK_END);
    if (signal != 0 && written == 0)
        signal = import_apart(argv[1], true);
    if (signal == 0)
        return 0;
    g_autofree char *line = g_strdup_printf(
        "%s: the babeltrace2 library gave up (%s); what came after could not be read", argv[1],
        signal > 0 ? strsignal(signal) : g_strerror(errno));
    tell(lseek(STDOUT_FILENO, 0, SEEK_END) == 0 ? "error" : "note", line);
    tell("done", "");
    return 1;
}
