/* SPDX-License-Identifier: Apache-2.0 */
/* Text to tree, and back. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/filter/filter_internal.h"

struct parser {
    struct filter_scanner scanner;
    struct filter_tree *tree;
    enum fm_filter_of of;
    unsigned depth;
    GError **error;
};

static bool parse_or(struct parser *parser, unsigned *ret);

static bool fail(struct parser *parser, const char *expected)
{
    const char *at = parser->scanner.text + parser->scanner.at;
    g_autofree char *rest = g_utf8_substring(at, 0, MIN(g_utf8_strlen(at, -1), 24));
    for (char *c = rest; *c != '\0'; c++)
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    if (*at == '\0')
        g_set_error(parser->error, FM_ERROR, FM_ERROR_USAGE,
                    "filter: offset %zu: found the end, expected %s", parser->scanner.at, expected);
    else
        g_set_error(parser->error, FM_ERROR, FM_ERROR_USAGE,
                    "filter: offset %zu: found \"%s\", expected %s", parser->scanner.at, rest,
                    expected);
    return false;
}

static unsigned add_node(struct parser *parser, enum filter_node_kind kind, unsigned left,
                         unsigned right)
{
    g_assert(kind == NODE_TEST || left < parser->tree->nodes->len);
    struct filter_node node = {kind, left, right};
    g_array_append_val(parser->tree->nodes, node);
    return parser->tree->nodes->len - 1;
}

/* --- values --- */

static void read_number(struct filter_test *test)
{
    const char *text = test->text;
    char *end;
    test->literal = LITERAL_NONE;
    if (!g_ascii_isdigit(text[0]) && !(text[0] != '\0' && strchr("+-.", text[0]) != NULL &&
                                       (g_ascii_isdigit(text[1]) || text[1] == '.')))
        return;
    errno = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (text[0] == '-') {
        test->negative = g_ascii_strtoll(text, &end, 10);
        test->literal = LITERAL_NEGATIVE;
        if (*end == '\0' && errno == 0 && test->negative == 0)
            test->literal = LITERAL_UNSIGNED; /* -0; number is 0 */
    } else {
        test->number = g_ascii_strtoull(text, &end, hex ? 16 : 10);
        test->literal = LITERAL_UNSIGNED;
    }
    if (*end == '\0' && errno == 0)
        return;
    test->real = g_ascii_strtod(text, &end);
    test->literal = *end == '\0' && !hex && isfinite(test->real) ? LITERAL_REAL : LITERAL_NONE;
}

/* More digits are cut. */
bool fm_filter_read_time(const char *text, uint64_t *ret)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    uint64_t whole = 0, fraction = 0, fraction_unit = 1;
    if (!g_ascii_isdigit(*text))
        return false;
    for (; g_ascii_isdigit(*text); text++) {
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
            return false;
    }
    if (*text == '.') {
        text++;
        if (!g_ascii_isdigit(*text))
            return false;
        for (; g_ascii_isdigit(*text); text++) {
            if (fraction_unit < 1000000000) {
                fraction = fraction * 10 + (uint64_t)(*text - '0');
                fraction_unit *= 10;
            }
        }
    }
    while (*text == ' ')
        text++;
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(text, units[i].name) == 0)
            return !__builtin_mul_overflow(whole, units[i].ns, ret) &&
                   !__builtin_add_overflow(*ret, fraction * units[i].ns / fraction_unit, ret);
    }
    return false;
}

static bool read_word(struct parser *parser, struct filter_test *test)
{
    g_autoptr(GString) expected = g_string_new("one of");
    const char *word;
    for (unsigned i = 0; (word = fm_filter_word(test->field->source, i)) != NULL; i++) {
        if (g_ascii_strcasecmp(word, test->text) == 0) {
            test->number = i;
            g_free(test->text);
            test->text = g_strdup(word);
            return true;
        }
        g_string_append_printf(expected, "%s %s", i == 0 ? "" : ",", word);
    }
    return fail(parser, expected->str);
}

/* The value's meaning for the field; the scanner stands at the value. */
static bool read_literal(struct parser *parser, struct filter_test *test)
{
    enum fm_filter_type type = test->field->public.type;
    test->pattern = (type == FM_FILTER_TEXT || type == FM_FILTER_FIELD) &&
                    (test->op == OP_EQUAL || test->op == OP_UNEQUAL) &&
                    strchr(test->text, FILTER_ANY) != NULL;
    for (char *c = test->text; *c != '\0' && !test->pattern; c++)
        *c = *c == FILTER_ANY ? '*' : *c;
    switch (type) {
    case FM_FILTER_TEXT:
        return true;
    case FM_FILTER_FIELD:
        read_number(test);
        return true;
    case FM_FILTER_NUMBER:
        read_number(test);
        return test->literal != LITERAL_NONE || fail(parser, "a number");
    case FM_FILTER_TIME:
        return fm_filter_read_time(test->text, &test->number) ||
               fail(parser, "a time such as 1.5, 200ms, 3us or 17ns");
    case FM_FILTER_WORD:
        return read_word(parser, test);
    }
    return false;
}

