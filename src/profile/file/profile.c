/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/deep_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "profile/file/facts/facts.h"

const char *const fm_node_names[FM_TOKENS] = {
    [FM_TOKEN_END] = "end of data",       [FM_TOKEN_CSS] = "call site static",
    [FM_TOKEN_CSD] = "call site dynamic", [FM_TOKEN_PS] = "proc static",
    [FM_TOKEN_PD] = "proc dynamic",
};

const uint32_t fm_mask_bits[FM_MEASURES_MAX] = {
    0x0002, 0x0004, 0x0040, 0x0080, 0x0100, 0x0008, 0x0010, 0x0020,
    0x0200, 0x0400, 0x0800, 0x1000, 0x2000, 0x4000, 0x8000, 0x10000,
};

bool fm_measure_name_is_valid(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    size_t length = strlen(name);
    return length >= 1 && length <= 32 && strchr(letters, name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

uint64_t fm_flags_make(unsigned word_size, bool canonical, enum fm_coverage_kind coverage)
{
    return (word_size & FM_FLAGS_WORD) | (uint64_t)canonical << FM_FLAGS_CANONICAL_SHIFT |
           (uint64_t)coverage << FM_FLAGS_COVERAGE_SHIFT;
}

void fm_run_info_add_mark(struct fm_profile *profile, const struct fm_mark *mark)
{
    g_return_if_fail(mark != NULL && mark->name != NULL);
    struct fm_run_info *run_info = &profile->run_info;
    run_info->marks = g_renew(struct fm_mark, run_info->marks, run_info->mark_count + 1u);
    run_info->marks[run_info->mark_count++] = *mark;
}

void fm_run_info_add_note(struct fm_profile *profile, const char *note)
{
    g_return_if_fail(note != NULL);
    struct fm_run_info *run_info = &profile->run_info;
    run_info->notes = g_renew(const char *, run_info->notes, run_info->note_count + 1u);
    run_info->notes[run_info->note_count++] = note;
}

void fm_run_info_add_part(struct fm_profile *profile, const struct fm_part *part)
{
    g_return_if_fail(part != NULL && part->process.command != NULL && part->process.folder != NULL);
    struct fm_run_info *run_info = &profile->run_info;
    run_info->parts = g_renew(struct fm_part, run_info->parts, run_info->part_count + 1u);
    run_info->parts[run_info->part_count++] = *part;
}

void fm_run_info_add_depths(struct fm_profile *profile, const struct fm_depths *depths)
{
    g_return_if_fail(depths != NULL);
    struct fm_run_info *run_info = &profile->run_info;
    uint32_t count = run_info->depths_count++;
    if ((count & (count - 1)) == 0)
        run_info->depths = g_renew(struct fm_depths, run_info->depths, count == 0 ? 1 : 2 * count);
    run_info->depths[count] = *depths;
}

static int compare_depths(const void *key, const void *item)
{
    uint32_t pd = *(const uint32_t *)key, of = ((const struct fm_depths *)item)->pd;
    return pd < of ? -1 : pd > of;
}

const char *fm_profile_tick_words(const struct fm_profile *profile)
{
    const struct fm_measure *quanta = &profile->measures[FM_QUANTA];
    if (profile->run_info.tick_event.recorded)
        return quanta->unit;
    return strcmp(quanta->name, "quanta") == 0 ? "samples" : quanta->name;
}

uint64_t fm_profile_recorded_ns(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    return run_info->extent.recorded_ns != 0 ? run_info->extent.recorded_ns : run_info->duration_ns;
}

const struct fm_depths *fm_profile_depths(const struct fm_profile *profile, uint32_t pd)
{
    const struct fm_run_info *run_info = &profile->run_info;
    if (run_info->depths_count == 0)
        return NULL;
    return bsearch(&pd, run_info->depths, run_info->depths_count, sizeof *run_info->depths,
                   compare_depths);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void fm_depths_add(struct fm_depths *depths, const struct fm_depths *other)
{
    g_return_if_fail(depths != NULL && other != NULL);
    depths->greatest = MAX(depths->greatest, other->greatest);
    depths->unknown = sum(depths->unknown, other->unknown);
    for (unsigned i = 0; i < FM_DEPTH_CLASSES; i++)
        depths->calls[i] = sum(depths->calls[i], other->calls[i]);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Ignores costs: for one file they are equal. */
int fm_part_compare(const struct fm_part *a, const struct fm_part *b)
{
    const struct fm_process_fact *p = &a->process, *q = &b->process;
    int order = memcmp(a->hash, b->hash, sizeof a->hash);
    order = order != 0 ? order : strcmp(p->command, q->command);
    order = order != 0 ? order : strcmp(p->folder, q->folder);
    order = order != 0 ? order : compare_numbers(p->pid, q->pid);
    order = order != 0 ? order : compare_numbers(p->parent_pid, q->parent_pid);
    order = order != 0 ? order : compare_numbers(p->start_ns, q->start_ns);
    order = order != 0 ? order : compare_numbers(p->rank, q->rank);
    order = order != 0 ? order : compare_numbers(p->rank_count, q->rank_count);
    order = order != 0 ? order : g_strcmp0(p->host, q->host);
    order = order != 0 ? order : compare_numbers(p->forked, q->forked);
    order = order != 0 ? order : g_strcmp0(p->forked_in, q->forked_in);
    order = order != 0 ? order : compare_numbers(a->duration_ns, b->duration_ns);
    return order != 0 ? order : compare_numbers(a->peak_bytes, b->peak_bytes);
}

void fm_profile_set_ranks(struct fm_profile *profile, struct fm_rank_info *info)
{
    g_return_if_fail(profile != NULL && info != NULL);
    fm_rank_info_done(&profile->run_info.rank_info);
    profile->run_info.rank_info = *info;
    *info = (struct fm_rank_info){0};
}

static void run_info_clear(struct fm_run_info *run_info)
{
    g_free(run_info->parts);
    g_free(run_info->depths);
    g_free(run_info->marks);
    g_free(run_info->notes);
    fm_unhooked_info_done(&run_info->unhooked);
    fm_wait_info_done(&run_info->wait_info);
    fm_heap_info_done(&run_info->heap_info);
    fm_duration_info_done(&run_info->durations);
    fm_inclusive_info_done(&run_info->inclusive);
    fm_rank_info_done(&run_info->rank_info);
    *run_info = (struct fm_run_info){0};
}

struct fm_profile *fm_profile_alloc(void)
{
    struct fm_profile *profile = g_new0(struct fm_profile, 1);
    profile->storage = g_new0(struct fm_profile_storage, 1);
    profile->storage->strings = fm_strings_new();
    g_atomic_ref_count_init(&profile->storage->refs);
    profile->program_name = "";
    profile->measure_count = FM_MEASURES_MERCURY;
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++)
        profile->measures[m] = fm_known_measure(m)->file;
    return profile;
}

struct fm_profile *fm_profile_ref(struct fm_profile *profile)
{
    g_atomic_ref_count_inc(&profile->storage->refs);
    return profile;
}

void fm_profile_free_nodes(struct fm_profile *profile)
{
    for (uint32_t ps = 1; profile->ps != NULL && ps <= profile->ps_count; ps++)
        g_free(profile->ps[ps].short_name);
    g_free(profile->ps);
    g_free(profile->css);
    g_free(profile->css_of_ps);
    g_free(profile->points);
    g_free(profile->pd_ps);
    g_free(profile->pd_slot_first);
    g_free(profile->slots);
    g_free(profile->multi);
    fm_column_done(&profile->pd_points);
    g_free(profile->pd_point_first);
    g_free(profile->csd_caller);
    g_free(profile->csd_callee);
    g_free(profile->csd_css);
}

void fm_profile_free(struct fm_profile *profile)
{
    if (!profile || !g_atomic_ref_count_dec(&profile->storage->refs))
        return;
    if (profile->storage->base == NULL)
        fm_profile_free_nodes(profile);
    fm_profile_free(profile->storage->base);
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++) {
        fm_column_done(&profile->csd_own[m]);
        fm_column_done(&profile->csd_inclusive[m]);
    }
    run_info_clear(&profile->run_info);
    for (unsigned kind = 0; kind < FM_ATTACHED_KINDS; kind++)
        g_free(profile->attached[kind].packed);
    fm_strings_free(profile->storage->strings);
    g_free(profile->storage);
    g_free(profile);
}

void *fm_array_alloc(const char *name, size_t count, size_t item_bytes, GError **error)
{
    void *array = fm_memory_try_array(count, item_bytes);
    if (!array)
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: not enough memory for %zu items of %zu bytes", name, count, item_bytes);
    return array;
}

void fm_u32s_grow(struct fm_u32s *array)
{
    array->capacity = MAX((size_t)64, array->capacity + array->capacity / 2);
    uint32_t *items = fm_memory_try_resize(array->items, array->capacity, sizeof(uint32_t));
    if (!items)
        g_error("not enough memory for %zu numbers", array->capacity);
    array->items = items;
}

uint32_t *fm_u32s_steal(struct fm_u32s *array)
{
    uint32_t *items = g_renew(uint32_t, array->items, MAX(array->count, 1));
    if (array->count == 0)
        items[0] = 0;
    *array = (struct fm_u32s){0};
    return items;
}

bool fm_column_set_wide(struct fm_column *column, size_t count, size_t index, uint64_t value)
{
    if (column->width == 0 && value == 0)
        return true;
    if (column->width == 0 && value <= UINT32_MAX) {
        uint32_t *narrow = fm_memory_try_array(count, sizeof(uint32_t));
        if (!narrow)
            return false;
        narrow[index] = (uint32_t)value;
        *column = (struct fm_column){.width = 4, .u32 = narrow};
        return true;
    }
    if (column->width != 8) {
        uint64_t *wide = fm_memory_try_array(count, sizeof(uint64_t));
        if (!wide)
            return false;
        for (size_t i = 0; i < count && column->width == 4; i++)
            wide[i] = column->u32[i];
        fm_column_done(column);
        *column = (struct fm_column){.width = 8, .u64 = wide};
    }
    column->u64[index] = value;
    return true;
}

void fm_column_done(struct fm_column *column)
{
    if (column->width != 0)
        g_free(column->u32);
    *column = (struct fm_column){0};
}

static unsigned number_of(const struct fm_profile *profile, unsigned first, const char *name)
{
    for (unsigned i = first; i < profile->measure_count; i++) {
        if (strcmp(profile->measures[i].name, name) == 0)
            return i;
    }
    return FM_MEASURES_MAX;
}

unsigned fm_profile_measure(const struct fm_profile *profile, enum fm_further_measure further)
{
    unsigned number = number_of(profile, FM_MEASURES_MERCURY, fm_known_measure(further)->file.name);
    return number == FM_MEASURES_MAX ? 0 : number;
}

unsigned fm_profile_find_measure(const struct fm_profile *profile, const char *name)
{
    unsigned number = number_of(profile, 0, name), known = fm_measure_find(name);
    if (number != FM_MEASURES_MAX || known == FM_FURTHER_END)
        return number;
    if (known == FM_QUANTA && profile->ticks_per_second == 0)
        return FM_MEASURES_MAX;
    return known < FM_MEASURES_MERCURY
               ? known
               : number_of(profile, FM_MEASURES_MERCURY, fm_known_measure(known)->file.name);
}

int64_t fm_profile_calls_of_all(const struct fm_profile *profile)
{
    uint64_t calls = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        calls += (uint64_t)fm_profile_calls_of_code(profile, csd);
    return (int64_t)calls;
}
