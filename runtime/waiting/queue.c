/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread was ready to run and had no processor: the kernel's own count. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "../sandbox/apart.h"
#include "../valgrind.h"
#include "waiting.h"

struct file {
    const char *path;
    char *text;
    long room, got;
};

static void read_file(void *argument)
{
    struct file *file = argument;
    long fd = fm_system_call(SYS_open, (long)file->path, O_RDONLY | O_CLOEXEC, 0, 0);
    if (fd < 0)
        return;
    file->got = fm_system_call(SYS_read, fd, (long)file->text, file->room, 0);
    fm_system_call(SYS_close, fd, 0, 0, 0);
}

/* The file of that thread: its path. /proc may be that of another namespace, where the process has
 * another number: false then. */
static bool path_of(uint32_t tid, char *ret_path, size_t room)
{
    char own[24], number[24];
    size_t digits = fm_text_append_number(number, sizeof number, 0,
                                          (uint64_t)fm_system_call(SYS_getpid, 0, 0, 0, 0));
    long got = fm_system_call(SYS_readlink, (long)"/proc/self", (long)own, sizeof own, 0);
    if (got < 0 || (size_t)got != digits || memcmp(own, number, digits) != 0)
        return false;
    size_t used = fm_text_append(ret_path, room, 0, "/proc/self/task/");
    used = fm_text_append_number(ret_path, room, used, tid);
    fm_text_append(ret_path, room, used, "/schedstat");
    return true;
}

void fm_queue_read(struct fm_rec_thread *rec, bool first)
{
    char path[64], text[96];
    /* Under valgrind a process that shares the memory is a copy, which at its end would write out
     * the program's stdio buffers. */
    if (fm_under_valgrind())
        return;
    struct file file = {path, text, sizeof text - 1, -1};
    if (!path_of(rec->tid, path, sizeof path) || !fm_apart_run(read_file, &file))
        return;
    text[file.got > 0 ? file.got : 0] = '\0';
    const char *at = text;
    while (*at >= '0' && *at <= '9')
        at++;
    if (at == text || *at++ != ' ')
        return;
    uint64_t queued = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        queued = queued * 10 + (uint64_t)(*at - '0');
    rec->queued_ns = queued != 0 ? queued : 1; /* 0: it is not known */
    if (first)
        rec->queued_first_ns = queued;
}

void fm_sleeps_prepare(void)
{
    const struct fm_rec_sleeps *sleeps = fm_arena_alloc_shared(sizeof *sleeps);
    if (sleeps != NULL)
        __atomic_store_n(&fm_process.header->sleeps, fm_ref(sleeps), __ATOMIC_RELEASE);
}
