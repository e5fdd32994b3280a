/* SPDX-License-Identifier: Apache-2.0 */
/* fathom-import-ctf FOLDER [opened]: writes the CTF traces below FOLDER as one event log to
 * standard output. "opened": descriptor 4 is that folder, and nothing outside of it is read.
 * FATHOM_CTF_SCRATCH is a folder for temporary files, removed at the end. Status messages go to
 * descriptor 3, one in a line:
 *
 *   begun EPOCH     something can be read; ns from 1970 to time 0, or "-"
 *   grown           more can be read
 *   note TEXT       something that could not be read
 *   error TEXT      nothing can be read
 *   done            everything has been written
 *
 * Some kinds of damage make the library end its process. So the import runs in a child process;
 * if that dies before anything was written, the import is repeated carefully. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/ctf/ctf_import.h"

enum { STATUS = 3, FOLDER = 4 };

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

/* Limit of CPU time up to the next round of blocks: the first one reads all packet headers. */
enum { STEP_SECONDS = 60 };

static void begun(void *user, bool has_epoch, int64_t epoch_ns)
{
    g_autofree char *epoch =
        has_epoch ? g_strdup_printf("%" G_GINT64_FORMAT, (gint64)epoch_ns) : g_strdup("-");
    (void)user;
    fm_ctf_limit_work(STEP_SECONDS);
    tell("begun", epoch);
}

static void grown(void *user)
{
    (void)user;
    fm_ctf_limit_work(STEP_SECONDS);
    tell("grown", "");
}

static void note(void *user, const char *line)
{
    (void)user;
    tell("note", line);
}

static sigset_t unblocked; /* the initial signal mask, without the signals that end the process */

/* Ends the process. */
static void import(const char *path, int folder, bool careful)
{
    const struct ctf_watcher watcher = {.begun = begun, .grown = grown, .note = note};
    GError *error = NULL;
    /* Ends when the parent ends. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &unblocked, NULL);
    fm_ctf_limit_work(STEP_SECONDS);
    bool good = fm_ctf_import(path, folder, STDOUT_FILENO, careful, &watcher, &error);
    tell(good ? "done" : "error", good ? "" : error->message);
    _exit(0);
}

/* --- temporary folder: child processes may end at any time and leave files --- */

static char *make_scratch(void)
{
    const char *given = g_getenv("FATHOM_CTF_SCRATCH"); /* its creator removes it */
    char *folder = given != NULL ? g_strdup(given)
                                 : g_build_filename(g_get_tmp_dir(), "fathom-ctf-XXXXXX", NULL);
    if (given != NULL || g_mkdtemp_full(folder, 0700) != NULL) {
        g_setenv("TMPDIR", folder, TRUE);
        return folder;
    }
    g_free(folder); /* then damaged files cannot be salvaged */
    return NULL;
}

static void remove_scratch(const char *folder)
{
    GDir *dir = folder == NULL ? NULL : g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        fm_ctf_folder_remove(path);
    }
    if (dir != NULL)
        g_dir_close(dir);
    if (folder != NULL)
        (void)rmdir(folder);
}

/* --- the waiting process --- */

static volatile sig_atomic_t asked_to_end;

static void on_end_signal(int signal_)
{
    asked_to_end = signal_;
}

static void on_child_signal(int signal_)
{
    (void)signal_; /* interrupts the wait */
}

/* The signals are blocked except during the wait, so that none is missed just before it. */
static void heed_end_signals(void)
{
    const struct sigaction action = {.sa_handler = on_end_signal};
    const struct sigaction child = {.sa_handler = on_child_signal};
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&blocked, signals[i]);
    (void)sigprocmask(SIG_BLOCK, &blocked, &unblocked);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigdelset(&unblocked, signals[i]); /* even if the parent blocks them */
    (void)sigaction(SIGCHLD, &child, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* Returns the signal that ended the child, 0 when it exited. */
static int import_apart(const char *path, int folder, bool careful)
{
    int status = 0;
    pid_t child = asked_to_end != 0 ? -1 : fork();
    if (child == 0)
        import(path, folder, careful);
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        if (asked_to_end != 0)
            kill(child, SIGKILL);
        sigsuspend(&unblocked);
    }
    return child < 0 ? -1 : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int import_all(const char *path, int folder)
{
    int ended_by = import_apart(path, folder, false);
    off_t written = lseek(STDOUT_FILENO, 0, SEEK_END);
    if (ended_by != 0 && written == 0)
        ended_by = import_apart(path, folder, true);
    if (ended_by == 0 || asked_to_end != 0)
        return ended_by != 0;
    g_autofree char *line = g_strdup_printf(
        "%s: the babeltrace2 library gave up (%s); what came after could not be read", path,
        ended_by == SIGPROF ? "it worked for a minute without an event"
        : ended_by > 0      ? strsignal(ended_by)
                            : g_strerror(errno));
    tell(lseek(STDOUT_FILENO, 0, SEEK_END) == 0 ? "error" : "note", line);
    tell("done", "");
    return 1;
}

int main(int argc, char **argv)
{
    bool opened = argc == 3 && strcmp(argv[2], "opened") == 0;
    if (argc != 2 && !opened) {
        fputs("usage: fathom-import-ctf FOLDER [opened 4<FOLDER] 3>STATUS >LOG\n", stderr);
        return 2;
    }
    heed_end_signals();
    g_autofree char *scratch = make_scratch();
    int status = import_all(argv[1], opened ? FOLDER : -1);
    remove_scratch(scratch);
    return status;
}
