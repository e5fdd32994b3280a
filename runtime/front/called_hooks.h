/* SPDX-License-Identifier: Apache-2.0 */
/* fathom cc passes this file with -include when clang inserts hook calls. clang before 17 also
 * inserts them into naked functions, which have no frame and whose registers belong to their
 * author; this line asks the assembler front end to remove them there. It is a comment, so any
 * assembler accepts it. */
#if !defined __ASSEMBLER__
#pragma GCC system_header
__asm__("# fathom: hooks are called");
#endif
