/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of one event, compared with reading the time stamp counter, a printed line and (if built
 * with it) an lttng-ust tracepoint. All variants alternate in each round, so that other load
 * affects them equally. Figures are CPU time of the logging threads, the median of the rounds. */
#include <fathom/eventlog.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#ifdef HAVE_LTTNG
#include "bench_tp.h"
#endif

enum { ROUNDS = 7, EVENTS = 8000000, SLOW_EVENTS = 200000, VARIANTS_MAX = 16 };
static volatile uint64_t sink;
static FILE *null_file;

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void log_events(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fm_eventlog_function_exit((const void *)(uintptr_t)i);
}

static double time_log(uint32_t n)
{
    double begin = cpu_ns();
    log_events(n);
    return (cpu_ns() - begin) / n;
}

static double rdtsc_loop(void)
{
    uint64_t sum = 0;
    double begin = cpu_ns();
    for (uint32_t i = 0; i < EVENTS; i++)
        sum += fm_eventlog_stamp_();
    double end = cpu_ns();
    sink = sum;
    return (end - begin) / EVENTS;
}

/* Memory: chunks are never taken, and the oldest is dropped, so every byte is converted and
 * copied. */
static void start_memory(void)
{
    fm_eventlog_start(&(struct fm_eventlog_options){.flags = FM_EVENTLOG_MEMORY,
                                                    .policy = FM_EVENTLOG_DROP_OLDEST,
                                                    .memory_limit_bytes = 16 << 20});
}

static double memory(void)
{
    start_memory();
    log_events(1000000); /* the pages are mapped now */
    double ns = time_log(EVENTS);
    fm_eventlog_stop();
    return ns;
}

/* CPU time of all threads, including the one that writes the file. */
static double process_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double file_at(const char *path, bool whole)
{
    fm_eventlog_start(NULL);
    if (fm_eventlog_open_file(path) != 0)
        exit(1);
    log_events(1000000);
    fm_eventlog_flush(-1);
    double begin = process_ns(), ns = time_log(EVENTS);
    if (whole) {
        fm_eventlog_flush(-1);
        ns = (process_ns() - begin) / EVENTS;
    }
    fm_eventlog_stop();
    if (strncmp(path, "/dev/", 5) != 0 || strncmp(path, "/dev/shm/", 9) == 0)
        unlink(path);
    return ns;
}

static double file_null(void)
{
    return file_at("/dev/null", false);
}

static double file_disk(void)
{
    return file_at("/var/tmp/fathom-bench.eventlog", false);
}

static double file_tmpfs(void)
{
    return file_at("/dev/shm/fathom-bench.eventlog", false);
}

static double file_disk_whole(void)
{
    return file_at("/var/tmp/fathom-bench.eventlog", true);
}

static double file_tmpfs_whole(void)
{
    return file_at("/dev/shm/fathom-bench.eventlog", true);
}

static double null_sink(void)
{
    fm_eventlog_start(NULL);
    double ns = time_log(EVENTS);
    fm_eventlog_stop();
    return ns;
}

static double printed(void)
{
    double begin = cpu_ns();
    for (uint32_t i = 0; i < SLOW_EVENTS; i++) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        fprintf(null_file, "%ld.%09ld exit %u\n", (long)t.tv_sec, t.tv_nsec, i);
    }
    return (cpu_ns() - begin) / SLOW_EVENTS;
}

#ifdef HAVE_LTTNG
static double lttng(void)
{
    double begin = cpu_ns();
    for (uint32_t i = 0; i < SLOW_EVENTS * 5; i++)
        lttng_ust_tracepoint(fathom_bench, event, i);
    return (cpu_ns() - begin) / (SLOW_EVENTS * 5);
}
#endif

/* ---- two threads: events per second of CPU time that each of them gets, summed
 * ------------------- */

struct thread {
    pthread_t id;
    double cpu;
};

