/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that services keep, on the list of what may be opened. */
#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#include "profile/file/build.h"
#include "serve/serve.h"

struct fixture {
    char *folder;
    GPtrArray *files;
    struct fm_server *server;
};

static void set_up(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GError) error = NULL;
    g_autofree char *made = g_dir_make_tmp("fathom-services-XXXXXX", &error);
    g_assert_no_error(error);
    f->folder = g_steal_pointer(&made);
    f->files = g_ptr_array_new_with_free_func(g_free);
    f->server = fm_server_new(NULL);
    bool added = fm_server_add_root(f->server, f->folder, &error);
    g_assert_no_error(error);
    g_assert_true(added);
}

static void tear_down(struct fixture *f, gconstpointer user)
{
    (void)user;
    fm_server_free(f->server);
    for (guint i = 0; i < f->files->len; i++)
        g_assert_cmpint(g_remove(f->files->pdata[i]), ==, 0);
    g_assert_cmpint(g_rmdir(f->folder), ==, 0);
    g_ptr_array_unref(f->files);
    g_free(f->folder);
}

static const char *add_path(struct fixture *f, const char *name)
{
    g_ptr_array_add(f->files, g_build_filename(f->folder, name, NULL));
    return f->files->pdata[f->files->len - 1];
}

/* A profile of so many functions, written at that second. */
static void add_profile(struct fixture *f, const char *name, unsigned functions, time_t written)
{
    const char *path = add_path(f, name);
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "webd");
    uint32_t first = fm_build_ps(build, &(struct fm_ps){.name = "the program"});
    fm_build_pd(build, first);
    for (unsigned i = 1; i < functions; i++) {
        g_autofree char *function = g_strdup_printf("f%u", i);
        fm_build_ps(build, &(struct fm_ps){.name = function});
    }
    g_autofree char *command = g_strdup_printf("webd --run %u", functions);
    fm_build_process(build, &(struct fm_process_fact){
                                .command = command, .folder = "/", .pid = 17, .parent_pid = 1});
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) error = NULL;
    bool ok =
        fm_build_finish(build, &profile, &error) && fm_profile_write(profile, path, false, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    g_assert_cmpint(g_utime(path, &(struct utimbuf){written, written}), ==, 0);
}

static void add_foreign(struct fixture *f, const char *name)
{
    g_assert_true(g_file_set_contents(add_path(f, name), "of somebody else", -1, NULL));
}

static char *ask(struct fixture *f, const char *path)
{
    struct fm_response response;
    fm_server_handle(f->server, &(struct fm_request){.method = "GET", .path = path}, &response);
    gsize size;
    const char *bytes = g_bytes_get_data(response.body, &size);
    g_assert_cmpuint(response.status, ==, 200);
    char *text = g_strndup(bytes, size);
    fm_response_done(&response);
    return text;
}

static const char *find(const char *text, const char *part)
{
    const char *found = strstr(text, part);
    if (found == NULL)
        g_test_message("%s\n--- lacks ---\n%s", text, part);
    g_assert_nonnull(found);
    return found;
}

static char *url_of(const struct fixture *f, const char *name)
{
    g_autofree char *path = g_build_filename(f->folder, name, NULL);
    return fm_server_menu_url(path);
}

#define FIRST "web.20260102-030405Z.data"
#define SECOND "web.20260103-030405Z.data"
#define THIRD "web.20260103-030405Z-10.data"
#define CHILD "web.20260103-030405Z.4711.data"

/* The second ended last, and of another of its processes there is a profile, too. */
static void add_runs(struct fixture *f)
{
    add_profile(f, FIRST, 3, 1800000000);
    add_profile(f, CHILD, 9, 1800000300);
    add_profile(f, SECOND, 5, 1800000300);
    add_profile(f, THIRD, 4, 1800000200);
}

