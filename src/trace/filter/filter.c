/* SPDX-License-Identifier: Apache-2.0 */
/* A filter is evaluated as a short program: tests, jumps over what cannot change the answer, and a
 * stack of bits for ^. What depends on an event's type alone is found out once for each type. */
#include "trace/filter/filter.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "trace/filter/filter_internal.h"
#include "trace/clock/clock.h"

enum opcode { CODE_TEST, CODE_NOT, CODE_JUMP_IF_FALSE, CODE_JUMP_IF_TRUE, CODE_PUSH, CODE_XOR };

struct instruction {
    enum opcode code;
    unsigned operand; /* test, or the instruction to go on with */
};

enum { STACK_MAX = FILTER_TESTS_MAX + FILTER_DEPTH_MAX, FRONT_SLOTS = 64 };

/* Knowledge about a test for an event type; 0 = none yet. For event.field: which of its paths are
 * possible, as bits; the first always is. */
enum { KNOWN_FALSE = 1, KNOWN_TRUE = 2 };

struct known_types {
    uint64_t key;    /* trace and tracefile */
    GPtrArray *rows; /* by event id: a byte a test, or NULL */
};

struct fm_filter {
    struct filter_tree *tree;
    GArray *program;   /* holds struct instruction */
    GHashTable *known; /* holds struct known_types by its key */
    struct known_types *front[FRONT_SLOTS];
    GPtrArray *segments_known; /* GByteArray by test: KNOWN_* by value or by lane */
    enum fm_filter_of of;
    bool needs_state;
};

/* --- compiling --- */

static unsigned emit(struct fm_filter *filter, enum opcode code, unsigned operand)
{
    struct instruction instruction = {code, operand};
    g_array_append_val(filter->program, instruction);
    return filter->program->len - 1;
}

static void compile_node(struct fm_filter *filter, unsigned index)
{
    g_assert(index < filter->tree->nodes->len);
    const struct filter_node *node = &g_array_index(filter->tree->nodes, struct filter_node, index);
    unsigned jump;
    switch (node->kind) {
    case NODE_TEST:
        emit(filter, CODE_TEST, node->left);
        break;
    case NODE_NOT:
        compile_node(filter, node->left);
        emit(filter, CODE_NOT, 0);
        break;
    case NODE_AND:
    case NODE_OR:
        compile_node(filter, node->left);
        jump = emit(filter, node->kind == NODE_AND ? CODE_JUMP_IF_FALSE : CODE_JUMP_IF_TRUE, 0);
        compile_node(filter, node->right);
        g_array_index(filter->program, struct instruction, jump).operand = filter->program->len;
        break;
    case NODE_XOR:
        compile_node(filter, node->left);
        emit(filter, CODE_PUSH, 0);
        compile_node(filter, node->right);
        emit(filter, CODE_XOR, 0);
        break;
    }
}

static void free_known(void *data)
{
    struct known_types *known = data;
    g_ptr_array_unref(known->rows);
    g_free(known);
}

static void compile(struct fm_filter *filter)
{
    g_array_set_size(filter->program, 0);
    g_hash_table_remove_all(filter->known);
    memset(filter->front, 0, sizeof filter->front);
    g_ptr_array_set_size(filter->segments_known, 0);
    for (guint i = 0; i < filter->tree->tests->len; i++)
        g_ptr_array_add(filter->segments_known, g_byte_array_new());
    if (filter->tree->nodes->len > 0)
        compile_node(filter, filter->tree->root);
    filter->needs_state = false;
    for (guint i = 0; i < filter->tree->tests->len; i++) {
        enum filter_source source =
            g_array_index(filter->tree->tests, struct filter_test, i).field->source;
        filter->needs_state |= source >= SOURCE_STATE_THREAD && source < SOURCE_SEGMENT_NAME;
    }
}

static void free_bytes(void *bytes)
{
    g_byte_array_unref(bytes);
}

static struct fm_filter *new_filter(const char *text, enum fm_filter_of of, GError **error)
{
    struct filter_tree *tree = fm_filter_tree_parse(text, of, error);
    if (tree == NULL)
        return NULL;
    struct fm_filter *filter = g_new0(struct fm_filter, 1);
    filter->tree = tree;
    filter->program = g_array_new(FALSE, FALSE, sizeof(struct instruction));
    filter->known = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, free_known);
    filter->segments_known = g_ptr_array_new_with_free_func(free_bytes);
    filter->of = of;
    compile(filter);
    return filter;
}

