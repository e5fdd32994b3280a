/* SPDX-License-Identifier: Apache-2.0 */
/* Merges runs, one for each block, by the times of their next events, with a tournament tree. A
 * block joins when the time reaches its minimum time, so the order is exact, and only blocks
 * that overlap in time are open. The minimum is known from the pass over the file. In a log that
 * was opened lazily, the block is read when the time comes near that of its marker.
 *
 * Nearly all events of a block are in order. The others, whose time is less than that of an
 * event before them, are called strays. They are found when the block is first read, and kept
 * aside, sorted. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eventlog/log/run.h"

enum { WINDOWS_BYTES = 32 << 20, WINDOW_BYTES_MIN = 16 << 10 };
/* Events of an unread block may be this much earlier than its marker. */
#define EARLY_NS UINT64_C(10000000)

struct cursor {
    struct fm_eventlog_run *run;
    const struct fm_eventlog_stray *strays; /* sorted by time, then offset */
    struct fm_eventlog_stray *own_strays;   /* strays that are not kept with the log */
    size_t stray_count, stray_next;
    uint64_t greatest; /* maximum time so far in the run */
    struct fm_eventlog_event plain;
    bool has_plain;
    /* The earlier of the next event in order and the next stray. */
    uint64_t time_ns, offset;
    bool head_is_stray;
    int32_t capability;
    size_t seat; /* its leaf in the tournament */
};

/* Times are stored in the tournament itself, so most comparisons need no cursor. */
struct head {
    uint64_t time_ns;
    struct cursor *cursor; /* NULL = free, comes after all others */
};

struct pending {
    uint64_t key; /* time at which the block must be opened */
    guint block;
};

struct fm_eventlog_merge {
    struct fm_eventlog_log *log;
    struct pending *pending; /* ordered by key, then file order */
    size_t pending_count, pending_next;
    /* [1] = the earliest; [n] = the earlier of [2n] and [2n + 1]; the leaves come last */
    struct head *rounds;
    size_t seats;       /* number of leaves: a power of 2, or 0; the first leaf is rounds[seats] */
    size_t *free_seats; /* leaves without a cursor: seats - open */
    size_t open;
    struct cursor *used; /* its head was returned: advance it before going on */
    uint32_t header;
    struct fm_eventlog_event stray; /* the stray returned last */
    uint8_t *stray_bytes;
};

static const struct fm_eventlog_block *block_at(const struct fm_eventlog_merge *merge, guint index)
{
    g_assert(index < merge->log->blocks->len);
    return &g_array_index(merge->log->blocks, struct fm_eventlog_block, index);
}

static uint64_t key_of(const struct fm_eventlog_merge *merge, guint index)
{
    const struct fm_eventlog_block *block = block_at(merge, index);
    if (fm_eventlog_log_is_known(merge->log, index))
        return block->min_ns;
    return block->begin_ns - MIN(block->begin_ns, EARLY_NS);
}

