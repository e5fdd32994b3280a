/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that were open when the program ended, or when it was read. */
#include "record/raw/waits.h"

static uint64_t end_of(const struct fm_raw_recording *recording)
{
    const struct fm_rec_header *header = &recording->header;
    if (header->end_monotonic_ns != 0)
        return header->end_monotonic_ns;
    if (fm_raw_recording_is_live(recording))
        return (uint64_t)g_get_monotonic_time() * 1000;
    uint64_t latest = header->wait_latest[header->wait_latest_at & 1].ns;
    for (uint32_t i = 0; i < recording->thread_count; i++)
        latest = MAX(latest, recording->threads[i].end_ns);
    return latest;
}

/* Adds the open wait of a thread at the end of the program, or at the time of reading, as `count`
 * waits, up to a stop that lasts. Earlier stops are already subtracted. */
static void close_wait(struct fm_raw_recording *recording, const struct fm_raw_thread *thread,
                       uint64_t end, uint32_t count)
{
    if (thread->stop_since_ns != 0)
        end = MIN(end, thread->stop_since_ns);
    uint64_t ns = fm_raw_less(end, thread->open_since_ns);
    struct fm_raw_wait wait = {.kind = thread->open_kind,
                               .calls = count,
                               .waits = count,
                               .ns = ns,
                               .longest_ns = ns,
                               .open = count};
    GArray *waits = recording->storage->waits, *blames = recording->storage->blames;
    if (wait.kind == FM_REC_WAIT_MUTEX || wait.kind == FM_REC_WAIT_RWLOCK) {
        struct fm_raw_blame blame = {.holder = thread->open_holder,
                                     .lock = thread->open_object,
                                     .epoch = recording->header.module_epoch,
                                     .waits = count,
                                     .ns = ns,
                                     .longest_ns = ns};
        wait.first_blame = blames->len;
        g_array_append_val(blames, blame);
    }
    uint32_t index = waits->len;
    g_array_append_val(waits, wait);
    fm_raw_recording_publish(recording);
    fm_raw_waits_add(recording, &recording->csds[thread->open_csd].waits, index);
}

void fm_raw_recording_close_waits(struct fm_raw_recording *recording, uint64_t ended_ns)
{
    uint64_t end = MAX(end_of(recording), recording->header.start_monotonic_ns);
    if (recording->header.end_monotonic_ns == 0 && ended_ns > end)
        end = ended_ns;
    bool known = recording->header.end_monotonic_ns != 0 || ended_ns != 0 ||
                 fm_raw_recording_is_live(recording);
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        struct fm_raw_thread *thread = &recording->threads[i];
        thread->end_known = known || thread->end_ns != 0;
        if (thread->end_ns == 0)
            thread->end_ns = end;
        if (thread->stop_since_ns != 0)
            thread->stopped_ns += fm_raw_less(thread->end_ns, thread->stop_since_ns);
        if (thread->open_kind != 0)
            close_wait(recording, thread, thread->end_ns, 1);
        thread->stop_since_ns = 0;
    }
}

void fm_raw_recording_wait_until(struct fm_raw_recording *recording, uint64_t ns)
{
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        struct fm_raw_thread *thread = &recording->threads[i];
        if (thread->stop_since_ns != 0)
            thread->stopped_ns += fm_raw_less(ns, thread->stop_since_ns);
        if (thread->open_kind != 0)
            close_wait(recording, thread, ns, 0);
    }
}
