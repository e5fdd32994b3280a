/* SPDX-License-Identifier: Apache-2.0 */
/* In English and without colours the note is
 *   cc1: note: disable pass tree-tailc for functions in the range of [0, 4294967295]
 *
 * Translations keep the name of the program, that of the pass, and the number. */
#include "record/toolchain/note_filter.h"

#include <string.h>

#include "runtime/grades.h"

#define HELD_MAX 1024 /* bytes; the note in the wordiest language has 200 */

void fm_note_filter_init(struct fm_note_filter *filter)
{
    *filter = (struct fm_note_filter){.held = g_string_new(NULL)};
}

void fm_note_filter_done(struct fm_note_filter *filter)
{
    g_string_free(filter->held, TRUE);
}

/* The text behind the escape sequence that begins here; NULL: it is not whole yet. */
static const char *skip_escape(const char *text)
{
    if (text[1] == '\0')
        return NULL;
    if (text[1] != '[')
        return text + 1;
    text += 2;
    while (*text != '\0' && !g_ascii_isalpha(*text))
        text++;
    return *text == '\0' ? NULL : text + 1;
}

enum beginning { BEGINNING_OTHER, BEGINNING_OPEN, BEGINNING_NOTE };

/* Whether the text begins with "cc1:" or the like, ignoring colours. Open: more text is needed to
 * decide. */
static enum beginning compare(const char *text, const char *name)
{
    while (*name != '\0') {
        if (*text == '\33') {
            text = skip_escape(text);
            if (text == NULL)
                return BEGINNING_OPEN;
        } else if (*text == '\0') {
            return BEGINNING_OPEN;
        } else if (*text++ != *name++) {
            return BEGINNING_OTHER;
        }
    }
    return BEGINNING_NOTE;
}

static enum beginning beginning_of(const char *text)
{
    static const char *const names[] = {
        "cc1:", "cc1plus:", "lto1:", "cc1obj:", "cc1objplus:", "f951:", "d21:", "gnat1:"};
    enum beginning best = BEGINNING_OTHER;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        best = MAX(best, compare(text, names[i]));
    return best;
}

static bool is_note(const char *line)
{
    return strstr(line, "tree-tailc") != NULL && strstr(line, "4294967295") != NULL;
}

static void hand_on(struct fm_note_filter *filter, GString *out)
{
    g_string_append_len(out, filter->held->str, (gssize)filter->held->len);
    g_string_truncate(filter->held, 0);
    filter->decided = false;
}

static void pass_byte(struct fm_note_filter *filter, char byte, GString *out)
{
    GString *held = filter->held;
    g_string_append_c(held, byte);
    if (byte == '\n') {
        if (filter->decided && is_note(held->str))
            g_string_truncate(held, 0);
        hand_on(filter, out);
        return;
    }
    if (!filter->decided) {
        enum beginning beginning = beginning_of(held->str);
        filter->decided = beginning == BEGINNING_NOTE;
        filter->inside = beginning == BEGINNING_OTHER;
    }
    filter->inside |= held->len >= HELD_MAX;
    if (filter->inside)
        hand_on(filter, out);
}

void fm_note_filter_pass(struct fm_note_filter *filter, const char *bytes, gsize size, GString *out)
{
    g_return_if_fail(filter->held != NULL);
    for (gsize at = 0; at < size; at++) {
        if (filter->inside) {
            const char *end = memchr(bytes + at, '\n', size - at);
            gsize rest = end == NULL ? size - at : (gsize)(end - bytes) + 1 - at;
            g_string_append_len(out, bytes + at, (gssize)rest);
            filter->inside = end == NULL;
            at += rest - 1;
        } else {
            pass_byte(filter, bytes[at], out);
        }
    }
    g_assert(filter->held->len == 0 || !filter->inside);
}

void fm_note_filter_end(struct fm_note_filter *filter, GString *out)
{
    hand_on(filter, out);
}

bool fm_note_filter_is_needed(const char *const *arguments)
{
    for (; *arguments != NULL; arguments++) {
        if (strcmp(*arguments, FM_LOOPS_ONLY) == 0)
            return true;
    }
    return false;
}
