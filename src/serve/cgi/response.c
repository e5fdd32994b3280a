/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "serve/cgi/internal.h"
#include "serve/response.h"

static bool write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t wrote = write(fd, at, size);
        if (wrote < 0 && errno == EAGAIN) {
            struct pollfd polled = {fd, POLLOUT, 0};
            poll(&polled, 1, -1);
        } else if (wrote < 0 && errno != EINTR) {
            return false;
        } else if (wrote > 0) {
            at += wrote;
            size -= (size_t)wrote;
        }
    }
    return true;
}

bool fm_cgi_print(int fd, const struct fm_request *request, const struct fm_response *response)
{
    g_assert(fd >= 0 && response->body != NULL);
    g_autoptr(GString) head = g_string_new(NULL);
    fm_response_headers(response, head);
    size_t size;
    const void *body = g_bytes_get_data(response->body, &size);
    g_string_append_printf(head, "Content-Length: %zu\r\n\r\n", size);
    if (strcmp(request->method, "HEAD") == 0)
        size = 0;
    return write_all(fd, head->str, head->len) && write_all(fd, body, size);
}
