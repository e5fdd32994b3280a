/* SPDX-License-Identifier: Apache-2.0 */
/* The CGI program that becomes a server. The first page of a data file loads it and forks a server,
 * which answers the next pages from memory and ends when it has been idle. The protocol, its files
 * and its steps (C1.., S1.., T0..): README.md in this folder. */
#pragma once

#include "base/files/roots.h"
#include "serve/serve.h"

enum fm_cgi_work {
    FM_CGI_WORK_MORE,
    FM_CGI_WORK_DONE,  /* everything is known */
    FM_CGI_WORK_FAILED /* no more can be read */
};

/* The source of answers: the deep profile pages, or a test's own. */
struct fm_cgi_backend {
    void *user;
    /* Opens the data file; called once, before all else. */
    bool (*load)(void *user, const char *path, GError **error);
    /* Reads on for some milliseconds. NULL: load reads everything. */
    enum fm_cgi_work (*work)(void *user);
    /* Answers from what is known so far. */
    void (*handle)(void *user, const struct fm_request *request, struct fm_response *ret);
};

enum fm_cgi_log_level { FM_CGI_LOG_NONE, FM_CGI_LOG_ERRORS, FM_CGI_LOG_STARTUP, FM_CGI_LOG_ALL };

struct fm_cgi_options {
    const char *runtime_dir; /* NULL: $XDG_RUNTIME_DIR/fathom, else /tmp/fathom-<euid> */
    uint64_t idle_ms;        /* a server without requests ends after this; 0 = 30 minutes */
    uint64_t deadline_ms;    /* a client answers within this; 0 = 60 s */
    uint64_t reply_ms;       /* a reply that nobody reads is dropped after this; 0 = 10 s */
    uint64_t patience_ms;    /* how long the first page waits for the whole file; 0 = 1 s */
    bool inhibit_fork;       /* answer and exit, without leaving a server */
    bool foreground;         /* become the server without forking, after the first answer */
    unsigned servers_max;    /* maximum number of servers, for all files; 0 = 32 */
    uint64_t memory_max;     /* bytes, of all servers; 0 = half of the machine's */
    struct fm_roots *roots;  /* the data file is opened beneath them; NULL = anywhere */
    const char *log_path;    /* NULL: no file, unless the next */
    bool log_in_runtime;     /* without log_path: cgi.log in the runtime directory */
    bool log_on_stderr;      /* the whole log; errors go there in any case */
    enum fm_cgi_log_level log_level;
    const char *build_id; /* identity of the program: a new build starts a new server */
};

/* Answers one request about the data file at path (canonical, already allowed) on out_fd: by a
 * running server, else by loading the file and becoming one. A page that would take longer than the
 * patience shows what is known so far, and the server reads on; without a server it is complete.
 * Something is always printed, at least an error page. The forked server never returns from here.
 * Returns an exit status. */
int fm_cgi_answer(const struct fm_cgi_options *options, const struct fm_cgi_backend *backend,
                  const char *path, const struct fm_request *request, int out_fd);

/* Sends a request that needs a running server, such as setting its time-out. Without one, nothing
 * is loaded, and the answer is without_server with that status. */
int fm_cgi_command(const struct fm_cgi_options *options, const char *path,
                   const struct fm_request *request, unsigned without_status,
                   const char *without_server, int out_fd);

/* Ends the servers of a data file, also of other builds; prints the result. */
int fm_cgi_quit(const struct fm_cgi_options *options, const char *path,
                const struct fm_request *request, int out_fd);

/* Writes a response as a CGI program does: Status, headers, body. False when the reader closed the
 * connection. */
bool fm_cgi_print(int fd, const struct fm_request *request, const struct fm_response *response);

/* Lists the running servers, a line each below a heading: process, memory, idle time, owner, file.
 * For the runtime directory, or (NULL) for all usual ones that can be read. Returns their
 * number. */
unsigned fm_cgi_list(const char *runtime_dir, GString *out);
/* Number of servers of a file (path without links). The second function ends them by a signal,
 * which root may also send to those of other users, and waits until they have ended. */
unsigned fm_cgi_servers_of(const char *runtime_dir, const char *path);
unsigned fm_cgi_end_servers_of(const char *runtime_dir, const char *path);
/* The runtime directory of this user; it may not exist; g_free(). */
char *fm_cgi_directory_path(const char *configured);

/* Closes inherited descriptors other than the standard streams: a server outlives the web server
 * and would keep its sockets open. Call at the start of a program, before it opens anything. */
void fm_cgi_close_inherited(void);
