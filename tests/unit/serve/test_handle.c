/* SPDX-License-Identifier: Apache-2.0 */
/* handle(): the same function that every door calls. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "profile/file/build.h"
#include "serve/serve.h"
#include "small_profile.h"

/* A folder with root/one.data, root/odd &name.data, outside.data, root/link.data -> outside.data,
 * root/broken.data, root/pipe.data (a FIFO). */
struct fixture {
    char *folder, *root, *one, *odd, *outside;
    struct fm_server *server;
};

static void set_up(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GError) error = NULL;
    f->folder = g_dir_make_tmp("fathom-serve-XXXXXX", &error);
    g_assert_no_error(error);
    f->root = g_build_filename(f->folder, "root", NULL);
    g_assert_cmpint(g_mkdir(f->root, 0700), ==, 0);
    f->one = g_build_filename(f->root, "one.data", NULL);
    f->odd = g_build_filename(f->root, "odd &name.data", NULL);
    f->outside = g_build_filename(f->folder, "outside.data", NULL);
    g_autofree char *link = g_build_filename(f->root, "link.data", NULL);
    g_autofree char *broken = g_build_filename(f->root, "broken.data", NULL);
    g_autofree char *fifo = g_build_filename(f->root, "pipe.data", NULL);
    write_small_profile(f->one, "./<prog>", "<script>main", "a&b", "main.m", 1000);
    write_small_profile(f->odd, "./<prog>", "<script>main", "a&b", "main.m", 2000);
    write_small_profile(f->outside, "./<prog>", "<script>main", "a&b", "main.m", 3000);
    g_assert_cmpint(symlink(f->outside, link), ==, 0);
    g_assert_true(g_file_set_contents(broken, "no profile", -1, NULL));
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    f->server = fm_server_new(NULL);
}

static void tear_down(struct fixture *f, gconstpointer user)
{
    (void)user;
    fm_server_free(f->server);
    static const char *const names[] = {"root/one.data",
                                        "root/odd &name.data",
                                        "outside.data",
                                        "root/link.data",
                                        "root/broken.data",
                                        "root/pipe.data",
                                        "root/hard.data",
                                        "root/one.contour",
                                        "root",
                                        ""};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(f->folder, names[i], NULL);
        g_remove(path);
    }
    g_assert_false(g_file_test(f->folder, G_FILE_TEST_EXISTS));
    g_free(f->folder);
    g_free(f->root);
    g_free(f->one);
    g_free(f->odd);
    g_free(f->outside);
}

static void add(struct fixture *f, const char *path)
{
    g_autoptr(GError) error = NULL;
    bool added = fm_server_add(f->server, path, &error);
    g_assert_no_error(error);
    g_assert_true(added);
}

static void add_root(struct fixture *f)
{
    g_autoptr(GError) error = NULL;
    bool added = fm_server_add_root(f->server, f->root, &error);
    g_assert_no_error(error);
    g_assert_true(added);
}

struct answer {
    unsigned status;
    char *type, *etag, *body;
    bool quit;
    int timeout_minutes;
};

static void answer_clear(struct answer *answer)
{
    g_free(answer->type);
    g_free(answer->etag);
    g_free(answer->body);
}

static struct answer ask(struct fixture *f, const struct fm_request *request)
{
    struct fm_response response;
    struct fm_request whole = *request;
    if (whole.method == NULL)
        whole.method = "GET";
    if (whole.path == NULL)
        whole.path = "/deep";
    fm_server_handle(f->server, &whole, &response);
    gsize size;
    const char *bytes = g_bytes_get_data(response.body, &size);
    struct answer answer = {response.status,         g_strdup(response.content_type),
                            g_strdup(response.etag), g_strndup(bytes == NULL ? "" : bytes, size),
                            response.quit,           response.timeout_minutes};
    g_assert_cmpuint(strlen(answer.body), ==, size); /* no NUL in a page */
    fm_response_done(&response);
    return answer;
}

