/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of the babeltrace2 library: a source for each trace folder, and one sink with a port for
 * each stream. The sink merges the streams itself: when one fails it is dropped, and the others go
 * on. */
#include <string.h>

#include "base/error.h"
#include "base/priority_queue.h"
#include "trace/ctf/ctf_import.h"

enum { STEP_EVENTS = 4096, NOTES_MAX = 100 };

struct port {
    bt_message_iterator *iterator;
    char *name;
    bt_message_array_const batch;
    uint64_t count, next;
    int64_t time; /* time of the next message, if it has one */
    unsigned ordinal, capability;
    const bt_message *event; /* the next message, if it is an event */
};

struct ctf_graph {
    struct port *ports;
    uint64_t port_count;
    void **heap; /* holds struct port, by time, then number of the port */
    uint64_t heap_count;
    struct ctf_types *types;
    struct ctf_log *log;
    const struct ctf_watcher *watcher;
    bool begun, told, has_base, has_epoch;
    int64_t base_ns, last_ns;
    unsigned note_count;
    uint64_t unknown_events;
    GError *failure;
};

/* --- error texts --- */

/* Appends a cause of the library without the values of its variables, which mean nothing to users:
 * "Cannot decode packet: msg-it-addr=0x55d0c0, cur=32" -> "Cannot decode packet". */
static void add_cause(GString *text, const char *message)
{
    size_t length = strlen(message);
    for (size_t at = 0; at + 2 < length; at++) {
        if (message[at] != ':' || message[at + 1] != ' ')
            continue;
        size_t word = strcspn(message + at + 2, " =,");
        if (message[at + 2 + word] == '=')
            length = at;
    }
    while (length > 0 && strchr(" .,:", message[length - 1]) != NULL)
        length--;
    g_autofree char *cause = g_strndup(message, length);
    if (length > 0 && strstr(text->str, cause) == NULL && strstr(cause, "0x") == NULL &&
        strchr(cause, '=') == NULL)
        g_string_append_printf(text, "%s%s", text->len == 0 ? "" : "; ", cause);
}

/* Returns the error of this thread; the library forgets it. Caller frees. */
static char *take_error(void)
{
    const bt_error *error = bt_current_thread_take_error();
    if (error == NULL)
        return g_strdup("no reason given");
    GString *text = g_string_new(NULL);
    /* Cause 0 is the root cause; later ones only say that something failed. */
    uint64_t count = MIN(bt_error_get_cause_count(error), 3);
    for (uint64_t i = 0; i < count; i++)
        add_cause(text, bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, i)));
    bt_error_release(error);
    if (text->len == 0)
        g_string_append(text, "damaged");
    char *valid = g_utf8_make_valid(text->str, (gssize)text->len);
    g_string_free(text, TRUE);
    return g_strdelimit(valid, "\n\r", ' ');
}

