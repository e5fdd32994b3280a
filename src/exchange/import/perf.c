/* SPDX-License-Identifier: Apache-2.0 */
/* Text of `perf script`: a line for each sample, a line for each of its frames, the innermost
 * first, and an empty line. Which fields a sample's line has depends on perf's version and options:
 * time, processor and period may be missing. The first event's cost is the profile's. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"
#include "exchange/import/memo.h"
#include "exchange/import/perfdata/jit.h"

#define US_PER_SECOND 1000000u
#define NS_PER_US 1000u
#define MEASURES_FURTHER (FM_MEASURES_MAX - FM_MEASURES_MERCURY)

struct slice {
    const char *at;
    size_t size;
};

struct event {
    struct slice name;
    unsigned measure; /* 0: there is no room for it */
    bool time;        /* periods are nanoseconds */
    bool counted;     /* without periods: its samples are counted */
    uint64_t sum;
};

struct frame {
    struct slice symbol, program_file;
    uint64_t address;
    uint32_t line;
};

struct perf {
    struct fm_import_text text;
    struct fm_stacks *stacks;
    GHashTable *made; /* process -> struct fm_perf_jit *, NULL: it has no file */
    struct event events[1 + MEASURES_FURTHER];
    unsigned event_count;
    uint64_t dropped; /* samples of events that there is no room for */
    uint64_t charges, squares;
    struct fm_import_times times;
    uint64_t lines_skipped, frame_lines;
    bool without_period;
    /* The sample that is being read. */
    bool open, alone; /* alone: its frame stands on the same line */
    bool blank;       /* an empty line came before any frame */
    struct slice command;
    struct event *event;
    uint64_t period;
    GArray *frames; /* struct frame, innermost first */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct slice trimmed(struct slice text)
{
    while (text.size > 0 && is_blank(text.at[0]))
        text.at++, text.size--;
    while (text.size > 0 && is_blank(text.at[text.size - 1]))
        text.size--;
    return text;
}

/* Takes the next word off the text; size 0: there is none. */
static struct slice take_word(struct slice *text)
{
    *text = trimmed(*text);
    struct slice word = {text->at, 0};
    while (word.size < text->size && !is_blank(text->at[word.size]))
        word.size++;
    text->at += word.size;
    text->size -= word.size;
    return word;
}

/* 4003.123456: */
static bool is_time(struct slice word)
{
    size_t digits = 0, points = 0;
    if (word.size < 4 || word.at[word.size - 1] != ':')
        return false;
    for (size_t i = 0; i + 1 < word.size; i++) {
        digits += g_ascii_isdigit(word.at[i]);
        points += word.at[i] == '.';
    }
    return points == 1 && digits + 2 == word.size && word.at[0] != '.';
}

/* 12, 12/14 or -1 */
static bool is_process(struct slice word)
{
    size_t digits = 0, slashes = 0;
    for (size_t i = 0; i < word.size; i++) {
        digits += g_ascii_isdigit(word.at[i]);
        slashes += word.at[i] == '/';
    }
    return digits > 0 && slashes <= 1 &&
           (digits + slashes == word.size || (digits + 1 == word.size && word.at[0] == '-'));
}

static bool is_cpu(struct slice word)
{
    return word.size >= 3 && word.at[0] == '[' && word.at[word.size - 1] == ']' &&
           g_ascii_isdigit(word.at[1]);
}

struct header {
    struct slice command, event, rest;
    uint64_t period;
    bool timed, has_period;
    struct slice time; /* the timed ones' */
};

static bool is_number(struct slice word)
{
    uint64_t number;
    return fm_import_number(word.at, word.size, &number);
}

/* "cycles:", "cpu-clock:pppH:", "cpu_core/cycles:u/:" */
static bool is_event(struct slice word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (!g_ascii_isalnum(word.at[i]) && strchr("_-:/,.=", word.at[i]) == NULL)
            return false;
    }
    return word.size >= 2 && word.at[word.size - 1] == ':' && !is_time(word);
}

