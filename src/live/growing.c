/* SPDX-License-Identifier: Apache-2.0 */
#include "live/growing.h"

#include <glib/gstdio.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/files/own_folder.h"
#include "exchange/hint/hint.h"
#include "live/making.h"
#include "live/spare.h"
#include "record/raw/recording.h"
#include "record/running/control.h"
#include "open/prepared.h"
#include "serve/serve.h"

#define EVERY_MS 250 /* at most so often */
#define LOOK_MS 50   /* whether it may */
#define TRIES_MAX 40u
/* Memory that one generation leaves to the next, so that it need not be requested from the kernel
 * each time. */
#define KEPT_BLOCK_BYTES (32 << 20)
#define KEPT_BYTES (256 << 20)
#define MOMENTS_MAX 100u /* each is a copy of the recording */
/* One part of so many of a processor's time is used at most: where nobody else wants it more. */
#define SHARE_BUSY 10
#define SHARE_IDLE 3

struct one {
    struct fm_live_growing *all;
    char *recording, *profile;
    struct fm_sampler *sampler; /* in place of a recording; the making's */
    char *finished;             /* of a sampler: the file that it writes at the end; NULL: none */
    struct fm_making *making;
    /* For a phase: the run it is part of, its begin and end (seconds since the start; < 0: it
     * continues). It may be made from a copy of the recording. */
    struct one *whole;
    double from_s, until_s;
    struct moment *moment;                /* for a whole run: the moment set last */
    GThread *worker;                      /* while one is being made */
    bool spare;                           /* by what processors have left over, see spare.h */
    struct fm_prepared_profile *prepared; /* that was made; NULL */
    bool running;                         /* the program, when the latest was read */
    bool served;                          /* the server has it */
    bool over;                            /* nothing more comes */
    unsigned tries;                       /* before it could be served */
    char *problem;                        /* error of the last attempt: g_free */
    char *text;
    gint64 started_us; /* sampling */
    gint64 begun_us;   /* the latest, and what the process had used then */
    uint64_t used_ns;
    bool crowded; /* the thread that made it waited for a processor */
};

/* A copy of a recording, made when somebody asked for what comes then. */
struct moment {
    char *copy;
    uint64_t ns;
    double seconds; /* since the start */
};

struct fm_live_growing {
    struct fm_own_folder folder; /* without path: none was needed */
    GPtrArray *ones;             /* struct one; phases behind what they are of */
    GPtrArray *moments;          /* struct moment */
    struct fm_server *server;
    guint timer, turn;
    bool busy;  /* one is being made: what the files say is read by one at a time */
    bool ended; /* the result of the running work is no longer needed */
    struct fm_spare processors;
};

static void one_free(void *data)
{
    struct one *one = data;
    if (one->worker != NULL) {
        g_thread_join(one->worker);
        g_idle_remove_by_data(one);
    }
    fm_prepared_profile_free(one->prepared);
    if (one->making != NULL)
        fm_making_free(one->making);
    g_free(one->recording);
    g_free(one->profile);
    g_free(one->finished);
    g_free(one->problem);
    g_free(one->text);
    g_free(one);
}

static void moment_free(void *data)
{
    struct moment *moment = data;
    g_unlink(moment->copy);
    g_free(moment->copy);
    g_free(moment);
}

struct fm_live_growing *fm_live_growing_new(void)
{
    struct fm_live_growing *all = g_new0(struct fm_live_growing, 1);
    mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    all->ones = g_ptr_array_new_with_free_func(one_free);
    all->moments = g_ptr_array_new_with_free_func(moment_free);
    return all;
}

void fm_live_growing_free(struct fm_live_growing *all)
{
    if (all == NULL)
        return;
    if (all->timer != 0)
        g_source_remove(all->timer);
    while (all->ones->len > 0) /* phases first */
        g_ptr_array_remove_index(all->ones, all->ones->len - 1);
    g_ptr_array_unref(all->ones);
    g_ptr_array_unref(all->moments);
    fm_own_folder_remove(&all->folder);
    g_free(all);
}

