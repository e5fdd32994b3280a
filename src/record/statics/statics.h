/* SPDX-License-Identifier: Apache-2.0 */
/* The static half of a C profile: procedures and call sites of one ELF module (program or shared
 * library), extracted after the run from its symbols, its debug information and a disassembly.
 * All addresses are the module's own (file) addresses: run time minus bias.
 *
 *   segment --> scope --> procedure         innermost scope of a code address
 *   machine site (a call instruction) --> source site (procedure, slot)
 *   scope of an inlined body          --> source site in the procedure around it
 *
 * A scope is one body of a procedure: out of line (parent FM_NONE) or inlined into another
 * scope. A scope is live when the compiler put the recording hooks into that very body; code of
 * bodies that are not live belongs to the nearest live body around. Source and method:
 * README.md. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "profile/file/profile.h"

#define FM_NONE UINT32_MAX

/* One procedure: its clones, split parts and inlined bodies folded together. Strings belong to the
 * module's statics and are never NULL. */
struct fm_proc {
    const char *name;    /* as in the source; without debug information, from the symbol */
    const char *linkage; /* the linker's name */
    const char *unit;    /* path of the translation unit, or of the header that defines it; "" */
    const char *file;    /* file in which it is declared; "" when unknown */
    uint32_t line;       /* 0 = unknown */
    uint32_t arity;      /* FM_ARITY_UNKNOWN */
    bool variadic;
    bool external;
    bool virtual_method;
    bool cplusplus;
    bool instrumented;   /* some body of it calls the hooks, and it is not left out */
    bool left_out;       /* by the user's choice: its code is that of the bodies around */
    bool nameless;       /* nothing names it but its address */
    bool inlined;        /* somewhere, without hooks: its calls are not all recorded */
    uint64_t entry;      /* entry of the first out-of-line body; 0 = only inlined */
    uint32_t site_first; /* into sites */
    uint32_t site_count;
};

struct fm_scope {
    uint32_t proc;
    uint32_t parent; /* scope around an inlined body, FM_NONE for an out-of-line body */
    uint32_t site;   /* inlined and live: the source site that it was called from, else FM_NONE */
    const char *call_file;
    uint32_t call_line, call_column;
    bool live;
};

struct fm_segment {
    uint64_t low, high; /* [low, high), ascending, disjoint */
    uint32_t scope;
};

struct fm_machine_site {
    uint64_t return_address; /* ascending */
    uint64_t target;         /* direct calls: address called, in this module; else 0 */
    const char *target_name; /* direct calls through the linkage table; else NULL */
    const char *file;        /* "" = unknown */
    uint32_t line, column;
    uint32_t scope; /* innermost, FM_NONE outside all known bodies */
    uint32_t site;  /* source site, FM_NONE when no live body contains it */
    bool indirect;
    bool virtual_call;
};

struct fm_site {
    enum fm_site_kind kind;
    uint32_t proc;           /* the procedure that contains it */
    uint32_t callee;         /* procedure of this module, FM_NONE */
    const char *callee_name; /* linker's name when the callee is in another module, else NULL */
    const char *file;
    uint32_t line, column;
    uint64_t first_pc; /* lowest address of a machine instance */
    bool inlined; /* the callee's body is inlined here without hooks: its calls are not recorded */
};

#define FM_POINT_ENTRY (UINT32_MAX - 1)

/* A coverage callback: the start of a block of code. Or code of one line in one body that a block
 * has which is counted by code of its own: for each such line one. */
struct fm_point {
    uint64_t return_address; /* ascending; of counting code, its end */
    uint64_t hook;           /* end of the entry hook of the block's function; 0: a callback */
    uint32_t scope;          /* innermost, FM_NONE outside all known bodies */
    uint32_t owner;          /* live scope that the block belongs to, FM_NONE */
    const char *file;        /* "" = unknown */
    uint32_t line, column;
    uint32_t ordinal; /* number among those of its owner at this place, from 0 */
    bool entry;       /* before the owner's entry hook: run once a call, never recorded */
    uint32_t same_as; /* behind the exit hook, never recorded: runs as often as this point, or
                         FM_POINT_ENTRY; else FM_NONE */
    uint32_t block;   /* number of the block's counter, FM_POINT_ENTRY: the function's first block,
                         which runs once a call; of a callback 0 */
};

/* A line that has code in a procedure's live bodies: once for each block that it has code in. */
struct fm_code_line {
    uint32_t proc;  /* ascending */
    uint32_t line;  /* ascending within the procedure, of the file where that is declared */
    uint32_t point; /* into points; FM_POINT_ENTRY: the first block; FM_NONE: block not known */
};