static void note(struct ctf_graph *graph, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void note(struct ctf_graph *graph, const char *format, ...)
{
    if (graph->watcher->note == NULL || ++graph->note_count > NOTES_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *line = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    graph->watcher->note(graph->watcher->user, line);
}

/* --- one stream --- */

static void take_cpu(struct port *port, const bt_packet *packet)
{
    const bt_field *context = bt_packet_borrow_context_field_const(packet);
    const bt_field *cpu =
        context == NULL ? NULL
                        : bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id");
    if (cpu != NULL && bt_field_class_type_is(bt_field_get_class_type(cpu),
                                              BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
        uint64_t number = bt_field_integer_unsigned_get_value(cpu);
        port->capability = (unsigned)MIN(number, CTF_CAPABILITIES_MAX);
    }
}

static void take_stream(struct ctf_graph *graph, const bt_stream *stream)
{
    const bt_stream_class *class_ = bt_stream_borrow_class_const(stream);
    fm_ctf_types_add(graph->types, bt_stream_class_borrow_trace_class_const(class_));
    const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class_);
    graph->has_epoch |= clock != NULL && bt_clock_class_origin_is_unix_epoch(clock);
}

static void take_lost(struct ctf_graph *graph, struct port *port, const bt_message *message)
{
    uint64_t count = 0;
    bool packets = bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_PACKETS;
    bt_property_availability known = packets
                                         ? bt_message_discarded_packets_get_count(message, &count)
                                         : bt_message_discarded_events_get_count(message, &count);
    g_autofree char *number = known == BT_PROPERTY_AVAILABILITY_AVAILABLE
                                  ? g_strdup_printf("%" G_GUINT64_FORMAT, count)
                                  : g_strdup("some");
    uint64_t after = graph->has_base ? (uint64_t)(port->time - graph->base_ns) : 0;
    note(graph, "%s: CPU %u: the tracer lost %s %s after %" G_GUINT64_FORMAT ".%09u s", port->name,
         port->capability, number, packets ? "packets" : "events", after / 1000000000,
         (unsigned)(after % 1000000000));
}

/* The event's time; without a clock, that of the previous message. */
static void take_time(struct port *port, const bt_message *message)
{
    const bt_event_class *class_ =
        bt_event_borrow_class_const(bt_message_event_borrow_event_const(message));
    const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
        bt_event_class_borrow_stream_class_const(class_));
    int64_t time;
    if (clock != NULL && bt_clock_snapshot_get_ns_from_origin(
                             bt_message_event_borrow_default_clock_snapshot_const(message),
                             &time) == BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
        port->time = time;
}

static void take_message(struct ctf_graph *graph, struct port *port, const bt_message *message)
{
    switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_STREAM_BEGINNING:
        take_stream(graph, bt_message_stream_beginning_borrow_stream_const(message));
        break;
    case BT_MESSAGE_TYPE_PACKET_BEGINNING:
        take_cpu(port, bt_message_packet_beginning_borrow_packet_const(message));
        break;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
    case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
        take_lost(graph, port, message);
        break;
    case BT_MESSAGE_TYPE_EVENT:
        take_time(port, message);
        port->event = message;
        break;
    default:
        break;
    }
}

/* Fetches the next batch; false when the stream has ended or failed. */
static bool fill(struct ctf_graph *graph, struct port *port)
{
    port->next = port->count = 0;
    bt_message_iterator_next_status status =
        bt_message_iterator_next(port->iterator, &port->batch, &port->count);
    if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
        return true;
    if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
        g_autofree char *reason = take_error();
        uint64_t after = graph->has_base ? (uint64_t)(port->time - graph->base_ns) : 0;
        note(graph,
             "%s: CPU %u: the rest of the stream, after %" G_GUINT64_FORMAT
             ".%09u s, could not be read: %s",
             port->name, port->capability, after / 1000000000, (unsigned)(after % 1000000000),
             reason);
    }
    port->count = 0;
    return false;
}

/* Moves to the stream's next event; false at its end. */
static bool to_event(struct ctf_graph *graph, struct port *port)
{
    port->event = NULL;
    while (port->event == NULL) {
        if (port->next >= port->count && !fill(graph, port))
            return false;
        while (port->event == NULL && port->next < port->count) {
            const bt_message *message = port->batch[port->next++];
            take_message(graph, port, message);
            if (port->event == NULL)
                bt_message_put_ref(message);
        }
    }
    return true;
}

static void drop_batch(struct port *port)
{
    if (port->event != NULL)
        bt_message_put_ref(port->event);
    while (port->next < port->count)
        bt_message_put_ref(port->batch[port->next++]);
    port->event = NULL;
}

/* --- the merge --- */

static bool comes_before(const void *first, const void *second)
{
    const struct port *a = first, *b = second;
    return a->time != b->time ? a->time < b->time : a->ordinal < b->ordinal;
}

/* Reads every stream up to its first event: then all classes are known, and the header can be
 * made. */
static void begin(struct ctf_graph *graph)
{
    for (uint64_t i = 0; i < graph->port_count; i++) {
        if (to_event(graph, &graph->ports[i]))
            graph->heap[graph->heap_count++] = &graph->ports[i];
    }
    fm_queue_make(graph->heap, graph->heap_count, comes_before);
    if (graph->heap_count > 0) {
        graph->has_base = true;
        graph->base_ns = graph->last_ns = ((const struct port *)graph->heap[0])->time;
    }
    struct fm_eventlog_header *header = fm_ctf_types_header(graph->types);
    fm_ctf_log_header(graph->log, header);
    fm_eventlog_header_unref(header);
    /* Each known capability has a block in the first round. */
    for (uint64_t i = 0; i < graph->heap_count; i++) {
        const struct port *port = graph->heap[i];
        fm_ctf_log_place(graph->log, port->capability, 0);
    }
    graph->begun = true;
}

static void tell_growth(struct ctf_graph *graph)
{
    if (!graph->told && graph->watcher->begun != NULL)
        graph->watcher->begun(graph->watcher->user, graph->has_epoch, graph->base_ns);
    else if (graph->watcher->grown != NULL)
        graph->watcher->grown(graph->watcher->user);
    graph->told = true;
}

static void write_event(struct ctf_graph *graph, struct port *port)
{
    /* A stream whose times go back keeps its own order. */
    graph->last_ns = MAX(graph->last_ns, port->time);
    uint64_t time = (uint64_t)graph->last_ns - (uint64_t)graph->base_ns;
    GByteArray *place = fm_ctf_log_place(graph->log, port->capability, time);
    if (!fm_ctf_types_append(graph->types, bt_message_event_borrow_event_const(port->event), time,
                             place))
        graph->unknown_events++;
    bt_message_put_ref(port->event);
    port->event = NULL;
}

