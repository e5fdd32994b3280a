/* SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    GArray *names, *heads, *goals, *vars, *functors, *open;
    uint32_t functors_first; /* of the next arm */
    GPtrArray *texts;
};

/* Texts of hand-made bodies live as long as the test. */
static const char *text(const char *from)
{
    return g_intern_string(from == NULL ? "" : from);
}

struct maker *maker_new(void)
{
    struct maker *maker = g_new0(struct maker, 1);
    maker->names = g_array_new(FALSE, FALSE, sizeof(struct fm_var_name));
    maker->heads = g_array_new(FALSE, FALSE, sizeof(struct fm_head_var));
    maker->goals = g_array_new(FALSE, FALSE, sizeof(struct fm_goal));
    maker->vars = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), 1);
    maker->functors = g_array_sized_new(FALSE, FALSE, sizeof(struct fm_functor), 1);
    maker->open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return maker;
}

void maker_name(struct maker *maker, uint32_t var, const char *name)
{
    struct fm_var_name item = {.var = var, .name = text(name)};
    g_array_append_val(maker->names, item);
}

void maker_head(struct maker *maker, uint32_t var, enum fm_inst before, enum fm_inst after)
{
    struct fm_head_var head = {var, before, after};
    g_array_append_val(maker->heads, head);
}

static struct fm_goal *add(struct maker *maker, enum fm_goal_kind kind, enum fm_detism detism)
{
    struct fm_goal goal = {
        .kind = kind,
        .detism = detism,
        .parent = FM_NO_GOAL,
        .number = 1,
        .end = maker->goals->len + 1,
        .var = FM_NO_VAR,
        .var2 = FM_NO_VAR,
        .module = "",
        .name = "",
        .file = "",
    };
    if (maker->open->len > 0) {
        goal.parent = g_array_index(maker->open, uint32_t, maker->open->len - 1);
        goal.number = ++g_array_index(maker->goals, struct fm_goal, goal.parent).child_count;
    }
    goal.functors = maker->functors_first;
    goal.functor_count = maker->functors->len - maker->functors_first;
    maker->functors_first = maker->functors->len;
    g_array_append_val(maker->goals, goal);
    return &g_array_index(maker->goals, struct fm_goal, maker->goals->len - 1);
}

void maker_open(struct maker *maker, enum fm_goal_kind kind, enum fm_detism detism)
{
    uint32_t goal = maker->goals->len;
    add(maker, kind, detism);
    g_array_append_val(maker->open, goal);
}

void maker_switch(struct maker *maker, uint32_t var, bool can_fail, enum fm_detism detism)
{
    maker_open(maker, FM_GOAL_SWITCH, detism);
    struct fm_goal *goal = &g_array_index(maker->goals, struct fm_goal, maker->goals->len - 1);
    goal->var = var;
    goal->can_fail = can_fail;
}

void maker_scope(struct maker *maker, bool cut, enum fm_detism detism)
{
    maker_open(maker, FM_GOAL_SCOPE, detism);
    g_array_index(maker->goals, struct fm_goal, maker->goals->len - 1).cut = cut;
}

void maker_close(struct maker *maker)
{
    uint32_t goal = g_array_index(maker->open, uint32_t, maker->open->len - 1);
    g_array_index(maker->goals, struct fm_goal, goal).end = maker->goals->len;
    g_array_set_size(maker->open, maker->open->len - 1);
}

void maker_case(struct maker *maker, const char *functors)
{
    g_auto(GStrv) words = g_strsplit(functors, " ", -1);
    for (char **word = words; *word != NULL; word++) {
        char *slash = strrchr(*word, '/');
        *slash = '\0';
        struct fm_functor functor = {text(*word), (uint32_t)atoi(slash + 1)};
        g_array_append_val(maker->functors, functor);
    }
}

static void add_vars(struct maker *maker, const char *list, uint32_t *ret_first,
                     uint32_t *ret_count)
{
    g_auto(GStrv) words = g_strsplit(list, " ", -1);
    *ret_first = maker->vars->len;
    for (char **word = words; *word != NULL; word++) {
        uint32_t var = **word == '_' ? FM_NO_VAR : (uint32_t)atoi(*word);
        if (**word != '\0')
            g_array_append_val(maker->vars, var);
    }
    *ret_count = maker->vars->len - *ret_first;
}

struct fm_goal *maker_atomic(struct maker *maker, enum fm_goal_kind kind, enum fm_detism detism,
                             uint32_t var, const char *name, const char *args, const char *bound)
{
    struct fm_goal *goal = add(maker, kind, detism);
    goal->var = var;
    goal->name = text(name);
    add_vars(maker, args, &goal->args, &goal->arg_count);
    add_vars(maker, bound, &goal->bound, &goal->bound_count);
    if (kind == FM_GOAL_ASSIGN || kind == FM_GOAL_CAST || kind == FM_GOAL_SIMPLE_TEST) {
        goal->var2 = g_array_index(maker->vars, uint32_t, goal->args);
        goal->arg_count = 0;
    }
    return goal;
}

void maker_call(struct maker *maker, enum fm_detism detism, const char *module, const char *name,
                const char *args, const char *bound)
{
    maker_atomic(maker, FM_GOAL_PLAIN_CALL, detism, FM_NO_VAR, name, args, bound)->module =
        text(module);
}

static void *steal(GArray *array, uint32_t *ret_count)
{
    if (ret_count != NULL)
        *ret_count = array->len;
    return g_array_free(array, FALSE);
}

