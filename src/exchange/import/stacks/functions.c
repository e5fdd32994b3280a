/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of functions: name, unit and file. */
#include <string.h>

#include "base/text/demangle.h"
#include "exchange/import/internal.h"
#include "exchange/import/memo.h"
#include "exchange/import/stacks/internal.h"

static char *text_of(const char *text, size_t size)
{
    return size == 0 ? g_strdup("") : g_strndup(text, size);
}

static const char *const no_names[] = {
    "??",         "???",        "(anonymous)", "(anonymous function)", "(unknown)", "<anonymous>",
    "<dictcomp>", "<genexpr>",  "<lambda>",    "<listcomp>",           "<setcomp>", "<unknown>",
    "anonymous",  "operator()", "{closure}",
};

/* Whether code of several functions may bear the name: of frames without a symbol, which stand
 * under the file or as unknown, and of functions that have none in the source. */
static bool is_no_name(const struct fm_stacks_name *name)
{
    if (name->size == 0 || (name->name[0] == '[' && name->name[name->size - 1] == ']'))
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(no_names); i++) {
        if (strlen(no_names[i]) == name->size && memcmp(no_names[i], name->name, name->size) == 0)
            return true;
    }
    return false;
}

/* The line where such a function begins tells it from others. */
static uint32_t line_that_tells(const struct fm_stacks_name *name)
{
    return name->begins && name->file_size > 0 && is_no_name(name) ? name->line : 0;
}

static uint32_t add_function(struct fm_stacks *stacks, const struct fm_stacks_name *name,
                             uint64_t hash)
{
    g_autofree char *linked = text_of(name->name, name->size);
    g_autofree char *text = fm_demangle(linked);
    g_autofree char *given = text_of(name->unit, name->unit_size);
    g_autofree char *file = text_of(name->file, name->file_size);
    const char *unit = name->outside ? "" : given[0] != '\0' ? given : stacks->program;
    struct function function = {
        .hash = hash, .name = stacks->texts->len, .line = line_that_tells(name)};
    function.nameless = !name->outside && function.line == 0 && is_no_name(name);
    function.ps = fm_build_ps(stacks->build,
                              &(struct fm_ps){.label_kind = FM_LABEL_PREDICATE,
                                              .decl_module = unit,
                                              .def_module = unit,
                                              .name = text[0] != '\0' ? text : "[unknown]",
                                              .type_name = "",
                                              .arity = FM_ARITY_UNKNOWN,
                                              .file = file,
                                              .line = name->line,
                                              .in_interface = !name->outside,
                                              .raw_name = strcmp(text, linked) == 0 ? "" : linked});
    const struct {
        const char *text;
        size_t size;
    } parts[] = {
        {name->name, name->size}, {name->unit, name->unit_size}, {name->file, name->file_size}};
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i].size > 0)
            g_byte_array_append(stacks->texts, (const guint8 *)parts[i].text, (guint)parts[i].size);
        g_byte_array_append(stacks->texts, (const guint8 *)"", 1);
    }
    function.size = stacks->texts->len - function.name;
    g_array_append_val(stacks->functions, function);
    return stacks->functions->len - 1;
}

static bool is_named(const struct fm_stacks *stacks, uint32_t number,
                     const struct fm_stacks_name *name)
{
    g_assert(number < stacks->functions->len);
    const struct function *function = &g_array_index(stacks->functions, struct function, number);
    const guint8 *at = stacks->texts->data + function->name;
    if (function->line != line_that_tells(name) ||
        function->size != name->size + name->unit_size + name->file_size + 3)
        return false;
    return (name->size == 0 || memcmp(at, name->name, name->size) == 0) && at[name->size] == 0 &&
           (name->unit_size == 0 ||
            memcmp(at + name->size + 1, name->unit, name->unit_size) == 0) &&
           at[name->size + 1 + name->unit_size] == 0 &&
           (name->file_size == 0 ||
            memcmp(at + name->size + name->unit_size + 2, name->file, name->file_size) == 0);
}

uint32_t fm_stacks_function(struct fm_stacks *stacks, const struct fm_stacks_name *name)
{
    g_assert(name->size + name->unit_size + name->file_size < G_MAXUINT32 / 2);
    uint64_t hash = fm_import_hash((uint64_t)line_that_tells(name) << 1 | name->outside, name->name,
                                   name->size);
    hash = fm_import_hash(hash, name->unit, name->unit_size);
    hash = fm_import_hash(hash, name->file, name->file_size);
    uint64_t at = hash;
    for (uint32_t number; (number = stacks->by_name.slots[at & stacks->by_name.mask]) != 0; at++) {
        if (g_array_index(stacks->functions, struct function, number - 1).hash == hash &&
            is_named(stacks, number - 1, name))
            return number - 1;
    }
    uint32_t number = add_function(stacks, name, hash);
    fm_stacks_index_add(stacks, &stacks->by_name, hash, number);
    return number;
}

uint32_t fm_stacks_outside(struct fm_stacks *stacks, const char *name, size_t size)
{
    return fm_stacks_function(
        stacks, &(struct fm_stacks_name){.name = name, .size = size, .outside = true});
}

void fm_stacks_push_outside(struct fm_stacks *stacks, const char *name, size_t size)
{
    fm_stacks_push(stacks, fm_stacks_outside(stacks, name, size), 0);
}

char *fm_stacks_unnamed(const char *path, size_t size)
{
    g_autofree char *whole = text_of(path, size);
    if (whole[0] == '\0')
        return g_strdup("[unknown]");
    char *base = g_path_get_basename(whole);
    if (base[0] == '[')
        return base;
    char *name = g_strdup_printf("[%s]", base);
    g_free(base);
    return name;
}