static char *say_phase(const struct one *one, const struct fm_control_status *status)
{
    if (one->until_s >= 0)
        return g_strdup_printf("This phase is what was recorded from %.1f s to %.1f s.",
                               one->from_s, one->until_s);
    return one->running
               ? g_strdup_printf("This phase began at %.1f s: what process %u, which still "
                                 "runs, recorded from then to %.1f s.",
                                 one->from_s, status->pid, (double)status->seconds_ns * 1e-9)
               : g_strdup_printf("This phase is what was recorded from %.1f s to the end.",
                                 one->from_s);
}

static char *say_sampled(const struct one *one)
{
    int pid = (int)fm_sampler_pid(one->sampler);
    if (one->problem != NULL)
        return g_strdup_printf("This cannot be brought up to date: %s", one->problem);
    return one->running
               ? g_strdup_printf(
                     "Process %d still runs, and is sampled from outside: this is what "
                     "was seen in %.1f s. Reload the page to see more, if it does not "
                     "do so by itself.",
                     pid, (double)(g_get_monotonic_time() - one->started_us) / G_USEC_PER_SEC)
               : g_strdup_printf("Sampling of process %d has ended: this is all that was seen.",
                                 pid);
}

static char *say(const struct one *one)
{
    struct fm_control_status status = {0};
    if (one->sampler != NULL)
        return say_sampled(one);
    if (one->whole != NULL && one->problem == NULL && (one->until_s >= 0 || !one->running))
        return say_phase(one, &status);
    if (one->problem != NULL || !fm_control_status_brief(one->recording, &status, NULL)) {
        g_autofree char *finished = fm_making_finished(one->recording);
        if (finished != NULL)
            return g_strdup_printf("The program has ended; this was read shortly before. Its whole "
                                   "profile is %s.",
                                   finished);
        return g_strdup_printf("This cannot be brought up to date: %s",
                               one->problem != NULL ? one->problem : "the recording is gone");
    }
    char *text =
        one->whole != NULL ? say_phase(one, &status)
        : one->running
            ? g_strdup_printf("Process %u still runs%s: this is what it had recorded after %.1f s. "
                              "Reload the page to see more, if it does not do so by itself.",
                              status.pid, status.recording ? "" : ", its recording is stopped",
                              (double)status.seconds_ns * 1e-9)
            : g_strdup_printf("Process %u has ended: this is all that it recorded.", status.pid);
    fm_control_status_done(&status);
    return text;
}

static uint64_t used_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* --- on the main loop --- */

static void tell_failure(struct one *one, const char *why)
{
    g_free(one->text);
    one->text = g_strdup_printf("This phase could not be made: %s", why);
    fm_server_promise(one->all->server, one->profile, one->text);
}

/* The file of a program that just begins is not whole yet: it is tried again. */
static bool serve_first(struct one *one)
{
    g_autoptr(GError) error = NULL;
    one->served = one->problem == NULL && fm_server_add(one->all->server, one->profile, &error);
    one->over = !one->served && ++one->tries >= TRIES_MAX;
    if (one->over && one->whole != NULL)
        tell_failure(one, one->problem != NULL ? one->problem : error->message);
    g_clear_pointer(&one->problem, g_free);
    return one->served;
}

static gboolean on_made(void *data)
{
    struct one *one = data;
    g_thread_join(g_steal_pointer(&one->worker));
    one->all->busy = false;
    if (one->prepared != NULL)
        fm_server_offer(one->all->server, g_steal_pointer(&one->prepared));
    if (one->all->ended || (!one->served && !serve_first(one)))
        return G_SOURCE_REMOVE;
    one->over = !one->running || one->problem != NULL;
    g_free(one->text);
    one->text = say(one);
    if (one->over && one->finished != NULL && fm_server_add(one->all->server, one->finished, NULL))
        fm_server_grown(one->all->server, one->profile, one->text, one->finished);
    else
        fm_server_grow(one->all->server, one->profile, one->text, !one->over);
    return G_SOURCE_REMOVE;
}

/* Whether the calling thread, which is new, was ready for more than a fifth of the time that it
 * ran, and had no processor: the program or others need them. True where nobody knows. */
