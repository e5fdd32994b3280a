/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/read_job.h"

#include <string.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "profile/file/read_internal.h"

#define NODES_A_REPORT 65536
/* Interval at which pages of the file that have been read are released. */
#define RELEASE_BYTES ((size_t)16 << 20)

enum phase {
    PHASE_HEADER,
    PHASE_NODES,
    PHASE_ORDER_SLOTS, /* only when the pds came in another order */
    PHASE_ORDER_COUNTS,
    PHASE_ARRAYS,
    PHASE_RESOLVE,
    PHASE_FIND, /* only when resolving found a fault */
    PHASE_DONE,
};

struct fm_profile_job {
    struct fm_profile_reading reading;
    struct fm_mapped_file *file; /* NULL when read from memory */
    enum phase phase;
    size_t release_at;
    uint32_t cursor;          /* pd, while ordering */
    uint64_t first;           /* index of its first number */
    uint32_t *ordered_slots;  /* while ordering */
    struct fm_column ordered; /* likewise for the counts */
    struct fm_resolving resolving;
    struct fm_fault fault;
    struct fm_profile_reading again; /* PHASE_FIND */
    bool header_is_read;
};

static void reading_clear(struct fm_profile_reading *reading)
{
    fm_prefault_free(reading->prefault); /* before the arrays that it prefaults */
    g_free(reading->slots.items);
    g_free(reading->multi.items);
    g_free(reading->css_of_ps.items);
    g_free(reading->pd_slot_count);
    g_free(reading->pd_point_count);
    fm_column_done(&reading->counts);
    if (reading->points)
        g_array_unref(reading->points);
    fm_profile_free(reading->profile);
}

static void begin_phase(struct fm_profile_job *job, enum phase phase)
{
    job->phase = phase;
    job->cursor = 0;
    job->first = 0;
}

static bool step_header(struct fm_profile_job *job, GError **error)
{
    if (!fm_read_header(&job->reading, error) || !fm_read_alloc_tables(&job->reading, error))
        return false;
    job->header_is_read = true;
    begin_phase(job, PHASE_NODES);
    return true;
}

static bool step_nodes(struct fm_profile_job *job, uint32_t budget, GError **error)
{
    struct fm_reader *in = &job->reading.in;
    bool end = false;
    for (; budget > 0 && !end; budget--) {
        if (!fm_read_node(&job->reading, &end, error))
            return false;
    }
    fm_read_prefault(&job->reading);
    if (job->file && fm_reader_offset(in) >= job->release_at) {
        fm_mapped_file_release_before(job->file, fm_reader_offset(in));
        job->release_at = fm_reader_offset(in) + RELEASE_BYTES;
    }
    if (end && job->reading.profile->flavour == FM_FLAVOUR_C &&
        !fm_read_facts(&job->reading, error))
        return false;
    if (end) {
        g_clear_pointer(&job->reading.prefault, fm_prefault_free);
        begin_phase(job, job->reading.in_order ? PHASE_ARRAYS : PHASE_ORDER_SLOTS);
    }
    return true;
}

/* Makes the slots contiguous in the order of ids. */
static bool step_order_slots(struct fm_profile_job *job, uint32_t budget, GError **error)
{
    struct fm_profile_reading *reading = &job->reading;
    struct fm_profile *profile = reading->profile;
    if (job->cursor == 0)
        job->ordered_slots =
            fm_array_alloc(reading->in.name, reading->slots.count, sizeof(uint32_t), error);
    if (!job->ordered_slots)
        return false;
    for (; budget > 0 && job->cursor < profile->pd_count; budget--) {
        uint32_t pd = ++job->cursor;
        uint32_t count = reading->pd_slot_count[pd];
        if (count > 0)
            memcpy(job->ordered_slots + job->first,
                   reading->slots.items + profile->pd_slot_first[pd], count * sizeof(uint32_t));
        profile->pd_slot_first[pd] = (uint32_t)job->first;
        job->first += count;
    }
    if (job->cursor < profile->pd_count)
        return true;
    g_free(reading->slots.items);
    reading->slots.items = g_steal_pointer(&job->ordered_slots);
    reading->slots.capacity = reading->slots.count;
    begin_phase(job, PHASE_ORDER_COUNTS);
    return true;
}

