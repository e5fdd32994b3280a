/* SPDX-License-Identifier: Apache-2.0 */
/* Deep.procrep: a syntax tree of the body of every procedure of a Mercury program, as it was
 * before the compiler added profiling. Versions 5 and 6; docs/format-procrep.md.
 *
 * Reading makes an index. Bodies are decoded one at a time, on request, so that a large program
 * costs little until its code is looked at. The index is immutable and may be used by any number
 * of threads; a body belongs to its caller. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/files/roots.h"
#include "base/files/writer.h"
#include "base/job.h"
#include "profile/file/profile.h"

/* Has the same label fields as struct fm_ps. Strings are never NULL. */
struct fm_proc_label {
    enum fm_label_kind kind;
    const char *decl_module; /* special: the type's module */
    const char *def_module;
    const char *name;      /* special: the predicate's name, "__Unify__" */
    const char *type_name; /* special only, else "" */
    uint32_t arity;
    uint32_t mode;
};

/* A state-update type of a module, with the procedures that create, change and destroy its
 * values. */
enum fm_oisu_role { FM_OISU_CREATORS, FM_OISU_MUTATORS, FM_OISU_DESTRUCTORS, FM_OISU_ROLES };
struct fm_oisu_type {
    const char *name;
    struct fm_proc_label *labels[FM_OISU_ROLES];
    uint32_t label_count[FM_OISU_ROLES];
};

enum fm_type_kind {
    FM_TYPE_DEFINED, /* name and arguments */
    FM_TYPE_BUILTIN, /* name */
    FM_TYPE_TUPLE,
    FM_TYPE_PREDICATE,
    FM_TYPE_FUNCTION, /* the last argument is the result */
    FM_TYPE_VARIABLE, /* number */
};
struct fm_type_entry {
    enum fm_type_kind kind;
    uint8_t selector; /* as in the file */
    const char *name;
    uint32_t number;
    uint32_t *arguments; /* numbers of types that stand before this one */
    uint32_t argument_count;
};

struct fm_procrep_module {
    const char *name;
    const char *strings; /* strings_size bytes of terminated strings */
    size_t strings_size;
    struct fm_oisu_type *oisu;
    uint32_t oisu_count;
    struct fm_type_entry *types;
    uint32_t type_count;
    uint32_t proc_first, proc_count; /* into fm_procrep.procs */
};

struct fm_procrep_proc {
    struct fm_proc_label label;
    uint32_t module;
    uint32_t size; /* size of the body in bytes, this number included */
    size_t offset; /* offset in the file */
};

struct fm_procrep {
    unsigned version; /* 5 or 6 */
    uint32_t module_count, proc_count;
    struct fm_procrep_module *modules; /* in the file's order */
    struct fm_procrep_proc *procs;     /* module by module, in the file's order */
    struct fm_procrep_storage *storage;
};

/* Reads the index. Errors: FM_ERROR_IO, _NOT_FOUND (no such file), _FORMAT, _TRUNCATED, _VERSION,
 * _LIMIT, with the byte's offset. Memory is bounded by a small multiple of the file's size. */
FM_MUST_USE bool fm_procrep_read(const char *path, struct fm_procrep **ret, GError **error);
/* Opens X.procrep beside X.data, beneath roots (NULL: anywhere). FM_ERROR_NOT_FOUND also when
 * data_path does not end in .data. */
FM_MUST_USE bool fm_procrep_read_beside(const struct fm_roots *roots, const char *data_path,
                                        struct fm_procrep **ret, GError **error);
/* Reads from memory, which must outlive it; name is used in messages. */
FM_MUST_USE bool fm_procrep_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                       struct fm_procrep **ret, GError **error);
/* Reads the index of X.procrep beside X.data in small steps, so that a scheduler can do other work
 * in between. Errors: as fm_procrep_read_beside(); errors in the content when a step reaches
 * them. */
struct fm_procrep_job;
FM_MUST_USE bool fm_procrep_job_new_beside(const struct fm_roots *roots, const char *data_path,
                                           struct fm_procrep_job **ret, GError **error);
/* Reads or indexes about `procs` procedures (> 0); a module's strings and types count as one. Do
 * not call it again after FM_JOB_FAILED. */
enum fm_job_state fm_procrep_job_step(struct fm_procrep_job *job, uint32_t procs, GError **error);
/* After FM_JOB_DONE; the caller owns it. */
struct fm_procrep *fm_procrep_job_take(struct fm_procrep_job *job);
void fm_procrep_job_free(struct fm_procrep_job *job); /* NULL is allowed */

void fm_procrep_free(struct fm_procrep *procrep); /* NULL is allowed */
typedef struct fm_procrep FmProcrep;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmProcrep, fm_procrep_free)

/* Returns the index of the procedure with that label in the module that defines it, or -1. */
int64_t fm_procrep_find(const struct fm_procrep *procrep, const struct fm_proc_label *label);
int64_t fm_procrep_find_ps(const struct fm_procrep *procrep, const struct fm_ps *ps);
const struct fm_procrep_module *fm_procrep_module(const struct fm_procrep *procrep,
                                                  const char *name); /* NULL: none */
