/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "base/files/mapped.h"
#include "base/files/reader.h"
#include "base/text/strings.h"
#include "mercury/procrep/procrep.h"

struct fm_procrep_storage {
    struct fm_mapped_file *file; /* NULL: from memory */
    char *name;
    const uint8_t *bytes;
    size_t size;
    struct fm_strings *strings;
    GHashTable *modules; /* name -> struct fm_procrep_module */
    uint32_t *places;    /* open addressing by module and label: into procs + 1, 0 = free */
    uint32_t place_count;
};

/* --- index.c: lookup by name --- */

/* Makes both tables and fills that of the modules. Errors: two modules of one name. */
FM_MUST_USE bool fm_procrep_index_modules(struct fm_procrep *procrep, GError **error);
/* Adds a procedure. Errors: a second procedure of that label in its module. */
FM_MUST_USE bool fm_procrep_index_proc(struct fm_procrep *procrep, uint32_t proc, GError **error);

struct fm_body_storage {
    struct fm_strings *strings;       /* generated names; NULL while there are none */
    struct fm_var_name *sorted_names; /* ascending by variable */
};
/* g_free(). */
struct fm_var_name *fm_body_sorted_names(const struct fm_body *body);

/* --- fields.c: numbers, texts, labels --- */

/* Integers of fixed size are big-endian in this format. */
FM_MUST_USE bool fm_read_u16(struct fm_reader *in, const char *what, uint32_t *ret, GError **error);
FM_MUST_USE bool fm_read_u32(struct fm_reader *in, const char *what, uint32_t *ret, GError **error);
/* Reads a count of items that take at least item_bytes each. */
FM_MUST_USE bool fm_read_count(struct fm_reader *in, const char *what, size_t item_bytes,
                               uint32_t *ret, GError **error);
FM_MUST_USE bool fm_read_text(struct fm_reader *in, const char *what, struct fm_strings *strings,
                              const char **ret, GError **error);
FM_MUST_USE bool fm_read_label(struct fm_reader *in, struct fm_strings *strings,
                               struct fm_proc_label *ret, GError **error);

/* --- names.c: codes of names --- */

/* Reads the string of a code; *strings is made when a generated name needs it. */
FM_MUST_USE bool fm_read_name(struct fm_reader *in, const char *what,
                              const struct fm_procrep_module *module, struct fm_strings **strings,
                              const char **ret, GError **error);
/* Returns the kind and number of a generated name, as a code; 0 = the name is not generated. */
uint32_t fm_name_generated_code(const char *name);

/* --- types.c: the blocks of version 6 --- */

FM_MUST_USE bool fm_read_oisu(struct fm_reader *in, struct fm_strings *strings,
                              struct fm_procrep_module *module, GError **error);
FM_MUST_USE bool fm_read_types(struct fm_reader *in, struct fm_strings *strings,
                               struct fm_procrep_module *module, GError **error);
void fm_procrep_module_clear_blocks(struct fm_procrep_module *module);
