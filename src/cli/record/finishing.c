/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/finishing.h"

#include "deep/source_texts.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "cli/cli.h"
#include "cli/hint.h"
#include "record/finish/finish.h"

#define SUMMARY_ROWS 10
#define NAME_BYTES 100

/* "12.3k": four significant places are enough for a glance. */
static const char *short_number(double value, char *buffer, size_t size)
{
    static const char suffixes[] = " kMGTP";
    size_t step = 0;
    while (value >= 9999.5 && step + 2 < sizeof suffixes) {
        value /= 1000;
        step++;
    }
    if (step == 0)
        snprintf(buffer, size, "%.0f", value);
    else
        snprintf(buffer, size, "%.1f%c", value, suffixes[step]);
    return buffer;
}

/* C++ names may be longer than a screen is wide: leaves out what stands in brackets, those of
 * templates first. */
static char *folded(const char *name)
{
    GString *text = g_string_new(name);
    static const char pairs[][2] = {{'<', '>'}, {'(', ')'}};
    for (unsigned i = 0; i < G_N_ELEMENTS(pairs) && text->len > NAME_BYTES; i++) {
        g_autofree char *whole = g_strdup(text->str);
        g_string_truncate(text, 0);
        unsigned depth = 0;
        for (const char *at = whole; *at != '\0'; at++) {
            if (depth == 0 && g_str_has_suffix(text->str, "operator")) {
                size_t symbol = strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<>=-");
                g_string_append_len(text, at, (gssize)symbol);
                at += symbol;
                if (*at == '\0')
                    break;
            }
            bool arrow = at > whole && at[-1] == '-' && *at == '>';
            if (*at == pairs[i][1] && !arrow && depth > 0 && --depth == 0)
                g_string_append(text, "...");
            if (depth == 0)
                g_string_append_c(text, *at);
            if (*at == pairs[i][0])
                depth++;
        }
    }
    return g_string_free(text, FALSE);
}

/* One that another procedure's name folds into, too, stays whole. */
static char *short_name(const struct fm_profile *profile, uint32_t ps)
{
    const char *name = profile->ps[ps].brief_name;
    char *brief = folded(name);
    for (uint32_t i = 1; strcmp(brief, name) != 0 && i <= profile->ps_count; i++) {
        g_autofree char *other = i == ps ? NULL : folded(profile->ps[i].brief_name);
        if (other != NULL && strcmp(brief, other) == 0) {
            g_free(brief);
            return g_strdup(name);
        }
    }
    return brief;
}

static void print_row(const struct fm_analysis *analysis, uint32_t ps, enum fm_measure_id measure,
                      double unit)
{
    struct fm_cost cost;
    fm_analysis_ps_cost(analysis, ps, &cost);
    double all = (double)fm_cost_total(&analysis->root_total, measure);
    double own = (double)cost.own[measure], total = (double)fm_cost_total(&cost, measure);
    char own_text[32], total_text[32], calls_text[32];
    if (measure == FM_QUANTA) {
        snprintf(own_text, sizeof own_text, "%.2f s", own * unit);
        snprintf(total_text, sizeof total_text, "%.2f s", total * unit);
    } else {
        short_number(own, own_text, sizeof own_text);
        short_number(total, total_text, sizeof total_text);
    }
    if (all <= 0)
        all = 1;
    g_autofree char *name = short_name(analysis->profile, ps);
    short_number((double)cost.calls, calls_text, sizeof calls_text);
    if (cost.inlined && cost.calls == 0)
        g_strlcpy(calls_text, "inlined", sizeof calls_text);
    else if (cost.inlined)
        g_strlcat(calls_text, "+", sizeof calls_text);
    fprintf(stderr, "%10s %5.1f%% %10s %5.1f%% %10s  %s\n", own_text, 100 * own / all, total_text,
            100 * total / all, calls_text, name);
}

