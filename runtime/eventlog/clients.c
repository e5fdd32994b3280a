/* SPDX-License-Identifier: Apache-2.0 */
/* Clients: each has its queue of shared blocks, with a limit in bytes. Any thread queues blocks;
 * only the service thread connects, sends, reads and closes. */
#include "service.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

enum { TOKEN_WAIT_S = 5, PEER_LIFE_S = 60, OUT_BYTES = 64 << 10, CLIENTS_MAX = 512 };

struct shared {
    _Atomic uint32_t users;
    uint32_t events;
    size_t bytes, capacity; /* capacity: of this piece of the pool */
    uint64_t gap_ns;        /* a gap: the time of a replay behind it; otherwise 0 */
    unsigned char data[];
};
struct node {
    struct node *next;
    struct shared *block;
};
struct client {
    struct client *next;
    int fd; /* UDP: the listener's */
    unsigned listener;
    enum fm_el_kind kind;
    struct sockaddr_storage peer; /* UDP */
    socklen_t peer_size;
    /* under the mutex */
    struct node *head, *tail;
    uint64_t queued, limit;
    uint64_t global_ns; /* end of the last block without lane */
    struct fm_el_gap missing;
    bool ready, paused, ending, cut;
    /* the service thread's own */
    bool dead;
    bool greeted;           /* the header has been sent */
    size_t at;              /* sent, or made into messages, of the first block */
    struct fm_el_bytes out; /* messages under way */
    size_t out_at;
    uint64_t expires_ns, quiet_ns; /* token or peer time-out; UDP sends again then */
    struct fm_el_control control;
    struct fm_el_monitor monitor;
    uint32_t frame_left, frame_got; /* of the frame that is being read */
    unsigned char frame[64];
    uint8_t length_got;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct client *clients; /* changed by the service thread, under the mutex */
static unsigned client_count;
static struct fm_el_listener listeners[FM_EL_LISTENERS_MAX];
static uint64_t served; /* clients that got their header, ever */
static _Atomic uint64_t given_events, dropped_events;

/* ---- queues -----------------------------------------------------------------------------------
 */

static struct shared *shared_new(const void *data, size_t bytes, uint32_t events)
{
    size_t capacity = fm_el_pool_size(sizeof(struct shared) + bytes);
    struct shared *s = fm_el_pool_alloc(capacity);
    if (!s)
        return NULL;
    s->users = 1;
    s->events = events;
    s->bytes = bytes;
    s->capacity = capacity;
    s->gap_ns = 0;
    memcpy(s->data, data, bytes);
    return s;
}

static void shared_drop(struct shared *s)
{
    if (s && atomic_fetch_sub(&s->users, 1) == 1)
        fm_el_pool_free(s, s->capacity);
}

/* Mutex held, as for all of the queue. Takes over one use of s. */
static bool enqueue(struct client *c, struct shared *s, bool front)
{
    struct node *n = s ? fm_el_pool_alloc(sizeof(*n)) : NULL;
    if (!n) {
        shared_drop(s);
        return false;
    }
    *n = (struct node){.next = front ? c->head : NULL, .block = s};
    if (front)
        c->head = n;
    else if (c->tail)
        c->tail->next = n;
    else
        c->head = n;
    if (!front || !c->tail)
        c->tail = n;
    c->queued += s->bytes;
    return true;
}

static void dequeue(struct client *c)
{
    struct node *n = c->head;
    c->head = n->next;
    if (!c->head)
        c->tail = NULL;
    c->queued -= n->block->bytes;
    shared_drop(n->block);
    fm_el_pool_free(n, sizeof(*n));
}

static bool enqueue_gap(struct client *c, const unsigned char *next)
{
    unsigned char data[FM_EL_MISSING_MAX];
    if (c->missing.blocks == 0)
        return true;
    size_t n = fm_el_missing_block(data, &c->missing, next);
    struct shared *s = shared_new(data, n, 0);
    if (s)
        s->gap_ns = c->global_ns;
    if (!enqueue(c, s, false))
        return false;
    c->missing = (struct fm_el_gap){0};
    return true;
}

static void miss(struct client *c, const struct fm_el_block *b)
{
    c->missing.events += b->events;
    c->missing.bytes += b->bytes;
    c->missing.blocks++;
    atomic_fetch_add(&dropped_events, b->events);
}

/* One copy for all clients that have room; none when nobody has. */
void fm_el_clients_write(const struct fm_el_block *b, bool *taken)
{
    struct shared *s = NULL;
    pthread_mutex_lock(&mutex);
    for (struct client *c = clients; c; c = c->next) {
        if (!c->ready || c->ending)
            continue;
        *taken = true;
        uint64_t limit = c->limit + (b->cap == FM_EL_NO_CAP ? c->limit / 16 : 0);
        if (c->paused || c->queued + b->bytes > limit) {
            miss(c, b);
            continue;
        }
        if (!s && !(s = shared_new(b->data, b->bytes, b->events))) {
            miss(c, b);
            continue;
        }
        atomic_fetch_add(&s->users, 1);
        if (!enqueue_gap(c, b->data)) {
            shared_drop(s);
            miss(c, b);
        } else if (!enqueue(c, s, false)) {
            miss(c, b);
        } else {
            atomic_fetch_add(&given_events, b->events);
            if (b->cap == FM_EL_NO_CAP)
                c->global_ns = fm_el_get64(b->data + 14);
        }
    }
    pthread_mutex_unlock(&mutex);
    if (s) {
        shared_drop(s);
        fm_el_service_wake();
    }
}

/* ---- beginning and end of a client ------------------------------------------------------------
 */

static void update_on(void)
{
    int ready = 0;
    for (struct client *c = clients; c; c = c->next)
        ready |= c->ready && !c->ending;
    atomic_store(&fm_el.clients_on, ready);
}

static void queue_bytes(struct client *c, const struct fm_el_bytes *b)
{
    struct shared *s = b->failed ? NULL : shared_new(b->data, b->used, 0);
    if (!enqueue(c, s, false))
        c->dead = true;
}

/* State as of now: with the header for a client that comes; before what waits, and as of at_ns, for
 * one that has lost something. */
static void send_state(struct client *c, bool with_header, uint64_t at_ns)
{
    struct fm_el_bytes b = {0};
    uint32_t count;
    fm_el_process_refresh();
    fm_el_state_lock();
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    if (c->kind == FM_EL_PLAIN) {
        if (with_header)
            fm_el_header(&b);
        fm_el_replay(&b, with_header ? fm_el.begun : true, at_ns, &count);
    } else {
        fm_el_monitor_state(&c->monitor, &c->out);
        if (with_header)
            fm_el_monitor_header(&c->monitor, &c->out);
        fm_el_replay(&b, with_header ? fm_el.begun : true, at_ns, &count);
    }
    fm_el.begun = true;
    pthread_mutex_lock(&mutex);
    if (with_header) {
        queue_bytes(c, &b);
        c->global_ns = fm_el_clock_ns();
        c->ready = true;
        served++;
    } else if (!b.failed && b.used < c->limit / 8) {
        enqueue(c, shared_new(b.data, b.used, 0), true);
    }
    update_on();
    fm_el_update_active(); /* before who waits for the first client goes on to log */
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    fm_el_sink_unlock();
    fm_el_state_unlock();
    fm_el_bytes_done(&b);
}

static struct client *client_new(unsigned listener, int fd)
{
    struct fm_el_listener *l = &listeners[listener];
    struct client *c = client_count < CLIENTS_MAX ? fm_el_pool_alloc(sizeof(*c)) : NULL;
    if (!c)
        return NULL;
    memset(c, 0, sizeof(*c));
    c->fd = fd;
    c->listener = listener;
    c->kind = l->kind;
    c->limit = l->options.queue_limit_bytes;
    c->monitor.datagram_max = l->options.datagram_bytes_max;
    c->monitor.singles = l->options.monitor_singles;
    c->expires_ns = UINT64_MAX;
    if (l->token[0])
        c->expires_ns = fm_el_clock_ns() + TOKEN_WAIT_S * UINT64_C(1000000000);
    pthread_mutex_lock(&mutex);
    c->next = clients;
    clients = c;
    client_count++;
    pthread_mutex_unlock(&mutex);
    if (!l->token[0] && atomic_load(&fm_el.running))
        send_state(c, true, 0);
    return c;
}

static void client_free(struct client *c)
{
    while (c->head)
        dequeue(c);
    if (c->kind != FM_EL_UDP)
        close(c->fd);
    fm_el_bytes_done(&c->out);
    fm_el_pool_free(c, sizeof(*c));
}

static void remove_dead(void)
{
    pthread_mutex_lock(&mutex);
    bool any = false;
    for (struct client **at = &clients; *at;) {
        struct client *c = *at;
        if (!c->dead) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        client_count--;
        client_free(c);
        any = true;
    }
    if (any) {
        update_on();
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    if (any)
        fm_el_update_active();
}

/* ---- sending ----------------------------------------------------------------------------------
 */

/* Bytes of the connection; false = no more for now (or dead). */
static bool send_some(struct client *c, const unsigned char *data, size_t bytes, size_t *at)
{
    while (*at < bytes) {
        ssize_t n = send(c->fd, data + *at, bytes - *at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            *at += (size_t)n;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else {
            c->dead = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
            return false;
        }
    }
    return true;
}

static bool send_datagrams(struct client *c)
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
        c->out_at += 4 + n; /* refused by nobody listening: its time will run out */
        round += n;
        if (round > OUT_BYTES && c->out_at < c->out.used)
            break;
    }
    if (c->out_at < c->out.used || round > 0) /* a pause lets the receiver keep up */
        c->quiet_ns = fm_el_clock_ns() + 1000000;
    return c->out_at == c->out.used;
}

static bool send_out(struct client *c)
{
    bool ok = c->kind == FM_EL_UDP ? send_datagrams(c)
                                   : send_some(c, c->out.data, c->out.used, &c->out_at);
    if (ok) {
        c->out.used = c->out_at = 0;
        c->out.failed = false;
    }
    return ok;
}

/* The block at the head of the queue: nobody else touches it once it is there. */
static struct shared *head_block(struct client *c)
{
    pthread_mutex_lock(&mutex);
    struct shared *s = c->head ? c->head->block : NULL;
    pthread_mutex_unlock(&mutex);
    return s;
}

static void next_block(struct client *c)
{
    pthread_mutex_lock(&mutex);
    uint64_t gap_ns = c->head->block->gap_ns;
    dequeue(c);
    pthread_mutex_unlock(&mutex);
    c->at = 0;
    c->greeted = true;
    if (gap_ns && !c->dead)
        send_state(c, false, gap_ns);
}

static void send_plain(struct client *c)
{
    struct shared *s;
    while (!c->dead && (s = head_block(c))) {
        /* answers stand between blocks, and nothing before the header */
        if (c->at == 0 && c->greeted && c->out.used && !send_out(c))
            return;
        if (!send_some(c, s->data, s->bytes, &c->at))
            return;
        next_block(c);
    }
    if (!c->dead && c->greeted && c->out.used)
        send_out(c);
}

static void send_messages(struct client *c)
{
    while (!c->dead) {
        if (c->out.used && !send_out(c))
            return;
        if (c->kind == FM_EL_UDP && c->quiet_ns > fm_el_clock_ns())
            return;
        struct shared *s = head_block(c);
        if (!s)
            return;
        while (c->at < s->bytes && c->out.used < OUT_BYTES)
            fm_el_monitor_event(&c->monitor, s->data, s->bytes, &c->at, &c->out);
        if (c->out.failed)
            c->dead = true;
        if (c->at == s->bytes)
            next_block(c);
    }
}

/* ---- receiving --------------------------------------------------------------------------------
 */

static void set_paused(struct client *c, bool paused)
{
    pthread_mutex_lock(&mutex);
    bool was = c->paused;
    c->paused = paused;
    pthread_mutex_unlock(&mutex);
    if (was != paused && c->kind != FM_EL_PLAIN && c->ready) { /* told by the state, as ever */
        fm_el_state_lock();
        fm_el_monitor_state(&c->monitor, &c->out);
        fm_el_state_unlock();
    }
}

static bool token_is(const struct client *c, const struct fm_el_command *cmd)
{
    const char *token = listeners[c->listener].token;
    size_t n = strlen(token);
    if (cmd->name_bytes != n + 6 || memcmp(cmd->name, "token=", 6) != 0)
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; i < n; i++) /* takes as long whatever differs */
        differs |= (unsigned char)(token[i] ^ cmd->name[6 + i]);
    return differs == 0;
}

