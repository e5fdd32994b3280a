/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <string.h>

#include "base/error.h"

/* --- recordings --- */

static struct fm_open_profile *finish(struct fm_build *build, const char *path)
{
    struct fm_profile *profile = NULL;
    struct fm_open_profile *recording = NULL;
    GError *error = NULL;
    bool ok = fm_build_finish(build, &profile, &error) &&
              fm_open_profile_new(path, profile, NULL, &recording, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return recording;
}

static uint32_t mercury_ps(struct fm_build *build, const char *module, const char *name,
                           uint32_t arity, uint32_t line)
{
    g_autofree char *file = g_strconcat(module, ".m", NULL);
    return fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_PREDICATE,
                                              .decl_module = module,
                                              .def_module = module,
                                              .name = name,
                                              .arity = arity,
                                              .file = file,
                                              .line = line,
                                              .in_interface = true});
}

static uint32_t site(struct fm_build *build, uint32_t ps, enum fm_site_kind kind, uint32_t callee,
                     uint32_t line)
{
    return fm_build_css(build, ps,
                        &(struct fm_css){.kind = kind, .callee_ps = callee, .line = line});
}

static uint32_t runtime_ps(struct fm_build *build)
{
    uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_PREDICATE,
                                                     .decl_module = "Mercury runtime",
                                                     .def_module = "Mercury runtime",
                                                     .name = "Mercury runtime",
                                                     .file = "Mercury runtime",
                                                     .in_interface = true});
    site(build, ps, FM_SITE_CALLBACK, 0, 0);
    return ps;
}

static uint32_t edge(struct fm_build *build, uint32_t caller, uint32_t slot, uint32_t callee,
                     uint64_t callseqs)
{
    uint32_t csd = fm_build_csd(build, caller, slot, callee);
    fm_build_add(build, csd, FM_EXITS, callseqs);
    fm_build_add(build, csd, FM_CALLSEQS, callseqs);
    return csd;
}

struct fm_open_profile *world_undetected_recursion(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "a");
    uint32_t runtime = runtime_ps(build);
    uint32_t main_ps = mercury_ps(build, "a", "main", 2, 10);
    uint32_t map = mercury_ps(build, "list", "map", 3, 20);
    uint32_t f = mercury_ps(build, "a", "f", 2, 30);
    uint32_t g = mercury_ps(build, "a", "g", 2, 40);
    site(build, main_ps, FM_SITE_NORMAL, map, 11);
    site(build, map, FM_SITE_HIGHER_ORDER, 0, 21);
    site(build, map, FM_SITE_NORMAL, map, 22);
    site(build, f, FM_SITE_NORMAL, map, 31);
    site(build, f, FM_SITE_NORMAL, g, 32); /* never called */

    uint32_t pd1 = fm_build_pd(build, runtime), pd2 = fm_build_pd(build, main_ps);
    uint32_t pd3 = fm_build_pd(build, map), pd4 = fm_build_pd(build, f);
    uint32_t pd5 = fm_build_pd(build, map), pd6 = fm_build_pd(build, g);
    edge(build, pd1, 0, pd2, 1);
    edge(build, pd2, 0, pd3, 1);
    edge(build, pd3, 0, pd4, 10);
    edge(build, pd3, 1, pd3, 10);
    edge(build, pd4, 0, pd5, 10);
    edge(build, pd5, 0, pd6, 50);
    edge(build, pd5, 1, pd5, 50);
    return finish(build, "undetected.data");
}

struct fm_open_profile *world_two_pds(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "b");
    uint32_t runtime = runtime_ps(build);
    uint32_t p = mercury_ps(build, "b", "p", 0, 50), q = mercury_ps(build, "b", "q", 0, 10);
    uint32_t leaf = mercury_ps(build, "other", "leaf", 0, 5);
    site(build, p, FM_SITE_NORMAL, q, 51);
    site(build, p, FM_SITE_NORMAL, q, 52);
    site(build, q, FM_SITE_NORMAL, p, 11);
    site(build, q, FM_SITE_NORMAL, leaf, 12);

    uint32_t pd1 = fm_build_pd(build, runtime), pd2 = fm_build_pd(build, p);
    uint32_t pd3 = fm_build_pd(build, q), pd4 = fm_build_pd(build, q);
    uint32_t pd5 = fm_build_pd(build, leaf);
    edge(build, pd1, 0, pd2, 1);
    edge(build, pd2, 0, pd3, 1);
    edge(build, pd3, 0, pd2, 2);
    edge(build, pd2, 1, pd4, 3);
    edge(build, pd4, 0, pd2, 4);
    edge(build, pd4, 1, pd5, 5);
    return finish(build, "two.data");
}

