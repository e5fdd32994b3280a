/* SPDX-License-Identifier: Apache-2.0 */
#include <fathom/eventlog.h>

FM_EVENT(one, integer(x));
FM_EVENT(request, text(path), integer(status), real(seconds), address(at), bytes(size), count(n),
         ns(age), name(owner));

#define TWO(a, b) \
    FM_SPAN(a);   \
    FM_SPAN(b)

int main(void)
{
    unsigned long long large = 1;
    FM_COUNTER("integer", large);
    FM_COUNTER("real", 2.5);
    FM_VALUE("real", 2.5F);
    fm_event_one(1);
    fm_event_request("path", 1, 2.5, &large, large, 3, 4, 5);
    FM_SPAN_WITH("with", "text", 7);
    TWO("nothing is started", "and twice in a line");
    return fm_eventlog_status() == FM_EVENTLOG_STOPPED && FM_EVENT_SPAN_BEGIN == 512 ? 0 : 1;
}