/* Orders the coverage counts. */
static bool step_order_counts(struct fm_profile_job *job, uint32_t budget, GError **error)
{
    struct fm_profile_reading *reading = &job->reading;
    struct fm_profile *profile = reading->profile;
    uint64_t *first = profile->pd_point_first;
    uint32_t end = first != NULL ? profile->pd_count : 0;
    for (; first != NULL && budget > 0 && job->cursor < end; budget--) {
        uint32_t pd = ++job->cursor;
        for (uint32_t i = 0; i < reading->pd_point_count[pd]; i++) {
            uint64_t count = fm_column_get(&reading->counts, first[pd] + i);
            if (!fm_column_set(&job->ordered, reading->counts_used, job->first + i, count))
                return fm_read_no_memory(reading, error);
        }
        first[pd] = job->first;
        job->first += reading->pd_point_count[pd];
    }
    if (job->cursor < end)
        return true;
    fm_column_done(&reading->counts);
    reading->counts = job->ordered;
    job->ordered = (struct fm_column){0};
    begin_phase(job, PHASE_ARRAYS);
    return true;
}

/* Hands the arrays that grew while reading to the profile. */
static void step_arrays(struct fm_profile_job *job)
{
    struct fm_profile_reading *reading = &job->reading;
    struct fm_profile *profile = reading->profile;
    /* Pds that are missing have none; the next check names them. */
    uint32_t end = reading->in_order ? reading->last_pd + 1 : profile->pd_count + 1;
    for (uint64_t pd = end; pd <= (uint64_t)profile->pd_count + 1; pd++) {
        profile->pd_slot_first[pd] = (uint32_t)reading->slots.count;
        if (profile->pd_point_first)
            profile->pd_point_first[pd] = reading->counts_used;
    }
    profile->slots = fm_u32s_steal(&reading->slots);
    profile->multi = fm_u32s_steal(&reading->multi);
    profile->css_of_ps = fm_u32s_steal(&reading->css_of_ps);
    if (reading->in_order && reading->counts.width != 0)
        reading->counts.u32 =
            g_realloc(reading->counts.u32, MAX(reading->counts_used, 1) * reading->counts.width);
    profile->pd_points = reading->counts;
    reading->counts = (struct fm_column){0};
    profile->points =
        (struct fm_coverage_point *)(void *)g_array_free(g_steal_pointer(&reading->points), FALSE);
    g_clear_pointer(&reading->pd_slot_count, g_free);
    g_clear_pointer(&reading->pd_point_count, g_free);
    begin_phase(job, PHASE_RESOLVE);
}

static bool fail_at(struct fm_profile_job *job, const uint8_t *at, GError **error)
{
    fm_reader_set_error(&job->reading.in, at, job->fault.code, error, "%s", job->fault.text);
    return false;
}

static bool step_resolve(struct fm_profile_job *job, uint32_t budget, GError **error)
{
    switch (fm_profile_resolve_step(job->reading.profile, &job->resolving, budget, &job->fault)) {
    case FM_JOB_MORE:
        return true;
    case FM_JOB_DONE:
        begin_phase(job, PHASE_DONE);
        return true;
    case FM_JOB_FAILED:
        break;
    }
    if (job->fault.token == FM_TOKEN_END)
        return fail_at(job, job->reading.in.at, error);
    begin_phase(job, PHASE_FIND);
    return true;
}

/* Reads again, up to the node that the checks found wrong, to report its offset. */
static bool step_find(struct fm_profile_job *job, uint32_t budget, GError **error)
{
    struct fm_profile_reading *again = &job->again;
    bool end = false;
    if (!again->profile) {
        again->in = job->reading.in;
        again->in.at = again->in.start;
        again->profile = fm_profile_alloc();
        if (!fm_read_header(again, NULL) || !fm_read_alloc_tables(again, NULL))
            return fail_at(job, job->reading.in.at, error);
    }
    for (; budget > 0; budget--) {
        if (!fm_read_node(again, &end, NULL) || end)
            return fail_at(job, job->reading.in.at, error);
        if (again->token == job->fault.token && again->id == job->fault.id)
            return fail_at(job, again->node, error);
    }
    return true;
}

static bool step(struct fm_profile_job *job, uint32_t budget, GError **error)
{
    switch (job->phase) {
    case PHASE_HEADER:
        return step_header(job, error);
    case PHASE_NODES:
        return step_nodes(job, budget, error);
    case PHASE_ORDER_SLOTS:
        return step_order_slots(job, budget, error);
    case PHASE_ORDER_COUNTS:
        return step_order_counts(job, budget, error);
    case PHASE_ARRAYS:
        step_arrays(job);
        return true;
    case PHASE_RESOLVE:
        return step_resolve(job, budget, error);
    case PHASE_FIND:
        return step_find(job, budget, error);
    case PHASE_DONE:
        break;
    }
    return true;
}

/* A file that shrank reads as zeros: say that instead of blaming the zeros. */
static bool check_file(const struct fm_profile_job *job, GError **error)
{
    GError *shrunk = NULL;
    if (!job->file || fm_mapped_file_check(job->file, &shrunk))
        return true;
    g_clear_error(error);
    g_propagate_error(error, shrunk);
    return false;
}

