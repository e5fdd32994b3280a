/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfetto/sequence.h"

#include "base/hash.h"

struct entry {
    struct fm_field field;
    uint32_t made;
};

#define SEQUENCE_CLOCK_FIRST 64u /* clocks from here to the last are a sequence's own */
#define SEQUENCE_CLOCK_LAST 127u
enum { ENTRY_NUMBER = 1, ENTRY_TEXT };
enum { CLOCK_ID = 1, CLOCK_TIME, CLOCK_IS_INCREMENTAL, CLOCK_MULTIPLIER };

static GHashTable *table_new(void)
{
    return g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, g_free);
}

struct fm_perfetto_sequence *fm_perfetto_sequence_new(void)
{
    struct fm_perfetto_sequence *s = g_new0(struct fm_perfetto_sequence, 1);
    s->stacks = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    s->clock = FM_PERFETTO_BOOTTIME;
    return s;
}

void fm_perfetto_sequence_free(gpointer data)
{
    struct fm_perfetto_sequence *s = data;
    for (unsigned i = 0; i < FM_PERFETTO_TABLES; i++)
        g_clear_pointer(&s->tables[i], g_hash_table_unref);
    g_hash_table_unref(s->stacks);
    g_free(s);
}

void fm_perfetto_sequence_clear(struct fm_perfetto_sequence *s)
{
    for (unsigned i = 0; i < FM_PERFETTO_TABLES; i++) {
        if (s->tables[i] != NULL)
            g_hash_table_remove_all(s->tables[i]);
    }
    g_hash_table_remove_all(s->stacks);
    s->track = 0;
    s->clock = FM_PERFETTO_BOOTTIME;
}

static uint64_t number_of(const struct fm_field *message, uint64_t number)
{
    struct fm_field field;
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number == number && field.wire != FM_WIRE_BYTES)
            return field.value;
    }
    return 0;
}

void fm_perfetto_sequence_add(struct fm_perfetto_sequence *s, enum fm_perfetto_table table,
                              const struct fm_field *entry)
{
    uint64_t number = number_of(entry, ENTRY_NUMBER);
    struct entry kept = {.field = *entry};
    if (s->tables[table] == NULL)
        s->tables[table] = table_new();
    g_hash_table_replace(s->tables[table], g_memdup2(&number, sizeof number),
                         g_memdup2(&kept, sizeof kept));
}

void fm_perfetto_sequence_intern(struct fm_perfetto_sequence *s, const struct fm_field *data)
{
    static const bool used[FM_PERFETTO_TABLES] = {
        [FM_PERFETTO_EVENT_NAMES] = true, [FM_PERFETTO_FUNCTION_NAMES] = true,
        [FM_PERFETTO_FRAMES] = true,      [FM_PERFETTO_CALLSTACKS] = true,
        [FM_PERFETTO_BUILD_IDS] = true,   [FM_PERFETTO_PATHS] = true,
        [FM_PERFETTO_MAPPINGS] = true};
    struct fm_field field;
    for (struct fm_fields fields = fm_fields_in(data); fm_fields_next(&fields, &field);) {
        if (field.number < FM_PERFETTO_TABLES && used[field.number] && field.wire == FM_WIRE_BYTES)
            fm_perfetto_sequence_add(s, (enum fm_perfetto_table)field.number, &field);
    }
}

static struct entry *entry_of(const struct fm_perfetto_sequence *s, enum fm_perfetto_table table,
                              uint64_t number)
{
    return s->tables[table] == NULL ? NULL : g_hash_table_lookup(s->tables[table], &number);
}

const struct fm_field *fm_perfetto_sequence_find(const struct fm_perfetto_sequence *s,
                                                 enum fm_perfetto_table table, uint64_t number)
{
    const struct entry *entry = entry_of(s, table, number);
    return entry == NULL ? NULL : &entry->field;
}

uint32_t *fm_perfetto_sequence_made(const struct fm_perfetto_sequence *s,
                                    enum fm_perfetto_table table, uint64_t number)
{
    struct entry *entry = entry_of(s, table, number);
    return entry == NULL ? NULL : &entry->made;
}

