/* SPDX-License-Identifier: Apache-2.0 */
/* Makes texts of trees. */
#include <string.h>

#include "base/names/name.h"

unsigned fm_name_around_count(const struct fm_name *name)
{
    const struct fm_name_scope *scope = &name->scope;
    for (unsigned i = scope->count; i-- > 0;) {
        if (scope->components[i].kind == FM_NAME_LAMBDA)
            return i;
        if (i + 1 < scope->count && scope->components[i].parameters != NULL)
            return i + 1;
    }
    return 0;
}

struct fm_name fm_name_around(const struct fm_name *name, unsigned count)
{
    static const struct fm_name_source nowhere = {.text = ""};
    struct fm_name around = {.source = &nowhere,
                             .prefix = "",
                             .mark = "",
                             .variant = "",
                             .clone = "",
                             .dropped = "",
                             .scope = {name->scope.components, count},
                             .first = name->first,
                             .has_first = name->has_first && name->first < count,
                             .call_marks = name->call_marks,
                             .std_root = name->std_root,
                             .type = name->type,
                             .trait = name->trait};
    return around;
}

struct fm_name_list *fm_name_last_arguments(const struct fm_name_scope *scope)
{
    return scope->count > 0 ? scope->components[scope->count - 1].arguments : NULL;
}

/* --- types --- */

static void append_brief_scope(struct fm_name_pool *pool, const struct fm_name_scope *scope,
                               GString *out)
{
    struct fm_name name = {.prefix = "", .scope = *scope};
    unsigned around = fm_name_around_count(&name);
    const struct fm_name_component *last = &scope->components[scope->count - 1];
    if (around == 0 && last->kind != FM_NAME_LAMBDA) {
        g_string_append(out, last->conversion != NULL ? fm_name_brief(pool, last->conversion)
                                                      : last->text);
        return;
    }
    struct fm_name whole = fm_name_around(&name, scope->count);
    const struct fm_name_shown shown = {0};
    fm_name_render(pool, &whole, &shown, false, out);
}

const char *fm_name_brief(struct fm_name_pool *pool, struct fm_name_type *type)
{
    if (type->brief != NULL)
        return type->brief;
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < type->count; i++) {
        if (type->pieces[i].scope == NULL)
            g_string_append(out, type->pieces[i].literal);
        else
            append_brief_scope(pool, type->pieces[i].scope, out);
    }
    type->brief = fm_name_keep(pool, out);
    return type->brief;
}

const char *fm_name_to_depth(struct fm_name_pool *pool, const struct fm_name_type *type,
                             unsigned depth)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < type->count; i++) {
        const struct fm_name_scope *scope = type->pieces[i].scope;
        if (scope == NULL) {
            g_string_append(out, type->pieces[i].literal);
            continue;
        }
        append_brief_scope(pool, scope, out);
        const struct fm_name_list *list = fm_name_last_arguments(scope);
        for (unsigned k = 0; depth > 0 && list != NULL && k < list->count; k++)
            g_string_append_printf(out, "%s%s", k == 0 ? "<" : ", ",
                                   fm_name_to_depth(pool, list->types[k], depth - 1));
        if (depth > 0 && list != NULL && list->count > 0)
            g_string_append_c(out, '>');
    }
    return fm_name_keep(pool, out);
}

/* --- names --- */

/* Components from..count that the short form shows: by default the innermost named scope and the
 * own name. */
static void choose_default(const struct fm_name *name, unsigned from, bool *chosen)
{
    unsigned count = name->scope.count;
    const struct fm_name_component *components = name->scope.components;
    if (count == from)
        return;
    if (name->has_first && from <= name->first) {
        for (unsigned i = name->first; i < count; i++)
            chosen[i] = true;
        return;
    }
    chosen[count - 1] = true;
    unsigned scope = count - 1;
    while (scope > from && components[scope - 1].kind == FM_NAME_UNNAMED_SPACE)
        scope--;
    if (scope > from)
        chosen[scope - 1] = true;
    if (name->std_root && from == 0 && strcmp(components[0].text, "std") == 0)
        chosen[0] = true;
}

static void append_own(struct fm_name_pool *pool, const struct fm_name_component *c,
                       const struct fm_name_shown *shown, const char *arguments, GString *out)
{
    if (c->conversion == NULL) {
        g_string_append(out, c->text);
    } else {
        g_string_append(out, "operator ");
        g_string_append(out, shown->conversion ? c->conversion->text
                                               : fm_name_brief(pool, c->conversion));
    }
    if (arguments != NULL) {
        size_t size = out->len;
        if (size > 0 && out->str[size - 1] == '<')
            g_string_append_c(out, ' ');
        g_string_append(out, arguments);
    }
}

