/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a build: the files that clang -ftime-trace writes beside the objects, one for each
 * source file, as one profile. Each has a function "File ..." at the outermost; below it stand what
 * clang did, headers, classes and functions, which are the same functions in all files: so a
 * header's total is what it took in the whole build, and the calls of a class are how often it was
 * instantiated. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "exchange/import/browser/chrome.h"
#include "exchange/import/folder.h"

#define LEVELS_MAX 32u
#define NAMES_LOOKED_AT 20000u /* to recognise a folder; a build is read whole */
#define NS_PER_SECOND 1000000000u
#define TAIL_BYTES ((size_t)512) /* in which the last member of such a file stands */

struct walk {
    GPtrArray *files;    /* paths */
    uint32_t names_left; /* that may be looked at */
    bool first_only;
};

static bool is_trace(const uint8_t *bytes, size_t size)
{
    size_t tail = MIN(size, TAIL_BYTES);
    return size > 0 && bytes[0] == '{' &&
           memmem(bytes, MIN(size, TAIL_BYTES), "\"traceEvents\"", 13) != NULL &&
           memmem(bytes + size - tail, tail, "\"beginningOfTime\"", 17) != NULL;
}

static bool is_trace_file(const char *path)
{
    g_autoptr(FmMappedFile) file = NULL;
    return g_str_has_suffix(path, ".json") && fm_mapped_file_open(path, &file, NULL) &&
           is_trace(file->bytes, file->size);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of names, so that equal folders give equal profiles. */
static GPtrArray *names_in(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
        g_ptr_array_add(names, g_strdup(name));
    if (dir != NULL)
        g_dir_close(dir);
    g_ptr_array_sort(names, compare_names);
    return names;
}

/* Links are not followed: they may lead out, or round. False: no more is to be looked at. */
static bool look_at(struct walk *walk, const char *path, GPtrArray *ret_below)
{
    struct stat status;
    if (walk->names_left == 0)
        return false;
    walk->names_left--;
    if (lstat(path, &status) != 0)
        return true;
    if (S_ISDIR(status.st_mode))
        g_ptr_array_add(ret_below, g_strdup(path));
    else if (S_ISREG(status.st_mode) && is_trace_file(path))
        g_ptr_array_add(walk->files, g_strdup(path));
    return !walk->first_only || walk->files->len == 0;
}

static void find_files(struct walk *walk, const char *folder)
{
    g_autoptr(GPtrArray) level = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(level, g_strdup(folder));
    for (unsigned levels = 0; level->len > 0 && levels < LEVELS_MAX; levels++) {
        GPtrArray *below = g_ptr_array_new_with_free_func(g_free);
        bool more = true;
        for (guint i = 0; i < level->len && more; i++) {
            g_autoptr(GPtrArray) names = names_in(level->pdata[i]);
            for (guint k = 0; k < names->len && more; k++) {
                g_autofree char *path = g_build_filename(level->pdata[i], names->pdata[k], NULL);
                more = look_at(walk, path, below);
            }
        }
        g_ptr_array_unref(level);
        level = below;
        if (!more)
            break;
    }
    g_ptr_array_sort(walk->files, compare_names);
}

/* They are what is meant by the folder then. */
static bool has_profiles(const char *folder)
{
    g_autoptr(GPtrArray) names = names_in(folder);
    for (guint i = 0; i < names->len; i++) {
        if (g_str_has_suffix(names->pdata[i], ".data") ||
            g_str_has_suffix(names->pdata[i], ".eventlog"))
            return true;
    }
    return false;
}

bool fm_import_is_compile_time(const char *folder)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    struct walk walk = {.files = files, .names_left = NAMES_LOOKED_AT, .first_only = true};
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR) || has_profiles(folder))
        return false;
    find_files(&walk, folder);
    return files->len > 0;
}

/* --- reading --- */

struct build {
    const char *folder;
    struct fm_stacks *stacks;
    struct fm_spans_found found;
    uint64_t files, damaged;
    char *first_damaged; /* what is wrong with it */
};

