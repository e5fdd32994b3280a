/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <fathom/eventlog.h>
#include <string.h>
#include <stdlib.h>
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t be(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | *p++;
    return v;
}

struct walk {
    const uint8_t *p, *end;
    uint32_t sizes[CHECK_TYPES]; /* size + 1; 0 = not declared */
    bool replay, news;
};

static size_t read_header(struct walk *w, const uint8_t *p, size_t bytes)
{
    size_t at = 8;
    g_assert_cmpuint(bytes, >=, 20);
    g_assert_cmpmem(p, 8, "hdrbhetb", 8);
    while (memcmp(p + at, "etb", 4) == 0) {
        uint16_t number = (uint16_t)be(p + at + 4, 2);
        g_assert_cmpuint(number, <, CHECK_TYPES);
        g_assert_cmpuint(w->sizes[number], ==, 0);
        w->sizes[number] = 1 + (uint32_t)be(p + at + 6, 2);
        at += 8;
        for (int i = 0; i < 2; i++)
            at += 4 + (size_t)be(p + at, 4);
        g_assert_cmpuint(at + 20, <, bytes);
        g_assert_cmpmem(p + at, 4, "ete", 4);
        at += 4;
    }
    g_assert_cmpmem(p + at, 12, "hetehdredatb", 12);
    return at + 12;
}

static void thread_event(struct check *c, unsigned type, const uint8_t *p, size_t n)
{
    gpointer id = GUINT_TO_POINTER((guint)be(p, 4));
    if (type == 0)
        g_hash_table_replace(c->threads, id, g_strdup(""));
    if (type == 44)
        g_hash_table_replace(c->threads, id, g_strndup((const char *)p + 4, n - 4));
    if (type == 2 && be(p + 4, 2) == 5)
        g_hash_table_remove(c->threads, id);
}

/* A definition stands before the first use, in every stream. */
static void name_event(struct check *c, unsigned type, uint64_t time, const uint8_t *p, size_t n)
{
    if (type == 42) {
        gpointer key = GUINT_TO_POINTER((guint)be(p + n - 4, 4));
        uint64_t *known = g_hash_table_lookup(c->name_times, key);
        if (!known || time < *known)
            g_hash_table_replace(c->name_times, key, g_memdup2(&time, sizeof(time)));
        g_hash_table_replace(c->names, GUINT_TO_POINTER((guint)be(p + n - 4, 4)),
                             g_strndup((const char *)p, n - 4));
        return;
    }
    bool named =
        (type >= 512 && type <= 516) || type == 523 || type == 524 || (type >= 528 && type <= 530);
    if (!named && type != 525)
        return;
    guint id = (guint)be(type == 525 ? p + 8 : p, 4);
    c->unnamed += id == 0;
    if (id == 0)
        return;
    g_assert_nonnull(g_hash_table_lookup(c->names, GUINT_TO_POINTER(id)));
    c->before_name += time < *(uint64_t *)g_hash_table_lookup(c->name_times, GUINT_TO_POINTER(id));
}

static void span_event(struct check *c, unsigned type, unsigned cap, const uint8_t *p)
{
    gpointer span = GSIZE_TO_POINTER((gsize)cap << 32 | be(p, 4));
    if (type == 512)
        c->open_twice += !g_hash_table_add(c->open, span);
    else
        c->never_begun += !g_hash_table_remove(c->open, span);
}

