/* SPDX-License-Identifier: Apache-2.0 */
#include <fathom/eventlog.h>

#define TWO(a, b) \
    FM_SPAN(a);   \
    FM_SPAN(b)

int main(void)
{
    TWO("nothing is started", "and twice in a line");
    return fm_eventlog_status() == FM_EVENTLOG_STOPPED && FM_EVENT_SPAN_BEGIN == 512 ? 0 : 1;
}
