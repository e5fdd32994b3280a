/* SPDX-License-Identifier: Apache-2.0 */
/* Parses queries. Strict: every part must be present, known and within its limits. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "query/query_internal.h"

#define SHOWN_BYTES_MAX 64
#define PIECES_MAX 12

/* A part of the text, not terminated. */
struct piece {
    const char *at;
    size_t size;
};

/* The piece for a message: short, valid UTF-8, no control characters. */
static char *piece_show(struct piece piece)
{
    bool cut = piece.size > SHOWN_BYTES_MAX;
    char *shown = g_utf8_make_valid(piece.at, (gssize)MIN(piece.size, SHOWN_BYTES_MAX));

    for (char *c = shown; *c; c++) {
        if (g_ascii_iscntrl(*c))
            *c = '?';
    }
    if (cut) {
        char *longer = g_strconcat(shown, "...", NULL);
        g_free(shown);
        shown = longer;
    }
    return shown;
}

static bool fail(GError **error, const char *part, struct piece found, const char *expected)
{
    g_autofree char *shown = piece_show(found);

    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s: found \"%s\", expected %s", part, shown,
                expected);
    return false;
}

static bool piece_is(struct piece piece, const char *word)
{
    return strlen(word) == piece.size && memcmp(piece.at, word, piece.size) == 0;
}

/* Splits at each separator; piece number max takes the rest. */
static unsigned split(struct piece text, char separator, struct piece *pieces, unsigned max)
{
    unsigned count = 0;

    for (;;) {
        const char *end = count + 1 < max ? memchr(text.at, separator, text.size) : NULL;
        if (!end) {
            pieces[count++] = text;
            return count;
        }
        pieces[count++] = (struct piece){text.at, (size_t)(end - text.at)};
        text.size -= (size_t)(end - text.at) + 1;
        text.at = end + 1;
    }
}

static bool parse_number(struct piece piece, const char *part, const char *what, uint32_t min,
                         uint32_t max, uint32_t *ret, GError **error)
{
    uint64_t value = 0;
    bool good = piece.size > 0;

    for (size_t i = 0; good && i < piece.size; i++) {
        good = g_ascii_isdigit(piece.at[i]);
        value = value * 10 + (uint64_t)(piece.at[i] - '0');
        good = good && value <= max;
    }
    if (!good || value < min) {
        g_autofree char *expected = g_strdup_printf("%s from %u to %u", what, min, max);
        return fail(error, part, piece, expected);
    }
    *ret = (uint32_t)value;
    return true;
}

static bool fail_word(struct piece piece, const char *part, const struct fm_words *words,
                      GError **error)
{
    g_autoptr(GString) expected = g_string_new("one of");
    for (unsigned i = 0; i < words->count; i++)
        g_string_append_printf(expected, "%s %s", i ? "," : "", words->words[i]);
    return fail(error, part, piece, expected->str);
}

static bool parse_word(struct piece piece, const char *part, const struct fm_words *words,
                       unsigned *ret, GError **error)
{
    for (unsigned i = 0; i < words->count; i++) {
        if (piece_is(piece, words->words[i])) {
            *ret = i;
            return true;
        }
    }
    return fail_word(piece, part, words, error);
}

static bool parse_flag(struct piece piece, const char *part, const struct fm_words *words,
                       bool *ret, GError **error)
{
    unsigned value;

    if (!parse_word(piece, part, words, &value, error))
        return false;
    *ret = value != 0;
    return true;
}

static bool parse_threshold(struct piece piece, double *ret, GError **error)
{
    char text[64];
    bool good = piece.size > 0 && piece.size < sizeof text;

    /* Accepts only what %g prints: strtod would also accept blanks, signs, hexadecimal and
     * names. */
    for (size_t i = 0; good && i < piece.size; i++)
        good = g_ascii_isdigit(piece.at[i]) || (i > 0 && strchr("eE+-", piece.at[i])) ||
               piece.at[i] == '.';
    if (good) {
        char *end;

        memcpy(text, piece.at, piece.size);
        text[piece.size] = '\0';
        double value = g_ascii_strtod(text, &end);
        if (end == text + piece.size && isfinite(value)) {
            *ret = value;
            return true;
        }
    }
    return fail(error, "threshold", piece, "a finite number that is not negative, such as 0.1");
}

