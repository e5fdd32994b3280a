/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations as TSDL (CTF 1.8, sections 4 and 7). */
#include <string.h>

#include "trace/ctf/ctf2_internal.h"

struct writing {
    GString *to;
    const struct ctf2_clock *clock; /* the stream's; NULL = none */
};

static void write_field(struct writing *writing, const struct ctf2_field *field);

/* --- numbers --- */

static void write_integer(struct writing *writing, const struct ctf2_field *field)
{
    g_string_append_printf(writing->to,
                           "integer { size = %u; align = %" G_GUINT64_FORMAT
                           "; signed = %s; byte_order = %s; ",
                           field->bits, field->alignment, field->is_signed ? "true" : "false",
                           field->big_endian ? "be" : "le");
    if (field->base != 0)
        g_string_append_printf(writing->to, "base = %u; ", field->base);
    if (field->is_text)
        g_string_append(writing->to, "encoding = UTF8; ");
    if (field->timed && writing->clock != NULL)
        g_string_append_printf(writing->to, "map = clock.%s.value; ", writing->clock->id);
    g_string_append(writing->to, "}");
}

/* The mappings have been checked. */
static void write_mappings(GString *to, const struct ctf2_field *field)
{
    struct fm_json_items items = fm_json_items(field->mappings);
    struct fm_json_value name, value;
    struct ctf2 unused = {0};
    while (fm_json_next(&items, &name, &value)) {
        g_autofree char *label = fm_json_string(name);
        g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct ctf2_range));
        if (fm_ctf2_ranges(&unused, field, value, ranges))
            fm_ctf2_append_label(to, label, field, ranges);
    }
    g_clear_error(&unused.error);
    if (field->labels != NULL)
        g_string_append(to, field->labels->str);
}

static void write_number(struct writing *writing, const struct ctf2_field *field)
{
    g_autoptr(GString) mappings = g_string_new(NULL);
    write_mappings(mappings, field);
    if (mappings->len > 0)
        g_string_append(writing->to, "enum : ");
    write_integer(writing, field);
    if (mappings->len > 0) {
        g_string_truncate(mappings, mappings->len - strlen(", "));
        g_string_append_printf(writing->to, " { %s }", mappings->str);
    }
}

static void write_real(GString *to, const struct ctf2_field *field)
{
    unsigned exponent = field->bits == 32 ? 8 : 11;
    g_string_append_printf(
        to,
        "floating_point { exp_dig = %u; mant_dig = %u; align = %" G_GUINT64_FORMAT
        "; byte_order = %s; }",
        exponent, field->bits - exponent, field->alignment, field->big_endian ? "be" : "le");
}

/* --- compounds --- */

static void write_members(struct writing *writing, const struct ctf2_field *field)
{
    for (guint i = 0; i < field->parts->len; i++) {
        const struct ctf2_field *part = field->parts->pdata[i];
        /* An array of TSDL is aligned as its elements are. */
        if (part->kind == CTF2_ARRAY && part->alignment > 1)
            g_string_append_printf(
                writing->to, "struct { } align(%" G_GUINT64_FORMAT ") " FM_CTF2_OWN "align_%u;\n",
                part->alignment, part->number);
        write_field(writing, part);
        g_string_append(writing->to, ";\n");
    }
}

static void write_structure(struct writing *writing, const struct ctf2_field *field)
{
    g_string_append(writing->to, "struct {\n");
    write_members(writing, field);
    g_string_append_printf(writing->to, "} align(%" G_GUINT64_FORMAT ")", field->alignment);
}

static void write_variant(struct writing *writing, const struct ctf2_field *field)
{
    g_string_append_printf(writing->to, "variant <%s> {\n", field->target->id);
    for (guint i = 0; i < field->parts->len; i++) {
        write_field(writing, field->parts->pdata[i]);
        g_string_append(writing->to, ";\n");
    }
    g_string_append(writing->to, "}");
}

static void write_type(struct writing *writing, const struct ctf2_field *field)
{
    switch (field->kind) {
    case CTF2_INTEGER:
        write_number(writing, field);
        break;
    case CTF2_REAL:
        write_real(writing->to, field);
        break;
    case CTF2_STRING:
        g_string_append(writing->to, "string { encoding = UTF8; }");
        break;
    case CTF2_STRUCTURE:
        write_structure(writing, field);
        break;
    case CTF2_VARIANT:
        write_variant(writing, field);
        break;
    case CTF2_ARRAY: /* a declarator, not a type: see write_field() */
        break;
    }
}

/* The type of the innermost element, the name, and the lengths of arrays. */
static void write_field(struct writing *writing, const struct ctf2_field *field)
{
    const struct ctf2_field *innermost = field;
    while (innermost->kind == CTF2_ARRAY)
        innermost = innermost->parts->pdata[0];
    write_type(writing, innermost);
    g_string_append_printf(writing->to, " %s", field->id);
    for (; field->kind == CTF2_ARRAY; field = field->parts->pdata[0]) {
        g_string_append_c(writing->to, '[');
        if (field->target != NULL)
            fm_ctf2_append_path(writing->to, field->target);
        else
            g_string_append_printf(writing->to, "%" G_GUINT64_FORMAT, field->length);
        g_string_append_c(writing->to, ']');
    }
}

static void write_scope(struct writing *writing, const char *name, const struct ctf2_field *field)
{
    if (field == NULL)
        return;
    g_string_append_printf(writing->to, "%s := ", name);
    write_structure(writing, field);
    g_string_append(writing->to, ";\n");
}

/* --- declarations --- */

