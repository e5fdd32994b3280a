/* SPDX-License-Identifier: Apache-2.0 */
/* Clients: how they begin and end, and the state that each gets first. */
#include "clients/clients.h"
#include "core/clock.h"
#include "core/shared.h"
#include "core/threads.h"
#include "core/types.h"
#include "state/replay.h"
#include "state/state.h"

#include <unistd.h>

enum { CLIENTS_MAX = 512 };

static void update_on(void)
{
    int ready = 0;
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
        ready |= c->ready && !c->ending;
    atomic_store(&fm_el.clients_on, ready);
}

/* Begin of the first block without lane that waits for the client; the present time when there is
 * none. */
static uint64_t next_global_ns(const struct fm_el_client *c)
{
    for (const struct fm_el_node *n = c->head; n; n = n->next)
        if (n->block->bytes >= FM_EL_MARKER_BYTES &&
            fm_el_get16(n->block->data + 22) == FM_EL_NO_CAP)
            return fm_el_get64(n->block->data + 2);
    return fm_el_clock_ns();
}

void fm_el_client_send_state(struct fm_el_client *c, bool with_header, uint64_t from_ns)
{
    struct fm_el_bytes b = {0};
    fm_el_process_refresh();
    fm_el_state_lock();
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    if (c->kind != FM_EL_PLAIN)
        fm_el_monitor_state(&c->monitor, &c->out);
    if (c->kind != FM_EL_PLAIN && with_header)
        fm_el_monitor_header(&c->monitor, &c->out);
    if (c->kind == FM_EL_PLAIN && with_header)
        fm_el_header(&b);
    /* no block passes between the replay and the client's being ready */
    pthread_mutex_lock(&fm_el_server.mutex);
    uint64_t until_ns = next_global_ns(c);
    from_ns = from_ns < c->replay_ns ? c->replay_ns : from_ns;
    until_ns = until_ns < from_ns ? from_ns : until_ns;
    fm_el_replay(&b, !with_header, from_ns, until_ns, with_header);
    if (with_header) {
        c->dead |= b.failed || !fm_el_queue_bytes(c, b.data, b.used, false);
        c->global_ns = until_ns;
        c->ready = true;
        fm_el_server.served++;
    } else if (!b.failed && b.used < c->limit / 8) {
        fm_el_queue_bytes(c, b.data, b.used, true);
        c->replay_ns = until_ns;
        c->global_ns = c->global_ns < until_ns ? until_ns : c->global_ns;
    }
    update_on();
    fm_el_update_active(); /* before a thread that waits for the first client goes on to log */
    pthread_cond_broadcast(&fm_el_server.changed);
    pthread_mutex_unlock(&fm_el_server.mutex);
    fm_el_sink_unlock();
    fm_el_state_unlock();
    fm_el_bytes_done(&b);
}

static bool is_waiting(const struct fm_el_client *c)
{
    return !c->dead && (c->refused || fm_el_client_lacks_token(c));
}

/* Connections that wait to be accepted are limited, too: drops the oldest. */
static void make_way(unsigned listener)
{
    unsigned n = 0;
    struct fm_el_client *oldest = NULL;
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next) {
        if (c->listener != listener || !is_waiting(c))
            continue;
        n++;
        if (!oldest || c->began_ns < oldest->began_ns)
            oldest = c;
    }
    if (n >= FM_EL_WAITING_MAX)
        oldest->dead = true;
}

