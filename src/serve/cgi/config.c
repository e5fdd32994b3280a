/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/cgi/config.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define DEFAULT_PATH "/etc/fathom/cgi.conf"
#define GROUP "cgi"

static void add_roots(struct fm_cgi_config *config, char **names)
{
    for (char **name = names; name != NULL && *name != NULL; name++) {
        g_autoptr(GError) ignored = NULL; /* a missing folder contains nothing */
        if ((*name)[0] != '\0' && !fm_roots_add(config->roots, *name, &ignored))
            continue;
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

static bool read_numbers(struct fm_cgi_config *config, GKeyFile *file, const char *path,
                         GError **error)
{
    uint64_t servers = 0;
    const struct {
        const char *key;
        int max;
        uint64_t unit;
        uint64_t *ret;
    } numbers[] = {
        {"idle-minutes", 7 * 24 * 60, 60L * 1000, &config->idle_ms},
        {"patience-ms", 60 * 1000, 1, &config->patience_ms},
        {"servers", 10000, 1, &servers},
        {"memory-mb", 1 << 30, 1000000, &config->memory_max},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autoptr(GError) problem = NULL;
        if (!g_key_file_has_key(file, GROUP, numbers[i].key, NULL))
            continue;
        int number = g_key_file_get_integer(file, GROUP, numbers[i].key, &problem);
        if (problem != NULL || number < 1 || number > numbers[i].max) {
            g_autofree char *text = g_key_file_get_value(file, GROUP, numbers[i].key, NULL);
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s: %s is '%s', expected 1 to %d", path,
                        numbers[i].key, text, numbers[i].max);
            return false;
        }
        *numbers[i].ret = (uint64_t)number * numbers[i].unit;
    }
    config->servers_max = (unsigned)servers;
    return true;
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
    config->log_asked = level != NULL && config->log_level >= FM_CGI_LOG_STARTUP;
    return read_numbers(config, file, path, error);
}

bool fm_cgi_config_read(struct fm_cgi_config *ret, GError **error)
{
    struct fm_cgi_config config = {.roots = fm_roots_new(), .log_level = FM_CGI_LOG_STARTUP};
    const char *path = g_getenv("FATHOM_CGI_CONFIG");
    if ((path != NULL || g_file_test(DEFAULT_PATH, G_FILE_TEST_EXISTS)) &&
        !read_file(&config, path != NULL ? path : DEFAULT_PATH, error)) {
        fm_cgi_config_done(&config);
        return false;
    }
    const char *roots = g_getenv("FATHOM_ROOT");
    if (roots != NULL) {
        g_auto(GStrv) names = g_strsplit(roots, ":", -1);
        fm_roots_unref(config.roots);
        config.roots = fm_roots_new();
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

void fm_cgi_config_done(struct fm_cgi_config *config)
{
    g_clear_pointer(&config->roots, fm_roots_unref);
    g_clear_pointer(&config->runtime_dir, g_free);
    g_clear_pointer(&config->log_path, g_free);
}

/* Whether a path leads to a regular file beneath the roots. */
static bool is_file(const struct fm_cgi_config *config, const char *path)
{
    struct stat status;
    int fd = fm_roots_open(config->roots, path, 0, NULL);
    bool regular = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (fd >= 0)
        close(fd);
    return regular;
}

char *fm_cgi_config_resolve(const struct fm_cgi_config *config, const char *name, GError **error)
{
    g_return_val_if_fail(name != NULL, NULL);
    g_autofree char *wanted = g_strdup(name);
    if (g_str_has_suffix(wanted, ".data.localhost"))
        wanted[strlen(wanted) - strlen(".localhost")] = '\0';
    if (!g_str_has_suffix(wanted, ".data") || wanted[0] != '/' || strlen(wanted) >= PATH_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "Expected the absolute name of a profile, ending in .data.");
        return NULL;
    }
    g_autofree char *path = fm_roots_find(config->roots, wanted);
    if (path != NULL && g_str_has_suffix(path, ".data") && is_file(config, path))
        return g_steal_pointer(&path);
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                fm_roots_count(config->roots) == 0
                    ? "No folder of profiles is configured (FATHOM_ROOT)."
                    : "There is no profile of that name below the configured folders.");
    return NULL;
}
