/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments of CTF 2 metadata. */
#include "trace/ctf/ctf2.h"

#include <string.h>

#include "base/error.h"
#include "trace/ctf/ctf2_internal.h"
#include "trace/format/ctf.h"

/* --- fragments, see the table below --- */

static bool read_preamble(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    uint64_t version, byte;
    struct fm_json_value uuid = fm_json_member(fragment, "uuid"), item, name = uuid;
    struct fm_json_items items = fm_json_items(fm_json_member(fragment, "extensions"));
    if (!fm_ctf2_number(ctf2, fragment, "version", 0, &version))
        return false;
    if (version != 2)
        return fm_ctf2_fail(ctf2, fragment, "found version %" G_GUINT64_FORMAT ", expected 2",
                            version);
    if (fm_json_next(&items, &name, &item))
        return fm_ctf2_fail(ctf2, item,
                            "found extensions in the namespace %.*s, of which none is "
                            "known",
                            (int)MIN(name.end - name.at, 200), name.at);
    unsigned count = 0;
    for (items = fm_json_items(uuid); fm_json_next(&items, NULL, &item); count++) {
        if (!fm_json_whole(item, &byte) || byte > UINT8_MAX)
            count = 16;
    }
    if (uuid.at != NULL && count != 16)
        return fm_ctf2_fail(ctf2, uuid, "expected a UUID, 16 numbers below 256");
    ctf2->preamble = fragment;
    return true;
}

static bool read_alias(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    struct fm_json_value class_ = fm_json_member(fragment, "field-class");
    g_autofree char *name = fm_json_string(fm_json_member(fragment, "name"));
    if (class_.at == NULL || name[0] == '\0')
        return fm_ctf2_fail(ctf2, fragment, "expected a name and a field-class");
    if (*class_.at == '"') { /* so that an alias is never looked up twice */
        g_autofree char *other = fm_json_string(class_);
        const struct fm_json_value *known = g_hash_table_lookup(ctf2->aliases, other);
        if (known == NULL)
            return fm_ctf2_fail(ctf2, class_,
                                "found the field class alias \"%s\", which is not "
                                "declared before",
                                other);
        class_ = *known;
    }
    g_hash_table_insert(ctf2->aliases, g_steal_pointer(&name), g_memdup2(&class_, sizeof class_));
    return true;
}

static bool read_scope(struct ctf2 *ctf2, struct fm_json_value fragment, const char *member,
                       enum ctf2_scope scope, struct ctf2_field **ret)
{
    struct fm_json_value class_ = fm_json_member(fragment, member);
    if (class_.at == NULL)
        return true;
    *ret = fm_ctf2_field_new(ctf2, class_, scope);
    return *ret != NULL;
}

static bool read_trace_class(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    if (ctf2->trace_class.at != NULL)
        return fm_ctf2_fail(ctf2, fragment, "found a second trace class");
    ctf2->trace_class = fragment;
    return read_scope(ctf2, fragment, "packet-header-field-class", CTF2_PACKET_HEADER,
                      &ctf2->packet_header);
}

static bool read_clock(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    uint64_t frequency, cycles, seconds;
    struct fm_json_value offset = fm_json_member(fragment, "offset-from-origin");
    struct fm_json_value value = fm_json_member(offset, "seconds");
    struct fm_json_value digits = value;
    if (!fm_ctf2_number(ctf2, fragment, "frequency", 0, &frequency) ||
        !fm_ctf2_number(ctf2, offset, "cycles", 0, &cycles))
        return false;
    if (frequency == 0)
        return fm_ctf2_fail(ctf2, fragment, "expected a clock with a frequency");
    if (value.at != NULL && *value.at == '-')
        digits.at++;
    if (value.at != NULL && (!fm_json_whole(digits, &seconds) || seconds > G_MAXINT64))
        return fm_ctf2_fail(ctf2, value, "expected a whole number of seconds");
    struct ctf2_clock *clock = g_new0(struct ctf2_clock, 1);
    clock->id = g_strdup_printf("clock_%u", ctf2->clocks->len);
    clock->fragment = fragment;
    g_ptr_array_add(ctf2->clocks, clock);
    return true;
}

