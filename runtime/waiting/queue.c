/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread was ready to run and had no processor: the kernel's own count. */
#include "../sandbox/gate.h"
#include "../valgrind.h"
#include "waiting.h"

/* Reads a file such that the program sees no descriptor of it: in a process that shares the memory,
 * but not the descriptors. Another thread may be about to close a descriptor and rely on getting
 * its number. */
struct apart {
    const char *path;
    char *text;
    long room, got;
};

static __attribute__((noreturn, noinline, used)) void read_apart_run(struct apart *apart)
{
    long fd = fm_system_call(2 /* open */, (long)apart->path, 0, 0, 0);
    apart->got = fd < 0 ? fd : fm_system_call(0 /* read */, fd, (long)apart->text, apart->room, 0);
    for (;;)
        fm_system_call(60 /* exit */, 0, 0, 0, 0);
}

#define APART_FLAGS (0x100L | 0x4000) /* CLONE_VM | CLONE_VFORK, no signal at its end */
/* A sandbox may let some of its calls through. */
static bool may_read_apart(const char *path)
{
    static const long calls[] = {56 /* clone */, 2 /* open */, 0 /* read */, 60 /* exit */,
                                 61 /* wait4 */};
    uint64_t arguments[6] = {APART_FLAGS}; /* arguments of clone */
    for (unsigned i = 0; fm_sandbox.on && i < sizeof calls / sizeof calls[0]; i++) {
        if (!fm_sandbox_allows(calls[i], arguments))
            return false;
        arguments[0] = (uint64_t)path;
    }
    return true;
}

#define APART_STACK_BYTES 2048
static long read_apart(const char *path, char *text, long room)
{
    struct apart apart = {path, text, room, -1};
    char stack[APART_STACK_BYTES] __attribute__((aligned(16)));
    uint64_t mask = fm_block_signals();
    uint32_t calling = fm_tls_v2.calling; /* the copy ends in the midst of a call */
    if ((mask & FM_SIGNALS_OPEN) != 0 || !may_read_apart(path)) {
        fm_restore_signals(mask);
        return -1;
    }
    long pid = 56 /* clone */;
    register long thread_id __asm__("r10") = 0;
    register long tls __asm__("r8") = 0;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "movq %[apart], %%rdi\n\t"
                     "callq *%[run]\n\t"
                     "1:"
                     : "+a"(pid)
                     : "D"(APART_FLAGS), "S"(stack + sizeof stack), "d"(0L), "r"(thread_id),
                       "r"(tls), [apart] "b"(&apart), [run] "r"(read_apart_run)
                     : "rcx", "r11", "memory", "cc");
    fm_tls_v2.calling = calling;
    if (pid > 0)
        fm_system_call(61 /* wait4 */, pid, 0, (long)0x80000000 /* __WCLONE */, 0);
    fm_restore_signals(mask);
    return apart.got;
}

void fm_queue_read(struct fm_rec_thread *rec, bool first)
{
    char path[64], text[96];
    /* Under valgrind a process that shares the memory is a copy, which at its end would write out
     * the program's stdio buffers. */
    if (fm_under_valgrind())
        return;
    size_t used = fm_text_append(path, sizeof path, 0, "/proc/");
    used = fm_text_append_number(path, sizeof path, used,
                                 (uint64_t)fm_system_call(39 /* getpid */, 0, 0, 0, 0));
    used = fm_text_append(path, sizeof path, used, "/task/");
    used = fm_text_append_number(path, sizeof path, used, rec->tid);
    fm_text_append(path, sizeof path, used, "/schedstat");
    long got = read_apart(path, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
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
