/* SPDX-License-Identifier: Apache-2.0 */
/* heaptrack's file, as heaptrack_interpret writes it: text, a record a line, hexadecimal numbers.
 * Strings, instruction pointers and stacks have numbers in the order of their records; an
 * allocation names a size and a stack. Every allocation is recorded, so all figures are exact. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "exchange/import/internal.h"

#define NUMBERS_MAX 1024u         /* in one line; the inlined functions of a place are few */
#define TAKEN_MAX 16u             /* in a line of known ones; later versions may add some */
#define VERSION_WITH_FILE 0x10200 /* the first whose files have a version of their own */
#define NS_PER_MS 1000000u

struct string {
    const char *at;
    size_t size;
};

/* What an address was: the function itself, and in front of it what was inlined into it. */
struct place {
    uint32_t module;       /* a string's number, 0 = not known */
    uint32_t first, count; /* the bodies' */
    bool allocates;        /* operator new: the stack is the one of its caller */
};

struct body {
    uint32_t function, file, line; /* strings' numbers */
    uint32_t made;                 /* function of the stacks + 1, 0 = not asked for yet */
};

struct trace {
    uint32_t place, parent; /* numbers from 1; parent 0: the outermost frame */
    uint64_t allocs, bytes, live_blocks, live_bytes, peak_bytes, temporary;
    bool changed; /* since the peak was last seen */
};

/* A size and a stack. */
struct kind {
    uint64_t size;
    uint32_t trace;
};

struct heaptrack {
    struct fm_import_text text;
    struct fm_stacks *stacks;
    GArray *strings, *places, *bodies, *traces, *kinds;
    GHashTable *blocks; /* version 0: address -> index of a kind + 1 */
    GArray *changed;    /* guint: traces whose live bytes differ from those at the peak */
    uint64_t version, live, peak, allocs, bytes, duration_ms;
    guint last; /* kind + 1 of the allocation that the line before was; 0 = it was none */
    bool rising;
    unsigned live_blocks, live_bytes, peak_bytes, temporary;
};

#define fail(in, ...) fm_import_text_fail(&(in)->text, FM_ERROR_FORMAT, __VA_ARGS__)

bool fm_import_is_heaptrack(const struct fm_import_input *input)
{
    const char *bytes = (const char *)input->bytes;
    return input->size > 4 && memcmp(bytes, "v ", 2) == 0 && g_ascii_isxdigit(bytes[2]) &&
           fm_import_holds(input, 4096, "\nX ");
}

/* --- numbers --- */

/* Reads the hexadecimal numbers of a line, at most max. UINT32_MAX: there is something else. */
static uint32_t numbers_of(const char *line, size_t size, uint64_t *ret, uint32_t max)
{
    uint32_t count = 0;
    for (size_t at = 0; at < size;) {
        uint64_t value = 0;
        size_t digits = 0;
        if (line[at] == ' ') {
            at++;
            continue;
        }
        for (; at < size && g_ascii_isxdigit(line[at]); at++, digits++)
            value = value << 4 | (uint64_t)g_ascii_xdigit_value(line[at]);
        if (digits == 0 || digits > 16 || count == max || (at < size && line[at] != ' '))
            return UINT32_MAX;
        ret[count++] = value;
    }
    return count;
}

/* A line of exactly count numbers, or of some more that later versions may add. */
static bool take(const struct heaptrack *in, const char *line, size_t size, uint64_t *ret,
                 uint32_t count, GError **error)
{
    uint64_t numbers[TAKEN_MAX] = {0};
    uint32_t found = numbers_of(line + 1, size - 1, numbers, TAKEN_MAX);
    if (found == UINT32_MAX || found < count)
        return fail(in, error, "expected %u hexadecimal number%s behind '%c'", count,
                    count == 1 ? "" : "s", line[0]);
    memcpy(ret, numbers, count * sizeof *ret);
    return true;
}

/* --- tables --- */

