/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "eventlog/reader/eventlog.h"
#include "eventlog/output/format.h"
#include "own_types.h"
#include "support.h"

static struct fm_eventlog_event event_of(uint16_t number, int32_t declared, const void *payload,
                                         size_t length)
{
    return (struct fm_eventlog_event){
        .number = number,
        .capability = 0,
        .payload = payload,
        .payload_length = (uint32_t)length,
        .type = fm_eventlog_type_find(number, declared),
    };
}

static void the_table_is_in_order_and_consistent(void)
{
    size_t count;
    const struct fm_eventlog_type *types = fm_eventlog_types(&count);
    g_assert_cmpuint(count, >, 110);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            g_assert_cmpuint(types[i].number, >=, types[i - 1].number);
        g_assert_cmpuint(types[i].field_count, <=, FM_EVENTLOG_FIELDS_MAX);
        g_assert_true(fm_eventlog_type_named(types[i].name)->number == types[i].number);
        for (size_t f = 0; f < types[i].field_count; f++)
            g_assert_nonnull(types[i].fields[f].name);
    }
    g_assert_null(fm_eventlog_type_find(213, -1));
    g_assert_null(fm_eventlog_type_named("createthread"));
    g_autofree char *label = fm_eventlog_type_label(213);
    g_assert_cmpstr(label, ==, "Unknown213");
}

/* The fixed sizes that real headers declare. */
static void sizes_are_those_of_real_headers(void)
{
    static const struct {
        uint16_t number, size;
    } sizes[] = {{0, 4},   {1, 4},    {4, 6},    {8, 6},   {17, 2},   {18, 14}, {25, 6},
                 {26, 4},  {27, 6},   {32, 8},   {34, 56}, {39, 2},   {43, 16}, {45, 2},
                 {49, 12}, {52, 38},  {55, 18},  {56, 12}, {57, 8},   {90, 16}, {91, 12},
                 {140, 4}, {141, 20}, {162, 8},  {165, 8}, {166, 16}, {168, 8}, {201, 4},
                 {206, 2}, {208, 8},  {211, 32}, {68, 23}, {67, 19},  {69, 17}, {100, 12}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        const struct fm_eventlog_type *type = fm_eventlog_type_find(sizes[i].number, -1);
        g_assert_nonnull(type);
        g_assert_cmpuint(type->fixed_size, ==, sizes[i].size);
    }
}

static void layouts_follow_the_declared_size(void)
{
    static const uint8_t bytes[64] = {10, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0};
    struct fm_eventlog_value value;
    /* Non-moving census: 13 bytes have the logarithm in one byte, 14 the size in two. */
    struct fm_eventlog_event old = event_of(207, 13, bytes, 13);
    g_assert_true(fm_eventlog_field(&old, "block_size_log2", &value));
    g_assert_cmpuint(value.number, ==, 10);
    g_assert_true(fm_eventlog_field(&old, "active", &value));
    g_assert_cmpuint(value.number, ==, 2);
    struct fm_eventlog_event new = event_of(207, 14, bytes, 14);
    g_assert_true(fm_eventlog_field(&new, "block_size", &value));
    g_assert_cmpuint(value.number, ==, 2560);
    /* Stop thread: 6 bytes before 7.x, 10 today; collection statistics: 50 and 58. */
    struct fm_eventlog_event stop = event_of(2, 6, bytes, 6);
    g_assert_nonnull(stop.type);
    g_assert_false(fm_eventlog_field(&stop, "info", &value));
    stop = event_of(2, 10, bytes, 10);
    g_assert_true(fm_eventlog_field(&stop, "info", &value));
    struct fm_eventlog_event gc = event_of(53, 50, bytes, 50);
    g_assert_true(fm_eventlog_field(&gc, "total_copied", &value));
    g_assert_false(fm_eventlog_field(&gc, "balanced_copied", &value));
    gc = event_of(53, 58, bytes, 58);
    g_assert_true(fm_eventlog_field(&gc, "balanced_copied", &value));
    /* Larger than known: the rest is skipped. Smaller than any: unknown. */
    struct fm_eventlog_event run = event_of(1, 20, bytes, 20);
    g_assert_true(fm_eventlog_field(&run, "thread", &value));
    g_assert_cmpuint(value.number, ==, 0x0A000000);
    g_assert_null(fm_eventlog_type_find(1, 3));
    g_assert_null(fm_eventlog_type_find(53, 49));
}

