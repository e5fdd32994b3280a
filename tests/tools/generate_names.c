/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_names.h"

#include <string.h>

static const char *const modules[] = {
    "shop",  "cart",  "price", "stock",  "order", "customer", "invoice", "report",
    "parse", "lexer", "table", "render", "list",  "map",      "set",     "string",
    "io",    "assoc", "queue", "tree",   "cord",  "random",   "math",    "digraph",
};
static const char *const verbs[] = {
    "insert", "delete", "lookup", "foldl", "map",   "filter",  "sort",   "merge",
    "append", "member", "update", "parse", "write", "balance", "remove", "count",
    "split",  "search", "reduce", "apply", "init",  "compare", "hash",   "print",
};
static const char *const things[] = {
    "node",  "leaf", "entry", "item",  "token", "line",  "price", "total",
    "field", "key",  "value", "state", "graph", "chunk", "index", "word",
};
static const char *const fields[] = {"name", "total", "price", "count", "next", "address"};

uint32_t pick_number(uint64_t seed, uint64_t place, uint32_t below)
{
    uint64_t hash = seed ^ place * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
    return (uint32_t)(hash % below);
}

#define PICK(table, place) table[pick_number(seed, id * 16u + (place), G_N_ELEMENTS(table))]

/* One of the compiler's own forms now and then, as real profiles have them. */
static char *procedure_name(uint64_t seed, uint32_t id, struct fm_ps *ps)
{
    const char *verb = PICK(verbs, 0), *thing = PICK(things, 1);
    ps->arity = 1 + pick_number(seed, id * 16u + 2, 6);
    switch (pick_number(seed, id * 16u + 3, 16)) {
    case 0:
        ps->label_kind = FM_LABEL_SPECIAL;
        ps->arity = pick_number(seed, id * 16u + 2, 3);
        return g_strdup(pick_number(seed, id * 16u + 4, 2) ? "__Unify__" : "__Compare__");
    case 1:
        ps->arity = 2;
        return g_strdup_printf("%s_get_%s", thing, PICK(fields, 5));
    case 2:
        ps->arity = 3;
        return g_strdup_printf("%s_set_%s", thing, PICK(fields, 5));
    case 3:
        return g_strdup_printf("IntroducedFrom__pred__%s_%s__%u__1", verb, thing, id % 900 + 10);
    case 4:
        return g_strdup_printf("TypeSpecOf__pred__%s_%s__[T = int]", verb, thing);
    case 5:
    case 6:
        ps->label_kind = FM_LABEL_FUNCTION;
        return g_strdup_printf("%s_%s", verb, thing);
    default:
        return g_strdup_printf("%s_%s_%u", verb, thing, id);
    }
}

void name_procedure(uint64_t seed, uint32_t id, uint32_t count, enum fm_flavour flavour,
                    struct fm_ps *ret)
{
    memset(ret, 0, sizeof(*ret));
    /* Neighbours share a module; there are more modules where there are more procedures. */
    uint32_t module = id / MAX(10, count / 60);
    const char *base = modules[module % G_N_ELEMENTS(modules)];
    uint32_t round = module / (uint32_t)G_N_ELEMENTS(modules);
    g_autofree char *plain = round == 0 ? g_strdup(base) : g_strdup_printf("%s_%u", base, round);
    if (flavour == FM_FLAVOUR_C) {
        ret->label_kind = FM_LABEL_FUNCTION;
        ret->arity = pick_number(seed, id * 16u + 2, 7);
        ret->arity = ret->arity == 6 ? FM_ARITY_UNKNOWN : ret->arity;
        ret->variadic = pick_number(seed, id * 16u + 3, 40) == 0;
        ret->name = g_strdup_printf("%s_%s_%u", PICK(verbs, 0), PICK(things, 1), id);
        ret->raw_name = g_strdup(ret->name);
        ret->decl_module = g_strdup_printf("%s.c", plain);
    } else {
        ret->name = procedure_name(seed, id, ret);
        ret->raw_name = g_strdup("");
        ret->decl_module = g_strdup(plain);
    }
    if (id == 2) {
        g_free((char *)(uintptr_t)ret->name);
        ret->name = g_strdup("main");
        ret->label_kind = flavour == FM_FLAVOUR_C ? FM_LABEL_FUNCTION : FM_LABEL_PREDICATE;
        ret->arity = 2;
    }
    ret->def_module = g_strdup(ret->decl_module);
    ret->type_name = g_strdup(ret->label_kind == FM_LABEL_SPECIAL ? PICK(things, 6) : "");
    ret->file = g_strdup_printf("%s.%s", plain, flavour == FM_FLAVOUR_C ? "c" : "m");
    ret->line = 20 + id % 60 * 17;
    ret->in_interface = pick_number(seed, id * 16u + 7, 3) != 0;
}

void name_clear(struct fm_ps *ps)
{
    const char **strings[] = {&ps->name,       &ps->raw_name,  &ps->decl_module,
                              &ps->def_module, &ps->type_name, &ps->file};
    for (unsigned i = 0; i < G_N_ELEMENTS(strings); i++)
        g_free((char *)(uintptr_t)*strings[i]);
}
