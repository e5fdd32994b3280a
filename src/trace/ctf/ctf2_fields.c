/* SPDX-License-Identifier: Apache-2.0 */
/* Field classes, by the table at the end. */
#include <string.h>

#include "trace/ctf/ctf2_internal.h"

/* DEPTH_MAX, FIELDS_MAX: aliases of aliases could make a small text an endless tree. */
enum { DEPTH_MAX = 64, FIELDS_MAX = 1 << 17, BITS_MAX = 64 };

#define ALIGNMENT_MAX (UINT64_C(1) << 20)

/* --- names --- */

/* Meanings that the reader of CTF 1.8 finds by name, for CTF 2's roles. */
static const struct {
    enum ctf2_scope scope;
    const char *role, *id;
    bool timed;
} roles[] = {
    {CTF2_PACKET_HEADER, "packet-magic-number", "magic", false},
    {CTF2_PACKET_HEADER, "metadata-stream-uuid", "uuid", false},
    {CTF2_PACKET_HEADER, "data-stream-class-id", "stream_id", false},
    {CTF2_PACKET_HEADER, "data-stream-id", "stream_instance_id", false},
    {CTF2_PACKET_CONTEXT, "packet-total-length", "packet_size", false},
    {CTF2_PACKET_CONTEXT, "packet-content-length", "content_size", false},
    {CTF2_PACKET_CONTEXT, "default-clock-timestamp", "timestamp_begin", true},
    {CTF2_PACKET_CONTEXT, "packet-end-default-clock-timestamp", "timestamp_end", true},
    {CTF2_PACKET_CONTEXT, "discarded-event-record-counter-snapshot", "events_discarded", false},
    {CTF2_PACKET_CONTEXT, "packet-sequence-number", "packet_seq_num", false},
    {CTF2_EVENT_HEADER, "event-record-class-id", "id", false},
    {CTF2_EVENT_HEADER, "default-clock-timestamp", "timestamp", true},
};

static bool has_role(struct fm_json_value class_, const char *role)
{
    struct fm_json_items items = fm_json_items(fm_json_member(class_, "roles"));
    struct fm_json_value item;
    while (fm_json_next(&items, NULL, &item)) {
        if (fm_json_equals(item, role))
            return true;
    }
    return false;
}

/* Its index in the table; -1: none. */
static int role_of(const struct ctf2_field *field)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(roles); i++) {
        if (roles[i].scope == field->scope && has_role(field->class_, roles[i].role))
            return (int)i;
    }
    return -1;
}

/* The name as an identifier. Those that the trace gives begin with an underscore, which the reader
 * removes: so they are no keywords of TSDL. They must be no names with a meaning either. */
static char *identifier(const struct ctf2_field *field)
{
    int role = role_of(field);
    if (role >= 0)
        return g_strdup(roles[role].id);
    GString *id = g_string_new("_");
    for (const char *c = field->name; *c != '\0'; c++)
        g_string_append_c(id, g_ascii_isalnum(*c) ? *c : '_');
    for (unsigned i = 0; i < G_N_ELEMENTS(roles); i++) {
        if (roles[i].scope == field->scope && strcmp(id->str + 1, roles[i].id) == 0)
            g_string_append_c(id, '_');
    }
    return g_string_free(id, FALSE);
}

/* --- values --- */

static bool read_field(struct ctf2 *ctf2, struct ctf2_field *field);

static struct ctf2_field *add_part(struct ctf2 *ctf2, struct ctf2_field *parent, char *name,
                                   struct fm_json_value class_)
{
    struct ctf2_field *field = g_new0(struct ctf2_field, 1);
    field->name = name;
    field->parent = parent;
    field->class_ = class_;
    field->alignment = 1;
    field->number = ctf2->field_count++;
    field->parts = g_ptr_array_new_with_free_func(fm_ctf2_field_free);
    if (parent != NULL) {
        field->scope = parent->scope;
        g_ptr_array_add(parent->parts, field);
    }
    return field;
}

static bool read_alignment(struct ctf2 *ctf2, struct ctf2_field *field, const char *name)
{
    if (!fm_ctf2_number(ctf2, field->class_, name, 1, &field->alignment))
        return false;
    uint64_t n = field->alignment;
    return (n > 0 && n <= ALIGNMENT_MAX && (n & (n - 1)) == 0) ||
           fm_ctf2_fail_field(
               ctf2, field, "found the %s %" G_GUINT64_FORMAT ", expected a power of two", name, n);
}

