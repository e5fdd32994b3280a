/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one file: each page is a section, links are "#p12". It contains the stylesheet and the
 * scripts. */
#include "site/site_internal.h"

#include "base/files/writer.h"
#include "display/html/assets.h"

#define FRAME_BYTES 6000u /* head, ways, ends */
/* The one tree has more levels than a page that is asked for more; pictures have as many boxes as
 * there is room for. */
static bool widen(struct fm_command *command, unsigned step)
{
    static const struct {
        uint32_t depth;
        double least; /* minimum percentage of a row; 0 = the page's default */
    } trees[] = {{12, 0}, {6, 0}, {3, 0}, {3, 0.5}, {3, 1}};
    static const uint32_t widths[] = {2400, 1200, 600, 300, FM_QUERY_WIDTH_MIN};
    if (command->id == FM_CMD_FLAME && step < G_N_ELEMENTS(widths)) {
        command->width = widths[step];
        return true;
    }
    if (command->id != FM_CMD_TREE || step >= G_N_ELEMENTS(trees))
        return false;
    command->depth = trees[step].depth;
    command->threshold = trees[step].least;
    return true;
}

static char *name(struct site *site, const struct site_page *page)
{
    (void)page;
    return g_strdup_printf("#p%u", site->pages->len);
}

static size_t asset_bytes(const char *asset_name)
{
    struct fm_asset asset;
    if (!fm_asset_get(asset_name, &asset))
        return 0;
    size_t size = g_bytes_get_size(asset.data);
    fm_asset_done(&asset);
    return size;
}

static void write_parts(struct site *site, GString *out)
{
    const struct fm_html_kept kept = {site_address, site};
    struct fm_html_options options;
    guint count = site->pages->len;
    g_autofree struct fm_html_part *parts = g_new(struct fm_html_part, count);
    g_autofree struct fm_preferences *preferences = g_new(struct fm_preferences, count);
    site_html_options(site, &kept, &options);
    options.inline_assets = true;
    for (guint i = 0; i < count; i++) {
        const struct site_page *page = site->pages->pdata[i];
        fm_page_preferences_of(site->recording, &page->query, &preferences[i]);
        parts[i] = (struct fm_html_part){page->display, &preferences[i], page->address + 1};
    }
    fm_html_write_parts(parts, count, &options, out);
}

bool fm_site_write_file(const struct fm_open_profile *recording, const char *notice,
                        const char *path, size_t bytes_max, const struct fm_progress *progress,
                        struct fm_site_told *told, GError **error)
{
    g_return_val_if_fail(recording->known == FM_KNOWN_ALL && path != NULL, false);
    size_t frame = FRAME_BYTES + asset_bytes("style.css") + asset_bytes("kept.js");
    const struct site_form form = {
        .widen = widen,
        .name = name,
        .keeps_displays = true,
        .dearest_first = true,
        .bytes_max = bytes_max > frame ? bytes_max - frame : 0,
        .page_bytes_max = bytes_max / 7,
        .wide_bytes_max = bytes_max / 6,
        .pages_max = UINT_MAX,
    };
    struct site site;
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_writer *out;
    if (!site_choose(&site, &form, recording, progress, error)) {
        site_clear(&site);
        return false;
    }
    const struct site_page *first = site.pages->pdata[0];
    if (notice != NULL)
        fm_display_set_notice(first->display, notice);
    write_parts(&site, text);
    if (told)
        *told = (struct fm_site_told){
            .pages = site.pages->len,
            .left_out = g_hash_table_size(site.known) - site.pages->len,
            .bytes = text->len,
        };
    site_clear(&site);
    if (!fm_writer_new(path, &out, error))
        return false;
    fm_writer_bytes(out, text->str, text->len);
    return fm_writer_finish(out, error);
}
