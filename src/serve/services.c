/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/services.h"

#include <string.h>

#include "base/files/beside.h"
#include "base/files/kept_name.h"
#include "base/files/mapped.h"
#include "profile/file/read_job.h"
#include "serve/serve.h"

struct run {
    char *stem;       /* NAME.STAMP with its folder */
    GPtrArray *paths; /* char *, of its profiles */
    int64_t began_s, written_ns;
};

struct service {
    char *name; /* with its folder */
    GPtrArray *runs;
};

struct fm_services {
    const struct fm_roots *roots;
    GPtrArray *all; /* struct service */
};

static void run_free(gpointer data)
{
    struct run *run = data;
    g_free(run->stem);
    g_ptr_array_unref(run->paths);
    g_free(run);
}

static void service_free(gpointer data)
{
    struct service *service = data;
    g_free(service->name);
    g_ptr_array_unref(service->runs);
    g_free(service);
}

struct fm_services *fm_services_new(const struct fm_roots *roots)
{
    struct fm_services *services = g_new0(struct fm_services, 1);
    services->roots = roots;
    services->all = g_ptr_array_new_with_free_func(service_free);
    return services;
}

void fm_services_free(struct fm_services *services)
{
    if (services == NULL)
        return;
    g_ptr_array_unref(services->all);
    g_free(services);
}

static bool is_text(const char *text, const char *bytes, size_t size)
{
    return strlen(text) == size && memcmp(text, bytes, size) == 0;
}

static struct service *service_of(struct fm_services *services, const char *name, size_t size)
{
    for (guint i = 0; i < services->all->len; i++) {
        struct service *service = services->all->pdata[i];
        if (is_text(service->name, name, size))
            return service;
    }
    struct service *service = g_new0(struct service, 1);
    service->name = g_strndup(name, size);
    service->runs = g_ptr_array_new_with_free_func(run_free);
    g_ptr_array_add(services->all, service);
    return service;
}

static struct run *run_of(struct service *service, const char *stem, size_t size)
{
    for (guint i = 0; i < service->runs->len; i++) {
        struct run *run = service->runs->pdata[i];
        if (is_text(run->stem, stem, size))
            return run;
    }
    struct run *run = g_new0(struct run, 1);
    run->stem = g_strndup(stem, size);
    run->paths = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(service->runs, run);
    return run;
}

bool fm_services_take(struct fm_services *services, const char *path, int64_t written_ns)
{
    g_return_val_if_fail(services != NULL && path != NULL, false);
    static const char begins[] = FM_PROFILE_BEGINS_C;
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    struct fm_kept_name name;
    g_autoptr(FmMappedFile) file = NULL;
    if (!fm_kept_name_parse(path + folder, &name) ||
        !fm_mapped_file_open_below(services->roots, path, &file, NULL) ||
        file->size < strlen(begins) || memcmp(file->bytes, begins, strlen(begins)) != 0)
        return false;
    struct service *service = service_of(services, path, folder + name.name_length);
    struct run *run = run_of(service, path, folder + name.stem_length);
    run->began_s = name.began_s;
    run->written_ns = MAX(run->written_ns, written_ns);
    g_ptr_array_add(run->paths, g_strdup(path));
    return true;
}

bool fm_services_any(const struct fm_services *services)
{
    return services->all->len > 0;
}

static gint by_name(gconstpointer left, gconstpointer right)
{
    const struct service *a = *(struct service *const *)left, *b = *(struct service *const *)right;
    return strcmp(a->name, b->name);
}

/* Newest first, as when they are kept: by time of writing, then by start. */
static gint by_time(gconstpointer left, gconstpointer right)
{
    const struct run *a = *(struct run *const *)left, *b = *(struct run *const *)right;
    if (a->written_ns != b->written_ns)
        return a->written_ns > b->written_ns ? -1 : 1;
    return strverscmp(b->stem, a->stem);
}

/* The run's own program, NAME.STAMP.data, has the shortest name. */
static gint by_length(gconstpointer left, gconstpointer right)
{
    const char *a = *(char *const *)left, *b = *(char *const *)right;
    size_t one = strlen(a), other = strlen(b);
    return one != other ? (one < other ? -1 : 1) : strcmp(a, b);
}

static void cell_moment(struct fm_table *table, int64_t seconds)
{
    g_autoptr(GDateTime) moment = g_date_time_new_from_unix_utc(seconds);
    g_autofree char *text =
        moment == NULL ? NULL : g_date_time_format(moment, "%Y-%m-%d %H:%M:%S UTC");
    if (text == NULL)
        fm_cell_empty(table);
    else
        fm_cell_string(table, text, FM_STYLE_PLAIN);
}