enum fm_job_state fm_profile_job_step(struct fm_profile_job *job, uint32_t nodes, GError **error)
{
    bool done = step(job, MAX(nodes, 1), error);
    if (!done || job->phase == PHASE_DONE)
        done = check_file(job, error) && done;
    return !done ? FM_JOB_FAILED : job->phase == PHASE_DONE ? FM_JOB_DONE : FM_JOB_MORE;
}

double fm_profile_job_fraction(const struct fm_profile_job *job)
{
    /* Share of reading the nodes in the whole, measured. */
    const double nodes = 0.85;
    const struct fm_reader *in = &job->reading.in;
    if (job->phase <= PHASE_NODES)
        return in->end == in->start
                   ? 0
                   : nodes * (double)(in->at - in->start) / (double)(in->end - in->start);
    if (job->phase == PHASE_RESOLVE)
        return nodes +
               (1 - nodes) * fm_profile_resolve_fraction(job->reading.profile, &job->resolving);
    return job->phase > PHASE_RESOLVE ? 1 : nodes;
}

const struct fm_profile *fm_profile_job_header(const struct fm_profile_job *job)
{
    return job->header_is_read ? job->reading.profile : NULL;
}

struct fm_profile *fm_profile_job_take(struct fm_profile_job *job)
{
    g_return_val_if_fail(job != NULL, NULL);
    return g_steal_pointer(&job->reading.profile);
}

/* From memory, which must outlive the job; name is used in messages. */
static struct fm_profile_job *job_new_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    g_return_val_if_fail(name != NULL && (bytes != NULL || size == 0), NULL);
    static const uint8_t nothing[1];
    const uint8_t *start = bytes ? bytes : nothing;
    struct fm_profile_job *job = g_new0(struct fm_profile_job, 1);
    job->reading.in =
        (struct fm_reader){.start = start, .at = start, .end = start + size, .name = name};
    job->reading.profile = fm_profile_alloc();
    job->release_at = RELEASE_BYTES;
    return job;
}

struct fm_profile_job *fm_profile_job_new_file(struct fm_mapped_file *file)
{
    struct fm_profile_job *job = job_new_bytes(file->path, file->bytes, file->size);
    job->file = file;
    return job;
}

void fm_profile_job_set_beside(struct fm_profile_job *job)
{
    g_return_if_fail(job != NULL && !job->header_is_read);
    if (job->reading.prefault == NULL)
        job->reading.prefault = fm_prefault_new();
    job->resolving.beside = true;
}

void fm_profile_job_ask_for(struct fm_profile_job *job, void *array, size_t bytes)
{
    g_return_if_fail(job != NULL);
    if (job->reading.prefault != NULL)
        fm_prefault_add_later(job->reading.prefault, array, bytes);
}

/* Opens the file; FM_ERROR_IO when that cannot be done. */
static bool job_new(const char *path, struct fm_profile_job **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    struct fm_mapped_file *file;
    if (!fm_mapped_file_open(path, &file, error))
        return false;
    *ret = fm_profile_job_new_file(file);
    return true;
}

void fm_profile_job_free(struct fm_profile_job *job)
{
    if (!job)
        return;
    fm_resolving_done(&job->resolving); /* before the profile that it reads */
    reading_clear(&job->reading);
    reading_clear(&job->again);
    g_free(job->ordered_slots);
    fm_column_done(&job->ordered);
    g_free(job->fault.text);
    fm_mapped_file_free(job->file);
    g_free(job);
}

static bool run(struct fm_profile_job *job, const struct fm_progress *progress,
                struct fm_profile **ret, GError **error)
{
    enum fm_job_state state = FM_JOB_MORE;
    while (state == FM_JOB_MORE) {
        state = fm_profile_job_step(job, NODES_A_REPORT, error);
        const struct fm_reader *in = &job->reading.in;
        if (state == FM_JOB_MORE && job->phase == PHASE_NODES && progress && progress->report &&
            !progress->report(progress->user, "reading", fm_reader_offset(in),
                              (uint64_t)(in->end - in->start))) {
            g_set_error(error, FM_ERROR, FM_ERROR_CANCELLED, "%s: reading was cancelled", in->name);
            state = FM_JOB_FAILED;
        }
    }
    if (state == FM_JOB_DONE)
        *ret = fm_profile_job_take(job);
    fm_profile_job_free(job);
    return state == FM_JOB_DONE;
}

bool fm_profile_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                           const struct fm_progress *progress, struct fm_profile **ret,
                           GError **error)
{
    g_return_val_if_fail(ret != NULL, false);
    return run(job_new_bytes(name, bytes, size), progress, ret, error);
}

bool fm_profile_read(const char *path, const struct fm_progress *progress, struct fm_profile **ret,
                     GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    struct fm_profile_job *job;
    return job_new(path, &job, error) && run(job, progress, ret, error);
}
