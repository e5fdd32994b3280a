/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text/json.h"
#include "trace/ctf/ctf2.h"
#include "trace/ctf/ctf_import.h"

/* JSON_MAX: what follows is left out; brackets and one more value of STRING_MAX fit TEXT_MAX. */
enum {
    TEXT_MAX = 1800,
    JSON_MAX = 1400,
    STRING_MAX = 60,
    DEPTH_MAX = 16,
    LIST_MAX = 64,
    NUMBER_MAX = 65534,
    NAME_MAX_BYTES = 200
};

/* How a field is encoded; in order of declaration. */
enum form {
    FORM_W8,
    FORM_W16,
    FORM_W32,
    FORM_W64,
    FORM_I64,
    FORM_F64,
    FORM_ADDRESS,
    FORM_STRZ,
    FORM_JSON, /* arrays, and structures that nest too deep */
};
static const struct {
    const char *name;
    int32_t size; /* 0: each has its own */
} forms[] = {
    [FORM_W8] = {"w8", 1},        [FORM_W16] = {"w16", 2},   [FORM_W32] = {"w32", 4},
    [FORM_W64] = {"w64", 8},      [FORM_I64] = {"i64", 8},   [FORM_F64] = {"f64", 8},
    [FORM_ADDRESS] = {"addr", 8}, [FORM_STRZ] = {"strz", 0}, [FORM_JSON] = {"json", 0},
};

enum part { PART_PAYLOAD, PART_SPECIFIC_CONTEXT, PART_COMMON_CONTEXT, PART_COUNT };

struct column {
    uint8_t part;
    uint8_t depth; /* steps from the part's structure to the field */
    uint8_t form;
    bool label; /* an enumeration's */
    uint16_t path[DEPTH_MAX];
};

struct type {
    uint16_t number;
    bool variable;
    char *name, *layout; /* "fields:..." */
    unsigned column_count;
    struct column columns[CTF_FIELDS_MAX];
};

struct ctf_types {
    GHashTable *by_class; /* event class -> struct type; holds references to the classes */
    GHashTable *by_layout;
    GPtrArray *types; /* holds struct type */
    GString *notes;
};

/* --- layouts --- */

struct layout {
    struct type *type;
    GString *text;
    GHashTable *names;
    struct column at; /* place in the event */
    unsigned left_out;
};

static enum form form_of(const bt_field_class *class_)
{
    bt_field_class_type type = bt_field_class_get_type(class_);
    if (type == BT_FIELD_CLASS_TYPE_BOOL)
        return FORM_W8;
    if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
        return FORM_ADDRESS;
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        return FORM_I64;
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL))
        return FORM_F64;
    if (type == BT_FIELD_CLASS_TYPE_STRUCTURE ||
        bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
        return FORM_JSON;
    if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        return FORM_STRZ;
    if (bt_field_class_integer_get_preferred_display_base(class_) ==
        BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL)
        return FORM_ADDRESS;
    uint64_t bits = bt_field_class_integer_get_field_value_range(class_);
    return bits <= 8 ? FORM_W8 : bits <= 16 ? FORM_W16 : bits <= 32 ? FORM_W32 : FORM_W64;
}

static void add_column(struct layout *layout, const char *name, enum form form, bool label)
{
    static const char *const prefixes[PART_COUNT] = {"", "context.", "context."};
    struct type *type = layout->type;
    if (type->column_count >= CTF_FIELDS_MAX) {
        layout->left_out++;
        return;
    }
    char *unique = g_strndup(name, NAME_MAX_BYTES);
    for (char *c = unique; *c != '\0'; c++) {
        if (*c == ',' || *c == '=')
            *c = '_';
    }
    if (g_hash_table_contains(layout->names, unique)) {
        char *longer = g_strconcat(prefixes[layout->at.part], unique, NULL);
        g_free(unique);
        unique = longer;
    }
    g_string_append_printf(layout->text, "%s%s=%s", type->column_count == 0 ? "" : ",", unique,
                           forms[form].name);
    g_hash_table_add(layout->names, unique);
    layout->at.form = (uint8_t)form;
    layout->at.label = label;
    type->columns[type->column_count++] = layout->at;
    type->variable |= form == FORM_STRZ || form == FORM_JSON;
}

static const char *label_at(const bt_field_class *class_, uint64_t i)
{
    const bt_field_class_enumeration_mapping *mapping =
        bt_field_class_get_type(class_) == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION
            ? bt_field_class_enumeration_signed_mapping_as_mapping_const(
                  bt_field_class_enumeration_signed_borrow_mapping_by_index_const(class_, i))
            : bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
                  bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(class_, i));
    return bt_field_class_enumeration_mapping_get_label(mapping);
}

