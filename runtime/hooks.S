/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks as called functions, x86-64 System V. Fast paths: no call, no lock, no system call.
 *
 *   rdi = function entered, rsi = its frame's return address, rbp = its frame pointer.
 *
 * Frames are compared by their address, rbp: equal to the top's (which is stored 4 lower for an
 * inlined body) means that the body is inlined into the top's frame; above it means that the top was
 * left without its exit hook. Layouts: hot.h, recording_format.h. */
#define TLS_BOUND 0
#define TLS_TOP 8
#define TLS_TABLE 16
#define TLS_MASK 24
#define TLS_LIMIT 32
#define TLS_FAR_LEFT 72
#define TLS_EXIT_ANY 88
#define CSD_EPOCH_FLAGS 52
#define CSD_BYTES 56
#define CSD_MADE_CALLEE 4
#define CSD_DEPTHS 16
#define CSD_WITHIN 32
#define CSD_ACROSS 64
#define FM_CFA_UNCOUNTED 1
#define FM_DEPTH_UNKNOWN 0x4000000000000000
#define FM_HOOK_FACTOR -0x61C8864F
#define FM_KEY_FACTOR -0x7A143595

        .section fm_hooks_text, "ax", @progbits

        .globl __cyg_profile_func_enter
        .type __cyg_profile_func_enter, @function
        .p2align 5
__cyg_profile_func_enter:
        .cfi_startproc
        movq fm_tls_v2@gottpoff(%rip), %rcx
        movq %rbp, %rax
        movq (%rsp), %rdx
        cmpq %fs:TLS_BOUND(%rcx), %rax
        jno .Lenter_not
        movq %fs:TLS_TOP(%rcx), %r8
        cmpq %fs:TLS_LIMIT(%rcx), %r8
        jae .Lenter_slow
        movq %rsi, %r11
        movq %rax, %r9
        subq (%r8), %r9
        jb .Lenter_look
        cmpq $4, %r9
        ja .Lenter_slow
        xorl %r11d, %r11d
        subq $4, %rax
.Lenter_look:
        imulq $FM_HOOK_FACTOR, %rdx, %r9
        leaq (%r9, %r11, 8), %r11
        imulq $FM_KEY_FACTOR, 16(%r8), %r9
        addq %r9, %r11
        movq %fs:TLS_MASK(%rcx), %r10
        andq %r11, %r10
        addq %fs:TLS_TABLE(%rcx), %r10
        cmpq %r11, (%r10)
        jne .Lenter_second
.Lenter_found:
        movq 16(%r10), %r9
        movq 8(%r10), %r10
        incq (%r10)
        movq %r10, 40(%r8)
        movq %r9, 48(%r8)
        movq %rdi, 56(%r8)
        movq %rax, 32(%r8)
        addq $32, %r8
        movq %r8, %fs:TLS_TOP(%rcx)
        ret
.Lenter_second:
        xorq $32, %r10
        cmpq %r11, (%r10)
        je .Lenter_found
        pushq %r11
        call fm_index_find_v1
        popq %r10
        testq %r10, %r10
        jne .Lenter_found
.Lenter_slow:
        movq %rbp, %rcx
        jmp fm_enter_slow_v1@PLT
.Lenter_not:
        jc .Lenter_slow
        ret
        .cfi_endproc
        .size __cyg_profile_func_enter, .-__cyg_profile_func_enter

        .globl __cyg_profile_func_exit
        .type __cyg_profile_func_exit, @function
        .p2align 5
__cyg_profile_func_exit:
        .cfi_startproc
        movq fm_tls_v2@gottpoff(%rip), %rcx
        movq %rbp, %rax
        movq %fs:TLS_TOP(%rcx), %r8
        /* Reached by a jump (the function has left its frame): our return address is its own. */
        cmpq %rsi, (%rsp)
        je .Lexit_tail
