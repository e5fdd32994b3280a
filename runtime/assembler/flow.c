/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler puts markers in pairs around each body, then copies, shares and moves blocks. The
 * state of a place is the stack of open bodies. Places reached on two paths have equal stacks:
 * entries of equal depth are then one body (union-find over markers). When the stacks differ, the
 * code never returns and is shared by several bodies; it stays undecided. */
#include "flow.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

#define NONE FM_SCAN_NONE
#define UNVISITED (UINT32_MAX - 1)

/* An open body; state = the innermost, NONE = none is open. */
struct body {
    uint32_t marker, around, depth;
};

struct step {
    uint32_t label, state;
};

struct steps {
    struct step *list;
    uint32_t count, room, next;
};

struct flow {
    const struct fm_scan *scan;
    bool failed;
    struct body *bodies;
    uint32_t body_count, body_room;
    uint32_t *state_of;        /* label -> state */
    uint32_t *class_of;        /* marker -> marker */
    bool *reached, *undecided; /* by marker, by class */
    uint32_t *depth;           /* by marker: depth of its body */
    bool *any_table;           /* function: its indirect jumps lead to any of its tables */
    bool *comes_back;          /* item: an exit or a return can be reached from it */
    struct steps certain, doubtful;
};

static void add_step(struct flow *flow, struct steps *steps, uint32_t label, uint32_t state)
{
    if (steps->count == steps->room) {
        uint32_t room = steps->room == 0 ? 256 : steps->room * 2;
        struct step *more = realloc(steps->list, room * sizeof *more);
        if (more == NULL) {
            flow->failed = true;
            return;
        }
        steps->list = more;
        steps->room = room;
    }
    FM_AS_ASSERT(steps->next <= steps->count);
    steps->list[steps->count++] = (struct step){label, state};
}

static uint32_t class_of(struct flow *flow, uint32_t marker)
{
    FM_AS_ASSERT(marker < flow->scan->marker_count);
    while (flow->class_of[marker] != marker) {
        flow->class_of[marker] = flow->class_of[flow->class_of[marker]];
        marker = flow->class_of[marker];
    }
    return marker;
}

static void unite(struct flow *flow, uint32_t left, uint32_t right)
{
    left = class_of(flow, left);
    right = class_of(flow, right);
    if (left == right)
        return;
    flow->class_of[right] = left;
    flow->undecided[left] |= flow->undecided[right];
}

/* Down to, not including, the state until. */
static void give_up(struct flow *flow, uint32_t state, uint32_t until)
{
    for (; state != until && state != NONE; state = flow->bodies[state].around)
        flow->undecided[class_of(flow, flow->bodies[state].marker)] = true;
}

static uint32_t depth_of(const struct flow *flow, uint32_t state)
{
    FM_AS_ASSERT(state == NONE || state < flow->body_count);
    return state == NONE ? 0 : flow->bodies[state].depth + 1;
}

/* A register may hold the address of any function. */
static bool may_be_one(const struct flow *flow, uint32_t left, uint32_t right)
{
    const struct fm_marker *a = &flow->scan->markers[left], *b = &flow->scan->markers[right];
    if (a->operand.at[0] != '$' || b->operand.at[0] != '$')
        return true;
    return a->operand.size == b->operand.size &&
           memcmp(a->operand.at, b->operand.at, a->operand.size) == 0;
}

/* Whether the bodies from here outwards are the same, apart from their instances. */
static bool may_be_equal(const struct flow *flow, uint32_t left, uint32_t right)
{
    if (depth_of(flow, left) != depth_of(flow, right))
        return false;
    while (left != right) {
        if (!may_be_one(flow, flow->bodies[left].marker, flow->bodies[right].marker))
            return false;
        left = flow->bodies[left].around;
        right = flow->bodies[right].around;
    }
    return true;
}

static void unite_all(struct flow *flow, uint32_t left, uint32_t right)
{
    while (left != right) {
        unite(flow, flow->bodies[left].marker, flow->bodies[right].marker);
        left = flow->bodies[left].around;
        right = flow->bodies[right].around;
    }
}

static uint32_t outer(const struct flow *flow, uint32_t state, uint32_t depth)
{
    while (depth_of(flow, state) > depth)
        state = flow->bodies[state].around;
    FM_AS_ASSERT(depth_of(flow, state) <= depth);
    return state;
}