/* Length, byte order and alignment of a number. */
static bool read_bits(struct ctf2 *ctf2, struct ctf2_field *field)
{
    uint64_t bits;
    struct fm_json_value byte_order = fm_json_member(field->class_, "byte-order");
    struct fm_json_value bit_order = fm_json_member(field->class_, "bit-order");
    if (!fm_ctf2_number(ctf2, field->class_, "length", 0, &bits) ||
        !read_alignment(ctf2, field, "alignment"))
        return false;
    if (bits == 0 || bits > BITS_MAX)
        return fm_ctf2_fail_field(ctf2, field,
                                  "found a length of %" G_GUINT64_FORMAT " bits, expected 1 to %d",
                                  bits, BITS_MAX);
    field->big_endian = fm_json_equals(byte_order, "big-endian");
    if (!field->big_endian && !fm_json_equals(byte_order, "little-endian"))
        return fm_ctf2_fail_field(ctf2, field,
                                  "expected a byte-order, \"little-endian\" or "
                                  "\"big-endian\"");
    if (bit_order.at != NULL &&
        !fm_json_equals(bit_order, field->big_endian ? "last-to-first" : "first-to-last"))
        return fm_ctf2_fail_field(ctf2, field,
                                  "its bit order is not the usual one of its byte "
                                  "order, which CTF 1.8 cannot express");
    field->kind = CTF2_INTEGER;
    field->bits = (unsigned)bits;
    return true;
}

static bool read_mappings(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->mappings = fm_json_member(field->class_, "mappings");
    struct fm_json_items items = fm_json_items(field->mappings);
    struct fm_json_value value;
    if (field->mappings.at != NULL && !items.named)
        return fm_ctf2_fail_field(ctf2, field, "expected mappings as an object");
    while (fm_json_next(&items, NULL, &value)) {
        g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct ctf2_range));
        if (!fm_ctf2_ranges(ctf2, field, value, ranges))
            return false;
    }
    return true;
}

static bool read_integer(struct ctf2 *ctf2, struct ctf2_field *field)
{
    static const unsigned bases[] = {0, 2, 8, 10, 16};
    uint64_t base;
    field->is_signed =
        fm_json_equals(fm_json_member(field->class_, "type"), "fixed-length-signed-integer");
    if (!read_bits(ctf2, field) ||
        !fm_ctf2_number(ctf2, field->class_, "preferred-display-base", 0, &base))
        return false;
    for (unsigned i = 0; i < G_N_ELEMENTS(bases); i++) {
        if (bases[i] == base)
            field->base = bases[i];
    }
    if (field->base == base)
        return read_mappings(ctf2, field);
    return fm_ctf2_fail_field(
        ctf2, field, "found the display base %" G_GUINT64_FORMAT ", expected 2, 8, 10 or 16", base);
}

static bool read_boolean(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->is_boolean = true;
    return read_bits(ctf2, field);
}

static bool read_bit_array(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->base = 16;
    return read_bits(ctf2, field);
}

static bool read_real(struct ctf2 *ctf2, struct ctf2_field *field)
{
    if (!read_bits(ctf2, field))
        return false;
    field->kind = CTF2_REAL;
    return field->bits == 32 || field->bits == 64 ||
           fm_ctf2_fail_field(ctf2, field,
                              "found a floating-point number of %u bits, expected 32 "
                              "or 64",
                              field->bits);
}

static bool read_encoding(struct ctf2 *ctf2, struct ctf2_field *field)
{
    struct fm_json_value encoding = fm_json_member(field->class_, "encoding");
    g_autofree char *name = fm_json_string(encoding);
    return encoding.at == NULL || strcmp(name, "utf-8") == 0 ||
           fm_ctf2_fail_field(ctf2, field,
                              "its encoding is %s, expected utf-8: CTF 1.8 has no "
                              "other",
                              name);
}

static bool read_string(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->kind = CTF2_STRING;
    field->alignment = 8;
    return read_encoding(ctf2, field);
}

/* --- arrays --- */

static bool read_length(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->kind = CTF2_ARRAY;
    field->location = fm_json_member(field->class_, "length-field-location");
    if (field->location.at != NULL)
        return true;
    if (fm_json_member(field->class_, "length").at == NULL)
        return fm_ctf2_fail_field(ctf2, field, "expected a length or a length-field-location");
    return fm_ctf2_number(ctf2, field->class_, "length", 0, &field->length);
}

