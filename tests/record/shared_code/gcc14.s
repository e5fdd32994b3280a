# SPDX-License-Identifier: Apache-2.0
# gcc14.c by gcc 14.2.0 (Debian 13), -O2, the flags of --grade=full: it leaves the hooks of inlined bodies
# out of their scopes.
	.file	"gcc14.c"
	.text
.Ltext0:
	.file 0 "." "gcc14.c"
	.p2align 4
	.globl	put
	.type	put, @function
put:
.LVL0:
.LFB2:
	.file 1 "gcc14.c"
	.loc 1 4 1 view -0
	.cfi_startproc
	.loc 1 4 1 is_stmt 0 view .LVU1
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %eax
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	.file 2 "./inline_hooks.h"
	.loc 2 45 5 view .LVU2
#APP
	fathom_enter_full $put %rdx %rcx %rsi
.LVL1:
	.loc 1 5 5 is_stmt 1 view .LVU3
	.loc 1 5 9 is_stmt 0 view .LVU4
#NO_APP
	addl	sum(%rip), %eax
	movl	%eax, sum(%rip)
	.loc 1 6 5 is_stmt 1 view .LVU5
.LVL2:
	.loc 2 56 5 is_stmt 0 view .LVU6
#APP
	fathom_exit_full $put %rdx %rcx
.LVL3:
	.loc 1 7 1 view .LVU7
#NO_APP
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE2:
	.size	put, .-put
	.p2align 4
	.type	wide, @function
wide:
.LVL4:
.LFB3:
	.loc 1 9 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 9 1 is_stmt 0 view .LVU9
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %eax
	movl	%esi, %r9d
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	.loc 2 45 5 view .LVU10
#APP
	fathom_enter_full $wide %rdx %rcx %rsi
.LVL5:
	.loc 1 10 5 is_stmt 1 view .LVU11
	.loc 1 10 24 is_stmt 0 view .LVU12
#NO_APP
	movl	%r9d, %edi
.LVL6:
	.loc 1 10 24 view .LVU13
	sall	$7, %edi
	.loc 1 10 12 view .LVU14
	orl	%eax, %edi
	call	put
.LVL7:
	.loc 1 10 32 discriminator 1 view .LVU15
	movl	%r9d, %edi
	.loc 1 10 12 view .LVU16
	movl	%eax, %r8d
	.loc 1 10 32 discriminator 1 view .LVU17
	call	put
.LVL8:
	.loc 2 56 5 view .LVU18
#APP
	fathom_exit_full $wide %rdx %rcx
.LVL9:
	.loc 1 10 30 discriminator 2 view .LVU19
#NO_APP
	addl	%r8d, %eax
	.loc 1 11 1 view .LVU20
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE3:
	.size	wide, .-wide
	.p2align 4
	.globl	constant
	.type	constant, @function
constant:
.LVL10:
.LFB4:
	.loc 1 13 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 13 1 is_stmt 0 view .LVU22
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %r9d
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	.loc 2 45 5 view .LVU23
#APP
	fathom_enter_full $constant %rax %rdx %rcx
.LVL11:
	.loc 1 14 5 is_stmt 1 view .LVU24
#NO_APP
.LBB7:
.LBB8:
	.loc 1 10 24 is_stmt 0 view .LVU25
	sall	$7, %edi
.LVL12:
	.loc 1 10 24 view .LVU26
.LBE8:
.LBE7:
	.loc 1 14 8 view .LVU27
	cmpl	$9, %esi
	jle	.L10
	movl	%esi, %r10d
	.loc 1 16 5 is_stmt 1 view .LVU28
.LVL13:
.LBB10:
.LBI10:
	.loc 1 8 12 view .LVU29
	.loc 1 8 12 is_stmt 0 view .LVU30
.LBE10:
	.loc 2 45 5 view .LVU31
#APP
	fathom_enter_full $wide %rax %rdx %rcx
.LVL14:
#NO_APP
.LBB13:
.LBB11:
	.loc 1 10 5 is_stmt 1 view .LVU32
	.loc 1 10 12 is_stmt 0 view .LVU33
	orl	$4, %edi
	call	put
