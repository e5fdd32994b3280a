/* SPDX-License-Identifier: Apache-2.0 */
/* Event types of a program's own: declared in each header, with their fields, whoever reads. */
#include "check.h"

#include <fathom/eventlog.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

FM_EVENT(request, text(path), integer(status), real(seconds));
FM_EVENT(page, address(at), bytes(size), count(uses), ns(age), name(owner));
FM_EVENT(words, text(first), text(second));
FM_EVENT(twelve, integer(a), integer(b), integer(c), integer(d), integer(e), integer(f), integer(g),
         integer(h), integer(i), integer(j), integer(k), integer(l));

enum { FIRST_NUMBER = 640, NUMBERS = 256 };

static char *cat(const char *path, const char *format)
{
    const char *argv[] = {g_getenv("FATHOM"), "log", "cat", format, path, NULL};
    char *out = NULL;
    g_autofree char *errors = NULL;
    int status = -1;
    g_assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, &errors, &status, NULL));
    g_assert_cmpstr(errors, ==, "");
    g_assert_cmpint(status, ==, 0);
    return out;
}

static char *begin(void)
{
    char *path = temp_path("events.eventlog");
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    return path;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        g_error("\"%s\" is not in:\n%s", part, text);
}

static void name_and_fields_are_shown(void)
{
    g_autofree char *path = begin();
    uint32_t owner = fm_eventlog_intern("the owner");
    fm_event_request("/index \"1\"", -404, 0.25);
    fm_event_request(NULL, INT64_MIN, -INFINITY);
    fm_event_page((const void *)(uintptr_t)0x1234, 4096, UINT64_MAX, 77, owner);
    fm_event_words("", "two");
    fm_event_twelve(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12);
    fm_eventlog_stop();
    validate_file(path);
    g_autofree char *text = cat(path, "--format=text"), *json = cat(path, "--format=json");
    assert_has(text, " request path=\"/index \\\"1\\\"\" status=-404 seconds=0.25\n");
    assert_has(text, " request path=\"\" status=-9223372036854775808 seconds=-inf\n");
    assert_has(text, " page at=0x1234 size=4096 uses=18446744073709551615 age=77 owner=");
    assert_has(text, " \"the owner\"\n");
    assert_has(text, " words first=\"\" second=\"two\"\n");
    assert_has(text, " twelve a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 k=11 l=-12\n");
    assert_has(json, "\"type\":\"request\",\"fields\":{\"path\":\"/index \\\"1\\\"\","
                     "\"status\":-404,\"seconds\":0.25}}\n");
    assert_has(json, "\"type\":\"page\",\"fields\":{\"at\":4660,\"size\":4096,"
                     "\"uses\":18446744073709551615,\"age\":77,\"owner\":");
}

static void span_details_are_shown(void)
{
    g_autofree char *path = begin();
    for (int i = 1; i <= 2; i++) {
        g_autofree char *text = g_strdup_printf("row \"%d\"", i);
        FM_SPAN_WITH("query", text, -i);
        FM_VALUE("inside", 1.5);
    }
    fm_eventlog_stop();
    g_autofree char *text = cat(path, "--format=text"), *json = cat(path, "--format=json");
    assert_has(text, " SpanDetail value=-1 text=\"row \\\"1\\\"\"\n");
    assert_has(text, " ValueReal name=");
    assert_has(text, " \"inside\" value=1.5\n");
    assert_has(json,
               "\"type\":\"SpanDetail\",\"fields\":{\"value\":-2,\"text\":\"row \\\"2\\\"\"}}\n");
}

/* Counters are signed numbers; what these do not hold is no negative number but a real one. */
static void large_unsigned_values_are_shown(void)
{
    g_autofree char *path = begin();
    uint64_t most = UINT64_MAX;
    unsigned long bit = 1UL << 63;
    unsigned calls = 0;
    FM_COUNTER("most", most);
    FM_COUNTER("most", (calls++, bit));
    FM_VALUE("most", bit);
    FM_COUNTER("most", (uint64_t)INT64_MAX);
    FM_VALUE("most", UINT32_MAX);
    FM_COUNTER("most", -1L);
    FM_SPAN_WITH("span", "all", most);
    FM_SPAN_WITH("span", "bit", (calls++, bit));
    FM_SPAN_WITH("span", "signed", (uint64_t)INT64_MAX);
    FM_SPAN_WITH("span", "half", 2.5f);
    FM_SPAN_WITH("span", "less", -2);
    fm_eventlog_stop();
    g_assert_cmpuint(calls, ==, 2);
    g_autofree char *text = cat(path, "--format=text"), *json = cat(path, "--format=json");
    assert_has(text, "\"most\" value=1.8446744073709552e+19\n");
    assert_has(text, "\"most\" value=9.2233720368547758e+18\n");
    assert_has(text, "\"most\" value=9223372036854775807\n");
    assert_has(text, "\"most\" value=4294967295\n");
    assert_has(text, "\"most\" value=-1\n");
    assert_has(text, " SpanDetailReal value=1.8446744073709552e+19 text=\"all\"\n");
    assert_has(text, " SpanDetailReal value=9.2233720368547758e+18 text=\"bit\"\n");
    assert_has(text, " SpanDetail value=9223372036854775807 text=\"signed\"\n");
    assert_has(text, " SpanDetailReal value=2.5 text=\"half\"\n");
    assert_has(text, " SpanDetail value=-2 text=\"less\"\n");
    assert_has(json, "\"value\":1.8446744073709552e+19");
}