static void print_table(const struct fm_profile *profile, const struct fm_analysis *analysis)
{
    bool sampled = fm_cost_total(&analysis->root_total, FM_QUANTA) > FM_FEW_QUANTA;
    enum fm_measure_id measure = sampled ? FM_QUANTA : FM_CALLSEQS;
    double unit = profile->ticks_per_second == 0 ? 0 : 1.0 / (double)profile->ticks_per_second;
    struct fm_top_query query = {
        .kind = sampled ? FM_BY_TIME : FM_BY_CALLSEQS,
        .scope = FM_OVERALL,
        .limit = FM_LIMIT_RANK,
        .first = 1,
        .last = SUMMARY_ROWS,
    };
    g_autofree uint32_t *top = NULL;
    uint32_t count = 0;
    fm_analysis_top(analysis, &query, &top, &count);
    fprintf(stderr, "%17s %17s %10s\n", sampled ? "self time" : "own calls",
            sampled ? "total time" : "total calls", "calls");
    bool inlined = false;
    for (uint32_t i = 0; i < count; i++) {
        print_row(analysis, top[i], measure, unit);
        inlined = inlined || profile->ps[top[i]].inlined;
    }
    if (inlined)
        fputs("+, inlined: bodies inlined into others are not counted; --grade=full of fathom cc "
              "counts them\n",
              stderr);
}

/* Those that the program marked, with their CPU time. */
static void print_phases(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    const struct fm_mark *begun = NULL;
    for (uint32_t i = 0; i <= run_info->mark_count; i++) {
        bool last = i == run_info->mark_count;
        if (!last && run_info->marks[i].snapshot != 0)
            continue;
        uint64_t quanta = last ? profile->user_quanta : run_info->marks[i].quanta;
        uint64_t end = last ? run_info->duration_ns : run_info->marks[i].ns;
        if (begun != NULL && profile->ticks_per_second > 0) {
            uint64_t used = quanta > begun->quanta ? quanta - begun->quanta : 0;
            fprintf(stderr, "phase %s: %.2f s CPU time", begun->name,
                    (double)used / (double)profile->ticks_per_second);
            if (end > begun->ns)
                fprintf(stderr, " in %.2f s", (double)(end - begun->ns) / 1e9);
            fputs("\n", stderr);
        }
        begun = last ? NULL : &run_info->marks[i];
    }
}

static void print_totals(const struct fm_profile *profile, const struct fm_finish_notes *notes)
{
    char calls[32];
    fprintf(stderr, "%s calls in %" PRIu32 " contexts, %" PRIu32 " thread%s",
            short_number((double)notes->calls, calls, sizeof calls), profile->pd_count,
            notes->threads, notes->threads == 1 ? "" : "s");
    if (profile->ticks_per_second > 0 && profile->user_quanta > 0)
        fprintf(stderr, ", %.2f s CPU time in %" PRIu64 " samples",
                (double)profile->user_quanta / (double)profile->ticks_per_second, notes->samples);
    if (profile->run_info.peak_bytes > 0)
        fprintf(stderr, ", %sB of heap at most",
                short_number((double)profile->run_info.peak_bytes, calls, sizeof calls));
    fputs("\n", stderr);
}

/* When the hooks take more time than the program: what to leave out. */
static void print_hooks_share(const struct fm_profile *profile)
{
    double unit = profile->ticks_per_second == 0 ? 0 : 1.0 / (double)profile->ticks_per_second;
    if (profile->instrumentation_quanta == 0)
        return;
    fprintf(stderr, "%.2f s of your code, %.2f s of fathom's hooks",
            (double)profile->user_quanta * unit, (double)profile->instrumentation_quanta * unit);
    g_autofree uint64_t *calls = g_new0(uint64_t, profile->ps_count + 1);
    uint64_t all = 0;
    uint32_t most = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t ps = profile->pd_ps[profile->csd_callee[csd]];
        uint64_t some = (uint64_t)fm_profile_calls(profile, csd);
        calls[ps] += some;
        all += some;
        most = calls[ps] > calls[most] ? ps : most;
    }
    if (profile->instrumentation_quanta > FM_FEW_QUANTA && profile->user_quanta > FM_FEW_QUANTA &&
        all > 0) {
        char rate[32];
        double second = (double)profile->user_quanta * unit;
        fprintf(stderr, ": about %.1f ns for each of %s calls a second",
                (double)profile->instrumentation_quanta * unit * 1e9 / (double)all,
                short_number((double)all / second, rate, sizeof rate));
    }
    if (profile->instrumentation_quanta > profile->user_quanta && calls[most] > all / 2) {
        g_autofree char *name = short_name(profile, most);
        fprintf(stderr, "; %s made %.0f %% of the calls: --exclude it when building", name,
                100.0 * (double)calls[most] / (double)all);
    }
    fputs("\n", stderr);
}

