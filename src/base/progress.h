/* SPDX-License-Identifier: Apache-2.0 */
/* How a long job reports progress, and is cancelled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_progress {
    /* Called now and then from the working thread. step is a short name ("reading"); total may be 0
     * when unknown. When it returns false, the job ends with FM_ERROR_CANCELLED. May be NULL. */
    bool (*report)(void *user, const char *step, uint64_t done, uint64_t total);
    void *user;
};
