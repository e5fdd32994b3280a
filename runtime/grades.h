/* SPDX-License-Identifier: Apache-2.0 */
/* Options that fathom cc passes to the compiler for each grade: the contract between the runtime
 * and the wrapper. Lists end with NULL. Append them after the user's arguments, so that they take
 * precedence. %L is the folder of libfathom.a. */
#pragma once

#include <stddef.h>

struct fm_grade {
    const char *name;
    const char *const *gcc; /* when compiling (and compiling + linking) */
    const char *const *clang;
};

#define FM_FRAME "-fno-omit-frame-pointer"
/* No jumps in the place of last calls, and no loops in the place of functions' last calls of
 * themselves, which only full counts see. */
#define FM_NO_LAST_JUMPS "-fno-optimize-sibling-calls"
/* Loops of tail recursion, but no jumps to other functions. gcc warns about the option
 * (record/toolchain/note_filter.h); FM_NO_LAST_JUMPS replaces it when the warning cannot be
 * removed, and with -flto, since objects do not store it. */
#define FM_LOOPS_ONLY "-fdisable-tree-tailc"
#define FM_FRAME_FLAGS FM_FRAME, FM_NO_LAST_JUMPS

/* The assembler of this folder writes the hooks into the code. */
#define FM_ASSEMBLER "-B%L/assembler"

static const char *const fm_assembler_gcc[] = {FM_ASSEMBLER, NULL};

/* A nop at the entry of each function, which the assembler front end replaces by the hook. The hook
 * changes registers that callers in the same file might know to be preserved (ipa-ra). Identical
 * functions are not merged (ipa-icf): otherwise one would count under the other's name, or be a
 * jump to it. */
static const char *const fm_deep_gcc[] = {"-g",
                                          "-fpatchable-function-entry=1",
                                          "-fno-ipa-ra",
                                          "-fno-ipa-icf-functions",
                                          FM_FRAME,
                                          FM_LOOPS_ONLY,
                                          "-fno-partial-inlining",
                                          "-include",
                                          "%L/entry_hooks.h",
                                          FM_ASSEMBLER,
                                          NULL};
/* In addition with --hooks=slots: contexts are in r15, the caller's where the stack protector has
 * its place. */
static const char *const fm_slots_gcc[] = {"-D__FATHOM_SLOTS",      "-ffixed-r15",
                                           "-fstack-protector-all", "-mstack-protector-guard=tls",
                                           "-fno-stack-check",      NULL};
/* clang 14 writes lists of DWARF 5 as text that refers to labels which it has left out. */
#define FM_CLANG_TEXT "-gdwarf-4", "-fno-integrated-as", FM_ASSEMBLER
/* Facts about functions from its debug information are in comments (assembler/kept.c). */
#define FM_DEEP_CLANG                                                                           \
    FM_CLANG_TEXT, "-fpatchable-function-entry=1", FM_FRAME_FLAGS, "-fverbose-asm", "-include", \
        "%L/entry_hooks.h"
/* clang then calls a profiler after the nop, except in functions without hooks; the front end
 * removes that call. Passed to the compiler proper only, since the driver would link a library for
 * it. */
static const char *const fm_deep_clang[] = {FM_DEEP_CLANG, "-D__FATHOM_FENTRY", "-Xclang", "-pg",
                                            "-Xclang",     "-mfentry",          NULL};
/* For programs that use -pg themselves. */
static const char *const fm_deep_clang_profiled[] = {FM_DEEP_CLANG, NULL};
/* Called hooks: link-time optimisation of clang's has no assembler. */
static const char *const fm_deep_clang_lto[] = {"-g", "-finstrument-functions-after-inlining",
                                                FM_FRAME_FLAGS, NULL};
/* Inlined bodies, too. */
static const char *const fm_full_gcc[] = {"-g",
                                          "-finstrument-functions",
                                          FM_FRAME_FLAGS,
                                          "-fno-partial-inlining",
                                          "-fno-crossjumping",
                                          "-fno-tree-tail-merge",
                                          "-D__FATHOM_FULL",
                                          "-include",
                                          "%L/inline_hooks.h",
                                          FM_ASSEMBLER,
                                          NULL};
/* A hook's address identifies its call. If two are merged, before or after a branch, calls of one
 * body count as another's. clang has no other options against that. */
