/* SPDX-License-Identifier: Apache-2.0 */
/* Where a C++ exception arrives: the frames below are left. Code of gcc's full grade runs their
 * exit hooks on the way. (Itanium C++ ABI, "Exception Handling", 2.5.3.)
 *
 * Weak, since a program may have the C++ library linked in, whose own must win; in executables
 * alone, since the next one is looked for in what the program was started with. */
#include "front.h"
#include "internal.h"

#include <dlfcn.h>
#include <string.h>

typedef void *(*catch_fn)(void *);
#define UNWIND_EXCEPTION_BYTES 32 /* in front of the object thrown */

static catch_fn next;
FM_EXPORT __attribute__((weak)) void *FM_FRONT(__cxa_begin_catch)(void *exception);
FM_FRONT_WAY(__cxa_begin_catch, __cxa_begin_catch, &next, NULL)

FM_EXPORT void *FM_FRONT(__cxa_begin_catch)(void *exception)
{
    uint64_t frame = (uint64_t)__builtin_frame_address(0);
    fm_frames_leave(frame + FM_CFA_FROM_FRAME);
    catch_fn found = __atomic_load_n(&next, __ATOMIC_RELAXED);
#ifndef FATHOM_STATIC
    if (found == NULL) { /* not before, as a failure would be told by the program's dlerror */
        void *symbol = dlsym(RTLD_NEXT, "__cxa_begin_catch");
        memcpy(&found, &symbol, sizeof symbol);
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
#endif
    /* None: the library is linked in but for its __cxa_begin_catch, so nothing but a call of
     * std::terminate follows. */
    return found != NULL ? found(exception) : (char *)exception + UNWIND_EXCEPTION_BYTES;
}
