/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of programs that still run: made anew from time to time by whoever added them. Their
 * pages say so, and their streams tell when there is another one. */
#pragma once

#include "serve/serve_internal.h"

struct fm_growing {
    char *name;
    char *text;
    unsigned generation;
    bool running;
    char *finished; /* the name of the whole profile; NULL = there is none yet */
    bool asked;     /* since the latest generation */
};

/* NULL: there is none of that name. */
struct fm_growing *fm_growing_find(const struct fm_server *server, const char *name);

/* The growing profile of that name; NULL: it does not grow. Calling it requests the next one. */
struct fm_growing *fm_growing_of(const struct fm_server *server, const char *name);
/* The name of the profile that its pages lead on to; NULL: none. */
const char *fm_growing_finished(const struct fm_growing *growing);
/* The text about it on pages; borrowed. */
const char *fm_growing_text(const struct fm_growing *growing);
/* False: it has been promised, and nothing of it is there yet. */
bool fm_growing_is_there(const struct fm_growing *growing);
/* False: its program has ended, and no other one comes. */
bool fm_growing_is_running(const struct fm_growing *growing);
/* Reads on until all is known that the page shows: who asks without hearing of generations meets
 * one that nobody has read yet, each time. Of a very large one it stops before that. */
void fm_growing_read(const struct fm_server *server, const struct fm_recorded_profile *profile,
                     const struct fm_query *query);
void fm_growing_free(void *growing);
/* Answers /live: the stream of a page of such a profile. answer: fm_server_handle(), which makes
 * the page itself. */
typedef void fm_growing_page_function(struct fm_server *server, const struct fm_request *request,
                                      struct fm_response *ret);
void fm_growing_answer(struct fm_server *server, const struct fm_request *request,
                       fm_growing_page_function *answer, struct fm_response *ret);
/* Answers /moment. */
void fm_growing_answer_moment(struct fm_server *server, const struct fm_request *request,
                              struct fm_response *ret);
