/* SPDX-License-Identifier: Apache-2.0 */
/* fathom cc passes this file with -include when hooks are at functions' entries. Only the
 * preprocessor knows whether the code may become part of a shared object; without the line, the
 * assembler front end assumes so. It is a comment, so any assembler accepts it. */
#if !defined __ASSEMBLER__
#pragma GCC system_header
#if !defined __PIC__ || defined __PIE__
__asm__("# fathom: executable");
#endif
#if defined __FATHOM_SLOTS
__asm__("# fathom: slots"); /* contexts are in a register */
#endif
#if defined __FATHOM_COVERAGE
__asm__("# fathom: blocks"); /* count them */
#endif
/* Functions that the program excludes from instrumentation must have no entry point for hooks
 * either. With clang, the other functions are recognised by their profiler calls. With gcc the
 * attribute is replaced. A program may ask for it with __has_attribute; that is redefined to say
 * yes, with the help of __has_cpp_attribute, by which gcc answers the same question. */
#if defined __clang__
#if defined __FATHOM_FENTRY
__asm__("# fathom: entries are told");
#endif
#else
#define no_instrument_function patchable_function_entry(0)
#define __no_instrument_function__ patchable_function_entry(0)
#if defined __has_attribute && defined __has_cpp_attribute
#define __fathom_second(first, second, ...) second
#define __fathom_pick(...) __fathom_second(__VA_ARGS__)
#define __fathom_ask(name) __has_cpp_attribute(name)
#define __fathom_yes(name) 1
#define __fathom_is_no_instrument_function ~, __fathom_yes
#define __fathom_is___no_instrument_function__ ~, __fathom_yes
#define __fathom_is_patchable_function_entry(count) ~, __fathom_yes
#define __has_attribute(name) __fathom_pick(__fathom_is_##name, __fathom_ask, ~)(name)
#endif
#endif
#endif
