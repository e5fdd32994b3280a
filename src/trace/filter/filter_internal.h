/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the parts of the filter share; seen by this folder only. */
#pragma once

#include "trace/filter/filter.h"

enum filter_source {
    SOURCE_EVENT_NAME,
    SOURCE_EVENT_SUBNAME,
    SOURCE_CHANNEL_NAME,
    SOURCE_TRACEFILE_NAME,
    SOURCE_TRACE_NAME, /* up to here: the same for all events of a type, so it is remembered */
    SOURCE_EVENT_FIELD,
    SOURCE_EVENT_CATEGORY,
    SOURCE_EVENT_TIME,
    SOURCE_EVENT_TSC,
    SOURCE_EVENT_CPU,
    SOURCE_EVENT_TARGET,
    SOURCE_STATE_THREAD, /* from here on a state is needed */
    SOURCE_STATE_PROCESS,
    SOURCE_STATE_PARENT,
    SOURCE_STATE_CPU,
    SOURCE_STATE_PROCESS_NAME,
    SOURCE_STATE_THREAD_BRAND,
    SOURCE_STATE_MODE,
    SOURCE_STATE_SUBMODE,
    SOURCE_STATE_STATUS,
    SOURCE_STATE_BORN,
    SOURCE_STATE_VALUE,
    SOURCE_STATE_CLASS,
    SOURCE_STATE_SINCE,
    SOURCE_STATE_DEPTH,
    SOURCE_LANE_NAME,
    SOURCE_LANE_KIND,
    SOURCE_LANE_KEY,
    SOURCE_LANE_PROCESS,
    SOURCE_SEGMENT_NAME, /* from here on of segments */
    SOURCE_SEGMENT_STATE,
    SOURCE_SEGMENT_START,
    SOURCE_SEGMENT_END,
    SOURCE_SEGMENT_DURATION,
    SOURCE_SEGMENT_SELF,
    SOURCE_SEGMENT_LEVEL,
};

struct filter_field {
    struct fm_filter_field public;
    enum filter_source source;
};
extern const struct filter_field fm_filter_table[];
extern const size_t fm_filter_table_count;
/* By path, not case-sensitive; "event.field." followed by anything is event.field. NULL = none. */
const struct filter_field *fm_filter_field_find(const char *path);
bool fm_filter_field_is_of(const struct filter_field *field, enum fm_filter_of of);
/* The words of a field of FM_FILTER_WORD; NULL past the last. */
const char *fm_filter_word(enum filter_source source, unsigned index);

enum filter_operator { OP_EQUAL, OP_UNEQUAL, OP_LESS, OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL };
extern const char *const fm_filter_operators[6];

enum filter_literal { LITERAL_NONE, LITERAL_UNSIGNED, LITERAL_NEGATIVE, LITERAL_REAL };

enum { FILTER_PARTS_MAX = 3 };

struct filter_test {
    const struct filter_field *field;
    enum filter_operator op;
    char *text;   /* the value */
    bool pattern; /* FILTER_ANY in it stands for any text */
    enum filter_literal literal;
    uint64_t number; /* also ns of a time, the index of a word */
    int64_t negative;
    double real;
    /* event.field.A.B.C: "A.B.C", "B.C" and "C", as the field of any event, of event A, of event B
     * in channel A. */
    char *field_path;
    char *field_event, *field_event_rest;   /* A; B.C */
    char *field_channel_event, *field_rest; /* B; C. The channel is field_event. */
};

enum filter_node_kind { NODE_TEST, NODE_NOT, NODE_AND, NODE_XOR, NODE_OR };

struct filter_node {
    enum filter_node_kind kind;
    unsigned left, right; /* nodes; of NODE_TEST left is the test */
};

enum { FILTER_TESTS_MAX = 256, FILTER_DEPTH_MAX = 200, FILTER_TEXT_MAX = 64 << 10 };

