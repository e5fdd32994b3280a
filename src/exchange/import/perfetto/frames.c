/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfetto/frames.h"

#include <string.h>

#include "base/hash.h"

enum { STACK_FRAMES = 2 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING, FRAME_ADDRESS };
enum { MAPPING_BUILD_ID = 2, MAPPING_PATHS = 7 };
enum { MODULE_PATH = 1, MODULE_BUILD_ID, MODULE_SYMBOLS };
enum { SYMBOL_ADDRESS = 1, SYMBOL_LINES };
enum { LINE_FUNCTION = 1, LINE_FILE, LINE_LINE };

struct frame {
    char *name; /* NULL: code at an address */
    char *path; /* the program file's; "" = not known */
    char *key;  /* file and address, by which its symbol is found; NULL: it has none */
};
struct stack {
    guint first, count; /* in numbers */
};

struct fm_perfetto_frames {
    GArray *frames;      /* struct frame */
    GHashTable *by_text; /* name, or address with its path -> frame + 1 */
    GArray *numbers;     /* uint32_t: frames of stacks, outermost first */
    GArray *stacks;      /* struct stack; 0 is none */
    GHashTable *symbols; /* key -> struct fm_field, AddressSymbols */
    uint64_t pushed, pushed_max;
};

/* Frames of stacks times samples: a product, of which real files have a few to a byte. */
#define FRAMES_A_BYTE 64u
#define FRAMES_ALWAYS ((uint64_t)1 << 24)
#define MAPPING_FIELDS_MAX 256u

static void clear_frame(gpointer data)
{
    struct frame *frame = data;
    g_free(frame->name);
    g_free(frame->path);
    g_free(frame->key);
}

struct fm_perfetto_frames *fm_perfetto_frames_new(size_t size)
{
    struct fm_perfetto_frames *f = g_new0(struct fm_perfetto_frames, 1);
    f->pushed_max = size * FRAMES_A_BYTE + FRAMES_ALWAYS;
    f->frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
    g_array_set_clear_func(f->frames, clear_frame);
    f->by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    f->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    f->stacks = g_array_new(FALSE, TRUE, sizeof(struct stack));
    g_array_set_size(f->stacks, 1);
    f->symbols = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return f;
}

void fm_perfetto_frames_free(struct fm_perfetto_frames *f)
{
    if (f == NULL)
        return;
    g_array_unref(f->frames);
    g_hash_table_unref(f->by_text);
    g_array_unref(f->numbers);
    g_array_unref(f->stacks);
    g_hash_table_unref(f->symbols);
    g_free(f);
}

static char *text_of(struct fm_field field)
{
    return g_strndup((const char *)field.bytes, field.size);
}

/* Build ids are bytes, or their hexadecimal digits. */
static char *key_of(const struct fm_field *build_id, uint64_t address)
{
    GString *key = g_string_new(NULL);
    for (size_t i = 0; i < build_id->size; i++)
        g_string_append_printf(key, "%02x", build_id->bytes[i]);
    g_string_append_printf(key, "+%" G_GINT64_MODIFIER "x", (guint64)address);
    return g_string_free(key, FALSE);
}

/* A path stands in parts. */
static void read_mapping(const struct fm_perfetto_sequence *s, uint64_t number, GString *ret_path,
                         struct fm_field *ret_build_id)
{
    const struct fm_field *mapping = fm_perfetto_sequence_find(s, FM_PERFETTO_MAPPINGS, number);
    struct fm_fields fields = mapping == NULL ? (struct fm_fields){0} : fm_fields_in(mapping);
    struct fm_field field;
    uint64_t part;
    *ret_build_id = (struct fm_field){0};
    for (unsigned i = 0; i < MAPPING_FIELDS_MAX && fm_fields_next(&fields, &field); i++) {
        if (field.number == MAPPING_BUILD_ID && field.wire == FM_WIRE_NUMBER)
            *ret_build_id = fm_perfetto_sequence_text(s, FM_PERFETTO_BUILD_IDS, field.value);
        while (field.number == MAPPING_PATHS && fm_field_take(&field, &part)) {
            struct fm_field text = fm_perfetto_sequence_text(s, FM_PERFETTO_PATHS, part);
            g_string_append_c(ret_path, '/');
            g_string_append_len(ret_path, (const char *)text.bytes, (gssize)text.size);
        }
    }
}

static uint32_t frame_of(struct fm_perfetto_frames *f, const struct fm_perfetto_sequence *s,
                         uint64_t number)
{
    const struct fm_field *message = fm_perfetto_sequence_find(s, FM_PERFETTO_FRAMES, number);
    struct fm_fields fields = message == NULL ? (struct fm_fields){0} : fm_fields_in(message);
    struct fm_field field, build_id;
    uint64_t of[FRAME_ADDRESS + 1] = {0};
    g_autoptr(GString) path = g_string_new(NULL);
    while (fm_fields_next(&fields, &field)) {
        if (field.number <= FRAME_ADDRESS && field.wire == FM_WIRE_NUMBER)
            of[field.number] = field.value;
    }
    read_mapping(s, of[FRAME_MAPPING], path, &build_id);
    g_autofree char *name =
        text_of(fm_perfetto_sequence_text(s, FM_PERFETTO_FUNCTION_NAMES, of[FRAME_FUNCTION]));
    g_autofree char *key = key_of(&build_id, of[FRAME_ADDRESS]);
    g_autofree char *text = g_strdup_printf("%s\n%s\n%s", name, path->str, name[0] ? "" : key);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_text, text));
    if (found != 0)
        return found - 1;
    struct frame frame = {.name = name[0] == '\0' ? NULL : g_steal_pointer(&name),
                          .path = g_strdup(path->str)};
    if (frame.name == NULL && build_id.size > 0)
        frame.key = g_steal_pointer(&key);
    g_array_append_val(f->frames, frame);
    g_hash_table_insert(f->by_text, g_steal_pointer(&text), GUINT_TO_POINTER(f->frames->len));
    return f->frames->len - 1;
}

