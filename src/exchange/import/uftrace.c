/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of uftrace: functions that were entered and left, by thread, with the time of the clock.
 * Addresses become names by the maps of the process and the symbol files beside them. */
#include <string.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "exchange/import/folder.h"
#include "exchange/import/internal.h"

#define NS_PER_SECOND 1000000000u
#define HEADER_BYTES 40u
#define RECORD_BYTES 16u
#define VERSION_KNOWN 4u
#define FORKS_MAX 1000u     /* parents above one another */
#define MAGIC_OF_RECORDS 5u /* bits 3 to 5 of each */

enum record_type { RECORD_ENTRY, RECORD_EXIT, RECORD_LOST, RECORD_EVENT };

struct symbol {
    uint64_t address;
    const char *name;
    size_t size;
    uint32_t function; /* UINT32_MAX: not asked for yet */
};

/* The symbols of a program file, ascending; their text stays mapped. */
struct symbols {
    struct fm_mapped_file *file;
    GArray *list; /* struct symbol */
};

struct map {
    uint64_t start, end;
    char *path;
    struct symbols *symbols; /* symbols from the folder's list; NULL: none */
};

/* A program that a process ran from then on: exec begins another. */
struct session {
    uint64_t from; /* ns */
    char *name;
    GArray *maps; /* maps of the folder; NULL: not yet needed */
};

struct uftrace {
    const char *folder;
    struct fm_stacks *stacks;
    GHashTable *symbols;  /* file name -> struct symbols */
    GHashTable *sessions; /* process -> GArray of struct session, in their order */
    GHashTable *parents;  /* process -> the one that it was forked from */
    GHashTable *read;     /* threads whose records are read */
    GHashTable *maps;     /* session -> GArray of struct map */
    GHashTable *unknown;  /* address -> function + 1 */
    uint64_t lost, open;  /* records that uftrace lost; calls that were open at the end */
    uint32_t main_process;
};

static void free_symbols(gpointer data)
{
    struct symbols *symbols = data;
    fm_mapped_file_free(symbols->file);
    g_array_unref(symbols->list);
    g_free(symbols);
}

static void clear_map(gpointer data)
{
    g_free(((struct map *)data)->path);
}

static bool open_part(const struct uftrace *in, const char *name, struct fm_mapped_file **ret,
                      GError **error)
{
    g_autofree char *path = g_build_filename(in->folder, name, NULL);
    return fm_mapped_file_open(path, ret, error);
}

/* --- symbols --- */

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* "0000000000001149 t leaf": address, kind, name. "?" ends a section: what lies behind has no name.
 */
static void read_symbol_lines(struct symbols *symbols, struct fm_import_text *text)
{
    const char *line;
    size_t size;
    while (fm_import_text_next(text, &line, &size)) {
        uint64_t address = 0;
        size_t digits = 0;
        while (digits < size && digits < 16 && g_ascii_isxdigit(line[digits]))
            address = address << 4 | (uint64_t)g_ascii_xdigit_value(line[digits++]);
        if (digits == 0 || size < digits + 4 || line[digits] != ' ' || line[digits + 2] != ' ')
            continue; /* comments, and what later versions may add */
        struct symbol symbol = {address, line + digits + 3, size - digits - 3, UINT32_MAX};
        if (line[digits + 1] == '?')
            symbol.size = 0;
        g_array_append_val(symbols->list, symbol);
    }
    g_array_sort(symbols->list, compare_symbols);
}

static struct symbols *symbols_of(struct uftrace *in, const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *name = g_strconcat(base, ".sym", NULL);
    struct symbols *symbols = g_hash_table_lookup(in->symbols, name);
    if (symbols != NULL)
        return symbols;
    struct fm_import_text text;
    symbols = g_new0(struct symbols, 1);
    symbols->list = g_array_new(FALSE, FALSE, sizeof(struct symbol));
    if (open_part(in, name, &symbols->file, NULL)) {
        fm_import_text_begin(&text, &(struct fm_import_input){.name = name,
                                                              .bytes = symbols->file->bytes,
                                                              .size = symbols->file->size});
        read_symbol_lines(symbols, &text);
    }
    g_hash_table_insert(in->symbols, g_strdup(name), symbols);
    return symbols;
}

