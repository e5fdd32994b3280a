/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of the analysis; each step touches a few of their pages. */
#include "profile/analysis/analysis_internal.h"
#include "base/memory.h"

#define FEW_LEFT 1024u /* unused rest of a reserved array that is not worth a resize */

/* The smallest that holds as many, and not many more. */
static uint32_t *take_reserved(struct fm_reserved *reserved, size_t count)
{
    unsigned best = FM_RESERVED_MAX;
    for (unsigned i = 0; i < FM_RESERVED_MAX; i++) {
        if (reserved->arrays[i] != NULL && reserved->counts[i] >= count &&
            reserved->counts[i] - count <= count / 8 &&
            (best == FM_RESERVED_MAX || reserved->counts[i] < reserved->counts[best]))
            best = i;
    }
    if (best == FM_RESERVED_MAX)
        return NULL;
    uint32_t *array = g_steal_pointer(&reserved->arrays[best]);
    uint32_t *cut = reserved->counts[best] - count < FEW_LEFT
                        ? NULL
                        : fm_memory_try_resize(array, count, sizeof(uint32_t));
    return cut != NULL ? cut : array;
}

void fm_reserved_done(struct fm_reserved *reserved)
{
    for (unsigned i = 0; i < FM_RESERVED_MAX; i++)
        g_clear_pointer(&reserved->arrays[i], g_free);
}

uint32_t *fm_job_numbers(struct fm_analysis_job *job, size_t count)
{
    uint32_t *numbers = take_reserved(&job->reserved, count);
    if (numbers == NULL)
        numbers = fm_memory_try_array(count, sizeof(uint32_t));
    struct fm_untouched untouched = {numbers, count * sizeof(uint32_t), 0};
    if (!numbers)
        job->failed = true;
    else if (untouched.bytes >= FM_MEMORY_PAGE_BYTES)
        g_array_append_val(job->untouched, untouched);
    return numbers;
}
