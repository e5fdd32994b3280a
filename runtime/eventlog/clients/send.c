/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a client's queue to its connection. */
#include "clients/clients.h"
#include "core/clock.h"

#include <errno.h>

/* Sends bytes to the connection; false = it takes no more now, or is dead. */
static bool send_some(struct fm_el_client *c, const unsigned char *data, size_t bytes, size_t *at)
{
    while (*at < bytes) {
        ssize_t n = send(c->fd, data + *at, bytes - *at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            *at += (size_t)n;
            c->moved_ns = fm_el_clock_ns();
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else {
            c->dead = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
            return false;
        }
    }
    return true;
}

static bool send_datagrams(struct fm_el_client *c)
{
    size_t round = 0;
    while (c->out_at < c->out.used) {
        uint32_t n = fm_el_get32(c->out.data + c->out_at);
        ssize_t sent = sendto(c->fd, c->out.data + c->out_at + 4, n, MSG_NOSIGNAL | MSG_DONTWAIT,
                              (struct sockaddr *)&c->peer, c->peer_size);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)) {
            c->quiet_ns = fm_el_clock_ns() + 1000000;
            return false;
        }
        c->out_at += 4 + n; /* no process listens there: the peer will time out */
        round += n;
        if (round > FM_EL_OUT_BYTES && c->out_at < c->out.used)
            break;
    }
    if (c->out_at < c->out.used || round > 0) /* pause, so that the receiver keeps up */
        c->quiet_ns = fm_el_clock_ns() + 1000000;
    return c->out_at == c->out.used;
}

static bool send_out(struct fm_el_client *c)
{
    bool ok = c->kind == FM_EL_UDP ? send_datagrams(c)
                                   : send_some(c, c->out.data, c->out.used, &c->out_at);
    FM_EL_ASSERT(c->out_at <= c->out.used);
    if (ok) {
        c->out.used = c->out_at = 0;
        c->out.failed = false;
    }
    return ok;
}

/* Returns the block at the head of the queue. No other thread touches it. */
static struct fm_el_shared_block *head_block(struct fm_el_client *c)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    struct fm_el_shared_block *s = c->head ? c->head->block : NULL;
    pthread_mutex_unlock(&fm_el_server.mutex);
    return s;
}

static void next_block(struct fm_el_client *c)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    FM_EL_ASSERT(c->head && (c->dead || c->at == c->head->block->bytes));
    uint64_t gap_ns = c->head->block->gap_ns;
    fm_el_queue_pop(c);
    pthread_mutex_unlock(&fm_el_server.mutex);
    c->at = 0;
    c->greeted = true;
    if (gap_ns && !c->dead)
        fm_el_client_send_state(c, false, gap_ns);
}

static void send_plain(struct fm_el_client *c)
{
    struct fm_el_shared_block *s;
    while (!c->dead && (s = head_block(c))) {
        /* answers go between blocks, and after the header */
        if (c->at == 0 && c->greeted && c->out.used && !send_out(c))
            return;
        if (!send_some(c, s->data, s->bytes, &c->at))
            return;
        next_block(c);
    }
    if (!c->dead && c->greeted && c->out.used)
        send_out(c);
}

static void send_messages(struct fm_el_client *c)
{
    while (!c->dead) {
        if (c->out.used && !send_out(c))
            return;
        if (c->kind == FM_EL_UDP && c->quiet_ns > fm_el_clock_ns())
            return;
        struct fm_el_shared_block *s = head_block(c);
        if (!s)
            return;
        while (c->at < s->bytes && c->out.used < FM_EL_OUT_BYTES)
            fm_el_monitor_event(&c->monitor, s->data, s->bytes, &c->at, &c->out);
        if (c->out.failed)
            c->dead = true;
        if (c->at == s->bytes)
            next_block(c);
    }
}

/* Sends the reason of a refusal. The client reads it and closes, or it times out. */
static void send_farewell(struct fm_el_client *c)
{
    if (c->out.used && send_out(c))
        shutdown(c->fd, SHUT_WR);
}

void fm_el_client_send(struct fm_el_client *c)
{
    if (c->refused)
        send_farewell(c);
    else if (c->kind == FM_EL_PLAIN)
        send_plain(c);
    else
        send_messages(c);
}
