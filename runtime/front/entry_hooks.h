/* SPDX-License-Identifier: Apache-2.0 */
/* fathom cc passes this file with -include where the hooks stand at functions' entries. Only the
 * preprocessor knows whether the code may end up in a shared object; without the line the
 * assembler's front takes it that it may. A comment, so that any assembler takes it. */
#if !defined __ASSEMBLER__
#pragma GCC system_header
#if !defined __PIC__ || defined __PIE__
__asm__("# fathom: executable");
#endif
/* What a program keeps hooks from has no place for one, either. */
#define no_instrument_function patchable_function_entry(0)
#define __no_instrument_function__ patchable_function_entry(0)
#endif
