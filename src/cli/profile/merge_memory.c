/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/profile/merge_memory.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>

#include "base/console/say.h"
#include "base/files/unfinished.h"

/* An abort or a fault is taken for one from lack of memory if this much more cannot be had. Another
 * thread may just have freed a little. */
#define PROBE_BYTES (4 << 20)
#define HANDLER_STACK (64 << 10)

static void end_without_memory(void)
{
    static const char text[] = "fathom merge: not enough memory\n";
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&ending)) { /* the other thread ends the process */
        for (;;)
            pause();
    }
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    fm_unfinished_remove();
    _exit(FM_EXIT_FAILED);
}

static void tell_no_memory(const char *domain, GLogLevelFlags level, const char *message,
                           gpointer user)
{
    if ((level & G_LOG_LEVEL_ERROR) == 0 ||
        (strstr(message, "failed to allocate") == NULL && strstr(message, "memory") == NULL)) {
        g_log_default_handler(domain, level, message, user);
        return;
    }
    end_without_memory();
}

static bool memory_is_short(void)
{
    void *more = mmap(NULL, PROBE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more != MAP_FAILED)
        munmap(more, PROBE_BYTES);
    return more == MAP_FAILED;
}

/* GLib's slices abort without a call of the log's handler. */
static void on_abort(int number)
{
    if (memory_is_short())
        end_without_memory();
    signal(number, SIG_DFL);
    raise(number);
}

/* Runs on a stack of its own. g_error() formats its message in memory that g_malloc() gives, and
 * that calls g_error() when there is none, until the stack is full. */
static void on_fault(int number)
{
    if (memory_is_short())
        end_without_memory();
    signal(number, SIG_DFL); /* the instruction is run again and ends the process */
}

/* AddressSanitizer gives each thread one, and frees it at the thread's end. */
static void use_stack(char *stack)
{
    const stack_t own = {.ss_sp = stack, .ss_size = HANDLER_STACK};
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0)
        sigaltstack(&own, NULL);
}

void fm_merge_memory_watch(void)
{
    static char stack[HANDLER_STACK];
    const struct sigaction abort = {.sa_handler = on_abort};
    const struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    use_stack(stack);
    g_log_set_default_handler(tell_no_memory, NULL);
    sigaction(SIGABRT, &abort, NULL);
    sigaction(SIGSEGV, &fault, NULL);
}

void fm_merge_memory_watch_reader(void)
{
    static char stack[HANDLER_STACK];
    use_stack(stack);
}
