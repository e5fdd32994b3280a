/* SPDX-License-Identifier: Apache-2.0 */
/* The header and the nodes. */
#include "profile/dump/dump.h"

#include <inttypes.h>

#include "profile/dump/dump_internal.h"

#define WRITE_BYTES 65536

static const char *const site_kinds[FM_SITE_KINDS] = {
    [FM_SITE_NORMAL] = "normal_call",
    [FM_SITE_SPECIAL] = "special_call",
    [FM_SITE_HIGHER_ORDER] = "higher_order_call",
    [FM_SITE_METHOD] = "method_call",
    [FM_SITE_CALLBACK] = "callback",
    [FM_SITE_UNKNOWN] = "unknown_calls",
};

struct dump {
    struct fm_dump_out out;
    const struct fm_profile *profile;
    bool *ps_wanted; /* [ps_count + 1]; NULL = all */
};

#define PROFILE(text, json, form, member) FM_DUMP_FIELD(struct fm_profile, text, json, form, member)

static const struct fm_dump_field profile_fields[] = {
    PROFILE("program_name", "program_name", NAME, program_name),
    PROFILE("format_version", "format_version", NUMBER32, version),
    PROFILE("max_csd", "max_csd", NUMBER32, csd_count),
    PROFILE("max_css", "max_css", NUMBER32, css_count),
    PROFILE("max_pd", "max_pd", NUMBER32, pd_count),
    PROFILE("max_ps", "max_ps", NUMBER32, ps_count),
    PROFILE("ticks_per_sec", "ticks_per_sec", NUMBER, ticks_per_second),
    PROFILE("instrument_quanta", "instrument_quanta", NUMBER, instrumentation_quanta),
    PROFILE("user_quanta", "user_quanta", NUMBER, user_quanta),
    PROFILE("num_callseqs", "num_callseqs", NUMBER, callseqs),
    PROFILE("word_size", "word_size", NUMBER32, word_size),
    PROFILE("canonical", "canonical", YESNO, canonical),
};

#define CSS(text, json, form, member) FM_DUMP_FIELD(struct fm_css, text, json, form, member)

static const struct fm_dump_field css_fields[] = {
    CSS("css_slot_num", "slot", NUMBER32, slot),
    CSS("css_file_name", "file", NAME, file),
    CSS("css_line_num", "line", NUMBER32, line),
    CSS("css_goal_path", "goal_path", NAME, goal_path),
};

#define PS(text, json, form, member) FM_DUMP_FIELD(struct fm_ps, text, json, form, member)

static const struct fm_dump_field ps_fields[] = {
    PS("ps_decl_module", "decl_module", NAME, decl_module),
    PS("ps_q_refined_id", "q_refined_id", NAME, qualified_name),
    PS("ps_uq_refined_id", "uq_refined_id", NAME, unqualified_name),
    PS("ps_raw_id", "raw_id", NAME, raw_name),
    PS(NULL, "file", NAME, file),
    PS(NULL, "line", NUMBER32, line),
};
static const struct fm_dump_field ps_interface[] = {
    PS("ps_in_interface", "in_interface", YESNO, in_interface),
};

static void dump_header(struct fm_dump_out *out, const struct fm_profile *profile)
{
    static const char *const coverage[] = {"no_coverage_data", "static_coverage_data",
                                           "dynamic_coverage_data"};
    static const char *const coverage_json[] = {"none", "static", "dynamic"};
    fm_dump_print(out, "SECTION PROFILING STATS:\n\n");
    fm_dump_object(out, "stats", false);
    FM_DUMP_FIELDS(out, profile_fields, profile);
    fm_dump_print(out, "\tcompression = none\n\tcoverage_data_type = %s\n",
                  coverage[profile->coverage]);
    if (out->json != NULL)
        fm_json_text(out->json, "coverage_data_type", coverage_json[profile->coverage]);
    fm_dump_end(out);
    fm_dump_print(out, "\nINITIAL ROOT:\n\n\tinitial root = %" PRIu32 "\n", profile->root_pd);
    if (out->json != NULL)
        fm_json_line(out->json, 0);
    fm_dump_uint(out, NULL, "root", profile->root_pd);
}

static void begin_section(struct dump *dump, const char *title, const char *name)
{
    fm_dump_print(&dump->out, "\nSECTION %s:\n\n", title);
    fm_dump_array(&dump->out, name, true);
}

static void begin_node(struct dump *dump, const char *kind, uint32_t id)
{
    fm_dump_flush(&dump->out, WRITE_BYTES);
    fm_dump_print(&dump->out, "%s%" PRIu32 ":\n", kind, id);
    fm_dump_object(&dump->out, NULL, true);
    fm_dump_uint(&dump->out, NULL, "id", id);
}

