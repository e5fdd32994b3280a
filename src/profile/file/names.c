/* SPDX-License-Identifier: Apache-2.0 */
/* The three names of a procedure that pages show, from its label. A name that looks like one of the
 * compiler's own forms but is malformed keeps the ordinary form. */
#include "profile/file/deep_internal.h"

#include <string.h>

#include "base/names/names.h"
#include "base/text/cxx_name.h"

static const char *special_prefix(const char *name)
{
    static const struct {
        const char *name, *prefix;
    } specials[] = {
        {"__Unify__", "Unify"},
        {"__Compare__", "Compare"},
        {"__CompareRep__", "CompareRep"},
        {"__Index__", "Index"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(specials); i++) {
        if (strcmp(name, specials[i].name) == 0)
            return specials[i].prefix;
    }
    return name;
}

/* The rest of name behind the first matching prefix, or NULL. */
static const char *after_prefix(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++) {
        if (g_str_has_prefix(name, *prefixes))
            return name + strlen(*prefixes);
    }
    return NULL;
}

static void append_arity(GString *text, const struct fm_ps *ps)
{
    g_string_append_printf(text, "/%u%s", ps->arity,
                           ps->label_kind == FM_LABEL_FUNCTION ? "+1" : "");
}

/* TypeSpecOf__pred__BASE__[SPEC]: "BASE/3-0 [SPEC]". */
static bool append_type_specialised(GString *text, const struct fm_ps *ps)
{
    static const char *const prefixes[] = {"TypeSpecOf__pred__", "TypeSpecOf__func__",
                                           "TypeSpecOf__pred_or_func__", NULL};
    const char *base = after_prefix(ps->name, prefixes);
    const char *bracket = base ? strstr(base, "__[") : NULL;
    if (!bracket)
        return false;
    const char *spec = bracket + strlen("__[");
    g_string_append_len(text, base, bracket - base);
    append_arity(text, ps);
    g_string_append_printf(text, "-%u [%.*s]", ps->mode, (int)strcspn(spec, "]"), spec);
    return true;
}

/* The last "__" before end that has at least one character before it in its segment. Segments are
 * split from the left: a "__" at the start of a segment belongs to the segment. */
static unsigned split_segments(const char *text, const char **starts, const char **ends,
                               unsigned max)
{
    unsigned count = 0;
    const char *start = text;
    for (;;) {
        const char *mark = *start ? strstr(start + 1, "__") : NULL;
        if (count == max) { /* keep the last ones: the first is never needed by itself */
            memmove(starts, starts + 1, (max - 1) * sizeof(*starts));
            memmove(ends, ends + 1, (max - 1) * sizeof(*ends));
            count--;
        }
        starts[count] = start;
        ends[count] = mark ? mark : start + strlen(start);
        count++;
        if (!mark)
            return count;
        start = mark + 2;
    }
}

/* IntroducedFrom__pred__CONTAINING__LINE__COUNTER: "CONTAINING lambda line LINE/3". */
static bool append_lambda(GString *text, const struct fm_ps *ps)
{
    static const char *const prefixes[] = {"IntroducedFrom__pred__", "IntroducedFrom__func__",
                                           NULL};
    const char *rest = after_prefix(ps->name, prefixes);
    if (!rest)
        return false;
    const char *starts[3], *ends[3];
    unsigned count = split_segments(rest, starts, ends, 3);
    if (count < 2)
        return false;
    const char *line = starts[count - 2];
    ptrdiff_t containing = line - rest >= 2 ? line - rest - 2 : 0;
    g_string_append_len(text, rest, containing);
    g_string_append_printf(text, " lambda line %.*s", (int)(ends[count - 2] - line), line);
    append_arity(text, ps);
    return true;
}

static void append_ordinary(GString *text, const struct fm_ps *ps)
{
    g_string_append(text, ps->name);
    append_arity(text, ps);
    g_string_append_printf(text, "-%u", ps->mode);
}

static void append_special(GString *text, const struct fm_ps *ps, const char *module)
{
    g_string_append_printf(text, "%s for %s%s%s/%u", special_prefix(ps->name), module,
                           *module ? "." : "", ps->type_name, ps->arity);
    if (ps->mode != 0)
        g_string_append_printf(text, " mode %u", ps->mode);
}

