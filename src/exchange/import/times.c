/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that all have one time: the recorder's clock did not run, or a converter lost the times.
 */
#include "exchange/import/internal.h"

#define SAMPLES_MIN 10u /* fewer may have been taken at once, one of each event or processor */

void fm_import_times_add(struct fm_import_times *times, uint64_t time)
{
    if (times->samples++ == 0)
        times->first = time;
    times->differ = times->differ || time != times->first;
}

void fm_import_times_tell(const struct fm_import_times *times, struct fm_build *build)
{
    if (times->differ || times->samples < SAMPLES_MIN)
        return;
    g_autofree char *note = g_strdup_printf(
        FM_NOTE_WARNING "all %" G_GUINT64_FORMAT " samples have one time: the recorder's clock "
                        "did not run, or a converter lost the times",
        (guint64)times->samples);
    fm_build_note(build, note);
}
