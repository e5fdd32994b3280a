/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the pages to keep: the first page, the pages of the menu, then linked pages in order of
 * distance, within limits for each kind and in total. A page is made before links to it are
 * written, so there are no dead links. Its size and its links are found by writing it once. */
#include "site/site_internal.h"

#include <string.h>

#include "base/error.h"
#include "profile/digest/hottest.h"
#include "pages/profile/measured/measure.h"

#define ADDRESS_LONGEST "#p0000" /* longest address within one file */
#define DEAREST 60u /* number of functions, paths and recursions that come before all others */

/* Key of a page; NULL: such pages are not kept. "auto" is replaced by the measure that it means. No
 * page is kept for each width of a window, or with preferences. */
static char *key_of(const struct site *site, const char *text, const char *preferences)
{
    struct fm_command command;
    if (preferences || !fm_command_parse(text, &command, NULL))
        return NULL;
    if (command.measure == FM_QUERY_BY_AUTO &&
        (command.id == FM_CMD_TREE || command.id == FM_CMD_FLAME ||
         command.id == FM_CMD_RECURSIONS))
        command.measure = fm_dominant_measure(site->recording);
    command.width = 0;
    char *key = fm_command_print(&command);
    fm_command_done(&command);
    return key;
}

static void page_free(void *pointer)
{
    struct site_page *page = pointer;
    fm_query_done(&page->query);
    g_free(page->address);
    if (page->display)
        fm_display_free(page->display);
    g_free(page);
}

void site_clear(struct site *site)
{
    g_clear_pointer(&site->known, g_hash_table_unref);
    g_clear_pointer(&site->names, g_hash_table_unref);
    g_clear_pointer(&site->pages, g_ptr_array_unref);
    g_clear_pointer(&site->found, g_ptr_array_unref);
    if (site->scratch)
        g_string_free(site->scratch, TRUE);
    site->scratch = NULL;
}

bool site_go_on(const struct site *site, const char *step, uint64_t done, uint64_t total,
                GError **error)
{
    const struct fm_progress *progress = site->progress;
    if (!progress || !progress->report || progress->report(progress->user, step, done, total))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_CANCELLED, "%s: stopped", step);
    return false;
}

const char *site_address(void *user, const char *command, const char *preferences)
{
    const struct site *site = user;
    g_autofree char *key = key_of(site, command, preferences);
    if (!key)
        return NULL;
    const struct site_page *page = g_hash_table_lookup(site->known, key);
    return page ? page->address : NULL;
}

/* While pages are chosen: notes each link, and reserves room for the longest address. */
static const char *hear(void *user, const char *command, const char *preferences)
{
    struct site *site = user;
    g_autofree char *key = key_of(site, command, preferences);
    if (!key)
        return NULL;
    if (!g_hash_table_contains(site->known, key)) {
        g_hash_table_insert(site->known, g_strdup(key), NULL);
        g_ptr_array_add(site->found, g_steal_pointer(&key));
    }
    return ADDRESS_LONGEST;
}

void site_html_options(const struct site *site, const struct fm_html_kept *kept,
                       struct fm_html_options *ret)
{
    *ret = (struct fm_html_options){
        .recording_name = site->recording->name,
        .tabs = fm_render_tabs(site->recording),
        .kept = kept,
        .body_class = "kept",
    };
}

bool site_make(const struct site *site, const struct site_page *page, struct fm_display **ret,
               struct fm_preferences *preferences, GError **error)
{
    return fm_pages_make(site->recording, &page->query, preferences, ret, error);
}

/* Size of a document of one page, without its frame. */
static size_t section_bytes(const GString *document)
{
    const char *start = strstr(document->str, "<section class=\"part\"");
    const char *end = g_strrstr(document->str, "</main>");
    g_assert(start != NULL && end > start);
    return (size_t)(end - start);
}

/* Makes the page, writes it for its size, and notes its links. NULL: the page cannot be made. */
static struct fm_display *measure(struct site *site, struct site_page *page, size_t *bytes)
{
    const struct fm_html_kept listening = {hear, site};
    struct fm_html_options options;
    struct fm_preferences preferences;
    struct fm_display *display;
    if (!site_make(site, page, &display, &preferences, NULL))
        return NULL;
    site_html_options(site, &listening, &options);
    g_string_truncate(site->scratch, 0);
    const struct fm_html_part part = {display, &preferences, &ADDRESS_LONGEST[1]};
    fm_html_write_parts(&part, 1, &options, site->scratch);
    *bytes = section_bytes(site->scratch);
    return display;
}

/* Forgets the links noted since then. */
static void unhear(struct site *site, guint heard)
{
    for (guint i = heard; i < site->found->len; i++)
        g_hash_table_remove(site->known, site->found->pdata[i]);
    g_ptr_array_set_size(site->found, (gint)heard);
}

