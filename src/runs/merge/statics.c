/* SPDX-License-Identifier: Apache-2.0 */
/* Procedures and call sites by their keys. Of one build nearly every input has the same: each is
 * compared with the one at the same place of the input before, and only then looked for. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/merge/internal.h"

static const char *own(struct fm_merge *m, const char *text)
{
    return fm_strings_add(m->strings, text);
}

/* The compiler's suffixes of a linker's name: "f.constprop.0". */
static size_t plain_length(const char *name)
{
    static const char *const suffixes[] = {".constprop.", ".isra.",     ".part.",
                                           ".cold",       ".lto_priv.", ".llvm."};
    size_t length = strlen(name);
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        const char *found = strstr(name, suffixes[i]);
        if (found != NULL && found != name)
            length = MIN(length, (size_t)(found - name));
    }
    return length;
}

const char *fm_merge_program(const struct fm_merge *m, const char *name)
{
    const char *slash = m->options.across_builds ? strrchr(name, '/') : NULL;
    return slash == NULL || slash[1] == '\0' ? name : slash + 1;
}

static void append_proc_key(const struct fm_merge *m, GString *out, const struct fm_ps *ps)
{
    g_string_append_printf(out, "%d\x1f%s\x1f%s\x1f%s\x1f%s\x1f%u\x1f%u", (int)ps->label_kind,
                           ps->type_name, ps->decl_module, ps->def_module, ps->name, ps->arity,
                           ps->mode);
    if (m->flavour == FM_FLAVOUR_MERCURY)
        return;
    size_t raw = m->options.across_builds ? plain_length(ps->raw_name) : strlen(ps->raw_name);
    g_string_append_printf(out, "\x1f%.*s", (int)raw, ps->raw_name);
    if (!m->options.across_builds)
        g_string_append_printf(out, "\x1f%d\x1f%d\x1f%d\x1f%s\x1f%u", ps->variadic, ps->inlined,
                               ps->in_interface, ps->file, ps->line);
}

char *fm_merge_proc_key(const struct fm_merge *m, const struct fm_ps *ps)
{
    GString *key = g_string_new(NULL);
    append_proc_key(m, key, ps);
    return g_string_free(key, FALSE);
}

/* proc: of the containing procedure, callee: of the callee + 1. */
static void append_site_key(const struct fm_merge *m, GString *out, const struct fm_css *css,
                            uint32_t proc, uint32_t callee)
{
    g_string_append_printf(out, "%u\x1f%d\x1f%u\x1f%s", proc, (int)css->kind, callee,
                           css->type_subst);
    if (m->flavour == FM_FLAVOUR_MERCURY && !m->options.sites_by_key) {
        g_string_append_printf(out, "\x1f%u", css->slot);
    } else if (!m->options.across_builds) {
        g_string_append_printf(out, "\x1f%d\x1f%s\x1f%u\x1f%s", css->inlined, css->file, css->line,
                               css->goal_path);
    } else if (css->kind == FM_SITE_CALLBACK) {
        const char *colon = strchr(css->goal_path, ':');
        g_string_append_printf(out, "\x1f%s", colon == NULL ? "" : colon);
    }
}

/* --- procedures --- */

static bool same_proc(const struct fm_merged_ps *known, const struct fm_ps *ps)
{
    const struct fm_ps *a = &known->ps;
    bool label = a->label_kind == ps->label_kind && a->arity == ps->arity && a->mode == ps->mode &&
                 strcmp(a->name, ps->name) == 0 && strcmp(a->decl_module, ps->decl_module) == 0 &&
                 strcmp(a->def_module, ps->def_module) == 0 &&
                 strcmp(a->type_name, ps->type_name) == 0;
    return label && a->line == ps->line && strcmp(a->file, ps->file) == 0 &&
           strcmp(a->raw_name, ps->raw_name) == 0 && a->variadic == ps->variadic &&
           a->inlined == ps->inlined && a->in_interface == ps->in_interface;
}

static int compare_places(const char *file, uint32_t line, const char *other_file,
                          uint32_t other_line)
{
    int order = strcmp(file, other_file);
    return order != 0 ? order : line < other_line ? -1 : line > other_line;
}

