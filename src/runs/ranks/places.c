/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/ranks/places.h"

#include <inttypes.h>
#include <string.h>

/* 0: the launcher did not say how many processes there are. */
static char *differing(uint32_t one, uint32_t other)
{
    if (one == 0 || other == 0)
        return g_strdup_printf("ranks of %u processes are in it, and of a number that is not known",
                               MAX(one, other));
    return g_strdup_printf(
        "ranks of %u and of %u processes are in it, and they are of one run each", one, other);
}

bool fm_ranks_fit(const struct fm_profile *sum, bool asked, char **ret_why)
{
    g_return_val_if_fail(sum != NULL && ret_why != NULL, false);
    const struct fm_run_info *run_info = &sum->run_info;
    uint32_t shared = fm_profile_ranks_shared(sum);
    *ret_why = NULL;
    bool known = run_info->part_count > 1 && shared != 1;
    for (uint32_t i = 0; known && i < run_info->part_count; i++)
        known = run_info->parts[i].process.rank != 0;
    if (!asked && !known)
        return false;
    if (run_info->part_count == 0)
        *ret_why = g_strdup("no process is known of what is added up");
    else if (shared == 1)
        *ret_why = g_strdup_printf("all of it is of rank %" PRIu32 ", and they are of several",
                                   run_info->parts[0].process.rank - 1);
    g_autofree uint32_t *places = fm_profile_places(sum);
    for (uint32_t i = 0; *ret_why == NULL && i < run_info->part_count; i++) {
        const struct fm_part *part = &run_info->parts[places[i]];
        const struct fm_part *before = i == 0 ? NULL : &run_info->parts[places[i - 1]];
        if (part->process.rank == 0)
            break;
        bool again = before != NULL && before->process.rank == part->process.rank;
        if (part->times > 1 || (again && shared == 0))
            *ret_why = g_strdup_printf("rank %u is in it twice, and they are of one run each",
                                       part->process.rank - 1);
        else if (before != NULL && before->process.rank_count != part->process.rank_count)
            *ret_why = differing(before->process.rank_count, part->process.rank_count);
    }
    return *ret_why == NULL;
}

uint64_t fm_ranks_count(const struct fm_profile *sum)
{
    uint64_t count = fm_profile_ranks_shared(sum);
    if (count != 0)
        return count;
    for (uint32_t i = 0; i < sum->run_info.part_count; i++)
        count += sum->run_info.parts[i].times;
    return count;
}

void fm_rank_places_init(struct fm_rank_places *places, const struct fm_profile *sum)
{
    const struct fm_run_info *run_info = &sum->run_info;
    uint32_t shared = fm_profile_ranks_shared(sum);
    g_autofree uint32_t *order = fm_profile_places(sum);
    *places = (struct fm_rank_places){.sum = sum, .shared = shared != 0};
    places->place_of = g_new0(uint32_t, run_info->part_count + 1u);
    places->parts_at = g_new0(uint32_t, run_info->part_count + 1u);
    places->part_of_hash =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        const struct fm_part *part = &run_info->parts[order[i]];
        bool again = places->shared && i > 0 &&
                     run_info->parts[order[i - 1]].process.rank == part->process.rank;
        places->count += !again;
        places->place_of[order[i]] = places->count - 1;
        places->parts_at[places->count - 1]++;
        g_hash_table_insert(places->part_of_hash, g_bytes_new(part->hash, FM_PART_HASH_BYTES),
                            GUINT_TO_POINTER(order[i] + 1u));
    }
}

void fm_rank_places_done(struct fm_rank_places *places)
{
    g_free(places->place_of);
    g_free(places->parts_at);
    g_clear_pointer(&places->part_of_hash, g_hash_table_unref);
    *places = (struct fm_rank_places){0};
}

/* FM_NO_PLACE: none. */
static uint32_t part_of(const struct fm_rank_places *places, const uint8_t *hash)
{
    g_autoptr(GBytes) bytes = g_bytes_new_static(hash, FM_PART_HASH_BYTES);
    return GPOINTER_TO_UINT(g_hash_table_lookup(places->part_of_hash, bytes)) - 1u;
}

bool fm_rank_places_has(const struct fm_rank_places *places, const uint8_t hash[FM_PART_HASH_BYTES])
{
    return part_of(places, hash) != FM_NO_PLACE;
}

uint32_t fm_rank_places_of(const struct fm_rank_places *places, const struct fm_profile *profile,
                           const uint8_t hash[FM_PART_HASH_BYTES])
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint32_t part = part_of(places, run_info->part_count == 0 ? hash : run_info->parts[0].hash);
    bool several =
        run_info->part_count > 1 || (run_info->part_count == 1 && run_info->parts[0].times > 1);
    if (part == FM_NO_PLACE || (several && !places->shared))
        return FM_NO_PLACE;
    for (uint32_t i = 1; i < run_info->part_count; i++) {
        uint32_t other = part_of(places, run_info->parts[i].hash);
        if (other == FM_NO_PLACE || places->place_of[other] != places->place_of[part])
            return FM_NO_PLACE;
    }
    return places->place_of[part];
}

uint32_t fm_rank_places_of_part(const struct fm_rank_places *places,
                                const uint8_t hash[FM_PART_HASH_BYTES])
{
    uint32_t part = part_of(places, hash);
    return part == FM_NO_PLACE ? FM_NO_PLACE : places->place_of[part];
}