struct fm_filter *fm_filter_new(const char *text, GError **error)
{
    return new_filter(text, FM_FILTER_OF_EVENTS, error);
}

struct fm_filter *fm_filter_new_of_segments(const char *text, GError **error)
{
    return new_filter(text, FM_FILTER_OF_SEGMENTS, error);
}

void fm_filter_free(struct fm_filter *filter)
{
    if (filter == NULL)
        return;
    fm_filter_tree_free(filter->tree);
    g_array_unref(filter->program);
    g_hash_table_unref(filter->known);
    g_ptr_array_unref(filter->segments_known);
    g_free(filter);
}

char *fm_filter_print(const struct fm_filter *filter)
{
    GString *out = g_string_new(NULL);
    fm_filter_tree_print(filter->tree, out);
    return g_string_free(out, FALSE);
}

bool fm_filter_add(struct fm_filter *filter, const char *text, GError **error)
{
    /* On its own first: "a) | (b" is no filter, but would be one between brackets. */
    struct filter_tree *alone = fm_filter_tree_parse(text, filter->of, error);
    if (alone == NULL)
        return false;
    bool nothing = alone->nodes->len == 0;
    fm_filter_tree_free(alone);
    if (nothing)
        return true;
    g_autofree char *old = fm_filter_print(filter);
    g_autofree char *both =
        old[0] == '\0' ? g_strdup(text) : g_strdup_printf("(%s) & (%s)", old, text);
    struct filter_tree *tree = fm_filter_tree_parse(both, filter->of, error);
    if (tree == NULL)
        return false;
    fm_filter_tree_free(filter->tree);
    filter->tree = tree;
    compile(filter);
    return true;
}

const struct filter_tree *fm_filter_tree(const struct fm_filter *filter)
{
    return filter->tree;
}

bool fm_filter_needs_self(const struct fm_filter *filter)
{
    for (guint i = 0; i < filter->tree->tests->len; i++) {
        if (g_array_index(filter->tree->tests, struct filter_test, i).field->source ==
            SOURCE_SEGMENT_SELF)
            return true;
    }
    return false;
}

bool fm_filter_needs_state(const struct fm_filter *filter)
{
    return filter->needs_state;
}

/* --- what is known of a type --- */

static struct known_types *known_types(struct fm_filter *filter,
                                       const struct fm_tracefile *tracefile)
{
    uint64_t key = tracefile->trace->serial << 16 | (tracefile->index & 0xFFFF);
    struct known_types **front = &filter->front[(key ^ key >> 16) % FRONT_SLOTS];
    if (*front != NULL && (*front)->key == key)
        return *front;
    struct known_types *known = g_hash_table_lookup(filter->known, &key);
    if (known == NULL) {
        known = g_new(struct known_types, 1);
        known->key = key;
        known->rows = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(filter->known, &known->key, known);
    }
    *front = known;
    return known;
}

/* A byte a test; NULL for ids beyond what is kept. */
static uint8_t *known_row(struct fm_filter *filter, const struct fm_tracefile_context *at)
{
    uint32_t id = at->event.id;
    if (id > UINT16_MAX || at->tracefile->index > UINT16_MAX)
        return NULL;
    GPtrArray *rows = known_types(filter, at->tracefile)->rows;
    if (id >= rows->len)
        g_ptr_array_set_size(rows, (gint)id + 1);
    if (rows->pdata[id] == NULL) {
        if (fm_filter_event_name(at) == NULL)
            return NULL; /* may get its name later */
        rows->pdata[id] = g_malloc0(filter->tree->tests->len);
    }
    return rows->pdata[id];
}

/* --- evaluating --- */

static bool test_by_type(const struct filter_test *test, const struct fm_tracefile_context *at,
                         uint8_t *known)
{
    if (test->field->source == SOURCE_EVENT_FIELD) {
        uint8_t paths = known != NULL && *known != 0 ? *known : fm_filter_possible_paths(test, at);
        if (known != NULL)
            *known = paths;
        return fm_filter_test_event_field(test, at, paths);
    }
    if (known == NULL)
        return fm_filter_test_name(test, at);
    if (*known == 0)
        *known = fm_filter_test_name(test, at) ? KNOWN_TRUE : KNOWN_FALSE;
    return *known == KNOWN_TRUE;
}

