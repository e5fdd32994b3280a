/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/browser/v8.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "exchange/import/ids.h"

#define US_MAX 0x1p62

struct node {
    struct fm_json_value frame;
    uint64_t id;
    uint64_t hits; /* as the file counts them */
    uint64_t samples, wall;
    uint32_t parent;   /* index + 1; 0 = none */
    uint32_t function; /* + 1; 0 = not asked for yet */
};

struct sample {
    double time;          /* microseconds from the profile's beginning */
    uint32_t node, place; /* node: index + 1; 0 = it is not in the file */
};

struct fm_v8 {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    GArray *nodes, *samples;
    struct fm_import_ids *index; /* index + 1 */
    GArray *children;            /* struct child */
    double time;
    uint64_t lost;  /* samples whose node is not in the file */
    bool backwards; /* times are not ascending */
    struct fm_import_times times;
};

/* Children may stand in front of their parent, or behind it. */
struct child {
    uint64_t id;
    uint32_t parent;
    struct fm_json_value at;
};

struct fm_v8 *fm_v8_new(const struct fm_import_input *input, struct fm_stacks *stacks)
{
    struct fm_v8 *v8 = g_new0(struct fm_v8, 1);
    v8->input = input;
    v8->stacks = stacks;
    v8->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
    v8->samples = g_array_new(FALSE, FALSE, sizeof(struct sample));
    v8->children = g_array_new(FALSE, FALSE, sizeof(struct child));
    v8->index = fm_import_ids_new();
    return v8;
}

void fm_v8_free(struct fm_v8 *v8)
{
    if (v8 == NULL)
        return;
    g_array_unref(v8->nodes);
    g_array_unref(v8->samples);
    g_array_unref(v8->children);
    fm_import_ids_free(v8->index);
    g_free(v8);
}

static guint find(const struct fm_v8 *v8, uint64_t id)
{
    return fm_import_ids_find(v8->index, id);
}

static struct node *node_at(const struct fm_v8 *v8, guint index)
{
    return &g_array_index(v8->nodes, struct node, index);
}

/* --- nodes --- */

static bool add_node(struct fm_v8 *v8, struct fm_json_value value, GError **error)
{
    static const char *const names[] = {"id", "callFrame", "parent", "children", "hitCount"};
    struct fm_json_value of[G_N_ELEMENTS(names)], child;
    struct node node = {0};
    uint64_t parent;
    fm_json_members(value, names, G_N_ELEMENTS(names), of);
    if (!fm_json_whole(of[0], &node.id) || !fm_json_is_object(of[1]))
        return fm_import_json_fail(v8->input, value, error,
                                   "expected a node with \"id\" and \"callFrame\"");
    if (find(v8, node.id) != 0)
        return fm_import_json_fail(v8->input, value, error, "a second node %" G_GUINT64_FORMAT,
                                   node.id);
    node.frame = of[1];
    fm_json_whole(of[4], &node.hits);
    uint32_t index = v8->nodes->len;
    g_array_append_val(v8->nodes, node);
    fm_import_ids_put(v8->index, node.id, index + 1);
    if (fm_json_whole(of[2], &parent)) /* one that a trace has lost leaves the callers unknown */
        node_at(v8, index)->parent = find(v8, parent);
    struct fm_json_items children = fm_json_items(of[3]);
    while (fm_json_next(&children, NULL, &child)) {
        struct child found = {.parent = index, .at = child};
        if (!fm_json_whole(child, &found.id))
            return fm_import_json_fail(v8->input, child, error, "expected a node's number");
        g_array_append_val(v8->children, found);
    }
    return true;
}

bool fm_v8_add_nodes(struct fm_v8 *v8, struct fm_json_value nodes, GError **error)
{
    struct fm_json_items items = fm_json_items(nodes);
    struct fm_json_value node;
    while (fm_json_next(&items, NULL, &node)) {
        if (!add_node(v8, node, error))
            return false;
    }
    for (guint i = 0; i < v8->children->len; i++) {
        const struct child *child = &g_array_index(v8->children, struct child, i);
        guint index = find(v8, child->id);
        if (index == 0) /* left out of the file */
            continue;
        struct node *below = node_at(v8, index - 1);
        if (index - 1 == child->parent ||
            (below->parent != 0 && below->parent != child->parent + 1))
            return fm_import_json_fail(v8->input, child->at, error,
                                       "expected a node that is no other's child");
        below->parent = child->parent + 1;
    }
    g_array_set_size(v8->children, 0);
    return true;
}

/* --- samples --- */

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

bool fm_v8_add_samples(struct fm_v8 *v8, struct fm_json_value samples, struct fm_json_value deltas,
                       GError **error)
{
    struct fm_json_items items = fm_json_items(samples), times = fm_json_items(deltas);
    struct fm_json_value value, time = {NULL, NULL};
    while (fm_json_next(&items, NULL, &value)) {
        uint64_t id;
        double delta = 0;
        if (!fm_json_whole(value, &id))
            return fm_import_json_fail(v8->input, value, error, "expected a node's number");
        if (times.at != NULL &&
            (!fm_json_next(&times, NULL, &time) || !fm_json_number(time, &delta)))
            return fm_import_json_fail(v8->input, deltas, error,
                                       "expected a number for each sample");
        v8->time += delta;
        v8->backwards = v8->backwards || delta < 0;
        if (!(fabs(v8->time) < US_MAX))
            return fm_import_json_fail(v8->input, time, error, "a time beyond 2^62 microseconds");
        if (times.at != NULL) /* adding 0 makes -0 of it */
            fm_import_times_add(&v8->times, bits_of(v8->time + 0.0));
        struct sample sample = {v8->time, find(v8, id), v8->samples->len};
        g_array_append_val(v8->samples, sample);
    }
    return true;
}

