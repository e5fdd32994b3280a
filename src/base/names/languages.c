/* SPDX-License-Identifier: Apache-2.0 */
/* Names of languages whose text is no C++: Go, Swift, Fortran, Haskell, Java, JavaScript, Python.
 */
#include <string.h>

#include "base/names/reader.h"

static struct fm_name_component *push(struct fm_name_reader *in, struct fm_name *name,
                                      const char *from, const char *to, const char *separator)
{
    return fm_name_push(in->pool, &name->scope, FM_NAME_WORD, from, (size_t)(to - from), separator);
}

static struct fm_name_component *push_lambda(struct fm_name_reader *in, struct fm_name *name,
                                             const char *word, const char *number)
{
    struct fm_name_component *made =
        fm_name_push(in->pool, &name->scope, FM_NAME_LAMBDA, word, strlen(word), ".");
    made->number = (unsigned)MIN(g_ascii_strtoull(number, NULL, 10), 1000000);
    return made;
}

static void begin_with(struct fm_name *name, unsigned first)
{
    name->first = MIN(first, name->scope.count - 1);
    name->has_first = true;
}

/* --- Go --- */

static bool is_digits(const char *text, size_t size)
{
    return size > 0 && strspn(text, "0123456789") >= size;
}

static void go_component(struct fm_name_reader *in, struct fm_name *name, const char *from,
                         const char *to)
{
    size_t size = (size_t)(to - from);
    bool inner = name->scope.count > 0 &&
                 name->scope.components[name->scope.count - 1].kind == FM_NAME_LAMBDA;
    if (size > 4 && g_str_has_prefix(from, "func") && is_digits(from + 4, size - 4) &&
        name->scope.count > name->first + 1)
        push_lambda(in, name, "closure", from + 4);
    else if (inner && is_digits(from, size))
        push_lambda(in, name, "closure", from);
    else if (size > 0)
        push(in, name, from, to, ".");
}

/* Text without instances "[…]", escapes and the mark of method values. */
static char *go_plain(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *at = text; *at != '\0';) {
        const char *close = *at == '[' ? strchr(at, ']') : NULL;
        unsigned depth = 0;
        for (const char *p = at; close != NULL && *p != '\0'; p++) {
            depth += *p == '[';
            if (*p == ']' && --depth == 0) {
                close = p;
                break;
            }
        }
        if (close != NULL)
            at = close + 1;
        else if (strncmp(at, "%2e", 3) == 0) {
            g_string_append_c(out, '.');
            at += 3;
        } else
            g_string_append_c(out, *at++);
    }
    if (g_str_has_suffix(out->str, "-fm"))
        g_string_truncate(out, out->len - 3);
    return g_string_free(out, FALSE);
}

bool fm_name_read_go(struct fm_name_reader *in, struct fm_name *name)
{
    const char *text = in->text;
    static const char *const types[][2] = {{"type..eq.", "eq of "},
                                           {"type:.eq.", "eq of "},
                                           {"type..hash.", "hash of "},
                                           {"type:.hash.", "hash of "}};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        if (!g_str_has_prefix(text, types[i][0]))
            continue;
        text += strlen(types[i][0]);
        name->prefix = types[i][1];
        if (*text == '[' && g_ascii_isdigit(text[1]) && strchr(text, ']') != NULL) {
            text = strchr(text, ']') + 1;
            GString *prefix = g_string_new(name->prefix);
            g_string_append(prefix, "array of ");
            name->prefix = fm_name_keep(in->pool, prefix);
        }
    }
    g_autofree char *plain = go_plain(text);
    const char *bracket = strchr(plain, '(');
    const char *slash =
        g_strrstr_len(plain, bracket == NULL ? (gssize)strlen(plain) : bracket - plain, "/");
    const char *at = plain;
    while (slash != NULL && at <= slash) {
        const char *end = strchr(at, '/');
        bool version = at[0] == 'v' && is_digits(at + 1, (size_t)(end - at - 1));
        if (version && name->scope.count > 0)
            fm_name_drop(in, at, (size_t)(end - at));
        else if (end > at)
            push(in, name, at, end, "/");
        at = end + 1;
    }
    name->first = name->scope.count;
    for (;;) {
        const char *end = at;
        for (unsigned depth = 0; *end != '\0' && (*end != '.' || depth > 0); end++)
            depth += *end == '(' ? 1U : *end == ')' && depth > 0 ? -1U : 0U;
        go_component(in, name, at, end);
        if (*end == '\0')
            break;
        at = end + 1;
    }
    if (name->scope.count == 0)
        return false;
    begin_with(name, name->first);
    name->call_marks = true;
    return true;
}

