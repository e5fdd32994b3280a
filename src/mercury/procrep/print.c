/* SPDX-License-Identifier: Apache-2.0 */
/* Prints bodies. Goals may nest to any depth, so the walk keeps an explicit stack. */
#include <string.h>

#include "base/error.h"
#include "mercury/procrep/internal.h"

const char *fm_body_var_name(const struct fm_body *body, uint32_t var)
{
    const struct fm_var_name *names = body->storage == NULL ? NULL : body->storage->sorted_names;
    if (names == NULL) { /* the body was made by hand, not decoded */
        for (uint32_t i = 0; i < body->name_count; i++) {
            if (body->names[i].var == var)
                return body->names[i].name;
        }
        return "";
    }
    uint32_t low = 0, high = body->name_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (names[middle].var < var)
            low = middle + 1;
        else
            high = middle;
    }
    return low < body->name_count && names[low].var == var ? names[low].name : "";
}

void fm_body_append_var(GString *out, const struct fm_body *body, uint32_t var)
{
    const char *name = fm_body_var_name(body, var);
    if (var == FM_NO_VAR)
        g_string_append_c(out, '_');
    else if (name[0] != '\0')
        g_string_append(out, name);
    else
        g_string_append_printf(out, "V_%u", var);
}

/* --- atomic goals --- */

static void append_vars(GString *out, const struct fm_body *body, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            g_string_append(out, ", ");
        fm_body_append_var(out, body, body->vars[first + i]);
    }
}

/* "(A, B)", nothing without arguments. */
static void append_args(GString *out, const struct fm_body *body, const struct fm_goal *goal)
{
    if (goal->arg_count == 0)
        return;
    g_string_append_c(out, '(');
    append_vars(out, body, goal->args, goal->arg_count);
    g_string_append_c(out, ')');
}

/* "((A, B))", and "()" without arguments. */
static void append_doubled_args(GString *out, const struct fm_body *body,
                                const struct fm_goal *goal)
{
    g_string_append_c(out, '(');
    append_args(out, body, goal);
    g_string_append_c(out, ')');
}

static void append_pair(GString *out, const struct fm_body *body, const char *before, uint32_t a,
                        const char *between, uint32_t b)
{
    g_string_append(out, before);
    fm_body_append_var(out, body, a);
    g_string_append(out, between);
    fm_body_append_var(out, body, b);
}

void fm_body_append_atomic(GString *out, const struct fm_body *body, uint32_t number)
{
    g_return_if_fail(number < body->goal_count);
    const struct fm_goal *goal = &body->goals[number];
    switch (goal->kind) {
    case FM_GOAL_CONSTRUCT:
    case FM_GOAL_PARTIAL_CONSTRUCT:
    case FM_GOAL_DECONSTRUCT:
    case FM_GOAL_PARTIAL_DECONSTRUCT:
        fm_body_append_var(out, body, goal->var);
        g_string_append(out,
                        goal->kind == FM_GOAL_CONSTRUCT || goal->kind == FM_GOAL_PARTIAL_CONSTRUCT
                            ? " <= "
                            : " => ");
        g_string_append(out, goal->name);
        append_args(out, body, goal);
        break;
    case FM_GOAL_ASSIGN:
        append_pair(out, body, "", goal->var, " := ", goal->var2);
        break;
    case FM_GOAL_CAST:
        append_pair(out, body, "cast ", goal->var2, " to ", goal->var);
        break;
    case FM_GOAL_SIMPLE_TEST:
        append_pair(out, body, "", goal->var2, " == ", goal->var);
        break;
    case FM_GOAL_FOREIGN:
        g_string_append(out, "foreign_proc");
        append_doubled_args(out, body, goal);
        break;
    case FM_GOAL_HIGHER_ORDER:
        fm_body_append_var(out, body, goal->var);
        append_doubled_args(out, body, goal);
        break;
    case FM_GOAL_METHOD:
        g_string_append_printf(out, "method %u of ", goal->method);
        fm_body_append_var(out, body, goal->var);
        append_doubled_args(out, body, goal);
        break;
    case FM_GOAL_EVENT:
        g_string_append_printf(out, "event %s", goal->name);
        append_args(out, body, goal);
        break;
    default:
        g_string_append_printf(out, "%s%s.%s", goal->kind == FM_GOAL_BUILTIN_CALL ? "builtin " : "",
                               goal->module, goal->name);
        append_args(out, body, goal);
    }
}

