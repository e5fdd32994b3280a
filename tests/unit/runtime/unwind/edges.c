/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that have something that unwind tables do not tell, or that are not stacks at all: where a
 * walk ends, and that it always ends. */
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind/rules.h"
#include "unwind/unwind.h"

#define N __attribute__((noinline))
#define FRAMES_MAX 512

struct stack {
    enum fm_unwind_result result;
    unsigned count, guesses, signals;
    uint64_t ip[FRAMES_MAX], sp[FRAMES_MAX];
};

static uint64_t start_of(uint64_t pc)
{
    struct fm_unwind_table table;
    struct fm_unwind_entry entry;
    bool found = fm_unwind_table_of(pc, &table) && fm_unwind_entry_find(&table, pc, &entry, NULL);
    return found ? entry.start : 0;
}

static void walk_on(struct fm_unwind *walk, struct stack *ret)
{
    ret->result = FM_UNWIND_FRAME;
    ret->signals = 0;
    for (ret->count = 0; ret->result == FM_UNWIND_FRAME && ret->count < FRAMES_MAX;) {
        ret->ip[ret->count] = walk->ip;
        ret->sp[ret->count++] = walk->sp;
        ret->result = fm_unwind_step(walk);
        ret->signals += ret->result == FM_UNWIND_FRAME && walk->exact;
    }
    ret->guesses = walk->guesses;
}

N static void walk_here(struct stack *ret)
{
    struct fm_unwind_registers registers;
    struct fm_unwind walk;
    fm_unwind_registers_here(&registers);
    fm_unwind_begin(&walk, &registers, 0, 0);
    walk_on(&walk, ret);
}

/* Where the function is on the stack, from the inside; FRAMES_MAX: it is not. */
static unsigned find(const struct stack *stack, const void *function)
{
    for (unsigned i = 0; i < stack->count; i++)
        if (start_of(stack->ip[i] - 1) == (uint64_t)function)
            return i;
    return FRAMES_MAX;
}

static void assert_complete(const struct stack *stack)
{
    g_assert_cmpint(stack->result, ==, FM_UNWIND_END);
    for (unsigned i = 1; i < stack->count && stack->signals == 0; i++)
        g_assert_cmpuint(stack->sp[i], >, stack->sp[i - 1]);
}

static struct stack seen;

static int (*volatile again)(int); /* no loop in the place of calls */
N static int recursion(int n)
{
    again = recursion;
    if (n == 0)
        walk_here(&seen);
    return n == 0 ? 1 : again(n - 1) + 1;
}

static void a_plain_stack_is_complete(void)
{
    g_assert_cmpint(recursion(20), ==, 21);
    assert_complete(&seen);
    unsigned own = 0;
    for (unsigned i = 0; i < seen.count; i++)
        own += start_of(seen.ip[i] - 1) == (uint64_t)recursion;
    g_assert_cmpuint(own, ==, 21);
    g_assert_cmpuint(find(&seen, a_plain_stack_is_complete), <, FRAMES_MAX);
    g_assert_cmpuint(seen.guesses, ==, 0);
}

/* Code made at run time: no table knows it. */
static uint8_t *code_made(const uint8_t *bytes, size_t size)
{
    uint8_t *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(code != MAP_FAILED);
    memcpy(code, bytes, size);
    return code;
}

N static void look(void)
{
    walk_here(&seen);
    __asm__ volatile("");
}

/* Calls look() from made code, through a pointer. */
N static void run(void (*made)(void (*)(void)))
{
    made(look);
    __asm__ volatile("");
}

N static void run_around(void (*made)(void (*)(void)))
{
    run(made);
    __asm__ volatile("");
}

static void check_made(const char *what, const uint8_t *bytes, size_t size)
{
    void (*made)(void (*)(void));
    uint8_t *code = code_made(bytes, size);
    memcpy(&made, &code, sizeof made);
    run_around(made);
    g_test_message("%s: %u frames, %u guesses", what, seen.count, seen.guesses);
    assert_complete(&seen);
    unsigned at = find(&seen, look);
    g_assert_cmpuint(seen.ip[at + 1] - (uint64_t)code, <, size);
    g_assert_cmpuint(find(&seen, run), ==, at + 2);
    g_assert_cmpuint(find(&seen, run_around), ==, at + 3);
    g_assert_cmpuint(seen.guesses, ==, 1);
    munmap(code, 4096);
}

static void code_made_at_run_time_is_walked_through(void)
{
    static const uint8_t plain[] = {0x53, 0xff, 0xd7, 0x5b,
                                    0xc3}; /* push rbx; call *rdi; pop; ret */
    static const uint8_t frame[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
                                    0xec, 0x10, 0xff, 0xd7, 0xc9, 0xc3}; /* with a frame pointer */
    check_made("a word pushed", plain, sizeof plain);
    check_made("a frame pointer", frame, sizeof frame);
}