static uint8_t run_builtin(struct client *c, uint8_t number)
{
    if (number == 1)
        return fm_el_lanes_flush(100) == 0 ? FM_EVENTLOG_ANSWER_OK : FM_EVENTLOG_ANSWER_REFUSED;
    if (number != 2 && number != 3)
        return FM_EVENTLOG_ANSWER_UNKNOWN_NUMBER;
    set_paused(c, number == 2);
    return FM_EVENTLOG_ANSWER_OK;
}

static void run_command(struct client *c, const struct fm_el_command *cmd)
{
    uint8_t status;
    bool waits = c->expires_ns != UINT64_MAX && c->kind != FM_EL_UDP;
    bool needs = listeners[c->listener].token[0] && !c->ready;
    if (needs && token_is(c, cmd)) {
        if (waits)
            c->expires_ns = UINT64_MAX;
        if (atomic_load(&fm_el.running))
            send_state(c, true, 0);
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
    if (c->out.used > OUT_BYTES && c->kind == FM_EL_PLAIN) /* asks and never reads the answers */
        c->dead = true;
}

static void feed_control(struct client *c, const unsigned char *data, size_t bytes)
{
    struct fm_el_command cmd;
    for (size_t i = 0; i < bytes && !c->dead; i++)
        if (fm_el_control_feed(&c->control, data[i], &cmd))
            run_command(c, &cmd);
}

/* Frames of the monitor's clients; a length that cannot be one begins a control message. */
static void feed_frames(struct client *c, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && !c->dead; i++) {
        bool pause;
        if (c->control.state > 0 || (c->length_got == 0 && c->frame_left == 0 && data[i] == 0xF0)) {
            feed_control(c, &data[i], 1);
            continue;
        }
        if (c->frame_left == 0) {
            c->frame[c->length_got++] = data[i];
            if (c->length_got < 4)
                continue;
            c->frame_left = fm_el_get32(c->frame);
            c->frame_got = 0;
            c->length_got = 0;
            c->dead = c->frame_left == 0 || c->frame_left > FM_EL_FRAME_MAX;
            continue;
        }
        if (c->frame_got < sizeof(c->frame))
            c->frame[c->frame_got++] = data[i];
        if (--c->frame_left > 0)
            continue;
        if (!c->ready)
            c->dead = listeners[c->listener].token[0] != '\0';
        else if (fm_el_monitor_service(c->frame, c->frame_got, &pause))
            set_paused(c, pause);
        else
            c->dead = true; /* nothing else may come from a client */
    }
}

