/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's profiles: one message with a dictionary of strings, functions, places and stacks,
 * and a profile for each measure, whose samples name stacks. */
#include <string.h>

#include "exchange/export/internal.h"
#include "exchange/export/tables.h"
#include "exchange/figures.h"
#include "otlp.pb-c.h"

#define NANOSECONDS 1000000000u
#define ID_BYTES 16
enum {
    TABLE_MAPPING = 1,
    TABLE_LOCATION,
    TABLE_FUNCTION,
    TABLE_LINK,
    TABLE_STRING,
    TABLE_ATTRIBUTE,
    TABLE_STACK
};
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES, PROFILE_SAMPLES = 2 };

struct otlp {
    const struct fm_exchange_nodes *nodes;
    const struct fm_profile *profile;
    struct fm_export_tables tables;
    GByteArray *dictionary, *packed;
    uint32_t *stack_of;   /* [node] index; 0 = has no cost of its own */
    int32_t *thread_of;   /* [ps + 1] index of its attribute; 0 = none yet */
    int32_t thread_count; /* attributes beside the empty one */
};

static void append_number(GByteArray *to, uint64_t value)
{
    uint8_t bytes[10];
    guint size = 0;
    for (; value > 127; value >>= 7)
        bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    g_byte_array_append(to, bytes, size);
}

/* A field that is a message or a text. */
static void append_field(GByteArray *to, unsigned field, const void *bytes, size_t size)
{
    append_number(to, field << 3 | 2);
    append_number(to, size);
    if (size > 0)
        g_byte_array_append(to, bytes, (guint)size);
}

static void append_message(struct otlp *x, GByteArray *to, unsigned field,
                           const ProtobufCMessage *message)
{
    g_byte_array_set_size(x->packed, (guint)protobuf_c_message_get_packed_size(message));
    size_t size = protobuf_c_message_pack(message, x->packed->data);
    append_field(to, field, x->packed->data, size);
}

static int32_t string_id(struct otlp *x, const char *text)
{
    return (int32_t)fm_export_string(&x->tables, text);
}

/* --- the dictionary --- */

/* Index 0 of each table is the empty element. */
static void put_stacks(struct otlp *x)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(int32_t));
    uint32_t count = 0;
    append_field(x->dictionary, TABLE_STACK, NULL, 0);
    for (uint32_t i = 1; i < x->nodes->count; i++) {
        FathomOtlp__Stack message = FATHOM_OTLP__STACK__INIT;
        if (!fm_exchange_has_own(x->nodes, i))
            continue;
        fm_export_stack(&x->tables, x->nodes, i, ids);
        g_array_set_size(stack, ids->len);
        for (guint j = 0; j < ids->len; j++)
            g_array_index(stack, int32_t, j) = (int32_t)g_array_index(ids, uint64_t, j);
        message.n_location_indices = stack->len;
        message.location_indices = (int32_t *)(void *)stack->data;
        append_message(x, x->dictionary, TABLE_STACK, &message.base);
        x->stack_of[i] = ++count;
    }
}

static void put_locations(struct otlp *x)
{
    append_field(x->dictionary, TABLE_LOCATION, NULL, 0);
    for (guint i = 0; i < x->tables.locations->len; i++) {
        guint64 key = g_array_index(x->tables.locations, guint64, i);
        FathomOtlp__Line line = FATHOM_OTLP__LINE__INIT, *lines = &line;
        FathomOtlp__Location location = FATHOM_OTLP__LOCATION__INIT;
        line.function_index = (int32_t)(key >> 32);
        line.line = (int64_t)(key & UINT32_MAX);
        location.mapping_index = 1;
        location.n_lines = 1;
        location.lines = &lines;
        append_message(x, x->dictionary, TABLE_LOCATION, &location.base);
    }
}

static void put_function(struct otlp *x, const char *name, const char *system, const char *file,
                         uint32_t line)
{
    FathomOtlp__Function function = FATHOM_OTLP__FUNCTION__INIT;
    function.name_strindex = string_id(x, name);
    function.system_name_strindex = string_id(x, *system != '\0' ? system : name);
    function.filename_strindex = string_id(x, file);
    function.start_line = line;
    append_message(x, x->dictionary, TABLE_FUNCTION, &function.base);
}

