/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/state/tape.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/worker.h"
#include "trace/state/state_internal.h"

enum {
    BATCHES = 8, /* number of batches in work at a time; 2 without a second thread */
    /* About, as those of one event stay together, and so does what is read while there is no room
     * for another batch. */
    BATCH_EVENTS = 2048,
    BATCH_CHANGES = 4096,
    FIRST_CAPACITY = 256,
    TAKERS_MAX = 4,
    PATIENCE_NS = 1000000,
    NS_A_SECOND = 1000000000,
};

struct batch {
    struct fm_tape_event *events;
    struct fm_tape_change *changes;
    uint32_t event_count, event_capacity, change_count, change_capacity;
};

struct taker {
    fm_tape_take *take;
    void *user;
    uint64_t taken; /* batches */
    bool busy;      /* a thread takes a batch for this taker at the moment */
};

struct fm_tape {
    struct fm_state *state;
    struct fm_state_observer observer;
    struct batch batches[BATCHES]; /* number n is at n % places */
    unsigned places;
    struct batch *writing;
    bool ended;
    struct fm_worker *worker; /* NULL: there is no second thread */
    struct taker takers[TAKERS_MAX];
    unsigned taker_count;
    pthread_mutex_t lock;   /* guards the members below, and `taken` and `busy` of the takers */
    pthread_cond_t changed; /* signalled when a taker is no longer busy */
    uint64_t written;       /* batches */
};

/* --- taking --- */

/* Returns the taker that is farthest behind, of those that no thread takes a batch for; NULL when
 * there is nothing to do. Call it with the lock held. */
static struct taker *choose(struct fm_tape *tape)
{
    struct taker *chosen = NULL;
    for (unsigned i = 0; i < tape->taker_count; i++) {
        struct taker *taker = &tape->takers[i];
        if (!taker->busy && taker->taken < tape->written &&
            (chosen == NULL || taker->taken < chosen->taken))
            chosen = taker;
    }
    return chosen;
}

/* Takes one batch for one of the takers; false when there is none to take. Call it with the lock
 * held; it is released while the taker works. */
static bool take_one(struct fm_tape *tape)
{
    struct taker *taker = choose(tape);
    if (taker == NULL)
        return false;
    const struct batch *batch = &tape->batches[taker->taken % tape->places];
    const struct fm_tape_batch shown = {batch->events, batch->changes, batch->event_count,
                                        batch->change_count};
    taker->busy = true;
    pthread_mutex_unlock(&tape->lock);
    taker->take(taker->user, &shown);
    pthread_mutex_lock(&tape->lock);
    taker->busy = false;
    taker->taken++;
    pthread_cond_signal(&tape->changed);
    return true;
}

static bool step_beside(void *user)
{
    struct fm_tape *tape = user;
    pthread_mutex_lock(&tape->lock);
    bool more = take_one(tape);
    pthread_mutex_unlock(&tape->lock);
    return more;
}

/* Batches that not all have taken. Locked. */
static uint64_t left(const struct fm_tape *tape)
{
    uint64_t least = tape->written;
    for (unsigned i = 0; i < tape->taker_count; i++)
        least = MIN(least, tape->takers[i].taken);
    return tape->written - least;
}

/* --- writing --- */

/* Until at most so many batches are left; does some of the work. False when somebody else was busy
 * with them for too long. */
static bool wait_for(struct fm_tape *tape, uint64_t most, bool patient)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += PATIENCE_NS;
    end.tv_sec += end.tv_nsec / NS_A_SECOND;
    end.tv_nsec %= NS_A_SECOND;
    pthread_mutex_lock(&tape->lock);
    bool in_time = true;
    while (left(tape) > most && in_time) {
        if (take_one(tape))
            continue;
        if (patient)
            pthread_cond_wait(&tape->changed, &tape->lock);
        else
            in_time =
                pthread_cond_clockwait(&tape->changed, &tape->lock, CLOCK_MONOTONIC, &end) == 0;
    }
    bool reached = left(tape) <= most;
    pthread_mutex_unlock(&tape->lock);
    return reached;
}

/* Hands a batch over to readers. The writer needs room for more: at most BATCHES - 1 may be
 * unread. */
static void hand_over(struct fm_tape *tape)
{
    pthread_mutex_lock(&tape->lock);
    g_assert(left(tape) < BATCHES - 1);
    tape->written++;
    tape->writing = &tape->batches[tape->written % tape->places];
    tape->writing->event_count = tape->writing->change_count = 0;
    pthread_mutex_unlock(&tape->lock);
    if (tape->worker != NULL)
        fm_worker_again(tape->worker);
}

static bool is_full(const struct batch *batch)
{
    return batch->event_count >= BATCH_EVENTS || batch->change_count >= BATCH_CHANGES;
}

/* Hands over a full batch; false while there is no room for the next. */
static bool make_room(struct fm_tape *tape)
{
    if (tape->worker == NULL) {
        hand_over(tape);
        return wait_for(tape, 0, true);
    }
    if (!wait_for(tape, BATCHES - 2, false))
        return false;
    hand_over(tape);
    return true;
}