/* The texts of version 3 tell their length, since line feeds may be in them. */
static bool read_string(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    struct string string = {line + MIN(size, 2), size - MIN(size, 2)};
    if (in->version >= 3) {
        const char *blank = memchr(string.at, ' ', string.size);
        uint64_t length = 0;
        size_t digits = blank == NULL ? string.size : (size_t)(blank - string.at);
        if (numbers_of(string.at, digits, &length, 1) != 1)
            return fail(in, error, "expected the length of a text behind 's'");
        string.at += digits + (blank != NULL);
        if (length > (uint64_t)(in->text.end - string.at))
            return fail(in, error, "a text of %" G_GUINT64_FORMAT " bytes, %zu are left", length,
                        (size_t)(in->text.end - string.at));
        string.size = length;
        const char *rest = string.at + length;
        for (const char *at = memchr(string.at, '\n', length); at != NULL;
             at = memchr(at + 1, '\n', (size_t)(rest - at - 1)))
            in->text.line++;
        if (rest < in->text.end && *rest != '\n')
            return fail(in, error,
                        "expected the line's end behind a text of %" G_GUINT64_FORMAT " bytes",
                        length);
        in->text.at = rest < in->text.end ? rest + 1 : rest;
    }
    g_array_append_val(in->strings, string);
    return true;
}

static const struct string *string_at(const struct heaptrack *in, uint64_t number)
{
    static const struct string none = {"", 0};
    return number == 0 ? &none : &g_array_index(in->strings, struct string, number - 1);
}

static bool is_operator_new(const struct string *name)
{
    static const char *const names[] = {
        "operator new(unsigned long)", "operator new[](unsigned long)",
        "operator new(unsigned int)", "operator new[](unsigned int)"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strlen(names[i]) == name->size && memcmp(names[i], name->at, name->size) == 0)
            return true;
    }
    return false;
}

/* "i IP MODULE [FUNCTION [FILE LINE]]...": the innermost inlined function first. */
static bool read_place(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    uint64_t numbers[NUMBERS_MAX] = {0};
    uint32_t count = numbers_of(line + 1, size - 1, numbers, NUMBERS_MAX);
    if (count == UINT32_MAX || count < 1)
        return fail(in, error, "expected an address and numbers of texts behind 'i'");
    struct place place = {.first = in->bodies->len};
    for (uint32_t i = 1; i < count; i += i == 1 ? 1 : 3) {
        const uint64_t of[3] = {numbers[i], i > 1 && i + 1 < count ? numbers[i + 1] : 0,
                                i > 1 && i + 2 < count ? numbers[i + 2] : 0};
        if (of[0] > in->strings->len || of[1] > in->strings->len)
            return fail(in, error, "text %" G_GUINT64_FORMAT ", of %u", MAX(of[0], of[1]),
                        in->strings->len);
        if (i == 1) {
            place.module = (uint32_t)of[0];
            continue;
        }
        struct body body = {(uint32_t)of[0], (uint32_t)of[1], (uint32_t)MIN(of[2], G_MAXUINT32), 0};
        g_array_append_val(in->bodies, body);
    }
    if (in->bodies->len == place.first) {
        struct body unknown = {0};
        g_array_append_val(in->bodies, unknown);
    }
    place.count = in->bodies->len - place.first;
    place.allocates = is_operator_new(
        string_at(in, g_array_index(in->bodies, struct body, place.first).function));
    g_array_append_val(in->places, place);
    return true;
}

/* "t PLACE PARENT". A stack that ends in operator new is its caller's, as it is to heaptrack. */
static bool read_trace(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    uint64_t of[2] = {0};
    if (!take(in, line, size, of, 2, error))
        return false;
    if (of[0] == 0 || of[0] > in->places->len || of[1] > in->traces->len)
        return fail(in, error,
                    "a stack of address %" G_GUINT64_FORMAT " below stack %" G_GUINT64_FORMAT
                    ", of %u and %u",
                    of[0], of[1], in->places->len, in->traces->len);
    struct trace trace = {.place = (uint32_t)of[0], .parent = (uint32_t)of[1]};
    const struct trace *above =
        of[1] == 0 ? NULL : &g_array_index(in->traces, struct trace, of[1] - 1);
    if (above != NULL && above->place == 0) /* it stands for its own parent */
        trace.parent = above->parent;
    if (g_array_index(in->places, struct place, of[0] - 1).allocates)
        trace.place = 0;
    g_array_append_val(in->traces, trace);
    return true;
}

