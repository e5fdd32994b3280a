/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages are kept: shared by the two forms. */
#pragma once

#include "pages/render.h"
#include "site/site.h"

struct site_page {
    const char *key; /* its command, in the one way that this site writes it; borrowed from found */
    struct fm_query query;
    char *address;              /* relative, as links to it have it */
    struct fm_display *display; /* kept where all pages are written at once; else NULL */
};

struct site;
/* The way in which a form keeps pages. */
struct site_form {
    /* How many pages of a kind, at most. */
    unsigned (*quota)(enum fm_command_id id);
    /* What is shown for a command, where that is another amount of the same: the step-th try, less
     * at each; false when there is no further one, and for step 0 the command itself is shown.
     * NULL: always itself. */
    bool (*widen)(struct fm_command *command, unsigned step);
    /* The address of a new page; taken. */
    char *(*name)(struct site *site, const struct site_page *page);
    bool keeps_displays;
    bool dearest_first;    /* else in the order of links alone: no page without one to it */
    size_t bytes_max;      /* of all pages together, as HTML */
    size_t page_bytes_max; /* of each that is not at the top of all pages */
    size_t
        wide_bytes_max; /* above, widen() is asked for less; half, once there is one of the kind */
    unsigned pages_max;
};

struct site {
    const struct fm_deep_recording *recording;
    const struct site_form *form;
    const struct fm_progress *progress;
    GHashTable *known; /* command -> struct site_page, NULL: not kept; keys owned */
    GPtrArray *pages;  /* struct site_page, owned, in the order they were found */
    GHashTable *names; /* addresses given out, in small letters */
    guint ways;        /* of found: the first page and those that all pages lead to */
    GPtrArray *found;  /* commands seen while pages are chosen, owned */
    unsigned counts[FM_CMD_COUNT];
    size_t bytes;
    GString *scratch;
};

/* Chooses the pages, from the first page on along its links; false when stopped. */
FM_MUST_USE bool site_choose(struct site *site, const struct site_form *form,
                             const struct fm_deep_recording *recording,
                             const struct fm_progress *progress, GError **error);
void site_clear(struct site *site);
/* The address of a page that is kept, else NULL; user: the site. */
const char *site_address(void *user, const char *command, const char *preferences);
/* How kept pages are written; kept: as the caller's own struct. */
void site_html_options(const struct site *site, const struct fm_html_kept *kept,
                       struct fm_html_options *ret);
/* The page, made. Errors: those of fm_report(). */
FM_MUST_USE bool site_make(const struct site *site, const struct site_page *page,
                           struct fm_display **ret, struct fm_preferences *preferences,
                           GError **error);
FM_MUST_USE bool site_go_on(const struct site *site, const char *step, uint64_t done,
                            uint64_t total, GError **error);