.LVL15:
	.loc 1 10 32 discriminator 1 view .LVU34
	movl	%r9d, %edi
	.loc 1 10 12 view .LVU35
	movl	%eax, %r8d
	.loc 1 10 32 discriminator 1 view .LVU36
	call	put
.LVL16:
	.loc 1 10 32 discriminator 1 view .LVU37
.LBE11:
.LBE13:
	.loc 2 56 5 view .LVU38
#APP
	fathom_exit_full $wide %rdx %rcx
.LVL17:
#NO_APP
.LBB14:
.LBB12:
	.loc 1 10 30 discriminator 2 view .LVU39
	addl	%r8d, %eax
.LBE12:
.LBE14:
	.loc 1 16 24 discriminator 1 view .LVU40
	addl	%r10d, %eax
.LVL18:
.L8:
	.loc 2 56 5 view .LVU41
#APP
	fathom_exit_full $constant %rdx %rcx
.LVL19:
	.loc 1 17 1 view .LVU42
#NO_APP
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa 7, 8
	ret
.LVL20:
	.p2align 4,,10
	.p2align 3
.L10:
	.cfi_restore_state
	.loc 1 15 9 is_stmt 1 view .LVU43
.LBB15:
.LBI7:
	.loc 1 8 12 view .LVU44
	.loc 1 8 12 is_stmt 0 view .LVU45
.LBE15:
	.loc 2 45 5 view .LVU46
#APP
	fathom_enter_full $wide %rax %rdx %rcx
.LVL21:
#NO_APP
.LBB16:
.LBB9:
	.loc 1 10 5 is_stmt 1 view .LVU47
	.loc 1 10 12 is_stmt 0 view .LVU48
	orl	$3, %edi
	call	put
.LVL22:
	.loc 1 10 32 discriminator 1 view .LVU49
	movl	%r9d, %edi
	.loc 1 10 12 view .LVU50
	movl	%eax, %r8d
	.loc 1 10 32 discriminator 1 view .LVU51
	call	put
.LVL23:
	.loc 1 10 30 discriminator 2 view .LVU52
	addl	%r8d, %eax
.LVL24:
	.loc 1 10 30 discriminator 2 view .LVU53
.LBE9:
.LBE16:
	.loc 2 56 5 view .LVU54
#APP
	fathom_exit_full $wide %rdx %rcx
.LVL25:
	.loc 1 15 16 view .LVU55
#NO_APP
	jmp	.L8
	.cfi_endproc
.LFE4:
	.size	constant, .-constant
	.section	.text.startup,"ax",@progbits
	.p2align 4
	.globl	main
	.type	main, @function
main:
.LFB5:
	.loc 1 19 1 is_stmt 1 view -0
	.cfi_startproc
.LVL26:
	.loc 1 19 1 is_stmt 0 view .LVU57
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	pushq	%rbx
	.cfi_offset 3, -24
	.loc 2 45 5 view .LVU58
#APP
	fathom_enter_full $main %rax %rdx %rcx
.LVL27:
	.loc 1 20 5 is_stmt 1 view .LVU59
#NO_APP
.LBB17:
	.loc 1 20 10 view .LVU60
	.loc 1 20 23 discriminator 1 view .LVU61
	.loc 1 20 14 is_stmt 0 view .LVU62
	xorl	%ebx, %ebx
.LVL28:
	.p2align 4
	.p2align 3
.L12:
	.loc 1 21 9 is_stmt 1 view .LVU63
	movl	%ebx, %esi
	movl	%ebx, %edi
	.loc 1 20 30 is_stmt 0 discriminator 3 view .LVU64
	addl	$1, %ebx
.LVL29:
	.loc 1 21 9 view .LVU65
	call	constant
.LVL30:
	.loc 1 20 30 is_stmt 1 discriminator 3 view .LVU66
	.loc 1 20 23 discriminator 1 view .LVU67
	cmpl	$30, %ebx
	jne	.L12
