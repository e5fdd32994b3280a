/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eventlog/monitor/cbor.h"
#include "eventlog/monitor/state.h"

static void number(GByteArray *out, uint64_t value)
{
    fm_cbor_head(out, FM_CBOR_UNSIGNED, value);
}

static void begin(GByteArray *out, uint64_t fields)
{
    fm_cbor_head(out, FM_CBOR_ARRAY, fields + 1);
    number(out, 0);
}

/* A negative value means "none". */
static void optional(GByteArray *out, int64_t value)
{
    fm_cbor_head(out, FM_CBOR_ARRAY, value >= 0 ? 1 : 0);
    if (value >= 0)
        number(out, (uint64_t)value);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = **(const uint64_t *const *)a, y = **(const uint64_t *const *)b;
    return (x > y) - (x < y);
}

/* Sorts a map's keys in ascending order, so that equal states are encoded equally. */
static uint64_t **sorted_ids(GHashTable *table, guint *ret_count)
{
    uint64_t **ids = (uint64_t **)(void *)g_hash_table_get_keys_as_array(table, ret_count);
    qsort(ids, *ret_count, sizeof *ids, compare_ids);
    return ids;
}

static void encode_thread(GByteArray *out, const void *data)
{
    const struct thread *thread = data;
    begin(out, 7);
    number(out, thread->id);
    fm_cbor_head(out, FM_CBOR_ARRAY, thread->label != NULL ? 1 : 0);
    if (thread->label != NULL)
        fm_cbor_string(out, FM_CBOR_TEXT, thread->label, thread->label_length);
    fm_cbor_signed(out, thread->capability);
    fm_cbor_head(out, FM_CBOR_ARRAY, thread->execution == STOPPED ? 2 : 1);
    number(out, thread->execution);
    if (thread->execution == STOPPED) {
        bool owned = thread->status == STATUS_BLACK_HOLE_OWNED;
        fm_cbor_head(out, FM_CBOR_ARRAY, owned ? 2 : 1);
        number(out, thread->status);
        if (owned)
            number(out, thread->owner);
    }
    optional(out, thread->sparks);
    number(out, thread->created);
    number(out, thread->changed);
}

static void encode_texts(GByteArray *out, const GPtrArray *texts)
{
    if (texts->len == 0) {
        fm_cbor_head(out, FM_CBOR_ARRAY, 0);
        return;
    }
    fm_cbor_begin_list(out);
    for (guint i = 0; i < texts->len; i++) {
        gsize length;
        const void *bytes = g_bytes_get_data(texts->pdata[i], &length);
        fm_cbor_string(out, FM_CBOR_TEXT, bytes, length);
    }
    fm_cbor_end_list(out);
}

static void encode_capset(GByteArray *out, const void *data)
{
    const struct capset *capset = data;
    begin(out, 27);
    number(out, capset->id);
    fm_cbor_head(out, FM_CBOR_ARRAY, 1);
    number(out, capset->type);
    fm_cbor_head(out, FM_CBOR_ARRAY, capset->capabilities->len);
    for (guint i = 0; i < capset->capabilities->len; i++)
        number(out, g_array_index(capset->capabilities, uint64_t, i));
    number(out, capset->changed);
    number(out, capset->created);
    fm_cbor_string(out, FM_CBOR_TEXT, capset->identifier->data, capset->identifier->len);
    encode_texts(out, capset->arguments);
    encode_texts(out, capset->environment);
    optional(out, capset->pid);
    optional(out, capset->parent_pid);
    for (size_t i = 0; i < G_N_ELEMENTS(capset->numbers); i++)
        number(out, capset->numbers[i]);
    optional(out, capset->collection_time);
    for (size_t i = 0; i < COLLECTION_NUMBERS; i++)
        number(out, capset->collection[i]);
}

static void encode_capability(GByteArray *out, const void *data)
{
    const struct capability *capability = data;
    begin(out, 4);
    number(out, capability->id);
    fm_cbor_bool(out, capability->disabled);
    number(out, capability->changed);
    number(out, capability->created);
}

static void encode_task(GByteArray *out, const void *data)
{
    const struct task *task = data;
    begin(out, 5);
    number(out, task->id);
    fm_cbor_signed(out, task->capability);
    begin(out, 1);
    number(out, task->kernel_thread);
    number(out, task->created);
    number(out, task->changed);
}