.Lexit_test:
        cmpq %fs:TLS_EXIT_ANY(%rcx), %rax
        jno .Lexit_done
        movq %rax, %r9
        subq (%r8), %r9
        testq $-5, %r9
        jne .Lexit_other
        cmpq %rdi, 24(%r8)
        jne .Lexit_slow
        leaq -32(%r8), %r9
        movq %r9, %fs:TLS_TOP(%rcx)
        movq $0, (%r8)
.Lexit_done:
        ret
.Lexit_tail:
        leaq -8(%rsp), %rax
        jmp .Lexit_test
.Lexit_other:
        cmpq %rax, (%r8)
        jb .Lexit_slow
        /* The top is an older frame; while recording is stopped that is the normal case. */
        cmpq %fs:TLS_BOUND(%rcx), %rax
        jnc .Lexit_done
.Lexit_slow:
        movq %rax, %rsi
        jmp fm_leave_slow_v1@PLT
        .cfi_endproc
        .size __cyg_profile_func_exit, .-__cyg_profile_func_exit

/* The index entry of an edge that is not in its home pair: the identity is above the return address,
 * and replaced by the entry's address, or 0 if there is none or the index must be arranged anew. All
 * registers are kept. */
        .globl fm_index_find_v1
        .type fm_index_find_v1, @function
        .p2align 5
fm_index_find_v1:
        .cfi_startproc
        pushq %rax
        .cfi_adjust_cfa_offset 8
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        movq 40(%rsp), %rax
        movq fm_tls_v2@gottpoff(%rip), %rdx
        movq %rax, %rcx
        andq $-33, %rcx
.Lfind_next:
        addq $64, %rcx
        movq %fs:TLS_MASK(%rdx), %rsi
        andq %rcx, %rsi
        addq %fs:TLS_TABLE(%rdx), %rsi
        cmpq %rax, (%rsi)
        je .Lfind_done
        cmpq $0, (%rsi) /* a free place: nothing of the home pair is further on */
        je .Lfind_none
        addq $32, %rsi
        cmpq %rax, (%rsi)
        je .Lfind_done
        cmpq $0, (%rsi)
        jne .Lfind_next
.Lfind_none:
        xorl %esi, %esi
        jmp .Lfind_give
.Lfind_done:
        decq %fs:TLS_FAR_LEFT(%rdx)
        js .Lfind_none
.Lfind_give:
        movq %rsi, 40(%rsp)
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        popq %rcx
        .cfi_adjust_cfa_offset -8
        popq %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size fm_index_find_v1, .-fm_index_find_v1

/* Of an edge that closes a recursion: the depth, into the new frame and into the counts of the pd
 * (fm_depth_count() of graph.c does the same). r11 = the caller's frame, rax = the index entry, both
 * kept; r10 is changed. */
        .globl fm_deeper_v1
        .type fm_deeper_v1, @function
        .p2align 5
fm_deeper_v1:
        .cfi_startproc
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        .cfi_remember_state
        movq 8(%rax), %rdx
        movl CSD_EPOCH_FLAGS(%rdx), %r10d
        andl $(CSD_DEPTHS | CSD_ACROSS), %r10d
        cmpl $CSD_DEPTHS, %r10d
        jne .Ldeeper_other
        /* As a rule this depth is not the greatest so far; one that is not known and a function's
         * address are greater than any. Often the caller closed a recursion, too. */
        movq 8(%r11), %r10
        testb $CSD_DEPTHS, CSD_EPOCH_FLAGS(%r10)
        jz .Ldeeper_below
        movq 24(%r11), %r10
        incq %r10
.Ldeeper_known:
        addq CSD_BYTES(%rdx), %rdx
        cmpq (%rdx), %r10
        ja .Ldeeper_other
        movq %r10, 56(%r11)
        bsrq %r10, %r10
        incq 16(%rdx, %r10, 8)
        popq %rdx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_restore_state
/* Down to a frame that closed one, or to the one that entered the clique: rdx, with its csd in r10. */
.Ldeeper_below:
        movq %r11, %rdx
