/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that end without a stop, in every way, and what `fathom log recover` makes of it: all
 * events but at most the one that was being written. */
#include "check.h"

#include <fathom/eventlog.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LANES = 3 };
struct shared {
    _Atomic uint32_t logged[LANES]; /* events that were logged for certain */
    _Atomic uint32_t handled;
};
static struct shared *shared;

/* A command that reads the log says that it lacks events. */
static bool told_of(const char *path)
{
    g_autofree char *err = NULL;
    const char *argv[] = {g_getenv("FATHOM"), "log", "cut", "-o", "/dev/null", path, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               NULL, &err, NULL, NULL));
    return strstr(err, "log recover") != NULL;
}

/* Recovers and checks: every number up to what was logged for certain is there, once. */
static struct check *recovered(const char *path, unsigned lanes)
{
    g_autofree char *err = NULL;
    g_assert_true(has_live(path));
    g_assert_true(told_of(path));
    g_assert_cmpint(recover(path, &err), ==, 0);
    g_assert_cmpstr(err, ==, "");
    g_assert_false(has_live(path));
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_true(c->ended);
    g_assert_cmpuint(c->gaps, ==, 0);
    for (unsigned i = 0; i < lanes; i++) {
        uint32_t logged = atomic_load(&shared->logged[i]);
        g_assert_cmpuint(c->next[i], >=, logged);
        g_assert_cmpuint(c->next[i], <=, logged + 1); /* the one that was being written */
    }
    return c;
}

static void log_counted(unsigned lane, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        log_numbers(lane, i, 1);
        atomic_store_explicit(&shared->logged[lane], i + 1, memory_order_relaxed);
    }
}

static void reset(void)
{
    memset((void *)shared, 0, sizeof(*shared));
}

/* ---- ways to end ------------------------------------------------------------------------------
 */

static void end_by(int way)
{
    switch (way) {
    case 0:
        abort();
    case 1:
        raise(SIGSEGV);
        break;
    case 2:
        _exit(3);
    case 3:
        execl("/bin/true", "true", (char *)NULL);
        break;
    case 4:
        kill(getpid(), SIGKILL);
        break;
    case 5: {
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(SIGTERM, &plain, NULL);
        raise(SIGTERM);
        break;
    }
    default:
        break;
    }
    _exit(99);
}

static void every_way_to_end_keeps_every_event(void)
{
    for (int way = 0; way < 6; way++) {
        g_autofree char *path = temp_path("ended.eventlog");
        reset();
        pid_t pid = fork();
        if (pid == 0) {
            signal(SIGABRT, SIG_DFL);
            signal(SIGSEGV, SIG_DFL);
            begin_log(path, 0);
            FM_INSTANT("name that only the buffer holds");
            log_counted(0, 1000);
            FM_COUNTER("last", 7);
            end_by(way);
        }
        finish(pid);
        struct check *c = recovered(path, 1);
        g_assert_cmpuint(c->counts[522], ==, 1000);
        g_assert_cmpuint(c->counts[514], ==, 1);
        g_assert_cmpuint(c->counts[515], ==, 1);
        g_assert_cmpuint(c->late_ns_max, ==, 0);
        check_free(c);
        remove_log(path);
    }
}

/* ---- killed at any moment ---------------------------------------------------------------------
 */

static void *log_lane(void *context)
{
    log_counted((unsigned)(uintptr_t)context, UINT32_MAX - 1);
    return NULL;
}

static void killed_while_lanes_log(size_t buffer, unsigned lanes, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        g_autofree char *path = temp_path("killed.eventlog");
        reset();
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t t;
            begin_log(path, buffer);
            for (unsigned i = 1; i < lanes; i++)
                pthread_create(&t, NULL, log_lane, (void *)(uintptr_t)i);
            log_lane(NULL);
        }
        while (atomic_load(&shared->logged[lanes - 1]) == 0)
            g_usleep(100);
        g_usleep((gulong)g_test_rand_int_range(0, 4000));
        kill(pid, SIGKILL);
        finish(pid);
        check_free(recovered(path, lanes));
        remove_log(path);
    }
}

static void killed_at_any_moment_small_buffers(void)
{
    killed_while_lanes_log(256, 1, 12);
    killed_while_lanes_log(4096, LANES, 12);
}

static void killed_at_any_moment_large_buffers(void)
{
    killed_while_lanes_log(0, LANES, 12);
}

/* What handlers logged while they interrupted the library counts too. */
static void on_tick(int number)
{
    (void)number;
    fm_eventlog_lock_wait(shared);
    atomic_fetch_add(&shared->handled, 1);
}