/* Whether it has labels of its own: a selector of CTF 2 need not be an enumeration there. */
static bool has_labels(const bt_field_class *class_)
{
    if (!bt_field_class_type_is(bt_field_class_get_type(class_), BT_FIELD_CLASS_TYPE_ENUMERATION))
        return false;
    uint64_t count = bt_field_class_enumeration_get_mapping_count(class_), i = 0;
    while (i < count && g_str_has_prefix(label_at(class_, i), FM_CTF2_OWN))
        i++;
    return i < count || count == 0;
}

static void add_structure(struct layout *layout, const bt_field_class *class_, const char *prefix);

static void add_member(struct layout *layout, const bt_field_class *class_, const char *name)
{
    bt_field_class_type type = bt_field_class_get_type(class_);
    if (type == BT_FIELD_CLASS_TYPE_STRUCTURE && layout->at.depth < DEPTH_MAX) {
        g_autofree char *prefix = g_strconcat(name, ".", NULL);
        add_structure(layout, class_, prefix);
        return;
    }
    add_column(layout, name, form_of(class_), false);
    if (has_labels(class_)) {
        g_autofree char *label = g_strconcat(name, ".label", NULL);
        add_column(layout, label, FORM_STRZ, true);
    }
}

static void add_structure(struct layout *layout, const bt_field_class *class_, const char *prefix)
{
    if (class_ == NULL)
        return;
    uint64_t count = bt_field_class_structure_get_member_count(class_);
    unsigned depth = layout->at.depth++;
    for (uint64_t i = 0; i < count && i <= UINT16_MAX; i++) {
        const bt_field_class_structure_member *member =
            bt_field_class_structure_borrow_member_by_index_const(class_, i);
        g_autofree char *name =
            g_strconcat(prefix, bt_field_class_structure_member_get_name(member), NULL);
        layout->at.path[depth] = (uint16_t)i;
        add_member(layout, bt_field_class_structure_member_borrow_field_class_const(member), name);
    }
    layout->at.depth--;
}

static void type_free(void *data)
{
    struct type *type = data;
    g_free(type->name);
    g_free(type->layout);
    g_free(type);
}