/* Strings and blobs: the element is a byte. */
static bool read_bytes(struct ctf2 *ctf2, struct ctf2_field *field)
{
    g_autofree char *type = fm_json_string(fm_json_member(field->class_, "type"));
    if (!read_length(ctf2, field))
        return false;
    field->alignment = 8;
    struct ctf2_field *byte = add_part(ctf2, field, g_strdup(""), field->class_);
    byte->kind = CTF2_INTEGER;
    byte->bits = 8;
    byte->alignment = 8;
    byte->is_text = g_str_has_suffix(type, "string");
    return !byte->is_text || read_encoding(ctf2, field);
}

static bool read_array(struct ctf2 *ctf2, struct ctf2_field *field)
{
    struct fm_json_value element = fm_json_member(field->class_, "element-field-class");
    if (!read_length(ctf2, field) || !read_alignment(ctf2, field, "minimum-alignment"))
        return false;
    struct ctf2_field *part = add_part(ctf2, field, g_strdup(""), element);
    if (!read_field(ctf2, part))
        return false;
    if (field->alignment > part->alignment && field->parent->kind != CTF2_STRUCTURE)
        return fm_ctf2_fail_field(ctf2, field,
                                  "it has an alignment and is no member of a "
                                  "structure, which CTF 1.8 cannot express");
    return true;
}

/* --- structures --- */

static bool read_members(struct ctf2 *ctf2, struct ctf2_field *field, GHashTable *ids)
{
    struct fm_json_items items = fm_json_items(fm_json_member(field->class_, "member-classes"));
    struct fm_json_value member;
    while (fm_json_next(&items, NULL, &member)) {
        struct fm_json_value name = fm_json_member(member, "name");
        if (name.at == NULL || *name.at != '"')
            return fm_ctf2_fail(ctf2, member, "expected a member with a name");
        struct ctf2_field *part =
            add_part(ctf2, field, fm_json_string(name), fm_json_member(member, "field-class"));
        if (!read_field(ctf2, part))
            return false;
        g_autofree char *wanted = identifier(part);
        GString *id = g_string_new(wanted);
        while (!g_hash_table_add(ids, g_strdup(id->str)))
            g_string_append_c(id, '_');
        part->id = g_string_free(id, FALSE);
        field->alignment = MAX(field->alignment, part->alignment);
    }
    return true;
}

static bool read_structure(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->kind = CTF2_STRUCTURE;
    if (!read_alignment(ctf2, field, "minimum-alignment"))
        return false;
    GHashTable *ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool good = read_members(ctf2, field, ids);
    g_hash_table_unref(ids);
    return good;
}

/* --- variants --- */

static bool read_selector(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->kind = CTF2_VARIANT;
    field->location = fm_json_member(field->class_, "selector-field-location");
    return field->location.at != NULL ||
           fm_ctf2_fail_field(ctf2, field, "expected a selector-field-location");
}

static bool read_optional(struct ctf2 *ctf2, struct ctf2_field *field)
{
    field->is_optional = true;
    if (!read_selector(ctf2, field))
        return false;
    unsigned number = ctf2->variant_count++;
    struct ctf2_field *there =
        add_part(ctf2, field, g_strdup(""), fm_json_member(field->class_, "field-class"));
    there->id = g_strdup_printf(FM_CTF2_OWN "there_%u", number);
    if (!read_field(ctf2, there))
        return false;
    struct ctf2_field *absent = add_part(ctf2, field, g_strdup(""), field->class_);
    absent->kind = CTF2_STRUCTURE;
    absent->id = g_strdup_printf(FM_CTF2_ABSENT "%u", number);
    return true;
}

static bool read_variant(struct ctf2 *ctf2, struct ctf2_field *field)
{
    struct fm_json_items items = fm_json_items(fm_json_member(field->class_, "options"));
    struct fm_json_value option;
    if (!read_selector(ctf2, field))
        return false;
    unsigned number = ctf2->variant_count++;
    while (fm_json_next(&items, NULL, &option)) {
        struct ctf2_field *part =
            add_part(ctf2, field, fm_json_string(fm_json_member(option, "name")),
                     fm_json_member(option, "field-class"));
        part->id = g_strdup_printf(FM_CTF2_OWN "option_%u_%u", number, field->parts->len);
        if (!read_field(ctf2, part))
            return false;
    }
    return field->parts->len > 0 || fm_ctf2_fail_field(ctf2, field, "expected options");
}