/* "CMD&" + the encoded file. */
static char *query(const char *command, const char *file)
{
    g_autoptr(GString) text = g_string_new(command);
    if (command[0] != '\0')
        g_string_append_c(text, '&');
    fm_query_append_part(text, file);
    return g_strdup(text->str);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        g_error("'%s' is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        g_error("'%s' is in:\n%s", part, text);
}

#define ASK(f, ...) ask(f, &(struct fm_request){__VA_ARGS__})
#define EXPECT(f, wanted_status, part, ...)                                \
    do {                                                                   \
        struct answer answer_ = ask(f, &(struct fm_request){__VA_ARGS__}); \
        g_assert_cmpuint(answer_.status, ==, wanted_status);               \
        assert_has(answer_.body, part);                                    \
        answer_clear(&answer_);                                            \
    } while (0)

static void one_two_and_three_parts(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *bare = query("", f->one), *menu = query("menu", f->one);
    g_autofree char *empty = query("clique/1&", f->one);
    g_autofree char *wanted =
        query("clique/1&p-_-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev", f->one);
    struct answer a = ASK(f, .query = bare), b = ASK(f, .query = menu);
    g_assert_cmpuint(a.status, ==, 200);
    g_assert_cmpstr(a.type, ==, "text/html; charset=utf-8");
    g_assert_cmpstr(a.body, ==, b.body);
    assert_has(a.body, "Deep profiler menu");
    answer_clear(&a);
    answer_clear(&b);
    EXPECT(f, 200, "Clique 1", .query = empty);
    EXPECT(f, 200, "Clique 1", .query = wanted);
    EXPECT(f, 400, "bad address", .query = "");
    EXPECT(f, 400, "bad address", .query = "menu&");
    EXPECT(f, 400, "bad address", .query = "menu&&x&y");
    EXPECT(f, 400, "bad address", .query = NULL);
}

static void formats(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *text = query("clique/1", f->one);
    static const struct {
        const char *path, *accept, *type, *part;
    } cases[] = {
        {"/deep", NULL, "text/html; charset=utf-8", "<!DOCTYPE html>"},
        {"/deep", "text/html, */*", "text/html; charset=utf-8", "<!DOCTYPE html>"},
        {"/deep.html", "application/json", "text/html; charset=utf-8", "<!DOCTYPE html>"},
        {"/deep.json", NULL, "application/json", "\"page\": \"clique\""},
        {"/deep", "application/json", "application/json", "\"page\": \"clique\""},
        {"/deep.txt", NULL, "text/plain; charset=utf-8", "Clique 1"},
        {"/deep.csv", NULL, "text/csv; charset=utf-8", "calls_count"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct answer a = ASK(f, .path = cases[i].path, .accept = cases[i].accept, .query = text);
        g_assert_cmpuint(a.status, ==, 200);
        g_assert_cmpstr(a.type, ==, cases[i].type);
        assert_has(a.body, cases[i].part);
        answer_clear(&a);
    }
    EXPECT(f, 404, "no such page", .path = "/deep.xml", .query = text);
    EXPECT(f, 404, "no such page", .path = "/deeper", .query = text);
}

static void what_is_not_understood(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *bad = query("clikue/1", f->one);
    g_autofree char *bad_preferences = query("menu&p-q-s", f->one);
    g_autofree char *no_clique = query("clique/77", f->one);
    g_autofree char *no_body = query("module_rep/a%26b", f->one);
    g_autofree char *no_module = query("module/%3Cscript%3E", f->one);
    EXPECT(f, 200, "class=\"notice\"", .query = bad);
    EXPECT(f, 200, "Deep profiler menu", .query = bad);
    EXPECT(f, 400, "clikue", .query = bad, .path = "/deep.json");
    EXPECT(f, 400, "clikue", .query = bad, .path = "/deep.txt");
    EXPECT(f, 200, "preferences were not understood", .query = bad_preferences);
    EXPECT(f, 400, "\"message\"", .query = bad_preferences, .path = "/deep.json");
    EXPECT(f, 404, "one.data: invalid clique index 77", .query = no_clique, .path = "/deep.txt");
    EXPECT(f, 404, "not available for this file", .query = no_body);
    struct answer a = ASK(f, .query = no_module);
    g_assert_cmpuint(a.status, ==, 404);
    assert_lacks(a.body, "<script>");
    assert_has(a.body, "&lt;script&gt;");
    g_assert_null(a.etag);
    answer_clear(&a);
    EXPECT(f, 405, "GET", .query = bad, .method = "DELETE");
}

static void names_are_escaped_and_encoded(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->odd);
    g_autofree char *text = query("menu", f->odd), *module = query("module/a%26b", f->odd);
    struct answer a = ASK(f, .query = text);
    g_assert_cmpuint(a.status, ==, 200);
    assert_has(a.body, "odd%20%26name.data");
    assert_has(a.body, "&lt;prog&gt;");
    assert_lacks(a.body, "<prog>");
    answer_clear(&a);
    a = ASK(f, .query = module);
    g_assert_cmpuint(a.status, ==, 200);
    assert_has(a.body, "&lt;script&gt;");
    assert_lacks(a.body, "<script>main");
    answer_clear(&a);
}

static void only_what_was_given(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *other = query("menu", f->odd), *passwd = query("menu", "/etc/passwd");
    g_autofree char *relative = query("menu", "one.data");
    EXPECT(f, 404, "not one of the opened recordings", .query = other);
    EXPECT(f, 404, "not one of the opened recordings", .query = passwd);
    EXPECT(f, 404, "not one of the opened recordings", .query = relative);
    EXPECT(f, 400, "", .query = "menu&a%00b");
    EXPECT(f, 400, "", .query = "menu&a%zz");
    GString *longer = g_string_new("menu&");
    for (int i = 0; i < 5000; i++)
        g_string_append_c(longer, 'x');
    EXPECT(f, 400, "longer than 4096 bytes", .query = longer->str);
    for (int i = 0; i < 20000; i++)
        g_string_append_c(longer, 'x');
    EXPECT(f, 400, "longer than", .query = longer->str);
    g_string_free(longer, TRUE);
}

static void below_a_root(struct fixture *f, gconstpointer user)
{
    (void)user;
    add_root(f);
    g_autofree char *relative = query("menu", "one.data"), *absolute = query("menu", f->odd);
    EXPECT(f, 200, "Deep profiler menu", .query = relative);
    EXPECT(f, 200, "Deep profiler menu", .query = absolute);
    static const char *const refused[] = {
        "../outside.data",         "link.data",    "pipe.data", ".",
        "root/../../outside.data", "missing.data", "/dev/zero"};
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *text = query("menu", refused[i]);
        g_test_message("%s", refused[i]);
        EXPECT(f, 404, "no file below the served folders", .query = text);
    }
    g_autofree char *outside = query("menu", f->outside), *broken = query("menu", "broken.data");
    EXPECT(f, 404, "no file below the served folders", .query = outside);
    EXPECT(f, 422, "broken.data: ", .query = broken);
    EXPECT(f, 422, "\"status\": 422", .query = broken, .path = "/deep.json");
}