static int compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->time < y->time || x->time > y->time)
        return x->time < y->time ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* A sample stands for the time until the next one. */
static bool count_samples(struct fm_v8 *v8, double end_us, GError **error)
{
    uint64_t sum = 0;
    if (v8->backwards)
        g_array_sort(v8->samples, compare_samples);
    for (guint i = 0; i < v8->samples->len; i++) {
        const struct sample *sample = &g_array_index(v8->samples, struct sample, i);
        bool is_last = i + 1 == v8->samples->len;
        double next = is_last ? end_us : g_array_index(v8->samples, struct sample, i + 1).time;
        double wall = next - sample->time;
        uint64_t whole = wall >= 0.5 ? (uint64_t)(wall + 0.5) : 0; /* not so of NAN, too */
        if (!(wall < US_MAX) && !isnan(wall))
            return fm_import_json_fail(v8->input, (struct fm_json_value){NULL, NULL}, error,
                                       "a time beyond 2^62 microseconds");
        if (!fm_import_sum(&sum, whole))
            return fm_import_json_fail(v8->input, (struct fm_json_value){NULL, NULL}, error,
                                       "times of more than 2^63 microseconds together");
        if (sample->node == 0) {
            v8->lost++;
            continue;
        }
        struct node *node = node_at(v8, sample->node - 1);
        node->samples++;
        node->wall += whole;
    }
    return true;
}

/* --- stacks --- */

uint32_t fm_v8_function(struct fm_stacks *stacks, struct fm_json_value call_frame)
{
    static const char *const names[] = {"functionName", "url", "lineNumber"};
    struct fm_json_value of[G_N_ELEMENTS(names)];
    uint64_t line;
    fm_json_members(call_frame, names, G_N_ELEMENTS(names), of);
    g_autofree char *name = fm_json_string(of[0]);
    g_autofree char *url = fm_json_string(of[1]);
    const char *told = name[0] == '\0' ? "(anonymous)" : name;
    if (!fm_json_whole(of[2], &line) || line >= UINT32_MAX || url[0] == '\0')
        line = UINT32_MAX; /* so that the next is 0 */
    return fm_stacks_function(stacks, &(struct fm_stacks_name){.name = told,
                                                               .size = strlen(told),
                                                               .unit = url,
                                                               .unit_size = strlen(url),
                                                               .file = url,
                                                               .file_size = strlen(url),
                                                               .line = (uint32_t)line + 1,
                                                               .begins = true});
}

static uint32_t function_of(struct fm_v8 *v8, struct node *node)
{
    if (node->function == 0)
        node->function = 1 + fm_v8_function(v8->stacks, node->frame);
    return node->function - 1;
}

static bool push(struct fm_v8 *v8, guint index, uint32_t base, GArray *path, GError **error)
{
    g_array_set_size(path, 0);
    for (guint at = index + 1; at != 0; at = node_at(v8, at - 1)->parent) {
        guint number = at - 1;
        g_array_append_val(path, number);
        if (path->len > v8->nodes->len)
            return fm_import_json_fail(v8->input, node_at(v8, index)->frame, error,
                                       "a node that stands below itself");
    }
    fm_stacks_cut(v8->stacks, base);
    for (guint i = path->len; i-- > 0;)
        fm_stacks_push(v8->stacks, function_of(v8, node_at(v8, g_array_index(path, guint, i))), 0);
    return true;
}

bool fm_v8_add(struct fm_v8 *v8, unsigned samples, unsigned wall, double end_us, uint64_t *ret,
               GError **error)
{
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(guint));
    uint32_t base = fm_stacks_depth(v8->stacks);
    bool counted = v8->samples->len > 0;
    *ret = 0;
    if (!count_samples(v8, end_us, error))
        return false;
    for (guint i = 0; i < v8->nodes->len; i++) {
        const struct node *node = node_at(v8, i);
        uint64_t count = counted ? node->samples : node->hits;
        if (count == 0)
            continue;
        if (!fm_import_sum(ret, count))
            return fm_import_json_fail(v8->input, node->frame, error,
                                       "more than 2^63 samples together");
        if (!push(v8, i, base, path, error))
            return false;
        fm_stacks_add(v8->stacks, samples, count);
        if (wall != 0)
            fm_stacks_add(v8->stacks, wall, node->wall);
    }
    fm_stacks_cut(v8->stacks, base);
    fm_import_times_tell(&v8->times, fm_stacks_build(v8->stacks));
    if (v8->lost > 0) {
        g_autofree char *note =
            g_strdup_printf("%" G_GUINT64_FORMAT " sample%s of functions that are not in the file",
                            (guint64)v8->lost, v8->lost == 1 ? " is" : "s are");
        fm_build_note(fm_stacks_build(v8->stacks), note);
    }
    return true;
}
