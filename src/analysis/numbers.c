/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of the analysis, whose pages are touched a few a step. */
#include "analysis/analysis_internal.h"
#include "base/memory.h"

uint32_t *fm_job_numbers(struct fm_analysis_job *job, size_t count)
{
    uint32_t *numbers = fm_memory_try_array(count, sizeof(uint32_t));
    struct fm_untouched untouched = {numbers, count * sizeof(uint32_t), 0};
    if (!numbers)
        job->failed = true;
    else if (untouched.bytes >= FM_MEMORY_PAGE_BYTES)
        g_array_append_val(job->untouched, untouched);
    return numbers;
}