static void print_summary(const struct fm_profile *profile, const struct fm_finish_notes *notes,
                          const char *data_path)
{
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_analysis_new(profile, NULL, &analysis, &error)) {
        fm_cli_print_error("%s: %s", data_path, error->message);
        return;
    }
    print_totals(profile, notes);
    print_hooks_share(profile);
    print_table(profile, analysis);
    print_phases(profile);
    g_autofree char *quoted = g_shell_quote(data_path);
    bool plain = strpbrk(data_path, " \t\n'\"\\$&;|<>()*?[]#~`!") == NULL;
    fprintf(stderr, "open the pages:  fathom view %s\n", plain ? data_path : quoted);
}

char *fm_cli_data_path(const char *name)
{
    size_t length = strlen(name);
    if (g_str_has_suffix(name, ".data"))
        length -= strlen(".data");
    else if (g_str_has_suffix(name, ".rec"))
        length -= strlen(".rec");
    return g_strdup_printf("%.*s.data", (int)length, name);
}

#define COMMAND_CHARACTERS 60

/* For a list: without control characters, cut to a part of a line. */
static char *one_line(const char *command)
{
    glong count = 0;
    g_autofree gunichar *characters = g_utf8_to_ucs4_fast(command, -1, &count);
    GString *text = g_string_new(NULL);
    for (glong i = 0; i < MIN(count, COMMAND_CHARACTERS); i++)
        g_string_append_unichar(text, g_unichar_iscntrl(characters[i]) ? ' ' : characters[i]);
    if (count > COMMAND_CHARACTERS)
        g_string_append(text, "...");
    return g_string_free(text, FALSE);
}

/* The sources beside the profile, or none of an older one. */
static bool keep_sources(const struct fm_finishing *how, const struct fm_profile *profile,
                         const char *data_path, GError **error)
{
    g_autofree char *path = fm_source_texts_path(data_path);
    const char *folder = profile->run_info.process.folder;
    uint32_t count, left;
    if (!how->keep_sources) {
        g_unlink(path);
        return true;
    }
    if (!fm_source_texts_write(profile, folder ? folder : ".", path, &count, &left, error))
        return false;
    if (left > 0)
        fprintf(stderr, "fathom %s: note: %u source files are kept, %u could not be read\n",
                how->command, count, left);
    return true;
}

static bool finish(const struct fm_finishing *how, const char *rec_path, const char *data_path,
                   uint64_t *ret_calls, GError **error)
{
    struct fm_finish_opts opts = {
        .debug_path = how->debug_path,
        .only_existing = g_strcmp0(g_getenv("FATHOM_INLINED"), "off") == 0,
        .known = how->known,
    };
    struct fm_finish_notes notes;
    g_autoptr(FmProfile) profile = NULL;
    if (!fm_finish(rec_path, &opts, &profile, &notes, error))
        return false;
    g_autofree char *lines_path = fm_source_map_path(data_path);
    if (!fm_profile_write(profile, data_path, false, error) ||
        !fm_source_map_write(notes.source_map, profile, lines_path, error) ||
        !keep_sources(how, profile, data_path, error)) {
        fm_finish_notes_done(&notes);
        return false;
    }
    for (guint i = 0; i < notes.lines->len; i++)
        fprintf(stderr, "fathom %s: note: %s%s%s\n", how->command, how->several ? rec_path : "",
                how->several ? ": " : "", (const char *)g_ptr_array_index(notes.lines, i));
    if (how->brief && !how->quiet) {
        const struct fm_process_fact *process = &profile->run_info.process;
        g_autofree char *command = process->command == NULL ? NULL : one_line(process->command);
        fprintf(stderr, "%s: ", data_path);
        if (command != NULL)
            fprintf(stderr, "%s (started by %u): ", command, process->parent_pid);
        print_totals(profile, &notes);
    } else if (!how->quiet) {
        print_summary(profile, &notes, data_path);
    }
    if (ret_calls != NULL)
        *ret_calls = notes.calls;
    if (!how->keep && !notes.live && !notes.incomplete)
        g_unlink(rec_path);
    if (notes.incomplete)
        fprintf(stderr,
                "fathom %s: note: %s is kept: when the files are there, `fathom finish` makes the "
                "profile again (--debug-path names folders of debug files)\n",
                how->command, rec_path);
    fm_finish_notes_done(&notes);
    return true;
}

bool fm_cli_finish(const struct fm_finishing *how, const char *rec_path, const char *data_path,
                   uint64_t *ret_calls)
{
    g_autofree char *whole = fm_cli_data_path(data_path == NULL ? rec_path : data_path);
    GError *error = NULL;
    if (finish(how, rec_path, whole, ret_calls, &error))
        return true;
    fm_cli_fail_file(how->command, rec_path, FM_FILE_RECORDING, error);
    return false;
}
