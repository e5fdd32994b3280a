/* SPDX-License-Identifier: Apache-2.0 */
/* The exec family in front of libc's. A tick that comes while the kernel is about to change
 * programs would be delivered to the new one, which has no handler for it, and end it: so the ticks
 * are off from here on, until an exec that failed has returned. */
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static struct {
    int (*execve)(const char *, char *const *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
} next;

/* At the start: the caller may be a child of vfork or a handler. */
__attribute__((constructor)) static void resolve(void)
{
    void *symbol = dlsym(RTLD_NEXT, "execve");
    memcpy(&next.execve, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_NEXT, "execvpe");
    memcpy(&next.execvpe, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_NEXT, "fexecve");
    memcpy(&next.fexecve, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_NEXT, "execveat");
    memcpy(&next.execveat, &symbol, sizeof symbol);
}

/* Those of this thread; a child of vfork has none, and its state is the parent's. */
static struct fm_thread *ticks_off(void)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    if (next.execve == NULL)
        resolve();
    if (thread == NULL || fm_process.state != FM_RECORDING || fm_process_is_copy() ||
        (uint32_t)getpid() != fm_process.header->pid)
        return NULL;
    fm_ticks_stop(thread);
    fm_process.header->state = FM_REC_EXECED;
    return thread;
}

static int failed(struct fm_thread *thread, int result)
{
    int saved_errno = errno;
    if (thread != NULL) {
        fm_process.header->state = FM_REC_RUNNING;
        fm_ticks_start(thread);
    }
    errno = saved_errno;
    return result;
}

FM_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    struct fm_thread *thread = ticks_off();
    return failed(thread, next.execve(path, argv, envp));
}

FM_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

FM_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    struct fm_thread *thread = ticks_off();
    return failed(thread, next.execvpe(file, argv, envp));
}

FM_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

FM_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    struct fm_thread *thread = ticks_off();
    return failed(thread, next.fexecve(fd, argv, envp));
}

FM_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    struct fm_thread *thread = ticks_off();
    return failed(thread, next.execveat(fd, path, argv, envp, flags));
}

/* How many arguments there are, with the NULL that ends them. */
static size_t count_arguments(const char *first, va_list arguments)
{
    size_t count = 1;
    for (const char *at = first; at != NULL; count++)
        at = va_arg(arguments, const char *);
    return count;
}

static void take_arguments(char **argv, const char *first, va_list arguments)
{
    memcpy(argv, &first, sizeof first);
    while (*argv != NULL)
        *++argv = va_arg(arguments, char *);
}

/* argv = the arguments behind the first, in memory of the calling function. */
#define TAKE_ARGUMENTS(argv, first, arguments)                                        \
    va_start(arguments, first);                                                       \
    char **argv = __builtin_alloca(count_arguments(first, arguments) * sizeof *argv); \
    va_end(arguments);                                                                \
    va_start(arguments, first);                                                       \
    take_arguments(argv, first, arguments)

FM_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list arguments;
    TAKE_ARGUMENTS(argv, first, arguments);
    va_end(arguments);
    return execve(path, argv, environ);
}

FM_EXPORT int execlp(const char *file, const char *first, ...)
{
    va_list arguments;
    TAKE_ARGUMENTS(argv, first, arguments);
    va_end(arguments);
    return execvpe(file, argv, environ);
}

FM_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list arguments;
    TAKE_ARGUMENTS(argv, first, arguments);
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, argv, environment);
}