static uint64_t all_of(const struct check *c)
{
    uint64_t n = 0;
    for (unsigned i = FIRST_NUMBER; i < FIRST_NUMBER + NUMBERS; i++)
        n += c->counts[i];
    return n;
}

/* One type for equal declarations, and for them alone: readers go by the fields. */
static void types_are_told_apart_by_fields(void)
{
    struct fm_eventlog_event_type_ same = fm_event_type_words, other = fm_event_type_words;
    other.fields = "first=strz";
    same.index = other.index = -1;
    fm_eventlog_declare_(&same);
    fm_eventlog_declare_(&other);
    g_assert_cmpint(same.index, ==, fm_event_type_words.index);
    g_assert_cmpint(other.index, >=, 0);
    g_assert_cmpint(other.index, !=, same.index);
}

/* Too long for an event: dropped and counted, the next one arrives. */
static void long_texts_are_counted(void)
{
    g_autofree char *path = begin(), *text = g_strnfill(65519, 'x'), *more = g_strnfill(65520, 'x');
    struct fm_eventlog_stats before, after;
    fm_eventlog_stats(&before);
    fm_event_request(text, 1, 1); /* 65519 + 1 + 16 = 65536: one too many */
    fm_event_request(more, 1, 1);
    fm_event_request(text + 1, 2, 2);
    fm_eventlog_stats(&after);
    g_assert_cmpuint(after.dropped_events - before.dropped_events, ==, 2);
    fm_eventlog_stop();
    struct check *c = check_file(path);
    g_assert_cmpuint(all_of(c), ==, 1);
    check_free(c);
}

