/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that no hook makes known: they begin in front of their function. */
#include "unwound.h"

struct fm_unwound_start {
    void *(*function)(void *);
    void *argument;
};

struct fm_unwound_start *fm_unwound_start_new(void *(*function)(void *), void *argument)
{
    struct fm_unwound_start *start = fm_private_alloc(sizeof *start);
    if (start != NULL)
        *start = (struct fm_unwound_start){function, argument};
    return start;
}

void fm_unwound_start_free(struct fm_unwound_start *start)
{
    fm_private_free(start, sizeof *start);
}

void fm_unwound_thread_begin(uint64_t started_in)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (tls->thread != NULL || tls->inside != 0 || fm_process_is_copy())
        return;
    uint64_t mask = fm_block_signals();
    tls->inside = 1;
    struct fm_thread *thread =
        fm_process_start() ? fm_thread_make((uint64_t)__builtin_frame_address(0)) : NULL;
    if (thread != NULL && thread->rec->started_in == 0)
        thread->rec->started_in = started_in;
    tls->inside = 0;
    fm_restore_signals(mask);
}

static __attribute__((noinline)) struct fm_unwound_start begin(void *data)
{
    struct fm_unwound_start start = *(const struct fm_unwound_start *)data;
    fm_unwound_start_free(data);
    fm_unwound_thread_begin((uint64_t)start.function);
    fm_tick_signal_look();
    return start;
}

/* The function is jumped to, so that no frame of ours stands below it. */
void *fm_unwound_run(void *data)
{
    struct fm_unwound_start start = begin(data);
    return start.function(start.argument);
}

int fm_unwound_run_c11(void *data)
{
    struct fm_unwound_start start = begin(data);
    int (*function)(void *) = (int (*)(void *))(void (*)(void))start.function;
    return function(start.argument);
}
