/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/focus.h"

#include <stdlib.h>
#include <string.h>

#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/names.h"

struct fm_digest_focus fm_focus_of(const struct fm_command *command)
{
    struct fm_digest_focus focus = {0};
    const char *name = command->name;
    if (name && g_str_has_prefix(name, "clique/"))
        focus.clique = (uint32_t)strtoul(name + strlen("clique/"), NULL, 10);
    else if (name && g_str_has_prefix(name, "proc/"))
        focus.ps = (uint32_t)strtoul(name + strlen("proc/"), NULL, 10);
    return focus;
}

char *fm_focus_text(const struct fm_page *page, const struct fm_digest_focus *focus)
{
    if (focus->ps != 0)
        return g_strdup_printf("%s in all contexts", fm_name_ps(page, focus->ps));
    if (focus->clique != 0)
        return fm_clique_path(page, focus->clique, 8);
    return g_strdup("the whole program");
}

char *fm_node_label(const struct fm_page *page, const struct fm_digest_node *node)
{
    g_return_val_if_fail(node->kind == FM_NODE_WHOLE ||
                             (node->ps >= 1 && node->ps <= page->profile->ps_count),
                         NULL);
    if (node->kind == FM_NODE_WHOLE)
        return g_strdup("the whole program");
    const char *name = fm_shown_name(page, node->ps);
    if (node->kind == FM_NODE_RECURSION)
        return g_strdup_printf("\u27f2\u00a0%s\u00a0+%" PRIu32, name, node->procs - 1);
    if (node->recurses)
        return g_strdup_printf("%s\u00a0\u27f2", name);
    return g_strdup(name);
}

char *fm_node_site(const struct fm_page *page, const struct fm_digest_node *node)
{
    const struct fm_profile *profile = page->profile;
    if (node->css == 0)
        return NULL;
    const char *file = fm_css_file(profile, node->css);
    uint32_t line = profile->css[node->css].line;
    if (!file[0] || line == 0)
        return NULL;
    g_autofree char *place = fm_name_place(page, file, line);
    if (node->sites > 1)
        return g_strdup_printf("%s and %" PRIu32 " more", place, node->sites - 1);
    return g_steal_pointer(&place);
}

struct fm_query fm_node_link(const struct fm_page *page, const struct fm_digest_node *node)
{
    if (node->kind == FM_NODE_RECURSION)
        return fm_page_link(page, FM_CMD_CLIQUE, node->clique);
    return fm_page_link(page, FM_CMD_PROC, node->ps);
}
