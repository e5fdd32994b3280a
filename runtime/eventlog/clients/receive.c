/* SPDX-License-Identifier: Apache-2.0 */
/* Input from clients: control messages, tokens, the monitor's frames. */
#include "clients/clients.h"
#include "core/clock.h"
#include "core/threads.h"
#include "lanes/lane.h"

#include <errno.h>

static void set_paused(struct fm_el_client *c, bool paused)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    bool was = c->paused;
    c->paused = paused;
    pthread_mutex_unlock(&fm_el_server.mutex);
    /* a state message tells the client */
    if (was != paused && c->kind != FM_EL_PLAIN && c->ready) {
        fm_el_state_lock();
        fm_el_monitor_state(&c->monitor, &c->out);
        fm_el_state_unlock();
    }
}

static bool token_is(const struct fm_el_client *c, const struct fm_el_command *cmd)
{
    const char *token = fm_el_server.listeners[c->listener].token;
    size_t n = strlen(token);
    if (cmd->name_bytes != n + 6 || memcmp(cmd->name, "token=", 6) != 0)
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; i < n; i++) /* in constant time, against timing attacks */
        differs |= (unsigned char)(token[i] ^ cmd->name[6 + i]);
    return differs == 0;
}

static uint8_t run_builtin(struct fm_el_client *c, uint8_t number)
{
    if (number == 1)
        return fm_el_lanes_flush(100) == 0 ? FM_EVENTLOG_ANSWER_OK : FM_EVENTLOG_ANSWER_REFUSED;
    if (number != 2 && number != 3)
        return FM_EVENTLOG_ANSWER_UNKNOWN_NUMBER;
    set_paused(c, number == 2);
    return FM_EVENTLOG_ANSWER_OK;
}

/* Returns 0, or the status to refuse with. */
static uint8_t admit(struct fm_el_client *c, const struct fm_el_command *cmd)
{
    if (!token_is(c, cmd))
        return memcmp(cmd->name, "token=", 6) == 0 ? FM_EVENTLOG_ANSWER_REFUSED
                                                   : FM_EVENTLOG_ANSWER_TOKEN;
    if (!fm_el_client_has_place(c->listener))
        return FM_EVENTLOG_ANSWER_FULL;
    c->admitted = true;
    if (c->kind != FM_EL_UDP)
        c->expires_ns = UINT64_MAX;
    if (atomic_load(&fm_el.running))
        fm_el_client_send_state(c, true, 0);
    return FM_EVENTLOG_ANSWER_OK;
}

static void run_command(struct fm_el_client *c, const struct fm_el_command *cmd)
{
    uint8_t status;
    if (fm_el_client_lacks_token(c)) {
        status = admit(c, cmd);
        if (status != FM_EVENTLOG_ANSWER_OK) {
            fm_el_client_refuse(c, status);
            return;
        }
    } else if (cmd->name_bytes == 6 && memcmp(cmd->name, "fathom", 6) == 0) {
        status = run_builtin(c, cmd->number);
    } else {
        status = fm_el_control_run(cmd);
    }
    if (cmd->version == 1 && c->kind == FM_EL_PLAIN && !c->dead)
        fm_el_control_answer(&c->out, cmd, status);
    if (c->out.used > FM_EL_OUT_BYTES &&
        c->kind == FM_EL_PLAIN) /* such a client sends commands and never reads the answers */
        c->dead = true;
}

static void feed_control(struct fm_el_client *c, const unsigned char *data, size_t bytes)
{
    struct fm_el_command cmd;
    for (size_t i = 0; i < bytes && !c->dead && !c->refused; i++)
        if (fm_el_control_feed(&c->frames.control, data[i], &cmd))
            run_command(c, &cmd);
}

static void feed_frames(struct fm_el_client *c, const unsigned char *data, size_t bytes)
{
    struct fm_el_command cmd;
    for (size_t i = 0; i < bytes && !c->dead && !c->refused; i++) {
        enum fm_el_said said = fm_el_frames_feed(&c->frames, data[i], &cmd);
        if (said == FM_EL_SAID_NOTHING)
            continue;
        if (said == FM_EL_SAID_COMMAND)
            run_command(c, &cmd);
        else if (said == FM_EL_SAID_TOO_LONG || (said == FM_EL_SAID_NONSENSE && c->ready))
            c->dead = true; /* clients may send nothing else */
        else if (c->ready)
            set_paused(c, said == FM_EL_SAID_PAUSE);
        else if (fm_el_client_lacks_token(c))
            fm_el_client_refuse(c, FM_EVENTLOG_ANSWER_TOKEN);
    }
}

void fm_el_client_receive(struct fm_el_client *c)
{
    unsigned char data[4096];
    for (int rounds = 0; rounds < 4 && !c->dead; rounds++) {
        ssize_t n = recv(c->fd, data, sizeof(data), MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            c->half_closed = true;
            c->probe_ns = 0;
            c->dead = n < 0 || c->refused;
            if (!c->dead && fm_el_client_lacks_token(c))
                fm_el_client_refuse(c, FM_EVENTLOG_ANSWER_TOKEN);
            return;
        }
        if (c->refused)
            continue; /* reads the input: closing with unread input would discard the refusal */
        if (c->kind == FM_EL_PLAIN)
            feed_control(c, data, (size_t)n);
        else
            feed_frames(c, data, (size_t)n);
    }
}

static struct fm_el_client *peer_of(unsigned listener, const struct sockaddr_storage *from,
                                    socklen_t size)
{
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
        if (c->listener == listener && c->peer_size == size && memcmp(&c->peer, from, size) == 0)
            return c;
    return NULL;
}

/* NULL: no client. Without a token the peer needs a free place now, or is refused; with a token it
 * needs one when it has sent it. */
static struct fm_el_client *new_peer(unsigned listener, const struct sockaddr_storage *from,
                                     socklen_t size)
{
    struct fm_el_listener *l = &fm_el_server.listeners[listener];
    bool full = !l->token[0] && !fm_el_client_has_place(listener);
    struct fm_el_client *c =
        fm_el_client_new(listener, l->fd, full ? FM_EVENTLOG_ANSWER_FULL : 0, from, size);
    return c && !c->dead ? c : NULL;
}

void fm_el_receive_datagrams(unsigned listener)
{
    struct fm_el_listener *l = &fm_el_server.listeners[listener];
    for (int i = 0; i < 64; i++) {
        unsigned char data[2048];
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof(from);
        ssize_t n =
            recvfrom(l->fd, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from, &size);
        if (n < 0)
            return;
        struct fm_el_client *c = peer_of(listener, &from, size);
        bool pause;
        if (!c && !(c = new_peer(listener, &from, size)))
            continue;
        c->expires_ns = fm_el_clock_ns() +
                        (fm_el_client_lacks_token(c) ? FM_EL_TOKEN_WAIT_S : FM_EL_PEER_LIFE_S) *
                            UINT64_C(1000000000);
        if (n > 0 && data[0] == 0xF0)
            feed_control(c, data, (size_t)n);
        else if (c->ready && fm_el_monitor_service(data, (size_t)n, &pause))
            set_paused(c, pause);
    }
}
