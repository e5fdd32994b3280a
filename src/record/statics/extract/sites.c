/* SPDX-License-Identifier: Apache-2.0 */
/* Source sites: what the reader of a profile calls a call site. Several call instructions (copies
 * made by unrolling, inlining, cloning) and inlined bodies may be one source site. */
#include "record/statics/extract/sites.h"

#include <stdlib.h>
#include <string.h>

#include "record/statics/hooks_named.h"

/* A machine site or an inlined body on its way to its source site. */
struct draft {
    struct fm_site site;
    bool inlined;
    uint32_t index; /* into machine sites or scopes */
};

struct builder {
    struct fm_statics *statics;
    bool physical;
    GArray *drafts;
};

/* A call within a body that is inlined and has no sites of its own, as those of the standard
 * library, stands where the owner calls that body. */
static void stand_in_owner(const struct fm_statics *statics, uint32_t scope, uint32_t owner,
                           struct fm_site *site)
{
    uint32_t below = FM_NONE;
    for (; scope != owner; scope = statics->scopes[scope].parent)
        below = scope;
    if (below == FM_NONE || statics->scopes[below].call_line == 0)
        return;
    site->file = statics->scopes[below].call_file;
    site->line = statics->scopes[below].call_line;
    site->column = statics->scopes[below].call_column;
}

static void draft_machine_site(struct builder *builder, uint32_t index)
{
    struct fm_statics *statics = builder->statics;
    const struct fm_machine_site *machine = &statics->machine_sites[index];
    uint32_t owner = fm_statics_live_around(statics, builder->physical, machine->scope);
    if (owner == FM_NONE)
        return;
    struct draft draft = {
        .site =
            {
                .kind = machine->virtual_call ? FM_SITE_METHOD : FM_SITE_HIGHER_ORDER,
                .proc = statics->scopes[owner].proc,
                .callee = FM_NONE,
                .file = machine->file,
                .line = machine->line,
                .column = machine->column,
                .first_pc = machine->return_address,
            },
        .index = index,
    };
    stand_in_owner(statics, machine->scope, owner, &draft.site);
    if (!machine->indirect) {
        uint32_t callee =
            machine->target_name == NULL ? fm_statics_proc_at(statics, machine->target) : FM_NONE;
        uint64_t offset;
        draft.site.kind = FM_SITE_CALLBACK;
        draft.site.callee_name = machine->target_name;
        if (callee != FM_NONE && statics->procs[callee].instrumented)
            draft.site.callee = callee;
        else if (callee != FM_NONE)
            draft.site.callee_name = statics->procs[callee].linkage;
        else if (machine->target_name == NULL)
            draft.site.callee_name = fm_statics_symbol_at(statics, machine->target, &offset);
        if (callee != FM_NONE && draft.site.callee != FM_NONE)
            draft.site.kind = FM_SITE_NORMAL;
        if (draft.site.callee_name != NULL && fm_statics_is_helper(draft.site.callee_name))
            return;
    }
    g_array_append_val(builder->drafts, draft);
}

static void draft_inlined(struct builder *builder, uint32_t index)
{
    struct fm_statics *statics = builder->statics;
    const struct fm_scope *scope = &statics->scopes[index];
    if (scope->parent == FM_NONE ||
        fm_statics_live_around(statics, builder->physical, index) != index)
        return;
    uint32_t owner = fm_statics_live_around(statics, builder->physical, scope->parent);
    if (owner == FM_NONE)
        return;
    struct draft draft = {
        .site =
            {
                .kind = FM_SITE_NORMAL,
                .proc = statics->scopes[owner].proc,
                .callee = scope->proc,
                .file = scope->call_file,
                .line = scope->call_line,
                .column = scope->call_column,
                .first_pc = UINT64_MAX,
                .inlined = !scope->live,
            },
        .inlined = true,
        .index = index,
    };
    statics->procs[scope->proc].inlined |= !scope->live;
    g_array_append_val(builder->drafts, draft);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* Order of two sites but for their address; 0 = the same source site. */
static int same_site(const struct fm_site *left, const struct fm_site *right)
{
    int order = compare_numbers(left->proc, right->proc);
    if (order == 0 && left->file != right->file)
        order = strcmp(left->file, right->file);
    if (order == 0)
        order = compare_numbers(left->line, right->line);
    if (order == 0)
        order = compare_numbers(left->column, right->column);
    if (order == 0)
        order = compare_numbers(left->callee, right->callee);
    if (order == 0)
        order = g_strcmp0(left->callee_name, right->callee_name);
    if (order == 0)
        order = compare_numbers(left->callee == FM_NONE ? left->kind : 0,
                                right->callee == FM_NONE ? right->kind : 0);
    /* Without a line, only addresses distinguish two calls. */
    if (order == 0 && left->line == 0)
        order = compare_numbers(left->first_pc, right->first_pc);
    return order;
}

static int draft_order(const void *a, const void *b)
{
    const struct draft *left = a, *right = b;
    int order = same_site(&left->site, &right->site);
    if (order == 0)
        order = compare_numbers(left->site.first_pc, right->site.first_pc);
    if (order == 0)
        order = compare_numbers(left->index, right->index);
    return order;
}

void fm_sites_build(struct fm_statics *statics, bool physical)
{
    g_assert(statics->sites == NULL);
    struct builder builder = {
        .statics = statics,
        .physical = physical,
        .drafts = g_array_new(FALSE, TRUE, sizeof(struct draft)),
    };
    for (uint32_t i = 0; i < statics->machine_site_count; i++)
        draft_machine_site(&builder, i);
    for (uint32_t i = 0; i < statics->scope_count; i++)
        draft_inlined(&builder, i);
    g_array_sort(builder.drafts, draft_order);
    GArray *sites = g_array_new(FALSE, TRUE, sizeof(struct fm_site));
    for (guint i = 0; i < builder.drafts->len; i++) {
        const struct draft *draft = &g_array_index(builder.drafts, struct draft, i);
        if (i == 0 ||
            same_site(&g_array_index(builder.drafts, struct draft, i - 1).site, &draft->site) != 0)
            g_array_append_val(sites, draft->site);
        uint32_t number = sites->len - 1;
        g_array_index(sites, struct fm_site, number).inlined |= draft->site.inlined;
        if (draft->inlined)
            statics->scopes[draft->index].site = number;
        else
            statics->machine_sites[draft->index].site = number;
        struct fm_proc *proc = &statics->procs[draft->site.proc];
        if (proc->site_count == 0)
            proc->site_first = number;
        proc->site_count = number - proc->site_first + 1;
    }
    statics->site_count = sites->len;
    statics->sites = (struct fm_site *)(void *)g_array_free(sites, FALSE);
    g_array_unref(builder.drafts);
}
