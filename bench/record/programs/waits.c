/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that may wait: waits WHAT TIMES. Prints the CPU time of one in nanoseconds; for `echo`,
 * that of the server only. All threads run on one CPU, so that the number of waits is always the
 * same. */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#define OWN __attribute__((noinline))
static long times;

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int good)
{
    if (good)
        return;
    perror("waits");
    exit(1);
}

static OWN void mutex(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
}

/* Two threads that each take the lock which the other is about to give back: of three locks one
 * holds two steps' order, so each step but the first waits. */
static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both_hold;

static OWN void *hand_over(void *first)
{
    int held = (int)(long)first;
    pthread_mutex_lock(&locks[held]);
    pthread_barrier_wait(&both_hold);
    for (long i = 0; i < times / 2; i++) {
        int next = (held + 2) % 3;
        pthread_mutex_lock(&locks[next]);
        pthread_mutex_unlock(&locks[held]);
        held = next;
    }
    pthread_mutex_unlock(&locks[held]);
    return NULL;
}

static OWN void contended(void)
{
    pthread_t other;
    pthread_barrier_init(&both_hold, NULL, 2);
    must(pthread_create(&other, NULL, hand_over, (void *)1L) == 0);
    hand_over((void *)0L);
    pthread_join(other, NULL);
}

static OWN void zero(void)
{
    char byte;
    int fd = open("/dev/zero", O_RDONLY);
    for (long i = 0; i < times; i++)
        must(read(fd, &byte, 1) == 1);
}

static OWN void pipes(void)
{
    char byte = 'x';
    int ends[2];
    must(pipe(ends) == 0);
    for (long i = 0; i < times; i++)
        must(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1);
}

static OWN void sockets(void)
{
    char byte = 'x';
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    for (long i = 0; i < times; i++)
        must(send(ends[1], &byte, 1, 0) == 1 && recv(ends[0], &byte, 1, 0) == 1);
}

static OWN void ready(void)
{
    int ends[2];
    must(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    for (long i = 0; i < times; i++)
        must(poll(&one, 1, -1) == 1);
}

static OWN void semaphore(void)
{
    sem_t one;
    sem_init(&one, 0, 1);
    for (long i = 0; i < times; i++) {
        sem_wait(&one);
        sem_post(&one);
    }
}

static OWN void client(const struct sockaddr_in *address, int *other_end)
{
    char text[64] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    close(*other_end);
    must(connect(fd, (const struct sockaddr *)address, sizeof *address) == 0);
    for (int i = 0; i < 16; i++) /* several are in flight, so the server always has one */
        must(send(fd, text, sizeof text, 0) == sizeof text);
    for (long i = 0; i < times; i++) {
        must(recv(fd, text, sizeof text, MSG_WAITALL) == sizeof text);
        must(send(fd, text, sizeof text, MSG_NOSIGNAL) == sizeof text);
    }
    _exit(0);
}

static OWN void echo(void)
{
    char text[64];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    must(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
         getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pid_t pid = fork();
    if (pid == 0)
        client(&address, &listener);
    int fd = accept(listener, NULL, NULL);
    for (long i = 0; i < times; i++) {
        must(recv(fd, text, sizeof text, MSG_WAITALL) == sizeof text);
        must(send(fd, text, sizeof text, 0) == sizeof text);
    }
    close(fd);
    kill(pid, 9);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
        {"mutex", mutex},     {"contended", contended}, {"zero", zero},           {"pipes", pipes},
        {"sockets", sockets}, {"ready", ready},         {"semaphore", semaphore}, {"echo", echo}};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (argc != 3)
        return 2;
    sched_setaffinity(0, sizeof one, &one);
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, argv[1]) != 0)
            continue;
        times = atol(argv[2]) / 100 + 1; /* warms up caches and first calls */
        if (strcmp(argv[1], "echo") != 0)
            all[i].run();
        times = atol(argv[2]);
        double begun = cpu_ns();
        all[i].run();
        printf("%.3f\n", (cpu_ns() - begun) / (double)times);
        return 0;
    }
    return 2;
}