static bool step(struct ctf_graph *graph)
{
    bool written = false;
    for (unsigned i = 0; i < STEP_EVENTS && graph->heap_count > 0; i++) {
        struct port *first = graph->heap[0];
        write_event(graph, first);
        if (!to_event(graph, first))
            graph->heap[0] = graph->heap[--graph->heap_count];
        if (graph->heap_count > 0)
            fm_queue_sift_down(graph->heap, graph->heap_count, 0, comes_before);
        if (!fm_ctf_log_round(graph->log, false, &written, &graph->failure))
            return false;
        if (written)
            tell_growth(graph);
    }
    if (graph->heap_count > 0)
        return true;
    if (graph->unknown_events > 0)
        note(graph, "%" G_GUINT64_FORMAT " events left out: their types were declared too late",
             graph->unknown_events);
    if (!fm_ctf_log_end(graph->log, &graph->failure))
        return false;
    tell_growth(graph);
    return true;
}

/* --- the sink --- */

static struct ctf_graph *graph_of(bt_self_component_sink *sink)
{
    return bt_self_component_get_data(bt_self_component_sink_as_self_component(sink));
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *sink)
{
    struct ctf_graph *graph = graph_of(sink);
    if (!graph->begun)
        begin(graph);
    if (!step(graph) || graph->heap_count == 0)
        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
    return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *sink, bt_self_component_sink_configuration *configuration,
           const bt_value *parameters, void *data)
{
    struct ctf_graph *graph = data;
    (void)configuration;
    (void)parameters;
    bt_self_component_set_data(bt_self_component_sink_as_self_component(sink), graph);
    for (uint64_t i = 0; i < graph->port_count; i++) {
        g_autofree char *name = g_strdup_printf("in%" G_GUINT64_FORMAT, i);
        if (bt_self_component_sink_add_input_port(sink, name, NULL, NULL) !=
            BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
            return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
    }
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
configured(bt_self_component_sink *sink)
{
    struct ctf_graph *graph = graph_of(sink);
    for (uint64_t i = 0; i < graph->port_count; i++) {
        bt_self_component_port_input *port =
            bt_self_component_sink_borrow_input_port_by_index(sink, i);
        if (bt_message_iterator_create_from_sink_component(sink, port, &graph->ports[i].iterator) !=
            BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
            return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
    }
    return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_sink *sink)
{
    struct ctf_graph *graph = graph_of(sink);
    for (uint64_t i = 0; i < graph->port_count; i++) {
        drop_batch(&graph->ports[i]);
        if (graph->ports[i].iterator != NULL)
            bt_message_iterator_put_ref(graph->ports[i].iterator);
        graph->ports[i].iterator = NULL;
    }
}

/* --- trial: reads everything, keeps nothing --- */

static bt_component_class_sink_consume_method_status consume_trial(bt_self_component_sink *sink)
{
    struct ctf_graph *graph = graph_of(sink);
    for (uint64_t i = 0; i < graph->port_count; i++) {
        while (to_event(graph, &graph->ports[i]))
            g_clear_pointer(&graph->ports[i].event, bt_message_put_ref);
    }
    return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

/* --- the graph --- */

const bt_component_source *fm_ctf_add_source(bt_graph *graph, const char *folder, const char *name,
                                             char **ret_message)
{
    const bt_plugin *plugin = NULL;
    const bt_component_source *source = NULL;
    *ret_message = NULL;
    if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE, &plugin) !=
        BT_PLUGIN_FIND_STATUS_OK) {
        *ret_message = g_strdup("the babeltrace2 library has no plugin \"ctf\"");
        return NULL;
    }
    const bt_component_class_source *class_ =
        bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
    bt_value *parameters = bt_value_map_create();
    bt_value *inputs = NULL;
    (void)bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs);
    (void)bt_value_array_append_string_element(inputs, folder);
    if (bt_graph_add_source_component(graph, class_, name, parameters, BT_LOGGING_LEVEL_NONE,
                                      &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
        *ret_message = take_error();
        source = NULL;
    }
    bt_value_put_ref(parameters);
    bt_plugin_put_ref(plugin);
    return source;
}

static uint64_t count_ports(const GPtrArray *components)
{
    uint64_t count = 0;
    for (guint i = 0; i < components->len; i++)
        count += bt_component_source_get_output_port_count(components->pdata[i]);
    return count;
}

static void connect_ports(struct ctf_graph *graph, bt_graph *bt, const GPtrArray *components,
                          const GPtrArray *names, const bt_component_sink *sink)
{
    uint64_t number = 0;
    for (guint i = 0; i < components->len; i++) {
        const bt_component_source *source = components->pdata[i];
        uint64_t count = bt_component_source_get_output_port_count(source);
        for (uint64_t j = 0; j < count; j++, number++) {
            const bt_port_output *output =
                bt_component_source_borrow_output_port_by_index_const(source, j);
            struct port *port = &graph->ports[number];
            port->name = g_strdup(names->pdata[i]);
            port->ordinal = (unsigned)number;
            port->capability = (unsigned)MIN(number, CTF_CAPABILITIES_MAX);
            (void)bt_graph_connect_ports(
                bt, output, bt_component_sink_borrow_input_port_by_index_const(sink, number), NULL);
        }
    }
}

static bt_component_class_sink *make_sink_class(bt_component_class_sink_consume_method method)
{
    bt_component_class_sink *class_ = bt_component_class_sink_create("log", method);
    bt_component_class_sink_set_initialize_method(class_, initialize);
    bt_component_class_sink_set_graph_is_configured_method(class_, configured);
    bt_component_class_sink_set_finalize_method(class_, finalize);
    return class_;
}

static void run(struct ctf_graph *graph, bt_graph *bt, const GPtrArray *components,
                const GPtrArray *names, bt_component_class_sink_consume_method method)
{
    const bt_component_sink *sink;
    bt_component_class_sink *class_ = make_sink_class(method);
    graph->port_count = count_ports(components);
    graph->ports = g_new0(struct port, graph->port_count);
    graph->heap = g_new0(void *, graph->port_count);
    bool good = bt_graph_add_sink_component_with_initialize_method_data(
                    bt, class_, "log", NULL, graph, BT_LOGGING_LEVEL_NONE, &sink) ==
                BT_GRAPH_ADD_COMPONENT_STATUS_OK;
    if (good) {
        connect_ports(graph, bt, components, names, sink);
        good = bt_graph_run(bt) == BT_GRAPH_RUN_STATUS_OK;
    }
    if (!good && graph->failure == NULL) {
        g_autofree char *reason = take_error();
        g_set_error(&graph->failure, FM_ERROR, FM_ERROR_FORMAT, "%s", reason);
    }
    bt_component_class_sink_put_ref(class_);
}

static void free_ports(struct ctf_graph *graph)
{
    for (uint64_t i = 0; i < graph->port_count; i++)
        g_free(graph->ports[i].name);
    g_free(graph->ports);
    g_free(graph->heap);
}

static void count_note(void *user, const char *line)
{
    unsigned *count = user;
    (void)line;
    ++*count;
}

bool fm_ctf_read_all(bt_graph *bt, const bt_component_source *source)
{
    unsigned failures = 0;
    const struct ctf_watcher watcher = {.user = &failures, .note = count_note};
    struct ctf_graph graph = {.watcher = &watcher, .types = fm_ctf_types_new()};
    g_autoptr(GPtrArray) names = g_ptr_array_new(), components = g_ptr_array_new();
    g_ptr_array_add(names, NULL);
    g_ptr_array_add(components, (void *)(uintptr_t)source);
    run(&graph, bt, components, names, consume_trial);
    bool good = graph.failure == NULL && failures == 0;
    g_clear_error(&graph.failure);
    fm_ctf_types_free(graph.types);
    /* The ports belong to the sink, which lives as long as the graph. */
    return good;
}

/* --- from outside --- */

struct ctf_graph *fm_ctf_graph_new(const struct ctf_watcher *watcher, int fd)
{
    struct ctf_graph *graph = g_new0(struct ctf_graph, 1);
    g_assert(watcher != NULL && fd >= 0);
    graph->watcher = watcher;
    graph->types = fm_ctf_types_new();
    graph->log = fm_ctf_log_new(fd);
    return graph;
}

bool fm_ctf_graph_run(struct ctf_graph *graph, bt_graph *bt, const GPtrArray *components,
                      const GPtrArray *names, GError **error)
{
    g_assert(graph->ports == NULL && components->len > 0 && components->len == names->len);
    run(graph, bt, components, names, consume);
    if (graph->failure == NULL)
        return true;
    g_propagate_error(error, g_steal_pointer(&graph->failure));
    return false;
}

void fm_ctf_graph_note_lines(struct ctf_graph *graph, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i] != NULL; i++) {
        if (lines[i][0] != '\0')
            note(graph, "%s", lines[i]);
    }
}

void fm_ctf_graph_free(struct ctf_graph *graph)
{
    const struct ctf_watcher *watcher = graph->watcher;
    fm_ctf_graph_note_lines(graph, fm_ctf_types_notes(graph->types));
    if (graph->note_count > NOTES_MAX && watcher->note != NULL)
        watcher->note(watcher->user, "further messages of this kind are left out");
    fm_ctf_types_free(graph->types);
    fm_ctf_log_free(graph->log);
    free_ports(graph);
    g_free(graph);
}
