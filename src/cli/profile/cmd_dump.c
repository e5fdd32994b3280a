/* SPDX-License-Identifier: Apache-2.0 */
/* Every node of a profile as text, in the sections and with the fields of Mercury's mdprof_dump. We
 * differ where that is wrong: calls count exceptions, raw names are always printed, coverage points
 * are in order, containers and callers are known, an unreadable file gives status 1. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "cli/cli.h"
#include "cli/hint.h"
#include "cli/profile/dump_facts.h"
#include "deep/profile.h"

#define WRITE_BYTES 65536

static const char *const site_kinds[FM_SITE_KINDS] = {
    [FM_SITE_NORMAL] = "normal_call",
    [FM_SITE_SPECIAL] = "special_call",
    [FM_SITE_HIGHER_ORDER] = "higher_order_call",
    [FM_SITE_METHOD] = "method_call",
    [FM_SITE_CALLBACK] = "callback",
    [FM_SITE_UNKNOWN] = "unknown_calls",
};

enum {
    SECTION_CSD = 1,
    SECTION_PD = 2,
    SECTION_CSS = 4,
    SECTION_PS = 8,
    SECTION_FACTS = 16,
    SECTION_ALL = 31
};

struct dump {
    const struct fm_profile *profile;
    unsigned sections;
    bool *ps_wanted; /* [ps_count + 1]; NULL = all */
};

/* Names are the file's bytes: nothing of them may steer the terminal. */
static void print_name(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7F || *at == '\\')
            printf("\\x%02x", *at);
        else
            putchar(*at);
    }
}

static void print_text_field(const char *name, const char *text)
{
    printf("\t%s = ", name);
    print_name(text);
    putchar('\n');
}

static void print_number_field(const char *name, uint64_t value)
{
    printf("\t%s = %" PRIu64 "\n", name, value);
}

static void dump_stats(const struct dump *dump)
{
    static const char *const coverage[] = {"no_coverage_data", "static_coverage_data",
                                           "dynamic_coverage_data"};
    const struct fm_profile *profile = dump->profile;
    printf("SECTION PROFILING STATS:\n\n");
    print_text_field("program_name", profile->program_name);
    print_number_field("format_version", profile->version);
    print_number_field("max_csd", profile->csd_count);
    print_number_field("max_css", profile->css_count);
    print_number_field("max_pd", profile->pd_count);
    print_number_field("max_ps", profile->ps_count);
    print_number_field("ticks_per_sec", profile->ticks_per_second);
    print_number_field("instrument_quanta", profile->instrumentation_quanta);
    print_number_field("user_quanta", profile->user_quanta);
    print_number_field("num_callseqs", profile->callseqs);
    print_number_field("word_size", profile->word_size);
    printf("\tcanonical = %s\n", profile->canonical ? "yes" : "no");
    printf("\tcompression = none\n");
    printf("\tcoverage_data_type = %s\n", coverage[profile->coverage]);
    printf("\nINITIAL ROOT:\n\n\tinitial root = %" PRIu32 "\n", profile->root_pd);
}

static void dump_csds(const struct dump *dump)
{
    const struct fm_profile *profile = dump->profile;
    printf("\nSECTION CALL SITE DYNAMICS:\n\n");
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        printf("csd%" PRIu32 ":\n", csd);
        printf("\tcsd_caller = pd%" PRIu32 "\n", profile->csd_caller[csd]);
        printf("\tcsd_callee = pd%" PRIu32 "\n", profile->csd_callee[csd]);
        printf("\tcsd_site = css%" PRIu32 "\n", profile->csd_css[csd]);
        int64_t calls = fm_profile_calls(profile, csd);
        if (calls != 0)
            printf("\tcalls = %" PRId64 "\n", calls);
        for (unsigned measure = 0; measure < profile->measure_count; measure++) {
            uint64_t value = fm_profile_own(profile, csd, measure);
            if (value != 0)
                print_number_field(profile->measures[measure].name, value);
        }
        putchar('\n');
    }
}

