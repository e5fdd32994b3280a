/* SPDX-License-Identifier: Apache-2.0 */
/* Speedscope's JSON: profiles, usually a thread each, that share frames; sampled or evented. Of our
 * own exports, which have a profile for each thread and measure, the names tell both. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text/json_read.h"
#include "exchange/figures_measures.h"
#include "exchange/import/internal.h"
#include "exchange/import/memo.h"

#define NS_PER_SECOND 1000000000u
#define OWN_SUFFIX " (order is not time)"

struct speedscope {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    GArray *frames;                   /* struct fm_json_value */
    GArray *open;                     /* guint: frames that events have opened */
    uint32_t *functions;              /* by frame, UINT32_MAX = not yet needed */
    bool own, alone;                  /* our own export; one profile only */
    struct fm_import_figures figures; /* for fathom's own exports */
    struct fm_import_memo *memo;      /* stacks below a thread -> call in context */
    uint32_t known;
    uint64_t sums[FM_MEASURES_MAX];
    uint32_t sampled, evented;
    uint64_t samples; /* single samples of time */
    double squares;
    /* The profile that is being read. */
    char *profile_name;
    char *thread; /* in fathom's exports: the thread; "" */
    uint32_t thread_frame, thread_function;
    const char *place; /* in the text, of the sample or event that is being read; NULL = none */
    unsigned measure;
    uint64_t divide;        /* divisor of integers */
    bool skip;              /* another profile in the file has the same data */
    bool calls, one_by_one; /* each weight is a sample's, no sum of several */
    double factor;
    double rest; /* rounding error so far */
};

static bool fail(const struct speedscope *in, GError **error, const char *format, ...)
    FM_PRINTF(3, 4);
static bool fail(const struct speedscope *in, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return fm_import_json_fail(in->input, (struct fm_json_value){.at = in->place}, error, "%s%s%s",
                               in->profile_name == NULL ? "" : in->profile_name,
                               in->profile_name == NULL ? "" : ": ", message);
}

bool fm_import_is_speedscope(const struct fm_import_input *input)
{
    const size_t head = (size_t)1 << 20;
    return fm_import_begins(input, input->size, "{") &&
           (fm_import_holds(input, head, "speedscope.app/file-format-schema") ||
            (fm_import_holds(input, head, "\"shared\"") &&
             fm_import_holds(input, head, "\"frames\"")));
}

/* --- frames --- */

static uint32_t line_of(struct fm_json_value frame)
{
    double line = 0;
    fm_json_number(fm_json_member(frame, "line"), &line);
    return line >= 1 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

static bool make_function(struct speedscope *in, guint i, GError **error)
{
    struct fm_json_value frame = g_array_index(in->frames, struct fm_json_value, i);
    if (!fm_json_is_object(frame))
        return fail(in, error, "frame %u of \"shared\" is no object", i);
    g_autofree char *name = fm_json_string(fm_json_member(frame, "name"));
    g_autofree char *file = fm_json_string(fm_json_member(frame, "file"));
    in->functions[i] =
        fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = name,
                                                                .size = strlen(name),
                                                                .unit = file,
                                                                .unit_size = strlen(file),
                                                                .file = file,
                                                                .file_size = strlen(file),
                                                                .line = line_of(frame)});
    return true;
}

/* Stacks of our own begin with the thread, whose name the profile's begins with. */
static bool is_thread(struct speedscope *in, guint frame)
{
    size_t size = strlen(in->thread);
    if (size == 0 || frame == in->thread_frame)
        return size > 0;
    g_autofree char *name = fm_json_string(
        fm_json_member(g_array_index(in->frames, struct fm_json_value, frame), "name"));
    if (strcmp(name, in->thread) != 0)
        return false;
    in->thread_frame = frame;
    in->thread_function = fm_stacks_outside(in->stacks, in->thread, size);
    return true;
}