/* --- Swift --- */

/* "(from: Swift.Int, Swift.Bool)": "(from:_:)". */
static void append_labels(GString *out, const char *open, const char *close)
{
    g_string_append_c(out, '(');
    const char *at = open + 1;
    while (at < close) {
        const char *end = at;
        for (int depth = 0; end < close && (*end != ',' || depth > 0); end++)
            depth += strchr("(<[", *end) != NULL ? 1 : strchr(")>]", *end) != NULL ? -1 : 0;
        while (*at == ' ')
            at++;
        const char *word = at;
        while (word < end && fm_name_is_letter(*word))
            word++;
        if (word < end && word > at && *word == ':')
            g_string_append_len(out, at, word + 1 - at);
        else
            g_string_append(out, "_:");
        at = end + 1;
    }
    g_string_append_c(out, ')');
}

static const char *swift_call_end(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at != '\0'; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0)
            return at;
    }
    return NULL;
}

bool fm_name_read_swift(struct fm_name_reader *in, struct fm_name *name)
{
    static const char *const left_out[] = {"specialized ",
                                           "generic specialization ",
                                           "function signature specialization ",
                                           "protocol witness for ",
                                           "partial apply forwarder for ",
                                           "partial apply for ",
                                           "merged ",
                                           "dispatch thunk of ",
                                           "static ",
                                           "@objc "};
    const char *text = in->text;
    for (size_t i = 0; i < G_N_ELEMENTS(left_out); i++) {
        if (g_str_has_prefix(text, left_out[i])) {
            text += strlen(left_out[i]);
            i = (size_t)-1;
        }
    }
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(const char *));
    while (g_str_has_prefix(text, "closure #")) {
        const char *number = text + strlen("closure #");
        const char *inner = strstr(text, " in ");
        if (inner == NULL)
            return false;
        g_array_append_val(numbers, number);
        text = inner + strlen(" in ");
    }
    if (*text == '$' || *text == '\0')
        return false;
    const char *open = strchr(text, '(');
    const char *close = open == NULL ? NULL : swift_call_end(open);
    const char *end = open != NULL && close != NULL ? open : text + strlen(text);
    const char *at = text;
    for (const char *p = at; p <= end; p++) {
        if (p < end && *p == '<') { /* arguments of a generic type */
            const char *behind = memchr(p, '>', (size_t)(end - p));
            if (behind == NULL)
                return false;
        }
        if (p == end || *p == '.') {
            size_t size = strcspn(at, "<");
            const char *stop = at + MIN(size, (size_t)(p - at));
            if (p == end && end == open) {
                GString *own = g_string_new_len(at, stop - at);
                if (numbers->len == 0)
                    append_labels(own, open, close);
                push(in, name, own->str, own->str + own->len, ".");
                g_string_free(own, TRUE);
            } else if (stop > at) {
                push(in, name, at, stop, ".");
            }
            at = p + 1;
        }
    }
    if (name->scope.count == 0)
        return false;
    unsigned named = name->scope.count;
    for (guint i = numbers->len; i-- > 0;)
        push_lambda(in, name, "closure", g_array_index(numbers, const char *, i));
    begin_with(name, named > 2 ? named - 2 : named - MIN(named, 2));
    name->call_marks = true;
    return true;
}

/* --- Fortran --- */

