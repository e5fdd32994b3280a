/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mercury/procrep/procrep.h"

void fm_proc_label_of_ps(const struct fm_ps *ps, struct fm_proc_label *ret)
{
    *ret = (struct fm_proc_label){
        .kind = ps->label_kind,
        .decl_module = ps->decl_module,
        .def_module = ps->def_module,
        .name = ps->name,
        .type_name = ps->type_name,
        .arity = ps->arity,
        .mode = ps->mode,
    };
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

int fm_proc_label_compare(const struct fm_proc_label *a, const struct fm_proc_label *b)
{
    int order = compare_numbers(a->kind, b->kind);
    if (order == 0 && a->kind == FM_LABEL_SPECIAL)
        order = strcmp(a->type_name, b->type_name);
    if (order == 0)
        order = strcmp(a->decl_module, b->decl_module);
    if (order == 0)
        order = strcmp(a->def_module, b->def_module);
    if (order == 0)
        order = strcmp(a->name, b->name);
    if (order == 0)
        order = compare_numbers(a->arity, b->arity);
    return order == 0 ? compare_numbers(a->mode, b->mode) : order;
}

void fm_proc_label_append(GString *out, const struct fm_proc_label *label)
{
    if (label->kind == FM_LABEL_SPECIAL)
        g_string_append_printf(out, "%s for %s.%s/%u-%u", label->name, label->decl_module,
                               label->type_name, label->arity, label->mode);
    else
        g_string_append_printf(out, "%s %s.%s/%u-%u",
                               label->kind == FM_LABEL_FUNCTION ? "func" : "pred",
                               label->decl_module, label->name, label->arity, label->mode);
}
