/* SPDX-License-Identifier: Apache-2.0 */
/* gzip (RFC 1952) without name or time, so equal input gives equal bytes. */
#pragma once

#include "base/files/writer.h"

struct fm_gzip;
/* out is borrowed; level: 1, fast, to 9, small. */
struct fm_gzip *fm_gzip_new(struct fm_writer *out, int level);
void fm_gzip_write(struct fm_gzip *gzip, const void *bytes, size_t size);
void fm_gzip_finish(struct fm_gzip *gzip); /* ends the stream and frees gzip */
