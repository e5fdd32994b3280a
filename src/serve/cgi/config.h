/* SPDX-License-Identifier: Apache-2.0 */
/* The administrator's configuration: the environment of the web server and a configuration file. A
 * request can set none of it (request headers arrive as HTTP_*, which nobody reads here). */
#pragma once

#include "serve/cgi/cgi.h"

struct fm_cgi_config {
    struct fm_roots *roots; /* the folders that exist */
    char *runtime_dir;
    char *log_path;
    enum fm_cgi_log_level log_level;
    bool log_asked;       /* a level of recording was named: it goes somewhere */
    uint64_t idle_ms;     /* 0 = the default */
    uint64_t patience_ms; /* 0 = the default */
    unsigned servers_max; /* 0 = the default */
    uint64_t memory_max;  /* bytes, 0 = the default */
};

/* Reads FATHOM_ROOT, FATHOM_RUNTIME and the configuration file (FATHOM_CGI_CONFIG, else
 * /etc/fathom/cgi.conf); the environment wins. A missing default file is no error. */
FM_MUST_USE bool fm_cgi_config_read(struct fm_cgi_config *ret, GError **error);
void fm_cgi_config_clear(struct fm_cgi_config *config);

/* The canonical path of a data file that a request names: an existing regular file, its name
 * ending in ".data" (or ".data.localhost", which said that links lead to this host: they are
 * relative now), below a root after all links are followed; to be opened beneath the roots only.
 * Errors: FM_ERROR_USAGE (not a name at all), FM_ERROR_NOT_FOUND (nothing there that may be opened;
 * the same for what is outside, so nothing is told about it). */
char *fm_cgi_config_resolve(const struct fm_cgi_config *config, const char *name, GError **error);
