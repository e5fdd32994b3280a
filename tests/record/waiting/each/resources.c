/* SPDX-License-Identifier: Apache-2.0 */
/* What nobody makes ready, for those who wait, and what is ready, for those who need not. */
#include "each.h"

int empty[2], full[2], quiet[2], busy[2], hasty[2], never[2], never_socket[2];
int listener, poller, counter, full_counter, locked, data, folder, terminal;
int queue, full_queue, semaphores, crowded_fd, crowded_listener;
struct sockaddr_un crowded;
mqd_t messages_in, messages_out, messages_sent, messages_now;
sem_t once_ends;
pid_t holder;

static void need(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "each: %s: %s\n", what, strerror(errno));
    _exit(1);
}

void brief(void)
{
    struct timespec time = {0, 2000000};
    syscall(SYS_nanosleep, &time, NULL);
}

FILE *input_of(struct own *own, int fd)
{
    own->stream = fdopen(dup(fd), "r");
    return READY(own->stream);
}

FILE *output_of(struct own *own, int fd)
{
    own->stream = fdopen(dup(fd), "w");
    setvbuf(own->stream, NULL, _IONBF, 0);
    return READY(own->stream);
}

FILE *text(struct own *own, const char *content)
{
    int ends[2];
    need(pipe(ends) == 0, "a pipe");
    need(write(ends[1], content, strlen(content)) == (ssize_t)strlen(content), "a text");
    close(ends[1]);
    int fd = open("text", O_RDWR | O_CREAT | O_TRUNC, 0600); /* one that has places */
    need(pwrite(fd, content, strlen(content), 0) == (ssize_t)strlen(content), "a text");
    close(ends[0]);
    own->stream = fdopen(open("text", O_RDONLY), "r");
    close(fd);
    return READY(own->stream);
}

FILE *sink(struct own *own)
{
    own->stream = fdopen(open("/dev/null", O_WRONLY), "w");
    return READY(own->stream);
}

void text_in(struct own *own, const char *content)
{
    stdin = text(own, content);
}

void sink_in(struct own *own)
{
    stdin = sink(own);
}

void sink_out(struct own *own)
{
    stdout = sink(own);
}

void text_out(struct own *own)
{
    stdout = text(own, "");
}

void sink_err(struct own *own)
{
    stderr = sink(own);
}

void text_err(struct own *own)
{
    stderr = text(own, "");
}

const char *made(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(write(fd, "some bytes", 10) == 10, name);
    close(fd);
    return READY(name);
}

int fresh(void)
{
    int fd = open(made("fresh"), O_RDWR);
    return READY(fd);
}

const char *gone(const char *name)
{
    remove(name);
    return READY(name);
}

const char *folder_made(const char *name)
{
    remove(name);
    need(mkdir(name, 0700) == 0, name);
    return READY(name);
}

struct timespec *after(struct own *own, clockid_t clock, long ms)
{
    clock_gettime(clock, &own->when);
    own->when.tv_nsec += ms % 1000 * 1000000;
    own->when.tv_sec += ms / 1000 + own->when.tv_nsec / 1000000000;
    own->when.tv_nsec %= 1000000000;
    return READY(&own->when);
}

pthread_mutex_t *relocked(void)
{
    pthread_mutexattr_t how;
    pthread_mutex_t *mutex = (pthread_mutex_t *)calloc(1, sizeof(mtx_t) + sizeof *mutex);
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(mutex, &how);
    pthread_mutex_lock(mutex);
    return READY(mutex);
}

pthread_rwlock_t *rwlock_of_own(void)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)calloc(1, sizeof *lock);
    pthread_rwlock_init(lock, NULL);
    pthread_rwlock_wrlock(lock);
    return READY(lock);
}

static void *end_at_once(void *argument)
{
    return argument;
}

static int end_at_once_c11(void *argument)
{
    return argument != NULL;
}

static void *end_when_posted(void *argument)
{
    while (sem_wait((sem_t *)argument) != 0)
        ;
    return NULL;
}

static int end_when_posted_c11(void *argument)
{
    return end_when_posted(argument) != NULL;
}

pthread_t ended(struct own *own)
{
    need(pthread_create(&own->ender, NULL, end_at_once, NULL) == 0, "a thread");
    return READY(own->ender);
}