static void receive(struct client *c)
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

static struct client *peer_of(unsigned listener, const struct sockaddr_storage *from,
                              socklen_t size)
{
    for (struct client *c = clients; c; c = c->next)
        if (c->listener == listener && c->peer_size == size && memcmp(&c->peer, from, size) == 0)
            return c;
    return NULL;
}

static unsigned clients_of(unsigned listener)
{
    unsigned n = 0;
    for (struct client *c = clients; c; c = c->next)
        n += c->listener == listener && !c->dead;
    return n;
}

static void receive_datagrams(unsigned listener)
{
    struct fm_el_listener *l = &listeners[listener];
    for (int i = 0; i < 64; i++) {
        unsigned char data[2048];
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof(from);
        ssize_t n =
            recvfrom(l->fd, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from, &size);
        if (n < 0)
            return;
        struct client *c = peer_of(listener, &from, size);
        bool pause;
        if (!c && clients_of(listener) < l->options.clients_max &&
            (c = client_new(listener, l->fd))) {
            c->peer = from;
            c->peer_size = size;
        }
        if (!c)
            continue;
        c->expires_ns =
            fm_el_clock_ns() + (c->ready ? PEER_LIFE_S : TOKEN_WAIT_S) * UINT64_C(1000000000);
        if (n > 0 && data[0] == 0xF0)
            feed_control(c, data, (size_t)n);
        else if (c->ready && fm_el_monitor_service(data, (size_t)n, &pause))
            set_paused(c, pause);
    }
}