struct fm_el_client *fm_el_client_new(unsigned listener, int fd, uint8_t refused,
                                      const struct sockaddr_storage *peer, socklen_t peer_size)
{
    struct fm_el_listener *l = &fm_el_server.listeners[listener];
    make_way(listener);
    struct fm_el_client *c = fm_el_server.count < CLIENTS_MAX ? fm_el_pool_alloc(sizeof(*c)) : NULL;
    if (!c)
        return NULL;
    memset(c, 0, sizeof(*c));
    c->fd = fd;
    c->listener = listener;
    c->kind = l->kind;
    c->limit = l->options.queue_limit_bytes;
    c->monitor.datagram_max = l->options.datagram_bytes_max;
    c->monitor.singles = l->options.monitor_singles;
    c->expires_ns = c->probe_ns = UINT64_MAX;
    c->began_ns = c->moved_ns = fm_el_clock_ns();
    if (peer) {
        c->peer = *peer;
        c->peer_size = peer_size;
    }
    if (l->token[0])
        c->expires_ns = c->moved_ns + FM_EL_TOKEN_WAIT_S * UINT64_C(1000000000);
    pthread_mutex_lock(&fm_el_server.mutex);
    c->next = fm_el_server.clients;
    fm_el_server.clients = c;
    fm_el_server.count++;
    pthread_mutex_unlock(&fm_el_server.mutex);
    if (refused)
        fm_el_client_refuse(c, refused);
    else if (!l->token[0] && atomic_load(&fm_el.running))
        fm_el_client_send_state(c, true, 0);
    return c;
}

/* ---- places ------------------------------------------------------------------------------------
 */

static bool has_a_place(const struct fm_el_client *c, unsigned listener)
{
    return c->listener == listener && !c->dead && !c->refused && !fm_el_client_lacks_token(c);
}

bool fm_el_client_has_place(unsigned listener)
{
    unsigned n = 0;
    uint64_t now = fm_el_clock_ns(), oldest = UINT64_MAX;
    struct fm_el_client *stuck = NULL;
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next) {
        if (!has_a_place(c, listener))
            continue;
        n++;
        if (c->moved_ns < oldest && fm_el_client_wants_to_send(c)) {
            oldest = c->moved_ns;
            stuck = c;
        }
    }
    if (n < fm_el_server.listeners[listener].options.clients_max)
        return true;
    if (!stuck || now - oldest < FM_EL_STUCK_S * UINT64_C(1000000000))
        return false;
    stuck->dead = true;
    return true;
}

/* The answer takes the place of the log: neither a log nor a frame begins with these bytes. */
void fm_el_client_refuse(struct fm_el_client *c, uint8_t status)
{
    static const struct fm_el_command about = {.name = "fathom", .name_bytes = 6};
    struct fm_el_bytes answer = {0};
    fm_el_control_answer(&answer, &about, status);
    if (c->kind == FM_EL_UDP) {
        sendto(c->fd, answer.data, answer.used, MSG_NOSIGNAL | MSG_DONTWAIT,
               (struct sockaddr *)&c->peer, c->peer_size);
        c->dead = true;
    } else {
        fm_el_put(&c->out, answer.data, answer.used);
        c->refused = true;
        c->expires_ns = fm_el_clock_ns() + FM_EL_FAREWELL_S * UINT64_C(1000000000);
    }
    fm_el_bytes_done(&answer);
}

/* Queues an empty block without lane, behind what has been sent of those. */
void fm_el_client_probe(struct fm_el_client *c)
{
    unsigned char block[FM_EL_MARKER_BYTES];
    pthread_mutex_lock(&fm_el_server.mutex);
    if (c->ready && !c->head && !c->ending) {
        fm_el_marker(block, sizeof(block), FM_EL_NO_CAP, c->global_ns, c->global_ns);
        fm_el_queue_bytes(c, block, sizeof(block), false);
    }
    pthread_mutex_unlock(&fm_el_server.mutex);
    c->probe_ns = fm_el_clock_ns() + FM_EL_PROBE_MS * UINT64_C(1000000);
}

static void client_free(struct fm_el_client *c)
{
    while (c->head)
        fm_el_queue_pop(c);
    if (c->kind != FM_EL_UDP)
        close(c->fd);
    fm_el_bytes_done(&c->out);
    fm_el_pool_free(c, sizeof(*c));
}

