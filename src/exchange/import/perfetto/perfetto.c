/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of Perfetto's: spans of tracks become calls in context, with the time of the clock;
 * sampled stacks and heaps become measures of their own. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "exchange/import/perfetto/frames.h"
#include "exchange/import/perfetto/heap.h"
#include "exchange/import/perfetto/lanes.h"
#include "exchange/import/perfetto/packets.h"

#define NS_PER_SECOND 1000000000u
#define NS_PER_US 1000
/* Fields that are read; their numbers stand in the tables below. */
enum {
    PACKET_OTHER,
    PACKET_PROCESS_TREE,
    PACKET_CLOCK_SNAPSHOT,
    PACKET_TIME,
    PACKET_SEQUENCE,
    PACKET_TRACK_EVENT,
    PACKET_INTERNED,
    PACKET_FLAGS,
    PACKET_HEAP,
    PACKET_CLEARED,
    PACKET_DROPPED,
    PACKET_PROCESS,
    PACKET_THREAD,
    PACKET_STREAMING,
    PACKET_CLOCK,
    PACKET_DEFAULTS,
    PACKET_TRACK,
    PACKET_SYMBOLS,
    PACKET_PERF_SAMPLE,
    PACKET_FIRST,
    PACKET_FIELDS
};
static const uint8_t packet_fields[] = {
    [2] = PACKET_PROCESS_TREE, [6] = PACKET_CLOCK_SNAPSHOT, [8] = PACKET_TIME,
    [10] = PACKET_SEQUENCE,    [11] = PACKET_TRACK_EVENT,   [12] = PACKET_INTERNED,
    [13] = PACKET_FLAGS,       [37] = PACKET_HEAP,          [41] = PACKET_CLEARED,
    [42] = PACKET_DROPPED,     [43] = PACKET_PROCESS,       [44] = PACKET_THREAD,
    [54] = PACKET_STREAMING,   [58] = PACKET_CLOCK,         [59] = PACKET_DEFAULTS,
    [60] = PACKET_TRACK,       [61] = PACKET_SYMBOLS,       [66] = PACKET_PERF_SAMPLE,
    [87] = PACKET_FIRST,
};
enum { FLAG_CLEARED = 1 };
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum {
    EVENT_OTHER,
    EVENT_DELTA_US,
    EVENT_LEGACY,
    EVENT_TYPE,
    EVENT_NAME_NUMBER,
    EVENT_TRACK,
    EVENT_ABSOLUTE_US,
    EVENT_NAME,
    EVENT_FIELDS
};
static const uint8_t event_fields[] = {
    [1] = EVENT_DELTA_US, [6] = EVENT_LEGACY,       [9] = EVENT_TYPE,  [10] = EVENT_NAME_NUMBER,
    [11] = EVENT_TRACK,   [16] = EVENT_ABSOLUTE_US, [23] = EVENT_NAME,
};
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum { LEGACY_NAME = 1, LEGACY_PHASE, LEGACY_DURATION_US, LEGACY_FIELDS };
enum { SAMPLE_PID = 2, SAMPLE_TID, SAMPLE_STACK, SAMPLE_SKIPPED = 18, SAMPLE_FIELDS };
enum { THREAD_PID = 1, THREAD_TID, THREAD_REFERENCE_US = 6 };

struct sample {
    uint32_t lane, stack;
};
struct named {
    uint32_t function, name;
};

struct perfetto {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    struct fm_spans *spans;
    struct fm_perfetto_packets packets;
    struct fm_perfetto_clocks clocks;
    struct fm_perfetto_lanes *lanes;
    struct fm_perfetto_frames *frames;
    struct fm_perfetto_heap *heap;
    GHashTable *sequences;             /* number -> struct fm_perfetto_sequence */
    struct fm_perfetto_sequence *last; /* the writer of the packet before; NULL = none */
    uint64_t last_number;
    GHashTable *names; /* of spans -> number + 1 */
    GArray *named;     /* struct named: of interned names that spans began with */
    GArray *samples;   /* struct sample */
    uint64_t dropped, skipped, unnamed, asynchronous;
};

