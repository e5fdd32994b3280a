/* SPDX-License-Identifier: Apache-2.0 */
/* A module's strings come before its procedures in the file, but procedures add strings. So
 * procedures are gathered in memory until their module ends. */
#include <string.h>

#include "base/error.h"
#include "mercury/procrep/internal.h"

struct fm_procrep_writer {
    unsigned version;
    struct fm_writer *out;
    const struct fm_procrep_module *module; /* NULL before the first */
    GString *strings;
    GHashTable *offsets; /* string -> its offset */
    GByteArray *procs;   /* procedures of the module, each with its marker byte */
    unsigned var_bytes;
};

struct fm_procrep_writer *fm_procrep_writer_new(unsigned version, struct fm_writer *out)
{
    g_return_val_if_fail(version == 5 || version == 6, NULL);
    struct fm_procrep_writer *writer = g_new0(struct fm_procrep_writer, 1);
    writer->version = version;
    writer->out = out;
    writer->strings = g_string_new(NULL);
    writer->offsets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    writer->procs = g_byte_array_new();
    g_autofree char *id = g_strdup_printf("Mercury deep profiler procrep version %u\n", version);
    fm_writer_bytes(out, id, strlen(id));
    return writer;
}

/* --- into memory --- */

static void put_byte(GByteArray *to, uint8_t byte)
{
    g_byte_array_append(to, &byte, 1);
}

static void put_u16(GByteArray *to, uint32_t value)
{
    put_byte(to, (uint8_t)(value >> 8));
    put_byte(to, (uint8_t)value);
}

static void put_u32(GByteArray *to, uint32_t value)
{
    put_u16(to, value >> 16);
    put_u16(to, value & 0xffff);
}

static void put_num(GByteArray *to, uint32_t value)
{
    for (int shift = 28; shift > 0; shift -= 7) {
        if (value >> shift != 0)
            put_byte(to, (uint8_t)(0x80 | (value >> shift & 0x7f)));
    }
    put_byte(to, value & 0x7f);
}

static void put_text(GByteArray *to, const char *text)
{
    put_num(to, (uint32_t)strlen(text));
    g_byte_array_append(to, (const guint8 *)text, (guint)strlen(text));
}

static void put_label(GByteArray *to, const struct fm_proc_label *label)
{
    put_byte(to, (uint8_t)label->kind);
    if (label->kind == FM_LABEL_SPECIAL)
        put_text(to, label->type_name);
    put_text(to, label->decl_module);
    put_text(to, label->def_module);
    put_text(to, label->name);
    put_num(to, label->arity);
    put_num(to, label->mode);
}

static void put_name(struct fm_procrep_writer *writer, const char *name)
{
    gpointer offset;
    uint32_t generated = fm_name_generated_code(name);
    if (generated != 0) {
        put_u32(writer->procs, generated);
        return;
    }
    if (!g_hash_table_lookup_extended(writer->offsets, name, NULL, &offset)) {
        offset = GUINT_TO_POINTER((guint)writer->strings->len);
        g_hash_table_insert(writer->offsets, g_strdup(name), offset);
        g_string_append_len(writer->strings, name, (gssize)strlen(name) + 1);
    }
    put_u32(writer->procs, GPOINTER_TO_UINT(offset) << 1);
}

static void put_var(struct fm_procrep_writer *writer, uint32_t var)
{
    if (writer->var_bytes == 1)
        put_byte(writer->procs, (uint8_t)var);
    else if (writer->var_bytes == 2)
        put_u16(writer->procs, var);
    else
        put_u32(writer->procs, var);
}

static void put_vars(struct fm_procrep_writer *writer, const uint32_t *vars, uint32_t count)
{
    put_u32(writer->procs, count);
    for (uint32_t i = 0; i < count; i++)
        put_var(writer, vars[i]);
}

/* --- modules --- */

