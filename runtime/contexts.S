/* SPDX-License-Identifier: Apache-2.0 */
/* makecontext(context, fn, argc, ...), swapcontext, setcontext: tell the runtime, then jump to
 * libc's with all arguments, as they note or leave their caller's frame. */
        .text
        /* noted(first argument, second, frame address) */
        .macro FRONT name noted next
        .globl \name
        .type \name, @function
\name:
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
        leaq 48(%rsp), %rdx
        call \noted@PLT
        call \next@PLT
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
        .size \name, .-\name
        .endm

        FRONT makecontext, fm_makecontext_noted, fm_makecontext_next
        FRONT swapcontext, fm_swapcontext_noted, fm_swapcontext_next
        FRONT setcontext, fm_setcontext_noted, fm_setcontext_next
        .section .note.GNU-stack, "", @progbits
