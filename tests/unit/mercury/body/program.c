/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/build.h"
#include "maker.h"

#define NO_CALLEE UINT32_MAX
#define LIBRARY (UINT32_MAX - 1)

/* What the text says of a goal beside the body. */
struct said {
    int64_t arm, after; /* -1: no point */
    bool has_site;
    enum fm_site_kind kind;
    uint32_t callee; /* of the program's procedures, LIBRARY or NO_CALLEE */
    int64_t calls, exits, exceptions, total;
};

struct parsing {
    char **word;
    struct maker *maker;
    GArray *said; /* by goal */
    const struct program_proc *procs;
    uint32_t proc_count;
};

/* --- text to bodies --- */

static const char *take(struct parsing *p)
{
    if (*p->word == NULL)
        g_error("the text of a body ends too early");
    return *p->word++;
}

static bool next_is(struct parsing *p, const char *word)
{
    return *p->word != NULL && strcmp(*p->word, word) == 0;
}

static enum fm_detism detism_of(const char *name)
{
    for (unsigned code = 0; code < 16; code++) {
        if (fm_detism_is_valid(code) && strcmp(fm_detism_name((enum fm_detism)code), name) == 0)
            return (enum fm_detism)code;
    }
    g_error("'%s' is no determinism", name);
}

static char *list_of(const char *text)
{
    char *list = g_strdup(strcmp(text, "-") == 0 ? "" : text);
    return g_strdelimit(list, ",", ' ');
}

static void parse_callee(struct parsing *p, struct said *said)
{
    const char *name = take(p);
    said->has_site = strcmp(name, "none") != 0;
    said->callee = *name == '$' ? LIBRARY : NO_CALLEE;
    said->total = *name == '$' ? atoll(name + 1) : 0;
    for (uint32_t i = 0; i < p->proc_count; i++) {
        const char *dot = strchr(p->procs[i].name, '.');
        if (strcmp(dot == NULL ? p->procs[i].name : dot + 1, name) == 0)
            said->callee = i;
    }
    g_assert_true(said->callee != NO_CALLEE || !said->has_site);
}

static void parse_counts(const char *text, struct said *said)
{
    char *slash;
    said->calls = g_ascii_strtoll(text, &slash, 10);
    g_assert_cmpint(*slash, ==, '/');
    said->exits = atoll(slash + 1);
    if (strchr(slash, '!') != NULL)
        said->exceptions = said->calls - said->exits;
}

static const char *callee_name(const struct parsing *p, const struct said *said)
{
    return said->callee < p->proc_count ? p->procs[said->callee].name : "leaf";
}

static void parse_call(struct parsing *p, const char *kind, enum fm_detism detism,
                       struct said *said)
{
    bool closure = strcmp(kind, "ho") == 0 || strcmp(kind, "method") == 0;
    uint32_t var = closure ? (uint32_t)atoi(take(p)) : FM_NO_VAR;
    if (!closure)
        parse_callee(p, said);
    g_autofree char *args = list_of(take(p)), *bound = list_of(take(p));
    if (closure)
        parse_callee(p, said);
    parse_counts(take(p), said);
    said->kind = strcmp(kind, "ho") == 0         ? FM_SITE_HIGHER_ORDER
                 : strcmp(kind, "method") == 0   ? FM_SITE_METHOD
                 : strcmp(kind, "special") == 0  ? FM_SITE_SPECIAL
                 : strcmp(kind, "callback") == 0 ? FM_SITE_CALLBACK
                                                 : FM_SITE_NORMAL;
    if (closure)
        maker_atomic(p->maker, said->kind == FM_SITE_METHOD ? FM_GOAL_METHOD : FM_GOAL_HIGHER_ORDER,
                     detism, var, "", args, bound);
    else if (said->kind == FM_SITE_CALLBACK)
        maker_atomic(p->maker, FM_GOAL_FOREIGN, detism, FM_NO_VAR, "", args, bound);
    else
        maker_call(p->maker, detism, "m", callee_name(p, said), args, bound);
}

