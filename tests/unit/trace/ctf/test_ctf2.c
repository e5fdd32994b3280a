/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in CTF 2, written here bit by bit: every field class with known values, as the same trace
 * in CTF 1.8. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "ctf2_json.h"
#include "ctf_importing.h"

/* --- data streams --- */

struct bits {
    GByteArray *bytes;
    size_t count;
};

static void align(struct bits *bits, size_t alignment)
{
    bits->count = (bits->count + alignment - 1) / alignment * alignment;
    while (bits->bytes->len * 8 < bits->count)
        g_byte_array_append(bits->bytes, (const guint8 *)"", 1);
}

/* little: the first bit is the least one. */
static void put(struct bits *bits, uint64_t value, unsigned size, bool little)
{
    for (unsigned i = 0; i < size; i++, bits->count++) {
        unsigned bit = (unsigned)(value >> (little ? i : size - 1 - i) & 1);
        if (bits->count % 8 == 0)
            g_byte_array_append(bits->bytes, (const guint8 *)"", 1);
        size_t in_byte = bits->count % 8;
        bits->bytes->data[bits->count / 8] |= (guint8)(bit << (little ? in_byte : 7 - in_byte));
    }
}

static void put_le(struct bits *bits, uint64_t value, unsigned size)
{
    align(bits, 8);
    put(bits, value, size, true);
}

static void put_bytes(struct bits *bits, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_le(bits, (guint8)bytes[i], 8);
}

static void put_text(struct bits *bits, const char *text)
{
    put_bytes(bits, text, strlen(text) + 1);
}

enum { TOTAL_AT = 22, CONTENT_AT = 26 };
static const guint8 uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255};

static void begin_packet(struct bits *bits, uint64_t begin, uint64_t end, unsigned cpu)
{
    bits->bytes = g_byte_array_new();
    bits->count = 0;
    put_le(bits, 0xc1fc1fc1, 32);
    put_bytes(bits, (const char *)uuid, sizeof uuid);
    put_le(bits, 7, 8); /* data stream class */
    put_le(bits, 0, 8); /* data stream */
    put_le(bits, 0, 32);
    put_le(bits, 0, 32);
    put_le(bits, begin, 64);
    put_le(bits, end, 64);
    put_le(bits, 99, 8); /* packet_size, without a role */
    put_le(bits, cpu, 32);
}

static void end_packet(struct bits *bits, const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    uint32_t content = GUINT32_TO_LE((uint32_t)bits->count);
    align(bits, 64);
    uint32_t total = GUINT32_TO_LE((uint32_t)bits->count);
    memcpy(bits->bytes->data + TOTAL_AT, &total, 4);
    memcpy(bits->bytes->data + CONTENT_AT, &content, 4);
    g_assert_true(
        g_file_set_contents(path, (const char *)bits->bytes->data, (gssize)bits->bytes->len, NULL));
    g_byte_array_unref(bits->bytes);
}

/* time: its low 32 bits stand in the stream. */
static void begin_event(struct bits *bits, unsigned type, uint64_t time, int thread)
{
    align(bits, 8);
    put_le(bits, 200, 8); /* "id", without a role */
    put_le(bits, type, 8);
    put_le(bits, time & UINT32_MAX, 32);
    put_le(bits, (uint32_t)thread, 32);
    put_le(bits, 2, 8);
}

/* --- metadata --- */