/* Two paths to one place. */
static void meet(struct flow *flow, uint32_t left, uint32_t right)
{
    uint32_t common = depth_of(flow, left), other = depth_of(flow, right);
    common = other < common ? other : common;
    while (!may_be_equal(flow, outer(flow, left, common), outer(flow, right, common)))
        common--;
    uint32_t left_rest = outer(flow, left, common), right_rest = outer(flow, right, common);
    unite_all(flow, left_rest, right_rest);
    give_up(flow, left, left_rest);
    give_up(flow, right, right_rest);
}

/* The label of a block that begins with the next items, NONE if there is none. */
static uint32_t block_at(const struct fm_scan *scan, uint32_t index)
{
    FM_AS_ASSERT(index == NONE || index < scan->item_count);
    for (; index != NONE && scan->items[index].kind == FM_ITEM_LABEL;
         index = scan->items[index].next)
        if (scan->labels[scan->items[index].value].is_start)
            return scan->items[index].value;
    return NONE;
}

static uint32_t enter(struct flow *flow, uint32_t marker, uint32_t state)
{
    if (flow->body_count == flow->body_room) {
        uint32_t room = flow->body_room == 0 ? 256 : flow->body_room * 2;
        struct body *more = realloc(flow->bodies, room * sizeof *more);
        if (more == NULL) {
            flow->failed = true;
            return state;
        }
        flow->bodies = more;
        flow->body_room = room;
    }
    FM_AS_ASSERT(flow->body_count < flow->body_room);
    flow->depth[marker] = depth_of(flow, state);
    flow->bodies[flow->body_count] = (struct body){marker, state, flow->depth[marker]};
    return flow->body_count++;
}

static uint32_t leave(struct flow *flow, uint32_t marker, uint32_t state)
{
    uint32_t found = state;
    while (found != NONE && !may_be_one(flow, flow->bodies[found].marker, marker))
        found = flow->bodies[found].around;
    if (found == NONE) {
        flow->undecided[class_of(flow, marker)] = true;
        return state;
    }
    FM_AS_ASSERT(depth_of(flow, found) <= depth_of(flow, state));
    give_up(flow, state, found);
    flow->depth[marker] = flow->bodies[found].depth;
    unite(flow, flow->bodies[found].marker, marker);
    return flow->bodies[found].around;
}

static void go(struct flow *flow, uint32_t label, uint32_t state)
{
    const struct fm_label *to = &flow->scan->labels[label];
    /* To another function, or out of the text. */
    if (to->item == NONE || to->is_entry)
        return;
    if (flow->state_of[label] == UNVISITED) {
        flow->state_of[label] = state;
        add_step(flow, &flow->certain, label, state);
    } else if (flow->comes_back[to->item]) {
        meet(flow, flow->state_of[label], state);
    }
}

static void go_by_table(struct flow *flow, const struct fm_item *item, uint32_t state)
{
    const struct fm_scan *scan = flow->scan;
    bool any = item->value == NONE || scan->labels[item->value].table == NONE ||
               (item->function != NONE && flow->any_table[item->function]);
    if (!any) {
        const struct fm_label *table = &scan->labels[item->value];
        for (uint32_t i = 0; i < table->table_entries; i++)
            go(flow, scan->entries[table->table + i], state);
        return;
    }
    for (uint32_t i = 0; i < scan->entry_count; i++)
        if (scan->labels[scan->entries[i]].function == item->function)
            go(flow, scan->entries[i], state);
}

static void call(struct flow *flow, const struct fm_item *item, uint32_t state)
{
    if (item->value < flow->scan->region_count && flow->scan->regions[item->value].landing != NONE)
        go(flow, flow->scan->regions[item->value].landing, state);
}

/* Processes an item; returns whether the next one is reached with *state. */
static bool pass(struct flow *flow, const struct fm_item *item, uint32_t *state)
{
    uint32_t block;
    switch (item->kind) {
    case FM_ITEM_LABEL:
        if (flow->scan->labels[item->value].is_start)
            go(flow, item->value, *state);
        return !flow->scan->labels[item->value].is_start;
    case FM_ITEM_MARKER:
        flow->reached[item->value] = true;
        *state = flow->scan->markers[item->value].enter ? enter(flow, item->value, *state)
                                                        : leave(flow, item->value, *state);
        return true;
    case FM_ITEM_CALL:
        call(flow, item, *state);
        if (item->ends)
            return false;
        /* It may never return; the block after it then belongs to another body. */
        block = block_at(flow->scan, item->next);
        if (block != NONE)
            add_step(flow, &flow->doubtful, block, *state);
        return block == NONE;
    case FM_ITEM_RETURN:
        give_up(flow, *state, NONE);
        return false;
    case FM_ITEM_STOP:
        return false;
    case FM_ITEM_JUMP:
    case FM_ITEM_BRANCH:
        go(flow, item->value, *state);
        return item->kind == FM_ITEM_BRANCH;
    case FM_ITEM_TABLE:
        go_by_table(flow, item, *state);
        return false;
    }
    return false;
}

