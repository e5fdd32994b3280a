/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

/* The first "_get_" or "_set_" divides the name. Mercury's arity counts structure, value and, for
 * setters, the new structure; C's counts structure and value. */
static bool parse(const struct fm_analysis *a, uint32_t ps, struct fm_accessor *ret)
{
    const struct fm_ps *proc = &a->profile->ps[ps];
    if (proc->label_kind == FM_LABEL_SPECIAL || strcmp(proc->decl_module, proc->def_module) != 0)
        return false;
    const char *get = strstr(proc->name, "_get_"), *set = strstr(proc->name, "_set_");
    if (!get && !set)
        return false;
    bool setter = !get || (set && set < get);
    uint32_t getter_arity = a->profile->flavour == FM_FLAVOUR_C ? 1 : 2;
    if (proc->arity != getter_arity + setter)
        return false;
    const char *mark = setter ? set : get;
    *ret = (struct fm_accessor){
        .structure = g_strndup(proc->name, (gsize)(mark - proc->name)),
        .field = g_strdup(mark + strlen("_get_")),
        .setter = setter,
        .ps = ps,
    };
    fm_analysis_ps_cost(a, ps, &ret->cost);
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct fm_accessor *left = a, *right = b;
    int order = strcmp(left->structure, right->structure);
    if (order == 0)
        order = strcmp(left->field, right->field);
    if (order == 0)
        order = left->setter - right->setter;
    return order ? order : (left->ps > right->ps) - (left->ps < right->ps);
}

void fm_analysis_accessors(const struct fm_analysis *a, const struct fm_module *module,
                           struct fm_accessor **ret, uint32_t *ret_count)
{
    g_return_if_fail(a != NULL && module != NULL);
    GArray *accessors = g_array_new(FALSE, FALSE, sizeof(struct fm_accessor));
    for (uint32_t i = 0; i < module->ps_count; i++) {
        struct fm_accessor accessor;
        if (parse(a, module->ps[i], &accessor))
            g_array_append_val(accessors, accessor);
    }
    g_array_sort(accessors, compare);
    *ret_count = accessors->len;
    *ret = (struct fm_accessor *)(void *)g_array_free(accessors, FALSE);
}

void fm_accessors_free(struct fm_accessor *accessors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        g_free(accessors[i].structure);
        g_free(accessors[i].field);
    }
    g_free(accessors);
}