/* The start of an out-of-line body. */
struct fm_entry {
    uint64_t address; /* ascending */
    uint32_t proc;
};

struct fm_symbol {
    uint64_t address, size; /* sorted by address, the best name first; size 0 = unknown */
    const char *name;
    bool function, global;
};

/* Plain data: arrays and strings of its own, no open file. */
struct fm_statics {
    const char *path;
    const char *debug_note; /* why there is no debug information, else NULL */
    bool has_debug;
    uint32_t proc_count, scope_count, segment_count, machine_site_count, site_count;
    struct fm_proc *procs;
    struct fm_scope *scopes;
    struct fm_segment *segments;
    struct fm_machine_site *machine_sites;
    struct fm_site *sites; /* procedure by procedure, in slot order */
    uint32_t point_count, code_line_count;
    struct fm_point *points;
    struct fm_code_line *code_lines;
    uint32_t entry_count, symbol_count;
    struct fm_entry *entries;
    struct fm_symbol *symbols;
    GStringChunk *strings; /* all texts above; NULL: they are in block */
    void *block;
};

struct fm_statics_opts {
    const uint8_t *build_id; /* as recorded; NULL = do not check */
    size_t build_id_size;
    const char *debug_path; /* folders of separate debug files, as elfutils takes them; NULL */
    bool ignore_debug;      /* go by the symbols alone */
    bool coverage;          /* coverage points are wanted */
    bool physical;          /* the hooks are in out-of-line bodies only (a grade that was) */
    /* Addresses of functions, ascending: these are described, whether they have hooks or not, and
     * no others. NULL: those of files with hooks, all of them. */
    const uint64_t *only;
    size_t only_count;
};

/* Extracts the statics of the module at path. On success the caller owns *ret; fm_statics_free().
 * Errors: FM_ERROR_IO, FM_ERROR_FORMAT (not ELF, another build ID than the recorded one),
 * FM_ERROR_UNAVAILABLE (split DWARF, not x86-64). Missing debug information is not an error. O(n
 * log n) in the size of the module. */
FM_MUST_USE bool fm_statics_extract(const char *path, const struct fm_statics_opts *opts,
                                    struct fm_statics **ret, GError **error);
void fm_statics_free(struct fm_statics *statics); /* NULL is allowed */

typedef struct fm_statics FmStatics;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmStatics, fm_statics_free)

/* The first segment that ends behind an address, segment_count if none does. O(log n). */
uint32_t fm_statics_segment_behind(const struct fm_statics *statics, uint64_t address);
/* Innermost scope at an address, FM_NONE if none. O(log n). */
uint32_t fm_statics_scope_at(const struct fm_statics *statics, uint64_t address);
/* The procedure whose own body contains the address, including bodies inlined into it; FM_NONE if
 * none. */
uint32_t fm_statics_body_at(const struct fm_statics *statics, uint64_t address);
/* The innermost live scope around a scope, itself included; FM_NONE. physical: struct
 * fm_statics_opts. */
uint32_t fm_statics_live_around(const struct fm_statics *statics, bool physical, uint32_t scope);
/* The innermost scope around a scope, itself included, of a procedure that is recorded; FM_NONE. */
uint32_t fm_statics_shown_around(const struct fm_statics *statics, uint32_t scope);
/* The machine site that returns to an address, NULL if none. O(log n). */
const struct fm_machine_site *fm_statics_site_at(const struct fm_statics *statics,
                                                 uint64_t return_address);
/* The coverage point that returns to an address, FM_NONE if none. */
uint32_t fm_statics_point_at(const struct fm_statics *statics, uint64_t return_address);
/* The procedure whose body starts at an address, FM_NONE if none. */
uint32_t fm_statics_proc_at(const struct fm_statics *statics, uint64_t entry);
/* Name of the symbol that holds an address, NULL if none; *ret_offset = distance. Works on
 * modules without debug information. Valid as long as statics. */
const char *fm_statics_symbol_at(const struct fm_statics *statics, uint64_t address,
                                 uint64_t *ret_offset);

/* Paths of the translation units that have functions but no hooks, sorted; of the statics. Those of
 * the recording runtime are not among them. Needs debug information. Caller unrefs. */
GPtrArray *fm_statics_bare_units(const struct fm_statics *statics);

/* Folders of the recording runtime's own objects in a program, if they have debug information, with
 * their slashes. Elements: char *. The caller unrefs it. */
GPtrArray *fm_statics_runtime_folders(const struct fm_statics *statics);
/* unit: struct fm_proc's. */
bool fm_statics_is_in_folders(const GPtrArray *folders, const char *unit);

/* Whether any function of the module at path calls the hooks; true also when that is not known. */
bool fm_statics_file_has_hooks(const char *path);