static void the_same_file_is_one_recording(struct fixture *f, gconstpointer user)
{
    (void)user;
    add_root(f);
    g_autofree char *hard = g_build_filename(f->root, "hard.data", NULL);
    g_assert_cmpint(link(f->one, hard), ==, 0);
    g_autofree char *a = query("menu", "one.data"), *b = query("menu", "hard.data");
    EXPECT(f, 200, "menu", .query = a);
    EXPECT(f, 200, "menu", .query = b);
    g_assert_cmpuint(fm_server_count(f->server), ==, 1);
    add(f, f->one);
    g_assert_cmpuint(fm_server_count(f->server), ==, 1);
}

static void write_in_place(const char *path, const char *content_of)
{
    g_autofree char *content = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(content_of, &content, &size, NULL));
    FILE *file = g_fopen(path, "w");
    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(content, 1, size, file), ==, size);
    g_assert_cmpint(fclose(file), ==, 0);
}

/* A file is given the inode of one that another took the place of: it is a file of its own. */
static void an_inode_is_used_again(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *hard = g_build_filename(f->root, "hard.data", NULL);
    g_assert_cmpint(link(f->one, hard), ==, 0);
    g_assert_cmpint(g_rename(f->odd, f->one), ==, 0);
    write_in_place(hard, f->outside);
    add(f, hard);
    g_autofree char *a = query("menu", f->one), *b = query("menu", hard);
    EXPECT(f, 200, "3,000", .query = b, .path = "/deep.txt");
    EXPECT(f, 200, "2,000", .query = a, .path = "/deep.txt");
    g_assert_cmpuint(fm_server_count(f->server), ==, 2);
}

static void least_used_ones_are_closed(struct fixture *f, gconstpointer user)
{
    (void)user;
    fm_server_free(f->server);
    f->server = fm_server_new(&(struct fm_server_options){.recordings_max = 1});
    add(f, f->outside);
    add_root(f);
    g_autofree char *a = query("menu", "one.data"), *b = query("menu", "odd &name.data");
    EXPECT(f, 200, "menu", .query = a);
    g_assert_cmpuint(fm_server_count(f->server), ==, 2);
    EXPECT(f, 200, "menu", .query = b);
    g_assert_cmpuint(fm_server_count(f->server), ==, 2);
    g_assert_cmpstr(fm_server_path(f->server, 0), ==, f->outside);
    EXPECT(f, 200, "menu", .query = a);
}

