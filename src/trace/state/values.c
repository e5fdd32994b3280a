/* SPDX-License-Identifier: Apache-2.0 */
/* Names of values and lanes, numbered once for a trace. */
#include <string.h>

#include "trace/state/state_internal.h"

enum { NAME_BYTES_MAX = 200 };

struct value {
    const char *name;
    enum fm_state_class state_class;
};

struct fm_trace_values {
    GArray *values; /* holds struct value */
    GStringChunk *texts;
    GHashTable *by_name; /* class letter and name -> number */
    void *model_names;
    GDestroyNotify free_model_names;
};

static const char *const lane_kind_names[FM_LANE_KIND_COUNT] = {
    [FM_LANE_PROCESS] = "process",
    [FM_LANE_THREAD] = "thread",
    [FM_LANE_CAPABILITY] = "capability",
    [FM_LANE_COLLECTOR] = "collector",
    [FM_LANE_SPARKS] = "sparks",
    [FM_LANE_LOCK] = "lock",
    [FM_LANE_ASYNC] = "asynchronous",
    [FM_LANE_COUNTER] = "counter",
    [FM_LANE_HEAP] = "heap",
    [FM_LANE_CPU] = "cpu",
    [FM_LANE_INTERRUPT] = "interrupt",
    [FM_LANE_SOFT_INTERRUPT] = "soft interrupt",
    [FM_LANE_TRAP] = "trap",
    [FM_LANE_DISK] = "disk",
    [FM_LANE_TASK] = "task",
};

static const char *const class_names[FM_STATE_CLASS_COUNT] = {
    [FM_STATE_UNKNOWN] = "unknown",
    [FM_STATE_IDLE] = "idle",
    [FM_STATE_RUNNING] = "running",
    [FM_STATE_SYSTEM_CALL] = "system call",
    [FM_STATE_TRAP] = "trap",
    [FM_STATE_INTERRUPT] = "interrupt",
    [FM_STATE_SOFT_INTERRUPT] = "soft interrupt",
    [FM_STATE_WAITING] = "waiting",
    [FM_STATE_READY] = "ready",
    [FM_STATE_CREATED] = "created",
    [FM_STATE_FINISHED] = "finished",
    [FM_STATE_COLLECTING] = "collecting",
    [FM_STATE_READING] = "reading",
    [FM_STATE_WRITING] = "writing",
    [FM_STATE_SPAN] = "span",
};

bool fm_state_class_is_busy(enum fm_state_class state_class)
{
    switch (state_class) {
    case FM_STATE_UNKNOWN:
    case FM_STATE_IDLE:
    case FM_STATE_WAITING:
    case FM_STATE_READY:
    case FM_STATE_CREATED:
    case FM_STATE_FINISHED:
        return false;
    default:
        return true;
    }
}

uint64_t fm_lane_number(const struct fm_lane *lane)
{
    bool of_program = lane->kind == FM_LANE_THREAD && (lane->key & FM_LANE_OF_PROGRAM) != 0;
    return of_program ? lane->key & ((UINT64_C(1) << FM_LANE_THREAD_BITS) - 1) : lane->key;
}

const char *fm_lane_kind_name(enum fm_lane_kind kind)
{
    return (unsigned)kind < FM_LANE_KIND_COUNT ? lane_kind_names[kind] : "unknown";
}

const char *fm_state_class_name(enum fm_state_class state_class)
{
    return (unsigned)state_class < FM_STATE_CLASS_COUNT ? class_names[state_class] : "unknown";
}

static void free_values(void *data)
{
    struct fm_trace_values *values = data;
    if (values->free_model_names != NULL)
        values->free_model_names(values->model_names);
    g_array_unref(values->values);
    g_string_chunk_free(values->texts);
    g_hash_table_unref(values->by_name);
    g_free(values);
}

