/* SPDX-License-Identifier: Apache-2.0 */
/* One look at all segments and arrows, from the last to the first in the order of their ends. Each
 * lane remembers what it was seen in last, so that the path can change to it. */
#include "trace/segments/path.h"

/* By lane: what ended last, of all that has been looked at. */
struct seen {
    struct fm_segment blocked, interrupt; /* end 0 = none */
    struct fm_arrow arrow;                /* to it; to_time 0 = none */
};

struct wait { /* the path comes back to the lane at its start */
    uint32_t lane;
    uint64_t start, bound; /* bound: the latest start, of this one and those before */
};

struct cursor { /* before which things have been looked at */
    uint32_t block, count;
};

enum mode { RUNS, SEEKS, IS_BORN, COLLECTS, ENDED };

struct fm_path {
    struct fm_segments_view view;
    uint64_t start;      /* the begin of the interval */
    struct seen *seen;   /* by lane */
    GArray *waits;       /* holds struct wait */
    GArray *pieces;      /* the last first, until it has ended */
    GArray *collections; /* holds struct fm_segment: of the collector, the last first */
    struct cursor segment, arrow;
    uint64_t looked; /* all that ended later has been looked at */
    uint32_t lane;   /* the lane that the path is on */
    uint64_t time;   /* up to which it is known, from the end */
    enum mode mode;
    struct fm_segment blocked; /* SEEKS, IS_BORN: who ended this? */
};

const char *fm_path_kind_name(enum fm_path_kind kind)
{
    static const char *const names[] = {"running",     "ready",     "collection",
                                        "handed over", "interrupt", "unknown"};
    return (unsigned)kind < G_N_ELEMENTS(names) ? names[kind] : NULL;
}

struct fm_path *fm_path_new(struct fm_segments *segments, uint32_t lane, uint64_t start,
                            uint64_t end)
{
    g_assert(lane < fm_segments_lane_count(segments) && start < end);
    struct fm_path *path = g_new0(struct fm_path, 1);
    fm_segments_view_init(&path->view, segments);
    path->start = start;
    path->seen = g_new0(struct seen, path->view.lanes);
    path->waits = g_array_new(false, false, sizeof(struct wait));
    path->pieces = g_array_new(false, false, sizeof(struct fm_path_piece));
    path->collections = g_array_new(false, false, sizeof(struct fm_segment));
    path->segment.block = fm_segments_blocks(&path->view);
    path->arrow.block = fm_segments_arrow_blocks(&path->view);
    path->looked = UINT64_MAX;
    path->lane = lane;
    path->time = end;
    return path;
}

void fm_path_free(struct fm_path *path)
{
    if (path == NULL)
        return;
    g_array_unref(path->waits);
    g_array_unref(path->pieces);
    g_array_unref(path->collections);
    g_free(path->seen);
    fm_segments_view_clear(&path->view);
    g_free(path);
}

/* --- pieces --- */

/* The lane's wait, or the interval, begins there. */
static uint64_t bound(const struct fm_path *path)
{
    return path->waits->len == 0
               ? path->start
               : g_array_index(path->waits, struct wait, path->waits->len - 1).bound;
}

/* From there to the time that is known; not beyond the bound. */
static void add_piece(struct fm_path *path, enum fm_path_kind kind, uint32_t lane, uint32_t value,
                      uint64_t from)
{
    from = MAX(from, bound(path));
    if (from >= path->time)
        return;
    struct fm_path_piece *last =
        path->pieces->len == 0
            ? NULL
            : &g_array_index(path->pieces, struct fm_path_piece, path->pieces->len - 1);
    if (last != NULL && last->kind == kind && last->lane == lane && last->value == value) {
        last->start = from;
    } else {
        const struct fm_path_piece piece = {from, path->time, lane, value, kind};
        g_array_append_val(path->pieces, piece);
    }
    path->time = from;
}

static enum fm_state_class class_of(const struct fm_path *path, const struct fm_segment *segment)
{
    return fm_trace_value_class(fm_segments_trace(path->view.of), segment->value);
}

static bool is_blocked(enum fm_state_class state_class)
{
    return state_class == FM_STATE_WAITING || state_class == FM_STATE_READY ||
           state_class == FM_STATE_CREATED || state_class == FM_STATE_IDLE ||
           state_class == FM_STATE_FINISHED;
}

/* --- where the path goes --- */

/* Nobody is known to have ended the wait. */
static void leave_unknown(struct fm_path *path)
{
    add_piece(path, FM_PATH_UNKNOWN, path->lane, path->blocked.value, path->blocked.start);
    path->mode = RUNS;
}

static bool holds(const struct fm_segment *segment, uint64_t time)
{
    return segment->start <= time && time < segment->end;
}

