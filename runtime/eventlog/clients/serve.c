/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners: one round of the service thread, and the public functions. */
#include "clients/clients.h"
#include "core/clock.h"
#include "core/shared.h"

#include <errno.h>
#include <unistd.h>

static nfds_t poll_clients(struct pollfd *fds, unsigned max, int *wait_ms)
{
    nfds_t n = 0;
    uint64_t now = fm_el_clock_ns(), next = UINT64_MAX;
    pthread_mutex_lock(&fm_el_server.mutex);
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++)
        fds[n++] = (struct pollfd){
            .fd = fm_el_server.listeners[i].used ? fm_el_server.listeners[i].fd : -1,
            .events = POLLIN};
    for (struct fm_el_client *c = fm_el_server.clients; c && n < max; c = c->next) {
        short events = POLLIN;
        if (c->kind == FM_EL_UDP) {
            if (fm_el_client_wants_to_send(c))
                next = c->quiet_ns < next ? c->quiet_ns : next;
            events = 0;
        } else {
            if (c->half_closed) /* its end is reported even so */
                events = 0;
            if (fm_el_client_wants_to_send(c))
                events |= POLLOUT;
            else
                c->moved_ns = now;
        }
        next = c->expires_ns < next ? c->expires_ns : next;
        if (c->half_closed && !fm_el_client_wants_to_send(c))
            next = c->probe_ns < next ? c->probe_ns : next;
        fds[n++] = (struct pollfd){.fd = c->kind == FM_EL_UDP ? -1 : c->fd, .events = events};
    }
    pthread_mutex_unlock(&fm_el_server.mutex);
    *wait_ms = -1;
    if (next != UINT64_MAX) {
        uint64_t ms = next > now ? (next - now + 999999) / 1000000 : 0;
        *wait_ms = ms < 60000 ? (int)ms : 60000;
    }
    return n;
}

static void accept_clients(unsigned listener)
{
    struct fm_el_listener *l = &fm_el_server.listeners[listener];
    for (int i = 0; i < 16; i++) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        bool full = !l->token[0] && !fm_el_client_has_place(listener);
        uint8_t refused = full ? FM_EVENTLOG_ANSWER_FULL : 0;
        if (!fm_el_client_new(listener, fd, refused, NULL, 0))
            close(fd);
    }
}

static void close_listener(unsigned i)
{
    struct fm_el_listener *l = &fm_el_server.listeners[i];
    for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
        if (c->listener == i)
            c->dead = true;
    fm_el_clients_remove_dead();
    pthread_mutex_lock(&fm_el_server.mutex);
    close(l->fd);
    if (l->path[0])
        unlink(l->path);
    *l = (struct fm_el_listener){.fd = -1};
    pthread_cond_broadcast(&fm_el_server.changed);
    pthread_mutex_unlock(&fm_el_server.mutex);
}

static void serve_listeners(const struct pollfd *fds)
{
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++) {
        pthread_mutex_lock(&fm_el_server.mutex);
        bool used = fm_el_server.listeners[i].used, closing = fm_el_server.listeners[i].closing;
        bool udp = fm_el_server.listeners[i].kind == FM_EL_UDP;
        pthread_mutex_unlock(&fm_el_server.mutex);
        if (closing)
            close_listener(i);
        else if (used && fds[i].fd >= 0 && fds[i].revents && udp)
            fm_el_receive_datagrams(i);
        else if (used && fds[i].fd >= 0 && fds[i].revents)
            accept_clients(i);
    }
}

/* Handles time-outs: of the token, of a refused client, of a UDP peer. */
static void expire(struct fm_el_client *c)
{
    if (!c->dead && !c->refused && fm_el_client_lacks_token(c))
        fm_el_client_refuse(c, FM_EVENTLOG_ANSWER_TOKEN);
    else
        c->dead = true;
}

static void serve_clients(const struct pollfd *fds, unsigned count)
{
    unsigned n = FM_EL_LISTENERS_MAX;
    uint64_t now = fm_el_clock_ns();
    for (struct fm_el_client *c = fm_el_server.clients; c && n < count; c = c->next, n++) {
        if (c->kind != FM_EL_UDP && c->half_closed && fds[n].revents & (POLLHUP | POLLERR))
            c->dead = true;
        else if (c->kind != FM_EL_UDP && fds[n].revents & (POLLIN | POLLHUP | POLLERR))
            fm_el_client_receive(c);
        if (now >= c->expires_ns)
            expire(c);
        if (c->half_closed && now >= c->probe_ns)
            fm_el_client_probe(c);
        if (!c->dead)
            fm_el_client_send(c);
        pthread_mutex_lock(&fm_el_server.mutex);
        if (c->cut || (c->ending && !fm_el_client_wants_to_send(c)))
            c->dead = true;
        pthread_mutex_unlock(&fm_el_server.mutex);
    }
    fm_el_clients_remove_dead();
    serve_listeners(fds);
    if (atomic_load(&fm_el.running)) /* clients that connected while the log was stopped */
        for (struct fm_el_client *c = fm_el_server.clients; c; c = c->next)
            if (!c->ready && !c->dead && !c->refused && !fm_el_client_lacks_token(c))
                fm_el_client_send_state(c, true, 0);
}

