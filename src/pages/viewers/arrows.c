/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows of a timeline. Those from one lane to another that end within a few columns are joined and
 * counted. A window that is drawn from the summary has them from the store of segments. */
#include "pages/viewers/viewers.h"

enum { COLUMNS_JOINED = 6, CELLS_MAX = 50000, BLOCKS_A_STEP = 8 };

static guint hash_arrow(gconstpointer data)
{
    const struct fm_viewer_arrow *arrow = data;
    uint64_t mixed = ((uint64_t)arrow->from << 32 | arrow->to) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (uint64_t)arrow->cell << 8 ^ arrow->part) * UINT64_C(0x9E3779B97F4A7C15);
    return (guint)(mixed >> 32);
}

static gboolean equal_arrows(gconstpointer a, gconstpointer b)
{
    const struct fm_viewer_arrow *left = a, *right = b;
    return left->from == right->from && left->to == right->to && left->cell == right->cell &&
           left->part == right->part;
}

void fm_viewer_arrows_init(struct fm_viewer_arrows *arrows)
{
    *arrows = (struct fm_viewer_arrows){
        .all = g_ptr_array_new_with_free_func(g_free),
        .cells = g_hash_table_new(hash_arrow, equal_arrows),
        .known = true,
    };
}

void fm_viewer_arrows_done(struct fm_viewer_arrows *arrows)
{
    g_clear_pointer(&arrows->cells, g_hash_table_unref);
    g_clear_pointer(&arrows->all, g_ptr_array_unref);
    if (arrows->view.of != NULL)
        fm_segments_view_clear(&arrows->view);
}

void fm_viewer_arrows_add(struct fm_viewer_arrows *arrows, const struct fm_viewer_job *job,
                          unsigned part, const struct fm_arrow *added)
{
    if (added->to_time < job->start || added->from_time >= job->end)
        return;
    double columns = (double)(job->end - job->start) / job->columns;
    uint64_t time = MIN(added->to_time, job->end) - job->start;
    const struct fm_viewer_arrow arrow = {
        .part = part,
        .from = added->from,
        .to = added->to,
        .cell = (uint32_t)((double)time / columns / COLUMNS_JOINED),
        .from_time = added->from_time,
        .to_time = added->to_time,
        .count = 1,
    };
    struct fm_viewer_arrow *joined = g_hash_table_lookup(arrows->cells, &arrow);
    if (joined != NULL) {
        joined->count++;
    } else if (arrows->all->len >= CELLS_MAX) {
        arrows->left_out++;
    } else {
        joined = g_memdup2(&arrow, sizeof arrow);
        g_ptr_array_add(arrows->all, joined);
        g_hash_table_add(arrows->cells, joined);
    }
}

static int compare_arrows(const void *a, const void *b)
{
    const struct fm_viewer_arrow *left = *(const struct fm_viewer_arrow *const *)a;
    const struct fm_viewer_arrow *right = *(const struct fm_viewer_arrow *const *)b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    if (left->to_time != right->to_time)
        return left->to_time < right->to_time ? -1 : 1;
    return left->from_time < right->from_time ? -1 : left->from_time > right->from_time;
}

const GPtrArray *fm_viewer_arrows_sorted(struct fm_viewer_arrows *arrows)
{
    g_ptr_array_sort(arrows->all, compare_arrows);
    return arrows->all;
}

/* --- from the store --- */

/* True: the next part's arrows are looked at. */
static bool begin_part(struct fm_viewer_timeline *timeline, bool *ret_waits)
{
    struct fm_viewer_arrows *arrows = &timeline->arrows;
    const struct fm_viewer_job *job = &timeline->job;
    const char *problem = NULL;
    struct fm_segments *segments = fm_viewer_part_segments(job->set, arrows->part, &problem);
    *ret_waits = segments == NULL && problem == NULL;
    if (segments == NULL)
        return false;
    fm_segments_view_init(&arrows->view, segments);
    arrows->block = 0;
    return true;
}

static void look_at(struct fm_viewer_timeline *timeline)
{
    struct fm_viewer_arrows *arrows = &timeline->arrows;
    const struct fm_viewer_job *job = &timeline->job;
    uint32_t all = fm_segments_arrow_blocks(&arrows->view);
    for (unsigned blocks = BLOCKS_A_STEP; arrows->block < all && blocks > 0; arrows->block++) {
        struct fm_segments_span span = fm_segments_arrow_span(&arrows->view, arrows->block);
        if (span.last_end < job->start || span.first_start >= job->end)
            continue;
        const struct fm_arrow *read = fm_segments_read_arrows(&arrows->view, arrows->block);
        for (uint32_t i = 0; i < span.count; i++)
            fm_viewer_arrows_add(arrows, job, arrows->part, &read[i]);
        blocks--;
    }
    if (arrows->block < all)
        return;
    fm_segments_view_clear(&arrows->view);
    arrows->part++;
}

enum fm_viewer_work fm_viewer_arrows_work(struct fm_viewer_timeline *timeline)
{
    struct fm_viewer_arrows *arrows = &timeline->arrows;
    bool waits = false;
    if (arrows->part == timeline->job.set->count) {
        arrows->known = true;
        return FM_VIEWER_WORK_DONE;
    }
    if (!timeline->boxes[arrows->part].from_summary ||
        (arrows->view.of == NULL && !begin_part(timeline, &waits) && !waits)) {
        arrows->part++; /* they come with its events, or are not to be had */
        return FM_VIEWER_WORK_MORE;
    }
    if (waits)
        return FM_VIEWER_WORK_WAITS;
    look_at(timeline);
    return FM_VIEWER_WORK_MORE;
}

/* Segments are made when somebody asks for them; a picture alone is no reason. */
bool fm_viewer_arrows_are_wanted(struct fm_viewer_timeline *timeline)
{
    const struct fm_viewer_set *set = timeline->job.set;
    bool any = false, ready = true;
    for (unsigned i = 0; i < set->count; i++) {
        any |= timeline->boxes[i].from_summary;
        ready &= !timeline->boxes[i].from_summary ||
                 fm_background_is_ready(set->parts[i].trace, "segments");
    }
    timeline->arrows.known = !any;
    return any && (ready || timeline->job.query.arrows);
}