static struct type *make_type(struct ctf_types *types, const bt_event_class *class_)
{
    const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(class_);
    const bt_field_class *parts[PART_COUNT] = {
        [PART_PAYLOAD] = bt_event_class_borrow_payload_field_class_const(class_),
        [PART_SPECIFIC_CONTEXT] = bt_event_class_borrow_specific_context_field_class_const(class_),
        [PART_COMMON_CONTEXT] =
            bt_stream_class_borrow_event_common_context_field_class_const(stream_class),
    };
    const char *name = bt_event_class_get_name(class_);
    struct type *type = g_new0(struct type, 1);
    type->name = name == NULL
                     ? g_strdup_printf("event %" G_GUINT64_FORMAT, bt_event_class_get_id(class_))
                     : g_utf8_make_valid(name, (gssize)MIN(strlen(name), NAME_MAX_BYTES));
    struct layout layout = {
        .type = type,
        .text = g_string_new("fields:"),
        .names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    for (unsigned part = 0; part < PART_COUNT; part++) {
        layout.at.part = (uint8_t)part;
        add_structure(&layout, parts[part], "");
    }
    if (layout.left_out > 0)
        g_string_append_printf(types->notes,
                               "event type %s: the last %u of its fields are left out, %d are "
                               "kept\n",
                               type->name, layout.left_out, CTF_FIELDS_MAX);
    g_hash_table_unref(layout.names);
    type->layout = g_string_free(layout.text, FALSE);
    return type;
}

/* --- the table --- */

static void put_event_class(void *class_)
{
    bt_event_class_put_ref(class_);
}

struct ctf_types *fm_ctf_types_new(void)
{
    struct ctf_types *types = g_new0(struct ctf_types, 1);
    types->by_class = g_hash_table_new_full(NULL, NULL, put_event_class, NULL);
    types->by_layout = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    types->types = g_ptr_array_new_with_free_func(type_free);
    types->notes = g_string_new(NULL);
    return types;
}

void fm_ctf_types_free(struct ctf_types *types)
{
    if (types == NULL)
        return;
    g_hash_table_unref(types->by_class);
    g_hash_table_unref(types->by_layout);
    g_ptr_array_unref(types->types);
    g_string_free(types->notes, TRUE);
    g_free(types);
}

const char *fm_ctf_types_notes(const struct ctf_types *types)
{
    return types->notes->str;
}

static void add_event_class(struct ctf_types *types, const bt_event_class *class_)
{
    if (g_hash_table_contains(types->by_class, class_))
        return;
    struct type *type = make_type(types, class_);
    char *key = g_strconcat(type->name, "\n", type->layout, NULL);
    struct type *known = g_hash_table_lookup(types->by_layout, key);
    if (known != NULL) {
        type_free(type);
        g_free(key);
    } else if (CTF_NUMBER_FIRST + types->types->len > NUMBER_MAX) {
        g_string_append_printf(types->notes, "event type %s: left out, there are over %d\n",
                               type->name, NUMBER_MAX - CTF_NUMBER_FIRST);
        type_free(type);
        g_free(key);
        return;
    } else {
        type->number = (uint16_t)(CTF_NUMBER_FIRST + types->types->len);
        g_ptr_array_add(types->types, type);
        g_hash_table_insert(types->by_layout, key, type);
        known = type;
    }
    bt_event_class_get_ref(class_);
    g_hash_table_insert(types->by_class, (void *)(uintptr_t)class_, known);
}

void fm_ctf_types_add(struct ctf_types *types, const bt_trace_class *trace_class)
{
    uint64_t stream_classes = bt_trace_class_get_stream_class_count(trace_class);
    for (uint64_t i = 0; i < stream_classes; i++) {
        const bt_stream_class *stream_class =
            bt_trace_class_borrow_stream_class_by_index_const(trace_class, i);
        uint64_t count = bt_stream_class_get_event_class_count(stream_class);
        for (uint64_t j = 0; j < count; j++)
            add_event_class(types,
                            bt_stream_class_borrow_event_class_by_index_const(stream_class, j));
    }
}

static int32_t fixed_size(const struct type *type)
{
    int32_t size = 0;
    for (unsigned i = 0; i < type->column_count; i++)
        size += forms[type->columns[i].form].size;
    return type->variable ? -1 : size;
}

struct fm_eventlog_header *fm_ctf_types_header(struct ctf_types *types)
{
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    fm_eventlog_header_add(header, FM_EVENTLOG_BLOCK_MARKER, 14, "Block marker");
    for (guint i = 0; i < types->types->len; i++) {
        const struct type *type = types->types->pdata[i];
        fm_eventlog_header_add_extra(header, type->number, fixed_size(type), type->name,
                                     type->layout);
    }
    fm_eventlog_header_end(header);
    return header;
}

/* --- events --- */

static uint64_t number_of(const bt_field *field, bt_field_class_type type)
{
    if (type == BT_FIELD_CLASS_TYPE_BOOL)
        return bt_field_bool_get_value(field) ? 1 : 0;
    if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
        return bt_field_bit_array_get_value_as_integer(field);
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        return (uint64_t)bt_field_integer_signed_get_value(field);
    return bt_field_integer_unsigned_get_value(field);
}

static double real_of(const bt_field *field, bt_field_class_type type)
{
    return type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL
               ? (double)bt_field_real_single_precision_get_value(field)
               : bt_field_real_double_precision_get_value(field);
}

/* The field of the variant's option or of the optional field; NULL: it is not there. */
static const bt_field *inner_of(const bt_field *field)
{
    if (bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_OPTION))
        return bt_field_option_borrow_field_const(field);
    const bt_field_class_variant_option *option =
        bt_field_variant_borrow_selected_option_class_const(field);
    bool absent = g_str_has_prefix(bt_field_class_variant_option_get_name(option), FM_CTF2_ABSENT);
    return absent ? NULL : bt_field_variant_borrow_selected_option_field_const(field);
}

static void write_value(struct fm_json *json, const char *name, const bt_field *field);

static void write_list(struct fm_json *json, const char *name, const bt_field *field)
{
    uint64_t count = bt_field_array_get_length(field), i = 0;
    fm_json_array(json, name);
    for (; i < count && i < LIST_MAX && json->out->len < JSON_MAX; i++)
        write_value(json, NULL, bt_field_array_borrow_element_field_by_index_const(field, i));
    if (i < count)
        fm_json_text(json, NULL, "...");
    fm_json_end(json);
}

static void write_members(struct fm_json *json, const char *name, const bt_field *field)
{
    const bt_field_class *class_ = bt_field_borrow_class_const(field);
    uint64_t count = bt_field_class_structure_get_member_count(class_), i = 0;
    fm_json_object(json, name);
    for (; i < count && json->out->len < JSON_MAX; i++) {
        const bt_field_class_structure_member *member =
            bt_field_class_structure_borrow_member_by_index_const(class_, i);
        const char *own = bt_field_class_structure_member_get_name(member);
        if (!g_str_has_prefix(own, FM_CTF2_OWN))
            write_value(json, own, bt_field_structure_borrow_member_field_by_index_const(field, i));
    }
    if (i < count)
        fm_json_text(json, "...", "...");
    fm_json_end(json);
}

