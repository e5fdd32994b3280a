/* SPDX-License-Identifier: Apache-2.0 */
/* Control comes back from a coroutine to main's stack, and no call of a function of ours follows:
 * what waits, allocates and runs there is driver's. Arguments: how the stacks are switched
 * ("context", "own"), and where the coroutine's is ("heap", "static"). Prints how often
 * until_somebody_wants() looked. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))
#define STACK_BYTES 131072
#define SPIN_NS 300000000

static ucontext_t home, other;
static void *home_sp, *other_sp;
static char in_image[STACK_BYTES] __attribute__((aligned(16)));
static void *volatile kept[8];
static int by_context, looks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Keeps what the callee keeps, and changes the stack. */
void change_stack(void **from, void *to);
__asm__(".text\n.type change_stack, @function\nchange_stack:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
        ".size change_stack, .-change_stack\n");

INLINE void to_other(void)
{
    if (by_context)
        swapcontext(&home, &other);
    else
        change_stack(&home_sp, other_sp);
}

INLINE void to_home(void)
{
    if (by_context)
        swapcontext(&other, &home);
    else
        change_stack(&other_sp, home_sp);
}

INLINE void spin(void)
{
    struct timespec then, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &then);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - then.tv_sec) * 1000000000 + now.tv_nsec - then.tv_nsec < SPIN_NS);
}

static OWN void coroutine_waits(void)
{
    poll(NULL, 0, 3);
    to_home();
    poll(NULL, 0, 5);
    kept[0] = malloc(300);
}

static OWN void coroutine(void)
{
    coroutine_waits();
    kept[1] = malloc(777);
    for (;;)
        to_home();
}

static OWN void *wants(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

INLINE void until_somebody_wants(void)
{
    do {
        poll(NULL, 0, 1);
        looks++;
    } while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_SEQ_CST) != 2); /* 2: somebody waits */
}

static OWN void driver(char *stack)
{
    if (by_context) {
        getcontext(&other);
        other.uc_stack.ss_sp = stack;
        other.uc_stack.ss_size = STACK_BYTES;
        other.uc_link = &home;
        makecontext(&other, coroutine, 0);
    } else {
        void **top = (void **)(void *)(stack + STACK_BYTES - 64);
        top[0] = (void *)coroutine; /* its frame is 8 off 16, as behind a call */
        top[1] = (void *)(stack == in_image ? 0xdeaddeaddeaddead : 0); /* never returned to */
        other_sp = top - 6;
    }
    pthread_t thread;
    to_other();
    poll(NULL, 0, 20);
    kept[2] = malloc(1000);
    spin();
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wants, &lock);
    until_somebody_wants();
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    to_other();
    kept[3] = malloc(2000);
    poll(NULL, 0, 40);
}

int main(int count, char **words)
{
    by_context = count > 1 && strcmp(words[1], "context") == 0;
    driver(count > 2 && strcmp(words[2], "static") == 0 ? in_image : malloc(STACK_BYTES));
    printf("%d\n", looks);
    return 0;
}