static int compare_pending(const void *a, const void *b)
{
    const struct pending *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* Orders two heads of the same time. */
static bool before(const struct cursor *a, const struct cursor *b)
{
    if (a == NULL || b == NULL)
        return b == NULL;
    if (a->capability != b->capability)
        return a->capability < b->capability;
    return a->offset < b->offset;
}

static void list_pending(struct fm_eventlog_merge *merge)
{
    merge->pending_count = merge->pending_next = 0;
    for (guint i = 0; i < merge->log->blocks->len; i++) {
        if (!fm_eventlog_log_is_known(merge->log, i) || block_at(merge, i)->events > 0)
            merge->pending[merge->pending_count++] = (struct pending){key_of(merge, i), i};
    }
    g_assert(merge->pending_count <= merge->log->blocks->len);
    for (size_t i = 1; i < merge->pending_count; i++) {
        if (compare_pending(&merge->pending[i - 1], &merge->pending[i]) > 0) {
            qsort(merge->pending, merge->pending_count, sizeof *merge->pending, compare_pending);
            break;
        }
    }
}

struct fm_eventlog_merge *fm_eventlog_merge_new(struct fm_eventlog_log *log)
{
    struct fm_eventlog_merge *merge = g_new0(struct fm_eventlog_merge, 1);
    merge->log = log;
    merge->pending = g_new(struct pending, log->blocks->len);
    list_pending(merge);
    return merge;
}

static void cursor_free(struct cursor *cursor)
{
    fm_eventlog_run_free(cursor->run);
    g_free(cursor->own_strays);
    g_free(cursor);
}

static void drop_cursors(struct fm_eventlog_merge *merge)
{
    for (size_t i = 0; i < merge->seats; i++) {
        if (merge->rounds[merge->seats + i].cursor != NULL)
            cursor_free(merge->rounds[merge->seats + i].cursor);
    }
    g_clear_pointer(&merge->rounds, g_free);
    g_clear_pointer(&merge->free_seats, g_free);
    merge->seats = merge->open = 0;
    merge->used = NULL;
}

void fm_eventlog_merge_free(struct fm_eventlog_merge *merge)
{
    if (merge == NULL)
        return;
    drop_cursors(merge);
    g_free(merge->pending);
    g_free(merge->stray_bytes);
    g_free(merge);
}

const struct fm_eventlog_header *fm_eventlog_merge_header(const struct fm_eventlog_merge *merge)
{
    g_assert(merge->header < merge->log->headers->len);
    return merge->log->headers->pdata[merge->header];
}

uint32_t fm_eventlog_merge_header_index(const struct fm_eventlog_merge *merge)
{
    return merge->header;
}

static bool next_slowly(struct cursor *cursor, GError **error)
{
    GError *failure = NULL;
    do {
        cursor->has_plain = fm_eventlog_run_next(cursor->run, &cursor->plain, &failure);
    } while (cursor->has_plain && cursor->plain.time_ns < cursor->greatest);
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    g_assert(!cursor->has_plain || cursor->plain.time_ns >= cursor->greatest);
    if (cursor->has_plain)
        cursor->greatest = cursor->plain.time_ns;
    return true;
}

/* Takes the next event in order from the run. */
FM_ALWAYS_INLINE bool next_plain(struct cursor *cursor, GError **error)
{
    if (FM_LIKELY(cursor->has_plain && fm_eventlog_run_quick(cursor->run, &cursor->plain) &&
                  cursor->plain.time_ns >= cursor->greatest)) {
        cursor->greatest = cursor->plain.time_ns;
        return true;
    }
    return next_slowly(cursor, error);
}

/* Sets the head; false when the cursor is exhausted. */
static bool set_head(struct cursor *cursor)
{
    const struct fm_eventlog_stray *stray =
        cursor->stray_next < cursor->stray_count ? &cursor->strays[cursor->stray_next] : NULL;
    cursor->head_is_stray =
        stray != NULL &&
        (!cursor->has_plain || stray->time_ns < cursor->plain.time_ns ||
         (stray->time_ns == cursor->plain.time_ns && stray->offset < cursor->plain.offset));
    if (!cursor->head_is_stray && !cursor->has_plain)
        return false;
    cursor->time_ns = cursor->head_is_stray ? stray->time_ns : cursor->plain.time_ns;
    cursor->offset = cursor->head_is_stray ? stray->offset : cursor->plain.offset;
    return true;
}

/* Advances past the head. Returns 1; 0 when the cursor is exhausted; -1 with an error. */
FM_ALWAYS_INLINE int step(struct cursor *cursor, GError **error)
{
    if (cursor->head_is_stray)
        cursor->stray_next++;
    else if (!next_plain(cursor, error))
        return -1;
    if (FM_LIKELY(cursor->stray_next == cursor->stray_count && cursor->has_plain)) {
        cursor->head_is_stray = false;
        cursor->time_ns = cursor->plain.time_ns;
        cursor->offset = cursor->plain.offset;
        return 1;
    }
    return set_head(cursor) ? 1 : 0;
}

/* Replays the rounds from a leaf with a new head to the root. The winner is unpredictable, so it is
 * computed without a branch. */
static void play(struct fm_eventlog_merge *merge, size_t seat, uint64_t time, struct cursor *cursor)
{
    struct head *rounds = merge->rounds;
    uintptr_t who = (uintptr_t)cursor;
    size_t at = merge->seats + seat;
    rounds[at] = (struct head){time, cursor};
    while (at > 1) {
        const struct head *other = &rounds[at ^ 1];
        uint64_t other_time = other->time_ns;
        uintptr_t loses = -(uintptr_t)(other_time < time);
        if (FM_UNLIKELY(other_time == time))
            loses = -(uintptr_t)before(other->cursor, (struct cursor *)who);
        who ^= (who ^ (uintptr_t)other->cursor) & loses;
        time = MIN(time, other_time);
        at /= 2;
        rounds[at] = (struct head){time, (struct cursor *)who};
    }
}

/* Doubles the number of leaves. */
static void add_seats(struct fm_eventlog_merge *merge)
{
    size_t old_seats = merge->seats, seats = MAX(8, 2 * old_seats);
    struct head *old = merge->rounds;
    merge->seats = seats;
    merge->rounds = g_new(struct head, 2 * seats);
    merge->free_seats = g_renew(size_t, merge->free_seats, seats);
    for (size_t i = 0; i < 2 * seats; i++)
        merge->rounds[i] = (struct head){UINT64_MAX, NULL};
    for (size_t i = 0; i < old_seats; i++)
        play(merge, i, old[old_seats + i].time_ns, old[old_seats + i].cursor);
    for (size_t i = old_seats; i < seats; i++)
        merge->free_seats[seats - 1 - i] = i;
    g_free(old);
}

static void push_cursor(struct fm_eventlog_merge *merge, struct cursor *cursor)
{
    if (merge->open == merge->seats)
        add_seats(merge);
    merge->open++;
    cursor->seat = merge->free_seats[merge->seats - merge->open];
    g_assert(cursor->seat < merge->seats);
    play(merge, cursor->seat, cursor->time_ns, cursor);
}

static void pop_cursor(struct fm_eventlog_merge *merge)
{
    struct cursor *cursor = merge->rounds[1].cursor;
    g_assert(merge->open > 0 && cursor != NULL);
    merge->free_seats[merge->seats - merge->open] = cursor->seat;
    merge->open--;
    play(merge, cursor->seat, UINT64_MAX, NULL);
    cursor_free(cursor);
}

/* Takes the block's strays from its facts; false with an error. */
static bool take_strays(struct fm_eventlog_merge *merge, struct cursor *cursor, guint index,
                        GError **error)
{
    const struct fm_eventlog_facts *facts = fm_eventlog_facts(merge->log, index);
    if (facts == NULL || facts->stray_count == 0)
        return true;
    cursor->stray_count = facts->stray_count;
    cursor->strays = facts->strays;
    if (cursor->strays != NULL)
        return true;
    struct fm_eventlog_facts *again = fm_eventlog_facts_find(merge->log, index, error);
    if (again == NULL)
        return false;
    cursor->stray_count = again->stray_count;
    cursor->strays = cursor->own_strays = g_steal_pointer(&again->strays);
    fm_eventlog_facts_free(again);
    return true;
}

/* Returns the last known offset in the block such that no event before it is at or after `time`. */
static struct fm_eventlog_sample place_before(const struct fm_eventlog_facts *facts, uint64_t time)
{
    struct fm_eventlog_sample place = {0, 0};
    size_t low = 0, high = facts == NULL ? 0 : facts->sample_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (facts->samples[middle].greatest < time) {
            place = facts->samples[middle];
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return place;
}

/* Moves to the first head at or after (time, offset). Returns 1; 0 when there is none; -1 with an
 * error. */
static int seek_cursor(struct cursor *cursor, uint64_t time, uint64_t offset, GError **error)
{
    do {
        if (!next_plain(cursor, error))
            return -1;
    } while (cursor->has_plain &&
             (cursor->plain.time_ns < time ||
              (cursor->plain.time_ns == time && cursor->plain.offset < offset)));
    size_t low = 0, high = cursor->stray_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct fm_eventlog_stray *stray = &cursor->strays[middle];
        if (stray->time_ns < time || (stray->time_ns == time && stray->offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    g_assert(low <= cursor->stray_count);
    cursor->stray_next = low;
    return set_head(cursor) ? 1 : 0;
}

static bool open_cursor(struct fm_eventlog_merge *merge, guint index, uint64_t time,
                        uint64_t offset, GError **error)
{
    const struct fm_eventlog_block *block = block_at(merge, index);
    if ((block->backward_steps > 0 || merge->log->scan != NULL) &&
        !fm_eventlog_log_learn(merge->log, index, error))
        return false;
    size_t window = WINDOWS_BYTES / (merge->open + 1);
    struct fm_eventlog_sample place = place_before(fm_eventlog_facts(merge->log, index), time);
    struct cursor *cursor = g_new0(struct cursor, 1);
    cursor->capability = block->capability;
    cursor->run =
        fm_eventlog_run_open(merge->log, block, place.offset, MAX(window, WINDOW_BYTES_MIN));
    cursor->greatest = place.greatest;
    int found =
        take_strays(merge, cursor, index, error) ? seek_cursor(cursor, time, offset, error) : -1;
    if (found > 0)
        push_cursor(merge, cursor);
    else
        cursor_free(cursor);
    return found >= 0;
}

/* The first pending block has been read and begins later than assumed: puts it at its place. */
static void put_back(struct fm_eventlog_merge *merge)
{
    struct pending moving = merge->pending[merge->pending_next];
    moving.key = key_of(merge, moving.block);
    size_t place = merge->pending_next;
    while (place + 1 < merge->pending_count &&
           compare_pending(&merge->pending[place + 1], &moving) < 0) {
        merge->pending[place] = merge->pending[place + 1];
        place++;
    }
    g_assert(place < merge->pending_count);
    merge->pending[place] = moving;
}

/* Opens each block that begins no later than the earliest open event; the first pending block if no
 * block is open. */
static bool open_due(struct fm_eventlog_merge *merge, GError **error)
{
    while (merge->pending_next < merge->pending_count) {
        const struct pending *pending = &merge->pending[merge->pending_next];
        guint block = pending->block;
        if (merge->open > 0 && pending->key > merge->rounds[1].time_ns)
            return true;
        if (!fm_eventlog_log_is_known(merge->log, block)) {
            if (!fm_eventlog_log_learn(merge->log, block, error)) {
                merge->pending_next++;
                return false;
            }
            if (block_at(merge, block)->events == 0)
                merge->pending_next++;
            else
                put_back(merge);
            continue;
        }
        merge->pending_next++;
        if (block_at(merge, block)->events > 0 && !open_cursor(merge, block, 0, 0, error))
            return false;
    }
    return true;
}

/* Makes the earliest event the winner. */
FM_ALWAYS_INLINE bool settle(struct fm_eventlog_merge *merge, GError **error)
{
    if (merge->used != NULL) {
        g_assert(merge->rounds[1].cursor == merge->used);
        struct cursor *cursor = merge->used;
        int stepped = step(cursor, error);
        merge->used = NULL;
        if (FM_LIKELY(stepped > 0))
            play(merge, cursor->seat, cursor->time_ns, cursor);
        else
            pop_cursor(merge);
        if (FM_UNLIKELY(stepped < 0))
            return false;
    }
    if (merge->pending_next == merge->pending_count ||
        (merge->open > 0 && merge->pending[merge->pending_next].key > merge->rounds[1].time_ns))
        return true;
    return open_due(merge, error);
}

/* Reads an event at another offset of the block than the run's. */
static bool read_stray(struct fm_eventlog_merge *merge, const struct cursor *cursor,
                       struct fm_eventlog_event *ret, GError **error)
{
    const struct fm_eventlog_run *run = cursor->run;
    uint8_t head[12] = {0};
    uint64_t left = run->limit - cursor->offset;
    if (!fm_eventlog_pread(merge->log, head, MIN(left, sizeof head), cursor->offset, error))
        return false;
    uint16_t number = fm_eventlog_get16(head);
    uint32_t length = 0;
    if (number < run->header->number_count && run->steps[number].length != 0) {
        length = run->steps[number].length;
        length += run->steps[number].variable ? fm_eventlog_get16(head + 10) : 0;
    }
    if (length == 0 || length > left || fm_eventlog_get64(head + 2) != cursor->time_ns) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %" G_GUINT64_FORMAT ": the file changed while it was read",
                    merge->log->name, cursor->offset);
        return false;
    }
    *ret = (struct fm_eventlog_event){
        .time_ns = cursor->time_ns,
        .offset = cursor->offset,
        .block = run->block.marked ? run->block.offset : FM_EVENTLOG_NO_BLOCK,
        .head_length = run->steps[number].variable ? 12 : 10,
        .capability = cursor->capability,
        .number = number,
        .type = run->steps[number].type,
    };
    ret->payload_length = length - ret->head_length;
    if (merge->stray_bytes == NULL)
        merge->stray_bytes = g_malloc(65536);
    ret->payload = merge->stray_bytes;
    return fm_eventlog_pread(merge->log, merge->stray_bytes, ret->payload_length,
                             cursor->offset + ret->head_length, error);
}

const struct fm_eventlog_event *fm_eventlog_merge_take(struct fm_eventlog_merge *merge,
                                                       GError **error)
{
    if (!settle(merge, error) || merge->open == 0)
        return NULL;
    struct cursor *cursor = merge->rounds[1].cursor;
    merge->header = cursor->run->block.header;
    merge->used = cursor;
    if (FM_LIKELY(!cursor->head_is_stray))
        return &cursor->plain;
    return read_stray(merge, cursor, &merge->stray, error) ? &merge->stray : NULL;
}

bool fm_eventlog_merge_next(struct fm_eventlog_merge *merge, struct fm_eventlog_event *ret,
                            GError **error)
{
    const struct fm_eventlog_event *event = fm_eventlog_merge_take(merge, error);
    if (event != NULL)
        *ret = *event;
    return event != NULL;
}

/* Whether the block can hold an event at or after time. */
static bool may_reach(const struct fm_eventlog_merge *merge, guint index, uint64_t time)
{
    const struct fm_eventlog_block *block = block_at(merge, index);
    if (fm_eventlog_log_is_known(merge->log, index))
        return block->events > 0 && block->max_ns >= time;
    return block->end_ns == 0 || block->end_ns >= time - MIN(time, EARLY_NS);
}

bool fm_eventlog_merge_seek_event(struct fm_eventlog_merge *merge, uint64_t time_ns,
                                  int32_t capability, uint64_t offset, GError **error)
{
    drop_cursors(merge);
    list_pending(merge);
    for (; merge->pending_next < merge->pending_count; merge->pending_next++) {
        guint block = merge->pending[merge->pending_next].block;
        if (merge->pending[merge->pending_next].key > time_ns)
            break;
        if (!may_reach(merge, block, time_ns))
            continue;
        /* At that time: events of its capability from offset on; none of capabilities before it. */
        int32_t of_block = block_at(merge, block)->capability;
        uint64_t from_time = of_block < capability && time_ns < UINT64_MAX ? time_ns + 1 : time_ns;
        uint64_t from_offset = of_block == capability ? offset : 0;
        if (!open_cursor(merge, block, from_time, from_offset, error))
            return false;
    }
    return true;
}

bool fm_eventlog_merge_seek_time(struct fm_eventlog_merge *merge, uint64_t time_ns, GError **error)
{
    return fm_eventlog_merge_seek_event(merge, time_ns, INT32_MIN, 0, error);
}
