/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process.h"
#include "base/text/shell.h"

#define PAGE 4096u
#define PARTS 32 /* pages copied by one call */

/* A field of /proc/PID/status: "TracerPid". -1: there is none. */
static int64_t status_of(pid_t pid, const char *field)
{
    g_autofree char *text = fm_process_text(pid, "status");
    g_autofree char *begin = g_strdup_printf("\n%s:", field);
    const char *at = text == NULL ? NULL : strstr(text, begin);
    return at == NULL ? -1 : g_ascii_strtoll(at + strlen(begin), NULL, 10);
}

static char *path_of(pid_t pid, const char *name)
{
    return g_strdup_printf("/proc/%d/%s", (int)pid, name);
}

static char *link_of(pid_t pid, const char *name)
{
    g_autofree char *path = path_of(pid, name);
    return g_file_read_link(path, NULL);
}

GArray *fm_target_threads(const struct fm_target *target)
{
    GArray *threads = g_array_new(FALSE, FALSE, sizeof(pid_t));
    g_autofree char *path = path_of(target->pid, "task");
    GDir *folder = g_dir_open(path, 0, NULL);
    const char *name;
    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
        pid_t tid = (pid_t)g_ascii_strtoll(name, NULL, 10);
        g_array_append_val(threads, tid);
    }
    if (folder != NULL)
        g_dir_close(folder);
    return threads;
}

size_t fm_target_copy(const struct fm_target *target, uint64_t address, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        struct iovec from[PARTS], own = {(char *)to + done, 0};
        unsigned count = 0;
        /* A part for each page, as a part is copied whole or not at all. */
        while (count < PARTS && done + own.iov_len < size) {
            uint64_t at = address + done + own.iov_len;
            size_t part = MIN(PAGE - at % PAGE, size - done - own.iov_len);
            from[count++] = (struct iovec){(void *)(uintptr_t)at, part};
            own.iov_len += part;
        }
        ssize_t got = process_vm_readv(target->pid, &own, 1, from, count, 0);
        if (got <= 0)
            break;
        done += (size_t)got;
        if ((size_t)got < own.iov_len)
            break;
    }
    return done;
}

uint64_t fm_target_kernel_ticks(const struct fm_target *target)
{
    g_autofree char *stat = fm_process_text(target->pid, "stat");
    const char *ticks = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_KERNEL_TICKS);
    return ticks == NULL ? 0 : g_ascii_strtoull(ticks, NULL, 10);
}

static char *command_of(pid_t pid)
{
    g_autofree char *path = path_of(pid, "cmdline");
    g_autofree char *text = NULL;
    gsize size = 0;
    GString *command = g_string_new(NULL);
    if (!g_file_get_contents(path, &text, &size, NULL))
        size = 0;
    for (gsize at = 0; at < size; at += strlen(text + at) + 1) {
        g_autofree char *word = fm_shell_word(text + at);
        g_string_append_printf(command, "%s%s", at > 0 ? " " : "", word);
    }
    return g_string_free(command, FALSE);
}

static uint64_t start_of(pid_t pid)
{
    g_autofree char *stat = fm_process_text(pid, "stat");
    g_autofree char *boot = NULL;
    const char *start = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_START);
    if (start == NULL || !g_file_get_contents("/proc/stat", &boot, NULL, NULL))
        return 0;
    const char *since = strstr(boot, "\nbtime ");
    if (since == NULL)
        return 0;
    return (g_ascii_strtoull(since + strlen("\nbtime "), NULL, 10) * 100 +
            g_ascii_strtoull(start, NULL, 10) * 100 / (uint64_t)sysconf(_SC_CLK_TCK)) *
           10000000;
}

/* --- what cannot be recorded --- */

static bool fail(int code, GError **error, const char *format, ...) FM_PRINTF(3, 4);
static bool fail(int code, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error_literal(error, FM_ERROR, code, text);
    return false;
}

