/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of a Mercury program's procedures, in the layout of Mercury's mdprof_procrep. We
 * differ in that an unreadable file gives status 1 and that a procedure may be asked for by name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "cli/cli.h"
#include "mercury/procrep/procrep.h"

struct listing {
    const struct fm_procrep *procrep;
    char **procs; /* --proc: names; NULL = all */
    bool as_json;
    bool *found;         /* for each of procs: printed */
    GString *out;        /* not yet printed */
    struct fm_json json; /* appends to out */
};

/* As pages show a function: the arity without the result, "sqrt/2+1-0" of sqrt/2-0's label. */
static bool is_name_on_pages(const struct fm_proc_label *label, const char *name)
{
    if (label->kind != FM_LABEL_FUNCTION)
        return false;
    g_autofree char *brief = g_strdup_printf("%s/%u+1-%u", label->name, label->arity, label->mode);
    g_autofree char *whole = g_strdup_printf("%s.%s", label->decl_module, brief);
    return strcmp(name, brief) == 0 || strcmp(name, whole) == 0;
}

/* By its name, or by "m.p/2-0", or by the whole label, or as pages show it. */
static bool is_wanted(const struct listing *listing, const struct fm_proc_label *label)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bool wanted = listing->procs == NULL;
    fm_proc_label_append(text, label);
    const char *space = strchr(text->str, ' ');
    for (unsigned i = 0; listing->procs != NULL && listing->procs[i] != NULL; i++) {
        const char *name = listing->procs[i];
        if (strcmp(name, label->name) != 0 && strcmp(name, text->str) != 0 &&
            (space == NULL || strcmp(name, space + 1) != 0) && !is_name_on_pages(label, name))
            continue;
        listing->found[i] = wanted = true;
    }
    return wanted;
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

static void write_goal(struct fm_json *json, const struct fm_body *body, uint32_t goal)
{
    const struct fm_goal *of = &body->goals[goal];
    g_autoptr(GString) text = g_string_new(NULL);
    fm_body_append_path(text, body, goal);
    fm_json_object(json, NULL);
    fm_json_text(json, "kind", kind_name(of->kind));
    fm_json_text(json, "determinism", fm_detism_name(of->detism));
    fm_json_uint(json, "child_count", of->child_count);
    fm_json_text(json, "path", text->str);
    if (fm_goal_is_atomic(of)) {
        g_string_truncate(text, 0);
        fm_body_append_atomic(text, body, goal);
        fm_json_text(json, "code", text->str);
        fm_json_text(json, "file", of->file[0] == '\0' ? body->file : of->file);
        if (of->line == 0)
            fm_json_null(json, "line");
        else
            fm_json_uint(json, "line", of->line);
    }
    fm_json_end(json);
}

static void write_proc(struct listing *listing, uint32_t proc, const struct fm_body *body)
{
    static const char *const insts[FM_INSTS] = {"free", "ground", "other"};
    struct fm_json *json = &listing->json;
    g_autoptr(GString) text = g_string_new(NULL);
    fm_proc_label_append(text, &listing->procrep->procs[proc].label);
    fm_json_line(json, 1);
    fm_json_object(json, NULL);
    fm_json_text(json, "determinism", fm_detism_name(body->detism));
    fm_json_text(json, "procedure", text->str);
    fm_json_text(json, "file", body->file);
    fm_json_array(json, "head");
    for (uint32_t i = 0; i < body->head_count; i++) {
        const struct fm_head_var *head = &body->heads[i];
        g_string_truncate(text, 0);
        fm_body_append_var(text, body, head->var);
        fm_json_object(json, NULL);
        fm_json_text(json, "before", insts[head->before]);
        fm_json_text(json, "after", insts[head->after]);
        fm_json_text(json, "variable", text->str);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_uint(json, "depth", body->depth);
    /* Each goal is printed with its whole path. */
    if (body->depth > FM_BODY_PRINTED_DEPTH_MAX) {
        fm_json_null(json, "goals");
    } else {
        fm_json_array(json, "goals");
        for (uint32_t goal = 0; goal < body->goal_count; goal++)
            write_goal(json, body, goal);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_module_head(struct fm_json *json, const struct fm_procrep_module *module)
{
    fm_json_line(json, 0);
    fm_json_object(json, NULL);
    fm_json_text(json, "module", module->name);
    fm_json_array(json, "procedures");
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
    for (uint32_t i = 0; i <= module->proc_count; i++) {
        bool wanted = i == module->proc_count ? listing->procs == NULL && !head
                                              : is_wanted(listing, &procrep->procs[procs[i]].label);
        if (!wanted)
            continue;
        if (!head && listing->as_json)
            write_module_head(&listing->json, module);
        else if (!head)
            fm_procrep_print_module_head(listing->out, module);
        head = true;
        if (i == module->proc_count)
            break;
        g_autoptr(FmBody) body = NULL;
        if (!fm_procrep_body(procrep, procs[i], &body, error))
            return false;
        if (listing->as_json)
            write_proc(listing, procs[i], body);
        else
            fm_body_print(listing->out, procrep, procs[i], body, NULL);
        flush(listing);
    }
    if (head && listing->as_json) {
        fm_json_end(&listing->json);
        fm_json_end(&listing->json);
    }
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
        return fm_console_fail("procrep", error);
    g_autofree bool *found = g_new0(bool, procs != NULL ? g_strv_length(procs) + 1 : 1);
    struct listing listing = {procrep, procs, json, found, .out = g_string_new(NULL)};
    fm_json_init(&listing.json, listing.out);
    if (json) {
        fm_json_object(&listing.json, NULL);
        fm_json_uint(&listing.json, "version", procrep->version);
        fm_json_array(&listing.json, "modules");
    }
    bool ok = list_modules(&listing, modules, &error);
    if (ok && json) {
        fm_json_line(&listing.json, 0);
        fm_json_end(&listing.json);
        fm_json_end(&listing.json);
        g_string_append_c(listing.out, '\n');
    }
    flush(&listing);
    g_string_free(listing.out, TRUE);
    for (unsigned i = 0; ok && procs != NULL && procs[i] != NULL; i++) {
        if (found[i])
            continue;
        g_set_error(&error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: no procedure is named '%s'", path,
                    procs[i]);
        ok = false;
    }
    if (!ok)
        return fm_console_fail("procrep", error);
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
        {"file", 'f', 0, G_OPTION_ARG_FILENAME, &file, "Print FILE (default: Deep.procrep)",
         "FILE"},
        {"proc", 0, 0, G_OPTION_ARG_STRING_ARRAY, &procs,
         "Print only procedures called NAME (append, list.append/3-0); may be repeated", "NAME"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "[MODULE...]",
                              "Prints the bodies of a Mercury program's procedures, of all modules "
                              "or of the named ones.",
                              "fathom procrep --proc append list");
    g_autofree char *path = file;
    g_auto(GStrv) names = procs;
    if (status >= 0)
        return status;
    return list_file(path == NULL ? "Deep.procrep" : path, argv + 1, names, json);
}