pthread_t never_ends(struct own *own)
{
    need(pthread_create(&own->ender, NULL, end_when_posted, &own->semaphore) == 0, "a thread");
    return READY(own->ender);
}

thrd_t c11_ended(struct own *own)
{
    need(thrd_create(&own->c11_ender, end_at_once_c11, NULL) == thrd_success, "a thread");
    return READY(own->c11_ender);
}

thrd_t c11_never_ends(struct own *own)
{
    need(thrd_create(&own->c11_ender, end_when_posted_c11, &own->semaphore) == thrd_success,
         "a thread");
    return READY(own->c11_ender);
}

void do_nothing(void)
{
}

static void work(void)
{
    end_when_posted(&once_ends);
}

static void *work_once(void *argument)
{
    pthread_once((pthread_once_t *)argument, work);
    return NULL;
}

static void *work_once_c11(void *argument)
{
    call_once((once_flag *)argument, work);
    return NULL;
}

static void begin_work(void *(*function)(void *), void *control)
{
    pthread_t thread;
    need(pthread_create(&thread, NULL, function, control) == 0, "a thread");
    while ((__atomic_load_n((int *)control, __ATOMIC_ACQUIRE) & 3) != 1)
        brief();
}

pthread_once_t *once_at_work(struct own *own)
{
    begin_work(work_once, &own->once);
    return READY(&own->once);
}

once_flag *c11_once_at_work(struct own *own)
{
    begin_work(work_once_c11, &own->c11_once);
    return READY(&own->c11_once);
}

pid_t child_that_ends(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    return READY(pid);
}

int with_byte(struct own *own)
{
    int ends[2];
    (void)own;
    need(pipe(ends) == 0 && write(ends[1], "12345", 5) == 5, "a pipe");
    return READY(ends[0]);
}

int pipe_of(struct own *own)
{
    int ends[2];
    (void)own;
    need(pipe(ends) == 0, "a pipe");
    return READY(ends[1]);
}

int with_datagram(struct own *own)
{
    int ends[2];
    (void)own;
    need(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 && send(ends[1], "12345", 5, 0) == 5,
         "sockets");
    return READY(ends[0]);
}

int peer_of(struct own *own)
{
    int ends[2];
    (void)own;
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets");
    return READY(ends[0]);
}

int with_caller(struct own *own)
{
    struct sockaddr_un at;
    socklen_t size = sizeof at;
    (void)own;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), caller = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&at, 0, sizeof at);
    at.sun_family = AF_UNIX; /* without a name: the kernel gives it one */
    need(bind(fd, (struct sockaddr *)&at, sizeof at.sun_family) == 0 && listen(fd, 5) == 0 &&
             getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
             connect(caller, (struct sockaddr *)&at, size) == 0,
         "a connection");
    return READY(fd);
}

struct iovec *part(struct own *own, size_t bytes)
{
    static __thread struct iovec one;
    one.iov_base = own->buffer;
    one.iov_len = bytes;
    return READY(&one);
}

struct msghdr *message(struct own *own, size_t bytes)
{
    static __thread struct msghdr one;
    memset(&one, 0, sizeof one);
    one.msg_iov = part(own, bytes);
    one.msg_iovlen = 1;
    return READY(&one);
}

struct mmsghdr *messages(struct own *own, size_t bytes)
{
    static __thread struct mmsghdr one;
    one.msg_hdr = *message(own, bytes);
    return READY(&one);
}

struct pollfd *polled(int fd)
{
    static __thread struct pollfd one;
    one.fd = fd;
    one.events = POLLIN;
    return READY(&one);
}

struct sembuf *change(int by)
{
    static __thread struct sembuf one;
    one.sem_op = (short)by;
    return READY(&one);
}

struct flock *whole(void)
{
    static __thread struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    return READY(&lock);
}

sigset_t *no_signals(void)
{
    static __thread sigset_t set;
    sigemptyset(&set);
    return READY(&set);
}

static sigset_t *blocked(int signal)
{
    static __thread sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return READY(&set);
}

sigset_t *never_comes(void)
{
    return blocked(SIGRTMIN + 3);
}

sigset_t *pending(void)
{
    sigset_t *set = blocked(SIGRTMIN);
    pthread_kill(pthread_self(), SIGRTMIN);
    return READY(set);
}

