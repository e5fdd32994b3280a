/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "trace/clock/messages.h"

/* Limit for one direction: lost messages must not fill the memory. */
enum { UNMATCHED_MAX = 1 << 20 };

struct half {
    unsigned trace;
    uint64_t time;
};

/* Segments that want an acknowledgement, by connection. */
struct waiting {
    struct segment segment;
    struct half sent, received;
};

struct connection {
    uint32_t saddr, daddr;
    uint16_t source, dest;
};

struct matcher {
    unsigned traces;
    struct fm_message_sink sink;
    struct fm_message_counts *counts;
    GHashTable *sent, *received; /* GBytes -> struct half */
    GHashTable *waiting;         /* GBytes of connection -> GQueue of struct waiting */
    GHashTable *groups;          /* GBytes of datagram -> struct group */
};

struct group {
    unsigned count;
    uint64_t times[]; /* by trace; FM_TIME_INF = not yet */
};

static void free_queue(void *queue)
{
    g_queue_free_full(queue, g_free);
}

struct matcher *fm_matcher_new(unsigned traces, const struct fm_message_sink *sink,
                               struct fm_message_counts *counts)
{
    g_assert(traces > 0 && sink->message != NULL);
    struct matcher *matcher = g_new0(struct matcher, 1);
    GDestroyNotify free_key = (GDestroyNotify)g_bytes_unref;
    matcher->traces = traces;
    matcher->sink = *sink;
    matcher->counts = counts;
    matcher->sent = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_key, g_free);
    matcher->received = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_key, g_free);
    matcher->waiting = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_key, free_queue);
    matcher->groups = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_key, g_free);
    return matcher;
}

void fm_matcher_free(struct matcher *matcher)
{
    matcher->counts->unmatched +=
        g_hash_table_size(matcher->sent) + g_hash_table_size(matcher->received);
    g_hash_table_unref(matcher->sent);
    g_hash_table_unref(matcher->received);
    g_hash_table_unref(matcher->waiting);
    g_hash_table_unref(matcher->groups);
    g_free(matcher);
}

/* True when the other half was there: *ret. Else this half waits for it; an equal one that waits
 * already is replaced: a retransmission. */
static bool match(struct matcher *matcher, GBytes *key, bool received, struct half here,
                  struct half *ret)
{
    GHashTable *own = received ? matcher->received : matcher->sent;
    GHashTable *other = received ? matcher->sent : matcher->received;
    const struct half *found = g_hash_table_lookup(other, key);
    if (received)
        matcher->counts->received++;
    else
        matcher->counts->sent++;
    if (found != NULL) {
        *ret = *found;
        g_hash_table_remove(other, key);
        return true;
    }
    if (g_hash_table_size(own) < UNMATCHED_MAX)
        g_hash_table_replace(own, g_bytes_ref(key), g_memdup2(&here, sizeof here));
    else
        matcher->counts->lost++;
    return false;
}

static bool deliver(struct matcher *matcher, GBytes *key, bool received, struct half here,
                    struct half *ret_other)
{
    if (!match(matcher, key, received, here, ret_other))
        return false;
    matcher->counts->matched++;
    if (here.trace == ret_other->trace)
        return false; /* to itself */
    g_assert(here.trace < matcher->traces && ret_other->trace < matcher->traces);
    const struct half *out = received ? ret_other : &here, *in = received ? &here : ret_other;
    matcher->sink.message(matcher->sink.user, out->trace, out->time, in->trace, in->time);
    return true;
}

void fm_matcher_named(struct matcher *matcher, const void *key, size_t length, bool received,
                      unsigned trace, uint64_t time)
{
    struct half other;
    g_autoptr(GBytes) bytes = g_bytes_new(key, length);
    deliver(matcher, bytes, received, (struct half){trace, time}, &other);
}

/* --- exchanges: a segment and the one that acknowledges it --- */

