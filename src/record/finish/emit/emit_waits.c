/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/emit/emit_waits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "record/finish/notes.h"
#include "record/statics/places.h"

struct emitting {
    const struct fm_raw_recording *recording;
    const struct fm_images *images;
    const uint32_t *csd_ids;
    struct fm_build *build;
    struct fm_finish_notes *notes;
    GArray *locks; /* struct lock, by address and epoch */
    GStringChunk *strings;
};

struct lock {
    uint64_t address;
    uint32_t epoch, image; /* FM_NONE: in no file, but on a stack or in the heap */
    uint32_t number;
    char *name;
};

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define NAME(upper, number, name, words) [number] = (name),
        FM_REC_WAIT_KINDS(NAME)
#undef NAME
    };
    return kind < G_N_ELEMENTS(names) && names[kind] != NULL ? names[kind] : "other";
}

/* An address in a file is the file's in all epochs that it was loaded in. */
static int compare_locks(const void *a, const void *b)
{
    const struct lock *la = a, *lb = b;
    if (la->address != lb->address)
        return la->address < lb->address ? -1 : 1;
    return la->image < lb->image ? -1 : la->image > lb->image;
}

static void free_lock(gpointer lock)
{
    g_free(((struct lock *)lock)->name);
}

static struct lock lock_at(const struct emitting *e, const struct fm_raw_blame *blame)
{
    uint64_t file = 0;
    uint32_t image = fm_images_find(e->images, blame->lock, blame->epoch, &file);
    return (struct lock){blame->lock, blame->epoch, image, 0, NULL};
}

static void collect_locks(struct emitting *e)
{
    for (uint32_t i = 1; i < e->recording->blame_count; i++) {
        struct lock lock = lock_at(e, &e->recording->blames[i]);
        if (lock.address != 0)
            g_array_append_val(e->locks, lock);
    }
    if (e->locks->len == 0)
        return;
    qsort(e->locks->data, e->locks->len, sizeof(struct lock), compare_locks);
    struct lock *all = (struct lock *)(void *)e->locks->data;
    guint kept = 0;
    for (guint i = 1; i < e->locks->len; i++) {
        if (compare_locks(&all[kept], &all[i]) != 0)
            all[++kept] = all[i];
    }
    g_array_set_clear_func(e->locks, NULL);
    g_array_set_size(e->locks, kept + 1);
    g_array_set_clear_func(e->locks, free_lock);
}

/* Names the locks in one file by its symbols. */
static void name_in_image(struct emitting *e, uint32_t index)
{
    const struct fm_image *image = fm_images_at(e->images, index);
    g_autoptr(GArray) places = g_array_new(FALSE, TRUE, sizeof(struct fm_data_place));
    g_autoptr(GPtrArray) locks = g_ptr_array_new();
    for (guint i = 0; i < e->locks->len; i++) {
        struct lock *lock = &g_array_index(e->locks, struct lock, i);
        struct fm_data_place place = {0};
        if (lock->image != index ||
            fm_images_find(e->images, lock->address, lock->epoch, &place.address) != index)
            continue;
        g_array_append_val(places, place);
        g_ptr_array_add(locks, lock);
    }
    const struct fm_statics_opts opts = {.build_id = image->raw->build_id,
                                         .build_id_size = image->raw->build_id_size,
                                         .debug_path = e->images->debug_path};
    g_autoptr(GError) error = NULL;
    if (locks->len > 0 &&
        !fm_statics_data_places(image->path, &opts, e->strings,
                                (struct fm_data_place *)(void *)places->data, places->len, &error))
        fm_notes_add(e->notes, "%s; locks in it have no names", error->message);
    for (guint i = 0; i < locks->len; i++) {
        const struct fm_data_place *place = &g_array_index(places, struct fm_data_place, i);
        struct lock *lock = locks->pdata[i];
        if (place->name == NULL || place->name[0] == '\0')
            lock->name = g_strdup_printf("%s+0x%" PRIx64, image->name, place->address);
        else if (place->offset == 0)
            lock->name = g_strdup(place->name);
        else
            lock->name = g_strdup_printf("%s+0x%" PRIx64, place->name, place->offset);
    }
}

static void emit_locks(struct emitting *e)
{
    collect_locks(e);
    for (guint i = 0; e->locks->len > 0 && i < e->images->all->len; i++)
        name_in_image(e, i);
    for (guint i = 0; i < e->locks->len; i++) {
        struct lock *lock = &g_array_index(e->locks, struct lock, i);
        lock->number = i + 1;
        fm_build_lock(e->build,
                      &(struct fm_lock){lock->name == NULL ? "" : lock->name, lock->address});
    }
}