static void validators(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *text = query("clique/1", f->one), *other = query("clique/2", f->one);
    struct answer first = ASK(f, .query = text), again = ASK(f, .query = text);
    g_assert_nonnull(first.etag);
    g_assert_cmpint(first.etag[0], ==, '"');
    g_assert_cmpstr(first.etag, ==, again.etag);
    g_assert_cmpstr(first.body, ==, again.body);
    g_autofree char *list = g_strdup_printf("\"x\", %s", first.etag);
    struct answer known = ASK(f, .query = text, .if_none_match = list);
    g_assert_cmpuint(known.status, ==, 304);
    g_assert_cmpstr(known.body, ==, "");
    g_assert_cmpstr(known.etag, ==, first.etag);
    struct answer head = ASK(f, .query = text, .method = "HEAD");
    g_assert_cmpuint(head.status, ==, 200);
    g_assert_cmpstr(head.etag, ==, first.etag);
    g_assert_cmpstr(head.body, ==, first.body); /* the door leaves the body out, not its length */
    struct answer different = ASK(f, .query = other, .if_none_match = first.etag);
    g_assert_cmpuint(different.status, ==, 200);
    g_assert_cmpstr(different.etag, !=, first.etag);
    struct answer json = ASK(f, .query = text, .path = "/deep.json", .if_none_match = first.etag);
    g_assert_cmpuint(json.status, ==, 200);
    struct answer *all[] = {&first, &again, &known, &head, &different, &json};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        answer_clear(all[i]);
}

static void a_changed_file_is_read_again(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *text = query("menu", f->one);
    struct answer before = ASK(f, .query = text, .path = "/deep.txt");
    assert_has(before.body, "1,000");
    write_small_profile(f->one, "./<prog>", "<script>main", "a&b", "main.m", 4321);
    struct answer after = ASK(f, .query = text, .path = "/deep.txt", .if_none_match = before.etag);
    g_assert_cmpuint(after.status, ==, 200);
    assert_has(after.body, "4,321");
    g_assert_cmpstr(after.etag, !=, before.etag);
    g_assert_true(g_file_set_contents(f->one, "broken now", -1, NULL));
    EXPECT(f, 422, "one.data", .query = text);
    EXPECT(f, 200, "could not be read again", .path = "/");
    write_small_profile(f->one, "./<prog>", "<script>main", "a&b", "main.m", 555);
    EXPECT(f, 200, "555", .query = text);
    g_assert_cmpint(g_remove(f->one), ==, 0);
    EXPECT(f, 200, "The file is gone", .query = text);
    EXPECT(f, 200, "555", .query = text);
    answer_clear(&before);
    answer_clear(&after);
}

static void server_commands(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->one);
    g_autofree char *quit = query("quit", f->one), *minutes = query("timeout/12", f->one);
    g_autofree char *restart = query("restart", f->one);
    struct answer a = ASK(f, .query = quit, .foreign = true);
    g_assert_cmpuint(a.status, ==, 403);
    g_assert_false(a.quit);
    answer_clear(&a);
    a = ASK(f, .query = quit, .method = "HEAD");
    g_assert_false(a.quit);
    answer_clear(&a);
    a = ASK(f, .query = minutes);
    assert_has(a.body, "Timeout set to 12 minutes.");
    g_assert_cmpint(a.timeout_minutes, ==, 12);
    g_assert_false(a.quit);
    answer_clear(&a);
    EXPECT(f, 200, "The file was read again.", .query = restart);
    EXPECT(f, 403, "restart", .query = restart, .foreign = true);
    a = ASK(f, .query = quit, .method = "POST");
    g_assert_cmpuint(a.status, ==, 200);
    assert_has(a.body, "Shutting down deep profile server for ");
    g_assert_true(a.quit);
    answer_clear(&a);
}

static void write_process_profile(const char *path, const char *command, uint32_t pid,
                                  uint32_t parent)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "git");
    fm_build_pd(build, fm_build_ps(build, &(struct fm_ps){.name = "the program"}));
    fm_build_process(build, &(struct fm_process_fact){.command = command,
                                                      .folder = "/",
                                                      .pid = pid,
                                                      .parent_pid = parent,
                                                      .start_ns = 5000000000u});
    g_autoptr(FmProfile) profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    g_assert_true(fm_profile_write(profile, path, false, NULL));
}

