/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the runs that a service keeps (`fathom record --keep=N -o NAME`): NAME.YYYYMMDD-HHMMSSZ
 * with the start time; -2, -3, ... follow for further runs within a second. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the stamp at the start of text, if a dot follows it; 0 = none. */
size_t fm_kept_stamp_length(const char *text);

/* Name of a kept run's profile: NAME.STAMP.data, or NAME.STAMP.ANY.data for another program or
 * process of the run. Only the content tells whether the file is a profile. */
struct fm_kept_name {
    size_t name_length; /* length of NAME */
    size_t stem_length; /* length of NAME.STAMP */
    int64_t began_s;    /* since 1970 */
};
/* False: file (a name without folder) is not such a name. */
bool fm_kept_name_parse(const char *file, struct fm_kept_name *ret);
