/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/outside.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/outside/events.h"
#include "record/outside/stops.h"

#define LOOK_NS 50000000u /* from one look at sleeping threads to the next, at least */
#define STOP_NS (1000000000u / FM_STOPS_HZ)
#define COST_SHARE 50u /* the next look is that many times as far as this one took */
#define NS_PER_MS 1000000u
#define MAPS_NS 1000000000u

struct fm_outside {
    struct fm_target target;
    struct fm_perf_live *live;
    struct fm_events *events; /* NULL: by stops */
    struct fm_stops *stops;
    struct fm_thread_counts *counts;
    struct fm_python *python;
    struct fm_children *children;
    char *words;
    uint64_t began_ns, kernel_ticks;
    uint64_t cost_ns; /* the last look took */
    uint64_t maps_ns; /* time of the last look for libraries */
    bool for_python;  /* why it is sampled by stops */
    bool ended;       /* the process */
    bool counted;     /* what threads had not added yet when sampling ended */
};

/* --- how --- */

bool fm_outside_way_wanted(enum fm_outside_way *ret, GError **error)
{
    const char *text = g_getenv("FATHOM_ATTACH");
    *ret = FM_OUTSIDE_ANY;
    if (text == NULL || text[0] == '\0')
        return true;
    if (strcmp(text, "perf") == 0)
        *ret = FM_OUTSIDE_EVENTS;
    else if (strcmp(text, "ptrace") == 0)
        *ret = FM_OUTSIDE_STOPS;
    else
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "FATHOM_ATTACH=%s: expected perf or ptrace",
                    text);
    return *ret != FM_OUTSIDE_ANY;
}

static int read_setting(const char *path)
{
    g_autofree char *text = NULL;
    return g_file_get_contents(path, &text, NULL, NULL) ? (int)g_ascii_strtoll(text, NULL, 10) : -9;
}

/* Why the kernel takes no samples. g_free() */
static char *events_refused(int code)
{
    int paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid");
    if (code == EMFILE || code == ENFILE)
        return g_strdup("the process has more threads than files may be open (ulimit -n)");
    if (code == EACCES && paranoid > 2)
        return g_strdup_printf("kernel.perf_event_paranoid is %d", paranoid);
    if (code == EPERM || code == EACCES)
        return g_strdup("perf_event_open is not permitted here (another user's process, or a "
                        "container's filter)");
    return g_strdup_printf("perf_event_open: %s", g_strerror(code));
}

/* Why threads cannot be stopped; NULL: they can. g_free() */
static char *stops_refused(const struct fm_target *target)
{
    int yama = read_setting("/proc/sys/kernel/yama/ptrace_scope");
    g_autofree char *tracer = NULL;
    g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int)target->tracer);
    if (target->tracer > 0) {
        if (!g_file_get_contents(path, &tracer, NULL, NULL))
            tracer = g_strdup("?");
        return g_strdup_printf("process %d (%s) traces it already", (int)target->tracer,
                               g_strchomp(tracer));
    }
    if (target->is_readable)
        return NULL;
    if (yama >= 1)
        return g_strdup_printf("kernel.yama.ptrace_scope is %d: %s", yama,
                               yama == 1
                                   ? "a program that `fathom record -- PROGRAM` starts can be "
                                     "sampled, or ask root"
                                   : "ask root");
    return g_strdup("no permission to trace it: it is another user's, or has other privileges");
}

/* --- begin --- */

static bool begin_events(struct fm_outside *outside, char **ret_refused)
{
    int code = 0;
    outside->events = fm_events_new(&outside->target, outside->live, outside->children, &code);
    if (outside->events == NULL) {
        *ret_refused = events_refused(code);
        return false;
    }
    outside->words =
        g_strdup_printf("sampled by the kernel (perf events), %u times a second of CPU time%s",
                        1000000000u / FM_OUTSIDE_PERIOD_NS,
                        fm_events_has_kernel(outside->events) ? "" : "; not within the kernel");
    return true;
}

static bool begin_stops(struct fm_outside *outside, const char *events, GError **error)
{
    g_autofree char *refused = stops_refused(&outside->target);
    if (refused != NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "process %d cannot be sampled: %s%s%s",
                    (int)outside->target.pid, events == NULL ? "" : events,
                    events == NULL ? "" : "; ", refused);
        return false;
    }
    outside->stops = fm_stops_new(&outside->target, outside->live, outside->python);
    outside->words = g_strdup_printf(
        "sampled by stopping threads that run (ptrace), %u times a second%s%s%s", FM_STOPS_HZ,
        outside->for_python ? ": functions of Python can be read then" : "",
        events == NULL ? "" : ", as ", events == NULL ? "" : events);
    return true;
}

