/* SPDX-License-Identifier: Apache-2.0 */
/* One file a key, named by the key's hash: a header, the key, the bytes. A writer makes a file of
 * another name and renames it, so a reader sees all of it or nothing; the check sum is for disks
 * and for crashes. The folder and its files must be the user's own: they are believed. */
#include "record/known/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "fmknown4"
#define ENDING ".statics"
#define BEGINNING ".writing-" /* prefix of a file that is being written */
#define WRITING_SECONDS 3600  /* older ones were left by a crash */
#define DEFAULT_BYTES (UINT64_C(256) << 20)

struct fm_store {
    char *path;
    uint64_t limit;
};

struct header {
    char magic[8];
    uint64_t check; /* checksum of all that follows */
    uint64_t key_size, size;
};

static char *folder_path(void)
{
    const char *given = g_getenv("FATHOM_CACHE");
    if (given != NULL && given[0] != '\0')
        return strcmp(given, "off") == 0 ? NULL : g_strdup(given);
    const char *cache = g_getenv("XDG_CACHE_HOME"), *home = g_getenv("HOME");
    if (cache != NULL && cache[0] == '/')
        return g_build_filename(cache, "fathom", NULL);
    return home == NULL || home[0] != '/' ? NULL : g_build_filename(home, ".cache", "fathom", NULL);
}

struct fm_store *fm_store_open(void)
{
    char *path = folder_path();
    if (path == NULL)
        return NULL;
    struct fm_store *store = g_new0(struct fm_store, 1);
    store->path = path;
    store->limit = DEFAULT_BYTES;
    const char *size = g_getenv("FATHOM_CACHE_SIZE");
    if (size != NULL)
        g_ascii_string_to_unsigned(size, 10, 0, UINT64_MAX, &store->limit, NULL);
    return store;
}

void fm_store_close(struct fm_store *store)
{
    if (store == NULL)
        return;
    g_free(store->path);
    g_free(store);
}

static bool is_own(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* -1 when there is no trustworthy folder. */
static int open_folder(const struct fm_store *store)
{
    struct stat status;
    int folder = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && fstat(folder, &status) == 0 && is_own(&status))
        return folder;
    if (folder >= 0)
        close(folder);
    return -1;
}

/* Any change of one word changes the sum, as each step can be undone. */
static uint64_t add_to_check(uint64_t check, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, MIN(sizeof word, size - at));
        check = (check ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        check ^= check >> 29;
    }
    return check;
}

static uint64_t check_of(const struct header *header, const char *key, const void *bytes)
{
    const uint64_t sizes[] = {header->key_size, header->size};
    uint64_t check = add_to_check(1, sizes, sizeof sizes);
    check = add_to_check(check, key, header->key_size);
    return add_to_check(check, bytes, header->size);
}

static char *name_of(const char *key)
{
    g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
    return g_strconcat(hash, ENDING, NULL);
}

static bool read_whole(int file, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = read(file, (char *)bytes + at, size - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

static bool write_whole(int file, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t put = write(file, (const char *)bytes + at, size - at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += (size_t)put;
    }
    return true;
}

/* The bytes of an open file, NULL unless it is all that was put under key. */
static GBytes *read_entry(int file, uint64_t file_size, const char *key)
{
    struct header header;
    size_t key_size = strlen(key);
    if (file_size < sizeof header + key_size || !read_whole(file, &header, sizeof header) ||
        memcmp(header.magic, MAGIC, sizeof header.magic) != 0 || header.key_size != key_size ||
        header.size != file_size - sizeof header - key_size)
        return NULL;
    g_autofree char *found = g_malloc(key_size + 1);
    g_autofree guint8 *bytes = g_try_malloc(header.size + 1);
    if (bytes == NULL || !read_whole(file, found, key_size) || memcmp(found, key, key_size) != 0 ||
        !read_whole(file, bytes, header.size) || check_of(&header, found, bytes) != header.check)
        return NULL;
    return g_bytes_new_take(g_steal_pointer(&bytes), header.size);
}

GBytes *fm_store_get(const struct fm_store *store, const char *key)
{
    g_return_val_if_fail(store != NULL && key != NULL, NULL);
    int folder = open_folder(store);
    if (folder < 0)
        return NULL;
    g_autofree char *name = name_of(key);
    GBytes *bytes = NULL;
    struct stat status;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_own(&status) &&
        (uint64_t)status.st_size <= store->limit)
        bytes = read_entry(file, (uint64_t)status.st_size, key);
    if (bytes != NULL)
        (void)futimens(file, NULL); /* used now */
    if (file >= 0)
        close(file);
    close(folder);
    return bytes;
}

struct entry {
    char *name;
    uint64_t size;
    struct timespec used;
};

static void free_entry(gpointer data)
{
    g_free(((struct entry *)data)->name);
}

static gint by_use(gconstpointer left, gconstpointer right)
{
    const struct entry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Only files with names of this cache; other files in the folder are ignored. */
static void look_at(int folder, const char *name, GArray *entries)
{
    struct stat status;
    bool writing = g_str_has_prefix(name, BEGINNING);
    if ((!writing && !g_str_has_suffix(name, ENDING)) ||
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return;
    if (writing) {
        if (time(NULL) - status.st_mtim.tv_sec > WRITING_SECONDS)
            unlinkat(folder, name, 0);
        return;
    }
    struct entry entry = {g_strdup(name), (uint64_t)status.st_size, status.st_mtim};
    g_array_append_val(entries, entry);
}

static void bound(const struct fm_store *store, int folder)
{
    int again = dup(folder);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    if (list == NULL) {
        if (again >= 0)
            close(again);
        return;
    }
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    g_array_set_clear_func(entries, free_entry);
    for (struct dirent *at; (at = readdir(list)) != NULL;)
        look_at(folder, at->d_name, entries);
    closedir(list);
    g_array_sort(entries, by_use);
    uint64_t sum = 0;
    for (guint i = 0; i < entries->len; i++)
        sum += g_array_index(entries, struct entry, i).size;
    for (guint i = 0; i < entries->len && sum > store->limit; i++) {
        const struct entry *oldest = &g_array_index(entries, struct entry, i);
        unlinkat(folder, oldest->name, 0);
        sum -= oldest->size;
    }
}

/* Makes a file of a name that no other writer has; -1. */
static int make_file(int folder, char **ret_name)
{
    for (int attempt = 0; attempt < 16; attempt++) {
        g_autofree char *name = g_strdup_printf(BEGINNING "%d-%08x", (int)getpid(), g_random_int());
        int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0)
            *ret_name = g_steal_pointer(&name);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

void fm_store_put(const struct fm_store *store, const char *key, const guint8 *bytes, gsize size)
{
    g_return_if_fail(store != NULL && key != NULL && (bytes != NULL || size == 0));
    struct header header = {.magic = MAGIC, .key_size = strlen(key), .size = size};
    if (sizeof header + header.key_size + size > store->limit)
        return;
    g_mkdir_with_parents(store->path, 0700);
    int folder = open_folder(store);
    if (folder < 0)
        return;
    g_autofree char *name = name_of(key), *writing = NULL;
    int file = make_file(folder, &writing);
    if (file >= 0) {
        header.check = check_of(&header, key, bytes);
        bool ok = write_whole(file, &header, sizeof header) &&
                  write_whole(file, key, header.key_size) && write_whole(file, bytes, size);
        ok = close(file) == 0 && ok;
        if (!ok || renameat(folder, writing, folder, name) != 0)
            unlinkat(folder, writing, 0);
        bound(store, folder);
    }
    close(folder);
}
