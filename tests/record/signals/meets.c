/* SPDX-License-Identifier: Apache-2.0 */
/* What a program finds of signals, each case by its name, in lines that are the same whether it is
 * recorded or not. Functions that work tell on the standard error how much CPU time they took. */
#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_SIGNALS 64
#define WORK_MS 100
#define OWN_OF_LIBC 33 /* SIGSETXID */
#define ROUNDS 200

static volatile sig_atomic_t handled, other_code, unexpected;
static volatile long sink;
static const char *shower; /* a program that is not recorded */

static long long now_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < 1000; i++)
        sink += i;
}

/* Work of each place is a function of its own, of so much of its thread's CPU time. */
#define WORKS(name)                                                \
    __attribute__((noinline)) static void name(void)               \
    {                                                              \
        long long end = now_ms(CLOCK_THREAD_CPUTIME_ID) + WORK_MS; \
        while (now_ms(CLOCK_THREAD_CPUTIME_ID) < end)              \
            for (int i = 0; i < 10000; i++)                        \
                sink += i;                                         \
        fprintf(stderr, #name " %d\n", WORK_MS);                   \
    }
WORKS(work_reset)
WORKS(work_actions)
WORKS(work_own_timer)
WORKS(work_without_timer)
WORKS(work_all_blocked)
WORKS(work_of_ones)
WORKS(work_taken)
WORKS(work_in_handler)
WORKS(work_timer_of_libcs)
WORKS(work_ignoring)
WORKS(work_default)
WORKS(work_after_vfork)
WORKS(work_after_exec)
WORKS(work_identities)
WORKS(work_before)
WORKS(work_after)
WORKS(work_cancels)
WORKS(work_at_the_end)

/* Those that the C library lets programs have, as a number. */
static void print_set(const char *what, const sigset_t *set)
{
    unsigned long long word = 0;
    for (int i = 1; i <= KERNEL_SIGNALS; i++)
        word |= (unsigned long long)(sigismember(set, i) == 1) << (i - 1);
    printf("%s %llx\n", what, word);
}

static void print_mask(const char *what)
{
    sigset_t now;
    memset(&now, 0, sizeof now);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    print_set(what, &now);
}

static void count(int number)
{
    (void)number;
    handled++;
}

static void count_with(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    (void)number;
    handled++;
    other_code += info->si_code != SI_KERNEL; /* which is that of such timers */
    for (int i = 1; i <= KERNEL_SIGNALS; i++)
        unexpected += sigismember(&interrupted->uc_sigmask, i) == 1;
}

static void reset(void)
{
    for (int i = 1; i <= KERNEL_SIGNALS; i++) {
        errno = 0;
        printf("%d: %d %d\n", i, signal(i, SIG_DFL) != SIG_ERR, errno);
    }
    work_reset();
}

static void actions(void)
{
    for (int i = 1; i <= KERNEL_SIGNALS; i++) {
        struct sigaction old = {.sa_handler = count}, new = {.sa_handler = count};
        errno = 0;
        int asked = sigaction(i, NULL, &old);
        printf("%d: %d %d %d %x ", i, asked, errno, old.sa_handler == SIG_DFL, old.sa_flags);
        print_set("mask", &old.sa_mask);
        errno = 0;
        int set = sigaction(i, &new, &old);
        printf("%d: %d %d %d\n", i, set, errno, old.sa_handler == SIG_DFL);
    }
    work_actions();
    printf("handled %d\n", (int)handled);
    for (int i = 1; i <= KERNEL_SIGNALS; i++) {
        if (i == SIGKILL || i == SIGSTOP || i == SIGCONT)
            continue;
        handled = 0;
        errno = 0;
        int sent = raise(i);
        printf("raise %d: %d %d %d\n", i, sent, errno, (int)handled);
    }
}

static void own_timer(void)
{
    static const int which[] = {ITIMER_PROF, ITIMER_VIRTUAL}, number[] = {SIGPROF, SIGVTALRM};
    for (int i = 0; i < 2; i++) {
        struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
        struct sigaction action = {.sa_sigaction = count_with, .sa_flags = SA_SIGINFO | SA_RESTART};
        handled = other_code = unexpected = 0;
        sigaction(number[i], &action, NULL);
        setitimer(which[i], &every, NULL);
        work_own_timer();
        while (handled == 0) /* the kernel's clock decides when it looks at CPU time */
            sink++;
        setitimer(which[i], &never, NULL);
        printf("some %d, others' %d, blocked %d\n", handled > 0, (int)other_code, (int)unexpected);
    }
    handled = 0;
    work_without_timer();
    printf("without a timer %d\n", (int)handled);
}

static void masks(void)
{
    sigset_t all, old, pending;
    print_mask("at the start");
    sigfillset(&all);
    printf("%d\n", sigprocmask(SIG_BLOCK, &all, &old));
    print_set("old", &old);
    work_all_blocked();
    print_mask("all");
    sigpending(&pending);
    print_set("pending", &pending);
    memset(&all, 255, sizeof all);
    printf("%d\n", pthread_sigmask(SIG_SETMASK, &all, &old));
    print_set("old", &old);
    work_of_ones();
    print_mask("of ones");
    sigpending(&pending);
    print_set("pending", &pending);
    struct timespec none = {0, 0};
    siginfo_t info;
    errno = 0;
    printf("waited for %d", sigtimedwait(&all, &info, &none));
    printf(", %d\n", errno);
}

/* Each waits, and works, with sets of all signals: what comes is the program's own. */
static void take(const char *what, const sigset_t *set)
{
    int fd = signalfd(-1, set, SFD_NONBLOCK), read_own = 0, read_others = 0, waited_own = 0,
        waited_others = 0;
    union sigval value = {.sival_int = 5};
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec none = {0, 1000};
        struct signalfd_siginfo found;
        siginfo_t info;
        work();
        sigqueue(getpid(), SIGRTMIN + 5, value);
        while (read(fd, &found, sizeof found) == sizeof found) {
            read_own += (int)found.ssi_signo == SIGRTMIN + 5;
            read_others += (int)found.ssi_signo != SIGRTMIN + 5;
        }
        sigqueue(getpid(), SIGRTMIN + 6, value);
        for (int got = 0;
             (got = sigtimedwait(set, &info, &none)) > 0 || (got < 0 && errno == EINTR);) {
            waited_own += got == SIGRTMIN + 6;
            waited_others += got != SIGRTMIN + 6;
        }
        waited_others += errno != EAGAIN;
        kill(getpid(), SIGUSR1);
        int got = sigwaitinfo(set, NULL);
        waited_others += got != SIGUSR1;
        kill(getpid(), SIGUSR2);
        waited_others += sigwait(set, &got) != 0 || got != SIGUSR2;
    }
    printf("%s: %d %d %d %d\n", what, read_own, read_others, waited_own, waited_others);
    close(fd);
}

