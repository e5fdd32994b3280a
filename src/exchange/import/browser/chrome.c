/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in Chrome's format (Trace Event JSON): spans of threads become calls in context, with the
 * time of the clock. Of a file of clang's -ftime-trace the frames are headers, classes and
 * functions; its rows "Total ..." are sums of what stands beside them, and left out. Where a trace
 * holds no spans, the CPU profiles in it, and the samples of stacks, are what is read. */
#include "exchange/import/browser/chrome.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "exchange/import/browser/chrome_text.h"
#include "exchange/import/browser/spans.h"
#include "exchange/import/browser/v8.h"

#define NS_PER_SECOND 1000000000u

/* A process or thread: by the numbers that events have. */
struct lane {
    char *name;    /* as the file calls the thread; NULL = it does not */
    char *process; /* the file's text for it */
    char *thread;
    uint32_t spans;
};

struct chrome {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    struct fm_spans *spans;
    GPtrArray *lanes;
    GHashTable *lane_of;       /* "PROCESS/THREAD" -> lane + 1 */
    GHashTable *process_names; /* text -> name */
    GHashTable *names;         /* name -> number + 1 */
    GHashTable *profiles;      /* key -> struct profile */
    GArray *chunks;            /* struct chunk: parts of them */
    struct fm_json_value stack_frames, stack_samples;
    bool build; /* a trace of clang -ftime-trace */
    /* Of a build: what the file stands for. Measures and notes are those of all files. */
    const char *part;
    uint32_t base; /* frames around the lanes */
    uint64_t asynchronous, without_time;
    uint64_t samples;
    unsigned samples_measure, wall_measure;
};

struct profile {
    struct fm_v8 *v8;
    double start, end;
    uint32_t lane;
};

/* A part of a CPU profile: they need not stand in the order of time. */
struct chunk {
    struct fm_json_value event;
    int64_t ns;
    guint place;
};

enum { PH, TS, DUR, PID, TID, NAME, CAT, ARGS, ID, MEMBERS };
static const char *const members[MEMBERS] = {
    [PH] = "ph",     [TS] = "ts",   [DUR] = "dur",   [PID] = "pid", [TID] = "tid",
    [NAME] = "name", [CAT] = "cat", [ARGS] = "args", [ID] = "id"};

bool fm_import_is_chrome(const struct fm_import_input *input)
{
    return fm_import_begins(input, FM_IMPORT_HEAD, "{[") &&
           (fm_import_holds(input, FM_IMPORT_HEAD, "\"traceEvents\"") ||
            (fm_import_holds(input, FM_IMPORT_HEAD, "\"ph\"") &&
             fm_import_holds(input, FM_IMPORT_HEAD, "\"ts\"")));
}

/* --- values --- */

static uint32_t number_of(struct chrome *in, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(in->names, name));
    if (number == 0) {
        number = g_hash_table_size(in->names) + 1;
        g_hash_table_insert(in->names, g_strdup(name), GUINT_TO_POINTER(number));
    }
    return number - 1;
}

static void free_lane(gpointer data)
{
    struct lane *lane = data;
    g_free(lane->name);
    g_free(lane->process);
    g_free(lane->thread);
    g_free(lane);
}

static uint32_t lane_of(struct chrome *in, const struct fm_json_value *of)
{
    g_autofree char *process = fm_import_json_text(of[PID]);
    g_autofree char *thread = fm_import_json_text(of[TID]);
    g_autofree char *key = g_strdup_printf("%s/%s", process, thread);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(in->lane_of, key));
    if (number != 0)
        return number - 1;
    struct lane *lane = g_new0(struct lane, 1);
    lane->process = g_steal_pointer(&process);
    lane->thread = g_steal_pointer(&thread);
    lane->spans = fm_spans_add_lane(in->spans);
    g_ptr_array_add(in->lanes, lane);
    g_hash_table_insert(in->lane_of, g_steal_pointer(&key), GUINT_TO_POINTER(in->lanes->len));
    return in->lanes->len - 1;
}

