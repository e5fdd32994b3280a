/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of a C function with what its calls cost, line by line. Only files that look
 * like C source are opened: a recording could name any file. */
#include "pages/profile/bodies/source.h"

#include "digest/source_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

#define FILE_BYTES_MAX (32L * 1024 * 1024)
#define LINES_MAX 3000

/* --- reading the file --- */

static bool looks_like_source(const char *path)
{
    static const char *const endings[] = {".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx",
                                          ".hxx", ".c++", ".h++", ".C",   ".H",   ".inc", ".inl",
                                          ".ipp", ".tcc", ".tpp", ".def", ".y",   ".l",   ".m"};
    for (unsigned i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(path, endings[i]))
            return true;
    return false;
}

/* A link whose name looks like source may lead to anything. */
static bool is_source(int fd)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autofree char *real = g_file_read_link(link, NULL);
    return real != NULL && looks_like_source(real);
}

/* The whole of a regular file, NUL-terminated; NULL with the reason otherwise. */
static char *read_all(const char *path, struct stat *ret_stat, const char **ret_reason)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *ret_reason = g_strerror(errno);
        return NULL;
    }
    char *text = NULL;
    if (fstat(fd, ret_stat) < 0) {
        *ret_reason = g_strerror(errno);
    } else if (!S_ISREG(ret_stat->st_mode)) {
        *ret_reason = "not a regular file";
    } else if (!is_source(fd)) {
        *ret_reason = "it is a link to something that does not look like C source";
    } else if (ret_stat->st_size > FILE_BYTES_MAX) {
        *ret_reason = "the file is too large";
    } else {
        size_t size = (size_t)ret_stat->st_size, have = 0;
        text = g_malloc(size + 1);
        while (have < size) {
            ssize_t got = read(fd, text + have, size - have);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                break; /* it shrank */
            have += (size_t)got;
        }
        text[have] = '\0';
    }
    close(fd);
    return text;
}

/* Relative names are tried beside the recording, then in the current folder. */
static char *read_source(const struct fm_page *page, const char *file, char **ret_note)
{
    const char *reason = "it does not look like C source";
    struct stat status, recording;
    char *text = NULL;
    if (looks_like_source(file)) {
        g_autofree char *folder = g_path_get_dirname(page->recording->path);
        g_autofree char *beside = g_build_filename(folder, file, NULL);
        text = read_all(g_path_is_absolute(file) ? file : beside, &status, &reason);
        if (!text && !g_path_is_absolute(file))
            text = read_all(file, &status, &reason);
    }
    if (!text)
        *ret_note = g_strdup_printf("The source file %s cannot be shown: %s.", file, reason);
    else if (stat(page->recording->path, &recording) == 0 && status.st_mtime > recording.st_mtime)
        *ret_note = g_strdup_printf("%s was changed after the recording was made: lines may not "
                                    "match.",
                                    file);
    return text;
}

/* --- where the function ends --- */

static const char *skip_quoted(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

static const char *skip_comment(const char *p)
{
    const char *end = p[1] == '*' ? strstr(p + 2, "*/") : strchr(p, '\n');
    if (!end)
        return p + strlen(p);
    return p[1] == '*' ? end + 2 : end;
}

/* Just behind the brace that closes the body which begins at or after text; NULL if none does. */
static const char *find_end(const char *text)
{
    unsigned depth = 0;
    for (const char *p = text; *p;) {
        if (*p == '"' || *p == '\'') {
            p = skip_quoted(p);
        } else if (*p == '/' && (p[1] == '*' || p[1] == '/')) {
            p = skip_comment(p);
        } else {
            if (*p == ';' && depth == 0)
                return NULL; /* a declaration: the line was not where the body is */
            depth += *p == '{';
            if (*p == '}' && depth > 0 && --depth == 0)
                return p + 1;
            p++;
        }
    }
    return NULL;
}

static const char *skip_lines(const char *text, uint32_t lines)
{
    for (; lines > 0; lines--) {
        const char *end = strchr(text, '\n');
        if (!end)
            return NULL;
        text = end + 1;
    }
    return *text ? text : NULL;
}

static uint32_t count_lines(const char *from, const char *to)
{
    uint32_t lines = 1;
    for (; (from = memchr(from, '\n', (size_t)(to - from))); from++)
        lines++;
    return lines;
}

/* --- costs by line --- */

struct line_cost {
    bool any;
    struct fm_cost cost;
    bool runs_known;
    uint64_t runs;
};

/* What the lines tell about: a procedure in all its contexts (pd 0) or in one. */
struct subject {
    uint32_t ps, pd;
};

struct span {
    uint32_t first, count; /* lines */
};

static struct fm_source_line line_of(const struct fm_page *page, uint32_t number, const char *text,
                                     const struct line_cost *cost)
{
    struct fm_source_line line = {.line = number,
                                  .text = text,
                                  .calls = -1,
                                  .self_percent = -1,
                                  .total_percent = -1,
                                  .runs_known = cost->runs_known,
                                  .runs = cost->runs};
    if (!cost->any)
        return line;
    enum fm_measure_id measure = fm_times_tell(page->profile) ? FM_QUANTA : FM_CALLSEQS;
    double all = (double)fm_cost_total(&page->analysis->root_total, measure);
    line.calls = cost->cost.inlined ? -1 : MAX(cost->cost.calls, 0);
    if (all > 0) {
        line.self_percent = MAX(100 * (double)cost->cost.own[measure] / all, 0);
        line.total_percent = MAX(100 * (double)fm_cost_total(&cost->cost, measure) / all, 0);
    }
    return line;
}

/* The site's cost, in one context or in all; false when nothing is known of it. */
static bool site_cost(const struct fm_page *page, const struct subject *of, uint32_t slot,
                      uint32_t css, struct fm_cost *ret)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_analysis *a = page->analysis;
    uint32_t count = a->css_csd_first[css + 1] - a->css_csd_first[css];
    const uint32_t *csds = NULL;
    *ret = (struct fm_cost){0};
    if (of->pd != 0)
        csds = fm_profile_slot(profile, of->pd, slot, &count);
    /* What a library does is not recorded unless it calls back. */
    if ((profile->css[css].kind == FM_SITE_CALLBACK || profile->css[css].inlined) && count == 0)
        return false;
    if (of->pd == 0)
        fm_analysis_css_cost(a, css, ret);
    for (uint32_t i = 0; csds != NULL && i < count; i++) {
        struct fm_cost cost;
        fm_analysis_csd_cost(a, csds[i], &cost);
        fm_cost_add(ret, &cost);
    }
    return true;
}