/* Adds figures from the begin and the end of the newest run's profile; none if it cannot be
 * read. */
static void add_figures(const struct fm_services *services, struct fm_table *table,
                        const char *path)
{
    g_autoptr(FmMappedFile) file = NULL;
    struct fm_process_fact process = {0};
    if (!fm_mapped_file_open_below(services->roots, path, &file, NULL))
        return;
    bool known = fm_profile_peek_process(file->bytes, file->size, &process);
    struct fm_profile_job *job = fm_profile_job_new_file(g_steal_pointer(&file));
    bool read = fm_profile_job_step(job, 1, NULL) != FM_JOB_FAILED;
    const struct fm_profile *header = read ? fm_profile_job_header(job) : NULL;
    if (header == NULL) {
        fm_cell_string(table, "could not be read", FM_STYLE_ITALIC);
    } else {
        fm_cell_string(table, header->program_name, FM_STYLE_PLAIN);
        fm_cell_int(table, header->ps_count);
        fm_cell_int(table, header->pd_count);
        fm_cell_int(table, (int64_t)header->callseqs);
        if (known)
            fm_cell_string(table, process.command, FM_STYLE_PLAIN);
    }
    fm_profile_job_free(job);
    g_free((char *)(uintptr_t)process.command);
    g_free((char *)(uintptr_t)process.folder);
}

static void add_runs(struct fm_table *table, const struct service *service, size_t folder)
{
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(struct fm_href));
    g_autoptr(GPtrArray) urls = g_ptr_array_new_with_free_func(g_free);
    guint runs = service->runs->len;
    for (guint i = 0; i < runs; i++) {
        const struct run *run = service->runs->pdata[i];
        for (guint k = 0; k < run->paths->len; k++) {
            const char *path = run->paths->pdata[k];
            struct fm_href link = {fm_server_menu_url(path), path + folder};
            g_ptr_array_add(urls, (char *)(uintptr_t)link.url);
            g_array_append_val(links, link);
        }
    }
    g_autofree char *title = g_strdup_printf("%u run%s", runs, runs == 1 ? "" : "s");
    fm_cell_folded(table, title, (const struct fm_href *)(const void *)links->data, links->len);
}

static void add_service(const struct fm_services *services, struct fm_table *table,
                        const struct service *service, size_t skip)
{
    g_ptr_array_sort(service->runs, by_time);
    const struct run *newest = service->runs->pdata[0];
    int64_t first_s = newest->began_s;
    for (guint i = 0; i < service->runs->len; i++) {
        const struct run *run = service->runs->pdata[i];
        g_ptr_array_sort(run->paths, by_length);
        first_s = MIN(first_s, run->began_s);
    }
    const char *path = newest->paths->pdata[0], *slash = strrchr(service->name, '/');
    g_autofree char *url = fm_server_menu_url(path);
    fm_table_row(table, "service", false);
    fm_cell_href(table, url, service->name + skip, FM_STYLE_PLAIN);
    fm_cell_int(table, service->runs->len);
    cell_moment(table, first_s);
    cell_moment(table, newest->written_ns / 1000000000);
    add_runs(table, service, slash == NULL ? 0 : (size_t)(slash + 1 - service->name));
    add_figures(services, table, path);
}

void fm_services_show(const struct fm_services *services, struct fm_list *body, const char *title,
                      size_t skip)
{
    static const struct fm_column_head columns[] = {
        {"Service", "service", FM_COLUMN_FIELD_NAME},
        {"Runs kept", "runs_count", FM_COLUMN_NUMBER},
        {"First began", "first_began", FM_COLUMN_DEFAULT},
        {"Newest written", "newest_written", FM_COLUMN_DEFAULT},
        {"Each run", "runs", FM_COLUMN_DEFAULT},
        {"Newest: program", "program", FM_COLUMN_DEFAULT},
        {"Procedures", "procs_count", FM_COLUMN_NUMBER},
        {"Contexts", "contexts_count", FM_COLUMN_NUMBER},
        {"Calls recorded", "callseqs_count", FM_COLUMN_NUMBER},
        {"Command", "command", FM_COLUMN_DEFAULT},
    };
    fm_add_heading(body, title);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "services");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    g_ptr_array_sort(services->all, by_name);
    for (guint i = 0; i < services->all->len; i++)
        add_service(services, table, services->all->pdata[i], skip);
}
