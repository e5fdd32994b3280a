/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined bodies without hooks (--grade=deep) have no recorded calls. But a call's return address
 * is in the scopes of the bodies around it, from the function's own inwards: they are inserted
 * between the caller and the callee. The number of executions of such a body is not known; that of
 * its calls is exact. A procedure that is active in its context is entered again under the same
 * node, as in the runtime: an inserted body may close a recursion, or open one that later calls
 * close. */
#include "record/finish/inlined.h"

#include "base/hash.h"
#include "record/finish/blocks.h"

struct fm_inlined {
    struct fm_raw_recording *recording;
    struct fm_nodes *nodes;
    GHashTable *known; /* (pd, css) -> csd + 1: inserted below it, there */
    GArray *pd_ps;     /* nodes->pd_ps, which grows; NULL: insertion is done */
    GArray *inserted;  /* bool per pd */
    GArray *alias;     /* per pd: the one that represents it */
    GArray *order;     /* edges of the recording, callers before callees */
    uint32_t *callees; /* per csd, when all was in; NULL before that */
    bool missing;      /* then: a body that was not inserted was needed */
};

static uint32_t ps_of(const struct fm_inlined *in, uint32_t pd)
{
    return in->pd_ps == NULL ? in->nodes->pd_ps[pd] : g_array_index(in->pd_ps, uint32_t, pd);
}

static uint32_t standing_for(const struct fm_inlined *in, uint32_t pd)
{
    while (g_array_index(in->alias, uint32_t, pd) != pd)
        pd = g_array_index(in->alias, uint32_t, pd);
    return pd;
}

/* The pd of ps that is active where pd runs, FM_NONE; only_inserted: among those made here. */
static uint32_t active(const struct fm_inlined *in, uint32_t pd, uint32_t ps, bool only_inserted)
{
    const struct fm_raw_recording *recording = in->recording;
    for (uint32_t steps = 0; steps < recording->pd_count; steps++) {
        if (ps_of(in, pd) == ps && (!only_inserted || g_array_index(in->inserted, bool, pd)))
            return pd;
        uint32_t maker = recording->pds[pd].maker;
        if (maker == FM_RAW_NONE || recording->csds[maker].caller == FM_RAW_NONE)
            return FM_NONE;
        pd = standing_for(in, recording->csds[maker].caller);
    }
    return FM_NONE;
}

static uint32_t callee_of(const struct fm_inlined *in, uint32_t csd)
{
    return in->callees != NULL ? in->callees[csd] : in->recording->csds[csd].callee;
}

/* The edge by which an inlined body is entered below caller; FM_NONE: all is in but that. */
static uint32_t insert(struct fm_inlined *in, uint32_t caller, uint32_t css, uint32_t ps)
{
    struct fm_raw_recording *recording = in->recording;
    uint64_t key = (uint64_t)caller << 32 | css;
    gpointer found = g_hash_table_lookup(in->known, &key);
    if (found != NULL)
        return GPOINTER_TO_UINT(found) - 1;
    if (in->callees != NULL) {
        in->missing = true;
        return FM_NONE;
    }
    uint32_t csd;
    uint32_t pd = active(in, caller, ps, false);
    bool makes = pd == FM_NONE;
    if (makes) {
        struct fm_raw_pd made = {.fn = FM_RAW_FN_INSERTED,
                                 .thread = recording->pds[caller].thread,
                                 .maker = recording->csd_count};
        const bool yes = true;
        pd = fm_raw_recording_add_pd(recording, &made);
        g_array_append_val(in->pd_ps, ps);
        g_array_append_val(in->inserted, yes);
        g_array_append_val(in->alias, pd);
    }
    csd = fm_raw_recording_add_csd(
        recording, &(struct fm_raw_csd){.caller = caller,
                                        .callee = pd,
                                        .flags = FM_REC_CSD_INLINED |
                                                 (makes ? (uint32_t)FM_REC_CSD_MADE_CALLEE : 0),
                                        .css = css});
    g_hash_table_insert(in->known, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(csd + 1));
    return csd;
}

