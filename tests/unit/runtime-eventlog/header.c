/* SPDX-License-Identifier: Apache-2.0 */
#include <fathom/eventlog.h>

int main(void)
{
    FM_SPAN("nothing is started");
    return fm_eventlog_status() == FM_EVENTLOG_STOPPED && FM_EVENT_SPAN_BEGIN == 512 ? 0 : 1;
}
