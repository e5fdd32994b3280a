/* SPDX-License-Identifier: Apache-2.0 */
/* Files of valgrind --tool=callgrind, and what others write in its format (CL format of valgrind's
 * manual): functions with their own costs by line, and for each line that calls a number of calls
 * with what they cost in all. Several parts, of threads and of times, are added up. Jumps are not
 * looked at. Costs by line are added up by function. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/arcs.h"
#include "exchange/import/events.h"
#include "exchange/import/ids.h"
#include "exchange/import/internal.h"

#define OWN_LINE "desc: fathom: "

struct slice {
    const char *at;
    size_t size;
};

enum names { OBJECTS, FILES, FUNCTIONS, NAME_KINDS };
enum positions { BY_LINE, BY_INSTRUCTION, BY_BOTH };

struct callgrind {
    struct fm_import_text text;
    const struct fm_import_input *input;
    struct fm_import_arcs *arcs;               /* NULL before the first events */
    char *program;                             /* as the file says; NULL: it does not */
    struct fm_import_events events;            /* as the first part names them */
    struct fm_import_ids *numbers[NAME_KINDS]; /* index of the name + 1 */
    GArray *names[NAME_KINDS];                 /* struct slice */
    GArray *objects;                           /* struct slice of a function: where it is */
    GHashTable *file_numbers; /* char* -> number of a file that calls stand in, from 1 */
    enum positions positions;
    uint64_t at[2]; /* instruction and line of the cost line before */

    struct slice object, file;
    struct slice function_file; /* file when the function began */
    uint32_t function;          /* UINT32_MAX: none yet */
    struct slice called_object, called_file, called;
    bool uncounted; /* the call count on the next line is a placeholder */
    bool calling;   /* the next line is what these calls cost */
    uint64_t calls, called_line;
    bool any_calls;
    uint64_t unnamed;                  /* references to numbers that have no name */
    uint64_t totals[FM_MEASURES_MAX];  /* as the parts say */
    uint64_t summary[FM_MEASURES_MAX]; /* as the heads say, before what they are of */
    bool totals_known, summary_known;
};

/* --- recognising --- */

static bool starts(struct slice line, const char *with)
{
    size_t size = strlen(with);
    return line.size >= size && memcmp(line.at, with, size) == 0;
}

/* "KEY: VALUE"; the size of the key, 0 = it is none. */
static size_t key_size(struct slice line)
{
    size_t size = 0;
    while (size < line.size && (g_ascii_isalpha(line.at[size]) || line.at[size] == '_'))
        size++;
    return size > 0 && size < line.size && line.at[size] == ':' ? size : 0;
}

/* Files of other tools may lack valgrind's first line, but all have an events line. */
bool fm_import_is_callgrind(const struct fm_import_input *input)
{
    struct fm_import_text text;
    struct slice line;
    fm_import_text_begin(&text, input);
    while (fm_import_text_next(&text, &line.at, &line.size)) {
        if (starts(line, "# callgrind format") || starts(line, "events:"))
            return true;
        if (line.size > 0 && line.at[0] != '#' && key_size(line) == 0)
            return false;
    }
    return false;
}

/* --- words of a line --- */

static void skip_blanks(struct slice *line)
{
    while (line->size > 0 && (line->at[0] == ' ' || line->at[0] == '\t'))
        line->at++, line->size--;
}

static struct slice take_word(struct slice *line)
{
    skip_blanks(line);
    struct slice word = {line->at, 0};
    while (word.size < line->size && line->at[word.size] != ' ' && line->at[word.size] != '\t')
        word.size++;
    line->at += word.size;
    line->size -= word.size;
    return word;
}

/* Decimal, or hexadecimal behind 0x. */
static bool number_of(struct slice word, uint64_t *ret)
{
    if (!starts(word, "0x") && !starts(word, "0X"))
        return fm_import_number(word.at, word.size, ret);
    *ret = 0;
    for (size_t i = 2; i < word.size; i++) {
        int digit = g_ascii_xdigit_value(word.at[i]);
        if (digit < 0 || *ret >> 60 != 0)
            return false;
        *ret = *ret << 4 | (unsigned)digit;
    }
    return word.size > 2;
}