.LBE17:
	.loc 1 22 5 view .LVU68
	.loc 1 22 12 is_stmt 0 view .LVU69
	movl	$6, %esi
	movl	$5, %edi
	call	wide
.LVL31:
	.loc 2 56 5 view .LVU70
#APP
	fathom_exit_full $main %rdx %rcx
.LVL32:
	.loc 1 22 23 discriminator 1 view .LVU71
#NO_APP
	cmpl	$7, %eax
	.loc 1 23 1 view .LVU72
	popq	%rbx
.LVL33:
	.loc 1 23 1 view .LVU73
	popq	%rbp
	.cfi_def_cfa 7, 8
	.loc 1 22 23 discriminator 1 view .LVU74
	sete	%al
	movzbl	%al, %eax
	.loc 1 23 1 view .LVU75
	ret
	.cfi_endproc
.LFE5:
	.size	main, .-main
	.globl	sum
	.bss
	.align 4
	.type	sum, @object
	.size	sum, 4
sum:
	.zero	4
	.text
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x308
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0xc
	.long	.LASF10
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.long	.LLRL11
	.quad	0
	.long	.Ldebug_line0
	.uleb128 0xd
	.string	"sum"
	.byte	0x1
	.byte	0x2
	.byte	0x5
	.long	0x40
	.uleb128 0x9
	.byte	0x3
	.quad	sum
	.uleb128 0xe
	.byte	0x4
	.byte	0x5
	.string	"int"
	.uleb128 0x7
	.long	.LASF2
	.byte	0x12
	.byte	0x5
	.long	0x40
	.quad	.LFB5
	.quad	.LFE5-.LFB5
	.uleb128 0x1
	.byte	0x9c
	.long	0xc3
	.uleb128 0xf
	.quad	.LBB17
	.quad	.LBE17-.LBB17
	.long	0xaa
	.uleb128 0x10
	.string	"i"
	.byte	0x1
	.byte	0x14
	.byte	0xe
	.long	0x40
	.long	.LLST10
	.long	.LVUS10
	.uleb128 0x3
	.quad	.LVL30
	.long	0xc3
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x73
	.sleb128 -1
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x54
	.uleb128 0x2
	.byte	0x73
	.sleb128 -1
	.byte	0
	.byte	0
	.uleb128 0x3
	.quad	.LVL31
	.long	0x1c2
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x1
	.byte	0x35
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x54
	.uleb128 0x1
	.byte	0x36
	.byte	0
	.byte	0
	.uleb128 0x7
	.long	.LASF3
	.byte	0xc
	.byte	0x1f
	.long	0x40
	.quad	.LFB4
	.quad	.LFE4-.LFB4
	.uleb128 0x1
	.byte	0x9c
	.long	0x1c2
	.uleb128 0x8
	.string	"to"
	.byte	0x2c
	.long	0x40
	.long	.LLST2
	.long	.LVUS2
	.uleb128 0x8
	.string	"k"
	.byte	0x34
	.long	0x40
	.long	.LLST3
	.long	.LVUS3
	.uleb128 0x11
	.long	0x1c2
	.quad	.LBI7
	.byte	.LVU44
	.long	.LLRL4
	.byte	0x1
	.byte	0xf
	.byte	0x10
	.long	0x165
	.uleb128 0x2
	.long	0x1d3
	.long	.LLST5
	.long	.LVUS5
	.uleb128 0x2
	.long	0x1dc
	.long	.LLST6
	.long	.LVUS6
	.uleb128 0x6
	.quad	.LVL22
	.long	0x1e6
	.long	0x150
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x75
	.sleb128 0
	.byte	0
	.uleb128 0x3
	.quad	.LVL23
	.long	0x1e6
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x79
	.sleb128 0
	.byte	0
	.byte	0
	.uleb128 0x12
	.long	0x1c2
	.quad	.LBI10
	.byte	.LVU29
	.long	.LLRL7
	.byte	0x1
	.byte	0x10
	.byte	0xc
	.uleb128 0x2
	.long	0x1d3
	.long	.LLST8
	.long	.LVUS8
	.uleb128 0x2
	.long	0x1dc
	.long	.LLST9
	.long	.LVUS9
	.uleb128 0x6
	.quad	.LVL15
	.long	0x1e6
	.long	0x1ac
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x75
	.sleb128 0
	.byte	0
	.uleb128 0x3
	.quad	.LVL16
	.long	0x1e6
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x79
	.sleb128 0
	.byte	0
	.byte	0
	.byte	0
	.uleb128 0x13
	.long	.LASF11
	.byte	0x1
	.byte	0x8
	.byte	0xc
	.long	0x40
	.byte	0x1
	.long	0x1e6
	.uleb128 0x9
	.string	"op"
	.byte	0x15
	.long	0x40
	.uleb128 0x9
	.string	"to"
	.byte	0x1d
	.long	0x40
	.byte	0
	.uleb128 0x14
	.string	"put"
	.byte	0x1
	.byte	0x3
	.byte	0x1f
	.long	0x40
	.quad	.LFB2
	.quad	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.long	0x215
	.uleb128 0x15
	.string	"w"
	.byte	0x1
	.byte	0x3
	.byte	0x27
	.long	0x40
	.uleb128 0x1
	.byte	0x55
	.byte	0
	.uleb128 0xa
	.long	.LASF8
	.byte	0x33
	.long	0x257
	.uleb128 0x5
	.long	.LASF4
	.byte	0x33
	.byte	0x34
	.long	0x257
	.uleb128 0x5
	.long	.LASF5
	.byte	0x33
	.byte	0x40
	.long	0x257
	.uleb128 0x4
	.string	"__a"
	.byte	0x35
	.byte	0x13
	.long	0x259
	.uleb128 0x4
	.string	"__b"
	.byte	0x35
	.byte	0x18
	.long	0x259
	.uleb128 0xb
	.long	.LASF6
	.byte	0x35
	.byte	0x1d
	.long	0x259
	.byte	0
	.uleb128 0x16
	.byte	0x8
	.uleb128 0x17
	.byte	0x8
	.byte	0x7
	.long	.LASF7
	.uleb128 0xa
	.long	.LASF9
	.byte	0x28
	.long	0x2ad
	.uleb128 0x5
	.long	.LASF4
	.byte	0x28
	.byte	0x35
	.long	0x257
	.uleb128 0x5
	.long	.LASF5
	.byte	0x28
	.byte	0x41
	.long	0x257
	.uleb128 0x4
	.string	"__a"
	.byte	0x2a
	.byte	0x13
	.long	0x259
	.uleb128 0x4
	.string	"__b"
	.byte	0x2a
	.byte	0x18
	.long	0x259
	.uleb128 0x4
	.string	"__c"
	.byte	0x2a
	.byte	0x1d
	.long	0x259
	.uleb128 0xb
	.long	.LASF6
	.byte	0x2a
	.byte	0x22
	.long	0x259
	.byte	0
	.uleb128 0x18
	.long	0x1c2
	.quad	.LFB3
	.quad	.LFE3-.LFB3
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x2
	.long	0x1d3
	.long	.LLST0
	.long	.LVUS0
	.uleb128 0x2
	.long	0x1dc
	.long	.LLST1
	.long	.LVUS1
	.uleb128 0x6
	.quad	.LVL7
	.long	0x1e6
	.long	0x2f6
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x75
	.sleb128 0
	.byte	0
	.uleb128 0x3
	.quad	.LVL8
	.long	0x1e6
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x79
	.sleb128 0
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x49
	.byte	0
	.uleb128 0x2
	.uleb128 0x18
	.uleb128 0x7e
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x5
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x7f
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 2
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 2
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x7f
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x7
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x8
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0x21
	.sleb128 12
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x9
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0x21
	.sleb128 8
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xa
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 2
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0x21
	.sleb128 22
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xb
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 2
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xc
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0xd
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0xe
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x8
	.byte	0
	.byte	0
	.uleb128 0xf
	.uleb128 0xb
	.byte	0x1
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x10
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x11
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x52
	.uleb128 0x1
	.uleb128 0x2138
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x12
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x52
	.uleb128 0x1
	.uleb128 0x2138
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x13
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x20
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x14
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x15
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x16
	.uleb128 0xf
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x17
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.byte	0
	.byte	0
	.uleb128 0x18
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_loclists,"",@progbits
	.long	.Ldebug_loc3-.Ldebug_loc2
