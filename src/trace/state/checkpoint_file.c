/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints in a file. All numbers as in pack.h.
 *
 *   "fathom-state" 0 version   13 bytes and one
 *   identity                   device, inode, size, time of change (s, ns) of the trace
 *   model's name, values       names with class, in the order of their numbers
 *   shared names, facts, checkpoints
 *   checksum                   8 bytes, little endian: FNV-1a (64 bits) of all before, eight bytes
 *                              at a time
 *
 * Values are numbered alike only if nothing was read of the trace before, or the same: a file whose
 * numbers do not fit is not used. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/writer.h"
#include "trace/state/checkpoint_internal.h"

enum { FILE_VERSION = 4, IDENTITY_NUMBERS = 5, MAGIC_BYTES = 13 };
static const char magic[MAGIC_BYTES] = "fathom-state";
#define ENDING ".fathom-state"
#define DEFAULT_BYTES (UINT64_C(256) << 20) /* limit for all such files */

static uint64_t checksum(const uint8_t *bytes, size_t length)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    size_t at = 0;
    for (; at + 8 <= length; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        sum = (sum ^ GUINT64_FROM_LE(word)) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
    }
    for (; at < length; at++)
        sum = (sum ^ bytes[at]) * UINT64_C(0x100000001b3);
    return sum;
}

/* --- identity and places --- */

static void add_status(const struct stat *status, uint64_t identity[IDENTITY_NUMBERS])
{
    identity[2] += (uint64_t)status->st_size;
    uint64_t s = (uint64_t)status->st_mtim.tv_sec, ns = (uint64_t)status->st_mtim.tv_nsec;
    if (s > identity[3] || (s == identity[3] && ns > identity[4])) {
        identity[3] = s;
        identity[4] = ns;
    }
}

/* A folder is as large as its files and as new as the newest. */
static void add_folder(const char *path, uint64_t identity[IDENTITY_NUMBERS])
{
    GDir *folder = g_dir_open(path, 0, NULL);
    const char *name;
    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
        struct stat status;
        char *file = g_build_filename(path, name, NULL);
        if (!g_str_has_suffix(name, ENDING) && stat(file, &status) == 0 && S_ISREG(status.st_mode))
            add_status(&status, identity);
        g_free(file);
    }
    if (folder != NULL)
        g_dir_close(folder);
}

static bool find_identity(const struct fm_trace *trace, uint64_t identity[IDENTITY_NUMBERS],
                          GError **error)
{
    struct stat status;
    memset(identity, 0, IDENTITY_NUMBERS * sizeof *identity);
    if (stat(trace->path, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: is not a file or folder, so its states are not saved", trace->path);
        return false;
    }
    identity[0] = status.st_dev;
    identity[1] = status.st_ino;
    if (S_ISDIR(status.st_mode))
        add_folder(trace->path, identity);
    else
        add_status(&status, identity);
    return true;
}

/* In a folder of the cache of analysed programs. NULL: there is to be no cache (FATHOM_CACHE=off),
 * or no home. */
static char *cache_folder(void)
{
    const char *given = g_getenv("FATHOM_CACHE"), *cache = g_getenv("XDG_CACHE_HOME");
    const char *home = g_getenv("HOME");
    if (given != NULL && given[0] != '\0')
        return strcmp(given, "off") == 0 ? NULL : g_build_filename(given, "states", NULL);
    if (cache != NULL && g_path_is_absolute(cache))
        return g_build_filename(cache, "fathom", "states", NULL);
    return home == NULL || !g_path_is_absolute(home)
               ? NULL
               : g_build_filename(home, ".cache", "fathom", "states", NULL);
}

static char *path_in(const char *folder, const uint64_t identity[IDENTITY_NUMBERS])
{
    return g_strdup_printf("%s/%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x" ENDING, folder,
                           identity[0], identity[1]);
}

struct kept {
    char *path;
    uint64_t bytes;
    gint64 used_s;
};

static void kept_clear(void *kept)
{
    g_free(((struct kept *)kept)->path);
}

static int newest_first(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return x->used_s != y->used_s ? (x->used_s > y->used_s ? -1 : 1) : strcmp(x->path, y->path);
}

/* Files that were not used for longest go, so that all are no more than the limit. */
static void prune(const char *folder)
{
    uint64_t limit = DEFAULT_BYTES, sum = 0;
    const char *size = g_getenv("FATHOM_CACHE_SIZE"), *name;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct kept));
    g_array_set_clear_func(all, kept_clear);
    if (size != NULL)
        g_ascii_string_to_unsigned(size, 10, 0, UINT64_MAX, &limit, NULL);
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        struct stat status;
        struct kept kept = {.path = g_build_filename(folder, name, NULL)};
        if (!g_str_has_suffix(name, ENDING) || lstat(kept.path, &status) != 0 ||
            !S_ISREG(status.st_mode)) {
            g_free(kept.path);
            continue;
        }
        kept.bytes = (uint64_t)status.st_size;
        kept.used_s = MAX(status.st_atim.tv_sec, status.st_mtim.tv_sec);
        g_array_append_val(all, kept);
    }
    g_array_sort(all, newest_first);
    for (guint i = 0; i < all->len; i++) {
        const struct kept *kept = &g_array_index(all, struct kept, i);
        sum += kept->bytes;
        if (sum > limit)
            (void)unlink(kept->path);
    }
}

