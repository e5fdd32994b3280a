/* SPDX-License-Identifier: Apache-2.0 */
/* Text on a page while its profile is being read, and the page's stream of events. */
#pragma once

#include "open/open.h"
#include "serve/serve.h"

/* Whether a page is complete, and else how far its profile has been read. */
struct fm_how_far {
    bool complete, failed;
    unsigned stage;         /* another one, another page */
    const char *module;     /* that runs; NULL = none */
    double fraction, whole; /* the module's, and that of all */
    char *text;             /* the page's while it is incomplete, or the error; g_free */
};
void fm_how_far_get(struct fm_engine *engine, struct fm_trace *trace, const struct fm_query *query,
                    struct fm_how_far *ret);
/* Answers /events: the stream of a page, until the page is whole. */
void fm_profile_live_answer(struct fm_server *server, const struct fm_request *request,
                            struct fm_response *ret);