/* The lane is made first: the array of them may move. */
static struct lane *lane_at(struct chrome *in, const struct fm_json_value *of)
{
    uint32_t lane = lane_of(in, of);
    return g_ptr_array_index(in->lanes, lane);
}

/* --- events --- */

static uint32_t function_named(struct chrome *in, const char *name, const char *unit)
{
    const char *told = name[0] == '\0' ? "(anonymous)" : name;
    return fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = told,
                                                                   .size = strlen(told),
                                                                   .unit = unit,
                                                                   .unit_size = strlen(unit)});
}

static uint32_t function_of(struct chrome *in, const struct fm_json_value *of, const char *name)
{
    if (in->build) {
        g_autofree char *whole = fm_chrome_build_name(name, of[ARGS]);
        return function_named(in, whole, name);
    }
    g_autofree char *category = fm_json_string(of[CAT]);
    return function_named(in, name, category);
}

static void take_metadata(struct chrome *in, const struct fm_json_value *of)
{
    g_autofree char *name = fm_json_string(fm_json_member(of[ARGS], "name"));
    if (name[0] == '\0')
        return;
    if (fm_json_equals(of[NAME], "process_name")) {
        g_hash_table_replace(in->process_names, fm_import_json_text(of[PID]),
                             g_steal_pointer(&name));
    } else if (fm_json_equals(of[NAME], "thread_name")) {
        struct lane *lane = lane_at(in, of);
        g_free(lane->name);
        lane->name = g_steal_pointer(&name);
    }
}

/* A span's begin or end, or all of it. */
static bool take_span(struct chrome *in, struct fm_json_value event, const struct fm_json_value *of,
                      char kind, GError **error)
{
    int64_t ns, duration = 0;
    if (!fm_chrome_nanoseconds(of[TS], &ns))
        return fm_import_json_fail(in->input, event, error,
                                   "expected a time in microseconds as \"ts\"");
    if (kind == 'X' && !fm_chrome_nanoseconds(of[DUR], &duration)) {
        in->without_time++;
        return true;
    }
    g_autofree char *name = fm_json_string(of[NAME]);
    if (in->build && kind == 'X' && g_str_has_prefix(name, "Total "))
        return true;
    uint32_t spans = lane_at(in, of)->spans;
    if (kind == 'X')
        fm_spans_complete(in->spans, spans, ns, duration, function_of(in, of, name));
    else if (kind == 'B')
        fm_spans_begin(in->spans, spans, ns, function_of(in, of, name), number_of(in, name));
    else
        fm_spans_end(in->spans, spans, ns, name[0] == '\0' ? FM_SPANS_ANY : number_of(in, name));
    return true;
}

/* --- CPU profiles --- */

static void free_profile(gpointer data)
{
    struct profile *profile = data;
    fm_v8_free(profile->v8);
    g_free(profile);
}

/* Chunks of one profile have its number and process; whole ones are their thread's. */
static struct profile *profile_of(struct chrome *in, const struct fm_json_value *of)
{
    g_autofree char *process = fm_import_json_text(of[PID]);
    g_autofree char *number = fm_import_json_text(of[of[ID].at != NULL ? ID : TID]);
    g_autofree char *key = g_strdup_printf("%s/%s", process, number);
    struct profile *profile = g_hash_table_lookup(in->profiles, key);
    if (profile == NULL) {
        profile = g_new0(struct profile, 1);
        profile->v8 = fm_v8_new(in->input, in->stacks);
        profile->lane = lane_of(in, of);
        profile->start = profile->end = NAN;
        g_hash_table_insert(in->profiles, g_steal_pointer(&key), profile);
    }
    return profile;
}

