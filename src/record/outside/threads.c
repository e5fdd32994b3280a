/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/threads.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/process.h"

#define ASLEEP_BYTES 16384u /* each sleeping thread keeps so much of its stack */

struct thread {
    pid_t tid;
    struct fm_process_counts counts;
    uint64_t looked_ns;
    uint64_t ran_ns;   /* that no sample stands for yet */
    uint64_t slept_ns; /* in the sleep, or not known where */
    uint64_t ready_ns;
    GByteArray *sleep; /* record of the sleep that lasts; NULL = none */
    unsigned look;     /* number of the last look that found it */
};

struct fm_thread_counts {
    const struct fm_target *target;
    struct fm_perf_live *live;
    struct fm_python *python;
    GHashTable *threads; /* tid -> struct thread * */
    unsigned look;
    bool with_cpu;
};

static void thread_free(void *of)
{
    struct thread *thread = of;
    if (thread->sleep != NULL)
        g_byte_array_unref(thread->sleep);
    g_free(thread);
}

struct fm_thread_counts *fm_thread_counts_new(const struct fm_target *target,
                                              struct fm_perf_live *live, struct fm_python *python,
                                              bool with_cpu)
{
    struct fm_thread_counts *counts = g_new0(struct fm_thread_counts, 1);
    counts->target = target;
    counts->live = live;
    counts->python = python;
    counts->with_cpu = with_cpu;
    counts->threads = g_hash_table_new_full(NULL, NULL, NULL, thread_free);
    return counts;
}

void fm_thread_counts_free(struct fm_thread_counts *counts)
{
    if (counts == NULL)
        return;
    g_hash_table_unref(counts->threads);
    g_free(counts);
}

/* --- what the kernel says --- */

uint64_t fm_thread_turns(const struct fm_target *target, pid_t tid)
{
    struct fm_process_counts now;
    return fm_process_counts(target->pid, tid, &now) ? now.turns : 0;
}

/* --- samples --- */

static bool add_time(struct fm_thread_counts *of, const struct thread *thread,
                     enum fm_perf_live_measure measure, uint64_t ns, GError **error)
{
    const struct fm_outside_sample sample = {
        .pid = of->target->pid, .tid = thread->tid, .measure = measure, .ns = ns};
    g_autoptr(GByteArray) record = ns == 0 ? NULL : fm_outside_record(&sample);
    return record == NULL || fm_perf_live_add(of->live, record->data, record->len, error);
}

/* The sleep is over: adds its time. */
static bool end_sleep(struct fm_thread_counts *of, struct thread *thread, GError **error)
{
    uint64_t ns = thread->slept_ns;
    g_autoptr(GByteArray) record = g_steal_pointer(&thread->sleep);
    thread->slept_ns = 0;
    if (record == NULL)
        return add_time(of, thread, FM_PERF_LIVE_ASLEEP, ns, error);
    fm_outside_set_ns(record, ns);
    return ns == 0 || fm_perf_live_add(of->live, record->data, record->len, error);
}

/* "7 0x7ffd... ... SP PC", or "-1 SP PC" outside of system calls. The copy is one of one sleep if
 * the thread was not given a CPU meanwhile. */
static GByteArray *read_sleep(struct fm_thread_counts *of, const struct thread *thread)
{
    char text[256];
    struct fm_process_counts after;
    unsigned long long sp, ip;
    struct fm_outside_sample sample = {
        .pid = of->target->pid, .tid = thread->tid, .measure = FM_PERF_LIVE_ASLEEP};
    if (!fm_process_read(of->target->pid, thread->tid, "syscall", text, sizeof text))
        return NULL;
    int fields = text[0] == '-' ? sscanf(text, "-1 %llx %llx", &sp, &ip)
                                : sscanf(text, "%*d %*x %*x %*x %*x %*x %*x %llx %llx", &sp, &ip);
    if (fields != 2)
        return NULL;
    g_autoptr(GByteArray) stack = g_byte_array_new();
    g_byte_array_set_size(stack, ASLEEP_BYTES);
    g_byte_array_set_size(stack, (guint)fm_target_copy(of->target, sp, stack->data, ASLEEP_BYTES));
    sample.known = FM_OUTSIDE_SP_IP;
    sample.registers[FM_OUTSIDE_SP] = sp;
    sample.registers[FM_OUTSIDE_IP] = ip;
    sample.stack = stack;
    g_autoptr(GByteArray) scripts = g_byte_array_new();
    fm_python_frames(of->python, thread->tid, scripts);
    sample.scripts = scripts;
    if (!fm_process_counts(of->target->pid, thread->tid, &after) ||
        after.turns != thread->counts.turns)
        return NULL;
    return fm_outside_record(&sample);
}