static void front_page_and_assets(struct fixture *f, gconstpointer user)
{
    (void)user;
    EXPECT(f, 200, "No recording is open.", .path = "/");
    add(f, f->outside);
    add_root(f);
    struct answer a = ASK(f, .path = "/");
    assert_has(a.body, "deep?menu&amp;");
    assert_has(a.body, "outside.data");
    assert_has(a.body, "odd &amp;name.data");
    assert_lacks(a.body, "link.data");
    assert_lacks(a.body, "nav-menu");
    write_process_profile(f->one, "git pack-objects <x>", 17, 16);
    struct answer told = ASK(f, .path = "/index.json");
    assert_has(told.body, "\"command\": \"git pack-objects <x>\", \"process\": 17, "
                          "\"parent_process\": 16, \"started\": \"1970-01-01 00:00:05 UTC\"");
    assert_has(told.body, "odd &name.data");
    answer_clear(&told);
    write_small_profile(f->one, "./<prog>", "<script>main", "a&b", "main.m", 1000);
    struct answer known = ASK(f, .path = "/", .if_none_match = a.etag);
    g_assert_cmpuint(known.status, ==, 304);
    answer_clear(&known);
    answer_clear(&a);
    EXPECT(f, 200, "\"recordings_count\": 1", .path = "/index.json");
    EXPECT(f, 200, "{", .path = "/assets/style.css");
    EXPECT(f, 404, "there is no such file", .path = "/assets/../meson.build");
    EXPECT(f, 404, "there is no such file", .path = "/assets/");
    EXPECT(f, 404, "../../assets/style.css", .path = "/a/b/c");
    EXPECT(f, 204, "", .path = "/favicon.ico");
    struct answer css = ASK(f, .path = "/assets/style.css");
    EXPECT(f, 304, "", .path = "/assets/style.css", .if_none_match = css.etag);
    answer_clear(&css);
}

static void files_that_cannot_be_added(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *missing = g_build_filename(f->folder, "missing.data", NULL);
    g_autofree char *fifo = g_build_filename(f->root, "pipe.data", NULL);
    const char *const paths[] = {missing, fifo, f->root};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_server_add(f->server, paths[i], &error));
        g_assert_nonnull(error);
        assert_has(error->message, paths[i]);
    }
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_server_add_root(f->server, missing, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_clear_error(&error);
    g_assert_false(fm_server_add_root(f->server, f->one, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
}

static void assert_sent_on(struct fixture *f, const char *query, const char *location)
{
    const struct fm_request request = {.method = "GET", .path = "/find", .query = query};
    struct fm_response response;
    fm_server_handle(f->server, &request, &response);
    g_assert_cmpuint(response.status, ==, 303);
    g_assert_cmpstr(response.location, ==, location);
    fm_response_done(&response);
}

/* A form sends what was typed: blanks as "+", all else as in any query. */
static void search(struct fixture *f, gconstpointer user)
{
    (void)user;
    add(f, f->odd);
    g_autoptr(GString) file = g_string_new(NULL);
    fm_query_append_part(file, f->odd);
    g_autofree char *some = g_strconcat("text=+MAIN+&file=", file->str, NULL);
    g_autofree char *one = g_strconcat("text=%3Cscript%3Emain&file=", file->str, NULL);
    g_autofree char *list = g_strconcat("deep?find/MAIN&", file->str, NULL);
    g_autofree char *proc = g_strconcat("deep?proc/2&", file->str, NULL);
    assert_sent_on(f, some, list);
    assert_sent_on(f, one, proc);
    EXPECT(f, 400, "fields text and file", .path = "/find", .query = "text=x");
    EXPECT(f, 400, "fields text and file", .path = "/find");
    EXPECT(f, 404, "", .path = "/find", .query = "text=x&file=/etc/passwd");
    g_autofree char *menu = g_strconcat("menu&", file->str, NULL);
    EXPECT(f, 200, "action=\"find\"", .query = menu);
    EXPECT(f, 200, "odd &amp;name.data\">\n</form>", .query = menu);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) \
    g_test_add("/serve/handle/" name, struct fixture, NULL, set_up, function, tear_down)
    ADD("parts", one_two_and_three_parts);
    ADD("formats", formats);
    ADD("not-understood", what_is_not_understood);
    ADD("escapes", names_are_escaped_and_encoded);
    ADD("only-what-was-given", only_what_was_given);
    ADD("below-a-root", below_a_root);
    ADD("one-recording", the_same_file_is_one_recording);
    ADD("inode-used-again", an_inode_is_used_again);
    ADD("least-used", least_used_ones_are_closed);
    ADD("validators", validators);
    ADD("changed-file", a_changed_file_is_read_again);
    ADD("server-commands", server_commands);
    ADD("front-page", front_page_and_assets);
    ADD("search", search);
    ADD("cannot-be-added", files_that_cannot_be_added);
#undef ADD
    return g_test_run();
}