static void taken(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    take("all", &all);
    work_taken();
    memset(&all, 255, sizeof all);
    take("of ones", &all);
}

static void handle_and_work(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ucontext_t *interrupted = context;
    print_set("interrupted", &interrupted->uc_sigmask);
    print_mask("within");
    work_in_handler();
}

static void handlers(void)
{
    sigset_t none;
    struct sigaction action = {.sa_sigaction = handle_and_work, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    print_mask("after");
    sigfillset(&none);
    sigdelset(&none, SIGUSR1);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(SIGUSR1);
    sigemptyset(&none);
    struct timespec time = {0, 0};
    printf("%d\n", ppoll(NULL, 0, &time, &none));
    print_mask("after ppoll");
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* How a child ends that sends itself signals: each by kill, some by other ways. */
static void end_by_each(int way)
{
    fflush(stdout);
    for (int i = 1; i <= KERNEL_SIGNALS; i++) {
        int status = 0;
        if (i == SIGSTOP || i == SIGTSTP || i == SIGTTIN || i == SIGTTOU ||
            (way != 0 && i != SIGPROF && i != SIGCHLD && (i < 32 || i > 34)))
            continue;
        pid_t child = fork();
        if (child == 0) {
            union sigval value = {.sival_int = i};
            siginfo_t info = {.si_signo = i, .si_code = SI_QUEUE};
            work();
            if (way == 0)
                kill(getpid(), i);
            else if (way == 1)
                sigqueue(getpid(), i, value);
            else if (way == 2)
                syscall(SYS_tgkill, getpid(), gettid(), i);
            else
                syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), i, &info);
            _exit(77);
        }
        waitpid(child, &status, 0);
        printf("%d %d: %d %d\n", way, i, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        fflush(stdout);
    }
}

static void ends(void)
{
    pthread_t thread;
    for (int way = 0; way < 4; way++)
        end_by_each(way);
    pthread_create(&thread, NULL, do_nothing, NULL);
    pthread_join(thread, NULL);
    end_by_each(2);
}

/* The program's own timer, with the signal that libc keeps. */
static void timer_of_libcs(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = OWN_OF_LIBC};
    struct itimerspec once = {.it_value = {0, 1000000}};
    timer_t timer;
    printf("%d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
    printf("%d\n", timer_settime(timer, 0, &once, NULL));
    fflush(stdout);
    work_timer_of_libcs();
    puts("alive");
}

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

/* Past the C library. */
static void by_the_kernel(void)
{
    struct kernel_action ignore = {.handler = SIG_IGN}, usual = {.handler = SIG_DFL}, old;
    for (int i = 0; i < 2; i++) {
        memset(&old, 0, sizeof old);
        printf("%ld", syscall(SYS_rt_sigaction, OWN_OF_LIBC, &ignore, &old, 8));
        printf(" %d %lx %lx\n", old.handler == SIG_DFL, old.flags, old.mask);
        work_ignoring();
        printf("%d\n", kill(getpid(), OWN_OF_LIBC));
        printf("%ld", syscall(SYS_rt_sigaction, OWN_OF_LIBC, &usual, &old, 8));
        printf(" %d %lx %lx\n", old.handler == SIG_IGN, old.flags, old.mask);
        work_default();
    }
    errno = 0;
    printf("%ld", syscall(SYS_rt_sigaction, OWN_OF_LIBC, &usual, &old, 9));
    printf(" %d\n", errno);
    fflush(stdout);
    kill(getpid(), OWN_OF_LIBC);
}

static void spawn(const posix_spawnattr_t *attributes)
{
    char *words[] = {(char *)shower, NULL}, *environment[] = {NULL};
    pid_t child;
    int status = -1;
    fflush(stdout);
    printf("%d\n", posix_spawn(&child, shower, NULL, attributes, words, environment));
    waitpid(child, &status, 0);
    fflush(stdout);
}

static void start_all_ways(void)
{
    posix_spawnattr_t attributes;
    sigset_t all;
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(shower, shower, NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    child = vfork();
    if (child == 0) {
        execl("/nowhere/at/all", "all", NULL);
        execl(shower, shower, NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    work_after_vfork(); /* what the child of vfork did to its signals is not ours */
    spawn(NULL);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    spawn(&attributes);
    fflush(stdout);
    printf("%d\n", system(shower));
    fflush(stdout);
}

static void starts(void)
{
    sigset_t some;
    start_all_ways();
    signal(SIGPROF, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &some, NULL);
    start_all_ways();
    execl("/nowhere/at/all", "all", NULL);
    work_after_exec(); /* ticks go on */
    fflush(stdout);
    execl(shower, shower, NULL);
}

/* The same, of who was started with all signals of libc's ignored. */
static void starts_ignoring(void)
{
    struct kernel_action ignore = {.handler = SIG_IGN};
    if (getenv("IGNORED") != NULL) {
        starts();
        return;
    }
    setenv("IGNORED", "yes", 1);
    for (int i = 32; i < 34; i++)
        syscall(SYS_rt_sigaction, i, &ignore, NULL, 8);
    execl("/proc/self/exe", "meets", "starts_ignoring", shower, NULL);
}

static volatile int stop;

static void *work_on(void *argument)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        work();
    return argument;
}

/* libc tells all threads by a signal. */
static void identities(void)
{
    pthread_t threads[3];
    int failed = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work_on, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        work();
        failed += setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1) != 0;
        failed += setregid((gid_t)-1, (gid_t)-1) != 0;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    work_identities();
    printf("failed %d\n", failed);
}

#define MANY_PAGES 4096
#define PAGE_BYTES 4096

/* Each page that the kernel writes is a fault within the one call, with few signals that may wait.
 */
__attribute__((noinline)) static ssize_t read_all(int fd, char *to)
{
    return read(fd, to, (size_t)MANY_PAGES * PAGE_BYTES);
}

static void faults(void)
{
    struct rlimit limit = {MANY_PAGES / 16, MANY_PAGES / 16};
    size_t bytes = (size_t)MANY_PAGES * PAGE_BYTES;
    FILE *file = tmpfile();
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(to, bytes, MADV_NOHUGEPAGE);
    printf("%d\n", ftruncate(fileno(file), (off_t)bytes));
    printf("%d\n", setrlimit(RLIMIT_SIGPENDING, &limit));
    printf("%zd\n", read_all(fileno(file), to));
    fclose(file);
}

static void notified(union sigval value)
{
    (void)value;
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
}

/* libc makes its first thread within each of these; and then all goes on. */
static void first_thread(const char *by)
{
    work_before();
    pthread_t thread;
    static char buffer[4];
    struct aiocb request = {.aio_fildes = STDIN_FILENO, .aio_buf = buffer, .aio_nbytes = 1};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
    struct itimerspec once = {.it_value = {0, 1000000}};
    timer_t timer;
    if (strcmp(by, "create") == 0)
        pthread_create(&thread, NULL, do_nothing, NULL);
    else if (strcmp(by, "aio") == 0)
        printf("%d\n", aio_read(&request));
    else
        printf("%d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
    work_after(); /* no slow path, nothing that waits */
    if (strcmp(by, "timer") == 0) {
        timer_settime(timer, 0, &once, NULL);
        while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST))
            work();
        timer_delete(timer);
    }
    puts("done");
}

static void *cancelled(void *argument)
{
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    __atomic_store_n((int *)argument, 1, __ATOMIC_SEQ_CST);
    for (;;)
        work();
    return NULL;
}

static void cancels(void)
{
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result = NULL;
        int begun = 0;
        pthread_create(&thread, NULL, cancelled, &begun);
        while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
            work();
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            puts("not cancelled");
    }
    work_cancels();
    puts("done");
}

__attribute__((destructor)) static void at_the_end(void)
{
    if (getenv("WORKS_AT_THE_END") != NULL)
        work_at_the_end();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"reset", reset},
        {"actions", actions},
        {"own_timer", own_timer},
        {"masks", masks},
        {"taken", taken},
        {"handlers", handlers},
        {"ends", ends},
        {"by_the_kernel", by_the_kernel},
        {"starts", starts},
        {"cancels", cancels},
        {"identities", identities},
        {"timer_of_libcs", timer_of_libcs},
        {"starts_ignoring", starts_ignoring},
        {"faults", faults},
    };
    shower = argv[argc - 1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    if (strncmp(argv[1], "first_", 6) == 0)
        first_thread(argv[1] + 6);
    return 0;
}
