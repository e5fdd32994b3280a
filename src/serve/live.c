/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/live.h"

#include <string.h>

#include "serve/serve_internal.h"

/* Streams cost a connection and the engine's time, so pages of other sites get none. */
struct fm_stream *fm_live_stream(struct fm_server *server, const struct fm_request *request,
                                 struct fm_response *ret)
{
    struct fm_stream *stream = NULL;
    if (strcmp(request->method, "GET") != 0)
        fm_response_message(request, 405, "expected the method GET", ret);
    else if (!request->can_stream)
        fm_response_message(request, 406, "events cannot be sent through this door", ret);
    else if (request->foreign)
        fm_response_message(request, 403, "only a page of this server may ask for its events", ret);
    else if ((stream = fm_stream_new(server)) == NULL)
        fm_response_message(request, 503, "too many pages wait for events", ret);
    return stream;
}

static void on_stream_end(struct fm_stream *stream, void *user)
{
    struct fm_live_page *page = user;
    g_assert(page->stream == stream);
    g_ptr_array_remove(page->server->pages, page);
    page->class_->free(page);
}

void fm_live_begin(struct fm_live_page *page, const struct fm_live_class *class_,
                   struct fm_server *server, struct fm_stream *stream, struct fm_response *ret)
{
    g_assert(stream != NULL && class_->shows != NULL && class_->free != NULL);
    *page = (struct fm_live_page){class_, server, stream};
    g_ptr_array_add(server->pages, page);
    fm_stream_on_end(stream, on_stream_end, page);
    *ret = fm_stream_response(stream);
}

struct fm_live_page *fm_live_page_at(const struct fm_server *server,
                                     const struct fm_live_class *class_, unsigned index)
{
    g_assert(class_ != NULL);
    for (unsigned i = 0; i < server->pages->len; i++) {
        struct fm_live_page *page = server->pages->pdata[i];
        if (page->class_ == class_ && index-- == 0)
            return page;
    }
    return NULL;
}

void fm_live_closing(struct fm_server *server, const struct fm_trace *trace)
{
    g_autoptr(GPtrArray) ending = g_ptr_array_new();
    for (unsigned i = 0; i < server->pages->len; i++) {
        struct fm_live_page *page = server->pages->pdata[i];
        if (page->class_->ends_with_recording && page->class_->shows(page, trace))
            g_ptr_array_add(ending, page->stream);
    }
    for (unsigned i = 0; i < ending->len; i++)
        fm_stream_end(ending->pdata[i]);
}

void fm_live_changed(struct fm_server *server, const struct fm_trace *trace, bool replaced)
{
    for (unsigned turn = replaced ? 0 : 1; turn < 2; turn++) {
        for (unsigned i = 0; i < server->pages->len; i++) {
            struct fm_live_page *page = server->pages->pdata[i];
            void (*tell)(struct fm_live_page * page) =
                turn == 0 ? page->class_->replaced : page->class_->changed;
            if (tell != NULL && page->class_->shows(page, trace))
                tell(page);
        }
    }
}