/* Looks for Python's interpreter. */
static bool find_python(struct fm_outside *outside)
{
    uint64_t low, high;
    if (!fm_python_find(outside->python))
        return false;
    fm_python_code(outside->python, &low, &high);
    fm_perf_live_script(outside->live, low, high);
    return true;
}

/* Only of a thread that is stopped the functions of Python can be read. The interpreter may be in
 * a library that a program is about to load. */
static bool is_python(struct fm_outside *outside)
{
    const struct fm_target *target = &outside->target;
    return target->is_readable && target->tracer == 0 &&
           (find_python(outside) || g_str_has_prefix(target->program, "python3"));
}

static bool begin(struct fm_outside *outside, enum fm_outside_way way, GError **error)
{
    g_autofree char *refused = NULL;
    const struct fm_perf_live_of of = {outside->target.program, FM_ORIGIN_OUTSIDE,
                                       outside->target.root, outside->target.inner_pid};
    outside->live = fm_perf_live_new(&of);
    outside->python = fm_python_new(&outside->target);
    outside->children = fm_children_new(&outside->target);
    outside->for_python = is_python(outside) && way == FM_OUTSIDE_ANY;
    if (outside->for_python)
        way = FM_OUTSIDE_STOPS;
    if (way == FM_OUTSIDE_STOPS || !begin_events(outside, &refused)) {
        if (way == FM_OUTSIDE_EVENTS) {
            g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "process %d cannot be sampled: %s",
                        (int)outside->target.pid, refused);
            return false;
        }
        if (!begin_stops(outside, refused, error))
            return false;
    }
    outside->counts = fm_thread_counts_new(&outside->target, outside->live, outside->python,
                                           outside->stops != NULL);
    outside->kernel_ticks = fm_target_kernel_ticks(&outside->target);
    outside->began_ns = fm_outside_clock_ns(CLOCK_MONOTONIC);
    bool in_kernel = outside->events != NULL && fm_events_has_kernel(outside->events);
    return (!in_kernel || fm_outside_kernel(outside->live, error)) &&
           fm_outside_maps(outside->live, &outside->target, error) &&
           fm_thread_counts_look(outside->counts, NULL, error);
}

bool fm_outside_begin(pid_t pid, enum fm_outside_way way, struct fm_outside **ret, GError **error)
{
    struct fm_outside *outside = g_new0(struct fm_outside, 1);
    if (!fm_target_open(pid, &outside->target, error) || !begin(outside, way, error)) {
        fm_outside_free(outside);
        return false;
    }
    *ret = outside;
    return true;
}

void fm_outside_free(struct fm_outside *outside)
{
    if (outside == NULL)
        return;
    fm_events_free(outside->events);
    fm_stops_free(outside->stops);
    fm_thread_counts_free(outside->counts);
    fm_python_free(outside->python);
    fm_children_free(outside->children);
    fm_perf_live_free(outside->live);
    fm_target_close(&outside->target);
    g_free(outside->words);
    g_free(outside);
}

const char *fm_outside_words(const struct fm_outside *outside)
{
    return outside->words;
}

const char *fm_outside_program(const struct fm_outside *outside)
{
    return outside->target.program;
}

/* --- run --- */

static volatile sig_atomic_t asked_to_end;

static void ask_to_end(int number)
{
    (void)number;
    asked_to_end = true;
}

/* No SA_RESTART: the signal ends the wait for samples. */
const volatile sig_atomic_t *fm_outside_catch_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction action = {.sa_handler = ask_to_end};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        sigaction(numbers[i], &action, NULL);
    return &asked_to_end;
}

/* The kernel tells of libraries that are loaded later with its own samples alone. */
static bool look_for_maps(struct fm_outside *outside, GError **error)
{
    uint64_t now = fm_outside_clock_ns(CLOCK_MONOTONIC);
    if (outside->stops == NULL || now - outside->maps_ns < MAPS_NS)
        return true;
    outside->maps_ns = now;
    return fm_outside_maps(outside->live, &outside->target, error);
}

/* Returns the time of the next look in *next. A look that reads files for names is an exception. */
static bool look(struct fm_outside *outside, uint64_t *next, GError **error)
{
    g_autoptr(GArray) running = g_array_new(FALSE, FALSE, sizeof(struct fm_thread_run));
    uint64_t began = fm_outside_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    fm_children_look(outside->children);
    bool done =
        look_for_maps(outside, error) && fm_thread_counts_look(outside->counts, running, error) &&
        (outside->stops == NULL || fm_stops_take(outside->stops, outside->counts, running, error));
    uint64_t cost = fm_outside_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    uint64_t pause = MIN(cost, outside->cost_ns) * COST_SHARE;
    outside->cost_ns = cost;
    *next = fm_outside_clock_ns(CLOCK_MONOTONIC) +
            MAX(pause, outside->stops != NULL ? STOP_NS : LOOK_NS);
    return done;
}

