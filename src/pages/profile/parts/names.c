/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/parts/names.h"

#include <string.h>

#include "base/text/cxx_name.h"
#include "pages/profile/parts/page.h"

const char *fm_shown_name(const struct fm_page *page, uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= page->profile->ps_count, "");
    return fm_shown_names_get(page->names, ps);
}

const char *fm_name_ps(const struct fm_page *page, uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= page->profile->ps_count, "");
    const struct fm_ps *proc = &page->profile->ps[ps];
    switch (page->query.preferences.qualify) {
    case FM_QUALIFY_ALWAYS:
        return proc->qualified_name;
    case FM_QUALIFY_NEVER:
        return fm_shown_name(page, ps);
    case FM_QUALIFY_WHEN_DIFFERENT:
        if (fm_profile_has_short_name(page->profile, ps) &&
            strcmp(fm_profile_short_name(page->profile, ps), proc->unqualified_name) != 0)
            return fm_shown_name(page, ps);
        return page->module && strcmp(page->module, proc->decl_module) == 0
                   ? fm_shown_name(page, ps)
                   : proc->brief_name;
    }
    g_assert_not_reached();
}

const char *fm_full_name_ps(const struct fm_page *page, uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= page->profile->ps_count, NULL);
    const struct fm_ps *proc = &page->profile->ps[ps];
    bool shortened =
        page->profile->flavour == FM_FLAVOUR_C && strcmp(proc->name, fm_shown_name(page, ps)) != 0;
    return shortened ? proc->name : NULL;
}

const char *fm_css_file(const struct fm_profile *profile, uint32_t css)
{
    g_return_val_if_fail(css >= 1 && css <= profile->css_count, "");
    const struct fm_css *site = &profile->css[css];
    return site->file[0] ? site->file : profile->ps[site->ps].file;
}

char *fm_name_site(const struct fm_page *page, uint32_t css, bool called)
{
    g_return_val_if_fail(css >= 1 && css <= page->profile->css_count, NULL);
    const struct fm_css *site = &page->profile->css[css];
    const char *kind = page->terms->site_kinds[site->kind];
    g_autofree char *label =
        fm_cxx_name_shorten(page->profile->flavour == FM_FLAVOUR_C ? fm_css_label(site) : "");
    if (!label[0])
        return site->kind == FM_SITE_NORMAL ? g_strdup_printf("unknown %s", page->terms->proc)
                                            : g_strdup(kind);
    if (site->kind != FM_SITE_CALLBACK || !page->profile->ps[site->ps].decl_module[0])
        return g_steal_pointer(&label);
    return g_strdup_printf(called ? "callback from %s" : "call of %s", label);
}

char *fm_name_place(const struct fm_page *page, const char *file, uint32_t line)
{
    if (page->profile->flavour == FM_FLAVOUR_C) {
        const char *slash = strrchr(file, '/');
        file = slash ? slash + 1 : file;
        if (line == 0) /* no debug information */
            return g_strdup(file);
    }
    return g_strdup_printf("%s:%" PRIu32, file, line);
}

void fm_function_crumbs(struct fm_page *page, uint32_t ps, const char *what)
{
    g_return_if_fail(ps >= 1 && ps <= page->profile->ps_count);
    const struct fm_ps *proc = &page->profile->ps[ps];
    struct fm_list *crumbs = fm_display_crumbs(page->display);
    struct fm_query files = fm_page_link(page, FM_CMD_PROGRAM_MODULES, 0);
    struct fm_query file = fm_page_link(page, FM_CMD_MODULE, 0);
    struct fm_query function = fm_page_link(page, FM_CMD_PROC, ps);
    if (!proc->decl_module[0])
        return;
    file.command.module = (char *)(uintptr_t)proc->decl_module;
    fm_add_link(crumbs, &files, page->terms->modules_title);
    fm_add_link(crumbs, &file, proc->decl_module);
    if (what == NULL) {
        fm_add_text(crumbs, fm_shown_name(page, ps));
        return;
    }
    fm_add_link(crumbs, &function, fm_shown_name(page, ps));
    fm_add_text(crumbs, what);
}
