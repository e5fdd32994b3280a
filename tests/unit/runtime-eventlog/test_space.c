/* SPDX-License-Identifier: Apache-2.0 */
/* A file system that is full, really: a small tmpfs in a mount namespace of this process. */
#include "check.h"

#include <errno.h>
#include <fathom/eventlog.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TMPFS_BYTES = 1 << 20 };
static char *folder; /* NULL: there is no tmpfs */
static char reason[100];

static void put_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        snprintf(reason, sizeof(reason), "%s: %s", path, g_strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* Before any other thread runs, as a user namespace of one's own needs. */
static void mount_tmpfs(void)
{
    char map[64];
    unsigned uid = (unsigned)geteuid(), gid = (unsigned)getegid();
    bool own_users = uid != 0 || unshare(CLONE_NEWNS) != 0;
    if (own_users && unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0) {
        snprintf(reason, sizeof(reason), "no mount namespace: %s", g_strerror(errno));
        return;
    }
    if (own_users) {
        put_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof(map), "0 %u 1", uid);
        put_text("/proc/self/uid_map", map);
        snprintf(map, sizeof(map), "0 %u 1", gid);
        put_text("/proc/self/gid_map", map);
    }
    char *path = g_dir_make_tmp("fathom-space-XXXXXX", NULL);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", path, "tmpfs", 0, "size=1m,mode=0700") == 0) {
        folder = path;
        return;
    }
    snprintf(reason, sizeof(reason), "cannot mount a tmpfs: %s", g_strerror(errno));
    rmdir(path);
    g_free(path);
}

static bool has_tmpfs(void)
{
    if (!folder)
        g_test_skip(reason);
    return folder != NULL;
}

static void fill(const char *path, size_t bytes)
{
    g_autofree char *zeros = g_malloc0(bytes);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    g_assert_cmpint(write(fd, zeros, bytes), ==, (ssize_t)bytes);
    close(fd);
}

static void check_against(const char *path, const struct fm_eventlog_stats *before, bool told)
{
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    validate_file(path);
    struct check *c = check_file(path);
    uint64_t lost = s.stream_lost_events - before->stream_lost_events;
    uint64_t discarded = s.discarded_events - before->discarded_events;
    g_assert_false(c->cut);
    g_assert_cmpuint(lost, >, 0);
    g_assert_cmpuint(c->events, ==, s.stream_events - before->stream_events);
    g_assert_cmpuint(s.produced_events - before->produced_events, ==, c->events + lost + discarded);
    g_assert_cmpuint(s.dropped_events, ==, before->dropped_events);
    g_assert_cmpint(s.stream_errno, ==, ENOSPC);
    if (told) {
        g_assert_cmpuint(c->missing_events, ==, lost);
        g_assert_cmpuint(discarded, ==, 0);
        g_assert_true(c->ended);
    }
    check_free(c);
}

/* Room comes back: the file goes on, and says how much is missing where. */
static void full_then_room_again(size_t buffer, unsigned lanes)
{
    if (!has_tmpfs())
        return;
    struct fm_eventlog_stats before;
    struct producer p[4];
    g_autofree char *path = g_build_filename(folder, "log.eventlog", NULL);
    g_autofree char *filler = g_build_filename(folder, "filler", NULL);
    struct fm_eventlog_options o = {.buffer_bytes = buffer, .failures_max = 1000000};
    fill(filler, TMPFS_BYTES / 2);
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    fm_eventlog_stats(&before);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    producers_start(p, lanes, 100000); /* 1.8 MB each into half a MiB */
    producers_join(p, lanes);
    g_assert_cmpint(fm_eventlog_flush(-1), ==, 0);
    g_assert_cmpint(unlink(filler), ==, 0);
    log_numbers(10, 0, 5000);
    fm_eventlog_stop();
    check_against(path, &before, true);
    struct check *c = check_file(path);
    g_assert_cmpuint(c->next[10], ==, 5000); /* all of what came when there was room */
    check_free(c);
    unlink(path);
}

static void small_blocks_at_once(void)
{
    full_then_room_again(4096, 1);
}

static void large_blocks_written_behind(void)
{
    full_then_room_again(128 << 10, 1);
}

static void four_lanes(void)
{
    full_then_room_again(64 << 10, 4);
}

/* After three failures in a row the sink is given up, and what comes then is counted as lost. */
static void given_up_after_failures(size_t buffer)
{
    if (!has_tmpfs())
        return;
    struct fm_eventlog_stats before, s;
    g_autofree char *path = g_build_filename(folder, "given-up.eventlog", NULL);
    struct fm_eventlog_options o = {.buffer_bytes = buffer};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    fm_eventlog_stats(&before);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    log_numbers(0, 0, 400000); /* 7 MB */
    fm_eventlog_stop();
    check_against(path, &before, false);
    fm_eventlog_stats(&s);
    g_assert_cmpuint(s.stream_disabled - before.stream_disabled, ==, 1);
    g_assert_cmpuint(s.stream_lost_blocks - before.stream_lost_blocks, >=, 3);
    g_assert_cmpuint(s.produced_events - before.produced_events, >=, 400000);
    unlink(path);

    fm_eventlog_start(&o); /* the next sink begins without that history */
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    log_numbers(0, 0, 1000);
    fm_eventlog_stop();
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[522], ==, 1000);
    g_assert_cmpuint(c->missing_events, ==, 0);
    check_free(c);
    unlink(path);
}

static void three_failures_give_the_sink_up(void)
{
    given_up_after_failures(4096);
    given_up_after_failures(256 << 10);
}

int main(int argc, char **argv)
{
    mount_tmpfs();
    g_test_init(&argc, &argv, NULL);
#define T(name) g_test_add_func("/eventlog/space/" #name, name)
    T(small_blocks_at_once);
    T(large_blocks_written_behind);
    T(four_lanes);
    T(three_failures_give_the_sink_up);
#undef T
    int status = g_test_run();
    if (folder) {
        umount2(folder, MNT_DETACH); /* files of the recording may be open */
        rmdir(folder);
        g_free(folder);
    }
    return status;
}
