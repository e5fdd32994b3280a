/* SPDX-License-Identifier: Apache-2.0 */
/* A header of counts, the arrays as in memory, the texts. A pointer to a text is replaced by its
 * offset among the texts. */
#include "record/known/pack.h"

#include <stddef.h>
#include <string.h>

#define NO_TEXT UINT64_MAX
#define ALIGN 8u
#define LARGE_BYTES (UINT64_C(256) << 20)

enum part {
    PROCS,
    SCOPES,
    SEGMENTS,
    MACHINE_SITES,
    SITES,
    POINTS,
    CODE_LINES,
    ENTRIES,
    SYMBOLS,
    PARTS
};

struct header {
    uint32_t counts[PARTS];
    uint32_t has_debug;
    uint64_t path, debug_note; /* texts */
    uint64_t text_bytes;
};

enum field_kind {
    TEXT,
    TEXT_OR_NONE,
    FLAG,
    INDEX,          /* into a part */
    INDEX_OR_NONE,  /* or FM_NONE */
    INDEX_OR_ENTRY, /* or FM_NONE, FM_POINT_ENTRY */
    KIND,           /* enum fm_site_kind */
};

struct field {
    uint16_t offset;
    uint8_t kind, part;
};

#define FIELD(type, name, kind, part)           \
    {                                           \
        offsetof(struct type, name), kind, part \
    }

static const struct field proc_fields[] = {
    FIELD(fm_proc, name, TEXT, 0),           FIELD(fm_proc, linkage, TEXT, 0),
    FIELD(fm_proc, unit, TEXT, 0),           FIELD(fm_proc, file, TEXT, 0),
    FIELD(fm_proc, variadic, FLAG, 0),       FIELD(fm_proc, external, FLAG, 0),
    FIELD(fm_proc, virtual_method, FLAG, 0), FIELD(fm_proc, cplusplus, FLAG, 0),
    FIELD(fm_proc, instrumented, FLAG, 0),   FIELD(fm_proc, left_out, FLAG, 0),
    FIELD(fm_proc, inlined, FLAG, 0),        FIELD(fm_proc, nameless, FLAG, 0),
};
static const struct field scope_fields[] = {
    FIELD(fm_scope, proc, INDEX, PROCS),
    FIELD(fm_scope, parent, INDEX_OR_NONE, SCOPES),
    FIELD(fm_scope, site, INDEX_OR_NONE, SITES),
    FIELD(fm_scope, call_file, TEXT, 0),
    FIELD(fm_scope, live, FLAG, 0),
};
static const struct field segment_fields[] = {FIELD(fm_segment, scope, INDEX, SCOPES)};
static const struct field machine_site_fields[] = {
    FIELD(fm_machine_site, target_name, TEXT_OR_NONE, 0),
    FIELD(fm_machine_site, file, TEXT, 0),
    FIELD(fm_machine_site, scope, INDEX_OR_NONE, SCOPES),
    FIELD(fm_machine_site, site, INDEX_OR_NONE, SITES),
    FIELD(fm_machine_site, indirect, FLAG, 0),
    FIELD(fm_machine_site, virtual_call, FLAG, 0),
};
static const struct field site_fields[] = {
    FIELD(fm_site, kind, KIND, 0),
    FIELD(fm_site, proc, INDEX, PROCS),
    FIELD(fm_site, callee, INDEX_OR_NONE, PROCS),
    FIELD(fm_site, callee_name, TEXT_OR_NONE, 0),
    FIELD(fm_site, file, TEXT, 0),
    FIELD(fm_site, inlined, FLAG, 0),
};
static const struct field point_fields[] = {
    FIELD(fm_point, scope, INDEX_OR_NONE, SCOPES),
    FIELD(fm_point, owner, INDEX_OR_NONE, SCOPES),
    FIELD(fm_point, file, TEXT, 0),
    FIELD(fm_point, entry, FLAG, 0),
    FIELD(fm_point, same_as, INDEX_OR_ENTRY, POINTS),
};
static const struct field code_line_fields[] = {
    FIELD(fm_code_line, proc, INDEX, PROCS),
    FIELD(fm_code_line, point, INDEX_OR_ENTRY, POINTS),
};
static const struct field entry_fields[] = {FIELD(fm_entry, proc, INDEX, PROCS)};
static const struct field symbol_fields[] = {
    FIELD(fm_symbol, name, TEXT, 0),
    FIELD(fm_symbol, function, FLAG, 0),
    FIELD(fm_symbol, global, FLAG, 0),
};