/* The arrow ended the wait: to its other end. */
static void follow(struct fm_path *path, const struct fm_arrow *arrow)
{
    uint32_t value = path->blocked.value;
    const struct seen *waker = &path->seen[arrow->from];
    bool born = path->mode == IS_BORN;
    uint64_t begin = path->blocked.start;
    add_piece(path, FM_PATH_HANDED, path->lane, value, arrow->to_time);
    if (!born && waker->interrupt.end > 0 && holds(&waker->interrupt, arrow->from_time)) {
        add_piece(path, FM_PATH_INTERRUPT, path->lane, waker->interrupt.value, begin);
        path->mode = RUNS;
        return;
    }
    bool idle = waker->blocked.end > 0 && waker->blocked.start < arrow->from_time &&
                arrow->from_time < waker->blocked.end;
    if (arrow->from == path->lane || idle || (!born && arrow->from_time <= begin)) {
        leave_unknown(path);
        return;
    }
    add_piece(path, FM_PATH_HANDED, path->lane, value, arrow->from_time);
    if (!born)
        g_array_append_val(path->waits,
                           ((struct wait){path->lane, begin, MAX(begin, bound(path))}));
    path->lane = arrow->from;
    path->mode = RUNS;
}

/* The lane was blocked up to the time that is known. */
static void meet_blocked(struct fm_path *path, const struct fm_segment *blocked)
{
    enum fm_state_class state_class = class_of(path, blocked);
    path->blocked = *blocked;
    if (state_class == FM_STATE_READY || state_class == FM_STATE_CREATED)
        add_piece(path, FM_PATH_READY, path->lane, blocked->value, blocked->start);
    if (state_class == FM_STATE_CREATED)
        path->mode = IS_BORN;
    else if (state_class != FM_STATE_READY)
        path->mode = SEEKS;
}

/* At the begin of waits: back to who waited. */
static void come_back(struct fm_path *path)
{
    while (path->waits->len > 0) {
        const struct wait *first = NULL;
        guint i = 0;
        for (; i < path->waits->len && first == NULL; i++) {
            const struct wait *wait = &g_array_index(path->waits, struct wait, i);
            if (wait->start >= path->time)
                first = wait;
        }
        if (first == NULL)
            break;
        path->lane = first->lane;
        g_array_set_size(path->waits, i - 1);
    }
    path->mode = path->time <= path->start ? COLLECTS : RUNS;
}

/* Goes as far as what has been looked at allows. False: more has to be looked at. */
static bool go_on(struct fm_path *path)
{
    if (path->time <= bound(path)) {
        come_back(path);
        return path->mode != COLLECTS;
    }
    const struct seen *seen = &path->seen[path->lane];
    if (path->mode == RUNS) {
        const struct fm_segment *blocked = &seen->blocked;
        if (blocked->end > 0 && blocked->start < path->time) {
            add_piece(path, FM_PATH_RUNNING, path->lane, 0, MIN(blocked->end, path->time));
            if (path->time > bound(path))
                meet_blocked(path, blocked);
            return true;
        }
        if (path->looked > bound(path))
            return false;
        add_piece(path, FM_PATH_RUNNING, path->lane, 0, 0);
        return true;
    }
    const struct fm_arrow *arrow = &seen->arrow;
    /* The lane that the path comes back to looks at the time before the bound. */
    uint64_t least =
        path->mode == IS_BORN ? path->blocked.start : MAX(path->blocked.start, bound(path)) + 1;
    if (arrow->to_time >= least && arrow->to_time <= path->time && arrow->to_time > 0) {
        const struct fm_arrow followed = *arrow;
        follow(path, &followed);
        return true;
    }
    if (path->looked >= least)
        return false;
    if (path->mode == IS_BORN)
        path->blocked.start = 0;
    leave_unknown(path);
    return true;
}

/* --- collections --- */

/* Of a piece that was ready, the parts in which garbage was collected are that. */
static void split_piece(const struct fm_path *path, const struct fm_path_piece *piece, GArray *to)
{
    uint64_t time = piece->start;
    for (guint i = path->collections->len; i-- > 0 && time < piece->end;) {
        const struct fm_segment *collection =
            &g_array_index(path->collections, struct fm_segment, i);
        uint64_t from = MAX(collection->start, time), until = MIN(collection->end, piece->end);
        if (from >= until)
            continue;
        struct fm_path_piece part = *piece;
        part.start = time;
        part.end = from;
        if (time < from)
            g_array_append_val(to, part);
        part.start = from;
        part.end = time = until;
        part.kind = FM_PATH_COLLECTION;
        g_array_append_val(to, part);
    }
    struct fm_path_piece rest = *piece;
    rest.start = time;
    if (time < piece->end)
        g_array_append_val(to, rest);
}