static void killed_while_handlers_log(void)
{
    for (unsigned round = 0; round < 8; round++) {
        g_autofree char *path = temp_path("handlers.eventlog");
        reset();
        pid_t pid = fork();
        if (pid == 0) {
            struct itimerval often = {{0, 100}, {0, 100}};
            struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
            begin_log(path, 65536);
            FM_INSTANT("this thread has its lane");
            sigaction(SIGPROF, &action, NULL);
            setitimer(ITIMER_PROF, &often, NULL);
            log_lane(NULL);
        }
        while (atomic_load(&shared->handled) < 20)
            g_usleep(500);
        g_usleep((gulong)g_test_rand_int_range(0, 3000));
        kill(pid, SIGKILL);
        finish(pid);
        uint32_t handled = atomic_load(&shared->handled);
        struct check *c = recovered(path, 1);
        g_assert_cmpuint(c->counts[518], >=, handled);
        g_assert_cmpuint(c->counts[518], <=, handled + 1);
        check_free(c);
        remove_log(path);
    }
}

/* ---- what is not lost need not be recovered ----------------------------------------------------
 */

static void stopped_log_leaves_no_file(void)
{
    g_autofree char *path = temp_path("stopped.eventlog"), *err = NULL;
    g_autofree char *other = temp_path("other.eventlog");
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_false(fm_eventlog_is_live());
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    g_assert_true(fm_eventlog_is_live());
    g_assert_true(has_live(path));
    log_numbers(0, 0, 100000);
    g_assert_cmpint(fm_eventlog_open_file(other), ==, 0); /* the file goes with its log */
    g_assert_false(has_live(path));
    g_assert_true(has_live(other));
    log_numbers(0, 100000, 100000);
    fm_eventlog_stop();
    g_assert_false(has_live(other));
    struct check *a = check_file(path), *b = check_file(other);
    g_assert_cmpuint(a->counts[522] + b->counts[522], ==, 200000);
    check_free(a);
    check_free(b);
    g_assert_cmpint(recover(path, &err), !=, 0);
    g_assert_nonnull(strstr(err, "nothing to recover"));
    remove_log(path);
    remove_log(other);
}

static void without_it_no_file_is_made(void)
{
    g_autofree char *path = temp_path("without.eventlog");
    struct fm_eventlog_options o = {.flags = FM_EVENTLOG_NO_LIVE};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    g_assert_false(fm_eventlog_is_live());
    g_assert_false(has_live(path));
    fm_eventlog_stop();
    remove_log(path);
}

static void living_program_is_left_alone(void)
{
    g_autofree char *path = temp_path("living.eventlog"), *err = NULL;
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    log_numbers(0, 0, 10);
    g_assert_cmpint(recover(path, &err), !=, 0);
    g_assert_nonnull(strstr(err, "still logs to it"));
    fm_eventlog_stop();
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[522], ==, 10);
    check_free(c);
    remove_log(path);
}

/* A child has the parent's buffers before its eyes; what it logs is in its own. */
static void child_of_fork_leaves_the_parents_buffers_alone(void)
{
    g_autofree char *path = temp_path("parent.eventlog"), *folder = g_path_get_dirname(path);
    g_autofree char *pattern = g_build_filename(folder, "child.%.eventlog", NULL);
    reset();
    pid_t pid = fork();
    if (pid == 0) {
        struct fm_eventlog_options o = {.fork_path = pattern};
        if (fm_eventlog_start(&o) != 0 || fm_eventlog_open_file(path) != 0)
            _exit(99);
        log_counted(0, 500);
        pid_t child = fork();
        if (child == 0) {
            log_counted(1, 300);
            kill(getpid(), SIGKILL);
        }
        waitpid(child, NULL, 0);
        atomic_store(&shared->handled, (uint32_t)child);
        log_numbers(0, 500, 500);
        atomic_store(&shared->logged[0], 1000);
        kill(getpid(), SIGKILL);
    }
    finish(pid);
    g_autofree char *name = g_strdup_printf("child.%u.eventlog", atomic_load(&shared->handled));
    g_autofree char *child_path = g_build_filename(folder, name, NULL);
    atomic_store(&shared->logged[1], 300);
    struct check *c = recovered(path, 1);
    g_assert_cmpuint(c->next[1], ==, 0);
    check_free(c);
    uint32_t parent = atomic_exchange(&shared->logged[0], 0);
    g_assert_cmpuint(parent, ==, 1000);
    c = recovered(child_path, 2);
    g_assert_cmpuint(c->next[1], ==, 300);
    check_free(c);
    unlink(child_path);
    remove_log(path);
}