static bool push(struct speedscope *in, struct fm_json_value value, GError **error)
{
    double number;
    if (!fm_json_number(value, &number) || number < 0 || number >= in->frames->len)
        return fail(in, error, "a frame that is none of the %u of \"shared\"", in->frames->len);
    guint i = (guint)number;
    if (fm_stacks_depth(in->stacks) == 0 && is_thread(in, i)) {
        fm_stacks_push(in->stacks, in->thread_function, 0);
        return true;
    }
    if (in->functions[i] == UINT32_MAX && !make_function(in, i, error))
        return false;
    /* A frame's line is where its function begins, or where it was: nobody says which. */
    fm_stacks_push(in->stacks, in->functions[i], 0);
    return true;
}

static uint32_t push_thread(struct speedscope *in)
{
    const char *suffix = g_strrstr(in->profile_name, ": ");
    size_t size =
        in->own && suffix != NULL ? (size_t)(suffix - in->profile_name) : strlen(in->profile_name);
    fm_stacks_cut(in->stacks, 0);
    g_free(in->thread);
    in->thread = in->own && suffix != NULL ? g_strndup(in->profile_name, size) : g_strdup("");
    in->thread_frame = UINT32_MAX;
    if (in->alone || (in->own && size == 0))
        return 0;
    if (!in->own) /* the stacks of our own begin with the thread */
        fm_stacks_push_outside(in->stacks, in->profile_name, size);
    return fm_stacks_depth(in->stacks);
}

/* --- measures --- */

static void use(struct speedscope *in, unsigned measure, double factor)
{
    g_assert(measure < FM_MEASURES_MAX && factor > 0);
    in->measure = measure;
    in->factor = factor;
    if (measure < FM_MEASURES_MERCURY)
        in->known |= 1u << measure;
}

/* In fathom's exports the profile's name gives the column. False: it is not one of them. */
static bool choose_own(struct speedscope *in)
{
    const char *colon = g_strrstr(in->profile_name, ": ");
    const char *named = colon == NULL ? in->profile_name : colon + 2;
    if (!in->figures.told.told || !g_str_has_suffix(named, OWN_SUFFIX))
        return false;
    g_autofree char *name = g_strndup(named, strlen(named) - strlen(OWN_SUFFIX));
    struct fm_import_figure of = fm_import_figures_of(&in->figures, name);
    in->calls = of.calls;
    in->skip = of.skip;
    in->measure = of.measure;
    in->divide = of.divide;
    return true;
}

/* The first profile's unit is the measure that pages begin with. */
static bool choose_measure(struct speedscope *in, const char *unit, GError **error)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    uint64_t per_second;
    in->calls = false;
    in->skip = false;
    in->divide = 1;
    in->factor = 1;
    in->rest = 0;
    if (choose_own(in))
        return true;
    if (fm_import_time_unit(unit, &per_second)) {
        if ((in->known >> FM_QUANTA & 1u) != 0 && fm_build_header(build)->ticks_per_second == 0)
            return fail(in, error,
                        "times beside profiles without a unit cannot be imported "
                        "together");
        fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
        fm_build_nature(build, FM_NATURE_CLOCK, 0); /* nobody says which time */
        use(in, FM_QUANTA, (double)NS_PER_SECOND / (double)per_second);
    } else if (strcmp(unit, "bytes") == 0) {
        use(in, FM_WORDS, 1);
    } else {
        if (fm_build_header(build)->ticks_per_second != 0)
            return fail(in, error,
                        "a profile without a unit beside times cannot be imported "
                        "together");
        if ((in->known >> FM_QUANTA & 1u) == 0)
            fm_stacks_name_quanta(in->stacks, "samples", NULL);
        use(in, FM_QUANTA, 1);
    }
    return true;
}

/* A weight or a moment. Doubles hold no more than whole numbers up to 2^53: what is written in
 * digits alone stays whole. */
struct amount {
    double value;
    uint64_t whole;
    bool is_whole;
};

static bool amount_of(struct fm_json_value value, struct amount *ret)
{
    ret->is_whole = fm_json_whole(value, &ret->whole);
    ret->value = (double)ret->whole;
    return ret->is_whole || fm_json_number(value, &ret->value);
}