.Ldebug_loc2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.Ldebug_loc0:
.LVUS10:
	.uleb128 .LVU61
	.uleb128 .LVU63
	.uleb128 .LVU63
	.uleb128 .LVU65
	.uleb128 .LVU65
	.uleb128 .LVU66
	.uleb128 .LVU66
	.uleb128 .LVU67
	.uleb128 .LVU67
	.uleb128 .LVU73
.LLST10:
	.byte	0x6
	.quad	.LVL27
	.byte	0x4
	.uleb128 .LVL27-.LVL27
	.uleb128 .LVL28-.LVL27
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL28-.LVL27
	.uleb128 .LVL29-.LVL27
	.uleb128 0x1
	.byte	0x53
	.byte	0x4
	.uleb128 .LVL29-.LVL27
	.uleb128 .LVL30-1-.LVL27
	.uleb128 0x1
	.byte	0x54
	.byte	0x4
	.uleb128 .LVL30-1-.LVL27
	.uleb128 .LVL30-.LVL27
	.uleb128 0x3
	.byte	0x73
	.sleb128 -1
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL30-.LVL27
	.uleb128 .LVL33-.LVL27
	.uleb128 0x1
	.byte	0x53
	.byte	0
.LVUS2:
	.uleb128 0
	.uleb128 .LVU26
	.uleb128 .LVU26
	.uleb128 0
