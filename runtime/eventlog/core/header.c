/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a log: the library's event types, and those that the program declares. */
#include "core/types.h"

unsigned fm_el_types_count(void)
{
    return fm_el_types_own + fm_el_user_types_close();
}

static void put_entry(struct fm_el_bytes *b, const struct fm_el_type *t)
{
    static const char prefix[] = "fields:";
    fm_el_put(b, "etb", 4);
    fm_el_put16(b, t->number);
    fm_el_put16(b, t->size);
    fm_el_put32(b, (uint32_t)strlen(t->text));
    fm_el_put(b, t->text, strlen(t->text));
    if (t->fields) {
        fm_el_put32(b, (uint32_t)(sizeof(prefix) - 1 + strlen(t->fields)));
        fm_el_put(b, prefix, sizeof(prefix) - 1);
        fm_el_put(b, t->fields, strlen(t->fields));
    } else {
        fm_el_put32(b, 0);
    }
    fm_el_put(b, "ete", 4);
}

void fm_el_type_entry(struct fm_el_bytes *b, uint16_t index)
{
    struct fm_el_type user = {0};
    if (index < fm_el_types_own) {
        put_entry(b, &fm_el_types[index]);
        return;
    }
    user.number = (uint16_t)(FM_EVENTLOG_EVENT_FIRST + index - fm_el_types_own);
    user.size = fm_el_sizes[user.number];
    fm_el_user_type(index - fm_el_types_own, &user.text, &user.fields);
    put_entry(b, &user);
}

void fm_el_header(struct fm_el_bytes *b)
{
    fm_el_put(b, "hdrbhetb", 8);
    unsigned count = fm_el_types_count();
    for (unsigned i = 0; i < count; i++)
        fm_el_type_entry(b, (uint16_t)i);
    fm_el_put(b, "hetehdredatb", 12);
}
