/* SPDX-License-Identifier: Apache-2.0 */
/* CTF 2 metadata for tests, in short:
 *
 *   '           "
 *   ^           begins a fragment
 *   #NAME#      begins a member of a structure, {"name": NAME, "field-class":
 *   ([ ])       a structure of these members
 *   @8 @32 @64  members of an unsigned integer of N bits, little-endian, aligned to bytes */
#pragma once

#include <glib.h>

/* Up to the data stream class, 7. */
static const char ctf2_head[] =
    "^{'type':'preamble','version':2,'uuid':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,255],"
    "'attributes':{'a':{'b':[true,null,-1.5e3]}}}\n"
    "^{'type':'field-class-alias','name':'u8','field-class':{@8}}\n"
    "^{'type':'field-class-alias','name':'byte','field-class':'u8'}\n"
    "^{'type':'trace-class','namespace':'n','name':'t','uid':'u',"
    "'environment':{'tracer_name':'a \\\"tracer\\\"','tracer_major':2,'x y':1},"
    "'packet-header-field-class':(["
    "#the magic#{@32,'roles':['packet-magic-number']}},"
    "#struct#{'type':'static-length-blob','length':16,'roles':['metadata-stream-uuid']}},"
    "#a#{@8,'roles':['data-stream-class-id']}},"
    "#b#{@8,'roles':['data-stream-id']}}])}\n"
    "^{'type':'clock-class','id':'my clock','name':'monotonic','frequency':1000000000,"
    "'origin':'unix-epoch','offset-from-origin':{'seconds':1700000000,'cycles':5}}\n"
    "^{'type':'data-stream-class','id':7,'default-clock-class-id':'my clock',"
    "'packet-context-field-class':(["
    "#p-total#{@32,'roles':['packet-total-length']}},"
    "#p-content#{@32,'roles':['packet-content-length']}},"
    "#begin#{@64,'roles':['default-clock-timestamp']}},"
    "#end#{@64,'roles':['packet-end-default-clock-timestamp']}},"
    "#packet_size#'byte'},"
    "#cpu_id#{@32}}]),"
    "'event-record-header-field-class':(["
    "#id#'u8'},"
    "#kind#{@8,'roles':['event-record-class-id']}},"
    "#ts#{@32,'roles':['default-clock-timestamp']}}]),"
    "'event-record-common-context-field-class':(["
    "#vtid#{'type':'fixed-length-signed-integer','length':32,'alignment':8,"
    "'byte-order':'little-endian'}},"
    "#bytes#'u8'}])}\n";

/* JSON of such a text; g_free. */
static inline char *ctf2_json(const char *text)
{
    static const char *const longer[][2] = {
        {"^", "\x1e"},
        {"'", "\""},
        {"([", "{\"type\":\"structure\",\"member-classes\":["},
        {"])", "]}"},
        {"@", "\"type\":\"fixed-length-unsigned-integer\",\"byte-order\":\"little-endian\","
              "\"alignment\":8,\"length\":"},
    };
    g_autoptr(GRegex) member = g_regex_new("#([^#]*)#", 0, 0, NULL);
    GString *json = g_string_new(NULL);
    g_autofree char *named =
        g_regex_replace(member, text, -1, 0, "{\"name\":\"\\1\",\"field-class\":", 0, NULL);
    g_string_assign(json, named);
    for (unsigned i = 0; i < G_N_ELEMENTS(longer); i++)
        g_string_replace(json, longer[i][0], longer[i][1], 0);
    return g_string_free(json, FALSE);
}
