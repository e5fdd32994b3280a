/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/of_run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "record/raw/bytes.h"
#include "record/raw/recording.h"

static gint by_name(gconstpointer left, gconstpointer right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

GPtrArray *fm_raw_recordings_of_run(const char *base, GPtrArray *before)
{
    g_return_val_if_fail(base != NULL, NULL);
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder_name = g_path_get_dirname(base);
    g_autofree char *stem = g_path_get_basename(base);
    GDir *folder = g_dir_open(folder_name, 0, NULL);
    for (const char *name; folder != NULL && (name = g_dir_read_name(folder)) != NULL;) {
        if (!g_str_has_prefix(name, stem) || !g_str_has_suffix(name, ".rec"))
            continue;
        const char *rest = name + strlen(stem);
        size_t numbers = strspn(rest, ".0123456789");
        if (strcmp(rest, ".rec") == 0 ||
            (rest[0] == '.' && numbers > 2 && strcmp(rest + numbers - 1, ".rec") == 0)) {
            g_autofree char *path = g_build_filename(folder_name, name, NULL);
            if (before == NULL ||
                !g_ptr_array_find_with_equal_func(before, path, g_str_equal, NULL))
                g_ptr_array_add(found, g_steal_pointer(&path));
        }
    }
    if (folder != NULL)
        g_dir_close(folder);
    g_ptr_array_sort(found, by_name);
    /* '.' sorts before digits and letters, so NAME.rec comes last: bring it to the front. */
    g_autofree char *main_file = g_strdup_printf("%s.rec", base);
    for (guint i = 0; i < found->len; i++) {
        if (strcmp(g_ptr_array_index(found, i), main_file) == 0) {
            char *path = g_ptr_array_steal_index(found, i);
            g_ptr_array_insert(found, 0, path);
            break;
        }
    }
    return found;
}

static bool read_header(const char *path, struct fm_rec_header *ret)
{
    const struct fm_raw_bytes bytes = {.path = path};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = file >= 0 && pread(file, ret, sizeof *ret, 0) == (ssize_t)sizeof *ret &&
              fm_raw_bytes_check_header(&bytes, ret, NULL);
    if (file >= 0)
        close(file);
    return ok;
}

static void add_to(GHashTable *counts, uint32_t pid, int64_t more)
{
    gpointer key = GUINT_TO_POINTER(pid);
    int64_t count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, key));
    g_hash_table_insert(counts, key, GSIZE_TO_POINTER(count + more));
}

unsigned fm_raw_recordings_lost(const GPtrArray *found)
{
    g_return_val_if_fail(found != NULL, 0);
    g_autoptr(GHashTable) parents = g_hash_table_new(NULL, NULL); /* pid -> children not found */
    GHashTableIter iter;
    gpointer missing;
    int64_t lost = 0;
    for (guint i = 0; i < found->len; i++) {
        struct fm_rec_header header;
        if (!read_header(found->pdata[i], &header)) {
            lost--; /* it exists, even as another process's child */
            continue;
        }
        add_to(parents, header.pid, header.children);
        if ((header.grade_flags & FM_REC_FORKED) != 0)
            add_to(parents, header.parent_pid, -1);
    }
    g_hash_table_iter_init(&iter, parents);
    while (g_hash_table_iter_next(&iter, NULL, &missing))
        lost += MAX((int64_t)GPOINTER_TO_SIZE(missing), 0); /* less: of a parent that is gone */
    return (unsigned)MAX(lost, 0);
}

struct astray {
    char *path;
    struct fm_rec_header header;
};

static void astray_clear(gpointer data)
{
    g_free(((struct astray *)data)->path);
}

static bool is_in(GHashTable *pids, uint32_t pid)
{
    return g_hash_table_contains(pids, GUINT_TO_POINTER(pid));
}

/* Moves those whose process, or its parent, is among the pids to of_run, and adds their pids;
 * returns whether there was any. */
static bool take_of_run(GArray *all, GHashTable *pids, GPtrArray *of_run)
{
    guint before = of_run->len;
    for (guint i = 0; i < all->len; i++) {
        struct astray *one = &g_array_index(all, struct astray, i);
        if (one->path == NULL ||
            !(is_in(pids, one->header.pid) || is_in(pids, one->header.parent_pid)))
            continue;
        g_hash_table_add(pids, GUINT_TO_POINTER(one->header.pid));
        g_ptr_array_add(of_run, g_steal_pointer(&one->path));
    }
    return of_run->len > before;
}

void fm_raw_recordings_astray(const char *folder, uint64_t since_ns, uint32_t pid,
                              const GPtrArray *found, GPtrArray **ret_of_run,
                              GPtrArray **ret_others)
{
    g_return_if_fail(folder != NULL && found != NULL && ret_of_run != NULL && ret_others != NULL);
    g_autofree char *base = g_build_filename(folder, "Deep", NULL);
    g_autoptr(GPtrArray) named = fm_raw_recordings_of_run(base, NULL);
    g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(struct astray));
    g_array_set_clear_func(all, astray_clear);
    *ret_of_run = g_ptr_array_new_with_free_func(g_free);
    *ret_others = g_ptr_array_new_with_free_func(g_free);
    g_hash_table_add(pids, GUINT_TO_POINTER(pid));
    for (guint i = 0; i < found->len; i++) {
        struct fm_rec_header header;
        if (read_header(found->pdata[i], &header))
            g_hash_table_add(pids, GUINT_TO_POINTER(header.pid));
    }
    for (guint i = 0; i < named->len; i++) {
        struct astray one = {0};
        if (!read_header(named->pdata[i], &one.header) || one.header.snapshot_of != 0 ||
            one.header.start_realtime_ns < since_ns ||
            g_ptr_array_find_with_equal_func((GPtrArray *)(uintptr_t)found, named->pdata[i],
                                             g_str_equal, NULL))
            continue;
        one.path = g_strdup(named->pdata[i]);
        g_array_append_val(all, one);
    }
    while (take_of_run(all, pids, *ret_of_run))
        ;
    for (guint i = 0; i < all->len; i++) {
        struct astray *one = &g_array_index(all, struct astray, i);
        if (one->path != NULL)
            g_ptr_array_add(*ret_others, g_steal_pointer(&one->path));
    }
}

bool fm_raw_recording_make_room(const char *base, GError **error)
{
    g_return_val_if_fail(base != NULL, false);
    g_autofree char *path = g_strdup_printf("%s.rec", base);
    int writer = fm_raw_recording_writer(path);
    if (writer != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "%s is being written by process %d; choose another name (-o NAME)", path,
                    (int)writer);
        return false;
    }
    g_unlink(path);
    return true;
}
