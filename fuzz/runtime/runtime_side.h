/* SPDX-License-Identifier: Apache-2.0 */
/* The event log runtime's own parsers and writers, for fuzz targets. Its header and that of the
 * reading side have names in common, so targets include only this one. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum side_said { SIDE_COMMAND, SIDE_PAUSE, SIDE_RESUME, SIDE_NONSENSE, SIDE_TOO_LONG };

/* name: not NUL-terminated; only with SIDE_COMMAND. */
typedef void side_take(void *user, enum side_said said, uint8_t version, const char *name,
                       size_t name_bytes, uint8_t number);

/* Parses input of a plain client, and of a monitor's client. */
void side_control(const uint8_t *data, size_t size, side_take *take, void *user);
void side_frames(const uint8_t *data, size_t size, side_take *take, void *user);

/* Encodes the frames of a header and of one block of binary messages: payloads of sizes[i] bytes,
 * one after the other in data. *ret belongs to the caller: side_free. */
uint8_t *side_monitor(const uint8_t *data, const uint16_t *sizes, unsigned count,
                      size_t datagram_max, int singles, size_t *ret_size);
void side_free(uint8_t *bytes);