/* Messages are looked up as often as they come: eight bytes at a time. */
static guint hash_name(gconstpointer key)
{
    const char *text = key;
    size_t length = strlen(text);
    uint64_t hash = length, part;
    for (; length >= sizeof part; length -= sizeof part, text += sizeof part) {
        memcpy(&part, text, sizeof part);
        hash = (hash ^ part) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    part = 0;
    memcpy(&part, text, length);
    hash = (hash ^ part) * UINT64_C(0x9E3779B97F4A7C15);
    return (guint)(hash >> 32);
}

static struct fm_trace_values *values_of(struct fm_trace *trace)
{
    if (trace->values == NULL) {
        struct fm_trace_values *values = g_new0(struct fm_trace_values, 1);
        values->values = g_array_new(false, false, sizeof(struct value));
        values->texts = g_string_chunk_new(16384);
        values->by_name = g_hash_table_new(hash_name, g_str_equal);
        trace->values = values;
        fm_trace_own(trace, values, free_values);
        fm_trace_value(trace, "unknown", FM_STATE_UNKNOWN);
    }
    return trace->values;
}

/* At most limit bytes, cut between characters. */
static size_t cut_length(const char *text, size_t limit)
{
    size_t length = strlen(text);
    if (length <= limit)
        return length;
    length = limit;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static char *clean_name(const char *bytes, size_t length)
{
    /* The part that is cut off below need not be looked at. */
    char *valid = g_utf8_make_valid(bytes, (gssize)MIN(length, 4UL * NAME_BYTES_MAX));
    for (char *at = valid; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
    if (strlen(valid) > NAME_BYTES_MAX) {
        char *end = valid + cut_length(valid, NAME_BYTES_MAX - 3);
        *end = '\0';
        char *cut = g_strconcat(valid, "\xe2\x80\xa6", NULL);
        g_free(valid);
        return cut;
    }
    return valid;
}

/* The usual case, without taking memory: a name that needs no cleaning and is known. */
static bool find_known(const struct fm_trace_values *values, const char *bytes, size_t length,
                       enum fm_state_class state_class, uint32_t *ret)
{
    char key[NAME_BYTES_MAX + 2];
    if (length > NAME_BYTES_MAX)
        return false;
    key[0] = (char)('A' + (char)state_class);
    memcpy(key + 1, bytes, length);
    key[length + 1] = '\0';
    void *found;
    if (!g_hash_table_lookup_extended(values->by_name, key, NULL, &found))
        return false;
    *ret = GPOINTER_TO_UINT(found);
    return strlen(key) == length + 1; /* a zero byte inside is not known as such */
}

uint32_t fm_trace_value_bytes(struct fm_trace *trace, const char *bytes, size_t length,
                              enum fm_state_class state_class)
{
    struct fm_trace_values *values = values_of(trace);
    uint32_t known;
    if (find_known(values, bytes, length, state_class, &known))
        return known;
    char *clean = clean_name(bytes, length);
    char *key = g_strdup_printf("%c%s", 'A' + (char)state_class, clean);
    g_free(clean);
    void *found;
    if (g_hash_table_lookup_extended(values->by_name, key, NULL, &found)) {
        g_free(key);
        return GPOINTER_TO_UINT(found);
    }
    const char *kept = g_string_chunk_insert(values->texts, key);
    g_free(key);
    uint32_t number = values->values->len;
    struct value value = {kept + 1, state_class};
    g_array_append_val(values->values, value);
    g_hash_table_insert(values->by_name, (void *)(uintptr_t)kept, GUINT_TO_POINTER(number));
    return number;
}

uint32_t fm_trace_value(struct fm_trace *trace, const char *name, enum fm_state_class state_class)
{
    return fm_trace_value_bytes(trace, name, strlen(name), state_class);
}

static const struct value *value_at(const struct fm_trace *trace, uint32_t number)
{
    if (trace->values == NULL || number >= trace->values->values->len)
        return NULL;
    return &g_array_index(trace->values->values, struct value, number);
}

const char *fm_trace_value_name(const struct fm_trace *trace, uint32_t number)
{
    const struct value *value = value_at(trace, number);
    return value == NULL ? "unknown" : value->name;
}

enum fm_state_class fm_trace_value_class(const struct fm_trace *trace, uint32_t number)
{
    const struct value *value = value_at(trace, number);
    return value == NULL ? FM_STATE_UNKNOWN : value->state_class;
}

uint32_t fm_trace_value_count(const struct fm_trace *trace)
{
    return trace->values == NULL ? 0 : trace->values->values->len;
}

void *fm_trace_model_names(struct fm_trace *trace, void *(*make)(struct fm_trace *trace),
                           GDestroyNotify free_names)
{
    struct fm_trace_values *values = values_of(trace);
    if (values->model_names == NULL) {
        values->model_names = make(trace);
        values->free_model_names = free_names;
    }
    return values->model_names;
}