static void put_oisu(GByteArray *to, const struct fm_procrep_module *module)
{
    GByteArray *block = g_byte_array_new();
    for (uint32_t i = 0; i < module->oisu_count; i++) {
        const struct fm_oisu_type *type = &module->oisu[i];
        put_text(block, type->name);
        for (unsigned role = 0; role < FM_OISU_ROLES; role++) {
            put_num(block, type->label_count[role]);
            for (uint32_t j = 0; j < type->label_count[role]; j++)
                put_label(block, &type->labels[role][j]);
        }
    }
    put_num(to, module->oisu_count);
    if (module->oisu_count > 0) {
        put_u32(to, block->len + 4);
        g_byte_array_append(to, block->data, block->len);
    }
    g_byte_array_unref(block);
}

static void put_types(GByteArray *to, const struct fm_procrep_module *module)
{
    GByteArray *block = g_byte_array_new();
    for (uint32_t i = 0; i < module->type_count; i++) {
        const struct fm_type_entry *entry = &module->types[i];
        put_byte(block, entry->selector);
        if (entry->kind == FM_TYPE_DEFINED)
            put_text(block, entry->name);
        if (entry->kind == FM_TYPE_VARIABLE)
            put_num(block, entry->number);
        if (entry->selector == 4 || (entry->selector >= 10 && entry->selector <= 12))
            put_num(block, entry->argument_count);
        for (uint32_t j = 0; j < entry->argument_count; j++)
            put_num(block, entry->arguments[j]);
    }
    put_num(to, module->type_count);
    if (module->type_count > 0) {
        put_u32(to, block->len + 4);
        g_byte_array_append(to, block->data, block->len);
    }
    g_byte_array_unref(block);
}

static void end_module(struct fm_procrep_writer *writer)
{
    if (writer->module == NULL)
        return;
    struct fm_writer *out = writer->out;
    fm_writer_byte(out, 1);
    fm_writer_string(out, writer->module->name);
    fm_writer_num(out, writer->strings->len);
    fm_writer_bytes(out, writer->strings->str, writer->strings->len);
    if (writer->version >= 6) {
        GByteArray *blocks = g_byte_array_new();
        put_oisu(blocks, writer->module);
        put_types(blocks, writer->module);
        fm_writer_bytes(out, blocks->data, blocks->len);
        g_byte_array_unref(blocks);
    }
    fm_writer_bytes(out, writer->procs->data, writer->procs->len);
    fm_writer_byte(out, 0);
    g_byte_array_set_size(writer->procs, 0);
    g_hash_table_remove_all(writer->offsets);
    g_string_truncate(writer->strings, 0);
}

void fm_procrep_writer_module(struct fm_procrep_writer *writer,
                              const struct fm_procrep_module *module, const char *strings,
                              size_t strings_size)
{
    static const char usual[] = "\0<too many variables>";
    end_module(writer);
    writer->module = module;
    if (strings == NULL) {
        strings = usual;
        strings_size = sizeof usual;
    }
    g_string_append_len(writer->strings, strings, (gssize)strings_size);
    for (size_t at = 0; at < strings_size; at += strlen(strings + at) + 1) {
        if (!g_hash_table_contains(writer->offsets, strings + at))
            g_hash_table_insert(writer->offsets, g_strdup(strings + at),
                                GUINT_TO_POINTER((guint)at));
    }
}

/* --- procedures --- */

static uint32_t highest_var(const struct fm_body *body)
{
    uint32_t highest = 0;
    for (uint32_t i = 0; i < body->name_count; i++)
        highest = MAX(highest, body->names[i].var);
    for (uint32_t i = 0; i < body->head_count; i++)
        highest = MAX(highest, body->heads[i].var);
    for (uint32_t i = 0; i < body->var_count; i++)
        highest = body->vars[i] == FM_NO_VAR ? highest : MAX(highest, body->vars[i]);
    for (uint32_t i = 0; i < body->goal_count; i++) {
        const struct fm_goal *goal = &body->goals[i];
        highest = goal->var == FM_NO_VAR ? highest : MAX(highest, goal->var);
        highest = goal->var2 == FM_NO_VAR ? highest : MAX(highest, goal->var2);
    }
    return highest;
}

