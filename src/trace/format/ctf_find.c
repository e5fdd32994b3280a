/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "trace/format/ctf.h"

/* A folder given by mistake, such as the root, must not be searched for long. */
enum { DEPTH_MAX = 8, FOLDERS_MAX = 3000 };

/* The text form begins with a comment that says so, the packet form with a number. */
bool fm_ctf_is_metadata(const uint8_t *begin, size_t length)
{
    static const uint8_t numbers[2][4] = {{0x57, 0x1d, 0xd1, 0x75}, {0x75, 0xd1, 0x1d, 0x57}};
    return length >= FM_CTF_METADATA_BEGIN &&
           (memcmp(begin, "/* CTF", 6) == 0 || memcmp(begin, numbers[0], 4) == 0 ||
            memcmp(begin, numbers[1], 4) == 0);
}

static bool is_metadata(const char *path)
{
    g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
    uint8_t begin[FM_CTF_METADATA_BEGIN];
    if (!g_file_test(metadata, G_FILE_TEST_IS_REGULAR))
        return false;
    FILE *file = fopen(metadata, "rbe");
    if (file == NULL)
        return false;
    size_t length = fread(begin, 1, sizeof begin, file);
    fclose(file);
    return fm_ctf_is_metadata(begin, length);
}

static void find(const char *path, unsigned depth, unsigned *looked_at, GPtrArray *found)
{
    if (is_metadata(path)) {
        g_ptr_array_add(found, g_strdup(path));
        return;
    }
    GDir *dir = depth < DEPTH_MAX ? g_dir_open(path, 0, NULL) : NULL;
    const char *name;
    while (dir != NULL && *looked_at < FOLDERS_MAX && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        if (g_file_test(below, G_FILE_TEST_IS_DIR) && !g_file_test(below, G_FILE_TEST_IS_SYMLINK)) {
            ++*looked_at;
            find(below, depth + 1, looked_at, found);
        }
    }
    if (dir != NULL)
        g_dir_close(dir);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **fm_ctf_find(const char *path)
{
    GPtrArray *found = g_ptr_array_new();
    unsigned looked_at = 0;
    find(path, 0, &looked_at, found);
    g_ptr_array_sort(found, compare_paths);
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(found, FALSE);
}