static void note(struct check *c, struct walk *w, unsigned type, uint64_t time, const uint8_t *p,
                 size_t n, unsigned cap)
{
    static const char begins[] = "fathom: replay begins", ends[] = "fathom: replay ends";
    if (type == 16 && n >= sizeof(begins) - 1 && memcmp(p, begins, sizeof(begins) - 1) == 0)
        w->replay = true;
    bool replay = w->replay || !w->news;
    c->seen++;
    if (c->first[type] == 0)
        c->first[type] = c->seen;
    name_event(c, type, time, p, n);
    if (replay) {
        c->replayed[type]++;
    } else if (type != 527 && !(type == 16 && n > 6 && memcmp(p, "fathom", 6) == 0)) {
        c->counts[type]++;
        c->events++;
        c->cap_events[cap]++;
    }
    if (type == 16 && n >= sizeof(ends) - 1 && memcmp(p, ends, sizeof(ends) - 1) == 0)
        w->replay = false;
    if (type == 527)
        c->missing_events += be(p, 8);
    if (type == 0 || type == 2 || type == 44)
        thread_event(c, type, p, n);
    if (type == 512 || type == 513)
        span_event(c, type, cap, p);
    if (type == 45)
        g_hash_table_add(c->caps, GUINT_TO_POINTER((guint)be(p, 2)));
    if (type == 32)
        c->pid = (uint32_t)be(p + 4, 4);
    if (type == 30) {
        g_free(c->args);
        c->args = g_strndup("", n);
        for (size_t i = 4; i < n; i++)
            c->args[i - 4] = p[i] ? (char)p[i] : ' ';
    }
    if (type == 522) {
        uint64_t value = be(p, 8);
        g_assert_cmpuint(value >> 32, <, 64);
        uint64_t *next = &c->next[value >> 32];
        g_assert_cmpuint((uint32_t)value, >=, *next);
        c->gaps += (uint32_t)value > *next;
        *next = (uint64_t)(uint32_t)value + 1;
    }
}

static void walk_block(struct check *c, struct walk *w, const uint8_t *p, const uint8_t *end)
{
    uint64_t begin = be(p + 2, 8), done = be(p + 14, 8);
    unsigned cap = (unsigned)be(p + 22, 2);
    g_assert_cmpuint(begin, <=, done);
    for (p += 24; p < end;) {
        unsigned type = (unsigned)be(p, 2);
        g_assert_cmpuint(type, <, CHECK_TYPES);
        g_assert_cmpuint(w->sizes[type], !=, 0);
        uint64_t time = be(p + 2, 8);
        uint64_t off = time < begin ? begin - time : time > done ? time - done : 0;
        if (cap != CHECK_CAPS - 1) /* a lane's events are in order, those of handlers too */
            g_assert_cmpuint(time, >=, c->cap_times[cap]);
        c->cap_times[cap] = time;
        c->late_ns_max = MAX(c->late_ns_max, off);
        size_t size = w->sizes[type] - 1, head = 10;
        if (size == 0xFFFF) {
            size = (size_t)be(p + 10, 2);
            head = 12;
        }
        g_assert_cmpuint(head + size, <=, (size_t)(end - p));
        g_assert_cmpuint(type, !=, 18);
        note(c, w, type, time, p + head, size, cap);
        p += head + size;
    }
    if (!w->replay)
        w->news = true; /* the first block, or the first replay, is what initial events are */
}

struct check *check_stream(const uint8_t *data, size_t bytes)
{
    struct check *c = g_new0(struct check, 1);
    struct walk w = {0};
    c->cap_events = g_new0(uint64_t, CHECK_CAPS + 1);
    c->cap_times = g_new0(uint64_t, CHECK_CAPS + 1);
    c->next = g_new0(uint64_t, 64);
    c->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    c->caps = g_hash_table_new(NULL, NULL);
    c->open = g_hash_table_new(NULL, NULL);
    c->name_times = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    c->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    c->bytes = bytes;
    size_t at = read_header(&w, data, bytes);
    while (at < bytes) {
        if (bytes - at >= 2 && data[at] == 0xFF && data[at + 1] == 0xFF) {
            c->ended = true;
            g_assert_cmpuint(at + 2, ==, bytes);
            break;
        }
        if (bytes - at < 24) {
            c->cut = true;
            break;
        }
        g_assert_cmpuint(be(data + at, 2), ==, 18);
        uint64_t size = be(data + at + 10, 4);
        g_assert_cmpuint(size, >=, 24);
        if (size > bytes - at) {
            c->cut = true;
            break;
        }
        walk_block(c, &w, data + at, data + at + size);
        c->blocks++;
        if (c->blocks > 1)
            c->largest_block = MAX(c->largest_block, size);
        at += size;
    }
    return c;
}

struct check *check_file(const char *path)
{
    g_autofree char *data = NULL;
    gsize bytes;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &data, &bytes, &error);
    g_assert_no_error(error);
    return check_stream((const uint8_t *)data, bytes);
}

void check_free(struct check *c)
{
    g_free(c->cap_events);
    g_free(c->cap_times);
    g_free(c->next);
    g_free(c->args);
    g_hash_table_unref(c->threads);
    g_hash_table_unref(c->caps);
    g_hash_table_unref(c->open);
    g_hash_table_unref(c->names);
    g_hash_table_unref(c->name_times);
    g_free(c);
}