static void put_functions(struct otlp *x)
{
    const struct fm_exchange_names *names = &x->tables.names;
    append_field(x->dictionary, TABLE_FUNCTION, NULL, 0);
    for (uint32_t ps = 1; ps <= x->profile->ps_count; ps++)
        put_function(x, names->name[ps], names->system[ps], names->file[ps],
                     x->profile->ps[ps].line);
    for (guint i = 0; i < x->tables.joined->len; i++)
        put_function(x, g_ptr_array_index(x->tables.joined, i), "", "", 0);
}

static void put_rest(struct otlp *x)
{
    static uint8_t zeros[ID_BYTES];
    FathomOtlp__Mapping mapping = FATHOM_OTLP__MAPPING__INIT;
    FathomOtlp__Link link = FATHOM_OTLP__LINK__INIT;
    append_field(x->dictionary, TABLE_MAPPING, NULL, 0);
    mapping.filename_strindex = string_id(x, x->profile->program_name);
    append_message(x, x->dictionary, TABLE_MAPPING, &mapping.base);
    link.trace_id = (ProtobufCBinaryData){ID_BYTES, zeros};
    link.span_id = (ProtobufCBinaryData){ID_BYTES / 2, zeros};
    append_message(x, x->dictionary, TABLE_LINK, &link.base);
    for (guint i = 0; i < x->tables.strings->len; i++) {
        const char *text = g_ptr_array_index(x->tables.strings, i);
        append_field(x->dictionary, TABLE_STRING, text, strlen(text));
    }
}

/* The attribute that names the node's thread; 0: it is not known. */
static int32_t attribute_of(struct otlp *x, uint32_t node)
{
    uint32_t ps = fm_exchange_thread_ps(x->nodes, node);
    if (ps == 0 || x->thread_of[ps] != 0)
        return ps == 0 ? 0 : x->thread_of[ps];
    FathomOtlp__AnyValue value = FATHOM_OTLP__ANY_VALUE__INIT;
    FathomOtlp__KeyValueAndUnit attribute = FATHOM_OTLP__KEY_VALUE_AND_UNIT__INIT;
    int64_t name = fm_export_string(&x->tables, x->tables.names.name[ps]);
    char *text = g_ptr_array_index(x->tables.strings, (guint)name);
    value.string_value = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
    attribute.key_strindex = string_id(x, "thread.name");
    attribute.value = &value;
    append_message(x, x->dictionary, TABLE_ATTRIBUTE, &attribute.base);
    return x->thread_of[ps] = ++x->thread_count;
}

/* --- profiles --- */

static void put_samples(struct otlp *x, unsigned column, GByteArray *to)
{
    for (uint32_t i = 1; i < x->nodes->count; i++) {
        int64_t own = fm_exchange_own(x->nodes, column, i);
        FathomOtlp__Sample sample = FATHOM_OTLP__SAMPLE__INIT;
        int32_t attribute = own == 0 ? 0 : attribute_of(x, i);
        if (own == 0)
            continue;
        sample.stack_index = (int32_t)x->stack_of[i];
        sample.n_attribute_indices = attribute != 0;
        sample.attribute_indices = &attribute;
        sample.n_values = 1;
        sample.values = &own;
        append_message(x, to, PROFILE_SAMPLES, &sample.base);
    }
}

/* 16 bytes that no other profile of the file has; the same each time. */
static void fill_id(const struct otlp *x, unsigned column, uint8_t *id)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_MD5);
    gsize size = ID_BYTES;
    g_checksum_update(checksum, x->dictionary->data, x->dictionary->len);
    g_checksum_update(checksum, (const guchar *)x->nodes->columns[column].name, -1);
    g_checksum_get_digest(checksum, id, &size);
}

