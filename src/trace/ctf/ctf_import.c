/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the traces of a folder as one log. Traces that the library rejects are repaired or
 * salvaged first. */
#include "base/error.h"
#include "trace/ctf/ctf_import.h"

#include <string.h>

struct sources {
    bt_graph *graph;
    GPtrArray *folders;    /* input: the trace folders, or salvaged copies */
    GPtrArray *names;      /* the trace folders */
    GPtrArray *tried;      /* not NULL: salvage was tried */
    GPtrArray *components; /* holds const bt_component_source, belonging to the graph */
    GPtrArray *salvaged;   /* folders to remove */
    char *first_message;
};

/* A folder was rejected: replaces it by the salvaged part, or removes it. */
static void replace_folder(struct ctf_graph *graph, struct sources *sources, guint at,
                           const char *message)
{
    g_assert(at < sources->folders->len && sources->tried->len == sources->folders->len);
    const char *name = sources->names->pdata[at];
    const char *folder = sources->folders->pdata[at];
    bool first_try = sources->tried->pdata[at] == NULL;
    g_autoptr(GString) words = g_string_new(message); /* the library's message names the copy */
    g_string_replace(words, folder, name, 0);
    g_autoptr(GString) notes = g_string_new(NULL);
    char *good = first_try ? fm_ctf_salvage(folder, name, notes) : NULL;
    fm_ctf_graph_note_lines(graph, notes->str);
    if (good != NULL) {
        g_ptr_array_add(sources->salvaged, good);
        g_free(sources->folders->pdata[at]);
        sources->folders->pdata[at] = g_strdup(good);
        sources->tried->pdata[at] = GINT_TO_POINTER(true);
    } else {
        g_autofree char *line = g_strdup_printf("%s: could not be read: %s", name, words->str);
        fm_ctf_graph_note_lines(graph, line);
        g_ptr_array_remove_index(sources->folders, at);
        g_ptr_array_remove_index(sources->names, at);
        g_ptr_array_remove_index(sources->tried, at);
    }
    if (sources->first_message == NULL)
        sources->first_message = g_strdup(words->str);
}

/* After a rejected trace the graph is unusable, so everything starts again. */
static void add_sources(struct ctf_graph *graph, struct sources *sources)
{
    guint at = 0;
    sources->graph = bt_graph_create(0);
    while (at < sources->folders->len) {
        g_autofree char *message = NULL;
        g_autofree char *name = g_strdup_printf("source%u", at);
        const bt_component_source *source =
            fm_ctf_add_source(sources->graph, sources->folders->pdata[at], name, &message);
        if (source != NULL) {
            g_ptr_array_add(sources->components, (void *)(uintptr_t)source);
            at++;
            continue;
        }
        bt_graph_put_ref(sources->graph);
        replace_folder(graph, sources, at, message);
        sources->graph = bt_graph_create(0);
        g_ptr_array_set_size(sources->components, 0);
        at = 0;
    }
}

static void remove_salvaged(void *folder)
{
    fm_ctf_folder_remove(folder);
    g_free(folder);
}

static void refuse(struct ctf_graph *graph, struct sources *sources, const char *why)
{
    fm_ctf_graph_note_lines(graph, why);
    if (sources->first_message == NULL)
        sources->first_message = g_strdup(why);
}

/* Translates a trace in CTF 2. False: it has been refused. A library of 2.1 or later gets what CTF
 * 1.8 cannot express as it is. */
static bool translate(struct ctf_graph *graph, struct sources *sources, const char *folder,
                      const char *name, char **ret_copy)
{
    g_autoptr(GString) notes = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    if (fm_ctf_metadata_translate(folder, name, ret_copy, notes, &error)) {
        fm_ctf_graph_note_lines(graph, notes->str);
        return true;
    }
    if (bt_version_get_major() > 2 || (bt_version_get_major() == 2 && bt_version_get_minor() >= 1))
        return true;
    refuse(graph, sources, error->message);
    return false;
}

/* name: for messages. */
static void add_folder(struct ctf_graph *graph, struct sources *sources, const char *folder,
                       const char *name)
{
    g_autoptr(GString) notes = g_string_new(NULL);
    char *copy;
    if (!translate(graph, sources, folder, name, &copy))
        return;
    if (copy == NULL)
        copy = fm_ctf_metadata_mend(folder, name, notes);
    fm_ctf_graph_note_lines(graph, notes->str);
    if (copy != NULL)
        g_ptr_array_add(sources->salvaged, copy);
    if (notes->len > 0 && sources->first_message == NULL)
        sources->first_message = g_strndup(notes->str, strcspn(notes->str, "\n"));
    g_ptr_array_add(sources->folders, g_strdup(copy != NULL ? copy : folder));
    g_ptr_array_add(sources->names, g_strdup(name));
    g_ptr_array_add(sources->tried, NULL);
}

/* Adds folders by name, or as they are in the opened folder. */
static void add_folders(struct ctf_graph *graph, struct sources *sources, const char *path,
                        int folder)
{
    if (folder < 0) {
        g_auto(GStrv) folders = fm_ctf_find(path);
        for (unsigned i = 0; folders[i] != NULL; i++)
            add_folder(graph, sources, folders[i], folders[i]);
        return;
    }
    struct ctf_private own;
    g_autoptr(GString) notes = g_string_new(NULL);
    fm_ctf_private(folder, path, &own, notes);
    fm_ctf_graph_note_lines(graph, notes->str);
    for (guint i = 0; i < own.names->len; i++) {
        g_ptr_array_add(sources->salvaged, g_strdup(own.copies->pdata[i]));
        add_folder(graph, sources, own.copies->pdata[i], own.names->pdata[i]);
    }
    g_ptr_array_unref(own.names);
    g_ptr_array_unref(own.copies);
}

bool fm_ctf_import(const char *path, int folder, int fd, bool careful,
                   const struct ctf_watcher *watcher, GError **error)
{
    struct ctf_graph *graph = fm_ctf_graph_new(watcher, fd);
    struct sources sources = {
        .folders = g_ptr_array_new_with_free_func(g_free),
        .names = g_ptr_array_new_with_free_func(g_free),
        .tried = g_ptr_array_new(),
        .components = g_ptr_array_new(),
        .salvaged = g_ptr_array_new_with_free_func(remove_salvaged),
    };
    add_folders(graph, &sources, path, folder);
    for (guint i = sources.folders->len; careful && i-- > 0;)
        replace_folder(graph, &sources, i, "damaged");
    add_sources(graph, &sources);
    bool good = false;
    if (sources.components->len > 0)
        good = fm_ctf_graph_run(graph, sources.graph, sources.components, sources.names, error);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s",
                    sources.first_message != NULL
                        ? sources.first_message
                        : "no CTF trace: no folder with \"metadata\" in it");
    if (!good && (error == NULL || !g_str_has_prefix((*error)->message, path)))
        g_prefix_error(error, "%s: ", path);
    bt_graph_put_ref(sources.graph);
    fm_ctf_graph_free(graph);
    g_free(sources.first_message);
    g_ptr_array_unref(sources.components);
    g_ptr_array_unref(sources.folders);
    g_ptr_array_unref(sources.names);
    g_ptr_array_unref(sources.tried);
    g_ptr_array_unref(sources.salvaged);
    return good;
}
