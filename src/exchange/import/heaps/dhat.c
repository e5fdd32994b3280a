/* SPDX-License-Identifier: Apache-2.0 */
/* valgrind's DHAT, and files of the same form: JSON, in which program points have a stack and sums
 * of the blocks that were allocated there. Every block is recorded. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"
#include "exchange/import/heaps/valgrind.h"

#define VERSION 2

/* Members of a program point. "mb", the most bytes of one point, stands for other moments in each:
 * sums of it say nothing. */
enum {
    BYTES,
    BLOCKS,
    LIFETIMES,
    AT_PEAK,
    BLOCKS_AT_PEAK,
    AT_END,
    BLOCKS_AT_END,
    READ,
    WRITTEN,
    STACK,
    MEMBERS
};
static const char *const members[MEMBERS] = {
    [BYTES] = "tb",           [BLOCKS] = "tbk", [LIFETIMES] = "tl",      [AT_PEAK] = "gb",
    [BLOCKS_AT_PEAK] = "gbk", [AT_END] = "eb",  [BLOCKS_AT_END] = "ebk", [READ] = "rb",
    [WRITTEN] = "wb",         [STACK] = "fs"};

/* An entry of "ftbl". */
struct frame {
    struct fm_json_value text;
    uint32_t function, line;
    bool read;
};

struct dhat {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    GArray *frames;             /* struct frame */
    unsigned measures[MEMBERS]; /* 0 = not recorded */
    bool recorded[MEMBERS];
    uint64_t sums[MEMBERS];
};

bool fm_import_is_dhat(const struct fm_import_input *input)
{
    const size_t head = 4096;
    return fm_import_begins(input, head, "{") &&
           fm_import_holds(input, head, "\"dhatFileVersion\"");
}

static void find_frames(struct dhat *in, struct fm_json_value table)
{
    struct fm_json_items items = fm_json_items(table);
    struct frame frame = {.read = false};
    while (fm_json_next(&items, NULL, &frame.text))
        g_array_append_val(in->frames, frame);
}

/* Program points share their frames, so each is taken apart once. */
static const struct frame *frame_at(struct dhat *in, guint index)
{
    struct frame *frame = &g_array_index(in->frames, struct frame, index);
    if (!frame->read) {
        g_autofree char *text = fm_json_string(frame->text);
        frame->function = fm_import_valgrind_frame(in->stacks, text, strlen(text), &frame->line);
        frame->read = true;
    }
    return frame;
}

/* "bytes allocated", of its own kind in the modes that are not of the heap. */
static void choose_measures(struct dhat *in, struct fm_json_value top)
{
    g_autofree char *mode = fm_json_string(fm_json_member(top, "mode"));
    g_autofree char *time = fm_json_string(fm_json_member(top, "tu"));
    g_autofree char *unit = fm_json_string(fm_json_member(top, "bu"));
    struct fm_json_value value = fm_json_member(top, "bklt");
    bool lifetimes = value.at != NULL && *value.at == 't', accesses;
    uint32_t known = 0;
    value = fm_json_member(top, "bkacc");
    accesses = value.at != NULL && *value.at == 't';
    in->recorded[BYTES] = in->recorded[BLOCKS] = true;
    if (strcmp(mode, "heap") == 0 || strcmp(mode, "rust-heap") == 0) {
        in->measures[BYTES] = FM_WORDS;
        in->measures[BLOCKS] = FM_ALLOCS;
        known = 1u << FM_WORDS | 1u << FM_ALLOCS;
    } else {
        bool copies = strcmp(mode, "copy") == 0;
        in->measures[BYTES] = FM_QUANTA;
        known = 1u << FM_QUANTA;
        fm_stacks_name_quanta(in->stacks, copies ? "copied_bytes" : "units",
                              copies            ? "bytes"
                              : unit[0] == '\0' ? NULL
                                                : unit);
        in->measures[BLOCKS] =
            fm_stacks_add_measure(in->stacks, copies ? "copies" : "events", NULL);
    }
    if (lifetimes) {
        in->measures[AT_PEAK] = fm_stacks_add_measure(in->stacks, "peak_bytes", "bytes");
        in->measures[BLOCKS_AT_PEAK] = fm_stacks_add_measure(in->stacks, "peak_blocks", "blocks");
        in->measures[AT_END] = fm_stacks_add_measure(in->stacks, "live_bytes", "bytes");
        in->measures[BLOCKS_AT_END] = fm_stacks_add_measure(in->stacks, "live_blocks", "blocks");
        in->measures[LIFETIMES] =
            fm_stacks_add_measure(in->stacks, "block_lifetimes", time[0] == '\0' ? NULL : time);
    }
    if (accesses) {
        in->measures[READ] = fm_stacks_add_measure(in->stacks, "read_bytes", "bytes");
        in->measures[WRITTEN] = fm_stacks_add_measure(in->stacks, "written_bytes", "bytes");
    }
    for (unsigned i = LIFETIMES; i < STACK; i++)
        in->recorded[i] = in->measures[i] != 0;
    fm_import_only_knows(fm_stacks_build(in->stacks), known);
}