static uint32_t c_ps(struct fm_build *build, const char *folder, const char *unit, const char *name,
                     uint32_t line)
{
    g_autofree char *file = folder ? g_strdup_printf("%s/%s", folder, unit) : g_strdup(unit);
    return fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                              .decl_module = unit,
                                              .def_module = unit,
                                              .name = name,
                                              .raw_name = name,
                                              .arity = 1,
                                              .file = file,
                                              .line = line});
}

struct fm_open_profile *world_c(const char *source_folder)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "btree");
    unsigned frees = fm_build_measure(build, "frees", "count", 1);
    unsigned freed = fm_build_measure(build, "freed_bytes", "bytes", 1);
    fm_build_measure(build, "never", "count", 1); /* zero throughout */
    uint32_t system =
        fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION, .name = "threads"});
    uint32_t main_ps = c_ps(build, source_folder, "main.c", "main", 3);
    uint32_t insert = c_ps(build, source_folder, "btree.c", "insert", 1);
    uint32_t compare = c_ps(build, source_folder, "main.c", "compare", 1);
    uint32_t worker = c_ps(build, source_folder, "main.c", "worker", 12);
    c_ps(build, source_folder, "main.c", "unused", 20);
    fm_build_css(build, system, &(struct fm_css){.kind = FM_SITE_CALLBACK, .goal_path = "threads"});
    site(build, main_ps, FM_SITE_NORMAL, insert, 6);
    fm_build_css(build, main_ps,
                 &(struct fm_css){.kind = FM_SITE_CALLBACK, .line = 8, .goal_path = "5 qsort"});
    fm_build_css(build, main_ps,
                 &(struct fm_css){.kind = FM_SITE_CALLBACK, .line = 5, .goal_path = "9 malloc"});
    site(build, main_ps, FM_SITE_NORMAL, 0, 9); /* to somewhere that the symbols do not tell */
    site(build, worker, FM_SITE_HIGHER_ORDER, 0, 14);
    site(build, insert, FM_SITE_METHOD, 0, 2);

    uint32_t root = fm_build_pd(build, system), pd_main = fm_build_pd(build, main_ps);
    uint32_t pd_insert = fm_build_pd(build, insert), pd_compare = fm_build_pd(build, compare);
    uint32_t pd_worker = fm_build_pd(build, worker), pd_insert2 = fm_build_pd(build, insert);
    uint32_t main_csd = fm_build_csd(build, root, 0, pd_main); /* left by exit() */
    fm_build_add(build, main_csd, FM_EXCPS, 1);
    fm_build_add(build, main_csd, FM_CALLSEQS, 1);
    fm_build_add(build, main_csd, FM_QUANTA, 4);
    uint32_t insert_csd = edge(build, pd_main, 0, pd_insert, 3);
    fm_build_add(build, insert_csd, FM_QUANTA, 36);
    fm_build_add(build, insert_csd, FM_ALLOCS, 3);
    fm_build_add(build, insert_csd, FM_WORDS, 4096);
    fm_build_add(build, insert_csd, frees, 2);
    fm_build_add(build, insert_csd, freed, 1024);
    edge(build, pd_main, 1, pd_compare, 5);
    edge(build, root, 0, pd_worker, 1);
    edge(build, pd_worker, 0, pd_insert2, 7);
    fm_build_header(build)->duration_ns = 5000000000;
    fm_build_header(build)->peak_bytes = 65536;
    /* As few as say nothing, of 4 quanta each. */
    fm_build_header(build)->sample_count = 10;
    fm_build_header(build)->sample_squares = 160;
    fm_build_mark(build, &(struct fm_mark){"load", 1000000000, 10, 0});
    fm_build_mark(build, &(struct fm_mark){"half", 1500000000, 20, 1});
    fm_build_mark(build, &(struct fm_mark){"sort", 2000000000, 30, 0});
    fm_build_note(build, "three threads are not in it");
    return finish(build, source_folder ? "c.data" : "/nowhere/c.data");
}

