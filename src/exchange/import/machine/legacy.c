/* SPDX-License-Identifier: Apache-2.0 */
/* Text with stacks of addresses, as gperftools, jemalloc and older Go write it: heaps, where a heap
 * grew, waits for locks, threads. The list of the process's files at the end gives names. Sampled
 * heaps are scaled to what the samples stand for, each record by its mean size. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "exchange/import/internal.h"
#include "exchange/import/machine/images.h"

#define NS_PER_SECOND 1000000000u
#define JAVA_RATE ((uint64_t)512 << 10) /* Java's files do not say it */
#define NUMBERS 4u

enum kind { HEAP, GROWTH, JEMALLOC, JAVA_HEAP, LOCKS, THREADS };

static const struct {
    const char *begins;
    enum kind kind;
} beginnings[] = {
    {"heap profile:", HEAP},
    {"heap_v2/", JEMALLOC},
    {"--- heapz 1 ---", JAVA_HEAP},
    {"--- contentionz 1 ---", LOCKS},
    {"--- mutex:", LOCKS},
    {"--- threadz 1 ---", THREADS},
    {"threadcreate profile:", THREADS},
    {"goroutine profile:", THREADS},
};

struct text {
    const struct fm_import_input *input;
    struct fm_import_text lines;
    enum kind kind;
    uint64_t rate; /* one sample in so many bytes; 0: all are recorded */
    double cycles_per_second, period;
    bool microseconds; /* locks: not cycles */
    struct fm_stacks *stacks;
    struct fm_import_images *images;
    GHashTable *names;     /* address -> char *: the file's own */
    GHashTable *functions; /* address -> number + 1 */
    GArray *stack;         /* uint64_t, innermost first */
    GPtrArray *said;       /* char * of each address, NULL: none; threads */
    bool allocated;        /* what was allocated since the start is in it */
    unsigned live_bytes;   /* FM_QUANTA if what was allocated is not in it */
    unsigned live_blocks, count;
    uint64_t records, total, unnamed, sums[4];
};

bool fm_import_is_legacy(const struct fm_import_input *input)
{
    for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++) {
        size_t size = strlen(beginnings[i].begins);
        if (input->size >= size && memcmp(input->bytes, beginnings[i].begins, size) == 0)
            return true;
    }
    return false;
}