static void split_pieces(struct fm_path *path)
{
    GArray *pieces = g_array_new(false, false, sizeof(struct fm_path_piece));
    for (guint i = 0; i < path->pieces->len; i++) {
        const struct fm_path_piece *piece = &g_array_index(path->pieces, struct fm_path_piece, i);
        if (piece->kind == FM_PATH_READY)
            split_piece(path, piece, pieces);
        else
            g_array_append_val(pieces, *piece);
    }
    g_array_unref(path->pieces);
    path->pieces = pieces;
    g_array_set_size(path->collections, 0);
}

/* --- looking --- */

/* The next one before the cursor; false: none is left. */
static bool next_block(const struct fm_path *path, struct cursor *cursor,
                       struct fm_segments_span span_of(const struct fm_segments_view *, uint32_t))
{
    while (cursor->count == 0 && cursor->block > 0)
        cursor->count = span_of(&path->view, --cursor->block).count;
    return cursor->count > 0;
}

static void look_at_segment(struct fm_path *path, const struct fm_segment *segment)
{
    enum fm_state_class state_class = class_of(path, segment);
    if (is_blocked(state_class))
        path->seen[segment->lane].blocked = *segment;
    else if (state_class == FM_STATE_INTERRUPT || state_class == FM_STATE_SOFT_INTERRUPT)
        path->seen[segment->lane].interrupt = *segment;
    else if (state_class == FM_STATE_COLLECTING && segment->depth == 0 &&
             fm_segments_lane(path->view.of, segment->lane)->kind == FM_LANE_COLLECTOR)
        g_array_append_val(path->collections, *segment);
    path->looked = MIN(path->looked, segment->end);
}

static void look_at_arrow(struct fm_path *path, const struct fm_arrow *arrow)
{
    path->seen[arrow->to].arrow = *arrow;
    path->looked = MIN(path->looked, arrow->to_time);
}

/* The one that ended later, of what is left before the cursors. */
static void look_at_next(struct fm_path *path)
{
    bool segments = next_block(path, &path->segment, fm_segments_span);
    bool arrows = next_block(path, &path->arrow, fm_segments_arrow_span);
    const struct fm_segment *segment =
        segments ? &fm_segments_read(&path->view, path->segment.block)[path->segment.count - 1]
                 : NULL;
    const struct fm_arrow *arrow =
        arrows ? &fm_segments_read_arrows(&path->view, path->arrow.block)[path->arrow.count - 1]
               : NULL;
    if (arrow != NULL && (segment == NULL || arrow->to_time >= segment->end)) {
        look_at_arrow(path, arrow);
        path->arrow.count--;
    } else if (segment != NULL) {
        look_at_segment(path, segment);
        path->segment.count--;
    } else {
        path->looked = 0;
    }
}

bool fm_path_step(struct fm_path *path, unsigned count)
{
    for (; path->mode != ENDED && count > 0; count--) {
        /* When the path is known, collections within the interval may still come. */
        while (path->mode != COLLECTS && go_on(path))
            continue;
        if (path->mode == COLLECTS && path->looked <= path->start) {
            split_pieces(path);
            path->mode = ENDED;
        } else {
            look_at_next(path);
        }
    }
    return path->mode != ENDED;
}

/* --- results --- */

static int compare_pieces(gconstpointer a, gconstpointer b)
{
    const struct fm_path_piece *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

const GArray *fm_path_pieces(struct fm_path *path)
{
    g_array_sort(path->pieces, compare_pieces);
    return path->pieces;
}

static int compare_parts(gconstpointer a, gconstpointer b)
{
    const struct fm_path_part *left = a, *right = b;
    if (left->time != right->time)
        return left->time > right->time ? -1 : 1;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    return left->kind != right->kind ? (int)left->kind - (int)right->kind
                                     : (left->value > right->value) - (left->value < right->value);
}

static struct fm_path_part *part_of(GArray *parts, GHashTable *known,
                                    const struct fm_path_piece *piece)
{
    g_autofree char *key = g_strdup_printf("%u %u %u", piece->kind, piece->lane, piece->value);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(known, key));
    if (number == 0) {
        const struct fm_path_part part = {
            .kind = piece->kind, .lane = piece->lane, .value = piece->value};
        g_array_append_val(parts, part);
        number = parts->len;
        g_hash_table_insert(known, g_steal_pointer(&key), GUINT_TO_POINTER(number));
    }
    return &g_array_index(parts, struct fm_path_part, number - 1);
}

GArray *fm_path_parts(struct fm_path *path)
{
    GArray *parts = g_array_new(false, false, sizeof(struct fm_path_part));
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < path->pieces->len; i++) {
        const struct fm_path_piece *piece = &g_array_index(path->pieces, struct fm_path_piece, i);
        struct fm_path_part *part = part_of(parts, known, piece);
        uint64_t time = piece->end - piece->start;
        part->time += time;
        part->count++;
        if (time > part->longest) {
            part->longest = time;
            part->longest_at = piece->start;
        }
    }
    g_array_sort(parts, compare_parts);
    return parts;
}
