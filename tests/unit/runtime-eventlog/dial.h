/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of a log that this process serves. */
#pragma once
#include "check.h"

#include <sys/types.h>

extern int listener;
extern char *socket_path;
/* Starts the log and serves it; address NULL = a Unix socket of its own. */
void serve(const char *address, const void *listen_options, size_t buffer);
void serve_end(void);
int dial_unix(void);
int dial_inet(int type); /* SOCK_STREAM or SOCK_DGRAM, to the port of the listener */
void wait_clients(unsigned n);
/* Everything to the end of the stream, or until at least enough bytes are there. */
void read_on(int fd, GByteArray *all, size_t enough);

struct reading {
    int fd;
    GByteArray *all;
};
gpointer read_to_end(gpointer reading); /* a GThreadFunc; closes fd */
/* Stops the log while the clients read, and checks what each has got. */
void finish_reading(struct reading *r, unsigned n, struct check **ret);
void control(GByteArray *out, uint8_t version, const char *name, uint8_t number);
void send_all(int fd, const uint8_t *data, size_t n, size_t piece);
