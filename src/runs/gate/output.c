/* SPDX-License-Identifier: Apache-2.0 */
/* Writes verdicts for tools: JUnit XML, SARIF 2.1.0, and Markdown for a pull request. */
#include <math.h>
#include <string.h>

#include "base/text/json.h"
#include "display/display.h"
#include "runs/gate/gate.h"

#define MARKDOWN_BYTES_MAX 60000u

const char *fm_verdict_word(enum fm_verdict verdict)
{
    static const char *const words[] = {"kept", "not told", "broken", "error"};
    return words[verdict];
}

char *fm_gate_summary(const struct fm_gate *gate)
{
    GString *text = g_string_new(NULL);
    guint all = gate->judgements->len;
    if (gate->count[FM_VERDICT_BROKEN] > 0)
        g_string_append_printf(text, "%u of %u limits broken", gate->count[FM_VERDICT_BROKEN], all);
    else
        g_string_append_printf(text, "none of %u limits broken", all);
    g_string_append_printf(text, ", %u kept", gate->count[FM_VERDICT_KEPT]);
    if (gate->count[FM_VERDICT_NOT_TOLD] > 0)
        g_string_append_printf(text, ", %u that cannot be told", gate->count[FM_VERDICT_NOT_TOLD]);
    if (gate->count[FM_VERDICT_ERROR] > 0)
        g_string_append_printf(text, ", %u in error", gate->count[FM_VERDICT_ERROR]);
    return g_string_free(text, FALSE);
}

char *fm_judgement_text(const struct fm_judgement *it, double value)
{
    if (it->estimated && strcmp(it->limit->measure, "time") == 0)
        return fm_format_time(value);
    if (fabs(value) < 9e15 && value == floor(value))
        return fm_format_int((int64_t)value);
    return fm_format_float(value, 2);
}

/* With a sign in front of an upper bound; g_free. */
static char *value_text(const struct fm_judgement *it, enum fm_side side)
{
    g_autofree char *text = fm_judgement_text(it, it->value[side]);
    return fm_format_at_most(text, it->at_most[side]);
}

char *fm_judgement_change(const struct fm_judgement *it)
{
    double before = it->value[FM_BEFORE], change = it->value[FM_AFTER] - before;
    if (!it->has_before || it->verdict == FM_VERDICT_ERROR)
        return g_strdup("");
    if (before > 0)
        return g_strdup_printf("%+.2f %%", 100 * change / before);
    g_autofree char *text = fm_judgement_text(it, fabs(change));
    return change == 0 ? g_strdup("0") : g_strdup_printf("%c%s", change > 0 ? '+' : '-', text);
}

static const struct fm_judgement *judgement(const struct fm_gate *gate, guint i)
{
    g_assert(i < gate->judgements->len);
    return &g_array_index(gate->judgements, struct fm_judgement, i);
}

/* The whole report on a verdict, in lines. */
static char *report(const struct fm_judgement *it)
{
    GString *text = g_string_new(NULL);
    g_autofree char *before = value_text(it, FM_BEFORE);
    g_autofree char *after = value_text(it, FM_AFTER);
    g_autofree char *change = fm_judgement_change(it);
    if (it->verdict != FM_VERDICT_ERROR && it->has_before)
        g_string_append_printf(text, "%s -> %s (%s)", before, after, change);
    else if (it->verdict != FM_VERDICT_ERROR)
        g_string_append(text, after);
    if (it->why != NULL)
        g_string_append_printf(text, "%s%s", text->len > 0 ? ": " : "", it->why);
    if (it->path != NULL)
        g_string_append_printf(text, "\nin %s", it->path);
    if (it->cause != NULL)
        g_string_append_printf(text, "\nbecause %s", it->cause);
    return g_string_free(text, FALSE);
}

/* --- JUnit --- */

/* XML 1.0 has no control characters, not even as references. */
static void append_xml(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (char *at = valid; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t')
            *at = '?';
    }
    g_autofree char *escaped = g_markup_escape_text(valid, -1);
    g_string_append(out, escaped);
}

static void append_attribute(GString *out, const char *name, const char *text)
{
    g_string_append_printf(out, " %s=\"", name);
    append_xml(out, text);
    g_string_append_c(out, '"');
}

