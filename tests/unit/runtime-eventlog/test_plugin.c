/* SPDX-License-Identifier: Apache-2.0 */
/* A program and its plugin, the argument, log into one log, whether they share the library or each
 * has a copy of it. */
#include "check.h"

#include <dlfcn.h>
#include <fathom/eventlog.h>
#include <string.h>
#include <unistd.h>

static const char *plugin_path;

static void plugin_logs_into_the_programs_log(void)
{
    g_autofree char *path = temp_path("plugin.eventlog"), *folder = g_path_get_dirname(path);
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    FM_INSTANT("of the program");
    for (int round = 0; round < 2; round++) { /* unloaded and loaded again, too */
        void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
        if (!plugin)
            g_error("%s", dlerror());
        int (*log)(unsigned) = (int (*)(unsigned))dlsym(plugin, "plugin_log");
        g_assert_nonnull(log);
        g_assert_cmpint(log(1000), ==, 0);
        dlclose(plugin);
    }
    FM_INSTANT("of the program");
    fm_eventlog_stop();
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_true(c->ended);
    g_assert_cmpuint(c->counts[FM_EVENT_COUNTER], ==, 2000);
    g_assert_cmpuint(c->counts[FM_EVENT_INSTANT], ==, 4);
    g_assert_cmpuint(c->counts[FM_EVENT_SPAN_BEGIN], ==, 2);
    g_assert_cmpuint(c->counts[FM_EVENT_SPAN_END], ==, 2);
    /* the plugin's own type came after the header: its events are messages */
    g_assert_cmpuint(c->counts[FM_EVENT_USER_MESSAGE], ==, 4);
    g_assert_cmpuint(c->counts[FM_EVENTLOG_EVENT_FIRST], ==, 0);
    g_assert_cmpuint(c->unnamed, ==, 0);
    g_assert_cmpuint(c->before_name, ==, 0);
    check_free(c);
    unlink(path);
    rmdir(folder);
}

/* A log that begins when the plugin is there declares what the plugin declares. */
static void next_log_has_the_plugins_type(void)
{
    g_autofree char *path = temp_path("plugin.eventlog"), *data = NULL;
    gsize bytes;
    void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        g_error("%s", dlerror());
    int (*log)(unsigned) = (int (*)(unsigned))dlsym(plugin, "plugin_log");
    g_assert_nonnull(log);
    g_assert_cmpint(fm_eventlog_start(NULL), ==, 0);
    g_assert_cmpint(fm_eventlog_open_file(path), ==, 0);
    g_assert_cmpint(log(7), ==, 0);
    dlclose(plugin);
    fm_eventlog_stop();
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[FM_EVENT_USER_MESSAGE], ==, 1);
    g_assert_cmpuint(c->counts[FM_EVENTLOG_EVENT_FIRST], ==, 1);
    check_free(c);
    g_assert_true(g_file_get_contents(path, &data, &bytes, NULL));
    static const char fields[] = "fields:what=strz,n=i64";
    g_assert_nonnull(memmem(data, bytes, fields, sizeof(fields) - 1));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    plugin_path = argv[1];
    g_test_add_func("/eventlog/plugin/logs", plugin_logs_into_the_programs_log);
    g_test_add_func("/eventlog/plugin/types", next_log_has_the_plugins_type);
    return g_test_run();
}
