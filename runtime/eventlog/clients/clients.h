/* SPDX-License-Identifier: Apache-2.0 */
/* Clients, shared by these files: clients.c has their life cycle, queue.c their queues, send.c and
 * receive.c the two directions, serve.c listeners and the public functions. Any thread queues
 * blocks; only the service thread connects, sends, reads and closes. */
#pragma once
#include "clients/protocol.h"
#include "clients/service.h"
#include "core/pool.h"
#include "lanes/deliver.h"

#include <pthread.h>

#define FM_EL_TOKEN_WAIT_S 5u
#define FM_EL_PEER_LIFE_S 60u
#define FM_EL_STUCK_S 10u   /* a client that reads nothing for so long may be replaced by another */
#define FM_EL_FAREWELL_S 2u /* how long a refused client may read the reason */
/* Limit for the connections of a listener that are refused or have not yet sent the token. */
#define FM_EL_WAITING_MAX 64u
#define FM_EL_PROBE_MS 1000u /* interval for checking whether a half-closed client still exists */
#define FM_EL_OUT_BYTES (64u << 10)
#define FM_EL_LISTENERS_MAX 16u

/* A block that is shared by all clients with room in their queues. */
struct fm_el_shared_block {
    _Atomic uint32_t users;
    uint32_t events;
    size_t bytes, capacity; /* capacity: size of its pool block */
    uint64_t gap_ns;        /* for a gap: time of the replay after it; otherwise 0 */
    unsigned char data[];
};
struct fm_el_node {
    struct fm_el_node *next;
    struct fm_el_shared_block *block;
};
struct fm_el_client {
    struct fm_el_client *next;
    int fd; /* UDP: the listener's descriptor */
    unsigned listener;
    enum fm_el_kind kind;
    struct sockaddr_storage peer; /* UDP only */
    socklen_t peer_size;
    /* Guarded by the mutex. */
    struct fm_el_node *head, *tail;
    uint64_t queued, limit;
    uint64_t global_ns; /* end of the last block without lane */
    uint64_t replay_ns; /* end of the last replay; may be later than gaps in the queue */
    struct fm_el_gap missing;
    bool ready, paused, ending, cut;
    /* Used by the service thread only. */
    bool dead;
    bool greeted;     /* the header has been sent */
    bool admitted;    /* has sent the token */
    bool refused;     /* gets no log: only what is in `out`, then it is closed */
    bool half_closed; /* has closed its sending side, but may still read */
    uint64_t began_ns;
    uint64_t moved_ns;      /* last time that it read something, or that its queue was empty */
    uint64_t probe_ns;      /* half-closed: time of the next check */
    size_t at;              /* bytes of the first block that are sent, or made into messages */
    struct fm_el_bytes out; /* messages that are being sent */
    size_t out_at;
    /* expires_ns: time-out of token or peer; quiet_ns: UDP: nothing is sent before */
    uint64_t expires_ns, quiet_ns;
    struct fm_el_monitor monitor;
    struct fm_el_frames frames; /* parses its input; a plain client uses the control part only */
};

/* One per process. */
struct fm_el_server {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct fm_el_client *clients; /* changed by the service thread only, under the mutex */
    unsigned count;
    struct fm_el_listener listeners[FM_EL_LISTENERS_MAX];
    uint64_t served; /* clients that were sent the header, in total */
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
/* NULL: too many clients, or no memory. The client becomes ready at once if it is admitted.
 * refused: 0, or the status to refuse it with. peer: of a datagram; NULL = a connection. */
struct fm_el_client *fm_el_client_new(unsigned listener, int fd, uint8_t refused,
                                      const struct sockaddr_storage *peer, socklen_t peer_size);
/* Sends the status, then closes the connection. */
void fm_el_client_refuse(struct fm_el_client *c, uint8_t status);
/* Whether there is a place for one more client; if need be, disconnects a client that reads
 * nothing. */
bool fm_el_client_has_place(unsigned listener);
void fm_el_client_probe(
    struct fm_el_client *c); /* queues a block, so that a dead peer is detected */
/* Queues the present state: for a new client with the header; for a client that lost blocks in
 * front of its queue, and not before from_ns. */
void fm_el_client_send_state(struct fm_el_client *c, bool with_header, uint64_t from_ns);
void fm_el_clients_remove_dead(void);

/* ---- queue.c: the write function of the sink; takes the mutex */
void fm_el_clients_write(const struct fm_el_block *b, bool *taken);
/* The mutex is held. */
/* Queues a block of these bytes at the end or at the front; false when memory ran out. */
bool fm_el_queue_bytes(struct fm_el_client *c, const void *data, size_t bytes, bool front);
/* Queues a report of dropped blocks, if there were any; next as for fm_el_missing_block. */
bool fm_el_queue_gap(struct fm_el_client *c, const unsigned char *next);
void fm_el_queue_pop(struct fm_el_client *c);

/* ---- send.c */
void fm_el_client_send(struct fm_el_client *c); /* sends as much as possible without waiting */

/* ---- receive.c */
/* Reads and handles what is available. */
void fm_el_client_receive(struct fm_el_client *c);
void fm_el_receive_datagrams(unsigned listener);

/* ---- for the files above */
extern const struct fm_el_sink fm_el_clients_sink;
void fm_el_clients_stop(int timeout_ms);
bool fm_el_clients_listen(void);    /* whether there is a listener */
void fm_el_clients_values(bool on); /* starts or stops keeping last values for clients */
