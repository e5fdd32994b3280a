/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a program's file by the offset of their code in it: by its debug information, with
 * inlined bodies and lines, else by its symbols. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_import_code;

struct fm_import_code_body {
    const char *name; /* the linker's, or else the source's */
    const char *file; /* file of the source; NULL: not known */
    uint32_t begins;  /* line where the function begins; 0: not known */
    uint32_t line;    /* line in it of the code, or of what is inlined there; 0: not known */
    bool inlined;
};

/* Opens the file if it is an ordinary one, and has this build id. build_id_size 0: not known, so
 * the path decides. NULL: there is no such file; ret_other: a file with another build id is. */
struct fm_import_code *fm_import_code_open(const char *path, const uint8_t *build_id,
                                           size_t build_id_size, bool *ret_other);
void fm_import_code_free(struct fm_import_code *code); /* NULL is allowed */
/* The file that was opened: path, or one that has the build id. */
const char *fm_import_code_path(const struct fm_import_code *code);
/* The address of the code at an offset, as linked. False: no code is there. */
bool fm_import_code_address(const struct fm_import_code *code, uint64_t offset, uint64_t *ret);
/* Bodies at an offset, the outermost first, until the next call: struct fm_import_code_body. Empty:
 * not known. */
const GArray *fm_import_code_at(struct fm_import_code *code, uint64_t offset);
