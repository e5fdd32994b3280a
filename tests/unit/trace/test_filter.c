/* SPDX-License-Identifier: Apache-2.0 */
/* The filter language: what is accepted, what it means, how it prints, what it offers. */
#include <string.h>

#include "base/error.h"
#include "trace/filter/filter.h"

/* --- a tracefile of events with fields --- */

struct sample {
    uint64_t time;
    uint32_t id;
    int32_t lane;
    struct fm_event_value values[4];
};

static const char *const names[] = {NULL, "RunThread", "sched_switch", "my:event", "dotted.name"};

#define TEXT(n, t)                                                                \
    {                                                                             \
        .name = n, .kind = FM_VALUE_TEXT, .text = t, .text_length = sizeof(t) - 1 \
    }
#define UNSIGNED(n, v)                                    \
    {                                                     \
        .name = n, .kind = FM_VALUE_UNSIGNED, .number = v \
    }

static const struct sample samples[] = {
    {1500000000, 1, 0, {UNSIGNED("thread", 7)}},
    {1500000001,
     2,
     1,
     {TEXT("prev_comm", "make"),
      UNSIGNED("prev_tid", 12),
      {.name = "prev_state", .kind = FM_VALUE_SIGNED, .number = (uint64_t)-2},
      {.name = "load", .kind = FM_VALUE_REAL, .real = 1.25}}},
    {1500000001,
     3,
     -1,
     {{.name = "status",
       .kind = FM_VALUE_UNSIGNED,
       .number = 5,
       .text = "finished",
       .text_length = 8},
      {.name = "address", .kind = FM_VALUE_ADDRESS, .number = UINT64_MAX},
      TEXT("a.b", "x*y \"q\""),
      TEXT("note", "10")}},
    {2000000000, 4, 65535, {TEXT("field", "")}},
};

static size_t cursor;

static bool peek(struct fm_tracefile *tracefile, struct fm_event *ret)
{
    (void)tracefile;
    if (cursor >= G_N_ELEMENTS(samples))
        return false;
    *ret = (struct fm_event){.time = samples[cursor].time,
                             .id = samples[cursor].id,
                             .cpu = samples[cursor].lane,
                             .payload = (const uint8_t *)&samples[cursor]};
    return true;
}

static const char *event_name(struct fm_tracefile *tracefile, uint32_t id)
{
    (void)tracefile;
    return id < G_N_ELEMENTS(names) ? names[id] : NULL;
}

static unsigned event_values(struct fm_tracefile *tracefile, const struct fm_event *event,
                             struct fm_event_value *ret)
{
    const struct sample *sample = (const struct sample *)(const void *)event->payload;
    unsigned count = 0;
    (void)tracefile;
    while (count < 4 && sample->values[count].name != NULL) {
        ret[count] = sample->values[count];
        count++;
    }
    return count;
}

static unsigned event_fields(struct fm_tracefile *tracefile, uint32_t id, const char **ret_names)
{
    unsigned count = 0;
    (void)tracefile;
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        for (unsigned j = 0; samples[i].id == id && j < 4 && samples[i].values[j].name != NULL; j++)
            ret_names[count++] = samples[i].values[j].name;
    }
    return count;
}

static const struct fm_tracefile_class class_ = {
    .peek = peek,
    .event_name = event_name,
    .event_values = event_values,
    .event_fields = event_fields,
};

static struct fm_trace *make_trace(void)
{
    struct fm_trace *trace = fm_trace_new("/data/run one.eventlog", "1:2");
    trace->state_model = &fm_state_model_eventlog;
    fm_trace_add_tracefile(trace, &class_, "stream 0", "kernel", 0, NULL);
    return trace;
}

/* Which of the samples a filter accepts, as digits: "013". */
static char *accepted(struct fm_filter *filter, struct fm_trace *trace)
{
    GString *out = g_string_new(NULL);
    struct fm_tracefile_context at = {.tracefile = trace->tracefiles->pdata[0]};
    for (cursor = 0; peek(at.tracefile, &at.event); cursor++) {
        at.time = at.event.time;
        if (fm_filter_accepts(filter, &at, NULL))
            g_string_append_printf(out, "%zu", cursor);
    }
    return g_string_free(out, FALSE);
}

