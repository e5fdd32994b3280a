/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libc that the runtime must know of, in front of libc's own. Apart from the rest of
 * the runtime, since fully static programs have them in another way (front.h). */
#include "front.h"
#include "internal.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>
#include <ucontext.h>

typedef void (*jump_fn)(struct __jmp_buf_tag *, int) __attribute__((noreturn));

static struct {
    jump_fn jump, jump_short, jump_signal, jump_checked;
    int (*close)(void *);
} next;
void *fm_makecontext_behind;

#ifdef FATHOM_STATIC
#define JUMPS /* identified by its address only */
static void resolve_all(void)
{
    fm_wait_resolve();
}
#else
#define JUMPS __attribute__((noreturn))
static void *resolve(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* At the start, since a signal handler may be the first to jump. */
__attribute__((constructor)) static void resolve_all(void)
{
    void *symbol = resolve("longjmp");
    memcpy(&next.jump, &symbol, sizeof symbol);
    symbol = resolve("_longjmp");
    memcpy(&next.jump_short, &symbol, sizeof symbol);
    symbol = resolve("siglongjmp");
    memcpy(&next.jump_signal, &symbol, sizeof symbol);
    symbol = resolve("__longjmp_chk");
    memcpy(&next.jump_checked, &symbol, sizeof symbol);
    symbol = resolve("dlclose");
    memcpy(&next.close, &symbol, sizeof symbol);
    fm_makecontext_behind = resolve("makecontext");
}
#endif

/* glibc, x86-64: the seventh word of a jmp_buf is the stack pointer, xored with the thread's
 * pointer guard and rotated (its "pointer mangling"). */
static uint64_t jump_sp(const struct __jmp_buf_tag *buffer)
{
    uint64_t sp = (uint64_t)buffer->__jmpbuf[6];
    uint64_t guard;
    __asm__("movq %%fs:0x30, %0" : "=r"(guard));
    return (sp >> 17 | sp << 47) ^ guard;
}

#define JUMP(name, field)                                                                 \
    FM_FRONT_EXPORT JUMPS void FM_FRONT(name)(struct __jmp_buf_tag buffer[1], int value); \
    FM_FRONT_WAY(name, name, &next.field, NULL)                                           \
    FM_FRONT_EXPORT void FM_FRONT(name)(struct __jmp_buf_tag buffer[1], int value)        \
    {                                                                                     \
        fm_frames_leave(jump_sp(buffer));                                                 \
        if (next.field == NULL)                                                           \
            resolve_all();                                                                \
        next.field(buffer, value);                                                        \
    }

JUMP(longjmp, jump)
JUMP(_longjmp, jump_short)
JUMP(siglongjmp, jump_signal)
JUMP(__longjmp_chk, jump_checked)

#ifndef FATHOM_STATIC
void fm_front_dlclose_next(void *handle)
{
    if (next.close == NULL)
        resolve_all();
    (void)next.close(handle);
}

/* Modules are unloaded: facts about their code must not be applied to other code. */
FM_FRONT_EXPORT int dlclose(void *handle)
{
    if (next.close == NULL)
        resolve_all();
    int result = next.close != NULL ? next.close(handle) : -1;
    if (fm_process.state == FM_RECORDING && !fm_process_is_copy())
        fm_modules_refresh();
    return result;
}
#endif

FM_EXPORT void fm_makecontext_noted(const ucontext_t *context)
{
    uint64_t low = (uint64_t)context->uc_stack.ss_sp;
    if (low == 0)
        return;
    fm_stack_note(low, low + context->uc_stack.ss_size);
    fm_stack_forget(low, low + context->uc_stack.ss_size);
}

FM_EXPORT void *fm_makecontext_next(void)
{
    if (fm_makecontext_behind == NULL)
        resolve_all();
    return fm_makecontext_behind;
}
