/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the Firefox Profiler, which samply and others write, too. Two forms: Gecko's own, in
 * which a table is rows and a schema of their columns, and the processed one, in which a table is
 * columns. Versions differ in where a table stands (in the thread, or shared by all) and in what
 * refers to what, so each is read from wherever it is. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "exchange/figures_measures.h"
#include "exchange/import/browser/firefox_tables.h"

#define NESTED_MAX 8u /* processes within processes */
#define WEIGHT_MAX 0x1p52

struct firefox {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    GPtrArray *threads; /* struct fm_firefox_thread */
    GHashTable *taken;  /* names of threads */
    GPtrArray *texts;   /* texts of processes that stand as such within the JSON */
    unsigned cpu;       /* measure; 0 = not recorded by all threads */
    double cpu_scale;
    bool is_time, is_bytes; /* meaning of weights; else samples */
    uint64_t sum, cpu_sum, samples, without_stack;
    struct fm_import_figures figures; /* in fathom's own exports: a thread is a measure of one */
    struct fm_import_figure column;   /* then: of the thread that is read */
    char *thread;                     /* its outermost frame; NULL = none is one */
};

bool fm_import_is_firefox(const struct fm_import_input *input)
{
    /* A breakpadId is a library's: their list may be all of the head. */
    static const char *const signs[][3] = {{"\"preprocessedProfileVersion\""},
                                           {"Recorded Performance Data"},
                                           {"\"breakpadId\""},
                                           {"\"stackTable\"", "\"stringTable\""},
                                           {"\"meta\"", "\"libs\"", "\"interval\""},
                                           {"\"meta\"", "\"threads\"", "\"interval\""}};
    if (!fm_import_begins(input, FM_IMPORT_HEAD, "{") ||
        fm_import_holds(input, FM_IMPORT_HEAD, "\"ph\""))
        return false;
    for (unsigned i = 0; i < G_N_ELEMENTS(signs); i++) {
        unsigned found = 0;
        while (found < 3 && signs[i][found] != NULL &&
               fm_import_holds(input, FM_IMPORT_HEAD, signs[i][found]))
            found++;
        if (found == 3 || signs[i][found] == NULL)
            return true;
    }
    return false;
}

/* --- functions --- */

/* Code without a name is its library's: one function a library. */
static uint32_t unnamed_function(struct firefox *in, const struct fm_firefox_thread *thread,
                                 size_t frame, const char *address)
{
    g_autofree char *library = fm_firefox_library(thread, frame, address);
    g_autofree char *name = fm_stacks_unnamed(library, strlen(library));
    return fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = name,
                                                                   .size = strlen(name),
                                                                   .unit = library,
                                                                   .unit_size = strlen(library)});
}

/* "name (file:line)", as Gecko writes scripts: the place is taken off. */
static void split_location(char *text, char **ret_file)
{
    char *place = strrchr(text, '(');
    size_t size = strlen(text);
    *ret_file = NULL;
    if (place == NULL || place == text || place[-1] != ' ' || text[size - 1] != ')')
        return;
    char *end = text + size - 1, *colon;
    *end = '\0';
    while ((colon = strrchr(place, ':')) != NULL && g_ascii_isdigit(colon[1]) &&
           strspn(colon + 1, "0123456789") == strlen(colon + 1))
        *colon = '\0';
    place[-1] = '\0';
    *ret_file = place + 1;
}

static uint32_t make_function(struct firefox *in, const struct fm_firefox_thread *thread,
                              size_t frame)
{
    struct fm_firefox_function of;
    fm_firefox_function(thread, frame, &of);
    char *in_name = NULL;
    if (g_str_has_prefix(of.name, "0x") || of.name[0] == '\0') {
        uint32_t function = unnamed_function(in, thread, frame, of.name);
        fm_firefox_function_done(&of);
        return function;
    }
    if (of.file[0] == '\0')
        split_location(of.name, &in_name);
    const char *file = in_name != NULL ? in_name : of.file;
    uint32_t function =
        fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = of.name,
                                                                .size = strlen(of.name),
                                                                .unit = file,
                                                                .unit_size = strlen(file),
                                                                .file = file,
                                                                .file_size = strlen(file),
                                                                .line = of.line,
                                                                .begins = of.line != 0});
    fm_firefox_function_done(&of);
    return function;
}