static bool run_test(struct fm_filter *filter, unsigned index,
                     const struct fm_tracefile_context *at, const struct fm_state *state,
                     uint8_t **row)
{
    g_assert(index < filter->tree->tests->len);
    const struct filter_test *test = &g_array_index(filter->tree->tests, struct filter_test, index);
    enum filter_source source = test->field->source;
    if (source <= SOURCE_EVENT_FIELD) {
        if (*row == NULL)
            *row = known_row(filter, at);
        return test_by_type(test, at, *row == NULL ? NULL : *row + index);
    }
    switch (source) {
    case SOURCE_EVENT_CATEGORY:
        return true;
    case SOURCE_EVENT_TIME:
        return fm_filter_holds(test->op,
                               (at->event.time > test->number) - (at->event.time < test->number));
    case SOURCE_EVENT_TSC:
        return fm_filter_compare_unsigned(test, fm_trace_recorded_time(at));
    case SOURCE_EVENT_CPU:
        return at->event.cpu >= 0 && fm_filter_compare_unsigned(test, (uint64_t)at->event.cpu);
    case SOURCE_EVENT_TARGET:
        return fm_filter_test_target(test, at, state);
    default:
        return state == NULL || fm_filter_test_state(test, at, state);
    }
}

struct event_subject {
    const struct fm_tracefile_context *at;
    const struct fm_state *state;
    uint8_t *row;
};

static inline bool test_event(struct fm_filter *filter, unsigned test, void *subject)
{
    struct event_subject *event = subject;
    return run_test(filter, test, event->at, event->state, &event->row);
}

/* A test by the segment's value or lane is run once for each of them. */
static inline bool test_segment(struct fm_filter *filter, unsigned index, void *subject)
{
    const struct fm_filter_segment *segment = subject;
    const struct filter_test *test = &g_array_index(filter->tree->tests, struct filter_test, index);
    enum filter_memory memory = fm_filter_memory(test);
    if (memory == MEMORY_NONE)
        return fm_filter_test_segment(test, segment);
    GByteArray *known = filter->segments_known->pdata[index];
    uint32_t place = memory == MEMORY_BY_VALUE ? segment->value : segment->lane_index;
    if (place >= known->len) {
        guint before = known->len;
        g_byte_array_set_size(known, MAX(place + 1, 2 * before));
        memset(known->data + before, 0, known->len - before);
    }
    if (known->data[place] == 0)
        known->data[place] = fm_filter_test_segment(test, segment) ? KNOWN_TRUE : KNOWN_FALSE;
    return known->data[place] == KNOWN_TRUE;
}

typedef bool run_one(struct fm_filter *filter, unsigned test, void *subject);

static inline __attribute__((always_inline)) bool evaluate(struct fm_filter *filter, run_one *run,
                                                           void *subject)
{
    const struct instruction *program = (const struct instruction *)(void *)filter->program->data;
    unsigned length = filter->program->len;
    bool stack[STACK_MAX];
    unsigned depth = 0;
    bool truth = true;
    for (unsigned place = 0; place < length; place++) {
        unsigned operand = program[place].operand;
        switch (program[place].code) {
        case CODE_TEST:
            truth = run(filter, operand, subject);
            break;
        case CODE_NOT:
            truth = !truth;
            break;
        case CODE_JUMP_IF_FALSE:
            if (!truth)
                place = operand - 1;
            break;
        case CODE_JUMP_IF_TRUE:
            if (truth)
                place = operand - 1;
            break;
        case CODE_PUSH:
            g_assert(depth < STACK_MAX);
            stack[depth++] = truth;
            break;
        case CODE_XOR:
            g_assert(depth > 0);
            truth = truth != stack[--depth];
            break;
        }
    }
    return truth;
}

bool fm_filter_accepts(struct fm_filter *filter, const struct fm_tracefile_context *at,
                       const struct fm_state *state)
{
    struct event_subject subject = {at, state, NULL};
    return evaluate(filter, test_event, &subject);
}

bool fm_filter_accepts_segment(struct fm_filter *filter, const struct fm_filter_segment *segment)
{
    return evaluate(filter, test_segment, (void *)(uintptr_t)segment);
}