/* Parses the fields after the time: a period, an event, either or both. */
static bool parse_event(struct slice rest, struct header *ret)
{
    struct slice word = take_word(&rest);
    if (fm_import_number(word.at, word.size, &ret->period)) {
        ret->has_period = true;
        word = take_word(&rest);
    }
    if (word.size > 0 && (word.size < 2 || word.at[word.size - 1] != ':'))
        return false;
    ret->event = word.size > 0 ? (struct slice){word.at, word.size - 1}
                               : (struct slice){"samples", strlen("samples")};
    ret->rest = trimmed(rest);
    return true;
}

/* The name may hold blanks: it ends where process, CPU and time follow. */
static bool parse_timed(struct slice line, struct header *ret)
{
    struct slice rest = line, word, command_end = {NULL, 0};
    bool timed = false;
    *ret = (struct header){.period = 1, .timed = true};
    while (!timed && (word = take_word(&rest)).size > 0) {
        timed = is_time(word);
        if (timed || (word.at > line.at && (is_process(word) || is_cpu(word)))) {
            if (command_end.at == NULL || (!timed && !is_cpu(word)))
                command_end = word;
        }
    }
    if (!timed || command_end.at == NULL)
        return false;
    ret->command = trimmed((struct slice){line.at, (size_t)(command_end.at - line.at)});
    ret->time = word;
    return parse_event(rest, ret);
}

/* "java 19983 cycles:": the event is the first word of its kind with a process in front of it, and
 * between them at most a CPU and a period. */
static bool parse_untimed(struct slice line, struct header *ret)
{
    struct slice rest = line, before[3] = {{NULL, 0}}, word;
    while ((word = take_word(&rest)).size > 0) {
        unsigned at = 0;
        bool period = is_event(word) && is_number(before[0]) &&
                      (is_cpu(before[1]) || is_process(before[1])) && before[1].at > line.at;
        at += period;
        at += at < 2 && is_cpu(before[at]);
        if (is_event(word) && is_process(before[at]) && before[at].at > line.at) {
            *ret = (struct header){.period = 1, .has_period = period};
            if (period)
                (void)fm_import_number(before[0].at, before[0].size, &ret->period);
            ret->command = trimmed((struct slice){line.at, (size_t)(before[at].at - line.at)});
            ret->event = (struct slice){word.at, word.size - 1};
            ret->rest = trimmed(rest);
            return true;
        }
        before[2] = before[1];
        before[1] = before[0];
        before[0] = word;
    }
    return false;
}

static bool parse_header(struct slice line, struct header *ret)
{
    return parse_timed(line, ret) || parse_untimed(line, ret);
}

/* "cpu-clock:pppH": what follows the colon says how precisely it was taken. */
static bool is_clock(struct slice name)
{
    const char *colon = memchr(name.at, ':', name.size);
    size_t bare = colon == NULL ? name.size : (size_t)(colon - name.at);
    return (bare == strlen("cpu-clock") && memcmp(name.at, "cpu-clock", bare) == 0) ||
           (bare == strlen("task-clock") && memcmp(name.at, "task-clock", bare) == 0);
}

static struct event *event_of(struct perf *in, const struct header *header)
{
    struct slice name = header->event;
    struct fm_build *build = fm_stacks_build(in->stacks);
    for (unsigned i = 0; i < in->event_count; i++) {
        struct event *event = &in->events[i];
        if (event->name.size == name.size && memcmp(event->name.at, name.at, name.size) == 0)
            return event;
    }
    if (in->event_count == G_N_ELEMENTS(in->events))
        return NULL;
    struct event *event = &in->events[in->event_count];
    g_autofree char *bare = g_strndup(name.at, name.size);
    bool plain = !header->has_period && strcmp(bare, "samples") != 0;
    g_autofree char *own = plain ? g_strconcat("samples of ", bare, NULL) : g_strdup(bare);
    const char *unit = header->has_period ? NULL : "samples";
    *event = (struct event){.name = name, .counted = !header->has_period};
    event->time = header->has_period && is_clock(name);
    if (in->event_count > 0) {
        event->measure =
            fm_stacks_add_measure(in->stacks, own, event->time ? "microseconds" : unit);
    } else {
        event->measure = FM_QUANTA;
        if (event->time)
            fm_build_header(build)->ticks_per_second = US_PER_SECOND;
        else
            fm_stacks_name_quanta(in->stacks, own, unit);
    }
    in->event_count++;
    return event;
}

