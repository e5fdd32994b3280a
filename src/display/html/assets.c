/* SPDX-License-Identifier: Apache-2.0 */
#include "display/html/assets.h"

#include <string.h>

#include "display/html/assets_internal.h"

#define ETAG_DIGITS 16
#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)

static char *override_folder;

void fm_assets_set_folder(const char *folder)
{
    g_free(override_folder);
    override_folder = g_strdup(folder);
}

void fm_asset_done(struct fm_asset *asset)
{
    g_clear_pointer(&asset->data, g_bytes_unref);
    g_clear_pointer(&asset->etag, g_free);
    *asset = (struct fm_asset){0};
}

static const char *type_of(const char *name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".json", "application/json"},
        {".txt", "text/plain; charset=utf-8"},
        {".png", "image/png"},
        {".woff2", "font/woff2"},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        if (g_str_has_suffix(name, types[i].suffix))
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Letters, digits, "-", "_", "." and "/", where no component begins with a dot or is empty. */
static bool name_is_safe(const char *name)
{
    bool at_start = true;

    for (const char *c = name; *c; c++) {
        if (at_start ? !(g_ascii_isalnum(*c) || *c == '_' || *c == '-')
                     : !(g_ascii_isalnum(*c) || strchr("-_./", *c)))
            return false;
        at_start = *c == '/';
    }
    return !at_start;
}

static bool get_from_folder(const char *name, struct fm_asset *ret)
{
    g_autofree char *path = g_build_filename(override_folder, name, NULL);
    char *data;
    gsize size;

    if (!g_file_get_contents(path, &data, &size, NULL))
        return false;
    if (size > FILE_BYTES_MAX) {
        g_free(data);
        return false;
    }
    ret->data = g_bytes_new_take(data, size);
    ret->etag = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, ret->data);
    ret->etag[ETAG_DIGITS] = '\0';
    ret->type = type_of(name);
    return true;
}

bool fm_asset_get(const char *name, struct fm_asset *ret)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    if (!name_is_safe(name))
        return false;
    if (override_folder)
        return get_from_folder(name, ret);
    for (size_t i = 0; i < fm_embedded_asset_count; i++) {
        const struct embedded_asset *asset = &fm_embedded_assets[i];

        if (strcmp(asset->name, name) == 0) {
            ret->data = g_bytes_new_static(asset->data, asset->size);
            ret->etag = g_strdup(asset->etag);
            ret->type = type_of(name);
            return true;
        }
    }
    return false;
}

const char *const *fm_asset_names(void)
{
    return fm_embedded_asset_names;
}
