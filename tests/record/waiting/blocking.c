/* SPDX-License-Identifier: Apache-2.0 */
/* Each call that blocks, by a function of its own (blocks_NAME): what it gives when a signal comes,
 * with and without SA_RESTART, and when its thread is cancelled, before and within. The same
 * whether it is recorded or not. Compiled as C and as C++. An argument: that call alone. */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "../asleep.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigpause */
#define OWN __attribute__((noinline))

static int empty[2], full[2], quiet[2], busy[2], listener, poller, counter, locked, zero;
static char fifo[64], lock_name[64], socket_name[64];
static int queue = -1, semaphores = -1;
static char buffer[4096];
static pid_t holder;
static pthread_t never_ends;
static thrd_t never_ends_either;
static sem_t nobody_posts;
static struct sockaddr_un crowded;
static volatile int crowded_fd = -1;

static struct timespec later(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 600;
    return t;
}

static struct iovec *part(void)
{
    static struct iovec one = {buffer, sizeof buffer};
    return &one;
}

static struct msghdr *message(void)
{
    static struct msghdr one;
    one.msg_iov = part();
    one.msg_iovlen = 1;
    return &one;
}

static struct mmsghdr *messages(void)
{
    static struct mmsghdr one;
    one.msg_hdr = *message();
    return &one;
}

/* Of its own each time: one that was cancelled stays locked. */
struct condition {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};
static struct condition *condition(void)
{
    struct condition *one = (struct condition *)calloc(1, sizeof *one);
    pthread_mutex_init(&one->mutex, NULL);
    pthread_cond_init(&one->condition, NULL);
    pthread_mutex_lock(&one->mutex);
    return one;
}

struct c11_condition {
    mtx_t mutex;
    cnd_t condition;
};
static struct c11_condition *c11_condition(void)
{
    struct c11_condition *one = (struct c11_condition *)calloc(1, sizeof *one);
    mtx_init(&one->mutex, mtx_plain);
    cnd_init(&one->condition);
    mtx_lock(&one->mutex);
    return one;
}

static FILE *input(void)
{
    return fdopen(dup(empty[0]), "r");
}

static FILE *output(void)
{
    FILE *stream = fdopen(dup(full[1]), "w");
    setvbuf(stream, NULL, _IONBF, 0);
    return stream;
}

static struct timespec six_hundred = {600, 0};
static struct timeval *ten_minutes(void)
{
    static struct timeval time;
    time.tv_sec = 600;
    return &time;
}
static sigset_t *no_signals(void)
{
    static sigset_t set;
    sigemptyset(&set);
    return &set;
}
static sigset_t *one_that_never_comes(void)
{
    static sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return &set;
}
static struct flock *whole(void)
{
    static struct flock lock;
    lock.l_type = F_WRLCK;
    return &lock;
}
static struct sembuf *take_one(void)
{
    static struct sembuf take = {0, -1, 0};
    return &take;
}
static struct {
    long type;
    char text[64];
} sent = {1, ""};
static struct pollfd *polled(void)
{
    static struct pollfd one;
    one.fd = empty[0];
    one.events = POLLIN;
    return &one;
}
static struct epoll_event event;
static struct timespec *until(clockid_t clock)
{
    static struct timespec when;
    when = later(clock);
    return &when;
}
static struct aiocb *reading(void)
{
    struct aiocb *one = (struct aiocb *)calloc(1, sizeof *one);
    one->aio_fildes = quiet[0];
    one->aio_buf = buffer;
    one->aio_nbytes = 1;
    one->aio_lio_opcode = LIO_READ;
    one->aio_sigevent.sigev_notify = SIGEV_NONE;
    return one;
}
static int suspend_on(struct aiocb *one)
{
    aio_read(one);
    const struct aiocb *list[1] = {one};
    return aio_suspend(list, 1, NULL);
}
static int list_of(struct aiocb *one)
{
    struct aiocb *list[1] = {one};
    return lio_listio(LIO_WAIT, list, 1, NULL);
}

