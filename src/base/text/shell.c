/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/shell.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/utf8.h"

/* characters that are special to some shell inside a word */
#define SPECIAL " '\"\\$&;|<>()*?[]#~`!{}"

static bool is_unsafe(const char *at, unsigned size)
{
    return size == 0 || fm_utf8_is_unsafe(fm_utf8_decode(at, size));
}

static void append_byte(GString *out, unsigned char byte)
{
    static const char named[] = "\n\t\r", letters[] = "ntr";
    const char *name = strchr(named, byte);
    if (name != NULL)
        g_string_append_printf(out, "\\%c", letters[name - named]);
    else
        g_string_append_printf(out, "\\%03o", byte);
}

static GString *escaped(const char *text, const char *special)
{
    GString *out = g_string_new(NULL);
    while (*text != '\0') {
        unsigned size = fm_utf8_size(text), step = MAX(size, 1);
        bool unsafe = is_unsafe(text, size);
        for (unsigned i = 0; i < step && unsafe; i++)
            append_byte(out, (unsigned char)text[i]);
        if (!unsafe && strchr(special, text[0]) != NULL)
            g_string_append_c(out, '\\');
        if (!unsafe)
            g_string_append_len(out, text, step);
        text += step;
    }
    return out;
}

char *fm_text_escaped(const char *text)
{
    g_return_val_if_fail(text != NULL, NULL);
    return g_string_free(escaped(text, "\\"), FALSE);
}

char *fm_shell_word(const char *text)
{
    g_return_val_if_fail(text != NULL, NULL);
    bool unsafe = false;
    for (const char *at = text; *at != '\0' && !unsafe;) {
        unsigned size = fm_utf8_size(at);
        unsafe = is_unsafe(at, size);
        at += MAX(size, 1);
    }
    if (!unsafe)
        return text[0] != '\0' && strpbrk(text, SPECIAL) == NULL ? g_strdup(text)
                                                                 : g_shell_quote(text);
    g_autoptr(GString) inner = escaped(text, "\\'");
    return g_strdup_printf("$'%s'", inner->str);
}
