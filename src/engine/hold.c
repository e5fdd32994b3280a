/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hold.h"

#ifdef FATHOM_TEST_HOOKS
#include <glib.h>
#include <stdlib.h>
#include <unistd.h>

#define PAUSE_US 1000 /* pause before the engine asks again; otherwise it does not wait */

bool fm_schedule_is_held(const char *place)
{
    const char *folder = getenv("FATHOM_HOLD");
    if (folder == NULL)
        return false;
    g_autofree char *file = g_build_filename(folder, place, NULL);
    if (access(file, F_OK) != 0)
        return false;
    g_usleep(PAUSE_US);
    return true;
}
#endif
