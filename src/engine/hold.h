/* SPDX-License-Identifier: Apache-2.0 */
/* Points at which a test can stop reading, to see pages that are still incomplete. In the shipped
 * program the function does nothing. In the test build FATHOM_HOLD names a folder: while it
 * contains a file with a point's name, no step is done at this point; everything else goes on.
 * Points: the modules of profiles ("loading", "cliques", ...), before each step; "foreground", for
 * requests of readers. */
#pragma once

#include <stdbool.h>

#ifdef FATHOM_TEST_HOOKS
bool fm_schedule_is_held(const char *place);
#else
static inline bool fm_schedule_is_held(const char *place)
{
    (void)place;
    return false;
}
#endif
