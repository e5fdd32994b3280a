/* SPDX-License-Identifier: Apache-2.0 */
/* How tracers write Chrome's format: times, and files that end too early. */
#pragma once

#include "exchange/import/internal.h"

/* Microseconds, with a fraction or in a string, as nanoseconds. Digits are read one by one: in a
 * double the microseconds since 1970 have no fraction left. */
bool fm_chrome_nanoseconds(struct fm_json_value value, int64_t *ret);

/* The name of one of clang's spans with its detail, which header, class or function it was: a
 * header by one path, though clang names it by the way to it ("/usr/bin/../include/x.h"), a
 * function as in the source. g_free(). */
char *fm_chrome_build_name(const char *name, struct fm_json_value args);

/* Tracers that write as they go leave the array open. Returns the text with
 * its end, g_free; NULL: that is not what is wrong. */
char *fm_chrome_closed(const struct fm_import_input *input);
