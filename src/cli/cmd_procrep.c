/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of a Mercury program's procedures, in the layout of Mercury's mdprof_procrep. We
 * differ in that an unreadable file gives status 1 and that a procedure may be asked for by name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "display/display.h"
#include "procrep/procrep.h"

struct listing {
    const struct fm_procrep *procrep;
    char **procs; /* --proc: names; NULL = all */
    bool json;
    bool first;    /* nothing has been printed yet */
    bool any_proc; /* something was */
    GString *out;
};

/* By its name, or by "m.p/2-0", or by the whole label. */
static bool is_wanted(const struct listing *listing, const struct fm_proc_label *label)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (listing->procs == NULL)
        return true;
    fm_proc_label_append(text, label);
    const char *space = strchr(text->str, ' ');
    for (char **name = listing->procs; *name != NULL; name++) {
        if (strcmp(*name, label->name) == 0 || strcmp(*name, text->str) == 0 ||
            (space != NULL && strcmp(*name, space + 1) == 0))
            return true;
    }
    return false;
}

static void append_member(GString *out, const char *name, const char *text)
{
    g_string_append_printf(out, ",\"%s\":", name);
    fm_json_append_text(out, text);
}

static const char *kind_name(enum fm_goal_kind kind)
{
    static const char *const names[FM_GOAL_KINDS] = {
        "",
        "conjunction",
        "disjunction",
        "switch",
        "if_then_else",
        "negation",
        "scope",
        "construct",
        "deconstruct",
        "partial_construct",
        "partial_deconstruct",
        "assign",
        "cast",
        "simple_test",
        "foreign_code",
        "higher_order_call",
        "method_call",
        "call",
        "builtin_call",
        "event",
    };
    return names[kind];
}

static void append_goal_json(GString *out, const struct fm_body *body, uint32_t goal)
{
    const struct fm_goal *of = &body->goals[goal];
    g_autoptr(GString) text = g_string_new(NULL);
    fm_body_append_path(text, body, goal);
    g_string_append_printf(out, "%s{\"kind\":\"%s\",\"determinism\":\"%s\",\"child_count\":%u",
                           goal == 0 ? "" : ",", kind_name(of->kind), fm_detism_name(of->detism),
                           of->child_count);
    append_member(out, "path", text->str);
    if (fm_goal_is_atomic(of)) {
        g_string_truncate(text, 0);
        fm_body_append_atomic(text, body, goal);
        append_member(out, "code", text->str);
        append_member(out, "file", of->file[0] == '\0' ? body->file : of->file);
        if (of->line == 0)
            g_string_append(out, ",\"line\":null");
        else
            g_string_append_printf(out, ",\"line\":%u", of->line);
    }
    g_string_append_c(out, '}');
}

static void append_proc_json(struct listing *listing, uint32_t proc, const struct fm_body *body)
{
    static const char *const insts[FM_INSTS] = {"free", "ground", "other"};
    GString *out = listing->out;
    g_autoptr(GString) text = g_string_new(NULL);
    fm_proc_label_append(text, &listing->procrep->procs[proc].label);
    g_string_append_printf(out, "%s\n {\"determinism\":\"%s\"", listing->first ? "" : ",",
                           fm_detism_name(body->detism));
    append_member(out, "procedure", text->str);
    append_member(out, "file", body->file);
    g_string_append(out, ",\"head\":[");
    for (uint32_t i = 0; i < body->head_count; i++) {
        const struct fm_head_var *head = &body->heads[i];
        g_string_append_printf(out, "%s{\"before\":\"%s\",\"after\":\"%s\"", i == 0 ? "" : ",",
                               insts[head->before], insts[head->after]);
        g_string_truncate(text, 0);
        fm_body_append_var(text, body, head->var);
        append_member(out, "variable", text->str);
        g_string_append_c(out, '}');
    }
    g_string_append(out, "],\"goals\":[");
    for (uint32_t goal = 0; goal < body->goal_count; goal++)
        append_goal_json(out, body, goal);
    g_string_append(out, "]}");
    listing->first = false;
}

static void flush(struct listing *listing)
{
    fwrite(listing->out->str, 1, listing->out->len, stdout);
    g_string_truncate(listing->out, 0);
}

