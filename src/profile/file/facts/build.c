/* SPDX-License-Identifier: Apache-2.0 */
/* Building: what is known of a run beside the graph. */
#include <string.h>

#include "profile/file/build.h"
#include "profile/file/facts/facts.h"

void fm_build_mark(struct fm_build *build, const struct fm_mark *mark)
{
    g_return_if_fail(mark != NULL && mark->name != NULL);
    struct fm_mark own = *mark;
    own.name = fm_build_keep(build, mark->name);
    fm_run_info_add_mark(fm_build_profile(build), &own);
}

void fm_build_note(struct fm_build *build, const char *note)
{
    g_return_if_fail(note != NULL);
    fm_run_info_add_note(fm_build_profile(build), fm_build_keep(build, note));
}

void fm_build_origin(struct fm_build *build, const char *origin)
{
    g_return_if_fail(origin != NULL);
    fm_build_profile(build)->run_info.origin = fm_build_keep(build, origin);
}

void fm_build_nature(struct fm_build *build, uint32_t nature, uint64_t heap_period)
{
    g_return_if_fail((nature & ~(uint32_t)FM_NATURE_ALL) == 0);
    fm_build_profile(build)->run_info.nature |= nature;
    if ((nature & FM_NATURE_HEAP_SAMPLED) != 0)
        fm_build_profile(build)->run_info.heap_period = heap_period;
}

void fm_build_tick_event(struct fm_build *build, const struct fm_tick_event *event)
{
    g_return_if_fail(event != NULL && event->recorded);
    fm_build_profile(build)->run_info.tick_event = *event;
}

void fm_build_extent(struct fm_build *build, const struct fm_extent *extent)
{
    g_return_if_fail(extent != NULL);
    fm_build_profile(build)->run_info.extent = *extent;
}

void fm_build_unknown(struct fm_build *build, enum fm_measure_id measure)
{
    g_return_if_fail(measure < FM_MEASURES_MERCURY);
    fm_build_profile(build)->run_info.unknown |= 1u << measure;
}

void fm_build_process(struct fm_build *build, const struct fm_process_fact *process)
{
    g_return_if_fail(process != NULL);
    fm_build_profile(build)->run_info.process = *process;
    fm_build_profile(build)->run_info.process.command = fm_build_keep(build, process->command);
    fm_build_profile(build)->run_info.process.folder = fm_build_keep(build, process->folder);
    fm_build_profile(build)->run_info.process.host =
        process->host == NULL ? NULL : fm_build_keep(build, process->host);
    fm_build_profile(build)->run_info.process.forked_in =
        process->forked_in == NULL ? NULL : fm_build_keep(build, process->forked_in);
}

void fm_build_part(struct fm_build *build, const struct fm_part *part)
{
    g_return_if_fail(part != NULL && part->times > 0);
    struct fm_part own = *part;
    own.process.command = fm_build_keep(build, part->process.command);
    own.process.folder = fm_build_keep(build, part->process.folder);
    own.process.host = part->process.host == NULL ? NULL : fm_build_keep(build, part->process.host);
    own.process.forked_in =
        part->process.forked_in == NULL ? NULL : fm_build_keep(build, part->process.forked_in);
    fm_run_info_add_part(fm_build_profile(build), &own);
}

void fm_build_unhooked_begin(struct fm_build *build, uint64_t unknown_quanta)
{
    struct fm_unhooked_info *info = &fm_build_profile(build)->run_info.unhooked;
    fm_unhooked_info_done(info);
    info->recorded = true;
    info->unknown_quanta = unknown_quanta;
}

void fm_build_unhooked(struct fm_build *build, const struct fm_unhooked *of)
{
    struct fm_unhooked_info *info = &fm_build_profile(build)->run_info.unhooked;
    g_return_if_fail(info->recorded);
    struct fm_unhooked own = *of;
    own.object = fm_build_keep(build, of->object);
    own.function = fm_build_keep(build, of->function);
    fm_unhooked_info_add(info, &own);
}

void fm_build_durations(struct fm_build *build, struct fm_durations *durations)
{
    fm_duration_info_add(&fm_build_profile(build)->run_info.durations, durations);
}

void fm_build_inclusive(struct fm_build *build, uint32_t measures)
{
    struct fm_inclusive_info *info = &fm_build_profile(build)->run_info.inclusive;
    g_return_if_fail(info->count == 0 && measures >> FM_MEASURES_MAX == 0 &&
                     (measures & ((1u << FM_FIRST_INHERITED) - 1u)) == 0);
    info->measures = measures;
    info->width = (unsigned)__builtin_popcount(measures);
}

void fm_build_pd_inclusive(struct fm_build *build, uint32_t pd, const uint64_t *values)
{
    struct fm_inclusive_info *info = &fm_build_profile(build)->run_info.inclusive;
    g_return_if_fail(info->width > 0 && values != NULL);
    g_return_if_fail(info->count == 0 || info->pds[info->count - 1] < pd);
    uint32_t at = info->count++;
    if ((at & (at - 1)) == 0) {
        size_t room = at == 0 ? 1 : 2 * (size_t)at;
        info->pds = g_renew(uint32_t, info->pds, room);
        info->values = g_renew(uint64_t, info->values, room * info->width);
    }
    info->pds[at] = pd;
    memcpy(&info->values[(size_t)at * info->width], values, info->width * sizeof *values);
}
