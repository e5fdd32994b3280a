/* SPDX-License-Identifier: Apache-2.0 */
/* Parses addresses and opens listening sockets. */
#include "clients/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, a, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    struct sockaddr_in6 in6;
    memcpy(&in6, a, sizeof(in6));
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

/* Removes the socket file of a dead program, but not one that is being served. */
static int remove_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int rc = connect(fd, (const struct sockaddr *)address, sizeof(*address));
    int error = errno;
    close(fd);
    if (rc == 0)
        return -EADDRINUSE;
    struct stat st;
    if (error == ECONNREFUSED && lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode))
        return unlink(address->sun_path) == 0 ? 0 : -errno;
    return -EADDRINUSE;
}

static int open_unix(struct fm_el_listener *l, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path[0] == '\0')
        return -EINVAL;
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return -errno;
    fchmod(l->fd, 0600); /* the file gets this mode when bind creates it, so it is never accessible
                            to others */
    int rc = bind(l->fd, (const struct sockaddr *)&address, sizeof(address));
    if (rc != 0 && errno == EADDRINUSE) {
        int stale = remove_stale(&address);
        if (stale != 0)
            return stale;
        rc = bind(l->fd, (const struct sockaddr *)&address, sizeof(address));
    }
    if (rc != 0)
        return -errno;
    memcpy(l->path, address.sun_path, sizeof(l->path));
    if (chmod(path, 0600) != 0 || listen(l->fd, 16) != 0)
        return -errno;
    return 0;
}

static int bind_one(struct fm_el_listener *l, const struct addrinfo *a)
{
    if (!is_loopback(a->ai_addr) && !l->options.token)
        return -EACCES;
    l->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (l->fd < 0)
        return -errno;
    int one = 1;
    if (l->kind != FM_EL_UDP)
        setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(l->fd, a->ai_addr, a->ai_addrlen) != 0 ||
        (l->kind != FM_EL_UDP && listen(l->fd, 16) != 0)) {
        int error = errno;
        close(l->fd);
        l->fd = -1;
        return -error;
    }
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof(bound);
    if (getsockname(l->fd, (struct sockaddr *)&bound, &size) != 0)
        return -errno;
    in_port_t port; /* at the same offset in both address families */
    memcpy(&port, (const char *)&bound + offsetof(struct sockaddr_in, sin_port), sizeof(port));
    l->port = ntohs(port);
    return 0;
}

/* Only digits, up to 65535: getaddrinfo would take a port modulo 65536. */
static bool is_port(const char *text)
{
    unsigned long port = 0;
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n] != '\0')
        return false;
    for (size_t i = 0; i < n && port <= 65535; i++)
        port = port * 10 + (unsigned long)(text[i] - '0');
    return port <= 65535;
}

static int open_inet(struct fm_el_listener *l, const char *host_port)
{
    char host[256];
    const char *colon = strrchr(host_port, ':');
    size_t n = colon ? (size_t)(colon - host_port) : 0;
    if (n == 0 || n >= sizeof(host) || !is_port(colon + 1))
        return -EINVAL;
    if (host_port[0] == '[' && host_port[n - 1] == ']') {
        host_port++;
        n -= 2;
    }
    memcpy(host, host_port, n);
    host[n] = '\0';
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                             .ai_socktype = l->kind == FM_EL_UDP ? SOCK_DGRAM : SOCK_STREAM};
    struct addrinfo *found;
    int rc = getaddrinfo(host, colon + 1, &hints, &found);
    if (rc != 0)
        return rc == EAI_SYSTEM ? -errno : -EADDRNOTAVAIL;
    int result = -EADDRNOTAVAIL;
    for (const struct addrinfo *a = found; a && result != 0; a = a->ai_next)
        result = bind_one(l, a);
    freeaddrinfo(found);
    return result;
}

int fm_el_listener_open(struct fm_el_listener *l, const char *address,
                        const struct fm_eventlog_listen_options *options)
{
    *l = (struct fm_el_listener){.fd = -1};
    if (options)
        l->options = *options;
    if (l->options.token) {
        if (strlen(l->options.token) > FM_EL_TOKEN_MAX || l->options.token[0] == '\0')
            return -EINVAL;
        strncpy(l->token, l->options.token, FM_EL_TOKEN_MAX);
        l->options.token = l->token;
    }
    if (l->options.queue_limit_bytes == 0)
        l->options.queue_limit_bytes = 16u << 20;
    if (l->options.clients_max == 0)
        l->options.clients_max = 16;
    int result = -EINVAL;
    if (strncmp(address, "unix:", 5) == 0) {
        result = open_unix(l, address + 5);
    } else if (strncmp(address, "tcp:", 4) == 0) {
        result = open_inet(l, address + 4);
    } else if (strncmp(address, "monitor:", 8) == 0) {
        l->kind = FM_EL_MONITOR;
        result = open_inet(l, address + 8);
    } else if (strncmp(address, "udp:", 4) == 0) {
        l->kind = FM_EL_UDP;
        if (l->options.datagram_bytes_max == 0)
            l->options.datagram_bytes_max = 1400;
        result = open_inet(l, address + 4);
    }
    if (result != 0 && l->fd >= 0) {
        close(l->fd);
        l->fd = -1;
    }
    l->used = result == 0;
    return result;
}
