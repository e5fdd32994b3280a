/* SPDX-License-Identifier: Apache-2.0 */
/* Each call that is seen in front of libc's, by the tables rows_*.inc: what it gives back and
 * leaves when it succeeds, fails, when its time expires; and for those that can be made to wait,
 * when that ends, when a signal comes, with and without SA_RESTART, when its thread is cancelled,
 * before, within, or may not be, and when another thread forks meanwhile. The same whether it is
 * recorded or not. An argument: that call alone. */
#include "each.h"

enum kind { ROW_PLAIN, OF_IN, OF_OUT, OF_ERR, OF_CHILD, OF_HELPED, OF_SPOILS, KINDS };
typedef long (*call_fn)(struct own *);

#define CASE(name, which, call)                     \
    static OWN long name##_##which(struct own *own) \
    {                                               \
        (void)own;                                  \
        errno = ERRNO_BEFORE;                       \
        long result = (long)(call);                 \
        __asm__ volatile("" : "+r"(result));        \
        return result;                              \
    }
#define ROW(name, gives, refused, waits, wake, timed) \
    CASE(name, good, gives)                           \
    CASE(name, bad, refused)                          \
    CASE(name, blocks, waits)                         \
    CASE(name, expires, timed)
#define ROW_IN ROW
#define ROW_OUT ROW
#define ROW_ERR ROW
#define ROW_CHILD ROW
#define ROW_HELPED ROW
#define ROW_SPOILS ROW
#include "rows_descriptors.inc"
#include "rows_files.inc"
#include "rows_streams.inc"
#include "rows_threads.inc"
#undef ROW
#undef ROW_IN
#undef ROW_OUT
#undef ROW_ERR
#undef ROW_CHILD
#undef ROW_HELPED
#undef ROW_SPOILS