static void put_var_header(struct fm_procrep_writer *writer, const struct fm_body *body)
{
    uint32_t highest = highest_var(body);
    unsigned width = highest <= 127 ? 0 : highest <= 32767 ? 1 : 2;
    bool typed = body->typed && writer->version >= 6;
    writer->var_bytes = 1u << width;
    if (writer->version == 5) {
        put_byte(writer->procs, (uint8_t)width);
        put_u32(writer->procs, body->name_count);
    } else {
        put_byte(writer->procs, (uint8_t)(width << 2 | 2u | (typed ? 1u : 0u)));
        put_num(writer->procs, body->name_count);
    }
    for (uint32_t i = 0; i < body->name_count; i++) {
        put_var(writer, body->names[i].var);
        put_name(writer, body->names[i].name);
        if (typed)
            put_num(writer->procs, body->names[i].type);
    }
}

static void put_args(struct fm_procrep_writer *writer, const struct fm_body *body,
                     const struct fm_goal *goal)
{
    put_vars(writer, body->vars + goal->args, goal->arg_count);
}

static void put_partial_args(struct fm_procrep_writer *writer, const struct fm_body *body,
                             const struct fm_goal *goal)
{
    put_u32(writer->procs, goal->arg_count);
    for (uint32_t i = 0; i < goal->arg_count; i++) {
        uint32_t var = body->vars[goal->args + i];
        put_byte(writer->procs, var != FM_NO_VAR);
        if (var != FM_NO_VAR)
            put_var(writer, var);
    }
}

static void put_atomic(struct fm_procrep_writer *writer, const struct fm_body *body,
                       const struct fm_goal *goal)
{
    switch (goal->kind) {
    case FM_GOAL_CONSTRUCT:
    case FM_GOAL_DECONSTRUCT:
        put_var(writer, goal->var);
        put_name(writer, goal->name);
        put_args(writer, body, goal);
        break;
    case FM_GOAL_PARTIAL_CONSTRUCT:
    case FM_GOAL_PARTIAL_DECONSTRUCT:
        put_var(writer, goal->var);
        put_name(writer, goal->name);
        put_partial_args(writer, body, goal);
        break;
    case FM_GOAL_ASSIGN:
    case FM_GOAL_CAST:
    case FM_GOAL_SIMPLE_TEST:
        put_var(writer, goal->var);
        put_var(writer, goal->var2);
        break;
    case FM_GOAL_HIGHER_ORDER:
    case FM_GOAL_METHOD:
        put_var(writer, goal->var);
        if (goal->kind == FM_GOAL_METHOD)
            put_u16(writer->procs, goal->method);
        put_args(writer, body, goal);
        break;
    case FM_GOAL_PLAIN_CALL:
    case FM_GOAL_BUILTIN_CALL:
        put_name(writer, goal->module);
        put_name(writer, goal->name);
        put_args(writer, body, goal);
        break;
    default:
        if (goal->kind == FM_GOAL_EVENT)
            put_name(writer, goal->name);
        put_args(writer, body, goal);
    }
    put_name(writer, goal->file);
    put_u32(writer->procs, goal->line);
    put_vars(writer, body->vars + goal->bound, goal->bound_count);
}

static void put_case(struct fm_procrep_writer *writer, const struct fm_body *body,
                     const struct fm_goal *arm)
{
    for (uint32_t i = 0; i < arm->functor_count; i++) {
        const struct fm_functor *functor = &body->functors[arm->functors + i];
        put_name(writer, functor->name);
        put_u16(writer->procs, functor->arity);
        if (i == 0)
            put_u32(writer->procs, arm->functor_count - 1);
    }
}

