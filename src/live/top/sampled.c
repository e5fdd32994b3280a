/* SPDX-License-Identifier: Apache-2.0 */
#include "live/top/sampled.h"

#include <glib/gstdio.h>
#include <time.h>

#include "base/files/own_folder.h"
#include "base/files/unfinished.h"
#include "profile/file/profile.h"
#include "record/outside/sampler.h"

#define NONE FM_FOLLOWED_NONE

struct fm_top_sampled {
    struct fm_own_folder folder;
    char *path;
    struct fm_sampler *sampler;
    struct fm_followed watch;
    GArray *edges, *contexts;     /* of the watch */
    GArray *nested;               /* bool, by context: its function is active above, too */
    GPtrArray *names;             /* char *, by function */
    GHashTable *functions;        /* text -> number + 1 */
    GHashTable *children, *calls; /* pair of numbers -> context + 1, edge + 1 */
    uint64_t next_ns;
    bool running;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- numbers that stay from one profile to the next --- */

static uint32_t find(GHashTable *of, uint64_t pair)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(of, &pair));
}

static void note(GHashTable *of, uint64_t pair, uint32_t number)
{
    g_hash_table_insert(of, g_memdup2(&pair, sizeof pair), GUINT_TO_POINTER(number));
}

static uint32_t function_of(struct fm_top_sampled *sampled, const struct fm_ps *ps)
{
    g_autofree char *key = g_strdup_printf("%s\n%s\n%s", ps->name, ps->file, ps->decl_module);
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(sampled->functions, key));
    if (known != 0)
        return known - 1;
    g_ptr_array_add(sampled->names, g_utf8_make_valid(ps->name, -1));
    g_hash_table_insert(sampled->functions, g_steal_pointer(&key),
                        GUINT_TO_POINTER(sampled->names->len));
    return sampled->names->len - 1;
}

/* Pairs of a caller and what it calls. */
static uint64_t pair_of(uint32_t caller, uint32_t callee)
{
    return (uint64_t)caller << 32 | callee;
}

static uint32_t edge_of(struct fm_top_sampled *sampled, uint32_t caller, uint32_t callee, bool made)
{
    uint32_t known = find(sampled->calls, pair_of(caller, callee));
    if (known != 0)
        return known - 1;
    struct fm_followed_edge edge = {.caller = caller, .callee = callee, .made = made};
    g_array_append_val(sampled->edges, edge);
    note(sampled->calls, pair_of(caller, callee), sampled->edges->len);
    return sampled->edges->len - 1;
}

static bool is_active(const struct fm_top_sampled *sampled, uint32_t context, uint32_t function)
{
    while (context != NONE) {
        const struct fm_followed_context *of =
            &g_array_index(sampled->contexts, struct fm_followed_context, context);
        if (of->function == function)
            return true;
        context = g_array_index(sampled->edges, struct fm_followed_edge, of->maker).caller;
    }
    return false;
}

/* The context of a function below another: calls at several lines lead to one. */
static uint32_t child_of(struct fm_top_sampled *sampled, uint32_t caller, uint32_t function)
{
    uint32_t known = find(sampled->children, pair_of(caller, function));
    if (known != 0)
        return known - 1;
    struct fm_followed_context context = {.function = function};
    uint32_t number = sampled->contexts->len;
    bool nested = is_active(sampled, caller, function);
    g_array_append_val(sampled->nested, nested);
    context.maker = edge_of(sampled, caller, number, true);
    g_array_append_val(sampled->contexts, context);
    note(sampled->children, pair_of(caller, function), number + 1);
    return number;
}

/* --- a profile --- */

/* A context of the profile, in the order in which they are met. */
struct met {
    uint32_t pd;
    uint32_t maker; /* place of the one that it was met from; NONE */
    uint64_t all;   /* time here and below */
    uint64_t plain; /* of that, by the calls that made the contexts alone */
};

struct walk {
    struct fm_top_sampled *sampled;
    const struct fm_profile *profile;
    uint32_t *context_of; /* by pd; NONE = not met yet */
    uint32_t *place_of;   /* by pd, in met */
    GArray *met;          /* struct met; those from `next` on have calls to be looked at */
    guint next;
    unsigned waits; /* measure */
};

