	.file	"gcc10.c"
	.text
.Ltext0:
#APP
	# fathom: executable
#NO_APP
	.p2align 4
	.globl	leaf
	.type	leaf, @function
leaf:
	.section	__patchable_function_entries,"aw",@progbits
	.align 8
	.quad	.LPFE1
	.text
.LPFE1:
	nop
.LVL0:
.LFB0:
	.file 1 "gcc10.c"
	.loc 1 4 1 view -0
	.cfi_startproc
	.loc 1 5 5 view .LVU1
	.loc 1 6 5 view .LVU2
	.loc 1 6 14 is_stmt 0 view .LVU3
	leal	1(%rdi), %eax
	.loc 1 7 1 view .LVU4
	ret
	.cfi_endproc
.LFE0:
	.size	leaf, .-leaf
	.p2align 4
	.globl	work
	.type	work, @function
work:
	.section	__patchable_function_entries
	.align 8
	.quad	.LPFE2
	.text
.LPFE2:
	nop
.LVL1:
.LFB1:
	.loc 1 10 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 11 5 view .LVU6
	.loc 1 12 5 view .LVU7
.LBB2:
	.loc 1 12 10 view .LVU8
	.loc 1 12 21 view .LVU9
.LBE2:
	.loc 1 10 1 is_stmt 0 view .LVU10
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$8, %rsp
	.cfi_offset 13, -24
	.cfi_offset 12, -32
	.cfi_offset 3, -40
.LBB3:
	.loc 1 12 5 view .LVU11
	testl	%edi, %edi
	jle	.L6
	movl	%edi, %r13d
	.loc 1 12 14 view .LVU12
	xorl	%ebx, %ebx
.LBE3:
	.loc 1 11 9 view .LVU13
	xorl	%r12d, %r12d
.LVL2:
	.p2align 4,,10
	.p2align 3
.L5:
.LBB4:
	.loc 1 13 9 is_stmt 1 discriminator 3 view .LVU14
	.loc 1 13 16 is_stmt 0 discriminator 3 view .LVU15
	movl	%ebx, %edi
	.loc 1 12 29 discriminator 3 view .LVU16
	addl	$1, %ebx
.LVL3:
	.loc 1 13 16 discriminator 3 view .LVU17
	call	leaf
.LVL4:
	.loc 1 13 13 discriminator 3 view .LVU18
	addl	%eax, %r12d
.LVL5:
	.loc 1 12 28 is_stmt 1 discriminator 3 view .LVU19
	.loc 1 12 21 discriminator 3 view .LVU20
	.loc 1 12 5 is_stmt 0 discriminator 3 view .LVU21
	cmpl	%ebx, %r13d
	jne	.L5
.LBE4:
	.loc 1 15 1 view .LVU22
	addq	$8, %rsp
	movl	%r12d, %eax
	popq	%rbx
.LVL6:
	.loc 1 15 1 view .LVU23
	popq	%r12
.LVL7:
	.loc 1 15 1 view .LVU24
	popq	%r13
.LVL8:
	.loc 1 15 1 view .LVU25
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa 7, 8
	ret
.LVL9:
	.p2align 4,,10
	.p2align 3
.L6:
	.cfi_restore_state
	.loc 1 15 1 view .LVU26
	addq	$8, %rsp
	.loc 1 11 9 view .LVU27
	xorl	%r12d, %r12d
	.loc 1 14 5 is_stmt 1 view .LVU28
	.loc 1 15 1 is_stmt 0 view .LVU29
	popq	%rbx
	movl	%r12d, %eax
	popq	%r12
	popq	%r13
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE1:
	.size	work, .-work
	.section	.text.startup,"ax",@progbits
	.p2align 4
	.globl	main
	.type	main, @function
main:
	.section	__patchable_function_entries
	.align 8
	.quad	.LPFE3
	.section	.text.startup
.LPFE3:
	nop
.LFB2:
	.loc 1 18 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 19 5 view .LVU31
	.loc 1 18 1 is_stmt 0 view .LVU32
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	.loc 1 19 12 view .LVU33
	movl	$10, %edi
	.loc 1 18 1 view .LVU34
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	.loc 1 19 12 view .LVU35
	call	work
.LVL10:
	.loc 1 20 1 view .LVU36
	popq	%rbp
	.cfi_def_cfa 7, 8
	.loc 1 19 21 view .LVU37
	cmpl	$55, %eax
	setne	%al
	movzbl	%al, %eax
	.loc 1 20 1 view .LVU38
	ret
	.cfi_endproc
