/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/tick_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "runtime/recording_format.h"

struct event {
    const char *name;
    uint32_t type;
    uint64_t config;
    bool counted;
};

static const struct event events[] = {
#define EVENT(upper, number, name, words, type, config, counted, period) \
    {(name), (type), (config), (counted)},
    FM_REC_TICK_EVENTS(EVENT)
#undef EVENT
};

static char *names(void)
{
    g_autoptr(GString) text = g_string_new("cpu-clock");
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
        g_string_append_printf(text, ", %s", events[i].name);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool parse(const char *text, const struct event **ret_event, uint64_t *ret_period,
                  GError **error)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    *ret_event = NULL;
    *ret_period = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
        if (strlen(events[i].name) == length && strncmp(events[i].name, text, length) == 0)
            *ret_event = &events[i];
    bool clock = length == strlen("cpu-clock") && strncmp(text, "cpu-clock", length) == 0;
    if (*ret_event == NULL && !clock) {
        g_autofree char *known = names();
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "--tick: unknown event '%.*s', expected one of: %s", (int)length, text, known);
        return false;
    }
    if (colon == NULL)
        return true;
    if (!g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT32, ret_period, NULL)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "--tick: the period is '%s', expected a number from 1 to 4294967295",
                    colon + 1);
        return false;
    }
    if (*ret_event != NULL && (*ret_event)->counted) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "--tick: %s are all counted, expected no period", (*ret_event)->name);
        return false;
    }
    return true;
}

static int open_event(const struct event *event, bool user_alone)
{
    struct perf_event_attr attributes = {
        .type = event->type,
        .size = sizeof attributes,
        .config = event->config,
        .sample_period = event->counted ? 0 : 1000000,
        .disabled = 1,
        .exclude_kernel = user_alone,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* When the kernel's setting is low enough, the refusal has another cause. */
static void tell_refusal(const struct event *event, GError **error)
{
    g_autofree char *text = NULL;
    const char *level = "not known";
    int enough = event->counted ? 1 : 2;
    if (g_file_get_contents("/proc/sys/kernel/perf_event_paranoid", &text, NULL, NULL))
        level = g_strstrip(text);
    if (text != NULL && g_ascii_strtoll(level, NULL, 10) <= enough)
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "--tick: this user may not count %s, though kernel.perf_event_paranoid is %s: "
                    "the container or a security module forbids perf_event_open",
                    event->name, level);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "--tick: the kernel does not let this user count %s: "
                    "kernel.perf_event_paranoid is %s; `sysctl kernel.perf_event_paranoid=%d` "
                    "changes it, and containers may forbid perf_event_open altogether",
                    event->name, level, enough);
}

bool fm_tick_event_check(const char *text, GError **error)
{
    const struct event *event;
    uint64_t period;
    if (!parse(text, &event, &period, error))
        return false;
    static const struct event clock = {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
                                       false};
    event = event == NULL ? &clock : event;
    int fd = open_event(event, false);
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !event->counted)
        fd = open_event(event, true);
    int failure = errno;
    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (failure == EACCES || failure == EPERM) {
        tell_refusal(event, error);
    } else if (failure == ENOENT || failure == ENODEV || failure == EOPNOTSUPP ||
               failure == EINVAL) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "--tick: this machine does not count %s (%s): virtual machines mostly have no "
                    "hardware counters",
                    event->name, g_strerror(failure));
    } else {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "--tick: %s cannot be counted: %s",
                    event->name, g_strerror(failure));
    }
    return false;
}
