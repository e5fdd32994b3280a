/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that show only what tells apart: few positions, others as "…", and each type there in the
 * least form that no other type has. */
#include <string.h>

#include "base/names/apart.h"

#define DEPTHS 3 /* levels of arguments; a type that differs deeper is shown in full */

/* The text at each position, row by row; NULL = nothing. */
struct cells {
    size_t rows, columns;
    struct fm_name_type **types; /* rows * columns */
    bool *chosen;                /* columns */
    const char **forms;          /* rows * columns, of chosen columns */
};
typedef struct cells cells_t;

static struct cells *cells_new(size_t rows, size_t columns)
{
    struct cells *cells = g_new0(struct cells, 1);
    cells->rows = rows;
    cells->columns = columns;
    cells->types = g_new0(struct fm_name_type *, rows * columns + 1);
    cells->chosen = g_new0(bool, columns + 1);
    cells->forms = g_new0(const char *, rows *columns + 1);
    return cells;
}

static void cells_free(struct cells *cells)
{
    g_free(cells->types);
    g_free(cells->chosen);
    g_free((void *)cells->forms);
    g_free(cells);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(cells_t, cells_free)

/* --- the choice of positions --- */

/* Numbers of the texts in a column; returns how many there are. */
static guint number_column(const struct cells *cells, size_t column, guint *numbers)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t row = 0; row < cells->rows; row++) {
        const struct fm_name_type *type = cells->types[row * cells->columns + column];
        numbers[row] = 0;
        if (type == NULL)
            continue;
        gpointer found = g_hash_table_lookup(known, type->text);
        if (found == NULL) {
            found = GUINT_TO_POINTER(g_hash_table_size(known) + 1);
            g_hash_table_insert(known, (char *)(uintptr_t)type->text, found);
        }
        numbers[row] = GPOINTER_TO_UINT(found);
    }
    return g_hash_table_size(known) + 1;
}

/* Splits classes by the numbers of a column; into may be classes. Returns how many there are. */
static guint refine(size_t rows, const guint *classes, const guint *numbers, guint count,
                    guint *into)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (size_t row = 0; row < rows; row++) {
        gpointer key = (gpointer)((uintptr_t)classes[row] * count + numbers[row] + 1);
        gpointer found = g_hash_table_lookup(known, key);
        if (found == NULL) {
            found = GUINT_TO_POINTER(g_hash_table_size(known) + 1);
            g_hash_table_insert(known, key, found);
        }
        into[row] = GPOINTER_TO_UINT(found) - 1;
    }
    return g_hash_table_size(known);
}

/* Greedily: the column that splits most, the first of equals, until no column splits more. Returns
 * whether all rows are told apart. */
static bool choose(struct cells *cells)
{
    size_t rows = cells->rows;
    g_autofree guint *numbers = g_new0(guint, rows * cells->columns + 1);
    g_autofree guint *counts = g_new0(guint, cells->columns + 1);
    g_autofree guint *classes = g_new0(guint, rows), *tried = g_new0(guint, rows);
    for (size_t column = 0; column < cells->columns; column++)
        counts[column] = number_column(cells, column, numbers + column * rows);
    guint now = 1;
    while (now < rows) {
        size_t best = cells->columns;
        guint most = now;
        for (size_t column = 0; column < cells->columns; column++) {
            if (counts[column] < 2 || cells->chosen[column])
                continue;
            guint split = refine(rows, classes, numbers + column * rows, counts[column], tried);
            if (split > most) {
                most = split;
                best = column;
            }
        }
        if (best == cells->columns)
            return false;
        cells->chosen[best] = true;
        now = refine(rows, classes, numbers + best * rows, counts[best], classes);
    }
    return true;
}

/* --- forms of types --- */

static void settle_forms(struct fm_name_pool *pool, struct cells *cells);

static size_t arguments_of(const struct fm_name_type *type, size_t piece)
{
    const struct fm_name_scope *scope = type->pieces[piece].scope;
    const struct fm_name_list *list = scope == NULL ? NULL : fm_name_last_arguments(scope);
    return list == NULL ? 0 : list->count;
}

/* A list with only its chosen types: columns from `first` on, of one row. */
static void append_list(const struct cells *cells, size_t row, size_t first, size_t count,
                        const char *brackets, GString *out)
{
    bool hidden = false, empty = true;
    g_string_append_c(out, brackets[0]);
    for (size_t i = 0; i < count; i++) {
        if (!cells->chosen[first + i]) {
            if (!hidden)
                g_string_append(out, empty ? "…" : ", …");
            hidden = true;
        } else {
            g_string_append_printf(out, "%s%s", empty ? "" : ", ",
                                   cells->forms[row * cells->columns + first + i]);
            hidden = false;
        }
        empty = false;
    }
    g_string_append_c(out, brackets[1]);
}

