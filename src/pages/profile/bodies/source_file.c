/* SPDX-License-Identifier: Apache-2.0 */
/* source/FILE: a whole source file, each line with its cost. */
#include <string.h>

#include "base/error.h"
#include "pages/profile/bodies/bodies.h"
#include "pages/profile/bodies/source_links.h"
#include "pages/profile/bodies/source_text.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/preferences.h"

#define LINES_MAX 50000u

/* Whether a path ends in the parts of another. */
static bool ends_in(const char *path, const char *parts)
{
    size_t size = strlen(path), part = strlen(parts);
    if (part == 0 || part > size || strcmp(path + size - part, parts) != 0)
        return false;
    return part == size || path[size - part - 1] == '/';
}

/* The file that is meant, in full; NULL with an error when none or several are. */
static const char *find_file(const struct fm_page *page, const char *wanted, GError **error)
{
    const struct fm_profile *profile = page->profile;
    const char *found = NULL, *other = NULL;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        const char *file = profile->ps[ps].file;
        if (strcmp(file, wanted) == 0 && file[0])
            return file;
        if (!ends_in(file, wanted) || (found && strcmp(found, file) == 0))
            continue;
        other = found ? file : other;
        found = found ? found : file;
    }
    if (found && !other)
        return found;
    if (found)
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: several files end in '%.100s', such as %s and %s", page->recording->name,
                    wanted, found, other);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: no function is defined in a file '%.100s'", page->recording->name, wanted);
    return NULL;
}

struct file_view {
    struct fm_page *page;
    const char *file;
    uint32_t functions, ran, last_line;
    struct fm_cost cost;
};

static void look_at_functions(struct file_view *view)
{
    const struct fm_profile *profile = view->page->profile;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        const struct fm_ps *proc = &profile->ps[ps];
        struct fm_cost cost;
        if (strcmp(proc->file, view->file) != 0)
            continue;
        fm_analysis_ps_cost(view->page->analysis, ps, &cost);
        view->functions++;
        view->ran += !fm_cost_is_inactive(&cost);
        view->last_line = MAX(view->last_line, proc->line);
        for (uint32_t slot = 0; slot < proc->css_count; slot++)
            view->last_line =
                MAX(view->last_line, profile->css[profile->css_of_ps[proc->css_first + slot]].line);
        fm_cost_add(&view->cost, &cost);
    }
    view->last_line = MIN(view->last_line, LINES_MAX);
}

static void add_listing(struct file_view *view)
{
    struct fm_page *page = view->page;
    g_autofree char *note = NULL;
    g_autofree char *text = fm_source_text_read(page, view->file, &note);
    struct fm_line_span span = {1, MAX(view->last_line, 1)};
    if (text)
        span.count = MIN(fm_source_text_count(text, text + strlen(text)), LINES_MAX);
    if (note)
        fm_add_text(page->body, note);
    fm_source_add_time_note(page);
    g_autofree struct fm_line_cost *costs = g_new0(struct fm_line_cost, span.count);
    for (uint32_t ps = 1; ps <= page->profile->ps_count; ps++) {
        if (strcmp(page->profile->ps[ps].file, view->file) == 0)
            fm_source_add_costs(page, ps, 0, span, costs);
    }
    struct fm_query here = fm_page_link(page, FM_CMD_SOURCE, 0);
    here.command.name = (char *)(uintptr_t)view->file;
    fm_source_link_hottest(page, &here, span, costs);
    enum fm_measure_id measure = fm_times_tell(page->profile) ? FM_QUANTA : FM_CALLSEQS;
    uint32_t lines =
        fm_source_add_lines(page, view->file, span, costs, view->cost.own[measure], text);
    fm_display_fact_bool(page->display, "source_shown", text != NULL);
    fm_display_fact_int(page->display, "line_count", lines);
    if (lines == 0)
        fm_add_text(page->body, "No line of it is known to have code.");
}

bool fm_page_source_file(struct fm_page *page, GError **error)
{
    const char *file =
        find_file(page, page->query.command.name ? page->query.command.name : "", error);
    if (file == NULL)
        return false;
    struct file_view view = {.page = page, .file = file};
    g_autofree char *base = g_path_get_basename(file);
    fm_page_begin(page, "source", g_strdup_printf("Source of %s", base));
    look_at_functions(&view);
    fm_display_fact_string(page->display, "file", file);
    fm_display_fact_int(page->display, "function_count", view.functions);
    fm_display_fact_int(page->display, "functions_run_count", view.ran);
    g_autofree char *lead = g_strdup_printf("%u of %u functions ran.", view.ran, view.functions);
    fm_add_text(page->body, lead);
    add_listing(&view);
    fm_controls_general(page);
    return true;
}