/* --- code that never returns: several bodies may share it --- */

static bool label_comes_back(const struct flow *flow, uint32_t label)
{
    return label != NONE && flow->scan->labels[label].item != NONE &&
           flow->comes_back[flow->scan->labels[label].item];
}

static bool table_comes_back(const struct flow *flow, const struct fm_item *item)
{
    const struct fm_scan *scan = flow->scan;
    bool known = item->value != NONE && scan->labels[item->value].table != NONE;
    uint32_t first = known ? scan->labels[item->value].table : 0;
    uint32_t count = known ? scan->labels[item->value].table_entries : scan->entry_count;
    for (uint32_t i = first; i < first + count; i++)
        if (label_comes_back(flow, scan->entries[i]))
            return true;
    return false;
}

static bool item_comes_back(const struct flow *flow, const struct fm_item *item)
{
    const struct fm_scan *scan = flow->scan;
    bool next = item->next != NONE && flow->comes_back[item->next];
    switch (item->kind) {
    case FM_ITEM_LABEL:
        return next;
    case FM_ITEM_MARKER:
        return next || !scan->markers[item->value].enter;
    case FM_ITEM_CALL:
        /* If a block of its own follows, the call may be one that never returns. */
        return (next && !item->ends && block_at(scan, item->next) == NONE) ||
               (item->value < scan->region_count &&
                label_comes_back(flow, scan->regions[item->value].landing));
    case FM_ITEM_RETURN:
        return true;
    case FM_ITEM_STOP:
        return false;
    case FM_ITEM_JUMP:
    case FM_ITEM_BRANCH:
        return label_comes_back(flow, item->value) || (next && item->kind == FM_ITEM_BRANCH);
    case FM_ITEM_TABLE:
        return table_comes_back(flow, item);
    }
    return true;
}

static void find_what_comes_back(struct flow *flow)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = flow->scan->item_count; i > 0; i--) {
            if (flow->comes_back[i - 1] || !item_comes_back(flow, &flow->scan->items[i - 1]))
                continue;
            flow->comes_back[i - 1] = true;
            changed = true;
        }
    }
}

static void walk(struct flow *flow, uint32_t index, uint32_t state)
{
    while (index != NONE && !flow->failed) {
        FM_AS_ASSERT(index < flow->scan->item_count);
        const struct fm_item *item = &flow->scan->items[index];
        if (!pass(flow, item, &state))
            return;
        index = item->next;
    }
}

static void run_certain(struct flow *flow)
{
    while (flow->certain.count > 0 && !flow->failed) {
        struct step step = flow->certain.list[--flow->certain.count];
        walk(flow, flow->scan->items[flow->scan->labels[step.label].item].next, step.state);
    }
}

static void run(struct flow *flow)
{
    const struct fm_scan *scan = flow->scan;
    for (uint32_t i = 0; i < scan->label_count; i++) {
        flow->state_of[i] = UNVISITED;
        if (scan->labels[i].is_entry && scan->labels[i].item != NONE)
            add_step(flow, &flow->certain, i, NONE);
    }
    for (uint32_t i = 0; i < scan->marker_count; i++) {
        flow->class_of[i] = i;
        flow->reached[i] = flow->undecided[i] = false;
        flow->depth[i] = 0;
    }
    flow->body_count = flow->doubtful.count = flow->doubtful.next = 0;
    run_certain(flow);
    while (flow->doubtful.next < flow->doubtful.count && !flow->failed) {
        struct step step = flow->doubtful.list[flow->doubtful.next++];
        if (scan->labels[step.label].is_entry)
            continue;
        if (flow->state_of[step.label] == UNVISITED ||
            may_be_equal(flow, flow->state_of[step.label], step.state))
            go(flow, step.label, step.state);
        run_certain(flow);
    }
}

/* If labels of a table are never reached, a jump by table was assigned to another table: then all
 * jumps of that function may lead to all its tables. Returns whether there was one. */
static bool widen_tables(struct flow *flow)
{
    const struct fm_scan *scan = flow->scan;
    bool found = false;
    for (uint32_t i = 0; i < scan->entry_count; i++) {
        const struct fm_label *label = &scan->labels[scan->entries[i]];
        if (label->item == NONE || label->function == NONE || flow->any_table[label->function] ||
            flow->state_of[scan->entries[i]] != UNVISITED)
            continue;
        flow->any_table[label->function] = true;
        found = true;
    }
    return found;
}

