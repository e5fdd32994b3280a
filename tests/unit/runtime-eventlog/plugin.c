/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that logs, with a copy of the library of its own or without. */
#include <fathom/eventlog.h>

#include <pthread.h>

int plugin_log(unsigned n);

FM_EVENT(plugin, text(what), integer(n));

static void *log_in_thread(void *context)
{
    (void)context;
    FM_INSTANT("of a plugin's thread");
    return NULL;
}

int plugin_log(unsigned n)
{
    pthread_t thread;
    if (!fm_eventlog_on() || fm_eventlog_status() != FM_EVENTLOG_RUNNING)
        return 1;
    FM_SPAN("plugin");
    for (unsigned i = 0; i < n; i++)
        FM_COUNTER("of a plugin", i);
    fm_eventlog_message("from a plugin");
    fm_event_plugin("it", n);
    if (pthread_create(&thread, NULL, log_in_thread, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    return fm_eventlog_start(NULL) == 0 ? 3 : 0; /* it runs already */
}
