/* SPDX-License-Identifier: Apache-2.0 */
/* flame/MEASURE/DIR/FLAGS/FOCUS: a flame graph, the ways to it and on from it. */
#include "pages/profile/overview/overview.h"

#include <string.h>

#include "pages/profile/measured/flame_view.h"
#include "pages/profile/measured/focus.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"
#include "profile/digest/paths.h"

#define ANCESTORS_MAX 40u

/* The way from the program to the focus, each step the graph from there on. */
static void add_way(struct fm_page *page, const struct fm_digest_focus *focus)
{
    const struct fm_analysis *a = page->analysis;
    uint32_t cliques[ANCESTORS_MAX];
    char name[32];
    if (focus->clique == 0 && focus->ps == 0)
        return;
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Within:");
    fm_list_set_id(list, "way");
    struct fm_query query = fm_page_like(page);
    query.command.name = (char *)(uintptr_t) "all";
    fm_add_link(list, &query, "the whole program");
    uint32_t count = focus->clique ? fm_digest_path(a, focus->clique, cliques, ANCESTORS_MAX) : 0;
    for (uint32_t i = 0; i + 1 < MIN(count, ANCESTORS_MAX); i++) {
        g_autofree char *label = fm_clique_label(page, cliques[i]);
        g_snprintf(name, sizeof name, "clique/%" PRIu32, cliques[i]);
        query.command.name = name;
        fm_add_link(list, &query, label);
    }
}

static void add_controls(struct fm_page *page)
{
    static const struct {
        unsigned flags;
        const char *label, *id, *title;
    } recursions[] = {{0, "Open where wide", "flame-auto", "Recursions (open where wide):"},
                      {FM_FLAME_OPEN, "Open", "flame-open", "Recursions (open):"},
                      {FM_FLAME_SHUT, "Shut", "flame-shut", "Recursions (shut):"}};
    unsigned flags = page->query.command.flags;
    bool up = page->query.command.up;
    struct fm_controls controls = {.page = page,
                                   .title = up ? "Direction (callers):" : "Direction (callees):"};
    struct fm_query query = fm_page_like(page);
    query.command.up = false;
    fm_controls_offer(&controls, &query, "Callees", "flame-down");
    query.command.up = true;
    if (page->query.command.name && strcmp(page->query.command.name, "all") != 0)
        fm_controls_offer(&controls, &query, "Callers", "flame-up");
    unsigned shown = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(recursions); i++)
        shown = (flags & ~(unsigned)FM_FLAME_OWN) == recursions[i].flags ? i : shown;
    controls = (struct fm_controls){.page = page, .title = recursions[shown].title};
    for (unsigned i = 0; i < G_N_ELEMENTS(recursions) && !up; i++) {
        query = fm_page_like(page);
        query.command.flags = (flags & FM_FLAME_OWN) | recursions[i].flags;
        fm_controls_offer(&controls, &query, recursions[i].label, recursions[i].id);
    }
    controls = (struct fm_controls){.page = page,
                                    .title = (flags & FM_FLAME_OWN) != 0 ? "Colour (by self share):"
                                                                         : "Colour (by file):"};
    query = fm_page_like(page);
    query.command.flags = flags & ~(unsigned)FM_FLAME_OWN;
    fm_controls_offer(&controls, &query, "By file", "flame-file");
    query.command.flags = flags | FM_FLAME_OWN;
    fm_controls_offer(&controls, &query, "By self share", "flame-own");
}

static void add_tree_link(struct fm_page *page)
{
    struct fm_query query = fm_page_link(page, FM_CMD_TREE, 0);
    query.command.measure = page->query.command.measure;
    query.command.up = page->query.command.up;
    query.command.depth = 3;
    query.command.name = page->query.command.name;
    fm_add_link(page->body, &query, "The same as a table");
}

bool fm_page_flame(struct fm_page *page, GError **error)
{
    const struct fm_command *command = &page->query.command;
    struct fm_digest_focus focus = fm_focus_of(command);
    struct fm_measured measured;
    bool deeper;
    (void)error;
    fm_measured_of_function(&measured, page, command->measure, focus.ps);
    page->query.command.measure = measured.asked;
    g_autofree char *where = fm_focus_text(page, &focus);
    fm_page_begin(page, "flame",
                  g_strdup_printf("%s of %s by %s", command->up ? "Callers" : "Flame graph", where,
                                  measured.name));
    fm_display_fact_string(page->display, "measure", fm_tree_words[measured.asked]);
    fm_display_fact_string(page->display, "direction", command->up ? "up" : "down");
    fm_add_measures(page, measured.asked);
    add_way(page, &focus);
    add_controls(page);
    const struct fm_flame_wish wish = {
        .measured = &measured,
        .focus = focus,
        .up = command->up,
        .flags = command->flags,
        .width = command->width,
        .id = "flame",
    };
    unsigned boxes = fm_flame_add(page, &wish, &deeper);
    fm_display_fact_int(page->display, "box_count", boxes);
    if (boxes == 0)
        fm_add_text(page->body, measured.whole > 0 ? "Nothing of this measure is here."
                                                   : "Nothing of this measure was recorded.");
    if (deeper)
        fm_add_text(page->body, "Deeper rows are left out: click a box to see what is below it.");
    add_tree_link(page);
    fm_controls_general(page);
    return true;
}