/* Our own exports have the thread as the outermost function. */
static uint32_t function_of(struct firefox *in, const struct fm_firefox_thread *thread,
                            size_t frame, bool outermost)
{
    if (outermost && in->thread != NULL) {
        struct fm_firefox_function of;
        fm_firefox_function(thread, frame, &of);
        bool is_thread = strcmp(of.name, in->thread) == 0;
        fm_firefox_function_done(&of);
        if (is_thread)
            return fm_stacks_outside(in->stacks, in->thread, strlen(in->thread));
    }
    return make_function(in, thread, frame);
}

static bool push_stack(struct firefox *in, const struct fm_firefox_thread *thread, size_t stack,
                       uint32_t base, uint32_t *functions, GArray *path, GError **error)
{
    g_array_set_size(path, 0);
    for (size_t at = stack; at != SIZE_MAX;) {
        size_t frame, parent;
        if (!fm_firefox_stack(thread, at, &frame, &parent))
            return fm_import_json_fail(in->input, thread->value, error,
                                       "stack %zu of %s: expected a frame, and a caller in front "
                                       "of it",
                                       at, thread->name);
        g_array_append_val(path, frame);
        at = parent;
    }
    fm_stacks_cut(in->stacks, base);
    for (guint i = path->len; i-- > 0;) {
        size_t frame = g_array_index(path, size_t, i);
        if (functions[frame] == UINT32_MAX)
            functions[frame] = function_of(in, thread, frame, i + 1 == path->len);
        fm_stacks_push(in->stacks, functions[frame], 0);
    }
    return true;
}

/* --- samples --- */

struct sums {
    double weight, cpu;
};

/* By stack, since samples repeat them. The last is that of no stack. */
static bool sum_samples(struct firefox *in, const struct fm_firefox_thread *thread,
                        struct sums *sums, GError **error)
{
    for (size_t i = 0; i < thread->sample_count; i++) {
        double weight = fm_firefox_weight(thread, i), cpu = fm_firefox_cpu(thread, i);
        size_t stack = fm_firefox_sampled(thread, i);
        if (weight < 0)
            return fm_import_json_fail(in->input, thread->value, error,
                                       "a weight of %g in %s: a difference of two profiles is none",
                                       weight, thread->name);
        if (stack == SIZE_MAX)
            in->without_stack++;
        else if (stack >= thread->stack_count)
            return fm_import_json_fail(in->input, thread->value, error,
                                       "sample %zu of %s is of stack %zu, of %zu", i, thread->name,
                                       stack, thread->stack_count);
        struct sums *of = &sums[stack == SIZE_MAX ? thread->stack_count : stack];
        of->weight += weight;
        of->cpu += isnan(cpu) ? 0 : cpu;
        in->samples++;
    }
    return true;
}

static bool add(struct firefox *in, const struct fm_firefox_thread *thread, const struct sums *sums,
                GError **error)
{
    bool told = in->figures.told.told;
    bool is_time = told ? thread->weight_unit == FM_FIREFOX_MILLISECONDS : in->is_time;
    double scale = is_time ? 1e6 : 1; /* milliseconds */
    double weight = floor(sums->weight * scale + 0.5), cpu = floor(sums->cpu + 0.5);
    if (!(weight < WEIGHT_MAX) || !(cpu < WEIGHT_MAX) || cpu < 0 ||
        !fm_import_sum(&in->sum, (uint64_t)weight) || !fm_import_sum(&in->cpu_sum, (uint64_t)cpu))
        return fm_import_json_fail(in->input, thread->value, error,
                                   "the weights of %s are too large", thread->name);
    if (told && in->column.calls) {
        fm_stacks_add(in->stacks, FM_EXITS, (uint64_t)weight);
        fm_stacks_add(in->stacks, FM_CALLSEQS, (uint64_t)weight);
        return true;
    }
    fm_stacks_add(in->stacks, told ? in->column.measure : FM_QUANTA,
                  told ? (uint64_t)weight / in->column.divide : (uint64_t)weight);
    if (in->cpu != 0)
        fm_stacks_add(in->stacks, in->cpu, (uint64_t)cpu);
    return true;
}

