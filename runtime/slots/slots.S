/* SPDX-License-Identifier: Apache-2.0 */
/* Where the hooks of --hooks=slots go on that do not find their node: every register is kept, as
 * the code around knows of no call. They are called, as a return that was pushed would make the CPU
 * mistake all returns that follow. Behind the return address:
 *
 *   fm_slots_enter_v2, leaf   the function's return address; r11: its description, becomes the node
 *   fm_slots_late_v2          its description, the frame's key, which becomes the node
 *   fm_slots_exit_v2          the frame's key */
#include "node.h"

        .section fm_hooks_text, "ax", @progbits

/* above: bytes above the stack pointer, up to the return address */
        .macro KEEP above
        .cfi_startproc
        .cfi_def_cfa_offset 8 + \above
        pushq %rbp
        .cfi_def_cfa_offset 16 + \above
        .cfi_offset %rbp, -16 - \above
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

        .macro GIVE_BACK above
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
        .cfi_def_cfa %rsp, 8 + \above
        .if \above
        leaq \above(%rsp), %rsp
        .cfi_def_cfa_offset 8
        .endif
        ret
        .cfi_endproc
        .endm

        .macro ARGUMENTS kind, late
        .if \late
        movq 16(%rbp), %rdi
        movq 24(%rbp), %rsi
        movq (%rbp), %rdx
        movq 8(%rdx), %rdx
        .else
        movq 8(%rbp), %rdi
        leaq 24(%rbp), %rsi
        movq 24(%rbp), %rdx
        .endif
        movq %r15, %rcx
        movl $\kind, %r8d
        .endm

        .macro POP register
        popq \register
        .cfi_adjust_cfa_offset -8
        .endm

        .macro PUSH register
        pushq \register
        .cfi_adjust_cfa_offset 8
        .endm

        .macro PUSH_TWO
        PUSH %rdx
        PUSH %rcx
        .endm

        .macro PUSH_TWO_MORE
        PUSH %rax
        PUSH %rsi
        .endm

        .macro POP_TWO_MORE
        POP %rsi
        POP %rax
        .endm

        .macro POP_TWO
        POP %rcx
        POP %rdx
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

/* A callee of a site that has many stands in one of two places of a table (find.c). node: the
 * caller; ecx: offset of its slot; rsi: the callee's description. r11 becomes the callee. */
        .macro BY_TABLE node, half, otherwise
        movl FM_SLOTS_MAKER(\node), %eax
        testl %eax, %eax
        cmovzl \half, %eax
        leal (%rax, %rcx), %edx
        addl %esi, %edx
        imull $FM_SLOTS_TABLE_FACTOR, %edx, %edx
        shrl $(32 - FM_SLOTS_TABLE_BITS), %edx
        shrl $2, %ecx
        leaq fm_slots_table(%rip), %r11
        movl (%r11, %rdx, 4), %r11d
        PROVE 41f
        jmp 42f
41:     xorl $1, %edx
        leaq fm_slots_table(%rip), %r11
        movl (%r11, %rdx, 4), %r11d
        PROVE \otherwise
42:
        .endm

/* The callee in r11 has been entered by code without hooks: a record for its exit, as
 * fm_slots_entry_push(). */
        .macro RECORD otherwise
        movq fm_tls_v2@gottpoff(%rip), %rax
        movq %fs:FM_SLOTS_TLS_OWN(%rax), %rcx
        movl FM_SLOTS_ENTRY_COUNT(%rcx), %edx
        cmpl FM_SLOTS_ENTRY_ROOM(%rcx), %edx
        je \otherwise
        orl $FM_SLOTS_IS_OPEN, FM_SLOTS_SPECIAL(%r11)
        movq %fs:FM_SLOTS_TLS(%rax), %rax
        leaq (%rdx, %rdx, 2), %rdx
        shlq $3, %rdx
        addq FM_SLOTS_ENTRIES(%rcx), %rdx
        leaq 48(%rsp), %rsi
        WRITE_RECORD
        incl FM_SLOTS_ENTRY_COUNT(%rcx)