static void accept_clients(unsigned listener)
{
    struct fm_el_listener *l = &listeners[listener];
    for (int i = 0; i < 16; i++) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (clients_of(listener) >= l->options.clients_max || !client_new(listener, fd))
            close(fd);
    }
}

/* ---- one round of the service thread -----------------------------------------------------------
 */

static bool wants_to_send(const struct client *c)
{
    return c->head || c->out.used;
}

nfds_t fm_el_clients_poll(struct pollfd *fds, unsigned max, int *wait_ms)
{
    nfds_t n = 0;
    uint64_t now = fm_el_clock_ns(), next = UINT64_MAX;
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++)
        fds[n++] =
            (struct pollfd){.fd = listeners[i].used ? listeners[i].fd : -1, .events = POLLIN};
    for (struct client *c = clients; c && n < max; c = c->next) {
        short events = POLLIN;
        if (c->kind == FM_EL_UDP) {
            if (wants_to_send(c))
                next = c->quiet_ns < next ? c->quiet_ns : next;
            events = 0;
        } else if (wants_to_send(c)) {
            events |= POLLOUT;
        }
        next = c->expires_ns < next ? c->expires_ns : next;
        fds[n++] = (struct pollfd){.fd = c->kind == FM_EL_UDP ? -1 : c->fd, .events = events};
    }
    pthread_mutex_unlock(&mutex);
    *wait_ms = -1;
    if (next != UINT64_MAX) {
        uint64_t ms = next > now ? (next - now + 999999) / 1000000 : 0;
        *wait_ms = ms < 60000 ? (int)ms : 60000;
    }
    return n;
}

