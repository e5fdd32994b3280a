/* SPDX-License-Identifier: Apache-2.0 */
/* Procedures and call sites of the future profile: those in the statics, and those made for code
 * without statics. */
#pragma once

#include "record/finish/images.h"

/* A procedure. */
struct fm_node_ps {
    uint32_t image; /* FM_NONE for threads, unknown addresses */
    uint32_t proc;  /* index in the image's statics, FM_NONE when synthetic */
    const char *module, *name, *linkage, *file;
    uint32_t line;
    uint32_t arity;
    bool variadic, external, virtual_method, inlined;
    GArray *css; /* uint32_t, slot order */
};

/* A call site. */
struct fm_node_css {
    uint32_t ps;
    uint32_t slot;
    enum fm_site_kind kind;
    uint32_t callee;   /* ps, FM_NONE */
    uint32_t actual;   /* ps that was really called: FM_NONE none, FM_MANY several */
    bool only_virtual; /* each callee seen is a virtual method */
    bool inlined;      /* fm_site */
    const char *file;
    uint32_t line, column;
    const char *label; /* foreign callee or another distinction of the site; NULL */
};
#define FM_MANY (UINT32_MAX - 1)

/* For an image: the nodes of its procedures and sites. */
struct fm_image_nodes {
    const struct fm_statics *statics;
    uint32_t *ps_of_proc;  /* FM_NONE = not in the profile; NULL = none is */
    uint32_t *css_of_site; /* likewise */
    GHashTable *places;    /* address -> struct fm_code_place that it is known for; NULL = none */
};

struct fm_nodes {
    const struct fm_images *images;
    const struct fm_raw_recording *recording;
    GStringChunk *strings;
    GArray *ps, *css;                /* struct fm_node_ps, struct fm_node_css */
    struct fm_image_nodes *of_image; /* per image */
    uint32_t *pd_ps;                 /* per pd of the recording; FM_NONE = left out */
    uint32_t *thread_ps, *thread_css;
    GHashTable *synthetic; /* key text -> ps + 1 */
    GHashTable *exported;  /* linker's name -> ps + 1 */
};

/* Makes nodes for all procedures and sites of the images with hooks, for threads and pds. gone: per
 * pd, whether the user excluded it; NULL = none. images and recording must outlive *nodes. */
void fm_nodes_make(struct fm_nodes *nodes, const struct fm_images *images,
                   const struct fm_raw_recording *recording, const bool *gone);
void fm_nodes_done(struct fm_nodes *nodes);
struct fm_node_ps *fm_nodes_ps(const struct fm_nodes *nodes, uint32_t index);
struct fm_node_css *fm_nodes_css(const struct fm_nodes *nodes, uint32_t index);
/* Adds a site to its ps; copies css except slot, actual and only_virtual. */
uint32_t fm_nodes_add_css(struct fm_nodes *nodes, const struct fm_node_css *css);
/* A text that lives as long as the nodes. */
const char *fm_nodes_string(struct fm_nodes *nodes, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The image of an address, if its sites are known, else NULL. */
const struct fm_image_nodes *fm_nodes_image_of(const struct fm_nodes *nodes, uint64_t address,
                                               uint32_t epoch, uint64_t *ret_file);
/* The innermost body that contains the hook of an edge, FM_NONE when not known. */
uint32_t fm_nodes_body_of_hook(const struct fm_nodes *nodes, const struct fm_raw_csd *csd,
                               const struct fm_image_nodes **ret_image);