static uint32_t lock_number(const struct emitting *e, const struct fm_raw_blame *blame)
{
    struct lock key = lock_at(e, blame);
    const struct lock *found =
        blame->lock == 0 || e->locks->len == 0
            ? NULL
            : bsearch(&key, e->locks->data, e->locks->len, sizeof(struct lock), compare_locks);
    return found == NULL ? 0 : found->number;
}

static int compare_blames(const void *a, const void *b)
{
    const struct fm_blame *ba = a, *bb = b;
    if (ba->lock != bb->lock)
        return ba->lock < bb->lock ? -1 : 1;
    return ba->holder < bb->holder ? -1 : ba->holder > bb->holder;
}

/* One for each lock and holder, though several edges were merged into this one, or into the
 * holder's. */
static void emit_blames(struct emitting *e, uint32_t csd, const struct fm_raw_wait *wait)
{
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(struct fm_blame));
    for (uint32_t at = wait->first_blame; at != 0; at = e->recording->blames[at].next) {
        const struct fm_raw_blame *raw = &e->recording->blames[at];
        struct fm_blame blame = {.csd = csd,
                                 .kind = kind_name(wait->kind),
                                 .lock = lock_number(e, raw),
                                 .waits = raw->waits,
                                 .ns = raw->ns,
                                 .longest_ns = raw->longest_ns};
        if (raw->holder != FM_RAW_NONE)
            blame.holder = e->csd_ids[fm_raw_recording_final_csd(e->recording, raw->holder)];
        g_array_append_val(all, blame);
    }
    if (all->len > 0)
        qsort(all->data, all->len, sizeof(struct fm_blame), compare_blames);
    struct fm_blame *blames = (struct fm_blame *)(void *)all->data;
    for (guint i = 0; i < all->len;) {
        struct fm_blame sum = blames[i++];
        for (; i < all->len && compare_blames(&sum, &blames[i]) == 0; i++) {
            sum.waits += blames[i].waits;
            sum.ns += blames[i].ns;
            sum.longest_ns = MAX(sum.longest_ns, blames[i].longest_ns);
        }
        fm_build_blame(e->build, &sum);
    }
}

static void emit_kinds(struct emitting *e, bool blames)
{
    for (uint32_t i = 0; i < e->recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &e->recording->csds[i];
        for (uint32_t at = csd->waits; at != 0; at = e->recording->waits[at].next) {
            const struct fm_raw_wait *wait = &e->recording->waits[at];
            if (e->csd_ids[i] == 0)
                continue;
            if (blames) {
                emit_blames(e, e->csd_ids[i], wait);
                continue;
            }
            fm_build_waiting(e->build, &(struct fm_waiting){
                                           .csd = e->csd_ids[i],
                                           .kind = kind_name(wait->kind),
                                           .calls = wait->calls,
                                           .waits = wait->waits,
                                           .ns = wait->ns,
                                           .longest_ns = wait->longest_ns,
                                           .short_ns = wait->short_ns,
                                           .cpu_quanta = wait->cpu_quanta,
                                           .left = wait->left,
                                           .open = wait->open,
                                       });
        }
    }
}

/* Wall time while recording was on. A killed thread was last seen at its last long wait: it existed
 * for as long as it ran and waited. */
static uint64_t wall_of(const struct fm_raw_thread *thread, uint64_t waited_ns, uint64_t inside_ns)
{
    uint64_t wall = fm_raw_less(fm_raw_less(thread->end_ns, thread->start_ns), thread->stopped_ns);
    uint64_t busy = waited_ns + fm_raw_less(thread->last_cpu_ns, inside_ns);
    return thread->end_known ? wall : MAX(wall, busy);
}

/* Sleep of a thread found by sampling, and its real length, as far as samples show it: by chance,
 * estimates are sometimes too low. The unexplained rest has no place: the program may have been
 * stopped, or there were short sleeps before the first sample. */
struct slept {
    uint64_t samples, found_ns, told_ns;
};

static uint64_t told_of(const struct slept *slept, const struct fm_thread_time *time)
{
    double most = (double)slept->found_ns;
    if (slept->samples > 0 && time->queue_known)
        most += 3 * most / sqrt((double)slept->samples);
    uint64_t unseen = fm_thread_time_unseen(time);
    return most < (double)unseen ? (uint64_t)most : unseen;
}

static uint32_t thread_of(const struct fm_raw_recording *recording,
                          const struct fm_raw_sleep *sleep)
{
    uint32_t csd = fm_raw_recording_final_csd(recording, sleep->csd);
    return recording->pds[recording->csds[csd].callee].thread;
}

