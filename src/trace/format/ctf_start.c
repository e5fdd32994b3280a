/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/helper.h"
#include "trace/format/ctf.h"

enum { STATUS = 3, FOLDER = 4, SCRATCH_TRIES = 50, SCRATCH_PAUSE_US = 10000, SCRATCH_DEPTH = 8 };
enum { LINE_MAX_BYTES = 8192, NOTES_MAX_BYTES = 64 << 10 };

/* The importer removes its files itself, unless it is killed: so the folder of them is ours. */
static char *make_scratch(void)
{
    char *folder = g_build_filename(g_get_tmp_dir(), "fathom-ctf-XXXXXX", NULL);
    if (g_mkdtemp_full(folder, 0700) != NULL)
        return folder;
    g_free(folder); /* then damaged traces cannot be saved */
    return NULL;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    (void)remove(path);
    return 0;
}

/* The importer has ended, and its children were told to by the kernel: one may just be making a
 * file. */
static void remove_scratch(struct ctf_importer *importer)
{
    for (unsigned i = 0; importer->scratch != NULL && i < SCRATCH_TRIES; i++) {
        (void)nftw(importer->scratch, remove_one, SCRATCH_DEPTH, FTW_DEPTH | FTW_PHYS);
        if (access(importer->scratch, F_OK) < 0)
            break;
        g_usleep(SCRATCH_PAUSE_US);
    }
    g_clear_pointer(&importer->scratch, g_free);
}

static int spawn(const char *program, const char *path, const char *scratch, int folder, int log,
                 int status, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)path,
                    folder < 0 ? NULL : (char *)(uintptr_t) "opened", NULL};
    g_auto(GStrv) environment = g_get_environ();
    if (scratch != NULL)
        environment = g_environ_setenv(environment, "FATHOM_CTF_SCRATCH", scratch, TRUE);
    else
        environment = g_environ_unsetenv(environment, "FATHOM_CTF_SCRATCH");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, status, STATUS);
    if (folder >= 0)
        posix_spawn_file_actions_adddup2(&actions, folder, FOLDER);
    int failed = posix_spawn(ret, program, &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* A descriptor above those that the program is given, so that none is overwritten by another. */
static int raise_fd(int fd)
{
    int raised = fcntl(fd, F_DUPFD_CLOEXEC, FOLDER + 1);
    close(fd);
    return raised;
}

bool fm_ctf_importer_start(struct ctf_importer *importer, const char *path, int folder, int log,
                           GError **error)
{
    int ends[2];
    g_autofree char *program = fm_helper_path("fathom-import-ctf", "trace/ctf");
    memset(importer, 0, sizeof *importer);
    importer->status = -1;
    if (program == NULL || pipe2(ends, O_CLOEXEC) < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: cannot be read: %s", path,
                    program == NULL ? "the program fathom-import-ctf is not installed"
                                    : g_strerror(errno));
        return false;
    }
    int out = fcntl(log, F_DUPFD_CLOEXEC, FOLDER + 1);
    int told = raise_fd(ends[1]);
    int beneath = folder < 0 ? -1 : fcntl(folder, F_DUPFD_CLOEXEC, FOLDER + 1);
    importer->scratch = make_scratch();
    int failed = folder >= 0 && beneath < 0 ? errno
                                            : spawn(program, path, importer->scratch, beneath, out,
                                                    told, &importer->process);
    if (beneath >= 0)
        close(beneath);
    close(out);
    close(told);
    importer->status = ends[0];
    importer->heard = g_string_new(NULL);
    importer->notes = g_string_new(NULL);
    if (failed == 0)
        return true;
    importer->process = 0;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: cannot start %s: %s", path, program,
                g_strerror(failed));
    fm_ctf_importer_done(importer);
    return false;
}

static void take_line(struct ctf_importer *importer, const char *line)
{
    if (g_str_has_prefix(line, "begun ")) {
        importer->begun = true;
        importer->has_epoch = line[6] != '-' || line[7] != '\0';
        importer->epoch_ns = importer->has_epoch ? g_ascii_strtoll(line + 6, NULL, 10) : 0;
    } else if (g_str_has_prefix(line, "note ") && importer->notes->len < NOTES_MAX_BYTES) {
        g_string_append_printf(importer->notes, "%s\n", line + 5);
    } else if (g_str_has_prefix(line, "error ") && importer->error == NULL) {
        importer->error = g_strdup(line + 6);
    } else if (strcmp(line, "done") == 0) {
        importer->done = true;
    }
}

static void take_lines(struct ctf_importer *importer)
{
    char *at = importer->heard->str, *end;
    while ((end = strchr(at, '\n')) != NULL) {
        *end = '\0';
        take_line(importer, at);
        at = end + 1;
    }
    g_assert((gsize)(at - importer->heard->str) <= importer->heard->len);
    g_string_erase(importer->heard, 0, at - importer->heard->str);
    if (importer->heard->len > LINE_MAX_BYTES)
        g_string_truncate(importer->heard, 0);
}

/* It has closed its end: it is ending, or has. */
static void reap(struct ctf_importer *importer)
{
    int status;
    while (importer->process > 0 && waitpid(importer->process, &status, 0) < 0 && errno == EINTR) {
    }
    g_assert(importer->status >= 0);
    importer->process = 0;
    remove_scratch(importer);
    if (!importer->done && importer->error == NULL)
        take_line(importer, importer->begun ? "note the import ended early: events are missing"
                                            : "error the import ended before it began");
    importer->done = true;
}

bool fm_ctf_importer_listen(struct ctf_importer *importer)
{
    bool news = false;
    while (!importer->done || importer->process > 0) {
        char buffer[4096];
        struct pollfd poll_ = {.fd = importer->status, .events = POLLIN};
        int ready = poll(&poll_, 1, 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            break;
        ssize_t got = read(importer->status, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        news = true;
        if (got <= 0) {
            reap(importer);
            break;
        }
        g_string_append_len(importer->heard, buffer, got);
        take_lines(importer);
    }
    return news;
}

void fm_ctf_importer_wait(struct ctf_importer *importer, int64_t patience_us)
{
    g_assert(patience_us >= 0);
    int64_t end = g_get_monotonic_time() + patience_us;
    for (;;) {
        fm_ctf_importer_listen(importer);
        int64_t left_ms = (end - g_get_monotonic_time()) / 1000;
        bool waiting = !importer->begun && importer->error == NULL && importer->process > 0;
        if (!waiting || left_ms <= 0)
            return;
        struct pollfd poll_ = {.fd = importer->status, .events = POLLIN};
        (void)poll(&poll_, 1, (int)left_ms);
    }
}

void fm_ctf_importer_done(struct ctf_importer *importer)
{
    int status;
    if (importer->process > 0) {
        kill(importer->process, SIGTERM); /* it takes its temporary files away */
        while (waitpid(importer->process, &status, 0) < 0 && errno == EINTR) {
        }
    }
    remove_scratch(importer);
    if (importer->status >= 0)
        close(importer->status);
    if (importer->heard != NULL)
        g_string_free(importer->heard, TRUE);
    if (importer->notes != NULL)
        g_string_free(importer->notes, TRUE);
    g_free(importer->error);
    memset(importer, 0, sizeof *importer);
    importer->status = -1;
}