/* --- tests --- */

void fm_filter_split_field(struct filter_test *test, const char *path)
{
    test->field_path = g_strdup(path);
    const char *dot = strchr(path, '.');
    if (dot == NULL)
        return;
    test->field_event = g_strndup(path, (size_t)(dot - path));
    test->field_event_rest = g_strdup(dot + 1);
    const char *second = strchr(dot + 1, '.');
    if (second == NULL)
        return;
    test->field_channel_event = g_strndup(dot + 1, (size_t)(second - dot - 1));
    test->field_rest = g_strdup(second + 1);
}

static bool parse_path(struct parser *parser, struct filter_test *test)
{
    size_t begin = parser->scanner.at;
    g_autofree char *path = fm_filter_scan_path(&parser->scanner);
    if (path != NULL)
        test->field = fm_filter_field_find(path);
    if (test->field != NULL && !fm_filter_field_is_of(test->field, parser->of)) {
        parser->scanner.at = begin;
        return fail(parser, parser->of == FM_FILTER_OF_EVENTS
                                ? "a field of events, such as event.name or lane.name"
                                : "a field of segments, such as segment.name, segment.duration or "
                                  "lane.name");
    }
    if (test->field == NULL) {
        parser->scanner.at = begin;
        return fail(parser, path == NULL || strchr(path, '.') == NULL
                                ? "a field such as event.name, event.field.NAME or state.value"
                                : "a field that exists: event.name, event.time, event.cpu, "
                                  "event.field.NAME, channel.name, trace.name, state.value, "
                                  "state.thread, lane.name...");
    }
    if (test->field->source == SOURCE_EVENT_FIELD)
        fm_filter_split_field(test, path + strlen("event.field."));
    return true;
}

static bool parse_operator(struct parser *parser, struct filter_test *test)
{
    size_t length;
    if (fm_filter_peek(&parser->scanner, &length, &test->op) != TOKEN_OPERATOR)
        return fail(parser, "one of = != < <= > >=");
    enum fm_filter_type type = test->field->public.type;
    bool ordered = test->op != OP_EQUAL && test->op != OP_UNEQUAL;
    if (ordered && (type == FM_FILTER_TEXT || type == FM_FILTER_WORD))
        return fail(parser, "= or !=, which are all that a text can be asked");
    parser->scanner.at += length;
    return true;
}

static bool parse_value(struct parser *parser, struct filter_test *test)
{
    size_t length;
    bool quoted, whole;
    enum filter_operator op;
    fm_filter_peek(&parser->scanner, &length, &op);
    size_t begin = parser->scanner.at;
    test->text = fm_filter_scan_value(&parser->scanner, &quoted, &whole);
    size_t end = parser->scanner.at;
    if (test->text == NULL)
        return fail(parser, "a value");
    if (!whole)
        return fail(parser, "the \" that ends the value");
    parser->scanner.at = begin;
    if (!read_literal(parser, test))
        return false;
    parser->scanner.at = end;
    return true;
}

void fm_filter_test_clear(void *data)
{
    struct filter_test *test = data;
    g_free(test->text);
    g_free(test->field_path);
    g_free(test->field_event);
    g_free(test->field_event_rest);
    g_free(test->field_channel_event);
    g_free(test->field_rest);
}

static bool parse_test(struct parser *parser, unsigned *ret)
{
    struct filter_test test = {0};
    if (parser->tree->tests->len >= FILTER_TESTS_MAX)
        return fail(parser, "at most 256 tests");
    if (!parse_path(parser, &test) || !parse_operator(parser, &test) ||
        !parse_value(parser, &test)) {
        fm_filter_test_clear(&test);
        return false;
    }
    g_array_append_val(parser->tree->tests, test);
    *ret = add_node(parser, NODE_TEST, parser->tree->tests->len - 1, 0);
    return true;
}

/* --- what joins them --- */

static bool parse_brackets(struct parser *parser, unsigned *ret)
{
    size_t length;
    enum filter_operator op;
    parser->scanner.at++;
    if (++parser->depth > FILTER_DEPTH_MAX)
        return fail(parser, "at most 200 brackets in each other");
    if (!parse_or(parser, ret))
        return false;
    if (fm_filter_peek(&parser->scanner, &length, &op) != TOKEN_CLOSE)
        return fail(parser, "one of & ^ | or the closing bracket");
    parser->scanner.at++;
    parser->depth--;
    return true;
}