bool fm_rank_places_are_of(const struct fm_rank_places *places, const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    bool ok = run_info->rank_info.count > 0 &&
              run_info->rank_info.count == fm_ranks_count(profile) &&
              profile->ticks_per_second == places->sum->ticks_per_second;
    g_autofree uint32_t *parts_at = g_new0(uint32_t, places->count + 1u);
    for (uint32_t i = 0; ok && i < run_info->part_count; i++) {
        uint32_t place = fm_rank_places_of_part(places, run_info->parts[i].hash);
        ok = place != FM_NO_PLACE;
        parts_at[ok ? place : places->count]++;
    }
    for (uint32_t place = 0; ok && place < places->count; place++)
        ok = parts_at[place] == 0 || parts_at[place] == places->parts_at[place];
    return ok;
}

/* --- the files of a place --- */

struct part_of_file {
    const struct fm_process_fact *process; /* the sum's */
    uint32_t file;
};

void fm_rank_files_init(struct fm_rank_files *files)
{
    *files =
        (struct fm_rank_files){.parts = g_array_new(FALSE, FALSE, sizeof(struct part_of_file))};
}

void fm_rank_files_done(struct fm_rank_files *files)
{
    g_clear_pointer(&files->parts, g_array_unref);
    *files = (struct fm_rank_files){0};
}

static void add_part(struct fm_rank_files *files, const struct fm_rank_places *places,
                     const uint8_t *hash)
{
    uint32_t number = part_of(places, hash);
    g_return_if_fail(number != FM_NO_PLACE);
    const struct part_of_file part = {&places->sum->run_info.parts[number].process, files->count};
    g_array_append_val(files->parts, part);
}

void fm_rank_files_add(struct fm_rank_files *files, const struct fm_rank_places *places,
                       const struct fm_profile *profile, const uint8_t hash[FM_PART_HASH_BYTES])
{
    const struct fm_run_info *run_info = &profile->run_info;
    for (uint32_t i = 0; i < run_info->part_count; i++)
        add_part(files, places, run_info->parts[i].hash);
    if (run_info->part_count == 0)
        add_part(files, places, hash);
    files->count++;
}

static bool started(const struct fm_process_fact *by, const struct fm_process_fact *process)
{
    return by->pid == process->parent_pid && by->start_ns <= process->start_ns &&
           g_strcmp0(by->host, process->host) == 0;
}

static uint32_t find(uint32_t *up, uint32_t part)
{
    while (up[part] != part)
        part = up[part] = up[up[part]];
    return part;
}

static bool unite(uint32_t *up, uint32_t a, uint32_t b)
{
    uint32_t one = find(up, a), other = find(up, b);
    up[other] = one;
    return one != other;
}

/* Whether two parts were started by one unrecorded process, such as a shell, within one sum. In
 * several files they may be of two runs. */
static bool are_siblings(const struct part_of_file *one, const struct part_of_file *other)
{
    return one->file == other->file && one->process->parent_pid != 0 &&
           one->process->parent_pid == other->process->parent_pid &&
           g_strcmp0(one->process->host, other->process->host) == 0;
}

/* Number of unrelated groups of parts. */
static uint32_t group(const struct part_of_file *parts, uint32_t count, uint32_t *up)
{
    g_autoptr(GHashTable) by_pid = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) by_parent = g_hash_table_new(NULL, NULL);
    uint32_t apart = count;
    for (uint32_t i = 0; i < count; i++) {
        up[i] = i;
        g_hash_table_insert(by_pid, GUINT_TO_POINTER(parts[i].process->pid),
                            GUINT_TO_POINTER(i + 1));
    }
    for (uint32_t i = 0; apart > 1 && i < count; i++) {
        gpointer parent = GUINT_TO_POINTER(parts[i].process->parent_pid);
        uint32_t by = GPOINTER_TO_UINT(g_hash_table_lookup(by_pid, parent));
        uint32_t other = GPOINTER_TO_UINT(g_hash_table_lookup(by_parent, parent));
        if (by != 0 && started(parts[by - 1].process, parts[i].process))
            apart -= unite(up, by - 1, i);
        if (other != 0 && are_siblings(&parts[other - 1], &parts[i]))
            apart -= unite(up, other - 1, i);
        g_hash_table_insert(by_parent, parent, GUINT_TO_POINTER(i + 1));
    }
    return apart;
}

bool fm_rank_files_are_one(struct fm_rank_files *files, char **ret_why)
{
    const uint32_t count = files->parts->len;
    const struct part_of_file *parts =
        (const struct part_of_file *)(const void *)files->parts->data;
    g_autofree uint32_t *up = g_new(uint32_t, count + 1u);
    bool ok = group(parts, count, up) <= 1;
    for (uint32_t i = 0; !ok && i < count; i++) {
        if (*ret_why == NULL && find(up, i) != find(up, 0))
            *ret_why = g_strdup_printf(
                "rank %" PRIu32 " is in it twice, by processes %" PRIu32 " and %" PRIu32
                " that have not started each other, and they are of one run each",
                parts[0].process->rank - 1, parts[0].process->pid, parts[i].process->pid);
    }
    g_array_set_size(files->parts, 0);
    files->count = 0;
    return ok;
}
