/* SPDX-License-Identifier: Apache-2.0 */
/* A deep profile with all that pages are made of. */
#pragma once

#include "profile/analysis/analysis.h"
#include "profile/file/machine/machine_code.h"
#include "profile/file/attached/source_map.h"
#include "profile/file/attached/source_texts.h"
#include "mercury/procrep/procrep.h"

struct fm_source_index;    /* profile/digest/lines/source_index.h */
struct fm_site_cache;      /* profile/digest/calls/site_cache.h */
struct fm_flame_cache;     /* profile/digest/flame_cache.h */
struct fm_identities;      /* profile/digest/identity/identities.h */
struct fm_hot;             /* profile/digest/hottest.h */
struct fm_recursion_types; /* mercury/body/recursion_types.h */

/* How much of a recording is known so far. Each level includes those before it. */
enum fm_known {
    FM_KNOWN_NOTHING,
    FM_KNOWN_HEADER,  /* profile: only the file's header, no nodes */
    FM_KNOWN_PROFILE, /* profile: complete */
    FM_KNOWN_COSTS,   /* analysis, contour, source_index */
    FM_KNOWN_CHECKED, /* invariants */
    FM_KNOWN_ALL,     /* recursion_types; NULL: counted for each page that needs them */
};

/* A deep profile with everything that pages need. Immutable once complete, so any number of threads
 * may make pages of it at once. */
struct fm_open_profile {
    enum fm_known known;
    char *path; /* path of the .data file */
    char *name; /* its base name */
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    enum fm_contour_state contour_state;
    struct fm_contour *contour; /* NULL unless usable */
    char *contour_message;      /* NULL when there is no message */
    /* shared by pages, since they take long; from FM_KNOWN_COSTS on */
    struct fm_flame_cache *flames;
    struct fm_site_cache *sites;      /* as above */
    struct fm_identities *identities; /* from FM_KNOWN_COSTS on */
    struct fm_hot *hot;               /* the most expensive parts: from FM_KNOWN_COSTS on */
    struct fm_invariant *invariants;  /* checked once, when the profile is opened */
    unsigned invariant_count;
    struct fm_recursion_types *recursion_types;
    struct fm_source_index *source_index; /* C recordings only */
    struct fm_source_map *source_map;     /* lines of a C recording; NULL: no such file */
    struct fm_procrep *procrep; /* bodies of a Mercury program; NULL: none, or not readable */
    char *procrep_message;      /* why an existing file cannot be used, or NULL */
    char *source_map_message;   /* why an existing file cannot be used, or NULL */
    struct fm_source_texts *source_texts; /* sources stored with a C recording; NULL: none */
    char *source_texts_message;           /* why an existing file cannot be used, or NULL */
    struct fm_machine_code *machine_code; /* for a C recording; NULL: none */
    char *machine_code_message;           /* why an existing file cannot be used, or NULL */
};

/* Reads and analyses the file, checks the invariants (a violation is shown on the menu page, it is
 * not an error), and reads the contour file if there is one. Errors: those of fm_profile_read() and
 * fm_analysis_new(). Runs all steps of deep_job.h but the last: recursion_types, which pay off only
 * for many pages of a server, stay NULL. */
FM_MUST_USE bool fm_open_profile_open(const char *path, const struct fm_progress *progress,
                                      struct fm_open_profile **ret, GError **error);
/* As above, for a profile in memory; takes ownership, also on failure. The contour file, if any, is
 * the one for path; path need not exist. */
FM_MUST_USE bool fm_open_profile_new(const char *path, struct fm_profile *profile,
                                     const struct fm_progress *progress,
                                     struct fm_open_profile **ret, GError **error);
void fm_open_profile_free(struct fm_open_profile *recording);
typedef struct fm_open_profile FmOpenProfile;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmOpenProfile, fm_open_profile_free)
