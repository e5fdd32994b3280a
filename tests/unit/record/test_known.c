/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a program's file: kept, found again without the file, and never believed when it
 * is damaged or another's. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/known/known.h"
#include "record/known/pack.h"
#include "record/known/store.h"

static const uint8_t build_id[] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0};

static const char source[] =
    "#include <stdlib.h>\n"
    "static int compare(const void *a, const void *b)\n"
    "{ return *(const int *)a - *(const int *)b; }\n"
    "static inline int square(int x) { return x * x; }\n"
    "__attribute__((noipa, no_instrument_function)) void __cyg_profile_func_enter(void *f, void "
    "*s) {}\n"
    "__attribute__((noipa, no_instrument_function)) void __cyg_profile_func_exit(void *f, void *s) "
    "{}\n"
    "__attribute__((noipa, no_instrument_function)) void __sanitizer_cov_trace_pc(void) {}\n"
    "int (*volatile pointer)(int) = square;\n"
    "int main(int argc, char **argv)\n"
    "{ int a[3] = { 3, 1, 2 };\n"
    "  qsort(a, 3, sizeof *a, compare);\n"
    "  for (int i = 0; i < argc; i++) if (a[i % 3] > 1) a[0] += square(i);\n"
    "  return pointer(argc) + a[0] == 77; }\n";

static const struct fm_statics_opts opts = {
    .build_id = build_id, .build_id_size = sizeof build_id, .coverage = true};

struct fixture {
    char *folder, *program, *cache;
};

static void remove_tree(const char *path)
{
    GDir *folder = g_dir_open(path, 0, NULL);
    for (const char *name; folder != NULL && (name = g_dir_read_name(folder)) != NULL;) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
    }
    if (folder != NULL)
        g_dir_close(folder);
    g_remove(path);
}

static void set_up(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    fixture->folder = g_dir_make_tmp("fathom-XXXXXX", NULL);
    g_assert_nonnull(fixture->folder);
    fixture->program = g_build_filename(fixture->folder, "prog", NULL);
    fixture->cache = g_build_filename(fixture->folder, "cache", NULL);
    g_setenv("FATHOM_CACHE", fixture->cache, TRUE);
    g_unsetenv("FATHOM_CACHE_SIZE");
}

static void tear_down(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    g_chmod(fixture->cache, 0700);
    remove_tree(fixture->folder);
    g_free(fixture->folder);
    g_free(fixture->program);
    g_free(fixture->cache);
}

static void build(const struct fixture *fixture)
{
    g_autofree char *path = g_build_filename(fixture->folder, "prog.c", NULL);
    g_assert_true(g_file_set_contents(path, source, -1, NULL));
    const char *words[] = {"gcc",
                           "-g",
                           "-O1",
                           "-finstrument-functions",
                           "-fsanitize-coverage=trace-pc",
                           "-Wl,--build-id=0x123456789abcdef0",
                           "-w",
                           path,
                           "-o",
                           fixture->program,
                           NULL};
    int status = 0;
    g_assert_true(g_spawn_sync(NULL, (char **)(void *)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                               NULL, NULL, &status, NULL));
    g_assert_true(g_spawn_check_wait_status(status, NULL));
}

/* The statics as bytes, by way of what is known; NULL when they could not be had. */
static GByteArray *ask_with(const struct fixture *fixture, const struct fm_statics_opts *how)
{
    struct fm_known *known = fm_known_new();
    struct fm_statics *statics = NULL;
    bool kept = false;
    GByteArray *bytes = NULL;
    if (fm_known_extract(known, fixture->program, how, &statics, &kept, NULL)) {
        g_assert_true(kept);
        bytes = fm_statics_pack(statics);
    }
    fm_known_free(known);
    return bytes;
}

static GByteArray *ask(const struct fixture *fixture)
{
    return ask_with(fixture, &opts);
}

static void assert_same(const GByteArray *left, const GByteArray *right)
{
    g_assert_nonnull(left);
    g_assert_nonnull(right);
    g_assert_cmpmem(left->data, left->len, right->data, right->len);
}

/* The one entry of the cache. */
static char *entry_path(const struct fixture *fixture)
{
    GDir *folder = g_dir_open(fixture->cache, 0, NULL);
    g_assert_nonnull(folder);
    const char *name = g_dir_read_name(folder);
    g_assert_nonnull(name);
    char *path = g_build_filename(fixture->cache, name, NULL);
    g_assert_null(g_dir_read_name(folder));
    g_dir_close(folder);
    return path;
}