static bool begins(const char *line, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* --- names --- */

static void take_name(struct text *in, const char *line, size_t size)
{
    uint64_t address;
    char *name;
    if (!fm_import_named_address(line, size, &address, &name))
        return;
    if (g_hash_table_contains(in->names, &address))
        g_free(name);
    else
        g_hash_table_insert(in->names, g_memdup2(&address, sizeof address), name);
}

/* Names and the list of files may stand behind the stacks. */
static void look_through(struct text *in)
{
    struct fm_import_text lines;
    const char *line;
    size_t size;
    fm_import_text_begin(&lines, in->input);
    while (fm_import_text_next(&lines, &line, &size)) {
        if (begins(line, size, "MAPPED_LIBRARIES:") || begins(line, size, "--- Memory map: ---")) {
            in->images = fm_import_images_new(lines.at, (size_t)(lines.end - lines.at));
            return;
        }
        if (size > 4 && (line[0] == '#' || (line[0] == ' ' && in->kind != THREADS)))
            take_name(in, line, size);
    }
    in->images = fm_import_images_new("", 0);
}

/* said: what the record itself calls the address, NULL: nothing. */
static uint32_t function_of(struct text *in, uint64_t address, const char *said, bool *ret_named)
{
    const char *name = said != NULL ? said : g_hash_table_lookup(in->names, &address);
    if (name == NULL && address > 0) /* all of them are return addresses */
        address--;
    struct fm_import_image_place place = {NULL, NULL};
    if (name == NULL)
        place = fm_import_images_at(in->images, address);
    *ret_named = name != NULL || place.symbol != NULL;
    gpointer known = name != NULL ? NULL : g_hash_table_lookup(in->functions, &address);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    size_t size = place.path == NULL ? 0 : strlen(place.path);
    g_autofree char *file = fm_stacks_unnamed(place.path, size);
    const char *text = name != NULL ? name : place.symbol != NULL ? place.symbol->name : file;
    struct fm_stacks_name function = {.name = text, .size = strlen(text), .unit = place.path};
    function.unit_size = size;
    uint32_t number = fm_stacks_function(in->stacks, &function);
    if (name == NULL)
        g_hash_table_insert(in->functions, g_memdup2(&address, sizeof address),
                            GUINT_TO_POINTER(number + 1));
    return number;
}

static void push_stack(struct text *in, uint64_t value)
{
    bool named = true;
    fm_stacks_cut(in->stacks, 0);
    if (in->stack->len == 0)
        fm_stacks_push(in->stacks, function_of(in, 0, NULL, &named), 0);
    for (guint i = in->stack->len; i > 0; i--) {
        const char *said = in->said->len >= i ? g_ptr_array_index(in->said, i - 1) : NULL;
        fm_stacks_push(in->stacks,
                       function_of(in, g_array_index(in->stack, uint64_t, i - 1), said, &named), 0);
    }
    in->records++;
    in->total += value;
    in->unnamed += named ? 0 : value;
}

/* --- records --- */

static bool add(struct text *in, unsigned sum, unsigned measure, double value, GError **error)
{
    uint64_t whole = value < 0x1p62 ? (uint64_t)llround(value) : UINT64_MAX;
    if (!fm_import_sum(&in->sums[sum], whole))
        return fm_import_text_fail(&in->lines, FM_ERROR_LIMIT, error,
                                   "the records up to here are more than 2^63 together");
    fm_stacks_add(in->stacks, measure, whole);
    return true;
}

/* How many each sampled object of a record stands for. */
static double scale_of(const struct text *in, uint64_t objects, uint64_t bytes)
{
    if (in->rate <= 1 || objects == 0 || bytes == 0)
        return 1;
    double mean = (double)bytes / (double)objects;
    return 1 / -expm1(-mean / (double)in->rate);
}

/* of: objects and bytes that are held, objects and bytes that were allocated. */
static bool add_heap(struct text *in, const uint64_t of[NUMBERS], GError **error)
{
    double held = scale_of(in, of[0], of[1]), all = scale_of(in, of[2], of[3]);
    push_stack(in, of[1]);
    if (!add(in, 0, in->live_blocks, (double)of[0] * held, error) ||
        !add(in, 1, in->live_bytes, (double)of[1] * held, error))
        return false;
    return !in->allocated || (add(in, 2, FM_ALLOCS, (double)of[2] * all, error) &&
                              add(in, 3, FM_WORDS, (double)of[3] * all, error));
}

static bool add_lock(struct text *in, uint64_t waited, uint64_t times, GError **error)
{
    double ns = in->microseconds ? 1000.0 : NS_PER_SECOND / in->cycles_per_second;
    push_stack(in, waited);
    return add(in, 0, FM_QUANTA, (double)waited * in->period * ns, error) &&
           add(in, 1, in->count, (double)times * in->period, error);
}

/* Numbers with anything but digits between them, up to an end; how many there were. */
static unsigned take_numbers(const char *at, const char *end, uint64_t of[NUMBERS])
{
    unsigned count = 0;
    while (at < end) {
        size_t size = 0;
        while (at + size < end && g_ascii_isdigit(at[size]))
            size++;
        if (size > 0 && (count == NUMBERS || !fm_import_number(at, size, &of[count++])))
            return NUMBERS + 1;
        at += MAX(size, 1);
    }
    return count;
}

/* Addresses to the end of the line; those that are left out are no addresses. */
static void take_addresses(struct text *in, const char *at, const char *end)
{
    g_autofree char *text = g_strndup(at, (size_t)(end - at));
    g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);
    g_array_set_size(in->stack, 0);
    g_ptr_array_set_size(in->said, 0);
    for (char **word = words; *word != NULL; word++) {
        uint64_t address;
        if (g_str_has_prefix(*word, "0x")) {
            address = g_ascii_strtoull(*word, NULL, 16);
            g_array_append_val(in->stack, address);
        }
    }
}

static bool read_record(struct text *in, const char *line, size_t size, GError **error)
{
    uint64_t of[NUMBERS] = {0};
    const char *at = memchr(line, '@', size), *end = line + size;
    if (at == NULL) { /* of a thread, or of all: "  t*: 20: 180046 [0: 0]" */
        const char *star = in->kind == JEMALLOC ? memmem(line, size, "t*:", 3) : NULL;
        if (star == NULL || in->stack->len == 0)
            return true;
        return take_numbers(star + 3, end, of) == NUMBERS
                   ? add_heap(in, of, error)
                   : fm_import_text_fail(&in->lines, FM_ERROR_FORMAT, error,
                                         "expected \"t*: OBJECTS: BYTES [OBJECTS: BYTES]\"");
    }
    unsigned count = take_numbers(line, at, of);
    take_addresses(in, at + 1, end);
    switch (in->kind) {
    case JEMALLOC:
        return true;
    case JAVA_HEAP:
    case LOCKS:
        if (count == 2 && in->kind == LOCKS)
            return add_lock(in, of[0], of[1], error);
        if (count == 2)
            return add_heap(in, (const uint64_t[NUMBERS]){of[1], of[0]}, error);
        break;
    case THREADS:
        if (count == 1) {
            push_stack(in, of[0]);
            return add(in, 0, FM_QUANTA, (double)of[0], error);
        }
        break;
    default:
        if (count == NUMBERS)
            return add_heap(in, of, error);
        break;
    }
    return fm_import_text_fail(&in->lines, FM_ERROR_FORMAT, error,
                               "%u numbers in front of '@', expected %u", count,
                               in->kind == THREADS                          ? 1u
                               : in->kind == LOCKS || in->kind == JAVA_HEAP ? 2u
                                                                            : NUMBERS);
}

