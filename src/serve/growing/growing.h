/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of running programs, remade from time to time by their owner. Their pages say so, and
 * their streams announce each new version. */
#pragma once

#include "serve/serve_internal.h"

struct fm_growing {
    char *name;
    char *text;
    unsigned generation;
    bool running;
    char *finished; /* name of the whole profile; NULL = it does not exist yet */
    bool asked;     /* requested since the last version */
};

/* NULL: none has that name. */
struct fm_growing *fm_growing_find(const struct fm_server *server, const char *name);

/* The growing profile with that name; NULL: it does not grow. Calling this requests the next
 * version. */
struct fm_growing *fm_growing_of(const struct fm_server *server, const char *name);
/* Name of the whole profile, to which its pages lead; NULL: none. */
const char *fm_growing_finished(const struct fm_growing *growing);
/* The text about it on pages; borrowed. */
const char *fm_growing_text(const struct fm_growing *growing);
/* False: it has been announced, but does not exist yet. */
bool fm_growing_is_there(const struct fm_growing *growing);
/* False: its program has ended, and no further version comes. */
bool fm_growing_is_running(const struct fm_growing *growing);
/* Reads the profile until everything that the page shows is known: a reader without stream always
 * gets a version that was not read before. For very large profiles it stops earlier. */
void fm_growing_read(const struct fm_server *server, const struct fm_profile_entry *profile,
                     const struct fm_query *query);
void fm_growing_free(void *growing);
/* Answers /live: the stream of a page of such a profile. answer: fm_server_handle(), which makes
 * the page. */
typedef void fm_growing_page_function(struct fm_server *server, const struct fm_request *request,
                                      struct fm_response *ret);
void fm_growing_answer(struct fm_server *server, const struct fm_request *request,
                       fm_growing_page_function *answer, struct fm_response *ret);
/* Answers /moment. */
void fm_growing_answer_moment(struct fm_server *server, const struct fm_request *request,
                              struct fm_response *ret);
