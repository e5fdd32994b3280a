/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfetto/heap.h"

#include <string.h>

#include "base/error.h"

enum { PACKET_STRINGS = 1, PACKET_FRAMES, PACKET_STACKS, PACKET_MAPPINGS, PACKET_DUMPS };
enum {
    DUMP_PID = 1,
    DUMP_SAMPLES,
    DUMP_OVERRUN = 7,
    DUMP_CORRUPTED,
    DUMP_HEAP = 11,
    DUMP_INTERVAL
};
enum {
    SAMPLE_STACK = 1,
    SAMPLE_ALLOCATED,
    SAMPLE_FREED,
    SAMPLE_ALLOCS = 5,
    SAMPLE_FREES,
    SAMPLE_FIELDS
};

struct sample {
    uint32_t stack;
    uint64_t bytes, freed, allocs, frees;
};
struct dump {
    int64_t ns;
    uint64_t interval;
    bool lost;
    struct fm_perfetto_sequence *sequence;
    GArray *samples; /* struct sample, of stacks by the sequence's numbers until it ends */
    GArray *numbers; /* uint64_t */
};

struct fm_perfetto_heap {
    GPtrArray *dumps;  /* struct dump */
    GHashTable *known; /* "PID HEAP" -> struct dump */
    unsigned replaced;
    unsigned live_bytes, live_blocks;
    bool counted; /* numbers of blocks are known */
};

static void free_dump(gpointer data)
{
    struct dump *dump = data;
    g_array_unref(dump->samples);
    g_array_unref(dump->numbers);
    g_free(dump);
}

struct fm_perfetto_heap *fm_perfetto_heap_new(void)
{
    struct fm_perfetto_heap *h = g_new0(struct fm_perfetto_heap, 1);
    h->dumps = g_ptr_array_new_with_free_func(free_dump);
    h->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return h;
}

void fm_perfetto_heap_free(struct fm_perfetto_heap *h)
{
    if (h == NULL)
        return;
    g_ptr_array_unref(h->dumps);
    g_hash_table_unref(h->known);
    g_free(h);
}

bool fm_perfetto_heap_is_empty(const struct fm_perfetto_heap *h)
{
    return h->dumps->len == 0;
}

/* The dump of a process's heap at a time: parts of one have one time. */
static struct dump *dump_of(struct fm_perfetto_heap *h, struct fm_perfetto_sequence *s,
                            uint64_t pid, const char *heap, int64_t ns)
{
    g_autofree char *key = g_strdup_printf("%" G_GUINT64_FORMAT " %s", (guint64)pid, heap);
    struct dump *dump = g_hash_table_lookup(h->known, key);
    if (dump != NULL) {
        if (dump->ns != ns || dump->sequence != s) {
            h->replaced++;
            g_array_set_size(dump->samples, 0);
            g_array_set_size(dump->numbers, 0);
            dump->ns = ns;
            dump->sequence = s;
        }
        return dump;
    }
    dump = g_new0(struct dump, 1);
    dump->ns = ns;
    dump->sequence = s;
    dump->samples = g_array_new(FALSE, FALSE, sizeof(struct sample));
    dump->numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_ptr_array_add(h->dumps, dump);
    g_hash_table_insert(h->known, g_steal_pointer(&key), dump);
    return dump;
}

static void take_sample(struct fm_perfetto_heap *h, struct dump *dump,
                        const struct fm_field *message)
{
    struct fm_field field;
    uint64_t of[SAMPLE_FIELDS] = {0};
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number < SAMPLE_FIELDS && field.wire == FM_WIRE_NUMBER)
            of[field.number] = field.value;
    }
    struct sample sample = {.bytes = of[SAMPLE_ALLOCATED],
                            .freed = of[SAMPLE_FREED],
                            .allocs = of[SAMPLE_ALLOCS],
                            .frees = of[SAMPLE_FREES]};
    h->counted = h->counted || sample.allocs > 0;
    g_array_append_val(dump->samples, sample);
    g_array_append_val(dump->numbers, of[SAMPLE_STACK]);
}

static void take_dump(struct fm_perfetto_heap *h, struct fm_perfetto_sequence *s,
                      const struct fm_field *message, int64_t ns)
{
    struct fm_field field;
    uint64_t pid = 0, interval = 0;
    bool lost = false;
    g_autofree char *heap = g_strdup("");
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number == DUMP_PID)
            pid = field.value;
        else if (field.number == DUMP_INTERVAL)
            interval = field.value;
        else if (field.number == DUMP_OVERRUN || field.number == DUMP_CORRUPTED)
            lost = lost || field.value != 0;
        else if (field.number == DUMP_HEAP && field.wire == FM_WIRE_BYTES) {
            g_free(heap);
            heap = g_strndup((const char *)field.bytes, field.size);
        }
    }
    struct dump *dump = dump_of(h, s, pid, heap, ns);
    dump->interval = interval;
    dump->lost = dump->lost || lost;
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number == DUMP_SAMPLES && field.wire == FM_WIRE_BYTES)
            take_sample(h, dump, &field);
    }
}

