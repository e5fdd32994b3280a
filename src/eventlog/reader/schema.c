/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts that a log's header describes, for numbers that are not in the table. */
#include <string.h>

#include "eventlog/reader/internal.h"

static const char prefix[] = "fields:";

static const struct {
    const char *name;
    uint8_t kind, unit, size;
} kinds[] = {
    {"w8", FM_EVENTLOG_U8, FM_EVENTLOG_UNIT_NUMBER, 1},
    {"w16", FM_EVENTLOG_U16, FM_EVENTLOG_UNIT_NUMBER, 2},
    {"w32", FM_EVENTLOG_U32, FM_EVENTLOG_UNIT_NUMBER, 4},
    {"w64", FM_EVENTLOG_U64, FM_EVENTLOG_UNIT_NUMBER, 8},
    {"i64", FM_EVENTLOG_I64, FM_EVENTLOG_UNIT_NUMBER, 8},
    {"f64", FM_EVENTLOG_F64, FM_EVENTLOG_UNIT_NONE, 8},
    {"addr", FM_EVENTLOG_U64, FM_EVENTLOG_UNIT_ADDRESS, 8},
    {"bytes", FM_EVENTLOG_U64, FM_EVENTLOG_UNIT_BYTES, 8},
    {"ns", FM_EVENTLOG_U64, FM_EVENTLOG_UNIT_NS, 8},
    {"name", FM_EVENTLOG_U32, FM_EVENTLOG_UNIT_STRING, 4},
    {"strz", FM_EVENTLOG_TEXTZ, FM_EVENTLOG_UNIT_NONE, 1},
    {"json", FM_EVENTLOG_TEXTZ, FM_EVENTLOG_UNIT_JSON, 1},
    {"str", FM_EVENTLOG_TEXT, FM_EVENTLOG_UNIT_NONE, 0},
    {"data", FM_EVENTLOG_DATA, FM_EVENTLOG_UNIT_NONE, 0},
};

/* Names are printed unescaped, so they must not end a quoted text or a line. */
static void clean(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        if (g_ascii_iscntrl(*c) || strchr("\"\\,= []", *c) != NULL || (*c & 0x80) != 0)
            *c = '_';
    }
}

static bool parse_field(char *text, struct fm_eventlog_field *ret, uint32_t *fixed_size)
{
    char *kind = strrchr(text, '=');
    if (kind == NULL || kind == text)
        return false;
    *kind++ = '\0';
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].name, kind) != 0)
            continue;
        clean(text);
        *ret = (struct fm_eventlog_field){text, kinds[i].kind, kinds[i].unit, false};
        *fixed_size += kinds[i].size;
        return true;
    }
    return false;
}

static bool takes_the_rest(uint8_t kind)
{
    return kind == FM_EVENTLOG_TEXT || kind == FM_EVENTLOG_DATA;
}

/* Cuts text into pieces; the fields point to them. */
static unsigned parse_fields(char *text, struct fm_eventlog_field *fields, uint32_t *fixed_size,
                             bool *variable)
{
    unsigned count = 0;
    *fixed_size = 0;
    *variable = false;
    for (char *next; text != NULL && *text != '\0' && count < FM_EVENTLOG_FIELDS_MAX; text = next) {
        next = strchr(text, ',');
        if (next != NULL)
            *next++ = '\0';
        if (!parse_field(text, &fields[count], fixed_size))
            return 0;
        uint8_t kind = fields[count++].kind;
        *variable |= takes_the_rest(kind) || kind == FM_EVENTLOG_TEXTZ;
        if (takes_the_rest(kind))
            break;
    }
    return count;
}

struct fm_eventlog_type *fm_eventlog_schema_parse(uint16_t number, int32_t size,
                                                  const uint8_t *name, uint32_t name_length,
                                                  const uint8_t *extra, uint32_t extra_length)
{
    struct fm_eventlog_field fields[FM_EVENTLOG_FIELDS_MAX];
    size_t skipped = strlen(prefix);
    if (extra_length < skipped || memcmp(extra, prefix, skipped) != 0 ||
        memchr(extra, 0, extra_length) != NULL || name_length == 0)
        return NULL;
    char *texts = g_malloc(name_length + 1 + extra_length - skipped + 1);
    char *list = texts + name_length + 1;
    memcpy(texts, name, name_length);
    texts[name_length] = '\0';
    clean(texts);
    memcpy(list, extra + skipped, extra_length - skipped);
    list[extra_length - skipped] = '\0';
    uint32_t fixed_size;
    bool variable;
    unsigned count = parse_fields(list, fields, &fixed_size, &variable);
    bool told = count > 0 || extra_length == skipped;
    if (!told || (size >= 0 && (variable || (uint32_t)size < fixed_size))) {
        g_free(texts);
        return NULL;
    }
    /* Allocates only the fields needed: a header may declare a hundred thousand types. */
    struct fm_eventlog_type *type =
        g_malloc0(offsetof(struct fm_eventlog_type, fields) + count * sizeof *fields);
    type->number = number;
    type->name = texts;
    type->exact_size = -1;
    type->fixed_size = fixed_size;
    type->variable = variable;
    type->field_count = (uint8_t)count;
    memcpy(type->fields, fields, count * sizeof *fields);
    return type;
}

void fm_eventlog_schema_free(void *data)
{
    struct fm_eventlog_type *type = data;
    g_free((char *)(uintptr_t)type->name);
    g_free(type);
}
