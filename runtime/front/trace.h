/* SPDX-License-Identifier: Apache-2.0 */
/* Put in front of each source by `fathom cc --trace`: the program itself says which functions'
 * calls are timed one by one, as FATHOM_TRACE does (traced/traced.c). The linker folds equal
 * strings. */
#if !defined __ASSEMBLER__ && defined __FATHOM_TRACE
__asm__(".pushsection fm_traced_names,\"aMS\",@progbits,1\n" __FATHOM_TRACE "\n.popsection");
#endif