/* --- looks --- */

/* A thread that was not there at the last look. */
static struct thread *begin(struct fm_thread_counts *of, pid_t tid, GError **error)
{
    struct thread *thread = g_new0(struct thread, 1);
    thread->tid = tid;
    g_hash_table_insert(of->threads, GINT_TO_POINTER(tid), thread);
    return fm_outside_name(of->live, of->target, tid, error) ? thread : NULL;
}

/* Takes the times since the last look. Of a new thread nothing is known before. */
static void take_times(struct thread *thread, const struct fm_process_counts *now, bool is_new)
{
    uint64_t at = fm_outside_clock_ns(CLOCK_MONOTONIC);
    if (!is_new) {
        uint64_t wall = at - thread->looked_ns, ran = now->ran_ns - thread->counts.ran_ns;
        uint64_t ready = now->queued_ns - thread->counts.queued_ns;
        thread->ran_ns += ran;
        thread->ready_ns += ready;
        thread->slept_ns += wall > ran + ready ? wall - ran - ready : 0;
    }
    thread->counts = *now;
    thread->looked_ns = at;
}

static bool look_at(struct fm_thread_counts *of, pid_t tid, GArray *running, GError **error)
{
    struct thread *thread = g_hash_table_lookup(of->threads, GINT_TO_POINTER(tid));
    struct fm_process_counts now;
    bool is_new = thread == NULL;
    if (is_new)
        thread = begin(of, tid, error);
    if (thread == NULL)
        return false;
    thread->look = of->look;
    if (!fm_process_counts(of->target->pid, tid, &now))
        return true;
    bool same = now.turns == thread->counts.turns;
    if (same && thread->sleep != NULL) { /* it still sleeps */
        take_times(thread, &now, is_new);
        return true;
    }
    /* Time asleep since belongs to the sleep that is over, if its place is known. */
    bool had_sleep = thread->sleep != NULL;
    if (had_sleep) {
        take_times(thread, &now, is_new);
        if (!end_sleep(of, thread, error))
            return false;
    }
    char state = fm_process_state(of->target->pid, tid);
    if (!had_sleep)
        take_times(thread, &now, is_new);
    if (state == 'S' || state == 'D') {
        thread->sleep = read_sleep(of, thread);
    } else if (running != NULL && state == 'R') {
        struct fm_thread_run run = {tid, now.turns, thread->ran_ns};
        g_array_append_val(running, run);
    }
    return true;
}

static bool end_thread(struct fm_thread_counts *of, struct thread *thread, GError **error)
{
    return end_sleep(of, thread, error) &&
           add_time(of, thread, FM_PERF_LIVE_READY, thread->ready_ns, error) &&
           (!of->with_cpu || add_time(of, thread, FM_PERF_LIVE_CPU, thread->ran_ns, error));
}

/* Threads that were not found any more. Their numbers may be given to others. */
static bool end_gone(struct fm_thread_counts *counts, GError **error)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, counts->threads);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct thread *thread = value;
        if (thread->look == counts->look)
            continue;
        if (!end_thread(counts, thread, error))
            return false;
        g_hash_table_iter_remove(&iter);
    }
    return true;
}

bool fm_thread_counts_look(struct fm_thread_counts *counts, GArray *running, GError **error)
{
    g_autoptr(GArray) threads = fm_target_threads(counts->target);
    counts->look++;
    for (guint i = 0; i < threads->len; i++) {
        if (!look_at(counts, g_array_index(threads, pid_t, i), running, error))
            return false;
    }
    return end_gone(counts, error);
}

void fm_thread_counts_sampled(struct fm_thread_counts *counts, pid_t tid)
{
    struct thread *thread = g_hash_table_lookup(counts->threads, GINT_TO_POINTER(tid));
    if (thread != NULL)
        thread->ran_ns = 0;
}

bool fm_thread_counts_end(struct fm_thread_counts *counts, GError **error)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, counts->threads);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        if (!end_thread(counts, value, error))
            return false;
    }
    return true;
}