uint32_t fm_perfetto_frames_stack(struct fm_perfetto_frames *f, struct fm_perfetto_sequence *s,
                                  uint64_t number)
{
    const struct fm_field *message = fm_perfetto_sequence_find(s, FM_PERFETTO_CALLSTACKS, number);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(s->stacks, &number));
    struct fm_field field;
    uint64_t frame;
    if (found != 0 || message == NULL)
        return found == 0 ? 0 : found - 1;
    struct stack stack = {.first = f->numbers->len};
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        while (field.number == STACK_FRAMES && fm_field_take(&field, &frame)) {
            uint32_t made = frame_of(f, s, frame);
            g_array_append_val(f->numbers, made);
        }
    }
    stack.count = f->numbers->len - stack.first;
    g_array_append_val(f->stacks, stack);
    g_hash_table_insert(s->stacks, g_memdup2(&number, sizeof number),
                        GUINT_TO_POINTER(f->stacks->len));
    return f->stacks->len - 1;
}

void fm_perfetto_frames_symbols(struct fm_perfetto_frames *f, const struct fm_field *module)
{
    struct fm_field field, build_id = {0}, inner;
    for (struct fm_fields fields = fm_fields_in(module); fm_fields_next(&fields, &field);) {
        if (field.number == MODULE_BUILD_ID && field.wire == FM_WIRE_BYTES)
            build_id = field;
    }
    for (struct fm_fields fields = fm_fields_in(module); fm_fields_next(&fields, &field);) {
        if (field.number != MODULE_SYMBOLS)
            continue;
        uint64_t address = 0;
        for (struct fm_fields of = fm_fields_in(&field); fm_fields_next(&of, &inner);) {
            if (inner.number == SYMBOL_ADDRESS && inner.wire == FM_WIRE_NUMBER)
                address = inner.value;
        }
        g_hash_table_replace(f->symbols, key_of(&build_id, address),
                             g_memdup2(&field, sizeof field));
    }
}

/* --- functions --- */

static uint32_t function_of(struct fm_stacks *stacks, const char *name, const char *unit,
                            const char *file)
{
    return fm_stacks_function(stacks, &(struct fm_stacks_name){.name = name,
                                                               .size = strlen(name),
                                                               .unit = unit,
                                                               .unit_size = strlen(unit),
                                                               .file = file,
                                                               .file_size = strlen(file)});
}

/* The innermost inlined function of an address stands first. */
static void push_symbols(const struct fm_field *symbols, const char *path, struct fm_stacks *stacks)
{
    struct fm_field field, of;
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(struct fm_field));
    for (struct fm_fields fields = fm_fields_in(symbols); fm_fields_next(&fields, &field);) {
        if (field.number == SYMBOL_LINES && field.wire == FM_WIRE_BYTES)
            g_array_append_val(lines, field);
    }
    for (guint i = lines->len; i-- > 0;) {
        g_autofree char *name = NULL, *file = NULL;
        struct fm_fields fields = fm_fields_in(&g_array_index(lines, struct fm_field, i));
        while (fm_fields_next(&fields, &of)) {
            if (of.number == LINE_FUNCTION && of.wire == FM_WIRE_BYTES && name == NULL)
                name = text_of(of);
            else if (of.number == LINE_FILE && of.wire == FM_WIRE_BYTES && file == NULL)
                file = text_of(of);
        }
        const char *told = file == NULL ? "" : file;
        fm_stacks_push(stacks,
                       function_of(stacks, name == NULL ? "[unknown]" : name,
                                   told[0] == '\0' ? path : told, told),
                       0);
    }
}

static void push_frame(struct fm_perfetto_frames *f, const struct frame *frame,
                       struct fm_stacks *stacks)
{
    const struct fm_field *symbols =
        frame->key == NULL ? NULL : g_hash_table_lookup(f->symbols, frame->key);
    uint32_t depth = fm_stacks_depth(stacks);
    if (symbols != NULL) {
        push_symbols(symbols, frame->path, stacks);
        f->pushed += symbols->size;
    }
    if (fm_stacks_depth(stacks) > depth)
        return;
    g_autofree char *unnamed = fm_stacks_unnamed(frame->path, strlen(frame->path));
    fm_stacks_push(
        stacks, function_of(stacks, frame->name == NULL ? unnamed : frame->name, frame->path, ""),
        0);
}

bool fm_perfetto_frames_push(struct fm_perfetto_frames *f, uint32_t number,
                             struct fm_stacks *stacks)
{
    struct stack stack = g_array_index(f->stacks, struct stack, number);
    f->pushed += stack.count;
    for (guint i = 0; i < stack.count && f->pushed <= f->pushed_max; i++) {
        uint32_t frame = g_array_index(f->numbers, uint32_t, stack.first + i);
        push_frame(f, &g_array_index(f->frames, struct frame, frame), stacks);
    }
    if (stack.count == 0)
        fm_stacks_push(stacks, function_of(stacks, "(no stack)", "", ""), 0);
    return f->pushed <= f->pushed_max;
}