bool fm_name_read_fortran(struct fm_name_reader *in, struct fm_name *name)
{
    const char *text = in->text, *end = text + strlen(text);
    if (strcmp(text, "MAIN__") == 0 || strcmp(text, "_QQmain") == 0) {
        static const char program[] = "main program";
        push(in, name, program, program + strlen(program), "::");
        return true;
    }
    const char *module = g_str_has_prefix(text, "__") ? strstr(text, "_MOD_") : NULL;
    const char *intel = strstr(text, "_mp_");
    const char *flang = g_str_has_prefix(text, "_QM") ? strchr(text + 3, 'P') : NULL;
    if (end[-1] == '_' && module == NULL && end - text > 1)
        end--;
    if (module != NULL && module > text + 2 && module[5] != '\0') {
        push(in, name, text + 2, module, "::");
        push(in, name, module + 5, end, "::");
    } else if (intel != NULL && intel > text && end > intel + 4) {
        push(in, name, text, intel, "::");
        push(in, name, intel + 4, end, "::");
    } else if (flang != NULL && flang > text + 3 && flang[1] != '\0') {
        push(in, name, text + 3, flang, "::");
        push(in, name, flang + 1, end, "::");
    } else if (g_str_has_prefix(text, "_QP") && end > text + 3) {
        push(in, name, text + 3, end, "::");
    } else {
        push(in, name, text, end, "::");
    }
    return true;
}

/* --- Haskell --- */

static char *z_decoded(const char *text, size_t size)
{
    static const char codes[] = "aAbBcCdDeEgGhHiIlLmMnNpPqQrRsStTuUvVzZ";
    static const char small[] = {
        ['a'] = '&', ['b'] = '|', ['c'] = '^', ['d'] = '$', ['e'] = '=', ['g'] = '>',  ['h'] = '#',
        ['i'] = '.', ['l'] = '<', ['m'] = '-', ['n'] = '!', ['p'] = '+', ['q'] = '\'', ['r'] = '\\',
        ['s'] = '/', ['t'] = '*', ['u'] = '_', ['v'] = '%', ['z'] = 'z'};
    static const char great[] = {
        ['C'] = ':', ['L'] = '(', ['M'] = '[', ['N'] = ']', ['R'] = ')', ['Z'] = 'Z'};
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < size; i++) {
        const char *table = text[i] == 'z' ? small : text[i] == 'Z' ? great : NULL;
        size_t room = text[i] == 'z' ? sizeof(small) : sizeof(great);
        unsigned char code = i + 1 < size ? (unsigned char)text[i + 1] : 0;
        if (table != NULL && code != 0 && strchr(codes, code) != NULL && code < room &&
            table[code] != 0) {
            g_string_append_c(out, table[code]);
            i++;
        } else {
            g_string_append_c(out, text[i]);
        }
    }
    return g_string_free(out, FALSE);
}

bool fm_name_read_haskell(struct fm_name_reader *in, struct fm_name *name)
{
    static const char *const endings[] = {"_info", "_entry", "_closure", "_fast",
                                          "_slow", "_ret",   "_con"};
    size_t size = in->size;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        size_t ending = strlen(endings[i]);
        if (size <= ending || strcmp(in->text + size - ending, endings[i]) != 0)
            continue;
        if (i >= 2)
            name->clone = endings[i];
        size -= ending;
        break;
    }
    g_autofree char *rest = g_strndup(in->text, size);
    g_auto(GStrv) parts = g_strsplit(rest, "_", -1);
    unsigned module = 0;
    while (parts[module] != NULL && !g_ascii_isupper(parts[module][0]))
        module++;
    if (parts[module] == NULL || parts[module + 1] == NULL) {
        push(in, name, rest, rest + strlen(rest), ".");
        return true;
    }
    for (unsigned i = module; parts[i] != NULL; i++) {
        g_autofree char *plain = z_decoded(parts[i], strlen(parts[i]));
        if (*plain != '\0')
            push(in, name, plain, plain + strlen(plain), ".");
    }
    return true;
}

/* --- Java --- */