/* --- writing --- */

static void pack_facts(GByteArray *to, const struct fm_checkpoints *checkpoints)
{
    fm_pack(to, checkpoints->facts->len);
    for (guint i = 0; i < checkpoints->facts->len; i++) {
        const struct lane_fact *fact = &g_array_index(checkpoints->facts, struct lane_fact, i);
        fm_pack(to, fact->kind);
        fm_pack(to, fact->key);
        fm_pack(to, fact->born);
        fm_pack(to, fact->ended);
        if (fact->ended == 0)
            continue;
        fm_pack(to, fact->parent == FM_LANE_NONE ? 0 : fact->parent + UINT64_C(1));
        fm_pack(to, fact->name_value);
        fm_pack(to, fact->has_number);
        if (fact->has_number)
            fm_pack_real(to, fact->number);
    }
}

static void pack_checkpoint(GByteArray *to, const struct checkpoint *checkpoint,
                            unsigned tracefile_count)
{
    fm_pack(to, checkpoint->time);
    fm_pack(to, checkpoint->sequence);
    fm_pack(to, checkpoint->lane_count);
    fm_pack(to, checkpoint->full);
    fm_pack(to, checkpoint->inconsistent);
    fm_pack(to, checkpoint->hidden);
    for (unsigned i = 0; i < tracefile_count; i++) {
        fm_pack(to, checkpoint->places[i].time);
        fm_pack(to, checkpoint->places[i].location);
    }
    fm_pack_bytes(to, checkpoint->lanes->data, checkpoint->lanes->len);
    fm_pack_bytes(to, checkpoint->model->data, checkpoint->model->len);
}

static GByteArray *pack_all(const struct fm_checkpoints *checkpoints,
                            const uint64_t identity[IDENTITY_NUMBERS])
{
    struct fm_trace *trace = checkpoints->trace;
    const struct fm_state_model *model = trace->state_model;
    GByteArray *to = g_byte_array_new();
    g_byte_array_append(to, (const uint8_t *)magic, MAGIC_BYTES);
    fm_pack(to, FILE_VERSION);
    for (unsigned i = 0; i < IDENTITY_NUMBERS; i++)
        fm_pack(to, identity[i]);
    fm_pack_bytes(to, model->name, strlen(model->name));
    uint32_t values = fm_trace_value_count(trace);
    fm_pack(to, values);
    for (uint32_t i = 0; i < values; i++) {
        const char *name = fm_trace_value_name(trace, i);
        fm_pack(to, fm_trace_value_class(trace, i));
        fm_pack_bytes(to, name, strlen(name));
    }
    GByteArray *shared = g_byte_array_new();
    if (model->shared_write != NULL)
        model->shared_write(trace, shared);
    fm_pack_bytes(to, shared->data, shared->len);
    g_byte_array_unref(shared);
    fm_pack(to, checkpoints->interval);
    fm_pack(to, checkpoints->known_until);
    fm_pack(to, checkpoints->tracefile_count);
    pack_facts(to, checkpoints);
    fm_pack(to, checkpoints->list->len);
    for (guint i = 0; i < checkpoints->list->len; i++)
        pack_checkpoint(to, g_ptr_array_index(checkpoints->list, i), checkpoints->tracefile_count);
    return to;
}

static bool write_file(const char *path, const GByteArray *bytes, GError **error)
{
    struct fm_writer *writer;
    if (!fm_writer_new(path, &writer, error))
        return false;
    fm_writer_bytes(writer, bytes->data, bytes->len);
    fm_writer_fixed(writer, checksum(bytes->data, bytes->len));
    return fm_writer_finish(writer, error);
}