static const char plain[] =
    "^{'type':'event-record-class','data-stream-class-id':7,'id':0,'name':'numbers',"
    "'payload-field-class':(["
    "#three#{'type':'fixed-length-unsigned-integer','length':3,'byte-order':'little-endian'}},"
    "#five#{'type':'fixed-length-signed-integer','length':5,'byte-order':'little-endian'}},"
    "#big#{'type':'fixed-length-unsigned-integer','length':16,'byte-order':'big-endian',"
    "'alignment':8}},"
    "#wide#{'type':'fixed-length-signed-integer','length':64,'byte-order':'little-endian',"
    "'alignment':32,'bit-order':'first-to-last'}},"
    "#hex#{@32,'preferred-display-base':16}},"
    "#single#{'type':'fixed-length-floating-point-number','length':32,'byte-order':'big-endian',"
    "'alignment':8}},"
    "#double#{'type':'fixed-length-floating-point-number','length':64,"
    "'byte-order':'little-endian','alignment':8}},"
    "#word#{@8,'mappings':{'none':[[0,0]],'so me \\\"x\\\"':[[1,4],[9,9]]}}},"
    "#sign#{'type':'fixed-length-signed-integer','length':8,'byte-order':'little-endian',"
    "'alignment':8,'mappings':{'below':[[-128,-1]]}}}])}\n"
    "^{'type':'event-record-class','data-stream-class-id':7,'id':1,'name':'a text',"
    "'payload-field-class':(["
    "#terminated#{'type':'null-terminated-string'}},"
    "#static#{'type':'static-length-string','length':6,'encoding':'utf-8'}},"
    "#count#'byte'},"
    "#dynamic#{'type':'dynamic-length-string','length-field-location':"
    "{'origin':'event-record-payload','path':['count']}}},"
    "#raw#{'type':'static-length-blob','length':3,'media-type':'image/png'}}])}\n"
    "^{'type':'event-record-class','data-stream-class-id':7,'id':255,'name':'lists',"
    "'payload-field-class':(["
    "#grid#{'type':'static-length-array','length':2,'element-field-class':"
    "{'type':'static-length-array','length':3,'element-field-class':'u8'}}},"
    "#count#'u8'},"
    "#pairs#{'type':'dynamic-length-array','length-field-location':{'path':['count']},"
    "'element-field-class':([#n#'u8'},#s#{'type':'null-terminated-string'}}])}},"
    "#in#{'type':'structure','minimum-alignment':32,'member-classes':[#x#'u8'}]}}])}\n";

static const char plain_tsdl[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; } := u8;\n"
    "typealias integer { size = 32; align = 8; } := u32;\n"
    "typealias integer { size = 64; align = 8; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  uuid = \"01020304-0506-0708-090a-0b0c0d0e0fff\";\n"
    "  packet.header := struct { u32 magic; u8 uuid[16]; u8 stream_id; u8 stream_instance_id; }; "
    "};\n"
    "clock { name = c; freq = 1000000000; offset_s = 1700000000; offset = 5; absolute = TRUE; };\n"
    "stream { id = 7;\n"
    "  packet.context := struct { u32 packet_size; u32 content_size;\n"
    "    integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin;\n"
    "    integer { size = 64; align = 8; map = clock.c.value; } timestamp_end;\n"
    "    u8 other; u32 cpu_id; };\n"
    "  event.header := struct { u8 other; u8 id;\n"
    "    integer { size = 32; align = 8; map = clock.c.value; } timestamp; };\n"
    "  event.context := struct { integer { size = 32; align = 8; signed = true; } vtid; u8 bytes; "
    "}; };\n"
    "event { name = \"numbers\"; id = 0; stream_id = 7; fields := struct {\n"
    "  integer { size = 3; } three; integer { size = 5; signed = true; } five;\n"
    "  integer { size = 16; align = 8; byte_order = be; } big;\n"
    "  integer { size = 64; align = 32; signed = true; } wide;\n"
    "  integer { size = 32; align = 8; base = 16; } hex;\n"
    "  floating_point { exp_dig = 8; mant_dig = 24; byte_order = be; align = 8; } single;\n"
    "  floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _double;\n"
    "  enum : u8 { none, \"so me \\\"x\\\"\" = 1 ... 4, \"so me \\\"x\\\"\" = 9 } word;\n"
    "  enum : integer { size = 8; align = 8; signed = true; } { below = -128 ... -1 } sign; }; };\n"
    "event { name = \"a text\"; id = 1; stream_id = 7; fields := struct {\n"
    "  string terminated; integer { size = 8; align = 8; encoding = UTF8; } static[6]; u8 count;\n"
    "  integer { size = 8; align = 8; encoding = UTF8; } dynamic[count]; u8 raw[3]; }; };\n"
    "event { name = \"lists\"; id = 255; stream_id = 7; fields := struct {\n"
    "  u8 grid[2][3]; u8 count; struct { u8 n; string s; } pairs[count];\n"
    "  struct { u8 x; } align(32) in; }; };\n";

