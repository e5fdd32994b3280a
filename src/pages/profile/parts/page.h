/* SPDX-License-Identifier: Apache-2.0 */
/* The page being made, by one thread: pages.c fills in struct fm_page, the page's function adds to
 * its body. */
#pragma once

#include <inttypes.h>

#include "pages/profile/parts/terms.h"
#include "pages/profile/parts/shown_names.h"
#include "pages/report.h"

struct fm_page {
    const struct fm_open_profile *recording;
    const struct fm_profile *profile;
    const struct fm_analysis *analysis;
    const struct fm_terms *terms;
    struct fm_query query; /* as requested, always with preferences; its module name is borrowed */
    bool links_carry_preferences; /* the request had preferences: ordinary links keep them */
    const char *module;           /* names in this module are unqualified; NULL = none */
    fm_display_namer namer; /* names for links; gets the recording; NULL = links have numbers */
    struct fm_shown_names *names; /* of the functions on it; parts/names.h */
    struct fm_display *display;
    struct fm_list *body;
    char focus[32]; /* focus of trees and flame graphs: "all", "clique/N" or "proc/N"; the command's
                       name */
};

typedef bool (*fm_page_function)(struct fm_page *page, GError **error);

/* Text on pages of contexts when there are none (FM_NATURE_ARCS). */
#define FM_NO_CONTEXTS "calls are known by function and caller, not by context"
static inline bool fm_page_has_contexts(const struct fm_page *page)
{
    return !fm_profile_is(page->profile, FM_NATURE_ARCS);
}

/* Sets the display's JSON name and title. Takes ownership of the title. */
void fm_page_begin(struct fm_page *page, const char *name, char *title);
/* A link from this page; it owns nothing, so it needs no clearing. */
struct fm_query fm_page_link(const struct fm_page *page, enum fm_command_id id, uint32_t number);
/* This page with other preferences, for controls and headings that sort. */
struct fm_query fm_page_same(const struct fm_page *page);
/* This page with another command; with preferences only if the request had some. */
struct fm_query fm_page_like(const struct fm_page *page);
/* FM_ERROR_NOT_FOUND unless 1 <= number <= count; what: "proc_static". */
FM_MUST_USE bool fm_page_check_id(const struct fm_page *page, const char *what, uint32_t number,
                                  uint32_t count, GError **error);
FM_MUST_USE bool fm_page_check_module(const struct fm_page *page, const struct fm_module **ret,
                                      GError **error);