static void append_case(GString *out, const struct fm_judgement *it)
{
    g_autofree char *text = report(it);
    g_string_append(out, "    <testcase");
    append_attribute(out, "classname", *it->limit->file == '\0' ? "limits" : it->limit->file);
    append_attribute(out, "name", it->limit->text);
    g_string_append(out, " time=\"0\"");
    if (it->verdict == FM_VERDICT_KEPT) {
        g_string_append(out, "/>\n");
        return;
    }
    const char *element = it->verdict == FM_VERDICT_BROKEN  ? "failure"
                          : it->verdict == FM_VERDICT_ERROR ? "error"
                                                            : "skipped";
    g_string_append_printf(out, ">\n      <%s", element);
    append_attribute(out, "message", it->why != NULL ? it->why : "");
    if (it->verdict != FM_VERDICT_NOT_TOLD) {
        g_string_append(out, " type=\"limit\">");
        append_xml(out, text);
        g_string_append_printf(out, "</%s>\n    </testcase>\n", element);
    } else {
        g_string_append(out, "/>\n    </testcase>\n");
    }
}

void fm_gate_write_junit(const struct fm_gate *gate, GString *out)
{
    g_autofree char *counts =
        g_strdup_printf(" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"0\"",
                        gate->judgements->len, gate->count[FM_VERDICT_BROKEN],
                        gate->count[FM_VERDICT_ERROR], gate->count[FM_VERDICT_NOT_TOLD]);
    g_string_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    g_string_append_printf(out, "%s>\n  <testsuite", counts);
    append_attribute(out, "name", gate->names[FM_AFTER]);
    g_string_append_printf(out, "%s>\n", counts);
    for (guint i = 0; i < gate->judgements->len; i++)
        append_case(out, judgement(gate, i));
    g_string_append(out, "  </testsuite>\n</testsuites>\n");
}

/* --- SARIF --- */

static const char *const rules[][2] = {
    {"fathom/limit", "A limit on what a program costs is broken"},
    {"fathom/not-told", "Time is sampled, and whether the limit is kept cannot be told"},
    {"fathom/error", "A limit does not fit the profiles"},
};

static unsigned rule_of(const struct fm_judgement *it)
{
    return it->verdict == FM_VERDICT_BROKEN ? 0 : it->verdict == FM_VERDICT_NOT_TOLD ? 1 : 2;
}

static void append_text_object(struct fm_json *json, const char *name, const char *text)
{
    fm_json_object(json, name);
    fm_json_text(json, "text", text);
    fm_json_end(json);
}

/* Location of the function; else of the limit itself, for tools that show no result without a
 * location. */