static int compare_chunks(const void *a, const void *b)
{
    const struct chunk *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void keep_chunk(struct chrome *in, struct fm_json_value event,
                       const struct fm_json_value *of)
{
    struct chunk chunk = {.event = event, .place = in->chunks->len};
    if (!fm_chrome_nanoseconds(of[TS], &chunk.ns))
        chunk.ns = 0;
    g_array_append_val(in->chunks, chunk);
}

static bool take_profile(struct chrome *in, const struct fm_json_value *of, GError **error)
{
    static const char *const names[] = {"cpuProfile", "timeDeltas", "startTime", "endTime"};
    static const char *const of_profile[] = {"nodes", "samples", "timeDeltas", "startTime",
                                             "endTime"};
    struct fm_json_value data[G_N_ELEMENTS(names)], parts[G_N_ELEMENTS(of_profile)];
    struct profile *profile = profile_of(in, of);
    fm_json_members(fm_json_member(of[ARGS], "data"), names, G_N_ELEMENTS(names), data);
    fm_json_members(data[0], of_profile, G_N_ELEMENTS(of_profile), parts);
    fm_json_number(parts[3].at != NULL ? parts[3] : data[2], &profile->start);
    fm_json_number(parts[4].at != NULL ? parts[4] : data[3], &profile->end);
    return fm_v8_add_nodes(profile->v8, parts[0], error) &&
           fm_v8_add_samples(profile->v8, parts[1], data[1].at != NULL ? data[1] : parts[2], error);
}

static bool is_profile(const struct fm_json_value *of)
{
    return fm_json_equals(of[NAME], "ProfileChunk") || fm_json_equals(of[NAME], "Profile") ||
           fm_json_equals(of[NAME], "CpuProfile");
}

static bool take_profiles(struct chrome *in, GError **error)
{
    g_array_sort(in->chunks, compare_chunks);
    for (guint i = 0; i < in->chunks->len; i++) {
        struct fm_json_value of[MEMBERS];
        fm_json_members(g_array_index(in->chunks, struct chunk, i).event, members, MEMBERS, of);
        if (!take_profile(in, of, error))
            return false;
    }
    return true;
}

static bool take_event(struct chrome *in, struct fm_json_value event, GError **error)
{
    struct fm_json_value of[MEMBERS];
    fm_json_members(event, members, MEMBERS, of);
    char kind = of[PH].at != NULL && of[PH].end - of[PH].at == 3 ? of[PH].at[1] : '\0';
    if (kind == 'M')
        take_metadata(in, of);
    else if (kind == 'B' || kind == 'E' || kind == 'X')
        return take_span(in, event, of, kind, error);
    else if ((kind == 'P' || kind == 'I') && is_profile(of))
        keep_chunk(in, event, of);
    else if (in->build && (kind == 'b' || kind == 'e') && fm_json_equals(of[CAT], "Source")) {
        if (kind == 'e') /* paired by the order in which they began */
            of[NAME] = (struct fm_json_value){NULL, NULL};
        return take_span(in, event, of, kind == 'b' ? 'B' : 'E', error);
    } else if (kind != '\0' && strchr("bSTp", kind) != NULL)
        in->asynchronous++;
    return true;
}

/* --- lanes --- */

static char *name_of(const struct chrome *in, const struct lane *lane, bool many_processes)
{
    const char *process = g_hash_table_lookup(in->process_names, lane->process);
    g_autofree char *own =
        lane->name != NULL ? g_strdup(lane->name) : g_strdup_printf("thread %s", lane->thread);
    if (!many_processes)
        return g_steal_pointer(&own);
    return process != NULL ? g_strdup_printf("%s (%s %s)", own, process, lane->process)
                           : g_strdup_printf("%s (process %s)", own, lane->process);
}

/* Two threads of one name are told apart by their numbers. */
static char *unlike(GHashTable *taken, char *name, const struct lane *lane)
{
    if (g_hash_table_contains(taken, name)) {
        char *more = g_strdup_printf("%s, thread %s", name, lane->thread);
        g_free(name);
        name = more;
    }
    g_hash_table_add(taken, g_strdup(name));
    return name;
}

static void push_lane(struct chrome *in, const char *name)
{
    fm_stacks_cut(in->stacks, in->base);
    if (name != NULL)
        fm_stacks_push_outside(in->stacks, name, strlen(name));
}

/* The frame of each lane, NULL where the file has one alone; g_ptr_array_unref(). */
static GPtrArray *names_of_lanes(const struct chrome *in)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const char *process = NULL;
    bool many = false;
    guint used = 0;
    for (guint i = 0; i < in->lanes->len; i++) {
        const struct lane *lane = g_ptr_array_index(in->lanes, i);
        if (fm_spans_is_empty(in->spans, lane->spans) && g_hash_table_size(in->profiles) == 0)
            continue;
        used++;
        many = many || (process != NULL && strcmp(process, lane->process) != 0);
        process = lane->process;
    }
    for (guint i = 0; i < in->lanes->len; i++) {
        const struct lane *lane = g_ptr_array_index(in->lanes, i);
        g_ptr_array_add(names, used < 2 ? NULL : unlike(taken, name_of(in, lane, many), lane));
    }
    return names;
}

