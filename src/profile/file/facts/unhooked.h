/* SPDX-License-Identifier: Apache-2.0 */
/* Time in code without hooks: libraries, functions of the system's headers, the kernel. It is part
 * of the self time of the function with hooks that called the code, and tells how much of that is
 * no time of its own code. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fm_unhooked_kind {
    FM_UNHOOKED_OBJECT, /* an object file without hooks, a library mostly */
    FM_UNHOOKED_KERNEL, /* a system call made by such a file's function */
    FM_UNHOOKED_SYSTEM, /* a function of the system's headers, in an object file with hooks */
    FM_UNHOOKED_PART,   /* any other function without hooks in such a file */
    FM_UNHOOKED_KINDS
};

/* Quanta of one place, called by the callee of one csd; a pair has one. */
struct fm_unhooked {
    uint32_t csd;
    enum fm_unhooked_kind kind;
    const char *object;   /* last part of the file's path; "" = code in no file */
    const char *function; /* "" = not known */
    uint64_t quanta;      /* at least 1; part of the csd's own */
};

struct fm_unhooked_info {
    bool recorded;           /* false: none of it is known, and the rest empty */
    uint64_t unknown_quanta; /* a part of the profile's: their code is not known */
    uint32_t count;
    struct fm_unhooked *of;
};

/* Strings belong to the profile. */
void fm_unhooked_info_add(struct fm_unhooked_info *info, const struct fm_unhooked *of);
void fm_unhooked_info_done(struct fm_unhooked_info *info);