static void take_call(struct walk *walk, uint32_t pd, uint32_t csd)
{
    const struct fm_profile *profile = walk->profile;
    struct fm_top_sampled *sampled = walk->sampled;
    uint32_t callee = profile->csd_callee[csd], caller = walk->context_of[pd];
    bool made = walk->context_of[callee] == NONE && callee != profile->root_pd;
    if (made) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[callee]];
        struct met met = {callee, pd == profile->root_pd ? NONE : walk->place_of[pd], 0, 0};
        walk->context_of[callee] = child_of(sampled, caller, function_of(sampled, ps));
        walk->place_of[callee] = walk->met->len;
        g_array_append_val(walk->met, met);
    }
    uint64_t quanta = fm_profile_own(profile, csd, FM_QUANTA);
    struct met *of_callee = &g_array_index(walk->met, struct met, walk->place_of[callee]);
    of_callee->all += quanta;
    of_callee->plain += made ? quanta : 0;
    uint32_t number = edge_of(sampled, caller, walk->context_of[callee], made);
    uint64_t *of = g_array_index(sampled->edges, struct fm_followed_edge, number).counts.of;
    of[FM_FOLLOWED_QUANTA] += quanta;
    if (walk->waits < profile->measure_count)
        of[FM_FOLLOWED_WAIT_NS] += fm_column_get(&profile->csd_own[walk->waits], csd);
}

static void take_calls_of(struct walk *walk, uint32_t pd)
{
    const struct fm_profile *profile = walk->profile;
    for (uint32_t slot = 0; slot < profile->ps[profile->pd_ps[pd]].css_count; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++)
            take_call(walk, pd, csds[i]);
    }
}

/* Totals inside recursions, in the form that fm_followed_rows() adds to the time of plain stacks.
 */
static void charge(const struct walk *walk)
{
    const struct fm_inclusive_info *info = &walk->profile->run_info.inclusive;
    int place = fm_inclusive_place(info, FM_QUANTA);
    for (guint i = walk->met->len; i-- > 0;) {
        const struct met *met = &g_array_index(walk->met, struct met, i);
        const uint64_t *record = place < 0 ? NULL : fm_inclusive_find(info, met->pd);
        uint32_t context = walk->context_of[met->pd];
        bool nested = g_array_index(walk->sampled->nested, bool, context);
        uint32_t maker =
            g_array_index(walk->sampled->contexts, struct fm_followed_context, context).maker;
        g_array_index(walk->sampled->edges, struct fm_followed_edge, maker)
            .counts.of[FM_FOLLOWED_CHARGED] += (record != NULL ? record[place]
                                                : nested       ? 0
                                                               : met->all) -
                                               (nested ? 0 : met->plain);
        if (met->maker == NONE)
            continue;
        struct met *above = &g_array_index(walk->met, struct met, met->maker);
        above->all += met->all;
        above->plain += met->plain;
    }
}

static void take(struct fm_top_sampled *sampled, const struct fm_profile *profile)
{
    struct walk walk = {.sampled = sampled,
                        .profile = profile,
                        .context_of = g_new(uint32_t, profile->pd_count + 1u),
                        .place_of = g_new0(uint32_t, profile->pd_count + 1u),
                        .met = g_array_new(FALSE, FALSE, sizeof(struct met)),
                        .waits = fm_profile_find_measure(profile, "wait_ns")};
    struct fm_followed *watch = &sampled->watch;
    for (uint32_t pd = 0; pd <= profile->pd_count; pd++)
        walk.context_of[pd] = NONE;
    for (guint i = 0; i < sampled->edges->len; i++)
        g_array_index(sampled->edges, struct fm_followed_edge, i).counts =
            (struct fm_followed_counts){0};
    take_calls_of(&walk, profile->root_pd);
    while (walk.next < walk.met->len)
        take_calls_of(&walk, g_array_index(walk.met, struct met, walk.next++).pd);
    charge(&walk);
    g_array_unref(walk.met);
    g_free(walk.context_of);
    g_free(walk.place_of);
    watch->edges = (const struct fm_followed_edge *)(void *)sampled->edges->data;
    watch->edge_count = sampled->edges->len;
    watch->contexts = (const struct fm_followed_context *)(void *)sampled->contexts->data;
    watch->context_count = sampled->contexts->len;
    watch->function_count = sampled->names->len;
    watch->readings++;
}

/* --- the process --- */