static bool wait_until(const struct fm_outside *outside, uint64_t moment)
{
    uint64_t now = fm_outside_clock_ns(CLOCK_MONOTONIC);
    int ms = moment <= now ? 0 : (int)MIN((moment - now) / NS_PER_MS + 1, 1000);
    struct pollfd ended = {.fd = outside->target.pidfd, .events = POLLIN};
    if (outside->events != NULL)
        return fm_events_wait(outside->events, &outside->target, ms);
    return poll(&ended, 1, ms) > 0;
}

bool fm_outside_run(struct fm_outside *outside, uint64_t for_ns, const volatile sig_atomic_t *asked,
                    const struct fm_outside_turn *turn, GError **error)
{
    uint64_t next = outside->began_ns, end = for_ns == 0 ? UINT64_MAX : outside->began_ns + for_ns;
    while (!outside->ended && !*asked && fm_outside_clock_ns(CLOCK_MONOTONIC) < end) {
        outside->ended = wait_until(outside, MIN(next, end));
        if (outside->events != NULL && !fm_events_take(outside->events, error))
            return false;
        if (!outside->ended && fm_outside_clock_ns(CLOCK_MONOTONIC) >= next &&
            !look(outside, &next, error))
            return false;
        if (turn != NULL && !turn->function(turn->user))
            break;
    }
    uint64_t last;
    if (!outside->ended && !look(outside, &last, error))
        return false;
    outside->counted = true;
    return (outside->events == NULL || fm_events_take(outside->events, error)) &&
           fm_thread_counts_end(outside->counts, error);
}

/* --- end --- */

static char *stops_words(const struct fm_outside *outside)
{
    if (outside->stops == NULL)
        return NULL;
    return g_strdup_printf("threads were stopped %" G_GUINT64_FORMAT " times, for %.1f ms together",
                           (guint64)fm_stops_count(outside->stops),
                           (double)fm_stops_ns(outside->stops) / NS_PER_MS);
}

/* Sentences for the user, also notes of the profile. */
static GPtrArray *say_all(const struct fm_outside *outside)
{
    GPtrArray *said = g_ptr_array_new_with_free_func(g_free);
    char *all[] = {stops_words(outside), fm_children_words(outside->children)};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        if (all[i] != NULL)
            g_ptr_array_add(said, all[i]);
    }
    return said;
}

static void add_notes(struct fm_outside *outside, const GPtrArray *said)
{
    struct fm_build *build = fm_perf_live_build(outside->live);
    g_autofree char *how = g_strdup_printf(
        "the process was %s; calls and allocations were not recorded", outside->words);
    fm_build_note(build, how);
    for (guint i = 0; i < said->len; i++)
        fm_build_note(build, g_ptr_array_index(said, i));
    uint64_t ticks = fm_target_kernel_ticks(&outside->target);
    if (outside->events != NULL && !fm_events_has_kernel(outside->events) &&
        ticks > outside->kernel_ticks) {
        g_autofree char *kernel = g_strdup_printf(
            "CPU time in the kernel was not sampled (kernel.perf_event_paranoid is %d): %.2f s",
            read_setting("/proc/sys/kernel/perf_event_paranoid"),
            (double)(ticks - outside->kernel_ticks) / (double)sysconf(_SC_CLK_TCK));
        fm_build_note(build, kernel);
    }
    if (!outside->target.is_readable)
        fm_build_note(build, "where threads slept was not recorded: no permission to trace the "
                             "process");
}

bool fm_outside_finish(struct fm_outside *outside, struct fm_profile **ret, GPtrArray **ret_said,
                       GError **error)
{
    struct fm_build *build = fm_perf_live_build(outside->live);
    const struct fm_target *target = &outside->target;
    const struct fm_process_fact process = {.command = target->command,
                                            .folder = target->folder,
                                            .pid = (uint32_t)target->pid,
                                            .parent_pid = (uint32_t)MAX(target->parent, 0),
                                            .start_ns = target->start_ns};
    fm_build_header(build)->duration_ns = fm_outside_clock_ns(CLOCK_MONOTONIC) - outside->began_ns;
    fm_build_process(build, &process);
    *ret_said = say_all(outside);
    add_notes(outside, *ret_said);
    return fm_perf_live_finish(outside->live, ret, error);
}

bool fm_outside_write(struct fm_outside *outside, const char *path, GError **error)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GPtrArray) said = NULL;
    return (outside->counted || fm_thread_counts_end(outside->counts, error)) &&
           fm_outside_finish(outside, &profile, &said, error) &&
           fm_profile_write(profile, path, false, error);
}
