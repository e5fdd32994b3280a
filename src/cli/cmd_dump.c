/* SPDX-License-Identifier: Apache-2.0 */
/* Every node of a profile as text, in the sections and with the fields of Mercury's mdprof_dump. We
 * differ where that is wrong: calls count exceptions, raw names are always printed, coverage points
 * are in order, containers and callers are known, an unreadable file gives status 1. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/hint.h"
#include "deep/profile.h"
#include "eventlog/output/format.h"

enum { SECTION_CSD = 1, SECTION_PD = 2, SECTION_CSS = 4, SECTION_PS = 8, SECTION_ALL = 15 };

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
    static const char *const kinds[FM_SITE_KINDS] = {
        [FM_SITE_NORMAL] = "normal_call",
        [FM_SITE_SPECIAL] = "special_call",
        [FM_SITE_HIGHER_ORDER] = "higher_order_call",
        [FM_SITE_METHOD] = "method_call",
        [FM_SITE_CALLBACK] = "callback",
    };
    const struct fm_css *css = &profile->css[id];
    printf("css%" PRIu32 ":\n\tcss_container = ps%" PRIu32 "\n", id, css->ps);
    print_number_field("css_slot_num", css->slot);
    print_text_field("css_file_name", css->file);
    print_number_field("css_line_num", css->line);
    print_text_field("css_goal_path", css->goal_path);
    printf("\tcss_kind = %s", kinds[css->kind]);
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

static void json_text(const char *text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    fm_eventlog_format_json_text(out, (const uint8_t *)text, strlen(text));
    fputs(out->str, stdout);
}

static void json_text_member(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    json_text(text);
}

static void json_stats(const struct fm_profile *profile)
{
    static const char *const coverage[] = {"none", "static", "dynamic"};
    printf("{\"stats\":{\"format_version\":%u", (unsigned)profile->version);
    json_text_member("program_name", profile->program_name);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"max_csd", profile->csd_count},
        {"max_css", profile->css_count},
        {"max_pd", profile->pd_count},
        {"max_ps", profile->ps_count},
        {"ticks_per_sec", profile->ticks_per_second},
        {"instrument_quanta", profile->instrumentation_quanta},
        {"user_quanta", profile->user_quanta},
        {"num_callseqs", profile->callseqs},
        {"word_size", profile->word_size},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        printf(",\"%s\":%" PRIu64, numbers[i].name, numbers[i].value);
    printf(",\"canonical\":%s,\"coverage_data_type\":\"%s\"},\n\"root\":%" PRIu32,
           profile->canonical ? "true" : "false", coverage[profile->coverage], profile->root_pd);
}

static void json_csds(const struct fm_profile *profile)
{
    printf(",\n\"csd\":[");
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        printf("%s\n{\"id\":%" PRIu32 ",\"caller\":%" PRIu32 ",\"callee\":%" PRIu32
               ",\"site\":%" PRIu32 ",\"calls\":%" PRId64,
               csd == 1 ? "" : ",", csd, profile->csd_caller[csd], profile->csd_callee[csd],
               profile->csd_css[csd], fm_profile_calls(profile, csd));
        for (unsigned measure = 0; measure < profile->measure_count; measure++) {
            putchar(',');
            json_text(profile->measures[measure].name);
            printf(":%" PRIu64, fm_profile_own(profile, csd, measure));
        }
        putchar('}');
    }
    putchar(']');
}

/* count: NULL = the file has none here. */
static void json_point(const struct fm_coverage_point *point, uint32_t number,
                       const uint64_t *count)
{
    printf("%s{\"type\":\"%s\"", number == 0 ? "" : ",",
           point->type == FM_POINT_BRANCH_ARM ? "branch arm" : "after");
    json_text_member("goal_path", point->goal_path);
    if (count != NULL)
        printf(",\"count\":%" PRIu64, *count);
    putchar('}');
}

/* Each slot is the list of its csds. */
static void json_pds(const struct fm_profile *profile)
{
    printf(",\n\"pd\":[");
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
        printf("%s\n{\"id\":%" PRIu32 ",\"ps\":%" PRIu32 ",\"sites\":[", pd == 1 ? "" : ",", pd,
               profile->pd_ps[pd]);
        for (uint32_t slot = 0; slot < ps->css_count; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            printf("%s[", slot == 0 ? "" : ",");
            for (uint32_t i = 0; i < count; i++)
                printf("%s%" PRIu32, i == 0 ? "" : ",", csds[i]);
            putchar(']');
        }
        printf("],\"coverage_points\":[");
        uint64_t first = profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd];
        uint64_t points =
            profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd + 1] - first;
        for (uint32_t i = 0; i < points && i < ps->point_count; i++) {
            uint64_t count = fm_column_get(&profile->pd_points, (size_t)(first + i));
            json_point(&profile->points[ps->point_first + i], i, &count);
        }
        printf("]}");
    }
    putchar(']');
}