static bool same_skeleton(struct fm_name_type *const *types, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (types[i]->count != types[0]->count)
            return false;
    return true;
}

/* Only the arguments that differ; false: they do not tell the types apart. */
static bool try_arguments(struct fm_name_pool *pool, struct fm_name_type *const *types,
                          size_t count, const char **forms)
{
    if (!same_skeleton(types, count))
        return false;
    size_t pieces = types[0]->count, columns = 0;
    g_autofree size_t *starts = g_new0(size_t, pieces + 1);
    for (size_t piece = 0; piece < pieces; piece++) {
        size_t most = 0;
        for (size_t i = 0; i < count; i++)
            most = MAX(most, arguments_of(types[i], piece));
        starts[piece] = columns;
        columns += most;
    }
    g_autoptr(cells_t) cells = cells_new(count, columns);
    for (size_t i = 0; i < count; i++)
        for (size_t piece = 0; piece < pieces; piece++)
            for (size_t k = 0; k < arguments_of(types[i], piece); k++)
                cells->types[i * columns + starts[piece] + k] =
                    fm_name_last_arguments(types[i]->pieces[piece].scope)->types[k];
    if (!choose(cells))
        return false;
    settle_forms(pool, cells);
    for (size_t i = 0; i < count; i++) {
        GString *out = g_string_new(NULL);
        for (size_t piece = 0; piece < pieces; piece++) {
            struct fm_name_type part = {.text = "", .pieces = &types[i]->pieces[piece], .count = 1};
            g_string_append(out, fm_name_brief(pool, &part));
            size_t arguments = arguments_of(types[i], piece);
            bool shown = false;
            for (size_t k = 0; k < arguments; k++)
                shown = shown || cells->chosen[starts[piece] + k];
            if (shown)
                append_list(cells, i, starts[piece], arguments, "<>", out);
        }
        forms[i] = fm_name_keep(pool, out);
    }
    return true;
}

static bool all_differ(const char *const *texts, size_t count)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < count; i++)
        if (!g_hash_table_add(known, (char *)(uintptr_t)texts[i]))
            return false;
    return true;
}

/* Forms of different types whose brief forms are equal. */
static void settle_equal(struct fm_name_pool *pool, struct fm_name_type *const *types, size_t count,
                         const char **forms)
{
    if (try_arguments(pool, types, count, forms) && all_differ(forms, count))
        return;
    for (unsigned depth = 1; depth <= DEPTHS; depth++) {
        for (size_t i = 0; i < count; i++)
            forms[i] = fm_name_to_depth(pool, types[i], depth);
        if (all_differ(forms, count))
            return;
    }
    for (size_t i = 0; i < count; i++)
        forms[i] = types[i]->text;
}

static int by_brief(const void *a, const void *b)
{
    const struct fm_name_type *left = *(struct fm_name_type *const *)a;
    const struct fm_name_type *right = *(struct fm_name_type *const *)b;
    int briefs = strcmp(left->brief, right->brief);
    return briefs != 0 ? briefs : strcmp(left->text, right->text);
}

static void settle_column(struct fm_name_pool *pool, struct cells *cells, size_t column)
{
    g_autoptr(GHashTable) forms = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) types = g_ptr_array_new();
    for (size_t row = 0; row < cells->rows; row++) {
        struct fm_name_type *type = cells->types[row * cells->columns + column];
        if (type == NULL || g_hash_table_contains(forms, type->text))
            continue;
        fm_name_brief(pool, type);
        g_ptr_array_add(types, type);
        g_hash_table_insert(forms, (char *)(uintptr_t)type->text, NULL);
    }
    struct fm_name_type **all = (struct fm_name_type **)types->pdata;
    if (types->len > 1)
        qsort(all, types->len, sizeof(*all), by_brief);
    for (size_t start = 0, end; start < types->len; start = end) {
        for (end = start + 1; end < types->len && strcmp(all[end]->brief, all[start]->brief) == 0;)
            end++;
        g_autofree const char **made = g_new0(const char *, end - start);
        made[0] = all[start]->brief;
        if (end - start > 1)
            settle_equal(pool, all + start, end - start, made);
        for (size_t i = start; i < end; i++)
            g_hash_table_insert(forms, (char *)(uintptr_t)all[i]->text,
                                (char *)(uintptr_t)made[i - start]);
    }
    for (size_t row = 0; row < cells->rows; row++) {
        const struct fm_name_type *type = cells->types[row * cells->columns + column];
        if (type != NULL)
            cells->forms[row * cells->columns + column] = g_hash_table_lookup(forms, type->text);
    }
}

static void settle_forms(struct fm_name_pool *pool, struct cells *cells)
{
    for (size_t column = 0; column < cells->columns; column++)
        if (cells->chosen[column])
            settle_column(pool, cells, column);
}