/* --- allocations --- */

static struct trace *trace_at(struct heaptrack *in, uint32_t number)
{
    struct trace *trace = &g_array_index(in->traces, struct trace, number - 1);
    if (trace->place == 0 && trace->parent != 0)
        trace = &g_array_index(in->traces, struct trace, trace->parent - 1);
    return trace;
}

static bool make_kind(struct heaptrack *in, uint64_t size, uint64_t trace, GError **error)
{
    if (trace == 0 || trace > in->traces->len)
        return fail(in, error, "stack %" G_GUINT64_FORMAT ", of %u", trace, in->traces->len);
    struct kind kind = {size, (uint32_t)trace};
    g_array_append_val(in->kinds, kind);
    return true;
}

/* What was live when most was: taken when the sum falls for the first time after a new maximum, of
 * the stacks that have changed since the one before. */
static void take_peak(struct heaptrack *in)
{
    for (guint i = 0; i < in->changed->len; i++) {
        struct trace *trace =
            &g_array_index(in->traces, struct trace, g_array_index(in->changed, guint, i));
        trace->peak_bytes = trace->live_bytes;
        trace->changed = false;
    }
    g_array_set_size(in->changed, 0);
    in->rising = false;
}

static void has_changed(struct heaptrack *in, struct trace *trace)
{
    guint index = (guint)(trace - (struct trace *)(void *)in->traces->data);
    if (!trace->changed)
        g_array_append_val(in->changed, index);
    trace->changed = true;
}

static bool allocate(struct heaptrack *in, guint index, GError **error)
{
    const struct kind *kind = &g_array_index(in->kinds, struct kind, index);
    struct trace *trace = trace_at(in, kind->trace);
    if (!fm_import_sum(&in->bytes, kind->size))
        return fail(in, error, "more than 2^63 bytes were allocated up to here");
    in->allocs++;
    trace->allocs++;
    trace->bytes += kind->size;
    trace->live_blocks++;
    trace->live_bytes += kind->size;
    in->live += kind->size;
    has_changed(in, trace);
    if (in->live > in->peak) {
        in->peak = in->live;
        in->rising = true;
    }
    in->last = index + 1;
    return true;
}

static bool release(struct heaptrack *in, guint index, GError **error)
{
    const struct kind *kind = &g_array_index(in->kinds, struct kind, index);
    struct trace *trace = trace_at(in, kind->trace);
    if (trace->live_blocks == 0 || trace->live_bytes < kind->size)
        return fail(in, error, "more blocks are freed than were allocated by one stack");
    if (in->rising)
        take_peak(in);
    trace->live_blocks--;
    trace->live_bytes -= kind->size;
    in->live -= kind->size;
    trace->temporary += in->last == index + 1;
    in->last = 0;
    has_changed(in, trace);
    return true;
}

static bool kind_at(const struct heaptrack *in, uint64_t number, GError **error)
{
    return number < in->kinds->len ||
           fail(in, error, "allocation %" G_GUINT64_FORMAT ", of %u", number, in->kinds->len);
}

/* Version 0 names blocks by their addresses: "+ SIZE TRACE ADDRESS", "- ADDRESS". A block that
 * nobody saw being allocated is none of ours. */
static bool read_event_of_block(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    uint64_t of[3] = {0};
    if (line[0] == '-') {
        if (!take(in, line, size, of, 1, error))
            return false;
        guint kind = GPOINTER_TO_UINT(g_hash_table_lookup(in->blocks, &of[0]));
        g_hash_table_remove(in->blocks, &of[0]);
        return kind == 0 || release(in, kind - 1, error);
    }
    if (!take(in, line, size, of, 3, error) || !make_kind(in, of[0], of[1], error))
        return false;
    g_hash_table_replace(in->blocks, g_memdup2(&of[2], sizeof of[2]),
                         GUINT_TO_POINTER(in->kinds->len));
    return allocate(in, in->kinds->len - 1, error);
}

