/* SPDX-License-Identifier: Apache-2.0 */
/* Where a fully static program begins (-e), in front of its _start. libc relocates such a program, and so
 * runs the resolvers of IFUNCs and all that they call, before there is thread-local memory (%fs is 0).
 * The hooks in them need to find some: zero, which tells them to do nothing (hot.h). Whoever comes
 * later has libc's; note_libc() gives this one back.
 *
 * Nothing is relocated yet. The kernel's registers: rsp = arguments, rdx = for atexit(). */
#define SYS_MMAP 9
#define SYS_ARCH_PRCTL 158
#define ARCH_SET_FS 0x1002
#define PROT_READ_WRITE 3
#define MAP_PRIVATE_ANONYMOUS 0x22
#define BYTES_ABOVE 4096 /* the thread's control block: %fs:0, the stack protector's word */

        .text
        .globl fm_static_start
        .hidden fm_static_start
        .type fm_static_start, @function
fm_static_start:
        .cfi_startproc
        .cfi_undefined %rip
        /* --hooks=slots: r15 is not the word of the memory that is zero, else it would be a context. */
        movl $1, %r15d
        movq %rdx, %r12
        movq fm_tls_v2@gottpoff(%rip), %rbx
        negq %rbx
        leaq BYTES_ABOVE(%rbx), %rsi
        xorl %edi, %edi
        movl $PROT_READ_WRITE, %edx
        movl $MAP_PRIVATE_ANONYMOUS, %r10d
        movq $-1, %r8
        xorl %r9d, %r9d
        movl $SYS_MMAP, %eax
        syscall
        cmpq $-4095, %rax
        jae .Lgo_on /* as without */
        movq %rax, fm_early_tls(%rip)
        leaq BYTES_ABOVE(%rbx), %rcx
        movq %rcx, fm_early_tls_bytes(%rip)
        leaq (%rax, %rbx), %rsi
        movq %rsi, (%rsi) /* the block's own address, in two places */
        movq %rsi, 16(%rsi)
        movl $ARCH_SET_FS, %edi
        movl $SYS_ARCH_PRCTL, %eax
        syscall
.Lgo_on:
        movq %r12, %rdx
        jmp _start
        .cfi_endproc
        .size fm_static_start, .-fm_static_start

        .section .note.GNU-stack, "", @progbits