static void check(const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    struct fm_trace *trace = make_trace();
    struct fm_filter *filter = fm_filter_new(text, &error);
    g_assert_no_error(error);
    for (int again = 0; again < 2; again++) { /* the second time from what was learnt */
        g_autofree char *found = accepted(filter, trace);
        if (strcmp(found, expected) != 0)
            g_error("%s accepts \"%s\", expected \"%s\"", text, found, expected);
    }
    g_autofree char *printed = fm_filter_print(filter);
    struct fm_filter *back = fm_filter_new(printed, &error);
    g_assert_no_error(error);
    g_autofree char *printed_again = fm_filter_print(back);
    g_autofree char *found_again = accepted(back, trace);
    g_assert_cmpstr(printed, ==, printed_again);
    g_assert_cmpstr(found_again, ==, expected);
    fm_filter_free(back);
    fm_filter_free(filter);
    fm_trace_free(trace);
}

static void test_fields(void)
{
    static const struct {
        const char *text, *accepts;
    } cases[] = {
        {"", "0123"},
        {" \n\t ", "0123"},
        {"event.name = RunThread", "0"},
        {"EVENT.Name=RunThread", "0"},
        {"event.name = runthread", ""},
        {"event.name = kernel.sched_switch", "1"},
        {"event.name != kernel.sched_switch", "023"},
        {"event.name = other.sched_switch", ""},
        {"event.subname = sched_switch", "1"},
        {"event.subname = kernel.sched_switch", ""},
        {"event.name = \"my:event\"", "2"},
        {"event.name = dotted.name", "3"},
        {"event.name = *switch*", "1"},
        {"event.name = *e*", "0123"},
        {"event.subname != *e*n*", "01"},
        {"event.name = \"*switch\"", "1"},
        {"event.name = \"\\*switch\"", ""},
        {"event.name = \\*switch", ""},
        {"event.name = s*\\*", ""},
        {"event.category = anything", "0123"},
        {"event.time = 1.5", "0"},
        {"event.time >= 1.500000001", "123"},
        {"event.time > 1500ms", "123"},
        {"event.time < 2s", "012"},
        {"event.time <= 1500000001 ns", "012"},
        {"event.time != 1500000.001us", "03"},
        {"event.tsc = 0x59682F00", "0"},
        {"event.cpu = 1", "1"},
        {"event.cpu != 1", "03"},
        {"event.cpu >= -1", "013"},
        {"event.target_pid = 7", "0123"}, /* no state: true for those that name nobody */
        {"event.target_pid = 8", "123"},
        {"event.field.thread = 7", "0"},
        {"event.field.thread > 6.5", "0"},
        {"event.field.thread != 8", "0"},
        {"!event.field.thread = 7", "123"},
        {"event.field.thread < -1", ""},
        {"event.field.RunThread.thread = 7", "0"},
        {"event.field.kernel.RunThread.thread = 7", "0"},
        {"event.field.user.RunThread.thread = 7", ""},
        {"event.field.StopThread.thread = 7", ""},
        {"event.field.prev_comm = make", "1"},
        {"event.field.prev_comm < maker", "1"},
        {"event.field.prev_comm > make", ""},
        {"event.field.prev_state = -2", "1"},
        {"event.field.prev_state < 0", "1"},
        {"event.field.prev_state > -1.5", ""},
        {"event.field.load = 1.25", "1"},
        {"event.field.load > 1", "1"},
        {"event.field.load < 125e-2", ""},
        {"event.field.status = finished", "2"},
        {"event.field.status = 5", "2"},
        {"event.field.status != 6", "2"},
        {"event.field.address = 0xffffffffffffffff", "2"},
        {"event.field.address = 18446744073709551615", "2"},
        {"event.field.address > 18446744073709551614", "2"},
        {"event.field.a.b = \"x\\*y \\\"q\\\"\"", "2"},
        {"event.field.a.b = \"x* \\\"q\\\"\"", "2"},
        {"event.field.a.b = \"x\\*z*\"", ""},
        {"event.field.\"my:event\".a.b != z", "2"},
        {"event.field.kernel.my:event.a.b = x*q*", "2"},
        {"event.field.note = 10", "2"},
        {"event.field.note = 10.0", ""},
        {"event.field.field = \"\"", "3"},
        {"channel.name = kernel", "0123"},
        {"tracefile.name = stream 0", "0123"},
        {"tracefile.name = stream 1", ""},
        {"trace.name = run one.eventlog", "0123"},
        {"trace.name = /data/*", "0123"},
        {"trace.name != run one.eventlog", ""},
        {"state.pid = 4", "0123"},
        {"state.execution_mode = syscall", "0123"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        check(cases[i].text, cases[i].accepts);
}

/* Times 0..3 by event.cpu and names stand for truth values; every combination is compared with
 * what the precedence says. */
static void test_precedence(void)
{
    static const struct {
        const char *text, *accepts, *printed;
    } cases[] = {
        {"event.cpu=0 | event.cpu=1 & event.cpu=2", "0", NULL},
        {"event.cpu=1 & event.cpu=2 | event.cpu=0", "0", NULL},
        {"(event.cpu=0 | event.cpu=1) & event.cpu=1", "1", NULL},
        {"event.cpu=0 || event.cpu=1 && event.cpu=2", "0",
         "event.cpu = 0 | event.cpu = 1 & event.cpu = 2"},
        {"event.cpu=0 ^ event.cpu=0 & event.cpu=1", "0",
         "event.cpu = 0 ^ event.cpu = 0 & event.cpu = 1"},
        {"event.cpu=0 | event.cpu=0 ^ event.cpu=0", "0", NULL},
        {"{event.cpu=0 | event.cpu=0] ^ event.cpu=0", "",
         "(event.cpu = 0 | event.cpu = 0) ^ event.cpu = 0"},
        {"event.cpu=0 ^ event.cpu=0 ^ event.cpu=0", "0", NULL},
        {"event.cpu=0 ^ (event.cpu=0 ^ event.cpu=0)", "0",
         "event.cpu = 0 ^ (event.cpu = 0 ^ event.cpu = 0)"},
        {"!event.cpu=0 & event.cpu=1", "1", "!event.cpu = 0 & event.cpu = 1"},
        {"!(event.cpu=0 | event.cpu=1)", "23", "!(event.cpu = 0 | event.cpu = 1)"},
        {"!!(event.cpu=0 | event.cpu=1)", "01", "event.cpu = 0 | event.cpu = 1"},
        {"![event.cpu=0 ^ event.cpu=1] & !event.cpu=65535", "2", NULL},
        {"!(!event.cpu=0)", "0", "event.cpu = 0"},
        {"((event.cpu\n=\n0))", "0", "event.cpu = 0"},
        {"event.name = \"RunThread\"", "0", "event.name = RunThread"},
        {"event.name = a  b ", "", "event.name = a  b"},
        {"event.name = \"a&b\"", "", "event.name = \"a&b\""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        check(cases[i].text, cases[i].accepts);
        struct fm_filter *filter = fm_filter_new(cases[i].text, NULL);
        g_autofree char *printed = fm_filter_print(filter);
        if (cases[i].printed != NULL)
            g_assert_cmpstr(printed, ==, cases[i].printed);
        fm_filter_free(filter);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"event", "offset 0: found \"event\", expected a field such as"},
        {"event.nme = 3", "offset 0: found \"event.nme = 3\", expected a field that exists"},
        {"event.field. = 3", "expected a field that exists"},
        {"event.name", "offset 10: found the end, expected one of = != < <= > >="},
        {"event.name =", "offset 12: found the end, expected a value"},
        {"event.name = & event.cpu = 1", "offset 13: found \"& event.cpu = 1\", expected a value"},
        {"event.name < a", "offset 11: found \"< a\", expected = or !="},
        {"event.name = \"a", "expected the \" that ends the value"},
        {"event.cpu = one", "offset 12: found \"one\", expected a number"},
        {"event.cpu = 1x", "expected a number"},
        {"event.cpu = \"\"", "expected a number"},
        {"event.time = 5 h", "expected a time such as"},
        {"event.time = 99999999999999999999", "expected a time such as"},
        {"state.process_status = ASLEEP", "expected one of UNNAMED, WAIT_FORK, WAIT_CPU"},
        {"(event.cpu = 1", "offset 14: found the end, expected one of & ^ | or the closing"},
        {"event.cpu = 1)", "offset 13: found \")\", expected one of & ^ | or the end"},
        {"()", "offset 1: found \")\", expected a field"},
        {"event.cpu = 1 &", "offset 15: found the end, expected a field"},
        {"event.name = a (b)", "offset 15: found \"(b)\", expected one of & ^ | or the end"},
        {"event.cpu \xff", "offset 10: not UTF-8"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(fm_filter_new(cases[i].text, &error));
        g_assert_nonnull(error);
        g_assert_cmpint(error->code, ==, FM_ERROR_USAGE);
        if (strstr(error->message, cases[i].message) == NULL)
            g_error("%s: message is \"%s\"", cases[i].text, error->message);
    }
}

/* Of segments, whose values and lanes are remembered by number. */
static void test_segments(void)
{
    const struct fm_filter_segment read = {.name = "read",
                                           .lane = "cat",
                                           .process = "shell",
                                           .state_class = FM_STATE_SYSTEM_CALL,
                                           .kind = FM_LANE_THREAD,
                                           .number = 7,
                                           .start = 1000,
                                           .end = 4000,
                                           .self = 500,
                                           .level = 1,
                                           .value = 3,
                                           .lane_index = 300};
    struct fm_filter_segment other = read;
    other.name = "write";
    other.lane = "dog";
    other.process = NULL;
    other.value = 4;
    other.lane_index = 2;
    static const struct {
        const char *text;
        bool read, other;
    } cases[] = {
        {"segment.name = read", true, false},
        {"segment.name = \"r*\" | lane.name = d*", true, true},
        {"segment.state = \"System Call\" & lane.kind = thread", true, true},
        {"segment.state != running ^ segment.name = write", true, false},
        {"segment.duration >= 3us & segment.duration < 3001ns", true, true},
        {"segment.self < 1us & segment.start = 1us & segment.end = 4us", true, true},
        {"segment.level > 0 & lane.key = 7 & lane.process = shell", true, false},
        {"!(lane.process = shell)", false, true},
        {"segment.level = 0", false, false},
        {"", true, true},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        struct fm_filter *filter = fm_filter_new_of_segments(cases[i].text, &error);
        g_assert_no_error(error);
        for (unsigned turn = 0; turn < 2; turn++) {
            g_assert_cmpint(fm_filter_accepts_segment(filter, &read), ==, cases[i].read);
            g_assert_cmpint(fm_filter_accepts_segment(filter, &other), ==, cases[i].other);
        }
        g_assert_cmpint(fm_filter_needs_self(filter), ==, strstr(cases[i].text, "self") != NULL);
        g_assert_false(fm_filter_needs_state(filter) && strstr(cases[i].text, "lane.") == NULL);
        fm_filter_free(filter);
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(fm_filter_new("segment.name = read", &error));
    g_assert_nonnull(strstr(error->message, "a field of events"));
    g_clear_error(&error);
    g_assert_null(fm_filter_new_of_segments("event.name = read", &error));
    g_assert_nonnull(strstr(error->message, "a field of segments"));
}

static void test_limits(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < 256; i++)
        g_string_append(text, i == 0 ? "event.cpu=0" : "^event.cpu=1");
    check(text->str, "01"); /* 255 times on cpu 1 */
    g_string_append(text, "|event.cpu=0");
    g_assert_null(fm_filter_new(text->str, &error));
    g_assert_nonnull(strstr(error->message, "at most 256 tests"));
    g_clear_error(&error);
    g_string_truncate(text, 0);
    for (int i = 0; i < 200; i++)
        g_string_append(text, "event.cpu=0 ^ (");
    g_string_append(text, "event.cpu=1");
    for (int i = 0; i < 200; i++)
        g_string_append(text, ")");
    check(text->str, "1");
    g_string_prepend(text, "(");
    g_assert_null(fm_filter_new(text->str, &error));
    g_assert_nonnull(strstr(error->message, "at most 200 brackets"));
}

static void test_add(void)
{
    g_autoptr(GError) error = NULL;
    struct fm_trace *trace = make_trace();
    struct fm_filter *filter = fm_filter_new("", NULL);
    g_assert_true(fm_filter_add(filter, "event.cpu = 0 | event.cpu = 1", &error));
    g_autofree char *first = accepted(filter, trace);
    g_assert_cmpstr(first, ==, "01");
    g_assert_true(fm_filter_add(filter, "event.name = *Thread", &error));
    g_autofree char *second = accepted(filter, trace);
    g_assert_cmpstr(second, ==, "0");
    g_assert_true(fm_filter_add(filter, " ", &error));
    g_assert_false(fm_filter_add(filter, "event.cpu=0) | (event.cpu=1", &error));
    g_assert_nonnull(error);
    g_autofree char *printed = fm_filter_print(filter);
    g_assert_cmpstr(printed, ==, "(event.cpu = 0 | event.cpu = 1) & event.name = *Thread");
    g_assert_false(fm_filter_needs_state(filter));
    g_assert_true(fm_filter_add(filter, "state.value = x", NULL));
    g_assert_true(fm_filter_needs_state(filter));
    fm_filter_free(filter);
    fm_trace_free(trace);
}

static void check_completion(const char *text, size_t expected_at, const char *expected)
{
    struct fm_trace *trace = make_trace();
    size_t at;
    g_autoptr(GPtrArray) words = fm_filter_complete(text, strlen(text), &trace, 1, &at);
    g_ptr_array_add(words, NULL);
    g_autofree char *found = g_strjoinv(" ", (char **)words->pdata);
    if (strcmp(found, expected) != 0 || at != expected_at)
        g_error("%s: offered at %zu \"%s\", expected at %zu \"%s\"", text, at, found, expected_at,
                expected);
    fm_trace_free(trace);
}

static void test_completion(void)
{
    check_completion("ev", 0,
                     "event.category event.cpu event.field. event.name event.subname "
                     "event.target_pid event.time event.tsc");
    check_completion("!(event.cpu = 1 & trace", 18, "trace.name tracefile.name");
    check_completion("event.cpu ", 10, "!= < <= = > >=");
    check_completion("event.name ", 11, "!= =");
    check_completion("event.name = ", 13, "RunThread dotted.name my:event sched_switch");
    check_completion("event.name = s", 13, "sched_switch");
    check_completion("event.field.p", 0,
                     "event.field.prev_comm event.field.prev_state event.field.prev_tid");
    check_completion("state.process_status = wait", 23, "WAIT WAIT_CPU WAIT_FORK");
    check_completion("trace.name = ", 13, "run one.eventlog");
    check_completion("(event.cpu = 1) ", 16, "& ^ |");
    check_completion("event.nothing = ", 16, "");
    check_completion("event.name = \"my:event\"", 23, "& ^ |");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/filter/each field means what it says", test_fields);
    g_test_add_func("/filter/not, and, exclusive or, or bind in this order", test_precedence);
    g_test_add_func("/filter/errors tell place, found and expected", test_errors);
    g_test_add_func("/filter/segments pass by name, lane and times", test_segments);
    g_test_add_func("/filter/limits are kept", test_limits);
    g_test_add_func("/filter/adding joins by and, or changes nothing", test_add);
    g_test_add_func("/filter/completion offers what may follow", test_completion);
    return g_test_run();
}