static bool parse_atomic(struct parsing *p, const char *kind, enum fm_detism detism)
{
    static const struct {
        const char *name;
        enum fm_goal_kind kind;
        bool var, two;
    } kinds[] = {{"make", FM_GOAL_CONSTRUCT, true, false},
                 {"take", FM_GOAL_DECONSTRUCT, true, false},
                 {"partial", FM_GOAL_PARTIAL_CONSTRUCT, true, false},
                 {"test", FM_GOAL_SIMPLE_TEST, true, true},
                 {"assign", FM_GOAL_ASSIGN, true, true},
                 {"cast", FM_GOAL_CAST, true, true},
                 {"foreign", FM_GOAL_FOREIGN, false, false},
                 {"builtin", FM_GOAL_BUILTIN_CALL, false, false},
                 {"event", FM_GOAL_EVENT, false, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].name, kind) != 0)
            continue;
        const char *var = kinds[i].var ? take(p) : NULL;
        g_autofree char *args = list_of(take(p));
        const char *own = kinds[i].kind == FM_GOAL_SIMPLE_TEST ? "-" : var;
        g_autofree char *bound = list_of(kinds[i].two ? own : take(p));
        maker_atomic(p->maker, kinds[i].kind, detism, var == NULL ? FM_NO_VAR : (uint32_t)atoi(var),
                     kind, args, bound);
        return true;
    }
    return false;
}

static void parse_goal(struct parsing *p)
{
    struct said said = {.arm = -1, .after = -1, .callee = NO_CALLEE};
    guint at = p->said->len;
    g_array_append_val(p->said, said);
    if (next_is(p, "arm"))
        said.arm = (take(p), atoll(take(p)));
    const char *kind = take(p);
    enum fm_detism detism = detism_of(take(p));
    static const char *const calls[] = {"call", "special", "callback", "ho", "method", NULL};
    static const char *const compound[] = {"conj", "disj", "ite", "not", NULL};
    static const enum fm_goal_kind kinds[] = {FM_GOAL_CONJ, FM_GOAL_DISJ, FM_GOAL_ITE,
                                              FM_GOAL_NEGATION};
    if (g_strv_contains(calls, kind)) {
        parse_call(p, kind, detism, &said);
    } else if (!parse_atomic(p, kind, detism)) {
        if (strncmp(kind, "switch", 6) == 0)
            maker_switch(p->maker, (uint32_t)atoi(take(p)), kind[6] == '?', detism);
        else if (strcmp(kind, "scope") == 0 || strcmp(kind, "cut") == 0)
            maker_scope(p->maker, *kind == 'c', detism);
        for (int i = 0; compound[i] != NULL; i++) {
            if (strcmp(kind, compound[i]) == 0)
                maker_open(p->maker, kinds[i], detism);
        }
        g_assert_cmpstr(take(p), ==, "{");
        while (!next_is(p, "}")) {
            if (strncmp(kind, "switch", 6) == 0)
                maker_case(p->maker, "f/0");
            parse_goal(p);
        }
        take(p);
        maker_close(p->maker);
    }
    if (next_is(p, "after"))
        said.after = (take(p), atoll(take(p)));
    g_array_index(p->said, struct said, at) = said;
}

static void parse_heads(struct maker *maker, const char *text)
{
    g_auto(GStrv) words = g_strsplit_set(text, " ", -1);
    for (char **word = words; *word != NULL; word++) {
        const char *colon = strchr(*word, ':');
        enum fm_inst inst[2];
        if (colon == NULL)
            continue;
        for (int i = 0; i < 2; i++)
            inst[i] = colon[1 + i] == 'f'   ? FM_INST_FREE
                      : colon[1 + i] == 'g' ? FM_INST_GROUND
                                            : FM_INST_OTHER;
        maker_head(maker, (uint32_t)atoi(*word), inst[0], inst[1]);
    }
}

static struct fm_body *parse_body(const struct program_proc *procs, uint32_t count, uint32_t proc,
                                  GArray **ret_said)
{
    g_autoptr(GString) text = g_string_new(procs[proc].body);
    g_string_replace(text, "{", " { ", 0);
    g_string_replace(text, "}", " } ", 0);
    g_auto(GStrv) all = g_strsplit_set(text->str, " \n", -1);
    g_autofree char **words = g_new0(char *, g_strv_length(all) + 1);
    guint kept = 0;
    for (guint i = 0; all[i] != NULL; i++) {
        if (all[i][0] != '\0')
            words[kept++] = all[i];
    }
    struct parsing p = {words, maker_new(), g_array_new(FALSE, FALSE, sizeof(struct said)), procs,
                        count};
    parse_heads(p.maker, procs[proc].heads);
    parse_goal(&p);
    g_assert_true(*p.word == NULL);
    *ret_said = p.said;
    return maker_done(p.maker, detism_of(procs[proc].detism));
}

/* --- bodies to a profile --- */

struct making {
    struct program *program;
    struct fm_build *build;
    enum fm_coverage_kind coverage;
    struct fm_body *bodies[PROGRAM_PROCS_MAX];
    GArray *said[PROGRAM_PROCS_MAX];
    uint32_t leaf_ps, work_ps;
};