static void close_listener(unsigned i)
{
    struct fm_el_listener *l = &listeners[i];
    for (struct client *c = clients; c; c = c->next)
        if (c->listener == i)
            c->dead = true;
    remove_dead();
    pthread_mutex_lock(&mutex);
    close(l->fd);
    if (l->path[0])
        unlink(l->path);
    *l = (struct fm_el_listener){.fd = -1};
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void serve_listeners(const struct pollfd *fds)
{
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++) {
        pthread_mutex_lock(&mutex);
        bool used = listeners[i].used, closing = listeners[i].closing;
        bool udp = listeners[i].kind == FM_EL_UDP;
        pthread_mutex_unlock(&mutex);
        if (closing)
            close_listener(i);
        else if (used && fds[i].fd >= 0 && fds[i].revents && udp)
            receive_datagrams(i);
        else if (used && fds[i].fd >= 0 && fds[i].revents)
            accept_clients(i);
    }
}

void fm_el_clients_serve(const struct pollfd *fds, unsigned count)
{
    unsigned n = FM_EL_LISTENERS_MAX;
    uint64_t now = fm_el_clock_ns();
    for (struct client *c = clients; c && n < count; c = c->next, n++) {
        if (c->kind != FM_EL_UDP && fds[n].revents & (POLLIN | POLLHUP | POLLERR))
            receive(c);
        if (now >= c->expires_ns)
            c->dead = true;
        if (!c->dead && c->kind == FM_EL_PLAIN)
            send_plain(c);
        else if (!c->dead)
            send_messages(c);
        pthread_mutex_lock(&mutex);
        if (c->cut || (c->ending && !wants_to_send(c)))
            c->dead = true;
        pthread_mutex_unlock(&mutex);
    }
    remove_dead();
    serve_listeners(fds);
    if (atomic_load(&fm_el.running)) /* those that came while the log was stopped */
        for (struct client *c = clients; c; c = c->next)
            if (!c->ready && !listeners[c->listener].token[0])
                send_state(c, true, 0);
}

/* ---- calls of the program ----------------------------------------------------------------------
 */

