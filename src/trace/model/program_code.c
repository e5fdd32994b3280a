/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/model/program_code.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "trace/model/symbols.h"
#include "trace/state/pack.h"
#include "base/hash.h"

enum { PROCESSES_MAX = 4096, NAMED_MAX = 1 << 20 };

struct program {
    uint64_t process; /* 0 = the session does not tell */
    struct fm_symbols *symbols;
    GHashTable *values; /* address -> value: of functions that were named already */
};

struct fm_program_code {
    GHashTable *programs; /* by process */
};

static void free_program(void *data)
{
    struct program *program = data;
    fm_symbols_free(program->symbols);
    g_hash_table_unref(program->values);
    g_free(program);
}

struct fm_program_code *fm_program_code_new(void)
{
    struct fm_program_code *code = g_new0(struct fm_program_code, 1);
    code->programs = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, free_program);
    return code;
}

void fm_program_code_free(struct fm_program_code *code)
{
    g_hash_table_unref(code->programs);
    g_free(code);
}

/* NULL when there are too many. */
static struct program *make_program(struct fm_program_code *code, uint64_t process)
{
    struct program *program = g_hash_table_lookup(code->programs, &process);
    if (program != NULL || g_hash_table_size(code->programs) >= PROCESSES_MAX)
        return program;
    program = g_new0(struct program, 1);
    program->process = process;
    program->symbols = fm_symbols_new();
    program->values = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    g_hash_table_insert(code->programs, &program->process, program);
    return program;
}

static uint64_t process_of(const struct kernel_event *at)
{
    uint64_t process = 0;
    return fm_kernel_number(at, "vpid", &process) || fm_kernel_number(at, "pid", &process) ? process
                                                                                           : 0;
}

/* --- what the events tell --- */

static void object_loaded(struct kernel_event *at)
{
    char path[PATH_MAX];
    uint64_t relocated;
    struct fm_symbols_object object = {.path = path};
    struct program *program = make_program(at->names->code, process_of(at));
    if (program == NULL || !fm_kernel_number(at, "baddr", &object.base) ||
        !fm_kernel_number(at, "memsz", &object.size) || object.size == 0 ||
        !(fm_kernel_text(at, "path", path, sizeof path) ||
          fm_kernel_text(at, "sopath", path, sizeof path)))
        return;
    object.path_length = strlen(path);
    object.fixed = fm_kernel_number(at, "is_pic", &relocated) && relocated == 0;
    fm_symbols_add_object(program->symbols, &object);
    g_hash_table_remove_all(program->values);
}

/* The importer writes a sequence of numbers as "[184,246,...]". */
static size_t read_bytes(const char *text, uint8_t *ret, size_t most)
{
    g_assert(most > 0);
    size_t count = 0;
    while (*text != '\0' && count < most) {
        if (*text < '0' || *text > '9') {
            text++;
            continue;
        }
        char *end;
        ret[count++] = (uint8_t)strtoul(text, &end, 10);
        text = end;
    }
    return count;
}

static void build_told(struct kernel_event *at)
{
    char text[5 * FM_SYMBOLS_BUILD_ID_MAX + 2];
    uint8_t id[FM_SYMBOLS_BUILD_ID_MAX];
    uint64_t base;
    struct program *program = make_program(at->names->code, process_of(at));
    if (program == NULL || !fm_kernel_number(at, "baddr", &base) ||
        !fm_kernel_text(at, "build_id", text, sizeof text))
        return;
    fm_symbols_set_build_id(program->symbols, base, id, read_bytes(text, id, sizeof id));
    g_hash_table_remove_all(program->values);
}

kernel_handler *fm_program_code_handler(const char *name)
{
    static const struct {
        const char *name;
        kernel_handler *handler;
    } events[] = {
        {"lttng_ust_statedump:bin_info", object_loaded},
        {"lttng_ust_statedump:soinfo", object_loaded},
        {"lttng_ust_statedump:build_id", build_told},
        {"lttng_ust_lib:load", object_loaded},
        {"lttng_ust_lib:build_id", build_told},
        {"lttng_ust_dl:dlopen", object_loaded},
        {"lttng_ust_dl:dlmopen", object_loaded},
        {"lttng_ust_dl:build_id", build_told},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
        if (strcmp(name, events[i].name) == 0)
            return events[i].handler;
    }
    return NULL;
}

/* --- names --- */

char *fm_program_code_name(struct fm_program_code *code, uint64_t process, uint64_t address)
{
    struct program *program = g_hash_table_lookup(code->programs, &process);
    char *name = program == NULL ? NULL : fm_symbols_name(program->symbols, address);
    if (name != NULL && g_str_has_prefix(name, "0x"))
        g_clear_pointer(&name, g_free);
    return name;
}

uint32_t fm_program_code_value(struct kernel_event *at, uint64_t address)
{
    uint64_t process = process_of(at);
    struct program *program = g_hash_table_lookup(at->names->code->programs, &process);
    void *known;
    if (program != NULL && g_hash_table_lookup_extended(program->values, &address, NULL, &known))
        return GPOINTER_TO_UINT(known);
    g_autofree char *name = program == NULL ? g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address)
                                            : fm_symbols_name(program->symbols, address);
    uint32_t value = fm_trace_value(at->trace, name, FM_STATE_SPAN);
    g_assert(value < fm_trace_value_count(at->trace));
    if (program != NULL) {
        if (g_hash_table_size(program->values) >= NAMED_MAX)
            g_hash_table_remove_all(program->values);
        g_hash_table_insert(program->values, g_memdup2(&address, sizeof address),
                            GUINT_TO_POINTER(value));
    }
    return value;
}

/* --- with saved states --- */

void fm_program_code_write(const struct fm_program_code *code, GByteArray *to)
{
    GHashTableIter iter;
    void *data;
    fm_pack(to, g_hash_table_size(code->programs));
    g_hash_table_iter_init(&iter, code->programs);
    while (g_hash_table_iter_next(&iter, NULL, &data)) {
        const struct program *program = data;
        fm_pack(to, program->process);
        fm_symbols_write(program->symbols, to);
    }
}

bool fm_program_code_read(struct fm_program_code *code, const uint8_t *bytes, size_t length)
{
    struct fm_unpack from = {.at = bytes, .end = bytes + length};
    uint32_t count = fm_unpack_count(&from);
    for (uint32_t i = 0; i < count && !from.bad; i++) {
        struct program *program = make_program(code, fm_unpack(&from));
        if (program == NULL || !fm_symbols_read(program->symbols, &from))
            return false;
    }
    return !from.bad && from.at == from.end;
}