/* --- threads in blocks --- */

static bool end_thread(struct text *in, bool *open, GError **error)
{
    bool was = *open && in->stack->len > 0;
    *open = false;
    if (!was)
        return true;
    push_stack(in, 1);
    return add(in, 0, FM_QUANTA, 1, error);
}

/* "  0x0040be31: main", below "--- Thread 7f79 (name: main/1) stack: ---" */
static void take_frame(struct text *in, const char *line, size_t size)
{
    g_autofree char *text = g_strndup(line, size);
    char *at = g_strstrip(text), *end;
    at += g_str_has_prefix(at, "PC:") ? strlen("PC:") : 0;
    at += strspn(at, " \t");
    if (!g_str_has_prefix(at, "0x"))
        return;
    uint64_t address = g_ascii_strtoull(at, &end, 16);
    g_array_append_val(in->stack, address);
    end += strspn(end, ": \t");
    g_ptr_array_add(in->said, end[0] == '\0' ? NULL : g_strdup(end));
}

static bool read_threads(struct text *in, GError **error)
{
    const char *line;
    size_t size;
    bool open = false;
    while (fm_import_text_next(&in->lines, &line, &size)) {
        if (begins(line, size, "--- Memory map") || begins(line, size, "MAPPED_LIBRARIES"))
            break;
        if (begins(line, size, "--- Thread ")) {
            if (!end_thread(in, &open, error))
                return false;
            open = true;
            g_array_set_size(in->stack, 0);
            g_ptr_array_set_size(in->said, 0);
        } else if (memmem(line, size, "[same as previous thread]", 25) != NULL) {
            open = false;
            if (in->records > 0 && !add(in, 0, FM_QUANTA, 1, error))
                return false;
            in->total += in->records > 0;
        } else if (open && memmem(line, size, "creator:", 8) == NULL) {
            take_frame(in, line, size);
        }
    }
    return end_thread(in, &open, error);
}

/* --- the file --- */

/* The rate behind the first line's '/'. */
static bool read_head(struct text *in, const char *line, size_t size, GError **error)
{
    const char *at = memchr(line, '@', size), *slash = memrchr(line, '/', size);
    uint64_t of[NUMBERS] = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++) {
        if (begins(line, size, beginnings[i].begins))
            in->kind = beginnings[i].kind;
    }
    in->allocated = in->kind == HEAP;
    if (slash != NULL && (in->kind == HEAP || in->kind == JEMALLOC) &&
        !fm_import_number(slash + 1, (size_t)(line + size - slash) - 1, &in->rate))
        return fm_import_text_fail(&in->lines, FM_ERROR_FORMAT, error,
                                   "expected a number of bytes behind '/'");
    if (in->kind == JAVA_HEAP)
        in->rate = JAVA_RATE;
    if (in->kind != HEAP || at == NULL)
        return true;
    size_t rest = (size_t)(line + size - at);
    if (memmem(at, rest, "growthz", 7) != NULL || memmem(at, rest, "fragmentationz", 14) != NULL)
        in->kind = GROWTH;
    else if (memmem(at, rest, "heap/", 5) != NULL) /* older ones say twice the mean */
        in->rate /= 2;
    in->allocated = in->kind == HEAP && take_numbers(line, at, of) == NUMBERS;
    return true;
}

/* jemalloc adds up what was allocated only when it is told to: else all of it is 0. */
static void read_totals(struct text *in, const char *line, size_t size)
{
    uint64_t of[NUMBERS] = {0};
    const char *star = memmem(line, size, "t*:", 3);
    if (star != NULL && take_numbers(star + 3, line + size, of) == NUMBERS)
        in->allocated = of[2] > 0;
}

