/* SPDX-License-Identifier: Apache-2.0 */
/* From the addresses of a recorded edge to the call site that the reader sees. */
#include "record/finish/finish_internal.h"

#include <string.h>

struct place {
    const char *file;
    uint32_t line, column;
};

/* A site that the statics do not know: one for each text in its procedure. */
static uint32_t synthetic_css(struct finisher *f, uint32_t ps, enum fm_site_kind kind,
                              const struct place *place, const char *label)
{
    g_autofree char *key = g_strdup_printf("css %u %d %s %u %u %s", ps, (int)kind, place->file,
                                           place->line, place->column, label == NULL ? "" : label);
    gpointer known = g_hash_table_lookup(f->synthetic, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    struct node_css css = {
        .ps = ps,
        .kind = kind,
        .callee = FM_NONE,
        .file = place->file,
        .line = place->line,
        .column = place->column,
        .label = label == NULL ? NULL : fm_finish_string(f, "%s", label),
    };
    uint32_t index = fm_images_add_css(f, &css);
    const char *stored = fm_finish_string(f, "%s", key);
    g_hash_table_insert(f->synthetic, (gpointer)(uintptr_t)stored, GUINT_TO_POINTER(index + 1));
    return index;
}

/* A static site of ps at a place, calling callee if that is known; FM_NONE when there is none. */
static uint32_t css_at(struct finisher *f, uint32_t ps, const struct place *place, uint32_t callee)
{
    const struct node_ps *node = fm_node_ps(f, ps);
    for (guint i = 0; i < node->css->len; i++) {
        uint32_t index = g_array_index(node->css, uint32_t, i);
        const struct node_css *css = fm_node_css(f, index);
        if (css->line == place->line && css->column == place->column &&
            strcmp(css->file, place->file) == 0 && (callee == FM_NONE || css->callee == callee))
            return index;
    }
    return FM_NONE;
}

/* The only site of ps that calls callee, FM_NONE when there is none or several. */
static uint32_t only_css_to(struct finisher *f, uint32_t ps, uint32_t callee)
{
    const struct node_ps *node = fm_node_ps(f, ps);
    uint32_t found = FM_NONE;
    for (guint i = 0; i < node->css->len; i++) {
        uint32_t index = g_array_index(node->css, uint32_t, i);
        if (fm_node_css(f, index)->callee != callee)
            continue;
        if (found != FM_NONE)
            return FM_NONE;
        found = index;
    }
    return found;
}

/* The css of a source site of an image, if it belongs to ps. */
static uint32_t css_of_site(struct finisher *f, const struct image *image, uint32_t site,
                            uint32_t ps)
{
    if (site == FM_NONE)
        return FM_NONE;
    uint32_t css = image->css_of_site[site];
    return css != FM_NONE && fm_node_css(f, css)->ps == ps ? css : FM_NONE;
}

/* Climbs from a scope to the body of ps; *place becomes that of the call on the way there. False
 * when ps is not around. */
static bool climb_to(struct finisher *f, const struct image *image, uint32_t scope, uint32_t ps,
                     struct place *place)
{
    (void)f;
    for (; scope != FM_NONE; scope = image->statics->scopes[scope].parent) {
        const struct fm_scope *at = &image->statics->scopes[scope];
        if (image->ps_of_proc[at->proc] == ps)
            return true;
        *place = (struct place){at->call_file, at->call_line, at->call_column};
    }
    return false;
}

const struct image *fm_resolve_image(struct finisher *f, uint64_t address, uint32_t epoch,
                                     uint64_t *ret_file)
{
    uint32_t index = fm_images_find(f, address, epoch, ret_file);
    if (index == FM_NONE || fm_image(f, index)->css_of_site == NULL)
        return NULL;
    return fm_image(f, index);
}

/* The call instruction before a return address, as a site of ps. */
static uint32_t css_of_return(struct finisher *f, uint64_t address, uint32_t epoch, uint32_t ps)
{
    uint64_t file;
    const struct image *image = fm_resolve_image(f, address, epoch, &file);
    if (image == NULL)
        return FM_NONE;
    const struct fm_machine_site *machine = fm_statics_site_at(image->statics, file);
    if (machine == NULL)
        return FM_NONE;
    uint32_t css = css_of_site(f, image, machine->site, ps);
    if (css != FM_NONE)
        return css;
    struct place place = {machine->file, machine->line, machine->column};
    if (!climb_to(f, image, machine->scope, ps, &place))
        return FM_NONE;
    css = css_at(f, ps, &place, FM_NONE);
    enum fm_site_kind kind = machine->indirect ? FM_SITE_HIGHER_ORDER : FM_SITE_CALLBACK;
    return css != FM_NONE ? css : synthetic_css(f, ps, kind, &place, NULL);
}

/* Hooks may be inlined bodies themselves. */
uint32_t fm_resolve_body_of_hook(struct finisher *f, const struct fm_raw_csd *csd,
                                 const struct image **ret_image)
{
    uint64_t file;
    const struct image *image = *ret_image = fm_resolve_image(f, csd->hook_pc, csd->epoch, &file);
    uint32_t scope = image == NULL ? FM_NONE : fm_statics_scope_at(image->statics, file - 1);
    while (scope != FM_NONE &&
           fm_statics_is_hook(image->statics->procs[image->statics->scopes[scope].proc].linkage))
        scope = image->statics->scopes[scope].parent;
    return scope;
}

/* After a longjmp to a frame, bodies inlined into that very frame look as if they still ran, and
 * what the frame does next as if they did it. The code knows better: the caller is that body of the
 * frame which stands around the callee's. */
static void mend_caller(struct finisher *f, struct fm_raw_csd *csd, const struct image *image,
                        uint32_t around)
{
    struct place place;
    for (uint32_t pd = csd->caller, steps = 0; steps < f->recording->pd_count; steps++) {
        if (f->pd_ps[pd] != FM_NONE && climb_to(f, image, around, f->pd_ps[pd], &place)) {
            csd->caller = pd;
            return;
        }
        uint32_t maker = f->recording->pds[pd].maker;
        if (maker == FM_RAW_NONE || (f->recording->csds[maker].flags & FM_REC_CSD_INLINED) == 0)
            return;
        pd = f->recording->csds[maker].caller;
    }
}

static void mend_caller_of_call(struct finisher *f, struct fm_raw_csd *csd)
{
    uint64_t file;
    const struct image *image = fm_resolve_image(f, csd->site, csd->epoch, &file);
    const struct fm_machine_site *machine =
        image == NULL ? NULL : fm_statics_site_at(image->statics, file);
    if (machine != NULL)
        mend_caller(f, csd, image, machine->scope);
}

static uint32_t css_of_inlined(struct finisher *f, struct fm_raw_csd *csd, uint32_t callee)
{
    static const struct place nowhere = {"", 0, 0};
    const struct image *image;
    uint32_t scope = fm_resolve_body_of_hook(f, csd, &image);
    bool exact =
        scope != FM_NONE && image->ps_of_proc[image->statics->scopes[scope].proc] == callee;
    if (exact)
        mend_caller(f, csd, image, image->statics->scopes[scope].parent);
    uint32_t ps = f->pd_ps[csd->caller];
    if (exact) {
        const struct fm_scope *body = &image->statics->scopes[scope];
        uint32_t css = css_of_site(f, image, body->site, ps);
        if (css != FM_NONE)
            return css;
        struct place place = {body->call_file, body->call_line, body->call_column};
        if (climb_to(f, image, body->parent, ps, &place)) {
            css = css_at(f, ps, &place, callee);
            return css != FM_NONE ? css : synthetic_css(f, ps, FM_SITE_HIGHER_ORDER, &place, NULL);
        }
    }
    uint32_t only = only_css_to(f, ps, callee);
    if (only != FM_NONE)
        return only;
    g_autofree char *label = g_strdup_printf("inlined call of %s", fm_node_ps(f, callee)->name);
    return synthetic_css(f, ps, FM_SITE_HIGHER_ORDER, &nowhere, label);
}

/* Foreign or excluded code stands between the caller and the callee. */
static uint32_t css_of_callback(struct finisher *f, const struct fm_raw_csd *csd, uint32_t ps)
{
    static const struct place nowhere = {"", 0, 0};
    if (csd->via != 0) {
        uint32_t css = css_of_return(f, csd->via, csd->epoch, ps);
        if (css != FM_NONE)
            return css;
    }
    if ((csd->flags & FM_REC_CSD_SIGNAL) != 0)
        return synthetic_css(f, ps, FM_SITE_CALLBACK, &nowhere, "signal");
    g_autofree char *label = fm_images_describe(f, csd->site, csd->epoch);
    return synthetic_css(f, ps, FM_SITE_CALLBACK, &nowhere, label);
}

static uint32_t css_of_csd(struct finisher *f, struct fm_raw_csd *csd)
{
    static const struct place nowhere = {"", 0, 0};
    const struct fm_raw_pd *caller = &f->recording->pds[csd->caller];
    if (csd->css != FM_RAW_NONE)
        return csd->css;
    if (f->recording->pds[csd->callee].fn == FM_REC_FN_LOST)
        return synthetic_css(f, f->thread_ps[caller->thread], FM_SITE_CALLBACK, &nowhere,
                             "no room in the recording");
    if (caller->fn == 0)
        return f->thread_css[caller->thread];
    if ((csd->flags & FM_REC_CSD_INLINED) != 0)
        return css_of_inlined(f, csd, f->pd_ps[csd->callee]);
    if ((csd->flags & FM_REC_CSD_CALLBACK) == 0) {
        mend_caller_of_call(f, csd);
        uint32_t css = css_of_return(f, csd->site, csd->epoch, f->pd_ps[csd->caller]);
        if (css != FM_NONE)
            return css;
    }
    return css_of_callback(f, csd, f->pd_ps[csd->caller]);
}

static void note_callee(struct finisher *f, uint32_t css_index, uint32_t callee)
{
    struct node_css *css = fm_node_css(f, css_index);
    if (css->actual == FM_NONE)
        css->actual = callee;
    else if (css->actual != callee)
        css->actual = FM_MANY;
    if (!fm_node_ps(f, callee)->virtual_method)
        css->only_virtual = false;
}

/* What was called has the last word on what kind of site it is. */
static void settle_kind(struct finisher *f, struct node_css *css)
{
    (void)f;
    if (css->kind == FM_SITE_NORMAL && css->actual != FM_NONE && css->actual != css->callee) {
        if (css->actual == FM_MANY) {
            css->kind = FM_SITE_HIGHER_ORDER;
            css->callee = FM_NONE;
        } else {
            css->callee = css->actual;
        }
    }
    if (css->actual != FM_NONE &&
        (css->kind == FM_SITE_HIGHER_ORDER || css->kind == FM_SITE_METHOD))
        css->kind = css->only_virtual ? FM_SITE_METHOD : FM_SITE_HIGHER_ORDER;
}

void fm_resolve_sites(struct finisher *f)
{
    const struct fm_raw_recording *recording = f->recording;
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        if (csd->caller == FM_RAW_NONE)
            continue;
        csd->css = css_of_csd(f, csd);
        note_callee(f, csd->css, f->pd_ps[csd->callee]);
    }
    for (guint i = 0; i < f->css->len; i++)
        settle_kind(f, fm_node_css(f, i));
}
