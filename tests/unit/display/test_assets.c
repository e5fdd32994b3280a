/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <glib/gstdio.h>

#include "display/html/assets.h"

/* Files of web/, or one that the build joins of some of them. */
static char *asset_path(const char *name)
{
    char *path = g_test_build_filename(G_TEST_DIST, "web", name, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return path;
    g_free(path);
    return g_test_build_filename(G_TEST_BUILT, "src", "display", name, NULL);
}

/* The program carries the files of web/ byte for byte. */
static void embedded_files_are_those_of_the_folder(void)
{
    const char *const *names = fm_asset_names();
    unsigned count = 0;

    for (; names[count]; count++) {
        g_autofree char *path = asset_path(names[count]);
        g_autofree char *data = NULL;
        struct fm_asset asset;
        gsize size, embedded_size;

        g_assert_true(g_file_get_contents(path, &data, &size, NULL));
        g_assert_true(fm_asset_get(names[count], &asset));
        gconstpointer embedded = g_bytes_get_data(asset.data, &embedded_size);
        g_assert_cmpuint(embedded_size, ==, size);
        g_assert_true(memcmp(embedded, data, size) == 0);
        g_autofree char *sum =
            g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)data, size);
        g_assert_cmpuint(strlen(asset.etag), ==, 16);
        g_assert_cmpmem(asset.etag, 16, sum, 16);
        fm_asset_done(&asset);
        g_assert_null(asset.data);
    }
    g_assert_cmpuint(count, >=, 2);
}

static void types_are_told(void)
{
    struct fm_asset asset;

    g_assert_true(fm_asset_get("style.css", &asset));
    g_assert_cmpstr(asset.type, ==, "text/css; charset=utf-8");
    fm_asset_done(&asset);
    g_assert_true(fm_asset_get("fathom.js", &asset));
    g_assert_cmpstr(asset.type, ==, "text/javascript; charset=utf-8");
    fm_asset_done(&asset);
}

static void no_name_leads_out_of_the_folder(void)
{
    static const char *const names[] = {"",
                                        "/",
                                        "../style.css",
                                        "a/../b",
                                        ".hidden",
                                        "a//b",
                                        "/etc/passwd",
                                        "style.css/",
                                        "style.css/.",
                                        "a\\..\\b",
                                        "style.css\xFF",
                                        "no_such_file",
                                        "%2e%2e/x",
                                        "style.css "};
    g_autofree char *folder = g_dir_make_tmp("fathom-assets-XXXXXX", NULL);
    g_autofree char *inside = g_build_filename(folder, "web", NULL);
    g_autofree char *outside = g_build_filename(folder, "style.css", NULL);
    g_autofree char *file = g_build_filename(inside, "new.css", NULL);
    struct fm_asset asset;

    g_assert_cmpint(g_mkdir(inside, 0700), ==, 0);
    g_assert_true(g_file_set_contents(outside, "secret", -1, NULL));
    g_assert_true(g_file_set_contents(file, "p{}", -1, NULL));
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
            g_assert_false(fm_asset_get(names[i], &asset));
        fm_assets_set_folder(inside);
    }
    g_assert_false(fm_asset_get("style.css", &asset));
    g_assert_true(fm_asset_get("new.css", &asset));
    g_assert_cmpuint(g_bytes_get_size(asset.data), ==, 3);
    g_assert_true(memcmp(g_bytes_get_data(asset.data, NULL), "p{}", 3) == 0);
    g_assert_cmpuint(strlen(asset.etag), ==, 16);
    fm_asset_done(&asset);
    fm_assets_set_folder(NULL);
    g_assert_true(fm_asset_get("style.css", &asset));
    fm_asset_done(&asset);
    g_remove(file);
    g_remove(outside);
    g_rmdir(inside);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/assets/bytes", embedded_files_are_those_of_the_folder);
    g_test_add_func("/display/assets/types", types_are_told);
    g_test_add_func("/display/assets/names", no_name_leads_out_of_the_folder);
    return g_test_run();
}
