/* SPDX-License-Identifier: Apache-2.0 */
/* Clients, between the files that hold them: clients.c their life, queue.c their queues,
 * send.c and receive.c the two directions, serve.c listeners and the calls of the
 * program. Any thread queues blocks; only the service thread connects, sends, reads and closes. */
#pragma once
#include "clients/protocol.h"
#include "clients/service.h"
#include "core/pool.h"
#include "lanes/deliver.h"

#include <pthread.h>

#define FM_EL_TOKEN_WAIT_S 5u
#define FM_EL_PEER_LIFE_S 60u
#define FM_EL_STUCK_S 10u   /* who takes nothing for that long gives its place to another */
#define FM_EL_FAREWELL_S 2u /* for a refused client to read why */
#define FM_EL_WAITING_MAX                                                                        \
    64u                      /* connections of a listener that are refused, or without token yet \
                              */
#define FM_EL_PROBE_MS 1000u /* a client that says no more: is it there still? */
#define FM_EL_OUT_BYTES (64u << 10)
#define FM_EL_LISTENERS_MAX 16u

/* A block that all clients with room share. */
struct fm_el_shared_block {
    _Atomic uint32_t users;
    uint32_t events;
    size_t bytes, capacity; /* capacity: of this piece of the pool */
    uint64_t gap_ns;        /* a gap: the time of a replay behind it; otherwise 0 */
    unsigned char data[];
};
struct fm_el_node {
    struct fm_el_node *next;
    struct fm_el_shared_block *block;
};
struct fm_el_client {
    struct fm_el_client *next;
    int fd; /* UDP: the listener's */
    unsigned listener;
    enum fm_el_kind kind;
    struct sockaddr_storage peer; /* UDP */
    socklen_t peer_size;
    /* under the mutex */
    struct fm_el_node *head, *tail;
    uint64_t queued, limit;
    uint64_t global_ns; /* end of the last block without lane */
    uint64_t replay_ns; /* end of the last replay, which may be later than gaps that wait */
    struct fm_el_gap missing;
    bool ready, paused, ending, cut;
    /* the service thread's own */
    bool dead;
    bool greeted;     /* the header has been sent */
    bool admitted;    /* has shown the token */
    bool refused;     /* gets no log: what is in out, then the end */
    bool half_closed; /* says no more, but may read */
    uint64_t began_ns;
    uint64_t moved_ns;      /* when it last took something, or nothing waited for it */
    uint64_t probe_ns;      /* half-closed: looked at again then */
    size_t at;              /* sent, or made into messages, of the first block */
    struct fm_el_bytes out; /* messages under way */
    size_t out_at;
    uint64_t expires_ns, quiet_ns; /* token or peer time-out; UDP sends again then */
    struct fm_el_monitor monitor;
    struct fm_el_frames frames; /* what it says; a plain client only has the control part */
};

/* One for the process. */
struct fm_el_server {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct fm_el_client *clients; /* changed by the service thread, under the mutex */
    unsigned count;
    struct fm_el_listener listeners[FM_EL_LISTENERS_MAX];
    uint64_t served; /* clients that got their header, ever */
    _Atomic uint64_t given_events, dropped_events;
};
extern struct fm_el_server fm_el_server;

static inline bool fm_el_client_wants_to_send(const struct fm_el_client *c)
{
    return c->head || c->out.used;
}
static inline bool fm_el_client_lacks_token(const struct fm_el_client *c)
{
    return fm_el_server.listeners[c->listener].token[0] && !c->admitted;
}

/* ---- clients.c */
/* NULL: too many, no memory. It becomes ready at once if it may. refused: 0, or the status that it
 * is told instead. peer: of a datagram; NULL = a connection. */
struct fm_el_client *fm_el_client_new(unsigned listener, int fd, uint8_t refused,
                                      const struct sockaddr_storage *peer, socklen_t peer_size);
/* Told the status, then closed. */
void fm_el_client_refuse(struct fm_el_client *c, uint8_t status);
/* A place for one more client, if need be that of one that takes nothing. */
bool fm_el_client_has_place(unsigned listener);
void fm_el_client_probe(
    struct fm_el_client *c); /* something to send, so that a dead peer is seen */
/* State as of now: with the header for a client that comes; before what waits, and not before
 * from_ns, for one that has lost something. */
void fm_el_client_send_state(struct fm_el_client *c, bool with_header, uint64_t from_ns);
void fm_el_clients_remove_dead(void);

/* ---- queue.c: a sink's write; takes the mutex */
void fm_el_clients_write(const struct fm_el_block *b, bool *taken);
/* The mutex is held. */
/* A block of these bytes at the end of the queue, or at its front; false when memory ran out. */
bool fm_el_queue_bytes(struct fm_el_client *c, const void *data, size_t bytes, bool front);
/* Word of what was dropped, if anything was; next as for fm_el_missing_block. */
bool fm_el_queue_gap(struct fm_el_client *c, const unsigned char *next);
void fm_el_queue_pop(struct fm_el_client *c);

/* ---- send.c */
void fm_el_client_send(struct fm_el_client *c); /* as much as goes without waiting */

/* ---- receive.c */
/* One round: as much as has come. */
void fm_el_client_receive(struct fm_el_client *c);
void fm_el_receive_datagrams(unsigned listener);

/* ---- for those above */
extern const struct fm_el_sink fm_el_clients_sink;
void fm_el_clients_stop(int timeout_ms);
bool fm_el_clients_listen(void);    /* there is a listener */
void fm_el_clients_values(bool on); /* begins to keep values anew, or ends */
