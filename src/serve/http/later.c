/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are made in turns, between which others are answered. */
#include "serve/http/internal.h"

/* A short one is made within the first turn. */
enum { FIRST_TURN_US = 4000, TURN_US = 2000 };

struct waiting {
    struct fm_http_laters *all;
    struct fm_later *later;
    SoupServerMessage *message;
    guint source;
};

static void waiting_free(struct waiting *waiting)
{
    g_ptr_array_remove_fast(waiting->all->list, waiting);
    if (waiting->source != 0)
        g_source_remove(waiting->source);
    g_object_unref(waiting->message);
    g_free(waiting);
}

/* False: the answer is sent. */
static bool turn(struct fm_http_laters *all, SoupServerMessage *message, struct fm_later *later,
                 gint64 length_us)
{
    gint64 end = g_get_monotonic_time() + length_us;
    bool more = true;
    while (more && g_get_monotonic_time() < end)
        more = later->step(later);
    if (more)
        return true;
    struct fm_response response;
    later->end(later, &response);
    all->send(message, &response);
    return false;
}

static gboolean on_turn(gpointer user)
{
    struct waiting *waiting = user;
    if (turn(waiting->all, waiting->message, waiting->later, TURN_US))
        return G_SOURCE_CONTINUE;
    soup_server_message_unpause(waiting->message);
    waiting->source = 0;
    waiting_free(waiting);
    return G_SOURCE_REMOVE;
}

void fm_http_laters_begin(struct fm_http_laters *all, SoupServerMessage *message,
                          struct fm_later *later)
{
    if (!turn(all, message, later, FIRST_TURN_US))
        return;
    struct waiting *waiting = g_new0(struct waiting, 1);
    *waiting = (struct waiting){all, later, g_object_ref(message), 0};
    g_ptr_array_add(all->list, waiting);
    soup_server_message_pause(message);
    waiting->source = g_idle_add(on_turn, waiting);
}

void fm_http_laters_init(struct fm_http_laters *all, fm_http_later_function *send)
{
    *all = (struct fm_http_laters){g_ptr_array_new(), send};
}

void fm_http_laters_clear(struct fm_http_laters *all)
{
    while (all->list->len > 0) {
        struct waiting *waiting = all->list->pdata[0];
        waiting->later->drop(waiting->later);
        waiting_free(waiting);
    }
    g_ptr_array_unref(all->list);
}