.LFE2:
	.size	main, .-main
	.text
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x102
	.value	0x4
	.long	.Ldebug_abbrev0
	.byte	0x8
	.uleb128 0x1
	.long	.LASF2
	.byte	0xc
	.long	.LASF3
	.string	"/w"
	.long	.Ldebug_ranges0+0x40
	.quad	0
	.long	.Ldebug_line0
	.uleb128 0x2
	.long	.LASF0
	.byte	0x1
	.byte	0x11
	.byte	0x5
	.long	0x5e
	.quad	.LFB2
	.quad	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.long	0x5e
	.uleb128 0x3
	.quad	.LVL10
	.long	0x65
	.uleb128 0x4
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x1
	.byte	0x3a
	.byte	0
	.byte	0
	.uleb128 0x5
	.byte	0x4
	.byte	0x5
	.string	"int"
	.uleb128 0x2
	.long	.LASF1
	.byte	0x1
	.byte	0x9
	.byte	0x1f
	.long	0x5e
	.quad	.LFB1
	.quad	.LFE1-.LFB1
	.uleb128 0x1
	.byte	0x9c
	.long	0xda
	.uleb128 0x6
	.string	"n"
	.byte	0x1
	.byte	0x9
	.byte	0x28
	.long	0x5e
	.long	.LLST0
	.long	.LVUS0
	.uleb128 0x7
	.string	"sum"
	.byte	0x1
	.byte	0xb
	.byte	0x9
	.long	0x5e
	.long	.LLST1
	.long	.LVUS1
	.uleb128 0x8
	.long	.Ldebug_ranges0+0
	.uleb128 0x7
	.string	"i"
	.byte	0x1
	.byte	0xc
	.byte	0xe
	.long	0x5e
	.long	.LLST2
	.long	.LVUS2
	.uleb128 0x3
	.quad	.LVL4
	.long	0xda
	.uleb128 0x4
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x2
	.byte	0x73
	.sleb128 -1
	.byte	0
	.byte	0
	.byte	0
	.uleb128 0x9
	.long	.LASF4
	.byte	0x1
	.byte	0x3
	.byte	0x1f
	.long	0x5e
	.quad	.LFB0
	.quad	.LFE0-.LFB0
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0xa
	.string	"n"
	.byte	0x1
	.byte	0x3
	.byte	0x28
	.long	0x5e
	.uleb128 0x1
	.byte	0x55
	.byte	0
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x1b
	.uleb128 0x8
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
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
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x2117
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x4109
	.byte	0x1
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x31
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x410a
	.byte	0
	.uleb128 0x2
	.uleb128 0x18
	.uleb128 0x2111
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x5
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
	.uleb128 0x6
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
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x7
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
	.uleb128 0x8
	.uleb128 0xb
	.byte	0x1
	.uleb128 0x55
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x9
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
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
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x2117
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0xa
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
	.byte	0
	.section	.debug_loc,"",@progbits
.Ldebug_loc0:
.LVUS0:
	.uleb128 0
	.uleb128 .LVU14
	.uleb128 .LVU14
	.uleb128 .LVU25
	.uleb128 .LVU25
	.uleb128 .LVU26
	.uleb128 .LVU26
	.uleb128 0
.LLST0:
	.quad	.LVL1
	.quad	.LVL2
	.value	0x1
	.byte	0x55
	.quad	.LVL2
	.quad	.LVL8
	.value	0x1
	.byte	0x5d
	.quad	.LVL8
	.quad	.LVL9
	.value	0x4
	.byte	0xf3
	.uleb128 0x1
	.byte	0x55
	.byte	0x9f
	.quad	.LVL9
	.quad	.LFE1
	.value	0x1
	.byte	0x55
	.quad	0
	.quad	0
.LVUS1:
	.uleb128 .LVU7
	.uleb128 .LVU14
	.uleb128 .LVU14
	.uleb128 .LVU24
	.uleb128 .LVU24
	.uleb128 .LVU26
	.uleb128 .LVU26
	.uleb128 0
.LLST1:
	.quad	.LVL1
	.quad	.LVL2
	.value	0x2
	.byte	0x30
	.byte	0x9f
	.quad	.LVL2
	.quad	.LVL7
	.value	0x1
	.byte	0x5c
	.quad	.LVL7
	.quad	.LVL9
	.value	0x1
	.byte	0x50
	.quad	.LVL9
	.quad	.LFE1
	.value	0x2
	.byte	0x30
	.byte	0x9f
	.quad	0
	.quad	0
.LVUS2:
	.uleb128 .LVU9
	.uleb128 .LVU14
	.uleb128 .LVU14
	.uleb128 .LVU17
	.uleb128 .LVU17
	.uleb128 .LVU18
	.uleb128 .LVU18
	.uleb128 .LVU20
	.uleb128 .LVU20
	.uleb128 .LVU23
	.uleb128 .LVU26
	.uleb128 0
.LLST2:
	.quad	.LVL1
	.quad	.LVL2
	.value	0x2
	.byte	0x30
	.byte	0x9f
	.quad	.LVL2
	.quad	.LVL3
	.value	0x1
	.byte	0x53
	.quad	.LVL3
	.quad	.LVL4-1
	.value	0x1
	.byte	0x55
	.quad	.LVL4-1
	.quad	.LVL5
	.value	0x3
	.byte	0x73
	.sleb128 -1
	.byte	0x9f
	.quad	.LVL5
	.quad	.LVL6
	.value	0x1
	.byte	0x53
	.quad	.LVL9
	.quad	.LFE1
	.value	0x2
	.byte	0x30
	.byte	0x9f
	.quad	0
	.quad	0
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
	.quad	.LFB2
	.quad	.LFE2-.LFB2
	.quad	0
	.quad	0
	.section	.debug_ranges,"",@progbits
.Ldebug_ranges0:
	.quad	.LBB2
	.quad	.LBE2
	.quad	.LBB3
	.quad	.LBE3
	.quad	.LBB4
	.quad	.LBE4
	.quad	0
	.quad	0
	.quad	.Ltext0
	.quad	.Letext0
	.quad	.LFB2
	.quad	.LFE2
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF3:
	.string	"gcc10.c"
.LASF2:
	.string	"GNU C17 10.2.1 20210110 -mtune=generic -march=x86-64 -g -g -O2 -fpatchable-function-entry=1 -fno-ipa-ra -fno-ipa-icf-functions -fno-omit-frame-pointer -fdisable-tree-tailc -fno-partial-inlining -fasynchronous-unwind-tables"
.LASF4:
	.string	"leaf"
.LASF1:
	.string	"work"
.LASF0:
	.string	"main"
	.ident	"GCC: (Debian 10.2.1-6) 10.2.1 20210110"
	.section	.note.GNU-stack,"",@progbits