void fm_el_clients_remove_dead(void)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    bool any = false;
    for (struct fm_el_client **at = &fm_el_server.clients; *at;) {
        struct fm_el_client *c = *at;
        if (!c->dead) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        fm_el_server.count--;
        client_free(c);
        any = true;
    }
    if (any) {
        update_on();
        pthread_cond_broadcast(&fm_el_server.changed);
    }
    pthread_mutex_unlock(&fm_el_server.mutex);
    if (any)
        fm_el_update_active();
}

/* ---- end of the log, counters, fork -----------------------------------------------------------
 */

/* Sends each client the end mark behind its queue; disconnects clients that do not read. */
void fm_el_clients_stop(int timeout_ms)
{
    struct timespec until = fm_el_deadline(timeout_ms);
    pthread_mutex_lock(&fm_el_server.mutex);
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next) {
        if (c->ready && !c->ending) {
            fm_el_queue_gap(c, NULL);
            fm_el_queue_bytes(c, fm_el_end_mark, sizeof(fm_el_end_mark), false);
        }
        c->ending = true;
    }
    atomic_store(&fm_el.clients_on, 0);
    pthread_mutex_unlock(&fm_el_server.mutex);
    fm_el_service_wake();
    pthread_mutex_lock(&fm_el_server.mutex);
    while (fm_el_server.clients &&
           pthread_cond_timedwait(&fm_el_server.changed, &fm_el_server.mutex, &until) == 0)
        ;
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
        c->cut = true;
    bool any = fm_el_server.clients != NULL;
    pthread_mutex_unlock(&fm_el_server.mutex);
    if (any)
        fm_el_service_wake();
}

static void sink_lane_ends(uint16_t cap)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    fm_el_values_lane_ends(cap);
    pthread_mutex_unlock(&fm_el_server.mutex);
}

void fm_el_clients_values(bool on)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    if (!on || !atomic_load(&fm_el.values_on))
        fm_el_values_reset();
    atomic_store(&fm_el.values_on, on);
    pthread_mutex_unlock(&fm_el_server.mutex);
}

static void sink_stats(struct fm_eventlog_stats *s)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
        s->clients += c->ready;
    pthread_mutex_unlock(&fm_el_server.mutex);
    s->client_events = atomic_load(&fm_el_server.given_events);
    s->client_dropped_events = atomic_load(&fm_el_server.dropped_events);
}

static void sink_fork_lock(void)
{
    fm_el_service_fork_lock();
    pthread_mutex_lock(&fm_el_server.mutex);
}

static void sink_fork_unlock(void)
{
    pthread_mutex_unlock(&fm_el_server.mutex);
    fm_el_service_fork_unlock();
}

/* Connections and socket files belong to the parent: the child only closes its copies of the
 * descriptors. */
static void sink_after_fork(void)
{
    pthread_mutex_init(&fm_el_server.mutex, NULL);
    pthread_cond_init(&fm_el_server.changed, NULL);
    while (fm_el_server.clients) {
        struct fm_el_client *c = fm_el_server.clients;
        fm_el_server.clients = c->next;
        client_free(c);
    }
    fm_el_server.count = 0;
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++) {
        if (fm_el_server.listeners[i].used)
            close(fm_el_server.listeners[i].fd);
        fm_el_server.listeners[i] = (struct fm_el_listener){.fd = -1};
    }
    atomic_store(&fm_el.clients_on, 0);
    fm_el_values_reset();
    atomic_store(&fm_el.values_on, fm_el.values);
    fm_el_control_after_fork();
    fm_el_service_after_fork();
}

const struct fm_el_sink fm_el_clients_sink = {.write = fm_el_clients_write,
                                              .lane_ends = sink_lane_ends,
                                              .fork_lock = sink_fork_lock,
                                              .fork_unlock = sink_fork_unlock,
                                              .after_fork = sink_after_fork,
                                              .stats = sink_stats};
