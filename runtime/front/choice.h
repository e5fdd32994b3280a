/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom cc` puts this before each source when functions are to be excluded that the compiler
 * cannot exclude itself. The object contains the patterns, and finishing removes the functions:
 *   -function:PART  -file:PART   excluded: names, paths that contain PART
 *   +function:PART               only these are recorded
 *
 * The section is not loaded with the program; the linker merges equal strings. */
#if !defined __ASSEMBLER__ && defined __FATHOM_CHOICE
__asm__(".pushsection fathom_choice,\"MS\",@progbits,1\n" __FATHOM_CHOICE "\n.popsection");
#endif
