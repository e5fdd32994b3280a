/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in another tool's format. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "base/console/output.h"
#include "cli/log/export_trace.h"
#include "exchange/hint/hint.h"
#include "exchange/exchange.h"
#include "open/profile.h"
#include "site/site.h"

struct exporting {
    char *to, *output;
    char *least_text;
    struct fm_export_options options;
    char *measure, *strip_path;
    gboolean lines;
    int callers;
    char *folder;
    int pages;
};

static char *format_names(const char *between)
{
    GString *names = g_string_new(NULL);
    for (const struct fm_export_format *f = fm_export_formats; f->name != NULL; f++)
        g_string_append_printf(names, "%s%s", names->len > 0 ? between : "", f->name);
    for (const struct fm_trace_export_format *f = fm_trace_export_formats; f->name != NULL; f++)
        g_string_append_printf(names, "%s%s", between, f->name);
    return g_string_free(names, FALSE);
}

/* NAME.data -> NAME.pb.gz, beside it. */
static char *default_output(const char *path, const char *suffix)
{
    static const char *const own[] = {".data", ".eventlog"};
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
        if (g_str_has_suffix(path, own[i]))
            size -= strlen(own[i]);
    }
    return g_strdup_printf("%.*s.%s", (int)size, path, suffix);
}

static bool write_file(const struct exporting *o, const struct fm_export_format *format,
                       const struct fm_analysis *a, const char *output, GPtrArray *notes,
                       GError **error)
{
    struct fm_writer *out;
    if (!fm_console_output_begin(output, &out, error))
        return false;
    if (fm_export(format, a, &o->options, out, notes, error))
        return fm_console_output_finish(output, out, error);
    fm_writer_discard(out);
    return false;
}

/* A damaged trace is written as far as it could be read; the exit status says that it is
 * damaged. */
static int export_trace(const struct exporting *o, const struct fm_trace_export_format *format,
                        const char *path)
{
    GError *error = NULL;
    struct fm_writer *out;
    g_autofree char *output =
        o->output != NULL ? g_strdup(o->output) : default_output(path, format->suffix);
    if (!fm_console_output_begin(output, &out, &error))
        return fm_console_fail("export", error);
    int status = fm_export_trace(format, path, out);
    if (fm_writer_offset(out) == 0) {
        fm_writer_discard(out);
        return status;
    }
    return fm_console_output_finish(output, out, &error) ? status
                                                         : fm_console_fail("export", error);
}

static bool export_profile(struct exporting *o, const struct fm_export_format *format,
                           const char *path, GPtrArray *notes, GError **error)
{
    struct fm_progress progress;
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(FmSourceMap) map = NULL;
    g_autofree char *output =
        o->output != NULL ? g_strdup(o->output) : default_output(path, format->suffix);
    fm_console_progress_begin(&progress);
    bool done = fm_profile_read(path, &progress, &profile, error) &&
                fm_analysis_new(profile, &progress, &analysis, error);
    fm_console_progress_end(&progress);
    if (done && profile->flavour == FM_FLAVOUR_C) {
        GError *without = NULL;
        if (!fm_source_map_find(NULL, path, profile, &map, &without)) {
            if (!g_error_matches(without, FM_ERROR, FM_ERROR_NOT_FOUND))
                g_ptr_array_add(notes, g_strdup(without->message));
            g_error_free(without);
        }
    }
    o->options.source = map;
    return done && write_file(o, format, analysis, output, notes, error);
}

static int write_folder(const struct exporting *o, const char *path)
{
    GError *error = NULL;
    struct fm_progress progress;
    struct fm_site_told told;
    g_autoptr(FmOpenProfile) recording = NULL;
    fm_console_progress_begin(&progress);
    bool opened = fm_profile_open_now(path, &progress, &recording, &error);
    bool done = opened && fm_site_write_folder(recording, o->folder, (unsigned)o->pages, &progress,
                                               &told, &error);
    fm_console_progress_end(&progress);
    if (!opened)
        return fm_hint_fail_file("export", path, FM_FILE_PROFILE, error);
    if (!done)
        return fm_console_fail("export", error);
    printf("%s/index.html: %u pages, %" PRIu64
           " bytes; %u more that they could lead to are not in it\n",
           o->folder, told.pages, told.bytes, told.left_out);
    return FM_EXIT_DONE;
}

static int run(struct exporting *o, const char *path)
{
    const struct fm_export_format *format = fm_export_format_named(o->to);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    const struct fm_trace_export_format *of_traces = fm_trace_export_format_named(o->to);
    GError *error = NULL;
    if (of_traces != NULL)
        return export_trace(o, of_traces, path);
    if (format == NULL) {
        g_autofree char *names = format_names(", ");
        return fm_console_usage("export", "unknown format '%s', expected one of %s", o->to, names);
    }
    if (o->options.min_share > 0 && !format->stacks)
        return fm_console_usage("export", "--min cannot be used with --to=%s", format->name);
    if (!export_profile(o, format, path, notes, &error))
        return fm_hint_fail_file("export", path, FM_FILE_PROFILE, error);
    for (guint i = 0; i < notes->len; i++)
        fm_console_print_error("fathom export: note: %s\n",
                               (const char *)g_ptr_array_index(notes, i));
    return FM_EXIT_DONE;
}

