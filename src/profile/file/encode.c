/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/encode.h"

#include <string.h>

#include "profile/file/deep_internal.h"

void fm_encode_header(struct fm_writer *writer, const struct fm_encoding *encoding,
                      const struct fm_profile *profile)
{
    bool c = encoding->flavour == FM_FLAVOUR_C;
    g_autofree char *line = g_strdup_printf("%s%u\n", c ? FM_C_ID : FM_MERCURY_ID,
                                            c ? FM_C_VERSION : encoding->version);
    fm_writer_bytes(writer, line, strlen(line));
    fm_writer_string(writer, profile->program_name);
    fm_writer_fixed(writer,
                    fm_flags_make(profile->word_size, profile->canonical, encoding->coverage));
    fm_writer_fixed(writer, profile->csd_count);
    fm_writer_fixed(writer, profile->css_count);
    fm_writer_fixed(writer, profile->pd_count);
    fm_writer_fixed(writer, profile->ps_count);
    fm_writer_num(writer, profile->ticks_per_second);
    fm_writer_num(writer, profile->instrumentation_quanta);
    fm_writer_num(writer, profile->user_quanta);
    fm_writer_num(writer, profile->callseqs);
    fm_writer_num(writer, profile->root_pd);
    if (!c)
        return;
    fm_writer_num(writer, profile->measure_count);
    for (unsigned m = 0; m < profile->measure_count; m++) {
        uint64_t bits;
        memcpy(&bits, &profile->measures[m].scale, sizeof(bits));
        fm_writer_string(writer, profile->measures[m].name);
        fm_writer_string(writer, profile->measures[m].unit);
        fm_writer_fixed(writer, bits);
    }
}

void fm_encode_css(struct fm_writer *writer, const struct fm_encoding *encoding, uint32_t id,
                   const struct fm_css *css)
{
    fm_writer_byte(writer, FM_TOKEN_CSS);
    fm_writer_num(writer, id);
    bool inlined = css->inlined && encoding->flavour == FM_FLAVOUR_C;
    fm_writer_byte(writer, inlined ? FM_SITE_BYTE_INLINED : (uint8_t)css->kind);
    if (css->kind == FM_SITE_NORMAL) {
        fm_writer_num(writer, css->callee_ps);
        fm_writer_string(writer, css->type_subst);
    }
    if (encoding->flavour == FM_FLAVOUR_C || encoding->version >= 9)
        fm_writer_string(writer, css->file);
    fm_writer_num(writer, css->line);
    fm_writer_string(writer, css->goal_path);
}

void fm_encode_csd(struct fm_writer *writer, uint32_t id, uint32_t callee_pd,
                   const uint64_t *values, unsigned measure_count)
{
    g_return_if_fail(measure_count == 0 || values != NULL);
    uint64_t mask = 0;
    for (unsigned m = 0; m < measure_count; m++)
        mask |= values[m] != 0 ? fm_mask_bits[m] : 0;
    fm_writer_byte(writer, FM_TOKEN_CSD);
    fm_writer_num(writer, id);
    fm_writer_num(writer, callee_pd);
    fm_writer_num(writer, mask);
    for (unsigned m = 0; m < measure_count; m++) {
        if (values[m] != 0)
            fm_writer_num(writer, values[m]);
    }
}

static void encode_label(struct fm_writer *writer, const struct fm_encoding *encoding,
                         const struct fm_ps *ps)
{
    if (encoding->flavour == FM_FLAVOUR_C) {
        fm_writer_byte(writer, FM_LABEL_KIND_C);
        fm_writer_string(writer, ps->decl_module);
        fm_writer_string(writer, ps->name);
        fm_writer_string(writer, strcmp(ps->raw_name, ps->name) == 0 ? "" : ps->raw_name);
        fm_writer_num(writer, ps->arity == FM_ARITY_UNKNOWN ? 0 : ps->arity + 1u);
        fm_writer_byte(writer, (uint8_t)((ps->variadic ? FM_LABEL_C_VARIADIC : 0) |
                                         (ps->inlined ? FM_LABEL_C_INLINED : 0)));
        return;
    }
    fm_writer_byte(writer, (uint8_t)ps->label_kind);
    if (ps->label_kind == FM_LABEL_SPECIAL)
        fm_writer_string(writer, ps->type_name);
    fm_writer_string(writer, ps->decl_module);
    fm_writer_string(writer, ps->def_module);
    fm_writer_string(writer, ps->name);
    fm_writer_num(writer, ps->arity);
    fm_writer_num(writer, ps->mode);
}

void fm_encode_ps(struct fm_writer *writer, const struct fm_encoding *encoding, uint32_t id,
                  const struct fm_ps *ps, const uint32_t *css,
                  const struct fm_coverage_point *points)
{
    g_return_if_fail((ps->css_count == 0 || css != NULL) &&
                     (ps->point_count == 0 || points != NULL));
    fm_writer_byte(writer, FM_TOKEN_PS);
    fm_writer_num(writer, id);
    encode_label(writer, encoding, ps);
    fm_writer_string(writer, ps->file);
    fm_writer_num(writer, ps->line);
    fm_writer_byte(writer, ps->in_interface);
    fm_writer_num(writer, ps->css_count);
    for (uint32_t i = 0; i < ps->css_count; i++)
        fm_writer_num(writer, css[i]);
    if (encoding->coverage == FM_COVERAGE_NONE)
        return;
    fm_writer_num(writer, ps->point_count);
    for (uint32_t i = 0; i < ps->point_count; i++) {
        fm_writer_string(writer, points[i].goal_path);
        fm_writer_num(writer, points[i].type);
        if (encoding->coverage == FM_COVERAGE_STATIC)
            fm_writer_num(writer, points[i].count);
    }
}

void fm_encode_pd_begin(struct fm_writer *writer, uint32_t id, uint32_t ps, uint32_t slots)
{
    fm_writer_byte(writer, FM_TOKEN_PD);
    fm_writer_num(writer, id);
    fm_writer_num(writer, ps);
    fm_writer_num(writer, slots);
}

void fm_encode_slot(struct fm_writer *writer, enum fm_site_kind kind, const uint32_t *csds,
                    uint32_t count)
{
    g_return_if_fail(count == 0 || csds != NULL);
    fm_writer_byte(writer, (uint8_t)kind);
    if (kind == FM_SITE_NORMAL) {
        fm_writer_num(writer, count > 0 ? csds[0] : 0);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        fm_writer_num(writer, csds[i]);
    fm_writer_byte(writer, 0);
}