static void write_value(struct fm_json *json, const char *name, const bt_field *field)
{
    bt_field_class_type type = bt_field_get_class_type(field);
    if (json->depth > DEPTH_MAX)
        fm_json_text(json, name, "...");
    else if (type == BT_FIELD_CLASS_TYPE_STRING)
        fm_json_bytes(json, name, bt_field_string_get_value(field),
                      MIN(bt_field_string_get_length(field), STRING_MAX));
    else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
        write_members(json, name, field);
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
        write_list(json, name, field);
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT) ||
             bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
        const bt_field *inner = inner_of(field);
        if (inner != NULL)
            write_value(json, name, inner);
        else
            fm_json_null(json, name);
    } else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL)) {
        fm_json_digits(json, name, real_of(field, type), 17);
    } else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
        fm_json_int(json, name, (int64_t)number_of(field, type));
    } else {
        fm_json_uint(json, name, number_of(field, type));
    }
}

/* A field of a variant or an option, whose type is known here alone, stands as in text. */
static void append_text(const bt_field *field, GString *out)
{
    bt_field_class_type type = bt_field_get_class_type(field);
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT) ||
        bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
        const bt_field *inner = inner_of(field);
        if (inner != NULL)
            append_text(inner, out);
    } else if (type == BT_FIELD_CLASS_TYPE_STRING) {
        g_string_append(out, bt_field_string_get_value(field));
    } else {
        struct fm_json json;
        fm_json_init(&json, out);
        write_value(&json, NULL, field);
        if (out->len > TEXT_MAX)
            g_string_assign(out, "[\"...\"]");
    }
}

static void put_bytes(GByteArray *to, uint64_t number, unsigned size)
{
    g_assert(size >= 1 && size <= 8);
    uint64_t big = GUINT64_TO_BE(number);
    g_byte_array_append(to, (const uint8_t *)&big + 8 - size, size);
}

static void put_text(GByteArray *to, const char *text)
{
    g_byte_array_append(to, (const uint8_t *)text, (guint)strnlen(text, TEXT_MAX));
    g_byte_array_append(to, (const uint8_t *)"", 1);
}

static void put_label(GByteArray *to, const bt_field *field, bt_field_class_type type)
{
    bt_field_class_enumeration_mapping_label_array labels = NULL;
    uint64_t count = 0;
    if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
        (void)bt_field_enumeration_signed_get_mapping_labels(field, &labels, &count);
    else
        (void)bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count);
    uint64_t i = 0;
    while (i < count && g_str_has_prefix(labels[i], FM_CTF2_OWN))
        i++;
    put_text(to, i < count ? labels[i] : "");
}

static void put_field(GByteArray *to, const bt_field *field, const struct column *column)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 8, 8, 8};
    bt_field_class_type type = bt_field_get_class_type(field);
    if (column->label) {
        put_label(to, field, type);
    } else if (column->form == FORM_STRZ && type == BT_FIELD_CLASS_TYPE_STRING) {
        put_text(to, bt_field_string_get_value(field));
    } else if (column->form == FORM_STRZ || column->form == FORM_JSON) {
        g_autoptr(GString) text = g_string_new(NULL);
        append_text(field, text);
        put_text(to, text->str);
    } else if (column->form == FORM_F64) {
        double real = real_of(field, type);
        uint64_t bits;
        memcpy(&bits, &real, sizeof bits);
        put_bytes(to, bits, 8);
    } else {
        put_bytes(to, number_of(field, type), sizes[column->form]);
    }
}

static const bt_field *field_at(const bt_field *const parts[], const struct column *column)
{
    const bt_field *field = parts[column->part];
    for (unsigned i = 0; i < column->depth; i++)
        field = bt_field_structure_borrow_member_field_by_index_const(field, column->path[i]);
    return field;
}

bool fm_ctf_types_append(const struct ctf_types *types, const bt_event *event, uint64_t time_ns,
                         GByteArray *to)
{
    const struct type *type =
        g_hash_table_lookup(types->by_class, bt_event_borrow_class_const(event));
    if (type == NULL)
        return false;
    const bt_field *const parts[PART_COUNT] = {
        [PART_PAYLOAD] = bt_event_borrow_payload_field_const(event),
        [PART_SPECIFIC_CONTEXT] = bt_event_borrow_specific_context_field_const(event),
        [PART_COMMON_CONTEXT] = bt_event_borrow_common_context_field_const(event),
    };
    put_bytes(to, type->number, 2);
    put_bytes(to, time_ns, 8);
    guint length_at = to->len;
    if (type->variable)
        put_bytes(to, 0, 2);
    for (unsigned i = 0; i < type->column_count; i++)
        put_field(to, field_at(parts, &type->columns[i]), &type->columns[i]);
    if (type->variable) {
        uint16_t length = GUINT16_TO_BE((uint16_t)(to->len - length_at - 2));
        memcpy(to->data + length_at, &length, 2);
    }
    return true;
}
