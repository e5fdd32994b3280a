/* SPDX-License-Identifier: Apache-2.0 */
/* fathom cc passes this file with -include where clang writes calls of hooks into the code. clang
 * before 17 writes them into naked functions, too, which have no frame and whose registers belong
 * to their author: the line asks the assembler's front to take them out of there. A comment, so
 * that any assembler takes it. */
#if !defined __ASSEMBLER__
#pragma GCC system_header
__asm__("# fathom: hooks are called");
#endif