static void put_plain(const char *folder)
{
    struct bits bits;
    float single = 1.5F;
    double real = -0.25;
    uint32_t single_bits;
    uint64_t real_bits;
    memcpy(&single_bits, &single, sizeof single_bits);
    memcpy(&real_bits, &real, sizeof real_bits);
    begin_packet(&bits, 0xfffffff0, 0x100000100, 3);
    begin_event(&bits, 0, 0xfffffff5, -1);
    align(&bits, 32); /* of the payload */
    put(&bits, 6, 3, true);
    put(&bits, (uint64_t)-9, 5, true);
    align(&bits, 8);
    put(&bits, 0xabcd, 16, false);
    align(&bits, 32);
    put(&bits, (uint64_t)G_MININT64, 64, true);
    put_le(&bits, 0xdeadbeef, 32);
    put(&bits, single_bits, 32, false);
    put_le(&bits, real_bits, 64);
    put_le(&bits, 9, 8);
    put_le(&bits, 0x80, 8);
    begin_event(&bits, 1, 0x100000003, 12);
    put_text(&bits, "\xc3\xa4 \"q\"");
    put_bytes(&bits, "abc\0zz", 6);
    put_le(&bits, 4, 8);
    put_bytes(&bits, "four", 4);
    put_bytes(&bits, "\x00\xff\x7f", 3);
    begin_event(&bits, 255, 0x100000004, 13);
    align(&bits, 32);
    put_bytes(&bits, "\x01\x02\x03\x04\x05\x06", 6);
    put_le(&bits, 2, 8);
    put_le(&bits, 8, 8);
    put_text(&bits, "eight");
    put_le(&bits, 9, 8);
    put_text(&bits, "");
    align(&bits, 32);
    put_le(&bits, 77, 8);
    end_packet(&bits, folder, "stream");
}

static const char plain_events[] =
    "   0.000000000    3 numbers three=6 five=-9 big=43981 wide=-9223372036854775808 "
    "hex=0xdeadbeef "
    "single=1.5 double=-0.25 word=9 word.label=\"so me \\\"x\\\"\" sign=-128 sign.label=\"below\" "
    "vtid=-1 bytes=2\n"
    "   0.000000014    3 a_text terminated=\"\xc3\xa4 \\\"q\\\"\" static=\"abc\" count=4 "
    "dynamic=\"four\" raw=\"[0,255,127]\" vtid=12 bytes=2\n"
    "   0.000000015    3 lists grid=\"[[1,2,3],[4,5,6]]\" count=2 "
    "pairs=\"[{\\\"n\\\":8,\\\"s\\\":\\\"eight\\\"},{\\\"n\\\":9,\\\"s\\\":\\\"\\\"}]\" in.x=77 "
    "vtid=13 bytes=2\n";

