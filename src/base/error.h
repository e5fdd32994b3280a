/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of all code above the runtime. Messages name the file, the byte offset, what was found and
 * what was expected: "Deep.data: offset 98: unexpected token 9, expected 0 to 4". */
#pragma once

#include <glib.h>

#define FM_ERROR (fm_error_quark())
GQuark fm_error_quark(void);

enum fm_error {
    FM_ERROR_IO,          /* the operating system refused: cannot open, read, write */
    FM_ERROR_FORMAT,      /* the input violates its format */
    FM_ERROR_TRUNCATED,   /* the input ends too early */
    FM_ERROR_VERSION,     /* unsupported version */
    FM_ERROR_LIMIT,       /* larger than a documented limit */
    FM_ERROR_USAGE,       /* a request or option that cannot be understood */
    FM_ERROR_NOT_FOUND,   /* an id or name that does not exist in the recording */
    FM_ERROR_UNAVAILABLE, /* understood, but the recording does not hold what it needs */
    FM_ERROR_CANCELLED,
};
