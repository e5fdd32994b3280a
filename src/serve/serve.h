/* SPDX-License-Identifier: Apache-2.0 */
/* handle(request) -> response, without sockets. Paths:
 *
 *   /                      the opened recordings, and the files below the roots
 *   /deep?QUERY            a page; /deep.json, /deep.txt, /deep.csv: the same in that format
 *   /find?text=T&file=FILE a search of that recording: on to what it finds
 *   /live?QUERY            when there is more of its program, which runs, as a stream of events
 *   /moment?QUERY          POST: what comes from now on as a profile of its own: where that will be
 *   /events?QUERY          what happens to that page, as a stream of events (stream.h)
 *   /trace?QUERY           traces (query/trace_query.h); /trace.json, /trace.txt, /trace.csv
 *   /assets/NAME           stylesheet and scripts
 *
 *   QUERY ::= FILE | CMD & FILE | CMD & PREFS & FILE      each part percent-encoded by itself
 *
 * A server is used by one thread at a time. HTTP, CGI, tests and the fuzzer call the same
 * function: the same request gives byte-equal bodies through each door. */
#pragma once

#include "report/report.h"

struct fm_server;
struct fm_engine;
struct fm_stream;

struct fm_server_options {
    int64_t patience_us;     /* a page of a trace is written after so long at most; 0 = 60,000 */
    unsigned recordings_max; /* limit for recordings opened below roots; the least used is closed; 0
                                = 16 */
    /* Recordings are read while the engine's source runs on a main loop, and pages are made of what
     * is known so far and say so. Without, each answer waits until all is known. */
    bool background;
    /* In the background: a recording turned out to be bad after it was added: once for each
     * change of it. Must not wait. */
    void (*failed)(void *user, const GError *error);
    void *failed_user;
};

struct fm_server *fm_server_new(const struct fm_server_options *options);
void fm_server_free(struct fm_server *server);

/* Makes a recording available; opened at once, so that errors are told here: all of them, or in the
 * background those of opening and of the header. The server names it
 * by its path as given; its real path is accepted too. Opening the same file (device and inode)
 * twice gives one instance. */
FM_MUST_USE bool fm_server_add(struct fm_server *server, const char *path, GError **error);
/* Files below this folder may be named in requests, and are opened when first asked for. */
FM_MUST_USE bool fm_server_add_root(struct fm_server *server, const char *folder, GError **error);
/* Opens what a request would open that names this file: for doors whose requests are all of one
 * file. Errors: those that the request would get. */
FM_MUST_USE bool fm_server_open(struct fm_server *server, const char *file, GError **error);

/* The profile at this path, which was added, is that of a program that still runs, or (running:
 * false) did until now, and has just been written again: pages of it say the text, and those that
 * look at it are told. */
void fm_server_grow(struct fm_server *server, const char *path, const char *text, bool running);
/* Notifies for the last time: `finished`, which was added, is the whole profile, to which its pages
 * lead on from now. */
void fm_server_grown(struct fm_server *server, const char *path, const char *text,
                     const char *finished);
/* A program runs whose profiles will be added: until then the front page says the text, and then it
 * leads on to the first, if there is but one. */
void fm_server_await(struct fm_server *server, const char *text);
/* The profile at this path has been promised and is not there yet: until then its pages say the
 * text. */
void fm_server_promise(struct fm_server *server, const char *path, const char *text);
/* A reader of the profile at path asks for what comes from now on. Returns the path of a profile of
 * that, g_free(), which has been promised; NULL after *error. */
typedef char *(*fm_moment_function)(void *user, const char *path, GError **error);
void fm_server_on_moment(struct fm_server *server, fm_moment_function function, void *user);
/* A profile that was added has been written anew, and worked out: its pages need not read it. Takes
 * prepared (recording/prepared.h). */
struct fm_prepared_profile;
void fm_server_offer(struct fm_server *server, struct fm_prepared_profile *prepared);
/* Whether anybody looks at it, or has asked for it since then. */
bool fm_server_is_growth_wanted(const struct fm_server *server, const char *path);

struct fm_request {
    const char *method;        /* "GET", "HEAD", "POST" */
    const char *path;          /* "/", "/deep", "/assets/style.css"; percent-decoded */
    const char *query;         /* raw, still encoded; NULL = none */
    const char *if_none_match; /* NULL = none */
    const char *accept;        /* NULL = none; its first type selects JSON, text, CSV */
    /* The request may come from a page of another site, or be no wish of the reader's at all (a
     * prefetch): it may read, but not quit, restart or set the time-out. The door decides with
     * fm_request_is_foreign(). */
    bool foreign;
    bool can_stream; /* the door can send events (stream.h) */
};

/* Headers that tell where a request comes from; NULL without such a header. */
struct fm_request_source {
    const char *host;       /* Host */
    const char *fetch_site; /* Sec-Fetch-Site */
    const char *origin;     /* Origin */
    const char *referer;    /* Referer */
    const char *purpose;    /* Sec-Purpose or Purpose */
    const char *user_agent; /* User-Agent */
};
/* True unless the headers show that the request was made by a page of this server, typed in by the
 * reader, or sent by a program that is no browser. */
bool fm_request_is_foreign(const struct fm_request_source *source);

struct fm_response {
    unsigned status;
    const char *content_type;
    char *etag;               /* NULL = none; quoted as in HTTP */
    char *location;           /* for redirects */
    GBytes *body;             /* never NULL */
    bool quit;                /* the server shall end after this answer */
    int timeout_minutes;      /* > 0: new idle time-out */
    struct fm_stream *stream; /* events instead of a body; NULL unless the request can_stream */
};

void fm_server_handle(struct fm_server *server, const struct fm_request *request,
                      struct fm_response *ret);
void fm_response_clear(struct fm_response *response);

/* The engine that reads recordings on behalf of pages. Work in it goes on in steps: the HTTP door
 * puts it on its main loop (schedule/source.h). Borrowed. */
struct fm_engine *fm_server_engine(struct fm_server *server);

/* Names of the recordings that were added, in order; borrowed until the server is used again. */
unsigned fm_server_count(const struct fm_server *server);
const char *fm_server_path(const struct fm_server *server, unsigned index);
/* "deep?menu&FILE": the menu of a recording, relative to the server's root. Caller frees. */
char *fm_server_menu_url(const char *path);
/* Address of the comparison of after with before; caller frees. */
char *fm_server_compare_url(const char *before, const char *after);
/* "trace?file=FILE": the page of a trace. Caller frees. */
char *fm_server_trace_url(const char *name);

/* Number of traces that were added or found. */
unsigned fm_server_trace_count(const struct fm_server *server);
/* "trace?file=...": all that were added, on one page. Caller frees. */
char *fm_server_traces_url(const struct fm_server *server);