static bool parse_limit(struct piece piece, struct fm_command *command, GError **error)
{
    struct piece ranks[2], rest = {piece.at + 1, piece.size - 1};

    if (piece.size > 0 && (piece.at[0] == 'p' || piece.at[0] == 'v')) {
        command->limit = piece.at[0] == 'p' ? FM_LIMIT_PERCENT : FM_LIMIT_VALUE;
        return parse_threshold(rest, &command->threshold, error);
    }
    if (split(piece, '-', ranks, 2) != 2)
        return fail(error, "limit", piece, "A-B, pPERCENT or vVALUE");
    command->limit = FM_LIMIT_RANK;
    return parse_number(ranks[0], "limit", "a first rank", 1, UINT32_MAX, &command->first, error) &&
           parse_number(ranks[1], "limit", "a last rank", command->first, UINT32_MAX,
                        &command->last, error);
}

/* Three pieces: KIND, DESC, SCOPE. */
static bool parse_cost_order(const struct piece *pieces, struct fm_cost_order *ret, GError **error)
{
    unsigned kind;

    if (!parse_word(pieces[0], "cost", &fm_words_cost, &kind, error) ||
        !parse_flag(pieces[1], "descendants", &fm_words_descendants, &ret->with_descendants,
                    error) ||
        !parse_flag(pieces[2], "scope", &fm_words_scope, &ret->per_call, error))
        return false;
    ret->kind = (enum fm_cost_kind)kind;
    return true;
}

static bool parse_top(struct piece rest, struct fm_command *command, GError **error)
{
    struct piece pieces[5];

    if (split(rest, '/', pieces, 5) != 4)
        return fail(error, "top_procs", rest, "LIMIT/KIND/DESC/SCOPE");
    return parse_limit(pieces[0], command, error) &&
           parse_cost_order(pieces + 1, &command->top, error);
}

/* A number, or a name: any text that is not digits only. encoded: its slashes are written %2F. */
static bool parse_subject(struct piece piece, const char *part, const char *what, bool encoded,
                          struct fm_command *command, GError **error)
{
    bool digits = true;

    for (size_t i = 0; digits && i < piece.size; i++)
        digits = g_ascii_isdigit(piece.at[i]);
    if (piece.size == 0) {
        g_autofree char *expected = g_strdup_printf("%s or a name", what);
        return fail(error, part, piece, expected);
    }
    if (digits)
        return parse_number(piece, part, what, 0, UINT32_MAX, &command->number, error);
    g_autofree char *name = g_strndup(piece.at, piece.size);
    command->name = encoded ? fm_query_percent_decode(name, error) : g_steal_pointer(&name);
    return command->name != NULL;
}

static bool parse_flag_word(struct piece word, struct fm_command *command, GError **error)
{
    struct piece rest = {word.at + 1, word.size - 1};

    for (unsigned i = 0; i < fm_words_flame_flags.count; i++) {
        if (piece_is(word, fm_words_flame_flags.words[i])) {
            command->flags |= 1u << i;
            return true;
        }
    }
    if (word.size > 1 && word.at[0] == 'w')
        return parse_number(rest, "flags", "a width", FM_QUERY_WIDTH_MIN, FM_QUERY_WIDTH_MAX,
                            &command->width, error);
    return fail(error, "flags", word, "_ or some of open, shut, own, wPIXELS joined by \"-\"");
}

static bool parse_flags(struct piece flags, struct fm_command *command, GError **error)
{
    struct piece words[6];
    unsigned count = split(flags, '-', words, 6);

    if (piece_is(flags, "_"))
        return true;
    for (unsigned i = 0; i < count; i++) {
        if (!parse_flag_word(words[i], command, error))
            return false;
    }
    return true;
}

