/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of the kept pages, shared by both forms. */
#pragma once

#include "pages/render.h"
#include "query/commands.h"
#include "site/site.h"

struct site_page {
    const char *key; /* its command in canonical form; borrowed from found */
    struct fm_query query;
    char *address;              /* as in links to it: relative */
    struct fm_display *display; /* kept if all pages are written together; otherwise NULL */
};

struct site;
/* How a form (one file, or a folder) keeps pages. */
struct site_form {
    bool is_folder; /* else one file */
    /* What is shown for a command, where that is another amount of the same: the step-th try, less
     * at each; false when there is no further one, and for step 0 the command itself is shown.
     * NULL: always itself. */
    bool (*widen)(struct fm_command *command, unsigned step);
    /* Returns the address of a new page; the caller owns it. */
    char *(*name)(struct site *site, const struct site_page *page);
    bool keeps_displays;
    bool dearest_first; /* adds important pages first; otherwise only in the order of links, so that
                           each page is linked */
    size_t bytes_max;   /* limit for all pages together, as HTML */
    size_t page_bytes_max; /* limit for each page that is not in the menu */
    /* above it, widen() is called for less; halved once there is a page of the kind */
    size_t wide_bytes_max;
    unsigned pages_max;
};

struct site {
    const struct fm_open_profile *recording;
    const struct site_form *form;
    const struct fm_progress *progress;
    GHashTable *known; /* command -> struct site_page; NULL value: not kept; keys owned */
    GPtrArray *pages;  /* struct site_page, owned, in the order of discovery */
    GHashTable *names; /* addresses in use, in lower case */
    guint ways; /* number of the first entries of found: the first page and those of the menu */
    GPtrArray *found; /* commands noted so far, owned */
    unsigned counts[FM_CMD_COUNT];
    size_t bytes;
    GString *scratch;
};

/* Chooses the pages, starting with the first page and following its links; false when cancelled. */
FM_MUST_USE bool site_choose(struct site *site, const struct site_form *form,
                             const struct fm_open_profile *recording,
                             const struct fm_progress *progress, GError **error);
void site_clear(struct site *site);
/* Address of a kept page, else NULL; user: the site. */
const char *site_address(void *user, const char *command, const char *preferences);
/* Options for writing kept pages; kept: memory of the caller for them. */
void site_html_options(const struct site *site, const struct fm_html_kept *kept,
                       struct fm_html_options *ret);
/* Makes the page. Errors: those of fm_pages_make(). */
FM_MUST_USE bool site_make(const struct site *site, const struct site_page *page,
                           struct fm_display **ret, struct fm_preferences *preferences,
                           GError **error);
FM_MUST_USE bool site_go_on(const struct site *site, const char *step, uint64_t done,
                            uint64_t total, GError **error);