/* --- maps --- */

/* "55f176405000-55f17640a000 r-xp 00000000 00:00 0     /tmp/t build-id:b18e". */
static void read_map_line(GArray *maps, const char *line, size_t size)
{
    g_autofree char *text = g_strndup(line, size);
    char *end, *slash = strchr(text, '/');
    struct map map = {0};
    map.start = g_ascii_strtoull(text, &end, 16);
    if (*end != '-' || slash == NULL)
        return;
    map.end = g_ascii_strtoull(end + 1, NULL, 16);
    char *build_id = strstr(slash, " build-id:");
    map.path = build_id == NULL ? g_strdup(slash) : g_strndup(slash, (gsize)(build_id - slash));
    g_array_append_val(maps, map);
}

static GArray *maps_of(struct uftrace *in, const char *session)
{
    GArray *maps = g_hash_table_lookup(in->maps, session);
    g_autofree char *name = g_strdup_printf("sid-%s.map", session);
    struct fm_mapped_file *file = NULL;
    if (maps != NULL)
        return maps;
    maps = g_array_new(FALSE, FALSE, sizeof(struct map));
    g_array_set_clear_func(maps, clear_map);
    if (open_part(in, name, &file, NULL)) {
        struct fm_import_text text;
        const char *line;
        size_t size;
        fm_import_text_begin(&text, &(struct fm_import_input){
                                        .name = name, .bytes = file->bytes, .size = file->size});
        while (fm_import_text_next(&text, &line, &size))
            read_map_line(maps, line, size);
        fm_mapped_file_free(file);
    }
    g_hash_table_insert(in->maps, g_strdup(session), maps);
    return maps;
}

