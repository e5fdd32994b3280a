/* SPDX-License-Identifier: Apache-2.0 */
/* Logs for the browser test: small PATH | open PATH | haskell PATH | bands PATH BANDS | long PATH
 * SPANS | append PATH FROM_NS SPANS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/serve/trace_log.h"

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    if (strcmp(what, "small") == 0 && argc == 3)
        trace_log_write(bytes, true);
    else if (strcmp(what, "open") == 0 && argc == 3)
        trace_log_write(bytes, false);
    else if (strcmp(what, "haskell") == 0 && argc == 3)
        trace_log_write_haskell(bytes);
    else if (strcmp(what, "bands") == 0 && argc == 4)
        trace_log_write_bands(bytes, (unsigned)strtoul(argv[3], NULL, 10), 4);
    else if (strcmp(what, "long") == 0 && argc == 4)
        trace_log_write_long(bytes, 1, (unsigned)strtoul(argv[3], NULL, 10));
    else if (strcmp(what, "append") == 0 && argc == 5) {
        trace_log_append(bytes, strtoull(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10));
        flags = O_WRONLY | O_APPEND | O_CLOEXEC;
    } else {
        fprintf(stderr, "usage: make_trace small|open|haskell|bands|long|append PATH...\n");
        return 2;
    }
    int fd = open(argv[2], flags, 0600);
    size_t done = 0;
    while (fd >= 0 && done < bytes->len) {
        ssize_t wrote = write(fd, bytes->data + done, bytes->len - done);
        if (wrote <= 0)
            return 1;
        done += (size_t)wrote;
    }
    return fd < 0 || close(fd) != 0;
}
