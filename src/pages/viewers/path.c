/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of one lane over an area, else the window. */
#include <string.h>

#include "pages/viewers/viewers.h"

enum { ITEMS_A_STEP = 20000 };

/* The lane of that name, the one that is there in the interval where several had the name. */
static bool find_lane(struct fm_viewer_path *path, struct fm_segments *segments, const char *id)
{
    for (uint32_t i = fm_segments_lane_count(segments); i-- > 0;) {
        const struct fm_segments_lane *from = fm_segments_lane(segments, i);
        const struct fm_viewer_lane lane = {
            .part = path->part, .kind = from->kind, .key = from->key};
        g_autofree char *found = fm_viewer_lane_id(&lane);
        if (strcmp(found, id) == 0) {
            path->lane = i;
            return true;
        }
    }
    return false;
}

static enum fm_viewer_work work(struct fm_viewer_job *job)
{
    struct fm_viewer_path *path = (struct fm_viewer_path *)job;
    if (path->path != NULL)
        return fm_path_step(path->path, ITEMS_A_STEP) ? FM_VIEWER_WORK_MORE : FM_VIEWER_WORK_DONE;
    const char *id = g_ptr_array_index(job->query.chosen, 0);
    for (path->part = 0; path->part < job->set->count; path->part++) {
        struct fm_segments *segments =
            fm_viewer_part_segments(job->set, path->part, &path->problem);
        if (segments == NULL && path->problem == NULL)
            return FM_VIEWER_WORK_WAITS;
        if (segments == NULL || !find_lane(path, segments, id))
            continue;
        path->path = fm_path_new(segments, path->lane, path->start, path->end);
        path->segments = fm_segments_ref(segments);
        return FM_VIEWER_WORK_MORE;
    }
    path->problem = "there is no lane of that number";
    return FM_VIEWER_WORK_DONE;
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_path *path = (struct fm_viewer_path *)job;
    fm_viewer_job_area(job, &path->start, &path->end);
    if (job->query.chosen->len > 0)
        fm_viewer_job_work(job, work);
    else
        path->problem = "Choose a thread.";
    return true;
}

bool fm_viewer_path_is_known(const struct fm_viewer_path *path)
{
    return path->path != NULL && fm_viewer_job_is_done(&path->job);
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_path *path = (struct fm_viewer_path *)job;
    fm_path_free(path->path);
    fm_segments_free(path->segments);
}

const struct fm_viewer fm_viewer_of_path = {"path", sizeof(struct fm_viewer_path), begin, clear};