static void on_signal(int number, siginfo_t *info, void *data)
{
    (void)number;
    (void)info;
    struct fm_unwind_registers registers;
    struct fm_unwind walk;
    const ucontext_t *context = data;
    fm_unwind_registers_of(&context->uc_mcontext, &registers);
    fm_unwind_begin(&walk, &registers, 0, 0);
    walk_on(&walk, &seen);
    _exit(seen.result == FM_UNWIND_END && find(&seen, run) < FRAMES_MAX ? 0 : 1);
}

/* A crash by a null pointer: nothing is known of the code, the return address is on the stack. */
static void a_call_of_nothing_has_its_caller(void)
{
    pid_t child = fork();
    if (child == 0) {
        static char stack[1 << 16];
        stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
        struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaltstack(&alternate, NULL);
        sigaction(SIGSEGV, &action, NULL);
        void (*volatile nothing)(void (*)(void)) = NULL;
        run(nothing);
        _exit(2);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
}

static unsigned nested;
N static void handler(int number)
{
    if (nested++ == 0)
        raise(number == SIGUSR1 ? SIGUSR2 : SIGUSR1);
    else
        walk_here(&seen);
    __asm__ volatile("");
}

N static void raise_one(void)
{
    raise(SIGUSR1);
    __asm__ volatile("");
}

static void handlers_on_an_alternate_stack(void)
{
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, none = {.ss_flags = SS_DISABLE};
    struct sigaction first = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    struct sigaction second = {.sa_handler = handler};
    g_assert_cmpint(sigaltstack(&alternate, NULL), ==, 0);
    sigaction(SIGUSR1, &first, NULL);
    sigaction(SIGUSR2, &second, NULL);
    raise_one();
    sigaltstack(&none, NULL);
    assert_complete(&seen);
    g_assert_cmpuint(seen.signals, ==, 2);
    g_assert_cmpuint(find(&seen, raise_one), <, FRAMES_MAX);
    g_assert_cmpuint(find(&seen, handlers_on_an_alternate_stack), <, FRAMES_MAX);
    g_assert_cmpuint(seen.guesses, ==, 0);
}

static ucontext_t home, other;
N static void coroutine(void)
{
    recursion(3);
    __asm__ volatile("");
}

static void a_coroutine_ends_where_it_began(void)
{
    char *stack = g_malloc(1 << 16);
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = 1 << 16;
    other.uc_link = &home;
    makecontext(&other, coroutine, 0);
    swapcontext(&home, &other);
    assert_complete(&seen);
    g_assert_cmpuint(find(&seen, coroutine), <, FRAMES_MAX);
    g_assert_cmpuint(find(&seen, a_coroutine_ends_where_it_began), ==, FRAMES_MAX);
    for (unsigned i = 0; i < seen.count; i++) /* the walker's own frames, too, are on it */
        g_assert_cmpuint(seen.sp[i] - (uint64_t)stack, <=, 1 << 16);
    g_free(stack);
}

#define THREADS 4
#define WALKS 20000
static gint going;

static unsigned (*volatile again_in_thread)(int);
N static unsigned walks_in_thread(int depth)
{
    struct stack *stack = g_new0(struct stack, 1);
    unsigned wrong = 0;
    if (depth > 0) {
        wrong = again_in_thread(depth - 1);
    } else {
        uint64_t expected[FRAMES_MAX];
        unsigned count = 0;
        for (unsigned i = 0; i < WALKS; i++) {
            walk_here(stack);
            if (i == 0) {
                memcpy(expected, stack->ip, sizeof expected);
                count = stack->count;
            }
            /* The compiler may have taken the first round out of the loop: the call is another. */
            wrong += stack->count != count || stack->result != FM_UNWIND_END ||
                     memcmp(expected + 2, stack->ip + 2, (count - 2) * sizeof expected[0]) != 0;
        }
    }
    g_free(stack);
    return wrong;
}

static void *thread(void *depth)
{
    unsigned wrong = walks_in_thread(GPOINTER_TO_INT(depth));
    g_atomic_int_add(&going, -1);
    return GUINT_TO_POINTER(wrong);
}

/* While rules are forgotten all the time. */
static void threads_share_what_they_know(void)
{
    pthread_t threads[THREADS];
    again_in_thread = walks_in_thread;
    g_atomic_int_set(&going, THREADS);
    for (int i = 0; i < THREADS; i++)
        g_assert_cmpint(pthread_create(&threads[i], NULL, thread, GINT_TO_POINTER(i * 7)), ==, 0);
    for (unsigned i = 0; g_atomic_int_get(&going) > 0; i++) {
        fm_unwind_forget();
        g_usleep(10);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        g_assert_cmpint(pthread_join(threads[i], &wrong), ==, 0);
        g_assert_cmpuint(GPOINTER_TO_UINT(wrong), ==, 0);
    }
}

static void rules_of_code_that_left_are_forgotten(void)
{
    uint64_t pc = (uint64_t)recursion + 1;
    fm_rule rule = fm_unwind_rule_find(pc, false), wrong = rule ^ 1ull << 12;
    g_assert_cmphex(rule, ==, fm_unwind_rule_make(pc, false));
    g_assert_cmphex(fm_unwind_rule_known(pc), ==, rule);
    struct fm_rule_slot *slot = fm_rule_slot_of(pc);
    slot->check = pc ^ fm_rule_epoch ^ wrong * FM_RULE_FACTOR; /* of other code at this address */
    slot->rule = wrong;
    g_assert_cmphex(fm_unwind_rule_find(pc, false), ==, wrong);
    fm_unwind_forget();
    g_assert_cmphex(fm_unwind_rule_known(pc), ==, FM_RULE_NONE);
    g_assert_cmphex(fm_unwind_rule_find(pc, false), ==, rule);
}

/* Two threads have written a slot at a time: a word of each is there. */
static void words_of_two_writers_are_no_rule(void)
{
    uint64_t pc = (uint64_t)recursion + 1;
    struct fm_rule_slot *slot = fm_rule_slot_of(pc);
    for (unsigned i = 0; i < 4096; i++) {
        fm_rule rule = FM_RULE_OFFSET | FM_UNWIND_RSP << 4 | (uint64_t)(i * 8) << 10;
        uint64_t near = pc ^ (uint64_t)i << 10; /* as their rules differ */
        slot->check = near ^ fm_rule_epoch ^ (rule ^ (uint64_t)i << 10) * FM_RULE_FACTOR;
        slot->rule = rule;
        if (i != 0)
            g_assert_cmphex(fm_unwind_rule_known(pc), ==, FM_RULE_NONE);
    }
    slot->check = slot->rule = 0;
}

static uint64_t some_word(GRand *random, const uint64_t *words, unsigned count)
{
    uint64_t word = words[g_rand_int_range(random, 0, (int)count)];
    switch (g_rand_int_range(random, 0, 5)) {
    case 0:
        return word;
    case 1:
        return word + (uint64_t)g_rand_int_range(random, -4096, 4096);
    case 2:
        return word + (uint64_t)g_rand_int_range(random, -512, 512) * 8;
    case 3:
        return (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
    default:
        return word ^ 1ull << g_rand_int_range(random, 0, 64);
    }
}

/* Registers and stacks with anything in them. */
static void nonsense_ends(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(11);
    char *area = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_cmpint(mprotect(area + 4096, 4096, PROT_READ | PROT_WRITE), ==, 0);
    uint64_t *stack = (uint64_t *)(void *)(area + 4096);
    walk_here(&seen);
    uint64_t words[] = {(uint64_t)stack,
                        (uint64_t)area,
                        (uint64_t)(stack + 500),
                        seen.ip[1],
                        seen.ip[2],
                        (uint64_t)qsort,
                        (uint64_t)area + 8192,
                        (uint64_t)memcpy,
                        (uint64_t)kill,
                        (uint64_t)&random,
                        0};
    unsigned results[3] = {0};
    for (unsigned i = 0; i < 50000; i++) {
        struct fm_unwind_registers registers;
        struct fm_unwind walk;
        for (unsigned r = 0; r < FM_UNWIND_REGISTERS; r++)
            registers.value[r] = some_word(random, words, G_N_ELEMENTS(words));
        registers.known =
            g_rand_int(random) | 1u << FM_UNWIND_RIP | 1u << FM_UNWIND_RSP | 1u << FM_UNWIND_RBP;
        for (unsigned w = 0; w < 512; w += 1 + i % 7)
            stack[w] = some_word(random, words, G_N_ELEMENTS(words));
        bool bounded = i % 2 == 0;
        fm_unwind_begin(&walk, &registers, bounded ? (uint64_t)stack : 0,
                        bounded ? (uint64_t)(stack + 512) : 0);
        walk_on(&walk, &seen);
        results[seen.result]++;
    }
    g_test_message("%u without end, %u complete, %u cut", results[0], results[1], results[2]);
    g_assert_cmpuint(results[FM_UNWIND_CUT], >, 10000);
    munmap(area, 3 * 4096);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unwind/a plain stack is complete", a_plain_stack_is_complete);
    g_test_add_func("/unwind/code made at run time is walked through",
                    code_made_at_run_time_is_walked_through);
    g_test_add_func("/unwind/a call of nothing has its caller", a_call_of_nothing_has_its_caller);
    g_test_add_func("/unwind/handlers on an alternate stack", handlers_on_an_alternate_stack);
    g_test_add_func("/unwind/a coroutine ends where it began", a_coroutine_ends_where_it_began);
    g_test_add_func("/unwind/threads share what they know", threads_share_what_they_know);
    g_test_add_func("/unwind/rules of code that left are forgotten",
                    rules_of_code_that_left_are_forgotten);
    g_test_add_func("/unwind/words of two writers are no rule", words_of_two_writers_are_no_rule);
    g_test_add_func("/unwind/nonsense ends", nonsense_ends);
    return g_test_run();
}
