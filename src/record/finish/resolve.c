/* SPDX-License-Identifier: Apache-2.0 */
/* From the addresses of a recorded edge to the call site that the reader sees. */
#include "record/finish/resolve.h"

#include <string.h>

#include "record/finish/notes.h"

struct resolver {
    struct fm_raw_recording *recording;
    struct fm_nodes *nodes;
    GHashTable *synthetic; /* key text -> css + 1 */
};

struct place {
    const char *file;
    uint32_t line, column;
};

/* A site that the statics do not know: one for each text in its procedure. */
static uint32_t synthetic_css(struct resolver *r, uint32_t ps, enum fm_site_kind kind,
                              const struct place *place, const char *label)
{
    g_autofree char *key = g_strdup_printf("css %u %d %s %u %u %s", ps, (int)kind, place->file,
                                           place->line, place->column, label == NULL ? "" : label);
    gpointer known = g_hash_table_lookup(r->synthetic, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    struct fm_node_css css = {
        .ps = ps,
        .kind = kind,
        .callee = FM_NONE,
        .file = place->file,
        .line = place->line,
        .column = place->column,
        .label = label == NULL ? NULL : fm_nodes_string(r->nodes, "%s", label),
    };
    uint32_t index = fm_nodes_add_css(r->nodes, &css);
    const char *stored = fm_nodes_string(r->nodes, "%s", key);
    g_hash_table_insert(r->synthetic, (gpointer)(uintptr_t)stored, GUINT_TO_POINTER(index + 1));
    return index;
}

/* A static site of ps at a place, calling callee if that is known; FM_NONE when there is none. */
static uint32_t css_at(struct resolver *r, uint32_t ps, const struct place *place, uint32_t callee)
{
    const struct fm_node_ps *node = fm_nodes_ps(r->nodes, ps);
    for (guint i = 0; i < node->css->len; i++) {
        uint32_t index = g_array_index(node->css, uint32_t, i);
        const struct fm_node_css *css = fm_nodes_css(r->nodes, index);
        if (css->line == place->line && css->column == place->column &&
            strcmp(css->file, place->file) == 0 && (callee == FM_NONE || css->callee == callee))
            return index;
    }
    return FM_NONE;
}

/* The only site of ps that calls callee, FM_NONE when there is none or several. */
static uint32_t only_css_to(struct resolver *r, uint32_t ps, uint32_t callee)
{
    const struct fm_node_ps *node = fm_nodes_ps(r->nodes, ps);
    uint32_t found = FM_NONE;
    for (guint i = 0; i < node->css->len; i++) {
        uint32_t index = g_array_index(node->css, uint32_t, i);
        if (fm_nodes_css(r->nodes, index)->callee != callee)
            continue;
        if (found != FM_NONE)
            return FM_NONE;
        found = index;
    }
    return found;
}

/* The css of a source site of an image, if it belongs to ps. */
static uint32_t css_of_site(struct resolver *r, const struct fm_image_nodes *image, uint32_t site,
                            uint32_t ps)
{
    if (site == FM_NONE)
        return FM_NONE;
    uint32_t css = image->css_of_site[site];
    return css != FM_NONE && fm_nodes_css(r->nodes, css)->ps == ps ? css : FM_NONE;
}

/* Climbs from a scope to the body of ps; *place becomes that of the call on the way there. False
 * when ps is not around. */
static bool climb_to(const struct fm_image_nodes *image, uint32_t scope, uint32_t ps,
                     struct place *place)
{
    for (; scope != FM_NONE; scope = image->statics->scopes[scope].parent) {
        const struct fm_scope *at = &image->statics->scopes[scope];
        if (image->ps_of_proc[at->proc] == ps)
            return true;
        *place = (struct place){at->call_file, at->call_line, at->call_column};
    }
    return false;
}

/* The call instruction before a return address; NULL when it is not known. */
static const struct fm_machine_site *machine_site(struct resolver *r, uint64_t address,
                                                  uint32_t epoch,
                                                  const struct fm_image_nodes **ret_image)
{
    uint64_t file;
    *ret_image = fm_nodes_image_of(r->nodes, address, epoch, &file);
    return *ret_image == NULL ? NULL : fm_statics_site_at((*ret_image)->statics, file);
}

/* A call instruction, as a site of ps. */
static uint32_t css_of_machine(struct resolver *r, const struct fm_image_nodes *image,
                               const struct fm_machine_site *machine, uint32_t ps)
{
    if (machine == NULL)
        return FM_NONE;
    uint32_t css = css_of_site(r, image, machine->site, ps);
    if (css != FM_NONE)
        return css;
    struct place place = {machine->file, machine->line, machine->column};
    if (!climb_to(image, machine->scope, ps, &place))
        return FM_NONE;
    css = css_at(r, ps, &place, FM_NONE);
    enum fm_site_kind kind = machine->indirect ? FM_SITE_HIGHER_ORDER : FM_SITE_CALLBACK;
    return css != FM_NONE ? css : synthetic_css(r, ps, kind, &place, NULL);
}

/* After a longjmp to a frame, bodies inlined into that frame seem to be still active, and the
 * frame's next calls seem to be theirs. The code is right then: the caller is that body of the
 * frame which contains the callee's. But only if that is the innermost one there: code shared among
 * several bodies (hoisted, merged tails) has the scope of the body around all of them, or of one,
 * and then the frame is right. */
static void mend_caller(struct resolver *r, struct fm_raw_csd *csd,
                        const struct fm_image_nodes *image, uint32_t around)
{
    around = fm_statics_shown_around(image->statics, around);
    if (around == FM_NONE)
        return;
    uint32_t ps = image->ps_of_proc[image->statics->scopes[around].proc];
    for (uint32_t pd = csd->caller, steps = 0; steps < r->recording->pd_count; steps++) {
        if (r->nodes->pd_ps[pd] == ps) {
            csd->caller = pd;
            return;
        }
        uint32_t maker = r->recording->pds[pd].maker;
        if (maker == FM_RAW_NONE || (r->recording->csds[maker].flags & FM_REC_CSD_INLINED) == 0)
            return;
        pd = r->recording->csds[maker].caller;
    }
}

/* The only site of the caller that calls callee, else one without a line. how: "call". */
static uint32_t css_without_place(struct resolver *r, uint32_t ps, uint32_t callee, const char *how)
{
    static const struct place nowhere = {"", 0, 0};
    uint32_t only = only_css_to(r, ps, callee);
    if (only != FM_NONE)
        return only;
    g_autofree char *label = g_strdup_printf("%s of %s", how, fm_nodes_ps(r->nodes, callee)->name);
    return synthetic_css(r, ps, FM_SITE_HIGHER_ORDER, &nowhere, label);
}

/* LLVM gives a call that represents several of different bodies line 0, or column 0 when all have
 * one line. */
static bool stands_for_several(const struct fm_machine_site *machine)
{
    return machine->line == 0 || machine->column == 0;
}

static uint32_t css_of_call(struct resolver *r, struct fm_raw_csd *csd)
{
    const struct fm_image_nodes *image;
    const struct fm_machine_site *machine = machine_site(r, csd->site, csd->epoch, &image);
    if (machine != NULL && !stands_for_several(machine))
        mend_caller(r, csd, image, machine->scope);
    uint32_t ps = r->nodes->pd_ps[csd->caller];
    uint32_t css = css_of_machine(r, image, machine, ps);
    /* The code of several bodies, which is called another's. */
    return css != FM_NONE || machine == NULL
               ? css
               : css_without_place(r, ps, r->nodes->pd_ps[csd->callee], "call");
}

static uint32_t css_of_inlined(struct resolver *r, struct fm_raw_csd *csd, uint32_t callee)
{
    const struct fm_image_nodes *image;
    uint32_t scope = fm_nodes_body_of_hook(r->nodes, csd, &image);
    bool exact =
        scope != FM_NONE && image->ps_of_proc[image->statics->scopes[scope].proc] == callee;
    if (exact)
        mend_caller(r, csd, image, image->statics->scopes[scope].parent);
    uint32_t ps = r->nodes->pd_ps[csd->caller];
    if (exact) {
        const struct fm_scope *body = &image->statics->scopes[scope];
        uint32_t css = css_of_site(r, image, body->site, ps);
        if (css != FM_NONE)
            return css;
        struct place place = {body->call_file, body->call_line, body->call_column};
        if (climb_to(image, body->parent, ps, &place)) {
            css = css_at(r, ps, &place, callee);
            return css != FM_NONE ? css : synthetic_css(r, ps, FM_SITE_HIGHER_ORDER, &place, NULL);
        }
    }
    return css_without_place(r, ps, callee, "inlined call");
}

/* Foreign or excluded code is between the caller and the callee. */
static uint32_t css_of_callback(struct resolver *r, const struct fm_raw_csd *csd, uint32_t ps)
{
    static const struct place nowhere = {"", 0, 0};
    if (csd->via != 0) {
        const struct fm_image_nodes *image;
        const struct fm_machine_site *machine = machine_site(r, csd->via, csd->epoch, &image);
        uint32_t css = css_of_machine(r, image, machine, ps);
        if (css != FM_NONE)
            return css;
    }
    if ((csd->flags & FM_REC_CSD_SIGNAL) != 0)
        return synthetic_css(r, ps, FM_SITE_CALLBACK, &nowhere, "signal");
    g_autofree char *label = fm_images_describe(r->nodes->images, csd->site, csd->epoch);
    return synthetic_css(r, ps, FM_SITE_CALLBACK, &nowhere, label);
}

static uint32_t css_of_csd(struct resolver *r, struct fm_raw_csd *csd)
{
    static const struct place nowhere = {"", 0, 0};
    const struct fm_raw_pd *caller = &r->recording->pds[csd->caller];
    if (csd->css != FM_RAW_NONE)
        return csd->css;
    uint64_t callee = r->recording->pds[csd->callee].fn;
    if (callee == FM_REC_FN_LOST)
        return synthetic_css(r, r->nodes->thread_ps[caller->thread], FM_SITE_CALLBACK, &nowhere,
                             "no room in the recording");
    if (callee == FM_REC_FN_CUT)
        return synthetic_css(r, r->nodes->pd_ps[csd->caller], FM_SITE_CALLBACK, &nowhere,
                             "the stack was cut");
    if (caller->fn <= FM_REC_FN_SPECIAL_MAX && caller->fn > FM_REC_FN_LOST)
        return synthetic_css(r, r->nodes->pd_ps[csd->caller], FM_SITE_CALLBACK, &nowhere, NULL);
    if (caller->fn == 0)
        return r->nodes->thread_css[caller->thread];
    if ((csd->flags & FM_REC_CSD_INLINED) != 0)
        return css_of_inlined(r, csd, r->nodes->pd_ps[csd->callee]);
    if ((csd->flags & FM_REC_CSD_CALLBACK) == 0) {
        uint32_t css = css_of_call(r, csd);
        if (css != FM_NONE)
            return css;
    }
    return css_of_callback(r, csd, r->nodes->pd_ps[csd->caller]);
}

/* Nothing of a site that belongs to another procedure than the caller is to be trusted, and its
 * slot would be another site's there: the call gets a site of its own. */
static bool keep_apart(struct resolver *r, struct fm_raw_csd *csd)
{
    static const struct place nowhere = {"", 0, 0};
    uint32_t ps = r->nodes->pd_ps[csd->caller];
    if (fm_nodes_css(r->nodes, csd->css)->ps == ps)
        return false;
    g_autofree char *label =
        g_strdup_printf("call of %s", fm_nodes_ps(r->nodes, r->nodes->pd_ps[csd->callee])->name);
    csd->css = synthetic_css(r, ps, FM_SITE_HIGHER_ORDER, &nowhere, label);
    return true;
}

static void note_callee(struct resolver *r, uint32_t css_index, uint32_t callee)
{
    struct fm_node_css *css = fm_nodes_css(r->nodes, css_index);
    if (css->actual == FM_NONE)
        css->actual = callee;
    else if (css->actual != callee)
        css->actual = FM_MANY;
    if (!fm_nodes_ps(r->nodes, callee)->virtual_method)
        css->only_virtual = false;
}

/* The callee decides the kind of the site. */
static void settle_kind(struct fm_node_css *css)
{
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

void fm_resolve_sites(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                      struct fm_finish_notes *notes)
{
    g_return_if_fail(nodes->recording == recording &&
                     (nodes->pd_ps != NULL || recording->pd_count == 0));
    struct resolver r = {
        .recording = recording,
        .nodes = nodes,
        .synthetic = g_hash_table_new(g_str_hash, g_str_equal),
    };
    uint32_t apart = 0;
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        if (csd->caller == FM_RAW_NONE)
            continue;
        csd->css = css_of_csd(&r, csd);
        apart += keep_apart(&r, csd);
        note_callee(&r, csd->css, nodes->pd_ps[csd->callee]);
    }
    for (guint i = 0; i < nodes->css->len; i++)
        settle_kind(fm_nodes_css(nodes, i));
    if (apart > 0)
        fm_notes_add(notes,
                     "the call sites of %u contexts are not known, as the program's file and the "
                     "recording differ on the caller: they have a site without a line (\"call "
                     "of\"); counts are not affected",
                     apart);
    g_hash_table_unref(r.synthetic);
}
