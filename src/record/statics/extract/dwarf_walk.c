/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the debug information: procedures, their bodies, and the bodies inlined into
 * those. Types are skipped, but for the member functions in them. */
#include "record/statics/extract/dwarf_walk.h"

#include <dwarf.h>
#include <string.h>

#include "base/error.h"
#include "base/text/demangle.h"
#include "record/statics/extract/only.h"

/* Nesting of the walk; deeper is damaged. */
#define DEPTH_MAX 4096
/* References followed from a body to its declaration. */
#define ORIGIN_STEPS_MAX 16
/* FM_HOOK_BYTES_MAX of runtime/hot.h. */
#define HOOK_BYTES_MAX 256

struct frame {
    Dwarf_Die die;    /* the next one to visit */
    Dwarf_Die around; /* its parent; addr NULL: the unit */
    uint32_t scope;   /* around it, FM_NONE */
    uint32_t depth;   /* nesting of scopes */
};

struct lambda {
    uint32_t proc;
    void *class_address; /* address of the DIE */
};

struct walk {
    const struct fm_elf *elf;
    const struct fm_statics_opts *opts;
    struct fm_units *units;
    struct fm_bodies *bodies;
    GHashTable *proc_by_die, *proc_by_key;
    GHashTable *lambda_owners; /* address of an unnamed class -> scope of its definition */
    GArray *lambdas;           /* struct lambda: operators that have no name of their own */
    Dwarf_Die unit;
    uint32_t unit_index; /* into units, FM_NONE until the unit shows code */
    bool cplusplus;
    Dwarf_Files *files;
    size_t file_count;
    GArray *frames;
};

static bool unit_is_skeleton(Dwarf_Die *unit, uint8_t type)
{
    return type == DW_UT_skeleton || type == DW_UT_split_compile ||
           dwarf_hasattr(unit, DW_AT_GNU_dwo_name) || dwarf_hasattr(unit, DW_AT_dwo_name);
}

/* The declaration that all bodies of a procedure share. */
static bool canonical_die(const Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Die at = *die;
    for (int step = 0; step < ORIGIN_STEPS_MAX; step++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_attr(&at, DW_AT_abstract_origin, &attribute) == NULL &&
            dwarf_attr(&at, DW_AT_specification, &attribute) == NULL) {
            *ret = at;
            return true;
        }
        if (dwarf_formref_die(&attribute, &next) == NULL)
            return false;
        at = next;
    }
    return false;
}

/* The DIE that defines the procedure: C++ member functions are declared in their class. For a
 * declaration only, that. */
static Dwarf_Die defining_die(const Dwarf_Die *die)
{
    Dwarf_Die at = *die;
    for (int step = 0; step < ORIGIN_STEPS_MAX && !dwarf_hasattr(&at, DW_AT_decl_line); step++) {
        Dwarf_Attribute attribute;
        if (dwarf_attr(&at, DW_AT_abstract_origin, &attribute) == NULL &&
            dwarf_attr(&at, DW_AT_specification, &attribute) == NULL)
            break;
        if (dwarf_formref_die(&attribute, &at) == NULL)
            return *die;
    }
    return at;
}

/* The class that a member function is of, by the type of its object. */
static bool class_of_member(Dwarf_Die *member, Dwarf_Die *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Die at;
    if (dwarf_formref_die(dwarf_attr_integrate(member, DW_AT_object_pointer, &attribute), &at) ==
        NULL)
        return false;
    for (int step = 0; step < ORIGIN_STEPS_MAX; step++) {
        Dwarf_Die next; /* a pointer, what is constant, the class */
        if (dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attribute), &next) == NULL)
            return false;
        at = next;
        if (dwarf_tag(&at) == DW_TAG_structure_type || dwarf_tag(&at) == DW_TAG_class_type) {
            *ret = at;
            return true;
        }
    }
    return false;
}

/* Parameters are counted at the definition if that is not the declaration: both have them, except
 * for a K&R definition. */