static void dump_point(const struct fm_coverage_point *point, uint32_t number, const char *count)
{
    printf("\tcoverage_point[%" PRIu32 "]: %s, ", number,
           point->type == FM_POINT_BRANCH_ARM ? "branch arm" : "after");
    print_name(point->goal_path);
    printf("%s\n", count);
}

static void dump_slot(const struct fm_profile *profile, uint32_t pd, uint32_t slot)
{
    g_assert(pd >= 1 && pd <= profile->pd_count);
    uint32_t count;
    const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    enum fm_site_kind kind = profile->css[profile->css_of_ps[ps->css_first + slot]].kind;
    printf("\tpd_site[%" PRIu32 "] = ", slot);
    if (kind == FM_SITE_NORMAL) {
        printf("normal(csd%" PRIu32 ")\n", count == 0 ? 0 : csds[0]);
        return;
    }
    printf("multi(");
    for (uint32_t i = 0; i < count; i++)
        printf("%scsd%" PRIu32, i == 0 ? "" : ", ", csds[i]);
    printf(")\n");
}

static void dump_pds(const struct dump *dump)
{
    const struct fm_profile *profile = dump->profile;
    printf("\nSECTION PROC DYNAMICS:\n\n");
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
        printf("pd%" PRIu32 ":\n\tpd_proc_static = %" PRIu32 " (", pd, profile->pd_ps[pd]);
        print_name(ps->qualified_name);
        printf(")\n");
        for (uint32_t slot = 0; slot < ps->css_count; slot++)
            dump_slot(profile, pd, slot);
        uint64_t first = profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd];
        uint64_t count =
            profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd + 1] - first;
        if (count > 0)
            printf("Coverage points:\n");
        for (uint32_t i = 0; i < count && i < ps->point_count; i++) {
            char text[32];
            g_snprintf(text, sizeof text, ": %" PRIu64,
                       fm_column_get(&profile->pd_points, (uint32_t)(first + i)));
            dump_point(&profile->points[ps->point_first + i], i, text);
        }
        putchar('\n');
    }
}

static void dump_css(const struct fm_profile *profile, uint32_t id)
{
    g_assert(id >= 1 && id <= profile->css_count);
    const struct fm_css *css = &profile->css[id];
    printf("css%" PRIu32 ":\n\tcss_container = ps%" PRIu32 "\n", id, css->ps);
    print_number_field("css_slot_num", css->slot);
    print_text_field("css_file_name", css->file);
    print_number_field("css_line_num", css->line);
    print_text_field("css_goal_path", css->goal_path);
    printf("\tcss_kind = %s", site_kinds[css->kind]);
    if (css->kind == FM_SITE_NORMAL) {
        printf("(ps%" PRIu32 ", \"", css->callee_ps);
        print_name(css->type_subst);
        printf("\")");
    }
    printf("\n\n");
}

static void dump_csss(const struct dump *dump)
{
    printf("\nSECTION CALL SITE STATICS:\n\n");
    for (uint32_t css = 1; css <= dump->profile->css_count; css++) {
        if (dump->ps_wanted == NULL || dump->ps_wanted[dump->profile->css[css].ps])
            dump_css(dump->profile, css);
    }
}

static void dump_ps(const struct fm_profile *profile, uint32_t id)
{
    g_assert(id >= 1 && id <= profile->ps_count);
    const struct fm_ps *ps = &profile->ps[id];
    printf("ps%" PRIu32 ":\n", id);
    print_text_field("ps_decl_module", ps->decl_module);
    print_text_field("ps_q_refined_id", ps->qualified_name);
    print_text_field("ps_uq_refined_id", ps->unqualified_name);
    print_text_field("ps_raw_id", ps->raw_name);
    printf("\tps_location = ");
    print_name(ps->file);
    printf(":%" PRIu32 "\n", ps->line);
    printf("\tps_in_interface = %s\n", ps->in_interface ? "yes" : "no");
    for (uint32_t slot = 0; slot < ps->css_count; slot++)
        printf("\tps_site[%" PRIu32 "]: css%" PRIu32 "\n", slot,
               profile->css_of_ps[ps->css_first + slot]);
    if (ps->point_count > 0)
        printf("Coverage points:\n");
    for (uint32_t i = 0; i < ps->point_count; i++) {
        const struct fm_coverage_point *point = &profile->points[ps->point_first + i];
        char text[32] = "";
        if (profile->coverage == FM_COVERAGE_STATIC)
            g_snprintf(text, sizeof text, ": %" PRIu64, point->count);
        dump_point(point, i, text);
    }
    putchar('\n');
}