/* The innermost shown scope of the code that calls; FM_NONE when not known. */
static uint32_t scope_of_call(struct fm_inlined *in, const struct fm_raw_csd *csd,
                              const struct fm_image_nodes **ret_image)
{
    if ((csd->flags & FM_REC_CSD_INLINED) != 0) {
        uint32_t scope = fm_nodes_body_of_hook(in->nodes, csd, ret_image);
        if (scope == FM_NONE)
            return FM_NONE;
        scope = (*ret_image)->statics->scopes[scope].parent;
        return fm_statics_shown_around((*ret_image)->statics, scope);
    }
    uint64_t file;
    uint64_t address = (csd->flags & FM_REC_CSD_CALLBACK) != 0 ? csd->via : csd->site;
    *ret_image = address == 0 ? NULL : fm_nodes_image_of(in->nodes, address, csd->epoch, &file);
    const struct fm_machine_site *machine =
        *ret_image == NULL ? NULL : fm_statics_site_at((*ret_image)->statics, file);
    if (machine == NULL)
        return FM_NONE;
    return fm_statics_shown_around((*ret_image)->statics, machine->scope);
}

/* The scope that contains the caller's own hook, among those around scope; FM_NONE: none. */
static uint32_t scope_of_caller(struct fm_inlined *in, uint32_t caller,
                                const struct fm_image_nodes *image, uint32_t scope)
{
    const struct fm_statics *statics = image->statics;
    uint32_t maker = in->recording->pds[caller].maker, hook = FM_NONE, found = FM_NONE;
    bool inlined = false;
    if (maker != FM_RAW_NONE && (in->recording->csds[maker].flags & FM_REC_CSD_INLINED) != 0) {
        const struct fm_image_nodes *other;
        inlined = true;
        hook = fm_nodes_body_of_hook(in->nodes, &in->recording->csds[maker], &other);
        if (other != image)
            hook = FM_NONE;
    }
    for (; scope != FM_NONE;
         scope = fm_statics_shown_around(statics, statics->scopes[scope].parent)) {
        bool same = image->ps_of_proc[statics->scopes[scope].proc] == ps_of(in, caller);
        if (scope == hook && same)
            return scope;
        if (same && inlined && found == FM_NONE)
            found = scope; /* a body in several pieces */
        else if (same && !inlined && statics->scopes[scope].parent == FM_NONE)
            found = scope;
    }
    return found;
}

/* The edge that enters the innermost body without hooks around a place, from the scope given there
 * up to the caller's own; FM_NONE: there is none, or it is not known. */
static uint32_t insert_around(struct fm_inlined *in, uint32_t caller,
                              const struct fm_image_nodes *image, uint32_t scope)
{
    uint32_t until = scope == FM_NONE ? FM_NONE : scope_of_caller(in, caller, image, scope);
    if (until == FM_NONE || scope == until)
        return FM_NONE;
    const struct fm_statics *statics = image->statics;
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (; scope != until;
         scope = fm_statics_shown_around(statics, statics->scopes[scope].parent)) {
        if (statics->scopes[scope].live || statics->scopes[scope].site == FM_NONE ||
            image->css_of_site[statics->scopes[scope].site] == FM_NONE)
            return FM_NONE; /* it has hooks, and they did not run: the frame was left by longjmp */
        g_array_append_val(path, scope);
    }
    uint32_t entered = FM_NONE, pd = standing_for(in, caller);
    for (guint i = path->len; i > 0; i--) {
        const struct fm_scope *body = &statics->scopes[g_array_index(path, uint32_t, i - 1)];
        entered = insert(in, pd, image->css_of_site[body->site], image->ps_of_proc[body->proc]);
        if (entered == FM_NONE)
            break;
        pd = callee_of(in, entered);
    }
    return entered;
}