static bool read_event(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    uint64_t number = 0;
    if (in->version == 0)
        return read_event_of_block(in, line, size, error);
    return take(in, line, size, &number, 1, error) && kind_at(in, number, error) &&
           (line[0] == '+' ? allocate(in, (guint)number, error)
                           : release(in, (guint)number, error));
}

/* heaptrack was attached to a process: what stands before is not the program's. */
static void forget_costs(struct heaptrack *in)
{
    for (guint i = 0; i < in->traces->len; i++) {
        struct trace *trace = &g_array_index(in->traces, struct trace, i);
        *trace = (struct trace){.place = trace->place, .parent = trace->parent};
    }
    g_array_set_size(in->changed, 0);
    in->live = in->peak = in->allocs = in->bytes = 0;
    in->rising = false;
    in->last = 0;
}

/* --- lines --- */

static bool read_version(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    uint64_t of[2] = {0};
    uint32_t count = numbers_of(line + 1, size - 1, of, 2);
    if (count == UINT32_MAX || count == 0)
        return fail(in, error, "expected \"v VERSION [FILE_VERSION]\"");
    in->version = count == 2 ? of[1] : of[0] >= VERSION_WITH_FILE ? 1 : 0;
    if (in->version > 3)
        return fail(in, error,
                    "version %" G_GUINT64_FORMAT " of heaptrack's file, expected 0 to 3: a newer "
                    "fathom may read it",
                    in->version);
    return true;
}

static bool read_line(struct heaptrack *in, const char *line, size_t size, GError **error)
{
    uint64_t of[2] = {0};
    switch (line[0]) {
    case 's':
        return read_string(in, line, size, error);
    case 'i':
        return read_place(in, line, size, error);
    case 't':
        return read_trace(in, line, size, error);
    case 'a':
        return take(in, line, size, of, 2, error) && make_kind(in, of[0], of[1], error);
    case '+':
    case '-':
        return read_event(in, line, size, error);
    case 'c':
        if (!take(in, line, size, &in->duration_ms, 1, error))
            return false;
        break;
    case 'A':
        forget_costs(in);
        break;
    case 'x': /* addresses that heaptrack_interpret has not made functions of yet */
    case 'm':
        return fail(in, error,
                    "it is a raw file of heaptrack (--raw): heaptrack_interpret < FILE > "
                    "interpreted writes what can be imported");
    default: /* I, R, S, X, #, and what later versions may add */
        break;
    }
    return true;
}

