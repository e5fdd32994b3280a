/* SPDX-License-Identifier: Apache-2.0 */
/* Put in front of each source by `fathom cc` when functions are to be left out that the compiler
 * cannot leave out itself. The object carries the patterns, finishing leaves the functions out:
 *   -function:PART  -file:PART   left out: names, paths that hold PART
 *   +function:PART               recorded alone
 * The section is not loaded with the program; the linker folds equal strings. */
#if !defined __ASSEMBLER__ && defined __FATHOM_CHOICE
__asm__(".pushsection fathom_choice,\"MS\",@progbits,1\n" __FATHOM_CHOICE "\n.popsection");
#endif
