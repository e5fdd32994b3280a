/* SPDX-License-Identifier: Apache-2.0 */
/* Names may contain any bytes; output is valid UTF-8. */
#include "base/text/utf8.h"

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

unsigned fm_utf8_size(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;

    /* The table of well-formed sequences of the Unicode standard (section 3.9). */
    if (b[0] < 0x80)
        return 1;
    if (b[0] < 0xC2 || b[0] > 0xF4 || !is_continuation(b[1]))
        return 0;
    if (b[0] < 0xE0)
        return 2;
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) ||
        (b[0] == 0xF0 && b[1] < 0x90) || (b[0] == 0xF4 && b[1] > 0x8F) || !is_continuation(b[2]))
        return 0;
    if (b[0] < 0xF0)
        return 3;
    return is_continuation(b[3]) ? 4 : 0;
}

uint32_t fm_utf8_decode(const char *text, unsigned size)
{
    const unsigned char *b = (const unsigned char *)text;
    uint32_t character = size == 1 ? b[0] : b[0] & (0x7Fu >> size);

    for (unsigned i = 1; i < size; i++)
        character = character << 6 | (b[i] & 0x3Fu);
    return character;
}

bool fm_utf8_is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

void fm_utf8_append_clean(GString *out, const char *text)
{
    g_return_if_fail(out != NULL && text != NULL);
    while (*text != '\0') {
        unsigned size = fm_utf8_size(text);
        uint32_t character = size > 0 ? fm_utf8_decode(text, size) : 0xFFFD;

        if (character < 0x20 || character == 0x7F)
            g_string_append_unichar(out, character == 0x7F ? 0x2421 : 0x2400 + character);
        else if (size == 0 || fm_utf8_is_unsafe(character))
            g_string_append(out, "\xEF\xBF\xBD");
        else
            g_string_append_len(out, text, size);
        text += size > 0 ? size : 1;
    }
}