static void append_scope(struct fm_name_pool *pool, const struct fm_name *name, unsigned from,
                         const struct fm_name_shown *shown, GString *out)
{
    unsigned count = name->scope.count;
    g_autofree bool *chosen = g_new0(bool, count + 1);
    choose_default(name, from, chosen);
    bool added_before = false, gap = false;
    for (unsigned i = from; i < count; i++) {
        const struct fm_name_component *c = &name->scope.components[i];
        const char *arguments = shown->arguments != NULL ? shown->arguments[i] : NULL;
        bool is_space = c->kind == FM_NAME_UNNAMED_SPACE;
        bool added = !chosen[i] && ((shown->components != NULL && shown->components[i]) ||
                                    arguments != NULL || (is_space && shown->unnamed_space));
        if (!chosen[i] && !added) {
            gap = gap || !is_space;
            continue;
        }
        if (gap && added_before)
            g_string_append_printf(out, "…%s", name->scope.components[i - 1].separator);
        gap = false;
        append_own(pool, c, shown, arguments, out);
        if (i + 1 < count)
            g_string_append(out, c->separator);
        added_before = added_before || added;
    }
}

static void append_around(struct fm_name_pool *pool, const struct fm_name *name,
                          const struct fm_name_shown *shown, GString *out)
{
    unsigned count = fm_name_around_count(name);
    if (count == 0)
        return;
    g_string_append(out, " in ");
    if (shown->around != NULL) {
        g_string_append(out, shown->around);
        return;
    }
    struct fm_name around = fm_name_around(name, count);
    const struct fm_name_shown plain = {0};
    fm_name_render(pool, &around, &plain, true, out);
}

static void append_place(const struct fm_name *name, GString *out)
{
    const char *file = name->source->file;
    if (file == NULL || *file == '\0')
        return;
    const char *slash = strrchr(file, '/');
    g_string_append_printf(out, " at %s", slash == NULL ? file : slash + 1);
    if (name->source->line > 0)
        g_string_append_printf(out, ":%u", name->source->line);
}

/* "lambda #1 in f()". */
static void append_lambda(struct fm_name_pool *pool, const struct fm_name *name,
                          const struct fm_name_shown *shown, GString *out)
{
    unsigned at = fm_name_around_count(name);
    const struct fm_name_component *lambda = &name->scope.components[at];
    unsigned count = name->scope.count;
    const char *own = at + 1 < count ? name->scope.components[count - 1].text : "operator()";
    bool is_call = strcmp(own, "operator()") == 0;
    bool is_function = strcmp(own, "_FUN") == 0 || strcmp(own, "__invoke") == 0 ||
                       name->scope.components[count - 1].conversion != NULL;
    if (own[0] == '~')
        g_string_append_c(out, '~');
    g_string_append(out, lambda->text);
    if (shown->number && lambda->number > 0)
        g_string_append_printf(out, " #%u", lambda->number);
    if (is_function)
        g_string_append(out, " as function");
    else if (!is_call && own[0] != '~')
        g_string_append_printf(out, "::%s", own);
    if (shown->arguments != NULL && shown->arguments[count - 1] != NULL)
        g_string_append(out, shown->arguments[count - 1]);
    if (shown->parameters != NULL)
        g_string_append(out, shown->parameters);
    append_around(pool, name, shown, out);
}

static void append_trait(struct fm_name_pool *pool, const struct fm_name *name, GString *out)
{
    g_string_append_printf(out, "<%s as %s>::%s", fm_name_brief(pool, name->type),
                           fm_name_brief(pool, name->trait),
                           name->scope.components[name->scope.count - 1].text);
}

static void append_marks(const struct fm_name *name, const struct fm_name_shown *shown,
                         GString *out)
{
    g_string_append(out, name->mark);
    if (shown->variant)
        g_string_append(out, name->variant);
    if (shown->clone && name->clone[0] != '\0')
        g_string_append_printf(out, " [%s]", name->clone);
    if (shown->dropped && name->dropped[0] != '\0')
        g_string_append_printf(out, " [%s]", name->dropped);
    if (name->placed || shown->place)
        append_place(name, out);
    const char *object = name->source->object;
    if (shown->object && object != NULL && *object != '\0')
        g_string_append_printf(out, " in %s", object);
    const char *raw = name->source->raw;
    if (shown->raw && raw != NULL && *raw != '\0')
        g_string_append_printf(out, " [%s]", raw);
}

void fm_name_render(struct fm_name_pool *pool, const struct fm_name *name,
                    const struct fm_name_shown *shown, bool around, GString *out)
{
    g_string_append(out, name->prefix);
    if (name->opaque != NULL) {
        g_string_append(out, name->opaque);
        append_marks(name, shown, out);
        return;
    }
    unsigned start = fm_name_around_count(name);
    const struct fm_name_component *own = &name->scope.components[name->scope.count - 1];
    bool lambda = name->scope.components[start].kind == FM_NAME_LAMBDA;
    if (shown->result && name->result != NULL)
        g_string_append_printf(out, "%s ", fm_name_brief(pool, name->result));
    if (lambda)
        append_lambda(pool, name, shown, out);
    else if (shown->trait && name->trait != NULL && start == 0)
        append_trait(pool, name, out);
    else
        append_scope(pool, name, start, shown, out);
    if (shown->parameters != NULL && !lambda)
        g_string_append(out, shown->parameters);
    else if (around && !lambda && start == 0 && (own->parameters != NULL || name->call_marks) &&
             !g_str_has_suffix(out->str, ")"))
        g_string_append(out, "()");
    if (shown->quals && own->quals != NULL)
        g_string_append_printf(out, " %s", own->quals);
    if (!lambda)
        append_around(pool, name, shown, out);
    append_marks(name, shown, out);
}
