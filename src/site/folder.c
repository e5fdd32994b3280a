/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a folder: each page is a file in it, shared files are in assets/. Everything is first
 * written to a temporary folder beside it, which is renamed at the end. */
#include "site/site_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/writer.h"
#include "display/html/assets.h"

#include <glib/gstdio.h>

#define NAME_BYTES_MAX 80u
#define NAMES "names.js"
#define NAMES_PATH "assets/" NAMES
#define NAMES_BEGIN "globalThis.fathomNames = ["

/* "proc-12.html": only letters and digits that every file system and server takes as they are, and
 * no two names that differ in the size of letters alone. */
static char *name(struct site *site, const struct site_page *page)
{
    if (page->query.command.id == FM_CMD_MENU)
        return g_strdup("index.html");
    g_autoptr(GString) text = g_string_new(NULL);
    for (const char *c = page->key; *c && text->len < NAME_BYTES_MAX; c++)
        g_string_append_c(text, g_ascii_isalnum(*c) || *c == '.' || *c == '_' ? *c : '-');
    g_autofree char *small = g_ascii_strdown(text->str, -1);
    if (g_hash_table_contains(site->names, small)) {
        g_string_append_printf(text, "-%u", site->pages->len);
        g_free(small);
        small = g_ascii_strdown(text->str, -1);
    }
    g_hash_table_add(site->names, g_steal_pointer(&small));
    g_string_append(text, ".html");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool write_file(const char *folder, const char *file, const void *bytes, size_t size,
                       GError **error)
{
    g_autofree char *path = g_build_filename(folder, file, NULL);
    struct fm_writer *out;
    if (!fm_writer_new(path, &out, error))
        return false;
    fm_writer_bytes(out, bytes, size);
    return fm_writer_finish(out, error);
}

static bool write_asset(const char *folder, const char *asset_name, uint64_t *bytes, GError **error)
{
    struct fm_asset asset;
    if (!fm_asset_get(asset_name, &asset)) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: not among the program's files",
                    asset_name);
        return false;
    }
    gsize size;
    gconstpointer data = g_bytes_get_data(asset.data, &size);
    g_autofree char *file = g_build_filename("assets", asset_name, NULL);
    bool done = write_file(folder, file, data, size, error);
    *bytes += size;
    fm_asset_done(&asset);
    return done;
}

static bool write_page(struct site *site, const struct site_page *page, const char *folder,
                       uint64_t *bytes, GError **error)
{
    const struct fm_html_kept kept = {site_address, site};
    struct fm_html_options options;
    struct fm_preferences preferences;
    g_autoptr(FmDisplay) display = NULL;
    if (!site_make(site, page, &display, &preferences, error))
        return false;
    site_html_options(site, &kept, &options);
    options.asset_prefix = "assets/";
    g_string_truncate(site->scratch, 0);
    fm_html_write(display, &preferences, &options, site->scratch);
    *bytes += site->scratch->len;
    return write_file(folder, page->address, site->scratch->str, site->scratch->len, error);
}

static void append_name(GString *out, const char *name, const char *note, const char *address)
{
    const char *const parts[] = {name, note, address};
    g_string_append(out, out->len > strlen(NAMES_BEGIN) ? ",\n[" : "\n[");
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_string_append(out, i ? ", \"" : "\"");
        for (const char *c = parts[i]; *c; c++) {
            if ((unsigned char)*c < 0x20 || *c == '"' || *c == '\\' || *c == '<')
                g_string_append_printf(out, "\\u%04x", (unsigned char)*c);
            else
                g_string_append_c(out, *c);
        }
        g_string_append_c(out, '"');
    }
    g_string_append_c(out, ']');
}

/* Writes the names of functions and files that have a page, for the search. It is a script, because
 * browsers read no other data from local files. */