static void put_profile(struct otlp *x, unsigned column, GByteArray *to)
{
    const struct fm_exchange_column *c = &x->nodes->columns[column];
    FathomOtlp__Profile profile = FATHOM_OTLP__PROFILE__INIT;
    FathomOtlp__ValueType type = FATHOM_OTLP__VALUE_TYPE__INIT;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    uint8_t id[ID_BYTES];
    fill_id(x, column, id);
    type.type_strindex = string_id(x, c->name);
    type.unit_strindex = string_id(x, c->unit);
    profile.sample_type = &type;
    profile.time_unix_nano = x->profile->run_info.process.start_ns;
    profile.duration_nano = x->profile->run_info.duration_ns;
    profile.profile_id = (ProtobufCBinaryData){ID_BYTES, id};
    if (c->id == FM_QUANTA && !c->is_calls && x->profile->ticks_per_second != 0) {
        profile.period_type = &type;
        profile.period = (int64_t)(NANOSECONDS / x->profile->ticks_per_second);
    }
    g_byte_array_set_size(bytes, (guint)fathom_otlp__profile__get_packed_size(&profile));
    fathom_otlp__profile__pack(&profile, bytes->data);
    put_samples(x, column, bytes); /* fields of a message stand in any order */
    append_field(to, SCOPE_PROFILES_PROFILES, bytes->data, bytes->len);
}

static void put_profiles(struct otlp *x, GByteArray *to)
{
    static uint8_t writer[] = "fathom";
    FathomOtlp__Scope scope = FATHOM_OTLP__SCOPE__INIT;
    scope.name = (ProtobufCBinaryData){sizeof writer - 1, writer};
    append_message(x, to, SCOPE_PROFILES_SCOPE, &scope.base);
    for (unsigned turn = 0; turn < x->nodes->column_count; turn++)
        put_profile(x, fm_exchange_column_in_turn(x->nodes, turn), to);
}

/* What the columns are in a profile of ours, for its import. */
static void put_figures(struct otlp *x, GByteArray *to)
{
    g_autoptr(GByteArray) value = g_byte_array_new(), attribute = g_byte_array_new(),
                          resource = g_byte_array_new();
    g_autofree char *figures = fm_figures_text(x->nodes);
    append_field(value, 1, figures, strlen(figures));
    append_field(attribute, 1, FM_FIGURES_KEY, strlen(FM_FIGURES_KEY));
    append_field(attribute, 2, value->data, value->len);
    append_field(resource, 1, attribute->data, attribute->len);
    append_field(to, 1, resource->data, resource->len);
}

static void write_all(struct otlp *x, struct fm_writer *out)
{
    g_autoptr(GByteArray) scope = g_byte_array_new(), resource = g_byte_array_new(),
                          head = g_byte_array_new();
    put_stacks(x);
    append_field(x->dictionary, TABLE_ATTRIBUTE, NULL, 0);
    put_profiles(x, scope);
    put_locations(x);
    put_functions(x);
    put_rest(x);
    put_figures(x, resource);
    append_field(resource, 2, scope->data, scope->len);
    append_field(head, 1, resource->data, resource->len);
    append_number(head, 2 << 3 | 2);
    append_number(head, x->dictionary->len);
    fm_writer_bytes(out, head->data, head->len);
    fm_writer_bytes(out, x->dictionary->data, x->dictionary->len);
}

bool fm_export_otlp(const struct fm_analysis *a, const struct fm_export_options *options,
                    struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_exchange_nodes nodes;
    if (!fm_exchange_nodes_init(&nodes, a, options->min_share, error))
        return false;
    struct otlp x = {.nodes = &nodes,
                     .profile = a->profile,
                     .dictionary = g_byte_array_new(),
                     .packed = g_byte_array_new(),
                     .stack_of = g_new0(uint32_t, nodes.count),
                     .thread_of = g_new0(int32_t, a->profile->ps_count + 1)};
    fm_export_tables_init(&x.tables, a->profile, options->strip_path);
    write_all(&x, out);
    fm_export_note_folding(notes, &nodes);
    fm_export_note(notes, "OpenTelemetry's profile format is not final: written in version 1.10");
    fm_export_tables_done(&x.tables);
    g_byte_array_free(x.dictionary, TRUE);
    g_byte_array_free(x.packed, TRUE);
    g_free(x.stack_of);
    g_free(x.thread_of);
    fm_exchange_nodes_done(&nodes);
    return true;
}