/* --- the walk --- */

struct printing {
    GString *out;
    const struct fm_body *body;
    const struct fm_body_notes *notes;
    GString *path;
    GString *prefix;
    GArray *open; /* struct open_goal */
};

struct open_goal {
    uint32_t goal, next; /* next: number of the next child to print, from 1 */
    uint32_t child;      /* index of that child's goal */
    uint32_t indent;
    gsize path_length; /* length of the path without the child's step */
};

static void append_indent(GString *out, uint32_t indent)
{
    for (uint32_t i = 0; i < indent; i++)
        g_string_append(out, "  ");
}

static void append_line(GString *out, uint32_t indent, const char *text)
{
    append_indent(out, indent);
    g_string_append(out, text);
    g_string_append_c(out, '\n');
}

/* Prints path, determinism and notes. */
static void print_head(struct printing *p, uint32_t number, uint32_t indent)
{
    const struct fm_goal *goal = &p->body->goals[number];
    g_string_truncate(p->prefix, 0);
    append_indent(p->prefix, indent);
    g_string_append(p->prefix, goal->kind == FM_GOAL_CONJ ? "% conjunction: " : "% ");
    g_string_append_printf(p->out, "%s%s\n", p->prefix->str,
                           p->path->len == 0 ? "root goal" : p->path->str);
    g_string_append_printf(p->out, "%s%s\n", p->prefix->str, fm_detism_name(goal->detism));
    if (p->notes != NULL)
        p->notes->append(p->out, number, p->prefix->str, p->notes->user);
    if (goal->kind == FM_GOAL_CONJ)
        g_string_append_c(p->out, '\n');
}

/* Prints the text before the first child. */
static void print_begin(struct printing *p, uint32_t number, uint32_t indent)
{
    const struct fm_goal *goal = &p->body->goals[number];
    switch (goal->kind) {
    case FM_GOAL_CONJ:
        if (goal->child_count == 0)
            append_line(p->out, indent, "true");
        break;
    case FM_GOAL_SWITCH:
        append_indent(p->out, indent);
        g_string_append_printf(p->out, "switch_can_%sfail_rep switch on ",
                               goal->can_fail ? "" : "not_");
        fm_body_append_var(p->out, p->body, goal->var);
        g_string_append_c(p->out, '\n');
        append_line(p->out, indent, "(");
        break;
    case FM_GOAL_DISJ:
    case FM_GOAL_ITE:
        append_line(p->out, indent, "(");
        break;
    case FM_GOAL_NEGATION:
        append_line(p->out, indent, "not (");
        break;
    case FM_GOAL_SCOPE:
        append_line(p->out, indent, goal->cut ? "scope cut (" : "scope (");
        break;
    default:
        append_indent(p->out, indent);
        fm_body_append_atomic(p->out, p->body, number);
        g_string_append_c(p->out, '\n');
    }
}

/* Prints the text between a child and the one before it; before each arm, its functors. */
static void print_between(struct printing *p, const struct open_goal *open)
{
    const struct fm_goal *goal = &p->body->goals[open->goal];
    if (open->next > 1) {
        switch (goal->kind) {
        case FM_GOAL_CONJ:
            append_line(p->out, open->indent, ",");
            break;
        case FM_GOAL_SWITCH:
            append_line(p->out, open->indent + 1, ";");
            break;
        case FM_GOAL_ITE:
            append_line(p->out, open->indent, open->next == 2 ? "->" : ";");
            break;
        default:
            append_line(p->out, open->indent, ";");
        }
    }
    const struct fm_goal *child = &p->body->goals[open->child];
    for (uint32_t i = 0; i < child->functor_count; i++) {
        const struct fm_functor *functor = &p->body->functors[child->functors + i];
        append_indent(p->out, open->indent + 2);
        g_string_append_printf(p->out, "%% case %s/%u\n", functor->name, functor->arity);
    }
}

static void print_goal_begin(struct printing *p, uint32_t number, uint32_t indent)
{
    print_head(p, number, indent);
    print_begin(p, number, indent);
    struct open_goal open = {number, 1, number + 1, indent, p->path->len};
    g_array_append_val(p->open, open);
}

