/* SPDX-License-Identifier: Apache-2.0 */
/* Text on a page while its profile is being read, and the page's stream of events. */
#pragma once

#include "recording/recording.h"
#include "serve/serve.h"

/* Text of an incomplete page. text: caller frees. */
struct fm_incomplete {
    char *text;
    unsigned stage; /* pages made at different stages differ */
    double fraction;
};
void fm_profile_live_progress(struct fm_engine *engine, const struct fm_recorded_profile *profile,
                              struct fm_incomplete *ret);
/* Answers /events: the stream of a page, until the page is complete. */
void fm_profile_live_answer(struct fm_server *server, const struct fm_request *request,
                            struct fm_response *ret);