static void fields_decode_with_their_kinds(void)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    struct fm_eventlog_event intern = event_of(42, -1, "a text\0\0\1\2", 10);
    g_assert_cmpuint(fm_eventlog_decode(&intern, values, &malformed), ==, 2);
    g_assert_cmpmem(values[0].bytes, values[0].length, "a text", 6);
    g_assert_cmpuint(values[1].number, ==, 0x102);
    struct fm_eventlog_event arguments = event_of(30, -1, "\0\0\0\1prog\0-x\0", 12);
    g_assert_cmpuint(fm_eventlog_decode(&arguments, values, &malformed), ==, 2);
    g_assert_cmpuint(values[1].length, ==, 8);
    struct fm_eventlog_event sample =
        event_of(163, -1, "\1\0\0\0\0\0\0\1\0\2\0\0\0\7\0\0\0\10", 18);
    g_assert_cmpuint(fm_eventlog_decode(&sample, values, &malformed), ==, 4);
    g_assert_cmpuint(values[3].number, ==, 2);
    g_assert_cmpuint(fm_eventlog_get32(values[3].bytes + 4), ==, 8);
    struct fm_eventlog_event centre = event_of(161, -1, "\0\0\0\5main\0Main\0f.hs:1\0\1", 22);
    g_assert_cmpuint(fm_eventlog_decode(&centre, values, &malformed), ==, 5);
    g_assert_cmpmem(values[3].bytes, values[3].length, "f.hs:1", 6);
    g_assert_cmpuint(values[4].number, ==, 1);
    struct fm_eventlog_event counter =
        event_of(515, 12, "\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xfe", 12);
    g_assert_cmpuint(fm_eventlog_decode(&counter, values, &malformed), ==, 2);
    g_assert_cmpint((int64_t)values[1].number, ==, -2);
}

static void a_field_past_the_payload_makes_one_event_malformed(void)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    struct fm_eventlog_event sample =
        event_of(163, -1, "\1\0\0\0\0\0\0\1\0\3\0\0\0\7\0\0\0\10", 18);
    g_assert_cmpuint(fm_eventlog_decode(&sample, values, &malformed), ==, 3);
    g_assert_true(malformed);
    struct fm_eventlog_event centre = event_of(161, -1, "\0\0\0\5main", 8);
    g_assert_cmpuint(fm_eventlog_decode(&centre, values, &malformed), ==, 1);
    g_assert_true(malformed);
    struct fm_eventlog_event intern = event_of(42, -1, "abc", 3);
    g_assert_cmpuint(fm_eventlog_decode(&intern, values, &malformed), ==, 0);
    g_assert_true(malformed);
    /* Optional fields may be missing. */
    struct fm_eventlog_event ticky = event_of(210, -1, "\0\0\0\0\0\0\0\1\0\2kk\0name\0", 18);
    g_assert_cmpuint(fm_eventlog_decode(&ticky, values, &malformed), ==, 4);
    g_assert_false(malformed);
    g_assert_cmpuint(fm_eventlog_u64(&intern, 0), ==, 0);
}