static void dump_pss(const struct dump *dump)
{
    printf("\nSECTION PROC STATICS:\n\n");
    for (uint32_t ps = 1; ps <= dump->profile->ps_count; ps++) {
        if (dump->ps_wanted == NULL || dump->ps_wanted[ps])
            dump_ps(dump->profile, ps);
    }
}

/* --- JSON: written as it goes, so its size does not matter --- */

static void write_some(struct fm_json *json, size_t bytes_kept)
{
    if (json->out->len <= bytes_kept)
        return;
    fwrite(json->out->str, 1, json->out->len, stdout);
    g_string_truncate(json->out, 0);
}

static void json_stats(struct fm_json *json, const struct fm_profile *profile)
{
    static const char *const coverage[] = {"none", "static", "dynamic"};
    fm_json_object(json, "stats");
    fm_json_uint(json, "format_version", profile->version);
    fm_json_text(json, "program_name", profile->program_name);
    fm_json_uint(json, "max_csd", profile->csd_count);
    fm_json_uint(json, "max_css", profile->css_count);
    fm_json_uint(json, "max_pd", profile->pd_count);
    fm_json_uint(json, "max_ps", profile->ps_count);
    fm_json_uint(json, "ticks_per_sec", profile->ticks_per_second);
    fm_json_uint(json, "instrument_quanta", profile->instrumentation_quanta);
    fm_json_uint(json, "user_quanta", profile->user_quanta);
    fm_json_uint(json, "num_callseqs", profile->callseqs);
    fm_json_uint(json, "word_size", profile->word_size);
    fm_json_bool(json, "canonical", profile->canonical);
    fm_json_text(json, "coverage_data_type", coverage[profile->coverage]);
    fm_json_end(json);
    fm_json_line(json, 0);
    fm_json_uint(json, "root", profile->root_pd);
}

static void json_list(struct fm_json *json, const char *name)
{
    fm_json_line(json, 0);
    fm_json_array(json, name);
}

/* The next node, on a line of its own. */
static void json_node(struct fm_json *json, uint32_t id)
{
    write_some(json, WRITE_BYTES);
    fm_json_line(json, 0);
    fm_json_object(json, NULL);
    fm_json_uint(json, "id", id);
}

static void json_csds(struct fm_json *json, const struct fm_profile *profile)
{
    json_list(json, "csd");
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        json_node(json, csd);
        fm_json_uint(json, "caller", profile->csd_caller[csd]);
        fm_json_uint(json, "callee", profile->csd_callee[csd]);
        fm_json_uint(json, "site", profile->csd_css[csd]);
        fm_json_int(json, "calls", fm_profile_calls(profile, csd));
        for (unsigned measure = 0; measure < profile->measure_count; measure++)
            fm_json_uint(json, profile->measures[measure].name,
                         fm_profile_own(profile, csd, measure));
        fm_json_end(json);
    }
    fm_json_end(json);
}

/* count: NULL = the file has none here. */
static void json_point(struct fm_json *json, const struct fm_coverage_point *point,
                       const uint64_t *count)
{
    fm_json_object(json, NULL);
    fm_json_text(json, "type", point->type == FM_POINT_BRANCH_ARM ? "branch arm" : "after");
    fm_json_text(json, "goal_path", point->goal_path);
    if (count != NULL)
        fm_json_uint(json, "count", *count);
    fm_json_end(json);
}

