/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that tools/embed_assets.py writes. */
#pragma once

#include <stddef.h>

struct embedded_asset {
    const char *name;
    const char *data;
    size_t size;
    const char *etag; /* the first 16 digits of the SHA-256 of data */
};

extern const struct embedded_asset fm_embedded_assets[];
extern const size_t fm_embedded_asset_count;
extern const char *const fm_embedded_asset_names[]; /* ended by NULL */