/* Old packets have tables of their own; their strings are names of all kinds. */
void fm_perfetto_heap_take(struct fm_perfetto_heap *h, struct fm_perfetto_sequence *s,
                           const struct fm_field *packet, int64_t ns)
{
    struct fm_field field;
    for (struct fm_fields fields = fm_fields_in(packet); fm_fields_next(&fields, &field);) {
        if (field.wire != FM_WIRE_BYTES)
            continue;
        if (field.number == PACKET_STRINGS) {
            fm_perfetto_sequence_add(s, FM_PERFETTO_FUNCTION_NAMES, &field);
            fm_perfetto_sequence_add(s, FM_PERFETTO_PATHS, &field);
            fm_perfetto_sequence_add(s, FM_PERFETTO_BUILD_IDS, &field);
        } else if (field.number == PACKET_FRAMES) {
            fm_perfetto_sequence_add(s, FM_PERFETTO_FRAMES, &field);
        } else if (field.number == PACKET_STACKS) {
            fm_perfetto_sequence_add(s, FM_PERFETTO_CALLSTACKS, &field);
        } else if (field.number == PACKET_MAPPINGS) {
            fm_perfetto_sequence_add(s, FM_PERFETTO_MAPPINGS, &field);
        } else if (field.number == PACKET_DUMPS) {
            take_dump(h, s, &field, ns);
        }
    }
}

void fm_perfetto_heap_resolve(struct fm_perfetto_heap *h, struct fm_perfetto_frames *frames,
                              struct fm_perfetto_sequence *s)
{
    for (guint i = 0; i < h->dumps->len; i++) {
        struct dump *dump = g_ptr_array_index(h->dumps, i);
        if (dump->sequence != s)
            continue;
        for (guint j = dump->samples->len - dump->numbers->len, k = 0; k < dump->numbers->len;
             j++, k++)
            g_array_index(dump->samples, struct sample, j).stack =
                fm_perfetto_frames_stack(frames, s, g_array_index(dump->numbers, uint64_t, k));
        g_array_set_size(dump->numbers, 0);
    }
}

uint32_t fm_perfetto_heap_measures(struct fm_perfetto_heap *h, struct fm_stacks *stacks)
{
    uint64_t interval = 0;
    if (h->dumps->len == 0)
        return 0;
    for (guint i = 0; i < h->dumps->len; i++)
        interval = MAX(interval, ((struct dump *)g_ptr_array_index(h->dumps, i))->interval);
    if (interval > 1)
        fm_build_nature(fm_stacks_build(stacks), FM_NATURE_HEAP_SAMPLED, interval);
    h->live_bytes = fm_stacks_add_measure(stacks, "live_bytes", "bytes");
    if (h->counted)
        h->live_blocks = fm_stacks_add_measure(stacks, "live_blocks", "blocks");
    return 1u << FM_WORDS | (h->counted ? 1u << FM_ALLOCS : 0);
}

static bool add_dump(const struct fm_perfetto_heap *h, const struct dump *dump,
                     struct fm_perfetto_frames *frames, struct fm_stacks *stacks, uint64_t *sum)
{
    for (guint i = 0; i < dump->samples->len; i++) {
        struct sample sample = g_array_index(dump->samples, struct sample, i);
        if (sample.bytes > INT64_MAX || sample.allocs > INT64_MAX ||
            !fm_import_sum(sum, sample.bytes) || !fm_import_sum(sum, sample.allocs))
            return false;
        fm_stacks_cut(stacks, 0);
        if (!fm_perfetto_frames_push(frames, sample.stack, stacks))
            return false;
        fm_stacks_add(stacks, FM_WORDS, sample.bytes);
        fm_stacks_add(stacks, FM_ALLOCS, sample.allocs);
        fm_stacks_add(stacks, h->live_bytes, sample.bytes - MIN(sample.freed, sample.bytes));
        if (h->counted)
            fm_stacks_add(stacks, h->live_blocks, sample.allocs - MIN(sample.frees, sample.allocs));
    }
    return true;
}

bool fm_perfetto_heap_add(struct fm_perfetto_heap *h, struct fm_perfetto_frames *frames,
                          struct fm_stacks *stacks, const char *file, GError **error)
{
    struct fm_build *build = fm_stacks_build(stacks);
    uint64_t sum = 0;
    bool lost = false;
    for (guint i = 0; i < h->dumps->len; i++) {
        const struct dump *dump = g_ptr_array_index(h->dumps, i);
        fm_perfetto_heap_resolve(h, frames, dump->sequence);
        lost = lost || dump->lost;
        if (!add_dump(h, dump, frames, stacks, &sum)) {
            g_set_error(
                error, FM_ERROR, FM_ERROR_LIMIT,
                "%s: its heaps have more than 2^63 bytes together, or more frames than a file "
                "of its size has",
                file);
            return false;
        }
    }
    if (lost)
        fm_build_note(build, "heapprofd lost samples of the heap: a larger shared memory buffer "
                             "(shmem_size_bytes) helps");
    if (h->replaced > 0)
        fm_build_note(build, "of several dumps of a process's heap the last one is shown");
    return true;
}
