/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "serve/http/internal.h"

static void gzip_is_accepted(void)
{
    static const struct {
        const char *header;
        bool accepted;
    } cases[] = {{NULL, false},        {"", false},
                 {"gzip", true},       {"deflate, GZIP;q=0.5, br", true},
                 {"gzip;q=0", false},  {"gzip; q=0.000", false},
                 {"x-gzipped", false}, {"identity", false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].header == NULL ? "(none)" : cases[i].header);
        g_assert_cmpint(fm_http_accepts_gzip(cases[i].header), ==, cases[i].accepted);
    }
}

static void packed_bytes_unpack_to_the_body(void)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 5000; i++)
        g_string_append_printf(text, "row %d, ", i);
    g_autoptr(GBytes) body = g_string_free_to_bytes(text);
    g_autoptr(GBytes) packed = fm_http_gzip(body);
    g_assert_nonnull(packed);
    g_assert_cmpuint(g_bytes_get_size(packed), <, g_bytes_get_size(body) / 2);
    gsize size = g_bytes_get_size(body);
    g_autofree Bytef *unpacked = g_malloc(size + 1);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)g_bytes_get_data(packed, NULL),
                       .avail_in = (uInt)g_bytes_get_size(packed),
                       .next_out = unpacked,
                       .avail_out = (uInt)size + 1};
    g_assert_cmpint(inflateInit2(&stream, 15 + 16), ==, Z_OK);
    g_assert_cmpint(inflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    g_assert_cmpuint(stream.total_out, ==, size);
    g_assert_cmpint(memcmp(unpacked, g_bytes_get_data(body, NULL), size), ==, 0);
    inflateEnd(&stream);
    g_autoptr(GBytes) little = g_bytes_new_static("little", 6);
    g_assert_null(fm_http_gzip(little));
}

static void validators_of_packed_bodies(void)
{
    g_autofree char *with = fm_http_etag_add_gzip("\"abc\"");
    g_assert_cmpstr(with, ==, "\"abc-gz\"");
    g_autofree char *without = fm_http_etags_without_gzip("\"abc-gz\", W/\"d-gz\", \"e\"");
    g_assert_cmpstr(without, ==, "\"abc\", W/\"d\", \"e\"");
    g_assert_null(fm_http_etags_without_gzip(NULL));
    g_assert_true(fm_http_etag_is_gzip("\"x\", \"abc-gz\"", "\"abc\""));
    g_assert_false(fm_http_etag_is_gzip("\"abc\"", "\"abc\""));
    g_assert_false(fm_http_etag_is_gzip(NULL, "\"abc\""));
}

static void tokens(void)
{
    static const char token[] = "a secret; with = odd&bytes";
    g_assert_true(fm_http_same_secret("abc", "abc"));
    g_assert_false(fm_http_same_secret("abc", "abd"));
    g_assert_false(fm_http_same_secret("abc", "abcd"));
    g_assert_false(fm_http_same_secret("", "abcd"));
    g_assert_true(fm_http_has_bearer("Bearer a secret; with = odd&bytes", token));
    g_assert_false(fm_http_has_bearer("Basic a secret; with = odd&bytes", token));
    g_assert_false(fm_http_has_bearer(NULL, token));
    g_assert_true(fm_http_has_cookie(
        "x=1; fathom_token=a%20secret%3B%20with%20%3D%20odd%26bytes; y=2", token));
    g_assert_false(fm_http_has_cookie("fathom_token=", token));
    g_assert_false(fm_http_has_cookie("other_fathom_token=a", "a"));
    g_assert_false(fm_http_has_cookie(NULL, token));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/http/gzip-is-accepted", gzip_is_accepted);
    g_test_add_func("/serve/http/gzip", packed_bytes_unpack_to_the_body);
    g_test_add_func("/serve/http/etag", validators_of_packed_bodies);
    g_test_add_func("/serve/http/token", tokens);
    return g_test_run();
}