void fm_proc_label_of_ps(const struct fm_ps *ps, struct fm_proc_label *ret);
/* Order: ordinary before special; predicates before functions; then modules, names, arity, mode. */
int fm_proc_label_compare(const struct fm_proc_label *a, const struct fm_proc_label *b);
/* "pred m.p/2-0", "func m.f/3-0", "__Unify__ for m.t/0-0". */
void fm_proc_label_append(GString *out, const struct fm_proc_label *label);

/* --- bodies --- */

/* The values are those of the file. */
enum fm_goal_kind {
    FM_GOAL_CONJ = 1,
    FM_GOAL_DISJ,
    FM_GOAL_SWITCH,
    FM_GOAL_ITE, /* its children: condition, then, else */
    FM_GOAL_NEGATION,
    FM_GOAL_SCOPE,
    FM_GOAL_CONSTRUCT, /* the first atomic one */
    FM_GOAL_DECONSTRUCT,
    FM_GOAL_PARTIAL_CONSTRUCT,
    FM_GOAL_PARTIAL_DECONSTRUCT,
    FM_GOAL_ASSIGN,
    FM_GOAL_CAST,
    FM_GOAL_SIMPLE_TEST,
    FM_GOAL_FOREIGN,
    FM_GOAL_HIGHER_ORDER,
    FM_GOAL_METHOD,
    FM_GOAL_PLAIN_CALL,
    FM_GOAL_BUILTIN_CALL,
    FM_GOAL_EVENT,
    FM_GOAL_KINDS,
};

/* Bits: 1 = may have more than one solution, 2 = may have one, 4 = cannot fail, 8 = commits. */
enum fm_detism {
    FM_DETISM_FAILURE = 0,
    FM_DETISM_SEMIDET = 2,
    FM_DETISM_NONDET = 3,
    FM_DETISM_ERRONEOUS = 4,
    FM_DETISM_DET = 6,
    FM_DETISM_MULTI = 7,
    FM_DETISM_CC_NONDET = 10,
    FM_DETISM_CC_MULTI = 14,
};
static inline bool fm_detism_can_fail(enum fm_detism detism)
{
    return (detism & 4) == 0;
}
static inline bool fm_detism_many(enum fm_detism detism)
{
    return (detism & 1) != 0;
}
const char *fm_detism_name(enum fm_detism detism); /* "det", "multi" */
bool fm_detism_is_valid(unsigned code);

enum fm_inst { FM_INST_FREE, FM_INST_GROUND, FM_INST_OTHER, FM_INSTS };

#define FM_NO_VAR UINT32_MAX
#define FM_NO_GOAL UINT32_MAX

struct fm_functor {
    const char *name;
    uint32_t arity;
};

struct fm_goal {
    enum fm_goal_kind kind;
    enum fm_detism detism;
    bool can_fail;        /* switch */
    bool cut;             /* scope: it cuts solutions */
    uint32_t parent;      /* FM_NO_GOAL for the body itself */
    uint32_t number;      /* among its parent's children, from 1 */
    uint32_t end;         /* its subtree is goals[this .. end - 1], itself first */
    uint32_t child_count; /* the first child is the next goal; each following child begins at the
                             end of the one before */
    uint32_t var;         /* switched on; unified; assign, cast: output; closure; class info */
    uint32_t var2;        /* assign, cast: input; simple test: the second */
    uint32_t args, arg_count;         /* into fm_body.vars; FM_NO_VAR where a partial has none */
    uint32_t bound, bound_count;      /* atomic: into fm_body.vars, ascending */
    uint32_t functors, functor_count; /* an arm of a switch: into fm_body.functors */
    const char *module;               /* plain and builtin calls */
    const char *name;                 /* functor, callee, event */
    uint32_t method;                  /* from 1 */
    const char *file;                 /* atomic: "" = the procedure's */
    uint32_t line;                    /* atomic: 0 = not known */
};

struct fm_head_var {
    uint32_t var;
    enum fm_inst before, after;
};

struct fm_var_name {
    uint32_t var;
    const char *name; /* "" = none */
    uint32_t type;    /* in typed bodies: number of a type of the module */
};

struct fm_body {
    const char *file;      /* "" = made by the compiler */
    enum fm_detism detism; /* declared; may be looser than goals[0]'s */
    struct fm_head_var *heads;
    uint32_t head_count;
    bool typed;
    struct fm_var_name *names; /* in the file's order */
    uint32_t name_count;
    struct fm_goal *goals; /* parents before children, in order of execution */
    uint32_t goal_count;   /* at least 1 */
    uint32_t depth;        /* depth of the deepest goal; 1 = the body alone */
    uint32_t *vars;
    uint32_t var_count;
    struct fm_functor *functors;
    uint32_t functor_count;
    struct fm_body_storage *storage; /* NULL for one that was not decoded */
};

