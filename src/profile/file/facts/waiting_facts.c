/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of waiting in the file: read, written. */
#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

/* --- reading --- */

static bool read_csd(struct fm_profile_reading *reading, const char *what, bool may_be_none,
                     uint32_t *ret, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    if (!fm_reader_u32(in, what, ret, error))
        return false;
    if ((*ret != 0 || may_be_none) && *ret <= reading->profile->csd_count)
        return true;
    return fm_reader_fail(in, at, FM_ERROR_FORMAT, error, "%s is %u, expected %d to %u", what, *ret,
                          may_be_none ? 0 : 1, reading->profile->csd_count);
}

static bool read_kind(struct fm_profile_reading *reading, const char **ret, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    if (!fm_read_string(reading, "kind of a wait", ret, error))
        return false;
    if (fm_measure_name_is_valid(*ret))
        return true;
    return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                          "kind of a wait is no word of a-z, 0-9 and _ of at most 32 letters");
}

bool fm_read_waiting(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_waiting w;
    if (!read_csd(reading, "context that waited", false, &w.csd, error) ||
        !read_kind(reading, &w.kind, error) ||
        !fm_reader_num(in, "calls that can wait", &w.calls, error) ||
        !fm_reader_num(in, "waits", &w.waits, error) ||
        !fm_reader_num(in, "time of waits", &w.ns, error) ||
        !fm_reader_num(in, "longest wait", &w.longest_ns, error) ||
        !fm_reader_num(in, "time of short calls", &w.short_ns, error) ||
        !fm_reader_num(in, "quanta in waits", &w.cpu_quanta, error) ||
        !fm_reader_num(in, "waits left", &w.left, error) ||
        !fm_reader_num(in, "waits open", &w.open, error))
        return false;
    fm_wait_info_add(&reading->profile->run_info.wait_info, &w);
    return true;
}

bool fm_read_lock(struct fm_profile_reading *reading, GError **error)
{
    struct fm_lock lock;
    if (!fm_read_string(reading, "name of a lock", &lock.name, error) ||
        !fm_reader_num(&reading->in, "address of a lock", &lock.address, error))
        return false;
    fm_wait_info_add_lock(&reading->profile->run_info.wait_info, &lock);
    return true;
}

bool fm_read_blame(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_wait_info *info = &reading->profile->run_info.wait_info;
    struct fm_blame blame;
    if (!read_csd(reading, "context that waited for a lock", false, &blame.csd, error) ||
        !read_kind(reading, &blame.kind, error))
        return false;
    const uint8_t *at = in->at;
    if (!fm_reader_u32(in, "number of a lock", &blame.lock, error))
        return false;
    if (blame.lock > info->lock_count)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "number of a lock is %u, expected 0 to %u", blame.lock,
                              info->lock_count);
    if (!read_csd(reading, "context that held a lock", true, &blame.holder, error) ||
        !fm_reader_num(in, "waits for a lock", &blame.waits, error) ||
        !fm_reader_num(in, "time of waits for a lock", &blame.ns, error) ||
        !fm_reader_num(in, "longest wait for a lock", &blame.longest_ns, error))
        return false;
    fm_wait_info_add_blame(info, &blame);
    return true;
}

bool fm_read_thread_time(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_thread_time time;
    uint8_t known;
    if (!fm_read_string(reading, "name of a thread", &time.name, error) ||
        !fm_reader_num(in, "time of a thread", &time.wall_ns, error) ||
        !fm_reader_num(in, "CPU time of a thread", &time.cpu_ns, error) ||
        !fm_reader_num(in, "waits of a thread", &time.wait_ns, error) ||
        !fm_reader_num(in, "CPU time in waits of a thread", &time.inside_ns, error) ||
        !fm_reader_num(in, "time without a processor", &time.queued_ns, error))
        return false;
    const uint8_t *at = in->at;
    if (!fm_reader_byte(in, "whether that is known", &known, error))
        return false;
    if (known > 1)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error, "byte %u, expected 0 or 1", known);
    time.queue_known = known == 1;
    fm_wait_info_add_thread(&reading->profile->run_info.wait_info, &time);
    return true;
}

bool fm_read_sleep(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_sleep sleep;
    if (!read_csd(reading, "context that slept", false, &sleep.csd, error))
        return false;
    const uint8_t *at = in->at;
    if (!fm_reader_num(in, "samples of sleep", &sleep.samples, error) ||
        !fm_reader_num(in, "time asleep", &sleep.ns, error))
        return false;
    if (sleep.samples == 0)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "0 samples of sleep, expected at least 1");
    fm_wait_info_add_sleep(&reading->profile->run_info.wait_info, &sleep);
    return true;
}

/* --- writing --- */

void fm_encode_wait_info(struct fm_writer *writer, const struct fm_wait_info *info)
{
    for (uint32_t i = 0; i < info->waiting_count; i++) {
        const struct fm_waiting *w = &info->waiting[i];
        const uint64_t numbers[] = {w->calls,    w->waits,      w->ns,   w->longest_ns,
                                    w->short_ns, w->cpu_quanta, w->left, w->open};
        fm_writer_byte(writer, FM_FACT_WAITING);
        fm_writer_num(writer, w->csd);
        fm_writer_string(writer, w->kind);
        for (size_t j = 0; j < G_N_ELEMENTS(numbers); j++)
            fm_writer_num(writer, numbers[j]);
    }
    for (uint32_t i = 0; i < info->lock_count; i++) {
        fm_writer_byte(writer, FM_FACT_LOCK);
        fm_writer_string(writer, info->locks[i].name);
        fm_writer_num(writer, info->locks[i].address);
    }
    for (uint32_t i = 0; i < info->blame_count; i++) {
        const struct fm_blame *blame = &info->blames[i];
        fm_writer_byte(writer, FM_FACT_BLAME);
        fm_writer_num(writer, blame->csd);
        fm_writer_string(writer, blame->kind);
        fm_writer_num(writer, blame->lock);
        fm_writer_num(writer, blame->holder);
        fm_writer_num(writer, blame->waits);
        fm_writer_num(writer, blame->ns);
        fm_writer_num(writer, blame->longest_ns);
    }
    for (uint32_t i = 0; i < info->thread_count; i++) {
        const struct fm_thread_time *time = &info->threads[i];
        fm_writer_byte(writer, FM_FACT_THREAD_TIME);
        fm_writer_string(writer, time->name);
        fm_writer_num(writer, time->wall_ns);
        fm_writer_num(writer, time->cpu_ns);
        fm_writer_num(writer, time->wait_ns);
        fm_writer_num(writer, time->inside_ns);
        fm_writer_num(writer, time->queued_ns);
        fm_writer_byte(writer, time->queue_known);
    }
    for (uint32_t i = 0; i < info->sleep_count; i++) {
        fm_writer_byte(writer, FM_FACT_SLEEP);
        fm_writer_num(writer, info->sleeps[i].csd);
        fm_writer_num(writer, info->sleeps[i].samples);
        fm_writer_num(writer, info->sleeps[i].ns);
    }
}
