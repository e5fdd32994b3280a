/* SPDX-License-Identifier: Apache-2.0 */
/* In each shared object: the hooks that its code calls, going on to libfathom's. A program that is not
 * instrumented itself has libc in front of libfathom.so, and libc has empty hooks of these names; so
 * the object needs its own. Protected: bound within the object, and found by name in a stripped one. */
        .macro GOES_ON name target
        .globl \name
        .protected \name
        .type \name, @function
        .p2align 4
\name:
        .cfi_startproc
        jmp *\target@GOTPCREL(%rip)
        .cfi_endproc
        .size \name, .-\name
        .endm

        .text
        GOES_ON __cyg_profile_func_enter, fm_called_enter_v1
        GOES_ON __cyg_profile_func_exit, fm_called_leave_v1
        GOES_ON __sanitizer_cov_trace_pc, fm_called_point_v1

        .section .note.GNU-stack, "", @progbits