static void proc_place(const struct program_proc *proc, struct fm_ps *ret)
{
    const char *dot = strchr(proc->name, '.');
    g_autofree char *before =
        dot == NULL ? g_strdup("m") : g_strndup(proc->name, (gsize)(dot - proc->name));
    const char *module = g_intern_string(before);
    *ret = (struct fm_ps){.label_kind = FM_LABEL_PREDICATE,
                          .decl_module = module,
                          .def_module = module,
                          .name = dot == NULL ? proc->name : dot + 1,
                          .file = "m.m",
                          .line = 1};
}

static char *path_of(const struct fm_body *body, uint32_t goal)
{
    g_autoptr(GString) path = g_string_new(NULL);
    fm_body_append_path(path, body, goal);
    g_string_replace(path, "-na;", "-7;", 0);
    return g_string_free(g_steal_pointer(&path), FALSE);
}

static void add_point(struct making *m, uint32_t proc, uint32_t goal,
                      enum fm_coverage_point_type type, int64_t count)
{
    if (count < 0)
        return;
    g_autofree char *path = path_of(m->bodies[proc], goal);
    fm_build_point(m->build, m->program->ps[proc],
                   &(struct fm_coverage_point){
                       path, type, m->coverage == FM_COVERAGE_STATIC ? (uint64_t)count : 0});
}

static void add_statics(struct making *m, uint32_t proc)
{
    for (uint32_t goal = 0; goal < m->said[proc]->len; goal++) {
        const struct said *said = &g_array_index(m->said[proc], struct said, goal);
        if (m->coverage != FM_COVERAGE_NONE) {
            add_point(m, proc, goal, FM_POINT_AFTER, said->after);
            add_point(m, proc, goal, FM_POINT_BRANCH_ARM, said->arm);
        }
        if (!said->has_site)
            continue;
        g_autofree char *path = path_of(m->bodies[proc], goal);
        struct fm_css css = {.kind = said->kind, .line = goal + 1, .goal_path = path};
        if (css.kind == FM_SITE_NORMAL)
            css.callee_ps = said->callee == LIBRARY ? m->leaf_ps : m->program->ps[said->callee];
        fm_build_css(m->build, m->program->ps[proc], &css);
    }
}

static uint32_t add_edge(struct making *m, uint32_t pd, uint32_t slot, uint32_t callee,
                         const struct said *said)
{
    uint32_t csd = fm_build_csd(m->build, pd, slot, callee);
    fm_build_add(m->build, csd, FM_CALLSEQS, (uint64_t)said->calls);
    fm_build_add(m->build, csd, FM_EXITS, (uint64_t)said->exits);
    fm_build_add(m->build, csd, FM_EXCPS, (uint64_t)said->exceptions);
    int64_t missing = said->calls - said->exits - said->exceptions;
    fm_build_add(m->build, csd, missing > 0 ? FM_FAILS : FM_REDOS, (uint64_t)ABS(missing));
    return csd;
}

static void add_library(struct making *m, uint32_t pd, uint32_t slot, const struct said *said)
{
    uint32_t leaf = fm_build_pd(m->build, m->leaf_ps), work = fm_build_pd(m->build, m->work_ps);
    add_edge(m, pd, slot, leaf, said);
    uint32_t csd = fm_build_csd(m->build, leaf, 0, work);
    fm_build_add(m->build, csd, FM_EXITS, 1);
    fm_build_add(m->build, csd, FM_CALLSEQS, (uint64_t)(said->total - said->calls));
}

static void add_context(struct making *m, uint32_t proc)
{
    uint32_t pd = m->program->pd[proc] = fm_build_pd(m->build, m->program->ps[proc]);
    uint32_t slot = 0, point = 0;
    for (uint32_t goal = 0; goal < m->said[proc]->len; goal++) {
        const struct said *said = &g_array_index(m->said[proc], struct said, goal);
        const int64_t counts[] = {said->after, said->arm};
        for (int i = 0; i < 2 && m->coverage == FM_COVERAGE_DYNAMIC; i++) {
            if (counts[i] >= 0)
                fm_build_pd_point(m->build, pd, point++, (uint64_t)counts[i]);
        }
        if (!said->has_site)
            continue;
        if (said->calls > 0 && said->callee == LIBRARY) {
            add_library(m, pd, slot, said);
        } else if (said->calls > 0) {
            bool is_new = m->program->pd[said->callee] == 0;
            if (is_new)
                add_context(m, said->callee);
            uint32_t csd = add_edge(m, pd, slot, m->program->pd[said->callee], said);
            if (is_new)
                m->program->edge[said->callee] = csd;
        }
        slot++;
    }
}