static void end_node(struct dump *dump)
{
    fm_dump_print(&dump->out, "\n");
    fm_dump_end(&dump->out);
}

static void dump_csds(struct dump *dump)
{
    const struct fm_profile *profile = dump->profile;
    struct fm_dump_out *out = &dump->out;
    begin_section(dump, "CALL SITE DYNAMICS", "csd");
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        begin_node(dump, "csd", csd);
        fm_dump_id(out, "csd_caller", "caller", "pd", profile->csd_caller[csd]);
        fm_dump_id(out, "csd_callee", "callee", "pd", profile->csd_callee[csd]);
        fm_dump_id(out, "csd_site", "site", "css", profile->csd_css[csd]);
        int64_t calls = fm_profile_calls(profile, csd);
        if (calls != 0)
            fm_dump_print(out, "\tcalls = %" PRId64 "\n", calls);
        if (out->json != NULL)
            fm_json_int(out->json, "calls", calls);
        for (unsigned measure = 0; measure < profile->measure_count; measure++) {
            const char *name = profile->measures[measure].name;
            uint64_t value = fm_profile_own(profile, csd, measure);
            fm_dump_uint(out, value != 0 ? name : NULL, name, value);
        }
        end_node(dump);
    }
    fm_dump_end(out);
}

/* count: NULL = the file has none here. */
static void dump_point(struct fm_dump_out *out, const struct fm_coverage_point *point,
                       uint32_t number, const uint64_t *count)
{
    const char *type = point->type == FM_POINT_BRANCH_ARM ? "branch arm" : "after";
    if (number == 0)
        fm_dump_print(out, "Coverage points:\n");
    fm_dump_print(out, "\tcoverage_point[%" PRIu32 "]: %s, ", number, type);
    fm_dump_print_name(out, point->goal_path);
    if (count != NULL)
        fm_dump_print(out, ": %" PRIu64, *count);
    fm_dump_print(out, "\n");
    if (out->json == NULL)
        return;
    fm_json_object(out->json, NULL);
    fm_json_text(out->json, "type", type);
    fm_json_text(out->json, "goal_path", point->goal_path);
    if (count != NULL)
        fm_json_uint(out->json, "count", *count);
    fm_json_end(out->json);
}

/* JSON: each slot is the list of its csds. */
static void dump_slot(struct fm_dump_out *out, const struct fm_profile *profile, uint32_t pd,
                      uint32_t slot)
{
    g_assert(pd >= 1 && pd <= profile->pd_count);
    uint32_t count;
    const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    bool normal = profile->css[profile->css_of_ps[ps->css_first + slot]].kind == FM_SITE_NORMAL;
    fm_dump_print(out, "\tpd_site[%" PRIu32 "] = %s(", slot, normal ? "normal" : "multi");
    if (normal && count == 0)
        fm_dump_print(out, "csd0");
    fm_dump_array(out, NULL, false);
    for (uint32_t i = 0; i < count; i++) {
        fm_dump_print(out, "%scsd%" PRIu32, i == 0 ? "" : ", ", csds[i]);
        if (out->json != NULL)
            fm_json_uint(out->json, NULL, csds[i]);
    }
    fm_dump_end(out);
    fm_dump_print(out, ")\n");
}

static void dump_pd(struct dump *dump, uint32_t pd)
{
    const struct fm_profile *profile = dump->profile;
    struct fm_dump_out *out = &dump->out;
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    begin_node(dump, "pd", pd);
    fm_dump_print(out, "\tpd_proc_static = %" PRIu32 " (", profile->pd_ps[pd]);
    fm_dump_print_name(out, ps->qualified_name);
    fm_dump_print(out, ")\n");
    fm_dump_uint(out, NULL, "ps", profile->pd_ps[pd]);
    fm_dump_array(out, "sites", false);
    for (uint32_t slot = 0; slot < ps->css_count; slot++)
        dump_slot(out, profile, pd, slot);
    fm_dump_end(out);
    uint64_t first = profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd];
    uint64_t points = profile->pd_point_first == NULL ? 0 : profile->pd_point_first[pd + 1] - first;
    fm_dump_array(out, "coverage_points", false);
    for (uint32_t i = 0; i < points && i < ps->point_count; i++) {
        uint64_t count = fm_column_get(&profile->pd_points, (size_t)(first + i));
        dump_point(out, &profile->points[ps->point_first + i], i, &count);
    }
    fm_dump_end(out);
    end_node(dump);
}

static void dump_pds(struct dump *dump)
{
    begin_section(dump, "PROC DYNAMICS", "pd");
    for (uint32_t pd = 1; pd <= dump->profile->pd_count; pd++)
        dump_pd(dump, pd);
    fm_dump_end(&dump->out);
}