static bool list_module(struct listing *listing, const struct fm_procrep_module *module,
                        GError **error)
{
    const struct fm_procrep *procrep = listing->procrep;
    g_autofree uint32_t *procs = fm_procrep_sorted_procs(procrep, module);
    bool head = false;
    listing->first = true;
    for (uint32_t i = 0; i <= module->proc_count; i++) {
        bool wanted = i == module->proc_count ? listing->procs == NULL && !head
                                              : is_wanted(listing, &procrep->procs[procs[i]].label);
        if (!wanted)
            continue;
        if (!head && listing->json) {
            g_string_append(listing->out, listing->any_proc ? ",\n{\"module\":" : "\n{\"module\":");
            fm_json_append_text(listing->out, module->name);
            g_string_append(listing->out, ",\"procedures\":[");
        } else if (!head) {
            fm_procrep_print_module_head(listing->out, module);
        }
        head = true;
        listing->any_proc = true;
        if (i == module->proc_count)
            break;
        g_autoptr(FmBody) body = NULL;
        if (!fm_procrep_body(procrep, procs[i], &body, error))
            return false;
        if (listing->json)
            append_proc_json(listing, procs[i], body);
        else
            fm_body_print(listing->out, procrep, procs[i], body, NULL);
        flush(listing);
    }
    if (head && listing->json)
        g_string_append(listing->out, "]}");
    flush(listing);
    return true;
}

static int compare_modules(const void *a, const void *b)
{
    const struct fm_procrep_module *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* All modules by name, or those named in the order in which they are. */
static bool list_modules(struct listing *listing, char **names, GError **error)
{
    const struct fm_procrep *procrep = listing->procrep;
    if (names[0] != NULL) {
        for (char **name = names; *name != NULL; name++) {
            const struct fm_procrep_module *module = fm_procrep_module(procrep, *name);
            if (module == NULL) {
                g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "there is no module named '%s'",
                            *name);
                return false;
            }
            if (!list_module(listing, module, error))
                return false;
        }
        return true;
    }
    bool ok = true;
    const struct fm_procrep_module **modules =
        g_new(const struct fm_procrep_module *, procrep->module_count + 1u);
    for (uint32_t i = 0; i < procrep->module_count; i++)
        modules[i] = &procrep->modules[i];
    qsort(modules, procrep->module_count, sizeof *modules, compare_modules);
    for (uint32_t i = 0; ok && i < procrep->module_count; i++)
        ok = list_module(listing, modules[i], error);
    g_free(modules);
    return ok;
}

static int list_file(const char *path, char **modules, char **procs, bool json)
{
    g_autoptr(FmProcrep) procrep = NULL;
    GError *error = NULL;
    if (!fm_procrep_read(path, &procrep, &error))
        return fm_cli_fail("procrep", error);
    struct listing listing = {procrep, procs, json, true, false, g_string_new(NULL)};
    if (json)
        printf("{\"version\":%u,\"modules\":[", procrep->version);
    bool ok = list_modules(&listing, modules, &error);
    if (ok && json)
        printf("\n]}\n");
    g_string_free(listing.out, TRUE);
    if (ok && procs != NULL && !listing.any_proc) {
        g_set_error(&error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: no procedure of that name", path);
        ok = false;
    }
    if (!ok)
        return fm_cli_fail("procrep", error);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom procrep: cannot write: %s\n", g_strerror(errno));
    return FM_EXIT_FAILED;
}

int fm_cmd_procrep(int argc, char **argv)
{
    char *file = NULL, **procs = NULL;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"file", 'f', 0, G_OPTION_ARG_FILENAME, &file, "The file to print (default: Deep.procrep)",
         "FILE"},
        {"proc", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &procs,
         "Only procedures of this name (append, list.append/3-0); may be given again", "NAME"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "[MODULE...]",
                              "Prints the bodies of a Mercury program's procedures, of all modules "
                              "or of those named.",
                              "fathom procrep --proc append list");
    g_autofree char *path = file;
    g_auto(GStrv) names = procs;
    if (status >= 0)
        return status;
    return list_file(path == NULL ? "Deep.procrep" : path, argv + 1, names, json);
}