/* The real caller: the innermost body without hooks around the call. */
static uint32_t caller_of(struct fm_inlined *in, const struct fm_raw_csd *csd)
{
    const struct fm_image_nodes *image;
    uint32_t scope = scope_of_call(in, csd, &image);
    uint32_t entered = insert_around(in, csd->caller, image, scope);
    return entered == FM_NONE ? standing_for(in, csd->caller) : in->recording->csds[entered].callee;
}

/* The edge that enters the inlined body whose code an address is, within an edge's callee; FM_NONE:
 * it is the callee's own code. */
static uint32_t edge_of_body(struct fm_inlined *in, uint32_t csd, uint64_t pc, uint32_t epoch)
{
    const struct fm_raw_recording *recording = in->recording;
    uint32_t callee = callee_of(in, csd);
    uint64_t file;
    const struct fm_image_nodes *image = fm_nodes_image_of(in->nodes, pc, epoch, &file);
    bool left_out = in->callees == NULL && recording->csds[csd].caller == FM_RAW_NONE;
    if (image == NULL || left_out || recording->pds[callee].fn == 0)
        return FM_NONE;
    uint32_t scope = fm_statics_scope_at(image->statics, file);
    scope = fm_statics_shown_around(image->statics, scope);
    return insert_around(in, callee, image, scope);
}

/* Time that fell on an inlined body's code is that body's. */
static void give_sample(struct fm_inlined *in, struct fm_raw_sample *sample)
{
    struct fm_raw_recording *recording = in->recording;
    uint32_t entered = edge_of_body(in, sample->csd, sample->pc, sample->epoch);
    if (entered == FM_NONE)
        return;
    uint64_t quanta = MIN(sample->quanta, recording->csds[sample->csd].quanta);
    recording->csds[sample->csd].quanta -= quanta;
    recording->csds[entered].quanta += quanta;
    sample->csd = entered; /* the csd that is charged */
}

/* Time in foreign code is that of the body which called it, with its sample. */
static void give_foreign(struct fm_inlined *in, struct fm_raw_foreign *foreign)
{
    uint32_t entered = foreign->call == 0
                           ? FM_NONE
                           : edge_of_body(in, foreign->csd, foreign->call, foreign->epoch);
    if (entered != FM_NONE)
        foreign->csd = entered;
}

static uint32_t pd_of_body(void *data, uint32_t pd, const struct fm_image_nodes *image,
                           uint32_t scope)
{
    struct fm_inlined *in = data;
    uint32_t entered = insert_around(in, pd, image, scope);
    return entered == FM_NONE ? FM_NONE : callee_of(in, entered);
}

static void insert_above(struct fm_inlined *in, uint32_t index)
{
    struct fm_raw_recording *recording = in->recording;
    struct fm_raw_csd csd = recording->csds[index];
    if (recording->pds[csd.caller].fn == 0)
        return;
    uint32_t caller = caller_of(in, &csd);
    recording->csds[index].caller = caller;
    if (recording->pds[csd.callee].maker != index)
        return;
    uint32_t again = active(in, caller, ps_of(in, csd.callee), true);
    if (again != FM_NONE)
        g_array_index(in->alias, uint32_t, csd.callee) = again;
}

/* The edges that leave each pd, from the roots on by the edges that made the pds. */
static void order_edges(struct fm_inlined *in, const bool *gone)
{
    const struct fm_raw_recording *recording = in->recording;
    g_autofree uint32_t *first = g_new0(uint32_t, recording->pd_count + 2);
    g_autofree uint32_t *leaving = g_new(uint32_t, recording->csd_count + 1);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        if (recording->csds[i].caller != FM_RAW_NONE)
            first[recording->csds[i].caller + 2]++;
    }
    for (uint32_t i = 2; i < recording->pd_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        if (recording->csds[i].caller != FM_RAW_NONE)
            leaving[first[recording->csds[i].caller + 1]++] = i;
    }
    g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < recording->thread_count; i++)
        g_array_append_val(queue, recording->threads[i].root_pd);
    /* Below pds that the user excluded, the chain of creators is cut. */
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        uint32_t maker = recording->pds[i].maker;
        if (gone != NULL && maker != FM_RAW_NONE && recording->csds[maker].caller == FM_RAW_NONE &&
            recording->pds[i].fn != 0)
            g_array_append_val(queue, i);
    }
    for (guint at = 0; at < queue->len; at++) {
        uint32_t pd = g_array_index(queue, uint32_t, at);
        for (uint32_t i = first[pd]; i < first[pd + 1]; i++) {
            uint32_t callee = recording->csds[leaving[i]].callee;
            g_array_append_val(in->order, leaving[i]);
            if (recording->pds[callee].maker == leaving[i])
                g_array_append_val(queue, callee);
        }
    }
}