static void print_goals(struct printing *p, uint32_t indent)
{
    print_goal_begin(p, 0, indent);
    while (p->open->len > 0) {
        struct open_goal *top = &g_array_index(p->open, struct open_goal, p->open->len - 1);
        const struct fm_goal *goal = &p->body->goals[top->goal];
        g_string_truncate(p->path, top->path_length);
        if (top->next > goal->child_count) {
            if (goal->kind != FM_GOAL_CONJ && !fm_goal_is_atomic(goal))
                append_line(p->out, top->indent, ")");
            g_array_set_size(p->open, p->open->len - 1);
            continue;
        }
        print_between(p, top);
        uint32_t child = top->child;
        uint32_t deeper = goal->kind == FM_GOAL_CONJ ? 0 : goal->kind == FM_GOAL_SWITCH ? 2 : 1;
        uint32_t child_indent = top->indent + deeper;
        top->child = p->body->goals[child].end;
        top->next++;
        fm_body_append_step(p->path, p->body, child);
        print_goal_begin(p, child, child_indent);
    }
}

static void append_type(GString *out, const struct fm_procrep_module *module, uint32_t number);

static void print_var_types(GString *out, const struct fm_procrep_module *module,
                            const struct fm_body *body)
{
    struct fm_var_name *names = fm_body_sorted_names(body);
    for (uint32_t i = 0; i < body->name_count; i++) {
        g_string_append_printf(out, "%s %u -> ",
                               names[i].name[0] == '\0' ? "unnamed_var" : names[i].name,
                               names[i].var);
        append_type(out, module, names[i].type);
        g_string_append_c(out, '\n');
    }
    g_free(names);
}

void fm_body_print(GString *out, const struct fm_procrep *procrep, uint32_t proc,
                   const struct fm_body *body, const struct fm_body_notes *notes)
{
    g_return_if_fail(proc < procrep->proc_count && body != NULL);
    static const char *const insts[FM_INSTS] = {"free", "ground", "other"};
    const struct fm_procrep_proc *of = &procrep->procs[proc];
    if (body->typed)
        print_var_types(out, &procrep->modules[of->module], body);
    g_string_append_printf(out, "%s ", fm_detism_name(body->detism));
    fm_proc_label_append(out, &of->label);
    for (uint32_t i = 0; i < body->head_count; i++) {
        const struct fm_head_var *head = &body->heads[i];
        g_string_append(out, i == 0 ? "(" : ", ");
        fm_body_append_var(out, body, head->var);
        g_string_append_printf(out, "::(%s >> %s)", insts[head->before], insts[head->after]);
    }
    g_string_append(out, body->head_count > 0 ? ") :-\n" : " :-\n");
    struct printing p = {
        .out = out,
        .body = body,
        .notes = notes,
        .path = g_string_new(NULL),
        .prefix = g_string_new(NULL),
        .open = g_array_new(FALSE, FALSE, sizeof(struct open_goal)),
    };
    if (body->depth > FM_BODY_PRINTED_DEPTH_MAX)
        g_string_append_printf(out, "  %% goals nest %u levels deep: not printed\n", body->depth);
    else
        print_goals(&p, 1);
    g_string_free(p.path, TRUE);
    g_string_free(p.prefix, TRUE);
    g_array_free(p.open, TRUE);
    g_string_append_c(out, '\n');
}

/* --- modules --- */

/* The part of a type that is still to be printed: a type or a text. Types may share parts so often
 * that the printed form would be of exponential size, so it is limited. */
#define TYPE_BYTES_MAX 10000

struct type_piece {
    const char *text; /* NULL: type */
    uint32_t type;
};

static void push_text(GArray *pieces, const char *text)
{
    struct type_piece piece = {text, 0};
    g_array_append_val(pieces, piece);
}

/* Pushes the last argument first. */
static void push_arguments(GArray *pieces, const struct fm_type_entry *entry, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        struct type_piece piece = {NULL, entry->arguments[i]};
        g_array_append_val(pieces, piece);
        if (i > 0)
            push_text(pieces, ", ");
    }
}