static bool parse_measure(struct piece piece, struct fm_command *command, GError **error)
{
    g_autofree char *word = g_strndup(piece.at, piece.size);

    return fm_tree_measure_find(word, &command->measure) ||
           fail_word(piece, "measure", &fm_words_measure, error);
}

static bool parse_rows(struct piece piece, struct fm_command *command, GError **error)
{
    return parse_number(piece, "rows", "a number", 1, FM_QUERY_ROWS_MAX, &command->last, error);
}

/* MEASURE/DESC/ROWS. */
static bool parse_functions(struct piece rest, struct fm_command *command, GError **error)
{
    struct piece pieces[3];

    if (split(rest, '/', pieces, 3) != 3)
        return fail(error, "functions", rest, "MEASURE/self/ROWS or MEASURE/both/ROWS");
    return parse_measure(pieces[0], command, error) &&
           parse_flag(pieces[1], "descendants", &fm_words_descendants,
                      &command->top.with_descendants, error) &&
           parse_rows(pieces[2], command, error);
}

/* ROWS, or MEASURE/ROWS. */
static bool parse_lines(struct piece rest, struct fm_command *command, GError **error)
{
    struct piece pieces[2];

    command->measure = FM_QUERY_BY_TIME;
    if (split(rest, '/', pieces, 2) != 2)
        return parse_rows(rest, command, error);
    if (!parse_measure(pieces[0], command, error))
        return false;
    if (!fm_query_has_lines(command->measure))
        return fail(error, "lines", pieces[0], "time, bytes, allocs, live or peak");
    return parse_rows(pieces[1], command, error);
}

/* LEVELS, or LEVELS-pPERCENT. */
static bool parse_levels(struct piece piece, struct fm_command *command, GError **error)
{
    struct piece parts[2] = {{0}};

    if (split(piece, '-', parts, 2) == 2) {
        if (parts[1].size < 2 || parts[1].at[0] != 'p')
            return fail(error, "minimum share", parts[1], "p and a percentage");
        parts[1].at++;
        parts[1].size--;
        if (!parse_threshold(parts[1], &command->threshold, error))
            return false;
    }
    return parse_number(parts[0], "levels", "a number", 1, FM_QUERY_DEPTH_MAX, &command->depth,
                        error);
}

/* MEASURE/DIR/DEPTH/FOCUS or MEASURE/DIR/FLAGS/FOCUS. */
static bool parse_view(struct piece rest, struct fm_command *command, GError **error)
{
    struct piece pieces[4];
    bool tree = command->id == FM_CMD_TREE;

    if (split(rest, '/', pieces, 4) != 4 || pieces[3].size == 0)
        return fail(error, fm_command_forms[command->id].name, rest,
                    tree ? "MEASURE/down or up/LEVELS/FOCUS, such as time/down/3/all"
                         : "MEASURE/down or up/FLAGS/FOCUS, such as time/down/_/all");
    if (!parse_measure(pieces[0], command, error) ||
        !parse_flag(pieces[1], "direction", &fm_words_direction, &command->up, error) ||
        !(tree ? parse_levels(pieces[2], command, error) : parse_flags(pieces[2], command, error)))
        return false;
    command->name = g_strndup(pieces[3].at, pieces[3].size);
    return true;
}

/* MEASURE/FOCUS. */
static bool parse_graph(struct piece rest, struct fm_command *command, GError **error)
{
    struct piece pieces[2];

    if (split(rest, '/', pieces, 2) != 2 || pieces[1].size == 0)
        return fail(error, fm_command_forms[command->id].name, rest,
                    "MEASURE/FOCUS, such as calls/proc/main");
    if (!parse_measure(pieces[0], command, error))
        return false;
    command->name = g_strndup(pieces[1].at, pieces[1].size);
    return true;
}

