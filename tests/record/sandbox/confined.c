/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that put themselves into a sandbox, each case by its name. Whatever a filter does not
 * name ends the program, or fails; so a call of the system that only a recording makes is seen by
 * how the program ends. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define THREADS 3
#define CHILDREN 3
#define FILTER_MAX 64

static volatile long sink;

__attribute__((noinline)) static void leaf(void)
{
    sink++;
}

#define CALLER(n)                                         \
    __attribute__((noinline)) static void caller##n(void) \
    {                                                     \
        leaf();                                           \
    }
CALLER(0)
CALLER(1)
CALLER(2)
CALLER(3)
CALLER(4)
CALLER(5)
CALLER(6)
CALLER(7)
CALLER(8)
CALLER(9)

/* 1,000 calls of each, and 10,000 of leaf(); each edge is new. */
__attribute__((noinline)) static void calls(void)
{
    static void (*const callers[])(void) = {caller0, caller1, caller2, caller3, caller4,
                                            caller5, caller6, caller7, caller8, caller9};
    for (int i = 0; i < 10000; i++)
        callers[i % 10]();
}

__attribute__((noinline)) static void burn(void)
{
    for (long i = 0; i < 150000000; i++)
        sink += i & 1;
}

__attribute__((noinline)) static void allocate(void)
{
    for (int i = 0; i < 100; i++)
        free(malloc(100));
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(3);
}

/* exit_group() is not allowed in strict mode. */
static void end(void)
{
    syscall(SYS_exit, 0);
}

/* --- filters --- */

static const int always[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_brk};

static int add_allowed(struct sock_filter *code, int used, const int *allowed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        code[used++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
        code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    return used;
}

enum door { BY_PRCTL, BY_SECCOMP, BY_SYSCALL_PRCTL, FOR_ALL_THREADS };

static void confine(enum door door, unsigned otherwise, const int *more, size_t count)
{
    struct sock_filter code[FILTER_MAX] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    int used = add_allowed(code, 1, always, COUNT(always));
    used = add_allowed(code, used, more, count);
    code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    struct sock_fprog program = {.len = (unsigned short)used, .filter = code};
    long result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (result == 0 && door == BY_PRCTL)
        result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    else if (result == 0 && door == BY_SYSCALL_PRCTL)
        result = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    else if (result == 0)
        result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                         door == FOR_ALL_THREADS ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program);
    if (result != 0)
        say("no sandbox\n");
}
#define CONFINE(door, otherwise, ...)                  \
    do {                                               \
        static const int more_[] = {__VA_ARGS__};      \
        confine(door, otherwise, more_, COUNT(more_)); \
    } while (0)
#define FAIL (SECCOMP_RET_ERRNO | EPERM)
#define KILL SECCOMP_RET_KILL_PROCESS

static void work_and_end(void)
{
    calls();
    burn();
    allocate();
    say("fine\n");
    end();
}

static void strict(void)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        say("no sandbox\n");
    work_and_end();
}

static void strict_by_number(void)
{
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) != 0)
        say("no sandbox\n");
    work_and_end();
}

static void kills(void)
{
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn);
    work_and_end();
}

static void fails(void)
{
    CONFINE(BY_SYSCALL_PRCTL, FAIL, SYS_rt_sigreturn);
    work_and_end();
}

static void by_number(void)
{
    CONFINE(BY_SECCOMP, KILL, SYS_rt_sigreturn);
    work_and_end();
}

/* No handler can return. */
static void without_return(void)
{
    CONFINE(BY_PRCTL, KILL, SYS_getppid);
    work_and_end();
}

/* A second one forbids more. */
static void two(void)
{
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_mmap, SYS_munmap, SYS_prctl,
            SYS_clock_gettime, SYS_gettid);
    calls();
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn);
    work_and_end();
}

/* The kernel takes none of these: recording goes on as before, also by new threads. */
static void *called(void *unused)
{
    calls();
    return unused;
}

