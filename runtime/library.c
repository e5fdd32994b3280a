/* SPDX-License-Identifier: Apache-2.0 */
/* In each shared object: tells the runtime when the object is unloaded. A program that is not
 * instrumented itself calls libc's dlclose, so it would not be noticed otherwise. Linked first, so
 * this runs after the object's own destructors. */
#include "hot.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

__attribute__((weak)) void fm_module_leaves_v1(const void *inside);

__attribute__((destructor)) static void fm_library_leave(void)
{
    if (fm_module_leaves_v1 != NULL)
        fm_module_leaves_v1(__ehdr_start);
}
