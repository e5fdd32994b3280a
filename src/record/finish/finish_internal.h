/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/record: how the recording and the statics come together.
 *
 *   finish.c   the order of the steps, and the profile from the nodes
 *   images.c   modules of the recording -> statics; procedures and sites as nodes
 *   leave_out.c  functions that the user does not want to see
 *   inlined.c  bodies without hooks between the caller and what is called from them
 *   resolve.c  each recorded edge -> its call site
 *   coverage.c coverage points by context, and the lines that they stand for
 *   merge.c    edges of one source site (several machine instances) become one edge */
#pragma once

#include "record/finish/finish.h"
#include "record/raw/recording.h"
#include "record/statics/demangle.h"
#include "record/statics/hooks_named.h"
#include "record/statics/statics.h"

/* A file that was loaded, however often. */
struct image {
    const struct fm_raw_module *raw; /* one of its loadings */
    struct fm_statics *statics;      /* NULL: could not be read */
    bool statics_kept;               /* they are not ours */
    uint32_t *ps_of_proc;            /* FM_NONE = not in the profile */
    uint32_t *css_of_site;
    uint32_t *node_of_point;  /* FM_NONE = an entry point, or of no procedure; NULL = no points */
    GHashTable *proc_of_name; /* linker's name -> proc + 1; NULL = not asked for yet */
    char *name;               /* last part of the path */
};

/* A procedure of the profile to be. */
struct node_ps {
    uint32_t image; /* FM_NONE for threads, unknown addresses */
    uint32_t proc;  /* of the image's statics, FM_NONE when synthetic */
    const char *module, *name, *linkage, *file;
    uint32_t line;
    uint32_t arity;
    bool variadic, external, virtual_method, inlined;
    GArray *css;          /* uint32_t, slot order */
    uint32_t entry_point; /* into finisher.points, FM_NONE */
};

/* A coverage point of the profile to be. */
struct node_point {
    uint32_t ps;
    const char *file;
    uint32_t line, column, ordinal;
    uint64_t address; /* of one of its copies */
    bool entry;       /* run once a call */
    bool at_home;     /* met in contexts of ps */
    bool met;         /* it has a count */
    bool elsewhere;   /* met in other contexts: if in those alone, it is not ps's */
    uint32_t number;  /* within ps; FM_NONE = dropped */
};

struct point_count {
    uint32_t pd; /* of the recording */
    uint32_t point;
    uint64_t count;
};

struct node_css {
    uint32_t ps;
    uint32_t slot;
    enum fm_site_kind kind;
    uint32_t callee;   /* ps, FM_NONE */
    uint32_t actual;   /* ps that was really called: FM_NONE none, FM_MANY several */
    bool only_virtual; /* each callee seen is a virtual method */
    bool inlined;      /* fm_site */
    const char *file;
    uint32_t line, column;
    const char *label; /* foreign callee or what else tells the site apart; NULL */
};
#define FM_MANY (UINT32_MAX - 1)

struct finisher {
    struct fm_raw_recording *recording;
    const struct fm_finish_opts *opts;
    struct fm_finish_notes *notes;
    GStringChunk *strings;
    GArray *images;            /* struct image */
    uint32_t *image_of_module; /* per module of the recording */
    GArray *ps, *css;          /* struct node_ps, struct node_css */
    uint32_t *pd_ps;           /* per pd of the recording */
    uint32_t *thread_ps;
    uint32_t *thread_css;
    GHashTable *synthetic;  /* key text -> ps + 1 or css + 1 */
    GHashTable *exported;   /* linker's name -> ps + 1 */
    bool *pd_gone;          /* per pd: left out by the user's choice; NULL = none is */
    uint32_t *maker_caller; /* per pd: caller of its maker as recorded; only with pd_gone */
    uint32_t *pd_class;     /* union-find over pds */
    GArray *points;         /* struct node_point */
    GArray *point_counts;   /* struct point_count */
    GHashTable *point_ids;  /* key text -> point + 1 */
    guint *point_order;     /* by procedure, in the order of the source */
    unsigned points_unknown;
    bool has_losses; /* the recording was full: what has no count may have run */
};

static inline struct image *fm_image(struct finisher *f, uint32_t index)
{
    return &g_array_index(f->images, struct image, index);
}
static inline struct node_ps *fm_node_ps(struct finisher *f, uint32_t index)
{
    return &g_array_index(f->ps, struct node_ps, index);
}
static inline struct node_css *fm_node_css(struct finisher *f, uint32_t index)
{
    return &g_array_index(f->css, struct node_css, index);
}

void fm_finish_note(struct finisher *f, const char *format, ...) G_GNUC_PRINTF(2, 3);
const char *fm_finish_string(struct finisher *f, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* images.c */
void fm_images_open(struct finisher *f);
void fm_images_close(struct finisher *f);
/* The procedure that a pd is of; false = its address is not in the statics of any image. */
bool fm_images_proc_of_pd(struct finisher *f, uint32_t pd, uint32_t *ret_image, uint32_t *ret_proc);
/* The image and the address in its file; FM_NONE when the address lies in none. */
uint32_t fm_images_find(struct finisher *f, uint64_t address, uint32_t epoch, uint64_t *ret_file);
/* "libc.so.6: qsort_r", "libfoo.so+0x1234", "0x7f...": for addresses without a procedure. */
char *fm_images_describe(struct finisher *f, uint64_t address, uint32_t epoch);
uint32_t fm_images_add_css(struct finisher *f, const struct node_css *css);
/* The ps of each pd; makes nodes for all procedures and sites of the instrumented images. */
void fm_images_make_nodes(struct finisher *f);

/* leave_out.c: edges of left-out functions become those of their callers. */
void fm_leave_out(struct finisher *f);

/* inlined.c: adds pds and csds to the recording. */
void fm_inlined_insert(struct finisher *f);

/* resolve.c: fills the css of all csds. */
void fm_resolve_sites(struct finisher *f);
/* The innermost body that the hook of an edge stands in, FM_NONE when not known. */
uint32_t fm_resolve_body_of_hook(struct finisher *f, const struct fm_raw_csd *csd,
                                 const struct image **ret_image);
/* The image of an address, if its sites are known, else NULL. */
const struct image *fm_resolve_image(struct finisher *f, uint64_t address, uint32_t epoch,
                                     uint64_t *ret_file);

/* coverage.c */
void fm_coverage_join(struct finisher *f);
void fm_coverage_done(struct finisher *f);
char *fm_coverage_path(struct finisher *f, const struct node_point *point);
/* ps_ids: of the profile, for each ps. */
struct fm_source_map *fm_coverage_lines(struct finisher *f, const uint32_t *ps_ids,
                                        uint32_t ps_count);

/* merge.c: fills pd_class. Of csds that are one, one remains, with the counts of all; the others'
 * callers are FM_RAW_NONE. Callers and callees are the first pds of their classes. */
void fm_merge_edges(struct finisher *f);
uint32_t fm_merge_class(struct finisher *f, uint32_t pd);