static void set_measures(struct text *in)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (in->kind == LOCKS) {
        fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
        fm_build_nature(build, FM_NATURE_CLOCK, 0);
        fm_stacks_name_quanta(in->stacks, "delay", NULL);
        in->count = fm_stacks_add_measure(in->stacks, "contentions", NULL);
    } else if (in->kind == THREADS) {
        fm_stacks_name_quanta(in->stacks, "threads", NULL);
    } else {
        if (in->allocated)
            in->live_bytes = fm_stacks_add_measure(in->stacks, "live_bytes", "bytes");
        else
            fm_stacks_name_quanta(in->stacks, "held", "bytes");
        in->live_blocks = fm_stacks_add_measure(in->stacks, "live_blocks", "blocks");
        if (in->rate > 1)
            fm_build_nature(build, FM_NATURE_HEAP_SAMPLED, in->rate);
    }
    fm_import_only_knows(build, in->allocated ? 1u << FM_ALLOCS | 1u << FM_WORDS : 1u << FM_QUANTA);
}

/* "cycles/second = 3201000000" */
static bool read_setting(struct text *in, const char *line, size_t size)
{
    const char *equals = memmem(line, size, " = ", 3);
    if (equals == NULL || memchr(line, '@', size) != NULL)
        return false;
    g_autofree char *value = g_strndup(equals + 3, (size_t)(line + size - equals) - 3);
    if (begins(line, size, "cycles/second"))
        in->cycles_per_second = g_ascii_strtod(value, NULL);
    else if (begins(line, size, "sampling period"))
        in->period = g_ascii_strtod(value, NULL);
    else if (begins(line, size, "resolution"))
        in->microseconds = strcmp(value, "microseconds") == 0;
    return true;
}

static bool read_records(struct text *in, GError **error)
{
    const char *line;
    size_t size;
    while (fm_import_text_next(&in->lines, &line, &size)) {
        if (begins(line, size, "MAPPED_LIBRARIES") || begins(line, size, "--- Memory map"))
            return true;
        if (size == 0 || line[0] == '#' || read_setting(in, line, size))
            continue;
        if (in->kind == LOCKS && !in->microseconds && memchr(line, '@', size) != NULL &&
            !(in->cycles_per_second >= 1))
            return fm_import_text_fail(&in->lines, FM_ERROR_FORMAT, error,
                                       "expected \"cycles/second = NUMBER\" before the first "
                                       "stack");
        if (!read_record(in, line, size, error))
            return false;
    }
    return true;
}

static bool read_all(struct text *in, GError **error)
{
    const char *line;
    size_t size;
    if (!fm_import_text_next(&in->lines, &line, &size))
        return fm_import_fail_at(in->input, 0, FM_ERROR_FORMAT, error, "it is empty");
    if (!read_head(in, line, size, error))
        return false;
    if (in->kind == JEMALLOC) {
        if (!fm_import_text_next(&in->lines, &line, &size))
            size = 0;
        read_totals(in, line, size);
    }
    look_through(in);
    set_measures(in);
    bool blocks =
        in->kind == THREADS && begins((const char *)in->input->bytes, in->input->size, "---");
    if (!(blocks ? read_threads(in, error) : read_records(in, error)))
        return false;
    if (in->records > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: there is no stack in it",
                in->input->name);
    return false;
}

static void describe(struct text *in)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (in->kind != THREADS && in->kind != LOCKS && !in->allocated)
        fm_build_note(build, "what was allocated since the start is not recorded: bytes are those "
                             "held when the file was written");
    if (in->unnamed == 0 || in->total == 0)
        return;
    g_autofree char *note = g_strdup_printf(
        "%.0f %% stand in functions that are not known by name: their files are not at their "
        "places, or have no symbols",
        100.0 * (double)in->unnamed / (double)in->total);
    fm_build_note(build, note);
}

bool fm_import_legacy(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct text in = {.input = input, .period = 1, .live_bytes = FM_QUANTA};
    in.stacks = fm_stacks_new(input->program, "text with addresses");
    in.names = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, g_free);
    in.functions = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    in.stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    in.said = g_ptr_array_new_with_free_func(g_free);
    fm_import_text_begin(&in.lines, input);
    bool done = read_all(&in, error);
    if (done) {
        describe(&in);
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    }
    fm_stacks_free(in.stacks);
    g_hash_table_unref(in.names);
    g_hash_table_unref(in.functions);
    g_array_unref(in.stack);
    g_ptr_array_unref(in.said);
    fm_import_images_free(in.images);
    return done;
}