static void our_own_types_are_those_of_the_runtime(void)
{
    const struct own_type *own = own_types;
    static const struct {
        const char *kind;
        uint8_t as, unit;
    } kinds[] = {
        {"name", FM_EVENTLOG_U32, FM_EVENTLOG_UNIT_STRING},
        {"addr", FM_EVENTLOG_U64, FM_EVENTLOG_UNIT_ADDRESS},
        {"bytes", FM_EVENTLOG_U64, FM_EVENTLOG_UNIT_BYTES},
        {"i64", FM_EVENTLOG_I64, FM_EVENTLOG_UNIT_NUMBER},
        {"f64", FM_EVENTLOG_F64, FM_EVENTLOG_UNIT_NUMBER},
        {"w64", FM_EVENTLOG_U64, 255},
        {"w32", FM_EVENTLOG_U32, 255},
        {"str", FM_EVENTLOG_TEXT, FM_EVENTLOG_UNIT_NONE},
    };
    for (size_t i = 0; own[i].fields != NULL; i++) {
        const struct fm_eventlog_type *type =
            fm_eventlog_type_find(own[i].number, own[i].size == 0xFFFF ? -1 : own[i].size);
        g_assert_nonnull(type);
        g_assert_true(type->variable == (own[i].size == 0xFFFF));
        if (!type->variable)
            g_assert_cmpint(type->fixed_size, ==, own[i].size);
        g_auto(GStrv) fields = g_strsplit(own[i].fields, ",", 0);
        g_assert_cmpuint(g_strv_length(fields), ==, type->field_count);
        for (size_t f = 0; fields[f] != NULL; f++) {
            g_auto(GStrv) pair = g_strsplit(fields[f], "=", 2);
            g_assert_cmpstr(pair[0], ==, type->fields[f].name);
            size_t k = 0;
            while (k < G_N_ELEMENTS(kinds) && strcmp(kinds[k].kind, pair[1]) != 0)
                k++;
            g_assert_cmpuint(k, <, G_N_ELEMENTS(kinds));
            g_assert_cmpuint(type->fields[f].kind, ==, kinds[k].as);
            if (kinds[k].unit != 255)
                g_assert_cmpuint(type->fields[f].unit, ==, kinds[k].unit);
        }
    }
}

