/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope: JSON with one profile a thread and measure; each context is a sample. */
#include "base/text/json.h"
#include "exchange/export/internal.h"
#include "exchange/figures.h"

/* Deeper stacks overflow that of the browser. */
#define DEPTH_MAX 1000u
#define PIECE 65536u

struct speedscope {
    const struct fm_exchange_nodes *nodes;
    const struct fm_profile *profile;
    struct fm_exchange_names names;
    struct fm_writer *out;
    struct fm_json json;
    uint32_t *frame; /* [ps_count + 1] its number + 1; 0: no context of it */
    uint32_t *depth; /* [node], 1 = below the root */
    bool cut;
};

static void flush(struct speedscope *x, gsize least)
{
    if (x->json.out->len < least)
        return;
    fm_writer_bytes(x->out, x->json.out->str, x->json.out->len);
    g_string_truncate(x->json.out, 0);
}

static void write_frames(struct speedscope *x)
{
    fm_json_object(&x->json, "shared");
    fm_json_array(&x->json, "frames");
    for (uint32_t i = 1; i < x->nodes->count; i++)
        x->frame[x->nodes->nodes[i].ps] = 1;
    for (uint32_t ps = 0, count = 0; ps <= x->profile->ps_count; ps++) {
        if (x->frame[ps] == 0)
            continue;
        x->frame[ps] = ++count;
        fm_json_object(&x->json, NULL);
        fm_json_text(&x->json, "name", ps == 0 ? "(small contexts)" : x->names.name[ps]);
        if (ps != 0 && *x->names.file[ps] != '\0')
            fm_json_text(&x->json, "file", x->names.file[ps]);
        if (ps != 0 && x->profile->ps[ps].line != 0)
            fm_json_uint(&x->json, "line", x->profile->ps[ps].line);
        fm_json_end(&x->json);
        flush(x, PIECE);
    }
    fm_json_end(&x->json);
    fm_json_end(&x->json);
}

static void write_stack(struct speedscope *x, uint32_t node)
{
    uint32_t stack[DEPTH_MAX];
    uint32_t count = 0;
    x->cut = x->cut || x->depth[node] > DEPTH_MAX;
    /* The outermost frames stay; the innermost of a stack that is too deep are left out. */
    for (uint32_t i = node; i != 0; i = x->nodes->nodes[i].parent) {
        if (x->depth[i] <= DEPTH_MAX)
            stack[count++] = x->frame[x->nodes->nodes[i].ps] - 1;
    }
    fm_json_array(&x->json, NULL);
    while (count > 0)
        fm_json_uint(&x->json, NULL, stack[--count]);
    fm_json_end(&x->json);
}

/* The nodes of the thread that have own cost in the column. */
static void write_profile(struct speedscope *x, uint32_t first, uint32_t end, unsigned column)
{
    g_assert(first <= end && column < x->nodes->column_count);
    const struct fm_exchange_column *c = &x->nodes->columns[column];
    uint32_t ps = fm_exchange_thread_ps(x->nodes, first);
    g_autofree char *name =
        g_strdup_printf("%s%s%s (order is not time)", ps == 0 ? "" : x->names.name[ps],
                        ps == 0 ? "" : ": ", c->name);
    int64_t sum = 0;
    fm_json_object(&x->json, NULL);
    fm_json_text(&x->json, "type", "sampled");
    fm_json_text(&x->json, "name", name);
    fm_json_text(&x->json, "unit", g_str_equal(c->unit, "count") ? "none" : c->unit);
    fm_json_array(&x->json, "samples");
    for (uint32_t i = first; i < end; i++) {
        if (fm_exchange_own(x->nodes, column, i) > 0)
            write_stack(x, i);
        flush(x, PIECE);
    }
    fm_json_end(&x->json);
    fm_json_array(&x->json, "weights");
    for (uint32_t i = first; i < end; i++) {
        int64_t own = fm_exchange_own(x->nodes, column, i);
        if (own > 0) {
            fm_json_int(&x->json, NULL, own);
            sum += own;
        }
        flush(x, PIECE);
    }
    fm_json_end(&x->json);
    fm_json_int(&x->json, "startValue", 0);
    fm_json_int(&x->json, "endValue", sum);
    fm_json_end(&x->json);
}

/* Profiles of nothing are left out. */
static bool has_any(const struct speedscope *x, uint32_t first, uint32_t end, unsigned column)
{
    for (uint32_t i = first; i < end; i++) {
        if (fm_exchange_own(x->nodes, column, i) > 0)
            return true;
    }
    return false;
}

static void write_profiles(struct speedscope *x)
{
    fm_json_array(&x->json, "profiles");
    for (unsigned turn = 0; turn < x->nodes->column_count; turn++) {
        unsigned column = fm_exchange_column_in_turn(x->nodes, turn);
        for (uint32_t first = 1, end; first < x->nodes->count; first = end) {
            end = fm_exchange_thread_end(x->nodes, first);
            if (has_any(x, first, end, column))
                write_profile(x, first, end, column);
        }
    }
    fm_json_end(&x->json);
}

static void write_all(struct speedscope *x)
{
    fm_json_object(&x->json, NULL);
    fm_json_text(&x->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    fm_json_text(&x->json, "name", x->profile->program_name);
    fm_json_text(&x->json, "exporter", "fathom");
    g_autofree char *figures = fm_figures_text(x->nodes);
    fm_json_text(&x->json, "fathom", figures);
    fm_json_int(&x->json, "activeProfileIndex", 0);
    write_frames(x);
    write_profiles(x);
    fm_json_end(&x->json);
    g_string_append_c(x->json.out, '\n');
    flush(x, 0);
}

bool fm_export_speedscope(const struct fm_analysis *a, const struct fm_export_options *options,
                          struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_exchange_nodes nodes;
    if (!fm_exchange_nodes_init(&nodes, a, options->min_share, error))
        return false;
    g_autoptr(GString) text = g_string_new(NULL);
    struct speedscope x = {.nodes = &nodes, .profile = a->profile, .out = out};
    x.frame = g_new0(uint32_t, a->profile->ps_count + 1);
    x.depth = g_new0(uint32_t, nodes.count);
    for (uint32_t i = 1; i < nodes.count; i++)
        x.depth[i] = x.depth[nodes.nodes[i].parent] + 1;
    fm_exchange_names_init(&x.names, a->profile, false, options->strip_path);
    fm_json_init(&x.json, text);
    write_all(&x);
    fm_export_note_folding(notes, &nodes);
    if (x.cut)
        fm_export_note(notes, "stacks are cut at %u frames", DEPTH_MAX);
    fm_exchange_names_done(&x.names);
    g_free(x.depth);
    g_free(x.frame);
    fm_exchange_nodes_done(&nodes);
    return true;
}
