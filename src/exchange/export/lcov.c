/* SPDX-License-Identifier: Apache-2.0 */
/* lcov's tracefile: how often functions and lines ran. Lines of which that is not known are left
 * out: they did not run 0 times. */
#include "exchange/export/coverage.h"

static void put_lines(const GArray *lines, struct fm_writer *out)
{
    uint32_t hit = 0;
    for (guint i = 0; i < lines->len; i++) {
        struct fm_line_count line = g_array_index(lines, struct fm_line_count, i);
        fm_export_put(out, "DA:%u,%" G_GUINT64_FORMAT "\n", line.line, line.count);
        hit += line.count > 0;
    }
    fm_export_put(out, "LF:%u\nLH:%u\n", lines->len, hit);
}

static void put_file(const struct fm_export_coverage *x, const uint32_t *ps, uint32_t count,
                     struct fm_writer *out)
{
    g_autoptr(GArray) lines = fm_export_coverage_lines(x, ps, count);
    uint32_t hit = 0;
    fm_export_put(out, "TN:\nSF:%s\n", x->names.file[ps[0]]);
    for (uint32_t i = 0; i < count; i++)
        fm_export_put(out, "FN:%u,%s\n", x->a->profile->ps[ps[i]].line, x->names.name[ps[i]]);
    for (uint32_t i = 0; i < count; i++) {
        int64_t calls = fm_export_coverage_calls(x, ps[i]);
        fm_export_put(out, "FNDA:%" G_GINT64_FORMAT ",%s\n", calls, x->names.name[ps[i]]);
        hit += calls > 0;
    }
    fm_export_put(out, "FNF:%u\nFNH:%u\n", count, hit);
    put_lines(lines, out);
    fm_export_put(out, "end_of_record\n");
}

bool fm_export_lcov(const struct fm_analysis *a, const struct fm_export_options *options,
                    struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_export_coverage x;
    uint32_t at = 0, count;
    if (!fm_export_coverage_init(&x, a, options, error))
        return false;
    for (const uint32_t *ps; (ps = fm_export_coverage_file(&x, &at, &count)) != NULL;)
        put_file(&x, ps, count, out);
    fm_export_coverage_note(&x, notes);
    fm_export_coverage_done(&x);
    return true;
}