/* --- C and C++ --- */

static void show_as(struct fm_strings *strings, struct fm_ps *ps, const char *name)
{
    if (ps->unqualified_name == name)
        return;
    ps->unqualified_name = name;
    g_autofree char *qualified = g_strconcat(ps->decl_module, ":", name, NULL);
    ps->qualified_name = *ps->decl_module ? fm_strings_add(strings, qualified) : name;
}

static void derive_c(struct fm_strings *strings, struct fm_ps *ps)
{
    if (*ps->raw_name == '\0')
        ps->raw_name = ps->name;
    if (strchr(ps->name, '<') == NULL) { /* no template: most names */
        show_as(strings, ps, ps->name);
        return;
    }
    g_autofree char *brief = fm_cxx_name_shorten(ps->name);
    show_as(strings, ps, strcmp(brief, ps->name) == 0 ? ps->name : fm_strings_add(strings, brief));
}

static const char *behind_folders(const struct fm_ps *ps)
{
    const char *slash = strrchr(ps->decl_module, '/');
    return slash == NULL ? ps->qualified_name : ps->qualified_name + (slash + 1 - ps->decl_module);
}

/* How many procedures have each name: name -> count. */
static GHashTable *count_names(const struct fm_profile *profile,
                               const char *(*name_of)(const struct fm_ps *ps))
{
    GHashTable *counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        gpointer name = (gpointer)(uintptr_t)name_of(&profile->ps[ps]);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, name));
        g_hash_table_insert(counts, name, GUINT_TO_POINTER(count + 1));
    }
    return counts;
}

static bool is_alone(GHashTable *counts, const char *name)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(counts, name)) == 1;
}

static const char *qualified_name_of(const struct fm_ps *ps)
{
    return ps->qualified_name;
}

/* Full names where short ones are ambiguous, with the linker's where full ones are: constructors
 * and destructors have several bodies. */
static void tell_apart(struct fm_profile *profile)
{
    struct fm_strings *strings = profile->storage->strings;
    for (unsigned round = 0; round < 2; round++) {
        g_autoptr(GHashTable) counts = count_names(profile, qualified_name_of);
        for (uint32_t i = 1; i <= profile->ps_count; i++) {
            struct fm_ps *ps = &profile->ps[i];
            if (is_alone(counts, ps->qualified_name) ||
                (round > 0 && strcmp(ps->raw_name, ps->name) == 0))
                continue;
            g_autofree char *with_raw = g_strdup_printf("%s [%s]", ps->name, ps->raw_name);
            show_as(strings, ps, round == 0 ? ps->name : fm_strings_add(strings, with_raw));
        }
    }
}

/* Names of plain C are their own short form. */
static bool is_plain(const char *name)
{
    while (g_ascii_isalnum(*name) || *name == '_')
        name++;
    return *name == '\0';
}

bool fm_profile_has_short_name(const struct fm_profile *profile, uint32_t ps)
{
    g_assert(ps >= 1 && ps <= profile->ps_count);
    return profile->flavour == FM_FLAVOUR_C && !is_plain(profile->ps[ps].name);
}

static struct fm_name_source source_of(const struct fm_ps *ps)
{
    return (struct fm_name_source){
        .text = ps->name, .raw = ps->raw_name, .file = ps->file, .line = ps->line};
}

/* Another thread may compute the same name meanwhile: the first one stays. */
const char *fm_profile_short_name(const struct fm_profile *profile, uint32_t ps)
{
    g_assert(ps >= 1 && ps <= profile->ps_count);
    struct fm_ps *proc = &profile->ps[ps];
    if (!fm_profile_has_short_name(profile, ps))
        return proc->unqualified_name;
    char *known = g_atomic_pointer_get(&proc->short_name);
    if (known != NULL)
        return known;
    const struct fm_name_source source = source_of(proc);
    char *text = fm_name_short(&source);
    if (g_atomic_pointer_compare_and_exchange(&proc->short_name, NULL, text))
        return text;
    g_free(text);
    return g_atomic_pointer_get(&proc->short_name);
}