/* name, whether it is a point of cancellation at all, the call */
#define CALLS(X)                                                                               \
    X(read, 1, read(empty[0], buffer, 1))                                                      \
    X(readv, 1, readv(empty[0], part(), 1))                                                    \
    X(preadv2, 1, preadv2(empty[0], part(), 1, -1, 0))                                         \
    X(write, 1, write(full[1], buffer, sizeof buffer))                                         \
    X(writev, 1, writev(full[1], part(), 1))                                                   \
    X(pwritev2, 1, pwritev2(full[1], part(), 1, -1, 0))                                        \
    X(eventfd_read, 1, eventfd_read(counter, (eventfd_t *)buffer))                             \
    X(splice, 1, splice(empty[0], NULL, full[1], NULL, 1, 0))                                  \
    X(tee, 1, tee(empty[0], full[1], 1, 0))                                                    \
    X(vmsplice, 1, vmsplice(full[1], part(), 1, 0))                                            \
    X(sendfile, 0, sendfile(full[1], zero, NULL, 4096))                                        \
    X(dprintf, 1, dprintf(full[1], "%s\n", "text"))                                            \
    X(recv, 1, recv(quiet[0], buffer, 1, 0))                                                   \
    X(recvfrom, 1, recvfrom(quiet[0], buffer, 1, 0, NULL, NULL))                               \
    X(recvmsg, 1, recvmsg(quiet[0], message(), 0))                                             \
    X(recvmmsg, 1, recvmmsg(quiet[0], messages(), 1, 0, NULL))                                 \
    X(send, 1, send(busy[0], buffer, sizeof buffer, 0))                                        \
    X(sendto, 1, sendto(busy[0], buffer, sizeof buffer, 0, NULL, 0))                           \
    X(sendmsg, 1, sendmsg(busy[0], message(), 0))                                              \
    X(sendmmsg, 1, sendmmsg(busy[0], messages(), 1, 0))                                        \
    X(accept, 1, accept(listener, NULL, NULL))                                                 \
    X(accept4, 1, accept4(listener, NULL, NULL, 0))                                            \
    X(connect, 1, connect(crowded_fd, (struct sockaddr *)&crowded, sizeof crowded))            \
    X(poll, 1, poll(polled(), 1, -1))                                                          \
    X(ppoll, 1, ppoll(polled(), 1, &six_hundred, NULL))                                        \
    X(select, 1, select(0, NULL, NULL, NULL, ten_minutes()))                                   \
    X(pselect, 1, pselect(0, NULL, NULL, NULL, NULL, NULL))                                    \
    X(epoll_wait, 1, epoll_wait(poller, &event, 1, -1))                                        \
    X(epoll_pwait, 1, epoll_pwait(poller, &event, 1, -1, NULL))                                \
    X(epoll_pwait2, 1, epoll_pwait2(poller, &event, 1, NULL, NULL))                            \
    X(sleep, 1, sleep(600) > 500)                                                              \
    X(usleep, 1, usleep(600000000))                                                            \
    X(nanosleep, 1, nanosleep(&six_hundred, NULL))                                             \
    X(clock_nanosleep, 1, clock_nanosleep(CLOCK_MONOTONIC, 0, &six_hundred, NULL))             \
    X(thrd_sleep, 1, thrd_sleep(&six_hundred, NULL))                                           \
    X(pause, 1, pause())                                                                       \
    X(sigsuspend, 1, sigsuspend(no_signals()))                                                 \
    X(sigpause, 1, sigpause(SIGRTMIN + 3))                                                     \
    X(sigwait, 1, sigwait(one_that_never_comes(), (int *)buffer))                              \
    X(sigwaitinfo, 1, sigwaitinfo(one_that_never_comes(), NULL))                               \
    X(sigtimedwait, 1, sigtimedwait(one_that_never_comes(), NULL, &six_hundred))               \
    X(wait, 1, wait(NULL))                                                                     \
    X(waitpid, 1, waitpid(holder, NULL, 0))                                                    \
    X(wait3, 1, wait3(NULL, 0, NULL))                                                          \
    X(wait4, 1, wait4(holder, NULL, 0, NULL))                                                  \
    X(waitid, 1, waitid(P_PID, (id_t)holder, NULL, WEXITED))                                   \
    X(msgrcv, 1, msgrcv(queue, &sent, sizeof sent.text, 2, 0))                                 \
    X(semop, 0, semop(semaphores, take_one(), 1))                                              \
    X(semtimedop, 0, semtimedop(semaphores, take_one(), 1, &six_hundred))                      \
    X(aio_suspend, 1, suspend_on(reading()))                                                   \
    X(lio_listio, 0, list_of(reading()))                                                       \
    X(sem_wait, 1, sem_wait(&nobody_posts))                                                    \
    X(sem_timedwait, 1, sem_timedwait(&nobody_posts, until(CLOCK_REALTIME)))                   \
    X(sem_clockwait, 1, sem_clockwait(&nobody_posts, CLOCK_MONOTONIC, until(CLOCK_MONOTONIC))) \
    X(pthread_cond_wait, 1, wait_for(condition(), 0))                                          \
    X(pthread_cond_timedwait, 1, wait_for(condition(), 1))                                     \
    X(pthread_cond_clockwait, 1, wait_for(condition(), 2))                                     \
    X(cnd_wait, 1, c11_wait_for(c11_condition(), 0))                                           \
    X(cnd_timedwait, 1, c11_wait_for(c11_condition(), 1))                                      \
    X(pthread_join, 1, pthread_join(never_ends, NULL))                                         \
    X(pthread_timedjoin_np, 1, pthread_timedjoin_np(never_ends, NULL, until(CLOCK_REALTIME)))  \
    X(pthread_clockjoin_np, 1,                                                                 \
      pthread_clockjoin_np(never_ends, NULL, CLOCK_MONOTONIC, until(CLOCK_MONOTONIC)))         \
    X(thrd_join, 1, thrd_join(never_ends_either, NULL))                                        \
    X(open, 1, open(fifo, O_RDONLY))                                                           \
    X(openat, 1, openat(AT_FDCWD, fifo, O_RDONLY))                                             \
    X(creat, 1, creat(fifo, 0600))                                                             \
    X(fopen, 1, fopen(fifo, "r") != NULL)                                                      \
    X(fcntl, 1, fcntl(locked, F_SETLKW, whole()))                                              \
    X(lockf, 1, lockf(locked, F_LOCK, 0))                                                      \
    X(flock, 0, flock(open(lock_name, O_RDWR), LOCK_EX))                                       \
    X(fgets, 1, fgets(buffer, 10, input()) != NULL)                                            \
    X(fgetc, 1, fgetc(input()))                                                                \
    X(fread, 1, fread(buffer, 1, 1, input()))                                                  \
    X(getline, 1, get_line(input()))                                                           \
    X(fscanf, 1, fscanf(input(), "%9s", buffer))                                               \
    X(fgetwc, 1, fgetwc(input()) == WEOF)                                                      \
    X(fgets_unlocked, 1, fgets_unlocked(buffer, 10, input()) != NULL)                          \
    X(fputs, 1, fputs("text", output()))                                                       \
    X(fprintf, 1, fprintf(output(), "%d", 5))                                                  \
    X(fwrite, 1, fwrite("text", 1, 4, output()))                                               \
    X(putc, 1, putc('x', output()))                                                            \
    X(fputs_unlocked, 1, fputs_unlocked("text", output()))                                     \
    X(fwprintf, 1, fwprintf(output(), L"%d", 5))                                               \
    X(syscall, 0, syscall(SYS_read, empty[0], buffer, 1))