struct fm_open_profile *world_c_recursion(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "parser");
    uint32_t system =
        fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION, .name = "threads"});
    uint32_t main_ps = c_ps(build, NULL, "main.c", "main", 3);
    uint32_t expr = c_ps(build, NULL, "main.c", "expr", 10);
    uint32_t term = c_ps(build, NULL, "main.c", "term", 20);
    uint32_t scan = c_ps(build, NULL, "main.c", "scan", 30);
    fm_build_css(build, system, &(struct fm_css){.kind = FM_SITE_CALLBACK, .goal_path = "threads"});
    site(build, main_ps, FM_SITE_NORMAL, expr, 4);
    site(build, expr, FM_SITE_NORMAL, term, 11);
    site(build, term, FM_SITE_NORMAL, expr, 21);
    site(build, term, FM_SITE_NORMAL, scan, 22);
    uint32_t root = fm_build_pd(build, system), pd_main = fm_build_pd(build, main_ps);
    uint32_t pd_expr = fm_build_pd(build, expr), pd_term = fm_build_pd(build, term);
    edge(build, root, 0, pd_main, 1);
    fm_build_add(build, edge(build, pd_main, 0, pd_expr, 1), FM_WORDS, 100);
    fm_build_add(build, edge(build, pd_expr, 0, pd_term, 8), FM_WORDS, 200);
    edge(build, pd_term, 0, pd_expr, 7);
    fm_build_add(build, edge(build, pd_term, 1, fm_build_pd(build, scan), 9), FM_WORDS, 50);
    return finish(build, "parser.data");
}

struct fm_open_profile *world_waiting(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "server");
    unsigned waits = fm_build_measure(build, "waits", "waits", 1);
    unsigned ns = fm_build_measure(build, "wait_ns", "nanoseconds", 1);
    uint32_t system =
        fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION, .name = "threads"});
    uint32_t main_ps = c_ps(build, NULL, "main.c", "main", 3);
    uint32_t parse = c_ps(build, NULL, "main.c", "parse", 10);
    uint32_t await = c_ps(build, NULL, "main.c", "await", 20);
    uint32_t get = c_ps(build, NULL, "main.c", "get", 30);
    fm_build_css(build, system, &(struct fm_css){.kind = FM_SITE_CALLBACK, .goal_path = "threads"});
    site(build, main_ps, FM_SITE_NORMAL, parse, 4);
    site(build, main_ps, FM_SITE_NORMAL, await, 5);
    site(build, main_ps, FM_SITE_NORMAL, get, 6);
    uint32_t root = fm_build_pd(build, system), pd_main = fm_build_pd(build, main_ps);
    edge(build, root, 0, pd_main, 1);
    uint32_t csd = edge(build, pd_main, 0, fm_build_pd(build, parse), 7);
    fm_build_add(build, csd, FM_QUANTA, 60);
    csd = edge(build, pd_main, 1, fm_build_pd(build, await), 2);
    fm_build_add(build, csd, waits, 2);
    fm_build_add(build, csd, ns, UINT64_C(3000000000));
    edge(build, pd_main, 2, fm_build_pd(build, get), 50);
    fm_build_waiting(build, &(struct fm_waiting){.csd = csd,
                                                 .kind = "poll",
                                                 .calls = 2,
                                                 .waits = 2,
                                                 .ns = UINT64_C(3000000000),
                                                 .longest_ns = UINT64_C(2000000000)});
    fm_build_header(build)->ticks_per_second = 100;
    return finish(build, "/nowhere/server.data");
}

struct fm_open_profile *world_many_callers(const char *path)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "many");
    uint32_t runtime = runtime_ps(build);
    uint32_t callee = mercury_ps(build, "lib", "callee", 0, 1);
    uint32_t root = fm_build_pd(build, runtime);
    for (unsigned i = 1; i <= 45; i++) {
        g_autofree char *name = g_strdup_printf("p%02u", i);
        g_autofree char *module = g_strdup_printf("m%u", (i - 1) / 5);
        uint32_t ps = mercury_ps(build, module, name, 0, 1000 - i); /* places run backwards */
        site(build, ps, FM_SITE_NORMAL, callee, 2000 - i);
        uint32_t pd = fm_build_pd(build, ps), below = fm_build_pd(build, callee);
        edge(build, root, 0, pd, 1);
        edge(build, pd, 0, below, i == 7 ? 7 : 1);
    }
    return finish(build, path);
}