/* Facts about all markers of a function. */
struct known {
    bool has_own;   /* an own body, seen first */
    bool unsettled; /* some marker, by the flow */
    bool blind;     /* such a one, of an unknown function */
    bool torn;      /* such a one, possibly the function's own body */
    bool kept;      /* bodies in it keep their hooks: they need its frame */
};

static bool is_settled(struct flow *flow, uint32_t marker)
{
    return flow->reached[marker] && !flow->undecided[class_of(flow, marker)];
}

static void know(struct flow *flow, struct known *known)
{
    const struct fm_scan *scan = flow->scan;
    for (uint32_t i = 0; i < scan->marker_count; i++) {
        const struct fm_marker *marker = &scan->markers[i];
        if (marker->function == NONE)
            continue;
        struct known *of = &known[marker->function];
        bool settled = is_settled(flow, i);
        of->unsettled |= !settled;
        of->blind |= !settled && marker->symbol.size == 0;
        of->torn |= !settled && (marker->names_function || marker->symbol.size == 0);
        if (settled && flow->depth[i] == 0)
            of->has_own |= marker->enter && marker->names_function;
        else
            of->kept |= marker->full;
    }
}

static enum fm_verdict judge(struct flow *flow, const struct known *known, uint32_t index)
{
    FM_AS_ASSERT(index < flow->scan->marker_count);
    const struct fm_marker *marker = &flow->scan->markers[index];
    if (marker->function == NONE)
        return FM_VERDICT_UNKNOWN;
    const struct known *of = &known[marker->function];
    bool settled = is_settled(flow, index);
    bool own = settled && flow->depth[index] == 0 &&
               (marker->names_function || marker->symbol.size == 0 || !of->has_own);
    bool calls = of->unsettled || of->kept || flow->scan->calls[marker->function];
    if (own)
        return !marker->names_function ? FM_VERDICT_UNKNOWN
               : calls                 ? FM_VERDICT_OWN
                                       : FM_VERDICT_LEAF;
    if (marker->full)
        return settled && of->has_own ? FM_VERDICT_INLINED : FM_VERDICT_UNKNOWN;
    /* A body's hooks are treated together: none may be among the unsettled ones that remain. The
     * name alone shows that a body is not the function's own. */
    if (of->has_own ? of->blind || (of->torn && marker->names_function) : of->unsettled)
        return FM_VERDICT_UNKNOWN;
    return FM_VERDICT_DROP;
}

static bool prepare(struct flow *flow)
{
    size_t labels = flow->scan->label_count + 1u, markers = flow->scan->marker_count + 1u;
    flow->state_of = calloc(labels, sizeof *flow->state_of);
    flow->class_of = calloc(markers, sizeof *flow->class_of);
    flow->depth = calloc(markers, sizeof *flow->depth);
    flow->reached = calloc(markers * 2, sizeof *flow->reached);
    flow->any_table = calloc(flow->scan->function_count + 1u, sizeof *flow->any_table);
    flow->comes_back = calloc(flow->scan->item_count + 1u, sizeof *flow->comes_back);
    if (flow->state_of == NULL || flow->class_of == NULL || flow->depth == NULL ||
        flow->reached == NULL || flow->any_table == NULL || flow->comes_back == NULL)
        return false;
    flow->undecided = flow->reached + markers;
    return true;
}

enum fm_verdict *fm_flow_decide(const struct fm_scan *scan)
{
    struct flow flow = {.scan = scan};
    enum fm_verdict *verdicts = calloc(scan->marker_count + 1u, sizeof *verdicts);
    struct known *known = calloc(scan->function_count + 1u, sizeof *known);
    bool ok = verdicts != NULL && known != NULL && prepare(&flow);
    if (ok && !scan->odd) {
        find_what_comes_back(&flow);
        do
            run(&flow);
        while (!flow.failed && widen_tables(&flow));
        ok = !flow.failed;
        if (ok)
            know(&flow, known);
        for (uint32_t i = 0; ok && i < scan->marker_count; i++)
            verdicts[i] = judge(&flow, known, i);
    }
    free(flow.bodies);
    free(flow.state_of);
    free(flow.class_of);
    free(flow.depth);
    free(flow.reached);
    free(flow.any_table);
    free(flow.comes_back);
    free(flow.certain.list);
    free(flow.doubtful.list);
    free(known);
    if (ok)
        return verdicts;
    free(verdicts);
    return NULL;
}
