/* SPDX-License-Identifier: Apache-2.0 */
/* The fast paths of the hooks for gcc to inline: fathom cc passes this file with -include. It
 * includes nothing and declares nothing but its own reserved names. Layouts: hot.h; the same
 * steps as hooks.S. */
#ifndef FATHOM_INLINE_HOOKS
#define FATHOM_INLINE_HOOKS
#ifdef __cplusplus
extern "C" {
#endif

typedef __UINT64_TYPE__ __fathom_u64;
struct __fathom_frame {
    __fathom_u64 cfa, csd, key, fn;
};
struct __fathom_entry {
    __fathom_u64 identity, *calls, callee_key, reserved;
};
void __fathom_enter_slow(void *, void *, __fathom_u64, __fathom_u64) __asm__("fm_enter_slow_v1")
    __attribute__((no_instrument_function, cold));
void __fathom_exit_slow(void *, __fathom_u64) __asm__("fm_exit_slow_v1")
    __attribute__((no_instrument_function, cold));

#define __fathom_inline                                                               \
    extern __inline__                                                                 \
        __attribute__((always_inline, gnu_inline, artificial, no_instrument_function, \
                       no_sanitize_address, no_sanitize_undefined))

/* The thread's block is found anew in each hook: kept in a register over the function's body it
 * would cost more than the one instruction. */
#define __fathom_tls_here(__tls) \
    __asm__ volatile("movq fm_tls_v1@gottpoff(%%rip), %0" : "=r"(__tls))
/* No __seg_fs: g++ has no named address spaces. */
#define __fathom_load(__tls, __offset)                                                    \
    (__extension__({                                                                      \
        __fathom_u64 __value;                                                             \
        __asm__ volatile("movq %%fs:" #__offset "(%1), %0" : "=r"(__value) : "r"(__tls)); \
        __value;                                                                          \
    }))
#define __fathom_store(__tls, __offset, __value) \
    __asm__ volatile("movq %0, %%fs:" #__offset "(%1)" : : "r"(__value), "r"(__tls) : "memory")

__fathom_inline void __cyg_profile_func_enter(void *__fn, void *__site)
{
    __fathom_u64 __frame = (__fathom_u64)__builtin_frame_address(0), __hook, __tls;
    __fathom_tls_here(__tls);
    __asm__ volatile("leaq 0(%%rip), %0" : "=r"(__hook));
    __fathom_u64 __low = __fathom_load(__tls, 0);
    if (__builtin_expect(__frame < __low, 0)) {
        if (__low != ~(__fathom_u64)1)
            __fathom_enter_slow(__fn, __site, __hook, __frame);
        return;
    }
    struct __fathom_frame *__top = (struct __fathom_frame *)__fathom_load(__tls, 8);
    __fathom_u64 __above = __top->cfa;
    __fathom_u64 __identity = __hook * 0xFFFFFFFF9E3779B1ull + __top->key;
    __identity += __frame == __above ? 0 : (__fathom_u64)__site << 5;
    struct __fathom_entry *__entry =
        (struct __fathom_entry *)(__fathom_load(__tls, 16) +
                                  (__identity & __fathom_load(__tls, 24)));
    if (__builtin_expect(__entry->identity != __identity, 0)) {
        __entry = (struct __fathom_entry *)((__fathom_u64)__entry ^ 32);
        if (__builtin_expect(__entry->identity != __identity, 0))
            goto slow;
    }
    if (__builtin_expect(__frame > __above || (__fathom_u64)__top >= __fathom_load(__tls, 32), 0)) {
    slow:
        __fathom_enter_slow(__fn, __site, __hook, __frame);
        return;
    }
    ++*__entry->calls;
    __top[1].csd = (__fathom_u64)__entry->calls;
    __top[1].key = __entry->callee_key;
    __top[1].fn = (__fathom_u64)__fn;
    __asm__ volatile("" ::: "memory");
    __top[1].cfa = __frame;
    __fathom_store(__tls, 8, __top + 1);
}

__fathom_inline void __cyg_profile_func_exit(void *__fn, void *__site)
{
    __fathom_u64 __tls;
    __fathom_tls_here(__tls);
    struct __fathom_frame *__top = (struct __fathom_frame *)__fathom_load(__tls, 8);
    (void)__site;
    if (__builtin_expect(__top->cfa != (__fathom_u64)__builtin_frame_address(0) ||
                             __top->fn != (__fathom_u64)__fn,
                         0)) {
        if (__top->cfa <= (__fathom_u64)__builtin_frame_address(0) ||
            __fathom_load(__tls, 0) != ~(__fathom_u64)1)
            __fathom_exit_slow(__fn, (__fathom_u64)__builtin_frame_address(0));
        return;
    }
    __fathom_store(__tls, 8, __top - 1);
    __top->cfa = 0;
}
#undef __fathom_inline
#undef __fathom_load
#undef __fathom_store
#undef __fathom_tls_here

#ifdef __cplusplus
}
#endif
#endif
