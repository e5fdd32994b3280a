/* SPDX-License-Identifier: Apache-2.0 */
/* The process: its arguments, ids, clock and modules. */
#include "core/clock.h"
#include "core/threads.h"
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

static struct fm_el_process process; /* guarded by the state lock, like modules */
/* payloads of event 526, each preceded by its length in 16 bits */
static struct fm_el_bytes modules;

const struct fm_el_process *fm_el_process(void)
{
    return &process;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct fm_el_bytes *b = context;
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD)
            continue;
        low = h->p_vaddr < low ? h->p_vaddr : low;
        high = h->p_vaddr + h->p_memsz > high ? h->p_vaddr + h->p_memsz : high;
    }
    if (low > high)
        return 0;
    char self[4096];
    const char *path = info->dlpi_name;
    if (path[0] == '\0') { /* the program itself comes first; the vdso has a name */
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        self[n > 0 ? n : 0] = '\0';
        path = self;
    }
    fm_el_put16(b, (uint16_t)(24 + strlen(path)));
    fm_el_put64(b, info->dlpi_addr + low);
    fm_el_put64(b, high - low);
    fm_el_put64(b, info->dlpi_addr);
    fm_el_put(b, path, strlen(path));
    return 0;
}

static size_t read_args(char *out, size_t room)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n;
    while (fd >= 0 && used < room && (n = read(fd, out + used, room - used)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    while (used > 0 && out[used - 1] != '\0') /* whole arguments only */
        used--;
    FM_EL_ASSERT(used <= room);
    return used;
}

void fm_el_process_refresh(void)
{
    struct fm_el_bytes found = {0};
    /* takes the loader's lock, so none of the library's locks is held */
    dl_iterate_phdr(add_module, &found);
    fm_el_state_lock();
    if (process.pid != (uint32_t)getpid()) { /* the first time, or in a child */
        struct timespec wall;
        process.wall_at_ns = fm_el_clock_ns();
        clock_gettime(CLOCK_REALTIME, &wall);
        process.wall_s = (uint64_t)wall.tv_sec;
        process.wall_ns = (uint32_t)wall.tv_nsec;
        process.args_bytes = read_args(process.args, sizeof(process.args));
    }
    process.pid = (uint32_t)getpid();
    process.ppid = (uint32_t)getppid();
    struct fm_el_bytes old = modules;
    modules = found;
    fm_el_state_unlock();
    fm_el_bytes_done(&old);
}

const struct fm_el_bytes *fm_el_process_modules(void)
{
    return &modules;
}
