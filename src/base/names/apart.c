/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the names of a page apart: functions with one short form get the least addition. */
#include <string.h>

#include "base/names/apart.h"

enum step {
    UNNAMED_SPACE,
    SPACES,
    PARAMETERS,
    ARGUMENTS,
    TRAIT,
    CONVERSION,
    QUALS,
    AROUND,
    NUMBER,
    RESULT,
    VARIANT,
    CLONE,
    DROPPED,
    LAST_ALONE = DROPPED,
    PLACE,
    OBJECT,
    RAW,
    STEPS
};

#define AROUND_DEPTH_MAX 20

/* Fills the texts of members; those that differ in what a name says differ. */
static void settle_group(struct fm_name_pool *pool, struct fm_named **members, size_t count);

static const char *text_of(struct fm_name_pool *pool, const struct fm_named *member)
{
    GString *out = g_string_new(NULL);
    fm_name_render(pool, &member->name, &member->tried, member->around, out);
    return fm_name_keep(pool, out);
}

/* How many different texts the group has. */
static size_t count_texts(struct fm_named *const *group, size_t count)
{
    g_autoptr(GHashTable) texts = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < count; i++)
        g_hash_table_add(texts, (char *)(uintptr_t)group[i]->tried_text);
    return g_hash_table_size(texts);
}

/* The text of the function around a local one, told apart from those of the group. */
static void try_around(struct fm_name_pool *pool, struct fm_named *const *group, size_t count)
{
    g_autofree struct fm_named *around = g_new0(struct fm_named, count);
    g_autofree struct fm_named **members = g_new0(struct fm_named *, count);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned components = fm_name_around_count(&group[i]->name);
        if (components == 0 || group[i]->depth >= AROUND_DEPTH_MAX || group[i]->name.opaque != NULL)
            continue;
        struct fm_name name = fm_name_around(&group[i]->name, components);
        GString *full = g_string_new(NULL);
        fm_name_append_scope(full, &name.scope);
        const char *key = fm_name_keep(pool, full);
        struct fm_named *same = g_hash_table_lookup(known, key);
        if (same == NULL) {
            same = &around[used];
            *same = (struct fm_named){.name = name, .around = true, .depth = group[i]->depth + 1};
            members[used++] = same;
            g_hash_table_insert(known, (char *)(uintptr_t)key, same);
        }
        group[i]->partner = same;
    }
    settle_group(pool, members, used);
    for (size_t i = 0; i < count; i++) {
        if (group[i]->partner != NULL)
            group[i]->tried.around = group[i]->partner->text;
        group[i]->partner = NULL;
    }
}

static void try_step(struct fm_name_pool *pool, struct fm_named *const *group, size_t count,
                     enum step step)
{
    for (size_t i = 0; i < count; i++)
        group[i]->tried = group[i]->shown;
    if (step == SPACES)
        fm_names_try_spaces(pool, group, count);
    else if (step == PARAMETERS)
        fm_names_try_parameters(pool, group, count);
    else if (step == ARGUMENTS)
        fm_names_try_arguments(pool, group, count);
    else if (step == AROUND)
        try_around(pool, group, count);
    for (size_t i = 0; i < count; i++) {
        struct fm_name_shown *tried = &group[i]->tried;
        tried->unnamed_space |= step == UNNAMED_SPACE;
        tried->trait |= step == TRAIT;
        tried->conversion |= step == CONVERSION;
        tried->quals |= step == QUALS;
        tried->number |= step == NUMBER;
        tried->result |= step == RESULT;
        tried->variant |= step == VARIANT;
        tried->clone |= step == CLONE;
        tried->dropped |= step == DROPPED;
        tried->place |= step == PLACE;
        tried->object |= step == OBJECT;
        tried->raw |= step == RAW;
        group[i]->tried_text = text_of(pool, group[i]);
    }
}

static void apply(struct fm_named *const *group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        group[i]->shown = group[i]->tried;
        group[i]->text = group[i]->tried_text;
    }
}

/* The one with the least text among name spaces, parameters and arguments, if one is enough. */
static bool apply_shortest(struct fm_name_pool *pool, struct fm_named *const *group, size_t count,
                           enum step from)
{
    enum step best = STEPS;
    size_t least = SIZE_MAX;
    for (enum step step = MAX(from, SPACES); step <= ARGUMENTS; step++) {
        try_step(pool, group, count, step);
        if (count_texts(group, count) < count)
            continue;
        size_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += strlen(group[i]->tried_text);
        if (sum < least) {
            least = sum;
            best = step;
        }
    }
    if (best == STEPS)
        return false;
    try_step(pool, group, count, best);
    apply(group, count);
    return true;
}