static void encode_map(GByteArray *out, GHashTable *table,
                       void (*encode)(GByteArray *out, const void *data))
{
    guint count;
    uint64_t **ids = sorted_ids(table, &count);
    fm_cbor_head(out, FM_CBOR_MAP, count);
    for (guint i = 0; i < count; i++) {
        number(out, *ids[i]);
        encode(out, g_hash_table_lookup(table, ids[i]));
    }
    g_free(ids);
}

void fm_monitor_state_encode(const struct fm_monitor_state *state, GByteArray *out)
{
    begin(out, 6);
    encode_map(out, state->threads, encode_thread);
    encode_map(out, state->capsets, encode_capset);
    encode_map(out, state->capabilities, encode_capability);
    encode_map(out, state->tasks, encode_task);
    optional(out, state->collection_begin);
    number(out, state->last_ns);
}

/* ---- Decoding. A list is open while its items are read; any error sets cbor->wrong. ---- */

static void need(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    if (!fm_cbor_more(cbor, list))
        cbor->wrong = true;
}

static void take_begin(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    uint64_t form;
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, list);
    need(cbor, list);
    fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, &form);
    cbor->wrong |= form != 0;
}

static void take_end(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    if (fm_cbor_more(cbor, list))
        cbor->wrong = true;
}

static uint64_t take_number(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    uint64_t value;
    need(cbor, list);
    fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, &value);
    return value;
}

static int64_t take_signed(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    int64_t value;
    need(cbor, list);
    fm_cbor_take_signed(cbor, &value);
    return value;
}

static int64_t take_optional(struct fm_cbor *cbor, struct fm_cbor_list *outer)
{
    struct fm_cbor_list list;
    uint64_t value = 0;
    need(cbor, outer);
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &list);
    if (!fm_cbor_more(cbor, &list))
        return -1;
    fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, &value);
    take_end(cbor, &list);
    cbor->wrong |= value > INT64_MAX;
    return (int64_t)(value & INT64_MAX);
}

static void take_execution(struct fm_cbor *cbor, struct fm_cbor_list *outer, struct thread *thread)
{
    struct fm_cbor_list list, status;
    need(cbor, outer);
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &list);
    uint64_t execution = take_number(cbor, &list);
    cbor->wrong |= execution > MIGRATED;
    thread->execution = (enum execution)MIN(execution, MIGRATED);
    if (thread->execution == STOPPED) {
        need(cbor, &list);
        fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &status);
        uint64_t value = take_number(cbor, &status);
        cbor->wrong |= value > STATUS_MAX;
        thread->status = (uint32_t)(value & 31);
        if (thread->status == STATUS_BLACK_HOLE_OWNED)
            thread->owner = (uint32_t)take_number(cbor, &status);
        take_end(cbor, &status);
    }
    take_end(cbor, &list);
}

static void *decode_thread(struct fm_cbor *cbor)
{
    struct fm_cbor_list list, label;
    struct thread *thread = g_new0(struct thread, 1);
    take_begin(cbor, &list);
    thread->id = take_number(cbor, &list);
    need(cbor, &list);
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &label);
    if (fm_cbor_more(cbor, &label)) {
        const uint8_t *bytes;
        fm_cbor_take_string(cbor, FM_CBOR_TEXT, &bytes, &thread->label_length);
        thread->label = g_malloc(thread->label_length + 1);
        memcpy(thread->label, bytes, thread->label_length);
        thread->label[thread->label_length] = '\0';
        take_end(cbor, &label);
    }
    thread->capability = take_signed(cbor, &list);
    take_execution(cbor, &list, thread);
    thread->sparks = take_optional(cbor, &list);
    thread->created = take_number(cbor, &list);
    thread->changed = take_number(cbor, &list);
    take_end(cbor, &list);
    return thread;
}

static void take_texts(struct fm_cbor *cbor, struct fm_cbor_list *outer, GPtrArray *texts)
{
    struct fm_cbor_list list;
    const uint8_t *bytes;
    size_t length;
    need(cbor, outer);
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &list);
    while (fm_cbor_more(cbor, &list)) {
        if (fm_cbor_take_string(cbor, FM_CBOR_TEXT, &bytes, &length))
            g_ptr_array_add(texts, g_bytes_new(bytes, length));
    }
}

