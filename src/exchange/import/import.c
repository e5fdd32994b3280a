/* SPDX-License-Identifier: Apache-2.0 */
/* The one door: opens, unpacks, recognises. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "base/text/shell.h"
#include "exchange/import/folder.h"
#include "exchange/import/internal.h"
#include "exchange/import/unpack.h"

#define HEAD_BYTES ((size_t)64 << 10) /* by which a format is recognised */

static const struct {
    fm_import_is *is;
    fm_import_read *read;
} doors[] = {
    /* In the order in which they are asked: what looks like folded stacks may be much else. */
    {fm_import_is_perfdata, fm_import_perfdata},
    {fm_import_is_pprof, fm_import_pprof},
    {fm_import_is_perfetto, fm_import_perfetto},
    {fm_import_is_otlp, fm_import_otlp},
    {fm_import_is_speedscope, fm_import_speedscope},
    {fm_import_is_cpuprofile, fm_import_cpuprofile},
    {fm_import_is_heapprofile, fm_import_heapprofile},
    {fm_import_is_firefox, fm_import_firefox},
    {fm_import_is_chrome, fm_import_chrome},
    {fm_import_is_callgrind, fm_import_callgrind},
    {fm_import_is_gmon, fm_import_gmon},
    {fm_import_is_gperftools, fm_import_gperftools},
    {fm_import_is_legacy, fm_import_legacy},
    {fm_import_is_heaptrack, fm_import_heaptrack},
    {fm_import_is_dhat, fm_import_dhat},
    {fm_import_is_massif, fm_import_massif},
    {fm_import_is_perf, fm_import_perf},
    {fm_import_is_folded, fm_import_folded},
};
static const struct fm_import_format formats[] = {
    {"perf.data", "the file of perf record, with names from the files of this machine"},
    {"pprof", "protobuf of pprof, gzipped or not (Go, `pprof -proto`, py-spy, ...)"},
    {"perfetto", "traces of Perfetto (protobuf): spans as calls, samples, heaps"},
    {"otlp", "profiles of OpenTelemetry, since version 1.9 of their format, also as JSON"},
    {"speedscope", "JSON of speedscope, sampled or evented"},
    {"cpuprofile", "CPU profiles of V8 (node --cpu-prof, Chrome)"},
    {"heapprofile", "heap profiles of V8 (node --heap-prof, Chrome)"},
    {"firefox", "profiles of the Firefox Profiler (Gecko's and processed), as samply writes them"},
    {"chrome", "traces in Chrome's format, clang's -ftime-trace: spans as calls"},
    {"callgrind", "callgrind.out of valgrind and other tools: functions and their callers"},
    {"gmon", "gmon.out of programs built with -pg; needs --program"},
    {"gperftools", "CPU profiles of gperftools' libprofiler (CPUPROFILE=FILE)"},
    {"addresses", "heaps, growth, locks and threads of gperftools; heaps of jemalloc"},
    {"heaptrack",
     "heaptrack's file: every allocation, with what was live at the peak and at the end"},
    {"dhat", "valgrind's DHAT, and Rust's dhat: blocks by where they were allocated"},
    {"massif", "valgrind's massif: what was allocated at the peak"},
    {"perf", "text of `perf script`"},
    {"folded", "folded stacks: main;parse;term 12"},
    {"uftrace", "a folder of uftrace record"},
    {"ftime-trace", "a folder with files of clang's -ftime-trace: a build (--compile-time)"},
    {NULL, NULL},
};
const struct fm_import_format *const fm_import_formats = formats;
G_STATIC_ASSERT(G_N_ELEMENTS(formats) == G_N_ELEMENTS(doors) + 3); /* folders are other doors */

/* --- recognising --- */

/* PowerShell's ">" writes UTF-16. NULL: the text is not UTF-16. */
static char *to_utf8(const uint8_t *bytes, size_t *size)
{
    bool little = *size >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe;
    bool big = *size >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff;
    gsize written = 0;
    if (!little && !big)
        return NULL;
    char *text = g_convert((const char *)bytes + 2, (gssize)*size - 2, "UTF-8",
                           little ? "UTF-16LE" : "UTF-16BE", NULL, &written, NULL);
    if (text != NULL)
        *size = written;
    return text;
}

static char *program_of(const char *name)
{
    static const char *const suffixes[] = {
        ".gz",     ".zst",       ".xz",   ".pb",         ".prof",          ".pprof",
        ".folded", ".callgrind", ".json", ".cpuprofile", ".heapprofile",   ".speedscope",
        ".perf",   ".txt",       ".out",  ".otlp",       ".perfetto-trace"};
    char *base = strcmp(name, "-") == 0 ? g_strdup("standard input") : g_path_get_basename(name);
    for (unsigned i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        size_t size = strlen(base), suffix = strlen(suffixes[i]);
        if (size > suffix && g_str_has_suffix(base, suffixes[i]))
            base[size - suffix] = '\0';
    }
    return base;
}

