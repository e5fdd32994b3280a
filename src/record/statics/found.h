/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a recorded program where they are now: in a copy of its file system, outside of its
 * container, in folders of the user's. */
#pragma once

#include <stdint.h>

/* A file that a process had loaded from `path`. */
struct fm_loaded_file {
    const char *path;
    const uint8_t *build_id; /* NULL: not known */
    uint32_t build_id_size;
};
/* root: the folder that was "/" where it ran; debug_path: folders, separated by ':'. NULL: none.
 * Returns the path of the file with that build-id: below root, at path itself, in the folders by
 * its name or by .build-id/xx/. Without one, or where none has it, the first of them that is there,
 * else path. g_free() */
char *fm_statics_find(const struct fm_loaded_file *file, const char *root, const char *debug_path);
/* debug_path, and the folders of debug files below root; NULL: neither is given. g_free() */
char *fm_statics_debug_path(const char *root, const char *debug_path);