static const struct {
    size_t size;            /* size of an element */
    size_t elements, count; /* offsets in struct fm_statics */
    const struct field *fields;
    size_t field_count;
} parts[PARTS] = {
#define PART(name, count, type, fields)                                      \
    {                                                                        \
        sizeof(struct type), offsetof(struct fm_statics, name),              \
            offsetof(struct fm_statics, count), fields, G_N_ELEMENTS(fields) \
    }
    [PROCS] = PART(procs, proc_count, fm_proc, proc_fields),
    [SCOPES] = PART(scopes, scope_count, fm_scope, scope_fields),
    [SEGMENTS] = PART(segments, segment_count, fm_segment, segment_fields),
    [MACHINE_SITES] = PART(machine_sites, machine_site_count, fm_machine_site, machine_site_fields),
    [SITES] = PART(sites, site_count, fm_site, site_fields),
    [POINTS] = PART(points, point_count, fm_point, point_fields),
    [CODE_LINES] = PART(code_lines, code_line_count, fm_code_line, code_line_fields),
    [ENTRIES] = PART(entries, entry_count, fm_entry, entry_fields),
    [SYMBOLS] = PART(symbols, symbol_count, fm_symbol, symbol_fields),
};

G_STATIC_ASSERT(sizeof(void *) == sizeof(uint64_t));
G_STATIC_ASSERT(sizeof(struct header) % ALIGN == 0);
G_STATIC_ASSERT(offsetof(struct fm_point, block) + sizeof(uint32_t) == sizeof(struct fm_point));

/* Padding bytes of elements are undefined, so they are not stored. */
#define AFTER(type, name) (offsetof(struct type, name) + sizeof((struct type){0}.name))
static const struct {
    uint16_t part, from, to;
} gaps[] = {
    {PROCS, AFTER(fm_proc, inlined), offsetof(struct fm_proc, entry)},
    {SCOPES, AFTER(fm_scope, live), sizeof(struct fm_scope)},
    {SEGMENTS, AFTER(fm_segment, scope), sizeof(struct fm_segment)},
    {MACHINE_SITES, AFTER(fm_machine_site, virtual_call), sizeof(struct fm_machine_site)},
    {SITES, AFTER(fm_site, callee), offsetof(struct fm_site, callee_name)},
    {SITES, AFTER(fm_site, inlined), sizeof(struct fm_site)},
    {POINTS, AFTER(fm_point, entry), offsetof(struct fm_point, same_as)},
    {ENTRIES, AFTER(fm_entry, proc), sizeof(struct fm_entry)},
    {SYMBOLS, AFTER(fm_symbol, global), sizeof(struct fm_symbol)},
};

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static bool is_text(uint8_t kind)
{
    return kind == TEXT || kind == TEXT_OR_NONE;
}

static uint32_t *count_in(struct fm_statics *statics, int part)
{
    return (uint32_t *)(void *)((char *)statics + parts[part].count);
}

static void **elements_in(struct fm_statics *statics, int part)
{
    return (void **)(void *)((char *)statics + parts[part].elements);
}

/* Packing */

struct texts {
    GByteArray *bytes;
    GHashTable *known; /* pointer -> offset + 1 */
};