static bool is_crowded(void)
{
    g_autofree char *text = NULL;
    char *end = NULL;
    if (!g_file_get_contents("/proc/thread-self/schedstat", &text, NULL, NULL))
        return true;
    guint64 ran_ns = g_ascii_strtoull(text, &end, 10);
    guint64 queued_ns = g_ascii_strtoull(end, NULL, 10);
    return queued_ns > ran_ns / 5;
}

static void *work(void *data)
{
    struct one *one = data;
    g_autoptr(GError) error = NULL;
    if (one->spare)
        fm_spare_only();
    if (!fm_making_make(one->making, &one->running, &one->prepared, &error))
        one->problem = g_strdup(error->message);
    one->crowded = is_crowded();
    g_idle_add(on_made, one);
    return NULL;
}

/* The cost of pages of the latest one counts, too. */
static bool has_rested(const struct one *one)
{
    uint64_t passed_ns = (uint64_t)(g_get_monotonic_time() - one->begun_us) * 1000;
    return (used_ns() - one->used_ns) * (one->crowded ? SHARE_BUSY : SHARE_IDLE) < passed_ns;
}

static void begin(struct one *one)
{
    one->all->busy = true;
    one->spare = !has_rested(one);
    one->begun_us = g_get_monotonic_time();
    one->used_ns = used_ns();
    one->worker = g_thread_new("profile", work, one);
}

/* The process has ended since it was read: there is a last generation. */
static bool has_ended(const struct one *one)
{
    if (one->sampler != NULL)
        return one->running && fm_sampler_has_ended(one->sampler);
    return one->running && one->until_s < 0 && fm_raw_recording_writer(one->recording) == 0;
}

static bool is_due(const struct one *one)
{
    bool long_ago =
        g_get_monotonic_time() - one->begun_us >= INT64_C(1000) * (EVERY_MS - LOOK_MS / 2);
    return long_ago && !one->over && one->worker == NULL &&
           (has_rested(one) || one->all->processors.enough) &&
           (!one->served || fm_server_is_growth_wanted(one->all->server, one->profile) ||
            has_ended(one));
}

/* Profiles that are not yet served come first; the others take turns. */
static gboolean on_time(void *data)
{
    struct fm_live_growing *all = data;
    struct one *next = NULL;
    fm_spare_look(&all->processors);
    for (guint i = 0; i < all->ones->len && !all->busy; i++) {
        struct one *one = all->ones->pdata[(all->turn + i) % all->ones->len];
        if (is_due(one) && (next == NULL || (next->served && !one->served)))
            next = one;
    }
    all->turn++;
    if (next != NULL)
        begin(next);
    return G_SOURCE_CONTINUE;
}

/* --- for the command --- */

/* NULL after an error: there is no folder for its profile. */
static struct one *one_new(struct fm_live_growing *all, const char *recording, GError **error)
{
    if (all->folder.path == NULL && !fm_own_folder_make(&all->folder, "live", error))
        return NULL;
    g_autofree char *name = g_path_get_basename(recording);
    if (g_str_has_suffix(name, ".rec"))
        name[strlen(name) - 4] = '\0';
    struct one *one = g_new0(struct one, 1);
    one->all = all;
    one->until_s = -1;
    one->recording = g_canonicalize_filename(recording, NULL);
    one->profile = all->ones->len == 0 ? g_strdup_printf("%s/%s.data", all->folder.path, name)
                                       : g_strdup_printf("%s/%u-%s.data", all->folder.path,
                                                         all->ones->len + 1, name);
    one->making = fm_making_new(one->recording, one->profile);
    g_ptr_array_add(all->ones, one);
    return one;
}

bool fm_live_growing_sample(struct fm_live_growing *all, const struct fm_sampler_options *options,
                            const char *finished, char **ret_path, GError **error)
{
    struct fm_sampler_options own = *options;
    if (all->folder.path == NULL && !fm_own_folder_make(&all->folder, "live", error))
        return false;
    struct one *one = g_new0(struct one, 1);
    one->all = all;
    one->until_s = -1;
    one->profile = g_strdup_printf("%s/process-%d.data", all->folder.path, (int)options->pid);
    one->finished = g_strdup(finished);
    one->started_us = g_get_monotonic_time();
    own.path = one->profile;
    if (!fm_sampler_start(&own, &one->sampler, error)) {
        one_free(one);
        return false;
    }
    one->making = fm_making_new_sampled(one->sampler, one->profile);
    g_ptr_array_add(all->ones, one);
    if (!fm_making_make(one->making, &one->running, NULL, error))
        return false;
    one->served = true; /* by whoever asked */
    *ret_path = g_strdup(one->profile);
    return true;
}

