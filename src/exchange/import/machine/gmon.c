/* SPDX-License-Identifier: Apache-2.0 */
/* gmon.out of programs that were built with -pg (sys/gmon_out.h): a histogram of where the program
 * was, calls by the address that called and the function, and how often blocks ran. Addresses are
 * those of the program's file, which must be given. What a call cost with all below it is not in
 * the file: it is estimated as gprof does. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/arcs.h"
#include "exchange/import/internal.h"
#include "exchange/import/machine/symbols.h"

#define HEAD_BYTES 20u
#define VERSION 1u
#define HISTOGRAM_BYTES 40u /* without its bins */
#define ARC_BYTES 20u
#define BLOCK_BYTES 16u
#define HISTOGRAMS_MAX 1024u /* one a library, and each may be as wide as the program */

enum tag { TAG_HISTOGRAM, TAG_ARC, TAG_BLOCKS };
enum column { TICKS, BLOCKS, COLUMNS };

struct gmon {
    const struct fm_import_input *input;
    const uint8_t *at, *end;
    struct fm_import_arcs *arcs;
    GArray *symbols;
    unsigned histograms;
    uint64_t rate;    /* ticks per second, 0 = no histogram so far */
    uint64_t ticks;   /* sum of all ticks */
    uint64_t outside; /* ticks in no function */
    unsigned blocks;  /* the measure of blocks; 0 = there were none */
    bool any_calls;
};

bool fm_import_is_gmon(const struct fm_import_input *input)
{
    return input->size >= 8 && memcmp(input->bytes, "gmon", 4) == 0 && input->bytes[7] == 0;
}

FM_PRINTF(4, 5)
static bool fail(const struct gmon *in, int code, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return fm_import_fail_at(in->input, (uint64_t)(in->at - in->input->bytes), code, error, "%s",
                             message);
}

/* The next bytes; NULL: there are fewer. */
static const uint8_t *take(struct gmon *in, uint64_t size, const char *what, GError **error)
{
    const uint8_t *at = in->at;
    if (size > (uint64_t)(in->end - at)) {
        fail(in, FM_ERROR_TRUNCATED, error, "unexpected end of file in %s", what);
        return NULL;
    }
    in->at += size;
    return at;
}

static uint64_t u64_at(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return GUINT64_FROM_LE(value);
}

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return GUINT32_FROM_LE(value);
}

static uint32_t function_of(struct gmon *in, const struct fm_import_symbol *symbol)
{
    return fm_stacks_function(
        fm_import_arcs_stacks(in->arcs),
        &(struct fm_stacks_name){.name = symbol->name,
                                 .size = strlen(symbol->name),
                                 .unit = symbol->unit,
                                 .unit_size = symbol->unit == NULL ? 0 : strlen(symbol->unit)});
}

/* --- records --- */

/* A bin's ticks by how many of its bytes are whose: exactly, what divisions leave goes on. */
static bool charge_bin(struct gmon *in, uint64_t low, uint64_t high, uint64_t ticks)
{
    const uint64_t all = high - low;
    uint64_t at = low, given = 0;
    bool fits = true;
    while (at < high && fits) {
        const struct fm_import_symbol *symbol = fm_import_symbols_at(in->symbols, at);
        uint64_t end =
            MIN(symbol != NULL ? symbol->end : fm_import_symbols_next(in->symbols, at), high);
        uint64_t upto = (uint64_t)((unsigned __int128)ticks * (end - low) / all);
        if (symbol == NULL)
            in->outside += upto - given;
        else if (upto > given)
            fits = fm_import_arcs_self(in->arcs, function_of(in, symbol), TICKS, upto - given);
        given = upto;
        at = end;
    }
    return fits;
}

