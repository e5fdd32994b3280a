/* SPDX-License-Identifier: Apache-2.0 */
/* What clients say: control messages, tokens, the monitor's frames. */
#include "clients.h"

#include <errno.h>

static void set_paused(struct fm_el_client *c, bool paused)
{
    pthread_mutex_lock(&fm_el_server.mutex);
    bool was = c->paused;
    c->paused = paused;
    pthread_mutex_unlock(&fm_el_server.mutex);
    if (was != paused && c->kind != FM_EL_PLAIN && c->ready) { /* told by the state, as ever */
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
    for (size_t i = 0; i < n; i++) /* takes as long whatever differs */
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

static void run_command(struct fm_el_client *c, const struct fm_el_command *cmd)
{
    uint8_t status;
    bool waits = c->expires_ns != UINT64_MAX && c->kind != FM_EL_UDP;
    bool needs = fm_el_server.listeners[c->listener].token[0] && !c->ready;
    if (needs && token_is(c, cmd)) {
        if (waits)
            c->expires_ns = UINT64_MAX;
        if (atomic_load(&fm_el.running))
            fm_el_client_send_state(c, true, 0);
        status = FM_EVENTLOG_ANSWER_OK;
    } else if (needs) {
        status = FM_EVENTLOG_ANSWER_REFUSED;
        c->dead = true;
    } else if (cmd->name_bytes == 6 && memcmp(cmd->name, "fathom", 6) == 0) {
        status = run_builtin(c, cmd->number);
    } else {
        status = fm_el_control_run(cmd);
    }
    if (cmd->version == 1 && c->kind == FM_EL_PLAIN && !c->dead)
        fm_el_control_answer(&c->out, cmd, status);
    if (c->out.used > FM_EL_OUT_BYTES &&
        c->kind == FM_EL_PLAIN) /* asks and never reads the answers */
        c->dead = true;
}

static void feed_control(struct fm_el_client *c, const unsigned char *data, size_t bytes)
{
    struct fm_el_command cmd;
    for (size_t i = 0; i < bytes && !c->dead; i++)
        if (fm_el_control_feed(&c->frames.control, data[i], &cmd))
            run_command(c, &cmd);
}

static void feed_frames(struct fm_el_client *c, const unsigned char *data, size_t bytes)
{
    struct fm_el_command cmd;
    for (size_t i = 0; i < bytes && !c->dead; i++) {
        enum fm_el_said said = fm_el_frames_feed(&c->frames, data[i], &cmd);
        if (said == FM_EL_SAID_NOTHING)
            continue;
        if (said == FM_EL_SAID_COMMAND)
            run_command(c, &cmd);
        else if (said == FM_EL_SAID_TOO_LONG || (said == FM_EL_SAID_NONSENSE && c->ready))
            c->dead = true; /* nothing else may come from a client */
        else if (c->ready)
            set_paused(c, said == FM_EL_SAID_PAUSE);
        else
            c->dead = fm_el_server.listeners[c->listener].token[0] != '\0';
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
        if (n <= 0) { /* a client that says no more wants no more */
            c->dead = true;
            return;
        }
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

unsigned fm_el_clients_of(unsigned listener)
{
    unsigned n = 0;
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
        n += c->listener == listener && !c->dead;
    return n;
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
        if (!c && fm_el_clients_of(listener) < l->options.clients_max &&
            (c = fm_el_client_new(listener, l->fd))) {
            c->peer = from;
            c->peer_size = size;
        }
        if (!c)
            continue;
        c->expires_ns = fm_el_clock_ns() +
                        (c->ready ? FM_EL_PEER_LIFE_S : FM_EL_TOKEN_WAIT_S) * UINT64_C(1000000000);
        if (n > 0 && data[0] == 0xF0)
            feed_control(c, data, (size_t)n);
        else if (c->ready && fm_el_monitor_service(data, (size_t)n, &pause))
            set_paused(c, pause);
    }
}
