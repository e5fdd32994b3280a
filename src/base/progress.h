/* SPDX-License-Identifier: Apache-2.0 */
/* How long work tells how far it is, and is told to stop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_progress {
    /* Called now and then from the thread that works; step is a short name ("reading"), total may
     * be 0 when it is not known. Returning false asks for FM_ERROR_CANCELLED. May be NULL. */
    bool (*report)(void *user, const char *step, uint64_t done, uint64_t total);
    void *user;
};