/* A number, or one relative to the one before: +3, -3, *. */
static bool position_of(struct slice word, uint64_t before, uint64_t *ret)
{
    uint64_t step;
    if (word.size == 1 && word.at[0] == '*') {
        *ret = before;
        return true;
    }
    if (word.size == 0 || (word.at[0] != '+' && word.at[0] != '-'))
        return number_of(word, ret);
    if (!number_of((struct slice){word.at + 1, word.size - 1}, &step))
        return false;
    *ret = word.at[0] == '+' ? before + step : before - step; /* wraps, as instructions do */
    return true;
}

static bool take_position(struct callgrind *in, struct slice *line, uint64_t at[2], GError **error)
{
    for (unsigned i = in->positions == BY_LINE; i < (in->positions == BY_INSTRUCTION ? 1 : 2);
         i++) {
        struct slice word = take_word(line);
        if (!position_of(word, in->at[i], &at[i]))
            return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                       "expected a number, +N, -N or * as the %s",
                                       i == 0 ? "instruction's address" : "line in the source");
    }
    return true;
}

/* --- names --- */

static void name_number(struct callgrind *in, enum names kind, uint64_t number, struct slice name)
{
    uint32_t known = fm_import_ids_find(in->numbers[kind], number);
    if (known != 0) {
        g_array_index(in->names[kind], struct slice, known - 1) = name;
        return;
    }
    g_array_append_val(in->names[kind], name);
    fm_import_ids_put(in->numbers[kind], number, in->names[kind]->len);
}

/* "(7) name" tells a number from then on, "(7)" is that name. "(below main)" is a name. */
static bool name_of(struct callgrind *in, enum names kind, struct slice text, struct slice *ret,
                    GError **error)
{
    uint64_t number;
    size_t end = 1;
    skip_blanks(&text);
    while (end < text.size && g_ascii_isdigit(text.at[end]))
        end++;
    *ret = text;
    if (text.size == 0 || text.at[0] != '(' || end == 1)
        return true;
    if (end == text.size || text.at[end] != ')' || !fm_import_number(text.at + 1, end - 1, &number))
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected (NUMBER) or (NUMBER) NAME");
    *ret = (struct slice){text.at + end + 1, text.size - end - 1};
    skip_blanks(ret);
    if (ret->size > 0) {
        name_number(in, kind, number, *ret);
        return true;
    }
    /* Some writers use numbers that they never name. A function is called by its number then. */
    static const struct slice unknown = {"???", 3};
    uint32_t known = fm_import_ids_find(in->numbers[kind], number);
    in->unnamed += known == 0;
    *ret = known != 0          ? g_array_index(in->names[kind], struct slice, known - 1)
           : kind == FUNCTIONS ? (struct slice){text.at, end + 1}
                               : unknown;
    return true;
}

static bool same(struct slice a, struct slice b)
{
    return a.size == b.size && (a.at == b.at || a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static bool is_known(struct slice name)
{
    return name.size > 0 && !same(name, (struct slice){"???", 3});
}

static uint32_t number_of_function(struct callgrind *in, struct slice name, struct slice file,
                                   struct slice object)
{
    struct slice unit = is_known(file) ? file : is_known(object) ? object : (struct slice){NULL, 0};
    struct slice own = is_known(file) ? file : (struct slice){NULL, 0};
    return fm_stacks_function(fm_import_arcs_stacks(in->arcs),
                              &(struct fm_stacks_name){.name = name.at,
                                                       .size = name.size,
                                                       .unit = unit.at,
                                                       .unit_size = unit.size,
                                                       .file = own.at,
                                                       .file_size = own.size});
}

/* Libraries may be made of the same sources: of a second object a function has that in its name. */
static uint32_t function_of(struct callgrind *in, struct slice name, struct slice file,
                            struct slice object)
{
    uint32_t function = number_of_function(in, name, file, object);
    if (function >= in->objects->len)
        g_array_set_size(in->objects, function + 1);
    struct slice *first = &g_array_index(in->objects, struct slice, function);
    if (!is_known(*first))
        *first = object;
    if (same(*first, object) || !is_known(object))
        return function;
    g_autofree char *path = g_strndup(object.at, object.size);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *full = g_strdup_printf("%.*s [%s]", (int)name.size, name.at, base);
    return number_of_function(in, (struct slice){full, strlen(full)}, file, object);
}

/* 0: the function's own file, or none that is known. */
static uint32_t file_number(struct callgrind *in)
{
    if (same(in->file, in->function_file) || !is_known(in->file))
        return 0;
    char *name = g_strndup(in->file.at, in->file.size);
    gpointer known = g_hash_table_lookup(in->file_numbers, name);
    if (known != NULL) {
        g_free(name);
        return GPOINTER_TO_UINT(known);
    }
    guint number = g_hash_table_size(in->file_numbers) + 1;
    g_hash_table_insert(in->file_numbers, name, GUINT_TO_POINTER(number));
    return number;
}

/* --- the head of a part --- */

static bool read_events(struct callgrind *in, struct slice value, GError **error)
{
    struct fm_import_events *events = &in->events;
    bool first = in->arcs == NULL;
    unsigned count = 0;
    for (struct slice word; (word = take_word(&value)).size > 0; count++) {
        if (first && !fm_import_events_add(events, word.at, word.size))
            return fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error, "more than %u events",
                                       FM_IMPORT_EVENTS_MAX);
        if (!fm_import_events_is(events, count, word.at, word.size))
            break;
    }
    if (count == 0 || count != events->count)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   first ? "expected the names of events"
                                         : "expected the events of the parts before");
    if (first)
        in->arcs = fm_import_arcs_new(in->program != NULL ? in->program : in->input->program,
                                      "callgrind", count);
    return true;
}