.Ldeeper_next:
        cmpq $0, (%rdx) /* FM_CFA_GUARD alone is negative */
        jl .Ldeeper_other
        testb $FM_CFA_UNCOUNTED, (%rdx)
        jnz .Ldeeper_other
        movl CSD_EPOCH_FLAGS(%r10), %r10d
        testb $CSD_MADE_CALLEE, %r10b
        jz .Ldeeper_other
        testb $CSD_WITHIN, %r10b
        jz .Ldeeper_entered
        subq $32, %rdx
        movq 8(%rdx), %r10
        testb $CSD_DEPTHS, CSD_EPOCH_FLAGS(%r10)
        jz .Ldeeper_next
        movq 24(%rdx), %r10
        incq %r10
        movq 8(%rax), %rdx
        jmp .Ldeeper_known
.Ldeeper_entered:
        movl $2, %r10d
        movq 8(%rax), %rdx
        jmp .Ldeeper_known
.Ldeeper_other:
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        pushq %rax
        .cfi_adjust_cfa_offset 8
        movq 8(%rax), %rdx
        testb $CSD_DEPTHS, CSD_EPOCH_FLAGS(%rdx)
        jz .Ldeeper_done
        addq CSD_BYTES(%rdx), %rdx
        movq %r11, %rcx
.Ldeeper_look:
        movq (%rcx), %r10
        cmpq $-8, %r10 /* FM_CFA_GUARD */
        je .Ldeeper_unknown
        testb $FM_CFA_UNCOUNTED, %r10b
        jnz .Ldeeper_unknown
        movq 8(%rcx), %r10
        movl CSD_EPOCH_FLAGS(%r10), %r10d
        movl $1, %eax
        testb $CSD_MADE_CALLEE, %r10b
        jz .Ldeeper_closes
        subq $32, %rcx
        testb $CSD_WITHIN, %r10b
        jnz .Ldeeper_look
        jmp .Ldeeper_count
.Ldeeper_unknown:
        movabsq $FM_DEPTH_UNKNOWN, %r10
        movq %r10, 56(%r11)
        incq 8(%rdx)
        jmp .Ldeeper_done
.Ldeeper_closes:
        testb $CSD_DEPTHS, %r10b
        jz .Ldeeper_unknown
        movq 24(%rcx), %rax
        movabsq $FM_DEPTH_UNKNOWN, %r10
        cmpq %r10, %rax
        jae .Ldeeper_unknown
.Ldeeper_count:
        movq (%rsp), %r10
        movq 8(%r10), %r10
        testb $CSD_ACROSS, CSD_EPOCH_FLAGS(%r10)
        jnz .Ldeeper_across
        incq %rax
.Ldeeper_across:
        movq %rax, 56(%r11)
        movq %rax, %rcx
        movq (%rdx), %rax
.Ldeeper_greatest:
        cmpq %rax, %rcx
        jbe .Ldeeper_not_greater
        cmpxchgq %rcx, (%rdx) /* a signal's handler may have gone deeper meanwhile */
        jne .Ldeeper_greatest
.Ldeeper_not_greater:
        bsrq %rcx, %rcx
        incq 16(%rdx, %rcx, 8)
.Ldeeper_done:
        popq %rax
        .cfi_adjust_cfa_offset -8
        popq %rcx
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size fm_deeper_v1, .-fm_deeper_v1

/* Slow paths of hooks that are written out in the code: on the stack stands the hook pc, to return
 * to. Every register is kept, the vector ones whole, as the code around knows of no call: the slow
 * path calls into libc. */
        .macro KEEP_ALL
        .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
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
        subq $4096, %rsp
        andq $-64, %rsp
        /* The header must be zero; components: SSE, AVX and the three of AVX-512. */
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

        /* leave: bytes above the hook pc to take off the stack */
        .macro GIVE_BACK leave
        movl $0xe6, %eax
        xorl %edx, %edx
        xrstor64 (%rsp)
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
        .cfi_def_cfa %rsp, 8
        ret $\leave
        .cfi_endproc
        .endm