static bool check_process(pid_t pid, GError **error)
{
    int64_t group = status_of(pid, "Tgid");
    g_autofree char *stat = fm_process_text(pid, "stat");
    const char *state = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_STATE);
    if (group < 0)
        return fail(FM_ERROR_UNAVAILABLE, error, "there is no process %d", (int)pid);
    if (group != pid)
        return fail(FM_ERROR_USAGE, error,
                    "%d is a thread of process %d: give the process's number", (int)pid,
                    (int)group);
    if (pid == getpid())
        return fail(FM_ERROR_USAGE, error, "%d is fathom itself", (int)pid);
    if (state != NULL && *state == 'Z')
        return fail(FM_ERROR_UNAVAILABLE, error, "process %d has ended", (int)pid);
    return true;
}

static bool check_program(pid_t pid, const char *file, int failure, GError **error)
{
    g_autofree char *path = path_of(pid, "exe");
    int64_t owner = status_of(pid, "Uid");
    if (file == NULL && failure == ENOENT)
        return fail(FM_ERROR_UNAVAILABLE, error, "process %d is the kernel's: it has no program",
                    (int)pid);
    if (file == NULL && owner >= 0 && (uid_t)owner != geteuid())
        return fail(FM_ERROR_UNAVAILABLE, error,
                    "no permission: process %d is another user's (%d): ask that user, or root",
                    (int)pid, (int)owner);
    if (file == NULL)
        return fail(FM_ERROR_UNAVAILABLE, error,
                    "no permission to look at process %d (%s): it has or had other privileges than "
                    "you (set-user-ID, capabilities)",
                    (int)pid, g_strerror(failure));
    unsigned char begin[EI_NIDENT + 4] = {0};
    int program = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = program >= 0 ? read(program, begin, sizeof begin) : 0;
    if (program >= 0)
        close(program);
    unsigned machine = begin[EI_NIDENT + 2] | (unsigned)begin[EI_NIDENT + 3] << 8;
    if (got == (ssize_t)sizeof begin && (begin[EI_CLASS] != ELFCLASS64 || machine != EM_X86_64))
        return fail(FM_ERROR_UNAVAILABLE, error,
                    "process %d runs a program of 32 bits or of another processor: %s", (int)pid,
                    file);
    return true;
}

bool fm_target_open(pid_t pid, struct fm_target *ret, GError **error)
{
    char byte[2];
    *ret = (struct fm_target){.pid = pid, .pidfd = -1};
    if (!check_process(pid, error))
        return false;
    g_autofree char *path = path_of(pid, "exe");
    char file[PATH_MAX];
    ssize_t size = readlink(path, file, sizeof file - 1);
    int failure = errno;
    file[size > 0 ? size : 0] = '\0';
    if (!check_program(pid, size > 0 ? file : NULL, failure, error))
        return false;
    ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (ret->pidfd < 0)
        return fail(FM_ERROR_UNAVAILABLE, error, "process %d has ended", (int)pid);
    if (g_str_has_suffix(file, " (deleted)"))
        file[strlen(file) - strlen(" (deleted)")] = '\0';
    ret->program = g_path_get_basename(file);
    ret->command = command_of(pid);
    ret->folder = link_of(pid, "cwd");
    ret->root = fm_process_root(pid);
    ret->rooted_at = link_of(pid, "root");
    if (g_strcmp0(ret->rooted_at, "/") == 0)
        g_clear_pointer(&ret->rooted_at, g_free);
    ret->start_ns = start_of(pid);
    ret->inner_pid = fm_process_inner(pid, pid);
    ret->parent = (pid_t)status_of(pid, "PPid");
    ret->tracer = (pid_t)status_of(pid, "TracerPid");
    ret->is_readable = fm_process_read(pid, pid, "syscall", byte, sizeof byte);
    return true;
}

void fm_target_close(struct fm_target *target)
{
    if (target->pidfd >= 0)
        close(target->pidfd);
    g_free(target->program);
    g_free(target->command);
    g_free(target->folder);
    g_free(target->root);
    g_free(target->rooted_at);
    target->pidfd = -1;
}
