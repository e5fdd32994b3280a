/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom cc --trace` puts this before each source: the program itself then selects the functions
 * whose calls are timed one by one, like FATHOM_TRACE (traced/traced.c). The linker merges equal
 * strings. */
#if !defined __ASSEMBLER__ && defined __FATHOM_TRACE
__asm__(".pushsection fm_traced_names,\"aMS\",@progbits,1\n" __FATHOM_TRACE "\n.popsection");
#endif
