/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of waits: its source, its rate, and the latest moment of the recording. */
#include "waiting.h"

#include <string.h>

#define THRESHOLD_NS 2000u
#define CALIBRATION_NS 10000u
#define TRIES 3

/* The counter and the time at one moment. A thread that is descheduled between the readings pairs
 * values of different moments, which distorts the clock's rate: of a few tries, the one with the
 * closest readings counts. */
static struct fm_rec_moment moment_now(void)
{
    struct fm_rec_moment moment = {0, 0};
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < TRIES && narrowest >= fm_process.wait_threshold / 4; i++) {
        uint64_t before = fm_wait_clock_now();
        uint64_t ns = fm_now_ns(CLOCK_MONOTONIC);
        uint64_t width = fm_wait_clock_now() - before;
        if (fm_process.wait_clock == FM_REC_CLOCK_MONOTONIC)
            return (struct fm_rec_moment){ns, ns};
        if (width < narrowest) {
            narrowest = width;
            moment = (struct fm_rec_moment){before + width / 2, ns};
        }
    }
    return moment;
}

/* Writes the entry that is not valid: a reader may come at any time. */
void fm_waiting_note_moment(void)
{
    if (fm_process.wait_clock == 0)
        return;
    if (!fm_lock_try(&fm_process.moment_lock))
        return; /* another thread is at it */
    struct fm_rec_header *header = fm_process.header;
    uint32_t other = header->wait_latest_at ^ 1;
    header->wait_latest[other] = moment_now();
    __atomic_store_n(&header->wait_latest_at, other, __ATOMIC_RELEASE);
    fm_lock_give(&fm_process.moment_lock);
}

bool fm_clock_is_tsc(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char word[4] = "";
    long fd = fm_system_call(2 /* open */, (long)path, 02000000 /* O_CLOEXEC */, 0, 0);
    if (fd < 0)
        return false;
    long got = fm_system_call(0 /* read */, fd, (long)word, sizeof word, 0);
    fm_system_call(3 /* close */, fd, 0, 0, 0);
    return got == sizeof word && memcmp(word, "tsc\n", sizeof word) == 0;
}

static void calibrate(void)
{
    struct fm_process *p = &fm_process;
    p->wait_first = moment_now();
    struct fm_rec_moment then;
    do
        then = moment_now();
    while (then.ns - p->wait_first.ns < CALIBRATION_NS);
    p->wait_ticks_per_ms =
        (then.ticks - p->wait_first.ticks) * 1000000u / (then.ns - p->wait_first.ns);
    p->wait_threshold = p->wait_ticks_per_ms * THRESHOLD_NS / 1000000u;
}

void fm_wait_clock_begin(void)
{
    struct fm_process *p = &fm_process;
    if (p->wait_clock == 0) {
        p->wait_clock = fm_clock_is_tsc() ? FM_REC_CLOCK_TSC : FM_REC_CLOCK_MONOTONIC;
        calibrate();
    }
    struct fm_rec_header *header = p->header;
    header->wait_threshold_ns = THRESHOLD_NS;
    header->wait_first = p->wait_first;
    fm_waiting_note_moment();
    __atomic_store_n(&header->wait_clock, p->wait_clock, __ATOMIC_RELEASE);
}