/* ---- producers and consumers ------------------------------------------------------------------
 */

void log_numbers(unsigned producer, uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < from + n; i++)
        fm_eventlog_function_exit((const void *)((uintptr_t)producer << 32 | i));
}

static gpointer produce(gpointer data)
{
    struct producer *p = data;
    log_numbers(p->number, 0, p->count);
    return NULL;
}

void producers_start(struct producer *list, unsigned n, uint32_t count)
{
    for (unsigned i = 0; i < n; i++) {
        list[i] = (struct producer){.number = i, .count = count};
        list[i].thread = g_thread_new("producer", produce, &list[i]);
    }
}

void producers_join(struct producer *list, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        g_thread_join(list[i].thread);
}

GByteArray *take_all(void)
{
    GByteArray *all = g_byte_array_new();
    struct fm_eventlog_chunk chunk;
    while (fm_eventlog_chunk_wait(10000) == 1)
        while (fm_eventlog_chunk_take(&chunk, false)) {
            g_byte_array_append(all, chunk.data, (guint)chunk.bytes);
            fm_eventlog_chunk_release(&chunk);
        }
    return all;
}

/* --- folders below one of the process that made them, which is removed at its end: what is killed
 * leaves one --- */

static char *folder_of_all;
static pid_t folder_owner;
static unsigned folders_made;

static void remove_tree(const char *path)
{
    bool link = g_file_test(path, G_FILE_TEST_IS_SYMLINK);
    GDir *dir = link ? NULL : g_dir_open(path, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
    }
    if (dir != NULL)
        g_dir_close(dir);
    g_remove(path);
}

/* Not of a forked child, whose parent goes on with them. */
static void remove_folders(void)
{
    if (getpid() == folder_owner)
        remove_tree(folder_of_all);
}

char *temp_folder(void)
{
    if (folder_owner != getpid()) {
        if (folder_owner == 0)
            atexit(remove_folders);
        g_free(folder_of_all);
        folder_of_all = g_dir_make_tmp("fathom-log-XXXXXX", NULL);
        g_assert_nonnull(folder_of_all);
        folder_owner = getpid();
    }
    char *folder = g_strdup_printf("%s/%u", folder_of_all, folders_made++);
    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
    return folder;
}

char *temp_path(const char *name)
{
    g_autofree char *folder = temp_folder();
    return g_build_filename(folder, name, NULL);
}

void validate_file(const char *path)
{
    const char *fathom = g_getenv("FATHOM");
    if (!fathom)
        return;
    g_autofree char *out = NULL, *err = NULL;
    int status = 0;
    const char *argv[] = {fathom, "log", "validate", path, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, &err, &status, NULL));
    if (status != 0)
        g_test_message("%s%s", out, err);
    g_assert_cmpint(status, ==, 0);
}

void validate_bytes(const uint8_t *data, size_t bytes)
{
    g_autofree char *path = temp_path("stream.eventlog");
    g_assert_true(g_file_set_contents(path, (const char *)data, (gssize)bytes, NULL));
    validate_file(path);
    unlink(path);
}

/* ---- programs that end without a stop ----------------------------------------------------------
 */

void begin_log(const char *path, size_t buffer)
{
    struct rlimit none = {0, 0};
    struct fm_eventlog_options o = {.buffer_bytes = buffer};
    setrlimit(RLIMIT_CORE, &none);
    if (fm_eventlog_start(&o) != 0 || fm_eventlog_open_file(path) != 0 || !fm_eventlog_is_live())
        _exit(99);
}

void finish(pid_t pid)
{
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 99);
}

int recover(const char *path, char **ret_err)
{
    g_autofree char *out = NULL;
    int status;
    const char *argv[] = {g_getenv("FATHOM"), "log", "recover", path, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, ret_err, &status, NULL));
    return status;
}

bool has_live(const char *path)
{
    g_autofree char *live = g_strconcat(path, ".live", NULL);
    return g_file_test(live, G_FILE_TEST_EXISTS);
}

void remove_log(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path), *live = g_strconcat(path, ".live", NULL);
    unlink(live);
    unlink(path);
    g_assert_cmpint(rmdir(folder), ==, 0);
}