/* How often the code on each line of the span ran. */
static void add_runs(const struct fm_page *page, const struct subject *of, struct span span,
                     struct line_cost *costs)
{
    const struct fm_source_map *map = page->recording->source_map;
    if (map == NULL || page->profile->ps[of->ps].point_count == 0)
        return;
    g_autofree uint64_t *counts = fm_analysis_point_counts(page->analysis, of->ps, of->pd);
    for (uint32_t i = map->line_first[of->ps]; i < map->line_first[of->ps + 1]; i++) {
        uint32_t line = map->lines[i].line;
        uint64_t runs = fm_source_map_count(map, &map->lines[i], counts);
        if (runs == UINT64_MAX || line < span.first || line - span.first >= span.count)
            continue;
        costs[line - span.first].runs_known = true;
        costs[line - span.first].runs = runs;
    }
}

/* Sums of the call sites on each line of the span. */
static struct line_cost *line_costs(const struct fm_page *page, const struct subject *of,
                                    struct span span)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_ps *proc = &profile->ps[of->ps];
    struct line_cost *costs = g_new0(struct line_cost, span.count);
    add_runs(page, of, span, costs);
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t css = profile->css_of_ps[proc->css_first + slot];
        uint32_t line = profile->css[css].line;
        struct fm_cost cost;
        if (!site_cost(page, of, slot, css, &cost) || line < span.first ||
            line - span.first >= span.count || strcmp(fm_css_file(profile, css), proc->file) != 0)
            continue;
        fm_cost_add(&costs[line - span.first].cost, &cost);
        costs[line - span.first].any = true;
    }
    return costs;
}

static uint32_t last_site_line(const struct fm_profile *profile, uint32_t ps)
{
    const struct fm_ps *proc = &profile->ps[ps];
    uint32_t last = proc->line;
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t css = profile->css_of_ps[proc->css_first + slot];
        if (strcmp(fm_css_file(profile, css), proc->file) == 0)
            last = MAX(last, profile->css[css].line);
    }
    return last;
}

/* With text: all lines of the body. Without: the lines that hold call sites. */
static void add_lines(struct fm_page *page, const struct subject *of, struct span span, char *body)
{
    g_autofree struct line_cost *costs = line_costs(page, of, span);
    g_autofree struct fm_source_line *lines = g_new(struct fm_source_line, span.count);
    uint32_t count = 0;
    char *at = body;
    for (uint32_t i = 0; i < span.count && (!body || at); i++) {
        if (!body && !costs[i].any && !costs[i].runs_known)
            continue;
        char *end = body ? strchr(at, '\n') : NULL;
        if (end)
            *end = '\0';
        lines[count++] = line_of(page, span.first + i, at, &costs[i]);
        at = end ? end + 1 : NULL;
    }
    if (count > 0)
        fm_add_source(page->body, page->profile->ps[of->ps].file, lines, count);
}

void fm_source_add(struct fm_page *page, uint32_t ps, uint32_t pd)
{
    g_return_if_fail(ps >= 1 && ps <= page->profile->ps_count && pd <= page->profile->pd_count);
    const struct subject of = {ps, pd};
    const struct fm_ps *proc = &page->profile->ps[ps];
    if (!proc->file[0] || proc->line == 0)
        return; /* no debug information, or the system */
    g_autofree char *note = NULL;
    g_autofree char *text = read_source(page, proc->file, &note);
    const char *start = text ? skip_lines(text, proc->line - 1) : NULL;
    if (text && !start)
        note =
            (g_free(note), g_strdup_printf("%s has no line %" PRIu32 ".", proc->file, proc->line));
    struct span span = {proc->line, last_site_line(page->profile, ps) - proc->line + 1};
    if (start) {
        const char *end = find_end(start);
        uint32_t next = fm_source_index_next(page->recording->source_index, ps);
        if (end)
            span.count = MAX(span.count, count_lines(start, end));
        else if (next > 0)
            span.count = MAX(span.count, next - proc->line);
    }
    span.count = MIN(span.count, LINES_MAX);
    fm_add_heading(page->body, "Source");
    if (note)
        fm_add_text(page->body, note);
    fm_display_fact_bool(page->display, "source_shown", start != NULL);
    if (page->recording->source_map_message)
        fm_add_text(page->body, page->recording->source_map_message);
    add_lines(page, &of, span, start ? text + (start - text) : NULL);
}