43:     movl FM_SLOTS_ENTRY_COUNT(%rcx), %edx
        leaq -3(%rdx, %rdx, 2), %rdx
        shlq $3, %rdx
        pushq FM_SLOTS_ENTRIES(%rcx)
        .cfi_adjust_cfa_offset 8
        addq (%rsp), %rdx
        WRITE_RECORD
        POP %rdx
        cmpq FM_SLOTS_ENTRIES(%rcx), %rdx
        jne 43b
        .endm

        .macro WRITE_RECORD
        movq %rsi, FM_SLOTS_ENTRY_KEY(%rdx)
        movq %rax, FM_SLOTS_ENTRY_CURRENT(%rdx)
        movl $0, FM_SLOTS_ENTRY_SIGNAL(%rdx)
        .endm

/* Nodes that need no more than a look, with r11 alone free. First, hooked code has called right from
 * there: the slot that the caller's node tells is that of the return address. Then the table knows
 * the callee. Second, code without hooks has called, with something else in r15. Then the context
 * is that which hooked code was left from, or the thread's root, and the callee is one of the first
 * of its slot, or in the table. Handlers of signals are for those below. Third, the recording is
 * stopped: then the callee is the thread's stand-in. */
        .macro AT_HAND leaf
        .cfi_startproc
        PUSH %r11
        movq fm_tls_v2@gottpoff(%rip), %r11
        cmpq $0, %fs:FM_SLOTS_TLS_STOPPED(%r11)
        jne 11f
        cmpq %fs:FM_SLOTS_TLS(%r11), %r15
        jne 3f
        PUSH_TWO
        PUSH_TWO_MORE
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
        movq 32(%rsp), %rsi
        BY_TABLE %r15, %r15d, 8f
1:      POP_TWO_MORE
2:      POP_TWO
        leaq 8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_def_cfa_offset 16
3:      cmpq $FM_SLOTS_HIGH, %r15
        jae 4f
        cmpq $FM_SLOTS_LOW, %r15
        jae 10f
4:      cmpl $0, %fs:FM_SLOTS_TLS_INSIDE(%r11)
        jne 10f
        PUSH_TWO
        movq %fs:FM_SLOTS_TLS(%r11), %rdx
        leaq -FM_SLOTS_LOW(%rdx), %rcx
        cmpq $(FM_SLOTS_HIGH - FM_SLOTS_LOW), %rcx
        jb 5f
        movq %fs:FM_SLOTS_TLS_ROOT(%r11), %rdx
        testq %rdx, %rdx
        jz 9f
5:      movq 32(%rsp), %r11
        cmpq fm_slots_handlers_return(%rip), %r11
        je 9f
        cmpq $0, 8+fm_slots_handlers_return(%rip)
        jne 9f
        movl FM_SLOTS_SITE(%rdx), %ecx
        movl (%rdx, %rcx), %r11d
        movq 16(%rsp), %rcx
        cmpq %rcx, FM_SLOTS_FUNCTION(%r11)
        je 6f
        movl FM_SLOTS_NEXT(%r11), %r11d
        cmpq %rcx, FM_SLOTS_FUNCTION(%r11)
        je 6f
        movl FM_SLOTS_NEXT(%r11), %r11d
        cmpq %rcx, FM_SLOTS_FUNCTION(%r11)
        jne 7f
6:      testb $FM_SLOTS_NOT_BY_TABLE, FM_SLOTS_SPECIAL(%r11)
        jnz 9f
        .if \leaf
        jmp 2b
        .else
        PUSH_TWO_MORE
        RECORD 8f
        jmp 1b
        .cfi_adjust_cfa_offset -16
        .endif
