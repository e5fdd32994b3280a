/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinding cost in nanoseconds per frame, for stacks of several depths: with all rules cached,
 * with none, with all registers at each frame, and by libgcc. CPU time, the minimum of several
 * rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unwind.h>

#include "unwind/leave.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#define ROUNDS 15
#define FRAMES_A_ROUND 2000000u

static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static unsigned walk_by_rules(const struct fm_unwind_registers *registers, uint64_t low,
                              uint64_t high)
{
    struct fm_unwind walk;
    unsigned frames = 0;
    fm_unwind_begin(&walk, registers, low, high);
    while (fm_unwind_step(&walk) == FM_UNWIND_FRAME)
        frames++;
    sink += walk.ip;
    return frames;
}

static unsigned walk_by_rows(const struct fm_unwind_registers *registers, uint64_t low,
                             uint64_t high)
{
    struct fm_unwind_registers all = *registers;
    struct fm_unwind_memory memory = {.low = low, .high = high};
    struct fm_unwind_entry entry;
    struct fm_unwind_row row;
    unsigned frames = 0;
    while (fm_unwind_row_at(all.value[FM_UNWIND_RIP] - (frames > 0), frames == 0, &entry, &row) &&
           fm_unwind_leave(&entry, &row, frames == 0, &all, &memory) == FM_UNWIND_FRAME)
        frames++;
    return frames;
}

static unsigned walk_anew(const struct fm_unwind_registers *registers, uint64_t low, uint64_t high)
{
    fm_unwind_forget();
    return walk_by_rules(registers, low, high);
}

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *frames)
{
    sink += _Unwind_GetIP(context);
    ++*(unsigned *)frames;
    return _URC_NO_REASON;
}

static unsigned walk_by_libgcc(const struct fm_unwind_registers *registers, uint64_t low,
                               uint64_t high)
{
    unsigned frames = 0;
    (void)registers;
    (void)low;
    (void)high;
    _Unwind_Backtrace(count, &frames);
    return frames;
}

static double least(unsigned (*walk)(const struct fm_unwind_registers *, uint64_t, uint64_t),
                    const struct fm_unwind_registers *registers, uint64_t high)
{
    double best = 1e30;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t frames = 0;
        double before = now_ns();
        while (frames < FRAMES_A_ROUND / (walk == walk_by_rules ? 1 : 50))
            frames += walk(registers, registers->value[FM_UNWIND_RSP], high);
        double each = (now_ns() - before) / (double)frames;
        best = each < best ? each : best;
    }
    return best;
}

static __attribute__((noinline)) int measure(int depth, uint64_t high)
{
    struct fm_unwind_registers registers;
    fm_unwind_registers_here(&registers);
    printf("%5u frames: %5.1f ns by rules, %5.1f by asking for each page, %5.0f with no rule "
           "known, %5.0f by rows, %5.0f by libgcc\n",
           walk_by_rules(&registers, registers.value[FM_UNWIND_RSP], high),
           least(walk_by_rules, &registers, high), least(walk_by_rules, &registers, 0),
           least(walk_anew, &registers, high), least(walk_by_rows, &registers, high),
           least(walk_by_libgcc, &registers, high));
    return depth;
}

static int deep(int depth, int to, uint64_t high);
static int deeper(int depth, int to, uint64_t high);
static int deepest(int depth, int to, uint64_t high);
/* Functions with different frames, in an order that branch predictors cannot learn from one
 * return. */
static int (*const volatile next[])(int, int, uint64_t) = {deep,    deeper, deepest, deep,
                                                           deepest, deeper, deeper};

static __attribute__((noinline)) int deep(int depth, int to, uint64_t high)
{
    return (depth == to ? measure(depth, high) : next[depth % 7](depth + 1, to, high)) + 1;
}
static __attribute__((noinline)) int deeper(int depth, int to, uint64_t high)
{
    volatile int room[20] = {depth};
    return (depth == to ? measure(depth, high) : next[depth % 7](depth + 1, to, high)) + room[0];
}
static __attribute__((noinline)) int deepest(int depth, int to, uint64_t high)
{
    volatile char *room = __builtin_alloca((unsigned)depth % 50 + 1);
    room[0] = (char)depth;
    return (depth == to ? measure(depth, high) : next[depth % 7](depth + 1, to, high)) + room[0];
}

int main(int argument_count, char **arguments)
{
    (void)argument_count;
    for (int to = 10; to <= 300; to = to == 10 ? 30 : to == 30 ? 100 : 300 + (to == 300))
        deep(0, to, (uint64_t)(arguments + 1) & ~7ull);
    return 0;
}