static bool parse_memory(struct piece piece, struct fm_command *command, GError **error)
{
    unsigned side = 0;

    if (!parse_word(piece, "memory", &fm_words_memory_side, &side, error))
        return false;
    command->memory = (enum fm_query_memory)side;
    return true;
}

static bool parse_callers(struct piece rest, struct fm_command *command, GError **error)
{
    struct piece pieces[6];
    unsigned group = 0;

    if (split(rest, '/', pieces, 6) != 5)
        return fail(error, "proc_callers", rest, "PROCEDURE/GROUP/BUNCH/SIZE/CONTOUR");
    if (!parse_subject(pieces[0], "proc_callers", "a procedure number", true, command, error) ||
        !parse_word(pieces[1], "group", &fm_words_group, &group, error) ||
        !parse_number(pieces[2], "bunch", "a page number", 1, UINT32_MAX, &command->bunch, error) ||
        !parse_number(pieces[3], "size", "a number of rows", 1, FM_QUERY_BUNCH_SIZE_MAX,
                      &command->bunch_size, error) ||
        !parse_flag(pieces[4], "contour", &fm_words_contour, &command->contour, error))
        return false;
    command->group = (enum fm_callers_group)group;
    return true;
}

static bool parse_root(struct piece rest, struct fm_command *command, GError **error)
{
    if (piece_is(rest, "no"))
        return true;
    command->has_percent = true;
    return parse_number(rest, "root", "\"no\" or a percentage", 0, FM_QUERY_PERCENT_MAX,
                        &command->percent, error);
}

/* Whether the text is two numbers; function names cannot have this form. */
static bool is_page_of(struct piece rest)
{
    const char *slash = memchr(rest.at, '/', rest.size);
    for (size_t i = 0; slash != NULL && i < rest.size; i++)
        if (!g_ascii_isdigit(rest.at[i]) && rest.at + i != slash)
            return false;
    return slash != NULL && slash > rest.at && slash + 1 < rest.at + rest.size;
}

static bool parse_page(struct piece rest, struct fm_command *command, GError **error)
{
    const struct fm_command_form *form = &fm_command_forms[command->id];
    struct fm_number_form number = fm_command_number(form);
    struct piece pieces[3];
    split(rest, '/', pieces, 3);
    return parse_number(pieces[0], form->name, number.words, number.min, number.max,
                        &command->number, error) &&
           parse_number(pieces[1], form->name, "a page number", 1, UINT32_MAX, &command->bunch,
                        error);
}

static bool parse_numbered(struct piece rest, struct fm_command *command, GError **error)
{
    const struct fm_command_form *form = &fm_command_forms[command->id];
    struct fm_number_form number = fm_command_number(form);

    if (form->paged && is_page_of(rest))
        return parse_page(rest, command, error);
    if (form->named)
        return parse_subject(rest, form->name, number.words, false, command, error);
    return parse_number(rest, form->name, number.words, number.min, number.max, &command->number,
                        error);
}

/* Parses the text after the command's word and slash. */
static bool parse_arguments(struct piece rest, struct fm_command *command, GError **error)
{
    const struct fm_command_form *form = &fm_command_forms[command->id];

    switch (form->shape) {
    case FM_SHAPE_PLAIN:
        return fail(error, form->name, rest, "nothing after the command");
    case FM_SHAPE_NUMBER:
        return parse_numbered(rest, command, error);
    case FM_SHAPE_ROOT:
        return parse_root(rest, command, error);
    case FM_SHAPE_CALLERS:
        return parse_callers(rest, command, error);
    case FM_SHAPE_MODULE:
        command->module = g_strndup(rest.at, rest.size);
        return true;
    case FM_SHAPE_TOP:
        return parse_top(rest, command, error);
    case FM_SHAPE_TEXT:
        command->name = g_strndup(rest.at, rest.size);
        return true;
    case FM_SHAPE_TREE:
    case FM_SHAPE_FLAME:
        return parse_view(rest, command, error);
    case FM_SHAPE_MEASURE:
        return parse_measure(rest, command, error);
    case FM_SHAPE_GRAPH:
        return parse_graph(rest, command, error);
    case FM_SHAPE_MEMORY:
        return parse_memory(rest, command, error);
    case FM_SHAPE_FUNCTIONS:
        return parse_functions(rest, command, error);
    case FM_SHAPE_LINES:
        return parse_lines(rest, command, error);
    }
    return false;
}

