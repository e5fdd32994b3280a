/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the fuzzing engine: runs a target once for each named file, or each file of a folder. */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replay_file(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize size;

    if (!g_file_get_contents(path, &text, &size, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 0;
    }
    /* A copy of exactly this size, so that the sanitizer detects reads past the end. */
    uint8_t *data = g_memdup2(text, size);
    LLVMFuzzerTestOneInput(data, size);
    g_free(data);
    return 1;
}

static unsigned replay_folder(GDir *folder, const char *path)
{
    const char *name;
    unsigned count = 0;

    while ((name = g_dir_read_name(folder))) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        count += replay_file(file);
    }
    return count;
}

int main(int argc, char **argv)
{
    unsigned count = 0;

    for (int i = 1; i < argc; i++) {
        g_autoptr(GDir) folder = g_dir_open(argv[i], 0, NULL);
        count += folder ? replay_folder(folder, argv[i]) : replay_file(argv[i]);
    }
    printf("%u inputs replayed\n", count);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
