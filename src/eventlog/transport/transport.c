/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

enum { RETRY_MS = 50, BACKLOG = 16, DATAGRAM_BUFFER = 4 << 20 };

static const struct {
    const char *prefix;
    enum fm_transport_kind kind;
} kinds[] = {
    {"unix:", FM_TRANSPORT_UNIX},
    {"tcp:", FM_TRANSPORT_TCP},
    {"monitor:", FM_TRANSPORT_MONITOR},
    {"udp:", FM_TRANSPORT_UDP},
};

bool fm_transport_is_address(const char *text)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (g_str_has_prefix(text, kinds[i].prefix))
            return true;
    }
    return false;
}

static bool bad_address(const char *text, const char *expected, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "'%s' is not an address; expected %s", text,
                expected);
    return false;
}

bool fm_transport_parse(const char *text, struct fm_transport_address *ret, GError **error)
{
    *ret = (struct fm_transport_address){0};
    size_t i = 0;
    while (i < G_N_ELEMENTS(kinds) && !g_str_has_prefix(text, kinds[i].prefix))
        i++;
    if (i == G_N_ELEMENTS(kinds))
        return bad_address(text, "unix:PATH, tcp:, monitor: or udp:HOST:PORT", error);
    ret->kind = kinds[i].kind;
    const char *rest = text + strlen(kinds[i].prefix);
    if (ret->kind == FM_TRANSPORT_UNIX) {
        struct sockaddr_un address;
        if (*rest == '\0' || strlen(rest) >= sizeof address.sun_path)
            return bad_address(text, "unix:PATH with a path of 1 to 107 bytes", error);
        ret->path = g_strdup(rest);
        return true;
    }
    const char *colon = strrchr(rest, ':');
    guint64 port;
    if (colon == NULL || colon == rest ||
        !g_ascii_string_to_unsigned(colon + 1, 10, 0, 65535, &port, NULL))
        return bad_address(text, "HOST:PORT with a port up to 65535", error);
    bool brackets = rest[0] == '[' && colon[-1] == ']' && colon - rest > 2;
    if (!brackets && memchr(rest, ':', (size_t)(colon - rest)) != NULL)
        return bad_address(text, "an IPv6 host in brackets", error);
    ret->host = brackets ? g_strndup(rest + 1, (gsize)(colon - rest - 2))
                         : g_strndup(rest, (gsize)(colon - rest));
    ret->port = (uint16_t)port;
    return true;
}

void fm_transport_done(struct fm_transport_address *address)
{
    g_clear_pointer(&address->path, g_free);
    g_clear_pointer(&address->host, g_free);
}

/* Resolves an address; free with freeaddrinfo(). */
static struct addrinfo *resolve(const struct fm_transport_address *address, GError **error)
{
    struct addrinfo hints = {
        .ai_socktype = address->kind == FM_TRANSPORT_UDP ? SOCK_DGRAM : SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV,
    };
    struct addrinfo *found = NULL;
    g_autofree char *port = g_strdup_printf("%u", address->port);
    int failed = getaddrinfo(address->host, port, &hints, &found);
    if (failed == 0)
        return found;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", address->host, gai_strerror(failed));
    return NULL;
}

static struct sockaddr_un unix_address(const char *path)
{
    struct sockaddr_un ret = {.sun_family = AF_UNIX};
    g_strlcpy(ret.sun_path, path, sizeof ret.sun_path);
    return ret;
}

/* Tries once; -1 with errno. */
static int connect_once(const struct fm_transport_address *address, const struct addrinfo *found)
{
    if (address->kind == FM_TRANSPORT_UNIX) {
        struct sockaddr_un name = unix_address(address->path);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&name, sizeof name) == 0)
            return fd;
        int code = errno;
        if (fd >= 0)
            close(fd);
        errno = code;
        return -1;
    }
    int code = ECONNREFUSED;
    for (; found != NULL; found = found->ai_next) {
        int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
        if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0)
            return fd;
        code = errno;
        if (fd >= 0)
            close(fd);
    }
    errno = code;
    return -1;
}

