/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by the kernel for a thread (perf_event_open): its CPU clock, or events instead. */
#include "../files.h"
#include "../slots/slots.h"
#include "../unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_SETSIG
#define F_SETSIG 10
#endif
#ifndef F_SETOWN_EX
#define F_SETOWN_EX 15
struct f_owner_ex {
    int type;
    pid_t pid;
};
#endif
#define OWNER_THREAD 0 /* F_OWNER_TID */
#define PERF_HZ 997u

struct tick_event {
    const char *name;
    uint32_t number, type;
    uint64_t config, period;
    bool counted;
};

static const struct tick_event events[] = {
#define EVENT(upper, number, name, words, type, config, counted, period) \
    {(name), (number), (type), (config), (period), (counted)},
    FM_REC_TICK_EVENTS(EVENT)
#undef EVENT
};

static const struct tick_event *event_of(uint32_t number)
{
    return &events[number - 1];
}

/* EVENT[:PERIOD], with an event of perf_event_open. */
void fm_tick_event_wish(const char *wish)
{
    size_t length = 0;
    while (wish[length] != '\0' && wish[length] != ':')
        length++;
    uint64_t period = 0;
    for (const char *at = wish + length + (wish[length] == ':'); *at >= '0' && *at <= '9'; at++)
        period = period * 10 + (uint64_t)(*at - '0');
    fm_process.tick_period = period;
    if (length == 9 && memcmp(wish, "cpu-clock", length) == 0)
        fm_process.tick_source = FM_REC_TICK_PERF;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strlen(events[i].name) != length || memcmp(wish, events[i].name, length) != 0)
            continue;
        fm_process.tick_source = FM_REC_TICK_EVENT;
        fm_process.tick_event = events[i].number;
        fm_process.tick_counts = events[i].counted;
        fm_process.tick_period = events[i].counted ? 0 : period > 0 ? period : events[i].period;
    }
}

/* Signals of this kind are queued, not merged. When the queue is full (RLIMIT_SIGPENDING), SIGIO is
 * sent instead, which ends a program. So the sampler stops after that many events without a
 * delivered signal, as in a thread that is in the kernel for long; the counter continues. */
#define QUEUED_MAX 16
#define QUEUE_LEAST 64u

static bool has_queue(void)
{
    struct rlimit limit;
    return fm_limit_of(RLIMIT_SIGPENDING, &limit) && limit.rlim_cur >= QUEUE_LEAST;
}

static struct perf_event_attr wished_attributes(bool samples)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = samples ? 1000000000u / PERF_HZ : 0,
        .disabled = 1,
        .wakeup_events = samples,
    };
    if (fm_process.tick_source == FM_REC_TICK_EVENT) {
        const struct tick_event *event = event_of(fm_process.tick_event);
        attributes.type = event->type;
        attributes.config = event->config;
    }
    if (samples && fm_process.tick_period != 0)
        attributes.sample_period = fm_process.tick_period;
    return attributes;
}

/* Past libc's ioctl(), which is in front of libc's own. */
static bool ask_event(int fd, unsigned long request, const void *to)
{
    return fm_system_call(SYS_ioctl, fd, (long)request, (long)to, 0) == 0;
}

static int open_for_thread(const struct perf_event_attr *attributes)
{
    return (int)fm_system_call6(SYS_perf_event_open, (long)attributes, 0, -1, -1,
                                PERF_FLAG_FD_CLOEXEC, 0);
}

static bool open_event(struct fm_thread *thread, bool samples, bool *user_alone,
                       struct fm_perf_event *ret_event)
{
    struct perf_event_attr attributes = wished_attributes(samples);
    if (samples && fm_process.tick_source == FM_REC_TICK_PERF)
        attributes.sample_period = fm_tick_random(thread, attributes.sample_period);
    attributes.exclude_kernel = *user_alone;
    int fd = open_for_thread(&attributes);
    if (fd < 0 && fm_process.tick_source == FM_REC_TICK_EVENT && !fm_process.tick_counts) {
        attributes.exclude_kernel = 1; /* as unprivileged users may count */
        *user_alone = true;
        fd = open_for_thread(&attributes);
    }
    if (fd < 0)
        return false;
    ret_event->fd = fm_descriptor_raise(fd);
    if (ask_event(ret_event->fd, PERF_EVENT_IOC_ID, &ret_event->id))
        return true;
    fm_file_close(ret_event->fd);
    ret_event->fd = -1;
    return false;
}

