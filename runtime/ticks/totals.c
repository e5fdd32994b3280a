/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions: at a tick the stack is known, so each function on it can be charged
 * once.
 *
 * A frame is plain if its context was created by its own call. The functions on a stack of plain
 * frames follow from its innermost context, so such a stack costs a check of its edges, and
 * nothing is written. Otherwise the frames from the outermost one that is not plain are examined
 * one by one: a function that is not active further out is charged in the context of that frame
 * (FM_REC_SIDE_CHARGED), the frames further out through the context in which they end
 * (FM_REC_SIDE_MOVED). The work is limited: of a deeper stack, the innermost frames are
 * examined, and the others are treated as plain. */
#include "../internal.h"

#define FRAMES_MAX 4096u

static bool is_plain(const struct fm_thread *thread, const struct fm_rec_csd *csd)
{
    return (csd->epoch_flags & FM_REC_CSD_MADE_CALLEE) != 0 && csd != thread->lost;
}

static const struct fm_rec_csd *csd_of(const struct fm_rec_frame *frame)
{
    return (const struct fm_rec_csd *)frame->csd;
}

/* Whether it was not there yet; false, too, if there is no room. */
static bool see(struct fm_tick_totals *totals, uint64_t fn)
{
    uint64_t at = fn * FM_HOOK_FACTOR >> 32;
    for (unsigned tries = 0; tries < FM_TICK_FUNCTIONS; tries++, at++) {
        struct fm_tick_function *place = &totals->seen[at % FM_TICK_FUNCTIONS];
        if (place->tick != totals->tick) {
            if (totals->count >= FM_TICK_FUNCTIONS / 4 * 3)
                return false;
            totals->count++;
            *place = (struct fm_tick_function){fn, totals->tick};
            return true;
        }
        if (place->fn == fn)
            return false;
    }
    return false;
}

/* The functions on the path of calls that made a context. */
static void see_path(struct fm_tick_totals *totals, const struct fm_rec_pd *pd)
{
    for (;;) {
        const struct fm_rec_csd *maker = fm_at(pd->maker);
        see(totals, pd->fn);
        if (maker->caller == 0)
            return;
        pd = fm_at(maker->caller);
    }
}

static void charge_pd(struct fm_thread *thread, const struct fm_rec_pd *pd, uint32_t kind,
                      uint64_t quanta)
{
    fm_side_add(thread, fm_at(pd->maker), kind, quanta);
}

static void charge_frame(struct fm_thread *thread, const struct fm_rec_csd *csd, uint64_t quanta)
{
    const struct fm_rec_pd *pd = fm_at(csd->callee);
    if (see(&thread->totals, pd->fn))
        charge_pd(thread, pd, FM_REC_SIDE_CHARGED, quanta);
}

void fm_totals_charge(struct fm_thread *thread, const struct fm_rec_frame *top,
                      const struct fm_rec_csd *charged, uint64_t quanta)
{
    const struct fm_rec_frame *first = NULL; /* the outermost that is not plain */
    const struct fm_rec_csd *above = NULL;
    unsigned frames = 0;
    for (const struct fm_rec_frame *at = top; at->cfa != FM_CFA_GUARD && frames < FRAMES_MAX;
         at--, frames++) {
        if (csd_of(at) != above && !is_plain(thread, csd_of(at)))
            first = at;
        else if (csd_of(at) == above && first == at + 1)
            first = at;
        above = csd_of(at);
    }
    bool apart = charged != csd_of(top); /* a call that has no frame */
    if (quanta == 0 || (first == NULL && (!apart || is_plain(thread, charged))))
        return;
    const struct fm_rec_pd *plain =
        fm_at(first == NULL ? csd_of(top)->callee : csd_of(first - 1)->callee);
    thread->totals.tick++;
    thread->totals.count = 0;
    see_path(&thread->totals, plain);
    above = NULL;
    for (const struct fm_rec_frame *at = first; at != NULL && at <= top; at++) {
        if (csd_of(at) != above)
            charge_frame(thread, csd_of(at), quanta);
        above = csd_of(at);
    }
    if (apart)
        charge_frame(thread, charged, quanta);
    if ((charged->epoch_flags & FM_REC_CSD_MADE_CALLEE) != 0)
        charge_pd(thread, fm_at(charged->callee), FM_REC_SIDE_MOVED, -quanta);
    charge_pd(thread, plain, FM_REC_SIDE_MOVED, quanta);
}
