/* SPDX-License-Identifier: Apache-2.0 */
/* The global buffer, for events that belong to no lane. Names are announced there before their
 * first use. */
#include "core/live.h"
#include "core/shared.h"
#include "core/types.h"
#include "lanes/deliver.h"

static pthread_mutex_t sink_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned char *buffer;
    size_t size, used;            /* used includes the marker */
    uint64_t begin_ns, latest_ns; /* times of its events */
    uint64_t last_end_ns;
    uint32_t events;
    struct fm_live_slot *live; /* the slot that holds the buffer; NULL = pool memory */
    uint64_t generation;       /* generation of the live file when the buffer was taken */
} global;                      /* guarded by sink_mutex */

void fm_el_sink_lock(void)
{
    pthread_mutex_lock(&sink_mutex);
}

void fm_el_sink_unlock(void)
{
    pthread_mutex_unlock(&sink_mutex);
}

static _Atomic(struct fm_el_name *) announced; /* the newest name that has been announced */

static void global_note(uint64_t taken)
{
    if (global.live)
        fm_el_live_note(global.live, &(struct fm_live_state){.taken = taken});
}

/* Sets the end of the last event, in the live file, too. */
static void global_used(size_t used)
{
    global.used = used;
    if (global.live)
        __atomic_store_n(&global.live->pos, (uintptr_t)(global.buffer + used), __ATOMIC_RELEASE);
}

/* Copies the block into the live file, so that each event counts once whenever the program ends. */
static void copy_live(struct fm_el_block *b)
{
    struct fm_live_slot *slot = fm_el_live_alloc(FM_LIVE_BLOCK, FM_EL_NO_CAP, b->bytes);
    if (slot && slot->generation != global.live->generation) {
        fm_el_live_free(slot);
        slot = NULL;
    }
    if (slot) {
        b->data = memcpy(fm_el_live_data(slot), b->data, b->bytes);
        b->live = slot;
        fm_el_live_seal(slot, b->bytes, global.live);
    }
    global_note(b->bytes);
}

/* Guarded by the sink lock. Posting may flush a full buffer, which calls this again. */
static bool posting;

/* Posts new names when the global buffer is flushed. The caller stores the result in `announced`
 * after delivery. */
static struct fm_el_name *post_names(void)
{
    struct fm_el_name *end = atomic_load(&announced), *all = fm_el_names_newest();
    if (posting || all == end)
        return end;
    posting = true;
    for (const struct fm_el_name *n = all; fm_el_has_destination() && n != end; n = n->next_all) {
        uint32_t id = fm_eventlog_be32_(n->id);
        fm_el_global_post_locked(FM_EVENT_INTERN_STRING, n->made_ns, n->text, n->bytes, &id, 4);
    }
    posting = false;
    return all;
}

void fm_el_global_flush_locked(void)
{
    struct fm_el_name *posted = post_names();
    if (global.used > FM_EL_MARKER_BYTES) {
        struct fm_el_block b = {global.buffer, global.used, global.events, FM_EL_NO_CAP, NULL};
        /* not the present time: a name that is made now and posted with the next block must not be
         * later than the events that use it */
        global.last_end_ns = global.latest_ns;
        fm_el_marker(global.buffer, global.used, FM_EL_NO_CAP, global.begin_ns, global.last_end_ns);
        if (global.live)
            copy_live(&b);
        fm_el_deliver(&b);
        global_used(FM_EL_MARKER_BYTES); /* first, so that nothing after it counts as an event */
        global_note(FM_EL_MARKER_BYTES);
        global.events = 0;
    }
    atomic_store(&announced, posted);
}

void fm_el_global_not_before(uint64_t ns)
{
    global.last_end_ns = ns > global.last_end_ns ? ns : global.last_end_ns;
}

uint64_t fm_el_global_end(void)
{
    return global.last_end_ns;
}

static bool take_buffer(size_t wanted)
{
    uint64_t generation = atomic_load(&fm_el_live_generation);
    struct fm_live_slot *slot =
        generation ? fm_el_live_alloc(FM_LIVE_GLOBAL, FM_EL_NO_CAP, wanted) : NULL;
    unsigned char *buffer = slot ? fm_el_live_data(slot) : fm_el_pool_alloc(wanted);
    if (!buffer)
        return false;
    if (global.live)
        fm_el_live_free(global.live);
    else
        fm_el_pool_free(global.buffer, global.size);
    global.buffer = buffer;
    global.size = wanted;
    global.live = slot;
    global.generation = generation;
    global_used(FM_EL_MARKER_BYTES);
    global_note(FM_EL_MARKER_BYTES);
    return true;
}