static void refused(void)
{
    struct sock_fprog nothing = {.len = 0, .filter = NULL};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing) == 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (void *)8) == 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, ~0ul, &nothing) == 0)
        say("taken\n");
    pthread_t thread;
    pthread_create(&thread, NULL, called, NULL);
    pthread_join(thread, NULL);
    burn();
    say("fine\n");
}

/* --- threads --- */

static volatile int go, begun;
static volatile int stops;

__attribute__((noinline)) static void round_trip(void)
{
    caller0();
}

static void *busy(void *unused)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    while (!go)
        round_trip();
    calls();
    __atomic_add_fetch(&stops, 1, __ATOMIC_SEQ_CST);
    for (;;)
        ;
    return unused;
}

/* All threads are confined while they make calls. */
static void threads(void)
{
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, busy, NULL);
    while (begun < THREADS)
        ;
    CONFINE(FOR_ALL_THREADS, KILL, SYS_rt_sigreturn, SYS_sched_yield);
    go = 1;
    while (stops < THREADS)
        sched_yield();
    say("fine\n");
    _exit(0);
}

/* A thread begins in the sandbox: what libc does for that is allowed, and nothing else. */
static void new_thread(void)
{
    pthread_t thread;
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn, SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq,
            SYS_mmap, SYS_mprotect, SYS_munmap, SYS_madvise, SYS_futex, SYS_rt_sigprocmask,
            SYS_rt_sigaction, SYS_getrandom);
    pthread_create(&thread, NULL, called, NULL);
    pthread_join(thread, NULL);
    say("fine\n");
}

/* --- children --- */

__attribute__((noinline)) static void in_child(void)
{
    calls();
}

static void children(void)
{
    char *kept = malloc(1000);
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn, SYS_clone, SYS_wait4, SYS_set_robust_list, SYS_rseq);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            in_child();
            free(kept);
            _exit(0);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        say(status == 0 ? "child\n" : "child was ended\n");
    }
    calls();
    end();
}

/* --- handlers that come at any moment, as signals cannot be blocked --- */

static sigjmp_buf back;
static volatile sig_atomic_t handled;

__attribute__((noinline)) static void in_handler(void)
{
    leaf();
}

static void on_alarm(int signal)
{
    (void)signal;
    in_handler();
    if (++handled % 4 == 0)
        siglongjmp(back, 1);
}

#define DEEP(n, next)                                           \
    __attribute__((noinline)) static void deep##n(unsigned way) \
    {                                                           \
        if (way & 1)                                            \
            next(way / 2);                                      \
        else                                                    \
            next(way / 2 + 1);                                  \
        sink++;                                                 \
    }
static void deep0(unsigned way)
{
    sink += way;
}
DEEP(1, deep0)
DEEP(2, deep1)
DEEP(3, deep2)
DEEP(4, deep3)
DEEP(5, deep4)
DEEP(6, deep5)
DEEP(7, deep6)
DEEP(8, deep7)
DEEP(9, deep8)
DEEP(10, deep9)
DEEP(11, deep10)
DEEP(12, deep11)

static void handlers(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_NODEFER};
    struct itimerval often = {.it_interval.tv_usec = 300, .it_value.tv_usec = 300};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn);
    volatile unsigned way = 0;
    sigsetjmp(back, 0);
    for (; way < 4096; way++)
        deep12(way);
    while (handled < 400)
        leaf();
    say("fine\n");
    end();
}

/* More contexts than the recording had room for when the filter came. */
static void grows(void)
{
    CONFINE(BY_PRCTL, KILL, SYS_rt_sigreturn);
    for (unsigned way = 0; way < 4096; way++)
        deep12(way);
    say("fine\n");
    end();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"strict", strict},
        {"strict_by_number", strict_by_number},
        {"kills", kills},
        {"fails", fails},
        {"by_number", by_number},
        {"without_return", without_return},
        {"two", two},
        {"refused", refused},
        {"threads", threads},
        {"new_thread", new_thread},
        {"children", children},
        {"handlers", handlers},
        {"grows", grows},
    };
    leaf();
    for (size_t i = 0; i < COUNT(cases) && argc > 1; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 0;
}