/* "CMakeFiles/app.dir/src/a.cc.json" -> "CMakeFiles/app.dir/src/a.cc" */
static char *name_of(const char *folder, const char *path)
{
    const char *at = path + strlen(folder);
    at += strspn(at, "/");
    return g_strndup(at, strlen(at) - strlen(".json"));
}

static bool add_file(struct build *build, const char *path, GError **error)
{
    static const struct fm_import_options options = {0};
    g_autoptr(FmMappedFile) file = NULL;
    GError *wrong = NULL;
    g_autofree char *name = name_of(build->folder, path);
    if (!fm_mapped_file_open(path, &file, error))
        return false;
    const struct fm_import_input input = {.name = path,
                                          .program = name,
                                          .bytes = file->bytes,
                                          .size = file->size,
                                          .file_size = file->size,
                                          .options = &options};
    bool added = fm_chrome_add_part(&input, name, build->stacks, &build->found, &wrong);
    /* Zeros of a file that became shorter meanwhile are nobody's fault but that one's. */
    if (!fm_mapped_file_check(file, error)) {
        g_clear_error(&wrong);
        return false;
    }
    if (added) {
        build->files++;
    } else if (wrong->code == FM_ERROR_LIMIT) {
        g_propagate_error(error, wrong);
        return false;
    } else {
        if (build->damaged++ == 0)
            build->first_damaged = g_strdup(wrong->message);
        g_error_free(wrong);
    }
    return true;
}

static void tell(const struct build *from)
{
    struct fm_build *build = fm_stacks_build(from->stacks);
    g_autofree char *note = g_strdup_printf("compile times of %" G_GUINT64_FORMAT
                                            " files are added up: files that were "
                                            "compiled at the same time took less together",
                                            (guint64)from->files);
    fm_build_note(build, note);
    if (from->damaged > 0) {
        g_autofree char *left_out = g_strdup_printf(
            FM_NOTE_WARNING "%" G_GUINT64_FORMAT " files are damaged and left out: %s",
            (guint64)from->damaged, from->first_damaged);
        fm_build_note(build, left_out);
    }
    fm_spans_tell(&from->found, build);
    fm_chrome_tell_granularity(build);
}

static bool add_files(struct build *build, const GPtrArray *files, GError **error)
{
    for (guint i = 0; i < files->len; i++) {
        if (!add_file(build, files->pdata[i], error))
            return false;
    }
    if (build->files > 0)
        return true;
    if (build->damaged > 0)
        g_set_error_literal(error, FM_ERROR, FM_ERROR_FORMAT, build->first_damaged);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: no file of clang's -ftime-trace is in it: they are beside the objects "
                    "after compiling with clang++ -ftime-trace",
                    build->folder);
    return false;
}

bool fm_import_compile_time(const char *folder, const char *program, struct fm_profile **ret,
                            GError **error)
{
    g_return_val_if_fail(folder != NULL && program != NULL && ret != NULL, false);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    struct walk walk = {.files = files, .names_left = UINT32_MAX};
    struct build build = {.folder = folder,
                          .stacks = fm_stacks_new(program, "clang's -ftime-trace of a build")};
    struct fm_build *header = fm_stacks_build(build.stacks);
    fm_build_header(header)->ticks_per_second = NS_PER_SECOND;
    fm_build_nature(header, FM_NATURE_CLOCK | FM_NATURE_TIME_EXACT, 0);
    fm_stacks_name_quanta(build.stacks, "wall", NULL);
    fm_import_only_knows(header, 1u << FM_QUANTA | FM_IMPORT_CALLS);
    find_files(&walk, folder);
    bool done = add_files(&build, files, error);
    if (done) {
        tell(&build);
        done = fm_stacks_finish(g_steal_pointer(&build.stacks), ret, error);
    }
    fm_stacks_free(build.stacks);
    g_free(build.first_damaged);
    return done;
}
