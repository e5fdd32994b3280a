/* SPDX-License-Identifier: Apache-2.0 */
#include <glib.h>
#include <string.h>

#include "base/files/build_id.h"

static const unsigned char note_begin[] = {4, 0, 0, 0};

/* The note is in the program's file: name "GNU", then the very bytes. */
static void test_is_in_the_file(void)
{
    const char *id = fm_program_build_id();
    size_t digits = strlen(id);
    g_assert_cmpuint(digits, >=, 16);
    g_assert_cmpuint(strspn(id, "0123456789abcdefx"), ==, digits);
    g_assert_true(fm_program_build_id() == id);
    if (strchr(id, 'x') != NULL) {
        g_test_skip("this program was linked without the note");
        return;
    }
    g_autofree char *file = NULL;
    gsize size;
    g_assert_true(g_file_get_contents("/proc/self/exe", &file, &size, NULL));
    g_autoptr(GByteArray) note = g_byte_array_new();
    guint8 length[8] = {(guint8)(digits / 2), 0, 0, 0, 3};
    g_byte_array_append(note, note_begin, sizeof note_begin);
    g_byte_array_append(note, length, sizeof length);
    g_byte_array_append(note, (const guint8 *)"GNU", 4);
    for (size_t i = 0; i < digits; i += 2) {
        guint8 byte = (guint8)(g_ascii_xdigit_value(id[i]) * 16 + g_ascii_xdigit_value(id[i + 1]));
        g_byte_array_append(note, &byte, 1);
    }
    g_assert_nonnull(memmem(file, size, note->data, note->len));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/build-id/is-in-the-file", test_is_in_the_file);
    return g_test_run();
}
