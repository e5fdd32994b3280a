/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: "main;parse;term 12". Neighbouring lines often begin alike, so that frames whose
 * text is the line before's are kept as they stand. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"
#include "exchange/import/memo.h"

struct folded {
    struct fm_import_text text;
    struct fm_stacks *stacks;
    struct fm_import_memo *memo; /* stacks -> call in context */
    unsigned measure;
    const char *before; /* the stack that was built last */
    size_t before_size;
    unsigned decimals; /* that numbers have: they are read as whole numbers of so small a unit */
    uint64_t sum, lines, least; /* least: of the numbers above 0 */
    uint64_t other;             /* lines that are no stacks */
    struct fm_import_text first_other;
};

#define TELLING_LINES 20u
#define DECIMALS_MAX 9u
#define NS_PER_SECOND 1000000000u

struct number {
    size_t stack; /* size of what stands before it */
    uint64_t whole, fraction;
    unsigned decimals; /* digits of the fraction, without zeros at its end */
};

/* The number behind a stack; false: it is no such line. */
static bool split(const char *line, size_t size, struct number *ret)
{
    size_t at = size;
    *ret = (struct number){0};
    while (at > 0 && g_ascii_isdigit(line[at - 1]))
        at--;
    if (at > 1 && line[at - 1] == '.' && g_ascii_isdigit(line[at - 2])) {
        size_t end = size;
        while (end > at && line[end - 1] == '0')
            end--;
        if (end - at > DECIMALS_MAX ||
            (end > at && !fm_import_number(line + at, end - at, &ret->fraction)))
            return false;
        ret->decimals = (unsigned)(end - at);
        size = at - 1;
        at = size;
        while (at > 0 && g_ascii_isdigit(line[at - 1]))
            at--;
    }
    if (at < 2 || line[at - 1] != ' ' || !fm_import_number(line + at, size - at, &ret->whole))
        return false;
    ret->stack = at - 1;
    return true;
}

static uint64_t power_of_ten(unsigned exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Further decimals are cut off. False: it is more than 64 bits hold. */
static bool value_of(const struct number *number, unsigned decimals, uint64_t *ret)
{
    uint64_t fraction = number->decimals > decimals
                            ? number->fraction / power_of_ten(number->decimals - decimals)
                            : number->fraction * power_of_ten(decimals - number->decimals);
    return !__builtin_mul_overflow(number->whole, power_of_ten(decimals), ret) &&
           !__builtin_add_overflow(*ret, fraction, ret);
}

static bool is_stack(const char *line, size_t size)
{
    struct number number;
    return split(line, size, &number) && memchr(line, '\0', size) == NULL &&
           g_utf8_validate(line, (gssize)MIN(number.stack, 1000), NULL);
}

/* The most decimals that a number of the file has. */
static unsigned find_decimals(struct fm_import_text text)
{
    const char *line;
    size_t size;
    unsigned decimals = 0;
    struct number number;
    while (fm_import_text_next(&text, &line, &size)) {
        const char *blank = size == 0 ? NULL : memrchr(line, ' ', size);
        if (blank != NULL && memchr(blank, '.', (size_t)(line + size - blank)) != NULL &&
            line[0] != '#' && split(line, size, &number))
            decimals = MAX(decimals, number.decimals);
    }
    return decimals;
}

/* The first line is a stack, or most of the first ones are. */
bool fm_import_is_folded(const struct fm_import_input *input)
{
    struct fm_import_text text;
    const char *line;
    size_t size;
    unsigned lines = 0, stacks = 0;
    fm_import_text_begin(&text, input);
    while (lines < TELLING_LINES && fm_import_text_next(&text, &line, &size)) {
        if (size == 0 || line[0] == '#')
            continue;
        stacks += is_stack(line, size);
        if (lines++ == 0 && stacks > 0)
            return true;
    }
    return stacks > lines - stacks && memchr(input->bytes, ';', input->size) != NULL;
}

/* How many frames both stacks begin with. */
static uint32_t frames_alike(const struct folded *in, const char *stack, size_t size,
                             size_t *ret_bytes)
{
    size_t end = MIN(size, in->before_size), same = 0, bytes = 0;
    uint32_t frames = 0;
    for (; same < end && stack[same] == in->before[same]; same++) {
        if (stack[same] == ';') {
            frames++;
            bytes = same + 1;
        }
    }
    bool ends = same > 0 && same == size && (same == in->before_size || in->before[same] == ';');
    bool goes_on = same > 0 && same == in->before_size && same < size && stack[same] == ';';
    if (ends || goes_on) {
        frames++;
        bytes = MIN(same + 1, size);
    }
    *ret_bytes = bytes;
    return frames;
}

static void push_stack(struct folded *in, const char *stack, size_t size)
{
    size_t at;
    uint32_t kept = frames_alike(in, stack, size, &at);
    fm_stacks_cut(in->stacks, kept);
    while (at < size) {
        const char *semicolon = memchr(stack + at, ';', size - at);
        size_t length = semicolon == NULL ? size - at : (size_t)(semicolon - stack) - at;
        fm_stacks_push(in->stacks,
                       fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = stack + at,
                                                                               .size = length}),
                       0);
        at += length + 1;
    }
    in->before = stack;
    in->before_size = size;
}