static void append_location(struct fm_json *json, const struct fm_judgement *it)
{
    bool function = it->file != NULL && *it->file != '\0';
    const char *file = function ? it->file : it->limit->file;
    g_autofree char *uri =
        *file == '\0'  ? NULL
        : *file == '/' ? g_filename_to_uri(file, NULL, NULL)
                       : g_uri_escape_string(file, G_URI_RESERVED_CHARS_ALLOWED_IN_PATH, false);
    fm_json_array(json, "locations");
    fm_json_object(json, NULL);
    if (uri != NULL) {
        fm_json_object(json, "physicalLocation");
        fm_json_object(json, "artifactLocation");
        fm_json_text(json, "uri", uri);
        fm_json_end(json);
        fm_json_object(json, "region");
        fm_json_uint(json, "startLine", MAX(function ? it->line : it->limit->line, 1u));
        fm_json_end(json);
        fm_json_end(json);
    }
    if (it->path != NULL) {
        fm_json_array(json, "logicalLocations");
        fm_json_object(json, NULL);
        fm_json_text(json, "fullyQualifiedName", it->path);
        fm_json_text(json, "kind", "function");
        fm_json_end(json);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_end(json);
}

static void append_result(struct fm_json *json, const struct fm_judgement *it)
{
    bool open = it->verdict == FM_VERDICT_NOT_TOLD;
    g_autofree char *text = report(it);
    g_autofree char *message = g_strdup_printf("%s: %s", it->limit->text, text);
    g_autofree char *named = g_strdup_printf("%s\n%s", it->limit->text, it->path ? it->path : "");
    g_autofree char *print = g_compute_checksum_for_string(G_CHECKSUM_SHA256, named, -1);
    fm_json_object(json, NULL);
    fm_json_text(json, "ruleId", rules[rule_of(it)][0]);
    fm_json_uint(json, "ruleIndex", rule_of(it));
    if (open)
        fm_json_text(json, "kind", "open");
    /* In SARIF an open result must have level "none". */
    fm_json_text(json, "level", open ? "none" : "error");
    append_text_object(json, "message", message);
    append_location(json, it);
    fm_json_object(json, "partialFingerprints");
    fm_json_text(json, "fathomLimit/v1", print);
    fm_json_end(json);
    if (it->verdict != FM_VERDICT_ERROR) {
        fm_json_object(json, "properties");
        if (it->has_before)
            fm_json_double(json, "before", it->value[FM_BEFORE]);
        fm_json_double(json, "after", it->value[FM_AFTER]);
        if (it->at_most[FM_BEFORE] || it->at_most[FM_AFTER])
            fm_json_bool(json, "at_most", true);
        fm_json_double(json, "bound", it->allowed);
        fm_json_end(json);
    }
    fm_json_end(json);
}

void fm_gate_write_sarif(const struct fm_gate *gate, GString *out)
{
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    fm_json_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    fm_json_text(&json, "version", "2.1.0");
    fm_json_array(&json, "runs");
    fm_json_object(&json, NULL);
    fm_json_object(&json, "tool");
    fm_json_object(&json, "driver");
    fm_json_text(&json, "name", "fathom");
    fm_json_array(&json, "rules");
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
        fm_json_object(&json, NULL);
        fm_json_text(&json, "id", rules[i][0]);
        append_text_object(&json, "shortDescription", rules[i][1]);
        fm_json_end(&json);
    }
    fm_json_end(&json);
    fm_json_end(&json);
    fm_json_end(&json);
    fm_json_text(&json, "columnKind", "unicodeCodePoints");
    fm_json_array(&json, "results");
    for (guint i = 0; i < gate->judgements->len; i++) {
        if (judgement(gate, i)->verdict != FM_VERDICT_KEPT)
            append_result(&json, judgement(gate, i));
    }
    fm_json_end(&json);
    fm_json_end(&json);
    fm_json_end(&json);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

/* --- Markdown --- */

/* Escapes text for a table cell, so that names are never markup. */
static void append_cell(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_string_append(out, " ");
    for (const char *at = valid; *at != '\0'; at++) {
        if (strchr("|`<>*_[]\\&#", *at) != NULL)
            g_string_append_printf(out, "&#%d;", *at);
        else if ((unsigned char)*at < ' ')
            g_string_append_c(out, ' ');
        else
            g_string_append_c(out, *at);
    }
    g_string_append(out, " |");
}

static void append_row(GString *out, const struct fm_judgement *it)
{
    g_autofree char *before = it->has_before ? value_text(it, FM_BEFORE) : g_strdup("");
    g_autofree char *after = value_text(it, FM_AFTER);
    g_autofree char *change = fm_judgement_change(it);
    bool error = it->verdict == FM_VERDICT_ERROR;
    g_string_append_c(out, '|');
    append_cell(out, it->limit->text);
    append_cell(out, error ? "" : before);
    append_cell(out, error ? "" : after);
    append_cell(out, change);
    append_cell(out, fm_verdict_word(it->verdict));
    g_string_append_c(out, '\n');
}

static void append_details(GString *out, const struct fm_judgement *it)
{
    g_autofree char *text = report(it);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_string_append(out, "- ");
    append_cell(out, it->limit->text);
    g_string_truncate(out, out->len - 2);
    g_string_append(out, ":");
    for (unsigned i = 0; lines[i] != NULL; i++) {
        append_cell(out, lines[i]);
        g_string_truncate(out, out->len - 2);
        if (lines[i + 1] != NULL)
            g_string_append(out, ";");
    }
    g_string_append(out, "\n");
}

/* Worst first. */
void fm_gate_write_markdown(const struct fm_gate *gate, GString *out)
{
    static const enum fm_verdict order[] = {FM_VERDICT_ERROR, FM_VERDICT_BROKEN,
                                            FM_VERDICT_NOT_TOLD, FM_VERDICT_KEPT};
    g_autofree char *summary = fm_gate_summary(gate);
    g_autoptr(GString) rows = g_string_new(NULL), details = g_string_new(NULL);
    guint left = 0;
    for (size_t v = 0; v < G_N_ELEMENTS(order); v++) {
        for (guint i = 0; i < gate->judgements->len; i++) {
            const struct fm_judgement *it = judgement(gate, i);
            gsize row = rows->len, detail = details->len;
            if (it->verdict != order[v])
                continue;
            append_row(rows, it);
            if (it->verdict != FM_VERDICT_KEPT)
                append_details(details, it);
            if (rows->len + details->len <= MARKDOWN_BYTES_MAX - 1000)
                continue;
            g_string_truncate(rows, row);
            g_string_truncate(details, detail);
            left++;
        }
    }
    g_string_append_printf(out,
                           "**fathom: %s**\n\n| limit | before | after | change | verdict |\n"
                           "|---|---:|---:|---:|---|\n%s",
                           summary, rows->str);
    if (left > 0)
        g_string_append_printf(out, "\n%u more are left out here.\n", left);
    if (details->len > 0)
        g_string_append_printf(out, "\n<details><summary>Why</summary>\n\n%s\n</details>\n",
                               details->str);
}