static bool add_stacks(struct firefox *in, const struct fm_firefox_thread *thread,
                       const struct sums *sums, GError **error)
{
    g_autofree uint32_t *functions = g_new(uint32_t, thread->frame_count + 1);
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(size_t));
    uint32_t base = fm_stacks_depth(in->stacks);
    memset(functions, 0xff, sizeof *functions * (thread->frame_count + 1));
    for (size_t i = 0; i <= thread->stack_count; i++) {
        if (!(sums[i].weight > 0) && !(sums[i].cpu > 0))
            continue;
        if (i == thread->stack_count) {
            fm_stacks_cut(in->stacks, base);
            fm_stacks_push(in->stacks,
                           fm_stacks_function(in->stacks,
                                              &(struct fm_stacks_name){
                                                  .name = "(no stack)", .size = 10, .unit = ""}),
                           0);
        } else if (!push_stack(in, thread, i, base, functions, path, error)) {
            return false;
        }
        if (!add(in, thread, &sums[i], error))
            return false;
    }
    return true;
}

/* A thread of our own exports is a measure of one. */
static bool add_told(struct firefox *in, const struct fm_firefox_thread *thread, GError **error)
{
    static const char *const names[] = {"column", "thread"};
    struct fm_json_value of[G_N_ELEMENTS(names)];
    fm_json_members(fm_json_member(thread->value, "fathom"), names, G_N_ELEMENTS(names), of);
    g_autofree char *column = fm_json_string(of[0]), *name = fm_json_string(of[1]);
    g_autofree struct sums *sums = g_new0(struct sums, thread->stack_count + 1);
    in->column = fm_import_figures_of(&in->figures, column);
    fm_stacks_cut(in->stacks, 0);
    if (in->column.skip)
        return true;
    in->thread = name[0] == '\0' ? NULL : name;
    bool done = sum_samples(in, thread, sums, error) && add_stacks(in, thread, sums, error);
    in->thread = NULL;
    return done;
}

static bool add_thread(struct firefox *in, const struct fm_firefox_thread *thread, bool alone,
                       GError **error)
{
    g_autofree struct sums *sums = g_new0(struct sums, thread->stack_count + 1);
    fm_stacks_cut(in->stacks, 0);
    if (!alone) {
        g_autofree char *name = g_strdup(thread->name);
        for (unsigned i = 2; g_hash_table_contains(in->taken, name); i++) {
            g_free(name);
            name = g_strdup_printf("%s, %u", thread->name, i);
        }
        g_hash_table_add(in->taken, g_strdup(name));
        fm_stacks_push_outside(in->stacks, name, strlen(name));
    }
    return sum_samples(in, thread, sums, error) && add_stacks(in, thread, sums, error);
}

/* --- the file --- */

/* Old versions have a process among the threads, as the text of its JSON. */
static bool take_text(struct firefox *in, struct fm_json_value *value, GError **error)
{
    char *text = fm_json_string(*value);
    struct fm_json_value at = *value;
    size_t offset;
    const char *expected;
    g_ptr_array_add(in->texts, text);
    return fm_json_check(text, strlen(text), value, &offset, &expected) ||
           fm_import_json_fail(in->input, at, error, "within this text, at %zu: expected %s",
                               offset, expected);
}

/* Threads of the profile, of the processes in it, and of those that stand among its threads. */
static bool find_threads(struct firefox *in, struct fm_json_value profile, unsigned depth,
                         GError **error)
{
    static const char *const names[] = {"threads", "processes", "shared", "libs", "meta"};
    struct fm_json_value of[G_N_ELEMENTS(names)], value;
    fm_json_members(profile, names, G_N_ELEMENTS(names), of);
    struct fm_json_items items = fm_json_items(of[0]);
    if (depth > NESTED_MAX)
        return fm_import_json_fail(in->input, profile, error,
                                   "processes within one another, more than %u", NESTED_MAX);
    while (fm_json_next(&items, NULL, &value)) {
        if (value.at != NULL && *value.at == '"' && !take_text(in, &value, error))
            return false;
        if (!fm_json_is_object(value))
            return fm_import_json_fail(in->input, value, error, "expected a thread");
        if (fm_json_is_array(fm_json_member(value, "threads"))) {
            if (!find_threads(in, value, depth + 1, error))
                return false;
            continue;
        }
        struct fm_firefox_thread *thread = fm_firefox_thread_new(value, of[2], of[3], of[4]);
        g_ptr_array_add(in->threads, thread);
    }
    items = fm_json_items(of[1]);
    while (fm_json_next(&items, NULL, &value)) {
        if (!find_threads(in, value, depth + 1, error))
            return false;
    }
    return true;
}

