/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of files, by instructions of the processor where it has them, against GLib's. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/files/content_hash.h"

static void test_known(void)
{
    static const uint8_t expected[FM_CONTENT_HASH_BYTES] = {
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
        0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
        0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad}; /* of "abc", FIPS 180-4 */
    uint8_t hash[FM_CONTENT_HASH_BYTES];
    fm_content_hash_of_bytes((const uint8_t *)"abc", 3, hash);
    g_assert_cmpmem(hash, sizeof hash, expected, sizeof expected);
}

/* All sizes around the ends of blocks, at all places of a word. */
static void test_like_glib(void)
{
    uint8_t bytes[1100];
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)g_rand_int_range(rand, 0, 256);
    for (size_t size = 0; size < 1024 + 70; size++) {
        uint8_t hash[FM_CONTENT_HASH_BYTES], expected[FM_CONTENT_HASH_BYTES];
        gsize expected_size = sizeof expected;
        const uint8_t *from = bytes + size % 6;
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_checksum_update(checksum, from, (gssize)size);
        g_checksum_get_digest(checksum, expected, &expected_size);
        fm_content_hash_of_bytes(from, size, hash);
        g_assert_cmpmem(hash, sizeof hash, expected, (int)expected_size);
    }
}

static void test_of_file(void)
{
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "content", NULL);
    uint8_t of_file[FM_CONTENT_HASH_BYTES], of_bytes[FM_CONTENT_HASH_BYTES];
    g_assert_true(g_file_set_contents(path, "profile", -1, NULL));
    g_assert_true(fm_content_hash(path, of_file, NULL));
    fm_content_hash_of_bytes((const uint8_t *)"profile", strlen("profile"), of_bytes);
    g_assert_cmpmem(of_file, sizeof of_file, of_bytes, sizeof of_bytes);
    g_assert_cmpint(g_remove(path), ==, 0);
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_content_hash(path, of_file, &error));
    g_assert_nonnull(strstr(error->message, path));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/content-hash/known", test_known);
    g_test_add_func("/content-hash/like GLib's", test_like_glib);
    g_test_add_func("/content-hash/of a file", test_of_file);
    return g_test_run();
}