#define FM_HOOKS_APART                                                                       \
    "-mllvm", "-simplifycfg-hoist-common=false", "-mllvm", "-simplifycfg-sink-common=false", \
        "-mllvm", "-enable-tail-merge=false"
#define FM_FULL_CLANG "-finstrument-functions", FM_FRAME_FLAGS, FM_HOOKS_APART
/* The front end removes the calls in naked functions. */
#define FM_CALLED_HOOKS FM_CLANG_TEXT, "-include", "%L/called_hooks.h"
static const char *const fm_full_clang[] = {FM_CALLED_HOOKS, FM_FULL_CLANG, NULL};
static const char *const fm_full_clang_lto[] = {"-g", FM_FULL_CLANG, NULL};
/* As deep; the assembler's front counts the blocks, with the help of a register that the compiler
 * leaves to it. Lines keep blocks of their own: no choice without a jump, no code in common, no
 * copies of loops or of parts of them, no calls of memset in the place of loops. */
static const char *const fm_coverage_gcc[] = {"-g",
                                              "-fpatchable-function-entry=1",
                                              "-fno-ipa-ra",
                                              "-fno-ipa-icf-functions",
                                              FM_FRAME,
                                              FM_NO_LAST_JUMPS,
                                              "-fno-partial-inlining",
                                              "-ffixed-r11",
                                              "-fno-crossjumping",
                                              "-fno-tree-tail-merge",
                                              "-fno-if-conversion",
                                              "-fno-if-conversion2",
                                              "-fno-ssa-phiopt",
                                              "-fno-tree-vectorize",
                                              "-fno-code-hoisting",
                                              "-fno-thread-jumps",
                                              "-fno-tree-ch",
                                              "-fno-unroll-loops",
                                              "-fno-peel-loops",
                                              "-fno-unswitch-loops",
                                              "-fno-split-loops",
                                              "-fno-split-paths",
                                              "-fno-tracer",
                                              "-fno-tree-loop-distribution",
                                              "-fno-tree-loop-distribute-patterns",
                                              "--param",
                                              "max-completely-peel-times=0",
                                              "-freorder-blocks-algorithm=simple",
                                              "-D__FATHOM_COVERAGE",
                                              "-include",
                                              "%L/entry_hooks.h",
                                              FM_ASSEMBLER,
                                              NULL};
/* A callback at the start of each block after inlining; hooks are calls. With link-time
 * optimisation there is no text of one source; clang cannot reserve a register. */
static const char *const fm_coverage_gcc_lto[] = {"-g",
                                                  "-finstrument-functions",
                                                  FM_FRAME_FLAGS,
                                                  "-fno-partial-inlining",
                                                  "-fno-crossjumping",
                                                  "-fsanitize-coverage=trace-pc",
                                                  NULL};
#define FM_COVERAGE_CLANG FM_FULL_CLANG, "-fsanitize-coverage=bb,no-prune,trace-pc"
static const char *const fm_coverage_clang[] = {FM_CALLED_HOOKS, FM_COVERAGE_CLANG, NULL};
static const char *const fm_coverage_clang_lto[] = {"-g", FM_COVERAGE_CLANG, NULL};

static const struct fm_grade fm_grades[] = {
    {"deep", fm_deep_gcc, fm_deep_clang},
    {"full", fm_full_gcc, fm_full_clang},
    {"fast", fm_deep_gcc, fm_deep_clang}, /* was cheaper once */
    {"coverage", fm_coverage_gcc, fm_coverage_clang},
};

/* When linking an executable, before all of the user's objects and libraries:
 *   fm_link_static for -static and -static-pie, else fm_link_core.
 *
 * After all of them fm_link_fronts, whose functions are weaker than those of the program and its
 * archives; not with a sanitizer that has its own malloc (-fsanitize=address, thread, memory,
 * leak, hwaddress). For C++ also fm_link_new, unless -static-libstdc++ puts the operators into
 * the executable itself. When linking a shared object (-shared): fm_link_shared. The executable
 * exports the runtime's symbols, so that shared objects use its copy. Each is exported by name:
 * a pattern would also export functions of the program, in front of plugins' functions of the
 * same names (exported.py). */