static bool fail_command(struct piece found, GError **error)
{
    g_autofree char *word = g_strndup(found.at, found.size);
    g_autofree char *suggestion = fm_command_suggestion(word);
    g_autofree char *expected =
        g_strconcat("a command such as menu, find/TEXT, proc/NAME, tree/time/down/3/all or "
                    "program_modules",
                    suggestion, NULL);
    return fail(error, "command", found, expected);
}

/* Fails for a word without its argument, with a suggestion. */
static bool fail_argument(struct piece word, enum fm_command_id id, GError **error)
{
    const char *example = fm_command_forms[id].example;
    g_autofree char *expected =
        example == NULL
            ? g_strdup("\"/\" and an argument after this word")
            : g_strdup_printf("\"/\" and an argument after this word, such as %s", example);
    return fail(error, "command", word, expected);
}

static bool parse_command(struct piece text, struct fm_command *ret, GError **error)
{
    struct piece pieces[2] = {{0}};
    struct fm_command command = {0};
    unsigned id;
    unsigned count = split(text, '/', pieces, 2);

    for (id = 0; id < FM_CMD_COUNT; id++) {
        if (piece_is(pieces[0], fm_command_forms[id].name))
            break;
    }
    if (id == FM_CMD_COUNT)
        return fail_command(pieces[0], error);
    command.id = (enum fm_command_id)id;
    if (count == 1) {
        if (fm_command_forms[id].shape != FM_SHAPE_PLAIN)
            return fail_argument(text, command.id, error);
    } else if (!parse_arguments(pieces[1], &command, error)) {
        fm_command_done(&command);
        return false;
    }
    *ret = command;
    return true;
}

static bool parse_columns(struct piece text, struct fm_preferences *ret, GError **error)
{
    struct piece pieces[6];
    unsigned time, callseqs, allocs, memory;

    if (split(text, '-', pieces, 6) != 5)
        return fail(error, "columns", text, "PORT-TIME-CALLSEQS-ALLOC-MEMORY");
    if (!parse_flag(pieces[0], "port columns", &fm_words_ports, &ret->ports, error) ||
        !parse_word(pieces[1], "time columns", &fm_words_time, &time, error) ||
        !parse_word(pieces[2], "call sequence columns", &fm_words_callseqs, &callseqs, error) ||
        !parse_word(pieces[3], "allocation columns", &fm_words_allocs, &allocs, error) ||
        !parse_word(pieces[4], "memory columns", &fm_words_memory, &memory, error))
        return false;
    ret->time = (enum fm_time_columns)time;
    ret->callseqs = (enum fm_count_columns)callseqs;
    ret->allocs = (enum fm_count_columns)allocs;
    ret->memory = (enum fm_memory_columns)memory;
    return true;
}

static bool parse_order(struct piece text, struct fm_preferences *ret, GError **error)
{
    struct piece pieces[5];

    if (piece_is(text, "context") || piece_is(text, "name")) {
        ret->order = piece_is(text, "name") ? FM_ORDER_NAME : FM_ORDER_CONTEXT;
        return true;
    }
    if (split(text, '-', pieces, 5) != 4 || !piece_is(pieces[0], "cost"))
        return fail(error, "order", text, "context, name or cost-KIND-DESC-SCOPE");
    ret->order = FM_ORDER_COST;
    return parse_cost_order(pieces + 1, &ret->cost, error);
}

