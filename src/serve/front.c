/* SPDX-License-Identifier: Apache-2.0 */
/* The front page: open recordings, and files that may be opened. */
#include <string.h>

#include "base/files/mapped.h"
#include "display/ranked.h"
#include "serve/growing/growing.h"
#include "serve/serve_internal.h"
#include "serve/services.h"
#include "open/profile.h"
#include "trace/format/open.h"

#define LISTED_FILES_MAX 200
#define LISTED_DEPTH_MAX 3
/* maximum number of names, so that a huge folder does not delay the page */
#define LOOKED_AT_MAX 5000

/* Adds time waited, or live memory, with links to the locks, or the blocks, of each process. */
static void add_amount(struct fm_table *table, const struct fm_open_profile *recording,
                       const char *name, enum fm_further_measure measure,
                       enum fm_command_id command)
{
    unsigned number = fm_profile_measure(recording->profile, measure);
    if (number == 0 || recording->known < FM_KNOWN_COSTS) {
        fm_cell_empty(table);
        return;
    }
    int64_t amount = fm_cost_total(&recording->analysis->root_total, (enum fm_measure_id)number);
    const struct fm_query query = {.command = {.id = command}};
    g_autofree char *text =
        command == FM_CMD_LEAKS
            ? fm_format_bytes(amount)
            : g_strdup_printf("%.2f s",
                              (double)amount * recording->profile->measures[number].scale);
    g_autofree char *word = fm_command_print(&query.command);
    g_autoptr(GString) url = g_string_new("deep?");
    fm_query_append_part(url, word);
    g_string_append_c(url, '&');
    fm_query_append_part(url, name);
    fm_cell_href(table, url->str, text, FM_STYLE_PLAIN);
}

static void add_opened(const struct fm_server *server, struct fm_list *body)
{
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "recordings");
    static const struct {
        const char *title, *name;
        enum fm_column_class column_class;
    } columns[] = {
        {"Recording", "recording", FM_COLUMN_FIELD_NAME},
        {"Program", "program", FM_COLUMN_PROC},
        {"Kind", "kind", FM_COLUMN_FIELD_NAME},
        {"Procedures", "procs_count", FM_COLUMN_NUMBER},
        {"Contexts", "contexts_count", FM_COLUMN_NUMBER},
        {"Calls recorded", "callseqs_count", FM_COLUMN_NUMBER},
        {"Waited", "waited", FM_COLUMN_NUMBER},
        {"Held", "held", FM_COLUMN_NUMBER},
        {"Command", "command", FM_COLUMN_PROC},
        {"Process", "process", FM_COLUMN_NUMBER},
        {"Started by", "parent_process", FM_COLUMN_NUMBER},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        fm_table_group(table, columns[i].title, columns[i].column_class, FM_COLOUR_NEVER);
        fm_table_column(table, NULL, columns[i].name, NULL);
    }
    for (unsigned i = 0; i < fm_server_count(server); i++) {
        const struct fm_profile_entry *profile = (const struct fm_profile_entry *)fm_open_files_at(
            server->recordings, &fm_profile_entry_class, i);
        const struct fm_growing *growing = fm_growing_find(server, profile->base.name);
        if (growing != NULL && fm_growing_finished(growing) != NULL)
            continue; /* the whole profile is listed instead */
        g_autofree char *url = fm_server_menu_url(profile->base.name);
        fm_table_row(table, "recording", false);
        /* The profile of a running program is in a temporary folder that means nothing to
         * readers. */
        g_autofree char *short_name =
            growing == NULL ? NULL : g_path_get_basename(profile->base.name);
        fm_cell_href(table, url, growing == NULL ? profile->base.name : short_name, FM_STYLE_PLAIN);
        const struct fm_open_profile *recording =
            profile->base.trace == NULL ? NULL : fm_open_profile_of(profile->base.trace);
        if (recording == NULL || fm_profile_error(profile->base.trace) != NULL) {
            fm_cell_string(table,
                           profile->reread > 0 ? "could not be read again" : "could not be read",
                           FM_STYLE_ITALIC);
            continue;
        }
        const struct fm_profile *read = recording->profile;
        fm_cell_string(table, read->program_name, FM_STYLE_PLAIN);
        fm_cell_string(table, read->flavour == FM_FLAVOUR_C ? "C profile" : "Mercury profile",
                       FM_STYLE_PLAIN);
        fm_cell_int(table, read->ps_count);
        fm_cell_int(table, read->pd_count);
        fm_cell_int(table, (int64_t)read->callseqs);
        add_amount(table, recording, profile->base.name, FM_WAIT_NS, FM_CMD_WAITS);
        add_amount(table, recording, profile->base.name, FM_LIVE_BYTES, FM_CMD_LEAKS);
        const struct fm_process_fact *process = &read->run_info.process;
        g_autofree char *joined =
            g_strdup_printf("%u profiles, added up", read->run_info.part_count);
        if (process->command == NULL && read->run_info.part_count > 0)
            fm_cell_string(table, joined, FM_STYLE_PLAIN);
        if (process->command == NULL)
            continue;
        fm_cell_string(table, process->command, FM_STYLE_PLAIN);
        fm_cell_int(table, process->pid);
        fm_cell_int(table, process->parent_pid);
    }
}

