/* SPDX-License-Identifier: Apache-2.0 */
/* Any files in a served folder: each page of them is answered, for single files and for all traces
 * on one time axis. The input is a sequence of files: kind w8, length w16 big-endian, bytes. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#include "serve/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES_MAX = 5, HEAD_BYTES = 3, PATIENCE_US = 2000000 };

static const char *const endings[] = {".eventlog", ".eventlog", "/metadata", ".data"};

/* An old modification time: the file is not being written. */
static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    g_autofree char *in = g_path_get_dirname(path);
    if (g_mkdir_with_parents(in, 0700) != 0 ||
        !g_file_set_contents(path, (const char *)bytes, (gssize)size, NULL) ||
        utimensat(AT_FDCWD, path, times, 0) != 0)
        g_error("cannot make the input");
}

static void write_files(const char *folder, const uint8_t *data, size_t size, GPtrArray *traces,
                        GPtrArray *profiles)
{
    size_t at = 0;
    for (unsigned count = 0; count < FILES_MAX && size - at > HEAD_BYTES; count++) {
        unsigned kind = data[at] % G_N_ELEMENTS(endings);
        size_t length = (size_t)data[at + 1] << 8 | data[at + 2];
        at += HEAD_BYTES;
        length = MIN(length, size - at);
        g_autofree char *path = g_strdup_printf("%s/%u%s", folder, count, endings[kind]);
        write_file(path, data + at, length);
        if (kind < 2)
            g_ptr_array_add(traces, g_strdup_printf("file=%s&", path));
        else if (kind == 3)
            g_ptr_array_add(profiles, g_steal_pointer(&path));
        at += length;
    }
}

static void ask(struct fm_server *server, const char *path, const char *query)
{
    const struct fm_request request = {.method = "GET", .path = path, .query = query};
    struct fm_response response;
    fm_server_handle(server, &request, &response);
    if (response.body == NULL || response.status < 200 || response.status >= 600)
        g_error("%s?%s: no answer", path, query != NULL ? query : "");
    fm_response_done(&response);
}

static void ask_traces(struct fm_server *server, const char *files)
{
    static const char *const queries[] = {
        "view=set",
        "view=overview&width=9",
        "view=timeline&width=7",
        "view=timeline&width=1000&start=1&end=9s",
        "view=events",
        "view=events&at=1844674407370955161",
        "view=statistics&scope=trace",
        "view=statistics&start=5&end=6",
        "view=resources",
        "view=counters&width=3",
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(queries); i++) {
        g_autofree char *query = g_strconcat(files, queries[i], NULL);
        ask(server, "/trace.json", query);
    }
    ask(server, "/trace", files);
}

static void remove_all(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_remove(path) != 0)
            remove_all(path);
    }
    g_remove(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fm_server_options options = {.patience_us = PATIENCE_US};
    g_autofree char *made = g_dir_make_tmp("fathom-fuzz-XXXXXX", NULL);
    g_autofree char *folder = made != NULL ? g_canonicalize_filename(made, NULL) : NULL;
    if (folder == NULL)
        g_error("cannot make a folder");
    g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(g_free);
    write_files(folder, data, size, traces, profiles);
    struct fm_server *server = fm_server_new(&options);
    if (!fm_server_add_root(server, folder, NULL))
        g_error("the folder is not served");
    ask(server, "/", NULL);
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint i = 0; i < traces->len; i++) {
        ask_traces(server, traces->pdata[i]);
        g_string_append(all, traces->pdata[i]);
    }
    if (traces->len > 1)
        ask_traces(server, all->str);
    for (guint i = 0; i < profiles->len; i++) {
        g_autofree char *menu = fm_server_menu_url(profiles->pdata[i]);
        ask(server, "/deep", strchr(menu, '?') + 1);
    }
    fm_server_free(server);
    remove_all(folder);
    return 0;
}
