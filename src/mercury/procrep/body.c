/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes one body. Goals may nest to any depth, so open goals are kept on an explicit stack, each
 * with the number of children still to come. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mercury/procrep/internal.h"

#define GOAL_BYTES_MIN 2 /* kind, determinism */

struct decoding {
    struct fm_reader in;
    const struct fm_procrep_module *module;
    struct fm_body *body;
    unsigned var_bytes;
    GArray *goals, *vars, *functors;
    GArray *open; /* struct open_goal */
};

struct open_goal {
    uint32_t goal, children_left;
};

const char *fm_detism_name(enum fm_detism detism)
{
    switch (detism) {
    case FM_DETISM_FAILURE:
        return "failure";
    case FM_DETISM_SEMIDET:
        return "semidet";
    case FM_DETISM_NONDET:
        return "nondet";
    case FM_DETISM_ERRONEOUS:
        return "erroneous";
    case FM_DETISM_DET:
        return "det";
    case FM_DETISM_MULTI:
        return "multi";
    case FM_DETISM_CC_NONDET:
        return "cc_nondet";
    case FM_DETISM_CC_MULTI:
        return "cc_multi";
    }
    return "?";
}

bool fm_detism_is_valid(unsigned code)
{
    return code < 16 && ((1u << code) & (1u << 0 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 6 | 1u << 7 |
                                         1u << 10 | 1u << 14)) != 0;
}

static struct fm_goal *goal_at(const struct decoding *d, uint32_t goal)
{
    return &g_array_index(d->goals, struct fm_goal, goal);
}

/* --- pieces --- */

static bool read_detism(struct decoding *d, enum fm_detism *ret, GError **error)
{
    const uint8_t *begin = d->in.at;
    uint8_t code;
    if (!fm_reader_byte(&d->in, "determinism", &code, error))
        return false;
    if (!fm_detism_is_valid(code))
        return fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                              "determinism is %u, expected 0, 2, 3, 4, 6, 7, 10 or 14", code);
    *ret = (enum fm_detism)code;
    return true;
}

/* Reads a byte that must be below limit. */
static bool read_flag(struct decoding *d, const char *what, unsigned limit, uint8_t *ret,
                      GError **error)
{
    const uint8_t *begin = d->in.at;
    if (!fm_reader_byte(&d->in, what, ret, error))
        return false;
    return *ret < limit || fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                                          "%s is %u, expected less than %u", what, *ret, limit);
}

static bool read_var(struct decoding *d, uint32_t *ret, GError **error)
{
    const uint8_t *begin = d->in.at;
    bool ok;
    if (d->var_bytes == 1) {
        uint8_t byte = 0;
        ok = fm_reader_byte(&d->in, "variable", &byte, error);
        *ret = byte;
    } else if (d->var_bytes == 2) {
        ok = fm_read_u16(&d->in, "variable", ret, error);
    } else {
        ok = fm_read_u32(&d->in, "variable", ret, error);
    }
    return ok &&
           (*ret != FM_NO_VAR || fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                                                "variable %u, expected a smaller number", *ret));
}

static bool read_vars(struct decoding *d, const char *what, uint32_t *ret_first,
                      uint32_t *ret_count, GError **error)
{
    if (!fm_read_count(&d->in, what, d->var_bytes, ret_count, error))
        return false;
    *ret_first = d->vars->len;
    for (uint32_t i = 0; i < *ret_count; i++) {
        uint32_t var;
        if (!read_var(d, &var, error))
            return false;
        g_array_append_val(d->vars, var);
    }
    return true;
}

static bool read_partial_vars(struct decoding *d, struct fm_goal *goal, GError **error)
{
    if (!fm_read_count(&d->in, "number of arguments", 1, &goal->arg_count, error))
        return false;
    goal->args = d->vars->len;
    for (uint32_t i = 0; i < goal->arg_count; i++) {
        uint8_t there;
        uint32_t var = FM_NO_VAR;
        if (!read_flag(d, "mark before an argument", 2, &there, error) ||
            (there && !read_var(d, &var, error)))
            return false;
        g_array_append_val(d->vars, var);
    }
    return true;
}

static bool read_name(struct decoding *d, const char *what, const char **ret, GError **error)
{
    return fm_read_name(&d->in, what, d->module, &d->body->storage->strings, ret, error);
}

