/* SPDX-License-Identifier: Apache-2.0 */
/* Places where a test holds reading up, so that it sees what is not known yet. In the shipped
 * program the function is nothing. In the test build FATHOM_HOLD names a folder: as long as a file
 * there has a place's name, no step is done at this place, while everything else goes on. Places:
 * the modules of profiles ("loading", "cliques", ...), before each step; "foreground", what readers
 * ask for. */
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