static void add_stack(struct folded *in, const char *stack, size_t size, uint64_t count)
{
    uint32_t *call = fm_import_memo_at(in->memo, stack, size, 0);
    if (call != NULL && *call != 0) {
        fm_stacks_add_to(in->stacks, *call, in->measure, count);
        return;
    }
    push_stack(in, stack, size);
    fm_stacks_add(in->stacks, in->measure, count);
    if (call != NULL)
        *call = fm_stacks_keep(in->stacks);
}

static bool read_lines(struct folded *in, GError **error)
{
    const char *line;
    size_t size;
    uint64_t count;
    struct number number;
    while (fm_import_text_next(&in->text, &line, &size)) {
        if (size == 0 || line[0] == '#')
            continue;
        if (memchr(line, '\0', size) != NULL || !split(line, size, &number)) {
            if (in->other++ == 0)
                in->first_other = in->text;
            continue;
        }
        if (!value_of(&number, in->decimals, &count) || !fm_import_sum(&in->sum, count))
            return fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error,
                                       "the numbers up to here are more than 2^63 together");
        add_stack(in, line, number.stack, count);
        in->lines++;
        if (count > 0 && (in->least == 0 || count < in->least))
            in->least = count;
    }
    if (in->other > 0 && in->other >= in->lines)
        return fm_import_text_fail(&in->first_other, FM_ERROR_FORMAT, error,
                                   "expected frames with ';' between them, a blank and a number");
    if (in->other > 0) {
        g_autofree char *note =
            g_strdup_printf(FM_NOTE_WARNING "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                            " lines are no stacks with a number: they are left out",
                            (guint64)in->other, (guint64)(in->other + in->lines));
        fm_build_note(fm_stacks_build(in->stacks), note);
    }
    if (in->lines > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: there is no stack in it",
                in->text.name);
    return false;
}

/* Figures are whole numbers: where the file's have fractions, figures count parts. */
static void name_samples(struct folded *in)
{
    static const char *const names[] = {"samples",
                                        "tenths_of_samples",
                                        "hundredths_of_samples",
                                        "thousandths_of_samples",
                                        "ten_thousandths_of_samples",
                                        "hundred_thousandths_of_samples",
                                        "millionths_of_samples"};
    in->decimals = MIN(in->decimals, (unsigned)G_N_ELEMENTS(names) - 1);
    fm_stacks_name_quanta(in->stacks, names[in->decimals], NULL);
    if (in->decimals > 0)
        fm_build_note(fm_stacks_build(in->stacks),
                      "its numbers have fractions: figures are parts of a sample");
}

static bool choose_unit(struct folded *in, const char *unit, GError **error)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    uint64_t per_second = 0;
    in->decimals = find_decimals(in->text);
    in->measure = FM_QUANTA;
    if (unit == NULL)
        unit = "samples";
    if (strcmp(unit, "samples") == 0) {
        name_samples(in);
    } else if (strcmp(unit, "bytes") == 0) {
        in->decimals = 0;
        in->measure = FM_WORDS;
    } else if (fm_import_time_unit(unit, &per_second)) {
        while (per_second * power_of_ten(in->decimals) > NS_PER_SECOND)
            in->decimals--;
        fm_build_header(build)->ticks_per_second = per_second * power_of_ten(in->decimals);
        fm_build_nature(build, FM_NATURE_CLOCK, 0); /* nobody says which time */
    } else {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "there is no unit '%s': expected samples, bytes, ns, us, ms or s", unit);
        return false;
    }
    fm_import_only_knows(build, 1u << in->measure);
    return true;
}

/* The value of a sample is not given: it is at most the smallest of the numbers. */
static void set_samples(struct folded *in)
{
    struct fm_build_header *header = fm_build_header(fm_stacks_build(in->stacks));
    if (in->measure != FM_QUANTA || header->ticks_per_second == 0 || in->least == 0)
        return;
    header->sample_count = in->sum / in->least;
    if (__builtin_mul_overflow(in->sum, in->least, &header->sample_squares))
        header->sample_squares = UINT64_MAX;
}

bool fm_import_folded(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct folded in = {.stacks = fm_stacks_new(input->program, "folded stacks"),
                        .memo = fm_import_memo_new()};
    fm_import_text_begin(&in.text, input);
    bool read = choose_unit(&in, input->options->unit, error) && read_lines(&in, error);
    fm_import_memo_free(in.memo);
    if (!read) {
        fm_stacks_free(in.stacks);
        return false;
    }
    set_samples(&in);
    return fm_stacks_finish(in.stacks, ret, error);
}
