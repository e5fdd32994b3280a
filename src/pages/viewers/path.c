/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of one lane over an area, else the window. */
#include "pages/viewers/viewers.h"

enum { ITEMS_A_STEP = 20000 };

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
        if (segments == NULL)
            continue;
        path->lane = fm_viewer_segments_lane(segments, path->part, id);
        if (path->lane == FM_LANE_NONE)
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