/* "./prog -x": the program's name, where nobody gave one. */
static void read_command(struct callgrind *in, struct slice value)
{
    struct slice word = take_word(&value);
    g_autofree char *path = g_strndup(word.at, word.size);
    if (in->input->options->program == NULL && in->program == NULL && word.size > 0)
        in->program = g_path_get_basename(path);
}

static bool read_positions(struct callgrind *in, struct slice value, GError **error)
{
    struct slice first = take_word(&value), second = take_word(&value);
    bool instruction = same(first, (struct slice){"instr", 5});
    if (instruction && second.size == 0)
        in->positions = BY_INSTRUCTION;
    else if (instruction && same(second, (struct slice){"line", 4}))
        in->positions = BY_BOTH;
    else if (same(first, (struct slice){"line", 4}) && second.size == 0)
        in->positions = BY_LINE;
    else
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected the positions: line, instr, or both: instr line");
    return true;
}

static bool read_totals(const struct callgrind *in, struct slice value, uint64_t *totals)
{
    for (unsigned i = 0; i < in->events.count; i++) {
        uint64_t total;
        struct slice word = take_word(&value);
        if (word.size > 0 && (!number_of(word, &total) || !fm_import_sum(&totals[i], total)))
            return false;
    }
    return true;
}

/* Other fields of the head have no place in a profile. */
static bool read_head(struct callgrind *in, struct slice line, size_t key, GError **error)
{
    struct slice value = {line.at + key + 1, line.size - key - 1};
    if (starts(line, "events:"))
        return read_events(in, value, error);
    if (starts(line, "positions:"))
        return read_positions(in, value, error);
    if (starts(line, "cmd:"))
        read_command(in, value);
    if (starts(line, OWN_LINE) && !in->events.figures.told.told)
        fm_figures_parse(line.at + strlen(OWN_LINE), line.size - strlen(OWN_LINE),
                         &in->events.figures.told);
    if (starts(line, "event:")) {
        fm_import_events_describe(&in->events, value.at, value.size);
        return true;
    }
    if (starts(line, "totals:") && in->arcs != NULL)
        in->totals_known = read_totals(in, value, in->totals);
    if (starts(line, "summary:") && in->arcs != NULL)
        in->summary_known = read_totals(in, value, in->summary);
    if (starts(line, "part:"))
        in->at[0] = in->at[1] = 0;
    return true;
}

/* --- the body --- */

static bool read_name(struct callgrind *in, struct slice line, GError **error)
{
    static const struct {
        const char *key;
        enum names kind;
    } keys[] = {{"fn=", FUNCTIONS}, {"cfn=", FUNCTIONS}, {"fl=", FILES},  {"fi=", FILES},
                {"fe=", FILES},     {"cfi=", FILES},     {"cfl=", FILES}, {"ob=", OBJECTS},
                {"cob=", OBJECTS},  {"jfn=", FUNCTIONS}, {"jfi=", FILES}};
    unsigned i = 0;
    struct slice name;
    while (i < G_N_ELEMENTS(keys) && !starts(line, keys[i].key))
        i++;
    if (i == G_N_ELEMENTS(keys))
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected costs, a name (fn=, fl=, ob=, cfn=, ...) or calls=");
    size_t key = strlen(keys[i].key);
    if (!name_of(in, keys[i].kind, (struct slice){line.at + key, line.size - key}, &name, error))
        return false;
    if (line.at[0] == 'j')
        return true;
    if (starts(line, "cfn="))
        in->called = name;
    else if (line.at[0] == 'c')
        *(keys[i].kind == OBJECTS ? &in->called_object : &in->called_file) = name;
    else if (keys[i].kind == OBJECTS)
        in->object = name;
    else if (keys[i].kind == FILES)
        in->file = name;
    else if (in->arcs == NULL)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected a line with events: before the first function");
    else {
        in->function_file = in->file;
        in->function = function_of(in, name, in->file, in->object);
    }
    return true;
}

