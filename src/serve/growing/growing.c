/* SPDX-License-Identifier: Apache-2.0 */
/* The list of profiles of running programs. */
#include "serve/growing/growing.h"

#include <string.h>
#include <time.h>

#include "open/profile.h"
#include "pages/report.h"

#define READING_NS_MAX 400000000u /* limit of CPU time, because other readers wait */

struct fm_growing *fm_growing_find(const struct fm_server *server, const char *name)
{
    for (unsigned i = 0; i < server->growing->len; i++) {
        struct fm_growing *growing = server->growing->pdata[i];
        if (strcmp(growing->name, name) == 0)
            return growing;
    }
    return NULL;
}

struct fm_growing *fm_growing_of(const struct fm_server *server, const char *name)
{
    struct fm_growing *growing = fm_growing_find(server, name);
    if (growing != NULL)
        growing->asked = true;
    return growing;
}

const char *fm_growing_finished(const struct fm_growing *growing)
{
    return growing->finished;
}

const char *fm_growing_text(const struct fm_growing *growing)
{
    return growing->text;
}

bool fm_growing_is_there(const struct fm_growing *growing)
{
    return growing->generation > 0;
}

bool fm_growing_is_running(const struct fm_growing *growing)
{
    return growing->running;
}

static uint64_t used_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void fm_growing_read(const struct fm_server *server, const struct fm_profile_entry *profile,
                     const struct fm_query *query)
{
    struct fm_engine *engine = fm_open_files_engine(server->recordings);
    uint64_t end_ns = used_ns() + READING_NS_MAX;
    bool more = true;
    if (!fm_pages_is_complete(profile->recording, query))
        fm_background_request(engine, profile->base.trace, FM_PROFILE_LAST_MODULE);
    while (more && !fm_pages_is_complete(profile->recording, query) && used_ns() < end_ns)
        more = fm_background_step(engine, profile->base.trace);
}

void fm_growing_free(void *data)
{
    struct fm_growing *growing = data;
    g_free(growing->name);
    g_free(growing->text);
    g_free(growing->finished);
    g_free(growing);
}
