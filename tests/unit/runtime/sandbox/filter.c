/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluation of seccomp filters answers what the kernel does: programs at random, each in a
 * child that the kernel filters by it. */
#include <errno.h>
#include <glib.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/filter.h"

#define ASKED 1000 /* no call of the system */
#define CHILDREN 150
#define CALLS 8
#define STEPS_MAX 40
#define CELLS_SET 4
#define ANSWER 0xfff /* what of the sum comes back, as an error number */

/* In the child: how it ended. */
enum { SAME = 0, NO_FILTER = 2 };

static uint32_t random_word(GRand *random)
{
    static const uint32_t often[] = {0, 1, 2, 5, 31, 32, 0xff, 0x7fffffff, 0x80000000, 0xffffffff};
    return g_rand_boolean(random) ? often[g_rand_int_range(random, 0, G_N_ELEMENTS(often))]
                                  : g_rand_int(random);
}

/* Behind it stand `left` more steps. A division by a register that may be 0 ends a filter. */
static struct sock_filter random_step(GRand *random, unsigned left)
{
    static const uint16_t sums[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR,
                                    BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG, BPF_DIV};
    static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    /* The number and the arguments: where the call comes from is another place here. */
    static const uint32_t words[] = {0, 4, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};
    uint16_t source = g_rand_boolean(random) ? BPF_X : BPF_K;
    uint32_t cell = (uint32_t)g_rand_int_range(random, 0, BPF_MEMWORDS);
    uint16_t sum = sums[g_rand_int_range(random, 0, G_N_ELEMENTS(sums))];
    uint32_t value = random_word(random);
    switch (g_rand_int_range(random, 0, 14)) {
    case 0:
        return (struct sock_filter)BPF_STMT(
            BPF_LD | BPF_W | BPF_ABS, words[g_rand_int_range(random, 0, G_N_ELEMENTS(words))]);
    case 1:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
    case 2:
        return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, value);
    case 3:
        return (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
    case 4:
        return (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TXA, 0);
    case 5:
        return (struct sock_filter)BPF_STMT(BPF_ST, cell);
    case 6:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, value);
    case 7:
        if (left == 0)
            break;
        return (struct sock_filter)BPF_JUMP(
            BPF_JMP | source | jumps[g_rand_int_range(random, 0, G_N_ELEMENTS(jumps))], value,
            (uint8_t)g_rand_int_range(random, 0, (int)left + 1),
            (uint8_t)g_rand_int_range(random, 0, (int)left + 1));
    case 8:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_MEM, cell % CELLS_SET);
    case 9:
        return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_MEM, cell % CELLS_SET);
    case 10:
        return (struct sock_filter)BPF_STMT(BPF_STX, cell);
    default:
        break;
    }
    if (source == BPF_K && (sum == BPF_LSH || sum == BPF_RSH))
        value &= 31; /* the kernel refuses others */
    if (source == BPF_K && sum == BPF_DIV && value == 0)
        value = 3;
    return (struct sock_filter)BPF_STMT(BPF_ALU | sum | (sum == BPF_NEG ? 0 : source), value);
}

/* Cells are set first, as the kernel demands; what is no ASKED is allowed. */
static unsigned random_filter(GRand *random, struct sock_filter *code)
{
    unsigned used = 0, count = (unsigned)g_rand_int_range(random, 1, STEPS_MAX);
    code[used++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ASKED, 1, 0);
    code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    for (unsigned i = 0; i < CELLS_SET; i++)
        code[used++] = (struct sock_filter)BPF_STMT(BPF_ST, i);
    for (unsigned i = 0; i < count; i++)
        code[used++] = random_step(random, count - 1 - i);
    code[used++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ANSWER);
    code[used++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO);
    code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    return used;
}

static int in_child(const struct sock_filter *code, unsigned count,
                    const struct seccomp_data calls[CALLS])
{
    struct sock_fprog program = {(unsigned short)count, (struct sock_filter *)(uintptr_t)code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return NO_FILTER;
    for (unsigned i = 0; i < CALLS; i++) {
        const uint64_t *a = (const uint64_t *)calls[i].args;
        uint32_t wanted = fm_filter_run(code, count, &calls[i]) & ANSWER;
        errno = 0;
        long result = syscall(ASKED, a[0], a[1], a[2], a[3], a[4], a[5]);
        /* An answer of 0 is a success without a call; the kernel has none above 4095. */
        if (wanted != (result == 0 ? 0u : (uint32_t)errno))
            return 10 + (int)i;
    }
    return SAME;
}

static void test_as_the_kernel(void)
{
    GRand *random = g_rand_new_with_seed(20260101);
    unsigned asked = 0, filtered = 0;
    for (unsigned n = 0; n < CHILDREN; n++) {
        struct sock_filter code[STEPS_MAX + CELLS_SET + 8];
        struct seccomp_data calls[CALLS];
        unsigned count = random_filter(random, code);
        for (unsigned i = 0; i < CALLS; i++) {
            calls[i] = (struct seccomp_data){.nr = ASKED, .arch = AUDIT_ARCH_X86_64};
            for (unsigned k = 0; k < 6; k++)
                calls[i].args[k] = (uint64_t)random_word(random) << 32 | random_word(random);
        }
        /* A division by a register that is 0 would end the child: not asked here. */
        bool ends = false;
        for (unsigned i = 0; i < CALLS; i++)
            ends |= (fm_filter_run(code, count, &calls[i]) & SECCOMP_RET_ACTION_FULL) !=
                    SECCOMP_RET_ERRNO;
        if (ends)
            continue;
        asked++;
        pid_t pid = fork();
        if (pid == 0)
            _exit(in_child(code, count, calls));
        int status = -1;
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == NO_FILTER)
            continue;
        g_assert_cmpint(WEXITSTATUS(status), ==, SAME);
        filtered++;
    }
    g_rand_free(random);
    g_assert_cmpuint(asked, >, CHILDREN / 3);
    if (filtered == 0)
        g_test_skip("there is no seccomp here");
    else
        g_assert_cmpuint(filtered, >, CHILDREN / 3);
}

static void test_what_the_kernel_refuses(void)
{
    static const struct {
        const char *why;
        struct sock_filter step;
    } cases[] = {
        {"a word beyond the call", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data))},
        {"a word at an odd place", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2)},
        {"a byte", BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0)},
        {"a place in a register", BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0)},
        {"a cell that is not there", BPF_STMT(BPF_ST, BPF_MEMWORDS)},
        {"a cell far away", BPF_STMT(BPF_LD | BPF_MEM, 0xffffffff)},
        {"a division by 0", BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0)},
        {"a jump beyond the end", BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff)},
        {"a remainder", BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3)},
    };
    struct seccomp_data call = {.nr = 1};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct sock_filter code[] = {cases[i].step, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        g_test_message("%s", cases[i].why);
        g_assert_cmphex(fm_filter_run(code, 2, &call), ==, SECCOMP_RET_KILL_PROCESS);
    }
    g_assert_cmphex(fm_filter_run(NULL, 0, &call), ==, SECCOMP_RET_KILL_PROCESS);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sandbox/filter/as-the-kernel", test_as_the_kernel);
    g_test_add_func("/sandbox/filter/what-the-kernel-refuses", test_what_the_kernel_refuses);
    return g_test_run();
}
