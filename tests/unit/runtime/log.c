/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: logs every hook event to the file FATHOM_TEST_LOG, then goes on to the runtime's own
 * hook. Linked with --wrap for both hooks, so both see the same program and the same addresses. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

struct event {
    uint32_t tid, kind; /* 0 enter, 1 exit */
    uint64_t fn, site, hook_pc, frame;
    /* Hashes of the modules' paths and offsets there: libraries may come and go. */
    uint64_t hook_module, hook_offset, site_module, site_offset;
};

QUIET static void place(uint64_t address, uint64_t *module, uint64_t *offset)
{
    Dl_info info;
    char *real = NULL;
    const char *path = "";
    *offset = address;
    if (dladdr((void *)address, &info) != 0) {
        real = realpath(info.dli_fname, NULL);
        path = real != NULL ? real : info.dli_fname;
        *offset = address - (uint64_t)info.dli_fbase;
    }
    *module = 14695981039346656037ull;
    for (; *path != '\0'; path++)
        *module = (*module ^ (unsigned char)*path) * 1099511628211ull;
    free(real);
}

QUIET static int log_file(void)
{
    static int fd = -1;
    if (fd < 0) {
        const char *path = getenv("FATHOM_TEST_LOG");
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
    return fd;
}

QUIET void fm_test_log(uint64_t kind, uint64_t fn, uint64_t site, uint64_t hook_pc, uint64_t rbp,
                       uint64_t rsp);
QUIET void fm_test_log(uint64_t kind, uint64_t fn, uint64_t site, uint64_t hook_pc, uint64_t rbp,
                       uint64_t rsp)
{
    struct event event = {.tid = (uint32_t)syscall(SYS_gettid),
                          .kind = (uint32_t)kind,
                          .fn = fn,
                          .site = site,
                          .hook_pc = hook_pc,
                          .frame = hook_pc == site ? rsp - 8 : rbp};
    place(hook_pc, &event.hook_module, &event.hook_offset);
    place(site, &event.site_module, &event.site_offset);
    if (write(log_file(), &event, sizeof event) != (ssize_t)sizeof event)
        abort();
}

#define WRAP(name, kind)                                                                    \
    __asm__(".text\n.globl __wrap_" name "\n__wrap_" name ":\n"                             \
            "push %rdi\npush %rsi\nmov 16(%rsp), %rcx\nlea 16(%rsp), %r9\nmov %rbp, %r8\n"  \
            "mov %rsi, %rdx\nmov %rdi, %rsi\nmov $" kind ", %edi\nsub $8, %rsp\n"           \
            "mov %rbp, %rax\npush %rbp\nmov %rsp, %rbp\nand $-16, %rsp\ncall fm_test_log\n" \
            "mov %rbp, %rsp\npop %rbp\nadd $8, %rsp\npop %rsi\npop %rdi\njmp __real_" name "\n")

WRAP("__cyg_profile_func_enter", "0");
WRAP("__cyg_profile_func_exit", "1");