static unsigned place_of(const struct fm_field *field, const uint8_t *places, size_t count)
{
    return field->number < count ? places[field->number] : 0;
}

/* The last field of each kind; of[0] has one of the others. */
static void pick(struct fm_fields *fields, const uint8_t *places, size_t count, struct fm_field *of)
{
    struct fm_field field;
    while (fm_fields_next(fields, &field))
        of[place_of(&field, places, count)] = field;
}

/* --- recognising --- */

/* A packet has a time, or the number of its writer, among fields that all are ones of packets. */
static bool is_packet(struct fm_fields fields, bool whole)
{
    struct fm_field field;
    bool marked = false;
    while (fm_fields_next(&fields, &field)) {
        unsigned place = place_of(&field, packet_fields, G_N_ELEMENTS(packet_fields));
        if (place == PACKET_TIME || place == PACKET_SEQUENCE) {
            if (field.wire != FM_WIRE_NUMBER)
                return false;
            marked = true;
        } else if (field.number == 50 || field.number == 133) { /* compressed packets */
            marked = field.wire == FM_WIRE_BYTES;
        }
    }
    return marked && (!whole || fields.at == fields.end);
}

bool fm_import_is_perfetto(const struct fm_import_input *input)
{
    struct fm_fields fields = fm_fields_of(input->bytes, input->size);
    struct fm_field packet;
    if (input->size < 2 || input->bytes[0] != 0x0a)
        return false;
    if (fm_fields_next(&fields, &packet))
        return is_packet(fm_fields_in(&packet), true);
    size_t at = 1; /* the first packet goes beyond what is here */
    uint64_t length;
    return fm_fields_number(input->bytes, input->size, &at, &length) &&
           is_packet(fm_fields_of(input->bytes + at, input->size - at), false);
}

/* --- events --- */

static uint32_t name_number(struct perfetto *in, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(in->names, name));
    if (number == 0) {
        number = g_hash_table_size(in->names) + 1;
        g_hash_table_insert(in->names, g_strdup(name), GUINT_TO_POINTER(number));
    }
    return number - 1;
}

static uint32_t function_named(struct perfetto *in, const char *name)
{
    return fm_stacks_function(
        in->stacks, &(struct fm_stacks_name){.name = name, .size = strlen(name), .unit = ""});
}

/* NULL: the event has none, as ends have not. */
static char *name_of(struct perfetto *in, const struct fm_perfetto_sequence *s,
                     const struct fm_field *of, uint64_t number)
{
    struct fm_field name = of[EVENT_NAME];
    if (name.wire != FM_WIRE_BYTES && number == 0)
        return NULL;
    if (name.wire != FM_WIRE_BYTES)
        name = fm_perfetto_sequence_text(s, FM_PERFETTO_EVENT_NAMES, number);
    if (name.size == 0) {
        in->unnamed++;
        return g_strdup("[unknown]");
    }
    return g_strndup((const char *)name.bytes, name.size);
}

/* Chrome's phases, which the oldest of its traces in this form have. */
static bool take_legacy(struct perfetto *in, const struct fm_perfetto_sequence *s,
                        const struct fm_field *of, uint32_t lane, int64_t ns)
{
    struct fm_field field, legacy[LEGACY_FIELDS] = {{0}};
    for (struct fm_fields fields = fm_fields_in(&of[EVENT_LEGACY]);
         fm_fields_next(&fields, &field);) {
        if (field.number < LEGACY_FIELDS)
            legacy[field.number] = field;
    }
    uint64_t number =
        of[EVENT_NAME_NUMBER].value != 0 ? of[EVENT_NAME_NUMBER].value : legacy[LEGACY_NAME].value;
    uint64_t phase = legacy[LEGACY_PHASE].value;
    if (phase == 0)
        return false;
    in->asynchronous += phase == 'b' || phase == 'S';
    if (phase != 'B' && phase != 'E' && phase != 'X')
        return true;
    g_autofree char *name = name_of(in, s, of, number);
    uint32_t spans = fm_perfetto_lanes_spans(in->lanes, lane);
    const char *told = name == NULL ? "[unknown]" : name;
    uint64_t microseconds = MIN(legacy[LEGACY_DURATION_US].value, INT64_MAX / NS_PER_US);
    if (phase == 'X')
        fm_spans_complete(in->spans, spans, ns, (int64_t)microseconds * NS_PER_US,
                          function_named(in, told));
    else if (phase == 'B')
        fm_spans_begin(in->spans, spans, ns, function_named(in, told), name_number(in, told));
    else
        fm_spans_end(in->spans, spans, ns, name == NULL ? FM_SPANS_ANY : name_number(in, name));
    return true;
}

