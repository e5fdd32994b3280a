/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/parts/shown_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/names/names.h"

#define CHARACTERS 72 /* longer names are cut in the middle */

struct fm_shown_names {
    const struct fm_profile *profile;
    bool full;
    GHashTable *texts;   /* ps -> its text on this page; NULL: the profile's short name */
    GHashTable *by_text; /* short names that were asked for */
    bool settled;        /* no two are equal, none is too long */
};

struct fm_shown_names *fm_shown_names_new(const struct fm_profile *profile, bool full)
{
    struct fm_shown_names *names = g_new(struct fm_shown_names, 1);
    *names = (struct fm_shown_names){
        .profile = profile,
        .full = full,
        .texts = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .by_text = g_hash_table_new(g_str_hash, g_str_equal),
        .settled = true,
    };
    return names;
}

void fm_shown_names_free(struct fm_shown_names *names)
{
    if (names == NULL)
        return;
    g_hash_table_unref(names->texts);
    g_hash_table_unref(names->by_text);
    g_free(names);
}

static const char *name_of(const struct fm_shown_names *names, uint32_t ps)
{
    bool full = names->full && names->profile->flavour == FM_FLAVOUR_C;
    return full ? names->profile->ps[ps].name : fm_profile_short_name(names->profile, ps);
}

const char *fm_shown_names_get(struct fm_shown_names *names, uint32_t ps)
{
    gpointer text;
    g_assert(ps >= 1 && ps <= names->profile->ps_count);
    if (g_hash_table_lookup_extended(names->texts, GUINT_TO_POINTER(ps), NULL, &text))
        return text != NULL ? text : name_of(names, ps);
    const char *name = name_of(names, ps);
    g_hash_table_insert(names->texts, GUINT_TO_POINTER(ps), NULL);
    bool alone = g_hash_table_add(names->by_text, (gpointer)(uintptr_t)name);
    if (!names->full && (!alone || g_utf8_strlen(name, -1) > CHARACTERS))
        names->settled = false;
    return name;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

bool fm_shown_names_tell_apart(struct fm_shown_names *names)
{
    if (names->settled)
        return false;
    names->settled = true;
    uint32_t count = 0;
    g_autofree uint32_t *ps = g_new(uint32_t, g_hash_table_size(names->texts) + 1u);
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, names->texts);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        ps[count++] = GPOINTER_TO_UINT(key);
    qsort(ps, count, sizeof *ps, compare_ids);
    g_auto(GStrv) apart = fm_profile_names_apart(names->profile, ps, count);
    g_auto(GStrv) texts = fm_names_elide(apart, count, CHARACTERS);
    bool changed = false;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(texts[i], name_of(names, ps[i])) == 0)
            continue;
        g_hash_table_insert(names->texts, GUINT_TO_POINTER(ps[i]), g_steal_pointer(&texts[i]));
        texts[i] = g_strdup("");
        changed = true;
    }
    return changed;
}
