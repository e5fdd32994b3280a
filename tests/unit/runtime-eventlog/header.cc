/* SPDX-License-Identifier: Apache-2.0 */
/* The headers from C++17, with -Wall -Wextra -Wpedantic -Werror: everything inline is used. */
#include <fathom/eventlog.h>

#include <fathom/fathom.h>

#include <glib.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

static_assert(FM_EVENT_SPAN_BEGIN == 512 && FM_EVENT_VALUE == 528,
              "numbers are part of the format");

namespace
{

std::string written;

bool keep(void *, const void *data, size_t bytes)
{
    written.append(static_cast<const char *>(data), bytes);
    return true;
}

FM_EVENT(request, text(path), integer(status), real(seconds), address(at), bytes(size), count(n),
         ns(age), name(owner));

template <typename Number> void counts(Number value)
{
    FM_SPAN_WITH("template", "of a type", value);
    FM_COUNTER("number", value);
}

#define TWO(a, b) \
    FM_SPAN(a);   \
    FM_SPAN(b)

void every_event()
{
    int lock = 0;
    TWO("outer", "twice in a line");
    FM_SPAN_BEGIN("inner");
    FM_INSTANT("now");
    FM_VALUE("value", -1);
    FM_SPAN_END("inner");
    FM_ASYNC_BEGIN("request", 7);
    FM_ASYNC_END("request", 7);
    fm_eventlog_lock_wait(&lock);
    fm_eventlog_lock_acquire(&lock);
    fm_eventlog_lock_release(&lock);
    fm_eventlog_lock_name(&lock, "the lock");
    fm_eventlog_function_enter(&lock, &written);
    fm_eventlog_function_exit(&lock);
    fm_eventlog_alloc_sample(fm_eventlog_intern("site"), &lock, 8, 64);
    fm_eventlog_alloc_free(&lock);
    fm_eventlog_messagef("%d of %s", 1, "these");
    fm_eventlog_heap(3, 2, 1);
    counts(1);
    counts(2.5);
    counts(2.5F);
    counts(UINT64_MAX);
    FM_VALUE("real", 1.5L);
    FM_SPAN_WITH("with", written.c_str(), 3);
    fm_event_request("/of C++", 200, 0.5, &lock, 1, 2, 3, 0);
    [] { FM_INSTANT("in a lambda"); }();
}

void events_from_cplusplus_arrive()
{
    fm_eventlog_writer writer = {nullptr, keep, nullptr, nullptr, nullptr};
    g_assert_cmpint(fm_eventlog_start(nullptr), ==, 0);
    g_assert_cmpint(fm_eventlog_set_writer(&writer, FM_EVENTLOG_HEADER, -1), ==, 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(every_event);
    for (std::thread &thread : threads)
        thread.join();
    struct fm_eventlog_stats stats;
    fm_eventlog_stats(&stats);
    g_assert_cmpuint(stats.dropped_events, ==, 0);
    g_assert_cmpuint(stats.stream_events, >=, 3 * 26);
    g_assert_true(written.find(std::string("\x3F\xF8\0\0\0\0\0\0", 8)) != std::string::npos);
    g_assert_cmpint(fm_eventlog_stop(), ==, 0);
    g_assert_cmpint(fm_eventlog_status(), ==, FM_EVENTLOG_STOPPED);
    g_assert_cmpuint(written.size(), >, 1000);
    g_assert_true(written.compare(0, 8, "hdrbhetb") == 0);
    g_assert_true(written.find(std::string("\x43\xF0\0\0\0\0\0\0", 8)) != std::string::npos);
    g_assert_true(written.find(std::string("\x43\xF0\0\0\0\0\0\0of a type", 17)) !=
                  std::string::npos);
    g_assert_true(written.find("in a lambda") != std::string::npos);
    g_assert_true(written.find("fields:path=strz,status=i64,seconds=f64,at=addr,size=bytes,n=w64,"
                               "age=ns,owner=name") != std::string::npos);
    g_assert_true(written.find(std::string("/of C++\0\0\0\0\0\0\0\0\xC8", 16)) !=
                  std::string::npos);
    g_assert_true(written.find("1 of these") != std::string::npos);
    g_assert_true(written.compare(written.size() - 2, 2, "\xFF\xFF") == 0);
}

/* Built without `fathom cc`: nothing is recorded, and the calls say so. */
void control_of_a_recording_does_nothing_here()
{
    char name[16];
    fathom_stop();
    fathom_start();
    g_assert_cmpint(fathom_mark("phase"), ==, -ENODEV);
    g_assert_cmpint(fathom_snapshot("now"), ==, -ENODEV);
    g_assert_cmpint(fathom_output(name, sizeof(name)), ==, -ENODEV);
}

} // namespace

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, nullptr);
    g_test_add_func("/eventlog/cplusplus/events", events_from_cplusplus_arrive);
    g_test_add_func("/eventlog/cplusplus/control", control_of_a_recording_does_nothing_here);
    return g_test_run();
}