static OWN int wait_for(struct condition *one, int how)
{
    if (how == 0)
        return pthread_cond_wait(&one->condition, &one->mutex);
    if (how == 1)
        return pthread_cond_timedwait(&one->condition, &one->mutex, until(CLOCK_REALTIME));
    return pthread_cond_clockwait(&one->condition, &one->mutex, CLOCK_MONOTONIC,
                                  until(CLOCK_MONOTONIC));
}

static OWN int c11_wait_for(struct c11_condition *one, int how)
{
    return how == 0 ? cnd_wait(&one->condition, &one->mutex)
                    : cnd_timedwait(&one->condition, &one->mutex, until(CLOCK_REALTIME));
}

static OWN ssize_t get_line(FILE *stream)
{
    char *line = NULL;
    size_t room = 0;
    return getline(&line, &room, stream);
}

#define FUNCTION(name, cancels, call)        \
    static OWN long blocks_##name(void)      \
    {                                        \
        long result = (long)(call);          \
        __asm__ volatile("" : "+r"(result)); \
        return result;                       \
    }
CALLS(FUNCTION)

#define ROW(name, cancels, call) {#name, cancels, blocks_##name},
static const struct row {
    const char *name;
    int cancels;
    long (*call)(void);
} rows[] = {CALLS(ROW)};

