/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of stacks: of samples, or of functions that are entered and left. Frames go in
 * from the outermost on; a function that is on the stack already is the same context again, as in
 * recordings (bounded recursion). Names that are no function's ([unknown], <lambda>: functions.c)
 * may stand on it in several contexts.
 *
 *   struct fm_stacks *stacks = fm_stacks_new("prog", "folded stacks of prog.folded");
 *   uint32_t f = fm_stacks_function(stacks, &(struct fm_stacks_name){.name = "main", .size = 4});
 *   fm_stacks_cut(stacks, 0);
 *   fm_stacks_push(stacks, f, 0);
 *   fm_stacks_add(stacks, FM_QUANTA, 12);
 *   if (!fm_stacks_finish(stacks, &profile, &error)) ... */
#pragma once

#include "profile/file/build.h"

#define FM_STACKS_DEPTH_MAX 10000u /* frames */

struct fm_stacks;

/* origin: fm_run_info.origin. Both are copied. */
struct fm_stacks *fm_stacks_new(const char *program, const char *origin);
void fm_stacks_free(struct fm_stacks *stacks); /* NULL is allowed; for stacks without finish */
/* For the header, for further measures and for what is not known. */
struct fm_build *fm_stacks_build(struct fm_stacks *stacks);

/* A further measure by another tool's name for it, made one of ours ([a-z][a-z0-9_]*) and unlike
 * the others'. 0: there is no room for it. */
unsigned fm_stacks_add_measure(struct fm_stacks *stacks, const char *name, const char *unit);
/* As above, with the unit's scale (fm_measure.scale). */
unsigned fm_stacks_add_scaled(struct fm_stacks *stacks, const char *name, const char *unit,
                              double scale);
/* Names the quanta when they are not time. unit: NULL = the name. */
void fm_stacks_name_quanta(struct fm_stacks *stacks, const char *name, const char *unit);

/* The proc static of a function, and of the whole program, which has the pd too. */
uint32_t fm_stacks_ps(const struct fm_stacks *stacks, uint32_t function);
uint32_t fm_stacks_root_pd(const struct fm_stacks *stacks);

/* Identity of a function. The texts need not be terminated, and end at a NUL byte. */
struct fm_stacks_name {
    const char *name;
    size_t size;
    const char *unit; /* source file or program file; NULL = the program's name */
    size_t unit_size;
    const char *file; /* with its path; NULL = not known */
    size_t file_size;
    uint32_t line; /* line of the function; 0 = not known; part of the identity only if */
    bool begins;   /* it is known to begin there, and the name is no function's */
    bool outside;  /* no function: a thread, or what stacks that were cut stand below */
};
/* Returns the same number for the same function: 0, 1, 2, ... */
uint32_t fm_stacks_function(struct fm_stacks *stacks, const struct fm_stacks_name *name);
/* Likewise of no function (fm_stacks_name.outside). */
uint32_t fm_stacks_outside(struct fm_stacks *stacks, const char *name, size_t size);
void fm_stacks_push_outside(struct fm_stacks *stacks, const char *name, size_t size);
/* The name of all code of a file whose functions are not known by name: "[libx.so.1]" of its path,
 * "[vdso]" as it is, "[unknown]" of none; g_free(). One a file: contexts stay readable, and two
 * runs can be compared. */
char *fm_stacks_unnamed(const char *path, size_t size);

/* A call of a function at a line of another, 0 = not known. */
struct fm_stacks_call {
    uint32_t caller, callee, line; /* functions */
    uint32_t file;    /* 0: the line is in the caller's own; else a number for another file, */
    const char *text; /* text of this name */
    size_t size;
};
/* Returns the same number for the same call: 0, 1, 2, ... Each callee at a line has a site of its
 * own. */
uint32_t fm_stacks_site(struct fm_stacks *stacks, const struct fm_stacks_call *call);
/* That some of its calls are not counted. */
void fm_stacks_site_uncounted(struct fm_stacks *stacks, uint32_t site);
/* Its index among its caller's slots. */
uint32_t fm_stacks_slot(const struct fm_stacks *stacks, uint32_t site);

/* How many frames there are, and to keep the outermost ones only. */
uint32_t fm_stacks_depth(const struct fm_stacks *stacks);
void fm_stacks_cut(struct fm_stacks *stacks, uint32_t depth);
/* A further frame, called at a line of the frame before it (0 = not known). At most
 * FM_STACKS_DEPTH_MAX: more are left out, which finish makes a note of. */
void fm_stacks_push(struct fm_stacks *stacks, uint32_t function, uint32_t line);
/* The innermost frame's own; nothing without a frame. */
void fm_stacks_add(struct fm_stacks *stacks, unsigned measure, uint64_t value);
/* The call in context that the innermost frame is, whose own is added to later without its stack
 * being built again; 0 = there is none, or the stack has a recursion: who is on it does not follow
 * from the call then. */
uint32_t fm_stacks_call(const struct fm_stacks *stacks);
/* For stacks that come again: as fm_stacks_call(), of a stack with a recursion a number of its own.
 * Asked for once a stack, since each such number takes memory; 0 = its frames are not all there, or
 * there is no room. */
uint32_t fm_stacks_keep(struct fm_stacks *stacks);
/* How many calls in context there are so far: each takes some 100 bytes. */
uint32_t fm_stacks_calls(const struct fm_stacks *stacks);
void fm_stacks_add_to(struct fm_stacks *stacks, uint32_t call, unsigned measure, uint64_t value);

/* Adds what belongs to no function: "the program" itself stands above all. Frees stacks, also on
 * failure. */
FM_MUST_USE bool fm_stacks_finish(struct fm_stacks *stacks, struct fm_profile **ret,
                                  GError **error);