/* "7f01 main+0x1c (/usr/bin/prog)"; false: it is no frame. */
static bool parse_frame(struct slice line, struct frame *ret)
{
    struct slice rest = trimmed(line), address = take_word(&rest);
    size_t digits = 0;
    while (digits < address.size && g_ascii_isxdigit(address.at[digits]))
        digits++;
    rest = trimmed(rest);
    if (digits == 0 || digits < address.size || rest.size == 0)
        return false;
    *ret = (struct frame){.symbol = rest};
    for (size_t i = 0; i < digits; i++)
        ret->address = ret->address << 4 | (uint64_t)g_ascii_xdigit_value(address.at[i]);
    /* The file's own name may hold some: "(/tmp/x (deleted))". */
    size_t open = rest.size, within = 0;
    while (rest.at[rest.size - 1] == ')' && open > 0) {
        within += rest.at[open - 1] == ')';
        if (rest.at[open - 1] == '(' && --within == 0)
            break;
        open--;
    }
    if (rest.at[rest.size - 1] == ')' && open > 1 && is_blank(rest.at[open - 2])) {
        ret->program_file = (struct slice){rest.at + open, rest.size - open - 1};
        ret->symbol = trimmed((struct slice){rest.at, open - 1});
    }
    size_t end = ret->symbol.size;
    while (end > 0 && g_ascii_isxdigit(ret->symbol.at[end - 1]))
        end--;
    if (end > 3 && end < ret->symbol.size && memcmp(ret->symbol.at + end - 3, "+0x", 3) == 0)
        ret->symbol.size = end - 3;
    return true;
}

/* Without a time a line of any text may look like a sample: then a frame must follow. */
bool fm_import_is_perf(const struct fm_import_input *input)
{
    struct fm_import_text text;
    struct header header;
    struct frame frame;
    struct slice line;
    bool begun = false;
    fm_import_text_begin(&text, input);
    while (fm_import_text_next(&text, &line.at, &line.size)) {
        if (trimmed(line).size == 0 || line.at[0] == '#')
            continue;
        if (memchr(line.at, '\0', line.size) != NULL)
            return false;
        if (begun)
            return parse_frame(trimmed(line), &frame);
        if (parse_timed(trimmed(line), &header))
            return true;
        begun = parse_untimed(trimmed(line), &header);
        if (!begun || header.rest.size > 0)
            return begun && parse_frame(header.rest, &frame);
    }
    return false;
}

/* "main.c:12" below a frame: where in it the sample was, or the call that the frame before is. */
static void take_line(struct perf *in, struct slice text)
{
    const char *colon = memrchr(text.at, ':', text.size);
    uint64_t line;
    if (in->frames->len > 0 && colon != NULL &&
        fm_import_number(colon + 1, (size_t)(text.at + text.size - colon) - 1, &line) &&
        line <= UINT32_MAX)
        g_array_index(in->frames, struct frame, in->frames->len - 1).line = (uint32_t)line;
}

/* "/tmp/perf-12.map", which perf calls the file of code that process 12 made. 0: it is another. */
static uint32_t maker_of(struct slice file)
{
    static const char begins[] = "perf-", ends[] = ".map";
    const size_t fixed = strlen(begins) + strlen(ends);
    uint64_t process;
    if (file.size <= fixed) /* a frame without a file has no text at all */
        return 0;
    const char *slash = memrchr(file.at, '/', file.size);
    size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - file.at), size = file.size - folder;
    const char *base = file.at + folder;
    if (size <= fixed || memcmp(base, begins, strlen(begins)) != 0 ||
        memcmp(base + size - strlen(ends), ends, strlen(ends)) != 0 ||
        !fm_import_number(base + strlen(begins), size - fixed, &process) || process > INT32_MAX)
        return 0;
    return (uint32_t)process;
}

