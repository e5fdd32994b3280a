/* SPDX-License-Identifier: Apache-2.0 */
/* Whether libfathom-preload.so can be loaded into a program, by what its file says. */
#pragma once

#include <stdbool.h>

#include "base/compiler.h"

enum fm_preloadable {
    FM_PRELOADABLE_YES,
    FM_PRELOADABLE_INSTRUMENTED, /* need not be: it has hooks */
    FM_PRELOADABLE_STATIC,       /* no loader that could do it */
    FM_PRELOADABLE_LIBC,         /* another C library's loader: the program would not start */
    FM_PRELOADABLE_OLD,          /* its glibc lacks what the library needs: nor would it */
    FM_PRELOADABLE_MACHINE,      /* code of another processor, or of 32 bits */
    FM_PRELOADABLE_PRIVILEGED,   /* the loader drops the library for set-user-ID and the like */
    FM_PRELOADABLE_SANITIZER,    /* a sanitizer wants to be the first library */
    FM_PRELOADABLE_UNREADABLE,
};

/* Of a program found at path, a script's interpreter in its place. *ret_file: the file that was
 * looked at; g_free(). NULL where there is none. */
enum fm_preloadable fm_toolchain_preloadable(const char *path, char **ret_file);
/* A sentence: the reason why not, and the remedy; NULL: there is no reason. */
const char *fm_preloadable_words(enum fm_preloadable preloadable);
