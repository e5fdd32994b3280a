/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: required by name with their prerequisites, released when nobody uses them. */
#include <string.h>

#include "base/error.h"
#include "schedule/internal.h"

struct loaded_module {
    const struct fm_schedule_module *module;
    unsigned uses; /* explicit, and as a prerequisite */
};

struct library {
    char *name;
    unsigned loads;
    GPtrArray *modules; /* of struct loaded_module */
};

static void free_library(struct library *library)
{
    g_free(library->name);
    g_ptr_array_unref(library->modules);
    g_free(library);
}

void fm_libraries_free(GPtrArray *libraries)
{
    for (unsigned i = 0; i < libraries->len; i++)
        free_library(g_ptr_array_index(libraries, i));
    g_ptr_array_unref(libraries);
}

static struct library *find_library(const struct fm_engine *engine, const char *name)
{
    for (unsigned i = 0; i < engine->libraries->len; i++) {
        struct library *library = g_ptr_array_index(engine->libraries, i);
        if (strcmp(library->name, name) == 0)
            return library;
    }
    return NULL;
}

static struct loaded_module *find_module(const struct fm_engine *engine, const char *name)
{
    for (unsigned i = 0; i < engine->libraries->len; i++) {
        const struct library *library = g_ptr_array_index(engine->libraries, i);
        for (unsigned j = 0; j < library->modules->len; j++) {
            struct loaded_module *loaded = g_ptr_array_index(library->modules, j);
            if (strcmp(loaded->module->name, name) == 0)
                return loaded;
        }
    }
    return NULL;
}

void fm_engine_load_library(struct fm_engine *engine, const char *name,
                            const struct fm_schedule_module *const *modules)
{
    struct library *library = find_library(engine, name);
    if (library == NULL) {
        library = g_new0(struct library, 1);
        library->name = g_strdup(name);
        library->modules = g_ptr_array_new_with_free_func(g_free);
        for (; *modules != NULL; modules++) {
            struct loaded_module *loaded = g_new0(struct loaded_module, 1);
            loaded->module = *modules;
            g_ptr_array_add(library->modules, loaded);
        }
        g_ptr_array_add(engine->libraries, library);
    }
    library->loads++;
}

bool fm_engine_unload_library(struct fm_engine *engine, const char *name)
{
    struct library *library = find_library(engine, name);
    if (library == NULL)
        return false;
    for (unsigned i = 0; library->loads == 1 && i < library->modules->len; i++) {
        const struct loaded_module *loaded = g_ptr_array_index(library->modules, i);
        if (loaded->uses > 0)
            return false;
    }
    if (--library->loads == 0) {
        g_ptr_array_remove(engine->libraries, library);
        free_library(library);
    }
    return true;
}

static void release(struct fm_engine *engine, struct loaded_module *loaded)
{
    g_return_if_fail(loaded->uses > 0);
    if (--loaded->uses > 0)
        return;
    if (loaded->module->destroy != NULL)
        loaded->module->destroy(engine);
    for (const char *const *name = loaded->module->prerequisites; name != NULL && *name != NULL;
         name++)
        fm_engine_release(engine, *name);
}

bool fm_engine_require(struct fm_engine *engine, const char *name, GError **error)
{
    struct loaded_module *loaded = find_module(engine, name);
    if (loaded == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "module %s is not loaded", name);
        return false;
    }
    if (loaded->uses++ > 0)
        return true;
    const char *const *prerequisites = loaded->module->prerequisites;
    unsigned obtained = 0;
    bool done = true;
    while (done && prerequisites != NULL && prerequisites[obtained] != NULL) {
        done = fm_engine_require(engine, prerequisites[obtained], error);
        obtained += done;
    }
    if (done && (loaded->module->init == NULL || loaded->module->init(engine, error)))
        return true;
    g_prefix_error(error, "module %s: ", name);
    loaded->uses = 0;
    while (obtained-- > 0)
        fm_engine_release(engine, prerequisites[obtained]);
    return false;
}

void fm_engine_release(struct fm_engine *engine, const char *module)
{
    struct loaded_module *loaded = find_module(engine, module);
    g_return_if_fail(loaded != NULL);
    release(engine, loaded);
}

unsigned fm_engine_module_uses(const struct fm_engine *engine, const char *module)
{
    const struct loaded_module *loaded = find_module(engine, module);
    return loaded == NULL ? 0 : loaded->uses;
}