static void make_profile(struct making *m, const struct program_proc *procs, const char *counts)
{
    struct program *program = m->program;
    struct fm_ps runtime = {.label_kind = FM_LABEL_PREDICATE,
                            .decl_module = "Mercury runtime",
                            .def_module = "Mercury runtime",
                            .name = "Mercury runtime",
                            .file = "Mercury runtime"};
    struct fm_ps leaf, work;
    struct said entry = {.callee = 0};
    proc_place(&(struct program_proc){.name = "leaf"}, &leaf);
    proc_place(&(struct program_proc){.name = "work"}, &work);
    fm_build_header(m->build)->coverage = m->coverage;
    uint32_t root_ps = fm_build_ps(m->build, &runtime);
    fm_build_css(m->build, root_ps, &(struct fm_css){.kind = FM_SITE_CALLBACK, .goal_path = ""});
    m->leaf_ps = fm_build_ps(m->build, &leaf);
    m->work_ps = fm_build_ps(m->build, &work);
    fm_build_css(m->build, m->leaf_ps,
                 &(struct fm_css){
                     .kind = FM_SITE_NORMAL, .callee_ps = m->work_ps, .line = 1, .goal_path = ""});
    for (uint32_t i = 0; i < program->count; i++) {
        struct fm_ps ps;
        proc_place(&procs[i], &ps);
        ps.line = 10 * (i + 1);
        program->ps[i] = fm_build_ps(m->build, &ps);
    }
    for (uint32_t i = 0; i < program->count; i++)
        add_statics(m, i);
    uint32_t root = fm_build_pd(m->build, root_ps);
    parse_counts(counts, &entry);
    add_context(m, 0);
    program->edge[0] = add_edge(m, root, 0, program->pd[0], &entry);
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(m->build, &program->profile, &error) ||
        !fm_analysis_new(program->profile, NULL, &program->analysis, &error))
        g_error("%s", error->message);
}

struct program *program_new(const struct program_proc *procs, uint32_t count, const char *counts,
                            enum fm_coverage_kind coverage)
{
    struct program *program = g_new0(struct program, 1);
    struct making m = {.program = program,
                       .build = fm_build_new(FM_FLAVOUR_MERCURY, "./program"),
                       .coverage = coverage};
    struct fm_proc_label labels[PROGRAM_PROCS_MAX];
    g_assert_cmpuint(count, <=, PROGRAM_PROCS_MAX);
    program->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct fm_ps ps;
        m.bodies[i] = parse_body(procs, count, i, &m.said[i]);
        proc_place(&procs[i], &ps);
        labels[i] = (struct fm_proc_label){
            FM_LABEL_PREDICATE, ps.decl_module, ps.def_module, ps.name, "", 0, 0};
    }
    make_profile(&m, procs, counts);
    struct fm_writer *memory = fm_writer_new_memory();
    struct fm_procrep_writer *writer = fm_procrep_writer_new(6, memory);
    struct fm_procrep_module modules[PROGRAM_PROCS_MAX] = {0};
    for (uint32_t i = 0; i < count; i++) {
        modules[i].name = labels[i].def_module;
        if (i == 0 || strcmp(labels[i].def_module, labels[i - 1].def_module) != 0)
            fm_procrep_writer_module(writer, &modules[i], NULL, 0);
        fm_procrep_writer_proc(writer, &labels[i], m.bodies[i]);
    }
    fm_procrep_writer_finish(writer);
    program->bytes = fm_writer_finish_memory(memory);
    g_autoptr(GError) error = NULL;
    if (!fm_procrep_read_bytes("made", g_bytes_get_data(program->bytes, NULL),
                               g_bytes_get_size(program->bytes), &program->procrep, &error))
        g_error("%s", error->message);
    program->bodies = fm_bodies_new(program->analysis, program->procrep, NULL);
    for (uint32_t i = 0; i < count; i++) {
        g_array_unref(m.said[i]);
        fm_body_free(m.bodies[i]);
    }
    return program;
}

void program_free(struct program *program)
{
    fm_bodies_free(program->bodies);
    fm_procrep_free(program->procrep);
    g_bytes_unref(program->bytes);
    fm_analysis_free(program->analysis);
    fm_profile_free(program->profile);
    g_free(program);
}

uint32_t program_clique(const struct program *program, uint32_t proc)
{
    return program->analysis->pd_clique[program->pd[proc]];
}

uint32_t program_goal(const struct program *program, uint32_t proc, const char *path)
{
    g_autoptr(FmBody) body = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_bodies_body(program->bodies, program->ps[proc], &body, &error))
        g_error("%s", error->message);
    uint32_t goal = fm_body_find(body, path);
    if (goal == FM_NO_GOAL)
        g_error("no goal '%s'", path);
    return goal;
}