static bool parse_not(struct parser *parser, unsigned *ret)
{
    size_t length;
    enum filter_operator op;
    bool negated = false;
    enum filter_token token;
    while ((token = fm_filter_peek(&parser->scanner, &length, &op)) == TOKEN_NOT) {
        negated = !negated;
        parser->scanner.at++;
    }
    if (!(token == TOKEN_OPEN ? parse_brackets(parser, ret) : parse_test(parser, ret)))
        return false;
    if (!negated)
        return true;
    const struct filter_node *operand =
        &g_array_index(parser->tree->nodes, struct filter_node, *ret);
    if (operand->kind == NODE_NOT) /* !(!a) */
        *ret = operand->left;
    else
        *ret = add_node(parser, NODE_NOT, *ret, 0);
    return true;
}

typedef bool parse_level(struct parser *parser, unsigned *ret);

static bool parse_chain(struct parser *parser, parse_level *operand, enum filter_token joiner,
                        enum filter_node_kind kind, unsigned *ret)
{
    size_t length;
    enum filter_operator op;
    if (!operand(parser, ret))
        return false;
    while (fm_filter_peek(&parser->scanner, &length, &op) == joiner) {
        unsigned right;
        parser->scanner.at += length;
        if (!operand(parser, &right))
            return false;
        *ret = add_node(parser, kind, *ret, right);
    }
    return true;
}

static bool parse_and(struct parser *parser, unsigned *ret)
{
    return parse_chain(parser, parse_not, TOKEN_AND, NODE_AND, ret);
}

static bool parse_xor(struct parser *parser, unsigned *ret)
{
    return parse_chain(parser, parse_and, TOKEN_XOR, NODE_XOR, ret);
}

static bool parse_or(struct parser *parser, unsigned *ret)
{
    return parse_chain(parser, parse_xor, TOKEN_OR, NODE_OR, ret);
}

struct filter_tree *fm_filter_tree_parse(const char *text, enum fm_filter_of of, GError **error)
{
    size_t length = strnlen(text, FILTER_TEXT_MAX + 1);
    const char *bad;
    if (length > FILTER_TEXT_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "filter: over 64 KiB of text");
        return NULL;
    }
    if (!g_utf8_validate(text, -1, &bad)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "filter: offset %zu: not UTF-8",
                    (size_t)(bad - text));
        return NULL;
    }
    struct filter_tree *tree = g_new0(struct filter_tree, 1);
    tree->tests = g_array_new(FALSE, FALSE, sizeof(struct filter_test));
    g_array_set_clear_func(tree->tests, fm_filter_test_clear);
    tree->nodes = g_array_new(FALSE, FALSE, sizeof(struct filter_node));
    struct parser parser = {.scanner = {text, 0}, .tree = tree, .of = of, .error = error};
    enum filter_operator op;
    if (fm_filter_peek(&parser.scanner, &length, &op) == TOKEN_END)
        return tree;
    bool good = parse_or(&parser, &tree->root);
    if (good && fm_filter_peek(&parser.scanner, &length, &op) != TOKEN_END)
        good = fail(&parser, "one of & ^ | or the end");
    if (!good)
        g_clear_pointer(&tree, fm_filter_tree_free);
    return tree;
}

void fm_filter_tree_free(struct filter_tree *tree)
{
    if (tree == NULL)
        return;
    g_array_unref(tree->tests);
    g_array_unref(tree->nodes);
    g_free(tree);
}

/* --- printing --- */

static void print_test(const struct filter_test *test, GString *out)
{
    g_string_append(out, test->field->public.path);
    if (test->field->source == SOURCE_EVENT_FIELD) {
        g_string_append_c(out, '.');
        fm_filter_print_path_part(out, test->field_path);
    }
    g_string_append_printf(out, " %s ", fm_filter_operators[test->op]);
    fm_filter_print_value(out, test->text, test->pattern);
}

static void print_node(const struct filter_tree *tree, unsigned index, GString *out)
{
    g_assert(index < tree->nodes->len);
    static const char *const joiners[] = {
        [NODE_AND] = " & ", [NODE_XOR] = " ^ ", [NODE_OR] = " | "};
    const struct filter_node *node = &g_array_index(tree->nodes, struct filter_node, index);
    if (node->kind == NODE_TEST) {
        print_test(&g_array_index(tree->tests, struct filter_test, node->left), out);
        return;
    }
    const unsigned operands[] = {node->left, node->right};
    unsigned count = node->kind == NODE_NOT ? 1 : 2;
    if (node->kind == NODE_NOT)
        g_string_append_c(out, '!');
    for (unsigned i = 0; i < count; i++) {
        enum filter_node_kind kind =
            g_array_index(tree->nodes, struct filter_node, operands[i]).kind;
        /* Kinds ascend as they bind less; the right operand of an equal one was in brackets. */
        bool brackets = kind > node->kind || (kind == node->kind && i == 1);
        if (i == 1)
            g_string_append(out, joiners[node->kind]);
        g_string_append(out, brackets ? "(" : "");
        print_node(tree, operands[i], out);
        g_string_append(out, brackets ? ")" : "");
    }
}

void fm_filter_tree_print(const struct filter_tree *tree, GString *out)
{
    if (tree->nodes->len > 0)
        print_node(tree, tree->root, out);
}
