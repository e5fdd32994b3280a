/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of gcov --json-format, gzipped: how often functions and lines ran. What is not known (a
 * function's last line, its blocks, branches) has no member: 0 would say something. */
#include "base/text/json.h"
#include "exchange/export/coverage.h"
#include "exchange/gzip.h"

#define PIECE (64u << 10)

struct gcov {
    const struct fm_export_coverage *coverage;
    struct fm_json json;
    struct fm_gzip *gzip;
};

static void flush(struct gcov *x, size_t least)
{
    if (x->json.out->len <= least)
        return;
    fm_gzip_write(x->gzip, x->json.out->str, x->json.out->len);
    g_string_truncate(x->json.out, 0);
}

static void put_function(struct gcov *x, uint32_t ps)
{
    const struct fm_export_coverage *c = x->coverage;
    const char *system = c->names.system[ps];
    fm_json_object(&x->json, NULL);
    fm_json_text(&x->json, "name", *system != '\0' ? system : c->a->profile->ps[ps].name);
    fm_json_text(&x->json, "demangled_name", c->a->profile->ps[ps].name);
    fm_json_uint(&x->json, "start_line", c->a->profile->ps[ps].line);
    fm_json_int(&x->json, "execution_count", fm_export_coverage_calls(c, ps));
    fm_json_end(&x->json);
    flush(x, PIECE);
}

static void put_line(struct gcov *x, const struct fm_line_count *line)
{
    fm_json_object(&x->json, NULL);
    fm_json_uint(&x->json, "line_number", line->line);
    fm_json_uint(&x->json, "count", line->count);
    fm_json_array(&x->json, "branches");
    fm_json_end(&x->json);
    fm_json_end(&x->json);
    flush(x, PIECE);
}

static void put_file(struct gcov *x, const uint32_t *ps, uint32_t count)
{
    g_autoptr(GArray) lines = fm_export_coverage_lines(x->coverage, ps, count);
    fm_json_object(&x->json, NULL);
    fm_json_text(&x->json, "file", x->coverage->names.file[ps[0]]);
    fm_json_array(&x->json, "functions");
    for (uint32_t i = 0; i < count; i++)
        put_function(x, ps[i]);
    fm_json_end(&x->json);
    fm_json_array(&x->json, "lines");
    for (guint i = 0; i < lines->len; i++)
        put_line(x, &g_array_index(lines, struct fm_line_count, i));
    fm_json_end(&x->json);
    fm_json_end(&x->json);
}

static void put_all(struct gcov *x)
{
    const struct fm_profile *p = x->coverage->a->profile;
    const char *folder = p->run_info.process.folder;
    uint32_t at = 0, count;
    fm_json_object(&x->json, NULL);
    fm_json_text(&x->json, "format_version", "1");
    fm_json_text(&x->json, "gcc_version", "fathom"); /* the writer, which readers only display */
    fm_json_text(&x->json, "current_working_directory", folder != NULL ? folder : "");
    fm_json_text(&x->json, "data_file", p->program_name);
    fm_json_array(&x->json, "files");
    for (const uint32_t *ps; (ps = fm_export_coverage_file(x->coverage, &at, &count)) != NULL;)
        put_file(x, ps, count);
    fm_json_end(&x->json);
    fm_json_end(&x->json);
    g_string_append_c(x->json.out, '\n');
    flush(x, 0);
}

bool fm_export_gcov(const struct fm_analysis *a, const struct fm_export_options *options,
                    struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_export_coverage coverage;
    g_autoptr(GString) text = g_string_new(NULL);
    if (!fm_export_coverage_init(&coverage, a, options, error))
        return false;
    struct gcov x = {.coverage = &coverage, .gzip = fm_gzip_new(out, 6)};
    fm_json_init(&x.json, text);
    put_all(&x);
    fm_gzip_finish(x.gzip);
    fm_export_coverage_note(&coverage, notes);
    fm_export_note(notes,
                   "last lines, blocks and branches of functions are not known: they are left "
                   "out");
    fm_export_coverage_done(&coverage);
    return true;
}