/* Keeps the least of the values that the key leaves open, whichever input came first. */
static void keep_least_place(struct fm_merge *m, struct fm_merged_ps *known, const struct fm_ps *ps)
{
    if (compare_places(ps->file, ps->line, known->ps.file, known->ps.line) < 0) {
        known->ps.file = own(m, ps->file);
        known->ps.line = ps->line;
    }
    if (strcmp(ps->raw_name, known->ps.raw_name) < 0)
        known->ps.raw_name = own(m, ps->raw_name);
    known->ps.variadic = known->ps.variadic || ps->variadic;
    known->ps.inlined = known->ps.inlined || ps->inlined;
    known->ps.in_interface = known->ps.in_interface || ps->in_interface;
}

static uint32_t add_proc(struct fm_merge *m, const struct fm_ps *ps, uint32_t ordinal)
{
    struct fm_merged_ps merged = {.ps = *ps, .ordinal = ordinal};
    merged.ps.decl_module = own(m, ps->decl_module);
    merged.ps.def_module = own(m, ps->def_module);
    merged.ps.name = own(m, ps->name);
    merged.ps.type_name = own(m, ps->type_name);
    merged.ps.file = own(m, ps->file);
    merged.ps.raw_name = own(m, ps->raw_name);
    merged.sites = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    merged.points = g_array_new(FALSE, FALSE, sizeof(struct fm_merged_point));
    g_array_append_val(m->procs, merged);
    return m->procs->len - 1;
}

struct place {
    const char *file;
    uint32_t line, id;
};

static int compare_by_place(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    int order = compare_places(one->file, one->line, other->file, other->line);
    return order != 0 ? order : one->id < other->id ? -1 : one->id > other->id;
}

/* Number among the procedures of the input that have the same key, in the order of their places. */
static uint32_t *proc_ordinals(const struct fm_merge *m, const struct fm_profile *profile)
{
    uint32_t *ordinals = g_new0(uint32_t, profile->ps_count + 1u);
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (m->flavour == FM_FLAVOUR_MERCURY)
        return ordinals;
    struct place *places = g_new(struct place, profile->ps_count + 1u);
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        places[ps - 1] = (struct place){profile->ps[ps].file, profile->ps[ps].line, ps};
    qsort(places, profile->ps_count, sizeof *places, compare_by_place);
    for (uint32_t i = 0; i < profile->ps_count; i++) {
        GString *key = g_string_new(NULL);
        append_proc_key(m, key, &profile->ps[places[i].id]);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key->str));
        ordinals[places[i].id] = count;
        g_hash_table_insert(counts, g_string_free(key, FALSE), GUINT_TO_POINTER(count + 1));
    }
    g_free(places);
    return ordinals;
}

static uint32_t find_proc(struct fm_merge *m, const struct fm_ps *ps, uint32_t ordinal)
{
    g_autoptr(GString) key = g_string_new(NULL);
    append_proc_key(m, key, ps);
    g_string_append_printf(key, "\x1f#%u", ordinal);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(m->proc_index, key->str));
    if (number == 0) {
        number = add_proc(m, ps, ordinal) + 1;
        g_hash_table_insert(m->proc_index, g_strdup(key->str), GUINT_TO_POINTER(number));
    }
    return number - 1;
}

/* Every procedure of the input is the one at its place of the input before. */
static bool same_procs(const struct fm_merge *m, const struct fm_profile *profile)
{
    if (m->last_procs->len != (guint)profile->ps_count + 1)
        return false;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        if (!same_proc(fm_merge_proc(m, g_array_index(m->last_procs, uint32_t, ps)),
                       &profile->ps[ps]))
            return false;
    }
    return true;
}

/* A program's root becomes a procedure of its name, without a place, below the common root.
 */
static struct fm_ps label_of(const struct fm_merge *m, const struct fm_profile *profile,
                             uint32_t ps, bool of_union)
{
    struct fm_ps label = profile->ps[ps];
    if (!of_union || ps != profile->pd_ps[profile->root_pd])
        return label;
    label.label_kind = m->flavour == FM_FLAVOUR_C ? FM_LABEL_FUNCTION : FM_LABEL_PREDICATE;
    label.name = label.raw_name = fm_merge_program(m, profile->program_name);
    label.decl_module = label.def_module = FM_MERGE_UNION_NAME;
    label.type_name = label.file = "";
    label.arity = label.mode = label.line = 0;
    return label;
}