/* --- the steps --- */

static const struct fm_name_list *parameters_of(const struct fm_named *member)
{
    const struct fm_name_scope *scope = &member->name.scope;
    return scope->count == 0 ? NULL : scope->components[scope->count - 1].parameters;
}

void fm_names_try_parameters(struct fm_name_pool *pool, struct fm_named *const *group, size_t count)
{
    size_t columns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fm_name_list *list = parameters_of(group[i]);
        columns = MAX(columns, list == NULL ? 0 : list->count);
    }
    g_autoptr(cells_t) cells = cells_new(count, columns);
    for (size_t i = 0; i < count; i++) {
        const struct fm_name_list *list = parameters_of(group[i]);
        for (size_t k = 0; list != NULL && k < list->count; k++)
            cells->types[i * columns + k] = list->types[k];
    }
    choose(cells);
    settle_forms(pool, cells);
    for (size_t i = 0; i < count; i++) {
        const struct fm_name_list *list = parameters_of(group[i]);
        if (list == NULL)
            continue;
        GString *out = g_string_new(NULL);
        append_list(cells, i, 0, list->count, "()", out);
        group[i]->tried.parameters = fm_name_keep(pool, out);
    }
}

/* The component so many places from the end, if it is of the part that is shown. */
static const struct fm_name_component *from_end(const struct fm_named *member, size_t place)
{
    const struct fm_name_scope *scope = &member->name.scope;
    size_t shown = scope->count - fm_name_around_count(&member->name);
    return place < shown ? &scope->components[scope->count - 1 - place] : NULL;
}

static size_t places_of(struct fm_named *const *group, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = MAX(most, group[i]->name.scope.count);
    return most;
}

void fm_names_try_arguments(struct fm_name_pool *pool, struct fm_named *const *group, size_t count)
{
    size_t places = places_of(group, count), columns = 0;
    g_autofree size_t *starts = g_new0(size_t, places + 1);
    for (size_t n = 0; n < places; n++) {
        size_t place = n < 2 && places > 1 ? 1 - n : n; /* the class is before the own name */
        size_t most = 0;
        for (size_t i = 0; i < count; i++) {
            const struct fm_name_component *c = from_end(group[i], place);
            most = MAX(most, c == NULL || c->arguments == NULL ? 0 : c->arguments->count);
        }
        starts[place] = columns;
        columns += most;
    }
    g_autoptr(cells_t) cells = cells_new(count, columns);
    for (size_t i = 0; i < count; i++)
        for (size_t place = 0; place < places; place++) {
            const struct fm_name_component *c = from_end(group[i], place);
            for (size_t k = 0; c != NULL && c->arguments != NULL && k < c->arguments->count; k++)
                cells->types[i * columns + starts[place] + k] = c->arguments->types[k];
        }
    choose(cells);
    settle_forms(pool, cells);
    for (size_t i = 0; i < count; i++) {
        unsigned components = group[i]->name.scope.count;
        const char **texts = fm_name_take(pool, components * sizeof(*texts));
        for (size_t place = 0; place < places; place++) {
            const struct fm_name_component *c = from_end(group[i], place);
            bool shown = false;
            for (size_t k = starts[place]; c != NULL && c->arguments != NULL && k < columns &&
                                           k < starts[place] + c->arguments->count;
                 k++)
                shown = shown || cells->chosen[k];
            if (!shown)
                continue;
            GString *out = g_string_new(NULL);
            append_list(cells, i, starts[place], c->arguments->count, "<>", out);
            texts[components - 1 - place] = fm_name_keep(pool, out);
        }
        group[i]->tried.arguments = texts;
    }
}

void fm_names_try_spaces(struct fm_name_pool *pool, struct fm_named *const *group, size_t count)
{
    size_t places = places_of(group, count);
    g_autoptr(cells_t) cells = cells_new(count, places);
    for (size_t i = 0; i < count; i++) {
        size_t column = 0;
        for (size_t place = 0; place < places; place++) {
            const struct fm_name_component *c = from_end(group[i], place);
            if (c == NULL || c->kind != FM_NAME_WORD)
                continue;
            struct fm_name_type *type = fm_name_take(pool, sizeof(*type));
            type->text = c->text;
            cells->types[i * places + column++] = type;
        }
    }
    choose(cells);
    for (size_t i = 0; i < count; i++) {
        unsigned components = group[i]->name.scope.count;
        bool *shown = fm_name_take(pool, components * sizeof(*shown));
        size_t column = 0;
        for (size_t place = 0; place < places; place++) {
            const struct fm_name_component *c = from_end(group[i], place);
            if (c == NULL || c->kind != FM_NAME_WORD)
                continue;
            if (cells->chosen[column++])
                shown[components - 1 - place] = true;
        }
        group[i]->tried.components = shown;
    }
}