/* A file that is no such file, or is damaged anywhere, is told or gives what is whole. */
static void damaged_files_are_survived(void)
{
    g_autofree char *path = temp_path("damaged.eventlog"), *log = NULL, *data = NULL;
    g_autofree char *live = g_strconcat(path, ".live", NULL);
    gsize log_bytes, bytes;
    reset();
    pid_t pid = fork();
    if (pid == 0) {
        begin_log(path, 4096);
        log_counted(0, 2000);
        kill(getpid(), SIGKILL);
    }
    finish(pid);
    g_assert_true(g_file_get_contents(path, &log, &log_bytes, NULL));
    g_assert_true(g_file_get_contents(live, &data, &bytes, NULL));
    for (unsigned i = 0; i < 40; i++) {
        g_autofree char *err = NULL, *broken = g_memdup2(data, bytes);
        for (unsigned k = 0; k < 1 + i * 8; k++) /* most of it where the numbers are */
            broken[4096 * (size_t)g_test_rand_int_range(0, (gint)(bytes / 4096)) +
                   (size_t)g_test_rand_int_range(0, 200)] = (char)g_test_rand_int();
        gsize left = i % 4 ? bytes : (gsize)g_test_rand_int_range(0, (gint)bytes);
        g_assert_true(g_file_set_contents(path, log, (gssize)log_bytes, NULL));
        g_assert_true(g_file_set_contents(live, broken, (gssize)left, NULL));
        int status = recover(path, &err);
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 2);
        g_assert_true(status == 0 || err[0] != '\0');
    }
    remove_log(path);
}

/* Behind a place that is no block stands what only a human can judge: nothing is cut off. */
static void log_damaged_in_the_middle_is_left_alone(void)
{
    g_autofree char *path = temp_path("middle.eventlog"), *log = NULL, *after = NULL, *err = NULL;
    gsize bytes, left;
    reset();
    pid_t pid = fork();
    if (pid == 0) {
        begin_log(path, 4096);
        log_counted(0, 20000);
        kill(getpid(), SIGKILL);
    }
    finish(pid);
    g_assert_true(g_file_get_contents(path, &log, &bytes, NULL));
    char *data = memmem(log, bytes, "datb", 4);
    g_assert_nonnull(data);
    g_assert_cmpuint((gsize)(data - log), <, bytes / 2);
    data[5] = 77; /* was the first block's number */
    g_assert_true(g_file_set_contents(path, log, (gssize)bytes, NULL));
    g_assert_cmpint(recover(path, &err), !=, 0);
    g_autofree char *place = g_strdup_printf("offset %zu: ", (gsize)(data + 4 - log));
    /* a new file, as the editor of the test made it: of another inode */
    g_assert_true(strstr(err, "another file") != NULL || strstr(err, place) != NULL);
    g_clear_pointer(&err, g_free);
    g_autofree char *live = g_strconcat(path, ".live", NULL), *copy = NULL;
    g_assert_true(g_file_get_contents(live, &copy, &left, NULL));
    g_assert_true(g_file_set_contents(live, copy, (gssize)left, NULL)); /* a copy of both */
    g_assert_cmpint(recover(path, &err), !=, 0);
    g_assert_nonnull(strstr(err, place));
    g_assert_true(has_live(path));
    g_assert_true(g_file_get_contents(path, &after, &left, NULL));
    g_assert_cmpuint(left, ==, bytes);
    g_assert_true(memcmp(after, log, bytes) == 0);
    remove_log(path);
}

/* ---- fork -------------------------------------------------------------------------------------
 */