static struct symbol *symbol_at(struct symbols *symbols, uint64_t address)
{
    guint from = 0, to = symbols->list->len;
    while (from < to) {
        guint middle = (from + to) / 2;
        if (g_array_index(symbols->list, struct symbol, middle).address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return NULL;
    struct symbol *symbol = &g_array_index(symbols->list, struct symbol, from - 1);
    return symbol->size > 0 ? symbol : NULL;
}

static uint32_t unnamed(struct uftrace *in, uint64_t address)
{
    gpointer key = GSIZE_TO_POINTER((gsize)address);
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(in->unknown, key));
    if (known == 0) {
        char name[32];
        int size = g_snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x", (guint64)address);
        known = 1 + fm_stacks_function(
                        in->stacks, &(struct fm_stacks_name){.name = name, .size = (size_t)size});
        g_hash_table_insert(in->unknown, key, GUINT_TO_POINTER(known));
    }
    return known - 1;
}

static uint32_t function_at(struct uftrace *in, GArray *maps, uint64_t address)
{
    for (guint i = 0; maps != NULL && i < maps->len; i++) {
        struct map *map = &g_array_index(maps, struct map, i);
        if (address < map->start || address >= map->end)
            continue;
        if (map->symbols == NULL)
            map->symbols = symbols_of(in, map->path);
        struct symbol *symbol = symbol_at(map->symbols, address - map->start);
        if (symbol == NULL)
            break;
        if (symbol->function == UINT32_MAX)
            symbol->function = fm_stacks_function(
                in->stacks, &(struct fm_stacks_name){.name = symbol->name,
                                                     .size = symbol->size,
                                                     .unit = map->path,
                                                     .unit_size = strlen(map->path)});
        return symbol->function;
    }
    return unnamed(in, address);
}

/* --- tasks --- */

/* The number behind "key=" in a line; 0: there is none. */
static uint64_t number_in(const char *line, const char *key)
{
    const char *found = strstr(line, key);
    return found == NULL ? 0 : g_ascii_strtoull(found + strlen(key), NULL, 10);
}

static char *session_in(const char *line)
{
    const char *found = strstr(line, " sid=");
    size_t size = 0;
    if (found == NULL)
        return NULL;
    found += strlen(" sid=");
    while (g_ascii_isalnum(found[size]))
        size++;
    return g_strndup(found, size);
}

/* "timestamp=46456.566305561", in ns. */
static uint64_t time_in(const char *line)
{
    const char *found = strstr(line, " timestamp=");
    char *end;
    if (found == NULL)
        return 0;
    uint64_t seconds = g_ascii_strtoull(found + strlen(" timestamp="), &end, 10);
    return seconds * NS_PER_SECOND + (*end == '.' ? g_ascii_strtoull(end + 1, NULL, 10) : 0);
}

static void clear_session(gpointer data)
{
    g_free(((struct session *)data)->name);
}

static void take_session(struct uftrace *in, uint32_t process, const char *line)
{
    gpointer key = GUINT_TO_POINTER(process);
    GArray *list = g_hash_table_lookup(in->sessions, key);
    struct session session = {time_in(line), session_in(line), NULL};
    if (session.name == NULL)
        return;
    if (list == NULL) {
        list = g_array_new(FALSE, FALSE, sizeof session);
        g_array_set_clear_func(list, clear_session);
        g_hash_table_insert(in->sessions, key, list);
    }
    g_array_append_val(list, session);
}

/* Memory maps of the process at that time; before its own first session, those of its parent. */
static GArray *maps_at(struct uftrace *in, uint32_t process, uint64_t time)
{
    struct session *found = NULL, *later = NULL;
    for (unsigned up = 0; up < FORKS_MAX && process != 0 && found == NULL; up++) {
        GArray *list = g_hash_table_lookup(in->sessions, GUINT_TO_POINTER(process));
        for (guint i = 0; list != NULL && i < list->len; i++) {
            struct session *session = &g_array_index(list, struct session, i);
            if (session->from <= time)
                found = session;
            else if (later == NULL)
                later = session;
        }
        process = GPOINTER_TO_UINT(g_hash_table_lookup(in->parents, GUINT_TO_POINTER(process)));
    }
    if (found == NULL)
        found = later; /* clocks may disagree: better than no names */
    if (found != NULL && found->maps == NULL)
        found->maps = maps_of(in, found->name);
    return found == NULL ? NULL : found->maps;
}

/* A library that was opened later is in no map: its symbols tell how far it goes. */
static void take_library(struct uftrace *in, const char *line)
{
    g_autofree char *session = session_in(line);
    const char *base = strstr(line, " base="), *name = strstr(line, " libname=\"");
    if (session == NULL || base == NULL || name == NULL)
        return;
    name += strlen(" libname=\"");
    struct map map = {.start = g_ascii_strtoull(base + strlen(" base="), NULL, 16),
                      .path = g_strndup(name, strcspn(name, "\""))};
    map.symbols = symbols_of(in, map.path);
    guint count = map.symbols->list->len;
    if (count > 0)
        map.end = map.start + g_array_index(map.symbols->list, struct symbol, count - 1).address;
    GArray *maps = maps_of(in, session);
    g_array_append_val(maps, map);
}

/* Called with the lines of task.txt in their order. */
static bool read_task(struct uftrace *in, const char *line, GError **error);

static void push_thread(struct uftrace *in, uint32_t thread, uint32_t process)
{
    g_autofree char *name = process != in->main_process
                                ? g_strdup_printf("process %u, thread %u", process, thread)
                            : thread == process ? g_strdup("main thread")
                                                : g_strdup_printf("thread %u", thread);
    fm_stacks_cut(in->stacks, 0);
    fm_stacks_push_outside(in->stacks, name, strlen(name));
}

static bool record_failed(const struct fm_mapped_file *file, size_t at, GError **error,
                          const char *text)
{
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset %zu: %s", file->path, at, text);
    return false;
}

/* Depths of one thread's records tell whether a record was lost between them. */
static bool take_record(struct uftrace *in, const struct fm_mapped_file *file, size_t at,
                        uint32_t process, uint64_t *last, GError **error)
{
    g_assert(at + RECORD_BYTES <= file->size && fm_stacks_depth(in->stacks) >= 1);
    uint64_t time, word;
    memcpy(&time, file->bytes + at, sizeof time);
    memcpy(&word, file->bytes + at + sizeof time, sizeof word);
    time = GUINT64_FROM_LE(time);
    word = GUINT64_FROM_LE(word);
    enum record_type type = (enum record_type)(word & 3);
    uint32_t depth = (uint32_t)(word >> 6 & 0x3ff), open = fm_stacks_depth(in->stacks) - 1;
    if ((word >> 3 & 7) != MAGIC_OF_RECORDS)
        return record_failed(file, at, error, "not a record of uftrace");
    if ((word & 4) != 0)
        return record_failed(
            file, at, error,
            "a record with arguments, expected none: use uftrace record --no-args");
    if (type == RECORD_LOST) {
        in->lost++;
        return true;
    }
    if (type == RECORD_EVENT)
        return true;
    if (*last != 0 && time < *last)
        return record_failed(file, at, error, "a time before that of the record before");
    if (*last != 0 && open > 0)
        fm_stacks_add(in->stacks, FM_QUANTA, time - *last);
    *last = time;
    if (type == RECORD_ENTRY) {
        in->open += open > depth ? open - depth : 0;
        fm_stacks_cut(in->stacks, MIN(open, depth) + 1);
        fm_stacks_push(in->stacks, function_at(in, maps_at(in, process, time), word >> 16), 0);
        fm_stacks_add(in->stacks, FM_CALLSEQS, 1);
        fm_stacks_add(in->stacks, FM_EXITS, 1);
    } else if (open > depth) {
        fm_stacks_cut(in->stacks, depth + 1);
    }
    return true;
}

static bool read_thread(struct uftrace *in, uint32_t thread, uint32_t process, GError **error)
{
    g_autofree char *name = g_strdup_printf("%u.dat", thread);
    g_autofree char *path = g_build_filename(in->folder, name, NULL);
    g_autoptr(FmMappedFile) file = NULL;
    uint64_t last = 0;
    if (!g_hash_table_add(in->read, GUINT_TO_POINTER(thread)))
        return true; /* a process that was forked and then executed a program has both lines */
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return true; /* it called nothing */
    if (!fm_mapped_file_open(path, &file, error))
        return false;
    push_thread(in, thread, process);
    for (size_t at = 0; at + RECORD_BYTES <= file->size; at += RECORD_BYTES) {
        if (!take_record(in, file, at, process, &last, error))
            return false;
    }
    if (file->size % RECORD_BYTES != 0)
        return record_failed(file, file->size - file->size % RECORD_BYTES, error,
                             "unexpected end of file within a record of 16 bytes");
    in->open += fm_stacks_depth(in->stacks) - 1;
    return fm_mapped_file_check(file, error);
}

static bool read_task(struct uftrace *in, const char *line, GError **error)
{
    uint32_t process = (uint32_t)number_in(line, " pid=");
    if (g_str_has_prefix(line, "FORK "))
        return read_thread(in, process, process, error);
    if (g_str_has_prefix(line, "TASK ")) {
        return read_thread(in, (uint32_t)number_in(line, " tid="), process, error);
    }
    return true;
}

/* Reads what the records need: programs, libraries, forks. */
static void note_task(struct uftrace *in, const char *line)
{
    uint32_t process = (uint32_t)number_in(line, " pid=");
    if (g_str_has_prefix(line, "SESS ")) {
        if (in->main_process == 0)
            in->main_process = process;
        take_session(in, process, line);
    } else if (g_str_has_prefix(line, "FORK ")) {
        g_hash_table_insert(in->parents, GUINT_TO_POINTER(process),
                            GUINT_TO_POINTER((guint)number_in(line, " ppid=")));
    } else if (g_str_has_prefix(line, "DLOP ")) {
        take_library(in, line);
    }
}

static bool read_info(const struct uftrace *in, GError **error)
{
    g_autoptr(FmMappedFile) file = NULL;
    if (!open_part(in, "info", &file, error))
        return false;
    if (file->size < HEADER_BYTES || memcmp(file->bytes, "Ftrace!", 8) != 0)
        return record_failed(file, 0, error, "not a header of uftrace, expected \"Ftrace!\"");
    if (file->bytes[8] != VERSION_KNOWN || file->bytes[14] != 1 || file->bytes[15] != 2)
        return record_failed(file, 8, error,
                             "another version of the format, expected 4, little endian, 64 bits");
    return true;
}

static bool read_all(struct uftrace *in, GError **error)
{
    g_autoptr(FmMappedFile) file = NULL;
    struct fm_import_text text;
    const char *line;
    size_t size;
    if (!read_info(in, error) || !open_part(in, "task.txt", &file, error))
        return false;
    const struct fm_import_input input = {
        .name = file->path, .bytes = file->bytes, .size = file->size};
    fm_import_text_begin(&text, &input);
    while (fm_import_text_next(&text, &line, &size)) {
        g_autofree char *copy = g_strndup(line, size);
        note_task(in, copy);
    }
    fm_import_text_begin(&text, &input);
    while (fm_import_text_next(&text, &line, &size)) {
        g_autofree char *copy = g_strndup(line, size);
        if (!read_task(in, copy, error))
            return false;
    }
    return true;
}

static bool finish(struct uftrace *in, struct fm_profile **ret, GError **error)
{
    struct fm_build *build = fm_stacks_build(in->stacks);
    if (in->lost > 0) {
        g_autofree char *note = g_strdup_printf("uftrace lost records at %" G_GUINT64_FORMAT
                                                " places: there were more calls",
                                                (guint64)in->lost);
        fm_build_note(build, note);
    }
    if (in->open > 0) {
        g_autofree char *note = g_strdup_printf(
            "%" G_GUINT64_FORMAT " calls have no end in the trace", (guint64)in->open);
        fm_build_note(build, note);
    }
    fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
    fm_build_nature(build, FM_NATURE_CLOCK | FM_NATURE_TIME_EXACT, 0);
    fm_import_only_knows(build, FM_IMPORT_CALLS | 1u << FM_QUANTA);
    return fm_stacks_finish(g_steal_pointer(&in->stacks), ret, error);
}

bool fm_import_is_uftrace(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "info", NULL);
    g_autoptr(FmMappedFile) file = NULL;
    return fm_mapped_file_open(path, &file, NULL) && file->size >= 8 &&
           memcmp(file->bytes, "Ftrace!", 8) == 0;
}

bool fm_import_uftrace(const char *folder, const char *program, struct fm_profile **ret,
                       GError **error)
{
    g_return_val_if_fail(folder != NULL && program != NULL && ret != NULL, false);
    struct uftrace in = {
        .folder = folder,
        .stacks = fm_stacks_new(program, "a trace of uftrace: time is that of the clock"),
        .symbols = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_symbols),
        .sessions = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref),
        .parents = g_hash_table_new(NULL, NULL),
        .read = g_hash_table_new(NULL, NULL),
        .maps =
            g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref),
        .unknown = g_hash_table_new(NULL, NULL)};
    bool done = read_all(&in, error) && finish(&in, ret, error);
    fm_stacks_free(in.stacks);
    g_hash_table_unref(in.maps);
    g_hash_table_unref(in.symbols);
    g_hash_table_unref(in.sessions);
    g_hash_table_unref(in.parents);
    g_hash_table_unref(in.read);
    g_hash_table_unref(in.unknown);
    return done;
}