static bool sends_ticks(const struct fm_perf_event *event, pid_t tid)
{
    struct f_owner_ex owner = {.type = OWNER_THREAD, .pid = tid};
    return fm_file_control(event->fd, F_SETSIG, FM_TICK_SIGNAL) == 0 &&
           fm_file_control(event->fd, F_SETOWN_EX, (long)&owner) == 0 &&
           fm_file_control(event->fd, F_SETFL, O_ASYNC) == 0 &&
           ask_event(event->fd, PERF_EVENT_IOC_REFRESH, (void *)QUEUED_MAX);
}

bool fm_tick_event_start(struct fm_thread *thread, bool *ret_user_alone)
{
    bool counts = fm_process.tick_source == FM_REC_TICK_EVENT, samples = !fm_process.tick_counts;
    thread->events_charged = 0;
    if ((samples && !has_queue()) ||
        (samples && !open_event(thread, true, ret_user_alone, &thread->sampler)) ||
        (counts && !open_event(thread, false, ret_user_alone, &thread->counter)) ||
        (counts && !ask_event(thread->counter.fd, PERF_EVENT_IOC_ENABLE, NULL)) ||
        (samples && !sends_ticks(&thread->sampler, (pid_t)thread->rec->tid))) {
        fm_ticks_leave(thread);
        return false;
    }
    return true;
}

/* The program may have closed the descriptor. */
static bool is_there(const struct fm_perf_event *event)
{
    uint64_t id = 0;
    return event->fd >= 0 && ask_event(event->fd, PERF_EVENT_IOC_ID, &id) && id == event->id;
}

/* Sets the next tick to half a period to one and a half from now. */
static void vary_period(struct fm_thread *thread)
{
    uint64_t period = wished_attributes(true).sample_period;
    uint64_t next = period / 2 + fm_tick_random(thread, period);
    ask_event(thread->sampler.fd, PERF_EVENT_IOC_PERIOD, &next);
}

void fm_tick_event_again(struct fm_thread *thread)
{
    if (!is_there(&thread->sampler))
        return;
    if (fm_process.tick_source == FM_REC_TICK_PERF)
        vary_period(thread);
    ask_event(thread->sampler.fd, PERF_EVENT_IOC_REFRESH, (void *)1);
}

void fm_tick_event_hold(struct fm_thread *thread, bool held)
{
    if (!is_there(&thread->sampler))
        return;
    if (held)
        ask_event(thread->sampler.fd, PERF_EVENT_IOC_DISABLE, NULL);
    else
        ask_event(thread->sampler.fd, PERF_EVENT_IOC_REFRESH, (void *)QUEUED_MAX);
}

uint64_t fm_tick_events_passed(struct fm_thread *thread)
{
    uint64_t count = 0;
    if (!is_there(&thread->counter) ||
        fm_system_call(0 /* read */, thread->counter.fd, (long)&count, sizeof count, 0) !=
            sizeof count ||
        count <= thread->events_charged)
        return 0;
    uint64_t passed = count - thread->events_charged;
    thread->events_charged = count;
    return passed;
}

static void charge_totals(struct fm_thread *thread, const struct fm_rec_csd *csd, uint64_t quanta)
{
    const struct fm_rec_frame *top = fm_stack_charged(thread, (uint64_t)__builtin_frame_address(0));
    struct fm_unwind_registers here = {0};
    fm_unwind_registers_here(&here);
    if (thread->slots != NULL)
        fm_slots_totals(thread, top, &here, csd, quanta);
    else
        fm_totals_charge(thread, top, csd, quanta);
}

void fm_ticks_settle(struct fm_thread *thread, struct fm_rec_csd *csd)
{
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    uint64_t quanta = fm_process.stopped ? 0 : fm_tick_events_passed(thread);
    fm_csd_add_quanta(thread, csd, quanta);
    if (quanta > 0)
        charge_totals(thread, csd, quanta);
    thread->rec->user_quanta += quanta;
    thread->rec->charges += quanta > 0;
    thread->rec->charge_squares += quanta * quanta;
    fm_restore_signals(mask);
    errno = saved_errno;
}

void fm_ticks_settle_rest(struct fm_thread *thread)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    if (fm_process.tick_source == FM_REC_TICK_EVENT && thread->stack != NULL)
        fm_ticks_settle(thread, (struct fm_rec_csd *)fm_stack_charged(thread, here)->csd);
}

/* The program may have opened a descriptor with that number. */
void fm_ticks_leave(struct fm_thread *thread)
{
    if (is_there(&thread->sampler))
        fm_file_close(thread->sampler.fd);
    if (is_there(&thread->counter))
        fm_file_close(thread->counter.fd);
    thread->counter.fd = thread->sampler.fd = -1;
}
