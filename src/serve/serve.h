/* SPDX-License-Identifier: Apache-2.0 */
/* handle(request) -> response, without sockets. Paths:
 *
 *   /                      the opened recordings, and the files below the roots
 *   /deep?QUERY            a page; /deep.json, /deep.txt, /deep.csv: the same in that format
 *   /find?text=T&file=FILE a search in that recording: redirects to the result
 *   /live?QUERY            new versions of a page of a running program, as a stream of events
 *   /moment?QUERY          POST: starts a profile of what comes from now on; returns its address
 *   /events?QUERY          progress of reading for that page, as a stream of events (stream.h)
 *   /trace?QUERY           traces (query/trace_query.h); /trace.json, /trace.txt, /trace.csv
 *   /assets/NAME           stylesheet and scripts
 *
 *   QUERY ::= FILE | CMD & FILE | CMD & PREFS & FILE      each part percent-encoded by itself
 *
 * A server is used by one thread at a time. HTTP, CGI, tests and the fuzzer call the same
 * function, so the same request gives equal bodies everywhere. */
#pragma once

#include "pages/report.h"

struct fm_server;
struct fm_engine;
struct fm_stream;
struct fm_response;

struct fm_server_options {
    int64_t patience_us;     /* longest time before a page of a trace is written; 0 = 60,000 */
    unsigned recordings_max; /* limit for recordings opened below roots; the least recently used is
                                closed; 0 = 16 */
    /* true: recordings are read while the engine's source runs on a main loop; pages are made of
     * what is known so far, and say so. false: each answer waits until everything is known. */
    bool background;
    /* With background: called once for each change of an added recording that made it unreadable.
     * Must not block. */
    void (*failed)(void *user, const GError *error);
    void *failed_user;
};

struct fm_server *fm_server_new(const struct fm_server_options *options);
void fm_server_free(struct fm_server *server);

/* Opens a recording and makes it available. Returns its errors: all of them or, with background,
 * only those of opening and of the header. It is named by its path as given; its real path is
 * accepted, too. Opening the same file (device and inode) twice gives one instance. */
FM_MUST_USE bool fm_server_add(struct fm_server *server, const char *path, GError **error);
/* Requests may name files below this folder; they are opened at the first request. */
FM_MUST_USE bool fm_server_add_root(struct fm_server *server, const char *folder, GError **error);
/* Opens the file as a request that names it would: for CGI, where all requests are about one file.
 * Errors: those that the request would get. */
FM_MUST_USE bool fm_server_open(struct fm_server *server, const char *file, GError **error);

/* The profile at this path, which was added, belongs to a running program, or (running: false) one
 * that has just ended, and has just been rewritten. Its pages show the text, and open ones are
 * notified. */
void fm_server_grow(struct fm_server *server, const char *path, const char *text, bool running);
/* Notifies open pages for the last time: `finished`, which was added, is the whole profile, to
 * which the pages lead from now on. */
void fm_server_grown(struct fm_server *server, const char *path, const char *text,
                     const char *finished);
/* A program is running whose profiles will be added. Until then, the front page shows the text;
 * afterwards it redirects to the first profile if there is only one. */
void fm_server_await(struct fm_server *server, const char *text);
/* The profile at this path will be added later: until then its pages show the text. */
void fm_server_promise(struct fm_server *server, const char *path, const char *text);
/* A reader of the profile at path requests a profile of what comes from now on. Returns the path of
 * that profile, g_free(), which has been announced; NULL with *error. */
typedef char *(*fm_moment_function)(void *user, const char *path, GError **error);
void fm_server_on_moment(struct fm_server *server, fm_moment_function function, void *user);
/* An added profile has been rewritten, and its results are already computed, so that pages need not
 * read it. Takes ownership of prepared (open/prepared.h). */
struct fm_prepared_profile;
void fm_server_offer(struct fm_server *server, struct fm_prepared_profile *prepared);
/* Whether a page of it is open, or was requested since the last version. */
bool fm_server_is_growth_wanted(const struct fm_server *server, const char *path);

struct fm_request {
    const char *method;        /* "GET", "HEAD", "POST" */
    const char *path;          /* "/", "/deep", "/assets/style.css"; percent-decoded */
    const char *query;         /* raw, still encoded; NULL = none */
    const char *if_none_match; /* NULL = none */
    const char *accept;        /* NULL = none; its first type selects JSON, text, CSV */
    /* The request may come from a page of another site, or be a prefetch that the reader did not
     * ask for. It may read, but not quit, restart or set the time-out. Callers decide with
     * fm_request_is_foreign(). */
    bool foreign;
    bool can_stream; /* the caller can send events (stream.h) */
    bool can_wait;   /* the caller can answer later (struct fm_later) */
};

/* Headers that show where a request comes from; NULL when missing. */
struct fm_request_source {
    const char *host;       /* Host */
    const char *fetch_site; /* Sec-Fetch-Site */
    const char *origin;     /* Origin */
    const char *referer;    /* Referer */
    const char *purpose;    /* Sec-Purpose or Purpose */
    const char *user_agent; /* User-Agent */
};
/* False only if the headers show that the request comes from a page of this server, was typed in by
 * the reader, or was sent by a program other than a browser. */
bool fm_request_is_foreign(const struct fm_request_source *source);

/* An answer that is made in turns, between which others are answered. */
struct fm_later {
    bool (*step)(struct fm_later *later); /* some milliseconds at most; false: it is ready */
    void (*end)(struct fm_later *later, struct fm_response *ret); /* when it is ready; frees it */
    void (*drop)(struct fm_later *later); /* nobody waits for it any more; frees it */
};

struct fm_response {
    unsigned status;
    const char *content_type;
    char *etag;               /* NULL = none; quoted as in HTTP */
    char *location;           /* for redirects */
    GBytes *body;             /* never NULL */
    bool quit;                /* the server must end after this answer */
    int timeout_minutes;      /* > 0: new idle time-out */
    struct fm_stream *stream; /* events instead of a body; NULL unless the request can_stream */
    struct fm_later *later;   /* instead of all else; NULL unless the request can_wait */
};

void fm_server_handle(struct fm_server *server, const struct fm_request *request,
                      struct fm_response *ret);
void fm_response_done(struct fm_response *response);

/* The engine that reads recordings for pages. It works in steps; the HTTP server puts it on its
 * main loop (engine/source.h). Borrowed. */
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
/* "trace?file=...": one page with all added traces. The caller frees it. */
char *fm_server_traces_url(const struct fm_server *server);