/* "perf's own file: perf script -i prof ..." */
static char *sentence(const struct fm_import_known *known, const char *path,
                      const struct fm_import_packing *packing)
{
    bool bare = strchr(path, '/') == NULL; /* which a shell would look for in PATH */
    g_autofree char *given =
        g_strconcat(bare && strstr(known->help, "record -- ") != NULL ? "./" : "", path, NULL);
    g_autofree char *word = packing != NULL ? g_strdup("FILE") : fm_shell_word(given);
    g_auto(GStrv) parts = g_strsplit(known->help, "%s", -1);
    g_autofree char *help = g_strjoinv(word, parts);
    return packing != NULL ? g_strdup_printf("%s within %s (%s makes a FILE of it): %s",
                                             known->what, packing->name, packing->command, help)
                           : g_strdup_printf("%s: %s", known->what, help);
}

static void refuse(const struct fm_import_input *input, const char *names, GError **error)
{
    struct fm_import_known known;
    if (input->size == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset 0: it is empty", input->name);
        return;
    }
    if (!fm_import_is_known(input->bytes, input->size, &known)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset 0: unknown format, expected one of %s", input->name, names);
        return;
    }
    g_autofree char *told = sentence(&known, input->name, input->packing);
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset 0: it cannot be imported: it is %s",
                input->name, told);
}

/* Many a file's first line is some words and a number. */
static bool looks_like(unsigned door, const struct fm_import_input *input)
{
    struct fm_import_known known;
    return doors[door].is(input) && (doors[door].is != fm_import_is_folded ||
                                     !fm_import_is_known(input->bytes, input->size, &known));
}

/* Some editors put U+FEFF in front of UTF-8: no format begins with it. */
static bool choose(struct fm_import_input *input, unsigned *ret, GError **error)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (input->size >= sizeof mark && memcmp(input->bytes, mark, sizeof mark) == 0) {
        input->bytes += sizeof mark;
        input->size -= sizeof mark;
        input->skipped = sizeof mark;
    }
    const char *asked = input->options->format;
    GString *names = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(doors); i++) {
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", formats[i].name);
        if (asked != NULL ? strcmp(asked, formats[i].name) == 0 : looks_like(i, input)) {
            *ret = i;
            g_string_free(names, TRUE);
            return true;
        }
    }
    if (asked != NULL)
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "unknown format '%s', expected one of %s",
                    asked, names->str);
    else
        refuse(input, names->str, error);
    g_string_free(names, TRUE);
    return false;
}

bool fm_import_bytes(const char *name, const uint8_t *bytes, size_t size,
                     const struct fm_import_options *options, struct fm_profile **ret,
                     GError **error)
{
    g_return_val_if_fail(name != NULL && options != NULL && ret != NULL, false);
    g_autoptr(GByteArray) unpacked = NULL;
    g_autofree char *program =
        options->program != NULL ? g_strdup(options->program) : program_of(name);
    unsigned format;
    size_t file_size = size;
    const struct fm_import_packing *packing = fm_import_packing_of(bytes, size);
    if (!fm_import_unpack(name, bytes, size, &unpacked, error))
        return false;
    if (unpacked != NULL) {
        bytes = unpacked->data;
        size = unpacked->len;
    }
    g_autofree char *converted = to_utf8(bytes, &size);
    if (converted != NULL)
        bytes = (const uint8_t *)converted;
    if (size == 0) /* an empty file is not mapped, and nothing unpacked has no memory */
        bytes = (const uint8_t *)"";
    struct fm_import_input input = {name, program, bytes, size, 0, file_size, packing, options};
    if (!choose(&input, &format, error))
        return false;
    GError *of_file = NULL;
    if (doors[format].read(&input, ret, &of_file))
        return true;
    if (!g_str_has_prefix(of_file->message,
                          name)) /* it is one of the profile that was made of it */
        g_prefix_error(&of_file, "%s: ", name);
    g_propagate_error(error, of_file);
    return false;
}

/* --- files --- */