static int by_text(const void *a, const void *b)
{
    const struct fm_named *left = *(struct fm_named *const *)a;
    const struct fm_named *right = *(struct fm_named *const *)b;
    return strcmp(left->text, right->text);
}

/* Steps on through each part of a group that has one text. */
static void tell_parts_apart(struct fm_name_pool *pool, struct fm_named **group, size_t count,
                             enum step from);

static void tell_apart(struct fm_name_pool *pool, struct fm_named **group, size_t count,
                       enum step from)
{
    if (count < 2 || apply_shortest(pool, group, count, from))
        return;
    enum step splits = STEPS;
    for (enum step step = from; step < STEPS; step++) {
        try_step(pool, group, count, step);
        size_t texts = count_texts(group, count);
        if (texts == count && step <= LAST_ALONE) {
            apply(group, count);
            return;
        }
        if (texts > 1 && splits == STEPS)
            splits = step;
        if (splits != STEPS && step >= LAST_ALONE)
            break;
    }
    if (splits == STEPS)
        return;
    try_step(pool, group, count, splits);
    apply(group, count);
    tell_parts_apart(pool, group, count, splits + 1);
}

static void tell_parts_apart(struct fm_name_pool *pool, struct fm_named **group, size_t count,
                             enum step from)
{
    qsort(group, count, sizeof(*group), by_text);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && strcmp(group[end]->text, group[start]->text) == 0;)
            end++;
        if (from < STEPS)
            tell_apart(pool, group + start, end - start, from);
    }
}

/* Equal texts of functions that differ in nothing known. */
static void number_rest(struct fm_name_pool *pool, struct fm_named **members, size_t count)
{
    for (unsigned round = 0; round < 2; round++) {
        qsort(members, count, sizeof(*members), by_text);
        for (size_t start = 0, end; start < count; start = end) {
            const char *text = members[start]->text;
            for (end = start + 1; end < count && strcmp(members[end]->text, text) == 0;)
                end++;
            for (size_t i = start; end - start > 1 && i < end; i++) {
                const char *raw = members[i]->name.source->raw;
                GString *out = g_string_new(text);
                if (round == 0 && raw != NULL && !members[i]->shown.raw)
                    g_string_append_printf(out, " [%s]", raw);
                else if (round == 1)
                    g_string_append_printf(out, " [%zu of %zu]", i - start + 1, end - start);
                members[i]->text = fm_name_keep(pool, out);
            }
        }
    }
}

static void settle_group(struct fm_name_pool *pool, struct fm_named **members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        members[i]->tried = members[i]->shown;
        members[i]->text = text_of(pool, members[i]);
    }
    tell_parts_apart(pool, members, count, UNNAMED_SPACE);
}

char **fm_names_apart(const struct fm_name_source *sources, size_t count)
{
    g_return_val_if_fail(sources != NULL || count == 0, NULL);
    struct fm_name_pool pool;
    fm_name_pool_init(&pool);
    g_autofree struct fm_named *named = g_new0(struct fm_named, count + 1);
    g_autofree struct fm_named **members = g_new0(struct fm_named *, count + 1);
    for (size_t i = 0; i < count; i++) {
        fm_name_read(&pool, &sources[i], &named[i].name);
        members[i] = &named[i];
    }
    settle_group(&pool, members, count);
    number_rest(&pool, members, count);
    char **texts = g_new0(char *, count + 1);
    for (size_t i = 0; i < count; i++)
        texts[i] = g_strdup(named[i].text);
    fm_name_pool_done(&pool);
    return texts;
}

char *fm_name_short(const struct fm_name_source *source)
{
    g_return_val_if_fail(source != NULL && source->text != NULL, NULL);
    struct fm_name_pool pool;
    fm_name_pool_init(&pool);
    struct fm_name name;
    fm_name_read(&pool, source, &name);
    GString *out = g_string_new(NULL);
    const struct fm_name_shown shown = {0};
    fm_name_render(&pool, &name, &shown, false, out);
    fm_name_pool_done(&pool);
    return g_string_free(out, FALSE);
}

char *fm_name_short_text(const char *text, const char *raw)
{
    const struct fm_name_source source = {.text = text, .raw = raw};
    return fm_name_short(&source);
}