bool fm_checkpoints_write(const struct fm_checkpoints *checkpoints, GError **error)
{
    uint64_t identity[IDENTITY_NUMBERS];
    if (!checkpoints->complete) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: not all states are known",
                    checkpoints->trace->path);
        return false;
    }
    if (!find_identity(checkpoints->trace, identity, error))
        return false;
    GByteArray *bytes = pack_all(checkpoints, identity);
    g_autofree char *folder = cache_folder();
    g_autofree char *path = folder == NULL ? NULL : path_in(folder, identity);
    bool written = true;
    if (folder != NULL) {
        g_mkdir_with_parents(folder, 0700);
        written = write_file(path, bytes, error);
        prune(folder);
    }
    g_byte_array_unref(bytes);
    return written;
}

/* --- reading --- */

struct parse {
    struct fm_unpack from;
    const uint8_t *begin;
    const char *name;
    GError **error;
};

/* Keeps the first error. Always false. */
static bool damaged(struct parse *parse, const char *what)
{
    if (parse->error != NULL && *parse->error == NULL)
        g_set_error(parse->error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %zu: damaged state file: %s", parse->name,
                    (size_t)(parse->from.at - parse->begin), what);
    return false;
}

/* *ret_fits false without an error: another numbering. */
static bool parse_values(struct parse *parse, struct fm_trace *trace, bool *ret_fits)
{
    struct fm_unpack *from = &parse->from;
    uint32_t count = fm_unpack_count(from);
    *ret_fits = true;
    for (uint32_t i = 0; i < count && *ret_fits; i++) {
        uint32_t length, state_class = fm_unpack_max(from, FM_STATE_CLASS_COUNT - 1);
        const uint8_t *name = fm_unpack_bytes(from, &length);
        if (from->bad)
            return damaged(parse, "names of values");
        *ret_fits = fm_trace_value_bytes(trace, (const char *)name, length,
                                         (enum fm_state_class)state_class) == i;
    }
    return true;
}

static bool parse_facts(struct parse *parse, struct fm_checkpoints *checkpoints)
{
    struct fm_unpack *from = &parse->from;
    uint32_t count = fm_unpack_count(from);
    for (uint32_t i = 0; i < count && !from->bad; i++) {
        struct lane_fact fact = {0};
        fact.kind = (uint8_t)fm_unpack_max(from, FM_LANE_KIND_COUNT - 1);
        fact.key = fm_unpack(from);
        fact.born = fm_unpack(from);
        fact.ended = fm_unpack(from);
        if (fact.ended != 0) {
            uint32_t parent = fm_unpack_max(from, count);
            fact.parent = parent == 0 ? FM_LANE_NONE : parent - 1;
            fact.name_value = fm_unpack_max(from, fm_trace_value_count(checkpoints->trace) - 1);
            fact.has_number = fm_unpack_max(from, 1) != 0;
            fact.number = fact.has_number ? fm_unpack_real(from) : 0;
        }
        g_array_append_val(checkpoints->facts, fact);
    }
    return from->bad ? damaged(parse, "lanes") : true;
}

static GByteArray *copy_bytes(struct fm_unpack *from)
{
    uint32_t length;
    const uint8_t *bytes = fm_unpack_bytes(from, &length);
    GByteArray *copy = g_byte_array_new();
    if (!from->bad && length > 0)
        g_byte_array_append(copy, bytes, length);
    return copy;
}

static bool parse_checkpoint(struct parse *parse, struct fm_checkpoints *checkpoints)
{
    struct fm_unpack *from = &parse->from;
    struct checkpoint *checkpoint = g_new0(struct checkpoint, 1);
    checkpoint->time = fm_unpack(from);
    checkpoint->sequence = fm_unpack(from);
    checkpoint->lane_count = fm_unpack_max(from, checkpoints->facts->len);
    checkpoint->full = fm_unpack_max(from, 1) != 0;
    checkpoint->inconsistent = fm_unpack(from);
    checkpoint->hidden = fm_unpack(from);
    checkpoint->places = g_new0(struct fm_place, MAX(checkpoints->tracefile_count, 1));
    for (unsigned i = 0; i < checkpoints->tracefile_count; i++) {
        checkpoint->places[i].time = fm_unpack(from);
        checkpoint->places[i].location = fm_unpack(from);
    }
    checkpoint->lanes = copy_bytes(from);
    checkpoint->model = copy_bytes(from);
    const struct checkpoint *before =
        checkpoints->list->len == 0
            ? NULL
            : g_ptr_array_index(checkpoints->list, checkpoints->list->len - 1);
    bool first_is_full = before != NULL || checkpoint->full;
    bool ascends = before == NULL ||
                   (checkpoint->time >= before->time && checkpoint->sequence > before->sequence);
    g_ptr_array_add(checkpoints->list, checkpoint);
    checkpoints->memory += fm_checkpoint_memory(checkpoint);
    if (from->bad || !first_is_full || !ascends)
        return damaged(parse, "a checkpoint");
    return true;
}