bool fm_tape_hook(void *hook_data, void *call_data)
{
    struct fm_tape *tape = hook_data;
    const struct fm_tracefile_context *at = call_data;
    struct batch *batch = tape->writing;
    if (FM_UNLIKELY(batch->event_count == batch->event_capacity)) {
        batch->event_capacity = MAX(FIRST_CAPACITY, 2 * batch->event_capacity);
        batch->events = g_renew(struct fm_tape_event, batch->events, batch->event_capacity);
    }
    batch->events[batch->event_count++] = (struct fm_tape_event){.time = at->event.time,
                                                                 .id = at->event.id,
                                                                 .lane = tape->state->event_lane,
                                                                 .tracefile = at->tracefile->index};
    return is_full(batch) && !make_room(tape);
}

static struct fm_tape_change *change_of(struct fm_tape *tape, enum fm_tape_kind kind)
{
    struct batch *batch = tape->writing;
    if (FM_UNLIKELY(batch->change_count == batch->change_capacity)) {
        batch->change_capacity = MAX(FIRST_CAPACITY, 2 * batch->change_capacity);
        batch->changes = g_renew(struct fm_tape_change, batch->changes, batch->change_capacity);
    }
    struct fm_tape_change *change = &batch->changes[batch->change_count++];
    change->event = batch->event_count;
    change->kind = (uint16_t)kind;
    return change;
}

static struct fm_tape_change *change(struct fm_tape *tape, enum fm_tape_kind kind,
                                     const struct fm_lane *lane)
{
    struct fm_tape_change *change = change_of(tape, kind);
    change->lane = lane->index;
    return change;
}

/* --- observing --- */

static void on_lane(void *user, const struct fm_lane *lane)
{
    struct fm_tape_change *named = change(user, FM_TAPE_LANE, lane);
    named->depth = (uint16_t)lane->kind;
    named->value = lane->name_value;
    named->since = lane->parent;
    named->end = lane->key;
    named->detail = fm_lane_number(lane);
}

static void on_begun(void *user, const struct fm_lane *lane, const struct fm_state_entry *entry)
{
    struct fm_tape_change *begun = change(user, FM_TAPE_BEGUN, lane);
    begun->depth = (uint16_t)(lane->depth - 1);
    begun->value = entry->value;
}

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_tape_change *ended = change(user, FM_TAPE_ENDED, lane);
    ended->depth = (uint16_t)depth;
    ended->value = entry->value;
    ended->since = entry->since;
    ended->end = end;
    ended->detail = entry->detail;
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct fm_tape_change *number = change(user, FM_TAPE_NUMBER, lane);
    memcpy(&number->since, &value, sizeof value);
    number->end = time;
}

static void on_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct fm_tape_change *mark = change(user, FM_TAPE_MARK, lane);
    mark->value = value;
    mark->end = time;
}

static void on_arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                     const struct fm_lane *to, uint64_t to_time)
{
    struct fm_tape_change *arrow = change(user, FM_TAPE_ARROW, from);
    arrow->value = to->index;
    arrow->since = from_time;
    arrow->end = to_time;
}

/* --- making --- */

struct fm_tape *fm_tape_new(struct fm_state *state, bool beside)
{
    G_STATIC_ASSERT((int)FM_STATE_DEPTH_MAX <= UINT16_MAX);
    g_return_val_if_fail(fm_state_lane_count(state) == 0, NULL);
    struct fm_tape *tape = g_new0(struct fm_tape, 1);
    tape->state = state;
    tape->observer = (struct fm_state_observer){.user = tape,
                                                .lane_added = on_lane,
                                                .lane_named = on_lane,
                                                .begun = on_begun,
                                                .segment = on_segment,
                                                .number = on_number,
                                                .mark = on_mark,
                                                .arrow = on_arrow};
    tape->places = beside ? BATCHES : 2;
    tape->writing = &tape->batches[0];
    pthread_mutex_init(&tape->lock, NULL);
    pthread_cond_init(&tape->changed, NULL);
    fm_state_add_observer(state, &tape->observer);
    if (beside)
        tape->worker = fm_worker_new(step_beside, tape);
    return tape;
}

void fm_tape_free(struct fm_tape *tape)
{
    if (tape == NULL)
        return;
    fm_worker_free(tape->worker);
    fm_state_remove_observer(tape->state, &tape->observer);
    for (unsigned i = 0; i < BATCHES; i++) {
        g_free(tape->batches[i].events);
        g_free(tape->batches[i].changes);
    }
    pthread_mutex_destroy(&tape->lock);
    pthread_cond_destroy(&tape->changed);
    g_free(tape);
}

void fm_tape_add(struct fm_tape *tape, fm_tape_take *take, void *user)
{
    pthread_mutex_lock(&tape->lock);
    g_assert(tape->taker_count < TAKERS_MAX && tape->written == 0);
    tape->takers[tape->taker_count++] = (struct taker){.take = take, .user = user};
    pthread_mutex_unlock(&tape->lock);
}

void fm_tape_drain(struct fm_tape *tape)
{
    if (tape->ended)
        return;
    wait_for(tape, BATCHES - 2, true);
    if (tape->writing->event_count > 0 || tape->writing->change_count > 0)
        hand_over(tape);
    wait_for(tape, 0, true);
}

void fm_tape_end(struct fm_tape *tape, uint64_t time)
{
    if (tape->ended)
        return;
    tape->ended = true;
    change_of(tape, FM_TAPE_CLOSING);
    fm_state_flush(tape->state, time, &tape->observer);
    wait_for(tape, BATCHES - 2, true);
    hand_over(tape);
    wait_for(tape, 0, true);
}
