/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/ranks.h"

#include <inttypes.h>

int fm_rank_measure(const struct fm_profile *profile, enum fm_measure_id measure)
{
    const struct fm_rank_info *info = &profile->run_info.rank_info;
    for (unsigned i = 0; info->count > 0 && i < info->measure_count; i++) {
        if (info->measures[i] == (unsigned)measure)
            return (int)i;
    }
    return -1;
}

static int compare(const void *a, const void *b)
{
    const struct fm_rank_loss *one = a, *other = b;
    if (one->lost > other->lost || one->lost < other->lost)
        return one->lost > other->lost ? -1 : 1;
    return one->clique > other->clique ? -1 : one->clique < other->clique;
}

static bool is_of(const struct fm_analysis *a, uint32_t clique, uint32_t ps)
{
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        if (a->profile->pd_ps[a->clique_pds[i]] == ps)
            return true;
    }
    return false;
}

GArray *fm_rank_losses(const struct fm_analysis *a, enum fm_measure_id measure, uint32_t ps)
{
    g_return_val_if_fail(a != NULL, NULL);
    const struct fm_rank_info *info = &a->profile->run_info.rank_info;
    GArray *losses = g_array_new(FALSE, FALSE, sizeof(struct fm_rank_loss));
    int m = fm_rank_measure(a->profile, measure);
    if (m < 0)
        return losses;
    g_autofree double *below = g_new0(double, a->clique_count + 1u);
    for (uint32_t row = 0; row < info->row_count; row++) {
        uint32_t by = a->clique_parent[a->pd_clique[info->pds[row]]];
        double lost = fm_rank_lost(fm_rank_moments(info, row, (unsigned)m), info->count);
        if (by == 0)
            continue;
        uint32_t caller = a->pd_clique[a->profile->csd_caller[by]];
        below[caller] = MAX(below[caller], lost);
    }
    for (uint32_t row = 0; row < info->row_count; row++) {
        uint32_t clique = a->pd_clique[info->pds[row]];
        const struct fm_rank_moments *of = fm_rank_moments(info, row, (unsigned)m);
        struct fm_rank_loss loss = {.clique = clique, .row = row};
        loss.lost = fm_rank_lost(of, info->count);
        if (!(loss.lost > 0) || (ps != 0 && !is_of(a, clique, ps)) ||
            (ps == 0 && below[clique] >= FM_RANK_LOSS_SHARE * loss.lost))
            continue;
        loss.ratio = (double)of->greatest / fm_rank_mean(of, info->count);
        g_array_append_val(losses, loss);
    }
    g_array_sort(losses, compare);
    return losses;
}

/* --- ranks that are not there --- */

static void append_stretch(GPtrArray *texts, uint32_t first, uint32_t end)
{
    if (end - first > 2)
        g_ptr_array_add(texts, g_strdup_printf("%" PRIu32 " to %" PRIu32, first, end - 1));
    for (uint32_t rank = first; end - first <= 2 && rank < end; rank++)
        g_ptr_array_add(texts, g_strdup_printf("%" PRIu32, rank));
}

/* Ranks of the parts, each once. NULL: their numbers of ranks differ, or all are the same rank. */
static bool *ranks_there(const struct fm_run_info *run_info, uint32_t *ret_of)
{
    uint32_t of = run_info->part_count == 0 ? 0 : run_info->parts[0].process.rank_count;
    bool several = false;
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        const struct fm_process_fact *process = &run_info->parts[i].process;
        if (process->rank == 0 || process->rank_count != of || process->rank > of)
            return NULL;
        several = several || process->rank != run_info->parts[0].process.rank;
    }
    if (!several)
        return NULL;
    bool *there = g_new0(bool, (gsize)of + 1);
    for (uint32_t i = 0; i < run_info->part_count; i++)
        there[run_info->parts[i].process.rank - 1] = true;
    there[of] = true; /* ends the last stretch */
    *ret_of = of;
    return there;
}

char *fm_ranks_missing(const struct fm_profile *profile, uint32_t *ret_count, uint32_t *ret_of)
{
    g_return_val_if_fail(profile != NULL && ret_count != NULL && ret_of != NULL, NULL);
    g_autofree bool *there = ranks_there(&profile->run_info, ret_of);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    *ret_count = 0;
    if (there == NULL)
        return NULL;
    uint32_t named = 0;
    for (uint32_t rank = 0; rank < *ret_of; rank++) {
        uint32_t first = rank;
        while (!there[rank])
            rank++;
        *ret_count += rank - first;
        if (rank > first && texts->len < FM_RANKS_NAMED) {
            append_stretch(texts, first, rank);
            named += rank - first;
        }
    }
    if (*ret_count > named)
        g_ptr_array_add(texts, g_strdup_printf("%" PRIu32 " more", *ret_count - named));
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < texts->len; i++)
        g_string_append_printf(text, "%s%s",
                               i == 0                ? ""
                               : i + 1 == texts->len ? " and "
                                                     : ", ",
                               (const char *)texts->pdata[i]);
    return *ret_count == 0 ? NULL : g_string_free(g_steal_pointer(&text), FALSE);
}

char *fm_ranks_missing_sentence(const struct fm_profile *profile)
{
    uint32_t count, of;
    g_autofree char *which = fm_ranks_missing(profile, &count, &of);
    if (which == NULL)
        return NULL;
    return g_strdup_printf("rank%s %s of %" PRIu32 " %s missing", count == 1 ? "" : "s", which, of,
                           count == 1 ? "is" : "are");
}
