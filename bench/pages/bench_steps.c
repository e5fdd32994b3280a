/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of the engine's steps while a profile is opened: bench_steps FILE. A request that
 * arrives waits for at most one step. Thread CPU time, so that other programs do not count. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "open/profile.h"

#define MODULES_MAX 16

struct module {
    const char *name;
    GArray *times; /* uint64_t, nanoseconds */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct fm_trace *open_profile(const char *path, const char *identity, void *user,
                                     GError **error)
{
    (void)user;
    return fm_profile_open(path, identity, NULL, error);
}

static struct module *module_of(struct module *modules, const char *name)
{
    unsigned i = 0;
    while (modules[i].name != NULL && g_strcmp0(modules[i].name, name) != 0)
        i++;
    if (modules[i].name == NULL)
        modules[i] = (struct module){name, g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    return &modules[i];
}

static int compare_times(gconstpointer a, gconstpointer b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void print_module(struct module *module)
{
    double sum = 0;
    g_array_sort(module->times, compare_times);
    for (unsigned i = 0; i < module->times->len; i++)
        sum += (double)g_array_index(module->times, uint64_t, i);
    unsigned last = module->times->len - 1;
    printf("%-10s %7u %9.1f %9.2f %9.2f %9.2f\n", module->name, module->times->len, sum / 1e6,
           (double)g_array_index(module->times, uint64_t, last / 2) / 1e6,
           (double)g_array_index(module->times, uint64_t, last - last / 100) / 1e6,
           (double)g_array_index(module->times, uint64_t, last) / 1e6);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    struct module modules[MODULES_MAX] = {{NULL, NULL}};
    if (argc != 2) {
        fprintf(stderr, "usage: bench_steps FILE\n");
        return 2;
    }
    struct fm_engine *engine = fm_engine_new(open_profile, NULL);
    fm_profile_register(engine);
    uint64_t begun = now_ns();
    struct fm_trace *trace = fm_engine_open(engine, argv[1], &error);
    if (trace == NULL) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    printf("opening and header %.2f ms\n", (double)(now_ns() - begun) / 1e6);
    fm_background_request(engine, trace, FM_PROFILE_LAST_MODULE);
    struct fm_profile_progress progress;
    do {
        fm_profile_progress(engine, trace, &progress);
        if (progress.module == NULL || fm_profile_error(trace) != NULL)
            break;
        uint64_t before = now_ns();
        fm_engine_step(engine);
        uint64_t took = now_ns() - before;
        g_array_append_val(module_of(modules, progress.module)->times, took);
    } while (fm_engine_has_work(engine));
    printf("%-10s %7s %9s %9s %9s %9s\n", "module", "steps", "CPU ms", "median ms", "99 % ms",
           "longest");
    for (unsigned i = 0; modules[i].name != NULL; i++) {
        print_module(&modules[i]);
        g_array_unref(modules[i].times);
    }
    uint64_t before = now_ns();
    fm_engine_free(engine);
    printf("closing %.1f ms\n", (double)(now_ns() - before) / 1e6);
    return 0;
}