static bool add_profiles(struct chrome *in, const GPtrArray *names, GError **error)
{
    GHashTableIter all;
    gpointer key, value;
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(in->profiles), (GCompareFunc)strcmp);
    g_hash_table_iter_init(&all, in->profiles);
    if (!g_hash_table_iter_next(&all, &key, &value))
        return true;
    for (const GList *at = keys; at != NULL; at = at->next) {
        struct profile *profile = g_hash_table_lookup(in->profiles, at->data);
        uint64_t samples;
        push_lane(in, g_ptr_array_index(names, profile->lane));
        if (!fm_v8_add(profile->v8, in->samples_measure, in->wall_measure,
                       profile->end - profile->start, &samples, error))
            return false;
        in->samples += samples;
    }
    return true;
}

/* --- samples of stacks --- */

/* Pushes a frame and those that it was called from: "parent" leads outwards. */
static bool push_frames(struct chrome *in, GHashTable *frames, char *number, GArray *path,
                        GError **error)
{
    const struct fm_json_value *frame = g_hash_table_lookup(frames, number);
    g_autofree char *at = g_strdup(number);
    g_array_set_size(path, 0);
    while (frame != NULL) {
        struct fm_json_value parent = fm_json_member(*frame, "parent");
        g_array_append_val(path, *frame);
        if (path->len > FM_STACKS_DEPTH_MAX)
            return fm_import_json_fail(in->input, *frame, error,
                                       "a stack of more than %u frames, or one within itself",
                                       FM_STACKS_DEPTH_MAX);
        g_free(at);
        at = fm_import_json_text(parent);
        frame = parent.at == NULL ? NULL : g_hash_table_lookup(frames, at);
    }
    for (guint i = path->len; i-- > 0;) {
        struct fm_json_value of = g_array_index(path, struct fm_json_value, i);
        g_autofree char *name = fm_json_string(fm_json_member(of, "name"));
        g_autofree char *category = fm_json_string(fm_json_member(of, "category"));
        fm_stacks_push(in->stacks, function_named(in, name, category), 0);
    }
    return true;
}

static GHashTable *frames_of(struct fm_json_value object)
{
    GHashTable *frames = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    struct fm_json_items items = fm_json_items(object);
    struct fm_json_value name, frame;
    while (items.named && fm_json_next(&items, &name, &frame))
        g_hash_table_replace(frames, fm_json_string(name), g_memdup2(&frame, sizeof frame));
    return frames;
}