static void dump_css(struct dump *dump, uint32_t id)
{
    const struct fm_css *css = &dump->profile->css[id];
    struct fm_dump_out *out = &dump->out;
    begin_node(dump, "css", id);
    fm_dump_id(out, "css_container", "container", "ps", css->ps);
    FM_DUMP_FIELDS(out, css_fields, css);
    fm_dump_print(out, "\tcss_kind = %s", site_kinds[css->kind]);
    if (css->kind == FM_SITE_NORMAL) {
        fm_dump_print(out, "(ps%" PRIu32 ", \"", css->callee_ps);
        fm_dump_print_name(out, css->type_subst);
        fm_dump_print(out, "\")");
    }
    fm_dump_print(out, "\n");
    if (out->json != NULL)
        fm_json_text(out->json, "kind", site_kinds[css->kind]);
    if (out->json != NULL && css->kind == FM_SITE_NORMAL) {
        fm_json_uint(out->json, "callee", css->callee_ps);
        fm_json_text(out->json, "type_subst", css->type_subst);
    }
    end_node(dump);
}

static void dump_csss(struct dump *dump)
{
    begin_section(dump, "CALL SITE STATICS", "css");
    for (uint32_t css = 1; css <= dump->profile->css_count; css++) {
        if (dump->ps_wanted == NULL || dump->ps_wanted[dump->profile->css[css].ps])
            dump_css(dump, css);
    }
    fm_dump_end(&dump->out);
}

static void dump_ps(struct dump *dump, uint32_t id)
{
    const struct fm_profile *profile = dump->profile;
    struct fm_dump_out *out = &dump->out;
    const struct fm_ps *ps = &profile->ps[id];
    begin_node(dump, "ps", id);
    FM_DUMP_FIELDS(out, ps_fields, ps);
    fm_dump_print(out, "\tps_location = ");
    fm_dump_print_name(out, ps->file);
    fm_dump_print(out, ":%" PRIu32 "\n", ps->line);
    FM_DUMP_FIELDS(out, ps_interface, ps);
    fm_dump_array(out, "sites", false);
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        uint32_t css = profile->css_of_ps[ps->css_first + slot];
        fm_dump_print(out, "\tps_site[%" PRIu32 "]: css%" PRIu32 "\n", slot, css);
        if (out->json != NULL)
            fm_json_uint(out->json, NULL, css);
    }
    fm_dump_end(out);
    fm_dump_array(out, "coverage_points", false);
    for (uint32_t i = 0; i < ps->point_count; i++) {
        const struct fm_coverage_point *point = &profile->points[ps->point_first + i];
        bool counted = profile->coverage == FM_COVERAGE_STATIC;
        dump_point(out, point, i, counted ? &point->count : NULL);
    }
    fm_dump_end(out);
    end_node(dump);
}

static void dump_pss(struct dump *dump)
{
    begin_section(dump, "PROC STATICS", "ps");
    for (uint32_t ps = 1; ps <= dump->profile->ps_count; ps++) {
        if (dump->ps_wanted == NULL || dump->ps_wanted[ps])
            dump_ps(dump, ps);
    }
    fm_dump_end(&dump->out);
}

void fm_dump(const struct fm_profile *profile, const struct fm_dump_wish *wish, FILE *to)
{
    g_return_if_fail(profile != NULL && wish != NULL && to != NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_json json;
    struct dump dump = {
        .out = {.to = to, .text = text, .json = wish->json ? &json : NULL},
        .profile = profile,
        .ps_wanted = wish->called_only ? g_new0(bool, (gsize)profile->ps_count + 1) : NULL,
    };
    for (uint32_t pd = 1; wish->called_only && pd <= profile->pd_count; pd++)
        dump.ps_wanted[profile->pd_ps[pd]] = true;
    fm_json_init(&json, text);
    fm_dump_object(&dump.out, NULL, false);
    dump_header(&dump.out, profile);
    if (wish->sections & FM_DUMP_CSD)
        dump_csds(&dump);
    if (wish->sections & FM_DUMP_PD)
        dump_pds(&dump);
    if (wish->sections & FM_DUMP_CSS)
        dump_csss(&dump);
    if (wish->sections & FM_DUMP_PS)
        dump_pss(&dump);
    if (wish->sections & FM_DUMP_FACTS)
        fm_dump_facts(&dump.out, profile);
    fm_dump_end(&dump.out);
    if (wish->json)
        g_string_append_c(text, '\n');
    fm_dump_flush(&dump.out, 0);
    g_free(dump.ps_wanted);
}
