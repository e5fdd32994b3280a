/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the runs that a service keeps (`fathom record --keep=N -o NAME`):
 * NAME.YYYYMMDD-HHMMSSZ, of the moment it began; -2, ... behind it within a second. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long a stamp stands at the start of text, behind which the name of a file goes on with a dot;
 * 0 = none. */
size_t fm_kept_stamp_length(const char *text);

/* A profile of a run by its name: NAME.STAMP.data, and of what is no sum with that, another program
 * or process, NAME.STAMP.ANY.data. Whether it is a profile only its bytes tell. */
struct fm_kept_name {
    size_t name_length; /* length of NAME */
    size_t stem_length; /* length of NAME.STAMP */
    int64_t began_s;    /* since 1970 */
};
/* False: file, a name without a folder, is none. */
bool fm_kept_name_parse(const char *file, struct fm_kept_name *ret);
