/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands: all that is known of a page but how it is made, which
 * pages/profile/pages.c tells. */
#pragma once

#include "query/query.h"

/* Arguments behind the word of a command. */
enum fm_command_shape {
    FM_SHAPE_PLAIN,     /* nothing */
    FM_SHAPE_NUMBER,    /* /N; of some /N/PAGE */
    FM_SHAPE_ROOT,      /* /no or /PERCENT */
    FM_SHAPE_CALLERS,   /* /PS/GROUP/BUNCH/SIZE/CONTOUR */
    FM_SHAPE_MODULE,    /* /NAME, which is all that follows */
    FM_SHAPE_TOP,       /* /LIMIT/KIND/DESC/SCOPE */
    FM_SHAPE_TEXT,      /* /TEXT, which is all that follows */
    FM_SHAPE_TREE,      /* /MEASURE/DIR/DEPTH/FOCUS */
    FM_SHAPE_FLAME,     /* /MEASURE/DIR/FLAGS/FOCUS */
    FM_SHAPE_MEASURE,   /* /MEASURE */
    FM_SHAPE_GRAPH,     /* /MEASURE/FOCUS */
    FM_SHAPE_MEMORY,    /* /SIDE */
    FM_SHAPE_FUNCTIONS, /* /MEASURE/DESC/ROWS */
    FM_SHAPE_LINES,     /* /ROWS or /MEASURE/ROWS */
};

/* The node that a page is about, by its number. */
enum fm_command_subject {
    FM_ABOUT_NO_NODE,
    FM_ABOUT_CLIQUE,
    FM_ABOUT_PS,
    FM_ABOUT_PD,
    FM_ABOUT_CSS,
    FM_ABOUT_CSD,
    FM_ABOUT_MODULE,
};

/* A word of other tools, or of pages, that people try. */
struct fm_command_alias {
    const char *word;
    const char *address; /* the address of the page that is meant; NULL: the command's example, or
                            its word */
};

#define FM_COMMAND_ALIASES_MAX 8u
#define FM_COMMAND_SAMPLES_MAX 4u

struct fm_command_form {
    const char *name;
    enum fm_command_shape shape;
    enum fm_command_subject about; /* FM_SHAPE_NUMBER, _CALLERS, _MODULE; timeout: no node */
    bool named;                    /* a name or path may stand in the number's place */
    bool paged;                    /* a page's number may follow the number, from 2 */
    const char *example;           /* an address, for errors; NULL = none */
    struct fm_command_alias aliases[FM_COMMAND_ALIASES_MAX];
    bool unlisted; /* errors do not name it */
    /* What `fathom check` makes: these addresses, and with checks_each the page of each node. */
    const char *samples[FM_COMMAND_SAMPLES_MAX];
    bool checks_each;
    unsigned in_file, in_folder; /* most pages that are kept without a server, in each form */
};
extern const struct fm_command_form fm_command_forms[FM_CMD_COUNT];

/* Whether its arguments end in a focus: "all", "clique/N", "proc/N", a name, a path. */
bool fm_command_has_focus(enum fm_command_id id);

/* A tab at the top of the pages of a profile. */
struct fm_command_tab {
    enum fm_command_id id;
    const char *element; /* its id in HTML */
    const char *address, *label;
};
/* In their order, ended by label NULL. */
extern const struct fm_command_tab fm_command_tabs_of_mercury[], fm_command_tabs_of_c[];