#define AIO_OF(name, type, member, start, begin)            \
    struct type *name(struct own *own, int fd)              \
    {                                                       \
        memset(&own->member, 0, sizeof own->member);        \
        own->member.aio_fildes = fd;                        \
        own->member.aio_buf = own->buffer;                  \
        own->member.aio_nbytes = 1;                         \
        own->member.aio_lio_opcode = LIO_READ;              \
        own->member.aio_sigevent.sigev_notify = SIGEV_NONE; \
        return READY(&own->member);                         \
    }                                                       \
    struct type *start(struct own *own, int fd)             \
    {                                                       \
        need(begin(name(own, fd)) == 0, "a request");       \
        return READY(&own->member);                         \
    }
AIO_OF(prepared, aiocb, control, reading, aio_read)
AIO_OF(prepared64, aiocb64, control64, reading64, aio_read64)

struct gaicb *resolving(struct own *own)
{
    static struct addrinfo how;
    how.ai_flags = AI_NUMERICHOST;
    memset(&own->request, 0, sizeof own->request);
    own->request.ar_name = "127.0.0.1";
    own->request.ar_request = &how;
    return READY(&own->request);
}

#define LISTED(type, name, fixed, last, call) \
    type name fixed                           \
    {                                         \
        va_list list;                         \
        va_start(list, last);                 \
        errno = ERRNO_BEFORE;                 \
        type result = call;                   \
        va_end(list);                         \
        return result;                        \
    }
LISTED(int, vprint_to,
       (int (*function)(FILE *, const char *, va_list), FILE *stream, const char *how, ...), how,
       function(stream, how, list))
LISTED(int, vprint, (int (*function)(const char *, va_list), const char *how, ...), how,
       function(how, list))
LISTED(int, vprint_chk,
       (int (*function)(FILE *, int, const char *, va_list), FILE *stream, const char *how, ...),
       how, function(stream, 1, how, list))
LISTED(int, vprint_out_chk, (int (*function)(int, const char *, va_list), const char *how, ...),
       how, function(1, how, list))
LISTED(int, vprint_fd, (int (*function)(int, const char *, va_list), int fd, const char *how, ...),
       how, function(fd, how, list))
LISTED(int, vprint_fd_chk,
       (int (*function)(int, int, const char *, va_list), int fd, const char *how, ...), how,
       function(fd, 1, how, list))
LISTED(int, vwide_to,
       (int (*function)(FILE *, const wchar_t *, va_list), FILE *stream, const wchar_t *how, ...),
       how, function(stream, how, list))
LISTED(int, vwide, (int (*function)(const wchar_t *, va_list), const wchar_t *how, ...), how,
       function(how, list))
LISTED(int, vwide_chk,
       (int (*function)(FILE *, int, const wchar_t *, va_list), FILE *stream, const wchar_t *how,
        ...),
       how, function(stream, 1, how, list))
LISTED(int, vwide_out_chk,
       (int (*function)(int, const wchar_t *, va_list), const wchar_t *how, ...), how,
       function(1, how, list))
LISTED(long, vlog, (void (*function)(int, const char *, va_list), const char *how, ...), how,
       (function(LOG_DEBUG, how, list), 0))
LISTED(long, vlog_chk, (void (*function)(int, int, const char *, va_list), const char *how, ...),
       how, (function(LOG_DEBUG, 1, how, list), 0))

void own_init(struct own *own)
{
    pthread_mutex_init(&own->mutex, NULL);
    pthread_mutex_init(&own->held, NULL);
    pthread_mutex_lock(&own->held);
    pthread_cond_init(&own->condition, NULL);
    pthread_rwlock_init(&own->rwlock, NULL);
    pthread_rwlock_init(&own->held_rwlock, NULL);
    pthread_rwlock_wrlock(&own->held_rwlock);
    mtx_init(&own->c11_mutex, mtx_timed);
    mtx_init(&own->c11_held, mtx_timed);
    mtx_lock(&own->c11_held);
    cnd_init(&own->c11_condition);
    sem_init(&own->semaphore, 0, 0);
    pthread_barrier_init(&own->barrier, NULL, 1);
    pthread_barrier_init(&own->of_two, NULL, 2);
}

