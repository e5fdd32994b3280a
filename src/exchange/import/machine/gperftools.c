/* SPDX-License-Identifier: Apache-2.0 */
/* CPU profiles of gperftools' libprofiler (CPUPROFILE=FILE), the binary form that it has always
 * written (its cpuprofile-fileformat.html): words of the program's size and order. A head, a record
 * for each stack with the number of its samples, a record that ends them, and the process's files
 * in memory, which give names to the addresses. In Java's profiles addresses are numbers of names,
 * which stand in the place of the files. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"
#include "exchange/import/machine/images.h"

#define HEAD_WORDS 3u /* behind the first two: version, period, padding */
#define HEAD_WORDS_MAX 4095u
#define DEPTH_MAX 4096u /* libprofiler's own is 254 */
#define VERSION_JAVA 1u
#define RECORDS_ALIKE 16u /* so many different stacks have no caller in common by chance */

struct form {
    unsigned width; /* bytes of a word */
    bool big_endian;
};
static const struct form forms[] = {{8, false}, {4, false}, {8, true}, {4, true}};

struct cpu {
    const struct fm_import_input *input;
    struct form form;
    size_t at; /* offset in the bytes */
    uint64_t period;
    struct fm_stacks *stacks;
    struct fm_import_images *images;
    GHashTable *functions; /* address -> number + 1 */
    GHashTable *names;     /* Java: number -> char *; NULL: it is not Java's */
    size_t first_record, records_end;
    uint64_t trampoline; /* the frame behind a signal's handler; 0: there is none */
    uint64_t samples, sum, unnamed;
    bool cut;
};

static bool has_word(const struct fm_import_input *input, struct form form, size_t at)
{
    return at <= input->size && input->size - at >= form.width;
}

static uint64_t word_at(const struct fm_import_input *input, struct form form, size_t at)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < form.width; i++) {
        unsigned byte = form.big_endian ? i : form.width - 1 - i;
        value = value << 8 | input->bytes[at + byte];
    }
    return value;
}

/* The words of a head. */
static bool is_head(const struct fm_import_input *input, struct form form, uint64_t version)
{
    if (!has_word(input, form, 4 * (size_t)form.width))
        return false;
    uint64_t words = word_at(input, form, form.width);
    uint64_t period = word_at(input, form, 3 * (size_t)form.width);
    return word_at(input, form, 0) == 0 && words >= HEAD_WORDS && words <= HEAD_WORDS_MAX &&
           word_at(input, form, 2 * (size_t)form.width) == version && period > 0 &&
           period <= INT32_MAX;
}

static bool find_form(const struct fm_import_input *input, struct form *ret, bool *ret_java)
{
    for (uint64_t version = 0; version <= VERSION_JAVA; version++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++) {
            if (!is_head(input, forms[i], version))
                continue;
            *ret = forms[i];
            *ret_java = version == VERSION_JAVA;
            return true;
        }
    }
    return false;
}

bool fm_import_is_gperftools(const struct fm_import_input *input)
{
    struct form form;
    bool java;
    return find_form(input, &form, &java);
}

/* --- records --- */

struct record {
    uint64_t samples, depth;
    size_t frames; /* offset of the first, the innermost */
};

/* False: the file ends here, or the records do. */
static bool next_record(struct cpu *in, size_t *at, struct record *ret, bool *ret_end)
{
    const unsigned width = in->form.width;
    *ret_end = false;
    if (!has_word(in->input, in->form, *at + width))
        return false;
    ret->samples = word_at(in->input, in->form, *at);
    ret->depth = word_at(in->input, in->form, *at + width);
    ret->frames = *at + 2 * (size_t)width;
    if (ret->depth == 0 || ret->depth > DEPTH_MAX ||
        (in->input->size - ret->frames) / width < ret->depth)
        return false;
    *at = ret->frames + ret->depth * width;
    *ret_end =
        ret->samples == 0 && ret->depth == 1 && word_at(in->input, in->form, ret->frames) == 0;
    return !*ret_end;
}

static uint64_t frame_at(const struct cpu *in, const struct record *record, uint64_t frame)
{
    return word_at(in->input, in->form, record->frames + frame * in->form.width);
}

/* Finds the end of the records, and whether all deep enough stacks have the same second frame: in
 * older files, the code that returns from a signal handler. */
static void look_through(struct cpu *in)
{
    struct record record;
    bool end, alike = true;
    uint64_t count = 0;
    size_t at = in->first_record;
    while (next_record(in, &at, &record, &end)) {
        if (record.depth < 2)
            continue;
        uint64_t second = frame_at(in, &record, 1);
        alike = alike && (in->trampoline == 0 || in->trampoline == second);
        in->trampoline = second;
        count++;
    }
    in->records_end = at;
    in->cut = !end;
    if (!alike || count < RECORDS_ALIKE)
        in->trampoline = 0;
}

/* Not a caller of the program's own that all samples have. */
static void check_trampoline(struct cpu *in)
{
    static const char *const places[] = {"libc.", "libc-", "libpthread", "[vdso]"};
    const char *path =
        in->trampoline == 0 ? NULL : fm_import_images_at(in->images, in->trampoline).path;
    g_autofree char *base = path == NULL ? NULL : g_path_get_basename(path);
    for (unsigned i = 0; base != NULL && i < G_N_ELEMENTS(places); i++) {
        if (g_str_has_prefix(base, places[i]))
            return;
    }
    in->trampoline = 0;
}