/* The innermost frame stands first, and frame 0 is the root. */
static bool push_stack(struct dhat *in, struct fm_json_value stack, GError **error)
{
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(guint));
    struct fm_json_items items = fm_json_items(stack);
    struct fm_json_value frame;
    uint32_t line = 0;
    while (fm_json_next(&items, NULL, &frame)) {
        uint64_t number;
        if (!fm_json_whole(frame, &number) || number >= in->frames->len)
            return fm_import_json_fail(in->input, frame, error, "a frame that is none of \"ftbl\"");
        guint index = (guint)number;
        g_array_append_val(frames, index);
    }
    fm_stacks_cut(in->stacks, 0);
    for (guint i = frames->len; i-- > 0;) {
        guint index = g_array_index(frames, guint, i);
        if (index == 0)
            continue;
        const struct frame *at = frame_at(in, index);
        fm_stacks_push(in->stacks, at->function, line);
        line = at->line;
    }
    if (fm_stacks_depth(in->stacks) == 0)
        fm_stacks_push(in->stacks, fm_import_valgrind_frame(in->stacks, "???", 3, &line), 0);
    return true;
}

static bool read_point(struct dhat *in, struct fm_json_value point, GError **error)
{
    struct fm_json_value of[MEMBERS];
    fm_json_members(point, members, MEMBERS, of);
    if (!fm_json_is_array(of[STACK]))
        return fm_import_json_fail(in->input, point, error, "expected a program point with \"fs\"");
    if (!push_stack(in, of[STACK], error))
        return false;
    for (unsigned i = 0; i < STACK; i++) {
        uint64_t value;
        if (!in->recorded[i])
            continue;
        if (!fm_json_whole(of[i], &value) || !fm_import_sum(&in->sums[i], value))
            return fm_import_json_fail(
                in->input, point, error,
                "expected a whole number as \"%s\", and less than 2^63 together", members[i]);
        fm_stacks_add(in->stacks, in->measures[i], value);
    }
    return true;
}

static bool read_all(struct dhat *in, struct fm_json_value top, GError **error)
{
    static const char *const names[] = {"dhatFileVersion", "pps", "ftbl"};
    struct fm_json_value of[G_N_ELEMENTS(names)], point;
    uint64_t version = 0;
    fm_json_members(top, names, G_N_ELEMENTS(names), of);
    if (!fm_json_whole(of[0], &version) || version != VERSION)
        return fm_import_json_fail(
            in->input, of[0], error, "%s",
            version > VERSION ? "a newer version of DHAT's file than 2: a newer fathom may read it"
                              : "expected version 2 of DHAT's file");
    if (!fm_json_is_array(of[1]) || !fm_json_is_array(of[2]))
        return fm_import_json_fail(in->input, top, error, "expected \"pps\" and \"ftbl\"");
    find_frames(in, of[2]);
    choose_measures(in, top);
    struct fm_json_items points = fm_json_items(of[1]);
    bool any = false;
    for (; fm_json_next(&points, NULL, &point); any = true) {
        if (!read_point(in, point, error))
            return false;
    }
    if (any) {
        fm_build_header(fm_stacks_build(in->stacks))->peak_bytes = in->sums[AT_PEAK];
        return true;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "%s: nothing is recorded in it: it has no program point", in->input->name);
    return false;
}

bool fm_import_dhat(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct dhat in = {.input = input};
    struct fm_json_value top;
    if (!fm_import_json(input, &top, error))
        return false;
    in.stacks = fm_stacks_new(input->program, "DHAT's file");
    in.frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
    bool done = read_all(&in, top, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    g_array_unref(in.frames);
    return done;
}
