/* SPDX-License-Identifier: Apache-2.0 */
/* The list of open recordings; which paths may be named. */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "open/internal.h"
#include "trace/format/open.h"

void fm_open_file_init(struct fm_open_file *recording, const struct fm_open_file_class *class_,
                       struct fm_open_files *all, const char *name, char *path)
{
    g_assert(name != NULL && path != NULL);
    *recording =
        (struct fm_open_file){.class_ = class_, .all = all, .name = g_strdup(name), .path = path};
}

void fm_open_file_close(struct fm_open_file *recording)
{
    struct fm_open_files *all = recording->all;
    if (recording->trace == NULL)
        return;
    if (all->options.closing != NULL)
        all->options.closing(all->options.user, recording);
    if (recording->class_->close != NULL)
        recording->class_->close(recording);
    fm_engine_close(all->engine, g_steal_pointer(&recording->trace));
}

void fm_open_file_free(struct fm_open_file *recording)
{
    if (recording == NULL)
        return;
    fm_open_file_close(recording);
    g_free(recording->name);
    g_free(recording->path);
    g_free(recording);
}

struct fm_open_file *fm_open_files_find(const struct fm_open_files *all,
                                        const struct fm_open_file_class *class_, const char *name)
{
    g_assert(name != NULL);
    for (unsigned i = 0; i < all->list->len; i++) {
        struct fm_open_file *recording = all->list->pdata[i];
        if (recording->class_ == class_ &&
            (strcmp(recording->name, name) == 0 || strcmp(recording->path, name) == 0))
            return recording;
    }
    return NULL;
}

unsigned fm_open_files_count(const struct fm_open_files *all,
                             const struct fm_open_file_class *class_)
{
    unsigned count = 0;
    for (unsigned i = 0; i < all->list->len; i++)
        count += ((const struct fm_open_file *)all->list->pdata[i])->class_ == class_;
    return count;
}

struct fm_open_file *fm_open_files_at(const struct fm_open_files *all,
                                      const struct fm_open_file_class *class_, unsigned index)
{
    for (unsigned i = 0; i < all->list->len; i++) {
        struct fm_open_file *recording = all->list->pdata[i];
        if (recording->class_ == class_ && index-- == 0)
            return recording;
    }
    g_assert_not_reached(); /* index is less than fm_open_files_count() */
}

void fm_open_files_close_least_used(struct fm_open_files *all, const struct fm_open_file *keep,
                                    unsigned max)
{
    g_assert(keep->all == all && max > 0);
    for (;;) {
        struct fm_open_file *oldest = NULL;
        unsigned found = 0;
        for (unsigned i = 0; i < all->list->len; i++) {
            struct fm_open_file *recording = all->list->pdata[i];
            if (recording->added || recording->class_ != keep->class_)
                continue;
            found++;
            if (recording != keep && (oldest == NULL || recording->last_used < oldest->last_used))
                oldest = recording;
        }
        if (found <= max || oldest == NULL)
            return;
        g_ptr_array_remove(all->list, oldest);
        fm_open_file_free(oldest);
    }
}

void fm_open_file_use(struct fm_open_file *recording)
{
    recording->last_used = ++recording->all->clock;
}

char *fm_open_files_below_roots(const struct fm_open_files *all, const char *file)
{
    struct stat status;
    g_autofree char *real = fm_roots_find(all->roots, file);
    int fd = real == NULL ? -1 : fm_roots_open(all->roots, real, 0, NULL);
    if (fd < 0)
        return NULL;
    bool there = fstat(fd, &status) == 0;
    close(fd);
    if (there && (S_ISREG(status.st_mode) ||
                  (S_ISDIR(status.st_mode) && fm_trace_recognise_below(all->roots, real))))
        return g_steal_pointer(&real);
    return NULL;
}

static char *with_suffix(const char *name, const char *has, const char *instead)
{
    if (!g_str_has_suffix(name, has))
        return NULL;
    return g_strdup_printf("%.*s%s", (int)(strlen(name) - strlen(has)), name, instead);
}

char *fm_open_files_beside(struct fm_open_files *all, const char *name, const char *has,
                           const char *instead)
{
    g_autofree char *other = with_suffix(name, has, instead);
    const struct fm_open_file *open = NULL;
    for (unsigned i = 0; i < all->list->len && other != NULL && open == NULL; i++) {
        const struct fm_open_file *recording = all->list->pdata[i];
        if (recording->added &&
            (strcmp(recording->name, other) == 0 || strcmp(recording->path, other) == 0))
            open = recording;
    }
    g_autofree char *path = open == NULL ? NULL : with_suffix(open->path, instead, has);
    struct stat status;
    /* A link is not accepted, since it may lead anywhere. */
    if (path == NULL || lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    g_hash_table_add(all->given, g_strdup(path));
    return g_steal_pointer(&path);
}

void fm_open_files_not_found(const struct fm_open_files *all,
                             const struct fm_open_file_class *class_, const char *name,
                             GError **error)
{
    g_autofree char *below =
        fm_roots_count(all->roots) == 0
            ? g_strdup("")
            : g_strdup_printf(", and no %s below the served folders", class_->found);
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: not one of the opened %ss%s", name,
                class_->noun, below);
}
