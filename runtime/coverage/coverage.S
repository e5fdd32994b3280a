/* SPDX-License-Identifier: Apache-2.0 */
/* The compilers' coverage callback, at the start of each block of code (-fsanitize-coverage), as a
 * called function, x86-64 System V. Fast path: the block's function is the one at the top of the
 * shadow stack, and the pair (procedure in context, return address) has its counter already.
 *
 *   on the stack: the point's address (our return address); rbp = the function's frame pointer
 *
 * The blocks before a function's entry hook run in a frame that is not on the shadow stack yet:
 * they are not counted, being run as often as the function is called. Layouts: hot.h. */
#define TLS_BOUND 0
#define TLS_TOP 8
#define TLS_POINTS 56
#define TLS_POINT_MASK 64
#define FM_HOOK_FACTOR -0x61C8864F

        .section fm_hooks_text, "ax", @progbits

        .globl __sanitizer_cov_trace_pc
        .type __sanitizer_cov_trace_pc, @function
        .p2align 5
__sanitizer_cov_trace_pc:
        .cfi_startproc
        movq fm_tls_v2@gottpoff(%rip), %rcx
        movq (%rsp), %rdi
        cmpq %fs:TLS_BOUND(%rcx), %rbp
        jnc .Ldone /* stopped */
        cmpq $-1, %fs:TLS_BOUND(%rcx)
        je .Ldone /* no state yet: nothing is entered */
        movq %fs:TLS_TOP(%rcx), %r8
        movq (%r8), %rax
        subq %rbp, %rax
        addq $4, %rax /* an inlined body's frame is 4 lower, and there are two flags */
        cmpq $7, %rax
        ja .Lother
        imulq $FM_HOOK_FACTOR, %rdi, %r11
        addq 16(%r8), %r11
        movq %fs:TLS_POINT_MASK(%rcx), %r10
        andq %r11, %r10
        addq %fs:TLS_POINTS(%rcx), %r10
        cmpq %r11, (%r10)
        jne .Lsecond
.Lfound:
        movq 8(%r10), %r10
        incq (%r10)
.Ldone:
        ret
.Lsecond:
        xorq $16, %r10
        cmpq %r11, (%r10)
        je .Lfound
.Lslow:
        movq %rbp, %rsi
        jmp fm_point_slow_v1@PLT
.Lother:
        /* Below the top's frame: before the entry hook, or code without hooks. */
        testq %rax, %rax
        js .Lslow
        cmpq %fs:TLS_BOUND(%rcx), %rbp /* another stack */
        jno .Lslow
        ret
        .cfi_endproc
        .size __sanitizer_cov_trace_pc, .-__sanitizer_cov_trace_pc

/* Under a name of our own (library.S). */
        .globl fm_called_point_v1
        .type fm_called_point_v1, @function
        .set fm_called_point_v1, __sanitizer_cov_trace_pc

        .section .note.GNU-stack, "", @progbits
