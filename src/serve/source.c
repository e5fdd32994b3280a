/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a request that changes the server may come from a page of another site. */
#include <string.h>

#include "serve/serve.h"

/* Whether the host[:port] of "http://host:port/path" is the given one. */
static bool is_at_host(const char *url, const char *host)
{
    const char *at = strstr(url, "://");
    if (at == NULL || host == NULL)
        return false;
    at += 3;
    size_t size = strcspn(at, "/?#");
    return size == strlen(host) && g_ascii_strncasecmp(at, host, size) == 0;
}

bool fm_request_is_foreign(const struct fm_request_source *source)
{
    if (source->purpose != NULL && strstr(source->purpose, "prefetch") != NULL)
        return true;
    if (source->origin != NULL && !is_at_host(source->origin, source->host))
        return true;
    /* "none": typed in, or from a bookmark. "same-site" may be another port of this machine. */
    if (source->fetch_site != NULL)
        return strcmp(source->fetch_site, "same-origin") != 0 &&
               strcmp(source->fetch_site, "none") != 0;
    if (source->referer != NULL)
        return !is_at_host(source->referer, source->host);
    if (source->origin != NULL)
        return false;
    /* Old browsers may omit these headers; curl and scripts do not call themselves Mozilla. */
    return source->user_agent != NULL && strstr(source->user_agent, "Mozilla/") != NULL;
}