static gint by_csd(gconstpointer a, gconstpointer b)
{
    const struct fm_sleep *sa = a, *sb = b;
    return sa->csd < sb->csd ? -1 : sa->csd > sb->csd;
}

static struct slept *find_slept(const struct fm_raw_recording *recording)
{
    struct slept *slept = g_new0(struct slept, recording->thread_count + 1u);
    for (uint32_t i = 0; i < recording->sleep_count; i++) {
        const struct fm_raw_sleep *sleep = &recording->sleeps[i];
        struct slept *of = &slept[thread_of(recording, sleep)];
        of->samples += sleep->samples;
        of->found_ns += sleep->ns;
    }
    return slept;
}

/* Edges that became one have one. */
static void emit_sleeps(struct emitting *e, const struct slept *slept)
{
    const struct fm_raw_recording *recording = e->recording;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct fm_sleep));
    for (uint32_t i = 0; i < recording->sleep_count; i++) {
        const struct fm_raw_sleep *raw = &recording->sleeps[i];
        const struct slept *of = &slept[thread_of(recording, raw)];
        struct fm_sleep sleep = {
            .csd = e->csd_ids[fm_raw_recording_final_csd(recording, raw->csd)],
            .samples = raw->samples,
            .ns = of->found_ns == 0
                      ? 0
                      : (uint64_t)((double)of->told_ns * (double)raw->ns / (double)of->found_ns),
        };
        if (sleep.csd != 0 && sleep.ns != 0 && !raw->left_out)
            g_array_append_val(all, sleep);
    }
    g_array_sort(all, by_csd);
    for (guint i = 0; i < all->len;) {
        struct fm_sleep sum = g_array_index(all, struct fm_sleep, i);
        for (i++; i < all->len && g_array_index(all, struct fm_sleep, i).csd == sum.csd; i++) {
            sum.samples += g_array_index(all, struct fm_sleep, i).samples;
            sum.ns += g_array_index(all, struct fm_sleep, i).ns;
        }
        fm_build_sleep(e->build, &sum);
    }
}

/* Sums of waits by thread: their csds are the thread's own. Time in the run queue after a wake-up
 * is part of the wait, and the thread's other queue time is separate: in a sum of several threads
 * it is not known whose wait contains it. */
static void emit_times(struct emitting *e, const char *const *thread_names, struct slept *slept)
{
    const struct fm_raw_recording *recording = e->recording;
    g_autofree uint64_t *waited = g_new0(uint64_t, recording->thread_count + 1u);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &recording->csds[i];
        uint32_t thread = recording->pds[csd->callee].thread;
        for (uint32_t at = csd->waits; at != 0; at = recording->waits[at].next)
            waited[thread] += recording->waits[at].ns;
    }
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        const struct fm_raw_thread *thread = &recording->threads[i];
        if (thread->before)
            continue;
        uint64_t inside_ns = thread->wait_quanta * recording->header.quantum_ns;
        struct fm_thread_time time = {
            .name = thread_names[i],
            .wall_ns = wall_of(thread, waited[i], inside_ns),
            .cpu_ns = thread->last_cpu_ns,
            .wait_ns = waited[i],
            .inside_ns = inside_ns,
            .queued_ns = thread->queued_ns,
            .queue_known = thread->queue_known,
        };
        time.queued_ns = fm_thread_time_queued(&time);
        fm_build_thread_time(e->build, &time);
        slept[i].told_ns = told_of(&slept[i], &time);
    }
}

void fm_emit_waits(const struct fm_raw_recording *recording, const struct fm_images *images,
                   const uint32_t *csd_ids, const char *const *thread_names, struct fm_build *build,
                   struct fm_finish_notes *notes)
{
    g_return_if_fail(images->recording == recording && csd_ids != NULL && thread_names != NULL);
    struct emitting e = {
        .recording = recording,
        .images = images,
        .csd_ids = csd_ids,
        .build = build,
        .notes = notes,
        .locks = g_array_new(FALSE, TRUE, sizeof(struct lock)),
        .strings = g_string_chunk_new(1024),
    };
    g_array_set_clear_func(e.locks, free_lock);
    if (recording->wait_count > 1) {
        emit_kinds(&e, false);
        emit_locks(&e);
        emit_kinds(&e, true);
    }
    g_autofree struct slept *slept = find_slept(recording);
    emit_times(&e, thread_names, slept);
    emit_sleeps(&e, slept);
    g_array_unref(e.locks);
    g_string_chunk_free(e.strings);
}
