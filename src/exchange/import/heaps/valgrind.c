/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/heaps/valgrind.h"

#include <string.h>

/* The last balanced group of parentheses at the end: functions may have some, too. NULL: none. */
static const char *place_of(const char *text, size_t size)
{
    size_t at = size, open = 0;
    if (size == 0 || text[size - 1] != ')')
        return NULL;
    while (at-- > 0) {
        open += text[at] == ')';
        open -= text[at] == '(';
        if (open == 0)
            return at > 0 && text[at - 1] == ' ' ? text + at : NULL;
    }
    return NULL;
}

/* "prog.c:9", with a column behind it or not. */
static void take_place(const char *place, size_t size, struct fm_stacks_name *name, uint32_t *line)
{
    size_t end = size;
    if (size > 3 && memcmp(place, "in ", 3) == 0) {
        const char *slash = memrchr(place, '/', size);
        const char *base = slash == NULL ? place + 3 : slash + 1;
        name->unit = base;
        name->unit_size = (size_t)(place + size - base);
        return;
    }
    for (unsigned numbers = 0; numbers < 2; numbers++) {
        size_t at = end;
        uint64_t value = 0;
        while (at > 0 && g_ascii_isdigit(place[at - 1]))
            at--;
        if (at == end || at < 2 || place[at - 1] != ':')
            break;
        for (size_t i = at; i < end && value <= G_MAXUINT32; i++)
            value = value * 10 + (uint64_t)(place[i] - '0');
        *line =
            value <= G_MAXUINT32 ? (uint32_t)value : 0; /* of line and column the line is left */
        end = at - 1;
    }
    name->file = name->unit = place;
    name->file_size = name->unit_size = end;
}

uint32_t fm_import_valgrind_frame(struct fm_stacks *stacks, const char *text, size_t size,
                                  uint32_t *ret_line)
{
    struct fm_stacks_name name = {0};
    const char *colon = size > 2 && memcmp(text, "0x", 2) == 0 ? memmem(text, size, ": ", 2) : NULL;
    if (colon != NULL) {
        size -= (size_t)(colon + 2 - text);
        text = colon + 2;
    }
    *ret_line = 0;
    const char *place = place_of(text, size);
    name.name = text;
    name.size = place == NULL ? size : (size_t)(place - 1 - text);
    if (place != NULL)
        take_place(place + 1, (size_t)(text + size - 1 - (place + 1)), &name, ret_line);
    return fm_stacks_function(stacks, &name);
}
