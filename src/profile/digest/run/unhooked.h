/* SPDX-License-Identifier: Apache-2.0 */
/* Time in code without hooks, by the file that the code is in. */
#pragma once

#include "profile/file/profile.h"

/* One file's, or the kernel's: of one kind. */
struct fm_unhooked_file {
    enum fm_unhooked_kind kind;
    const char *object; /* the profile's strings; "" = code in no file; of the kernel "" */
    uint64_t quanta;
    const char *function; /* has most of it; "" = not known */
    uint64_t function_quanta;
    uint32_t caller; /* ps with hooks that called most of it */
    uint64_t caller_quanta;
};

struct fm_unhooked_digest {
    bool recorded;   /* false: the rest is empty */
    uint64_t quanta; /* the sum over all files */
    uint64_t unknown;
    double share;  /* a part of the profile's quanta, 0 to 1 */
    bool tells;    /* worth saying: a tenth or more, of 20 samples or more */
    GArray *files; /* struct fm_unhooked_file, most time first */
    uint32_t caller;
    uint64_t caller_quanta;
};

/* The profile must outlive it. */
struct fm_unhooked_digest *fm_unhooked_digest_new(const struct fm_profile *profile);
void fm_unhooked_digest_free(struct fm_unhooked_digest *digest); /* NULL is allowed */
typedef struct fm_unhooked_digest FmUnhookedDigest;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmUnhookedDigest, fm_unhooked_digest_free)

/* "libz.so.1", "the kernel", "functions of system headers in report"; g_free. */
char *fm_unhooked_file_name(const struct fm_unhooked_file *file);

/* "95 % (±4) of the time is in code not compiled with fathom: libz.so.1 88 %, the kernel 5 %;
 * nearly all called from pack. To see inside libz.so.1, build it with `fathom cc`." NULL where it
 * is not recorded, or less than a tenth. g_free. */
char *fm_unhooked_sentence(const struct fm_profile *profile);