static void test_round_trip(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    struct fm_statics *first = NULL;
    build(fixture);
    g_assert_true(fm_statics_extract(fixture->program, &opts, &first, NULL));
    g_assert_cmpuint(first->point_count, >, 0);
    g_assert_cmpuint(first->code_line_count, >, 0);
    g_autoptr(GByteArray) bytes = fm_statics_pack(first);
    struct fm_statics *second = fm_statics_unpack(bytes->data, bytes->len);
    g_assert_nonnull(second);
    g_assert_cmpstr(second->path, ==, first->path);
    g_assert_cmpstr(second->debug_note, ==, first->debug_note);
    g_assert_true(second->has_debug);
    g_assert_cmpuint(second->proc_count, ==, first->proc_count);
    for (uint32_t i = 0; i < first->proc_count; i++) {
        const struct fm_proc *a = &first->procs[i], *b = &second->procs[i];
        g_assert_cmpstr(a->name, ==, b->name);
        g_assert_cmpstr(a->linkage, ==, b->linkage);
        g_assert_cmpstr(a->unit, ==, b->unit);
        g_assert_cmpstr(a->file, ==, b->file);
        g_assert_cmpuint(a->line, ==, b->line);
        g_assert_cmpuint(a->entry, ==, b->entry);
        g_assert_cmpint(a->instrumented, ==, b->instrumented);
        g_assert_cmpuint(fm_statics_proc_at(second, a->entry), ==,
                         fm_statics_proc_at(first, a->entry));
    }
    g_assert_cmpuint(second->site_count, ==, first->site_count);
    for (uint32_t i = 0; i < first->site_count; i++) {
        const struct fm_site *a = &first->sites[i], *b = &second->sites[i];
        g_assert_cmpint(a->kind, ==, b->kind);
        g_assert_cmpuint(a->callee, ==, b->callee);
        g_assert_cmpstr(a->callee_name, ==, b->callee_name);
        g_assert_cmpstr(a->file, ==, b->file);
        g_assert_cmpuint(a->line, ==, b->line);
    }
    for (uint32_t i = 0; i < first->segment_count; i++)
        for (uint64_t at = first->segments[i].low; at < first->segments[i].high; at++) {
            uint64_t left = 0, right = 0;
            g_assert_cmpuint(fm_statics_scope_at(first, at), ==, fm_statics_scope_at(second, at));
            g_assert_cmpuint(fm_statics_point_at(first, at), ==, fm_statics_point_at(second, at));
            g_assert_cmpstr(fm_statics_symbol_at(first, at, &left), ==,
                            fm_statics_symbol_at(second, at, &right));
            g_assert_cmpuint(left, ==, right);
        }
    g_autoptr(GByteArray) again = fm_statics_pack(second);
    assert_same(bytes, again);
    fm_statics_free(first);
    fm_statics_free(second);
}

/* Behind the check sum: bytes of one who knows how to make it. */
static void test_hostile(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    struct fm_statics *statics = NULL;
    unsigned refused = 0;
    build(fixture);
    g_assert_true(fm_statics_extract(fixture->program, &opts, &statics, NULL));
    g_autoptr(GByteArray) bytes = fm_statics_pack(statics);
    fm_statics_free(statics);
    for (guint size = 0; size < bytes->len; size += 1 + size / 40)
        g_assert_null(fm_statics_unpack(bytes->data, size));
    for (guint at = 0; at < bytes->len; at += 1 + at % 7) {
        g_autofree guint8 *damaged = g_memdup2(bytes->data, bytes->len);
        damaged[at] ^= at % 3 == 0 ? 0xff : 1u << at % 8;
        struct fm_statics *found = fm_statics_unpack(damaged, bytes->len);
        refused += found == NULL;
        for (uint32_t i = 0; found != NULL && i < found->segment_count; i++) {
            uint64_t offset, address = found->segments[i].low;
            (void)fm_statics_shown_around(found, fm_statics_scope_at(found, address));
            (void)fm_statics_symbol_at(found, address, &offset);
        }
        for (uint32_t i = 0; found != NULL && i < found->proc_count; i++)
            g_assert_cmpuint(strlen(found->procs[i].name), <, bytes->len);
        fm_statics_free(found);
    }
    g_assert_cmpuint(refused, >, 100);
}