static bool check_histogram(struct gmon *in, const uint8_t *head, GError **error)
{
    uint64_t low = u64_at(head), high = u64_at(head + 8), bins = u32_at(head + 16);
    uint64_t rate = u32_at(head + 20);
    in->at = head; /* errors are reported at its beginning */
    if (++in->histograms > HISTOGRAMS_MAX)
        return fail(in, FM_ERROR_LIMIT, error, "more than %u histograms", HISTOGRAMS_MAX);
    if (high <= low || bins == 0 || bins > high - low)
        return fail(in, FM_ERROR_FORMAT, error,
                    "%" G_GUINT64_FORMAT " bins for addresses %#" G_GINT64_MODIFIER
                    "x to %#" G_GINT64_MODIFIER "x, expected one or more bytes a bin",
                    (guint64)bins, (guint64)low, (guint64)high);
    if (rate == 0 || (in->rate != 0 && in->rate != rate))
        return fail(in, FM_ERROR_FORMAT, error,
                    "%" G_GUINT64_FORMAT " ticks per second, expected %s", (guint64)rate,
                    in->rate != 0 ? "as many as before" : "some");
    if (memcmp(head + 24, "seconds", sizeof "seconds") != 0)
        return fail(in, FM_ERROR_FORMAT, error, "a histogram of other than seconds");
    in->rate = rate;
    in->at = head + HISTOGRAM_BYTES;
    return true;
}

static bool read_histogram(struct gmon *in, GError **error)
{
    const uint8_t *head = take(in, HISTOGRAM_BYTES, "a histogram's head", error);
    if (head == NULL || !check_histogram(in, head, error))
        return false;
    uint64_t low = u64_at(head), span = u64_at(head + 8) - low, bins = u32_at(head + 16);
    const uint8_t *counts = take(in, bins * 2, "a histogram", error);
    for (uint64_t i = 0; counts != NULL && i < bins; i++) {
        uint64_t ticks = counts[2 * i] | (uint64_t)counts[2 * i + 1] << 8;
        uint64_t from = low + (uint64_t)((unsigned __int128)span * i / bins);
        uint64_t to = low + (uint64_t)((unsigned __int128)span * (i + 1) / bins);
        in->ticks += ticks;
        if (ticks > 0 && !charge_bin(in, from, to, ticks))
            return fail(in, FM_ERROR_LIMIT, error, "more than 2^63 ticks");
    }
    return counts != NULL;
}

static bool read_arc(struct gmon *in, GError **error)
{
    const uint8_t *arc = take(in, ARC_BYTES, "calls", error);
    if (arc == NULL)
        return false;
    const struct fm_import_symbol *from = fm_import_symbols_at(in->symbols, u64_at(arc));
    const struct fm_import_symbol *to = fm_import_symbols_at(in->symbols, u64_at(arc + 8));
    uint64_t count = u32_at(arc + 16);
    bool fits = true;
    if (to == NULL)
        return true;
    in->any_calls = true;
    uint32_t callee = function_of(in, to);
    if (from == NULL)
        fits = fm_import_arcs_outside(in->arcs, callee, count);
    else
        fits = fm_import_arcs_call(
            in->arcs, &(struct fm_stacks_call){.caller = function_of(in, from), .callee = callee},
            count, NULL);
    return fits || fail(in, FM_ERROR_LIMIT, error, "more than 2^63 calls");
}

/* How many there are was written as 8 bytes and as 4: 4 where as many as 8 say are not there. */
static bool read_blocks(struct gmon *in, GError **error)
{
    uint64_t left = (uint64_t)(in->end - in->at), count = 0;
    unsigned width = left >= 8 && u64_at(in->at) <= (left - 8) / BLOCK_BYTES ? 8 : 4;
    const uint8_t *number = take(in, width, "a number of blocks", error);
    if (number == NULL)
        return false;
    count = width == 8 ? u64_at(number) : u32_at(number);
    const uint8_t *blocks = take(in, count * BLOCK_BYTES, "blocks", error);
    if (blocks != NULL && count > 0 && in->blocks == 0) {
        in->blocks =
            fm_stacks_add_measure(fm_import_arcs_stacks(in->arcs), "basic_blocks", "blocks");
        fm_import_arcs_column(in->arcs, BLOCKS, (enum fm_measure_id)in->blocks);
    }
    for (uint64_t i = 0; blocks != NULL && i < count; i++) {
        const uint8_t *block = blocks + i * BLOCK_BYTES;
        const struct fm_import_symbol *symbol = fm_import_symbols_at(in->symbols, u64_at(block));
        if (symbol != NULL &&
            !fm_import_arcs_self(in->arcs, function_of(in, symbol), BLOCKS, u64_at(block + 8)))
            return fail(in, FM_ERROR_LIMIT, error, "more than 2^63 blocks");
    }
    return blocks != NULL;
}