/* False: from is later. */
static bool difference(const struct amount *from, const struct amount *to, struct amount *ret)
{
    *ret = (struct amount){.value = to->value - from->value,
                           .whole = to->whole - from->whole,
                           .is_whole = from->is_whole && to->is_whole};
    return ret->is_whole ? to->whole >= from->whole : ret->value >= 0;
}

/* In whole units; what rounding takes from one the next gets. */
static bool in_units(struct speedscope *in, const struct amount *weight, uint64_t *ret,
                     GError **error)
{
    bool fits =
        !weight->is_whole || !__builtin_mul_overflow(weight->whole, (uint64_t)in->factor, ret);
    double exact = weight->value * in->factor + in->rest, whole = floor(exact + 0.5);
    if (!(weight->value >= 0) || !(whole < 0x1p62) || !fits)
        return fail(in, error, "a weight of %g, expected 0 or more, below 2^62", weight->value);
    if (weight->is_whole)
        return true;
    if (whole >= 0x1p53)
        return fail(
            in, error,
            "a weight of %g, which no fraction of this size tells exactly: expected a whole "
            "number, or less than 2^53",
            weight->value);
    whole = fmax(whole, 0);
    in->rest = exact - whole;
    *ret = (uint64_t)whole;
    return true;
}

/* call: whose own it is; 0 = the innermost frame's. */
static bool add(struct speedscope *in, uint32_t call, const struct amount *weight, GError **error)
{
    uint64_t whole = 0;
    if (!in_units(in, weight, &whole, error))
        return false;
    if (in->one_by_one && in->measure == FM_QUANTA && !in->calls) {
        in->samples++;
        in->squares += (double)whole * (double)whole;
    }
    if (!fm_import_sum(&in->sums[in->calls ? FM_CALLSEQS : in->measure], whole))
        return fail(in, error, "its weights are more than 2^63 together");
    whole /= in->divide;
    if (in->skip)
        return true;
    const unsigned measures[] = {in->calls ? FM_CALLSEQS : in->measure, FM_EXITS};
    for (unsigned i = 0; i < (in->calls ? 2 : 1); i++) {
        if (call != 0)
            fm_stacks_add_to(in->stacks, call, measures[i], whole);
        else
            fm_stacks_add(in->stacks, measures[i], whole);
    }
    return true;
}

/* --- profiles --- */

static bool read_sample(struct speedscope *in, struct fm_json_value sample,
                        const struct amount *weight, uint32_t base, GError **error)
{
    struct fm_json_items stack = fm_json_items(sample);
    struct fm_json_value frame;
    bool any = false;
    fm_stacks_cut(in->stacks, base);
    uint32_t *known = fm_import_memo_at(in->memo, sample.at, (size_t)(sample.end - sample.at),
                                        fm_stacks_call(in->stacks));
    if (known != NULL && *known != 0)
        return add(in, *known, weight, error);
    for (; fm_json_next(&stack, NULL, &frame); any = true) {
        if (!push(in, frame, error))
            return false;
    }
    if (known != NULL && any)
        *known = fm_stacks_keep(in->stacks);
    return !any || add(in, fm_stacks_call(in->stacks), weight, error);
}

/* Members of a profile that are needed, found in one pass, because samples are most of the file. */
enum { TYPE, UNIT, NAME, START, SAMPLES, WEIGHTS, EVENTS, MEMBERS };
static const char *const members[MEMBERS] = {
    [TYPE] = "type",       [UNIT] = "unit",       [NAME] = "name",    [START] = "startValue",
    [SAMPLES] = "samples", [WEIGHTS] = "weights", [EVENTS] = "events"};

