/* SPDX-License-Identifier: Apache-2.0 */
/* Each edge has a site of its caller's procedure, whatever stages before have made of it. */
#include <string.h>

#include "record/finish/notes.h"
#include "record/finish/resolve.h"

enum { ROOT, F, G, PROCS };

static uint32_t add_ps(struct fm_nodes *nodes, const char *name)
{
    struct fm_node_ps ps = {.image = FM_NONE,
                            .proc = FM_NONE,
                            .module = "",
                            .name = name,
                            .linkage = "",
                            .file = "",
                            .css = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    g_array_append_val(nodes->ps, ps);
    return nodes->ps->len - 1;
}

static uint32_t add_normal(struct fm_nodes *nodes, uint32_t ps, uint32_t callee)
{
    struct fm_node_css css = {
        .ps = ps, .kind = FM_SITE_NORMAL, .callee = callee, .file = "", .line = 7};
    return fm_nodes_add_css(nodes, &css);
}

static const struct fm_node_css *css_of(const struct fm_nodes *nodes, const struct fm_raw_csd *csd)
{
    return fm_nodes_css(nodes, csd->css);
}

/* root > f, f > g by f's site, f > f by a site of root's, which has the slot of f's own. */
static void others_site(void)
{
    static uint32_t pd_ps[PROCS] = {ROOT, F, G};
    struct fm_images images = {.all = g_array_new(FALSE, FALSE, sizeof(struct fm_image))};
    struct fm_nodes nodes = {.images = &images,
                             .strings = g_string_chunk_new(256),
                             .ps = g_array_new(FALSE, TRUE, sizeof(struct fm_node_ps)),
                             .css = g_array_new(FALSE, TRUE, sizeof(struct fm_node_css)),
                             .pd_ps = pd_ps};
    for (uint32_t i = 0; i < PROCS; i++)
        g_assert_cmpuint(add_ps(&nodes, i == ROOT ? "root" : i == F ? "f" : "g"), ==, i);
    uint32_t root_f = add_normal(&nodes, ROOT, F), f_g = add_normal(&nodes, F, G);
    struct fm_raw_pd pds[PROCS] = {
        {.maker = FM_RAW_NONE}, {.fn = 10, .maker = 0}, {.fn = 20, .maker = 1}};
    struct fm_raw_csd csds[] = {{.caller = ROOT, .callee = F, .css = root_f, .calls = 1},
                                {.caller = F, .callee = G, .css = f_g, .calls = 2},
                                {.caller = F, .callee = F, .css = root_f, .calls = 3}};
    struct fm_raw_recording recording = {
        .pd_count = PROCS, .csd_count = G_N_ELEMENTS(csds), .pds = pds, .csds = csds};
    nodes.recording = &recording;
    struct fm_finish_notes notes = {.lines = g_ptr_array_new_with_free_func(g_free)};
    fm_resolve_sites(&recording, &nodes, &notes);
    for (guint i = 0; i < G_N_ELEMENTS(csds); i++)
        g_assert_cmpuint(css_of(&nodes, &csds[i])->ps, ==, pd_ps[csds[i].caller]);
    g_assert_cmpuint(csds[0].css, ==, root_f);
    g_assert_cmpuint(csds[1].css, ==, f_g);
    g_assert_cmpuint(css_of(&nodes, &csds[1])->kind, ==, FM_SITE_NORMAL);
    g_assert_cmpuint(css_of(&nodes, &csds[2])->slot, !=, css_of(&nodes, &csds[1])->slot);
    g_assert_cmpuint(css_of(&nodes, &csds[2])->line, ==, 0);
    g_assert_cmpstr(css_of(&nodes, &csds[2])->label, ==, "call of f");
    g_assert_cmpuint(csds[2].calls, ==, 3);
    g_assert_cmpuint(notes.lines->len, ==, 1);
    g_assert_nonnull(strstr(notes.lines->pdata[0], "the call sites of 1 contexts are not known"));
    /* Nothing is told of what is in order. */
    fm_resolve_sites(&recording, &nodes, &notes);
    g_assert_cmpuint(notes.lines->len, ==, 1);
    fm_finish_notes_done(&notes);
    for (uint32_t i = 0; i < PROCS; i++)
        g_array_unref(fm_nodes_ps(&nodes, i)->css);
    g_array_unref(nodes.ps);
    g_array_unref(nodes.css);
    g_string_chunk_free(nodes.strings);
    g_array_unref(images.all);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/resolve/others-site", others_site);
    return g_test_run();
}
