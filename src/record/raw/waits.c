/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/waits.h"

/* Numbers of the wait's clock as nanoseconds. */
static double ns_per_tick(const struct fm_rec_header *header)
{
    const struct fm_rec_moment *first = &header->wait_first;
    const struct fm_rec_moment *last = &header->wait_latest[header->wait_latest_at & 1];
    if (header->wait_clock == FM_REC_CLOCK_MONOTONIC)
        return 1;
    if (last->ticks <= first->ticks || last->ns <= first->ns)
        return 0;
    return (double)(last->ns - first->ns) / (double)(last->ticks - first->ticks);
}

static uint64_t as_ns(const struct fm_rec_header *header, uint64_t ticks)
{
    double ns = (double)ticks * ns_per_tick(header) + 0.5;
    return ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* As above for a moment, in CLOCK_MONOTONIC. */
static uint64_t moment_as_ns(const struct fm_rec_header *header, uint64_t ticks)
{
    const struct fm_rec_moment *first = &header->wait_first;
    return ticks >= first->ticks ? first->ns + as_ns(header, ticks - first->ticks) : first->ns;
}

static bool read_blames(struct fm_raw_recording_storage *storage,
                        const struct fm_rec_header *header, const struct fm_raw_bytes *bytes,
                        uint32_t first, uint32_t *seen, uint32_t *ret, GError **error)
{
    for (uint32_t ref = first; ref != 0;) {
        const struct fm_rec_blame *blame = fm_raw_bytes_at(bytes, ref, sizeof *blame);
        if (blame == NULL || seen[ref] != 0)
            return fm_raw_bytes_fail(bytes, ref, "no waits for a lock",
                                     "the next of a context that waited", error);
        fm_raw_mark(storage, seen, ref);
        struct fm_raw_blame raw = {
            .next = *ret,
            .holder = blame->holder, /* a reference, until all are known */
            .lock = blame->lock,
            .epoch = blame->epoch,
            .waits = blame->waits,
            .ns = as_ns(header, blame->ticks),
            .longest_ns = as_ns(header, blame->longest),
        };
        *ret = storage->blames->len;
        g_array_append_val(storage->blames, raw);
        ref = blame->next;
    }
    return true;
}

bool fm_raw_waits_read(struct fm_raw_recording_storage *storage, const struct fm_rec_header *header,
                       const struct fm_raw_bytes *bytes, uint64_t first, uint32_t *seen,
                       uint32_t *ret_first, GError **error)
{
    for (uint64_t at = first; at != 0;) {
        uint32_t ref = (uint32_t)at;
        const struct fm_rec_wait *wait =
            at > UINT32_MAX ? NULL : fm_raw_bytes_at(bytes, ref, sizeof *wait);
        if (wait == NULL || seen[ref] != 0)
            return fm_raw_bytes_fail(bytes, ref, "no waits", "the next of a call edge", error);
        if (wait->kind == 0 || wait->kind >= FM_REC_WAIT_KINDS_END)
            return fm_raw_bytes_fail(bytes, ref, "waits of a kind that is not known",
                                     "waits of a call edge", error);
        fm_raw_mark(storage, seen, ref);
        struct fm_raw_wait raw = {
            .next = *ret_first,
            .kind = wait->kind,
            .calls = wait->calls,
            .waits = wait->waits,
            .ns = as_ns(header, wait->ticks),
            .longest_ns = as_ns(header, wait->longest),
            .short_ns = as_ns(header, wait->short_ticks),
            .cpu_quanta = wait->cpu_quanta,
            .left = wait->left,
        };
        if (!read_blames(storage, header, bytes, wait->first_blame, seen, &raw.first_blame, error))
            return false;
        *ret_first = storage->waits->len;
        g_array_append_val(storage->waits, raw);
        at = wait->next;
    }
    return true;
}

void fm_raw_waits_of_thread(const struct fm_rec_header *header, const struct fm_rec_thread *thread,
                            struct fm_raw_thread *raw)
{
    /* No thread always gets a CPU at once; and a reading at its beginning shows nothing. */
    raw->queue_known = thread->queued_ns != 0 && thread->cpu_last_ns != 0;
    raw->queued_ns = thread->queued_ns > thread->queued_first_ns
                         ? thread->queued_ns - thread->queued_first_ns
                         : 0;
    raw->last_cpu_ns = MAX(thread->cpu_last_ns, thread->cpu_ns);
    uint64_t stopped_cpu = thread->stopped_cpu_ns;
    if (thread->stop_since_ns != 0)
        stopped_cpu += fm_raw_less(raw->last_cpu_ns, thread->stop_cpu_ns);
    raw->last_cpu_ns = fm_raw_less(raw->last_cpu_ns, stopped_cpu);
    raw->stopped_ns = thread->stopped_ns;
    raw->stop_since_ns = thread->stop_since_ns;
    raw->wait_quanta = thread->wait_quanta;
    if (thread->wait_since == 0 || thread->wait_kind == 0 ||
        thread->wait_kind >= FM_REC_WAIT_KINDS_END)
        return;
    raw->open_kind = thread->wait_kind;
    raw->open_since_ns =
        moment_as_ns(header, thread->wait_since) + as_ns(header, thread->wait_away);
    raw->open_object = thread->wait_object;
    raw->open_csd = thread->wait_csd;
    raw->open_holder = thread->wait_holder;
}

static uint32_t index_of(uint32_t ref, const uint32_t *seen, size_t references, uint32_t mark)
{
    bool is_csd = ref != 0 && ref < references && (seen[ref] & mark) != 0 && seen[ref] != mark;
    return is_csd ? (seen[ref] & ~mark) - 1 : FM_RAW_NONE;
}

bool fm_raw_sleeps_read(struct fm_raw_recording_storage *storage,
                        const struct fm_rec_header *header, const struct fm_raw_bytes *bytes,
                        const uint32_t *seen, size_t references, uint32_t mark, GError **error)
{
    uint32_t ref = header->version > 2 ? header->sleeps : 0;
    const struct fm_rec_sleeps *sleeps =
        ref != 0 ? fm_raw_bytes_at(bytes, ref, sizeof *sleeps) : NULL;
    if (ref != 0 && (sleeps == NULL || sleeps->count > FM_REC_SLEPT_MAX))
        return fm_raw_bytes_fail(bytes, ref, sleeps == NULL ? "outside the file" : "too many",
                                 "places of sleep", error);
    for (uint32_t i = 0; sleeps != NULL && i < sleeps->count; i++) {
        const struct fm_rec_slept *slept = &sleeps->of[i];
        struct fm_raw_sleep raw = {.csd = index_of(slept->csd, seen, references, mark),
                                   .samples = slept->samples,
                                   .ns = slept->ns};
        if (raw.csd != FM_RAW_NONE && raw.samples != 0)
            g_array_append_val(storage->sleeps, raw);
    }
    return true;
}

void fm_raw_waits_resolve(struct fm_raw_recording_storage *storage, const uint32_t *seen,
                          size_t references, uint32_t mark)
{
    for (guint i = 1; i < storage->blames->len; i++) {
        struct fm_raw_blame *blame = &g_array_index(storage->blames, struct fm_raw_blame, i);
        blame->holder = index_of(blame->holder, seen, references, mark);
    }
    for (guint i = 0; i < storage->threads->len; i++) {
        struct fm_raw_thread *thread = &g_array_index(storage->threads, struct fm_raw_thread, i);
        thread->open_csd = index_of(thread->open_csd, seen, references, mark);
        thread->open_holder = index_of(thread->open_holder, seen, references, mark);
        if (thread->open_csd == FM_RAW_NONE)
            thread->open_kind = 0;
    }
}

void fm_raw_waits_add(struct fm_raw_recording *recording, uint32_t *into, uint32_t from)
{
    while (from != 0) {
        struct fm_raw_wait *more = &recording->waits[from], *sum = NULL;
        uint32_t next = more->next;
        for (uint32_t at = *into; at != 0 && sum == NULL; at = recording->waits[at].next) {
            if (recording->waits[at].kind == more->kind)
                sum = &recording->waits[at];
        }
        if (sum == NULL) {
            more->next = *into;
            *into = from;
        } else {
            sum->calls += more->calls;
            sum->waits += more->waits;
            sum->ns += more->ns;
            sum->longest_ns = MAX(sum->longest_ns, more->longest_ns);
            sum->short_ns += more->short_ns;
            sum->cpu_quanta += more->cpu_quanta;
            sum->left += more->left;
            sum->open += more->open;
            uint32_t *end = &more->first_blame;
            while (*end != 0)
                end = &recording->blames[*end].next;
            *end = sum->first_blame;
            sum->first_blame = more->first_blame;
        }
        from = next;
    }
}

void fm_raw_recording_move_waits(struct fm_raw_recording *recording, struct fm_raw_csd *to,
                                 struct fm_raw_csd *from)
{
    fm_raw_waits_add(recording, &to->waits, from->waits);
    from->waits = 0;
}