/* Old writers tell microseconds: whole ones, or since the event before. */
static int64_t time_of(struct fm_perfetto_sequence *s, const struct fm_field *of, int64_t ns)
{
    if (of[EVENT_ABSOLUTE_US].number != 0)
        return (int64_t)(of[EVENT_ABSOLUTE_US].value * NS_PER_US);
    if (of[EVENT_DELTA_US].number == 0)
        return ns;
    s->reference_us = (int64_t)((uint64_t)s->reference_us + of[EVENT_DELTA_US].value);
    return (int64_t)((uint64_t)s->reference_us * NS_PER_US);
}

/* Of a span that begins; an interned name is looked at once. */
static struct named named_of(struct perfetto *in, const struct fm_perfetto_sequence *s,
                             const struct fm_field *of)
{
    uint64_t number = of[EVENT_NAME_NUMBER].value;
    bool interned = of[EVENT_NAME].wire != FM_WIRE_BYTES && number != 0;
    uint32_t *made =
        !interned ? NULL : fm_perfetto_sequence_made(s, FM_PERFETTO_EVENT_NAMES, number);
    if (made != NULL && *made != 0)
        return g_array_index(in->named, struct named, *made - 1);
    uint64_t unnamed = in->unnamed;
    g_autofree char *name = name_of(in, s, of, number);
    const char *told = name == NULL ? "[unknown]" : name;
    struct named named = {.function = function_named(in, told)};
    named.name = name_number(in, told);
    if (made != NULL && in->unnamed == unnamed) { /* the others are counted each time */
        g_array_append_val(in->named, named);
        *made = in->named->len;
    }
    return named;
}

static void take_event(struct perfetto *in, struct fm_perfetto_sequence *s,
                       const struct fm_field *event, int64_t ns)
{
    struct fm_field of[EVENT_FIELDS] = {{0}};
    struct fm_fields fields = fm_fields_in(event);
    pick(&fields, event_fields, G_N_ELEMENTS(event_fields), of);
    uint64_t type = of[EVENT_TYPE].value;
    bool legacy = of[EVENT_LEGACY].wire == FM_WIRE_BYTES;
    ns = time_of(s, of, ns);
    if (!legacy && type != SLICE_BEGIN && type != SLICE_END)
        return;
    uint64_t track = of[EVENT_TRACK].number != 0 ? of[EVENT_TRACK].value : s->track;
    uint32_t lane = track == 0 && s->threaded ? fm_perfetto_lanes_thread(in->lanes, s->pid, s->tid)
                                              : fm_perfetto_lanes_track(in->lanes, track);
    if (legacy && take_legacy(in, s, of, lane, ns))
        return;
    uint32_t spans = fm_perfetto_lanes_spans(in->lanes, lane);
    if (type == SLICE_END) {
        fm_spans_end(in->spans, spans, ns, FM_SPANS_ANY);
    } else if (type == SLICE_BEGIN) {
        struct named named = named_of(in, s, of);
        fm_spans_begin(in->spans, spans, ns, named.function, named.name);
    }
}

/* --- samples --- */

static void add_sample(struct perfetto *in, uint32_t lane, struct fm_perfetto_sequence *s,
                       uint64_t callstack)
{
    struct sample sample = {lane, fm_perfetto_frames_stack(in->frames, s, callstack)};
    g_array_append_val(in->samples, sample);
    fm_perfetto_lanes_use(in->lanes, lane);
}