/* As above, with as much content as there is room for. */
static struct fm_display *measure_wide(struct site *site, struct site_page *page, size_t *bytes)
{
    const struct site_form *form = site->form;
    guint heard = site->found->len;
    unsigned step = 0;
    bool wide = form->widen && form->widen(&page->query.command, step);
    struct fm_display *display = measure(site, page, bytes);
    size_t most = form->wide_bytes_max / (site->counts[page->query.command.id] > 0 ? 2 : 1);
    while (display && wide && *bytes > most && form->widen(&page->query.command, ++step)) {
        fm_display_free(display);
        unhear(site, heard);
        display = measure(site, page, bytes);
    }
    return display;
}

/* Adds the page to the site if it can be made and there is room. */
static void consider(struct site *site, guint place)
{
    g_assert(place < site->found->len);
    const char *key = site->found->pdata[place];
    const struct site_form *form = site->form;
    struct site_page *page = g_new0(struct site_page, 1);
    guint heard = site->found->len;
    size_t bytes = 0;
    bool parsed = fm_command_parse(key, &page->query.command, NULL);
    enum fm_command_id id = page->query.command.id;
    page->key = key;
    page->query.compact = true;
    g_autoptr(FmDisplay) display = NULL;
    if (parsed && site->counts[id] < (form->is_folder ? fm_command_forms[id].in_folder
                                                      : fm_command_forms[id].in_file))
        display = measure_wide(site, page, &bytes);
    bool fits = site->bytes + bytes <= form->bytes_max &&
                (place < site->ways || bytes <= form->page_bytes_max);
    if (!display || (site->pages->len > 0 && !fits)) {
        unhear(site, heard);
        page_free(page);
        return;
    }
    site->bytes += bytes;
    site->counts[id]++;
    page->address = form->name(site, page);
    if (form->keeps_displays)
        page->display = g_steal_pointer(&display);
    g_ptr_array_add(site->pages, page);
    g_hash_table_insert(site->known, g_strdup(key), page);
}

static void begin(struct site *site, const struct site_form *form,
                  const struct fm_open_profile *recording, const struct fm_progress *progress)
{
    *site = (struct site){
        .recording = recording,
        .form = form,
        .progress = progress,
        .known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .pages = g_ptr_array_new_with_free_func(page_free),
        .found = g_ptr_array_new_with_free_func(g_free),
        .scratch = g_string_new(NULL),
    };
}

static void hear_number(struct site *site, const char *word, uint32_t number)
{
    char command[32];
    g_snprintf(command, sizeof command, "%s/%" G_GUINT32_FORMAT, word, number);
    hear(site, command, NULL);
}

static void hear_functions(struct site *site, enum fm_measure_id measure, bool with_descendants)
{
    const struct fm_top_query query = {
        .kind = fm_cost_kind_of(measure),
        .limit = FM_LIMIT_RANK,
        .first = 1,
        .last = DEAREST / 2,
        .with_descendants = with_descendants,
    };
    g_autofree uint32_t *ps = NULL;
    uint32_t count;
    fm_analysis_top(site->recording->analysis, &query, &ps, &count);
    for (uint32_t i = 0; i < count; i++)
        hear_number(site, "proc", ps[i]);
}

/* Notes the pages that readers most likely ask for, even if no page links there. */
static void hear_dearest(struct site *site)
{
    const struct fm_hot_path *paths;
    const struct fm_hot_recursion *recursions;
    struct fm_measured measured;
    fm_measured_init(&measured, site->recording, FM_QUERY_BY_AUTO);
    hear_functions(site, measured.measure, false);
    unsigned count = fm_hot_paths(site->recording->hot, measured.measure, false, &paths);
    for (unsigned i = 0; i < MIN(count, DEAREST); i++)
        hear_number(site, "clique", paths[i].clique);
    count = fm_hot_recursions(site->recording->hot, measured.measure, &recursions);
    for (unsigned i = 0; i < MIN(count, DEAREST); i++)
        hear_number(site, "clique", recursions[i].clique);
    hear_functions(site, measured.measure, true);
}

/* Notes the flame graph of each recorded measure. */
static void hear_pictures(struct site *site)
{
    for (enum fm_query_measure measure = 0; measure < FM_QUERY_BY_AUTO; measure++) {
        char command[64];
        if (!fm_measure_is_offered(site->recording, measure) ||
            !fm_measure_is_recorded(site->recording, measure))
            continue;
        g_snprintf(command, sizeof command, "flame/%s/down/_/all", fm_tree_words[measure]);
        hear(site, command, NULL);
    }
}

bool site_choose(struct site *site, const struct site_form *form,
                 const struct fm_open_profile *recording, const struct fm_progress *progress,
                 GError **error)
{
    begin(site, form, recording, progress);
    hear(site, "menu", NULL);
    for (const struct fm_command_tab *tab = fm_render_tabs(recording); tab->label; tab++)
        hear(site, tab->address, NULL);
    if (form->dearest_first)
        hear_pictures(site);
    site->ways = site->found->len;
    if (form->dearest_first)
        hear_dearest(site);
    for (guint i = 0; i < site->found->len; i++) {
        if (i % 16 == 0 && !site_go_on(site, "choosing pages", i, site->found->len, error))
            return false;
        if (site->pages->len >= form->pages_max)
            break;
        consider(site, i);
    }
    return true;
}