static void count_parameters(Dwarf_Die *die, struct fm_proc *proc)
{
    Dwarf_Die child;
    uint32_t count = 0;
    bool prototyped = dwarf_hasattr(die, DW_AT_prototyped);
    if (dwarf_child(die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            if (tag == DW_TAG_formal_parameter && !dwarf_hasattr(&child, DW_AT_artificial))
                count++;
            else if (tag == DW_TAG_unspecified_parameters)
                proc->variadic = true;
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    /* At -g1 gcc describes no parameters: then none does not mean zero. */
    if (count > 0 || proc->variadic || prototyped || proc->cplusplus)
        proc->arity = count;
}

/* clang says on the body alone that a function takes more parameters. */
static bool is_variadic(Dwarf_Die *die)
{
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* A header's function is described once in each unit that includes it, a unit's own function once.
 * Returns a key that joins the former, NULL for the latter. C++ functions with equal linker names
 * are one. */
static char *header_key(const struct fm_proc *proc, const char *unit_file)
{
    if (proc->external && strncmp(proc->linkage, "_Z", 2) == 0)
        return g_strdup(proc->linkage);
    if (proc->file[0] == '\0' || strcmp(proc->file, unit_file) == 0)
        return NULL;
    return g_strdup_printf("%s\n%u\n%s", proc->file, proc->line, proc->linkage);
}

static bool is_cplusplus(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word language;
    if (dwarf_formudata(dwarf_attr(unit, DW_AT_language, &attribute), &language) != 0)
        return false;
    return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
           language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

static bool is_ada(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word language;
    if (dwarf_formudata(dwarf_attr(unit, DW_AT_language, &attribute), &language) != 0)
        return false;
    return language == DW_LANG_Ada83 || language == DW_LANG_Ada95;
}

/* GNAT writes hello__numbers__fib for Hello.Numbers.Fib. */
static char *name_as_in_ada(const char *name)
{
    GString *dotted = g_string_new(name);
    g_string_replace(dotted, "__", ".", 0);
    return g_string_free(dotted, FALSE);
}

static const char *own_unit_path(struct walk *walk, Dwarf_Die *die, Dwarf_Die *ret_unit)
{
    if (dwarf_diecu(die, ret_unit, NULL, NULL) == NULL)
        *ret_unit = walk->unit;
    return fm_units_name(walk->units, ret_unit);
}

static const char *text_of(const char *first, const char *second)
{
    return first != NULL ? first : second != NULL ? second : "";
}

/* die: one of its bodies. clang gives a lambda's operator its linker's name there alone. */
static uint32_t add_proc(struct walk *walk, Dwarf_Die *canonical, Dwarf_Die *defined,
                         Dwarf_Die *die)
{
    GStringChunk *strings = walk->elf->strings;
    Dwarf_Die unit;
    const char *unit_file = own_unit_path(walk, defined, &unit);
    Dwarf_Attribute attribute;
    const char *linkage =
        dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (linkage == NULL)
        linkage = dwarf_formstring(dwarf_attr(canonical, DW_AT_MIPS_linkage_name, &attribute));
    const char *name = dwarf_diename(canonical);
    g_autofree char *of_ada = is_ada(&unit) ? name_as_in_ada(text_of(name, linkage)) : NULL;
    struct fm_proc proc = {
        .name = g_string_chunk_insert_const(strings, text_of(of_ada, text_of(name, linkage))),
        .linkage = g_string_chunk_insert_const(strings, text_of(linkage, name)),
        .file = fm_units_path(walk->units, &unit, dwarf_decl_file(defined)),
        .arity = FM_ARITY_UNKNOWN,
        .external = dwarf_hasattr(canonical, DW_AT_external),
        .virtual_method = dwarf_hasattr(canonical, DW_AT_virtuality),
        .cplusplus = is_cplusplus(&unit),
    };
    int line = 0;
    if (dwarf_decl_line(defined, &line) == 0 && line > 0)
        proc.line = (uint32_t)line;
    /* libdw takes the first file of DWARF 5, number 0, for none. */
    if (proc.file[0] == '\0' && proc.line > 0)
        proc.file = unit_file;
    count_parameters(canonical, &proc);
    proc.unit = unit_file;
    g_autofree char *key = header_key(&proc, unit_file);
    if (key != NULL) {
        proc.unit = proc.file[0] != '\0' ? proc.file : unit_file;
        gpointer found;
        if (g_hash_table_lookup_extended(walk->proc_by_key, key, NULL, &found))
            return GPOINTER_TO_UINT(found);
    }
    uint32_t index = fm_bodies_add_proc(walk->bodies, &proc);
    if (key != NULL)
        g_hash_table_insert(walk->proc_by_key, g_steal_pointer(&key), GUINT_TO_POINTER(index));
    return index;
}

static uint32_t proc_of(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Die canonical;
    if (!canonical_die(die, &canonical))
        return FM_NONE;
    gpointer found;
    if (g_hash_table_lookup_extended(walk->proc_by_die, canonical.addr, NULL, &found))
        return GPOINTER_TO_UINT(found);
    Dwarf_Die defined = defining_die(die), of_class;
    const char *name = dwarf_diename(&canonical);
    bool is_member = walk->cplusplus && name != NULL && strncmp(name, "operator()", 10) == 0 &&
                     class_of_member(die, &of_class);
    /* gcc says of a lambda where its class is defined, which is the lambda. */
    if (is_member && !dwarf_hasattr(&defined, DW_AT_decl_line))
        defined = of_class;
    uint32_t index = add_proc(walk, &canonical, &defined, die);
    if (is_member && dwarf_diename(&of_class) == NULL) {
        struct lambda lambda = {index, of_class.addr};
        g_array_append_val(walk->lambdas, lambda);
    }
    g_hash_table_insert(walk->proc_by_die, canonical.addr, GUINT_TO_POINTER(index));
    return index;
}

/* Discarded copies have addresses 0, 1 or the highest ones, all outside of the code. */
static bool in_code(const struct fm_elf *elf, uint64_t low, uint64_t high)
{
    size_t size;
    return low != 0 && high > low && fm_elf_bytes_at(elf, low, &size) != NULL && high - low <= size;
}

/* Adds an interval for each range of a body; returns the low address of the first, 0 if none. */
static uint64_t add_ranges(struct walk *walk, Dwarf_Die *die, uint32_t scope, uint32_t depth)
{
    Dwarf_Addr base, low, high;
    uint64_t first = 0;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
        if (!in_code(walk->elf, low, high))
            continue;
        if (first == 0)
            first = low;
        fm_bodies_add_interval(walk->bodies, low, high, scope, depth);
    }
    return first;
}

static uint32_t add_scope(struct walk *walk, const struct fm_scope *scope)
{
    if (walk->unit_index == FM_NONE)
        walk->unit_index = fm_units_add(walk->units, &walk->unit);
    return fm_bodies_add_scope(walk->bodies, scope, walk->unit_index);
}

/* If no DIE says in which file a function is defined, the line table of its code does. */
static void place_by_code(struct walk *walk, struct fm_proc *proc)
{
    struct fm_place place;
    uint64_t begin;
    if (!fm_units_place(walk->units, walk->unit_index, proc->entry, &place, &begin))
        return;
    proc->file = place.file;
    proc->line = place.line;
}

/* Whether something of it is asked for. What has no ranges tells nothing. */
static bool is_wanted(const struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    bool any = false;
    while (walk->opts->only != NULL &&
           (offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
        any = true;
        if (fm_only_wants(walk->opts, low, high))
            return true;
    }
    return !any;
}

/* An out-of-line body. Returns its scope, FM_NONE for a declaration or an abstract function. */
static uint32_t visit_subprogram(struct walk *walk, Dwarf_Die *die)
{
    if ((!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges)) ||
        !is_wanted(walk, die))
        return FM_NONE;
    uint32_t proc = proc_of(walk, die);
    if (proc == FM_NONE)
        return FM_NONE;
    struct fm_scope body = {.proc = proc, .parent = FM_NONE, .site = FM_NONE, .call_file = ""};
    uint32_t scope = add_scope(walk, &body);
    uint64_t entry = add_ranges(walk, die, scope, 0);
    if (entry == 0) {
        fm_bodies_drop_last_scope(walk->bodies);
        return FM_NONE;
    }
    fm_bodies_add_entry(walk->bodies, entry, proc);
    struct fm_proc *found = fm_bodies_proc(walk->bodies, proc);
    if (found->entry == 0)
        found->entry = entry;
    if (found->file[0] == '\0' && found->line == 0)
        place_by_code(walk, found);
    if (!found->variadic && is_variadic(die))
        found->variadic = true;
    return scope;
}

static uint32_t attribute_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Up to the end of a hook that the assembler's front wrote out at an address; 0: none begins there.
 * The marks around it are those of runtime/hot.h. */
static uint64_t end_of_hook(const struct fm_elf *elf, uint64_t address)
{
    static const uint8_t mark[] = {0x0f, 0x1f, 0x84, 0x00, 'F', 'T', 'F'}; /* B, E or L follows */
    size_t size;
    const uint8_t *bytes = fm_elf_bytes_at(elf, address, &size);
    size = MIN(size, HOOK_BYTES_MAX);
    if (bytes == NULL || size <= sizeof mark || memcmp(bytes, mark, sizeof mark) != 0 ||
        bytes[sizeof mark] != 'B')
        return 0;
    const uint8_t *end = memmem(bytes + sizeof mark, size - sizeof mark - 1, mark, sizeof mark);
    if (end == NULL || end[sizeof mark] == 'B')
        return 0;
    return address + (uint64_t)(end - bytes) + sizeof mark + 1;
}

/* gcc 14 leaves a body's hook out of the body's code, but says that the body is entered there. */
static bool add_hook(struct walk *walk, Dwarf_Die *die, uint32_t scope, uint32_t depth)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr entry;
    if (dwarf_formaddr(dwarf_attr(die, DW_AT_entry_pc, &attribute), &entry) != 0)
        return false;
    uint64_t end = end_of_hook(walk->elf, entry);
    if (end == 0 || !in_code(walk->elf, entry, end))
        return false;
    fm_bodies_add_interval(walk->bodies, entry, end, scope, depth);
    return true;
}

static uint32_t visit_inlined(struct walk *walk, Dwarf_Die *die, uint32_t parent, uint32_t depth)
{
    uint32_t proc = proc_of(walk, die);
    if (proc == FM_NONE)
        return parent;
    struct fm_scope body = {
        .proc = proc,
        .parent = parent,
        .site = FM_NONE,
        .call_file = "",
        .call_line = attribute_number(die, DW_AT_call_line),
        .call_column = attribute_number(die, DW_AT_call_column),
    };
    uint32_t file = attribute_number(die, DW_AT_call_file);
    if (file < walk->file_count)
        body.call_file =
            fm_units_path(walk->units, &walk->unit, dwarf_filesrc(walk->files, file, NULL, NULL));
    uint32_t scope = add_scope(walk, &body);
    bool hooked = add_hook(walk, die, scope, depth);
    if (add_ranges(walk, die, scope, depth) == 0 && !hooked) {
        fm_bodies_drop_last_scope(walk->bodies);
        return parent;
    }
    return scope;
}

/* Scope of the entries in the innermost frame: "space::outer(int)::"; "": no function, class or
 * namespace. */
static char *owner_of(const struct walk *walk)
{
    char *owner = g_strdup("");
    for (guint i = walk->frames->len; i-- > 0;) {
        Dwarf_Die *around = &g_array_index(walk->frames, struct frame, i).around;
        int tag = around->addr == NULL ? DW_TAG_compile_unit : dwarf_tag(around);
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        const char *name = dwarf_diename(around);
        if (name == NULL || (!function && tag != DW_TAG_namespace && tag != DW_TAG_class_type &&
                             tag != DW_TAG_structure_type && tag != DW_TAG_union_type))
            continue;
        Dwarf_Attribute attribute;
        const char *linkage =
            dwarf_formstring(dwarf_attr_integrate(around, DW_AT_linkage_name, &attribute));
        g_autofree char *whole = function && linkage != NULL ? fm_demangle(linkage) : NULL;
        g_autofree char *inner = owner;
        owner = g_strdup_printf("%s%s::%s", whole != NULL ? whole : name,
                                function && whole == NULL ? "()" : "", inner);
        if (whole != NULL)
            break;
    }
    return owner;
}

/* Operators of lambdas that were only inlined have no symbol, and gcc gives them no linker's name.
 */
static void name_lambdas(struct walk *walk)
{
    for (guint i = 0; i < walk->lambdas->len; i++) {
        const struct lambda *lambda = &g_array_index(walk->lambdas, struct lambda, i);
        struct fm_proc *proc = fm_bodies_proc(walk->bodies, lambda->proc);
        const char *owner = g_hash_table_lookup(walk->lambda_owners, lambda->class_address);
        if (strcmp(proc->linkage, proc->name) != 0 || strncmp(proc->name, "operator", 8) != 0)
            continue;
        g_autofree char *name =
            g_strdup_printf("%s{lambda}::%s", owner != NULL ? owner : "", proc->name);
        proc->name = proc->linkage = g_string_chunk_insert_const(walk->elf->strings, name);
    }
    g_array_set_size(walk->lambdas, 0);
}

/* Visits one entry; *ret = the scope for entries below it. False: do not descend. */
static bool visit(struct walk *walk, struct frame *frame, struct frame *ret)
{
    ret->scope = frame->scope;
    ret->depth = frame->depth;
    switch (dwarf_tag(&frame->die)) {
    case DW_TAG_subprogram:
        ret->scope = visit_subprogram(walk, &frame->die);
        ret->depth = 0;
        return true;
    case DW_TAG_inlined_subroutine:
        if (frame->scope == FM_NONE)
            return false;
        ret->scope = visit_inlined(walk, &frame->die, frame->scope, frame->depth + 1);
        ret->depth = frame->depth + (ret->scope != frame->scope);
        return true;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module: /* Fortran's modules, and D's */
        return true;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        if (walk->cplusplus && dwarf_diename(&frame->die) == NULL)
            g_hash_table_insert(walk->lambda_owners, frame->die.addr, owner_of(walk));
        return walk->cplusplus;
    case DW_TAG_union_type:
        return walk->cplusplus;
    default:
        return false;
    }
}

static bool walk_unit(struct walk *walk, GError **error)
{
    struct frame frame = {.scope = FM_NONE, .depth = 0};
    g_array_set_size(walk->frames, 0);
    if (dwarf_child(&walk->unit, &frame.die) != 0)
        return true;
    g_array_append_val(walk->frames, frame);
    while (walk->frames->len > 0) {
        struct frame *top = &g_array_index(walk->frames, struct frame, walk->frames->len - 1);
        struct frame below = {.around = top->die};
        bool descend = visit(walk, top, &below) && dwarf_child(&top->die, &below.die) == 0;
        Dwarf_Die next;
        if (dwarf_siblingof(&top->die, &next) == 0)
            top->die = next;
        else
            g_array_set_size(walk->frames, walk->frames->len - 1);
        if (descend && walk->frames->len >= DEPTH_MAX) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: debug information nests deeper than %d", walk->elf->path, DEPTH_MAX);
            return false;
        }
        if (descend)
            g_array_append_val(walk->frames, below);
    }
    return true;
}

static bool begin_unit(struct walk *walk, Dwarf_CU *cu, uint8_t type, Dwarf_Die *die,
                       GError **error)
{
    (void)cu;
    if (unit_is_skeleton(die, type)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: was built with -gsplit-dwarf, whose .dwo files fathom cannot read; build "
                    "it without that option",
                    walk->elf->path);
        return false;
    }
    walk->unit = *die;
    walk->unit_index = FM_NONE;
    walk->cplusplus = is_cplusplus(die);
    if (dwarf_getsrcfiles(die, &walk->files, &walk->file_count) != 0)
        walk->file_count = 0;
    return true;
}