static bool write_names(const struct site *site, const char *folder, uint64_t *bytes,
                        GError **error)
{
    const struct fm_profile *profile = site->recording->profile;
    g_autoptr(GString) out = g_string_new(NAMES_BEGIN);
    g_autofree char *file = g_build_filename("assets", NAMES, NULL);
    for (guint i = 0; i < site->pages->len; i++) {
        const struct site_page *page = site->pages->pdata[i];
        const struct fm_command *command = &page->query.command;
        if (command->id == FM_CMD_PROC && command->number >= 1 &&
            command->number <= profile->ps_count) {
            const struct fm_ps *ps = &profile->ps[command->number];
            append_name(out, fm_profile_short_name(profile, command->number), ps->decl_module,
                        page->address);
        } else if (command->id == FM_CMD_MODULE && command->module != NULL) {
            append_name(out, command->module, "", page->address);
        }
    }
    g_string_append(out, "];\n");
    *bytes += out->len;
    return write_file(folder, file, out->str, out->len, error);
}

static bool write_all(struct site *site, const char *folder, uint64_t *bytes, GError **error)
{
    g_autofree char *assets = g_build_filename(folder, "assets", NULL);
    if (g_mkdir(folder, 0777) != 0 || g_mkdir(assets, 0777) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot make the folder: %s", folder,
                    g_strerror(errno));
        return false;
    }
    if (!write_asset(folder, "style.css", bytes, error) ||
        !write_asset(folder, "kept.js", bytes, error) || !write_names(site, folder, bytes, error))
        return false;
    for (guint i = 0; i < site->pages->len; i++) {
        if (i % 16 == 0 && !site_go_on(site, "writing pages", i, site->pages->len, error))
            return false;
        if (!write_page(site, site->pages->pdata[i], folder, bytes, error))
            return false;
    }
    return true;
}

/* Removes the files that write_all() wrote. */
static void remove_all(const struct site *site, const char *folder)
{
    static const char *const shared[] = {"assets/style.css", "assets/kept.js", NAMES_PATH,
                                         "assets"};
    for (guint i = 0; i < site->pages->len; i++) {
        const struct site_page *page = site->pages->pdata[i];
        g_autofree char *path = g_build_filename(folder, page->address, NULL);
        g_remove(path);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(shared); i++) {
        g_autofree char *path = g_build_filename(folder, shared[i], NULL);
        g_remove(path);
    }
    g_rmdir(folder);
}

/* rename() replaces an empty folder, but nothing else. */
static bool is_free(const char *folder, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    if ((dir && !g_dir_read_name(dir)) || (!dir && !g_file_test(folder, G_FILE_TEST_EXISTS)))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: expected a folder that is new or empty", folder);
    return false;
}

static bool write_chosen(struct site *site, const char *folder, uint64_t *bytes, GError **error)
{
    g_autofree char *new_folder = g_strdup_printf("%s.%d.new", folder, (int)getpid());
    bool done = write_all(site, new_folder, bytes, error);
    if (done && g_rename(new_folder, folder) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot move it into place: %s", folder,
                    g_strerror(errno));
        done = false;
    }
    if (!done)
        remove_all(site, new_folder);
    return done;
}

bool fm_site_write_folder(const struct fm_open_profile *recording, const char *folder,
                          unsigned pages_max, const struct fm_progress *progress,
                          struct fm_site_told *told, GError **error)
{
    g_return_val_if_fail(recording->known == FM_KNOWN_ALL && folder != NULL && pages_max > 0,
                         false);
    const struct site_form form = {.is_folder = true,
                                   .name = name,
                                   .bytes_max = SIZE_MAX,
                                   .page_bytes_max = SIZE_MAX,
                                   .pages_max = pages_max};
    g_autofree char *path = g_strdup(folder);
    struct site site;
    uint64_t bytes = 0;
    for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
        path[size - 1] = '\0';
    if (!is_free(path, error))
        return false;
    bool done = site_choose(&site, &form, recording, progress, error) &&
                write_chosen(&site, path, &bytes, error);
    if (done && told)
        *told = (struct fm_site_told){
            .pages = site.pages->len,
            .left_out = g_hash_table_size(site.known) - site.pages->len,
            .bytes = bytes,
        };
    site_clear(&site);
    return done;
}
