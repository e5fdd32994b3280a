/* SPDX-License-Identifier: Apache-2.0 */
/* Handles the arrival of a C++ exception: the frames below are left. Code of gcc's full grade
 * runs their exit hooks on the way. (Itanium C++ ABI, "Exception Handling", 2.5.3.)
 *
 * Weak, since a program may have the C++ library linked in, whose own definition must win. Only
 * in executables, since the next definition is searched in the program's start-up libraries. */
#include "front.h"
#include "internal.h"
#include "unwind/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

typedef void *(*catch_fn)(void *);
#define UNWIND_EXCEPTION_BYTES 32 /* size of the header before the thrown object */

static catch_fn next;
FM_FRONT_EXPORT void *FM_FRONT(__cxa_begin_catch)(void *exception);
FM_FRONT_WAY(__cxa_begin_catch, __cxa_begin_catch, &next, NULL)

#ifndef FATHOM_STATIC
/* Finds the function for a C program's plugin in C++, whose library belongs to the plugin. NULL:
 * that object has none. Not cached: the plugin may be unloaded, and another have another library.
 * libc's dlopen is called directly, since this is not a wait of the program. */
static catch_fn of_object(void *code)
{
    struct fm_loaded object;
    void *(*open)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&open, &symbol, sizeof symbol);
    if (symbol == NULL || !fm_loaded_at((uint64_t)code, &object) || object.name == NULL)
        return NULL;
    void *opened = open(object.name, RTLD_LAZY | RTLD_NOLOAD);
    if (opened == NULL)
        return NULL;
    catch_fn found;
    symbol = dlsym(opened, "__cxa_begin_catch");
    memcpy(&found, &symbol, sizeof symbol);
    fm_front_dlclose_next(opened);
    return symbol != (void *)(uint64_t)__cxa_begin_catch ? found : NULL;
}
#endif

FM_FRONT_EXPORT void *FM_FRONT(__cxa_begin_catch)(void *exception)
{
    uint64_t frame = (uint64_t)__builtin_frame_address(0), r15;
    __asm__ volatile("movq %%r15, %0" : "=r"(r15)); /* the caller's: this file leaves it alone */
    fm_frames_leave(frame + FM_CFA_FROM_FRAME);
    fm_slots_caught(r15);
    catch_fn found = __atomic_load_n(&next, __ATOMIC_RELAXED);
#ifndef FATHOM_STATIC
    if (found == NULL) { /* not before, as a failure would appear in the program's dlerror */
        void *symbol = dlsym(RTLD_NEXT, "__cxa_begin_catch");
        memcpy(&found, &symbol, sizeof symbol);
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    if (found == NULL)
        found = of_object(__builtin_return_address(0));
#endif
    /* Not found: the library is linked in without its __cxa_begin_catch, so only a call of
     * std::terminate can follow. */
    return found != NULL ? found(exception) : (char *)exception + UNWIND_EXCEPTION_BYTES;
}
