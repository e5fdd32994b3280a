/* SPDX-License-Identifier: Apache-2.0 */
/* valgrind's massif: what was allocated at one moment, as a tree of the allocating functions and
 * below them their callers. The tree of the peak is read, else that of the last snapshot that has
 * one. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"
#include "exchange/import/heaps/valgrind.h"

#define TREE "heap_tree="

/* The tree that is read. */
struct snapshot {
    struct fm_import_text tree; /* from its first line on */
    uint64_t number, heap_bytes;
    bool found, peak;
};

/* A line of the tree whose callers are being read. */
struct node {
    const char *text; /* the frame's */
    size_t size;
    uint64_t bytes, of_callers;
    uint64_t callers; /* still to come */
};

struct massif {
    struct fm_import_text text;
    struct fm_stacks *stacks;
    GArray *nodes; /* struct node: the line and those above it */
    uint64_t sum;
};

bool fm_import_is_massif(const struct fm_import_input *input)
{
    return input->size > 6 && memcmp(input->bytes, "desc: ", 6) == 0 &&
           fm_import_holds(input, FM_IMPORT_HEAD, "\ntime_unit: ");
}

/* "snapshot=12": the number. */
static bool is_number(const char *line, size_t size, const char *name, uint64_t *ret)
{
    size_t length = strlen(name);
    return size > length && memcmp(line, name, length) == 0 &&
           fm_import_number(line + length, size - length, ret);
}

static void take_line(const struct massif *in, const char *line, size_t size,
                      struct snapshot *current, struct snapshot *ret)
{
    if (is_number(line, size, "snapshot=", &current->number))
        current->heap_bytes = 0;
    is_number(line, size, "mem_heap_B=", &current->heap_bytes);
    if (size <= sizeof TREE - 1 || memcmp(line, TREE, sizeof TREE - 1) != 0)
        return;
    current->peak = size == strlen(TREE "peak") && memcmp(line, TREE "peak", size) == 0;
    bool detailed = size == strlen(TREE "detailed") && memcmp(line, TREE "detailed", size) == 0;
    if (!current->peak && (!detailed || ret->peak))
        return;
    *ret = *current;
    ret->found = true;
    ret->tree = in->text;
}

static bool find_tree(struct massif *in, struct snapshot *ret, GError **error)
{
    struct snapshot current = {0};
    const char *line;
    size_t size;
    while (fm_import_text_next(&in->text, &line, &size))
        take_line(in, line, size, &current, ret);
    if (ret->found)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: no snapshot in it has a tree",
                in->text.name);
    return false;
}

/* --- the tree --- */

/* "  n1: 18000 0x109244: keep (prog.c:9)", of that depth. */
static bool parse(const struct massif *in, const char *line, size_t size, size_t depth,
                  struct node *ret, GError **error)
{
    const char *end = line + size, *at = line;
    *ret = (struct node){0};
    while (at < end && *at == ' ')
        at++;
    const char *colon = memmem(at, (size_t)(end - at), ": ", 2);
    const char *blank = colon == NULL ? NULL : memchr(colon + 2, ' ', (size_t)(end - colon - 2));
    if ((size_t)(at - line) == depth && blank != NULL && *at == 'n' &&
        fm_import_number(at + 1, (size_t)(colon - at - 1), &ret->callers) &&
        fm_import_number(colon + 2, (size_t)(blank - colon - 2), &ret->bytes)) {
        ret->text = blank + 1;
        ret->size = (size_t)(end - ret->text);
        return true;
    }
    return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                               "expected \"nCALLERS: BYTES FUNCTION\" behind %zu blanks", depth);
}

/* *line: where its caller calls it; becomes where this one calls. */
static void push_frame(struct massif *in, const char *text, size_t size, uint32_t *line)
{
    uint32_t called_at = *line;
    uint32_t function = fm_import_valgrind_frame(in->stacks, text, size, line);
    fm_stacks_push(in->stacks, function, called_at);
}

