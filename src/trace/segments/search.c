/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segments/search.h"

struct fm_search {
    struct fm_segments_view view;
    GByteArray *values;  /* NULL = all */
    uint32_t lane, next; /* next: so many blocks have been looked at */
    uint64_t time;
    bool forward, has_found;
    struct fm_segment found;
};

struct fm_search *fm_search_new(struct fm_segments *segments, const GByteArray *values,
                                uint32_t lane, uint64_t time, bool forward)
{
    struct fm_search *search = g_new0(struct fm_search, 1);
    fm_segments_view_init(&search->view, segments);
    if (values != NULL) {
        search->values = g_byte_array_new();
        g_byte_array_append(search->values, values->data, values->len);
    }
    search->lane = lane;
    search->time = time;
    search->forward = forward;
    return search;
}

void fm_search_free(struct fm_search *search)
{
    if (search == NULL)
        return;
    if (search->values != NULL)
        g_byte_array_unref(search->values);
    fm_segments_view_clear(&search->view);
    g_free(search);
}

/* Of segments that begin together the outermost of the first lane comes first. */
static bool is_nearer(const struct fm_search *search, const struct fm_segment *segment)
{
    const struct fm_segment *found = &search->found;
    if (!search->has_found)
        return true;
    if (segment->start != found->start)
        return (segment->start < found->start) == search->forward;
    if (segment->lane != found->lane)
        return segment->lane < found->lane;
    return segment->depth < found->depth;
}

static bool is_wanted(const struct fm_search *search, const struct fm_segment *segment)
{
    bool behind = search->forward ? segment->start > search->time : segment->start < search->time;
    return behind && (search->lane == FM_LANE_NONE || segment->lane == search->lane) &&
           (search->values == NULL ||
            (segment->value < search->values->len && search->values->data[segment->value] != 0));
}

/* Whether a block may have a nearer one. */
static bool may_have(const struct fm_search *search, const struct fm_segments_span *span)
{
    if (search->forward)
        return span->last_start > search->time &&
               (!search->has_found || span->first_start <= search->found.start);
    return span->first_start < search->time &&
           (!search->has_found || span->last_start >= search->found.start);
}

bool fm_search_step(struct fm_search *search, unsigned blocks)
{
    uint32_t all = fm_segments_blocks(&search->view);
    for (; search->next < all && blocks > 0; search->next++) {
        uint32_t block = search->forward ? search->next : all - 1 - search->next;
        struct fm_segments_span span = fm_segments_span(&search->view, block);
        if (!may_have(search, &span))
            continue;
        const struct fm_segment *segments = fm_segments_read(&search->view, block);
        for (uint32_t i = 0; i < span.count; i++) {
            if (is_wanted(search, &segments[i]) && is_nearer(search, &segments[i])) {
                search->found = segments[i];
                search->has_found = true;
            }
        }
        blocks--;
    }
    return search->next < all;
}

const struct fm_segment *fm_search_found(const struct fm_search *search)
{
    return search->has_found ? &search->found : NULL;
}