/* "calls=COUNT POSITION": the position is the callee's; some write more numbers. */
static bool read_calls(struct callgrind *in, struct slice line, GError **error)
{
    uint64_t at[2] = {0, 0};
    struct slice rest = {line.at + strlen("calls="), line.size - strlen("calls=")};
    if (in->function == UINT32_MAX || in->called.at == NULL || in->calling)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   in->calling ? "expected what the calls before cost"
                                               : "expected fn= and cfn= before calls=");
    if (!number_of(take_word(&rest), &in->calls))
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error, "expected a number of calls");
    if (!take_position(in, &rest, at, error))
        return false;
    if (in->uncounted || (in->events.figures.told.told && !in->events.figures.told.calls))
        in->calls = 0;
    in->called_line = in->positions == BY_INSTRUCTION ? 0 : at[1];
    in->calling = in->any_calls = true;
    return true;
}

static bool add_call(struct callgrind *in, uint32_t line, const uint64_t *costs)
{
    bool with_file = in->called_file.at != NULL, with_object = in->called_object.at != NULL;
    struct slice file = with_file ? in->called_file : in->file;
    uint32_t callee =
        function_of(in, in->called, file, with_object ? in->called_object : in->object);
    const struct fm_stacks_call call = {.caller = in->function,
                                        .callee = callee,
                                        .line = line,
                                        .file = file_number(in),
                                        .text = in->file.at,
                                        .size = in->file.size};
    fm_import_arcs_line(in->arcs, callee, (uint32_t)MIN(in->called_line, UINT32_MAX));
    in->called = in->called_file = in->called_object = (struct slice){NULL, 0};
    in->calling = false;
    bool fits = fm_import_arcs_call(in->arcs, &call, in->calls, costs);
    if (in->uncounted)
        fm_import_arcs_uncounted(in->arcs, &call);
    in->uncounted = false;
    return fits;
}

static bool add_self(struct callgrind *in, uint32_t line, const uint64_t *costs)
{
    bool fits = true;
    for (unsigned i = 0; i < in->events.count && fits; i++)
        fits = costs[i] == 0 || fm_import_arcs_self(in->arcs, in->function, i, costs[i]);
    if (same(in->file, in->function_file))
        fm_import_arcs_line(in->arcs, in->function, line);
    return fits;
}

static bool read_costs(struct callgrind *in, struct slice line, GError **error)
{
    uint64_t costs[FM_IMPORT_EVENTS_MAX] = {0};
    unsigned count = 0;
    if (in->function == UINT32_MAX)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected fn= before the first costs");
    if (!take_position(in, &line, in->at, error))
        return false;
    for (struct slice word; (word = take_word(&line)).size > 0; count++) {
        if (count == in->events.count || !number_of(word, &costs[count]))
            return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                       "expected at most %u costs, whole numbers",
                                       in->events.count);
    }
    uint32_t at = in->positions == BY_INSTRUCTION ? 0 : (uint32_t)MIN(in->at[1], UINT32_MAX);
    bool fits = in->calling ? add_call(in, at, costs) : add_self(in, at, costs);
    return fits || fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error,
                                       "the costs up to here are more than 2^63 together");
}

static bool read_line(struct callgrind *in, struct slice line, GError **error)
{
    char c = line.at[0];
    size_t key;
    if (memchr(line.at, '\0', line.size) != NULL)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error, "expected text, found NUL");
    if (g_ascii_isdigit(c) || c == '+' || c == '-' || c == '*')
        return read_costs(in, line, error);
    if (in->calling)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected what the calls before cost");
    if (starts(line, "calls="))
        return read_calls(in, line, error);
    if (starts(line, "jump=") || starts(line, "jcnd="))
        return true; /* from the position on the next line, which costs nothing */
    key = key_size(line);
    return key > 0 ? read_head(in, line, key, error) : read_name(in, line, error);
}