static const char *const fm_link_core[] = {"%L/libfathom.a", "-Wl,@%L/exported.options", NULL};
/* FM_HOOKS_APART for clang's link-time optimisation. */
static const char *const fm_link_lto_clang[] = {"-Wl,-plugin-opt=-simplifycfg-hoist-common=false",
                                                "-Wl,-plugin-opt=-simplifycfg-sink-common=false",
                                                "-Wl,-plugin-opt=-enable-tail-merge=false", NULL};
/* Before glibc 2.34 threads and dlsym() were in libraries of their own, which are empty since. */
static const char *const fm_link_fronts[] = {
    "%L/libfathom_interpose.a", "%L/libfathom_heap.a", "%L/libfathom_waiting.a",
    "-Wl,--push-state,--as-needed,-ldl,-lpthread,--pop-state", NULL};
static const char *const fm_link_new[] = {"%L/libfathom_new.a", NULL};
/* After everything, when the compiler adds no libraries (-nodefaultlibs). */
static const char *const fm_link_libraries[] = {"-lc", NULL};
/* A fully static program: no shared object uses its copy, and exported symbols would make a static
 * PIE relocate thread-local ones too early. It begins in early.S. gcc does not request
 * .eh_frame_hdr there, which the unwinder needs. */
static const char *const fm_link_static[] = {"%L/libfathom.a",
                                             "%L/libfathom_early.a",
                                             "-Wl,--entry=fm_static_start",
                                             "-Wl,--defsym=fm_fully_static=1",
                                             "-Wl,--eh-frame-hdr",
                                             NULL};
/* libgfortran.a takes a program that has pthread_key_create, as libfathom.a makes it, for one with
 * threads, and then calls functions that it refers to weakly. */
static const char *const fm_link_static_fortran[] = {
    "-Wl,-u,pthread_create,-u,pthread_join,-u,pthread_self,-u,pthread_once,-u,pthread_detach",
    "-Wl,-u,pthread_mutex_init,-u,pthread_mutex_destroy,-u,pthread_mutex_lock",
    "-Wl,-u,pthread_mutex_trylock,-u,pthread_mutex_unlock,-u,pthread_cond_init",
    "-Wl,-u,pthread_cond_destroy,-u,pthread_cond_wait,-u,pthread_cond_signal",
    "-Wl,-u,pthread_cond_broadcast,-u,pthread_key_create,-u,pthread_key_delete",
    "-Wl,-u,pthread_getspecific,-u,pthread_setspecific",
    NULL};
/* The functions in front of libc's come after all of the program's own code. The program's archives
 * follow a second time, because only now are their definitions of these names needed; then
 * static_last.o, and after it libc (waiting/next_static.c). They are repeated among the compiler's
 * libraries, which are searched until all symbols are resolved. */
static const char *const fm_link_static_first[] = {"-L%L", "-Wl,@%L/static.options",
                                                   "-Wl,--start-group", "-lfathom_static", NULL};
static const char *const fm_link_static_last[] = {"-Wl,--end-group", "%L/static_last.o", NULL};
static const char *const fm_link_static_gcc[] = {"-specs=%L/static.specs", NULL};
/* clang names the compiler's libraries after everything else. So they are named here, preceded by
 * that of C++, which also calls redirected functions. */
#define FM_STATIC_CLANG_FIRST "-Wl,--start-group", "-lfathom_static"
#define FM_STATIC_CLANG_LAST "-lgcc", "-lgcc_eh", "-lc", "-Wl,--end-group", NULL
static const char *const fm_link_static_clang[] = {FM_STATIC_CLANG_FIRST, FM_STATIC_CLANG_LAST};
static const char *const fm_link_static_clangxx[] = {FM_STATIC_CLANG_FIRST, "-lstdc++", "-lm",
                                                     FM_STATIC_CLANG_LAST};
static const char *const fm_link_static_libcxx[] = {FM_STATIC_CLANG_FIRST, "-lc++", "-lc++abi",
                                                    "-lm", FM_STATIC_CLANG_LAST};
/* Many compilers pass --as-needed, which drops libraries that nothing before them needs. */
static const char *const fm_link_shared[] = {
    "%L/libfathom_library.a", "-Wl,--push-state,--no-as-needed",
    "%L/libfathom.so",        "-Wl,--pop-state",
    "-Wl,-rpath,%L",          NULL};