static bool read_sampled(struct speedscope *in, const struct fm_json_value *of, GError **error)
{
    struct fm_json_value sample, weight;
    struct fm_json_items samples = fm_json_items(of[SAMPLES]);
    struct fm_json_items weights = fm_json_items(of[WEIGHTS]);
    uint32_t base = push_thread(in);
    bool one = true, other = true;
    in->one_by_one = !in->own;
    in->sampled++;
    for (guint i = 0; samples.at != NULL && weights.at != NULL; i++) {
        struct amount amount;
        one = fm_json_next(&samples, NULL, &sample);
        other = fm_json_next(&weights, NULL, &weight);
        if (!one || !other)
            break;
        in->place = weight.at;
        if (!fm_json_is_array(sample) || !amount_of(weight, &amount))
            return fail(in, error, "sample %u is no list of frames with a weight", i);
        if (!read_sample(in, sample, &amount, base, error))
            return false;
    }
    in->place = NULL;
    return one == other && samples.at != NULL && weights.at != NULL
               ? true
               : fail(in, error, "expected as many \"weights\" as \"samples\"");
}

/* Frames must be closed in reverse order; otherwise time would be charged to another one. */
static bool close_frame(struct speedscope *in, struct fm_json_value frame, GError **error)
{
    double number;
    guint open = g_array_index(in->open, guint, in->open->len - 1);
    if (frame.at != NULL &&
        (!fm_json_number(frame, &number) || !(number >= 0 && number < in->frames->len) ||
         in->functions[(guint)number] != in->functions[open]))
        return fail(in, error, "an event closes a frame that is not the one opened last");
    g_array_set_size(in->open, in->open->len - 1);
    fm_stacks_add(in->stacks, FM_EXITS, 1);
    fm_stacks_cut(in->stacks, fm_stacks_depth(in->stacks) - 1);
    return true;
}

/* "O" or "C"; NULL: neither. */
static const char *type_of_event(struct fm_json_value type)
{
    return fm_json_equals(type, "O") ? "O" : fm_json_equals(type, "C") ? "C" : NULL;
}

static bool read_event(struct speedscope *in, struct fm_json_value event, uint32_t base,
                       struct amount *last, GError **error)
{
    static const char *const names[] = {"type", "at", "frame"};
    struct fm_json_value of[G_N_ELEMENTS(names)];
    fm_json_members(event, names, G_N_ELEMENTS(names), of);
    const char *type = type_of_event(of[0]);
    struct amount at, passed;
    in->place = event.at;
    if (!amount_of(of[1], &at) || !difference(last, &at, &passed))
        return fail(in, error, "an event without a time, or before the one that precedes it");
    if (!at.is_whole && at.value * in->factor >= 0x1p53)
        return fail(in, error,
                    "a time of %g, which no fraction of this size tells exactly: expected a whole "
                    "number, or less than 2^53",
                    at.value);
    if (fm_stacks_depth(in->stacks) > base && !add(in, fm_stacks_call(in->stacks), &passed, error))
        return false;
    *last = at;
    if (type != NULL && *type == 'O') {
        double number = 0;
        if (!push(in, of[2], error))
            return false;
        fm_json_number(of[2], &number);
        g_array_append_vals(in->open, &(guint){(guint)number}, 1);
        fm_stacks_add(in->stacks, FM_CALLSEQS, 1);
        return true;
    }
    if (type == NULL || fm_stacks_depth(in->stacks) <= base) {
        g_autofree char *told = fm_json_string(of[0]);
        return fail(in, error,
                    "an event of type '%.100s', expected \"O\", or \"C\" of a frame that is open",
                    told);
    }
    return close_frame(in, of[2], error);
}

static bool read_evented(struct speedscope *in, const struct fm_json_value *of, GError **error)
{
    struct fm_json_items events = fm_json_items(of[EVENTS]);
    struct fm_json_value event;
    struct amount last = {.is_whole = true};
    if (!amount_of(of[START], &last))
        last = (struct amount){.is_whole = true};
    if (events.at == NULL)
        return fail(in, error, "expected \"events\"");
    uint32_t base = push_thread(in);
    in->one_by_one = false;
    in->evented++;
    g_array_set_size(in->open, 0);
    while (fm_json_next(&events, NULL, &event)) {
        if (!read_event(in, event, base, &last, error))
            return false;
    }
    in->place = NULL;
    /* Frames that are open at the end were called, too. */
    while (fm_stacks_depth(in->stacks) > base) {
        fm_stacks_add(in->stacks, FM_EXITS, 1);
        fm_stacks_cut(in->stacks, fm_stacks_depth(in->stacks) - 1);
    }
    return true;
}

