/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_text.h"

#include <babeltrace2/babeltrace.h>
#include <string.h>

enum { FIELDS_MAX = 40, CPUS_MAX = 64 };

enum kind { KIND_SIGNED, KIND_UNSIGNED, KIND_TEXT, KIND_REAL, KIND_LIST, KIND_WORD };

struct field {
    char *name, *value;
    enum kind kind;
    bool in_context;
};

struct line {
    uint64_t time;
    unsigned cpu;
    char *name;
    struct field fields[FIELDS_MAX];
    unsigned field_count;
};

struct writer {
    GArray *lines; /* of struct line */
    char **context;
    unsigned packet_events;
    bt_stream_class *stream_class;
    GHashTable *event_classes; /* name -> bt_event_class */
    bt_stream *streams[CPUS_MAX];
    bt_packet *packets[CPUS_MAX];
    unsigned in_packet[CPUS_MAX];
    uint64_t last_time[CPUS_MAX];
    guint next;
    unsigned ending;
    GQueue *ready; /* of bt_message */
    bt_self_message_iterator *iterator;
};

/* --- text --- */

static enum kind kind_of(const char *value)
{
    if (value[0] == '"')
        return KIND_TEXT;
    if (value[0] == '[')
        return KIND_LIST;
    if (value[0] == '<')
        return KIND_WORD;
    if (g_str_has_prefix(value, "0x"))
        return KIND_UNSIGNED;
    return strchr(value, '.') != NULL ? KIND_REAL : KIND_SIGNED;
}

static const char *parse_field(struct writer *writer, struct line *line, const char *at)
{
    const char *equal = strchr(at, '=');
    g_assert_nonnull(equal);
    g_assert_cmpuint(line->field_count, <, FIELDS_MAX);
    struct field *field = &line->fields[line->field_count++];
    field->name = g_strndup(at, (size_t)(equal - at));
    const char *end = equal + 1;
    char close = *end == '"' ? '"' : *end == '[' ? ']' : *end == '<' ? '>' : ' ';
    do
        end++;
    while (*end != '\0' && *end != close);
    end += close != ' ';
    field->value = g_strndup(equal + 1, (size_t)(end - equal - 1));
    field->kind = kind_of(field->value);
    field->in_context = writer->context != NULL &&
                        g_strv_contains((const char *const *)writer->context, field->name);
    while (*end == ' ')
        end++;
    return end;
}

static void parse_line(struct writer *writer, char *text)
{
    g_strstrip(text);
    if (text[0] == '\0' || text[0] == '#')
        return;
    if (g_str_has_prefix(text, "packet ")) {
        writer->packet_events = (unsigned)g_ascii_strtoull(text + 7, NULL, 10);
        return;
    }
    if (g_str_has_prefix(text, "context ")) {
        writer->context = g_strsplit(text + 8, " ", -1);
        return;
    }
    struct line line = {0};
    char *at;
    line.time = g_ascii_strtoull(text, &at, 10);
    line.cpu = (unsigned)g_ascii_strtoull(at, &at, 10);
    g_assert_cmpuint(line.cpu, <, CPUS_MAX);
    while (*at == ' ')
        at++;
    char *end = strchr(at, ' ');
    end = end == NULL ? at + strlen(at) : end;
    line.name = g_strndup(at, (size_t)(end - at));
    while (*end == ' ')
        end++;
    for (const char *field = end; *field != '\0';)
        field = parse_field(writer, &line, field);
    g_array_append_val(writer->lines, line);
}

static void clear_line(void *data)
{
    struct line *line = data;
    g_free(line->name);
    for (unsigned i = 0; i < line->field_count; i++) {
        g_free(line->fields[i].name);
        g_free(line->fields[i].value);
    }
}

/* --- classes --- */