int fm_live_growing_end_sampling(struct fm_live_growing *all)
{
    int status = 0;
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        int ended = one->sampler == NULL ? 0 : fm_sampler_end(one->sampler);
        status = MAX(status, ended);
    }
    return status;
}

/* A process that is not recorded is sampled. */
static bool take_process(struct fm_live_growing *all, uint32_t pid, char **path, GError **error)
{
    struct fm_sampler_options options = {.pid = (pid_t)pid};
    char *profile;
    if (!fm_outside_way_wanted(&options.way, error) ||
        !fm_live_growing_sample(all, &options, NULL, &profile, error))
        return false;
    g_free(*path);
    *path = profile;
    return true;
}

bool fm_live_growing_take(struct fm_live_growing *all, char **path, GError **error)
{
    g_return_val_if_fail(path != NULL && *path != NULL, false);
    g_autofree char *recording = NULL;
    g_autoptr(GError) refused = NULL;
    uint32_t pid;
    if (!fm_control_path(*path, &recording, &refused)) {
        if (g_error_matches(refused, FM_ERROR, FM_ERROR_NOT_FOUND) && fm_control_pid(*path, &pid))
            return take_process(all, pid, path, error);
        g_propagate_error(error, g_steal_pointer(&refused));
        return false;
    }
    enum fm_hint_file_kind kind = fm_hint_file_kind(recording);
    bool begun = kind == FM_FILE_OTHER && g_str_has_suffix(recording, ".rec");
    if (kind != FM_FILE_RECORDING && !begun)
        return true;
    struct one *one = one_new(all, recording, error);
    if (one == NULL || !fm_making_make(one->making, &one->running, NULL, error))
        return false;
    one->served = true; /* by whoever asked */
    g_free(*path);
    *path = g_strdup(one->profile);
    return true;
}

void fm_live_growing_begin(struct fm_live_growing *all, struct fm_server *server)
{
    fm_live_growing_serve(all, server);
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        one->over = !one->running;
        one->text = say(one);
        fm_server_grow(server, one->profile, one->text, one->running);
    }
}

/* --- moments --- */

static struct one *phase_new(struct one *whole, const char *recording, const struct moment *from,
                             const struct moment *until)
{
    struct fm_live_growing *all = whole->all;
    struct one *one = g_new0(struct one, 1);
    g_autofree char *stem = g_strndup(whole->profile, strlen(whole->profile) - strlen(".data"));
    one->all = all;
    one->whole = whole;
    one->from_s = from == NULL ? 0 : from->seconds;
    one->until_s = until == NULL ? -1 : until->seconds;
    one->recording = g_strdup(recording);
    one->running = until == NULL;
    one->profile = until == NULL ? g_strdup_printf("%s, %u: since %.1f s.data", stem,
                                                   all->moments->len, one->from_s)
                                 : g_strdup_printf("%s, %u: %.1f s to %.1f s.data", stem,
                                                   all->moments->len, one->from_s, one->until_s);
    one->making =
        fm_making_new_since(whole->making, one->recording, one->profile,
                            from == NULL ? NULL : from->copy, from == NULL ? 0 : from->ns);
    g_ptr_array_add(all->ones, one);
    fm_server_promise(all->server, one->profile, "This phase is being made for the first time.");
    return one;
}

static struct one *find_profile(const struct fm_live_growing *all, const char *profile)
{
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        if (strcmp(one->profile, profile) == 0)
            return one->whole != NULL ? one->whole : one;
    }
    return NULL;
}

