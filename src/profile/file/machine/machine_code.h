/* SPDX-License-Identifier: Apache-2.0 */
/* The machine code of a C program: where its procedures' instructions are, from which source lines
 * they are, and the time spent on each. The instructions themselves are in the program's files,
 * identified by path and build ID, or stored here, compressed. It is part of the profile; older
 * recordings have it as NAME.code. docs/format-data.md */
#pragma once

#include "base/files/roots.h"
#include "profile/file/profile.h"

#define FM_CODE_BYTES_MAX (UINT64_C(16) << 20) /* limit of one part */

/* A file that code was loaded from. */
struct fm_code_image {
    char *path;
    char *build_id; /* in hexadecimal; "" = it has none */
};

/* A stretch of a procedure's own code; it has several when it is split, or a clone was made. All
 * addresses are those of the file. */
struct fm_code_part {
    uint32_t image; /* into images */
    uint64_t start, size;
    uint32_t row_first, row_count;
    uint32_t sample_first, sample_count;
    uint32_t call_first, call_count;
    uint8_t *packed; /* its bytes, zstd; NULL = not stored */
    size_t packed_size;
};

/* From its address to the next one's, the code is of this line. */
struct fm_code_row {
    uint64_t address; /* ascending within a part */
    uint32_t file;    /* into files */
    uint32_t line;    /* 0 = not known */
};

/* Time spent on an instruction; its address may be inside the instruction. */
struct fm_code_sample {
    uint64_t address; /* ascending within a part */
    uint64_t quanta;
};

/* A call of a function in another file. */
struct fm_code_call {
    uint64_t address; /* that it returns to; ascending within a part */
    uint32_t name;    /* into names */
};

struct fm_machine_code {
    uint32_t ps_count;
    bool has_samples; /* time by instruction is known */
    GPtrArray *files; /* char *, as the profile names them */
    GPtrArray *names; /* char *, of functions that are called, as the linker has them */
    GArray *images;   /* struct fm_code_image */
    GArray *parts;    /* struct fm_code_part, by procedure: fm_machine_code_parts() */
    GArray *rows;     /* struct fm_code_row */
    GArray *samples;  /* struct fm_code_sample */
    GArray *calls;    /* struct fm_code_call */
    uint32_t *part_first, last_ps; /* into parts, of the procedures up to the last that has one */
};

/* Empty, for so many procedures. Filled by the calls below; then fm_machine_code_attach(). */
struct fm_machine_code *fm_machine_code_new(uint32_t ps_count, bool has_samples);
void fm_machine_code_free(struct fm_machine_code *code); /* NULL is allowed */
typedef struct fm_machine_code FmMachineCode;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmMachineCode, fm_machine_code_free)

uint32_t fm_machine_code_add_image(struct fm_machine_code *code, const char *path,
                                   const char *build_id);
uint32_t fm_machine_code_add_file(struct fm_machine_code *code, const char *path);
uint32_t fm_machine_code_add_name(struct fm_machine_code *code, const char *name);
/* Procedures in ascending order. Rows, samples and calls added next are this part's. */
void fm_machine_code_add_part(struct fm_machine_code *code, uint32_t ps, uint32_t image,
                              uint64_t start, uint64_t size);
void fm_machine_code_add_row(struct fm_machine_code *code, const struct fm_code_row *row);
void fm_machine_code_add_sample(struct fm_machine_code *code, const struct fm_code_sample *sample);
void fm_machine_code_add_call(struct fm_machine_code *code, const struct fm_code_call *call);
/* Stores the bytes of a part; part_size of them. */
void fm_machine_code_keep(struct fm_machine_code *code, uint32_t part, const uint8_t *bytes);

/* Stores bytes that are packed already with the last part; NULL: none. */
void fm_machine_code_take_packed(struct fm_machine_code *code, const uint8_t *packed, size_t size);

/* The parts of a procedure; *ret_count may be 0. */
const struct fm_code_part *fm_machine_code_parts(const struct fm_machine_code *code, uint32_t ps,
                                                 uint32_t *ret_count);
/* The stored bytes of a part, g_free; NULL with no error: none are stored; with FM_ERROR_FORMAT:
 * they are damaged. */
uint8_t *fm_machine_code_bytes(const struct fm_machine_code *code, const struct fm_code_part *part,
                               GError **error);

/* Keeps it with the profile that it belongs to (attached/attached.h). */
void fm_machine_code_attach(const struct fm_machine_code *code, struct fm_profile *profile);
/* Reads what is attached to the profile, or, of an older recording, NAME.code beside NAME.data;
 * beneath roots, NULL = anywhere. Errors: FM_ERROR_IO, _NOT_FOUND (there is none), _FORMAT (also:
 * of another profile), _TRUNCATED. Memory is bounded by a small multiple of the bytes and of
 * ps_count. */
FM_MUST_USE bool fm_machine_code_find(const struct fm_roots *roots, const char *data_path,
                                      const struct fm_profile *profile,
                                      struct fm_machine_code **ret, GError **error);
/* Reads from memory; name is used in messages. */
FM_MUST_USE bool fm_machine_code_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                            const struct fm_profile *profile,
                                            struct fm_machine_code **ret, GError **error);