struct fm_open_profile *world_hub(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "hub");
    uint32_t runtime = runtime_ps(build);
    uint32_t hub = mercury_ps(build, "lib", "hub", 0, 1),
             leaf = mercury_ps(build, "lib", "leaf", 0, 5);
    uint32_t near = mercury_ps(build, "m", "near", 0, 10),
             far = mercury_ps(build, "m", "far", 0, 20);
    site(build, hub, FM_SITE_NORMAL, hub, 2);
    site(build, hub, FM_SITE_NORMAL, leaf, 3);
    site(build, near, FM_SITE_NORMAL, hub, 11);
    site(build, far, FM_SITE_HIGHER_ORDER, 0, 21);
    site(build, far, FM_SITE_HIGHER_ORDER, 0, 22); /* the hub and the leaf */
    uint32_t root = fm_build_pd(build, runtime);
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t one = fm_build_pd(build, near), other = fm_build_pd(build, far);
        uint32_t below_one = fm_build_pd(build, hub), below_other = fm_build_pd(build, hub);
        edge(build, root, 0, one, 1);
        edge(build, root, 0, other, 1);
        edge(build, one, 0, below_one, 1);
        edge(build, below_one, 0, below_one, 4);
        edge(build, below_one, 1, fm_build_pd(build, leaf), i % 7 + 1);
        edge(build, other, 0, below_other, 2);
        if (i < 3) {
            edge(build, other, 1, fm_build_pd(build, hub), 1);
            edge(build, other, 1, fm_build_pd(build, leaf), 9);
        }
    }
    return finish(build, "hub.data");
}

/* --- pages --- */

static bool make(const struct fm_open_profile *recording, const char *text, bool window,
                 GString *out, GError **error)
{
    struct fm_query query = {0};
    GError *parse_error = NULL;
    bool parsed = fm_query_parse(text, &query, &parse_error);
    g_assert_no_error(parse_error);
    g_assert_true(parsed);
    query.compact = window;
    struct fm_display *display = NULL;
    struct fm_preferences preferences;
    bool ok = fm_pages_make(recording, &query, &preferences, &display, error);
    if (ok) {
        fm_json_write(display, &preferences, out);
        fm_display_free(display);
    }
    fm_query_done(&query);
    return ok;
}

static struct page parsed_page(const struct fm_open_profile *recording, const char *query,
                               bool window)
{
    GError *error = NULL;
    GString *text = g_string_new(NULL);
    bool ok = make(recording, query, window, text, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    struct page page = {.parser = json_parser_new()};
    json_parser_load_from_data(page.parser, text->str, (gssize)text->len, &error);
    g_assert_no_error(error);
    page.root = json_node_get_object(json_parser_get_root(page.parser));
    g_string_free(text, TRUE);
    return page;
}

struct page page_of(const struct fm_open_profile *recording, const char *query)
{
    return parsed_page(recording, query, false);
}

struct page window_of(const struct fm_open_profile *recording, const char *query)
{
    return parsed_page(recording, query, true);
}

void page_done(struct page *page)
{
    g_clear_object(&page->parser);
}

char *page_error(const struct fm_open_profile *recording, const char *query, int code)
{
    GError *error = NULL;
    GString *text = g_string_new(NULL);
    g_assert_false(make(recording, query, false, text, &error));
    g_assert_error(error, FM_ERROR, code);
    char *message = g_strdup(error->message);
    g_error_free(error);
    g_string_free(text, TRUE);
    return message;
}

const char *page_title(const struct page *page)
{
    return json_object_get_string_member(page->root, "title");
}

const char *page_text(const struct page *page)
{
    JsonArray *texts = json_object_get_array_member(page->root, "text");
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < json_array_get_length(texts); i++) {
        JsonNode *node = json_array_get_element(texts, i);
        if (JSON_NODE_HOLDS_OBJECT(node))
            node = json_object_get_member(json_node_get_object(node), "text");
        if (node && JSON_NODE_HOLDS_VALUE(node))
            g_string_append_printf(all, "%s\n", json_node_get_string(node));
    }
    const char *shared = g_intern_string(all->str);
    g_string_free(all, TRUE);
    return shared;
}