/* Each slot is the list of its csds. */
static void json_slots(struct fm_json *json, const struct fm_profile *profile, uint32_t pd)
{
    g_assert(pd >= 1 && pd <= profile->pd_count);
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    fm_json_array(json, "sites");
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        fm_json_array(json, NULL);
        for (uint32_t i = 0; i < count; i++)
            fm_json_uint(json, NULL, csds[i]);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void json_pds(struct fm_json *json, const struct fm_profile *profile)
{
    json_list(json, "pd");
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
        json_node(json, pd);
        fm_json_uint(json, "ps", profile->pd_ps[pd]);
        json_slots(json, profile, pd);
        fm_json_array(json, "coverage_points");
        uint64_t first = profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd];
        uint64_t points =
            profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd + 1] - first;
        for (uint32_t i = 0; i < points && i < ps->point_count; i++) {
            uint64_t count = fm_column_get(&profile->pd_points, (size_t)(first + i));
            json_point(json, &profile->points[ps->point_first + i], &count);
        }
        fm_json_end(json);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void json_csss(struct fm_json *json, const struct dump *dump)
{
    json_list(json, "css");
    for (uint32_t id = 1; id <= dump->profile->css_count; id++) {
        const struct fm_css *css = &dump->profile->css[id];
        if (dump->ps_wanted != NULL && !dump->ps_wanted[css->ps])
            continue;
        json_node(json, id);
        fm_json_uint(json, "container", css->ps);
        fm_json_uint(json, "slot", css->slot);
        fm_json_uint(json, "line", css->line);
        fm_json_text(json, "kind", site_kinds[css->kind]);
        fm_json_text(json, "file", css->file);
        fm_json_text(json, "goal_path", css->goal_path);
        if (css->kind == FM_SITE_NORMAL) {
            fm_json_uint(json, "callee", css->callee_ps);
            fm_json_text(json, "type_subst", css->type_subst);
        }
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void json_ps(struct fm_json *json, const struct fm_profile *profile, uint32_t id)
{
    g_assert(id >= 1 && id <= profile->ps_count);
    const struct fm_ps *ps = &profile->ps[id];
    json_node(json, id);
    fm_json_uint(json, "line", ps->line);
    fm_json_bool(json, "in_interface", ps->in_interface);
    fm_json_text(json, "decl_module", ps->decl_module);
    fm_json_text(json, "q_refined_id", ps->qualified_name);
    fm_json_text(json, "uq_refined_id", ps->unqualified_name);
    fm_json_text(json, "raw_id", ps->raw_name);
    fm_json_text(json, "file", ps->file);
    fm_json_array(json, "sites");
    for (uint32_t slot = 0; slot < ps->css_count; slot++)
        fm_json_uint(json, NULL, profile->css_of_ps[ps->css_first + slot]);
    fm_json_end(json);
    fm_json_array(json, "coverage_points");
    for (uint32_t i = 0; i < ps->point_count; i++) {
        const struct fm_coverage_point *point = &profile->points[ps->point_first + i];
        uint64_t count = point->count;
        json_point(json, point, profile->coverage == FM_COVERAGE_STATIC ? &count : NULL);
    }
    fm_json_end(json);
    fm_json_end(json);
}

static void json_pss(struct fm_json *json, const struct dump *dump)
{
    json_list(json, "ps");
    for (uint32_t ps = 1; ps <= dump->profile->ps_count; ps++) {
        if (dump->ps_wanted == NULL || dump->ps_wanted[ps])
            json_ps(json, dump->profile, ps);
    }
    fm_json_end(json);
}

static void dump_json(const struct dump *dump)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    json_stats(&json, dump->profile);
    if (dump->sections & SECTION_CSD)
        json_csds(&json, dump->profile);
    if (dump->sections & SECTION_PD)
        json_pds(&json, dump->profile);
    if (dump->sections & SECTION_CSS)
        json_csss(&json, dump);
    if (dump->sections & SECTION_PS)
        json_pss(&json, dump);
    if (dump->sections & SECTION_FACTS)
        fm_dump_facts_json(&json, dump->profile);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
    write_some(&json, 0);
}

static void dump_text(const struct dump *dump)
{
    dump_stats(dump);
    if (dump->sections & SECTION_CSD)
        dump_csds(dump);
    if (dump->sections & SECTION_PD)
        dump_pds(dump);
    if (dump->sections & SECTION_CSS)
        dump_csss(dump);
    if (dump->sections & SECTION_PS)
        dump_pss(dump);
    if (dump->sections & SECTION_FACTS)
        fm_dump_facts(dump->profile);
}

static int dump_file(const char *path, unsigned sections, bool restricted, bool json)
{
    GError *error = NULL;
    struct fm_progress progress;
    g_autoptr(FmProfile) profile = NULL;
    fm_cli_progress_begin(&progress);
    bool read = fm_profile_read(path, &progress, &profile, &error);
    fm_cli_progress_end(&progress);
    if (!read)
        return fm_cli_fail_file("dump", path, FM_FILE_PROFILE, error);
    struct dump dump = {profile, sections, NULL};
    if (restricted) {
        dump.ps_wanted = g_new0(bool, (gsize)profile->ps_count + 1);
        for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
            dump.ps_wanted[profile->pd_ps[pd]] = true;
    }
    if (json)
        dump_json(&dump);
    else
        dump_text(&dump);
    g_free(dump.ps_wanted);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom dump: cannot write: %s\n", g_strerror(errno));
    return FM_EXIT_FAILED;
}

/* The sections of --only; 0 after a message when one is not known. */
static unsigned parse_sections(char **only)
{
    static const struct {
        const char *name;
        unsigned section;
    } names[] = {{"csd", SECTION_CSD}, {"pd", SECTION_PD},       {"css", SECTION_CSS},
                 {"ps", SECTION_PS},   {"facts", SECTION_FACTS}, {"all", SECTION_ALL}};
    unsigned sections = 0;
    for (char **name = only; name != NULL && *name != NULL; name++) {
        unsigned found = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
            found |= strcmp(*name, names[i].name) == 0 ? names[i].section : 0;
        if (found == 0) {
            fm_cli_usage("dump", "--only: expected csd, pd, css, ps, facts or all, not '%s'",
                         *name);
            return 0;
        }
        sections |= found;
    }
    return sections == 0 ? SECTION_ALL : sections;
}

/* Files made of a profile are printed by their own command. */
static int dump_companion(const char *path, enum fm_cli_file_kind kind, bool json)
{
    char *bodies[] = {(char *)(uintptr_t) "procrep", (char *)(uintptr_t) "--file",
                      (char *)(uintptr_t)path, (char *)(uintptr_t)(json ? "--json" : NULL), NULL};
    char *report[] = {(char *)(uintptr_t) "feedback", (char *)(uintptr_t) "report",
                      (char *)(uintptr_t)path, (char *)(uintptr_t)(json ? "--json" : NULL), NULL};
    int argc = json ? 4 : 3;
    return kind == FM_FILE_BODIES ? fm_cmd_procrep(argc, bodies) : fm_cmd_feedback(argc, report);
}

int fm_cmd_dump(int argc, char **argv)
{
    char **only = NULL;
    gboolean restricted = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        {"only", 'D', 0, G_OPTION_ARG_STRING_ARRAY, &only,
         "Print only nodes of KIND: csd, pd, css, ps, facts or all; may be repeated", "KIND"},
        {"restrict", 'r', 0, G_OPTION_ARG_NONE, &restricted,
         "Print only procedures that were called, and their call sites", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "[FILE]",
                              "Prints the header and every node of a profile (default Deep.data), "
                              "without analysis. Of a .procrep file it prints all bodies, of a "
                              "feedback file the advice.",
                              "fathom dump --only ps --restrict Deep.data");
    g_auto(GStrv) kinds = only;
    if (status >= 0)
        return status;
    if (argc > 2)
        return fm_cli_usage("dump", "expected one FILE");
    unsigned sections = parse_sections(kinds);
    if (sections == 0)
        return FM_EXIT_USAGE;
    const char *path = argc == 2 ? argv[1] : "Deep.data";
    enum fm_cli_file_kind kind = fm_cli_file_kind(path);
    if (kind == FM_FILE_BODIES || kind == FM_FILE_FEEDBACK)
        return dump_companion(path, kind, json);
    return dump_file(path, sections, restricted, json);
}