static bool parse_inactive(struct piece text, struct fm_preferences *ret, GError **error)
{
    bool *flags[3] = {&ret->show_inactive_call_sites, &ret->show_inactive_procs,
                      &ret->show_inactive_modules};

    for (unsigned i = 0; i < 3; i++) {
        if (text.size != 3 || (text.at[i] != 'h' && text.at[i] != 's'))
            return fail(error, "inactive items", text,
                        "three letters h or s, for call sites, procedures and modules");
        *flags[i] = text.at[i] == 's';
    }
    return true;
}

static bool parse_ancestors(struct piece text, struct fm_preferences *ret, GError **error)
{
    ret->ancestors_limited = !piece_is(text, "no");
    return !ret->ancestors_limited || parse_number(text, "ancestors", "\"no\" or a number", 0,
                                                   FM_QUERY_ANCESTORS_MAX, &ret->ancestors, error);
}

static bool parse_preferences(struct piece text, struct fm_preferences *ret, GError **error)
{
    struct piece p[PIECES_MAX + 1];
    struct fm_preferences result = {0};
    unsigned time_format, qualify;

    if (split(text, '/', p, PIECES_MAX + 1) != PIECES_MAX)
        return fail(error, "preferences", text, "12 items separated by \"/\"");
    if (!parse_columns(p[0], &result, error) ||
        !parse_flag(p[1], "box", &fm_words_box, &result.box, error) ||
        !parse_flag(p[2], "colour", &fm_words_colour, &result.colour, error) ||
        !parse_ancestors(p[3], &result, error) ||
        !parse_number(p[4], "procedures per recursion type", "a number", 0, FM_QUERY_PROCS_MAX,
                      &result.procs_per_recursion_type, error) ||
        !parse_flag(p[5], "summary", &fm_words_summarize, &result.summarize, error) ||
        !parse_order(p[6], &result, error) ||
        !parse_flag(p[7], "contour", &fm_words_contour, &result.contour, error) ||
        !parse_word(p[8], "time format", &fm_words_time_format, &time_format, error) ||
        !parse_word(p[9], "qualification", &fm_words_qualify, &qualify, error) ||
        !parse_inactive(p[10], &result, error) ||
        !parse_flag(p[11], "developer mode", &fm_words_developer, &result.developer, error))
        return false;
    result.time_format = (enum fm_time_format)time_format;
    result.qualify = (enum fm_qualify)qualify;
    *ret = result;
    return true;
}

bool fm_command_parse(const char *text, struct fm_command *ret, GError **error)
{
    g_return_val_if_fail(text != NULL && ret != NULL, false);
    return parse_command((struct piece){text, strlen(text)}, ret, error);
}

bool fm_preferences_parse(const char *text, struct fm_preferences *ret, GError **error)
{
    g_return_val_if_fail(text != NULL && ret != NULL, false);
    return parse_preferences((struct piece){text, strlen(text)}, ret, error);
}

/* Finds the "&" that separates the command from preferences; a letter or "_" follows it. In C++
 * types it does not: "total(int const&)", "operator&(set)". */
static const char *find_separator(const char *text)
{
    const char *found = strrchr(text, '&');
    bool separates =
        found != NULL && (found[1] == '\0' || found[1] == '_' || g_ascii_isalnum(found[1]));
    return separates ? found : NULL;
}

bool fm_query_parse(const char *text, struct fm_query *ret, GError **error)
{
    g_return_val_if_fail(text != NULL && ret != NULL, false);
    const char *ampersand = find_separator(text);
    size_t size = ampersand ? (size_t)(ampersand - text) : strlen(text);
    struct fm_query query = {0};

    if (!parse_command((struct piece){text, size}, &query.command, error))
        return false;
    query.has_preferences = ampersand && ampersand[1];
    if (query.has_preferences && !fm_preferences_parse(ampersand + 1, &query.preferences, error)) {
        fm_query_done(&query);
        return false;
    }
    *ret = query;
    return true;
}