static uint64_t add_text(struct texts *texts, const char *text)
{
    if (text == NULL)
        return NO_TEXT;
    gpointer key = (gpointer)(uintptr_t)text;
    gpointer found = g_hash_table_lookup(texts->known, key);
    if (found != NULL)
        return (uint64_t)GPOINTER_TO_SIZE(found) - 1;
    uint64_t offset = texts->bytes->len;
    g_byte_array_append(texts->bytes, (const guint8 *)text, (guint)strlen(text) + 1);
    g_hash_table_insert(texts->known, key, GSIZE_TO_POINTER(offset + 1));
    return offset;
}

static void clear_gaps(char *elements, uint32_t count, int part)
{
    for (size_t gap = 0; gap < G_N_ELEMENTS(gaps); gap++) {
        for (uint32_t i = 0; gaps[gap].part == part && i < count; i++)
            memset(elements + parts[part].size * i + gaps[gap].from, 0,
                   gaps[gap].to - gaps[gap].from);
    }
}

static void pack_part(GByteArray *out, struct texts *texts, const struct fm_statics *statics,
                      int part)
{
    const char *from = *(void *const *)(const void *)((const char *)statics + parts[part].elements);
    uint32_t count = *(const uint32_t *)(const void *)((const char *)statics + parts[part].count);
    size_t size = parts[part].size, begin = out->len;
    g_byte_array_set_size(out, (guint)aligned(begin + size * count));
    memset(out->data + begin, 0, out->len - begin);
    if (count > 0)
        memcpy(out->data + begin, from, size * count);
    clear_gaps((char *)out->data + begin, count, part);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[part].field_count; k++) {
            const struct field *field = &parts[part].fields[k];
            if (!is_text(field->kind))
                continue;
            const char *text;
            memcpy(&text, from + size * i + field->offset, sizeof text);
            uint64_t offset = add_text(texts, text);
            memcpy(out->data + begin + size * i + field->offset, &offset, sizeof offset);
        }
    }
}

/* An array of bytes holds 4 GB; texts are usually shorter than the data that refers to them. */
static bool is_large(const struct fm_statics *statics)
{
    uint64_t size = 0;
    for (int part = 0; part < PARTS; part++)
        size += parts[part].size *
                *(const uint32_t *)(const void *)((const char *)statics + parts[part].count);
    return size > LARGE_BYTES;
}

GByteArray *fm_statics_pack(const struct fm_statics *statics)
{
    g_return_val_if_fail(statics != NULL, NULL);
    if (is_large(statics))
        return NULL;
    struct texts texts = {g_byte_array_new(), g_hash_table_new(g_direct_hash, g_direct_equal)};
    GByteArray *out = g_byte_array_new();
    struct header header = {
        .has_debug = statics->has_debug,
        .path = add_text(&texts, statics->path),
        .debug_note = add_text(&texts, statics->debug_note),
    };
    g_byte_array_set_size(out, sizeof header);
    for (int part = 0; part < PARTS; part++) {
        header.counts[part] =
            *(const uint32_t *)(const void *)((const char *)statics + parts[part].count);
        pack_part(out, &texts, statics, part);
    }
    header.text_bytes = texts.bytes->len;
    memcpy(out->data, &header, sizeof header);
    g_byte_array_append(out, texts.bytes->data, texts.bytes->len);
    g_byte_array_unref(texts.bytes);
    g_hash_table_unref(texts.known);
    return out;
}

/* Unpacking */

struct unpacking {
    struct fm_statics *statics;
    struct header header;
    const char *texts;
};

/* Puts the pointer to a text in the place of its number. */
static bool mend_text(const struct unpacking *in, uint8_t kind, char *place)
{
    uint64_t offset;
    const char *text = NULL;
    memcpy(&offset, place, sizeof offset);
    if (offset < in->header.text_bytes)
        text = in->texts + offset;
    else if (offset != NO_TEXT || kind != TEXT_OR_NONE)
        return false;
    memcpy(place, &text, sizeof text);
    return true;
}

static bool check_number(const struct unpacking *in, const struct field *field, const char *place)
{
    uint32_t value;
    memcpy(&value, place, sizeof value);
    if (field->kind == KIND)
        return value <= FM_SITE_CALLBACK;
    if (value < in->header.counts[field->part])
        return true;
    if (value == FM_NONE)
        return field->kind != INDEX;
    return value == FM_POINT_ENTRY && field->kind == INDEX_OR_ENTRY;
}