bool fm_name_read_java(struct fm_name_reader *in, struct fm_name *name)
{
    bool descriptor = in->text[0] == 'L' && strstr(in->text, ";::") != NULL;
    g_autofree char *text = g_strdup(in->text + descriptor);
    for (char *at = strstr(text, "/0x"); at != NULL; at = strstr(text, "/0x")) {
        size_t size = 3 + strspn(at + 3, "0123456789abcdef");
        memmove(at, at + size, strlen(at + size) + 1);
    }
    char *frame = g_strrstr(text, "_[");
    if (frame != NULL && frame[2] != '\0' && strcmp(frame + 3, "]") == 0) {
        name->clone = fm_name_text(in->pool, frame, strlen(frame));
        *frame = '\0';
    }
    char *open = strchr(text, '(');
    if (open != NULL && open > text)
        *open = '\0';
    g_auto(GStrv) parts = g_strsplit_set(text, "./;", -1);
    const char *before = "";
    unsigned first = 0;
    for (unsigned i = 0; parts[i] != NULL; i++) {
        const char *part = parts[i] + (g_str_has_prefix(parts[i], "::") ? 2 : 0);
        char *lambda = strstr(parts[i], "$$Lambda");
        if (*part == '\0')
            continue;
        if (lambda != NULL) /* $$Lambda$14: numbered anew in each run */
            lambda[strlen("$$Lambda")] = '\0';
        if (g_str_has_prefix(part, "lambda$") && part[7] != '\0') {
            const char *number = g_strrstr(part, "$");
            const char *end = number > part + 6 ? number : part + strlen(part);
            push(in, name, part + 7, end, ".");
            push_lambda(in, name, "lambda", number + 1)->number++;
            name->call_marks = true;
            break;
        }
        if (first == 0 && g_ascii_isupper(part[0]))
            first = name->scope.count + 1;
        if (strcmp(part, "<init>") == 0 && *before != '\0')
            part = before;
        for (const char *dollar = lambda == NULL ? part + 1 : NULL;
             dollar != NULL && *part != '\0';) {
            const char *next = strchr(dollar, '$');
            if (next == NULL || next[1] == '\0')
                break;
            push(in, name, part, next, ".");
            part = next + 1;
            dollar = part + (*part != '\0');
        }
        if (*part != '\0')
            before = push(in, name, part, part + strlen(part), ".")->text;
    }
    if (name->scope.count == 0)
        return false;
    if (first > 0)
        begin_with(name, first - 1);
    return true;
}

/* --- JavaScript, Python --- */

bool fm_name_read_js(struct fm_name_reader *in, struct fm_name *name)
{
    static const char *const kinds[] = {
        "LazyCompile:", "Function:", "Script:",          "Eval:", "Builtin:", "Stub:",
        "RegExp:",      "Handler:",  "BytecodeHandler:", "JS:"};
    const char *text = in->text;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_str_has_prefix(text, kinds[i]) && text[strlen(kinds[i])] != '\0')
            text += strlen(kinds[i]);
    if (strchr("*~^+", *text) != NULL && *text != '\0' && text[1] != '\0') {
        name->clone = fm_name_text(in->pool, text, 1);
        text++;
    }
    const char *blank = strrchr(text, ' ');
    const char *end = blank != NULL && blank > text ? blank : text + strlen(text);
    bool nameless = g_str_has_prefix(text, "(anonymous)") || *text == ' ';
    if (!nameless) {
        push(in, name, text, end, ".");
        return true;
    }
    const char *file = blank == NULL ? "" : blank + 1;
    const char *slash = strrchr(file, '/');
    file = slash == NULL ? file : slash + 1;
    const char *line = strchr(file, ':');
    const char *column = line == NULL ? NULL : strchr(line + 1, ':');
    GString *own = g_string_new("anonymous");
    if (*file != '\0')
        g_string_append_printf(
            own, " at %.*s", (int)(column == NULL ? strlen(file) : (size_t)(column - file)), file);
    push(in, name, own->str, own->str + own->len, ".");
    g_string_free(own, TRUE);
    return true;
}

bool fm_name_read_python(struct fm_name_reader *in, struct fm_name *name)
{
    const char *at = in->text + (g_str_has_prefix(in->text, "py::") ? 4 : 0);
    const char *end = strchr(at, ':') != NULL ? strchr(at, ':') : at + strlen(at);
    while (at < end) {
        const char *dot = at;
        while (dot < end && *dot != '.')
            dot++;
        if (dot > at)
            push(in, name, at, dot, ".");
        at = dot + 1;
    }
    return name->scope.count > 0;
}
