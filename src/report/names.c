/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_internal.h"

#include <string.h>

const char *fm_name_ps(const struct fm_page *page, uint32_t ps)
{
    const struct fm_ps *proc = &page->profile->ps[ps];
    switch (page->query.preferences.qualify) {
    case FM_QUALIFY_ALWAYS:
        return proc->qualified_name;
    case FM_QUALIFY_NEVER:
        return proc->unqualified_name;
    case FM_QUALIFY_WHEN_DIFFERENT:
        return page->module && strcmp(page->module, proc->decl_module) == 0 ? proc->unqualified_name
                                                                            : proc->qualified_name;
    }
    g_assert_not_reached();
}

const char *fm_css_file(const struct fm_profile *profile, uint32_t css)
{
    const struct fm_css *site = &profile->css[css];
    return site->file[0] ? site->file : profile->ps[site->ps].file;
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
