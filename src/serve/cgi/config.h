/* SPDX-License-Identifier: Apache-2.0 */
/* The administrator's configuration: the web server's environment and a configuration file. A
 * request cannot change it (request headers arrive as HTTP_*, which are not read here). */
#pragma once

#include "serve/cgi/cgi.h"

struct fm_cgi_config {
    struct fm_roots *roots; /* the folders that exist */
    char *runtime_dir;
    char *log_path;
    enum fm_cgi_log_level log_level;
    bool log_asked;       /* a log level was set, so there must be a log */
    uint64_t idle_ms;     /* 0 = the default */
    uint64_t patience_ms; /* 0 = the default */
    unsigned servers_max; /* 0 = the default */
    uint64_t memory_max;  /* bytes, 0 = the default */
};

/* Reads FATHOM_ROOT, FATHOM_RUNTIME and the configuration file (FATHOM_CGI_CONFIG, else
 * /etc/fathom/cgi.conf); the environment wins. A missing default file is no error. */
FM_MUST_USE bool fm_cgi_config_read(struct fm_cgi_config *ret, GError **error);
void fm_cgi_config_done(struct fm_cgi_config *config);

/* The canonical path of a data file named in a request. It must be an existing regular file whose
 * name ends in ".data", and be below a root after all links are followed; open it beneath the roots
 * only. The old ending ".data.localhost" is accepted, too. Errors: FM_ERROR_USAGE (not a name at
 * all), FM_ERROR_NOT_FOUND (no such file that may be opened; the same for files outside, so that
 * nothing is revealed about them). */
char *fm_cgi_config_resolve(const struct fm_cgi_config *config, const char *name, GError **error);