static void *decode_capset(struct fm_cbor *cbor)
{
    struct fm_cbor_list list, inner;
    const uint8_t *bytes;
    size_t length;
    struct capset *capset = fm_monitor_capset_new(0);
    take_begin(cbor, &list);
    capset->id = take_number(cbor, &list);
    need(cbor, &list);
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &inner);
    capset->type = take_number(cbor, &inner);
    cbor->wrong |= capset->type > 3;
    take_end(cbor, &inner);
    need(cbor, &list);
    fm_cbor_take_list(cbor, FM_CBOR_ARRAY, &inner);
    while (fm_cbor_more(cbor, &inner)) {
        uint64_t capability;
        if (fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, &capability))
            g_array_append_val(capset->capabilities, capability);
    }
    capset->changed = take_number(cbor, &list);
    capset->created = take_number(cbor, &list);
    need(cbor, &list);
    if (fm_cbor_take_string(cbor, FM_CBOR_TEXT, &bytes, &length) && length > 0)
        g_byte_array_append(capset->identifier, bytes, (guint)length);
    take_texts(cbor, &list, capset->arguments);
    take_texts(cbor, &list, capset->environment);
    capset->pid = take_optional(cbor, &list);
    capset->parent_pid = take_optional(cbor, &list);
    for (size_t i = 0; i < G_N_ELEMENTS(capset->numbers); i++)
        capset->numbers[i] = take_number(cbor, &list);
    capset->collection_time = take_optional(cbor, &list);
    for (size_t i = 0; i < COLLECTION_NUMBERS; i++)
        capset->collection[i] = take_number(cbor, &list);
    take_end(cbor, &list);
    return capset;
}

static void *decode_capability(struct fm_cbor *cbor)
{
    struct fm_cbor_list list;
    struct capability *capability = g_new0(struct capability, 1);
    take_begin(cbor, &list);
    capability->id = take_number(cbor, &list);
    need(cbor, &list);
    fm_cbor_take_bool(cbor, &capability->disabled);
    capability->changed = take_number(cbor, &list);
    capability->created = take_number(cbor, &list);
    take_end(cbor, &list);
    return capability;
}

static void *decode_task(struct fm_cbor *cbor)
{
    struct fm_cbor_list list, kernel;
    struct task *task = g_new0(struct task, 1);
    take_begin(cbor, &list);
    task->id = take_number(cbor, &list);
    task->capability = take_signed(cbor, &list);
    need(cbor, &list);
    take_begin(cbor, &kernel);
    task->kernel_thread = take_number(cbor, &kernel);
    take_end(cbor, &kernel);
    task->created = take_number(cbor, &list);
    task->changed = take_number(cbor, &list);
    take_end(cbor, &list);
    return task;
}

/* The id is the first field of each value. */
static void decode_map(struct fm_cbor *cbor, struct fm_cbor_list *outer, GHashTable *table,
                       void *(*decode)(struct fm_cbor *cbor))
{
    struct fm_cbor_list map;
    uint64_t key;
    need(cbor, outer);
    fm_cbor_take_list(cbor, FM_CBOR_MAP, &map);
    while (fm_cbor_more(cbor, &map) && fm_cbor_take_head(cbor, FM_CBOR_UNSIGNED, &key)) {
        uint64_t *value = decode(cbor);
        cbor->wrong |= *value != key;
        g_hash_table_replace(table, value, value);
    }
}

struct fm_monitor_state *fm_monitor_state_decode(const uint8_t *bytes, size_t length,
                                                 GError **error)
{
    struct fm_monitor_state *state = fm_monitor_state_new();
    const uint8_t *begin = length == 0 ? (const uint8_t *)"" : bytes; /* may be NULL */
    struct fm_cbor cbor = {begin, begin + length, false};
    struct fm_cbor_list list;
    take_begin(&cbor, &list);
    decode_map(&cbor, &list, state->threads, decode_thread);
    decode_map(&cbor, &list, state->capsets, decode_capset);
    decode_map(&cbor, &list, state->capabilities, decode_capability);
    decode_map(&cbor, &list, state->tasks, decode_task);
    state->collection_begin = take_optional(&cbor, &list);
    state->last_ns = take_number(&cbor, &list);
    take_end(&cbor, &list);
    if (!cbor.wrong && cbor.at == cbor.end)
        return state;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "offset %td of a state of %zu bytes: not a state of the monitor", cbor.at - begin,
                length);
    fm_monitor_state_free(state);
    return NULL;
}
