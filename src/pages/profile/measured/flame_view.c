/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/flame_view.h"

#include <math.h>
#include <string.h>

#include "profile/digest/flame_cache.h"
#include "display/flame.h"
#include "pages/profile/measured/focus.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/names.h"

#define WIDTH_USUAL 1200u
#define FOCUS_BYTES 32

struct drawing {
    struct fm_page *page;
    const struct fm_flame_wish *wish;
    struct fm_digest_flame flame;
    const struct fm_module *slots[FM_DIGEST_SLOTS];
    unsigned slot_count;
};

static unsigned colour_of(const struct drawing *drawing, const struct fm_digest_node *node,
                          const struct fm_digest_box *box)
{
    if (drawing->wish->flags & FM_FLAME_OWN) {
        double share = box->total > 0 ? (double)box->own / (double)box->total : 0;
        return 10 + 1 + (unsigned)MIN(share * FM_FLAME_HEATS, FM_FLAME_HEATS - 1);
    }
    if (box->joined || node->ps == 0)
        return 0;
    const char *module = drawing->page->profile->ps[node->ps].decl_module;
    for (unsigned i = 0; i < drawing->slot_count; i++) {
        if (strcmp(drawing->slots[i]->name, module) == 0)
            return i + 1;
    }
    return 0;
}

static char *box_label(const struct drawing *drawing, const struct fm_digest_box *box,
                       const struct fm_digest_node *node)
{
    if (box->joined)
        return g_strdup_printf("%" PRIu32 " more", box->joined);
    g_autoptr(GString) label = g_string_new(NULL);
    for (uint32_t i = 0; i < box->chain; i++) {
        const struct fm_digest_node *each =
            &g_array_index(drawing->flame.nodes, struct fm_digest_node, box->node + i);
        g_autofree char *name = fm_node_label(drawing->page, each);
        g_string_append_printf(label, "%s%s", i ? " \u203a " : "", name);
    }
    (void)node;
    return g_string_free(g_steal_pointer(&label), FALSE);
}

static char *box_title(const struct drawing *drawing, const struct fm_digest_box *box,
                       const struct fm_digest_node *node, const char *label, const char *place)
{
    const struct fm_measured *measured = drawing->wish->measured;
    g_autofree char *amount = fm_measured_text(measured, box->active);
    g_autofree char *total = fm_format_at_most(amount, box->at_most);
    g_autofree char *own = fm_measured_text(measured, box->own);
    g_autofree char *share = fm_format_share(fm_measured_share(measured, box->active));
    g_autofree char *calls = fm_format_int(node->calls);
    g_autoptr(GString) title = g_string_new(label);
    if (place && !box->joined)
        g_string_append_printf(title, "  %s", place);
    g_string_append_printf(title, "\ntotal %s  %s %%", total, share);
    if (measured->is_time && measured->sample > 0) {
        double spread = fm_measured_spread(measured, box->active) * measured->tick;
        g_string_append_printf(title, "  \u00b1%.0f ms", spread * 1e3);
    }
    if (box->active != box->total) {
        g_autofree char *part = fm_measured_text(measured, box->total);
        g_string_append_printf(title, "\nof the recursion's %s", part);
    }
    if (!drawing->wish->up)
        g_string_append_printf(title, "\nself %s", own);
    if (!box->joined && node->calls > 0)
        g_string_append_printf(title, "\n%s call%s%s", calls, node->calls == 1 ? "" : "s",
                               node->inlined ? ", and those of inlined bodies" : "");
    else if (!box->joined && node->inlined && fm_profile_knows(drawing->page->profile, FM_EXITS))
        g_string_append(title, "\ninlined: its calls are not recorded");
    return g_string_free(g_steal_pointer(&title), FALSE);
}

/* Link of a box: the same graph with this box as root; for a function of a recursion, its page. */
static bool box_link(const struct drawing *drawing, const struct fm_digest_box *box,
                     const struct fm_digest_node *node, char focus[FOCUS_BYTES],
                     struct fm_query *ret)
{
    const struct fm_flame_wish *wish = drawing->wish;
    if (box->joined)
        return false;
    if (node->kind == FM_NODE_MEMBER && !wish->up) {
        *ret = fm_page_link(drawing->page, FM_CMD_PROC, node->ps);
        return true;
    }
    *ret = fm_page_link(drawing->page, FM_CMD_FLAME, 0);
    if (wish->up)
        g_snprintf(focus, FOCUS_BYTES, "proc/%" PRIu32, node->ps);
    else
        g_snprintf(focus, FOCUS_BYTES, "clique/%" PRIu32, node->clique);
    ret->command.measure = wish->measured->asked;
    ret->command.up = wish->up;
    ret->command.flags = wish->flags;
    ret->command.name = focus;
    return true;
}

static int64_t spread_of(const struct fm_measured *measured, int64_t total)
{
    return measured->is_time ? (int64_t)(fm_measured_spread(measured, total) + 0.5) : 0;
}