static JsonObject *facts(const struct page *page, const char *name)
{
    JsonObject *object = json_object_get_object_member(page->root, "facts");
    if (!json_object_has_member(object, name))
        g_error("no fact %s", name);
    return object;
}

gint64 fact_int(const struct page *page, const char *name)
{
    return json_object_get_int_member(facts(page, name), name);
}

bool fact_is_null(const struct page *page, const char *name)
{
    return json_object_get_null_member(facts(page, name), name);
}

const char *fact_string(const struct page *page, const char *name)
{
    return json_object_get_string_member(facts(page, name), name);
}

gboolean fact_bool(const struct page *page, const char *name)
{
    return json_object_get_boolean_member(facts(page, name), name);
}

static JsonObject *table_of(const struct page *page, const char *name)
{
    JsonArray *tables = json_object_get_array_member(page->root, "tables");
    for (guint i = 0; i < json_array_get_length(tables); i++) {
        JsonObject *table = json_array_get_object_element(tables, i);
        if (g_strcmp0(json_object_get_string_member(table, "name"), name) == 0)
            return table;
    }
    g_error("no table %s", name);
}

static bool has_role(JsonObject *row, const char *role)
{
    return !role ||
           g_strcmp0(json_object_get_string_member_with_default(row, "role", NULL), role) == 0;
}

JsonObject *row_at(const struct page *page, const char *table, const char *role, unsigned n)
{
    JsonArray *rows = json_object_get_array_member(table_of(page, table), "rows");
    for (guint i = 0; i < json_array_get_length(rows); i++) {
        JsonObject *row = json_array_get_object_element(rows, i);
        if (has_role(row, role) && n-- == 0)
            return json_object_get_object_member(row, "cells");
    }
    return NULL;
}

unsigned row_count(const struct page *page, const char *table, const char *role)
{
    JsonArray *rows = json_object_get_array_member(table_of(page, table), "rows");
    unsigned count = 0;
    for (guint i = 0; i < json_array_get_length(rows); i++)
        count += has_role(json_array_get_object_element(rows, i), role);
    return count;
}

JsonObject *row_where(const struct page *page, const char *table, const char *column,
                      const char *value)
{
    JsonObject *cells;
    for (unsigned i = 0; (cells = row_at(page, table, NULL, i)); i++)
        if (g_strcmp0(cell_string(cells, column), value) == 0)
            return cells;
    g_error("no row of %s where %s is %s", table, column, value);
}

gboolean has_column(const struct page *page, const char *table, const char *column)
{
    JsonArray *columns = json_object_get_array_member(table_of(page, table), "columns");
    for (guint i = 0; i < json_array_get_length(columns); i++)
        if (g_strcmp0(
                json_object_get_string_member(json_array_get_object_element(columns, i), "name"),
                column) == 0)
            return TRUE;
    return FALSE;
}

static JsonNode *cell(JsonObject *cells, const char *column)
{
    JsonNode *node = json_object_get_member(cells, column);
    if (!node)
        g_error("no cell %s", column);
    return node;
}

const char *cell_string(JsonObject *cells, const char *column)
{
    JsonNode *node = json_object_get_member(cells, column);
    return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
}

gint64 cell_int(JsonObject *cells, const char *column)
{
    JsonNode *node = cell(cells, column);
    g_assert_true(JSON_NODE_HOLDS_VALUE(node));
    g_assert_true(json_node_get_value_type(node) == G_TYPE_INT64);
    return json_node_get_int(node);
}

double cell_double(JsonObject *cells, const char *column)
{
    JsonNode *node = cell(cells, column);
    g_assert_true(JSON_NODE_HOLDS_VALUE(node));
    return json_node_get_double(node);
}

const char *control(const struct page *page, const char *id)
{
    JsonArray *controls = json_object_get_array_member(page->root, "controls");
    for (guint i = 0; i < json_array_get_length(controls); i++) {
        JsonObject *one = json_array_get_object_element(controls, i);
        if (g_strcmp0(json_object_get_string_member(one, "id"), id) == 0)
            return json_object_get_string_member(one, "query");
    }
    return NULL;
}

char *sample_file(const char *name)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    char *path = g_build_filename(folder ? folder : "", "mercury", name, NULL);
    if (folder && g_file_test(path, G_FILE_TEST_EXISTS))
        return path;
    g_free(path);
    g_test_skip("the real recordings are not here (FATHOM_SAMPLE_DATA)");
    return NULL;
}