/* False: every one was known, with the same place. */
static bool map_procs(struct fm_merge *m, const struct fm_profile *profile, bool of_union)
{
    if (same_procs(m, profile))
        return false;
    g_autofree uint32_t *ordinals = proc_ordinals(m, profile);
    g_array_set_size(m->last_procs, profile->ps_count + 1u);
    g_array_set_size(m->last_sites, 0);
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        struct fm_ps label = label_of(m, profile, ps, of_union);
        g_array_index(m->last_procs, uint32_t, ps) = find_proc(m, &label, ordinals[ps]);
    }
    return true;
}

static void keep_least_places(struct fm_merge *m, const struct fm_profile *profile,
                              const uint32_t *procs, bool of_union)
{
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        struct fm_ps label = label_of(m, profile, ps, of_union);
        keep_least_place(m, fm_merge_proc(m, procs[ps]), &label);
    }
}

/* --- call sites --- */

static bool same_site(const struct fm_merged_site *known, const struct fm_css *css, uint32_t proc,
                      uint32_t callee)
{
    const struct fm_css *a = &known->css;
    return known->ps == proc && a->kind == css->kind && a->callee_ps == callee &&
           a->line == css->line && a->slot == css->slot && a->inlined == css->inlined &&
           strcmp(a->goal_path, css->goal_path) == 0 && strcmp(a->file, css->file) == 0 &&
           strcmp(a->type_subst, css->type_subst) == 0;
}

/* Columns and the steps of goal paths are numbers: "9" stands before "10". */
static int compare_paths(const char *path, const char *other)
{
    const char *a = path, *b = other;
    while (*a != '\0' && *b != '\0') {
        if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b)) {
            size_t zeros = strspn(a, "0"), zeros_of_b = strspn(b, "0");
            size_t digits = strspn(a + zeros, "0123456789"),
                   digits_of_b = strspn(b + zeros_of_b, "0123456789");
            if (digits != digits_of_b)
                return digits < digits_of_b ? -1 : 1;
            int order = memcmp(a + zeros, b + zeros_of_b, digits);
            if (order != 0)
                return order;
            a += zeros + digits;
            b += zeros_of_b + digits;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    int order = strcmp(a, b);
    return order != 0 ? order : strcmp(path, other);
}

/* By file, line and column. */
static bool is_before(const struct fm_css *css, const struct fm_css *known)
{
    int order = compare_places(css->file, css->line, known->file, known->line);
    return order != 0 ? order < 0 : compare_paths(css->goal_path, known->goal_path) < 0;
}

static uint32_t find_site(struct fm_merge *m, const struct fm_css *css, uint32_t proc,
                          uint32_t callee, GHashTable *counts)
{
    g_autoptr(GString) key = g_string_new(NULL);
    append_site_key(m, key, css, proc, callee);
    guint ordinal = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key->str));
    /* All calls at unknown places of a procedure are one site, however many it has. */
    bool one = css->kind == FM_SITE_UNKNOWN && m->flavour == FM_FLAVOUR_C;
    g_hash_table_insert(counts, g_strdup(key->str), GUINT_TO_POINTER(one ? 0 : ordinal + 1));
    g_string_append_printf(key, "\x1f#%u", ordinal);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(m->site_index, key->str));
    if (number != 0) {
        struct fm_css *known = &fm_merge_site(m, number - 1)->css;
        known->inlined = known->inlined || css->inlined;
        if (m->options.across_builds && is_before(css, known)) {
            known->file = own(m, css->file);
            known->line = css->line;
            known->goal_path = own(m, css->goal_path);
        }
        return number - 1;
    }
    struct fm_merged_site site = {.css = *css, .ps = proc, .ordinal = ordinal};
    site.css.callee_ps = callee;
    site.css.file = own(m, css->file);
    site.css.goal_path = own(m, css->goal_path);
    site.css.type_subst = own(m, css->type_subst);
    g_array_append_val(m->sites, site);
    number = m->sites->len;
    g_array_append_val(fm_merge_proc(m, proc)->sites, ((uint32_t){number - 1}));
    g_hash_table_insert(m->site_index, g_strdup(key->str), GUINT_TO_POINTER(number));
    return number - 1;
}

