/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/cgi/config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

#define DEFAULT_PATH "/etc/fathom/cgi.conf"
#define GROUP "cgi"

static void add_roots(struct fm_cgi_config *config, char **names)
{
    for (char **name = names; name != NULL && *name != NULL; name++) {
        char *canonical = (*name)[0] == '\0' ? NULL : realpath(*name, NULL);
        if (canonical != NULL)
            g_ptr_array_add(config->roots, g_strdup(canonical));
        free(canonical);
    }
}

static bool parse_level(const char *text, enum fm_cgi_log_level *ret)
{
    static const char *const names[] = {"none", "errors", "startup", "all"};
    for (int i = 0; i < (int)G_N_ELEMENTS(names); i++) {
        if (strcmp(names[i], text) == 0) {
            *ret = (enum fm_cgi_log_level)i;
            return true;
        }
    }
    return false;
}

static bool read_file(struct fm_cgi_config *config, const char *path, GError **error)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, error)) {
        g_prefix_error(error, "%s: ", path);
        return false;
    }
    g_auto(GStrv) roots = g_key_file_get_string_list(file, GROUP, "roots", NULL, NULL);
    add_roots(config, roots);
    config->runtime_dir = g_key_file_get_string(file, GROUP, "runtime", NULL);
    config->log_path = g_key_file_get_string(file, GROUP, "log", NULL);
    g_autofree char *level = g_key_file_get_string(file, GROUP, "log-level", NULL);
    if (level != NULL && !parse_level(level, &config->log_level)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "%s: log-level is '%s', expected none, errors, startup or all", path, level);
        return false;
    }
    if (g_key_file_has_key(file, GROUP, "idle-minutes", NULL)) {
        int minutes = g_key_file_get_integer(file, GROUP, "idle-minutes", NULL);
        if (minutes < 1 || minutes > 7 * 24 * 60) {
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                        "%s: idle-minutes is %d, expected 1 to 10080", path, minutes);
            return false;
        }
        config->idle_ms = (uint64_t)minutes * 60 * 1000;
    }
    return true;
}

bool fm_cgi_config_read(struct fm_cgi_config *ret, GError **error)
{
    struct fm_cgi_config config = {.roots = g_ptr_array_new_with_free_func(g_free),
                                   .log_level = FM_CGI_LOG_STARTUP};
    const char *path = g_getenv("FATHOM_CGI_CONFIG");
    if ((path != NULL || g_file_test(DEFAULT_PATH, G_FILE_TEST_EXISTS)) &&
        !read_file(&config, path != NULL ? path : DEFAULT_PATH, error)) {
        fm_cgi_config_clear(&config);
        return false;
    }
    const char *roots = g_getenv("FATHOM_ROOT");
    if (roots != NULL) {
        g_auto(GStrv) names = g_strsplit(roots, ":", -1);
        g_ptr_array_set_size(config.roots, 0);
        add_roots(&config, names);
    }
    const char *runtime = g_getenv("FATHOM_RUNTIME");
    if (runtime != NULL) {
        g_free(config.runtime_dir);
        config.runtime_dir = g_strdup(runtime);
    }
    *ret = config;
    return true;
}

void fm_cgi_config_clear(struct fm_cgi_config *config)
{
    g_clear_pointer(&config->roots, g_ptr_array_unref);
    g_clear_pointer(&config->runtime_dir, g_free);
    g_clear_pointer(&config->log_path, g_free);
}

static bool is_below(const char *path, const char *root)
{
    size_t length = strlen(root);
    return strcmp(root, "/") == 0 || (strncmp(path, root, length) == 0 && path[length] == '/');
}

static bool is_allowed(const struct fm_cgi_config *config, const char *path)
{
    for (unsigned i = 0; i < config->roots->len; i++) {
        if (is_below(path, g_ptr_array_index(config->roots, i)))
            return true;
    }
    return false;
}

char *fm_cgi_config_resolve(const struct fm_cgi_config *config, const char *name, GError **error)
{
    g_autofree char *wanted = g_strdup(name);
    if (g_str_has_suffix(wanted, ".data.localhost"))
        wanted[strlen(wanted) - strlen(".localhost")] = '\0';
    if (!g_str_has_suffix(wanted, ".data") || wanted[0] != '/' || strlen(wanted) >= PATH_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "Expected the absolute name of a profile, ending in .data.");
        return NULL;
    }
    char *canonical = realpath(wanted, NULL);
    struct stat status;
    bool allowed = canonical != NULL && is_allowed(config, canonical) &&
                   stat(canonical, &status) == 0 && S_ISREG(status.st_mode) &&
                   g_str_has_suffix(canonical, ".data");
    char *path = allowed ? g_strdup(canonical) : NULL;
    free(canonical);
    if (path == NULL)
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    config->roots->len == 0
                        ? "No folder of profiles is configured (FATHOM_ROOT)."
                        : "There is no profile of that name below the configured folders.");
    return path;
}
