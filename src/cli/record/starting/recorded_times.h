/* SPDX-License-Identifier: Apache-2.0 */
/* When a program is recorded, by the options of `fathom record`. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct fm_recorded_times {
    gboolean begin_stopped;
    char *after, *for_; /* NULL = not given */
};

/* Parses the times of recording options: "2s", "500ms", "1.5m"; without a unit: seconds. */
bool fm_recorded_duration(const char *text, uint64_t *ret_ns);
/* The moments hold for all programs of the run. Returns an exit status, or -1 to go on. */
int fm_recorded_times_set(const struct fm_recorded_times *times);
