/* SPDX-License-Identifier: Apache-2.0 */
/* Interposes the exec family. A tick that arrives while the kernel replaces the program would be
 * delivered to the new one, which has no handler, and end it. So ticks are off from here until a
 * failed exec has returned. A program that ignores the tick's signal passes that on to the new
 * program, as it would without the runtime. */
#include "front.h"
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    int (*execve)(const char *, char *const *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
} next;

#ifdef FATHOM_STATIC
#define EXEC(name, companion, next, next_companion) \
    extern __typeof__(name) fm_front_##name;        \
    FM_FRONT_WAY(name, companion, next, next_companion)
EXEC(execve, execve, &next.execve, NULL)
EXEC(execv, execve, NULL, &next.execve)
EXEC(execl, execve, NULL, &next.execve)
EXEC(execle, execve, NULL, &next.execve)
EXEC(execvpe, execvpe, &next.execvpe, NULL)
EXEC(execvp, execvpe, NULL, &next.execvpe)
EXEC(execlp, execvpe, NULL, &next.execvpe)
EXEC(fexecve, fexecve, &next.fexecve, NULL)
EXEC(execveat, execveat, &next.execveat, NULL)
#else
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
#endif

struct before {
    struct fm_thread *thread; /* its ticks are off; NULL: it has none */
    bool lent_signal;
};

/* Stops the ticks of this thread. A child of vfork has none and shares the parent's state, except
 * for signal actions. */
static struct before ticks_off(void)
{
    struct fm_thread *thread = fm_tls_v2.thread;
    bool lent = fm_tick_signal_lend();
#ifndef FATHOM_STATIC
    if (next.execve == NULL)
        resolve();
#endif
    if (thread == NULL || fm_process.state != FM_RECORDING || fm_process_is_copy() ||
        fm_system_call(SYS_getpid, 0, 0, 0, 0) != fm_process.header->pid)
        return (struct before){NULL, lent};
    fm_ticks_stop(thread);
    fm_process.header->end_monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    fm_process.header->state = FM_REC_EXECED;
    return (struct before){thread, lent};
}

static int failed(struct before before, int result)
{
    int saved_errno = errno;
    if (before.lent_signal)
        fm_tick_signal_take();
    if (before.thread != NULL) {
        fm_process.header->state = FM_REC_RUNNING;
        fm_process.header->end_monotonic_ns = 0;
        fm_ticks_start(before.thread);
    }
    errno = saved_errno;
    return result;
}

/* Like libc's functions, even if the program defines execve and execvpe itself. */
static int go(const char *path, char *const argv[], char *const envp[])
{
    FM_FIT_ENVIRONMENT(fit, path, envp);
    struct before before = ticks_off();
    return failed(before, next.execve(path, argv, fit));
}

static int search_and_go(const char *file, char *const argv[], char *const envp[])
{
    FM_FIT_ENVIRONMENT(fit, file, envp);
    struct before before = ticks_off();
    return failed(before, next.execvpe(file, argv, fit));
}

FM_FRONT_EXPORT int FM_FRONT(execve)(const char *path, char *const argv[], char *const envp[])
{
    return go(path, argv, envp);
}

FM_FRONT_EXPORT int FM_FRONT(execv)(const char *path, char *const argv[])
{
    return go(path, argv, environ);
}

FM_FRONT_EXPORT int FM_FRONT(execvpe)(const char *file, char *const argv[], char *const envp[])
{
    return search_and_go(file, argv, envp);
}

FM_FRONT_EXPORT int FM_FRONT(execvp)(const char *file, char *const argv[])
{
    return search_and_go(file, argv, environ);
}

FM_FRONT_EXPORT int FM_FRONT(fexecve)(int fd, char *const argv[], char *const envp[])
{
    char path[40] = "/proc/self/fd/";
    fm_text_append_number(path, sizeof path, strlen(path), fd < 0 ? 0 : (uint64_t)fd);
    FM_FIT_ENVIRONMENT(fit, path, envp);
    struct before before = ticks_off();
    return failed(before, next.fexecve(fd, argv, fit));
}

FM_FRONT_EXPORT int FM_FRONT(execveat)(int fd, const char *path, char *const argv[],
                                       char *const envp[], int flags)
{
    FM_FIT_ENVIRONMENT(fit, path, envp);
    struct before before = ticks_off();
    return failed(before, next.execveat(fd, path, argv, fit, flags));
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

/* argv = the variadic arguments, in memory of the calling function. */
#define TAKE_ARGUMENTS(argv, first, arguments)                                        \
    va_start(arguments, first);                                                       \
    char **argv = __builtin_alloca(count_arguments(first, arguments) * sizeof *argv); \
    va_end(arguments);                                                                \
    va_start(arguments, first);                                                       \
    take_arguments(argv, first, arguments)

FM_FRONT_EXPORT int FM_FRONT(execl)(const char *path, const char *first, ...)
{
    va_list arguments;
    TAKE_ARGUMENTS(argv, first, arguments);
    va_end(arguments);
    return go(path, argv, environ);
}

FM_FRONT_EXPORT int FM_FRONT(execlp)(const char *file, const char *first, ...)
{
    va_list arguments;
    TAKE_ARGUMENTS(argv, first, arguments);
    va_end(arguments);
    return search_and_go(file, argv, environ);
}

FM_FRONT_EXPORT int FM_FRONT(execle)(const char *path, const char *first, ...)
{
    va_list arguments;
    TAKE_ARGUMENTS(argv, first, arguments);
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return go(path, argv, environment);
}