.LLST2:
	.byte	0x6
	.quad	.LVL10
	.byte	0x4
	.uleb128 .LVL10-.LVL10
	.uleb128 .LVL12-.LVL10
	.uleb128 0x1
	.byte	0x55
	.byte	0x4
	.uleb128 .LVL12-.LVL10
	.uleb128 .LFE4-.LVL10
	.uleb128 0x1
	.byte	0x59
	.byte	0
.LVUS3:
	.uleb128 0
	.uleb128 .LVU34
	.uleb128 .LVU34
	.uleb128 .LVU41
	.uleb128 .LVU41
	.uleb128 .LVU43
	.uleb128 .LVU43
	.uleb128 .LVU49
	.uleb128 .LVU49
	.uleb128 0
.LLST3:
	.byte	0x6
	.quad	.LVL10
	.byte	0x4
	.uleb128 .LVL10-.LVL10
	.uleb128 .LVL15-1-.LVL10
	.uleb128 0x1
	.byte	0x54
	.byte	0x4
	.uleb128 .LVL15-1-.LVL10
	.uleb128 .LVL18-.LVL10
	.uleb128 0x1
	.byte	0x5a
	.byte	0x4
	.uleb128 .LVL18-.LVL10
	.uleb128 .LVL20-.LVL10
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x54
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL20-.LVL10
	.uleb128 .LVL22-1-.LVL10
	.uleb128 0x1
	.byte	0x54
	.byte	0x4
	.uleb128 .LVL22-1-.LVL10
	.uleb128 .LFE4-.LVL10
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x54
	.byte	0x9f
	.byte	0
.LVUS5:
	.uleb128 .LVU44
	.uleb128 .LVU55
.LLST5:
	.byte	0x8
	.quad	.LVL20
	.uleb128 .LVL25-.LVL20
	.uleb128 0x2
	.byte	0x33
	.byte	0x9f
	.byte	0
.LVUS6:
	.uleb128 .LVU44
	.uleb128 .LVU55
.LLST6:
	.byte	0x8
	.quad	.LVL20
	.uleb128 .LVL25-.LVL20
	.uleb128 0x1
	.byte	0x59
	.byte	0
.LVUS8:
	.uleb128 .LVU29
	.uleb128 .LVU39
.LLST8:
	.byte	0x8
	.quad	.LVL13
	.uleb128 .LVL17-.LVL13
	.uleb128 0x2
	.byte	0x34
	.byte	0x9f
	.byte	0