/* A parsed filter. */
struct filter_tree {
    GArray *tests; /* holds struct filter_test */
    GArray *nodes; /* holds struct filter_node */
    unsigned root; /* meaningless while there are no nodes */
};
const struct filter_tree *fm_filter_tree(const struct fm_filter *filter); /* borrowed */
struct filter_tree *fm_filter_tree_parse(const char *text, enum fm_filter_of of, GError **error);
void fm_filter_tree_free(struct filter_tree *tree);
void fm_filter_tree_print(const struct filter_tree *tree, GString *out);

/* Parts of a test of event.field: the path after that. */
void fm_filter_split_field(struct filter_test *test, const char *path);
void fm_filter_test_clear(void *test);

/* The scanner, shared with completion. */
enum filter_token {
    TOKEN_END,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_AND,
    TOKEN_XOR,
    TOKEN_OR,
    TOKEN_OPERATOR,
    TOKEN_OTHER,
};
struct filter_scanner {
    const char *text;
    size_t at;
};
/* Skips blanks; tells what comes and its length, without taking it. */
enum filter_token fm_filter_peek(struct filter_scanner *scanner, size_t *ret_length,
                                 enum filter_operator *ret_op);
/* A path at the scanner: names with dots; parts may be quoted. NULL when there is none. */
char *fm_filter_scan_path(struct filter_scanner *scanner);
/* Stands in values where * was not escaped: no byte of UTF-8. */
#define FILTER_ANY '\xff'
/* A value; NULL when there is none. *ret_whole: false when a quote is not closed. */
char *fm_filter_scan_value(struct filter_scanner *scanner, bool *ret_quoted, bool *ret_whole);
/* Appends it so that fm_filter_scan_value gives it back. pattern: with FILTER_ANY. */
void fm_filter_print_value(GString *out, const char *text, bool pattern);

/* The rest of a path after "event.field.", the same way. */
void fm_filter_print_path_part(GString *out, const char *text);

/* filter_event.c: the field of an event that a test or path of event.field means; NULL = it has
 * none. */
const struct fm_event_value *fm_filter_event_value(const struct filter_test *test,
                                                   const struct fm_tracefile_context *at,
                                                   struct fm_event_value *values);
/* By which of the test's paths an event of this type could have the field: bits. */
uint8_t fm_filter_possible_paths(const struct filter_test *test,
                                 const struct fm_tracefile_context *at);
bool fm_filter_test_event_field(const struct filter_test *test,
                                const struct fm_tracefile_context *at, uint8_t paths);
bool fm_filter_test_target(const struct filter_test *test, const struct fm_tracefile_context *at,
                           const struct fm_state *state);
/* Names are the same for all events of a type. NULL: it has none. */
const char *fm_filter_event_name(const struct fm_tracefile_context *at);
bool fm_filter_test_name(const struct filter_test *test, const struct fm_tracefile_context *at);
bool fm_filter_test_trace(const struct filter_test *test, const struct fm_trace *trace);

/* A text, or nothing when it is NULL. */
void fm_filter_value_text(struct fm_filter_value *ret, const char *text);
enum filter_memory { MEMORY_NONE, MEMORY_BY_VALUE, MEMORY_BY_LANE };
enum filter_memory fm_filter_memory(const struct filter_test *test);
bool fm_filter_test_segment(const struct filter_test *test,
                            const struct fm_filter_segment *segment);

/* filter_state.c: the value of a field of the state, */
void fm_filter_state_value(enum filter_source source, const struct fm_tracefile_context *at,
                           const struct fm_state *state, struct fm_filter_value *ret);
/* the test of a field of the state. */
bool fm_filter_test_state(const struct filter_test *test, const struct fm_tracefile_context *at,
                          const struct fm_state *state);
/* The thread that runs where the event happened; false when not known. */
bool fm_filter_running_thread(const struct fm_tracefile_context *at, const struct fm_state *state,
                              uint64_t *ret);

/* order: < 0, 0, > 0 of the value against the literal. */
bool fm_filter_holds(enum filter_operator op, int order);
bool fm_filter_compare_unsigned(const struct filter_test *test, uint64_t value);
bool fm_filter_compare_signed(const struct filter_test *test, int64_t value);
bool fm_filter_compare_text(const struct filter_test *test, const char *text, size_t length);
bool fm_filter_compare_value(const struct filter_test *test, const struct fm_event_value *value);
