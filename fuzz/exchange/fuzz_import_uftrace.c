/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a folder of uftrace: refused with a message that names it, or a profile that can be
 * analysed. Input: the length of each file but the last in two bytes, and the file. */
#include <glib/gstdio.h>
#include <string.h>

#include "profile/analysis/analysis.h"
#include "exchange/import/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"info", "task.txt", "sid-00ab.map", "prog.sym", "70.dat"};

static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t size)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (!g_file_set_contents_full(path, (const char *)bytes, (gssize)size, G_FILE_SET_CONTENTS_NONE,
                                  0600, NULL))
        g_error("%s cannot be written", path);
}

static void write_files(const char *folder, const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        size_t length = size;
        if (i + 1 < G_N_ELEMENTS(names)) {
            size_t told = size < 2 ? 0 : (size_t)data[0] | (size_t)data[1] << 8;
            size_t head = MIN(size, (size_t)2);
            data += head;
            size -= head;
            length = MIN(told, size);
        }
        write_file(folder, names[i], data, length);
        data += length;
        size -= length;
    }
}

static void remove_files(const char *folder)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("fuzz-uftrace-XXXXXX", NULL);
    if (folder == NULL)
        g_error("no temporary folder");
    write_files(folder, data, size);
    if (fm_import_uftrace(folder, "prog", &profile, &error)) {
        if (!fm_analysis_new(profile, NULL, &analysis, &error))
            g_error("what was accepted is not analysed: %s", error->message);
    } else if (error == NULL || strstr(error->message, folder) == NULL) {
        g_error("refused without naming the folder: %s", error == NULL ? "" : error->message);
    }
    remove_files(folder);
    return 0;
}
