/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of a compiler (gcc in its languages, clang), as the compilers' own
 * drivers do, as far as `fathom cc` needs it; leaves the rest alone. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

enum fm_stage {
    FM_STAGE_QUERY,      /* no input: --version, -print-..., -dumpmachine, -### */
    FM_STAGE_PREPROCESS, /* -E, -M, -MM, -fsyntax-only: makes no code */
    FM_STAGE_COMPILE,    /* -S */
    FM_STAGE_ASSEMBLE,   /* -c */
    FM_STAGE_LINK,
};

enum fm_language {
    FM_LANGUAGE_C,         /* and Objective-C */
    FM_LANGUAGE_CPLUSPLUS, /* and Objective-C++ */
    FM_LANGUAGE_GCC,       /* Fortran, D, Ada: gcc compiles them, without a preprocessor of C */
    FM_LANGUAGE_ASSEMBLY,  /* with or without preprocessing */
    FM_LANGUAGE_HEADER,    /* to be precompiled */
    FM_LANGUAGE_OTHER,     /* Go, CUDA, ...: left alone */
    FM_LANGUAGE_OBJECT,    /* for the linker: objects, archives, libraries, scripts */
};

struct fm_input {
    const char *path;
    enum fm_language language;
};

struct fm_command_line {
    enum fm_stage stage;
    const char *output;        /* -o; NULL = not given */
    bool shared;               /* -shared */
    bool modules;              /* C++20's: an option for them, or a source named as one */
    bool position_independent; /* -fPIC */
    bool relocatable;          /* -r */
    bool fully_static;         /* -static, -static-pie */
    bool no_start_files;       /* -nostdlib, -nostartfiles; -nodefaultlibs without -lc */
    bool names_libc;           /* -nodefaultlibs with -lc, as rustc does */
    bool lto;
    bool profiled; /* -pg */
    bool split_dwarf;
    bool split_stack; /* -fsplit-stack */
    /* -fdiagnostics-format=json and the like: messages are not lines of text */
    bool other_messages;
    const char *linker;   /* -fuse-ld=; NULL = not given */
    bool sanitizers;      /* -fsanitize=address, thread, memory */
    bool language_forced; /* -x also applies to files after the last argument */
    const char
        *other_machine;   /* the option that asks for other code than that of x86-64, or NULL */
    GArray *inputs;       /* struct fm_input */
    GPtrArray *arguments; /* all of them, @files opened */
};

/* argv without the compiler's own name. The caller owns *ret; fm_command_line_free(). Errors:
 * FM_ERROR_LIMIT (response files that include themselves). An @file that cannot be read stays an
 * argument, as in the compilers. */
FM_MUST_USE bool fm_command_line_parse(int argc, char **argv, struct fm_command_line **ret,
                                       GError **error);
void fm_command_line_free(struct fm_command_line *line); /* NULL is allowed */

typedef struct fm_command_line FmCommandLine;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmCommandLine, fm_command_line_free)

/* Any input that the compiler proper will turn into code? */
bool fm_command_line_compiles(const struct fm_command_line *line);

/* Sources that take no -include: in one of gcc's other languages, or a C++ module's, which must
 * begin with its declaration. */
bool fm_command_line_lacks_includes(const struct fm_command_line *line);

/* Whether this is the name of a compiler: gcc, x86_64-linux-gnu-g++-12, clang-14, c++, gfortran,
 * ...? *ret_cplusplus and *ret_clang: which one, as far as the name shows. */
bool fm_compiler_name(const char *path, bool *ret_cplusplus, bool *ret_clang);

bool fm_is_fortran_compiler(const char *path);

/* A program that runs the compiler behind it: ccache and the like? */
bool fm_is_compiler_launcher(const char *path);

/* Is the compiler, by a triplet in its name, one for another processor than x86-64? */
bool fm_compiler_is_foreign(const char *path);