struct fm_field fm_perfetto_sequence_text(const struct fm_perfetto_sequence *s,
                                          enum fm_perfetto_table table, uint64_t number)
{
    const struct fm_field *entry = fm_perfetto_sequence_find(s, table, number);
    struct fm_fields fields = entry == NULL ? (struct fm_fields){0} : fm_fields_in(entry);
    struct fm_field field;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == ENTRY_TEXT && field.wire == FM_WIRE_BYTES)
            return field;
    }
    return (struct fm_field){.wire = FM_WIRE_BYTES, .bytes = (const uint8_t *)""};
}

/* --- clocks --- */

struct clock {
    int64_t since; /* what is added to its time to get the trace's */
    uint64_t last; /* of one that tells differences */
    uint64_t multiplier;
    bool incremental;
};

void fm_perfetto_clocks_init(struct fm_perfetto_clocks *clocks)
{
    clocks->known = table_new();
}

void fm_perfetto_clocks_done(struct fm_perfetto_clocks *clocks)
{
    g_hash_table_unref(clocks->known);
}

static uint64_t key_of(uint64_t sequence, uint64_t clock)
{
    bool own = clock >= SEQUENCE_CLOCK_FIRST && clock <= SEQUENCE_CLOCK_LAST;
    return own ? sequence << 8 | clock : clock << 1 | (uint64_t)1 << 63;
}

static struct clock *clock_of(struct fm_perfetto_clocks *clocks, uint64_t sequence, uint64_t id)
{
    uint64_t key = key_of(sequence, id);
    return g_hash_table_lookup(clocks->known, &key);
}

static uint64_t boottime_of(const struct fm_field *snapshot, bool *ret_found)
{
    struct fm_field field;
    *ret_found = false;
    for (struct fm_fields fields = fm_fields_in(snapshot); fm_fields_next(&fields, &field);) {
        if (field.number == 1 && number_of(&field, CLOCK_ID) == FM_PERFETTO_BOOTTIME) {
            *ret_found = true;
            return number_of(&field, CLOCK_TIME);
        }
    }
    return 0;
}

void fm_perfetto_clocks_snapshot(struct fm_perfetto_clocks *clocks, uint64_t sequence,
                                 const struct fm_field *snapshot)
{
    struct fm_field field;
    bool found;
    uint64_t boottime = boottime_of(snapshot, &found);
    for (struct fm_fields fields = fm_fields_in(snapshot); fm_fields_next(&fields, &field);) {
        if (field.number != 1 || field.wire != FM_WIRE_BYTES)
            continue;
        uint64_t key = key_of(sequence, number_of(&field, CLOCK_ID));
        uint64_t multiplier = number_of(&field, CLOCK_MULTIPLIER);
        struct clock clock = {.multiplier = multiplier == 0 ? 1 : multiplier,
                              .last = number_of(&field, CLOCK_TIME),
                              .incremental = number_of(&field, CLOCK_IS_INCREMENTAL) != 0};
        const struct clock *before = g_hash_table_lookup(clocks->known, &key);
        /* A clock of the trace keeps its first distance: that changes by the drift of clocks, which
         * must not make a span's end come before its begin. */
        if (before != NULL && !clock.incremental)
            clock.since = before->since;
        else if (found)
            clock.since = (int64_t)(boottime - clock.last * clock.multiplier);
        g_hash_table_replace(clocks->known, g_memdup2(&key, sizeof key),
                             g_memdup2(&clock, sizeof clock));
    }
}

int64_t fm_perfetto_clocks_time(struct fm_perfetto_clocks *clocks, uint64_t sequence, uint64_t id,
                                uint64_t time)
{
    struct clock *clock = clock_of(clocks, sequence, id);
    if (clock == NULL)
        return (int64_t)time;
    if (clock->incremental)
        time = clock->last += time;
    return (int64_t)(time * clock->multiplier + (uint64_t)clock->since);
}