struct fm_body *maker_done(struct maker *maker, enum fm_detism detism)
{
    struct fm_body *body = g_new0(struct fm_body, 1);
    g_assert_cmpuint(maker->open->len, ==, 0);
    body->file = "";
    body->detism = detism;
    body->names = steal(maker->names, &body->name_count);
    body->heads = steal(maker->heads, &body->head_count);
    body->goals = steal(maker->goals, &body->goal_count);
    body->vars = steal(maker->vars, &body->var_count);
    body->functors = steal(maker->functors, &body->functor_count);
    g_array_free(maker->open, TRUE);
    g_free(maker);
    return body;
}

struct fm_procrep *maker_procrep(const char *module, const struct fm_proc_label *labels,
                                 struct fm_body *const *bodies, uint32_t count, unsigned version,
                                 GBytes **ret_bytes)
{
    struct fm_procrep_module of = {.name = module};
    struct fm_writer *memory = fm_writer_new_memory();
    struct fm_procrep_writer *writer = fm_procrep_writer_new(version, memory);
    fm_procrep_writer_module(writer, &of, NULL, 0);
    for (uint32_t i = 0; i < count; i++)
        fm_procrep_writer_proc(writer, &labels[i], bodies[i]);
    fm_procrep_writer_finish(writer);
    *ret_bytes = fm_writer_finish_memory(memory);
    struct fm_procrep *procrep;
    g_autoptr(GError) error = NULL;
    if (!fm_procrep_read_bytes("made", g_bytes_get_data(*ret_bytes, NULL),
                               g_bytes_get_size(*ret_bytes), &procrep, &error))
        g_error("%s", error->message);
    return procrep;
}

const struct fm_proc_label maker_shop_label = {
    FM_LABEL_PREDICATE, "shop", "shop", "pick", "", 5, 0};

struct fm_body *maker_shop(void)
{
    enum { ITEMS = 1, KEY, LOG, FOUND, OUT, HEAD, V7, TAIL, V9, V10, V11, V12, V13, V14, CODE };
    static const struct {
        uint32_t var;
        const char *name;
    } names[] = {{CODE, "Code"},   {TAIL, "Tail"}, {HEAD, "Head"}, {OUT, "Out"},
                 {FOUND, "Found"}, {LOG, "Log"},   {KEY, "Key"},   {ITEMS, "Items"}};
    struct maker *m = maker_new();
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        maker_name(m, names[i].var, names[i].name);
    maker_head(m, ITEMS, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, KEY, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, LOG, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, V13, FM_INST_GROUND, FM_INST_GROUND);
    maker_head(m, FOUND, FM_INST_FREE, FM_INST_OTHER);
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_SEMIDET);
    maker_atomic(m, FM_GOAL_EVENT, FM_DETISM_DET, FM_NO_VAR, "checkpoint", "2", "");
    maker_open(m, FM_GOAL_ITE, FM_DETISM_DET);
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_SEMIDET);
    maker_atomic(m, FM_GOAL_DECONSTRUCT, FM_DETISM_SEMIDET, ITEMS, "[|]", "6 8", "6 8");
    maker_call(m, FM_DETISM_SEMIDET, "shop", "matches", "6 2", "");
    maker_close(m);
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET);
    maker_atomic(m, FM_GOAL_CONSTRUCT, FM_DETISM_DET, V7, "\"hit\"", "", "7");
    maker_atomic(m, FM_GOAL_HIGHER_ORDER, FM_DETISM_DET, LOG, "", "7", "");
    maker_atomic(m, FM_GOAL_ASSIGN, FM_DETISM_DET, OUT, "", "6", "5");
    maker_close(m);
    maker_switch(m, KEY, false, FM_DETISM_DET);
    maker_case(m, "red/0 green/0");
    maker_atomic(m, FM_GOAL_CONSTRUCT, FM_DETISM_DET, OUT, "none", "", "5");
    maker_case(m, "other/1");
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET);
    maker_atomic(m, FM_GOAL_DECONSTRUCT, FM_DETISM_DET, KEY, "other", "15", "15");
    maker_atomic(m, FM_GOAL_BUILTIN_CALL, FM_DETISM_DET, FM_NO_VAR, "+", "15 15 10", "10")->module =
        "int";
    maker_atomic(m, FM_GOAL_CAST, FM_DETISM_DET, OUT, "", "10", "5");
    maker_close(m);
    maker_close(m);
    maker_close(m);
    maker_open(m, FM_GOAL_NEGATION, FM_DETISM_SEMIDET);
    maker_atomic(m, FM_GOAL_SIMPLE_TEST, FM_DETISM_SEMIDET, V11, "", "5", "");
    maker_close(m);
    maker_scope(m, true, FM_DETISM_DET);
    maker_open(m, FM_GOAL_DISJ, FM_DETISM_MULTI);
    maker_call(m, FM_DETISM_NONDET, "shop", "alt", "5 12", "12");
    maker_atomic(m, FM_GOAL_FOREIGN, FM_DETISM_DET, FM_NO_VAR, "", "5 12", "12");
    maker_close(m);
    maker_close(m);
    maker_atomic(m, FM_GOAL_METHOD, FM_DETISM_DET, V13, "", "12 14", "14")->method = 2;
    maker_atomic(m, FM_GOAL_PARTIAL_CONSTRUCT, FM_DETISM_DET, FOUND, "pair", "14 _", "4");
    maker_close(m);
    return maker_done(m, FM_DETISM_SEMIDET);
}