static void events_print_in_three_forms(void)
{
    g_autoptr(GHashTable) names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    struct fm_eventlog_event intern = event_of(42, -1, "work\0\0\0\3", 8);
    fm_eventlog_names_learn(names, &intern);
    const struct {
        struct fm_eventlog_event event;
        enum fm_eventlog_format format;
        const char *text;
    } cases[] = {
        {event_of(2, 10, "\0\0\0\4\0\5\0\0\0\0", 10), FM_EVENTLOG_AS_TEXT,
         "   0.000000000    0 StopThread thread=4 status=5 (finished) info=0\n"},
        {event_of(19, -1, "a\"b\n\xff", 5), FM_EVENTLOG_AS_TEXT,
         "   0.000000000    0 UserMessage text=\"a\\\"b\\n\\xff\"\n"},
        {event_of(19, -1, "a\"b\n\xff", 5), FM_EVENTLOG_AS_JSON,
         "{\"time_ns\":0,\"cap\":0,\"type\":\"UserMessage\",\"fields\":{\"text\":\"a\\\"b\\n"
         "\xEF\xBF\xBD\"}}\n"},
        {event_of(19, -1, "a,b", 3), FM_EVENTLOG_AS_CSV,
         "0,0,UserMessage,\"text=\"\"a,b\"\"\"\r\n"},
        {event_of(512, 4, "\0\0\0\3", 4), FM_EVENTLOG_AS_TEXT,
         "   0.000000000    0 SpanBegin name=3 \"work\"\n"},
        {event_of(512, 4, "\0\0\0\3", 4), FM_EVENTLOG_AS_JSON,
         "{\"time_ns\":0,\"cap\":0,\"type\":\"SpanBegin\",\"fields\":{\"name\":3,\"name_text\":"
         "\"work\"}}\n"},
        {event_of(30, -1, "\0\0\0\1prog\0-x", 11), FM_EVENTLOG_AS_JSON,
         "{\"time_ns\":0,\"cap\":0,\"type\":\"ProgramArgs\",\"fields\":{\"capset\":1,\"arguments\":"
         "["
         "\"prog\",\"-x\"]}}\n"},
        {event_of(777, 2, "\xAB\xCD", 2), FM_EVENTLOG_AS_TEXT,
         "   0.000000000    0 Unknown777 payload=abcd\n"},
        {event_of(42, -1, "abc", 3), FM_EVENTLOG_AS_JSON,
         "{\"time_ns\":0,\"cap\":0,\"type\":\"InternString\",\"fields\":{\"malformed\":true,"
         "\"payload\":\"616263\"}}\n"},
        {event_of(163, -1, "\1\0\0\0\0\0\0\1\0\2\0\0\0\7\0\0\0\10", 18), FM_EVENTLOG_AS_TEXT,
         "   0.000000000    0 HeapProfSampleCostCentre profile=1 residency=256 depth=2 "
         "stack=[7,8]\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) out = g_string_new(NULL);
        fm_eventlog_format_event(out, cases[i].format, &cases[i].event, NULL, names);
        g_assert_cmpstr(out->str, ==, cases[i].text);
    }
}

/* A number that is in no table is decoded as its header says. */
static void a_header_may_tell_the_layout(void)
{
    static const uint8_t payload[] = {7,    0,    0,    0,    1,   0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xfe, 'a', 'b',  0,    0x3f, 0xf8,
                                      0,    0,    0,    0,    0,   0,    'x',  'y'};
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    fm_eventlog_header_add_extra(header, 2000, -1, "sched \"switch\"",
                                 "fields:cpu=w8,a.b=w32,prev=i64,comm=strz,load=f64,rest=str");
    fm_eventlog_header_add_extra(header, 2001, 4, "fixed", "fields:x=w32");
    fm_eventlog_header_add_extra(header, 2002, 3, "too small", "fields:x=w32");
    fm_eventlog_header_add_extra(header, 2003, 4, "text in a fixed size", "fields:x=str");
    fm_eventlog_header_add_extra(header, 2004, 4, "unknown kind", "fields:x=w128");
    fm_eventlog_header_add_extra(header, 2005, 4, "no fields", "notes:x=w32");
    fm_eventlog_header_add_extra(header, 1, 9, "a known number keeps its layout", "fields:x=w64");
    fm_eventlog_header_add(header, 2006, 4, "nothing told");
    fm_eventlog_header_end(header);
    struct fm_eventlog_header *read =
        fm_eventlog_header_parse(header->bytes->data, header->bytes->len, "made", NULL);
    g_assert_nonnull(read);
    struct fm_eventlog_event event = {
        .time_ns = 1,
        .number = 2000,
        .capability = 3,
        .payload = payload,
        .payload_length = sizeof payload,
        .type = fm_eventlog_header_find(read, 2000)->known,
    };
    g_assert_nonnull(event.type);
    g_autoptr(GString) text = g_string_new(NULL);
    fm_eventlog_format_event(text, FM_EVENTLOG_AS_JSON, &event, read, NULL);
    g_assert_cmpstr(text->str, ==,
                    "{\"time_ns\":1,\"cap\":3,\"type\":\"sched__switch_\",\"fields\":{\"cpu\":7,"
                    "\"a.b\":1,\"prev\":-2,\"comm\":\"ab\",\"load\":1.5,\"rest\":\"xy\"}}\n");
    g_assert_cmpstr(fm_eventlog_header_find(read, 2001)->known->name, ==, "fixed");
    for (uint16_t number = 2002; number <= 2006; number++)
        g_assert_null(fm_eventlog_header_find(read, number)->known);
    g_assert_cmpstr(fm_eventlog_header_find(read, 1)->known->name, ==, "RunThread");
    fm_eventlog_header_unref(read);
    fm_eventlog_header_unref(header);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/types/told", a_header_may_tell_the_layout);
    g_test_add_func("/types/table", the_table_is_in_order_and_consistent);
    g_test_add_func("/types/sizes", sizes_are_those_of_real_headers);
    g_test_add_func("/types/layouts", layouts_follow_the_declared_size);
    g_test_add_func("/types/fields", fields_decode_with_their_kinds);
    g_test_add_func("/types/malformed", a_field_past_the_payload_makes_one_event_malformed);
    g_test_add_func("/types/own", our_own_types_are_those_of_the_runtime);
    g_test_add_func("/types/print", events_print_in_three_forms);
    return g_test_run();
}
