/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes packed into a profile: those written are read, damaged ones are refused. */
#include <string.h>

#include "base/error.h"
#include "compare.h"
#include "profile/file/attached/attached.h"

#define SIZE 4096u /* bytes that pack well */

static void attach(struct fm_profile *profile, enum fm_attachment_kind kind, const uint8_t *bytes,
                   size_t size)
{
    struct fm_writer *writer = fm_writer_new_memory();
    fm_writer_bytes(writer, bytes, size);
    fm_profile_attach(profile, kind, writer);
}

static void assert_attached(const struct fm_profile *profile, enum fm_attachment_kind kind,
                            const uint8_t *bytes, size_t size)
{
    struct fm_attached_bytes found;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_attached_find(NULL, "/nowhere/x.data", profile, kind, &found, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(found.size, ==, size);
    g_assert_cmpint(memcmp(found.bytes, bytes, size), ==, 0);
    g_assert_true(fm_attached_end(&found, true, &error));
}

static void fill(uint8_t bytes[SIZE])
{
    for (unsigned i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i / 16);
}

static void what_is_written_is_read(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_NONE);
    uint8_t bytes[SIZE];
    fill(bytes);
    attach(profile, FM_ATTACHED_CODE, (const uint8_t *)"old", 3);
    attach(profile, FM_ATTACHED_CODE, bytes, SIZE);
    attach(profile, FM_ATTACHED_SOURCES, (const uint8_t *)"", 0);
    g_assert_cmpuint(profile->attached[FM_ATTACHED_CODE].packed_size, <, SIZE / 4);
    g_autoptr(GBytes) file = encode(profile, 9, false);
    g_autoptr(FmProfile) again = decode(file);
    g_autoptr(GBytes) twice = encode(again, 9, false);
    g_assert_true(g_bytes_equal(file, twice));
    assert_attached(again, FM_ATTACHED_CODE, bytes, SIZE);
    assert_attached(again, FM_ATTACHED_SOURCES, (const uint8_t *)"", 0);
    struct fm_attached_bytes found;
    g_autoptr(GError) error = NULL;
    g_assert_false(
        fm_attached_find(NULL, "/nowhere/x.data", again, FM_ATTACHED_LINES, &found, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_NOT_FOUND);
}

/* Mercury's form of a C profile has no facts. */
static void mercurys_form_has_none(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_NONE);
    g_autoptr(GBytes) without = encode(profile, 9, true);
    attach(profile, FM_ATTACHED_LINES, (const uint8_t *)"lines", 5);
    g_autoptr(GBytes) with = encode(profile, 9, true);
    g_assert_true(g_bytes_equal(with, without));
}

/* Bytes that would be packed into less than a thousandth are kept as they are, so that a reader can
 * refuse a few bytes that claim to be many. */
static void what_packs_too_well_is_not_packed(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_NONE);
    size_t size = (size_t)8 << 20;
    g_autofree uint8_t *zeros = g_malloc0(size);
    attach(profile, FM_ATTACHED_LINES, zeros, size);
    g_assert_cmpuint(profile->attached[FM_ATTACHED_LINES].packed_size, ==, size);
    assert_attached(profile, FM_ATTACHED_LINES, zeros, size);
}

static void assert_refused(const uint8_t *start, size_t size, enum fm_error code, const char *text)
{
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_profile_read_bytes("wrong", start, size, NULL, &none, &error));
    g_assert_error(error, FM_ERROR, (int)code);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, text));
}

/* The fact begins behind the 0 that ends the nodes: kind 50, lines, size and packed size of two
 * bytes each. */
static void what_is_damaged_is_refused(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_NONE);
    uint8_t bytes[SIZE];
    fill(bytes);
    g_autoptr(GBytes) plain = encode(profile, 9, false);
    attach(profile, FM_ATTACHED_LINES, bytes, SIZE);
    g_autoptr(GBytes) file = encode(profile, 9, false);
    gsize size, packed = profile->attached[FM_ATTACHED_LINES].packed_size;
    const uint8_t *start = g_bytes_get_data(file, &size);
    const uint8_t nodes_end_here[] = {0, 50, 0, 0x80 | SIZE >> 7, SIZE & 0x7f};
    const uint8_t *fact = memmem(start, size, nodes_end_here, sizeof nodes_end_here);
    g_assert_nonnull(fact);
    size_t at = (size_t)(fact - start) + 1, length = 4 + (packed < 128 ? 1u : 2u) + packed;
    for (size_t cut = at + 1; cut < at + length; cut++) {
        g_autoptr(FmProfile) none = NULL;
        g_assert_false(fm_profile_read_bytes("cut", start, cut, NULL, &none, NULL));
    }
    g_autofree uint8_t *copy = g_malloc(2 * size);
    memcpy(copy, start, size);
    copy[at + 1] = FM_ATTACHED_KINDS;
    assert_refused(copy, size, FM_ERROR_FORMAT,
                   "kind of what is attached is 3, expected at most 2");
    memcpy(copy, start, size);
    memcpy(copy + at + length, start + at, size - at);
    assert_refused(copy, size + length, FM_ERROR_FORMAT, "source lines again, expected them once");
    const uint8_t bomb[] = {50, 0, 0x84, 0x80, 0x80, 0x80, 0, 4, 1, 2, 3, 4};
    memcpy(copy, start, at);
    memcpy(copy + at, bomb, sizeof bomb);
    assert_refused(copy, at + sizeof bomb, FM_ERROR_FORMAT, "expected at least a 1024th");
    /* Damaged packed bytes do not keep a profile from being read: its pages tell. */
    memcpy(copy, start, size);
    memset(copy + at + 6, 0xff, packed / 2);
    g_autoptr(FmProfile) read = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_attached_bytes found;
    g_assert_true(fm_profile_read_bytes("x", copy, size, NULL, &read, &error));
    g_assert_false(fm_attached_find(NULL, "x.data", read, FM_ATTACHED_LINES, &found, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_assert_cmpstr(error->message, ==, "x.data, its source lines: the packed bytes are damaged");
    gsize plain_size;
    g_bytes_get_data(plain, &plain_size);
    g_assert_cmpuint(plain_size, <, size);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deep/attached/written", what_is_written_is_read);
    g_test_add_func("/deep/attached/mercury", mercurys_form_has_none);
    g_test_add_func("/deep/attached/not-packed", what_packs_too_well_is_not_packed);
    g_test_add_func("/deep/attached/damaged", what_is_damaged_is_refused);
    return g_test_run();
}