static int compare_site_places(const void *a, const void *b, void *user)
{
    const struct fm_profile *profile = user;
    const struct fm_css *one = &profile->css[*(const uint32_t *)a],
                        *other = &profile->css[*(const uint32_t *)b];
    int order = compare_places(one->file, one->line, other->file, other->line);
    if (order == 0)
        order = compare_paths(one->goal_path, other->goal_path);
    return order != 0 ? order : one->slot < other->slot ? -1 : one->slot > other->slot;
}

static void map_sites_of(struct fm_merge *m, const struct fm_profile *profile, uint32_t ps,
                         const uint32_t *procs)
{
    const struct fm_ps *of = &profile->ps[ps];
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint32_t *sites = g_memdup2(profile->css_of_ps + of->css_first, sizeof *sites * of->css_count);
    if ((m->flavour == FM_FLAVOUR_C || m->options.across_builds) && of->css_count > 1)
        g_qsort_with_data(sites, (gint)of->css_count, sizeof *sites, compare_site_places,
                          (gpointer)(uintptr_t)profile);
    for (uint32_t i = 0; i < of->css_count; i++) {
        const struct fm_css *css = &profile->css[sites[i]];
        uint32_t callee = css->callee_ps == 0 ? 0 : procs[css->callee_ps] + 1;
        g_array_index(m->last_sites, uint32_t, sites[i]) =
            find_site(m, css, procs[ps], callee, counts);
    }
    g_free(sites);
}

static bool same_sites(const struct fm_merge *m, const struct fm_profile *profile,
                       const uint32_t *procs)
{
    if (m->options.across_builds || m->last_sites->len != (guint)profile->css_count + 1)
        return false;
    for (uint32_t id = 1; id <= profile->css_count; id++) {
        const struct fm_css *css = &profile->css[id];
        uint32_t callee = css->callee_ps == 0 ? 0 : procs[css->callee_ps] + 1;
        if (!same_site(fm_merge_site(m, g_array_index(m->last_sites, uint32_t, id)), css,
                       procs[css->ps], callee))
            return false;
    }
    return true;
}

/* --- coverage points, and what may not differ --- */

static bool conflict(const struct fm_ps *ps, const char *name, const char *what, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "%s: %s has different %s than in the profiles before it: not the same build", name,
                ps->qualified_name, what);
    return false;
}

static bool same_points(const struct fm_merged_ps *known, const struct fm_profile *profile,
                        const struct fm_ps *ps)
{
    if (known->points->len != ps->point_count)
        return false;
    for (uint32_t i = 0; i < ps->point_count; i++) {
        const struct fm_merged_point *a = &g_array_index(known->points, struct fm_merged_point, i);
        const struct fm_coverage_point *b = &profile->points[ps->point_first + i];
        if (a->type != b->type || strcmp(a->goal_path, b->goal_path) != 0)
            return false;
    }
    return true;
}

/* Mercury's labels say nothing of the code: in one build other sites or points are an error.
 * known: how many procedures there were before this input. */
static bool check_conflicts(const struct fm_merge *m, const struct fm_profile *profile,
                            const uint32_t *procs, uint32_t known, bool of_union, const char *name,
                            GError **error)
{
    for (uint32_t id = 1; id <= profile->ps_count; id++) {
        const struct fm_ps *ps = &profile->ps[id];
        const struct fm_merged_ps *merged = fm_merge_proc(m, procs[id]);
        if (procs[id] >= known)
            continue;
        if (m->coverage != FM_COVERAGE_NONE && profile->coverage == m->coverage &&
            !same_points(merged, profile, ps))
            return conflict(ps, name, "coverage points", error);
        if (m->flavour != FM_FLAVOUR_MERCURY || m->options.sites_by_key)
            continue;
        struct fm_ps label = label_of(m, profile, id, of_union);
        if (strcmp(merged->ps.file, label.file) != 0 || merged->ps.line != label.line)
            return conflict(ps, name, "lines", error);
        if (merged->sites->len != ps->css_count)
            return conflict(ps, name, "call sites", error);
        for (uint32_t slot = 0; slot < ps->css_count; slot++) {
            const struct fm_css *css = &profile->css[profile->css_of_ps[ps->css_first + slot]];
            const struct fm_css *there =
                &fm_merge_site(m, g_array_index(merged->sites, uint32_t, slot))->css;
            uint32_t callee = css->callee_ps == 0 ? 0 : procs[css->callee_ps] + 1;
            if (there->kind != css->kind || there->callee_ps != callee ||
                there->line != css->line || strcmp(there->file, css->file) != 0 ||
                strcmp(there->goal_path, css->goal_path) != 0)
                return conflict(ps, name, "call sites", error);
        }
    }
    return true;
}

