/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one name: what it says of clones and special functions, then its scope. */
#include <string.h>

#include "base/names/reader.h"

static const char *const specials[][2] = {
    {"vtable for ", "vtable of "},
    {"VTT for ", "VTT of "},
    {"construction vtable for ", "construction vtable of "},
    {"typeinfo name for ", "typeinfo name of "},
    {"typeinfo for ", "typeinfo of "},
    {"guard variable for ", "guard of "},
    {"TLS init function for ", "TLS init of "},
    {"TLS wrapper function for ", "TLS wrapper of "},
    {"thread-local initialization routine for ", "TLS init of "},
    {"thread-local wrapper routine for ", "TLS wrapper of "},
    {"non-virtual thunk to ", "thunk of "},
    {"virtual thunk to ", "thunk of "},
    {"covariant return thunk to ", "covariant thunk of "},
    {"invocation function for block in ", "block in "},
    {"transaction clone for ", "transaction clone of "},
    {"non-transaction clone for ", "non-transaction clone of "},
    {"hidden alias for ", "hidden alias of "},
    {"template parameter object for ", "template parameter object of "},
};

/* --- what stands behind a name: clones --- */

static bool is_clone_word(const char *at)
{
    static const char *const words[] = {
        ".isra",  ".part",   ".constprop", ".cold",    ".lto_priv", ".llvm",         ".localalias",
        ".actor", ".resume", ".destroy",   ".cleanup", "._omp_fn",  ".omp_outlined", ".warm"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        size_t size = strlen(words[i]);
        if (strncmp(at, words[i], size) == 0 &&
            (at[size] == '\0' || at[size] == '.' || at[size] == '_' || at[size] == ' '))
            return true;
    }
    return false;
}

/* ".isra.0.cold", ".1234": from the first such suffix to the end. */
static size_t clone_start(const char *text, size_t size)
{
    for (size_t at = 1; at < size; at++) {
        if (text[at] != '.')
            continue;
        if (is_clone_word(text + at))
            return at;
        size_t digits = at + 1 + strspn(text + at + 1, "0123456789");
        if (digits == size && digits > at + 1)
            return at;
    }
    return size;
}

/* Cuts clones, versions of symbols and "@plt" off; what they were is added to clone. */
static size_t cut_clones(const char *text, size_t size, GString *clone)
{
    if (size == 0)
        return 0;
    const char *at_sign = memchr(text + 1, '@', size - 1);
    if (at_sign != NULL && memchr(text, '(', size) == NULL)
        size = (size_t)(at_sign - text);
    for (;;) { /* from the back: the last one stands behind */
        const char *open = g_strrstr_len(text, (gssize)size, " [clone ");
        const char *dot = g_strrstr_len(text, (gssize)size, " (.");
        if (open != NULL && text[size - 1] == ']' && open > text) {
            const char *from = open + strlen(" [clone ");
            g_string_prepend_len(clone, from, text + size - 1 - from);
            size = (size_t)(open - text);
        } else if (dot != NULL && text[size - 1] == ')' && dot > text) {
            g_string_prepend_len(clone, dot + 2, text + size - 1 - dot - 2);
            size = (size_t)(dot - text);
        } else {
            break;
        }
    }
    const char *bracket = g_strrstr_len(text, (gssize)size, ")");
    size_t from = bracket == NULL ? 0 : (size_t)(bracket - text);
    size_t start = size - from > 1 ? from + clone_start(text + from, size - from) : size;
    g_string_prepend_len(clone, text + start, (gssize)(size - start));
    return start;
}

static const char *mark_of(const char *clone)
{
    if (strstr(clone, ".actor") != NULL || strstr(clone, ".resume") != NULL)
        return " [coroutine]";
    if (strstr(clone, ".destroy") != NULL || strstr(clone, ".cleanup") != NULL)
        return " [coroutine end]";
    return strstr(clone, "._omp_fn") != NULL || strstr(clone, ".omp_outlined") != NULL
               ? " [parallel region]"
               : "";
}

/* --- C++, Rust, D --- */

static bool is_pointer_group(const struct fm_name_reader *in, size_t at, size_t *inside)
{
    size_t i = at + 1;
    while (i < in->close[at] && (fm_name_is_letter(in->text[i]) || in->text[i] == ':'))
        i++;
    if (i > at + 1 && !fm_name_is_at(in, i - 2, in->close[at], "::"))
        return false;
    if (in->text[i] != '*' && in->text[i] != '&')
        return false;
    while (i < in->close[at] && strchr("*& ", in->text[i]) != NULL)
        i++;
    *inside = i;
    return fm_name_begins_scope(in, i, in->close[at]);
}

