/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/reader/eventlog.h"

#include <string.h>

enum {
    SIZE_U8 = 1,
    SIZE_U16 = 2,
    SIZE_U32 = 4,
    SIZE_U64 = 8,
    SIZE_I64 = 8,
    SIZE_F64 = 8,
    SIZE_TEXT = 0,
    SIZE_TEXT_BEFORE_4 = 0,
    SIZE_TEXTZ = 1,
    SIZE_TEXTZ_LIST = 0,
    SIZE_U32_LIST = 0,
    SIZE_DATA = 0,
};

enum {
    VARIES_U8 = 0,
    VARIES_U16 = 0,
    VARIES_U32 = 0,
    VARIES_U64 = 0,
    VARIES_I64 = 0,
    VARIES_F64 = 0,
    VARIES_TEXT = 1,
    VARIES_TEXT_BEFORE_4 = 1,
    VARIES_TEXTZ = 1,
    VARIES_TEXTZ_LIST = 1,
    VARIES_U32_LIST = 1,
    VARIES_DATA = 1,
};

/* The list is expanded three times: for sizes, for kinds of size, for the table. */
#define EMPTY(number, constant, name)

#define EVENT(number, constant, name, size, ...) enum { FIXED_##constant = 0 __VA_ARGS__ };
#define F(name, kind, unit) +SIZE_##kind
#define O(name, kind, unit)
#include "eventlog/reader/types.def"
#undef EVENT
#undef F
#undef O

#define EVENT(number, constant, name, size, ...) enum { VARIABLE_##constant = 0 __VA_ARGS__ };
#define F(name, kind, unit) | VARIES_##kind
#define O(name, kind, unit) F(name, kind, unit)
#include "eventlog/reader/types.def"
#undef EVENT
#undef EMPTY
#undef F
#undef O

#define ANY (-1)
#define EMPTY(number, constant, name) {number, name, -1, 0, false, 0, {{0}}},
#define EVENT(number, constant, name, size, ...)                                           \
    {number,                                                                               \
     name,                                                                                 \
     size,                                                                                 \
     FIXED_##constant,                                                                     \
     VARIABLE_##constant != 0,                                                             \
     sizeof((struct fm_eventlog_field[]){__VA_ARGS__}) / sizeof(struct fm_eventlog_field), \
     {__VA_ARGS__}},
#define F(name, kind, unit) {#name, FM_EVENTLOG_##kind, FM_EVENTLOG_UNIT_##unit, false},
#define O(name, kind, unit) {#name, FM_EVENTLOG_##kind, FM_EVENTLOG_UNIT_##unit, true},
static const struct fm_eventlog_type type_table[] = {
#include "eventlog/reader/types.def"
};

const struct fm_eventlog_type *fm_eventlog_types(size_t *ret_count)
{
    *ret_count = G_N_ELEMENTS(type_table);
    return type_table;
}

const struct fm_eventlog_type *fm_eventlog_type_find(uint16_t number, int32_t declared_size)
{
    size_t low = 0, high = G_N_ELEMENTS(type_table);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (type_table[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    const struct fm_eventlog_type *found = NULL;
    for (; low < G_N_ELEMENTS(type_table) && type_table[low].number == number; low++) {
        const struct fm_eventlog_type *type = &type_table[low];
        if (type->exact_size == declared_size && declared_size >= 0)
            return type;
        if (type->exact_size < 0 &&
            (declared_size < 0 || (uint32_t)declared_size >= type->fixed_size))
            found = type;
    }
    return found;
}

const struct fm_eventlog_type *fm_eventlog_type_named(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(type_table); i++) {
        if (strcmp(type_table[i].name, name) == 0)
            return &type_table[i];
    }
    return NULL;
}

char *fm_eventlog_type_label(uint16_t number)
{
    const struct fm_eventlog_type *type = fm_eventlog_type_find(number, -1);
    return type != NULL ? g_strdup(type->name) : g_strdup_printf("Unknown%u", number);
}

const char *fm_eventlog_kind_name(enum fm_eventlog_kind kind)
{
    static const char *const names[] = {"u8",   "u16",  "u32",   "u64",        "i64",      "f64",
                                        "text", "text", "textz", "textz list", "u32 list", "bytes"};
    return kind < G_N_ELEMENTS(names) ? names[kind] : "?";
}

const char *fm_eventlog_unit_name(enum fm_eventlog_unit unit)
{
    static const char *const names[] = {
        "",          "number",  "count",      "bytes",         "megablocks",  "ns",
        "s",         "thread",  "capability", "capset",        "capset type", "stop status",
        "breakdown", "process", "task",       "kernel thread", "cost centre", "string id",
        "address",   "flags",
    };
    return unit < G_N_ELEMENTS(names) ? names[unit] : "?";
}

const char *fm_eventlog_enum_name(enum fm_eventlog_unit unit, uint64_t value)
{
    static const char *const stops[] = {
        "none",
        "heap overflow",
        "stack overflow",
        "yield",
        "blocked",
        "finished",
        "foreign call",
        "blocked on MVar",
        "blocked on black hole",
        "blocked on read",
        "blocked on write",
        "blocked on delay",
        "blocked on STM",
        "blocked on DoProc",
        NULL,
        NULL,
        NULL,
        NULL,
        "blocked on throw-to",
        "migrating",
        "blocked on MVar read",
    };
    static const char *const capsets[] = {NULL, "custom", "process", "clock domain"};
    static const char *const breakdowns[] = {
        NULL,       "cost centre", "module",       "closure description", "type description",
        "retainer", "biography",   "closure type", "info table",          "era",
    };
    if (unit == FM_EVENTLOG_UNIT_STOP_STATUS && value < G_N_ELEMENTS(stops))
        return stops[value];
    if (unit == FM_EVENTLOG_UNIT_CAPSET_TYPE && value < G_N_ELEMENTS(capsets))
        return capsets[value];
    if (unit == FM_EVENTLOG_UNIT_BREAKDOWN && value < G_N_ELEMENTS(breakdowns))
        return breakdowns[value];
    return NULL;
}
