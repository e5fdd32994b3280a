/* SPDX-License-Identifier: Apache-2.0 */
#include <fathom/eventlog.h>

#define TWO(a, b) \
    FM_SPAN(a);   \
    FM_SPAN(b)

int main(void)
{
    unsigned long long large = 1;
    FM_COUNTER("integer", large);
    FM_COUNTER("real", 2.5);
    FM_VALUE("real", 2.5F);
    FM_SPAN_WITH("with", "text", 7);
    TWO("nothing is started", "and twice in a line");
    return fm_eventlog_status() == FM_EVENTLOG_STOPPED && FM_EVENT_SPAN_BEGIN == 512 ? 0 : 1;
}