static void take_sample(struct perfetto *in, struct fm_perfetto_sequence *s,
                        const struct fm_field *message)
{
    struct fm_field field, of[SAMPLE_FIELDS] = {{0}};
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number < SAMPLE_FIELDS)
            of[field.number] = field;
    }
    if (of[SAMPLE_SKIPPED].number != 0)
        in->skipped++;
    else if (of[SAMPLE_PID].number != 0)
        add_sample(in,
                   fm_perfetto_lanes_thread(in->lanes, of[SAMPLE_PID].value, of[SAMPLE_TID].value),
                   s, of[SAMPLE_STACK].value);
}

/* Samples of the writer's thread. */
static void take_streaming(struct perfetto *in, struct fm_perfetto_sequence *s,
                           const struct fm_field *message)
{
    struct fm_field field;
    uint64_t callstack;
    uint32_t lane = s->track != 0 ? fm_perfetto_lanes_track(in->lanes, s->track)
                                  : fm_perfetto_lanes_thread(in->lanes, s->pid, s->tid);
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        while (field.number == 1 && fm_field_take(&field, &callstack))
            add_sample(in, lane, s, callstack);
    }
}

/* --- packets --- */

static struct fm_perfetto_sequence *sequence_of(struct perfetto *in, uint64_t number)
{
    struct fm_perfetto_sequence *s = in->last != NULL && number == in->last_number
                                         ? in->last
                                         : g_hash_table_lookup(in->sequences, &number);
    in->last_number = number;
    if (s == NULL) {
        s = fm_perfetto_sequence_new();
        g_hash_table_insert(in->sequences, g_memdup2(&number, sizeof number), s);
    }
    return in->last = s;
}

static void take_defaults(struct fm_perfetto_sequence *s, const struct fm_field *defaults)
{
    struct fm_field field, inner;
    for (struct fm_fields fields = fm_fields_in(defaults); fm_fields_next(&fields, &field);) {
        if (field.number == DEFAULTS_CLOCK)
            s->clock = field.value;
        for (struct fm_fields of = fm_fields_in(&field);
             field.number == DEFAULTS_TRACK_EVENT && fm_fields_next(&of, &inner);) {
            if (place_of(&inner, event_fields, G_N_ELEMENTS(event_fields)) == EVENT_TRACK)
                s->track = inner.value;
        }
    }
}

static void take_thread(struct fm_perfetto_sequence *s, const struct fm_field *thread)
{
    struct fm_field field;
    s->threaded = true;
    for (struct fm_fields fields = fm_fields_in(thread); fm_fields_next(&fields, &field);) {
        if (field.number == THREAD_PID)
            s->pid = field.value;
        else if (field.number == THREAD_TID)
            s->tid = field.value;
        else if (field.number == THREAD_REFERENCE_US)
            s->reference_us = (int64_t)field.value;
    }
}

/* What holds for the packets that follow stands before what uses it. */
static void take_state(struct perfetto *in, struct fm_perfetto_sequence *s, uint64_t number,
                       const struct fm_field *of)
{
    if ((of[PACKET_FLAGS].value & FLAG_CLEARED) != 0 || of[PACKET_CLEARED].value != 0) {
        fm_perfetto_heap_resolve(in->heap, in->frames, s);
        fm_perfetto_sequence_clear(s);
    }
    if (of[PACKET_INTERNED].number != 0)
        fm_perfetto_sequence_intern(s, &of[PACKET_INTERNED]);
    if (of[PACKET_DEFAULTS].number != 0)
        take_defaults(s, &of[PACKET_DEFAULTS]);
    if (of[PACKET_CLOCK_SNAPSHOT].number != 0)
        fm_perfetto_clocks_snapshot(&in->clocks, number, &of[PACKET_CLOCK_SNAPSHOT]);
    if (of[PACKET_TRACK].number != 0)
        fm_perfetto_lanes_describe(in->lanes, &of[PACKET_TRACK]);
    if (of[PACKET_PROCESS].number != 0)
        fm_perfetto_lanes_process_named(in->lanes, &of[PACKET_PROCESS]);
    if (of[PACKET_PROCESS_TREE].number != 0)
        fm_perfetto_lanes_tree(in->lanes, &of[PACKET_PROCESS_TREE]);
    if (of[PACKET_THREAD].number != 0) {
        take_thread(s, &of[PACKET_THREAD]);
        fm_perfetto_lanes_thread_named(in->lanes, &of[PACKET_THREAD]);
    }
    if (of[PACKET_SYMBOLS].number != 0)
        fm_perfetto_frames_symbols(in->frames, &of[PACKET_SYMBOLS]);
}