static void *log_thread(void *context)
{
    struct thread *t = context;
    double begin = cpu_ns();
    log_events(EVENTS);
    t->cpu = cpu_ns() - begin;
    return NULL;
}

static double rate(int threads)
{
    struct thread t[2];
    double sum = 0;
    start_memory();
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i].id, NULL, log_thread, &t[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i].id, NULL);
        sum += EVENTS / t[i].cpu * 1e3;
    }
    fm_eventlog_stop();
    return sum;
}

static double one_thread(void)
{
    return rate(1);
}

static double two_threads(void)
{
    return rate(2);
}

/* ---- a client that reads a kilobyte a second ----------------------------------------------------
 */

static _Atomic int reading;

static void *read_slowly(void *context)
{
    char kilobyte[1024];
    int fd = *(int *)context;
    while (reading) {
        if (recv(fd, kilobyte, sizeof(kilobyte), 0) <= 0)
            exit(1);
        for (int i = 0; i < 100 && reading; i++)
            usleep(10000);
    }
    return NULL;
}

static double with_client(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char address[128];
    pthread_t reader;
    snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/fathom-bench-%d.sock", (int)getpid());
    snprintf(address, sizeof(address), "unix:%s", a.sun_path);
    start_memory();
    int listener = fm_eventlog_listen(address, NULL);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct fm_eventlog_stats s;
    if (listener < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
        exit(1);
    do {
        usleep(1000);
        fm_eventlog_stats(&s);
    } while (s.clients == 0);
    log_events(2000000); /* its queue is full from here on */
    reading = 1;
    pthread_create(&reader, NULL, read_slowly, &fd);
    double ns = time_log(EVENTS);
    reading = 0;
    pthread_join(reader, NULL);
    close(fd);
    fm_eventlog_unlisten(listener);
    fm_eventlog_stop();
    return ns;
}

/* ---- rounds ------------------------------------------------------------------------------------
 */

static const struct variant {
    const char *name, *unit;
    double (*run)(void);
} variants[] = {
    {"rdtsc alone", "ns", rdtsc_loop},
    {"event in memory", "ns", memory},
    {"event, client of 1 KB/s", "ns", with_client},
    {"event, sink /dev/null", "ns", file_null},
    {"event, file in /var/tmp", "ns", file_disk},
    {"event, file in tmpfs", "ns", file_tmpfs},
    {"  the writer's thread too", "ns", file_disk_whole},
    {"  the same, tmpfs", "ns", file_tmpfs_whole},
    {"call site, no sink", "ns", null_sink},
    {"fprintf line", "ns", printed},
#ifdef HAVE_LTTNG
    {"lttng-ust tracepoint", "ns", lttng},
#endif
    {"one thread", "M/s", one_thread},
    {"two threads", "M/s", two_threads},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    double sorted[ROUNDS];
    memcpy(sorted, values, sizeof(sorted));
    qsort(sorted, ROUNDS, sizeof(double), by_value);
    return sorted[ROUNDS / 2];
}

int main(void)
{
    static double values[VARIANTS_MAX][ROUNDS];
    double ratios[ROUNDS];
    null_file = fopen("/dev/null", "w");
    for (int round = 0; round < ROUNDS; round++)
        for (int v = 0; v < VARIANTS; v++)
            values[v][round] = variants[v].run();
    for (int v = 0; v < VARIANTS; v++) {
        int base = variants[v].unit[0] == 'n' ? 0 : VARIANTS - 2;
        for (int round = 0; round < ROUNDS; round++)
            ratios[round] = values[v][round] / values[base][round];
        printf("%-24s %8.2f %-4s %6.2f x %s\n", variants[v].name, median(values[v]),
               variants[v].unit, median(ratios), variants[base].name);
    }
    for (int round = 0; round < ROUNDS; round++)
        ratios[round] = values[2][round] / values[1][round];
    printf("slow client / none       %8.3f\n", median(ratios));
    return 0;
}