#define COMPARISONS_MAX 10u

/* Links each profile with the one opened before it for comparison. */
static void add_comparisons(const struct fm_server *server, struct fm_list *body)
{
    const struct fm_profile *before = NULL;
    const char *before_name = NULL;
    struct fm_list *list = NULL;
    unsigned offered = 0;
    for (unsigned i = 0; i < fm_server_count(server) && offered < COMPARISONS_MAX; i++) {
        const struct fm_open_file *base =
            fm_open_files_at(server->recordings, &fm_profile_entry_class, i);
        const struct fm_open_profile *recording =
            base->trace == NULL ? NULL : fm_open_profile_of(base->trace);
        const struct fm_profile *now = recording == NULL ? NULL : recording->profile;
        if (now != NULL && before != NULL && now->flavour == before->flavour) {
            g_autofree char *url = fm_server_compare_url(before_name, base->name);
            g_autofree char *label = g_strdup_printf("%s with %s", base->name, before_name);
            list = list ? list : fm_add_list(body, FM_LIST_HORIZONTAL, "Compare:");
            fm_add_href(list, url, label);
            offered++;
        }
        before = now != NULL ? now : before;
        before_name = now != NULL ? base->name : before_name;
    }
}

static void add_traces(const struct fm_server *server, struct fm_list *body)
{
    static const struct {
        const char *title, *name;
        enum fm_column_class column_class;
    } columns[] = {
        {"Trace", "trace", FM_COLUMN_FIELD_NAME},
        {"Kind", "kind", FM_COLUMN_FIELD_NAME},
        {"Length", "length_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Streams", "streams_count", FM_COLUMN_NUMBER},
        {"State", "state", FM_COLUMN_FIELD_NAME},
    };
    fm_add_heading(body, "Traces");
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "traces");
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        fm_table_group(table, columns[i].title, columns[i].column_class, FM_COLOUR_NEVER);
        fm_table_column(table, NULL, columns[i].name, NULL);
    }
    for (unsigned i = 0; i < fm_server_trace_count(server); i++) {
        struct fm_trace_file_info info;
        fm_trace_entry_describe(fm_open_files_trace_at(server->recordings, i), &info);
        g_autofree char *url = fm_server_trace_url(info.name);
        fm_table_row(table, "trace", false);
        fm_cell_href(table, url, info.name, FM_STYLE_PLAIN);
        fm_cell_string(table, strcmp(info.format, "ctf") == 0 ? "CTF trace" : "event log",
                       FM_STYLE_PLAIN);
        fm_cell_time(table, (double)info.duration_ns / 1e9);
        fm_cell_int(table, info.streams);
        fm_cell_string(table,
                       info.damaged ? "part of it could not be read"
                       : info.grows ? "may still grow"
                                    : "",
                       FM_STYLE_PLAIN);
    }
    if (fm_server_trace_count(server) > 1) {
        g_autofree char *url = fm_server_traces_url(server);
        fm_add_href(body, url, "All of them on one time axis");
    }
}

