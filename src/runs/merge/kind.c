/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that decides which profiles fit, as a hash. Costs and contexts are not included. */
#include <string.h>

#include "runs/merge/internal.h"

static void add_number(GChecksum *sum, uint64_t number)
{
    g_checksum_update(sum, (const guchar *)&number, sizeof number);
}

/* NULL and "" are one. */
static void add_text(GChecksum *sum, const char *text)
{
    const char *bytes = text == NULL ? "" : text;
    g_checksum_update(sum, (const guchar *)bytes, (gssize)strlen(bytes) + 1);
}

static void add_proc(GChecksum *sum, const struct fm_ps *ps)
{
    const char *const texts[] = {ps->type_name, ps->decl_module, ps->def_module,
                                 ps->name,      ps->raw_name,    ps->file};
    const uint64_t numbers[] = {
        (uint64_t)ps->label_kind, ps->arity, ps->mode, ps->line, ps->variadic, ps->inlined,
        ps->in_interface};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        add_text(sum, texts[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        add_number(sum, numbers[i]);
}

static void add_measures(GChecksum *sum, const struct fm_profile *profile)
{
    add_number(sum, profile->measure_count);
    for (unsigned i = 0; i < profile->measure_count; i++) {
        uint64_t scale;
        memcpy(&scale, &profile->measures[i].scale, sizeof scale);
        add_text(sum, profile->measures[i].name);
        add_text(sum, profile->measures[i].unit);
        add_number(sum, scale);
    }
}

/* Adds the statics that may not differ within a build: statics.c. */
static void add_statics(GChecksum *sum, const struct fm_profile *profile, bool sites)
{
    for (uint32_t id = 1; id <= profile->ps_count; id++) {
        const struct fm_ps *ps = &profile->ps[id];
        add_proc(sum, ps);
        for (uint32_t i = 0; i < ps->point_count; i++) {
            add_number(sum, (uint64_t)profile->points[ps->point_first + i].type);
            add_text(sum, profile->points[ps->point_first + i].goal_path);
        }
        for (uint32_t i = 0; sites && i < ps->css_count; i++) {
            const struct fm_css *css = &profile->css[profile->css_of_ps[ps->css_first + i]];
            add_number(sum, (uint64_t)css->kind);
            add_number(sum, css->callee_ps);
            add_number(sum, css->line);
            add_text(sum, css->file);
            add_text(sum, css->goal_path);
        }
    }
}

void fm_merge_kind(const struct fm_merge *m, const struct fm_profile *profile,
                   uint8_t ret[FM_PART_HASH_BYTES])
{
    g_return_if_fail(m != NULL && profile != NULL && ret != NULL);
    const struct fm_run_info *info = &profile->run_info;
    const uint64_t numbers[] = {(uint64_t)profile->flavour,
                                profile->word_size,
                                profile->ticks_per_second,
                                fm_merge_has_quanta(profile),
                                (uint64_t)profile->coverage,
                                info->tick_event.recorded,
                                info->tick_event.user_alone,
                                info->unknown,
                                info->nature,
                                fm_merge_is_empty(profile)};
    bool mercury = profile->flavour == FM_FLAVOUR_MERCURY && !m->options.sites_by_key;
    gsize size = FM_PART_HASH_BYTES;
    g_autoptr(GError) damage = NULL;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    add_text(sum, fm_merge_program(m, profile->program_name));
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        add_number(sum, numbers[i]);
    add_proc(sum, &profile->ps[profile->pd_ps[profile->root_pd]]);
    add_measures(sum, profile);
    if (mercury || profile->coverage != FM_COVERAGE_NONE)
        add_statics(sum, profile, mercury);
    if (!fm_merge_check_callees(profile, "", &damage))
        add_text(sum, damage->message);
    g_checksum_get_digest(sum, ret, &size);
}