static void test_next_run(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    build(fixture);
    g_autoptr(GByteArray) first = ask(fixture);
    g_autofree char *path = entry_path(fixture);
    g_remove(fixture->program); /* so it cannot be extracted again */
    g_autoptr(GByteArray) second = ask(fixture);
    assert_same(first, second);
    g_remove(path);
    g_assert_null(ask(fixture));
}

/* What is known of one build is not of another of that name, nor of the same with other options. */
static void test_of_another(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    static const uint8_t other_id[] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf1};
    struct fm_statics_opts others[] = {opts, opts, opts, opts, opts};
    others[0].build_id = other_id;
    others[1].debug_path = "/elsewhere";
    others[2].coverage = false;
    others[3].ignore_debug = true;
    others[4].physical = true;
    build(fixture);
    g_autoptr(GByteArray) first = ask(fixture);
    g_remove(fixture->program);
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_null(ask_with(fixture, &others[i]));
    g_autoptr(GByteArray) second = ask(fixture);
    assert_same(first, second);
}

static void test_damaged(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    build(fixture);
    g_autoptr(GByteArray) first = ask(fixture);
    g_autofree char *path = entry_path(fixture), *entry = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &entry, &size, NULL));
    g_autofree char *hidden = g_strconcat(fixture->program, ".away", NULL);
    g_rename(fixture->program, hidden);
    for (gsize at = 0; at < size; at += 1 + size / 150) {
        entry[at] ^= 0x21;
        g_assert_true(g_file_set_contents_full(path, entry, (gssize)size, G_FILE_SET_CONTENTS_NONE,
                                               0600, NULL));
        entry[at] ^= 0x21;
        g_assert_null(ask(fixture)); /* not believed */
    }
    for (gsize cut = 0; cut < size; cut += 1 + size / 20) {
        g_assert_true(g_file_set_contents_full(path, entry, (gssize)cut, G_FILE_SET_CONTENTS_NONE,
                                               0600, NULL));
        g_assert_null(ask(fixture));
    }
    g_rename(hidden, fixture->program);
    g_autoptr(GByteArray) mended = ask(fixture); /* extracted, and the entry is written anew */
    assert_same(first, mended);
    g_rename(fixture->program, hidden);
    g_autoptr(GByteArray) stored = ask(fixture);
    assert_same(first, stored);
}

static void test_trust(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    build(fixture);
    g_autoptr(GByteArray) first = ask(fixture);
    g_autofree char *path = entry_path(fixture);
    g_autofree char *away = g_build_filename(fixture->folder, "away", NULL);
    g_remove(fixture->program);
    g_chmod(path, 0666);
    g_assert_null(ask(fixture));
    g_chmod(path, 0600);
    g_chmod(fixture->cache, 0777);
    g_assert_null(ask(fixture));
    g_chmod(fixture->cache, 0700);
    g_autoptr(GByteArray) again = ask(fixture);
    assert_same(first, again);
    g_rename(path, away);
    g_assert_cmpint(symlink(away, path), ==, 0);
    g_assert_null(ask(fixture));
    g_remove(path);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    g_assert_null(ask(fixture));
    g_remove(path);
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    g_assert_null(ask(fixture));
    if (geteuid() == 0) {
        g_remove(path);
        g_rename(away, path);
        g_assert_cmpint(chown(path, 12345, 12345), ==, 0);
        g_assert_null(ask(fixture));
        g_assert_cmpint(chown(path, 0, 0), ==, 0);
        g_assert_cmpint(chown(fixture->cache, 12345, 12345), ==, 0);
        g_assert_null(ask(fixture));
    }
}