struct search {
    GPtrArray *found, *traces; /* char *, real paths */
    struct fm_services *services;
    unsigned looked_at;
};

static int64_t written_ns(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

static void look_into(struct search *search, const char *folder, unsigned depth)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        if (search->found->len + search->traces->len >= LISTED_FILES_MAX ||
            ++search->looked_at > LOOKED_AT_MAX)
            return;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        struct stat status;
        if (name[0] == '.' || lstat(path, &status) != 0)
            continue;
        bool is_folder = S_ISDIR(status.st_mode);
        if ((is_folder || (S_ISREG(status.st_mode) && g_str_has_suffix(name, ".eventlog"))) &&
            fm_trace_recognise(path))
            g_ptr_array_add(search->traces, g_steal_pointer(&path));
        else if (is_folder && depth < LISTED_DEPTH_MAX)
            look_into(search, path, depth + 1);
        else if (S_ISREG(status.st_mode) && g_str_has_suffix(name, ".data") &&
                 !fm_services_take(search->services, path, written_ns(&status)))
            g_ptr_array_add(search->found, g_steal_pointer(&path));
    }
}

static int compare_paths(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_paths(struct fm_list *body, const char *title, const GPtrArray *paths,
                       const char *root, char *(*make_url)(const char *path))
{
    size_t skip = strcmp(root, "/") == 0 ? 1 : strlen(root) + 1;
    struct fm_list *list = fm_add_list(body, FM_LIST_BULLETS, title);
    for (unsigned i = 0; i < paths->len; i++) {
        const char *path = paths->pdata[i];
        g_autofree char *url = make_url(path);
        fm_add_href(list, url, path + skip);
    }
}

/* Profiles of one program are distinguished by their command lines. */
struct listed {
    const char *path;
    struct fm_process_fact process; /* command NULL: not known */
};

static bool look_at_process(const struct fm_server *server, struct listed *listed)
{
    g_autoptr(FmMappedFile) file = NULL;
    struct fm_process_fact process = {0};
    if (!fm_mapped_file_open_below(fm_open_files_roots(server->recordings), listed->path, &file,
                                   NULL) ||
        !fm_profile_peek_process(file->bytes, file->size, &process))
        return false;
    listed->process = process;
    return true;
}

static void add_processes(struct fm_list *body, const char *title, const struct listed *listed,
                          unsigned count, size_t skip)
{
    static const struct {
        const char *title, *name;
        enum fm_column_class column_class;
    } columns[] = {
        {"Profile", "profile", FM_COLUMN_FIELD_NAME},
        {"Command", "command", FM_COLUMN_PROC},
        {"Process", "process", FM_COLUMN_NUMBER},
        {"Started by", "parent_process", FM_COLUMN_NUMBER},
        {"Started", "started", FM_COLUMN_FIELD_NAME},
    };
    fm_add_heading(body, title);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "profiles");
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        fm_table_group(table, columns[i].title, columns[i].column_class, FM_COLOUR_NEVER);
        fm_table_column(table, NULL, columns[i].name, NULL);
    }
    for (unsigned i = 0; i < count; i++) {
        const struct fm_process_fact *process = &listed[i].process;
        g_autofree char *url = fm_server_menu_url(listed[i].path);
        fm_table_row(table, "profile", false);
        fm_cell_href(table, url, listed[i].path + skip, FM_STYLE_PLAIN);
        if (process->command == NULL)
            continue;
        g_autoptr(GDateTime) start =
            g_date_time_new_from_unix_utc((gint64)(process->start_ns / 1000000000u));
        g_autofree char *text =
            start == NULL ? NULL : g_date_time_format(start, "%Y-%m-%d %H:%M:%S UTC");
        fm_cell_string(table, process->command, FM_STYLE_PLAIN);
        fm_cell_int(table, process->pid);
        fm_cell_int(table, process->parent_pid);
        fm_cell_string(table, text, FM_STYLE_PLAIN);
    }
}

