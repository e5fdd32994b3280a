/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the recorded process had loaded; look-up of addresses in their statics. */
#pragma once

#include "record/finish/finish.h"
#include "record/raw/recording.h"
#include "record/statics/statics.h"

/* A file that was loaded, however often. */
struct fm_image {
    const struct fm_raw_module *raw; /* one of the times that it was loaded */
    struct fm_statics *statics;      /* NULL: could not be read, or not asked for yet */
    bool statics_kept;               /* they belong to the cache */
    bool unwound;                    /* known by unwinding: of what was met alone */
    uint32_t nameless;               /* such functions that nothing names */
    bool unreadable;                 /* was tried in vain: the file is gone, or another one */
    GHashTable *proc_of_name;        /* linker's name -> proc + 1; NULL = not asked for yet */
    char *name;                      /* last part of the path */
    char *path;                      /* where the file is now */
};

struct fm_images {
    const struct fm_raw_recording *recording;
    const struct fm_finish_opts *opts;
    char *root, *debug_path; /* as in opts, of a container, too */
    GArray *all;             /* struct fm_image */
    uint32_t *of_module;     /* per module of the recording */
};

/* Reads the images with recorded code; notes those that cannot be read. recording and opts must
 * outlive *images. */
void fm_images_open(struct fm_images *images, const struct fm_raw_recording *recording,
                    const struct fm_finish_opts *opts, struct fm_finish_notes *notes);
void fm_images_close(struct fm_images *images);
struct fm_image *fm_images_at(const struct fm_images *images, uint32_t index);
/* The image and the address in its file; FM_NONE when the address is in none. */
uint32_t fm_images_find(const struct fm_images *images, uint64_t address, uint32_t epoch,
                        uint64_t *ret_file);
/* The procedure that a pd is of; false = its address is not in the statics of any image. */
bool fm_images_proc_of_pd(const struct fm_images *images, uint32_t pd, uint32_t *ret_image,
                          uint32_t *ret_proc);
/* The symbol that an address of an image lies in; NULL = not known. */
const char *fm_images_symbol(const struct fm_images *images, uint32_t index, uint64_t file);
/* "libc.so.6: qsort_r", "libfoo.so+0x1234", "0x7f...": for addresses without a procedure. */
char *fm_images_describe(const struct fm_images *images, uint64_t address, uint32_t epoch);