static bool take_packet(void *user, const struct fm_field *packet, GError **error)
{
    struct perfetto *in = user;
    struct fm_field of[PACKET_FIELDS] = {{0}};
    struct fm_fields fields = fm_fields_in(packet);
    pick(&fields, packet_fields, G_N_ELEMENTS(packet_fields), of);
    bool first = of[PACKET_FIRST].number != 0; /* of its writer: there is nothing to lose */
    if (fields.at != fields.end) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: packet %" G_GUINT64_FORMAT " is damaged: expected a field at %zu of %zu",
                    in->input->name, (guint64)in->packets.count,
                    (size_t)(fields.at - packet->bytes), packet->size);
        return false;
    }
    uint64_t number = of[PACKET_SEQUENCE].value;
    struct fm_perfetto_sequence *s = sequence_of(in, number);
    in->dropped += of[PACKET_DROPPED].value != 0 && !first && s->seen;
    s->seen = true;
    take_state(in, s, number, of);
    uint64_t clock = of[PACKET_CLOCK].number != 0 ? of[PACKET_CLOCK].value : s->clock;
    int64_t ns = of[PACKET_TIME].number == 0
                     ? 0
                     : fm_perfetto_clocks_time(&in->clocks, number, clock, of[PACKET_TIME].value);
    if (of[PACKET_TRACK_EVENT].wire == FM_WIRE_BYTES)
        take_event(in, s, &of[PACKET_TRACK_EVENT], ns);
    if (of[PACKET_PERF_SAMPLE].wire == FM_WIRE_BYTES)
        take_sample(in, s, &of[PACKET_PERF_SAMPLE]);
    if (of[PACKET_STREAMING].wire == FM_WIRE_BYTES)
        take_streaming(in, s, &of[PACKET_STREAMING]);
    if (of[PACKET_HEAP].wire == FM_WIRE_BYTES)
        fm_perfetto_heap_take(in->heap, s, &of[PACKET_HEAP], ns);
    return true;
}

/* --- measures --- */

/* Quanta are the spans' time, or samples where there are no spans. */
static unsigned choose_measures(struct perfetto *in, bool spans)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    uint32_t known = 0;
    unsigned samples = 0;
    if (spans) {
        fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
        fm_build_nature(build, FM_NATURE_CLOCK | FM_NATURE_TIME_EXACT, 0);
        fm_stacks_name_quanta(in->stacks, "wall", NULL);
        known |= 1u << FM_QUANTA | FM_IMPORT_CALLS;
        if (in->samples->len > 0)
            samples = fm_stacks_add_measure(in->stacks, "samples", NULL);
    } else if (in->samples->len > 0) {
        fm_stacks_name_quanta(in->stacks, "samples", NULL);
        fm_build_header(build)->sample_count = in->samples->len;
        fm_build_header(build)->sample_squares = in->samples->len;
        known |= 1u << FM_QUANTA;
    }
    known |= fm_perfetto_heap_measures(in->heap, in->stacks);
    fm_import_only_knows(build, known);
    return samples;
}

static void push_lane(struct perfetto *in, const char *name)
{
    fm_stacks_cut(in->stacks, 0);
    if (name != NULL)
        fm_stacks_push_outside(in->stacks, name, strlen(name));
}

static void tell_lost(struct fm_build *build, uint64_t count, const char *format)
{
    g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)count);
    g_auto(GStrv) parts = g_strsplit(format, "%" G_GUINT64_FORMAT, 2);
    g_autofree char *note = g_strconcat(FM_NOTE_WARNING, parts[0], number, parts[1], NULL);
    if (count > 0)
        fm_build_note(build, note);
}