/* The name of such code, where perf did not find the file. */
static const char *made_name(struct perf *in, const struct frame *frame, bool innermost)
{
    static const char unknown[] = "[unknown]";
    uint32_t number, process = maker_of(frame->program_file);
    gpointer jit;
    if (process == 0 || frame->symbol.size != strlen(unknown) ||
        memcmp(frame->symbol.at, unknown, strlen(unknown)) != 0)
        return NULL;
    if (!g_hash_table_lookup_extended(in->made, GUINT_TO_POINTER(process), NULL, &jit)) {
        jit = strcmp(in->text.name, "-") == 0 ? NULL : fm_perf_jit_beside(in->text.name, process);
        g_hash_table_insert(in->made, GUINT_TO_POINTER(process), jit);
    }
    uint64_t address = frame->address - (!innermost && frame->address > 0);
    return jit == NULL ? NULL : fm_perf_jit_name(jit, address, &number);
}

static void push_frames(struct perf *in)
{
    uint32_t line = 0;
    fm_stacks_cut(in->stacks, 0);
    fm_stacks_push_outside(in->stacks, in->command.at, in->command.size);
    for (guint i = in->frames->len; i > 0; i--) {
        const struct frame *frame = &g_array_index(in->frames, struct frame, i - 1);
        struct fm_stacks_name name = {.name = frame->symbol.at,
                                      .size = frame->symbol.size,
                                      .unit = frame->program_file.at,
                                      .unit_size = frame->program_file.size};
        /* A body that was inlined has no program file of its own. */
        if (name.unit_size == strlen("inlined") && memcmp(name.unit, "inlined", 7) == 0)
            name.unit_size = 0;
        const char *made = made_name(in, frame, i == 1);
        if (made != NULL) {
            name.name = made;
            name.size = strlen(made);
        }
        fm_stacks_push(in->stacks, fm_stacks_function(in->stacks, &name), line);
        line = frame->line;
    }
}

/* Time goes in by microseconds, so that the rests of all samples are not lost. */
static bool end_sample(struct perf *in, GError **error)
{
    struct event *event = in->event;
    if (!in->open)
        return true;
    in->open = false;
    in->dropped += event == NULL || event->measure == 0;
    if (event == NULL || event->measure == 0)
        return true;
    uint64_t before = event->sum, value = in->period, square;
    if (!fm_import_sum(&event->sum, value))
        return fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error,
                                   "the periods up to here are more than 2^63 together");
    if (event->time)
        value = event->sum / NS_PER_US - before / NS_PER_US;
    push_frames(in);
    fm_stacks_add(in->stacks, event->measure, value);
    if (event == &in->events[0]) {
        in->charges++;
        if (__builtin_mul_overflow(value, value, &square) ||
            __builtin_add_overflow(in->squares, square, &in->squares))
            in->squares = UINT64_MAX;
    }
    return true;
}

static bool begin_sample(struct perf *in, const struct header *header, GError **error)
{
    struct frame frame;
    g_array_set_size(in->frames, 0);
    in->open = true;
    in->blank = in->alone = false;
    in->command = header->command;
    if (header->timed)
        fm_import_times_add(&in->times, fm_import_hash(0, header->time.at, header->time.size));
    in->event = event_of(in, header);
    in->period = header->period;
    in->without_period |= !header->has_period;
    if (in->event != NULL && in->event->counted)
        in->period = 1; /* as of the samples before, which have none */
    else if (in->event != NULL && !header->has_period)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected a period, as the samples of this event before have");
    if (header->rest.size > 0 && parse_frame(header->rest, &frame)) {
        g_array_append_val(in->frames, frame); /* recorded without callers */
        in->alone = true;
    }
    return true;
}

/* The order of several events in the file is random: pages begin with time, or else with the event
 * that was sampled first. */
static void choose_main(struct perf *in, const struct fm_import_input *input)
{
    struct fm_import_text text;
    struct slice line;
    struct header header;
    fm_import_text_begin(&text, input);
    while (fm_import_text_next(&text, &line.at, &line.size)) {
        if (line.size == 0 || line.at[0] == '#' || line.at[0] == '\t' ||
            memchr(line.at, '\0', line.size) != NULL || !parse_header(trimmed(line), &header) ||
            !is_clock(header.event))
            continue;
        event_of(in, &header);
        return;
    }
}

/* Parses a line within a sample: a frame, the source line of the one before, or text to ignore.
 * False: the line begins a new sample. */
