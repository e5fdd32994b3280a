/* SPDX-License-Identifier: Apache-2.0 */
#include "dial.h"

#include <arpa/inet.h>
#include <fathom/eventlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/patience.h"

int listener;
char *socket_path;

void serve(const char *address, const void *options, size_t buffer)
{
    struct fm_eventlog_options o = {.buffer_bytes = buffer};
    g_assert_cmpint(fm_eventlog_start(&o), ==, 0);
    g_autofree char *own = NULL;
    if (!address) {
        g_free(socket_path);
        socket_path = temp_path("log.sock");
        address = own = g_strconcat("unix:", socket_path, NULL);
    }
    listener = fm_eventlog_listen(address, options);
    g_assert_cmpint(listener, >=, 0);
}

void serve_end(void)
{
    fm_eventlog_stop();
    g_assert_cmpint(fm_eventlog_unlisten(listener), ==, 0);
}

int dial_unix(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    g_strlcpy(a.sun_path, socket_path, sizeof(a.sun_path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&a, sizeof(a)), ==, 0);
    return fd;
}

int dial_inet(int type)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)fm_eventlog_port(listener)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&a, sizeof(a)), ==, 0);
    return fd;
}

static unsigned clients(void)
{
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    return s.clients;
}

void wait_clients(unsigned n)
{
    check_until(clients() == n);
}

void read_on(int fd, GByteArray *all, size_t enough)
{
    uint8_t piece[16384];
    while (all->len < enough) {
        ssize_t n = recv(fd, piece, sizeof(piece), 0);
        if (n <= 0)
            break;
        g_byte_array_append(all, piece, (guint)n);
    }
}

gpointer read_to_end(gpointer data)
{
    struct reading *r = data;
    read_on(r->fd, r->all, SIZE_MAX);
    close(r->fd);
    return NULL;
}

void finish_reading(struct reading *r, unsigned n, struct check **ret)
{
    GThread *threads[8];
    for (unsigned i = 0; i < n; i++)
        threads[i] = g_thread_new("client", read_to_end, &r[i]);
    serve_end();
    for (unsigned i = 0; i < n; i++) {
        g_thread_join(threads[i]);
        validate_bytes(r[i].all->data, r[i].all->len);
        ret[i] = check_stream(r[i].all->data, r[i].all->len);
        g_assert_true(ret[i]->ended);
        g_byte_array_unref(r[i].all);
    }
}

void control(GByteArray *out, uint8_t version, const char *name, uint8_t number)
{
    static const uint8_t magic[4] = {0xF0, 0x9E, 0x97, 0x8C};
    uint8_t n = (uint8_t)strlen(name);
    g_byte_array_append(out, magic, 4);
    g_byte_array_append(out, &version, 1);
    g_byte_array_append(out, &n, 1);
    g_byte_array_append(out, (const uint8_t *)name, n);
    g_byte_array_append(out, &number, 1);
}

void send_all(int fd, const uint8_t *data, size_t n, size_t piece)
{
    for (size_t at = 0; at < n; at += piece) {
        size_t some = MIN(piece, n - at);
        g_assert_cmpint(send(fd, data + at, some, 0), ==, (ssize_t)some);
    }
}