static void add_points(struct fm_merge *m, const struct fm_profile *profile, const uint32_t *procs,
                       uint32_t known)
{
    for (uint32_t id = 1; id <= profile->ps_count; id++) {
        const struct fm_ps *ps = &profile->ps[id];
        GArray *points = fm_merge_proc(m, procs[id])->points;
        for (uint32_t i = 0; i < ps->point_count; i++) {
            const struct fm_coverage_point *point = &profile->points[ps->point_first + i];
            if (procs[id] >= known) {
                struct fm_merged_point merged = {own(m, point->goal_path), point->type,
                                                 point->count};
                g_array_append_val(points, merged);
            } else {
                g_array_index(points, struct fm_merged_point, i).count = fm_merge_sum(
                    g_array_index(points, struct fm_merged_point, i).count, point->count);
            }
        }
    }
}

static gboolean is_from(gpointer key, gpointer number, gpointer known)
{
    (void)key;
    return GPOINTER_TO_UINT(number) > GPOINTER_TO_UINT(known);
}

/* Removes everything of an input that cannot be added. */
static void forget_procs_from(struct fm_merge *m, uint32_t known)
{
    g_hash_table_foreach_remove(m->proc_index, is_from, GUINT_TO_POINTER(known));
    for (uint32_t proc = known; proc < m->procs->len; proc++) {
        g_array_unref(fm_merge_proc(m, proc)->sites);
        g_array_unref(fm_merge_proc(m, proc)->points);
        g_clear_pointer(&fm_merge_proc(m, proc)->lines, g_array_unref);
    }
    g_array_set_size(m->procs, known);
    g_array_set_size(m->last_procs, 0);
    g_array_set_size(m->last_sites, 0);
}

bool fm_merge_statics(struct fm_merge *m, const struct fm_profile *profile, const char *name,
                      uint32_t **ret_procs, uint32_t **ret_sites, GError **error)
{
    g_return_val_if_fail(ret_procs != NULL && ret_sites != NULL, false);
    bool is_union = strcmp(profile->program_name, FM_MERGE_UNION_NAME) == 0;
    uint32_t known = m->procs->len;
    bool of_union = m->options.union_programs && !is_union;
    bool others = map_procs(m, profile, of_union);
    const uint32_t *procs = (const uint32_t *)(const void *)m->last_procs->data;
    if (!check_conflicts(m, profile, procs, known, of_union, name, error)) {
        forget_procs_from(m, known);
        return false;
    }
    if (others)
        keep_least_places(m, profile, procs, of_union);
    if (!same_sites(m, profile, procs)) {
        g_array_set_size(m->last_sites, profile->css_count + 1u);
        for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
            map_sites_of(m, profile, ps, procs);
    }
    if (m->coverage != FM_COVERAGE_NONE && profile->coverage == m->coverage)
        add_points(m, profile, procs, known);
    *ret_procs = g_memdup2(m->last_procs->data, sizeof **ret_procs * m->last_procs->len);
    *ret_sites = g_memdup2(m->last_sites->data, sizeof **ret_sites * m->last_sites->len);
    return true;
}

uint32_t fm_merge_union_root(struct fm_merge *m)
{
    bool c = m->flavour == FM_FLAVOUR_C;
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const struct fm_ps root = {.label_kind = c ? FM_LABEL_FUNCTION : FM_LABEL_PREDICATE,
                               .decl_module = "Mercury runtime",
                               .def_module = "Mercury runtime",
                               .name = FM_MERGE_UNION_NAME,
                               .type_name = "",
                               .file = "Mercury runtime",
                               .raw_name = FM_MERGE_UNION_NAME,
                               .in_interface = true};
    const struct fm_css site = {
        .kind = FM_SITE_CALLBACK, .type_subst = "", .file = "", .goal_path = ""};
    uint32_t ps = find_proc(m, &root, 0);
    find_site(m, &site, ps, 0, counts);
    return ps;
}