/* A child that holds the file's locks until this process ends. */
static void hold_locks(void)
{
    int ends[2];
    locked = open("lock", O_RDWR | O_CREAT, 0600);
    need(pipe(ends) == 0, "a pipe");
    holder = fork();
    if (holder == 0) {
        int own = open("lock", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(empty[1]);
        need(fcntl(own, F_SETLK, whole()) == 0 && flock(own, LOCK_EX) == 0 &&
                 write(ends[1], "x", 1) == 1,
             "the locks");
        for (;;)
            pause();
    }
    char byte;
    need(read(ends[0], &byte, 1) == 1, "who holds the locks");
}

static void prepare_hasty(void)
{
    int in[2], out[2];
    struct timeval soon = {0, 3000};
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, in) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM, 0, out) == 0,
         "sockets");
    fill(out[0]);
    hasty[0] = in[0];
    hasty[1] = out[0];
    setsockopt(hasty[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    setsockopt(hasty[1], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
}

static void prepare_queues(void)
{
    char name[64];
    struct mq_attr small;
    queue = msgget(IPC_PRIVATE, 0600);
    full_queue = msgget(IPC_PRIVATE, 0600);
    fill_queue();
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    memset(&small, 0, sizeof small);
    small.mq_maxmsg = 1;
    small.mq_msgsize = 16;
    snprintf(name, sizeof name, "/fathom-each-%d", (int)getpid());
    messages_in = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &small);
    messages_sent = mq_open(name, O_RDWR | O_NONBLOCK);
    mq_unlink(name);
    messages_out = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &small);
    messages_now = mq_open(name, O_RDWR | O_NONBLOCK);
    mq_unlink(name);
    mq_send(messages_out, "a", 1, 0);
}

static void prepare_files(void)
{
    need(mkfifo("fifo", 0600) == 0 && mkfifo("written", 0600) == 0 &&
             symlink("anywhere", "symbolic") == 0 && mkdir("few", 0700) == 0,
         "files");
    made("few/one");
    made("few/two");
    data = open("data", O_RDWR | O_CREAT, 0600);
    need(ftruncate(data, 4096) == 0, "a file");
    folder = open(".", O_RDONLY | O_DIRECTORY);
}

void prepare(void)
{
    struct sockaddr_un at;
    struct epoll_event event;
    need(pipe2(empty, O_CLOEXEC) == 0 && pipe(full) == 0 && pipe(never) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM, 0, quiet) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM, 0, busy) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM, 0, never_socket) == 0,
         "pipes and sockets");
    fcntl(empty[0], F_SETFD, 0); /* children of system() read it */
    fill(full[1]);
    fill(busy[0]);
    prepare_hasty();
    prepare_files();
    memset(&at, 0, sizeof at);
    at.sun_family = AF_UNIX;
    snprintf(at.sun_path, sizeof at.sun_path, "listener");
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    need(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 9) == 0,
         "a listener");
    poller = epoll_create1(0);
    memset(&event, 0, sizeof event);
    event.events = EPOLLIN;
    epoll_ctl(poller, EPOLL_CTL_ADD, empty[0], &event);
    counter = eventfd(0, 0);
    full_counter = eventfd(0, 0);
    eventfd_write(full_counter, UINT64_MAX - 1);
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    prepare_queues();
    sem_init(&once_ends, 0, 0);
    hold_locks();
    crowd();
}

void clean_up(void)
{
    kill(holder, SIGKILL);
    msgctl(queue, IPC_RMID, NULL);
    msgctl(full_queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
}

static int is_ready(int fd, short events)
{
    struct pollfd one = {fd, events, 0};
    return poll(&one, 1, 0);
}

void tell_resources(FILE *to)
{
    int bytes = -1;
    struct msqid_ds about;
    ioctl(empty[0], FIONREAD, &bytes);
    fprintf(to, "left: %d bytes, %d", bytes, is_ready(full[1], POLLOUT));
    ioctl(quiet[0], FIONREAD, &bytes);
    fprintf(to, ", %d bytes, %d, %d callers, count %d %d", bytes, is_ready(busy[0], POLLOUT),
            is_ready(listener, POLLIN), is_ready(counter, POLLIN), is_ready(full_counter, POLLOUT));
    memset(&about, 0, sizeof about);
    msgctl(queue, IPC_STAT, &about);
    fprintf(to, ", %d messages, semaphore %d\n", (int)about.msg_qnum,
            semctl(semaphores, 0, GETVAL));
}