/* Makes room for `need` bytes in a buffer of the wanted size. A larger event gets a larger buffer
 * once, so that no name or argument is lost. */
static bool make_room(size_t need)
{
    size_t wanted = atomic_load(&fm_el.wanted_size);
    if (atomic_load(&fm_el_live_generation) && wanted > FM_EL_LIVE_BUFFER_MAX)
        wanted = FM_EL_LIVE_BUFFER_MAX;
    if (need + FM_EL_MARKER_BYTES > wanted)
        wanted = need + FM_EL_MARKER_BYTES;
    bool as_wanted = global.buffer && global.size == wanted &&
                     global.generation == atomic_load(&fm_el_live_generation);
    if (as_wanted && need <= global.size - global.used)
        return true;
    fm_el_global_flush_locked();
    if (as_wanted || take_buffer(wanted))
        return true;
    fm_el_count(&fm_el.resize_failures, 1);
    return global.buffer && need <= global.size - global.used;
}

void fm_el_global_post_locked(uint16_t type, uint64_t ns, const void *first, size_t first_bytes,
                              const void *second, size_t second_bytes)
{
    bool variable = fm_el_sizes[type] == FM_EL_VARIABLE;
    size_t payload = first_bytes + second_bytes, need = payload + (variable ? 12 : 10);
    if (payload > 65535 || !make_room(need)) {
        fm_el_count(&fm_el.dropped, 1);
        return;
    }
    ns = ns < global.last_end_ns ? global.last_end_ns : ns;
    if (global.events == 0 || ns < global.begin_ns)
        global.begin_ns = ns;
    if (global.events == 0 || ns > global.latest_ns)
        global.latest_ns = ns;
    unsigned char *p = fm_el_put_event(global.buffer + global.used, type, ns);
    if (variable) {
        uint16_t length = fm_eventlog_be16_((uint16_t)payload);
        memcpy(p, &length, 2);
        p += 2;
    }
    memcpy(p, first, first_bytes);
    if (second_bytes)
        memcpy(p + first_bytes, second, second_bytes);
    global.events++;
    global_used(global.used + need);
}

void fm_el_global_post(uint16_t type, const void *first, size_t first_bytes, const void *second,
                       size_t second_bytes)
{
    uint32_t before = fm_el_enter();
    fm_el_sink_lock();
    fm_el_global_post_locked(type, fm_el_clock_ns(), first, first_bytes, second, second_bytes);
    fm_el_sink_unlock();
    fm_el_leave(before);
}

void fm_el_global_own(void)
{
    fm_el_live_own(global.live);
}

void fm_el_global_after_fork(void)
{
    pthread_mutex_init(&sink_mutex, NULL);
    if (global.live) {
        fm_el_live_free(global.live);
        global.live = NULL;
        global.buffer = NULL;
        global.size = 0;
    }
    global.used = global.buffer ? FM_EL_MARKER_BYTES : 0;
    global.events = 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

void fm_el_names_announce(void)
{
    if (atomic_load(&announced) == fm_el_names_newest())
        return;
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    fm_el_sink_unlock();
}

void fm_el_names_again(void)
{
    atomic_store(&announced, NULL);
}

const struct fm_el_name *fm_el_name(const char *text, size_t bytes)
{
    bool in_library = fm_eventlog_head_.busy != 0;
    uint32_t before = fm_el_enter();
    const struct fm_el_name *n = fm_el_names_make(text, bytes, in_library);
    if (!in_library)
        fm_el_names_announce();
    fm_el_leave(before);
    return n;
}

uint32_t fm_eventlog_intern(const char *name)
{
    FM_EL_FORWARD(intern, name);
    const struct fm_el_name *n = fm_el_name(name, strlen(name));
    return n ? n->id : 0;
}

uint32_t fm_eventlog_name_(uint32_t *id, const char *name)
{
    uint32_t found = fm_eventlog_intern(name);
    __atomic_store_n(id, found, __ATOMIC_RELAXED);
    return found;
}
