/* SPDX-License-Identifier: Apache-2.0 */
/* --grade=fast, gcc: fathom cc passes this file with -include. Only the preprocessor knows whether the
 * code may end up in a shared object; without the line the assembler's front takes it that it may. A
 * comment, so that any assembler takes it. */
#if !defined __ASSEMBLER__ && (!defined __PIC__ || defined __PIE__)
#pragma GCC system_header
__asm__("# fathom: executable");
#endif
