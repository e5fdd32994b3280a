/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at sleeping threads, while the recording that says which threads there are comes about step
 * by step. The process that is looked at is this one, which sleeps in a thread of its own. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/raw/recording.h"
#include "record/running/asleep.h"
#include "runtime/recording_format.h"
#include "tests/patience.h"

#define SLEEPS_AT FM_REC_HEADER_BYTES
#define THREAD_AT (SLEEPS_AT + sizeof(struct fm_rec_sleeps))
#define ROOT_CSD 4321u
#define MANY 150 /* looks: more than between two checks whether the process lives */

static int refusals; /* of recordings, by open */
static int pipe_ends[2];
static uint32_t sleeper_tid;
static GThread *sleeper;

int open64(const char *path, int flags, ...);
int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
    va_end(rest);
    if (refusals > 0 && g_str_has_suffix(path, ".rec")) {
        refusals--;
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static gpointer sleep_on(gpointer data)
{
    char byte;
    __atomic_store_n(&sleeper_tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    g_assert_cmpint(read(pipe_ends[0], &byte, 1), ==, 1);
    return data;
}

static bool is_sleeping(void)
{
    uint32_t tid = __atomic_load_n(&sleeper_tid, __ATOMIC_ACQUIRE);
    g_autofree char *path = g_strdup_printf("/proc/self/task/%u/syscall", tid);
    g_autofree char *expected = g_strdup_printf("%d 0x%x ", SYS_read, (unsigned)pipe_ends[0]);
    g_autofree char *text = NULL;
    return tid != 0 && g_file_get_contents(path, &text, NULL, NULL) &&
           g_str_has_prefix(text, expected);
}

/* --- the recording, as its program writes it --- */

struct made {
    char *folder, *path;
    int file;
    struct fm_asleep *asleep;
    struct fm_rec_header header;
    gint64 started_us; /* the thread */
};

static void put(const struct made *made, const void *bytes, size_t size, size_t at)
{
    g_assert_cmpint(pwrite(made->file, bytes, size, (off_t)at), ==, (ssize_t)size);
}

static struct made *made_new(void)
{
    struct made *made = g_new0(struct made, 1);
    made->folder = g_dir_make_tmp("fathom-asleep-XXXXXX", NULL);
    g_assert_nonnull(made->folder);
    made->path = g_build_filename(made->folder, "out.rec", NULL);
    made->file = g_open(made->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    g_assert_cmpint(made->file, >=, 0);
    g_autofree char *base = g_build_filename(made->folder, "out", NULL);
    made->asleep = fm_asleep_new(base, NULL);
    made->header = (struct fm_rec_header){
        .version = FM_REC_VERSION,
        .byte_order = FM_REC_BYTE_ORDER,
        .state = FM_REC_RUNNING,
        .pid = (uint32_t)getpid(),
        .process_start = fm_raw_process_start(getpid()),
        .bytes_used = THREAD_AT + sizeof(struct fm_rec_thread),
        .first_thread = THREAD_AT / FM_REC_UNIT,
    };
    memcpy(made->header.magic, FM_REC_MAGIC, sizeof made->header.magic);
    return made;
}

static void made_free(struct made *made)
{
    fm_asleep_free(made->asleep);
    close(made->file);
    g_unlink(made->path);
    g_rmdir(made->folder);
    g_free(made->folder);
    g_free(made->path);
    g_free(made);
}

static void write_header(struct made *made)
{
    made->started_us = g_get_monotonic_time();
    struct fm_rec_thread thread = {.state = FM_REC_THREAD_LIVE,
                                   .tid = sleeper_tid,
                                   .number = 1,
                                   .root_csd = ROOT_CSD,
                                   .start_monotonic_ns = (uint64_t)made->started_us * 1000};
    put(made, &thread, sizeof thread, THREAD_AT);
    put(made, &made->header, sizeof made->header, 0);
}

static void write_header_whole(struct made *made)
{
    made->header.wait_clock = FM_REC_CLOCK_MONOTONIC;
    made->header.sleeps = SLEEPS_AT / FM_REC_UNIT;
    write_header(made);
}

static void look_often(const struct made *made)
{
    for (int i = 0; i < MANY; i++)
        fm_asleep_look(made->asleep);
}

static struct fm_rec_sleeps noted(const struct made *made)
{
    struct fm_rec_sleeps sleeps = {0};
    g_assert_cmpint(pread(made->file, &sleeps, sizeof sleeps, SLEEPS_AT), ==, sizeof sleeps);
    return sleeps;
}

/* Each look notes one sample of the sleeper, which stands for the time since the look before. */
static void assert_counts(const struct made *made)
{
    g_assert_cmpuint(noted(made).looks, ==, 0);
    gint64 before_us = g_get_monotonic_time();
    fm_asleep_look(made->asleep);
    gint64 behind_us = g_get_monotonic_time();
    struct fm_rec_sleeps first = noted(made);
    g_assert_cmpuint(first.looks, ==, 1);
    for (int i = 0; i < 5; i++) {
        g_usleep(2000);
        fm_asleep_look(made->asleep);
    }
    gint64 last_behind_us = g_get_monotonic_time();
    struct fm_rec_sleeps sleeps = noted(made);
    g_assert_cmpuint(sleeps.looks, ==, 6);
    g_assert_cmpuint(sleeps.count, ==, 1);
    g_assert_cmpuint(sleeps.of[0].csd, ==, ROOT_CSD);
    g_assert_cmpuint(sleeps.of[0].samples - first.of[0].samples, ==, 5);
    guint64 ns = sleeps.of[0].ns - first.of[0].ns;
    g_assert_cmpuint(ns, >=, 5 * 2000 * 1000u);
    g_assert_cmpuint(ns, <=, (guint64)(last_behind_us - before_us) * 1000);
    g_assert_cmpuint(first.of[0].ns, <=, (guint64)(behind_us - made->started_us) * 1000);
}

/* --- tests --- */

static void test_fields_set_later(void)
{
    struct made *made = made_new();
    write_header(made);
    look_often(made);
    made->header.wait_clock = FM_REC_CLOCK_MONOTONIC;
    write_header(made);
    look_often(made);
    write_header_whole(made);
    assert_counts(made);
    made_free(made);
}

static void test_header_written_later(void)
{
    struct made *made = made_new();
    look_often(made); /* at a file without a byte */
    g_assert_cmpint(ftruncate(made->file, THREAD_AT + sizeof(struct fm_rec_thread)), ==, 0);
    look_often(made);
    made->header.state = 0;
    write_header(made);
    look_often(made);
    made->header.state = FM_REC_RUNNING;
    write_header_whole(made);
    assert_counts(made);
    made_free(made);
}

static void test_refused_at_first(void)
{
    struct made *made = made_new();
    write_header_whole(made);
    refusals = MANY;
    look_often(made);
    g_assert_cmpint(refusals, ==, 0);
    assert_counts(made);
    made_free(made);
}

/* A process that ended before it set all fields is let go: who has its number is another. */
static void test_ended(void)
{
    struct made *made = made_new();
    made->header.process_start++;
    write_header(made);
    look_often(made);
    made->header.process_start--;
    write_header_whole(made);
    look_often(made);
    g_assert_cmpuint(noted(made).looks, ==, 0);
    made_free(made);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(pipe(pipe_ends), ==, 0);
    sleeper = g_thread_new("sleeper", sleep_on, NULL);
    check_until(is_sleeping());
    g_test_add_func("/asleep/fields-set-later", test_fields_set_later);
    g_test_add_func("/asleep/header-written-later", test_header_written_later);
    g_test_add_func("/asleep/refused-at-first", test_refused_at_first);
    g_test_add_func("/asleep/ended", test_ended);
    int failed = g_test_run();
    g_assert_cmpint(write(pipe_ends[1], "", 1), ==, 1);
    g_thread_join(sleeper);
    return failed;
}
