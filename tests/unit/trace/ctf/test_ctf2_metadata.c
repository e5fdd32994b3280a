/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of CTF 2 that is refused, or read in part. */
#include <glib.h>
#include <string.h>

#include "ctf2_json.h"
#include "trace/ctf/ctf2.h"

/* Translates; NULL, or the error's message, which the caller frees. notes may be NULL. */
static char *refusal(const char *text, size_t size, GString *notes)
{
    g_autoptr(GString) tsdl = g_string_new(NULL), own = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    if (fm_ctf2_to_tsdl(text, size, tsdl, notes == NULL ? own : notes, &error)) {
        g_assert_no_error(error);
        g_assert_true(g_str_has_prefix(tsdl->str, "/* CTF 1.8 */\n"));
        return NULL;
    }
    g_assert_cmpuint(tsdl->len, ==, 0);
    g_test_message("%s", error->message);
    return g_strdup(error->message);
}

static void test_refused(void)
{
    static const char preamble[] = "^{'type':'preamble','version':2}\n";
    static const struct {
        bool begun;                   /* behind the preamble */
        const char *metadata, *error; /* $: the offset */
    } cases[] = {
        {false, "^${'type':'clock-class'}", "expected one preamble, as the first fragment"},
        {false, "^${'type':'preamble','version':3}", "found version 3, expected 2"},
        {false, "^{'type':'preamble','version':$2.5}", "found 2.5, expected a whole number"},
        {false, "^{'type':'preamble','version':2,'extensions':{'n':${}}}",
         "found extensions in the namespace \"n\", of which none is known"},
        {false, "^{'type':'preamble','version':2,'uuid':$[1,2]}", "expected a UUID"},
        {false, "^{'type':'preamble','version':2$", "expected a comma or }"},
        {false, "^$[1]", "expected a fragment, a JSON object"},
        {true, "$", "expected a data stream class"},
        {true, "^${'type':'preamble','version':2}", "expected one preamble, as the first fragment"},
        {true, "^${'type':'other'}", "found a fragment of the unknown type \"other\""},
        {true, "^{'type':'trace-class'}^${'type':'trace-class'}", "found a second trace class"},
        {true, "^{'type':'data-stream-class'}^${'type':'data-stream-class','id':0}",
         "found a second data stream class 0"},
        {true, "^${'type':'event-record-class'}",
         "found an event record class of the data stream class 0, which is not declared before"},
        {true, "^{'type':'data-stream-class','default-clock-class-id':$'c'}",
         "found the clock \"c\", which is not declared before"},
        {true, "^${'type':'clock-class','id':'c'}", "expected a clock with a frequency"},
        {true,
         "^{'type':'clock-class','frequency':1,'offset-from-origin':{'seconds':$9223372036854775808"
         "}}",
         "expected a whole number of seconds"},
        {true, "^{'type':'field-class-alias','name':'a','field-class':$'b'}",
         "found the field class alias \"b\", which is not declared before"},
        {true, "^${'type':'field-class-alias','name':'a'}", "expected a name and a field-class"},
        {true, "^{'type':'data-stream-class','packet-context-field-class':${@8}}",
         "packet context: expected a structure"},
        {true, "^{'type':'data-stream-class'}^${'type':'event-record-class','name':'e'}",
         "found the event record class \"e\", whose records may take no bit, expected a field"},
        {true,
         "^{'type':'data-stream-class'}^${'type':'event-record-class','payload-field-class':"
         "([#x#{'type':'static-length-array','length':3,'element-field-class':([])}},"
         "#y#{'type':'static-length-blob','length':0}}])}",
         "found the event record class \"event 0\", whose records may take no bit"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *both =
            g_strconcat(cases[i].begun ? preamble : "", cases[i].metadata, NULL);
        g_autofree char *text = ctf2_json(both);
        char *mark = strchr(text, '$');
        g_autofree char *expected = g_strdup_printf("offset %zu: ", (size_t)(mark - text));
        memmove(mark, mark + 1, strlen(mark));
        g_autofree char *error = refusal(text, strlen(text), NULL);
        g_assert_nonnull(error);
        g_assert_true(g_str_has_prefix(error, expected));
        g_assert_true(g_str_has_prefix(error + strlen(expected), cases[i].error));
    }
}

/* As a member of a payload, behind n, an 8 bit number, and s, a string. */
static void test_refused_fields(void)
{
    static const struct {
        const char *class_, *error;
    } cases[] = {
        {"{'type':'variable-length-unsigned-integer'}",
         "its type \"variable-length-unsigned-integer\" cannot be expressed in CTF 1.8"},
        {"{'type':'nothing'}", "its type \"nothing\" is not known"},
        {"'nothing'", "found the field class alias \"nothing\", which is not declared before"},
        {"5", "expected a field class"},
        {"{@65}", "found a length of 65 bits, expected 1 to 64"},
        {"{'type':'fixed-length-boolean','length':1,'byte-order':'middle'}",
         "expected a byte-order"},
        {"{'alignment':3,@8}", "found the alignment 3, expected a power of two"},
        {"{@8,'bit-order':'last-to-first'}", "its bit order is not the usual one"},
        {"{@8,'preferred-display-base':3}", "found the display base 3"},
        {"{@8,'mappings':[]}", "expected mappings as an object"},
        {"{'type':'fixed-length-floating-point-number','length':16,'byte-order':'big-endian'}",
         "found a floating-point number of 16 bits, expected 32 or 64"},
        {"{'type':'null-terminated-string','encoding':'utf-16le'}",
         "its encoding is utf-16le, expected utf-8"},
        {"{'type':'static-length-array','element-field-class':'n'}", "expected a length"},
        {"{'type':'dynamic-length-blob','length-field-location':{'path':['later']}}",
         "its length-field-location leads to no field before it"},
        {"{'type':'dynamic-length-blob','length-field-location':{'path':[null,'n']}}",
         "its length-field-location leads to no field before it"},
        {"{'type':'dynamic-length-blob','length-field-location':"
         "{'origin':'packet-header','path':['n']}}",
         "its length-field-location leads to no field before it"},
        {"{'type':'dynamic-length-blob','length-field-location':{'path':['s']}}",
         "its length-field-location leads to a field that is no unsigned integer"},
        {"{'type':'optional','field-class':'u8'}", "expected a selector-field-location"},
        {"{'type':'optional','selector-field-location':"
         "{'origin':'event-record-common-context','path':['bytes']},"
         "'selector-field-ranges':[[0,1]],'field-class':'u8'}",
         "its selector, bytes, is no member of a structure around it"},
        {"([#n#'u8'},#o#{'type':'optional','selector-field-location':{'path':[null,'n']},"
         "'selector-field-ranges':[[0,1]],'field-class':'u8'}}])",
         "its selector, n, is no member of a structure around it (or hidden by another member"},
        {"{'type':'variant','selector-field-location':{'path':['n']}}", "expected options"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *all = g_strconcat(
            ctf2_head,
            "^{'type':'event-record-class','data-stream-class-id':7,'payload-field-class':(["
            "#n#'u8'},#s#{'type':'null-terminated-string'}},#odd#",
            cases[i].class_, "},#later#'u8'}])}\n", NULL);
        g_autofree char *text = ctf2_json(all);
        g_autofree char *error = refusal(text, strlen(text), NULL);
        g_assert_nonnull(error);
        g_assert_true(g_str_has_prefix(error, "offset "));
        g_assert_nonnull(strstr(error, cases[i].error));
        g_assert_nonnull(strstr(error, ": payload, field odd"));
    }
}

/* Ranges of mappings and of options. */
static void test_refused_ranges(void)
{
    static const char *const ranges[] = {
        "[[2,1]]", "[[-1,1]]",  "[[1]]", "[1,2]", "[[0,18446744073709551616]]",
        "[]",      "[[1,2.5]]", "'x'"};
    for (unsigned i = 0; i < G_N_ELEMENTS(ranges); i++) {
        g_autofree char *all = g_strconcat(
            ctf2_head,
            "^{'type':'event-record-class','data-stream-class-id':7,'payload-field-class':(["
            "#n#'u8'},#o#{'type':'optional','selector-field-location':{'path':['n']},"
            "'selector-field-ranges':",
            ranges[i], ",'field-class':'u8'}}])}\n", NULL);
        g_autofree char *text = ctf2_json(all);
        g_autofree char *error = refusal(text, strlen(text), NULL);
        g_assert_nonnull(error);
        g_assert_true(strstr(error, ": expected a range [LOW, HIGH] of whole numbers") != NULL ||
                      strstr(error, ": expected ranges of whole numbers") != NULL);
    }
}

/* Metadata that ends anywhere is refused, or read up to there with a note. */
static void test_cut(void)
{
    enum { EVENTS = 3 };
    g_autoptr(GString) all = g_string_new(ctf2_head);
    unsigned whole = 0, cut = 0, refused = 0;
    for (unsigned i = 0; i < EVENTS; i++)
        g_string_append_printf(all,
                               "^{'type':'event-record-class','data-stream-class-id':7,'id':%u,"
                               "'payload-field-class':([#n#'u8'}])}\n",
                               i);
    g_autofree char *text = ctf2_json(all->str);
    for (size_t size = 0; size <= strlen(text); size++) {
        g_autoptr(GString) notes = g_string_new(NULL);
        g_autofree char *part = g_malloc(size + 1); /* no NUL behind it */
        memcpy(part, text, size);
        part[size] = 'x';
        g_autofree char *error = refusal(part, size, notes);
        refused += error != NULL;
        cut += error == NULL && notes->len > 0;
        whole += error == NULL && notes->len == 0;
        if (notes->len > 0)
            g_assert_true(g_str_has_prefix(notes->str, "the last fragment is left out: offset "));
    }
    /* Behind the stream class and each event record class: its last byte, the line's end, the next
     * separator. */
    g_assert_cmpuint(whole, ==, (1 + EVENTS) * 3 - 1);
    /* Anywhere in the others, but behind their last byte and their line's end. */
    size_t fragment = strlen(strrchr(text, '\x1e') + 1);
    g_assert_cmpuint(cut, ==, (EVENTS - 1) * (fragment - 2));
    g_assert_cmpuint(refused + cut + whole, ==, strlen(text) + 1);
}

/* Aliases of aliases do not make a small text an endless tree. */
static void test_aliases(void)
{
    g_autoptr(GString) all = g_string_new(
        "^{'type':'preamble','version':2}\n"
        "^{'type':'field-class-alias','name':'a0','field-class':{'type':'null-terminated-string'}}"
        "\n");
    for (unsigned i = 1; i < 40; i++)
        g_string_append_printf(all,
                               "^{'type':'field-class-alias','name':'a%u','field-class':"
                               "([#x#'a%u'},#y#'a%u'},#z#'a%u'}])}\n",
                               i, i - 1, i - 1, i - 1);
    g_string_append(
        all, "^{'type':'data-stream-class','event-record-common-context-field-class':'a39'}\n");
    g_autofree char *text = ctf2_json(all->str);
    g_autofree char *error = refusal(text, strlen(text), NULL);
    g_assert_nonnull(strstr(error, ": expected fields that nest at most 64 deep, and at most "));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ctf2 metadata/refused", test_refused);
    g_test_add_func("/ctf2 metadata/refused fields", test_refused_fields);
    g_test_add_func("/ctf2 metadata/refused ranges", test_refused_ranges);
    g_test_add_func("/ctf2 metadata/cut", test_cut);
    g_test_add_func("/ctf2 metadata/aliases of aliases", test_aliases);
    return g_test_run();
}
