/* SPDX-License-Identifier: Apache-2.0 */
/* The two blocks that version 6 has before a module's procedures: state-update types, and the types
 * of variables. */
#include <string.h>

#include "base/error.h"
#include "mercury/procrep/internal.h"

static bool read_labels(struct fm_reader *in, const char *what, struct fm_strings *strings,
                        struct fm_proc_label **ret, uint32_t *ret_count, GError **error)
{
    uint32_t count;
    if (!fm_reader_count(in, what, 6, &count, error))
        return false;
    *ret = g_new0(struct fm_proc_label, count);
    for (*ret_count = 0; *ret_count < count; (*ret_count)++) {
        if (!fm_read_label(in, strings, &(*ret)[*ret_count], error))
            return false;
    }
    return true;
}

/* Checks the size of a block, its size field included; *ret then covers the bytes after the size
 * field. */
static bool begin_block(struct fm_reader *in, const char *what, struct fm_reader *ret,
                        GError **error)
{
    const uint8_t *begin = in->at;
    uint32_t size;
    if (!fm_read_u32(in, what, &size, error))
        return false;
    if (size < 4 || size - 4 > fm_reader_left(in))
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "%s is %u, expected 4 to the %zu bytes that are left", what, size,
                              fm_reader_left(in) + 4);
    *ret = *in;
    ret->end = begin + size;
    in->at = ret->end;
    return true;
}

static bool end_block(const struct fm_reader *block, const char *what, GError **error)
{
    return block->at == block->end || fm_reader_fail(block, block->at, FM_ERROR_FORMAT, error,
                                                     "%zu bytes of %s are left over, expected none",
                                                     fm_reader_left(block), what);
}

bool fm_read_oisu(struct fm_reader *in, struct fm_strings *strings,
                  struct fm_procrep_module *module, GError **error)
{
    static const char *const roles[FM_OISU_ROLES] = {"number of creators", "number of mutators",
                                                     "number of destructors"};
    uint32_t count;
    struct fm_reader block;
    if (!fm_reader_count(in, "number of state-update types", 4, &count, error))
        return false;
    if (count == 0)
        return true;
    if (!begin_block(in, "size of the state-update types", &block, error))
        return false;
    module->oisu = g_new0(struct fm_oisu_type, count);
    module->oisu_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct fm_oisu_type *type = &module->oisu[i];
        type->name = "";
        if (!fm_read_text(&block, "name of a state-update type", strings, &type->name, error))
            return false;
        for (unsigned role = 0; role < FM_OISU_ROLES; role++) {
            if (!read_labels(&block, roles[role], strings, &type->labels[role],
                             &type->label_count[role], error))
                return false;
        }
    }
    return end_block(&block, "the state-update types", error);
}

/* --- types --- */

static const char *builtin_name(uint8_t selector)
{
    static const char *const first[] = {"int", "uint", "float", "string", "char"};
    static const char *const sized[] = {"int8",  "uint8",  "int16", "uint16",
                                        "int32", "uint32", "int64", "uint64"};
    if (selector >= 5 && selector <= 9)
        return first[selector - 5];
    return selector >= 14 && selector <= 21 ? sized[selector - 14] : NULL;
}

static bool read_arguments(struct fm_reader *in, struct fm_type_entry *entry, uint32_t count,
                           uint32_t number, GError **error)
{
    entry->arguments = g_new0(uint32_t, count);
    for (; entry->argument_count < count; entry->argument_count++) {
        const uint8_t *begin = in->at;
        uint32_t argument;
        if (!fm_reader_u32(in, "number of a type", &argument, error))
            return false;
        if (argument >= number)
            return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                                  "type %u refers to type %u, expected one before it", number,
                                  argument);
        entry->arguments[entry->argument_count] = argument;
    }
    return true;
}

/* Writers put a function's result into the last argument. One reader expected another number after
 * it; extra: read that number, too. */
static bool read_type(struct fm_reader *in, struct fm_strings *strings, bool extra,
                      struct fm_type_entry *entry, uint32_t number, GError **error)
{
    const uint8_t *begin = in->at;
    uint32_t count = 0;
    entry->name = "";
    if (!fm_reader_byte(in, "kind of a type", &entry->selector, error))
        return false;
    if (entry->selector <= 4) {
        entry->kind = FM_TYPE_DEFINED;
        count = entry->selector;
        return fm_read_text(in, "name of a type", strings, &entry->name, error) &&
               (entry->selector < 4 ||
                fm_reader_count(in, "number of a type's arguments", 1, &count, error)) &&
               read_arguments(in, entry, count, number, error);
    }
    if (builtin_name(entry->selector) != NULL) {
        entry->kind = FM_TYPE_BUILTIN;
        entry->name = builtin_name(entry->selector);
        return true;
    }
    if (entry->selector == 13) {
        entry->kind = FM_TYPE_VARIABLE;
        return fm_reader_u32(in, "number of a type variable", &entry->number, error);
    }
    if (entry->selector < 10 || entry->selector > 12)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "kind of a type is %u, expected 0 to 21", entry->selector);
    entry->kind = entry->selector == 10   ? FM_TYPE_TUPLE
                  : entry->selector == 11 ? FM_TYPE_PREDICATE
                                          : FM_TYPE_FUNCTION;
    if (!fm_reader_count(in, "number of a type's arguments", 1, &count, error))
        return false;
    if (entry->kind == FM_TYPE_FUNCTION && extra)
        count++;
    if (entry->kind == FM_TYPE_FUNCTION && count == 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "a function's type has no arguments, expected its result");
    return read_arguments(in, entry, count, number, error);
}

static void clear_types(struct fm_procrep_module *module)
{
    for (uint32_t i = 0; i < module->type_count; i++)
        g_free(module->types[i].arguments);
    g_clear_pointer(&module->types, g_free);
    module->type_count = 0;
}

static bool read_all_types(struct fm_reader block, struct fm_strings *strings, bool extra,
                           struct fm_procrep_module *module, uint32_t count, GError **error)
{
    module->types = g_new0(struct fm_type_entry, count);
    module->type_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_type(&block, strings, extra, &module->types[i], i, error))
            return false;
    }
    return end_block(&block, "the types", error);
}

bool fm_read_types(struct fm_reader *in, struct fm_strings *strings,
                   struct fm_procrep_module *module, GError **error)
{
    uint32_t count;
    struct fm_reader block;
    if (!fm_reader_count(in, "number of types", 1, &count, error))
        return false;
    if (count == 0)
        return true;
    if (!begin_block(in, "size of the types", &block, error))
        return false;
    GError *first = NULL;
    if (read_all_types(block, strings, false, module, count, &first))
        return true;
    clear_types(module);
    if (read_all_types(block, strings, true, module, count, NULL)) {
        g_clear_error(&first);
        return true;
    }
    g_propagate_error(error, first);
    return false;
}

void fm_procrep_module_clear_blocks(struct fm_procrep_module *module)
{
    for (uint32_t i = 0; i < module->oisu_count; i++) {
        for (unsigned role = 0; role < FM_OISU_ROLES; role++)
            g_free(module->oisu[i].labels[role]);
    }
    g_free(module->oisu);
    clear_types(module);
}