static void test_without(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    build(fixture);
    g_setenv("FATHOM_CACHE", "off", TRUE);
    g_autoptr(GByteArray) off = ask(fixture);
    g_assert_false(g_file_test(fixture->cache, G_FILE_TEST_EXISTS));
    /* a file where the folder should be; no home; a home that is not there and cannot be made */
    g_setenv("FATHOM_CACHE", fixture->program, TRUE);
    g_autoptr(GByteArray) file = ask(fixture);
    assert_same(off, file);
    g_unsetenv("FATHOM_CACHE");
    g_autofree char *home = g_strdup(g_getenv("HOME")), *xdg = g_strdup(g_getenv("XDG_CACHE_HOME"));
    g_unsetenv("XDG_CACHE_HOME");
    g_unsetenv("HOME");
    g_autoptr(GByteArray) homeless = ask(fixture);
    assert_same(off, homeless);
    g_setenv("HOME", "/dev/null/nowhere", TRUE);
    g_autoptr(GByteArray) nowhere = ask(fixture);
    assert_same(off, nowhere);
    g_setenv("XDG_CACHE_HOME", fixture->folder, TRUE);
    g_autoptr(GByteArray) there = ask(fixture);
    assert_same(off, there);
    g_autofree char *made = g_build_filename(fixture->folder, "fathom", NULL);
    g_assert_true(g_file_test(made, G_FILE_TEST_IS_DIR));
    g_unsetenv("XDG_CACHE_HOME");
    if (xdg != NULL)
        g_setenv("XDG_CACHE_HOME", xdg, TRUE);
    if (home != NULL)
        g_setenv("HOME", home, TRUE);
}

static bool has(const struct fm_store *store, const char *key)
{
    g_autoptr(GBytes) bytes = fm_store_get(store, key);
    return bytes != NULL;
}

static void test_bounded(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    static guint8 bytes[1000];
    g_setenv("FATHOM_CACHE_SIZE", "5000", TRUE);
    struct fm_store *store = fm_store_open();
    for (int i = 0; i < 4; i++) {
        g_autofree char *key = g_strdup_printf("key %d", i);
        fm_store_put(store, key, bytes, sizeof bytes);
        g_usleep(20000); /* times of files are that coarse */
    }
    g_autofree char *others = g_build_filename(fixture->cache, "thesis.tex", NULL);
    g_assert_true(g_file_set_contents(others, (const char *)bytes, sizeof bytes, NULL));
    g_assert_true(has(store, "key 0")); /* used last now */
    g_usleep(20000);
    fm_store_put(store, "key 4", bytes, sizeof bytes);
    g_assert_true(has(store, "key 0"));
    g_assert_false(has(store, "key 1"));
    g_assert_true(has(store, "key 2"));
    g_assert_true(has(store, "key 4"));
    g_assert_true(g_file_test(others, G_FILE_TEST_EXISTS));
    static guint8 large[6000];
    fm_store_put(store, "large", large, sizeof large);
    g_assert_false(has(store, "large"));
    g_assert_true(has(store, "key 4"));
    fm_store_close(store);
}

#define WRITERS 6
#define ROUNDS 60
#define KEYS 5

static int write_and_read(unsigned number)
{
    struct fm_store *store = fm_store_open();
    int wrong = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned which = (i + number) % KEYS;
        g_autofree char *key = g_strdup_printf("key %u", which);
        guint8 bytes[3000];
        memset(bytes, (int)which + 1, sizeof bytes);
        fm_store_put(store, key, bytes, sizeof bytes);
        g_autoptr(GBytes) found = fm_store_get(store, key);
        gsize size = 0;
        const guint8 *data = found == NULL ? NULL : g_bytes_get_data(found, &size);
        wrong += data != NULL && (size != sizeof bytes || memcmp(data, bytes, size) != 0);
    }
    fm_store_close(store);
    return wrong;
}

static void test_writers(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    pid_t writers[WRITERS];
    g_setenv("FATHOM_CACHE_SIZE", "10000", TRUE); /* entries go while others are read */
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        if (writers[i] == 0)
            _exit(write_and_read(i) == 0 ? 0 : 1);
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        int status = -1;
        g_assert_cmpint(waitpid(writers[i], &status, 0), ==, writers[i]);
        g_assert_cmpint(status, ==, 0);
    }
    GDir *folder = g_dir_open(fixture->cache, 0, NULL);
    unsigned left = 0;
    for (const char *name; (name = g_dir_read_name(folder)) != NULL; left++)
        g_assert_true(g_str_has_suffix(name, ".statics"));
    g_dir_close(folder);
    g_assert_cmpuint(left, >, 0);
    g_assert_cmpuint(left, <=, 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, function) g_test_add(path, struct fixture, NULL, set_up, function, tear_down)
    ADD("/known/round_trip", test_round_trip);
    ADD("/known/hostile", test_hostile);
    ADD("/known/next_run", test_next_run);
    ADD("/known/another", test_of_another);
    ADD("/known/damaged", test_damaged);
    ADD("/known/trust", test_trust);
    ADD("/known/without", test_without);
    ADD("/known/bounded", test_bounded);
    ADD("/known/writers", test_writers);
    return g_test_run();
}