7:      PUSH_TWO_MORE
        movq %rcx, %rsi
        movl FM_SLOTS_SITE(%rdx), %ecx
        subl $FM_SLOTS_HEADER, %ecx
        BY_TABLE %rdx, %edx, 8f
        .if \leaf == 0
        RECORD 8f
        .endif
        jmp 1b
        .cfi_adjust_cfa_offset -32
11:     PUSH_TWO
        .if \leaf
        movq %fs:FM_SLOTS_TLS_STOPPED(%r11), %r11
        testq %r11, %r11 /* another thread may have started it */
        jnz 2b
        jmp 9f
        .else
        cmpq %fs:FM_SLOTS_TLS(%r11), %r15
        jne 9f
        movq 16(%rsp), %rcx
        cmpl $(2 * FM_SLOTS_STAND_IN_SITES), FM_SLOTS_SITES(%rcx)
        ja 9f
        movq %fs:FM_SLOTS_TLS_STOPPED(%r11), %r11
        testq %r11, %r11
        jz 9f
        testb $FM_SLOTS_IS_STAND_IN, FM_SLOTS_SPECIAL(%r15)
        jnz 2b
        movl %r15d, FM_SLOTS_PARENT(%r11)
        jmp 2b
        .endif
        .cfi_adjust_cfa_offset 16
8:      POP_TWO_MORE
9:      POP_TWO
10:
        .cfi_endproc
        .endm

        .macro ENTER name, kind, late
        .globl \name
        .type \name, @function
        .p2align 5
\name:
        .if \late == 0
        AT_HAND \kind
        .endif
        KEEP 8-8*\late
        ARGUMENTS \kind, \late
        call fm_slots_find
        testq %rax, %rax
        jz 2f
1:
        movq %rax, \late*96-72(%rbp)
        GIVE_BACK 8-8*\late
        .cfi_startproc
        .cfi_def_cfa %rbp, 24 - 8 * \late
        .cfi_offset %rbp, -24 + 8 * \late
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
        ENTER fm_slots_enter_v2, 0, 0
        ENTER fm_slots_leaf_v2, 1, 0
        ENTER fm_slots_late_v2, 0, 1

        .globl fm_slots_exit_v2
        .type fm_slots_exit_v2, @function
        .p2align 5
fm_slots_exit_v2:
        .cfi_startproc
        PUSH %rax
        PUSH %rcx
        PUSH %rdx
        movq fm_tls_v2@gottpoff(%rip), %rax
        movq %fs:FM_SLOTS_TLS_OWN(%rax), %rcx
        testq %rcx, %rcx
        jz 3f
        movl FM_SLOTS_ENTRY_COUNT(%rcx), %edx
        testl %edx, %edx
        jz 3f
        leaq -3(%rdx, %rdx, 2), %rdx
        shlq $3, %rdx
        addq FM_SLOTS_ENTRIES(%rcx), %rdx
        cmpl $0, FM_SLOTS_ENTRY_SIGNAL(%rdx)
        jne 3f
        PUSH %rsi
        movq 40(%rsp), %rsi
        cmpq %rsi, FM_SLOTS_ENTRY_KEY(%rdx)
        POP %rsi
        jne 3f
        movq FM_SLOTS_ENTRY_CURRENT(%rdx), %rdx
        movq %rdx, %fs:FM_SLOTS_TLS(%rax)
        decl FM_SLOTS_ENTRY_COUNT(%rcx)
        POP %rdx
        POP %rcx
        POP %rax
        ret
        .cfi_adjust_cfa_offset 24
3:      POP %rdx
        POP %rcx
        POP %rax
        .cfi_endproc
        KEEP 0
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
        GIVE_BACK 0
        .size fm_slots_exit_v2, .-fm_slots_exit_v2

        .hidden fm_slots_table
        .hidden fm_slots_handlers_return
        .hidden fm_slots_find
        .hidden fm_slots_make
        .hidden fm_slots_exit_find
        .hidden fm_slots_exit_handler
        .section .note.GNU-stack, "", @progbits