static void json_csss(const struct dump *dump)
{
    static const char *const kinds[FM_SITE_KINDS] = {
        [FM_SITE_NORMAL] = "normal_call",
        [FM_SITE_SPECIAL] = "special_call",
        [FM_SITE_HIGHER_ORDER] = "higher_order_call",
        [FM_SITE_METHOD] = "method_call",
        [FM_SITE_CALLBACK] = "callback",
    };
    const char *between = "";
    printf(",\n\"css\":[");
    for (uint32_t id = 1; id <= dump->profile->css_count; id++) {
        const struct fm_css *css = &dump->profile->css[id];
        if (dump->ps_wanted != NULL && !dump->ps_wanted[css->ps])
            continue;
        printf("%s\n{\"id\":%" PRIu32 ",\"container\":%" PRIu32 ",\"slot\":%" PRIu64
               ",\"line\":%" PRIu64 ",\"kind\":\"%s\"",
               between, id, css->ps, (uint64_t)css->slot, (uint64_t)css->line, kinds[css->kind]);
        json_text_member("file", css->file);
        json_text_member("goal_path", css->goal_path);
        if (css->kind == FM_SITE_NORMAL) {
            printf(",\"callee\":%" PRIu32, css->callee_ps);
            json_text_member("type_subst", css->type_subst);
        }
        putchar('}');
        between = ",";
    }
    putchar(']');
}

static void json_ps(const struct fm_profile *profile, uint32_t id)
{
    const struct fm_ps *ps = &profile->ps[id];
    printf("{\"id\":%" PRIu32 ",\"line\":%" PRIu64 ",\"in_interface\":%s", id, (uint64_t)ps->line,
           ps->in_interface ? "true" : "false");
    json_text_member("decl_module", ps->decl_module);
    json_text_member("q_refined_id", ps->qualified_name);
    json_text_member("uq_refined_id", ps->unqualified_name);
    json_text_member("raw_id", ps->raw_name);
    json_text_member("file", ps->file);
    printf(",\"sites\":[");
    for (uint32_t slot = 0; slot < ps->css_count; slot++)
        printf("%s%" PRIu32, slot == 0 ? "" : ",", profile->css_of_ps[ps->css_first + slot]);
    printf("],\"coverage_points\":[");
    for (uint32_t i = 0; i < ps->point_count; i++) {
        const struct fm_coverage_point *point = &profile->points[ps->point_first + i];
        uint64_t count = point->count;
        json_point(point, i, profile->coverage == FM_COVERAGE_STATIC ? &count : NULL);
    }
    printf("]}");
}

static void dump_json(const struct dump *dump)
{
    json_stats(dump->profile);
    if (dump->sections & SECTION_CSD)
        json_csds(dump->profile);
    if (dump->sections & SECTION_PD)
        json_pds(dump->profile);
    if (dump->sections & SECTION_CSS)
        json_csss(dump);
    if (dump->sections & SECTION_PS) {
        const char *between = "";
        printf(",\n\"ps\":[");
        for (uint32_t ps = 1; ps <= dump->profile->ps_count; ps++) {
            if (dump->ps_wanted != NULL && !dump->ps_wanted[ps])
                continue;
            printf("%s\n", between);
            json_ps(dump->profile, ps);
            between = ",";
        }
        putchar(']');
    }
    printf("}\n");
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
    } names[] = {{"csd", SECTION_CSD},
                 {"pd", SECTION_PD},
                 {"css", SECTION_CSS},
                 {"ps", SECTION_PS},
                 {"all", SECTION_ALL}};
    unsigned sections = 0;
    for (char **name = only; name != NULL && *name != NULL; name++) {
        unsigned found = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
            found |= strcmp(*name, names[i].name) == 0 ? names[i].section : 0;
        if (found == 0) {
            fm_cli_usage("dump", "--only is csd, pd, css, ps or all, not '%s'", *name);
            return 0;
        }
        sections |= found;
    }
    return sections == 0 ? SECTION_ALL : sections;
}

int fm_cmd_dump(int argc, char **argv)
{
    char **only = NULL;
    gboolean restricted = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        {"only", 'D', 0, G_OPTION_ARG_STRING_ARRAY, &only,
         "Only this kind of node: csd, pd, css, ps or all; may be given again", "KIND"},
        {"restrict", 'r', 0, G_OPTION_ARG_NONE, &restricted,
         "Only procedures that were called, and their call sites", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "[FILE]",
                              "Prints the header and every node of a profile (default Deep.data), "
                              "without analysis.",
                              "fathom dump --only ps --restrict Deep.data");
    g_auto(GStrv) kinds = only;
    if (status >= 0)
        return status;
    if (argc > 2)
        return fm_cli_usage("dump", "expected one FILE");
    unsigned sections = parse_sections(kinds);
    if (sections == 0)
        return FM_EXIT_USAGE;
    return dump_file(argc == 2 ? argv[1] : "Deep.data", sections, restricted, json);
}
