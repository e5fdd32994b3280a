/* SPDX-License-Identifier: Apache-2.0 */
/* Where the handler of the tick's signal returns to: back to what was interrupted. As libc's own
 * (which has no name): unwinders know it by these instructions, or by what is told here of the
 * registers, which lie in the ucontext_t at the stack pointer. They look up the address before a
 * call's return address, so this begins a byte earlier. */
    .text
    .p2align 4
    .cfi_startproc
    .cfi_signal_frame
    .cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06 /* CFA: the word at 160, the stack pointer */
    .macro kept register, low, high
    .cfi_escape 0x10, \register, 3, 0x77, \low, \high
    .endm
    kept 8, 0xa8, 0x00  /* r8 to r15: 40 to 96 */
    kept 9, 0xb0, 0x00
    kept 10, 0xb8, 0x00
    kept 11, 0xc0, 0x00
    kept 12, 0xc8, 0x00
    kept 13, 0xd0, 0x00
    kept 14, 0xd8, 0x00
    kept 15, 0xe0, 0x00
    kept 5, 0xe8, 0x00  /* rdi: 104 */
    kept 4, 0xf0, 0x00  /* rsi */
    kept 6, 0xf8, 0x00  /* rbp */
    kept 3, 0x80, 0x01  /* rbx: 128 */
    kept 1, 0x88, 0x01  /* rdx */
    kept 0, 0x90, 0x01  /* rax */
    kept 2, 0x98, 0x01  /* rcx */
    kept 7, 0xa0, 0x01  /* rsp */
    kept 16, 0xa8, 0x01 /* rip */
    nop
    .globl fm_tick_return
    .hidden fm_tick_return
    .type fm_tick_return, @function
fm_tick_return:
    movq $15, %rax /* rt_sigreturn */
    syscall
    .cfi_endproc
    .size fm_tick_return, .-fm_tick_return
    .section .note.GNU-stack, "", @progbits
