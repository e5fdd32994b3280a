/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, required by name. Prerequisites come first; each is initialised once in the engine's
 * life. */
#include <string.h>

#include "base/error.h"
#include "engine/internal.h"

struct known_module {
    const struct fm_schedule_module *module;
    bool required; /* init was called */
};

static struct known_module *find_module(const struct fm_engine *engine, const char *name)
{
    for (unsigned i = 0; i < engine->modules->len; i++) {
        struct known_module *known = &g_array_index(engine->modules, struct known_module, i);
        if (strcmp(known->module->name, name) == 0)
            return known;
    }
    return NULL;
}

GArray *fm_modules_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(struct known_module));
}

void fm_engine_add_modules(struct fm_engine *engine,
                           const struct fm_schedule_module *const *modules)
{
    g_return_if_fail(modules != NULL);
    for (; *modules != NULL; modules++) {
        struct known_module known = {.module = *modules};
        if (find_module(engine, known.module->name) == NULL)
            g_array_append_val(engine->modules, known);
    }
}

bool fm_engine_require(struct fm_engine *engine, const char *name, GError **error)
{
    struct known_module *known = find_module(engine, name);
    if (known == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "module %s is not loaded", name);
        return false;
    }
    if (known->required)
        return true;
    known->required = true;
    bool done = true;
    for (const char *const *need = known->module->prerequisites;
         done && need != NULL && *need != NULL; need++)
        done = fm_engine_require(engine, *need, error);
    if (done && (known->module->init == NULL || known->module->init(engine, error)))
        return true;
    g_prefix_error(error, "module %s: ", name);
    known->required = false;
    return false;
}
