/* SPDX-License-Identifier: Apache-2.0 */
/* Each call that can wait, once or more, with what it gives back: the same whether it is recorded
 * or not. Compiled as C and as C++. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../asleep.h"

#define OWN __attribute__((noinline))
#define SHOW(call)                                              \
    do {                                                        \
        errno = 0;                                              \
        long shown = (long)(call);                              \
        printf("%s: %ld, %s\n", #call, shown, strerror(errno)); \
    } while (0)

/* A function of the program's own that libc also has: it is this one that runs. */
int lockf(int fd, int command, off_t bytes)
{
    return 4000 + fd + command + (int)bytes;
}

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int held, main_tid;
/* Until main sleeps in it. */
static void *hold_and_wait(void *argument)
{
    pthread_mutex_lock((pthread_mutex_t *)argument);
    __atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
    until_asleep_on(&main_tid, argument, sizeof(pthread_mutex_t));
    pthread_mutex_unlock((pthread_mutex_t *)argument);
    return argument;
}

static OWN void mutexes(int type)
{
    pthread_mutexattr_t how;
    pthread_mutex_t mutex;
    struct timespec past = {0, 0}, wrong = {0, -1}, soon;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type);
    pthread_mutex_init(&mutex, &how);
    printf("type %d\n", type);
    SHOW(pthread_mutex_lock(&mutex));
    if (type != PTHREAD_MUTEX_NORMAL)
        SHOW(pthread_mutex_lock(&mutex)); /* EDEADLK, or once more */
    soon = in_ms(CLOCK_REALTIME, 5);
    SHOW(pthread_mutex_timedlock(&mutex, &soon));
    SHOW(pthread_mutex_timedlock(&mutex, &past));
    SHOW(pthread_mutex_timedlock(&mutex, &wrong));
    soon = in_ms(CLOCK_MONOTONIC, 5);
    SHOW(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon));
    while (pthread_mutex_unlock(&mutex) == 0 && type == PTHREAD_MUTEX_RECURSIVE)
        ;
    if (type == PTHREAD_MUTEX_NORMAL)
        return;
    pthread_t thread;
    held = 0;
    pthread_create(&thread, NULL, hold_and_wait, &mutex);
    while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST))
        asleep_pause();
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_unlock(&mutex));
    SHOW(pthread_join(thread, NULL));
}

static void *leave_locked(void *argument)
{
    pthread_mutex_lock((pthread_mutex_t *)argument);
    return NULL;
}

static OWN void robust(void)
{
    pthread_mutexattr_t how;
    pthread_mutex_t mutex;
    pthread_t thread;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &how);
    pthread_create(&thread, NULL, leave_locked, &mutex);
    pthread_join(thread, NULL);
    SHOW(pthread_mutex_lock(&mutex)); /* EOWNERDEAD */
    SHOW(pthread_mutex_unlock(&mutex));
    SHOW(pthread_mutex_lock(&mutex)); /* ENOTRECOVERABLE */
}

static OWN void rwlocks(void)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    SHOW(pthread_rwlock_rdlock(&lock));
    SHOW(pthread_rwlock_rdlock(&lock));
    SHOW(pthread_rwlock_timedwrlock(&lock, &soon));
    SHOW(pthread_rwlock_unlock(&lock));
    SHOW(pthread_rwlock_unlock(&lock));
    SHOW(pthread_rwlock_wrlock(&lock));
    SHOW(pthread_rwlock_wrlock(&lock)); /* EDEADLK */
    SHOW(pthread_rwlock_rdlock(&lock)); /* EDEADLK */
    SHOW(pthread_rwlock_unlock(&lock));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void once_run(void)
{
    puts("once");
}