static bool read_lines(struct callgrind *in, GError **error)
{
    struct slice line;
    while (fm_import_text_next(&in->text, &line.at, &line.size)) {
        skip_blanks(&line);
        if (same(line, (struct slice){FM_FIGURES_UNCOUNTED, strlen(FM_FIGURES_UNCOUNTED)}))
            in->uncounted = true;
        if (line.size > 0 && line.at[0] != '#' && !read_line(in, line, error))
            return false;
    }
    if (in->calling)
        return fm_import_text_fail(&in->text, FM_ERROR_TRUNCATED, error,
                                   "unexpected end of file: expected what the calls before cost");
    if (in->arcs != NULL && fm_import_arcs_functions(in->arcs) > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: there is no function in it",
                in->text.name);
    return false;
}

/* --- what it was --- */

static void note_totals(const struct callgrind *in)
{
    uint64_t told = in->totals_known ? in->totals[0] : in->summary[0];
    uint64_t sum = fm_import_arcs_sum(in->arcs, 0);
    if ((!in->totals_known && !in->summary_known) || told == sum)
        return;
    g_autofree char *note = g_strdup_printf(
        "the file's %s %" G_GUINT64_FORMAT " %s, its functions have %" G_GUINT64_FORMAT "%s",
        in->totals_known ? "totals say" : "summary says", (guint64)told, in->events.all[0].name,
        (guint64)sum, in->totals_known ? "" : ": it may have been cut off");
    fm_build_note(fm_stacks_build(fm_import_arcs_stacks(in->arcs)), note);
}

static void note_unnamed(const struct callgrind *in)
{
    if (in->unnamed == 0)
        return;
    g_autofree char *note = g_strdup_printf("the file refers to names by number that it does not "
                                            "give, %" G_GUINT64_FORMAT " times: functions "
                                            "without a name are called by their number, as (7)",
                                            (guint64)in->unnamed);
    fm_build_note(fm_stacks_build(fm_import_arcs_stacks(in->arcs)), note);
}

static void set_known(const struct callgrind *in)
{
    struct fm_build *build = fm_stacks_build(fm_import_arcs_stacks(in->arcs));
    uint32_t known = in->any_calls ? FM_IMPORT_CALLS & ~(1u << FM_CALLSEQS) : 0;
    for (unsigned i = 0; i < in->events.count; i++) {
        enum fm_measure_id measure = in->events.all[i].measure;
        if (measure < FM_MEASURES_MERCURY)
            known |= measure == FM_EXITS ? FM_IMPORT_CALLS & ~(1u << FM_CALLSEQS) : 1u << measure;
    }
    if (!in->events.figures.told.told) {
        fm_import_only_knows(build, known);
        fm_build_nature(build, FM_NATURE_TIME_EXACT, 0);
    }
    fm_build_note(build, "calls are known by function and caller, not by context; a function's "
                         "self cost is divided among its callers by the cost of its calls");
}

static void done_with(struct callgrind *in)
{
    fm_import_arcs_free(in->arcs);
    fm_import_events_done(&in->events);
    g_free(in->program);
    g_hash_table_unref(in->file_numbers);
    g_array_unref(in->objects);
    for (unsigned kind = 0; kind < NAME_KINDS; kind++) {
        fm_import_ids_free(in->numbers[kind]);
        g_array_unref(in->names[kind]);
    }
}

bool fm_import_callgrind(const struct fm_import_input *input, struct fm_profile **ret,
                         GError **error)
{
    struct callgrind in = {.input = input, .function = UINT32_MAX};
    for (unsigned kind = 0; kind < NAME_KINDS; kind++) {
        in.numbers[kind] = fm_import_ids_new();
        in.names[kind] = g_array_new(FALSE, FALSE, sizeof(struct slice));
    }
    in.file_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    in.objects = g_array_new(FALSE, TRUE, sizeof(struct slice));
    fm_import_text_begin(&in.text, input);
    bool done = read_lines(&in, error);
    if (done) {
        note_totals(&in);
        note_unnamed(&in);
        fm_import_events_choose(&in.events, in.arcs);
        set_known(&in);
        done = fm_import_arcs_finish(g_steal_pointer(&in.arcs), ret, error);
    }
    done_with(&in);
    return done;
}
