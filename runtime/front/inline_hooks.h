/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that gcc inlines: fathom cc passes this file with -include, and the assembler front end
 * expands them (assembler/as.c). For the compiler a hook is one instruction that changes a few
 * registers of the compiler's choice, so it need not save others, and inlining decisions hardly
 * change. Includes nothing, and declares only its own reserved names. */
#if !defined FATHOM_INLINE_HOOKS && !defined __ASSEMBLER__ && defined __x86_64__ && \
    !defined __ILP32__
#define FATHOM_INLINE_HOOKS
#pragma GCC system_header
#ifdef __cplusplus
extern "C" {
#endif

#define __fathom_inline \
    extern __inline__ __attribute__((always_inline, gnu_inline, artificial, no_instrument_function))

/* Into functions that may use no other registers, too. */
#if __GNUC__ >= 12
#pragma GCC push_options
#pragma GCC target("general-regs-only")
#endif

/* Only an executable's own code knows the place of its thread-local storage. That the frame is used
 * keeps the function's prologue in front. */
#if defined __PIC__ && !defined __PIE__
#define __fathom_more , "=&r"(__tls)
#define __fathom_rest(number) " %" #number
#else
#define __fathom_more
#define __fathom_rest(number)
#endif

/* --grade=full: the hooks of inlined bodies are kept. */
#if defined __FATHOM_FULL
#define __fathom_kind "_full"
#else
#define __fathom_kind ""
#endif

__fathom_inline void __cyg_profile_func_enter(void *__fn, void *__site)
{
    unsigned long __a, __b, __c, __tls;
    (void)__site;
    (void)__tls;
    __asm__ __inline__ volatile("fathom_enter" __fathom_kind " %[f] %0 %1 %2" __fathom_rest(3)
                                : "=&r"(__a), "=&r"(__b), "=&r"(__c)__fathom_more
                                : [f] "ir"(__fn), "m"(*(const char *)__builtin_frame_address(0))
                                : "cc", "r11");
}

__fathom_inline void __cyg_profile_func_exit(void *__fn, void *__site)
{
    unsigned long __a, __b, __tls;
    (void)__site;
    (void)__tls;
    __asm__ __inline__ volatile("fathom_exit" __fathom_kind " %[f] %0 %1" __fathom_rest(2)
                                : "=&r"(__a), "=&r"(__b)__fathom_more
                                : [f] "ir"(__fn), "m"(*(const char *)__builtin_frame_address(0))
                                : "cc", "r11");
}

#if __GNUC__ >= 12
#pragma GCC pop_options
#endif
#undef __fathom_inline
#undef __fathom_more
#undef __fathom_rest
#undef __fathom_kind
#ifdef __cplusplus
}
#endif
#endif