/* ---- public functions
 * -------------------------------------------------------------------------- */

bool fm_el_clients_listen(void)
{
    bool any = false;
    pthread_mutex_lock(&fm_el_server.mutex);
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++)
        any |= fm_el_server.listeners[i].used;
    pthread_mutex_unlock(&fm_el_server.mutex);
    return any && !fm_el.no_state;
}

static void end_wait(void *cancelled)
{
    pthread_mutex_unlock(&fm_el_server.mutex);
    if (*(bool *)cancelled)
        fm_el_leave(0);
}

static int wait_first(uint64_t before, int timeout_ms)
{
    struct timespec until = fm_el_deadline(timeout_ms);
    int result = 0;
    bool cancelled = true;
    pthread_mutex_lock(&fm_el_server.mutex);
    pthread_cleanup_push(end_wait, &cancelled);
    fm_el_cancellable(true);
    while (fm_el_server.served == before && result == 0)
        result = timeout_ms
                     ? -pthread_cond_timedwait(&fm_el_server.changed, &fm_el_server.mutex, &until)
                     : -pthread_cond_wait(&fm_el_server.changed, &fm_el_server.mutex);
    fm_el_cancellable(false);
    cancelled = false;
    pthread_cleanup_pop(1);
    return result;
}

static const struct fm_el_service clients_service = {poll_clients, serve_clients};

int fm_eventlog_listen(const char *address, const struct fm_eventlog_listen_options *opts)
{
    FM_EL_FORWARD(listen, address, opts);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    fm_el_clock_init();
    struct fm_el_listener l;
    int result = fm_el_listener_open(&l, address, opts);
    uint64_t served_before = 0;
    if (result == 0) {
        int number = -EMFILE;
        pthread_mutex_lock(&fm_el_server.mutex);
        for (unsigned i = 0; i < FM_EL_LISTENERS_MAX && number < 0; i++) {
            if (fm_el_server.listeners[i].used)
                continue;
            fm_el_server.listeners[i] = l;
            /* the copy in `token` is used instead */
            fm_el_server.listeners[i].options.token = NULL;
            number = (int)i;
        }
        served_before = fm_el_server.served;
        pthread_mutex_unlock(&fm_el_server.mutex);
        result = number;
        if (number < 0) {
            close(l.fd);
            if (l.path[0])
                unlink(l.path);
        }
    }
    if (result >= 0 && !fm_el.no_state)
        fm_el_clients_values(true);
    if (result >= 0) {
        fm_el_service_register(&clients_service);
        int error = fm_el_service_start();
        fm_el_service_wake();
        if (error == 0 && l.options.wait_client)
            error = wait_first(served_before, l.options.wait_timeout_ms);
        result = error ? error : result;
    }
    fm_el_leave(before);
    return result;
}

int fm_eventlog_port(int listener)
{
    FM_EL_FORWARD(port, listener);
    if (listener < 0 || listener >= (int)FM_EL_LISTENERS_MAX)
        return -EINVAL;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&fm_el_server.mutex);
    int port =
        fm_el_server.listeners[listener].used ? fm_el_server.listeners[listener].port : -EINVAL;
    pthread_mutex_unlock(&fm_el_server.mutex);
    fm_el_leave(before);
    return port;
}

int fm_eventlog_unlisten(int listener)
{
    FM_EL_FORWARD(unlisten, listener);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    if (listener < 0 || listener >= (int)FM_EL_LISTENERS_MAX)
        return -EINVAL;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&fm_el_server.mutex);
    bool used = fm_el_server.listeners[listener].used;
    fm_el_server.listeners[listener].closing = used;
    pthread_mutex_unlock(&fm_el_server.mutex);
    fm_el_service_wake();
    pthread_mutex_lock(&fm_el_server.mutex);
    while (fm_el_server.listeners[listener].closing)
        pthread_cond_wait(&fm_el_server.changed, &fm_el_server.mutex);
    pthread_mutex_unlock(&fm_el_server.mutex);
    fm_el_leave(before);
    return used ? 0 : -EINVAL;
}