/* By the tracer's version the library corrects known faults of its traces. */
static void write_environment(GString *to, struct fm_json_value trace_class)
{
    static const char *const names[] = {"tracer_name", "tracer_major", "tracer_minor",
                                        "tracer_patchlevel"};
    struct fm_json_value environment = fm_json_member(trace_class, "environment");
    g_autoptr(GString) entries = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        struct fm_json_value value = fm_json_member(environment, names[i]);
        uint64_t number;
        if (fm_json_whole(value, &number) && number <= G_MAXINT32) {
            g_string_append_printf(entries, "%s = %" G_GUINT64_FORMAT ";\n", names[i], number);
        } else if (value.at != NULL && *value.at == '"') {
            g_autofree char *text = fm_json_string(value);
            g_string_append_printf(entries, "%s = ", names[i]);
            fm_ctf2_append_quoted(entries, text);
            g_string_append(entries, ";\n");
        }
    }
    if (entries->len > 0)
        g_string_append_printf(to, "env {\n%s};\n", entries->str);
}

/* uuid: 16 numbers; checked before. */
static void write_trace(const struct ctf2 *ctf2, GString *to)
{
    struct writing writing = {.to = to};
    struct fm_json_items items = fm_json_items(fm_json_member(ctf2->preamble, "uuid"));
    struct fm_json_value item;
    bool any = items.at != NULL;
    g_string_append(to, "trace {\nmajor = 1;\nminor = 8;\nbyte_order = le;\n");
    if (any)
        g_string_append(to, "uuid = \"");
    for (unsigned i = 0; fm_json_next(&items, NULL, &item); i++) {
        uint64_t byte = 0;
        (void)fm_json_whole(item, &byte);
        g_string_append_printf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                               (unsigned)byte);
    }
    if (any)
        g_string_append(to, "\";\n");
    write_scope(&writing, "packet.header", ctf2->packet_header);
    g_string_append(to, "};\n");
}

static void write_clock(GString *to, const struct ctf2_clock *clock)
{
    struct fm_json_value fragment = clock->fragment;
    struct fm_json_value offset = fm_json_member(fragment, "offset-from-origin");
    struct fm_json_value seconds = fm_json_member(offset, "seconds");
    struct fm_json_value cycles = fm_json_member(offset, "cycles");
    struct fm_json_value frequency = fm_json_member(fragment, "frequency");
    bool absolute = fm_json_equals(fm_json_member(fragment, "origin"), "unix-epoch");
    g_string_append_printf(to, "clock {\nname = %s;\nfreq = %.*s;\nabsolute = %s;\n", clock->id,
                           (int)(frequency.end - frequency.at), frequency.at,
                           absolute ? "TRUE" : "FALSE");
    if (seconds.at != NULL)
        g_string_append_printf(to, "offset_s = %.*s;\n", (int)(seconds.end - seconds.at),
                               seconds.at);
    if (cycles.at != NULL)
        g_string_append_printf(to, "offset = %.*s;\n", (int)(cycles.end - cycles.at), cycles.at);
    g_string_append(to, "};\n");
}

/* Whether packets tell the class of their stream. Else it is 0, and the library accepts no number
 * of it. */
static bool tells_class(const struct ctf2_field *packet_header)
{
    for (guint i = 0; packet_header != NULL && i < packet_header->parts->len; i++) {
        const struct ctf2_field *part = packet_header->parts->pdata[i];
        if (strcmp(part->id, "stream_id") == 0)
            return true;
    }
    return false;
}

static void write_stream(GString *to, const struct ctf2_stream *stream, bool told)
{
    struct writing writing = {.to = to, .clock = stream->clock};
    g_string_append(to, "stream {\n");
    if (told)
        g_string_append_printf(to, "id = %" G_GUINT64_FORMAT ";\n", stream->id);
    write_scope(&writing, "packet.context", stream->scopes[CTF2_PACKET_CONTEXT]);
    write_scope(&writing, "event.header", stream->scopes[CTF2_EVENT_HEADER]);
    write_scope(&writing, "event.context", stream->scopes[CTF2_COMMON_CONTEXT]);
    g_string_append(to, "};\n");
}

static void write_event(GString *to, const struct ctf2_event *event, bool told)
{
    struct writing writing = {.to = to};
    g_string_append(to, "event {\nname = ");
    fm_ctf2_append_quoted(to, event->name);
    g_string_append_printf(to, ";\nid = %" G_GUINT64_FORMAT ";\n", event->id);
    if (told)
        g_string_append_printf(to, "stream_id = %" G_GUINT64_FORMAT ";\n", event->stream->id);
    write_scope(&writing, "context", event->specific_context);
    write_scope(&writing, "fields", event->payload);
    g_string_append(to, "};\n");
}

void fm_ctf2_write(const struct ctf2 *ctf2, GString *ret)
{
    g_string_append(ret, "/* CTF 1.8 */\n");
    write_trace(ctf2, ret);
    write_environment(ret, ctf2->trace_class);
    for (guint i = 0; i < ctf2->clocks->len; i++)
        write_clock(ret, ctf2->clocks->pdata[i]);
    bool told = tells_class(ctf2->packet_header);
    for (guint i = 0; i < ctf2->streams->len; i++) {
        const struct ctf2_stream *stream = ctf2->streams->pdata[i];
        if (told || stream->id == 0)
            write_stream(ret, stream, told);
    }
    for (guint i = 0; i < ctf2->events->len; i++) {
        const struct ctf2_event *event = ctf2->events->pdata[i];
        if (told || event->stream->id == 0)
            write_event(ret, event, told);
    }
}