/* --- all --- */

static const struct {
    const char *type;
    bool (*read)(struct ctf2 *ctf2, struct ctf2_field *field);
} types[] = {
    {"fixed-length-bit-array", read_bit_array},
    {"fixed-length-bit-map", read_bit_array},
    {"fixed-length-boolean", read_boolean},
    {"fixed-length-unsigned-integer", read_integer},
    {"fixed-length-signed-integer", read_integer},
    {"fixed-length-floating-point-number", read_real},
    {"null-terminated-string", read_string},
    {"static-length-string", read_bytes},
    {"dynamic-length-string", read_bytes},
    {"static-length-blob", read_bytes},
    {"dynamic-length-blob", read_bytes},
    {"structure", read_structure},
    {"static-length-array", read_array},
    {"dynamic-length-array", read_array},
    {"optional", read_optional},
    {"variant", read_variant},
};

static unsigned depth_of(const struct ctf2_field *field)
{
    unsigned depth = 0;
    for (; field->parent != NULL; field = field->parent)
        depth++;
    return depth;
}

/* The class may be the name of an alias, declared before. */
static bool find_class(struct ctf2 *ctf2, struct ctf2_field *field)
{
    if (field->class_.at != NULL && *field->class_.at == '"') {
        g_autofree char *name = fm_json_string(field->class_);
        const struct fm_json_value *known = g_hash_table_lookup(ctf2->aliases, name);
        if (known == NULL)
            return fm_ctf2_fail_field(ctf2, field,
                                      "found the field class alias \"%s\", which is "
                                      "not declared before",
                                      name);
        field->class_ = *known;
    }
    if (fm_json_is_object(field->class_))
        return true;
    if (field->class_.at == NULL)
        field->class_ = field->parent != NULL ? field->parent->class_ : field->class_;
    return fm_ctf2_fail_field(ctf2, field, "expected a field class");
}

static bool heed_role(struct ctf2 *ctf2, struct ctf2_field *field)
{
    int role = role_of(field);
    field->timed = role >= 0 && roles[role].timed;
    return role < 0 || field->timed ||
           (field->parent != NULL && field->parent->kind == CTF2_STRUCTURE) ||
           fm_ctf2_fail_field(ctf2, field,
                              "found the role %s, expected it at a member of a "
                              "structure",
                              roles[role].role);
}

static bool read_field(struct ctf2 *ctf2, struct ctf2_field *field)
{
    if (!find_class(ctf2, field))
        return false;
    if (depth_of(field) > DEPTH_MAX || ctf2->field_count > FIELDS_MAX)
        return fm_ctf2_fail_field(ctf2, field,
                                  "expected fields that nest at most %d deep, and at "
                                  "most %d of them",
                                  DEPTH_MAX, FIELDS_MAX);
    struct fm_json_value type = fm_json_member(field->class_, "type");
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        if (fm_json_equals(type, types[i].type))
            return types[i].read(ctf2, field) && heed_role(ctf2, field);
    }
    g_autofree char *name = fm_json_string(type);
    return fm_ctf2_fail_field(ctf2, field, "its type \"%s\" %s", name,
                              g_str_has_prefix(name, "variable-length")
                                  ? "cannot be expressed in CTF 1.8"
                                  : "is not known");
}

struct ctf2_field *fm_ctf2_field_new(struct ctf2 *ctf2, struct fm_json_value class_,
                                     enum ctf2_scope scope)
{
    struct ctf2_field *field = add_part(ctf2, NULL, g_strdup(""), class_);
    field->scope = scope;
    if (read_field(ctf2, field) &&
        (field->kind == CTF2_STRUCTURE || fm_ctf2_fail_field(ctf2, field, "expected a structure")))
        return field;
    fm_ctf2_field_free(field);
    return NULL;
}

void fm_ctf2_field_free(void *data)
{
    struct ctf2_field *field = data;
    if (field == NULL)
        return;
    g_ptr_array_unref(field->parts);
    if (field->labels != NULL)
        g_string_free(field->labels, TRUE);
    g_free(field->name);
    g_free(field->id);
    g_free(field);
}