static int wait_first(uint64_t before, int timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + (int64_t)timeout_ms * 1000000;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int result = 0;
    pthread_mutex_lock(&mutex);
    while (served == before && result == 0)
        result = timeout_ms ? -pthread_cond_timedwait(&changed, &mutex, &until)
                            : -pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return result;
}

int fm_eventlog_listen(const char *address, const struct fm_eventlog_listen_options *opts)
{
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    fm_el_clock_init();
    struct fm_el_listener l;
    int result = fm_el_listener_open(&l, address, opts);
    uint64_t served_before = 0;
    if (result == 0) {
        int number = -EMFILE;
        pthread_mutex_lock(&mutex);
        for (unsigned i = 0; i < FM_EL_LISTENERS_MAX && number < 0; i++) {
            if (listeners[i].used)
                continue;
            listeners[i] = l;
            listeners[i].options.token = NULL; /* the copy in token counts */
            number = (int)i;
        }
        served_before = served;
        pthread_mutex_unlock(&mutex);
        result = number;
        if (number < 0) {
            close(l.fd);
            if (l.path[0])
                unlink(l.path);
        }
    }
    if (result >= 0) {
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
    if (listener < 0 || listener >= (int)FM_EL_LISTENERS_MAX)
        return -EINVAL;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&mutex);
    int port = listeners[listener].used ? listeners[listener].port : -EINVAL;
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
    return port;
}

int fm_eventlog_unlisten(int listener)
{
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    if (listener < 0 || listener >= (int)FM_EL_LISTENERS_MAX)
        return -EINVAL;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&mutex);
    bool used = listeners[listener].used;
    listeners[listener].closing = used;
    pthread_mutex_unlock(&mutex);
    fm_el_service_wake();
    pthread_mutex_lock(&mutex);
    while (listeners[listener].closing)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
    return used ? 0 : -EINVAL;
}

/* Each client gets the end mark behind what waits for it; who does not read is cut off. */
void fm_el_clients_stop(int timeout_ms)
{
    static const unsigned char mark[2] = {0xFF, 0xFF};
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ms / 1000;
    pthread_mutex_lock(&mutex);
    for (struct client *c = clients; c; c = c->next) {
        if (c->ready && !c->ending) {
            enqueue_gap(c, NULL);
            enqueue(c, shared_new(mark, sizeof(mark), 0), false);
        }
        c->ending = true;
    }
    atomic_store(&fm_el.clients_on, 0);
    pthread_mutex_unlock(&mutex);
    fm_el_service_wake();
    pthread_mutex_lock(&mutex);
    while (clients && pthread_cond_timedwait(&changed, &mutex, &until) == 0)
        ;
    for (struct client *c = clients; c; c = c->next)
        c->cut = true;
    bool any = clients != NULL;
    pthread_mutex_unlock(&mutex);
    if (any)
        fm_el_service_wake();
}

void fm_el_clients_stats(struct fm_eventlog_stats *s)
{
    pthread_mutex_lock(&mutex);
    for (struct client *c = clients; c; c = c->next)
        s->clients += c->ready;
    pthread_mutex_unlock(&mutex);
    s->client_events = atomic_load(&given_events);
    s->client_dropped_events = atomic_load(&dropped_events);
}

/* ---- fork --------------------------------------------------------------------------------------
 */

void fm_el_clients_fork_lock(void)
{
    fm_el_service_fork_lock();
    pthread_mutex_lock(&mutex);
}

void fm_el_clients_fork_unlock(void)
{
    pthread_mutex_unlock(&mutex);
    fm_el_service_fork_unlock();
}

/* Connections and sockets are the parent's; only the copies of the descriptors are closed. */
void fm_el_clients_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&changed, NULL);
    while (clients) {
        struct client *c = clients;
        clients = c->next;
        client_free(c);
    }
    client_count = 0;
    for (unsigned i = 0; i < FM_EL_LISTENERS_MAX; i++) {
        if (listeners[i].used)
            close(listeners[i].fd);
        listeners[i] = (struct fm_el_listener){.fd = -1};
    }
    atomic_store(&fm_el.clients_on, 0);
    fm_el_control_after_fork();
    fm_el_service_after_fork();
}