static bool read_standard_input(GByteArray *ret, GError **error)
{
    uint8_t part[1 << 16];
    size_t size;
    while ((size = fread(part, 1, sizeof part, stdin)) > 0) {
        if (ret->len > G_MAXUINT32 / 2 - sizeof part) {
            g_set_error_literal(error, FM_ERROR, FM_ERROR_LIMIT,
                                "standard input: more than 2 GiB: give a file");
            return false;
        }
        g_byte_array_append(ret, part, (guint)size);
    }
    if (ferror(stdin)) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_IO, "standard input: cannot be read");
        return false;
    }
    return true;
}

/* A known one: what else there is of folders says opening them. */
static bool refuse_folder(const char *path, GError **error)
{
    struct fm_import_known known;
    if (!fm_import_is_known_folder(path, &known))
        return false;
    g_autofree char *told = sentence(&known, path, NULL);
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: it cannot be imported: it is %s", path,
                told);
    return true;
}

bool fm_import(const char *path, const struct fm_import_options *options, struct fm_profile **ret,
               GError **error)
{
    g_return_val_if_fail(path != NULL, false);
    if (strcmp(path, "-") == 0) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        return read_standard_input(bytes, error) &&
               fm_import_bytes(path, bytes->data, bytes->len, options, ret, error);
    }
    g_autoptr(FmMappedFile) file = NULL;
    GError *of_bytes = NULL;
    if (fm_import_is_uftrace(path)) {
        g_autofree char *program =
            options->program != NULL ? g_strdup(options->program) : program_of(path);
        return fm_import_uftrace(path, program, ret, error);
    }
    /* Builds in several folders are the same program's. */
    if (options->compile_time || fm_import_is_compile_time(path))
        return fm_import_compile_time(path, options->program != NULL ? options->program : "build",
                                      ret, error);
    if (refuse_folder(path, error) || !fm_mapped_file_open(path, &file, error))
        return false;
    bool done = fm_import_bytes(path, file->bytes, file->size, options, ret, &of_bytes);
    /* Zeros of a file that became shorter meanwhile are nobody's fault but that one's. */
    if (!fm_mapped_file_check(file, error)) {
        if (done)
            g_clear_pointer(ret, fm_profile_free);
        g_clear_error(&of_bytes);
        return false;
    }
    if (!done)
        g_propagate_error(error, of_bytes);
    return done;
}

/* The first bytes, unpacked and as UTF-8. */
struct head {
    GByteArray *unpacked;
    char *converted;
    const uint8_t *bytes;
    size_t size;
    const struct fm_import_packing *packing;
};

static void head_clear(struct head *head)
{
    g_clear_pointer(&head->unpacked, g_byte_array_unref);
    g_free(head->converted);
}

static void read_head(const struct fm_mapped_file *file, struct head *ret)
{
    *ret = (struct head){.bytes = file->bytes,
                         .size = MIN(file->size, HEAD_BYTES),
                         .packing = fm_import_packing_of(file->bytes, file->size)};
    ret->unpacked = fm_import_unpack_head(file->bytes, file->size, HEAD_BYTES);
    if (ret->unpacked != NULL) {
        ret->bytes = ret->unpacked->data;
        ret->size = ret->unpacked->len;
    }
    size_t size = ret->size & ~(size_t)1; /* UTF-16 has two bytes each */
    ret->converted = to_utf8(ret->bytes, &size);
    if (ret->converted != NULL) {
        ret->bytes = (const uint8_t *)ret->converted;
        ret->size = size;
    }
}

static bool choose_head(const char *path, const struct head *head)
{
    static const struct fm_import_options options = {0};
    unsigned format;
    return choose(&(struct fm_import_input){.name = path,
                                            .program = "",
                                            .bytes = head->bytes,
                                            .size = head->size,
                                            .options = &options},
                  &format, NULL);
}

bool fm_import_recognises(const char *path)
{
    g_autoptr(FmMappedFile) file = NULL;
    struct head head;
    if (fm_import_is_uftrace(path) || fm_import_is_compile_time(path))
        return true;
    if (!fm_mapped_file_open(path, &file, NULL) || file->size == 0)
        return false;
    read_head(file, &head);
    bool found = head.size > 0 && choose_head(path, &head);
    head_clear(&head);
    return found;
}

char *fm_import_describe(const char *path)
{
    struct fm_import_known known;
    g_autoptr(FmMappedFile) file = NULL;
    struct head head;
    if (fm_import_is_known_folder(path, &known))
        return sentence(&known, path, NULL);
    if (!fm_mapped_file_open(path, &file, NULL) || file->size == 0)
        return NULL;
    read_head(file, &head);
    bool found = head.size > 0 && !choose_head(path, &head) &&
                 fm_import_is_known(head.bytes, head.size, &known);
    head_clear(&head);
    return found ? sentence(&known, path, head.packing) : NULL;
}
