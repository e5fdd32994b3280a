/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of libfathom-preload.so: in a program that was not built for it. One that was
 * carries a runtime, which has what is called, and this one does nothing. */
#include "unwound.h"
#include "unwind/loaded.h"

#include <dlfcn.h>
#include <string.h>

static uint64_t object_of(const void *address)
{
    struct fm_loaded found;
    return fm_loaded_at((uint64_t)address, &found) ? found.start : 0;
}

/* Programs that this one starts are to be left alone: they inherit no library. */
static void stay_alone(void)
{
    extern char **environ;
    const char *wish = fm_getenv("FATHOM_CHILDREN");
    static void *room[512];
    if (wish == NULL || strcmp(wish, "off") != 0)
        return;
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        char *one[] = {*at, NULL};
        if (strncmp(*at, "LD_PRELOAD=", 11) != 0 || strlen(*at) + 17 > sizeof room)
            continue;
        char *const *fit = fm_unwound_without(one, room);
        if (*fit != NULL) {
            *at = *fit;
            continue;
        }
        for (char **from = at; *from != NULL; from++)
            *from = from[1];
        break;
    }
}

/* Behind the other constructors here. */
__attribute__((constructor(65535))) static void begin(void)
{
    const void *hook = dlsym(RTLD_DEFAULT, "fm_enter_slow_v1");
    if (object_of(hook) != object_of(&fm_process))
        return;
    stay_alone();
    fm_unwound_begin();
    fm_unwound_thread_begin(0);
}