/* After the identity. NULL without an error: it does not fit the trace as it was opened. */
static struct fm_checkpoints *parse_body(struct parse *parse, struct fm_trace *trace,
                                         size_t memory_budget)
{
    struct fm_unpack *from = &parse->from;
    const struct fm_state_model *model = trace->state_model;
    uint32_t length;
    const uint8_t *bytes = fm_unpack_bytes(from, &length);
    if (from->bad || length != strlen(model->name) || memcmp(bytes, model->name, length) != 0) {
        damaged(parse, "states of another kind");
        return NULL;
    }
    bool fits;
    if (!parse_values(parse, trace, &fits) || !fits)
        return NULL;
    bytes = fm_unpack_bytes(from, &length);
    if (from->bad || (model->shared_read != NULL && !model->shared_read(trace, bytes, length))) {
        damaged(parse, "names");
        return NULL;
    }
    struct fm_checkpoints *checkpoints = fm_checkpoints_new(trace, memory_budget);
    fm_checkpoints_set_interval(checkpoints, fm_unpack(from));
    checkpoints->known_until = fm_unpack(from);
    checkpoints->complete = true;
    bool same_files = fm_unpack(from) == checkpoints->tracefile_count;
    bool good = (same_files || damaged(parse, "another number of tracefiles")) &&
                parse_facts(parse, checkpoints);
    uint32_t count = good ? fm_unpack_count(from) : 0;
    for (uint32_t i = 0; i < count && good; i++)
        good = parse_checkpoint(parse, checkpoints);
    if (good && (from->bad || from->at != from->end))
        good = damaged(parse, "its end");
    if (!good) {
        fm_checkpoints_free(checkpoints);
        return NULL;
    }
    while (checkpoints->memory > memory_budget && checkpoints->list->len > 1)
        fm_checkpoints_thin(checkpoints);
    return checkpoints;
}

struct fm_checkpoints *fm_checkpoints_parse(struct fm_trace *trace, const uint8_t *bytes,
                                            size_t length, const uint64_t *identity,
                                            const char *name, size_t memory_budget, GError **error)
{
    struct parse parse = {
        .from = {.at = bytes, .end = bytes + length}, .begin = bytes, .name = name, .error = error};
    if (length < MAGIC_BYTES + 1 || memcmp(bytes, magic, MAGIC_BYTES) != 0) {
        damaged(&parse, "it does not begin as one");
        return NULL;
    }
    parse.from.at += MAGIC_BYTES;
    if (fm_unpack(&parse.from) != FILE_VERSION)
        return NULL; /* another version: it is made anew */
    for (unsigned i = 0; i < IDENTITY_NUMBERS; i++) {
        uint64_t number = fm_unpack(&parse.from);
        if (identity != NULL && number != identity[i])
            return NULL;
    }
    return parse_body(&parse, trace, memory_budget);
}

static struct fm_checkpoints *read_file(const char *path, struct fm_trace *trace,
                                        const uint64_t *identity, size_t memory_budget,
                                        GError **error)
{
    char *bytes;
    size_t length;
    struct stat status;
    /* Saved states are never larger than this; another file of that name is not read. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size > 4 * (uint64_t)memory_budget + (1U << 26) ||
        !g_file_get_contents(path, &bytes, &length, NULL))
        return NULL;
    struct fm_checkpoints *checkpoints = NULL;
    uint64_t sum = 0;
    if (length > 8)
        memcpy(&sum, bytes + length - 8, 8);
    if (length <= 8 || GUINT64_FROM_LE(sum) != checksum((const uint8_t *)bytes, length - 8))
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %zu: damaged state file: checksum mismatch", path,
                    length > 8 ? length - 8 : 0);
    else
        checkpoints = fm_checkpoints_parse(trace, (const uint8_t *)bytes, length - 8, identity,
                                           path, memory_budget, error);
    g_free(bytes);
    return checkpoints;
}

struct fm_checkpoints *fm_checkpoints_read(struct fm_trace *trace, size_t memory_budget,
                                           GError **error)
{
    uint64_t identity[IDENTITY_NUMBERS];
    if (!find_identity(trace, identity, NULL))
        return NULL;
    g_autofree char *folder = cache_folder();
    g_autofree char *path = folder == NULL ? NULL : path_in(folder, identity);
    struct fm_checkpoints *checkpoints =
        path == NULL ? NULL : read_file(path, trace, identity, memory_budget, error);
    if (checkpoints != NULL)
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* it was used: see prune() */
    return checkpoints;
}