static struct fm_name_list *read_parameters(struct fm_name_reader *in, size_t open)
{
    struct fm_name_list *list = fm_name_read_list(in, open + 1, in->close[open]);
    if (list->count == 1 && strcmp(list->types[0]->text, "void") == 0)
        list->count = 0;
    return list;
}

/* decltype(…) and typeof(…) are part of the return type. */
static size_t behind_decltype(const struct fm_name_reader *in, size_t at, size_t end)
{
    static const char *const words[] = {"decltype(", "decltype (", "typeof(", "typeof ("};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (fm_name_is_at(in, at, end, words[i]))
            return in->close[at + strlen(words[i]) - 1] + 1;
    return at;
}

/* The parameters, and what may stand behind them. */
static bool read_end(struct fm_name_reader *in, size_t at, size_t end, struct fm_name *name)
{
    struct fm_name_component *own = &name->scope.components[name->scope.count - 1];
    if (at < end && in->text[at] == '(' && in->close[at] != 0) {
        own->parameters = read_parameters(in, at);
        at = fm_name_read_quals(in, in->close[at] + 1, end, &own->quals);
    }
    return at == end && !in->wrong;
}

static bool read_encoding(struct fm_name_reader *in, size_t at, size_t end, struct fm_name *name)
{
    size_t start = at;
    while (at < end && !in->wrong) {
        size_t behind = behind_decltype(in, at, end), inside = 0;
        char c = in->text[at];
        if (behind > at) {
            at = behind;
            while (at < end && fm_name_is_at(in, at, end, "::")) {
                struct fm_name_scope rest = {0};
                at = fm_name_read_scope(in, at + 2, end, &rest);
            }
        } else if (c == '(' && in->close[at] != 0 && at > start &&
                   is_pointer_group(in, at, &inside)) {
            end = in->close[at];
            at = inside;
        } else if (fm_name_begins_scope(in, at, end)) {
            name->scope = (struct fm_name_scope){0};
            size_t from = at;
            at = fm_name_read_scope(in, at, end, &name->scope);
            if (in->wrong)
                return false;
            if (at == end || in->text[at] == '(') {
                bool ended = read_end(in, at, end, name);
                struct fm_name_component *own = &name->scope.components[name->scope.count - 1];
                if (from > start && ended)
                    name->result = fm_name_read_type(in, start, from);
                return ended &&
                       (from == start || own->parameters != NULL || in->language == FM_NAME_D);
            }
            if (strchr(" *&[", in->text[at]) == NULL)
                return false;
        } else if (strchr(" *&", c) != NULL || (c == '[' && at > start)) {
            at = c == '[' && in->close[at] != 0 ? in->close[at] + 1 : at + 1;
        } else {
            return false;
        }
    }
    return false;
}

/* t!(a).t(b): one component. */
static void join_templates(struct fm_name_scope *scope)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < scope->count; i++) {
        struct fm_name_component *c = &scope->components[i], *last = &scope->components[kept - 1];
        if (kept > 0 && last->arguments != NULL && last->parameters == NULL &&
            strcmp(last->text, c->text) == 0) {
            struct fm_name_list *arguments = last->arguments;
            *last = *c;
            last->arguments = c->arguments != NULL ? c->arguments : arguments;
        } else {
            scope->components[kept++] = *c;
        }
    }
    scope->count = kept;
    for (unsigned i = 0; i < scope->count; i++) {
        struct fm_name_component *c = &scope->components[i];
        if (g_str_has_prefix(c->text, "__lambda") || g_str_has_prefix(c->text, "__dgliteral")) {
            c->kind = FM_NAME_LAMBDA;
            c->number = (unsigned)strcspn(c->text, "0123456789");
            c->number = (unsigned)g_ascii_strtoull(c->text + c->number, NULL, 10);
            c->text = "lambda";
            if (i + 1 == scope->count) /* its parameters are no part of what is shown */
                c->parameters = NULL;
        }
    }
}

static bool is_hash(const char *word)
{
    return strlen(word) == 17 && word[0] == 'h' && strspn(word + 1, "0123456789abcdef") == 16;
}

static void settle_rust(struct fm_name_reader *in, struct fm_name *name)
{
    struct fm_name_scope *scope = &name->scope;
    if (scope->count > 1 && is_hash(scope->components[scope->count - 1].text)) {
        const char *hash = scope->components[--scope->count].text;
        fm_name_drop(in, hash, 5);
    }
    name->call_marks = true;
    name->type = in->type;
    name->trait = in->trait;
}