static void append_type_head(GString *out, GArray *pieces, const struct fm_type_entry *entry)
{
    uint32_t count = entry->argument_count;
    switch (entry->kind) {
    case FM_TYPE_VARIABLE:
        g_string_append_printf(out, "T%u", entry->number);
        return;
    case FM_TYPE_TUPLE:
        g_string_append_c(out, '{');
        push_text(pieces, "}");
        break;
    case FM_TYPE_PREDICATE:
        g_string_append(out, count == 0 ? "pred (" : "pred(");
        push_text(pieces, ")");
        break;
    case FM_TYPE_FUNCTION: {
        struct type_piece result = {NULL, entry->arguments[--count]};
        g_string_append(out, count == 0 ? "func" : "func(");
        g_array_append_val(pieces, result);
        push_text(pieces, count == 0 ? " = " : ") = ");
        break;
    }
    default:
        g_string_append(out, entry->name);
        if (count > 0) {
            g_string_append_c(out, '(');
            push_text(pieces, ")");
        }
    }
    push_arguments(pieces, entry, count);
}

static void append_type(GString *out, const struct fm_procrep_module *module, uint32_t number)
{
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(struct type_piece));
    struct type_piece piece = {NULL, number};
    gsize before = out->len;
    g_array_append_val(pieces, piece);
    while (pieces->len > 0) {
        piece = g_array_index(pieces, struct type_piece, pieces->len - 1);
        g_array_set_size(pieces, pieces->len - 1);
        if (out->len - before > TYPE_BYTES_MAX) {
            g_string_append(out, "...");
            return;
        }
        if (piece.text != NULL)
            g_string_append(out, piece.text);
        else
            append_type_head(out, pieces, &module->types[piece.type]);
    }
}

void fm_procrep_print_module_head(GString *out, const struct fm_procrep_module *module)
{
    g_return_if_fail(module != NULL);
    static const char *const roles[FM_OISU_ROLES] = {"Creator procs:\n", "\nMutator procs:\n",
                                                     "\nDestructor procs:\n"};
    g_string_append_printf(out, "Module %s\n", module->name);
    for (uint32_t i = 0; i < module->oisu_count; i++) {
        g_string_append_printf(out, "\nOISU type constructor %s\n", module->oisu[i].name);
        for (unsigned role = 0; role < FM_OISU_ROLES; role++) {
            g_string_append(out, roles[role]);
            for (uint32_t j = 0; j < module->oisu[i].label_count[role]; j++) {
                fm_proc_label_append(out, &module->oisu[i].labels[role][j]);
                g_string_append_c(out, '\n');
            }
        }
    }
    if (module->type_count == 0)
        return;
    g_string_append(out, "\nType table:\n");
    for (uint32_t i = 0; i < module->type_count; i++) {
        g_string_append_printf(out, "%u -> ", i);
        append_type(out, module, i);
        g_string_append_c(out, '\n');
    }
    g_string_append_c(out, '\n');
}

static int compare_procs(const void *a, const void *b, void *user)
{
    const struct fm_procrep *procrep = user;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return fm_proc_label_compare(&procrep->procs[one].label, &procrep->procs[other].label);
}

uint32_t *fm_procrep_sorted_procs(const struct fm_procrep *procrep,
                                  const struct fm_procrep_module *module)
{
    g_return_val_if_fail(module != NULL, NULL);
    uint32_t *procs = g_new(uint32_t, module->proc_count + 1u);
    for (uint32_t i = 0; i < module->proc_count; i++)
        procs[i] = module->proc_first + i;
    g_qsort_with_data(procs, (gint)module->proc_count, sizeof *procs, compare_procs,
                      (gpointer)(uintptr_t)procrep);
    return procs;
}

bool fm_procrep_print_module(GString *out, const struct fm_procrep *procrep,
                             const struct fm_procrep_module *module, GError **error)
{
    g_autofree uint32_t *procs = fm_procrep_sorted_procs(procrep, module);
    fm_procrep_print_module_head(out, module);
    for (uint32_t i = 0; i < module->proc_count; i++) {
        g_autoptr(FmBody) body = NULL;
        if (!fm_procrep_body(procrep, procs[i], &body, error))
            return false;
        fm_body_print(out, procrep, procs[i], body, NULL);
    }
    return true;
}