/* Refuses options that the chosen format does not use. */
static int check_format_alone(const struct exporting *o)
{
    const struct {
        const char *option, *format;
        bool given;
    } all[] = {
        {"--measure", "folded", o->measure != NULL},
        {"--lines", "folded", o->lines},
        {"--callers", "callgrind", o->callers != 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        if (all[i].given && strcmp(o->to, all[i].format) != 0)
            return fm_console_usage("export", "%s can only be used with --to=%s", all[i].option,
                                    all[i].format);
    return -1;
}

static int parse_options(struct exporting *o, int argc)
{
    if (argc != 2)
        return fm_console_usage("export", "expected one FILE; see --help");
    if (o->folder != NULL) {
        if (o->to != NULL || o->output != NULL)
            return fm_console_usage("export", "--static cannot be used with --to or --output");
        return o->pages >= 1 ? -1 : fm_console_usage("export", "--pages: expected at least 1");
    }
    if (o->to == NULL) {
        g_autofree char *names = format_names(", ");
        return fm_console_usage("export", "expected --static=FOLDER, or --to=FORMAT: one of %s",
                                names);
    }
    int status = check_format_alone(o);
    if (status >= 0)
        return status;
    if (o->callers < 0 || o->callers > 20)
        return fm_console_usage("export", "--callers: expected 0 to 20");
    if (o->least_text != NULL) {
        double percent;
        if (!fm_cli_parse_percent(o->least_text, &percent))
            return fm_console_usage("export", "--min: expected a percentage, not '%s'",
                                    o->least_text);
        o->options.min_share = percent / 100;
    }
    o->options.measure = o->measure;
    o->options.strip_path = o->strip_path;
    o->options.lines = o->lines;
    o->options.callers = (unsigned)o->callers;
    return -1;
}

static char *description(void)
{
    GString *text = g_string_new("Writes a profile in the format of another tool:\n");
    for (const struct fm_export_format *f = fm_export_formats; f->name != NULL; f++)
        g_string_append_printf(text, "  %-11s %s\n", f->name, f->summary);
    g_string_append(text, "and a trace (an .eventlog, a CTF folder) for:\n");
    for (const struct fm_trace_export_format *f = fm_trace_export_formats; f->name != NULL; f++)
        g_string_append_printf(text, "  %-11s %s\n", f->name, f->summary);
    g_string_append(text, "Notes on standard error name the data that a format cannot hold.\n"
                          "--static writes the pages of a profile as a folder of files.");
    return g_string_free(text, FALSE);
}

int fm_cmd_export(int argc, char **argv)
{
    struct exporting o = {.pages = FM_SITE_FOLDER_PAGES};
    const GOptionEntry entries[] = {
        {"to", 0, 0, G_OPTION_ARG_STRING, &o.to, "Write FORMAT, see below", "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output,
         "Write to FILE, - for standard output (default: beside the profile)", "FILE"},
        {"min", 'm', 0, G_OPTION_ARG_STRING, &o.least_text,
         "Join contexts with less than PERCENT of every measure (formats of stacks)", "PERCENT"},
        {"measure", 0, 0, G_OPTION_ARG_STRING, &o.measure,
         "folded: write NAME: cpu, calls, alloc_space, ... (default: cpu, or calls if no CPU time "
         "is known)",
         "NAME"},
        {"lines", 0, 0, G_OPTION_ARG_NONE, &o.lines,
         "folded: write each function with the line of its call to the next", NULL},
        {"callers", 0, 0, G_OPTION_ARG_INT, &o.callers,
         "callgrind: distinguish functions by their N nearest callers (default: 0)", "N"},
        {"static", 0, 0, G_OPTION_ARG_FILENAME, &o.folder,
         "Write the pages to the new folder FOLDER, as files that need no server", "FOLDER"},
        {"pages", 0, 0, G_OPTION_ARG_INT, &o.pages,
         "--static: write at most N pages (default: 2,000)", "N"},
        {"strip-path", 0, 0, G_OPTION_ARG_FILENAME, &o.strip_path,
         "Strip FOLDER from the names of source files", "FOLDER"},
        {NULL},
    };
    g_autofree char *about = description();
    int status =
        fm_cli_parse(&argc, &argv, entries, "FILE", about,
                     "fathom export --to=pprof prog.data && go tool pprof -top prog.pb.gz");
    if (status < 0)
        status = parse_options(&o, argc);
    if (status < 0)
        status = o.folder != NULL ? write_folder(&o, argv[1]) : run(&o, argv[1]);
    g_free(o.folder), g_free(o.to), g_free(o.output), g_free(o.least_text), g_free(o.measure),
        g_free(o.strip_path);
    return status;
}