static bool read_records(struct gmon *in, GError **error)
{
    const uint8_t *head = take(in, HEAD_BYTES, "the head", error);
    if (head == NULL)
        return false;
    if (u32_at(head + 4) != VERSION) {
        in->at = head + 4;
        return fail(in, FM_ERROR_VERSION, error, "version %u of gmon.out, expected %u",
                    u32_at(head + 4), VERSION);
    }
    while (in->at < in->end) {
        uint8_t tag = *in->at;
        if (tag > TAG_BLOCKS)
            return fail(in, FM_ERROR_FORMAT, error,
                        "record of kind %u, expected a histogram (0), calls (1) or blocks (2)",
                        tag);
        in->at++;
        bool done = tag == TAG_HISTOGRAM ? read_histogram(in, error)
                    : tag == TAG_ARC     ? read_arc(in, error)
                                         : read_blocks(in, error);
        if (!done)
            return false;
    }
    return true;
}

/* --- the profile --- */

static void describe(struct gmon *in)
{
    struct fm_stacks *stacks = fm_import_arcs_stacks(in->arcs);
    struct fm_build *build = fm_stacks_build(stacks);
    struct fm_build_header *header = fm_build_header(build);
    if (in->outside > 0) {
        uint32_t unknown =
            fm_stacks_function(stacks, &(struct fm_stacks_name){.name = "[unknown]", .size = 9});
        if (!fm_import_arcs_self(in->arcs, unknown, TICKS, in->outside))
            g_assert_not_reached(); /* a file has no 2^47 bins */
    }
    header->ticks_per_second = in->rate;
    header->sample_count = header->sample_squares = in->ticks;
    fm_import_only_knows(build, (in->rate > 0 ? 1u << FM_QUANTA : 0) |
                                    (in->any_calls ? FM_IMPORT_CALLS & ~(1u << FM_CALLSEQS) : 0));
    fm_build_note(build, "calls are known by function and caller, not by context; total costs of "
                         "calls are estimates, as if each call of a function cost the same");
}

static bool read_program(struct gmon *in, GError **error)
{
    const char *program = in->input->options->program;
    if (program == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "%s: it has addresses, but no names: give the program that wrote it with "
                    "fathom import --program=PROG",
                    in->input->name);
        return false;
    }
    GError *of_program = NULL;
    if (fm_import_symbols_read(program, &in->symbols, &of_program))
        return true;
    g_set_error(error, FM_ERROR, of_program->code, "%s: its program: %s", in->input->name,
                of_program->message);
    g_error_free(of_program);
    return false;
}

bool fm_import_gmon(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct gmon in = {.input = input, .at = input->bytes, .end = input->bytes + input->size};
    if (!read_program(&in, error))
        return false;
    g_autofree char *name = g_path_get_basename(input->options->program);
    in.arcs = fm_import_arcs_new(name, "gmon.out", COLUMNS);
    fm_import_arcs_column(in.arcs, TICKS, FM_QUANTA);
    bool done = read_records(&in, error);
    if (done && fm_import_arcs_functions(in.arcs) == 0 && in.outside == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: no sample or call in it belongs to a function of %s", input->name,
                    input->options->program);
        done = false;
    }
    if (done) {
        describe(&in);
        done = fm_import_arcs_finish(g_steal_pointer(&in.arcs), ret, error);
    }
    fm_import_arcs_free(in.arcs);
    g_array_unref(in.symbols);
    return done;
}