static bool read_profile(struct speedscope *in, struct fm_json_value profile, GError **error)
{
    struct fm_json_value of[MEMBERS];
    fm_json_members(profile, members, MEMBERS, of);
    g_autofree char *type = fm_json_string(of[TYPE]);
    g_autofree char *unit = fm_json_string(of[UNIT]);
    g_free(in->profile_name);
    in->profile_name = fm_json_string(of[NAME]);
    if (!choose_measure(in, unit, error))
        return false;
    if (strcmp(type, "sampled") == 0)
        return read_sampled(in, of, error);
    if (strcmp(type, "evented") == 0)
        return read_evented(in, of, error);
    return fail(in, error, "a profile of type '%s', expected sampled or evented", type);
}

static void find_frames(struct speedscope *in, struct fm_json_value frames)
{
    struct fm_json_items items = fm_json_items(frames);
    struct fm_json_value frame;
    while (fm_json_next(&items, NULL, &frame))
        g_array_append_val(in->frames, frame);
    in->functions = g_new(uint32_t, in->frames->len + 1u);
    memset(in->functions, 0xff, sizeof *in->functions * (in->frames->len + 1u));
}

static void set_known(struct speedscope *in)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (in->figures.told.told)
        return;
    if (in->evented > 0 && in->sampled == 0) {
        in->known |= FM_IMPORT_CALLS;
        fm_build_nature(build, FM_NATURE_TIME_EXACT, 0);
    }
    fm_build_header(build)->sample_count = in->samples;
    fm_build_header(build)->sample_squares =
        in->squares < 0x1p63 ? (uint64_t)in->squares : UINT64_MAX;
    fm_import_only_knows(build, in->known);
}

static bool read_all(struct speedscope *in, struct fm_json_value top, GError **error)
{
    static const char *const names[] = {"shared", "profiles", "exporter", "fathom"};
    struct fm_json_value of[G_N_ELEMENTS(names)], profile;
    fm_json_members(top, names, G_N_ELEMENTS(names), of);
    struct fm_json_value frames = fm_json_member(of[0], "frames");
    struct fm_json_items items = fm_json_items(of[1]);
    g_autoptr(GArray) profiles = g_array_new(FALSE, FALSE, sizeof profile);
    while (fm_json_next(&items, NULL, &profile))
        g_array_append_val(profiles, profile);
    if (!fm_json_is_array(frames) || !fm_json_is_array(of[1]) || profiles->len == 0)
        return fail(in, error, "expected \"shared\" with \"frames\", and \"profiles\"");
    find_frames(in, frames);
    in->own = fm_json_equals(of[2], "fathom");
    g_autofree char *figures = in->own ? fm_json_string(of[3]) : g_strdup("");
    if (fm_figures_parse(figures, strlen(figures), &in->figures.told))
        fm_import_figures_begin(&in->figures, in->stacks);
    in->alone = profiles->len == 1;
    for (guint i = 0; i < profiles->len; i++) {
        profile = g_array_index(profiles, struct fm_json_value, i);
        if (!fm_json_is_object(profile))
            return fail(in, error, "profile %u is no object", i);
        if (!read_profile(in, profile, error))
            return false;
    }
    set_known(in);
    return true;
}

bool fm_import_speedscope(const struct fm_import_input *input, struct fm_profile **ret,
                          GError **error)
{
    struct speedscope in = {.input = input};
    struct fm_json_value top;
    if (!fm_import_json(input, &top, error))
        return false;
    in.frames = g_array_new(FALSE, FALSE, sizeof(struct fm_json_value));
    in.open = g_array_new(FALSE, FALSE, sizeof(guint));
    in.stacks = fm_stacks_new(input->program, "speedscope's JSON");
    in.memo = fm_import_memo_new();
    bool done = read_all(&in, top, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    fm_import_memo_free(in.memo);
    g_array_unref(in.frames);
    g_array_unref(in.open);
    g_free(in.functions);
    g_free(in.profile_name);
    g_free(in.thread);
    return done;
}
