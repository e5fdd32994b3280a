/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler command line of `fathom cc`, and checks of the result. */
#pragma once

#include "record/toolchain/command_line.h"

/* Parts of the program to leave out or to record alone. */
struct fm_choice {
    GPtrArray *files;     /* elements: char *: parts of paths: files and folders */
    GPtrArray *functions; /* elements: char *: parts of function names */
};

struct fm_toolchain {
    const char *const *launcher; /* words before the compiler, as ccache; NULL = none */
    const char *compiler;
    bool cplusplus, clang;
    const char *grade; /* one of runtime/grades.h */
    bool slots;        /* --hooks=slots */
    struct fm_choice exclude, only;
    const char *traced;         /* names of functions, separated by commas; NULL = none */
    bool include_system;        /* record functions of the system's headers, too */
    const char *runtime_folder; /* folder of libfathom.a */
};

/* Is there a grade of this name? FM_ERROR_USAGE lists those that there are. */
FM_MUST_USE bool fm_grade_check(const char *name, GError **error);

/* Sorts a pattern of --exclude or --only: with a '/' or a source file's ending it is part of a
 * path, else of a function's name; "file:" and "function:" in front decide. */
void fm_choice_init(struct fm_choice *choice);
void fm_choice_add(struct fm_choice *choice, const char *pattern);
void fm_choice_done(struct fm_choice *choice);

/* The folder of libfathom.a: $FATHOM_RUNTIME, beside the program in its build tree, or where it is
 * installed. The caller frees it. FM_ERROR_NOT_FOUND. */
FM_MUST_USE char *fm_toolchain_runtime_folder(GError **error);

/* The arguments (compiler first, NULL last; g_strfreev) that carry out line in the grade asked for.
 * Commands that make no code are passed on unchanged. Errors: FM_ERROR_UNAVAILABLE (something that
 * this compiler cannot leave out, code of another processor), FM_ERROR_NOT_FOUND. */
FM_MUST_USE char **fm_toolchain_arguments(const struct fm_toolchain *toolchain,
                                          const struct fm_command_line *line, int argc, char **argv,
                                          GError **error);

/* Checks a linked program: the hooks must be libfathom's, not the empty ones of libc. A file that
 * is not ELF, or calls no hooks, is accepted. FM_ERROR_FORMAT says what is wrong. (A shared library
 * uses the hooks of the program that loads it, or of libfathom.so.) */
FM_MUST_USE bool fm_toolchain_verify(const char *path, GError **error);

/* Checks a linked file with hooks of --hooks=slots: a program without hooks of the other kind.
 * FM_ERROR_UNAVAILABLE. */
FM_MUST_USE bool fm_toolchain_verify_slots(const char *path, bool shared, GError **error);

/* Does the file call or hold the hooks? */
bool fm_toolchain_is_instrumented(const char *path);