static GBytes *connection_of(const struct segment *segment, bool reversed)
{
    struct connection connection = {segment->saddr, segment->daddr, segment->source, segment->dest};
    if (reversed)
        connection =
            (struct connection){segment->daddr, segment->saddr, segment->dest, segment->source};
    return g_bytes_new(&connection, sizeof connection);
}

static bool wants_answer(const struct segment *segment)
{
    int payload = segment->total_length - 4 * segment->ihl - 4 * segment->doff;
    return (segment->flags & (FLAG_SYN | FLAG_FIN)) != 0 || payload > 0;
}

static void acknowledge(struct matcher *matcher, const struct segment *segment, struct half sent,
                        struct half received)
{
    g_autoptr(GBytes) key = connection_of(segment, true);
    GQueue *queue = g_hash_table_lookup(matcher->waiting, key);
    struct waiting *last = NULL;
    for (GList *link = queue == NULL ? NULL : queue->head; link != NULL;) {
        GList *next = link->next;
        struct waiting *waiting = link->data;
        /* Sequence numbers go round. */
        if ((int32_t)(waiting->segment.seq - segment->ack_seq) < 0) {
            g_free(last);
            last = waiting;
            g_queue_delete_link(queue, link);
        }
        link = next;
    }
    if (last != NULL && last->sent.trace == received.trace && last->received.trace == sent.trace)
        matcher->sink.exchange(matcher->sink.user, last->sent.trace, last->sent.time, sent.trace,
                               last->received.time, sent.time, received.time);
    g_free(last);
}

static void await(struct matcher *matcher, const struct segment *segment, struct half sent,
                  struct half received)
{
    enum { WAITING_MAX = 4096 };
    GBytes *key = connection_of(segment, false);
    GQueue *queue = g_hash_table_lookup(matcher->waiting, key);
    if (queue == NULL) {
        queue = g_queue_new();
        g_hash_table_insert(matcher->waiting, g_bytes_ref(key), queue);
    }
    struct waiting waiting = {*segment, sent, received};
    if (queue->length >= WAITING_MAX)
        g_free(g_queue_pop_head(queue));
    g_assert(queue->length < WAITING_MAX);
    g_queue_push_tail(queue, g_memdup2(&waiting, sizeof waiting));
    g_bytes_unref(key);
}

void fm_matcher_segment(struct matcher *matcher, const struct segment *segment, bool received,
                        unsigned trace, uint64_t time)
{
    struct half here = {trace, time}, other;
    g_autoptr(GBytes) key = g_bytes_new(segment, sizeof *segment);
    if (!deliver(matcher, key, received, here, &other) || matcher->sink.exchange == NULL)
        return;
    struct half out = received ? other : here, in = received ? here : other;
    if ((segment->flags & FLAG_ACK) != 0)
        acknowledge(matcher, segment, out, in);
    if (wants_answer(segment))
        await(matcher, segment, out, in);
}

/* --- broadcasts: as many receptions as there are traces --- */

void fm_matcher_broadcast(struct matcher *matcher, const struct datagram *datagram, unsigned trace,
                          uint64_t time)
{
    if (matcher->sink.broadcast == NULL || trace >= matcher->traces)
        return;
    g_autoptr(GBytes) key = g_bytes_new(datagram, sizeof *datagram);
    struct group *group = g_hash_table_lookup(matcher->groups, key);
    if (group == NULL) {
        if (g_hash_table_size(matcher->groups) >= UNMATCHED_MAX)
            return;
        group = g_malloc(sizeof *group + matcher->traces * sizeof(uint64_t));
        group->count = 0;
        for (unsigned i = 0; i < matcher->traces; i++)
            group->times[i] = FM_TIME_INF;
        g_hash_table_insert(matcher->groups, g_bytes_ref(key), group);
    }
    group->count += group->times[trace] == FM_TIME_INF;
    group->times[trace] = time;
    g_assert(group->count <= matcher->traces);
    if (group->count < matcher->traces)
        return;
    matcher->counts->broadcasts++;
    matcher->sink.broadcast(matcher->sink.user, group->times);
    g_hash_table_remove(matcher->groups, key);
}