/* Parameters of a coroutine's body stand in the type of its frame: f(f(int)::_Z1fi.Frame*). */
static void settle_coroutine(struct fm_name *name)
{
    struct fm_name_component *own = name->scope.components;
    if (own == NULL)
        return;
    own += name->scope.count - 1;
    if (own->parameters == NULL || own->parameters->count != 1)
        return;
    const struct fm_name_type *frame = own->parameters->types[0];
    const struct fm_name_scope *scope = frame->count > 0 ? frame->pieces[0].scope : NULL;
    for (unsigned i = 0; scope != NULL && i + 1 < scope->count; i++) {
        if (scope->components[i].parameters != NULL) {
            own->parameters = scope->components[i].parameters;
            return;
        }
    }
}

/* --- the linker's name --- */

/* The constructor's or destructor's code of a linker's name: the character behind C or D. */
static char variant_code(const char *raw, char *kind)
{
    for (const char *at = raw; *at != '\0';) {
        if (g_ascii_isdigit(*at)) {
            char *behind = NULL;
            guint64 size = g_ascii_strtoull(at, &behind, 10);
            at = behind + MIN(size, strlen(behind));
        } else if ((*at == 'C' || *at == 'D') && g_ascii_isdigit(at[1]) && at > raw + 2 &&
                   strchr("EBI", at[2]) != NULL && at[2] != '\0') {
            *kind = *at;
            return at[1];
        } else {
            at++;
        }
    }
    return '\0';
}

static const char *variant_of(const struct fm_name *name)
{
    const char *raw = name->source->raw;
    char kind = '\0';
    char code = raw != NULL && g_str_has_prefix(raw, "_Z") ? variant_code(raw, &kind) : '\0';
    switch (code) {
    case '0':
        return kind == 'D' ? " [deleting]" : "";
    case '1':
        return " [complete]";
    case '2':
        return " [base]";
    case '3':
        return " [allocating]";
    default:
        return "";
    }
}

/* The plain components at the beginning of a linker's name that no demangler takes. */
static const char *mangled_text(struct fm_name_pool *pool, const char *text)
{
    const char *at = text + 2;
    GString *out = g_string_new(NULL);
    at += *at == 'N';
    at += strspn(at, "KVrRO");
    while (g_ascii_isdigit(*at)) {
        char *behind = NULL;
        guint64 size = g_ascii_strtoull(at, &behind, 10);
        at = behind;
        if (size == 0 || size > strlen(at))
            break;
        bool version = g_str_has_prefix(at, "debian") || g_str_has_prefix(at, "__cxx11") ||
                       g_str_has_prefix(at, "lts_");
        if (!version || out->len == 0)
            g_string_append_printf(out, "%s%.*s", out->len > 0 ? "::" : "", (int)size, at);
        at += size;
    }
    if (out->len == 0) {
        g_string_free(out, TRUE);
        return text;
    }
    g_string_append(out, "…");
    return fm_name_keep(pool, out);
}

/* --- all --- */

static enum fm_name_language guess(const struct fm_name_source *source)
{
    const char *raw = source->raw != NULL ? source->raw : source->text;
    size_t size = strlen(raw);
    if (g_str_has_prefix(raw, "_R") && size > 3 && (g_ascii_isupper(raw[2])))
        return FM_NAME_RUST;
    if (g_str_has_prefix(raw, "_ZN") && size > 22 && raw[size - 1] == 'E' &&
        strncmp(raw + size - 20, "17h", 3) == 0)
        return FM_NAME_RUST;
    if (g_str_has_prefix(raw, "_D") && size > 3 && g_ascii_isdigit(raw[2]))
        return FM_NAME_D;
    if ((g_str_has_prefix(raw, "$s") || g_str_has_prefix(raw, "_$s")) && size > 4)
        return FM_NAME_SWIFT;
    if (strstr(raw, "_MOD_") != NULL && g_str_has_prefix(raw, "__"))
        return FM_NAME_FORTRAN;
    if (strcmp(raw, "MAIN__") == 0)
        return FM_NAME_FORTRAN;
    if (g_str_has_prefix(raw, "py::"))
        return FM_NAME_PYTHON;
    return FM_NAME_CXX;
}