/* --- before the goals --- */

static bool read_names(struct decoding *d, bool named, uint32_t count, GError **error)
{
    struct fm_body *body = d->body;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    body->names = g_new0(struct fm_var_name, count);
    for (; body->name_count < count; body->name_count++) {
        struct fm_var_name *name = &body->names[body->name_count];
        const uint8_t *begin = d->in.at;
        name->name = "";
        if (!read_var(d, &name->var, error) ||
            (named && !read_name(d, "name of a variable", &name->name, error)))
            return false;
        if (!g_hash_table_add(seen, GUINT_TO_POINTER(name->var)))
            return fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                                  "variable %u has a name already, expected one", name->var);
        if (!body->typed)
            continue;
        begin = d->in.at;
        if (!fm_reader_u32(&d->in, "type of a variable", &name->type, error))
            return false;
        if (name->type >= d->module->type_count)
            return fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                                  "type %u of a variable, expected less than %u", name->type,
                                  d->module->type_count);
    }
    return true;
}

static bool read_var_header(struct decoding *d, unsigned version, GError **error)
{
    const uint8_t *begin = d->in.at;
    uint8_t flag;
    uint32_t count = 0;
    if (version == 5) {
        if (!read_flag(d, "width of variables", 3, &flag, error))
            return false;
        d->var_bytes = 1u << flag;
        return fm_read_count(&d->in, "number of variables", d->var_bytes + 4, &count, error) &&
               read_names(d, true, count, error);
    }
    if (!read_flag(d, "form of the variables", 12, &flag, error))
        return false;
    d->var_bytes = 1u << (flag >> 2);
    bool named = (flag & 2) != 0;
    d->body->typed = (flag & 1) != 0;
    if (!named)
        return !d->body->typed ||
               fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                              "form of the variables is %u: types without names", flag);
    return fm_reader_count(&d->in, "number of variables", (size_t)d->var_bytes + 4, &count,
                           error) &&
           read_names(d, true, count, error);
}