/* The lane of a sample's thread, whatever its process: samples do not name it. */
static const char *lane_of_sample(const struct chrome *in, const GPtrArray *names,
                                  struct fm_json_value thread)
{
    g_autofree char *text = fm_import_json_text(thread);
    for (guint i = 0; i < in->lanes->len; i++) {
        const struct lane *lane = g_ptr_array_index(in->lanes, i);
        if (strcmp(lane->thread, text) == 0)
            return g_ptr_array_index(names, i);
    }
    return NULL;
}

static bool add_samples(struct chrome *in, const GPtrArray *names, GError **error)
{
    static const char *const of_sample[] = {"sf", "weight", "tid"};
    g_autoptr(GHashTable) frames = frames_of(in->stack_frames);
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(struct fm_json_value));
    struct fm_json_items items = fm_json_items(in->stack_samples);
    struct fm_json_value sample, of[G_N_ELEMENTS(of_sample)];
    while (fm_json_next(&items, NULL, &sample)) {
        uint64_t weight;
        fm_json_members(sample, of_sample, G_N_ELEMENTS(of_sample), of);
        g_autofree char *number = fm_import_json_text(of[0]);
        if (!fm_json_whole(of[1], &weight))
            weight = 1;
        if (!fm_import_sum(&in->samples, weight))
            return fm_import_json_fail(in->input, sample, error, "more than 2^63 samples together");
        push_lane(in, lane_of_sample(in, names, of[2]));
        if (!push_frames(in, frames, number, path, error))
            return false;
        if (fm_stacks_depth(in->stacks) == 0)
            fm_stacks_push(in->stacks, function_named(in, "(no stack)", ""), 0);
        fm_stacks_add(in->stacks, in->samples_measure, weight);
    }
    return true;
}

void fm_chrome_tell_granularity(struct fm_build *build)
{
    fm_build_note(build,
                  "spans shorter than clang's -ftime-trace-granularity are not recorded: they "
                  "are own time of what they were in");
}

static void tell(const struct chrome *in, const struct fm_spans_found *found)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    fm_spans_tell(found, build);
    fm_spans_tell_count(build, in->without_time, "span without a duration is left out",
                        "spans without a duration are left out");
    fm_spans_tell_count(build, in->asynchronous, "asynchronous span is not in this tree",
                        "asynchronous spans are not in this tree");
    if (in->build)
        fm_chrome_tell_granularity(build);
}

/* Quanta are the spans' time, or samples where there are no spans. */
static void choose_measures(struct chrome *in, bool any)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (any) {
        fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
        fm_build_nature(build, FM_NATURE_CLOCK | FM_NATURE_TIME_EXACT, 0);
        fm_stacks_name_quanta(in->stacks, "wall", NULL);
        fm_import_only_knows(build, 1u << FM_QUANTA | FM_IMPORT_CALLS);
    } else {
        fm_stacks_name_quanta(in->stacks, "samples", NULL);
        fm_import_only_knows(build, 1u << FM_QUANTA);
    }
    bool profiles = g_hash_table_size(in->profiles) > 0;
    if (!profiles && !fm_json_is_array(in->stack_samples))
        return;
    in->samples_measure = any ? fm_stacks_add_measure(in->stacks, "samples", NULL) : FM_QUANTA;
    if (profiles)
        in->wall_measure = fm_stacks_add_scaled(in->stacks, "sampled_wall_time", "s", 1e-6);
}

/* It was compiled once. */
static void push_part(struct chrome *in)
{
    g_autofree char *name = g_strdup_printf("File %s", in->part);
    fm_stacks_cut(in->stacks, 0);
    fm_stacks_push(in->stacks, function_named(in, name, "File"), 0);
    fm_stacks_add(in->stacks, FM_EXITS, 1);
    in->base = 1;
}