static void *log_and_wait(void *barrier)
{
    FM_INSTANT("takes a buffer");
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

/* A lane still has its buffer in the file of the log before, which was larger than the one of now.
 */
static void child_with_a_buffer_of_an_earlier_log(void)
{
    g_autofree char *first = temp_path("first.eventlog"), *second = temp_path("second.eventlog");
    g_autofree char *child = temp_path("child.eventlog");
    struct fm_eventlog_options options = {.fork_path = child};
    pthread_barrier_t barrier;
    pthread_t threads[4];
    pid_t pid;
    int status;
    pthread_barrier_init(&barrier, NULL, 5);
    g_assert_cmpint(fm_eventlog_start(&options), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(first), ==, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, log_and_wait, &barrier);
    pthread_barrier_wait(&barrier);
    FM_INSTANT("behind theirs");
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    g_assert_cmpint(fm_eventlog_open_file(second), ==, 0);
    pid = fork();
    if (pid == 0) {
        FM_INSTANT("child");
        _exit(fm_eventlog_stop() == 0 ? 0 : 1);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    fm_eventlog_stop();
    g_assert_cmpint(status, ==, 0);
    struct check *c = check_file(child);
    g_assert_cmpuint(c->counts[FM_EVENT_INSTANT], ==, 1);
    check_free(c);
    remove_log(first);
    remove_log(second);
    remove_log(child);
    pthread_barrier_destroy(&barrier);
}

/* ---- threads, forks and sizes that change -------------------------------------------------------
 */

static void *log_some(void *context)
{
    unsigned lane = *(unsigned *)context;
    uint32_t from = atomic_load(&shared->logged[lane]), n = 1 + lane * 700;
    for (uint32_t i = from; i < from + n; i++) {
        log_numbers(lane, i, 1);
        atomic_store_explicit(&shared->logged[lane], i + 1, memory_order_relaxed);
    }
    return NULL;
}

static void *threads_come_and_go(void *context)
{
    pthread_t thread;
    for (;;)
        if (pthread_create(&thread, NULL, log_some, context) == 0)
            pthread_join(thread, NULL);
    return NULL;
}

static void *sizes_change(void *context)
{
    static const size_t sizes[] = {128, 4096, 100000, 600, 2 << 20, 20000};
    (void)context;
    for (unsigned i = 0;; i++) {
        fm_eventlog_resize(sizes[i % G_N_ELEMENTS(sizes)]);
        fm_eventlog_flush(i % 3 ? 0 : -1);
        g_usleep(300);
    }
    return NULL;
}

/* Children that log to files of their own, that are killed, or that log nothing. */
static void children_come_and_go(void)
{
    for (unsigned i = 0;; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (i % 3)
                FM_INSTANT("child");
            if (i % 3 == 1)
                kill(getpid(), SIGKILL);
            _exit(0);
        }
        if (pid > 0)
            waitpid(pid, NULL, 0);
    }
}

/* It ended while it began: the error says so. */
static void nothing_was_logged(const char *path)
{
    g_autofree char *err = NULL;
    for (unsigned i = 0; i < LANES; i++)
        g_assert_cmpuint(atomic_load(&shared->logged[i]), ==, 0);
    g_assert_cmpint(recover(path, &err), !=, 0);
    g_assert_true(strstr(err, "before it logged") != NULL || strstr(err, "nothing to recover"));
}

static void killed_while_all_changes(unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        g_autofree char *folder = temp_folder(), *path = g_build_filename(folder, "log", NULL);
        g_autofree char *child = g_build_filename(folder, "child", NULL);
        g_autofree char *child_live = g_strconcat(child, ".live", NULL);
        reset();
        pid_t pid = fork();
        if (pid == 0) {
            static unsigned numbers[LANES] = {0, 1, 2};
            struct fm_eventlog_options o = {.buffer_bytes = 4096, .fork_path = child};
            struct rlimit none = {0, 0};
            pthread_t thread;
            setrlimit(RLIMIT_CORE, &none);
            if (fm_eventlog_start(&o) != 0 || fm_eventlog_open_file(path) != 0)
                _exit(99);
            for (unsigned i = 0; i < LANES; i++)
                pthread_create(&thread, NULL, threads_come_and_go, &numbers[i]);
            pthread_create(&thread, NULL, sizes_change, NULL);
            children_come_and_go();
        }
        g_usleep((gulong)g_test_rand_int_range(2000, 120000));
        kill(pid, SIGKILL);
        finish(pid);
        if (told_of(path))
            check_free(recovered(path, LANES));
        else
            nothing_was_logged(path);
        unlink(child_live);
        unlink(child);
        remove_log(path);
    }
}

static void killed_while_threads_forks_and_sizes_change(void)
{
    killed_while_all_changes(4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc > 1) { /* so many rounds of it */
        killed_while_all_changes((unsigned)atoi(argv[1]));
        return 0;
    }
#define T(name) g_test_add_func("/eventlog/live/" #name, name)
    T(every_way_to_end_keeps_every_event);
    T(killed_at_any_moment_small_buffers);
    T(killed_at_any_moment_large_buffers);
    T(killed_while_handlers_log);
    T(stopped_log_leaves_no_file);
    T(without_it_no_file_is_made);
    T(living_program_is_left_alone);
    T(child_of_fork_leaves_the_parents_buffers_alone);
    T(killed_while_threads_forks_and_sizes_change);
    T(damaged_files_are_survived);
    T(log_damaged_in_the_middle_is_left_alone);
    T(child_with_a_buffer_of_an_earlier_log);
#undef T
    return g_test_run();
}