static void runs_are_one_row(struct fixture *f, gconstpointer user)
{
    (void)user;
    add_runs(f);
    g_autofree char *page = ask(f, "/index.json");
    g_autofree char *first = url_of(f, FIRST), *second = url_of(f, SECOND);
    g_autofree char *third = url_of(f, THIRD), *child = url_of(f, CHILD);
    g_autofree char *row =
        g_strdup_printf("\"service\": \"web\", \"service_query\": \"%s\", \"runs_count\": 3, "
                        "\"first_began\": \"2026-01-02 03:04:05 UTC\", "
                        "\"newest_written\": \"2027-01-15 08:05:00 UTC\", "
                        "\"runs\": [{\"name\": \"" SECOND "\", \"query\": \"%s\"}, "
                        "{\"name\": \"" CHILD "\", \"query\": \"%s\"}, {\"name\": \"" THIRD
                        "\", \"query\": \"%s\"}, "
                        "{\"name\": \"" FIRST "\", \"query\": \"%s\"}], \"program\": \"webd\", "
                        "\"procs_count\": 5, \"contexts_count\": 1, \"callseqs_count\": 0, "
                        "\"command\": \"webd --run 5\"",
                        second, second, child, third, first);
    const char *found = find(page, row);
    g_assert_null(strstr(found + 1, "\"role\": \"service\""));
    g_assert_null(strstr(page, "\"name\": \"profiles\"")); /* they stand nowhere else */
}

static void all_formats(struct fixture *f, gconstpointer user)
{
    (void)user;
    add_runs(f);
    g_autofree char *page = ask(f, "/");
    const char *folded =
        find(page, "<details><summary>3 runs</summary><ul><li><a href=\"deep?menu");
    const char *end = find(folded, "</details>");
    unsigned links = 0;
    for (const char *at = folded; (at = strstr(at, "<li><a")) != NULL && at < end; at++)
        links++;
    g_assert_cmpuint(links, ==, 4);
    g_autofree char *text = ask(f, "/index.txt");
    find(text, "Services below ");
    find(text, SECOND ", " CHILD ", " THIRD ", " FIRST);
    g_autofree char *csv = ask(f, "/index.csv");
    find(csv, "service,web,3,2026-01-02 03:04:05 UTC,2027-01-15 08:05:00 UTC,"
              "\"" SECOND ", " CHILD ", " THIRD ", " FIRST "\",webd,5,1,0,webd --run 5");
}

/* Like names do not make a run, nor does a run's name without a profile. */
static void others_stay_rows(struct fixture *f, gconstpointer user)
{
    (void)user;
    static const char *const profiles[] = {"web.data",
                                           "web.notes.data",
                                           "web.20200101.data",
                                           "web.20260102-0304Z.data",
                                           "web.20260102-030405Zx.data",
                                           "web.20261302-030405Z.data", /* no such month */
                                           "20260102-030405Z.data"};
    add_profile(f, FIRST, 3, 1800000000);
    for (size_t i = 0; i < G_N_ELEMENTS(profiles); i++)
        add_profile(f, profiles[i], 2, 1800000000);
    add_foreign(f, SECOND);
    add_profile(f, "other.20260102-030405Z.data", 7, 1800000000);
    g_autofree char *page = ask(f, "/index.json");
    find(page, "\"service\": \"other\"");
    const char *web = find(page, "\"service\": \"web\"");
    g_assert_true(strstr(web, "\"runs_count\": 1") < strstr(web, "first_began"));
    for (size_t i = 0; i < G_N_ELEMENTS(profiles); i++) {
        g_autofree char *row = g_strdup_printf("\"profile\": \"%s\"", profiles[i]);
        find(page, row);
    }
    find(page, "\"profile\": \"" SECOND "\"");
    g_assert_null(strstr(page, "\"profile\": \"" FIRST "\""));
}

/* The newest is a profile by its first bytes only: its row says so, and leads there all the same.
 */
static void newest_is_cut(struct fixture *f, gconstpointer user)
{
    (void)user;
    add_profile(f, FIRST, 3, 1000000000);
    g_assert_true(
        g_file_set_contents(add_path(f, SECOND), "fathom deep profile data 1\n\1", -1, NULL));
    g_autofree char *page = ask(f, "/index.json");
    find(page, "\"runs_count\": 2");
    find(page, "\"program\": \"could not be read\", \"procs_count\": null");
}

#define ADD(name, function) \
    g_test_add("/serve/services/" name, struct fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("runs-are-one-row", runs_are_one_row);
    ADD("all-formats", all_formats);
    ADD("others-stay-rows", others_stay_rows);
    ADD("newest-is-cut", newest_is_cut);
    return g_test_run();
}
