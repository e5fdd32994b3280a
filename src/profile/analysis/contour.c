/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/contour.h"

#include <string.h>

#include "base/error.h"
#include "base/files/mapped.h"

#define CONTOUR_BYTES_MAX ((size_t)4 << 20)

struct fm_contour {
    bool *hidden; /* [ps_count + 1] */
};

struct parsing {
    const struct fm_analysis *a;
    const char *path;
    struct fm_contour *contour;
    unsigned known, lines;
    GString *unknown; /* names, latest first */
};

void fm_contour_free(struct fm_contour *contour)
{
    if (!contour)
        return;
    g_free(contour->hidden);
    g_free(contour);
}

uint32_t fm_contour_climb(const struct fm_contour *contour, const struct fm_analysis *a,
                          uint32_t csd)
{
    g_return_val_if_fail(csd >= 1 && csd <= a->profile->csd_count, 0);
    const struct fm_profile *profile = a->profile;
    for (;;) {
        uint32_t caller = profile->csd_caller[csd];
        uint32_t parent = a->clique_parent[a->pd_clique[caller]];
        if (!contour->hidden[profile->pd_ps[caller]] || parent == 0)
            return csd;
        csd = parent;
    }
}

static void hide(struct parsing *parsing, const struct fm_module *module, bool exported_too)
{
    for (uint32_t i = 0; i < module->ps_count; i++) {
        uint32_t ps = module->ps[i];
        if (exported_too || !parsing->a->profile->ps[ps].in_interface)
            parsing->contour->hidden[ps] = true;
    }
}

/* "all MODULE" or "internal MODULE". */
static bool parse_line(struct parsing *parsing, const char *line)
{
    g_auto(GStrv) words = g_strsplit_set(line, " \t\r\f\v", -1);
    const char *found[3] = {NULL, NULL, NULL};
    unsigned count = 0;
    for (char **word = words; *word && count < 3; word++) {
        if (**word != '\0')
            found[count++] = *word;
    }
    bool all = count == 2 && strcmp(found[0], "all") == 0;
    if (count != 2 || (!all && strcmp(found[0], "internal") != 0))
        return false;
    parsing->lines++;
    const struct fm_module *module = fm_analysis_module(parsing->a, found[1]);
    if (module) {
        parsing->known++;
        hide(parsing, module, all);
    } else {
        g_string_prepend(parsing->unknown, parsing->unknown->len > 0 ? ", " : "");
        g_string_prepend(parsing->unknown, found[1]);
    }
    return true;
}

static enum fm_contour_state parse_text(struct parsing *parsing, const char *text, size_t length,
                                        char **ret_message)
{
    static const char tail[] =
        "These modules either do not exist or have no deep profiled procedures.";
    const char *end = text + length;
    for (unsigned number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        g_autofree char *line = g_strndup(text, (size_t)(stop - text));
        if (strlen(line) != (size_t)(stop - text) || !parse_line(parsing, line)) {
            *ret_message =
                g_strdup_printf("file %s contains badly formatted line: %s (line %u; expected "
                                "\"all MODULE\" or \"internal MODULE\")",
                                parsing->path, line, number);
            return FM_CONTOUR_BAD;
        }
        text = stop + 1;
    }
    if (parsing->lines > 0 && parsing->known == 0) {
        *ret_message = g_strdup_printf("Error: file %s contains only unrecognized module names.%s",
                                       parsing->path, tail);
        return FM_CONTOUR_BAD;
    }
    if (parsing->unknown->len > 0)
        *ret_message = g_strdup_printf("Warning: %s contains unrecognized module names: %s.%s",
                                       parsing->path, parsing->unknown->str, tail);
    return FM_CONTOUR_OK;
}

enum fm_contour_state fm_contour_read_text(const char *path, const char *text, size_t length,
                                           const struct fm_analysis *a, struct fm_contour **ret,
                                           char **ret_message)
{
    struct fm_contour *contour = g_new0(struct fm_contour, 1);
    contour->hidden = g_new0(bool, a->profile->ps_count + 1u);
    struct parsing parsing = {
        .a = a, .path = path, .contour = contour, .unknown = g_string_new(NULL)};
    enum fm_contour_state state = parse_text(&parsing, text, length, ret_message);
    g_string_free(parsing.unknown, TRUE);
    *ret = state == FM_CONTOUR_OK ? contour : NULL;
    if (state != FM_CONTOUR_OK)
        fm_contour_free(contour);
    return state;
}

enum fm_contour_state fm_contour_read(const struct fm_roots *roots, const char *data_path,
                                      const struct fm_analysis *a, struct fm_contour **ret,
                                      char **ret_message)
{
    *ret = NULL;
    *ret_message = NULL;
    if (!g_str_has_suffix(data_path, ".data"))
        return FM_CONTOUR_NO_FILE;
    g_autofree char *path =
        g_strdup_printf("%.*s.contour", (int)(strlen(data_path) - strlen(".data")), data_path);
    g_autoptr(FmMappedFile) file = NULL;
    if (!fm_mapped_file_open_below(roots, path, &file, NULL))
        return FM_CONTOUR_NO_FILE;
    if (file->size > CONTOUR_BYTES_MAX) {
        *ret_message = g_strdup_printf("file %s has %zu bytes, expected at most %zu", path,
                                       file->size, CONTOUR_BYTES_MAX);
        return FM_CONTOUR_BAD;
    }
    enum fm_contour_state state =
        fm_contour_read_text(path, (const char *)file->bytes, file->size, a, ret, ret_message);
    g_autoptr(GError) shrunk = NULL;
    if (!fm_mapped_file_check(file, &shrunk)) {
        g_clear_pointer(ret, fm_contour_free);
        g_free(*ret_message);
        *ret_message = g_strdup(shrunk->message);
        return FM_CONTOUR_BAD;
    }
    return state;
}
