/* SPDX-License-Identifier: Apache-2.0 */
/* V8's own files: .cpuprofile (node --cpu-prof, Chrome's profiler) and .heapprofile (node
 * --heap-prof). */
#include <math.h>

#include "base/error.h"
#include "exchange/import/browser/v8.h"

/* An object that has all of these, and is no trace. */
static bool is_object_of(const struct fm_import_input *input, const char *const *names,
                         unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!fm_import_holds(input, FM_IMPORT_HEAD, names[i]))
            return false;
    }
    return fm_import_begins(input, FM_IMPORT_HEAD, "{") &&
           !fm_import_holds(input, FM_IMPORT_HEAD, "\"ph\"");
}

/* --- .cpuprofile --- */

bool fm_import_is_cpuprofile(const struct fm_import_input *input)
{
    static const char *const names[] = {"\"nodes\"", "\"callFrame\"", "\"functionName\""};
    return is_object_of(input, names, G_N_ELEMENTS(names));
}

static bool read_cpu(const struct fm_import_input *input, struct fm_json_value top,
                     struct fm_v8 *v8, struct fm_stacks *stacks, GError **error)
{
    static const char *const names[] = {"nodes", "samples", "timeDeltas", "startTime", "endTime"};
    struct fm_json_value of[G_N_ELEMENTS(names)];
    struct fm_build *build = fm_stacks_build(stacks);
    double start, end, length = NAN;
    uint64_t samples;
    fm_json_members(top, names, G_N_ELEMENTS(names), of);
    if (!fm_json_is_array(of[0]))
        return fm_import_json_fail(input, top, error, "expected \"nodes\"");
    if (fm_json_number(of[3], &start) && fm_json_number(of[4], &end) && end >= start)
        length = end - start;
    fm_stacks_name_quanta(stacks, "samples", NULL);
    unsigned wall = fm_json_is_array(of[1]) && fm_json_is_array(of[2])
                        ? fm_stacks_add_scaled(stacks, "wall_time", "s", 1e-6)
                        : 0;
    if (!fm_v8_add_nodes(v8, of[0], error) || !fm_v8_add_samples(v8, of[1], of[2], error) ||
        !fm_v8_add(v8, FM_QUANTA, wall, length, &samples, error))
        return false;
    if (samples == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: no sample is in it", input->name);
        return false;
    }
    fm_build_header(build)->sample_count = fm_build_header(build)->sample_squares = samples;
    if (length > 0 && length < 1e15)
        fm_build_header(build)->duration_ns = (uint64_t)(length * 1000);
    fm_import_only_knows(build, 1u << FM_QUANTA);
    return true;
}

bool fm_import_cpuprofile(const struct fm_import_input *input, struct fm_profile **ret,
                          GError **error)
{
    struct fm_json_value top;
    if (!fm_import_json(input, &top, error))
        return false;
    struct fm_stacks *stacks = fm_stacks_new(input->program, "V8's CPU profile");
    struct fm_v8 *v8 = fm_v8_new(input, stacks);
    bool done = read_cpu(input, top, v8, stacks, error);
    fm_v8_free(v8);
    if (done)
        return fm_stacks_finish(stacks, ret, error);
    fm_stacks_free(stacks);
    return false;
}

/* --- .heapprofile --- */

bool fm_import_is_heapprofile(const struct fm_import_input *input)
{
    static const char *const names[] = {"\"head\"", "\"callFrame\"", "\"selfSize\""};
    return is_object_of(input, names, G_N_ELEMENTS(names));
}

struct heap {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    uint64_t sum;
};

/* Pushes a node and adds what is its own; *ret = its children. */
static bool enter(struct heap *in, struct fm_json_value value, struct fm_json_items *ret,
                  GError **error)
{
    static const char *const names[] = {"callFrame", "selfSize", "children"};
    struct fm_json_value of[G_N_ELEMENTS(names)];
    double size;
    fm_json_members(value, names, G_N_ELEMENTS(names), of);
    if (!fm_json_is_object(of[0]) || !fm_json_number(of[1], &size) || !(size >= 0) ||
        !(size < 0x1p62))
        return fm_import_json_fail(in->input, value, error,
                                   "expected a node with \"callFrame\" and \"selfSize\"");
    if (!fm_import_sum(&in->sum, (uint64_t)(size + 0.5)))
        return fm_import_json_fail(in->input, value, error, "more than 2^63 bytes together");
    fm_stacks_push(in->stacks, fm_v8_function(in->stacks, of[0]), 0);
    fm_stacks_add(in->stacks, FM_QUANTA, (uint64_t)(size + 0.5));
    *ret = fm_json_items(of[2]);
    return true;
}

/* Nodes stand within their callers; the JSON's own limit is that of their depth. */
static bool read_heap(struct heap *in, struct fm_json_value head, GError **error)
{
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(struct fm_json_items));
    struct fm_json_items items;
    struct fm_json_value node;
    if (!enter(in, head, &items, error))
        return false;
    g_array_append_val(open, items);
    while (open->len > 0) {
        fm_stacks_cut(in->stacks, open->len);
        if (!fm_json_next(&g_array_index(open, struct fm_json_items, open->len - 1), NULL, &node)) {
            g_array_set_size(open, open->len - 1);
            continue;
        }
        if (!enter(in, node, &items, error))
            return false;
        g_array_append_val(open, items);
    }
    return true;
}

bool fm_import_heapprofile(const struct fm_import_input *input, struct fm_profile **ret,
                           GError **error)
{
    struct fm_json_value top;
    if (!fm_import_json(input, &top, error))
        return false;
    struct heap in = {.input = input, .stacks = fm_stacks_new(input->program, "V8's heap profile")};
    fm_stacks_name_quanta(in.stacks, "bytes", "bytes");
    fm_build_nature(fm_stacks_build(in.stacks), FM_NATURE_HEAP_SAMPLED, 0);
    fm_build_note(fm_stacks_build(in.stacks),
                  "bytes are estimates of what was held at the end, from samples");
    fm_import_only_knows(fm_stacks_build(in.stacks), 1u << FM_QUANTA);
    if (read_heap(&in, fm_json_member(top, "head"), error))
        return fm_stacks_finish(in.stacks, ret, error);
    fm_stacks_free(in.stacks);
    return false;
}