#define ROW_OF(kind, name, waits, wake) \
    {#name, waits, kind, name##_good, name##_bad, name##_blocks, name##_expires, wake},
#define ROW(name, gives, refused, waits, wake, timed) ROW_OF(ROW_PLAIN, name, #waits, wake)
#define ROW_IN(name, gives, refused, waits, wake, timed) ROW_OF(OF_IN, name, #waits, wake)
#define ROW_OUT(name, gives, refused, waits, wake, timed) ROW_OF(OF_OUT, name, #waits, wake)
#define ROW_ERR(name, gives, refused, waits, wake, timed) ROW_OF(OF_ERR, name, #waits, wake)
#define ROW_CHILD(name, gives, refused, waits, wake, timed) ROW_OF(OF_CHILD, name, #waits, wake)
#define ROW_HELPED(name, gives, refused, waits, wake, timed) ROW_OF(OF_HELPED, name, #waits, wake)
#define ROW_SPOILS(name, gives, refused, waits, wake, timed) ROW_OF(OF_SPOILS, name, #waits, wake)
static const struct row {
    const char *name, *waits; /* waits: the text of the call, or NONE */
    enum kind kind;
    call_fn good, bad, blocks, expires;
    enum wake wake;
} rows[] = {
#include "rows_descriptors.inc"
#include "rows_files.inc"
#include "rows_streams.inc"
#include "rows_threads.inc"
};
#define ROWS (sizeof rows / sizeof rows[0])

static FILE *out;       /* the standard output, as those of the rows are of their own */
static int descriptors; /* what is above is the rows' own */

enum how { FREELY, CANCELLED_EARLY, NOT_CANCELLED };

/* One call in a thread of its own. */
struct run {
    const struct row *row;
    enum how how;
    struct own own;
    pthread_t thread;
    int tid, begun, done, cleaned, ended, handled, asleep;
    long result;
    int error;
    void *ended_with;
    char place[ASLEEP_PLACE], place_before[ASLEEP_PLACE];
};

static __thread struct run *running;

static void handle(int signal)
{
    (void)signal;
    if (running != NULL)
        __atomic_add_fetch(&running->handled, 1, __ATOMIC_SEQ_CST);
}

static void on_signal(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
}

static void close_rest(void)
{
    for (int fd = descriptors; fd < 1024; fd++)
        syscall(SYS_close, fd);
}

static void clean(void *argument)
{
    __atomic_store_n(&((struct run *)argument)->cleaned, 1, __ATOMIC_SEQ_CST);
}

static void *run_it(void *argument)
{
    struct run *run = (struct run *)argument;
    int old;
    if (run->how != FREELY)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    if (run->how == CANCELLED_EARLY) {
        pthread_cancel(pthread_self());
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    }
    running = run;
    __atomic_store_n(&run->tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    pthread_cleanup_push(clean, run);
    __atomic_store_n(&run->begun, 1, __ATOMIC_SEQ_CST);
    run->result = run->row->blocks(&run->own);
    run->error = errno;
    __atomic_store_n(&run->done, 1, __ATOMIC_SEQ_CST);
    pthread_cleanup_pop(0);
    if (run->how == NOT_CANCELLED) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
        pthread_testcancel();
    }
    return NULL;
}

#define LOOKS 3
/* A cancelled thread may sleep on its way out, too, and who starts a child until that begins. */
#define LOOKS_ELSEWHERE 100

static int looks_needed(const struct run *run, int as_before)
{
    int elsewhere = as_before && strcmp(run->place, run->place_before) != 0;
    return elsewhere || run->row->kind == OF_CHILD ? LOOKS_ELSEWHERE : LOOKS;
}

static void look(struct run *run)
{
    char place[ASLEEP_PLACE];
    if (__atomic_load_n(&run->begun, __ATOMIC_SEQ_CST) == 0 || !asleep_at(run->tid, place) ||
        __atomic_load_n(&run->done, __ATOMIC_SEQ_CST) ||
        __atomic_load_n(&run->cleaned, __ATOMIC_SEQ_CST)) {
        run->asleep = 0;
        return;
    }
    run->asleep = run->asleep > 0 && strcmp(place, run->place) == 0 ? run->asleep + 1 : 1;
    memcpy(run->place, place, sizeof place);
}

/* Until each sleeps in its call, or has ended; as_before: most likely where it slept when this was
 * last asked. */
static void settle(struct run **runs, size_t count, int as_before)
{
    for (size_t i = 0; i < count; i++) {
        runs[i]->asleep = 0;
        memcpy(runs[i]->place_before, runs[i]->place, ASLEEP_PLACE);
    }
    for (size_t open = count; open > 0;) {
        open = 0;
        for (size_t i = 0; i < count; i++) {
            struct run *run = runs[i];
            if (!run->ended && pthread_tryjoin_np(run->thread, &run->ended_with) == 0)
                run->ended = 1;
            if (run->ended || (run->asleep > 0 && run->asleep >= looks_needed(run, as_before)))
                continue;
            open++;
            look(run);
        }
        if (open > 0)
            brief();
    }
}

static struct run *begin(const struct row *row, enum how how)
{
    struct run *run = (struct run *)calloc(1, sizeof *run);
    run->row = row;
    run->how = how;
    own_init(&run->own);
    if (row->kind == OF_IN)
        stdin = input_of(&run->own, empty[0]);
    else if (row->kind == OF_OUT)
        stdout = output_of(&run->own, full[1]);
    else if (row->kind == OF_ERR)
        stderr = output_of(&run->own, full[1]);
    if (pthread_create(&run->thread, NULL, run_it, run) != 0)
        _exit(1);
    return run;
}

#define SIGNALS 3 /* the first may come before the call */
static void interrupt(struct run **runs, size_t count, int flags)
{
    on_signal(flags);
    for (int sent = 0; sent < SIGNALS; sent++) {
        for (size_t i = 0; i < count; i++) {
            struct run *run = runs[i];
            int before = __atomic_load_n(&run->handled, __ATOMIC_SEQ_CST);
            if (run->ended || __atomic_load_n(&run->done, __ATOMIC_SEQ_CST))
                continue;
            pthread_kill(run->thread, SIGUSR1);
            while (__atomic_load_n(&run->handled, __ATOMIC_SEQ_CST) == before &&
                   !__atomic_load_n(&run->done, __ATOMIC_SEQ_CST))
                brief();
        }
        settle(runs, count, 0);
    }
}

static void cancel(struct run **runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!runs[i]->ended)
            pthread_cancel(runs[i]->thread);
    settle(runs, count, 1);
}