static bool read_heads(struct decoding *d, GError **error)
{
    struct fm_body *body = d->body;
    uint32_t count;
    if (!fm_read_count(&d->in, "number of head variables", (size_t)d->var_bytes + 2, &count, error))
        return false;
    body->heads = g_new0(struct fm_head_var, count);
    for (; body->head_count < count; body->head_count++) {
        struct fm_head_var *head = &body->heads[body->head_count];
        uint8_t before, after;
        if (!read_var(d, &head->var, error) ||
            !read_flag(d, "instantiation before", FM_INSTS, &before, error) ||
            !read_flag(d, "instantiation after", FM_INSTS, &after, error))
            return false;
        head->before = (enum fm_inst)before;
        head->after = (enum fm_inst)after;
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const struct fm_var_name *one = a, *other = b;
    return one->var < other->var ? -1 : one->var > other->var;
}

struct fm_var_name *fm_body_sorted_names(const struct fm_body *body)
{
    struct fm_var_name *names = g_new(struct fm_var_name, body->name_count + 1u);
    if (body->name_count > 0) {
        memcpy(names, body->names, sizeof *names * body->name_count);
        qsort(names, body->name_count, sizeof *names, compare_names);
    }
    return names;
}

/* --- goals --- */

static bool read_atomic_fields(struct decoding *d, struct fm_goal *goal, GError **error)
{
    const char *args = "number of arguments";
    switch (goal->kind) {
    case FM_GOAL_CONSTRUCT:
    case FM_GOAL_DECONSTRUCT:
        return read_var(d, &goal->var, error) && read_name(d, "functor", &goal->name, error) &&
               read_vars(d, args, &goal->args, &goal->arg_count, error);
    case FM_GOAL_PARTIAL_CONSTRUCT:
    case FM_GOAL_PARTIAL_DECONSTRUCT:
        return read_var(d, &goal->var, error) && read_name(d, "functor", &goal->name, error) &&
               read_partial_vars(d, goal, error);
    case FM_GOAL_ASSIGN:
    case FM_GOAL_CAST:
    case FM_GOAL_SIMPLE_TEST:
        return read_var(d, &goal->var, error) && read_var(d, &goal->var2, error);
    case FM_GOAL_FOREIGN:
        return read_vars(d, args, &goal->args, &goal->arg_count, error);
    case FM_GOAL_HIGHER_ORDER:
        return read_var(d, &goal->var, error) &&
               read_vars(d, args, &goal->args, &goal->arg_count, error);
    case FM_GOAL_METHOD:
        return read_var(d, &goal->var, error) &&
               fm_read_u16(&d->in, "number of a method", &goal->method, error) &&
               read_vars(d, args, &goal->args, &goal->arg_count, error);
    case FM_GOAL_PLAIN_CALL:
    case FM_GOAL_BUILTIN_CALL:
        return read_name(d, "module of a callee", &goal->module, error) &&
               read_name(d, "name of a callee", &goal->name, error) &&
               read_vars(d, args, &goal->args, &goal->arg_count, error);
    default:
        return read_name(d, "name of an event", &goal->name, error) &&
               read_vars(d, args, &goal->args, &goal->arg_count, error);
    }
}

static bool read_atomic(struct decoding *d, struct fm_goal *goal, GError **error)
{
    return read_atomic_fields(d, goal, error) && read_name(d, "file name", &goal->file, error) &&
           fm_read_u32(&d->in, "line", &goal->line, error) &&
           read_vars(d, "number of bound variables", &goal->bound, &goal->bound_count, error);
}

/* Reads the fields before the children, and sets the number of children. */
static bool read_compound(struct decoding *d, struct fm_goal *goal, GError **error)
{
    uint8_t flag;
    goal->child_count = 1;
    switch (goal->kind) {
    case FM_GOAL_SWITCH:
        if (!read_flag(d, "mark of a switch", 2, &flag, error) || !read_var(d, &goal->var, error))
            return false;
        goal->can_fail = flag == 0;
        return fm_read_count(&d->in, "number of cases", GOAL_BYTES_MIN, &goal->child_count, error);
    case FM_GOAL_CONJ:
        return fm_read_count(&d->in, "number of conjuncts", GOAL_BYTES_MIN, &goal->child_count,
                             error);
    case FM_GOAL_DISJ:
        return fm_read_count(&d->in, "number of disjuncts", GOAL_BYTES_MIN, &goal->child_count,
                             error);
    case FM_GOAL_ITE:
        goal->child_count = 3;
        return true;
    case FM_GOAL_SCOPE:
        if (!read_flag(d, "mark of a scope", 2, &flag, error))
            return false;
        goal->cut = flag != 0;
        return true;
    default:
        return true;
    }
}

static bool read_functor(struct decoding *d, GError **error)
{
    struct fm_functor functor;
    if (!read_name(d, "functor of a case", &functor.name, error) ||
        !fm_read_u16(&d->in, "arity of a case", &functor.arity, error))
        return false;
    g_array_append_val(d->functors, functor);
    return true;
}

/* Reads the head of a switch arm: the main functor, then the others. */
static bool read_case(struct decoding *d, struct fm_goal *arm, GError **error)
{
    uint32_t others;
    arm->functors = d->functors->len;
    if (!read_functor(d, error) ||
        !fm_read_count(&d->in, "number of other functors of a case", 6, &others, error))
        return false;
    for (uint32_t i = 0; i < others; i++) {
        if (!read_functor(d, error))
            return false;
    }
    arm->functor_count = others + 1;
    return true;
}

/* Reads a goal up to its first child, or, if atomic, all but the determinism; opens it. */
static bool open_goal(struct decoding *d, GError **error)
{
    struct fm_goal goal = {.parent = FM_NO_GOAL, .number = 1, .var = FM_NO_VAR, .var2 = FM_NO_VAR};
    goal.module = goal.name = goal.file = "";
    if (d->open->len > 0) {
        struct open_goal *parent = &g_array_index(d->open, struct open_goal, d->open->len - 1);
        const struct fm_goal *of = goal_at(d, parent->goal);
        goal.parent = parent->goal;
        goal.number = of->child_count - parent->children_left + 1;
        parent->children_left--;
        if (of->kind == FM_GOAL_SWITCH && !read_case(d, &goal, error))
            return false;
    }
    const uint8_t *begin = d->in.at;
    uint8_t kind;
    if (!fm_reader_byte(&d->in, "kind of a goal", &kind, error))
        return false;
    if (kind < FM_GOAL_CONJ || kind >= FM_GOAL_KINDS)
        return fm_reader_fail(&d->in, begin, FM_ERROR_FORMAT, error,
                              "kind of a goal is %u, expected 1 to %d", kind, FM_GOAL_KINDS - 1);
    goal.kind = (enum fm_goal_kind)kind;
    if (!(fm_goal_is_atomic(&goal) ? read_atomic(d, &goal, error) : read_compound(d, &goal, error)))
        return false;
    struct open_goal open = {d->goals->len, goal.child_count};
    g_array_append_val(d->goals, goal);
    g_array_append_val(d->open, open);
    d->body->depth = MAX(d->body->depth, d->open->len);
    return true;
}

/* Reads the determinism of each open goal whose children have all been read. */
static bool close_goals(struct decoding *d, GError **error)
{
    while (d->open->len > 0) {
        const struct open_goal *top = &g_array_index(d->open, struct open_goal, d->open->len - 1);
        if (top->children_left > 0)
            break;
        struct fm_goal *goal = goal_at(d, top->goal);
        if (!read_detism(d, &goal->detism, error))
            return false;
        goal->end = d->goals->len;
        g_array_set_size(d->open, d->open->len - 1);
    }
    return true;
}

static bool read_goals(struct decoding *d, GError **error)
{
    do {
        if (!open_goal(d, error) || !close_goals(d, error))
            return false;
    } while (d->open->len > 0);
    return true;
}

static bool read_body(struct decoding *d, unsigned version, GError **error)
{
    if (!read_name(d, "file name of a procedure", &d->body->file, error) ||
        !read_var_header(d, version, error) || !read_heads(d, error) || !read_goals(d, error) ||
        !read_detism(d, &d->body->detism, error))
        return false;
    return d->in.at == d->in.end ||
           fm_reader_fail(&d->in, d->in.at, FM_ERROR_FORMAT, error,
                          "%zu bytes of a procedure are left over, expected none",
                          fm_reader_left(&d->in));
}

bool fm_procrep_body(const struct fm_procrep *procrep, uint32_t proc, struct fm_body **ret,
                     GError **error)
{
    g_return_val_if_fail(proc < procrep->proc_count, false);
    const struct fm_procrep_storage *storage = procrep->storage;
    const struct fm_procrep_proc *of = &procrep->procs[proc];
    const uint8_t *begin = storage->bytes + of->offset;
    struct fm_body *body = g_new0(struct fm_body, 1);
    body->storage = g_new0(struct fm_body_storage, 1);
    struct decoding d = {
        .in = {storage->bytes, begin + 4, begin + of->size, storage->name},
        .module = &procrep->modules[of->module],
        .body = body,
        .goals = g_array_new(FALSE, FALSE, sizeof(struct fm_goal)),
        .vars = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), 1),
        .functors = g_array_sized_new(FALSE, FALSE, sizeof(struct fm_functor), 1),
        .open = g_array_new(FALSE, FALSE, sizeof(struct open_goal)),
    };
    GError *found = NULL;
    bool ok = read_body(&d, procrep->version, &found);
    body->goal_count = d.goals->len;
    body->goals = (struct fm_goal *)(void *)g_array_free(d.goals, FALSE);
    body->var_count = d.vars->len;
    body->vars = (uint32_t *)(void *)g_array_free(d.vars, FALSE);
    body->functor_count = d.functors->len;
    body->functors = (struct fm_functor *)(void *)g_array_free(d.functors, FALSE);
    g_array_free(d.open, TRUE);
    if (storage->file != NULL && !fm_mapped_file_check(storage->file, error)) {
        g_clear_error(&found);
        ok = false;
    } else if (!ok) {
        g_propagate_error(error, found);
    }
    if (ok) {
        body->storage->sorted_names = fm_body_sorted_names(body);
        *ret = body;
    } else {
        fm_body_free(body);
    }
    return ok;
}

void fm_body_free(struct fm_body *body)
{
    if (body == NULL)
        return;
    g_free(body->heads);
    g_free(body->names);
    g_free(body->goals);
    g_free(body->vars);
    g_free(body->functors);
    if (body->storage != NULL) {
        fm_strings_free(body->storage->strings);
        g_free(body->storage->sorted_names);
    }
    g_free(body->storage);
    g_free(body);
}