.LVUS9:
	.uleb128 .LVU29
	.uleb128 .LVU39
.LLST9:
	.byte	0x8
	.quad	.LVL13
	.uleb128 .LVL17-.LVL13
	.uleb128 0x1
	.byte	0x59
	.byte	0
.LVUS0:
	.uleb128 0
	.uleb128 .LVU13
	.uleb128 .LVU13
	.uleb128 .LVU15
	.uleb128 .LVU15
	.uleb128 0
.LLST0:
	.byte	0x6
	.quad	.LVL4
	.byte	0x4
	.uleb128 .LVL4-.LVL4
	.uleb128 .LVL6-.LVL4
	.uleb128 0x1
	.byte	0x55
	.byte	0x4
	.uleb128 .LVL6-.LVL4
	.uleb128 .LVL7-1-.LVL4
	.uleb128 0x1
	.byte	0x50
	.byte	0x4
	.uleb128 .LVL7-1-.LVL4
	.uleb128 .LFE3-.LVL4
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x55
	.byte	0x9f
	.byte	0
.LVUS1:
	.uleb128 0
	.uleb128 .LVU11
	.uleb128 .LVU11
	.uleb128 0
.LLST1:
	.byte	0x6
	.quad	.LVL4
	.byte	0x4
	.uleb128 .LVL4-.LVL4
	.uleb128 .LVL5-.LVL4
	.uleb128 0x1
	.byte	0x54
	.byte	0x4
	.uleb128 .LVL5-.LVL4
	.uleb128 .LFE3-.LVL4
	.uleb128 0x1
	.byte	0x59
	.byte	0
.Ldebug_loc3:
	.section	.debug_aranges,"",@progbits
	.long	0x3c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	.LFB5
	.quad	.LFE5-.LFB5
	.quad	0
	.quad	0
	.section	.debug_rnglists,"",@progbits
.Ldebug_ranges0:
	.long	.Ldebug_ranges3-.Ldebug_ranges2
.Ldebug_ranges2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.LLRL4:
	.byte	0x5
	.quad	.LBB7
	.byte	0x4
	.uleb128 .LBB7-.LBB7
	.uleb128 .LBE7-.LBB7
	.byte	0x4
	.uleb128 .LBB15-.LBB7
	.uleb128 .LBE15-.LBB7
	.byte	0x4
	.uleb128 .LBB16-.LBB7
	.uleb128 .LBE16-.LBB7
	.byte	0
.LLRL7:
	.byte	0x5
	.quad	.LBB10
	.byte	0x4
	.uleb128 .LBB10-.LBB10
	.uleb128 .LBE10-.LBB10
	.byte	0x4
	.uleb128 .LBB13-.LBB10
	.uleb128 .LBE13-.LBB10
	.byte	0x4
	.uleb128 .LBB14-.LBB10
	.uleb128 .LBE14-.LBB10
	.byte	0
.LLRL11:
	.byte	0x7
	.quad	.Ltext0
	.uleb128 .Letext0-.Ltext0
	.byte	0x7
	.quad	.LFB5
	.uleb128 .LFE5-.LFB5
	.byte	0
.Ldebug_ranges3:
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF3:
	.string	"constant"
.LASF8:
	.string	"__cyg_profile_func_exit"
.LASF11:
	.string	"wide"
.LASF6:
	.string	"__tls"
.LASF5:
	.string	"__site"
.LASF4:
	.string	"__fn"
.LASF9:
	.string	"__cyg_profile_func_enter"
.LASF2:
	.string	"main"
.LASF7:
	.string	"long unsigned int"
.LASF10:
	.string	"GNU C17 14.2.0 -mtune=generic -march=x86-64 -g -O2 -finstrument-functions -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-partial-inlining -fno-crossjumping -fno-tree-tail-merge -fasynchronous-unwind-tables"
	.section	.debug_line_str,"MS",@progbits,1
.LASF0:
	.string	"gcc14.c"
.LASF1:
	.string	"."
	.ident	"GCC: (Debian 14.2.0-19) 14.2.0"
	.section	.note.GNU-stack,"",@progbits