static bool send_all(int fd, const GByteArray *bytes, GError **error)
{
    for (size_t sent = 0; sent < bytes->len;) {
        ssize_t got = send(fd, bytes->data + sent, bytes->len - sent, MSG_NOSIGNAL);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "cannot send: %s", g_strerror(errno));
            return false;
        }
        sent += (size_t)got;
    }
    return true;
}

static bool send_token(int fd, const char *token, GError **error)
{
    struct fm_control_message message = {.version = FM_CONTROL_SILENT};
    int length = g_snprintf(message.space, sizeof message.space, "token=%s", token);
    if (length > 255) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "the token is over 249 bytes");
        return false;
    }
    message.space_length = (uint8_t)length;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    fm_control_append(bytes, &message, false);
    return send_all(fd, bytes, error);
}

bool fm_transport_announce(int fd, const char *token, GError **error)
{
    /* The service message "pause: no", which has no effect. */
    static const uint8_t hello[] = {0x82, 0x00, 0x82, 0x00, 0xF4};
    if (token != NULL && !send_token(fd, token, error))
        return false;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, hello, sizeof hello);
    return send_all(fd, bytes, error);
}

int fm_transport_connect(const struct fm_transport_address *address, int timeout_ms,
                         const char *token, GError **error)
{
    struct addrinfo *found = NULL;
    if (address->kind != FM_TRANSPORT_UNIX && (found = resolve(address, error)) == NULL)
        return -1;
    gint64 give_up = g_get_monotonic_time() + timeout_ms * G_GINT64_CONSTANT(1000);
    int fd;
    while ((fd = connect_once(address, found)) < 0 && g_get_monotonic_time() < give_up)
        g_usleep(RETRY_MS * 1000UL);
    int code = errno;
    if (found != NULL)
        freeaddrinfo(found);
    if (fd < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot connect: %s",
                    address->path != NULL ? address->path : address->host, g_strerror(code));
        return -1;
    }
    if (address->kind == FM_TRANSPORT_UDP)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){DATAGRAM_BUFFER}, sizeof(int));
    bool told = address->kind == FM_TRANSPORT_UDP ? fm_transport_announce(fd, token, error)
                                                  : token == NULL || send_token(fd, token, error);
    if (told)
        return fd;
    close(fd);
    return -1;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

static int listen_unix(const struct fm_transport_address *address, GError **error)
{
    struct sockaddr_un name = unix_address(address->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int other = connect_once(address, NULL);
    struct stat stat;
    if (other >= 0)
        close(other);
    else if (lstat(address->path, &stat) == 0 && S_ISSOCK(stat.st_mode))
        unlink(address->path);
    /* Sets the mode before anybody can connect. */
    bool good = fd >= 0 && fchmod(fd, 0600) == 0;
    mode_t mask = umask(0177);
    good = good && bind(fd, (const struct sockaddr *)&name, sizeof name) == 0;
    umask(mask);
    if (good && listen(fd, BACKLOG) == 0)
        return fd;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot listen: %s", address->path,
                g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int fm_transport_listen(const struct fm_transport_address *address, const char *token,
                        uint16_t *ret_port, GError **error)
{
    *ret_port = 0;
    if (address->kind == FM_TRANSPORT_UNIX)
        return listen_unix(address, error);
    struct addrinfo *found = resolve(address, error);
    if (found == NULL)
        return -1;
    if (!is_loopback(found->ai_addr) && token == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "%s is not a loopback address: serving others needs a token", address->host);
        freeaddrinfo(found);
        return -1;
    }
    int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
    int one = 1;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {0};
    socklen_t length = sizeof bound;
    bool good = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                (address->kind == FM_TRANSPORT_UDP || listen(fd, BACKLOG) == 0) &&
                getsockname(fd, &bound.any, &length) == 0;
    int code = errno;
    freeaddrinfo(found);
    if (!good) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s:%u: cannot listen: %s", address->host,
                    address->port, g_strerror(code));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_port = ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
    return fd;
}
