/* SPDX-License-Identifier: Apache-2.0 */
/* The common beginning of pages: head, links, checks of the request. */
#include "pages/profile/parts/page.h"

#include "base/error.h"

void fm_page_begin(struct fm_page *page, const char *name, char *title)
{
    g_return_if_fail(name != NULL && title != NULL && page->display == NULL);
    page->display = fm_display_new(title);
    page->body = fm_display_body(page->display);
    fm_display_set_name(page->display, name);
    fm_display_set_namer(page->display, page->namer, page->recording);
    g_free(title);
}

struct fm_query fm_page_link(const struct fm_page *page, enum fm_command_id id, uint32_t number)
{
    g_return_val_if_fail((unsigned)id < FM_CMD_COUNT, (struct fm_query){0});
    struct fm_query query = {.command = {.id = id, .number = number}};
    if (page->links_carry_preferences) {
        query.has_preferences = true;
        query.preferences = page->query.preferences;
    }
    return query;
}

struct fm_query fm_page_same(const struct fm_page *page)
{
    return page->query;
}

struct fm_query fm_page_like(const struct fm_page *page)
{
    struct fm_query query = page->query;
    query.has_preferences = page->links_carry_preferences;
    return query;
}

bool fm_page_check_id(const struct fm_page *page, const char *what, uint32_t number, uint32_t count,
                      GError **error)
{
    if (number >= 1 && number <= count)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                "%s: invalid %s index %" PRIu32 ", expected 1 to %" PRIu32, page->recording->name,
                what, number, count);
    return false;
}

bool fm_page_check_module(const struct fm_page *page, const struct fm_module **ret, GError **error)
{
    g_return_val_if_fail(page->query.command.module != NULL, false);
    const char *name = page->query.command.module;
    *ret = fm_analysis_module(page->analysis, name);
    if (*ret)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: there is no %s named '%s'",
                page->recording->name, page->terms->module, name);
    return false;
}