static bt_field_class *field_class_of(bt_trace_class *trace_class, const struct field *field)
{
    bt_field_class *class_ = NULL;
    switch (field->kind) {
    case KIND_SIGNED:
        class_ = bt_field_class_integer_signed_create(trace_class);
        break;
    case KIND_UNSIGNED:
        class_ = bt_field_class_integer_unsigned_create(trace_class);
        bt_field_class_integer_set_preferred_display_base(
            class_, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
        break;
    case KIND_TEXT:
        class_ = bt_field_class_string_create(trace_class);
        break;
    case KIND_REAL:
        class_ = bt_field_class_real_double_precision_create(trace_class);
        break;
    case KIND_LIST: {
        bt_field_class *element = bt_field_class_integer_signed_create(trace_class);
        unsigned count = 1;
        for (const char *c = field->value; *c != '\0'; c++)
            count += *c == ',';
        class_ = bt_field_class_array_static_create(trace_class, element, count);
        bt_field_class_put_ref(element);
        break;
    }
    case KIND_WORD: {
        g_auto(GStrv) parts = g_strsplit_set(field->value, "<:>", -1);
        bt_integer_range_set_unsigned *ranges = bt_integer_range_set_unsigned_create();
        uint64_t number = g_ascii_strtoull(parts[2], NULL, 10);
        class_ = bt_field_class_enumeration_unsigned_create(trace_class);
        bt_integer_range_set_unsigned_add_range(ranges, number, number);
        bt_field_class_enumeration_unsigned_add_mapping(class_, parts[1], ranges);
        bt_integer_range_set_unsigned_put_ref(ranges);
        break;
    }
    }
    g_assert_nonnull(class_);
    return class_;
}

static bt_field_class *structure_of(bt_trace_class *trace_class, const struct line *line,
                                    bool context)
{
    bt_field_class *structure = bt_field_class_structure_create(trace_class);
    for (unsigned i = 0; i < line->field_count; i++) {
        if (line->fields[i].in_context != context)
            continue;
        bt_field_class *member = field_class_of(trace_class, &line->fields[i]);
        g_assert_cmpint(
            bt_field_class_structure_append_member(structure, line->fields[i].name, member), ==,
            BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK);
        bt_field_class_put_ref(member);
    }
    return structure;
}

static void make_classes(struct writer *writer, bt_self_component *self)
{
    bt_trace_class *trace_class = bt_trace_class_create(self);
    bt_clock_class *clock = bt_clock_class_create(self);
    writer->stream_class = bt_stream_class_create(trace_class);
    bt_stream_class_set_default_clock_class(writer->stream_class, clock);
    bt_stream_class_set_supports_packets(writer->stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
    bt_field_class *packet_context = bt_field_class_structure_create(trace_class);
    bt_field_class *cpu = bt_field_class_integer_unsigned_create(trace_class);
    bt_field_class_structure_append_member(packet_context, "cpu_id", cpu);
    bt_stream_class_set_packet_context_field_class(writer->stream_class, packet_context);
    for (guint i = 0; i < writer->lines->len; i++) {
        const struct line *line = &g_array_index(writer->lines, struct line, i);
        if (i == 0 && writer->context != NULL) {
            bt_field_class *context = structure_of(trace_class, line, true);
            bt_stream_class_set_event_common_context_field_class(writer->stream_class, context);
            bt_field_class_put_ref(context);
        }
        if (g_hash_table_contains(writer->event_classes, line->name))
            continue;
        bt_event_class *class_ = bt_event_class_create(writer->stream_class);
        bt_field_class *payload = structure_of(trace_class, line, false);
        bt_event_class_set_name(class_, line->name);
        bt_event_class_set_payload_field_class(class_, payload);
        bt_field_class_put_ref(payload);
        g_hash_table_insert(writer->event_classes, line->name, class_);
    }
    bt_trace *trace = bt_trace_create(trace_class);
    for (guint i = 0; i < writer->lines->len; i++) {
        unsigned at = g_array_index(writer->lines, struct line, i).cpu;
        if (writer->streams[at] == NULL)
            writer->streams[at] = bt_stream_create(writer->stream_class, trace);
    }
    bt_field_class_put_ref(cpu);
    bt_field_class_put_ref(packet_context);
    bt_clock_class_put_ref(clock);
    bt_trace_put_ref(trace);
    bt_trace_class_put_ref(trace_class);
}

static void put_classes(struct writer *writer)
{
    for (unsigned i = 0; i < CPUS_MAX; i++) {
        bt_packet_put_ref(writer->packets[i]);
        bt_stream_put_ref(writer->streams[i]);
        writer->packets[i] = NULL;
        writer->streams[i] = NULL;
    }
    g_hash_table_remove_all(writer->event_classes);
    bt_stream_class_put_ref(writer->stream_class);
    writer->stream_class = NULL;
}

/* --- events --- */

static void set_field(bt_field *field, const struct field *from)
{
    const char *value = from->value;
    switch (from->kind) {
    case KIND_SIGNED:
        bt_field_integer_signed_set_value(field, g_ascii_strtoll(value, NULL, 10));
        break;
    case KIND_UNSIGNED:
        bt_field_integer_unsigned_set_value(field, g_ascii_strtoull(value, NULL, 16));
        break;
    case KIND_REAL:
        bt_field_real_double_precision_set_value(field, g_ascii_strtod(value, NULL));
        break;
    case KIND_TEXT: {
        g_autofree char *text = g_strndup(value + 1, strlen(value) - 2);
        bt_field_string_set_value(field, text);
        break;
    }
    case KIND_LIST: {
        g_auto(GStrv) parts = g_strsplit(value + 1, ",", -1);
        for (unsigned i = 0; parts[i] != NULL; i++)
            bt_field_integer_signed_set_value(
                bt_field_array_borrow_element_field_by_index(field, i),
                g_ascii_strtoll(parts[i], NULL, 10));
        break;
    }
    case KIND_WORD: {
        g_auto(GStrv) parts = g_strsplit_set(value, "<:>", -1);
        bt_field_integer_unsigned_set_value(field, g_ascii_strtoull(parts[2], NULL, 10));
        break;
    }
    }
}

static void push(struct writer *writer, bt_message *message)
{
    g_assert_nonnull(message);
    g_queue_push_tail(writer->ready, message);
}

static void end_packet(struct writer *writer, unsigned cpu)
{
    if (writer->packets[cpu] == NULL)
        return;
    push(writer, bt_message_packet_end_create_with_default_clock_snapshot(
                     writer->iterator, writer->packets[cpu], writer->last_time[cpu]));
    g_clear_pointer(&writer->packets[cpu], bt_packet_put_ref);
}

static void begin_packet(struct writer *writer, unsigned cpu, uint64_t time)
{
    writer->packets[cpu] = bt_packet_create(writer->streams[cpu]);
    writer->in_packet[cpu] = 0;
    bt_field *context = bt_packet_borrow_context_field(writer->packets[cpu]);
    bt_field_integer_unsigned_set_value(
        bt_field_structure_borrow_member_field_by_name(context, "cpu_id"), cpu);
    push(writer, bt_message_packet_beginning_create_with_default_clock_snapshot(
                     writer->iterator, writer->packets[cpu], time));
}

static void push_event(struct writer *writer, const struct line *line)
{
    unsigned cpu = line->cpu;
    if (writer->packets[cpu] != NULL && writer->in_packet[cpu] >= writer->packet_events)
        end_packet(writer, cpu);
    if (writer->packets[cpu] == NULL)
        begin_packet(writer, cpu, line->time);
    const bt_event_class *class_ = g_hash_table_lookup(writer->event_classes, line->name);
    bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(
        writer->iterator, class_, writer->packets[cpu], line->time);
    bt_event *event = bt_message_event_borrow_event(message);
    for (unsigned i = 0; i < line->field_count; i++) {
        bt_field *structure = line->fields[i].in_context
                                  ? bt_event_borrow_common_context_field(event)
                                  : bt_event_borrow_payload_field(event);
        bt_field *field =
            bt_field_structure_borrow_member_field_by_name(structure, line->fields[i].name);
        g_assert_nonnull(field);
        set_field(field, &line->fields[i]);
    }
    writer->in_packet[cpu]++;
    writer->last_time[cpu] = line->time;
    push(writer, message);
}

static bool prepare(struct writer *writer)
{
    if (writer->next == 0) {
        for (unsigned i = 0; i < CPUS_MAX; i++) {
            if (writer->streams[i] != NULL)
                push(writer,
                     bt_message_stream_beginning_create(writer->iterator, writer->streams[i]));
        }
    }
    if (writer->next < writer->lines->len) {
        push_event(writer, &g_array_index(writer->lines, struct line, writer->next));
        writer->next++;
        return true;
    }
    for (; writer->ending < CPUS_MAX; writer->ending++) {
        if (writer->streams[writer->ending] == NULL)
            continue;
        end_packet(writer, writer->ending);
        push(writer,
             bt_message_stream_end_create(writer->iterator, writer->streams[writer->ending]));
        writer->ending++;
        return true;
    }
    return false;
}

/* --- the graph --- */

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *iterator,
                                                         bt_message_array_const messages,
                                                         uint64_t capacity, uint64_t *count)
{
    struct writer *writer =
        bt_self_component_get_data(bt_self_message_iterator_borrow_component(iterator));
    writer->iterator = iterator;
    *count = 0;
    while (*count < capacity) {
        if (g_queue_is_empty(writer->ready) && !prepare(writer))
            break;
        messages[(*count)++] = g_queue_pop_head(writer->ready);
    }
    return *count == 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END
                       : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_source *source, bt_self_component_source_configuration *configuration,
           const bt_value *parameters, void *data)
{
    (void)configuration;
    (void)parameters;
    bt_self_component *self = bt_self_component_source_as_self_component(source);
    bt_self_component_set_data(self, data);
    bt_self_component_source_add_output_port(source, "out", NULL, NULL);
    make_classes(data, self);
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_source *source)
{
    put_classes(bt_self_component_get_data(bt_self_component_source_as_self_component(source)));
}

static void run(struct writer *writer, const char *folder)
{
    const bt_plugin *plugin;
    g_assert_cmpint(bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE, &plugin),
                    ==, BT_PLUGIN_FIND_STATUS_OK);
    const bt_component_class_sink *sink_class =
        bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs");
    bt_message_iterator_class *iterator_class = bt_message_iterator_class_create(next);
    bt_component_class_source *source_class =
        bt_component_class_source_create("text", iterator_class);
    bt_component_class_source_set_initialize_method(source_class, initialize);
    bt_component_class_source_set_finalize_method(source_class, finalize);
    bt_graph *graph = bt_graph_create(0);
    const bt_component_source *source;
    const bt_component_sink *sink;
    bt_value *parameters = bt_value_map_create();
    bt_value_map_insert_string_entry(parameters, "path", folder);
    bt_value_map_insert_bool_entry(parameters, "assume-single-trace", BT_TRUE);
    bt_value_map_insert_bool_entry(parameters, "quiet", BT_TRUE);
    if (bt_version_get_major() > 2 || bt_version_get_minor() >= 1) /* before, it knew no other */
        bt_value_map_insert_string_entry(parameters, "ctf-version", "1.8");
    g_assert_cmpint(bt_graph_add_source_component_with_initialize_method_data(
                        graph, source_class, "text", NULL, writer, BT_LOGGING_LEVEL_NONE, &source),
                    ==, BT_GRAPH_ADD_COMPONENT_STATUS_OK);
    g_assert_cmpint(bt_graph_add_sink_component(graph, sink_class, "fs", parameters,
                                                BT_LOGGING_LEVEL_NONE, &sink),
                    ==, BT_GRAPH_ADD_COMPONENT_STATUS_OK);
    g_assert_cmpint(bt_graph_connect_ports(
                        graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
                        bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL),
                    ==, BT_GRAPH_CONNECT_PORTS_STATUS_OK);
    g_assert_cmpint(bt_graph_run(graph), ==, BT_GRAPH_RUN_STATUS_OK);
    bt_value_put_ref(parameters);
    bt_graph_put_ref(graph);
    bt_component_class_source_put_ref(source_class);
    bt_message_iterator_class_put_ref(iterator_class);
    bt_plugin_put_ref(plugin);
}

static void put_event_class(void *class_)
{
    bt_event_class_put_ref(class_);
}

void ctf_write(const char *folder, const char *text)
{
    struct writer writer = {
        .packet_events = 1000,
        .lines = g_array_new(FALSE, FALSE, sizeof(struct line)),
        .event_classes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, put_event_class),
        .ready = g_queue_new(),
    };
    g_array_set_clear_func(writer.lines, clear_line);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i] != NULL; i++)
        parse_line(&writer, lines[i]);
    run(&writer, folder);
    g_assert_true(g_queue_is_empty(writer.ready));
    g_queue_free(writer.ready);
    g_hash_table_unref(writer.event_classes);
    g_array_unref(writer.lines);
    g_strfreev(writer.context);
}