/* The callers stand below, so the outermost frame is the last; the first line is no function. What
 * massif left out ("in 3 places, all below massif's threshold") stands for such a caller. */
static void add_stack(struct massif *in, uint64_t bytes)
{
    uint32_t line = 0;
    fm_stacks_cut(in->stacks, 0);
    for (guint i = in->nodes->len; i-- > 1;) {
        const struct node *node = &g_array_index(in->nodes, struct node, i);
        if (node->size > 3 && memcmp(node->text, "in ", 3) == 0)
            fm_stacks_push(
                in->stacks,
                fm_stacks_function(
                    in->stacks, &(struct fm_stacks_name){.name = node->text, .size = node->size}),
                0);
        else
            push_frame(in, node->text, node->size, &line);
    }
    if (in->nodes->len == 1)
        push_frame(in, "???", 3, &line);
    fm_stacks_add(in->stacks, FM_QUANTA, bytes);
}

/* A line whose callers are all read: what they do not have in sum nobody is told to have caused. */
static bool close_nodes(struct massif *in, GError **error)
{
    while (in->nodes->len > 0) {
        struct node *node = &g_array_index(in->nodes, struct node, in->nodes->len - 1);
        if (node->callers > 0)
            return true;
        if (node->of_callers > node->bytes)
            return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                       "the callers up to here have %" G_GUINT64_FORMAT
                                       " of %" G_GUINT64_FORMAT " bytes",
                                       node->of_callers, node->bytes);
        uint64_t bytes = node->bytes, rest = bytes - node->of_callers;
        if (rest > 0 || node->of_callers == 0)
            add_stack(in, rest);
        g_array_set_size(in->nodes, in->nodes->len - 1);
        if (in->nodes->len > 0) {
            node = &g_array_index(in->nodes, struct node, in->nodes->len - 1);
            node->callers--;
            if (!fm_import_sum(&node->of_callers, bytes))
                return fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error,
                                           "more than 2^63 bytes up to here");
        }
    }
    return true;
}

static bool read_tree(struct massif *in, const struct snapshot *snapshot, GError **error)
{
    const char *line;
    size_t size;
    in->text = snapshot->tree;
    do {
        struct node node;
        if (!fm_import_text_next(&in->text, &line, &size))
            return fm_import_text_fail(&in->text, FM_ERROR_TRUNCATED, error,
                                       "unexpected end of file within a tree");
        if (!parse(in, line, size, in->nodes->len, &node, error))
            return false;
        if (in->nodes->len > FM_STACKS_DEPTH_MAX)
            return fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error,
                                       "a tree of more than %u levels", FM_STACKS_DEPTH_MAX);
        g_array_append_val(in->nodes, node);
        if (in->nodes->len == 1)
            in->sum = node.bytes;
        if (!close_nodes(in, error))
            return false;
    } while (in->nodes->len > 0);
    return true;
}

static bool read_all(struct massif *in, GError **error)
{
    struct snapshot snapshot = {0};
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (!find_tree(in, &snapshot, error))
        return false;
    fm_stacks_name_quanta(in->stacks, "bytes", "bytes");
    if (!read_tree(in, &snapshot, error))
        return false;
    g_autofree char *note = g_strdup_printf(
        "bytes are those of snapshot %" G_GUINT64_FORMAT ", %s", snapshot.number,
        snapshot.peak ? "the peak" : "the last with a tree: the file has none of the peak");
    fm_build_note(build, note);
    fm_build_header(build)->peak_bytes = snapshot.peak ? in->sum : 0;
    fm_import_only_knows(build, 1u << FM_QUANTA);
    return true;
}

bool fm_import_massif(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct massif in = {.stacks = fm_stacks_new(input->program, "massif's file")};
    fm_import_text_begin(&in.text, input);
    in.nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
    bool done = read_all(&in, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    g_array_unref(in.nodes);
    return done;
}
