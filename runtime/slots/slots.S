/* SPDX-License-Identifier: Apache-2.0 */
/* Where the hooks of --hooks=slots go on that do not find their node: every register is kept, as
 * the code around knows of no call. On the stack: the place to go on, and then
 *
 *   fm_slots_enter_v1, leaf   the function's description, its return address; r11 becomes the node
 *   fm_slots_late_v1          its description, the frame's key, which becomes the node
 *   fm_slots_exit_v1          the frame's key */
#include "node.h"

        .section fm_hooks_text, "ax", @progbits

        .macro KEEP
        .cfi_startproc
        .cfi_def_cfa_offset 16
        .cfi_offset %rip, -16
        pushq %rbp
        .cfi_def_cfa_offset 24
        .cfi_offset %rbp, -24
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq %rax
        pushq %rdi
        pushq %rsi
        pushq %rdx
        pushq %rcx
        pushq %r8
        pushq %r9
        pushq %r10
        pushq %r11
        subq $24, %rsp /* -80(%rbp): a result */
        andq $-16, %rsp
        .endm

/* Vectors, too: SSE, AVX and the three parts of AVX-512. */
        .macro KEEP_VECTORS
        subq $4096, %rsp
        andq $-64, %rsp
        xorl %eax, %eax
        movq %rsp, %rdi
        addq $512, %rdi
        movl $8, %ecx
        cld
        rep stosq
        movl $0xe6, %eax
        xorl %edx, %edx
        xsave64 (%rsp)
        .endm

        .macro GIVE_BACK_VECTORS
        movl $0xe6, %eax
        xorl %edx, %edx
        xrstor64 (%rsp)
        .endm

        .macro GIVE_BACK
        leaq -72(%rbp), %rsp
        popq %r11
        popq %r10
        popq %r9
        popq %r8
        popq %rcx
        popq %rdx
        popq %rsi
        popq %rdi
        popq %rax
        popq %rbp
        .cfi_def_cfa %rsp, 16
        ret $8
        .cfi_endproc
        .endm

        .macro ARGUMENTS kind, late
        movq 16(%rbp), %rdi
        .if \late
        movq 24(%rbp), %rsi
        movq (%rbp), %rdx
        movq 8(%rdx), %rdx
        .else
        leaq 24(%rbp), %rsi
        movq 24(%rbp), %rdx
        .endif
        movq %r15, %rcx
        movl $\kind, %r8d
        .endm

/* Whether the callee in r11 is the one: of owner eax, by slot ecx, with the description rsi. */
        .macro PROVE otherwise
        testl %r11d, %r11d
        jz \otherwise
        cmpl %eax, FM_SLOTS_PARENT(%r11)
        jne \otherwise
        cmpl %ecx, FM_SLOTS_INDEX(%r11)
        jne \otherwise
        cmpq %rsi, FM_SLOTS_FUNCTION(%r11)
        jne \otherwise
        testb $FM_SLOTS_NOT_BY_TABLE, FM_SLOTS_SPECIAL(%r11)
        jnz \otherwise
        .endm

        .macro POP register
        popq \register
        .cfi_adjust_cfa_offset -8
        .endm

        .macro PUSH register
        pushq \register
        .cfi_adjust_cfa_offset 8
        .endm

/* A callee of a site that has many stands in one of two places of a table (find.c). Only where hooked
 * code has called right from there: the slot that the caller's node tells is that of the return
 * address. r11 is free. */
        .macro BY_TABLE
        .cfi_startproc
        .cfi_def_cfa_offset 16
        .cfi_offset %rip, -16
        PUSH %rax
        PUSH %rcx
        PUSH %rdx
        PUSH %rsi
        movq fm_tls_v2@gottpoff(%rip), %r11
        cmpq %fs:FM_SLOTS_TLS(%r11), %r15
        jne 8f
        movq FM_SLOTS_FUNCTION(%r15), %rdx
        testq %rdx, %rdx
        jz 8f
        movl FM_SLOTS_SITE(%r15), %ecx
        subl $FM_SLOTS_HEADER, %ecx
        leaq FM_SLOTS_RETURNS(%rdx, %rcx), %r11
        movslq (%r11), %rax
        addq %rax, %r11
        cmpq 48(%rsp), %r11
        jne 8f
        movl FM_SLOTS_MAKER(%r15), %eax
        testl %eax, %eax
        cmovzl %r15d, %eax
        movq 40(%rsp), %rsi
        leal (%rax, %rcx), %edx
        addl %esi, %edx
        imull $FM_SLOTS_TABLE_FACTOR, %edx, %edx
        shrl $(32 - FM_SLOTS_TABLE_BITS), %edx
        shrl $2, %ecx
        leaq fm_slots_table(%rip), %r11
        movl (%r11, %rdx, 4), %r11d
        PROVE 6f
        jmp 7f
6:      xorl $1, %edx
        leaq fm_slots_table(%rip), %r11
        movl (%r11, %rdx, 4), %r11d
        PROVE 8f
7:      POP %rsi
        POP %rdx
        POP %rcx
        POP %rax
        ret $8
        .cfi_adjust_cfa_offset 32
8:      POP %rsi
        POP %rdx
        POP %rcx
        POP %rax
        .cfi_endproc
        .endm

        .macro ENTER name, kind, late
        .globl \name
        .type \name, @function
        .p2align 5
\name:
        .if \late == 0
        BY_TABLE
        .endif
        KEEP
        ARGUMENTS \kind, \late
        call fm_slots_find
        testq %rax, %rax
        jz 2f
1:
        movq %rax, \late*96-72(%rbp)
        GIVE_BACK
        .cfi_startproc
        .cfi_def_cfa %rbp, 24
        .cfi_offset %rip, -16
        .cfi_offset %rbp, -24
2:
        KEEP_VECTORS
        ARGUMENTS \kind, \late
        /* the caller's stack pointer and frame */
        .if \late
        movq (%rbp), %rax
        leaq 16(%rax), %r9
        movq (%rax), %rax
        .else
        leaq 32(%rbp), %r9
        movq (%rbp), %rax
        .endif
        pushq %rax
        pushq %rax
        call fm_slots_make
        addq $16, %rsp
        movq %rax, -80(%rbp)
        GIVE_BACK_VECTORS
        movq -80(%rbp), %rax
        jmp 1b
        .cfi_endproc
        .size \name, .-\name
        .endm
        ENTER fm_slots_enter_v1, 0, 0
        ENTER fm_slots_leaf_v1, 1, 0
        ENTER fm_slots_late_v1, 0, 1

        .globl fm_slots_exit_v1
        .type fm_slots_exit_v1, @function
        .p2align 5
fm_slots_exit_v1:
        KEEP
        movq 16(%rbp), %rdi
        movq %r15, %rsi
        call fm_slots_exit_find
        testq %rax, %rax
        jz 1f
        movq %rax, -80(%rbp)
        KEEP_VECTORS
        movq -80(%rbp), %rdi
        call fm_slots_exit_handler
        GIVE_BACK_VECTORS
1:
        GIVE_BACK
        .size fm_slots_exit_v1, .-fm_slots_exit_v1

        .hidden fm_slots_table
        .hidden fm_slots_find
        .hidden fm_slots_make
        .hidden fm_slots_exit_find
        .hidden fm_slots_exit_handler
        .section .note.GNU-stack, "", @progbits