/* Drafts of CTF 2 named clocks by their name. */
static bool find_clock(struct ctf2 *ctf2, struct fm_json_value fragment, struct ctf2_stream *stream)
{
    static const char *const ways[][2] = {{"default-clock-class-id", "id"},
                                          {"default-clock-class-name", "name"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(ways); i++) {
        struct fm_json_value wanted = fm_json_member(fragment, ways[i][0]);
        g_autofree char *id = fm_json_string(wanted);
        for (guint j = 0; j < ctf2->clocks->len && wanted.at != NULL; j++) {
            const struct ctf2_clock *clock = ctf2->clocks->pdata[j];
            if (fm_json_equals(fm_json_member(clock->fragment, ways[i][1]), id))
                stream->clock = clock;
        }
        if (wanted.at != NULL && stream->clock == NULL)
            return fm_ctf2_fail(ctf2, wanted,
                                "found the clock \"%s\", which is not declared "
                                "before",
                                id);
    }
    return true;
}

static struct ctf2_stream *find_stream(const struct ctf2 *ctf2, uint64_t id)
{
    for (guint i = 0; i < ctf2->streams->len; i++) {
        struct ctf2_stream *stream = ctf2->streams->pdata[i];
        if (stream->id == id)
            return stream;
    }
    return NULL;
}

static bool read_stream_class(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    uint64_t id;
    if (!fm_ctf2_number(ctf2, fragment, "id", 0, &id))
        return false;
    if (find_stream(ctf2, id) != NULL)
        return fm_ctf2_fail(ctf2, fragment, "found a second data stream class %" G_GUINT64_FORMAT,
                            id);
    struct ctf2_stream *stream = g_new0(struct ctf2_stream, 1);
    stream->id = id;
    g_ptr_array_add(ctf2->streams, stream);
    return find_clock(ctf2, fragment, stream) &&
           read_scope(ctf2, fragment, "packet-context-field-class", CTF2_PACKET_CONTEXT,
                      &stream->scopes[CTF2_PACKET_CONTEXT]) &&
           read_scope(ctf2, fragment, "event-record-header-field-class", CTF2_EVENT_HEADER,
                      &stream->scopes[CTF2_EVENT_HEADER]) &&
           read_scope(ctf2, fragment, "event-record-common-context-field-class",
                      CTF2_COMMON_CONTEXT, &stream->scopes[CTF2_COMMON_CONTEXT]);
}

/* Whether it takes at least one bit, whatever the lengths and selectors are. */
static bool has_size(const struct ctf2_field *field)
{
    if (field == NULL || field->kind == CTF2_VARIANT)
        return false;
    if (field->kind == CTF2_ARRAY && field->length == 0)
        return false;
    bool any = field->kind != CTF2_STRUCTURE && field->kind != CTF2_ARRAY;
    for (guint i = 0; !any && i < field->parts->len; i++)
        any = has_size(field->parts->pdata[i]);
    return any;
}

static bool read_event_class(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    uint64_t id, stream_id;
    if (!fm_ctf2_number(ctf2, fragment, "id", 0, &id) ||
        !fm_ctf2_number(ctf2, fragment, "data-stream-class-id", 0, &stream_id))
        return false;
    struct ctf2_stream *stream = find_stream(ctf2, stream_id);
    if (stream == NULL)
        return fm_ctf2_fail(ctf2, fragment,
                            "found an event record class of the data stream class "
                            "%" G_GUINT64_FORMAT ", which is not declared before",
                            stream_id);
    struct ctf2_event *event = g_new0(struct ctf2_event, 1);
    event->id = id;
    event->stream = stream;
    g_ptr_array_add(ctf2->events, event);
    event->name = fm_json_string(fm_json_member(fragment, "name"));
    if (event->name[0] == '\0') {
        g_free(event->name);
        event->name = g_strdup_printf("event %" G_GUINT64_FORMAT, id);
    }
    if (!read_scope(ctf2, fragment, "specific-context-field-class", CTF2_SPECIFIC_CONTEXT,
                    &event->specific_context) ||
        !read_scope(ctf2, fragment, "payload-field-class", CTF2_PAYLOAD, &event->payload))
        return false;
    if (has_size(stream->scopes[CTF2_EVENT_HEADER]) ||
        has_size(stream->scopes[CTF2_COMMON_CONTEXT]) || has_size(event->specific_context) ||
        has_size(event->payload))
        return true;
    /* The reader would find any number of them. */
    return fm_ctf2_fail(ctf2, fragment,
                        "found the event record class \"%s\", whose records may take "
                        "no bit, expected a field",
                        event->name);
}

/* --- all fragments --- */

static const struct {
    const char *type;
    bool (*read)(struct ctf2 *ctf2, struct fm_json_value fragment);
} types[] = {
    {"preamble", read_preamble},
    {"field-class-alias", read_alias},
    {"trace-class", read_trace_class},
    {"clock-class", read_clock},
    {"data-stream-class", read_stream_class},
    {"event-record-class", read_event_class},
};

static bool read_fragment(struct ctf2 *ctf2, struct fm_json_value fragment)
{
    struct fm_json_value type = fm_json_member(fragment, "type");
    if (fm_json_equals(type, types[0].type) == (ctf2->preamble.at != NULL))
        return fm_ctf2_fail(ctf2, fragment, "expected one preamble, as the first fragment");
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        if (fm_json_equals(type, types[i].type))
            return types[i].read(ctf2, fragment);
    }
    g_autofree char *name = fm_json_string(type);
    return fm_ctf2_fail(ctf2, fragment, "found a fragment of the unknown type \"%s\"", name);
}