/* One call in a thread of its own. */
struct run {
    const struct row *row;
    int early; /* it is cancelled before it calls */
    int tid, begun, done, handled_at_begin;
    long result;
    int error;
};
static int handled;

static void handle(int signal)
{
    (void)signal;
    __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static void *run_it(void *argument)
{
    struct run *run = (struct run *)argument;
    int old;
    if (run->early) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
        pthread_cancel(pthread_self());
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    }
    __atomic_store_n(&run->tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    errno = 0;
    __atomic_store_n(&run->begun, 1, __ATOMIC_SEQ_CST);
    run->result = run->row->call();
    run->error = errno;
    __atomic_store_n(&run->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

#define IS_DONE(run) __atomic_load_n(&(run)->done, __ATOMIC_SEQ_CST)
/* Until it sleeps in its call, at the same place for three looks, or has ended. */
static void settle(struct run *run)
{
    char place[ASLEEP_PLACE], before[ASLEEP_PLACE] = "";
    for (int asleep = 0; asleep < 3 && !IS_DONE(run); asleep_pause()) {
        int sleeps = __atomic_load_n(&run->begun, __ATOMIC_SEQ_CST) && asleep_at(run->tid, place);
        asleep = !sleeps ? 0 : asleep > 0 && strcmp(place, before) == 0 ? asleep + 1 : 1;
        if (sleeps)
            memcpy(before, place, sizeof place);
    }
}

static void on_signal(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
}

static void tell(const char *how, struct run *run)
{
    if (IS_DONE(run))
        printf("%s %s: %ld, %s\n", run->row->name, how, run->result, strerror(run->error));
    else
        printf("%s %s: goes on\n", run->row->name, how);
}

/* The end of one that goes on: cancelled; what is no point of cancellation is left alone. */
static void give_up(pthread_t thread, const struct run *run)
{
    void *result = NULL;
    if (!IS_DONE(run))
        pthread_cancel(thread);
    if (!run->row->cancels && !IS_DONE(run)) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, &result);
    printf("%s: %s\n", run->row->name, result == PTHREAD_CANCELED ? "cancelled" : "ended");
}

static struct run *begin(const struct row *row, int early, pthread_t *thread)
{
    struct run *run = (struct run *)calloc(1, sizeof *run);
    run->row = row;
    run->early = early;
    run->handled_at_begin = __atomic_load_n(&handled, __ATOMIC_SEQ_CST);
    pthread_create(thread, NULL, run_it, run);
    return run;
}

static void interrupt(const struct row *row, int flags, const char *how)
{
    pthread_t thread;
    on_signal(flags);
    struct run *run = begin(row, 0, &thread);
    settle(run);
    for (int sent_now = 0; sent_now < 3 && !IS_DONE(run); sent_now++) {
        int before = __atomic_load_n(&handled, __ATOMIC_SEQ_CST);
        pthread_kill(thread, SIGUSR1);
        while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) == before && !IS_DONE(run))
            asleep_pause();
        settle(run);
    }
    tell(how, run);
    give_up(thread, run);
}