static bool take_within(struct perf *in, struct slice line, struct header *header)
{
    struct frame frame;
    struct slice content = trimmed(line);
    bool margin = !is_blank(line.at[0]);
    if (in->alone || margin || in->frames->len == 0) {
        /* perf aligns names to the right, so samples may be indented, too. */
        if (parse_timed(content, header) ||
            ((in->alone || margin || in->blank) && parse_untimed(content, header)))
            return false;
    }
    if (in->alone)
        g_array_set_size(in->frames, 0); /* it was the text of a tracepoint */
    in->alone = false;
    in->frame_lines++;
    if (parse_frame(content, &frame))
        g_array_append_val(in->frames, frame);
    else if (in->frames->len > 0 && !margin)
        take_line(in, content);
    else
        in->lines_skipped++;
    return true;
}

static bool read_line(struct perf *in, struct slice line, GError **error)
{
    struct slice content = trimmed(line);
    struct header header;
    if (content.size > 0 && line.at[0] == '#')
        return true;
    if (memchr(line.at, '\0', line.size) != NULL)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error, "a NUL byte, expected text");
    if (content.size == 0) {
        /* Some write it between a sample and its frames. */
        if (in->open && in->frames->len == 0 && !in->blank) {
            in->blank = true;
            return true;
        }
        return end_sample(in, error);
    }
    if (in->open && in->frames->len >= FM_STACKS_DEPTH_MAX * 10)
        return fm_import_text_fail(&in->text, FM_ERROR_LIMIT, error,
                                   "a sample of more than %u frames", FM_STACKS_DEPTH_MAX * 10);
    if (in->open && take_within(in, line, &header))
        return true;
    if (!in->open && !parse_header(content, &header))
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "expected a sample: command, process, time, event, as "
                                   "`perf script -F comm,pid,tid,time,event,period,ip,sym,dso` "
                                   "prints it");
    return end_sample(in, error) && begin_sample(in, &header, error);
}

static bool read_lines(struct perf *in, GError **error)
{
    struct slice line;
    while (fm_import_text_next(&in->text, &line.at, &line.size)) {
        if (!read_line(in, line, error))
            return false;
    }
    if (in->lines_skipped > in->frame_lines / 2)
        return fm_import_text_fail(&in->text, FM_ERROR_FORMAT, error,
                                   "most lines are neither samples nor frames (an address, a "
                                   "function, a file)");
    return end_sample(in, error);
}

static void note_lacks(const struct perf *in)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (in->without_period)
        fm_build_note(build, "the file does not say how long a sample stands for: samples are "
                             "counted (perf script -F +period)");
    fm_import_times_tell(&in->times, build);
    if (in->lines_skipped == 0)
        return;
    g_autofree char *note = g_strdup_printf("%" G_GUINT64_FORMAT " lines that are no frames are "
                                            "left out",
                                            (guint64)in->lines_skipped);
    fm_build_note(build, note);
}

static bool finish(struct perf *in, struct fm_profile **ret, GError **error)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (in->charges == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: there is no sample in it",
                    in->text.name);
        return false;
    }
    if (in->dropped > 0) {
        g_autofree char *note =
            g_strdup_printf("%" G_GUINT64_FORMAT " samples of further events are left out: a "
                            "profile has room for %u",
                            (guint64)in->dropped, (unsigned)G_N_ELEMENTS(in->events));
        fm_build_note(build, note);
    }
    note_lacks(in);
    fm_build_header(build)->sample_count = in->charges;
    fm_build_header(build)->sample_squares = in->squares;
    fm_import_only_knows(build, 1u << FM_QUANTA);
    return fm_stacks_finish(g_steal_pointer(&in->stacks), ret, error);
}

bool fm_import_perf(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct perf in = {.stacks = fm_stacks_new(input->program, "text of perf script"),
                      .frames = g_array_new(FALSE, FALSE, sizeof(struct frame))};
    in.made = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)fm_perf_jit_free);
    fm_import_text_begin(&in.text, input);
    choose_main(&in, input);
    bool done = read_lines(&in, error) && finish(&in, ret, error);
    fm_stacks_free(in.stacks);
    g_hash_table_unref(in.made);
    g_array_unref(in.frames);
    return done;
}