static bool read_fragments(struct ctf2 *ctf2, size_t size, GString *notes)
{
    struct fm_ctf_fragments fragments = {.text = ctf2->text, .size = size};
    struct fm_json_value fragment;
    while (fm_ctf_fragment_next(&fragments, &fragment, &ctf2->error)) {
        if (!read_fragment(ctf2, fragment))
            return false;
    }
    /* A tracer that still writes, or was killed: what came before is whole. */
    if (ctf2->error != NULL && fragments.at == size && ctf2->events->len > 0) {
        g_string_append_printf(notes, "the last fragment is left out: %s\n", ctf2->error->message);
        g_clear_error(&ctf2->error);
    }
    return ctf2->error == NULL;
}

static bool link_all(struct ctf2 *ctf2)
{
    struct ctf2_field *scopes[CTF2_SCOPES] = {[CTF2_PACKET_HEADER] = ctf2->packet_header};
    if (ctf2->packet_header != NULL && !fm_ctf2_link(ctf2, ctf2->packet_header, scopes))
        return false;
    for (guint i = 0; i < ctf2->streams->len; i++) {
        struct ctf2_stream *stream = ctf2->streams->pdata[i];
        stream->scopes[CTF2_PACKET_HEADER] = ctf2->packet_header;
        for (unsigned j = CTF2_PACKET_CONTEXT; j <= CTF2_COMMON_CONTEXT; j++) {
            if (stream->scopes[j] != NULL && !fm_ctf2_link(ctf2, stream->scopes[j], stream->scopes))
                return false;
        }
    }
    for (guint i = 0; i < ctf2->events->len; i++) {
        const struct ctf2_event *event = ctf2->events->pdata[i];
        memcpy(scopes, event->stream->scopes, sizeof scopes);
        scopes[CTF2_SPECIFIC_CONTEXT] = event->specific_context;
        scopes[CTF2_PAYLOAD] = event->payload;
        for (unsigned j = CTF2_SPECIFIC_CONTEXT; j <= CTF2_PAYLOAD; j++) {
            if (scopes[j] != NULL && !fm_ctf2_link(ctf2, scopes[j], scopes))
                return false;
        }
    }
    return true;
}

static void free_clock(void *data)
{
    struct ctf2_clock *clock = data;
    g_free(clock->id);
    g_free(clock);
}

static void free_stream(void *data)
{
    struct ctf2_stream *stream = data;
    for (unsigned i = CTF2_PACKET_CONTEXT; i <= CTF2_COMMON_CONTEXT; i++)
        fm_ctf2_field_free(stream->scopes[i]);
    g_free(stream);
}

static void free_event(void *data)
{
    struct ctf2_event *event = data;
    fm_ctf2_field_free(event->specific_context);
    fm_ctf2_field_free(event->payload);
    g_free(event->name);
    g_free(event);
}

bool fm_ctf2_to_tsdl(const char *text, size_t size, GString *ret, GString *notes, GError **error)
{
    struct ctf2 ctf2 = {
        .text = text,
        .aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .clocks = g_ptr_array_new_with_free_func(free_clock),
        .streams = g_ptr_array_new_with_free_func(free_stream),
        .events = g_ptr_array_new_with_free_func(free_event),
    };
    bool good = read_fragments(&ctf2, size, notes);
    if (good && ctf2.streams->len == 0)
        good = fm_ctf2_fail(&ctf2, (struct fm_json_value){text + size, NULL},
                            "expected a data stream class");
    good = good && link_all(&ctf2);
    if (good)
        fm_ctf2_write(&ctf2, ret);
    else
        g_propagate_error(error, g_steal_pointer(&ctf2.error));
    g_ptr_array_unref(ctf2.events);
    g_ptr_array_unref(ctf2.streams);
    g_ptr_array_unref(ctf2.clocks);
    fm_ctf2_field_free(ctf2.packet_header);
    g_hash_table_unref(ctf2.aliases);
    return good;
}