static bool read_lines(struct heaptrack *in, GError **error)
{
    const char *line;
    size_t size;
    while (fm_import_text_next(&in->text, &line, &size)) {
        if (size == 0)
            continue;
        if (in->text.line == 1 ? !read_version(in, line, size, error)
                               : !read_line(in, line, size, error))
            return false;
    }
    if (in->rising)
        take_peak(in);
    if (in->allocs > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: no allocation is in it", in->text.name);
    return false;
}

/* --- stacks --- */

static uint32_t function_of(struct heaptrack *in, const struct place *place, struct body *body)
{
    const struct string *name = string_at(in, body->function), *file = string_at(in, body->file);
    const struct string *module = string_at(in, place->module);
    if (body->made != 0)
        return body->made - 1;
    g_autofree char *path = g_strndup(module->at, module->size);
    g_autofree char *base = g_path_get_basename(module->size == 0 ? "[unknown]" : path);
    g_autofree char *unnamed = fm_stacks_unnamed(module->at, module->size);
    const char *unit = file->size > 0 ? file->at : base;
    body->made = fm_stacks_function(in->stacks,
                                    &(struct fm_stacks_name){
                                        .name = name->size > 0 ? name->at : unnamed,
                                        .size = name->size > 0 ? name->size : strlen(unnamed),
                                        .unit = unit,
                                        .unit_size = file->size > 0 ? file->size : strlen(base),
                                        .file = file->at,
                                        .file_size = file->size}) +
                 1;
    return body->made - 1;
}

static uint32_t line_in_file(const struct body *body)
{
    return body->file == 0 ? 0 : body->line;
}

/* From the outermost frame on. places: room for the stack's. */
static void push_stack(struct heaptrack *in, const struct trace *trace, GArray *places)
{
    uint32_t line = 0;
    g_array_set_size(places, 0);
    for (;; trace = &g_array_index(in->traces, struct trace, trace->parent - 1)) {
        if (trace->place != 0)
            g_array_append_val(places, trace->place);
        if (trace->parent == 0)
            break;
    }
    fm_stacks_cut(in->stacks, 0);
    if (places->len == 0) /* nothing but operator new */
        fm_stacks_push(in->stacks,
                       fm_stacks_function(in->stacks,
                                          &(struct fm_stacks_name){.name = "[unknown]", .size = 9}),
                       0);
    for (guint i = places->len; i-- > 0;) {
        guint number = g_array_index(places, uint32_t, i) - 1;
        const struct place *place = &g_array_index(in->places, struct place, number);
        for (uint32_t k = place->count; k-- > 0;) {
            struct body *body = &g_array_index(in->bodies, struct body, place->first + k);
            fm_stacks_push(in->stacks, function_of(in, place, body), line);
            line = line_in_file(body);
        }
    }
}

static void add_all(struct heaptrack *in)
{
    struct fm_build_header *header = fm_build_header(fm_stacks_build(in->stacks));
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    in->live_bytes = fm_stacks_add_measure(in->stacks, "live_bytes", "bytes");
    in->live_blocks = fm_stacks_add_measure(in->stacks, "live_blocks", "blocks");
    in->peak_bytes = fm_stacks_add_measure(in->stacks, "peak_bytes", "bytes");
    in->temporary = fm_stacks_add_measure(in->stacks, "temporary_blocks", "blocks");
    for (guint i = 0; i < in->traces->len; i++) {
        const struct trace *trace = &g_array_index(in->traces, struct trace, i);
        if (trace->allocs == 0)
            continue;
        push_stack(in, trace, places);
        fm_stacks_add(in->stacks, FM_ALLOCS, trace->allocs);
        fm_stacks_add(in->stacks, FM_WORDS, trace->bytes);
        fm_stacks_add(in->stacks, in->live_bytes, trace->live_bytes);
        fm_stacks_add(in->stacks, in->live_blocks, trace->live_blocks);
        fm_stacks_add(in->stacks, in->peak_bytes, trace->peak_bytes);
        fm_stacks_add(in->stacks, in->temporary, trace->temporary);
    }
    header->peak_bytes = in->peak;
    header->duration_ns = in->duration_ms < INT64_MAX / NS_PER_MS ? in->duration_ms * NS_PER_MS : 0;
    fm_import_only_knows(fm_stacks_build(in->stacks), 1u << FM_ALLOCS | 1u << FM_WORDS);
}

bool fm_import_heaptrack(const struct fm_import_input *input, struct fm_profile **ret,
                         GError **error)
{
    struct heaptrack in = {.stacks = fm_stacks_new(input->program, "heaptrack's file")};
    fm_import_text_begin(&in.text, input);
    in.strings = g_array_new(FALSE, FALSE, sizeof(struct string));
    in.places = g_array_new(FALSE, FALSE, sizeof(struct place));
    in.bodies = g_array_new(FALSE, FALSE, sizeof(struct body));
    in.traces = g_array_new(FALSE, TRUE, sizeof(struct trace));
    in.kinds = g_array_new(FALSE, FALSE, sizeof(struct kind));
    in.changed = g_array_new(FALSE, FALSE, sizeof(guint));
    in.blocks = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    bool done = read_lines(&in, error);
    if (done) {
        add_all(&in);
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    }
    fm_stacks_free(in.stacks);
    g_array_unref(in.strings);
    g_array_unref(in.places);
    g_array_unref(in.bodies);
    g_array_unref(in.traces);
    g_array_unref(in.kinds);
    g_array_unref(in.changed);
    g_hash_table_unref(in.blocks);
    return done;
}