/* Decodes a body in time linear in its size; it may nest to any depth. The strings are those of
 * procrep. The caller owns *ret. Errors: FM_ERROR_FORMAT, _TRUNCATED, _IO (the file has become
 * shorter). */
FM_MUST_USE bool fm_procrep_body(const struct fm_procrep *procrep, uint32_t proc,
                                 struct fm_body **ret, GError **error);
void fm_body_free(struct fm_body *body); /* NULL is allowed */
typedef struct fm_body FmBody;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmBody, fm_body_free)

static inline bool fm_goal_is_atomic(const struct fm_goal *goal)
{
    return goal->kind >= FM_GOAL_CONSTRUCT;
}
/* Whether it is a plain, higher-order or method call: each has a call site in the profile. */
static inline bool fm_goal_is_call(const struct fm_goal *goal)
{
    return goal->kind == FM_GOAL_PLAIN_CALL || goal->kind == FM_GOAL_HIGHER_ORDER ||
           goal->kind == FM_GOAL_METHOD;
}
/* Appends the name of a variable; "V_7" when it has none. */
void fm_body_append_var(GString *out, const struct fm_body *body, uint32_t var);
/* Returns "" when the table has no name for it. */
const char *fm_body_var_name(const struct fm_body *body, uint32_t var);
/* Appends "c1;s2-na;"; "" for the body itself. */
void fm_body_append_path(GString *out, const struct fm_body *body, uint32_t goal);
/* Appends the step from its parent to a goal: "c1;". */
void fm_body_append_step(GString *out, const struct fm_body *body, uint32_t goal);
/* Returns the goal at a path; FM_NO_GOAL when there is none. The number of functors in switch steps
 * is ignored. */
uint32_t fm_body_find(const struct fm_body *body, const char *path);

/* Finds goals by path, for many look-ups: O(steps) each. */
struct fm_body_index;
struct fm_body_index *fm_body_index_new(const struct fm_body *body);
uint32_t fm_body_index_find(const struct fm_body_index *index, const char *path);
/* Returns the child with that number, from 1. The goal must have as many children. */
uint32_t fm_body_index_child(const struct fm_body_index *index, uint32_t goal, uint32_t number);
void fm_body_index_free(struct fm_body_index *index); /* NULL is allowed */

/* --- printing --- */

/* Appends lines of text about a goal, each with its newline, before the goal's code. */
struct fm_body_notes {
    /* prefix: each line must begin with it. */
    void (*append)(GString *out, uint32_t goal, const char *prefix, void *user);
    void *user;
};
/* Appends the name and arguments of an atomic goal: "list.append(Xs, Ys, Zs)". */
void fm_body_append_atomic(GString *out, const struct fm_body *body, uint32_t goal);
/* Lines are indented by the goal's depth, and most print its path, so deep bodies would take
 * quadratic space. Deeper goals are replaced by a line that says so. */
#define FM_BODY_PRINTED_DEPTH_MAX 1000u
/* Prints a procedure: types of its variables if it has them, head, body, an empty line. notes may
 * be NULL. */
void fm_body_print(GString *out, const struct fm_procrep *procrep, uint32_t proc,
                   const struct fm_body *body, const struct fm_body_notes *notes);
/* Prints the part of a module before its procedures. */
void fm_procrep_print_module_head(GString *out, const struct fm_procrep_module *module);
/* Returns the numbers of a module's procedures, sorted by label; g_free(). */
uint32_t *fm_procrep_sorted_procs(const struct fm_procrep *procrep,
                                  const struct fm_procrep_module *module);
/* Prints a whole module: head and procedures. */
FM_MUST_USE bool fm_procrep_print_module(GString *out, const struct fm_procrep *procrep,
                                         const struct fm_procrep_module *module, GError **error);

/* --- writing --- */

/* Writes the whole file in the given version. A file of version 5 comes out byte by byte as the
 * compiler writes it. In version 6, generated names are put into the table of strings instead.
 * Version 5 has no types: FM_ERROR_UNAVAILABLE when the file has some. */
FM_MUST_USE bool fm_procrep_encode(const struct fm_procrep *procrep, unsigned version,
                                   struct fm_writer *writer, GError **error);

struct fm_procrep_writer;
/* Writes bodies that the caller makes: modules one after the other, each with its procedures. */
struct fm_procrep_writer *fm_procrep_writer_new(unsigned version, struct fm_writer *out);
/* strings: initial table, copied; NULL for the one that every table begins with. Only name, oisu
 * and types of the module are used. */
void fm_procrep_writer_module(struct fm_procrep_writer *writer,
                              const struct fm_procrep_module *module, const char *strings,
                              size_t strings_size);
void fm_procrep_writer_proc(struct fm_procrep_writer *writer, const struct fm_proc_label *label,
                            const struct fm_body *body);
void fm_procrep_writer_finish(struct fm_procrep_writer *writer); /* frees it, not out */
