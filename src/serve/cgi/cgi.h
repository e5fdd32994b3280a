/* SPDX-License-Identifier: Apache-2.0 */
/* The CGI program that becomes a server. The first page of a data file loads it and forks a server
 * that answers the next pages from memory; it goes away when it has been idle. The protocol, its
 * files and its steps (C1.., S1.., T0..): README.md in this folder. */
#pragma once

#include "base/files/roots.h"
#include "serve/serve.h"

enum fm_cgi_work {
    FM_CGI_WORK_MORE,
    FM_CGI_WORK_DONE,  /* all is known, or was before */
    FM_CGI_WORK_FAILED /* more will never be known */
};

/* The source of answers: the deep profile pages, or a test's own. */
struct fm_cgi_backend {
    void *user;
    /* Opens the data file; called once, before all else. */
    bool (*load)(void *user, const char *path, GError **error);
    /* Goes on reading it for some milliseconds. NULL: load does it all. */
    enum fm_cgi_work (*work)(void *user);
    /* Answers by what is known so far. */
    void (*handle)(void *user, const struct fm_request *request, struct fm_response *ret);
};

enum fm_cgi_log_level { FM_CGI_LOG_NONE, FM_CGI_LOG_ERRORS, FM_CGI_LOG_STARTUP, FM_CGI_LOG_ALL };

struct fm_cgi_options {
    const char *runtime_dir; /* NULL: $XDG_RUNTIME_DIR/fathom, else /tmp/fathom-<euid> */
    uint64_t idle_ms;        /* a server without requests ends after this; 0 = 30 minutes */
    uint64_t deadline_ms;    /* a client answers within this; 0 = 60 s */
    uint64_t reply_ms;       /* a reply that nobody reads is dropped after this; 0 = 10 s */
    uint64_t patience_ms;    /* the first page waits so long for the whole file; 0 = 1 s */
    bool inhibit_fork;       /* answer and end: nothing is left behind */
    bool foreground;         /* become the server without forking, after the first answer */
    unsigned servers_max;    /* living at a time, of all files; 0 = 32 */
    uint64_t memory_max;     /* bytes, of all servers; 0 = half of the machine's */
    struct fm_roots *roots;  /* the data file is opened beneath them; NULL = anywhere */
    const char *log_path;    /* NULL: no file, unless the next */
    bool log_in_runtime;     /* without log_path: cgi.log in the runtime directory */
    bool log_on_stderr;      /* all of it; errors go there anyway */
    enum fm_cgi_log_level log_level;
    const char *build_id; /* identity of the program: a new one gets a fresh server */
};

/* Answers one request about the data file at path (canonical, already allowed) on out_fd: from a
 * server if one lives, else by loading the file and becoming one. A page that would take longer
 * than the patience is made of what is known, and the server reads on; without a server it is
 * whole. Something is always printed: an error page when nothing else is possible. The forked
 * server never returns from here. Returns an exit status. */
int fm_cgi_answer(const struct fm_cgi_options *options, const struct fm_cgi_backend *backend,
                  const char *path, const struct fm_request *request, int out_fd);

/* A request that only a living server can fulfil, as its time-out: without one, nothing is loaded,
 * and without_server is the answer, of that status. */
int fm_cgi_command(const struct fm_cgi_options *options, const char *path,
                   const struct fm_request *request, unsigned without_status,
                   const char *without_server, int out_fd);

/* Tells the servers of a data file to end, of other builds too; prints what came of it. */
int fm_cgi_quit(const struct fm_cgi_options *options, const char *path,
                const struct fm_request *request, int out_fd);

/* Writes a response as a CGI program does: Status, headers, body. False when the reader went. */
bool fm_cgi_print(int fd, const struct fm_request *request, const struct fm_response *response);

/* The servers that live, a line each below a head: process, memory, idle time, owner, file. Of the
 * runtime directory, or (NULL) of all usual ones that can be read. Returns how many. */
unsigned fm_cgi_list(const char *runtime_dir, GString *out);
/* How many of them serve a file (its path without links), and the same after they were told to end:
 * by a signal, which root may send those of other users. Waits until they have. */
unsigned fm_cgi_servers_of(const char *runtime_dir, const char *path);
unsigned fm_cgi_end_servers_of(const char *runtime_dir, const char *path);
/* The runtime directory of this user, which need not be there; g_free(). */
char *fm_cgi_directory_path(const char *configured);

/* Closes what the web server left open to us beyond the standard streams: a server that outlives it
 * would keep its sockets. For the begin of a program, before it opens anything. */
void fm_cgi_close_inherited(void);