static void tell(const char *how, struct run **runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct run *run = runs[i];
        if (!__atomic_load_n(&run->done, __ATOMIC_SEQ_CST))
            fprintf(out, "%s %s: %s\n", run->row->name, how, run->ended ? "ended" : "goes on");
        else
            fprintf(out, "%s %s: %ld, %d\n", run->row->name, how, run->result, run->error);
    }
}

static const char *state_of(int result)
{
    return result == 0 ? "free" : result == EBUSY ? "held" : "refused";
}

/* How the thread ended, and what it left of what it alone had. */
static void tell_end(const char *how, struct run *run)
{
    int value = -1;
    sem_getvalue(&run->own.semaphore, &value);
    int mutex = pthread_mutex_trylock(&run->own.mutex);
    int c11 = mtx_trylock(&run->own.c11_mutex);
    fprintf(out, "%s %s: %s, %s, mutexes %s %d, semaphore %d", run->row->name, how,
            !run->ended                           ? "left"
            : run->ended_with == PTHREAD_CANCELED ? "cancelled"
                                                  : "returned",
            run->cleaned ? "cleaned up" : "nothing to clean up", state_of(mutex), c11, value);
    if (run->own.stream != NULL && strncmp(run->row->name, "fclose", 6) != 0 &&
        strncmp(run->row->name, "freopen", 7) != 0) {
        int stream_free = ftrylockfile(run->own.stream) == 0;
        fprintf(out, ", stream %s", stream_free ? "free" : "held");
        if (stream_free)
            funlockfile(run->own.stream);
    }
    fprintf(out, "\n");
}

/* Those that still wait end: cancelled, else by a signal; locks are waited for in spite of both. */
static void end_all(const char *how, struct run **runs, size_t count)
{
    cancel(runs, count);
    for (size_t i = 0; i < count; i++)
        tell_end(how, runs[i]);
    tell_resources(out);
    interrupt(runs, count, 0);
    close_rest();
}

static int say(const struct row *row, const char *how, call_fn call)
{
    struct own *own = (struct own *)calloc(1, sizeof *own);
    FILE *standard[3] = {stdin, stdout, stderr};
    own_init(own);
    long result = call(own);
    int error = errno;
    stdin = standard[0];
    stdout = standard[1];
    stderr = standard[2];
    if (result != NONE)
        fprintf(out, "%s %s: %ld, %d\n", row->name, how, result, error);
    return result != NONE;
}

/* Each row once, one after another. */
static void *quick(void *argument)
{
    const struct row **chosen = (const struct row **)argument;
    for (size_t i = 0; chosen[i] != NULL; i++) {
        say(chosen[i], "succeeds", chosen[i]->good);
        say(chosen[i], "fails", chosen[i]->bad);
        say(chosen[i], "expires", chosen[i]->expires);
        close_rest();
    }
    return NULL;
}

static void woken(const struct row *row)
{
    if (row->wake == NOTHING)
        return;
    struct run *run = begin(row, FREELY);
    settle(&run, 1, 0);
    for (int times = 0; !__atomic_load_n(&run->done, __ATOMIC_SEQ_CST); times++) {
        wake_up(row->wake, &run->own, run->thread, times == 0);
        brief();
    }
    settle(&run, 1, 0);
    tell("is woken", &run, 1);
    tell_end("is woken", run);
    forget_wake(row->wake);
    close_rest();
}

static pid_t child;