char **fm_profile_names_apart(const struct fm_profile *profile, const uint32_t *ps, uint32_t count)
{
    g_assert(count == 0 || ps != NULL);
    char **texts = g_new0(char *, count + 1u);
    g_autofree struct fm_name_source *sources = g_new(struct fm_name_source, count + 1u);
    g_autoptr(GHashTable) plain = g_hash_table_new(g_str_hash, g_str_equal);
    size_t told = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (fm_profile_has_short_name(profile, ps[i]))
            sources[told++] = source_of(&profile->ps[ps[i]]);
        else
            g_hash_table_add(plain, (char *)(uintptr_t)profile->ps[ps[i]].unqualified_name);
    }
    g_auto(GStrv) apart = fm_names_apart(sources, told);
    told = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_ps *proc = &profile->ps[ps[i]];
        bool has = fm_profile_has_short_name(profile, ps[i]);
        const char *text = has ? apart[told++] : proc->unqualified_name;
        texts[i] = g_strdup(has && g_hash_table_contains(plain, text) ? proc->name : text);
    }
    return texts;
}

void fm_profile_tell_all_apart(struct fm_profile *profile)
{
    g_autofree uint32_t *ps = g_new(uint32_t, profile->ps_count + 1u);
    for (uint32_t i = 0; i < profile->ps_count; i++)
        ps[i] = i + 1;
    g_auto(GStrv) texts = fm_profile_names_apart(profile, ps, profile->ps_count);
    for (uint32_t i = 1; i <= profile->ps_count; i++) {
        if (!fm_profile_has_short_name(profile, i))
            continue;
        g_free(profile->ps[i].short_name);
        profile->ps[i].short_name = g_strdup(texts[i - 1]);
    }
}

void fm_names_settle(struct fm_profile *profile)
{
    g_return_if_fail(profile != NULL);
    if (profile->flavour == FM_FLAVOUR_C)
        tell_apart(profile);
    g_autoptr(GHashTable) counts = NULL;
    if (profile->flavour == FM_FLAVOUR_C)
        counts = count_names(profile, behind_folders);
    for (uint32_t i = 1; i <= profile->ps_count; i++) {
        struct fm_ps *ps = &profile->ps[i];
        bool brief = counts != NULL && is_alone(counts, behind_folders(ps));
        ps->brief_name = brief ? behind_folders(ps) : ps->qualified_name;
    }
}

const char *fm_css_label(const struct fm_css *site)
{
    const char *label = site->goal_path;
    while (g_ascii_isdigit(*label))
        label++;
    return *label == ' ' ? label + 1 : label == site->goal_path ? label : "";
}

/* --- both --- */

void fm_names_derive(struct fm_strings *strings, enum fm_flavour flavour, struct fm_ps *ps)
{
    if (flavour == FM_FLAVOUR_C) {
        derive_c(strings, ps);
        return;
    }
    g_autoptr(GString) raw = g_string_new(NULL);
    g_autoptr(GString) unqualified = g_string_new(NULL);
    g_autoptr(GString) qualified = g_string_new(NULL);
    if (ps->label_kind == FM_LABEL_SPECIAL) {
        g_string_printf(raw, "%s for %s.%s/%u mode %u", ps->name, ps->decl_module, ps->type_name,
                        ps->arity, ps->mode);
        append_special(unqualified, ps, "");
        append_special(qualified, ps, ps->decl_module);
    } else {
        g_string_printf(raw, "%s.", ps->decl_module);
        append_ordinary(raw, ps);
        if (!append_type_specialised(unqualified, ps) && !append_lambda(unqualified, ps))
            append_ordinary(unqualified, ps);
        g_string_printf(qualified, "%s.%s", ps->decl_module, unqualified->str);
    }
    ps->raw_name = fm_strings_add_bytes(strings, raw->str, raw->len);
    ps->unqualified_name = fm_strings_add_bytes(strings, unqualified->str, unqualified->len);
    ps->qualified_name = fm_strings_add_bytes(strings, qualified->str, qualified->len);
}