static bool read_tree(struct fm_name_reader *in, struct fm_name *name)
{
    switch (in->language) {
    case FM_NAME_GO:
        return fm_name_read_go(in, name);
    case FM_NAME_SWIFT:
        return fm_name_read_swift(in, name);
    case FM_NAME_FORTRAN:
        return fm_name_read_fortran(in, name);
    case FM_NAME_HASKELL:
        return fm_name_read_haskell(in, name);
    case FM_NAME_JAVA:
        return fm_name_read_java(in, name);
    case FM_NAME_JS:
        return fm_name_read_js(in, name);
    case FM_NAME_PYTHON:
        return fm_name_read_python(in, name);
    default:
        return false;
    }
}

static bool read_cxx(struct fm_name_reader *in, struct fm_name *name)
{
    for (unsigned round = 0; round < 2; round++) {
        in->second = round == 1;
        in->wrong = false;
        in->depth = 0;
        in->trait = in->type = NULL;
        g_string_truncate(in->dropped, 0);
        memset(in->close, 0, (in->size + 1) * sizeof(*in->close));
        if (fm_name_match_brackets(in) && read_encoding(in, 0, in->size, name))
            return true;
        name->scope = (struct fm_name_scope){0};
        name->result = NULL;
        if (in->language != FM_NAME_CXX || strstr(in->text, "operator") == NULL)
            return false;
    }
    return false;
}

static size_t cut_special(const char *text, const char **prefix)
{
    for (size_t i = 0; i < G_N_ELEMENTS(specials); i++) {
        if (g_str_has_prefix(text, specials[i][0])) {
            *prefix = specials[i][1];
            return strlen(specials[i][0]);
        }
    }
    if (g_str_has_prefix(text, "reference temporary #") && strstr(text, " for ") != NULL) {
        *prefix = "reference temporary of ";
        return (size_t)(strstr(text, " for ") - text) + strlen(" for ");
    }
    return 0;
}

static void read_text(struct fm_name_reader *in, struct fm_name *name, const char *text,
                      size_t size)
{
    bool of_code = in->language == FM_NAME_CXX || in->language == FM_NAME_FORTRAN;
    GString *clone = g_string_new(NULL);
    if (of_code) {
        size_t skipped = in->language == FM_NAME_CXX ? cut_special(text, &name->prefix) : 0;
        text += skipped;
        size = cut_clones(text, size - skipped, clone);
    }
    name->clone = fm_name_keep(in->pool, clone);
    name->mark = mark_of(name->clone);
    in->text = fm_name_text(in->pool, text, size);
    in->size = size;
    in->close = g_new0(guint32, size + 1);
    bool read = false, mangled = g_str_has_prefix(in->text, "_Z");
    if (mangled)
        in->language = FM_NAME_CXX;
    else if (in->language == FM_NAME_CXX || in->language == FM_NAME_RUST ||
             in->language == FM_NAME_D)
        read = size > 0 && read_cxx(in, name);
    else if (size > 0)
        read = read_tree(in, name);
    g_free(in->close);
    if (!read || name->scope.count == 0) {
        name->scope = (struct fm_name_scope){0};
        name->opaque = in->text;
        if (mangled)
            name->opaque = mangled_text(in->pool, in->text);
        g_string_truncate(in->dropped, 0);
    }
}

void fm_name_read(struct fm_name_pool *pool, const struct fm_name_source *source,
                  struct fm_name *name)
{
    *name = (struct fm_name){
        .source = source, .prefix = "", .mark = "", .variant = "", .clone = "", .dropped = ""};
    const char *text = source->text;
    size_t size = strlen(text);
    if (size == 0 || size > FM_NAME_TEXT_MAX) {
        name->opaque = text;
        return;
    }
    if (g_str_has_prefix(text, "_GLOBAL__") ||
        g_str_has_prefix(text, "global constructors keyed") ||
        g_str_has_prefix(text, "__static_initialization_and_destruction_0")) {
        name->opaque = "static initialisers";
        return;
    }
    struct fm_name_reader in = {.pool = pool, .language = source->language};
    if (in.language == FM_NAME_GUESS)
        in.language = guess(source);
    in.separator = in.language == FM_NAME_D ? "." : "::";
    in.dropped = g_string_new(NULL);
    name->std_root = in.language == FM_NAME_CXX;
    read_text(&in, name, text, size);
    if (name->opaque == NULL) {
        if (in.language == FM_NAME_D)
            join_templates(&name->scope);
        if (in.language == FM_NAME_RUST)
            settle_rust(&in, name);
        if (g_str_has_prefix(name->mark, " [coroutine"))
            settle_coroutine(name);
        name->variant = variant_of(name);
        for (unsigned i = 0; i < name->scope.count; i++)
            name->placed |= name->scope.components[i].kind == FM_NAME_LAMBDA;
    }
    name->dropped = fm_name_keep(pool, in.dropped);
}