/* Threads have one context by name, so the profile does not tell. */
static void count_threads(struct fm_followed *watch)
{
    g_autofree char *path = g_strdup_printf("/proc/%u/task", watch->header.pid);
    GDir *folder = g_dir_open(path, 0, NULL);
    uint32_t count = 0;
    while (folder != NULL && g_dir_read_name(folder) != NULL)
        count++;
    if (folder != NULL)
        g_dir_close(folder);
    if (count > 0) /* else it has ended */
        watch->thread_count = count;
}

static bool start(struct fm_top_sampled *sampled, uint32_t pid, GError **error)
{
    if (!fm_own_folder_make(&sampled->folder, "top", error))
        return false;
    sampled->path = g_strdup_printf("%s/samples.data", sampled->folder.path);
    fm_unfinished_note(sampled->folder.path);
    fm_unfinished_note(sampled->folder.mark);
    fm_unfinished_note(sampled->path);
    struct fm_sampler_options options = {.pid = (pid_t)pid, .path = sampled->path};
    return fm_outside_way_wanted(&options.way, error) &&
           fm_sampler_start(&options, &sampled->sampler, error);
}

bool fm_top_sampled_new(uint32_t pid, struct fm_top_sampled **ret, GError **error)
{
    struct fm_top_sampled *sampled = g_new0(struct fm_top_sampled, 1);
    sampled->edges = g_array_new(FALSE, FALSE, sizeof(struct fm_followed_edge));
    sampled->contexts = g_array_new(FALSE, FALSE, sizeof(struct fm_followed_context));
    sampled->nested = g_array_new(FALSE, FALSE, sizeof(bool));
    sampled->names = g_ptr_array_new_with_free_func(g_free);
    sampled->functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sampled->children = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    sampled->calls = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    if (!start(sampled, pid, error)) {
        fm_top_sampled_free(sampled);
        return false;
    }
    sampled->running = true;
    sampled->watch = (struct fm_followed){
        .path = g_strdup_printf("%s (sampled from outside)", fm_sampler_program(sampled->sampler)),
        .header = {.version = FM_REC_VERSION,
                   .pid = pid,
                   .grade_flags = FM_REC_UNWOUND | FM_REC_WAITING,
                   .quantum_ns = 1,
                   .totals = FM_REC_TOTALS_CHARGED,
                   .recording_on = 1,
                   .start_monotonic_ns = now_ns()}};
    *ret = sampled;
    return true;
}

void fm_top_sampled_free(struct fm_top_sampled *sampled)
{
    fm_sampler_free(sampled->sampler);
    if (sampled->path != NULL) {
        g_unlink(sampled->path);
        fm_unfinished_forget(sampled->path);
    }
    fm_own_folder_remove(&sampled->folder);
    g_array_unref(sampled->edges);
    g_array_unref(sampled->contexts);
    g_array_unref(sampled->nested);
    g_ptr_array_unref(sampled->names);
    g_hash_table_unref(sampled->functions);
    g_hash_table_unref(sampled->children);
    g_hash_table_unref(sampled->calls);
    g_free(sampled->watch.path);
    g_free(sampled->path);
    g_free(sampled);
}

bool fm_top_sampled_read(struct fm_top_sampled *sampled, bool *ret_running, GError **error)
{
    uint64_t began_ns = now_ns();
    *ret_running = sampled->running;
    if (!sampled->running || began_ns < sampled->next_ns)
        return true;
    g_autoptr(FmProfile) profile = NULL;
    if (!fm_sampler_write(sampled->sampler, &sampled->running, error) ||
        !fm_profile_read(sampled->path, NULL, &profile, error))
        return false;
    take(sampled, profile);
    count_threads(&sampled->watch);
    *ret_running = sampled->running;
    uint64_t ended_ns = now_ns();
    sampled->next_ns = ended_ns + (ended_ns - began_ns); /* so they take half of the time at most */
    if (!sampled->running)
        sampled->watch.header.end_monotonic_ns = ended_ns;
    return true;
}

const struct fm_followed *fm_top_sampled_watch(const struct fm_top_sampled *sampled)
{
    return &sampled->watch;
}

const char *fm_top_sampled_name(const struct fm_top_sampled *sampled, uint32_t function)
{
    return g_ptr_array_index(sampled->names, function);
}