static void add_box(struct drawing *drawing, struct fm_flame *to, const struct fm_digest_box *box)
{
    const struct fm_digest_node *node =
        &g_array_index(drawing->flame.nodes, struct fm_digest_node, box->node + box->chain - 1);
    const struct fm_ps *proc = node->ps ? &drawing->page->profile->ps[node->ps] : NULL;
    char focus[FOCUS_BYTES];
    struct fm_query query;
    bool links = box_link(drawing, box, node, focus, &query);
    g_autofree char *place =
        proc && proc->file[0] ? fm_name_place(drawing->page, proc->file, proc->line) : NULL;
    g_autofree char *label = box_label(drawing, box, node);
    g_autofree char *title = box_title(drawing, box, node, label, place);
    fm_flame_add_box(
        to, &(struct fm_flame_box){
                .row = box->row,
                .x = box->x,
                .width = box->width,
                .label = label,
                .full = box->joined || node->kind == FM_NODE_RECURSION || box->chain > 1
                            ? NULL
                            : fm_full_name_ps(drawing->page, node->ps),
                .title = title,
                .query = links ? &query : NULL,
                .colour = colour_of(drawing, node, box),
                .flags = (node->kind == FM_NODE_RECURSION ? FM_BOX_RECURSION
                          : node->kind == FM_NODE_MEMBER  ? FM_BOX_MEMBER
                                                          : 0) |
                         (box->joined ? FM_BOX_JOINED : 0) | (box->at_most ? FM_BOX_AT_MOST : 0),
                .own = box->own,
                .total = box->total,
                .active = box->active,
                .spread = spread_of(drawing->wish->measured, box->active),
                .calls = box->joined ? 0 : node->calls,
                .place = place,
                .proc = box->joined ? 0 : node->ps,
            });
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_legend(const struct drawing *drawing, struct fm_flame *to)
{
    static const char *const heats[] = {"hardly any of it its own", "a fifth", "two fifths",
                                        "three fifths", "mostly its own"};
    if (drawing->wish->flags & FM_FLAME_OWN) {
        for (unsigned i = 0; i < FM_FLAME_HEATS; i++)
            fm_flame_add_legend(to, 10 + 1 + i, heats[i]);
        return;
    }
    for (unsigned i = 0; i < drawing->slot_count; i++)
        fm_flame_add_legend(to, i + 1, last_part(drawing->slots[i]->name));
    fm_flame_add_legend(
        to, 0, drawing->page->profile->flavour == FM_FLAVOUR_C ? "other files" : "other modules");
}

static void set_scale(struct fm_page *page, const struct fm_flame_wish *wish, struct fm_flame *to)
{
    char focus[FOCUS_BYTES] = "all";
    struct fm_query query = fm_page_link(page, FM_CMD_FLAME, 0);
    if (wish->focus.clique)
        g_snprintf(focus, sizeof focus, "clique/%" PRIu32, wish->focus.clique);
    else if (wish->focus.ps)
        g_snprintf(focus, sizeof focus, "proc/%" PRIu32, wish->focus.ps);
    query.command.measure = wish->measured->asked;
    query.command.up = wish->up;
    query.command.flags = wish->flags;
    query.command.name = focus;
    fm_flame_set_scale(to, &(struct fm_flame_scale){
                               .query = &query,
                               .measure = fm_tree_words[wish->measured->asked],
                               .unit_seconds = wish->measured->is_time ? wish->measured->tick : 0,
                               .sample = wish->measured->is_time ? wish->measured->sample : 0,
                               .whole = wish->measured->whole,
                           });
}

unsigned fm_flame_add(struct fm_page *page, const struct fm_flame_wish *wish, bool *ret_deeper)
{
    g_return_val_if_fail(wish->measured != NULL && ret_deeper != NULL, 0);
    struct drawing drawing = {.page = page, .wish = wish};
    const struct fm_digest_flame_options options = {
        .width = wish->width ? wish->width : WIDTH_USUAL,
        .recursions = wish->flags & FM_FLAME_SHUT   ? FM_RECURSIONS_SHUT
                      : wish->flags & FM_FLAME_OPEN ? FM_RECURSIONS_OPEN
                                                    : FM_RECURSIONS_AUTO,
        .boxes_max = wish->boxes_max,
        .rows_max = wish->rows_max,
    };
    /* Colours depend on this measure, so that they are the same on all pages of a file. */
    struct fm_measured dominant;
    fm_measured_init(&dominant, page->recording, FM_QUERY_BY_AUTO);
    drawing.slot_count = fm_digest_module_slots(page->analysis, dominant.measure, drawing.slots);
    fm_flame_cache_layout(page->recording->flames, page->analysis, wish->measured->measure,
                          wish->up, &wish->focus, &options, &drawing.flame);
    guint count = drawing.flame.boxes->len;
    if (count > 0) {
        g_autofree char *where = fm_focus_text(page, &wish->focus);
        g_autofree char *label = g_strdup_printf(
            "%s of %s by %s", wish->up ? "Callers" : "Flame graph", where, wish->measured->name);
        struct fm_flame *to = fm_add_flame(page->body, wish->id, label);
        if (wish->upwards)
            fm_flame_set_upwards(to);
        else
            set_scale(page, wish, to);
        for (guint i = 0; i < count; i++)
            add_box(&drawing, to, &g_array_index(drawing.flame.boxes, struct fm_digest_box, i));
        if (!wish->upwards)
            add_legend(&drawing, to);
    }
    *ret_deeper = drawing.flame.deeper;
    fm_digest_flame_done(&drawing.flame);
    return count;
}