static void handler(int signal)
{
    (void)signal;
    fm_event_request("handler", 7, 1.5);
    fm_event_twelve(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
}

static gpointer log_many(gpointer context)
{
    (void)context;
    for (int i = 0; i < 20000; i++) {
        fm_event_twelve(i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        fm_event_words("one", "two");
    }
    return NULL;
}

static void threads_and_handlers_log_them(void)
{
    g_autofree char *path = begin();
    struct sigaction action = {.sa_handler = handler}, old;
    sigaction(SIGUSR1, &action, &old);
    GThread *threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = g_thread_new("events", log_many, NULL);
    for (int i = 0; i < 1000; i++) {
        raise(SIGUSR1);
        fm_eventlog_flush(i % 100 == 0 ? -1 : 0);
    }
    for (int i = 0; i < 3; i++)
        g_thread_join(threads[i]);
    sigaction(SIGUSR1, &old, NULL);
    fm_eventlog_stop();
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_cmpuint(all_of(c), ==, 3 * 2 * 20000 + 2 * 1000);
    check_free(c);
}

/* Each destination has them in its header, one that comes late and a child's too. */
static void every_header_declares_them(void)
{
    g_autofree char *path = begin(), *second = temp_path("second.eventlog");
    fm_event_words("to", "the first");
    g_assert_cmpint(fm_eventlog_open_file(second), ==, 0);
    fm_event_words("to", "the second");
    fm_eventlog_stop();
    g_autofree char *one = cat(path, "--format=text"), *two = cat(second, "--format=text");
    assert_has(one, " words first=\"to\" second=\"the first\"\n");
    assert_has(two, " words first=\"to\" second=\"the second\"\n");
}

static void child_has_them(void)
{
    g_autofree char *folder = temp_folder(), *path = g_build_filename(folder, "p.eventlog", NULL);
    g_autofree char *pattern = g_build_filename(folder, "child.eventlog", NULL);
    struct fm_eventlog_options options = {.fork_path = pattern};
    g_assert_cmpint(fm_eventlog_start(&options), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    pid_t pid = fork();
    if (pid == 0) {
        fm_event_request("child", 1, 2);
        fm_eventlog_stop();
        _exit(0);
    }
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    fm_eventlog_stop();
    g_autofree char *text = cat(pattern, "--format=text");
    assert_has(text, " request path=\"child\" status=1 seconds=2\n");
}

/* What a plugin does that is loaded while a log is written: its type is in no header. */
static void type_that_comes_late_is_a_message_until_the_next_log(void)
{
    static struct fm_eventlog_event_type_ late = {"late", "path=strz,n=i64,real=f64,at=addr",
                                                  0xFFFF, 0, -1};
    uint64_t n = fm_eventlog_be64_((uint64_t)-5), at = fm_eventlog_be64_(0xAB);
    uint64_t real = fm_eventlog_real_(-1.5);
    struct fm_eventlog_piece_ pieces[] = {{"x y", 4}, {&n, 8}, {&real, 8}, {&at, 8}};
    g_autofree char *path = begin();
    fm_event_words("before", "it");
    fm_eventlog_declare_(&late);
    fm_eventlog_event_(&late, pieces, G_N_ELEMENTS(pieces));
    fm_eventlog_stop();
    validate_file(path);
    g_autofree char *text = cat(path, "--format=text");
    assert_has(text, " UserMessage text=\"late path=\\\"x y\\\" n=-5 real=-1.5 at=0xab\"\n");
    g_autofree char *next = begin();
    fm_eventlog_event_(&late, pieces, G_N_ELEMENTS(pieces));
    g_assert_cmpuint(late.number, >=, FIRST_NUMBER);
    fm_eventlog_stop();
    g_autofree char *again = cat(next, "--format=text");
    assert_has(again, " late path=\"x y\" n=-5 real=-1.5 at=0xab\n");
}

/* The same type in two files of a program has one number; beyond the last number: messages. */
static void take_all_numbers(const char *path)
{
    static struct fm_eventlog_event_type_ same[2] = {{"same", "n=i64", 8, 0, -1},
                                                     {"same", "n=i64", 8, 0, -1}};
    static struct fm_eventlog_event_type_ types[NUMBERS];
    static char names[NUMBERS][16];
    uint64_t n = fm_eventlog_be64_(3);
    struct fm_eventlog_piece_ piece = {&n, 8};
    fm_eventlog_declare_(&same[0]);
    fm_eventlog_declare_(&same[1]);
    g_assert_cmpint(same[0].index, >=, 4);
    g_assert_cmpint(same[0].index, ==, same[1].index);
    for (int i = 0; i < NUMBERS; i++) {
        g_snprintf(names[i], sizeof(names[i]), "type%d", i);
        types[i] = (struct fm_eventlog_event_type_){names[i], "n=i64", 8, 0, -1};
        fm_eventlog_declare_(&types[i]);
    }
    g_assert_cmpint(types[0].index, ==, same[0].index + 1);
    g_assert_cmpint(types[NUMBERS - 1].index, ==, -1);
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    for (int i = 0; i < NUMBERS; i++)
        fm_eventlog_event_(&types[i], &piece, 1);
    fm_eventlog_stop();
    struct check *c = check_file(path);
    unsigned known = NUMBERS - (unsigned)types[0].index;
    g_assert_cmpuint(all_of(c), ==, known);
    g_assert_cmpuint(c->counts[FM_EVENT_USER_MESSAGE], ==, NUMBERS - known);
    check_free(c);
}

static void numbers_end(void)
{
    g_autofree char *path = temp_path("numbers.eventlog");
    pid_t pid = fork(); /* what is declared stays so */
    if (pid == 0) {
        take_all_numbers(path);
        _exit(0);
    }
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    validate_file(path);
    g_autofree char *text = cat(path, "--format=text");
    assert_has(text, " type0 n=3\n");
    assert_has(text, " UserMessage text=\"type255 n=3\"\n");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eventlog/events/shown", name_and_fields_are_shown);
    g_test_add_func("/eventlog/events/apart", types_are_told_apart_by_fields);
    g_test_add_func("/eventlog/events/unsigned", large_unsigned_values_are_shown);
    g_test_add_func("/eventlog/events/details", span_details_are_shown);
    g_test_add_func("/eventlog/events/long", long_texts_are_counted);
    g_test_add_func("/eventlog/events/threads", threads_and_handlers_log_them);
    g_test_add_func("/eventlog/events/headers", every_header_declares_them);
    g_test_add_func("/eventlog/events/child", child_has_them);
    g_test_add_func("/eventlog/events/late", type_that_comes_late_is_a_message_until_the_next_log);
    g_test_add_func("/eventlog/events/numbers", numbers_end);
    return g_test_run();
}