static bool mend_part(const struct unpacking *in, int part)
{
    char *at = *elements_in(in->statics, part);
    for (uint32_t i = 0; i < in->header.counts[part]; i++, at += parts[part].size) {
        for (size_t k = 0; k < parts[part].field_count; k++) {
            const struct field *field = &parts[part].fields[k];
            char *place = at + field->offset;
            bool fine = is_text(field->kind)  ? mend_text(in, field->kind, place)
                        : field->kind == FLAG ? *place == 0 || *place == 1
                                              : check_number(in, field, place);
            if (!fine)
                return false;
        }
    }
    return true;
}

/* Checks invariants between elements: order where binary search is used, no cycles. */
static bool check_order(const struct fm_statics *s)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->proc_count; i++)
        ok &= s->procs[i].site_first <= s->site_count &&
              s->procs[i].site_count <= s->site_count - s->procs[i].site_first;
    for (uint32_t i = 0; i < s->scope_count; i++)
        ok &= s->scopes[i].parent == FM_NONE || s->scopes[i].parent < i;
    for (uint32_t i = 0; i < s->segment_count; i++)
        ok &= s->segments[i].low < s->segments[i].high &&
              (i == 0 || s->segments[i - 1].high <= s->segments[i].low);
    for (uint32_t i = 1; i < s->machine_site_count; i++)
        ok &= s->machine_sites[i - 1].return_address <= s->machine_sites[i].return_address;
    for (uint32_t i = 1; i < s->point_count; i++)
        ok &= s->points[i - 1].return_address <= s->points[i].return_address;
    for (uint32_t i = 1; i < s->entry_count; i++)
        ok &= s->entries[i - 1].address < s->entries[i].address;
    for (uint32_t i = 1; i < s->symbol_count; i++)
        ok &= s->symbols[i - 1].address <= s->symbols[i].address;
    return ok;
}

/* Takes the arrays from the bytes; *ret_texts: where the texts begin. */
static bool take_parts(struct unpacking *in, const uint8_t *bytes, size_t size)
{
    size_t at = sizeof in->header;
    for (int part = 0; part < PARTS; part++) {
        uint32_t count = in->header.counts[part];
        size_t used = parts[part].size * count; /* < 2^40 */
        if (used > size - at || aligned(at + used) > size)
            return false;
        *elements_in(in->statics, part) = g_memdup2(bytes + at, used);
        *count_in(in->statics, part) = count;
        at = aligned(at + used);
    }
    if (in->header.text_bytes == 0 || in->header.text_bytes != size - at || bytes[size - 1] != '\0')
        return false;
    in->texts = in->statics->block = g_memdup2(bytes + at, size - at);
    return true;
}

struct fm_statics *fm_statics_unpack(const uint8_t *bytes, size_t size)
{
    g_return_val_if_fail(bytes != NULL || size == 0, NULL);
    struct unpacking in = {0};
    if (size < sizeof in.header)
        return NULL;
    memcpy(&in.header, bytes, sizeof in.header);
    g_autoptr(FmStatics) statics = in.statics = g_new0(struct fm_statics, 1);
    bool ok = take_parts(&in, bytes, size) && in.header.has_debug <= 1 &&
              mend_text(&in, TEXT, (char *)&in.header.path) &&
              mend_text(&in, TEXT_OR_NONE, (char *)&in.header.debug_note);
    for (int part = 0; ok && part < PARTS; part++)
        ok = mend_part(&in, part);
    if (!ok || !check_order(statics))
        return NULL;
    memcpy(&statics->path, &in.header.path, sizeof statics->path);
    memcpy(&statics->debug_note, &in.header.debug_note, sizeof statics->debug_note);
    statics->has_debug = in.header.has_debug == 1;
    return g_steal_pointer(&statics);
}