bool fm_dwarf_walk(const struct fm_elf *elf, const struct fm_statics_opts *opts,
                   struct fm_units *units, struct fm_bodies *bodies, const char **ret_note,
                   GError **error)
{
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(elf->module, &bias);
    g_assert(bodies->scopes->len == 0 && units->strings == elf->strings);
    *ret_note = NULL;
    if (dwarf == NULL) {
        *ret_note =
            g_string_chunk_insert(elf->strings, text_of(dwfl_errmsg(-1), "it cannot be read"));
        return true;
    }
    struct walk walk = {
        .elf = elf,
        .opts = opts,
        .units = units,
        .bodies = bodies,
        .proc_by_die = g_hash_table_new(g_direct_hash, g_direct_equal),
        .proc_by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .lambda_owners = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
        .lambdas = g_array_new(FALSE, FALSE, sizeof(struct lambda)),
        .frames = g_array_new(FALSE, FALSE, sizeof(struct frame)),
    };
    bool ok = true;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (ok && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
        ok = begin_unit(&walk, cu, type, &die, error) &&
             (!is_wanted(&walk, &die) || walk_unit(&walk, error));
    name_lambdas(&walk);
    g_hash_table_unref(walk.lambda_owners);
    g_array_unref(walk.lambdas);
    g_array_unref(walk.frames);
    g_hash_table_unref(walk.proc_by_die);
    g_hash_table_unref(walk.proc_by_key);
    return ok;
}