/* --grade=full: above the hook pc the function and 128 bytes that are not ours; rbp = its frame.
 * frame: the register that the callee takes it in. */
        .macro SLOW_AT name, callee, frame
        .globl \name
        .type \name, @function
        .p2align 5
\name:
        KEEP_ALL
        movq 16(%rbp), %rdi
        movq (%rbp), \frame
        .ifc \frame, %rcx
        movq 8(%rcx), %rsi
        movq 8(%rbp), %rdx
        .endif
        call \callee@PLT
        GIVE_BACK 136
        .size \name, .-\name
        .endm
        SLOW_AT fm_enter_slow_at_v1, fm_enter_slow_v1, %rcx
        SLOW_AT fm_enter_leaf_slow_at_v1, fm_enter_leaf_v1, %rcx
        SLOW_AT fm_leave_slow_at_v1, fm_leave_slow_v1, %rsi

/* --grade=deep: at a function's entry, before its prologue, or in front of its return; above the hook
 * pc stands the function's return address. --grade=coverage: r11 becomes what the callee gives. */
        .macro SLOW_OF_BODY name, callee, counted=0
        .globl \name
        .type \name, @function
        .p2align 5
\name:
        KEEP_ALL
        movq 16(%rbp), %rdi
        movq 8(%rbp), %rsi
        leaq 8(%rbp), %rdx
        call \callee@PLT
        .if \counted
        movq %rax, -72(%rbp)
        .endif
        GIVE_BACK 0
        .size \name, .-\name
        .endm
        SLOW_OF_BODY fm_enter_slow_body_v1, fm_enter_body_v1
        SLOW_OF_BODY fm_enter_leaf_slow_body_v1, fm_enter_leaf_body_v1
        SLOW_OF_BODY fm_leave_slow_body_v1, fm_leave_body_v1
        SLOW_OF_BODY fm_enter_slow_counted_v1, fm_enter_counted_v1, 1
        SLOW_OF_BODY fm_enter_leaf_slow_counted_v1, fm_enter_counted_leaf_v1, 1

/* Behind a call, or where exceptions land: above the place to go on stand the function's hook pc and
 * 128 bytes that are not ours, and what the code there has pushed by itself. r11 becomes where the
 * counters are. */
        .macro SLOW_OF_COUNTERS name, pushed
        .globl \name
        .type \name, @function
        .p2align 5
\name:
        KEEP_ALL
        movq 16(%rbp), %rdi
        leaq 152+\pushed(%rbp), %rsi
        call fm_counters_v1@PLT
        movq %rax, -72(%rbp)
        GIVE_BACK 136
        .size \name, .-\name
        .endm
        SLOW_OF_COUNTERS fm_counters_slow_v1, 0
        SLOW_OF_COUNTERS fm_counters_slow_careful_v1, 152

/* The called hooks under names that libc does not have (library.S). */
        .globl fm_called_enter_v1
        .type fm_called_enter_v1, @function
        .set fm_called_enter_v1, __cyg_profile_func_enter
        .globl fm_called_leave_v1
        .type fm_called_leave_v1, @function
        .set fm_called_leave_v1, __cyg_profile_func_exit

/* Objects that fathom 0.1 built know them by these names. They are not used any more: makefiles of
 * libraries (PostgreSQL's libpq) refuse objects that refer to a name with "exit" in it. */
        .macro ALSO_CALLED old, name
        .globl \old
        .type \old, @function
        .set \old, \name
        .endm
        ALSO_CALLED fm_exit_slow_at_v1, fm_leave_slow_at_v1
        ALSO_CALLED fm_exit_slow_body_v1, fm_leave_slow_body_v1
        ALSO_CALLED fm_called_exit_v1, fm_called_leave_v1

        .section .note.GNU-stack, "", @progbits