static void write_metadata(const char *folder, const char *text)
{
    g_autofree char *path = g_build_filename(folder, "metadata", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static char *all_events(const char *folder)
{
    struct ctf_import import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_assert_cmpstr(import.importer.notes->str, ==, "");
    g_assert_true(import.importer.has_epoch);
    g_assert_cmpint(import.importer.epoch_ns, ==, 1700000000000000005 + 0xfffffff5);
    char *events = ctf_events_of(&import);
    ctf_import_done(&import);
    return events;
}

/* Values, and the same from both forms of the metadata. */
static void test_plain(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *both = g_strconcat(ctf2_head, plain, NULL);
    g_autofree char *metadata = ctf2_json(both);
    g_mkdir(folder, 0700);
    put_plain(folder);
    write_metadata(folder, plain_tsdl);
    g_autofree char *twin = all_events(folder);
    g_assert_cmpstr(twin, ==, plain_events);
    write_metadata(folder, metadata);
    g_autofree char *events = all_events(folder);
    g_assert_cmpstr(events, ==, plain_events);
    ctf_parent_remove(parent);
}

/* --- what CTF 1.8 has not --- */

static const char chosen[] =
    "^{'type':'event-record-class','data-stream-class-id':7,'id':3,'name':'chosen',"
    "'payload-field-class':(["
    "#there#{'type':'fixed-length-boolean','length':8,'byte-order':'little-endian',"
    "'alignment':8}},"
    "#maybe#{'type':'optional','selector-field-location':{'path':['there']},'field-class':'u8'}},"
    "#which#{'type':'fixed-length-signed-integer','length':8,'byte-order':'little-endian',"
    "'alignment':8}},"
    "#one of#{'type':'variant','selector-field-location':"
    "{'origin':'event-record-payload','path':['which']},'options':["
    "{'name':'n','selector-field-ranges':[[-3,-1],[5,9]],'field-class':'u8'},"
    "{'selector-field-ranges':[[0,4]],'field-class':{'type':'null-terminated-string'}},"
    "{'name':'struct','selector-field-ranges':[[10,127]],'field-class':([#x#'u8'},"
    "#more#{'type':'optional','selector-field-location':{'path':[null,'which']},"
    "'selector-field-ranges':[[20,30]],'field-class':'u8'}}])}]}},"
    "#far#{'type':'dynamic-length-blob','length-field-location':"
    "{'origin':'event-record-common-context','path':['bytes']}}},"
    "#flags#{'type':'fixed-length-bit-array','length':12,'alignment':8,"
    "'byte-order':'big-endian'}},"
    "#map#{'type':'fixed-length-bit-map','length':4,'byte-order':'big-endian',"
    "'flags':{'a':[[0,0]]}}},"
    "#aligned#{'type':'static-length-array','length':2,'minimum-alignment':64,"
    "'element-field-class':'u8'}},"
    "#word#{@8,'mappings':{'own':[[1,1]]}}},"
    "#by word#{'type':'optional','selector-field-location':{'path':['word']},"
    "'selector-field-ranges':[[1,2]],'field-class':'u8'}},"
    "#always#{'type':'optional','selector-field-location':{'path':['word']},"
    "'selector-field-ranges':[[0,255]],'field-class':'u8'}}])}\n";

struct choice {
    int which, thread, word;
    const char *then; /* bytes of the variant */
    size_t size;
};

static void put_chosen(const char *folder)
{
    static const struct choice choices[] = {
        {-3, 0, 1, "\x05", 1},     {9, 0, 2, "\x06", 1},  {4, -5, 0, "text", 5},
        {20, 6, 3, "\x07\x08", 2}, {31, 7, 1, "\x09", 1},
    };
    struct bits bits;
    begin_packet(&bits, 0xfffffff0, 0x100000100, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(choices); i++) {
        const struct choice *choice = &choices[i];
        begin_event(&bits, 3, 0xfffffff5 + i, choice->thread);
        align(&bits, 64);
        put_le(&bits, i % 2, 8);
        if (i % 2 == 1)
            put_le(&bits, 100 + i, 8);
        put_le(&bits, (guint8)choice->which, 8);
        put_bytes(&bits, choice->then, choice->size);
        put_le(&bits, 50 + i, 8);
        put_le(&bits, 255, 8);
        align(&bits, 8);
        put(&bits, 0xabc, 12, false);
        put(&bits, 0xd, 4, false);
        align(&bits, 64);
        put_le(&bits, i, 8);
        put_le(&bits, 2, 8);
        put_le(&bits, (guint8)choice->word, 8);
        if (choice->word == 1 || choice->word == 2)
            put_le(&bits, 60 + i, 8);
        put_le(&bits, 1, 8);
    }
    end_packet(&bits, folder, "stream");
}

static void test_chosen(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *both = g_strconcat(ctf2_head, chosen, NULL);
    g_autofree char *metadata = ctf2_json(both);
    g_mkdir(folder, 0700);
    put_chosen(folder);
    write_metadata(folder, metadata);
    g_autofree char *events = all_events(folder);
    g_assert_cmpstr(
        events, ==,
        "   0.000000000    0 chosen there=0 maybe=\"\" which=-3 one_of=\"5\" far=\"[50,255]\" "
        "flags=0xabc "
        "map=0xd aligned=\"[0,2]\" word=1 word.label=\"own\" by_word=\"60\" always=\"1\" vtid=0 "
        "bytes=2\n"
        "   0.000000001    0 chosen there=1 maybe=\"101\" which=9 one_of=\"6\" far=\"[51,255]\" "
        "flags=0xabc map=0xd aligned=\"[1,2]\" word=2 word.label=\"\" by_word=\"61\" always=\"1\" "
        "vtid=0 bytes=2\n"
        "   0.000000002    0 chosen there=0 maybe=\"\" which=4 one_of=\"text\" far=\"[52,255]\" "
        "flags=0xabc map=0xd aligned=\"[2,2]\" word=0 word.label=\"\" by_word=\"\" always=\"1\" "
        "vtid=-5 bytes=2\n"
        "   0.000000003    0 chosen there=1 maybe=\"103\" which=20 "
        "one_of=\"{\\\"x\\\":7,\\\"more\\\":8}\" far=\"[53,255]\" flags=0xabc map=0xd "
        "aligned=\"[3,2]\" word=3 word.label=\"\" by_word=\"\" always=\"1\" vtid=6 bytes=2\n"
        "   0.000000004    0 chosen there=0 maybe=\"\" which=31 "
        "one_of=\"{\\\"x\\\":9,\\\"more\\\":null}\" far=\"[54,255]\" flags=0xabc map=0xd "
        "aligned=\"[4,2]\" word=1 word.label=\"own\" by_word=\"64\" always=\"1\" vtid=7 bytes=2\n");
    ctf_parent_remove(parent);
}

/* Packets that tell nothing: one in each file, of the classes with the number 0, without times. */
static void test_bare(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *stream = g_build_filename(folder, "stream", NULL);
    g_autofree char *metadata =
        ctf2_json("^{'type':'preamble','version':2}\n"
                  "^{'type':'data-stream-class','id':5}\n"
                  "^{'type':'event-record-class','data-stream-class-id':5,'name':'other',"
                  "'payload-field-class':([#m#{@32}}])}\n"
                  "^{'type':'data-stream-class'}\n"
                  "^{'type':'event-record-class','payload-field-class':([#n#{@8}}])}\n");
    g_mkdir(folder, 0700);
    write_metadata(folder, metadata);
    g_assert_true(g_file_set_contents(stream, "\x01\x02\xff", 3, NULL));
    struct ctf_import import = ctf_import_folder(folder);
    g_assert_cmpstr(import.error, ==, NULL);
    g_autofree char *events = ctf_events_of(&import);
    g_assert_cmpstr(events, ==,
                    "   0.000000000    0 event_0 n=1\n"
                    "   0.000000000    0 event_0 n=2\n"
                    "   0.000000000    0 event_0 n=255\n");
    g_assert_false(import.importer.has_epoch);
    ctf_import_done(&import);
    ctf_parent_remove(parent);
}

/* --- clocks --- */

/* Both forms of one clock compare, clocks with unlike origins do not. */
static void test_clocks(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *first = g_build_filename(parent, "first", NULL);
    g_autofree char *second = g_build_filename(parent, "second", NULL);
    g_autofree char *metadata = ctf2_json(ctf2_head);
    g_autoptr(GString) other = g_string_new(metadata);
    GError *error = NULL;
    g_string_replace(other, "\"unix-epoch\"", "{\"name\":\"boot\",\"uid\":\"b0\"}", 0);
    g_mkdir(first, 0700);
    g_mkdir(second, 0700);
    write_metadata(first, metadata);
    write_metadata(second, plain_tsdl);
    int folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_true(fm_ctf_is_trace(folder, parent, true, &error));
    g_assert_no_error(error);
    write_metadata(second, other->str);
    g_assert_false(fm_ctf_is_trace(folder, parent, true, &error));
    g_assert_nonnull(strstr(error->message, "first has time since 1970"));
    g_assert_nonnull(strstr(error->message, "second has origin \"boot\" b0"));
    g_clear_error(&error);
    write_metadata(first, other->str);
    g_assert_true(fm_ctf_is_trace(folder, parent, true, &error));
    close(folder);
    ctf_parent_remove(parent);
}

static char *error_of(const char *folder, const char *metadata)
{
    write_metadata(folder, metadata);
    struct ctf_import import = ctf_import_folder(folder);
    char *error = g_strdup(import.error);
    ctf_import_done(&import);
    return error;
}

/* The message names the trace's file, or its folder where the library refuses the translation. */
static void test_refused_trace(void)
{
    g_autofree char *parent = ctf_parent_new();
    g_autofree char *folder = g_build_filename(parent, "trace", NULL);
    g_autofree char *twice = g_strconcat(ctf2_head, plain, plain, NULL);
    g_autofree char *metadata = ctf2_json(twice);
    g_mkdir(folder, 0700);
    put_plain(folder);
    g_autofree char *expected =
        g_strdup_printf("%s/metadata (CTF 2): offset 1: found version 3, expected 2", folder);
    g_autofree char *error = error_of(folder, "\x1e{\"type\":\"preamble\",\"version\":3}\n");
    g_assert_cmpstr(error, ==, expected);
    g_autofree char *of_library = error_of(folder, metadata);
    g_assert_nonnull(strstr(of_library, folder));
    g_assert_null(strstr(of_library, "/fathom-ctf-"));
    ctf_parent_remove(parent);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ctf2/as in CTF 1.8", test_plain);
    g_test_add_func("/ctf2/options, variants, bits", test_chosen);
    g_test_add_func("/ctf2/without headers", test_bare);
    g_test_add_func("/ctf2/clocks", test_clocks);
    g_test_add_func("/ctf2/a refused trace", test_refused_trace);
    return g_test_run();
}