/* It stays until the others have ended, some of whom wait for any child, or this process has. */
static void *fork_beside(void *argument)
{
    int ends[2], life[2];
    char end;
    if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(life, O_CLOEXEC) != 0)
        _exit(1);
    fflush(out);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        close(life[1]);
        fprintf(out, "in the child\n");
        const struct row **chosen = (const struct row **)argument;
        for (size_t i = 0; chosen[i] != NULL; i++)
            if (chosen[i]->kind != OF_HELPED) {
                say(chosen[i], "succeeds", chosen[i]->good);
                say(chosen[i], "fails", chosen[i]->bad);
            }
        fprintf(out, "the child ends\n");
        fflush(out);
        close(ends[1]);
        (void)!read(life[0], &end, 1);
        _exit(0);
    }
    close(ends[1]);
    (void)!read(ends[0], &end, 1); /* closed by the child, when it has done all */
    return NULL;
}

static void fork_now(const struct row **chosen)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fork_beside, chosen) != 0 || pthread_join(thread, NULL) != 0)
        _exit(1);
}

/* Calls that wait at the same time. */
static void wait_together(const struct row **group, size_t count, const struct row **all)
{
    struct run *runs[ROWS];
#define BEGIN(how)                          \
    do {                                    \
        for (size_t i = 0; i < count; i++)  \
            runs[i] = begin(group[i], how); \
        settle(runs, count, 0);             \
    } while (0)
    BEGIN(FREELY);
    interrupt(runs, count, 0);
    tell("interrupted", runs, count);
    end_all("interrupted", runs, count);
    if (group[0]->kind == OF_SPOILS)
        return;
    BEGIN(FREELY);
    interrupt(runs, count, SA_RESTART);
    tell("to be restarted", runs, count);
    end_all("to be restarted", runs, count);
    BEGIN(CANCELLED_EARLY);
    end_all("cancelled before", runs, count);
    BEGIN(NOT_CANCELLED);
    cancel(runs, count);
    tell("not to be cancelled", runs, count);
    interrupt(runs, count, 0);
    tell("not to be cancelled, interrupted", runs, count);
    end_all("not to be cancelled", runs, count);
    BEGIN(FREELY);
    if (all != NULL)
        fork_now(all);
    end_all("cancelled within", runs, count);
    if (all != NULL) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

static void wait_in_groups(const struct row **chosen)
{
    size_t used[KINDS] = {0};
    const struct row *groups[ROWS + 1][ROWS];
    size_t counts[ROWS + 1] = {0};
    for (size_t i = 0; chosen[i] != NULL; i++) {
        if (strcmp(chosen[i]->waits, "NONE") == 0)
            continue;
        enum kind kind = chosen[i]->kind;
        size_t group = kind == ROW_PLAIN || kind == OF_HELPED ? 0
                       : kind == OF_SPOILS                    ? ROWS
                                                              : ++used[kind];
        groups[group][counts[group]++] = chosen[i];
    }
    for (size_t i = 0; i <= ROWS; i++)
        if (counts[i] > 0)
            wait_together(groups[i], counts[i], i == 0 ? chosen : NULL);
}

int main(int argc, char **argv)
{
    const struct row *chosen[ROWS + 1];
    size_t count = 0;
    pthread_t thread;
    for (size_t i = 0; i < ROWS; i++)
        if (argc < 2 || strcmp(argv[1], rows[i].name) == 0)
            chosen[count++] = &rows[i];
    chosen[count] = NULL;
    out = fdopen(dup(1), "w");
    setvbuf(out, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGRTMIN + 3, SIG_IGN);
    prepare();
    descriptors = dup(0);
    close(descriptors);
    fprintf(out, "in the first thread\n");
    quick(chosen);
    fprintf(out, "in another thread\n");
    if (pthread_create(&thread, NULL, quick, chosen) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        woken(chosen[i]);
    wait_in_groups(chosen);
    clean_up();
    fflush(out);
    _exit(0); /* streams with nowhere to write are open */
}