/* The meaning of the weights, and whether all threads know their CPU time. */
static void choose_measures(struct firefox *in)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    bool has_cpu = true;
    for (guint i = 0; i < in->threads->len; i++) {
        const struct fm_firefox_thread *thread = g_ptr_array_index(in->threads, i);
        if (thread->sample_count == 0)
            continue;
        in->is_time = in->is_time || thread->weight_unit == FM_FIREFOX_MILLISECONDS;
        in->is_bytes = in->is_bytes || thread->weight_unit == FM_FIREFOX_BYTES;
        has_cpu = has_cpu && thread->cpu_scale > 0;
        in->cpu_scale = thread->cpu_scale;
    }
    if (in->is_time) {
        fm_build_header(build)->ticks_per_second = 1000000000;
        fm_build_nature(build, FM_NATURE_CLOCK, 0);
    } else {
        fm_stacks_name_quanta(in->stacks, in->is_bytes ? "bytes" : "samples",
                              in->is_bytes ? "bytes" : NULL);
    }
    if (has_cpu)
        in->cpu = fm_stacks_add_scaled(in->stacks, "cpu_time", "s", in->cpu_scale);
    fm_import_only_knows(build, 1u << FM_QUANTA);
}

static bool read_all(struct firefox *in, struct fm_json_value top, GError **error)
{
    struct fm_json_value profile = fm_json_member(top, "profile");
    if (!fm_json_is_object(profile) || fm_json_is_array(fm_json_member(top, "threads")))
        profile = top; /* else developer tools put it into another object */
    if (!fm_json_is_array(fm_json_member(profile, "threads")))
        return fm_import_json_fail(in->input, profile, error, "expected \"threads\"");
    if (!find_threads(in, profile, 0, error))
        return false;
    g_autofree char *figures =
        fm_json_string(fm_json_member(fm_json_member(profile, "meta"), "fathom"));
    bool told = fm_figures_parse(figures, strlen(figures), &in->figures.told);
    if (told)
        fm_import_figures_begin(&in->figures, in->stacks);
    else
        choose_measures(in);
    guint used = 0;
    for (guint i = 0; i < in->threads->len; i++)
        used +=
            ((const struct fm_firefox_thread *)g_ptr_array_index(in->threads, i))->sample_count > 0;
    for (guint i = 0; i < in->threads->len; i++) {
        const struct fm_firefox_thread *thread = g_ptr_array_index(in->threads, i);
        if (thread->sample_count > 0 &&
            !(told ? add_told(in, thread, error) : add_thread(in, thread, used < 2, error)))
            return false;
    }
    if (in->samples == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: no sample is in it",
                    in->input->name);
        return false;
    }
    if (!told && !in->is_time && !in->is_bytes) {
        fm_build_header(fm_stacks_build(in->stacks))->sample_count = in->sum;
        fm_build_header(fm_stacks_build(in->stacks))->sample_squares = in->sum;
    }
    if (in->without_stack > 0) {
        g_autofree char *note =
            g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples have no stack",
                            (guint64)in->without_stack, (guint64)in->samples);
        fm_build_note(fm_stacks_build(in->stacks), note);
    }
    return true;
}

bool fm_import_firefox(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct fm_json_value top;
    if (!fm_import_json(input, &top, error))
        return false;
    struct firefox in = {.input = input,
                         .stacks = fm_stacks_new(input->program, "Firefox's profile")};
    in.threads = g_ptr_array_new_with_free_func(fm_firefox_thread_free);
    in.texts = g_ptr_array_new_with_free_func(g_free);
    in.taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool done = read_all(&in, top, error);
    g_ptr_array_unref(in.threads);
    g_ptr_array_unref(in.texts);
    g_hash_table_unref(in.taken);
    if (done)
        return fm_stacks_finish(in.stacks, ret, error);
    fm_stacks_free(in.stacks);
    return false;
}