/* Writes a goal without its determinism, which follows its children. */
static void put_goal(struct fm_procrep_writer *writer, const struct fm_body *body,
                     const struct fm_goal *goal)
{
    if (goal->functor_count > 0)
        put_case(writer, body, goal);
    put_byte(writer->procs, (uint8_t)goal->kind);
    switch (goal->kind) {
    case FM_GOAL_SWITCH:
        put_byte(writer->procs, !goal->can_fail);
        put_var(writer, goal->var);
        put_u32(writer->procs, goal->child_count);
        break;
    case FM_GOAL_CONJ:
    case FM_GOAL_DISJ:
        put_u32(writer->procs, goal->child_count);
        break;
    case FM_GOAL_SCOPE:
        put_byte(writer->procs, goal->cut);
        break;
    case FM_GOAL_ITE:
    case FM_GOAL_NEGATION:
        break;
    default:
        put_atomic(writer, body, goal);
    }
}

static void put_goals(struct fm_procrep_writer *writer, const struct fm_body *body)
{
    uint32_t goal = 0;
    while (goal < body->goal_count) {
        put_goal(writer, body, &body->goals[goal]);
        /* This goal ends here if it has no children, and so does each goal of which it is the
         * last. */
        uint32_t ends = goal + 1;
        for (uint32_t at = goal; at != FM_NO_GOAL && body->goals[at].end == ends;
             at = body->goals[at].parent)
            put_byte(writer->procs, (uint8_t)body->goals[at].detism);
        goal = ends;
    }
}

void fm_procrep_writer_proc(struct fm_procrep_writer *writer, const struct fm_proc_label *label,
                            const struct fm_body *body)
{
    GByteArray *procs = writer->procs;
    put_byte(procs, 1);
    put_label(procs, label);
    guint begin = procs->len;
    put_u32(procs, 0);
    put_name(writer, body->file);
    put_var_header(writer, body);
    put_u32(procs, body->head_count);
    for (uint32_t i = 0; i < body->head_count; i++) {
        put_var(writer, body->heads[i].var);
        put_byte(procs, (uint8_t)body->heads[i].before);
        put_byte(procs, (uint8_t)body->heads[i].after);
    }
    put_goals(writer, body);
    put_byte(procs, (uint8_t)body->detism);
    uint32_t size = GUINT32_TO_BE(procs->len - begin);
    memcpy(procs->data + begin, &size, sizeof size);
}

void fm_procrep_writer_finish(struct fm_procrep_writer *writer)
{
    end_module(writer);
    fm_writer_byte(writer->out, 0);
    g_string_free(writer->strings, TRUE);
    g_hash_table_unref(writer->offsets);
    g_byte_array_unref(writer->procs);
    g_free(writer);
}

static bool encode_module(struct fm_procrep_writer *writer, const struct fm_procrep *procrep,
                          const struct fm_procrep_module *module, GError **error)
{
    if (writer->version == 5 && (module->type_count > 0 || module->oisu_count > 0)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "module %s has types, for which version 5 has no place", module->name);
        return false;
    }
    fm_procrep_writer_module(writer, module, module->strings, module->strings_size);
    for (uint32_t i = 0; i < module->proc_count; i++) {
        g_autoptr(FmBody) body = NULL;
        uint32_t proc = module->proc_first + i;
        if (!fm_procrep_body(procrep, proc, &body, error))
            return false;
        fm_procrep_writer_proc(writer, &procrep->procs[proc].label, body);
    }
    return true;
}

bool fm_procrep_encode(const struct fm_procrep *procrep, unsigned version, struct fm_writer *writer,
                       GError **error)
{
    struct fm_procrep_writer *encoder = fm_procrep_writer_new(version, writer);
    bool ok = true;
    for (uint32_t i = 0; ok && i < procrep->module_count; i++)
        ok = encode_module(encoder, procrep, &procrep->modules[i], error);
    fm_procrep_writer_finish(encoder);
    return ok;
}