/* One phase ends, another begins: what came before the first moment is one, too. */
static char *on_moment(void *user, const char *path, GError **error)
{
    struct fm_live_growing *all = user;
    struct one *whole = find_profile(all, path);
    struct fm_control_status status;
    if (whole != NULL && whole->sampler != NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "a process that is sampled from outside has no phases");
        return NULL;
    }
    if (whole == NULL || all->ended || all->moments->len >= MOMENTS_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: cannot begin another phase (at most %u are kept)", path, MOMENTS_MAX);
        return NULL;
    }
    g_autofree char *copy =
        g_strdup_printf("%s/moment%u.rec", all->folder.path, all->moments->len + 1);
    uint64_t ns;
    if (!fm_control_status_brief(whole->recording, &status, error) ||
        !fm_control_copy(whole->recording, copy, all->moments->len + 1, &ns, error))
        return NULL;
    struct moment *moment = g_new0(struct moment, 1), *before = whole->moment;
    moment->copy = g_steal_pointer(&copy);
    moment->ns = ns;
    moment->seconds = (double)status.seconds_ns * 1e-9;
    fm_control_status_done(&status);
    g_ptr_array_add(all->moments, moment);
    whole->moment = moment;
    const struct one *phase = phase_new(whole, whole->recording, moment, NULL);
    phase_new(whole, moment->copy, before, moment);
    return g_strdup(phase->profile);
}

void fm_live_growing_serve(struct fm_live_growing *all, struct fm_server *server)
{
    all->server = server;
    fm_server_on_moment(server, on_moment, all);
    all->timer = g_timeout_add(LOOK_MS, on_time, all);
}

static struct one *find(const struct fm_live_growing *all, const char *recording)
{
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        if (one->whole == NULL && g_strcmp0(one->recording, recording) == 0)
            return one;
    }
    return NULL;
}

bool fm_live_growing_follow(struct fm_live_growing *all, const char *recording, GError **error)
{
    g_return_val_if_fail(recording != NULL && all->server != NULL, false);
    if (find(all, recording) != NULL)
        return true;
    struct one *one = one_new(all, recording, error);
    if (one != NULL && !all->ended && !all->busy)
        begin(one);
    return one != NULL;
}

void fm_live_growing_end(struct fm_live_growing *all)
{
    all->ended = true;
    if (all->timer != 0)
        g_source_remove(all->timer);
    all->timer = 0;
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        if (one->worker != NULL)
            g_thread_join(g_steal_pointer(&one->worker));
        g_idle_remove_by_data(one);
    }
}

void fm_live_growing_end_phases(struct fm_live_growing *all)
{
    g_return_if_fail(all->ended);
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        g_autoptr(GError) error = NULL;
        if (one->whole == NULL || one->over)
            continue;
        one->over = fm_making_make(one->making, &one->running, NULL, &error);
        one->running = false;
        if (error != NULL)
            one->problem = g_strdup(error->message);
    }
}

/* The final phases, when all of them are made. */
static void serve_phase(struct one *one)
{
    g_autoptr(GError) error = NULL;
    if (!one->served && one->problem == NULL)
        one->served = fm_server_add(one->all->server, one->profile, &error);
    if (!one->served)
        tell_failure(one, one->problem != NULL ? one->problem : error->message);
    if (!one->served || !one->over)
        return;
    g_free(one->text);
    one->text = say(one);
    fm_server_grow(one->all->server, one->profile, one->text, false);
}

/* Reports the end of a process whose recording is in no profile: for example a child that only
 * became another program. */
static void tell_end(struct one *one)
{
    if (!one->served)
        return;
    one->over = true;
    one->running = false;
    fm_server_grow(one->all->server, one->profile,
                   "The process has ended; this was read shortly before. It is in no profile of "
                   "the run.",
                   false);
}

bool fm_live_growing_finish(struct fm_live_growing *all, GHashTable *profiles)
{
    bool any = false;
    for (guint i = 0; i < all->ones->len; i++) {
        struct one *one = all->ones->pdata[i];
        const char *finished = g_hash_table_lookup(profiles, one->recording);
        if (one->whole != NULL) {
            serve_phase(one);
        } else if (finished == NULL || !fm_server_add(all->server, finished, NULL)) {
            tell_end(one);
        } else {
            any = true;
            if (one->served)
                fm_server_grown(all->server, one->profile, "The program has ended.", finished);
        }
    }
    return any;
}