static OWN void conditions(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_barrier_t barrier;
    sem_t semaphore;
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    pthread_mutex_lock(&mutex);
    SHOW(pthread_cond_timedwait(&condition, &mutex, &soon));
    soon = in_ms(CLOCK_MONOTONIC, 5);
    SHOW(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon));
    pthread_mutex_unlock(&mutex);
    sem_init(&semaphore, 0, 1);
    SHOW(sem_wait(&semaphore));
    soon = in_ms(CLOCK_REALTIME, 5);
    SHOW(sem_timedwait(&semaphore, &soon));
    soon = in_ms(CLOCK_MONOTONIC, 5);
    SHOW(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &soon));
    pthread_barrier_init(&barrier, NULL, 1);
    SHOW(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    SHOW(pthread_once(&once, once_run));
    SHOW(pthread_once(&once, once_run));
    int word = 1;
    SHOW(syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 2, NULL, NULL, 0)); /* EAGAIN */
    SHOW(syscall(SYS_getppid) == getppid());
}

static sem_t for_cancelling;
static int waits_for_cancel;
static void cleaned(void *argument)
{
    puts((const char *)argument);
}

static void *wait_cancelled(void *argument)
{
    pthread_cleanup_push(cleaned, argument);
    __atomic_store_n(&waits_for_cancel, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    if (strcmp((const char *)argument, "ready") == 0) {
        pthread_cancel(pthread_self());
        sem_wait(&for_cancelling); /* acts on it though it need not wait */
    }
    for (;;)
        sem_wait(&for_cancelling);
    pthread_cleanup_pop(0);
    return NULL;
}

static OWN void cancelled(const char *how)
{
    pthread_t thread;
    void *result = NULL;
    sem_init(&for_cancelling, 0, strcmp(how, "ready") == 0);
    waits_for_cancel = 0;
    pthread_create(&thread, NULL, wait_cancelled, (void *)how);
    if (strcmp(how, "blocked") == 0)
        until_asleep_on(&waits_for_cancel, &for_cancelling, sizeof for_cancelling);
    pthread_cancel(thread);
    SHOW(pthread_join(thread, &result));
    SHOW(result == PTHREAD_CANCELED);
    int left = -1;
    sem_getvalue(&for_cancelling, &left);
    printf("%s: %d left\n", how, left);
}

/* It is cancelled before it calls anything that acts on it: the first that is seen of this thread
 * is wait_cancelled(), which does not wait yet. */
__attribute__((no_instrument_function)) static void *cancelled_early(void *argument)
{
    pthread_cancel(pthread_self());
    return wait_cancelled(argument);
}

static OWN void cancelled_at_once(void)
{
    pthread_t thread;
    void *result = NULL;
    sem_init(&for_cancelling, 0, 0);
    pthread_create(&thread, NULL, cancelled_early, (void *)"early");
    SHOW(pthread_join(thread, &result));
    SHOW(result == PTHREAD_CANCELED);
}

static void nothing(int signal)
{
    (void)signal;
}
static sigjmp_buf out;
static timer_t timer;
static void signals_each(long ns)
{
    struct itimerspec when;
    memset(&when, 0, sizeof when);
    when.it_value.tv_nsec = when.it_interval.tv_nsec = ns;
    timer_settime(timer, 0, &when, NULL);
}

static volatile sig_atomic_t polls;
static void jump(int signal)
{
    (void)signal;
    if (!polls)
        return;
    polls = 0;
    signals_each(0);
    siglongjmp(out, 1);
}

/* Each 20 ms until they end, as one may come before the call that it is to interrupt. */
static void signals_begin(void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
    signals_each(20000000);
}

#define SHOW_INTERRUPTED(flags, call)  \
    do {                               \
        signals_begin(nothing, flags); \
        SHOW(call);                    \
        signals_each(0);               \
    } while (0)

static OWN void interrupted(void)
{
    int ends[2];
    char byte;
    struct timespec long_time = {6000, 0}, left;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    if (pipe(ends) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        exit(1);
    SHOW_INTERRUPTED(0, read(ends[0], &byte, 1)); /* EINTR */
    SHOW_INTERRUPTED(0, poll(NULL, 0, 6000000));
    SHOW_INTERRUPTED(SA_RESTART, poll(NULL, 0, 6000000)); /* not restarted either */
    SHOW_INTERRUPTED(0, nanosleep(&long_time, &left));
    SHOW(left.tv_sec > 1000 && left.tv_sec < 6000);
    SHOW_INTERRUPTED(0, pause());
    SHOW_INTERRUPTED(0, select(0, NULL, NULL, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(out, 1) == 0) {
            signals_begin(jump, 0);
            polls = 1;
            poll(NULL, 0, 6000000);
            puts("not here");
        }
        SHOW(poll(NULL, 0, 1));
    }
}

static OWN void descriptors(void)
{
    int ends[2], pair[2];
    char buffer[64];
    struct iovec part = {buffer, sizeof buffer};
    struct timespec none = {0, 0};
    struct epoll_event event;
    SHOW(pipe(ends));
    SHOW(write(ends[1], "abc", 3));
    SHOW(read(ends[0], buffer, sizeof buffer));
    SHOW(write(-1, "abc", 3));
    SHOW(read(-1, buffer, 1));
    SHOW(pread(ends[0], buffer, 1, 0)); /* ESPIPE */
    part.iov_len = 2;
    SHOW(writev(ends[1], &part, 1));
    SHOW(readv(ends[0], &part, 1));
    SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SHOW(send(pair[0], "xyz", 3, 0));
    SHOW(recv(pair[1], buffer, sizeof buffer, 0));
    SHOW(recv(pair[1], buffer, sizeof buffer, MSG_DONTWAIT)); /* EAGAIN */
    SHOW(accept(pair[0], NULL, NULL));
    SHOW(connect(pair[0], NULL, 0) < 0);
    struct pollfd one = {pair[1], POLLIN, 0};
    SHOW(poll(&one, 1, 0));
    SHOW(ppoll(&one, 1, &none, NULL));
    int poller = epoll_create1(0);
    SHOW(epoll_wait(poller, &event, 1, 0));
    SHOW(epoll_wait(poller, &event, 1, 3));
    SHOW(epoll_wait(poller, &event, 0, 3)); /* EINVAL */
    SHOW(close(poller));
    SHOW(close(poller)); /* EBADF */
    SHOW(getrandom(buffer, 8, 0));
    SHOW(lockf(1, 2, 3));
}

static OWN void files(void)
{
    char name[] = "callsXXXXXX", line[64];
    int fd = mkstemp(name);
    struct flock whole;
    memset(&whole, 0, sizeof whole);
    whole.l_type = F_WRLCK;
    SHOW(open("/nowhere/at/all", O_RDONLY));
    SHOW(fcntl(fd, F_SETLKW, &whole));
    SHOW(fcntl(fd, F_GETFD));
    SHOW(flock(fd, LOCK_EX));
    SHOW(pwrite(fd, "one\ntwo\n", 8, 0));
    SHOW(fsync(fd));
    SHOW(fsync(-1));
    FILE *stream = fdopen(fd, "r+");
    rewind(stream);
    printf("%s", fgets(line, sizeof line, stream));
    printf("%c\n", fgetc(stream));
    SHOW(fread(line, 1, sizeof line, stream));
    SHOW(feof(stream) != 0);
    SHOW(fprintf(stream, "%s %d\n", "three", 3));
    SHOW(fputs("four\n", stream) >= 0);
    rewind(stream);
    char word[16] = "";
    SHOW(fscanf(stream, "%15s", word));
    puts(word);
    SHOW(fclose(stream));
    unlink(name);
}

static OWN void children(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        usleep(2000);
        _exit(7);
    }
    SHOW(waitpid(pid, &status, 0) == pid);
    SHOW(WEXITSTATUS(status));
    SHOW(wait(&status)); /* ECHILD */
    fflush(stdout);
    SHOW(WEXITSTATUS(system("exit 5")));
    FILE *stream = popen("echo from a child", "r");
    char line[64] = "";
    SHOW(fgets(line, sizeof line, stream) == line);
    printf("%s", line);
    SHOW(pclose(stream));
}

int main(void)
{
    main_tid = getpid();
    mutexes(PTHREAD_MUTEX_NORMAL);
    mutexes(PTHREAD_MUTEX_ERRORCHECK);
    mutexes(PTHREAD_MUTEX_RECURSIVE);
    robust();
    rwlocks();
    conditions();
    cancelled("ready");
    cancelled("blocked");
    cancelled_at_once();
    interrupted();
    descriptors();
    files();
    children();
    return 0;
}
