/* SPDX-License-Identifier: Apache-2.0 */
/* makecontext(context, fn, argc, ...): tells the runtime, then jumps to libc's with all arguments. */
#ifdef FATHOM_STATIC /* front.h */
#define makecontext fm_front_makecontext
#define GLOBAL .globl
#else
#define GLOBAL .weak /* one of the program's own wins */
#endif
        .text
        GLOBAL makecontext
        .type makecontext, @function
makecontext:
        .cfi_startproc
        pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        pushq %r8
        .cfi_adjust_cfa_offset 8
        pushq %r9
        .cfi_adjust_cfa_offset 8
        subq $8, %rsp
        .cfi_adjust_cfa_offset 8
        call fm_makecontext_noted@PLT
        call fm_makecontext_next@PLT
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq %r9
        .cfi_adjust_cfa_offset -8
        popq %r8
        .cfi_adjust_cfa_offset -8
        popq %rcx
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        movq %rax, %r11
        xorl %eax, %eax
        jmp *%r11
        .cfi_endproc
        .size makecontext, .-makecontext
        .section .note.GNU-stack, "", @progbits
