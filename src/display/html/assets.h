/* SPDX-License-Identifier: Apache-2.0 */
/* The files of web/: stylesheet and scripts, embedded in the program by tools/embed_assets.py. */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct fm_asset {
    GBytes *data;     /* owned: fm_asset_done() */
    char *etag;       /* owned; without quotes */
    const char *type; /* "text/css; charset=utf-8" */
};

/* name: the path below web/, "style.css". False and *ret untouched when there is no such file. Any
 * bytes may be asked for: no name leads out of the folder. */
bool fm_asset_get(const char *name, struct fm_asset *ret);
void fm_asset_done(struct fm_asset *asset);

/* For development: files are read from this folder at each request, the embedded ones are not
 * used. NULL = back to the embedded ones. Call it before threads ask for assets. */
void fm_assets_set_folder(const char *folder);

/* Names of the embedded files, in order, ended by NULL; static. */
const char *const *fm_asset_names(void);