static void tell(struct perfetto *in, const struct fm_spans_found *found)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    fm_spans_tell(found, build);
    fm_spans_tell_count(build, in->asynchronous, "asynchronous span is not in this tree",
                        "asynchronous spans are not in this tree");
    tell_lost(build, in->dropped,
              "packets are missing in %" G_GUINT64_FORMAT " places: a larger buffer, or fewer "
              "events, helps");
    tell_lost(build, in->skipped,
              "%" G_GUINT64_FORMAT " samples were lost, since their stacks could not be read");
    fm_spans_tell_count(build, in->unnamed, "span has no name: what told it was lost",
                        "spans have no name: what told it was lost");
    if (in->packets.cut)
        fm_build_note(build, FM_NOTE_WARNING "the file ends within a packet: what is before it is "
                                             "shown");
}

static bool add_all(struct perfetto *in, GError **error)
{
    struct fm_spans_found found = {0};
    g_autoptr(GPtrArray) names = fm_perfetto_lanes_names(in->lanes);
    bool spans = false;
    for (uint32_t i = 0; i < names->len; i++)
        spans = spans || !fm_spans_is_empty(in->spans, fm_perfetto_lanes_spans(in->lanes, i));
    unsigned samples = choose_measures(in, spans);
    for (uint32_t i = 0; i < names->len; i++) {
        uint32_t of = fm_perfetto_lanes_spans(in->lanes, i);
        if (fm_spans_is_empty(in->spans, of))
            continue;
        push_lane(in, g_ptr_array_index(names, i));
        if (!fm_spans_add(in->spans, of, in->stacks, &found)) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: its spans take more than 2^63 ns together", in->input->name);
            return false;
        }
    }
    for (guint i = 0; i < in->samples->len; i++) {
        struct sample sample = g_array_index(in->samples, struct sample, i);
        push_lane(in, g_ptr_array_index(names, sample.lane));
        if (!fm_perfetto_frames_push(in->frames, sample.stack, in->stacks)) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: its samples have more frames together than those of a file of %zu "
                        "bytes",
                        in->input->name, in->input->size);
            return false;
        }
        fm_stacks_add(in->stacks, spans ? samples : FM_QUANTA, 1);
    }
    fm_stacks_cut(in->stacks, 0);
    if (!fm_perfetto_heap_add(in->heap, in->frames, in->stacks, in->input->name, error))
        return false;
    tell(in, &found);
    if (found.spans > 0 || in->samples->len > 0 || !fm_perfetto_heap_is_empty(in->heap))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "%s: no span of a track, no sample and no heap is in its %" G_GUINT64_FORMAT
                " packets",
                in->input->name, (guint64)in->packets.count);
    return false;
}

bool fm_import_perfetto(const struct fm_import_input *input, struct fm_profile **ret,
                        GError **error)
{
    struct perfetto in = {.input = input,
                          .stacks = fm_stacks_new(input->program, "Perfetto's trace")};
    in.spans = fm_spans_new();
    in.lanes = fm_perfetto_lanes_new(in.spans);
    in.frames = fm_perfetto_frames_new(input->size);
    in.heap = fm_perfetto_heap_new();
    in.sequences =
        g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, fm_perfetto_sequence_free);
    in.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    in.named = g_array_new(FALSE, FALSE, sizeof(struct named));
    in.samples = g_array_new(FALSE, FALSE, sizeof(struct sample));
    fm_perfetto_packets_init(&in.packets, input);
    fm_perfetto_clocks_init(&in.clocks);
    bool done =
        fm_perfetto_packets_walk(&in.packets, take_packet, &in, error) && add_all(&in, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    fm_spans_free(in.spans);
    fm_perfetto_lanes_free(in.lanes);
    fm_perfetto_frames_free(in.frames);
    fm_perfetto_heap_free(in.heap);
    fm_perfetto_packets_done(&in.packets);
    fm_perfetto_clocks_done(&in.clocks);
    g_hash_table_unref(in.sequences);
    g_hash_table_unref(in.names);
    g_array_unref(in.named);
    g_array_unref(in.samples);
    return done;
}