static void add_profiles(const struct fm_server *server, struct fm_list *body, const char *title,
                         const GPtrArray *paths, const char *root)
{
    size_t skip = strcmp(root, "/") == 0 ? 1 : strlen(root) + 1;
    g_autofree struct listed *listed = g_new0(struct listed, paths->len);
    bool any = false;
    for (unsigned i = 0; i < paths->len; i++) {
        listed[i].path = paths->pdata[i];
        any = look_at_process(server, &listed[i]) || any;
    }
    if (any)
        add_processes(body, title, listed, paths->len, skip);
    else
        list_paths(body, title, paths, root, fm_server_menu_url);
    for (unsigned i = 0; i < paths->len; i++) {
        g_free((char *)(uintptr_t)listed[i].process.command);
        g_free((char *)(uintptr_t)listed[i].process.folder);
    }
}

static void add_root(const struct fm_server *server, struct fm_list *body, const char *root)
{
    struct search search = {g_ptr_array_new_with_free_func(g_free),
                            g_ptr_array_new_with_free_func(g_free),
                            fm_services_new(fm_open_files_roots(server->recordings)), 0};
    look_into(&search, root, 1);
    if (fm_services_any(search.services)) {
        g_autofree char *services_title = g_strdup_printf("Services below %s", root);
        fm_services_show(search.services, body, services_title,
                         strcmp(root, "/") == 0 ? 1 : strlen(root) + 1);
    }
    g_ptr_array_sort(search.found, compare_paths);
    g_ptr_array_sort(search.traces, compare_paths);
    g_autofree char *title = g_strdup_printf("Profiles below %s", root);
    g_autofree char *traces_title = g_strdup_printf("Traces below %s", root);
    if (search.found->len > 0) {
        add_profiles(server, body, title, search.found, root);
    } else if (search.traces->len == 0 && !fm_services_any(search.services)) {
        fm_add_heading(body, title);
        fm_add_text(body, "There is no file named *.data, and no trace.");
    }
    if (search.traces->len > 0)
        list_paths(body, traces_title, search.traces, root, fm_server_trace_url);
    if (search.found->len + search.traces->len >= LISTED_FILES_MAX ||
        search.looked_at > LOOKED_AT_MAX)
        fm_add_text(body, "Only the first files are listed; others can be named in the address.");
    fm_services_free(search.services);
    g_ptr_array_unref(search.found);
    g_ptr_array_unref(search.traces);
}

struct fm_display *fm_front_page(const struct fm_server *server)
{
    struct fm_display *display = fm_display_new("Recordings");
    fm_display_set_name(display, "recordings");
    fm_display_fact_int(display, "recordings_count", fm_server_count(server));
    struct fm_list *body = fm_display_body(display);
    fm_display_fact_int(display, "traces_count", fm_server_trace_count(server));
    if (fm_server_count(server) > 0)
        add_opened(server, body);
    add_comparisons(server, body);
    if (fm_server_trace_count(server) > 0)
        add_traces(server, body);
    if (fm_server_count(server) == 0 && fm_server_trace_count(server) == 0)
        fm_add_text(body, "No recording is open.");
    for (unsigned i = 0; i < fm_roots_count(fm_open_files_roots(server->recordings)); i++)
        add_root(server, body, fm_roots_folder(fm_open_files_roots(server->recordings), i));
    fm_add_heading(body, "Opening more");
    fm_add_verbatim(body,
                    "fathom view FILE...    several recordings at once\n"
                    "fathom view FOLDER     every recording below a folder, listed here\n"
                    "fathom view ADDRESS    a program's live log: unix:PATH, tcp:HOST:PORT\n");
    return display;
}