static void cancel_early(const struct row *row)
{
    pthread_t thread;
    if (!row->cancels)
        return;
    struct run *run = begin(row, 1, &thread);
    give_up(thread, run);
}

static void *wait_forever(void *argument)
{
    for (;;)
        sem_wait(&nobody_posts);
    return argument;
}

static int wait_forever_too(void *argument)
{
    return wait_forever(argument) != NULL;
}

static void fill(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, buffer, sizeof buffer) > 0)
        ;
    while (write(fd, buffer, 1) > 0)
        ;
    fcntl(fd, F_SETFL, flags);
}

/* A child that holds the file's lock until this process ends. */
static void hold_lock(void)
{
    int ends[2];
    locked = open(lock_name, O_RDWR | O_CREAT, 0600);
    if (pipe(ends) != 0)
        exit(1);
    holder = fork();
    if (holder == 0) {
        int own = open(lock_name, O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fcntl(own, F_SETLK, whole()) != 0 || flock(own, LOCK_EX) != 0 ||
            write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    if (read(ends[0], buffer, 1) != 1)
        exit(1);
}

static void crowd(void)
{
    int full_listener = socket(AF_UNIX, SOCK_STREAM, 0);
    crowded.sun_family = AF_UNIX;
    snprintf(crowded.sun_path, sizeof crowded.sun_path, "%s", socket_name);
    if (bind(full_listener, (struct sockaddr *)&crowded, sizeof crowded) != 0 ||
        listen(full_listener, 0) != 0)
        exit(1);
    for (int i = 0; i < 3; i++) { /* until nobody more may wait */
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(fd, (struct sockaddr *)&crowded, sizeof crowded) != 0)
            break;
    }
    crowded_fd = socket(AF_UNIX, SOCK_STREAM, 0);
}

static void prepare(void)
{
    struct sockaddr_un own;
    snprintf(fifo, sizeof fifo, "fifo");
    snprintf(lock_name, sizeof lock_name, "lock");
    snprintf(socket_name, sizeof socket_name, "socket");
    memset(&own, 0, sizeof own);
    own.sun_family = AF_UNIX;
    if (mkfifo(fifo, 0600) != 0 || pipe(empty) != 0 || pipe(full) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, quiet) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, busy) != 0)
        exit(1);
    fill(full[1]);
    fill(busy[0]);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(own.sun_path, sizeof own.sun_path, "listener");
    if (bind(listener, (struct sockaddr *)&own, sizeof own) != 0 || listen(listener, 5) != 0)
        exit(1);
    poller = epoll_create1(0);
    counter = eventfd(0, 0);
    zero = open(lock_name, O_RDWR | O_CREAT, 0600);
    if (ftruncate(zero, 4096) != 0)
        exit(1);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&nobody_posts, 0, 0);
    hold_lock();
    crowd();
    pthread_create(&never_ends, NULL, wait_forever, NULL);
    thrd_create(&never_ends_either, wait_forever_too, NULL);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGRTMIN + 3, SIG_IGN);
    prepare();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (argc > 1 && strcmp(argv[1], rows[i].name) != 0)
            continue;
        interrupt(&rows[i], 0, "interrupted");
        interrupt(&rows[i], SA_RESTART, "to be restarted");
        cancel_early(&rows[i]);
    }
    kill(holder, SIGKILL);
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
    fflush(stdout);
    _exit(0); /* streams with nowhere to write are open */
}