static bool add_all(struct chrome *in, struct fm_spans_found *found, GError **error)
{
    g_autoptr(GPtrArray) names = names_of_lanes(in);
    bool any = false;
    for (guint i = 0; i < in->lanes->len; i++)
        any = any || !fm_spans_is_empty(in->spans,
                                        ((struct lane *)g_ptr_array_index(in->lanes, i))->spans);
    if (in->part == NULL)
        choose_measures(in, any);
    else if (any)
        push_part(in);
    for (guint i = 0; i < in->lanes->len; i++) {
        const struct lane *lane = g_ptr_array_index(in->lanes, i);
        if (fm_spans_is_empty(in->spans, lane->spans))
            continue;
        push_lane(in, g_ptr_array_index(names, i));
        if (!fm_spans_add(in->spans, lane->spans, in->stacks, found)) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: its spans take more than 2^63 ns together", in->input->name);
            return false;
        }
    }
    if (in->part != NULL)
        return true;
    if (!add_profiles(in, names, error) || !add_samples(in, names, error))
        return false;
    tell(in, found);
    if (found->spans > 0 || in->samples > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: no span or sample is in it",
                in->input->name);
    return false;
}

/* --- the file --- */

static bool read_events(struct chrome *in, struct fm_json_value top, struct fm_spans_found *found,
                        GError **error)
{
    struct fm_json_value events = fm_json_is_array(top) ? top : fm_json_member(top, "traceEvents");
    struct fm_json_items items = fm_json_items(events);
    struct fm_json_value event;
    if (!fm_json_is_array(events))
        return fm_import_json_fail(in->input, top, error, "expected \"traceEvents\"");
    in->build = fm_json_member(top, "beginningOfTime").at != NULL;
    while (fm_json_next(&items, NULL, &event)) {
        if (!take_event(in, event, error))
            return false;
    }
    in->stack_frames = fm_json_member(top, "stackFrames");
    in->stack_samples = fm_json_member(top, "samples");
    return take_profiles(in, error) && add_all(in, found, error);
}

static void init(struct chrome *in, const struct fm_import_input *input, struct fm_stacks *stacks)
{
    *in = (struct chrome){.input = input, .stacks = stacks};
    in->spans = fm_spans_new();
    in->lanes = g_ptr_array_new_with_free_func(free_lane);
    in->lane_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    in->process_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    in->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    in->profiles = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_profile);
    in->chunks = g_array_new(FALSE, FALSE, sizeof(struct chunk));
}

static void done(struct chrome *in)
{
    fm_spans_free(in->spans);
    g_ptr_array_unref(in->lanes);
    g_hash_table_unref(in->lane_of);
    g_hash_table_unref(in->process_names);
    g_hash_table_unref(in->names);
    g_hash_table_unref(in->profiles);
    g_array_unref(in->chunks);
}

bool fm_chrome_add_part(const struct fm_import_input *input, const char *name,
                        struct fm_stacks *stacks, struct fm_spans_found *found, GError **error)
{
    struct fm_json_value top;
    struct chrome in;
    if (!fm_import_json(input, &top, error))
        return false;
    init(&in, input, stacks);
    in.part = name;
    bool added = read_events(&in, top, found, error);
    done(&in);
    return added;
}

bool fm_import_chrome(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    g_autoptr(GError) open = NULL;
    g_autofree char *text = NULL;
    struct fm_import_input whole = *input;
    struct fm_json_value top;
    if (!fm_import_json(input, &top, &open)) {
        text = fm_chrome_closed(input);
        if (text != NULL) {
            whole.bytes = (const uint8_t *)text;
            whole.size = strlen(text);
        }
        if (text == NULL || !fm_import_json(&whole, &top, NULL)) {
            g_propagate_error(error, g_steal_pointer(&open));
            return false;
        }
    }
    struct fm_spans_found found = {0};
    struct chrome in;
    init(&in, &whole, fm_stacks_new(input->program, "Chrome's trace"));
    if (text != NULL)
        fm_build_note(fm_stacks_build(in.stacks), FM_NOTE_WARNING
                      "the file does not end as it should: events up to there are shown");
    bool read = read_events(&in, top, &found, error);
    if (read)
        read = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    done(&in);
    return read;
}