static struct fm_inlined *inlined_new(struct fm_raw_recording *recording, struct fm_nodes *nodes)
{
    struct fm_inlined *in = g_new0(struct fm_inlined, 1);
    *in = (struct fm_inlined){
        .recording = recording,
        .nodes = nodes,
        .known = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL),
        .pd_ps = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .inserted = g_array_new(FALSE, FALSE, sizeof(bool)),
        .alias = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    const bool no = false;
    g_array_append_vals(in->pd_ps, nodes->pd_ps, recording->pd_count);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        g_array_append_val(in->inserted, no);
        g_array_append_val(in->alias, i);
    }
    return in;
}

/* Insertion is done: redirects edges to and from represented pds. */
static void settle(struct fm_inlined *in)
{
    struct fm_raw_recording *recording = in->recording;
    in->callees = g_new(uint32_t, recording->csd_count + 1);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        in->callees[i] = csd->callee;
        csd->callee = standing_for(in, csd->callee);
        if (csd->caller != FM_RAW_NONE)
            csd->caller = standing_for(in, csd->caller);
    }
    g_free(in->nodes->pd_ps);
    in->nodes->pd_ps = (uint32_t *)(void *)g_array_free(g_steal_pointer(&in->pd_ps), FALSE);
    g_clear_pointer(&in->inserted, g_array_unref);
    g_clear_pointer(&in->order, g_array_unref);
}

struct fm_inlined *fm_inlined_insert(struct fm_raw_recording *recording, struct fm_nodes *nodes,
                                     const bool *gone)
{
    g_return_val_if_fail(
        nodes->recording == recording && (nodes->pd_ps != NULL || recording->pd_count == 0), NULL);
    struct fm_inlined *in = inlined_new(recording, nodes);
    order_edges(in, gone);
    for (guint i = 0; i < in->order->len; i++)
        insert_above(in, g_array_index(in->order, uint32_t, i));
    for (uint32_t i = 0; i < recording->sample_count; i++)
        give_sample(in, &recording->samples[i]);
    for (uint32_t i = 0; i < recording->foreign_count; i++)
        give_foreign(in, &recording->foreigns[i]);
    fm_blocks_give(recording, nodes, pd_of_body, in);
    for (uint32_t i = 0; i < recording->point_count; i++)
        recording->points[i].pd = standing_for(in, recording->points[i].pd);
    settle(in);
    return in;
}

void fm_inlined_free(struct fm_inlined *inlined)
{
    if (inlined == NULL)
        return;
    g_array_unref(inlined->alias);
    g_hash_table_unref(inlined->known);
    g_free(inlined->callees);
    g_free(inlined);
}

bool fm_inlined_give_again(struct fm_inlined *inlined)
{
    g_return_val_if_fail(inlined != NULL && inlined->callees != NULL, false);
    const struct fm_raw_recording *recording = inlined->recording;
    for (uint32_t i = 0; i < recording->sample_count && !inlined->missing; i++)
        give_sample(inlined, &recording->samples[i]);
    for (uint32_t i = 0; i < recording->foreign_count && !inlined->missing; i++)
        give_foreign(inlined, &recording->foreigns[i]);
    return !inlined->missing;
}