/* address: within the call's instruction, or of the one that was interrupted. Where symbols are
 * missing, one function a file. */
static uint32_t function_of(struct cpu *in, uint64_t address, bool *ret_named)
{
    struct fm_import_image_place place = fm_import_images_at(in->images, address);
    *ret_named = place.symbol != NULL;
    gpointer known = g_hash_table_lookup(in->functions, &address);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    size_t size = place.path == NULL ? 0 : strlen(place.path);
    g_autofree char *file = fm_stacks_unnamed(place.path, size);
    const char *name = place.symbol != NULL ? place.symbol->name : file;
    uint32_t function = fm_stacks_function(
        in->stacks, &(struct fm_stacks_name){
                        .name = name, .size = strlen(name), .unit = place.path, .unit_size = size});
    g_hash_table_insert(in->functions, g_memdup2(&address, sizeof address),
                        GUINT_TO_POINTER(function + 1));
    return function;
}

static uint32_t java_function(struct cpu *in, uint64_t number, bool *ret_named)
{
    const char *name = g_hash_table_lookup(in->names, &number);
    *ret_named = name != NULL;
    if (name == NULL)
        name = "[unknown]";
    return fm_stacks_function(in->stacks,
                              &(struct fm_stacks_name){.name = name, .size = strlen(name)});
}

static bool add_record(struct cpu *in, const struct record *record, GError **error)
{
    bool named = true;
    uint64_t value;
    fm_stacks_cut(in->stacks, 0);
    for (uint64_t i = record->depth; i > 0; i--) {
        uint64_t address = frame_at(in, record, i - 1);
        if (i - 1 == 1 && in->trampoline != 0 && address == in->trampoline)
            continue;
        if (in->names != NULL) {
            fm_stacks_push(in->stacks, java_function(in, address, &named), 0);
            continue;
        }
        address -= i > 1 && address > 0; /* a return address stands behind its call */
        fm_stacks_push(in->stacks, function_of(in, address, &named), 0);
    }
    if (__builtin_mul_overflow(record->samples, in->period, &value) ||
        !fm_import_sum(&in->sum, value)) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: offset %zu: the samples up to here are more than 2^63 microseconds",
                    in->input->name, record->frames);
        return false;
    }
    fm_stacks_add(in->stacks, FM_QUANTA, value);
    in->samples += record->samples;
    in->unnamed += named ? 0 : record->samples;
    return true;
}

static bool add_records(struct cpu *in, GError **error)
{
    struct record record;
    bool end;
    size_t at = in->first_record;
    while (next_record(in, &at, &record, &end)) {
        if (!add_record(in, &record, error))
            return false;
    }
    if (in->samples > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: there is no sample in it",
                in->input->name);
    return false;
}

/* --- the profile --- */

static void describe(struct cpu *in)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    struct fm_build_header *header = fm_build_header(build);
    header->ticks_per_second = G_USEC_PER_SEC;
    header->sample_count = in->samples;
    if (__builtin_mul_overflow(in->sum, in->period, &header->sample_squares))
        header->sample_squares = UINT64_MAX;
    fm_import_only_knows(build, 1u << FM_QUANTA);
    if (in->cut)
        fm_build_note(build, "the file ends within its samples: the program was killed, or the "
                             "file is not whole");
    if (in->unnamed == 0)
        return;
    g_autofree char *note = g_strdup_printf(
        "%.0f %% of the samples' functions are not known by name: %s",
        100.0 * (double)in->unnamed / (double)in->samples,
        in->names != NULL ? "the file does not name them"
                          : "their files are not at their places, or have no symbols");
    fm_build_note(build, note);
}

/* The part behind the records: names, or the process's files. */
static void read_text(struct cpu *in, bool java)
{
    const char *line, *begin = (const char *)in->input->bytes;
    size_t size, at = MIN(in->records_end, in->input->size);
    in->images = fm_import_images_new(begin + at, java ? 0 : in->input->size - at);
    if (!java) {
        check_trampoline(in);
        return;
    }
    in->trampoline = 0;
    in->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    struct fm_import_text text = {.at = begin + at, .end = begin + in->input->size};
    while (fm_import_text_next(&text, &line, &size)) {
        uint64_t number;
        char *name;
        if (fm_import_named_address(line, size, &number, &name))
            g_hash_table_replace(in->names, g_memdup2(&number, sizeof number), name);
    }
}

bool fm_import_gperftools(const struct fm_import_input *input, struct fm_profile **ret,
                          GError **error)
{
    struct cpu in = {.input = input};
    bool java;
    if (!find_form(input, &in.form, &java)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset 0: expected a CPU profile of gperftools: words 0, 3, 0, a period "
                    "in microseconds",
                    input->name);
        return false;
    }
    in.period = word_at(input, in.form, 3 * (size_t)in.form.width);
    in.first_record = (2 + word_at(input, in.form, in.form.width)) * in.form.width;
    look_through(&in);
    read_text(&in, java);
    const char *program = fm_import_images_program(in.images);
    g_autofree char *name = input->options->program != NULL ? g_strdup(input->options->program)
                            : program != NULL               ? g_path_get_basename(program)
                                                            : g_strdup(input->program);
    in.stacks = fm_stacks_new(name, "gperftools");
    in.functions = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    bool done = add_records(&in, error);
    if (done) {
        describe(&in);
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    }
    fm_stacks_free(in.stacks);
    g_hash_table_unref(in.functions);
    g_clear_pointer(&in.names, g_hash_table_unref);
    fm_import_images_free(in.images);
    return done;
}
